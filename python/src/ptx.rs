//! PTX loads: checking them, lowering them to SM 5.x, and executing them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyIndexError, PyKeyError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PySequence, PyString};
use warpload::encoding::Sm;
use warpload::lane::{LANES, LaneMask};
use warpload::machine::Machine;
use warpload::text::visible;
use warpload_binary::container::{GpuCodeKind, GpuCodes};
use warpload_binary::lines::without_mark;
use warpload_ptx::lower::lower_statements;
use warpload_ptx::rules::Unit;
use warpload_ptx::run::{Launch, LaunchError, LoadReport, WarpTensorMemory};
use warpload_ptx::syntax::{LineIndex, Span};
use warpload_ptx::tensor::Rules;
use warpload_ptx::{Module, StatementVerdict, check_as, read};
use warpload_report::message::{Labelled, draw_in_source};

use crate::borrowed::Source;
use crate::error::{ErrorKind, Failure};
use crate::instruction::Instruction;
use crate::literals::{LaneMode, NamedValues, PtxModule, TensorContents};
use crate::open::{Holding, open_image, read_file};
use crate::record::{Iter, record};
use crate::words::{Column, column};

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

    /// Reads the module.
    pub(crate) fn read(&self) -> Result<Module<'_>, Failure> {
        read(&self.source).map_err(|error| {
            let lines = LineIndex::new(&self.source);
            self.failure(&lines, ErrorKind::Syntax, &error.kind.to_string(), error.span)
        })
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
    pub(crate) fn check(&self, module: &Module<'_>) -> Result<(), Failure> {
        let verdicts = check_as(module, Unit::Program);
        let mut broken = verdicts.flat_map(|verdict| verdict.violations.into_iter());
        let Some(violation) = broken.next() else { return Ok(()) };
        let (lines, message) = (module.lines(), &violation.message);
        let failure = self.failure(lines, ErrorKind::Illegal, message, violation.span);
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

record! {
/// A rule that a load breaks.
pickled Violation in "warpload.ptx" {
    /// The rule's name, as in docs/ptx.md.
    rule: String,
    /// The error.
    error: String,
    /// The line in the module, from 1.
    line: u32,
    /// The column, in characters, from 1.
    column: u32,
    /// A suggestion; `None` if there is none.
    help: Option<String>,
}
{
    fn __str__(&self) -> String {
        format!("{}:{}: {}", self.line, self.column, self.error)
    }
}
}

record! {
/// A load, and the rules that it breaks.
pickled CheckedLoad in "warpload.ptx" {
    /// The load.
    text: String,
    /// The line in the module, from 1.
    line: u32,
    /// The column, in characters, from 1.
    column: u32,
    /// Whether it is legal.
    accept: bool,
    /// The rules that it breaks.
    violations: Vec<Violation>,
}
}

record! {
/// The loads of a module, as a sequence. True if all are legal.
pickled Check in "warpload.ptx" {
    /// The file of the module, `<text>` if it was given as text.
    file: String,
    /// Whether all are legal.
    accept: bool,
    /// The loads, in the order of the text.
    results: Vec<CheckedLoad>,
    /// The errors, as the command draws them.
    drawing: String,
}
repr |this| {
    let legal = this.results.iter().filter(|load| load.accept).count();
    format!("Check('{}', {legal} of {} loads legal)", visible(&this.file), this.results.len())
};
{
    fn __bool__(&self) -> bool {
        self.accept
    }

    fn __len__(&self) -> usize {
        self.results.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<CheckedLoad> {
        let of_end = if index < 0 { self.results.len() } else { 0 };
        let found = of_end.checked_add_signed(index).and_then(|at| self.results.get(at));
        found.cloned().ok_or_else(|| PyIndexError::new_err("no load with that index"))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Iter<'py, CheckedLoad>> {
        Iter::new(py, self.results.clone())
    }

    fn __str__(&self) -> String {
        match &*self.drawing {
            "" => format!("{} loads, all legal", self.results.len()),
            drawing => drawing.to_owned(),
        }
    }
}
}

/// Checks the loads of a module.
///
/// Parameters
/// ----------
/// module
///     A path, or the text.
/// compile_only
///     Treat the module as a part of a program that is linked later.
///
/// Raises
/// ------
/// Error
///     If it is not a module: the `kind` is `"syntax"`, with the place at fault.
#[pyfunction]
#[pyo3(signature = (module, *, compile_only = false))]
pub(crate) fn check_ptx(
    py: Python<'_>,
    module: PtxModule<'_>,
    compile_only: bool,
) -> PyResult<Check> {
    let text = Text::new(&module.0)?;
    let unit = if compile_only { Unit::Part } else { Unit::Program };
    let checked = py.detach(|| {
        let module = &text.read()?;
        let lines = module.lines();
        let (mut accept, mut results, mut drawings) = (true, Vec::new(), Vec::new());
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
                Violation {
                    rule: violation.rule.name().to_owned(),
                    error: violation.message.clone(),
                    line: at.line,
                    column: at.column,
                    help: violation.help.clone(),
                }
            });
            results.push(CheckedLoad {
                text: place.text,
                line: place.line,
                column: place.column,
                accept: verdict.is_legal(),
                violations: violations.collect(),
            });
        }
        let drawing = drawings.join("\n");
        Ok(Check { file: text.name.clone(), results, accept, drawing })
    });
    checked.map_err(|failure: Failure| failure.raise(py))
}

/// The most errors of a module to draw.
const MAX_DRAWN: usize = 1000;

record! {
/// A load, lowered to SM 5.x.
pickled LoweredLoad in "warpload.ptx" {
    /// The load.
    text: String,
    /// The line in the module, from 1.
    line: u32,
    /// The column, in characters, from 1.
    column: u32,
    /// The instructions; empty if the load becomes a constant operand of another instruction.
    sass: Vec<Instruction>,
    /// The reason if an instruction is missing.
    error: Option<String>,
}
{
    fn __str__(&self) -> String {
        let sass = self.sass.iter().map(|load| load.load.to_string());
        let lines = std::iter::once(self.text.clone()).chain(sass).chain(self.error.clone());
        lines.collect::<Vec<_>>().join("\n  ")
    }
}
}

/// Lowers the loads of a module, each by itself, to SM 5.x.
#[pyfunction]
pub(crate) fn lower_ptx(py: Python<'_>, module: PtxModule<'_>) -> PyResult<Vec<LoweredLoad>> {
    let text = Text::new(&module.0)?;
    let lowered = py.detach(|| {
        let module = &text.read()?;
        let lines = module.lines();
        let loads = lower_statements(module).filter_map(|statement| {
            let result = statement.result()?;
            let place = module.statement(statement.verdict.span, lines);
            let instructions = result.as_ref().map_or(&[][..], |load| &load.instructions);
            let sass = instructions.iter().map(|load| Instruction { load: *load, sm: Sm::SPA5 });
            Some(LoweredLoad {
                text: place.text,
                line: place.line,
                column: place.column,
                sass: sass.collect(),
                error: result.err(),
            })
        });
        Ok(loads.collect())
    });
    lowered.map_err(|failure: Failure| failure.raise(py))
}

record! {
/// A load, and the outcome of executing it.
pickled RanLoad in "warpload.ptx" {
    /// The load.
    text: String,
    /// The line in the module, from 1.
    line: u32,
    /// The column, in characters, from 1.
    column: u32,
    /// The lanes that executed, bit n for lane n.
    executing: u32,
    /// The 32 values of each register that was written, `None` in a lane without a value.
    registers: BTreeMap<String, Vec<Option<u128>>>,
    /// The lanes with a fault, by its kind.
    lane_faults: BTreeMap<String, u32>,
    /// The lanes with an undefined outcome, by the qualifier that does not fit their memory.
    undefined: BTreeMap<String, u32>,
    /// The fault of a load of Tensor Memory; `None` if there is none.
    tensor_fault: Option<String>,
    /// The reason if it was not executed.
    error: Option<String>,
}
{
    /// A register's 32 values as an array of `uint64`, 0 in a lane without one.
    fn array<'py>(&self, py: Python<'py>, register: &str) -> PyResult<Column<'py, u64>> {
        let lanes = self.registers.get(register);
        let lanes = lanes.ok_or_else(|| PyKeyError::new_err(register.to_owned()))?;
        let value = |lane: &Option<u128>| u64::try_from(lane.unwrap_or(0));
        let values = lanes.iter().map(value).collect::<Result<Vec<_>, _>>();
        let too_wide = |_| {
            let message = format!("{register} has more than 64 bits; `registers` has its values");
            PyOverflowError::new_err(message)
        };
        column(py, &values.map_err(too_wide)?)
    }
}
}

/// Executes the loads of a function, in the order of the text.
///
/// Parameters
/// ----------
/// module
///     A path, or the text.
/// function
///     The function's name; may be left out if there is only one.
/// image
///     The manifest of a memory image.
/// registers
///     Values by name: a number for all lanes, 32 numbers, or an expression of `lane`, such as `"0x1000+16*lane"`. A
///     predicate is `True` or `False` for all lanes, 32 of these, or a number, which is a mask, bit n for lane n.
/// parameters
///     Values of the function's parameters by name, or their elements.
/// places
///     The addresses of variables, in bytes.
/// active
///     The active lanes, bit n for lane n.
/// tensor_memory
///     The contents of Tensor Memory: a file of 262,144 bytes, these bytes, or `"pattern:NAME"`.
/// warp
///     The warp's number in its block, which decides the lanes of Tensor Memory that it may read.
/// lane_mode
///     The meaning of the lane in a Tensor Memory address.
#[pyfunction]
#[pyo3(signature = (
    module,
    *,
    function = None,
    image = None,
    registers = None,
    parameters = None,
    places = None,
    active = u32::MAX,
    tensor_memory = None,
    warp = 0,
    lane_mode = LaneMode("strict"),
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python's")]
pub(crate) fn run_ptx(
    py: Python<'_>,
    module: PtxModule<'_>,
    function: Option<String>,
    image: Option<PathBuf>,
    registers: Option<NamedValues<'_>>,
    parameters: Option<NamedValues<'_>>,
    places: Option<NamedValues<'_>>,
    active: u32,
    tensor_memory: Option<TensorContents<'_>>,
    warp: u32,
    lane_mode: LaneMode,
) -> PyResult<Vec<RanLoad>> {
    let text = Text::new(&module.0)?;
    let mut launch = Launch::default();
    launch.function = function;
    launch.registers = expressions(registers, true)?;
    launch.parameters = expressions(parameters, false)?;
    launch.places = expressions(places, false)?;
    launch.active = LaneMask::from_bits(active);
    if let Some(memory) = tensor_memory {
        let rules = Rules::default().lane_mode(lane_mode.mode());
        let memory = crate::tmem::tensor_memory(&memory.0)?;
        launch.tensor = Some(WarpTensorMemory::new(memory, warp).rules(rules));
    }
    let machine = image.map_or_else(
        || Ok(Machine::default()),
        |image| open_image(&image, Holding::Read).map_err(|failure| failure.raise(py)),
    )?;
    let ran = py.detach(|| {
        let module = &text.read()?;
        let lines = module.lines();
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
        let mut results = Vec::new();
        let each = run.each(|step| {
            results.extend(LoadReport::new(module, lines, step).map(RanLoad::of));
            Ok::<_, std::convert::Infallible>(())
        });
        match each {
            Ok(()) => Ok(results),
        }
    });
    ran.map_err(|failure: Failure| failure.raise(py))
}

impl RanLoad {
    fn of(report: LoadReport) -> Self {
        let masks = |masks: Vec<(String, LaneMask)>| {
            masks.into_iter().map(|(name, lanes)| (name, lanes.bits())).collect()
        };
        let registers = report.registers.into_iter();
        Self {
            text: report.text,
            line: report.line,
            column: report.column,
            executing: report.executing.map_or(0, LaneMask::bits),
            registers: registers.map(|one| (one.name, one.lanes.to_vec())).collect(),
            lane_faults: masks(report.lane_faults),
            undefined: masks(report.undefined),
            tensor_fault: report.tensor_fault.map(|fault| fault.message),
            error: report.error,
        }
    }
}

/// Writes values as the command reads them. A truth value of a register is repeated for all lanes, because as a number
/// it would be a mask with lane 0 alone.
fn expressions(values: Option<NamedValues<'_>>, of_lanes: bool) -> PyResult<Vec<(String, String)>> {
    let one = |value: &Bound<'_, PyAny>| match value.cast::<PyBool>() {
        Ok(flag) => Ok(u8::from(flag.is_true()).to_string()),
        Err(_) => Ok::<_, PyErr>(value.str()?.to_string()),
    };
    let written = |value: &Bound<'_, PyAny>| {
        let is_array = value.hasattr("tolist")?;
        let value = if is_array { value.call_method0("tolist")? } else { value.clone() };
        if value.is_instance_of::<PyBool>() && of_lanes {
            return Ok(vec![one(&value)?; LANES].join(","));
        }
        if value.is_instance_of::<PyString>() || value.cast::<PySequence>().is_err() {
            return one(&value);
        }
        let values: Vec<String> =
            value.try_iter()?.map(|value| one(&value?)).collect::<PyResult<_>>()?;
        Ok(values.join(","))
    };
    let entries = crate::memory::entries(values.map(|NamedValues(values)| values))?;
    entries.iter().map(|(name, value)| Ok((name.extract()?, written(value)?))).collect()
}
