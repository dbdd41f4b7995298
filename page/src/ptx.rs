//! [`ptx`]: checks the loads of a module, and explains why loads are illegal.

use serde::{Deserialize, Serialize};
use warpload_ptx::module::StatementText;
use warpload_ptx::rules::Unit;
use warpload_ptx::syntax::{LineIndex, Span};
use warpload_ptx::{check_as, read};
use warpload_report::message::{Labelled, draw_in_source};

use crate::problem::Problem;

/// The limit on verdicts that are shown.
const MAX_VERDICTS: usize = 1000;

/// The form.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
#[serde(default)]
pub struct PtxFields {
    /// The module.
    pub source: String,
    /// `on` if the module is only a part of a program, to be linked later.
    pub part: String,
}

/// The verdicts on a module.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct PtxVerdicts {
    /// The number of legal loads.
    pub legal: usize,
    /// The number of illegal loads and declarations.
    pub illegal: usize,
    /// The first verdicts, at most `MAX_VERDICTS`.
    pub verdicts: Vec<Verdict>,
    /// The reason why the text is not a module.
    pub problems: Vec<Problem>,
}

/// The verdict on a load or a declaration.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Verdict {
    /// The line of the statement, from 1.
    pub line: u32,
    /// Its column in characters, from 1.
    pub column: u32,
    /// Its text on one line.
    pub text: String,
    /// Whether it is legal.
    pub accept: bool,
    /// The violated rules.
    pub violations: Vec<Rule>,
}

/// A violated rule.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Rule {
    /// Its name.
    pub rule: &'static str,
    /// The error.
    pub error: String,
    /// The remedy.
    pub help: Option<String>,
    /// The first character at fault, in UTF-16 code units of the source.
    pub start: usize,
    /// The character after the last one.
    pub end: usize,
    /// The line with the place underlined.
    pub drawing: String,
}

/// Checks the loads of a module against the rules.
#[must_use]
pub fn ptx(fields: &PtxFields) -> PtxVerdicts {
    let source = &fields.source;
    let unit = if fields.part.is_empty() { Unit::Program } else { Unit::Part };
    let lines = LineIndex::new(source);
    let module = match read(source) {
        Ok(module) => module,
        Err(error) => {
            let title = error.kind.to_string();
            let label = Labelled { title: &title, rule: None, help: None, span: error.span };
            let drawing = draw_in_source("source", source, &lines, label);
            let problem = Problem { field: "source", title, drawing, help: None };
            return PtxVerdicts { problems: vec![problem], ..PtxVerdicts::default() };
        }
    };
    let mut answer = PtxVerdicts::default();
    let mut places = Places { source, byte: 0, units: 0 };
    for verdict in check_as(&module, unit) {
        let accept = verdict.is_legal();
        *(if accept { &mut answer.legal } else { &mut answer.illegal }) += 1;
        if answer.verdicts.len() == MAX_VERDICTS {
            continue;
        }
        let violations = verdict.violations.iter().map(|violation| {
            let (start, end) = places.of(violation.span);
            let label = Labelled {
                title: &violation.message,
                rule: Some(violation.rule.name()),
                help: violation.help.as_deref(),
                span: violation.span,
            };
            Rule {
                rule: violation.rule.name(),
                error: violation.message.clone(),
                help: violation.help.clone(),
                start,
                end,
                drawing: draw_in_source("source", source, &lines, label),
            }
        });
        let violations = violations.collect();
        let StatementText { line, column, text } = module.statement(verdict.span, &lines);
        answer.verdicts.push(Verdict { line, column, text, accept, violations });
    }
    answer
}

/// Converts offsets in bytes to UTF-16 code units, because JavaScript indexes text by them. Counts on from the last
/// place, because verdicts are nearly in order.
struct Places<'s> {
    source: &'s str,
    byte: usize,
    units: usize,
}

impl Places<'_> {
    fn of(&mut self, span: Span) -> (usize, usize) {
        (self.at(span.start as usize), self.at(span.end as usize))
    }

    fn at(&mut self, byte: usize) -> usize {
        let units = |range| {
            let text: Option<&str> = self.source.get(range);
            text.map_or(0, |text| text.encode_utf16().count())
        };
        let counted = match byte >= self.byte {
            true => self.units + units(self.byte..byte),
            false => self.units - units(byte..self.byte),
        };
        (self.byte, self.units) = (byte, counted);
        counted
    }
}
