//! Kernels launched without a GPU.

mod arithmetic;
mod atomics;
mod bits;
mod checks;
mod control;
mod corpus;
mod divergence;
mod exchanges;
mod externals;
mod faults;
mod floats;
mod hangs;
mod joins;
mod kernels;
mod launches;
mod matrices;
mod mbarriers;
mod operands;
mod ordinary;
mod pairs;
mod positions;
mod public;
mod reports;
mod structured;
mod surroundings;
mod threads;
mod unknown;

use warpload_ptx::launch::{AllocationUse, DeviceMemory, Kernel, KernelLaunch, KernelResult};
use warpload_ptx::read;

/// What a kernel left.
pub(super) struct Launched {
    pub(super) result: KernelResult,
    /// The contents of the buffers that were given.
    pub(super) buffers: Vec<Vec<u8>>,
}

impl Launched {
    /// The words of a buffer.
    pub(super) fn words(&self, buffer: usize) -> Vec<u32> {
        self.buffers[buffer].as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }
}

/// Launches the only kernel of a module whose parameters are all buffers.
pub(super) fn launch(source: &str, launch: KernelLaunch, buffers: &[Vec<u8>]) -> Launched {
    let module = read(source).expect("a module");
    let mut memory = DeviceMemory::new();
    let mut launch = launch;
    let mut addresses = Vec::new();
    for (number, buffer) in buffers.iter().enumerate() {
        let address =
            memory.allocate(buffer.clone(), AllocationUse::Argument(number)).expect("room");
        addresses.push(address);
        launch = launch.parameter(&address.to_le_bytes());
    }
    let kernel = Kernel::chosen(&module, None).expect("a kernel");
    let result = kernel.run(&launch, &mut memory, None).expect("an end");
    let buffers = addresses.iter().map(|at| memory.bytes(*at).expect("a buffer").to_vec());
    Launched { result, buffers: buffers.collect() }
}

/// A module with one kernel that has a pointer `out` in %rd1, its thread's number in %r0, and the address of the
/// thread's word in %rd2.
fn module(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n{}\n.visible .entry k(.param .u64 out) {{
.reg .pred %p<9>; .reg .b16 %h<20>; .reg .b32 %r<90>; .reg .b64 %rd<90>; .reg .f32 %f<20>; .reg .f64 %d<20>;
ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd1, %rd2;
{}\nret;\n}}",
        body.split_once("---").map_or("", |(declarations, _)| declarations),
        body.split_once("---").map_or(body, |(_, body)| body),
    )
}

/// Launches such a kernel in one block; `out` has a word for each thread.
fn run(body: &str, threads: u32) -> Vec<u32> {
    let launched = launch(
        &module(body),
        KernelLaunch::new([1; 3], [threads, 1, 1]),
        &[vec![0; 4 * threads as usize]],
    );
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
    launched.words(0)
}
