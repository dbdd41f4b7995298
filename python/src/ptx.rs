//! PTX loads: checking them, lowering them to SM 5.x, and executing them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyString;
use warpload::encoding::Sm;
use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload_binary::container::{GpuCodeKind, GpuCodes};
use warpload_binary::lines::without_mark;
use warpload_ptx::lower::{OptimizationLevel, lower_statements};
use warpload_ptx::rules::Unit;
use warpload_ptx::run::{Launch, LaunchError, LoadReport, WarpTensorMemory};
use warpload_ptx::syntax::{LineIndex, Span};
use warpload_ptx::tensor::Rules;
use warpload_ptx::{Module, StatementVerdict, check_as, read};
use warpload_report::message::{Labelled, draw_in_source};

use crate::borrowed::Source;
use crate::error::{ErrorKind, Failure, error};
use crate::instruction::Instruction;
use crate::literals::LaneMode;
use crate::open::{Holding, open_image, read_file};

/// The text of a module, and its name in messages.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) source: String,
}

/// The name in messages of a text that is not in a file.
const TEXT: &str = "<text>";

impl Text {
    /// Takes a path, or the text itself, as a `str` or as bytes.
    pub(crate) fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if given.is_instance_of::<PyString>() {
            let text: String = given.extract()?;
            if is_text(&text) {
                return Ok(Self { name: TEXT.to_owned(), source: text.replace("\r\n", "\n") });
            }
        }
        let Ok(path) = given.extract::<PathBuf>() else {
            let bytes = Source::new(given)?;
            let source = text_of(bytes.bytes()?).map_err(|failure| failure.raise(py))?;
            return Ok(Self { name: TEXT.to_owned(), source });
        };
        let read = py.detach(|| Self::of_file(&path));
        read.map_err(|failure| failure.raise(py))
    }

    fn of_file(path: &std::path::Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let named = |failure: Failure| Failure {
            message: format!("{name}: {}", failure.message),
            file: Some(name.clone()),
            ..failure
        };
        let bytes = read_file(path)?;
        let images = (1..).zip(GpuCodes::new(bytes.bytes()));
        let is_ptx = |kind| kind == GpuCodeKind::Ptx;
        let mut modules: Vec<_> =
            images.filter(|(_, image)| image.as_ref().is_ok_and(|one| is_ptx(one.kind))).collect();
        let source = match (modules.pop(), modules.len()) {
            (Some((_, Ok(image))), 0) => {
                let read = image.read().map_err(|error| Failure::of_file(&error, path))?;
                text_of(&read.bytes)
            }
            (Some(_), more) => {
                let message = format!("{} modules; expected one", more + 1);
                Err(Failure::new(ErrorKind::Input, message))
            }
            (None, _) => text_of(bytes.bytes()),
        };
        Ok(Self { source: source.map_err(named)?, name: name.clone() })
    }

    /// Parses the module and calls a function with it.
    pub(crate) fn module<T>(
        &self,
        function: impl FnOnce(&Module<'_>, &LineIndex) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let lines = LineIndex::new(&self.source);
        match read(&self.source) {
            Ok(module) => function(&module, &lines),
            Err(error) => {
                let title = error.kind.to_string();
                Err(self.failure(&lines, ErrorKind::Syntax, &title, error.span))
            }
        }
    }

    /// Describes an error at a place of the module.
    fn failure(&self, lines: &LineIndex, kind: ErrorKind, title: &str, span: Span) -> Failure {
        let label = Labelled { title, rule: None, help: None, span };
        let position = lines.position(span.start);
        Failure {
            file: Some(self.name.clone()),
            position: Some((position.line.into(), position.column.into())),
            span: Some((span.start as usize, span.end as usize)),
            drawing: Some(draw_in_source(&self.name, &self.source, lines, label)),
            ..Failure::new(kind, title)
        }
    }

    /// Refuses a module that breaks a rule, as `ptx check` does.
    pub(crate) fn check(&self, module: &Module<'_>, lines: &LineIndex) -> Result<(), Failure> {
        let verdicts = check_as(module, Unit::Program);
        let mut broken = verdicts.flat_map(|verdict| verdict.violations.into_iter());
        let Some(violation) = broken.next() else { return Ok(()) };
        let failure = self.failure(lines, ErrorKind::Illegal, &violation.message, violation.span);
        let rule = Some(violation.rule.name().to_owned());
        let place = failure.position.map_or(String::new(), |(line, _)| format!("line {line}: "));
        let message = format!("{}: {place}{}", self.name, failure.message);
        Err(Failure { message, rule, help: violation.help.clone(), ..failure })
    }

    /// Draws the broken rules as the command does.
    fn drawings(&self, lines: &LineIndex, verdict: &StatementVerdict) -> Vec<String> {
        let draw = |violation: &warpload_ptx::rules::Violation| {
            let label = Labelled {
                title: &violation.message,
                rule: Some(violation.rule.name()),
                help: violation.help.as_deref(),
                span: violation.span,
            };
            draw_in_source(&self.name, &self.source, lines, label)
        };
        verdict.violations.iter().map(draw).collect()
    }
}

/// Whether `module` is the text itself: it contains code, which a file name would not.
fn is_text(module: &str) -> bool {
    let is_code = module.contains([';', '{', '}']) || module.trim_start().starts_with(".version");
    module.contains(['\n', '\0']) || is_code && !std::path::Path::new(module).exists()
}

fn text_of(bytes: &[u8]) -> Result<String, Failure> {
    if bytes.len() >= u32::MAX as usize {
        let message = "more than 4 GiB; expected a module of PTX";
        return Err(Failure::new(ErrorKind::Input, message));
    }
    let text = std::str::from_utf8(without_mark(bytes))
        .map_err(|_| Failure::new(ErrorKind::Input, "is not UTF-8; expected a module of PTX"))?;
    Ok(text.replace("\r\n", "\n"))
}

/// A broken rule: its name, the message, the line, the column, and the remedy.
type Violation = (&'static str, String, u32, u32, Option<String>);
/// A load: its text, line and column, whether it is legal, and the rules that it breaks.
type CheckedLoad = (String, u32, u32, bool, Vec<Violation>);

/// Checks the loads of a module. Returns its name, whether all is legal, the loads, and a drawing of the errors.
#[pyfunction]
#[pyo3(signature = (module, compile_only))]
pub(crate) fn check_ptx(
    py: Python<'_>,
    module: &Bound<'_, PyAny>,
    compile_only: bool,
) -> PyResult<(String, bool, Vec<CheckedLoad>, String)> {
    let text = Text::new(module)?;
    let unit = if compile_only { Unit::Part } else { Unit::Program };
    let checked = py.detach(|| {
        text.module(|module, lines| {
            let (mut accept, mut loads, mut drawings) = (true, Vec::new(), Vec::new());
            for verdict in check_as(module, unit) {
                accept &= verdict.is_legal();
                if drawings.len() < MAX_DRAWN {
                    drawings.extend(text.drawings(lines, &verdict));
                }
                if verdict.is_declaration() {
                    continue;
                }
                let place = module.statement(verdict.span, lines);
                let violations = verdict.violations.iter().map(|violation| {
                    let at = lines.position(violation.span.start);
                    let (message, help) = (violation.message.clone(), violation.help.clone());
                    (violation.rule.name(), message, at.line, at.column, help)
                });
                let (is_legal, violations) = (verdict.is_legal(), violations.collect());
                loads.push((place.text, place.line, place.column, is_legal, violations));
            }
            Ok((accept, loads, drawings.join("\n")))
        })
    });
    let (accept, loads, drawing) = checked.map_err(|failure| failure.raise(py))?;
    Ok((text.name, accept, loads, drawing))
}

/// The most errors of a module to draw.
const MAX_DRAWN: usize = 1000;

/// A load: its text, line and column, its instructions, and the reason if it has none.
type LoweredLoad = (String, u32, u32, Vec<Instruction>, Option<String>);

/// Lowers the loads of a module to SM 5.x. Returns the module's name too.
#[pyfunction]
#[pyo3(signature = (module, level))]
pub(crate) fn lower_ptx(
    py: Python<'_>,
    module: &Bound<'_, PyAny>,
    level: u8,
) -> PyResult<(String, Vec<LoweredLoad>)> {
    let level = match level {
        0 => OptimizationLevel::O0,
        1 => OptimizationLevel::O1,
        2 => OptimizationLevel::O2,
        3 => OptimizationLevel::O3,
        _ => return Err(error(py, ErrorKind::Argument, "level: expected 0, 1, 2 or 3")),
    };
    let text = Text::new(module)?;
    let lowered = py.detach(|| {
        text.module(|module, lines| {
            let statements = lower_statements(module, level);
            let loads = statements.filter_map(|statement| {
                let result = statement.result()?;
                let place = module.statement(statement.verdict.span, lines);
                let instructions = result.as_ref().map_or(&[][..], |load| &load.instructions);
                let of = |load: &warpload::encoding::Instruction| Instruction {
                    load: *load,
                    sm: Sm::SPA5,
                };
                let sass = instructions.iter().map(of).collect();
                Some((place.text, place.line, place.column, sass, result.err()))
            });
            Ok(loads.collect::<Vec<_>>())
        })
    });
    let loads = lowered.map_err(|failure| failure.raise(py))?;
    Ok((text.name, loads))
}

/// A load: its text, line and column, the lanes that executed, the registers, the faults, its undefined results, the
/// Tensor Memory fault, and the reason why it was not executed.
type RanLoad = (
    String,
    u32,
    u32,
    u32,
    Vec<(String, Vec<Option<u128>>)>,
    BTreeMap<String, u32>,
    BTreeMap<String, u32>,
    Option<String>,
    Option<String>,
);

/// Executes the loads of a function.
#[pyfunction]
#[pyo3(signature = (module, function, image, registers, parameters, places, active, tensor_memory, warp, lane_mode))]
#[allow(clippy::too_many_arguments, reason = "what `warpload.ptx.run` passes on")]
pub(crate) fn run_ptx(
    py: Python<'_>,
    module: &Bound<'_, PyAny>,
    function: Option<String>,
    image: Option<PathBuf>,
    registers: Vec<(String, String)>,
    parameters: Vec<(String, String)>,
    places: Vec<(String, String)>,
    active: u32,
    tensor_memory: Option<&Bound<'_, PyAny>>,
    warp: u32,
    lane_mode: LaneMode,
) -> PyResult<(String, Vec<RanLoad>)> {
    let text = Text::new(module)?;
    let mut launch = Launch::default();
    launch.function = function;
    (launch.registers, launch.parameters, launch.places) = (registers, parameters, places);
    launch.active = LaneMask::from_bits(active);
    if let Some(memory) = tensor_memory {
        let rules = Rules::default().lane_mode(lane_mode.mode());
        let memory = crate::tmem::tensor_memory(memory)?;
        launch.tensor = Some(WarpTensorMemory::new(memory, warp).rules(rules));
    }
    let machine = image.map_or_else(
        || Ok(Machine::default()),
        |image| open_image(&image, Holding::Read).map_err(|failure| failure.raise(py)),
    )?;
    let ran = py.detach(|| {
        text.module(|module, lines| {
            let mut run = launch.prepare(module, machine).map_err(|error| {
                if let LaunchError::Placement(error) = &error
                    && let Some(span) = error.span()
                {
                    return text.failure(lines, ErrorKind::Illegal, &error.to_string(), span);
                }
                let failure = Failure::of(&error, ErrorKind::Argument);
                let message = format!("{}: {}", text.name, failure.message);
                Failure { message, file: Some(text.name.clone()), ..failure }
            })?;
            let mut loads = Vec::new();
            let each = run.each(|step| {
                loads.extend(LoadReport::new(module, lines, step).map(ran_load));
                Ok::<_, std::convert::Infallible>(())
            });
            match each {
                Ok(()) => Ok(loads),
            }
        })
    });
    let loads = ran.map_err(|failure| failure.raise(py))?;
    Ok((text.name, loads))
}

fn ran_load(report: LoadReport) -> RanLoad {
    let masks = |masks: Vec<(String, LaneMask)>| {
        masks.into_iter().map(|(name, lanes)| (name, lanes.bits())).collect()
    };
    let registers =
        report.registers.into_iter().map(|register| (register.name, register.lanes.to_vec()));
    (
        report.text,
        report.line,
        report.column,
        report.executing.map_or(0, LaneMask::bits),
        registers.collect(),
        masks(report.lane_faults),
        masks(report.undefined),
        report.tensor_fault.map(|fault| fault.message),
        report.error,
    )
}
