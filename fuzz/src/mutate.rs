//! Simple mutants of an input: changed bits, bytes and numbers, and parts cut off, repeated or taken from another input.
//! The same numbers produce the same mutant.

use std::ops::Range;

pub use warpload_suite::random::Random;

use super::seeds::Seed;

/// The limit on a mutant's length, unless its seed is longer.
const MAX_BYTES: usize = 1 << 17;

/// The longest part that is moved.
const MAX_PART: usize = 1 << 12;

/// Returns a number below `bound`, or 0 if `bound` is 0.
fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// A random range of at most `most` indices below `length`.
fn range(random: &mut Random, length: usize, most: usize) -> Range<usize> {
    let start = below(random, length);
    start..start + below(random, (length - start).min(most) + 1)
}

/// Returns a mutant of `seeds[which]` with one to four changes.
pub fn mutant(seeds: &[Seed], which: usize, random: &mut Random) -> Vec<u8> {
    let Some(seed) = seeds.get(which) else { return Vec::new() };
    let mut bytes = seed.bytes.clone();
    for _ in 0..=below(random, 4) {
        if bytes.is_empty() {
            bytes.push(random.next() as u8);
        }
        let at = below(random, bytes.len());
        match below(random, 10) {
            0 => bytes[at] ^= 1 << below(random, 8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(range(random, bytes.len(), MAX_PART))),
            4 => {
                let part = bytes[range(random, bytes.len(), MAX_PART)].to_vec();
                insert(&mut bytes, at, &part);
            }
            5 => {
                let part = &bytes[range(random, bytes.len(), 64)];
                let times = (MAX_BYTES / 8 / part.len().max(1)).min(1 << below(random, 12));
                let part = part.repeat(times);
                insert(&mut bytes, at, &part);
            }
            6 => {
                let other = &seeds[below(random, seeds.len())].bytes;
                let part = &other[range(random, other.len(), MAX_PART)];
                insert(&mut bytes, at, part);
            }
            7 => {
                let other = &seeds[below(random, seeds.len())].bytes;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[below(random, other.len())..]);
            }
            8 => set_number(&mut bytes, at, random),
            _ => set_written_number(&mut bytes, at, random),
        }
    }
    bytes.truncate(MAX_BYTES.max(seed.bytes.len()));
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    drop(bytes.splice(at..at, part.iter().copied()));
}

/// A number at or next to a limit of an integer type.
fn boundary(random: &mut Random) -> u64 {
    let power = [0, 3, 4, 5, 7, 8, 12, 15, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64];
    let power = power[below(random, power.len())];
    let number = if power == 64 { 0 } else { 1u64 << power };
    number.wrapping_add(below(random, 3) as u64).wrapping_sub(1)
}

/// Writes such a number in little-endian bytes.
fn set_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let number = boundary(random).to_le_bytes();
    let width = 1 << below(random, 4);
    for (byte, new) in bytes[at..].iter_mut().zip(&number[..width]) {
        *byte = *new;
    }
}

/// Replaces the next digits by such a number, in one of several notations.
fn set_written_number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(is_digit).map(|start| at + start) else { return };
    let length = bytes[start..].iter().position(|byte| !byte.is_ascii_hexdigit());
    let end = length.map_or(bytes.len(), |length| start + length);
    let number = boundary(random);
    let written = match below(random, 6) {
        0 => format!("0x{number:x}"),
        1 => format!("{number:x}"),
        2 => format!("-{number}"),
        3 => format!("{number}e9"),
        4 => format!("{number}0000000000000000000"),
        _ => number.to_string(),
    };
    drop(bytes.splice(start..end, written.into_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> Vec<Seed> {
        let seed = |bytes: &[u8]| Seed { name: String::new(), bytes: bytes.to_vec() };
        vec![seed(b"LD.E R0, [R2+0x1234];"), seed(b""), seed(&[0xff; 300])]
    }

    #[test]
    fn the_same_number_makes_the_same_mutant() {
        let seeds = seeds();
        let made = |number| mutant(&seeds, 0, &mut Random::new(1, &[number]));
        let mutants: Vec<_> = (0..100).map(made).collect();
        assert_eq!(mutants, (0..100).map(made).collect::<Vec<_>>());
        let mut distinct = mutants.clone();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 90, "{} of 100 mutants are distinct", distinct.len());
        assert!(mutants.iter().filter(|mutant| **mutant == seeds[0].bytes).count() < 5);
    }

    #[test]
    fn mutants_are_bounded() {
        let seeds = seeds();
        for number in 0..20_000 {
            let which = number as usize % 4;
            let mutant = mutant(&seeds, which, &mut Random::new(2, &[number]));
            assert!(mutant.len() <= MAX_BYTES);
        }
    }
}
