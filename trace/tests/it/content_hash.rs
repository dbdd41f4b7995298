//! Traces that say the same have one content hash.

use std::io::Cursor;
use std::num::NonZero;
use std::path::Path;

use warpload_trace::binary::PtxPlace;
use warpload_trace::{Compression, ImportOptions, Kernel, TraceSource, TraceWriter, export_jsonl};

use crate::random::Random;
use crate::samples::{Form, Item, Record, imported as imported_stream, open, write_with};

#[test]
fn exports_and_compression_keep_the_content_hash() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/traces2"));
    let mut samples = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() || [".md", ".json", ".bin"].iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let imported = |compression| {
            let mut output = Cursor::new(Vec::new());
            let options = ImportOptions::new(NonZero::new(2).unwrap()).compression(compression);
            let source = TraceSource::open(&path, &()).unwrap();
            source.import_into(&mut output, &options, &()).unwrap();
            open(&output.into_inner())
        };
        let trace = imported(Compression::default());
        assert_eq!(imported(Compression::None).content_hash(), trace.content_hash(), "{name}");
        let mut lines = Vec::new();
        export_jsonl(&trace, &mut lines, |_| ()).unwrap();
        let source = TraceSource::from_stream(&lines[..], Path::new("export")).unwrap();
        let again = open(&imported_stream(source, 2).unwrap());
        assert_eq!(again.content_hash(), trace.content_hash(), "{name}");
        samples += 1;
    }
    assert!(samples > 25, "{samples}");
}

/// No line of an export is longer than an import reads, however much a trace says of itself and its kernels.
#[test]
fn an_export_of_long_lists_is_imported_again() {
    let long = |i: u32| format!("{i}{}", "\u{1b}".repeat(60 << 10));
    // An import names itself and the export.
    let source = format!("warpload {}, from export", env!("CARGO_PKG_VERSION"));
    let mut first = TraceWriter::new(Cursor::new(Vec::new()), source).unwrap();
    (0..30).for_each(|i| first.tool(&long(i)));
    (0..30).for_each(|i| first.note(&long(100 + i)));
    first.allocations((0..100_000).map(|i| (0x7f00_0000_0000 + (i << 20), 1 << 20)));
    for kernel in 0..3 {
        let name = long(200).into();
        let header = (0..4).map(|i| (long(i).into(), long(i + 1).into())).collect();
        first.kernel(Kernel { name, header, ..Kernel::default() }).unwrap();
        // A kernel with many lines of PTX, between others.
        for pc in 0..30_000 * u32::from(kernel == 1) {
            let text = "ld.global.f32 %f1, [%rd1+\"0x1000\"];";
            let place = PtxPlace { line: pc + 1, column: None };
            first.ptx_line(pc, place, text, Some((Some("kernel.cu"), pc / 2)));
        }
        first.skip().unwrap();
    }
    let trace = open(&first.finish().unwrap().into_inner());
    let mut lines = Vec::new();
    export_jsonl(&trace, &mut lines, |_| ()).unwrap();
    assert!(lines.split(|byte| *byte == b'\n').all(|line| line.len() < 1 << 20));
    let source = TraceSource::from_stream(&lines[..], Path::new("export")).unwrap();
    let again = open(&imported_stream(source, 1).unwrap());
    assert_eq!(again.contents(), trace.contents());
}

/// Lanes of random gathers are kept as they are, which saves the time of trying to compress them; a higher level tries.
/// Gathers that repeat are compressed by every level.
#[test]
fn long_columns_are_compressed_if_a_sample_says_so() {
    let mut random = Random(0);
    let mut gathers = |different: usize| {
        let mut address = || 0x1000_0000 + 4 * random.below(1 << 20) as u64;
        let lists: Vec<Vec<u64>> =
            (0..different).map(|_| (0..32).map(|_| address()).collect()).collect();
        let gather = |list: &Vec<u64>| Item::Record(Record::new("LDG.E", Form::List(list.clone())));
        lists.iter().cycle().take(4096).map(gather).collect::<Vec<Item>>()
    };
    let (all_different, repeated) = (gathers(4096), gathers(64));
    let bytes = |items: &[Item], level| write_with(items, Compression::Zstd(level)).len();
    let plain = write_with(&all_different, Compression::None).len();
    assert!(bytes(&all_different, 3) > plain * 96 / 100);
    assert!(bytes(&all_different, 4) < plain * 88 / 100);
    assert!(bytes(&repeated, 3) < plain / 20);
}
