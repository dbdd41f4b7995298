//! [`OpcodePattern`]: a glob for opcodes.

use std::fmt;
use std::iter::Peekable;
use std::mem::take;
use std::str::{Chars, FromStr};

use regex::{Regex, RegexBuilder};

/// A glob that has to match a whole opcode, such as `LDG.*` or `*.{64,128}`: `?`, `*`, classes in brackets,
/// alternatives in braces, and `\` to escape the next character.
///
/// The syntax is that of the crate `globset`, which is not used because it would bring along all engines of `regex` and
/// make the Python package a tenth larger.
#[derive(Clone, Debug)]
pub struct OpcodePattern {
    text: String,
    regex: Regex,
}

/// Why a text is not an [`OpcodePattern`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing glob '{glob}': {reason}")]
pub struct OpcodePatternError {
    /// The text.
    pub glob: String,
    /// The error in it.
    pub reason: String,
}

impl FromStr for OpcodePattern {
    type Err = OpcodePatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let regex = regular(text).and_then(|regex| {
            let regex = RegexBuilder::new(&regex).dot_matches_new_line(true).build();
            regex.map_err(|error| error.to_string())
        });
        match regex {
            Ok(regex) => Ok(Self { text: text.to_owned(), regex }),
            Err(reason) => Err(OpcodePatternError { glob: text.to_owned(), reason }),
        }
    }
}

impl OpcodePattern {
    /// Returns whether the glob matches the whole opcode.
    #[must_use]
    pub fn matches(&self, opcode: &str) -> bool {
        self.regex.is_match(opcode)
    }
}

impl fmt::Display for OpcodePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for OpcodePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for OpcodePattern {}

/// Translates a glob to a regular expression.
fn regular(text: &str) -> Result<String, String> {
    let mut rest = text.chars().peekable();
    // For each open brace: the expression before it, and all its alternatives except the current one.
    let mut open: Vec<(String, Vec<String>)> = Vec::new();
    let mut regex = String::new();
    while let Some(next) = rest.next() {
        match (next, open.last_mut()) {
            ('?', _) => regex.push('.'),
            ('*', _) => regex.push_str(".*"),
            ('[', _) => class(&mut rest, &mut regex)?,
            ('{', _) => open.push((take(&mut regex), Vec::new())),
            (',', Some((_, alternatives))) => alternatives.push(take(&mut regex)),
            ('}', _) => {
                let (before, mut alternatives) = open.pop().ok_or(
                    "unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)",
                )?;
                alternatives.push(take(&mut regex));
                // Empty alternatives are ignored, as in `globset`.
                alternatives.retain(|alternative| !alternative.is_empty());
                regex = before;
                if !alternatives.is_empty() {
                    regex.extend(["(?:", &alternatives.join("|"), ")"]);
                }
            }
            ('\\', _) => literal(rest.next().ok_or("dangling '\\'")?, &mut regex),
            (next, _) => literal(next, &mut regex),
        }
    }
    if !open.is_empty() {
        return Err("unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)".into());
    }
    Ok(format!("^{regex}$"))
}

/// Translates a class. Its opening bracket has been read.
fn class(rest: &mut Peekable<Chars<'_>>, regex: &mut String) -> Result<(), String> {
    let is_negated = rest.next_if(|next| matches!(next, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    // Whether a `-` came last, so that the next character ends a range.
    let mut is_range = false;
    loop {
        let next = rest.next().ok_or("unclosed character class; missing ']'")?;
        match (next, ranges.last_mut()) {
            (']', Some(_)) => break,
            ('-', Some(_)) if !is_range => is_range = true,
            (end, Some(range)) if is_range => {
                range.1 = end;
                if range.0 > end {
                    return Err(format!("invalid range; '{}' > '{end}'", range.0));
                }
                is_range = false;
            }
            (one, _) => ranges.push((one, one)),
        }
    }
    if is_range {
        ranges.push(('-', '-'));
    }
    regex.push_str(if is_negated { "[^" } else { "[" });
    for (first, last) in ranges {
        literal(first, regex);
        regex.push('-');
        literal(last, regex);
    }
    regex.push(']');
    Ok(())
}

fn literal(char: char, regex: &mut String) {
    regex.push_str(&regex::escape(char.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (glob, matching, others) in [
            ("LDG", &["LDG"][..], &["LDG.E", "ULDG", ""][..]),
            ("LDG*", &["LDG", "LDG.E"], &["LD", "ULDG"]),
            ("LD?.E", &["LDG.E", "LDS.E"], &["LD.E", "LDGEE", "LDGG.E"]),
            ("*.{64,128}", &["LD.64", "LD.E.128"], &["LD.32", "64"]),
            ("LD{,G,{L,S.*}}.E", &["LDG.E", "LDL.E", "LDS.U.E"], &["LD.E", "LDS.E"]),
            ("LD{}{,}", &["LD"], &["LD{}{,}"]),
            ("LD[GL-S]", &["LDG", "LDL", "LDS"], &["LDT", "LD-", "LD"]),
            ("LD[!G^]", &["LDS", "LD!"], &["LDG", "LD^"]),
            ("[]-]", &["]", "-"], &["[", "[]-]"]),
            ("[a-c-e]", &["b", "d", "e"], &["-"]),
            ("[[.&&~]", &["[", ".", "&", "~"], &["]"]),
            ("a,\\*\\\\", &["a,*\\"], &["a,b\\"]),
            ("**", &["", "LD.E"], &[]),
            ("L**D", &["LD", "L/D"], &["LDE"]),
            ("L(D|G)+$", &["L(D|G)+$"], &["LD"]),
            ("\u{b5}?", &["\u{b5}s"], &["us"]),
        ] {
            let glob: OpcodePattern = glob.parse().unwrap();
            assert!(matching.iter().all(|name| glob.matches(name)), "{glob:?}");
            assert!(!others.iter().any(|name| glob.matches(name)), "{glob:?}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_said() {
        for (glob, why) in [
            ("LD[", "unclosed character class; missing ']'"),
            ("[]", "unclosed character class; missing ']'"),
            ("[S-G]", "invalid range; 'S' > 'G'"),
            ("a,b}", "unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)"),
            ("{a,{b}", "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"),
            ("LD\\", "dangling '\\'"),
        ] {
            let error = glob.parse::<OpcodePattern>().unwrap_err();
            assert_eq!(error.to_string(), format!("error parsing glob '{glob}': {why}"));
        }
    }
}
