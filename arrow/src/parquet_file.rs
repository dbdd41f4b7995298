//! [`write_parquet`]: the accesses of a trace as a Parquet file.

use std::io::Write;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::accesses::{AccessBatches, BatchError};
use crate::columns::VERSION;

/// The rows in a group. A group is held in memory until it is written: about 40 MB of addresses at most.
const GROUP_ROWS: usize = 1 << 17;

/// Columns with close neighbours, stored as differences.
const ASCENDING: [&[&str]; 3] = [&["record"], &["pc"], &["addresses", "list", "item"]];

/// Writes the batches of a trace to a Parquet file. Calls `progress` after each batch with the bytes of the trace read
/// since the last call.
///
/// # Errors
/// Returns [`BatchError`] if a block is damaged or the output cannot be written. The output is then incomplete.
pub fn write_parquet(
    mut batches: AccessBatches<'_>,
    output: impl Write + Send,
    progress: impl Fn(u64),
) -> Result<(), BatchError> {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("warpload {VERSION}"))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS));
    for path in ASCENDING {
        let path = ColumnPath::new(path.iter().map(|part| (*part).to_owned()).collect());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    let mut writer = ArrowWriter::try_new(output, batches.schema(), Some(properties.build()))?;
    let mut done = 0;
    while let Some(batch) = batches.next() {
        writer.write(&batch?)?;
        progress(batches.bytes_read() - done);
        done = batches.bytes_read();
    }
    writer.close()?;
    Ok(())
}
