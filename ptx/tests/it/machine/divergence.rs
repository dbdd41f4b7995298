//! Where lanes rejoin, although some return, exit, break or call; locks between lanes; guards that are overwritten.
//!
//! Where lanes wait is the word of ptxas (`joins.rs`). Here, an instruction that all remaining lanes execute together
//! counts once.

use warpload_ptx::launch::{KernelFaultKind, KernelLaunch, StackLimit};

use super::{Launched, launch, module, run};

/// Launches a kernel with one word for each thread.
fn launched(body: &str, threads: u32) -> Launched {
    let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    options.options.steps = 3_000_000;
    launch(&module(body), options, &[vec![0; 4 * threads as usize]])
}

/// The loads of a warp, apart from that of the parameter.
fn loads(body: &str) -> u64 {
    launched(body, 32).result.counts.loads - 1
}

#[test]
fn lanes_rejoin_although_one_returns() {
    // if (t & 1) { if (t == 1) return; x = 1; } for (100 times) load
    let found = launched(
        "mov.u32 %r6, 0; mov.u32 %r5, 0; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
        @%p1 bra join; setp.eq.u32 %p2, %r0, 1; @%p2 bra end; mov.u32 %r5, 1;
        join: activemask.b32 %r7;
        loop: ld.global.u32 %r2, [%rd2]; add.u32 %r5, %r5, %r2;
        add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 100; @%p3 bra loop;
        st.global.u32 [%rd2], %r7;
        end:",
        32,
    );
    assert_eq!(found.result.counts.loads, 1 + 100);
    let active = (0..32).map(|lane| if lane == 1 { 0 } else { !2 });
    assert_eq!(found.words(0), active.collect::<Vec<u32>>());
}

#[test]
fn lanes_rejoin_in_a_loop_that_one_could_leave() {
    // for (64 times) { if (t & 1) { x += load; if (x == 12345) return; } else x ^= load; }
    let body = "mov.u32 %r5, 0; mov.u32 %r6, 0; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
        loop: ld.global.u32 %r2, [%rd2]; @%p1 bra even;
        add.u32 %r5, %r5, %r2; setp.eq.u32 %p2, %r5, 12345; @%p2 bra end; bra.uni next;
        even: xor.b32 %r5, %r5, %r2;
        next: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 64; @%p3 bra loop;
        st.global.u32 [%rd2], %r5;
        end:";
    assert_eq!(loads(body), 64);
}

/// Programs with loads that all lanes of each way execute together, and the number of their warp instructions.
#[test]
fn remaining_lanes_are_together() {
    const ODD: &str = "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 1; setp.lt.u32 %p2, %r0, 8; setp.eq.u32 %p3, %r0, 3;
        setp.gt.u32 %p4, %r0, 20; mov.u32 %r6, 0; mov.u32 %r9, 0;\n";
    const LOAD: &str = "ld.volatile.global.u32 %r2, [%rd2];";
    let programs: &[(&str, u64, &str)] = &[
        // Returns, exits and traps in branches in branches.
        ("guarded ret", 1, "@!%p1 bra J; @%p2 bra K; @%p3 ret; K: add.u32 %r9, %r9, 1; @%p3 ret; J: LOAD"),
        ("exit", 1, "@!%p1 bra J; @%p2 exit; add.u32 %r9, %r9, 1; J: LOAD"),
        ("trap by nobody", 1, "@!%p1 bra J; setp.eq.u32 %p5, %r0, 99; @!%p5 bra K; trap; K: add.u32 %r9, %r9, 1; J: LOAD"),
        ("all of a way ends", 1, "@!%p1 bra J; add.u32 %r9, %r9, 1; ret; J: LOAD"),
        ("both ways end", 2, "@!%p1 bra J; LOAD ret; J: LOAD"),
        ("exit with work", 2, "@!%p1 bra J; @!%p2 bra K; LOAD ret; K: add.u32 %r9, %r9, 1; J: LOAD"),
        // `a && b`: the second way is entered from both conditions, and once.
        ("two conditions", 2, "@%p1 bra E; @%p2 bra E; LOAD bra J; E: LOAD J: add.u32 %r9, %r9, 1;"),
        ("goto out of a branch", 2, "@!%p1 bra J; @%p2 bra C; add.u32 %r9, %r9, 1; J: LOAD C: LOAD"),
        ("goto out of two branches", 3,
            "@!%p1 bra J; @!%p2 bra I; @%p3 bra C; I: LOAD J: LOAD C: LOAD"),
        // Loops with several exits.
        ("break", 12, "L: LOAD add.u32 %r6, %r6, 1; setp.gt.u32 %p5, %r6, %r0; @%p5 bra B;
            setp.lt.u32 %p6, %r6, 10; @%p6 bra L; LOAD B: LOAD"),
        ("break in a branch", 11, "L: LOAD add.u32 %r6, %r6, 1; @!%p1 bra N; setp.gt.u32 %p5, %r6, %r0; @%p5 bra B;
            N: setp.lt.u32 %p6, %r6, 10; @%p6 bra L; B: LOAD"),
        ("return in a loop", 11, "L: LOAD add.u32 %r6, %r6, 1; @!%p1 bra N; setp.eq.u32 %p5, %r6, %r0; @%p5 ret;
            N: setp.lt.u32 %p6, %r6, 10; @%p6 bra L; B: LOAD"),
        ("break out of two loops", 31, "O: mov.u32 %r7, 0;
            I: LOAD add.u32 %r7, %r7, 1; setp.eq.u32 %p5, %r6, %r0; @%p5 bra B;
            setp.lt.u32 %p6, %r7, 3; @%p6 bra I; add.u32 %r6, %r6, 1; setp.lt.u32 %p6, %r6, 10; @%p6 bra O; B: LOAD"),
        ("continue", 21, "L: add.u32 %r6, %r6, 1; LOAD setp.eq.u32 %p5, %r6, %r0; @%p5 bra N; LOAD
            N: setp.lt.u32 %p6, %r6, 10; @%p6 bra L; LOAD"),
        ("two edges close a loop", 21, "L: add.u32 %r6, %r6, 1; setp.ge.u32 %p6, %r6, 11; @%p6 bra B;
            LOAD @%p1 bra M; LOAD bra L; M: add.u32 %r9, %r9, 1; bra L; B: LOAD"),
        // Lanes wait for the longest one.
        ("rounds of each lane", 33, "L: LOAD add.u32 %r6, %r6, 1; setp.le.u32 %p5, %r6, %r0; @%p5 bra L; LOAD"),
        // Switches: each case once, although one falls through and one returns.
        ("switch", 4, "and.b32 %r3, %r0, 3; T: .branchtargets A, B, C, D; brx.idx %r3, T;
            A: LOAD bra J; B: LOAD C: LOAD bra J; D: ret; J: LOAD"),
        ("switch in a loop", 31, "and.b32 %r3, %r0, 3; T: .branchtargets A, B, C, L;
            L: add.u32 %r6, %r6, 1; setp.gt.u32 %p5, %r6, 10; @%p5 bra E;
            setp.eq.u32 %p6, %r3, 3; add.u32 %r4, %r3, 0; @%p6 mov.u32 %r4, 0; LOAD brx.idx %r4, T;
            A: LOAD bra L; B: add.u32 %r9, %r9, 1; C: LOAD bra L; E: LOAD"),
        ("guarded switch", 4, "and.b32 %r3, %r0, 1; T: .branchtargets A, B; @%p2 brx.idx %r3, T; LOAD bra J;
            A: LOAD bra J; B: LOAD J: LOAD"),
        // A block that lanes leave towards two joins, and back.
        ("crossing ways", 5, "@%p1 bra B; A: LOAD @%p2 bra C; bra D; B: LOAD @%p2 bra D; C: LOAD D: LOAD @%p4 ret; LOAD"),
        ("a loop behind a return", 11, "@%p3 bra R; L: LOAD add.u32 %r6, %r6, 1; setp.lt.u32 %p6, %r6, 10; @%p6 bra L;
            LOAD R:"),
    ];
    for (name, expected, body) in programs {
        let body = ODD.to_owned() + &body.replace("LOAD", LOAD);
        assert_eq!(loads(&body), *expected, "{name}");
    }
}

#[test]
fn lanes_rejoin_after_calls_from_branches() {
    // Each call is executed by the lanes of its way together, and the instruction after them by all that have not ended.
    let functions = "
        .func (.reg .u32 s) early (.reg .u32 n) {
            .reg .pred p, q; .reg .u32 m; mov.u32 s, 1; and.b32 m, n, 1; setp.eq.u32 p, m, 0; setp.eq.u32 q, n, 5;
            @p bra J; @q exit; setp.gt.u32 p, n, 20; @p ret; add.u32 s, s, 1;
            J: ld.volatile.global.u32 m, [word]; add.u32 s, s, m; ret;
        }";
    let body = format!(
        ".global .u32 word = 7; {functions} ---
        setp.lt.u32 %p1, %r0, 16; @%p1 bra A; call (%r2), early, (%r0); bra J; A: @%p1 call (%r2), early, (%r0);
        J: ld.volatile.global.u32 %r3, [word]; st.global.u32 [%rd2], %r2;"
    );
    let found = launched(&body, 32);
    // One load in each call, and one behind the calls.
    assert_eq!(found.result.counts.loads, 1 + 3);
    let expected = (0..32_u32).map(|lane| match lane {
        5 => 0,
        _ if lane % 2 == 0 => 8,
        21.. => 1,
        _ => 9,
    });
    assert_eq!(found.words(0), expected.collect::<Vec<_>>());
}

#[test]
fn a_guarded_call_collects_its_lanes() {
    let body = ".func (.reg .u32 s) one () { mov.u32 s, 1; ret; } ---
        mov.u32 %r2, 0; setp.lt.u32 %p1, %r0, 7; @%p1 call (%r2), one, ();
        activemask.b32 %r3; mad.lo.u32 %r2, %r3, 2, %r2; st.global.u32 [%rd2], %r2;";
    let expected = (0..32_u32).map(|lane| u32::from(lane < 7).wrapping_sub(2));
    assert_eq!(run(body, 32), expected.collect::<Vec<_>>());
}

#[test]
fn paths_merge_when_a_barrier_opens() {
    // Both ways arrive at the same barrier of a function in a loop, one round apart.
    let found = launched(
        "mov.u32 %r6, 0; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; setp.eq.u32 %p2, %r0, 99;
        L: bar.sync 0; ld.volatile.global.u32 %r2, [%rd2]; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 8; @%p3 bra L;
        activemask.b32 %r4; st.global.u32 [%rd2], %r4;",
        64,
    );
    assert_eq!(found.result.counts.loads, 2 * (1 + 8));
    // Lanes that were let go at a join, because others wait at a barrier, arrive there and go on with them.
    let found = launched(
        "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r6, 0; @%p1 bra B; bra J;
        B: mov.u32 %r6, 1; bra J;
        J: setp.eq.u32 %p2, %r6, 1; @%p2 bra K; add.u32 %r6, %r6, 2;
        K: bar.sync 0; activemask.b32 %r4; st.global.u32 [%rd2], %r4;",
        32,
    );
    assert_eq!(found.words(0), vec![u32::MAX; 32]);
    assert_eq!(found.result.counts.stores, 1);
}

#[test]
fn paths_merge_when_an_exchange_is_complete() {
    // Two ways meet at one `bar.warp.sync` that is in a loop's first round for some lanes and in its second for others.
    let found = launched(
        "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra A;
        bar.warp.sync 0xffffffff; bra B;
        A: bar.warp.sync 0xffffffff;
        B: ld.volatile.global.u32 %r2, [%rd2]; activemask.b32 %r4; st.global.u32 [%rd2], %r4;",
        32,
    );
    assert_eq!(found.result.counts.loads, 2);
    assert_eq!(found.words(0), vec![u32::MAX; 32]);
}

/// Every lane gets its turn, whatever operation polls, and whatever opens. `try` sets `%p1` if the lock was taken.
#[test]
fn locks_open_for_all_lanes() {
    let attempts = [
        "atom.global.or.b32 %r1, [lock], 1; setp.ne.u32 %p1, %r1, 0;",
        "atom.global.max.u32 %r1, [lock], 1; setp.ne.u32 %p1, %r1, 0;",
        "atom.global.max.s32 %r1, [lock], 1; setp.ne.u32 %p1, %r1, 0;",
        "atom.global.exch.b32 %r1, [lock], 1; setp.ne.u32 %p1, %r1, 0;",
        "atom.global.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0;",
        "atom.global.inc.u32 %r1, [lock], 0x7fffffff; setp.ne.u32 %p1, %r1, 0;",
        "atom.global.add.u32 %r1, [lock], 1; setp.ne.u32 %p1, %r1, 0;",
        // Undone if it fails.
        "atom.global.add.u32 %r1, [lock], 1; setp.ne.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [lock], -1;",
        // A bit that is inverted, so that 1 is free.
        "atom.global.and.b32 %r1, [inverted], 0; setp.eq.u32 %p1, %r1, 0;",
        "atom.global.min.u32 %r1, [inverted], 0; setp.eq.u32 %p1, %r1, 0;",
        "ld.volatile.global.u32 %r1, [lock]; setp.ne.u32 %p1, %r1, 0; @!%p1 atom.global.or.b32 %r1, [lock], 1;
            @!%p1 setp.ne.u32 %p1, %r1, 0;",
    ];
    let releases = [
        "atom.global.and.b32 %r3, [lock], 0; atom.global.or.b32 %r3, [inverted], 1;",
        "st.volatile.global.u32 [lock], 0; st.volatile.global.u32 [inverted], 1;",
        "red.global.and.b32 [lock], 0; red.global.max.u32 [inverted], 1;",
        "atom.global.exch.b32 %r3, [lock], 0; atom.global.exch.b32 %r3, [inverted], 1;",
    ];
    for (attempt, release) in attempts.iter().zip(releases.iter().cycle()) {
        // Lanes of two warps, and of one.
        for &threads in if *attempt == attempts[0] { &[64_u32, 32][..] } else { &[9] } {
            let body = format!(
                ".global .u32 lock; .global .u32 inverted = 1; .global .u32 count;
                ---
                again: {attempt} @%p1 bra again;
                ld.volatile.global.u32 %r2, [count]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [count], %r2;
                membar.gl; {release} bar.sync 0;
                ld.global.u32 %r4, [count]; st.global.u32 [%rd2], %r4;"
            );
            let found = launched(&body, threads);
            assert_eq!(found.words(0), vec![threads; threads as usize], "{attempt} {release}");
        }
    }
}

/// Lane `n` waits for lane `n + 1`, which waits at the end of the same loop. Each poll reads without a change.
#[test]
fn every_poll_lets_the_awaited_lane_go_on() {
    for poll in [
        "ld.volatile.global.u32 %r1, [turn];",
        "ld.acquire.gpu.global.u32 %r1, [turn];",
        "ld.relaxed.sys.global.u32 %r1, [turn];",
        "ld.global.u32 %r1, [turn];",
        "atom.global.or.b32 %r1, [turn], 0;",
        "atom.global.xor.b32 %r1, [turn], 0;",
        "atom.global.and.b32 %r1, [turn], -1;",
        "atom.global.add.u32 %r1, [turn], 0;",
        "atom.global.max.u32 %r1, [turn], 0;",
        "atom.global.min.u32 %r1, [turn], -1;",
        "atom.global.cas.b32 %r1, [turn], 99, 99;",
    ] {
        let body = format!(
            ".global .u32 turn = 7; ---
            setp.gt.u32 %p2, %r0, 7; @%p2 ret;
            again: {poll} setp.ne.u32 %p1, %r1, %r0; @%p1 bra again;
            sub.u32 %r2, %r0, 1; membar.gl; st.volatile.global.u32 [turn], %r2; st.global.u32 [%rd2], %r0;"
        );
        let found = launched(&body, 32);
        assert_eq!(found.words(0)[..9], [0, 1, 2, 3, 4, 5, 6, 7, 0], "{poll}");
    }
}

/// The frames of all lanes share one limit: each lane of `brx` calls on its own, and holds its frames at a barrier.
#[test]
fn lanes_apart_share_the_memory_of_the_stack() {
    let names: Vec<String> = (0..32).map(|lane| format!("L{lane}")).collect();
    let calls: String =
        names.iter().map(|name| format!("{name}: call f, (%r2); bra END;\n")).collect();
    let moves: String = (0..60).map(|number| format!("mov.b32 %x{number}, {number};")).collect();
    let source = |depth: u32| {
        module(&format!(
            ".func f(.reg .b32 n) {{ .reg .pred p; .reg .b32 %x<60>; sub.s32 n, n, 1; setp.eq.s32 p, n, 0;
                @p bra E; call f, (n); {moves} ret; E: bar.sync 0; ret; }}
            ---
            mov.u32 %r2, {depth}; mov.u32 %r1, %laneid; T: .branchtargets {};
            brx.idx %r1, T; {calls} END: st.global.u32 [%rd2], %r2;",
            names.join(", ")
        ))
    };
    for (depth, threads, is_too_deep) in [(40, 32, false), (1000, 96, true)] {
        let options = KernelLaunch::new([1; 3], [threads, 1, 1]);
        let found = launch(&source(depth), options, &[vec![0; 4 * threads as usize]]);
        let is_limit = |kind: &KernelFaultKind| {
            matches!(kind, KernelFaultKind::StackOverflow { limit: StackLimit::Launch })
        };
        let faults = &found.result.faults;
        assert_eq!(faults.iter().any(|fault| is_limit(&fault.kind)), is_too_deep, "{depth}");
        assert!(faults.iter().all(|fault| is_limit(&fault.kind)));
        let done = found.words(0).iter().filter(|word| **word == depth).count() as u64;
        assert_eq!(done + found.result.fault_count, u64::from(threads), "{depth}");
    }
}

#[test]
fn each_limit_of_the_stack_has_its_name() {
    let limit = |functions: &str| {
        let body = format!("{functions} --- call f, (%r0); st.global.u32 [%rd2], 1;");
        let found = launched(&body, 32);
        assert_eq!(found.result.fault_count, 32);
        match found.result.faults[0].kind {
            KernelFaultKind::StackOverflow { limit } => limit,
            ref kind => panic!("{kind:?}"),
        }
    };
    assert_eq!(limit(".func f(.reg .b32 n) { call f, (n); ret; }"), StackLimit::Calls);
    let large = ".func f(.reg .b32 n) { .local .b8 buffer[600000]; st.local.u8 [buffer], 1; ret; }";
    assert_eq!(limit(large), StackLimit::Local);
    assert_eq!(
        StackLimit::Launch.to_string(),
        "more than 1 GiB of registers and local memory in all calls of a block"
    );
}

/// An instruction reads its guard once, even if it becomes several operations and an earlier one writes the guard.
#[test]
fn instructions_that_write_their_guard_read_it_once() {
    // p1: lanes below 16; p2: odd lanes. The expected pair is (p1, p2) of a lane.
    let start = "setp.lt.u32 %p1, %r0, 16; and.b32 %r1, %r0, 1; setp.eq.u32 %p2, %r1, 1; mov.u32 %r2, 0x3c004000;
        mov.u32 %r3, 0x40003c00; mov.u32 %r9, 0;";
    let end = "selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r9;
        st.global.u32 [%rd2], %r5;";
    type Pair = fn(u32, bool, bool) -> (bool, bool);
    let programs: [(&str, Pair); 9] = [
        (
            "@%p1 setp.lt.u32 %p1|%p2, %r0, 4;",
            |lane, p, q| if p { (lane < 4, lane >= 4) } else { (p, q) },
        ),
        (
            "@%p2 setp.lt.u32 %p1|%p2, %r0, 4;",
            |lane, p, q| if q { (lane < 4, lane >= 4) } else { (p, q) },
        ),
        (
            "@!%p1 setp.lt.u32 %p1|%p2, %r0, 20;",
            |lane, p, q| if p { (p, q) } else { (lane < 20, lane >= 20) },
        ),
        ("@%p1 setp.lt.and.u32 %p1|%p2, %r0, 4, %p2;", |lane, p, q| {
            if p { (lane < 4 && q, lane >= 4 && q) } else { (p, q) }
        }),
        // The halves of the sources are 2 and 1, and 1 and 2.
        ("@%p1 setp.lt.f16x2 %p1|%p2, %r2, %r3;", |_, p, q| if p { (false, true) } else { (p, q) }),
        ("@%p1 setp.gt.f16x2 %p2|%p1, %r2, %r3;", |_, p, q| if p { (false, true) } else { (p, q) }),
        (
            "@!%p1 setp.gt.f16x2 %p1|%p2, %r2, %r3;",
            |_, p, q| if p { (p, q) } else { (true, false) },
        ),
        (
            "@%p1 lop3.or.b32 %r4|%p1, %r0, 3, 0, 0xc0, %p2; @%p1 add.u32 %r9, %r9, 0;",
            |lane, p, q| (if p { lane & 3 != 0 || q } else { p }, q),
        ),
        ("@%p1 shfl.sync.idx.b32 %r4|%p1, %r0, 0, 31, 0xffff;", |_, p, q| (p, q)),
    ];
    for (text, model) in programs {
        let expected = (0..32_u32).map(|lane| {
            let (p, q) = model(lane, lane < 16, lane & 1 == 1);
            u32::from(p) | u32::from(q) << 1
        });
        assert_eq!(
            run(&format!("{start} {text} {end}"), 32),
            expected.collect::<Vec<_>>(),
            "{text}"
        );
    }
}
