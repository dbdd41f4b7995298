//! `conform`: checks an emulator against the conformance suite. The emulator is a Python function, a program or one of
//! our own executors.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::exceptions::{PyException, PyNotImplementedError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTracebackMethods};
use warpload::load::Executor as Ours;
use warpload::text::visible;
use warpload_binary::file_kind::FileKind;
use warpload_suite::asking::{ChosenCases, FunctionExaminee};
use warpload_suite::case::{CaseChoice, CaseFile, CaseLine, files_in};
use warpload_suite::families::{self, Answerer, CaseAnswer, UnopenedTrace};
use warpload_suite::outcome::{self, CaseFailureKind, CaseOutcome, CaseVerdict};
use warpload_suite::program::{Program, ProgramExaminee};
use warpload_suite::runner::{AskError, Examinee as Examined, ReadCasesError, Runner};
use warpload_suite::tally::{CaseCounts, CaseSummary, CaseTally, FlagCounts as FlagRow};

use crate::error::{ErrorKind, Failure, error};
use crate::literals::{Examinee, Executor, FailureKind, Family, Suite};
use crate::notebook::{escaped, html_table};
use crate::objects::text_objects;
use crate::open::{Holding, open_trace, read_file};
use crate::options::json_text;
use crate::record::record;
use crate::waiting::{Shared, ending_programs, wait};

record! {
/// A failed case: its answer differs from the expected one, or is missing.
CaseFailure in "warpload" {
    /// The file of the case.
    file: String,
    /// The line in the file, from 1.
    line: u64,
    /// The case's name in its suite; `None` if it has none.
    id: Option<String>,
    /// The family; `None` if the line is not a case.
    family: Option<Family>,
    /// The flags: properties that the case tests.
    flags: Vec<String>,
    /// The kind of failure.
    kind: FailureKind,
    /// The differences between the answer and the expected one, or other reasons for the failure, one line each.
    differences: Vec<String>,
    /// The end of the standard error of a program that gave no answer, or of the traceback of a function that raised.
    stderr: Vec<String>,
}
repr |this| {
    let id = this.id.as_deref().unwrap_or("-");
    let first = this.differences.first().map_or("", String::as_str);
    format!("CaseFailure({}: {})", visible(id), visible(first))
};
{
    fn __str__(&self) -> String {
        // An examinee's answers and exceptions are not ours, and a terminal obeys control characters.
        let title = visible(self.id.as_deref().unwrap_or("a case"));
        let lines = self.differences.iter().chain(&self.stderr);
        let lines: String = lines.map(|line| format!("\n  {}", visible(line))).collect();
        format!("{}:{}: {title}{lines}", visible(&self.file), self.line)
    }
}
}

/// Outcomes of the cases that have one flag.
#[pyclass(frozen, eq, get_all, module = "warpload")]
#[derive(Clone, PartialEq)]
pub(crate) struct FlagCounts {
    /// The family of the cases.
    family: Family,
    /// The flag.
    flag: String,
    /// The number of cases that passed.
    passed: u64,
    /// The number of cases that failed.
    failed: u64,
    /// The number of cases that were skipped.
    skipped: u64,
    /// How well the flag separates failed cases from passed ones, 0 to 1.
    explains: f64,
}

#[pymethods]
impl FlagCounts {
    fn __repr__(&self) -> String {
        let Self { family: Family(family), flag, passed, failed, skipped, .. } = self;
        let flag = visible(flag);
        format!("FlagCounts({family}, {flag}: {passed} passed, {failed} failed, {skipped} skipped)")
    }
}

/// The result of checking an emulator against a suite. True if no case failed and at least one passed.
///
/// `str()` describes the failures' common properties; a notebook shows the flags that explain them.
#[pyclass(frozen, eq, get_all, module = "warpload")]
#[derive(Clone, PartialEq)]
pub(crate) struct Conformance {
    /// How many cases passed.
    passed: u64,
    /// How many cases failed.
    failed: u64,
    /// How many cases were skipped.
    skipped: u64,
    /// For each family, the numbers of cases that passed, failed and were skipped.
    families: BTreeMap<Family, (u64, u64, u64)>,
    /// The flags; the best explanation of their family's failures comes first.
    flags: Vec<FlagCounts>,
    /// The failures' common properties, a sentence each.
    explanations: Vec<String>,
    /// Reasons for skipped cases, each with its number of cases.
    skips: BTreeMap<String, u64>,
    /// The first failures, at most as many as `conform` was asked for.
    failures: Vec<CaseFailure>,
}

#[pymethods]
impl Conformance {
    fn __bool__(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    fn __str__(&self) -> String {
        let sentences: String =
            self.explanations.iter().map(|sentence| format!("{}\n", visible(sentence))).collect();
        sentences + &self.counts()
    }

    fn __repr__(&self) -> String {
        format!("Conformance({})", self.counts())
    }

    fn _repr_html_(&self) -> String {
        let row = |row: &FlagCounts| {
            let counts = [row.failed, row.passed + row.failed];
            let [failed, all] = counts.map(|count| count.to_string());
            [escaped(row.family.0), escaped(&row.flag), failed, all]
        };
        let mut failing = self.flags.iter().filter(|flag| flag.failed > 0).take(10).peekable();
        let sentences = self.explanations.iter();
        let sentences: String =
            sentences.map(|sentence| format!("<li>{}</li>", escaped(sentence))).collect();
        let heads = ["family", "flag", "failed", "of"];
        let is_empty = failing.peek().is_none();
        let table = if is_empty { String::new() } else { html_table(heads, failing.map(row)) };
        format!("<p><strong>{}</strong></p><ul>{sentences}</ul>{table}", self.counts())
    }
}

impl Conformance {
    fn counts(&self) -> String {
        format!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// The outcomes so far.
struct Found {
    tally: CaseTally,
    failures: Vec<CaseFailure>,
    /// The most failures to keep.
    most: usize,
}

impl Found {
    fn add(&mut self, judged: &[(CaseLine, CaseOutcome)]) {
        for (line, outcome) in judged {
            self.tally.add(outcome);
            let CaseVerdict::Failed(failure) = &outcome.verdict else { continue };
            if self.failures.len() < self.most {
                self.failures.push(CaseFailure {
                    file: line.file.name.clone(),
                    line: line.number,
                    id: outcome.about.id.clone(),
                    family: outcome.family.map(Family),
                    flags: outcome.about.flags.clone(),
                    kind: FailureKind(failure.kind.name()),
                    differences: failure.differences.clone(),
                    stderr: failure.stderr.clone(),
                });
            }
        }
    }

    fn report(self) -> Conformance {
        let Self { tally, failures, .. } = self;
        let flag = |row: FlagRow| FlagCounts {
            family: Family(row.family),
            flag: row.flag,
            passed: row.counts.passed,
            failed: row.counts.failed,
            skipped: row.counts.skipped,
            explains: row.explains,
        };
        let CaseSummary { counts, families, flags, explanations, skips } = tally.summary();
        let triple = |counts: CaseCounts| (counts.passed, counts.failed, counts.skipped);
        let families = families.into_iter().map(|row| (Family(row.family), triple(row.counts)));
        Conformance {
            passed: counts.passed,
            failed: counts.failed,
            skipped: counts.skipped,
            families: families.collect(),
            flags: flags.into_iter().map(flag).collect(),
            explanations,
            skips: skips.into_iter().map(|skip| (skip.reason, skip.cases)).collect(),
            failures,
        }
    }
}

/// The questions of a run. They do not depend on the examinee.
#[derive(Clone)]
struct Exam {
    files: Vec<PathBuf>,
    choice: CaseChoice,
    /// The most failures to keep.
    failures: usize,
}

impl Exam {
    fn run<E: Examined>(
        &self,
        examinees: Vec<E>,
        interrupt: &AtomicBool,
    ) -> Result<Conformance, Failure> {
        let mut found =
            Found { tally: CaseTally::default(), failures: Vec::new(), most: self.failures };
        let mut runner = Runner::new(examinees, &|_| {}).interrupt(interrupt);
        for path in &self.files {
            let bytes = read_file(path)?;
            if let Some(kind) = FileKind::detect(bytes.bytes()) {
                return Err(Failure::of_file(&std::io::Error::other(kind.to_string()), path));
            }
            let file = Arc::new(CaseFile::new(&path.display().to_string(), Some(path)));
            let read = runner.read::<Infallible>(&file, bytes.bytes(), |judged| {
                found.add(judged);
                Ok(())
            });
            read.map_err(|error| match error {
                ReadCasesError::Ask(error) => Failure::of(&error, ErrorKind::Input),
                error => Failure::of_file(&error, path),
            })?;
        }
        let judged = runner.judge(true).map_err(|error| Failure::of(&error, ErrorKind::Input))?;
        found.add(&judged);
        match found.tally.nothing_chosen(&self.choice) {
            Some(nothing) => Err(Failure::new(ErrorKind::Selection, nothing)),
            None => Ok(found.report()),
        }
    }

    fn cases(&self) -> ChosenCases<'_> {
        ChosenCases { choice: &self.choice, on_file: &|_| {} }
    }
}

/// Checks an emulator against the conformance suite.
///
/// Ctrl-C, SIGTERM and exceptions of other signal handlers end the program, and then this call. SIGTERM does so only on
/// the main thread, because Python handles signals there.
///
/// Parameters
/// ----------
/// suite
///     A file of cases, one JSON object a line, or a folder of them, or several.
/// examinee
///     The emulator: a function that takes a question, a `dict`, and returns the answer, a `dict`, or `None` for
///     unsupported questions; or a program with its arguments, as a list or as a text that is split as a shell does.
///     Without it, our own executors are asked. docs/conformance.md has the questions and answers. If a function raises
///     `NotImplementedError`, the case is skipped; any other exception fails the case.
/// executor
///     Which of our own executors to ask: `"fast"`, `"reference"`, or `"both"`, each of which must give the expected
///     answer. `"both"` by default.
/// families
///     Only cases of these families; of all families if empty.
/// flags
///     Only cases with one of these flags; all cases if empty.
/// skip_decisions
///     Whether to skip cases that no public source decides.
/// jobs
///     How many instances of a program, or threads of our own executors, to ask at the same time, 1 by default. A
///     function is called on the current thread alone.
/// timeout
///     The longest time that a program may take for an answer, in seconds, 10 by default.
/// failures
///     The most failures that the report lists one by one.
///
/// Raises
/// ------
/// Error
///     If a file cannot be read or is not text (`kind` is `"input"`), a program cannot be started (`"system"`) or does
///     not answer (`"input"`), or no case is chosen (`"selection"`).
#[pyfunction]
#[pyo3(signature = (
    suite,
    examinee = None,
    *,
    executor = None,
    families = Vec::new(),
    flags = Vec::new(),
    skip_decisions = false,
    jobs = None,
    timeout = None,
    failures = 100,
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python's")]
pub(crate) fn conform(
    py: Python<'_>,
    suite: Suite<'_>,
    examinee: Option<Examinee<'_>>,
    executor: Option<Executor>,
    families: Vec<Family>,
    flags: Vec<String>,
    skip_decisions: bool,
    jobs: Option<u16>,
    timeout: Option<f64>,
    failures: usize,
) -> PyResult<Conformance> {
    let choice = CaseChoice {
        families: families.into_iter().map(|Family(name)| name.to_owned()).collect(),
        flags,
        skip_decisions: skip_decisions.then(|| "no public source decides".to_owned()),
    };
    let exam = Exam { files: files(py, &suite.0)?, choice, failures };
    let argument = |message: &str| error(py, ErrorKind::Argument, message);
    let examinee = examinee.map(|Examinee(examinee)| examinee);
    if examinee.is_some() && executor.is_some() {
        return Err(argument("executor: only valid without an examinee; leave one of them out"));
    }
    let function = examinee.as_ref().filter(|examinee| examinee.is_callable());
    if timeout.is_some() && (examinee.is_none() || function.is_some()) {
        return Err(argument("timeout: only valid with a program; leave it out"));
    }
    if let Some(function) = function {
        return match jobs {
            None | Some(1) => ask_function(&exam, function),
            Some(_) => Err(argument("jobs: only this thread can call a function; leave it out")),
        };
    }
    let jobs = 0..jobs.unwrap_or(1).max(1);
    let has_programs = examinee.is_some();
    let shared = Arc::new(Shared { has_programs, ..Shared::default() });
    let interrupt = Arc::clone(&shared.interrupt);
    let Some(program) = examinee else {
        let executors = executor.unwrap_or(Executor("both")).list();
        let function = |executor: &Ours| {
            let mut answerer = Answerer::new(*executor).opening(open);
            let answer = move |question: &str| Ok(Ok(families::answer(question, &mut answerer)));
            (executor.name(), answer)
        };
        let work = move || {
            let functions = || executors.iter().map(function).collect();
            let one = |_| FunctionExaminee::new(functions(), exam.cases());
            exam.run(jobs.map(one).collect(), &interrupt)
        };
        return wait(py, &shared, None, work)?.map_err(|failure| failure.raise(py));
    };
    let words = words(&program).map_err(|message| argument(&message))?;
    let timeout = Duration::try_from_secs_f64(timeout.unwrap_or(10.0)).ok();
    let timeout = timeout.filter(|one| !one.is_zero());
    let timeout =
        timeout.ok_or_else(|| argument("timeout: expected a number of seconds above 0"))?;
    let work = move || {
        let mut words = words.into_iter();
        let name = words.next().unwrap_or_default();
        let program = Program::new(name, words.collect(), timeout);
        let failed = |error| Failure::of(&error, ErrorKind::Input);
        program.check_starts().map_err(failed)?;
        let one = |_| ProgramExaminee::new(&program, exam.cases());
        exam.run(jobs.map(one).collect(), &interrupt)
    };
    ending_programs(py, || wait(py, &shared, None, work))?.map_err(|failure| failure.raise(py))
}

fn files(py: Python<'_>, suite: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let paths = match suite.extract::<PathBuf>() {
        Ok(path) => vec![path],
        Err(_) => suite.try_iter()?.map(|path| path?.extract()).collect::<PyResult<_>>()?,
    };
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(
                files_in(&path).map_err(|error| Failure::of_file(&error, &path).raise(py))?,
            ),
            false => files.push(path),
        }
    }
    Ok(files)
}

/// Splits the command of a program into words.
fn words(examinee: &Bound<'_, PyAny>) -> Result<Vec<String>, String> {
    let words = match examinee.cast::<PyString>() {
        Ok(command) => shlex::split(&command.to_string_lossy())
            .ok_or_else(|| "examinee: a quotation is not closed".to_owned())?,
        Err(_) => examinee.extract().map_err(|_| {
            "examinee: expected a function, or a command as a str or a list of str".to_owned()
        })?,
    };
    if words.is_empty() { Err("examinee: expected a program".to_owned()) } else { Ok(words) }
}

/// Opens a trace that a question names.
fn open(path: &Path) -> Result<warpload_trace::BinaryTrace, UnopenedTrace> {
    let opened = open_trace(
        path,
        Some(std::num::NonZero::<usize>::MIN),
        Holding::Read,
        &AtomicBool::new(false),
    );
    opened.map_err(|failure| match failure.kind {
        ErrorKind::System => UnopenedTrace::Failed(failure.message),
        _ => UnopenedTrace::Refused,
    })
}

/// Asks a Python function on the current thread, which holds the interpreter's lock.
fn ask_function(exam: &Exam, function: &Bound<'_, PyAny>) -> PyResult<Conformance> {
    let py = function.py();
    let function = function.clone().unbind();
    // An exception that ends the run and is not a case's failure, such as Ctrl-C.
    let raised = Mutex::new(None);
    let ask = |question: &str| {
        Python::attach(|py| {
            answered(function.bind(py), question).map_err(|failed| {
                *raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(failed);
                AskError::Interrupted
            })
        })
    };
    let examinee = FunctionExaminee::new(vec![("", ask)], exam.cases());
    let report = exam.run(vec![examinee], &AtomicBool::new(false));
    match raised.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(raised) => Err(raised),
        None => report.map_err(|failure| failure.raise(py)),
    }
}

/// Calls the function, and turns its exceptions into outcomes of the case.
///
/// # Errors
/// Exceptions that are not an `Exception`, such as `KeyboardInterrupt`, end the run.
fn answered(
    function: &Bound<'_, PyAny>,
    question: &str,
) -> PyResult<Result<CaseAnswer, outcome::CaseFailure>> {
    let py = function.py();
    let answer = text_objects(py, question).and_then(|question| function.call1((question,)));
    let raised = match answer
        .and_then(|answer| if answer.is_none() { Ok(None) } else { json_text(&answer).map(Some) })
    {
        Ok(None) => return Ok(Ok(CaseAnswer::Skip("no answer".to_owned()))),
        Ok(Some(json)) => return Ok(CaseAnswer::from_line(json.as_bytes())),
        Err(raised) => raised,
    };
    if !raised.is_instance_of::<PyException>(py) {
        return Err(raised);
    }
    if raised.is_instance_of::<PyNotImplementedError>(py) {
        return Ok(Ok(CaseAnswer::Skip(raised.value(py).to_string())));
    }
    let traceback = raised.traceback(py).and_then(|traceback| traceback.format().ok());
    let lines: Vec<String> =
        traceback.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    Ok(Err(outcome::CaseFailure {
        kind: CaseFailureKind::Crash,
        differences: vec![raised.to_string()],
        stderr: lines[lines.len().saturating_sub(MAX_LINES)..].to_vec(),
    }))
}

/// The most lines of a traceback to keep.
const MAX_LINES: usize = 10;
