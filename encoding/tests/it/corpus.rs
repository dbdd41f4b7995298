//! Checks every line of the corpora made with nvdisasm in both directions.
#![allow(clippy::unwrap_used)]

use warpload_encoding::ParseErrorKind;

use crate::common::{decode, parse};

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
            let instruction = decode(word).unwrap();
            assert_eq!(instruction.text().as_str(), text, "{word:#018x}");
            assert_eq!(instruction.bits(), word.into(), "{text}");
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
            let line = match parse(text) {
                Ok(line) => line,
                Err(error) if text.contains("INVALIDSIZE") => {
                    assert!(matches!(error.kind, ParseErrorKind::InvalidModifier { .. }), "{text}");
                    assert!(text[error.span.range()].starts_with("INVALIDSIZE"), "{text}");
                    assert!(decode(word).unwrap().lane_bits().is_none(), "{text}");
                    continue;
                }
                Err(error) => panic!("{text}: {error}"),
            };
            let reserved = decode(word).unwrap().reserved_bits();
            assert_eq!(line.instruction.bits(), u128::from(word) & !reserved, "{text}");
            assert_eq!(line.control, None, "{text}");
            assert_eq!(line.alias, None, "{text}");
            count += 1;
        }
        assert_eq!(count, expected);
    }
}

#[test]
fn the_family_is_whole() {
    let counts = ["LDG", "LDL", "LDS", "LDC"].map(|name| {
        let loads = rows(FAMILY).filter_map(|(word, _)| decode(word));
        loads.filter(|load| load.mnemonic() == name).count()
    });
    assert_eq!(counts.iter().sum::<usize>(), 6600, "{counts:?}");
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}
