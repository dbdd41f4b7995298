//! `import --resume`.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::common;
use crate::plan::{identity, run};

const TEXTS: [&str; 4] = ["kernelslist.g", "kernel-1.traceg", "kernel-2.traceg", "other.traceg"];

/// A folder with a list, its two traces, and another name of the second.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for name in &TEXTS[..3] {
            fs::copy(common::file("tests/data/cmd").join(name), folder.at(name)).unwrap();
        }
        fs::copy(folder.at("kernel-2.traceg"), folder.at("other.traceg")).unwrap();
        folder
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file that is older than all outputs.
    fn write(&self, name: &str, bytes: &[u8]) {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::write(self.at(name), bytes).unwrap();
        File::options().append(true).open(self.at(name)).unwrap().set_modified(moment).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }
}

/// An import is done if its output is whole, of the same bytes, whenever these were written.
#[test]
fn imports_resume() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let import = |input: &str, options: &[&str]| {
        let arguments = ["import", &at(input), "-o", &at("out.wlt"), "--resume"];
        run(&[&arguments[..], options].concat()).ends_with(" is done already\n")
    };
    for (input, options, files) in [
        ("kernel-1.traceg", &[][..], &TEXTS[1..2]),
        ("kernelslist.g", &[][..], &TEXTS[..3]),
        ("kernelslist.g", &["--only", "1"][..], &[TEXTS[0], TEXTS[2]][..]),
    ] {
        let _ = fs::remove_file(at("out.wlt"));
        assert!(!import(input, options), "not there yet");
        assert!(import(input, options), "{input} {options:?}");
        let bytes = folder.read("out.wlt");
        for file in TEXTS {
            // The same bytes, written again.
            let text = folder.read(file);
            fs::write(at(file), &text).unwrap();
            assert!(import(input, options), "{file}");
            // A copy to device memory or a line of a header more, in an older file.
            let more =
                if file == "kernelslist.g" { "MemcpyHtoD,0x1000,64" } else { "-another = 1" };
            let changed = String::from_utf8(text.clone()).unwrap();
            folder.write(file, format!("{more}\n{changed}").as_bytes());
            assert_eq!(import(input, options), !files.contains(&file), "{file} has changed");
            folder.write(file, &text);
            assert_eq!(import(input, options), !files.contains(&file), "{file} is as before");
            assert_eq!(folder.read("out.wlt"), bytes);
        }
        // Cut off, something else, and with a block that is damaged.
        let mut damaged = bytes.clone();
        damaged[70] ^= 1;
        for part in [&bytes[..bytes.len() - 1], &bytes[..100], b"no trace", &damaged] {
            fs::write(at("out.wlt"), part).unwrap();
            assert!(!import(input, options), "{} bytes", part.len());
            assert_eq!(folder.read("out.wlt"), bytes);
        }
        assert!(!import("other.traceg", &[]), "of another input");
    }
    // Another trace of the list; the list's first trace for the list.
    assert!(!import("kernelslist.g", &["--only", "0"]));
    let first = folder.read("out.wlt");
    assert!(!import("kernelslist.g", &["--only", "1"]));
    assert_ne!(folder.read("out.wlt"), first);
    assert!(!import("kernelslist.g", &[]));
}

#[test]
fn splits_resume() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let split =
        || run(&["import", &at("kernelslist.g"), "--split", "-o", &at("parts"), "--resume"]);
    assert!(split().ends_with(" written, 2 parts\n"));
    let identities = || {
        ["part-0000.wlt", "part-0001.wlt", "trace.set.json"]
            .map(|name| identity(&at(&format!("parts/{name}"))))
    };
    let before = identities();
    assert!(split().ends_with(" is done already\n"));
    assert_eq!(before, identities());

    // The same names in another folder, whose files are older than the parts, for one of them.
    fs::create_dir(at("elsewhere")).unwrap();
    for (name, from) in [(TEXTS[0], TEXTS[0]), (TEXTS[1], TEXTS[2]), (TEXTS[2], TEXTS[2])] {
        let text = folder.read(from);
        folder.write(&format!("elsewhere/{name}"), &text);
    }
    let list = at("elsewhere/kernelslist.g");
    run(&["import", &list, "--split", "-o", &at("parts"), "--resume"]);
    run(&["import", &list, "--split", "-o", &at("fresh")]);
    assert_eq!(folder.read("parts/trace.set.json"), folder.read("fresh/trace.set.json"));
    assert_eq!(folder.read("parts/part-0000.wlt"), folder.read("fresh/part-0000.wlt"));
}

/// What can be read once is imported, and not read for a look at it.
#[cfg(unix)]
#[test]
fn imports_of_pipes_resume() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    common::succeeded(std::process::Command::new("mkfifo").args([at("pipe.traceg"), at("list.g")]));
    let text = fs::read(common::file("tests/data/cmd/kernel-1.traceg")).unwrap();
    fs::copy(common::file("tests/data/cmd/kernel-1.traceg"), at("kernel-1.traceg")).unwrap();
    let import = |pipe: &str, text: &[u8], options: &[&str]| {
        let (pipe, out) = (at(pipe), at("out.wlt"));
        let arguments = [&["import", &pipe, "-o", &out, "--resume"][..], options].concat();
        std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&pipe, text).unwrap());
            let said = run(&arguments);
            (said.ends_with(" is done already\n"), fs::read(&out).unwrap())
        })
    };
    let (is_done, first) = import("pipe.traceg", &text, &[]);
    assert!(!is_done);
    assert_eq!(import("pipe.traceg", &text, &[]), (false, first));
    // A list is read whole before its files, which can be compared.
    let list = b"kernel-1.traceg\n";
    assert!(!import("list.g", list, &["--only", "0"]).0);
    assert!(import("list.g", list, &["--only", "0"]).0);
}
