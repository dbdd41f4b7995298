//! [`PartialSummary`]: what the summary of some of the shards has besides the counts, [`PartialHead`], what it is of,
//! and its checksum: the CRC-32 of its JSON without spaces and without the checksum, so that nothing of a summary
//! can change unnoticed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufWriter, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use roaring::RoaringTreemap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::treemap::{read, write};
use super::{Digest, KernelSummary, LoadCounts, LoadFault, PcSummary, Summary, ValueMismatch};
use crate::options::Selected;
use crate::reuse::Touches;

/// What the summary of a shard, or of neighbouring shards, has besides the counts, so that they merge
/// exactly. Its JSON is for [`Summary::merge`](super::Summary::merge) alone, and can change with any version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartialSummary {
    /// The numbers of the first and the last shard, from 0.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) of: u64,
    pub(super) replay: String,
    /// The numbers of the summary's kernels in the trace, ascending.
    pub(super) kernels: Vec<usize>,
    /// The number of kernels of the whole trace.
    pub(super) of_kernels: usize,
    /// For each row of `per_pc`, the indices of its kernel in the summary and of its operation, and the sum
    /// of its sectors.
    pub(super) per_pc: Vec<RowSum>,
    /// What `per_pc` is for loads, for stores and atomics.
    pub(super) per_pc_stores: Vec<RowSum>,
    /// The wavefronts of each row of `per_pc`, and of `per_pc_stores` after them.
    pub(super) wavefronts: Vec<u64>,
    /// For each kernel, the pages and the lines that it touched.
    pub(super) pages: Vec<Set>,
    pub(super) lines: Vec<Set>,
    /// For each kernel, the touches of each of its lines; empty unless reuse is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) reuse: Vec<PartialReuse>,
    #[serde(skip_serializing)]
    pub(super) checksum: Checksum,
}

pub(super) type RowSum = (usize, u16, u64);

impl PartialSummary {
    /// Returns the numbers of the shards, from 0.
    #[must_use]
    pub fn shards(&self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    /// Returns the number of shards of the whole replay.
    #[must_use]
    pub fn of(&self) -> u64 {
        self.of
    }

    /// Returns the numbers of the summary's kernels in the whole trace, ascending.
    #[must_use]
    pub fn kernels(&self) -> &[usize] {
        &self.kernels
    }

    /// Returns the name of the replay, as
    /// [`ReplayOptions::identity`](super::super::ReplayOptions::identity) returns it.
    #[must_use]
    pub fn replay(&self) -> &str {
        &self.replay
    }
}

/// Returns the version of warpload in the name of a replay, [`PartialSummary::replay`], if it is not this one.
#[must_use]
pub fn other_version(replay: &str) -> Option<&str> {
    let version = replay.strip_prefix("warpload ")?.split(',').next()?;
    (version != env!("CARGO_PKG_VERSION")).then_some(version)
}

/// The touches of lines of a part of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartialReuse(pub(super) Touches);

/// Their JSON: `touches` is the base64 of two numbers for each line. The first is the first load's, less that
/// of the line before, with the sign in its lowest bit; the second, the last load's less the first's. A
/// number has 7 bits a byte, lowest first, and the highest bit if another byte follows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    loads: u64,
    #[serde(serialize_with = "write_base64", deserialize_with = "read_base64")]
    touches: Vec<u8>,
}

impl Serialize for PartialReuse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Touches { loads, lines } = &self.0;
        let mut touches = Vec::new();
        let mut before = 0;
        for &(first, last) in lines {
            let step = first.wrapping_sub(before).cast_signed();
            write_number((step << 1 ^ step >> 63).cast_unsigned(), &mut touches);
            write_number(last - first, &mut touches);
            before = first;
        }
        Written { loads: *loads, touches }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PartialReuse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { loads, touches } = Written::deserialize(deserializer)?;
        let lines = read_touches(&touches, loads);
        let lines = lines.ok_or_else(|| D::Error::custom("invalid touches of lines"))?;
        Ok(Self(Touches { loads, lines }))
    }
}

/// Returns `None` unless the bytes are of touches by that many loads.
fn read_touches(mut bytes: &[u8], loads: u64) -> Option<Vec<(u64, u64)>> {
    let mut lines = Vec::new();
    let mut before = 0u64;
    while !bytes.is_empty() {
        let step = read_number(&mut bytes)?;
        let step = (step >> 1).cast_signed() ^ -((step & 1).cast_signed());
        let first = before.wrapping_add_signed(step);
        let last = first.checked_add(read_number(&mut bytes)?)?;
        if first == 0 || last > loads {
            return None;
        }
        lines.push((first, last));
        before = first;
    }
    Some(lines)
}

fn write_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Reads a number that is written in as few bytes as it can be.
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return (shift == 0 || bits != 0).then_some(number);
        }
    }
    None
}

/// The checksum that a partial summary was read with. One that was made here gets its own when it is
/// written. It says nothing of the summary that the summary does not, so that all are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checksum(pub(super) Option<u32>);

impl PartialEq for Checksum {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<'de> Deserialize<'de> for Checksum {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        hexadecimal::deserialize(from).map(|checksum| Self(Some(checksum)))
    }
}

/// What a partial summary is of: the replay, the shards and the kernels. Reading it from JSON takes less
/// than reading the [`Summary`], whose counts it leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PartialHead {
    kernels: Vec<Names>,
    partial: Shards,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Names {
    name: Arc<str>,
    #[serde(default)]
    demangled: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Shards {
    first: u64,
    last: u64,
    of: u64,
    replay: String,
    kernels: Vec<usize>,
    of_kernels: usize,
}

impl PartialHead {
    /// Returns that of a summary; `None` if it is not a partial one.
    #[must_use]
    pub fn of(summary: &Summary) -> Option<Self> {
        let partial = summary.partial.as_ref()?;
        let names = summary.kernels.iter().map(|kernel| Names {
            name: Arc::clone(&kernel.name),
            demangled: kernel.demangled.clone(),
        });
        let (first, last) = partial.shards().into_inner();
        let PartialSummary { of, of_kernels, replay, kernels, .. } = partial.clone();
        let partial = Shards { first, last, of, replay, kernels, of_kernels };
        Some(Self { kernels: names.collect(), partial })
    }

    /// Returns what the merged summaries are of; `None` if they are not of neighbouring shards
    /// of one replay.
    #[must_use]
    pub fn join(mut heads: Vec<Self>) -> Option<Self> {
        heads.sort_by_key(|head| head.partial.first);
        let mut heads = heads.into_iter();
        let mut all = heads.next()?;
        let mut names = BTreeMap::new();
        all.put_names(&mut names)?;
        for mut head in heads {
            head.put_names(&mut names)?;
            let Shards { first, last, of, replay, kernels: _, of_kernels } = head.partial;
            let to = &mut all.partial;
            let is_next = first == to.last.checked_add(1)?;
            if !is_next || (of, of_kernels, &replay) != (to.of, to.of_kernels, &to.replay) {
                return None;
            }
            to.last = last;
        }
        (all.partial.kernels, all.kernels) = names.into_iter().unzip();
        Some(all)
    }

    /// Moves the names of its kernels to those of all; `None` if one has another name there.
    fn put_names(&mut self, all: &mut BTreeMap<usize, Names>) -> Option<()> {
        let (numbers, names) = (&self.partial.kernels, std::mem::take(&mut self.kernels));
        if numbers.len() != names.len() {
            return None;
        }
        for (number, names) in numbers.iter().zip(names) {
            match all.entry(*number) {
                Entry::Vacant(place) => drop(place.insert(names)),
                Entry::Occupied(known) if *known.get() == names => {}
                Entry::Occupied(_) => return None,
            }
        }
        Some(())
    }
}

/// A [`Summary`] as JSON, with what is written under `partial`.
#[derive(Serialize)]
struct WrittenSummary<'s, P> {
    #[serde(flatten)]
    counts: &'s LoadCounts,
    first_mismatches: &'s [ValueMismatch],
    first_faults: &'s [LoadFault],
    digest: Option<Digest>,
    complete: Option<bool>,
    notes: &'s [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: &'s Option<Selected>,
    per_pc: &'s [PcSummary],
    per_pc_stores: &'s [PcSummary],
    kernels: &'s [KernelSummary],
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<P>,
}

#[derive(Serialize)]
struct Sealed<'s> {
    #[serde(flatten)]
    partial: &'s PartialSummary,
    #[serde(with = "hexadecimal")]
    checksum: u32,
}

impl Summary {
    fn written<'s, P>(&'s self, partial: Option<P>) -> WrittenSummary<'s, P> {
        let Self { counts, first_mismatches, first_faults, digest, complete, notes, .. } = self;
        let Self { selected, per_pc, per_pc_stores, kernels, partial: _, .. } = self;
        let (digest, complete) = (*digest, *complete);
        WrittenSummary {
            counts,
            first_mismatches,
            first_faults,
            digest,
            complete,
            notes,
            selected,
            per_pc,
            per_pc_stores,
            kernels,
            partial,
        }
    }

    /// Returns whether this summary, with what makes it partial, has the checksum that it was read with.
    pub(super) fn is_as_written(&self, partial: &PartialSummary) -> bool {
        let Checksum(Some(expected)) = partial.checksum else { return true };
        self.checksum(partial).is_ok_and(|checksum| checksum == expected)
    }

    fn checksum(&self, partial: &PartialSummary) -> serde_json::Result<u32> {
        let mut to = BufWriter::with_capacity(1 << 16, Crc(crc32fast::Hasher::new()));
        serde_json::to_writer(&mut to, &self.written(Some(partial)))?;
        let Crc(crc) =
            to.into_inner().map_err(|error| serde_json::Error::io(error.into_error()))?;
        Ok(crc.finalize())
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some(partial) = &self.partial else {
            return self.written(None::<()>).serialize(to);
        };
        let checksum = self.checksum(partial).map_err(serde::ser::Error::custom)?;
        self.written(Some(Sealed { partial, checksum })).serialize(to)
    }
}

struct Crc(crc32fast::Hasher);

impl Write for Crc {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Distinct numbers. As text they are the base64 of the portable form that implementations of Roaring share
/// (<https://github.com/RoaringBitmap/RoaringFormatSpec>, its extension to 64 bits), empty without
/// numbers. Equal sets have equal texts, however they came about; what is read must have that text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set(pub(super) RoaringTreemap);

impl Serialize for Set {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_base64(&write(&self.0), serializer)
    }
}

impl<'de> Deserialize<'de> for Set {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = read_base64(deserializer)?;
        read(&bytes).map(Self).ok_or_else(|| D::Error::custom("invalid set of numbers"))
    }
}

/// Reads bytes that are a text in base64, in the one form that they have.
fn read_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text).map_err(|error| D::Error::custom(format!("invalid base64: {error}")))
}

/// Writes bytes in base64.
fn write_base64<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(bytes))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64u32).prop_map(|(number, shift)| number >> shift)
    }

    proptest! {
        #[test]
        fn numbers_are_read_back(number in number()) {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            prop_assert_eq!(read_number(&mut &bytes[..]), Some(number));
        }

        #[test]
        fn touches_are_read_back(lines in prop::collection::vec((number(), number()), 0..20)) {
            let touches = lines.iter().map(|(one, other)| (*one.min(other), *one.max(other)));
            let lines: Vec<_> = touches.filter(|(first, _)| *first > 0).collect();
            let loads = lines.iter().map(|(_, last)| *last).max().unwrap_or(0);
            let reuse = PartialReuse(Touches { loads, lines });
            let json = serde_json::to_string(&reuse).unwrap();
            prop_assert_eq!(serde_json::from_str::<PartialReuse>(&json).unwrap(), reuse);
        }

        #[test]
        fn any_bytes_are_touches_in_their_form_or_refused(bytes: Vec<u8>, loads in number()) {
            if let Some(lines) = read_touches(&bytes, loads) {
                let reuse = PartialReuse(Touches { loads, lines });
                let Written { touches, .. } =
                    serde_json::from_value(serde_json::to_value(&reuse).unwrap()).unwrap();
                prop_assert_eq!(touches, bytes);
            }
        }
    }

    #[test]
    fn longer_forms_and_other_loads_are_refused() {
        let read = |bytes: &[u8]| read_touches(bytes, 5);
        assert_eq!(read(&[2, 4]), Some(vec![(1, 5)]));
        // Two bytes for one; load 6 of 5; load 0; half of a pair; beyond 64 bits.
        for bytes in [&[0x82, 0, 4][..], &[2, 5], &[0, 0], &[1, 0], &[2], &[2, 4, 2], &[0xff; 11]] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
