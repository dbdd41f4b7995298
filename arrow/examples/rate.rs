//! Measures how fast a trace becomes batches, beside its replay without data.
//!
//! ```text
//! cargo run --release --example rate [TRACE.wlt]
//! ```
//! Without a trace, traces of 1,048,576 loads are made. Both take turns, 15 of each; the ratio is the
//! median of the turns' ratios. Time is processor time of the process, of all threads. The batches are kept until a turn ends, as a
//! table keeps them, or dropped at once.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::Cursor;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::{Arena, mix};
use warpload_arrow::{AccessBatches, AccessOptions};
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_trace::{
    BinaryTrace, Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter, WarpPosition,
};

/// How often both are measured.
const TURNS: usize = 15;
const LOADS: u64 = 1 << 20;
/// Instructions of one warp that follow one another.
const OF_A_WARP: u64 = 16;
const BASE: u64 = 0x7f00_0000_0000;
const BYTES: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    println!("M accesses/s: replay, batches kept, ratio; batches dropped, ratio");
    if let Some(path) = std::env::args_os().nth(1) {
        let name = path.display().to_string();
        return measure(&name, Arc::new(BinaryTrace::open(Path::new(&path))?));
    }
    measure("stride 4", made(Some(4))?)?;
    measure("random deltas in 1 MiB", made(None)?)
}

/// Returns a trace of loads by warps of several thread blocks, with that distance of neighbouring lanes, or
/// with lanes anywhere.
fn made(stride: Option<i64>) -> Result<Arc<BinaryTrace>, Box<dyn Error>> {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "an example".to_owned())?;
    writer.kernel(Kernel { name: "made".into(), ..Kernel::default() })?;
    let operation = writer.operation(&MemoryOperation::of_opcode("LDG.E")).ok_or("no room")?;
    for i in 0..LOADS {
        if i % OF_A_WARP == 0 {
            let (warp, cta) = ((i / OF_A_WARP % 8) as u32, (i / OF_A_WARP / 8) as u32);
            let place = WarpPosition {
                cta: Some([cta, 0, 0]),
                warp: Some(warp),
                ..WarpPosition::default()
            };
            writer.place(Some(place));
        }
        let lane = |lane: u64| BASE + mix(i * LANES as u64 + lane) % (BYTES / 16) * 16;
        let lanes: [u64; LANES] = std::array::from_fn(|n| lane(n as u64));
        let addresses = match stride {
            Some(stride) => {
                RecordAddresses::Stride { base: BASE + 128 * i % (BYTES - 4096), stride }
            }
            None => RecordAddresses::List(&lanes),
        };
        let pc = 16 * (i % 32) as u32;
        writer.record(&NewRecord::new(pc, LaneMask::ALL, operation, addresses))?;
    }
    Ok(Arc::new(BinaryTrace::new(Arena::from(writer.finish()?.into_inner()))?))
}

/// Measures a trace with one thread and with two.
fn measure(name: &str, trace: Arc<BinaryTrace>) -> Result<(), Box<dyn Error>> {
    for threads in 1..=2 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            turns.push(pool.install(|| turn(&trace, threads))?);
        }
        let median = |of: fn(&[f64; 3]) -> f64| {
            let mut all: Vec<f64> = turns.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[TURNS / 2]
        };
        println!(
            "{name}, {threads} threads: {:.1}, {:.1}, {:.2}; {:.1}, {:.2}",
            median(|turn| turn[0]),
            median(|turn| turn[1]),
            median(|turn| turn[1] / turn[0]),
            median(|turn| turn[2]),
            median(|turn| turn[2] / turn[0]),
        );
    }
    Ok(())
}

/// Returns the rates of a replay, of batches that are kept, and of batches that are dropped.
fn turn(trace: &Arc<BinaryTrace>, threads: usize) -> Result<[f64; 3], String> {
    let accesses = trace.accesses().map_err(|error| error.to_string())?;
    let rate = |start| accesses as f64 / (now() - start).as_secs_f64() / 1e6;
    let options = ReplayOptions::new(ReplayData::Absent);
    let start = now();
    let summary = replay(trace, &options).map_err(|error| error.to_string())?;
    let replayed = rate(start);
    drop(summary);
    let options =
        AccessOptions::new(options).threads(NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN));
    let batches =
        || AccessBatches::new(Arc::clone(trace), options).map_err(|error| error.to_string());
    let start = now();
    let kept: Result<Vec<_>, _> = batches()?.collect();
    let kept_rate = rate(start);
    drop(kept.map_err(|error| error.to_string())?);
    let start = now();
    for batch in batches()? {
        drop(batch.map_err(|error| error.to_string())?);
    }
    Ok([replayed, kept_rate, rate(start)])
}

/// Returns the processor time of the process so far.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
