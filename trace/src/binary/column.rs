//! Columns: numbers of one meaning from a whole block or footer, stored together because they compress well together. A
//! chunk is a directory of columns followed by their bytes (docs/trace-format.md). [`ChunkWriter`] writes chunks,
//! [`Chunk`] finds columns in one, and [`Decoder`] turns their bytes back into numbers.

use std::fmt;
use std::io;
use std::str::FromStr;

use twox_hash::XxHash3_128;
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, InBuffer, OutBuffer, compress_bound, get_error_name,
    get_frame_content_size,
};

use super::contents::ContentHash;
use super::format::FILLER;
use warpload::simd::vectorized;

/// The largest size to which a column of numbers in `stored` bytes may decompress. It is proportional to `stored`, so
/// that a small file cannot exhaust memory; a writer stores columns uncompressed rather than exceed it.
const fn most_plain_bytes(stored: usize) -> usize {
    let most = stored.saturating_mul(1 << 12).saturating_add(1 << 20);
    if most < 1 << 30 { most } else { 1 << 30 }
}

/// How the columns of a trace are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// No compression, the fastest to write and to replay.
    None,
    /// Zstandard at this level: 1 is the fastest, 19 the smallest.
    Zstd(i32),
}

impl Compression {
    /// The default level of zstd.
    pub const DEFAULT_LEVEL: i32 = 3;
    const LEVELS: std::ops::RangeInclusive<i32> = 1..=19;
}

impl Default for Compression {
    fn default() -> Self {
        Self::Zstd(Self::DEFAULT_LEVEL)
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Zstd(level) => write!(f, "zstd:{level}"),
        }
    }
}

impl FromStr for Compression {
    type Err = String;

    /// Reads `none`, `zstd` or `zstd:LEVEL`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "zstd" => Ok(Self::default()),
            Some(("zstd", level)) => {
                { level.parse().ok().filter(|level| Self::LEVELS.contains(level)).map(Self::Zstd) }
                    .ok_or_else(|| format!("level {level:?} of zstd; expected 1 to 19"))
            }
            _ => Err(format!("{text:?}; expected `none`, `zstd` or `zstd:LEVEL`")),
        }
    }
}

/// The bits of a column's encoding byte in the directory.
mod encoding {
    /// The bytes per number.
    pub(super) const WIDTH: u8 = 0x0f;
    /// The number of low zero bits that all numbers share and that are not stored.
    pub(super) const SHIFT: u8 = 0x30;
    pub(super) const SHIFT_AT: u32 = 4;
    /// The bytes are a zstd frame without its magic.
    pub(super) const ZSTD: u8 = 0x40;
    /// A reader that does not know the column must refuse the trace.
    pub(super) const REQUIRED: u8 = 0x80;
}

/// The magic of a zstd frame. Not stored, since all frames have the same.
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// Shorter planes share a zstd block, because statistics of their own would cost more than they save.
const OWN_BLOCK: usize = 16 << 10;

/// A column above this size is compressed only if that saves more than an eighth: a smaller gain is not worth the time.
const SMALL: usize = 1 << 10;
const LEAST_SAVED: usize = 8;

/// A column of at least this size is compressed only if a sample of it, the first sixteenth of each plane, shrinks by a
/// fifth. The lanes of random gathers save little, and trying all of them takes a tenth of an import. A sample misses
/// repeats further apart than its length, so levels above the default, chosen for size, skip the test.
const SAMPLED: usize = 64 << 10;
const SAMPLE: usize = 16;
const LEAST_SAVED_OF_SAMPLE: usize = 5;

/// Builds one chunk after another.
pub(super) struct ChunkWriter {
    compression: Compression,
    encoder: FrameEncoder,
    /// A column's bytes, and a sample of them.
    planes: Vec<u8>,
    sample: Vec<u8>,
    columns: u8,
    entries: Vec<u8>,
    data: Vec<u8>,
    /// The hash of the columns before compression.
    hash: XxHash3_128,
}

impl fmt::Debug for ChunkWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkWriter")
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl ChunkWriter {
    pub(super) fn new(compression: Compression) -> Self {
        Self {
            compression,
            encoder: FrameEncoder::default(),
            planes: Vec::new(),
            sample: Vec::new(),
            columns: 0,
            entries: Vec::new(),
            data: Vec::new(),
            hash: XxHash3_128::new(),
        }
    }

    /// Adds a column of numbers. Omits it if all are zero.
    pub(super) fn unsigned<N: Unsigned>(&mut self, id: u8, numbers: &[N]) -> io::Result<()> {
        self.split_planes(id, numbers, 0, 0)
    }

    /// Adds a column from which the reader takes the count, so it is present even if all numbers are zero.
    pub(super) fn counted<N: Unsigned>(&mut self, id: u8, numbers: &[N]) -> io::Result<()> {
        self.split_planes(id, numbers, 0, usize::from(!numbers.is_empty()))
    }

    /// Adds a column of signed numbers without their common low zero bits: most are multiples of an access size.
    pub(super) fn signed<N: Signed>(&mut self, id: u8, numbers: &[N]) -> io::Result<()> {
        let all = numbers.iter().fold(0, |all, number| all | (*number).into());
        self.split_planes(id, numbers, all.trailing_zeros().min(3), 0)
    }

    /// Splits numbers into planes, the lowest byte of each number first. The bytes of a plane are alike, so that zstd
    /// compresses them better, and a reader joins planes without a branch.
    fn split_planes<N: Stored>(
        &mut self,
        id: u8,
        numbers: &[N],
        shift: u32,
        least: usize,
    ) -> io::Result<()> {
        let all = vectorized!(all_bits(numbers));
        let bits = u64::BITS - (all >> shift).leading_zeros();
        let width = (bits.div_ceil(8) as usize).max(least);
        if width == 0 {
            return Ok(());
        }
        self.planes.clear();
        self.planes.resize(width * numbers.len(), 0);
        for (i, plane) in (0u32..).zip(self.planes.chunks_exact_mut(numbers.len())) {
            vectorized!(split_plane(numbers, 8 * i + shift, plane));
        }
        let encoding = width as u8 | (shift as u8) << encoding::SHIFT_AT;
        self.column(id, encoding, numbers.len(), b"", usize::MAX)
    }

    /// Adds a column of bytes, compressed with a dictionary that the reader also has. More than `most` bytes are stored
    /// as they are.
    pub(super) fn bytes(
        &mut self,
        id: u8,
        bytes: &[u8],
        dictionary: &[u8],
        most: usize,
    ) -> io::Result<()> {
        self.planes.clear();
        self.planes.extend_from_slice(bytes);
        self.column(id, 1, bytes.len(), dictionary, most)
    }

    /// Adds the column in `planes`, with `plane` bytes per plane, compressed if it has at most `most` bytes.
    fn column(
        &mut self,
        id: u8,
        encoding: u8,
        plane: usize,
        dictionary: &[u8],
        most: usize,
    ) -> io::Result<()> {
        let Self { hash, planes, .. } = self;
        hash.write(&[id, encoding]);
        hash.write(&(planes.len() as u64).to_le_bytes());
        hash.write(planes);
        let is_compressed = match self.compression {
            _ if self.planes.len() > most => false,
            Compression::None => false,
            Compression::Zstd(level) => self.compress(level, plane, dictionary)?,
        };
        let (flag, stored) = match is_compressed {
            true => {
                (encoding::ZSTD, self.encoder.frame.get(ZSTD_MAGIC.len()..).unwrap_or_default())
            }
            false => (0, &self.planes[..]),
        };
        self.columns += 1;
        self.entries.extend([id, encoding | flag | encoding::REQUIRED]);
        push_length(&mut self.entries, stored.len());
        self.data.extend_from_slice(stored);
        Ok(())
    }

    /// Compresses `planes` if that saves enough.
    fn compress(&mut self, level: i32, plane: usize, dictionary: &[u8]) -> io::Result<bool> {
        let Self { encoder, planes, sample, .. } = self;
        let plain = planes.len();
        // A long plane gets its own zstd blocks, because its bytes have their own statistics.
        let has_own_blocks = plane >= OWN_BLOCK && plane < plain;
        let block = |plane| if has_own_blocks { plane } else { usize::MAX };
        if plain >= SAMPLED && level <= Compression::DEFAULT_LEVEL {
            let part = plane / SAMPLE;
            sample.clear();
            planes.chunks(plane).for_each(|plane| sample.extend_from_slice(&plane[..part]));
            encoder.compress(level, sample, block(part), dictionary)?;
            if encoder.frame.len() > sample.len() - sample.len() / LEAST_SAVED_OF_SAMPLE {
                return Ok(false);
            }
        }
        encoder.compress(level, planes, block(plane), dictionary)?;
        let stored = encoder.frame.len() - ZSTD_MAGIC.len();
        let saved = plain.saturating_sub(stored);
        let is_worth_it = if plain > SMALL { saved > plain / LEAST_SAVED } else { saved > 0 };
        Ok(is_worth_it && (!dictionary.is_empty() || plain <= most_plain_bytes(stored)))
    }

    /// The hash of the chunk's columns followed by `numbers`.
    pub(super) fn hash_with(&mut self, numbers: &[u64]) -> ContentHash {
        let mut hash = std::mem::take(&mut self.hash);
        numbers.iter().for_each(|number| hash.write(&number.to_le_bytes()));
        ContentHash::of_number(hash.finish_128())
    }

    /// Appends the finished chunk to `output`, filled up to `least` bytes, and starts the next one.
    pub(super) fn finish_with(&mut self, least: usize, output: &mut Vec<u8>) {
        let bytes = 1 + self.entries.len() + self.data.len();
        if let Some(missing) = least.checked_sub(bytes).filter(|missing| *missing > 0) {
            self.columns += 1;
            self.entries.extend([FILLER, 1]);
            // The entry takes three bytes itself.
            let missing = missing.saturating_sub(3);
            push_length(&mut self.entries, missing);
            self.data.resize(self.data.len() + missing, 0);
        }
        self.finish(output);
    }

    /// Appends the finished chunk to `output` and starts the next one.
    pub(super) fn finish(&mut self, output: &mut Vec<u8>) {
        output.push(std::mem::take(&mut self.columns));
        output.append(&mut self.entries);
        output.append(&mut self.data);
    }
}

/// Compresses columns and keeps its buffers.
#[derive(Default)]
struct FrameEncoder {
    /// Created on first use.
    context: Option<CCtx<'static>>,
    frame: Vec<u8>,
}

impl FrameEncoder {
    /// Compresses bytes into `frame`, ending a zstd block every `block` bytes. Input shorter than `block` is left to
    /// zstd.
    fn compress(
        &mut self,
        level: i32,
        bytes: &[u8],
        block: usize,
        dictionary: &[u8],
    ) -> io::Result<()> {
        let failed = |code| io::Error::other(get_error_name(code));
        if self.context.is_none() {
            let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
            let mut context = CCtx::try_create().ok_or_else(no_memory)?;
            context.set_parameter(CParameter::CompressionLevel(level)).map_err(failed)?;
            self.context = Some(context);
        }
        let Self { context: Some(context), frame } = self else { return Ok(()) };
        if !dictionary.is_empty() {
            context.load_dictionary(dictionary).map_err(failed)?;
        }
        frame.clear();
        frame.reserve(compress_bound(bytes.len()) + 64);
        if block >= bytes.len() {
            context.compress2(frame, bytes).map_err(failed)?;
        } else {
            context.set_pledged_src_size(Some(bytes.len() as u64)).map_err(failed)?;
            let mut output = OutBuffer::around(frame);
            let mut left = bytes.len();
            for block in bytes.chunks(block) {
                left -= block.len();
                let end = match left {
                    0 => ZSTD_EndDirective::ZSTD_e_end,
                    _ => ZSTD_EndDirective::ZSTD_e_flush,
                };
                let mut input = InBuffer::around(block);
                // `frame` holds the worst case, so the loop ends with all input consumed.
                while context.compress_stream2(&mut output, &mut input, end).map_err(failed)? > 0 {}
            }
        }
        if !dictionary.is_empty() {
            context.disable_dictionary().map_err(failed)?;
        }
        Ok(())
    }
}

/// Appends a length, seven bits per byte, lowest first; the top bit marks that another byte follows.
fn push_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length > 0x7f {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let mut length = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.split_off_first()?;
        length |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(length).ok();
        }
    }
    None
}

/// Why a chunk is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkError {
    /// A required column that this version does not know.
    Unknown(u8),
    /// A description of the problem.
    Malformed(String),
}

impl From<String> for ChunkError {
    fn from(message: String) -> Self {
        Self::Malformed(message)
    }
}

/// A chunk with a checked directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'b> {
    entries: &'b [u8],
    data: &'b [u8],
}

/// A column as stored.
#[derive(Clone, Copy, Debug)]
struct StoredColumn<'b> {
    id: u8,
    encoding: u8,
    bytes: &'b [u8],
}

impl<'b> Chunk<'b> {
    /// Checks the directory of a chunk: columns must ascend, fill the chunk, and be in `known` if they are required.
    pub(super) fn new(bytes: &'b [u8], known: &[u8]) -> Result<Self, ChunkError> {
        let cut = || ChunkError::from("its directory is cut off".to_owned());
        let (&columns, rest) = bytes.split_first().ok_or_else(cut)?;
        let (mut directory, mut total, mut last) = (rest, 0usize, None);
        for _ in 0..columns {
            let (id, encoding, length) = take_entry(&mut directory).ok_or_else(cut)?;
            if last >= Some(id) {
                return Err(format!("column {id} is out of order").into());
            }
            if encoding & encoding::REQUIRED != 0 && !known.contains(&id) {
                return Err(ChunkError::Unknown(id));
            }
            total = total.saturating_add(length);
            last = Some(id);
        }
        let (entries, data) = rest.split_at(rest.len() - directory.len());
        if total != data.len() {
            return Err(format!("its columns have {total} bytes, but it has {}", data.len()).into());
        }
        Ok(Self { entries, data })
    }

    fn find(&self, wanted: u8) -> Option<StoredColumn<'b>> {
        let (mut entries, mut data) = (self.entries, self.data);
        while let Some((id, encoding, length)) = take_entry(&mut entries) {
            let bytes = data.split_off(..length)?;
            if id == wanted {
                return Some(StoredColumn { id, encoding, bytes });
            }
        }
        None
    }

    /// The length of a column that the writer [counted](ChunkWriter::counted).
    pub(super) fn count(&self, id: u8) -> Result<usize, String> {
        let Some(column) = self.find(id) else { return Ok(0) };
        let width = column.width();
        let length = column.plain_length()?;
        if width == 0 || !length.is_multiple_of(width) {
            return Err(format!("column {id} has {length} bytes, but numbers of {width} bytes"));
        }
        Ok(length / width)
    }
}

fn take_entry(directory: &mut &[u8]) -> Option<(u8, u8, usize)> {
    let (id, encoding) = (*directory.split_off_first()?, *directory.split_off_first()?);
    Some((id, encoding, take_length(directory)?))
}

impl StoredColumn<'_> {
    fn width(&self) -> usize {
        usize::from(self.encoding & encoding::WIDTH)
    }

    fn shift(&self) -> u32 {
        u32::from(self.encoding & encoding::SHIFT) >> encoding::SHIFT_AT
    }

    fn is_compressed(&self) -> bool {
        self.encoding & encoding::ZSTD != 0
    }

    /// The size after decompression, as the frame states it.
    fn plain_length(&self) -> Result<usize, String> {
        if !self.is_compressed() {
            return Ok(self.bytes.len());
        }
        // A frame header has at most 18 bytes, four of them the magic.
        let start = self.bytes.get(..self.bytes.len().min(14)).unwrap_or_default();
        let size = get_frame_content_size(&[&ZSTD_MAGIC, start].concat());
        let size = size.ok().flatten().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| format!("the zstd frame of column {} has no content size", self.id))
    }
}

/// Decodes columns. Reuses its buffers, since they are large.
#[derive(Default)]
pub(super) struct Decoder {
    /// Created on first use.
    context: Option<DCtx<'static>>,
    frame: Vec<u8>,
    planes: Vec<u8>,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// A number in a column. `byte` works in the type's own width rather than in `u64`, because a vector then holds more
/// numbers.
pub(super) trait Stored: Copy + Default {
    fn stored(self) -> u64;

    /// The eight bits from bit `at` on.
    fn byte(self, at: u32) -> u8;

    /// The inverse of [`Self::stored`], shifted left by `shift`.
    fn read(stored: u64, shift: u32) -> Self;
}

pub(super) trait Unsigned: Stored {}
pub(super) trait Signed: Stored + Into<i64> {
    /// Truncates to the type.
    fn of(number: i64) -> Self;
}

macro_rules! unsigned {
    ($($number:ty),*) => {$(
        impl Unsigned for $number {}

        impl Stored for $number {
            #[inline(always)]
            fn stored(self) -> u64 {
                self.into()
            }

            #[inline(always)]
            fn byte(self, at: u32) -> u8 {
                self.wrapping_shr(at) as u8
            }

            #[inline(always)]
            fn read(stored: u64, _: u32) -> Self {
                stored as Self
            }
        }
    )*};
}
unsigned!(u8, u16, u32, u64);

/// Zigzag encoding: the sign is in the lowest bit, so that small numbers of either sign take few bytes.
macro_rules! signed {
    ($($number:ty as $unsigned:ty),*) => {$(
        impl Signed for $number {
            #[inline(always)]
            fn of(number: i64) -> Self {
                number as Self
            }
        }

        impl Stored for $number {
            #[inline(always)]
            fn stored(self) -> u64 {
                (self << 1 ^ self >> (<$number>::BITS - 1)).cast_unsigned().into()
            }

            #[inline(always)]
            fn byte(self, at: u32) -> u8 {
                let stored = (self << 1 ^ self >> (<$number>::BITS - 1)).cast_unsigned();
                stored.wrapping_shr(at) as u8
            }

            #[inline(always)]
            fn read(stored: u64, shift: u32) -> Self {
                let stored = stored as $unsigned;
                let number = (stored >> 1).cast_signed() ^ (stored & 1).cast_signed().wrapping_neg();
                number.wrapping_shl(shift)
            }
        }
    )*};
}
signed!(i8 as u8, i16 as u16, i32 as u32, i64 as u64);

/// The union of the numbers' bits, as stored.
#[inline(always)]
fn all_bits<N: Stored>(numbers: &[N]) -> u64 {
    let mut all = 0;
    for number in numbers {
        all |= number.stored();
    }
    all
}

/// Fills a plane with the byte from bit `at` on of each number.
#[inline(always)]
fn split_plane<N: Stored>(numbers: &[N], at: u32, plane: &mut [u8]) {
    for (byte, number) in plane.iter_mut().zip(numbers) {
        *byte = number.byte(at);
    }
}

impl Decoder {
    /// Reads a column of `count` numbers into `to`; leaves `to` empty if all are zero.
    pub(super) fn unsigned<T: Unsigned>(
        &mut self,
        chunk: &Chunk<'_>,
        id: u8,
        count: usize,
        to: &mut Vec<T>,
    ) -> Result<(), String> {
        match chunk.find(id) {
            Some(column) if column.shift() != 0 => Err(format!("column {id} is shifted")),
            column => self.numbers(column, count, to),
        }
    }

    /// Reads a column of `count` signed numbers, modulo the size of `T`, into `to`; leaves `to` empty if all are zero.
    pub(super) fn signed<T: Signed>(
        &mut self,
        chunk: &Chunk<'_>,
        id: u8,
        count: usize,
        to: &mut Vec<T>,
    ) -> Result<(), String> {
        self.numbers(chunk.find(id), count, to)
    }

    fn numbers<T: Stored>(
        &mut self,
        column: Option<StoredColumn<'_>>,
        count: usize,
        to: &mut Vec<T>,
    ) -> Result<(), String> {
        to.clear();
        let Some(column) = column else { return Ok(()) };
        let (id, width, shift) = (column.id, column.width(), column.shift());
        // Wider numbers would be truncated silently.
        if width > size_of::<T>() {
            return Err(format!("column {id} has numbers of {width} bytes"));
        }
        let most = most_plain_bytes(column.bytes.len());
        let planes =
            plain(&mut self.context, &mut self.frame, &mut self.planes, column, count, most)?;
        join_planes(planes, count, shift, to);
        Ok(())
    }

    /// Reads a column of bytes, of at most `most` if it is compressed.
    pub(super) fn bytes<'s>(
        &'s mut self,
        chunk: &Chunk<'s>,
        id: u8,
        dictionary: &[u8],
        most: usize,
    ) -> Result<&'s [u8], String> {
        let Some(column) = chunk.find(id) else { return Err(format!("it has no column {id}")) };
        let length = column.plain_length()?;
        let mut context = new_context()?;
        let loaded = context.load_dictionary(dictionary);
        loaded.map_err(|code| get_error_name(code).to_owned())?;
        plain(&mut Some(context), &mut self.frame, &mut self.planes, column, length, most)
    }
}

fn new_context() -> Result<DCtx<'static>, String> {
    DCtx::try_create().ok_or_else(|| "no memory for the zstd decoder".to_owned())
}

/// The plain bytes of a column of `count` numbers, decompressed into `planes` if necessary.
fn plain<'s>(
    context: &mut Option<DCtx<'static>>,
    frame: &mut Vec<u8>,
    planes: &'s mut Vec<u8>,
    column: StoredColumn<'s>,
    count: usize,
    most: usize,
) -> Result<&'s [u8], String> {
    let (id, width) = (column.id, column.width());
    if !(1..=8).contains(&width) {
        return Err(format!("column {id} has numbers of {width} bytes; expected 1 to 8"));
    }
    let (expected, found) = (width.saturating_mul(count), column.plain_length()?);
    if found != expected {
        return Err(format!("column {id} has {found} bytes; expected {expected}"));
    }
    if !column.is_compressed() {
        return Ok(column.bytes);
    }
    if expected > most {
        return Err(format!("column {id} has {expected} bytes; expected at most {most}"));
    }
    if planes.len() < expected {
        planes.resize(expected, 0);
    }
    frame.clear();
    frame.extend_from_slice(&ZSTD_MAGIC);
    frame.extend_from_slice(column.bytes);
    let context = match context {
        Some(context) => context,
        None => context.insert(new_context()?),
    };
    let planes = planes.get_mut(..expected).unwrap_or_default();
    match context.decompress(planes, frame) {
        Ok(written) if written == expected => Ok(planes),
        Ok(written) => Err(format!("column {id} has {written} bytes; expected {expected}")),
        Err(code) => {
            Err(format!("the zstd frame of column {id} is invalid: {}", get_error_name(code)))
        }
    }
}

/// Joins the planes' bytes to numbers, plane 0 lowest.
fn join_planes<T: Stored>(planes: &[u8], count: usize, shift: u32, to: &mut Vec<T>) {
    to.resize(count, T::default());
    match planes.len().checked_div(count) {
        Some(1) => vectorized!(join::<T, 1>(planes, shift, to)),
        Some(2) => vectorized!(join::<T, 2>(planes, shift, to)),
        Some(3) => vectorized!(join::<T, 3>(planes, shift, to)),
        Some(4) => vectorized!(join::<T, 4>(planes, shift, to)),
        Some(5) => vectorized!(join::<T, 5>(planes, shift, to)),
        Some(6) => vectorized!(join::<T, 6>(planes, shift, to)),
        Some(7) => vectorized!(join::<T, 7>(planes, shift, to)),
        Some(8) => vectorized!(join::<T, 8>(planes, shift, to)),
        _ => {}
    }
}

/// Joins `WIDTH` planes. Slicing them to one length first removes the bounds checks from the loop.
#[inline(always)]
fn join<T: Stored, const WIDTH: usize>(planes: &[u8], shift: u32, to: &mut [T]) {
    let count = planes.len() / WIDTH;
    let mut rest = planes;
    let mut split = [&planes[..count]; WIDTH];
    for plane in &mut split {
        (*plane, rest) = rest.split_at(count);
    }
    let count = count.min(to.len());
    let (split, to) = (split.map(|plane| &plane[..count]), &mut to[..count]);
    for (i, to) in to.iter_mut().enumerate() {
        let mut number = 0;
        let mut plane = 0;
        while plane < WIDTH {
            number |= u64::from(split[plane][i]) << (8 * plane);
            plane += 1;
        }
        *to = T::read(number, shift);
    }
}
