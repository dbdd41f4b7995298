//! [`Family`] and [`Case`]: the parts of the suite, and the JSON of a case.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::{Result, ensure};
use serde_json::Value;
use sha2::{Digest, Sha256};
use warpload_suite::random::Random;

use super::flag::{Flag, shown};
use super::sources::Sources;

/// A family: its cases, and its flags with their meanings.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) cases: fn(&Sources) -> Result<Cases>,
    pub(crate) flags: fn() -> Vec<(&'static str, &'static str)>,
}

/// The cases of a family.
#[derive(Default)]
pub(crate) struct Cases {
    pub(crate) files: Vec<CaseFile>,
    /// Files that the cases refer to.
    pub(crate) carried: Vec<(String, Vec<u8>)>,
    /// The number of items of the sources that are not used, by reason.
    pub(crate) left_out: BTreeMap<&'static str, usize>,
}

/// The cases of one instruction.
pub(crate) struct CaseFile {
    pub(crate) instruction: String,
    pub(crate) cases: Vec<Case>,
}

impl CaseFile {
    /// Gives each case an id that depends only on its file and its question, so that it is stable when other cases are
    /// added. Duplicates are dropped.
    ///
    /// # Errors
    /// Returns an error if two cases with one id differ in question or expectation.
    pub(crate) fn identify(&mut self) -> Result<()> {
        let mut known = BTreeMap::new();
        for mut case in std::mem::take(&mut self.cases) {
            case.id = case.asked.id(&self.instruction)?;
            match known.entry(case.id.clone()) {
                Entry::Occupied(entry) => {
                    ensure!(*entry.get() == case.asked, "{}: twice", case.id);
                }
                Entry::Vacant(entry) => {
                    entry.insert(case.asked.clone());
                    self.cases.push(case);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        self.cases.iter().flat_map(|case| format!("{}\n", case.line()).into_bytes()).collect()
    }
}

/// A case.
pub(crate) struct Case {
    /// Empty until [`CaseFile::identify`].
    id: String,
    pub(crate) head: Head,
    asked: Asked,
}

impl Case {
    pub(crate) fn family(&self) -> &'static str {
        self.asked.family
    }

    /// Adds the contents of the file that the question names.
    pub(crate) fn of_file(mut self, contents: &[u8]) -> Self {
        self.asked.file = Some(sha256(contents));
        self
    }

    /// The case as one line of JSON, without a line end.
    fn line(&self) -> String {
        let Self { id, head, asked } = self;
        let Asked { family, question, expected, .. } = asked;
        // Vectors have `name` and `final`, but no family (docs/vectors.md).
        let is_vector = *family == VECTORS;
        let mut line = format!(r#"{{"id":"{id}""#);
        if let Some(name) = &head.name {
            line += &format!(r#","name":{}"#, quoted(name));
        }
        if !is_vector {
            line += &format!(r#","family":"{family}""#);
        }
        let flags: Vec<String> = head.flags.iter().map(|flag| quoted(flag)).collect();
        line += &format!(r#","flags":[{}],"source":"{}""#, flags.join(","), head.source);
        if head.is_decision {
            line += r#","decision":true"#;
        }
        let expectation = if is_vector { "final" } else { "expect" };
        line + &format!(r#",{question},"{expectation}":{expected}}}"#)
    }
}

/// The family of vectors.
const VECTORS: &str = "execute";

/// The question of a case, and its expectation.
#[derive(Clone, PartialEq)]
struct Asked {
    family: &'static str,
    question: String,
    /// The SHA-256 of the file that it names, if it names one.
    file: Option<String>,
    expected: String,
}

impl Asked {
    fn id(&self, instruction: &str) -> Result<String> {
        let Self { family, question, file, .. } = self;
        // Parsed and printed again, so that spaces and the order of keys do not count.
        let question: Value = serde_json::from_str(&format!("{{{question}}}"))?;
        let asked = format!("{question}{}", file.as_deref().unwrap_or_default());
        Ok(format!("{family}-{instruction}-{}", &sha256(asked.as_bytes())[..8]))
    }
}

/// The SHA-256 of bytes in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The keys that describe a case.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) name: Option<String>,
    pub(crate) flags: Vec<&'static str>,
    pub(crate) source: &'static str,
    pub(crate) is_decision: bool,
}

impl Head {
    /// Creates the head of a case made from `by`.
    pub(crate) fn of<T>(flags: &[Flag<T>], by: &T, source: &'static str) -> Self {
        Self { flags: shown(flags, by), source, ..Self::default() }
    }

    /// Creates the case. `question` is the keys of its question as JSON without braces, `expected` the value.
    pub(crate) fn asking(self, family: &'static str, question: &str, expected: &str) -> Case {
        let (question, expected) = (question.to_owned(), expected.to_owned());
        let asked = Asked { family, question, file: None, expected };
        Case { id: String::new(), head: self, asked }
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The sources of expectations.
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const MODEL: &str = "independent-model";
pub(crate) const NVDISASM: &str = "nvdisasm-12.8";
pub(crate) const HOST: &str = "host";

/// `count` of the items, or all. Takes a random item of each of `count` equal parts, because lists repeat themselves at
/// regular distances, and a fixed step could miss some kinds.
pub(crate) fn spread<T>(items: &[T], count: usize) -> impl Iterator<Item = &T> {
    let count = count.min(items.len());
    let mut random = Random::new(0, &[count as u64]);
    (0..count).filter_map(move |i| {
        let (first, end) = (i * items.len() / count, (i + 1) * items.len() / count);
        items.get(first + random.below((end - first) as u64) as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(cases: Vec<Case>) -> Result<Vec<String>> {
        let mut file = CaseFile { instruction: "ld".to_owned(), cases };
        file.identify()?;
        Ok(file.cases.into_iter().map(|case| case.id).collect())
    }

    #[test]
    fn an_id_is_that_of_the_question() {
        let encode = |flags: &[&'static str], expected| {
            let head = Head { flags: flags.to_vec(), source: DOCUMENT, ..Head::default() };
            head.asking("encode", r#""text":"LD R4, [R2]""#, expected)
        };
        let other = || Head::default().asking("execute", r#""initial":{}"#, "{}");
        let all = ids(vec![other(), encode(&[], "1"), encode(&["guard"], "1")]).unwrap();
        assert_eq!(all, ids(vec![other(), encode(&[], "3")]).unwrap());
        assert!(all[0].starts_with("execute-ld-") && all[1].starts_with("encode-ld-"), "{all:?}");
        assert!(ids(vec![encode(&[], "1"), encode(&[], "2")]).is_err());
        // Files with the same name can differ.
        let files = [b"1", b"2"].map(|contents| other().of_file(contents));
        assert_eq!(ids(files.into()).unwrap().len(), 2);
    }

    #[test]
    fn vectors_have_no_family() {
        let case = Head { name: Some("LD".to_owned()), source: DOCUMENT, ..Head::default() };
        let case = case.asking("execute", r#""initial":{}"#, "{}");
        let expected =
            r#"{"id":"","name":"LD","flags":[],"source":"document","initial":{},"final":{}}"#;
        assert_eq!(case.line(), expected);
    }
}
