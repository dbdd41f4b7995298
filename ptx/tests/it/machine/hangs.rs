//! Launches that never end: each ends at once, and says what its threads wait for.

use super::{Launched, launch, module};
use warpload_ptx::launch::{
    AllocationUse, DeviceMemory, Kernel, KernelError, KernelLaunch, MemoryAccess, MemoryObserver,
};
use warpload_ptx::read;

/// Launches a body with a buffer, and a limit that a hang must not reach.
fn ended(body: &str, grid: u32, threads: u32, resident: Option<usize>) -> Launched {
    let mut options = KernelLaunch::new([grid, 1, 1], [threads, 1, 1]);
    options.options.resident = resident;
    options.options.steps = 20_000_000;
    options.options.checks = "races".parse().expect("checks");
    launch(&module(body), options, &[vec![0; 4096]])
}

const BAR: &str = ".shared .align 8 .b64 bar; .shared .u32 flag; setp.eq.u32 %p1, %r0, 0; setp.lt.u32 %p2, %r0, 32;\n";

#[test]
fn each_kind_of_hang_names_what_is_missing() {
    let waits = |phase: u32| {
        format!("wait: mbarrier.test_wait.parity.shared.b64 %p3, [bar], {phase};\n@!%p3 bra wait;")
    };
    let init = |count: u32| format!("@%p1 mbarrier.init.shared.b64 [bar], {count};\nbar.sync 0;\n");
    for (body, threads, expected) in [
        (
            "@%p2 bra low; bar.sync 1; bra.uni end; low: bar.sync 1, 96; end:".to_owned(),
            64,
            "64 of 96 threads have arrived at barrier 1",
        ),
        (
            "@%p2 bar.sync 3, 64;".to_owned(),
            64,
            "32 of 64 threads have arrived at barrier 3",
        ),
        (
            "@%p1 bra end; bar.warp.sync 0xffffffff;\nwait: bra wait; end: ld.shared.u32 %r1, [flag]; bra.uni wait;".to_owned(),
            32,
            "",
        ),
        (
            format!("{}@%p1 mbarrier.arrive.shared.b64 _, [bar];\n{}", init(2), waits(0)),
            64,
            "phase 0 of the mbarrier at `bar` (0xfe000000) lacks 1 of 2 arrivals",
        ),
        (
            format!("{}@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n{}", init(1), waits(0)),
            32,
            "phase 0 of the mbarrier at `bar` (0xfe000000) lacks 64 bytes",
        ),
        (
            // The phase before the first one has ended; this one waits for the second.
            format!("{}@%p1 mbarrier.arrive.shared.b64 _, [bar];\n{}", init(1), waits(1)),
            32,
            "phase 1 of the mbarrier at `bar` (0xfe000000) lacks 1 of 1 arrivals",
        ),
        (
            "wait: ld.volatile.shared.u32 %r1, [flag];\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra wait;".to_owned(),
            64,
            "nothing changes the bytes at `flag` (0xfe000008)",
        ),
        (
            // A lock that nobody gives back.
            "wait: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra wait;".to_owned(),
            32,
            "nothing changes the bytes at argument 0 `out` (0x80000000); last written in line",
        ),
        (
            // Each warp has one lock and wants the other one's.
            "selp.u32 %r2, 1024, 1028, %p2; cvt.u64.u32 %rd2, %r2; add.u64 %rd2, %rd1, %rd2; xor.b32 %r3, %r2, 4; cvt.u64.u32 %rd3, %r3;
            add.u64 %rd3, %rd1, %rd3; and.b32 %r4, %r0, 31; setp.ne.u32 %p4, %r4, 0; @%p4 bra end;
            one: atom.global.cas.b32 %r1, [%rd2], 0, 1;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra one; bar.sync 1, 64;
            two: atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra two; end:"
                .to_owned(),
            64,
            "",
        ),
        ("mov.u32 %r1, 5; loop: xor.b32 %r1, %r1, 3; bra loop;".to_owned(), 96, "hang: 96 threads are in a loop that changes nothing"),
    ] {
        let result = ended(&format!("{BAR}{body}"), 1, threads, None).result;
        assert!(!result.faults.is_empty(), "{body}");
        for fault in &result.faults {
            assert_eq!(fault.kind.name(), "hang", "{fault}\n{body}");
            assert!(fault.to_string().contains(expected), "{fault}\n{expected}\n{body}");
        }
    }
}

#[test]
fn threads_of_one_wait_are_one_fault() {
    let result = ended("bar.sync 1, 128;", 1, 96, None).result;
    let texts: Vec<String> = result.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["hang: 96 threads wait forever: 96 of 128 threads have arrived at barrier 1"]
    );
}

/// Lanes at a join wait for those that poll, and these for a store behind it.
#[test]
fn lanes_at_a_join_are_no_hang() {
    let body = format!(
        "{BAR}@%p1 st.shared.u32 [flag], 0; bar.warp.sync 0xffffffff;
        @%p1 bra join; wait: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p3, %r1, 0; @%p3 bra wait;
        join: @%p1 st.volatile.shared.u32 [flag], 1;"
    );
    assert!(ended(&body, 1, 32, None).result.faults.is_empty());
}

/// A count or a clock changes each time, and a wait that ends is none.
#[test]
fn loops_that_count_end_by_themselves_or_by_the_limit() {
    let counts =
        "mov.u32 %r1, 0; loop: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100000; @%p1 bra loop;";
    assert!(ended(counts, 1, 32, None).result.faults.is_empty());
    let clock = "mov.u32 %r2, %clock; loop: mov.u32 %r1, %clock; sub.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, 10000; @%p1 bra loop;";
    assert!(ended(clock, 1, 32, None).result.faults.is_empty());
}

/// The limit names what the loop polls, but not what an earlier loop has polled.
#[test]
fn a_limit_names_the_polled_bytes() {
    let message = |body: &str| {
        let source = module(body);
        let module = read(&source).expect("a module");
        let mut memory = DeviceMemory::new();
        let address = memory.allocate(vec![0; 64], AllocationUse::Argument(0)).expect("room");
        let mut launch = KernelLaunch::new([1; 3], [32, 1, 1]).parameter(&address.to_le_bytes());
        launch.options.steps = 10_000;
        launch.options.checks = "races".parse().expect("checks");
        let kernel = Kernel::named(&module, "k").expect("a kernel");
        kernel.run(&launch, &mut memory, None).expect_err("a limit").to_string()
    };
    let polls = "st.volatile.global.u32 [%rd1+4], 7; mov.u32 %r1, 0; wait: add.u32 %r1, %r1, 1;\n\
        ld.volatile.global.u32 %r2, [%rd1+4];\nsetp.eq.u32 %p1, %r2, 7; @%p1 bra wait;";
    let text = message(polls);
    let first =
        1 + module("\u{1}").lines().position(|line| line.contains('\u{1}')).expect("a body");
    let expected = format!(
        "its last jump back is `@%p1 bra wait`; its loop polls the bytes at argument 0 `out` + 4 (0x80000004) in line {}, last written in line {first}",
        first + 1
    );
    assert!(text.ends_with(&expected), "{text}\n{expected}");
    let text = message(&format!(
        "{} mov.u32 %r1, 0; loop: add.u32 %r1, %r1, 1; bra loop;",
        polls.replacen(", 7;", ", 8;", 1)
    ));
    assert!(text.ends_with("its last jump back is `bra loop`"), "{text}");
}

/// A loop that counts its rounds, or reads the clock, does not repeat itself.
const COUNTS: &str = ".shared .align 8 .b64 bar; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [bar], 2; bar.sync 0;
    @%p1 mbarrier.arrive.shared.b64 _, [bar]; mov.u64 %rd3, %globaltimer; mov.u32 %r1, 0;\n\
    wait: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @%p3 bra done; add.u32 %r1, %r1, 1; mov.u64 %rd4, %globaltimer;
    sub.u64 %rd4, %rd4, %rd3; setp.eq.u64 %p4, %rd4, 0; @!%p4 nanosleep.u32 100; bra wait; done:";

/// The launch of a body that is given up, or reaches the limit: its instructions, and the message.
fn given_up(body: &str, grid: u32, threads: u32, rounds: u64) -> (Option<u64>, u64, String) {
    let source = module(body);
    let module = read(&source).expect("a module");
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 64], AllocationUse::Argument(0)).expect("room");
    let mut launch = KernelLaunch::new([grid, 1, 1], [threads, 1, 1]);
    launch.options.steps = 5 << 20;
    launch.options.quiet_rounds = rounds;
    let launch = launch.parameter(&address.to_le_bytes());
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let error = kernel.run(&launch, &mut memory, None).expect_err("no end");
    let KernelError::Steps { quiet, ref result, .. } = error else { panic!("{error}") };
    (quiet, result.counts.warp_instructions, error.to_string())
}

#[test]
fn a_launch_that_only_polls_is_given_up() {
    let flag = "mov.u32 %r1, 0; wait: add.u32 %r1, %r1, 1; ld.volatile.global.u32 %r2, [%rd1];
        setp.eq.u32 %p1, %r2, 0; @%p1 bra wait;";
    for (body, grid, threads, expected) in [
        (
            COUNTS,
            3,
            64,
            "phase 0 of the mbarrier at `bar` (0xfe000000) lacks 1 of 2 arrivals; last changed in line 9",
        ),
        (flag, 1, 32, "its loop polls the bytes at argument 0 `out` (0x80000000) in line 8"),
    ] {
        let (quiet, all, text) = given_up(body, grid, threads, 1024);
        assert!(quiet.is_some_and(|quiet| (1 << 22..=all).contains(&quiet)) && all < 5 << 20);
        assert!(text.contains("of them by loops that wait, while nothing has changed"), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

/// Another block, another warp, lanes of the same one, or the loop itself may be at work.
#[test]
fn a_launch_that_works_is_not_given_up() {
    let wait = "mov.u32 %r6, %ctaid.x; mov.u32 %r1, 0; mov.u32 %r5, 0; PARTS @%p2 bra work;
        wait: add.u32 %r1, %r1, 1; ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait; bra end;";
    let work = "work: add.u32 %r5, %r5, 1; bra work; end:";
    // Its lanes part and join again in each round.
    let parts = "work: add.u32 %r5, %r5, 1; xor.b32 %r7, %r5, %r0; and.b32 %r7, %r7, 1; setp.eq.u32 %p5, %r7, 0;
        @%p5 bra join; add.u32 %r8, %r8, 1; join: bra work; end:";
    let slow = "mov.u32 %r1, 0; again: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r1, %r1, 1; mov.u32 %r3, 0;
        inner: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 100; @%p1 bra inner; setp.eq.u32 %p1, %r2, 0; @%p1 bra again;";
    let beside = |who: &str, work: &str| wait.replace("PARTS", who) + work;
    let of_warp = "setp.lt.u32 %p2, %r0, 32;";
    for (body, grid) in [
        (beside(of_warp, work), 1),
        (beside(of_warp, parts), 1),
        (beside("setp.lt.u32 %p2, %r0, 5;", work), 1),
        (beside("setp.eq.u32 %p2, %r6, 1;", work), 2),
        (slow.to_owned(), 1),
    ] {
        let (quiet, all, text) = given_up(&body, grid, 64, 4);
        assert_eq!((quiet, all), (None, 5 << 20), "{text}\n{body}");
    }
    // None of them is.
    let (quiet, ..) = given_up(&beside("setp.lt.u32 %p2, %r0, 0;", work), 2, 64, 4);
    assert!(quiet.is_some());
}

/// Block 0 waits for block 1 to set a flag.
const LATER: &str = "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra set;
    wait: ld.acquire.gpu.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0; @%p2 bra wait; bra.uni end;
    set: st.release.gpu.global.u32 [%rd1], 1; end:";

#[test]
fn a_wait_for_a_block_that_never_begins_says_so() {
    assert!(ended(LATER, 2, 1, None).result.faults.is_empty());
    assert!(ended(LATER, 2, 1, Some(2)).result.faults.is_empty());
    let result = ended(LATER, 2, 1, Some(1)).result;
    let expected = "hang: 1 thread waits forever: nothing changes the bytes at argument 0 `out` (0x80000000); block (1, 0, 0) never begins, \
        because other blocks wait";
    assert_eq!(result.faults[0].to_string(), expected);
    // Both blocks wait for what neither does.
    let both = LATER.replace("@%p1 bra set;", "");
    let result = ended(&both, 3, 1, None).result;
    let blocks: Vec<u32> = result.faults.iter().map(|fault| fault.block[0]).collect();
    assert_eq!(blocks, [0, 1, 2]);
}

/// What is not executed may be what the threads wait for.
#[test]
fn nothing_is_said_of_waits_for_what_is_not_executed() {
    let body = "wait: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra wait;";
    let source = format!("sust.b.1d.b32.trap [surface, {{%r0}}], {{%r0}};\n{body}");
    let launched = ended(&source, 1, 32, None).result;
    for fault in &launched.faults {
        assert_eq!(fault.kind.name(), "unknown_value", "{fault}");
    }
    assert!(!launched.skipped.is_empty());
}

/// A call passes values through local memory, which is a part of the state.
#[test]
fn arguments_and_local_memory_are_a_part_of_the_state() {
    let functions = ".func (.reg .b32 o) f(.reg .b32 x) { add.u32 o, x, 1; ret; }
        .func (.param .b32 o) poll(.param .b64 p) { .reg .b64 %q<2>; .reg .b32 %s<2>;
        ld.param.u64 %q1, [p]; ld.volatile.global.u32 %s1, [%q1]; st.param.b32 [o], %s1; ret; }
        .func other() { .reg .b32 %s; mov.u32 %s, 1; ret; }---";
    let counts = format!(
        "{functions} .param .b32 q; st.param.b32 [q], 0;
        again: call (q), f, (q); ld.param.b32 %r1, [q];
        setp.lt.u32 %p1, %r1, 100000; mov.u32 %r1, 0; call other; @%p1 bra again;"
    );
    assert!(ended(&counts, 1, 32, None).result.faults.is_empty());
    let polls = format!(
        "{functions} again: {{ .param .b64 q; .param .b32 r; st.param.b64 [q], %rd1; call (r), poll, (q); ld.param.b32 %r1, [r]; }}
        setp.eq.u32 %p1, %r1, 0; @%p1 bra again;"
    );
    let spills = ".local .u32 d; again: ld.volatile.global.u32 %r1, [%rd1]; st.local.u32 [d], %r1; ld.local.u32 %r2, [d];
        setp.eq.u32 %p1, %r2, 0; @%p1 bra again;";
    for body in [&polls, spills] {
        let result = ended(body, 1, 32, None).result;
        assert_eq!(result.faults.len(), 1, "{body}");
        assert!(
            result.faults[0]
                .to_string()
                .contains("nothing changes the bytes at argument 0 `out` (0x80000000)")
        );
    }
}

/// One block that runs in a loop and looks at nothing is enough.
#[test]
fn endless_loops_of_many_blocks_end_with_the_first() {
    let result = ended("again: bra again;", 257, 256, None).result;
    assert_eq!((result.faults.len(), result.counts.blocks), (1, 1));
}

#[test]
fn a_block_alone_may_wait_for_another_one() {
    let mut options = KernelLaunch::new([2, 1, 1], [1; 3]);
    options.options.only_block = Some([0; 3]);
    let fault = launch(&module(LATER), options, &[vec![0; 4]]).result.faults[0].to_string();
    assert!(fault.ends_with("; another block may, but only this one was run"), "{fault}");
}

/// Gets the values of all accesses, as a trace does.
struct Values;

impl MemoryObserver for Values {
    fn access(&mut self, _: &MemoryAccess<'_>) {}
}

/// Stores of what is there already are an effect in global memory, also for an observer that compares them.
#[test]
fn an_observer_changes_no_verdict() {
    let source = module(
        "again: ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+64], 7;
        setp.eq.u32 %p1, %r1, 0; @%p1 bra again;",
    );
    let module = read(&source).expect("a module");
    let kernel = Kernel::chosen(&module, None).expect("a kernel");
    let ended = |observer: Option<&mut dyn MemoryObserver>| {
        let mut memory = DeviceMemory::new();
        let buffer = memory.allocate(vec![0; 256], AllocationUse::Argument(0)).expect("room");
        let mut options = KernelLaunch::new([1; 3], [1; 3]).parameter(&buffer.to_le_bytes());
        options.options.steps = 200_000;
        kernel.run(&options, &mut memory, observer).map_err(|error| error.to_string())
    };
    let alone = ended(None);
    assert_eq!(alone, ended(Some(&mut Values)));
    assert!(alone.is_err_and(|error| error.contains("has not ended")));
}
