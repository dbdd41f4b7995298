//! Streams of Arrow's C interface that threads may read at the same time.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use warpload_arrow::arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use warpload_arrow::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use warpload_arrow::arrow_array::{Array, RecordBatchReader, StructArray};
use warpload_arrow::arrow_schema::{ArrowError, SchemaRef};

/// `EINVAL`, which the interface has for errors without a number of their own.
const INVALID: c_int = 22;
/// What a child is told of a stream of its parent's.
const FORKED: &CStr = c"the stream was made before the process was forked; make it in the child";

/// What a stream is of.
struct Exported {
    schema: SchemaRef,
    batches: Mutex<Box<dyn RecordBatchReader + Send>>,
    /// The first error, after which there is no batch. It stays, since a thread may read it while another asks
    /// for a batch.
    error: OnceLock<CString>,
    /// The process that has made the stream.
    process: u32,
}

/// Returns a stream of these batches. The interface leaves it to consumers to ask for one batch after another,
/// which those of Python do not do: `FFI_ArrowArrayStream::new` has no lock.
pub(crate) fn export(batches: Box<dyn RecordBatchReader + Send>) -> FFI_ArrowArrayStream {
    let exported = Exported {
        schema: batches.schema(),
        batches: Mutex::new(batches),
        error: OnceLock::new(),
        process: std::process::id(),
    };
    let data = Arc::into_raw(Arc::new(exported)).cast_mut().cast::<c_void>();
    // SAFETY: the functions take a stream whose data is an `Arc<Exported>`, of which the stream owns one count.
    // Until it is released, that is there; `release` gives it back once, and then is no more.
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
    /// Whether the stream is that of a parent, whose threads a child does not have, and would wait for forever:
    /// for those that make batches, or for one that held a lock.
    fn is_of_parent(&self) -> bool {
        std::process::id() != self.process
    }

    /// Returns the next batch, an empty array at the end, or the number of the error.
    fn next(&self) -> Result<FFI_ArrowArray, c_int> {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        // Noted before the lock is given back: another thread would take the end after an error for the end.
        if self.error.get().is_some() {
            return Err(INVALID);
        }
        match batches.next().transpose() {
            Ok(None) => Ok(FFI_ArrowArray::empty()),
            Ok(Some(batch)) => Ok(FFI_ArrowArray::new(&StructArray::from(batch).to_data())),
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Notes an error, and returns its number.
    fn fail(&self, error: &ArrowError) -> c_int {
        self.error.get_or_init(|| CString::new(error.to_string()).unwrap_or_default());
        INVALID
    }
}

/// Returns what a stream is of, which then is there for as long as that is held, even if another thread releases
/// the stream.
///
/// # Safety
/// `stream` must be one of [`export`] that is not released.
unsafe fn of(stream: *mut FFI_ArrowArrayStream) -> Arc<Exported> {
    // SAFETY: the caller's; the functions but `release` only read the stream, so that threads can at the same time.
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
            // SAFETY: the caller lends a place, whose old bytes are not to be released.
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
            // SAFETY: the caller lends a place, whose old bytes are not to be released.
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
    // SAFETY: the interface lets it be called once, with such a stream, by which nothing is called later. The count
    // is the one of `export`.
    unsafe {
        (*stream).set_release(None);
        drop(Arc::from_raw((*stream).private_data().cast_const().cast::<Exported>()));
    }
}
