//! [`BatchError`]: why there are no batches.

use arrow_schema::ArrowError;
use warpload_replay::ReplayError;
use warpload_trace::TraceError;

/// Why a trace could not be turned into batches, or these not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A block is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The windows of a kernel are invalid, or a block that tells whether it needs them is damaged.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A batch could not be made.
    #[error(transparent)]
    Arrow(ArrowError),
    /// The Parquet file could not be written.
    #[cfg(feature = "parquet")]
    #[error("the Parquet file cannot be written")]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl From<ArrowError> for BatchError {
    /// Returns the error of this crate that [`ArrowError::ExternalError`] holds, if it does.
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => Self::Arrow(ArrowError::ExternalError(source)),
            },
            error => Self::Arrow(error),
        }
    }
}

impl From<BatchError> for ArrowError {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Arrow(error) => error,
            error => Self::ExternalError(Box::new(error)),
        }
    }
}
