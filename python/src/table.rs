//! Tables for other libraries, through Arrow's PyCapsule interface.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::ThreadPool;
use warpload_arrow::arrow_array::{
    RecordBatch, RecordBatchIterator, RecordBatchReader, ffi::FFI_ArrowSchema,
};
use warpload_arrow::arrow_schema::{ArrowError, SchemaRef};
use warpload_arrow::{AccessBatches, AccessOptions, BatchError, access_schema};
use warpload_replay::Selection;
use warpload_trace::BinaryTrace;

use crate::error::{ErrorKind, Failure, error};
use crate::stream::export;

/// A table that dataframe libraries can read: `polars.DataFrame(table)`, `pyarrow.table(table)`.
///
/// Batches of a trace's accesses are made on demand, to avoid holding them all in memory. Errors in the trace show up
/// at that time.
#[pyclass(frozen, module = "warpload._native")]
#[derive(Clone)]
pub(crate) struct Table {
    schema: SchemaRef,
    /// The number of rows. Of accesses, counted on first use.
    length: Arc<OnceLock<usize>>,
    rows: Rows,
    /// The columns of the complete table that this one has; `None` for all.
    columns: Option<Arc<[usize]>>,
}

#[derive(Clone)]
enum Rows {
    Batch(RecordBatch),
    Accesses {
        trace: Arc<BinaryTrace>,
        options: AccessOptions<'static>,
        selection: Option<Arc<Selection>>,
    },
}

impl Table {
    pub(crate) fn of_batch(
        py: Python<'_>,
        batch: Result<RecordBatch, BatchError>,
    ) -> PyResult<Self> {
        let batch = batch.map_err(|failed| raised(py, &failed))?;
        let length = Arc::new(OnceLock::from(batch.num_rows()));
        Ok(Self { schema: batch.schema(), length, rows: Rows::Batch(batch), columns: None })
    }

    pub(crate) fn of_accesses(
        py: Python<'_>,
        trace: Arc<BinaryTrace>,
        options: AccessOptions<'static>,
        selection: Option<Arc<Selection>>,
    ) -> PyResult<Self> {
        let schema = access_schema(&trace, &options);
        // Makes and drops the batches, so that wrong options raise here rather than on the first read.
        let batches = AccessBatches::new(Arc::clone(&trace), options);
        drop(batches.map_err(|failed| raised(py, &failed))?);
        let length = Arc::default();
        let rows = Rows::Accesses { trace, options, selection };
        Ok(Self { schema, length, rows, columns: None })
    }
}

impl Table {
    /// The rows, made on the calling thread.
    fn batches(&self) -> Result<Box<dyn RecordBatchReader + Send>, BatchError> {
        Ok(self.projected(match &self.rows {
            Rows::Batch(batch) => {
                Box::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema()))
            }
            Rows::Accesses { trace, options, selection } => {
                let batches = AccessBatches::new(Arc::clone(trace), *options)?;
                Box::new(batches.select(selection.clone()))
            }
        }))
    }

    /// Leaves out the columns that the table does not have.
    fn projected(
        &self,
        batches: Box<dyn RecordBatchReader + Send>,
    ) -> Box<dyn RecordBatchReader + Send> {
        let Some(columns) = self.columns.clone() else { return batches };
        let projected = batches.map(move |batch| batch.and_then(|batch| batch.project(&columns)));
        Box::new(RecordBatchIterator::new(projected, Arc::clone(&self.schema)))
    }
}

/// Adds up the rows of batches.
fn rows(
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<usize, ArrowError> {
    batches.map(|batch| batch.map(|batch| batch.num_rows())).sum()
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

    /// Selects columns, in this order.
    #[pyo3(signature = (*columns: "str"))]
    fn select(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<Self> {
        let number = |name: &String| {
            self.schema.index_of(name).map_err(|_| {
                let names = self.columns().join(", ");
                let message = format!("no column {name:?}; there are {names}");
                error(py, ErrorKind::Argument, message)
            })
        };
        let chosen: Vec<usize> = columns.iter().map(number).collect::<PyResult<_>>()?;
        let schema = self.schema.project(&chosen).map_err(|failed| raised(py, &failed))?;
        let of_whole = |i: &usize| self.columns.as_ref().map_or(*i, |known| known[*i]);
        let columns = Some(chosen.iter().map(of_whole).collect());
        Ok(Self { schema: Arc::new(schema), columns, ..self.clone() })
    }

    /// Exports the table as a new stream of the Arrow C data interface.
    #[pyo3(signature = (requested_schema: "object | None" = None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows ignoring the requested schema: the consumer casts.
        let _ = requested_schema;
        let batches: Box<dyn RecordBatchReader + Send> = match &self.rows {
            Rows::Accesses { trace, options, selection } if options.get_threads().get() > 1 => {
                let batches = AccessBatches::new(Arc::clone(trace), *options);
                let batches = batches.map_err(|failed| raised(py, &failed))?;
                let threads = options.get_threads().get();
                let batches = InParallel::new(py, batches.select(selection.clone()), threads)?;
                self.projected(Box::new(batches))
            }
            _ => self.batches().map_err(|failed| raised(py, &failed))?,
        };
        // The capsule releases the stream unless a consumer takes it out.
        PyCapsule::new_with_value(py, export(batches), c"arrow_array_stream")
    }

    /// Exports the columns as a schema of the Arrow C data interface.
    pub(crate) fn __arrow_c_schema__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema);
        let schema = schema.map_err(|failed| raised(py, &failed))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Converts the table to a `polars.DataFrame`.
    #[pyo3(signature = () -> "Any")]
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Converts the table to a `pyarrow.Table`.
    #[pyo3(signature = () -> "Any")]
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Converts the table to a `pandas.DataFrame`, through pyarrow.
    #[pyo3(signature = () -> "Any")]
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// The first rows as a table for a notebook; of the rows of a replay, those with the most sectors beyond the ideal.
    #[pyo3(signature = () -> "str")]
    pub(crate) fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let length = self.__len__(py)?;
        let first = || self.batches()?.next().transpose().map_err(BatchError::from);
        let batch = py.detach(first).map_err(|failed| raised(py, &failed))?;
        Ok(batch.map_or_else(String::new, |batch| crate::notebook::table(&batch, length)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(length) = self.length.get() {
            return Ok(*length);
        }
        let length = py.detach(|| match &self.rows {
            Rows::Accesses { trace, selection: None, .. } => Ok(trace.accesses()? as usize),
            _ => self.batches().and_then(|batches| Ok(rows(batches)?)),
        });
        let length = length.map_err(|failed| raised(py, &failed))?;
        Ok(*self.length.get_or_init(|| length))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Table({} rows: {})", self.__len__(py)?, self.columns().join(", ")))
    }
}

/// Batches that worker threads make.
struct InParallel {
    batches: AccessBatches<'static>,
    pool: ThreadPool,
}

impl InParallel {
    fn new(py: Python<'_>, batches: AccessBatches<'static>, threads: usize) -> PyResult<Self> {
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
