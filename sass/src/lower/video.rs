//! Video instructions: arithmetic on bytes, halves and words of registers.

use warpload_encoding::{Spa5Operand, Spa5Value};
use warpload_machine::code::Slot;
use warpload_machine::lanes::predicates::Comparison;
use warpload_machine::lanes::video::{
    Part, Second, Video, VideoOp, VideoProduct, extend_part, multiply_parts, video,
};

use super::{Initial, Instruction, Lowerer, Lowering, NotExecuted};

impl Lowerer {
    pub(super) fn video(&mut self, of: &Instruction<'_>) -> Lowering {
        let (first, second) = (*of.operand(1)?, *of.operand(2)?);
        // Types are not shown if both are signed words.
        let names = match (of.modifier("type1"), of.modifier("type2")) {
            ("", _) => ["S32", "S32"],
            (first, second) => [first, second],
        };
        let (a, is_a_signed) = self.part(&first, names[0])?;
        let (b, is_b_signed) = self.part(&second, names[1])?;
        let c = self.plain_word(of.operand(3)?)?;
        let d = *of.operand(0)?;
        if of.name() == "VMAD" {
            let negates_product = first.is_negated;
            let shift = match of.modifier("shift") {
                "" => 0,
                "SHR_7" => 7,
                "SHR_15" => 15,
                _ => return Err(NotExecuted),
            };
            let product = VideoProduct {
                negates_product,
                negates_addend: of.operand(3)?.is_negated,
                adds_one: of.has("PO"),
                saturates: of.has("SAT"),
                is_signed: is_a_signed
                    || is_b_signed
                    || negates_product
                    || of.operand(3)?.is_negated,
                shift,
            };
            return self.put(multiply_parts(product), &d, &[a, b, c]);
        }
        let wraps = of.has("W");
        let op = match of.name() {
            "VADD" if first.is_negated || of.has("PO") => return Err(NotExecuted),
            "VADD" if second.is_negated => VideoOp::Sub,
            "VADD" => VideoOp::Add,
            "VABSDIFF" => VideoOp::Distance,
            "VMNMX" if of.has("MX") => VideoOp::Max,
            "VMNMX" => VideoOp::Min,
            "VSHL" => VideoOp::ShiftLeft { wraps },
            "VSHR" => VideoOp::ShiftRight { wraps },
            "VSET" => VideoOp::Compare(match of.modifier("compare") {
                "LT" => Comparison::Less,
                "LE" => Comparison::LessOrEqual,
                "EQ" => Comparison::Equal,
                "NE" => Comparison::NotEqual,
                "GT" => Comparison::Greater,
                "GE" => Comparison::GreaterOrEqual,
                _ => return Err(NotExecuted),
            }),
            _ => return Err(NotExecuted),
        };
        let merge = |shift, width| Second::Merge(Part { shift, width });
        let second = match of.modifier("op2") {
            "" => Second::None,
            "ACC" => Second::Add,
            "MIN" => Second::Min,
            "MAX" => Second::Max,
            "MRG_16H" => merge(16, 16),
            "MRG_16L" => merge(0, 16),
            "MRG_8B0" => merge(0, 8),
            "MRG_8B2" => merge(16, 8),
            _ => return Err(NotExecuted),
        };
        let is_signed = match of.name() {
            "VABSDIFF" => of.has("SD"),
            "VSET" => false,
            _ => !of.has("UD"),
        };
        let are_signed = [is_signed, is_a_signed, is_b_signed];
        let operation = Video { op, are_signed, saturates: of.has("SAT"), second };
        self.put(video(operation), &d, &[a, b, c])
    }

    /// A part of a register, or a number, as a number of 64 bits; and whether it is signed.
    fn part(&mut self, operand: &Spa5Operand, name: &str) -> Lowering<(Slot, bool)> {
        let is_signed = name.starts_with('S');
        if let Spa5Value::Number(number) = operand.value {
            let extended =
                if is_signed { number as u16 as i16 as i64 as u64 } else { number & 0xffff };
            return Ok((self.initial(Initial::Number(extended, 2)), is_signed));
        }
        let width = match &name[1..] {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            _ => return Err(NotExecuted),
        };
        let shift = match operand.part() {
            "" => 0,
            "B1" => 8,
            "B2" | "H1" => 16,
            "B3" => 24,
            _ => return Err(NotExecuted),
        };
        let slot = self.plain_word(&operand.positive())?;
        let part = extend_part(Part { shift, width }, is_signed);
        Ok((self.temporary_of(part, &[slot])?, is_signed))
    }
}
