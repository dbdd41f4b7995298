//! The memory of the sample: its allocations, their bytes and their manifest.

use anyhow::Result;
use warpload::lane::LANES;
use warpload::memory::{AddressMap, Memory, MemoryBuilder, Space};
use warpload_suite::random::Random;

/// An allocated range of generic addresses.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub(super) base: u64,
    pub(super) size: u64,
    pub(super) space: Space,
}

impl Region {
    const fn new(base: u64, size: u64, space: Space) -> Self {
        Self { base, size, space }
    }

    /// The Plg that selects its space.
    pub(super) fn plg(self) -> bool {
        self.space != Space::Shared
    }

    /// The first address and the number of aligned accesses of `bytes` bytes within it.
    pub(super) fn slots(self, bytes: u64) -> (u64, u64) {
        let first = self.base.next_multiple_of(bytes);
        (first, (self.base + self.size - first) / bytes)
    }
}

/// Not a multiple of 8 in size, so that aligned accesses cross from it into [`NEXT`].
pub(super) const FIRST: Region = Region::new(0x1000_0000, 0x3f4, Space::Global);
/// Adjacent to [`FIRST`].
pub(super) const NEXT: Region = Region::new(0x1000_03f4, 0x40c, Space::Global);
/// Beyond 32-bit addresses, and beyond 32-bit deltas from the others.
pub(super) const FAR: Region = Region::new(0x20_0000_0000, 0x400, Space::Global);
pub(super) const SHARED: Region = Region::new(0xfe00_0000, 0x400, Space::Shared);
/// Neither part is a multiple of 16 in size, so that half of an access of 16 bytes can be inside.
pub(super) const LOCAL_LOW: Region = Region::new(0xff00_0000, 0x208, Space::Local);
/// Ends with the local window.
pub(super) const LOCAL_HIGH: Region = Region::new(0xffff_fdf8, 0x208, Space::Local);

pub(super) const GLOBAL: [Region; 3] = [FIRST, NEXT, FAR];
pub(super) const ALL: [Region; 6] = [FIRST, NEXT, FAR, SHARED, LOCAL_LOW, LOCAL_HIGH];

/// The image: the memory, and its two files.
pub(super) struct Image {
    pub(super) memory: Memory,
    pub(super) manifest: String,
    pub(super) bytes: Vec<u8>,
}

/// Creates an image of random bytes.
pub(super) fn image(file: &str, random: &mut Random) -> Result<Image> {
    let local = LANES * LOCAL_LOW.size as usize;
    let sizes = GLOBAL.map(|region| region.size as usize);
    let sizes = [sizes[0], sizes[1], sizes[2], SHARED.size as usize, local, local];
    let bytes: Vec<u8> = (0..sizes.iter().sum()).map(|_| random.next() as u8).collect();

    let mut entries = Vec::new();
    let mut parts = Vec::new();
    let mut offset = 0;
    for length in sizes {
        entries.push(format!(r#""file": "{file}", "offset": {offset}, "length": {length}"#));
        parts.push(&bytes[offset..offset + length]);
        offset += length;
    }
    let mut memory = MemoryBuilder::new(AddressMap::default());
    for (region, part) in GLOBAL.iter().zip(&parts) {
        memory = memory.global(region.base, part);
    }
    let per_lane = LOCAL_LOW.size as usize;
    let memory = memory
        .shared(parts[3])
        .local_low(per_lane, parts[4])
        .local_high(per_lane, parts[5])
        .build()?;
    Ok(Image { memory, manifest: manifest(&entries), bytes })
}

/// `entries` are the files of the three allocations, of shared memory, and of low and high local memory.
fn manifest(entries: &[String]) -> String {
    let map = AddressMap::default();
    let (shared, local) = (map.shared(), map.local());
    let global: Vec<String> = GLOBAL
        .iter()
        .zip(entries)
        .map(|(region, entry)| format!(r#"      {{"base": "{:#x}", {entry}}}"#, region.base))
        .collect();
    format!(
        r#"{{
  "address_bits": {},
  "misaligned": "report",
  "windows": {{
    "shared": {{"base": "{:#x}", "size": "{:#x}"}},
    "local": {{"base": "{:#x}", "size": "{:#x}"}}
  }},
  "memory": {{
    "global": [
{}
    ],
    "shared": {{{}}},
    "local": {{
      "bytes_per_lane": {per_lane}, {},
      "high": {{"bytes_per_lane": {per_lane}, {}}}
    }}
  }}
}}
"#,
        map.address_bits(),
        shared.base,
        shared.size,
        local.base,
        local.size,
        global.join(",\n"),
        entries[3],
        entries[4],
        entries[5],
        per_lane = LOCAL_LOW.size,
    )
}
