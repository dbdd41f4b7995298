//! What becomes rows elsewhere, by Arrow's PyCapsule interface.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::ThreadPool;
use warpload::trace::{BinaryTrace, Summary};
use warpload_arrow::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use warpload_arrow::arrow_array::{
    RecordBatch, RecordBatchIterator, RecordBatchReader, ffi::FFI_ArrowSchema,
};
use warpload_arrow::arrow_schema::{ArrowError, Schema, SchemaRef};
use warpload_arrow::{LoadBatches, LoadOptions, load_schema};

use crate::error::{error, of_error};

/// A table of what was counted, as the dataframe libraries read it: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`.
#[pyclass(frozen, module = "warpload._native")]
#[derive(Clone)]
pub(crate) struct Table(RecordBatch);

impl Table {
    pub(crate) fn of(
        py: Python<'_>,
        batch: Result<RecordBatch, warpload_arrow::Error>,
    ) -> PyResult<Self> {
        batch.map(Self).map_err(|failed| error(py, failed))
    }
}

/// Returns the counts of each program counter in a summary's JSON.
#[pyfunction]
pub(crate) fn per_pc(py: Python<'_>, summary: &[u8]) -> PyResult<Table> {
    let summary: Summary = serde_json::from_slice(summary).map_err(|failed| error(py, failed))?;
    Table::of(py, warpload_arrow::per_pc(&summary, None))
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.0.schema())
    }

    /// Returns the table as a stream of the Arrow C data interface.
    #[pyo3(signature = (requested_schema: "object | None" = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request that is not met is allowed: the consumer casts.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        stream(py, Box::new(batches))
    }

    /// Returns the columns as a schema of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, &self.0.schema())
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let schema = self.0.schema();
        format!("Table({} rows: {})", self.0.num_rows(), names(&schema).join(", "))
    }
}

/// The loads of a trace as a table, one row a load. Batches are made when they are asked for, so that it
/// takes no memory; an error in the trace is found then.
#[pyclass(frozen, module = "warpload._native")]
pub(crate) struct Loads {
    trace: Arc<BinaryTrace>,
    options: LoadOptions<'static>,
    schema: SchemaRef,
}

impl Loads {
    pub(crate) fn new(
        py: Python<'_>,
        trace: Arc<BinaryTrace>,
        options: LoadOptions<'static>,
    ) -> PyResult<Self> {
        let schema = load_schema(&trace, &options);
        // What is wrong with the options is said at once.
        let batches = LoadBatches::new(Arc::clone(&trace), options);
        drop(batches.map_err(|failed| of_error(py, &failed))?);
        Ok(Self { trace, options, schema })
    }
}

#[pymethods]
impl Loads {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// Returns the table as a stream of the Arrow C data interface: a new one each time.
    #[pyo3(signature = (requested_schema: "object | None" = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = LoadBatches::new(Arc::clone(&self.trace), self.options);
        let batches = batches.map_err(|failed| of_error(py, &failed))?;
        let threads = self.options.get_threads().get();
        if threads == 1 {
            return stream(py, Box::new(batches));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|failed| error(py, failed))?;
        stream(py, Box::new(InParallel { batches, pool }))
    }

    /// Returns the columns as a schema of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, &self.schema)
    }

    fn __len__(&self) -> usize {
        self.trace.loads() as usize
    }

    fn __repr__(&self) -> String {
        format!("Loads({} rows: {})", self.trace.loads(), self.columns().join(", "))
    }
}

/// Batches that threads of their own make.
struct InParallel {
    batches: LoadBatches<'static>,
    pool: ThreadPool,
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

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Returns a stream in a capsule, which releases it unless a consumer takes it out.
fn stream<'py>(
    py: Python<'py>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), c"arrow_array_stream")
}

fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|failed| error(py, failed))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}
