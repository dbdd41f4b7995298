//! Broken kernels: each is reported with the line that a person would blame.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use super::{Launched, launch, module};
use warpload_ptx::launch::{
    AllocationUse, CheckedRaces, DeviceMemory, Kernel, KernelError, KernelFault, KernelFaultKind,
    KernelLaunch, LaunchWatch, MemoryAccess,
};
use warpload_ptx::read;

/// Launches a body with 64 threads and a buffer of 256 bytes, and with all checks.
fn broken(body: &str) -> Launched {
    let mut options = KernelLaunch::new([1; 3], [64, 1, 1]);
    options.options.checks.uninitialized = true;
    options.options.checks.races = Some(CheckedRaces::All);
    options.options.steps = 100_000;
    launch(&module(body), options, &[vec![0; 256]])
}

/// The first fault, which is in the line with the comment `BLAME`.
fn blamed(body: &str) -> KernelFault {
    let launched = broken(body);
    let fault = launched.result.faults.first().expect("a fault").clone();
    let source = module(body);
    let line = source.lines().position(|line| line.contains("BLAME")).expect("a line to blame");
    assert_eq!(fault.line() as usize, line + 1, "{fault}");
    fault
}

#[test]
fn off_by_one() {
    let fault = blamed("\n st.global.u32 [%rd2+4], %r0; // BLAME");
    assert_eq!(fault.to_string(), "out of bounds: 0x80000100 is the end of argument 0 (`out`)");
    assert_eq!((fault.thread, fault.lane), ([63, 0, 0], 31));
    let fault = blamed("\n add.u64 %rd2, %rd2, 12;\n ld.global.u32 %r1, [%rd2]; // BLAME");
    assert_eq!(fault.thread, [61, 0, 0]);
    assert_eq!(fault.to_string(), "out of bounds: 0x80000100 is the end of argument 0 (`out`)");
    let fault = blamed("\n ld.global.u32 %r1, [%rd2+-8]; // BLAME");
    assert_eq!(fault.to_string(), "out of bounds: 0x7ffffff8 is 8 bytes before argument 0 (`out`)");
}

const TILE: &str = ".shared .align 4 .b32 s[64];\n---
    mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; xor.b32 %r4, %r2, 252; add.u32 %r4, %r1, %r4;";

#[test]
fn missing_barrier() {
    let fault = blamed(&format!(
        "{TILE}\n st.shared.u32 [%r3], %r0;\n ld.shared.u32 %r5, [%r4]; // BLAME\n st.global.u32 [%rd2], %r5;"
    ));
    // The first warp reads what the second one has not written yet.
    assert_eq!(fault.kind, KernelFaultKind::Uninitialized);
    let mended = broken(&format!(
        "{TILE}\n st.shared.u32 [%r3], %r0; bar.sync 0;\n ld.shared.u32 %r5, [%r4];\n st.global.u32 [%rd2], %r5;"
    ));
    assert!(mended.result.faults.is_empty());
}

#[test]
fn race() {
    // The first warp has written, in the line that the message names, what the second one reads.
    let fault = blamed(&format!(
        "{TILE}\n st.shared.u32 [%r3], %r0; bar.sync 0;\n ld.shared.u32 %r5, [%r4]; // BLAME\n add.u32 %r5, %r5, 1;
        st.shared.u32 [%r3], %r5;"
    ));
    let KernelFaultKind::Race { other, .. } = fault.kind else { panic!("{fault}") };
    assert_eq!(other.at.line(), fault.line() + 2);
    // A barrier between, and atomic operations, are no race.
    let mended = broken(&format!(
        "{TILE}\n st.shared.u32 [%r3], %r0; bar.sync 0;\n ld.shared.u32 %r5, [%r4]; bar.sync 0;
        st.shared.u32 [%r3], %r5; bar.sync 0; atom.shared.add.u32 %r6, [s], 1;"
    ));
    assert!(mended.result.faults.is_empty());
}

#[test]
fn misaligned_vector_load() {
    let fault = blamed("\n ld.global.v2.u32 {%r1, %r2}, [%rd2]; // BLAME");
    assert_eq!(
        fault.to_string(),
        "misaligned: argument 0 `out` + 4 (0x80000004) is not a multiple of 8"
    );
}

#[test]
fn uninitialized_shared_memory() {
    let fault = blamed(&format!("{TILE}\n ld.shared.u32 %r5, [%r3]; // BLAME"));
    assert_eq!(
        fault.to_string(),
        "uninitialized: nothing has written the bytes at `s` (0xfe000000)"
    );
}

#[test]
fn wrong_stride() {
    let fault = blamed(
        "\n mul.wide.u32 %rd3, %r0, 8; add.u64 %rd3, %rd1, %rd3;\n st.global.u32 [%rd3], %r0; // BLAME",
    );
    assert_eq!(fault.thread, [32, 0, 0]);
}

#[test]
fn use_of_a_local_that_is_gone() {
    let fault = blamed(
        ".func (.param .b64 p) local_address () {
            .local .align 8 .b8 depot[16]; .reg .b64 %a;
            mov.u64 %a, depot; cvta.local.u64 %a, %a; st.param.b64 [p], %a; ret; }
        ---
        { .param .b64 p; call (p), local_address; ld.param.b64 %rd3, [p]; }
        ld.u32 %r1, [%rd3+8]; // BLAME",
    );
    assert!(matches!(fault.kind, KernelFaultKind::OutOfBounds | KernelFaultKind::Uninitialized));
}

#[test]
fn endless_loop() {
    let source = module(
        "\n mov.u32 %r1, 0;\n again: add.u32 %r1, %r1, 0;\n setp.lt.u32 %p1, %r1, 9;\n @%p1 bra again;",
    );
    let module = read(&source).expect("a module");
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 256], AllocationUse::Argument(0)).expect("room");
    let mut options = KernelLaunch::new([1; 3], [64, 1, 1]).parameter(&address.to_le_bytes());
    options.options.steps = 1000;
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let error = kernel.run(&options, &mut memory, None).expect_err("a limit");
    let KernelError::Steps { line, text, result, .. } = error else { panic!("{error}") };
    assert_eq!(text, "@%p1 bra again");
    assert_eq!(result.counts.blocks, 1);
    assert!(result.counts.warp_instructions >= 1000);
    let blamed = source.lines().position(|line| line.contains("bra again")).expect("a jump");
    assert_eq!(line as usize, blamed + 1);
}

#[test]
fn wrong_block_size() {
    // Written for 128 threads: the rest of the tile stays as it was.
    let fault = blamed(
        ".shared .align 4 .b32 s[128];\n---
        mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0; bar.sync 0;
        ld.shared.u32 %r4, [%r3+256]; // BLAME",
    );
    assert_eq!(fault.kind, KernelFaultKind::Uninitialized);
}

#[test]
fn null_pointer() {
    let fault = blamed("\n mov.u64 %rd3, 0;\n ld.global.u32 %r1, [%rd3+4]; // BLAME");
    assert_eq!(fault.to_string(), "out of bounds: 0x4; a null pointer?");
}

#[test]
fn threads_that_wait_at_different_barriers() {
    let fault = blamed(
        "setp.lt.u32 %p1, %r0, 32; @%p1 bra low;\n bar.sync 1; // BLAME\n bra.uni end; low: bar.sync 2;\n end:",
    );
    let expected = "hang: 32 threads wait forever: 32 of 64 threads have arrived at barrier 1, not all of warp 0";
    assert_eq!((fault.to_string().as_str(), fault.thread), (expected, [32, 0, 0]));
}

/// Both warps wait at two places, where an H100 hangs.
#[test]
fn lanes_of_a_warp_wait_at_one_aligned_barrier() {
    for (barrier, is_aligned) in
        [("bar.sync 0", true), ("barrier.sync.aligned 0", true), ("barrier.sync 0", false)]
    {
        let in_two_arms = format!(
            "\n and.b32 %r1, %r0, 16; setp.eq.u32 %p1, %r1, 0; @%p1 bra low;
            {barrier}; bra.uni end; low: {barrier}; end:",
        );
        let faults = broken(&in_two_arms).result.faults;
        let kinds: Vec<_> = faults.iter().map(|fault| fault.kind.name()).collect();
        let expected = if is_aligned { vec!["hang"; 2] } else { vec![] };
        assert_eq!(kinds, expected, "{barrier}");
    }
}

/// Lanes of a warp that arrive apart do not become an arrival: neither when they end, nor when other warps suffice, nor
/// in either order of an aligned and an unaligned barrier.
#[test]
fn a_warp_that_arrives_in_parts_never_arrives() {
    let split = "and.b32 %r1, %r0, 16; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r0, 32;";
    let parts = [
        format!(
            "{split} @!%p2 bra wait; @%p1 bra low; wait: bar.sync 1, 64; ret; low: bar.arrive 1, 64; ret;"
        ),
        format!("{split} @%p1 bra low; barrier.sync 0; bra.uni end; low: bar.sync 0; end:"),
        format!("{split} @%p1 bra low; bar.sync 0; bra.uni end; low: barrier.sync 0; end:"),
    ];
    for body in parts {
        let faults = broken(&format!("\n {body}")).result.faults;
        assert_eq!(faults[0].kind.name(), "hang", "{body}");
    }
    let mut options = KernelLaunch::new([1; 3], [96, 1, 1]);
    options.options.steps = 100_000;
    let body = format!(
        "{split} and.pred %p1, %p1, %p2; @%p1 bra low; bar.sync 1, 64; bra.uni end; low: bar.sync 1, 64; end:"
    );
    let faults = launch(&module(&format!("\n {body}")), options, &[vec![0; 384]]).result.faults;
    let threads: BTreeSet<u32> = faults.iter().map(|fault| fault.thread[0]).collect();
    assert_eq!(threads, [0, 16].into());
}

#[test]
fn a_value_that_is_not_known_is_named_where_it_began() {
    let launched = broken(
        "\n tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
        cvt.rzi.s32.f32 %r1, %f1; add.s32 %r1, %r1, 1; st.global.u32 [%rd2], %r1;
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra end; // BLAME
        end:",
    );
    let fault = &launched.result.faults[0];
    assert!(fault.to_string().contains("`tex.2d.v4.f32.f32"), "{fault}");
    assert_eq!(launched.result.skipped.len(), 1);
    let launched = broken("\n setp.eq.s32 %p1, %r77, 0; @%p1 bra end; end:");
    let fault = &launched.result.faults[0];
    assert_eq!(fault.to_string(), "a guard is not known: nothing has written `%r77`");
}

#[test]
fn a_launch_ends_when_a_flag_is_set() {
    let source = module("\n again: bra again;");
    let module = read(&source).expect("a module");
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 256], AllocationUse::Argument(0)).expect("room");
    let launch = KernelLaunch::new([1; 3], [64, 1, 1]).parameter(&address.to_le_bytes());
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let watch = LaunchWatch::new();
    watch.interrupt.store(true, Ordering::Relaxed);
    let ended = kernel.run_watched(&launch, &mut memory, None, Some(&watch));
    assert_eq!(ended.err(), Some(KernelError::Interrupted));
}

/// A kernel without a loop has no endless one: the limit is the grid's. The faults so far are not lost.
#[test]
fn the_limit_of_many_blocks_names_no_loop() {
    let source = module("\n st.global.u32 [%rd2+65536], %r0;");
    let module = read(&source).expect("a module");
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 256], AllocationUse::Argument(0)).expect("room");
    let mut launch = KernelLaunch::new([100_000, 1, 1], [32, 1, 1]);
    launch = launch.parameter(&address.to_le_bytes());
    launch.options.steps = 1000;
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let error = kernel.run(&launch, &mut memory, None).expect_err("a limit");
    let message = error.to_string();
    assert!(
        message.contains(" of 100000 blocks, and the launch has not ended; it is at `"),
        "{message}"
    );
    let KernelError::Steps { is_jump: false, result, blocks: 100_000, .. } = error else {
        panic!("{message}");
    };
    assert!((50..200).contains(&result.counts.blocks), "{message}");
    assert!(result.fault_count >= 32 * (result.counts.blocks - 1), "{message}");
}

/// The stores that a launch still executes after it was told to end at the first one.
fn stores_after_the_end(source: &str, grid: u32) -> u64 {
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 256], AllocationUse::Argument(0)).expect("room");
    let mut launch = KernelLaunch::new([grid, 1, 1], [32, 1, 1]).parameter(&address.to_le_bytes());
    launch.options.steps = 1 << 20;
    let kernel = Kernel::named(&module, "k").expect("a kernel");
    let watch = LaunchWatch::new();
    let mut stores = 0;
    let mut observer = |access: &MemoryAccess<'_>| {
        if access.kind == warpload_ptx::launch::AccessKind::Store {
            watch.interrupt.store(true, Ordering::Relaxed);
            stores += 1;
        }
    };
    let ended = kernel.run_watched(&launch, &mut memory, Some(&mut observer), Some(&watch));
    assert_eq!(ended.err(), Some(KernelError::Interrupted), "{source}");
    stores
}

/// An instruction may copy megabytes, so the end of a launch is looked for after an amount of work rather than of
/// instructions.
#[test]
fn a_launch_ends_after_little_work() {
    let loops = module("\n again: st.global.u32 [%rd2], %r0; bra again;");
    let of_loop = stores_after_the_end(&loops, 1);
    assert!((2..=1 << 12).contains(&of_loop), "{of_loop}");
    let calls = module(
        ".func f (.param .b8 a[200000]) { ret; }
        ---
        .param .b8 q[200000];
        again: st.global.u32 [%rd2], %r0; call f, (q); bra again;",
    );
    assert!(stores_after_the_end(&calls, 1) <= 3);
    // Each block clears the local memory of its warps.
    let frames = module("\n .local .align 8 .b8 big[400000]; st.global.u32 [%rd2], %r0;");
    assert!(stores_after_the_end(&frames, 100_000) <= 3);
}

#[test]
fn instructions_of_no_sense_are_not_executed() {
    // Registers of other widths, lists of other lengths: none of them is PTX, and none may panic.
    for instruction in [
        "mov.u64 %rd4, {%rd5};",
        "mov.b64 %rd4, {%r1, %r2, %r3};",
        "mov.b64 %rd4, {%rd1, %rd2};",
        "mov.pred {%r1, %r2}, %r3;",
        "mov.b128 %h1, %h2;",
        "mov.b128 {%rd1, %rd2}, %rd3;",
        "mov.b128 %rd1, {%rd2, %rd3};",
        "st.global.v4.b64 [%rd1], {%rd1, %rd2, %rd3, %rd4, %rd5, %rd6, %rd7, %rd8};",
        "ld.global.v2.b32 {%r1, %r2, %r3, %r4}, [%rd1];",
        "atom.global.exch.v2.b32 {%r1, %r2}, [%rd1], {%r3, %r4};",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s32.s32.s32 {%r1, %r2}, {%r1}, {%r1}, {%r1, %r2};",
        "redux.sync.add.f32 %r1, %r2, 0xffffffff;",
    ] {
        let source = super::module(instruction);
        let grid = KernelLaunch::new([1; 3], [32, 1, 1]);
        let launched = super::launch(&source, grid, &[vec![0; 4096]]);
        assert_eq!(launched.result.skipped.len(), 1, "{instruction}");
    }
}
