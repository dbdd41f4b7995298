//! [`later_syntax`]: whether a line is in the syntax of SM 7.0 and later.

use super::lexer::{Lexer, TokenKind};
use super::span::LineSpan;
use crate::impossible::OrImpossible;

/// Loads that SM 5.x and 6.x do not have.
const MNEMONICS: [&str; 8] =
    ["ULDC", "LDCU", "LDSM", "LDGSTS", "LDTM", "LDTRAM", "LDGMC", "LDGDEPBAR"];

/// Modifiers that no load of SM 5.x and 6.x has.
const MODIFIERS: [&str; 20] = [
    "SYS", "GPU", "CTA", "SM", "VC", "CONSTANT", "STRONG", "WEAK", "MMIO", "PRIVATE", "EF", "EL",
    "EU", "NA", "ZD", "LTC64B", "LTC128B", "LTC256B", "ENL2", "256",
];

/// What can precede an address: a descriptor, a bank selected by a register, Tensor Memory.
const PREFIXES: [&str; 3] = ["desc", "cx", "tmem"];

/// Returns the first token of `text` that only the syntax of SM 7.0 and later has: the `64` of
/// `[R2.64]`, `SYS`, `desc`, `UP0`. `None` does not imply that the text is for SM 5.x or 6.x: most
/// loads look the same.
///
/// ```
/// use warpload_encoding::later_syntax;
///
/// assert!(later_syntax("LDG.E R0, [R2.64]").is_some());
/// assert_eq!(later_syntax("LDG.E R0, [R2]"), None);
/// ```
#[must_use]
pub fn later_syntax(text: &str) -> Option<LineSpan> {
    let lexer = Lexer::new(text);
    let mut at = 0;
    let (mut in_brackets, mut after_dot) = (false, false);
    loop {
        let found = lexer.token(at);
        at = found.span.end;
        let TokenKind::Word = found.kind else {
            match found.kind {
                TokenKind::Punctuation(b'[') => in_brackets = true,
                TokenKind::Punctuation(b']') => in_brackets = false,
                TokenKind::End | TokenKind::Unexpected | TokenKind::UnclosedComment => return None,
                _ => {}
            }
            after_dot = found.kind == TokenKind::Punctuation(b'.');
            continue;
        };
        let word = text.get(found.span.range()).or_impossible("", "tokens are within their text");
        let is_one_of = |known: &[&str]| known.iter().any(|name| name.eq_ignore_ascii_case(word));
        let is_later = match (after_dot, in_brackets) {
            // An address register with a modifier.
            (true, true) => true,
            (true, false) => is_one_of(&MODIFIERS),
            (false, _) => {
                is_uniform(word)
                    || is_one_of(&MNEMONICS)
                    || is_one_of(&PREFIXES) && text.as_bytes().get(at) == Some(&b'[')
            }
        };
        if is_later {
            return Some(found.span);
        }
        after_dot = false;
    }
}

/// Returns whether `word` is a uniform register or predicate: `UR4`, `URZ`, `UP0`, `UPT`.
fn is_uniform(word: &str) -> bool {
    let Some((b'U' | b'u', rest)) = word.as_bytes().split_first() else { return false };
    let Some((kind, number)) = rest.split_first() else { return false };
    let last = match kind.to_ascii_uppercase() {
        b'R' => b'Z',
        b'P' => b'T',
        _ => return false,
    };
    let is_last = matches!(number, [only] if only.eq_ignore_ascii_case(&last));
    is_last || !number.is_empty() && number.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_later_token_is_found() {
        for (text, expected) in [
            ("LDG.E.SYS R0, [R2]", Some("SYS")),
            ("@!P0 LDG.E.64.CONSTANT.SYS R0, [R2]", Some("CONSTANT")),
            ("LD.E.STRONG.GPU R0, [R2.64]", Some("STRONG")),
            ("LDG.E R0, [R2.64+0x10]", Some("64")),
            ("LDG.E R0, [R2.64+UR4]", Some("64")),
            ("LDG.E R0, desc[UR4][R2.64]", Some("desc")),
            ("LDS R0, [R2.X4+0x10]", Some("X4")),
            ("LDS R0, [UR4]", Some("UR4")),
            ("LDC R0, c[0x0][URZ]", Some("URZ")),
            ("LDC R0, cx[UR4][0x0]", Some("cx")),
            ("@UP0 LDC R0, c[0x0][0x28]", Some("UP0")),
            ("ULDC.64 UR4, c[0x0][0x118]", Some("ULDC")),
            ("LDSM.16.M88.4 R4, [R8]", Some("LDSM")),
            ("ldg.e.sys r0, [r2.64]", Some("sys")),
            // Wrong in their own ways.
            ("LD.E.64.128 R0, [R2]", None),
            ("LD R0, [R2 + x.y", Some("y")),
            ("LD SYS, [R2]", None),
            ("LD desc, [R2]", None),
            ("LD UR, [UX]", None),
            ("LD R0, \"UR4\"", None),
            ("LD R0, [R2 // UR4", None),
            ("", None),
        ] {
            let found = later_syntax(text).map(|span| &text[span.range()]);
            assert_eq!(found, expected, "{text}");
        }
    }
}
