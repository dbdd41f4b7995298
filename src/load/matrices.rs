//! [`MatrixLoad`]: the load of an `LDSM`. A lane gives the address of a row, and receives elements of several rows.

use super::fast::{Loaded, load};
use super::lanes::LaneAddresses;
use super::op::LoadOp;
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::Misaligned;
use crate::memory::{AddressSpace, LoadMemory, Width};

/// The matrices that an `LDSM` loads from shared memory: 1, 2 or 4, each with 8 rows of 16 bytes (8 elements of 16
/// bits). Lane 8m + r has the address of row r of matrix m (docs/load-sm70.md, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixLoad {
    count: usize,
    transposed: bool,
}

impl MatrixLoad {
    /// Reads the rows of the matrices, lane by lane.
    pub const ROWS: LoadOp = LoadOp {
        space: AddressSpace::Shared,
        width: Width::Bytes16,
        signed: false,
        uniform: false,
    };

    /// Creates a load of `count` matrices; `None` if `count` is not 1, 2 or 4.
    #[must_use]
    pub const fn new(count: u32, transposed: bool) -> Option<Self> {
        match count {
            1 | 2 | 4 => Some(Self { count: count as usize, transposed }),
            _ => None,
        }
    }

    /// Returns the number of matrices, which is also the number of registers filled.
    #[must_use]
    pub const fn count(self) -> usize {
        self.count
    }

    /// Returns the lanes with the address of a row.
    #[must_use]
    pub const fn address_lanes(self) -> LaneMask {
        LaneMask::from_bits(u32::MAX >> (LANES - 8 * self.count))
    }

    /// Loads the rows of executing lanes and writes the received elements to `registers`: 32 values per matrix, lane 0
    /// first; values of missing registers are dropped. Elements of other rows, and of rows that are outside, are zero.
    /// Faults belong to the lanes with the rows' addresses.
    pub fn load<M: LoadMemory>(
        self,
        lanes: &LaneAddresses,
        memory: &M,
        misaligned: Misaligned,
        registers: &mut [LaneValues],
    ) -> Loaded {
        let executing = lanes.executing & self.address_lanes();
        let lanes = LaneAddresses { executing, ..*lanes };
        let mut words = [[0; LANES]; 4];
        let rows = if registers.is_empty() { &mut words[..0] } else { &mut words };
        let loaded = load(Self::ROWS, &lanes, memory, misaligned, rows);
        // Element 8r + c of a matrix is half of word c / 2 of its row r.
        let element = |matrix: usize, element: usize| {
            let (row, column) = (element / 8, element % 8);
            words[column / 2][8 * matrix + row] >> (16 * (column % 2)) & 0xffff
        };
        for (matrix, register) in registers.iter_mut().enumerate().take(self.count) {
            *register = std::array::from_fn(|lane| {
                let (line, pair) = (lane / 4, 2 * (lane % 4));
                let (low, step) =
                    if self.transposed { (8 * pair + line, 8) } else { (8 * line + pair, 1) };
                element(matrix, low + step) << 16 | element(matrix, low)
            });
        }
        loaded
    }
}
