use std::path::Path;

use super::import::{could_name_files, import, is_compressed, replay_import};

/// Enough of a header for most inputs to be read as Accel-Sim's. An input may have its own.
fn header(version: &str) -> String {
    format!(
        "-kernel name = k\n-grid dim = (2,2,1)\n-block dim = (48,1,1)\n\
         -shmem base_addr = 0x1000000\n-accelsim tracer version = {version}\n#BEGIN_TB\n\
         thread block = 0,0,0\nwarp = 0\ninsts = 3\n"
    )
}

/// Any text or `.tracez` is refused, or imported into a binary trace that can be replayed.
pub(super) fn accelsim_does_not_panic(input: &[u8]) {
    // The first byte selects the version; 0 stands for 4.
    let version = match input.first() {
        Some(b'0' | b'4') => Some("4"),
        Some(b'1') => Some("1.2"),
        Some(b'3') => Some("3"),
        Some(b'5') => Some("5"),
        Some(b'6') => Some("6"),
        _ => None,
    };
    let text = match version {
        Some(version) => [header(version).as_bytes(), &input[1..]].concat(),
        None => input.to_vec(),
    };
    // Compressed files have their own target.
    if could_name_files(&text) || is_compressed(&text) {
        return;
    }
    if let Ok(trace) = import(&text, Path::new("text"), 1) {
        replay_import(trace);
    }
}
