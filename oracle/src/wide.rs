//! Compares words of 128 bits with nvdisasm: fresh ones and mutations of compiled ones, refused words included.

use std::collections::HashSet;

use anyhow::{Result, bail};
use warpload_encoding::{Instruction, Sm};

use crate::compare::{Report, compare};
use crate::nvdisasm::{Answer, Nvdisasm, without_end};
use crate::words::{Random, fresh};

/// The number of words in one run of nvdisasm.
const BATCH: usize = 16_384;

/// Compares `words` fresh words of `sm` generated from `seed`. Half of them have random fields. The other half differ
/// in a few bits from a word of `compiled`, unless it is empty.
///
/// # Errors
/// Returns an error if nvdisasm cannot be run or its output cannot be parsed. A difference is not an
/// error.
pub fn run_wide(
    nvdisasm: &Nvdisasm,
    sm: Sm,
    words: usize,
    seed: u64,
    compiled: &[u128],
) -> Result<Report> {
    let mut random = Random::new(seed);
    let forms: Vec<Instruction> = Instruction::forms(sm).collect();
    let draw = |count| {
        let word = |n| match compiled.len() {
            of @ 1.. if n % 2 == 1 => {
                neighbour(compiled[random.below(of as u32) as usize], &mut random)
            }
            _ => fresh(&forms[n / 2 % forms.len()], &mut random),
        };
        (0..count).map(word).collect()
    };
    compare(sm, words, BATCH, draw, |batch| nvdisasm.disassemble_wide(batch, sm))
}

/// Flips up to four bits, seldom in the opcode.
fn neighbour(word: u128, random: &mut Random) -> u128 {
    (0..1 + random.below(4)).fold(word, |word, _| {
        let low = if random.below(16) == 0 { 0 } else { 12 };
        word ^ 1 << (low + random.below(128 - low))
    })
}

impl Nvdisasm {
    /// Returns the program's answer for each word of `sm`.
    ///
    /// # Errors
    /// Returns an error if the program cannot be run, or fails for a reason other than the words.
    pub fn disassemble_wide(&self, words: &[u128], sm: Sm) -> Result<Vec<Answer>> {
        let mut answers = vec![Answer::Nothing; words.len()];
        let mut left: Vec<usize> = (0..words.len()).collect();
        // nvdisasm names the words that it refuses, and then prints none of the others. So these are asked for again.
        for _ in 0..4 {
            let bytes: Vec<u8> = left.iter().flat_map(|n| words[*n].to_le_bytes()).collect();
            let output = self.raw(&bytes, &[&format!("SM{sm}"), "-raw", "-ndf"])?;
            if output.status.success() {
                for (offset, text) in lines(&String::from_utf8_lossy(&output.stdout)) {
                    if let Some(n) = left.get(offset / 16) {
                        answers[*n] = Answer::Text(text);
                    }
                }
                return Ok(answers);
            }
            let errors = String::from_utf8_lossy(&output.stderr);
            let refused = refused(&errors);
            if refused.is_empty() {
                bail!("nvdisasm fails and names no address: {errors}");
            }
            for offset in &refused {
                if let Some(n) = left.get(offset / 16) {
                    answers[*n] = Answer::Illegal;
                }
            }
            left.retain(|n| answers[*n] != Answer::Illegal);
        }
        bail!("nvdisasm refuses words that it did not refuse before")
    }
}

/// The offsets in error messages.
fn refused(errors: &str) -> HashSet<usize> {
    let after = |line: &str| {
        let digits = line.rsplit_once("at address 0x")?.1;
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        usize::from_str_radix(&digits[..end], 16).ok()
    };
    errors.lines().filter_map(after).collect()
}

/// The offset and text of each line, without scheduling.
fn lines(listing: &str) -> impl Iterator<Item = (usize, String)> {
    listing.lines().filter_map(|line| {
        let (offset, text) = line.trim().strip_prefix("/*")?.split_once("*/")?;
        let text = without_end(text);
        let tails = [" &req=", " &rd=", " &wr=", " ?"];
        let end = tails.iter().filter_map(|tail| text.find(tail)).min().unwrap_or(text.len());
        Some((usize::from_str_radix(offset, 16).ok()?, text[..end].trim_end().to_owned()))
    })
}
