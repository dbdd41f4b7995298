//! Conversions between numbers.

use warpload_encoding::Spa5Value;
use warpload_machine::code::Slot;
use warpload_machine::lanes::conversions::convert;
use warpload_machine::lanes::floats::float;
use warpload_machine::lanes::integers::{IntegerOp, integer};
use warpload_machine::lanes::moves::{copy, extract_bits};
use warpload_machine::{FloatOp, Modes, ScalarType as T};

use super::{Instruction, Lowerer, Lowering, NotExecuted};

/// The type with a name.
fn named(name: &str) -> Lowering<T> {
    Ok(match name {
        "U8" => T::U8,
        "U16" => T::U16,
        "U32" => T::U32,
        "U64" => T::U64,
        "S8" => T::S8,
        "S16" => T::S16,
        "S32" => T::S32,
        "S64" => T::S64,
        "F16" => T::F16,
        "F32" => T::F32,
        "F64" => T::F64,
        _ => return Err(NotExecuted),
    })
}

impl Lowerer {
    pub(super) fn conversion(&mut self, of: &Instruction<'_>) -> Lowering {
        let (from, to) = (named(of.modifier("from"))?, named(of.modifier("to"))?);
        match of.name() {
            "F2F" => self.between_floats(of, from, to),
            "F2I" => {
                let source = self.converted_float(of, from)?;
                let modes = Modes { saturate: false, ..Self::modes(of)? };
                self.put_converted(of, from, to, modes, source)
            }
            "I2F" => {
                let (source, from) = self.converted_integer(of, from)?;
                let modes = Self::modes(of)?;
                self.put_converted(of, from, to, modes, source)
            }
            _ => self.between_integers(of, from, to),
        }
    }

    /// The float that a conversion takes.
    fn converted_float(&mut self, of: &Instruction<'_>, from: T) -> Lowering<Slot> {
        let operand = *of.operand(1)?;
        if from != T::F16 {
            return self.float_source(&operand, from);
        }
        let slot = self.plain_word(&operand)?;
        let slot = match Self::is_number(&operand) {
            true => slot,
            false => self.half_of(slot, operand.has("H1"))?,
        };
        let signed = self.signed(&operand, slot, T::F16x2)?;
        if signed == slot { Ok(slot) } else { self.low_half(signed) }
    }

    /// The integer that a conversion takes, and its type: a part of a word, extended.
    fn converted_integer(&mut self, of: &Instruction<'_>, from: T) -> Lowering<(Slot, T)> {
        let operand = *of.operand(1)?;
        if from.bits() == 64 {
            let slot = match operand.value {
                Spa5Value::Number(number) => self.initial(super::Initial::Number(number, 2)),
                _ => self.plain_pair(&operand)?,
            };
            let slot = match operand.is_absolute {
                true => self.temporary_of(integer(IntegerOp::Abs, T::S64), &[slot])?,
                false => slot,
            };
            let slot = match operand.is_negated {
                true => self.temporary_of(integer(IntegerOp::Neg, T::S64), &[slot])?,
                false => slot,
            };
            return Ok((slot, from));
        }
        let slot = self.plain_word(&operand.positive())?;
        let shift = match operand.part() {
            "" => 0,
            "B1" => 8,
            "B2" | "H1" => 16,
            "B3" => 24,
            _ => return Err(NotExecuted),
        };
        let slot = match (from.bits(), shift) {
            (32, 0) => slot,
            (bits, _) => self.temporary_of(extract_bits(T::B32, shift, bits), &[slot])?,
        };
        // Extended to a word, before the marks.
        let word = if from.is_signed() { T::S32 } else { T::U32 };
        let mut slot = match from.bits() {
            32 => slot,
            _ => self.temporary_of(convert(from, word, Modes::default(), false), &[slot])?,
        };
        if operand.is_absolute {
            // The magnitude of the smallest number is none of 32 bits with a sign: ptxas converts `abs` to unsigned so.
            slot = self.temporary_of(convert(word, T::S64, Modes::default(), false), &[slot])?;
            slot = self.temporary_of(integer(IntegerOp::Abs, T::S64), &[slot])?;
            if operand.is_negated {
                slot = self.temporary_of(integer(IntegerOp::Neg, T::S64), &[slot])?;
            }
            return Ok((slot, T::S64));
        }
        if operand.is_negated {
            // And so is its opposite the number itself: ptxas makes this of a product with -1.
            slot = self.temporary_of(integer(IntegerOp::Neg, T::S32), &[slot])?;
        }
        Ok((slot, word))
    }

    /// Converts and writes to a register or a pair.
    fn put_converted(
        &mut self,
        of: &Instruction<'_>,
        from: T,
        to: T,
        modes: Modes,
        source: Slot,
    ) -> Lowering {
        let d = of.operand(0)?;
        let operation = convert(from, to, modes, from.is_float() && !to.is_float());
        if to.bits() == 64 {
            let result = self.temporary_of(operation, &[source])?;
            return self.put_pair(d, result);
        }
        if to == T::S16 {
            let result = self.temporary_of(operation, &[source])?;
            return self.put(convert(T::S16, T::S32, Modes::default(), false), d, &[result]);
        }
        self.put(operation, d, &[source])
    }

    fn between_floats(&mut self, of: &Instruction<'_>, from: T, to: T) -> Lowering {
        let source = self.converted_float(of, from)?;
        let d = of.operand(0)?;
        if from != to {
            let modes = Self::modes(of)?;
            return self.put_converted(of, from, to, modes, source);
        }
        let name = of.modifier("round");
        let is_integral = !matches!(name, "" | "PASS");
        let modes = match name {
            "PASS" => Modes { flush: of.has("FTZ"), saturate: of.has("SAT"), ..Modes::default() },
            _ => Self::modes(of)?,
        };
        let operation = match is_integral {
            true => convert(from, to, modes, true),
            false if modes == Modes::default() => copy(if to == T::F64 { T::B64 } else { T::B32 }),
            // A sum with minus zero has all modes.
            false => {
                let zero = self.number(1 << 31);
                if to != T::F32 {
                    return Err(NotExecuted);
                }
                return self.put(float(FloatOp::Add, T::F32, modes), d, &[source, zero]);
            }
        };
        if to == T::F64 {
            let result = self.temporary_of(operation, &[source])?;
            return self.put_pair(d, result);
        }
        self.put(operation, d, &[source])
    }

    fn between_integers(&mut self, of: &Instruction<'_>, from: T, to: T) -> Lowering {
        let (source, from) = self.converted_integer(of, from)?;
        let d = of.operand(0)?;
        if of.has("SAT") {
            let modes = Modes { saturate: true, ..Modes::default() };
            let result = self.temporary_of(convert(from, to, modes, false), &[source])?;
            let to_word = if to.is_signed() { T::S32 } else { T::U32 };
            return self.put(convert(to, to_word, Modes::default(), false), d, &[result]);
        }
        let source = match from.bits() {
            64 => self.temporary_of(extract_bits(T::B64, 0, 32), &[source])?,
            _ => source,
        };
        match to.bits() {
            32 => self.put(copy(T::B32), d, &[source]),
            _ => {
                let to_word = if to.is_signed() { T::S32 } else { T::U32 };
                let part = self.temporary_of(extract_bits(T::B32, 0, to.bits()), &[source])?;
                self.put(convert(to, to_word, Modes::default(), false), d, &[part])
            }
        }
    }
}
