//! What a launch reports: which faults, how many, where, and about which source.

use super::{Launched, launch, module};
use warpload_ptx::launch::{
    AllocationUse, DeviceMemory, Kernel, KernelError, KernelFault, KernelLaunch,
};
use warpload_ptx::module::{SourceLocation, StatementKind};
use warpload_ptx::read;

fn threads(threads: u32) -> KernelLaunch {
    KernelLaunch::new([1; 3], [threads, 1, 1])
}

/// Launches a body with a buffer of 256 bytes.
fn launched(body: &str, options: KernelLaunch) -> Launched {
    launch(&module(body), options, &[vec![0; 256]])
}

/// A load of all threads that is out of bounds for all, a hundred times over, and two faults that come after it.
const NOISY: &str = "mov.u32 %r1, 0;
again: ld.global.u32 %r2, [%rd1+4096];
 add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra again;
 st.global.u16 [%rd1+1], %h1;
 setp.eq.u32 %p2, %r0, 3; @%p2 trap;";

#[test]
fn faults_of_one_instruction_do_not_hide_the_others() {
    let result = launched(NOISY, threads(32)).result;
    let totals: Vec<(&str, u64)> =
        result.fault_totals.iter().map(|total| (total.kind, total.count)).collect();
    assert_eq!(totals, [("out_of_bounds", 3200), ("misaligned", 32), ("trap", 1)]);
    assert_eq!(result.fault_count, 3233);
    let recorded =
        |kind: &str| result.faults.iter().filter(|fault| fault.kind.name() == kind).count();
    assert_eq!(["out_of_bounds", "misaligned", "trap"].map(recorded), [20, 20, 1]);
    let kinds = [("misaligned", 32), ("out_of_bounds", 3200), ("trap", 1)];
    assert_eq!(result.fault_kinds().into_iter().collect::<Vec<_>>(), kinds);
    assert_eq!(result.verdict(), "3233 faults (32 misaligned, 3200 out of bounds, 1 trap)");
    for total in &result.fault_totals {
        let first = &result.faults[total.first];
        assert_eq!((first.site, first.kind.name()), (total.site, total.kind));
    }
}

/// Two kinds at one instruction are counted apart.
#[test]
fn kinds_of_one_instruction_are_apart() {
    // Lane 0 is misaligned, the others are outside.
    let body = "setp.eq.u32 %p1, %r0, 0; selp.u64 %rd3, 2, 4096, %p1; add.u64 %rd3, %rd1, %rd3;
        ld.global.u32 %r1, [%rd3];";
    let totals = launched(body, threads(32)).result.fault_totals;
    let totals: Vec<(&str, u64, &str)> =
        totals.iter().map(|total| (total.kind, total.count, &*total.text)).collect();
    let text = "ld.global.u32 %r1, [%rd3]";
    assert_eq!(totals, [("misaligned", 1, text), ("out_of_bounds", 31, text)]);
}

/// The recorded faults of a module with very many faulty instructions are bounded; the totals are not.
#[test]
fn recorded_faults_are_bounded() {
    let body = "ld.global.u32 %r1, [%rd1+4096];\n".repeat(1000);
    let result = launched(&body, threads(32)).result;
    assert_eq!((result.fault_count, result.fault_totals.len()), (32_000, 1000));
    assert_eq!(result.faults.len(), 10_000 + 500);
}

/// A name of two megabytes is in the faults only by its beginning.
#[test]
fn long_names_are_not_copied() {
    let name = "y".repeat(2_000_000);
    let source = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.global .b32 g{name};
        .entry k{name}(){{ .reg .b64 {name}; .reg .b32 v; .reg .pred p;
        mov.u64 {name}, g{name};
        ld.global.b32 v,[{name}+8]; st.global.b32 [{name}+-4],v; @!p trap; ret; }}"
    );
    let result = launch(&source, threads(1024), &[]).result;
    let shown = |fault: &KernelFault| fault.to_string().len() + fault.function.len();
    let texts: usize = result.faults.iter().map(shown).sum();
    assert_eq!(result.faults.len(), 60);
    assert!(texts < 60 * 3 * 4200, "{texts}");
    let texts: Vec<&str> = result.fault_totals.iter().map(|total| &*total.text).collect();
    let [load, store, trap] = texts[..] else { panic!("{}", texts.len()) };
    assert!(load.len() < 4200 && load.starts_with("ld.global.b32 v,[yy") && load.ends_with("y…"));
    assert!(store.len() < 4200 && store.ends_with("y…"));
    assert_eq!(trap, "@!p trap");
}

#[test]
fn a_clean_run_says_what_was_checked() {
    for (checks, expected) in [
        ("", "no faults; races, synchronization and uninitialized memory were not checked"),
        ("uninitialized", "no faults; races and synchronization were not checked"),
        (
            "races:shared,sync",
            "no faults; races in global memory and uninitialized memory were not checked",
        ),
        ("races,sync", "no faults; uninitialized memory was not checked"),
        ("races,sync,uninitialized", "no faults"),
    ] {
        let mut options = threads(32);
        options.options.checks = checks.parse().unwrap_or_default();
        assert_eq!(launched("", options).result.verdict(), expected);
    }
    let barrier = |skip: &str| format!("setp.ge.u32 %p1, %r0, 20; @%p1 {skip}; bar.sync 0; end:");
    for (body, checks, expected) in [
        // [public 27: a barrier in a branch that lanes of one warp skip]
        (barrier("bra end"), "sync", "1 fault"),
        (barrier("bra end"), "races,uninitialized", "no faults; synchronization was not checked"),
        (barrier("exit"), "races,sync,uninitialized", "no faults"),
        ("bar.sync 0;".to_owned(), "races,sync,uninitialized", "no faults"),
    ] {
        let mut options = threads(32);
        options.options.checks = checks.parse().expect("checks");
        assert_eq!(launched(&body, options).result.verdict(), expected, "{body}");
    }
    assert_eq!(launched("ld.global.u32 %r1, [%rd1+256];", threads(1)).result.verdict(), "1 fault");
    let two = launched("ld.global.u32 %r1, [%rd1+256];", threads(2)).result;
    assert_eq!(two.verdict(), "2 faults");
}

// Addresses.

fn first(body: &str) -> KernelFault {
    launched(body, threads(1)).result.faults.first().expect("a fault").clone()
}

/// After rust-cuda#402: the offset of a shared variable, used as a generic address.
#[test]
fn a_shared_offset_as_a_generic_address_is_named() {
    let fault = first(
        ".shared .align 4 .b8 other[600];\n.shared .align 4 .b8 slot[16];\n---
        mov.u64 %rd3, slot; st.u32 [%rd3], %r0; ld.shared.u32 %r1, [other];",
    );
    assert_eq!(
        fault.to_string(),
        "out of bounds: 0x258; an address so low \
         looks like an offset in shared memory that was not converted (`cvta.shared`), or like a \
         null pointer"
    );
    let fault = first(
        "{ .local .align 4 .b8 depot[64]; .reg .b64 %a; mov.u64 %a, depot; st.u32 [%a+60], %r0; }",
    );
    assert!(fault.to_string().contains("local memory that was not converted"), "{fault}");
    // The converted addresses are right.
    let body = ".shared .align 4 .b8 slot[16];\n---
        mov.u64 %rd3, slot; cvta.shared.u64 %rd3, %rd3; st.u32 [%rd3], %r0;";
    assert!(launched(body, threads(1)).result.faults.is_empty());
}

/// After cupy#7539: an index of 32 bits overflows, and the address is below the buffer, modulo 2^64.
#[test]
fn negative_offsets_are_before_the_buffer() {
    let fault = first(
        "mul.wide.s32 %rd3, -2000000000, 4; add.s64 %rd3, %rd1, %rd3;\n ld.global.u32 %r1, [%rd3];",
    );
    assert_eq!(fault.address, 0x8000_0000_u64.wrapping_sub(8_000_000_000));
    assert_eq!(
        fault.to_string(),
        "out of bounds: 0xfffffffea329b000 is 8000000000 bytes before argument 0 (`out`); the \
         offset is negative: an index of 32 bits overflowed?"
    );
    // Far after the buffer is after it.
    let fault = first("add.s64 %rd3, %rd1, 8000000000;\n ld.global.u32 %r1, [%rd3];");
    assert!(fault.to_string().contains("bytes past the end of"), "{fault}");
}

/// The names that compilers give to parameters repeat the kernel's; what tells them apart is at the end.
#[test]
fn the_ends_of_long_names_are_shown() {
    let long = format!("_Z{}E_param_0", "x".repeat(200));
    let source = module("ld.global.u32 %r1, [%rd1+-8];").replace("out", &long);
    let result = launch(&source, threads(1), &[vec![0; 256]]).result;
    let text = result.faults[0].to_string();
    assert!(text.contains("argument 0 (`…xx") && text.ends_with("xE_param_0`)"), "{text}");
    assert_eq!(result.faults[0].nearest_name.as_deref(), Some(&*long));
}

// Limits.

#[test]
fn a_limit_names_a_loop_only_if_there_is_one() {
    let error = |body: &str, grid: u32, steps: u64| {
        let source = module(body);
        let module = read(&source).expect("a module");
        let mut memory = DeviceMemory::new();
        let address = memory.allocate(vec![0; 4096], AllocationUse::Argument(0)).expect("room");
        let mut options =
            KernelLaunch::new([grid, 1, 1], [32, 1, 1]).parameter(&address.to_le_bytes());
        options.options.steps = steps;
        let kernel = Kernel::named(&module, "k").expect("a kernel");
        let error = kernel.run(&options, &mut memory, None).expect_err("a limit");
        let KernelError::Steps { is_jump, blocks, result, .. } = error.clone() else {
            panic!("{error}")
        };
        (is_jump, result.counts.blocks, blocks, error.to_string(), result.verdict())
    };
    // Five instructions in each block.
    let (is_jump, done, blocks, text, verdict) = error("", 100_000, 1000);
    assert_eq!((is_jump, done, blocks), (false, 201, 100_000));
    assert!(text.contains("in 201 of 100000 blocks") && !text.contains("jump"), "{text}");
    let expected =
        "no faults so far; races, synchronization and uninitialized memory were not checked";
    assert_eq!(verdict, expected);
    // A loop of an earlier block that has ended is no reason.
    let loops = "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra end; mov.u32 %r2, 0;
        again: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra again; end:";
    let (is_jump, done, ..) = error(loops, 1000, 1000);
    assert!(!is_jump && done > 100, "{done}");
    let (is_jump, done, _, text, _) = error("\n again: bra again;", 10, 1000);
    assert_eq!((is_jump, done), (true, 1));
    assert!(text.ends_with("its last jump back is `bra again`"), "{text}");
}

// One block.

#[test]
fn one_block_runs_as_in_its_grid() {
    let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.y;
        st.global.v2.u32 [%rd1], {%r1, %r2}; st.global.u32 [%rd1+8], %r3;";
    let mut options = KernelLaunch::new([70_000, 5, 1], [1, 1, 1]);
    options.options.only_block = Some([65_535, 4, 0]);
    let ran = launched(body, options.clone());
    assert_eq!(ran.words(0)[..3], [65_535, 70_000, 4]);
    assert_eq!(ran.result.counts.blocks, 1);
    let source = module(body);
    let module = read(&source).expect("a module");
    options.options.only_block = Some([65_535, 5, 0]);
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let options = options.parameter(&[0; 8]);
    let error = kernel.run(&options, &mut DeviceMemory::new(), None).expect_err("no such block");
    assert_eq!(error.to_string(), "no block (65535, 5, 0): the grid has 70000 x 5 x 1");
}

// Sources.

/// The source place of each instruction of a body with locations.
fn locations(body: &str) -> Vec<(Option<SourceLocation>, Option<SourceLocation>)> {
    let source = format!(".version 8.8\n.target sm_90\n.entry k() {{\n{body}\n}}");
    let module = read(&source).expect("a module");
    let of = |function: &warpload_ptx::module::Function| {
        let ids: Vec<_> = module.statement_ids(function).collect();
        ids.into_iter()
            .filter(|id| {
                matches!(module.statements()[id.index()].kind, StatementKind::Instruction(_))
            })
            .map(|id| (module.location(id), module.inlined_location(id)))
            .collect::<Vec<_>>()
    };
    module.functions().iter().flat_map(of).collect()
}

fn at(file: u32, line: u32, column: u32) -> Option<SourceLocation> {
    // `SourceLocation` has public fields only.
    Some(SourceLocation { file, line, column })
}

/// As nvcc 12.9 writes them: each call is a location before the one that is inlined in it. [PTX ISA, .loc]
#[test]
fn inlined_code_is_followed_outward_to_the_file_of_its_kernel() {
    let chain = ".loc 1 20 5\n add.u32 a,a,1;
        .loc 2 113 7, function_name $L__info_string0, inlined_at 1 20 5\n add.u32 a,a,2;
        .loc 3 50 3, function_name $L__info_string1+8, inlined_at 2 113 7\n add.u32 a,a,3;
        .loc 1 7 3, function_name .debug_str+16, inlined_at 3 50 3\n add.u32 a,a,4;
        .loc 1 21 5\n add.u32 a,a,5;";
    assert_eq!(
        locations(chain),
        [
            (at(1, 20, 5), None),
            (at(1, 20, 5), at(2, 113, 7)),
            (at(1, 20, 5), at(3, 50, 3)),
            // A function of the kernel's own file is the user's code.
            (at(1, 7, 3), None),
            (at(1, 21, 5), None),
        ]
    );
}

/// Code that is inlined from the file of its kernel names the innermost call there.
#[test]
fn the_call_of_inlined_code_is_shown() {
    let body = ".loc 1 20 5\n add.u32 %r1, %r0, 1;\n.loc 2 9 1, function_name f, inlined_at 1 20 5\n add.u32 %r1, %r1, 1;
        .loc 1 7 3, function_name g, inlined_at 2 9 1\n ld.global.u32 %r2, [%rd1+1];\n.loc 1 8 3\n ld.global.u32 %r2, [%rd1+2];";
    let source = module(body) + ".file 1 \"a/k.cu\"\n.file 2 \"a/lib.h\"\n";
    let faults = launch(&source, threads(1), &[vec![0; 256]]).result.faults;
    let sources: Vec<_> = faults.iter().filter_map(KernelFault::source).collect();
    assert_eq!(sources, ["k.cu:7, inlined at 20", "k.cu:8"]);
}

#[test]
fn locations_that_are_written_otherwise() {
    // Two calls of one function: the later one counts from there on.
    let twice = ".loc 2 5 1, function_name f, inlined_at 1 10 2\n add.u32 a,a,1;
        .loc 2 5 1, function_name f, inlined_at 1 11 2\n add.u32 a,a,2;
        .loc 3 6 1, function_name g, inlined_at 2 5 1\n add.u32 a,a,3;";
    assert_eq!(
        locations(twice).into_iter().map(|found| found.0).collect::<Vec<_>>(),
        [at(1, 10, 2), at(1, 11, 2), at(1, 11, 2)]
    );
    // A call that no location names, itself as its call (the earlier one), the other order, comments, line ends.
    let odd = ".loc 2 5 1, inlined_at 1 10 2\n add.u32 a,a,1;
        .loc 2 5 1, function_name f, inlined_at 2 5 1\n add.u32 a,a,2;
        .loc 2 9 1, inlined_at 1 12 0, function_name f\n add.u32 a,a,3;
        .loc/* x */1 /* y */ 13 // z\n 4\n add.u32 a,a,4;
        .loc\t1\r\n\t14\t5\r\nadd.u32 a,a,5;
        .loc 1 15\n add.u32 a,a,6;";
    assert_eq!(
        locations(odd).into_iter().map(|found| found.0).collect::<Vec<_>>(),
        [at(1, 10, 2), at(1, 10, 2), at(1, 12, 0), at(1, 13, 4), at(1, 14, 5), at(1, 15, 0)]
    );
    // Line 0 is code without a line, and a location after the last statement is not the next function's.
    let ends = ".loc 1 0 0\n add.u32 a,a,1; .loc 1 9 9\n }\n.entry m() {\n add.u32 a,a,2; .loc 1 10 1\n ret;";
    assert_eq!(
        locations(ends).into_iter().map(|found| found.0).collect::<Vec<_>>(),
        [None, None, at(1, 10, 1)]
    );
}

#[test]
fn files_are_named() {
    let source = ".version 8.8\n.target sm_90\n.file 1 \"a.cu\"\n.file 2 \"/usr/x\" \"b.h\", 5, 6
        .entry k() { .file 3 \"in.py\"\n ret; }\n.file 4 \"/w\" \"/abs/c.cu\"\n.file 1 \"other.cu\"\n.file 5";
    let module = read(source).expect("a module");
    let names: Vec<Option<String>> = (1..=6).map(|file| module.file_name(file)).collect();
    let expected = ["a.cu", "/usr/x/b.h", "in.py", "/abs/c.cu"];
    assert_eq!(names[..4], expected.map(|name| Some(name.to_owned())));
    assert_eq!(names[4..], [None, None]);
}

#[test]
fn faults_have_their_file_and_line() {
    let body = ".loc 1 20 5\n ld.global.u32 %r1, [%rd1+256];
        .loc 2 113 7, function_name f, inlined_at 1 21 5\n ld.global.u32 %r1, [%rd1+256]; ld.global.u32 %r1, [%rd1+512];
        .loc 3 9 9\n ld.global.u32 %r1, [%rd1+256];";
    let source = module(body) + "\n.file 1 \"/home/u/saxpy.cu\"\n.file 2 \"/usr/math.h\"\n";
    let result = launch(&source, threads(1), &[vec![0; 256]]).result;
    let shown: Vec<(Option<String>, String)> =
        result.faults.iter().map(|fault| (fault.source(), fault.at.to_string())).collect();
    let line = source.lines().position(|line| line.contains("113")).expect("a line") + 2;
    let inlined = Some("saxpy.cu:21, inlined from math.h:113".to_owned());
    assert_eq!(
        shown[..3],
        [
            (Some("saxpy.cu:20".to_owned()), format!("line {}", line - 2)),
            (inlined.clone(), format!("line {line}:2")),
            (inlined, format!("line {line}:33")),
        ]
    );
    // A file without a name.
    assert_eq!(shown[3].0.as_deref(), Some("source line 9"));
    assert_eq!(result.faults[1].source_file.as_deref(), Some("/home/u/saxpy.cu"));
}

/// A fault with an address names the memory that it is in.
#[test]
fn faults_name_variables() {
    let body = ".global .align 8 .b8 table[64]; .shared .align 8 .b8 _ZZ1kPfE4tile[64]; .extern .shared .b8 rest[];---
        mov.u32 %r1, _ZZ1kPfE4tile; mov.u32 %r2, rest; mov.u64 %rd3, table;
        ld.shared.u32 %r5, [%r1+8]; ld.shared.u32 %r5, [%r2+12]; ld.global.u32 %r5, [%rd3+2]; ld.global.u32 %r5, [%rd1+6];
        ld.global.u32 %r5, [%rd1+256];";
    let mut options = threads(1);
    options.options.shared_bytes = 16;
    options.options.checks.uninitialized = true;
    let faults = launched(body, options).result.faults;
    let known: Vec<_> = faults
        .iter()
        .map(|fault| (fault.argument(), fault.parameter(), fault.variable(), fault.offset()))
        .collect();
    let expected = [
        (None, None, Some("_ZZ1kPfE4tile"), Some(8)),
        (None, None, None, Some(12)),
        (None, None, Some("table"), Some(2)),
        (Some(0), Some("out"), None, Some(6)),
        // The nearest argument of an address that is in none.
        (Some(0), Some("out"), None, None),
    ];
    assert_eq!(known, expected);
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let ends = [
        "nothing has written the bytes at `tile` + 8 (0xfe000008)",
        "nothing has written the bytes at dynamic shared memory + 12 (0xfe00004c)",
        "`table` + 2 (0x80001102) is not a multiple of 4",
        "argument 0 `out` + 6 (0x80000006) is not a multiple of 4",
        "is the end of argument 0 (`out`)",
    ];
    for (text, end) in texts.iter().zip(ends) {
        assert!(text.ends_with(end), "{text}");
    }
}
