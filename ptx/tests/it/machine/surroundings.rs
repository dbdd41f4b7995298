//! Kernels on memory that the caller has filled: images, placed variables, lanes without threads, Tensor Memory.

use super::{launch, module};
use warpload::lane::LaneMask;
use warpload::memory::{AddressMap, Memory, MemoryBuilder, Window};
use warpload_ptx::launch::{
    AllocationError, AllocationUse, DeviceMemory, Kernel, KernelError, KernelLaunch, KernelResult,
};
use warpload_ptx::read;
use warpload_ptx::run::{Launch, WarpTensorMemory};
use warpload_ptx::tensor::{LaneMode, Pattern, Rules, TensorMemory};

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

const COPY: &str = ".version 8.0\n.target sm_80\n.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 in, .param .u32 pair[2], .param .u64 out) {
    .reg .b32 %r<5>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
    ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [table+4]; ld.param.u32 %r3, [pair+4];
    st.global.v4.u32 [%rd2], {%r1, %r2, %r3, 7};
    mov.u64 %rd3, table; st.global.u64 [%rd2+16], %rd3;
    ret;
}";

/// Launches [`COPY`] on an image, with what a person writes.
fn copy(image: &Memory, options: &Launch) -> Result<(KernelResult, DeviceMemory), KernelError> {
    let module = read(COPY).expect("a module");
    let kernel = Kernel::named(&module, "k")?;
    let mut launch = KernelLaunch::new([1; 3], [1; 3]);
    let named = options.set_up(&kernel, &mut launch).expect("options");
    launch.parameters.extend(named.into_values());
    let mut memory = DeviceMemory::of_image(image)?;
    let result = kernel.run(&launch, &mut memory, None)?;
    Ok((result, memory))
}

#[test]
fn images_placed_variables_and_named_parameters() {
    let image = Memory::builder();
    let image = image.global(0x1000, &words(&[42])).global(0x9000_0000, &[0; 24]).build().unwrap();
    let options = Launch::default()
        .parameter("out", "0x90000000")
        .parameter("in", "0x1000")
        .parameter("pair", "5,6");
    let (result, memory) = copy(&image, &options.clone().place("table", "0x20000000")).unwrap();
    assert!(result.faults.is_empty(), "{}", result.faults[0]);
    let out = memory.bytes(0x9000_0000).unwrap();
    assert_eq!(out, [words(&[42, 2, 6, 7, 0x2000_0000, 0])].concat());
    // Without a place the machine finds one, away from the image's memory.
    let (_, memory) = copy(&image, &options).unwrap();
    let table = memory.bytes(0x9000_0000).unwrap()[16..].first_chunk().copied();
    let table = u64::from_le_bytes(table.unwrap());
    assert_eq!(memory.bytes(table), Some(&words(&[1, 2, 3, 4])[..]));
    assert!(table >= 0x8000_0000 && table.abs_diff(0x9000_0000) >= 4096, "{table:#x}");
    // Elements that are not given are zero.
    let options = Launch::default().parameter("out", "0x90000000").parameter("in", "0x1000");
    let (_, memory) = copy(&image, &options.parameter("pair", "5")).unwrap();
    assert_eq!(memory.bytes(0x9000_0000).unwrap()[8..12], [0; 4]);
}

#[test]
fn memory_that_cannot_be_placed_is_refused() {
    let mut memory = DeviceMemory::new();
    let image = || AllocationUse::Image;
    memory.allocate_at(0x1000, vec![0; 16], image()).unwrap();
    for (base, bytes, message) in [
        (0x100f, 1, "the image at 0x100f overlaps the image"),
        (0xff8, 9, "the image at 0xff8 overlaps the image"),
        (u64::MAX, 1, "the image at 0xffffffffffffffff is not all in global memory"),
        (u64::MAX - 7, 9, "the image at 0xfffffffffffffff8 is not all in global memory"),
    ] {
        let refused = memory.allocate_at(base, vec![0; bytes], image()).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
    let window = AddressMap::default().shared().base;
    let refused = memory.allocate_at(window - 1, vec![0; 2], image()).unwrap_err();
    assert!(matches!(refused, AllocationError::OutsideGlobal { .. }));
    memory.allocate_at(0xff8, vec![0; 8], image()).unwrap();
    memory.allocate_at(window - 2, vec![0; 2], image()).unwrap();
    // Allocations that nobody places keep away from those that somebody has placed.
    let mut memory = DeviceMemory::new();
    memory.allocate_at(0x8000_0100, vec![1; 4], image()).unwrap();
    memory.allocate_at(0x8000_3000, vec![2; 4], image()).unwrap();
    let mut bases = Vec::new();
    for _ in 0..3 {
        bases.push(memory.allocate(vec![3; 256], AllocationUse::Argument(0)).unwrap());
    }
    assert_eq!(bases, [0x8000_1200, 0x8000_4100, 0x8000_5200]);
    memory.allocate_at(u64::MAX - 4, vec![2; 4], image()).unwrap();
    assert_eq!(memory.allocate(vec![3; 4], AllocationUse::Argument(0)).unwrap(), 0x8000_6300);
}

#[test]
fn lanes_without_a_thread_do_nothing() {
    let mut options = KernelLaunch::new([1; 3], [64, 1, 1]);
    options.options.active = LaneMask::from_bits(0x0000_0005);
    let body = "activemask.b32 %r1; bar.sync 0; st.global.u32 [%rd2], %r1;";
    let launched = launch(&module(body), options, &[vec![0; 256]]);
    assert!(launched.result.faults.is_empty());
    let expected = |thread: usize| if matches!(thread % 32, 0 | 2) { 5 } else { 0 };
    assert_eq!(launched.words(0), (0..64).map(expected).collect::<Vec<u32>>());
}

/// Two warps load from Tensor Memory with cells that hold their addresses.
fn tensor(body: &str) -> super::Launched {
    let mut options = KernelLaunch::new([1; 3], [64, 1, 1]);
    let rules = Rules::default().lane_mode(LaneMode::Strict);
    let memory = TensorMemory::filled(Pattern::LaneColumn);
    options.options.tensor = Some(WarpTensorMemory::new(memory, 0).rules(rules));
    let source = module(&format!("and.b32 %r9, %r0, 32; shl.b32 %r9, %r9, 16; {body}"));
    launch(&source.replace("sm_90a", "sm_100a"), options, &[vec![0; 256]])
}

#[test]
fn tensor_memory_is_read_by_warps() {
    let load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r9+8];";
    let launched = tensor(&format!("{load} st.global.u32 [%rd2], %r2;"));
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    assert_eq!(launched.words(0), (0..64).map(|lane| lane << 16 | 9).collect::<Vec<u32>>());
    for (body, message) in [
        (
            "add.u32 %r9, %r9, %r0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r9];",
            "Tensor Memory: lanes 0 and 1 have the addresses 0x0 and 0x1: expected one for the warp",
        ),
        (
            "setp.lt.u32 %p1, %r0, 4; @%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r9];",
            "Tensor Memory: all lanes must execute `.sync.aligned` together, and 0x0000000f do",
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r8];",
            "an address is not known: nothing has written `%r8`",
        ),
    ] {
        let fault = &tensor(body).result.faults[0];
        assert_eq!(fault.to_string(), message);
    }
    // A lane of another warp.
    let fault =
        &tensor("mov.u32 %r9, 64 << 16; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r9];");
    assert_eq!(fault.result.faults[0].kind.name(), "tensor_memory");
    assert_eq!(fault.result.fault_count, 2);
}

/// Each block begins with the shared memory of an image, each lane with its local memory; constants and windows are the
/// image's, too.
#[test]
fn images_have_all_memories() {
    let source = ".version 8.0\n.target sm_80\n.address_size 64
.const .u32 first = 1; .const .u32 second = 2;
.visible .entry k(.param .u64 out) {
    .shared .u32 tile[4]; .local .u32 own[4];
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 16; add.s64 %rd2, %rd1, %rd2;
    ld.shared.u32 %r1, [tile+4]; ld.local.u32 %r2, [own+8]; ld.const.u32 %r3, [first];
    ld.const.u32 %r4, [second];
    st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
    mov.u64 %rd3, tile; cvta.shared.u64 %rd3, %rd3; ld.u32 %r5, [%rd3];
    ld.local.u32 %r6, [0x7fc]; st.local.u32 [0x7fc], %r5; ld.local.u32 %r7, [0x7fc];
    st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r5};
    st.shared.u32 [tile+4], 0; st.local.u32 [own+8], 0;
    st.global.v2.u32 [%rd2+32], {%r6, %r7};
    ret;
}";
    let (shared, local) =
        (Window { base: 0x1_0000, size: 0x1000 }, Window { base: 0x2_0000, size: 0x800 });
    let lanes = |size: usize, first: u8| -> Vec<u8> {
        (0..32 * size).map(|at| first + (at / size) as u8).collect()
    };
    let image = MemoryBuilder::new(AddressMap::new(40, shared, local).unwrap())
        .shared(&[5; 8])
        .local_low(12, &lanes(12, 0))
        .local_high(4, &lanes(4, 64))
        .constant(3, &[9; 4])
        .global(0x9000_0000, &[0; 64])
        .build()
        .unwrap();
    let module = read(source).expect("a module");
    let kernel = Kernel::chosen(&module, None).expect("a kernel");
    let mut memory = DeviceMemory::of_image(&image).expect("room");
    let launch = KernelLaunch::new([2, 1, 1], [2, 1, 1]).parameter(&0x9000_0000_u64.to_le_bytes());
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    assert!(result.faults.is_empty(), "{}", result.faults[0]);
    let out = memory.bytes(0x9000_0000).expect("a buffer");
    let of_lane = |lane: u32| [0x0505_0505, 0x0101_0101 * lane, 0x0909_0909, 0x0505_0505];
    assert_eq!(out[..32], [words(&of_lane(0)), words(&of_lane(1))].concat());
    assert_eq!(out[48..56], words(&[0x4141_4141, 0x0505_0505]));
}

/// A warp none of whose lanes is active has nothing to execute, and ends like one whose lanes have exited.
#[test]
fn warps_without_active_lanes_execute_nothing() {
    let store = module("st.global.u32 [%rd2], 1; bar.sync 0;");
    for (active, threads, expected) in [
        (0, 64, vec![0; 64]),
        // The second warp has lane 0 alone, which is not active.
        (0xffff_fffe, 33, [&[0][..], &[1; 31], &[0]].concat()),
        (
            0x8000_0001,
            64,
            (0..64).map(|lane| u32::from(lane % 32 == 0 || lane % 32 == 31)).collect(),
        ),
    ] {
        let mut options = KernelLaunch::new([1; 3], [threads, 1, 1]);
        options.options.active = LaneMask::from_bits(active);
        let launched = launch(&store, options, &[vec![0; 4 * threads as usize]]);
        assert_eq!(launched.words(0), expected, "{active:#x}");
        assert_eq!((launched.result.fault_count, launched.result.counts.blocks), (0, 1));
    }
}

/// The text of a module can declare any size: the value of a parameter is refused before it is made.
#[test]
fn parameters_of_any_size_are_refused_and_have_no_address() {
    let source = ".version 7.0\n.target sm_70\n.address_size 64
        .entry k(.param .b8 a[4294967295], .param .u32 b) { ret; }";
    let module = read(source).expect("a module");
    let kernel = Kernel::chosen(&module, None).expect("a kernel");
    let refused = |options: Launch| {
        let mut launch = KernelLaunch::new([1; 3], [1; 3]);
        let error = options.set_up(&kernel, &mut launch).unwrap_err();
        std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(
        refused(Launch::default().parameter("a", "1")),
        "a parameter of 4294967295 bytes; expected at most 1048576"
    );
    assert_eq!(
        refused(Launch::default().place("b", "0x20000000")),
        "`b` is a parameter, which has no address; give it a value"
    );
    let mut launch = KernelLaunch::new([1; 3], [1; 3]);
    let given = Launch::default().parameter("b", "7").set_up(&kernel, &mut launch).unwrap();
    assert_eq!(given[&1], 7_u32.to_le_bytes());
}

/// Shared variables have the alignment that they are declared with, and places in which no other one is.
#[test]
fn shared_variables_are_aligned_and_apart() {
    let source = ".version 8.0\n.target sm_80\n.address_size 64
        .shared .b32 a; .shared .b32 b; .extern .shared .align 1024 .b8 d[];
        .visible .entry k(.param .u64 out) {
        .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [out];
        mov.u32 %r1, a; mov.u32 %r2, b; mov.u32 %r3, d;
        st.global.v2.u32 [%rd1], {%r1, %r2}; st.global.u32 [%rd1+8], %r3; ret; }";
    let module = read(source).expect("a module");
    let kernel = Kernel::chosen(&module, None).expect("a kernel");
    let addresses = |place: &str| {
        let mut launch = KernelLaunch::new([1; 3], [1; 3]);
        Launch::default().place("b", place).set_up(&kernel, &mut launch).unwrap();
        let mut memory = DeviceMemory::new();
        let out = memory.allocate(vec![0; 12], AllocationUse::Argument(0))?;
        kernel.run(&launch.parameter(&out.to_le_bytes()), &mut memory, None)?;
        Ok::<_, KernelError>(memory.bytes(out).map(<[u8]>::to_vec))
    };
    assert_eq!(addresses("4"), Ok(Some(words(&[0, 4, 1024]))));
    assert_eq!(addresses("1024"), Ok(Some(words(&[0, 1024, 2048]))));
    let overlap = "two variables overlap: both have byte 0x0 of their space";
    assert_eq!(addresses("0").map_err(|error| error.to_string()), Err(overlap.to_owned()));
}

/// The address of a function is an initial value like that of a variable.
#[test]
fn initial_values_are_addresses_of_functions() {
    let body = ".func f() { ret; } .global .u64 p[2] = {f, f+8}; --- ld.global.v2.u64 {%rd3, %rd4}, [p];
        mov.u64 %rd5, f; sub.u64 %rd3, %rd3, %rd5; sub.u64 %rd4, %rd4, %rd5;
        cvt.u32.u64 %r1, %rd3; cvt.u32.u64 %r2, %rd4; mad.lo.u32 %r1, %r1, 100, %r2; st.global.u32 [%rd2], %r1;";
    assert_eq!(super::run(body, 1), [8]);
}
