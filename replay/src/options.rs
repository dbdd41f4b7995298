//! [`ReplayOptions`]: the options of a replay, and the [`Selection`] of the accesses to count.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::costs::SharedRules;
use warpload::memory::{Fill, Memory, Space, Window};
use warpload_binary::sass::Functions;
use warpload_trace::binary::MemoryRecord;
use warpload_trace::{ContentHash, DEFAULT_ADDRESS_BITS, Shard};

/// The source of a replay's data.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ReplayData<'m> {
    /// An image. Its address map applies to all kernels.
    Image(&'m Memory),
    /// A rule; every address below 2^address_bits is allocated.
    Fill(Fill),
    /// No data: everything but values is computed, and every address is allocated.
    Absent,
}

/// The options of a replay.
///
/// ```
/// use warpload::memory::Fill;
/// use warpload_replay::{ReplayData, ReplayOptions};
/// use warpload_trace::Shard;
///
/// let data = ReplayData::Fill(Fill::Address);
/// let options = ReplayOptions { address_bits: 40, ..ReplayOptions::new(data) };
/// let first_half = ReplayOptions { shard: Shard::new(0, 2), ..options };
/// ```
#[derive(Clone, Copy)]
pub struct ReplayOptions<'a> {
    /// The source of the data.
    pub data: ReplayData<'a>,
    /// The width of a generic address. Ignored for an image, which has its own.
    pub address_bits: u32,
    /// The shared window; `None` for the trace's or, if the trace has none, [`Window::DEFAULT_SHARED`]. Ignored for an
    /// image, which has its own.
    pub shared_window: Option<Window>,
    /// The local window; `None` for the trace's or, if the trace has none, [`Window::DEFAULT_LOCAL`]. Ignored for an
    /// image, which has its own.
    pub local_window: Option<Window>,
    /// The part to replay; `None` for all of it. [`Summary::merge`](super::Summary::merge) adds the summaries of all parts.
    pub shard: Option<Shard>,
    /// The accesses to count; `None` for all of them.
    pub selection: Option<&'a Selection>,
    /// The rules by which shared memory serves accesses, where GPUs differ.
    pub shared_rules: SharedRules,
    /// The code of the trace's kernels, which provides SASS and source lines of program counters.
    pub functions: Option<&'a Functions>,
    /// Whether summaries have [demangled names](super::LaunchSummary::demangled) of kernels.
    pub demangles_names: bool,
    /// A function to call after each block with its size in bytes. Any thread may call it.
    pub on_progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// A flag that stops the replay once it is true; it then returns
    /// [`ReplayError::Interrupted`](super::ReplayError::Interrupted).
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> ReplayOptions<'a> {
    /// Returns the options of a replay of all accesses with `data`. Addresses have [`DEFAULT_ADDRESS_BITS`].
    #[must_use]
    pub fn new(data: ReplayData<'a>) -> Self {
        Self {
            data,
            address_bits: DEFAULT_ADDRESS_BITS,
            shared_window: None,
            local_window: None,
            shard: None,
            selection: None,
            shared_rules: SharedRules::default(),
            functions: None,
            demangles_names: false,
            on_progress: None,
            interrupt: None,
        }
    }

    pub(super) fn has_data(&self) -> bool {
        !matches!(self.data, ReplayData::Absent)
    }

    /// Reports that a block of `bytes` bytes was replayed.
    pub(super) fn report_progress(&self, bytes: u64) {
        if let Some(observer) = self.on_progress {
            observer(bytes);
        }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns a text that identifies a replay of the trace with this
    /// [content hash](warpload_trace::BinaryTrace::content_hash). It is the same for all shards, and differs between
    /// replays with different results. It includes the selection's words and the version of this library.
    #[must_use]
    pub fn identity(&self, trace: ContentHash) -> String {
        let mut trace = format!("warpload {}, trace {trace}", env!("CARGO_PKG_VERSION"));
        if let Some(selection) = self.selection {
            trace += &format!(", {:?}", selection.selected);
        }
        if self.shared_rules.merges_pairs {
            trace += ", pairs merged";
        }
        if self.demangles_names {
            trace += ", names demangled";
        }
        if let Some(functions) = self.functions {
            let mut crc = crc32fast::Hasher::new();
            functions.cubins().for_each(|cubin| crc.update(cubin));
            trace += &format!(", cubins {:08x}", crc.finalize());
        }
        let data = match self.data {
            ReplayData::Image(memory) => {
                return format!("{trace}, image {:08x}", image_checksum(memory));
            }
            ReplayData::Fill(Fill::Address) => "fill address",
            ReplayData::Fill(Fill::Zero) => "fill zero",
            ReplayData::Absent => "no data",
        };
        let mut name = format!("{trace}, {data}, {} address bits", self.address_bits);
        for (space, window) in [("shared", self.shared_window), ("local", self.local_window)] {
            if let Some(Window { base, size }) = window {
                name += &format!(", {space} window {base:#x},{size:#x}");
            }
        }
        name
    }
}

impl fmt::Debug for ReplayOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayOptions")
            .field("data", &self.data)
            .field("address_bits", &self.address_bits)
            .field("shared_window", &self.shared_window)
            .field("local_window", &self.local_window)
            .field("shard", &self.shard)
            .finish_non_exhaustive()
    }
}

/// The CRC-32 of an image: of its bytes and their places.
fn image_checksum(memory: &Memory) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(memory.arena().bytes());
    let banks: Vec<_> = memory.constant_banks().map(|(bank, bytes)| (bank, bytes.len())).collect();
    let layout = (
        memory.map(),
        memory.allocations(),
        (memory.shared_bytes().len(), banks),
        (memory.local_low_bytes(0).len(), memory.local_high_bytes(0).len()),
    );
    crc.update(format!("{layout:?}").as_bytes());
    crc.finalize()
}

/// The loads, stores, atomics and copies that a replay counts. Each field that is `None` allows all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Whether each kernel's accesses are counted, in launch order.
    pub kernels: Option<Vec<bool>>,
    /// Whether each operation's accesses are counted, by the operation's number.
    pub operations: Option<Vec<bool>>,
    /// The program counters.
    pub pcs: Option<RangeInclusive<u32>>,
    /// The memory of the first executing lane, as in [`AccessCounts::by_space`](super::AccessCounts::by_space).
    /// `Some(None)` selects unresolved accesses. All constant banks are bank 0, since traces do not name them.
    pub space: Option<Option<Space>>,
    /// The selection in words, for summaries.
    pub selected: Selected,
}

/// A selection in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selected {
    /// The kernels.
    pub kernel: Option<String>,
    /// The program counters.
    pub pc: Option<String>,
    /// The opcodes.
    pub opcode: Option<String>,
    /// The memory.
    pub space: Option<String>,
}

impl Selected {
    /// Returns the words that are given, each with its option: `kernel`, `pc`, `opcode`, `space`.
    pub fn words(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { kernel, pc, opcode, space } = self;
        let words = [("kernel", kernel), ("pc", pc), ("opcode", opcode), ("space", space)];
        words.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

/// Lists the words: `kernel transpose, pc 0x10..0x80`.
impl fmt::Display for Selected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.words().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {value}")?;
        }
        Ok(())
    }
}

impl Selection {
    /// Whether it selects an access of `kernel` with its first executing lane in `space`.
    #[inline]
    pub(super) fn has(&self, kernel: u32, record: &MemoryRecord<'_>, space: Option<Space>) -> bool {
        let allows = |list: &Option<Vec<bool>>, i: usize| {
            list.as_ref().is_none_or(|list| list.get(i).copied().unwrap_or(false))
        };
        allows(&self.kernels, kernel as usize)
            && allows(&self.operations, usize::from(record.operation))
            && self.pcs.as_ref().is_none_or(|pcs| pcs.contains(&record.pc))
            && self.space.is_none_or(|wanted| wanted == space)
    }
}
