//! Each flag of vectors, by a vector that shows it and a similar one that does not.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use warpload::load::Executor;
use warpload_suite::flags::{self, FlagSet, flags_of};
use warpload_suite::vector::Vector;

/// 20 bytes from 0x1000 on and 16 after them, 20 shared ones, and 12 in each part of local memory.
fn memory() -> String {
    let bytes =
        |count: usize| (0..count).map(|i| format!("{:02x}", 0x80 + i % 64)).collect::<String>();
    format!(
        r#"{{"global": [{{"base": "0x1000", "hex": "{}"}}, {{"base": "0x1014", "hex": "{}"}}],
            "shared": {{"hex": "{}"}},
            "local": {{"bytes_per_lane": 12, "hex": "{local}",
                       "high": {{"bytes_per_lane": 12, "hex": "{local}"}}}},
            "constant": [{{"bank": 3, "hex": "{}"}}, {{"bank": 5, "hex": ""}}]}}"#,
        bytes(20),
        bytes(16),
        bytes(20),
        bytes(20),
        local = bytes(12 * 32),
    )
}

/// Reads a vector: the instruction and, after `|`, other keys of `initial`.
fn vector(text: &str) -> Vector {
    let (instruction, rest) = text.split_once('|').unwrap_or((text, ""));
    let comma = if rest.trim().is_empty() { "" } else { "," };
    let memory = if rest.contains("\"memory\"") {
        String::new()
    } else {
        format!("\"memory\": {}", memory())
    };
    let comma = if memory.is_empty() { "" } else { comma };
    let json = format!(
        r#"{{"instruction": "{}", "initial": {{{memory}{comma}{rest}}}}}"#,
        instruction.trim()
    );
    Vector::from_json(&json).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn flags(text: &str) -> FlagSet {
    let vector = vector(text);
    let (_, outcome) = vector.run(Executor::Reference).unwrap();
    flags_of(&vector, &outcome)
}

/// The values of a register that differs in lane 0.
fn first(value: &str, others: &str) -> String {
    let rest = format!(r#","{others}""#).repeat(31);
    format!(r#"["{value}"{rest}]"#)
}

/// Puts values into a row: `A` is 0x1000 in all lanes, `B` is 0x1004 in lane 0 and else 0x1000, and so on.
fn filled(row: &str) -> String {
    [
        ("<A>", first("0x1000", "0x1000")),
        ("<AB>", first("0x1004", "0x1000")),
        ("<AM>", first("0x1001", "0x1000")),
        ("<M>", first("0x1001", "0x1001")),
        ("<OUT>", first("0x3000", "0x1000")),
        ("<ALLOUT>", first("0x3000", "0x4000")),
        ("<1>", first("0x1", "0x1")),
        ("<2>", first("0x2", "0x2")),
        ("<100>", first("0x100", "0x100")),
        ("<SHARED>", first("0xfe000000", "0x1000")),
        ("<EDGE>", first("0xfdfffffc", "0xfe000000")),
        ("<MINUS>", first("0xfffffff0", "0xfffffff0")),
    ]
    .into_iter()
    .fold(row.to_owned(), |row, (name, values)| row.replace(name, &values))
}

/// A flag, a vector that shows it, and one that does not.
const ROWS: &[[&str; 3]] = &[
    [
        "above-address-bits",
        r#"LD.E R4, [R2] | "registers": {"R3": <100>}"#,
        r#"LD.E R4, [R2] | "registers": {"R3": <1>}"#,
    ],
    [
        "above-windows",
        r#"LD R4, [0x1000] | "windows": {"shared": {"base": "0x0", "size": "0x10"}, "local": {"base": "0x10", "size": "0x10"}}, "memory": {"global": [{"base": "0x1000", "hex": "01020304"}]}"#,
        "LD R4, [0x1000]",
    ],
    [
        "address-wraps",
        r#"LD R4, [R2+0x10] | "registers": {"R2": <MINUS>}"#,
        r#"LD R4, [R2-0x10] | "registers": {"R2": <MINUS>}"#,
    ],
    ["adjacent-allocations", "LD.64 R4, [0x1010]", "LD.64 R4, [0x1018]"],
    ["aligned-to-two", "LD.128 R6, [0x1000]", "LD.128 R5, [0x1000]"],
    ["all-lanes", "LD R4, [0x1000]", "LD R4, [0x3000]"],
    [
        "all-outside",
        r#"LD R4, [R2] | "registers": {"R2": <ALLOUT>}"#,
        r#"LD R4, [R2] | "registers": {"R2": <OUT>}"#,
    ],
    ["base-alignment", "LD.E R4, [R3]", "LD.E R4, [R2]"],
    [
        "base-beyond-limit",
        r#"LD R4, [R9+0x1000] | "register_limit": 9"#,
        r#"LD R4, [R8+0x1000] | "register_limit": 9"#,
    ],
    ["base-ends-in-rz", "LD.E R4, [R254]", "LD.E R4, [R252]"],
    [
        "base-range",
        r#"LD.E R4, [R8] | "register_limit": 9"#,
        r#"LD.E R4, [R8] | "register_limit": 10"#,
    ],
    [
        "between-windows",
        r#"LD R4, [0x1000] | "windows": {"shared": {"base": "0x0", "size": "0x10"}, "local": {"base": "0x2000", "size": "0x10"}}, "memory": {"global": [{"base": "0x1000", "hex": "01020304"}]}"#,
        r#"LD R4, [0x1000] | "windows": {"shared": {"base": "0x0", "size": "0x10"}, "local": {"base": "0x10", "size": "0x10"}}, "memory": {"global": [{"base": "0x1000", "hex": "01020304"}]}"#,
    ],
    [
        "beyond-40-bits",
        r#"LDG.E R4, [R2] | "sm": "80", "registers": {"R3": <100>}, "memory": {"global": [{"base": "0x10000000000", "hex": "01020304"}]}"#,
        r#"LDG.E R4, [R2] | "sm": "80", "registers": {"R3": <1>}, "memory": {"global": [{"base": "0x100000000", "hex": "01020304"}]}"#,
    ],
    [
        "blackwell-matrix",
        r#"LDSM.16.M88 R4, [R2] | "sm": "100""#,
        r#"LDSM.16.M88 R4, [R2] | "sm": "90""#,
    ],
    [
        "borrow",
        r#"LDG.E R4, [R2-0x10] | "registers": {"R3": <2>}, "memory": {"global": [{"base": "0x1fffffff0", "hex": "01020304"}]}"#,
        r#"LDG.E R4, [R2-0x10] | "registers": {"R2": <100>, "R3": <2>}, "memory": {"global": [{"base": "0x2000000f0", "hex": "01020304"}]}"#,
    ],
    ["byte", "LD.S8 R4, [0x1000]", "LD.S16 R4, [0x1000]"],
    ["cache-operator", "LDG.CV R4, [0x1000]", "LDG R4, [0x1000]"],
    ["cache-operator", r#"LDG.E.EF R4, [R2] | "sm": "80""#, r#"LDG.E.SYS R4, [R2] | "sm": "70""#],
    [
        "carry",
        r#"LDG.E R4, [R2+0x10] | "registers": {"R2": <MINUS>, "R3": <1>}, "memory": {"global": [{"base": "0x200000000", "hex": "01020304"}]}"#,
        r#"LDG.E R4, [R2] | "registers": {"R3": <2>}, "memory": {"global": [{"base": "0x200000000", "hex": "01020304"}]}"#,
    ],
    ["crosses-allocation", "LDS.64 R4, [0x10]", "LDS R4, [0x10]"],
    [
        "crosses-local-parts",
        r#"LDL R4, [0x8] | "windows": {"local": {"base": "0x10", "size": "0x10"}}, "memory": {"local": {"bytes_per_lane": 9, "hex": "<9>", "high": {"bytes_per_lane": 7, "hex": "<7>"}}}"#,
        "LDL R4, [0x8]",
    ],
    ["crosses-window", "LD R4, [0xfdfffffd]", "LD R4, [0xfdfffffc]"],
    [
        "descriptor",
        r#"LDG.E R4, desc[UR4][R2.64] | "sm": "90""#,
        r#"LDG.E R4, [R2.64+UR4] | "sm": "90""#,
    ],
    [
        "descriptor-alone",
        r#"LDG.E R4, desc[UR4][RZ.64+0x1000] | "sm": "90""#,
        r#"LDG.E R4, desc[UR4][R2.64+0x1000] | "sm": "90""#,
    ],
    ["destination-alignment", "LD.64 R5, [0x1000]", "LD.64 R4, [0x1000]"],
    ["destination-ends-in-rz", "LD.64 R254, [0x1000]", "LD.64 R252, [0x1000]"],
    [
        "destination-range",
        r#"LD.64 R6, [0x1000] | "register_limit": 7"#,
        r#"LD.64 R6, [0x1000] | "register_limit": 6"#,
    ],
    ["discarded", "LD RZ, [0x1000]", "LD R254, [0x1000]"],
    ["discarded-broadcast", "LD.U.128 RZ, [0x1000]", "LD.U.128 R4, [0x1000]"],
    ["distinct-words", r#"LD R4, [0x1000] | "active": "0x1""#, "LD R4, [0x1000]"],
    ["divergent-uniform", r#"LD.U.128 R4, [0x3000]"#, "LD.U.128 R4, [0x1000]"],
    [
        "divided-predicate",
        r#"LD R4, [0x1000], P1 | "predicates": {"P1": "0x1"}"#,
        r#"LD R4, [0x1000], P1 | "predicates": {"P1": "0x1"}, "active": "0x1""#,
    ],
    ["empty-bank", "LDC R4, c[0x5][0x0]", "LDC R4, c[0x4][0x0]"],
    [
        "fault-for-all-lanes",
        r#"ULDC UR4, c[0x3][0x40] | "sm": "80""#,
        r#"ULDC UR4, c[0x3][0x4] | "sm": "80""#,
    ],
    ["first-access", "LD R4, [0x1000]", "LD R4, [0x1004]"],
    ["global-memory", "LD R4, [0x1000]", "LDG R4, [0x1000]"],
    [
        "guard",
        r#"@P1 LD R4, [0x1000] | "predicates": {"P1": "0xffffffff"}"#,
        "@!PT LD R4, [0x1000]",
    ],
    [
        "guarded-off",
        r#"@P1 LD R4, [0x1000] | "predicates": {"P1": "0x1"}"#,
        r#"@P1 LD R4, [0x1000] | "predicates": {"P1": "0x1"}, "active": "0x1""#,
    ],
    ["halfword", "LDC.U16 R4, c[0x3][0x0]", "LDC.U8 R4, c[0x3][0x0]"],
    ["high-bank", "LDC R4, c[0x10][0x0]", "LDC R4, c[0xf][0x0]"],
    [
        "high-half-fault",
        r#"LDG.E.ENL2.256 R13, R8, desc[UR4][R2.64] | "sm": "100""#,
        r#"LDG.E.ENL2.256 R13, R9, desc[UR4][R2.64] | "sm": "100""#,
    ],
    [
        "high-index",
        r#"LDG.E R4, [R2.U32+UR4] | "sm": "90", "registers": {"R2": <MINUS>}, "uniform_registers": {"UR4": "0x1010", "UR5": "0xffffffff"}"#,
        r#"LDG.E R4, [R2.U32+UR4] | "sm": "90", "uniform_registers": {"UR4": "0x1000"}"#,
    ],
    ["high-predicate", "@P4 LD R4, [0x1000]", "@P3 LD R4, [0x1000]"],
    ["high-register", "LD R128, [0x1000]", "LD R127, [0x1000]"],
    [
        "high-uniform",
        r#"LDG.E R4, [R2.64+UR64] | "sm": "100", "registers": {"R2": <A>}"#,
        r#"LDG.E R4, [R2.64+UR62] | "sm": "100", "registers": {"R2": <A>}"#,
    ],
    [
        "high-word",
        r#"LDG.E R4, [R2] | "registers": {"R3": <1>}, "memory": {"global": [{"base": "0x100000000", "hex": "01020304"}]}"#,
        r#"LDG.E R4, [R2] | "registers": {"R2": <A>}"#,
    ],
    [
        "highest-address",
        r#"LD R4, [0xfffffffc] | "address_bits": 32, "windows": {"shared": {"base": "0x0", "size": "0x10"}, "local": {"base": "0x10", "size": "0x10"}}, "memory": {"global": [{"base": "0xfffffff8", "hex": "0102030405060708"}]}"#,
        r#"LD R4, [0xfffffff8] | "address_bits": 32, "windows": {"shared": {"base": "0x0", "size": "0x10"}, "local": {"base": "0x10", "size": "0x10"}}, "memory": {"global": [{"base": "0xfffffff8", "hex": "0102030405060708"}]}"#,
    ],
    [
        "hint-128",
        r#"LDG.E.U.128.SYS R4, [R2] | "sm": "70", "registers": {"R2": <A>}"#,
        r#"LDG.E.128.SYS R4, [R2] | "sm": "70", "registers": {"R2": <A>}"#,
    ],
    ["inactive-lanes", r#"LD R4, [0x1000] | "active": "0x7fffffff""#, r#"@!PT LD R4, [0x1000]"#],
    ["just-after", "LDS R4, [0x14]", "LDS R4, [0x10]"],
    ["just-before", "LD R4, [0xffc]", "LD R4, [0xff8]"],
    ["last-access", "LDS R4, [0x10]", "LDS R4, [0xc]"],
    [
        "last-base",
        r#"LD.E R4, [R8] | "register_limit": 10"#,
        r#"LD.E R4, [R8] | "register_limit": 11"#,
    ],
    [
        "last-destination",
        r#"LD.64 R6, [0x1000] | "register_limit": 8"#,
        r#"LD.64 R6, [0x1000] | "register_limit": 9"#,
    ],
    [
        "last-register",
        r#"LD.64 R6, [0x1000] | "register_limit": 8"#,
        r#"LD.64 R6, [0x1000] | "register_limit": 9"#,
    ],
    ["last-uniform", r#"LDS R4, [R2+UR62] | "sm": "80""#, r#"LDS R4, [R2+UR61] | "sm": "80""#],
    ["local-high", "LDL R4, [0xfffff8]", "LDL R4, [0x8]"],
    [
        "local-uniform",
        r#"LD.U.128 R4, [0xff000000] | "memory": {"local": {"bytes_per_lane": 16, "hex": "<16>"}}"#,
        "LD.U.128 R4, [0x1000]",
    ],
    ["local-window", "LD R4, [0xff000000]", "LD R4, [0xfefffffc]"],
    [
        "lone-broadcast",
        r#"LD.U.128 R4, [0x1000] | "active": "0x2""#,
        r#"LD.U.128 R4, [0x1000] | "active": "0x3""#,
    ],
    [
        "matrix-fault",
        r#"LDSM.16.M88 R4, [0x40] | "sm": "80""#,
        r#"LDSM.16.M88 R4, [RZ] | "sm": "80""#,
    ],
    ["misaligned", "LD R4, [0x1001]", "LD.U8 R4, [0x1001]"],
    ["misaligned-broadcast", "LD.U.128 R4, [0x1001]", "LD.U.128 R4, [0x1000]"],
    ["misaligned-first", "LD R4, [0x1001]", "LD R4, [0x1005]"],
    ["misaligned-last", "LDS R4, [0x11]", "LDS R4, [0x10]"],
    ["misaligned-register", "LD.64 R5, [0x1000]", "LD R5, [0x1000]"],
    ["misaligned-reported", r#"LD R4, [0x1001] | "misaligned": "report""#, "LD R4, [0x1001]"],
    ["missing-bank", "LDC R4, c[0x4][0x0]", "LDC R4, c[0x5][0x0]"],
    ["narrow-address", "LDG R4, [0x1000]", "LDS R4, [0x0]"],
    ["negated-guard", "@!P1 LD R4, [0x1000]", "@P1 LD R4, [0x1000]"],
    ["negative-offset", "LD R4, [R2-0x4]", "LD R4, [0xfffffffc]"],
    ["never-guard", "@!PT LD R4, [0x1000]", "@!P0 LD R4, [0x1000]"],
    ["no-base", "LD R4, [0x1000]", "LD R4, [R2]"],
    ["no-lane", r#"LD R4, [0x1000] | "active": "0x0""#, r#"LD R4, [0x1000] | "active": "0x1""#],
    [
        "octet",
        r#"LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64] | "sm": "100""#,
        r#"LDG.E.128 R8, desc[UR4][R2.64] | "sm": "100""#,
    ],
    ["odd-base", "LD R4, [R3]", "LD.E R4, [R3]"],
    [
        "odd-descriptor",
        r#"LDG.E R4, desc[UR5][R2.64] | "sm": "90""#,
        r#"LDG.E R4, desc[UR4][R2.64] | "sm": "90""#,
    ],
    ["odd-destination", "LD R5, [0x1000]", "LD R4, [0x1000]"],
    ["offset-unsigned", "LDL R4, [0xfffff8]", "LDL R4, [R2-0x8]"],
    [
        "one-address",
        r#"LD.128 R4, [R2] | "registers": {"R2": <AM>}"#,
        r#"LD R4, [R2] | "registers": {"R2": <AB>}"#,
    ],
    [
        "one-lane-outside",
        r#"LD R4, [R2] | "registers": {"R2": <OUT>}"#,
        r#"LD R4, [R2] | "registers": {"R2": <OUT>}, "active": "0x1""#,
    ],
    [
        "order-base",
        r#"LD.E R4, [R9] | "register_limit": 10"#,
        r#"LD.E R4, [R9] | "register_limit": 11"#,
    ],
    [
        "order-destination",
        r#"LD.64 R7, [0x1000] | "register_limit": 8"#,
        r#"LD.64 R7, [0x1000] | "register_limit": 9"#,
    ],
    [
        "order-operands",
        r#"LD.E R12, [R9] | "register_limit": 12"#,
        r#"LD.E R12, [R9] | "register_limit": 13"#,
    ],
    ["outside-allocation", "LDG R4, [0x3000]", "LDG R4, [0x1020]"],
    [
        "outside-uniform",
        "LD.U.128 R4, [0x3000]",
        r#"LD.U.128 R4, [R2] | "registers": {"R2": <ALLOUT>}"#,
    ],
    ["outside-window", "LD R4, [0xfe000000]", "LD R4, [0xff000000]"],
    ["overlap", "LD.64 R4, [R5]", "LD.64 R4, [R6]"],
    [
        "own-address-bits",
        r#"LD R4, [0x1000] | "address_bits": 41"#,
        r#"LD R4, [0x1000] | "address_bits": 40"#,
    ],
    [
        "own-address-bits",
        r#"LD.E.SYS R4, [R2] | "sm": "70", "address_bits": 40"#,
        r#"LD.E.SYS R4, [R2] | "sm": "70""#,
    ],
    [
        "own-windows",
        r#"LD R4, [0x1000] | "windows": {"shared": {"base": "0xfe000000", "size": "0x100"}}"#,
        "LD R4, [0x1000]",
    ],
    ["pair", "LD.64 R4, [0x1000]", "LD.128 R4, [0x1000]"],
    ["predicate-argument", "LD R4, [0x1000], P0", "LD R4, [0x1000]"],
    ["predicate-false-outside", "LD R4, [0x1000], P0", "LD R4, [0xfe000000], P0"],
    ["predicate-true-in-shared", "LD R4, [0xfe000000]", "LD R4, [0xfe000000], P0"],
    ["quad", "LD.128 R4, [0x1000]", "LD.64 R4, [0x1000]"],
    [
        "register-limit",
        r#"LD.64 R6, [0x1000] | "register_limit": 7"#,
        r#"LD.64 R6, [0x1000] | "register_limit": 8"#,
    ],
    [
        "rounded-broadcast",
        r#"LD.U.128 R4, [R2] | "registers": {"R2": <AM>}"#,
        r#"LD.U.128 R4, [R2] | "registers": {"R2": <M>}"#,
    ],
    ["rounds-out", "LDG.64 R4, [0x1015]", "LDG.64 R4, [0x1019]"],
    [
        "rounds-to-one",
        r#"LD R4, [R2] | "registers": {"R2": <AM>}"#,
        r#"LD R4, [R2] | "registers": {"R2": <M>}"#,
    ],
    ["scaled-index", r#"LDS R4, [R2.X4] | "sm": "80""#, r#"LDS R4, [R2] | "sm": "80""#],
    [
        "several-spaces",
        r#"LD R4, [R2], P0 | "registers": {"R2": <SHARED>}, "predicates": {"P0": "0xfffffffe"}"#,
        r#"LD R4, [R2] | "registers": {"R2": <SHARED>}"#,
    ],
    ["shared-broadcast", "LD.U.128 R4, [0xfe000000], P0", "LD.U.128 R4, [0x1000]"],
    ["shared-window", "LD R4, [0xfe000000]", "LD R4, [0xff000000]"],
    ["sign-extension", "LD.S8 R4, [0x1000]", "LD.U8 R4, [0x1000]"],
    [
        "single-lane",
        r#"LD R4, [0x1000] | "active": "0x10""#,
        r#"LD R4, [0x1000] | "active": "0x11""#,
    ],
    [
        "stale-pair",
        r#"LDG R4, [R2] | "registers": {"R2": <A>, "R3": <1>}"#,
        r#"LDG R4, [R2] | "registers": {"R2": <A>}"#,
    ],
    [
        "straddles-limit",
        r#"LD.64 R6, [0x1000] | "register_limit": 7"#,
        r#"LD.64 R6, [0x1000] | "register_limit": 6"#,
    ],
    ["transposed", r#"LDSM.16.MT88 R4, [RZ] | "sm": "80""#, r#"LDSM.16.M88 R4, [RZ] | "sm": "80""#],
    [
        "two-register-faults",
        r#"LD.64 R7, [0x1000] | "register_limit": 8"#,
        r#"LD.64 R7, [0x1000] | "register_limit": 9"#,
    ],
    ["unaligned-allocation", "LDG.64 R4, [0x1018]", "LDG.64 R4, [0x1000]"],
    ["unfaulted", "@!PT LD.64 R5, [0x1000]", "@!PT LD.64 R4, [0x1000]"],
    ["uniform", "LD.U.128 R4, [0x1000]", "LD.128 R4, [0x1000]"],
    [
        "uniform-alignment",
        r#"LDG.E R4, [R2.64+UR5] | "sm": "90""#,
        r#"LDG.E R4, [R2.64+UR4] | "sm": "90""#,
    ],
    ["uniform-alone", r#"LDS R4, [UR4+0x4] | "sm": "80""#, r#"LDS R4, [R2+UR4+0x4] | "sm": "80""#],
    [
        "uniform-beyond-limit",
        r#"LDS R4, [R2+UR40] | "sm": "80", "register_limit": 16"#,
        r#"LDS R4, [R2+UR8] | "sm": "80", "register_limit": 16"#,
    ],
    [
        "uniform-fault",
        r#"LDG.E R4, [R2.64+UR5] | "sm": "90""#,
        r#"LDG.E R4, desc[UR5][R2.64] | "sm": "90""#,
    ],
    ["uniform-hint", "LDS.U.32 R4, [0x0]", "LDS R4, [0x0]"],
    [
        "uniform-octet",
        r#"LDCU.256 UR12, UR8, c[0x3][UR4] | "sm": "120""#,
        r#"LDCU.128 UR8, c[0x3][UR4] | "sm": "120""#,
    ],
    [
        "uniform-range",
        r#"LDG.E R4, [R2.64+UR62] | "sm": "90""#,
        r#"LDG.E R4, [R2.64+UR60] | "sm": "90""#,
    ],
    ["uniform-register", r#"LDS R4, [R2+UR4] | "sm": "80""#, r#"LDS R4, [R2] | "sm": "80""#],
    ["unread-bits", "0xef4ce00000070204", "0xef4c000000070204"],
    ["whole-words", "LD R4, [0x1000]", "LD.U16 R4, [0x1000]"],
    ["wide-address", "LDG.E R4, [R2]", "LDG R4, [R2]"],
    [
        "width-decides",
        r#"LD.E R4, [R2] | "address_bits": 32, "registers": {"R3": <1>}"#,
        r#"LD.E R4, [R2] | "address_bits": 33, "registers": {"R3": <1>}"#,
    ],
    [
        "window-edge",
        r#"LD R4, [R2] | "registers": {"R2": <EDGE>}"#,
        r#"LD R4, [R2] | "registers": {"R2": <SHARED>}"#,
    ],
    ["within-word", "LD.U16 R4, [0x1002]", "LD.U16 R4, [0x1004]"],
    ["word", "LD R4, [0x1000]", "LD.64 R4, [0x1000]"],
    ["zero-extension", "LD.U16 R4, [0x1000]", "LD.U16 RZ, [0x1000]"],
];

#[test]
fn each_flag_is_shown_by_one_vector_and_not_by_another() {
    let local = |row: String| {
        row.replace("<9>", &"81".repeat(9 * 32))
            .replace("<7>", &"82".repeat(7 * 32))
            .replace("<16>", &"83".repeat(16 * 32))
    };
    for [flag, has, has_not] in ROWS {
        let is_shown =
            |text: &str| flags(&local(filled(text))).iter().any(|shown| shown.name == *flag);
        assert!(is_shown(has), "{flag}: {has} has {:?}", names(&local(filled(has))));
        assert!(!is_shown(has_not), "{flag}: {has_not}");
    }
}

fn names(text: &str) -> Vec<&'static str> {
    flags(text).iter().map(|flag| flag.name).collect()
}

#[test]
fn each_flag_is_in_the_table_above() {
    let tested: BTreeSet<&str> = ROWS.iter().map(|row| row[0]).collect();
    let all: BTreeSet<&str> = flags::all().iter().map(|flag| flag.name).collect();
    assert_eq!(tested, all);
}

/// A plain load shows no flags beyond its kind.
#[test]
fn a_plain_load_has_few_flags() {
    let text = filled(r#"LD R4, [R2] | "registers": {"R2": <A>}"#);
    let expected = [
        "all-lanes",
        "first-access",
        "global-memory",
        "narrow-address",
        "one-address",
        "whole-words",
        "word",
    ];
    assert_eq!(names(&text), expected);
}

#[test]
fn flags_are_sorted_and_noted() {
    assert!(flags::all().is_sorted_by(|one, other| one.name < other.name));
    for flag in flags::all() {
        assert!(flag.note.ends_with('.') && !flag.note.contains('\n'), "{}", flag.name);
        assert!(
            flag.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        );
    }
}

/// The points of docs/ld.md and docs/load-sm70.md that no public source decides.
#[test]
fn decisions_are_those_of_the_documents() {
    let is_decision = |text: &str| {
        let text = filled(text);
        flags(&text).is_decision(vector(&text).instruction.sm().has_wide_words())
    };
    for (expected, text) in [
        (false, "LD R4, [0x1000]"),
        (false, "LD.64 R5, [0x1000]"),
        (false, r#"LD R4, [0x1001] | "misaligned": "report""#),
        (false, "LDG.CV R4, [0x3000]"),
        (false, r#"LD R4, [0x1000] | "active": "0x0""#),
        (true, r#"LD.64 R5, [0x1000] | "active": "0x0""#),
        (true, r#"LD.64 R7, [0x1000] | "register_limit": 8"#),
        (true, "LD R4, [0x1000], P0"),
        (true, "LD.U.128 R4, [0x1000]"),
        (false, r#"LDG.E R4, [R2] | "sm": "80", "registers": {"R2": <A>}"#),
        (true, r#"LDG.E R4, [R2] | "sm": "80", "registers": {"R2": <M>}"#),
        (true, r#"LDG.E.EF R4, [R2] | "sm": "80", "registers": {"R2": <A>}"#),
        (true, r#"LDS R4, [R9] | "sm": "80", "register_limit": 9"#),
        (true, r#"ULDC UR4, c[0x3][0x40] | "sm": "80""#),
        (false, r#"LDSM.16.M88 R4, [RZ] | "sm": "80""#),
        (true, r#"LDSM.16.M88 R4, [0x40] | "sm": "80""#),
    ] {
        assert_eq!(is_decision(text), expected, "{text}");
    }
}

/// The suite is frozen, so no program writes its lists and notes. A flag that is newer than the suite is in neither.
#[test]
fn the_suite_has_the_flags_and_notes_of_the_table() {
    let suite = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/v1");
    let notes = std::fs::read_to_string(suite.join("flags.json")).unwrap();
    let notes: serde_json::Value = serde_json::from_str(&notes).unwrap();
    let notes = notes["execute"].as_object().unwrap();
    for flag in flags::all() {
        let note = notes.get(flag.name).and_then(serde_json::Value::as_str);
        assert!(note.is_none_or(|note| note == flag.note), "{}: {note:?}", flag.name);
    }
    for file in std::fs::read_dir(suite.join("execute")).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            let listed =
                json["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap());
            // Others are of cases that were written by hand.
            let listed: BTreeSet<&str> =
                listed.filter(|name| flags::Flag::named(name).is_some()).collect();
            let vector = Vector::from_json(line).unwrap();
            let (_, outcome) = vector.run(Executor::Reference).unwrap();
            let shown = flags_of(&vector, &outcome).iter().map(|flag| flag.name);
            let shown: BTreeSet<&str> = shown.filter(|name| notes.contains_key(*name)).collect();
            assert_eq!(listed, shown, "{}", json["id"]);
        }
    }
}
