//! Kernels on the machine, beside plain loops over 32 lanes with the same arithmetic.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use warpload_ptx::launch::{AllocationUse, DeviceMemory, Kernel, KernelLaunch, KernelResult};
use warpload_ptx::read;

const SAXPY: &str = include_str!("kernels/saxpy.ptx");
const MATMUL: &str = include_str!("kernels/matmul.ptx");
const HISTOGRAM: &str = include_str!("kernels/histogram.ptx");

const N: usize = 1 << 18;
const SIDE: usize = 512;

/// A parameter of a kernel.
enum Argument {
    Buffer(Vec<u8>),
    Value(Vec<u8>),
}

fn floats(count: usize) -> Argument {
    Argument::Buffer((0..count).flat_map(|i| (i as f32 % 7.0).to_le_bytes()).collect())
}

fn number(value: u32) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

fn launch(
    source: &str,
    name: &str,
    grid: [u32; 3],
    block: [u32; 3],
    arguments: &[Argument],
) -> KernelResult {
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let mut launch = KernelLaunch::new(grid, block);
    launch.options.threads = 1;
    for (at, argument) in arguments.iter().enumerate() {
        launch = match argument {
            Argument::Value(bytes) => launch.parameter(bytes),
            Argument::Buffer(bytes) => {
                let address =
                    memory.allocate(bytes.clone(), AllocationUse::Argument(at)).expect("room");
                launch.parameter(&address.to_le_bytes())
            }
        };
    }
    let kernel = Kernel::named(&module, name).expect("a kernel");
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    assert!(result.faults.is_empty(), "{}", result.faults[0]);
    result
}

/// The arithmetic of one warp instruction, at the speed of the processor: a multiplication and an addition of 32 lanes.
fn plain(rounds: u64) -> [f32; 32] {
    let (a, b) = (black_box([1.0_f32; 32]), black_box([0.5_f32; 32]));
    let mut sum = [0.0_f32; 32];
    for _ in 0..rounds {
        for lane in 0..32 {
            sum[lane] += a[lane] * b[lane];
        }
        black_box(&mut sum);
    }
    sum
}

fn kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("warp instructions");
    group.sample_size(10);
    let cases = [
        (
            "saxpy",
            SAXPY,
            "saxpy",
            [N as u32 / 256, 1, 1],
            [256, 1, 1],
            vec![number(N as u32), number(2_f32.to_bits()), floats(N), floats(N)],
        ),
        (
            "matmul of 512 x 512 x 512, in tiles of 16 x 16",
            MATMUL,
            "mm_tiled",
            [SIDE as u32 / 16, SIDE as u32 / 16, 1],
            [16, 16, 1],
            vec![
                floats(SIDE * SIDE),
                floats(SIDE * SIDE),
                floats(SIDE * SIDE),
                number(SIDE as u32),
                number(SIDE as u32),
                number(SIDE as u32),
            ],
        ),
        (
            "histogram in shared memory",
            HISTOGRAM,
            "hist_shared",
            [64, 1, 1],
            [256, 1, 1],
            vec![
                Argument::Buffer((0..4 * N).map(|i| ((i * 37) >> 3) as u8).collect()),
                number(4 * N as u32),
                floats(256),
            ],
        ),
    ];
    for (name, source, kernel, grid, block, arguments) in &cases {
        let count = launch(source, kernel, *grid, *block, arguments).counts.warp_instructions;
        group.throughput(Throughput::Elements(count));
        group
            .bench_function(*name, |b| b.iter(|| launch(source, kernel, *grid, *block, arguments)));
    }
    group.throughput(Throughput::Elements(1 << 20));
    group.bench_with_input(BenchmarkId::new("limit", "a plain loop"), &(1 << 20), |b, rounds| {
        b.iter(|| plain(*rounds));
    });
    group.finish();
}

criterion_group!(benches, kernels);
criterion_main!(benches);
