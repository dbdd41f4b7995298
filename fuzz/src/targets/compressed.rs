use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use liblzma::bufread::XzDecoder;
use liblzma::read::XzEncoder;
use liblzma::stream::{CONCATENATED, Stream};
use warpload_binary::file_kind::FileKind;

use super::import::{could_name_files, import, is_compressed, replay_import};
use super::peak;

/// The limit on memory that an import allocates, however long the decompressed text is. Decoders in C allocate
/// separately, within their own limits.
const MAX_BYTES: usize = 200 << 20;

/// The bytes inspected to recognize a list of kernels.
const START: u64 = 2 << 20;

type Compress = fn(&[u8]) -> std::io::Result<Vec<u8>>;

const COMPRESS: [Compress; 3] = [xz, gzip, zstd];

/// Any compressed file is refused, or imported in bounded memory. A compressed text trace, in one part or two, imports
/// like the text itself, and a truncated part is refused.
///
/// The input is a compressed file, or a byte that selects the compression and the damage of the text after it. The byte
/// modulo 3 is the compression. The byte divided by 3 is 0 for one part, 1 for two parts, and otherwise the number of
/// bytes cut off.
pub(super) fn compressed_is_bounded(input: &[u8]) {
    if is_compressed(input) {
        if !could_name_files(&start(input)) {
            let _ = bounded(input);
        }
        return;
    }
    let Some((&how, text)) = input.split_first() else { return };
    if could_name_files(text) || is_compressed(text) {
        return;
    }
    let (compress, how) = (COMPRESS[usize::from(how % 3)], usize::from(how / 3));
    let compressed =
        |text| compress(text).unwrap_or_else(|error| panic!("memory can be read: {error}"));
    if how < 2 {
        let (one, other) = text.split_at(if how == 0 { text.len() } else { text.len() / 2 });
        let mut parts = compressed(one);
        if how == 1 {
            parts.extend(compressed(other));
        }
        assert_eq!(bounded(&parts), bounded(text));
    } else {
        let mut part = compressed(text);
        part.truncate(part.len().saturating_sub(how).max(6));
        assert!(bounded(&part).is_err(), "a part without its end was imported");
    }
}

/// The first decompressed bytes, as far as they can be read.
fn start(input: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let decoder: Option<Box<dyn Read>> = match FileKind::detect(input) {
        Some(FileKind::Gzip) => Some(Box::new(MultiGzDecoder::new(input))),
        Some(FileKind::Zstd) => zstd::Decoder::with_buffer(input).ok().map(|d| Box::new(d) as _),
        _ => Stream::new_stream_decoder(u64::MAX, CONCATENATED)
            .ok()
            .map(|stream| Box::new(XzDecoder::new_stream(input, stream)) as _),
    };
    if let Some(decoder) = decoder {
        // After an error, the bytes read so far are used.
        let _ = decoder.take(START).read_to_end(&mut text);
    }
    text
}

fn xz(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = Vec::new();
    XzEncoder::new(text, 0).read_to_end(&mut stream)?;
    Ok(stream)
}

fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text)?;
    encoder.finish()
}

fn zstd(text: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::encode_all(text, 1)
}

fn bounded(input: &[u8]) -> Result<Vec<u8>, String> {
    let (trace, bytes) = peak::during(|| import(input, Path::new("trace"), 1));
    assert!(bytes < MAX_BYTES, "the import took {bytes} bytes");
    if let Ok(trace) = &trace {
        replay_import(trace.clone());
    }
    trace
}
