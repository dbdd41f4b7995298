//! Kernels that others wrote: NVIDIA's cuda-samples (BSD-3), compiled by NVRTC 12.9, and Triton kernels, in
//! `tests/public-kernels.tar.xz`. Each is launched on zeros and small numbers, which says whether its instructions are
//! executed, not whether they are right.

use std::collections::BTreeSet;

use super::corpus::files;
use warpload_ptx::launch::{
    AllocationUse, Checks, DeviceMemory, Kernel, KernelLaunch, KernelResult,
};
use warpload_ptx::module::FunctionKind;
use warpload_ptx::{Module, read};

/// Whether a parameter is an address: it is converted to one of global memory, or said to be one.
fn is_pointer(source: &str, name: &str) -> bool {
    let declared = source.find(&format!(" {name}")).unwrap_or(0);
    let line = source[..declared].rfind('\n').map_or("", |start| &source[start..declared]);
    if line.contains(".ptr") {
        return true;
    }
    let Some(load) = source.find(&format!("[{name}]")) else { return false };
    let line = source[..load].rfind('\n').map_or("", |start| &source[start..load]);
    let register = line.split_whitespace().last().unwrap_or("").trim_end_matches(',');
    !register.is_empty()
        && source[load..].contains(&format!(", {register};"))
        && source[load..]
            .lines()
            .any(|line| line.contains("cvta.to.global") && line.ends_with(&format!("{register};")))
}

/// Launches a kernel; `None` if it does not end within 65,536 warp instructions.
fn launched(module: &Module<'_>, name: &str, is_triton: bool) -> Option<KernelResult> {
    let kernel = Kernel::named(module, name).expect("a kernel");
    let threads = if is_triton { 128 } else { 64 };
    let shared = if is_triton { 200 << 10 } else { 16 << 10 };
    let block = kernel.function().bounds.required_block.map_or([threads, 1, 1], |of| of.0);
    let mut launch = KernelLaunch::new([2, 1, 1], block).shared_bytes(shared);
    launch.options.steps = 1 << 16;
    launch.options.checks = if is_triton { Checks::ALL } else { Checks::default() };
    let mut memory = DeviceMemory::new();
    let parameters = kernel.function().parameters.clone();
    for (number, (place, bytes)) in parameters.zip(kernel.parameter_bytes()).enumerate() {
        let parameter = module.text(module.declarations()[place].name);
        let mut value = vec![0; bytes as usize];
        if bytes == 8 && (is_triton || is_pointer(module.source(), parameter)) {
            // The middle of a buffer, since kernels read before and after what they are given.
            let buffer = vec![0; 2 << 20];
            let base = memory.allocate(buffer, AllocationUse::Argument(number)).expect("room");
            value = (base + (1 << 20)).to_le_bytes().to_vec();
        } else {
            value[0] = if is_triton { 16 } else { 4 };
        }
        launch = launch.parameter(&value);
    }
    kernel.run(&launch, &mut memory, None).ok()
}

#[test]
fn kernels_of_others_run_to_their_end() {
    let (mut all, mut ended, mut other) = (0, 0, Vec::new());
    let mut skipped = BTreeSet::new();
    for (file, source) in files(include_bytes!("../../public-kernels.tar.xz")) {
        if !file.ends_with(".ptx") {
            continue;
        }
        let source = String::from_utf8(source).expect("text");
        let module = read(&source).expect("a module");
        for function in module.functions() {
            if function.kind != FunctionKind::Entry || function.body.is_none() {
                continue;
            }
            let name = module.text(function.name);
            all += 1;
            let result = launched(&module, name, file.contains("triton"));
            let words = result.iter().flat_map(|result| &result.skipped).map(|skipped| {
                let text = skipped.text.split_whitespace().find(|word| !word.starts_with('@'));
                text.unwrap_or("").split('.').next().unwrap_or("").to_owned()
            });
            skipped.extend(words);
            match result {
                // simpleAssert is meant to fail its assertion.
                Some(result)
                    if result.faults.iter().all(|fault| fault.kind.name() == "assertion") =>
                {
                    ended += 1;
                }
                Some(result) => other.push(format!(
                    "{file} {name}: line {}: {}",
                    result.faults[0].line(),
                    result.faults[0]
                )),
                None => other.push(format!("{file} {name}: no end")),
            }
        }
    }
    let other = other.join("\n");
    assert!(ended >= 98, "{ended} of {all}:\n{other}");
    let skipped: Vec<_> = skipped.iter().map(String::as_str).collect();
    assert_eq!(skipped, ["mov", "sust", "tcgen05", "tex", "wgmma"], "{other}");
}
