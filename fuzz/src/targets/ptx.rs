use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder};
use warpload_ptx::launch::{
    AllocationUse, Checks, DeviceMemory, Kernel, KernelLaunch, LoadedModule,
};
use warpload_ptx::run::{Launch, WarpTensorMemory};
use warpload_ptx::tensor::TensorMemory;
use warpload_ptx::{check, lower, read, read_load};

/// Any text is refused with a place in it, or read as a module. Its loads are checked, lowered and executed, or
/// refused.
pub(super) fn ptx_does_not_panic(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    // The text may also be a single load.
    if let Ok(load) = read_load(text)
        && let Err(error) = load.tensor_load(text)
    {
        assert!(text.get(error.span.range()).is_some());
    }
    let module = match read(text) {
        Ok(module) => module,
        Err(error) => {
            assert!(text.get(error.span.start as usize..error.span.end as usize).is_some());
            return;
        }
    };
    for verdict in check(&module) {
        for violation in verdict.violations {
            let span = violation.span;
            assert!(text.get(span.start as usize..span.end as usize).is_some());
        }
    }
    for load in lower(&module).flatten() {
        for instruction in load.instructions {
            assert!(!instruction.to_string().is_empty());
        }
    }
    for function in module.functions() {
        let memory = MemoryBuilder::new(AddressMap::default()).global(0, &[1; 64]).build();
        let Ok(memory) = memory else { return };
        let mut launch = Launch::default();
        launch.function = Some(module.text(function.name).to_owned());
        launch.tensor = Some(WarpTensorMemory::new(TensorMemory::new(), 0));
        for name in ["%rd1", "%r1", "a"] {
            if !module.registers_named(function, name).is_empty() {
                launch = launch.register(name, "0");
            }
        }
        let Ok(mut run) = launch.prepare(&module, Machine::new(memory)) else { continue };
        let each = run.each(|step| {
            drop(format!("{step:?}"));
            Ok::<(), std::convert::Infallible>(())
        });
        each.unwrap_or_else(|never| match never {});
    }
}

/// The kernels of any module run to their end or to a limit, in bounded memory.
pub(super) fn kernels_are_bounded(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Ok(module) = read(text) else { return };
    let mut memory = DeviceMemory::new();
    let Ok(mut loaded) = LoadedModule::new(&module, &mut memory) else { return };
    for kernel in Kernel::all(&module) {
        let mut buffers = Vec::new();
        let mut launch = KernelLaunch::new([2, 1, 1], [40, 1, 1]);
        launch.options.steps = 2000;
        launch.options.checks = Checks::ALL;
        for (number, bytes) in kernel.parameter_bytes().into_iter().enumerate() {
            if bytes > 4096 {
                return;
            }
            let address = memory.allocate(vec![1; 256], AllocationUse::Argument(number));
            let Ok(address) = address else { return };
            buffers.push(address);
            let mut value = address.to_le_bytes().to_vec();
            value.resize(bytes as usize, 0);
            launch = launch.parameter(&value);
        }
        // The second launch has the code and the variables of the first one.
        for _ in 0..2 {
            if let Ok(result) = loaded.launch(&kernel, &launch, &mut memory, None, None) {
                assert!(result.counts.warp_instructions <= launch.options.steps);
                assert!(result.faults.len() as u64 <= result.fault_count);
            }
        }
        buffers.into_iter().for_each(|address| memory.release(address));
    }
}
