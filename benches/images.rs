//! Opening a memory image: read, or mapped.
#![allow(clippy::expect_used, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::fs::File;
use std::io::Write;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use warpload::encoding::{Instruction, Sm};
use warpload::load::Executor;
use warpload::memory::Arena;
use warpload::warp::Warp;
use warpload_suite::image::Manifest;

/// One load from an image of 256 MiB. Mapped, a single page of it is read; copied, all of it.
fn open_image(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut file = File::create(folder.path().join("heap.bin")).expect("created");
    for _ in 0..256 {
        file.write_all(&vec![0x5a; 1 << 20]).expect("written");
    }
    let manifest = folder.path().join("image.json");
    let json = r#"{"memory": {"global": [{"base": "0x100000000", "file": "heap.bin"}]}}"#;
    std::fs::write(&manifest, json).expect("written");
    let load = Instruction::parse("LD.E R0, [R2]", Sm::SPA5).expect("legal");
    let mut group = criterion.benchmark_group("open an image of 256 MiB, execute one load");
    group.sample_size(10);
    type Map = fn(&Path, &File) -> std::io::Result<Arena>;
    let ways: [(&str, Option<Map>); 3] = [
        // SAFETY: nothing changes the file while it is mapped.
        ("mapped read-only", Some(|_, file| unsafe { Arena::map_read_only(file) })),
        // SAFETY: as above.
        ("mapped copy-on-write", Some(|_, file| unsafe { Arena::map_copy_on_write(file) })),
        ("read", None),
    ];
    for (name, map) in ways {
        group.bench_function(name, |b| {
            b.iter(|| {
                let opened = Manifest::open(&manifest).expect("a manifest");
                let machine = match map {
                    Some(map) => opened.machine_with(&map, &|_, _| ()),
                    None => opened.machine(),
                };
                let machine = machine.expect("a legal image");
                Executor::Fast.execute(&load, &machine, &mut Warp::new())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, open_image);
criterion_main!(benches);
