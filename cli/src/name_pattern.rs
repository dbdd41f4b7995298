//! [`NamePattern`], by which people choose functions, and the names that a misspelt one may have meant.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::str::FromStr;

use regex::Regex;

use super::name::cell;

/// Chooses functions by name, mangled or demangled: the whole name or a part of it as it is, or a regular expression that
/// matches a part. A demangled name has brackets and stars of its own, so it need not be an expression.
#[derive(Clone, Debug)]
pub(crate) struct NamePattern {
    text: String,
    regex: Option<Regex>,
}

impl NamePattern {
    pub(crate) fn matches(&self, name: &str, demangled: Option<&str>) -> bool {
        let is_match = |name: &str| {
            name.contains(&self.text)
                || self.regex.as_ref().is_some_and(|regex| regex.is_match(name))
        };
        is_match(name) || demangled.is_some_and(is_match)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for NamePattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self { text: text.to_owned(), regex: Regex::new(text).ok() })
    }
}

/// The most names that are compared with a misspelt one, and the most characters of each.
const MAX_COMPARED: usize = 1000;
const MAX_LENGTH: usize = 200;
/// The most names that a message has.
const MAX_NEAR: usize = 3;

/// Returns which of the names are most like a text, as the end of a message.
pub(crate) fn nearest_in_words(text: &str, names: impl Iterator<Item = String>) -> String {
    let cut = |text: &str| text.chars().take(MAX_LENGTH).collect::<String>();
    let text = cut(text);
    // A name's parts count alone, because an expression need not match all of it.
    let distance = |name: &str| {
        let parts = name.split(|char: char| !char.is_alphanumeric() && char != '_');
        let parts = parts.filter(|part| !part.is_empty()).chain([name]);
        parts.map(|part| strsim::levenshtein(part, &text)).min().unwrap_or(usize::MAX)
    };
    let names: BTreeSet<String> = names.map(|name| cut(&name)).take(MAX_COMPARED).collect();
    let mut near: Vec<(usize, String)> =
        names.into_iter().map(|name| (distance(&name), name)).collect();
    near.sort();
    let near: Vec<String> =
        near.iter().take(MAX_NEAR).map(|(_, name)| format!("`{}`", cell(name))).collect();
    match near.len() {
        0 => String::new(),
        1 => format!("; there is {}", near[0]),
        _ => format!("; the nearest are {}", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_as_people_type_them() {
        let (name, demangled) =
            ("_Z3fooILb1ELi3EEvPKfPf", "void foo<true, 3>(float const*, float*)");
        for text in [
            name,
            demangled,
            "foo<true, 3>(float const*",
            "foo",
            "^_Z3foo",
            r"foo<.*>\(float",
            "(float",
        ] {
            let pattern: NamePattern = text.parse().unwrap();
            assert!(pattern.matches(name, Some(demangled)), "{text}");
        }
        for text in ["fo ", "^foo", "foo<true, 4>", "(int"] {
            let pattern: NamePattern = text.parse().unwrap();
            assert!(!pattern.matches(name, Some(demangled)), "{text}");
        }
    }
}
