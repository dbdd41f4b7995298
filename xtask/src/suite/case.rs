//! [`Family`] and [`Case`]: what the suite consists of, and how a case is written.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::sources::Sources;

/// A family: its cases, and what their flags mean.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) cases: fn(&Sources) -> Result<Cases>,
    pub(crate) flags: fn() -> Vec<(&'static str, &'static str)>,
}

/// The cases of a family.
#[derive(Default)]
pub(crate) struct Cases {
    pub(crate) files: Vec<CaseFile>,
    /// Files that cases name.
    pub(crate) carried: Vec<(String, Vec<u8>)>,
    /// How many items of the sources are no cases, by reason.
    pub(crate) left_out: BTreeMap<&'static str, usize>,
}

/// The cases of one instruction.
pub(crate) struct CaseFile {
    pub(crate) instruction: String,
    pub(crate) cases: Vec<Case>,
}

impl CaseFile {
    /// Gives each case its id: of the file, and of what is asked, so that it stays whatever else is added. What
    /// was drawn twice is asked once.
    ///
    /// # Errors
    /// Returns an error if two cases of an id differ in what they ask or expect.
    pub(crate) fn identify(&mut self, family: &str) -> Result<()> {
        let mut known = BTreeMap::new();
        for mut case in std::mem::take(&mut self.cases) {
            let asked = Asked::of(&case.line).with_context(|| case.line.clone())?;
            let id = asked.id(family, &self.instruction)?;
            match known.entry(id) {
                Entry::Occupied(entry) => ensure!(*entry.get() == asked, "{}: twice", entry.key()),
                Entry::Vacant(entry) => {
                    case.line = format!(r#"{{"id":"{}",{}"#, entry.key(), &case.line[1..]);
                    self.cases.push(case);
                    entry.insert(asked);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        self.cases.iter().flat_map(|case| [case.line.as_bytes(), b"\n"].concat()).collect()
    }
}

/// A case, and what the manifest counts of it.
pub(crate) struct Case {
    pub(crate) flags: Vec<&'static str>,
    pub(crate) source: &'static str,
    pub(crate) is_decision: bool,
    /// One JSON object, without an id until [`CaseFile::identify`].
    pub(crate) line: String,
}

/// What a case asks: all but what is said about it; and what it expects.
#[derive(PartialEq)]
struct Asked {
    question: Map<String, Value>,
    expected: Option<Value>,
}

impl Asked {
    fn of(line: &str) -> Result<Self> {
        let mut question: Map<String, Value> = serde_json::from_str(line)?;
        let expected = question.remove("expect").or_else(|| question.remove("final"));
        for key in ["name", "note", "flags", "source", "decision", "conf", "kind"] {
            question.remove(key);
        }
        Ok(Self { question, expected })
    }

    fn id(&self, family: &str, instruction: &str) -> Result<String> {
        // The files of `decode` have cases of `encode`, too.
        let family = self.question.get("family").and_then(Value::as_str).unwrap_or(family);
        let hash = sha256(&serde_json::to_vec(&self.question)?);
        Ok(format!("{family}-{instruction}-{}", &hash[..8]))
    }
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What all cases have but vectors, which are written elsewhere.
pub(crate) struct Head<'h> {
    /// `encode` is a family of questions in the files of `decode`.
    pub(crate) family: &'h str,
    pub(crate) flags: Vec<&'static str>,
    pub(crate) source: &'static str,
    pub(crate) is_decision: bool,
}

impl Head<'_> {
    /// Returns the case whose other keys, with the last one's brace, are `rest`.
    pub(crate) fn with(self, rest: &str) -> Case {
        let Self { family, flags, source, is_decision } = self;
        let names: Vec<String> = flags.iter().map(|flag| quoted(flag)).collect();
        let mut line = format!(r#"{{"family":"{family}","flags":[{}],"#, names.join(","));
        line += &format!(r#""source":"{source}","#);
        if is_decision {
            line += r#""decision":true,"#;
        }
        line += rest;
        Case { flags, source, is_decision, line }
    }
}

/// Returns a text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where an expectation is from.
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const MODEL: &str = "independent-model";
pub(crate) const NVDISASM: &str = "nvdisasm-12.8";

/// Returns `count` of the items, or all, at equal distances.
pub(crate) fn spread<T>(items: &[T], count: usize) -> impl Iterator<Item = &T> {
    let count = count.min(items.len());
    (0..count).filter_map(move |i| items.get(i * items.len() / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(lines: &[&str]) -> Result<Vec<String>> {
        let case = |line: &&str| Case {
            flags: Vec::new(),
            source: DOCUMENT,
            is_decision: false,
            line: (*line).to_owned(),
        };
        let cases = lines.iter().map(case).collect();
        let mut file = CaseFile { instruction: "ld".to_owned(), cases };
        file.identify("execute")?;
        let id = |case: &Case| case.line.split('"').nth(3).unwrap_or_default().to_owned();
        Ok(file.cases.iter().map(id).collect())
    }

    #[test]
    fn an_id_is_that_of_the_question() {
        let first = r#"{"family":"encode","flags":[],"text":"LD R4, [R2]","expect":1}"#;
        let again = r#"{"family":"encode","flags":["guard"],"text":"LD R4, [R2]","expect":1}"#;
        let other = r#"{"name":"a","initial":{},"final":{}}"#;
        let all = ids(&[other, first, again]).unwrap();
        assert_eq!(all, [ids(&[other]).unwrap(), ids(&[again]).unwrap()].concat());
        assert!(all[0].starts_with("execute-ld-") && all[1].starts_with("encode-ld-"), "{all:?}");
        let contradiction = first.replace("\"expect\":1", "\"expect\":2");
        assert!(ids(&[first, &contradiction]).is_err());
    }
}
