//! `decode`, `ptx check` and `replay --cubin` on files that hold GPU code.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use crate::common::{Ran, piped, succeeded, warpload};
use serde_json::{Value, json};

const FATBINS: &str = "tests/data/fatbins";

fn run(arguments: &[&str]) -> Ran {
    warpload().args(arguments).output().unwrap().into()
}

fn sample(name: &str) -> String {
    format!("{FATBINS}/{name}")
}

fn json_lines(arguments: &[&str]) -> Vec<Value> {
    let output = succeeded(warpload().args(arguments).args(["--format", "json"]));
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A file with an SM 5.0 kernel in a fatbin, and its cubin.
fn fatbin_of(cubins: &[&str]) -> Vec<u8> {
    let mut entries = Vec::new();
    for cubin in cubins {
        let mut bytes = fs::read(crate::common::file(cubin)).unwrap();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let mut header = [0; 64];
        header[..8].copy_from_slice(&[2, 0, 1, 1, 64, 0, 0, 0]);
        header[8..16].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[28] = if cubin.contains("sm_61") { 61 } else { 50 };
        entries.extend(header);
        entries.extend(bytes);
    }
    let size = (entries.len() as u64).to_le_bytes();
    [b"\x50\xed\x55\xba\x01\0\x10\0", &size[..], &entries].concat()
}

#[test]
fn the_list_has_every_image() {
    let file = sample("debug.fatbin");
    assert_eq!(
        json_lines(&["images", &file]),
        [
            json!({
                "file": file, "image": 1, "container": "0x0", "entry": "0x10", "member": null,
                "kind": "cubin", "sm": "61", "bytes": 2536, "compression": "zstd",
                "name": "a name.cu", "options": null, "functions": 1, "loads": 8
            }),
            json!({
                "file": file, "image": 2, "container": "0x0", "entry": "0x398", "member": null,
                "kind": "ptx", "sm": "75", "bytes": 908, "compression": "zstd",
                "name": "a name.cu", "options": "-lineinfo -maxrregcount 32",
                "functions": null, "loads": null
            }),
        ]
    );
    let archive = json_lines(&["images", &sample("lib.a")]);
    let members: Vec<&Value> = archive.iter().map(|image| &image["member"]).collect();
    assert_eq!(members[3..5], ["host.o", "unit.o"]);
    assert!(archive.iter().all(|image| image["section"] == ".nv_fatbin"));
}

/// What is extracted of each sample is what cuobjdump extracts, and no file is replaced.
#[test]
fn images_are_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("new/folder");
    let to_text = to.to_str().unwrap();
    let ran = run(&["images", "--extract", to_text, &sample("program"), &sample("size.fatbin")]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert_eq!(ran.stdout.lines().count(), 9);
    let mut sizes: Vec<(String, u64)> = fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    sizes.sort();
    let expected = [
        ("program.1.sm_50.cubin", 2536),
        ("program.2.sm_75.cubin", 3368),
        ("program.3.sm_100.cubin", 5690),
        ("program.4.sm_75.ptx", 908),
        ("size.1.sm_50.cubin", 2536),
        ("size.2.sm_61.cubin", 2536),
        ("size.3.sm_80.cubin", 3496),
        ("size.4.sm_120.cubin", 5790),
        ("size.5.sm_75.ptx", 908),
    ];
    assert_eq!(sizes, expected.map(|(name, size)| (name.to_owned(), size)));

    let one = ["images", "--sm", "50", "--extract", to_text, "tests/data/fatbins/program"];
    let cubin = to.join("program.1.sm_50.cubin");
    fs::write(&cubin, "mine").unwrap();
    let ran = run(&one);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("exists; use `--force` to replace it"), "{}", ran.stderr);
    assert_eq!(fs::read(&cubin).unwrap(), b"mine");
    assert_eq!(run(&[&one[..], &["--force"]].concat()).status, 0);
    assert_eq!(fs::metadata(&cubin).unwrap().len(), 2536);
    assert!(run(&["decode", cubin.to_str().unwrap()]).stdout.contains("LDG.E R0"));
}

/// What is written for one input is not replaced by that of another, whatever exists may be replaced.
#[test]
fn inputs_of_one_name_are_not_extracted_over_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for (part, name, from) in
        [("a", "lib.so", "lib.so"), ("b", "lib.so", "size.fatbin"), ("b", "LIB.a", "lib.a")]
    {
        fs::create_dir_all(folder.path().join(part)).unwrap();
        fs::copy(crate::common::file(&sample(from)), folder.path().join(part).join(name)).unwrap();
    }
    let extract = |force: &[&str]| -> Ran {
        let mut command = warpload();
        command.current_dir(&folder).args(["images", "--extract", "out", "a/lib.so", "b/lib.so"]);
        command.arg("b/LIB.a").args(force).output().unwrap().into()
    };
    for force in [&[][..], &["--force"], &["--force"]] {
        let ran = extract(force);
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
        for refused in ["b/lib.so", "b/LIB.a"] {
            let expected =
                format!("{refused}: its images have the same names as those of a/lib.so");
            assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        }
        let cubin = folder.path().join("out/lib.2.sm_75.cubin");
        assert_eq!(fs::metadata(cubin).unwrap().len(), 3368);
        assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 4);
    }
}

/// An image does not replace an input that is named after it, or that is standard input.
#[test]
fn images_are_not_extracted_over_later_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &str, to: &str| {
        fs::copy(crate::common::file(&sample(from)), folder.path().join(to)).unwrap();
    };
    copy("lib.so", "L.so");
    let whole = fs::read(crate::common::file(&sample("lib.a"))).unwrap();
    let later = folder.path().join("L.2.sm_75.cubin");
    for input in ["L.2.sm_75.cubin", "-"] {
        copy("lib.a", "L.2.sm_75.cubin");
        let mut command = warpload();
        command.current_dir(&folder).stdin(fs::File::open(&later).unwrap());
        let arguments = ["images", "--extract", ".", "--force", "L.so", input];
        let ran: Ran = command.args(arguments).output().unwrap().into();
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("is one of the inputs"), "{}", ran.stderr);
        assert!(fs::read(&later).unwrap() == whole, "{input}");
    }
}

/// Every way to read an archive says that its end is missing.
#[test]
fn archives_that_are_cut_off_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.a");
    let whole = fs::read(crate::common::file(&sample("lib.a"))).unwrap();
    fs::write(&file, &whole[..13_000]).unwrap();
    let file = file.to_str().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    for arguments in [
        &["decode", file][..],
        &["images", file],
        &["images", "--sm", "50", file],
        &["stats", file],
        &["images", "--extract", out, file],
        &["ptx", "check", file],
    ] {
        let ran = run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {}", ran.stderr);
        let said = ran.stdout + &ran.stderr;
        assert!(said.contains("byte offset 0x8e: an archive member of 13960 bytes"), "{said}");
    }
    assert_eq!(fs::read_dir(out).unwrap().count(), 4);
}

/// LTO-IR that cannot be read is no error, beside code that can or alone.
#[test]
fn obfuscated_images_are_noted() {
    let obfuscated = fs::read(crate::common::file(&sample("obfuscated-ltoir.fatbin"))).unwrap();
    let plain = fs::read(crate::common::file(&sample("plain.fatbin"))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("library");
    fs::write(&file, [&obfuscated[..], &plain].concat()).unwrap();
    let file = file.to_str().unwrap();
    let list = run(&["images", file]);
    assert_eq!(list.status, 0);
    assert!(
        list.stderr.contains("note: ") && list.stderr.contains("1 obfuscated image cannot be read")
    );
    assert_eq!(list.stdout.lines().filter(|line| line.ends_with("  obfuscated")).count(), 1);
    let listed = json_lines(&["images", file]);
    assert_eq!((&listed[0]["obfuscated"], &listed[0]["kind"]), (&json!(true), &json!(8)));
    assert!(listed.iter().all(|image| image["error"].is_null()));
    let loads = |file: &str| json_lines(&["decode", file]).len();
    assert_eq!(loads(file), loads(&sample("plain.fatbin")));
    let ran = run(&["decode", file]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
}

/// Relocatable code and the program that it was linked into: each function counts once.
#[test]
fn linked_code_is_a_copy_of_relocatable_code() {
    let file = sample("linked.fatbin");
    let functions = json_lines(&["stats", &file]);
    let key = |function: &Value, key: &str| function[key].clone();
    let found: Vec<_> = functions
        .iter()
        .map(|f| (key(f, "image"), key(f, "function"), key(f, "copy_of"), key(f, "loads")))
        .collect();
    let expected = [
        (1, "helper", Value::Null, 2),
        (1, "k", Value::Null, 4),
        (2, "other", Value::Null, 2),
        (3, "helper", json!(1), 2),
        (3, "k", json!(1), 4),
        (3, "other", json!(2), 2),
    ];
    let json = |(image, name, copy, loads)| (json!(image), json!(name), copy, json!(loads));
    assert_eq!(found, expected.map(json));
    let text = run(&["stats", &file]).stdout;
    let total = text.lines().last().unwrap();
    assert!(total.ends_with("total of 3 functions, 3 copies left out"), "{text}");
    assert_eq!(total.split_whitespace().next(), Some("8"), "{text}");
    // A single image has no copies, and its own total.
    let one = run(&["stats", "--image", "3", &file]);
    assert!(one.stdout.ends_with("total of 3 functions\n") && !one.stdout.contains("copy"));
}

#[test]
fn one_image_is_chosen() {
    let file = sample("lib.a");
    let numbers = |arguments: &[&str]| -> Vec<Value> {
        let arguments = [arguments, &[&file, "--image", "6"]].concat();
        json_lines(&arguments).iter().map(|line| line["image"].clone()).collect()
    };
    assert_eq!(numbers(&["images"]), [json!(6)]);
    for arguments in [&["decode"][..], &["stats"], &["decode", "--sm", "75"]] {
        let found = numbers(arguments);
        assert!(!found.is_empty() && found.iter().all(|number| *number == json!(6)), "{found:?}");
    }
    let whole = run(&["decode", "--all", "--image", "6", &file]);
    assert_eq!((whole.status, &*whole.stdout), (2, ""));
    assert!(whole.stderr.contains("image 6: --all: whole programs are decoded for SM 5.0 to 6.2"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let ran = run(&["images", "--extract", out.to_str().unwrap(), "--image", "6", &file]);
    assert_eq!((ran.status, ran.stdout.lines().count()), (0, 1));
    for arguments in [&["decode"][..], &["images"], &["images", "--extract", "never"]] {
        let ran = run(&[arguments, &["--image", "9", &file]].concat());
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.ends_with("lib.a: no image 9; the last one is 8\n"), "{}", ran.stderr);
    }
    let text = run(&["decode", "--image", "1", "tests/data/listings/gather.sm_61.nvdisasm.txt"]);
    assert_eq!(text.status, 2);
}

/// A cubin in a container has the loads that it has alone.
#[test]
fn cubins_in_containers_decode_alike() {
    let (gather, rows) = ("traces/gather.sm_50.cubin", "tests/data/source-lines/rows.sm_61.cubin");
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library");
    fs::write(&library, [&[7, 0, 9][..], &fatbin_of(&[gather, rows])].concat()).unwrap();
    let library = library.to_str().unwrap();
    let mut loads = json_lines(&["decode", library]);
    let mut expected = json_lines(&["decode", gather]);
    let of_gather = expected.len();
    expected.extend(json_lines(&["decode", rows]));
    for (i, load) in loads.iter_mut().enumerate() {
        let load = load.as_object_mut().unwrap();
        let image = load.remove("image").unwrap();
        let expected = if i < of_gather { (1, "50") } else { (2, "61") };
        assert_eq!((image, &load["sm"]), (json!(expected.0), &json!(expected.1)));
        load["file"] = if i < of_gather { json!(gather) } else { json!(rows) };
    }
    assert_eq!(loads, expected);

    let text = run(&["decode", library]).stdout;
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("image")).collect();
    assert_eq!(headings, ["image 1, SM 50:", "image 2, SM 61:"]);
    let chosen = run(&["decode", "--sm", "61", library]);
    assert!(!chosen.stdout.contains("image 1") && chosen.stdout.contains("image 2"));
    let none = run(&["decode", "--sm", "90a", library]);
    assert_eq!((none.status, &*none.stdout), (2, ""));
    assert!(none.stderr.contains("no image for SM 90a; SMs in the file: 50, 61"));
    for option in ["--format=text", "--extract=never"] {
        assert_eq!(run(&["images", "--sm", "90", option, library]).status, 2);
    }
    // Standard input is read whole.
    let bytes = fs::read(library).unwrap();
    let ran = piped(warpload().args(["decode", "-"]), &bytes, 1000);
    assert_eq!((ran.status, ran.stdout), (0, text));
}

/// Only the suffix differs.
#[test]
fn the_suffix_of_an_sm_counts() {
    let list = |sm| json_lines(&["images", "--sm", sm, &sample("concat-named.fatbin")]);
    assert_eq!(list("90a").len(), 2);
    assert_eq!(list("120a").len(), 1);
    for sm in ["90", "120"] {
        let ran = run(&["images", "--sm", sm, &sample("concat-named.fatbin")]);
        assert_eq!(ran.status, 2, "{sm}");
    }
}

#[test]
fn damage_is_said_and_hides_nothing() {
    let gather = "traces/gather.sm_50.cubin";
    let mut bytes = fatbin_of(&[gather, gather, gather]);
    let entry = (bytes.len() - 16) / 3;
    // The size of the second entry.
    bytes[16 + entry + 15] = 0x80;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("damaged");
    fs::write(&file, &bytes).unwrap();
    let file = file.to_str().unwrap();
    let ran = run(&["decode", file]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("damaged: image 2: byte offset 0x"), "{}", ran.stderr);
    let loads = json_lines(&["decode", gather]).len();
    assert_eq!(ran.stdout.lines().count(), 2 * (loads + 1));
    let list = run(&["images", "--format", "json", file]);
    assert_eq!(list.status, 2);
    let lines: Vec<Value> =
        list.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1]["error"].as_str().unwrap().contains("9223372036854"), "{}", lines[1]);
    assert_eq!((&lines[1]["kind"], &lines[2]["kind"]), (&Value::Null, &json!("cubin")));
}

#[test]
fn modules_in_containers_are_checked() {
    let archive = sample("lib.a");
    let checked = json_lines(&["ptx", "check", &archive]);
    let files: Vec<&Value> = checked.iter().map(|module| &module["file"]).collect();
    assert_eq!(files, [&format!("{archive}#4"), &format!("{archive}#8")]);
    assert!(checked.iter().all(|module| module["accept"] == true));
    let lowered = run(&["ptx", "lower", &sample("ptx-only.fatbin")]);
    assert_eq!(lowered.status, 0);
    assert!(
        lowered.stderr.contains("ptx-only.fatbin#1: the target is sm_75, but "),
        "{}",
        lowered.stderr
    );
    let ran = run(&["ptx", "check", &sample("kernel.cubin")]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("a cubin, not PTX: `warpload decode` reads it"), "{}", ran.stderr);
    let ran = run(&["decode", &sample("ptx-only.fatbin")]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`warpload ptx check`"), "{}", ran.stderr);
}

/// A replay takes the cubins of a container as it takes them alone.
#[test]
fn replays_take_containers() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library.so");
    let cubins = ["traces/rows.sm_50.cubin", "tests/data/listings/chase.sm_50.cubin"];
    fs::write(&library, [&[1, 0, 3][..], &fatbin_of(&cubins)].concat()).unwrap();
    let replay = |cubin: &Path| {
        let mut command = warpload();
        command.args(["replay", "traces/rows.kernelslist.g", "--cubin"]).arg(cubin);
        Ran::from(command.output().unwrap())
    };
    assert_eq!(replay(&library), replay(Path::new(cubins[0])));
    let none = replay(&crate::common::file(&sample("ptx-only.fatbin")));
    assert_eq!(none.status, 2);
}
