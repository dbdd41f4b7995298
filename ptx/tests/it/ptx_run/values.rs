//! How bytes become register values: types, widening, vectors, sinks.

use warpload_ptx::run::{bits_of, lane_bits};
use warpload_ptx::syntax::ScalarType;

use crate::ptx_run::fixture::{Case, GLOBAL, machine};

/// One load from `GLOBAL + offset`, where the bytes are offset, offset + 1, ..
fn loaded(load: &str, offset: u64, register: &str) -> u128 {
    Case::new(load).set("%rd1", &format!("{}", GLOBAL + offset)).on(machine()).all(register)
}

#[test]
fn narrow_types_are_extended_to_the_register() {
    // Byte 0x90 is -112. Bit and unsigned types: zeroes; signed types: ones, up to the
    // register's width whatever the register's own type.
    for (load, register, expected) in [
        ("ld.global.b8 %h1, [%rd1];", "%h1", 0x90),
        ("ld.global.u8 %h1, [%rd1];", "%h1", 0x90),
        ("ld.global.u8 %rs1, [%rd1];", "%rs1", 0x90),
        ("ld.global.u8 %ds1, [%rd1];", "%ds1", 0x90),
        ("ld.global.s8 %h1, [%rd1];", "%h1", 0xff90),
        ("ld.global.s8 %ru1, [%rd1];", "%ru1", 0xffff_ff90),
        ("ld.global.s8 %rd2, [%rd1];", "%rd2", 0xffff_ffff_ffff_ff90),
        ("ld.global.s8 %q1, [%rd1];", "%q1", u128::MAX - 0x6f),
        // Bytes 0x90 0x91, the first one lowest: 0x9190.
        ("ld.global.b16 %r1, [%rd1];", "%r1", 0x9190),
        ("ld.global.u16 %h1, [%rd1];", "%h1", 0x9190),
        ("ld.global.s16 %r1, [%rd1];", "%r1", 0xffff_9190),
        ("ld.global.s16 %hu1, [%rd1];", "%hu1", 0x9190),
        ("ld.global.s32 %rd2, [%rd1];", "%rd2", 0xffff_ffff_9392_9190),
        ("ld.global.u32 %rd2, [%rd1];", "%rd2", 0x9392_9190),
        ("ld.global.b32 %r1, [%rd1];", "%r1", 0x9392_9190),
        ("ld.global.f32 %f1, [%rd1];", "%f1", 0x9392_9190),
        ("ld.global.f32 %rd2, [%rd1];", "%rd2", 0x9392_9190),
        ("ld.global.b64 %rd2, [%rd1];", "%rd2", 0x9796_9594_9392_9190),
        ("ld.global.s64 %q1, [%rd1];", "%q1", (0x9796_9594_9392_9190_u64 as i64) as u128),
        ("ld.global.u64 %q1, [%rd1];", "%q1", 0x9796_9594_9392_9190),
        ("ld.global.f64 %fd1, [%rd1];", "%fd1", 0x9796_9594_9392_9190),
        ("ld.global.b128 %q1, [%rd1];", "%q1", 0x9f9e_9d9c_9b9a_9998_9796_9594_9392_9190),
    ] {
        assert_eq!(loaded(load, 0x90, register), expected, "{load}");
    }
    // 0x12 is positive: a sign bit of 0 is extended, too.
    assert_eq!(loaded("ld.global.s8 %rd2, [%rd1];", 0x12, "%rd2"), 0x12);
}

#[test]
fn vectors_are_taken_apart() {
    // Bytes 0x80 0x81 0x82 0x83: one access of 4 bytes, four elements.
    let ran = Case::new("ld.global.v4.s8 {%h1, %h2, %h3, %h4}, [%rd1];")
        .set("%rd1", "0x10000080")
        .on(machine());
    assert_eq!(["%h1", "%h2", "%h3", "%h4"].map(|r| ran.all(r)), [0xff80, 0xff81, 0xff82, 0xff83]);

    let ran = Case::new("ld.global.v2.u8 {%r1, %r2}, [%rd1];").set("%rd1", "0x10000080");
    let ran = ran.on(machine());
    assert_eq!(["%r1", "%r2"].map(|r| ran.all(r)), [0x80, 0x81]);

    let ran = Case::new("ld.global.v4.u16 {%r1, %rs2, %ru3, %r4}, [%rd1];");
    let ran = ran.set("%rd1", "0x10000080").on(machine());
    let found = ["%r1", "%rs2", "%ru3", "%r4"].map(|r| ran.all(r));
    assert_eq!(found, [0x8180, 0x8382, 0x8584, 0x8786]);

    let ran = Case::new("ld.global.v2.f64 {%fd1, %fd2}, [%rd1];").set("%rd1", "0x10000010");
    let ran = ran.on(machine());
    assert_eq!(ran.all("%fd1"), 0x1716_1514_1312_1110);
    assert_eq!(ran.all("%fd2"), 0x1f1e_1d1c_1b1a_1918);
}

#[test]
fn vector_registers_are_filled_from_x_on() {
    let ran = Case::new("ld.global.v4.b32 Q, [%rd1]; ld.global.v2.u32 D, [%rd1+32];");
    let ran = ran.set("%rd1", "0x10000000").on(machine());
    let found = ["Q.x", "Q.y", "Q.z", "Q.w"].map(|r| ran.all(r));
    assert_eq!(found, [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c]);
    assert_eq!([ran.all("D.x"), ran.all("D.y")], [0x2322_2120, 0x2726_2524]);
    // One element of a vector register as the destination.
    let ran = Case::new("ld.global.b32 Q.z, [%rd1];").set("%rd1", "0x10000004").on(machine());
    assert_eq!(ran.all("Q.z"), 0x0706_0504);
    assert_eq!(ran.register("Q.x"), None);
}

#[test]
fn sinks_are_not_written() {
    let ran = Case::new("ld.global.v4.b32 {_, %r1, _, %r2}, [%rd1];");
    let ran = ran.set("%rd1", "0x10000000").set("%r3", "7").on(machine());
    assert_eq!([ran.all("%r1"), ran.all("%r2"), ran.all("%r3")], [0x0706_0504, 0x0f0e_0d0c, 7]);
    let written = &ran.loads[0].as_ref().unwrap().written;
    assert_eq!(written.len(), 2);
}

#[test]
fn a_scalar_may_stand_in_braces() {
    assert_eq!(loaded("ld.global.u32 {%r1}, [%rd1];", 0x10, "%r1"), 0x1312_1110);
}

#[test]
fn qualifiers_that_order_and_cache_change_no_value() {
    for load in [
        "ld.global.ca.u32",
        "ld.global.cg.u32",
        "ld.global.cs.u32",
        "ld.global.lu.u32",
        "ld.global.cv.u32",
        "ld.global.nc.u32",
        "ld.volatile.global.u32",
        "ld.weak.global.u32",
        "ld.relaxed.gpu.global.u32",
        "ld.acquire.sys.global.u32",
        "ld.mmio.relaxed.sys.global.u32",
        "ld.global.L1::no_allocate.u32",
        "ld.global.L2::256B.u32",
        "ld.u32",
        "ld.cv.u32",
        "ld.relaxed.cta.u32",
    ] {
        let load = format!("{load} %r1, [%rd1];");
        assert_eq!(loaded(&load, 0x20, "%r1"), 0x2322_2120, "{load}");
    }
    let load = "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd7;";
    assert_eq!(loaded(load, 0x20, "%r1"), 0x2322_2120);
}

#[test]
fn values_are_written_as_constant_expressions() {
    let lanes = |text: &str| lane_bits(text, ScalarType::U32);
    assert_eq!(lanes("0x10+4*lane").map(|v| [v[0], v[1], v[31]]), Ok([0x10, 0x14, 0x8c]));
    assert_eq!(lanes("lane%4").map(|v| [v[3], v[4]]), Ok([3, 0]));
    assert_eq!(lanes("lane<16?lane:100%(lane+1)").map(|v| [v[15], v[17]]), Ok([15, 10]));
    assert_eq!(lanes("-1"), Ok([0xffff_ffff; 32]));
    assert_eq!(
        lanes("5,6").map_err(|e| e.to_string()),
        Err("2 values; expected one, or one for each of the 32 lanes".to_owned())
    );
    let one = |text, scalar| bits_of(text, scalar).map_err(|error| error.to_string());
    assert_eq!(one("1.0", ScalarType::F64), Ok(0x3ff0_0000_0000_0000));
    assert_eq!(one("0x3f800000", ScalarType::F32), Ok(0x3f80_0000));
    assert!(one("0x100000000000000000000000000000002", ScalarType::B128).is_err());
    assert_eq!(one("0x10000000000000000000000000000002", ScalarType::B128), Ok((1 << 124) + 2));
    assert_eq!(one("-1", ScalarType::B128), Ok(u128::MAX));
    assert_eq!(one("-128", ScalarType::B8), Ok(0x80));
    for (text, scalar, expected) in [
        ("-129", ScalarType::S8, "-129 does not fit in 8 bits"),
        ("0x100000000", ScalarType::U32, "0x100000000 does not fit in 32 bits"),
        ("0x10000000000000000", ScalarType::U64, "0x10000000000000000 does not fit in 64 bits"),
        ("1.5", ScalarType::U64, "1.5 is not an integer"),
        ("lane", ScalarType::U64, "expected a constant, found `lane`"),
        ("4+", ScalarType::U64, "expected a constant, found the end"),
        ("4 5", ScalarType::U64, "expected the end, found `5`"),
        ("", ScalarType::U64, "expected a constant, found the end"),
        ("\u{e9}", ScalarType::U64, "expected a constant, found `\u{e9}`"),
    ] {
        assert_eq!(one(text, scalar), Err(expected.to_owned()), "{text}");
    }
}
