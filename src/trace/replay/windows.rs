//! [`maps`]: the windows of generic addresses for each kernel of a trace.

use super::error::ReplayError;
use super::options::{Data, ReplayOptions};
use crate::memory::{AddressMap, AddressSpace, Window};
use crate::trace::binary::{BinaryTrace, Kernel, TraceError};

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
    let mut generic = Generic { trace, kernels: None };
    let kernels = trace.contents().kernels.iter().enumerate();
    kernels.map(|(index, kernel)| map(&mut generic, index, kernel, options)).collect()
}

fn map(
    generic: &mut Generic<'_>,
    index: usize,
    kernel: &Kernel,
    options: &ReplayOptions<'_>,
) -> Result<AddressMap, ReplayError> {
    if let Data::Image(memory) = options.get_data() {
        return Ok(*memory.map());
    }
    let window = |asked: Option<Window>, base: Option<u64>, default: Window| {
        asked.unwrap_or_else(|| base.map_or(default, |base| Window { base, ..default }))
    };
    let asked = options.windows();
    let shared = window(asked.0, kernel.shared_base, Window::DEFAULT_SHARED);
    let local = window(asked.1, kernel.local_base, Window::DEFAULT_LOCAL);
    let is_asked = asked != (None, None);
    let invalid = match AddressMap::new(options.get_address_bits(), shared, local) {
        Ok(map) => return Ok(map),
        Err(invalid) => invalid,
    };
    let map = if is_asked || generic.is_used_by(index)? {
        Err(invalid)
    } else {
        AddressMap::for_offsets(options.get_address_bits(), shared, local)
    };
    map.map_err(|source| ReplayError::Windows { index, name: kernel.name.to_string(), source })
}

/// The kernels with loads of generic addresses, which only windows can resolve. All are found on
/// first use: most traces never need them.
struct Generic<'t> {
    trace: &'t BinaryTrace,
    kernels: Option<Vec<bool>>,
}

impl Generic<'_> {
    fn is_used_by(&mut self, kernel: usize) -> Result<bool, TraceError> {
        let kernels = match self.kernels.take() {
            Some(kernels) => kernels,
            None => find_generic(self.trace)?,
        };
        let is_used = kernels.get(kernel) == Some(&true);
        self.kernels = Some(kernels);
        Ok(is_used)
    }
}

fn find_generic(trace: &BinaryTrace) -> Result<Vec<bool>, TraceError> {
    let contents = trace.contents();
    let mut kernels = vec![false; contents.kernels.len()];
    let is_generic = |space| space == AddressSpace::Generic;
    if !contents.operations.iter().any(|operation| is_generic(operation.space)) {
        return Ok(kernels);
    }
    for raw in trace.blocks() {
        let Some(known) = kernels.get_mut(raw.kernel as usize).filter(|known| !**known) else {
            continue;
        };
        let block = trace.block(raw)?;
        for i in 0..raw.loads as usize {
            if is_generic(block.load(i)?.operation().space) {
                *known = true;
                break;
            }
        }
    }
    Ok(kernels)
}
