//! The memory of a replay must not grow with the trace, except for mapped files.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::BufWriter;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use warpload::lane::{LANES, LaneMask};
use warpload_trace::{Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter};

use crate::random::Random;
use crate::trace::command::command;

/// The size of a load with all addresses in full: a record and 32 addresses.
const BYTES_PER_LOAD: u64 = 32 + 8 * LANES as u64;

/// Writes a trace of about `mib` MiB whose lanes read random addresses in 1 GiB.
fn write(file: File, mib: u64) {
    let mut writer = TraceWriter::new(BufWriter::new(file), "a test".to_owned()).unwrap();
    let operation = writer.operation(&MemoryOperation::of_opcode("LDG.E")).unwrap();
    let mut random = Random(40);
    let loads = (mib << 20) / BYTES_PER_LOAD;
    for i in 0..loads {
        if i % (loads / 4) == 0 {
            writer.kernel(Kernel { name: format!("k{i}").into(), ..Kernel::default() }).unwrap();
        }
        let addresses: [u64; LANES] =
            std::array::from_fn(|_| 0x7f00_0000_0000 + random.next() % (1 << 30));
        let (pc, addresses) = ((i % 64) as u32 * 16, RecordAddresses::List(&addresses));
        writer.record(&NewRecord::new(pc, LaneMask::ALL, operation, addresses)).unwrap();
    }
    writer.finish().unwrap();
}

/// Returns the anonymous memory of a process, in bytes.
fn rss_anon(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Writes 256 MiB of temporary files, or as many MiB as `WARPLOAD_TRACE_MIB` says.
#[test]
#[ignore = "large; run it in release: cargo test --release -p warpload-cli --test trace memory -- --ignored"]
fn a_large_trace_replays_in_bounded_memory() {
    let mib = std::env::var("WARPLOAD_TRACE_MIB").map_or(256, |mib| mib.parse().unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.reopen().unwrap(), mib);
    let begin = Instant::now();
    let arguments = ["replay", file.path().to_str().unwrap(), "--fill", "address"];
    let mut child = command(&arguments).stdout(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        most = most.max(rss_anon(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(5));
    };
    assert!(status.success());
    #[allow(clippy::print_stdout, reason = "the result of the test")]
    {
        println!("{mib} MiB: RssAnon {} MiB at most, {:.1?}", most >> 20, begin.elapsed());
    }
    assert!(most > 0 && most < 300 << 20, "{most} bytes");
}
