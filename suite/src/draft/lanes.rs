//! The addresses of a draft's lanes.

use super::{Draft, align_up};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::Space;

impl Draft<'_> {
    /// Gives every lane the address of an allocated access.
    pub(super) fn draw_addresses(&mut self) {
        if self.is_offset_alone() {
            self.is_together = true;
        }
        let space = self.layout.main;
        let slots = self.slots(space);
        let (pattern, first) = (self.random.below(4), self.random.below(slots.len() as u64));
        for lane in 0..LANES {
            let slot = match pattern {
                0 => first,
                _ if self.is_together => first,
                1 => lane as u64 % (slots.len() as u64).max(1),
                _ => self.random.below(slots.len() as u64),
            };
            let address = slots.get(slot as usize).copied().unwrap_or(self.layout.reach.0);
            self.place(lane, space, address);
        }
        self.free = self.executing();
    }

    /// Gives a lane an address in `space`, and the Plg that selects that memory.
    pub(crate) fn place(&mut self, lane: usize, space: Space, address: u64) {
        self.addresses[lane] = address;
        self.set_plg(lane, space != Space::Shared);
    }

    /// Sets Plg in a lane. If the value is false, replaces PT, which is always true, by another predicate.
    pub(crate) fn set_plg(&mut self, lane: usize, value: bool) {
        if !self.form.has("Plg") {
            return;
        }
        if !value && self.plg.0 == 7 {
            self.plg.0 = 4 + self.random.below(3) as u8;
        }
        self.plg.1 = self.plg.1 & !(1 << lane) | u32::from(value) << lane;
    }

    /// The addresses of all aligned accesses that lie within an allocation of a memory; for local memory, within each
    /// part.
    pub(crate) fn slots(&self, space: Space) -> Vec<u64> {
        let bytes = self.form.bytes();
        let memory = &self.state.memory;
        let within = |start: u64, size: usize| {
            let first = align_up(start, bytes).wrapping_sub(start);
            let count = (size as u64).saturating_sub(first) / bytes;
            (0..count).map(move |i| start.wrapping_add(first).wrapping_add(bytes * i))
        };
        let local = |part: usize| memory.local[part].len() / LANES;
        let high = self.state.local_window.size - local(1) as u64;
        let offsets: Vec<u64> = match space {
            Space::Global => {
                memory.global.iter().flat_map(|(base, held)| within(*base, held.len())).collect()
            }
            Space::Shared => within(0, memory.shared.len()).collect(),
            Space::Local => within(0, local(0)).chain(within(high, local(1))).collect(),
            Space::Constant { .. } => {
                let bank = memory.constant.iter().find(|(bank, _)| *bank == self.bank);
                within(0, bank.map_or(0, |(_, held)| held.len())).collect()
            }
        };
        offsets.into_iter().map(|offset| self.address_in(space, offset)).collect()
    }

    /// The address after the last byte of a memory. For local memory: the end of its low part or, without one, the
    /// start of its high part.
    pub(crate) fn end_of(&self, space: Space) -> u64 {
        let memory = &self.state.memory;
        match space {
            Space::Global => {
                memory.global.last().map_or(0, |(base, held)| base.wrapping_add(held.len() as u64))
            }
            Space::Shared => self.address_in(space, memory.shared.len() as u64),
            Space::Local => {
                let [low, high] = &memory.local;
                let part = |held: &[u8]| (held.len() / LANES) as u64;
                let offset = match part(low) {
                    0 => self.state.local_window.size - part(high),
                    low => low,
                };
                self.address_in(space, offset)
            }
            Space::Constant { .. } => {
                let bank = memory.constant.iter().find(|(bank, _)| *bank == self.bank);
                bank.map_or(0, |(_, held)| held.len() as u64)
            }
        }
    }

    /// Takes some of the free lanes, or all of them if the lanes must have one address. Empty if none is free.
    pub(crate) fn claim(&mut self, most: u32) -> LaneMask {
        let free = self.free;
        if self.is_together {
            self.free = LaneMask::NONE;
            return free;
        }
        let mut claimed = LaneMask::NONE;
        for _ in 0..1 + self.random.below(most.into()) {
            let lanes: Vec<usize> = self.free.lanes().collect();
            let Some(lane) = self.random.pick(&lanes) else { break };
            claimed.insert(lane);
            self.free = LaneMask::from_bits(self.free.bits() & !(1 << lane));
        }
        claimed
    }

    /// Takes some lanes and gives them one address in `space`. False if no lane is free.
    pub(crate) fn claim_at(&mut self, space: Space, address: u64) -> bool {
        let claimed = self.claim(6);
        for lane in claimed.lanes() {
            self.place(lane, space, address);
        }
        !claimed.is_empty()
    }
}
