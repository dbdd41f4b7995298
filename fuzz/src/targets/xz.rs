use std::io::Read;
use std::path::Path;

use liblzma::bufread::XzDecoder;
use liblzma::read::XzEncoder;
use liblzma::stream::{CONCATENATED, Stream};

use crate::import::{could_name_files, import, is_xz, replay_import};
use crate::peak;

/// How much any import may allocate, however long its decompressed text is. The decoder allocates
/// separately, within its own bound.
const MAX_BYTES: usize = 200 << 20;

/// Enough of a text to tell whether it is a list of kernels.
const START: u64 = 2 << 20;

/// Any `.xz` is imported in bounded memory, or refused. A compressed text trace, in one stream or two,
/// imports like the text itself, and a truncated stream is refused.
///
/// The input is an `.xz`, or a byte that says what to do with the text that follows: 0 and 1 for as
/// many streams and one more, else how many bytes are cut off.
pub fn xz_is_bounded(input: &[u8]) {
    if is_xz(input) {
        if !could_name_files(&start(input)) {
            let _ = bounded(input);
        }
        return;
    }
    let Some((&how, text)) = input.split_first() else { return };
    if could_name_files(text) || is_xz(text) {
        return;
    }
    if how < 2 {
        let (one, other) = text.split_at(if how == 0 { text.len() } else { text.len() / 2 });
        let mut streams = compressed(one);
        if how == 1 {
            streams.extend(compressed(other));
        }
        assert_eq!(bounded(&streams), bounded(text));
    } else {
        let mut stream = compressed(text);
        stream.truncate(stream.len().saturating_sub(usize::from(how)).max(6));
        assert!(bounded(&stream).is_err(), "a stream without its end was imported");
    }
}

/// Returns the first decompressed bytes, as far as they can be read.
fn start(input: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok(stream) = Stream::new_stream_decoder(u64::MAX, CONCATENATED) {
        let mut decoder = XzDecoder::new_stream(input, stream).take(START);
        // What was read before an error counts.
        let _ = decoder.read_to_end(&mut text);
    }
    text
}

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let written = XzEncoder::new(text, 0).read_to_end(&mut stream);
    written.unwrap_or_else(|error| panic!("memory can be read: {error}"));
    stream
}

fn bounded(input: &[u8]) -> Result<Vec<u8>, String> {
    let (trace, bytes) = peak::during(|| import(input, Path::new("trace"), 1));
    assert!(bytes < MAX_BYTES, "the import took {bytes} bytes");
    if let Ok(trace) = &trace {
        replay_import(trace.clone());
    }
    trace
}
