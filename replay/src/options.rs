//! [`ReplayOptions`]: the options of a replay, and the [`Selection`] of the loads to count.

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
/// let options = ReplayOptions::new(ReplayData::Fill(Fill::Address)).address_bits(40);
/// let first_half = options.shard(Shard::new(0, 2));
/// ```
#[derive(Clone, Copy)]
pub struct ReplayOptions<'a> {
    data: ReplayData<'a>,
    address_bits: u32,
    pub(super) shared_window: Option<Window>,
    pub(super) local_window: Option<Window>,
    shard: Option<Shard>,
    selection: Option<&'a Selection>,
    shared_rules: SharedRules,
    functions: Option<&'a Functions>,
    are_names_demangled: bool,
    observer: Option<&'a (dyn Fn(u64) + Sync)>,
    interrupt: Option<&'a AtomicBool>,
}

impl<'a> ReplayOptions<'a> {
    /// Creates the options of a replay of all loads with `data`.
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
            are_names_demangled: false,
            observer: None,
            interrupt: None,
        }
    }

    /// Sets the width of a generic address, by default [`DEFAULT_ADDRESS_BITS`]. Ignored for an image, which has its
    /// own.
    #[must_use]
    pub fn address_bits(mut self, bits: u32) -> Self {
        self.address_bits = bits;
        self
    }

    /// Sets the shared window. By default it is the trace's or, if the trace has none, [`Window::DEFAULT_SHARED`].
    /// Ignored for an image, which has its own.
    #[must_use]
    pub fn shared_window(mut self, window: impl Into<Option<Window>>) -> Self {
        self.shared_window = window.into();
        self
    }

    /// Sets the local window. By default it is the trace's or, if the trace has none, [`Window::DEFAULT_LOCAL`].
    /// Ignored for an image, which has its own.
    #[must_use]
    pub fn local_window(mut self, window: impl Into<Option<Window>>) -> Self {
        self.local_window = window.into();
        self
    }

    /// Sets the part of the loads to replay, by default all of them. [`Replayed::partial`](super::Replayed::partial)
    /// then returns a summary that [`Summary::merge`](super::Summary::merge) takes.
    #[must_use]
    pub fn shard(mut self, shard: impl Into<Option<Shard>>) -> Self {
        self.shard = shard.into();
        self
    }

    /// Sets the loads to count, by default all of them. Instructions other than loads are counted in any case.
    #[must_use]
    pub fn select(mut self, selection: impl Into<Option<&'a Selection>>) -> Self {
        self.selection = selection.into();
        self
    }

    /// Sets the rules by which shared memory serves accesses, where GPUs differ.
    #[must_use]
    pub fn shared_rules(mut self, rules: SharedRules) -> Self {
        self.shared_rules = rules;
        self
    }

    /// Sets the code of the trace's kernels, which provides SASS and source lines of program counters; by default there
    /// is none.
    #[must_use]
    pub fn functions(mut self, functions: impl Into<Option<&'a Functions>>) -> Self {
        self.functions = functions.into();
        self
    }

    /// Sets whether summaries have [demangled names](super::KernelSummary::demangled) of kernels; off by default.
    #[must_use]
    pub fn demangled_names(mut self, are_added: bool) -> Self {
        self.are_names_demangled = are_added;
        self
    }

    /// Sets a function to call after each block with its size in bytes. Any thread may call it.
    #[must_use]
    pub fn on_progress(mut self, observer: &'a (dyn Fn(u64) + Sync)) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets a flag that stops the replay once it is true; it then returns
    /// [`ReplayError::Interrupted`](super::ReplayError::Interrupted).
    #[must_use]
    pub fn interrupt(mut self, flag: impl Into<Option<&'a AtomicBool>>) -> Self {
        self.interrupt = flag.into();
        self
    }

    /// Returns the source of the data.
    #[must_use]
    pub fn get_data(&self) -> ReplayData<'a> {
        self.data
    }

    /// Returns the width of a generic address.
    #[must_use]
    pub fn get_address_bits(&self) -> u32 {
        self.address_bits
    }

    /// Returns the shared window; `None` if the trace decides.
    #[must_use]
    pub fn get_shared_window(&self) -> Option<Window> {
        self.shared_window
    }

    /// Returns the local window; `None` if the trace decides.
    #[must_use]
    pub fn get_local_window(&self) -> Option<Window> {
        self.local_window
    }

    /// Returns the part of the loads to replay; `None` for all of them.
    #[must_use]
    pub fn get_shard(&self) -> Option<Shard> {
        self.shard
    }

    /// Returns the loads to count; `None` for all of them.
    #[must_use]
    pub fn get_selection(&self) -> Option<&'a Selection> {
        self.selection
    }

    /// Returns the rules by which shared memory serves accesses.
    #[must_use]
    pub fn get_shared_rules(&self) -> SharedRules {
        self.shared_rules
    }

    /// Returns the code of the trace's kernels; `None` if there is none.
    #[must_use]
    pub fn get_functions(&self) -> Option<&'a Functions> {
        self.functions
    }

    /// Returns whether summaries have demangled names.
    #[must_use]
    pub fn demangles_names(&self) -> bool {
        self.are_names_demangled
    }

    pub(super) fn has_data(&self) -> bool {
        !matches!(self.data, ReplayData::Absent)
    }

    /// Reports that a block of `bytes` bytes was replayed.
    pub(super) fn report_progress(&self, bytes: u64) {
        if let Some(observer) = self.observer {
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
        if self.are_names_demangled {
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
    /// The memory of the first executing lane, as in [`LoadCounts::by_space`](super::LoadCounts::by_space).
    /// `Some(None)` selects unresolved loads. All constant banks are bank 0, since traces do not name them.
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
    pub(super) fn has(&self, kernel: u32, load: &MemoryRecord<'_>, space: Option<Space>) -> bool {
        let allows = |list: &Option<Vec<bool>>, i: usize| {
            list.as_ref().is_none_or(|list| list.get(i).copied().unwrap_or(false))
        };
        allows(&self.kernels, kernel as usize)
            && allows(&self.operations, usize::from(load.operation))
            && self.pcs.as_ref().is_none_or(|pcs| pcs.contains(&load.pc))
            && self.space.is_none_or(|wanted| wanted == space)
    }
}
