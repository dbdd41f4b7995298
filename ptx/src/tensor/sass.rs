//! [`SassTensorLoad`]: what an `LDTM` loads, as the `tcgen05.ld` that it is.

use warpload::encoding::{
    Instruction, NotExecutable, Reg, TensorParts, TensorReduction, TensorShape, TensorType,
    UniformReg,
};
use warpload::lane::LANES;

use super::fault::Half;
use super::instruction::TensorLoad;
use super::judge::IllegalLoadError;
use super::reduction::{Reduction, ReductionOperation, ReductionType};
use super::shape::{Form, Shape};

use std::ops::Range;

/// An `LDTM` or `LDTM.STAT` of SASS. A `tcgen05.ld` of `.16x32bx2` is two of them, one for each half.
///
/// ```
/// use warpload::encoding::{Instruction, Sm};
/// use warpload_ptx::tensor::{Half, SassTensorLoad};
///
/// let blackwell: Sm = "100".parse()?;
/// let load = Instruction::parse("LDTM.16dp32bit_t16_t31.x8 R0, tmem[UR4+0x8]", blackwell)?;
/// let load = SassTensorLoad::new(&load)?;
/// assert_eq!(load.load.to_string(), "tcgen05.ld.sync.aligned.16x32bx2.x8.b32");
/// assert_eq!((load.half, load.address_offset), (Some(Half::Second), 8));
/// assert_eq!(load.threads(), 16..32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SassTensorLoad {
    /// What it does. With `.16x32bx2` the half offset is 0: the second half has its own address.
    pub load: TensorLoad,
    /// Which half it is of `.16x32bx2`; `None` for other shapes.
    pub half: Option<Half>,
    /// The first of the data registers.
    pub destination: Reg,
    /// The register for the result of a reduction.
    pub reduced: Option<Reg>,
    /// The register that holds the address.
    pub address: UniformReg,
    /// What is added to that register, modulo 2^32.
    pub address_offset: u32,
}

/// Why an instruction is no load of Tensor Memory that can be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SassTensorError {
    /// It is another instruction, of that name.
    #[error("{0} does not load Tensor Memory; `LDTM` does")]
    Other(&'static str),
    /// It has an invalid modifier.
    #[error(transparent)]
    NotExecutable(NotExecutable),
    /// PTX has no such load.
    #[error("not a legal `tcgen05.ld`: {0}")]
    Illegal(IllegalLoadError),
}

impl SassTensorLoad {
    /// Reads an instruction.
    ///
    /// # Errors
    /// Returns [`SassTensorError`] if it is not an `LDTM`, or not one that PTX has a load for.
    pub fn new(instruction: &Instruction) -> Result<Self, SassTensorError> {
        let parts = instruction.tensor_parts();
        let parts = parts.ok_or(SassTensorError::Other(instruction.mnemonic()))?;
        let parts = parts.map_err(SassTensorError::NotExecutable)?;
        let TensorParts { repeat, is_packed, reduction, destination, base, offset, .. } = parts;
        let (shape, half) = shape(parts.shape);
        let form = Form {
            pack: is_packed,
            split: half.map(|_| 0),
            reduction: reduction.map(operation),
            ..Form::plain(shape, repeat.into())
        };
        Ok(Self {
            load: TensorLoad::new(form).map_err(SassTensorError::Illegal)?,
            half,
            destination,
            reduced: reduction.map(|reduction| reduction.destination),
            address: base,
            address_offset: offset as u32,
        })
    }

    /// Returns the threads that load: with `.16x32bx2` those of the half.
    #[must_use]
    pub const fn threads(&self) -> Range<usize> {
        match self.half {
            None => 0..LANES,
            Some(Half::First) => 0..LANES / 2,
            Some(Half::Second) => LANES / 2..LANES,
        }
    }
}

fn shape(shape: TensorShape) -> (Shape, Option<Half>) {
    match shape {
        TensorShape::S16x128b => (Shape::S16x128b, None),
        TensorShape::S16x256b => (Shape::S16x256b, None),
        TensorShape::S32x32b => (Shape::S32x32b, None),
        TensorShape::S16x64b => (Shape::S16x64b, None),
        TensorShape::S16x32bx2First => (Shape::S16x32bx2, Some(Half::First)),
        TensorShape::S16x32bx2Second => (Shape::S16x32bx2, Some(Half::Second)),
    }
}

fn operation(reduction: TensorReduction) -> Reduction {
    Reduction {
        operation: if reduction.is_minimum {
            ReductionOperation::Min
        } else {
            ReductionOperation::Max
        },
        kind: match reduction.kind {
            TensorType::U32 => ReductionType::U32,
            TensorType::S32 => ReductionType::S32,
            TensorType::F32 => ReductionType::F32,
        },
        absolute: reduction.is_absolute,
        propagates_nan: reduction.propagates_nan,
    }
}
