//! Guards, the active mask, and registers without values.

use warpload::lane::LaneMask;
use warpload_ptx::run::RunErrorKind;

use crate::ptx_run::fixture::{Case, Refusal, machine};

#[test]
fn guards_and_the_active_mask_decide_who_loads() {
    // P1 is true in the upper half; lanes 0, 4, 8, .. are active.
    let ran = Case::new("@%p1 ld.global.u32 %r1, [%rd1]; @!%p1 ld.global.u32 %r2, [%rd1];")
        .set("%p1", "lane>=16")
        .set("%rd1", "0x10000000")
        .set("%r1", "7")
        .active(0x1111_1111)
        .on(machine());
    let executing: Vec<u32> =
        ran.loads.iter().map(|load| load.as_ref().unwrap().executing.bits()).collect();
    assert_eq!(executing, [0x1111_0000, 0x0000_1111]);
    assert_eq!([0, 15, 16, 17].map(|n| ran.lane("%r1", n)), [7, 7, 0x0302_0100, 7].map(Some));
    // R2 has a value only where it was loaded.
    let r2 = ran.register("%r2").unwrap();
    assert_eq!(r2.known, LaneMask::from_bits(0x1111));
    assert_eq!([r2.lane(4), r2.lane(5)], [Some(0x0302_0100), None]);
}

#[test]
fn a_register_without_value_is_an_error() {
    let ran = Case::new("ld.global.u32 %r1, [%rd1+4];\n@!%p2 ld.global.u32 %r2, [%rd2];")
        .set("%rd2", "0x10000000")
        .active(0x3)
        .on(machine());
    let errors = ran.errors();
    assert_eq!(
        errors[0].to_string(),
        "line 12, column 21: register `%rd1` has no value in lanes 0x00000003"
    );
    assert_eq!(
        errors[1].to_string(),
        "line 13, column 3: register `%p2` has no value in lanes 0x00000003"
    );
    let kind = |is_predicate, register: &str| RunErrorKind::NoValue {
        register: register.to_owned(),
        lanes: LaneMask::from_bits(3),
        is_predicate,
    };
    assert_eq!([errors[0].kind(), errors[1].kind()], [&kind(false, "%rd1"), &kind(true, "%p2")]);
    assert_eq!(ran.held("%r1"), None);
}

#[test]
fn only_executing_lanes_need_a_value() {
    // R1 is loaded in lanes 0..=7 alone, and used there alone.
    let body = "@%p1 ld.global.u8 %r1, [%rd1]; @%p1 ld.shared.u8 %r2, [%r1];";
    let ran = Case::new(body).set("%p1", "lane<8").set("%rd1", "0x10000000+lane").on(machine());
    assert_eq!(ran.lane("%r2", 7), Some(0xff - 7));
    let ran = Case::new("@%p1 ld.global.u8 %r1, [%rd1]; ld.shared.u8 %r2, [%r1];");
    let ran = ran.set("%p1", "lane<8").set("%rd1", "0x10000000+lane").on(machine());
    let error = ran.loads[1].clone().unwrap_err();
    assert!(error.to_string().ends_with("has no value in lanes 0xffffff00"), "{error}");
}

/// Whether %r1, loaded first, has a value after the instruction.
fn survives(instruction: &str) -> bool {
    let body = format!("ld.global.u32 %r1, [%rd1]; {instruction} ld.global.u32 %r2, [%rd1];");
    let ran = Case::new(&body).set("%rd1", "0x10000000").on(machine());
    ran.held("%r1").is_some()
}

#[test]
fn what_other_instructions_write_is_unknown() {
    for writing in [
        "add.s32 %r1, %r2, %r3;",
        "mov.b32 %r1, %r2;",
        "mov.b64 {%r1, %r2}, %rd2;",
        "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "call (%r1), f, (%r2);",
        "bar.red.popc.u32 %r1, 0, %p1;",
        "ld.global.u32 %r1, [%rd8];",
        "ld.global.v2.u32 {%r3, %r1}, [%rd8];",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r5];",
        "vector.of.tomorrow %r1, 1;",
    ] {
        assert!(!survives(writing), "{writing}");
    }
    for reading in [
        "st.global.u32 [%rd1], %r1;",
        "add.s32 %r2, %r1, %r1;",
        "st.shared.u32 [%r1], %r2;",
        "red.global.add.u32 [%rd1], %r1;",
        "bar.sync %r1;",
        "call f, (%r1);",
        "call %rd1, (%r1), proto;",
        "setp.eq.u32 %p1, %r1, 0;",
        "nanosleep.u32 %r1;",
        "bra somewhere; somewhere:",
        "ret;",
        ".loc 1 1 1",
    ] {
        assert!(survives(reading), "{reading}");
    }
}

#[test]
fn a_vector_register_is_written_as_a_whole() {
    let body = "ld.global.v4.b32 Q, [%rd1]; mov.b32 Q.x, 0; ld.global.u32 %r1, [%rd1];";
    let ran = Case::new(body).set("%rd1", "0x10000000").on(machine());
    // Too much is forgotten rather than too little.
    assert_eq!(ran.register("Q.y"), None);
}

#[test]
fn a_guarded_write_spares_the_other_lanes() {
    let body =
        "ld.global.u32 %r1, [%rd1]; @!%p1 add.s32 %r1, %r1, 1; @%p1 ld.shared.u8 %r2, [%r3];";
    let ran = Case::new(body)
        .set("%rd1", "0x10000000")
        .set("%r3", "0")
        .set("%p1", "lane<4")
        .on(machine());
    assert_eq!(ran.register("%r1").unwrap().known, LaneMask::from_bits(0xf));
}

#[test]
fn what_is_set_stands_for_what_is_computed() {
    // The address comes from a parameter and arithmetic, of which the result is set.
    let body = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3];
        ld.global.u64 %rd3, [%rd3]; add.s64 %rd3, %rd3, 8; ld.global.u8 %r3, [%rd3];";
    let ran = Case::new(body).set("%rd3", "0x10000000+4*lane").on(machine());
    assert_eq!(ran.lane("%r2", 3), Some(0x0f0e_0d0c));
    assert_eq!(ran.lane("%r3", 3), Some(0x0c));
}

#[test]
fn names_of_inner_scopes_are_other_registers() {
    let body = "ld.global.u32 %r1, [%rd1]; { .reg .b32 %r1; ld.global.u32 %r1, [%rd1+4]; }
        ld.shared.u8 %r2, [%r3];";
    let ran = Case::new(body).set("%rd1", "0x10000000").set("%r3", "0").on(machine());
    assert_eq!(ran.all("%r1"), 0x0302_0100);
}

#[test]
fn loads_without_meaning_are_errors() {
    for load in [
        "ld.global.u32 %r1, [nobody];",
        "ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];",
        "ld.global.v8.u64 {%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1,%rd1}, [%rd1];",
        "ld.global.u32 %r1;",
    ] {
        let ran = Case::new(load).set("%rd1", "0x10000000").on(machine());
        assert!(matches!(ran.errors()[..], [Refusal::Illegal(_)]), "{load} {:?}", ran.errors());
    }
    for (load, expected) in [
        ("ld.shared.u32 %r1, [%laneid];", "the value of a special register is unknown here"),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r5];",
            "this load needs Tensor Memory, and none is given",
        ),
    ] {
        let ran = Case::new(load).set("%rd1", "0x10000000").on(machine());
        let error = ran.errors()[0].kind().to_string();
        assert!(error.starts_with(expected), "{load} {error}");
    }
}
