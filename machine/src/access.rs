//! Executes the loads, stores, atomic operations and asynchronous copies of a warp.

use std::cell::Cell;

use crate::code::{Atomic, Base, CopiedPart, Element, Mbarrier, MemoryKind, MemoryOp, Op, Scope};
use crate::effects;
use crate::engine::{Engine, HINTS, Stop};
use crate::fault::{FaultKind, MachineFaultKind, MbarrierFault};
use crate::hang::Poll;
use crate::mbarrier::State;
use crate::memory::{Found, Memories, Missing, UNKNOWN, UNWRITTEN, joined};
use crate::observer::{LoadAlone, LoadOutcome, LoadedLanes, SkipReason};
use crate::races::{CheckedAccess, Place};
use crate::registers::{Origin, Registers, Slot};
use crate::scalar::ScalarType as T;
use crate::warp::{Path, Warp, lanes};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LaneFault, LaneFaultKind, LoadOp, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressSpace, GenericAddress, LoadMemory, Space, WarpAddresses, Width};

/// The bytes of an access in each lane, lane 0 first.
pub type LaneBytes = [[u8; 32]; LANES];

/// The most elements of an access.
const MAX_ELEMENTS: usize = 32;

static NO_VALUES: LaneBytes = [[0; 32]; LANES];

/// Executes an access in the lanes of a mask.
pub(crate) fn execute(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    access: &MemoryOp,
    exec: u32,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    let polls = match access.kind {
        MemoryKind::Load => access.strong.is_some(),
        MemoryKind::Atomic(_) => false,
        MemoryKind::Mbarrier(_) => true,
        MemoryKind::Store | MemoryKind::Copy { .. } => false,
    };
    let mut addresses = [0; LANES];
    let stride = find_addresses(warp, path, Address::of(access), exec, &mut addresses)?;
    let addresses = &addresses;
    if polls {
        engine.polls += 1;
        note_poll(warp, op, access, exec, addresses, engine);
    }
    let mut run = Access { warp, path, op, access, exec, addresses, stride };
    match access.kind {
        MemoryKind::Load => run.load(engine),
        MemoryKind::Store => run.store(engine),
        MemoryKind::Atomic(operation) => run.atomic(operation, engine),
        MemoryKind::Mbarrier(operation) => run.mbarrier(operation, engine),
        MemoryKind::Copy { source, source_offset, bytes, part } => {
            let mut from = [0; LANES];
            let address = Address::new(AddressSpace::Global, source, source_offset);
            find_addresses(run.warp, path, address, exec, &mut from)?;
            run.copy(&from, bytes, part, engine)
        }
    }
}

/// Notes an access that may wait for another thread.
fn note_poll(
    warp: &mut Warp,
    op: &Op,
    access: &MemoryOp,
    exec: u32,
    addresses: &[u64; LANES],
    engine: &mut Engine<'_>,
) {
    let address = addresses[exec.trailing_zeros() as usize % LANES];
    if let Some(place) = Place::of(access.space, address, engine.memory.map()) {
        let is_mbarrier = matches!(access.kind, MemoryKind::Mbarrier(_));
        let poll = Poll { lanes: exec, site: op.site, place, is_mbarrier };
        engine.last_poll = Some((engine.block.index, poll));
        warp.note_poll(poll);
    }
}

/// How a warp's addresses are formed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    base: Base,
    offset: u64,
    /// The bits that an address has.
    mask: u64,
}

impl Address {
    /// Addresses of other spaces than global memory have 32 bits, as in hardware, and so have sums of 32-bit registers.
    pub(crate) fn new(space: AddressSpace, base: Base, offset: u64) -> Self {
        let is_narrow = matches!(base, Base::Register { is_wide: false, .. });
        let is_long = matches!(space, AddressSpace::Generic | AddressSpace::Global) && !is_narrow;
        Self { base, offset, mask: if is_long { u64::MAX } else { u32::MAX.into() } }
    }

    pub(crate) fn of(access: &MemoryOp) -> Self {
        Self::new(access.space, access.base, access.offset)
    }
}

/// Computes the addresses of the lanes. Returns the distance between neighbours, if all 32 lanes execute and have the same
/// one.
pub(crate) fn find_addresses(
    warp: &Warp,
    path: &Path,
    Address { base, offset, mask }: Address,
    exec: u32,
    addresses: &mut [u64; LANES],
) -> Result<Option<u64>, Stop> {
    let frame = &warp.frames[path.frame];
    let (slot, is_wide) = match base {
        Base::Register { slot, is_wide } => (slot, is_wide),
        Base::Zero | Base::Frame => {
            let first = if base == Base::Frame { frame.local_base } else { 0 };
            addresses.fill(first.wrapping_add(offset) & mask);
            return Ok(Some(0).filter(|_| exec == u32::MAX));
        }
    };
    warp.need(path, slot, exec, "an address")?;
    let registers = &frame.registers;
    let others = match is_wide {
        true => {
            warpload::simd::vectorized!(add_wide(addresses, registers.get(slot), offset, mask))
        }
        false => {
            warpload::simd::vectorized!(add_narrow(addresses, registers.get(slot), offset as u32))
        }
    };
    let stride = addresses[1].wrapping_sub(addresses[0]);
    Ok(Some(stride).filter(|_| others == 0 && exec == u32::MAX))
}

/// Adds the offset to each base. Returns 0 if all neighbours have the same distance, because such addresses are a stride.
#[inline(always)]
fn add_wide(addresses: &mut [u64; LANES], bases: &[u64; LANES], offset: u64, mask: u64) -> u64 {
    for lane in 0..LANES {
        addresses[lane] = bases[lane].wrapping_add(offset) & mask;
    }
    others(addresses)
}

/// [`add_wide`] for addresses that wrap at 32 bits.
#[inline(always)]
fn add_narrow(addresses: &mut [u64; LANES], bases: &[u32; LANES], offset: u32) -> u64 {
    for lane in 0..LANES {
        addresses[lane] = bases[lane].wrapping_add(offset).into();
    }
    others(addresses)
}

/// 0 if all neighbours have the same distance. The differences are joined rather than compared one by one, so that the
/// loop has no branch and is vectorized.
#[inline(always)]
fn others(addresses: &[u64; LANES]) -> u64 {
    let stride = addresses[1].wrapping_sub(addresses[0]);
    let mut others = 0;
    for lane in 1..LANES {
        others |= addresses[lane].wrapping_sub(addresses[lane - 1]) ^ stride;
    }
    others
}

/// Borrows the memories that a warp can access, together with the registers of a path's frame.
pub(crate) fn parts<'p>(
    warp: &'p mut Warp,
    path: &Path,
    engine: &'p mut Engine<'_>,
) -> (Memories<'p>, &'p mut Registers) {
    let frame = &mut warp.frames[path.frame];
    let local_size = frame.end(engine.code).max(warp.local.of_image_size());
    let memories = Memories {
        global: &mut *engine.memory,
        shared: &mut engine.block.shared,
        local: &mut warp.local,
        local_size,
        local_ends: frame.stack.as_deref(),
        hint: &engine.hints[path.pc as usize % HINTS],
        has_flags: Cell::new(false),
    };
    (memories, &mut frame.registers)
}

struct Access<'a, 'w> {
    warp: &'w mut Warp,
    path: &'a Path,
    op: &'a Op,
    access: &'a MemoryOp,
    exec: u32,
    addresses: &'a [u64; LANES],
    /// The distance between the addresses of neighbours, if all lanes execute and have the same one.
    stride: Option<u64>,
}

impl Access<'_, '_> {
    /// Reports the fault of a lane without bytes.
    fn missing(&self, lane: usize, missing: Missing, bytes: u32, engine: &mut Engine<'_>) {
        self.fault(lane, FaultKind::of_missing(missing, bytes), engine);
    }

    fn fault(&self, lane: usize, kind: MachineFaultKind, engine: &mut Engine<'_>) {
        let (space, address) = (self.access.space, self.addresses[lane]);
        let address = engine.generic(space, address);
        engine.fault(kind, self.op, self.warp.number, lane as u32, address);
    }

    /// Stores without a lookup for each lane. Returns false if the general path is necessary: a lane faults, lanes access
    /// unknown bytes or local memory, or an observer needs the bytes.
    fn store_at_once(&mut self, engine: &mut Engine<'_>) -> bool {
        if engine.observes_values() {
            return false;
        }
        let (size, exec) = (self.access.size, self.exec);
        let bytes = self.access.bytes();
        let (mut memories, registers) = parts(self.warp, self.path, engine);
        let elements = self.access.elements.iter().flatten();
        if elements.clone().any(|element| registers.unknown(element.slot) & exec != 0) {
            return false;
        }
        let mut offsets = [0; LANES];
        let space = self.access.space;
        let found = memories.find_all_written(space, self.addresses, bytes, exec, &mut offsets);
        let Some((found, is_run)) = found else { return false };
        let values = &mut memories.at_mut(found).0.values[..];
        for (place, element) in self.access.elements.iter().enumerate() {
            let Some(element) = element else { continue };
            let start = place * size as usize;
            match (size, element.rows) {
                (4, 1) if is_run && bytes == 4 => {
                    let row: &[u32; LANES] = registers.get(element.slot);
                    let place = offsets[0] as usize..offsets[0] as usize + 4 * LANES;
                    let words = values.get_mut(place).unwrap_or_default().as_chunks_mut().0;
                    for (to, value) in words.iter_mut().zip(row) {
                        *to = value.to_le_bytes();
                    }
                    continue;
                }
                (4, 1) => {
                    let row = registers.get::<u32>(element.slot);
                    scatter(row, exec, &offsets, place, values, u32::to_le_bytes);
                    continue;
                }
                (8, 2) => {
                    let row = registers.get::<u64>(element.slot);
                    scatter(row, exec, &offsets, place, values, u64::to_le_bytes);
                    continue;
                }
                _ => {}
            }
            for lane in lanes(exec) {
                let value = registers.lane(element.slot, element.rows, lane).to_le_bytes();
                let at = offsets[lane] as usize + start;
                if let Some(to) = values.get_mut(at..at + size as usize) {
                    to.copy_from_slice(&value[..size as usize]);
                }
            }
        }
        true
    }

    /// Loads by the rules of docs/ld.md. Only unknown bytes, observers and the race detector need a look at each lane.
    fn load(&mut self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        engine.counts.loads += 1;
        let MemoryOp { space, size, scalar, elements, .. } = self.access;
        let is_alone = self.op.alone.is_some();
        let bytes = self.access.bytes();
        let width = Width::from_bytes(bytes).unwrap_or(Width::Bytes1);
        debug_assert_eq!(width.bytes(), bytes, "the sizes of loads are powers of two");
        let misaligned = engine.options.misaligned;
        let is_observed = engine.observes_values();
        let executing = LaneMask::from_bits(self.exec);
        let addresses = match self.stride {
            Some(stride) => WarpAddresses::Stride { base: self.addresses[0], stride },
            None => WarpAddresses::Each(*self.addresses),
        };
        let op = LoadOp { space: *space, width, signed: false, uniform: false };
        if let Some(plg) = self.access.plg {
            self.warp.need(self.path, plg, self.exec, "the predicate of an address")?;
        }
        let (mut memories, registers) = parts(self.warp, self.path, engine);
        let plg = self.access.plg.map(|plg| LaneMask::from_bits(registers.predicate(plg)));
        let accesses = LaneAddresses { executing, plg, addresses };
        let mut rows = None;
        // One register of 32 bits is loaded where it is, unless it may have to be kept.
        let place = match elements[..] {
            [Some(Element { slot, rows: 1, .. })]
                if (*size == 4 || !scalar.is_signed()) && !is_alone =>
            {
                Some(slot)
            }
            _ => None,
        };
        let own = match place {
            Some(slot) => std::slice::from_mut(registers.row_mut::<u32>(slot)),
            None => rows.insert([[0; LANES]; Width::MAX_REGISTERS]),
        };
        let loaded = load(op, &accesses, &memories, misaligned, own);
        // Usually there are flags of other bytes of shared memory.
        let is_plain = || {
            let place = |lane: usize| Place::of(*space, self.addresses[lane], memories.map());
            let is_plain = |lane: usize| match place(lane) {
                Some(Place::Shared(offset)) => {
                    let start = offset as usize;
                    memories.shared.flags(start..start.saturating_add(bytes as usize)) == 0
                }
                _ => false,
            };
            misaligned == Misaligned::Fault && lanes(self.exec).all(is_plain)
        };
        let has_flags = memories.has_flags.get() && !is_plain();
        let is_looked_at = is_observed || has_flags;
        let is_zeroed = |fault: &&LaneFault| fault.kind().zeroes(misaligned);
        let zeroed = loaded.faults.iter().filter(is_zeroed);
        let mut done = zeroed.fold(self.exec, |done, fault| done & !(1 << fault.lane));
        let rounded = (misaligned != Misaligned::Fault)
            .then(|| self.addresses.map(|address| address & !u64::from(bytes - 1)));
        let read = rounded.as_ref().unwrap_or(self.addresses);
        memories.note_loads(*space, read, bytes, done);
        let looked = is_looked_at.then(|| self.look(width, done, engine));
        if let Some(Looked { first_unknown: Some((space, offset)), .. }) = looked
            && is_alone
        {
            let reason = SkipReason::Bytes(space, offset);
            return effects::skip(self.warp, self.path, self.op, reason, engine);
        }
        let registers = &mut self.warp.frames[self.path.frame].registers;
        if let Some(rows) = &rows {
            write_rows(registers, self.access, rows, self.exec);
        }
        for element in elements.iter().flatten() {
            registers.know(element.slot, self.exec);
        }
        for fault in &loaded.faults {
            let kind = match fault.kind() {
                LaneFaultKind::MisalignedAddress => FaultKind::Misaligned { bytes },
                _ => FaultKind::OutOfBounds,
            };
            self.fault(fault.lane, kind, engine);
        }
        if let Some(looked) = &looked {
            self.finish_looked(looked, engine);
            done &= !looked.outside;
        }
        self.check_races(done, (*space, read), (false, bytes), &|_, _| false, engine);
        let seen = looked.as_ref().map_or(&NO_VALUES, |looked| &looked.seen);
        self.observe(AccessKind::Load, done, seen, engine);
        if is_alone {
            let map = *engine.memory.map();
            let (addresses, faults, map) = (self.addresses, &loaded.faults, &map);
            let lanes = LoadedLanes { executing, addresses, space: *space, width, map, faults };
            engine.report(&LoadAlone {
                site: self.op.site,
                outcome: LoadOutcome::Loaded(lanes),
                destinations: elements,
                registers: &self.warp.frames[self.path.frame].registers,
            });
        }
        Ok(())
    }

    /// Looks at the bytes that each lane loads.
    fn look(&mut self, width: Width, done: u32, engine: &mut Engine<'_>) -> Looked {
        let (space, size) = (self.access.space, self.access.size as usize);
        let is_observed = engine.observes_values();
        let (mut memories, _) = parts(self.warp, self.path, engine);
        let mut looked = Looked::default();
        for lane in lanes(self.exec) {
            let address = GenericAddress(self.addresses[lane]).align_down(width);
            // Of a lane that is outside, a load alone needs what there is of its bytes.
            let is_done = done >> lane & 1 != 0;
            let bytes = if is_done { width.bytes() } else { 1 };
            let Ok(found) = memories.find(space, address.0, bytes, lane) else {
                let is_outside = is_done && memories.local_ends.is_some();
                looked.outside |= u32::from(is_outside) << lane;
                continue;
            };
            let (region, offset) = memories.at(found);
            let end = (offset + width.bytes() as usize).min(memories.end(found, lane));
            let flags = region.flags(offset..end);
            if flags & UNKNOWN != 0 {
                looked.flags = joined(looked.flags, flags);
                let place = memories.map().locate(space, address, None).ok();
                let place = place.map(|place| (place.space, place.offset));
                looked.first_unknown = looked.first_unknown.or(place);
                for (place, lanes) in looked.unknown.iter_mut().enumerate() {
                    let start = (offset + place * size).min(end);
                    let flags = region.flags(start..(start + size).min(end));
                    *lanes |= u32::from(flags & UNKNOWN != 0 && is_done) << lane;
                }
            }
            if !is_done {
                continue;
            }
            if flags & UNWRITTEN != 0 {
                let each = region.each_flags(offset..end).iter().enumerate();
                let mut used = each.filter(|(byte, _)| self.access.used >> byte & 1 != 0);
                let is_unwritten = used.any(|(_, flags)| flags & UNWRITTEN != 0);
                looked.unwritten |= u32::from(is_unwritten) << lane;
            }
            if is_observed {
                let values = region.values.get(offset..end).unwrap_or_default();
                looked.seen[lane][..values.len()].copy_from_slice(values);
            }
        }
        looked
    }

    /// Applies what was found about the lanes to the registers, and reports it.
    fn finish_looked(&mut self, looked: &Looked, engine: &mut Engine<'_>) {
        let registers = &mut self.warp.frames[self.path.frame].registers;
        let origin = engine.origins.of(looked.flags);
        for (element, unknown) in self.access.elements.iter().zip(looked.unknown) {
            let Some(element) = element else { continue };
            if let (Some(origin), true) = (origin, unknown != 0) {
                registers.forget(element.slot, unknown, origin);
            }
            for lane in lanes(looked.outside) {
                registers.set_lane(element.slot, element.rows, lane, 0);
            }
        }
        for lane in lanes(looked.outside) {
            self.fault(lane, FaultKind::OutOfBounds, engine);
        }
        self.check_written(looked.unwritten, engine);
    }

    fn store(&mut self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let bytes = self.access.bytes();
        engine.counts.stores += 1;
        if self.store_at_once(engine) {
            engine.effects += 1;
            self.check_stores(self.exec, engine);
            self.observe(AccessKind::Store, self.exec, &NO_VALUES, engine);
            return Ok(());
        }
        let mut seen = LaneBytes::default();
        let mut faults: Vec<(usize, Missing)> = Vec::new();
        let size = self.access.size as usize;
        let (mut done, mut is_changed) = (0, false);
        let marks = self.unknown_flags(engine);
        let (mut memories, registers) = parts(self.warp, self.path, engine);
        for lane in lanes(self.exec) {
            let mut values = [0; 32];
            let mut flags = [0; 32];
            for (place, element) in self.access.elements.iter().enumerate() {
                let Some(element) = element else { continue };
                let value = registers.lane(element.slot, element.rows, lane).to_le_bytes();
                let at = place * size;
                if let Some(part) = values.get_mut(at..at + size) {
                    part.copy_from_slice(&value[..size]);
                }
                if registers.unknown(element.slot) >> lane & 1 != 0
                    && let (Some(part), Some(mark)) =
                        (flags.get_mut(at..at + size), marks.get(place))
                {
                    part.fill(*mark);
                }
            }
            match memories.find_written(self.access.space, self.addresses[lane], bytes, lane) {
                Ok(found) => {
                    let (region, offset) = memories.at_mut(found);
                    let end = offset + bytes as usize;
                    if let Some(place) = region.values.get_mut(offset..end) {
                        let is_local = matches!(found, Found::Local(_));
                        is_changed |= !is_local || *place != values[..bytes as usize];
                        place.copy_from_slice(&values[..bytes as usize]);
                    }
                    for (part, flags) in flags[..bytes as usize].chunks(size).enumerate() {
                        let at = offset + part * size;
                        region.mark(at..at + size, flags[0]);
                    }
                    done |= 1 << lane;
                    seen[lane] = values;
                }
                Err(missing) => faults.push((lane, missing)),
            }
        }
        for (lane, missing) in faults {
            self.missing(lane, missing, bytes, engine);
        }
        engine.effects += u64::from(is_changed);
        let slots = self.access.elements.iter().flatten().map(|element| element.slot);
        self.check_kept(slots, done, engine);
        self.check_stores(done, engine);
        self.observe(AccessKind::Store, done, &seen, engine);
        Ok(())
    }

    /// The flags that each element leaves in memory in the lanes where it is unknown.
    fn unknown_flags(&self, engine: &mut Engine<'_>) -> [u8; MAX_ELEMENTS] {
        let registers = &self.warp.frames[self.path.frame].registers;
        let mut flags = [0; MAX_ELEMENTS];
        for (flags, element) in flags.iter_mut().zip(&self.access.elements) {
            let Some(element) = element else { continue };
            if registers.unknown(element.slot) & self.exec != 0 {
                *flags = engine.origins.flags(registers.origin(element.slot));
            }
        }
        flags
    }

    /// Executes an atomic operation without a lookup for each lane. Returns `None` where
    /// [`Self::store_at_once`] returns false, and else whether memory has changed.
    fn atomic_at_once(&mut self, operation: Atomic, engine: &mut Engine<'_>) -> Option<bool> {
        if engine.observes_values() {
            return None;
        }
        let (size, exec, scalar) = (self.access.size, self.exec, self.access.scalar);
        let rows = scalar.bits().div_ceil(32);
        let (mut memories, registers) = parts(self.warp, self.path, engine);
        if sources(self.op, self.access).any(|slot| registers.unknown(slot) & exec != 0) {
            return None;
        }
        let bytes = self.access.bytes();
        let mut offsets = [0; LANES];
        let space = self.access.space;
        let (found, _) =
            memories.find_all_written(space, self.addresses, bytes, exec, &mut offsets)?;
        let mut is_changed = false;
        let flushes = flushes(operation, scalar, found);
        let values = &mut memories.at_mut(found).0.values[..];
        for lane in lanes(exec) {
            for (part, result) in self.access.elements.iter().enumerate() {
                let at = offsets[lane] as usize + part * size as usize;
                let Some(place) = values.get_mut(at..at + size as usize) else { continue };
                let slots = [self.op.a + part as Slot * rows, self.op.b];
                let sources = slots.map(|slot| registers.lane(slot, rows, lane));
                let old = replace(operation, scalar, flushes, place, sources);
                is_changed |= *place != old[..size as usize];
                if let Some(Element { slot, rows, bits }) = *result {
                    let old = extended(&old[..size as usize], scalar, bits);
                    registers.set_lane(slot, rows, lane, old);
                }
            }
        }
        for element in self.access.elements.iter().flatten() {
            registers.know(element.slot, exec);
        }
        Some(is_changed)
    }

    fn atomic(&mut self, operation: Atomic, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let (bytes, size) = (self.access.bytes(), self.access.size as usize);
        engine.counts.atomics += 1;
        if let Some(is_changed) = self.atomic_at_once(operation, engine) {
            self.count_atomic(is_changed, engine);
            self.check_stores(self.exec, engine);
            self.observe(AccessKind::Atomic, self.exec, &NO_VALUES, engine);
            return Ok(());
        }
        let mut seen = LaneBytes::default();
        let (scalar, rows) = (self.access.scalar, self.access.scalar.bits().div_ceil(32));
        let (mut unwritten, mut done, mut is_changed) = (0, 0, false);
        // An exchange whose result is not wanted is a store.
        let reads =
            operation != Atomic::Exchange || self.access.elements.iter().any(Option::is_some);
        let mut lost_results: Vec<(Option<Element>, u8)> = Vec::new();
        let mut initial: Vec<usize> = Vec::new();
        for lane in lanes(self.exec) {
            let (mut memories, registers) = parts(self.warp, self.path, engine);
            let found = memories.find_written(self.access.space, self.addresses[lane], bytes, lane);
            let found = match found {
                Ok(found) => found,
                Err(missing) => {
                    for element in self.access.elements.iter().flatten() {
                        registers.set_lane(element.slot, element.rows, lane, 0);
                        registers.know(element.slot, 1 << lane);
                    }
                    self.missing(lane, missing, bytes, engine);
                    continue;
                }
            };
            let is_unknown = |slot: &Slot| registers.unknown(*slot) >> lane & 1 != 0;
            let lost = sources(self.op, self.access).find(is_unknown);
            let lost = lost.map(|slot| registers.origin(slot));
            let (region, offset) = memories.at(found);
            let before = region.flags(offset..offset + bytes as usize);
            let lost = lost.map_or(0, |origin| engine.origins.flags(origin));
            // The launch itself leaves an unknown initial value there.
            let cause = engine.origins.of(before).filter(|_| operation != Atomic::Exchange);
            let left = cause.map_or(0, |cause| engine.origins.flags(cause));
            if cause == Some(Origin::InitialValue) && engine.options.checks.uninitialized {
                initial.push(lane);
            }
            let (mut memories, registers) = parts(self.warp, self.path, engine);
            let flushes = flushes(operation, scalar, found);
            let (region, offset) = memories.at_mut(found);
            let flags = region.flags(offset..offset + bytes as usize);
            unwritten |= u32::from(reads && flags & UNWRITTEN != 0) << lane;
            for (part, result) in self.access.elements.iter().enumerate() {
                let at = offset + part * size;
                let before = region.flags(at..at + size);
                let Some(place) = region.values.get_mut(at..at + size) else { continue };
                let slots = [self.op.a + part as Slot * rows, self.op.b];
                let sources = slots.map(|slot| registers.lane(slot, rows, lane));
                let old = replace(operation, scalar, flushes, place, sources);
                is_changed |= *place != old[..size];
                // An exchange does not depend on the old value.
                let kept = if before & UNKNOWN == 0 { 0 } else { left };
                region.mark(at..at + size, joined(lost, kept));
                if let Some(seen) = seen[lane].get_mut(part * size..(part + 1) * size) {
                    seen.copy_from_slice(&old[..size]);
                }
                if let Some(Element { slot, rows, bits }) = *result {
                    registers.set_lane(slot, rows, lane, extended(&old[..size], scalar, bits));
                    registers.know(slot, 1 << lane);
                    lost_results.push((*result, before));
                }
            }
            for (result, before) in lost_results.drain(..) {
                self.lose(result, lane, before, engine);
            }
            done |= 1 << lane;
        }
        self.count_atomic(is_changed, engine);
        for lane in initial {
            let (what, cause) = ("the value that this changes", Origin::InitialValue);
            self.fault(lane, FaultKind::UnknownValue { what, cause }, engine);
        }
        self.check_kept(sources(self.op, self.access), done, engine);
        self.check_stores(done, engine);
        self.check_written(unwritten, engine);
        self.observe(AccessKind::Atomic, done, &seen, engine);
        Ok(())
    }

    /// Counts an atomic operation that a thread may use to wait for others: at least the failed attempt to take a lock
    /// changes nothing, whatever the operation is.
    fn count_atomic(&mut self, is_changed: bool, engine: &mut Engine<'_>) {
        engine.effects += u64::from(is_changed);
        if !is_changed {
            note_poll(self.warp, self.op, self.access, self.exec, self.addresses, engine);
        }
        if self.access.elements.iter().all(Option::is_none) {
            return;
        }
        match is_changed {
            true => engine.changes += 1,
            false => engine.polls += 1,
        }
    }

    /// Executes `cp.async` immediately. Programs cannot tell, because they have to wait for the copy before they read
    /// it.
    fn copy(
        &mut self,
        from: &[u64; LANES],
        bytes: u32,
        part: CopiedPart,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        match part {
            CopiedPart::All => {}
            CopiedPart::Bytes(slot) => {
                self.warp.need(self.path, slot, self.exec, "the size of a copy")?;
            }
            CopiedPart::Unless(slot) => {
                let what = "the predicate that makes a copy ignore its source";
                self.warp.need(self.path, slot, self.exec, what)?;
            }
        }
        engine.counts.loads += 1;
        engine.counts.stores += 1;
        engine.effects += 1;
        let mut seen = LaneBytes::default();
        let (mut done, mut lost) = (0, 0);
        // The lanes that read their source, and the number of bytes that each lane reads.
        let mut sources = 0;
        let mut sizes = [0; LANES];
        for lane in lanes(self.exec) {
            let (mut memories, registers) = parts(self.warp, self.path, engine);
            let read = match part {
                CopiedPart::All => bytes,
                CopiedPart::Bytes(slot) => registers.get::<u32>(slot)[lane],
                CopiedPart::Unless(slot) if registers.predicate(slot) >> lane & 1 != 0 => 0,
                CopiedPart::Unless(_) => bytes,
            };
            let mut values = [0; 16];
            let mut flags = [0; 16];
            // More bytes than are copied: the effect is undefined.
            let is_undefined = read > bytes;
            let read = read.min(bytes);
            let mut fault = None;
            if read > 0 {
                // The source must be aligned as a whole, but only the bytes that are read must be inside the
                // allocation.
                let space = AddressSpace::Global;
                let is_aligned = from[lane].is_multiple_of(bytes.into());
                let found = match memories.find(space, from[lane], 1, lane) {
                    Ok(found) if is_aligned => {
                        sizes[lane] = read;
                        let (region, offset) = memories.at(found);
                        let place = offset..offset + read as usize;
                        region
                            .values
                            .get(place.clone())
                            .map(|part| (part, region.each_flags(place)))
                    }
                    _ => None,
                };
                match found {
                    Some((part, marked)) => {
                        values[..part.len()].copy_from_slice(part);
                        for (flags, marked) in flags.iter_mut().zip(marked) {
                            *flags = marked & !UNWRITTEN;
                        }
                    }
                    None if is_aligned => fault = Some((Missing::Outside, from[lane])),
                    None => fault = Some((Missing::Misaligned, from[lane])),
                }
            }
            if is_undefined {
                let origin = Origin::Undefined(self.op.site);
                flags = [engine.origins.flags(origin); 16];
            }
            let (mut memories, _) = parts(self.warp, self.path, engine);
            if fault.is_none() {
                match memories.find_written(self.access.space, self.addresses[lane], bytes, lane) {
                    Ok(found) => {
                        let (region, offset) = memories.at_mut(found);
                        let place = offset..offset + bytes as usize;
                        if let Some(to) = region.values.get_mut(place.clone()) {
                            to.copy_from_slice(&values[..bytes as usize]);
                        }
                        region.mark_each(place, &flags);
                        seen[lane][..16].copy_from_slice(&values);
                        done |= 1 << lane;
                        sources |= u32::from(read > 0) << lane;
                        lost |= u32::from(flags.iter().any(|flags| flags & UNKNOWN != 0)) << lane;
                    }
                    Err(missing) => {
                        let address = engine.generic(self.access.space, self.addresses[lane]);
                        fault = Some((missing, address));
                    }
                }
            }
            if let Some((missing, address)) = fault {
                let kind = FaultKind::of_missing(missing, bytes);
                engine.fault(kind, self.op, self.warp.number, lane as u32, address);
            }
        }
        let are_equal = |one, other| (from[one], sizes[one]) == (from[other], sizes[other]);
        for lane in lanes(sources) {
            let read = (false, sizes[lane]);
            self.check_races(1 << lane, (AddressSpace::Global, from), read, &are_equal, engine);
        }
        let to = (self.access.space, self.addresses);
        self.check_races(done, to, (true, bytes), &are_equal, engine);
        let source = (AccessKind::Copy, AddressSpace::Global, bytes);
        engine.observe(self.op, self.warp.number, source, (sources, lost), from, &seen);
        let target = (AccessKind::Copy, self.access.space, bytes);
        engine.observe(self.op, self.warp.number, target, (done, lost), self.addresses, &seen);
        Ok(())
    }

    /// Executes an operation on an mbarrier.
    fn mbarrier(&mut self, operation: Mbarrier, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let result = self.access.elements.first().copied().flatten();
        let what = match operation {
            Mbarrier::Wait { is_parity: true } => "the parity of an mbarrier's phase",
            Mbarrier::Wait { is_parity: false } => "the state of an mbarrier's phase",
            _ => "the count of an mbarrier operation",
        };
        if let Err(stop) = self.warp.need(self.path, self.op.a, self.exec, what) {
            self.forget_mbarriers(operation, engine);
            return Err(stop);
        }
        if matches!(operation, Mbarrier::Wait { .. }) {
            self.need_mbarrier(engine)?;
        } else {
            engine.effects += 1;
        }
        let mut has_failed = false;
        for lane in lanes(self.exec) {
            let (mut memories, registers) = parts(self.warp, self.path, engine);
            let argument = match operation {
                Mbarrier::Wait { is_parity: false } => registers.get::<u64>(self.op.a)[lane],
                _ => registers.get::<u32>(self.op.a)[lane].into(),
            };
            let fault = match memories.find(self.access.space, self.addresses[lane], 8, lane) {
                Ok(Found::Shared(offset)) => {
                    let region = memories.at_mut(Found::Shared(offset)).0;
                    let is_unwritten = region.flags(offset..offset + 8) & UNWRITTEN != 0;
                    // An operation that is not executed may have changed it.
                    let before = match operation {
                        Mbarrier::Init => 0,
                        _ => region.flags(offset..offset + 8) & !UNWRITTEN,
                    };
                    let word = read(&region.values, offset, 8);
                    let mut outcome = operate(operation, argument, word);
                    let is_in_use =
                        !is_unwritten && before & UNKNOWN == 0 && State::of_word(word).is_ok();
                    if operation == Mbarrier::Init && is_in_use && engine.options.checks.sync {
                        outcome = Err(MbarrierFault::InUse);
                    }
                    if is_unwritten && operation != Mbarrier::Init {
                        self.check_written(1 << lane, engine);
                    }
                    let place = (self.access.space, self.addresses);
                    let access = (writes(operation), 8);
                    self.check_races(1 << lane, place, access, &|_, _| false, engine);
                    let (memories, registers) = &mut parts(self.warp, self.path, engine);
                    let region = memories.at_mut(Found::Shared(offset)).0;
                    match outcome {
                        _ if before & UNKNOWN != 0 => {
                            self.lose(result, lane, before, engine);
                            continue;
                        }
                        Ok((new, value)) => {
                            if let Some(place) = region.values.get_mut(offset..offset + 8) {
                                place.copy_from_slice(&new.to_le_bytes());
                            }
                            region.mark(offset..offset + 8, 0);
                            let is_wait = matches!(operation, Mbarrier::Wait { .. });
                            has_failed |= is_wait && value == 0;
                            if let Some(element) = result {
                                if is_wait {
                                    let lanes = (value as u32) << lane;
                                    registers.set_predicate(element.slot, lanes, 1 << lane);
                                } else {
                                    let rows = element.rows;
                                    registers.set_lane(element.slot, rows, lane, value.into());
                                }
                                registers.know(element.slot, 1 << lane);
                            }
                            if !is_wait {
                                engine.block.mbarriers.insert(offset, self.op.site);
                            }
                            let is_phase_over =
                                operation != Mbarrier::Init && (new ^ word) >> 63 != 0;
                            let is_waited = is_wait && value != 0;
                            self.order(operation, offset, lane, is_phase_over, is_waited, engine);
                            continue;
                        }
                        // Reported as an uninitialized read.
                        Err(MbarrierFault::NotInitialized)
                            if is_unwritten && engine.options.checks.uninitialized =>
                        {
                            let origin = Origin::Undefined(self.op.site);
                            let flags = engine.origins.flags(origin);
                            self.lose(result, lane, flags, engine);
                            continue;
                        }
                        Err(fault) => FaultKind::Mbarrier(fault),
                    }
                }
                Ok(_) => FaultKind::Mbarrier(MbarrierFault::NotShared),
                Err(missing) => FaultKind::of_missing(missing, 8),
            };
            let origin = Origin::Undefined(self.op.site);
            let flags = engine.origins.flags(origin);
            self.lose(result, lane, flags, engine);
            self.fault(lane, fault, engine);
        }
        engine.yields |= has_failed;
        Ok(())
    }

    /// Makes the result in a lane unknown, for the reason in the flags of memory.
    fn lose(&mut self, result: Option<Element>, lane: usize, flags: u8, engine: &Engine<'_>) {
        if let (Some(element), Some(origin)) = (result, engine.origins.of(flags)) {
            let registers = &mut self.warp.frames[self.path.frame].registers;
            registers.forget(element.slot, 1 << lane, origin);
        }
    }

    /// Makes the mbarriers unknown that lanes with an unknown count would change. Otherwise other lanes would wait for an
    /// arrival that never comes.
    fn forget_mbarriers(&mut self, operation: Mbarrier, engine: &mut Engine<'_>) {
        if matches!(operation, Mbarrier::Wait { .. }) {
            return;
        }
        let registers = &self.warp.frames[self.path.frame].registers;
        let unknown = registers.unknown(self.op.a) & self.exec;
        let flags = engine.origins.flags(registers.origin(self.op.a));
        let (mut memories, _) = parts(self.warp, self.path, engine);
        for lane in lanes(unknown) {
            let found = memories.find(self.access.space, self.addresses[lane], 8, lane);
            if let Ok(Found::Shared(offset)) = found {
                memories.shared.mark(offset..offset + 8, flags);
            }
        }
    }

    /// Checks that the mbarriers of a wait are known. A wait for one that an instruction would complete which is not
    /// executed could never end.
    fn need_mbarrier(&mut self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        for lane in lanes(self.exec) {
            let (mut memories, _) = parts(self.warp, self.path, engine);
            let found = memories.find(self.access.space, self.addresses[lane], 8, lane);
            let Ok(found) = found else { continue };
            let (region, offset) = memories.at(found);
            let flags = region.flags(offset..offset + 8);
            if let Some(origin) = engine.origins.of(flags) {
                let what = "the mbarrier that this waits for";
                return Err(Stop::Lanes(
                    1 << lane,
                    FaultKind::UnknownValue { what, cause: origin },
                ));
            }
        }
        Ok(())
    }

    /// Reports the lanes that store an undefined value in global memory, because only there the caller can see it.
    fn check_kept(&self, slots: impl Iterator<Item = Slot>, done: u32, engine: &mut Engine<'_>) {
        let map = *engine.memory.map();
        let is_kept = |lane: &usize| {
            let place = Place::of(self.access.space, self.addresses[*lane], &map);
            matches!(place, Some(Place::Global(_)))
        };
        let registers = &self.warp.frames[self.path.frame].registers;
        for slot in slots {
            let (kind, site) = match registers.origin(slot) {
                Origin::AbsentLane(site) if engine.options.checks.sync => {
                    (FaultKind::UndefinedShuffle, site)
                }
                cause @ (Origin::NeverWritten { .. } | Origin::InitialValue)
                    if engine.options.checks.uninitialized =>
                {
                    (FaultKind::UnknownValue { what: "a stored value", cause }, self.op.site)
                }
                _ => continue,
            };
            for lane in lanes(registers.unknown(slot) & done).filter(is_kept) {
                engine.fault_at(kind.clone(), site, self.warp.number, lane as u32, 0);
            }
        }
    }

    /// Checks the lanes that have stored, or changed memory atomically, for races.
    fn check_stores(&self, done: u32, engine: &mut Engine<'_>) {
        let registers = &self.warp.frames[self.path.frame].registers;
        let are_equal = |one: usize, other: usize| {
            self.access.elements.iter().flatten().all(|element| {
                let of = |lane| registers.lane(element.slot, element.rows, lane);
                (of(one) ^ of(other)) << (128 - 8 * self.access.size) == 0
            })
        };
        let place = (self.access.space, self.addresses);
        self.check_races(done, place, (true, self.access.bytes()), &are_equal, engine);
    }

    /// Checks accesses of lanes for races, which write or not. `are_equal` is whether two lanes store the same.
    fn check_races(
        &self,
        done: u32,
        (space, addresses): (AddressSpace, &[u64; LANES]),
        (is_write, bytes): (bool, u32),
        are_equal: &dyn Fn(usize, usize) -> bool,
        engine: &mut Engine<'_>,
    ) {
        if engine.races.is_none() {
            return;
        }
        // Operations on mbarriers order by their phases alone, and the first and the last one are weak.
        let (strong, order) = match self.access.kind {
            MemoryKind::Mbarrier(Mbarrier::Init | Mbarrier::Invalidate) => (None, None),
            MemoryKind::Mbarrier(_) => (Some(Scope::Block), None),
            _ => (self.access.strong.map(|strong| strong.scope), self.access.strong),
        };
        // Both halves of a packed number are accesses. [PTX ISA, "Packed Data Types"]
        let size = self.access.size / self.access.scalar.parts().1.max(1);
        let is_atomic = matches!(self.access.kind, MemoryKind::Atomic(_));
        let access = CheckedAccess {
            bytes,
            size,
            is_write,
            strong,
            is_atomic,
            reads: !is_write || is_atomic && self.access.elements.iter().any(Option::is_some),
            warp: self.warp.number,
            site: self.op.site,
            is_copy: matches!(self.access.kind, MemoryKind::Copy { .. }),
        };
        engine.check_lanes(&access, done, (space, addresses), are_equal);
        if let Some(strong) = order {
            for lane in lanes(done) {
                for element in 0..self.access.elements.len() as u64 {
                    let address =
                        addresses[lane].wrapping_add(element * u64::from(self.access.size));
                    let (by, place) = ((self.warp.number, lane), (space, address));
                    engine.order_strong(by, place, strong, [is_atomic || !is_write, is_write]);
                }
            }
        }
    }

    /// Tells the race detector what an mbarrier operation of a lane orders.
    fn order(
        &self,
        operation: Mbarrier,
        at: usize,
        lane: usize,
        is_phase_over: bool,
        is_waited: bool,
        engine: &mut Engine<'_>,
    ) {
        let Some(races) = &mut engine.races else { return };
        let (warp, order) = (self.warp.number, &mut engine.block.order);
        match operation {
            // `.relaxed`
            Mbarrier::Arrive(_) | Mbarrier::Wait { .. } if self.access.strong.is_none() => {}
            Mbarrier::Arrive(how) => {
                order.arrive_at(at, warp, lane, how.is_of_copies, &mut races.moments);
            }
            Mbarrier::ArriveLater => order.arrive_at(at, warp, lane, true, &mut races.moments),
            Mbarrier::Wait { .. } if is_waited => order.end_wait(at, warp, lane),
            // "The expect-tx and complete-tx operations do not involve any memory ordering."
            Mbarrier::Wait { .. }
            | Mbarrier::Init
            | Mbarrier::Invalidate
            | Mbarrier::ExpectTx
            | Mbarrier::CompleteTx => {}
        }
        if is_phase_over {
            order.end_phase(at);
        }
    }

    /// Reports the lanes that have read unwritten bytes.
    fn check_written(&self, unwritten: u32, engine: &mut Engine<'_>) {
        if engine.options.checks.uninitialized {
            for lane in lanes(unwritten) {
                self.fault(lane, FaultKind::Uninitialized, engine);
            }
        }
    }

    fn observe(&self, kind: AccessKind, lanes: u32, values: &LaneBytes, engine: &mut Engine<'_>) {
        let access = (kind, self.access.space, self.access.bytes());
        // The bytes of a load or a store are unknown in the lanes where its registers are.
        let mut unknown = 0;
        if engine.observes_values() {
            let registers = &self.warp.frames[self.path.frame].registers;
            for element in self.access.elements.iter().flatten() {
                unknown |= registers.unknown(element.slot);
            }
        }
        engine.observe(self.op, self.warp.number, access, (lanes, unknown), self.addresses, values);
    }
}

/// Findings about the bytes of each lane's load.
#[derive(Default)]
struct Looked {
    /// The lanes beyond the local memory that they have, because others have more.
    outside: u32,
    unwritten: u32,
    /// The lanes where each element is unknown, the flags of the first one, and its memory and offset.
    unknown: [u32; MAX_ELEMENTS],
    flags: u8,
    first_unknown: Option<(Space, u64)>,
    /// The bytes, if an observer needs them.
    seen: LaneBytes,
}

/// Writes the elements of a load, which are one after the other in the loaded rows, to their registers.
fn write_rows(
    registers: &mut Registers,
    MemoryOp { size, scalar, elements, .. }: &MemoryOp,
    rows: &[[u32; LANES]],
    exec: u32,
) {
    for (place, element) in elements.iter().enumerate() {
        let Some(element) = element else { continue };
        let first = place * *size as usize / 4;
        let Some(words) = rows.get(first..) else { continue };
        match (*size, element.rows, words) {
            (4, 1, [word, ..]) => registers.put(element.slot, word, exec),
            (8, 2, [low, high, ..]) => registers.put(element.slot, &joined_words(low, high), exec),
            (1 | 2, 1, [word, ..]) if !scalar.is_signed() => {
                let shift = 8 * (place as u32 * size % 4);
                let mask = u32::MAX >> (32 - 8 * size);
                registers.put(element.slot, &word.map(|all| all >> shift & mask), exec);
            }
            _ => {
                for lane in lanes(exec) {
                    let mut bytes = [0; 16];
                    for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                        *bytes = word[lane].to_le_bytes();
                    }
                    let start = place * *size as usize % 4;
                    let part = bytes.get(start..start + *size as usize).unwrap_or_default();
                    let value = extended(part, *scalar, element.bits);
                    registers.set_lane(element.slot, element.rows, lane, value);
                }
            }
        }
    }
}

/// The new word of an mbarrier, and the result of the operation: the token, or whether a phase is over.
fn operate(operation: Mbarrier, argument: u64, word: u64) -> Result<(u64, u64), MbarrierFault> {
    if operation == Mbarrier::Init {
        return Ok((State::new(argument)?.word(), 0));
    }
    let state = State::of_word(word)?;
    let new = match operation {
        Mbarrier::Init | Mbarrier::Invalidate => 0,
        Mbarrier::Arrive(how) => state.arrive(how, argument)?.word(),
        Mbarrier::ExpectTx => state.expect(argument as i64)?.word(),
        Mbarrier::CompleteTx => state.expect(-(argument as i64))?.word(),
        Mbarrier::ArriveLater => word,
        Mbarrier::Wait { is_parity } => {
            let phase = if is_parity { argument & 1 } else { argument >> 63 };
            return Ok((word, u64::from(state.phase != (phase != 0))));
        }
    };
    Ok((new, word))
}

/// Rows of the low and the high words as one of 64 bits.
fn joined_words(low: &[u32; LANES], high: &[u32; LANES]) -> [u64; LANES] {
    std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane]))
}

/// Stores one number from each lane of a mask. The offsets must be multiples of its size, and inside the memory.
#[inline(always)]
fn scatter<const N: usize, V: Copy>(
    row: &[V; LANES],
    exec: u32,
    offsets: &[u64; LANES],
    place: usize,
    values: &mut [u8],
    bytes: impl Fn(V) -> [u8; N],
) {
    let numbers = values.as_chunks_mut::<N>().0;
    let Some(last) = numbers.len().checked_sub(1) else { return };
    if exec == u32::MAX {
        for lane in 0..LANES {
            numbers[(offsets[lane] as usize / N + place).min(last)] = bytes(row[lane]);
        }
        return;
    }
    for lane in lanes(exec) {
        numbers[(offsets[lane] as usize / N + place).min(last)] = bytes(row[lane]);
    }
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AccessKind {
    /// A read.
    Load,
    /// A write.
    Store,
    /// An atomic read and write.
    Atomic,
    /// A copy from global to shared memory: `cp.async`.
    Copy,
}

/// Whether an mbarrier operation changes the word. A wait only reads it.
fn writes(operation: Mbarrier) -> bool {
    !matches!(operation, Mbarrier::Wait { .. })
}

/// Reads a number of up to 8 bytes, little-endian.
#[inline(always)]
fn read(values: &[u8], offset: usize, bytes: u32) -> u64 {
    let mut number = [0; 8];
    if let Some(part) = values.get(offset..offset + bytes as usize) {
        number[..part.len()].copy_from_slice(part);
    }
    u64::from_le_bytes(number)
}

/// A loaded value, extended to the width of its register.
#[inline(always)]
pub(crate) fn extended(part: &[u8], scalar: T, bits: u32) -> u128 {
    let value = match part {
        [a] => u128::from(*a),
        [a, b] => u16::from_le_bytes([*a, *b]).into(),
        [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]).into(),
        _ => {
            let mut number = [0; 16];
            number[..part.len()].copy_from_slice(part);
            u128::from_le_bytes(number)
        }
    };
    if !scalar.is_signed() {
        return value;
    }
    let unused = 128 - 8 * part.len() as u32;
    let signed = ((value << unused) as i128 >> unused) as u128;
    signed & (u128::MAX >> (128 - bits.clamp(1, 128)))
}

/// The sources of an atomic operation. Without a second one, `b` is `NONE`, which is always known.
fn sources(op: &Op, access: &MemoryOp) -> impl Iterator<Item = Slot> + use<> {
    let (first, rows) = (op.a, access.scalar.bits().div_ceil(32));
    let parts = (0..access.elements.len() as Slot).map(move |part| first + part * rows);
    parts.chain([op.b])
}

/// Whether an f32 addition flushes subnormal numbers. It does in global memory, but not in shared memory. [PTX ISA,
/// atom: "The floating-point operation .add"]
fn flushes(operation: Atomic, scalar: T, found: Found) -> bool {
    operation == Atomic::Add && scalar == T::F32 && !matches!(found, Found::Shared(_))
}

/// Applies an atomic operation to an element in memory. Returns the old bytes.
#[inline(always)]
fn replace(
    operation: Atomic,
    scalar: T,
    flushes: bool,
    place: &mut [u8],
    [b, c]: [u128; 2],
) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..place.len()].copy_from_slice(place);
    let old = u128::from_le_bytes(bytes);
    let flushed = |value: u64| match flushes {
        true => u64::from(crate::float::flushed(value as u32, T::F32)),
        false => value,
    };
    let new = match (scalar, operation) {
        (T::B128, Atomic::CompareAndSwap) if old != b => old,
        (T::B128, Atomic::CompareAndSwap) => c,
        (T::B128, _) => b,
        _ => flushed(combine(operation, scalar, flushed(old as u64), flushed(b as u64), c as u64))
            .into(),
    };
    place.copy_from_slice(&new.to_le_bytes()[..place.len()]);
    bytes
}

/// The new value in memory after an atomic operation.
pub(crate) fn combine(operation: Atomic, scalar: T, old: u64, b: u64, c: u64) -> u64 {
    let bits = scalar.bits();
    let signed = |value: u64| ((value << (64 - bits)) as i64) >> (64 - bits);
    match operation {
        Atomic::Exchange => b,
        Atomic::CompareAndSwap => {
            if old == b {
                c
            } else {
                old
            }
        }
        Atomic::And => old & b,
        Atomic::Or => old | b,
        Atomic::Xor => old ^ b,
        Atomic::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        Atomic::Add if scalar == T::F32 => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits().into() }
        }
        Atomic::Add if scalar == T::F64 => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        Atomic::Add | Atomic::Min | Atomic::Max if scalar.is_float() => {
            combine_halves(operation, scalar, old as u32, b as u32).into()
        }
        Atomic::Add => old.wrapping_add(b),
        Atomic::Min | Atomic::Max => {
            let is_less = if scalar.is_signed() { signed(b) < signed(old) } else { b < old };
            if is_less == (operation == Atomic::Min) { b } else { old }
        }
    }
}

/// Applies an operation to one or two 16-bit floats.
fn combine_halves(operation: Atomic, scalar: T, old: u32, b: u32) -> u32 {
    use crate::float::{Extreme, FloatOp, Modes, extreme, narrow};
    let (part, count) = match scalar {
        T::F16x2 => (T::F16, 2),
        T::Bf16x2 => (T::Bf16, 2),
        scalar => (scalar, 1),
    };
    let one = |shift: u32| {
        let (x, y) = (old >> shift & 0xffff, b >> shift & 0xffff);
        if operation == Atomic::Add {
            return narrow(FloatOp::Add, part, Modes::default(), [x, y, 0]) << shift;
        }
        let of = Extreme { is_max: operation == Atomic::Max, ..Extreme::default() };
        extreme(of, part, x, y) << shift
    };
    (0..count).fold(0, |all, place| all | one(16 * place))
}
