//! NumPy arrays in and out.

use std::convert::Infallible;

use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use warpload::lane::{LANES, LaneValues};

/// Converts to a contiguous array of 32-bit numbers. Refuses numbers that do not fit.
pub(crate) fn numbers<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, u32>> {
    Ok(converted(values, 1)?.cast::<PyArray1<u32>>()?.try_readonly()?)
}

/// Converts to rows of 32 numbers, one a lane.
pub(crate) fn rows<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, u32>> {
    Ok(converted(values, 2)?.cast::<PyArray2<u32>>()?.try_readonly()?)
}

fn converted<'py>(values: &Bound<'py, PyAny>, dimensions: u8) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(values.py(), "warpload._arrays", "words")?.call1((values, dimensions))
}

/// A read-only array of 32-bit words. It is a copy, so NumPy should refuse a write rather than lose it.
pub(crate) struct Words<'py>(Bound<'py, PyAny>);

impl<'py> Words<'py> {
    fn new<T>(array: Bound<'py, T>) -> PyResult<Self> {
        let array = array.into_any();
        array.call_method1("setflags", (false,))?;
        Ok(Self(array))
    }
}

impl<'py> IntoPyObject<'py> for Words<'py> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = Infallible;

    #[cfg(feature = "stubs")]
    const OUTPUT_TYPE: PyStaticExpr = pyo3::type_hint_subscript!(
        pyo3::type_hint_identifier!("numpy.typing", "NDArray"),
        pyo3::type_hint_identifier!("numpy", "uint32")
    );

    fn into_pyobject(self, _: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }
}

pub(crate) fn copy_of_rows<'py>(py: Python<'py>, rows: &[LaneValues]) -> PyResult<Words<'py>> {
    let flat = rows.as_flattened();
    let view = ArrayView2::from_shape((rows.len(), LANES), flat);
    let view =
        view.map_err(|error| crate::error::error(py, crate::error::ErrorKind::Argument, error))?;
    Words::new(PyArray2::from_array(py, &view))
}

pub(crate) fn copy_of<'py>(py: Python<'py>, numbers: &[u32]) -> PyResult<Words<'py>> {
    Words::new(PyArray1::from_slice(py, numbers))
}
