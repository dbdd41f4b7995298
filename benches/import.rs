//! Importing Accel-Sim text, beside a scan that only splits it into tokens; and on two threads, beside one and
//! beside what an empty loop gains from two.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tempfile::NamedTempFile;
use warpload_trace::{ImportOptions, TraceSource};

/// A real trace (traces/README.md).
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/btree-v5-kernel-1.traceg");

/// The end of its header: what follows can be repeated.
const FIRST_BLOCK: &str = "#BEGIN_TB";

/// Writes the sample's thread blocks repeatedly, at least `bytes` of them, each with its own number in
/// a larger grid; returns the file and the number of its lines.
fn text(bytes: usize) -> (NamedTempFile, u64) {
    const GRID: &str = "-grid dim = ";
    const PLACE: &str = "thread block = ";
    let sample = std::fs::read_to_string(SAMPLE).expect("the sample is in the repository");
    let (header, blocks) = sample.split_at(sample.find(FIRST_BLOCK).expect("thread blocks"));
    let times = bytes.div_ceil(blocks.len());
    let file = NamedTempFile::new().expect("a temporary file");
    let mut output = BufWriter::new(&file);
    let mut lines = 0;
    let mut write = |line: std::fmt::Arguments<'_>| {
        lines += 1;
        writeln!(output, "{line}").expect("room for the trace");
    };
    for line in header.lines() {
        match line.strip_prefix(GRID) {
            Some(_) => write(format_args!("{GRID}({},1,1)", u32::MAX)),
            None => write(format_args!("{line}")),
        }
    }
    let mut block = 0;
    for line in (0..times).flat_map(|_| blocks.lines()) {
        if line.starts_with(PLACE) {
            write(format_args!("{PLACE}{block},0,0"));
            block += 1;
        } else {
            write(format_args!("{line}"));
        }
    }
    output.flush().expect("room for the trace");
    drop(output);
    (file, lines)
}

/// Counts as long as an import of some megabytes takes.
fn empty_loop() {
    for i in 0..20_000_000 {
        black_box(i);
    }
}

fn imported(text: &Path, output: impl Write + Seek, threads: usize) {
    let options = ImportOptions::new(NonZero::new(threads).expect("a thread"));
    let source = TraceSource::open(text, &()).expect("the text exists");
    source.import_into(output, &options, &()).expect("a valid trace");
}

/// Splits at spaces and line ends; returns the number of tokens and their total length. A token at the
/// border of two reads counts twice, which does not matter.
fn tokens(text: &Path) -> (usize, usize) {
    let mut file = File::open(text).expect("it was written");
    let mut buffer = vec![0; 1 << 16];
    let (mut count, mut length) = (0, 0);
    loop {
        let read = file.read(&mut buffer).expect("it was written");
        if read == 0 {
            return (count, length);
        }
        let pieces = buffer[..read].split(|byte| matches!(byte, b' ' | b'\n'));
        for token in pieces.filter(|token| !token.is_empty()) {
            count += 1;
            length += black_box(token).len();
        }
    }
}

fn imports(criterion: &mut Criterion) {
    // `cargo test --benches` only asks whether it runs.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let (text, lines) = text(if is_measured { 200 << 20 } else { 1 << 20 });
    let output = tempfile::tempfile().expect("a temporary file");
    let mut group = criterion.benchmark_group("import, Accel-Sim text");
    group.throughput(Throughput::Elements(lines));
    group.bench_function("one thread", |b| {
        b.iter(|| {
            (&output).rewind().expect("a file can be rewound");
            imported(text.path(), BufWriter::new(&output), 1);
        });
    });
    for (name, threads) in [("one thread, nothing written", 1), ("two threads, nothing written", 2)]
    {
        group.bench_function(name, |b| b.iter(|| imported(text.path(), io::empty(), threads)));
    }
    group.bench_function("limit: token scan of the same file", |b| {
        b.iter(|| tokens(text.path()));
    });
    group.finish();
    let mut group = criterion.benchmark_group("import, an empty loop");
    group.bench_function("one thread", |b| b.iter(empty_loop));
    group.throughput(Throughput::Elements(2)).bench_function("two threads", |b| {
        b.iter(|| std::thread::scope(|scope| drop((scope.spawn(empty_loop), empty_loop()))));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(5))
        .warm_up_time(Duration::from_millis(500));
    targets = imports
}
criterion_main!(benches);
