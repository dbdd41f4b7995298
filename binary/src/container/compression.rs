//! [`Compression`]: how an entry is compressed.

use std::fmt;

/// How an entry is compressed. Displays as its name: `lz4`, `zlib`, `zstd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// One raw block of LZ4.
    Lz4,
    /// A stream of zlib.
    Zlib,
    /// One frame of zstd.
    Zstd,
}

impl Compression {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lz4 => "lz4",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
