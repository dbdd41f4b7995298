//! What becomes rows elsewhere, by Arrow's PyCapsule interface.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::ThreadPool;
use warpload_arrow::arrow_array::{
    RecordBatch, RecordBatchIterator, RecordBatchReader, ffi::FFI_ArrowSchema,
};
use warpload_arrow::arrow_schema::{ArrowError, SchemaRef};
use warpload_arrow::{LoadBatches, LoadOptions, load_schema};
use warpload_replay::Selection;
use warpload_trace::BinaryTrace;

use crate::error::{ErrorKind, Failure, error};
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
    Loads {
        trace: Arc<BinaryTrace>,
        options: LoadOptions<'static>,
        selection: Option<Arc<Selection>>,
    },
}

impl Table {
    pub(crate) fn of_batch(
        py: Python<'_>,
        batch: Result<RecordBatch, warpload_arrow::BatchError>,
    ) -> PyResult<Self> {
        let batch = batch.map_err(|failed| raised(py, &failed))?;
        Ok(Self { schema: batch.schema(), length: batch.num_rows(), rows: Rows::Batch(batch) })
    }

    pub(crate) fn of_loads(
        py: Python<'_>,
        trace: Arc<BinaryTrace>,
        options: LoadOptions<'static>,
        selection: Option<Arc<Selection>>,
    ) -> PyResult<Self> {
        let schema = load_schema(&trace, &options);
        // What is wrong with the options is said at once.
        let batches = LoadBatches::new(Arc::clone(&trace), options);
        let batches = batches.map_err(|failed| raised(py, &failed))?;
        let length = match &selection {
            None => trace.loads() as usize,
            // How many it has is known when they are read.
            Some(selection) => {
                let mut batches = batches.select(Some(Arc::clone(selection)));
                let lengths = batches.by_ref().map(|batch| batch.map(|batch| batch.num_rows()));
                let length = lengths.sum::<Result<usize, ArrowError>>();
                length.map_err(|failed| raised(py, &failed))?
            }
        };
        Ok(Self { schema, length, rows: Rows::Loads { trace, options, selection } })
    }
}

fn raised(py: Python<'_>, failed: &(dyn std::error::Error + 'static)) -> PyErr {
    Failure::of(failed, ErrorKind::Input).raise(py)
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
            Rows::Loads { trace, options, selection } => {
                let batches = LoadBatches::new(Arc::clone(trace), *options);
                let batches =
                    batches.map_err(|failed| raised(py, &failed))?.select(selection.clone());
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
        let schema = schema.map_err(|failed| raised(py, &failed))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns the table as a `polars.DataFrame`.
    #[pyo3(signature = () -> "Any")]
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Returns the table as a `pyarrow.Table`.
    #[pyo3(signature = () -> "Any")]
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Returns the table as a `pandas.DataFrame`, through pyarrow.
    #[pyo3(signature = () -> "Any")]
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// The first rows as a table for a notebook: of program counters, those with the most sectors beyond the ideal.
    #[pyo3(signature = () -> "str")]
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let batch = match &self.rows {
            Rows::Batch(batch) => Some(batch.clone()),
            Rows::Loads { trace, options, selection } => {
                let batches = LoadBatches::new(Arc::clone(trace), *options);
                let batches = batches.map_err(|failed| raised(py, &failed))?;
                let first = batches.select(selection.clone()).next().transpose();
                first.map_err(|failed| raised(py, &failed))?
            }
        };
        Ok(batch.map_or_else(String::new, |batch| crate::notebook::table(&batch, self.length)))
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
        let pool = pool.map_err(|failed| error(py, ErrorKind::Argument, failed))?;
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
