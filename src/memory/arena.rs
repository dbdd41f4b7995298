//! [`Arena`]: one flat range of bytes that holds all memories of a machine.

use std::fmt;
use std::io;

use super::linux;

/// Bytes: owned, shared or mapped from a file.
pub struct Arena(Backing);

enum Backing {
    Owned(Vec<u8>),
    Shared(Box<dyn AsRef<[u8]> + Send + Sync>),
    #[cfg(feature = "mmap")]
    ReadOnly(memmap2::Mmap),
    /// A copy-on-write mapping of a file, or huge pages without a file.
    #[cfg(feature = "mmap")]
    Private(memmap2::MmapMut),
}

impl Arena {
    /// Returns the bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Backing::Owned(bytes) => bytes,
            Backing::Shared(owner) => (**owner).as_ref(),
            #[cfg(feature = "mmap")]
            Backing::ReadOnly(map) => map,
            #[cfg(feature = "mmap")]
            Backing::Private(map) => map,
        }
    }

    /// Creates a read-only arena of bytes with another owner, such as an `Arc<[u8]>`, without copying them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use warpload::memory::Arena;
    ///
    /// let bytes: Arc<[u8]> = [1, 2, 3].into();
    /// let arena = Arena::shared(Arc::clone(&bytes));
    /// assert_eq!(arena.bytes().as_ptr(), bytes.as_ptr());
    /// ```
    #[must_use]
    pub fn shared(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Backing::Shared(Box::new(owner)))
    }

    /// Returns the bytes mutably, or `None` if they are shared or mapped read-only. Changes to a
    /// copy-on-write map stay in this process.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.0 {
            Backing::Owned(bytes) => Some(bytes),
            Backing::Shared(_) => None,
            #[cfg(feature = "mmap")]
            Backing::ReadOnly(_) => None,
            #[cfg(feature = "mmap")]
            Backing::Private(map) => Some(map),
        }
    }

    /// Allocates an arena of zeroes.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::OutOfMemory`] if the system does not have that much memory.
    pub fn zeroed(size: u64) -> io::Result<Self> {
        let failed = |message: String| io::Error::new(io::ErrorKind::OutOfMemory, message);
        // Checked first, because a system that promises more than it has would end the process later.
        let available = if size < linux::LARGE as u64 { u64::MAX } else { linux::available() };
        if size > available {
            return Err(failed(format!(
                "{size} bytes do not fit into memory; {available} bytes are available"
            )));
        }
        let refused = || failed(format!("{size} bytes of memory could not be allocated"));
        let size = usize::try_from(size).map_err(|_| refused())?;
        #[cfg(feature = "mmap")]
        if let Some(map) = linux::huge_pages(size) {
            return Ok(Self(Backing::Private(map)));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| refused())?;
        bytes.resize(size, 0);
        Ok(Self(Backing::Owned(bytes)))
    }

    /// Reads a whole file, from its beginning.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::OutOfMemory`] if it does not fit into memory, or the error of the system.
    pub fn read(mut file: &std::fs::File) -> io::Result<Self> {
        use std::io::{Read, Seek};
        let mut arena = Self::zeroed(file.metadata()?.len())?;
        file.rewind()?;
        file.read_exact(arena.bytes_mut().unwrap_or_default()).map_err(|error| {
            match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    io::Error::new(error.kind(), "became shorter while it was read")
                }
                _ => error,
            }
        })?;
        Ok(arena)
    }

    /// Maps a whole file read-only, so that its pages are read when they are used and shared
    /// with other processes.
    ///
    /// # Errors
    /// Returns the error of the system.
    ///
    /// # Safety
    /// Until the arena is dropped, no process may change or truncate the file: the bytes that
    /// [`Self::bytes`] lends out would change, and reading a part that was cut off ends the process
    /// with a signal.
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code)]
    pub unsafe fn map_read_only(file: &std::fs::File) -> io::Result<Self> {
        // SAFETY: the file does not change, as the caller promises; the map is private to this
        // value and only lent out as `&[u8]`.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        Ok(Self(Backing::ReadOnly(map)))
    }

    /// Maps a whole file copy-on-write: as [`Arena::map_read_only`], but the bytes can be
    /// changed, and the file stays as it is.
    ///
    /// # Errors
    /// Returns the error of the system.
    ///
    /// # Safety
    /// As for [`Arena::map_read_only`].
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code)]
    pub unsafe fn map_copy_on_write(file: &std::fs::File) -> io::Result<Self> {
        // SAFETY: as for `map_read_only`; writes go to private pages, never to the file.
        let map = unsafe { memmap2::MmapOptions::new().map_copy(file) }?;
        Ok(Self(Backing::Private(map)))
    }
}

impl From<Vec<u8>> for Arena {
    /// Keeps the bytes, or moves them to huge pages if there are many and the system has such pages, because loads
    /// spread over a large arena then miss the TLB less often.
    fn from(bytes: Vec<u8>) -> Self {
        #[cfg(feature = "mmap")]
        if let Some(mut map) = linux::huge_pages(bytes.len()) {
            map.copy_from_slice(&bytes);
            return Self(Backing::Private(map));
        }
        Self(Backing::Owned(bytes))
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0 {
            Backing::Owned(_) => "owned",
            Backing::Shared(_) => "shared",
            #[cfg(feature = "mmap")]
            Backing::ReadOnly(_) => "mapped read-only",
            #[cfg(feature = "mmap")]
            Backing::Private(_) => "mapped privately",
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
