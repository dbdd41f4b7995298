//! Text that the parser accepts beyond the canonical text (docs/ld.md section 2), one case per line.
#![allow(clippy::unwrap_used)]

use warpload_encoding::control::Notation;

use crate::common::{parse, word};

#[test]
fn accepted() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in include_str!("../data/accepted.txt").lines() {
        if case.is_empty() || case.starts_with('#') {
            continue;
        }
        count += 1;
        let (text, expected) = case.rsplit_once(" => ").unwrap();
        let (bits, rest) = expected.split_once(" | ").unwrap_or((expected, ""));
        let expected = u64::from_str_radix(bits.strip_prefix("0x").unwrap(), 16).unwrap();
        let line = match parse(text) {
            Ok(line) => line,
            Err(error) => {
                failures.push(format!("{text}\n  {error} at {:?}", error.span));
                continue;
            }
        };
        if word(line.instruction) != expected {
            failures.push(format!("{text}\n  gives {:#018x}", word(line.instruction)));
        }
        let control = line.control.map(|control| control.display(Notation::Maxas).to_string());
        let alias = line.alias.map(|alias| {
            let written = &text[alias.span.range()];
            assert!(written.eq_ignore_ascii_case(alias.written), "{text}");
            format!("{} becomes {}", alias.written, alias.becomes)
        });
        if control.or(alias).unwrap_or_default() != rest {
            failures.push(format!("{text}\n  control {:?}, alias {:?}", line.control, line.alias));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 150, "only {count} cases were read");
}

/// A line break is white space, too, but one line of the corpus cannot contain it.
#[test]
fn line_breaks() {
    let expected = parse("LD R0, [R1+0x4], P2").unwrap().instruction;
    let text = "LD // a comment ends with its line\r\n R0,\n\t[R1+0x4] // and\n , P2 ;\n";
    assert_eq!(parse(text).unwrap().instruction, expected);
}
