//! [`ReplayError`]: why a trace cannot be replayed.

use warpload::memory::ConfigError;
use warpload_trace::binary::TraceError;

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace is damaged or malformed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A kernel's windows are invalid, and one of its loads has generic addresses.
    #[error("kernel {index} ({name})")]
    Windows {
        /// The kernel's number, from 0.
        index: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        source: ConfigError,
    },
    /// [`ReplayOptions::interrupt`](super::ReplayOptions::interrupt) stopped it.
    #[error("interrupted")]
    Interrupted,
}
