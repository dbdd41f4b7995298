//! Any text is a trace of another tool, whose binary trace can be replayed, or an error.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use warpload::memory::{Arena, Fill};
use warpload::trace::{BinaryTrace, Data, ReplayError, ReplayOptions, Summary, TraceWriter, import_from, replay};

/// So much of a header that most inputs are read as Accel-Sim's; the input can bring its own.
const HEADER: &[u8] = b"-kernel name = k\n-shmem base_addr = 0x1000000\n#BEGIN_TB\n\
    thread block = 0,0,0\nwarp = 0\ninsts = 3\n";

fuzz_target!(|text: &[u8]| {
    let text = match text.split_first() {
        Some((b'0', rest)) => [HEADER, rest].concat(),
        // A list would name files; what they hold is not the input's.
        _ if text.windows(6).any(|window| window == b".trace" || window == b"Memcpy") => return,
        _ if text.windows(3).any(|window| window == b".xz") => return,
        _ => text.to_vec(),
    };
    let mut output = Cursor::new(Vec::new());
    let Ok(mut writer) = TraceWriter::new(&mut output, "a fuzz target".to_owned()) else { return };
    if import_from(&text[..], Path::new("text"), &mut writer, 1, &|_| ()).is_err() {
        return;
    }
    writer.finish().expect("a vector can be written to");
    let bytes = Arena::from(output.into_inner());
    let trace = BinaryTrace::new(bytes).expect("what an import writes is a trace");
    let options = ReplayOptions {
        data: Data::Fill(Fill::Address),
        address_bits: 49,
        shared_window: None,
        local_window: None,
        shard: None,
    };
    match replay(&trace, &options, &|_| ()) {
        Ok(found) => drop(Summary::new(&found, &trace, &options)),
        // A header can put the windows where they cannot be.
        Err(ReplayError::Windows { .. }) => {}
        Err(error) => panic!("what an import writes can be replayed: {error}"),
    }
});
