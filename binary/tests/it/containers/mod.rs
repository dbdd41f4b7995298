//! GPU code in ordinary files: images and their bytes, compared with cuobjdump. Damage is an error, in bounded memory.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

mod build;
mod damage;
mod limits;

use std::fs;
use std::path::{Path, PathBuf};

use build::{ELF, Entry, PTX, archive, coff, concatenated, fatbin, record};
use sha2::{Digest, Sha256};
use warpload_binary::container::{Compression, GpuCode, GpuCodeKind, GpuCodes};

fn sample(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data/fatbins")
}

/// The images. Fails if one is damaged.
fn images(file: &[u8]) -> Vec<GpuCode<'_>> {
    GpuCodes::new(file).map(|image| image.unwrap()).collect()
}

fn bytes(image: &GpuCode<'_>) -> Vec<u8> {
    image.read().unwrap().bytes.to_vec()
}

/// Kind, SM and bytes of each image.
fn found(file: &[u8]) -> Vec<(GpuCodeKind, String, Vec<u8>)> {
    let images = images(file).into_iter().map(|image| {
        let read = image.read().unwrap();
        (image.kind, read.sm.unwrap().to_string(), read.bytes.to_vec())
    });
    images.collect()
}

/// The images have the same bytes and order as in cuobjdump.
#[test]
fn images_are_those_of_cuobjdump() {
    let expected = String::from_utf8(sample("expected.jsonl")).unwrap();
    let expected: Vec<serde_json::Value> =
        expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(expected.len(), 46);
    let mut files: Vec<&str> = expected.iter().map(|row| row["file"].as_str().unwrap()).collect();
    files.dedup();
    assert_eq!(files.len(), 11);
    for file in files {
        for (kind, name) in [(GpuCodeKind::Cubin, "cubin"), (GpuCodeKind::Ptx, "ptx")] {
            let is_expected = |row: &&serde_json::Value| row["file"] == file && row["kind"] == name;
            let expected: Vec<(u64, u64, String)> = expected
                .iter()
                .filter(is_expected)
                .map(|row| {
                    let sha256 = row["sha256"].as_str().unwrap().to_owned();
                    (row["sm"].as_u64().unwrap(), row["bytes"].as_u64().unwrap(), sha256)
                })
                .collect();
            let data = sample(file);
            let images = images(&data).into_iter().filter(|image| image.kind == kind);
            let found: Vec<(u64, u64, String)> = images
                .map(|image| {
                    let read = image.read().unwrap();
                    let hash: String =
                        Sha256::digest(&*read.bytes).iter().map(|b| format!("{b:02x}")).collect();
                    (u64::from(read.sm.unwrap().number()), read.bytes.len() as u64, hash)
                })
                .collect();
            assert_eq!(found, expected, "{file} {name}");
        }
    }
}

#[test]
fn what_is_around_an_image_is_named() {
    let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
    let some = |text: &str| Some(text.to_owned());
    let archive = sample("lib.a");
    let places: Vec<_> =
        images(&archive).iter().map(|image| (text(image.member), text(image.section))).collect();
    let place = |member| (some(member), some(".nv_fatbin"));
    assert_eq!(places[..4], vec![place("host.o"); 4]);
    assert_eq!(places[4..], vec![place("unit.o"); 4]);
    for (file, section) in
        [("program", ".nv_fatbin"), ("lib.so", ".nv_fatbin"), ("host.obj", ".nv_fatb")]
    {
        let data = sample(file);
        for image in images(&data) {
            assert!(text(image.section).unwrap().starts_with(section), "{file} {image:?}");
            assert_eq!(image.member, None);
        }
    }
    let debug = sample("debug.fatbin");
    let images = images(&debug);
    assert_eq!(text(images[0].name), some("a name.cu"));
    assert_eq!(text(images[0].options), None);
    assert_eq!(text(images[1].options), some("-lineinfo -maxrregcount 32"));
    assert_eq!((images[0].container, images[0].entry), (Some(0), Some(16)));
    assert_eq!(images[1].section, None);
}

/// An entry with records of compatibility has no options.
#[test]
fn records_of_compatibility_are_not_options() {
    let size = sample("size.fatbin");
    for image in images(&size) {
        assert_eq!(image.options, None);
        assert_eq!(image.compression, Some(Compression::Zstd));
    }
}

/// Several entries with several images each. Their records have names and compatibility after the 64 bytes.
#[test]
fn records_of_any_length() {
    let data = sample("concat-named.fatbin");
    let sms: Vec<String> = found(&data).into_iter().map(|(_, sm, _)| sm).collect();
    assert_eq!(sms, ["90a", "90a", "100", "120a"]);
    for image in images(&data) {
        assert_eq!(image.name, Some(&b"me.cu"[..]));
        assert_eq!((image.read().unwrap().bytes.len() as u64).next_multiple_of(8), image.size);
    }
}

#[test]
fn containers_are_found_at_any_alignment() {
    let cubin = sample("kernel.cubin");
    let entries = [Entry::plain(ELF, 75, &cubin), Entry::lz4(PTX, b".version 8.0\n\0")];
    let fatbin = fatbin(&entries);
    let expected = [
        (GpuCodeKind::Cubin, "75".to_owned(), cubin.clone()),
        (GpuCodeKind::Ptx, "75".to_owned(), b".version 8.0\n".to_vec()),
    ];
    for before in 0..17 {
        // Other data are skipped.
        let file =
            [&vec![1; before], &b"\x50\xed\x55\xba"[..before.min(4)], &fatbin, b"\x50\xed\x55"];
        assert_eq!(found(&file.concat())[..], expected, "{before}");
    }
    assert_eq!(found(&cubin), [(GpuCodeKind::Cubin, "75".to_owned(), cubin.clone())]);
    let object = coff(b".nv_fatb", &fatbin);
    assert_eq!(found(&object)[..], expected);
    assert_eq!(images(&object)[1].section, Some(&b".nv_fatb"[..]));
    // A cubin can be a member itself.
    let file =
        archive(&[("a.obj", &object), ("b.cubin", &cubin), ("c", b"odd"), ("d.fatbin", &fatbin)]);
    let members: Vec<_> = images(&file).iter().map(|image| image.member.unwrap()).collect();
    assert_eq!(members, [&b"a.obj"[..], b"a.obj", b"b.cubin", b"d.fatbin", b"d.fatbin"]);
    let all = [&expected[..], &expected[..1], &expected[..]].concat();
    assert_eq!(found(&file), all);
}

#[test]
fn every_compression_is_read() {
    let cubin = sample("kernel.cubin");
    let entries: [fn(u16, &[u8]) -> Entry; 3] = [Entry::lz4, Entry::zlib, Entry::zstd];
    let names = [Compression::Lz4, Compression::Zlib, Compression::Zstd];
    for (entry, name) in entries.into_iter().zip(names) {
        let file = fatbin(&[entry(ELF, &cubin), entry(7, b"another kind")]);
        let images = images(&file);
        assert_eq!(bytes(&images[0]), cubin, "{name}");
        assert_eq!((images[0].compression, images[0].size), (Some(name), cubin.len() as u64));
        assert_eq!(
            (images[1].kind, bytes(&images[1])),
            (GpuCodeKind::Other(7), b"another kind".into())
        );
    }
    let padded = cubin.len().next_multiple_of(8);
    let mut stream = cubin.clone();
    stream.resize(padded, 0);
    stream.extend(&cubin);
    stream.resize(2 * padded, 0);
    let size = padded as u64;
    let records = [record(0, size, 75), record(padded as u32, size, 75)];
    let file = fatbin(&[concatenated(&stream, &records), Entry::plain(PTX, 75, b"ptx")]);
    let images = images(&file);
    assert_eq!(images.iter().map(bytes).collect::<Vec<_>>(), [&cubin[..], &cubin[..], b"ptx"]);
}

/// A cubin has the same SM as its container, including the letter, which ptxas 13.5 writes to `.nv.compat`.
#[test]
fn instructions_have_the_sm_of_their_image() {
    let mut sms = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let file = fs::read(entry.unwrap().path()).unwrap();
        for image in GpuCodes::new(&file).map(|image| image.unwrap()) {
            if image.kind != GpuCodeKind::Cubin {
                continue;
            }
            let read = image.read().unwrap();
            let mut sass =
                warpload_binary::sass::read(&*read.bytes, warpload_binary::sass::Format::Detect)
                    .unwrap();
            let sm = sass.next().unwrap().unwrap().sm.unwrap().to_string();
            assert_eq!(sm, read.sm.unwrap().to_string());
            sms.push(sm);
        }
    }
    assert!(["75", "90a", "120a"].iter().all(|known| sms.iter().any(|sm| sm == known)), "{sms:?}");
}
