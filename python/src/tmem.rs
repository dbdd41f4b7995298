//! Tensor Memory and the loads from it, `tcgen05.ld` and `LDTM`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyString;
use warpload::encoding::Instruction as Load;
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::syntax::LineIndex;
use warpload_ptx::tensor::{
    CellOffset, Form, Half, Issue, Pattern, Rules, SassTensorLoad, Shape, TensorAddress,
    TensorFault, TensorInstruction, TensorInstructionError, TensorLoad, TensorMemory,
    TensorRegisters, TensorRun,
};
use warpload_report::message::{Labelled, draw_in_source};
use warpload_report::{TensorMapDrawing, draw_tensor_load};

use crate::arrays::{Words, copy_of, copy_of_rows};
use crate::borrowed::Source;
use crate::error::{ErrorKind, Failure, error};
use crate::explain::instruction_of;
use crate::instruction::SmArgument;
use crate::literals::LaneMode;
use crate::open::read_file;

/// The thread and register that each cell of a load goes to.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct TensorMap {
    load: TensorLoad,
    half: Option<Half>,
    threads: std::ops::Range<usize>,
    /// The heading of the drawing.
    heading: String,
}

#[pymethods]
impl TensorMap {
    /// `shape` is a PTX shape, with its repeat, or, with `sm`, the word or text of an `LDTM`.
    #[new]
    #[pyo3(signature = (shape, repeat = None, *, pack = false, sm: "str | SupportsIndex | None" = None))]
    fn new(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        repeat: Option<u32>,
        pack: bool,
        sm: Option<SmArgument>,
    ) -> PyResult<Self> {
        let wrong = |message: String| error(py, ErrorKind::Argument, message);
        if let Some(sm) = sm {
            if repeat.is_some() || pack {
                let message = "`sm` is only valid with the word or text of an LDTM, not with a \
                               shape";
                return Err(wrong(message.to_owned()));
            }
            let (load, tensor) = tensor_load(py, shape, sm)?;
            let (address, first) = (tensor.shown_address(), tensor.destination);
            let heading = format!("{load}: address {address}, register 0 is {first}\n");
            let threads = tensor.threads();
            return Ok(Self { load: tensor.load, half: tensor.half, threads, heading });
        }
        let name: String = shape.extract()?;
        let shape: Shape = name.strip_prefix('.').unwrap_or(&name).parse().map_err(|_| {
            let names = Shape::ALL.map(Shape::name).join(", ");
            wrong(format!(
                "shape: expected one of {names}; for an instruction of SASS, give its SM"
            ))
        })?;
        let repeat = repeat.ok_or_else(|| {
            wrong("a shape needs its repeat: 1, 2, 4 and so on up to 128".to_owned())
        })?;
        // The offset of the second half does not change the picture.
        let split = (shape == Shape::S16x32bx2).then_some(0);
        let load = TensorLoad::new(Form { pack, split, ..Form::plain(shape, repeat) });
        let load = load.map_err(|illegal| error(py, ErrorKind::Illegal, illegal))?;
        Ok(Self { load, half: None, threads: 0..LANES, heading: String::new() })
    }

    /// Each cell: the thread, the register, the half, the lane and the columns.
    #[getter]
    fn cells(&self) -> Vec<(usize, usize, usize, usize, Vec<usize>)> {
        let registers = 0..self.load.registers();
        let cell = |thread, register| {
            let CellOffset { second_half, lane, column } = self.load.shape().cell(thread, register);
            let columns = self.load.memory_columns(column).collect();
            (thread, register, usize::from(second_half), lane, columns)
        };
        let of_thread = |thread| registers.clone().map(move |register| cell(thread, register));
        self.threads.clone().flat_map(of_thread).collect()
    }

    /// The text that the command prints.
    #[getter]
    fn drawing(&self) -> String {
        let drawing =
            self.heading.clone() + &TensorMapDrawing::new(&self.load, self.half).text(false);
        drawing.trim_end().to_owned()
    }

    /// The picture.
    #[getter]
    fn svg(&self) -> String {
        TensorMapDrawing::new(&self.load, self.half).svg()
    }
}

/// Decodes or parses an `LDTM`.
fn tensor_load(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    sm: SmArgument,
) -> PyResult<(Load, SassTensorLoad)> {
    let load = instruction_of(py, given, sm)?.load;
    let tensor = SassTensorLoad::new(&load)
        .map_err(|failed| error(py, ErrorKind::Illegal, format_args!("{load}: {failed}")))?;
    Ok((load, tensor))
}

/// The result of a Tensor Memory load.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct TensorLoaded {
    given: TensorInstruction,
    issue: Issue,
    /// Boxed, because registers need a larger alignment than Python objects have.
    registers: Box<TensorRegisters>,
}

/// Executes a load in PTX syntax or, with `sm`, an `LDTM`.
#[pyfunction]
#[pyo3(signature = (
    instruction,
    memory,
    *,
    warp = 0,
    taddr = 0,
    sm: "str | SupportsIndex | None" = None,
    lane_mode = LaneMode("strict"),
    hardware_alignment = false,
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python's")]
pub(crate) fn run_tensor_load(
    py: Python<'_>,
    instruction: &Bound<'_, PyAny>,
    memory: &Bound<'_, PyAny>,
    warp: u32,
    taddr: u32,
    sm: Option<SmArgument>,
    lane_mode: LaneMode,
    hardware_alignment: bool,
) -> PyResult<TensorLoaded> {
    let given = match sm {
        Some(sm) => {
            let (load, tensor) = tensor_load(py, instruction, sm)?;
            TensorInstruction::of_sass(&load, &tensor)
                .map_err(|wrong| error(py, ErrorKind::Illegal, wrong))?
        }
        None => {
            let text: String = instruction.extract()?;
            TensorInstruction::parse(&text).map_err(|wrong| illegal(&text, &wrong).raise(py))?
        }
    };
    let lane_mode = lane_mode.mode();
    let memory = tensor_memory(memory)?;
    let rules = Rules::default().lane_mode(lane_mode).hardware_alignment(hardware_alignment);
    let run = TensorRun { warp, address: TensorAddress(taddr), rules };
    match run.execute(&given, &memory) {
        Ok((issue, registers)) => Ok(TensorLoaded { given, issue, registers: registers.into() }),
        Err(fault) => {
            let mut failure =
                Failure::new(ErrorKind::Illegal, format_args!("{}: {fault}", fault.code()));
            failure.rule = Some(fault.code().to_owned());
            if let TensorFault::LaneSlab { .. } = fault {
                failure.help = Some("the option is lane_mode=\"wrap\"".to_owned());
            }
            Err(failure.raise(py))
        }
    }
}

/// Describes the syntax error of a load, and underlines its place.
fn illegal(text: &str, wrong: &TensorInstructionError) -> Failure {
    let TensorInstructionError { code, message, span, .. } = wrong;
    let lines = LineIndex::new(text);
    let rule = Some(*code).filter(|code| *code != "syntax");
    let kind = if rule.is_some() { ErrorKind::Illegal } else { ErrorKind::Syntax };
    let label = Labelled { title: message, rule, help: None, span: *span };
    let position = lines.position(span.start);
    Failure {
        file: Some("<argument>".to_owned()),
        position: Some((position.line.into(), position.column.into())),
        span: Some((span.start as usize, span.end as usize)),
        rule: rule.map(str::to_owned),
        drawing: Some(draw_in_source("<argument>", text, &lines, label)),
        ..Failure::new(kind, message)
    }
}

/// Makes Tensor Memory: from a pattern, a file, or bytes.
pub(crate) fn tensor_memory(given: &Bound<'_, PyAny>) -> PyResult<TensorMemory> {
    let py = given.py();
    let wrong = |message: String| error(py, ErrorKind::Argument, message);
    if given.is_instance_of::<PyString>() {
        let text: String = given.extract()?;
        if let Some(name) = text.strip_prefix("pattern:") {
            let pattern: Pattern = name.parse().map_err(|_| {
                let names = Pattern::ALL.map(Pattern::name).join(", ");
                wrong(format!("unknown pattern; expected one of {names}"))
            })?;
            return Ok(TensorMemory::filled(pattern));
        }
    }
    if let Ok(path) = given.extract::<PathBuf>() {
        let bytes = read_file(&path).map_err(|failure| failure.raise(py))?;
        return TensorMemory::from_bytes(bytes.bytes())
            .map_err(|failed| Failure::of_file(&failed, &path).raise(py));
    }
    let source = Source::new(given)?;
    TensorMemory::from_bytes(source.bytes()?).map_err(|failed| wrong(failed.to_string()))
}

#[pymethods]
impl TensorLoaded {
    /// The instruction.
    #[getter]
    fn instruction(&self) -> &str {
        &self.given.text
    }

    /// The registers, `(n, 32)` of `uint32`: register by register, thread 0 first; 0 in a thread that does not load.
    #[getter]
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        let rows: Vec<LaneValues> =
            self.registers.data().iter().map(|row| self.loaded(row)).collect();
        copy_of_rows(py, &rows)
    }

    /// The threads that load, bit n for thread n.
    #[getter]
    fn loads(&self) -> u32 {
        self.given.threads.clone().map(|thread| 1 << thread).sum()
    }

    /// The 32 results of a reduction; `None` if there is none.
    #[getter]
    fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Option<Words<'py>>> {
        let reduced = self.registers.reduced();
        reduced.map(|reduced| copy_of(py, &self.loaded(reduced))).transpose()
    }

    /// The text that the command prints.
    #[getter]
    fn drawing(&self) -> String {
        let drawing = draw_tensor_load(&self.given, self.issue, &self.registers);
        drawing.trim_end().to_owned()
    }
}

impl TensorLoaded {
    /// Zeroes the values of threads that do not load.
    fn loaded(&self, row: &LaneValues) -> LaneValues {
        std::array::from_fn(
            |thread| {
                if self.given.threads.contains(&thread) { row[thread] } else { 0 }
            },
        )
    }
}
