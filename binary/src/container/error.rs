//! [`ContainerError`]: damaged or unsupported GPU code in a file, and its byte offset.

use super::compression::Compression;
use super::gpu_codes::MAX_TABLE_RECORDS;

/// The reason why a container, an entry or an image cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte offset {offset:#x}: {kind}")]
#[non_exhaustive]
pub struct ContainerError {
    /// The byte offset of the container or the entry in the file.
    pub offset: u64,
    /// The kind of error.
    pub kind: ContainerErrorKind,
}

impl ContainerError {
    pub(super) fn new(offset: usize, kind: ContainerErrorKind) -> Self {
        Self { offset: offset as u64, kind }
    }
}

/// The kinds of [`ContainerError`]. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerErrorKind {
    /// The input begins like a container and ends within its header.
    #[error("a CUDA fatbin's header has 16 bytes, the file has {size}")]
    ContainerHeaderCutOff {
        /// The size of the file.
        size: u64,
    },
    /// An archive without readable first members, which hold its symbols and its long names.
    #[error("an archive of objects (`.a`, `.lib`) that is damaged or cut off at its beginning")]
    ArchiveHeader,
    /// No header where an archive's next member should begin.
    #[error(
        "expected the header of the next archive member; the rest of the archive is unreadable"
    )]
    ArchiveMember,
    /// The members of an archive share names that are too long together.
    #[error("the names of the archive's members are together longer than the archive")]
    ArchiveNames,
    /// A member of an archive that is longer than the file.
    #[error("an archive member of {size} bytes is cut off after {left} bytes")]
    MemberCutOff {
        /// Its size.
        size: u64,
        /// The bytes of it that are in the file.
        left: u64,
    },
    /// A member of an archive that begins within another one.
    #[error("an archive member that overlaps the one before it")]
    MembersOverlap,
    /// A member that the symbol table of an archive names and that is not in the file.
    #[error(
        "the archive is cut off: its symbol table has a member here, but the file has {size} bytes"
    )]
    MemberMissing {
        /// The size of the file.
        size: u64,
    },
    /// An object, library or program that ends before its sections do.
    #[error("the file of {size} bytes is cut off, its sections end at {end:#x}")]
    FileCutOff {
        /// The size of the file.
        size: u64,
        /// The end of its sections and their table.
        end: u64,
    },
    /// A container of an unknown version.
    #[error(
        "a CUDA fatbin of version {version} with a header of {header} bytes; expected version 1 with 16"
    )]
    ContainerVersion {
        /// The version.
        version: u16,
        /// The size of its header.
        header: u16,
    },
    /// A container that is longer than the file.
    #[error("a CUDA fatbin of {size} bytes is cut off after {left} bytes")]
    ContainerCutOff {
        /// Its size without the header.
        size: u64,
        /// The bytes of it that are in the file.
        left: u64,
    },
    /// A container ends within the header of an entry.
    #[error("an entry's header has at least 64 bytes, {left} are left in its fatbin")]
    EntryCutOff {
        /// The rest of the container.
        left: u64,
    },
    /// An entry of an unknown version: most likely not an entry at all.
    #[error("an entry of version {version:#06x}; expected 0x0101")]
    EntryVersion {
        /// The version.
        version: u16,
    },
    /// The header of an entry is too short, or longer than the rest of the container.
    #[error("an entry's header of {size} bytes; expected 64 to {left}")]
    EntryHeader {
        /// Its size.
        size: u64,
        /// The rest of the container.
        left: u64,
    },
    /// An entry is longer than the rest of the container.
    #[error("an entry of {size} bytes, {left} are left in its fatbin")]
    EntryOutside {
        /// The size of its payload.
        size: u64,
        /// The rest of the container after the entry's header.
        left: u64,
    },
    /// An entry that claims more compressed bytes than its payload has.
    #[error("{compressed} compressed bytes in an entry of {size}")]
    CompressedOutside {
        /// The claimed number of compressed bytes.
        compressed: u64,
        /// The size of its payload.
        size: u64,
    },
    /// An entry that is compressed in an unknown way, or in several.
    #[error("an unknown compression, flags {flags:#x}; expected zlib, LZ4 or zstd")]
    UnknownCompression {
        /// The flags of the entry.
        flags: u64,
    },
    /// An image that is too large when decompressed.
    #[error("{size} bytes when decompressed; the limit is {limit}")]
    TooLarge {
        /// The size that the entry claims.
        size: u64,
        /// [`Limits::image`](super::Limits::image).
        limit: u64,
    },
    /// The images of the file are too large together.
    #[error("the images up to this one have more than {limit} bytes when decompressed")]
    TotalTooLarge {
        /// [`Limits::total`](super::Limits::total), or the multiple of the file's size.
        limit: u64,
    },
    /// A compressed payload that cannot be decompressed.
    #[error("the {compression} data cannot be decompressed after {read} of {claimed} bytes")]
    Damaged {
        /// The compression.
        compression: Compression,
        /// The number of bytes before the damage.
        read: u64,
        /// The size that the entry claims.
        claimed: u64,
    },
    /// An entry with an obfuscated payload, which only NVIDIA's tools can decompress.
    #[error("obfuscated, {size} bytes when decompressed")]
    Obfuscated {
        /// The size that the entry claims.
        size: u64,
    },
    /// A compressed payload that is larger than claimed.
    #[error("more than the {claimed} bytes that the entry claims when decompressed")]
    LargerThanClaimed {
        /// The size that the entry claims.
        claimed: u64,
    },
    /// A compressed payload that is smaller than claimed.
    #[error("{read} bytes when decompressed; the entry claims {claimed}")]
    SmallerThanClaimed {
        /// The decompressed size.
        read: u64,
        /// The size that the entry claims.
        claimed: u64,
    },
    /// The table of an entry with several images is larger than the entry's header, or too small for
    /// its images.
    #[error(
        "a table of {count} images in {size} bytes; expected 64 bytes or more each within the \
         {left} that are left of the entry's header, at most {MAX_TABLE_RECORDS} images"
    )]
    Table {
        /// The number of images.
        count: u64,
        /// The size of the table.
        size: u64,
        /// The rest of the entry's header.
        left: u64,
    },
    /// One of several images in a stream lies outside the stream, or overlaps the image before it.
    #[error(
        "an image at {start} of {size} bytes in a stream of {stream}; the images before it end at \
         {before}"
    )]
    ImageOutside {
        /// Its offset in the stream.
        start: u64,
        /// Its size.
        size: u64,
        /// The size of the stream.
        stream: u64,
        /// The end of the images before it.
        before: u64,
    },
}
