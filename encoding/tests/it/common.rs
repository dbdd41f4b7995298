//! Random words from a fixed seed, and short names for 64-bit words.

use std::io::Read;

use warpload_encoding::{Instruction, ParseError, ParsedLine, Sm};

/// SplitMix64: the same words in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Decodes a 64-bit word.
pub(crate) fn decode(word: u64) -> Option<Instruction> {
    Instruction::decode(word, Sm::SPA5).load()
}

/// Parses a line of SM 5.0.
pub(crate) fn parse(text: &str) -> Result<ParsedLine, ParseError> {
    warpload_encoding::parse_line(text, Sm::SPA5)
}

pub(crate) fn word(load: Instruction) -> u64 {
    load.word().narrow().expect("a word of 64 bits")
}

/// SM, word and text of each row of `nvdisasm-sm70.tsv.xz`.
pub(crate) fn rows_of_128_bits() -> Vec<(Sm, u128, String)> {
    let compressed = std::fs::read("../tests/data/nvdisasm-sm70.tsv.xz").unwrap();
    let mut text = String::new();
    liblzma::read::XzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
    let row = |line: &str| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap();
        let sm = next().strip_prefix("SM").unwrap().parse().unwrap();
        let word = u128::from_str_radix(next().strip_prefix("0x").unwrap(), 16).unwrap();
        (sm, word, next().to_owned())
    };
    text.lines().map(row).collect()
}
