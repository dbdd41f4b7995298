//! The command on traces: files that it cannot read or write, shards in files, file modes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Ran, piped};
use crate::traces::{grouped, random_items, write};

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = crate::common::warpload();
    command.args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn warpload(arguments: &[&str]) -> Ran {
    command(arguments).output().unwrap().into()
}

/// Returns the sorted names of a folder's files.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("trace"), grouped(5, "", &["0010 00000001 0 LDG 0 4 0 0x1 0"])).unwrap();
    fs::write(at("bad"), "-kernel name = k\nwhat\n").unwrap();
    fs::create_dir(at("folder")).unwrap();
    for (input, output, expected) in [
        ("trace", "missing/out.wlt", "out.wlt: cannot be written: "),
        ("trace", "folder", "folder: is a folder; expected the name of the file to write"),
        ("missing", "out.wlt", "missing: cannot be read: "),
        ("folder", "out.wlt", "folder: a folder without traces"),
        ("bad", "out.wlt", "bad:2:1: expected a header line"),
    ] {
        let ran = warpload(&["import", &at(input), "-o", &at(output)]);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{output}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(names(folder.path()), ["bad", "folder", "trace"]);
        assert!(names(&folder.path().join("folder")).is_empty());
    }
    assert_eq!(warpload(&["import", &at("trace"), "-o", "-"]).status, 2);
    assert_eq!(warpload(&["import", "-", "-o", &at("out.wlt")]).status, 2);
}

/// A pipe returns less per read than a file; its kind is still detected by content.
#[test]
fn traces_on_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = grouped(5, "", &["0010 00000001 0 LDG 0 4 0 0x1000 0"]);
    fs::write(at("trace"), &text).unwrap();
    assert_eq!(warpload(&["import", &at("trace"), "-o", &at("out.wlt")]).status, 0);
    let binary = fs::read(at("out.wlt")).unwrap();
    let replay = ["--fill", "address", "--format", "json"];
    let expected = warpload(&[&["replay", &at("trace")], &replay[..]].concat()).stdout;
    let piped = |arguments: &[&str], input: &[u8]| piped(&mut command(arguments), input, 5);
    for input in [text.as_bytes(), &binary] {
        let ran = piped(&[&["replay", "-"], &replay[..]].concat(), input);
        assert_eq!((ran.status, &ran.stdout), (0, &expected));
    }
    let ran = piped(&["replay", "-"], b"-kernel name = k\nwhat\n");
    assert!(ran.status == 2 && ran.stderr.contains("standard input:2:1: "), "{}", ran.stderr);
    assert_eq!(piped(&["import", "-", "-o", &at("piped.wlt")], text.as_bytes()).status, 0);
    let ran = warpload(&[&["replay", &at("piped.wlt")], &replay[..]].concat());
    assert_eq!(ran.stdout, expected);
    for (input, expected) in [(&*binary, "binary trace by "), (b"{}", "memory image: 0 bytes")] {
        let ran = piped(&["show", "-"], input);
        assert!(ran.status == 0 && ran.stdout.starts_with(expected), "{}", ran.stdout);
    }
}

#[cfg(unix)]
#[test]
fn the_output_follows_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("trace"), grouped(5, "", &[])).unwrap();
    fs::write(at("usual"), "").unwrap();
    assert_eq!(warpload(&["import", &at("trace"), "-o", &at("out.wlt")]).status, 0);
    let mode = |name| fs::metadata(at(name)).unwrap().permissions().mode();
    assert_eq!(mode("out.wlt"), mode("usual"));
}

#[test]
fn damage_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.wlt");
    let mut bytes = write(&random_items(20, 100));
    bytes[70] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ran = warpload(&["replay", path.to_str().unwrap()]);
    assert_eq!(ran.status, 2);
    let expected = "trace.wlt: damaged: the block at byte offset 52 does not match its checksum";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

/// Shards and threads do not change a byte of the result, for binary traces and text traces.
#[test]
fn shards_through_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("binary"), write(&random_items(21, 3000))).unwrap();
    let lines = ["0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0", "0020 00000001 0 STG 0 4 0 0x1 0"];
    fs::write(at("text"), grouped(5, "", &lines.repeat(50))).unwrap();
    for trace in ["binary", "text"] {
        let replay = |more: &[&str]| {
            let all = ["replay", &at(trace), "--fill", "address", "--format", "json"];
            let ran = warpload(&[&all, more].concat());
            // Random expected values are not compared with a fill.
            assert_eq!(ran.status, 0, "{}", ran.stderr);
            ran.stdout
        };
        let whole = replay(&["--threads", "1"]);
        assert_eq!(replay(&["--threads", "2"]), whole);
        let mut files = Vec::new();
        for shard in ["2/3", "0/3", "1/3"] {
            let file = at(&format!("{}.json", shard.replace('/', "-")));
            fs::write(&file, replay(&["--shard", shard])).unwrap();
            files.push(file);
        }
        let files: Vec<&str> = files.iter().map(|file| &**file).collect();
        let merge = |files: &[&str]| warpload(&[&["merge", "--format", "json"], files].concat());
        assert_eq!(merge(&files).stdout, whole);
        for (files, expected) in [
            (&files[..2], "shard 1 of 3 is missing"),
            (&[files[0], files[1], files[2], files[2]][..], "is shard 1 of 3, like another one"),
            (&[&*at("binary")], "a binary trace of warpload, not the summary of a replay"),
        ] {
            let ran = merge(files);
            assert_eq!((ran.status, &*ran.stdout), (2, ""));
            assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        }
    }
}

#[test]
fn binary_traces_that_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write(&random_items(7, 50));
    let path = folder.path().join("cut.wlt");
    for length in [1, 7, 8, 51] {
        fs::write(&path, &whole[..length]).unwrap();
        let expected = format!(
            "cut off: the file has {length} bytes; its header has 52 bytes from byte offset 0 on"
        );
        for command in ["info", "replay"] {
            let ran = warpload(&[command, path.to_str().unwrap()]);
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{length}");
            assert!(ran.stderr.contains(&format!("cut.wlt: {expected}")), "{}", ran.stderr);
        }
    }
    let ran = warpload(&["decode", "traces/generic.wlt"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("a binary trace of warpload; `warpload show`"), "{}", ran.stderr);
}
