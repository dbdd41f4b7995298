//! [`Replayed`]: the result of a replay, merging and comparing.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use warpload::json::write_line;
use warpload::memory::Memory as Bytes;
use warpload_replay::{Comparison, PartialError, PartialSummary, ReplayRequest, Summary, replay};
use warpload_report::{ReportPage, html};
use warpload_trace::{BinaryTrace, Shard};

use crate::error::{ErrorKind, Failure, error};
use crate::objects::objects;
use crate::open::{Holding, open_cubins, open_image, write_file};
use crate::options::options;
use crate::table::Table;
use crate::waiting::Shared;

/// The result of a replay. `warpload.Replay` is its public face.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Replayed {
    /// The summary. A shard's has the form of a whole replay's, with only the kernels that the shard touched.
    summary: Summary,
    /// The mergeable summary, if this is a shard or a merge of shards.
    shards: Option<PartialSummary>,
    /// The JSON that the command prints, serialized on first use.
    json: OnceLock<Vec<u8>>,
    per_pc: Table,
    notes: Vec<String>,
    page: Option<String>,
}

/// A replay's arguments besides its trace.
pub(crate) struct ReplayTask {
    pub(crate) request: ReplayRequest,
    /// The memory that loads read, instead of the image that the request names.
    pub(crate) image: Option<Arc<Bytes>>,
    pub(crate) shard: Option<Shard>,
    /// The name of the trace on the page; `None` for no page.
    pub(crate) page: Option<String>,
}

/// The result of a replay, before it becomes Python objects.
pub(crate) struct Found {
    summary: Summary,
    shards: Option<PartialSummary>,
    per_pc: Result<warpload_arrow::arrow_array::RecordBatch, warpload_arrow::BatchError>,
    notes: Vec<String>,
    page: Option<String>,
}

impl ReplayTask {
    /// Replays a trace. `path` is its name in errors.
    pub(crate) fn run(
        &self,
        trace: &BinaryTrace,
        path: &std::path::Path,
        shared: &Shared,
    ) -> Result<Found, Failure> {
        let Self { request, image, shard, page } = self;
        let opened = request.image.as_deref().map(|image| open_image(image, Holding::Read));
        let machine = opened.transpose()?;
        let (functions, mut notes) = open_cubins(&request.cubin)?;
        let memory = image.as_deref().or(machine.as_ref().map(|machine| &machine.memory));
        let selection = request.selection(trace.contents());
        let observe = |bytes| {
            shared.done.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
        };
        let options = request
            .options(memory, functions.as_ref(), selection.as_ref())
            .shard(*shard)
            .on_progress(&observe)
            .interrupt(&*shared.interrupt);
        let replayed = request.on_threads(|| replay(trace, &options));
        let replayed = replayed.map_err(|error| Failure::of_file(&error, path))?;
        if let Some(nothing) = replayed.nothing_selected() {
            return Err(Failure::of(&nothing, ErrorKind::Selection));
        }
        notes.extend(replayed.remarks().iter().map(ToString::to_string));
        let summary = replayed.summary();
        let page = page.as_ref().map(|title| {
            let data =
                request.image.as_ref().map(|image| format!("memory image {}", image.display()));
            let mut page = ReportPage::new(&replayed, &summary).title(title);
            if let Some(data) = &data {
                page = page.data(data);
            }
            html(&page)
        });
        let per_pc = warpload_arrow::per_pc(&summary, Some(replayed.options()));
        let shards = replayed.partial();
        // A shard shows only the kernels that it touched.
        let summary = shards.as_ref().map_or(summary, |shards| shards.clone().into_summary());
        Ok(Found { summary, shards, per_pc, notes, page })
    }
}

impl Replayed {
    pub(crate) fn new(py: Python<'_>, found: Found) -> PyResult<Self> {
        let Found { summary, shards, per_pc, notes, page } = found;
        let per_pc = Table::of_batch(py, per_pc)?;
        Ok(Self { summary, shards, json: OnceLock::new(), per_pc, notes, page })
    }

    fn of(
        py: Python<'_>,
        summary: Summary,
        shards: Option<PartialSummary>,
        json: OnceLock<Vec<u8>>,
    ) -> PyResult<Self> {
        let per_pc = Table::of_batch(py, warpload_arrow::per_pc(&summary, None))?;
        Ok(Self { summary, shards, json, per_pc, notes: Vec::new(), page: None })
    }

    fn bytes(&self, py: Python<'_>) -> PyResult<&[u8]> {
        if let Some(json) = self.json.get() {
            return Ok(json);
        }
        let mut json = Vec::new();
        let written = match &self.shards {
            Some(shards) => write_line(&mut json, shards),
            None => write_line(&mut json, &self.summary),
        };
        written.map_err(|failed| error(py, ErrorKind::System, failed))?;
        Ok(self.json.get_or_init(|| json))
    }
}

#[pymethods]
impl Replayed {
    /// Writes the page to a file, which appears under its name when it is complete.
    fn write_page(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let page = self.page.as_deref().unwrap_or_default();
        py.detach(|| write_file(&path, page.as_bytes())).map_err(|failure| failure.raise(py))
    }

    /// Reads the JSON of a summary, of a whole replay or of shards.
    #[staticmethod]
    fn from_json(py: Python<'_>, json: &[u8]) -> PyResult<Self> {
        let known = OnceLock::from(json.to_vec());
        match serde_json::from_slice(json) {
            Ok(summary) => Self::of(py, summary, None, known),
            Err(failed) => match PartialSummary::from_json(json) {
                Ok(shards) => Self::of(py, shards.clone().into_summary(), Some(shards), known),
                // It is neither, so the error for a whole summary is shown, which is the likelier intent.
                Err(PartialError::Json(_)) => Err(error(py, ErrorKind::Input, failed)),
                Err(other) => Err(error(py, ErrorKind::Input, other)),
            },
        }
    }

    /// The JSON that the command prints with `--format json`.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.bytes(py)?))
    }

    /// The same JSON as objects.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.shards {
            Some(shards) => objects(py, shards),
            None => objects(py, &self.summary),
        }
    }

    /// The summary as objects; for shards, in the form of the whole.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.summary)
    }

    /// The counts of each program counter.
    #[getter]
    fn per_pc(&self) -> Table {
        self.per_pc.clone()
    }

    /// The counts of the program counters that `kernel`, `pc` and `opcode` choose.
    #[pyo3(signature = (**options: "Any"))]
    fn rows(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Table> {
        let none = PyDict::new(py);
        let request = request(options.unwrap_or(&none))?;
        let is_word = |one: &OsString| {
            let words = ["--kernel=", "--pc=", "--opcode="];
            words.iter().any(|word| one.as_encoded_bytes().starts_with(word.as_bytes()))
        };
        if !request.arguments().iter().all(is_word) {
            return Err(PyTypeError::new_err("expected `kernel`, `pc` and `opcode` alone"));
        }
        let mut summary = self.summary.clone();
        let kernels = summary.kernels.iter();
        let demangled: HashMap<Arc<str>, Arc<str>> = kernels
            .filter_map(|kernel| Some((Arc::clone(&kernel.name), kernel.demangled.clone()?)))
            .collect();
        summary.per_pc.retain(|row| {
            let demangled = demangled.get(&row.kernel).map(|form| &**form);
            request.has_row(&row.kernel, demangled, row.pc.0, &row.opcode)
        });
        Table::of_batch(py, warpload_arrow::per_pc(&summary, None))
    }

    /// The counts of each program counter that copies from global to shared memory.
    #[getter]
    fn per_pc_copies(&self, py: Python<'_>) -> PyResult<Table> {
        Table::of_batch(py, warpload_arrow::per_pc_copies(&self.summary, None))
    }

    /// Notes for the user.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The page, if one was asked for.
    #[getter]
    fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }
}

/// Merges the summaries of shards: all of them into the whole, or, if `partial`, neighbouring ones into a larger shard.
#[pyfunction]
#[pyo3(signature = (shards, *, partial = false))]
pub(crate) fn merge(
    py: Python<'_>,
    shards: Vec<Py<Replayed>>,
    partial: bool,
) -> PyResult<Replayed> {
    let summaries: Option<Vec<PartialSummary>> =
        shards.iter().map(|shard| shard.get().shards.clone()).collect();
    let Some(summaries) = summaries else {
        let message = "expected replays of shards; a whole replay cannot be merged";
        return Err(error(py, ErrorKind::Argument, message));
    };
    let failed = |failed| Failure::of(&failed, ErrorKind::Input).raise(py);
    if partial {
        let merged = PartialSummary::merge(summaries).map_err(failed)?;
        return Replayed::of(py, merged.clone().into_summary(), Some(merged), OnceLock::new());
    }
    let merged = Summary::merge(summaries).map_err(failed)?;
    if let Some(nothing) = merged.nothing_selected() {
        return Err(Failure::of(&nothing, ErrorKind::Selection).raise(py));
    }
    Replayed::of(py, merged, None, OnceLock::new())
}

/// Compares two replays, program counter by program counter. Returns the JSON of `warpload compare` as objects, and the
/// change of the whole in percent.
#[pyfunction]
#[pyo3(signature = (a, b) -> "tuple[dict[str, Any], float | None]")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    a: &Replayed,
    b: &Replayed,
) -> PyResult<(Bound<'py, PyAny>, Option<f64>)> {
    if a.shards.is_some() || b.shards.is_some() {
        let message = "expected whole replays; `merge` combines all shards into one";
        return Err(error(py, ErrorKind::Argument, message));
    }
    let comparison = Comparison::new(&a.summary, &b.summary)
        .map_err(|failed| Failure::of(&failed, ErrorKind::Selection).raise(py))?;
    Ok((objects(py, &comparison)?, comparison.change()))
}

/// Reads a request from keyword arguments.
pub(crate) fn request(keywords: &Bound<'_, PyDict>) -> PyResult<ReplayRequest> {
    // Paths are taken out first, because a file name need not be UTF-8.
    let keywords = keywords.copy()?;
    let take = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        let taken = keywords.get_item(name)?.filter(|value| !value.is_none());
        if taken.is_some() {
            keywords.del_item(name)?;
        }
        Ok(taken)
    };
    let (image, cubins) = (take("image")?, take("cubin")?);
    let mut request: ReplayRequest = options(&keywords)?;
    request.image = image.map(|image| image.extract()).transpose()?;
    request.cubin = match cubins {
        None => Vec::new(),
        Some(cubins) => match cubins.extract::<PathBuf>() {
            Ok(cubin) => vec![cubin],
            Err(_) => cubins.try_iter()?.map(|path| path?.extract()).collect::<PyResult<_>>()?,
        },
    };
    Ok(request)
}

/// Converts options of a replay to arguments of the command.
#[pyfunction]
#[pyo3(signature = (**options: "Any"))]
pub(crate) fn replay_arguments(
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    let none = PyDict::new(py);
    let arguments = request(options.unwrap_or(&none))?.arguments().into_iter();
    let text = |argument: OsString| {
        argument.into_string().map_err(|argument| {
            let message = format!("{}: the name is not UTF-8", argument.display());
            error(py, ErrorKind::Argument, message)
        })
    };
    arguments.map(text).collect()
}
