//! [`TraceContents`] and its JSON (docs/trace-format.md). Texts of kernels are stored once in a list, to which kernels
//! hold indices. [`ContentHash`] is the identity of a trace.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::import::{MAX_HEADER_LINES, MAX_KERNELS, MAX_OPERATIONS};
use crate::operation::{MemoryOperation, OperationKind};
use warpload::load::{LoadOp, MatrixLoad};
use warpload::memory::{AddressSpace, Width};

/// The contents of a trace apart from its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "RawContents", try_from = "RawContents")]
pub struct TraceContents {
    /// The program that wrote the trace, and the trace's source.
    pub source: String,
    /// The tools that produced the source, with their versions where known.
    pub tools: Vec<String>,
    /// Notes for readers of results, for example that masks were inferred.
    pub notes: Vec<String>,
    /// Whether the trace is known to be whole; formats without an end mark cannot tell.
    pub complete: bool,
    /// The kernels, in launch order.
    pub kernels: Vec<Kernel>,
    /// The operations, in the order of their first use.
    pub operations: Vec<MemoryOperation>,
    /// The device memory that the trace names: base and size in bytes.
    pub allocations: Vec<(u64, u64)>,
}

/// The limit for notes and for tools, because each file of a list can add its own.
const MAX_NOTES: usize = 64;

/// The limit for allocations of device memory.
const MAX_ALLOCATIONS: usize = 1 << 20;

/// The note if the limit for allocations was reached.
const FURTHER_ALLOCATIONS: &str = "further allocations are left out";

/// The longest beginning of a text that is kept as a note, a tool or a source.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The last note if the limit was reached.
const FURTHER_NOTES: &str = "further notes are left out";

impl TraceContents {
    pub(crate) fn add_note(&mut self, note: &str) {
        let notes = &mut self.notes;
        if notes.len() == MAX_NOTES || notes.iter().any(|known| known == note) {
            return;
        }
        let is_last = notes.len() == MAX_NOTES - 1;
        notes.push(cut(if is_last { FURTHER_NOTES } else { note }).to_owned());
    }

    pub(crate) fn add_tool(&mut self, tool: &str) {
        let tools = &mut self.tools;
        if tools.len() < MAX_NOTES && !tools.iter().any(|known| known == tool) {
            tools.push(cut(tool).to_owned());
        }
    }

    /// Adds allocations up to the limit, with a note if some are left out.
    pub(super) fn add_allocations(&mut self, allocations: impl IntoIterator<Item = (u64, u64)>) {
        let mut allocations = allocations.into_iter();
        let room = MAX_ALLOCATIONS.saturating_sub(self.allocations.len());
        self.allocations.extend(allocations.by_ref().take(room));
        if allocations.next().is_some() {
            self.add_note(FURTHER_ALLOCATIONS);
        }
    }

    /// The part of the contents that is hashed for the [identity](ContentHash), which leaves out sources and notes.
    pub(super) fn identity(&self) -> Self {
        let Self { kernels, operations, allocations, .. } = self;
        let (kernels, operations) = (kernels.clone(), operations.clone());
        Self { kernels, operations, allocations: allocations.clone(), ..Self::default() }
    }

    /// Returns the number of an operation and adds it if it is new; `None` beyond 65,536 operations. `numbers` maps the
    /// operations so far to their numbers.
    pub fn number(
        &mut self,
        numbers: &mut FxHashMap<MemoryOperation, u16>,
        operation: &MemoryOperation,
    ) -> Option<u16> {
        if let Some(number) = numbers.get(operation) {
            return Some(*number);
        }
        let number = u16::try_from(self.operations.len()).ok()?;
        numbers.insert(operation.clone(), number);
        self.operations.push(operation.clone());
        Some(number)
    }
}

/// One launch of a kernel. Launches share equal texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Its name in the trace, often mangled.
    pub name: Arc<str>,
    /// Thread blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// The base of the shared window in the generic address space; `None` if unknown.
    pub shared_base: Option<u64>,
    /// The base of the local window; `None` if unknown.
    pub local_base: Option<u64>,
    /// Every line of the header as key and value, including lines that imports do not use.
    pub header: Vec<(Arc<str>, Arc<str>)>,
    /// The source line of each program counter, ascending, as far as the source has them.
    pub source_lines: Vec<(u32, u32)>,
}

impl Kernel {
    /// Returns the source line number of a program counter; `None` if it is unknown.
    #[must_use]
    pub fn source_line(&self, pc: u32) -> Option<u32> {
        let place = self.source_lines.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
        self.source_lines.get(place).map(|(_, line)| *line)
    }

    /// Whether the header names SM 5.x or 6.x as the code's architecture.
    pub(crate) fn is_spa5(&self) -> bool {
        let version = self.header.iter().find(|(key, _)| &**key == "binary version");
        let version = version.and_then(|(_, value)| value.parse::<u32>().ok());
        matches!(version, Some(50..=69))
    }
}

/// Returns a program counter as it is shown: `0x1a0`, or the place of its PTX, `line 26`.
#[must_use]
pub fn shown_place(pc: u32, place: Option<PtxPlace>) -> String {
    place.map_or_else(|| format!("{pc:#x}"), |place| place.to_string())
}

/// The place of an instruction in a module of PTX, shown as `line 26`, or `line 26:9` if several instructions begin in the
/// line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxPlace {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1; `None` if the line has a single instruction.
    pub column: Option<u32>,
}

impl fmt::Display for PtxPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

impl PtxPlace {
    /// The key of an instruction in a kernel's header: `ptx 1234 line 26:9`. It is in the header rather than in a column of
    /// its own, because every format that carries headers then carries it, too.
    pub(super) fn key(self, pc: u32) -> String {
        format!("{PTX_KEY}{pc} {self}")
    }

    /// Reads such a key.
    fn of_key(key: &str) -> Option<(u32, Self)> {
        let rest = key.strip_prefix(PTX_KEY)?;
        if let Some(line) = rest.strip_prefix("line ") {
            // In traces by earlier builds, lines are the program counters.
            let line = line.parse().ok()?;
            return Some((line, Self { line, column: None }));
        }
        let (pc, place) = rest.split_once(" line ")?;
        let (line, column) = match place.split_once(':') {
            Some((line, column)) => (line, Some(column.parse().ok()?)),
            None => (place, None),
        };
        Some((pc.parse().ok()?, Self { line: line.parse().ok()?, column }))
    }
}

/// An instruction of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxLine {
    /// Its place in the module.
    pub place: PtxPlace,
    /// Its text.
    pub text: Arc<str>,
}

/// The PTX and the source files of a kernel by program counter, for looking up many.
#[derive(Clone, Debug, Default)]
pub struct PtxLines {
    /// Ascending by program counter.
    lines: Vec<(u32, PtxLine)>,
    files: Vec<(u32, Arc<str>)>,
}

impl PtxLines {
    /// Collects the lines of a kernel. There are none if the trace is not of PTX.
    #[must_use]
    pub fn new(kernel: &Kernel) -> Self {
        let line = |(key, text): &(Arc<str>, Arc<str>)| {
            let (pc, place) = PtxPlace::of_key(key)?;
            Some((pc, PtxLine { place, text: Arc::clone(text) }))
        };
        let mut lines: Vec<(u32, PtxLine)> = kernel.header.iter().filter_map(line).collect();
        // Stable, so that of two lines for a program counter the first one counts.
        lines.sort_by_key(|(pc, _)| *pc);
        lines.dedup_by_key(|(pc, _)| *pc);
        let file = |(key, file): &(Arc<str>, Arc<str>)| {
            Some((key.strip_prefix(SOURCE_KEY)?.parse().ok()?, Arc::clone(file)))
        };
        let mut files: Vec<(u32, Arc<str>)> = kernel.header.iter().filter_map(file).collect();
        files.sort_by_key(|(pc, _)| *pc);
        files.dedup_by_key(|(pc, _)| *pc);
        Self { lines, files }
    }

    /// Returns the instruction at a program counter.
    #[must_use]
    pub fn get(&self, pc: u32) -> Option<&PtxLine> {
        let at = self.lines.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
        self.lines.get(at).map(|(_, line)| line)
    }

    /// Returns the source file of the instruction at a program counter; `None` if the module does not name it.
    #[must_use]
    pub fn file(&self, pc: u32) -> Option<&Arc<str>> {
        let at = self.files.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
        self.files.get(at).map(|(_, file)| file)
    }
}

/// The beginning of the header keys of PTX.
const PTX_KEY: &str = "ptx ";

/// The beginning of the header keys of source files; the program counter follows.
pub(super) const SOURCE_KEY: &str = "source file of ";

/// [`TraceContents`] as stored in the file. Every list and every text is bounded while it is read, because the contents
/// of a small file can expand to a gigabyte.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawContents {
    #[serde(deserialize_with = "bounded_text")]
    source: String,
    #[serde(default, deserialize_with = "bounded_texts")]
    tools: Vec<String>,
    #[serde(default, deserialize_with = "bounded_texts")]
    notes: Vec<String>,
    #[serde(default)]
    complete: bool,
    #[serde(deserialize_with = "bounded_names")]
    names: Vec<Arc<str>>,
    #[serde(deserialize_with = "bounded_kernels")]
    kernels: Vec<RawKernel>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_OPERATIONS>")]
    operations: Vec<RawOperation>,
    #[serde(default, deserialize_with = "at_most::<_, _, MAX_ALLOCATIONS>")]
    allocations: Vec<(u64, u64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKernel {
    name: u32,
    grid: [u32; 3],
    block: [u32; 3],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shared_base: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    local_base: Option<u64>,
    #[serde(default, deserialize_with = "at_most::<_, _, MAX_HEADER_LINES>")]
    header: Vec<(u32, u32)>,
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "at_most::<_, _, MAX_HEADER_LINES>"
    )]
    source_lines: Vec<(u32, u32)>,
}

/// A [`MemoryOperation`] with an unchecked access size.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOperation {
    opcode: Arc<str>,
    #[serde(default)]
    kind: OperationKind,
    #[serde(with = "by_name")]
    space: AddressSpace,
    bytes: u32,
    signed: bool,
    uniform: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    word: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opcode_word: Option<u64>,
}

/// Reads names up to the memory limit that an import has for them.
fn bounded_names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Arc<str>>, D::Error> {
    let mut bytes = 0;
    bounded(from, |name: &Arc<str>| {
        bytes += name.len() + NAME_OVERHEAD;
        bytes <= MAX_ALL_NAMES_BYTES
    })
}

/// Reads kernels with as many header lines and source lines as an import may have, over all of them.
fn bounded_kernels<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RawKernel>, D::Error> {
    let (mut kernels, mut lines) = (0, 0);
    bounded(from, |kernel: &RawKernel| {
        kernels += 1;
        lines += kernel.header.len() + kernel.source_lines.len();
        kernels <= MAX_KERNELS && lines <= MAX_HEADER_LINES
    })
}

fn bounded_texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let mut texts = 0;
    bounded(from, |text: &String| {
        texts += 1;
        texts <= MAX_NOTES && text.len() <= MAX_NAME_BYTES
    })
}

fn bounded_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.len() > MAX_NAME_BYTES {
        let message =
            format_args!("a text of {} bytes; expected at most {MAX_NAME_BYTES}", text.len());
        return Err(D::Error::custom(message));
    }
    Ok(text)
}

fn at_most<'de, T, D, const MOST: usize>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let mut items = 0;
    bounded(from, |_| {
        items += 1;
        items <= MOST
    })
}

/// Reads a list while `has_room` accepts its items, because a few bytes of compressed JSON can expand to millions.
fn bounded<'de, T, D>(from: D, has_room: impl FnMut(&T) -> bool) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Items<T, F>(F, PhantomData<T>);

    impl<'de, T: Deserialize<'de>, F: FnMut(&T) -> bool> Visitor<'de> for Items<T, F> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = list.next_element()? {
                if !(self.0)(&item) {
                    return Err(A::Error::custom("the list has more items than a trace may have"));
                }
                items.push(item);
            }
            Ok(items)
        }
    }

    from.deserialize_seq(Items(has_room, PhantomData))
}

/// The largest size of the JSON of the contents, if it is compressed, in a file of `file` bytes.
pub(super) const fn most_compressed(file: usize) -> usize {
    let most = file.saturating_mul(32).saturating_add(8 << 20);
    if most < 1 << 28 { most } else { 1 << 28 }
}

/// Refuses contents that take too much memory for a file of `file` bytes, because a few bytes of compressed JSON can
/// become millions of names or launches. Contents that are stored as they are always fit.
///
/// The memory is estimated from above. A text is copied once. Each comma stands for an item; a list takes up to thrice the
/// size of its items while it grows. Each object may be a kernel, and a replay has counters for each kernel.
pub(super) fn check_memory(json: &[u8], file: usize) -> Result<(), String> {
    let (mut items, mut objects, mut is_text) = (0, 0, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_text = !is_text,
            b'\\' if is_text => drop(bytes.next()),
            b',' if !is_text => items += 1,
            b'{' if !is_text => objects += 1,
            _ => {}
        }
    }
    let memory = 2 * json.len() + 64 * items + 1024 * objects;
    let most = file.saturating_mul(128).saturating_add(32 << 20);
    if memory <= most {
        return Ok(());
    }
    Err(format!(
        "contents that take up to {memory} bytes of memory; expected at most {most} for a file of {file} bytes"
    ))
}

/// The zstd dictionary for contents: texts common to most traces, so that small traces stay small.
pub(super) const CONTENTS_DICTIONARY: &[u8] = include_bytes!("contents.dictionary");

/// The identity of a trace: a hash of its contents ([`BinaryTrace::content_hash`](super::BinaryTrace::content_hash)).
/// As text it has 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 16]);

impl ContentHash {
    pub(crate) fn of_number(hash: u128) -> Self {
        Self(hash.to_be_bytes())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The name of an address space, as JSON.
mod by_name {
    use std::borrow::Cow;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    use crate::operation::{SPACES, space_name};
    use warpload::memory::AddressSpace;

    pub(super) fn serialize<S: Serializer>(space: &AddressSpace, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(space_name(*space))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<AddressSpace, D::Error> {
        const NAMES: &[&str] = &["generic", "global", "local", "shared", "constant"];
        let name = Cow::<str>::deserialize(from)?;
        let space = SPACES.into_iter().find(|space| space_name(*space) == name);
        space.ok_or_else(|| D::Error::unknown_variant(&name, NAMES))
    }
}

impl From<MemoryOperation> for RawOperation {
    fn from(operation: MemoryOperation) -> Self {
        let MemoryOperation { opcode, kind, space, width, signed, uniform, .. } = operation;
        let MemoryOperation { word, opcode_word, .. } = operation;
        Self { opcode, kind, space, bytes: width.bytes(), signed, uniform, word, opcode_word }
    }
}

impl TryFrom<RawOperation> for MemoryOperation {
    type Error = String;

    fn try_from(raw: RawOperation) -> Result<Self, String> {
        let RawOperation { opcode, kind, space, bytes, signed, uniform, word, opcode_word } = raw;
        let Some(width) = Width::from_bytes(bytes) else {
            return Err(format!("{opcode} of {bytes} bytes; expected 1, 2, 4, 8, 16 or 32"));
        };
        let operation = Self::new(opcode, kind, LoadOp { space, width, signed, uniform });
        let rows = (MatrixLoad::ROWS.space, MatrixLoad::ROWS.width);
        if operation.matrices.is_some() && (space, width) != rows {
            let opcode = operation.opcode;
            return Err(format!("{opcode}; expected rows of 16 bytes of shared memory"));
        }
        Ok(Self { word, opcode_word, ..operation })
    }
}

/// Builds the list of names.
#[derive(Default)]
struct Places {
    names: Vec<Arc<str>>,
    places: FxHashMap<Arc<str>, u32>,
}

impl Places {
    fn of(&mut self, name: Arc<str>) -> u32 {
        let next = self.names.len() as u32;
        let place = *self.places.entry(Arc::clone(&name)).or_insert(next);
        if place == next {
            self.names.push(name);
        }
        place
    }
}

impl From<TraceContents> for RawContents {
    fn from(contents: TraceContents) -> Self {
        let TraceContents { source, tools, notes, complete, kernels, operations, allocations } =
            contents;
        let mut places = Places::default();
        let raw_kernel = |kernel: Kernel| {
            let Kernel { name, grid, block, shared_base, local_base, header, source_lines } =
                kernel;
            let name = places.of(name);
            let header =
                header.into_iter().map(|(key, value)| (places.of(key), places.of(value))).collect();
            RawKernel { name, grid, block, shared_base, local_base, header, source_lines }
        };
        let kernels = kernels.into_iter().map(raw_kernel).collect();
        let operations = operations.into_iter().map(RawOperation::from).collect();
        let names = places.names;
        Self { source, tools, notes, complete, names, kernels, operations, allocations }
    }
}

impl TryFrom<RawContents> for TraceContents {
    type Error = String;

    fn try_from(raw: RawContents) -> Result<Self, String> {
        let RawContents { source, tools, notes, complete, names, kernels, operations, allocations } =
            raw;
        let text = |place: u32| {
            names.get(place as usize).cloned().ok_or_else(|| {
                format!("a kernel has name {place}, but there are {} names", names.len())
            })
        };
        let kernel = |raw: RawKernel| -> Result<Kernel, String> {
            let RawKernel { name, grid, block, shared_base, local_base, header, source_lines } =
                raw;
            if !source_lines.is_sorted_by(|one, next| one.0 < next.0) {
                return Err("the program counters of `source_lines` do not ascend".to_owned());
            }
            let header = header
                .into_iter()
                .map(|(key, value)| Ok((text(key)?, text(value)?)))
                .collect::<Result<_, String>>()?;
            let name = text(name)?;
            Ok(Kernel { name, grid, block, shared_base, local_base, header, source_lines })
        };
        let kernels = kernels.into_iter().map(kernel).collect::<Result<_, String>>()?;
        let operations =
            operations.into_iter().map(MemoryOperation::try_from).collect::<Result<_, String>>()?;
        Ok(Self { source, tools, notes, complete, kernels, operations, allocations })
    }
}

/// The maximum length of a name in bytes.
pub const MAX_NAME_BYTES: usize = 64 << 10;

/// The maximum total length of a trace's distinct names in bytes.
pub const MAX_ALL_NAMES_BYTES: usize = 64 << 20;

/// The bytes that a name takes beyond its text: its allocation and its entry in a set.
pub(crate) const NAME_OVERHEAD: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_ptx_are_header_keys() {
        let place = PtxPlace { line: 26, column: Some(9) };
        assert_eq!(
            (place.to_string(), place.key(1234)),
            ("line 26:9".into(), "ptx 1234 line 26:9".into())
        );
        let alone = PtxPlace { column: None, ..place };
        for (key, expected) in [
            ("ptx 1234 line 26:9", Some((1234, place))),
            ("ptx 4294967295 line 26", Some((u32::MAX, alone))),
            // Of an earlier build.
            ("ptx line 26", Some((26, alone))),
            ("ptx 4294967296 line 26", None),
            ("ptx 1 line 26:", None),
            ("ptx 1 line :9", None),
            ("ptx 1", None),
            ("PTX 1 line 26", None),
            ("ptx version", None),
        ] {
            assert_eq!(PtxPlace::of_key(key), expected, "{key}");
        }
        let header = [(place.key(7), "b"), (alone.key(3), "a"), (alone.key(7), "c")];
        let header = header.map(|(key, text)| (key.into(), text.into()));
        let kernel = Kernel { header: header.to_vec(), ..Kernel::default() };
        let lines = PtxLines::new(&kernel);
        let line = |place, text: &str| Some(PtxLine { place, text: text.into() });
        // The first line of a program counter counts.
        let expected = [(0, None), (3, line(alone, "a")), (7, line(place, "b")), (8, None)];
        for (pc, expected) in expected {
            assert_eq!(lines.get(pc), expected.as_ref());
        }
        let shown = |pc| shown_place(pc, lines.get(pc).map(|line| line.place));
        assert_eq!((shown(7), shown(8)), ("line 26:9".to_owned(), "0x8".to_owned()));
    }
}
