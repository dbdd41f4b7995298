//! The part that all examinees share: [`ChosenCases`] selects the cases, and answers are compared with the expected
//! ones. [`FunctionExaminee`] is asked by calling functions. The other kind of examinee is a [program](crate::program).

use std::path::Path;

use crate::case::{CaseChoice, CaseLine, SuiteCase};
use crate::families::{CaseAnswer, Uncomparable};
use crate::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use crate::runner::{AskError, Examinee};
use crate::text::{MAX_CHARACTERS, shortened, shown, with_column};

/// The number of differences of a case that are kept, and the characters of each.
const MAX_DIFFERENCES: usize = 64;
const MAX_DIFFERENCE: usize = 1000;

/// The cases that an examinee is asked.
#[derive(Clone, Copy)]
pub struct ChosenCases<'c> {
    /// The choice.
    pub choice: &'c CaseChoice,
    /// Is called with each file that a case names, even if the case is not asked. A caller can then refuse to write its
    /// output over one, because later runs would lack the file.
    pub on_file: &'c (dyn Fn(&Path) + Sync),
}

impl ChosenCases<'_> {
    /// Judges the case of a line. `ask` gets the case and its question, and returns the verdict and whether there was
    /// an answer.
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
                        "{path:?} is not UTF-8: a question is JSON and cannot name the file"
                    );
                    let failure = CaseFailure::new(CaseFailureKind::NotUtf8, message);
                    (CaseVerdict::Failed(failure), None)
                }
            }
        };
        Ok(CaseOutcome { family: Some(case.family.name), about: case.about, verdict, answered })
    }
}

/// An examinee that is asked by calling functions: our own executors, or an emulator in the same process. Every
/// function must give the expected answer.
pub struct FunctionExaminee<'c, F> {
    functions: Vec<(&'static str, F)>,
    cases: ChosenCases<'c>,
}

impl<'c, F> FunctionExaminee<'c, F>
where
    F: FnMut(&str) -> Result<Result<CaseAnswer, CaseFailure>, AskError> + Send,
{
    /// Creates an examinee of named functions. A function gets a question, and returns the answer or a failure. If they
    /// do not agree, the differences of the first wrong one begin with its name.
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
        cases.judge(line, |case, question| {
            let mut verdicts = Vec::new();
            for (name, function) in functions {
                let verdict = match function(question)? {
                    Ok(answer) => judged(case, &answer),
                    Err(failure) => CaseVerdict::Failed(failure),
                };
                verdicts.push((*name, verdict));
            }
            let agree = verdicts.windows(2).all(|pair| pair[0].1 == pair[1].1);
            // A failure counts, even if another function skips the case; then a skip.
            let rank = |verdict: &CaseVerdict| match verdict {
                CaseVerdict::Failed(_) => 0,
                CaseVerdict::Skipped(_) => 1,
                CaseVerdict::Passed | CaseVerdict::Unchosen => 2,
            };
            let worst = verdicts.into_iter().min_by_key(|(_, verdict)| rank(verdict));
            let Some((name, mut verdict)) = worst else { return Ok((CaseVerdict::Passed, true)) };
            if let (CaseVerdict::Failed(failure), false) = (&mut verdict, agree) {
                for difference in &mut failure.differences {
                    *difference = format!("{name}: {difference}");
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
            // The fault of the case, if it is malformed.
            let expected = case.expected();
            if let Err(error @ (Uncomparable::Case(_) | Uncomparable::Expected(_))) =
                (case.family.compare)(&expected, expected.answer)
            {
                return Err(uncomparable(case, &error));
            }
            let message = format!("the question cannot be read: {message}");
            let message = shortened(&message, 2 * MAX_CHARACTERS);
            return Err(CaseFailure::new(CaseFailureKind::Error, message));
        }
    };
    // A shortcut: most answers equal the expected one byte for byte, apart from spaces.
    if is_same(case.expected().answer, answer) {
        return Ok(CaseVerdict::Passed);
    }
    let mut differences = (case.family.compare)(&case.expected(), answer)
        .map_err(|error| uncomparable(case, &error))?;
    if differences.is_empty() {
        return Ok(CaseVerdict::Passed);
    }
    let excess = differences.len().saturating_sub(MAX_DIFFERENCES);
    if excess > 0 {
        differences.truncate(MAX_DIFFERENCES);
        differences.push(format!("and {excess} more"));
        // Shrunk, because a batch of cases stays in memory until it is reported.
        differences.shrink_to_fit();
    }
    Err(CaseFailure { kind: CaseFailureKind::Difference, differences, stderr: Vec::new() })
}

fn uncomparable(case: &SuiteCase<'_>, error: &Uncomparable) -> CaseFailure {
    let message = match error {
        Uncomparable::Case(error) => with_column(error),
        Uncomparable::Expected(error) => {
            format!("`{}`: {}", case.family.expectation, with_column(error))
        }
        Uncomparable::Answer(error) => return CaseFailure::unreadable_answer(error),
    };
    CaseFailure::new(CaseFailureKind::NotACase, format!("not a case: {message}"))
}

/// Whether two JSON texts are the same apart from space between their parts.
fn is_same(one: &str, other: &str) -> bool {
    parts(one).eq(parts(other))
}

/// The bytes of a JSON text, without the space between its parts.
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
