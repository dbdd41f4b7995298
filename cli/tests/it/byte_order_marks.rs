//! Texts that begin with a byte order mark: that of UTF-8 is skipped, and changes neither results nor
//! places in messages; UTF-16 is refused by name.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::common::{Ran, piped};

const MARK: &str = "\u{feff}";

fn ran(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Ran {
    piped(crate::common::warpload().args(arguments).current_dir(folder), stdin, 1 << 16)
}

fn data(name: &str) -> Vec<u8> {
    fs::read(crate::common::file(name)).unwrap()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

/// What the text is, the text, the arguments that read it as `FILE` or `-`, and the exit status.
type Read = (&'static str, Vec<u8>, &'static [&'static str], i32);

fn texts() -> Vec<Read> {
    let vector = data("tests/data/cmd/one.json");
    let vectors = data("tests/data/cmd/pass.jsonl");
    let listing = data("tests/data/listings/chase.sm_50.nvdisasm.txt");
    let bad = |text: &str| text.as_bytes().to_vec();
    vec![
        ("a vector", vector, &["run", "FILE"], 0),
        ("vectors", vectors.clone(), &["conform", "FILE"], 0),
        ("vectors", vectors.clone(), &["run", "--all", "FILE"], 0),
        ("vectors", vectors.clone(), &["conform", "-"], 0),
        ("vectors", vectors, &["vectors", "fill-in", "-o", "out", "FILE"], 0),
        ("no vector", bad("{\"name\": 1}\n"), &["conform", "FILE"], 2),
        ("cases", data("tests/data/cmd/tmem-cases.jsonl"), &["conform", "FILE"], 2),
        ("a listing", listing.clone(), &["decode", "FILE"], 0),
        ("a listing", listing, &["decode", "--all", "-"], 0),
        ("a module", data("tests/data/listings/chase.ptx"), &["ptx", "check", "FILE"], 0),
        ("no module", bad(".version 8.0 .target\n"), &["ptx", "check", "FILE"], 2),
        ("a grouped trace", data("tests/data/cmd/kernel-1.traceg"), &["replay", "FILE"], 0),
        ("a bad trace", bad("-kernel name = k\n-grid dim = 1\n"), &["show", "FILE"], 2),
        ("a trace", data("tests/independent/handwritten.trace"), &["show", "FILE"], 0),
        ("a log", data("tests/independent/handwritten-memtrace.log"), &["show", "FILE"], 0),
        ("an export", data("tests/independent/handwritten-export.jsonl"), &["show", "-"], 0),
        ("a bad export", bad("{\"trace\": 1}\n"), &["show", "FILE"], 2),
        ("a list", bad("kernel-1.traceg\n"), &["show", "FILE"], 0),
        ("a bad list", bad("MemcpyHtoD,1\n"), &["show", "FILE"], 2),
        ("a manifest", bad("{\"memory\": {}}"), &["show", "FILE"], 0),
        ("a bad manifest", bad("{\"memor\": {}}"), &["show", "FILE"], 2),
        ("a summary", data("tests/data/cmd/shard-0.json"), &["show", "FILE"], 0),
        ("a summary", data("tests/data/cmd/shard-0.json"), &["merge", "FILE", "shard-1.json"], 0),
        ("instructions", bad("LD R0, [R1]\n"), &["encode", "-"], 0),
        ("bad instructions", bad("LD R0, R1\n"), &["encode", "-"], 2),
        ("instructions", bad("LD R0, [R1]\n"), &["explain", "-"], 0),
        ("words", bad("0x9c90000123470200\n"), &["decode", "--word", "-"], 0),
    ]
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["kernel-1.traceg", "shard-1.json"] {
        fs::write(folder.path().join(name), data(&format!("tests/data/cmd/{name}"))).unwrap();
    }
    folder
}

#[test]
fn the_mark_of_utf_8_changes_nothing() {
    let folder = folder();
    for (what, text, arguments, status) in texts() {
        let with = |text: &[u8]| {
            fs::write(folder.path().join("FILE"), text).unwrap();
            let ran = ran(folder.path(), arguments, text);
            (ran, fs::read(folder.path().join("out")).unwrap_or_default())
        };
        let plain = with(&text);
        assert_eq!(plain.0.status, status, "{what}, {arguments:?}: {plain:?}");
        assert_eq!(with(&[MARK.as_bytes(), &text].concat()), plain, "{what}, {arguments:?}");
        if ["trace", "log", "list"].iter().any(|end| what.ends_with(end)) {
            for compress in [gzip, xz, zstd] {
                assert_eq!(with(&compress(&text)), plain, "{what}, compressed");
                let marked = compress(&[MARK.as_bytes(), &text].concat());
                assert_eq!(with(&marked), plain, "{what}, compressed");
            }
        }
    }
}

/// A mark elsewhere is an ordinary character.
#[test]
fn a_second_mark_is_not_skipped() {
    let folder = folder();
    let text = format!("{MARK}LD R0, [R1]\n{MARK}LD R0, [R1]\n");
    let Ran { status, stdout, stderr } = ran(folder.path(), &["encode", "-"], text.as_bytes());
    assert_eq!((status, stdout.lines().nth(1)), (2, Some("error")));
    assert!(stderr.contains("standard input:2:1"), "{stderr}");
}

#[test]
fn utf_16_is_refused_by_its_name() {
    let folder = folder();
    for (what, text, arguments, _) in texts() {
        let text = String::from_utf8(text).unwrap();
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let wide: Vec<u8> = format!("{MARK}{text}").encode_utf16().flat_map(to_bytes).collect();
            fs::write(folder.path().join("FILE"), &wide).unwrap();
            let Ran { status, stdout, stderr } = ran(folder.path(), arguments, &wide);
            assert_eq!(status, 2, "{what}, {arguments:?}: {stdout}{stderr}");
            assert!(
                stderr.contains("a text in UTF-16") && stderr.contains("convert it to UTF-8 with"),
                "{what}: {stderr}"
            );
        }
    }
}
