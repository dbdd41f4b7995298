//! [`Limits`]: how much is decompressed at most.

/// The most images of one entry.
pub(super) const MAX_TABLE_RECORDS: u32 = 1 << 20;

/// How much the images of a file may decompress to, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// One image, or several that are compressed together; 256 MiB unless set.
    pub image: u64,
    /// All images of a file, or [`Self::TOTAL_RATIO`] times the size of the file if that is more;
    /// 4 GiB unless set.
    pub total: u64,
}

impl Limits {
    /// How many times as large as the file its images may be, whatever [`Self::total`] is.
    pub const TOTAL_RATIO: u64 = 64;

    /// Returns these limits with another one for one image.
    #[must_use]
    pub const fn image(self, image: u64) -> Self {
        Self { image, ..self }
    }

    /// Returns these limits with another one for all images of a file.
    #[must_use]
    pub const fn total(self, total: u64) -> Self {
        Self { total, ..self }
    }

    pub(super) fn total_of(self, file: usize) -> u64 {
        (file as u64).saturating_mul(Self::TOTAL_RATIO).max(self.total)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { image: 256 << 20, total: 4 << 30 }
    }
}
