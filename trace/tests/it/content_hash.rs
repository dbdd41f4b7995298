//! Traces that say the same have one content hash.

use std::io::Cursor;
use std::path::Path;

use warpload_trace::{Compression, TraceWriter, export_jsonl, import, import_from};

use crate::random::Random;
use crate::samples::{Form, Item, Record, open, write_with};

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
            let output = Cursor::new(Vec::new());
            let mut writer =
                TraceWriter::with_compression(output, "a test".to_owned(), compression).unwrap();
            import(&path, &mut writer, 2, &|_| {}).unwrap();
            open(&writer.finish().unwrap().into_inner())
        };
        let trace = imported(Compression::default());
        assert_eq!(imported(Compression::None).content_hash(), trace.content_hash(), "{name}");
        let mut lines = Vec::new();
        export_jsonl(&trace, &mut lines, |_| ()).unwrap();
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "another".to_owned()).unwrap();
        import_from(&lines[..], Path::new("export"), &mut writer, 2, &|_| {}).unwrap();
        let again = open(&writer.finish().unwrap().into_inner());
        assert_eq!(again.content_hash(), trace.content_hash(), "{name}");
        samples += 1;
    }
    assert!(samples > 25, "{samples}");
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
