//! [`Replayed`]: the result of a replay, merging and comparing.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use warpload::json::write_line;
use warpload::memory::Memory as Bytes;
use warpload_replay::{
    Comparison, NothingSelected, ReplayOptions, ReplayRemark, ReplayRequest, Summary, SummaryError,
    replay,
};
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
    summary: Summary,
    /// The JSON that the command prints, serialized on first use.
    json: OnceLock<Vec<u8>>,
    rows: Table,
    notes: Vec<String>,
    /// The name of the trace and of its data, for the page.
    about: [String; 2],
}

/// A replay's arguments besides its trace.
pub(crate) struct ReplayTask {
    pub(crate) request: ReplayRequest,
    /// The memory that loads read, instead of the image that the request names.
    pub(crate) image: Option<Arc<Bytes>>,
    pub(crate) shard: Option<Shard>,
    /// The name of the trace, for the page.
    pub(crate) title: String,
}

/// The result of a replay, before it becomes Python objects.
pub(crate) struct Found {
    summary: Summary,
    rows: Result<warpload_arrow::arrow_array::RecordBatch, warpload_arrow::BatchError>,
    notes: Vec<String>,
    about: [String; 2],
}

impl ReplayTask {
    /// Replays a trace. `path` is its name in errors.
    pub(crate) fn run(
        &self,
        trace: &BinaryTrace,
        path: &std::path::Path,
        shared: &Shared,
    ) -> Result<Found, Failure> {
        let Self { request, image, shard, title } = self;
        let opened = request.image.as_deref().map(|image| open_image(image, Holding::Read));
        let machine = opened.transpose()?;
        let (functions, mut notes) = open_cubins(&request.cubin)?;
        let memory = image.as_deref().or(machine.as_ref().map(|machine| &machine.memory));
        let selection = request.selection(trace.contents());
        let observe = |bytes| {
            shared.done.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
        };
        let options = ReplayOptions {
            shard: *shard,
            on_progress: Some(&observe),
            interrupt: Some(&*shared.interrupt),
            ..request.options(memory, functions.as_ref(), selection.as_ref())
        };
        let summary = request.on_threads(|| replay(trace, &options));
        let summary = summary.map_err(|error| Failure::of_file(&error, path))?;
        if let Some(nothing) = NothingSelected::find(&summary, trace, &options) {
            return Err(Failure::of(&nothing, ErrorKind::Selection));
        }
        notes.extend(ReplayRemark::all(&summary, &options).iter().map(ToString::to_string));
        let data = match memory {
            Some(_) if request.image.is_none() => "a memory image".to_owned(),
            _ => request.data_in_words(),
        };
        let rows = warpload_arrow::rows(&summary, Some(&options));
        Ok(Found { summary, rows, notes, about: [title.clone(), data] })
    }
}

impl Replayed {
    pub(crate) fn new(py: Python<'_>, found: Found) -> PyResult<Self> {
        let Found { summary, rows, notes, about } = found;
        let rows = Table::of_batch(py, rows)?;
        Ok(Self { summary, json: OnceLock::new(), rows, notes, about })
    }

    fn of(py: Python<'_>, summary: Summary, json: OnceLock<Vec<u8>>) -> PyResult<Self> {
        let rows = Table::of_batch(py, warpload_arrow::rows(&summary, None))?;
        let about = ["Replay".to_owned(), String::new()];
        Ok(Self { summary, json, rows, notes: Vec::new(), about })
    }

    /// The counts of a kernel's launch. `name` is its module's.
    pub(crate) fn of_launch(py: Python<'_>, summary: Summary, name: &str) -> PyResult<Self> {
        let about = [name.to_owned(), "the arguments of the launch".to_owned()];
        Ok(Self { about, ..Self::of(py, summary, OnceLock::new())? })
    }

    fn bytes(&self, py: Python<'_>) -> PyResult<&[u8]> {
        if let Some(json) = self.json.get() {
            return Ok(json);
        }
        let mut json = Vec::new();
        let written = write_line(&mut json, &self.summary);
        written.map_err(|failed| error(py, ErrorKind::System, failed))?;
        Ok(self.json.get_or_init(|| json))
    }
}

#[pymethods]
impl Replayed {
    /// The page for a browser. With `by_launch`, launches of one kernel are not added up.
    #[pyo3(signature = (*, by_launch = false))]
    fn page(&self, py: Python<'_>, by_launch: bool) -> String {
        py.detach(|| {
            let [title, data] = &self.about;
            html(&ReportPage::new(&self.summary).by_launch(by_launch).title(title).data(data))
        })
    }

    /// Writes a page to a file, which appears under its name when it is complete.
    #[staticmethod]
    fn write_page(py: Python<'_>, page: &str, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_file(&path, page.as_bytes())).map_err(|failure| failure.raise(py))
    }

    /// Reads the JSON of a summary, of a whole replay or of shards.
    #[staticmethod]
    fn from_json(py: Python<'_>, json: &[u8]) -> PyResult<Self> {
        let summary = Summary::from_json(json).map_err(|failed| match failed {
            SummaryError::Json(failed) => error(py, ErrorKind::Input, failed),
            other => error(py, ErrorKind::Input, other),
        })?;
        Self::of(py, summary, OnceLock::from(json.to_vec()))
    }

    /// The JSON that the command prints with `--format json`.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.bytes(py)?))
    }

    /// The same JSON as objects.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.summary)
    }

    /// The rows: the counts of each instruction of each launch.
    #[getter]
    fn rows(&self) -> Table {
        self.rows.clone()
    }

    /// Notes for the user.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Adds summaries: the shards of a replay to the whole, and whole replays to one of all their launches.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, replays: Vec<Py<Replayed>>) -> PyResult<Replayed> {
    let summaries = replays.iter().map(|replay| replay.get().summary.clone()).collect();
    let merged = Summary::merge(summaries)
        .map_err(|failed| Failure::of(&failed, ErrorKind::Input).raise(py))?;
    if let Some(nothing) = merged.nothing_selected() {
        return Err(Failure::of(&nothing, ErrorKind::Selection).raise(py));
    }
    Replayed::of(py, merged, OnceLock::new())
}

/// Compares two replays, instruction by instruction. Returns the JSON of `warpload compare` as objects, and the
/// change of the whole in percent.
#[pyfunction]
#[pyo3(signature = (a, b) -> "tuple[dict[str, Any], float | None]")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    a: &Replayed,
    b: &Replayed,
) -> PyResult<(Bound<'py, PyAny>, Option<f64>)> {
    if a.summary.shard.is_some() || b.summary.shard.is_some() {
        let message = "expected whole replays; `merge` combines all shards into one";
        return Err(error(py, ErrorKind::Argument, message));
    }
    let comparison = Comparison::new(&a.summary, &b.summary)
        .map_err(|failed| Failure::of(&failed, ErrorKind::Selection).raise(py))?;
    Ok((objects(py, &comparison)?, comparison.change))
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
