use warpload_binary::container::{GpuCodes, Limits};

use super::peak;

/// The limits on the decompressed size of an image, and on the memory for reading one at a time. The latter is larger,
/// because a decoder allocates its window and its output grows by doubling.
const IMAGE_BYTES: u64 = 1 << 20;
const MAX_BYTES: usize = 16 << 20;

/// In any bytes, images and errors come in the order of the file, and their number is at most the number of bytes. Each
/// image is read or refused, in bounded memory.
pub(super) fn container_is_bounded(input: &[u8]) {
    let limits = Limits::default().image(IMAGE_BYTES).total(4 * IMAGE_BYTES);
    let most = MAX_BYTES + 4 * input.len();
    let ((), bytes) = peak::during(|| {
        let (mut count, mut last) = (0, (None, None));
        for image in GpuCodes::with_limits(input, limits) {
            count += 1;
            let Ok(image) = image else { continue };
            let place = (image.container, image.entry);
            assert!(place.0.is_none() || place >= last, "{place:?} after {last:?}");
            last = place;
            if let Ok(read) = image.read() {
                let size = read.bytes.len() as u64;
                assert!(size <= IMAGE_BYTES.max(input.len() as u64), "{size} bytes");
            }
        }
        assert!(count <= input.len());
    });
    assert!(bytes < most, "it took {bytes} bytes");
}
