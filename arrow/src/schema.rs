//! [`load_schema`]: the columns of loads.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use warpload::lane::LANES;
use warpload_trace::BinaryTrace;

use crate::options::{LoadOptions, in_words};

/// The version of the program that made the batches.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the schema of the batches of a trace's loads. Its metadata say `version`, `source` and
/// `options`.
#[must_use]
pub fn load_schema(trace: &BinaryTrace, options: &LoadOptions<'_>) -> SchemaRef {
    let metadata = HashMap::from([
        ("version".to_owned(), VERSION.to_owned()),
        ("source".to_owned(), trace.contents().source.clone()),
        ("options".to_owned(), in_words(options.get_replay())),
    ]);
    Arc::new(Schema::new_with_metadata(fields(options.get_values()), metadata))
}

fn fields(has_values: bool) -> Fields {
    let always = |name: &str, kind| Field::new(name, kind, false);
    let maybe = |name: &str, kind| Field::new(name, kind, true);
    let mut fields = vec![
        always("record", DataType::UInt64),
        always("kernel", DataType::UInt32),
        maybe("cta_x", DataType::UInt32),
        maybe("cta_y", DataType::UInt32),
        maybe("cta_z", DataType::UInt32),
        maybe("warp", DataType::UInt32),
        always("pc", DataType::UInt64),
        always("opcode", names()),
        always("space", names()),
        always("bytes", DataType::UInt8),
        always("active", DataType::UInt32),
        always("lanes", DataType::UInt8),
        maybe("addresses", DataType::FixedSizeList(address_item(), LANES as i32)),
        maybe("sectors", DataType::UInt16),
        maybe("ideal_sectors", DataType::UInt16),
        maybe("lines", DataType::UInt16),
        maybe("wavefronts", DataType::UInt16),
        maybe("ideal_wavefronts", DataType::UInt16),
    ];
    if has_values {
        fields.push(maybe("values", DataType::FixedSizeList(lane_item(), LANES as i32)));
    }
    fields.into()
}

/// Returns the type of names: a dictionary, whose keys are as pyarrow and Polars make them.
pub(crate) fn names() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Returns one lane's address.
pub(crate) fn address_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::UInt64, true))
}

/// Returns one lane's registers.
pub(crate) fn lane_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::List(register_item()), true))
}

/// Returns one register.
pub(crate) fn register_item() -> FieldRef {
    Arc::new(Field::new("item", DataType::UInt32, false))
}
