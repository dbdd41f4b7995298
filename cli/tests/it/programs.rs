//! Whole programs of SM 5.0 to 6.2: decoded, assembled, patched, explained.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use warpload_binary::cubin::CubinProgram;

use crate::common::{ROOT, Ran, piped, warpload};

const FOLDER: &str = "tests/data/programs";

/// The cubins, their SM, and the listing of one of NVIDIA's tools.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("bfs.sm_61", "61", "cuobjdump"),
    ("collatz.sm_50", "50", "cuobjdump"),
    ("bitops.sm_61", "61", "nvdisasm"),
];

fn run(arguments: &[&str]) -> Ran {
    warpload().args(arguments).output().unwrap().into()
}

fn run_with(arguments: &[&str], input: &str) -> Ran {
    piped(warpload().args(arguments), input.as_bytes(), 1 << 16)
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

fn read(name: &str) -> Vec<u8> {
    fs::read(Path::new(ROOT).join(FOLDER).join(name)).unwrap()
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The code of each function of a cubin.
fn code(name: &str) -> BTreeMap<String, Vec<u8>> {
    let program = CubinProgram::read(read(name)).unwrap();
    let text = |name: &str| name.strip_prefix(".text.").map(str::to_owned);
    program.sections().filter_map(|one| Some((text(one.name)?, one.bytes.to_vec()))).collect()
}

/// The code of each function of a listing.
fn assembled(listing: &str, sm: &str) -> BTreeMap<String, Vec<u8>> {
    let ran = run_with(&["encode", "--listing", "-", "--sm", sm, "--format", "json"], listing);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let words = |function: &Value| {
        let words = function["bundles"].as_array().unwrap().iter();
        let words = words.flat_map(|bundle| bundle.as_array().unwrap());
        let word = |word: &Value| u64::from_str_radix(&word.as_str().unwrap()[2..], 16).unwrap();
        words.flat_map(|one| word(one).to_le_bytes()).collect()
    };
    let name = |function: &Value| function["function"].as_str().unwrap().to_owned();
    json(&ran.stdout).iter().map(|function| (name(function), words(function))).collect()
}

/// Texts of cuobjdump: addresses instead of labels, as in JSON.
#[test]
fn texts_are_those_of_nvidia() {
    let mut reused = 0;
    for (name, _, _) in PROGRAMS.iter().filter(|(.., tool)| *tool == "cuobjdump") {
        let listing = String::from_utf8(read(&format!("{name}.cuobjdump.txt"))).unwrap();
        let texts = listing.lines().filter(|line| line.trim_start().starts_with("/*0"));
        let texts = texts.filter(|line| !line.trim_start().starts_with("/* 0x"));
        let texts: Vec<String> = texts
            .map(|line| {
                let text = line.split_once("*/").unwrap().1.trim_start();
                let end = text
                    .find([';', '}'])
                    .filter(|_| !text.contains('{'))
                    .unwrap_or_else(|| text.find(';').or(text.rfind('}')).unwrap());
                text[..end].trim_start_matches('{').trim().to_owned()
            })
            .collect();
        let file = path(&format!("{name}.cubin"));
        let ran = run(&["decode", "--all", "--format", "json", &file]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""));
        let rows = json(&ran.stdout);
        let shown: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
        assert_eq!(shown, texts, "{name}");
        reused += shown.iter().filter(|text| text.contains(".reuse")).count();
        let bytes = read(&format!("{name}.cubin"));
        for row in rows {
            let number =
                |key: &str| u64::from_str_radix(&row[key].as_str().unwrap()[2..], 16).unwrap();
            let at = number("file_offset") as usize;
            assert_eq!(bytes[at..at + 8], number("word").to_le_bytes());
        }
    }
    assert!(reused > 30, "{reused}");
}

#[test]
fn listings_assemble_to_the_code() {
    for (name, sm, tool) in PROGRAMS {
        let (file, code) = (path(&format!("{name}.cubin")), code(&format!("{name}.cubin")));
        for notation in ["maxas", "cuasm", "nvidia"] {
            let listing = run(&["decode", "--all", "--control", notation, &file]).stdout;
            assert!(listing.contains("\n.L_1:\n") && listing.contains("`(.L_1)"), "{name}");
            assert_eq!(assembled(&listing, sm), code, "{name} {notation}");
        }
        let listing = String::from_utf8(read(&format!("{name}.{tool}.txt"))).unwrap();
        assert_eq!(assembled(&listing, sm), code, "{name} {tool}");
        // Without words: texts, labels and notations alone.
        let listing = run(&["decode", "--all", "--control", "maxas", &file]).stdout;
        let mut bare = String::new();
        let (mut last, mut labels) = (String::new(), String::new());
        for line in listing.lines() {
            let columns: Vec<&str> = line.splitn(5, "  ").map(str::trim).collect();
            let [_, function, _, _, rest] = columns[..] else {
                labels += &format!("{line}\n");
                continue;
            };
            let load = line.starts_with('*');
            let (function, rest) = match load {
                true => {
                    (line[2..].split("  ").next().unwrap(), line.splitn(4, "  ").last().unwrap())
                }
                false => (function, rest),
            };
            if function != last {
                bare += &format!(".text.{function}:\n");
                last = function.to_owned();
            }
            bare += &format!("{}{rest};\n", std::mem::take(&mut labels));
        }
        assert_eq!(assembled(&bare, sm), code, "{name}");
    }
}

#[test]
fn a_function_is_written_as_a_raw_stream() {
    let (file, code) = (path("bfs.sm_61.cubin"), code("bfs.sm_61.cubin"));
    let listing = run(&["decode", "--all", "--control", "cuasm", &file]).stdout;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("relax.bin");
    let out = out.to_str().unwrap();
    let encode = |more: &[&str]| {
        run_with(&[&["encode", "--listing", "-", "--sm", "61", "-o", out], more].concat(), &listing)
    };
    let several = encode(&[]);
    assert_eq!(several.status, 2);
    assert!(several.stderr.contains("these are 3; choose one with `--function`"), "{several:?}");
    assert!(!Path::new(out).exists());
    let unknown = encode(&["--function", "relay"]);
    assert!(unknown.status == 2 && unknown.stderr.contains("relax"), "{unknown:?}");
    assert_eq!(encode(&["--function", "relax"]).status, 0);
    assert_eq!(fs::read(out).unwrap(), code["relax"]);
    let raw = run(&["decode", "--all", "--raw", "--sm", "61", out]);
    assert_eq!((raw.status, raw.stdout.contains("BRA `(.L_1)")), (0, true));
}

#[test]
fn mistakes_in_listings_have_places() {
    let encode = |listing: &str| {
        let ran = run_with(&["encode", "--listing", "-"], listing);
        assert_eq!((ran.status, &*ran.stdout), (2, ""));
        ran.stderr
    };
    for (listing, expected) in [
        (
            "--:-:-:-:1  NOP;\n--:-:-:-:1  IADD R0, R1 R2;\n",
            "standard input: line 2, column 24 (byte offset 40): no form of the instruction has this here",
        ),
        ("--:-:-:-:1  BRA `(.L_7);\n", "no label or symbol `.L_7` in this function"),
        (
            "/*0008*/ NOP ;\n",
            "no scheduling: neither a control word before it nor a notation of it: `NOP`; `decode",
        ),
        (
            "  f  0x0010  0x50b0000000070f00  --:-:-:-:1  NOP\n",
            "expected the instruction at offset 0x0008",
        ),
        (
            "code for sm_80\n/*0000*/ NOP ; /* 0x0000000000007918 */\n/* 0x000fc00000000000 */",
            "SM 5.0 to 6.2 only",
        ),
        ("\0", "neither an ELF file nor text"),
    ] {
        let error = encode(listing);
        assert!(error.contains(expected), "{listing}: {error}");
    }
}

#[test]
fn words_of_any_instruction_are_texts() {
    let words =
        "5c10000000270100\n0xe2400fffff07000f\nffffffffffffffff\nnone\n\n0x80d0000000070404\n";
    let decode = |more: &[&str]| {
        run_with(&[&["decode", "--all", "--word", "-", "--sm", "61"], more].concat(), words)
    };
    let text = decode(&[]);
    assert_eq!(text.stdout, "IADD R0, R1, R2\nBRA 0x0\nillegal\nerror\nLD.E.128 R4, [R4], P0\n");
    assert_eq!(text.status, 2);
    assert!(text.stderr.contains("standard input: line 4: \"none\" is not a word"), "{text:?}");
    let at = decode(&["--at", "0x28", "--format", "json"]);
    let rows = json(&at.stdout);
    assert_eq!(rows[1]["text"], "BRA 0x20");
    assert_eq!((&rows[2]["text"], &rows[2]["illegal"]), (&Value::Null, &Value::Bool(true)));
    assert!(rows[3]["error"].as_str().unwrap().starts_with("standard input: line 4"));
    assert_eq!(rows.len(), 5);
    let wide = run(&["decode", "--all", "--sm", "80", "--word", "0x0"]);
    assert_eq!(wide.status, 2);
    assert!(
        wide.stderr
            .contains("whole programs are decoded for SM 5.0 to 6.2 only, and this is of SM 80")
    );
}

/// Cut and changed cubins and listings are answered, not crashed on.
#[test]
fn damaged_inputs_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("file"), folder.path().join("out"));
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let listing =
        run(&["decode", "--all", "--control", "maxas", &path("collatz.sm_50.cubin")]).stdout;
    let inputs =
        [read("collatz.sm_50.cubin"), listing.into_bytes(), read("bitops.sm_61.nvdisasm.txt")];
    let mut seed = 5_usize;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for round in 0..60 {
        let mut bytes = inputs[round % 3].clone();
        if round % 5 == 0 {
            bytes.truncate(next(bytes.len()));
        }
        for _ in 0..1 + next(30) {
            let at = next(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = if round % 3 == 0 { next(256) as u8 } else { b" 0xR,.;(`[:/"[next(12)] };
            }
        }
        fs::write(file, &bytes).unwrap();
        for arguments in [
            &["decode", "--all", "--control", "cuasm", file][..],
            &["decode", "--all", "--format", "json", file],
            &["encode", "--listing", file],
            &["encode", "--patch", file, "--at", "steps+0x8", "NOP", "-o", out],
        ] {
            let ran = run(arguments);
            assert!((0..=2).contains(&ran.status) && !ran.stderr.contains("panicked"), "{ran:?}");
        }
    }
}

#[test]
fn other_sms_are_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let raw = folder.path().join("raw");
    fs::write(&raw, 0x000f_c000_0000_0000_0000_0000_0000_7918_u128.to_le_bytes()).unwrap();
    for arguments in [
        &["decode", "--all", "tests/data/listings128/sweep.sm80.cubin"][..],
        &["decode", "--all", "--raw", "--sm", "80", raw.to_str().unwrap()],
    ] {
        let ran = run(arguments);
        let expected = "whole programs are decoded for SM 5.0 to 6.2 only, and this is of SM 80";
        assert!(
            ran.status == 2 && ran.stdout.is_empty() && ran.stderr.contains(expected),
            "{ran:?}"
        );
    }
}

#[test]
fn words_that_are_no_instruction_are_said_to_be_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("raw");
    let words = [0x001f_8000_fc00_07e1_u64, 0x5c10_0000_0027_0100, 1, 0x50b0_0000_0007_0f00];
    fs::write(&file, words.map(u64::to_le_bytes).as_flattened()).unwrap();
    let file = file.to_str().unwrap();
    let ran = run(&["decode", "--all", "--raw", "--control", "maxas", file]);
    let row = "  -  0x0010  0x0000000000000001  --:-:-:Y:0  illegal (no instruction of SM 50)\n";
    assert!(ran.status == 0 && ran.stdout.contains(row), "{ran:?}");
    assert!(ran.stderr.contains("1 other word is refused, as by nvdisasm"), "{ran:?}");
    let again = run_with(&["encode", "--listing", "-"], &ran.stdout);
    assert_eq!(
        again.stdout,
        words.iter().fold("// -\n".to_owned(), |all, word| format!("{all}{word:#018x}\n"))
    );
}

#[test]
fn a_word_of_a_cubin_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new.cubin");
    let (out, file) = (out.to_str().unwrap(), path("bfs.sm_61.cubin"));
    let patch = |file: &str, at: &str, text: &str, to: &str| {
        run(&["encode", "--patch", file, "--at", at, text, "-o", to])
    };
    let ran = patch(&file, "relax+0x70", "SHR R3, R6, 0x1c", out);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "- 0x3829000001d70603  SHR R3, R6, 0x1d");
    assert_eq!(lines[1], "+ 0x3829000001c70603  SHR R3, R6, 0x1c");
    let (old, new) = (read("bfs.sm_61.cubin"), fs::read(out).unwrap());
    let changed: Vec<usize> = (0..old.len()).filter(|at| old[*at] != new[*at]).collect();
    assert_eq!((old.len(), changed.len()), (new.len(), 1));
    // Jumps go from the word, and loads can be written as people do.
    assert!(patch(out, "relax+0xc8", "@!P2 BRA 0x68", out).stderr.contains("input"));
    let other = folder.path().join("other.cubin");
    let jump = patch(out, "relax+0xc8", "@!P2 BRA 0x68", other.to_str().unwrap());
    assert!(jump.stdout.contains("+ 0xe2400ffff98a000f  @!P2 BRA 0x68\n"), "{jump:?}");
    let load = patch(&file, "relax+0x1a8", "ldg.e.64 r2, [r2 + 8]", other.to_str().unwrap());
    assert!(load.stdout.contains("  LDG.E.64 R2, [R2+0x8]\n"), "{load:?}");
    let never = folder.path().join("never");
    let sm75 = "tests/data/listings128/sweep.sm80.cubin";
    for (file, at, text, expected) in [
        (&*file, "relax+0x60", "NOP", "the control word of a bundle, which is no instruction"),
        (&file, "relax+0x64", "NOP", "no word begins there"),
        (&file, "relax+0x100008", "NOP", "outside the function, which has"),
        (&file, "relay+0x68", "NOP", "no function relay; the nearest are `relax`"),
        (&file, "relax", "NOP", "expected FUNCTION+OFFSET"),
        (&file, "relax+0x68", "NOPE", "SM 61 has no instruction of this name"),
        (&file, "relax+0x68", "IADD R0, R1.reuse, R2", "are in the control word, which stays"),
        (&file, "relax+0x68", "--:-:-:-:1 NOP", "are in the control word, which stays"),
        ("tests/data/programs/bitops.sm_61.nvdisasm.txt", "f+0x8", "NOP", "not an ELF file"),
        (sm75, "f+0x10", "NOP", "words of SM 5.0 to 6.2 only are replaced"),
    ] {
        let ran = run(&[
            "encode",
            "--patch",
            file,
            "--at",
            at,
            "-o",
            never.to_str().unwrap(),
            "--",
            text,
        ]);
        assert!(ran.status == 2 && ran.stderr.contains(expected), "{at} {text}: {ran:?}");
        assert!(!never.exists(), "{at} {text}");
    }
}

#[test]
fn every_instruction_is_encoded_and_explained() {
    let encode = |text: &str| run(&["encode", "--sm", "61", text]);
    assert_eq!(encode("IADD R0, R1, R2").stdout, "0x5c10000000270100\n");
    assert_eq!(
        run(&["encode", "--sm", "61", "--at", "0x28", "BRA 0x20"]).stdout,
        "0xe2400fffff07000f\n"
    );
    let near = encode("IAD R0, R1, R2");
    assert!(near.status == 2 && near.stderr.contains("= help: the nearest are `IADD`"), "{near:?}");
    let rest = encode("IADD R0, R1 R2");
    assert!(rest.stderr.contains("<argument>:1:13"), "{rest:?}");
    // Loads keep their hints.
    assert!(encode("LD.E.64 R4, [R2 - -4]").stderr.contains("help: write `+0x4`"));
    let bundle =
        run(&["encode", "--bundle", "IADD R0, R1.reuse, R2 &req={0} ?trans6", "LD R0, [R2]"]);
    assert_eq!(bundle.stdout.lines().nth(1), Some("0x5c10000000270100"));
    let explain = |more: &[&str]| {
        let ran = run(&[&["explain", "--sm", "61", "--format", "json"], more].concat());
        assert_eq!((ran.status, &*ran.stderr), (0, ""));
        json(&ran.stdout)
    };
    let (word, text) =
        (explain(&["0x4c12880000870100"]), explain(&["IADD.X R0.CC, -R1, c[0x0][0x20]"]));
    assert_eq!(word, text);
    let fields = word[0]["fields"].as_array().unwrap();
    let field = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap();
    assert_eq!((&field("X")["bits"], &field("X")["meaning"]), (&"43".into(), &".X".into()));
    assert_eq!(field("unread")["bits"], "46:44,42:39");
    assert!(fields.iter().any(|field| field["meaning"] == "c[0x0][0x20]"));
    assert!(
        word[0]["effect"].is_null() && !explain(&["0x80d0000000070404"])[0]["effect"].is_null()
    );
    let jump = explain(&["--at", "0x28", "0xe2400fffff07000f"]);
    assert_eq!(jump[0]["text"], "BRA 0x20");
    let refused = run(&["explain", "--sm", "61", "0xffffffffffffffff"]);
    assert_eq!((refused.status, refused.stderr.contains("no instruction of SM 61")), (1, true));
}
