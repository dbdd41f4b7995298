//! [`Machine`] and execution on it.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warpload::encoding::{MachineWord, Sm};
use warpload::machine::{Machine as State, Misaligned, RegisterLimit};
use warpload::memory::Memory as Bytes;

use crate::error::{ErrorKind, error};
use crate::instruction::{Instruction, parse};
use crate::literals;
use crate::memory::Memory;
use crate::open::{Holding, open_image};
use crate::outcome::Outcome;
use crate::warp::Warp;

/// A memory, the number of registers, and the treatment of misaligned addresses: `force` rounds them down, `report`
/// rounds them down and reports a fault, `fault` reports it and loads zeroes, as GPUs do.
#[pyclass(frozen, module = "warpload")]
pub(crate) struct Machine {
    state: State<Arc<Bytes>>,
    /// The state for instructions of SM 7.0 and later, if it differs.
    wide: Option<State<Arc<Bytes>>>,
    memory: Py<Memory>,
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (memory, *, register_limit = 255, misaligned = literals::Misaligned("force")))]
    fn new(
        py: Python<'_>,
        memory: Py<Memory>,
        register_limit: u64,
        misaligned: literals::Misaligned,
    ) -> PyResult<Self> {
        let is_named = |known: &Misaligned| known.name() == misaligned.0;
        let misaligned = Misaligned::ALL.into_iter().find(is_named).unwrap_or_default();
        let register_limit = RegisterLimit::new(register_limit)
            .map_err(|failed| error(py, ErrorKind::Argument, failed))?;
        Ok(Self::of(register_limit, misaligned, memory))
    }

    /// Opens the machine that the manifest of a memory image describes.
    ///
    /// If one file holds all bytes, `mmap` maps it instead of reading it. The file must not change while the machine's
    /// memory is in use: if it becomes shorter, a signal ends the process.
    #[staticmethod]
    #[pyo3(signature = (manifest, *, mmap = false))]
    fn open(py: Python<'_>, manifest: PathBuf, mmap: bool) -> PyResult<Self> {
        let opened = py.detach(|| open_image(&manifest, Holding::new(mmap)));
        let State { register_limit, misaligned, memory } =
            opened.map_err(|failure| failure.raise(py))?;
        Ok(Self::of(register_limit, misaligned, Py::new(py, Memory::of_image(memory))?))
    }

    /// The memory that loads read.
    #[getter]
    pub(crate) fn memory(&self, py: Python<'_>) -> Py<Memory> {
        self.memory.clone_ref(py)
    }

    /// The number of registers.
    #[getter]
    fn register_limit(&self) -> u8 {
        self.state.register_limit.get()
    }

    /// The treatment of misaligned addresses.
    #[getter]
    fn misaligned(&self) -> literals::Misaligned {
        literals::Misaligned(self.state.misaligned.name())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "Machine({}, register_limit={}, misaligned='{}')",
            self.memory.bind(py).repr()?,
            self.register_limit(),
            self.misaligned().0
        ))
    }
}

impl Machine {
    pub(crate) fn of(
        register_limit: RegisterLimit,
        misaligned: Misaligned,
        memory: Py<Memory>,
    ) -> Self {
        let state =
            |bytes: &Arc<Bytes>| State { register_limit, misaligned, memory: Arc::clone(bytes) };
        let known = memory.get();
        let (narrow, wide) = (state(&known.bytes), known.wide.as_ref().map(state));
        Self { state: narrow, wide, memory }
    }
}

/// Executes an instruction, or the text of an SM 5.x load: changes the registers of `warp`, and returns the outcome. With `executor="both"`, both executors
/// have to agree.
#[pyfunction]
#[pyo3(signature = (instruction: "Instruction | str", machine, warp, *, executor = literals::Executor("fast")))]
pub(crate) fn execute(
    py: Python<'_>,
    instruction: &Bound<'_, PyAny>,
    machine: &Machine,
    warp: &mut Warp,
    executor: literals::Executor,
) -> PyResult<Outcome> {
    let load = match instruction.cast::<Instruction>() {
        Ok(instruction) => instruction.get().load,
        Err(_) => parse(py, instruction.extract()?, Sm::SPA5)?,
    };
    let is_wide = matches!(load.word(), MachineWord::Bits128(_));
    if !is_wide && machine.memory.get().is_only_wide() {
        let message = "the memory has an allocation beyond 2^40, the limit of addresses on SM 5.x \
                       and 6.x; pass another memory or `address_bits`";
        return Err(error(py, ErrorKind::Argument, message));
    }
    let state = machine.wide.as_ref().filter(|_| is_wide).unwrap_or(&machine.state);
    let mut found = Vec::new();
    for executor in executor.list() {
        let mut after = warp.0.clone();
        let outcome = executor.execute(&load, state, &mut after);
        found.push((after, outcome.map_err(|failed| error(py, ErrorKind::Argument, failed))?));
    }
    let (last, others) =
        found.split_last().ok_or_else(|| PyRuntimeError::new_err("no executor"))?;
    if others.iter().any(|other| other != last) {
        let message = format!("the executors differ in `{load}`: this is a bug of warpload");
        return Err(PyRuntimeError::new_err(message));
    }
    warp.0 = last.0.clone();
    Ok(Outcome::new(&last.1, &load))
}
