//! What is not executed, or never written, is not known: no result of it is taken for zero.

use super::{Launched, launch, module};
use warpload::memory::Space;
use warpload_ptx::launch::{
    AllocationUse, Checks, DeviceMemory, Kernel, KernelFaultKind, KernelLaunch, UnknownCause,
};
use warpload_ptx::read;

/// Launches a body with one warp, and a buffer of 256 bytes that is 0x5a everywhere.
fn run(body: &str) -> Launched {
    threads(body, 32)
}

fn threads(body: &str, threads: u32) -> Launched {
    let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    options.options.steps = 100_000;
    launch(&module(body), options, &[vec![0x5a; 4 * threads.max(64) as usize]])
}

/// The number of unknown bytes in the buffer, and the line that the reason names, or the register.
fn unknown(launched: &Launched) -> (u64, String) {
    let [unknown] = &launched.result.unknown[..] else { return (0, String::new()) };
    let cause = match &unknown.cause {
        UnknownCause::NotExecuted { text, .. } | UnknownCause::AbsentLane { text, .. } => {
            text.split(' ').next().unwrap_or_default().to_owned()
        }
        UnknownCause::NeverWritten { register } => register.to_string(),
        other => other.to_string(),
    };
    assert!(!launched.result.is_clean());
    (unknown.bytes, cause)
}

#[track_caller]
fn assert_known(launched: &Launched) {
    assert!(launched.result.unknown.is_empty(), "{:?}", launched.result.unknown);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
}

/// Shared memory with a pattern, whose address is in `%r1`, and an mbarrier with the address `%r2`.
const SHARED: &str = ".shared .align 128 .b8 s[256]; .shared .align 8 .b64 mb;
    ---
    mov.u32 %r1, s; mov.u32 %r2, mb; shl.b32 %r3, %r0, 2; add.u32 %r3, %r1, %r3;
    mov.u32 %r4, 7; st.shared.u32 [%r3], %r4; st.shared.u32 [%r3+128], %r4;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [%r2], 1;
    bar.sync 0;
";

/// Stores the word of the thread from shared memory to the buffer.
const READ: &str = "ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5;";

/// [PTX ISA, "st.bulk": `size` bytes from the address on]
#[test]
fn bulk_stores() {
    let store = "mov.u64 %rd3, s; mov.u64 %rd4, 64; @%p1 st.bulk.weak.shared::cta [%rd3], %rd4, 0;";
    let launched = run(&format!("{SHARED}{store} bar.sync 0; {READ}"));
    assert_eq!(unknown(&launched), (64, "@%p1".to_owned()));
    assert_eq!(launched.result.skipped[0].count, 1);
    // Bytes that are written afterwards are known again.
    let again = "st.shared.u32 [%r3], %r4;";
    assert_known(&run(&format!("{SHARED}{store} bar.sync 0; {again} {READ}")));
    // An unknown size reaches to the end.
    let store = "mov.u64 %rd3, s; @%p1 st.bulk.weak.shared::cta [%rd3], %rd77, 0;";
    assert_eq!(unknown(&run(&format!("{SHARED}{store} bar.sync 0; {READ}"))).0, 128);
}

/// [PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk"]
#[test]
fn bulk_copies() {
    let into_shared = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 32, [%r2];";
    let launched = run(&format!("{SHARED}{into_shared} bar.sync 0; {READ}"));
    assert_eq!(unknown(&launched).0, 32);
    let out = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1+16], [%r1], 48;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    let launched = run(&format!("{SHARED}{out}"));
    assert_eq!(unknown(&launched).0, 48);
    assert_eq!((launched.result.unknown[0].first, launched.result.skipped.len()), (16, 1));
    let reduced =
        "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 16;";
    assert_eq!(unknown(&run(&format!("{SHARED}{reduced}"))).0, 16);
    // A prefetch has no result.
    let launched = run(&format!("{SHARED} cp.async.bulk.prefetch.L2.global [%rd1], 32; {READ}"));
    assert!(launched.result.is_clean());
}

/// A tensor map says how many bytes a copy moves, so they may be all up to the end of shared memory, and any in global
/// memory. [PTX ISA, "cp.async.bulk.tensor"]
#[test]
fn tensor_copies() {
    let load =
        "@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%r1], [%rd1, {%r5}], [%r2];";
    assert_eq!(unknown(&run(&format!("{SHARED}{load} bar.sync 0; {READ}"))).0, 128);
    let store =
        "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r5}], [%r1];";
    assert_eq!(unknown(&run(&format!("{SHARED}{store}"))).0, 256);
    // Kernels cannot write constants, so theirs are known.
    let constant = SHARED.replacen(".shared", ".const .u32 c = 5; .shared", 1);
    let launched =
        run(&format!("{constant}{store} ld.const.u32 %r5, [c]; st.global.u32 [%rd2], %r5;"));
    assert_eq!(unknown(&launched).0, 128);
    assert_eq!(launched.words(0)[..32], [5; 32]);
}

/// A wait that only an instruction could end that is not executed is reported at once, not after all steps.
#[test]
fn waits_for_what_is_not_executed() {
    let copies = [
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 32, [%r2];",
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r5}], [%r2];",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r4, [%r2];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r4, [%r2];",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];",
    ];
    let waits = [
        "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;",
        "mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;",
        "mbarrier.test_wait.shared.b64 %p2, [%r2], %rd5;",
    ];
    for copy in copies {
        for wait in waits {
            let body = format!(
                "{SHARED} mov.u64 %rd5, 0; @%p1 {copy}\n wait: {wait} @!%p2 bra wait; {READ}"
            );
            let launched = run(&body);
            // Only the counts of steps and faults can tell that the loop ended at once.
            assert!(launched.result.counts.warp_instructions < 100, "{copy} {wait}");
            assert_eq!(launched.result.fault_count, 32, "{copy} {wait}");
            let KernelFaultKind::UnknownValue { what, cause } = &launched.result.faults[0].kind
            else {
                panic!("{}", launched.result.faults[0])
            };
            assert_eq!(*what, "the mbarrier that this waits for");
            let name = copy.split(' ').next().unwrap_or_default();
            assert!(cause.to_string().contains(name), "{cause}");
        }
    }
}

/// [PTX ISA, "wgmma.mma_async", "tcgen05"]
#[test]
fn matrices_that_are_not_executed() {
    let product = "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.u64 %rd5, 0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd5, %rd5, 1, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
        st.global.f32 [%rd2], %f3;";
    let launched = threads(product, 128);
    assert_eq!(
        unknown(&launched),
        (512, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16".into())
    );
    // Only the product is not executed: waiting for nothing has no result.
    assert_eq!(launched.result.skipped.len(), 1);
    let allocated = format!(
        "{SHARED} @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32; bar.sync 0; {READ}"
    );
    assert_eq!(unknown(&run(&allocated)).0, 4);
}

/// [PTX ISA, "tensormap.replace", "clusterlaunchcontrol.try_cancel", "multimem.red"]
#[test]
fn other_writers_of_memory() {
    let cases = [
        ("tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd1;", 128),
        ("multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r4;", 4),
        ("multimem.st.relaxed.gpu.global.v2.f32 [%rd1], {%f1, %f1};", 8),
    ];
    for (instruction, bytes) in cases {
        let launched = run(&format!("setp.eq.u32 %p1, %r0, 0; mov.u32 %r4, 1; @%p1 {instruction}"));
        assert_eq!(unknown(&launched).0, bytes, "{instruction}");
    }
    let cancelled = "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];";
    assert_eq!(unknown(&run(&format!("{SHARED}{cancelled} bar.sync 0; {READ}"))).0, 16);
}

/// A known operand can decide the result: PTX's logic on three values. [Kleene's tables]
#[test]
fn logic_decides() {
    let predicates = [
        ("or.pred %p3, %p1, %p77;", 1),
        ("or.pred %p3, %p77, %p1;", 1),
        ("and.pred %p3, %p2, %p77; not.pred %p3, %p3;", 1),
        ("and.pred %p3, %p77, %p2;", 0),
        ("setp.ge.or.u32 %p3, %r0, 0, %p77;", 1),
        ("setp.lt.and.u32 %p3, %r0, 0, %p77;", 0),
    ];
    let setup = ".reg .pred %p77; .reg .b32 %q; .reg .b64 %qd; .reg .b16 %qh; setp.eq.u32 %p1, 0, 0; setp.ne.u32 %p2, 0, 0;";
    for (code, expected) in predicates {
        let launched =
            run(&format!("{setup} {code} selp.u32 %r5, 1, 0, %p3; st.global.u32 [%rd2], %r5;"));
        assert_known(&launched);
        assert_eq!(launched.words(0)[..32], [expected; 32], "{code}");
    }
    let words = [
        ("and.b32 %r5, %q, 0;", 0),
        ("and.b32 %r5, 0, %q;", 0),
        ("or.b32 %r5, %q, -1;", u32::MAX),
        ("mul.lo.u32 %r5, %q, 0;", 0),
        ("mad.lo.s32 %r5, 0, %q, 9;", 9),
        ("mul.wide.u32 %rd5, %q, 0; cvt.u32.u64 %r5, %rd5;", 0),
        ("lop3.b32 %r5, %r0, %q, 5, 0xf0; xor.b32 %r5, %r5, %r0;", 0),
        ("lop3.b32 %r5, 0, %q, %q, 0x80;", 0),
        ("selp.u32 %r5, 4, %q, %p1;", 4),
        ("and.b64 %rd5, %qd, 0; cvt.u32.u64 %r5, %rd5;", 0),
        ("or.b16 %h1, %qh, 0xffff; cvt.u32.u16 %r5, %h1;", 0xffff),
        ("vote.sync.any.pred %p3, %p1, -1; selp.u32 %r5, 1, 0, %p3;", 1),
    ];
    for (code, expected) in words {
        let launched = run(&format!("{setup} {code} st.global.u32 [%rd2], %r5;"));
        assert_known(&launched);
        assert_eq!(launched.words(0)[..32], [expected; 32], "{code}");
    }
    let open = [
        "and.b32 %r5, %q, 1;",
        "or.b32 %r5, %q, 1;",
        "xor.b32 %r5, %q, %q;",
        "mul.lo.u32 %r5, %q, 1;",
        "mad.lo.s32 %r5, 0, 3, %q;",
        "lop3.b32 %r5, 1, %q, 2, 0xe8;",
        "selp.u32 %r5, 4, %q, %p2;",
        "or.pred %p3, %p2, %p77; selp.u32 %r5, 1, 0, %p3;",
        "and.pred %p3, %p1, %p77; selp.u32 %r5, 1, 0, %p3;",
        "vote.sync.ballot.b32 %r5, %p77, -1;",
        "vote.sync.all.pred %p3, %p77, -1; selp.u32 %r5, 1, 0, %p3;",
        "bar.red.popc.u32 %r5, 0, %p77;",
    ];
    for code in open {
        let launched = run(&format!("{setup} {code} st.global.u32 [%rd2], %r5;"));
        assert_eq!(unknown(&launched).0, 128, "{code}");
    }
}

/// One thread decides a reduction over a barrier, or does not.
#[test]
fn votes_and_barriers_with_some_unknown_lanes() {
    // Only lane 3 is known, and true.
    let some = ".reg .pred %q; setp.eq.u32 %p1, %r0, 3; @%p1 setp.eq.u32 %q, 0, 0;";
    for (code, expected) in [
        ("vote.sync.any.pred %p3, %q, -1;", Some(1)),
        ("vote.sync.all.pred %p3, %q, -1;", None),
        ("bar.red.or.pred %p3, 0, %q;", Some(1)),
        ("bar.red.and.pred %p3, 0, %q;", None),
        ("bar.red.and.pred %p3, 0, !%q;", Some(0)),
        ("vote.sync.all.pred %p3, !%q, -1;", Some(0)),
    ] {
        let launched =
            run(&format!("{some} {code} selp.u32 %r5, 1, 0, %p3; st.global.u32 [%rd2], %r5;"));
        match expected {
            Some(expected) => {
                assert_known(&launched);
                assert_eq!(launched.words(0)[..32], [expected; 32], "{code}");
            }
            None => assert_eq!(unknown(&launched), (128, "%q".to_owned()), "{code}"),
        }
    }
}

/// An unknown guard, address or index ends the lanes that need it; the others of the warp go on.
#[test]
fn only_the_lanes_concerned_end() {
    // %q and %rd5 are known in the lanes below 8.
    let some = ".reg .pred %q; .reg .b32 %n; setp.lt.u32 %p1, %r0, 8; @%p1 setp.eq.u32 %q, 0, 0; @%p1 mov.u64 %rd5, %rd2;
        @%p1 mov.u32 %n, 0; mov.u32 %r4, 1;";
    for (code, what) in [
        ("@%q st.global.u32 [%rd2], %r4;", "a guard"),
        ("st.global.u32 [%rd5], %r4;", "an address"),
        ("@%q bra on; on: st.global.u32 [%rd2], %r4;", "a guard"),
        ("@!%q ret; st.global.u32 [%rd2], %r4;", "a guard"),
        (
            "t: .branchtargets a, b; brx.idx %n, t; b: a: st.global.u32 [%rd2], %r4;",
            "a branch index",
        ),
        ("bar.sync %n; st.global.u32 [%rd2], %r4;", "a barrier's number"),
    ] {
        let launched = run(&format!("{some} {code}"));
        assert_eq!(launched.result.fault_count, 24, "{code}");
        let KernelFaultKind::UnknownValue { what: named, .. } = &launched.result.faults[0].kind
        else {
            panic!("{code}: {}", launched.result.faults[0])
        };
        assert_eq!(*named, what, "{code}");
        assert_eq!(launched.result.faults[0].lane, 8, "{code}");
        let words = launched.words(0);
        assert_eq!((words[..8].to_vec(), words[8]), (vec![1; 8], 0x5a5a_5a5a), "{code}");
    }
    // A barrier does not wait for lanes that have ended.
    let launched = threads(
        &format!(
            "{some} @%q mov.u32 %r5, 2; @%q bra on; on: bar.sync 0; st.global.u32 [%rd2], %r4;"
        ),
        64,
    );
    assert_eq!((launched.result.fault_count, launched.words(0)[7]), (56, 1));
}

/// The cause of an unknown value survives memory, calls and exchanges.
#[test]
fn causes_travel() {
    let texture = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}];";
    let name = "tex.2d.v4.f32.f32".to_owned();
    let through = [
        "st.shared.f32 [s], %f1; ld.shared.b32 %r5, [s];",
        "mov.b32 %r6, %f1; shfl.sync.bfly.b32 %r5, %r6, 1, 31, -1;",
        "{ .param .b32 a; .param .b32 b; st.param.f32 [a], %f1; call (b), f, (a); ld.param.b32 %r5, [b]; }",
        "st.shared.f32 [s], %f1; atom.shared.add.u32 %r5, [s], 1;",
    ];
    let function = ".shared .align 16 .b8 s[64];
        .func (.param .b32 r) f (.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }
        ---";
    for code in through {
        let launched = run(&format!("{function} {texture} {code} st.global.u32 [%rd2], %r5;"));
        assert_eq!(unknown(&launched), (128, name.clone()), "{code}");
    }
    // An exchange takes the unknown value out of memory: lane 0 gets it.
    let exchange =
        "mov.b32 %r6, %f1; atom.shared.exch.b32 %r5, [s], %r6; atom.shared.exch.b32 %r5, [s], 1;";
    let launched = run(&format!("{function} {texture} {exchange} st.global.u32 [%rd2], %r5;"));
    assert_eq!(unknown(&launched), (4, name));
    // A register of a function, which the caller also has under its number.
    let function =
        ".func (.param .b32 r) f () { .reg .b32 %mine; st.param.b32 [r], %mine; ret; } ---";
    let launched = run(&format!(
        "{function} {{ .param .b32 b; call (b), f; ld.param.b32 %r5, [b]; }} st.global.u32 [%rd2], %r5;"
    ));
    assert_eq!(unknown(&launched), (128, "%mine".to_owned()));
}

/// A vector load of which one element is unknown leaves the others known.
#[test]
fn elements_of_vectors_are_known_separately() {
    let body = ".shared .align 16 .b8 s[16]; --- .reg .b32 %q; mov.u32 %r4, 3;
        st.shared.v4.u32 [s], {%r4, %r4, %q, %r4}; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [s];
        add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r8; st.global.u32 [%rd2], %r5;";
    assert_known(&run(body));
}

/// "Semantically, this behaves like a weak write of an unstable indeterminate value." [PTX ISA, "discard"]
#[test]
fn discarded_bytes() {
    let launched = run("setp.eq.u32 %p1, %r0, 0; @%p1 discard.global.L2 [%rd1], 128;");
    assert_eq!(launched.result.unknown[0].bytes, 128);
    assert!(launched.result.unknown[0].cause.to_string().ends_with("leaves it indeterminate"));
    assert!(launched.result.skipped.is_empty());
    assert_known(&run("discard.global.L2 [%rd1], 128; st.global.u32 [%rd2], %r0;"));
    // Bytes beyond a buffer are no more its own than those of a store, if the first ones are.
    for offset in [1 << 20, -64] {
        let launched =
            run(&format!("setp.eq.u32 %p1, %r0, 0; @%p1 discard.global.L2 [%rd1+{offset}], 128;"));
        assert_eq!(
            launched.result.fault_kinds().into_iter().collect::<Vec<_>>(),
            [("out_of_bounds", 1)]
        );
    }
}

/// `shfl.sync` from a lane that does not take part gives an undefined value. [PTX ISA, "shfl.sync"]
#[test]
fn shuffles_from_absent_lanes() {
    let launched =
        run("setp.lt.u32 %p1, %r0, 16; @!%p1 bra end; shfl.sync.idx.b32 %r5, %r0, 20, 31, 0xffff;
        st.global.u32 [%rd2], %r5; end:");
    assert_eq!(unknown(&launched), (64, "shfl.sync.idx.b32".to_owned()));
}

/// Counts, tokens and sizes are asked for, and never taken for zero.
#[test]
fn numbers_of_asynchronous_operations() {
    for (code, what) in [
        ("mbarrier.init.shared.b64 [%r2], %q;", "the count of an mbarrier operation"),
        ("mbarrier.arrive.shared.b64 %rd5, [%r2], %q;", "the count of an mbarrier operation"),
        ("mbarrier.test_wait.shared.b64 %p2, [%r2], %qd;", "the state of an mbarrier's phase"),
        (
            "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %q;",
            "the parity of an mbarrier's phase",
        ),
        ("cp.async.ca.shared.global [%r1], [%rd1], 16, %q;", "the size of a copy"),
    ] {
        let launched = run(&format!("{SHARED} .reg .b32 %q; .reg .b64 %qd; {code}"));
        let fault = launched.result.faults.first().unwrap_or_else(|| panic!("{code}"));
        assert!(fault.to_string().starts_with(what), "{fault}");
    }
}

/// The first parameter has one byte, the second begins at byte 8. What a driver passes between them is not defined.
#[test]
fn padding_between_parameters_is_unknown() {
    let kernel = |load: &str| {
        let text = format!(
            ".version 8.7\n.target sm_90a\n.address_size 64
            .visible .entry k(.param .u8 flag, .param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            {load}
            ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r1;
            ret;\n}}"
        );
        let options = KernelLaunch::new([1; 3], [1; 3]).parameter(&[7]);
        launch(&text, options, &[vec![0x5a; 4]])
    };
    let launched = kernel("ld.param.u8 %r1, [flag];");
    assert_known(&launched);
    assert_eq!(launched.words(0), [7]);
    let cause = "nothing gives it a value before the launch".to_owned();
    assert_eq!(unknown(&kernel("ld.param.u32 %r1, [flag];")), (4, cause.clone()));
    assert_eq!(unknown(&kernel("mov.b32 %r2, flag; ld.param.u32 %r1, [%r2+4];")), (4, cause));
}

/// A variable without a known value is no result of the launch; a copy of it is.
#[test]
fn copies_of_unknown_initial_values_are_unknown_results() {
    let variable = ".extern .global .u32 elsewhere; .global .u64 p = elsewhere;---";
    let load = "ld.global.u64 %rd3, [p];";
    assert_known(&run(&format!("{variable}{load}")));
    let launched = run(&format!("{variable}{load} st.global.u64 [%rd1], %rd3;"));
    assert_eq!(unknown(&launched), (8, "nothing gives it a value before the launch".to_owned()));
}

/// An atomic operation on unknown bytes leaves unknown ones, apart from an exchange.
#[test]
fn atomic_operations_on_unknown_bytes_are_named() {
    for (body, is_known) in [
        ("red.global.add.u32 [%rd1], 1;", false),
        ("atom.global.cas.b32 %r1, [%rd1], 0, 1;", false),
        ("atom.global.exch.b32 %r1, [%rd1], 1;", true),
    ] {
        let source = module(body);
        let module = read(&source).expect("a module");
        let mut memory = DeviceMemory::new();
        let purpose = AllocationUse::Argument(0);
        let address = memory.allocate(vec![0; 4], purpose).expect("room");
        memory.make_unknown(Space::Global, address..address + 4);
        let mut options = KernelLaunch::new([1; 3], [1; 3]);
        options.options.checks = Checks::ALL;
        let options = options.parameter(&address.to_le_bytes());
        let kernel = Kernel::chosen(&module, None).expect("a kernel");
        let result = kernel.run(&options, &mut memory, None).expect("an end");
        assert_eq!(result.is_clean(), is_known, "{body}");
        let kinds: Vec<&str> = result.fault_kinds().into_keys().collect();
        assert_eq!(kinds, if is_known { vec![] } else { vec!["unknown_value"] }, "{body}");
    }
}
