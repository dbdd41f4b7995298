//! Bytes of Python objects: borrowed if they can never change, else copied.

use std::ffi::c_ulong;
use std::ops::Range;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi::PyType_GetFlags;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView};

/// The most nested views that [`root_of`] follows.
const MAX_VIEWS: usize = 16;

/// Bytes that stay in place and unchanged for as long as this exists.
#[derive(Clone)]
pub(crate) enum Root {
    Bytes(std::sync::Arc<PyBackedBytes>),
    Mapped(std::sync::Arc<Mapped>),
}

impl AsRef<[u8]> for Root {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Mapped(mapped) => mapped.bytes(),
        }
    }
}

/// A read-only `mmap.mmap`.
pub(crate) struct Mapped {
    start: *const u8,
    length: usize,
    /// Holds an export of the map's buffer, so the map can be neither closed nor resized.
    _array: Py<PyArray1<u8>>,
}

// SAFETY: the bytes are only read, from any thread; the array is only dropped, which PyO3 allows on any
// thread.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// `map` is exactly a `mmap.mmap`, not a subclass. `None` if it is writable.
    fn new(map: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if !PyMemoryView::from(map)?.getattr("readonly")?.extract::<bool>()? {
            return Ok(None);
        }
        let array = array(map)?;
        // A program can replace the Python function that makes the array, so the array's base is checked.
        let base = array.getattr("base")?;
        let is_of_map = array.is_exact_instance_of::<PyUntypedArray>()
            && array.is_c_contiguous()
            && base.is_exact_instance_of::<PyMemoryView>()
            && base.getattr("obj")?.is(map)
            && base.getattr("readonly")?.extract()?
            && base.getattr("nbytes")?.extract::<usize>()? == array.len();
        let (start, length) = (array.data().cast_const(), array.len());
        Ok(is_of_map.then(|| Self { start, length, _array: array.unbind() }))
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: `start` and `length` are the buffer of a read-only `mmap.mmap`, and the array holds an export of it.
        // Meanwhile the map can be neither closed nor resized, and the process does not write through it. As for every
        // mapped file, the documentation asks that the file does not change.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// A bytes-like object.
pub(crate) struct Source<'py> {
    view: View<'py>,
    /// The owner of the bytes, and their place in it; `None` if the bytes could change.
    root: Option<(Bound<'py, PyAny>, Root, Range<usize>)>,
}

enum View<'py> {
    Bytes(Bound<'py, PyBytes>),
    Array(PyReadonlyArray1<'py, u8>),
}

impl<'py> Source<'py> {
    pub(crate) fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            let backed = PyBackedBytes::from(bytes.clone());
            let place = 0..backed.len();
            let root = Some((object.clone(), Root::Bytes(backed.into()), place));
            return Ok(Self { view: View::Bytes(bytes.clone()), root });
        }
        let array = array(object)?;
        let root = match root_of(object)? {
            Some((holder, root)) => {
                let place = place_in(&array, root.as_ref())?;
                place.map(|place| (holder, root, place))
            }
            None => None,
        };
        Ok(Self { view: View::Array(array.try_readonly()?), root })
    }

    /// The bytes, to be used at once: without a root they can change as soon as Python code runs.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        match &self.view {
            View::Bytes(bytes) => Ok(bytes.as_bytes()),
            View::Array(array) => Ok(array.as_slice()?),
        }
    }

    /// The place of the bytes in the owner of `other`'s bytes. `None` if the owners differ or the bytes could change.
    pub(crate) fn place_beside(&self, other: &Self) -> Option<Range<usize>> {
        match (&self.root, &other.root) {
            (Some((holder, _, place)), Some((other, ..))) if holder.is(other) => {
                Some(place.clone())
            }
            _ => None,
        }
    }

    /// The owner of the bytes, if they can never change.
    pub(crate) fn root(&self) -> Option<Root> {
        self.root.as_ref().map(|(_, root, _)| root.clone())
    }
}

/// Views the bytes of an object as an array. Its export of the buffer keeps them in place.
fn array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u8>>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let array = FUNCTION.import(object.py(), "warpload._arrays", "octets")?.call1((object,))?;
    Ok(array.cast_into::<PyArray1<u8>>()?)
}

/// The immutable owner of a view's bytes.
fn root_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, Root)>> {
    let mut holder = object.clone();
    for _ in 0..MAX_VIEWS {
        if let Ok(bytes) = holder.cast_exact::<PyBytes>() {
            let root = Root::Bytes(PyBackedBytes::from(bytes.clone()).into());
            return Ok(Some((holder, root)));
        }
        if is_map(&holder)? {
            let mapped = Mapped::new(&holder)?;
            return Ok(mapped.map(|mapped| (holder, Root::Mapped(mapped.into()))));
        }
        // Only these two types, because another one could name any object as its base. The caller checks that the bytes
        // lie in the owner.
        holder = if holder.is_exact_instance_of::<PyMemoryView>() {
            holder.getattr("obj")?
        } else if holder.cast::<PyUntypedArray>().is_ok() {
            holder.getattr("base")?
        } else {
            return Ok(None);
        };
    }
    Ok(None)
}

/// Whether an object is exactly a `mmap.mmap`. The type is recognized by its flags and name, because a program can
/// replace `mmap.mmap` in its module.
fn is_map(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    /// `Py_TPFLAGS_IMMUTABLETYPE`: only C code can make such a type, and its name cannot be changed.
    const IMMUTABLE: c_ulong = 1 << 8;
    let kind = object.get_type();
    // Asked of the type itself, because a metaclass could answer for `__flags__`.
    // SAFETY: it is a type, which `kind` keeps alive.
    let flags = unsafe { PyType_GetFlags(kind.as_type_ptr()) };
    Ok(flags & IMMUTABLE != 0 && kind.module()? == "mmap" && kind.name()? == "mmap")
}

/// The place of an array's bytes in `bytes`; `None` if they lie elsewhere.
fn place_in(array: &Bound<'_, PyArray1<u8>>, bytes: &[u8]) -> PyResult<Option<Range<usize>>> {
    let (start, length) = (array.data() as usize, array.len());
    let place = start.checked_sub(bytes.as_ptr() as usize).and_then(|from| {
        let to = from.checked_add(length)?;
        (to <= bytes.len()).then_some(from..to)
    });
    Ok(place)
}
