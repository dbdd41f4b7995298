//! Shards of a trace, and merging their summaries.

use std::fs;

use crate::trace::command::warpload;

fn succeed(arguments: &[&str]) -> String {
    let ran = warpload(arguments);
    assert_eq!(ran.status, 0, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

const OPTIONS: [&str; 5] =
    ["--image", "traces/generic.image.json", "--opcode", "LD*.E*", "--no-demangle"];

/// Their folder has a quote and a `$` in its name, because scripts pass such names on.
#[test]
fn shards_merge_to_the_whole_replay() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let folder = folder.path().join("it's a $(folder)");
        fs::create_dir_all(&folder).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let trace = "traces/generic.wlt";
    let mut files = Vec::new();
    for index in 0..7 {
        let (shard, to) = (format!("{index}/7"), at(&format!("{index}.json")));
        let arguments = ["replay", trace, "--shard", &shard, "--format", "json", "-o", &to];
        assert_eq!(succeed(&[&arguments[..], &OPTIONS].concat()), format!("{to} written\n"));
        files.push(to);
    }
    let files: Vec<&str> = files.iter().map(|file| &**file).collect();
    let whole = succeed(&[&["replay", trace, "--format", "json"], &OPTIONS[..]].concat());
    let merge = |files: &[&str]| warpload(&[&["merge", "--format", "json"], files].concat());
    let ran = merge(&files);
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, &*whole, ""));
    // Without two of them, and with one twice.
    let ran = merge(&[files[0], files[6], files[2], files[3], files[4]]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert!(ran.stderr.contains("shards 1, 5 of 7 are missing"), "{}", ran.stderr);
    let ran = merge(&[&files[..], &files[1..2]].concat());
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    // A summary that was cut off, and one that was changed so that no sum contradicts it.
    let good = fs::read_to_string(files[2]).unwrap();
    for (damaged, expected) in [
        (good[..good.len() / 2].to_owned(), "the text ends"),
        (
            good.replacen("\"launches\":", "\"launches\":1", 1),
            "it has changed since it was written",
        ),
    ] {
        fs::write(files[2], damaged).unwrap();
        let ran = merge(&files);
        assert_eq!((ran.status, &*ran.stdout), (2, ""));
        assert!(ran.stderr.contains(files[2]) && ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

/// Shards that show names otherwise do not merge, also if they have no kernel in common.
#[test]
fn shards_have_one_form_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let replay = |index: u64, options: &[&str]| {
        let to = folder.path().join(format!("{index}{}", options.concat()));
        let (shard, to) = (format!("{index}/11"), to.to_str().unwrap().to_owned());
        let trace = "traces/rows.kernelslist.g";
        let arguments = ["replay", trace, "--shard", &shard, "--format", "json", "-o", &to];
        succeed(&[&arguments[..], options].concat());
        to
    };
    let shown: Vec<String> = (0..11).map(|index| replay(index, &[])).collect();
    for index in 0..11 {
        let plain = replay(index, &["--no-demangle"]);
        let mut mixed: Vec<&str> = shown.iter().map(|path| &**path).collect();
        mixed[index as usize] = &plain;
        let ran = warpload(&[&["merge"], &mixed[..]].concat());
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{index}");
        assert!(ran.stderr.contains("of another replay"), "{}", ran.stderr);
    }
    let shown: Vec<&str> = shown.iter().map(|path| &**path).collect();
    succeed(&[&["merge"], &shown[..]].concat());
}
