use warpload_binary::container::{GpuCodes, Limits};

use crate::peak;

/// What one image may decompress to, and how much memory reading one at a time may take: a decoder
/// allocates its window, and what it returns grows by doubling.
const IMAGE_BYTES: u64 = 1 << 20;
const MAX_BYTES: usize = 16 << 20;

/// Any bytes have images or errors, in the order of the file and no more than their entries take
/// bytes; each is read or refused, in bounded memory.
pub fn container_is_bounded(input: &[u8]) {
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
