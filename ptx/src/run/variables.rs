//! [`Variables`]: the variables of a module and of one of its functions, and how they get into the memory of a machine.

use std::collections::HashMap;
use std::ops::Range;

use crate::meaning::{CONST_BANK, PARAMETER_BANK};
use crate::module::{
    Declaration, DeclarationId, Function, InitialBytes, LayoutError, Linkage, Module,
    VariableLayout, initial_bytes,
};
use crate::syntax::{Span, StateSpace};
use warpload::lane::LANES;
use warpload::memory::{ConfigError, Memory, MemoryBuilder, Space};
use warpload_machine::{AllocationError, DeviceMemory};

/// The most memory allocated for the variables of one space, in bytes over all lanes. A module's text can declare far
/// more.
const MAX_MADE: u64 = 64 << 20;

/// The address of the first `.global` variable without an address from the caller.
pub const GLOBAL_BASE: u64 = 0x8000_0000;

/// The reason why the variables of a module do not fit in a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The variables have no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Two variables of one space overlap.
    #[error("two variables overlap: both have byte {address:#x} of their space")]
    Overlap {
        /// The first common byte.
        address: u64,
        /// The name of the variable that is placed higher.
        name: Span,
    },
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
    /// A variable at the caller's address would reach beyond the last address.
    #[error("at {address:#x} the variable reaches beyond the last address")]
    Beyond {
        /// Its address.
        address: u64,
        /// Its name.
        name: Span,
    },
    /// The caller's address of a variable violates its alignment.
    #[error("{address:#x} is not a multiple of the variable's alignment, {alignment}")]
    Misaligned {
        /// Its address.
        address: u64,
        /// Its alignment in bytes.
        alignment: u64,
        /// Its name.
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
            Self::Overlap { name, .. }
            | Self::TooMuch { name, .. }
            | Self::Beyond { name, .. }
            | Self::Misaligned { name, .. } => Some(*name),
            Self::Memory { name, .. } => *name,
            Self::Image(_) => None,
        }
    }
}

/// A variable with the range of its addresses in its space, in bytes.
struct Variable<'m> {
    id: DeclarationId,
    declaration: &'m Declaration,
    range: Range<u64>,
}

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

/// The variables and parameters, sorted by their addresses.
pub(super) struct Variables<'m> {
    module: &'m Module<'m>,
    all: Vec<Variable<'m>>,
    /// Each variable's address in its space.
    pub(super) addresses: HashMap<DeclarationId, u64>,
    /// The values of parameters.
    given: HashMap<DeclarationId, Vec<u8>>,
}

impl<'m> Variables<'m> {
    /// Lays out the variables as [`VariableLayout`] does: `.global` variables from [`GLOBAL_BASE`] on, and all others from
    /// address 0 of their space on. `places` has the caller's addresses, and `given` the values of parameters.
    pub(super) fn new(
        module: &'m Module<'m>,
        function: &Function,
        places: &HashMap<DeclarationId, u64>,
        given: HashMap<DeclarationId, Vec<u8>>,
    ) -> Result<Self, PlacementError> {
        let outer = VariableLayout::new(module)?;
        let layout = outer.with_function(module, function)?;
        let mut all = Vec::new();
        for (id, declaration) in module.declarations_with_ids() {
            let (Some(offset), Some(bytes)) = (layout.offset(id), layout.bytes(id)) else {
                continue;
            };
            let base = if declaration.space == StateSpace::Global { GLOBAL_BASE } else { 0 };
            let address = places.get(&id).copied().unwrap_or(base + offset);
            let name = declaration.name;
            let end = address.checked_add(bytes);
            let end = end.ok_or(PlacementError::Beyond { address, name })?;
            all.push(Variable { id, declaration, range: address..end });
        }
        let misaligned = all.iter().find_map(|Variable { id, declaration, range }| {
            let (address, alignment) = (range.start, declaration.alignment());
            let is_wrong = places.contains_key(id) && !address.is_multiple_of(alignment);
            let name = declaration.name;
            is_wrong.then_some(PlacementError::Misaligned { address, alignment, name })
        });
        all.sort_by_key(|variable| (variable.declaration.space as u8, variable.range.start));
        let with_bytes: Vec<_> = all.iter().filter(|known| !known.range.is_empty()).collect();
        for pair in with_bytes.windows(2) {
            let [lower, Variable { declaration, range, .. }] = pair else { continue };
            if declaration.space == lower.declaration.space && range.start < lower.range.end {
                let (address, name) = (range.start, declaration.name);
                return Err(PlacementError::Overlap { address, name });
            }
        }
        match misaligned {
            Some(error) => Err(error),
            None => {
                let addresses = all.iter().map(|known| (known.id, known.range.start)).collect();
                Ok(Self { module, all, addresses, given })
            }
        }
    }

    /// Adds the variables to a memory, with their initial values, or zeros if they have none. The memory's own bytes
    /// win over initial values, but not over the values of parameters. `.extern` variables get no memory, because another
    /// module defines them, except in shared memory. Returns the bytes of unknown value, sorted by their offsets.
    pub(super) fn fill(
        &self,
        image: &Memory,
        memory: &mut DeviceMemory,
    ) -> Result<Vec<Hole>, PlacementError> {
        use StateSpace::{Const, Global, Local, Param, Shared};
        let mut holes = Vec::new();
        for (state, space) in [
            (Global, Space::Global),
            (Const, Space::Constant { bank: CONST_BANK }),
            (Param, Space::Constant { bank: PARAMETER_BANK }),
            (Shared, Space::Shared),
            (Local, Space::Local),
        ] {
            let is_here = |known: &&Variable<'_>| {
                let Declaration { space, linkage, .. } = known.declaration;
                let is_elsewhere = *linkage == Linkage::Extern && *space != Shared;
                *space == state && !is_elsewhere && !known.range.is_empty()
            };
            let all: Vec<&Variable<'m>> = self.all.iter().filter(is_here).collect();
            let first = holes.len();
            let (mut added, mut made) = (Vec::new(), 0_u64);
            // One piece of memory: all variables of a space, but in global memory only neighbours with nothing but alignment
            // padding between them.
            let is_joined = |before: &&Variable<'_>, next: &&Variable<'_>| {
                let end = before.range.end.checked_next_multiple_of(next.declaration.alignment());
                state != Global || end == Some(next.range.start)
            };
            for run in all.chunk_by(is_joined) {
                let start = if state == Global { run[0].range.start } else { 0 };
                let most = if state == Local { MAX_MADE / LANES as u64 } else { MAX_MADE };
                for Variable { range, declaration, .. } in run {
                    if made.saturating_add(range.end - start) > most {
                        let name = declaration.name;
                        return Err(PlacementError::TooMuch { space: state, name });
                    }
                }
                let mut bytes = Vec::new();
                for variable in run {
                    let Variable { declaration, range, .. } = variable;
                    let InitialBytes { bytes: initial, unknown } = self.initial(variable, image);
                    bytes.resize((range.start - start) as usize, 0);
                    bytes.extend(initial);
                    bytes.resize((range.end - start) as usize, 0);
                    holes.extend(unknown.into_iter().map(|(unknown, value)| Hole {
                        space,
                        range: range.start + unknown.start..range.start + unknown.end,
                        name: declaration.name,
                        value: Some(value).filter(|_| state != Param),
                    }));
                }
                made += bytes.len() as u64;
                check(image, space, start, &bytes).map_err(|cause| {
                    let name = run.last().map(|last| last.declaration.name);
                    PlacementError::Memory { cause, name }
                })?;
                added.extend(memory.supply(space, start, &bytes)?);
            }
            for Hole { range, .. } in &holes[first..] {
                for part in &added {
                    let unknown = range.start.max(part.start)..range.end.min(part.end);
                    if !unknown.is_empty() {
                        memory.make_unknown(space, unknown);
                    }
                }
            }
        }
        if let Some(bank) = memory.of_bank(PARAMETER_BANK, 0) {
            for (id, bytes) in &self.given {
                let offset = self.addresses.get(id).copied().unwrap_or(0);
                memory.write(bank, offset as usize, bytes);
            }
        }
        Ok(holes)
    }

    /// The initial bytes of a variable. A parameter has none.
    fn initial(&self, variable: &Variable<'_>, image: &Memory) -> InitialBytes {
        let Variable { id, declaration, range } = variable;
        let size = range.end - range.start;
        if declaration.space == StateSpace::Param {
            let unknown = (!self.given.contains_key(id)).then_some((0..size, declaration.name));
            return InitialBytes { bytes: Vec::new(), unknown: unknown.into_iter().collect() };
        }
        let address = |id: DeclarationId, is_generic: bool| {
            let window = match self.module.declaration(id)?.space {
                _ if !is_generic => 0,
                StateSpace::Global => 0,
                StateSpace::Shared => image.map().shared().base,
                StateSpace::Local => image.map().local().base,
                _ => return None,
            };
            self.addresses.get(&id)?.checked_add(window)
        };
        initial_bytes(self.module, declaration, size, &address)
    }
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
