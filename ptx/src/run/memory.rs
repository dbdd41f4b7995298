//! Adds a module's variables to a machine's memory. [`Holes`] are the variables and parameters with an unknown value.

use std::ops::Range;

use warpload::lane::LANES;
use warpload::memory::{
    AddressMap, AddressSpace, Allocation, ConfigError, Memory, MemoryBuilder, Space,
};

use super::access::WarpAccess;
use super::placement::{MAX_MADE, Placement, PlacementError, is_elsewhere};
use crate::meaning::{CONST_BANK, PARAMETER_BANK, PARAMETER_BASE, PARAMETERS};
use crate::module::{Declaration, DeclarationId, initial_bytes};
use crate::syntax::{Span, StateSpace};

/// The variables to add to a memory.
pub(super) struct Plan<'p, 'm> {
    pub(super) placement: &'p Placement<'m>,
    pub(super) map: AddressMap,
}

/// A variable with its range of addresses and its bytes.
struct Placed<'m> {
    declaration: &'m Declaration,
    range: Range<u64>,
    initial: Vec<u8>,
}

impl<'m> Plan<'_, 'm> {
    /// The memory with all variables, or the same one if there are none to add, and the unknown bytes.
    pub(super) fn memory(&self, memory: Memory) -> Result<(Memory, Holes), PlacementError> {
        use StateSpace::{Const, Global, Local, Param, Shared};
        let mut holes = self.parameters_without_value();
        let [consts, globals, locals, shared] =
            [Const, Global, Local, Shared].map(|space| self.placed(space, &mut holes));
        let (consts, globals, locals, shared) = (consts?, globals?, locals?, shared?);
        let holes = Holes::of(holes, &memory);
        let parameters = self.parameters();
        let all = [&consts, &globals, &locals, &shared, &parameters];
        if all.iter().all(|placed| placed.is_empty()) {
            return Ok((memory, holes));
        }
        let mut builder = MemoryBuilder::new(self.map);
        for allocation in memory.allocations() {
            builder = builder.global(allocation.base, memory.allocation_bytes(allocation));
        }
        for (base, bytes) in missing(&memory, &runs(&globals)?) {
            builder = builder.global(base, &bytes);
        }
        builder = builder.shared(&flat(Shared, memory.shared_bytes(), &shared)?);
        builder = self.local(builder, &memory, &locals)?;
        for (bank, held) in memory.constant_banks() {
            if bank != CONST_BANK && bank != PARAMETER_BANK {
                builder = builder.constant(bank, held);
            }
        }
        let bank = |bank| memory.constant_bytes(bank);
        if bank(CONST_BANK).is_some() || !consts.is_empty() {
            let held = bank(CONST_BANK).unwrap_or_default();
            builder = builder.constant(CONST_BANK, &flat(Const, held, &consts)?);
        }
        if bank(PARAMETER_BANK).is_some() || !parameters.is_empty() {
            let mut bytes = flat(Param, bank(PARAMETER_BANK).unwrap_or_default(), &parameters)?;
            // Parameters from the caller replace bytes of an image, unlike the initial values of variables.
            fill(&mut bytes, &parameters);
            builder = builder.constant(PARAMETER_BANK, &bytes);
        }
        match builder.build() {
            Ok(memory) => Ok((memory, holes)),
            Err(cause) => {
                let name = self.at_fault(&cause);
                Err(PlacementError::Memory { cause, name })
            }
        }
    }

    /// The variable that makes a memory invalid, as far as the error tells.
    fn at_fault(&self, error: &ConfigError) -> Option<Span> {
        let of = |space| self.placement.variables(space);
        let last = |space| of(space).max_by_key(|(_, _, range)| range.end);
        let found = match error {
            ConfigError::SharedTooLarge { .. } => last(StateSpace::Shared),
            ConfigError::LocalTooLarge { .. } => last(StateSpace::Local),
            ConfigError::ConstantTooLarge { bank: PARAMETER_BANK, .. } => last(StateSpace::Param),
            ConfigError::ConstantTooLarge { .. } => last(StateSpace::Const),
            _ => {
                let windows = [self.map.shared(), self.map.local()];
                let is_wrong = |range: &Range<u64>| {
                    let end = 1_u64.checked_shl(self.map.address_bits()).unwrap_or(u64::MAX);
                    let is_in = |base: u64, size| {
                        range.start < base.saturating_add(size) && base < range.end
                    };
                    range.end > end || windows.iter().any(|window| is_in(window.base, window.size))
                };
                let wrong = of(StateSpace::Global).find(|(_, _, range)| is_wrong(range));
                wrong.or_else(|| last(StateSpace::Global))
            }
        };
        found.map(|(_, declaration, _)| declaration.name)
    }

    /// The parameters, and the variables for the results of calls, except for the ones that the caller set.
    fn parameters_without_value(&self) -> Vec<Hole> {
        let given = &self.placement.parameters;
        let parameters = self.placement.variables(StateSpace::Param);
        let unset = parameters.filter(|(id, ..)| !given.contains_key(id));
        let hole = |(declaration, _, range)| {
            let space = StateSpace::Param;
            Hole { space, range, declaration, value: None }
        };
        unset.map(hole).collect()
    }

    /// Adds the `.local` variables to the low part of local memory, and copies the high part.
    fn local(
        &self,
        builder: MemoryBuilder,
        memory: &Memory,
        locals: &[Placed<'_>],
    ) -> Result<MemoryBuilder, PlacementError> {
        let mut low = Vec::new();
        let mut high = Vec::new();
        let mut bytes_per_lane = 0;
        for lane in 0..LANES {
            let own = flat(StateSpace::Local, memory.local_low_bytes(lane), locals)?;
            bytes_per_lane = own.len();
            low.extend(own);
            high.extend_from_slice(memory.local_high_bytes(lane));
        }
        Ok(builder.local_low(bytes_per_lane, &low).local_high(high.len() / LANES, &high))
    }

    /// The variables of a space with their initial bytes. Unknown ones become holes.
    fn placed(
        &self,
        space: StateSpace,
        holes: &mut Vec<Hole>,
    ) -> Result<Vec<Placed<'m>>, PlacementError> {
        let address = |id, is_generic| self.address(id, is_generic);
        let variables = self.placement.variables(space);
        let here = variables.filter(|(_, declaration, _)| !is_elsewhere(declaration));
        let mut made = 0_u64;
        let placed = here.map(|(id, declaration, range)| {
            let size = range.end - range.start;
            made = made.saturating_add(size);
            if made > MAX_MADE {
                return Err(PlacementError::TooMuch { space, name: declaration.name });
            }
            let initial = initial_bytes(self.placement.module, declaration, size, &address);
            holes.extend(initial.unknown.into_iter().map(|(unknown, value)| {
                let range = range.start + unknown.start..range.start + unknown.end;
                Hole { space, range, declaration: id, value: Some(value) }
            }));
            Ok(Placed { declaration, range, initial: initial.bytes })
        });
        placed.collect()
    }

    /// The parameters that the caller set.
    fn parameters(&self) -> Vec<Placed<'m>> {
        let given = &self.placement.parameters;
        let variables = self.placement.variables(StateSpace::Param);
        let placed = variables.filter_map(|(id, declaration, range)| {
            let mut initial = given.get(&id)?.clone();
            // Bounded, because `range` comes from the module's text. A larger bank is refused later.
            let size = range.end - range.start;
            initial.resize(size.min(1 << 16).max(initial.len() as u64) as usize, 0);
            let in_bank = |address: u64| address.saturating_add(PARAMETER_BASE);
            let range = in_bank(range.start)..in_bank(range.end);
            Some(Placed { declaration, range, initial })
        });
        placed.collect()
    }

    /// The value of a variable's name in an initializer.
    fn address(&self, id: DeclarationId, is_generic: bool) -> Option<u64> {
        let address = self.placement.address(id)?;
        let window = match self.placement.module.declaration(id)?.space {
            _ if !is_generic => 0,
            StateSpace::Global => 0,
            StateSpace::Shared => self.map.shared().base,
            StateSpace::Local => self.map.local().base,
            _ => return None,
        };
        address.checked_add(window)
    }
}

/// The bytes of a space that begins at 0. `held` wins over the variables.
fn flat(
    space: StateSpace,
    held: &[u8],
    variables: &[Placed<'_>],
) -> Result<Vec<u8>, PlacementError> {
    let lanes = if space == StateSpace::Local { LANES as u64 } else { 1 };
    for placed in variables {
        let name = placed.declaration.name;
        if placed.range.end > MAX_MADE / lanes {
            return Err(PlacementError::TooMuch { space, name });
        }
    }
    let end = variables.iter().map(|placed| placed.range.end as usize).max().unwrap_or(0);
    let mut bytes = vec![0; end.max(held.len())];
    fill(&mut bytes, variables);
    bytes[..held.len()].copy_from_slice(held);
    Ok(bytes)
}

/// Copies the variables' initial values to their addresses.
fn fill(bytes: &mut [u8], variables: &[Placed<'_>]) {
    for Placed { range, initial, .. } in variables {
        let place = bytes.get_mut(range.start as usize..);
        debug_assert!(place.is_some(), "there are bytes for every variable");
        let place = place.unwrap_or_default();
        place.iter_mut().zip(initial).for_each(|(byte, value)| *byte = *value);
    }
}

/// Allocations for the global variables. Variables with only alignment padding between them share one, as they do in a
/// loaded module.
fn runs(globals: &[Placed<'_>]) -> Result<Vec<(u64, Vec<u8>)>, PlacementError> {
    let mut sorted: Vec<&Placed<'_>> = globals.iter().collect();
    sorted.sort_by_key(|placed| placed.range.start);
    let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut made = 0;
    for Placed { declaration, range, initial, .. } in sorted {
        let end = |run: &(u64, Vec<u8>)| run.0 + run.1.len() as u64;
        let aligned = |run: &(u64, Vec<u8>)| {
            end(run).checked_next_multiple_of(declaration.alignment()) == Some(range.start)
        };
        let size = range.end - range.start;
        let name = declaration.name;
        let too_much = PlacementError::TooMuch { space: StateSpace::Global, name };
        let joined = match runs.last_mut() {
            Some(run) if aligned(run) => run,
            _ => {
                runs.push((range.start, Vec::new()));
                let Some(run) = runs.last_mut() else { continue };
                run
            }
        };
        made += size + (range.start - end(joined));
        if made > MAX_MADE {
            return Err(too_much);
        }
        joined.1.resize((range.start - joined.0) as usize, 0);
        joined.1.extend_from_slice(initial);
        joined.1.resize((range.end - joined.0) as usize, 0);
    }
    Ok(runs)
}

/// The parts of the runs that are not in any allocation of the memory.
fn missing(memory: &Memory, runs: &[(u64, Vec<u8>)]) -> Vec<(u64, Vec<u8>)> {
    let mut missing = Vec::new();
    for (base, bytes) in runs {
        for part in not_held(memory, StateSpace::Global, *base..base + bytes.len() as u64) {
            let of_run = (part.start - base) as usize..(part.end - base) as usize;
            missing.push((part.start, bytes[of_run].to_vec()));
        }
    }
    missing
}

/// A range of bytes with an unknown value.
#[derive(Clone, Debug)]
pub(super) struct Hole {
    pub(super) space: StateSpace,
    /// Addresses in `space`.
    pub(super) range: Range<u64>,
    /// The variable.
    pub(super) declaration: DeclarationId,
    /// The part of the initializer that is unknown; `None` for a parameter.
    pub(super) value: Option<Span>,
}

/// The unknown bytes, sorted by space and address.
#[derive(Debug, Default)]
pub(super) struct Holes(Vec<Hole>);

impl Holes {
    /// Removes the bytes that `memory` has a value for.
    pub(super) fn of(holes: Vec<Hole>, memory: &Memory) -> Self {
        let left = holes.into_iter().flat_map(|hole| {
            let parts = not_held(memory, hole.space, hole.range.clone());
            parts.into_iter().map(move |range| Hole { range, ..hole.clone() })
        });
        let mut left: Vec<Hole> = left.collect();
        left.sort_by_key(|hole| (order(hole.space), hole.range.start));
        Self(left)
    }

    /// The first hole that a lane of the access would read.
    pub(super) fn read_by(&self, access: &WarpAccess, memory: &Memory) -> Option<&Hole> {
        if self.0.is_empty() {
            return None;
        }
        access.executing.lanes().find_map(|lane| {
            let first = access.rounded(lane).0;
            let (space, first) = match access.space {
                PARAMETERS => (StateSpace::Param, first),
                AddressSpace::Constant { .. } => (StateSpace::Const, first),
                AddressSpace::Global => (StateSpace::Global, first),
                AddressSpace::Shared => (StateSpace::Shared, first),
                AddressSpace::Local => (StateSpace::Local, first),
                AddressSpace::Generic => match access.space_of(memory, lane)? {
                    Space::Shared => (StateSpace::Shared, first - memory.map().shared().base),
                    Space::Local => (StateSpace::Local, first - memory.map().local().base),
                    _ => (StateSpace::Global, first),
                },
            };
            let end = first.saturating_add(u64::from(access.width.bytes()));
            // Holes do not overlap, so the first one that ends after the first byte is the only candidate.
            let place = (order(space), first);
            let next = self.0.partition_point(|hole| (order(hole.space), hole.range.end) <= place);
            self.0.get(next).filter(|hole| hole.space == space && hole.range.start < end)
        })
    }
}

fn order(space: StateSpace) -> u8 {
    space as u8
}

/// The parts of a range that a memory does not have.
fn not_held(memory: &Memory, space: StateSpace, range: Range<u64>) -> Vec<Range<u64>> {
    let bank = |bank| memory.constant_bytes(bank).map_or(0, <[u8]>::len) as u64;
    let held = match space {
        StateSpace::Global => return outside_allocations(memory, range),
        StateSpace::Const => bank(CONST_BANK),
        StateSpace::Param => bank(PARAMETER_BANK).saturating_sub(PARAMETER_BASE),
        StateSpace::Shared => memory.shared_bytes().len() as u64,
        StateSpace::Local => memory.local_low_bytes(0).len() as u64,
        StateSpace::Register | StateSpace::Texture => 0,
    };
    let left = range.start.max(held)..range.end;
    if left.is_empty() { Vec::new() } else { vec![left] }
}

fn outside_allocations(memory: &Memory, range: Range<u64>) -> Vec<Range<u64>> {
    let mut outside = Vec::new();
    let mut from = range.start;
    let mut keep = |part: Range<u64>| {
        if !part.is_empty() {
            outside.push(part);
        }
    };
    // Does not saturate: allocations end at 2^address_bits at the latest.
    let end_of = |known: &Allocation| known.base.saturating_add(known.size);
    let all = memory.allocations();
    let first = all.partition_point(|known| end_of(known) <= range.start);
    for allocation in all[first..].iter().take_while(|known| known.base < range.end) {
        keep(from..allocation.base);
        from = from.max(end_of(allocation).min(range.end));
    }
    keep(from..range.end);
    outside
}
