//! [`per_pc`]: what a replay counted of each program counter.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use warpload_replay::{PcSummary, ReplayOptions, Summary};
use warpload_trace::MemoryOperation;

use crate::block::Names;
use crate::columns::{VERSION, names};
use crate::loads::{BatchError, in_words};

/// A column of sums.
struct Sum {
    name: &'static str,
    is_nullable: bool,
    /// Returns a row's sum; `None` if it does not apply to the opcode.
    of: fn(&PcSummary) -> Option<u64>,
}

const fn always(name: &'static str, of: fn(&PcSummary) -> Option<u64>) -> Sum {
    Sum { name, is_nullable: false, of }
}

const fn maybe(name: &'static str, of: fn(&PcSummary) -> Option<u64>) -> Sum {
    Sum { name, is_nullable: true, of }
}

/// The columns of sums, in order.
const SUMS: [Sum; 13] = [
    always("loads", |row| Some(row.loads)),
    always("lanes", |row| Some(row.lanes)),
    maybe("sectors", |row| match &row.local {
        _ if reaches_global(row) => Some(row.sectors.sum(row.loads)),
        local => local.map(|local| local.sectors),
    }),
    maybe("ideal_sectors", |row| match &row.local {
        _ if reaches_global(row) => Some(row.ideal_sectors),
        local => local.map(|local| local.ideal_sectors),
    }),
    maybe("wavefronts", |row| row.shared.and_then(|shared| shared.all_wavefronts())),
    maybe("ideal_wavefronts", |row| row.shared.map(|shared| shared.ideal_wavefronts)),
    maybe("addresses", |row| row.constant.map(|constant| constant.addresses)),
    always("outside_window", |row| Some(row.lane_faults.outside_window)),
    always("outside_allocation", |row| Some(row.lane_faults.outside_allocation)),
    always("misaligned_address", |row| Some(row.lane_faults.misaligned_address)),
    maybe("conflicts", |row| row.shared.and_then(|shared| shared.conflicts)),
    maybe("local_sectors", |row| row.local.map(|local| local.sectors)),
    maybe("ideal_local_sectors", |row| row.local.map(|local| local.ideal_sectors)),
];

/// Returns whether the opcode can reach global memory.
fn reaches_global(row: &PcSummary) -> bool {
    MemoryOperation::of_opcode(&row.opcode).reaches_global()
}

/// Returns the schema of [`per_pc`]. Its metadata say `version`, and `digest` and `options` if there are
/// any.
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
    fields.extend(SUMS.iter().map(|sum| Field::new(sum.name, DataType::UInt64, sum.is_nullable)));
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// Returns a row for each program counter and opcode of a summary, [`Summary::per_pc`], with the sums over
/// its loads. Local memory has the sectors of its own; what does not apply to an opcode is null.
///
/// The options are those of the replay, for the metadata.
///
/// # Errors
/// Returns [`BatchError::Arrow`] if the batch cannot be made.
pub fn per_pc(
    summary: &Summary,
    options: Option<&ReplayOptions<'_>>,
) -> Result<RecordBatch, BatchError> {
    let rows = &summary.per_pc;
    let text = |of: fn(&PcSummary) -> &str| {
        let (texts, keys) = Names::new(rows.iter().map(of));
        texts.column(keys)
    };
    let mut columns: Vec<ArrayRef> = vec![
        text(|row| &row.kernel)?,
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.pc.0))),
        text(|row| &row.opcode)?,
    ];
    for sum in &SUMS {
        columns.push(Arc::new(rows.iter().map(sum.of).collect::<UInt64Array>()));
    }
    Ok(RecordBatch::try_new(per_pc_schema(summary, options), columns)?)
}
