//! Rates of three kernels.
use warpload_machine::{AllocationUse, DeviceMemory, LaunchOptions};
use warpload_sass::{SassLaunch, SassProgram};
enum A {
    Buf(Vec<u8>),
    Val(Vec<u8>),
}
fn floats(n: usize) -> A {
    A::Buf((0..n).flat_map(|i| (i as f32 % 7.0).to_le_bytes()).collect())
}
fn number(v: u32) -> A {
    A::Val(v.to_le_bytes().to_vec())
}
fn time(label: &str, name: &str, grid: [u32; 3], block: [u32; 3], args: &[A], rounds: usize) {
    let file = std::fs::read(format!("/tmp/speed/kernels/{label}.sm61.cubin")).unwrap();
    let (mut best, mut n) = (f64::MAX, 0);
    for _ in 0..rounds {
        let mut program = SassProgram::new(file.clone()).unwrap();
        let mut memory = DeviceMemory::new();
        program.load(&mut memory).unwrap();
        let mut options = LaunchOptions::new(grid, block);
        options.threads = 1;
        let parameters = args
            .iter()
            .enumerate()
            .map(|(i, a)| match a {
                A::Val(b) => b.clone(),
                A::Buf(b) => memory
                    .allocate(b.clone(), AllocationUse::Argument(i))
                    .unwrap()
                    .to_le_bytes()
                    .to_vec(),
            })
            .collect();
        let launch = SassLaunch { options, parameters };
        let t = std::time::Instant::now();
        let (o, _) = program
            .launch(program.kernel(Some(name)).unwrap(), &launch, &mut memory, None, None)
            .unwrap();
        best = best.min(t.elapsed().as_secs_f64());
        n = o.counts.warp_instructions;
        assert!(o.faults.is_empty());
    }
    println!("{label:12} {n:9} {:8.1} ns {:6.1} M/s", best / n as f64 * 1e9, n as f64 / best / 1e6);
}
fn main() {
    let n = 1usize << 18;
    let side = 512;
    time(
        "saxpy",
        "saxpy",
        [n as u32 / 256, 1, 1],
        [256, 1, 1],
        &[number(n as u32), number(2_f32.to_bits()), floats(n), floats(n)],
        5,
    );
    time(
        "matmul",
        "mm_tiled",
        [side as u32 / 16, side as u32 / 16, 1],
        [16, 16, 1],
        &[
            floats(side * side),
            floats(side * side),
            floats(side * side),
            number(side as u32),
            number(side as u32),
            number(side as u32),
        ],
        3,
    );
    time(
        "histogram",
        "hist_shared",
        [64, 1, 1],
        [256, 1, 1],
        &[
            A::Buf((0..4 * n).map(|i| ((i * 37) >> 3) as u8).collect()),
            number(4 * n as u32),
            floats(256),
        ],
        5,
    );
}
