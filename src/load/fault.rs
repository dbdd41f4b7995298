//! What goes wrong in the emulated machine. Faults are values of an outcome, not errors of this
//! library. Names and hardware codes: docs/ld.md section 4.

use std::fmt;

use warpload_encoding::Reg;

use crate::lane::LaneMask;
use crate::memory::{GenericAddress, OutsideWindow, Space};

/// A fault of the whole warp, raised before any lane reads memory. It changes no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpFault {
    /// A register that must be a multiple of the number of registers is not: the destination
    /// of a wide load, or the base of an extended address.
    MisalignedRegister(Reg),
    /// A register, or one of those that follow it, is at or above the shader's limit.
    OutOfRangeRegister(Reg),
}

/// An error of the warp as the hardware reports it, in its exception state register (ESR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpError {
    /// The ESR's code.
    pub code: u8,
    /// The ESR's name.
    pub name: &'static str,
    /// The exception that CUDA's debugger shows.
    pub exception: &'static str,
}

impl fmt::Display for WarpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ESR {:#04x} {}, {}", self.code, self.name, self.exception)
    }
}

impl WarpFault {
    /// `misaligned_register` or `out_of_range_register`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MisalignedRegister(_) => "misaligned_register",
            Self::OutOfRangeRegister(_) => "out_of_range_register",
        }
    }

    /// The register at fault.
    pub const fn register(self) -> Reg {
        match self {
            Self::MisalignedRegister(register) | Self::OutOfRangeRegister(register) => register,
        }
    }

    /// What the hardware calls it.
    pub const fn warp_error(self) -> WarpError {
        let (code, name) = match self {
            Self::MisalignedRegister(_) => (0x08, "MISALIGNED_REG"),
            Self::OutOfRangeRegister(_) => (0x0d, "OOR_REG"),
        };
        WarpError { code, name, exception: "CUDA_EXCEPTION_4 Warp Illegal Instruction" }
    }
}

impl fmt::Display for WarpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.register())
    }
}

/// What is wrong with a lane's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The lane may not reach the address: it gets zeroes.
    OutsideWindow(OutsideWindow),
    /// Nothing is allocated there: the lane gets zeroes.
    OutsideAllocation,
    /// The address was rounded down; the lane loads from the rounded one.
    MisalignedAddress,
}

impl FaultKind {
    /// `outside_window`, `outside_allocation` or `misaligned_address`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutsideWindow(_) => "outside_window",
            Self::OutsideAllocation => "outside_allocation",
            Self::MisalignedAddress => "misaligned_address",
        }
    }

    /// Whether the lane gets zeroes instead of a value.
    pub const fn zeroes(self) -> bool {
        !matches!(self, Self::MisalignedAddress)
    }
}

/// A fault of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneFault {
    /// The lane, 0..=31.
    pub lane: usize,
    /// What is wrong.
    pub kind: FaultKind,
    /// The effective address.
    pub address: GenericAddress,
    /// The address rounded down to a multiple of the access size.
    pub rounded: GenericAddress,
    /// How many bytes the lane asked for.
    pub bytes: u32,
    /// The memory that the rounded address lies in, where the lane may reach it.
    pub space: Option<Space>,
}

impl LaneFault {
    /// What the hardware calls it.
    pub fn warp_error(&self) -> WarpError {
        const OUT_OF_RANGE: &str = "CUDA_EXCEPTION_5 Warp Out-of-range Address";
        const ILLEGAL: &str = "CUDA_EXCEPTION_14 Warp Illegal Address";
        let exception = match (self.kind, self.space) {
            (FaultKind::MisalignedAddress, _) => {
                return WarpError {
                    code: 0x0f,
                    name: "MISALIGNED_ADDR",
                    exception: "CUDA_EXCEPTION_6 Warp Misaligned Address",
                };
            }
            (FaultKind::OutsideWindow(OutsideWindow::BeyondAddressBits), _)
            | (FaultKind::OutsideAllocation, Some(Space::Global)) => ILLEGAL,
            _ => OUT_OF_RANGE,
        };
        WarpError { code: 0x0e, name: "OOR_ADDR", exception }
    }
}

impl fmt::Display for LaneFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}: {} at {}", self.lane, self.kind.name(), self.address)?;
        if self.rounded != self.address {
            write!(f, " (rounded down to {})", self.rounded)?;
        }
        write!(f, ", {} byte{}", self.bytes, if self.bytes == 1 { "" } else { "s" })?;
        match (self.space, self.kind) {
            (Some(space), _) => write!(f, " of {space} memory"),
            (None, FaultKind::OutsideWindow(OutsideWindow::BeyondAddressBits)) => {
                f.write_str(", beyond the address space")
            }
            (None, _) => f.write_str(", not where Plg says"),
        }
    }
}

/// The faults of the lanes of one load, by ascending lane; a lane that is both misaligned and
/// outside has two, the misalignment first. Without faults nothing is allocated.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LaneFaults(Vec<LaneFault>);

impl LaneFaults {
    pub(crate) const NONE: LaneFaults = LaneFaults(Vec::new());

    /// Whether no lane has a fault.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The faults, by ascending lane.
    pub fn iter(&self) -> std::slice::Iter<'_, LaneFault> {
        self.0.iter()
    }

    /// The lanes with a fault of that name, see [`FaultKind::name`].
    pub fn lanes(&self, name: &str) -> LaneMask {
        let mut lanes = LaneMask::NONE;
        for fault in self.iter().filter(|fault| fault.kind.name() == name) {
            lanes.insert(fault.lane);
        }
        lanes
    }

    /// Adds a fault, after those of lower lanes.
    pub fn push(&mut self, fault: LaneFault) {
        self.0.push(fault);
    }
}

impl<'f> IntoIterator for &'f LaneFaults {
    type Item = &'f LaneFault;
    type IntoIter = std::slice::Iter<'f, LaneFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
