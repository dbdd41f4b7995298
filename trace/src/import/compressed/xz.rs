//! `.xz`, decoded by liblzma.

use liblzma::stream::{Action, Error, Status, Stream};

use super::decoder::{Compression, Decoder, DecoderStep, Failure};
use warpload_binary::file_kind::FileKind;

pub(super) const COMPRESSION: Compression = Compression {
    kind: FileKind::Xz,
    ending: ".xz",
    name: "xz",
    part: "stream",
    padding: Some(4),
    decoder: || Ok(Box::new(Xz(stream()?))),
};

/// The most memory for decoding. `xz -9` needs 65 MiB; a hostile file could demand 4 GiB.
const MEMORY: u64 = 256 << 20;

struct Xz(Stream);

fn stream() -> Result<Stream, Failure> {
    Stream::new_stream_decoder(MEMORY, 0).map_err(|error| Failure::Decoder(error.to_string()))
}

impl Decoder for Xz {
    fn restart(&mut self) -> Result<(), Failure> {
        self.0 = stream()?;
        Ok(())
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.process(input, output, Action::Run);
        DecoderStep {
            consumed: (self.0.total_in() - before.0) as usize,
            written: (self.0.total_out() - before.1) as usize,
            ended: match status {
                Ok(status) => Ok(status == Status::StreamEnd),
                Err(Error::Data | Error::Format) => Err(Failure::Damaged),
                Err(Error::Options | Error::UnsupportedCheck) => Err(Failure::Unsupported),
                Err(Error::MemLimit) => {
                    Err(Failure::Memory(MEMORY >> 20, "compress it with `xz -9` or less"))
                }
                Err(error) => Err(Failure::Decoder(error.to_string())),
            },
        }
    }
}
