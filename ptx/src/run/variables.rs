//! [`filled`]: how the variables of a module and of one of its functions get into the memory of a machine.

use std::collections::HashMap;
use std::ops::Range;

use crate::meaning::{CONST_BANK, PARAMETER_BANK, PARAMETER_BASE};
use crate::module::{
    Declaration, DeclarationId, LayoutError, Linkage, Module, VariableLayout, initial_bytes,
};
use crate::syntax::{Span, StateSpace};
use warpload::lane::LANES;
use warpload::memory::{ConfigError, Memory, MemoryBuilder, Space};
use warpload_machine::{AllocationError, DeviceMemory};

/// The most memory allocated for the variables of one space, in bytes over all lanes. A module's text can declare far
/// more.
const MAX_MADE: u64 = 64 << 20;

/// The reason why the variables of a module do not fit in a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The variables have no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The variables of a space exceed the memory that is allocated for them.
    #[error(
        "more than {} MiB of memory for .{space} variables; use an image for memory of that size",
        MAX_MADE >> 20
    )]
    TooMuch {
        /// The space.
        space: StateSpace,
        /// The name of the first variable that does not fit.
        name: Span,
    },
    /// The memory is invalid: a window is too small, an allocation lies inside one, or a bank is too large. The message
    /// is the cause's.
    #[error("{cause}")]
    Memory {
        /// The cause.
        cause: ConfigError,
        /// The name of the variable that makes the memory invalid, if it is known.
        name: Option<Span>,
    },
    /// The image cannot be held.
    #[error(transparent)]
    Image(#[from] AllocationError),
}

impl PlacementError {
    /// Returns the variable's place in the module; `None` for an error of the memory as a whole.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Layout(error) => Some(error.span()),
            Self::TooMuch { name, .. } => Some(*name),
            Self::Memory { name, .. } => *name,
            Self::Image(_) => None,
        }
    }
}

/// A variable with the range of its addresses in its space.
type Variable<'d> = (DeclarationId, &'d Declaration, Range<u64>);

/// A range of bytes with an unknown initial value, as offsets in a memory.
#[derive(Debug)]
pub(super) struct Hole {
    pub(super) space: Space,
    pub(super) range: Range<u64>,
    /// The name of the variable.
    pub(super) name: Span,
    /// The part of the initializer that is unknown; `None` for a parameter.
    pub(super) value: Option<Span>,
}

/// Creates the memory of an image with variables, which have their initial values, or zeros if they have none. The image's
/// bytes win over initial values, but not over `given`, the values of parameters; what is between these is unknown.
/// `.extern` variables get no memory, because another module defines them, except in shared memory. The second result is
/// the unknown bytes of variables.
pub(super) fn filled(
    module: &Module<'_>,
    layout: &VariableLayout<'_>,
    given: &HashMap<DeclarationId, Vec<u8>>,
    image: &Memory,
) -> Result<(DeviceMemory, Vec<Hole>), PlacementError> {
    use StateSpace::{Const, Global, Local, Param, Shared};
    let address = |id: DeclarationId, is_generic: bool| {
        let window = match module.declaration(id)?.space {
            Shared if is_generic => image.map().shared().base,
            Local if is_generic => image.map().local().base,
            Const | Param if is_generic => return None,
            _ => 0,
        };
        layout.address(id)?.checked_add(window)
    };
    let mut memory = DeviceMemory::of_image(image)?;
    // In PTX, the addresses of parameters begin at 0.
    let parameters = memory.take_bank(PARAMETER_BANK);
    let parameters = parameters.get(PARAMETER_BASE as usize..).unwrap_or_default();
    memory.supply(Space::Constant { bank: PARAMETER_BANK }, 0, parameters)?;
    let mut holes = Vec::new();
    for (state, space) in [
        (Global, Space::Global),
        (Const, Space::Constant { bank: CONST_BANK }),
        (Param, Space::Constant { bank: PARAMETER_BANK }),
        (Shared, Space::Shared),
        (Local, Space::Local),
    ] {
        let is_here = |declared: &Declaration| {
            declared.space == state && (declared.linkage != Linkage::Extern || state == Shared)
        };
        let all = module.declarations_with_ids().filter(|(_, declared)| is_here(declared));
        let all = all.filter_map(|(id, declared)| Some((id, declared, layout.placed(id)?)));
        let mut all: Vec<_> = all.filter(|(_, _, range)| !range.is_empty()).collect();
        all.sort_by_key(|(_, _, range)| range.start);
        let mut made = 0_u64;
        // One piece of memory: all variables of a space, but in global memory only neighbours with nothing but alignment
        // padding between them.
        let is_joined = |(_, _, before): &Variable<'_>, (_, next, range): &Variable<'_>| {
            let end = before.end.checked_next_multiple_of(next.alignment());
            state != Global || end == Some(range.start)
        };
        for run in all.chunk_by(is_joined) {
            let start = if state == Global { run[0].2.start } else { 0 };
            let most = if state == Local { MAX_MADE / LANES as u64 } else { MAX_MADE };
            if let Some((_, declared, _)) =
                run.iter().find(|known| made.saturating_add(known.2.end - start) > most)
            {
                return Err(PlacementError::TooMuch { space: state, name: declared.name });
            }
            let (mut bytes, first) = (Vec::new(), holes.len());
            for (id, declared, range) in run {
                let (name, end) = (declared.name, (range.end - start) as usize);
                bytes.resize((range.start - start) as usize, 0);
                if state != Param {
                    let size = range.end - range.start;
                    let initial = initial_bytes(module, declared, size, &address, |_| None);
                    bytes.extend(initial.bytes);
                    holes.extend(initial.unknown.into_iter().map(|(part, value)| {
                        let range = range.start + part.start..range.start + part.end;
                        Hole { space, range, name, value: Some(value) }
                    }));
                } else if !given.contains_key(id) {
                    holes.push(Hole { space, range: range.clone(), name, value: None });
                }
                bytes.resize(end, 0);
            }
            made += bytes.len() as u64;
            check(image, space, start, &bytes).map_err(|cause| {
                let name = run.last().map(|last| last.1.name);
                PlacementError::Memory { cause, name }
            })?;
            let unknown: Vec<_> = match state {
                // What is between parameters is unknown, too.
                Param => std::iter::once(0..u64::MAX).collect(),
                _ => holes[first..].iter().map(|hole| hole.range.clone()).collect(),
            };
            for part in memory.supply(space, start, &bytes)? {
                for range in &unknown {
                    let both = range.start.max(part.start)..range.end.min(part.end);
                    if !both.is_empty() {
                        memory.make_unknown(space, both);
                    }
                }
            }
        }
    }
    if let Some(bank) = memory.of_bank(PARAMETER_BANK, 0) {
        for (id, bytes) in given {
            memory.write(bank, layout.address(*id).unwrap_or(0) as usize, bytes);
        }
    }
    Ok((memory, holes))
}

/// Checks that the memory of an image can have these bytes.
fn check(image: &Memory, space: Space, start: u64, bytes: &[u8]) -> Result<(), ConfigError> {
    let builder = MemoryBuilder::new(*image.map());
    let builder = match space {
        Space::Global => builder.global(start, bytes),
        Space::Constant { bank: CONST_BANK } => builder.constant(CONST_BANK, bytes),
        // Parameters are not limited to a bank, because those of functions are not in one.
        Space::Constant { .. } => builder,
        Space::Shared => builder.shared(bytes),
        Space::Local => {
            let high = image.local_high_bytes(0);
            let [low, all] = [bytes, high].map(|of_lane| of_lane.repeat(LANES));
            builder.local_low(bytes.len(), &low).local_high(high.len(), &all)
        }
    };
    builder.build().map(drop)
}
