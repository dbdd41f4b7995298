//! [`place_of`]: the file and the place that an error is about.

use std::error::Error;
use std::path::Path;

use crate::binary::TraceError;
use crate::import::ImportError;
use crate::open::OpenError;

/// Returns the file that an error of this crate names, with line and column, from 1, if it names these; `None` for any
/// other error. Does not look at causes.
#[must_use]
pub fn place_of<'e>(error: &'e (dyn Error + 'static)) -> Option<(&'e Path, Option<(u64, u64)>)> {
    if let Some(error) = error.downcast_ref() {
        return match error {
            TraceError::Read { path: file, .. } => Some((file, None)),
            _ => None,
        };
    }
    match error.downcast_ref() {
        Some(OpenError::Import(error)) => return place_of(error),
        Some(OpenError::Trace { path, .. }) => return Some((path, None)),
        _ => {}
    }
    match error.downcast_ref()? {
        ImportError::Line { file, line, column, .. } => Some((file, Some((*line, *column as u64)))),
        ImportError::File { file, .. } | ImportError::Read { file, .. } => Some((file, None)),
        _ => None,
    }
}
