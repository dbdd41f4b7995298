//! [`Replay`]: the result of a replay, merging and comparing.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyType};
use serde_json::Value;
use warpload::json::write_line;
use warpload::load::LaneFaultKind;
use warpload::memory::Memory as Bytes;
use warpload_replay::{
    AccessCounts, NothingSelected, ReplayOptions, ReplayRemark, ReplayRequest, Summary,
    SummaryError, replay,
};
use warpload_report::{ReportPage, html};
use warpload_trace::{BinaryTrace, Shard};

use crate::borrowed::Source;
use crate::error::{ErrorKind, Failure, error};
use crate::literals::{Dictionary, Replays, Summary as PySummary, SummaryJson};
use crate::notebook::escaped;
use crate::objects::objects;
use crate::open::{Holding, open_cubins, open_image, write_file};
use crate::options::{json_text, options};
use crate::table::Table;
use crate::waiting::Shared;

/// The result of a replay.
///
/// A notebook shows the headline and the rows with the most sectors beyond the ideal.
#[pyclass(frozen, module = "warpload")]
pub(crate) struct Replay {
    summary: Summary,
    /// The JSON that the command prints, serialized on first use.
    json: OnceLock<Vec<u8>>,
    /// The summary as an object of Python, made on first use.
    counts: PyOnceLock<PySummary>,
    /// Made on first use for a launch, which may be shorter than this takes.
    rows: PyOnceLock<Table>,
    messages: Vec<String>,
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
    messages: Vec<String>,
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
        let (functions, mut messages) = open_cubins(&request.cubin)?;
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
        messages.extend(ReplayRemark::all(&summary, &options).iter().map(ToString::to_string));
        let data = match memory {
            Some(_) if request.image.is_none() => "a memory image".to_owned(),
            _ => request.data_in_words(),
        };
        let rows = warpload_arrow::rows(&summary, Some(&options));
        Ok(Found { summary, rows, messages, about: [title.clone(), data] })
    }
}

impl Replay {
    pub(crate) fn new(py: Python<'_>, found: Found) -> PyResult<Self> {
        let Found { summary, rows, messages, about } = found;
        let rows = Table::of_batch(py, rows)?;
        let replay = Self { messages, ..Self::of(summary, about) };
        replay.rows.get_or_init(py, || rows);
        Ok(replay)
    }

    fn of(summary: Summary, about: [String; 2]) -> Self {
        let (json, counts, rows) = (OnceLock::new(), PyOnceLock::new(), PyOnceLock::new());
        Self { summary, json, counts, rows, messages: Vec::new(), about }
    }

    /// The counts of a kernel's launch. `name` is its module's.
    pub(crate) fn of_launch(summary: Summary, name: &str) -> Self {
        Self::of(summary, [name.to_owned(), "the arguments of the launch".to_owned()])
    }

    fn table(&self, py: Python<'_>) -> PyResult<&Table> {
        let rows = || Table::of_batch(py, warpload_arrow::rows(&self.summary, None));
        self.rows.get_or_try_init(py, rows)
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
impl Replay {
    /// Reads a summary that the command wrote with `--format json`: bytes or a `str`, of a whole replay or of a shard.
    #[staticmethod]
    fn from_json(py: Python<'_>, summary: SummaryJson<'_>) -> PyResult<Self> {
        let text = summary.0.extract::<String>().map(String::into_bytes);
        let json = text.or_else(|_| Source::new(&summary.0)?.bytes().map(<[u8]>::to_vec))?;
        let summary = Summary::from_json(&json).map_err(|failed| match failed {
            SummaryError::Json(failed) => error(py, ErrorKind::Input, failed),
            other => error(py, ErrorKind::Input, other),
        })?;
        let replay = Self::of(summary, ["Replay".to_owned(), String::new()]);
        Ok(Self { json: json.into(), ..replay })
    }

    /// The page for a browser. If a path is given, it is also written to this file, which appears under its name when it
    /// is complete. The page adds launches of a kernel up, unless `by_launch`.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the file cannot be written.
    #[pyo3(signature = (path = None, *, by_launch = false))]
    fn html(&self, py: Python<'_>, path: Option<PathBuf>, by_launch: bool) -> PyResult<String> {
        let written = py.detach(|| {
            let [title, data] = &self.about;
            let page = ReportPage::new(&self.summary).by_launch(by_launch).title(title).data(data);
            let page = html(&page);
            path.map_or(Ok(()), |path| write_file(&path, page.as_bytes())).map(|()| page)
        });
        written.map_err(|failure| failure.raise(py))
    }

    /// The JSON of `warpload replay --format json`, byte for byte.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.bytes(py)?))
    }

    /// The same JSON as a dictionary.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects(py, &self.summary)
    }

    /// The counts. For a shard, with only the launches that it touched.
    #[getter]
    fn summary(&self, py: Python<'_>) -> PyResult<&PySummary> {
        self.counts.get_or_try_init(py, || PySummary::make(py, (self.to_dict(py)?,)))
    }

    /// The counts of each instruction of each launch as a table: `polars.DataFrame(replay.rows)`. A row is a load,
    /// store, atomic, reduction, or one side of a copy.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py).cloned()
    }

    /// Notes for the user.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.summary == other.summary
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&[u8],))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let Summary { counts, digest, .. } = &self.summary;
        let AccessCounts { accesses, global, local, lane_faults, values, .. } = counts.all();
        let (global, local) = (global.unwrap_or_default(), local.unwrap_or_default());
        let sectors = global.sectors.sum.saturating_add(local.sectors);
        let ideal = global.ideal_sectors.saturating_add(local.ideal_sectors);
        let mut shown = format!(
            "Replay({accesses} accesses of {} instructions, {sectors} sectors, ideal {ideal}",
            counts.instructions
        );
        let faults = LaneFaultKind::ALL.map(|kind| lane_faults[kind]);
        match faults.into_iter().fold(0, u64::saturating_add) {
            0 => {}
            faults => shown += &format!(", {faults} lane faults"),
        }
        if values.mismatches > 0 {
            shown += &format!(", {} mismatches", values.mismatches);
        }
        if let Some(digest) = digest {
            shown += &format!(", digest {digest}");
        }
        shown + ")"
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let (headline, rows) = (escaped(&self.__repr__()), self.table(py)?._repr_html_(py)?);
        Ok(format!("<p><code>{headline}</code></p>{rows}"))
    }
}

/// The changes between two replays, the largest first.
#[pyclass(frozen, eq, module = "warpload")]
#[derive(PartialEq)]
pub(crate) struct Comparison {
    details: Value,
}

#[pymethods]
impl Comparison {
    #[new]
    #[pyo3(signature = (details: "dict[str, Any]"))]
    fn new(py: Python<'_>, details: &Bound<'_, PyAny>) -> PyResult<Self> {
        let details = serde_json::from_str(&json_text(details)?);
        Ok(Self { details: details.map_err(|failed| error(py, ErrorKind::Syntax, failed))? })
    }

    /// The change of sectors, wavefronts and addresses together in percent; `None` if the first has none and the second
    /// some, or if it is not known.
    #[getter]
    fn change(&self) -> Option<f64> {
        self.details["change"].as_f64()
    }

    /// The JSON of `warpload compare --format json` as a dictionary.
    #[getter]
    fn details<'py>(&self, py: Python<'py>) -> PyResult<Dictionary<'py>> {
        objects(py, &self.details).map(Dictionary)
    }

    fn __repr__(&self) -> String {
        let list = |key: &str| self.details[key].as_array().into_iter().flatten();
        let is_unknown =
            |kind: &Value| ["unknown", "faults"].iter().any(|key| kind[*key][0] != kind[*key][1]);
        let change = match self.change() {
            Some(change) => format!("{change:+.1} %"),
            None if list("kinds").any(is_unknown) => "not known".to_owned(),
            None => "new".to_owned(),
        };
        let changed = list("rows").filter(|row| row["change"].as_f64() != Some(0.0)).count();
        format!("Comparison({change}, {changed} instructions)")
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyAny>,))> {
        Ok((py.get_type::<Self>(), (objects(py, &self.details)?,)))
    }
}

/// Adds replays: the shards of a replay to the whole, and whole replays to one of all their launches.
///
/// Parameters
/// ----------
/// replays
///     The replays, each shard once, in any order.
///
/// Raises
/// ------
/// Error
///     If shards are missing, or the replays do not fit.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, replays: Replays<'_>) -> PyResult<Replay> {
    let summary = |replay: PyResult<Bound<'_, PyAny>>| -> PyResult<Summary> {
        Ok(replay?.cast::<Replay>()?.get().summary.clone())
    };
    let summaries = replays.0.try_iter()?.map(summary).collect::<PyResult<_>>()?;
    let merged = Summary::merge(summaries)
        .map_err(|failed| Failure::of(&failed, ErrorKind::Input).raise(py))?;
    if let Some(nothing) = merged.nothing_selected() {
        return Err(Failure::of(&nothing, ErrorKind::Selection).raise(py));
    }
    Ok(Replay::of(merged, ["Replay".to_owned(), String::new()]))
}

/// Compares two replays, instruction by instruction.
///
/// Raises
/// ------
/// Error
///     With the `kind` `"selection"` if they counted different accesses.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, a: &Replay, b: &Replay) -> PyResult<Comparison> {
    if a.summary.shard.is_some() || b.summary.shard.is_some() {
        let message = "expected whole replays; `merge` combines all shards into one";
        return Err(error(py, ErrorKind::Argument, message));
    }
    let compared = warpload_replay::Comparison::new(&a.summary, &b.summary)
        .map_err(|failed| Failure::of(&failed, ErrorKind::Selection).raise(py))?;
    let details = serde_json::to_value(&compared);
    Ok(Comparison { details: details.map_err(|failed| error(py, ErrorKind::Input, failed))? })
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
