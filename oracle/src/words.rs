//! Fresh words of loads.

use warpload_encoding::Instruction;

/// A word of a form with random fields.
pub(crate) fn fresh(form: &Instruction, random: &mut Random) -> u128 {
    form.describe().fold(form.bits(), |word, reading| {
        let (field, opcode) = (reading.field(), reading.name() == "opcode");
        let width = field.width();
        let value = match (reading.fixed(), random.below(8)) {
            (Some(_), _) if opcode || random.below(64) > 0 => return word,
            (_, 0) => return word,
            // Most fields keep their schedule, because few schedules are valid.
            (_, 1..=5) if field.low() >= 105 && random.below(2) == 0 => return word,
            (_, 1..=4) => random.next(),
            _ => random.edge(width),
        };
        field.with(word, value)
    })
}

/// The splitmix64 generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Slightly biased if `limit` is not a power of two, which does not matter here.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit)) as u32
    }

    /// A boundary value for a field of `width` bits: of the unsigned or signed range, or one at which the number of
    /// hexadecimal digits changes.
    pub(crate) fn edge(&mut self, width: u32) -> u64 {
        let largest = u64::MAX >> (64 - width);
        let power = 1 << self.below(width);
        let value = match self.below(8) {
            0 => 0,
            1 => 1,
            2 => largest,
            3 => largest - 1,
            4 => largest / 2,
            5 => largest / 2 + 1,
            6 => power,
            _ => power - 1,
        };
        value & largest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use warpload_encoding::Sm;

    use super::*;

    #[test]
    fn words_are_of_their_form_and_of_their_seed() {
        for form in Instruction::forms(Sm::SPA5) {
            let words = |seed| -> Vec<u128> {
                let mut random = Random::new(seed);
                (0..1000).map(|_| fresh(&form, &mut random)).collect()
            };
            let seven = words(7);
            assert!(
                seven
                    .iter()
                    .all(|word| Instruction::decode(*word as u64, Sm::SPA5).load().is_some())
            );
            assert_eq!(words(7), seven);
            assert_ne!(words(8), seven);
        }
    }

    #[test]
    fn every_field_meets_its_edges() {
        let mut random = Random::new(1);
        for form in Instruction::forms(Sm::SPA5) {
            let words: Vec<u128> = (0..4000).map(|_| fresh(&form, &mut random)).collect();
            for reading in form.describe().filter(|reading| reading.fixed().is_none()) {
                let field = reading.field();
                let values: HashSet<u64> = words.iter().map(|word| field.get(*word)).collect();
                let largest = field.max();
                for edge in [0, 1, largest / 2, largest / 2 + 1, largest - 1, largest] {
                    assert!(values.contains(&edge), "{form} {}: {edge}", reading.name());
                }
            }
        }
    }
}
