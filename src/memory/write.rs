//! Writing to a [`Memory`] between loads.

use super::Memory;
use super::source::Run;
use super::windows::{AddressSpace, GenericAddress, Place, Space};
use crate::lane::LANES;

/// Why bytes cannot be written. The memory is then unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Some of the bytes are not allocated, or not in the same global allocation as the first.
    #[error("the {size} bytes at {address} are not all allocated in {space} memory")]
    OutsideAllocation {
        /// The memory of the first byte.
        space: Space,
        /// The address of the first byte.
        address: GenericAddress,
        /// The number of bytes.
        size: usize,
    },
    /// The address is at or above 2^address_bits.
    #[error("{address} is beyond the address space of {address_bits} bits")]
    BeyondAddressBits {
        /// The address of the first byte.
        address: GenericAddress,
        /// The width of an address.
        address_bits: u32,
    },
    /// The address is in local memory, which exists once per lane.
    #[error("{address} is in local memory; expected a lane, see `Memory::write_lane`")]
    NoLane {
        /// The address of the first byte.
        address: GenericAddress,
    },
    /// There is no such lane.
    #[error("there is no lane {lane}; expected 0..=31")]
    Lane {
        /// The lane given.
        lane: usize,
    },
    /// The memory is shared or mapped read-only.
    #[error("the memory is read-only")]
    ReadOnly,
}

impl Memory {
    /// Writes `bytes` at `address`, interpreted as `space` says; the windows select the memory of a generic address.
    /// The bytes are written whole or not at all, and must be in one allocation, as the accesses of loads must.
    ///
    /// ```
    /// use warpload::memory::{AddressSpace, GenericAddress, Memory, WriteError};
    ///
    /// let mut memory = Memory::builder().global(0x1000, &[0; 16]).build()?;
    /// memory.write(AddressSpace::Global, GenericAddress(0x1004), &[1, 2])?;
    /// assert_eq!(memory.arena().bytes()[4..7], [1, 2, 0]);
    ///
    /// let outside = memory.write(AddressSpace::Global, GenericAddress(0x100f), &[3, 4]);
    /// assert!(matches!(outside, Err(WriteError::OutsideAllocation { .. })));
    /// assert_eq!(memory.arena().bytes()[15], 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`WriteError`] if not all bytes are allocated, if the address is in local memory (use
    /// [`Self::write_lane`]), or if the memory is shared or mapped read-only. The memory is then unchanged.
    pub fn write(
        &mut self,
        space: AddressSpace,
        address: GenericAddress,
        bytes: &[u8],
    ) -> Result<(), WriteError> {
        self.write_for(None, space, address, bytes)
    }

    /// Writes `bytes` as [`Self::write`] does; in local memory, for `lane`.
    ///
    /// # Errors
    /// Returns [`WriteError`] if there is no such lane, if not all bytes are allocated, or if the memory is shared or
    /// mapped read-only. The memory is then unchanged.
    pub fn write_lane(
        &mut self,
        lane: usize,
        space: AddressSpace,
        address: GenericAddress,
        bytes: &[u8],
    ) -> Result<(), WriteError> {
        if lane >= LANES {
            return Err(WriteError::Lane { lane });
        }
        self.write_for(Some(lane), space, address, bytes)
    }

    fn write_for(
        &mut self,
        lane: Option<usize>,
        space: AddressSpace,
        address: GenericAddress,
        bytes: &[u8],
    ) -> Result<(), WriteError> {
        let Place { space: found, offset, .. } =
            self.map.locate(space, address, None).map_err(|_| WriteError::BeyondAddressBits {
                address,
                address_bits: self.map.address_bits(),
            })?;
        let lane = match (found, lane) {
            (Space::Local, None) => return Err(WriteError::NoLane { address }),
            (_, lane) => lane.unwrap_or(0),
        };
        let size = bytes.len();
        let outside = WriteError::OutsideAllocation { space: found, address, size };
        let place = |from: usize| {
            let offset = offset.checked_add(from as u64)?;
            place_in(&self.run(found, offset)?, offset, lane)
        };
        // Only the low and the high part of local memory may touch; other memory is one run.
        let (first, room) = place(0).ok_or(outside)?;
        let (head, tail) = bytes.split_at(size.min(room));
        let second = match tail.len() {
            0 => 0,
            _ if found != Space::Local => return Err(outside),
            size => match place(head.len()) {
                Some((second, room)) if size <= room => second,
                _ => return Err(outside),
            },
        };
        let arena = self.arena.bytes_mut().ok_or(WriteError::ReadOnly)?;
        for (start, bytes) in [(first, head), (second, tail)] {
            let to = arena.get_mut(start..).and_then(|rest| rest.get_mut(..bytes.len()));
            to.ok_or(outside)?.copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// The place in the arena of a lane's byte at `offset`, and the number of bytes left in the run; `None` if the run does
/// not hold the offset.
fn place_in(run: &Run, offset: u64, lane: usize) -> Option<(usize, usize)> {
    let offset = usize::try_from(offset.checked_sub(run.base)?).ok()?;
    let room = run.size.checked_sub(offset).filter(|room| *room > 0)?;
    let lane = if run.is_per_lane { lane } else { 0 };
    Some((run.start + lane * run.size + offset, room))
}
