//! [`PartialSummary`]: what the summary of some of the shards has besides the counts.

use std::ops::RangeInclusive;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::set::{Set, read_base64, write_base64};
use crate::reuse::Touches;
use warpload_trace::binary::hexadecimal;

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
