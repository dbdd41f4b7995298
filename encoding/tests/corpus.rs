//! Every line of the corpus made with nvdisasm, in both directions.
#![allow(clippy::unwrap_used)]

use warpload_encoding::{Instruction, parse_line};

const CORPUS: &str = include_str!("data/nvdisasm-ld.tsv");

fn rows() -> impl Iterator<Item = (u64, &'static str)> {
    CORPUS.lines().skip(1).map(|line| {
        let (word, text) = line.split_once('\t').unwrap();
        (u64::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap(), text)
    })
}

#[test]
fn text_is_that_of_nvdisasm() {
    let mut count = 0;
    for (word, text) in rows() {
        let instruction = Instruction::decode(word).unwrap();
        assert_eq!(instruction.text().as_str(), text, "{word:#018x}");
        count += 1;
    }
    assert_eq!(count, 8640);
}

#[test]
fn text_of_nvdisasm_assembles_to_its_word() {
    let mut count = 0;
    for (word, text) in rows() {
        let line = parse_line(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(line.instruction.encode(), word, "{text}");
        assert_eq!(line.control, None, "{text}");
        assert_eq!(line.alias, None, "{text}");
        count += 1;
    }
    assert_eq!(count, 8640);
}
