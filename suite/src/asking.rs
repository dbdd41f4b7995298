//! What examinees of a suite have in common, however they are asked: [`ChosenCases`] are the cases that are chosen, and an
//! answer is compared with the expected one. [`FunctionExaminee`] is asked by calling functions; the other one is a
//! [program](crate::program).

use std::path::Path;

use crate::case::{CaseChoice, CaseLine, SuiteCase};
use crate::families::{CaseAnswer, Uncomparable};
use crate::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use crate::runner::{AskError, Examinee};
use crate::text::{MAX_CHARACTERS, shortened, shown, with_column};

/// How many differences of a case are kept, and how many characters of each.
const MAX_DIFFERENCES: usize = 64;
const MAX_DIFFERENCE: usize = 1000;

/// The cases that an examinee is asked.
#[derive(Clone, Copy)]
pub struct ChosenCases<'c> {
    /// Which they are.
    pub choice: &'c CaseChoice,
    /// Is told the files that cases name, whether these are asked or not: an output in place of one would be lost to
    /// other runs too.
    pub on_file: &'c (dyn Fn(&Path) + Sync),
}

impl ChosenCases<'_> {
    /// Judges the case of a line. `ask` is passed the case and its question; it returns the verdict, and whether there
    /// was an answer.
    pub(crate) fn judge(
        self,
        line: &CaseLine,
        ask: impl FnOnce(&SuiteCase<'_>, &str) -> Result<(CaseVerdict, bool), AskError>,
    ) -> Result<CaseOutcome, AskError> {
        let case = match line.text.as_deref().map_err(Clone::clone).and_then(SuiteCase::new) {
            Ok(case) => case,
            Err(message) => return Ok(CaseOutcome::not_a_case(message)),
        };
        let file = case.named_file(&line.file);
        file.iter().for_each(|file| (self.on_file)(file));
        let skipped = self.choice.skip_decisions.as_ref().filter(|_| case.about.is_decision);
        let (verdict, answered) = if !self.choice.has(&case) {
            (CaseVerdict::Unchosen, None)
        } else if let Some(reason) = skipped {
            (CaseVerdict::Skipped(reason.clone()), None)
        } else {
            match case.question(file.as_deref()) {
                Some(question) => {
                    let (verdict, is_answered) = ask(&case, &question)?;
                    (verdict, Some(is_answered))
                }
                None => {
                    let path = file.unwrap_or_default();
                    let message = format!(
                        "{path:?} is not UTF-8, so that a question, which is JSON, cannot name the file"
                    );
                    let failure = CaseFailure::new(CaseFailureKind::NotUtf8, message);
                    (CaseVerdict::Failed(failure), None)
                }
            }
        };
        Ok(CaseOutcome { family: Some(case.family.name), about: case.about, verdict, answered })
    }
}

/// An examinee that is asked by calling functions, each of which must give the expected answer: our own executors, or an
/// emulator in the same process.
pub struct FunctionExaminee<'c, F> {
    functions: Vec<(&'static str, F)>,
    cases: ChosenCases<'c>,
}

impl<'c, F> FunctionExaminee<'c, F>
where
    F: FnMut(&str) -> Result<Result<CaseAnswer, CaseFailure>, AskError> + Send,
{
    /// Creates an examinee of functions with their names, which differences begin with if there are several. A function
    /// is passed a question; it returns the answer, or why there is none.
    #[must_use]
    pub fn new(functions: Vec<(&'static str, F)>, cases: ChosenCases<'c>) -> Self {
        Self { functions, cases }
    }
}

impl<F> Examinee for FunctionExaminee<'_, F>
where
    F: FnMut(&str) -> Result<Result<CaseAnswer, CaseFailure>, AskError> + Send,
{
    const MAX_LINES: usize = 1024;

    fn judge(&mut self, line: &CaseLine) -> Result<CaseOutcome, AskError> {
        let Self { functions, cases } = self;
        let has_several = functions.len() > 1;
        cases.judge(line, |case, question| {
            let mut verdict = CaseVerdict::Passed;
            for (name, function) in functions {
                verdict = match function(question)? {
                    Ok(answer) => judged(case, &answer),
                    Err(failure) => CaseVerdict::Failed(failure),
                };
                if let (CaseVerdict::Failed(failure), true) = (&mut verdict, has_several) {
                    for difference in &mut failure.differences {
                        *difference = format!("{name}: {difference}");
                    }
                }
                if !matches!(verdict, CaseVerdict::Passed) {
                    break;
                }
            }
            Ok((verdict, true))
        })
    }
}

/// Compares an answer with the expected one.
fn judged(case: &SuiteCase<'_>, answer: &CaseAnswer) -> CaseVerdict {
    let line = || answer.clone().into_json().into_bytes();
    compared(case, answer).unwrap_or_else(|failure| failed(failure, &line()))
}

/// Compares the line of an answer with the expected one.
pub(crate) fn judged_line(case: &SuiteCase<'_>, line: Vec<u8>) -> CaseVerdict {
    let read = CaseAnswer::from_line(&line).and_then(|answer| compared(case, &answer));
    read.unwrap_or_else(|failure| failed(failure, &line))
}

fn failed(mut failure: CaseFailure, line: &[u8]) -> CaseVerdict {
    for difference in &mut failure.differences {
        *difference = shortened(difference, MAX_DIFFERENCE);
    }
    if failure.kind == CaseFailureKind::WrongLine {
        failure.differences.push(format!("the line: {}", shown(line)));
    }
    CaseVerdict::Failed(failure)
}

fn compared(case: &SuiteCase<'_>, answer: &CaseAnswer) -> Result<CaseVerdict, CaseFailure> {
    let answer = match answer {
        CaseAnswer::Known(answer) => answer,
        CaseAnswer::Skip(reason) => {
            return Ok(CaseVerdict::Skipped(shortened(reason, MAX_CHARACTERS)));
        }
        CaseAnswer::Error(message) => {
            let message = format!("the program cannot read the question: {message}");
            let message = shortened(&message, 2 * MAX_CHARACTERS);
            return Err(CaseFailure::new(CaseFailureKind::Error, message));
        }
    };
    // Most answers are the expected one, letter by letter.
    if is_same(case.expected().answer, answer) {
        return Ok(CaseVerdict::Passed);
    }
    let mut differences =
        (case.family.compare)(&case.expected(), answer).map_err(|error| match error {
            Uncomparable::Case(error) => {
                let message = with_column(&error);
                let key = case.family.expectation;
                CaseFailure::new(
                    CaseFailureKind::NotACase,
                    format!("not a case: `{key}`: {message}"),
                )
            }
            Uncomparable::Answer(error) => CaseFailure::unreadable_answer(&error),
        })?;
    if differences.is_empty() {
        return Ok(CaseVerdict::Passed);
    }
    let excess = differences.len().saturating_sub(MAX_DIFFERENCES);
    if excess > 0 {
        differences.truncate(MAX_DIFFERENCES);
        differences.push(format!("and {excess} more"));
        // A batch of cases is held until it is reported.
        differences.shrink_to_fit();
    }
    Err(CaseFailure { kind: CaseFailureKind::Difference, differences, stderr: Vec::new() })
}

/// Whether two JSON texts are the same but for space between their parts.
fn is_same(one: &str, other: &str) -> bool {
    parts(one).eq(parts(other))
}

/// Returns the bytes of a JSON text without the space between its parts.
fn parts(text: &str) -> impl Iterator<Item = u8> {
    let (mut is_string, mut is_escaped) = (false, false);
    text.bytes().filter(move |byte| {
        let is_kept = is_string || !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let is_quote = *byte == b'"' && !is_escaped;
        is_escaped = is_string && *byte == b'\\' && !is_escaped;
        is_string ^= is_quote;
        is_kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_that_are_left_out_take_no_memory() -> Result<(), String> {
        let case = SuiteCase::new(r#"{"family":"ptx-execute","expect":{"loads":[]}}"#)?;
        let answer = format!(r#"{{"loads":[0{}]}}"#, ",0".repeat(9_999));
        let CaseVerdict::Failed(failure) = judged_line(&case, answer.into_bytes()) else {
            return Err("passed".to_owned());
        };
        assert_eq!(failure.differences.last().map(String::as_str), Some("and 9936 more"));
        assert!(failure.differences.capacity() < 1000);
        Ok(())
    }

    #[test]
    fn space_between_parts_is_no_difference() {
        assert!(is_same(
            r#"{"a": [1, "b c\" d"], "e":null}"#,
            r#" {"a":[1,"b c\" d"],"e" : null} "#
        ));
        assert!(!is_same(r#"{"a":"b c"}"#, r#"{"a":"bc"}"#));
        assert!(!is_same(r#"{"a":"\\"  }"#, r#"{"a":"\\  "}"#));
        assert!(!is_same("[1]", "[1"));
    }
}
