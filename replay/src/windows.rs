//! [`maps`]: the windows of generic addresses for each kernel of a trace.

use super::error::ReplayError;
use super::options::{ReplayData, ReplayOptions};
use warpload::memory::{AddressMap, AddressSpace, Window};
use warpload_trace::binary::{BinaryTrace, Kernel, TraceError};
use warpload_trace::{MemoryOperation, OperationKind};

/// Returns each kernel's address map.
///
/// # Errors
/// Returns [`ReplayError::Windows`] if a kernel's windows are invalid, unless they come from the
/// trace and none of its loads has generic addresses: some tracers write a base of 0 for both.
/// Returns [`ReplayError::Trace`] if a block that has to be read for that is damaged.
pub(super) fn maps(
    trace: &BinaryTrace,
    options: &ReplayOptions<'_>,
) -> Result<Vec<AddressMap>, ReplayError> {
    // Found on first use: most traces never need it.
    let mut generic = None;
    let mut is_generic = |kernel: usize| {
        if generic.is_none() {
            generic = Some(find_generic(trace)?);
        }
        Ok(generic.as_ref().is_some_and(|kernels| kernels[kernel]))
    };
    let kernels = trace.contents().kernels.iter().enumerate();
    let first = trace.first_kernel();
    kernels.map(|(index, kernel)| map(&mut is_generic, first, index, kernel, options)).collect()
}

fn map(
    is_generic: &mut dyn FnMut(usize) -> Result<bool, TraceError>,
    first: usize,
    index: usize,
    kernel: &Kernel,
    options: &ReplayOptions<'_>,
) -> Result<AddressMap, ReplayError> {
    if let ReplayData::Image(memory) = options.get_data() {
        return Ok(*memory.map());
    }
    let window = |asked: Option<Window>, base: Option<u64>, default: Window| {
        asked.unwrap_or_else(|| base.map_or(default, |base| Window { base, ..default }))
    };
    let shared = window(options.shared_window, kernel.shared_base, Window::DEFAULT_SHARED);
    let local = window(options.local_window, kernel.local_base, Window::DEFAULT_LOCAL);
    let is_asked = options.shared_window.is_some() || options.local_window.is_some();
    let invalid = match AddressMap::new(options.get_address_bits(), shared, local) {
        Ok(map) => return Ok(map),
        Err(invalid) => invalid,
    };
    let map = if is_asked || is_generic(index)? {
        Err(invalid)
    } else {
        AddressMap::for_offsets(options.get_address_bits(), shared, local)
    };
    let (index, name) = (first + index, kernel.name.to_string());
    map.map_err(|source| ReplayError::Windows { index, name, source })
}

/// Returns for each kernel whether it has loads of generic addresses, which only windows can resolve.
fn find_generic(trace: &BinaryTrace) -> Result<Vec<bool>, TraceError> {
    let contents = trace.contents();
    let mut kernels = vec![false; contents.kernels.len()];
    let needs_windows = |operation: &MemoryOperation| {
        operation.space == AddressSpace::Generic && operation.kind == OperationKind::Load
    };
    if !contents.operations.iter().any(needs_windows) {
        return Ok(kernels);
    }
    for raw in trace.blocks() {
        let Some(known) = kernels.get_mut(raw.kernel as usize).filter(|known| !**known) else {
            continue;
        };
        let block = trace.block(raw)?;
        for i in 0..raw.memory_records as usize {
            let operation = block.record(i)?.operation();
            if needs_windows(operation) {
                *known = true;
                break;
            }
        }
    }
    Ok(kernels)
}
