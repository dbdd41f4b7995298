//! [`Addresses32`]: reading line programs whose addresses have 32 bits.

use std::borrow::Cow;

use gimli::{EndianSlice, LittleEndian, Reader, ReaderOffsetId, Result};

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// A reader whose addresses have 4 bytes in the section. gimli is told 8 all the same: relocated addresses
/// have the index of a section above the offset in it, which 32 bits do not hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses32<'d>(pub(super) Slice<'d>);

impl<'d> Reader for Addresses32<'d> {
    type Endian = LittleEndian;
    type Offset = usize;

    fn read_address(&mut self, _size: u8) -> Result<u64> {
        self.0.read_u32().map(u64::from)
    }

    fn endian(&self) -> LittleEndian {
        self.0.endian()
    }

    fn len(&self) -> usize {
        Reader::len(&self.0)
    }

    fn empty(&mut self) {
        self.0.empty();
    }

    fn truncate(&mut self, length: usize) -> Result<()> {
        self.0.truncate(length)
    }

    fn offset_from(&self, base: &Self) -> usize {
        Reader::offset_from(&self.0, &base.0)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        self.0.offset_id()
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.0.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> Result<usize> {
        Reader::find(&self.0, byte)
    }

    fn skip(&mut self, length: usize) -> Result<()> {
        self.0.skip(length)
    }

    fn split(&mut self, length: usize) -> Result<Self> {
        self.0.split(length).map(Self)
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        self.0.to_slice()
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        Reader::to_string(&self.0)
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        Reader::to_string_lossy(&self.0)
    }

    fn read_slice(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.read_slice(bytes)
    }
}
