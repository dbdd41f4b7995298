//! Importing Accel-Sim text, beside a scan that only splits it into tokens; and on two threads, beside
//! one, with what an empty loop gains from two.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;

use tempfile::NamedTempFile;
use warpload_trace::{TraceWriter, import};

use crate::measure::{Bench, Measure, Target, Unit, wall_time};

/// A real trace (traces/README.md).
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/btree-v5-kernel-1.traceg");
/// The end of its header: what follows can be repeated.
const FIRST_BLOCK: &str = "#BEGIN_TB";

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    let names = [
        "import, Accel-Sim text, one thread",
        "import, Accel-Sim text, one thread, nothing written",
        "import, Accel-Sim text, two threads",
        "import, Accel-Sim text, two threads: an empty loop",
    ];
    if !names.iter().any(|name| bench.wants(name)) {
        return;
    }
    let (text, lines) = text(if bench.is_quick { 50 << 20 } else { 200 << 20 });
    let output = tempfile::tempfile().expect("a temporary file");
    let measure = |name, target| Measure {
        name,
        unit: Unit::LINES,
        limit_name: "token scan of the same file",
        target,
    };
    let scan = || {
        black_box(tokens(text.path()));
        lines
    };
    bench.run(
        measure(names[0], Target::ratio(0.55)),
        || {
            (&output).rewind().expect("a file can be rewound");
            imported(text.path(), BufWriter::new(&output), 1);
            lines
        },
        scan,
    );
    bench.run(
        measure(names[1], Target::NONE),
        || {
            imported(text.path(), io::empty(), 1);
            lines
        },
        scan,
    );
    let limit_name = "the same on one thread";
    let import = |threads| {
        imported(text.path(), io::empty(), threads);
        lines
    };
    bench.run_by(
        wall_time,
        Measure { limit_name, ..measure(names[2], Target::ratio(1.7)) },
        || import(2),
        || import(1),
    );
    bench.run_by(
        wall_time,
        Measure { limit_name, unit: Unit::INSTRUCTIONS, ..measure(names[3], Target::NONE) },
        || {
            std::thread::scope(|scope| {
                let other = scope.spawn(empty_loop);
                empty_loop() + other.join().expect("a loop ends")
            })
        },
        empty_loop,
    );
}

/// Writes the sample's thread blocks repeatedly, at least `bytes` of them, each with its own number in
/// a larger grid; returns the file and the number of its lines.
fn text(bytes: usize) -> (NamedTempFile, u64) {
    const GRID: &str = "-grid dim = ";
    const PLACE: &str = "thread block = ";
    let sample = std::fs::read_to_string(SAMPLE).expect("the sample is in the repository");
    let start = sample.find(FIRST_BLOCK).expect("the sample has thread blocks");
    let (header, blocks) = sample.split_at(start);
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
fn empty_loop() -> u64 {
    const COUNT: u64 = 20_000_000;
    for i in 0..COUNT {
        black_box(i);
    }
    COUNT
}

fn imported(text: &Path, output: impl Write + Seek, threads: usize) {
    let mut writer = TraceWriter::new(output, "roofline".to_owned()).expect("room for the output");
    import(text, &mut writer, threads, &|_| ()).expect("a valid trace");
    writer.finish().expect("room for the output");
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
