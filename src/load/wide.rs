//! The fast executor for loads that only SM 7.0 and later have (docs/load-sm70.md section 10): 256 bits and uniform
//! destinations, with matrices in `matrices.rs`. All of them access memory through `fast.rs`.

use warpload_encoding::{LoadDestination, LoadParts, LoadSize, Reg, UniformReg};

use super::fast::{Loaded, load};
use super::lanes::{Extras, LaneAddresses};
use super::matrices::MatrixLoad;
use super::op::LoadOp;
use super::outcome::WarpFault;
use crate::lane::LANES;
use crate::machine::Machine;
use crate::memory::LoadMemory;
use crate::warp::Warp;

/// The parts that loads of SM 5.x and 6.x lack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    pub(super) extras: Option<Extras>,
    pub(super) kind: Kind,
    uniform_fault: Option<WarpFault>,
}

/// How a load is executed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Lane by lane, into consecutive registers.
    Lanes,
    /// 256 bits. The last four words go to the registers from this one on.
    Halves(Reg),
    /// One access for the warp, of up to four words or of two groups of four.
    Once {
        /// The first register, and the number of registers.
        low: (UniformReg, usize),
        /// The first register of the last four words.
        high: Option<UniformReg>,
    },
    Matrices(MatrixLoad),
}

impl Wide {
    /// `None` if the load is like a load of SM 5.x.
    #[inline]
    pub(super) fn of(parts: &LoadParts) -> Option<Self> {
        let extras = Extras::of(parts);
        let kind = match (parts.size, parts.destination) {
            // The decoder accepts no other count.
            (Ok(LoadSize::Matrices { count, transposed }), _) => {
                Kind::Matrices(MatrixLoad::new(count.into(), transposed)?)
            }
            (_, LoadDestination::Halves { high, .. }) => Kind::Halves(high),
            (Ok(size), LoadDestination::Uniform(first)) => {
                Kind::Once { low: (first, size.registers() as usize), high: None }
            }
            (_, LoadDestination::UniformHalves { low, high }) => {
                Kind::Once { low: (low, 4), high: Some(high) }
            }
            _ if extras.is_none() => return None,
            _ => Kind::Lanes,
        };
        Some(Self { extras, kind, uniform_fault: uniform_fault(parts, kind) })
    }

    pub(super) fn other_half(&self) -> Option<Reg> {
        match self.kind {
            Kind::Halves(first) if !first.is_zero() => Some(first),
            _ => None,
        }
    }

    pub(super) fn uniform_fault(&self) -> Option<WarpFault> {
        self.uniform_fault
    }
}

/// Checks the uniform destinations, then the register pair of an address (clause 4.2).
fn uniform_fault(parts: &LoadParts, kind: Kind) -> Option<WarpFault> {
    let check = |first: UniformReg, count: usize| {
        let (number, end) = (usize::from(first.number()), usize::from(parts.uniform_registers));
        if first.is_zero() {
            None
        } else if number & (count - 1) != 0 {
            Some(WarpFault::MisalignedUniform(first))
        } else if number + count > end {
            Some(WarpFault::OutOfRangeUniform(first))
        } else {
            None
        }
    };
    let of_destination = match kind {
        Kind::Once { low: (low, count), high } => check(low, count).or_else(|| check(high?, count)),
        _ => None,
    };
    let pair = parts.address.uniform.filter(|uniform| uniform.extended);
    of_destination.or_else(|| check(pair?.register, 2))
}

/// Loads 256 bits into two groups of four registers.
pub(super) fn load_halves<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    machine: &Machine<M>,
    firsts: [Reg; 2],
    warp: &mut Warp,
) -> Loaded {
    let mut rows = [[0; LANES]; 8];
    let loaded = load(op, lanes, &machine.memory, machine.misaligned, &mut rows);
    for (first, words) in firsts.into_iter().zip(rows.chunks_exact(4)) {
        for (row, values) in warp.rows_mut(first, 4).iter_mut().zip(words) {
            for lane in lanes.executing {
                row[lane] = values[lane];
            }
        }
    }
    loaded
}

/// Loads uniform registers with one access. All executing lanes have its faults.
pub(super) fn load_once<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    machine: &Machine<M>,
    (first, count): (UniformReg, usize),
    high: Option<UniformReg>,
    warp: &mut Warp,
) -> Loaded {
    let lane = lanes.executing.first().unwrap_or(0);
    let mut rows = [[0; LANES]; 8];
    let loaded = load(op, lanes, &machine.memory, machine.misaligned, &mut rows);
    let mut words = rows.iter().map(|row| row[lane]);
    for (first, count) in [(first, count), (high.unwrap_or(UniformReg::URZ), 4)] {
        for (i, word) in words.by_ref().take(count).enumerate() {
            // URZ has no registers after it.
            let number = if first.is_zero() { 255 } else { first.number().saturating_add(i as u8) };
            warp.set_uniform_register(UniformReg::new(number), word);
        }
    }
    loaded
}
