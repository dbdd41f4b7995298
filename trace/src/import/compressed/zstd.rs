//! `.zst`, decoded by libzstd.

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, get_error_name};

use super::decoder::{Compression, Decoder, DecoderStep, Failure};
use warpload_binary::file_kind::FileKind;

pub(super) const COMPRESSION: Compression = Compression {
    kind: FileKind::Zstd,
    ending: ".zst",
    name: "zstd",
    part: "frame",
    padding: None,
    decoder: || Ok(Box::new(Zstd::new()?)),
};

/// The binary logarithm of the largest window, as of the command `zstd -d`: 128 MiB.
const WINDOW_LOG: u32 = 27;

/// The length of the shortest header of a frame.
const HEADER: usize = 5;

struct Zstd {
    context: DCtx<'static>,
    /// How many bytes the decoder asks for: what is left of a header, or a block. It is given no more,
    /// so that errors have a place.
    wanted: usize,
}

impl Zstd {
    fn new() -> Result<Self, Failure> {
        let no_memory = || Failure::Decoder("no memory".to_owned());
        let mut context = DCtx::try_create().ok_or_else(no_memory)?;
        context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG)).map_err(failure)?;
        Ok(Self { context, wanted: HEADER })
    }
}

impl Decoder for Zstd {
    /// Skippable frames are frames without contents.
    fn restart(&mut self) -> Result<(), Failure> {
        self.wanted = HEADER;
        Ok(())
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep {
        let input = &input[..input.len().min(self.wanted)];
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(output));
        let status = self.context.decompress_stream(&mut to, &mut from);
        let written = to.pos();
        match status {
            Ok(wanted) => {
                self.wanted = wanted;
                DecoderStep { consumed: from.pos(), written, ended: Ok(wanted == 0) }
            }
            // The decoder does not say at which byte.
            Err(code) => DecoderStep { consumed: input.len(), written, ended: Err(failure(code)) },
        }
    }
}

fn failure(code: ErrorCode) -> Failure {
    use ZSTD_ErrorCode::{
        ZSTD_error_dictionary_wrong as DictionaryWrong,
        ZSTD_error_frameParameter_unsupported as ParameterUnsupported,
        ZSTD_error_frameParameter_windowTooLarge as WindowTooLarge,
        ZSTD_error_memory_allocation as Allocation,
        ZSTD_error_version_unsupported as VersionUnsupported,
    };
    // An error is the negative of its number.
    let is = |error: ZSTD_ErrorCode| code.wrapping_neg() == error as usize;
    if is(WindowTooLarge) {
        Failure::Memory(1 << (WINDOW_LOG - 20), "compress it with `zstd --long=27` or less")
    } else if is(ParameterUnsupported) || is(VersionUnsupported) || is(DictionaryWrong) {
        Failure::Unsupported
    } else if is(Allocation) {
        Failure::Decoder(get_error_name(code).to_owned())
    } else {
        Failure::Damaged
    }
}
