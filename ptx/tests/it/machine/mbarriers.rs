//! `mbarrier`: phases, arrivals, transactions and tokens. [PTX ISA, "Parallel Synchronization and Communication
//! Instructions: mbarrier"]

use super::{Launched, launch, module};
use warpload_ptx::launch::{
    AllocationUse, DeviceMemory, Kernel, KernelFaultKind, KernelLaunch, MbarrierFault,
};
use warpload_ptx::read;

/// Executes a body with an mbarrier at `[%r9]`, and stores the digits that `note` appends to `%r8`.
fn run(threads: u32, body: &str) -> Launched {
    let body = format!(
        ".shared .align 8 .b64 mb; .shared .align 16 .b8 s[512]; .global .b64 g; --- mov.u64 %rd3, g; mov.u32 %r9, mb; mov.u32 %r8, 0; {body}
         st.global.u32 [%rd2], %r8;"
    );
    let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    options.options.steps = 1 << 16;
    launch(&module(&body), options, &[vec![0; 4 * threads as usize]])
}

#[track_caller]
fn clean(launched: &Launched) -> Vec<u32> {
    assert!(
        launched.result.is_clean(),
        "{:?}",
        (&launched.result.faults, &launched.result.skipped)
    );
    launched.words(0)
}

/// Appends 1 or 2 to the digits: whether the phase with a parity is over.
fn parity(parity: u32) -> String {
    format!(
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r9], {parity}; selp.u32 %r7, 1, 2, %p1;
         mad.lo.u32 %r8, %r8, 10, %r7;"
    )
}

fn init(count: u32) -> String {
    format!("mbarrier.init.shared.b64 [%r9], {count};")
}

#[test]
fn phases_wait_for_transactions() {
    let source = include_str!("../../machine/judged_r09_mbarrier_expect_tx.ptx");
    let options = KernelLaunch::new([1; 3], [1; 3]);
    assert_eq!(clean(&launch(source, options, &[vec![0; 4]])), [0x6e]);
    // The phase ends with the last of: arrivals, announced bytes, completed bytes.
    for (operations, digits) in [
        ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16;", 2),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16;
          mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 8;", 2),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16;
          mbarrier.complete_tx.shared::cta.b64 [%r9], 8; mbarrier.complete_tx.b64 [%rd8], 8;", 1),
        ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 32; mbarrier.arrive.shared.b64 _, [%r9];", 2),
        ("mbarrier.expect_tx.shared::cta.b64 [%r9], 32; mbarrier.complete_tx.shared::cta.b64 [%r9], 32;", 2),
        ("mbarrier.expect_tx.shared::cta.b64 [%r9], 32; mbarrier.complete_tx.shared::cta.b64 [%r9], 32;
          mbarrier.arrive.shared.b64 _, [%r9];", 1),
        // Bytes may arrive before they are announced.
        ("mbarrier.complete_tx.shared::cta.b64 [%r9], 32; mbarrier.arrive.shared.b64 _, [%r9];", 2),
        ("mbarrier.complete_tx.shared::cta.b64 [%r9], 32; mbarrier.arrive.shared.b64 _, [%r9];
          mbarrier.expect_tx.shared::cta.b64 [%r9], 32;", 1),
        ("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd5, [%r9], 0;", 1),
        ("mbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [%r9], 16;
          mbarrier.complete_tx.shared::cta.b64 [%r9], 16;", 1),
    ] {
        let body = format!("{} cvta.shared.u64 %rd8, mb+0; {operations} {}", init(1), parity(0));
        assert_eq!(clean(&run(1, &body)), [digits], "{operations}");
    }
}

#[test]
fn waits_without_an_end_are_explained() {
    // Nothing copies the 4,096 bytes that the phase waits for. On hardware, the kernel hangs.
    let module = read(include_str!("../../machine/r17_wrong_tx.ptx")).expect("a module");
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 4], AllocationUse::Argument(0)).unwrap();
    let mut launch = KernelLaunch::new([1; 3], [32, 1, 1]).parameter(&out.to_le_bytes());
    launch.options.steps = 1 << 16;
    let result = Kernel::named(&module, "k").unwrap().run(&launch, &mut memory, None).unwrap();
    let expected = "hang: 32 threads wait forever: phase 0 of the mbarrier at `bar` (0xfe000000) lacks 4096 bytes; \
        last changed in line 10";
    assert_eq!((result.faults[0].line(), result.faults[0].to_string().as_str()), (12, expected));
    assert_eq!(memory.bytes(out), Some(&[0; 4][..]));
}

#[test]
fn arrivals_count() {
    let [even, odd] = [parity(0), parity(1)];
    for (count, operations, digits) in [
        (2, "mbarrier.arrive.shared.b64 _, [%r9];", "22"),
        (2, "mbarrier.arrive.shared.b64 _, [%r9], 2;", "12"),
        (3, "mov.u32 %r3, 2; mbarrier.arrive.shared.b64 %rd5, [%r9], %r3; mbarrier.arrive.shared.b64 %rd5, [%r9];", "12"),
        (2, "mbarrier.arrive.noComplete.shared.b64 %rd5, [%r9], 1; mbarrier.arrive.shared.b64 _, [%r9];", "12"),
        // A dropped arrival is missing in the following phases, too.
        (2, "mbarrier.arrive_drop.shared.b64 %rd5, [%r9]; mbarrier.arrive.shared.b64 _, [%r9];
             mbarrier.arrive.shared.b64 _, [%r9];", "21"),
        (2, "mbarrier.arrive_drop.noComplete.shared.b64 %rd5, [%r9], 1; mbarrier.arrive.shared.b64 _, [%r9];
             mbarrier.arrive.shared.b64 _, [%r9];", "21"),
        (1, "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r9];", "12"),
        (1, "cvta.shared.u64 %rd8, mb+0; mbarrier.arrive.b64 %rd5, [%rd8];", "12"),
        (1, "cp.async.mbarrier.arrive.shared.b64 [%r9];", "22"),
        (1, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];", "12"),
        (2, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r9]; cp.async.mbarrier.arrive.b64 [%rd9];", "22"),
    ] {
        let expected = digits.chars().map(|digit| if digit == '1' { 1 } else { 2 }).fold(0, |all, digit| 10 * all + digit);
        // Parity 1 before parity 0: at first, the phase before the first one is over.
        let body = format!("cvta.shared.u64 %rd9, mb+0; {} {operations} {even} {odd}", init(count));
        let found = clean(&run(1, &body))[0];
        // The wait for the odd phase is true exactly if the current phase is even.
        let [is_even_over, is_odd_over] = [found / 10, found % 10];
        assert_eq!(is_even_over + is_odd_over, 3, "{operations}");
        assert_eq!(is_even_over, expected / 10, "{operations}");
    }
}

#[test]
fn tokens_have_the_phase_and_the_pending_count() {
    let body = format!(
        "{} mbarrier.arrive.noComplete.shared.b64 %rd5, [%r9], 2; mbarrier.pending_count.b64 %r1, %rd5;
         mbarrier.arrive.noComplete.shared.b64 %rd6, [%r9], 1; mbarrier.pending_count.b64 %r2, %rd6;
         mbarrier.arrive_drop.noComplete.shared.b64 %rd6, [%r9], 3; mbarrier.pending_count.b64 %r3, %rd6;
         mbarrier.test_wait.shared.b64 %p1, [%r9], %rd6; selp.u32 %r4, 1, 2, %p1;
         mbarrier.arrive.shared.b64 _, [%r9], 1; mbarrier.test_wait.shared.b64 %p1, [%r9], %rd6; selp.u32 %r5, 1, 2, %p1;
         mbarrier.arrive.noComplete.shared.b64 %rd6, [%r9], 1; mbarrier.pending_count.b64 %r6, %rd6;
         mbarrier.try_wait.shared.b64 %p1, [%r9], %rd6, 100; selp.u32 %r7, 1, 2, %p1;
         mad.lo.u32 %r8, %r1, 10, %r2; mad.lo.u32 %r8, %r8, 10, %r3; mad.lo.u32 %r8, %r8, 10, %r4;
         mad.lo.u32 %r8, %r8, 10, %r5; mad.lo.u32 %r8, %r8, 10, %r6; mad.lo.u32 %r8, %r8, 10, %r7;",
        init(7)
    );
    // Pending before each arrival: 7, 5, 4; then a phase of 7 - 3.
    assert_eq!(clean(&run(1, &body)), [7_542_142]);
    // What no arrival has made is not a token. [PTX ISA, mbarrier.pending_count: "otherwise, the behavior is undefined"]
    let body = "mov.u64 %rd5, 0; mbarrier.pending_count.b64 %r8, %rd5;";
    let launched = run(1, body);
    let cause = launched.result.unknown[0].cause.to_string();
    assert!(cause.ends_with("leaves it undefined"), "{cause}");
}

#[test]
fn threads_of_a_warp_wait_for_each_other() {
    // Every other thread arrives and waits, thread 0 first waits for the phase.
    let body = format!(
        "setp.eq.u32 %p2, %r0, 0; @%p2 {} bar.sync 0; and.b32 %r1, %r0, 1; setp.eq.u32 %p3, %r1, 0;
         @!%p3 mbarrier.arrive.shared.b64 _, [%r9]; @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 4;
         @%p3 mbarrier.complete_tx.shared::cta.b64 [%r9], 4;
         wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r9], 0; @!%p1 bra wait; mov.u32 %r8, 5;",
        init(64)
    );
    assert_eq!(clean(&run(64, &body)), [5; 64]);
}

#[test]
fn undefined_operations_are_faults() {
    use MbarrierFault as F;
    for (body, expected) in [
        ("mbarrier.arrive.shared.b64 %rd5, [%r9];", F::NotInitialized),
        ("mbarrier.test_wait.parity.shared.b64 %p1, [%r9], 0;", F::NotInitialized),
        ("mbarrier.expect_tx.shared::cta.b64 [%r9], 8;", F::NotInitialized),
        ("mbarrier.inval.shared.b64 [%r9];", F::NotInitialized),
        ("cp.async.mbarrier.arrive.shared.b64 [%r9];", F::NotInitialized),
        (
            "mbarrier.init.shared.b64 [%r9], 1; mbarrier.inval.shared.b64 [%r9]; mbarrier.arrive.shared.b64 _, [%r9];",
            F::NotInitialized,
        ),
        ("mbarrier.init.shared.b64 [%r9], 0;", F::Count(0)),
        ("mbarrier.init.shared.b64 [%r9], 1048576;", F::Count(1 << 20)),
        ("mbarrier.init.shared.b64 [%r9], 2; mbarrier.arrive.shared.b64 _, [%r9], 0;", F::Count(0)),
        (
            "mbarrier.init.shared.b64 [%r9], 2; mbarrier.arrive.shared.b64 _, [%r9], 3;",
            F::Arrivals { given: 3, pending: 2 },
        ),
        (
            "mbarrier.init.shared.b64 [%r9], 2; mbarrier.arrive.noComplete.shared.b64 %rd5, [%r9], 2;",
            F::Completes,
        ),
        (
            "mbarrier.init.shared.b64 [%r9], 2; mbarrier.expect_tx.shared::cta.b64 [%r9], 1048576;",
            F::Transactions(1 << 20),
        ),
        ("mbarrier.init.b64 [%rd3], 2;", F::NotShared),
    ] {
        let launched = run(1, body);
        let fault = &launched.result.faults[0];
        assert_eq!(fault.kind, KernelFaultKind::Mbarrier(expected), "{body}");
        assert_eq!(fault.kind.name(), "mbarrier");
    }
    let launched =
        run(1, "mbarrier.init.shared.b64 [%r9], 2; mbarrier.arrive.shared.b64 _, [%r9], 3;");
    let text = launched.result.faults[0].to_string();
    assert_eq!(text, "mbarrier at `mb` (0xfe000000): 3 arrivals, although the phase waits for 2");
    // Results are unknown, not a state of an earlier instruction.
    let body = "mov.pred %p1, 1; mbarrier.test_wait.parity.shared.b64 %p1, [%r9], 0; selp.u32 %r8, 1, 2, %p1;";
    assert_eq!(run(1, body).result.unknown[0].bytes, 4);
    let body = "mov.u64 %rd5, 1; mbarrier.arrive.shared.b64 %rd5, [%r9]; cvt.u32.u64 %r8, %rd5;";
    assert_eq!(run(1, body).result.unknown[0].bytes, 4);
    // So are those outside of memory.
    let body = "mov.pred %p1, 1; mbarrier.test_wait.parity.shared.b64 %p1, [%r9+4096], 0; selp.u32 %r8, 1, 2, %p1;";
    let launched = run(1, body);
    assert_eq!(launched.result.faults[0].kind, KernelFaultKind::OutOfBounds);
    assert_eq!(launched.result.unknown[0].bytes, 4);
}

#[test]
fn unknown_counts_make_waits_unknown() {
    let source = include_str!("../../machine/attack_mbunk.ptx");
    for function in ["k", "k2"] {
        let module = read(source).expect("a module");
        let mut memory = DeviceMemory::new();
        let out = memory.allocate(vec![0; 64], AllocationUse::Argument(0)).unwrap();
        let launch = KernelLaunch::new([1; 3], [1; 3]).parameter(&out.to_le_bytes());
        let kernel = Kernel::named(&module, function).unwrap();
        let result = kernel.run(&launch, &mut memory, None).unwrap();
        assert_eq!(result.faults[0].kind.name(), "unknown_value", "{function}");
        assert!(result.faults[0].to_string().ends_with("nothing has written `n`"));
    }
    // The lanes that wait for the arrivals of another, with an unknown count, end as well, and at once.
    let body = format!(
        "setp.eq.u32 %p2, %r0, 0; @%p2 {} bar.sync 0; @%p2 mbarrier.arrive.shared.b64 _, [%r9], %r77;
         wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r9], 0; @!%p1 bra wait; mov.u32 %r8, 5;",
        init(1)
    );
    let launched = run(32, &body);
    assert_eq!(launched.result.fault_count, 32);
    assert!(launched.result.counts.warp_instructions < 100);
    let names: Vec<_> = launched.result.faults.iter().map(|fault| fault.kind.name()).collect();
    assert!(names.iter().all(|name| *name == "unknown_value"), "{names:?}");
}
