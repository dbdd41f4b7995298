//! Compressed traces, whole and damaged.

use std::fs;
use std::io::Write;

use crate::random::Random;
use crate::samples::grouped;
use crate::samples::{import_bytes, import_file, open};

/// A compression, for tests.
struct Kind {
    /// What messages call it.
    name: &'static str,
    ending: &'static str,
    /// What messages call a file of it.
    file: &'static str,
    compress: fn(&[u8]) -> Vec<u8>,
}

const KINDS: [Kind; 3] = [
    Kind { name: "gzip", ending: "gz", file: "a gzip file", compress: gzip },
    Kind { name: "xz", ending: "xz", file: "an xz file", compress: xz },
    Kind { name: "zstd", ending: "zst", file: "a zstd file", compress: zstd },
];

fn gzip(text: &[u8]) -> Vec<u8> {
    // A header with a name, as the command writes it.
    let mut encoder = flate2::GzBuilder::new()
        .filename("trace")
        .write(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A frame of zstd that decoders skip.
fn skippable(contents: &[u8]) -> Vec<u8> {
    let length = (contents.len() as u32).to_le_bytes();
    [&[0x5a, 0x2a, 0x4d, 0x18], &length[..], contents].concat()
}

fn text() -> String {
    let mut random = Random(0);
    let lines: Vec<String> = (0..3000)
        .map(|i| format!("{:04x} ffffffff 1 R1 LDG.E 1 R2 4 1 0x{:x} 4 0", 16 * i, random.next()))
        .collect();
    grouped(5, "", &lines.iter().map(|line| &**line).collect::<Vec<_>>())
}

/// The message without the folder.
fn refused(bytes: &[u8]) -> String {
    let error = import_bytes(bytes).unwrap_err();
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        message += &format!(": {error}");
        cause = error.source();
    }
    message.split_once("trace:").unwrap().1.trim_start().to_owned()
}

/// Whether a message says that a compressed file is cut off, or damaged.
fn is_cut_off(message: &str, name: &str) -> bool {
    message.contains(&format!("cannot be read: {name}: the compressed file is cut off: "))
}

fn is_damaged(message: &str, name: &str) -> bool {
    message
        .contains(&format!("cannot be read: {name}: the compressed file cannot be decompressed: "))
}

#[test]
fn damage_is_refused() {
    for Kind { name, compress, .. } in KINDS {
        let whole = compress(text().as_bytes());
        let length = whole.len();
        for cut in [12, length / 2, length - 1] {
            let message = refused(&whole[..cut]);
            assert!(is_cut_off(&message, name), "{message}");
        }
        // A block of zstd is up to 128 KiB of text, all or nothing.
        let message = refused(&whole[..length / 8 * 7]);
        let (_, line) = message.rsplit_once(" (line ").unwrap();
        let line: usize = line.strip_suffix(" of the text)").unwrap().parse().unwrap();
        assert!((2000..3000).contains(&line), "{message}");
        for at in [12, 100, length / 4, length / 2, length - 40, length - 20, length - 3] {
            // Nothing protects the name in the header of a gzip file.
            if name == "gzip" && at < 20 {
                continue;
            }
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            let message = refused(&changed);
            // A gzip file can lose the code at the end of its contents, and seem cut off.
            let is_lost = name == "gzip" && is_cut_off(&message, name);
            assert!(is_lost || is_damaged(&message, name), "byte {at}: {message}");
        }
    }
}

/// A file that is cut anywhere is refused, never read as a shorter one.
#[test]
fn every_cut_of_a_compressed_trace_is_an_error() {
    // Without the trace's own end every prefix of the lines would be a trace.
    let text = b"MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - EXIT - \n".repeat(3);
    for Kind { name, compress, .. } in KINDS {
        let whole = compress(&text);
        let two = [&whole[..], &whole].concat();
        for cut in (0..two.len()).filter(|cut| *cut != whole.len()) {
            let message = refused(&two[..cut]);
            // So little could be anything.
            let is_unknown = cut < 6 && message.contains("not a trace");
            assert!(is_unknown || is_cut_off(&message, name), "{name}, {cut}: {message}");
        }
    }
}

#[test]
fn what_follows_a_part() {
    let text = text();
    let expected = import_bytes(&text).unwrap();
    let (one, other) = text.split_at(text.len() / 3);
    for Kind { name, compress, .. } in KINDS {
        let whole = compress(text.as_bytes());
        let with = |more: &[u8]| [&whole[..], more].concat();
        // Garbage, and part of a further part.
        for more in [
            &b"garbage"[..],
            b"g",
            &[0; 3],
            &[0; 5],
            b"\0\0\0\0garbage",
            b"\x28\x2a\x4d\x18",
            &whole[..5],
        ] {
            let message = refused(&with(more));
            let is_refused = is_cut_off(&message, name) || is_damaged(&message, name);
            assert!(is_refused, "{more:?}: {message}");
        }
        // A text in several parts is valid, empty ones too.
        let several = [one.as_bytes(), b"", other.as_bytes()].map(compress).concat();
        assert!(import_bytes(several).unwrap() == expected, "{name}");
        let many: Vec<u8> = text.as_bytes().chunks(5000).flat_map(compress).collect();
        assert!(import_bytes(many).unwrap() == expected, "{name}");
    }
    // Streams of xz can be padded.
    let (one, other) = (xz(one.as_bytes()), xz(other.as_bytes()));
    let padded = [&one[..], &[0; 4], &other, &[0; 8]].concat();
    assert!(import_bytes(padded).unwrap() == expected);
}

#[test]
fn skippable_frames() {
    let text = text();
    let expected = import_bytes(&text).unwrap();
    let (one, other) = text.split_at(text.len() / 3);
    let (one, other) = (zstd(one.as_bytes()), zstd(other.as_bytes()));
    let skipped = skippable(&[b'x'; 100_000]);
    let whole = [&skipped[..], &one, &skippable(b""), &skipped, &other, &skipped].concat();
    assert!(import_bytes(&whole).unwrap() == expected);
    let message = refused(&whole[..whole.len() - 1]);
    assert!(is_cut_off(&message, "zstd"), "{message}");
    assert!(refused(&skipped).starts_with("an empty file, not a trace"));
}

/// The header of a frame whose window is as large as its contents, of which it promises 1 TiB.
#[test]
fn a_frame_that_asks_for_too_much_memory() {
    let header = [&[0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000][..], &(1u64 << 40).to_le_bytes()].concat();
    let asks = |message: &str| {
        assert!(is_damaged(message, "zstd") && message.contains("too much memory"), "{message}");
    };
    asks(&refused(&header));
    asks(&refused(&[&zstd(text().as_bytes())[..], &header].concat()));
    // A window of 128 MiB, and its next size.
    let window = |exponent: u8| [0x28, 0xb5, 0x2f, 0xfd, 0, (exponent - 10) << 3, 1, 0, 0];
    assert!(refused(&window(27)).starts_with("an empty file, not a trace"));
    asks(&refused(&window(28)));
}

/// Bytes that are changed in a compressed file can become a wrong text before a checksum tells.
#[test]
fn the_cause_of_a_wrong_text() {
    let wrong = text().replacen("0100 ffffffff", "0100 fffffffg", 1);
    for Kind { name, compress, .. } in KINDS {
        let message = refused(&compress(wrong.as_bytes()));
        assert!(
            message.ends_with("; expected a lane mask of eight hexadecimal digits"),
            "{message}"
        );
        let mut damaged = compress(wrong.as_bytes());
        let at = damaged.len() - if name == "xz" { 20 } else { 3 };
        damaged[at] ^= 1;
        let message = refused(&damaged);
        assert!(is_damaged(&message, name), "{message}");
    }
}

#[test]
fn files_that_are_not_compressed_traces() {
    const UTF_16: &[u8] = b"\xff\xfe-\0k\0";
    const INSTEAD: &str =
        "a text in UTF-16, not a trace: convert it to UTF-8 with `iconv -f UTF-16 -t UTF-8`";
    let folder = tempfile::tempdir().unwrap();
    for Kind { name, ending, file, compress, .. } in KINDS {
        let path = folder.path().join(format!("a.traceg.{ending}"));
        let check = |bytes: &[u8], expected: &str| {
            fs::write(&path, bytes).unwrap();
            let error = import_file(&path, 1).unwrap_err().to_string();
            assert!(error.contains(expected), "{name}, {bytes:?}: {error}");
        };
        check(&compress(b"a")[..2], &format!("not a trace, nor {file}; a trace is "));
        check(b"BZh91AY&SY", "a bzip2 file, not a trace: decompress it with `bzip2 -d`");
        check(b"", "an empty file, not a trace");
        check(&compress(b""), "an empty file, not a trace");
        check(UTF_16, INSTEAD);
        check(&compress(UTF_16), INSTEAD);
        let decompress = format!("inside {file}: decompress it with `{name} -d`");
        for inner in KINDS {
            let twice = compress(&(inner.compress)(text().as_bytes()));
            check(&twice, &format!("{} {decompress}", inner.file));
        }
        let trace = import_bytes(text()).unwrap();
        check(&compress(&trace), &format!("a binary trace of warpload {decompress}"));
    }
}

#[test]
fn a_list_of_files_of_all_compressions() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let text = text();
    let (mut plain, mut compressed) = (String::new(), String::new());
    write("plain.traceg", text.as_bytes());
    for (i, Kind { ending, compress, .. }) in
        KINDS.iter().enumerate().chain(KINDS.iter().enumerate())
    {
        plain += "plain.traceg\n";
        compressed += &format!("kernel-{i}.traceg.{ending}\n");
        write(&format!("kernel-{i}.traceg.{ending}"), &compress(text.as_bytes()));
    }
    // All lists have the same name, because it becomes part of the binary trace.
    let path = folder.path().join("list");
    write("list", plain.as_bytes());
    let expected = import_file(&path, 1).unwrap();
    // A list can be compressed too.
    for list in [compressed.as_bytes(), &zstd(compressed.as_bytes())] {
        write("list", list);
        for threads in [1, 2, 8] {
            assert!(import_file(&path, threads).unwrap() == expected, "{threads} threads");
        }
    }
}

/// Small files of a list are read beside one another, large ones one by one. A small file can turn out to be large.
#[test]
fn large_files_of_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let addresses: Vec<String> = (0..32).map(|lane| format!("0x{:x}", 1u64 << lane)).collect();
    let gather = format!("0010 ffffffff 1 R1 LDG.E 1 R2 4 0 {} 0", addresses.join(" "));
    let repeated = grouped(5, "", &vec![&*gather; 25_000]);
    let large = grouped(5, "", &vec!["0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x1000 4 0"; 30_000]);
    assert!(large.len() > 1 << 20);
    write("small.traceg", text().as_bytes());
    write("large.traceg", large.as_bytes());
    write("unfolds.traceg.zst", &zstd(repeated.as_bytes()));
    let names = ["small.traceg", "large.traceg", "unfolds.traceg.zst", "small.traceg"];
    write("list.g", names.map(|name| format!("{name}\n")).concat().as_bytes());
    let path = folder.path().join("list.g");
    let expected = import_file(&path, 1).unwrap();
    let trace = open(&expected);
    assert_eq!((trace.loads(), trace.contents().kernels.len()), (61_000, 4));
    assert!(import_file(&path, 2).unwrap() == expected);
    assert!(import_file(&path, 8).unwrap() == expected);
    // Errors are those of the first file that has one.
    write("large.traceg", &large.as_bytes()[..large.len() - 9]);
    write("unfolds.traceg.zst", &zstd(&repeated.as_bytes()[..repeated.len() - 9]));
    let error = import_file(&path, 8).unwrap_err().to_string();
    assert!(error.contains("large.traceg:"), "{error}");
}
