//! Executes the accesses of a PTX load on the executors for SASS.

use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LaneFault, LaneFaults, LoadOp, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressSpace, GenericAddress, Memory, Space, WarpAddresses, Width};

/// The widest access, in bytes.
const WIDEST: usize = Width::Bytes32.bytes() as usize;

/// The access of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpAccess {
    pub(super) space: AddressSpace,
    /// Addresses are rounded down to a multiple of this width.
    pub(super) width: Width,
    pub(super) executing: LaneMask,
    /// Each lane's address before rounding.
    pub(super) addresses: [u64; LANES],
}

/// The bytes that the lanes read.
#[derive(Debug)]
pub(super) struct Bytes {
    /// Each lane's bytes, lowest address first; zeros if the lane is out of bounds.
    pub(super) lanes: [[u8; WIDEST]; LANES],
    pub(super) faults: LaneFaults,
}

impl WarpAccess {
    pub(super) fn rounded(&self, lane: usize) -> GenericAddress {
        GenericAddress(self.addresses[lane]).align_down(self.width)
    }

    /// The memory of a lane's rounded address.
    pub(super) fn space_of(&self, memory: &Memory, lane: usize) -> Option<Space> {
        let place = memory.map().locate(self.space, self.rounded(lane), None);
        place.ok().map(|place| place.space)
    }

    /// Reads at `from` bytes after the addresses, because parameters do not begin at 0 in their bank. Faults report the
    /// addresses without `from`, as the program sees them.
    pub(super) fn read(&self, memory: &Memory, from: u64, misaligned: Misaligned) -> Bytes {
        if from == 0 {
            return self.read_here(memory, misaligned);
        }
        let addresses = self.addresses.map(|address| address.wrapping_add(from));
        let mut bytes = WarpAccess { addresses, ..*self }.read_here(memory, misaligned);
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
        let op = LoadOp { space: self.space, width: self.width, signed: false, uniform: false };
        let addresses = WarpAddresses::Each(self.addresses);
        let lanes = LaneAddresses { executing: self.executing, plg: None, addresses };
        let mut rows = [[0; LANES]; Width::MAX_REGISTERS];
        let loaded = load(op, &lanes, memory, misaligned, &mut rows);
        Bytes { lanes: lane_bytes(&rows), faults: loaded.faults }
    }
}

/// The loaded registers as bytes in the order of memory.
fn lane_bytes(rows: &[LaneValues; Width::MAX_REGISTERS]) -> [[u8; WIDEST]; LANES] {
    std::array::from_fn(|lane| {
        let mut bytes = [0; WIDEST];
        for (place, row) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
            *place = row[lane].to_le_bytes();
        }
        bytes
    })
}
