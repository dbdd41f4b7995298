//! Inputs that are not regular files, or that change: pipes, devices, files that are truncated.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use warpload_trace::{BinaryTrace, TraceError};

use crate::common::Ran;
use crate::trace::command::names;
use crate::trace::folder::Folder;
use crate::traces::{random_items, write};

/// Traces of both kinds, and manifests, under each name that a pipe can have.
#[test]
fn pipes_are_read_as_files_are() {
    let folder = Folder::new();
    let image = ["--image", "image.json", "--format", "json"];
    let expected = folder.run(&[&["replay", "b.wlt"], &image[..]].concat(), b"");
    assert_eq!((expected.status, &*expected.stderr), (0, ""));
    for name in ["a.traceg", "b.wlt"] {
        let bytes = fs::read(folder.at(name)).unwrap();
        for pipe in ["-", "/dev/stdin", "/dev/fd/0"] {
            let got = folder.run(&[&["replay", pipe], &image[..]].concat(), &bytes);
            assert_eq!(got, expected, "{name} as {pipe}");
        }
    }
    // The files of the manifest are relative to the working folder.
    for name in ["b.wlt", "image.json"] {
        let bytes = fs::read(folder.at(name)).unwrap();
        let expected = folder.run(&["show", name], b"");
        assert_eq!((expected.status, &*expected.stderr), (0, ""));
        for pipe in ["-", "/dev/stdin", "/dev/fd/0"] {
            assert_eq!(folder.run(&["show", pipe], &bytes), expected, "{name} as {pipe}");
        }
    }
    let manifest = fs::read(folder.at("image.json")).unwrap();
    for pipe in ["-", "/dev/stdin", "/dev/fd/0"] {
        let arguments = ["replay", "b.wlt", "--image", pipe, "--format", "json"];
        assert_eq!(folder.run(&arguments, &manifest), expected, "{pipe}");
        let mut redirected = folder.command(&arguments);
        redirected.stdin(File::open(folder.at("image.json")).unwrap());
        assert_eq!(Ran::from(redirected.output().unwrap()), expected, "{pipe}, a file");
    }
    let Ran { status, stderr, .. } = folder.run(&["replay", "-", "--image", "-"], &manifest);
    assert_eq!(status, 2);
    assert!(stderr.contains("standard input is either the trace or the image"), "{stderr}");
}

/// A damaged trace in a pipe is reported like a damaged file.
#[test]
fn damage_in_a_pipe_is_named() {
    let folder = Folder::new();
    let mut bytes = write(&random_items(20, 100));
    bytes[70] ^= 1;
    let Ran { status, stdout, stderr } = folder.run(&["replay", "/dev/stdin"], &bytes);
    assert_eq!((status, &*stdout), (2, ""));
    let expected = "/dev/stdin: damaged: the block at byte offset 52 does not match its checksum";
    assert!(stderr.contains(expected), "{stderr}");
}

/// The library reads only regular files, and none that are larger than memory.
#[test]
fn the_library_reads_regular_files() {
    let folder = Folder::new();
    assert_eq!(BinaryTrace::open(&folder.at("b.wlt")).unwrap().loads(), 1);
    let fifo = folder.at("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [&*fifo, Path::new("/dev/zero"), folder.0.path()] {
        let error = BinaryTrace::open(path).unwrap_err();
        let TraceError::Read { source, .. } = error else { panic!("{error}") };
        assert!(source.to_string().ends_with("expected a regular file"), "{source}");
    }
    let large = File::options().write(true).open(folder.at("b.wlt")).unwrap();
    large.set_len(1 << 40).unwrap();
    let error = BinaryTrace::open(&folder.at("b.wlt")).unwrap_err();
    let TraceError::Read { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.kind(), ErrorKind::OutOfMemory);
}

/// Neither endless inputs nor pipes without a writer block the command.
#[test]
fn manifests_are_bounded() {
    let folder = Folder::new();
    let fifo = folder.at("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let inner = format!(r#"{{"memory": {{"shared": {{"file": {fifo:?}}}}}}}"#);
    fs::write(folder.at("inner.json"), inner).unwrap();
    for (image, expected) in [
        ("/dev/zero", "/dev/zero could not be read: expected a manifest of at most 67108864 bytes"),
        ("pipe", "pipe: is a named pipe; expected a file"),
        ("inner.json", "pipe: is a pipe, a device or a socket; expected a regular file"),
        (".", ".: is a folder; expected a file"),
    ] {
        let Ran { status, stdout, stderr } =
            folder.run(&["replay", "b.wlt", "--image", image], b"");
        assert_eq!((status, &*stdout), (2, ""), "{image}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let Ran { status, stderr, .. } = folder.run(&["show", "inner.json"], b"");
    assert_eq!(status, 2);
    assert!(stderr.contains("expected a regular file"), "{stderr}");
}

/// Writes an image of two sparse files of 96 MiB.
fn write_image_of_two_files(folder: &Folder) {
    for name in ["first", "second"] {
        File::create(folder.at(name)).unwrap().set_len(96 << 20).unwrap();
    }
    let image = r#"{"memory": {"global": [{"base": "0x1000", "file": "first"},
        {"base": "0x10000000", "file": "second"}]}}"#;
    fs::write(folder.at("two.json"), image).unwrap();
}

/// Runs the command with an address space of `mib` MiB.
#[cfg(target_os = "linux")]
fn limited(folder: &Folder, mib: u32, arguments: &str) -> Ran {
    let warpload = env!("CARGO_BIN_EXE_warpload");
    let script = format!("ulimit -v {} && exec {warpload} {arguments}", mib << 10);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.0.path()).env("RUST_BACKTRACE", "0");
    shell.output().unwrap().into()
}

#[cfg(target_os = "linux")]
#[test]
fn an_image_of_several_files_takes_its_memory_once() {
    let folder = Folder::new();
    write_image_of_two_files(&folder);
    let replay = "replay b.wlt --image two.json --threads 1";
    let Ran { status, stderr, .. } = limited(&folder, 320, replay);
    assert_eq!((status, &*stderr), (0, ""));
    // Too little memory is an error, not an abort.
    let Ran { status, stderr, .. } = limited(&folder, 192, replay);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("201326592 bytes of memory could not be allocated"), "{stderr}");
    // The sizes alone do not need it.
    let Ran { status, stdout, stderr } = limited(&folder, 192, "info two.json");
    assert_eq!((status, &*stderr), (0, ""));
    assert!(stdout.starts_with("memory image: 201326592 bytes"), "{stdout}");
}

/// An error whose source says the same is printed once.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started_are_named_once() {
    let folder = Folder::new();
    let mut messages = (16..64).map(|mib| limited(&folder, mib, "replay b.wlt").stderr);
    let message = messages.find(|message| message.contains("unavailable")).unwrap();
    assert!(message.contains(" threads cannot be started: "), "{message}");
    assert_eq!(message.matches("unavailable").count(), 1, "{message}");
}

/// Waits until a process has mapped a file.
#[cfg(target_os = "linux")]
fn wait_until_mapped(child: &mut Child, name: &str) {
    let maps = format!("/proc/{}/maps", child.id());
    while !fs::read_to_string(&maps).is_ok_and(|maps| maps.contains(name)) {
        assert_eq!(child.try_wait().unwrap(), None, "the command ended");
        std::thread::yield_now();
    }
}

/// The command has mapped one file and waits for the other input when the file is truncated.
#[cfg(target_os = "linux")]
#[test]
fn a_mapped_file_that_becomes_shorter_is_named() {
    let folder = Folder::new();
    let bytes = write(&random_items(21, 20_000));
    let image = fs::read(folder.at("image.json")).unwrap();
    for threads in ["1", "2"] {
        fs::write(folder.at("long.wlt"), &bytes).unwrap();
        let page = ["--html", "page.html", "--threads", threads];
        let arguments = [&["replay", "long.wlt", "--image", "-"], &page[..]].concat();
        let ran = cut_off(&folder, &arguments, "long.wlt", &image);
        let message = "error: long.wlt: became shorter, or could not be read, while the command \
            was reading it\n";
        assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (2, "", message));

        fs::write(folder.at("bytes"), [7; 0x2000]).unwrap();
        let trace = fs::read(folder.at("b.wlt")).unwrap();
        let arguments = [&["replay", "-", "--image", "image.json"], &page[..]].concat();
        // More than the command needs to detect the kind of trace, so that it goes on to the image.
        let trace = [trace, vec![0; 1 << 16]].concat();
        let ran = cut_off(&folder, &arguments, "bytes", &trace);
        assert_eq!((ran.status, &*ran.stdout), (2, ""));
        assert_eq!(ran.stderr, message.replace("long.wlt", "bytes"));
        let left = ["a.traceg", "b.wlt", "bytes", "image.json", "kernelslist.g", "long.wlt"];
        assert_eq!(names(folder.0.path()), left);
    }
}

/// Runs a command; when it has mapped the file, truncates that, and only then ends the input.
#[cfg(target_os = "linux")]
fn cut_off(folder: &Folder, arguments: &[&str], file: &str, input: &[u8]) -> Ran {
    let mut command = folder.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (last, input) = input.split_last().unwrap();
    stdin.write_all(input).unwrap();
    wait_until_mapped(&mut child, folder.at(file).to_str().unwrap());
    File::options().write(true).open(folder.at(file)).unwrap().set_len(0).unwrap();
    // The command may have noticed already, while reading the start of the trace.
    let _ = stdin.write_all(&[*last]);
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

/// A folder can have any name; the files of a list are found in it.
#[cfg(target_os = "linux")]
#[test]
fn the_files_of_a_list_in_a_folder_whose_name_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let name = OsStr::from_bytes(b"caf\xe9");
    fs::create_dir(folder.at("").join(name)).unwrap();
    let list = Path::new(name).join("kernelslist.g");
    fs::copy(folder.at("a.traceg"), folder.at("").join(name).join("a.traceg")).unwrap();
    fs::write(folder.at("").join(&list), "a.traceg\n").unwrap();
    let run = |arguments: &[&str], list: &Path| {
        let mut command = folder.command(arguments);
        Ran::from(command.arg(list).output().unwrap())
    };
    for arguments in [&["show"][..], &["replay"], &["import", "-o", "whole.wlt"]] {
        let Ran { status, stderr, .. } = run(arguments, &list);
        assert_eq!((status, &*stderr), (0, ""), "{arguments:?}");
    }
    fs::write(folder.at("").join(&list), "b.traceg\n").unwrap();
    let Ran { status, stderr, .. } = run(&["show"], &list);
    assert_eq!(status, 2);
    assert!(stderr.contains("caf\u{fffd}/kernelslist.g:1:1"), "{stderr}");
}

/// What is a trace by its first line is no image, even if it is JSON.
#[test]
fn lines_of_json_are_traces() {
    let folder = Folder::new();
    let access = format!(
        r#"{{"addrs":{:?},"cta":[0,0,0],"ctx":"0x1","grid_launch_id":0,"pc":"0x10","sass":"LDG.E R1, [R2] ;","type":"mem_addr_trace","warp":0}}"#,
        vec![256; 32]
    );
    let kernel = format!(
        r#"{{"block":[32,1,1],"grid":[1,1,1],"instructions":{{"0":{{"sass":"{}"}}}},"type":"kernel_metadata"}}"#,
        "LDG.E R1, [R2] ;".repeat(1000)
    );
    for text in [format!("{access}\n"), format!("{kernel}\n{access}\n")] {
        fs::write(folder.at("a.ndjson"), text).unwrap();
        let Ran { status, stdout, stderr } = folder.run(&["show", "a.ndjson"], b"");
        assert_eq!((status, &*stderr), (0, ""));
        assert!(stdout.contains("loads") && stdout.contains("LDG.E"), "{stdout}");
    }
    // An image can name anything.
    let image = r#"{"memory": {"shared": {"file": "type"}}}"#;
    fs::write(folder.at("odd.json"), image).unwrap();
    let Ran { stderr, .. } = folder.run(&["show", "odd.json"], b"");
    assert!(stderr.contains("no memory image"), "{stderr}");
}
