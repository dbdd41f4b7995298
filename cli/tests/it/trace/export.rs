//! `export`, and importing what it writes.

use std::fs;
use std::io::Cursor;
use std::num::NonZero;
use std::path::Path;

use warpload_trace::{ImportOptions, TraceSource};

use crate::common::{file, succeeded};
use crate::trace::command::{command, warpload};

/// Returns what a replay of the trace prints, without what names the trace.
fn replay(path: &Path) -> serde_json::Value {
    let path = path.to_str().unwrap();
    let ran = warpload(&["replay", path, "--fill", "address", "--format", "json"]);
    // Expected values of a trace are those of its image.
    assert!(ran.status < 2, "{}", ran.stderr);
    let mut summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    // An export has no words of instructions.
    for row in summary["rows"].as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("sass");
    }
    summary
}

/// Every sample, exported and imported again, has the same loads and counts; and is exported again as the
/// same lines.
#[test]
fn exports_import_as_the_same_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let folders = ["traces", "tests/independent"].iter();
    let mut traces: Vec<_> =
        folders.flat_map(|folder| fs::read_dir(file(folder)).unwrap()).collect();
    traces.extend(fs::read_dir(file("tests/data/traces2")).into_iter().flatten());
    let mut count = 0;
    for path in traces.into_iter().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_trace =
            [".traceg", ".trace", ".tracez", ".log", ".wlt", ".ndjson", ".g", ".xz", ".zst"];
        if !is_trace.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        count += 1;
        succeeded(&mut command(&["export", path.to_str().unwrap(), "-o", &at("first")]));
        succeeded(&mut command(&["import", &at("first"), "-o", &at("again")]));
        assert_eq!(replay(&path), replay(&folder.path().join("again")), "{name}");
        succeeded(&mut command(&[
            "export",
            &at("again"),
            "--format",
            "jsonl",
            "-o",
            &at("second"),
        ]));
        let [first, second] = ["first", "second"].map(|name| {
            let text = fs::read_to_string(at(name)).unwrap();
            text.split_once('\n').unwrap().1.to_owned()
        });
        assert!(first == second, "{name}");
    }
    assert!(count > 8, "{count}");
}

/// What contradicts itself or is cut off is refused with its place.
#[test]
fn damaged_exports_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let trace = file("tests/data/cmd/example.wlt");
    succeeded(&mut command(&["export", trace.to_str().unwrap(), "-o", &at("good")]));
    let good = fs::read_to_string(at("good")).unwrap();
    let refused = |text: &str| {
        fs::write(at("bad"), text).unwrap();
        let ran = warpload(&["import", &at("bad"), "-o", &at("out.wlt")]);
        assert_eq!(ran.status, 2, "{text}");
        assert_eq!(ran.stdout, "");
        ran.stderr.replace(&at("bad"), "bad")
    };
    for (from, to, message) in [
        ("\"version\":1", "\"version\":2", "bad:1:1: version 2 of the export; expected 1"),
        ("\"active\":\"0x", "\"active\":\"0xz", "expected a hexadecimal number"),
        ("\"active\":\"0x", "\"active\":\"0x80000000", "of more than 32 bits"),
        ("\"kind\":\"load\"", "\"kind\":\"store\"", "`kind`, `space` and `bytes` contradict"),
        ("{\"kernel\":0,", "{\"kernel\":1,", "bad:2:1: kernel 1; expected kernel 0"),
        ("{\"kernel\":0,", "{\"kernel\":0,\"continued\":true,", "goes on before it begins"),
        ("\"addresses\":[\"0x", "\"addresses\":[null,\"0x", "trailing characters"),
        ("\"store\":", "\"store\":7", "the file is cut off or incomplete"),
        ("{\"record\":", "{\"record\":9", "the first line says that there are"),
    ] {
        assert!(good.contains(from), "{from}");
        let message_of = refused(&good.replacen(from, to, 1));
        assert!(message_of.contains(message), "{from}: {message_of}");
    }
    for (end, _) in good.char_indices().filter(|(at, _)| *at > 10) {
        let cut = &good[..end];
        let source = TraceSource::from_stream(cut.as_bytes(), Path::new("cut")).unwrap();
        let options = ImportOptions::new(NonZero::<usize>::MIN);
        source.import_into(Cursor::new(Vec::new()), &options, &()).unwrap_err();
        // By the command too, here and there.
        if end % 50 == 0 {
            refused(cut);
        }
    }
}

/// Only the build in `arrow/` writes Parquet.
#[test]
fn a_build_without_parquet_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.parquet");
    let trace = file("traces/generic.wlt");
    let arguments = ["--format", "parquet", "-o", out.to_str().unwrap()];
    let ran = warpload(&[&["export", trace.to_str().unwrap()], &arguments[..]].concat());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.starts_with("error: this build of warpload does not write Parquet; "));
    assert!(
        ran.stderr.contains("`cargo install --path arrow --features command`"),
        "{}",
        ran.stderr
    );
    assert!(!out.exists());
}
