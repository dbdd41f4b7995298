//! Imports a text trace, replays it and reports what its loads touched in global memory.
//!
//! ```text
//! cargo run --example replay_a_trace [TRACE]
//! ```
//! `TRACE` is any text trace that `warpload import` reads; without one, a trace of two loads is
//! replayed.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::num::NonZero;
use std::path::Path;

use warpload::memory::Fill;
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{Shard, TraceSource};

/// One warp loads 32 words side by side, then 32 words that are 128 bytes apart.
const TRACE: &str = "\
-kernel name = saxpy
-grid dim = (1,1,1)
-block dim = (32,1,1)
-accelsim tracer version = 4
#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 2
0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000001000 4
0020 ffffffff 1 R3 LDG.E 1 R6 4 1 0x7f0000002000 128
#END_TB
";

fn main() -> Result<(), Box<dyn Error>> {
    let source = match std::env::args_os().nth(1) {
        Some(path) => TraceSource::open(Path::new(&path), &())?,
        None => TraceSource::from_stream(TRACE.as_bytes(), Path::new("TRACE"))?,
    };
    let trace = source.into_trace(NonZero::<usize>::MIN, &())?;

    // Values are a function of the address. Without data, the digest is `None`.
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let summary = replay(&trace, &options)?;
    let loads = &summary.counts.loads;
    println!("{} loads by {} lanes", loads.accesses, loads.lanes);
    println!("{} sectors; {} would do", loads.sectors(), loads.ideal_sectors());
    for row in &summary.rows {
        let (opcode, sectors) = (&row.opcode, row.counts.sectors());
        println!(
            "{} {opcode:8} {:5.1} sectors each, {} wasted",
            row.place(),
            sectors as f64 / row.counts.accesses as f64,
            row.counts.excess_sectors()
        );
    }
    if let Some(digest) = summary.digest {
        println!("digest {digest}");
    }

    // Two machines can replay half of the loads each: their summaries merge to the same bytes.
    let halves =
        [0, 1].map(|part| replay(&trace, &ReplayOptions { shard: Shard::new(part, 2), ..options }));
    let halves = halves.into_iter().collect::<Result<Vec<_>, _>>()?;
    let merged = Summary::merge(halves)?;
    assert_eq!(merged, summary);
    Ok(())
}
