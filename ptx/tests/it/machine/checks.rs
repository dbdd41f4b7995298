//! The checks for races and for uninitialized memory: each kind of access, each kind of order.
//!
//! The PTX ISA decides what orders accesses: "Memory Consistency Model", `bar`, `bar.warp.sync`, `mbarrier`, `membar`.

use super::{Launched, launch, module};
use warpload_ptx::launch::{
    AllocationUse, CheckedRaces, Checks, DeviceMemory, Fill, FillError, Kernel, KernelFault,
    KernelFaultKind, KernelLaunch,
};
use warpload_ptx::read;

/// Launches a body in one block, with a buffer of 4 KiB.
fn checked(body: &str, threads: u32, races: bool, uninitialized: bool) -> Launched {
    let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    options.options.checks.races = races.then_some(CheckedRaces::All);
    options.options.checks.uninitialized = uninitialized;
    options.options.steps = 100_000;
    let launched = launch(&module(body), options, &[vec![0; 4096]]);
    let skipped = &launched.result.skipped;
    assert!(skipped.is_empty(), "{}\n{body}", skipped[0].text);
    launched
}

/// The line with a comment.
fn line_of(body: &str, comment: &str) -> u32 {
    let source = module(body);
    let line = source.lines().position(|line| line.ends_with(&format!("// {comment}")));
    line.expect("a line with the comment") as u32 + 1
}

/// Asserts that there is a race between the lines EARLIER and LATER if `is_race`, and no other fault.
fn assert_race(body: &str, threads: u32, is_race: bool) {
    let launched = checked(body, threads, true, false);
    let faults = launched.result.faults;
    if !is_race {
        assert!(faults.is_empty(), "false alarm: {}\n{body}", faults[0]);
        return;
    }
    assert!(!faults.is_empty(), "missed\n{body}");
    let (earlier, later) = (line_of(body, "EARLIER"), line_of(body, "LATER"));
    for fault in faults {
        let KernelFaultKind::Race { other, .. } = fault.kind else { panic!("{fault}\n{body}") };
        // The warps may also execute the two lines in the other order.
        let lines = [other.at.line().min(fault.line()), other.at.line().max(fault.line())];
        assert_eq!(lines, [earlier, later], "{fault}\n{body}");
    }
}

/// Shared memory, and in each thread: its lane in %r10, the addresses of its word and its 16 bytes in %r2 and %r3, the
/// address of all in %r1, and of the word of lane 31 - n in %r4. The first warp has %p1.
const TILE: &str = ".shared .align 128 .b8 s[2048];
.shared .align 8 .b64 bar;
.shared .align 4 .u32 flag;
---
mov.u32 %r10, %laneid; mov.u32 %r1, s; mad.lo.u32 %r2, %r10, 4, %r1; mad.lo.u32 %r3, %r10, 16, %r1;
mul.lo.u32 %r11, %r10, 4; xor.b32 %r11, %r11, 124; add.u32 %r4, %r1, %r11;
mul.wide.u32 %rd3, %r10, 16; add.u64 %rd3, %rd1, %rd3;
setp.lt.u32 %p1, %r0, 32;
mov.f32 %f1, 0f3F800000; mov.u32 %r20, 1; mov.u32 %r21, 2; mov.u32 %r22, 3; mov.u32 %r23, 4;
";

const WRITES: &[&str] = &[
    "st.shared.u32 [%r2], 0;",
    "st.shared.u8 [%r2], 0;",
    "st.shared.v4.u32 [%r3], {%r20, %r21, %r22, %r23};",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3], {%r20, %r21, %r22, %r23};",
    "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3], {%r20};",
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1], {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1}, 16;",
    "cp.async.ca.shared.global [%r3], [%rd3], 16;",
    "cp.async.ca.shared.global [%r3], [%rd3], 16, 4;",
];

const READS: &[&str] = &[
    "ld.shared.u32 %r30, [%r2];",
    "ld.shared.s8 %r30, [%r2];",
    "ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r3];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30, %r31, %r32, %r33}, [%r3];",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r30, %r31}, [%r3];",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r30,%r31,%r32,%r33,%r34,%r35,%r36,%r37}, [%r1], 16;",
];

const ATOMICS: &[&str] = &[
    "atom.shared.add.u32 %r40, [%r2], 1;",
    "red.shared.max.u32 [%r2], 1;",
    "atom.shared.cas.b32 %r40, [%r2], 0, 1;",
    "atom.shared.exch.b32 %r40, [%r2], 1;",
];

/// One instruction in the first warp, then another in the second.
fn in_turn(first: &str, between: &str, second: &str) -> String {
    format!(
        "{TILE}@!%p1 bra next;\n{first} // EARLIER\nnext: {between}\n@%p1 bra end;\n{second} // LATER\nend:"
    )
}

#[test]
fn each_pair_of_accesses_of_two_warps() {
    let mut pairs = 0;
    let mut assert_pair = |first: &str, second: &str, is_conflict: bool| {
        assert_race(&in_turn(first, "", second), 64, is_conflict);
        // A copy is also waited for.
        assert_race(&in_turn(first, "cp.async.wait_all; bar.sync 0;", second), 64, false);
        // Neither orders accesses of different warps.
        assert_race(&in_turn(first, "bar.warp.sync -1;", second), 64, is_conflict);
        assert_race(&in_turn(first, "membar.cta;", second), 64, is_conflict);
        pairs += 1;
    };
    for write in WRITES {
        for read in READS {
            assert_pair(write, read, true);
            assert_pair(read, write, true);
        }
        for atomic in ATOMICS {
            assert_pair(write, atomic, true);
            assert_pair(atomic, write, true);
        }
    }
    for atomic in ATOMICS {
        for read in READS {
            assert_pair(read, atomic, true);
            assert_pair(atomic, read, true);
        }
        for other in ATOMICS {
            assert_pair(atomic, other, false);
        }
    }
    for (place, read) in READS.iter().enumerate() {
        assert_pair(read, READS[(place + 1) % READS.len()], false);
    }
    assert_eq!(pairs, 2 * (8 * 6 + 8 * 4 + 4 * 6) + 16 + 6);
}

/// In one warp: a lane reads what another has written.
fn in_one_warp(between: &str, read: &str) -> String {
    format!("{TILE}st.shared.u32 [%r4], %r10; // EARLIER\n{between}\n{read} // LATER")
}

#[test]
fn only_a_warp_barrier_orders_lanes() {
    let others = [
        "",
        "vote.sync.ballot.b32 %r50, %p1, -1;",
        "vote.sync.any.pred %p2, %p1, -1;",
        "shfl.sync.idx.b32 %r50, %r10, 0, 31, -1;",
        "match.any.sync.b32 %r50, %r10, -1;",
        "redux.sync.add.u32 %r50, %r10, -1;",
        "elect.sync %r50|%p2, -1;",
        "activemask.b32 %r50;",
        "membar.cta;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r50, %r10;",
    ];
    for read in ["ld.shared.u32 %r30, [%r2];", READS[3], READS[4], READS[5]] {
        for other in others {
            assert_race(&in_one_warp(other, read), 32, true);
        }
        assert_race(&in_one_warp("bar.warp.sync -1;", read), 32, false);
        assert_race(&in_one_warp("bar.sync 0;", read), 32, false);
    }
    // Its own word is no race, whatever the lane does.
    assert_race(&in_one_warp("", "ld.shared.u32 %r30, [%r4];"), 32, false);
    // The barrier orders lanes in its mask: all of the upper half do not take part.
    let half = "setp.lt.u32 %p2, %r10, 16; @!%p2 bra over; bar.warp.sync 0xffff; over:";
    assert_race(&in_one_warp(half, "ld.shared.u32 %r30, [%r2];"), 32, true);
}

#[test]
fn fragments_belong_to_lanes_as_far_as_they_are_documented() {
    // [PTX ISA, `ldmatrix`]: lane n holds the elements 2n and 2n + 1 of a matrix of 8 x 8.
    let own = |write: &str, read: &str| format!("{TILE}{write} // EARLIER\n{read} // LATER");
    let own_element = own(
        "st.shared.u32 [%r2], %r10;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r3];",
    );
    assert_race(&own_element, 32, false);
    let transposed = own_element.replace("x1.shared", "x1.trans.shared");
    assert_race(&transposed, 32, true);
    // A row is not the lane's that has its address.
    let row = own("st.shared.v4.u32 [%r3], {%r10, %r20, %r20, %r20};", READS[3]);
    assert_race(&row, 32, true);
    let there_and_back = own(WRITES[3], READS[3]);
    assert_race(&there_and_back, 32, false);
    // Fragments of `wmma` are distributed alike only if they are of one kind.
    assert_race(&own(WRITES[5], "ld.shared.f32 %f2, [%r2];"), 32, true);
    assert_race(&own(WRITES[5], READS[5]), 32, true);
    let accumulator = "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9}, [%r1], 16;";
    assert_race(&own(WRITES[5], accumulator), 32, false);
}

/// Whether all faults are races of an instruction with itself, and there is one.
fn races_with_itself(body: &str, threads: u32) -> bool {
    let faults = checked(body, threads, true, false).result.faults;
    let is_itself = |fault: &KernelFault| match fault.kind {
        KernelFaultKind::Race { other, .. } => other.at.line() == fault.line(),
        _ => false,
    };
    !faults.is_empty() && faults.iter().all(is_itself)
}

#[test]
fn stores_of_equal_values_race_unless_they_are_one_instruction() {
    let all = |value: &str, more: &str| {
        format!("{TILE}mov.u32 %r50, {value};\nst.shared.u32 [s], %r50; // EARLIER\n{more}")
    };
    for value in ["0", "5"] {
        assert_race(&all(value, ""), 32, false);
        assert_race(&all(value, "bar.sync 0; ld.shared.u32 %r30, [s];"), 32, false);
        assert_race(&all(value, "ld.shared.u32 %r30, [s]; // LATER"), 32, true);
        // Another warp may store something else in the next launch, and so may the next round of a loop.
        assert!(races_with_itself(&all(value, ""), 64));
        let rounds = format!(
            "{TILE}mov.u32 %r50, 0;
            again: setp.eq.u32 %p3, %r10, %r50; @%p3 st.shared.u32 [s], {value};
            add.u32 %r50, %r50, 1; setp.lt.u32 %p3, %r50, 2; @%p3 bra again;"
        );
        assert!(races_with_itself(&rounds, 32));
    }
    // Different values are, in one instruction too.
    let launched = checked(&all("%r10", ""), 32, true, false);
    assert!(matches!(launched.result.faults[0].kind, KernelFaultKind::Race { .. }));
    // A reader makes equal stores of others a race.
    let read = format!(
        "{TILE}@!%p1 bra next;\nld.shared.u32 %r30, [s]; // EARLIER\nnext: @%p1 bra end;\nst.shared.u32 [s], 0; // LATER\nend:"
    );
    assert_race(&read, 64, true);
}

#[test]
fn fences_order_with_strong_accesses_around() {
    // The last field says whether the pattern releases, or acquires. [PTX ISA, "Release and Acquire Patterns"]
    let releases = [
        ("membar.cta; st.volatile.shared.u32 [flag], 1;", true),
        ("fence.acq_rel.cta; st.relaxed.cta.shared.u32 [flag], 1;", true),
        ("fence.sc.cta; atom.shared.exch.b32 %r60, [flag], 1;", true),
        ("st.release.cta.shared.u32 [flag], 1;", true),
        ("red.release.cta.shared.add.u32 [flag], 1;", true),
        ("atom.acq_rel.cta.shared.add.u32 %r60, [flag], 1;", true),
        ("st.volatile.shared.u32 [flag], 1;", false),
        ("st.relaxed.cta.shared.u32 [flag], 1;", false),
        ("atom.shared.exch.b32 %r60, [flag], 1;", false),
        ("st.volatile.shared.u32 [flag], 1; membar.cta;", false),
        ("atom.acquire.cta.shared.exch.b32 %r60, [flag], 1;", false),
    ];
    let acquires = [
        ("ld.volatile.shared.u32 %r61, [flag];", "membar.cta;", true),
        ("ld.relaxed.cta.shared.u32 %r61, [flag];", "fence.acq_rel.cta;", true),
        ("atom.shared.add.u32 %r61, [flag], 0;", "membar.gl;", true),
        ("ld.acquire.cta.shared.u32 %r61, [flag];", "", true),
        ("atom.acq_rel.cta.shared.add.u32 %r61, [flag], 0;", "", true),
        ("ld.volatile.shared.u32 %r61, [flag];", "", false),
        ("atom.shared.add.u32 %r61, [flag], 0;", "", false),
        ("atom.release.cta.shared.add.u32 %r61, [flag], 0;", "", false),
    ];
    for (release, releases) in releases {
        for (poll, fence, acquires) in acquires {
            let body = format!(
                "{TILE}setp.eq.u32 %p2, %r0, 0; setp.eq.u32 %p3, %r0, 32; @%p2 bra from; @%p3 bra to; bra end;
                from:\nst.shared.u32 [s], 7; // EARLIER\n{release} bra end;
                to: {poll} setp.eq.u32 %p4, %r61, 0; @%p4 bra to; {fence}\nld.shared.u32 %r62, [s]; // LATER
                st.global.u32 [%rd1], %r62;\nend:"
            );
            assert_race(&body, 64, !(releases && acquires));
        }
    }
}

#[test]
fn one_lane_speaks_for_its_warp_after_a_warp_barrier() {
    let body = |first: &str, last: &str| {
        format!(
            "{TILE}setp.eq.u32 %p2, %r10, 0; @!%p1 bra to;\nst.shared.u32 [%r2], %r10; // EARLIER\n{first}
            @%p2 st.release.cta.shared.u32 [flag], 1; bra end;
            to: @!%p2 bra met;\npoll: ld.acquire.cta.shared.u32 %r61, [flag]; setp.eq.u32 %p4, %r61, 0; @%p4 bra poll;
            met: {last}\nld.shared.u32 %r62, [%r2]; // LATER\nend:"
        )
    };
    let warp = "bar.warp.sync -1;";
    assert_race(&body(warp, warp), 64, false);
    assert_race(&body("", warp), 64, true);
    assert_race(&body(warp, ""), 64, true);
}

#[test]
fn locks_order_what_they_protect() {
    let body = |acquire: &str, release: &str| {
        format!(
            "{TILE}setp.eq.u32 %p2, %r10, 0; @!%p2 bra end;
            spin: atom.shared.cas.b32 %r60, [flag], 0, 1; setp.ne.u32 %p3, %r60, 0; @%p3 bra spin; {acquire}
            ld.shared.u32 %r61, [s]; add.u32 %r61, %r61, 1; st.shared.u32 [s], %r61;
            {release} atom.shared.exch.b32 %r60, [flag], 0;\nend:"
        )
    };
    for (acquire, release, is_ordered) in [
        ("membar.cta;", "membar.cta;", true),
        ("", "membar.cta;", false),
        ("membar.cta;", "", false),
    ] {
        let faults = checked(&body(acquire, release), 128, true, false).result.faults;
        assert_eq!(faults.is_empty(), is_ordered, "{acquire} {release}");
    }
}

#[test]
fn barriers_of_some_threads_order_these() {
    let body = |first: &str, second: &str, third: &str| {
        format!(
            "{TILE}setp.lt.u32 %p2, %r0, 64; @!%p1 bra second;\nst.shared.u32 [%r2], %r10; // EARLIER\n{first} bra end;
            second: @!%p2 bra third;\n{second} bra end;\nthird:\n{third}\nend:"
        )
    };
    let read = "ld.shared.u32 %r30, [%r2]; // LATER\n";
    let sync = "bar.sync 1, 64;";
    assert_race(&body(sync, &format!("{sync}\n{read}"), ""), 64, false);
    assert_race(&body("bar.arrive 1, 64;", &format!("{sync}\n{read}"), ""), 64, false);
    assert_race(&body(sync, &format!("bar.arrive 1, 64;\n{read}"), ""), 64, true);
    assert_race(&body(sync, &format!("{read}\n{sync}"), ""), 64, true);
    // The third warp does not take part, or only through the second one.
    assert_race(&body(sync, sync, read), 96, true);
    let passed_on = format!("{sync} bar.sync 2, 64;");
    assert_race(&body(sync, &passed_on, &format!("bar.sync 2, 64;\n{read}")), 96, false);
    assert_race(
        &body(
            "bar.red.popc.u32 %r50, 1, 64, %p1;",
            &format!("bar.red.popc.u32 %r50, 1, 64, %p1;\n{read}"),
            "",
        ),
        64,
        false,
    );
}

#[test]
fn mbarriers_order_arrivals_before_waits() {
    let body = |count: u32, from: &str, to: &str| {
        format!(
            "{TILE}setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [bar], {count};\nbar.sync 0;
            @!%p1 bra to;\nst.shared.u32 [%r2], %r10; // EARLIER\n{from}\nbra end;\nto:\n{to}\nend:"
        )
    };
    let arrive = "mbarrier.arrive.shared.b64 %rd20, [bar];";
    let wait = "wait: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra wait;";
    let read = "ld.shared.u32 %r30, [%r4]; // LATER";
    assert_race(&body(32, arrive, &format!("{wait}\n{read}")), 64, false);
    assert_race(&body(32, arrive, &format!("{read}\n{wait}")), 64, true);
    assert_race(&body(32, arrive, read), 64, true);
    // The phase ends before the last lane has arrived.
    assert_race(&body(31, arrive, &format!("{wait}\n{read}")), 64, true);
    // One lane arrives for all, with or without a barrier of the warp before.
    let one = "setp.eq.u32 %p4, %r10, 0; @%p4 mbarrier.arrive.shared.b64 %rd20, [bar];";
    assert_race(
        &body(1, &format!("bar.warp.sync -1; {one}"), &format!("{wait}\n{read}")),
        64,
        false,
    );
    assert_race(&body(1, one, &format!("{wait}\n{read}")), 64, true);
    let states = "mbarrier.arrive.shared.b64 %rd20, [bar]; wait: mbarrier.try_wait.shared.b64 %p3, [bar], %rd20; @!%p3 bra wait;";
    assert_race(
        &body(
            64,
            states,
            &format!(
                "{}\n{read}",
                states.replace("wait:", "other:").replace("bra wait", "bra other")
            ),
        ),
        64,
        false,
    );
}

#[test]
fn mbarrier_words_and_copies_take_part() {
    let initialized = |order: &str| {
        format!(
            "{TILE}setp.eq.u32 %p2, %r0, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 64; // EARLIER\n{order}
            mbarrier.arrive.shared.b64 %rd20, [bar]; // LATER"
        )
    };
    assert_race(&initialized("bar.sync 0;"), 64, false);
    assert_race(&initialized(""), 64, true);
    // The copies of a thread arrive at an mbarrier, with and without the count.
    for (arrive, count) in [
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];", 32),
        ("cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.arrive.shared.b64 %rd20, [bar];", 32),
    ] {
        let body = format!(
            "{TILE}setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [bar], {count};\nbar.sync 0;
            @!%p1 bra to;\ncp.async.ca.shared.global [%r3], [%rd3], 16; // EARLIER\n{arrive}\nbra end;
            to: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra to;
            ld.shared.v4.u32 {{%r30, %r31, %r32, %r33}}, [%r3]; // LATER\nend:"
        );
        assert_race(&body, 64, false);
    }
}

/// "cp.async.wait_group N waits until only N or fewer of the most recent cp.async-groups are pending and all the prior
/// cp.async-groups committed by the executing threads are complete." [PTX ISA, "cp.async.wait_group"]
#[test]
fn copies_are_waited_for() {
    let copy = "cp.async.ca.shared.global [%r3], [%rd3], 16; // EARLIER\n";
    let second = "cp.async.ca.shared.global [%r3+1024], [%rd3], 16;";
    let read = "ld.shared.u32 %r30, [%r3]; // LATER\n";
    let commit = "cp.async.commit_group;";
    for (waits, is_race) in [
        (String::new(), true),
        // The wait is for groups, and the copy is in none.
        ("cp.async.wait_group 0;".into(), true),
        (format!("{commit} bar.sync 0;"), true),
        (format!("{commit} cp.async.wait_group 0;"), false),
        ("cp.async.wait_all;".into(), false),
        (format!("{commit} cp.async.wait_group 1;"), true),
        (format!("{commit} {second} {commit} cp.async.wait_group 1;"), false),
        (format!("{commit} {second} {commit} cp.async.wait_group 2;"), true),
        // An empty group is the most recent one.
        (format!("{commit} {commit} cp.async.wait_group 1;"), false),
        // A wait before the copy, and for another group, or in other lanes.
        (format!("{commit} @!%p1 cp.async.wait_group 0;"), true),
        (format!("{commit} @%p1 cp.async.wait_all;"), false),
        // An arrival is no wait.
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];".into(), true),
        (
            "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
            wait: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra wait;"
                .into(),
            false,
        ),
    ] {
        let init = "setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;";
        assert_race(
            &format!("{TILE}{init} cp.async.wait_all;\n{copy}{waits}\n{read}"),
            32,
            is_race,
        );
    }
    // Another thread reads, with a barrier between, but the copying thread has not waited. It reads by `ldmatrix`, too.
    for read in
        ["ld.shared.u32 %r30, [%r4];", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r3];"]
    {
        for (waits, is_race) in [("", true), ("cp.async.wait_all;", false)] {
            let body = format!("{TILE}{copy}{waits} bar.sync 0;\n{read} // LATER\n");
            assert_race(&body, 32, is_race);
        }
    }
    // The copy may also write after a store of its own thread.
    let store = "st.shared.v4.u32 [%r3], {%r20, %r20, %r20, %r20}; // LATER";
    assert_race(&format!("{TILE}{copy}{store}"), 32, true);
    assert_race(&format!("{TILE}{copy}cp.async.wait_all;\n{store}"), 32, false);
    // The shared memory of the next block has no copies.
    let mut options = KernelLaunch::new([2, 1, 1], [32, 1, 1]);
    options.options.checks.races = Some(CheckedRaces::All);
    let read_first = format!("{TILE}ld.shared.u32 %r30, [%r3]; bar.sync 0; {copy}");
    assert!(launch(&module(&read_first), options, &[vec![0; 4096]]).result.faults.is_empty());
}

#[test]
fn a_copy_without_a_wait_is_named_by_its_thread() {
    let source = include_str!("../../machine/r18_cpasync_without_wait.ptx");
    let mut options = KernelLaunch::new([1; 3], [32, 1, 1]);
    options.options.checks = Checks::ALL;
    let launched = launch(source, options, &[vec![0; 512], vec![0; 512]]);
    assert_eq!(launched.result.fault_count, 1);
    let expected = "race: `s` (0xfe000000) is also copied by thread (0, 0, 0) in line 11; the thread has not waited for its copy: \
        expected `cp.async.wait_group`, or a wait for its mbarrier; 32 times";
    assert_eq!(launched.result.faults[0].to_string(), expected);
}

#[test]
fn generic_addresses_and_blocks() {
    let generic = format!(
        "{TILE}cvta.shared.u32 %r12, %r2; cvt.u64.u32 %rd5, %r2; cvta.shared.u64 %rd5, %rd5;
        @!%p1 bra next;\nst.u32 [%rd5], %r10; // EARLIER\nnext: @%p1 bra end;\nld.shared.u32 %r30, [%r2]; // LATER\nend:"
    );
    assert_race(&generic, 64, true);
    // Blocks have shared memory of their own.
    let mut options = KernelLaunch::new([5, 1, 1], [32, 1, 1]);
    options.options.checks.races = Some(CheckedRaces::All);
    options.options.checks.uninitialized = true;
    let body = format!("{TILE}st.shared.u32 [%r2], %r10; ld.shared.u32 %r30, [%r2];");
    assert!(launch(&module(&body), options, &[vec![0; 4096]]).result.faults.is_empty());
}

/// The lines with uninitialized reads, and no other fault, unless of an mbarrier that is none.
fn uninitialized(body: &str) -> Vec<u32> {
    let mut faults = checked(body, 32, false, true).result.faults;
    let count = faults.len();
    faults.retain(|fault| fault.kind == KernelFaultKind::Uninitialized);
    assert!(faults.len() == count || body.contains("mbarrier"), "{body}");
    let mut lines: Vec<u32> = faults.iter().map(|fault| fault.line()).collect();
    lines.dedup();
    lines
}

#[test]
fn reads_of_unwritten_shared_memory() {
    let mbarriers = [
        "mbarrier.arrive.shared.b64 %rd20, [%r4];",
        "mbarrier.test_wait.parity.shared.b64 %p3, [%r4], 1;",
        "mbarrier.inval.shared.b64 [%r4];",
    ];
    let aligned = "and.b32 %r4, %r4, -8;";
    for read in READS.iter().chain(ATOMICS).chain(&mbarriers) {
        let body = format!("{TILE}{aligned}\n{read} // READ");
        assert_eq!(uninitialized(&body), [line_of(&body, "READ")], "{read}");
        // Each kind of store counts as a write, `cp.async` also for the zeros that it adds.
        for (at, write) in [
            (WRITES[2], 512),
            (WRITES[3], 512),
            (WRITES[6], 512),
            (WRITES[7], 512),
            (WRITES[5], 1024),
        ] {
            if read.starts_with("wmma") && write < 1024 || read.starts_with("mbarrier") {
                continue;
            }
            let body = format!("{TILE}{aligned}\n{at} bar.sync 0;\n{read} // READ");
            assert_eq!(uninitialized(&body), [0; 0], "{at} {read}");
        }
    }
    // An exchange whose old value is not wanted is a store, and so is `mbarrier.init`.
    let stores = "atom.shared.exch.b32 _, [%r2], 1; bar.sync 0; ld.shared.u32 %r30, [%r4];
        mbarrier.init.shared.b64 [bar], 32; bar.warp.sync -1; mbarrier.arrive.shared.b64 %rd20, [bar];";
    assert_eq!(uninitialized(&format!("{TILE}{stores}")), [0; 0]);
}

#[test]
fn reads_of_partly_written_memory() {
    let local = ".local .align 16 .b8 l[64];\nmov.u64 %rd5, l;\n";
    for (space, prefix, at) in [("shared", TILE, "%r3"), ("local", local, "%rd5")] {
        let body = |writes: &str, read: &str| format!("{prefix}\n{writes}\n{read} // READ");
        let words = |count: usize| {
            let words = (0..count).map(|word| format!("st.{space}.u32 [{at}+{}], 1;", 4 * word));
            words.collect::<String>()
        };
        let read = format!("ld.{space}.v4.u32 {{%r30, %r31, %r32, %r33}}, [{at}];");
        for count in 0..=4 {
            let body = body(&words(count), &read);
            let expected = if count < 4 { vec![line_of(&body, "READ")] } else { Vec::new() };
            assert_eq!(uninitialized(&body), expected, "{space} {count}");
        }
        let wide =
            body(&format!("st.{space}.u8 [{at}+3], 1;"), &format!("ld.{space}.u32 %r30, [{at}];"));
        assert_eq!(uninitialized(&wide), [line_of(&wide, "READ")]);
        let vector = body(&format!("st.{space}.v2.u64 [{at}], {{%rd1, %rd1}};"), &read);
        assert_eq!(uninitialized(&vector), [0; 0]);
    }
    // Three of the four matrices' rows are written.
    let rows = format!(
        "{TILE}setp.lt.u32 %p2, %r10, 24; @%p2 st.shared.v4.u32 [%r3], {{%r20, %r20, %r20, %r20}}; bar.sync 0;\n{} // READ",
        READS[3]
    );
    assert_eq!(uninitialized(&rows), [line_of(&rows, "READ")]);
    let three =
        rows.replace("x4.shared", "x2.shared").replace("%r30, %r31, %r32, %r33", "%r30, %r31");
    assert_eq!(uninitialized(&three), [0; 0]);
}

/// Launches the kernel of a file with `buffers` of 4 KiB that have ascending words. Returns the instructions of its
/// races: the earlier and the later one.
fn races(source: &str, threads: u32, buffers: usize) -> Vec<[String; 2]> {
    let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
    options.options.checks.races = Some(CheckedRaces::All);
    let ramp: Vec<u8> = (0..1024_u32).flat_map(u32::to_le_bytes).collect();
    let launched = launch(source, options, &vec![ramp; buffers]);
    assert!(launched.result.skipped.is_empty());
    let text = |line: u32| {
        let text = source.lines().nth(line as usize - 1).expect("a line");
        text.trim().split_once('[').expect("an access").0.to_owned()
    };
    let races = launched.result.faults.iter().map(|fault| match fault.kind {
        KernelFaultKind::Race { other, .. } => [text(other.at.line()), text(fault.line())],
        _ => panic!("{fault}"),
    });
    races.collect()
}

/// Asserts that all races of the bad kernel are between instructions that begin so, and that the good one has none.
fn assert_pair(bad: &str, good: &str, threads: u32, buffers: usize, instructions: [&str; 2]) {
    let found = races(bad, threads, buffers);
    assert!(!found.is_empty());
    for pair in found {
        let begin = |place: usize| pair[place].starts_with(instructions[place]);
        assert!(begin(0) && begin(1), "{pair:?}");
    }
    assert_eq!(races(good, threads, buffers), [[""; 2]; 0]);
}

macro_rules! pairs {
    ($($name:ident: $threads:literal threads, $buffers:literal buffers, $earlier:literal, $later:literal;)*) => {$(
        #[test]
        fn $name() {
            assert_pair(
                include_str!(concat!("../../machine/checks/", stringify!($name), ".bad.ptx")),
                include_str!(concat!("../../machine/checks/", stringify!($name), ".good.ptx")),
                $threads, $buffers, [$earlier, $later],
            );
        }
    )*};
}

pairs! {
    flag_in_shared_memory: 64 threads, 2 buffers, "st.shared", "ld.shared";
    halo: 64 threads, 2 buffers, "", "";
    mbarrier_count_too_small: 64 threads, 2 buffers, "st.shared", "ld.shared";
    mbarrier_wait: 64 threads, 2 buffers, "st.shared", "ld.shared";
    named_barrier_arrive_for_sync: 64 threads, 2 buffers, "st.shared", "ld.shared";
    named_barrier_two_pairs: 128 threads, 2 buffers, "", "";
    syncwarp_lane_not_in_mask: 32 threads, 2 buffers, "st.shared", "ld.shared";
    vote: 32 threads, 2 buffers, "st.shared", "ld.shared";
    wmma_store: 32 threads, 3 buffers, "wmma.store", "ld.shared";
    wmma_store_other_warp: 64 threads, 3 buffers, "wmma.store", "wmma.load";
}

#[test]
fn ldmatrix_takes_part_in_both_checks() {
    let source = include_str!("../../machine/checks/ldmatrix.ptx");
    let module = read(source).expect("a module");
    for (name, threads) in [("uninit", 32), ("race", 64), ("race_ld", 64)] {
        let mut memory = DeviceMemory::new();
        let out = memory.allocate(vec![0; 4096], AllocationUse::Argument(0)).expect("room");
        let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]).parameter(&out.to_le_bytes());
        options.options.checks = Checks::ALL;
        let kernel = Kernel::named(&module, name).expect("a kernel");
        let result = kernel.run(&options, &mut memory, None).expect("an end");
        let kinds: Vec<(&str, u64)> = result.fault_kinds().into_iter().collect();
        // One fault for each of the 32 rows, and one for each pair of instructions: the lanes that store what they have
        // read race with each other.
        let expected = if name == "uninit" { ("uninitialized", 32) } else { ("race", 2) };
        assert_eq!(kinds, [expected], "{name}");
    }
}

#[test]
fn buffers_by_rule() {
    let memory = DeviceMemory::new();
    let bytes = |text: &str, seed: u64| {
        Fill::parse(text).expect("a rule").expect(text).bytes(&memory, seed).expect("room")
    };
    let words = |text: &str| {
        let bytes = bytes(text, 0);
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<u32>>()
    };
    let floats = |text: &str| words(text).into_iter().map(f32::from_bits).collect::<Vec<f32>>();
    assert_eq!(bytes("zeros:3", 0), [0; 3]);
    assert_eq!(bytes("zeros:f64:2", 0), [0; 16]);
    assert_eq!(bytes("ones:u8:0x2", 0), [1; 2]);
    assert_eq!(floats("ones:f32:2"), [1.0; 2]);
    assert_eq!(words("iota:u32:3"), [0, 1, 2]);
    assert_eq!(floats("iota:f32:4"), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(bytes("iota:s8:258", 0)[254..], [254, 255, 0, 1]);
    assert_eq!(bytes("iota:f16:3", 0), [0, 0, 0, 0x3c, 0, 0x40]);
    assert_eq!(bytes("iota:bf16:2", 0), [0, 0, 0x80, 0x3f]);
    assert_eq!(bytes("iota:f64:2", 0)[8..], 1_f64.to_le_bytes());
    // The first number of SplitMix64 from 0 and from 1234567. [Vigna's reference implementation]
    assert_eq!(bytes("random:u64:1:0", 9), 0xe220_a839_7b1d_cdaf_u64.to_le_bytes());
    assert_eq!(bytes("random:u64:1", 1_234_567), 6_457_827_717_110_365_317_u64.to_le_bytes());
    assert_eq!(bytes("random:64:7", 0), bytes("random:b8:64:7", 1));
    assert_ne!(bytes("random:64", 0), bytes("random:64", 1));
    let random = floats("random:f32:1000:3");
    assert!(random.iter().all(|value| (-1.0..1.0).contains(value)));
    let sum: f32 = random.iter().sum();
    assert!(sum.abs() < 60.0 && random.iter().any(|value| *value < -0.9), "{sum}");
    let error = |text: &str| Fill::parse(text).expect("a rule").expect_err(text).to_string();
    assert_eq!(Fill::parse("1.5:2"), None);
    assert_eq!(Fill::parse("zeros"), None);
    assert_eq!(error("ones:4"), "`ones` needs a type: `ones:f32:4`");
    assert_eq!(error("iota:4096"), "`iota` needs a type: `iota:f32:4096`");
    assert_eq!(error("random:f32"), "`f32` is no number of elements");
    assert_eq!(error("random:"), "`` is no number of elements");
    assert_eq!(error("random:f32:x"), "`x` is no number of elements");
    assert!(matches!(Fill::parse("iota:f31:4"), Some(Err(FillError::Type(name))) if name == "f31"));
    assert!(error("zeros:f32:4:1").contains("only `random`"));
    assert!(error("random:f32:4:x").contains("`x` is unexpected"));
    let huge = Fill::parse("random:f64:0xffffffffffffffff").expect("a rule").expect("a number");
    let text = huge.bytes(&memory, 0).expect_err("too much").to_string();
    assert_eq!(text, "18446744073709551615 bytes: a launch has at most 16 GiB of memory");
}

/// [PTX ISA, `bar`, `shfl.sync`, `mbarrier.init`, `mma`]
#[test]
fn undefined_synchronization_is_reported() {
    let matrix =
        ".shared .align 16 .b8 m[128]; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [m];";
    let product =
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2,%r3}, {%r4}, {%r5}, {%r6,%r7};";
    let init = ".shared .align 8 .b64 bar; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [bar], 1;";
    let half = "and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, 16; @!%p1 bra end;";
    for (body, kind) in [
        ("bar.sync 1, 33;".to_owned(), "barrier"),
        ("bar.sync 1, 64;".to_owned(), ""),
        ("mov.u32 %r1, 16; barrier.sync %r1;".to_owned(), "barrier"),
        // The upper half of each warp ends without the barrier.
        (format!("{half} bar.sync 0; end:"), "barrier"),
        (format!("{half} barrier.sync 0; end:"), ""),
        ("bar.warp.sync 0xffff;".to_owned(), "membermask"),
        (format!("{half} bar.warp.sync 0xffff; end:"), ""),
        (format!("{half} vote.sync.ballot.b32 %r2, %p1, 0xff; end:"), "membermask"),
        // Lanes above 15 do not execute the shuffle.
        (format!("{half} shfl.sync.idx.b32 %r2, %r0, 20, 31, 0xffffffff; end:"), ""),
        (
            format!(
                "{half} shfl.sync.idx.b32 %r2, %r0, 20, 31, 0xffff; st.global.u32 [%rd2], %r2; end:"
            ),
            "undefined_shuffle",
        ),
        (
            format!(
                "{half} shfl.sync.idx.b32 %r2, %r0, 12, 31, 0xffff; st.global.u32 [%rd2], %r2; end:"
            ),
            "",
        ),
        // A whole warp executes the instruction, a half of each, a warp whose upper half has ended, and both halves apart.
        (format!("setp.lt.u32 %p1, %r0, 32; @%p1 bra end; {matrix} end:"), ""),
        (format!("{half} {matrix} end:"), "part_of_warp"),
        (
            format!("and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, 16; @!%p1 exit; {matrix}"),
            "part_of_warp",
        ),
        (format!("{half} {product} bra done; end: {product} done:"), "part_of_warp"),
        (format!("and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, 16; @%p1 {product}"), "part_of_warp"),
        (product.to_owned(), ""),
        // The lanes of a warp name two barriers, or two counts.
        ("and.b32 %r1, %r0, 1; bar.sync %r1, 32;".to_owned(), "barrier hang"),
        ("and.b32 %r1, %r0, 1; barrier.sync %r1, 32;".to_owned(), ""),
        (
            "setp.lt.u32 %p1, %r0, 5; selp.u32 %r1, 64, 32, %p1; bar.sync 1, %r1;".to_owned(),
            "barrier",
        ),
        (
            "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 0; @!%p1 bar.red.popc.u32 %r3, 0, %p1;"
                .to_owned(),
            "barrier",
        ),
        (format!("{init} @%p1 mbarrier.init.shared.b64 [bar], 1;"), "mbarrier"),
        (
            format!(
                "{init} @%p1 mbarrier.inval.shared.b64 [bar]; @%p1 mbarrier.init.shared.b64 [bar], 1;"
            ),
            "",
        ),
    ] {
        let mut options = KernelLaunch::new([1; 3], [64, 1, 1]);
        options.options.checks = Checks { sync: true, ..Checks::default() };
        let result = launch(&module(&body), options, &[vec![0; 4096]]).result;
        let kinds: Vec<&str> = result.fault_kinds().into_keys().collect();
        let expected: Vec<&str> = kind.split_whitespace().collect();
        assert_eq!(kinds, expected, "{body}");
    }
}

/// Of the races of two instructions, one between the threads that are furthest apart is shown, at the instruction of the
/// first one.
#[test]
fn the_widest_race_of_a_pair_is_shown() {
    let body = ".shared .align 4 .b8 s[512];---mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 4, %r1;
st.shared.u32 [%r1], %r0; // EARLIER\nld.shared.u32 %r2, [%r1+4]; // LATER";
    let result = checked(body, 64, true, false).result;
    let [fault] = &result.faults[..] else { panic!("{:?}", result.faults) };
    let (earlier, later) = (line_of(body, "EARLIER"), line_of(body, "LATER"));
    assert_eq!((fault.line(), fault.thread), (later, [31, 0, 0]));
    let expected = format!(
        "race: `s` + 128 (0xfe000080) is also written by thread (32, 0, 0) in line {earlier}; nothing orders the two \
         warps of a block: expected a barrier (`__syncthreads`); 63 times"
    );
    assert_eq!(fault.to_string(), expected);
    let one_warp = checked(body, 32, true, false).result.faults[0].to_string();
    assert!(one_warp.contains("`bar.warp.sync`"), "{one_warp}");
}

#[test]
fn an_update_that_races_with_itself_may_need_an_atomic_operation() {
    let update = "ld.shared.u32 %r1, [s]; add.u32 %r1, %r1, 1; st.shared.u32 [s], %r1;";
    let read = "@%p1 st.shared.u32 [s], 1; ld.shared.u32 %r1, [s];";
    for (body, is_update) in [(update, true), (read, false)] {
        let body = format!(".shared .u32 s;---setp.eq.u32 %p1, %r0, 0; {body}");
        let faults = checked(&body, 64, true, false).result.faults;
        assert!(!faults.is_empty());
        for fault in faults {
            let text = fault.to_string();
            let hint = ", or, if threads update one value, an atomic operation";
            assert_eq!(text.contains(hint), is_update, "{text}");
        }
    }
}

#[test]
fn a_copy_needs_a_wait_and_a_barrier() {
    let body = ".shared .align 16 .b8 s[1024];---mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 4, %r1;
        cp.async.ca.shared.global [%r1], [%rd2], 4; cp.async.wait_all;\nxor.b32 %r3, %r0, 63; mov.u32 %r1, s;
        mad.lo.u32 %r3, %r3, 4, %r1;\nld.shared.u32 %r2, [%r3];";
    let text = checked(body, 64, true, false).result.faults[0].to_string();
    let expected = "expected the thread that copies to wait (`cp.async.wait_group`, or its mbarrier), then a barrier; and a \
        barrier before a copy over what others read";
    assert!(text.contains(expected), "{text}");
    assert!(
        checked(&body.replace(";\nxor", "; bar.sync 0;\nxor"), 64, true, false)
            .result
            .faults
            .is_empty()
    );
}

/// The faults of `--check sync` name a thread that executes the instruction, and both of two barriers.
#[test]
fn barriers_of_a_part_of_a_warp_are_explained() {
    let faults = |body: &str, sync: bool| {
        let mut options = KernelLaunch::new([1; 3], [64, 1, 1]);
        options.options.checks = Checks { sync, ..Checks::default() };
        launch(&module(body), options, &[vec![0; 4096]]).result.faults
    };
    let half = "and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, 16;";
    let upper = faults(&format!("{half} @%p1 bra end; bar.sync 0; end:"), true);
    assert_eq!(
        upper.iter().map(|fault| fault.thread).collect::<Vec<_>>(),
        [[16, 0, 0], [48, 0, 0]]
    );
    let arms = format!(
        "{half} @%p1 bra low;\nbar.sync 0; // ONE\nbra end;\nlow: bar.sync 0; // TWO\nend:"
    );
    let (one, two) = (line_of(&arms, "ONE"), line_of(&arms, "TWO"));
    let lines = |line: u32| if line == one { two } else { one };
    for sync in [true, false] {
        let found = faults(&arms, sync);
        let kinds: Vec<&str> = found.iter().map(|fault| fault.kind.name()).collect();
        let expected: &[&str] = &["barrier", "barrier", "hang", "hang"];
        assert_eq!(kinds, expected[if sync { 0 } else { 2 }..]);
        for fault in found {
            let other = lines(fault.line());
            assert_eq!(fault.kind.other().map(|line| line.at.line()), Some(other));
            let expected = match fault.kind.name() {
                "barrier" => format!(
                    "barrier: other threads of the warp are at another one, in line {other}: all threads of a warp must \
                     execute one `bar` or `.aligned` together"
                ),
                _ => format!(
                    "threads of one warp are at two barrier instructions, this one and that in line {other}"
                ),
            };
            assert!(fault.to_string().ends_with(&expected), "{fault}");
        }
    }
}
