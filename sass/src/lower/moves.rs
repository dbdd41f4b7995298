//! Moves, predicates, special registers, and exchanges between lanes.

use warpload_encoding::{Reg, Spa5Value};
use warpload_machine::ScalarType as T;
use warpload_machine::code::{
    Action, ExchangeKind, ExchangeOp, NONE, Shuffle, Slot, Special, Vote,
};
use warpload_machine::lanes::flags::{predicate_of_bit, test_flags};
use warpload_machine::lanes::integers::{Bitwise, Shift, bitwise, shift};
use warpload_machine::lanes::moves::{copy, extract_bits, join, permute, permute_from, select};

use super::control::flag_test;
use super::{Initial, Instruction, Lowerer, Lowering, NotExecuted, PREDICATES};

impl Lowerer {
    pub(super) fn moves(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "MOV" | "MOV32I" => {
                // The last operand says which lanes of four write.
                if of.operand(2)?.value != Spa5Value::Number(15) {
                    return Err(NotExecuted);
                }
                let a = self.word(of.operand(1)?)?;
                self.put(copy(T::B32), of.operand(0)?, &[a])
            }
            "SEL" => {
                let (a, b) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
                let chosen = self.predicate(of.operand(3)?)?;
                self.put(select(T::B32), of.operand(0)?, &[a, b, chosen])
            }
            "PRMT" => self.permute(of),
            "P2R" => self.gather_predicates(of),
            "R2P" => self.scatter_predicates(of),
            "PSET" | "PSETP" | "CSET" | "CSETP" => self.predicates(of),
            "S2R" | "CS2R" => self.special(of),
            "SHFL" => self.shuffle(of),
            _ => self.vote(of),
        }
    }

    /// The bytes of two words that a third one selects.
    fn permute(&mut self, of: &Instruction<'_>) -> Lowering {
        let (a, selector) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
        let b = self.word(of.operand(3)?)?;
        // The selectors of PTX's modes, which the low bits of the operand choose.
        let operation = match of.modifier("mode") {
            "" => permute(),
            "F4E" => permute_from([0x3210, 0x4321, 0x5432, 0x6543]),
            "B4E" => permute_from([0x5670, 0x6701, 0x7012, 0x0123]),
            "RC8" => permute_from([0x0000, 0x1111, 0x2222, 0x3333]),
            "ECL" => permute_from([0x3210, 0x3211, 0x3222, 0x3333]),
            "ECR" => permute_from([0x0000, 0x1110, 0x2210, 0x3210]),
            "RC16" => permute_from([0x1010, 0x3232, 0x1010, 0x3232]),
            _ => return Err(NotExecuted),
        };
        self.put(operation, of.operand(0)?, &[a, b, selector])
    }

    /// The predicates, or the flags, as bits of a byte. The other bits are those of the source.
    fn gather_predicates(&mut self, of: &Instruction<'_>) -> Lowering {
        let byte = byte_shift(of.modifier("byte"));
        let source = self.word(of.operand(2)?)?;
        let mask = self.word(of.operand(3)?)?;
        if of.operand(1)?.value != Spa5Value::Name("PR") {
            return self.gather_flags(of, byte, [source, mask]);
        }
        let mut bits = NONE;
        for number in 0..PREDICATES {
            let bit = self.number(1 << number);
            let row = self.predicate_row(number as u8);
            self.used = 0;
            let chosen = self.temporary_of(select(T::B32), &[bit, NONE, row])?;
            let joined =
                if number % 2 == 0 { self.temporaries() + 4 } else { self.temporaries() + 5 };
            self.lanes(bitwise(Bitwise::Or, T::B32), joined, &[bits, chosen])?;
            bits = joined;
        }
        self.used = 6;
        // A byte's bits of the source stay where the mask has none.
        let bits = self.temporary_of(bitwise(Bitwise::And, T::B32), &[bits, mask])?;
        let count = self.number(byte);
        let bits = self.temporary_of(shift(Shift::Left, T::B32), &[bits, count])?;
        let mask = self.temporary_of(shift(Shift::Left, T::B32), &[mask, count])?;
        let rest = self.temporary_of(bitwise(Bitwise::Not, T::B32), &[mask])?;
        let kept = self.temporary_of(bitwise(Bitwise::And, T::B32), &[source, rest])?;
        self.put(bitwise(Bitwise::Or, T::B32), of.operand(0)?, &[kept, bits])
    }

    /// The carry and the other flags as four bits. Which flag is which bit is not known: programs only keep them.
    fn gather_flags(
        &mut self,
        of: &Instruction<'_>,
        byte: u32,
        [source, mask]: [Slot; 2],
    ) -> Lowering {
        let Spa5Value::Number(15) = of.operand(3)?.value else { return Err(NotExecuted) };
        let flags = self.flags();
        let carry = self.temporary_of(extract_bits(T::B32, 0, 1), &[flags])?;
        let others = self.temporary_of(extract_bits(T::B32, 2, 3), &[flags])?;
        let bits = self.temporary_of(join(16), &[carry, others])?;
        let (fifteen, byte) = (self.number(15), self.number(byte));
        let others = self.temporary_of(shift(Shift::Right, T::U32), &[bits, fifteen])?;
        let bits = self.temporary_of(bitwise(Bitwise::Or, T::B32), &[others, carry])?;
        let bits = self.temporary_of(bitwise(Bitwise::And, T::B32), &[bits, mask])?;
        let bits = self.temporary_of(shift(Shift::Left, T::B32), &[bits, byte])?;
        let mask = self.temporary_of(shift(Shift::Left, T::B32), &[mask, byte])?;
        let rest = self.temporary_of(bitwise(Bitwise::Not, T::B32), &[mask])?;
        let kept = self.temporary_of(bitwise(Bitwise::And, T::B32), &[source, rest])?;
        self.put(bitwise(Bitwise::Or, T::B32), of.operand(0)?, &[kept, bits])
    }

    /// Four bits to flags.
    fn scatter_flags(&mut self, source: Slot, byte: u32, mask: u64) -> Lowering {
        if mask != 15 {
            return Err(NotExecuted);
        }
        let carry = self.temporary_of(extract_bits(T::B32, byte, 1), &[source])?;
        let others = self.temporary_of(extract_bits(T::B32, byte + 1, 3), &[source])?;
        let two = self.number(2);
        let others = self.temporary_of(shift(Shift::Left, T::B32), &[others, two])?;
        let flags = self.flags();
        self.lanes(bitwise(Bitwise::Or, T::B32), flags, &[carry, others])
    }

    /// Bits of a byte to predicates.
    fn scatter_predicates(&mut self, of: &Instruction<'_>) -> Lowering {
        let byte = byte_shift(of.operand(1)?.part());
        let source = self.word(of.operand(1)?)?;
        let Spa5Value::Number(mask) = of.operand(2)?.value else { return Err(NotExecuted) };
        if of.operand(0)?.value != Spa5Value::Name("PR") {
            return self.scatter_flags(source, byte, mask);
        }
        for number in (0..PREDICATES).filter(|number| mask >> number & 1 != 0) {
            let row = self.predicate_row(number as u8);
            self.lanes(predicate_of_bit(byte + number), row, &[source])?;
        }
        Ok(())
    }

    fn predicates(&mut self, of: &Instruction<'_>) -> Lowering {
        let is_set = matches!(of.name(), "PSET" | "CSET");
        let first = if is_set { 1 } else { 2 };
        let (result, last) = match of.name() {
            "PSET" | "PSETP" => {
                let (a, b) =
                    (self.predicate(of.operand(first)?)?, self.predicate(of.operand(first + 1)?)?);
                (self.combined(of.modifier("combine1"), a, b)?, first + 2)
            }
            _ => {
                let (flags, test) = (self.flags(), flag_test(of.modifier("compare"))?);
                (self.temporary_of(test_flags(test), &[flags])?, first + 1)
            }
        };
        if !is_set {
            return self.put_predicates(of, result, last);
        }
        let other = self.predicate(of.operand(last)?)?;
        let result = self.combined(of.modifier("combine"), result, other)?;
        self.put_truth(of, result)
    }

    fn special(&mut self, of: &Instruction<'_>) -> Lowering {
        let Spa5Value::Name(name) = of.operand(1)?.value else { return Err(NotExecuted) };
        let masks = |below, here, above| Special::LaneMask { below, here, above };
        let special = match name {
            "SR_TID.X" => Special::Thread(0),
            "SR_TID.Y" => Special::Thread(1),
            "SR_TID.Z" => Special::Thread(2),
            "SR_CTAID.X" => Special::Block(0),
            "SR_CTAID.Y" => Special::Block(1),
            "SR_CTAID.Z" => Special::Block(2),
            "SR_LANEID" => Special::Lane,
            "SR_EQMASK" => masks(false, true, false),
            "SR_LTMASK" => masks(true, false, false),
            "SR_LEMASK" => masks(true, true, false),
            "SR_GTMASK" => masks(false, false, true),
            "SR_GEMASK" => masks(false, true, true),
            "SR_SMEMSZ" => Special::TotalShared,
            "SR_VIRTID" => {
                // The warp is in the bits from 8 on; all blocks are on multiprocessor 0.
                let (warp, count) = (self.initial(Initial::Special(Special::Warp)), self.number(8));
                return self.put(shift(Shift::Left, T::B32), of.operand(0)?, &[warp, count]);
            }
            "SR_VIRTCFG" => {
                let one = self.number(1 << 20);
                return self.put(copy(T::B32), of.operand(0)?, &[one]);
            }
            "SR_LMEMHIOFF" => return self.put(copy(T::B32), of.operand(0)?, &[NONE]),
            "SR_CLOCKLO" | "SR_CLOCK" | "SR_CLOCKHI" | "SR_GLOBALTIMERLO" | "SR_GLOBALTIMERHI" => {
                let slot = self.destination(of.operand(0)?)?;
                let shift = if name.ends_with("HI") { 32 } else { 0 };
                self.push(Action::Clock { shift, is_wide: false }).d = slot;
                return Ok(());
            }
            _ => return Err(NotExecuted),
        };
        let row = self.initial(Initial::Special(special));
        self.put(copy(T::B32), of.operand(0)?, &[row])
    }

    fn exchange(&mut self, kind: ExchangeKind, d: Slot, [a, b, c]: [Slot; 3], e: Slot) {
        let op = self.push(Action::Exchange(ExchangeOp { kind, members: None }));
        (op.d, op.a, op.b, op.c, op.e) = (d, a, b, c, e);
    }

    fn shuffle(&mut self, of: &Instruction<'_>) -> Lowering {
        let mode = match of.modifier("mode") {
            "IDX" => Shuffle::Index,
            "UP" => Shuffle::Up,
            "DOWN" => Shuffle::Down,
            _ => Shuffle::Butterfly,
        };
        let predicate = self.destination_predicate(of.operand(0)?)?;
        let d = self.destination(of.operand(1)?)?;
        let [a, b, c] =
            [self.word(of.operand(2)?)?, self.word(of.operand(3)?)?, self.word(of.operand(4)?)?];
        self.exchange(ExchangeKind::Shuffle(mode), d, [a, b, c], predicate);
        Ok(())
    }

    fn vote(&mut self, of: &Instruction<'_>) -> Lowering {
        let vote = match of.modifier("mode") {
            "ALL" => Vote::All,
            "ANY" => Vote::Any,
            "EQ" => Vote::Uniform,
            _ => return Err(NotExecuted),
        };
        if of.has("VTG") {
            return Err(NotExecuted);
        }
        let source = self.predicate(of.operand(2)?)?;
        if of.register(0)? != Reg::RZ {
            let d = self.destination(of.operand(0)?)?;
            self.exchange(ExchangeKind::Vote(Vote::Ballot), d, [source, NONE, NONE], NONE);
        }
        let predicate = self.destination_predicate(of.operand(1)?)?;
        if predicate != self.sink() {
            self.exchange(ExchangeKind::Vote(vote), predicate, [source, NONE, NONE], NONE);
        }
        Ok(())
    }
}

/// The lowest bit of a byte.
fn byte_shift(name: &str) -> u32 {
    match name {
        "B1" => 8,
        "B2" => 16,
        "B3" => 24,
        _ => 0,
    }
}
