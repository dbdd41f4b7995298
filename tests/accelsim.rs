//! Accel-Sim's traces: the samples of `tests/data/traces2`, and the rules that no sample has.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]
#![cfg(feature = "trace")]

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use serde_json::Value;
use warpload::memory::Fill;
use warpload::trace::{
    BinaryTrace, Data, ImportError, ReplayOptions, TraceWriter, import, import_from, replay,
};

type Writer = TraceWriter<Cursor<Vec<u8>>>;

fn imported(
    import: impl FnOnce(&mut Writer) -> Result<(), ImportError>,
) -> Result<BinaryTrace, String> {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
    import(&mut writer).map_err(|error| error.to_string())?;
    let bytes = writer.finish().unwrap().into_inner();
    Ok(BinaryTrace::new(bytes.into()).unwrap())
}

fn file(path: &Path, threads: usize) -> Result<BinaryTrace, String> {
    imported(|writer| import(path, writer, threads, &|_| ()))
}

/// Imports what comes from a pipe named `text`.
fn bytes(bytes: &[u8], threads: usize) -> Result<BinaryTrace, String> {
    imported(|writer| import_from(bytes, Path::new("text"), writer, threads, &|_| ()))
}

/// Returns the counts of a replay with a fill.
fn counts(trace: &BinaryTrace) -> Value {
    let data = Data::Fill(Fill::Address);
    serde_json::to_value(replay(trace, &ReplayOptions::new(data)).unwrap().summary()).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces2")
}

fn recorded() -> Value {
    let text = std::fs::read_to_string(folder().join("accelsim.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Returns loads, lanes and sectors by program counter and opcode.
fn per_pc(rows: &Value, sectors: fn(&Value) -> u64) -> BTreeMap<(String, String), [u64; 3]> {
    let mut sums = BTreeMap::<_, [u64; 3]>::new();
    for row in rows.as_array().unwrap() {
        let text = |key| row[key].as_str().unwrap().to_owned();
        let sum = sums.entry((text("pc"), text("opcode"))).or_default();
        let counts = [integer(&row["loads"]), integer(&row["lanes"]), sectors(row)];
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

#[test]
fn samples_have_the_counts_of_an_independent_model() {
    for (name, expected) in recorded()["counts"].as_object().unwrap() {
        let trace = file(&folder().join(name), 2).unwrap();
        let found = counts(&trace);
        for (key, expected) in expected.as_object().unwrap() {
            match &**key {
                "memory_records" => assert_eq!(*expected, trace.memory_records(), "{name}"),
                "skipped" => {
                    for (key, expected) in expected.as_object().unwrap() {
                        assert_eq!(*expected, found["skipped"][key], "{name}: {key}");
                    }
                }
                "per_pc" => {
                    let sum = |row: &Value| {
                        let mean = row["sectors"]["mean"].as_f64().unwrap_or(0.0);
                        (mean * integer(&row["loads"]) as f64).round() as u64
                    };
                    let expected = per_pc(expected, |row| integer(&row["sectors"]));
                    assert_eq!(expected, per_pc(&found["per_pc"], sum), "{name}");
                }
                "kernels" => {
                    let kernels = expected.as_array().unwrap();
                    let found = found["kernels"].as_array().unwrap();
                    assert_eq!(kernels.len(), found.len());
                    for (expected, found) in kernels.iter().zip(found) {
                        for (key, expected) in expected.as_object().unwrap() {
                            assert_eq!(*expected, found[key], "{name}: {key}");
                        }
                    }
                }
                _ => assert_eq!(*expected, found[key], "{name}: {key}"),
            }
        }
    }
}

/// Texts and their binary twins have the same digests and counts, whatever the number of threads.
#[test]
fn twins_are_equal() {
    for [text, binary] in [
        ["v6.traceg.xz", "v6.tracez"],
        ["v6-subchunks.traceg.xz", "v6-subchunks.tracez"],
        ["v6-nodict.traceg", "v6-nodict.tracez"],
    ] {
        let read = |name: &str, threads| file(&folder().join(name), threads).unwrap();
        let expected = read(text, 1);
        for other in [read(text, 2), read(binary, 1), read(binary, 2)] {
            assert_eq!(other.contents().kernels, expected.contents().kernels);
            assert_eq!(counts(&other)["digest"], counts(&expected)["digest"]);
            assert_eq!(counts(&other), counts(&expected));
        }
    }
}

#[test]
fn damaged_files_are_refused_with_their_place() {
    let folder = folder().join("damaged");
    for (name, expected) in recorded()["refused"].as_object().unwrap() {
        for threads in [1, 2] {
            let message = file(&folder.join(name), threads).map(drop).expect_err(name);
            let message = message.replace(&format!("{}/", folder.display()), "");
            assert_eq!(expected, &message);
        }
    }
}

/// Returns a header of a grid of 4 x 2 thread blocks of 48 threads.
fn header(version: &str) -> String {
    format!(
        "-kernel name = k\n-grid dim = (4,2,1)\n-block dim = (48,1,1)\n\
         -accelsim tracer version = {version}\n-enable lineinfo = 0\n\n#traces format = …\n\n"
    )
}

/// Returns a grouped trace of one instruction of a warp.
fn grouped(version: &str, warp: u32, line: &str) -> String {
    let ids = if version == "1.2" { format!("1 1 0 {warp} ") } else { String::new() };
    format!(
        "{}#BEGIN_TB\nthread block = 1,1,0\nwarp = {warp}\ninsts = 1\n{ids}{line}\n#END_TB\n",
        header(version)
    )
}

fn read(text: &str) -> Result<Value, String> {
    bytes(text.as_bytes(), 2).map(|trace| counts(&trace))
}

/// Versions, each with what follows the addresses.
#[test]
fn versions() {
    let load = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f0000000000 4";
    for (version, after, is_valid) in [
        ("1.2", "", true),
        ("1.2", " 0", false),
        ("2", "", true),
        ("3", "", true),
        ("3", " 0", false),
        ("4", "", true),
        ("4", " -264", true),
        ("4", " 0 0", false),
        ("5", "", false),
        ("5", " 0", true),
        ("5", " 0 NoVal", false),
        ("5 of May", " 0", true),
        ("6", " 0", false),
        ("6", " 0 NoVal", true),
        ("6", " -8 16 NoVal", true),
        ("6", " NoVal", false),
        ("6", " 0 0 0 NoVal", false),
        ("6", " 0 0 NoVal 1", false),
        ("6", " 0 0 Val 1 7 1 0xff", true),
        ("6", " 0 0 Val 1 7", false),
        ("6", " 0 0 Val 2 7 7 1 1", false),
        ("7", " 0 0 NoVal", false),
        ("", "", false),
        ("x", "", false),
    ] {
        let line = format!("{load}{after}");
        let version = if version == "2" { "2.9" } else { version };
        let mut text = grouped(version, 0, &line);
        if version == "2.9" {
            text = grouped("1.2", 0, &line).replace("version = 1.2", "version = 2.9");
        }
        let found = read(&text);
        assert_eq!(found.is_ok(), is_valid, "{version}{after}: {found:?}");
        if let Ok(found) = found {
            assert_eq!(found["sectors"], 4);
            assert_eq!(found["valued_loads"], u64::from(after.contains(" Val")));
        }
    }
}

#[test]
fn headers_name_kernel_grid_block_and_version_once() {
    let text = grouped("5", 0, "0010 00000000 0 MOV 0 0 0");
    assert!(read(&text).is_ok());
    for key in ["kernel name", "grid dim", "block dim", "accelsim tracer version"] {
        let without: Vec<_> = text.lines().filter(|line| !line.contains(key)).collect();
        let error = read(&(without.join("\n") + "\n")).unwrap_err();
        assert!(error.contains(&format!("the header has no `-{key} = …`")), "{error}");
        let line = text.lines().find(|line| line.contains(key)).unwrap();
        let error = read(&text.replace(line, &format!("{line}\n{line}"))).unwrap_err();
        assert!(error.contains(&format!("`-{key}` for the second time")), "{error}");
    }
    let error = read(&text.replace("warp = 0", "-nregs = 4\nwarp = 0")).unwrap_err();
    assert_eq!(error, "text:11:1: a header line after a thread block");
    // A trace that has no instruction, and one that is cut off before it could have one.
    let trace = bytes(header("6").as_bytes(), 1).unwrap();
    assert_eq!((trace.records(), trace.contents().complete), (0, false));
    let error = read(&header("6").replace("#traces format", "#")).unwrap_err();
    assert!(error.contains("the file ends in its header"), "{error}");
}

/// The mask tells how many fields come before it.
#[test]
fn fields_before_the_program_counter() {
    let load = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f0000000000 4";
    for (version, lineinfo, fields, is_valid) in [
        ("1.2", 0, "1 1 0 1", true),
        ("3", 0, "1 1 0", false),
        ("3", 0, "1 1 0 1", true),
        ("3", 0, "1 1 0 1 7", false),
        ("3", 0, "1 1 0 1 131 63", true),
        ("3", 0, "1 1 0 1 131 63 7", false),
        // Version 3 has no line numbers, whatever the header says.
        ("3", 1, "1 1 0 1 1234", false),
        ("5", 1, "1 1 0 1", false),
        ("5", 1, "1 1 0 1 1234", true),
        ("5", 1, "1 1 0 1 131 63 1234", true),
        ("5", 0, "4 1 0 1", false),
        ("5", 0, "1 1 0 2", false),
        ("6", 0, "1 1 0 1", false),
        ("6", 0, "1 1 0 1 0 0 0 1 1 0 3", true),
        ("6", 1, "1 1 0 1 0 0 0 1 1 0 3 1234", true),
    ] {
        let after = match version {
            "5" => " 0",
            "6" => " 0 0 NoVal",
            _ => "",
        };
        let header = header(version).replace("lineinfo = 0", &format!("lineinfo = {lineinfo}"));
        let found = read(&format!("{header}{fields} {load}{after}\n"));
        assert_eq!(found.is_ok(), is_valid, "{version}, {fields}: {found:?}");
    }
    let mixed = format!("{}1 1 0 1 {load}\n1 1 0 1 0 0 {load}\n", header("3"));
    assert_eq!(read(&mixed).unwrap_err(), "text:10:1: 6 fields before the PC; expected 4");
    for (start, message) in [
        ("10 ffffffff", "1: \"10\"; expected a PC of four to eight hexadecimal digits"),
        ("0010 fffffff", "6: \"fffffff\"; expected a lane mask of eight hexadecimal digits"),
        ("0010 0xffffffff", "6: \"0xffffffff\"; expected a lane mask of eight hexadecimal digits"),
        ("0010 fffffffff", "6: \"fffffffff\"; expected a lane mask of eight hexadecimal digits"),
    ] {
        let error = read(&grouped("3", 0, &load.replace("0010 ffffffff", start))).unwrap_err();
        assert_eq!(error, format!("text:13:{message}"));
    }
}

/// Addresses of lanes that were active before the guard. Warp 0 has 32 threads, warp 1 has 16.
#[test]
fn addresses_of_more_lanes_than_the_mask() {
    let list = |count: u64, form: &str| {
        let addresses = (0..count).map(|i| format!("0x{:016x}", 0x1000 + 32 * i));
        match form {
            "0" => addresses.map(|address| format!(" {address}")).collect(),
            _ => format!(" 0x1000{}", " 32".repeat(count as usize - 1)),
        }
    };
    // Warp, mask, addresses in the list; loads that are unattributable, sectors, or refused.
    for (warp, mask, count, expected) in [
        (0, "0000000f", 4, Some((0, 4))),
        (0, "f000000f", 32, Some((0, 8))),
        (0, "f000000f", 31, Some((1, 0))),
        (0, "0000000f", 3, None),
        (0, "0000000f", 33, None),
        (1, "00008001", 16, Some((0, 2))),
        (1, "00008001", 15, Some((1, 0))),
        (1, "00008001", 17, None),
        (1, "00000000", 9, Some((0, 0))),
    ] {
        for (version, mode) in [("1.2", "0"), ("3", "0"), ("3", "2")] {
            let line = format!("0010 {mask} 1 R1 LDG.E 1 R2 4 {mode}{}", list(count, mode));
            let found = read(&grouped(version, warp, &line)).ok();
            let found = found
                .map(|counts| (integer(&counts["unattributable"]), integer(&counts["sectors"])));
            assert_eq!(found, expected, "{version}: {line}");
        }
        if count != u64::from(u32::from_str_radix(mask, 16).unwrap().count_ones()) {
            let line = format!("0010 {mask} 1 R1 LDG.E 1 R2 4 0{} 0", list(count, "0"));
            assert!(read(&grouped("5", warp, &line)).is_err());
        }
    }
    // A base and a stride: sectors of versions 1.2, 3 and 5.
    for (mask, stride, expected) in [
        ("000000f0", 0, [Some(Some(1)), Some(Some(1)), Some(Some(1))]),
        ("000000f1", 32, [Some(Some(5)), Some(Some(5)), None]),
        ("000000f0", 32, [Some(None), Some(Some(4)), Some(Some(4))]),
        ("00000050", 32, [Some(None), Some(None), None]),
        ("00000010", 32, [Some(None), Some(None), Some(Some(1))]),
        ("00000050", 0, [Some(Some(1)), Some(Some(1)), None]),
        ("00000000", 32, [Some(Some(0)); 3]),
    ] {
        for ((version, after), expected) in
            [("1.2", ""), ("3", ""), ("5", " 0")].into_iter().zip(expected)
        {
            let line = format!("0010 {mask} 1 R1 LDG.E 1 R2 4 1 0x1000 {stride}{after}");
            let found = read(&grouped(version, 0, &line))
                .ok()
                .map(|counts| (counts["unattributable"] == 0).then(|| integer(&counts["sectors"])));
            assert_eq!(found, expected, "{version}: {line}");
        }
    }
    let error = read(&grouped("1.2", 0, "0010 00000001 1 R1 LDG.E 1 R2 4 2 0x1000")).unwrap_err();
    assert!(error.ends_with("\"2\"; expected an address mode: 0 or 1"), "{error}");
    // An LD of unknown addresses may reach any space.
    let found = read(&grouped("3", 0, "0010 00000050 1 R1 LD.E 1 R2 4 1 0x1000 4")).unwrap();
    assert_eq!(
        (&found["unattributable"], &found["by_space"]["unresolved"]),
        (&1.into(), &1.into())
    );
}

/// How many threads a warp has is known wherever a piece of the file begins.
#[test]
fn partial_warps_in_pieces() {
    let lists: String = (0..16).map(|lane| format!(" 0x{:016x}", 0x1000 + 32 * lane)).collect();
    let line = format!("0010 00000003 1 R1 LDG.E 1 R2 4 0{lists}\n");
    let warp =
        |warp, lines: usize| format!("warp = {warp}\ninsts = {lines}\n{}", line.repeat(lines));
    let lines = 3000;
    let text = format!(
        "{}#BEGIN_TB\nthread block = 0,0,0\n{}{}#END_TB\n",
        header("3"),
        warp(1, lines),
        warp(0, lines)
    );
    for threads in [1, 3] {
        let found = counts(&bytes(text.as_bytes(), threads).unwrap());
        assert_eq!(found["unattributable"], lines, "only those of the whole warp");
        assert_eq!(found["sectors"], 2 * lines);
    }
}

#[test]
fn addresses_have_a_prefix_or_sixteen_digits() {
    for (address, is_valid) in [
        ("0x1", true),
        ("0000000000001000", true),
        ("1000", false),
        ("00000000000001000", false),
        ("0x10000000000000000", false),
    ] {
        let line = format!("0010 00000001 1 R1 LDG.E 1 R2 4 2 {address} 0");
        assert_eq!(read(&grouped("5", 0, &line)).is_ok(), is_valid, "{address}");
    }
}

#[test]
fn registers_of_each_version() {
    for (register, before_hopper, hopper) in [
        ("R0", true, true),
        ("R255", true, true),
        ("R256", false, false),
        ("R", false, false),
        ("Rx", false, false),
        ("UR7", false, true),
        ("P0", false, true),
        ("UP7", false, true),
        ("P8", false, false),
        ("7", false, false),
    ] {
        let line = format!("0010 00000001 1 {register} MOV 0 0 0");
        assert_eq!(read(&grouped("5", 0, &line)).is_ok(), before_hopper, "{register}");
        let line = format!("{line} 0 NoVal");
        assert_eq!(read(&grouped("6", 0, &line)).is_ok(), hopper, "{register}");
    }
}

/// Transfers of the Tensor Memory Accelerator, and GMMA.
#[test]
fn lines_of_hopper() {
    for (line, is_valid) in [
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 3 2 0x1000 0x1080 0 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 0 0x418 0 384 0 3 2 0x1000 0x1080 0 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 128 418 1 f 384 0 4 0x1000 2 -8 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 3 3 0x1000 0x1080 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 4 0x1000 2 0 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 4 0x1000 2 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 1 0x1000 2 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 2 0xf 384 0 3 0 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 1 0x10000 384 0 3 0 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x100000000 0 384 0 3 0 0 0 NoVal", false),
        ("LDG.E 1 UR8 4 3 2 0x1000 0x1080 0 0 NoVal", false),
        ("UTMACMDFLUSH 0 0 0 NoVal", true),
        ("HGMMA.64x8x16 1 R4 1 0 0 NoVal", true),
        ("HGMMA.64x8x16 1 R4 2 0 0 NoVal", false),
        ("HGMMA.64x8x16 1 R4 0 NoVal", false),
        ("REPLAY_START 0 0 0 NoVal", true),
    ] {
        let found = read(&grouped("6", 0, &format!("0010 ffffffff 0 {line}")));
        assert_eq!(found.is_ok(), is_valid, "{line}: {found:?}");
        if let (true, Ok(found)) = (line.starts_with("UTMALDG"), found) {
            let tma = (&found["tma"]["addresses"], &found["tma"]["bytes"]);
            assert_eq!(tma, (&2.into(), &384.into()), "{line}");
        }
    }
}

#[test]
fn clusters_are_kept_and_their_lines_come_once() {
    let line = "0010 00000001 1 R1 LDG.E 1 R2 4 1 0x1000 0 0";
    let clusters = "cluster id = 1,0,0\ncluster cta = 0,1,0\ncluster rank = 1\n";
    let with = |clusters| grouped("5", 0, line).replace("warp = 0", &format!("{clusters}warp = 0"));
    let trace = bytes(with(clusters).as_bytes(), 1).unwrap();
    let block = trace.block(&trace.blocks()[0]).unwrap();
    let place = block.place(0);
    assert_eq!(
        (place.cluster, place.cta, place.index),
        (Some([1, 0, 0]), Some([1, 1, 0]), Some(0))
    );
    for (clusters, message) in [
        ("cluster id = 1,0\n", "text:11:14: expected `x,y,z`"),
        ("cluster rank = -1\n", "text:11:16: expected a rank in a cluster"),
        (
            "cluster rank = 1\ncluster rank = 1\n",
            "text:12:1: expected `cluster rank = n` once, after `thread block = x,y,z`",
        ),
    ] {
        assert_eq!(read(&with(clusters)).unwrap_err(), message);
    }
    let ungrouped = format!("{}1 1 0 1 1 0 0 0 1 0 1 {line} 0 NoVal\n", header("6"));
    let trace = bytes(ungrouped.as_bytes(), 1).unwrap();
    let place = trace.block(&trace.blocks()[0]).unwrap().place(0);
    assert_eq!((place.cluster, place.warp, place.index), (Some([1, 0, 0]), Some(1), None));
}

/// Instructions of version 1.2 name their thread block and warp, which are those of their group.
#[test]
fn ids_in_groups_are_compared() {
    let text = grouped("1.2", 1, "0010 00000000 0 MOV 0 0");
    assert!(read(&text).is_ok());
    for other in ["1 1 0 0 0010", "0 1 0 1 0010"] {
        let error = read(&text.replace("1 1 0 1 0010", other)).unwrap_err();
        assert!(error.starts_with("text:13:1: an instruction of another"), "{error}");
    }
    // The same ids after another warp began.
    let two = text.replace(
        "warp = 1\ninsts = 1\n",
        "warp = 1\ninsts = 1\n1 1 0 1 0010 00000000 0 MOV 0 0\nwarp = 0\ninsts = 1\n",
    );
    let error = read(&two).unwrap_err();
    assert!(error.starts_with("text:16:1: an instruction of another"), "{error}");
}

/// A `.tracez` of one warp a thread block.
struct Tracez {
    header: String,
    /// The chunks of each warp, each of one frame.
    warps: Vec<Vec<String>>,
}

impl Tracez {
    fn new(warps: &[&[&str]]) -> Self {
        let header = header("6").replace("(48,1,1)", "(32,1,1)");
        let owned = |chunks: &&[&str]| chunks.iter().map(|chunk| (*chunk).to_owned()).collect();
        Self { header, warps: warps.iter().map(owned).collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut data = self.header.clone().into_bytes();
        data.extend([0; 9]);
        let mut index = (self.warps.len() as u32).to_le_bytes().to_vec();
        for (x, chunks) in (0u32..).zip(&self.warps) {
            let lines: Vec<_> = chunks.iter().map(|text| text.lines().count() as u32).collect();
            let counts = [lines.iter().sum(), chunks.len() as u32];
            for number in [x, 0, 0, x, 0, 0, 0, 0, 0, 0, 1].into_iter().chain(counts) {
                index.extend(number.to_le_bytes());
            }
            index.extend((data.len() as u64).to_le_bytes());
            index.extend(lines.iter().flat_map(|lines| lines.to_le_bytes()));
            data.extend(counts.into_iter().flat_map(u32::to_le_bytes));
            for chunk in chunks {
                let frame = zstd::bulk::compress(chunk.as_bytes(), 3).unwrap();
                data.extend((frame.len() as u32).to_le_bytes());
                data.extend(frame);
            }
        }
        let at = data.len() as u64;
        data.extend(index);
        data.extend(at.to_le_bytes());
        data
    }
}

const MOV: &str = "0010 ffffffff 1 R1 MOV 1 R2 0 0 0 NoVal ";
const LDG: &str = "0020 ffffffff 1 R1 LDG.E 1 R2 4 1 0x1000 4 0 0 NoVal ";

#[test]
fn frames_of_a_tracez() {
    let two = format!("{MOV}\n{LDG}");
    let trace = Tracez::new(&[&[&two, LDG], &[], &[LDG]]).bytes();
    for threads in [1, 2] {
        let trace = bytes(&trace, threads).unwrap();
        assert_eq!((trace.records(), trace.loads(), trace.contents().complete), (4, 3, true));
    }
    let none = bytes(&Tracez::new(&[]).bytes(), 1).unwrap();
    assert_eq!((none.records(), none.contents().notes.len()), (0, 1));
    // What is wrong in a frame's text has the frame's place.
    let offset = header("6").len() + 9 + 12;
    let wrong = LDG.replace(" 4 1 0x", " 4 5 0x");
    for (chunk, message) in [
        (
            format!("{MOV}\n{wrong}"),
            "line 2 of the frame's text, column 33: \"5\"; expected an address mode: 0, 1 or 2",
        ),
        (format!("{MOV}\n#END_TB"), "line 2 of the frame's text is not an instruction"),
        (format!("{MOV}\n\n{MOV}"), "line 2 of the frame's text is not an instruction"),
    ] {
        for threads in [1, 2] {
            let error = bytes(&Tracez::new(&[&[&chunk]]).bytes(), threads).map(drop).unwrap_err();
            assert_eq!(error, format!("text: byte offset {offset}: {message}"));
        }
    }
    // A line end after the last line is one line more.
    let error = bytes(&Tracez::new(&[&[&format!("{MOV}\n")]]).bytes(), 1).map(drop).unwrap_err();
    assert!(error.ends_with("line 2 of the frame's text is not an instruction"), "{error}");
    let twice = Tracez::new(&[&[MOV], &[MOV]]);
    let mut twice = twice.bytes();
    let at = twice.len() - 8 - 64;
    twice[at] = 0;
    let error = bytes(&twice, 1).map(drop).unwrap_err();
    assert!(error.ends_with(": thread block 0,0,0 for the second time"), "{error}");
}

/// No part of a `.tracez` is one, and no change of a byte does harm.
#[test]
fn every_cut_and_every_changed_byte_of_a_tracez() {
    let whole = Tracez::new(&[&[MOV, LDG], &[&format!("{LDG}\n{MOV}")]]).bytes();
    let header = header("6").len();
    for end in header..whole.len() {
        let error = bytes(&whole[..end], 1).map(drop);
        // Without its byte 0 it is a text that has no instructions yet.
        assert_eq!(error.is_err(), end > header, "{end}");
    }
    for at in header + 1..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            if let Ok(trace) = bytes(&changed, 1) {
                assert_eq!(trace.records(), 4, "byte {at}");
            }
        }
    }
}

#[test]
fn lists_of_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("one.tracez"), Tracez::new(&[&[MOV, LDG]]).bytes()).unwrap();
    std::fs::write(path("two.traceg"), grouped("5", 0, "0010 00000000 0 MOV 0 0 0")).unwrap();
    let list = |text: &str| {
        std::fs::write(path("kernelslist.g"), text).unwrap();
        file(&path("kernelslist.g"), 2)
            .map_err(|error| error.replace(&*folder.path().to_string_lossy(), ""))
    };
    let trace = list(
        "cudaMalloc,0x1000,64\nMemcpyHtoD,0x2000,32\none.tracez\nMemcpyDtoH,0x1000,4\ncudaFree,x\n\
         two.traceg\n",
    )
    .unwrap();
    assert_eq!((trace.records(), trace.contents().kernels.len()), (3, 2));
    assert_eq!(trace.contents().allocations, [(0x1000, 64), (0x2000, 32)]);
    for (text, message) in [
        ("cudaMalloc,1000,64\n", "/kernelslist.g:1:1: expected `cudaMalloc,0xADDRESS,BYTES`"),
        ("MemcpyHtoD,0x1000,-1\n", "/kernelslist.g:1:1: expected `MemcpyHtoD,0xADDRESS,BYTES`"),
        (
            "one.tracez\nkernelslist.g\n",
            "/kernelslist.g:2:1: /kernelslist.g: a list of kernels inside a list of kernels; expected a \
             trace",
        ),
    ] {
        assert_eq!(list(text).map(drop).unwrap_err(), message);
    }
}

#[test]
fn configurations_of_simulators_are_named() {
    for text in [
        "-trace_opcode_latency_initiation_int 4,2\n",
        "-gpgpu_n_clusters 80\n",
        "-icnt_flit_size 40\n",
        "-network_mode 2\n",
        "# a comment = 1\n\n# another\n-gpgpu_ptx_instruction_classification 0\n",
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains("not a configuration of GPGPU-Sim or Accel-Sim"), "{error}");
    }
}
