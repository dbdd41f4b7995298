//! One flat range of bytes that all memories of a machine lie in.

use std::fmt;

/// Bytes, owned or mapped from a file.
pub struct Arena(Backing);

enum Backing {
    Owned(Vec<u8>),
    /// Owned too, on huge pages.
    #[cfg(all(feature = "mmap", target_os = "linux"))]
    HugePages(memmap2::MmapMut),
    #[cfg(feature = "mmap")]
    ReadOnly(memmap2::Mmap),
    #[cfg(feature = "mmap")]
    CopyOnWrite(memmap2::MmapMut),
}

impl Arena {
    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Backing::Owned(bytes) => bytes,
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Backing::HugePages(map) => map,
            #[cfg(feature = "mmap")]
            Backing::ReadOnly(map) => map,
            #[cfg(feature = "mmap")]
            Backing::CopyOnWrite(map) => map,
        }
    }

    /// The bytes, to be changed; nothing where they are mapped read-only. Changes to a
    /// copy-on-write map stay in this process.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.0 {
            Backing::Owned(bytes) => Some(bytes),
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Backing::HugePages(map) => Some(map),
            #[cfg(feature = "mmap")]
            Backing::ReadOnly(_) => None,
            #[cfg(feature = "mmap")]
            Backing::CopyOnWrite(map) => Some(map),
        }
    }

    /// Maps a whole file read-only, so that its pages are read when they are used and shared
    /// with other processes.
    ///
    /// The file must not be changed while it is mapped: what a load then gives is undefined, and
    /// a load from a part that was cut off ends the process.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code)]
    pub fn map_read_only(file: &std::fs::File) -> std::io::Result<Self> {
        // SAFETY: the map is private to this value and only handed out as `&[u8]`; that nobody
        // changes the file meanwhile is the caller's documented duty, which no code can check.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        Ok(Self(Backing::ReadOnly(map)))
    }

    /// Maps a whole file copy-on-write: as [`Arena::map_read_only`], but the bytes can be
    /// changed, and the file stays as it is.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code)]
    pub fn map_copy_on_write(file: &std::fs::File) -> std::io::Result<Self> {
        // SAFETY: as for `map_read_only`; writes go to private pages, never to the file.
        let map = unsafe { memmap2::MmapOptions::new().map_copy(file) }?;
        Ok(Self(Backing::CopyOnWrite(map)))
    }
}

impl From<Vec<u8>> for Arena {
    /// Keeps the bytes, or moves many of them to huge pages where the system gives those: loads
    /// spread over a large arena then miss fewer translations of addresses.
    fn from(bytes: Vec<u8>) -> Self {
        #[cfg(all(feature = "mmap", target_os = "linux"))]
        if let Some(map) = on_huge_pages(&bytes) {
            return Self(Backing::HugePages(map));
        }
        Self(Backing::Owned(bytes))
    }
}

/// An arena smaller than this, in bytes, stays where it is.
#[cfg(all(feature = "mmap", target_os = "linux"))]
const WORTH_HUGE_PAGES: usize = 64 << 20;

#[cfg(all(feature = "mmap", target_os = "linux"))]
fn on_huge_pages(bytes: &[u8]) -> Option<memmap2::MmapMut> {
    if bytes.len() < WORTH_HUGE_PAGES {
        return None;
    }
    let mut map = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
    // In front of the first write, which takes the pages.
    map.advise(memmap2::Advice::HugePage).ok()?;
    map.copy_from_slice(bytes);
    Some(map)
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0 {
            Backing::Owned(_) => "owned",
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Backing::HugePages(_) => "owned, on huge pages",
            #[cfg(feature = "mmap")]
            Backing::ReadOnly(_) => "mapped read-only",
            #[cfg(feature = "mmap")]
            Backing::CopyOnWrite(_) => "mapped copy-on-write",
        };
        write!(f, "Arena({kind}, {} bytes)", self.bytes().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arenas_hold_the_same_bytes() {
        let bytes: Vec<u8> = (0..(64 << 20) + 3).map(|i: u32| (i >> 3) as u8).collect();
        let mut arena = Arena::from(bytes.clone());
        assert!(arena.bytes() == bytes);
        if let Some(held) = arena.bytes_mut() {
            held[5] = 0xff;
        }
        assert_eq!(arena.bytes()[5], 0xff);
    }
}
