//! Arithmetic of f32 and f64.

use warpload_encoding::{Spa5Operand, Spa5Value};
use warpload_machine::code::{NONE, Slot};
use warpload_machine::lanes::floats::{division_is_special, extreme, float};
use warpload_machine::lanes::moves::{copy, extract_bits, join, select};
use warpload_machine::lanes::predicates::{Comparison, compare};
use warpload_machine::{Direction, Extreme, FloatOp, Modes, ScalarType as T};

use super::{Instruction, Lowerer, Lowering, NotExecuted};

impl Lowerer {
    pub(super) fn float(&mut self, of: &Instruction<'_>) -> Lowering {
        let name = of.name();
        let scalar = if name.starts_with('D') { T::F64 } else { T::F32 };
        match name {
            "FADD" | "FADD32I" | "DADD" => self.arithmetic(of, FloatOp::Add, scalar, 2),
            "FMUL" | "FMUL32I" | "DMUL" => self.arithmetic(of, FloatOp::Mul, scalar, 2),
            "FFMA" | "FFMA32I" | "DFMA" => self.arithmetic(of, FloatOp::Fma, scalar, 3),
            "FMNMX" | "DMNMX" => self.float_extreme(of, scalar),
            "FSET" | "FSETP" | "FCMP" | "DSET" | "DSETP" => self.float_comparison(of, scalar),
            "FCHK" => {
                let (a, b) = (
                    self.float_source(of.operand(1)?, T::F32)?,
                    self.float_source(of.operand(2)?, T::F32)?,
                );
                if of.modifier("mode") != "DIVIDE" {
                    return Err(NotExecuted);
                }
                let d = self.destination_predicate(of.operand(0)?)?;
                self.lanes(division_is_special(), d, &[a, b])
            }
            "RRO" => {
                // The functions take the whole argument.
                let a = self.float_source(of.operand(1)?, T::F32)?;
                self.put(copy(T::B32), of.operand(0)?, &[a])
            }
            _ => self.approximation(of),
        }
    }

    /// The rounding and the other modes of an instruction.
    pub(super) fn modes(of: &Instruction<'_>) -> Lowering<Modes> {
        let direction = match of.modifier("round") {
            "" | "ROUND" => Direction::Nearest,
            "RM" | "FLOOR" => Direction::Down,
            "RP" | "CEIL" => Direction::Up,
            "RZ" | "TRUNC" => Direction::Zero,
            _ => return Err(NotExecuted),
        };
        if of.has("FMZ") {
            return Err(NotExecuted);
        }
        Ok(Modes { direction, flush: of.has("FTZ"), saturate: of.has("SAT"), ..Modes::default() })
    }

    fn arithmetic(
        &mut self,
        of: &Instruction<'_>,
        op: FloatOp,
        scalar: T,
        count: usize,
    ) -> Lowering {
        let modes = Self::modes(of)?;
        let mut sources = Vec::with_capacity(count);
        for at in 0..count {
            sources.push(self.float_source(of.operand(at + 1)?, scalar)?);
        }
        if !of.modifier("scale").is_empty() {
            return Err(NotExecuted);
        }
        self.put_float(of, float(op, scalar, modes), scalar, &sources)
    }

    /// Writes a float to a register or a pair.
    fn put_float(
        &mut self,
        of: &Instruction<'_>,
        operation: Option<warpload_machine::lanes::LaneOperation>,
        scalar: T,
        sources: &[Slot],
    ) -> Lowering {
        let d = of.operand(0)?;
        if scalar != T::F64 {
            if d.has("CC") {
                return Err(NotExecuted);
            }
            return self.put(operation, d, sources);
        }
        let result = self.temporary_of(operation, sources)?;
        self.put_pair(d, result)
    }

    fn float_extreme(&mut self, of: &Instruction<'_>, scalar: T) -> Lowering {
        let (a, b) = (
            self.float_source(of.operand(1)?, scalar)?,
            self.float_source(of.operand(2)?, scalar)?,
        );
        let smaller = self.predicate(of.operand(3)?)?;
        let of_kind = |is_max| Extreme { is_max, flush: of.has("FTZ"), ..Extreme::default() };
        let [is_min, is_max] = [smaller == self.always(), smaller == NONE];
        if is_min || is_max {
            return self.put_float(of, extreme(of_kind(is_max), scalar, 2), scalar, &[a, b]);
        }
        let min = self.temporary_of(extreme(of_kind(false), scalar, 2), &[a, b])?;
        let max = self.temporary_of(extreme(of_kind(true), scalar, 2), &[a, b])?;
        self.put_float(
            of,
            select(if scalar == T::F64 { T::B64 } else { T::B32 }),
            scalar,
            &[min, max, smaller],
        )
    }

    /// The predicate of a comparison of floats.
    pub(super) fn floats_compared(
        &mut self,
        name: &str,
        scalar: T,
        flush: bool,
        a: Slot,
        b: Slot,
    ) -> Lowering<Slot> {
        let comparison = match name {
            "F" => return Ok(NONE),
            "T" => return Ok(self.always()),
            "LT" => Comparison::Less,
            "EQ" => Comparison::Equal,
            "LE" => Comparison::LessOrEqual,
            "GT" | "" => Comparison::Greater,
            "NE" => Comparison::NotEqual,
            "GE" => Comparison::GreaterOrEqual,
            "NUM" => Comparison::Ordered,
            "NAN" => Comparison::Unordered,
            "LTU" => Comparison::LessOrUnordered,
            "EQU" => Comparison::EqualOrUnordered,
            "LEU" => Comparison::LessOrEqualOrUnordered,
            "GTU" => Comparison::GreaterOrUnordered,
            "NEU" => Comparison::NotEqualOrUnordered,
            "GEU" => Comparison::GreaterOrEqualOrUnordered,
            _ => return Err(NotExecuted),
        };
        self.temporary_of(compare(comparison, scalar, flush), &[a, b])
    }

    fn float_comparison(&mut self, of: &Instruction<'_>, scalar: T) -> Lowering {
        let (name, flush) = (of.modifier("compare"), of.has("FTZ"));
        match of.name() {
            "FSETP" | "DSETP" => {
                let (a, b) = (
                    self.float_source(of.operand(2)?, scalar)?,
                    self.float_source(of.operand(3)?, scalar)?,
                );
                let compared = self.floats_compared(name, scalar, flush, a, b)?;
                self.put_predicates(of, compared, 4)
            }
            "FCMP" => {
                let (a, b) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
                let c = self.word(of.operand(3)?)?;
                let compared = self.floats_compared(name, scalar, flush, c, NONE)?;
                self.put(select(T::B32), of.operand(0)?, &[a, b, compared])
            }
            _ => {
                let (a, b) = (
                    self.float_source(of.operand(1)?, scalar)?,
                    self.float_source(of.operand(2)?, scalar)?,
                );
                let compared = self.floats_compared(name, scalar, flush, a, b)?;
                let other = self.predicate(of.operand(3)?)?;
                let result = self.combined(of.modifier("combine"), compared, other)?;
                self.put_truth(of, result)
            }
        }
    }

    /// `MUFU`: flushes subnormal numbers on both sides.
    fn approximation(&mut self, of: &Instruction<'_>) -> Lowering {
        let operand: &Spa5Operand = of.operand(1)?;
        let a = self.float_source(operand, T::F32)?;
        let modes = Modes { flush: true, saturate: of.has("SAT"), ..Modes::default() };
        let op = match of.modifier("function") {
            "COS" => FloatOp::Cos,
            "SIN" => FloatOp::Sin,
            "EX2" => FloatOp::Ex2,
            "LG2" => FloatOp::Lg2,
            "RCP" => FloatOp::Rcp,
            "RSQ" => FloatOp::Rsqrt,
            "SQRT" => FloatOp::Sqrt,
            name @ ("RCP64H" | "RSQ64H") => {
                let op = if name == "RCP64H" { FloatOp::Rcp } else { FloatOp::Rsqrt };
                let wide = self.temporary_of(join(32), &[NONE, a])?;
                let result = self.temporary_of(float(op, T::F64, Modes::default()), &[wide])?;
                return self.put(extract_bits(T::B64, 32, 32), of.operand(0)?, &[result]);
            }
            _ => return Err(NotExecuted),
        };
        self.put(float(op, T::F32, modes), of.operand(0)?, &[a])
    }

    /// A half, a single or a double as it stands in an instruction; for conversions.
    pub(super) fn is_number(operand: &Spa5Operand) -> bool {
        matches!(
            operand.value,
            Spa5Value::Half(_) | Spa5Value::Single(_) | Spa5Value::Double(_) | Spa5Value::Number(_)
        )
    }
}
