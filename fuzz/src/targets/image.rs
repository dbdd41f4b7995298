use warpload::encoding::{Reg, Sm, parse_line};
use warpload::warp::Warp;
use warpload_suite::image::open;

use super::execute::executed_by_both;
use super::folder::{self, leads_out};

/// Any text is refused, or is the manifest of a memory image. A load from the image has the same result on both
/// executors. Manifests can name files in a temporary folder.
pub(super) fn image_does_not_panic(input: &[u8]) {
    if leads_out(input) {
        return;
    }
    let image = folder::with(|folder| {
        let manifest = folder.join("manifest.json");
        folder::write(&manifest, input);
        open(&manifest)
    });
    let Ok(machine) = image else { return };
    for at in machine.memory.allocations().iter().map(|allocation| allocation.base).take(4) {
        let Ok(line) = parse_line("LD.E.64 R4, [R2+-0x4]", Sm::SPA5) else { continue };
        let mut warp = Warp::new();
        let address = |lane: usize| at.wrapping_add(8 * lane as u64);
        warp.set_register(Reg::new(2), std::array::from_fn(|lane| address(lane) as u32));
        warp.set_register(Reg::new(3), std::array::from_fn(|lane| (address(lane) >> 32) as u32));
        executed_by_both(&line.instruction, &machine, warp);
    }
}
