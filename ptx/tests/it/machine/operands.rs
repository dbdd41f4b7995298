//! Operands: variables by name, special registers, constants of every type, addresses, and registers that are not
//! known.

use super::{Launched, launch, module};
use warpload_ptx::launch::{AllocationUse, DeviceMemory, Kernel, KernelError, KernelLaunch};
use warpload_ptx::{check, read};

/// A kernel that adds a constant table to a global counter, and writes the third word of the table.
const VARIABLES: &str = ".version 8.0\n.target sm_80\n.address_size 64
.const .align 4 .u32 table[4] = {1, 2, 3, 4};
.global .f32 scale = 0f3F800000;
.global .u32 count;
.shared .u32 each;
.extern .global .u32 elsewhere;
.visible .entry k() {
    .reg .b32 %r<5>; .reg .f32 %f<3>;
    ld.const.u32 %r1, [table+8]; ld.global.u32 %r2, [count]; add.u32 %r2, %r2, %r1; st.global.u32 [count], %r2;
    ld.global.f32 %f1, [scale]; add.f32 %f1, %f1, %f1; st.global.f32 [scale], %f1;
    ret;
}";

#[test]
fn variables_are_set_before_a_launch_and_read_after_it() {
    let module = read(VARIABLES).expect("a module");
    let kernel = Kernel::named(&module, "k").unwrap();
    let id = |name: &str| kernel.variable(name).unwrap();
    let table = kernel.variable_value(id("table"), "5,6,7").unwrap();
    let scale = kernel.variable_value(id("scale"), "2.5").unwrap();
    let launch = KernelLaunch::new([1; 3], [1; 3])
        // Shorter than the variable: the last word keeps its initial value.
        .variable(id("table"), &table[..12])
        .variable(id("scale"), &scale)
        .variable(id("count"), &100_u32.to_le_bytes());
    let mut memory = DeviceMemory::new();
    assert_eq!(memory.variable("count"), None);
    let result = kernel.run(&launch, &mut memory, None).unwrap();
    assert!(result.faults.is_empty(), "{}", result.faults[0]);
    let bytes = |memory: &DeviceMemory, name: &str| {
        let base = memory.variable(name).unwrap_or_else(|| panic!("{name}"));
        memory.bytes(base).expect("an allocation").to_vec()
    };
    assert_eq!(bytes(&memory, "count"), 107_u32.to_le_bytes());
    assert_eq!(bytes(&memory, "scale"), 5.0_f32.to_le_bytes());
    let expected: Vec<u8> = [5_u32, 6, 7, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(bytes(&memory, "table"), expected);
    // Variables of a block, of another module, and unknown ones are not among them.
    for name in ["each", "elsewhere", "nothing"] {
        assert_eq!(memory.variable(name), None);
        let error = kernel.variable(name).unwrap_err();
        let message = format!("no variable `{name}`; the module has table, scale, count");
        assert_eq!(error.to_string(), message);
    }
    // A second launch in the same memory begins with the initial values again.
    kernel.run(&KernelLaunch::new([1; 3], [1; 3]), &mut memory, None).unwrap();
    assert_eq!(bytes(&memory, "count"), 3_u32.to_le_bytes());
}

#[test]
fn values_that_are_longer_than_their_variable_are_refused() {
    let module = read(VARIABLES).expect("a module");
    let kernel = Kernel::named(&module, "k").unwrap();
    let launch = KernelLaunch::new([1; 3], [1; 3]);
    let launch = launch.variable(kernel.variable("count").unwrap(), &[0; 5]);
    let error = kernel.run(&launch, &mut DeviceMemory::new(), None).unwrap_err();
    let name = "count".to_owned();
    assert_eq!(error, KernelError::VariableSize { name, expected: 4, given: 5 });
    assert_eq!(error.to_string(), "`count` has 4 bytes, 5 are given");
}

/// Launches one of the kernels of `tests/machine` in one block.
fn launch_file(
    source: &str,
    function: &str,
    threads: u32,
    parameters: &[Parameter<'_>],
) -> Launched {
    launch_grid(source, function, [1; 3], threads, parameters)
}

/// An argument of a kernel.
enum Parameter<'a> {
    Buffer(&'a [u8]),
    Value(&'a [u8]),
}

fn launch_grid(
    source: &str,
    function: &str,
    grid: [u32; 3],
    threads: u32,
    parameters: &[Parameter<'_>],
) -> Launched {
    let module = read(source).expect("a module");
    let kernel = Kernel::named(&module, function).expect("a kernel");
    let mut memory = DeviceMemory::new();
    let mut launch = KernelLaunch::new(grid, [threads, 1, 1]);
    // Loops that wait for something that never happens end soon.
    launch.options.steps = 1 << 20;
    let mut bases = Vec::new();
    for (number, parameter) in parameters.iter().enumerate() {
        launch = match parameter {
            Parameter::Value(bytes) => launch.parameter(bytes),
            Parameter::Buffer(bytes) => {
                let purpose = AllocationUse::Argument(number);
                let base = memory.allocate(bytes.to_vec(), purpose).expect("room");
                bases.push(base);
                launch.parameter(&base.to_le_bytes())
            }
        };
    }
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    let buffers = bases.iter().map(|base| memory.bytes(*base).expect("a buffer").to_vec());
    Launched { buffers: buffers.collect(), result }
}

/// Launches a file whose parameters are zeros of some sizes.
fn launch_zeros(source: &str, function: &str, threads: u32, sizes: &[usize]) -> Launched {
    let zeros: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; *size]).collect();
    let parameters: Vec<_> = zeros.iter().map(|bytes| Parameter::Buffer(bytes)).collect();
    launch_file(source, function, threads, &parameters)
}

impl Launched {
    /// Checks that all was executed, and returns the words of a buffer.
    #[track_caller]
    fn clean(&self, buffer: usize) -> Vec<u32> {
        assert!(self.result.faults.is_empty(), "{}", self.result.faults[0]);
        assert!(self.result.skipped.is_empty(), "{:?}", self.result.skipped);
        assert!(self.result.unknown.is_empty(), "{:?}", self.result.unknown);
        self.words(buffer)
    }

    /// The texts of the faults.
    fn faults(&self) -> Vec<String> {
        self.result.faults.iter().map(ToString::to_string).collect()
    }
}

/// Runs a body with a kernel of `super::module`, whose `out` has a word for each thread, and returns the outcome.
fn outcome(body: &str, threads: u32) -> Launched {
    let options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    launch(&module(body), options, &[vec![0; 4 * threads as usize]])
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

// Copies with a predicate or a size. [PTX ISA, cp.async]

#[test]
fn copies_ignore_their_source_where_a_predicate_is_true() {
    let input: Vec<u8> = (0..512_u32).map(|byte| byte as u8).collect();
    let copied = launch_file(
        include_str!("../../machine/r01_cpasync_ignore_src.ptx"),
        "k",
        32,
        &[Parameter::Buffer(&[0; 128]), Parameter::Buffer(&input)],
    );
    let word =
        |thread: u32| u32::from_le_bytes(std::array::from_fn(|at| (16 * thread + at as u32) as u8));
    let expected: Vec<u32> =
        (0..32).map(|thread| if thread > 15 { 0 } else { word(thread) }).collect();
    assert_eq!(copied.clean(0), expected);
    // Four threads ignore their source, the others copy it.
    let copied = launch_file(
        include_str!("../../machine/attack_igsrc.ptx"),
        "k",
        32,
        &[Parameter::Buffer(&input), Parameter::Buffer(&[0; 128])],
    );
    let expected: Vec<u32> =
        (0..32).map(|thread| if thread < 4 { 0 } else { word(thread) }).collect();
    assert_eq!(copied.clean(1), expected);
    let input: Vec<u8> = (1..=32).collect();
    let copied = launch_file(
        include_str!("../../machine/judged_cp_async_zfill.ptx"),
        "cp_async_zfill",
        1,
        &[Parameter::Buffer(&input), Parameter::Buffer(&[0; 64])],
    );
    copied.clean(1);
    assert_eq!(
        copied.buffers[1],
        hex("01020304050000000000000000000000 111213141516171800000000ffffffff
             00000000000000000000000000000000 090a0b0c0d0e0f10ffffffffffffffff")
    );
}

/// A copy of 16 bytes of `%r9` into shared memory, and what the first thread finds there.
fn copy(operands: &str, setup: &str) -> Launched {
    let body = format!(
        ".global .align 16 .b32 g[4] = {{1, 2, 3, 4}}; .shared .align 16 .b32 s[4]; --- {setup}
         mov.u32 %r1, -1; st.shared.v4.u32 [s], {{%r1, %r1, %r1, %r1}}; mov.u64 %rd9, 7;
         cp.async.ca.shared.global{operands}; cp.async.wait_all;
         ld.shared.v4.u32 {{%r2, %r3, %r4, %r5}}, [s]; mul.lo.u32 %r2, %r2, 1000; mad.lo.u32 %r2, %r3, 100, %r2;
         mad.lo.u32 %r2, %r4, 10, %r2; add.u32 %r2, %r2, %r5; st.global.u32 [%rd1], %r2;"
    );
    outcome(&body, 1)
}

#[test]
fn every_form_of_a_copy_is_understood() {
    for (operands, expected) in [
        (" [s], [g], 16", 1234),
        (" [s], [g], 16, 8", 1200),
        (" [s], [g], 16, 0", 0),
        (" [s], [g], 16, %p1", 0),
        (" [s], [g], 16, %p2", 1234),
        (" [s], [g], 16, !%p2", 0),
        (" [s], [g], 16, !%p1", 1234),
        (" [s], [g], 16, %r8", 1230),
        (".L2::cache_hint [s], [g], 16, %rd9", 1234),
        (".L2::cache_hint [s], [g], 16, %p1, %rd9", 0),
        (".L2::cache_hint [s], [g], 16, %r8, %rd9", 1230),
    ] {
        let setup = "mov.pred %p1, 1; mov.pred %p2, 0; mov.u32 %r8, 12;";
        assert_eq!(copy(operands, setup).clean(0), [expected], "{operands}");
    }
    // A source that is ignored need not exist.
    let absent = "mov.u64 %rd8, 16; mov.pred %p1, 1; mov.u32 %r8, 0;";
    assert_eq!(copy(" [s], [%rd8], 16, %p1", absent).clean(0), [0]);
    assert_eq!(copy(" [s], [%rd8], 16, %r8", absent).clean(0), [0]);
    // "Specifying src-size larger than cp-size results in undefined behavior."
    let undefined = copy(" [s], [g], 16, %r8", "mov.u32 %r8, 17;");
    assert_eq!(undefined.result.unknown[0].bytes, 4);
    let cause = undefined.result.unknown[0].cause.to_string();
    assert!(cause.ends_with("leaves it undefined"), "{cause}");
    for operands in [" [s], [g], 16, %r8", " [s], [g], 16, %p1", " [s], [g], 16, !%p1"] {
        let faults = copy(operands, "").faults();
        assert!(faults[0].contains("of a copy") || faults[0].contains("ignore its source"));
        assert!(faults[0].contains("nothing has written"), "{}", faults[0]);
    }
}

// Shared memory of one kernel. [CUDA: a kernel has the shared variables that it and its callees use]

#[test]
fn shared_variables_of_other_kernels_take_no_room() {
    let source = include_str!("../../machine/r04_shared_of_other_kernels.ptx");
    let launched = launch_zeros(source, "k3", 1, &[512]);
    assert_eq!(launched.words(0)[..2], [49152, 0]);
    assert_eq!(launched.faults(), ["out of bounds: 0xfe00c000 is the end of shared memory"]);
    let source = include_str!("../../machine/r04b_shared_of_other_kernels.ptx");
    let launched = launch_zeros(source, "k1", 1, &[512]);
    assert_eq!(launched.words(0)[..2], [1024, 0]);
    assert_eq!(launched.faults(), ["out of bounds: 0xfe000400 is the end of shared memory"]);
}

#[test]
fn shared_variables_count_where_they_are_used() {
    // `mine` is used by a callee, `first` by the kernel, `other` and `third` by neither.
    let source = |call: &str| {
        format!(
            ".version 8.7\n.target sm_90a\n.address_size 64
.shared .align 4 .b8 other[8192]; .shared .align 4 .b8 first[256]; .shared .align 4 .b8 mine[512];
.func (.reg .b32 r) f() {{ .shared .align 4 .b8 inside[1024]; mov.u32 r, mine; ret; }}
.func (.reg .b32 r) h() {{ .shared .align 4 .b8 third[4096]; mov.u32 r, third; ret; }}
.visible .entry k(.param .u64 out) {{
 .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
 ld.param.u64 %rd1, [out]; mov.u32 %r1, %total_smem_size; mov.u32 %r2, first; {call}
 st.global.v2.u32 [%rd1], {{%r1, %r2}}; ret; }}"
        )
    };
    let size = |call: &str| launch_zeros(&source(call), "k", 1, &[8]).clean(0)[0];
    assert_eq!(size(""), 256);
    assert_eq!(size("call (%r2), f, ();"), 256 + 512 + 1024);
    // An indirect call may reach any function.
    let indirect =
        "mov.u64 %rd2, f; p: .callprototype (.reg .b32 _) _ (); call (%r2), %rd2, (), p;";
    assert_eq!(size(indirect), 256 + 512 + 1024 + 4096);
}

#[test]
fn total_shared_memory_is_in_allocation_units() {
    // [PTX ISA, %total_smem_size: multiples of 256 bytes on sm_7x, of 128 bytes on sm_8x and later]
    let source = |target: u32| {
        format!(
            ".version 8.7\n.target sm_{target}\n.address_size 64\n.shared .b8 s[300];
.visible .entry k(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>;
 ld.param.u64 %rd1, [out]; mov.u32 %r1, %total_smem_size; mov.u32 %r2, s; ld.shared.u8 %r2, [s+299];
 st.global.u32 [%rd1], %r1; ret; }}"
        )
    };
    assert_eq!(launch_zeros(&source(75), "k", 1, &[4]).clean(0), [512]);
    assert_eq!(launch_zeros(&source(80), "k", 1, &[4]).clean(0), [384]);
}

// Constants and special registers as operands.

#[test]
fn constants_of_calls_have_the_type_of_the_parameter() {
    let source = include_str!("../../machine/r08_call_float_immediate.ptx");
    assert_eq!(launch_zeros(source, "k", 1, &[512]).clean(0)[0], 1.5_f32.to_bits());
    // Every type, in registers and in `.param`.
    for (scalar, constant, expected) in [
        ("f64", "1.5", 1.5_f64.to_bits()),
        ("f64", "0d3FF8000000000000", 1.5_f64.to_bits()),
        ("f32", "-2.0", (-2.0_f32).to_bits().into()),
        ("b32", "7", 7),
        ("u64", "-1", u64::MAX),
        ("s32", "-2", 0xffff_fffe),
        ("u16", "65535", 65535),
    ] {
        let source = format!(
            ".version 8.7\n.target sm_90a\n.address_size 64
.func (.param .{scalar} s) id (.param .{scalar} x) {{ .reg .{scalar} t; ld.param.{scalar} t, [x]; st.param.{scalar} [s], t; ret; }}
.visible .entry k(.param .u64 out) {{ .reg .b64 %rd<9>; .reg .{scalar} t;
 ld.param.u64 %rd1, [out]; {{ .param .{scalar} r; call (r), id, ({constant}); ld.param.{scalar} t, [r]; }}
 st.global.{scalar} [%rd1], t; ret; }}"
        );
        let words = launch_zeros(&source, "k", 1, &[8]).clean(0);
        let value = u64::from(words[0]) | u64::from(words[1]) << 32;
        assert_eq!(value, expected, "{scalar} {constant}");
    }
}

#[test]
fn narrow_types_take_the_low_bits_of_special_registers() {
    let source = include_str!("../../machine/r09_mov_u16_special.ptx");
    let out = [0; 512];
    let launched = launch_grid(source, "k", [65538, 1, 1], 1, &[Parameter::Buffer(&out)]);
    assert_eq!(launched.clean(0)[0], 1);
    // ptxas reads the low halves: `mov.u16` of a variable is `LDC.U16` of its address.
    let body = ".global .align 256 .b8 g[256]; --- mov.u16 %h1, g; mov.u64 %rd3, g; cvt.u32.u64 %r2, %rd3;
        cvt.u32.u16 %r1, %h1; and.b32 %r2, %r2, 0xffff; sub.u32 %r1, %r1, %r2; st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 1), [0]);
    let body = "mov.u16 %h1, %lanemask_ge; mov.b32 %r1, {%h1, %h1}; st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 2), [0xffff_ffff, 0xfffe_fffe]);
}

/// A kernel that stores a special register.
fn special(name: &str) -> Launched {
    let body = format!("mov.u32 %r1, {name}; st.global.u32 [%rd1], %r1;");
    outcome(&body, 1)
}

#[test]
fn special_registers_have_a_value_or_are_named() {
    // [PTX ISA, "Special Registers": the whole chapter]
    // Those of clusters are refused with the launch.
    for (register, first) in [("tid", 0), ("ntid", 1), ("ctaid", 0), ("nctaid", 1)] {
        for (axis, value) in [("x", first), ("y", first), ("z", first), ("w", 0)] {
            assert_eq!(
                special(&format!("%{register}.{axis}")).clean(0),
                [value],
                "%{register}.{axis}"
            );
        }
    }
    for (register, value) in [
        ("%laneid", 0),
        ("%warpid", 0),
        ("%nwarpid", 1),
        ("%smid", 0),
        ("%nsmid", 1),
        ("%gridid", 0),
        ("%lanemask_eq", 1),
        ("%lanemask_le", 1),
        ("%lanemask_lt", 0),
        ("%lanemask_ge", 0xffff_ffff),
        ("%lanemask_gt", 0xffff_fffe),
        ("%dynamic_smem_size", 0),
        ("%total_smem_size", 0),
        // "the shared memory reserved for the system": 1 KiB, as in `%reserved_smem_offset_cap`
        ("%aggr_smem_size", 1024),
        // ptxas 12.9 makes constants of these.
        ("%reserved_smem_offset_begin", 0),
        ("%reserved_smem_offset_cap", 1024),
        ("%reserved_smem_offset_0", 0),
    ] {
        assert_eq!(special(register).clean(0), [value], "{register}");
    }
    for clock in ["%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi"] {
        special(clock).clean(0);
    }
    for clock in ["%clock64", "%globaltimer", "%current_graph_exec", "%gridid"] {
        let body = format!("mov.u64 %rd3, {clock}; st.global.u32 [%rd1], 1;");
        assert_eq!(super::run(&body, 1), [1], "{clock}");
    }
    // Of the driver, or of the hardware: nothing here knows the value, and the instruction is named.
    let numbered = (0..32).map(|number| format!("%envreg{number}"));
    let counters = (0..8).map(|number| format!("%pm{number}"));
    let others = ["%reserved_smem_offset_end", "%reserved_smem_offset_1"].map(str::to_owned);
    for register in numbered.chain(counters).chain(others) {
        let launched = special(&register);
        assert_eq!(launched.result.skipped[0].text, format!("mov.u32 %r1, {register}"));
        assert_eq!(launched.result.unknown[0].bytes, 4, "{register}");
    }
    let body = "mov.u64 %rd3, %pm7_64; st.global.u32 [%rd3], 1;";
    let faults = outcome(body, 1).faults();
    assert_eq!(
        faults,
        ["an address is not known: `mov.u64 %rd3, %pm7_64` in line 8 is not executed"]
    );
    // A vector, and names that are none.
    let body = "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid; mad.lo.u32 %r1, %r1, 1000, %r2; add.u32 %r1, %r1, %r4;
        st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 2), [2001; 2]);
    assert_eq!(special("%nothing").result.skipped.len(), 1);
    assert_eq!(special("%envreg32").result.skipped.len(), 1);
}

#[test]
fn guards_are_never_dropped() {
    // Without a cluster launch, `%is_explicit_cluster` is false.
    let source = include_str!("../../machine/r21_special_guard.ptx");
    assert_eq!(launch_zeros(source, "k", 1, &[8]).clean(0), [0, 0]);
    let body = "mov.u32 %r1, 5; @%is_explicit_cluster mov.u32 %r1, 6; @!%is_explicit_cluster add.u32 %r1, %r1, 10;
        st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 1), [15]);
    // Names without a value, and registers that are not predicates, as ptxas refuses them.
    for guard in ["%nothing", "!%nothing", "%r0", "%laneid", "%h1", "out"] {
        let stored = outcome(&format!("@{guard} st.global.u32 [%rd2], 7;"), 1);
        assert_eq!(stored.words(0), [0], "{guard}");
        assert_eq!(stored.result.faults[0].kind.name(), "unknown_value");
        assert_eq!(stored.result.skipped.len(), 1);
        let written = outcome(
            &format!("mov.u32 %r1, 7; @{guard} mov.u32 %r1, 8; st.global.u32 [%rd2], %r1;"),
            1,
        );
        assert_eq!(written.result.unknown[0].bytes, 4, "{guard}");
        let jumped = outcome(&format!("@{guard} bra there; st.global.u32 [%rd2], 7; there:"), 1);
        assert_eq!(jumped.result.faults[0].kind.name(), "unknown_value", "{guard}");
        assert_eq!(jumped.words(0), [0]);
    }
}

// Sums, elements of arrays, vectors of registers. The expected values are those of ptxas's code.

#[test]
fn elements_of_arrays_are_operands() {
    let source = include_str!("../../machine/public_45_array_operands.ptx");
    assert_eq!(launch_zeros(source, "arr", 1, &[16]).clean(0), [30, 20, 20, 20]);
    let table = ".global .align 4 .u32 t[4] = {10, 20, 30, 40}; .shared .align 8 .b64 s[4]; .const .u16 c[4] = {1, 2, 3, 4}; ---";
    for (body, expected) in [
        ("mov.u64 %rd3, t[3]; ld.global.u32 %r1, [%rd3];", 40),
        ("mov.u32 %r2, 2; mov.u64 %rd3, t[%r2]; ld.global.u32 %r1, [%rd3];", 30),
        ("mov.u32 %r2, 2; ld.global.u32 %r1, t[%r2+1];", 40),
        ("mov.u64 %rd4, 1; ld.global.u32 %r1, t[%rd4+-1];", 10),
        // ptxas computes the offset in 32 bits, and uses the low half of a wider index.
        ("mov.u64 %rd4, 0x100000001; ld.global.u32 %r1, t[%rd4];", 20),
        ("mov.u32 %r2, 0x40000003; ld.global.u32 %r1, t[%r2];", 40),
        ("mov.u16 %h1, 3; ld.global.u32 %r1, t[%h1];", 40),
        ("mov.u32 %r1, s[2];", 16),
        ("mov.u32 %r2, 3; mov.u32 %r1, s[%r2];", 24),
        ("st.shared.b64 s[1], 9; ld.shared.u32 %r1, [s+8];", 9),
        ("mov.u32 %r2, 3; st.shared.b64 s[%r2], 8; ld.shared.u32 %r1, s[3];", 8),
        ("ld.const.u16 %h1, c[2]; cvt.u32.u16 %r1, %h1;", 3),
        ("st.shared.b64 s[0], 5; ld.shared.u32 %r1, [%laneid];", 5),
        ("cvta.shared.u64 %rd3, s[2]; cvta.to.shared.u64 %rd3, %rd3; cvt.u32.u64 %r1, %rd3;", 16),
        (".local .b32 l[4]; mov.u32 %r2, 2; st.local.u32 l[%r2], 6; ld.local.u32 %r1, l[2];", 6),
        (
            ".local .b32 l[4]; mov.u64 %rd3, l[1]; st.local.u32 [%rd3+4], 6; ld.local.u32 %r1, l[2];",
            6,
        ),
    ] {
        assert_eq!(
            super::run(&format!("{table} {body} st.global.u32 [%rd2], %r1;"), 1),
            [expected],
            "{body}"
        );
    }
}

#[test]
fn sums_of_registers_and_constants_are_operands() {
    for (body, expected) in [
        ("mov.u32 %r2, 5; mov.u32 %r1, %r2+4;", 9),
        ("mov.u32 %r2, 5; add.u32 %r1, %r2+4, 3;", 12),
        ("mov.u32 %r2, 5; add.u32 %r1, 3, %r2+-1;", 7),
        ("mov.u32 %r2, 7; setp.eq.u32 %p1, %r2+2, 9; selp.u32 %r1, 1, 2, %p1;", 1),
        ("mov.u32 %r2, -1; mul.wide.u32 %rd3, %r2+1, %r2; cvt.u32.u64 %r1, %rd3;", 0),
        ("mov.u16 %h1, 0xffff; mov.u16 %h2, %h1+2; cvt.u32.u16 %r1, %h2;", 1),
        ("mov.u32 %r2, 8; st.global.u32 [%rd2], %r2+7; ld.global.u32 %r1, [%rd2];", 15),
        ("mov.u16 %h1, 3; st.global.u8 [%rd2], %h1+255; ld.global.u32 %r1, [%rd2];", 2),
        ("mov.u32 %r2, 8; atom.global.add.u32 %r3, [%rd2], %r2+1; ld.global.u32 %r1, [%rd2];", 9),
    ] {
        assert_eq!(
            super::run(&format!("{body} st.global.u32 [%rd2], %r1;"), 1),
            [expected],
            "{body}"
        );
    }
}

#[test]
fn vectors_of_registers_are_moved() {
    let source = include_str!("../../machine/judged_r10_mov_into_vector_register.ptx");
    assert_eq!(launch_zeros(source, "k", 1, &[4]).clean(0), [0x2222_1111]);
    let registers = ".reg .v2 .b32 %v; .reg .v2 .b16 %vh; .reg .v4 .b32 %w; .reg .v2 .b64 %vd; .reg .v2 .f32 %vf; .reg .b128 %q;";
    for (body, expected) in [
        ("mov.u16 %vh.x, 0x1234; mov.u16 %vh.y, 0x5678; mov.b32 %r1, %vh;", 0x5678_1234),
        ("mov.b64 %v, 0x700000005; sub.u32 %r1, %v.y, %v.x;", 2),
        (
            "mov.u32 %v.x, 3; mov.u32 %v.y, 4; mov.b64 %rd3, %v; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r1, %rd3;",
            4,
        ),
        ("mov.v2.b32 %v, {6, 2}; div.u32 %r1, %v.x, %v.y;", 3),
        ("mov.v2.b32 %v, {6, 2}; mov.v2.b32 {%r2, %r3}, %v; sub.u32 %r1, %r2, %r3;", 4),
        (
            "mov.u32 %r2, 9; mov.u32 %r3, 4; mov.v2.b32 {%r2, %r3}, {%r3, %r2}; sub.u32 %r1, %r3, %r2;",
            5,
        ),
        ("mov.v2.b32 %v, {6, 2}; mov.v2.b32 %v, {%v.y, %v.x}; sub.u32 %r1, %v.y, %v.x;", 4),
        ("mov.v4.b32 %w, {1, 2, 3, 4}; mov.v4.b32 %w, %w; mad.lo.u32 %r1, %w.w, 10, %w.z;", 43),
        ("mov.v2.b32 {%r1, _}, {5, 6};", 5),
        ("mov.v2.f32 %vf, {1.5, 2.5}; add.f32 %f1, %vf.x, %vf.y; cvt.rzi.u32.f32 %r1, %f1;", 4),
        (
            "mov.v2.b64 %vd, {7, 8}; mov.b128 %q, %vd; mov.b128 %w, %q; mad.lo.u32 %r1, %w.z, 10, %w.x;",
            87,
        ),
        (
            "mov.v4.b32 %w, {1, 2, 3, 4}; mov.b128 %q, %w; mov.b128 {%rd3, %rd4}, %q; cvt.u32.u64 %r1, %rd4;",
            3,
        ),
        ("mov.b64 %rd3, {%tid.x, 1}; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r1, %rd3;", 1),
        ("mov.u64 %rd4, 8; mov.b64 %rd3, {%rd4}; cvt.u32.u64 %r1, %rd3;", 8),
        ("mov.v2.b32 %v, {6, 2}; st.global.v2.u32 [%rd2], %v; ld.global.u32 %r1, [%rd2+4];", 2),
        (
            "mov.v2.b64 %vd, {7, 8}; st.global.u32 [%rd2], 5; ld.global.u32 %vd.x, [%rd2]; cvt.u32.u64 %r1, %vd.x;",
            5,
        ),
    ] {
        let launched = launch(
            &module(&format!("{registers} {body} st.global.u32 [%rd2], %r1;")),
            KernelLaunch::new([1; 3], [1; 3]),
            &[vec![0; 8]],
        );
        assert_eq!(launched.clean(0)[0], expected, "{body}");
    }
}

/// Operands that ptxas refuses: none of them may be taken for something else.
#[test]
fn operands_of_another_width_or_type_are_not_executed() {
    let registers = ".reg .v2 .b32 %v; .reg .v4 .b32 %w; .reg .v2 .b16 %vh; .reg .b8 %b<3>;";
    for body in [
        // Parts of another width. [public_01_mov_four_halves.ptx]
        "mov.b32 %r1, {%h1, %h2, %h3, %h4};",
        "mov.b64 %rd3, {%h1, %h2};",
        "mov.b64 {%h1, %h2}, %rd3;",
        "mov.b32 {%r1, %r2}, %r3;",
        "mov.b64 %rd3, %w;",
        "mov.b64 %w, %rd3;",
        "mov.u64 %rd3, {%r1, %r2};",
        "mov.b64 %v, {%r1, %r2};",
        "mov.v2.b32 {%r1, %r2}, {%h1, %r2};",
        "mov.v2.b32 {%r1, %r2}, %w;",
        "mov.u32 %r1, %v;",
        "mov.u32 %v, %r1;",
        "mov.u32 %r1, %v.z;",
        "mov.u32 %r1, g.x;",
        // Predicates are no numbers, and numbers no predicates.
        "add.u32 %r1, %p1, 1;",
        "setp.eq.u32 %p1, %p2, 1;",
        "selp.u32 %r1, 1, 2, %r3;",
        "mov.pred %p1, %r1;",
        "mov.u32 %r1, %p1;",
        "mov.u32 %r1, %is_explicit_cluster;",
        "vote.sync.all.pred %r1, %p1, -1;",
        "vote.sync.ballot.b32 %p1, %p2, -1;",
        "and.pred %p1, %p2, %r1;",
        "st.global.u32 [%rd2], %p1;",
        "ld.global.u32 %p1, [%rd2];",
        // Registers that are too narrow for the result or the value.
        "add.u32 %h1, 1, 2;",
        "mul.wide.u32 %r1, 2, 3;",
        "add.u32 %r1, %h1, 1;",
        "rcp.rn.f32 %f1, %h1;",
        "mad.lo.u64 %rd3, %r1, %rd4, %rd5;",
        "st.global.u32 [%rd2], %h1;",
        "st.global.u64 [%rd2], %r1;",
        "st.global.u32 [%rd2], %vh.x;",
        "shfl.sync.idx.b32 %rd3, %r1, 0, 31, -1;",
        "activemask.b32 %rd3;",
        // Constants of another type.
        "add.u32 %r1, %r1, 1.5;",
        "add.f32 %f1, %f1, 1;",
        "mov.u16 %h1, 1.5;",
        // Addresses of another kind, and no addresses.
        "ld.shared.u32 %r1, [%f1];",
        "ld.shared.u32 %r1, [%v];",
        "st.shared.u32 [%p1], 1;",
        "mov.f32 %f1, g;",
        "st.shared.u32 [g], 1;",
        "mov.u32 %r1, %r2[1];",
        // Negation is not part of an operand here.
        "add.u32 %r1, %r1, -%r3;",
    ] {
        let launched =
            outcome(&format!(".global .b32 g; --- {registers} {body} st.global.u32 [%rd2], 5;"), 1);
        assert!(launched.result.faults.is_empty(), "{body}: {}", launched.result.faults[0]);
        let named: Vec<&str> = launched.result.skipped.iter().map(|one| &one.text[..]).collect();
        assert_eq!(named, [body.trim_end_matches(';')], "{body}");
    }
}

// Spaces.

#[test]
fn constants_and_parameters_cannot_be_written() {
    let source = include_str!("../../machine/r19_const_store.ptx");
    let launched = launch_zeros(source, "k", 1, &[4]);
    assert_eq!(launched.words(0), [1]);
    assert_eq!(launched.result.faults[0].kind.name(), "read_only");
    let declared = ".const .align 16 .u32 c[8] = {1, 2, 3, 4}; .shared .align 16 .b8 s[64]; --- mov.u32 %r4, -1;
        mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3; mov.u64 %rd4, out; cvta.param.u64 %rd4, %rd4;";
    for store in [
        "st.u32 [%rd3], 9;",
        "st.v2.u32 [%rd3+8], {9, 9};",
        "st.global.u32 [%rd3], 9;",
        "atom.add.u32 %r2, [%rd3], 9;",
        "red.add.u32 [%rd3], 9;",
        "atom.cas.b32 %r2, [%rd3], 1, 9;",
        "atom.exch.b64 %rd5, [%rd3], 9;",
        "st.u64 [%rd4], 9;",
        "red.add.u64 [%rd4], 9;",
    ] {
        let body = format!("{declared} {store} ld.const.u32 %r1, [c]; ld.param.u64 %rd9, [out];
            sub.u64 %rd9, %rd9, %rd1; cvt.u32.u64 %r3, %rd9; add.u32 %r1, %r1, %r3; st.global.u32 [%rd1], %r1;");
        let launched = outcome(&body, 1);
        assert_eq!(launched.words(0), [1], "{store}");
        assert_eq!(launched.result.faults[0].kind.name(), "read_only", "{store}");
        let what = if store.contains("%rd3") { "`c`" } else { "the parameters" };
        let text = launched.faults()[0].clone();
        assert!(text.contains(&format!("is in {what}, which a kernel cannot write")), "{text}");
    }
    // Matrices, too.
    let body = format!(
        "{declared} wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd3], {{%r4, %r4, %r4, %r4}}, 16;"
    );
    assert_eq!(outcome(&body, 32).result.faults[0].kind.name(), "read_only");
    let body = format!(
        "{declared} mov.u32 %r5, 32; st.global.u32 [%rd3], %r5; ld.const.u32 %r1, [c]; st.global.u32 [%rd2], %r1;"
    );
    let launched = outcome(&body, 32);
    assert_eq!((launched.words(0), launched.result.fault_count), (vec![1; 32], 32));
}

#[test]
fn spaces_of_generic_addresses() {
    let source = include_str!("../../machine/judged_spaces.ptx");
    let launched =
        launch_file(source, "spaces", 1, &[Parameter::Buffer(&[0; 16]), Parameter::Value(&[0; 4])]);
    launched.clean(0);
    assert_eq!(launched.buffers[0], hex("21840000 07000000 01000000 63000000"));
    // [PTX ISA, isspacep: parameters of kernels are in the window of global memory]
    let body = ".shared .b32 s; .const .b32 c; .const .b32 e; .global .b32 g; ---
        mov.u64 %rd3, out; cvta.param.u64 %rd3, %rd3; mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4;
        mov.u64 %rd5, e; cvta.const.u64 %rd5, %rd5; mov.u32 %r1, 0;
        isspacep.param %p1, %rd3; @%p1 or.b32 %r1, %r1, 1; isspacep.global %p1, %rd3; @%p1 or.b32 %r1, %r1, 2;
        isspacep.param::entry %p1, %rd3; @%p1 or.b32 %r1, %r1, 4; isspacep.param %p1, %rd1; @%p1 or.b32 %r1, %r1, 8;
        isspacep.shared::cta %p1, %rd4; @%p1 or.b32 %r1, %r1, 16;
        isspacep.shared::cluster %p1, %rd4; @%p1 or.b32 %r1, %r1, 32;
        isspacep.shared::cta %p1, %rd3; @%p1 or.b32 %r1, %r1, 64; isspacep.const %p1, %rd3; @%p1 or.b32 %r1, %r1, 128;
        isspacep.const %p1, %rd5; @%p1 or.b32 %r1, %r1, 256; isspacep.global %p1, %rd5; @%p1 or.b32 %r1, %r1, 512;
        mov.u64 %rd6, g; isspacep.const %p1, %rd6; @%p1 or.b32 %r1, %r1, 1024;
        isspacep.global %p1, %rd6; @%p1 or.b32 %r1, %r1, 2048; st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 1), [1 | 2 | 4 | 16 | 32 | 256 | 2048]);
    let unknown =
        outcome("isspacep.const %p1, %rd9; selp.u32 %r1, 1, 2, %p1; st.global.u32 [%rd2], %r1;", 1);
    assert_eq!(unknown.result.unknown[0].bytes, 4);
}

#[test]
fn addresses_in_shared_and_local_memory_have_32_bits() {
    // ptxas passes the low half of a 64-bit register to LDS, STS, LDL and STL.
    let body = ".shared .align 4 .b32 s[4]; --- .local .b32 l[2]; mov.u64 %rd3, s; add.u64 %rd3, %rd3, 0x300000004;
        st.shared.u32 [%rd3], 6; ld.shared.u32 %r1, [s+4]; mov.u64 %rd4, l; or.b64 %rd4, %rd4, 0x500000000;
        st.local.u32 [%rd4+4], 5; ld.local.u32 %r2, [l+4]; mad.lo.u32 %r1, %r1, 10, %r2; st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 1), [65]);
}

#[test]
fn the_stack_of_a_frame_grows_and_shrinks() {
    let source = include_str!("../../machine/judged_alloca.ptx");
    let launched = launch_zeros(source, "alloca", 32, &[128]);
    assert_eq!(launched.clean(0), (0..32).collect::<Vec<u32>>());
    // Sizes that differ between lanes, alignment, and memory that is given back.
    let body = "mul.lo.u32 %r1, %r0, 4; cvt.u64.u32 %rd3, %r1; add.u64 %rd3, %rd3, 4; stacksave.u64 %rd4;
        alloca.u64 %rd5, %rd3, 64; and.b64 %rd6, %rd5, 63; cvt.u64.u32 %rd7, %r1; add.u64 %rd7, %rd5, %rd7;
        st.local.u32 [%rd7], %r0; ld.local.u32 %r2, [%rd7]; stackrestore.u64 %rd4; alloca.u64 %rd8, 8;
        sub.u64 %rd9, %rd8, %rd4; cvt.u32.u64 %r3, %rd9; cvt.u32.u64 %r4, %rd6; mad.lo.u32 %r2, %r3, 100, %r2;
        mad.lo.u32 %r2, %r4, 1000, %r2; st.global.u32 [%rd2], %r2;";
    assert_eq!(super::run(body, 32), (0..32).collect::<Vec<u32>>());
    // The end of a lane's own allocation counts, not that of the longest one.
    let body = "cvt.u64.u32 %rd3, %r0; shl.b64 %rd3, %rd3, 4; add.u64 %rd3, %rd3, 16; alloca.u64 %rd5, %rd3;
        st.local.u32 [%rd5+16], 1;";
    let launched = outcome(body, 2);
    assert_eq!(launched.result.faults.iter().map(|fault| fault.lane).collect::<Vec<_>>(), [0]);
    // Callees have frames after it.
    let body = ".func (.reg .b32 r) f() { .local .b32 x; st.local.u32 [x], 9; ld.local.u32 r, [x]; ret; } ---
        alloca.u64 %rd5, 4096; st.local.u32 [%rd5], 1; st.local.u32 [%rd5+4092], 2; call (%r2), f, ();
        ld.local.u32 %r3, [%rd5]; ld.local.u32 %r4, [%rd5+4092]; mad.lo.u32 %r2, %r2, 10, %r3;
        mad.lo.u32 %r2, %r2, 10, %r4; st.global.u32 [%rd2], %r2;";
    assert_eq!(super::run(body, 1), [912]);
    for (body, kind) in [
        ("alloca.u64 %rd5, 0x100000;", "stack_overflow"),
        ("mov.u64 %rd3, -8; alloca.u64 %rd5, %rd3;", "stack_overflow"),
        ("alloca.u64 %rd5, %rd9;", "unknown_value"),
        ("stackrestore.u64 %rd9;", "unknown_value"),
        ("mov.u64 %rd3, 0x8000; stackrestore.u64 %rd3;", "out_of_bounds"),
    ] {
        assert_eq!(outcome(body, 1).result.faults[0].kind.name(), kind, "{body}");
    }
}

// Matrices in shared memory. [PTX ISA, ldmatrix, stmatrix]

#[test]
fn matrices_have_generic_addresses_without_a_space() {
    let input: Vec<u8> = (0..512_u32).map(|byte| (byte * 7 % 251) as u8).collect();
    let buffers = [Parameter::Buffer(&input), Parameter::Buffer(&[0; 512])];
    let source = include_str!("../../machine/judged_r03_ldmatrix_generic.ptx");
    let loaded = launch_file(source, "ldmatrix_generic", 32, &buffers);
    // Lane t has words t of the rows of four matrices, one after the other.
    let word = |matrix: usize, lane: usize| {
        let at = 128 * matrix + 16 * (lane / 4) + 4 * (lane % 4);
        u32::from_le_bytes(*input[at..].first_chunk().unwrap())
    };
    let expected: Vec<u32> = (0..32)
        .flat_map(|lane| (0..4).map(move |of| (of, lane)))
        .map(|(of, lane)| word(of, lane))
        .collect();
    assert_eq!(loaded.clean(1), expected);
    let source = include_str!("../../machine/judged_r03b_stmatrix_generic.ptx");
    let stored = launch_file(source, "stmatrix_generic", 32, &buffers);
    // Register r of lane t goes to word t % 4 of row t / 4 of matrix r.
    let mut expected = vec![0; 128];
    for lane in 0..32 {
        for register in 0..4 {
            let value =
                u32::from_le_bytes(*input[16 * lane + 4 * register..].first_chunk().unwrap());
            expected[32 * register + 4 * (lane / 4) + lane % 4] = value;
        }
    }
    assert_eq!(stored.clean(1), expected);
}

#[test]
fn unused_addresses_of_matrices_must_be_valid_on_old_targets() {
    let input: Vec<u8> = (0..256_u32).map(|byte| byte as u8).collect();
    let launched = |source: &str, guard: u32| {
        let guard = guard.to_le_bytes();
        let parameters =
            [Parameter::Buffer(&[0; 256]), Parameter::Buffer(&input), Parameter::Value(&guard)];
        launch_file(source, "frag", 32, &parameters)
    };
    let old = include_str!("../../machine/public_18_ldmatrix_sm75.ptx");
    let new = include_str!("../../machine/public_18_ldmatrix_sm80.ptx");
    let garbage = launched(old, 0);
    assert_eq!(garbage.result.fault_count, 16);
    assert!(garbage.result.faults.iter().all(|fault| fault.lane >= 16));
    // Both matrices are read nevertheless.
    let expected = launched(old, 1);
    expected.clean(0);
    assert_eq!(launched(new, 0).clean(0), expected.words(0));
    assert_eq!(garbage.words(0), expected.words(0));
}

/// Bytes of shared memory that differ, then a load of matrices and the registers of every lane.
fn matrix(load: &str, registers: usize) -> Vec<[u8; 4]> {
    let names = ["%r1", "%r2", "%r3", "%r4"][..registers].join(", ");
    let body = format!(
        ".shared .align 16 .b8 s[512]; --- mov.u32 %r9, s; mad.lo.u32 %r9, %r0, 16, %r9;
        mul.lo.u32 %r5, %r0, 0x10101010; add.u32 %r5, %r5, 0x03020100; add.u32 %r6, %r5, 0x04040404;
        add.u32 %r7, %r6, 0x04040404; add.u32 %r8, %r7, 0x04040404; st.shared.v4.u32 [%r9], {{%r5, %r6, %r7, %r8}};
        bar.sync 0; {load} {{{names}}}, [%r9]; mul.wide.u32 %rd3, %r0, {size}; add.u64 %rd3, %rd1, %rd3;
        st.global.{vector}u32 [%rd3], {{{names}}};",
        size = 4 * registers,
        vector = ["", "v2.", "", "v4."][registers - 1],
    );
    let body = if registers == 1 { body.replace("{%r1};", "%r1;") } else { body };
    let source = module(&body).replace("sm_90a", "sm_100a");
    let launched =
        launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 128 * registers]]);
    launched.clean(0);
    launched.buffers[0].as_chunks().0.to_vec()
}

/// The byte at a place of the shared memory of [`matrix`].
fn byte(row: usize, at: usize) -> u8 {
    let word = (row as u32)
        .wrapping_mul(0x1010_1010)
        .wrapping_add(0x0302_0100)
        .wrapping_add(at as u32 / 4 * 0x0404_0404);
    word.to_le_bytes()[at % 4]
}

#[test]
fn matrices_of_8_6_and_4_bits() {
    // The layouts are those of CUTLASS's copy traits for SM100, in the order of the registers of the instruction.
    for (registers, matrices) in [(2, 1), (4, 2)] {
        let load = format!("ldmatrix.sync.aligned.m16n16.x{matrices}.trans.shared.b8");
        let loaded = matrix(&load, registers);
        for lane in 0..32 {
            for register in 0..registers {
                let row = |at: usize| 16 * (register / 2) + 4 * (lane % 4) + at;
                let column = lane / 4 + 8 * (register % 2);
                let expected: [u8; 4] = std::array::from_fn(|at| byte(row(at), column));
                assert_eq!(loaded[lane * registers + register], expected, "{load} lane {lane}");
            }
        }
    }
    for (format, bits) in [("b6x16_p32", 6), ("b4x16_p64", 4)] {
        let element = |row: usize, at: usize| {
            let bytes: [u8; 16] = std::array::from_fn(|at| byte(row, at));
            (u128::from_le_bytes(bytes) >> (bits * at)) as u8 & ((1 << bits) - 1)
        };
        for registers in [1, 2, 4] {
            let load = format!("ldmatrix.sync.aligned.m8n16.x{registers}.shared.b8x16.{format}");
            let loaded = matrix(&load, registers);
            for lane in 0..32 {
                for register in 0..registers {
                    let row = 8 * register + lane / 4;
                    let expected: [u8; 4] =
                        std::array::from_fn(|at| element(row, 4 * (lane % 4) + at));
                    assert_eq!(loaded[lane * registers + register], expected, "{load} lane {lane}");
                }
            }
        }
        let load = format!("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.{format}");
        let loaded = matrix(&load, 2);
        for (place, bytes) in loaded.iter().enumerate() {
            let (lane, register) = (place / 2, place % 2);
            let row = |at: usize| 4 * (lane % 4) + at;
            let expected: [u8; 4] =
                std::array::from_fn(|at| element(row(at), lane / 4 + 8 * register));
            assert_eq!(*bytes, expected, "{load} lane {lane}");
        }
    }
    // Stored by accumulators: rows 0 to 7 of the transposed matrix.
    let body = ".shared .align 16 .b8 s[128]; --- mov.u32 %r9, s; and.b32 %r8, %r0, 7; mad.lo.u32 %r9, %r8, 16, %r9;
        mul.lo.u32 %r1, %r0, 0x04040404; add.u32 %r1, %r1, 0x03020100;
        stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r9], {%r1}; bar.sync 0; mov.u32 %r9, s;
        mad.lo.u32 %r9, %r0, 4, %r9; ld.shared.u32 %r1, [%r9]; st.global.u32 [%rd2], %r1;";
    let source = module(body).replace("sm_90a", "sm_100a");
    let stored = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 128]]);
    stored.clean(0);
    for (at, value) in stored.buffers[0].iter().enumerate() {
        let (row, column) = (at / 16, at % 16);
        let lane = column % 8 * 4 + row / 2;
        assert_eq!(usize::from(*value), 4 * lane + row % 2 + 2 * (column / 8), "byte {at}");
    }
}

/// What ptxas refuses is refused by the rules as well, so that no command runs it.
#[test]
fn elements_that_do_not_fill_a_register_are_refused() {
    let source = include_str!("../../machine/public_01_mov_four_halves.ptx");
    let module = read(source).expect("a module");
    let wrong: Vec<_> = check(&module).flat_map(|verdict| verdict.violations).collect();
    assert_eq!(wrong[0].rule.name(), "vector-size");
    assert_eq!(wrong[0].message, "`%h1` has 16 bits, in one of 4 elements of `.b32`");
    assert_eq!(wrong[0].help.as_deref(), Some("4 elements of a `.b32` have 8 bits each"));
    // ptxas 12.9 on each form.
    for (body, is_legal) in [
        ("mov.b64 %rd3, {%h1, %h2};", false),
        ("mov.b64 {%h1, %h2}, %rd3;", false),
        ("mov.b16 %h1, {%h2, %h3};", false),
        ("mov.b64 %rd3, {%r1, %h1};", false),
        ("mov.b64 {%rd3, %rd4}, %rd5;", false),
        ("mov.b64 %rd3, {%r1, 5};", true),
        ("mov.b64 {%r1, _}, %rd3;", true),
        ("mov.b64 %rd3, {%f1, %r1};", true),
        ("mov.b64 {%h1, %h2, %h3, %h4}, %rd3;", true),
        ("mov.b32 %r1, {%h1, %h2};", true),
        ("mov.b64 %rd3, {%rd4};", true),
        ("mov.v2.b32 {%r1, %r2}, {%r2, %r1};", true),
    ] {
        let source = super::module(body);
        let read = read(&source).expect("a module");
        assert_eq!(check(&read).all(|verdict| verdict.is_legal()), is_legal, "{body}");
    }
    // A table of shared addresses, which only the launch of a block fixes.
    let source = include_str!("../../machine/public_03_global_table_of_shared.ptx");
    let module = read(source).expect("a module");
    assert!(check(&module).any(|verdict| !verdict.is_legal()));
}

/// An instruction is executed with all that it names, or not at all.
#[test]
fn operands_beyond_the_last_are_not_ignored() {
    for (legal, more) in [
        ("ld.global.u32 %r1, [%rd1]", "7"),
        ("ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd3", "7"),
        ("st.global.u32 [%rd1], %r0", "7"),
        ("atom.global.add.u32 %r1, [%rd1], 1", "1"),
        ("atom.global.cas.b32 %r1, [%rd1], 1, 2", "3"),
        ("red.global.add.u32 [%rd1], 1", "1"),
        ("bar.sync 0, 32", "32"),
        ("bar.red.popc.u32 %r1, 0, 32, %p1", "%p1"),
        ("selp.u32 %r1, 1, 2, %p1", "%p1"),
        ("shfl.sync.idx.b32 %r1|%p2, %r0, 0, 31, -1", "3"),
        ("vote.sync.any.pred %p2, %p1, -1", "-1"),
        ("match.any.sync.b32 %r1, %r0, -1", "3"),
        ("redux.sync.add.u32 %r1, %r0, -1", "3"),
        ("cvta.to.global.u64 %rd3, %rd1", "%rd1"),
        ("activemask.b32 %r1", "%r0"),
        ("bra L", "3"),
        ("exit", "3"),
        ("membar.gl", "3"),
        ("popc.b32 %r1, %r0", "3"),
    ] {
        let skipped = |instruction: &str| {
            let body = format!("setp.eq.u32 %p1, %r0, 0; mov.u64 %rd3, 0; {instruction}; L:");
            let options = KernelLaunch::new([1; 3], [32, 1, 1]);
            launch(&module(&body), options, &[vec![0; 256]]).result.skipped.len()
        };
        assert_eq!(skipped(legal), 0, "{legal}");
        let separator = if legal.contains(' ') { "," } else { "" };
        let longer = format!("{legal}{separator} {more}");
        assert_eq!(skipped(&longer), 1, "{longer}");
    }
}
