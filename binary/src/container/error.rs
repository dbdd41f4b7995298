//! [`ContainerError`]: what is wrong with GPU code in a file, and where.

use super::compression::Compression;
use super::gpu_codes::MAX_TABLE_RECORDS;

/// Why a container, an entry of one or an image cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte offset {offset:#x}: {kind}")]
#[non_exhaustive]
pub struct ContainerError {
    /// The byte offset in the file of the container or the entry.
    pub offset: u64,
    /// What is wrong there.
    pub kind: ContainerErrorKind,
}

impl ContainerError {
    pub(super) fn new(offset: usize, kind: ContainerErrorKind) -> Self {
        Self { offset: offset as u64, kind }
    }
}

/// What is wrong with GPU code in a file. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerErrorKind {
    /// The input begins like a container, and ends before its header does.
    #[error("a CUDA fatbin's header has 16 bytes, the file has {size}")]
    ContainerHeaderCutOff {
        /// The size of the file.
        size: u64,
    },
    /// An archive whose first members, which say what it has, cannot be read.
    #[error("an archive of objects (`.a`, `.lib`) that is damaged or cut off at its beginning")]
    ArchiveHeader,
    /// Something in place of the header of an archive's member.
    #[error("expected the header of an archive's member; what follows has no names")]
    ArchiveMember,
    /// The members of an archive share names that are too long together.
    #[error("the names of an archive's members are longer together than the archive")]
    ArchiveNames,
    /// A member of an archive that is longer than the file.
    #[error("an archive's member of {size} bytes is cut off, {left} bytes of it are there")]
    MemberCutOff {
        /// Its size.
        size: u64,
        /// How much of that is in the file.
        left: u64,
    },
    /// A member of an archive that begins within another one.
    #[error("an archive's member within the one before it")]
    MembersOverlap,
    /// A member that the symbol table of an archive names and that is not in the file.
    #[error(
        "an archive's symbol table names a member here, and the file has {size} bytes: it is cut off"
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
        /// Where its sections or their table end.
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
    #[error("a CUDA fatbin of {size} bytes is cut off, {left} bytes of it are there")]
    ContainerCutOff {
        /// Its size without the header.
        size: u64,
        /// How much of that is in the file.
        left: u64,
    },
    /// A container ends within the header of an entry.
    #[error("an entry's header has at least 64 bytes, {left} are left in its fatbin")]
    EntryCutOff {
        /// What is left of the container.
        left: u64,
    },
    /// An entry of an unknown version: most likely not an entry at all.
    #[error("an entry of version {version:#06x}; expected 0x0101")]
    EntryVersion {
        /// The version.
        version: u16,
    },
    /// The header of an entry is too short, or longer than what is left of the container.
    #[error("an entry's header of {size} bytes; expected 64 to {left}")]
    EntryHeader {
        /// Its size.
        size: u64,
        /// What is left of the container.
        left: u64,
    },
    /// An entry is longer than what is left of the container.
    #[error("an entry of {size} bytes, {left} are left in its fatbin")]
    EntryOutside {
        /// The size of its payload.
        size: u64,
        /// What is left of the container after the entry's header.
        left: u64,
    },
    /// An entry with more compressed bytes than it has bytes.
    #[error("{compressed} compressed bytes in an entry of {size}")]
    CompressedOutside {
        /// How many compressed bytes it claims.
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
        /// How it is compressed.
        compression: Compression,
        /// How many bytes could be decompressed.
        read: u64,
        /// How many bytes there should be.
        claimed: u64,
    },
    /// An entry whose payload is obfuscated, so that only NVIDIA's tools can decompress it.
    #[error("obfuscated, {size} bytes when decompressed")]
    Obfuscated {
        /// The size that the entry claims.
        size: u64,
    },
    /// A compressed payload with more than it claims.
    #[error("more than the {claimed} bytes that the entry claims when decompressed")]
    LargerThanClaimed {
        /// The size that the entry claims.
        claimed: u64,
    },
    /// A compressed payload with less than it claims.
    #[error("{read} bytes when decompressed; the entry claims {claimed}")]
    SmallerThanClaimed {
        /// How many bytes there are.
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
        /// What is left of the entry's header.
        left: u64,
    },
    /// An image of several in one stream, outside the stream or overlapping the one before it.
    #[error(
        "an image at {start} of {size} bytes in a stream of {stream}; the images before it end at \
         {before}"
    )]
    ImageOutside {
        /// Where it begins in the stream.
        start: u64,
        /// Its size.
        size: u64,
        /// The size of the stream.
        stream: u64,
        /// Where the images before it end.
        before: u64,
    },
}
