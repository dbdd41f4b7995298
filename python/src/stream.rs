//! Streams of Arrow's C interface that several threads may read at the same time.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use warpload_arrow::arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use warpload_arrow::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use warpload_arrow::arrow_array::{Array, RecordBatchReader, StructArray};
use warpload_arrow::arrow_schema::{ArrowError, SchemaRef};

/// `EINVAL`, the interface's error number for errors without one of their own.
const INVALID: c_int = 22;
/// The error of a stream that the parent process made.
const FORKED: &CStr = c"the stream was made before the process was forked; make it in the child";

/// The data of a stream.
struct Exported {
    schema: SchemaRef,
    batches: Mutex<Box<dyn RecordBatchReader + Send>>,
    /// The first error, after which there are no more batches. It never changes, because one thread may read it while
    /// another asks for a batch.
    error: OnceLock<CString>,
    /// The process that made the stream.
    process: u32,
}

/// Exports batches as a stream. The interface asks consumers to request one batch after another, but Python's consumers
/// use several threads and `FFI_ArrowArrayStream::new` has no lock.
pub(crate) fn export(batches: Box<dyn RecordBatchReader + Send>) -> FFI_ArrowArrayStream {
    let exported = Exported {
        schema: batches.schema(),
        batches: Mutex::new(batches),
        error: OnceLock::new(),
        process: std::process::id(),
    };
    let data = Arc::into_raw(Arc::new(exported)).cast_mut().cast::<c_void>();
    // SAFETY: the functions take a stream whose data is an `Arc<Exported>`, and the stream owns one reference to it.
    // `release` gives that reference back once, so the data exists until then.
    unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(get_schema),
            Some(get_next),
            Some(get_last_error),
            Some(release),
            data,
        )
    }
}

impl Exported {
    /// Whether the parent process made the stream. A child does not have the parent's threads and would wait forever
    /// for them to make batches or release a lock.
    fn is_of_parent(&self) -> bool {
        std::process::id() != self.process
    }

    /// The next batch, an empty array at the end, or an error number.
    fn next(&self) -> Result<FFI_ArrowArray, c_int> {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        // Checked and set under the lock. Otherwise another thread could ask after the error and take its answer for
        // the end.
        if self.error.get().is_some() {
            return Err(INVALID);
        }
        match batches.next().transpose() {
            Ok(None) => Ok(FFI_ArrowArray::empty()),
            Ok(Some(batch)) => Ok(FFI_ArrowArray::new(&StructArray::from(batch).to_data())),
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Keeps the first error, and returns its number.
    fn fail(&self, error: &ArrowError) -> c_int {
        self.error.get_or_init(|| CString::new(error.to_string()).unwrap_or_default());
        INVALID
    }
}

/// The data of a stream. The reference keeps it alive even if another thread releases the stream.
///
/// # Safety
/// `stream` must be one of [`export`] that is not released.
unsafe fn of(stream: *mut FFI_ArrowArrayStream) -> Arc<Exported> {
    // SAFETY: the caller's; all functions but `release` only read the stream, so threads can do so at the same time.
    let exported = unsafe { (*stream).private_data() }.cast_const().cast::<Exported>();
    // SAFETY: it comes from `Arc::into_raw`, and the stream still has its count.
    unsafe {
        Arc::increment_strong_count(exported);
        Arc::from_raw(exported)
    }
}

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    schema: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: the interface lets it be called with such a stream.
    let exported = unsafe { of(stream) };
    match FFI_ArrowSchema::try_from(&*exported.schema) {
        Ok(known) => {
            // SAFETY: the caller lends a place, and its old bytes need no release.
            unsafe { schema.write(known) };
            0
        }
        Err(error) => exported.fail(&error),
    }
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    array: *mut FFI_ArrowArray,
) -> c_int {
    // SAFETY: the interface lets it be called with such a stream.
    let exported = unsafe { of(stream) };
    if exported.is_of_parent() {
        return INVALID;
    }
    match exported.next() {
        Ok(batch) => {
            // SAFETY: the caller lends a place, and its old bytes need no release.
            unsafe { array.write(batch) };
            0
        }
        Err(number) => number,
    }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: the interface lets it be called with such a stream, and the text be read until the stream is
    // released: the error does not change before.
    let exported = unsafe { of(stream) };
    if exported.is_of_parent() {
        return FORKED.as_ptr();
    }
    exported.error.get().map_or(std::ptr::null(), |error| error.as_ptr())
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: the interface lets it be called once, with such a stream, and with none of the others after it. The count
    // is the one of `export`.
    unsafe {
        (*stream).set_release(None);
        drop(Arc::from_raw((*stream).private_data().cast_const().cast::<Exported>()));
    }
}
