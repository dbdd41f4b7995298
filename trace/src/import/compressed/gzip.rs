//! `.gz`, decoded by zlib-rs.

use flate2::{Decompress, FlushDecompress, Status};

use super::decoder::{Compression, Decoder, DecoderStep, Failure};
use warpload_binary::file_kind::FileKind;

pub(super) const COMPRESSION: Compression = Compression {
    kind: FileKind::Gzip,
    ending: ".gz",
    name: "gzip",
    part: "member",
    padding: None,
    decoder: || Ok(Box::new(Gzip(member()))),
};

/// The binary logarithm of the largest window, that of every member.
const WINDOW_BITS: u8 = 15;

struct Gzip(Decompress);

fn member() -> Decompress {
    Decompress::new_gzip(WINDOW_BITS)
}

impl Decoder for Gzip {
    fn restart(&mut self) -> Result<(), Failure> {
        self.0 = member();
        Ok(())
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, output, FlushDecompress::None);
        DecoderStep {
            consumed: (self.0.total_in() - before.0) as usize,
            written: (self.0.total_out() - before.1) as usize,
            ended: match status {
                Ok(status) => Ok(status == Status::StreamEnd),
                Err(_) => Err(Failure::Damaged),
            },
        }
    }
}
