//! [`Json`]: reads a line of JSON from left to right without building a tree of values.

use std::borrow::Cow;

/// The deepest accepted nesting of arrays and objects.
const MAX_DEPTH: u32 = 64;

/// An error in a line, and its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The offset in the line, from 0.
    pub(super) at: usize,
    pub(super) message: Cow<'static, str>,
}

pub(super) type Read<T> = Result<T, Wrong>;

/// The rest of a line.
#[derive(Clone, Copy)]
pub(super) struct Json<'t> {
    text: &'t [u8],
    pub(super) at: usize,
}

impl<'t> Json<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self::at(text, 0)
    }

    /// Starts at an offset of a line.
    pub(super) fn at(text: &'t str, at: usize) -> Self {
        Self { text: text.as_bytes(), at }
    }

    /// The text from here to `end`; empty if it is not UTF-8.
    pub(super) fn until(&self, end: &Self) -> &'t str {
        let text = self.text.get(self.at..end.at).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[cold]
    pub(super) fn wrong<T>(&self, message: impl Into<Cow<'static, str>>) -> Read<T> {
        Err(Wrong { at: self.at, message: message.into() })
    }

    /// Skips white space and returns the next byte without taking it.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Skips `byte` if it is next, and returns whether it was.
    #[inline]
    pub(super) fn passes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte) || self.next() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Read<()> {
        if self.passes(byte) { Ok(()) } else { self.wrong(expected) }
    }

    /// Reads an object; `member` reads the value of each key. Keys keep their escapes.
    #[inline]
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'t [u8]) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'{', "expected an object, `{`")?;
        if self.passes(b'}') {
            return Ok(());
        }
        loop {
            let key = self.string("expected a key in quotes")?;
            self.expect(b':', "expected `:`")?;
            self.next();
            member(self, key)?;
            if !self.passes(b',') {
                return self.expect(b'}', "expected `,` or `}`");
            }
        }
    }

    /// Reads an array; `element` reads each element, given its index.
    #[inline]
    pub(super) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self, usize) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'[', "expected an array, `[`")?;
        if self.passes(b']') {
            return Ok(());
        }
        for i in 0.. {
            self.next();
            element(self, i)?;
            if !self.passes(b',') {
                break;
            }
        }
        self.expect(b']', "expected `,` or `]`")
    }

    /// Reads a string and returns it with its escapes.
    #[inline]
    pub(super) fn string(&mut self, expected: &'static str) -> Read<&'t [u8]> {
        self.expect(b'"', expected)?;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(b' '..) => self.at += 1,
                Some(_) => return self.wrong("a control character in a text"),
                None => return self.wrong("expected `\"`"),
            }
        }
        let text = &self.text[start..self.at];
        self.at += 1;
        Ok(text)
    }

    /// Reads a string and resolves its escapes.
    #[inline]
    pub(super) fn text(&mut self) -> Read<Cow<'t, str>> {
        let from = *self;
        let raw = self.string("expected a text in quotes")?;
        if let Ok(text) = std::str::from_utf8(raw)
            && !raw.contains(&b'\\')
        {
            return Ok(Cow::Borrowed(text));
        }
        match serde_json::from_slice(&self.text[from.at..self.at]) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(_) => from.wrong("a text with an invalid escape"),
        }
    }

    /// Reads a whole, non-negative number of at most 64 bits.
    #[inline]
    pub(super) fn number(&mut self) -> Read<u64> {
        let start = self.at;
        match self.digits() {
            Some(number) => Ok(number),
            None => {
                self.at = start;
                self.not_a_number()
            }
        }
    }

    /// Reads an array of exactly `COUNT` numbers without white space, as tools write it. Returns whether the array had
    /// this form.
    #[inline]
    pub(super) fn numbers<const COUNT: usize>(&mut self, numbers: &mut [u64; COUNT]) -> bool {
        let mut before = b'[';
        for number in numbers {
            if self.peek() != Some(before) {
                return false;
            }
            self.at += 1;
            let Some(read) = self.digits() else { return false };
            (*number, before) = (read, b',');
        }
        let is_whole = self.peek() == Some(b']');
        self.at += usize::from(is_whole);
        is_whole
    }

    #[cold]
    fn not_a_number<T>(&self) -> Read<T> {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.wrong(match (rest.first(), rest.get(digits)) {
            (Some(b'-'), _) => "a negative number",
            (Some(b'0'..=b'9'), Some(b'.' | b'e' | b'E')) => "expected a whole number",
            (Some(b'1'..=b'9'), _) => "a number of more than 64 bits",
            _ => "expected a decimal number",
        })
    }

    /// Reads a decimal number; `None` if there is none or it is too large.
    #[inline(always)]
    fn digits(&mut self) -> Option<u64> {
        let start = self.at;
        let (count, mut number) = sixteen_digits(self.text, start);
        self.at += count;
        if count == 16 {
            while let Some(digit @ b'0'..=b'9') = self.peek() {
                number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
                self.at += 1;
            }
        }
        let has_leading_zero = count > 1 && self.text[start] == b'0';
        let goes_on = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (count > 0 && !has_leading_zero && !goes_on).then_some(number)
    }

    /// Skips any value.
    pub(super) fn skip(&mut self) -> Read<()> {
        self.skip_to(MAX_DEPTH)
    }

    fn skip_to(&mut self, depth: u32) -> Read<()> {
        let Some(inner) = depth.checked_sub(1) else {
            return self.wrong(format!("more than {MAX_DEPTH} nested arrays and objects"));
        };
        match self.next() {
            Some(b'{') => self.object(|json, _| json.skip_to(inner)),
            Some(b'[') => self.array(|json, _| json.skip_to(inner)),
            Some(b'"') => self.text().map(drop),
            _ => {
                let from = *self;
                if self.digits().is_some() {
                    return Ok(());
                }
                *self = from;
                self.skip_word()
            }
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    fn skip_word(&mut self) -> Read<()> {
        let rest = &self.text[self.at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let word = &rest[..rest.iter().take_while(|byte| is_word(byte)).count()];
        if !matches!(word, b"true" | b"false" | b"null")
            && serde_json::from_slice::<f64>(word).is_err()
        {
            return self.wrong("expected a value of JSON");
        }
        self.at += word.len();
        Ok(())
    }

    /// Checks that the line ends here.
    #[inline]
    pub(super) fn end(&mut self) -> Read<()> {
        if self.next().is_none() { Ok(()) } else { self.wrong("text after the object") }
    }
}

/// Counts the decimal digits at `at`, up to sixteen, and returns their value.
#[inline(always)]
fn sixteen_digits(text: &[u8], at: usize) -> (usize, u64) {
    let rest = text.get(at..).unwrap_or_default();
    let Some(sixteen) = rest.first_chunk() else {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
        return digits.fold((0, 0), |(count, number), digit| {
            (count + 1, number * 10 + u64::from(digit - b'0'))
        });
    };
    const fn repeated(byte: u8) -> u128 {
        u128::from_le_bytes([byte; 16])
    }
    let digits = u128::from_le_bytes(*sixteen) ^ repeated(b'0');
    // The high bit of each byte that is not a digit. Bytes after the first such byte may be wrong.
    let others = (digits.wrapping_add(repeated(0x76)) | digits) & repeated(0x80);
    let count = others.trailing_zeros() as usize / 8;
    // Shifts the digits to the end, after zeros. Without digits the value is not used.
    let digits = digits << ((128 - 8 * count) % 128);
    let number = joined(digits as u64) * 100_000_000 + joined((digits >> 64) as u64);
    (count, number)
}

/// The value of eight digits, the first in the lowest byte. Joins pairs, then fours, then all.
#[inline(always)]
fn joined(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<(u64, usize), String> {
        let mut json = Json::new(text);
        let number = json.number().map_err(|wrong| wrong.message.into_owned())?;
        Ok((number, json.at))
    }

    #[test]
    fn numbers_of_every_length() {
        let digits = "18446744073709551615";
        for length in 1..=digits.len() {
            let text = &digits[..length];
            for after in ["", ",", "]         ", ",12345678"] {
                let expected = (text.parse().expect("a number"), length);
                assert_eq!(number(&format!("{text}{after}")), Ok(expected));
            }
        }
        assert_eq!(number("0,"), Ok((0, 1)));
        for (text, message) in [
            ("18446744073709551616", "a number of more than 64 bits"),
            ("99999999999999999999999", "a number of more than 64 bits"),
            ("-1", "a negative number"),
            ("1.5", "expected a whole number"),
            ("12345678e3", "expected a whole number"),
            ("", "expected a decimal number"),
            ("00", "expected a decimal number"),
            ("/123456789", "expected a decimal number"),
            (":", "expected a decimal number"),
            ("\u{ff}\u{ff}\u{ff}\u{ff}", "expected a decimal number"),
        ] {
            assert_eq!(number(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn numbers_in_their_usual_form() {
        for (text, expected) in [
            ("[1,0,18446744073709551615]", Some([1, 0, u64::MAX])),
            ("[1,2,3] ", Some([1, 2, 3])),
            ("[1,2,3,4]", None),
            ("[1,2]", None),
            ("[1, 2,3]", None),
            ("[1,-2,3]", None),
            ("1,2,3]", None),
            ("[1,2,3", None),
        ] {
            let (mut json, mut numbers) = (Json::new(text), [0; 3]);
            let read = json.numbers(&mut numbers).then_some(numbers);
            assert_eq!(read, expected, "{text}");
            assert!(read.is_none() || json.at == text.trim_end().len());
        }
    }

    /// Skipped values are exactly the values that serde accepts.
    #[test]
    fn values_are_valid_as_a_whole() {
        let deep = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        for text in [
            "{}",
            "[ ]",
            "null",
            "-1.5e-3",
            r#""a\"b\u00e9\\""#,
            r#"{"a":[1,{"b":"c"}], "d" : true}"#,
            "01",
            "nul",
            "1,",
            "[1,]",
            "{\"a\"}",
            "{1:2}",
            "\"a",
            "\"\\q\"",
            "\"a\u{1}\"",
            "\"\\",
            "[1 2]",
            "{\"a\":1,}",
            "tru\u{e9}",
            "",
            &deep(MAX_DEPTH as usize - 1),
        ] {
            let mut json = Json::new(text);
            let read = json.skip().and_then(|()| json.end());
            let is_valid = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(read.is_ok(), is_valid, "{text:?}: {read:?}");
        }
        assert!(Json::new(&deep(MAX_DEPTH as usize)).skip().is_err());
    }

    #[test]
    fn texts_are_unescaped() {
        let text = |text| Json::new(text).text().map(Cow::into_owned);
        assert_eq!(text(r#""a\"\u0041""#), Ok("a\"A".to_owned()));
        assert_eq!(text("\"\u{e9}\""), Ok("\u{e9}".to_owned()));
    }
}
