//! PTX loads lowered to SM 5.x, compared with ptxas's output.

#![allow(clippy::unwrap_used)]

mod addresses;
mod corpus;
mod kernels;
mod uniform;

use std::collections::BTreeSet;

use warpload::encoding::{Instruction, Sm};
use warpload::load::{LoadOp, Prepared};
use warpload::machine::RegisterLimit;
use warpload_ptx::lower::{Binding, OptimizationLevel};
use warpload_ptx::{lower, read};

use corpus::{Row, forms, level, lowered, sorted_forms};

fn rows() -> Vec<Row> {
    corpus::rows(include_bytes!("../../ptx_lower/ptx_to_sm50.jsonl.xz"))
}

/// Rows in which ptxas removed the load, because it reads a value stored before it.
const REMOVED: [&str; 10] = [
    "sass-0462",
    "sass-0464",
    "sass-0470",
    "sass-0473",
    "sass-0474",
    "sass-0477",
    "sass-0478",
    "sass-0482",
    "sass-0485",
    "sass-0486",
];

/// The row in which ptxas unrolled a loop around the load.
const UNROLLED: &str = "sass-0791";

fn opcodes(loads: &[Instruction]) -> Vec<String> {
    loads.iter().map(|load| load.opcode().to_string()).collect()
}

/// Rows in which ptxas branches around a load that the module guards, and emits it without a guard.
const BRANCHED: [&str; 2] = ["sass-0788", "sass-0789"];

#[test]
fn opcodes_are_those_of_ptxas() {
    let mut count = 0;
    for row in rows().iter().filter(|row| row.arch == "sm_50" && row.flags.is_empty()) {
        count += 1;
        let (got, ptxas) =
            (opcodes(&lowered(&row.module, OptimizationLevel::O3)), opcodes(&row.loads));
        if REMOVED.contains(&row.id.as_str()) {
            assert!(ptxas.is_empty() && got.len() == 1, "{}", row.id);
        } else if row.id == UNROLLED {
            assert!(ptxas.len() == 12 && got.len() == 1, "{}", row.id);
            assert!(ptxas.iter().all(|one| *one == got[0]), "{}", row.id);
        } else {
            assert_eq!(got, ptxas, "{}", row.id);
        }
    }
    assert_eq!(count, 443);
}

/// Compares bases, displacements, banks and guards as well as opcodes, at every level, on every SM 5.x and 6.x, and for
/// 32-bit addresses.
#[test]
fn whole_texts_are_those_of_ptxas_but_for_register_numbers() {
    let mut count = 0;
    for row in rows() {
        let Some(level) = level(&row) else { continue };
        let is_optimized = REMOVED.contains(&row.id.as_str()) || row.id == UNROLLED;
        if is_optimized || BRANCHED.contains(&row.id.as_str()) {
            continue;
        }
        assert_eq!(
            forms(&lowered(&row.module, level)),
            forms(&row.loads),
            "{} {:?}",
            row.id,
            row.flags
        );
        count += 1;
    }
    assert_eq!(count, 596);
}

/// The loads of a cubin.
fn cubin(name: &str) -> Vec<Instruction> {
    let file = format!("{}/../tests/data/listings/{name}.cubin", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(file).unwrap();
    let words =
        warpload_binary::sass::read(&bytes[..], warpload_binary::sass::Format::Detect).unwrap();
    let words = words.filter_map(|read| read.unwrap().word?.narrow());
    words.filter_map(|word| Instruction::decode(word, Sm::SPA5).load()).collect()
}

/// Whole kernels: the listings' PTX becomes the code of ptxas's cubins.
#[test]
fn kernels_are_those_of_ptxas() {
    let kernels = [
        ("chase", "chase.sm_50", OptimizationLevel::O3),
        ("chase", "chase.sm_61", OptimizationLevel::O3),
        ("gather", "gather.sm_50", OptimizationLevel::O3),
        ("gather", "gather.sm_61", OptimizationLevel::O3),
        ("gather", "gather-O0.sm_50", OptimizationLevel::O0),
        ("uniform", "uniform.sm_50", OptimizationLevel::O3),
        ("uniform", "uniform.sm_61", OptimizationLevel::O3),
    ];
    for (source, compiled, level) in kernels {
        let file = format!("{}/../tests/data/listings/{source}.ptx", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        let got = sorted_forms(&lowered(&text, level));
        assert_eq!(got, sorted_forms(&cubin(compiled)), "{compiled}");
    }
}

/// More loads than registers: numbers start again, aligned and within R254 every time.
#[test]
fn numbers_start_again() {
    let mut source = ".version 8.0\n.target sm_50\n.address_size 64\n.entry k() {\n\
         .reg .pred %p<900>; .reg .b64 %a<900>; .reg .b32 %r<4000>;\n"
        .to_owned();
    for i in 0..900 {
        let guard = if i % 3 == 0 { format!("@%p{i} ") } else { String::new() };
        let [a, b, c, d] = [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3];
        source += &match i % 4 {
            0 => format!("{guard}ld.v4.u32 {{%r{a}, %r{b}, %r{c}, %r{d}}}, [%a{i}];\n"),
            1 => format!("{guard}ld.u8 %r{a}, [%a{i}+8];\n"),
            2 => format!("{guard}ld.global.v2.u32 {{%r{a}, %r{b}}}, [%a{i}];\n"),
            _ => format!("{guard}ld.shared.u32 %r{a}, [%a{i}];\n"),
        };
    }
    source += "ret; }";
    let module = read(&source).unwrap();
    let lowered: Vec<_> = lower(&module, OptimizationLevel::O3).map(Result::unwrap).collect();
    assert_eq!(lowered.len(), 900);
    for load in lowered.iter().flat_map(|load| &load.instructions) {
        let op = LoadOp::try_from(load).unwrap();
        let prepared = Prepared::new(load, RegisterLimit::ALL).unwrap();
        assert_eq!(prepared.fault(), None, "{load}");
        let parts = load.parts();
        let first = parts.destination.register().unwrap().number();
        let base = parts.address.base.number();
        let base_count = if parts.address.extended { 2 } else { 1 };
        let is_apart = first + op.registers() as u8 <= base || base + base_count <= first;
        assert!(is_apart, "{load}");
    }
    // Within a load, no register or predicate may hold two values.
    for load in &lowered {
        let held = load.bindings.iter().filter_map(|binding| match binding {
            Binding::Address { register, .. } | Binding::Destination { register, .. } => {
                Some(register.to_string())
            }
            Binding::Plg { predicate, .. } | Binding::Guard { predicate, .. } => {
                Some(predicate.to_string())
            }
            Binding::Frame { .. } | Binding::Constant { .. } => None,
        });
        let mut seen = BTreeSet::new();
        assert!(held.into_iter().all(|held| seen.insert(held)), "{:?}", load.bindings);
    }
}

/// In compiler output, every load has an instruction or becomes an operand.
#[test]
fn modules_of_clang_are_lowered() {
    let mut count = 0;
    for (name, source) in crate::compiled::modules() {
        for level in [OptimizationLevel::O0, OptimizationLevel::O3] {
            for load in lower(&read(&source).unwrap(), level) {
                let load = load.unwrap_or_else(|error| panic!("{name}: {error}"));
                count += load.instructions.len();
            }
        }
    }
    assert!(count > 500, "{count}");
}

fn texts(body: &str) -> Vec<String> {
    let source = format!(
        ".version 8.0\n.target sm_70\n.address_size 64\n.func (.param .b64 r) f(.param .b64 p);\n\
         .entry k(.param .u64 p, .param .u64 q) {{\n.reg .pred %p<3>; .reg .b64 %rd<4>;\n\
         .reg .b32 %r<5>; .param .b64 p0; .param .b64 r0;\n{body}\nret; }}"
    );
    let module = read(&source).unwrap();
    let lowered = lower(&module, OptimizationLevel::O3).filter_map(Result::ok);
    lowered.flat_map(|load| load.instructions).map(|load| load.to_string()).collect()
}

/// A destination may also be the address. All pieces of a load must read the address before it is overwritten.
#[test]
fn parts_of_a_load_share_its_address() {
    assert_eq!(
        texts("ld.const.v4.u32 {%r1,%r2,%r3,%r4}, [%r1];"),
        [
            "LDC R3, c[0x3][R2]",
            "LDC R4, c[0x3][R2+0x4]",
            "LDC R5, c[0x3][R2+0x8]",
            "LDC R6, c[0x3][R2+0xc]"
        ]
    );
}

/// Results of calls, values that depend on a carry, and values chosen by a branch table are not uniform; a parameter
/// is.
#[test]
fn uniform_is_what_all_definitions_make_so() {
    for (before, opcode) in [
        ("ld.param.b64 %rd2, [p];", "LDG.E.U.128"),
        ("call.uni (r0), f, (p0); ld.param.b64 %rd2, [r0];", "LDG.E.128"),
        (
            "mov.u32 %r1, %tid.x; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 0, 0; cvt.u64.u32 %rd2, %r3;",
            "LDG.E.128",
        ),
        (
            "ts: .branchtargets A, B; mov.u32 %r1, %tid.x; brx.idx %r1, ts;
            A: ld.param.b64 %rd2, [p]; bra C; B: ld.param.b64 %rd2, [q]; C:",
            "LDG.E.128",
        ),
    ] {
        let texts = texts(&format!("{before} ld.global.v4.u32 {{%r1,%r2,%r3,%r4}}, [%rd2];"));
        assert_eq!(texts.last().unwrap().split(' ').next(), Some(opcode), "{before}");
    }
}

/// `.U` of a shared load is independent of its address.
#[test]
fn shared_loads_are_uniform_whatever_their_address() {
    let body = "mov.u32 %r1, %tid.x; ld.shared.u8 %r2, [%r1]; ld.shared.u32 %r3, [64];
        ld.shared.v2.u32 {%r2,%r4}, [%r3+8];";
    let expected = ["LDS.U.U8 R3, [R2]", "LDS.U.32 R4, [0x40]", "LDS.U.64 R6, [R4+0x8]"];
    assert_eq!(texts(body), expected);
    let source = format!(
        ".version 8.0\n.target sm_50\n.address_size 64\n.entry k() {{ .reg .b32 %r<5>; {body} }}"
    );
    let module = read(&source).unwrap();
    let loads = lower(&module, OptimizationLevel::O0).flat_map(|load| load.unwrap().instructions);
    assert!(loads.map(|load| load.to_string()).all(|text| text.starts_with("LDS.U")));
}

/// A load without an SM 5.x form still writes its registers, so values formed from them are forgotten.
#[test]
fn a_refused_load_writes_its_registers() {
    let body = "ld.u32 %r1, [%rd1]; ld.relaxed.sys.global.u64 %rd1, [%rd2]; ld.u32 %r3, [%rd1+8];";
    assert_eq!(texts(body), ["LD.E R4, [R2], P0", "LD.E R8, [R6], P1"]);
}
