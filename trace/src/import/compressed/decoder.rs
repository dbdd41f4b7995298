//! [`Compression`] and [`Decoder`]: how a compression's file describes it for the list in `mod.rs`.

use warpload_binary::file_kind::FileKind;

/// A compression whose files are read.
pub(in crate::import) struct Compression {
    /// The kind of its files, which are told by their first bytes.
    pub(in crate::import) kind: FileKind,
    /// How names of its files end.
    pub(super) ending: &'static str,
    /// Its name, for messages.
    pub(super) name: &'static str,
    /// What a file has one or more of, each decoded on its own.
    pub(super) part: &'static str,
    /// Zeros may follow a part if their number is a multiple of this.
    pub(super) padding: Option<u64>,
    pub(super) decoder: fn() -> Result<Box<dyn Decoder>, Failure>,
}

/// Decodes part after part of a compressed file.
pub(super) trait Decoder: Send {
    /// Begins the next part.
    fn restart(&mut self) -> Result<(), Failure>;

    /// Decodes the beginning of `input`, as much as fits in `output`.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep;
}

/// What one call of a decoder did.
pub(super) struct DecoderStep {
    /// The number of bytes of the input that were decoded. If decoding failed, the reason is in them
    /// or before them.
    pub(super) consumed: usize,
    pub(super) written: usize,
    /// Whether the part ends after them.
    pub(super) ended: Result<bool, Failure>,
}

/// Why a part cannot be decoded.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    Damaged,
    CutOff,
    /// What follows the part before is not a part.
    Trailing,
    Unsupported,
    /// Decoding takes more MiB than this; the advice says how to compress instead.
    Memory(u64, &'static str),
    Decoder(String),
}
