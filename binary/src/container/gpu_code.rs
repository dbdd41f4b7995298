//! [`GpuCode`]: one piece of GPU code in a file, decompressed when it is read.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use super::compression::{Compression, Payload};
use super::error::{ContainerError, ContainerErrorKind};
use super::sm::GpuSm;
use crate::cubin::Header;
use warpload_encoding::Sm;

/// The kind of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GpuCodeKind {
    /// A cubin: an ELF file of machine 190.
    Cubin,
    /// A module of PTX, as text.
    Ptx,
    /// Another kind of entry, by its number.
    Other(u16),
}

/// `cubin`, `ptx`, or a number in hexadecimal.
impl fmt::Display for GpuCodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubin => f.pad("cubin"),
            Self::Ptx => f.pad("ptx"),
            Self::Other(number) => f.pad(&format!("{number:#x}")),
        }
    }
}

/// `cubin`, `ptx`, or a number.
#[cfg(feature = "serde")]
impl serde::Serialize for GpuCodeKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Other(number) => serializer.serialize_u16(*number),
            named => serializer.collect_str(named),
        }
    }
}

/// One piece of GPU code in a file. [`GpuCode::read`] returns its bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GpuCode<'f> {
    /// The kind of image.
    pub kind: GpuCodeKind,
    /// The byte offset of its container in the file; `None` for a cubin without one.
    pub container: Option<u64>,
    /// The byte offset of its entry in the file; `None` for a cubin without a container.
    pub entry: Option<u64>,
    /// The name of the archive member around it.
    pub member: Option<&'f [u8]>,
    /// The name of the section around it, in an object, library or program.
    pub section: Option<&'f [u8]>,
    /// The name of the source, as the container has it.
    pub name: Option<&'f [u8]>,
    /// The command line of the compiler, as the container has it.
    pub options: Option<&'f [u8]>,
    /// The compression; `None` for plain bytes.
    pub compression: Option<Compression>,
    /// The flags of its entry; 0 without a container.
    pub flags: u64,
    /// The SM as the container has it. For a cubin it lacks the suffix, which [`Read::sm`] has.
    pub sm: Option<GpuSm>,
    /// The size when decompressed; for compressed code, as the entry claims it.
    pub size: u64,
    pub(super) stored: Stored<'f>,
}

/// The bytes of an image, as the file stores them.
#[derive(Clone, Debug)]
pub(super) enum Stored<'f> {
    Plain(&'f [u8]),
    Compressed(Payload<'f>),
    Part(Arc<Stream<'f>>, Range<usize>),
    /// They cannot be read.
    Refused(ContainerError),
}

/// Several images that are compressed together; decompressed once, when the first is read.
#[derive(Debug)]
pub(super) struct Stream<'f> {
    payload: Payload<'f>,
    decompressed: OnceLock<(Vec<u8>, Option<ContainerError>)>,
}

/// The bytes of an image.
#[derive(Clone)]
pub struct Bytes<'f>(Backing<'f>);

#[derive(Clone)]
enum Backing<'f> {
    Borrowed(&'f [u8]),
    Owned(Vec<u8>),
    Part(Arc<Stream<'f>>, Range<usize>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Backing::Borrowed(bytes) => bytes,
            Backing::Owned(bytes) => bytes,
            Backing::Part(stream, range) => stream.part(range.clone()).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl Bytes<'_> {
    fn truncate(&mut self, length: usize) {
        match &mut self.0 {
            Backing::Borrowed(bytes) => *bytes = bytes.get(..length).unwrap_or(bytes),
            Backing::Owned(bytes) => bytes.truncate(length),
            Backing::Part(_, range) => range.end = range.end.min(range.start + length),
        }
    }
}

impl<'f> Stored<'f> {
    /// Prepares for [`Self::part`]: all parts share one decompression.
    pub(super) fn shared(self) -> Self {
        match self {
            Self::Compressed(payload) => {
                let all = 0..payload.claimed;
                Self::Part(Arc::new(Stream { payload, decompressed: OnceLock::new() }), all)
            }
            other => other,
        }
    }

    pub(super) fn part(&self, range: Range<usize>) -> Self {
        match self.clone().shared() {
            Self::Plain(bytes) => Self::Plain(bytes.get(range).unwrap_or_default()),
            Self::Part(stream, _) => Self::Part(stream, range),
            other => other,
        }
    }
}

impl Stream<'_> {
    /// `None` if the stream ends or is damaged before the end of the part.
    fn part(&self, range: Range<usize>) -> Option<&[u8]> {
        let (bytes, _) = self.decompressed.get_or_init(|| self.payload.decompress());
        bytes.get(range)
    }

    fn error(&self) -> ContainerError {
        let (bytes, error) = self.decompressed.get_or_init(|| self.payload.decompress());
        error.clone().unwrap_or_else(|| {
            let (read, claimed) = (bytes.len() as u64, self.payload.claimed as u64);
            let kind = ContainerErrorKind::SmallerThanClaimed { read, claimed };
            ContainerError::new(self.payload.entry, kind)
        })
    }
}

/// An image that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Read<'f> {
    /// A cubin without the padding after it, PTX without the NULs after it.
    pub bytes: Bytes<'f>,
    /// The SM; for a cubin, from its own headers.
    pub sm: Option<GpuSm>,
}

impl<'f> GpuCode<'f> {
    /// Returns whether the image is the whole file.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.container.is_none() && self.member.is_none()
    }

    /// Whether reading the image may show that it is of the wanted SM. Only the numbers are compared, because the
    /// suffix is not known before.
    pub(super) fn may_be_of(&self, wanted: Option<Sm>) -> bool {
        wanted.is_none_or(|wanted| self.sm.is_none_or(|sm| sm.number() == wanted.number()))
    }

    /// Decompresses the image. Images that were compressed together are decompressed once, and
    /// their memory is freed with the last of them.
    ///
    /// # Errors
    /// Returns [`ContainerError`] if the payload is damaged, larger than the limits, or not as large
    /// as the entry claims.
    pub fn read(&self) -> Result<Read<'f>, ContainerError> {
        let mut bytes = Bytes(match &self.stored {
            Stored::Plain(bytes) => Backing::Borrowed(bytes),
            Stored::Compressed(payload) => match payload.decompress() {
                (bytes, None) => Backing::Owned(bytes),
                (_, Some(error)) => return Err(error),
            },
            Stored::Part(stream, range) => {
                if stream.part(range.clone()).is_none() {
                    return Err(stream.error());
                }
                Backing::Part(Arc::clone(stream), range.clone())
            }
            Stored::Refused(error) => return Err(error.clone()),
        });
        let mut sm = self.sm;
        match self.kind {
            GpuCodeKind::Cubin => {
                if let Some(header) = Header::read(&bytes) {
                    sm = GpuSm::of_cubin(header).or(sm);
                    // An image that is compressed on its own has no padding.
                    if !matches!(self.stored, Stored::Compressed(_)) && self.container.is_some() {
                        bytes.truncate(header.end);
                    }
                }
            }
            GpuCodeKind::Ptx => {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                bytes.truncate(end);
            }
            GpuCodeKind::Other(_) => {}
        }
        Ok(Read { bytes, sm })
    }
}
