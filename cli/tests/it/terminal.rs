//! No subcommand sends a terminal anything but text, whatever its inputs hold.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// What terminals act on: of C0, DEL, C1, and marks of directions and lines. No line breaks, so that it
/// stays where it is put.
const EVIL: &str =
    "\u{1b}[31m\u{1b}]0;t\u{7}\u{8}\u{7f}\u{9b}2J\u{61c}\u{200e}\u{202e}\u{2028}\u{2066}";
/// The same in a string of JSON.
const ESCAPED: &str = r"\u001b[31m\u001b]0;t\u0007\b\u007f\u009b2J\u061c\u200e\u202e\u2028\u2066";

/// What a call reads.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Vectors,
    Tensor,
    Trace,
    Image,
    Summary,
    Ptx,
    /// A line, on the command line or from standard input.
    Line,
}

/// How each subcommand is called: `FILE` is an input, `LINE` a line of it, `OUT` the name of a file that is
/// not there. The input is standard input too. A call reads most of the inputs of its kind.
const CALLS: &[(Kind, &[&str])] = &[
    (Kind::Code, &["decode", "FILE"]),
    (Kind::Code, &["decode", "FILE", "FILE", "--all"]),
    (Kind::Code, &["decode", "FILE", "--all", "--sm", "80", "--control", "nvidia"]),
    (Kind::Code, &["decode", "FILE", "--all", "--format", "json"]),
    (Kind::Code, &["decode", "FILE", "--all", "--control", "maxas"]),
    (Kind::Code, &["encode", "--listing", "FILE"]),
    (Kind::Code, &["encode", "--listing", "FILE", "--format", "json", "--function", "LINE"]),
    (Kind::Code, &["encode", "--listing", "FILE", "-o", "OUT"]),
    (Kind::Code, &["encode", "--patch", "FILE", "--at", "f+0x8", "-o", "OUT", "--", "LINE"]),
    (Kind::Code, &["encode", "--patch", "FILE", "--at", "LINE", "-o", "OUT", "NOP"]),
    (Kind::Code, &["decode", "FILE", "--check"]),
    (Kind::Code, &["decode", "FILE", "--check", "--format", "json"]),
    (Kind::Code, &["stats", "FILE"]),
    (Kind::Code, &["stats", "FILE", "--format", "json"]),
    (Kind::Code, &["images", "FILE"]),
    (Kind::Code, &["images", "FILE", "--format", "json"]),
    (Kind::Code, &["images", "FILE", "--extract", "OUT"]),
    (Kind::Code, &["decode", "FILE", "--function", "LINE"]),
    (Kind::Code, &["decode", "--raw", "--sm", "80", "FILE"]),
    (Kind::Line, &["decode", "--word", "-"]),
    (Kind::Line, &["decode", "--word", "LINE", "--format", "json"]),
    (Kind::Line, &["decode", "--all", "--word", "-"]),
    (Kind::Line, &["decode", "--all", "--word", "LINE", "--sm", "61", "--format", "json"]),
    (Kind::Line, &["encode", "--sm", "61", "LINE"]),
    (Kind::Line, &["explain", "--sm", "61", "LINE"]),
    (Kind::Line, &["encode", "--sm", "80", "LINE"]),
    (Kind::Line, &["encode", "--sm", "50", "-", "--format", "json"]),
    (Kind::Line, &["explain", "LINE"]),
    (Kind::Line, &["explain", "--sm", "80", "LINE", "--format", "json"]),
    (Kind::Vectors, &["conform", "FILE"]),
    (Kind::Vectors, &["conform", "FILE", "--format", "json"]),
    (Kind::Vectors, &["vectors", "fill-in", "FILE", "-o", "OUT"]),
    (Kind::Line, &["vectors", "generate", "--count", "1", "--instruction", "LINE"]),
    (Kind::Line, &["vectors", "flags"]),
    (Kind::Vectors, &["conform", "--command", "LINE", "FILE"]),
    (Kind::Vectors, &["conform", "--serve"]),
    (Kind::Vectors, &["run", "FILE"]),
    (Kind::Vectors, &["run", "FILE", "--all"]),
    (Kind::Vectors, &["run", "FILE", "--all", "--format", "json"]),
    (Kind::Trace, &["import", "FILE", "-o", "OUT"]),
    (Kind::Trace, &["export", "FILE", "-o", "-"]),
    (Kind::Trace, &["show", "FILE"]),
    (Kind::Trace, &["show", "FILE", "--format", "json"]),
    (Kind::Trace, &["replay", "FILE"]),
    (Kind::Trace, &["replay", "FILE", "--format", "csv"]),
    (Kind::Trace, &["replay", "FILE", "--fill", "address", "--format", "json"]),
    (Kind::Trace, &["replay", "FILE", "--cubin", "FILE"]),
    (Kind::Code, &["replay", "traces/rows-kernel-1.traceg", "--cubin", "FILE", "--kernel", "LINE"]),
    (Kind::Image, &["replay", "traces/rows-kernel-1.traceg", "--image", "FILE"]),
    (Kind::Summary, &["merge", "FILE"]),
    (Kind::Summary, &["compare", "FILE", "FILE"]),
    (Kind::Summary, &["compare", "FILE", "FILE", "--format", "json"]),
    (Kind::Ptx, &["ptx", "check", "FILE"]),
    (Kind::Ptx, &["ptx", "check", "FILE", "--format", "json"]),
    (Kind::Ptx, &["ptx", "lower", "FILE"]),
    (Kind::Ptx, &["ptx", "lower", "FILE", "--format", "json"]),
    (Kind::Ptx, &["ptx", "run", "FILE"]),
    (Kind::Ptx, &["ptx", "loads", "FILE"]),
    (Kind::Ptx, &["ptx", "loads", "FILE", "--format", "json"]),
    (Kind::Tensor, &["conform", "FILE"]),
    (Kind::Image, &["tmem", "run", "--warp", "0", "--taddr", "0", "--memory", "FILE", "LINE"]),
    (Kind::Line, &["tmem", "map", "LINE"]),
    (Kind::Line, &["access", "LINE"]),
    (Kind::Line, &["completions", "LINE"]),
    (Kind::Line, &["completions", "zsh"]),
    (Kind::Line, &["man", "LINE"]),
    (Kind::Line, &["man"]),
    (Kind::Line, &["help", "LINE"]),
];

/// Inputs of each kind, small ones.
const INPUTS: &[(Kind, &str)] = &[
    (Kind::Code, "tests/data/cmd/later.txt"),
    (Kind::Code, "tests/data/cmd/relocated.txt"),
    (Kind::Code, "tests/data/cmd/changed.cuobjdump.txt"),
    (Kind::Vectors, "tests/data/cmd/several.jsonl"),
    (Kind::Tensor, "tests/data/cmd/tmem-cases.jsonl"),
    (Kind::Trace, "tests/data/cmd/kernel-1.traceg"),
    (Kind::Trace, "tests/data/cmd/kernelslist.g"),
    (Kind::Summary, "tests/data/cmd/tile.json"),
    (Kind::Summary, "tests/data/cmd/shard-0.json"),
    (Kind::Trace, "tests/data/cmd/example.wlt"),
    (Kind::Image, "tests/data/cmd/image-of-example.json"),
    (Kind::Code, "tests/data/fatbins/debug.fatbin"),
    (Kind::Code, "tests/data/fatbins/lib.a"),
    (Kind::Code, "tests/data/listings/chase.sm_50.cubin"),
    (Kind::Ptx, "tests/data/ptx/legal.ptx"),
    (Kind::Trace, "traces/gather.jsonl"),
    (Kind::Trace, "tests/independent/handwritten-export.jsonl"),
    (Kind::Trace, "fuzz/seeds/accelsim_does_not_panic/evil.traceg"),
    (Kind::Trace, "fuzz/seeds/page_is_inert/00"),
];

fn is_raw(character: char) -> bool {
    let is_mark = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() && !matches!(character, '\n' | '\t')
        || character == '\u{61c}'
        || is_mark(character)
}

/// The mutants of an input: as it is, and with what terminals act on at places that differ.
fn mutants(bytes: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut mutants = vec![bytes.to_vec()];
    // The ends of words: names, values and keys.
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let ends: Vec<usize> =
        (1..bytes.len()).filter(|at| is_letter(at - 1) && !is_letter(*at)).collect();
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    for mutant in 0..count {
        // Few places, since the first one can be an error that hides the others.
        let places = (0..1 + mutant % 4).map(|i| (mutant * 7919 + i * 104_729) % ends.len().max(1));
        let mut places: Vec<usize> = places.filter_map(|place| ends.get(place).copied()).collect();
        places.sort_unstable();
        places.dedup();
        let inserted = if mutant % 2 == 0 { EVIL } else { ESCAPED }.as_bytes();
        let mut mutated = bytes.to_vec();
        for at in places.into_iter().rev() {
            if is_text {
                mutated.splice(at..at, inserted.iter().copied());
            } else {
                // Lengths stay. What is cut off is not UTF-8 any more, as in other files.
                let start = (0..at).rev().find(|at| !is_letter(*at)).map_or(0, |before| before + 1);
                let evil = EVIL.as_bytes().iter().cycle().skip(mutant % 8);
                mutated[start..at].iter_mut().zip(evil).for_each(|(byte, evil)| *byte = *evil);
            }
        }
        mutants.push(mutated);
    }
    mutants
}

/// The lines of an input that are given as arguments: the first and the longest, shortened.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace('\0', "");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let chosen = lines.clone().next().into_iter().chain(lines.max_by_key(|line| line.len()));
    let mut lines: Vec<String> = chosen.map(|line| line.chars().take(200).collect()).collect();
    lines.push(format!("LDG.E R0, [R2{EVIL}]"));
    lines
}

/// Makes the calls that are chosen by their kinds and places, with an input; returns how many calls there were.
fn walk(file: &Path, bytes: &[u8], is_chosen: impl Fn(Kind, usize) -> bool) -> usize {
    fs::write(file, bytes).unwrap();
    let lines = lines(bytes);
    let mut calls = 0;
    for (i, (_, arguments)) in
        CALLS.iter().enumerate().filter(|(i, (kind, _))| is_chosen(*kind, *i))
    {
        let line = &lines[i % lines.len()];
        let out = file.with_file_name(format!("out{EVIL}"));
        let argument = |argument: &&str| match *argument {
            "FILE" => file.into(),
            "LINE" => OsString::from(line),
            "OUT" => out.clone().into(),
            name if name.contains('/') => crate::common::file(name).into(),
            other => OsString::from(other),
        };
        let mut command = crate::common::warpload();
        command.args(arguments.iter().map(argument)).stdin(fs::File::open(file).unwrap());
        let answer = command.output().unwrap();
        calls += 1;
        let about = || format!("{} {arguments:?}: {bytes:?}", file.display());
        let text = |bytes| String::from_utf8(bytes).unwrap_or_else(|_| panic!("{}", about()));
        let (output, messages) = (text(answer.stdout), text(answer.stderr));
        for text in [&output, &messages] {
            assert!(!text.contains(is_raw), "{text:?}, {}", about());
        }
        if arguments.contains(&"json") || matches!(arguments[..], ["answer" | "export", ..]) {
            for line in output.lines().filter(|line| !line.ends_with(" written")) {
                assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}, {}", about());
            }
        }
        let _ = fs::remove_file(&out).or_else(|_| fs::remove_dir_all(&out));
    }
    calls
}

/// A folder of inputs. Names of files are inputs too, where they may be so.
fn inputs() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let name = if cfg!(unix) { format!("input{EVIL}") } else { "input".to_owned() };
    let file = folder.path().join(name);
    (folder, file)
}

/// One in so many calls gets an input of another kind. Most refuse it by how it begins.
const OTHERS: usize = 6;

#[test]
fn only_text_reaches_a_terminal() {
    let check = |i: usize, (kind, input): &(Kind, &str)| {
        let (_folder, file) = inputs();
        let bytes = fs::read(crate::common::file(input)).unwrap();
        // One as it would be in text, one as in JSON.
        let [one, other] = [1, 2].map(|from_end| {
            let mutants = mutants(&bytes, 2 + 2 * (i % 2));
            mutants[mutants.len() - from_end].clone()
        });
        let calls = walk(&file, &one, |reads, call| {
            reads == *kind
                || (reads, *kind) == (Kind::Line, Kind::Code)
                || (i + call).is_multiple_of(OTHERS)
        });
        calls + walk(&file, &other, |reads, _| reads == *kind)
    };
    assert!(on_all_cores(INPUTS, check) > 500);
}

/// Makes the calls of each item; returns how many calls there were.
fn on_all_cores<T: Sync>(items: &[T], check: impl Fn(usize, &T) -> usize + Sync) -> usize {
    let (next, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    calls.fetch_add(check(i, item), Ordering::Relaxed);
                }
            });
        }
    });
    calls.into_inner()
}

/// All seeds of the fuzz targets and all other inputs in the repository, each with one call in [`OTHERS`].
#[test]
#[ignore = "minutes: `cargo xtask nightly` runs it"]
fn only_text_of_all_seeds_reaches_a_terminal() {
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if fs::metadata(&path).unwrap().len() < 1 << 16 {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for folder in ["fuzz/seeds", "tests/data", "traces", "vectors/v1"] {
        files(&crate::common::file(folder), &mut found);
    }
    found.sort();
    let calls = on_all_cores(&found, |i, file| {
        let (_folder, input) = inputs();
        let mutants = mutants(&fs::read(file).unwrap(), 2);
        let calls = mutants
            .iter()
            .map(|mutant| walk(&input, mutant, |_, call| (i + call).is_multiple_of(OTHERS)));
        calls.sum()
    });
    assert!(calls > 15_000, "{calls} calls with {} inputs", found.len());
}

/// The streams of the process, on which a message can have colours.
#[test]
fn only_text_is_written_by_the_process() {
    let (_folder, file) = inputs();
    let bytes = fs::read(crate::common::file("tests/data/cmd/relocated.txt")).unwrap();
    fs::write(&file, &mutants(&bytes, 3)[3]).unwrap();
    let line = format!("LDG.E R0, [R2{EVIL}]");
    let mut seen = BTreeSet::new();
    for arguments in
        CALLS.iter().map(|(_, arguments)| arguments).filter(|arguments| seen.insert(arguments[0]))
    {
        let mut command = crate::common::warpload();
        // Also of what clap writes.
        command.env("CLICOLOR_FORCE", "1");
        for argument in *arguments {
            match *argument {
                "FILE" => command.arg(&file),
                "LINE" => command.arg(&line),
                "OUT" => command.arg(file.with_file_name(format!("out{EVIL}"))),
                other => command.arg(other),
            };
        }
        let ran = crate::common::piped(&mut command, line.as_bytes(), 1000);
        for stream in [&ran.stdout, &ran.stderr] {
            // Colours are wanted here; no other escape is theirs.
            let is_colour = |escape: &str| {
                let digits = escape.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
                escape.starts_with(|c: char| c.is_ascii_digit()) && digits.starts_with('m')
            };
            let mut parts = stream.split("\u{1b}[");
            let first = parts.next().unwrap_or_default();
            assert!(!first.contains(is_raw), "{arguments:?}: {stream:?}");
            for part in parts {
                assert!(is_colour(part) && !part.contains(is_raw), "{arguments:?}: {stream:?}");
                assert!(!part.starts_with("31m"), "{arguments:?}: {stream:?}");
            }
        }
    }
}

/// A subcommand that is not in the table would not be tested.
#[test]
fn the_table_has_every_subcommand() {
    fn subcommands(path: &[&str], found: &mut BTreeSet<String>) {
        let help = crate::common::succeeded(crate::common::warpload().args(path).arg("--help"));
        let listed = help.split_once("\nCommands:\n").map_or("", |(_, after)| after);
        let names = listed.lines().take_while(|line| !line.is_empty());
        let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
        if names.is_empty() {
            found.insert(path.join(" "));
        }
        for name in names.iter().filter(|name| **name != "help") {
            subcommands(&[path, &[*name]].concat(), found);
        }
    }
    let mut found = BTreeSet::new();
    subcommands(&[], &mut found);
    assert!(found.len() > 20, "{found:?}");
    for path in &found {
        let path: Vec<&str> = path.split(' ').collect();
        let is_called = CALLS.iter().any(|(_, arguments)| arguments.starts_with(&path));
        assert!(is_called, "{path:?} is not in the table");
    }
}
