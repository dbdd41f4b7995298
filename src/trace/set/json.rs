//! The file of a trace set.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{SetPart, TraceSet, VERSION};
use crate::lines::without_mark;
use crate::trace::binary::{Contents, TraceError, operations};
use crate::trace::operation::Operation;

/// What every version of the file has.
#[derive(Deserialize)]
struct AnyVersion {
    set: VersionOnly,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSet<'s> {
    set: Totals,
    #[serde(borrow)]
    source: Cow<'s, str>,
    tools: Cow<'s, [String]>,
    notes: Cow<'s, [String]>,
    complete: bool,
    #[serde(with = "by_value")]
    operations: Cow<'s, [Operation]>,
    allocations: Cow<'s, [(u64, u64)]>,
    #[serde(default, skip_serializing)]
    parts: Vec<RawPart<'s>>,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Totals {
    version: u32,
    records: u64,
    memory_records: u64,
    loads: u64,
    kernels: u64,
    parts: u64,
    #[serde(with = "hexadecimal")]
    checksum: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPart<'s> {
    #[serde(borrow)]
    file: Cow<'s, str>,
    bytes: u64,
    #[serde(with = "hexadecimal")]
    checksum: u32,
    records: u64,
    memory_records: u64,
    loads: u64,
    kernels: u64,
    trailing_blocks: u64,
}

/// Operations, lent or owned.
mod by_value {
    use super::{Cow, Operation, operations};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        list: &Cow<'_, [Operation]>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        operations::serialize(list, to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Cow<'static, [Operation]>, D::Error> {
        operations::deserialize(from).map(Cow::Owned)
    }
}

/// A checksum in JSON: eight hexadecimal digits.
mod hexadecimal {
    use std::borrow::Cow;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(checksum: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{checksum:08x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let is_plain = text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(&text, 16).ok().filter(|_| is_plain).ok_or_else(|| {
            D::Error::custom(format_args!("{text:?} as checksum; expected 8 hexadecimal digits"))
        })
    }
}

pub(super) fn is_set(start: &[u8]) -> bool {
    let start = without_mark(start).trim_ascii_start();
    start.strip_prefix(b"{").is_some_and(|rest| {
        let rest = rest.trim_ascii_start().strip_prefix(b"\"set\"");
        rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
    })
}

pub(super) fn read(bytes: &[u8]) -> Result<TraceSet, TraceError> {
    let wrong = |message: String| TraceError::Set { message };
    let invalid = |error: serde_json::Error| wrong(error.to_string());
    let bytes = without_mark(bytes);
    let AnyVersion { set: VersionOnly { version } } =
        serde_json::from_slice(bytes).map_err(invalid)?;
    if version != VERSION {
        return Err(wrong(format!("version {version}; expected version {VERSION}")));
    }
    let raw: RawSet<'_> = serde_json::from_slice(bytes).map_err(invalid)?;
    let RawSet { set, source, tools, notes, complete, operations, allocations, parts } = raw;
    let mut operations = operations.into_owned();
    if operations.len() > MAX_OPERATIONS {
        return Err(wrong(format!("more than {MAX_OPERATIONS} operations")));
    }
    for operation in &mut operations {
        operation.uniform &= operation.reaches_global();
    }
    let contents = Contents {
        source: source.into_owned(),
        tools: tools.into_owned(),
        notes: notes.into_owned(),
        complete,
        kernels: Vec::new(),
        operations,
        allocations: allocations.into_owned(),
    };
    let read = TraceSet::new(contents, parts.into_iter().map(SetPart::from).collect())?;
    if set != Totals::of(&read) {
        let message = "the totals under `set` are not those of the parts";
        return Err(wrong(message.to_owned()));
    }
    Ok(read)
}

/// The most operations of a trace: records have 16 bits for their number.
const MAX_OPERATIONS: usize = 1 << 16;

pub(super) fn write(set: &TraceSet) -> String {
    let Contents { source, tools, notes, complete, operations, allocations, .. } = &set.contents;
    let head = RawSet {
        set: Totals::of(set),
        source: Cow::Borrowed(source),
        tools: Cow::Borrowed(tools),
        notes: Cow::Borrowed(notes),
        complete: *complete,
        operations: Cow::Borrowed(operations),
        allocations: Cow::Borrowed(allocations),
        parts: Vec::new(),
    };
    // Numbers, texts and lists always have a form in JSON.
    let mut text = serde_json::to_string(&head).unwrap_or_default();
    text.pop();
    text.push_str(",\"parts\":[");
    for (i, part) in set.parts.iter().enumerate() {
        text.push_str(if i == 0 { "\n" } else { ",\n" });
        text.push_str(&serde_json::to_string(&RawPart::from(part)).unwrap_or_default());
    }
    text.push_str("\n]}\n");
    text
}

impl Totals {
    fn of(set: &TraceSet) -> Self {
        Self {
            version: VERSION,
            records: set.records(),
            memory_records: set.memory_records(),
            loads: set.loads(),
            kernels: set.kernels(),
            parts: set.parts.len() as u64,
            checksum: set.checksum(),
        }
    }
}

impl From<RawPart<'_>> for SetPart {
    fn from(raw: RawPart<'_>) -> Self {
        let RawPart { file, bytes, checksum, records, memory_records, loads, .. } = raw;
        let RawPart { kernels, trailing_blocks, .. } = raw;
        let file = file.into_owned();
        Self { file, bytes, checksum, records, memory_records, loads, kernels, trailing_blocks }
    }
}

impl<'s> From<&'s SetPart> for RawPart<'s> {
    fn from(part: &'s SetPart) -> Self {
        Self {
            file: Cow::Borrowed(&part.file),
            bytes: part.bytes,
            checksum: part.checksum,
            records: part.records,
            memory_records: part.memory_records,
            loads: part.loads,
            kernels: part.kernels,
            trailing_blocks: part.trailing_blocks,
        }
    }
}
