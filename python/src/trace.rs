//! [`Trace`]: an open trace, its accesses and its replay.

use std::ffi::CString;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpload_arrow::AccessOptions;
use warpload_replay::ReplayRequest;
use warpload_trace::{BinaryTrace, Shard, usable_threads};

use crate::error::{ErrorKind, Failure, error};
use crate::memory::Memory;
use crate::objects::objects;
use crate::open::{Holding, import_to, open_trace};
use crate::replay::{ReplayTask, Replayed, request};
use crate::table::Table;
use crate::waiting::{Shared, wait};

/// An open trace. `warpload.Trace` is its public face.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Trace {
    trace: Arc<BinaryTrace>,
    path: PathBuf,
    /// The number of accesses, counted on first use.
    accesses: OnceLock<usize>,
}

impl Trace {
    /// A trace that no file holds. `path` names its source.
    pub(crate) fn of(trace: BinaryTrace, path: PathBuf) -> Self {
        Self { trace: Arc::new(trace), path, accesses: OnceLock::new() }
    }
}

#[pymethods]
impl Trace {
    /// Opens a trace. A text trace is imported.
    #[new]
    #[pyo3(signature = (path, *, threads = None, mmap = false))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        threads: Option<NonZero<usize>>,
        mmap: bool,
    ) -> PyResult<Self> {
        let shared = Arc::<Shared>::default();
        let interrupts = Arc::clone(&shared);
        let from = path.clone();
        let open = move || open_trace(&from, threads, Holding::new(mmap), &interrupts.interrupt);
        match wait(py, &shared, None, open)? {
            Ok(trace) => Ok(Self::of(trace, path)),
            Err(failure) => Err(failure.raise(py)),
        }
    }

    /// The number of accesses.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(accesses) = self.accesses.get() {
            return Ok(*accesses);
        }
        // May read blocks.
        let accesses = py.detach(|| self.trace.accesses());
        let accesses =
            accesses.map_err(|failed| Failure::of(&failed, ErrorKind::Input).raise(py))?;
        Ok(*self.accesses.get_or_init(|| accesses as usize))
    }

    /// The accesses as a table. Its batches are made on demand.
    #[pyo3(signature = (*, values = false, threads = NonZero::<usize>::MIN, **options: "Any"))]
    fn accesses(
        &self,
        py: Python<'_>,
        values: bool,
        threads: NonZero<usize>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let threads = at_once(py, threads)?;
        let request = given(py, options)?;
        let ReplayRequest { image, cubin, merge_pairs, .. } = &request;
        if image.is_some() || !cubin.is_empty() || *merge_pairs {
            let message = "expected options about the contents of memory and the selection of \
                           accesses";
            return Err(PyTypeError::new_err(message));
        }
        let options = AccessOptions::new(request.options(None, None, None));
        let options = options.values(values).threads(threads);
        let selection = request.selection(self.trace.contents()).map(Arc::new);
        Table::of_accesses(py, Arc::clone(&self.trace), options, selection)
    }

    /// The contents, as `warpload show --format json` prints them.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.trace.overview())
    }

    /// Replays the accesses.
    #[pyo3(signature = (*, memory = None, shard = None, progress = None, **options: "Any"))]
    fn replay(
        &self,
        py: Python<'_>,
        memory: Option<&Bound<'_, Memory>>,
        shard: Option<(u64, u64)>,
        progress: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Replayed> {
        let request = given(py, options)?;
        if memory.is_some() || request.image.is_some() {
            request.check_image().map_err(|conflict| PyTypeError::new_err(conflict.to_string()))?;
        }
        let shard = shard.map(|(index, count)| {
            let failed = || error(py, ErrorKind::Argument, "shard: expected (i, n), i below n");
            Shard::new(index, count).ok_or_else(failed)
        });
        let title = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let task = ReplayTask {
            request,
            // A clone, because another thread can drop the trace and the image meanwhile. The last reference is dropped
            // with the interpreter's lock held, because an image may own Python bytes.
            image: memory.map(|memory| Arc::clone(&memory.get().bytes)),
            shard: shard.transpose()?,
            title,
        };
        let _image = task.image.clone();
        let (trace, path) = (Arc::clone(&self.trace), self.path.clone());
        let shared = Arc::<Shared>::default();
        let observed = Arc::clone(&shared);
        let total = trace.blocks().iter().map(|block| u64::from(block.length)).sum();
        let work = move || task.run(&trace, &path, &observed);
        match wait(py, &shared, progress.map(|callback| (callback, total)), work)? {
            Ok(found) => Replayed::new(py, found),
            Err(failure) => Err(failure.raise(py)),
        }
    }
}

/// Turns a trace of another tool into a binary trace, as `warpload import` does.
#[pyfunction]
#[pyo3(signature = (source, output, *, compression = "zstd", threads = None))]
pub(crate) fn import_trace(
    py: Python<'_>,
    source: PathBuf,
    output: PathBuf,
    compression: &str,
    threads: Option<NonZero<usize>>,
) -> PyResult<()> {
    let compression = compression
        .parse()
        .map_err(|wrong| error(py, ErrorKind::Argument, format_args!("compression: {wrong}")))?;
    let shared = Arc::<Shared>::default();
    let interrupts = Arc::clone(&shared);
    let work = move || import_to(&source, &output, compression, threads, &interrupts.interrupt);
    wait(py, &shared, None, work)?.map_err(|failure| failure.raise(py))
}

fn given(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<ReplayRequest> {
    options.map_or_else(|| request(&PyDict::new(py)), request)
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
