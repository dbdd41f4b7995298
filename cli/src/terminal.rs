//! [`Shown`]: the last stage of all output to a terminal, which escapes characters that would do something other than
//! appear.
//!
//! Text of inputs reaches the output in many places: names, listings, symbols, quotes in messages. Most of them escape
//! it where they shorten it or keep it on its line, but a terminal must not depend on each of them, so the streams
//! themselves escape all other such characters.

use std::io::{self, Write};

use super::name::{escape, is_invisible};

/// The escape syntax of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// Lines for people: `\u{1b}`.
    Text,
    /// JSON, which can have such characters only in strings: `\u001b`.
    Json,
    /// No escapes, for bytes that the command itself makes: colours, and binary formats.
    None,
}

/// A stream that escapes its input.
pub(crate) struct Shown<W> {
    to: W,
    escapes: Escapes,
    /// The beginning of a character that was cut off at the end of the last write.
    unfinished: Vec<u8>,
}

impl<W: Write> Shown<W> {
    pub(crate) fn new(to: W, escapes: Escapes) -> Self {
        Self { to, escapes, unfinished: Vec::new() }
    }

    pub(crate) fn escapes(&self) -> Escapes {
        self.escapes
    }

    /// Sets the escapes of later writes.
    pub(crate) fn set_escapes(&mut self, escapes: Escapes) {
        self.escapes = escapes;
    }

    pub(crate) fn get_ref(&self) -> &W {
        &self.to
    }

    pub(crate) fn into_inner(self) -> W {
        self.to
    }

    fn write_escaped(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut all = std::mem::take(&mut self.unfinished);
        all.extend_from_slice(bytes);
        let mut shown = Vec::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            push_shown(chunk.valid(), self.escapes, &mut shown);
            let may_go_on = chunks.peek().is_none() && is_beginning(chunk.invalid());
            if may_go_on {
                self.unfinished = chunk.invalid().to_vec();
            } else {
                push_bytes(chunk.invalid(), &mut shown);
            }
        }
        self.to.write_all(&shown)
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.escapes == Escapes::None || self.unfinished.is_empty() && is_plain(bytes) {
            return self.to.write(bytes);
        }
        self.write_escaped(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.unfinished.is_empty() {
            let mut shown = Vec::new();
            push_bytes(&std::mem::take(&mut self.unfinished), &mut shown);
            self.to.write_all(&shown)?;
        }
        self.to.flush()
    }
}

/// Escapes text as the streams do: line breaks and tabs stay.
pub(crate) use warpload::text::visible_lines as shown;

/// Whether bytes are printable ASCII, line breaks and tabs. Nearly all output is.
fn is_plain(bytes: &[u8]) -> bool {
    let is_other = |byte: &u8| !matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // Without an early exit, so that the compiler vectorizes the loop.
    !bytes.iter().fold(false, |found, byte| found | is_other(byte))
}

fn is_escaped(character: char) -> bool {
    !matches!(character, '\n' | '\t') && is_invisible(character)
}

fn push_shown(text: &str, escapes: Escapes, to: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_escaped(*c)) {
        to.extend_from_slice(&rest.as_bytes()[..at]);
        match escapes {
            // None of these characters is beyond U+FFFF.
            Escapes::Json => to.extend(format!("\\u{:04x}", u32::from(found)).bytes()),
            Escapes::Text | Escapes::None => to.extend(escape(found).bytes()),
        }
        rest = &rest[at + found.len_utf8()..];
    }
    to.extend_from_slice(rest.as_bytes());
}

/// Escapes bytes that are not UTF-8, in hexadecimal.
fn push_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    to.extend(bytes.iter().flat_map(|byte| format!("\\x{byte:02x}").into_bytes()));
}

/// Whether bytes are an incomplete character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const EVIL: &str =
        "a\u{1b}[31m\u{7}\u{8}\r\u{7f}\u{9b}é\u{61c}\u{200e}\u{202e}\u{2028}\u{2066}\u{2069}\t日\n";

    /// Writes in parts of `part` bytes.
    fn written(bytes: &[u8], escapes: Escapes, part: usize) -> String {
        let mut to = Shown::new(Vec::new(), escapes);
        for part in bytes.chunks(part) {
            to.write_all(part).unwrap();
        }
        to.flush().unwrap();
        String::from_utf8(to.into_inner()).unwrap()
    }

    #[test]
    fn streams_escape_wherever_they_are_cut() {
        let text = "a\\u{1b}[31m\\u{7}\\u{8}\\r\\u{7f}\\u{9b}é\\u{61c}\\u{200e}\\u{202e}\\u{2028}\\u{2066}\\u{2069}\t日\n";
        for part in 1..=EVIL.len() {
            assert_eq!(written(EVIL.as_bytes(), Escapes::Text, part), text, "{part}");
            let json = written(format!("\"{EVIL}\"").as_bytes(), Escapes::Json, part);
            let read: String = serde_json::from_str(&json.replace(['\t', '\n'], "")).unwrap();
            assert_eq!(read, EVIL.replace(['\t', '\n'], ""), "{part}");
            assert_eq!(written(EVIL.as_bytes(), Escapes::None, part), EVIL);
        }
        assert_eq!(shown(EVIL), text);
        assert!(matches!(shown("plain, ä, 日本\t\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn bytes_that_are_not_text_are_shown_as_numbers() {
        for part in 1..8 {
            assert_eq!(
                written(b"a\x9bb\xe2\x80c\xff", Escapes::Text, part),
                "a\\x9bb\\xe2\\x80c\\xff"
            );
            assert_eq!(written(b"end \xe2\x80", Escapes::Text, part), "end \\xe2\\x80");
        }
    }
}
