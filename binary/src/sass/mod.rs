//! Reads SASS of SM 5.0 to 12.x from cubins, raw streams and text listings.
//!
//! [`read`] detects the kind of input by its content and returns [`SassInstruction`]s for all kinds: every instruction,
//! not only the loads, in the order of the input.
//!
//! | source | function | offset | word | text | control |
//! |---|---|---|---|---|---|
//! | cubin (ELF, machine 190) | yes | yes | yes | | yes |
//! | raw stream ([`Format::Raw`], [`read_raw`]) | | yes | yes | | yes |
//! | `cuobjdump -sass` | yes | yes | yes | yes | yes |
//! | `nvdisasm -hex` | yes | yes | yes | yes | yes |
//! | `nvdisasm`, `nvdisasm -raw` | yes | yes | | yes | |
//! | CuAssembler `.cuasm` | yes | yes | | yes | yes |
//! | maxas `.sass` | if named | | | yes | yes |
//! | maxas list of opcodes | | | yes | yes | |
//!
//! Words have 64 bits on SM 5.x and 6.x, with control words between them, and 128 bits on later SMs. Cubins and most
//! listings name their SM.
//!
//! ```
//! use warpload_encoding::MachineWord;
//! use warpload_binary::sass::{Format, read};
//!
//! let listing = "\
//!     code for sm_50
//!         Function : chase
//!                                                         /* 0x001fc400fe2007f6 */
//!         /*0008*/           LD.E.64 R6, [R4], P0 ;       /* 0x80b0000000070406 */
//! ";
//! for instruction in read(listing.as_bytes(), Format::Detect)? {
//!     let instruction = instruction?;
//!     assert_eq!(instruction.function.as_deref(), Some("chase"));
//!     assert_eq!(instruction.offset, Some(8));
//!     assert_eq!(instruction.word, Some(MachineWord::Bits64(0x80b0000000070406)));
//!     assert_eq!(instruction.text.as_deref(), Some("LD.E.64 R6, [R4], P0"));
//!     assert_eq!(instruction.control.map(|control| control.stall.get()), Some(6));
//! }
//! # Ok::<(), warpload_binary::sass::SassError>(())
//! ```
//!
//! [`Functions`] looks up the instruction and the source line at an offset of a function.

mod agreement;
mod assemble;
mod code;
mod error;
mod found;
mod functions;
mod labels;
mod line;
mod listing;
mod raw;
mod relocation;
mod rows;
mod scheduling;
mod source_lines;

use std::io::{BufRead, Chain, Cursor, Read};
use std::iter::FusedIterator;

use warpload_encoding::Sm;

pub use self::agreement::{Agreement, Disagreement};
pub use self::assemble::{AssembleError, AssembleErrorKind, AssembledFunction, assemble};
pub use self::code::{CodeUnit, SassInstruction};
pub use self::error::{ListingErrorKind, SassError};
pub use self::found::{FoundInstruction, is_later_load, names_a_load, sm_of};
#[cfg(feature = "container")]
pub use self::functions::{CubinError, CubinProblem, CubinRemark};
pub use self::functions::{Functions, Located, SassFunction};
use self::listing::Listing;
use self::raw::{DETECT_BYTES, Raw};
pub use self::relocation::without_relocations;
use self::rows::CubinRows;
pub use self::scheduling::Scheduling;
pub use self::source_lines::{DamagedLines, LineInformation, SourceLine};
use crate::file_kind::FileKind;

/// The maximum size of a cubin or a raw stream in bytes; these are read whole. Listings are unlimited.
pub const MAX_BINARY_BYTES: u64 = 1 << 30;

/// The format of an input, as far as the caller knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A cubin or a listing, detected by its content.
    #[default]
    Detect,
    /// 32-byte bundles without a container, which cannot be detected. [`read_raw`] also reads bundles that begin later
    /// in the input, and code of later SMs.
    Raw,
}

/// The detected kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SassKind {
    /// A cubin.
    Cubin,
    /// A raw stream of bundles or of 16-byte instructions.
    Raw,
    /// A text listing of any tool.
    Listing,
}

/// Iterates over the instructions of one input, in order. Ends after the first error.
#[derive(Debug)]
pub struct Sass<R> {
    source: Source<R>,
    ended: bool,
}

#[derive(Debug)]
enum Source<R> {
    Cubin(CubinRows),
    Raw(Raw),
    Listing(Box<Listing<Detected<R>>>),
}

/// An input with its first bytes put back after inspection.
type Detected<R> = Chain<Cursor<Vec<u8>>, R>;

/// Reads SASS from `input`.
///
/// A listing is read line by line as the iterator advances; cubins and raw streams are read and
/// checked whole by this function.
///
/// # Errors
/// Returns [`SassError`] if the input is not SASS, or is a damaged cubin or raw stream.
pub fn read<R: BufRead>(mut input: R, format: Format) -> Result<Sass<R>, SassError> {
    let mut start = Vec::new();
    input.by_ref().take(DETECT_BYTES).read_to_end(&mut start).map_err(SassError::Read)?;
    if start.is_empty() && format == Format::Detect {
        return Err(SassError::Empty);
    }
    let kind = FileKind::recognize(&start).filter(|kind| *kind != FileKind::Listing);
    let source = match (format, kind) {
        (Format::Raw, _) => return raw(start, input, 0, None),
        (Format::Detect, Some(FileKind::Elf | FileKind::Cubin)) => {
            Source::Cubin(CubinRows::new(read_whole(start, input, MAX_BINARY_BYTES)?)?)
        }
        (Format::Detect, Some(kind)) => return Err(SassError::OtherFile(kind)),
        (Format::Detect, None) if start.contains(&0) => return Err(SassError::Binary),
        (Format::Detect, None) => {
            Source::Listing(Box::new(Listing::new(Cursor::new(start).chain(input))))
        }
    };
    Ok(Sass { source, ended: false })
}

/// Reads a raw stream of code of `sm` that begins at byte offset `start` of `input`: bundles on SM 5.x and 6.x, and
/// instructions of 16 bytes on later ones. An `sm` of `None` is any SM 5.x or 6.x. Offsets of instructions count from
/// `start`.
///
/// # Errors
/// Returns [`SassError`] if `start` is outside the input or not a multiple of 8, or if the input is detectably not such
/// code: a file of another kind, an incomplete bundle or instruction at the end, or a word that cannot be a control
/// word.
pub fn read_raw<R: BufRead>(input: R, start: u64, sm: Option<Sm>) -> Result<Sass<R>, SassError> {
    raw(Vec::new(), input, start, sm)
}

/// `begun` are the bytes that have been read from `input` already.
fn raw<R: BufRead>(
    begun: Vec<u8>,
    input: R,
    start: u64,
    sm: Option<Sm>,
) -> Result<Sass<R>, SassError> {
    let data = read_whole(begun, input, MAX_BINARY_BYTES)?;
    Ok(Sass { source: Source::Raw(Raw::new(data, start, sm)?), ended: false })
}

fn read_whole(mut start: Vec<u8>, input: impl Read, limit: u64) -> Result<Vec<u8>, SassError> {
    // One byte above the limit is enough to see that the input is too large.
    let rest = (limit + 1).saturating_sub(start.len() as u64);
    input.take(rest).read_to_end(&mut start).map_err(SassError::Read)?;
    if start.len() as u64 > limit {
        return Err(SassError::TooLarge { limit });
    }
    Ok(start)
}

impl<R> Sass<R> {
    /// Returns the kind of the input.
    #[must_use]
    pub fn kind(&self) -> SassKind {
        match self.source {
            Source::Cubin(_) => SassKind::Cubin,
            Source::Raw(_) => SassKind::Raw,
            Source::Listing(_) => SassKind::Listing,
        }
    }

    /// Reads the line information of a cubin (`.debug_line`, from `nvcc -lineinfo` or `-G`), so that the instructions
    /// after this call have their source lines. Returns whether there is any, and its damage. Other inputs have none.
    pub fn read_source_lines(&mut self) -> LineInformation {
        match &mut self.source {
            Source::Cubin(rows) => rows.read_source_lines(),
            Source::Raw(_) | Source::Listing(_) => LineInformation::default(),
        }
    }

    /// Finds the jumps of a cubin or a raw stream of SM 5.0 to 6.2, so that the instructions after this call have labels
    /// and targets within their functions: `.L_1`, `.L_2`, ascending in each section. Listings have their own labels.
    pub fn read_labels(&mut self) {
        match &mut self.source {
            Source::Cubin(rows) => rows.read_labels(),
            Source::Raw(raw) => raw.read_labels(),
            Source::Listing(_) => {}
        }
    }

    /// Returns whether this is a raw stream without any scheduling. No compiler emits such code, so the input is more
    /// likely something else.
    #[must_use]
    pub fn is_unscheduled(&self) -> bool {
        matches!(&self.source, Source::Raw(raw) if raw.is_unscheduled())
    }

    /// Returns the offset in the input, in bytes, of the first control word of a raw stream that
    /// names barrier 6. The notations can write it, but no compiler emits it.
    #[must_use]
    pub fn barrier_6(&self) -> Option<u64> {
        match &self.source {
            Source::Raw(raw) => raw.barrier_6(),
            Source::Cubin(_) | Source::Listing(_) => None,
        }
    }
}

impl<R: BufRead> Iterator for Sass<R> {
    type Item = Result<SassInstruction, SassError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = match &mut self.source {
            Source::Cubin(rows) => rows.next().map(Ok),
            Source::Raw(raw) => raw.next().map(Ok),
            Source::Listing(listing) => listing.next().transpose(),
        };
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl<R: BufRead> FusedIterator for Sass<R> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: &[u8], format: Format) -> String {
        match read(input, format) {
            Err(error) => error.to_string(),
            Ok(sass) => panic!("read as {:?}", sass.kind()),
        }
    }

    #[test]
    fn what_is_not_sass_is_named() {
        for (input, expected) in [
            (&b""[..], "the input is empty"),
            (b"\x50\xed\x55\xba\x01\x00", "a CUDA fatbin"),
            (b"\xff\xfeF\0u\0", "a text in UTF-16"),
            (b"MZ\x90\0\x03", "a Windows program or library; `warpload decode` reads the cubins"),
            (b"!<arch>\n/ ", "an archive of objects"),
            (b"\x1f\x8b\x08\0", "a gzip file; decompress it"),
            (b"\x7fEL\0", "neither an ELF file nor text"),
        ] {
            let error = error(input, Format::Detect);
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(
            error(b"", Format::Raw),
            "the input is empty; expected a bare stream of 32-byte bundles"
        );
    }

    #[test]
    fn an_endless_binary_is_refused() {
        let whole = read_whole(vec![0; 5], [0; 3].as_slice(), 8);
        assert_eq!(whole.map(|whole| whole.len()).ok(), Some(8));
        let error = read_whole(vec![0; 5], std::io::repeat(0), 8).expect_err("more than 8");
        assert!(error.to_string().starts_with("larger than 8 bytes"), "{error}");
    }

    #[test]
    fn raw_is_never_detected() {
        let bundles = warpload_encoding::Bundle::nops().to_bytes();
        assert!(error(&bundles, Format::Detect).starts_with("neither an ELF file nor text"));
        let raw = read(&bundles[..], Format::Raw).expect("a bundle");
        assert_eq!(raw.kind(), SassKind::Raw);
        assert_eq!(raw.count(), 3);
    }
}
