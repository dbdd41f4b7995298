//! Launches that a GPU refuses, launches with clusters, and launches that a thread ends.

use super::{launch, module, run};
use warpload_ptx::launch::{
    AllocationUse, CheckedRaces, DeviceMemory, Kernel, KernelError, KernelFaultKind, KernelLaunch,
    KernelResult,
};
use warpload_ptx::read;

/// Launches a kernel with one buffer of 256 bytes.
fn started(
    source: &str,
    name: Option<&str>,
    grid: [u32; 3],
    block: [u32; 3],
) -> Result<KernelResult, KernelError> {
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let buffer = memory.allocate(vec![0; 256], AllocationUse::Argument(0)).expect("room");
    let launch = KernelLaunch::new(grid, block).parameter(&buffer.to_le_bytes());
    Kernel::chosen(&module, name).expect("a kernel").run(&launch, &mut memory, None)
}

/// A kernel with directives and a body.
fn kernel(directives: &str, body: &str) -> String {
    module(body).replace("(.param .u64 out) {", &format!("(.param .u64 out)\n{directives} {{"))
}

/// The message of a launch that is refused.
fn refusal(source: &str, grid: [u32; 3], block: [u32; 3]) -> String {
    started(source, None, grid, block).expect_err("refused").to_string()
}

/// PTX ISA, "Performance-Tuning Directives": a launch with other sizes than `.reqntid`, or with more threads than
/// `.maxntid`, fails.
#[test]
fn directives_limit_blocks() {
    let required = kernel(".reqntid 128 .maxnreg 32", "");
    let message = refusal(&required, [3, 1, 1], [96, 1, 1]);
    assert_eq!(message, "a block of 96 x 1 x 1 threads: `.reqntid` in line 6 requires 128 x 1 x 1");
    // Not the product: all sizes must be those of the directive.
    let message = refusal(&required, [1; 3], [64, 2, 1]);
    assert_eq!(message, "a block of 64 x 2 x 1 threads: `.reqntid` in line 6 requires 128 x 1 x 1");
    assert!(started(&required, None, [3, 1, 1], [128, 1, 1]).is_ok());
    let required = kernel(".reqntid 0x8, 4", "");
    assert!(started(&required, None, [1; 3], [8, 4, 1]).is_ok());
    assert!(started(&required, None, [1; 3], [8, 4, 2]).is_err());

    // The product: "the maximum number of threads in the thread block, computed as the product".
    let limited = kernel(".minnctapersm 2\n.maxntid 16, 4", "");
    let message = refusal(&limited, [1; 3], [65, 1, 1]);
    assert_eq!(message, "a block of 65 threads: `.maxntid` in line 7 permits 64");
    assert!(started(&limited, None, [1; 3], [64, 1, 1]).is_ok());
    assert!(started(&limited, None, [1; 3], [2, 2, 16]).is_ok());
    let error = started(&limited, None, [1; 3], [65, 1, 1]).expect_err("too many");
    assert_eq!(error, KernelError::MaxBlock { line: 7, max: 64, given: 65 });
    // Strings and other numbers set nothing.
    let other = kernel(".pragma \"reqntid 7\"; .maxnreg 7 .minnctapersm 7", "");
    assert!(started(&other, None, [1; 3], [32, 1, 1]).is_ok());
    // A prototype sets nothing for another kernel, and each kernel has its own.
    let two = format!(
        "{}\n.visible .entry m(.param .u64 out) .reqntid 64 {{ ret; }}",
        kernel(".reqntid 32", "")
    );
    assert!(started(&two, Some("k"), [1; 3], [32, 1, 1]).is_ok());
    assert!(started(&two, Some("m"), [1; 3], [32, 1, 1]).is_err());
}

/// Blocks run one after the other, so a kernel that needs a cluster is refused with the directive or the instruction.
#[test]
fn clusters_are_refused() {
    let wrong = |text: &str, line: u32| {
        format!(
            "line {line}: `{text}` needs a cluster, and launches with clusters are not executed"
        )
    };
    let grid = [4, 1, 1];
    let of = |directives: &str| refusal(&kernel(directives, ""), grid, [32, 1, 1]);
    assert_eq!(
        of(".explicitcluster .reqnctapercluster 2,1,1"),
        wrong(".reqnctapercluster 2,1,1", 6)
    );
    assert_eq!(of(".explicitcluster"), wrong(".explicitcluster", 6));
    assert_eq!(of(".reqntid 32\n.blocksareclusters"), wrong(".blocksareclusters", 7));
    assert_eq!(
        of(".reqnctapercluster 3"),
        "a grid of 4 x 1 x 1 blocks is no multiple of the clusters of 3 x 1 x 1 that line 6 requires"
    );
    // A cluster of one block is a block.
    assert!(
        started(&kernel(".explicitcluster .reqnctapercluster 1", ""), None, grid, [32, 1, 1])
            .is_ok()
    );
    for text in [
        "mov.u32 %r1, %cluster_ctarank;",
        "mov.u32 %r1, %cluster_nctaid.x;",
        "add.u32 %r1, %r0, %cluster_ctaid.y;",
        "mov.u32 %r1, %clusterid.x;",
        "mov.u32 %r1, %nclusterid.z;",
        "mapa.shared::cluster.u32 %r1, %r0, 1;",
        "mapa.u64 %rd3, %rd1, 0;",
        "getctarank.shared::cluster.u32 %r1, %r0;",
        "barrier.cluster.arrive.aligned;",
        "barrier.cluster.wait.acquire;",
        "ld.shared::cluster.u32 %r1, [%r0];",
        "@%p1 st.shared::cluster.u32 [%r0], 1;",
        "atom.shared::cluster.add.u32 %r1, [%r0], 1;",
        "red.shared::cluster.add.u32 [%r0], 1;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%rd1], 16, [%r1], %h1;",
    ] {
        // Not executed, and refused all the same: the launch is judged before it begins.
        let source = module(&format!("bra END;\n{text}\nEND:"));
        let message = refusal(&source, grid, [32, 1, 1]);
        assert_eq!(message, wrong(text.trim_end_matches(';'), 9), "{text}");
    }
    // In a function that the kernel calls; not in one that it does not call.
    let function = ".func f() { .reg .b32 %x; mov.u32 %x, %cluster_ctarank; ret; }\n---";
    assert!(
        refusal(&module(&format!("{function} call f;")), grid, [32, 1, 1])
            .contains("%cluster_ctarank")
    );
    assert!(started(&module(function), None, grid, [32, 1, 1]).is_ok());
}

/// The window of the cluster has the own block's shared memory, and copies into it are written `.shared::cluster` in
/// kernels without clusters, as are their barriers.
#[test]
fn forms_of_clusters_that_reach_the_own_block_are_not_refused() {
    let body = ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 to[64];\n---
        mov.u32 %r1, bar; mov.u32 %r2, to;
        setp.eq.u32 %p1, %r0, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
        fence.mbarrier_init.release.cluster;
        bar.sync 0;
        @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
        selp.u32 %r3, 1, 0, %p2;
        @%p2 st.global.u32 [%rd2], %r3;
        atom.acq_rel.cluster.global.add.u32 %r4, [%rd1+128], 1;";
    let mut buffer = vec![0; 132];
    buffer.resize(256, 0);
    let launched = launch(&module(body), KernelLaunch::new([1; 3], [32, 1, 1]), &[buffer]);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    let words = launched.words(0);
    assert_eq!((&words[..32], words[32]), (&[1; 32][..], 32));
    let copy = "mov.u32 %r1, 0;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd1], 16, [%r1];";
    let source = module(copy);
    let launched = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 128]]);
    assert_eq!(launched.result.skipped.len(), 1);
}

/// PTX ISA, "trap": "Abort execution and generate an interrupt to the host CPU", which CUDA reports as a failed launch.
#[test]
fn a_trap_ends_the_launch() {
    let source = module(
        "mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3;
        setp.eq.u32 %p1, %r1, 1;\n@%p1 trap;\nst.global.u32 [%rd3], 7;",
    );
    let launched = launch(&source, KernelLaunch::new([4, 1, 1], [64, 1, 1]), &[vec![0; 16]]);
    // Block 0 has ended before; blocks 2 and 3 do not begin, nor does the second warp of block 1.
    assert_eq!(launched.words(0), [7, 0, 0, 0]);
    assert_eq!(launched.result.counts.blocks, 2);
    let faults = &launched.result.faults;
    assert_eq!(
        (faults.len(), &faults[0].kind, faults[0].block),
        (1, &KernelFaultKind::Trap, [1, 0, 0])
    );
    // A trap that no lane executes ends nothing.
    assert_eq!(run("setp.eq.u32 %p1, %r0, 99; @%p1 trap; st.global.u32 [%rd2], 5;", 2), [5, 5]);
}

/// A barrier of the whole grid, as cooperative groups have it: the first thread of each block counts itself, and waits
/// until all blocks have. Then block n reads what block n + 1 has written, four times.
const GRID_BARRIER: &str = "
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r9, 0;
    setp.eq.u32 %p1, %r0, 0;
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3;
    add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;
    mul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, %rd1, %rd4;
    ROUND:
    @%p1 ld.volatile.global.u32 %r4, [%rd4+64];
    bar.sync 0;
    @!%p1 bra WAITED;
    add.u32 %r4, %r4, 1;
    membar.gl;
    atom.global.add.u32 %r5, [%rd1], 1;
    add.u32 %r6, %r9, 1; mul.lo.u32 %r6, %r6, %r2;
    SPIN: ld.volatile.global.u32 %r7, [%rd1]; setp.lt.u32 %p2, %r7, %r6; @%p2 bra SPIN;
    membar.gl;
    st.volatile.global.u32 [%rd3+64], %r4;
    atom.global.add.u32 %r5, [%rd1+4], 1;
    AGAIN: ld.volatile.global.u32 %r7, [%rd1+4]; setp.lt.u32 %p2, %r7, %r6; @%p2 bra AGAIN;
    WAITED:
    bar.sync 0;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 4; @%p3 bra ROUND;
";

#[test]
fn blocks_that_wait_for_later_ones_are_resident_together() {
    for (blocks, checks_races) in [(2, false), (13, true), (40, false)] {
        let words: Vec<u32> = (0..16 + blocks).map(|word| u32::from(word >= 16) * word).collect();
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut given = KernelLaunch::new([blocks, 1, 1], [64, 1, 1]);
        given.options.checks.races = checks_races.then_some(CheckedRaces::All);
        given.options.steps = 1 << 26;
        let launched = launch(&module(GRID_BARRIER), given, &[bytes]);
        assert_eq!(launched.result.faults, []);
        // Each round takes a value to the block before, and adds 1.
        let expected = (0..blocks).map(|block| 16 + (block + 4) % blocks + 4);
        let found = launched.words(0);
        assert_eq!(found[16..], expected.collect::<Vec<_>>());
        assert_eq!((found[0], found[1]), (4 * blocks, 4 * blocks));
        assert_eq!(launched.result.counts.blocks, u64::from(blocks));
    }
}

#[test]
fn blocks_that_wait_for_ever_reach_the_limit() {
    let body = "SPIN: ld.volatile.global.u32 %r7, [%rd1]; setp.eq.u32 %p2, %r7, 0; @%p2 bra SPIN;";
    let source = module(body);
    let module = read(&source).unwrap();
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 64], AllocationUse::Argument(0)).unwrap();
    let mut given = KernelLaunch::new([70_000, 1, 1], [32, 1, 1]).parameter(&out.to_le_bytes());
    given.options.steps = 1 << 20;
    let error = Kernel::chosen(&module, None).unwrap().run(&given, &mut memory, None).unwrap_err();
    assert!(error.to_string().contains("has not ended; its last jump back is"), "{error}");
}

/// Each block races at the same two instructions, and waits for the others before it ends.
#[test]
fn a_race_of_blocks_that_wait_for_each_other_is_reported_once() {
    let racing = format!(
        ".shared .b32 word; --- mov.u32 %r80, word; st.shared.u32 [%r80], %r0; ld.shared.u32 %r81, [%r80]; {GRID_BARRIER}"
    );
    let faults = |blocks| {
        let mut given = KernelLaunch::new([blocks, 1, 1], [64, 1, 1]);
        given.options.checks.races = Some(CheckedRaces::All);
        launch(&module(&racing), given, &[vec![0; 256]]).result.fault_count
    };
    assert!(faults(1) > 0);
    assert_eq!(faults(3), faults(1));
}
