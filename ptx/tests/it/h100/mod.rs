//! Comparisons with an H100; `ptx/tests/h100/README.md` describes the measurements.

mod flow;
mod functions;
mod matrix;

/// Decompresses a file of answers.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut decoder = liblzma::read::XzDecoder::new(packed);
    std::io::Read::read_to_end(&mut decoder, &mut bytes).expect("a compressed file");
    bytes
}
