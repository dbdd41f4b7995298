//! What outputs replace: never an input, a device, a pipe, a link or a read-only file.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::Ran;
use crate::trace::command::names;
use crate::trace::folder::Folder;
use crate::traces::grouped;
use warpload::memory::mix;

impl Folder {
    fn import(&self, input: &str, output: &str) -> Ran {
        self.run(&["import", input, "-o", output], b"")
    }

    /// Returns all files with their contents.
    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    }
}

#[test]
fn no_output_replaces_an_input() {
    let folder = Folder::new();
    fs::hard_link(folder.at("a.traceg"), folder.at("hard.traceg")).unwrap();
    symlink("a.traceg", folder.at("soft.traceg")).unwrap();
    symlink("bytes", folder.at("bytes.link")).unwrap();
    let before = folder.contents();
    for arguments in [
        &["import", "a.traceg", "-o", "a.traceg"][..],
        &["import", "a.traceg", "-o", "hard.traceg"],
        &["import", "a.traceg", "-o", "soft.traceg"],
        &["import", "soft.traceg", "-o", "a.traceg"],
        &["import", "kernelslist.g", "-o", "kernelslist.g"],
        &["import", "kernelslist.g", "-o", "a.traceg"],
        &["import", "kernelslist.g", "-o", "hard.traceg"],
        &["replay", "b.wlt", "--html", "b.wlt"],
        &["replay", "a.traceg", "--html", "soft.traceg"],
        &["replay", "kernelslist.g", "--html", "a.traceg"],
        &["replay", "b.wlt", "--image", "image.json", "--html", "image.json"],
        &["replay", "b.wlt", "--image", "image.json", "--html", "bytes.link"],
        &["replay", "a.traceg", "--image", "image.json", "--html", "bytes.link"],
    ] {
        let ran = folder.run(arguments, b"");
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments:?}: {}", ran.stderr);
        let path = arguments[arguments.len() - 1];
        let expected = format!("error: {path}: is one of the inputs; expected another file");
        assert!(ran.stderr.starts_with(&expected), "{arguments:?}: {}", ran.stderr);
        assert!(folder.contents() == before, "{arguments:?}");
    }
    let ran = folder.run(&["replay", "b.wlt", "--image", "image.json", "--html", "new.html"], b"");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

/// Files that a list names are inputs.
#[test]
fn files_that_inputs_name_are_not_replaced() {
    let folder = Folder::new();
    fs::copy(folder.at("a.traceg"), folder.at("c.traceg")).unwrap();
    fs::write(folder.at("two.g"), "a.traceg\nc.traceg\n").unwrap();
    let before = folder.contents();
    for arguments in [
        &["import", "two.g", "-o", "c.traceg"][..],
        &["replay", "two.g", "-o", "c.traceg"],
        &["replay", "two.g", "-o", "/dev/null", "--html", "c.traceg"],
        &["export", "two.g", "-o", "c.traceg"],
    ] {
        let ran = folder.run(arguments, b"");
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments:?}: {}", ran.stderr);
        let expected = ": is one of the inputs; expected another file to write\n";
        assert!(ran.stderr.ends_with(expected), "{arguments:?}: {}", ran.stderr);
        assert!(folder.contents() == before, "{arguments:?}");
    }
}

/// Two outputs of one command are two files, also if links lead to them.
#[test]
fn outputs_do_not_replace_each_other() {
    let folder = Folder::new();
    symlink("new", folder.at("link")).unwrap();
    fs::create_dir(folder.at("sub")).unwrap();
    symlink("sub", folder.at("folder")).unwrap();
    let ends = ": is the file of the page; expected another one for the summary\n";
    for (page, summary) in [("new", "new"), ("link", "./new"), ("sub/a", "folder/a")] {
        let ran = folder.run(&["replay", "b.wlt", "--html", page, "-o", summary], b"");
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
        assert_eq!(ran.stderr, format!("error: {page}{ends}"));
        assert!(!folder.at("new").exists() && !folder.at("sub/a").exists());
    }
    let ran = folder.run(&["replay", "b.wlt", "--html", "sub/a", "-o", "sub/b"], b"");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn standard_input_is_not_replaced() {
    let folder = Folder::new();
    let before = folder.contents();
    for arguments in [
        &["import", "-", "-o", "a.traceg"][..],
        &["replay", "-", "--html", "a.traceg"],
        &["vectors", "fill-in", "-", "-o", "a.traceg"],
    ] {
        let mut command = folder.command(arguments);
        let output = command.stdin(fs::File::open(folder.at("a.traceg")).unwrap()).output();
        assert!(!output.unwrap().status.success(), "{arguments:?}");
        assert!(folder.contents() == before, "{arguments:?}");
    }
}

#[test]
fn vectors_are_not_replaced() {
    let folder = Folder::new();
    let vectors = fs::read(crate::common::file("tests/data/cmd/pass.jsonl")).unwrap();
    fs::write(folder.at("v.jsonl"), &vectors).unwrap();
    let ran = folder.run(&["vectors", "fill-in", "v.jsonl", "-o", "v.jsonl"], b"");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("v.jsonl: is one of the inputs"), "{}", ran.stderr);
    assert!(fs::read(folder.at("v.jsonl")).unwrap() == vectors);
}

#[test]
fn links_are_followed() {
    let folder = Folder::new();
    fs::create_dir(folder.at("else")).unwrap();
    fs::write(folder.at("else/old.wlt"), "old").unwrap();
    symlink("else/old.wlt", folder.at("direct.wlt")).unwrap();
    symlink("direct.wlt", folder.at("twice.wlt")).unwrap();
    symlink("else/new.wlt", folder.at("dangling.wlt")).unwrap();
    symlink("loop.wlt", folder.at("loop.wlt")).unwrap();
    let expected = fs::read(folder.at("b.wlt")).unwrap();
    for (link, file) in [("twice.wlt", "else/old.wlt"), ("dangling.wlt", "else/new.wlt")] {
        let ran = folder.import("a.traceg", link);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(folder.at(link).is_symlink());
        assert!(fs::read(folder.at(file)).unwrap() == expected);
    }
    assert!(folder.at("direct.wlt").is_symlink());
    let ran = folder.import("a.traceg", "loop.wlt");
    assert!(
        ran.status == 2 && ran.stderr.contains("loop.wlt: cannot be written: "),
        "{}",
        ran.stderr
    );
    assert!(folder.at("loop.wlt").is_symlink());
}

#[test]
fn modes_are_kept_and_read_only_files_are_refused() {
    let folder = Folder::new();
    let set = |mode| {
        let _ = fs::remove_file(folder.at("out"));
        fs::write(folder.at("out"), "old").unwrap();
        fs::set_permissions(folder.at("out"), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = || fs::metadata(folder.at("out")).unwrap().mode() & 0o777;
    for kept in [0o600, 0o664, 0o755] {
        set(kept);
        assert_eq!(folder.import("a.traceg", "out").status, 0);
        assert_eq!(mode(), kept);
        assert!(fs::read(folder.at("out")).unwrap() == fs::read(folder.at("b.wlt")).unwrap());
    }
    // Also for the superuser, who could write them.
    for refused in [0o444, 0o000, 0o466] {
        set(refused);
        for arguments in [
            &["import", "a.traceg", "-o", "out"][..],
            &["replay", "b.wlt", "--html", "out"],
            &["tmem", "map", "16x64b", "x1", "--svg", "out"],
        ] {
            let ran = folder.run(arguments, b"");
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments:?}");
            assert!(ran.stderr.contains("out: cannot be written: is read-only"), "{}", ran.stderr);
            assert_eq!(mode(), refused);
        }
        fs::set_permissions(folder.at("out"), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(folder.at("out")).unwrap(), b"old");
    }
}

/// Only the superuser can change a file's owner, so others skip this.
#[test]
fn owners_are_kept() {
    let folder = Folder::new();
    fs::write(folder.at("out.wlt"), "old").unwrap();
    if std::os::unix::fs::chown(folder.at("out.wlt"), Some(1234), Some(5678)).is_err() {
        return;
    }
    assert_eq!(folder.import("a.traceg", "out.wlt").status, 0);
    let metadata = fs::metadata(folder.at("out.wlt")).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1234, 5678));
    assert!(metadata.len() > 3);
}

#[test]
fn pipes_and_devices_are_written_in_place() {
    let folder = Folder::new();
    let fifo = folder.at("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for arguments in [
        &["import", "a.traceg", "-o", "fifo"][..],
        &["replay", "b.wlt", "--html", "fifo"],
        &["tmem", "map", "16x64b", "x1", "--svg", "fifo"],
    ] {
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).unwrap()
        });
        let ran = folder.run(arguments, b"");
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let read = reader.join().unwrap();
        assert!(!read.is_empty());
        if arguments[0] == "import" {
            assert!(read == fs::read(folder.at("b.wlt")).unwrap());
        }
        assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    }
    symlink("/dev/null", folder.at("null.wlt")).unwrap();
    assert_eq!(folder.import("a.traceg", "null.wlt").status, 0);
    assert!(folder.at("null.wlt").is_symlink());
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    #[cfg(target_os = "linux")]
    {
        symlink("/dev/full", folder.at("full.wlt")).unwrap();
        let ran = folder.import("a.traceg", "full.wlt");
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains("full.wlt: cannot be written: "), "{}", ran.stderr);
    }
}

/// Standard output under its names in the file system, as a pipe and as a file.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_name() {
    let folder = Folder::new();
    let expected = fs::read(folder.at("b.wlt")).unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let mut import = folder.command(&["import", "a.traceg", "-o", name]);
        let mut child = import.stdout(Stdio::piped()).spawn().unwrap();
        let mut read = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut read).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(read == expected, "{name}");
        let file = fs::File::create(folder.at("file.wlt")).unwrap();
        let inode = file.metadata().unwrap().ino();
        assert!(import.stdout(file).status().unwrap().success());
        assert!(fs::read(folder.at("file.wlt")).unwrap() == expected, "{name}");
        assert_eq!(fs::metadata(folder.at("file.wlt")).unwrap().ino(), inode);
    }
    // Standard output may also be an input.
    let both = fs::OpenOptions::new().append(true).open(folder.at("a.traceg")).unwrap();
    let before = folder.contents();
    let mut import = folder.command(&["import", "a.traceg", "-o", "/dev/stdout"]);
    let status = import.stdout(both).status().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(folder.contents() == before);
}

/// A file size limit is reported like a full disk, with a message that names the file.
#[test]
fn what_does_not_fit_is_named() {
    let folder = Folder::new();
    // Addresses that no compression makes fit.
    let line = |i| format!("0010 00000001 1 R1 LDG.E 1 R2 4 0 {:#x} 0", mix(i) >> 20);
    let lines: Vec<_> = (0..5000).map(line).collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    fs::write(folder.at("a.traceg"), grouped(5, "", &lines)).unwrap();
    fs::write(folder.at("out"), "old").unwrap();
    let before = folder.contents();
    let limited = |arguments: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 1 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_warpload")]);
        let ran = Ran::from(shell.args(arguments).current_dir(folder.0.path()).output().unwrap());
        assert_eq!(ran.status, 2, "{arguments:?}");
        assert!(folder.contents() == before, "{arguments:?}");
        assert_eq!(names(folder.0.path()).len(), before.len());
        ran.stderr
    };
    for arguments in [
        &["import", "a.traceg", "-o", "out"][..],
        &["replay", "b.wlt", "--html", "out"],
        &["tmem", "map", "16x64b", "x16", "--svg", "out"],
    ] {
        let stderr = limited(arguments);
        assert!(stderr.starts_with("error: out: cannot be written: "), "{stderr}");
        assert!(!stderr.contains(".warpload-"), "{stderr}");
    }
    let stderr = limited(&["replay", "a.traceg"]);
    let expected = "error: a temporary file in ";
    assert!(stderr.starts_with(expected) && stderr.contains(": cannot be written: "), "{stderr}");
}
