//! Arrow record batches of the accesses of a trace, and of the counts of each instruction of a replay; with feature
//! `parquet`, Parquet files. docs/arrow.md lists the columns.
//!
//! [`AccessBatches`] lazily makes one batch for each block of a trace; [`rows`] makes one for the summary of a replay.
//! The reexported [`arrow_array`] passes them to other languages.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use arrow_array::RecordBatchReader;
//! use warpload_replay::{ReplayData, ReplayOptions};
//! use warpload_trace::BinaryTrace;
//! use warpload_arrow::{AccessBatches, AccessOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trace = Arc::new(BinaryTrace::open(Path::new("../traces/generic.wlt"))?);
//! let accesses = trace.accesses()?;
//! let options = AccessOptions::new(ReplayOptions::new(ReplayData::Absent));
//! let batches = AccessBatches::new(trace, options)?;
//! assert_eq!(batches.schema().field(0).name(), "record");
//! let mut rows = 0;
//! for batch in batches {
//!     rows += batch?.num_rows() as u64;
//! }
//! assert_eq!(rows, accesses);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod accesses;
mod block;
mod columns;
#[cfg(feature = "parquet")]
mod parquet_file;
mod rows;

pub use arrow_array;
pub use arrow_schema;

pub use self::accesses::AccessBatches;
#[cfg(feature = "parquet")]
pub use self::parquet_file::write_parquet;
pub use self::rows::{rows, rows_schema};
pub use crate::accesses::{AccessOptions, BatchError};
pub use crate::columns::access_schema;
