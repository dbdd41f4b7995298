//! [`SassTensorLoad`]: an `LDTM` as the `tcgen05.ld` that it implements.

use warpload::encoding::{
    Instruction, LoadParts, NotExecutable, Reg, TensorParts, TensorReduction, TensorShape,
    TensorType, UniformReg,
};
use warpload::explain::Explanation;
use warpload::lane::LANES;

use warpload_machine::tensor::{
    Form, Half, IllegalLoadError, Reduction, ReductionOperation, ReductionType, Shape, TensorLoad,
};

use std::ops::Range;

/// An `LDTM` or `LDTM.STAT` of SASS. A `tcgen05.ld` with `.16x32bx2` compiles to two of them, one per half.
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
    /// The load. For `.16x32bx2` the half offset is 0, because the second half has an address of its own.
    pub load: TensorLoad,
    /// The half of a `.16x32bx2`; `None` for other shapes.
    pub half: Option<Half>,
    /// The first of the data registers.
    pub destination: Reg,
    /// The register for the result of a reduction.
    pub reduced: Option<Reg>,
    /// The register that holds the address.
    pub address: UniformReg,
    /// The offset added to that register, modulo 2^32.
    pub address_offset: u32,
}

/// The reason why an instruction is not an executable load of Tensor Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SassTensorError {
    /// Another instruction, with its mnemonic.
    #[error("{0} does not load Tensor Memory; `LDTM` does")]
    Other(&'static str),
    /// A modifier is invalid.
    #[error(transparent)]
    NotExecutable(NotExecutable),
    /// PTX has no load like it.
    #[error("not a legal `tcgen05.ld`: {0}")]
    Illegal(IllegalLoadError),
}

impl SassTensorLoad {
    /// Reads an instruction.
    ///
    /// # Errors
    /// Returns [`SassTensorError`] if the instruction is not an `LDTM`, or has no equivalent in PTX.
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

    /// Returns the threads that execute: all, or one half of them for `.16x32bx2`.
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

impl SassTensorLoad {
    /// Returns the names of the data registers, in order from [`Self::destination`].
    ///
    /// # Errors
    /// Returns [`MissingRegisters`] if they would go beyond R254.
    pub fn data_registers(&self) -> Result<Vec<String>, MissingRegisters> {
        let (first, count) = (usize::from(self.destination.number()), self.load.registers());
        if first + count > 255 {
            return Err(MissingRegisters { first, last: first + count - 1 });
        }
        Ok((first..first + count).map(|number| format!("R{number}")).collect())
    }

    /// Returns the address as text: `UR4+0x10`.
    #[must_use]
    pub fn shown_address(&self) -> String {
        match (self.address.is_zero(), self.address_offset) {
            (true, offset) => format!("{offset:#x}"),
            (false, 0) => self.address.to_string(),
            (false, offset) => format!("{}+{offset:#x}", self.address),
        }
    }
}

/// An `LDTM` that writes registers beyond R254.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it writes R{first}..R{last}; the last register is R254")]
pub struct MissingRegisters {
    /// The first register.
    pub first: usize,
    /// The last one.
    pub last: usize,
}

/// Explains a load; of an `LDTM` with its PTX as a remark, and its effect on Tensor Memory.
#[must_use]
pub fn explain(load: &Instruction) -> Explanation {
    let explanation = Explanation::new(load);
    match explanation_of(load) {
        Some((remarks, effect)) => Explanation { remarks, effect, ..explanation },
        None => explanation,
    }
}

/// Remarks on an `LDTM` and its effect in one sentence; `None` for any other load.
fn explanation_of(load: &Instruction) -> Option<(Vec<String>, String)> {
    let tensor = match SassTensorLoad::new(load) {
        Ok(tensor) => tensor,
        Err(SassTensorError::Other(_)) => return None,
        Err(error) => {
            return Some((vec![error.to_string()], format!("Nothing is loaded: {error}.")));
        }
    };
    let mut remarks = vec![match tensor.half {
        None => format!("equivalent PTX: `{}`", tensor.load),
        Some(Half::First) => {
            format!("equivalent PTX: the first half of `{}`, for threads 0 to 15", tensor.load)
        }
        Some(Half::Second) => {
            format!("equivalent PTX: the second half of `{}`, for threads 16 to 31", tensor.load)
        }
    }];
    let names = tensor.data_registers();
    if let Err(error) = &names {
        remarks.push(error.to_string());
    }
    if tensor.load.needs_even_column() {
        remarks.push("hardware is known, or assumed, to require an even column".to_owned());
    }
    Some((remarks, effect(&load.parts(), &tensor, names.ok().as_deref())))
}

fn effect(parts: &LoadParts, tensor: &SassTensorLoad, names: Option<&[String]>) -> String {
    let guard = parts.guard;
    let warp = match (guard.pred.is_true(), guard.negated) {
        (true, true) => return "The guard is never true: nothing is loaded.".to_owned(),
        (true, false) => "The warp loads".to_owned(),
        (false, false) => format!("If U{} is true, the warp loads", guard.pred),
        (false, true) => format!("If U{} is false, the warp loads", guard.pred),
    };
    let (lanes, columns) = (tensor.load.shape().lanes(), tensor.load.columns());
    let into = match names {
        Some([only]) => format!(" into {only} of "),
        Some([first, .., last]) => format!(" into {first}..{last} of "),
        _ => ", a register each, for ".to_owned(),
    };
    let threads = tensor.threads();
    let threads = match tensor.half {
        None => "each thread".to_owned(),
        Some(_) => format!("threads {} to {}", threads.start, threads.end - 1),
    };
    let columns = format!("{columns} column{}", if columns == 1 { "" } else { "s" });
    let reduced = tensor.reduced.zip(tensor.load.reduction());
    let reduced = reduced.map_or(String::new(), |(register, reduction)| {
        let which = match reduction.operation {
            ReductionOperation::Min => "minimum",
            ReductionOperation::Max => "maximum",
        };
        format!(", and the {which} of each thread's values into {register}")
    });
    format!(
        "{warp} {columns} of {lanes} lanes of Tensor Memory from {}{into}{threads}{reduced}.",
        tensor.shown_address()
    )
}
