//! Which instructions are compared, and fresh words of them.

use warpload_encoding::{LayoutRow, Ld, Ldc, Ldg, Ldl, Lds, WordLayout};

/// The instructions that are compared. To add one, add a row.
pub const TARGETS: &[Target] = &[
    Target::of::<Ld>(),
    Target::of::<Ldg>(),
    Target::of::<Ldl>(),
    Target::of::<Lds>(),
    Target::of::<Ldc>(),
];

/// An instruction that is compared.
#[derive(Clone, Copy)]
pub struct Target {
    /// The mnemonic.
    pub name: &'static str,
    rows: &'static [LayoutRow],
}

impl Target {
    const fn of<L: WordLayout<Word = u64>>() -> Self {
        Self { name: L::NAME, rows: L::ROWS }
    }

    /// Returns a random word; with `edges`, about half of the fields have an edge value.
    fn word(&self, random: &mut Random, edges: bool) -> u64 {
        let word = random.next();
        self.rows.iter().fold(word, |word, row| {
            let value = match row.fixed {
                Some(opcode) => opcode,
                None if edges && random.below(2) == 0 => random.edge(row.field.width()),
                None => return word,
            };
            word & !row.field.mask() | value << row.field.low()
        })
    }
}

/// Returns endless words of the [`TARGETS`], in turn; the same seed produces the same words. Every
/// other word of a target has many fields at an edge of their range.
pub(crate) fn words(seed: u64) -> impl Iterator<Item = (&'static Target, u64)> {
    let mut random = Random(seed);
    (0..).zip(TARGETS.iter().cycle()).map(move |(given, target): (usize, _)| {
        let edges = given / TARGETS.len() % 2 == 1;
        (target, target.word(&mut random, edges))
    })
}

/// splitmix64.
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

    /// Returns a value at an edge of a field of that many bits: of its unsigned range, of its signed
    /// range, or one at which the number of hexadecimal digits changes.
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

    use warpload_encoding::Instruction;

    use super::*;

    #[test]
    fn words_are_of_their_target_and_of_their_seed() {
        let seven: Vec<u64> = words(7).take(1000).map(|(_, word)| word).collect();
        assert!(seven.iter().all(|word| Instruction::decode(*word).is_some()));
        assert!(words(7).map(|(_, word)| word).take(1000).eq(seven.iter().copied()));
        assert_ne!(words(8).next().map(|(_, word)| word), seven.first().copied());
    }

    #[test]
    fn every_field_meets_its_edges() {
        for target in TARGETS {
            let words: Vec<u64> = words(1)
                .filter(|(of, _)| of.name == target.name)
                .map(|(_, word)| word)
                .take(4000)
                .collect();
            for row in target.rows.iter().filter(|row| row.fixed.is_none()) {
                let values: HashSet<u64> = words.iter().map(|w| row.field.get(*w)).collect();
                let largest = row.field.get(u64::MAX);
                for edge in [0, 1, largest / 2, largest / 2 + 1, largest - 1, largest] {
                    assert!(values.contains(&edge), "{} {}: {edge}", target.name, row.name);
                }
            }
        }
    }
}
