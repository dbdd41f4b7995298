//! Skipping words that no reader needs, without reading them one by one.

use super::{BLANK, CLASSES, DIGIT, Lexer, NAME, PLAIN, is};
use crate::syntax::Span;

impl Lexer<'_> {
    /// Passes over the rest of an instruction, which begins here with a dot, and over its semicolon;
    /// returns its place. Stays where it is if a word has to be looked at.
    pub(crate) fn pass_plain(&mut self) -> Option<Span> {
        let start = self.position;
        if self.bytes.get(start) != Some(&b'.') {
            return None;
        }
        let mut at = start;
        while let Some(chunk) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let mut common = PLAIN;
            for byte in chunk {
                common &= CLASSES[usize::from(*byte)];
            }
            if common == 0 {
                break;
            }
            at += 8;
        }
        at = self.after(at, PLAIN);
        if self.bytes.get(at) != Some(&b';') {
            return None;
        }
        // The dot ends this at the latest.
        let mut end = at;
        while is(self.bytes.get(end - 1), BLANK) {
            end -= 1;
        }
        self.position = at + 1;
        Some(Span { start: start as u32, end: end as u32 })
    }

    /// Passes over decimal numbers, unless the last one goes on as another kind of number.
    pub(crate) fn pass_decimals(&mut self) {
        let at = self.after(self.position, BLANK | DIGIT);
        let goes_on = is(self.bytes.get(at), NAME) || self.bytes.get(at) == Some(&b'.');
        let before = at.checked_sub(1).and_then(|before| self.bytes.get(before));
        if !goes_on || is(before, BLANK) {
            self.position = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Token, TokenKind};
    use super::*;

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            ".u32",
            "%r1",
            ", ",
            "[a+4]",
            " ",
            "\t\n",
            ";",
            "{",
            "}",
            "-",
            "// c\n",
            "/* ; */",
            "\"",
            "#",
            "# 1 \"a\"\n",
            "`",
            "\u{e9}",
            "12",
            "7 8",
            "1.5",
            "0x1F",
            ".5",
            "1.",
            "2e5",
            ":",
            "!",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_is_passed_over_is_what_words_say(rest in pieces()) {
            let source = format!(".x{rest}");
            let mut lexer = Lexer::new(&source);
            let passed = lexer.pass_plain();
            let words: Vec<Token> = Lexer::new(&source)
                .take_while(|word| word.kind != TokenKind::Punctuation(b';'))
                .collect();
            match passed {
                None => prop_assert_eq!(lexer.position(), 0),
                Some(span) => {
                    prop_assert_eq!(words.last().map(|last| last.span.end), Some(span.end));
                    let is_noted = |word: &Token| {
                        use TokenKind::{Bad, Punctuation, Quoted};
                        matches!(word.kind, Bad(_) | Quoted | Punctuation(b'{' | b'}' | b'-'))
                    };
                    prop_assert!(!words.iter().any(is_noted));
                    prop_assert_eq!(source.as_bytes().get(lexer.position() as usize - 1), Some(&b';'));
                }
            }
        }

        #[test]
        fn only_numbers_are_passed_over(rest in pieces()) {
            let source = format!("1 {rest}");
            let mut lexer = Lexer::new(&source);
            lexer.token();
            lexer.pass_decimals();
            let left: Vec<Token> = lexer.clone().collect();
            let all: Vec<Token> = Lexer::new(&source).collect();
            let passed = all.len() - left.len();
            prop_assert_eq!(&all[passed..], &left[..]);
            prop_assert!(all[..passed].iter().all(|word| word.kind == TokenKind::Number));
        }
    }
}
