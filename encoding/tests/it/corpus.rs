//! Checks every line of the corpora made with nvdisasm in both directions.
#![allow(clippy::unwrap_used)]

use warpload_encoding::{Instruction, ParseErrorKind, WordLayout, parse_line};

const LD: &str = include_str!("../data/nvdisasm-ld.tsv");
const FAMILY: &str = include_str!("../data/nvdisasm-load-family.tsv");

fn rows(corpus: &'static str) -> impl Iterator<Item = (u64, &'static str)> {
    corpus.lines().skip(1).map(|line| {
        let (word, text) = line.split_once('\t').unwrap();
        (u64::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap(), text)
    })
}

#[test]
fn text_is_that_of_nvdisasm() {
    for (corpus, expected) in [(LD, 8640), (FAMILY, 6600)] {
        let mut count = 0;
        for (word, text) in rows(corpus) {
            let instruction = Instruction::decode(word).unwrap();
            assert_eq!(instruction.text().as_str(), text, "{word:#018x}");
            assert_eq!(instruction.encode(), word, "{text}");
            count += 1;
        }
        assert_eq!(count, expected);
    }
}

#[test]
fn text_of_nvdisasm_assembles_to_its_word() {
    // The 801 others have an invalid size.
    for (corpus, expected) in [(LD, 8640), (FAMILY, 5799)] {
        let mut count = 0;
        for (word, text) in rows(corpus) {
            let line = match parse_line(text) {
                Ok(line) => line,
                Err(error) if text.contains("INVALIDSIZE") => {
                    assert!(matches!(error.kind, ParseErrorKind::InvalidSize { .. }), "{text}");
                    assert!(text[error.span.range()].starts_with("INVALIDSIZE"), "{text}");
                    assert!(Instruction::decode(word).unwrap().size().is_err(), "{text}");
                    continue;
                }
                Err(error) => panic!("{text}: {error}"),
            };
            let unread = Instruction::decode(word).unwrap().unread_bits();
            assert_eq!(line.instruction.encode(), word & !unread, "{text}");
            assert_eq!(line.control, None, "{text}");
            assert_eq!(line.alias, None, "{text}");
            count += 1;
        }
        assert_eq!(count, expected);
    }
}

/// How many words of each instruction the second corpus holds.
#[test]
fn the_family_is_whole() {
    fn count<L: WordLayout<Word = u64>>() -> usize {
        rows(FAMILY).filter(|(word, _)| L::matches(*word)).count()
    }
    use warpload_encoding::{Ldc, Ldg, Ldl, Lds};
    let counts = [count::<Ldg>(), count::<Ldl>(), count::<Lds>(), count::<Ldc>()];
    assert_eq!(counts.iter().sum::<usize>(), 6600, "{counts:?}");
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}
