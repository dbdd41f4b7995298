//! The lexer of PTX. It works on bytes and does not allocate.

use crate::syntax::Span;

/// One word of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind of the word.
    pub kind: TokenKind,
    /// The place of the word.
    pub span: Span,
}

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name, an opcode, or the sink `_`.
    Word,
    /// A dot and the text directly after it: a directive or a qualifier, `::` included.
    Dotted,
    /// A number in any notation, including its suffix.
    Number,
    /// A string in double quotes.
    Quoted,
    /// A single character.
    Punctuation(u8),
    /// The end of the text.
    End,
    /// Text that is invalid in any module. The lexer does not advance past it.
    Bad(LexicalError),
}

/// Text that is invalid in any module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum LexicalError {
    /// A byte that cannot begin a word.
    #[error("invalid character")]
    Stray,
    /// A string without closing quote.
    #[error("this text has no closing quote in its line")]
    Text,
    /// A comment without end.
    #[error("this comment has no `*/`")]
    Comment,
}

/// Splits a text into words.
///
/// ```
/// use warpload_ptx::syntax::{Lexer, TokenKind};
///
/// let source = "ld.L2::64B /* hint */ %r1, [a+-4];";
/// let words: Vec<&str> = Lexer::new(source).map(|token| token.span.text(source)).collect();
/// assert_eq!(words, ["ld", ".L2::64B", "%r1", ",", "[", "a", "+", "-", "4", "]", ";"]);
/// ```
#[derive(Clone, Debug)]
pub struct Lexer<'s> {
    bytes: &'s [u8],
    position: usize,
}

/// Classes of bytes, as bits in [`CLASSES`].
const BLANK: u8 = 1;
/// Can be part of a name.
const NAME: u8 = 2;
/// Can begin a name.
const LETTER: u8 = 4;
const DIGIT: u8 = 8;
const MARK: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            // Form feed and substitute are blanks and the vertical tab is not, as in ptxas.
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x1a => BLANK,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => NAME | LETTER,
            b'0'..=b'9' => NAME | DIGIT,
            b'!' | b'%' | b'&' | b'(' | b')' | b'*' | b'+' | b',' | b'.' | b':' | b'<' | b'='
            | b'>' | b'?' | b'@' | b'[' | b']' | b'^' | b'|' | b'~' | b'#' | b'-' | b'/' | b';'
            | b'{' | b'}' => MARK,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

fn is(byte: Option<&u8>, class: u8) -> bool {
    byte.is_some_and(|byte| CLASSES[usize::from(*byte)] & class != 0)
}

impl<'s> Lexer<'s> {
    /// Begins at the start of a text.
    #[must_use]
    pub fn new(source: &'s str) -> Self {
        Self { bytes: source.as_bytes(), position: 0 }
    }

    /// Reads only a part of a text. Spans still refer to the whole text.
    #[must_use]
    pub fn within(source: &'s str, part: Span) -> Self {
        let bytes = source.as_bytes();
        let end = (part.end as usize).min(bytes.len());
        // `end` is at most the length.
        Self { bytes: &bytes[..end], position: (part.start as usize).min(end) }
    }

    /// Returns the offset after the last word, where the search for the next one begins.
    #[must_use]
    pub fn position(&self) -> u32 {
        self.position as u32
    }

    /// Continues at `end`, the end of an invalid word.
    pub(crate) fn skip_to(&mut self, end: u32) {
        self.position = (end as usize).min(self.bytes.len());
    }

    /// The text from an offset on.
    fn rest(&self, from: usize) -> &'s [u8] {
        let rest = self.bytes.get(from..);
        debug_assert!(rest.is_some(), "only bytes of the text are read");
        rest.unwrap_or_default()
    }

    /// Skips the rest of the line after the last word.
    pub(crate) fn skip_line(&mut self) {
        let rest = self.rest(self.position);
        self.position += memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
    }

    /// Reads the next word; [`TokenKind::End`] at the end of the text and forever after.
    pub fn token(&mut self) -> Token {
        if let Err(token) = self.skip_blank() {
            return token;
        }
        let start = self.position;
        let Some(&first) = self.bytes.get(start) else {
            return self.ends(start, start, TokenKind::End);
        };
        let class = CLASSES[usize::from(first)];
        if class & LETTER != 0 {
            let end = self.name(start + 1);
            self.ends(start, end, TokenKind::Word)
        } else if class & DIGIT != 0 {
            let end = self.number(start);
            self.ends(start, end, TokenKind::Number)
        } else if first == b'.' && is(self.bytes.get(start + 1), NAME) {
            let end = self.dotted(start + 1);
            // `.5` and `.5e-1` are numbers. `.16x64b` is a qualifier, and so is `.5` directly after a name.
            let digits = self.after(start + 1, DIGIT);
            let before = start.checked_sub(1).and_then(|before| self.bytes.get(before));
            let is_fraction = digits > start + 1 && !is(before, NAME);
            let number = if digits == end { Some(end) } else { self.exponent(digits) };
            match number.filter(|_| is_fraction) {
                Some(end) => self.ends(start, end, TokenKind::Number),
                None => self.ends(start, end, TokenKind::Dotted),
            }
        } else if first == b'%' && is(self.bytes.get(start + 1), NAME) {
            let end = self.name(start + 2);
            self.ends(start, end, TokenKind::Word)
        } else if class & MARK != 0 {
            self.ends(start, start + 1, TokenKind::Punctuation(first))
        } else if first == b'"' {
            self.quoted(start)
        } else {
            self.bad(start, LexicalError::Stray)
        }
    }

    fn ends(&mut self, start: usize, end: usize, kind: TokenKind) -> Token {
        self.position = end;
        Token { kind, span: Span { start: start as u32, end: end as u32 } }
    }

    /// An invalid word, without advancing. The span ends at a character boundary.
    fn bad(&self, start: usize, error: LexicalError) -> Token {
        let mut end = start + 1;
        while self.bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end += 1;
        }
        let span = Span { start: start as u32, end: end as u32 };
        Token { kind: TokenKind::Bad(error), span }
    }

    fn skip_blank(&mut self) -> Result<(), Token> {
        loop {
            self.position = self.after(self.position, BLANK);
            match self.bytes.get(self.position) {
                Some(b'/') => {}
                Some(b'#') => match self.line_directive() {
                    Some(end) => {
                        self.position = end;
                        continue;
                    }
                    None => return Ok(()),
                },
                _ => return Ok(()),
            }
            match self.bytes.get(self.position + 1) {
                Some(b'/') => self.skip_line(),
                Some(b'*') => {
                    let body = self.position + 2;
                    let rest = self.rest(body);
                    let Some(length) = memchr::memmem::find(rest, b"*/") else {
                        return Err(self.bad(self.position, LexicalError::Comment));
                    };
                    self.position = body + length + 2;
                }
                _ => return Ok(()),
            }
        }
    }

    /// The end of `# 1 "a.cu" 2` or `#line 1 "a.cu"`, including its newline; `None` for any other `#`. Preprocessors
    /// leave such directives, which may follow any word.
    fn line_directive(&self) -> Option<usize> {
        let mut at = self.in_line(self.position + 1, BLANK);
        if self.bytes.get(at..at + 4) == Some(b"line") {
            at = self.in_line(at + 4, BLANK);
        }
        let number = self.after(at, DIGIT);
        let name = self.in_line(number, BLANK);
        if number == at || name == number || self.bytes.get(name) != Some(&b'"') {
            return None;
        }
        let rest = self.rest(name + 1);
        let quote = memchr::memchr2(b'"', b'\n', rest).map(|at| name + 1 + at)?;
        if self.bytes.get(quote) != Some(&b'"') {
            return None;
        }
        let end = self.in_line(quote + 1, BLANK | DIGIT);
        (self.bytes.get(end) == Some(&b'\n')).then_some(end + 1)
    }

    /// The first byte at or after `at` that ends the line or is not in the class.
    fn in_line(&self, mut at: usize, class: u8) -> usize {
        while self.bytes.get(at) != Some(&b'\n') && is(self.bytes.get(at), class) {
            at += 1;
        }
        at
    }

    /// The first byte at or after `at` that is not in the class.
    fn after(&self, mut at: usize, class: u8) -> usize {
        while is(self.bytes.get(at), class) {
            at += 1;
        }
        at
    }

    fn name(&self, at: usize) -> usize {
        self.after(at, NAME)
    }

    /// The end of a dotted word. `.shared::cta` is one word, but `::` needs a name after it.
    fn dotted(&self, start: usize) -> usize {
        let mut end = self.name(start);
        while self.bytes.get(end..end + 2) == Some(b"::") && is(self.bytes.get(end + 2), NAME) {
            end = self.name(end + 2);
        }
        end
    }

    /// The end of a number in any notation: digits, letters of a prefix or suffix, a fraction, a signed exponent.
    fn number(&self, start: usize) -> usize {
        let mut end = self.name(start);
        // `name` returns an offset after its start and inside the text, so this does not panic.
        let is_decimal = self.bytes[start..end].iter().all(u8::is_ascii_digit);
        if is_decimal && self.bytes.get(end) == Some(&b'.') {
            if is(self.bytes.get(end + 1), DIGIT) {
                end = self.name(end + 1);
            } else if let Some(exponent) = self.exponent(end + 1) {
                return exponent;
            } else if !is(self.bytes.get(end + 1), NAME) {
                // `1.` is a float as well.
                end += 1;
            }
        }
        let is_hexadecimal = matches!(self.bytes.get(start + 1), Some(b'x' | b'X'));
        let signs_exponent = matches!(self.bytes.get(end - 1), Some(b'e' | b'E'))
            && matches!(self.bytes.get(end), Some(b'+' | b'-'))
            && is(self.bytes.get(end + 1), DIGIT);
        let has_prefix = matches!(self.bytes.get(start + 1), Some(b'f' | b'F' | b'd' | b'D'));
        if signs_exponent && !is_hexadecimal && !has_prefix { self.name(end + 1) } else { end }
    }

    /// The end of the exponent at `at`, if there is one.
    fn exponent(&self, at: usize) -> Option<usize> {
        let is_signed = matches!(self.bytes.get(at + 1), Some(b'+' | b'-'));
        let digits = at + 1 + usize::from(is_signed);
        let is_exponent =
            matches!(self.bytes.get(at), Some(b'e' | b'E')) && is(self.bytes.get(digits), DIGIT);
        is_exponent.then(|| self.name(digits))
    }

    fn quoted(&mut self, start: usize) -> Token {
        let rest = self.rest(start + 1);
        let mut from = 0;
        while let Some(at) =
            rest.get(from..).and_then(|rest| memchr::memchr3(b'"', b'\\', b'\n', rest))
        {
            // `memchr3` found one of the three bytes there.
            match rest[from + at] {
                b'"' => return self.ends(start, start + from + at + 2, TokenKind::Quoted),
                b'\\' => from += at + 2,
                _ => break,
            }
        }
        self.bad(start, LexicalError::Text)
    }
}

/// Iterates up to the end of the text. An invalid word is the last item.
impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let token = self.token();
        match token.kind {
            TokenKind::End => None,
            TokenKind::Bad(_) => {
                self.position = self.bytes.len();
                Some(token)
            }
            _ => Some(token),
        }
    }
}

impl Lexer<'_> {
    /// Skips qualifiers directly after the last word, which is a name. The result is their end.
    #[inline]
    pub(crate) fn pass_qualifiers(&mut self) -> u32 {
        // Directly after a name, a dot never begins a number.
        while self.bytes.get(self.position) == Some(&b'.')
            && is(self.bytes.get(self.position + 1), NAME)
        {
            self.position = self.dotted(self.position + 1);
        }
        self.position as u32
    }

    /// Takes up to three decimal numbers, and returns how many there are. `None`, without advancing, if the last one
    /// continues as another kind of number or does not fit.
    pub(crate) fn decimals(&mut self) -> Option<([u32; 3], usize)> {
        let (mut numbers, mut count) = ([0_u32; 3], 0);
        let mut at = self.position;
        for number in &mut numbers {
            let start = self.after(at, BLANK);
            let end = self.after(start, DIGIT);
            if start == end {
                break;
            }
            for digit in self.bytes.get(start..end)? {
                *number = number.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
            }
            at = end;
            count += 1;
        }
        if is(self.bytes.get(at), NAME) || self.bytes.get(at) == Some(&b'.') {
            return None;
        }
        self.position = at;
        Some((numbers, count))
    }

    /// Skips decimal numbers, or none of them if the last one continues as another kind of number, such as `1.5`.
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

    fn words(source: &str) -> Vec<&str> {
        Lexer::new(source).map(|token| token.span.text(source)).collect()
    }

    #[test]
    fn words_are_split_as_ptxas_splits_them() {
        assert_eq!(words("%r<9>;"), ["%r", "<", "9", ">", ";"]);
        assert_eq!(words("{%reg0, %reg1. %reg2}"), ["{", "%reg0", ",", "%reg1", ".", "%reg2", "}"]);
        assert_eq!(words("ld. global"), ["ld", ".", "global"]);
        assert_eq!(words("ld.L1 ::evict_last"), ["ld", ".L1", ":", ":", "evict_last"]);
        assert_eq!(words(".shared::cta.acquire"), [".shared::cta", ".acquire"]);
        assert_eq!(
            words("1.5e-3+0x1E+4 0f3F800000-1 2e5 16.0 4U"),
            ["1.5e-3", "+", "0x1E", "+", "4", "0f3F800000", "-", "1", "2e5", "16.0", "4U"]
        );
        assert_eq!(words("// a\n/* b\n */ c // d"), ["c"]);
        let kinds = |source| Lexer::new(source).map(|token| token.kind).collect::<Vec<_>>();
        assert_eq!(kinds("[.5"), [TokenKind::Punctuation(b'['), TokenKind::Number]);
        assert_eq!(kinds(".16x64b"), [TokenKind::Dotted]);
        assert_eq!(kinds("a.5"), [TokenKind::Word, TokenKind::Dotted]);
        assert_eq!(words(r#".file 1 "a\"b""#), [".file", "1", r#""a\"b""#]);
    }

    #[test]
    fn blanks_are_those_of_ptxas() {
        assert_eq!(words("a\x0cb\x1ac\r\td"), ["a", "b", "c", "d"]);
        let last = Lexer::new("a \x0bb").last().map(|token| token.kind);
        assert_eq!(last, Some(TokenKind::Bad(LexicalError::Stray)));
    }

    #[test]
    fn line_directives_are_blanks() {
        for directive in [
            "# 1 \"x.cu\"\n",
            "#1 \"x.cu\" 2 3 \r\n",
            "#line 7 \"<built in>\"\n",
            "#  line3\t\"\"  1\n",
        ] {
            assert_eq!(words(&format!("a {directive}b")), ["a", "b"], "{directive}");
            assert_eq!(words(&format!("{directive}b")), ["b"], "{directive}");
        }
        for other in
            ["#", "# 1\n", "#line 3\n", "# 1\"x\"\n", "# 1 \"x\" y\n", "# 1 \"x\"", "# 1 \"x\n\""]
        {
            assert_eq!(words(&format!("a {other}")).get(1), Some(&"#"), "{other}");
        }
    }

    #[test]
    fn a_bad_word_is_the_last_one() {
        for (source, error, span) in [
            ("a ` b", LexicalError::Stray, 2..3),
            ("a \u{e9} b", LexicalError::Stray, 2..4),
            ("a /* b", LexicalError::Comment, 2..3),
            ("a \"b\n\"", LexicalError::Text, 2..3),
            ("a \"b\\", LexicalError::Text, 2..3),
        ] {
            let last = Lexer::new(source).last().expect("a token");
            assert_eq!((last.kind, last.span.range()), (TokenKind::Bad(error), span), "{source}");
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            ".u32",
            ".shared::cta",
            ".",
            "::",
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
        fn qualifiers_are_passed_as_words_say(rest in pieces()) {
            let source = format!("a{rest}");
            let mut words = Lexer::new(&source);
            let mut end = words.token().span.end;
            let mut lexer = words.clone();
            for word in words {
                if word.kind != TokenKind::Dotted || word.span.start != end {
                    break;
                }
                end = word.span.end;
            }
            prop_assert_eq!(lexer.pass_qualifiers(), end);
            prop_assert_eq!(lexer.position(), end);
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
