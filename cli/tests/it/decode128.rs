//! `decode` of code with words of 128 bits: cubins, the listings that NVIDIA's tools make of them, bare
//! words and raw streams.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use crate::common::{Ran, file, piped, succeeded, warpload};
use serde_json::Value;
use warpload::encoding::{Decoded, Instruction, Sm};

const LISTINGS: &str = "tests/data/listings128";

/// The names of the cubins without `.cubin`: `sweep.sm80`.
fn cubins() -> Vec<String> {
    let names = fs::read_dir(file(LISTINGS)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".cubin")?.to_owned())).collect();
    names.sort();
    assert_eq!(names.len(), 20);
    names
}

fn unpacked(path: &Path) -> String {
    let compressed = fs::read(path).unwrap();
    let mut text = String::new();
    liblzma::read::XzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
    text
}

fn listing(name: &str, tool: &str) -> String {
    unpacked(&file(&format!("{LISTINGS}/{name}.{tool}.txt.xz")))
}

/// Runs `decode` with standard input.
fn decode(arguments: &[&str], input: &[u8]) -> Ran {
    piped(warpload().arg("decode").args(arguments), input, 1 << 16)
}

/// Runs `decode`, which must succeed.
fn decoded(arguments: &[&str], input: &[u8]) -> String {
    let ran = decode(arguments, input);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.stdout
}

/// Function, offset, word and text of each line of JSON.
fn places(json: &str) -> Vec<[Value; 4]> {
    let place = |line: &str| {
        let load: Value = serde_json::from_str(line).unwrap();
        ["function", "offset", "word", "text"].map(|key| load[key].clone())
    };
    json.lines().map(place).collect()
}

#[test]
fn cubins_and_listings_have_the_same_loads() {
    let mut loads = 0;
    for name in cubins() {
        let cubin = format!("{LISTINGS}/{name}.cubin");
        let json = succeeded(warpload().args(["decode", "--format", "json", &cubin]));
        let expected = places(&json);
        loads += expected.len();
        assert!(!expected.is_empty());
        for tool in ["cuobjdump", "nvdisasm"] {
            let listing = listing(&name, tool);
            let json = decoded(&["--format", "json", "-"], listing.as_bytes());
            assert_eq!(places(&json), expected, "{name} {tool}");
            let checked = decoded(&["--check", "-"], listing.as_bytes());
            let json = decoded(&["--hidden", "--format", "json", "-"], listing.as_bytes());
            let is_hidden = |row: &&str| row.contains("&desc=UR") && !row.contains("&desc=UR0");
            let hidden = match json.lines().filter(is_hidden).count() {
                0 => String::new(),
                count => format!("; {count} with a descriptor that the text hides"),
            };
            assert_eq!(hidden.is_empty(), !name.contains("sm80"), "{name}");
            let count =
                format!("<stdin>: {} loads checked, 0 differences{hidden}\n", expected.len());
            assert_eq!(checked.replace("standard input", "<stdin>"), count, "{name} {tool}");
        }
        // Without words, only the texts are those of the code.
        let raw = listing(&name, "nvdisasm-raw");
        let json = decoded(&["--format", "json", "-"], raw.as_bytes());
        let texts = |places: &[[Value; 4]]| -> Vec<[Value; 3]> {
            places
                .iter()
                .map(|[function, at, _, text]| [function, at, text].map(Value::clone))
                .collect()
        };
        assert_eq!(texts(&places(&json)), texts(&expected), "{name}");
    }
    assert!(loads > 300, "{loads}");
}

/// Changes the first line that `part` is in; returns the listing and the line's number.
fn changed(listing: &str, part: &str, becomes: &str) -> (String, usize) {
    let at = listing.find(part).expect(part);
    let line = listing[..at].lines().count();
    (listing.replacen(part, becomes, 1), line)
}

#[test]
fn a_change_in_a_listing_is_found() {
    for (name, tool, part, becomes, expected) in [
        // A register, an offset, a digit of the low half and one of the high half.
        ("sweep.sm80", "cuobjdump", "LDG.E.U8 R10,", "LDG.E.U8 R11,", "LDG.E.U8 R11, [R28.64]"),
        (
            "sweep.sm80",
            "nvdisasm",
            "LDL R24, [R22+0x4]",
            "LDL R24, [R22+0x8]",
            "LDL R24, [R22+0x8]",
        ),
        (
            "sweep.sm80",
            "cuobjdump",
            "0x000000041c0a7981",
            "0x000000041c0b7981",
            "LDG.E.U8 R11, [R28.64]",
        ),
        (
            "sweep.sm80",
            "nvdisasm",
            "0x000ee8000c1e1100",
            "0x000ee8000c1e1300",
            "LDG.E.S8 R10, [R28.64]",
        ),
        ("tile.sm90", "cuobjdump", "LDSM.16.M88.4 ", "LDSM.16.MT88.4 ", "LDSM.16.MT88.4"),
        ("walk.sm70", "nvdisasm", "LDG.E.SYS R", "LDG.E.STRONG.SYS R", "LDG.E.STRONG.SYS"),
        // A register, a wait and a barrier of a listing with scheduling.
        ("sweep.sm120", "cuobjdump", "R34.64+0x50]", "R34.64+0x54]", "[R34.64+0x54]"),
        ("sweep.sm120", "cuobjdump", "&wr=0x2 ?trans4", "&wr=0x1 ?trans4", "&wr=0x1 ?trans4"),
        ("sweep.sm120", "nvdisasm", "&req={0} &wr=0x2", "&req={1} &wr=0x2", "&req={1} &wr=0x2"),
        (
            "sweep.sm120",
            "nvdisasm",
            "&wr=0x3          ?trans4",
            "&wr=0x3          ?trans5",
            "?trans5",
        ),
    ] {
        let listing = listing(name, tool);
        if !listing.contains(part) {
            panic!("{name} {tool} has no {part}");
        }
        let (text, line) = changed(&listing, part, becomes);
        let ran = decode(&["--check", "-"], text.as_bytes());
        assert_eq!(ran.status, 1, "{name} {tool} {becomes}");
        assert!(ran.stdout.contains(" loads checked, 1 difference"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("differences"), "{}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{becomes}: {}", ran.stderr);
        // The second line of an instruction has the high half of its word.
        let line = line - usize::from(part.starts_with("0x000e"));
        assert!(ran.stderr.contains(&format!(":{line}: ")), "{line}: {}", ran.stderr);
    }
}

/// nvdisasm 12.8's answers: SM, word, text.
fn answers() -> BTreeMap<String, Vec<(String, String)>> {
    let mut rows: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for line in unpacked(&file("tests/data/nvdisasm-sm70.tsv.xz")).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [sm, word, text] = fields[..] else { panic!("{line}") };
        let sm = sm.strip_prefix("SM").unwrap().to_owned();
        rows.entry(sm).or_default().push((word.to_owned(), text.to_owned()));
    }
    rows
}

#[test]
fn words_are_what_nvdisasm_says() {
    let mut counts = BTreeMap::new();
    for (name, rows) in answers() {
        let sm: Sm = name.parse().unwrap();
        let input: String = rows.iter().map(|(word, _)| format!("{word}\n")).collect();
        let words = |more: &[&str]| {
            let arguments = [&["--word", "-", "--sm", &name][..], more].concat();
            decoded(&arguments, input.as_bytes())
        };
        let (plain, full) = (words(&[]), words(&["--control", "nvidia"]));
        assert_eq!((plain.lines().count(), full.lines().count()), (rows.len(), rows.len()));
        let mut texts = Vec::new();
        for ((plain, full), (word, expected)) in plain.lines().zip(full.lines()).zip(&rows) {
            let bits = u128::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap();
            let kind = match Instruction::decode(bits, sm) {
                Decoded::Load(_) => "load",
                Decoded::Illegal(_) => "illegal",
                Decoded::Other => "-",
            };
            *counts.entry(kind).or_insert(0) += 1;
            match kind {
                "load" => {
                    assert_eq!(
                        (plain, full),
                        (without_tail(expected), &**expected),
                        "{name} {word}"
                    );
                    texts.push(plain);
                }
                "illegal" => {
                    assert_eq!((plain, full, &**expected), ("illegal", "illegal", "illegal"))
                }
                _ => assert_eq!((plain, full), ("-", "-"), "{name} {word} {expected}"),
            }
        }
        assembled(&name, &texts);
    }
    assert_eq!(counts, BTreeMap::from([("load", 12_000), ("illegal", 1_380), ("-", 1_620)]));
}

/// A text of nvdisasm 12.8 without the scheduling.
fn without_tail(text: &str) -> &str {
    let ends = [" &", " ?"].map(|mark| text.find(mark).unwrap_or(text.len()));
    &text[..ends[0].min(ends[1])]
}

/// Assembling the texts and decoding the words gives the texts back. Values without a meaning are
/// printed, but not assembled.
fn assembled(sm: &str, texts: &[&str]) {
    let encode = |input: &str| {
        let mut command = warpload();
        piped(command.args(["encode", "--sm", sm]), input.as_bytes(), 1 << 16)
    };
    let (invalid, valid): (Vec<&str>, Vec<&str>) =
        texts.iter().partition(|text| text.contains("INVALID") || text.contains("???"));
    let ran = encode(&(valid.join("\n") + "\n"));
    let errors = ran.stderr.lines().find(|line| line.starts_with("error"));
    assert_eq!((ran.status, errors), (0, None), "SM {sm}");
    let again = decoded(&["--word", "-", "--sm", sm], ran.stdout.as_bytes());
    for (text, again) in valid.iter().zip(again.lines()) {
        assert_eq!(*text, again, "SM {sm}");
    }
    assert_eq!(again.lines().count(), valid.len());
    if !invalid.is_empty() {
        let ran = encode(&(invalid.join("\n") + "\n"));
        assert_eq!(ran.status, 2);
        assert!(ran.stdout.lines().all(|line| line == "error"), "SM {sm}");
        assert_eq!(ran.stdout.lines().count(), invalid.len());
    }
}

/// The code of the only function of a cubin: the bytes from its first word on.
fn code_of(cubin: &[u8], json: &str) -> (Vec<u8>, Vec<[Value; 4]>) {
    let loads = places(json);
    let number = |value: &Value| {
        u128::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
    };
    let word = number(&loads[0][2]).to_le_bytes();
    let at = cubin.windows(16).position(|bytes| bytes == word).unwrap();
    let start = at - number(&loads[0][1]) as usize;
    let end = start + number(&loads.last().unwrap()[1]) as usize + 16;
    (cubin[start..end].to_vec(), loads)
}

#[test]
fn raw_code_needs_its_sm() {
    for name in ["sweep.sm80", "tile.sm90", "sweep.sm120"] {
        let (_, sm) = name.split_once(".sm").unwrap();
        let path = format!("{LISTINGS}/{name}.cubin");
        let json = succeeded(warpload().args(["decode", "--format", "json", &path]));
        let (code, mut expected) = code_of(&fs::read(file(&path)).unwrap(), &json);
        let raw = ["--raw", "--sm", sm, "--format", "json", "-"];
        for load in &mut expected {
            load[0] = Value::Null;
        }
        assert_eq!(places(&decoded(&raw, &code)), expected, "{name}");

        // Words of 64 bits: nothing of this is a load that it says.
        let ran = decode(&["--raw", "-"], &code);
        assert!(ran.status != 0 || ran.stderr.contains("--sm"), "{name}: {ran:?}");
    }
}

/// A listing of several SMs, one after the other.
#[test]
fn listings_of_several_sms() {
    let mixed: String =
        ["sweep.sm80", "sweep.sm90", "sweep.sm120"].map(|name| listing(name, "cuobjdump")).concat();
    let text = decoded(&["-"], mixed.as_bytes());
    let headings: Vec<&str> = text.lines().filter(|line| line.ends_with(':')).collect();
    assert_eq!(headings, ["SM 90 (above: SM 80):", "SM 120:"]);
    let json = decoded(&["--format", "json", "-"], mixed.as_bytes());
    let of_each = |json: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for line in json.lines() {
            let load: Value = serde_json::from_str(line).unwrap();
            *counts.entry(load["sm"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        counts
    };
    let counts = of_each(&json);
    assert_eq!(counts.keys().collect::<Vec<_>>(), ["120", "80", "90"]);
    let chosen = decoded(&["--sm", "80", "--format", "json", "-"], mixed.as_bytes());
    assert_eq!(of_each(&chosen), BTreeMap::from([("80".to_owned(), counts["80"])]));
    let ran = decode(&["--sm", "75", "-"], mixed.as_bytes());
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    let expected = "no image for SM 75; SMs in the file: 80, 90, 120\n";
    assert!(ran.stderr.ends_with(expected), "{}", ran.stderr);

    let stats = |arguments: &[&str]| {
        let mut command = warpload();
        piped(command.arg("stats").args(arguments), mixed.as_bytes(), 1 << 16).stdout
    };
    let text = stats(&["-"]);
    for function in ["  sweep (SM 80)\n", "  sweep (SM 90)\n", "  sweep (SM 120)\n"] {
        assert!(text.contains(function), "{text}");
    }
    let stats = stats(&["--format", "json", "-"]);
    let sums: BTreeMap<String, usize> = stats
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| {
            (row["sm"].as_str().unwrap().to_owned(), row["loads"].as_u64().unwrap() as usize)
        })
        .collect();
    assert_eq!(sums, counts);
}

#[test]
fn words_and_texts_without_their_sm() {
    let run = |arguments: &[&str]| Ran::from(warpload().args(arguments).output().unwrap());
    let word = "0x000ea8000c1f5d00000050041c047981";
    let ran = run(&["decode", "--word", word]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("give its SM, for example `--sm 80`"), "{}", ran.stderr);
    let ran = run(&["encode", "--bundle", "--sm", "80", "LDG.E R0, [R2.64]"]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert!(ran.stderr.contains("--bundle: code of SM 80 has no bundles"), "{}", ran.stderr);
}
