//! The accesses of a load, 1 to 32 bytes a lane, as load operations of the executors.

use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{FaultKind, LaneAddresses, LaneFault, LaneFaults, LoadOp, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressSpace, GenericAddress, LoadMemory, Memory, Space};

/// The widest load operation, in bytes.
const WIDEST: u32 = 16;

/// What each lane reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) space: AddressSpace,
    /// A power of two up to 32; addresses are rounded down to a multiple of it.
    pub(super) bytes: u32,
    pub(super) executing: LaneMask,
    /// Before rounding.
    pub(super) addresses: [u64; LANES],
}

/// What the lanes read.
#[derive(Debug)]
pub(super) struct Bytes {
    /// Each lane's bytes, the one of the lowest address first; zeroes where the lane is outside.
    pub(super) lanes: [[u8; 2 * WIDEST as usize]; LANES],
    pub(super) faults: LaneFaults,
}

impl Access {
    pub(super) fn rounded(&self, lane: usize) -> GenericAddress {
        GenericAddress(self.addresses[lane]).align_down(self.bytes)
    }

    /// The memory that a lane's rounded address lies in.
    pub(super) fn space_of(&self, memory: &Memory, lane: usize) -> Option<Space> {
        let found = memory.region(self.space, self.rounded(lane), self.plg(memory).contains(lane));
        found.ok().map(|found| found.0)
    }

    /// The Plg with which the windows alone decide: true where the rounded address lies outside
    /// of the shared window.
    fn plg(&self, memory: &Memory) -> LaneMask {
        let shared = memory.map().shared();
        LaneMask::where_lane(|lane| shared.offset_of(self.rounded(lane)).is_none())
    }

    /// What lies `from` bytes behind the addresses. Faults have the addresses themselves.
    pub(super) fn read(&self, memory: &Memory, from: u64, misaligned: Misaligned) -> Bytes {
        if from == 0 {
            return self.read_here(memory, misaligned);
        }
        let addresses = self.addresses.map(|address| address.wrapping_add(from));
        let mut bytes = Access { addresses, ..*self }.read_here(memory, misaligned);
        let moved = |address: GenericAddress| GenericAddress(address.0.wrapping_sub(from));
        let mut faults = LaneFaults::default();
        for fault in &bytes.faults {
            let (address, rounded) = (moved(fault.address), moved(fault.rounded));
            faults.push(LaneFault { address, rounded, ..*fault });
        }
        bytes.faults = faults;
        bytes
    }

    fn read_here(&self, memory: &Memory, misaligned: Misaligned) -> Bytes {
        if self.bytes > WIDEST {
            return self.read_halves(memory, misaligned);
        }
        let (rows, faults) = self.operation(memory, misaligned, self.addresses, self.bytes);
        let mut lanes = [[0; 2 * WIDEST as usize]; LANES];
        put(&mut lanes, &rows, 0);
        Bytes { lanes, faults }
    }

    /// One load operation of `bytes` bytes from `addresses` on.
    fn operation(
        &self,
        memory: &Memory,
        misaligned: Misaligned,
        addresses: [u64; LANES],
        bytes: u32,
    ) -> ([LaneValues; 4], LaneFaults) {
        let op = LoadOp { space: self.space, bytes, signed: false, uniform: false };
        let lanes = LaneAddresses { executing: self.executing, plg: self.plg(memory), addresses };
        let mut rows = [[0; LANES]; 4];
        let loaded = load(op, &lanes, memory, misaligned, &mut rows);
        (rows, loaded.faults)
    }

    /// Two load operations. What is wrong with either is wrong with the whole access, and both
    /// halves must lie in one allocation.
    fn read_halves(&self, memory: &Memory, misaligned: Misaligned) -> Bytes {
        let low = std::array::from_fn(|lane| self.rounded(lane).0);
        let high = low.map(|address: u64| address.wrapping_add(u64::from(WIDEST)));
        let mut bytes =
            Bytes { lanes: [[0; 2 * WIDEST as usize]; LANES], faults: LaneFaults::default() };
        let mut outside = LaneMask::NONE;
        for (addresses, at) in [(low, 0), (high, WIDEST as usize)] {
            let (rows, faults) = self.operation(memory, Misaligned::Force, addresses, WIDEST);
            put(&mut bytes.lanes, &rows, at);
            for fault in &faults {
                outside.insert(fault.lane);
            }
        }
        for lane in self.executing.lanes() {
            let rounded = self.rounded(lane);
            let found = memory.region(self.space, rounded, self.plg(memory).contains(lane));
            let space = found.ok().map(|found| found.0);
            // The two parts of a local memory are one where they touch.
            let is_one = match found {
                Ok((Space::Local, _)) => self.is_local(memory, high[lane]),
                Ok((_, Some(region))) => region.holds(rounded, self.bytes),
                _ => false,
            };
            let mut mark = |kind| {
                let address = GenericAddress(self.addresses[lane]);
                let fault = LaneFault { lane, kind, address, rounded, bytes: self.bytes, space };
                bytes.faults.push(fault);
            };
            if misaligned == Misaligned::Report && rounded.0 != self.addresses[lane] {
                mark(FaultKind::MisalignedAddress);
            }
            if outside.contains(lane) || !is_one {
                mark(found.err().map_or(FaultKind::OutsideAllocation, FaultKind::OutsideWindow));
                bytes.lanes[lane] = [0; 2 * WIDEST as usize];
            }
        }
        bytes
    }

    fn is_local(&self, memory: &Memory, address: u64) -> bool {
        let found = memory.region(self.space, GenericAddress(address), true);
        found.is_ok_and(|found| found.0 == Space::Local)
    }
}

/// Puts the lanes' registers where their bytes lie in memory.
fn put(lanes: &mut [[u8; 2 * WIDEST as usize]; LANES], rows: &[LaneValues; 4], at: usize) {
    for (lane, bytes) in lanes.iter_mut().enumerate() {
        let places = bytes[at..].chunks_exact_mut(4);
        for (place, row) in places.zip(rows) {
            place.copy_from_slice(&row[lane].to_le_bytes());
        }
    }
}
