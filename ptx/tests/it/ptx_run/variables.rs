//! Variables and parameters: where they lie and what they begin with.

use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder};
use warpload_ptx::run::RunErrorKind;

use crate::ptx_run::fixture::{Case, Ran, Refusal, local, machine, shared};

#[test]
fn global_variables_lie_in_the_order_of_their_declarations() {
    // a at 0x80000000; b is aligned to 8: 0x80000008; c follows: 0x80000008 + 12 = 0x80000014.
    let variables =
        ".global .u8 a = 1; .global .align 8 .b32 b[3] = {2, 3, 4}; .global .u16 c = 5;";
    let body = "ld.global.u8 %r1, [a]; ld.global.u32 %r2, [b+8]; ld.u16 %r3, [c];
        ld.global.u32 %r4, b[1]; ld.global.u32 %r5, b[%rd1]; ld.global.u16 %r6, [%rd2];";
    let ran = Case::with(variables, "", body)
        .set("%rd1", "lane%3")
        .set("%rd2", "0x80000014")
        .on(Machine::default());
    let found = ["%r1", "%r2", "%r3", "%r4", "%r6"].map(|r| ran.all(r));
    assert_eq!(found, [1, 4, 5, 3, 5]);
    // b[%rd1]: lane n reads element n % 3, which holds 2 + n % 3.
    assert_eq!((0..4).map(|n| ran.lane("%r5", n)).collect::<Vec<_>>(), [2, 3, 4, 2].map(Some));
}

#[test]
fn a_generic_load_of_a_shared_variable_is_shared() {
    // b begins at 4, after a: bytes 4 to 7 of shared memory.
    let variables = ".shared .u8 a; .shared .b32 b;";
    let body = "ld.u8 %r1, [b+1]; ld.shared.u8 %r2, [b]; ld.u8 %r3, [%rd1];";
    let ran = Case::with(variables, "", body).set("%rd1", "0xfe000004").on(machine());
    let found = ["%r1", "%r2", "%r3"].map(|r| ran.all(r));
    assert_eq!(found, [shared(5), shared(4), shared(4)].map(u128::from));
}

#[test]
fn local_variables_are_each_lanes_own() {
    let body = ".local .b8 first[3]; .local .u32 second; ld.local.u8 %r1, [second];
        ld.u8 %r2, [first+1];";
    let ran = Case::new(body).on(machine());
    for lane in [0, 7, 31] {
        assert_eq!(ran.lane("%r1", lane), Some(u128::from(local(lane, 4))));
        assert_eq!(ran.lane("%r2", lane), Some(u128::from(local(lane, 1))));
    }
    // Without an image they are made, and zero.
    let ran = Case::new(body).on(Machine::default());
    assert_eq!((ran.all("%r1"), ran.all("%r2")), (0, 0));
}

#[test]
fn constants_have_their_initial_values() {
    // f is aligned to 4: at 4.
    let variables = ".const .u8 e = 9; .const .f32 f[2] = {1.5, 0f40000000};";
    let body = "ld.const.u8 %r1, [e]; ld.const.f32 %f1, [f]; ld.const.f32 %f2, f[1];
        ld.const.b32 %r2, [%rd1+4];";
    let ran = Case::with(variables, "", body).set("%rd1", "4").on(Machine::default());
    // 1.5 = 0x3fc00000, 2.0 = 0x40000000.
    let found = ["%r1", "%f1", "%f2", "%r2"].map(|r| ran.all(r));
    assert_eq!(found, [9, 0x3fc0_0000, 0x4000_0000, 0x4000_0000]);
    // The fixture's bank 3 defines those bytes otherwise: byte 4 holds 12, ..
    let case = Case::with(variables, "", body).set("%rd1", "4");
    assert_eq!(case.on(machine()).all("%f1"), 0x1512_0f0c);
}

#[test]
fn an_image_that_ends_early_is_continued() {
    let memory = MemoryBuilder::new(AddressMap::default()).constant(3, &[7; 4]).build().unwrap();
    let variables = ".const .u32 a = 1; .const .u32 b = 2;";
    let body = "ld.const.v2.u32 {%r1, %r2}, [a];";
    let ran = Case::with(variables, "", body).on(Machine::new(memory));
    assert_eq!([ran.all("%r1"), ran.all("%r2")], [0x0707_0707, 2]);
}

#[test]
fn what_an_image_has_of_global_variables_stays() {
    // b, at 0x80000004, is the image's.
    let memory = MemoryBuilder::new(AddressMap::default()).global(0x8000_0004, &[7; 4]);
    let variables = ".global .u32 a = 1; .global .u32 b = 2; .global .u32 c = 3;";
    let body = "ld.global.u32 %r1, [a]; ld.global.u32 %r2, [b]; ld.global.u32 %r3, [c];";
    let ran = Case::with(variables, "", body).on(Machine::new(memory.build().unwrap()));
    assert_eq!(["%r1", "%r2", "%r3"].map(|r| ran.all(r)), [1, 0x0707_0707, 3]);
}

#[test]
fn variables_can_be_placed() {
    let variables = ".global .u32 a = 1; .global .u32 b = 2; .shared .u32 s; .const .u32 c = 4;
        .global .u64 p = b; .global .u64 g = generic(b);";
    let body = "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [b]; ld.shared.u8 %r3, [s];
        ld.const.u32 %r4, [%rd2]; ld.global.u64 %rd3, [p]; ld.global.u64 %rd4, [g];";
    let ran = Case::with(variables, "", body)
        .place("b", 0x2000_0000)
        .place("s", 16)
        .place("c", 0x100)
        .set("%rd1", "0x80000000")
        .set("%rd2", "0x100")
        .on(machine());
    let found = ["%r1", "%r2", "%r3", "%r4"].map(|r| ran.all(r));
    assert_eq!(found, [1, 2, u128::from(shared(16)), 4]);
    assert_eq!([ran.all("%rd3"), ran.all("%rd4")], [0x2000_0000; 2]);
}

#[test]
fn variables_of_other_modules_have_no_memory() {
    let variables = ".extern .global .u32 a; .extern .shared .b8 dynamic[];";
    let body = "ld.global.u32 %r1, [a];";
    let ran = Case::with(variables, "", body).on(Machine::default());
    assert_eq!(ran.faults().len(), 32);
    // An image has it.
    let ran = Case::with(variables, "", body).place("a", 0x1000_0008).on(machine());
    assert_eq!(ran.all("%r1"), 0x0b0a_0908);
    // Dynamic shared memory is what the image has of it.
    let ran = Case::with(variables, "", "ld.shared.u8 %r1, [dynamic+9];").on(machine());
    assert_eq!(ran.all("%r1"), u128::from(shared(9)));
}

const PARAMETERS: &str = ".param .u8 a, .param .u64 b, .param .align 16 .b8 c[32]";

#[test]
fn parameters_have_addresses_of_their_own() {
    // a: 0; b is aligned to 8: 8; c to 16: 16.
    let body = "ld.param.u8 %r1, [a]; ld.param.u64 %rd1, [b]; ld.param.v2.u16 {%r2, %r3}, [c+4];
        ld.param.u32 %r4, [%rd2]; ld.param.s8 %rs5, c[1]; ld.param.u8 %r6, [b+1];";
    let c: Vec<u8> = (0x80..0xa0).collect();
    let ran = Case::with("", PARAMETERS, body)
        .parameter("a", &[0x55])
        .parameter("b", &0x1234_5678_9abc_def0_u64.to_le_bytes())
        .parameter("c", &c)
        .set("%rd2", "0x18")
        .on(Machine::default());
    assert_eq!((ran.all("%r1"), ran.all("%rd1")), (0x55, 0x1234_5678_9abc_def0));
    assert_eq!([ran.all("%r2"), ran.all("%r3")], [0x8584, 0x8786]);
    // 0x18 is byte 8 of c.
    assert_eq!(ran.all("%r4"), 0x8b8a_8988);
    assert_eq!([ran.all("%rs5"), ran.all("%r6")], [0xffff_ff81, 0xde]);
}

#[test]
fn an_image_may_have_the_parameters() {
    let bank: Vec<u8> = (0..0x150_u32).map(|i| i as u8).collect();
    let machine = || {
        let memory = MemoryBuilder::new(AddressMap::default()).constant(0, &bank);
        Machine::new(memory.build().unwrap())
    };
    let body = "ld.param.u8 %r1, [a]; ld.param.u64 %rd1, [b];";
    let ran = Case::with("", PARAMETERS, body).on(machine());
    assert_eq!((ran.all("%r1"), ran.all("%rd1")), (0x40, 0x4f4e_4d4c_4b4a_4948));
    // What is given wins; the rest of it is zero.
    let ran = Case::with("", PARAMETERS, body).parameter("b", &[1, 2]).on(machine());
    assert_eq!((ran.all("%r1"), ran.all("%rd1")), (0x40, 0x0201));
}

#[test]
fn a_parameter_without_value_is_an_error() {
    let body = "ld.param.u64 %rd1, [b];\nld.param.u8 %r1, [a];\nld.param.u8 %r2, [%rd5];";
    let ran = Case::with("", PARAMETERS, body).parameter("b", &[3]).set("%rd5", "0x10");
    let ran = ran.on(Machine::default());
    let errors: Vec<String> = ran.errors().iter().map(ToString::to_string).collect();
    assert_eq!(ran.held("%rd1").map(|held| held.values[4]), Some(3));
    assert_eq!(
        errors,
        [
            "line 13, column 19: parameter `a` has no value",
            "line 14, column 19: parameter `c` has no value"
        ]
    );
}

#[test]
fn what_a_call_returns_can_be_given() {
    let function = ".func (.param .b32 r) f();";
    let body = "{ .param .b32 returned; call (returned), f; ld.param.b32 %r1, [returned]; }";
    let ran = Case::with(function, "", body).on(Machine::default());
    let kind = ran.loads[0].as_ref().err().map(Refusal::kind);
    assert_eq!(kind, Some(&RunErrorKind::NoParameter { parameter: "returned".to_owned() }));
    let ran = Case::with(function, "", body).parameter("returned", &[1, 2, 3, 4]);
    assert_eq!(ran.on(Machine::default()).all("%r1"), 0x0403_0201);
}

#[test]
fn what_cannot_be_placed_is_an_error() {
    let error = |case: Case| case.try_on(Machine::default()).err().map(|error| error.to_string());
    let two = ".global .u32 a; .global .u32 b;";
    let overlap = Case::with(two, "", "").place("b", 0x8000_0002);
    let expected = "two variables overlap: both have byte 0x80000002 of their space";
    assert_eq!(error(overlap).as_deref(), Some(expected));
    for (variable, expected) in [
        (".global .b8 a[0x4000001];", "more than 64 MiB of memory for .global variables"),
        (".local .b8 a[0x200001];", "more than 64 MiB of memory for .local variables"),
        (".shared .b8 a[0x7fffffff];", "more than 64 MiB of memory for .shared variables"),
        (".const .b8 a[0x10001];", "constant bank 3 has 65537 bytes"),
        (".shared .b8 a[0x1000001];", "shared memory (size 0x1000001) is larger than its window"),
        (
            ".global .u32 a[] = {1 2};",
            "this array has no length, and its initializer cannot be read",
        ),
        (".global .b8 a[0x100000001];", "more than 4 GiB of .global variables"),
        (
            ".shared .b8 a[4294967295][4294967295][4294967295];",
            "more than 4 GiB of .shared variables",
        ),
    ] {
        let case = Case::with(variable, "", "");
        let Err(error) = case.try_on(Machine::default()) else { panic!("{variable}") };
        assert!(error.to_string().starts_with(expected), "{variable} {error}");
        assert!(error.span().is_some(), "{variable}");
    }
    for (address, expected) in [
        (0xff00_0000, "the allocation (base 0xff000000, size 0x4) overlaps the local window"),
        (1 << 40, "the allocation (base 0x10000000000, size 0x4) reaches beyond 2^40"),
        (u64::MAX - 3, "at 0xfffffffffffffffc the variable reaches beyond the last address"),
        (u64::MAX, "at 0xffffffffffffffff the variable reaches beyond the last address"),
        (0x2000_0001, "0x20000001 is not a multiple of the variable's alignment, 4"),
    ] {
        let placed = Case::with(two, "", "").place("b", address);
        let Err(error) = placed.try_on(Machine::default()) else { panic!("{address:#x}") };
        assert_eq!(error.to_string(), expected);
        assert!(error.span().is_some(), "{expected}");
    }
}

#[test]
fn values_that_nobody_knows_are_errors_of_the_loads_that_read_them() {
    let variables = ".func foo() { ret; }
        .global .u64 vt[2] = {foo, generic(vt)};
        .global .samplerref s = {addr_mode_0=clamp_to_border};
        .global .u32 wrong = {1, 2};
        .const .u32 c = 1;
        .const .u64 d = generic(c);";
    let body = "ld.global.u64 %rd1, [vt];\nld.global.u64 %rd2, [vt+8];
        ld.u32 %r1, [%rd8];\nld.const.u32 %r2, [c];\nld.const.u32 %r3, [d+4];";
    let case = || Case::with(variables, "", body).set("%rd8", "0x80000010");
    let ran = case().on(Machine::default());
    let value = |ran: &Ran, r| ran.held(r).map(|held| held.values[31]);
    assert_eq!(["%rd2", "%r2"].map(|r| value(&ran, r)), [Some(0x8000_0000), Some(1)]);
    let kinds: Vec<_> = ran.errors().iter().map(|error| error.kind().to_string()).collect();
    assert_eq!(
        kinds,
        [
            "the initial value of `vt` is unknown: `foo` in line 5 has no value here",
            "the initial value of `wrong` is unknown: `2` in line 7 has no value here",
            "the initial value of `d` is unknown: `generic` in line 9 has no value here",
        ]
    );
    // An image has the first one.
    let memory = MemoryBuilder::new(AddressMap::default()).global(0x8000_0000, &[7; 8]);
    let ran = case().on(Machine::new(memory.build().unwrap()));
    let found = ["%rd1", "%rd2"].map(|r| value(&ran, r));
    assert_eq!(found, [Some(0x0707_0707_0707_0707), Some(0x8000_0000)]);
}

#[test]
fn initial_values_lie_anywhere_in_a_space() {
    let variables = ".global .b8 pad[20000000]; .global .b32 x = 1; .global .u16 open[] = {2, 3};";
    let body = "ld.global.b32 %r1, [x]; ld.global.u16 %r2, [open+2];";
    let ran = Case::with(variables, "", body).on(Machine::default());
    assert_eq!([ran.all("%r1"), ran.all("%r2")], [1, 3]);
    // No element, but a value far after it.
    let none = ".global .u8 a; .global .u8 x[0][0x7fffffffffffffff] = {{},{},{3}};";
    let ran = Case::with(none, "", "ld.global.u8 %r1, [a];").on(Machine::default());
    assert_eq!(ran.all("%r1"), 0);
}

#[test]
fn dynamic_shared_memory_follows_all_other() {
    // a: 0; b, of the function: 4; d after both, at a multiple of 16: 16. So is e.
    let variables = ".extern .shared .align 16 .b8 d[]; .shared .b8 a[3];
        .extern .shared .b32 e[];";
    let body = ".shared .b32 b; ld.shared.u8 %r1, [d]; ld.shared.u8 %r2, [a];
        ld.shared.u8 %r3, [b]; ld.shared.u8 %r4, [e+4];";
    let ran = Case::with(variables, "", body).on(machine());
    let found = ["%r1", "%r2", "%r3", "%r4"].map(|r| ran.all(r));
    assert_eq!(found, [shared(16), shared(0), shared(4), shared(20)].map(u128::from));
}

#[test]
fn an_image_may_have_the_beginning_of_a_parameter() {
    // q: its first four bytes are the image's.
    let bank: Vec<u8> = (0..0x144_u32).map(|i| i as u8).collect();
    let memory = MemoryBuilder::new(AddressMap::default()).constant(0, &bank);
    let body = "ld.param.u32 %r1, [q]; ld.param.u8 %r2, [q+4];";
    let case = Case::with("", ".param .b8 q[8]", body);
    let ran = case.on(Machine::new(memory.build().unwrap()));
    assert_eq!(ran.held("%r1").map(|held| held.values[31]), Some(0x4342_4140_u32.into()));
    let kind = ran.loads[1].as_ref().err().map(Refusal::kind);
    assert_eq!(kind, Some(&RunErrorKind::NoParameter { parameter: "q".to_owned() }));
}

#[test]
fn nothing_lies_in_front_of_the_first_parameter() {
    let body = "ld.param.u32 %r1, [%rd1];";
    let case = Case::with("", ".param .u32 a", body).parameter("a", &[5]);
    let ran = case.set("%rd1", "0-4*(lane&1)").on(Machine::default());
    assert_eq!([ran.lane("%r1", 0), ran.lane("%r1", 1)], [Some(5), Some(0)]);
    let faults = ran.faults();
    assert_eq!(faults.len(), 16);
}

/// A GPU does not say what it passes between parameters.
#[test]
fn bytes_between_parameters_have_no_value() {
    let body = "ld.param.u8 %r1, [a+1];\nld.param.u64 %rd1, [a];\nld.param.u8 %r2, [a];";
    let case = || Case::with("", ".param .u8 a, .param .u64 b", body);
    let ran = case().parameter("a", &[5]).parameter("b", &[6]).on(Machine::default());
    let errors: Vec<String> = ran.errors().iter().map(ToString::to_string).collect();
    assert_eq!(ran.held("%r2").map(|held| held.values[0]), Some(5));
    let message = "the bytes between parameters have no value";
    let at = |line, column| format!("line {line}, column {column}: {message}");
    assert_eq!(errors, [at(12, 19), at(13, 21)]);
    // An image has them.
    let memory = MemoryBuilder::new(AddressMap::default()).constant(0, &[7; 0x150]);
    let ran = case().on(Machine::new(memory.build().unwrap()));
    assert_eq!(ran.all("%r1"), 7);
}

/// Compilers declare the shared memory of all kernels in the module.
#[test]
fn shared_variables_of_other_kernels_take_no_room() {
    let variables =
        ".shared .b32 a; .shared .b32 b; .shared .b32 c; .shared .b32 nobodys; .shared .b32 d;
        .func f() { .reg .b32 %r; ld.shared.u32 %r, [c]; ret; }
        .entry other() { .reg .b32 %r; ld.shared.u32 %r, [a]; ld.shared.u32 %r, [d]; ret; }";
    let body = "call f; ld.shared.u8 %r1, [b]; ld.shared.u8 %r2, [d];";
    let ran = Case::with(variables, "", body).on(machine());
    let found = ["%r1", "%r2"].map(|r| ran.all(r));
    // b: 0; c, of a function that is called: 4; nobodys: 8; d, of both kernels: 12.
    assert_eq!(found, [shared(0), shared(12)].map(u128::from));
}
