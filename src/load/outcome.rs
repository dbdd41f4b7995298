//! [`Outcome`]: the result of executing one load, and the faults of the emulated machine: [`WarpFault`] and
//! [`LaneFault`]. Faults are values of an outcome rather than errors of this library. Names and hardware codes:
//! docs/ld.md section 4.

use std::fmt;
use std::ops::{Index, IndexMut};

use warpload_encoding::{Reg, UniformReg};

use crate::lane::LaneMask;
use crate::machine::Misaligned;
use crate::memory::{GenericAddress, OutsideWindow, Space};

/// The path that a `.U.128` took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniformPath {
    /// One fetch served all executing lanes.
    Broadcast,
    /// The lanes were served one by one.
    Divergent,
}

/// The registers that a load wrote, in its executing lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    /// The first register.
    pub first: Reg,
    /// Their number: 1, 2 or 4. A load of 256 bits has two destinations of 4.
    pub count: u32,
}

/// The result of executing one load, apart from the values, which are in the warp. The default is the outcome of a load
/// that no lane executes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The lanes that executed: active, and predicated on by the guard.
    pub executing: LaneMask,
    /// The general registers written; `None` if no lane executed, the warp faulted, or Rd is `RZ` or a uniform
    /// register.
    pub destination: Option<Destination>,
    /// For 256 bits, the registers of the last four words.
    pub other_half: Option<Destination>,
    /// The fault that kept the whole warp from loading.
    pub warp_fault: Option<WarpFault>,
    /// The faults of single lanes.
    pub lane_faults: LaneFaults,
    /// The path that a `.U.128` took; `None` for other loads and if no memory was read.
    pub uniform: Option<UniformPath>,
}

impl Outcome {
    /// A load that faults before it reads memory.
    pub(crate) fn warp_fault(executing: LaneMask, fault: WarpFault) -> Self {
        Self { executing, warp_fault: Some(fault), ..Self::default() }
    }

    /// Returns whether the broadcast path was taken.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        self.uniform == Some(UniformPath::Broadcast)
    }
}

/// A fault of the whole warp, raised before any lane reads memory. It changes no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpFault {
    /// The register's number is not a multiple of the number of registers in the operand. The operand is the
    /// destination of a wide load or the base of an extended address.
    MisalignedRegister(Reg),
    /// The register, or one that follows it in the operand, is at or above the register limit.
    OutOfRangeRegister(Reg),
    /// As [`MisalignedRegister`](Self::MisalignedRegister), for a uniform register.
    MisalignedUniform(UniformReg),
    /// The SM does not have the uniform register, or one that follows it in the operand.
    OutOfRangeUniform(UniformReg),
}

/// A general or a uniform register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyRegister {
    /// A register with a value for each lane.
    General(Reg),
    /// A register with one value for the warp.
    Uniform(UniformReg),
}

impl fmt::Display for AnyRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::General(register) => register.fmt(f),
            Self::Uniform(register) => register.fmt(f),
        }
    }
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
    /// All names.
    pub const NAMES: [&str; 2] = ["misaligned_register", "out_of_range_register"];

    /// Returns `misaligned_register` or `out_of_range_register`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MisalignedRegister(_) | Self::MisalignedUniform(_) => Self::NAMES[0],
            Self::OutOfRangeRegister(_) | Self::OutOfRangeUniform(_) => Self::NAMES[1],
        }
    }

    /// Returns the register at fault.
    #[must_use]
    pub const fn register(self) -> AnyRegister {
        match self {
            Self::MisalignedRegister(register) | Self::OutOfRangeRegister(register) => {
                AnyRegister::General(register)
            }
            Self::MisalignedUniform(register) | Self::OutOfRangeUniform(register) => {
                AnyRegister::Uniform(register)
            }
        }
    }

    /// Returns the error that the hardware reports.
    #[must_use]
    pub const fn warp_error(self) -> WarpError {
        let (code, name) = match self {
            Self::MisalignedRegister(_) | Self::MisalignedUniform(_) => (0x08, "MISALIGNED_REG"),
            Self::OutOfRangeRegister(_) | Self::OutOfRangeUniform(_) => (0x0d, "OOR_REG"),
        };
        WarpError { code, name, exception: "CUDA_EXCEPTION_4 Warp Illegal Instruction" }
    }
}

impl fmt::Display for WarpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.register())
    }
}

/// The kinds of lane faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
pub enum LaneFaultKind {
    /// The lane cannot access the address and gets zeroes.
    OutsideWindow,
    /// No memory is allocated at the address, and the lane gets zeroes.
    OutsideAllocation,
    /// The address was rounded down, and the lane loads from the rounded address, unless the machine
    /// [faults](Misaligned::Fault).
    MisalignedAddress,
}

impl LaneFaultKind {
    /// All kinds, in the order of output.
    pub const ALL: [LaneFaultKind; 3] =
        [Self::OutsideWindow, Self::OutsideAllocation, Self::MisalignedAddress];

    /// Returns `outside_window`, `outside_allocation` or `misaligned_address`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutsideWindow => "outside_window",
            Self::OutsideAllocation => "outside_allocation",
            Self::MisalignedAddress => "misaligned_address",
        }
    }

    /// Returns whether the lane gets zeroes instead of a value, on a machine that treats misaligned addresses so.
    #[must_use]
    pub const fn zeroes(self, misaligned: Misaligned) -> bool {
        !matches!(self, Self::MisalignedAddress) || matches!(misaligned, Misaligned::Fault)
    }
}

impl fmt::Display for LaneFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One value for each [`LaneFaultKind`], indexed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "json", serde(deny_unknown_fields))]
#[allow(missing_docs, reason = "named as the kinds are")]
pub struct ByFaultKind<T> {
    pub outside_window: T,
    pub outside_allocation: T,
    pub misaligned_address: T,
}

impl<T> ByFaultKind<T> {
    /// Creates the values by calling `make` for each kind.
    pub fn from_fn(make: impl FnMut(LaneFaultKind) -> T) -> Self {
        let [outside_window, outside_allocation, misaligned_address] = LaneFaultKind::ALL.map(make);
        Self { outside_window, outside_allocation, misaligned_address }
    }

    /// Returns an iterator over the kinds and their values, in the order of
    /// [`LaneFaultKind::ALL`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (LaneFaultKind, &T)> {
        LaneFaultKind::ALL.into_iter().map(|kind| (kind, &self[kind]))
    }
}

impl ByFaultKind<u64> {
    /// Returns the sum of all kinds.
    #[must_use]
    pub fn all(&self) -> u64 {
        let all = self.outside_window.saturating_add(self.outside_allocation);
        all.saturating_add(self.misaligned_address)
    }

    /// Adds the counts of another part; a sum that does not fit saturates.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.outside_window = self.outside_window.saturating_add(other.outside_window);
        self.outside_allocation = self.outside_allocation.saturating_add(other.outside_allocation);
        self.misaligned_address = self.misaligned_address.saturating_add(other.misaligned_address);
    }
}

impl<T> Index<LaneFaultKind> for ByFaultKind<T> {
    type Output = T;

    #[inline]
    fn index(&self, kind: LaneFaultKind) -> &T {
        match kind {
            LaneFaultKind::OutsideWindow => &self.outside_window,
            LaneFaultKind::OutsideAllocation => &self.outside_allocation,
            LaneFaultKind::MisalignedAddress => &self.misaligned_address,
        }
    }
}

impl<T> IndexMut<LaneFaultKind> for ByFaultKind<T> {
    #[inline]
    fn index_mut(&mut self, kind: LaneFaultKind) -> &mut T {
        match kind {
            LaneFaultKind::OutsideWindow => &mut self.outside_window,
            LaneFaultKind::OutsideAllocation => &mut self.outside_allocation,
            LaneFaultKind::MisalignedAddress => &mut self.misaligned_address,
        }
    }
}

/// The cause of a lane's fault: its kind and, outside of a window, the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultCause {
    /// [`LaneFaultKind::OutsideWindow`].
    OutsideWindow(OutsideWindow),
    /// [`LaneFaultKind::OutsideAllocation`].
    OutsideAllocation,
    /// [`LaneFaultKind::MisalignedAddress`].
    MisalignedAddress,
}

impl FaultCause {
    /// Returns the kind of the fault.
    #[inline]
    #[must_use]
    pub const fn kind(self) -> LaneFaultKind {
        match self {
            Self::OutsideWindow(_) => LaneFaultKind::OutsideWindow,
            Self::OutsideAllocation => LaneFaultKind::OutsideAllocation,
            Self::MisalignedAddress => LaneFaultKind::MisalignedAddress,
        }
    }
}

/// A fault of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneFault {
    /// The lane, 0..=31.
    pub lane: usize,
    /// The cause.
    pub cause: FaultCause,
    /// The effective address.
    pub address: GenericAddress,
    /// The address rounded down to a multiple of the access size.
    pub rounded: GenericAddress,
    /// The access size in bytes.
    pub bytes: u32,
    /// The memory of the rounded address, if the lane can access it.
    pub space: Option<Space>,
}

impl LaneFault {
    /// Returns the kind of the fault.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> LaneFaultKind {
        self.cause.kind()
    }

    /// Returns the error that the hardware reports.
    #[must_use]
    pub fn warp_error(&self) -> WarpError {
        const OUT_OF_RANGE: &str = "CUDA_EXCEPTION_5 Warp Out-of-range Address";
        const ILLEGAL: &str = "CUDA_EXCEPTION_14 Warp Illegal Address";
        let exception = match (self.cause, self.space) {
            (FaultCause::MisalignedAddress, _) => {
                return WarpError {
                    code: 0x0f,
                    name: "MISALIGNED_ADDR",
                    exception: "CUDA_EXCEPTION_6 Warp Misaligned Address",
                };
            }
            (FaultCause::OutsideWindow(OutsideWindow::BeyondAddressBits), _)
            | (FaultCause::OutsideAllocation, Some(Space::Global)) => ILLEGAL,
            _ => OUT_OF_RANGE,
        };
        WarpError { code: 0x0e, name: "OOR_ADDR", exception }
    }
}

impl fmt::Display for LaneFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}: {} at {}", self.lane, self.kind(), self.address)?;
        if self.rounded != self.address {
            write!(f, " (rounded down to {})", self.rounded)?;
        }
        write!(f, ", {} byte{}", self.bytes, if self.bytes == 1 { "" } else { "s" })?;
        match (self.space, self.cause) {
            (Some(space), _) => write!(f, " of {space} memory"),
            (None, FaultCause::OutsideWindow(OutsideWindow::BeyondAddressBits)) => {
                f.write_str(", beyond the address space")
            }
            (None, _) => f.write_str(", outside the memory that Plg selects"),
        }
    }
}

/// The lane faults of one load, in lane order. A lane that is both misaligned and outside has two, the misalignment
/// first.
///
/// Boxed, because every load returns one of these and nearly all are empty. An empty list does not allocate.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::box_collection, reason = "one word instead of three")]
pub struct LaneFaults(Option<Box<Vec<LaneFault>>>);

impl LaneFaults {
    /// Returns whether no lane has a fault.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns an iterator over the faults, by ascending lane.
    pub fn iter(&self) -> std::slice::Iter<'_, LaneFault> {
        self.0.as_deref().map(Vec::as_slice).unwrap_or_default().iter()
    }

    /// Returns the lanes with a fault of that kind.
    #[must_use]
    pub fn lanes(&self, kind: LaneFaultKind) -> LaneMask {
        self.by_kind()[kind]
    }

    /// Returns the lanes with a fault of each kind.
    #[must_use]
    pub fn by_kind(&self) -> ByFaultKind<LaneMask> {
        let mut lanes = ByFaultKind::<LaneMask>::default();
        for fault in self {
            lanes[fault.kind()].insert(fault.lane);
        }
        lanes
    }

    /// Adds a fault, which must come after the faults of lower lanes.
    pub fn push(&mut self, fault: LaneFault) {
        self.0.get_or_insert_default().push(fault);
    }
}

impl<'f> IntoIterator for &'f LaneFaults {
    type Item = &'f LaneFault;
    type IntoIter = std::slice::Iter<'f, LaneFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
