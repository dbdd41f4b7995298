//! [`read`] and [`write`]: a set of numbers in a canonical binary form.

use roaring::{RoaringBitmap, RoaringTreemap};

/// Reads a set; `None` unless the bytes are exactly the output of [`write`]. Allocation is bounded by the number of
/// bytes: containers are read one by one, after at most 64 KiB of headers.
pub(super) fn read(bytes: &[u8]) -> Option<RoaringTreemap> {
    if bytes.is_empty() {
        return Some(RoaringTreemap::new());
    }
    let set = RoaringTreemap::deserialize_from(bytes).ok()?;
    // Refuses other forms of the same set, repeated bitmaps, and trailing bytes.
    (write(&set) == bytes).then_some(set)
}

/// Writes a set in Roaring's portable form; an empty set has no bytes. Equal sets have equal bytes, regardless of how
/// they were made.
///
/// Implemented here, because after a union the crate keeps runs where a list is as short. Without runs, a few bytes of
/// a run would become 8 KiB of bits.
pub(super) fn write(set: &RoaringTreemap) -> Vec<u8> {
    let bitmaps: Vec<_> = set.bitmaps().filter(|(_, bitmap)| !bitmap.is_empty()).collect();
    let mut bytes = Vec::new();
    if bitmaps.is_empty() {
        return bytes;
    }
    bytes.extend((bitmaps.len() as u64).to_le_bytes());
    for (high, bitmap) in bitmaps {
        bytes.extend(high.to_le_bytes());
        write_bitmap(bitmap, &mut bytes);
    }
    bytes
}

/// The first bytes of a bitmap with containers of runs, and of one without.
const WITH_RUNS: u32 = 12347;
const WITHOUT_RUNS: u32 = 12346;
/// A bitmap with containers of runs has their offsets if it has at least this many containers.
const WITH_OFFSETS: usize = 4;
/// The most numbers of a container that lists them.
const MAX_LISTED: u32 = 4096;
/// The bytes of a container with a bit for each number.
const BITS_BYTES: usize = 8192;

/// The containers of a bitmap, each in its shortest form: a list, runs or bits.
#[derive(Default)]
struct Containers {
    /// The key of each container, its count less 1, and its offset.
    heads: Vec<(u16, u16, u32)>,
    /// A bit for each container: whether it has runs.
    runs: Vec<u8>,
    bytes: Vec<u8>,
}

impl Containers {
    fn push(&mut self, key: u16, runs: &[(u16, u16)]) {
        let count: u32 = runs.iter().map(|(first, last)| u32::from(last - first) + 1).sum();
        let i = self.heads.len();
        self.heads.push((key, (count - 1) as u16, self.bytes.len() as u32));
        if i.is_multiple_of(8) {
            self.runs.push(0);
        }
        let is_list = count <= MAX_LISTED;
        let other = if is_list { 2 * count as usize } else { BITS_BYTES };
        if 2 + 4 * runs.len() < other {
            self.runs[i / 8] |= 1 << (i % 8);
            self.bytes.extend((runs.len() as u16).to_le_bytes());
            for (first, last) in runs {
                self.bytes.extend(first.to_le_bytes());
                self.bytes.extend((last - first).to_le_bytes());
            }
            return;
        }
        let numbers = runs.iter().flat_map(|&(first, last)| first..=last);
        if is_list {
            return numbers.for_each(|number| self.bytes.extend(number.to_le_bytes()));
        }
        let start = self.bytes.len();
        self.bytes.resize(start + BITS_BYTES, 0);
        for number in numbers {
            self.bytes[start + usize::from(number / 8)] |= 1 << (number % 8);
        }
    }
}

fn write_bitmap(bitmap: &RoaringBitmap, to: &mut Vec<u8>) {
    let mut containers = Containers::default();
    let (mut key, mut runs) = (0, Vec::new());
    let mut ranges = bitmap.iter();
    while let Some(range) = ranges.next_range() {
        let (mut first, last) = range.into_inner();
        loop {
            let of = (first >> 16) as u16;
            if of != key && !runs.is_empty() {
                containers.push(key, &runs);
                runs.clear();
            }
            key = of;
            // A range can continue in the next container.
            let end = last.min(first | 0xffff);
            runs.push((first as u16, end as u16));
            if end == last {
                break;
            }
            first = end + 1;
        }
    }
    containers.push(key, &runs);
    let Containers { heads, runs, bytes } = containers;
    let start = to.len();
    let has_runs = runs.iter().any(|flags| *flags != 0);
    if has_runs {
        to.extend((WITH_RUNS | (heads.len() as u32 - 1) << 16).to_le_bytes());
        to.extend(runs);
    } else {
        to.extend(WITHOUT_RUNS.to_le_bytes());
        to.extend((heads.len() as u32).to_le_bytes());
    }
    for (key, count, _) in &heads {
        to.extend(key.to_le_bytes());
        to.extend(count.to_le_bytes());
    }
    if !has_runs || heads.len() >= WITH_OFFSETS {
        let header = (to.len() - start + 4 * heads.len()) as u32;
        heads.iter().for_each(|(_, _, at)| to.extend((header + at).to_le_bytes()));
    }
    to.extend(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ranges of every length, near each other and far apart.
    fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let base = prop_oneof![Just(0), Just(0xffff), Just((1 << 32) - 5), 0..1u64 << 57];
        let place = prop_oneof![0..40u64, 0..0x2_0000u64, 0..0x20_0000u64];
        let length = prop_oneof![Just(1), 1..6u64, 1..200_000u64];
        let range = (base, place, length).prop_map(|(base, place, length)| (base + place, length));
        prop::collection::vec(range, 0..200)
    }

    fn set(ranges: &[(u64, u64)]) -> RoaringTreemap {
        let mut set = RoaringTreemap::new();
        for (first, length) in ranges {
            set.insert_range(*first..first + length);
        }
        set
    }

    /// The crate's output for a set, after replacing runs that are no shorter than a list or bits.
    fn by_the_crate(set: &RoaringTreemap) -> Vec<u8> {
        let shortest = set.bitmaps().map(|(high, bitmap)| {
            let mut bitmap = bitmap.clone();
            bitmap.remove_run_compression();
            bitmap.optimize();
            (high, bitmap)
        });
        let mut bytes = Vec::new();
        RoaringTreemap::from_bitmaps(shortest).serialize_into(&mut bytes).unwrap();
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn equal_sets_have_one_form(ranges in ranges(), other in ranges()) {
            let (one, other) = (set(&ranges), set(&other));
            let bytes = write(&one);
            prop_assert!(one.is_empty() && bytes.is_empty() || bytes == by_the_crate(&one));
            let read_back = read(&bytes).unwrap();
            prop_assert_eq!(&read_back, &one);
            // A union of sets that were read, which have runs, in either order.
            let mut union = read(&write(&other)).unwrap();
            union |= &read_back;
            prop_assert_eq!(write(&union), write(&(&one | &other)));
        }

        #[test]
        fn any_bytes_are_a_set_in_its_form_or_refused(
            ranges in ranges(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = write(&set(&ranges));
            for (at, to) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = to;
                }
            }
            if let Some(set) = read(&bytes) {
                prop_assert_eq!(write(&set), bytes);
            }
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let bytes = write(&set(&[(5, 1), (1 << 40, 3)]));
        assert!(read(&bytes).is_some());
        assert!(read(&bytes[..bytes.len() - 1]).is_none());
        assert!(read(&[&bytes[..], &[0]].concat()).is_none());
        assert!(read(&[0; 8]).is_none(), "empty, but not in its form");
        // A repeated bitmap would replace the first one.
        let one = write(&set(&[(5, 1)]));
        let twice = [&2u64.to_le_bytes()[..], &one[8..], &one[8..]].concat();
        assert!(RoaringTreemap::deserialize_from(&twice[..]).is_ok());
        assert!(read(&twice).is_none());
        // Sizes that claim more bitmaps and containers than there are bytes.
        for size in [u64::MAX, 1 << 40] {
            assert!(read(&size.to_le_bytes()).is_none());
        }
        let claim = [&1u64.to_le_bytes()[..], &[0; 4], &WITHOUT_RUNS.to_le_bytes(), &[0xff; 4]];
        assert!(read(&claim.concat()).is_none());
        // Not the shortest form: three numbers in a run take as much as in a list.
        let mut bytes = Vec::new();
        let mut run = RoaringTreemap::new();
        run.insert_range(0..4);
        let run = run.bitmaps().map(|(high, bitmap)| {
            let mut bitmap = bitmap.clone();
            bitmap.optimize();
            bitmap.remove(3);
            (high, bitmap)
        });
        RoaringTreemap::from_bitmaps(run).serialize_into(&mut bytes).unwrap();
        assert!(RoaringTreemap::deserialize_from(&bytes[..]).is_ok());
        assert!(read(&bytes).is_none());
    }
}
