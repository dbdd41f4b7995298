//! Integer arithmetic, shifts, bits and logic.

use warpload_encoding::Spa5Value;
use warpload_machine::ScalarType as T;
use warpload_machine::code::{NONE, Slot};
use warpload_machine::lanes::LaneOperation;
use warpload_machine::lanes::flags::{
    FlagSum, FlagTest, HalfAddend, HalfProduct, SumShift, WideChoice, choose_wide,
    compare_with_flags, insert_low_half, multiply_halves, sum_with_flags, test_flags,
};
use warpload_machine::lanes::integers::{
    Bitwise, IntegerOp, Product, Shift, bitwise, bitwise_by_table, count_ones, dot_product,
    extract_field, find_highest, funnel_shift, insert_field, integer, multiply, shift,
};
use warpload_machine::lanes::moves::{copy, extract_bits, join, select};
use warpload_machine::lanes::predicates::{Comparison, compare};

use super::control::flag_test;
use super::{Instruction, Lowerer, Lowering, NotExecuted};

impl Lowerer {
    pub(super) fn integer(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "IADD" | "IADD32I" => {
                self.sum(of, FlagSum { saturates: of.has("SAT"), ..FlagSum::default() }, 2)
            }
            "IADD3" => {
                let shift = match of.modifier("shift") {
                    "RS" => SumShift::Right,
                    "LS" => SumShift::Left,
                    _ => SumShift::None,
                };
                self.sum(of, FlagSum { shift, ..FlagSum::default() }, 3)
            }
            "ISCADD" | "ISCADD32I" => self.scaled_sum(of),
            "IMUL" | "IMUL32I" | "IMAD" | "IMAD32I" => self.product(of),
            "XMAD" => self.half_product(of),
            "IMNMX" => self.extreme(of),
            "ISET" | "ISETP" | "ICMP" => self.comparison(of),
            "IDP" => self.dot(of),
            "BFE" => self.field(of),
            "BFI" => {
                let (d, a) = (*of.operand(0)?, self.word(of.operand(1)?)?);
                let (b, c) = (self.word(of.operand(2)?)?, self.word(of.operand(3)?)?);
                let (position, length) = self.place(b)?;
                // The fields of PTX: what is inserted, into what, where, how long.
                self.put(insert_field(T::B32), &d, &[a, c, position, length])
            }
            "FLO" => {
                let a = self.word(of.operand(1)?)?;
                let scalar = if of.has("U32") { T::U32 } else { T::S32 };
                self.put(find_highest(scalar, of.has("SH")), of.operand(0)?, &[a])
            }
            "POPC" => {
                let a = self.word(of.operand(1)?)?;
                self.put(count_ones(T::B32), of.operand(0)?, &[a])
            }
            "SHL" | "SHR" => self.shift(of),
            "SHF" => self.funnel(of),
            "LOP" | "LOP32I" | "LOP3" => self.logic(of),
            "LEA" => self.address_sum(of),
            _ => Err(NotExecuted),
        }
    }

    /// A sum of words, with the negations of its sources.
    fn sum(&mut self, of: &Instruction<'_>, sum: FlagSum, count: usize) -> Lowering {
        let d = *of.operand(0)?;
        let mut sources = [NONE; 3];
        let mut sum = FlagSum {
            ones: u32::from(of.has("PO")),
            takes_carry: of.has("X"),
            writes: d.has("CC"),
            ..sum
        };
        for (at, source) in sources.iter_mut().enumerate().take(count) {
            let operand = of.operand(at + 1)?;
            let is_number = matches!(operand.value, Spa5Value::Number(_));
            // `IADD3`'s number is signed, although it is printed without a sign.
            let operand = match operand.value {
                Spa5Value::Number(number) if count == 3 => {
                    let number = (number << 44) as i64 >> 44;
                    operand.with_value(Spa5Value::Number(number as u64))
                }
                _ => *operand,
            };
            *source = match operand.value {
                _ if is_number && !operand.is_negated => self.plain_word(&operand)?,
                Spa5Value::Number(_) => {
                    // The inverse of a number, and one more.
                    sum.inverted[at] = true;
                    self.plain_word(&operand.positive())?
                }
                _ => {
                    sum.inverted[at] = operand.is_negated;
                    let slot = self.plain_word(&operand.positive())?;
                    match operand.part() {
                        "" => slot,
                        part => self.half_of(slot, part == "H1")?,
                    }
                }
            };
            sum.ones += u32::from(sum.inverted[at]);
        }
        let is_plain =
            sum == FlagSum { inverted: sum.inverted, ones: sum.ones, ..FlagSum::default() };
        let operation = match (is_plain && count == 2, sum.inverted, sum.ones) {
            (true, [false, false, _], 0) => integer(IntegerOp::Add, T::U32),
            (true, [false, true, _], 1) => integer(IntegerOp::Sub, T::U32),
            (true, [true, false, _], 1) => {
                sources.swap(0, 1);
                integer(IntegerOp::Sub, T::U32)
            }
            _ => sum_with_flags(sum),
        };
        let (slot, flags) = (self.destination(&d)?, self.flags());
        self.lanes(operation, slot, &[sources[0], sources[1], sources[2], flags])
    }

    /// The low or the high half of a word.
    pub(super) fn half_of(&mut self, slot: Slot, is_high: bool) -> Lowering<Slot> {
        self.temporary_of(extract_bits(T::B32, if is_high { 16 } else { 0 }, 16), &[slot])
    }

    fn scaled_sum(&mut self, of: &Instruction<'_>) -> Lowering {
        let (a, b) = (*of.operand(1)?, *of.operand(2)?);
        let count = self.word(of.operand(3)?)?;
        let slot = self.plain_word(&a)?;
        let scaled = self.temporary_of(shift(Shift::Left, T::B32), &[slot, count])?;
        let second = self.plain_word(&b.positive())?;
        let d = *of.operand(0)?;
        let ones = u32::from(of.has("PO")) + u32::from(a.is_negated) + u32::from(b.is_negated);
        let sum = FlagSum {
            inverted: [a.is_negated, b.is_negated, false],
            ones,
            writes: d.has("CC"),
            ..FlagSum::default()
        };
        let (slot, flags) = (self.destination(&d)?, self.flags());
        self.lanes(sum_with_flags(sum), slot, &[scaled, second, NONE, flags])
    }

    /// `(a << n) + b`, or the high word of the extended first source.
    fn address_sum(&mut self, of: &Instruction<'_>) -> Lowering {
        let is_high = of.has("HI");
        let (predicate, d) = (*of.operand(0)?, *of.operand(1)?);
        let (a, b) = (*of.operand(2)?, *of.operand(3)?);
        let low = self.plain_word(&a.positive())?;
        let second = self.word(&b)?;
        let count = self.word(of.operand(if is_high { 5 } else { 4 })?)?;
        let mut first = match is_high {
            false => self.temporary_of(shift(Shift::Left, T::B32), &[low, count])?,
            true => {
                let high = self.word(of.operand(4)?)?;
                self.temporary_of(funnel_shift(Shift::Left, false), &[low, high, count])?
            }
        };
        if a.is_negated {
            first = self.temporary_of(bitwise(Bitwise::Not, T::B32), &[first])?;
        }
        let sum = FlagSum {
            ones: u32::from(a.is_negated),
            takes_carry: of.has("X"),
            writes: d.has("CC"),
            ..FlagSum::default()
        };
        if let Spa5Value::Predicate(known) = predicate.value
            && known.number() < 7
        {
            // Whether the address is outside of shared memory.
            if !is_high {
                return Err(NotExecuted);
            }
            let slot = self.destination_predicate(&predicate)?;
            let high = self.word(of.operand(4)?)?;
            let address = self.temporary_of(join(32), &[low, high])?;
            self.outside_shared(address, slot)?;
        }
        let (slot, flags) = (self.destination(&d)?, self.flags());
        self.lanes(sum_with_flags(sum), slot, &[first, second, NONE, flags])
    }

    /// The types of both factors: signed or not.
    fn factor_types(of: &Instruction<'_>) -> [bool; 2] {
        // Nothing is shown if both are signed.
        match (of.modifier("type1"), of.modifier("type2")) {
            ("", "") => [true; 2],
            (first, second) => [first == "S32", second == "S32"],
        }
    }

    fn product(&mut self, of: &Instruction<'_>) -> Lowering {
        let [is_a_signed, is_b_signed] = Self::factor_types(of);
        let (d, a) = (*of.operand(0)?, *of.operand(1)?);
        let b = self.word(of.operand(2)?)?;
        let first = self.plain_word(&a.positive())?;
        let is_high = of.has("HI");
        let product = match (is_high, is_a_signed, is_b_signed) {
            (false, ..) => self.temporary_of(multiply(Product::Low, T::U32), &[first, b])?,
            (true, true, true) => {
                self.temporary_of(multiply(Product::High, T::S32), &[first, b])?
            }
            (true, false, false) => {
                self.temporary_of(multiply(Product::High, T::U32), &[first, b])?
            }
            (true, ..) => return Err(NotExecuted),
        };
        if of.name().starts_with("IMUL") {
            return self.put(copy(T::B32), &d, &[product]);
        }
        // The negated product, and the addend.
        let c = *of.operand(3)?;
        let addend = self.plain_word(&c.positive())?;
        if is_high && (a.is_negated || c.is_negated) || of.has("SAT") {
            return Err(NotExecuted);
        }
        let ones = u32::from(of.has("PO")) + u32::from(a.is_negated) + u32::from(c.is_negated);
        let sum = FlagSum {
            inverted: [a.is_negated, c.is_negated, false],
            ones,
            takes_carry: of.has("X"),
            writes: d.has("CC"),
            ..FlagSum::default()
        };
        let (slot, flags) = (self.destination(&d)?, self.flags());
        self.lanes(sum_with_flags(sum), slot, &[product, addend, NONE, flags])
    }

    fn half_product(&mut self, of: &Instruction<'_>) -> Lowering {
        let d = *of.operand(0)?;
        let (a, b, c) = (*of.operand(1)?, *of.operand(2)?, *of.operand(3)?);
        let [first, second, third] = [self.word(&a)?, self.word(&b)?, self.word(&c)?];
        let types = of.modifier("types");
        let addend = match of.modifier("addend") {
            "" => HalfAddend::Word,
            "CLO" => HalfAddend::Low,
            "CHI" => HalfAddend::High,
            "CSFU" => HalfAddend::Signs,
            "CBCC" => HalfAddend::Factor,
            _ => return Err(NotExecuted),
        };
        // Puts a low half below a high one. The high half may be of a register that nothing has written, if the program does
        // not use it.
        let is_insertion = b.value == Spa5Value::Number(1)
            && (of.has("PSL"), a.has("H1"), addend) == (true, true, HalfAddend::Low)
            && !d.has("CC")
            && types.is_empty();
        if is_insertion {
            let slot = self.destination(&d)?;
            return self.lanes(insert_low_half(), slot, &[third, first]);
        }
        let product = HalfProduct {
            signed: [types.starts_with("S16"), types.ends_with("S16")],
            high: [a.has("H1"), b.has("H1")],
            shifts: of.has("PSL"),
            addend,
            merges: of.has("MRG"),
            takes_carry: of.has("X"),
            writes: d.has("CC"),
        };
        let (slot, flags) = (self.destination(&d)?, self.flags());
        self.lanes(multiply_halves(product), slot, &[first, second, third, flags])
    }

    fn extreme(&mut self, of: &Instruction<'_>) -> Lowering {
        let d = *of.operand(0)?;
        let (a, b) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
        let is_signed = !of.has("U32");
        let choice = match of.modifier("wide") {
            "" => None,
            "XHI" => Some(WideChoice::High),
            "XLO" => Some(WideChoice::Low),
            _ => return Err(NotExecuted),
        };
        let smaller = self.predicate(of.operand(3)?)?;
        if let Some(choice) = choice {
            let (slot, flags) = (self.destination(&d)?, self.flags());
            return self.lanes(choose_wide(choice, is_signed), slot, &[a, b, smaller, flags]);
        }
        let scalar = if is_signed { T::S32 } else { T::U32 };
        let [is_min, is_max] = [smaller == self.always(), smaller == NONE];
        if is_min || is_max {
            let op = if is_min { IntegerOp::Min } else { IntegerOp::Max };
            return self.put(integer(op, scalar), &d, &[a, b]);
        }
        let min = self.temporary_of(integer(IntegerOp::Min, scalar), &[a, b])?;
        let max = self.temporary_of(integer(IntegerOp::Max, scalar), &[a, b])?;
        self.put(select(T::B32), &d, &[min, max, smaller])
    }

    /// The predicate of a comparison of words: `None` if it is always false or true.
    fn compared(&mut self, of: &Instruction<'_>, a: Slot, b: Slot) -> Lowering<Slot> {
        let test = flag_test(of.modifier("compare"))?;
        let is_unsigned = of.has("U32");
        if of.has("X") {
            let test = match (is_unsigned, test) {
                (true, FlagTest::Less) => FlagTest::Lower,
                (true, FlagTest::LessOrEqual) => FlagTest::LowerOrSame,
                (true, FlagTest::Greater) => FlagTest::Higher,
                (true, FlagTest::GreaterOrEqual) => FlagTest::HigherOrSame,
                _ => test,
            };
            let flags = self.flags();
            return self.temporary_of(compare_with_flags(test), &[a, b, flags]);
        }
        let comparison = match test {
            FlagTest::False => return Ok(NONE),
            FlagTest::True => return Ok(self.always()),
            FlagTest::Less => Comparison::Less,
            FlagTest::LessOrEqual => Comparison::LessOrEqual,
            FlagTest::Greater => Comparison::Greater,
            FlagTest::GreaterOrEqual => Comparison::GreaterOrEqual,
            FlagTest::Equal => Comparison::Equal,
            FlagTest::NotEqual => Comparison::NotEqual,
            _ => return Err(NotExecuted),
        };
        let scalar = if is_unsigned { T::U32 } else { T::S32 };
        self.temporary_of(compare(comparison, scalar, false), &[a, b])
    }

    fn comparison(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "ISETP" => {
                let (a, b) = (self.word(of.operand(2)?)?, self.word(of.operand(3)?)?);
                let compared = self.compared(of, a, b)?;
                self.put_predicates(of, compared, 4)
            }
            "ISET" => {
                let (a, b) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
                let compared = self.compared(of, a, b)?;
                let other = self.predicate(of.operand(3)?)?;
                let result = self.combined(of.modifier("combine"), compared, other)?;
                self.put_truth(of, result)
            }
            _ => {
                let (a, b) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
                let c = self.word(of.operand(3)?)?;
                let compared = self.compared(of, c, NONE)?;
                self.put(select(T::B32), of.operand(0)?, &[a, b, compared])
            }
        }
    }

    /// A predicate joined with another one.
    pub(super) fn combined(&mut self, name: &str, a: Slot, b: Slot) -> Lowering<Slot> {
        let of = match name {
            "AND" if b == self.always() => return Ok(a),
            "AND" => Bitwise::And,
            "OR" => Bitwise::Or,
            "XOR" => Bitwise::Xor,
            _ => return Err(NotExecuted),
        };
        self.temporary_of(bitwise(of, T::Pred), &[a, b])
    }

    /// Writes the two predicates of a comparison: of the result, and of its complement, each joined with the last
    /// operand.
    pub(super) fn put_predicates(
        &mut self,
        of: &Instruction<'_>,
        result: Slot,
        last: usize,
    ) -> Lowering {
        let other = self.predicate(of.operand(last)?)?;
        let name = of.modifier("combine");
        let [first, second] =
            [0, 1].map(|at| of.operand(at).and_then(|of| self.destination_predicate(of)));
        let (first, second, sink) = (first?, second?, self.sink());
        let mut joined = None;
        if second != sink {
            let complement = self.temporary_of(bitwise(Bitwise::Not, T::Pred), &[result])?;
            joined = Some(self.combined(name, complement, other)?);
        }
        let result = self.combined(name, result, other)?;
        // The last operation may write it itself.
        let is_temporary = (self.temporaries()..sink).contains(&result);
        if let Some(op) = self.ops.last_mut().filter(|op| op.d == result)
            && joined.is_none()
            && is_temporary
        {
            op.d = first;
            return Ok(());
        }
        if let Some(joined) = joined {
            self.lanes(copy(T::Pred), second, &[joined])?;
        }
        self.lanes(copy(T::Pred), first, &[result])
    }

    /// Writes all ones or 1.0 where a predicate is true, 0 elsewhere.
    pub(super) fn put_truth(&mut self, of: &Instruction<'_>, result: Slot) -> Lowering {
        let truth = if of.has("BF") { 1.0_f32.to_bits() } else { u32::MAX };
        let truth = self.number(truth);
        self.put(select(T::B32), of.operand(0)?, &[truth, NONE, result])
    }

    fn dot(&mut self, of: &Instruction<'_>) -> Lowering {
        let mode = of.modifier("mode");
        let (a, b) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
        let c = self.word(of.operand(3)?)?;
        let are_signed = [mode.contains(".S"), of.modifier("type2") == "S8"];
        let (count, first) = match mode {
            _ if mode.starts_with("4A") => (4, 0),
            _ if mode.starts_with("2A.LO") => (2, 0),
            _ => (2, 2),
        };
        self.put(dot_product(are_signed, count, first), of.operand(0)?, &[a, b, c])
    }

    /// Position and length of a field: bytes 0 and 1 of a word.
    fn place(&mut self, b: Slot) -> Lowering<(Slot, Slot)> {
        let position = self.temporary_of(extract_bits(T::B32, 0, 8), &[b])?;
        Ok((position, self.temporary_of(extract_bits(T::B32, 8, 8), &[b])?))
    }

    fn field(&mut self, of: &Instruction<'_>) -> Lowering {
        let mut a = self.word(of.operand(1)?)?;
        if of.has("BREV") {
            a = self.temporary_of(integer(IntegerOp::ReverseBits, T::B32), &[a])?;
        }
        let b = self.word(of.operand(2)?)?;
        let (position, length) = self.place(b)?;
        let scalar = if of.has("U32") { T::U32 } else { T::S32 };
        self.put(extract_field(scalar), of.operand(0)?, &[a, position, length])
    }

    fn shift(&mut self, of: &Instruction<'_>) -> Lowering {
        if of.has("X") || of.has("XHI") {
            return Err(NotExecuted);
        }
        let mut a = self.word(of.operand(1)?)?;
        let mut count = self.word(of.operand(2)?)?;
        if of.has("BREV") {
            a = self.temporary_of(integer(IntegerOp::ReverseBits, T::B32), &[a])?;
        }
        if of.has("W") {
            let mask = self.number(31);
            count = self.temporary_of(bitwise(Bitwise::And, T::B32), &[count, mask])?;
        }
        let operation = match of.name() {
            "SHL" => shift(Shift::Left, T::B32),
            _ if of.has("U32") => shift(Shift::Right, T::U32),
            _ => shift(Shift::Right, T::S32),
        };
        self.put(operation, of.operand(0)?, &[a, count])
    }

    /// A word of a shifted pair: the low word is the first source, the high one the third.
    fn funnel(&mut self, of: &Instruction<'_>) -> Lowering {
        let (low, count) = (self.word(of.operand(1)?)?, self.word(of.operand(2)?)?);
        let high = self.word(of.operand(3)?)?;
        let (is_left, wraps) = (of.has("L"), of.has("W"));
        if of.has("X") || of.has("XHI") || of.has("HI") && is_left {
            return Err(NotExecuted);
        }
        let direction = if is_left { Shift::Left } else { Shift::Right };
        let d = *of.operand(0)?;
        let scalar = match of.modifier("type") {
            "" => return self.put(funnel_shift(direction, wraps), &d, &[low, high, count]),
            "U64" => T::U64,
            "S64" => T::S64,
            _ => return Err(NotExecuted),
        };
        // Counts up to 63, and clamped above.
        let count = match wraps {
            true => {
                let mask = self.number(63);
                self.temporary_of(bitwise(Bitwise::And, T::B32), &[count, mask])?
            }
            false => count,
        };
        let pair = self.temporary_of(join(32), &[low, high])?;
        let scalar = if is_left { T::U64 } else { scalar };
        let shifted = self.temporary_of(shift(direction, scalar), &[pair, count])?;
        self.put(extract_bits(T::B64, if is_left { 32 } else { 0 }, 32), &d, &[shifted])
    }

    fn logic(&mut self, of: &Instruction<'_>) -> Lowering {
        // `LOP32I`, and `LOP3` with a constant or a number, write no predicate.
        let writes = matches!(of.operand(0)?.value, Spa5Value::Predicate(_));
        let first = usize::from(writes);
        let d = *of.operand(first)?;
        // With the carry, a result is zero only if the one before was.
        let is_wide = of.has("X");
        if is_wide && d.has("CC") {
            return Err(NotExecuted);
        }
        let a = self.word(of.operand(first + 1)?)?;
        let b = self.word(of.operand(first + 2)?)?;
        let mut sources = vec![a, b];
        let operation: Option<LaneOperation> = match of.name() {
            "LOP3" => {
                sources.push(self.word(of.operand(first + 3)?)?);
                let Spa5Value::Number(table) = of.operand(first + 4)?.value else {
                    return Err(NotExecuted);
                };
                bitwise_by_table(table as u32)
            }
            _ => match of.modifier("op") {
                "AND" => bitwise(Bitwise::And, T::B32),
                "OR" => bitwise(Bitwise::Or, T::B32),
                "XOR" => bitwise(Bitwise::Xor, T::B32),
                _ => {
                    sources = vec![b];
                    copy(T::B32)
                }
            },
        };
        let predicate =
            if writes { self.destination_predicate(of.operand(0)?)? } else { self.sink() };
        if predicate == self.sink() {
            return self.put(operation, &d, &sources);
        }
        let result = self.temporary_of(operation, &sources)?;
        self.put(copy(T::B32), &d, &[result])?;
        let (test, flag, join) = match of.modifier("test") {
            "Z" => (Comparison::Equal, FlagTest::Equal, Bitwise::And),
            "NZ" => (Comparison::NotEqual, FlagTest::NotEqual, Bitwise::Or),
            test => {
                let always = if test == "T" { self.always() } else { NONE };
                return self.lanes(copy(T::Pred), predicate, &[always]);
            }
        };
        let compared = compare(test, T::U32, false);
        if !is_wide {
            return self.lanes(compared, predicate, &[result, NONE]);
        }
        let compared = self.temporary_of(compared, &[result, NONE])?;
        let flags = self.flags();
        let before = self.temporary_of(test_flags(flag), &[flags])?;
        self.lanes(bitwise(join, T::Pred), predicate, &[compared, before])
    }
}
