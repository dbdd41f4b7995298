//! The memory that an import takes at most, whatever its input says.
#![allow(clippy::unwrap_used)]

mod contents;
mod counts;
mod peak;

use std::fs::File;
use std::io::{Cursor, Seek, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use warpload::lane::LANES;
use warpload::memory::Arena;
use warpload_trace::{BinaryTrace, ImportError, ImportOptions, TraceSource};

/// What is allocated is counted for the whole process, so that one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn mib(bytes: usize) -> usize {
    bytes >> 20
}

fn import_into(
    source: TraceSource<'_>,
    output: impl Write + Seek,
    threads: usize,
) -> Result<(), ImportError> {
    source.import_into(output, &ImportOptions::new(NonZero::new(threads).unwrap()), &())
}

fn stream<'b>(bytes: &'b [u8], name: &str) -> TraceSource<'b> {
    TraceSource::from_stream(bytes, Path::new(name)).unwrap()
}

/// Imports what is compressed, as one would a file from somewhere.
fn import(text: impl Fn(&mut dyn Write)) -> (Result<Vec<u8>, ImportError>, usize) {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    text(&mut encoder);
    let compressed = encoder.finish().unwrap();
    peak::during(|| {
        let mut output = Cursor::new(Vec::new());
        import_into(stream(&compressed, "names.zst"), &mut output, 1)?;
        Ok(output.into_inner())
    })
}

fn launch(id: usize, name: &str) -> String {
    format!(
        "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x1 - Kernel name {name} - grid launch id {id} - \
         grid size 1,1,1 - block size 32,1,1 - nregs 1\n"
    )
}

fn access(id: usize, opcode: &str) -> String {
    format!(
        "MEMTRACE: CTX 0x1 - grid_launch_id {id} - CTA 0,0,0 - warp 0 - {opcode} - {}\n",
        vec!["0x1000"; LANES].join(" ")
    )
}

/// Different names of kernels or opcodes, 60 KiB each: 66 MiB of them, a few more than are allowed.
#[ignore = "reads 200 MiB of text: `cargo xtask nightly`"]
#[test]
fn different_names_are_refused_when_they_are_too_many() {
    let _alone = alone();
    let long = "A".repeat(60 << 10);
    let kinds: [&dyn Fn(usize) -> String; 3] =
        [&|i| launch(i, &format!("{i}{long}")), &|i| access(0, &format!("LDG.{i}{long}")), &|i| {
            access(0, &format!("MOV.{i}{long}"))
        }];
    for (kind, line) in kinds.into_iter().enumerate() {
        let (result, peak) = import(|out| {
            for i in 0..1120 {
                out.write_all(line(i).as_bytes()).unwrap();
            }
        });
        let error = result.unwrap_err().to_string();
        let expected = "1: the different names of this trace take more than 67108864 bytes";
        assert!(error.starts_with("names.zst:1") && error.ends_with(expected), "{error}");
        assert!(mib(peak) < 90, "kind {kind}: {} MiB", mib(peak));
    }
}

/// The bound is one for all files of a list: here three, each with 30 MiB of names of its own.
#[test]
fn different_names_of_several_files_are_refused_together() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let long = "A".repeat(60 << 10);
    let mut list = String::new();
    for file in 0..3 {
        let name = format!("{file}.trace.zst");
        let mut encoder =
            zstd::Encoder::new(File::create(folder.path().join(&name)).unwrap(), 1).unwrap();
        for i in 0..512 {
            encoder.write_all(launch(i, &format!("{file} {i} {long}")).as_bytes()).unwrap();
            encoder.write_all(access(i, "LDG.E").as_bytes()).unwrap();
        }
        encoder.finish().unwrap();
        list += &format!("{name}\n");
    }
    std::fs::write(folder.path().join("kernelslist.g"), list).unwrap();
    let path = folder.path().join("kernelslist.g");
    let (result, peak) =
        peak::during(|| import_into(TraceSource::open(&path, &())?, Cursor::new(Vec::new()), 1));
    let error = result.unwrap_err().to_string();
    let expected = ":1: the different names of this trace take more than 67108864 bytes";
    assert!(error.contains("2.trace.zst:1") && error.ends_with(expected), "{error}");
    assert!(mib(peak) < 130, "{} MiB", mib(peak));
}

/// The same name is held once, however often it is there.
#[test]
fn equal_names_are_held_once() {
    let _alone = alone();
    let long = "A".repeat(60 << 10);
    let (result, peak) = import(|out| {
        for i in 0..2000 {
            out.write_all(launch(i, &long).as_bytes()).unwrap();
            out.write_all(access(i, "LDG.E").as_bytes()).unwrap();
        }
    });
    let bytes = result.unwrap();
    assert!(mib(peak) < 16, "{} MiB", mib(peak));
    assert!(bytes.len() < 4 << 20, "{} bytes", bytes.len());
    let trace = BinaryTrace::new(Arena::from(bytes)).unwrap();
    assert_eq!(trace.contents().kernels.len(), 2000);
    assert!(trace.contents().kernels.iter().all(|kernel| *kernel.name == *long));
}

#[test]
fn a_name_that_is_too_long_is_refused() {
    let _alone = alone();
    for line in [launch(0, &"A".repeat(65537)), access(0, &"LDG.".repeat(17_000))] {
        let (result, _) = import(|out| out.write_all(line.as_bytes()).unwrap());
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("names.zst:1:1: a name of 6"), "{error}");
        assert!(error.ends_with(" bytes; expected at most 65536"), "{error}");
    }
    let header = |out: &mut dyn Write| {
        writeln!(out, "-kernel name = k").unwrap();
        for _ in 0..2000 {
            writeln!(out, "-a = b").unwrap();
        }
    };
    let error = import(header).0.unwrap_err().to_string();
    assert_eq!(error, "names.zst:1025:1: more than 1024 header lines");
}

/// Launches whose accesses alternate: one kernel each, and open blocks within a bound.
#[test]
fn launches_that_alternate() {
    let _alone = alone();
    let (rounds, launches) = (40, 3000);
    let (result, peak) = import(|out| {
        for round in 0..rounds {
            for id in 0..launches {
                let opcode = if round % 2 == 0 { "LDG.E" } else { "STG.E" };
                out.write_all(access(id, opcode).as_bytes()).unwrap();
            }
        }
    });
    assert!(mib(peak) < 64, "{} MiB", mib(peak));
    let trace = BinaryTrace::new(Arena::from(result.unwrap())).unwrap();
    assert_eq!(trace.contents().kernels.len(), launches);
    assert_eq!(trace.instructions(), (rounds * launches) as u64);
    let mut records = vec![0; launches];
    for block in trace.blocks() {
        records[block.kernel as usize] += block.instructions;
    }
    assert!(records.iter().all(|count| *count == rounds as u32));
}

/// Imports a list whose text is `list`.
fn import_list(folder: &Path, list: &str, threads: usize) -> (Result<Vec<u8>, ImportError>, usize) {
    let path = folder.join("kernelslist.g");
    std::fs::write(&path, list).unwrap();
    peak::during(|| {
        let mut output = Cursor::new(Vec::new());
        import_into(TraceSource::open(&path, &())?, &mut output, threads)?;
        Ok(output.into_inner())
    })
}

/// What is held of a list is its names, whatever the number of files that are still to be read.
#[test]
fn a_list_of_many_files() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let list: String = (0..250_000).map(|i| format!("{i:07}.traceg\n")).collect();
    for threads in [1, 8] {
        let (result, peak) = import_list(folder.path(), &list, threads);
        let error = result.unwrap_err().to_string();
        assert!(error.contains("kernelslist.g:1:1: "), "{error}");
        assert!(error.contains("0000000.traceg: cannot be read: "), "{error}");
        assert!(mib(peak) < 24, "{threads} threads: {} MiB", mib(peak));
    }
}

/// A file can be listed any number of times: as long as there are not too many kernels.
#[test]
fn a_list_of_the_same_file() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.trace"),
        format!(
            "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (1,1,1)\n\
             -accelsim tracer version = 5\n{}",
            "-a = b\n".repeat(20) + "#traces format\n"
        ),
    )
    .unwrap();
    let list = "a.trace\n".repeat(5000);
    let (one, peak) = import_list(folder.path(), &list, 1);
    let one = one.unwrap();
    assert!(mib(peak) < 24, "{} MiB", mib(peak));
    assert!(import_list(folder.path(), &list, 8).0.unwrap() == one);
    let trace = BinaryTrace::new(Arena::from(one)).unwrap();
    assert_eq!(trace.contents().kernels.len(), 5000);
    assert!(trace.contents().kernels.iter().all(|kernel| kernel.header.len() == 24));
}

#[test]
fn lists_that_are_too_long_are_refused() {
    let _alone = alone();
    let long = "a".repeat(60_000);
    type Line<'l> = &'l dyn Fn(&mut dyn Write, usize);
    let cases: [(Line<'_>, usize, &str); 3] = [
        (
            &|out, _| writeln!(out, "{long}.trace").unwrap(),
            1200,
            ":1119:1: the names of files take more than 67108864 bytes",
        ),
        (
            &|out, _| out.write_all(b"a.trace\n").unwrap(),
            (1 << 20) + 1,
            ":1048577:1: more than 1048576 files",
        ),
        (
            &|out, i| writeln!(out, "MemcpyHtoD,0x{i:x},1").unwrap(),
            (1 << 20) + 1,
            ":1048577:1: more than 1048576 copies to device memory",
        ),
    ];
    for (line, count, expected) in cases {
        let (result, peak) = import(|out| (0..count).for_each(|i| line(out, i)));
        let error = result.unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
        assert!(mib(peak) < 140, "{expected}: {} MiB", mib(peak));
    }
}

/// Two pieces of text a thread, and what they hold, whatever the length of the text.
#[test]
fn a_long_text_on_many_threads() {
    let _alone = alone();
    let text = |count: usize| {
        let header = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
                      -accelsim tracer version = 5\n";
        header.to_owned() + &"0 0 0 0 0010 00000000 0 LDG 0 4 0 0\n".repeat(count)
    };
    for count in [400_000, 1_600_000] {
        let text = text(count);
        let ((), peak) = peak::during(|| {
            import_into(stream(text.as_bytes(), "text"), Discarded, 8).unwrap();
        });
        // 16 pieces of 128 KiB, with the ends of their fields and their loads.
        assert!(mib(peak) < 40, "{count} lines: {} MiB", mib(peak));
    }
}

/// An output that keeps nothing.
struct Discarded;

impl Write for Discarded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl std::io::Seek for Discarded {
    fn seek(&mut self, _: std::io::SeekFrom) -> std::io::Result<u64> {
        Ok(0)
    }
}

/// 64 MiB of text in some KiB of compressed parts.
#[test]
fn a_long_text_in_a_small_compressed_file() {
    let _alone = alone();
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let xz = |text: &[u8]| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
    type Compress = fn(&[u8]) -> Vec<u8>;
    let compressions: [Compress; 3] = [gzip, xz, zstd];
    let line = format!("{}\n", "x".repeat((1 << 16) - 1));
    for (compression, compress) in compressions.into_iter().enumerate() {
        let start = compress((launch(0, "k") + &access(0, "LDG.E")).as_bytes());
        let part = compress(line.repeat(256).as_bytes());
        let file = [start, part.repeat(4)].concat();
        assert!(file.len() < 1 << 18, "compression {compression}: {} bytes", file.len());
        let (result, peak) = peak::during(|| {
            let mut output = Cursor::new(Vec::new());
            import_into(stream(&file, "long"), &mut output, 2).map(|()| output.into_inner())
        });
        let trace = BinaryTrace::new(Arena::from(result.unwrap())).unwrap();
        assert_eq!(trace.contents().kernels.len(), 1);
        assert!(mib(peak) < 16, "compression {compression}: {} MiB", mib(peak));
    }
}

/// An export that says of many instructions that they have no line.
fn export(records: u64, lines: &[u64]) -> String {
    let skipped = records - lines.len() as u64;
    let mut text = format!(
        "{{\"trace\":{{\"version\":1,\"records\":{records}}}}}\n{{\"kernel\":0,\"record\":0,\
         \"skipped\":{{\"store\":0,\"atomic\":0,\"other\":{skipped}}}}}\n"
    );
    for record in lines {
        text += &format!(
            "{{\"record\":{record},\"kind\":\"load\",\"pc\":\"0x0\",\"opcode\":\"LDG.E\",\
             \"space\":\"global\",\"bytes\":4,\"active\":\"0x0\",\"addresses\":[{}]}}\n",
            ["null"; LANES].join(",")
        );
    }
    text
}

/// A few bytes that say of many instructions that they have no line are few blocks, in one file and in all
/// files of a list.
#[test]
fn instructions_without_a_line() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let import_of = |list: &str| import_list(folder.path(), list, 2);
    let expected = ": more than 4294967296 instructions without a line in all files, and 4194304 more \
                    for each record before";
    // The most, with a record and without.
    write("most.trace", &export(1 << 32, &[]));
    write("more.trace", &export((1 << 32) + (1 << 22), &[0]));
    for name in ["most.trace", "more.trace"] {
        let (result, peak) = import_of(&format!("{name}\n"));
        assert!(mib(peak) < 24, "{name}: {} MiB", mib(peak));
        let trace = BinaryTrace::new(Arena::from(result.unwrap())).unwrap();
        assert!(trace.instructions() >= 1 << 32);
    }
    write("too-many.trace", &export((1 << 32) + 1, &[]));
    write("huge.trace", &export(u64::MAX, &[7, 1 << 40, u64::MAX - 1]));
    for (name, line) in [("too-many.trace", 2), ("huge.trace", 4)] {
        let (result, peak) = import_of(&format!("{name}\n"));
        let error = result.unwrap_err().to_string();
        assert!(error.contains(&format!("{name}:{line}:1{expected}")), "{error}");
        assert!(mib(peak) < 16, "{name}: {} MiB", mib(peak));
    }
    for list in ["most.trace\n".repeat(32), "more.trace\nmost.trace\n".to_owned()] {
        let (result, peak) = import_of(&list);
        let error = result.unwrap_err().to_string();
        assert!(error.contains("most.trace:2:1") && error.ends_with(expected), "{error}");
        assert!(mib(peak) < 24, "{} MiB", mib(peak));
    }
    // What is below one block is no more than the lines of records are.
    let lines: Vec<u64> = (0..100).map(|i| i * 65_000).collect();
    write("gaps.trace", &export(6_500_000, &lines));
    assert!(import_of(&"gaps.trace\n".repeat(700)).0.is_ok());
}

/// A `.tracez` of one thread block with `frames` frames of `lines` lines each, in one warp.
fn tracez(frames: u32, lines: u32) -> Vec<u8> {
    let text = vec!["0010 ffffffff 0 NOP 0 0 0 NoVal "; lines as usize].join("\n");
    let mut encoder = zstd::bulk::Compressor::new(1).unwrap();
    let frame = encoder.compress(text.as_bytes()).unwrap();
    let mut file = b"-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
        -accelsim tracer version = 6\n#traces format = x\n\0"
        .to_vec();
    let numbers =
        |file: &mut Vec<u8>, of: &[u32]| of.iter().for_each(|one| file.extend(one.to_le_bytes()));
    numbers(&mut file, &[0, 2048]);
    let warp = file.len() as u64;
    numbers(&mut file, &[lines * frames, frames]);
    for _ in 0..frames {
        numbers(&mut file, &[frame.len() as u32]);
        file.extend(&frame);
    }
    let index = file.len() as u64;
    // One thread block, its position, cluster and rank; its warps; the warp.
    numbers(&mut file, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, lines * frames, frames]);
    file.extend(warp.to_le_bytes());
    numbers(&mut file, &vec![lines; frames as usize]);
    file.extend(index.to_le_bytes());
    file
}

/// A frame has at most 16 MiB of text. Texts are held only while threads read them, because 16 of them in a small file
/// would need 240 MiB.
#[test]
fn large_frames_of_a_tracez() {
    let _alone = alone();
    let import = |file: &[u8]| import_into(stream(file, "a.tracez"), Cursor::new(Vec::new()), 8);
    let file = tracez(16, (15 << 20) / 33);
    assert!(file.len() < 1 << 20, "{} bytes", file.len());
    let (imported, peak) = peak::during(|| import(&file));
    imported.unwrap();
    assert!(mib(peak) < 128, "{} MiB", mib(peak));
    let (refused, peak) = peak::during(|| import(&tracez(1, (17 << 20) / 33)));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("bytes of text; expected 16777216 at most"), "{message}");
    assert!(mib(peak) < 64, "{} MiB", mib(peak));
}

/// Text that says nothing is read up to a bound, if it is a small file.
#[test]
fn a_text_without_instructions_in_a_small_compressed_file() {
    let _alone = alone();
    let start = zstd::encode_all((launch(0, "k") + &access(0, "LDG.E")).as_bytes(), 1).unwrap();
    let line = format!("{}\n", "x".repeat((1 << 18) - 1));
    let part = zstd::encode_all(line.repeat(256).as_bytes(), 1).unwrap();
    let import = |parts: usize| {
        let file = [start.clone(), part.repeat(parts)].concat();
        import_into(stream(&file, "names.zst"), Discarded, 2).map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            cause.unwrap_or_default()
        })
    };
    assert!(import(1).is_ok());
    let error = import(1000).unwrap_err();
    assert!(error.contains(" bytes of text with only 1 instructions (line "), "{error}");
}

/// Lines and spaces that say nothing are not held, in any format of lines.
#[test]
fn empty_lines_of_every_format() {
    let _alone = alone();
    let ndjson = "{\"type\":\"kernel_metadata\",\"unmangled_name\":\"k\"}\n";
    let accelsim = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
                    -accelsim tracer version = 5\n0 0 0 0 0010 00000000 0 LDG 0 4 0 0\n";
    let log = launch(0, "k") + &access(0, "LDG.E");
    let export = export(1, &[0]);
    for start in [ndjson, accelsim, &log, &export] {
        for space in ["\n", " \n", "                               \n"] {
            let many = space.repeat((12 << 20) / space.len());
            let (_, peak) = import(|out| {
                out.write_all(start.as_bytes()).unwrap();
                out.write_all(many.as_bytes()).unwrap();
            });
            assert!(mib(peak) < 10, "{start}: {} MiB", mib(peak));
        }
    }
}
