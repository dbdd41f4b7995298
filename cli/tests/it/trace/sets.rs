//! Trace sets in files: they are the one trace, byte for byte, and only the parts of a shard have to be
//! there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::common::{Ran, file, piped};
use crate::trace::command::{command, names, warpload};
use crate::traces::{random_items, write};

const LISTS: [&str; 4] = [
    "tests/data/traces2/kernelslist.g",
    "tests/data/cmd/kernelslist.g",
    "tests/independent/kernelslist.g",
    "traces/samples.kernelslist.g",
];

/// A temporary folder.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        names(&self.0.path().join(folder))
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap()
    }
}

fn succeed(arguments: &[&str]) -> String {
    let ran = warpload(arguments);
    assert_eq!(ran.status, 0, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

fn refuse(arguments: &[&str], end: &str) {
    let ran = warpload(arguments);
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments:?}: {}", ran.stderr);
    assert!(ran.stderr.trim_end().ends_with(end), "{arguments:?}: {}", ran.stderr);
}

/// A list in both forms, and what is equal of them.
#[test]
fn a_set_is_the_one_trace_of_the_list() {
    for list in LISTS {
        let folder = Folder::new();
        // The page has the name of the trace, which does not say what the trace is.
        fs::create_dir(folder.at("one")).unwrap();
        let (one, set) = (folder.at("one/trace.set.json"), folder.at("parts/trace.set.json"));
        succeed(&["import", list, "-o", &one]);
        let written = succeed(&["import", list, "--split", "-o", &folder.at("parts")]);
        let count = folder.names("parts").len() - 1;
        let parts = if count == 1 { "1 part".to_owned() } else { format!("{count} parts") };
        assert_eq!(written, format!("{set} written, {parts}\n"));

        for options in [
            "--format json",
            "--fill address --format json",
            "--fill zero --format json",
            "--fill address --address-bits 40 --space global --format json",
            "--fill address --shared-window 0x1000000,0x1000000 --pc 0..200 --format json",
            "--fill address --opcode *.64 --format json",
            "--fill address --format csv --sort pc",
            "--fill address --no-demangle --top 3",
            "--threads 1 --format json",
        ] {
            let run = |trace: &str| {
                let options: Vec<&str> = options.split(' ').collect();
                warpload(&[&["replay", trace], &options[..]].concat())
            };
            let Ran { status, stdout, stderr } = run(&set);
            let ran = Ran { status, stdout, stderr: stderr.replace(&set, &one) };
            assert_eq!(ran, run(&one), "{list} {options}");
            assert!(ran.status < 2 || options.contains("bits 40"), "{}", ran.stderr);
        }
        let page = |trace: &str| {
            let page = folder.at("page.html");
            succeed(&["replay", trace, "--fill", "address", "--html", &page]);
            fs::read(page).unwrap()
        };
        assert!(page(&set) == page(&one), "{list}");
        let export = |trace: &str| succeed(&["export", trace, "-o", "-"]);
        assert!(export(&set) == export(&one), "{list}");
        let info = |trace: &str| {
            let json = succeed(&["info", trace, "--format", "json"]);
            serde_json::from_str::<serde_json::Value>(&json).unwrap()
        };
        let (mut of_set, mut of_one) = (info(&set), info(&one));
        assert_eq!(of_set.as_object_mut().unwrap().remove("parts"), Some(count.into()));
        // That of a set is made of those of its parts.
        let [of_parts, own] = [&mut of_set, &mut of_one]
            .map(|info| info.as_object_mut().unwrap().remove("content_hash").unwrap());
        assert_ne!(of_parts, own);
        assert_eq!(of_set, of_one);
        let without_hash = |text: String| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with("content hash "));
            lines.map(str::to_owned).collect()
        };
        let lines = without_hash(succeed(&["info", &set]));
        assert!(lines[0].starts_with(&format!("trace set of {parts} by warpload ")), "{lines:?}");
        assert!(without_hash(succeed(&["info", &one])).ends_with(&lines[1..]));
    }
}

/// Parts made one by one, in any order, and put together.
#[test]
fn parts_of_their_own_are_those_of_a_split() {
    for list in LISTS {
        let folder = Folder::new();
        let threads = ["--threads", "1"];
        let split = ["import", list, "--split", "-o", &folder.at("parts")];
        succeed(&[&split[..], &threads].concat());
        let names = folder.names("parts");
        let (set, parts) = names.split_last().unwrap();
        fs::create_dir(folder.at("own")).unwrap();
        for (number, part) in parts.iter().enumerate().rev() {
            let (number, own) = (number.to_string(), folder.at(&format!("own/{part}")));
            let written = succeed(&["import", list, "--only", &number, "-o", &own]);
            assert_eq!(written, format!("{own} written\n"));
            assert_eq!(folder.read(&format!("own/{part}")), folder.read(&format!("parts/{part}")));
        }
        let own = |part: &String| folder.at(&format!("own/{part}"));
        let own: Vec<String> = parts.iter().map(own).collect();
        let own: Vec<&str> = own.iter().map(|part| &**part).collect();
        succeed(&[&["set"], &own[..], &["-o", &folder.at("own/trace.set.json")]].concat());
        assert_eq!(folder.read("own/trace.set.json"), folder.read(&format!("parts/{set}")));
        // The list says how many there are; their names follow from that.
        succeed(&["set", "--list", list, "-o", &folder.at("own/again.json")]);
        assert_eq!(folder.read("own/again.json"), folder.read("own/trace.set.json"));
        // From elsewhere the parts have other names.
        succeed(&[&["set"], &own[..], &["-o", &folder.at("parts/elsewhere.json")]].concat());
        let elsewhere = String::from_utf8(folder.read("parts/elsewhere.json")).unwrap();
        let moved = elsewhere.replace("\"file\":\"../own/", "\"file\":\"");
        assert!(moved.as_bytes() == folder.read("own/trace.set.json") && moved != elsewhere);
        let replay = |set: &str| succeed(&["replay", &folder.at(set), "--format", "json"]);
        assert_eq!(replay("parts/elsewhere.json"), replay("own/trace.set.json"));
    }
}

/// The shards of a set count what those of the one trace count, without the other parts.
#[test]
fn a_shard_reads_its_parts_alone() {
    let folder = Folder::new();
    let list = "tests/data/traces2/kernelslist.g";
    succeed(&["import", list, "-o", &folder.at("one.wlt")]);
    succeed(&["import", list, "--split", "-o", &folder.at("parts")]);
    let set = folder.at("parts/trace.set.json");
    let mut parts = folder.names("parts");
    parts.pop();
    for count in [2, 7] {
        let mut used = std::collections::BTreeSet::new();
        for index in 0..count {
            let shard = format!("{index}/{count}");
            let replay = |trace: &str| {
                let options = ["--fill", "address", "--shard", &shard, "--format", "csv"];
                warpload(&[&["replay", trace], &options[..]].concat())
            };
            let expected = replay(&folder.at("one.wlt"));
            assert_eq!(replay(&set), expected);
            // A part is needed if and only if there is an error without it.
            for part in &parts {
                let (there, away) = (folder.at(&format!("parts/{part}")), folder.at("away"));
                fs::rename(&there, &away).unwrap();
                let ran = replay(&set);
                fs::rename(&away, &there).unwrap();
                if ran == expected {
                    continue;
                }
                let error = format!("{set}: {there}: cannot be read: ");
                assert!(ran.status == 2 && ran.stderr.contains(&error), "{}", ran.stderr);
                used.insert(part);
            }
        }
        assert_eq!(used.len(), parts.len());
    }
}

/// Shards that show names otherwise do not merge, also if they have no kernel in common.
#[test]
fn shards_have_one_form_of_names() {
    let folder = Folder::new();
    succeed(&["import", "traces/rows.kernelslist.g", "--split", "-o", &folder.at("parts")]);
    let set = folder.at("parts/trace.set.json");
    let replay = |index: u64, options: &[&str]| {
        let (shard, to) =
            (format!("{index}/11"), folder.at(&format!("{index}{}", options.concat())));
        let arguments = ["replay", &set, "--shard", &shard, "--format", "json", "-o", &to];
        succeed(&[&arguments[..], options].concat());
        to
    };
    for index in 0..10 {
        let (one, other) = (replay(index, &["--no-demangle"]), replay(index + 1, &[]));
        let ran = warpload(&["merge", "--partial", &one, &other]);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{index}");
        assert!(ran.stderr.contains("or of another replay of it"), "{}", ran.stderr);
        let one = replay(index, &[]);
        succeed(&["merge", "--partial", &one, &other]);
    }
}

#[test]
fn parts_that_are_not_those_of_the_set() {
    let folder = Folder::new();
    for (i, seed) in [(0, 60), (1, 61), (2, 62)] {
        fs::write(folder.at(&format!("{i}.wlt")), write(&random_items(seed, 100))).unwrap();
    }
    let [a, b] = ["0.wlt", "1.wlt"].map(|name| folder.at(name));
    let set = folder.at("set.json");
    succeed(&["set", &a, &b, "-o", &set]);
    let whole = folder.read("1.wlt");
    let part = |bytes: &[u8], end: &str| {
        fs::write(&b, bytes).unwrap();
        for command in ["replay", "info"] {
            refuse(&[command, &set], &format!("set.json: {b}: {end}"));
        }
    };
    part(b"", "not a binary trace; expected it to begin with \"WARPLOAD\"");
    let size = whole.len() - 9;
    let at = u64::from_le_bytes(whole[16..24].try_into().unwrap());
    let length = whole.len() as u64 - at;
    part(
        &whole[..size],
        &format!(
            "cut off: the file has {size} bytes; its footer has {length} bytes from byte offset {at} on"
        ),
    );
    let other = folder.read("2.wlt");
    fs::write(&b, other).unwrap();
    let ran = warpload(&["replay", &set]);
    let expected = format!("{b}: not the part that the trace set names: its content hash is ");
    assert!(ran.status == 2 && ran.stderr.contains(&expected), "{}", ran.stderr);
    let mut damaged = whole.clone();
    damaged[70] ^= 1;
    fs::write(&b, damaged).unwrap();
    let place = "damaged: the block at byte offset 52 does not match its checksum";
    refuse(&["replay", &set], &format!("set.json: {b}: {place}"));
    fs::remove_file(&b).unwrap();
    fs::create_dir(&b).unwrap();
    let text = "cannot be read: not a regular file; expected a binary trace";
    refuse(&["replay", &set], &format!("set.json: {b}: {text}"));
    fs::remove_dir(&b).unwrap();
    let missing = "cannot be read: No such file or directory (os error 2)";
    refuse(&["replay", &set], &format!("set.json: {b}: {missing}"));
    // The same bytes elsewhere are the part.
    fs::write(&b, whole).unwrap();
    succeed(&["info", &set]);
}

#[test]
fn what_is_no_list_or_no_part_is_refused() {
    let folder = Folder::new();
    let (out, trace) = (folder.at("out"), "tests/data/cmd/kernel-1.traceg");
    let wlt = folder.at("a.wlt");
    succeed(&["import", trace, "-o", &wlt]);
    let expected =
        "kernel-1.traceg: a trace; expected a list of traces, as a kernelslist.g of Accel-Sim";
    refuse(&["import", trace, "--split", "-o", &out], expected);
    refuse(&["import", trace, "--only", "0", "-o", &out], expected);
    refuse(&["import", &wlt, "--split", "-o", &out], "a.wlt: is a binary trace already");
    let list = "tests/data/cmd/kernelslist.g";
    let ran = warpload(&["import", list, "--only", "2", "-o", &out]);
    assert_eq!((ran.status, &*ran.stdout), (1, ""));
    assert!(
        ran.stderr.ends_with("kernelslist.g: no trace 2; the list names 2, from 0\n"),
        "{}",
        ran.stderr
    );
    refuse(&["import", list, "--split", "-o", "-"], "expected a folder, not `-`");
    refuse(&["import", list, "--split", "-o", &wlt], "File exists (os error 17)");
    fs::write(folder.at("memory.g"), "MemcpyHtoD,0x1000,4\n").unwrap();
    refuse(
        &["import", &folder.at("memory.g"), "--split", "-o", &out],
        "memory.g: names no trace; expected at least one",
    );
    assert_eq!(warpload(&["import", list, "--split", "--only", "0", "-o", &out]).status, 2);

    let set = folder.at("set.json");
    succeed(&["set", &wlt, "-o", &set]);
    refuse(&["import", &set, "-o", &out], "set.json: is a trace set already");
    refuse(&["set", &set, "-o", &out], "set.json: is a trace set; expected a binary trace");
    refuse(&["set", trace, "-o", &out], "not a binary trace; `warpload import` makes one");
    refuse(&["set", &wlt, "-o", &wlt], "is one of the inputs; expected another file to write");
    refuse(&["set", &wlt, "-o", "-"], "expected a file, not `-`");
    refuse(&["set", "--list", trace, "-o", &out], expected);
    assert_eq!(warpload(&["set", "--list", list, &wlt, "-o", &out]).status, 2);
    assert_eq!(warpload(&["set", "-o", &out]).status, 2);
    refuse(
        &["set", &wlt, "-o", &folder.at("no/set.json")],
        "no/set.json: cannot be written: No such file or directory (os error 2)",
    );
    fs::write(&set, "{\"set\": {\"version\": 1}}").unwrap();
    refuse(&["info", &set], "not a valid trace set: line 1, column 22: set: missing key `records`");
    fs::write(&set, " {\n \"set\": {\"version\": 9}}").unwrap();
    refuse(&["replay", &set], "not a valid trace set: version 9; expected version 1");
    // Cut off, and compressed.
    let cut = ["not a valid trace set: line 1, column ", ": the text ends while reading "];
    for start in ["{\"s", "{\"set", "{ \"set\"", "{\"set\":", "{\"set\":{\"version\":1"] {
        fs::write(&set, start).unwrap();
        for command in ["info", "replay"] {
            let ran = warpload(&[command, &set]);
            let is_cut = cut.iter().all(|part| ran.stderr.contains(part));
            assert!(ran.status == 2 && is_cut, "{start}: {}", ran.stderr);
        }
    }
    let gz = folder.at("set.json.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"{\"set\":{\"version\":1}}").unwrap();
    fs::write(&gz, encoder.finish().unwrap()).unwrap();
    let inside = "not a trace set of warpload inside a gzip file; decompress it with `gzip -d`";
    refuse(&["replay", &gz], inside);
    refuse(&["plan", &gz], inside);
    assert_eq!(folder.names("."), ["a.wlt", "memory.g", "set.json", "set.json.gz"]);
}

/// An error in one of the traces is that of the import of all, and there is no set.
#[test]
fn the_first_error_of_a_list_is_reported() {
    let folder = Folder::new();
    let good = fs::read(file("tests/data/cmd/kernel-1.traceg")).unwrap();
    fs::write(folder.at("good.traceg"), good).unwrap();
    fs::write(folder.at("bad.traceg"), "-kernel name = k\nwhat\n").unwrap();
    let list = folder.at("kernelslist.g");
    for names in ["good bad missing good", "good missing bad", "good kernelslist.g"] {
        let line = |name: &str| match name {
            "kernelslist.g" => format!("{name}\n"),
            name => format!("{name}.traceg\n"),
        };
        fs::write(&list, names.split(' ').map(line).collect::<String>()).unwrap();
        let Ran { stderr: expected, .. } = warpload(&["import", &list, "-o", &folder.at("out")]);
        for threads in ["1", "2"] {
            let split = ["import", &list, "--split", "-o", &folder.at("p"), "--threads", threads];
            let ran = warpload(&split);
            assert_eq!((ran.status, &*ran.stdout, &ran.stderr), (2, "", &expected));
            assert!(!Path::new(&folder.at("p/trace.set.json")).exists());
        }
        let number = (names.split(' ').position(|name| name != "good")).unwrap().to_string();
        let only = ["import", &list, "--only", &number, "-o", &folder.at("out")];
        assert_eq!(warpload(&only).stderr, expected);
    }
}

/// A set is there only with its own parts, whatever happened after the first of them changed.
#[test]
fn a_set_from_before_does_not_stay_beside_other_parts() {
    let folder = Folder::new();
    for name in ["kernel-1.traceg", "kernel-2.traceg", "kernelslist.g"] {
        fs::copy(file(&format!("tests/data/cmd/{name}")), folder.at(name)).unwrap();
    }
    let (list, parts) = (folder.at("kernelslist.g"), folder.at("p"));
    let split = ["import", &list, "--split", "-o", &parts, "--threads", "1"];
    succeed(&split);
    let before = succeed(&["replay", &folder.at("p/trace.set.json")]);
    let bad = |name: &str| fs::write(folder.at(name), "-kernel name = k\nwhat\n").unwrap();
    // No part has changed yet.
    bad("kernel-1.traceg");
    assert_eq!(warpload(&split).status, 2);
    assert_eq!(succeed(&["replay", &folder.at("p/trace.set.json")]), before);
    fs::copy(file("tests/data/cmd/kernel-2.traceg"), folder.at("kernel-1.traceg")).unwrap();
    bad("kernel-2.traceg");
    assert_eq!(warpload(&split).status, 2);
    assert_eq!(folder.names("p"), ["part-0000.wlt", "part-0001.wlt"]);
}

/// Names are relative to the file of the set, or to the working folder if it comes from a pipe.
#[test]
fn a_set_on_standard_input() {
    let folder = Folder::new();
    let list = file("tests/data/cmd/kernelslist.g");
    succeed(&["import", list.to_str().unwrap(), "--split", "-o", &folder.at("p")]);
    let expected = succeed(&["replay", &folder.at("p/trace.set.json")]);
    let mut from_pipe = command(&["replay", "-"]);
    from_pipe.current_dir(folder.at("p"));
    let ran = piped(&mut from_pipe, &folder.read("p/trace.set.json"), 5);
    assert_eq!((ran.status, ran.stdout), (0, expected.clone()), "{}", ran.stderr);
    // Links lead to the same parts.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.at("p"), folder.at("link")).unwrap();
        let (part, set) = (folder.at("link/part-0000.wlt"), folder.at("p/one.json"));
        succeed(&["set", &part, "-o", &set]);
        let text = fs::read_to_string(&set).unwrap();
        assert!(text.contains("{\"file\":\"part-0000.wlt\","), "{text}");
        // Nor does a link to the set say where it is.
        fs::create_dir(folder.at("p/sub")).unwrap();
        std::os::unix::fs::symlink("sub/real.json", folder.at("p/link.json")).unwrap();
        succeed(&["set", &part, "-o", &folder.at("p/link.json")]);
        let real = fs::read_to_string(folder.at("p/sub/real.json")).unwrap();
        assert!(real.contains("{\"file\":\"../part-0000.wlt\","), "{real}");
        succeed(&["replay", &folder.at("p/sub/real.json")]);
        assert_eq!(succeed(&["replay", &folder.at("link/trace.set.json")]), expected);
    }
}

/// More parts than a process can have open files.
#[cfg(target_os = "linux")]
#[test]
fn parts_are_not_kept_open() {
    let folder = Folder::new();
    let part: PathBuf = folder.at("a.wlt").into();
    fs::write(&part, write(&random_items(63, 5))).unwrap();
    let mut parts = Vec::new();
    for i in 0..60 {
        let name = folder.at(&format!("{i}.wlt"));
        fs::hard_link(&part, &name).unwrap();
        parts.push(name);
    }
    let warpload = env!("CARGO_BIN_EXE_warpload");
    let (parts, set) = (parts.join(" "), folder.at("set.json"));
    let script = format!(
        "ulimit -n 24 && {warpload} set {parts} -o {set} && {warpload} replay {set} --threads 1"
    );
    let ran = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// More parts than a process can map.
#[cfg(target_os = "linux")]
#[ignore = "writes a set of more than 65,000 parts: `cargo xtask nightly`"]
#[test]
fn small_parts_are_not_mapped() {
    let folder = Folder::new();
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    let count = limit.trim().parse::<usize>().unwrap() + 100;
    // Where the system allows many, another test would be needed.
    if count > 70_000 {
        return;
    }
    fs::write(folder.at("a.wlt"), write(&random_items(64, 2))).unwrap();
    let set = folder.at("set.json");
    let mut arguments = vec!["set"];
    arguments.extend(std::iter::repeat_n("a.wlt", count));
    let mut put_together = command(&[&arguments[..], &["-o", "set.json"]].concat());
    put_together.current_dir(folder.0.path());
    assert!(put_together.status().unwrap().success());
    let text = succeed(&["info", &set]);
    assert!(text.starts_with(&format!("trace set of {count} parts by ")), "{text}");
}
