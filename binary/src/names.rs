//! Names of functions: [`Demangled`], as the source writes them; [`NamePattern`], to choose functions by name;
//! [`nearest`], suggestions for a misspelt name.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};
use regex::Regex;

/// The longest name that is demangled, in bytes.
const LONGEST: usize = 8192;
/// The deepest nesting of types in a name. The parser tries alternatives, so the time for an invalid name doubles
/// with each level.
const DEEPEST: u32 = 48;
/// The longest demangled form, as a multiple of the mangled name. It can be exponentially longer, because a repeated
/// type is mangled once.
const LONGER: usize = 16;

/// Names and their demangled forms.
#[derive(Clone, Debug, Default)]
pub struct Demangled(HashMap<Arc<str>, Option<Arc<str>>>);

impl Demangled {
    /// Demangles names.
    #[must_use]
    pub fn new<'n>(names: impl Iterator<Item = &'n Arc<str>>) -> Self {
        let mut forms = Self::default();
        for name in names {
            forms.add(name);
        }
        forms
    }

    /// Adds a name, unless it is there already, and returns its demangled form.
    pub fn add(&mut self, name: &Arc<str>) -> Option<Arc<str>> {
        if let Some(form) = self.0.get(name) {
            return form.clone();
        }
        let form = demangle(name).map(Arc::from);
        self.0.insert(Arc::clone(name), form.clone());
        form
    }

    /// Returns the demangled form of a name that was added; `None` if it is not mangled.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<str>> {
        self.0.get(name)?.as_ref()
    }

    /// Returns the demangled form if there is one, else the name.
    #[must_use]
    pub fn or_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.get(name).map_or(name, |form| form)
    }
}

/// `None` if the name is not mangled, or its nesting or length is above the limits.
fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > LONGEST {
        return None;
    }
    let options = ParseOptions::default().recursion_limit(DEEPEST);
    let symbol = Symbol::new_with_options(name, &options).ok()?;
    let mut form = Bounded { text: String::new(), most: name.len() * LONGER };
    symbol.structured_demangle(&mut form, &DemangleOptions::new()).ok()?;
    Some(form.text)
}

/// Chooses functions by name, mangled or demangled: by any part of the name, or by a regular expression that matches a
/// part. A part need not be a valid expression, because demangled names contain brackets and stars.
///
/// ```
/// use warpload_binary::names::NamePattern;
///
/// let name = "_Z9transposeIfEvPKfPf";
/// let demangled = Some("void transpose<float>(float const*, float*)");
/// for text in ["transpose<(float|double)>", "transpose<float>(float const*", name] {
///     assert!(NamePattern::new(text).matches(name, demangled));
/// }
/// ```
#[derive(Clone, Debug)]
pub struct NamePattern {
    text: String,
    /// `None` if the text is no expression.
    regex: Option<Regex>,
}

impl NamePattern {
    /// Creates the pattern of a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let regex = Regex::new(&text).ok();
        Self { text, regex }
    }

    /// Returns whether a name or its demangled form has a match.
    #[must_use]
    pub fn matches(&self, name: &str, demangled: Option<&str>) -> bool {
        let is_match = |name: &str| {
            name.contains(&self.text)
                || self.regex.as_ref().is_some_and(|regex| regex.is_match(name))
        };
        is_match(name) || demangled.is_some_and(is_match)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for NamePattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::new(text))
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for NamePattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for NamePattern {}

/// The most names that are compared with a misspelt one, and the most characters of each.
const MAX_COMPARED: usize = 1000;
const MAX_LENGTH: usize = 200;
/// The most names that are nearest.
const MAX_NEAREST: usize = 3;

/// Returns the few names that are most similar to a text, the nearest first. Long names are cut.
///
/// Each part of a name is compared on its own too, because a pattern need not match the whole name. Capitals do not
/// matter.
#[must_use]
pub fn nearest(text: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let cut = |text: &str| text.chars().take(MAX_LENGTH).collect::<String>();
    let text = cut(text).to_lowercase();
    let distance = |name: &str| {
        let lower = name.to_lowercase();
        let parts = lower.split(|char: char| !char.is_alphanumeric() && char != '_');
        let parts = parts.flat_map(|part| part.split('_').chain([part]));
        let whole = parts.filter(|part| !part.is_empty()).chain([&*lower]);
        let whole = whole.map(|part| strsim::levenshtein(part, &text)).min();
        // A part without separators, such as `gather` in `GatherEOBn`. One more, so that a whole part is nearer.
        let inside = distance_to_part(&text, &lower) + 1;
        whole.map_or(inside, |whole| whole.min(inside))
    };
    let names: BTreeSet<String> = names.map(|name| cut(&name)).take(MAX_COMPARED).collect();
    let mut near: Vec<(usize, String)> =
        names.into_iter().map(|name| (distance(&name), name)).collect();
    near.sort();
    near.into_iter().take(MAX_NEAREST).map(|(_, name)| name).collect()
}

/// Returns the least edits that turn `text` into some part of `name`: Sellers' algorithm, which is Levenshtein's with parts
/// that begin and end anywhere.
fn distance_to_part(text: &str, name: &str) -> usize {
    // By the end of the part. Before the first letter of the text, the empty part is as good everywhere.
    let mut row = vec![0; name.chars().count() + 1];
    for (i, letter) in (1..).zip(text.chars()) {
        let Some((first, others)) = row.split_first_mut() else { break };
        // Of the row before, and of this one, at the end before.
        let (mut before, mut last) = (*first, i);
        *first = i;
        for (end, other) in others.iter_mut().zip(name.chars()) {
            let replaced = before + usize::from(other != letter);
            before = *end;
            last = replaced.min(before + 1).min(last + 1);
            *end = last;
        }
    }
    row.into_iter().min().unwrap_or_default()
}

/// Returns the nearest names as the end of a message about a name that does not exist: `; the nearest are …`.
#[must_use]
pub fn did_you_mean(nearest: &[String]) -> String {
    let names: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => String::new(),
        [only] => format!("; there is {only}"),
        names => format!("; the nearest are {}", names.join(", ")),
    }
}

/// Text of at most `most` bytes; writing more is an error.
struct Bounded {
    text: String,
    most: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.most {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_is_near() {
        for (text, name, edits) in [
            ("gatherobn", "gathereobnkernel", 1),
            ("kernal", "my_kernel_2", 1),
            ("kernel", "kernel", 0),
            ("ab", "ba", 1),
            ("abc", "", 3),
            ("", "name", 0),
        ] {
            assert_eq!(distance_to_part(text, name), edits, "{text} {name}");
        }
    }

    #[test]
    fn names_of_kernels() {
        let form = |name| demangle(name).unwrap_or_default();
        assert_eq!(form("_Z6vecAddPdS_S_i"), "vecAdd(double*, double*, double*, int)");
        assert_eq!(form("_Z3fooILb1ELi3EEvPKfPf"), "void foo<true, 3>(float const*, float*)");
        assert_eq!(
            form("_ZN7cutlass6KernelI4GemmEEvNT_6ParamsE"),
            "void cutlass::Kernel<Gemm>(Gemm::Params)"
        );
        for name in ["main", "", "_Z", "_Z6vec", "void f(int)"] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_grow_are_left_as_they_are() {
        // Each parameter contains the one before it twice, so the demangled form doubles with each.
        let mut name = "_Z1f1AIiiE".to_owned();
        for i in 0..30 {
            let last = if i == 0 { "S0_".to_owned() } else { format!("S{}_", to_base_36(i)) };
            name += &format!("S_I{last}{last}E");
        }
        assert_eq!(demangle(&name), None);
    }

    fn to_base_36(number: usize) -> String {
        let digits: Vec<char> = ('0'..='9').chain('A'..='Z').collect();
        digits.get(number).map_or("10".to_owned(), char::to_string)
    }

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
            assert!(NamePattern::new(text).matches(name, Some(demangled)), "{text}");
        }
        for text in ["fo ", "^foo", "foo<true, 4>", "(int"] {
            assert!(!NamePattern::new(text).matches(name, Some(demangled)), "{text}");
        }
    }
}
