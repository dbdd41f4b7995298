//! Tensor Memory and the loads from it, `tcgen05.ld` and `LDTM`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use warpload::encoding::Instruction as Load;
use warpload::lane::{LANES, LaneValues};
use warpload::text::visible;
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
use crate::literals::{LaneMode, TensorContents};
use crate::open::read_file;
use crate::record::{Iter, record};

record! {
/// The source of a thread's register.
pickled Cell in "warpload.tmem" {
    /// The thread, 0 to 31.
    thread: usize,
    /// The register, from 0.
    register: usize,
    /// 1 in the second half of a `.16x32bx2`, else 0.
    half: usize,
    /// The lane of Tensor Memory.
    lane: usize,
    /// The columns: two if it packs them, else one.
    columns: Vec<usize>,
}
}

/// The thread and register that each cell of a load goes to.
///
/// `str()` is the drawing that the command prints; a notebook shows a picture.
#[pyclass(frozen, eq, module = "warpload.tmem")]
#[derive(PartialEq)]
pub(crate) struct Map {
    load: TensorLoad,
    half: Option<Half>,
    threads: std::ops::Range<usize>,
    /// The heading of the drawing.
    heading: String,
}

/// Draws the thread and register that each cell of a load goes to.
///
/// Parameters
/// ----------
/// shape
///     `16x64b`, `16x128b`, `16x256b`, `32x32b` or `16x32bx2`; with `sm`, the word or text of an `LDTM`.
/// repeat
///     The number of repetitions: 1, 2, 4 and so on up to 128, or `"x4"`.
/// pack
///     Pack two neighbouring 16-bit columns into one register.
/// sm
///     The SM of the word or text.
#[pyfunction]
#[pyo3(signature = (
    shape: "SupportsIndex | str | Instruction",
    repeat: "str | SupportsIndex | None" = None,
    *,
    pack = false,
    sm: "str | SupportsIndex | None" = None,
))]
pub(crate) fn tensor_map(
    py: Python<'_>,
    shape: &Bound<'_, PyAny>,
    repeat: Option<&Bound<'_, PyAny>>,
    pack: bool,
    sm: Option<SmArgument>,
) -> PyResult<Map> {
    let wrong = |message: String| error(py, ErrorKind::Argument, message);
    if let Some(sm) = sm {
        if repeat.is_some() || pack {
            let message = "`sm` is only valid with the word or text of an LDTM, not with a shape";
            return Err(wrong(message.to_owned()));
        }
        let (load, tensor) = tensor_load(py, shape, sm)?;
        let (address, first) = (tensor.shown_address(), tensor.destination);
        let heading = format!("{load}: address {address}, register 0 is {first}\n");
        let threads = tensor.threads();
        return Ok(Map { load: tensor.load, half: tensor.half, threads, heading });
    }
    let name: String = shape.extract()?;
    let shape: Shape = name.strip_prefix('.').unwrap_or(&name).parse().map_err(|_| {
        let names = Shape::ALL.map(Shape::name).join(", ");
        wrong(format!("shape: expected one of {names}; for an instruction of SASS, give its SM"))
    })?;
    let repeat = repeat
        .ok_or_else(|| wrong("a shape needs its repeat: 1, 2, 4 and so on up to 128".to_owned()))?;
    let repeat = match repeat.cast::<PyString>() {
        Ok(text) => {
            let text = text.to_string();
            let digits = text.strip_prefix('.').unwrap_or(&text);
            digits.strip_prefix('x').unwrap_or(digits).parse().map_err(|_| {
                wrong(format!("repeat: expected a number, such as 4 or \"x4\", not {text:?}"))
            })?
        }
        Err(_) => repeat.extract()?,
    };
    // The offset of the second half does not change the picture.
    let split = (shape == Shape::S16x32bx2).then_some(0);
    let load = TensorLoad::new(Form { pack, split, ..Form::plain(shape, repeat) });
    let load = load.map_err(|illegal| error(py, ErrorKind::Illegal, illegal))?;
    Ok(Map { load, half: None, threads: 0..LANES, heading: String::new() })
}

#[pymethods]
impl Map {
    /// The cells, thread by thread. The map is iterable, too.
    #[getter]
    fn cells(&self) -> Vec<Cell> {
        let registers = 0..self.load.registers();
        let cell = |thread, register| {
            let CellOffset { second_half, lane, column } = self.load.shape().cell(thread, register);
            let columns = self.load.memory_columns(column).collect();
            Cell { thread, register, half: usize::from(second_half), lane, columns }
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

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Iter<'py, Cell>> {
        Iter::new(py, self.cells())
    }

    fn __len__(&self) -> usize {
        self.threads.len() * self.load.registers()
    }

    fn __str__(&self) -> String {
        self.drawing()
    }

    fn __repr__(&self) -> String {
        format!("Map({} cells)", self.__len__())
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
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

/// The registers of the 32 threads after a load from Tensor Memory.
#[pyclass(frozen, eq, hash, module = "warpload.tmem")]
#[derive(PartialEq, Hash)]
pub(crate) struct Loaded {
    instruction: String,
    registers: Vec<LaneValues>,
    executing: u32,
    reduced: Option<LaneValues>,
    drawing: String,
}

/// Executes a load from Tensor Memory.
///
/// Parameters
/// ----------
/// instruction
///     The load in PTX syntax or, with `sm`, the word or text of an `LDTM`.
/// warp
///     The warp's number in its thread block; its value modulo 4 decides the lanes that it may read.
/// taddr
///     The value of the address register: the lane times 65,536, plus the column.
/// memory
///     The contents of Tensor Memory: a file of 262,144 bytes, these bytes, or one of the command's patterns,
///     `"pattern:NAME"`.
/// sm
///     The SM of the word or text.
/// lane_mode
///     The meaning of the lane in an address: a lane that the warp may read, or a number modulo 32 among them.
/// hardware_alignment
///     Also refuse odd columns if the hardware is known, or assumed, to require even ones.
///
/// Raises
/// ------
/// Error
///     If the load breaks a rule, of the assembler or of addresses. `rule` is its name.
#[pyfunction]
#[pyo3(signature = (
    instruction: "SupportsIndex | str | Instruction",
    *,
    warp = 0,
    taddr = 0,
    memory = None,
    sm: "str | SupportsIndex | None" = None,
    lane_mode = LaneMode("strict"),
    hardware_alignment = false,
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python's")]
pub(crate) fn run_tensor_load(
    py: Python<'_>,
    instruction: &Bound<'_, PyAny>,
    warp: u32,
    taddr: u32,
    memory: Option<TensorContents<'_>>,
    sm: Option<SmArgument>,
    lane_mode: LaneMode,
    hardware_alignment: bool,
) -> PyResult<Loaded> {
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
    let memory = memory.map_or_else(
        || Ok(TensorMemory::filled(Pattern::LaneColumn)),
        |memory| tensor_memory(&memory.0),
    )?;
    let rules = Rules::default().lane_mode(lane_mode).hardware_alignment(hardware_alignment);
    let run = TensorRun { warp, address: TensorAddress(taddr), rules };
    match run.execute(&given, &memory) {
        Ok((issue, registers)) => Ok(Loaded::of(&given, issue, &registers)),
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
impl Loaded {
    /// The instruction.
    #[getter]
    fn instruction(&self) -> &str {
        &self.instruction
    }

    /// The registers, `(n, 32)` of `uint32`: register by register, thread 0 first; 0 in a thread that does not load.
    #[getter]
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Words<'py>> {
        copy_of_rows(py, &self.registers)
    }

    /// The threads that load, bit n for thread n.
    #[getter]
    fn executing(&self) -> u32 {
        self.executing
    }

    /// The 32 results of a reduction; `None` if there is none.
    #[getter]
    fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Option<Words<'py>>> {
        self.reduced.as_ref().map(|reduced| copy_of(py, reduced)).transpose()
    }

    /// The text that the command prints.
    #[getter]
    fn drawing(&self) -> &str {
        &self.drawing
    }

    fn __str__(&self) -> &str {
        &self.drawing
    }

    fn __repr__(&self) -> String {
        let (instruction, executing) = (visible(&self.instruction), self.executing);
        format!(
            "Loaded('{instruction}', {} registers, executing={executing:#010x})",
            self.registers.len()
        )
    }

    #[new]
    fn new(
        instruction: String,
        registers: Vec<LaneValues>,
        executing: u32,
        reduced: Option<LaneValues>,
        drawing: String,
    ) -> Self {
        Self { instruction, registers, executing, reduced, drawing }
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, LoadedFields)> {
        let Self { instruction, registers, executing, reduced, drawing } = self;
        let fields =
            (instruction.clone(), registers.clone(), *executing, *reduced, drawing.clone());
        Ok((py.get_type::<Self>(), fields))
    }
}

type LoadedFields = (String, Vec<LaneValues>, u32, Option<LaneValues>, String);

impl Loaded {
    fn of(given: &TensorInstruction, issue: Issue, registers: &TensorRegisters) -> Self {
        // Zeroes the values of threads that do not load.
        let loaded = |row: &LaneValues| -> LaneValues {
            std::array::from_fn(
                |thread| {
                    if given.threads.contains(&thread) { row[thread] } else { 0 }
                },
            )
        };
        Self {
            instruction: given.text.clone(),
            registers: registers.data().iter().map(loaded).collect(),
            executing: given.threads.clone().map(|thread| 1 << thread).sum(),
            reduced: registers.reduced().map(loaded),
            drawing: draw_tensor_load(given, issue, registers).trim_end().to_owned(),
        }
    }
}
