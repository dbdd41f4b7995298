//! [`per_pc`]: the counters of a replay per program counter.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use warpload_replay::{PcColumn, PcSummary, PcValue, ReplayOptions, Summary};
use warpload_trace::MemoryOperation;

use crate::block::Names;
use crate::columns::{VERSION, names};
use crate::loads::{BatchError, in_words};

/// The counters that become columns. Means are left out, because a reader can divide a sum by the loads.
fn counters() -> impl Iterator<Item = PcColumn> {
    PcSummary::columns().into_iter().filter(|column| !column.is_mean)
}

/// Returns the schema of [`per_pc`]. Its metadata has the key `version`, and `digest` and `options` if they are known.
#[must_use]
pub fn per_pc_schema(summary: &Summary, options: Option<&ReplayOptions<'_>>) -> SchemaRef {
    let mut metadata = HashMap::from([("version".to_owned(), VERSION.to_owned())]);
    if let Some(options) = options {
        metadata.insert("options".to_owned(), in_words(options));
    }
    if let Some(digest) = summary.digest {
        metadata.insert("digest".to_owned(), digest.to_string());
    }
    let mut fields = vec![
        Field::new("kernel", names(), false),
        Field::new("pc", DataType::UInt64, false),
        Field::new("opcode", names(), false),
    ];
    fields.extend(
        counters().map(|column| Field::new(column.name, DataType::UInt64, column.is_optional)),
    );
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Returns a row for each program counter and opcode of [`Summary::per_pc`], with the [columns](PcSummary::columns) of
/// its counters. Local memory has its own sectors. Counters that do not apply to an opcode are null.
///
/// `options` are the replay's, for the metadata.
///
/// # Errors
/// Returns [`BatchError::Arrow`] if the batch cannot be made.
pub fn per_pc(
    summary: &Summary,
    options: Option<&ReplayOptions<'_>>,
) -> Result<RecordBatch, BatchError> {
    batch(&summary.per_pc, summary, options)
}

/// Returns a row for each program counter and opcode of copies from global to shared memory,
/// [`Summary::per_pc_copies`], as [`per_pc`] does for loads.
///
/// # Errors
/// Returns [`BatchError::Arrow`] if the batch cannot be made.
pub fn per_pc_copies(
    summary: &Summary,
    options: Option<&ReplayOptions<'_>>,
) -> Result<RecordBatch, BatchError> {
    batch(&summary.per_pc_copies, summary, options)
}

fn batch(
    rows: &[PcSummary],
    summary: &Summary,
    options: Option<&ReplayOptions<'_>>,
) -> Result<RecordBatch, BatchError> {
    let text = |of: fn(&PcSummary) -> &str| {
        let (texts, keys) = Names::new(rows.iter().map(of));
        texts.column(keys)
    };
    let mut columns: Vec<ArrayRef> = vec![
        text(|row| &row.kernel)?,
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.pc.0))),
        text(|row| &row.opcode)?,
    ];
    let reaches_global: Vec<bool> =
        rows.iter().map(|row| MemoryOperation::of_opcode(&row.opcode).reaches_global()).collect();
    for column in counters() {
        // Local memory counts its own sectors.
        let of_local = |row: &PcSummary| match column.name {
            "sectors" => Some(row.local?.sectors),
            "ideal_sectors" => Some(row.local?.ideal_sectors),
            _ => None,
        };
        let value = |(row, reaches_global): (&PcSummary, &bool)| match (column.value)(row) {
            _ if column.is_global && !reaches_global => of_local(row),
            PcValue::Count(count) => Some(count),
            _ => None,
        };
        let values = rows.iter().zip(&reaches_global).map(value);
        columns.push(Arc::new(values.collect::<UInt64Array>()));
    }
    Ok(RecordBatch::try_new(per_pc_schema(summary, options), columns)?)
}
