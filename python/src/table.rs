//! What becomes rows elsewhere, by Arrow's PyCapsule interface.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use rayon::ThreadPool;
use warpload_arrow::arrow_array::{
    RecordBatch, RecordBatchIterator, RecordBatchReader, ffi::FFI_ArrowSchema,
};
use warpload_arrow::arrow_schema::{ArrowError, SchemaRef};
use warpload_arrow::{LoadBatches, LoadOptions, load_schema};
use warpload_replay::{PartialError, PartialSummary, Summary};
use warpload_trace::BinaryTrace;

use crate::error::{error, of_error};
use crate::stream::export;

/// A table, as the dataframe libraries read it: `polars.DataFrame(table)`, `pyarrow.table(table)`.
///
/// Batches of a trace's loads are made when they are asked for, so that they take no memory; an error in
/// the trace is found then.
#[pyclass(frozen, module = "warpload._native")]
#[derive(Clone)]
pub(crate) struct Table {
    schema: SchemaRef,
    length: usize,
    rows: Rows,
}

#[derive(Clone)]
enum Rows {
    Batch(RecordBatch),
    Loads { trace: Arc<BinaryTrace>, options: LoadOptions<'static> },
}

impl Table {
    pub(crate) fn of_batch(
        py: Python<'_>,
        batch: Result<RecordBatch, warpload_arrow::BatchError>,
    ) -> PyResult<Self> {
        let batch = batch.map_err(|failed| of_error(py, &failed))?;
        Ok(Self { schema: batch.schema(), length: batch.num_rows(), rows: Rows::Batch(batch) })
    }

    pub(crate) fn of_loads(
        py: Python<'_>,
        trace: Arc<BinaryTrace>,
        options: LoadOptions<'static>,
    ) -> PyResult<Self> {
        let schema = load_schema(&trace, &options);
        // What is wrong with the options is said at once.
        let batches = LoadBatches::new(Arc::clone(&trace), options);
        drop(batches.map_err(|failed| of_error(py, &failed))?);
        Ok(Self { schema, length: trace.loads() as usize, rows: Rows::Loads { trace, options } })
    }
}

/// Returns the counts of each program counter in a summary's JSON.
#[pyfunction]
pub(crate) fn per_pc(py: Python<'_>, summary: &[u8]) -> PyResult<Table> {
    Table::of_batch(py, warpload_arrow::per_pc(&read(py, summary)?, None))
}

/// Returns the JSON of a shard's summary in the form of the whole, with the kernels that the shard touched.
#[pyfunction]
pub(crate) fn shard_summary<'py>(py: Python<'py>, summary: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let json = serde_json::to_vec(&read(py, summary)?);
    Ok(PyBytes::new(py, &json.map_err(|failed| error(py, failed))?))
}

/// Reads the JSON of a summary, of a whole replay or of shards.
fn read(py: Python<'_>, json: &[u8]) -> PyResult<Summary> {
    serde_json::from_slice(json).or_else(|failed| match PartialSummary::from_json(json) {
        Ok(partial) => Ok(partial.into_summary()),
        // It is neither: most likely it was to be a whole one.
        Err(PartialError::Json(_)) => Err(error(py, failed)),
        Err(other) => Err(error(py, other)),
    })
}

/// Returns the counts of each program counter of copies in a summary's JSON.
#[pyfunction]
pub(crate) fn per_pc_copies(py: Python<'_>, summary: &[u8]) -> PyResult<Table> {
    let summary: Summary = serde_json::from_slice(summary).map_err(|failed| error(py, failed))?;
    Table::of_batch(py, warpload_arrow::per_pc_copies(&summary, None))
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns the table as a stream of the Arrow C data interface: a new one each time.
    #[pyo3(signature = (requested_schema: "object | None" = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request that is not met is allowed: the consumer casts.
        let _ = requested_schema;
        let batches: Box<dyn RecordBatchReader + Send> = match &self.rows {
            Rows::Batch(batch) => {
                let schema = Arc::clone(&self.schema);
                Box::new(RecordBatchIterator::new([Ok(batch.clone())], schema))
            }
            Rows::Loads { trace, options } => {
                let batches = LoadBatches::new(Arc::clone(trace), *options);
                let batches = batches.map_err(|failed| of_error(py, &failed))?;
                match options.get_threads().get() {
                    1 => Box::new(batches),
                    threads => Box::new(InParallel::new(py, batches, threads)?),
                }
            }
        };
        // The capsule releases the stream unless a consumer takes it out.
        PyCapsule::new_with_value(py, export(batches), c"arrow_array_stream")
    }

    /// Returns the columns as a schema of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema);
        let schema = schema.map_err(|failed| error(py, failed))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.length
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.length, self.columns().join(", "))
    }
}

/// Batches that threads of their own make.
struct InParallel {
    batches: LoadBatches<'static>,
    pool: ThreadPool,
}

impl InParallel {
    fn new(py: Python<'_>, batches: LoadBatches<'static>, threads: usize) -> PyResult<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|failed| error(py, failed))?;
        Ok(Self { batches, pool })
    }
}

impl Iterator for InParallel {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = &mut self.batches;
        self.pool.install(|| batches.next())
    }
}

impl RecordBatchReader for InParallel {
    fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }
}
