//! Memory images: manifests, the files that they name, and maps of them.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use warpload::encoding::{Instruction, Reg, Sm};
use warpload::lane::LANES;
use warpload::load::{LaneFaultKind, Outcome, execute, reference};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::Arena;
use warpload::warp::Warp;
use warpload_suite::image::{self, ImageError, Manifest};

/// The use of a file that holds all bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mapping {
    ReadOnly,
    CopyOnWrite,
    Copy,
}

fn open(manifest: &Path, mapping: Mapping) -> Result<Machine, ImageError> {
    let map: fn(&Path, &fs::File) -> std::io::Result<Arena> = match mapping {
        // SAFETY: no test changes a mapped file.
        Mapping::ReadOnly => |_, file| unsafe { Arena::map_read_only(file) },
        // SAFETY: as above.
        Mapping::CopyOnWrite => |_, file| unsafe { Arena::map_copy_on_write(file) },
        Mapping::Copy => return image::open(manifest),
    };
    Manifest::open(manifest)?.machine_with(&map, &|_, _| ())
}

const MAPPINGS: [Mapping; 3] = [Mapping::ReadOnly, Mapping::CopyOnWrite, Mapping::Copy];

/// A folder with `bytes.bin`, which holds the bytes 0, 1, .. 255.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bytes.bin"), counting()).unwrap();
        Self(folder)
    }

    /// Writes a manifest with this `memory` and opens it.
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

/// The kind of the arena, from its `Debug`.
fn backing(machine: &Machine) -> String {
    format!("{:?}", machine.memory.arena())
}

/// The one global allocation's bytes.
fn allocated(machine: &Machine) -> &[u8] {
    let [allocation] = machine.memory.allocations() else { panic!("not one allocation") };
    machine.memory.allocation_bytes(allocation)
}

/// An error and its sources, as people see them.
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

/// From the offset on, as many bytes as the file has or as the manifest says.
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
    assert_eq!(backing(&opened(Mapping::CopyOnWrite)), "Arena(mapped privately, 256 bytes)");
    assert_eq!(backing(&opened(Mapping::Copy)), "Arena(owned, 266 bytes)");
    for mapping in MAPPINGS {
        let memory = opened(mapping).memory;
        assert_eq!(memory.shared_bytes(), [248, 249, 250, 251, 252, 253, 254, 255]);
        assert_eq!(memory.local_low_bytes(31), [132, 133, 134, 135]);
        assert_eq!(memory.local_high_bytes(1), [2, 3]);
        assert_eq!(memory.constant_bytes(0), Some(&[1, 2][..]));
    }
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

/// Loads from global, shared and local memory, in bounds and out of bounds.
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
                        let load = Instruction::parse(text, Sm::SPA5).unwrap();
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

/// Paths are relative to the manifest's folder, not to the working folder.
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
        assert_eq!(allocated(&open(&manifest, Mapping::ReadOnly).unwrap()), counting());
    }
    fs::write(&manifest, text("bytes.bin")).unwrap();
    let (key, message) = failure(open(&manifest, Mapping::ReadOnly));
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
            "{}: the file has 256 bytes, fewer than offset {offset} and length {length}",
            path.display()
        );
        for mapping in MAPPINGS {
            for memory in [&memory, &alone] {
                let got = failure(folder.open(memory, mapping));
                assert_eq!(got, ("memory.shared".into(), expected.clone()));
            }
        }
    }
    // Without a length, an offset past the end is an error too.
    let memory = r#"{"shared": {"file": "bytes.bin", "offset": 257}}"#;
    assert_eq!(failure(folder.open(memory, Mapping::ReadOnly)).0, "memory.shared");
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
            let load = Instruction::parse("LD R0, [0x1000]", Sm::SPA5).unwrap();
            let outcome = execute(&load, &machine, &mut warp).unwrap();
            assert_eq!(outcome.lane_faults.lanes(LaneFaultKind::OutsideAllocation).count(), 32);
        }
    }
    let machine = folder.open_manifest("{}", Mapping::ReadOnly).unwrap();
    assert!(machine.memory.arena().bytes().is_empty());
}

/// A manifest describes no warp.
#[test]
fn keys_of_a_warp_are_refused() {
    let folder = Folder::new();
    for (key, value) in [("registers", "{}"), ("predicates", "{}"), ("active", r#""0x1""#)] {
        let manifest = format!(r#"{{"{key}": {value}}}"#);
        let got = failure(folder.open_manifest(&manifest, Mapping::ReadOnly));
        assert_eq!(got.0, key);
        assert_eq!(got.1, "unexpected key: a memory image has no warp");
    }
}

#[test]
fn broken_manifests() {
    let folder = Folder::new();
    let path = folder.manifest();
    let broken = folder.open_manifest("{\"memory\":\n {\"shared\": 5}}", Mapping::ReadOnly);
    let message = shown(&broken.unwrap_err());
    let expected = format!("{}:2:", path.display());
    assert!(message.starts_with(&expected), "{message}");
    let rest = ": no memory image: memory.shared: invalid type: integer `5`, expected an object";
    assert!(message.ends_with(rest), "{message}");

    let (key, message) = failure(folder.open(r#"{"global": [{"base": "0x0"}]}"#, Mapping::Copy));
    assert_eq!(key, "memory.global[0]");
    assert!(message.contains("expected either `hex`"));

    // An impossible configuration has no position.
    let beyond = r#"{"global": [{"base": "0xffffffffff", "file": "bytes.bin"}]}"#;
    let message = shown(&folder.open(beyond, Mapping::ReadOnly).unwrap_err());
    let rest = "no memory image: memory: the allocation (base 0xffffffffff, size 0x100) reaches beyond 2^40";
    assert_eq!(message, format!("{}: {rest}", path.display()));
}

#[test]
fn a_manifest_that_cannot_be_read() {
    let folder = Folder::new();
    let missing = folder.0.path().join("missing.json");
    let error = open(&missing, Mapping::ReadOnly).unwrap_err();
    assert!(matches!(&error, ImageError::Io { path, .. } if *path == missing));
    let expected = format!("{} could not be read: ", missing.display());
    assert!(shown(&error).starts_with(&expected));
    // Bytes are not text.
    assert!(matches!(
        open(&folder.0.path().join("bytes.bin"), Mapping::ReadOnly),
        Err(ImageError::Io { .. })
    ));
    // One byte more than 64 MiB, of which the file system need not hold any.
    let large = folder.0.path().join("large.json");
    fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    let message = shown(&open(&large, Mapping::ReadOnly).unwrap_err());
    assert!(message.contains("expected a manifest of at most 67108864 bytes"), "{message}");
}

/// Endless inputs, and files larger than any memory, are refused before they are read.
#[test]
fn sources_are_bounded_before_they_are_read() {
    let folder = Folder::new();
    // A hole: the file system need not hold any of it.
    let large = folder.0.path().join("large.bin");
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let manifest = r#"{"address_bits": 49, "memory": {"shared": {"hex": "07"}, "global":
        [{"base": "0x100000000", "file": "large.bin", "length": 549755813888}]}}"#;
    for mapping in MAPPINGS {
        let (key, message) = failure(folder.open_manifest(manifest, mapping));
        assert_eq!(key, "memory");
        let expected = "549755813889 bytes do not fit into memory; ";
        assert!(message.starts_with(expected), "{message}");
    }
    // Nor is it for its layout.
    let layout = Manifest::open(&folder.manifest()).unwrap().layout().unwrap();
    assert_eq!((layout.bytes, layout.regions.global[0].size), ((1 << 39) + 1, 1 << 39));
}

/// The library opens no pipe and no device, because reading them may never begin or never end.
#[cfg(unix)]
#[test]
fn only_regular_files_are_sources() {
    let folder = Folder::new();
    let fifo = folder.0.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (path, kind) in [
        (&*fifo, "a pipe, a device or a socket"),
        (Path::new("/dev/zero"), "a pipe, a device or a socket"),
        (folder.0.path(), "a folder"),
    ] {
        let expected = format!("{}: is {kind}; expected a regular file", path.display());
        for second in ["", r#", "constant": [{"bank": 0, "hex": "07"}]"#] {
            let memory = format!(r#"{{"shared": {{"file": {path:?}, "length": 1}}{second}}}"#);
            for mapping in MAPPINGS {
                let got = failure(folder.open(&memory, mapping));
                assert_eq!(got, ("memory.shared".to_owned(), expected.clone()));
            }
            let layout = Manifest::open(&folder.manifest()).unwrap().layout();
            assert!(shown(&layout.unwrap_err()).ends_with(&expected));
        }
        let message = shown(&image::open(path).unwrap_err());
        assert!(message.ends_with(&format!("is {kind}; expected a regular file")), "{message}");
    }
}

/// The layout of a manifest equals the layout of the opened memory.
#[test]
fn a_layout_is_that_of_the_memory() {
    let folder = Folder::new();
    let several = r#"{"shared": {"hex": "0102"}, "constant": [{"bank": 3, "file": "bytes.bin"}]}"#;
    for memory in [ONE_FILE, several, "{}"] {
        let machine = folder.open(memory, Mapping::ReadOnly).unwrap();
        let layout = Manifest::open(&folder.manifest()).unwrap().layout().unwrap();
        let (regions, memory) = (&layout.regions, &machine.memory);
        assert_eq!(layout.bytes, memory.arena().bytes().len() as u64);
        assert_eq!(layout.map, *memory.map());
        assert_eq!(regions.global, memory.allocations());
        assert_eq!(&memory.arena().bytes()[regions.shared.clone()], memory.shared_bytes());
        for bank in &regions.constant {
            let bytes = &memory.arena().bytes()[bank.bytes.clone()];
            assert_eq!(Some(bytes), memory.constant_bytes(bank.bank));
        }
        assert_eq!(regions.local_low.bytes_per_lane, memory.local_low_bytes(0).len());
        assert_eq!(regions.local_high.bytes_per_lane, memory.local_high_bytes(0).len());
    }
    let message = r#"{"constant": [{"bank": 0, "hex": ""}, {"bank": 0, "hex": ""}]}"#;
    let machine = shown(&folder.open(message, Mapping::Copy).unwrap_err());
    let layout = Manifest::open(&folder.manifest()).unwrap().layout();
    assert_eq!(shown(&layout.unwrap_err()), machine);
}
