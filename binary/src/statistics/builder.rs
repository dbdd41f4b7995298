//! [`StatisticsBuilder`] and [`Statistics`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use warpload_encoding::{OpcodeFacts, OpcodeKind};

use super::neighbours::Neighbours;
use super::remark::{Remark, RemarkKind};
use super::step::{AccessOrder, InstructionFacts, LoadFacts};

/// The statistics of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// The number of loads.
    pub loads: u64,
    /// The number by mnemonic.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// The number by the bits that a lane loads; `None` if the size field encodes no size.
    #[cfg_attr(feature = "serde", serde(rename = "by_size", serialize_with = "named_sizes"))]
    pub by_bits: BTreeMap<Option<u32>, u64>,
    /// The number by cache operator; empty if the instruction has none.
    #[cfg_attr(feature = "serde", serde(serialize_with = "named_caches"))]
    pub by_cache: BTreeMap<Cow<'static, str>, u64>,
    /// The remarks, by offset.
    pub remarks: Vec<Remark>,
    /// Whether the bounds of basic blocks are known. Otherwise no load is remarked on as vectorizable.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub are_blocks_known: bool,
}

#[cfg(feature = "serde")]
fn named_sizes<S: serde::Serializer>(
    counts: &BTreeMap<Option<u32>, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let name = |bits: &Option<u32>| bits.map_or("invalid".to_owned(), |bits| bits.to_string());
    serializer.collect_map(counts.iter().map(|(bits, count)| (name(bits), count)))
}

#[cfg(feature = "serde")]
fn named_caches<S: serde::Serializer>(
    counts: &BTreeMap<Cow<'static, str>, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let name = |name: &'_ str| if name.is_empty() { "none".to_owned() } else { name.to_owned() };
    serializer.collect_map(counts.iter().map(|(cache, count)| (name(cache), count)))
}

impl Statistics {
    /// Adds the counts of another function, but not its remarks.
    pub fn add_counts(&mut self, other: &Self) {
        let Self { loads, by_kind, by_bits, by_cache, .. } = other;
        self.loads += loads;
        by_kind.iter().for_each(|(kind, n)| *self.by_kind.entry(kind).or_default() += n);
        by_bits.iter().for_each(|(bits, n)| *self.by_bits.entry(*bits).or_default() += n);
        by_cache.iter().for_each(|(name, n)| *self.by_cache.entry(name.clone()).or_default() += n);
    }
}

/// Collects the statistics of one function from its instructions in order.
#[derive(Debug, Default)]
pub struct StatisticsBuilder {
    /// The statistics so far, without the remarks on neighbouring loads.
    found: Statistics,
    neighbours: Neighbours,
    /// The expected offset of the next instruction.
    next: Option<u64>,
    has_begun: bool,
}

impl StatisticsBuilder {
    /// Takes the next instruction.
    pub fn add(&mut self, step: InstructionFacts) {
        let InstructionFacts { offset, next, load, flow, effect } = step;
        let follows = !self.has_begun || offset == self.next;
        (self.has_begun, self.next) = (true, next);
        match offset.filter(|_| follows) {
            Some(offset) => self.neighbours.add(offset, load.as_ref(), effect, flow),
            None => self.neighbours.lose_blocks(),
        }
        if let Some(load) = load {
            self.count(offset, load);
        }
    }

    fn count(&mut self, offset: Option<u64>, load: LoadFacts) {
        let LoadFacts { kind, bits, cache, order, base, displacement, .. } = load;
        self.found.loads += 1;
        *self.found.by_kind.entry(kind).or_default() += 1;
        *self.found.by_bits.entry(bits).or_default() += 1;
        // An address of LDSM is that of a row of 16 bytes, so the bits that a lane receives do not matter.
        let is_matrix =
            OpcodeFacts::of(kind).is_some_and(|facts| facts.kind() == OpcodeKind::MatrixLoad);
        let access = if is_matrix { Some(128) } else { bits };
        if let (Some(bits), Some(displacement)) = (access, displacement)
            && displacement % i64::from((bits / 8).max(1)) != 0
        {
            let kind = RemarkKind::Misaligned { displacement, bits, base };
            self.found.remarks.push(Remark { offset, kind });
        }
        if order == AccessOrder::Volatile {
            let kind = RemarkKind::Volatile { cache: cache.clone() };
            self.found.remarks.push(Remark { offset, kind });
        }
        *self.found.by_cache.entry(cache).or_default() += 1;
    }

    /// Returns the statistics of the instructions so far.
    #[must_use]
    pub fn finish(self) -> Statistics {
        let Self { mut found, neighbours, .. } = self;
        found.are_blocks_known = neighbours.are_blocks_known();
        found.remarks.extend(neighbours.finish());
        found.remarks.sort_by_key(|remark| remark.offset);
        found
    }
}
