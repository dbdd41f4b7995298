//! NumPy arrays in and out.

use numpy::ndarray::ArrayView2;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use warpload::lane::{LANES, LaneValues};

/// Returns numbers of 32 bits as a contiguous array. Numbers that do not fit are refused.
pub(crate) fn numbers<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, u32>> {
    Ok(converted(values, 1)?.cast::<PyArray1<u32>>()?.try_readonly()?)
}

/// Returns rows of 32 numbers, one a lane.
pub(crate) fn rows<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, u32>> {
    Ok(converted(values, 2)?.cast::<PyArray2<u32>>()?.try_readonly()?)
}

fn converted<'py>(values: &Bound<'py, PyAny>, dimensions: u8) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(values.py(), "warpload._arrays", "words")?.call1((values, dimensions))
}

/// Returns a copy of rows that cannot be written: writing it would not change what it is a copy of.
pub(crate) fn copy_of_rows<'py>(
    py: Python<'py>,
    rows: &[LaneValues],
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let flat = rows.as_flattened();
    let view = ArrayView2::from_shape((rows.len(), LANES), flat);
    let view = view.map_err(|error| crate::error::error(py, error))?;
    let array = PyArray2::from_array(py, &view);
    frozen(&array)?;
    Ok(array)
}

/// Returns a copy of numbers that cannot be written.
pub(crate) fn copy_of<'py, T: Element + Copy>(
    py: Python<'py>,
    numbers: &[T],
) -> PyResult<Bound<'py, PyArray1<T>>> {
    let array = PyArray1::from_slice(py, numbers);
    frozen(&array)?;
    Ok(array)
}

fn frozen(array: &Bound<'_, PyAny>) -> PyResult<()> {
    array.call_method1("setflags", (false,)).map(drop)
}
