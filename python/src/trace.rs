//! [`Trace`] and its replay.

use std::ffi::{CString, OsString};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpload::memory::{Fill, Window};
use warpload_arrow::{LoadOptions, per_pc};
use warpload_cli::{Finished, Holding, Replay, Run, open_trace};
use warpload_replay::{ReplayData, ReplayOptions};
use warpload_trace::{BinaryTrace, DEFAULT_ADDRESS_BITS};

use crate::error::{error, of_message};
use crate::memory::Memory;
use crate::table::Table;
use crate::waiting::{Shared, wait};

/// A trace that is open. `warpload.Trace` is what it is used through.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Trace {
    trace: Arc<BinaryTrace>,
    /// The number of parts, if this is a trace set.
    parts: Option<usize>,
}

#[pymethods]
impl Trace {
    /// Opens a trace; a text trace is imported.
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
        let open = move || {
            open_trace(&path, threads.map(NonZero::get), holding(mmap), &interrupts.interrupt)
        };
        match wait(py, &shared, None, open)? {
            Ok((trace, parts)) => Ok(Self { trace: Arc::new(trace), parts }),
            Err(message) => Err(of_message(py, &message)),
        }
    }

    /// How many loads there are.
    fn __len__(&self) -> usize {
        self.trace.loads() as usize
    }

    /// Returns the loads as a table, whose batches are made when they are asked for.
    #[pyo3(signature = (*, values = false, fill = None, address_bits = None, shared_window = None, local_window = None, threads = NonZero::<usize>::MIN))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python's")]
    fn loads(
        &self,
        py: Python<'_>,
        values: bool,
        fill: Option<&str>,
        address_bits: Option<u32>,
        shared_window: Option<(u64, u64)>,
        local_window: Option<(u64, u64)>,
        threads: NonZero<usize>,
    ) -> PyResult<Table> {
        let threads = at_once(py, threads)?;
        let data = match fill {
            None => ReplayData::Absent,
            Some("address") => ReplayData::Fill(Fill::Address),
            Some("zero") => ReplayData::Fill(Fill::Zero),
            Some(_) => return Err(error(py, "fill: expected \"address\" or \"zero\"")),
        };
        let window = |(base, size)| Window { base, size };
        let options = ReplayOptions::new(data)
            .address_bits(address_bits.unwrap_or(DEFAULT_ADDRESS_BITS))
            .shared_window(shared_window.map(window))
            .local_window(local_window.map(window));
        let options = LoadOptions::new(options).values(values).threads(threads);
        Table::of_loads(py, Arc::clone(&self.trace), options)
    }

    /// The contents as JSON.
    fn contents_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let json = warpload_cli::contents(&self.trace, self.parts);
        Ok(PyBytes::new(py, &json.map_err(|message| of_message(py, &message))?))
    }

    /// Replays the loads with options of the command, of which the last is the trace's name.
    #[pyo3(signature = (options, *, image = None, page = false, progress = None))]
    fn replay(
        &self,
        py: Python<'_>,
        options: Vec<OsString>,
        image: Option<&Bound<'_, Memory>>,
        page: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Replayed> {
        let trace = Arc::clone(&self.trace);
        let shared = Arc::<Shared>::default();
        let observed = Arc::clone(&shared);
        // Another thread can drop the trace and the image meanwhile. The last of these counts goes with the
        // interpreter's lock, which an image of Python's bytes needs.
        let image = image.map(|image| Arc::clone(&image.get().bytes));
        let total = Replay::bytes(&trace);
        let read = image.clone();
        let work = move || {
            let replay = Replay::new(options)?;
            let observe = |bytes| {
                observed.done.fetch_add(bytes, Ordering::Relaxed);
            };
            let mut run = Run::new(&observe, &observed.interrupt);
            (run.image, run.page) = (read.as_deref(), page);
            replay.run(&trace, &run, |replayed, summary| per_pc(summary, Some(replayed.options())))
        };
        match wait(py, &shared, progress.map(|callback| (callback, total)), work)? {
            Ok((finished, per_pc)) => {
                Ok(Replayed { finished, per_pc: Table::of_batch(py, per_pc)? })
            }
            Err(message) => Err(of_message(py, &message)),
        }
    }
}

/// Returns a number of threads that can run at once, and says so if it is not the one that was asked for: each has
/// batches of its own.
fn at_once(py: Python<'_>, asked: NonZero<usize>) -> PyResult<NonZero<usize>> {
    let most = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    if asked > most {
        let message = format!("threads={asked}: {most} are used, as many as can run at once");
        let category = py.get_type::<PyUserWarning>();
        PyErr::warn(py, &category, &CString::new(message).unwrap_or_default(), 1)?;
    }
    Ok(asked.min(most))
}

/// Returns how files are held.
pub(crate) fn holding(mmap: bool) -> Holding {
    if mmap { Holding::Mapped } else { Holding::Read }
}

/// What a replay wrote.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Replayed {
    finished: Finished,
    per_pc: Table,
}

#[pymethods]
impl Replayed {
    /// The summary as JSON.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.finished.output)
    }

    /// The counts of each program counter.
    #[getter]
    fn per_pc(&self) -> Table {
        self.per_pc.clone()
    }

    /// Notes for its reader.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.finished.messages.iter().map(|message| message.title.clone()).collect()
    }

    /// The page, if one was asked for.
    #[getter]
    fn page(&self) -> Option<&str> {
        self.finished.page.as_deref()
    }
}
