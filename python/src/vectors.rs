//! Test vectors: drawing, reading, writing and checking them.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyType;
use warpload::load::Executor as Ours;
use warpload_binary::lines::Lines;
use warpload_suite::families::execute;
use warpload_suite::flags::{self, flags_of};
use warpload_suite::generate::{self, GenerateError, Generator};
use warpload_suite::vector::Vector as Read;

use crate::error::{ErrorKind, Failure, error};
use crate::instruction::{Instruction, SmArgument};
use crate::literals::Executor;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::objects::text_objects;
use crate::open::{read_file, write_file};
use crate::warp::Warp;

/// A test vector: a load, a machine and a warp before it, and the expected outcome. Made from its JSON on one line.
#[pyclass(frozen, eq, hash, module = "warpload.vectors")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Vector {
    line: String,
}

#[pymethods]
impl Vector {
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        let vector = Self { line: json.trim().to_owned() };
        vector.read(py)?;
        Ok(vector)
    }

    /// A name, most often the text of the instruction.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.read(py)?.name)
    }

    /// The load.
    #[getter]
    fn instruction(&self, py: Python<'_>) -> PyResult<Instruction> {
        let load = self.read(py)?.instruction;
        Ok(Instruction { sm: load.sm(), load })
    }

    /// The machine that the load executes on.
    #[getter]
    fn machine(&self, py: Python<'_>) -> PyResult<Machine> {
        let machine = self.read(py)?.machine;
        let memory = Py::new(py, Memory::of_image(machine.memory))?;
        Ok(Machine::of(machine.register_limit, machine.misaligned, memory))
    }

    /// The warp before the load.
    #[getter]
    fn warp(&self, py: Python<'_>) -> PyResult<Warp> {
        Ok(Warp(self.read(py)?.warp))
    }

    /// The flags that the literal executor finds in it: names of `flags`.
    #[getter]
    fn flags(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let vector = self.read(py)?;
        let outcome = vector.run(Ours::Reference).map(|(_, outcome)| outcome);
        let outcome = outcome.map_err(|failed| error(py, ErrorKind::Illegal, failed))?;
        Ok(flags_of(&vector, &outcome).iter().map(|flag| flag.name).collect())
    }

    /// The JSON, one line without its end (docs/vectors.md).
    #[getter]
    fn json(&self) -> &str {
        &self.line
    }

    /// The contents of the JSON, as objects.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text_objects(py, &self.line)
    }

    /// Executes the vector, and returns the differences from the expected outcome, one line each; an empty list if it
    /// passes.
    #[pyo3(signature = (executor = Executor("both")))]
    fn check(&self, py: Python<'_>, executor: Executor) -> PyResult<Vec<String>> {
        let checked = py.detach(|| execute::check(&self.line, executor.list()));
        checked.map_err(|failed| error(py, ErrorKind::Syntax, failed))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Vector({})", self.read(py)?.instruction))
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&str,)) {
        (py.get_type::<Self>(), (&self.line,))
    }
}

impl Vector {
    fn read(&self, py: Python<'_>) -> PyResult<Read> {
        Read::from_json(&self.line).map_err(|failed| error(py, ErrorKind::Syntax, failed))
    }
}

/// A property of vectors.
#[pyclass(frozen, eq, hash, get_all, module = "warpload.vectors")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Flag {
    /// The name.
    name: &'static str,
    /// The flag's meaning, and the clause of the documents.
    note: &'static str,
    /// Whether, on SM 5.x and 6.x, the expectation of such vectors is our decision, because no public source decides
    /// it.
    is_decision: bool,
    /// The same from SM 7.0 on.
    is_decision_from_sm70: bool,
}

#[pymethods]
impl Flag {
    fn __repr__(&self) -> String {
        format!("Flag('{}')", self.name)
    }
}

/// The flags that vectors can have, by name.
#[pyfunction]
pub(crate) fn vector_flags() -> Vec<Flag> {
    let flag = |flag: &flags::Flag| Flag {
        name: flag.name,
        note: flag.note,
        is_decision: flag.is_decision(false),
        is_decision_from_sm70: flag.is_decision(true),
    };
    flags::all().iter().map(flag).collect()
}

/// Draws fresh vectors of an instruction.
///
/// The same instruction, SM, seed and flags make the same vectors on every platform, and the same as the command
/// `warpload vectors generate`. A greater count appends vectors and does not change the first ones.
///
/// Parameters
/// ----------
/// instruction
///     The mnemonic, such as `"LDG"`.
/// sm
///     The instruction's SM.
/// count
///     The number of vectors.
/// seed
///     The seed.
/// flags
///     Only vectors that have all of these flags.
///
/// Raises
/// ------
/// Error
///     If the SM has no such load, or no vector with the flags is found (`kind` is `"argument"`).
#[pyfunction]
#[pyo3(signature = (
    instruction,
    sm: "str | SupportsIndex" = SmArgument::default(),
    *,
    count = 100,
    seed = 0,
    flags = Vec::new(),
))]
pub(crate) fn generate_vectors(
    py: Python<'_>,
    instruction: &str,
    sm: SmArgument,
    count: u64,
    seed: u64,
    flags: Vec<String>,
) -> PyResult<Vec<Vector>> {
    let failed = |failed: GenerateError| match failed {
        GenerateError::UnknownInstruction { .. } => {
            let known: Vec<&str> = generate::instructions(sm.0).collect();
            let message = format!("{failed}; expected one of {}", known.join(", "));
            error(py, ErrorKind::Argument, message)
        }
        failed => error(py, ErrorKind::Argument, failed),
    };
    let named = |name: &String| {
        flags::Flag::parse(name).map_err(|unknown| {
            error(py, ErrorKind::Argument, format_args!("flags: no flag {name:?}; {unknown}"))
        })
    };
    let wanted = flags.iter().map(named).collect::<PyResult<Vec<_>>>()?;
    let drawn = py.detach(|| {
        let generator = match Generator::new(instruction, sm.0, seed) {
            Ok(generator) => generator.with_flags(&wanted),
            Err(failed) => return Ok(Err(failed)),
        };
        let mut vectors = Vec::new();
        for number in 0..count {
            match generator.line(number) {
                Ok(line) => vectors.push(Vector { line }),
                Err(failed) => return Ok(Err(failed)),
            }
            Python::attach(|py| py.check_signals())?;
        }
        Ok::<_, PyErr>(Ok(vectors))
    });
    drawn?.map_err(failed)
}

/// The instructions of an SM that vectors can be drawn for.
#[pyfunction]
#[pyo3(signature = (sm: "str | SupportsIndex" = SmArgument::default()))]
pub(crate) fn vector_instructions(sm: SmArgument) -> Vec<&'static str> {
    generate::instructions(sm.0).collect()
}

/// Reads the vectors of a file, one JSON object a line.
///
/// Raises
/// ------
/// Error
///     If a line is not a vector. The error has the line.
#[pyfunction]
pub(crate) fn read_vectors(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Vector>> {
    let read = || {
        let bytes = read_file(&path)?;
        let mut lines = Lines::new(bytes.bytes());
        let mut vectors = Vec::new();
        while let Some(line) = lines.next_line() {
            let line = line.map_err(|error| Failure::of_file(&error, &path))?;
            if line.text.trim().is_empty() {
                continue;
            }
            Read::from_json(line.text).map_err(|error| Failure {
                position: Some((
                    line.number,
                    error.position.map_or(1, |(_, column)| column as u64),
                )),
                ..Failure::of_file(&error, &path)
            })?;
            vectors.push(Vector { line: line.text.trim().to_owned() });
        }
        Ok::<_, Failure>(vectors)
    };
    py.detach(read).map_err(|failure| failure.raise(py))
}

/// Writes vectors to a file, one JSON object a line. The file appears under its name when it is complete.
#[pyfunction]
pub(crate) fn write_vectors(
    py: Python<'_>,
    path: PathBuf,
    vectors: Vec<PyRef<'_, Vector>>,
) -> PyResult<()> {
    let mut text = String::new();
    for vector in vectors {
        text.push_str(&vector.line);
        text.push('\n');
    }
    py.detach(|| write_file(&path, text.as_bytes())).map_err(|failure| failure.raise(py))
}
