//! [`Table`]: the images of an entry that has several in one stream (`fatbinary --concat`).

use std::ops::Range;

use super::compression::Compression;
use super::entry::{Entry, Fields, HEADER};
use super::error::{ContainerError, ContainerErrorKind as Kind};
use super::limits::MAX_TABLE_RECORDS;

/// The count and the size of the table come before its records.
const START: usize = 8;

/// The records of a table, each the header of an entry: 64 bytes, then its name and its records of
/// compatibility.
#[derive(Debug)]
pub(super) struct Table<'f> {
    entry: usize,
    compression: Option<Compression>,
    /// The size of the stream, decompressed as the entry claims.
    stream: u64,
    left: u32,
    records: &'f [u8],
    /// Where the images so far end in the stream.
    end: u64,
}

impl<'f> Table<'f> {
    pub(super) fn read(
        entry: &Entry<'f>,
        compression: Option<Compression>,
    ) -> Result<Self, ContainerError> {
        let after = entry.header.0.get(HEADER..).unwrap_or_default();
        let fields = Fields(after);
        let (count, size) = (fields.u32(0), fields.u32(4) as usize);
        let records = after.get(START..size);
        let needed = (count as usize).saturating_mul(HEADER);
        let is_sound = count <= MAX_TABLE_RECORDS;
        match records.filter(|records| is_sound && records.len() >= needed) {
            Some(records) => {
                let stream = match compression {
                    Some(_) => entry.claimed(),
                    None => entry.payload.len() as u64,
                };
                let entry = entry.offset;
                Ok(Self { entry, compression, stream, left: count, records, end: 0 })
            }
            None => Err(ContainerError::new(
                entry.offset,
                Kind::Table {
                    count: u64::from(count),
                    size: size as u64,
                    left: after.len() as u64,
                },
            )),
        }
    }

    pub(super) fn compression(&self) -> Option<Compression> {
        self.compression
    }
}

impl<'f> Iterator for Table<'f> {
    type Item = Result<(Fields<'f>, Range<usize>), ContainerError>;

    /// Returns the header of the next image, and where the image is in the stream.
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let header = Fields(self.records);
        // Without the rest of the table there are no more.
        let (record, rest) = self.records.split_at_checked(header.extent()).unwrap_or_default();
        self.records = rest;
        if record.is_empty() {
            self.left = 0;
        }
        let (start, size) = (u64::from(header.u32(4)), header.u64(8));
        let end = start
            .checked_add(size)
            .filter(|end| !record.is_empty() && start >= self.end && *end <= self.stream);
        let Some(end) = end else {
            let (stream, before) = (self.stream, self.end);
            let kind = Kind::ImageOutside { start, size, stream, before };
            return Some(Err(ContainerError::new(self.entry, kind)));
        };
        self.end = end;
        Some(Ok((Fields(record), start as usize..end as usize)))
    }
}
