//! [`Trace`]: an open trace, its accesses and its replay.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use warpload::memory::Memory as Bytes;
use warpload_arrow::AccessOptions;
use warpload_replay::ReplayRequest;
use warpload_trace::{BinaryTrace, Shard, usable_threads};

use crate::error::{ErrorKind, Failure, error};
use crate::literals::Dictionary;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::objects::objects;
use crate::open::{Holding, import_to, open_trace};
use crate::replay::{Replay, ReplayTask, request};
use crate::table::Table;
use crate::waiting::{Shared, wait};

/// A trace. A binary trace is read; a trace in a text format is imported first.
///
/// It is a table with a row for each access, for everything that reads Arrow's PyCapsule interface:
/// `polars.DataFrame(trace)`, `pyarrow.table(trace)`, `duckdb.from_arrow(trace)`.
///
/// Parameters
/// ----------
/// path
///     The trace.
/// values
///     Whether the table has a column with the values of accesses.
/// threads
///     The number of threads that import a text trace; as many as can run at once if not given.
/// mmap
///     Map a binary trace instead of reading it, for traces that are larger than memory, or to replay only a part. The
///     file must not change while it is open: if it becomes shorter, a signal ends the process.
///
/// Raises
/// ------
/// Error
///     If the file is not a trace or is damaged. A missing file is a :class:`FileNotFoundError`.
#[pyclass(frozen, module = "warpload")]
pub(crate) struct Trace {
    /// `None` after it is closed.
    open: Mutex<Option<Arc<BinaryTrace>>>,
    path: PathBuf,
    values: bool,
    /// The number of accesses, counted on first use.
    accesses: OnceLock<usize>,
}

impl Trace {
    /// A trace that no file holds. `path` names its source.
    pub(crate) fn of(trace: BinaryTrace, path: PathBuf) -> Self {
        let open = Mutex::new(Some(Arc::new(trace)));
        Self { open, path, values: false, accesses: OnceLock::new() }
    }

    fn trace(&self) -> PyResult<Arc<BinaryTrace>> {
        let trace = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trace.ok_or_else(|| PyValueError::new_err("the trace is closed; open it again"))
    }
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (path, values = false, *, threads = None, mmap = false))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        values: bool,
        threads: Option<NonZero<usize>>,
        mmap: bool,
    ) -> PyResult<Self> {
        let shared = Arc::<Shared>::default();
        let interrupts = Arc::clone(&shared);
        let from = path.clone();
        let open = move || open_trace(&from, threads, Holding::new(mmap), &interrupts.interrupt);
        match wait(py, &shared, None, open)? {
            Ok(trace) => Ok(Self { values, ..Self::of(trace, path) }),
            Err(failure) => Err(failure.raise(py)),
        }
    }

    /// The path, as it was given; of the trace of a launch, the file of its module.
    #[getter]
    fn path(&self) -> OsString {
        self.path.clone().into_os_string()
    }

    /// Releases the file, or its bytes. Tables of accesses that still exist keep them.
    fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_raised: "object") -> "None")]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) {
        self.close();
    }

    /// The number of accesses, the rows of the table: loads, stores, atomics, reductions and sides of copies.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let trace = self.trace()?;
        if let Some(accesses) = self.accesses.get() {
            return Ok(*accesses);
        }
        // May read blocks.
        let accesses = py.detach(|| trace.accesses());
        let accesses =
            accesses.map_err(|failed| Failure::of(&failed, ErrorKind::Input).raise(py))?;
        Ok(*self.accesses.get_or_init(|| accesses as usize))
    }

    /// The JSON of `warpload show --format json` as a dictionary: source, kernels, opcodes and counts.
    #[getter]
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Dictionary<'py>> {
        objects(py, &self.trace()?.overview()).map(Dictionary)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path().into_pyobject(py)?.repr()?;
        let Ok(trace) = self.trace() else { return Ok(format!("Trace({path}: closed)")) };
        let overview = trace.overview();
        let (accesses, kernels) = (self.__len__(py)?, overview.kernels.len());
        let plural = if kernels == 1 { "" } else { "s" };
        Ok(format!(
            "Trace({path}: {accesses} accesses of {} instructions, {kernels} kernel{plural})",
            overview.instructions
        ))
    }

    /// The accesses as a table: a row for each load, store, atomic, reduction and side of a copy.
    ///
    /// Parameters
    /// ----------
    /// values
    ///     Whether to add a column with values: those of the trace, and what loads without them load from `fill`; by
    ///     default as the trace was opened.
    /// threads
    ///     How many threads make batches ahead, at most as many as can run at once. They belong to this process: a
    ///     stream that was made before a fork raises an error in the child, which has to make its own.
    /// **options
    ///     The accesses to list (`kernel`, `pc`, `opcode`, `space`), and the memory that loads read (`fill`,
    ///     `address_bits`, `shared_window`, `local_window`).
    #[pyo3(signature = (*, values = None, threads = NonZero::<usize>::MIN, **options: "Any"))]
    fn accesses(
        &self,
        py: Python<'_>,
        values: Option<bool>,
        threads: NonZero<usize>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let trace = self.trace()?;
        let threads = at_once(py, threads)?;
        let (request, memory) = given(py, options)?;
        let ReplayRequest { image, cubin, merge_pairs, .. } = &request;
        if image.is_some() || memory.is_some() || !cubin.is_empty() || *merge_pairs {
            let message = "expected options about the contents of memory and the selection of \
                           accesses";
            return Err(PyTypeError::new_err(message));
        }
        let options = AccessOptions::new(request.options(None, None, None));
        let options = options.values(values.unwrap_or(self.values)).threads(threads);
        let selection = request.selection(trace.contents()).map(Arc::new);
        Table::of_accesses(py, trace, options, selection)
    }

    /// Exports the accesses as a new stream of the Arrow C data interface.
    #[pyo3(signature = (requested_schema: "object | None" = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.accesses(py, None, NonZero::<usize>::MIN, None)?
            .__arrow_c_stream__(py, requested_schema)
    }

    /// Exports the columns as a schema of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.accesses(py, None, NonZero::<usize>::MIN, None)?.__arrow_c_schema__(py)
    }

    /// Executes every load, and returns the counts of every access.
    ///
    /// Parameters
    /// ----------
    /// shard
    ///     The shard's number, from 0, and the number of shards.
    /// progress
    ///     Called with the number of bytes replayed so far and the number of all bytes. An exception from it, and
    ///     Ctrl-C, stop the replay.
    /// **options
    ///     The options of `warpload replay`: the memory that loads read (`image`, a path, `Memory` or `Machine`; `fill`,
    ///     `address_bits`, `shared_window`, `local_window`), the accesses to count (`kernel`, `pc`, `opcode`, `space`),
    ///     and `threads`, `merge_pairs`, `cubin`, `demangle`.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the trace is damaged (`kind` is `"input"`), an option is wrong (`"argument"`), or nothing is selected
    ///     (`"selection"`).
    #[pyo3(signature = (*, shard = None, progress = None, **options: "Any"))]
    fn replay(
        &self,
        py: Python<'_>,
        shard: Option<(u64, u64)>,
        progress: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Replay> {
        let trace = self.trace()?;
        let (request, image) = given(py, options)?;
        if image.is_some() || request.image.is_some() {
            request.check_image().map_err(|conflict| PyTypeError::new_err(conflict.to_string()))?;
        }
        let shard = shard.map(|(index, count)| {
            let failed = || error(py, ErrorKind::Argument, "shard: expected (i, n), i below n");
            Shard::new(index, count).ok_or_else(failed)
        });
        let title = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The last reference to an image is dropped with the interpreter's lock held, because it may own Python bytes.
        let _image = image.clone();
        let task = ReplayTask { request, image, shard: shard.transpose()?, title };
        let path = self.path.clone();
        let shared = Arc::<Shared>::default();
        let observed = Arc::clone(&shared);
        let total = trace.blocks().iter().map(|block| u64::from(block.length)).sum();
        let work = move || task.run(&trace, &path, &observed);
        match wait(py, &shared, progress.map(|callback| (callback, total)), work)? {
            Ok(found) => Replay::new(py, found),
            Err(failure) => Err(failure.raise(py)),
        }
    }
}

/// Imports a trace of another tool as a binary trace, and opens that.
///
/// Parameters
/// ----------
/// source
///     The trace, of one of the formats of `warpload import`, or a list of traces.
/// output
///     The binary trace to write. It appears under its name when it is complete and on the disk. It keeps the mode of a
///     file that it replaces, and must not replace the source or one of its files.
/// compression
///     `"none"`, the fastest to replay, `"zstd"`, or `"zstd:LEVEL"`, from 1 to 19.
/// threads
///     The number of threads; as many as can run at once if not given.
///
/// Raises
/// ------
/// Error
///     If the source is not a trace, with the line at fault, or the output cannot be written.
#[pyfunction]
#[pyo3(signature = (source, output, *, compression = "zstd", threads = None))]
pub(crate) fn import_(
    py: Python<'_>,
    source: PathBuf,
    output: PathBuf,
    compression: &str,
    threads: Option<NonZero<usize>>,
) -> PyResult<OpenTrace> {
    let compression = compression
        .parse()
        .map_err(|wrong| error(py, ErrorKind::Argument, format_args!("compression: {wrong}")))?;
    let shared = Arc::<Shared>::default();
    let interrupts = Arc::clone(&shared);
    let to = output.clone();
    let work = move || import_to(&source, &to, compression, threads, &interrupts.interrupt);
    wait(py, &shared, None, work)?.map_err(|failure| failure.raise(py))?;
    OpenTrace::new(py, Trace::new(py, output, false, None, false)?)
}

/// A trace that is returned. Stubs name `warpload.Trace`, whose methods name their options.
pub(crate) struct OpenTrace(Py<Trace>);

impl OpenTrace {
    pub(crate) fn new(py: Python<'_>, trace: Trace) -> PyResult<Self> {
        Py::new(py, trace).map(Self)
    }
}

impl<'py> IntoPyObject<'py> for OpenTrace {
    type Target = Trace;
    type Output = Bound<'py, Trace>;
    type Error = Infallible;

    #[cfg(feature = "stubs")]
    const OUTPUT_TYPE: PyStaticExpr = pyo3::type_hint_identifier!("warpload._trace", "Trace");

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0.into_bound(py))
    }
}

impl<'py> IntoPyObject<'py> for &OpenTrace {
    type Target = Trace;
    type Output = Bound<'py, Trace>;
    type Error = Infallible;

    #[cfg(feature = "stubs")]
    const OUTPUT_TYPE: PyStaticExpr = OpenTrace::OUTPUT_TYPE;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0.bind(py).clone())
    }
}

/// The options of a replay, and the memory among them.
fn given(
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(ReplayRequest, Option<Arc<Bytes>>)> {
    let options = options.map_or_else(|| Ok(PyDict::new(py)), |options| options.copy())?;
    let image = options.get_item("image")?;
    let of_machine = image.as_ref().and_then(|image| image.cast::<Machine>().ok());
    let memory = match (of_machine, &image) {
        (Some(machine), _) => Some(machine.get().memory(py)),
        (None, Some(image)) => image.cast::<Memory>().ok().map(|memory| memory.clone().unbind()),
        (None, None) => None,
    };
    if memory.is_some() {
        options.del_item("image")?;
    }
    Ok((request(&options)?, memory.map(|memory| Arc::clone(&memory.get().bytes))))
}

/// The number of threads to use, at most as many as can run at once, because each needs batches of its own. Warns if it
/// is not the number that was asked for.
fn at_once(py: Python<'_>, asked: NonZero<usize>) -> PyResult<NonZero<usize>> {
    let most = usable_threads(Some(asked));
    if asked > most {
        let message = format!("threads={asked}: {most} are used, as many as can run at once");
        let category = py.get_type::<PyUserWarning>();
        PyErr::warn(py, &category, &CString::new(message).unwrap_or_default(), 1)?;
    }
    Ok(most)
}
