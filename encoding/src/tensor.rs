//! [`TensorParts`]: the fields of `LDTM`, the load from Tensor Memory.

use crate::instruction::Instruction;
use crate::meaning::NotExecutable;
use crate::operand::{Reg, UniformReg};
use crate::table::forms::FormSize;
use crate::table::row::Slot;

use NotExecutable::InvalidModifier;

/// Shape, address and destination of an `LDTM` or `LDTM.STAT`. Its guard is in [`LoadParts`](crate::LoadParts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorParts {
    /// The shape.
    pub shape: TensorShape,
    /// The number of repetitions along the columns: 1, 2, 4 and so on to 128. Not every shape can be repeated 128
    /// times.
    pub repeat: u8,
    /// `.PACK16BIT`: packs the low halves of two neighbouring columns into one register.
    pub is_packed: bool,
    /// The reduction of `.STAT`.
    pub reduction: Option<TensorReduction>,
    /// The first register.
    pub destination: Reg,
    /// The register that holds the address.
    pub base: UniformReg,
    /// The offset added to the address.
    pub offset: i32,
}

impl TensorParts {
    /// Returns the number of registers written per thread, without the result of a reduction.
    #[must_use]
    pub const fn registers(&self) -> u32 {
        let of_one = match self.shape {
            TensorShape::S16x128b => 2,
            TensorShape::S16x256b => 4,
            _ => 1,
        };
        of_one * self.repeat as u32
    }
}

/// The shape of an `LDTM`, as PTX names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorShape {
    /// `.16dp128bit`: `.16x128b`.
    S16x128b,
    /// `.16dp256bit`: `.16x256b`.
    S16x256b,
    /// No modifier: `.32x32b`.
    S32x32b,
    /// `.16dp64bit`: `.16x64b`.
    S16x64b,
    /// `.16dp32bit_t0_t15`: `.16x32bx2` for threads 0 to 15.
    S16x32bx2First,
    /// `.16dp32bit_t16_t31`: `.16x32bx2` for threads 16 to 31.
    S16x32bx2Second,
}

/// The reduction of an `LDTM.STAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorReduction {
    /// Whether the smallest value is kept instead of the largest.
    pub is_minimum: bool,
    /// Whether magnitudes are compared.
    pub is_absolute: bool,
    /// `.NAN`: one NaN makes the result NaN.
    pub propagates_nan: bool,
    /// The type of the values.
    pub kind: TensorType,
    /// The register of the result.
    pub destination: Reg,
}

/// The type of the values that an `LDTM.STAT` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorType {
    /// Unsigned integers.
    U32,
    /// Signed integers.
    S32,
    /// 32-bit floating-point numbers.
    F32,
}

impl Instruction {
    /// Returns the parts of an `LDTM`, or an error if a modifier is invalid; `None` for another instruction.
    ///
    /// ```
    /// use warpload_encoding::{Sm, TensorShape, parse_line};
    ///
    /// let blackwell: Sm = "100".parse()?;
    /// let load = parse_line("LDTM.16dp256bit.x4 R0, tmem[UR4+0x20]", blackwell)?.instruction;
    /// let parts = load.tensor_parts().ok_or("no LDTM")??;
    /// assert_eq!((parts.shape, parts.repeat), (TensorShape::S16x256b, 4));
    /// assert_eq!((parts.base.to_string().as_str(), parts.offset), ("UR4", 0x20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tensor_parts(&self) -> Option<Result<TensorParts, NotExecutable>> {
        (self.form().size == FormSize::Tensor).then(|| self.read_tensor_parts())
    }

    fn read_tensor_parts(&self) -> Result<TensorParts, NotExecutable> {
        if let Some(name) = self.invalid_modifier() {
            return Err(InvalidModifier(name));
        }
        let shape = match self.get(Slot::Shape) {
            0 => TensorShape::S16x128b,
            1 => TensorShape::S16x256b,
            2 => TensorShape::S32x32b,
            3 => TensorShape::S16x64b,
            4 => TensorShape::S16x32bx2First,
            5 => TensorShape::S16x32bx2Second,
            6 => return Err(InvalidModifier("INVALID6")),
            _ => return Err(InvalidModifier("INVALID7")),
        };
        let reduction = self.has(Slot::Statistic).then(|| self.tensor_reduction()).transpose()?;
        Ok(TensorParts {
            shape,
            repeat: 1 << (self.get(Slot::Count) & 7),
            is_packed: self.get(Slot::Pack) != 0,
            reduction,
            destination: self.register(Slot::Destination),
            base: self.uniform(Slot::UniformBase),
            offset: self.get_signed_by(self.plan(), Slot::Offset) as i32,
        })
    }

    fn tensor_reduction(&self) -> Result<TensorReduction, NotExecutable> {
        let operation = self.get(Slot::Statistic);
        Ok(TensorReduction {
            is_minimum: operation & 2 != 0,
            is_absolute: operation & 1 != 0,
            propagates_nan: self.get(Slot::Nan) != 0,
            kind: match self.get(Slot::StatisticType) {
                0 => TensorType::U32,
                1 => TensorType::S32,
                2 => TensorType::F32,
                _ => return Err(InvalidModifier("INVALID3")),
            },
            destination: self.register(Slot::HighDestination),
        })
    }
}
