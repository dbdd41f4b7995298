//! Simple mutants of an input: changed bits, bytes and numbers, and parts cut off, repeated, inserted or taken from
//! another input. The same numbers produce the same mutants.

use std::ops::Range;

use fastrand::Rng;

use crate::seeds::Seed;

/// The limit on a mutant's length, unless its seed is longer.
const MAX_BYTES: usize = 1 << 17;

/// Text that is often mishandled, separated by spaces: values of JSON, some of them invalid, and characters that a
/// terminal interprets or that change the direction of text.
const TOKENS: &str =
    "null -1 1e999 \"\" \"\\ud800\" [[ {\"\":0} .. NaN \r\n \0 \x1b[31m\u{9b}31m\u{202e}\u{2028}";

/// Returns a mutant of `seed` with one to four changes. A change can insert a part of another seed.
pub(crate) fn mutant(seed: &Seed, seeds: &[Seed], random: &mut Rng) -> Vec<u8> {
    let mut bytes = seed.bytes.clone();
    for _ in 0..random.usize(1..=4) {
        let other = random.choice(seeds).map_or(&[][..], |seed| &seed.bytes);
        let (place, new) = change(&bytes, other, random);
        drop(bytes.splice(place, new));
    }
    bytes.truncate(MAX_BYTES.max(seed.bytes.len()));
    bytes
}

/// A place in `bytes` and its replacement.
fn change(bytes: &[u8], other: &[u8], random: &mut Rng) -> (Range<usize>, Vec<u8>) {
    let (at, end) = (random.usize(..=bytes.len()), bytes.len());
    let next = end.min(at + 1);
    match random.u8(..11) {
        0 => (at..next, bytes[at..next].iter().map(|byte| byte ^ 1 << random.u8(..8)).collect()),
        1 => (at..next, vec![random.u8(..)]),
        2 => (at..end, Vec::new()),
        3 => (part(bytes, 1 << 12, random), Vec::new()),
        4 => (at..at, bytes[part(bytes, 1 << 12, random)].to_vec()),
        5 => {
            let part = &bytes[part(bytes, 64, random)];
            let times = (MAX_BYTES / 8 / part.len().max(1)).min(1 << random.u8(..12));
            (at..at, part.repeat(times))
        }
        6 => (at..at, other[part(other, 1 << 12, random)].to_vec()),
        7 => (at..end, other[random.usize(..=other.len())..].to_vec()),
        8 => {
            let width = 1 << random.u8(..4);
            (at..end.min(at + width), boundary(random).to_le_bytes()[..width].to_vec())
        }
        9 => {
            let digits = |byte: &u8| byte.is_ascii_digit();
            let start = bytes[at..].iter().position(digits).map_or(end, |start| at + start);
            let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            (start..start + length, written(boundary(random), random).into_bytes())
        }
        _ => {
            let tokens: Vec<&str> = TOKENS.split(' ').collect();
            (at..at, random.choice(tokens).unwrap_or_default().into())
        }
    }
}

/// A random part of at most `most` bytes.
fn part(bytes: &[u8], most: usize, random: &mut Rng) -> Range<usize> {
    let start = random.usize(..=bytes.len());
    start..start + random.usize(..=most.min(bytes.len() - start))
}

/// A number at or next to a limit of an integer type.
fn boundary(random: &mut Rng) -> u64 {
    let powers = [0, 3, 4, 5, 7, 8, 12, 15, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64];
    let power = 1u64.checked_shl(random.choice(powers).unwrap_or_default()).unwrap_or_default();
    power.wrapping_add(random.u64(..3)).wrapping_sub(1)
}

/// The number in one of several notations.
fn written(number: u64, random: &mut Rng) -> String {
    match random.u8(..6) {
        0 => format!("0x{number:x}"),
        1 => format!("{number:x}"),
        2 => format!("-{number}"),
        3 => format!("{number}e9"),
        4 => format!("{number}0000000000000000000"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_are_short_and_always_the_same() {
        let seed = |bytes: &[u8]| Seed { name: String::new(), bytes: bytes.to_vec() };
        let seeds = [seed(b"LD.E R0, [R2+0x1234];"), seed(b""), seed(&[0xff; 300])];
        let made = || -> Vec<Vec<u8>> {
            let mut random = Rng::with_seed(1);
            (0..9999).map(|number| mutant(&seeds[number % 3], &seeds, &mut random)).collect()
        };
        let mutants = made();
        assert_eq!(mutants, made());
        assert!(mutants.iter().all(|mutant| mutant.len() <= MAX_BYTES));
        let distinct: std::collections::BTreeSet<_> = mutants.iter().collect();
        assert!(distinct.len() > 7000, "{}", distinct.len());
    }
}
