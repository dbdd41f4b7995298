//! Memory images: manifests, the files that they name, and maps of them.

#![cfg(all(feature = "json", feature = "mmap"))]
#![allow(clippy::unwrap_used)]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use warpload::encoding::{Reg, parse_line};
use warpload::lane::LANES;
use warpload::load::{Outcome, execute, reference};
use warpload::machine::{Machine, Misaligned};
use warpload::suite::image::{ImageError, Mapping, open};
use warpload::warp::Warp;

const MAPPINGS: [Mapping; 3] = [Mapping::ReadOnly, Mapping::CopyOnWrite, Mapping::Copy];

/// A folder with `bytes.bin`, which holds the bytes 0, 1, .. 255.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bytes.bin"), counting()).unwrap();
        Self(folder)
    }

    /// Writes a manifest with that `memory` and opens it.
    fn open(&self, memory: &str, mapping: Mapping) -> Result<Machine, ImageError> {
        self.open_manifest(&format!(r#"{{"memory": {memory}}}"#), mapping)
    }

    fn open_manifest(&self, manifest: &str, mapping: Mapping) -> Result<Machine, ImageError> {
        fs::write(self.manifest(), manifest).unwrap();
        open(&self.manifest(), mapping)
    }

    fn manifest(&self) -> PathBuf {
        self.0.path().join("manifest.json")
    }
}

fn counting() -> Vec<u8> {
    (0..=255).collect()
}

/// How the arena came to be, as it says itself.
fn backing(machine: &Machine) -> String {
    format!("{:?}", machine.memory.arena())
}

/// The one global allocation's bytes.
fn allocated(machine: &Machine) -> &[u8] {
    let [allocation] = machine.memory.allocations() else { panic!("not one allocation") };
    machine.memory.allocation_bytes(allocation)
}

/// An error and what is behind it, as it is shown to people.
fn shown(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", shown(source)),
        None => error.to_string(),
    }
}

/// The error of a manifest: the key, and the message.
fn failure(opened: Result<Machine, ImageError>) -> (String, String) {
    match opened.unwrap_err() {
        ImageError::Manifest { source, .. } => (source.key.unwrap(), source.message),
        other => panic!("{other}"),
    }
}

#[test]
fn bytes_in_the_manifest() {
    let folder = Folder::new();
    let manifest = r#"{"register_limit": 40, "misaligned": "report", "address_bits": 49,
        "windows": {"local": {"base": "0x0", "size": "0x1000"}},
        "memory": {"global": [{"base": "0x1000", "hex": "0a0B"}],
        "constant": [{"bank": 3, "hex": "ff"}]}}"#;
    for mapping in MAPPINGS {
        let machine = folder.open_manifest(manifest, mapping).unwrap();
        assert_eq!(allocated(&machine), [10, 11]);
        assert_eq!(machine.memory.constant_bytes(3), Some(&[255][..]));
        assert_eq!(machine.register_limit.get(), 40);
        assert_eq!(machine.misaligned, Misaligned::Report);
        assert_eq!(machine.memory.map().address_bits(), 49);
        assert_eq!(machine.memory.map().local().size, 0x1000);
        assert!(backing(&machine).starts_with("Arena(owned"));
    }
}

/// From the offset on, as many bytes as there are or as the manifest says.
#[test]
fn parts_of_a_file() {
    let folder = Folder::new();
    for (part, expected) in [
        ("", 0..256),
        (r#", "offset": 250"#, 250..256),
        (r#", "length": 3"#, 0..3),
        (r#", "offset": 16, "length": 16"#, 16..32),
        (r#", "offset": 0, "length": 256"#, 0..256),
    ] {
        for mapping in MAPPINGS {
            let memory =
                format!(r#"{{"global": [{{"base": "0x1000", "file": "bytes.bin"{part}}}]}}"#);
            let machine = folder.open(&memory, mapping).unwrap();
            assert_eq!(allocated(&machine), &counting()[expected.clone()]);
        }
    }
}

/// All spaces out of one file: 32 lanes of 4 bytes, 32 of 2, and 8 bytes of shared memory.
const ONE_FILE: &str = r#"{
    "global": [{"base": "0x1000", "file": "bytes.bin", "offset": 32, "length": 64}],
    "shared": {"file": "bytes.bin", "offset": 248},
    "local": {"bytes_per_lane": 4, "file": "bytes.bin", "offset": 8, "length": 128,
        "high": {"bytes_per_lane": 2, "file": "bytes.bin", "length": 64}},
    "constant": [{"bank": 0, "file": "bytes.bin", "offset": 1, "length": 2}]}"#;

#[test]
fn one_file_is_mapped() {
    let folder = Folder::new();
    let opened = |mapping| folder.open(ONE_FILE, mapping).unwrap();
    assert_eq!(backing(&opened(Mapping::ReadOnly)), "Arena(mapped read-only, 256 bytes)");
    assert_eq!(backing(&opened(Mapping::CopyOnWrite)), "Arena(mapped copy-on-write, 256 bytes)");
    assert_eq!(backing(&opened(Mapping::Copy)), "Arena(owned, 266 bytes)");
    for mapping in MAPPINGS {
        let memory = opened(mapping).memory;
        assert_eq!(memory.shared_bytes(), [248, 249, 250, 251, 252, 253, 254, 255]);
        assert_eq!(memory.local_low_bytes(31), [132, 133, 134, 135]);
        assert_eq!(memory.local_high_bytes(1), [2, 3]);
        assert_eq!(memory.constant_bytes(0), Some(&[1, 2][..]));
    }
    assert_eq!(Mapping::default(), Mapping::ReadOnly);
}

#[test]
fn several_sources_are_copied() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("other.bin"), [7; 3]).unwrap();
    for second in [r#"{"hex": "070707"}"#, r#"{"file": "other.bin"}"#] {
        let memory = format!(
            r#"{{"global": [{{"base": "0x1000", "file": "bytes.bin", "offset": 254}}],
                "shared": {second}}}"#
        );
        for mapping in MAPPINGS {
            let machine = folder.open(&memory, mapping).unwrap();
            assert_eq!(backing(&machine), "Arena(owned, 5 bytes)");
            assert_eq!(allocated(&machine), [254, 255]);
            assert_eq!(machine.memory.shared_bytes(), [7; 3]);
        }
    }
}

#[test]
fn changes_never_reach_the_file() {
    let folder = Folder::new();
    for mapping in MAPPINGS {
        let mut machine = folder.open(ONE_FILE, mapping).unwrap();
        let bytes = machine.memory.bytes_mut();
        if mapping == Mapping::ReadOnly {
            assert!(bytes.is_none());
            continue;
        }
        bytes.unwrap().fill(0xee);
        assert_eq!(allocated(&machine), [0xee; 64]);
        assert_eq!(fs::read(folder.0.path().join("bytes.bin")).unwrap(), counting());
    }
}

/// Loads from global, shared and local memory; what is in bounds and what is not.
#[test]
fn a_mapped_image_loads_as_a_copied_one() {
    let folder = Folder::new();
    let results: Vec<Vec<(Warp, Outcome)>> = MAPPINGS
        .map(|mapping| {
            let machine = folder.open(ONE_FILE, mapping).unwrap();
            let mut results = Vec::new();
            for (text, base) in [
                ("LD.U.128 R4, [R2]", 0x1010),
                ("LD R4, [R2]", 0x1000),
                ("LD.S8 R4, [R2]", 0xff00_0000),
                ("LD.U16 R4, [R2]", 0xffff_ffc0),
                ("LD.64 R4, [R2], P0", 0xfe00_0000),
            ] {
                for stride in [0, 2] {
                    for executor in [execute, reference] {
                        let mut warp = Warp::new();
                        let address = |lane| base + stride * lane as u32;
                        warp.set_register(Reg::new(2), std::array::from_fn(address));
                        let load = parse_line(text).unwrap().instruction;
                        let outcome = executor(&load, &machine, &mut warp).unwrap();
                        results.push((warp, outcome));
                    }
                }
            }
            results
        })
        .into();
    let loaded = results[0][0].0.register(Reg::new(4));
    assert_eq!(loaded, &[0x3332_3130; LANES]);
    assert!(results.iter().all(|other| other == &results[0]));
}

/// The manifest's folder counts, not the process's.
#[test]
fn paths_are_relative_to_the_manifest() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("inner")).unwrap();
    let manifest = folder.0.path().join("inner/manifest.json");
    let text = |path: &str| {
        format!(r#"{{"memory": {{"global": [{{"base": "0x1000", "file": {path:?}}}]}}}}"#)
    };
    let absolute = folder.0.path().join("bytes.bin");
    for path in ["../bytes.bin", absolute.to_str().unwrap()] {
        fs::write(&manifest, text(path)).unwrap();
        assert_eq!(allocated(&open(&manifest, Mapping::default()).unwrap()), counting());
    }
    fs::write(&manifest, text("bytes.bin")).unwrap();
    let (key, message) = failure(open(&manifest, Mapping::default()));
    assert_eq!(key, "memory.global[0]");
    let missing = folder.0.path().join("inner/bytes.bin");
    assert!(message.starts_with(&format!("{}: ", missing.display())), "{message}");
}

/// 256 bytes: neither 257, nor one from 256 on, nor a sum beyond 2^64. The message is the same
/// whether the file would have been mapped or copied.
#[test]
fn a_file_shorter_than_the_manifest_says() {
    let folder = Folder::new();
    for (offset, length) in [(0, 257), (256, 1), (1, u64::MAX)] {
        let memory = format!(
            r#"{{"constant": [{{"bank": 0, "hex": ""}}, {{"bank": 1, "hex": ""}}],
                "shared": {{"file": "bytes.bin", "offset": {offset}, "length": {length}}}}}"#
        );
        let alone = format!(
            r#"{{"shared": {{"file": "bytes.bin", "offset": {offset}, "length": {length}}}}}"#
        );
        let path = folder.0.path().join("bytes.bin");
        let expected = format!(
            "{}: the file has 256 bytes, which is shorter than offset {offset} and length {length}",
            path.display()
        );
        for mapping in MAPPINGS {
            for memory in [&memory, &alone] {
                let got = failure(folder.open(memory, mapping));
                assert_eq!(got, ("memory.shared".into(), expected.clone()));
            }
        }
    }
    // Without a length, an offset behind the end is an error too.
    let memory = r#"{"shared": {"file": "bytes.bin", "offset": 257}}"#;
    assert_eq!(failure(folder.open(memory, Mapping::default())).0, "memory.shared");
}

#[test]
fn no_bytes_at_all() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("empty.bin"), []).unwrap();
    for part in [
        r#""file": "empty.bin""#,
        r#""file": "empty.bin", "length": 0"#,
        r#""file": "bytes.bin", "length": 0"#,
        r#""file": "bytes.bin", "offset": 256"#,
        r#""hex": """#,
    ] {
        for mapping in MAPPINGS {
            let memory = format!(r#"{{"global": [{{"base": "0x1000", {part}}}]}}"#);
            let machine = folder.open(&memory, mapping).unwrap();
            assert!(machine.memory.allocations().is_empty());
            let mut warp = Warp::new();
            let load = parse_line("LD R0, [0x1000]").unwrap().instruction;
            let outcome = execute(&load, &machine, &mut warp).unwrap();
            assert_eq!(outcome.lane_faults.lanes("outside_allocation").count(), 32);
        }
    }
    let machine = folder.open_manifest("{}", Mapping::default()).unwrap();
    assert!(machine.memory.arena().bytes().is_empty());
}

/// A manifest describes no warp.
#[test]
fn keys_of_a_warp_are_refused() {
    let folder = Folder::new();
    for (key, value) in [("registers", "{}"), ("predicates", "{}"), ("active", r#""0x1""#)] {
        let manifest = format!(r#"{{"{key}": {value}}}"#);
        let got = failure(folder.open_manifest(&manifest, Mapping::default()));
        assert_eq!(got.0, key);
        assert_eq!(got.1, "a memory image has no warp; expected no such key");
    }
}

#[test]
fn broken_manifests() {
    let folder = Folder::new();
    let path = folder.manifest();
    let broken = folder.open_manifest("{\"memory\":\n {\"shared\": 5}}", Mapping::default());
    let message = shown(&broken.unwrap_err());
    let expected = format!("{}:2:", path.display());
    assert!(message.starts_with(&expected), "{message}");
    let rest = ": no memory image: memory.shared: invalid type: integer `5`, expected an object";
    assert!(message.ends_with(rest), "{message}");

    let (key, message) = failure(folder.open(r#"{"global": [{"base": "0x0"}]}"#, Mapping::Copy));
    assert_eq!(key, "memory.global[0]");
    assert!(message.contains("expected either `hex`"));

    // A configuration that cannot be has no position.
    let beyond = r#"{"global": [{"base": "0xffffffffff", "file": "bytes.bin"}]}"#;
    let message = shown(&folder.open(beyond, Mapping::default()).unwrap_err());
    let rest = "no memory image: memory: the allocation (base 0xffffffffff, size 0x100) reaches beyond 2^40";
    assert_eq!(message, format!("{}: {rest}", path.display()));
}

#[test]
fn a_manifest_that_cannot_be_read() {
    let folder = Folder::new();
    let missing = folder.0.path().join("missing.json");
    let error = open(&missing, Mapping::default()).unwrap_err();
    assert!(matches!(&error, ImageError::Io { path, .. } if *path == missing));
    let expected = format!("{} could not be read: ", missing.display());
    assert!(shown(&error).starts_with(&expected));
    // Bytes are no text.
    assert!(matches!(
        open(&folder.0.path().join("bytes.bin"), Mapping::default()),
        Err(ImageError::Io { .. })
    ));
    // One byte more than 64 MiB, of which the file system need not hold any.
    let large = folder.0.path().join("large.json");
    fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    let message = shown(&open(&large, Mapping::default()).unwrap_err());
    assert!(message.contains("a manifest of 67108865 bytes; expected at most 67108864"));
}
