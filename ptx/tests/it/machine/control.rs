//! Divergence and reconvergence, calls, barriers, locks.

use super::run;

#[test]
fn lanes_that_diverge_rejoin() {
    // After each `if`, all lanes vote together.
    let out = run(
        "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 5;
        @%p1 bra even; mov.u32 %r2, 7; and.b32 %r3, %r0, 2; setp.ne.u32 %p2, %r3, 0;
        @%p2 bra inner; add.u32 %r2, %r2, 100;
        inner: add.u32 %r2, %r2, 1000;
        even: activemask.b32 %r4; setp.ne.u32 %p3, %r4, 0xffffffff;
        @%p3 mov.u32 %r2, 0;
        st.global.u32 [%rd2], %r2;",
        32,
    );
    let expected = (0..32_u32).map(|lane| match lane & 3 {
        1 => 1107,
        3 => 1007,
        _ => 5,
    });
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn loops_of_different_lengths_rejoin() {
    let out = run(
        "mov.u32 %r1, 0; mov.u32 %r2, 0;
        again: setp.ge.u32 %p1, %r1, %r0; @%p1 bra done;
        add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; bra again;
        done: activemask.b32 %r3; popc.b32 %r4, %r3; mad.lo.u32 %r2, %r4, 10000, %r2;
        st.global.u32 [%rd2], %r2;",
        32,
    );
    let sums = (0..32_u32).map(|lane| 320_000 + lane * lane.saturating_sub(1) / 2);
    assert_eq!(out, sums.collect::<Vec<_>>());
}

#[test]
fn a_branch_table_goes_to_the_target_of_each_lane() {
    let out = run(
        "and.b32 %r1, %r0, 3;
        table: .branchtargets zero, one, two, one;
        brx.idx %r1, table;
        zero: mov.u32 %r2, 10; bra.uni end;
        one: mov.u32 %r2, 11; bra.uni end;
        two: mov.u32 %r2, 12;
        end: activemask.b32 %r3; sub.u32 %r3, %r3, 0xffffffff; add.u32 %r2, %r2, %r3;
        st.global.u32 [%rd2], %r2;",
        32,
    );
    assert_eq!(out[..8], [10, 11, 12, 11, 10, 11, 12, 11]);
}

#[test]
fn functions_are_called_by_name_by_address_and_by_themselves() {
    let out = run(
        ".func (.reg .u32 s) factorial (.reg .u32 n) {
            .reg .pred p; .reg .u32 m, t;
            mov.u32 s, 1; setp.lt.u32 p, n, 2; @p ret;
            sub.u32 m, n, 1; call (t), factorial, (m); mul.lo.u32 s, t, n; ret;
        }
        .func (.param .b32 s) twice (.param .b32 n) {
            .reg .u32 t; ld.param.u32 t, [n]; shl.b32 t, t, 1; st.param.b32 [s], t; ret;
        }
        .func (.param .b32 s) thrice (.param .b32 n) {
            .reg .u32 t; ld.param.u32 t, [n]; mul.lo.u32 t, t, 3; st.param.b32 [s], t; ret;
        }
        .global .u64 functions[2] = {twice, thrice};
        ---
        and.b32 %r1, %r0, 7; call (%r2), factorial, (%r1);
        mov.u64 %rd3, functions; and.b32 %r3, %r0, 1; mul.wide.u32 %rd4, %r3, 8;
        add.u64 %rd3, %rd3, %rd4; ld.global.u64 %rd5, [%rd3];
        { .param .b32 s; .param .b32 n; st.param.b32 [n], %r2;
          prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
          call (s), %rd5, (n), prototype; ld.param.b32 %r4, [s]; }
        activemask.b32 %r5; sub.u32 %r5, %r5, 0xffffffff; add.u32 %r4, %r4, %r5;
        st.global.u32 [%rd2], %r4;",
        32,
    );
    let factorial = |n: u32| (1..=n).product::<u32>();
    let expected = (0..32_u32).map(|lane| factorial(lane & 7) * (2 + (lane & 1)));
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn a_lock_that_one_lane_holds_opens_for_the_others_of_its_warp() {
    let out = run(
        ".global .u32 lock; .global .u32 count;
        ---
        again: atom.global.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
        ld.volatile.global.u32 %r2, [count]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [count], %r2;
        membar.gl; atom.global.exch.b32 %r3, [lock], 0;
        bar.sync 0;
        ld.global.u32 %r4, [count]; st.global.u32 [%rd2], %r4;",
        96,
    );
    assert_eq!(out, vec![96; 96]);
}

#[test]
fn a_barrier_does_not_wait_for_threads_that_have_ended_or_will() {
    // Lanes that skip the barrier wait at the end for those that do not, which wait for them.
    let out = run(
        "setp.ge.u32 %p1, %r0, 20; @%p1 bra end; bar.sync 0; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1;
        end:",
        64,
    );
    assert_eq!(out.iter().sum::<u32>(), 20);
    let out = run(
        "setp.ge.u32 %p1, %r0, 40; @%p1 exit; bar.sync 0; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1;",
        64,
    );
    assert_eq!(out.iter().sum::<u32>(), 40);
}

#[test]
fn barriers_reduce_and_count() {
    let out = run(
        "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 1, %p1;
        bar.red.and.pred %p2, 2, %p1; bar.red.or.pred %p3, 2, %p1;
        selp.u32 %r2, 100, 0, %p2; selp.u32 %r3, 1000, 0, %p3; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
        st.global.u32 [%rd2], %r1;",
        64,
    );
    assert_eq!(out, vec![1040; 64]);
    // The second warp arrives and goes on; the first one waits for both.
    let out = run(
        ".shared .u32 s;
        ---
        setp.ge.u32 %p1, %r0, 32; @%p1 bra producer;
        bar.sync 1, 64; ld.shared.u32 %r1, [s]; bra.uni end;
        producer: mov.u32 %r1, 7; st.shared.u32 [s], %r1; bar.arrive 1, 64;
        end: st.global.u32 [%rd2], %r1;",
        64,
    );
    assert_eq!(out, vec![7; 64]);
}

#[test]
fn lanes_exchange_values() {
    let out = run(
        "shfl.sync.down.b32 %r1|%p1, %r0, 3, 0x1f, 0xffffffff; selp.u32 %r1, %r1, 99, %p1;
        shfl.sync.bfly.b32 %r2, %r0, 5, 0x1f, 0xffffffff; mad.lo.u32 %r1, %r2, 100, %r1;
        st.global.u32 [%rd2], %r1;",
        32,
    );
    let down = |lane: u32| if lane + 3 < 32 { lane + 3 } else { 99 };
    assert_eq!(out, (0..32).map(|lane| (lane ^ 5) * 100 + down(lane)).collect::<Vec<_>>());
    let out = run(
        "shr.u32 %r1, %r0, 2; match.any.sync.b32 %r2, %r1, 0xffffffff;
        match.all.sync.b32 %r3|%p1, %r1, 0xffffffff; @%p1 mov.u32 %r2, 0;
        redux.sync.max.u32 %r4, %r1, 0xffffffff; add.u32 %r2, %r2, %r4;
        st.global.u32 [%rd2], %r2;",
        32,
    );
    let groups = (0..32_u32).map(|lane| (0xf_u32 << (lane / 4 * 4)).wrapping_add(7));
    assert_eq!(out, groups.collect::<Vec<_>>());
}

#[test]
fn lanes_of_different_branches_meet_at_a_mask() {
    // Each half shuffles in its own branch; both name all lanes of their half.
    let out = run(
        "setp.lt.u32 %p1, %r0, 16; @%p1 bra low;
        shfl.sync.idx.b32 %r1, %r0, 16, 0x1f, 0xffff0000; bra.uni end;
        low: shfl.sync.idx.b32 %r1, %r0, 3, 0x1f, 0x0000ffff;
        end: bar.warp.sync 0xffffffff; st.global.u32 [%rd2], %r1;",
        32,
    );
    let expected = (0..32).map(|lane| if lane < 16 { 3 } else { 16 });
    assert_eq!(out, expected.collect::<Vec<_>>());
}

/// As on an H100: lanes exchange values although each half is at an instruction of its own.
#[test]
fn lanes_exchange_from_two_instructions() {
    let in_two_arms = |low: &str, high: &str| {
        run(
            &format!(
                "setp.lt.u32 %p1, %r0, 16; and.b32 %r3, %r0, 3; setp.eq.u32 %p2, %r3, 0;
                add.u32 %r4, %r0, 100; @%p1 bra low;
                {high}; bra.uni end; low: {low}; end: st.global.u32 [%rd2], %r1;"
            ),
            32,
        )
    };
    let ballot = "vote.sync.ballot.b32 %r1, %p2, -1";
    assert_eq!(in_two_arms(ballot, ballot), vec![0x1111_1111; 32]);
    let swap = |source| format!("shfl.sync.bfly.b32 %r1, {source}, 16, 31, -1");
    let swapped = (0..32).map(|lane| if lane < 16 { lane + 116 } else { lane - 16 });
    assert_eq!(in_two_arms(&swap("%r0"), &swap("%r4")), swapped.collect::<Vec<u32>>());
    // Each half's source is the other's result.
    let sum = "redux.sync.add.u32 %r1, %r3, -1";
    assert_eq!(
        in_two_arms(sum, "mov.u32 %r1, 2; redux.sync.add.u32 %r1, %r1, -1"),
        vec![24 + 32; 32]
    );
}

#[test]
fn warps_wait_for_each_other_at_an_mbarrier() {
    // The first warp waits for the phase that the second one completes.
    let out = run(
        ".shared .align 8 .b64 barrier;
        ---
        setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [barrier], 32; bar.sync 0;
        mov.u32 %r1, 0; setp.ge.u32 %p2, %r0, 32; @%p2 bra producer;
        wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [barrier], 0; @!%p3 bra wait;
        mov.u32 %r1, 1; bra.uni end;
        producer: mbarrier.arrive.shared::cta.b64 %rd3, [barrier]; mov.u32 %r1, 1;
        end: st.global.u32 [%rd2], %r1;",
        64,
    );
    assert_eq!(out, vec![1; 64]);
}

#[test]
fn warps_wait_for_each_other_at_a_flag() {
    let out = run(
        ".global .u32 flag;
        ---
        setp.ge.u32 %p1, %r0, 32; @%p1 bra second;
        again: ld.acquire.gpu.global.u32 %r1, [flag]; setp.eq.u32 %p2, %r1, 0; @%p2 bra again; bra.uni end;
        second: mov.u32 %r1, 9; st.release.gpu.global.u32 [flag], %r1;
        end: st.global.u32 [%rd2], %r1;",
        64,
    );
    assert_eq!(out, vec![9; 64]);
}

#[test]
fn a_reduction_at_a_barrier_has_a_result_if_the_last_thread_ends() {
    // Warp 1 ends, and with it the barrier's waiting.
    let out = run(
        "setp.ge.u32 %p1, %r0, 32; @%p1 bra end;
        setp.lt.u32 %p2, %r0, 7; bar.red.popc.u32 %r2, 0, %p2; bar.red.and.pred %p3, 0, %p2;
        selp.u32 %r3, 100, 0, %p3; add.u32 %r2, %r2, %r3; st.global.u32 [%rd2], %r2;
        end: ret;",
        64,
    );
    assert_eq!(out, [[7; 32], [0; 32]].concat());
}

#[test]
fn warps_go_in_order_behind_a_barrier() {
    // Each warp takes a number behind the barrier.
    let out = run(
        ".shared .u32 next; --- mov.u32 %r3, 0; setp.ne.u32 %p1, %r0, 0; @!%p1 st.shared.u32 [next], 0; bar.sync 0;
        and.b32 %r1, %r0, 31; setp.eq.u32 %p2, %r1, 0; @%p2 atom.shared.add.u32 %r3, [next], 1;
        bar.sync 0; @%p2 atom.shared.add.u32 %r3, [next], 1; st.global.u32 [%rd2], %r3;",
        128,
    );
    assert_eq!([0, 32, 64, 96].map(|thread| out[thread]), [4, 5, 6, 7]);
}
