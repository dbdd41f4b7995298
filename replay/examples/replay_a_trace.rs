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
    let replayed = replay(&trace, &options)?;
    let summary = replayed.summary();
    let counts = &summary.counts;
    println!("{} loads by {} lanes", counts.loads, counts.lanes);
    println!("{} sectors; {} would do", counts.sectors, counts.ideal_sectors);
    for counter in replayed.program_counters() {
        let (row, waste) = (&counter.summary, counter.waste());
        println!(
            "{} {:8} {:5.1} sectors/load, {waste} wasted",
            row.pc, row.opcode, row.sectors.mean
        );
    }
    if let Some(digest) = summary.digest {
        println!("digest {digest}");
    }

    // Two machines can replay half of the loads each: their summaries merge to the same bytes.
    let halves = [0, 1].map(|part| replay(&trace, &options.shard(Shard::new(part, 2))));
    let halves = halves.into_iter().map(|half| Ok(half?.partial()));
    let halves = halves.collect::<Result<Option<Vec<_>>, Box<dyn Error>>>()?;
    let merged = Summary::merge(halves.unwrap_or_default())?;
    assert_eq!(merged, summary);
    Ok(())
}
