//! Traces that say the same have one content hash.

use std::io::Cursor;
use std::path::Path;

use warpload_trace::{Compression, TraceWriter, export_jsonl, import, import_from};

use crate::samples::open;

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
