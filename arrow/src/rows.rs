//! [`rows`]: the rows of a summary.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use warpload_replay::{AccessCounts, ReplayOptions, Row, Summary};

use crate::accesses::{BatchError, in_words};
use crate::block::Names;
use crate::columns::{VERSION, names};

/// Returns the schema of [`rows`]. Its metadata has the key `version`, and `digest` and `options` if they are known.
#[must_use]
pub fn rows_schema(summary: &Summary, options: Option<&ReplayOptions<'_>>) -> SchemaRef {
    let mut metadata = HashMap::from([("version".to_owned(), VERSION.to_owned())]);
    if let Some(options) = options {
        metadata.insert("options".to_owned(), in_words(options));
    }
    if let Some(digest) = summary.digest {
        metadata.insert("digest".to_owned(), digest.to_string());
    }
    let mut fields = vec![
        Field::new("launch", DataType::UInt64, false),
        Field::new("kernel", names(), false),
        Field::new("pc", DataType::UInt64, false),
        Field::new("opcode", names(), false),
        Field::new("kind", names(), false),
        Field::new("space", names(), false),
        Field::new("access_bytes", DataType::UInt32, true),
    ];
    let counters = AccessCounts::columns().into_iter();
    fields.extend(counters.map(|name| Field::new(name, DataType::UInt64, true)));
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Returns the rows of a summary: what each one is, then the [columns](AccessCounts::columns) of its counters. Counters
/// of memories that an access does not reach are null.
///
/// `options` are the replay's, for the metadata.
///
/// # Errors
/// Returns [`BatchError::Arrow`] if the batch cannot be made.
pub fn rows(
    summary: &Summary,
    options: Option<&ReplayOptions<'_>>,
) -> Result<RecordBatch, BatchError> {
    let rows = &summary.rows;
    let text = |of: fn(&Row) -> &str| {
        let (texts, keys) = Names::new(rows.iter().map(of));
        texts.column(keys)
    };
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.launch))),
        text(|row| &row.kernel)?,
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.pc.0))),
        text(|row| &row.opcode)?,
        text(|row| row.kind.name())?,
        text(|row| row.space.name())?,
        Arc::new(rows.iter().map(|row| row.access_bytes).collect::<UInt32Array>()),
    ];
    let mut counters = vec![Vec::with_capacity(rows.len()); AccessCounts::columns().len()];
    for row in rows {
        let values = row.counts.values();
        counters.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    columns.extend(counters.into_iter().map(|of| Arc::new(UInt64Array::from(of)) as ArrayRef));
    Ok(RecordBatch::try_new(rows_schema(summary, options), columns)?)
}
