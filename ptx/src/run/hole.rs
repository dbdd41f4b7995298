//! Uninitialized bytes: those of variables and parameters whose value is unknown.

use std::ops::Range;

use super::access::WarpAccess;
use crate::meaning::{CONST_BANK, PARAMETER_BANK, PARAMETER_BASE, PARAMETERS};
use crate::module::DeclarationId;
use crate::syntax::{Span, StateSpace};
use warpload::memory::{AddressSpace, Allocation, Memory, Space};

/// Bytes that no load can read.
#[derive(Clone, Debug)]
pub(super) struct Hole {
    pub(super) space: StateSpace,
    /// Addresses in the space.
    pub(super) range: Range<u64>,
    /// The variable.
    pub(super) declaration: DeclarationId,
    /// The initializer whose value is unknown; `None` for a parameter.
    pub(super) value: Option<Span>,
}

/// Where the spaces with variables have no bytes, space by space, by ascending address.
#[derive(Debug, Default)]
pub(super) struct Holes(Vec<Hole>);

impl Holes {
    /// Those that the memory leaves.
    pub(super) fn of(holes: Vec<Hole>, memory: &Memory) -> Self {
        let left = holes.into_iter().flat_map(|hole| {
            let parts = not_held(memory, hole.space, hole.range.clone());
            parts.into_iter().map(move |range| Hole { range, ..hole.clone() })
        });
        let mut left: Vec<Hole> = left.collect();
        left.sort_by_key(|hole| (order(hole.space), hole.range.start));
        Self(left)
    }

    /// The first one that a lane of the access would read.
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
            // No two overlap: the first one that ends after the first byte.
            let place = (order(space), first);
            let next = self.0.partition_point(|hole| (order(hole.space), hole.range.end) <= place);
            self.0.get(next).filter(|hole| hole.space == space && hole.range.start < end)
        })
    }
}

fn order(space: StateSpace) -> u8 {
    space as u8
}

/// The parts of a range of a space that a memory does not have.
pub(super) fn not_held(memory: &Memory, space: StateSpace, range: Range<u64>) -> Vec<Range<u64>> {
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
    // Allocations end at 2^address_bits at the latest.
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
