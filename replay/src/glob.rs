//! [`OpcodePattern`]: a glob for opcodes.

use std::fmt;
use std::str::FromStr;

use regex::{Regex, RegexBuilder};

/// A glob that has to match a whole opcode, such as `LDG.*` or `*.{64,128}`: `?`, `*`, classes in brackets, and
/// alternatives with commas between, in braces or not.
///
/// Not a `globset`, which would bring along all engines of `regex` and make the Python package a tenth larger.
#[derive(Clone, Debug)]
pub struct OpcodePattern {
    text: String,
    regex: Regex,
}

/// Why a text is not an [`OpcodePattern`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pattern of opcodes: {glob}: {reason}")]
pub struct OpcodePatternError {
    /// The text.
    pub glob: String,
    /// The error in it.
    pub reason: String,
}

impl FromStr for OpcodePattern {
    type Err = OpcodePatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let regex = RegexBuilder::new(&regular(text)).dot_matches_new_line(true).build();
        let regex = regex.map_err(|error| {
            // The lines before show the regular expression, which the user has not written.
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ").to_owned();
            OpcodePatternError { glob: text.to_owned(), reason }
        })?;
        Ok(Self { text: text.to_owned(), regex })
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
fn regular(text: &str) -> String {
    let mut regex = regex::escape(text);
    for (glob, expression) in [
        (r"\*", ".*"),
        (r"\?", "."),
        (r"\[!", "[^"),
        (r"\[", "["),
        (r"\]", "]"),
        (r"\-", "-"),
        (r"\{", "(?:"),
        (r"\}", ")"),
        (",", "|"),
    ] {
        regex = regex.replace(glob, expression);
    }
    format!("^(?:{regex})$")
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
            ("LD{,G,{L,S.*}}.E", &["LD.E", "LDG.E", "LDL.E", "LDS.U.E"], &["LDS.E"]),
            ("LD[GL-S]", &["LDG", "LDL", "LDS"], &["LDT", "LD-", "LD"]),
            ("LD[!G]", &["LDS", "LD!"], &["LDG"]),
            ("LDG*,STG", &["LDG.E", "STG"], &["STG.E", "STG,"]),
            ("**", &["", "LD.E"], &[]),
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
            ("LD[", "unclosed character class"),
            ("[S-G]", "invalid character class range, the start must be <= the end"),
            ("a,b}", "unopened group"),
            ("{a,{b}", "unclosed group"),
        ] {
            let error = glob.parse::<OpcodePattern>().unwrap_err();
            assert_eq!(error.to_string(), format!("no pattern of opcodes: {glob}: {why}"));
        }
    }
}
