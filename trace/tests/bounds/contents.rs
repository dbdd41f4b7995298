//! Binary traces that are small as files and claim much: contents that compress well, and blocks of one byte.

use std::io::Cursor;

use warpload::lane::LaneMask;
use warpload::memory::Arena;
use warpload_trace::{
    BinaryTrace, Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter,
};

use crate::{alone, mib, peak};

/// A column of a chunk: its number, its encoding and its bytes.
type Column = (u8, u8, Vec<u8>);

const REQUIRED: u8 = 0x80;
const COMPRESSED: u8 = 0x40;

fn chunk(columns: &[Column]) -> Vec<u8> {
    let mut bytes = vec![columns.len() as u8];
    for (id, encoding, data) in columns {
        bytes.extend([*id, encoding | REQUIRED]);
        let mut length = data.len();
        while length > 0x7f {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
    }
    columns.iter().for_each(|(.., data)| bytes.extend(data));
    bytes
}

/// A file of these blocks and this footer, as docs/trace-format.md describes it.
fn file(blocks: &[u8], footer: &[u8]) -> Vec<u8> {
    let mut header = b"WARPLOAD".to_vec();
    header.extend(3_u32.to_le_bytes());
    header.extend([0, 1, 0, 0]);
    header.extend((52 + blocks.len() as u64).to_le_bytes());
    header.extend((footer.len() as u32).to_le_bytes());
    header.extend(crc32fast::hash(footer).to_le_bytes());
    header.extend([0; 16]);
    header.extend(crc32fast::hash(&header).to_le_bytes());
    [&header, blocks, footer].concat()
}

fn compressed(json: &str) -> Column {
    let frame = zstd::bulk::compress(json.as_bytes(), 3).unwrap();
    (1, 1 | COMPRESSED, frame[4..].to_vec())
}

fn open(bytes: Vec<u8>) -> (Result<BinaryTrace, String>, usize) {
    peak::during(|| BinaryTrace::new(Arena::from(bytes)).map_err(|error| error.to_string()))
}

/// Every list and every text of the contents, from files of a few kilobytes. The limits of an import decide what is too
/// much, and the memory that the file may take.
#[test]
fn lists_and_texts_of_the_contents_are_bounded() {
    let _alone = alone();
    const COUNT: usize = 2_000_000;
    let list = |item: &str, count: usize| format!("[{}{item}]", format!("{item},").repeat(count));
    let json = |key: &str, value: &str| {
        let keys = ["names", "kernels", "operations"];
        let empty = keys.iter().filter(|known| **known != key);
        let empty: String = empty.map(|key| format!(",\"{key}\":[]")).collect();
        let source = if key == "source" { "" } else { "\"source\":\"\"," };
        format!("{{{source}\"{key}\":{value}{empty}}}")
    };
    let operation =
        "{\"opcode\":\"\",\"space\":\"local\",\"bytes\":1,\"signed\":false,\"uniform\":false}";
    let kernel = |more: &str| format!("{{\"name\":0,\"grid\":[0,0,0],\"block\":[0,0,0]{more}}}");
    let text = format!("\"{}\"", "a".repeat(15 << 20));
    let header = format!(",\"header\":{}", list("[0,0]", 17_000_000));
    for (key, value) in [
        ("tools", list("\"\"", 100)),
        ("notes", list("\"\"", 100)),
        ("notes", list("\"\"", COUNT)),
        ("notes", list(&text, 1)),
        ("tools", list(&text, 0)),
        ("source", text.clone()),
        ("source", format!("\"{}\"", "a".repeat(70_000))),
        ("names", list("\"\"", COUNT)),
        ("allocations", list("[0,0]", COUNT)),
        ("operations", list(operation, 200_000)),
        ("kernels", list(&kernel(""), 1_100_000)),
        ("kernels", list(&kernel(&header), 0)),
    ] {
        let json = json(key, &value);
        let bytes = file(&[], &chunk(&[compressed(&json)]));
        let (size, plain) = (bytes.len(), json.len());
        drop(json);
        let (opened, peak) = open(bytes);
        let error = opened.expect_err(key);
        assert!(error.starts_with("malformed: the footer at byte offset 52: "), "{key}: {error}");
        let most = 64_000_000 + 200 * size;
        assert!(peak < most, "{key}: {size} bytes, {plain} of JSON: {} MiB", mib(peak));
    }
}

/// Contents that each limit allows can take much memory together, because zstd makes them small. They need a file in
/// proportion: the same contents are opened if they are not compressed.
#[test]
fn contents_take_memory_in_proportion_to_the_file() {
    let _alone = alone();
    let json = |names: &str, kernels: &str| {
        format!("{{\"source\":\"\",\"names\":[{names}],\"kernels\":[{kernels}],\"operations\":[]}}")
    };
    let kernel = "{\"name\":0,\"grid\":[0,0,0],\"block\":[0,0,0]}";
    let list = |item: &str, count: usize| vec![item; count].join(",");
    for json in [json(&list("\"a\"", 900_000), ""), json("\"a\"", &list(kernel, 150_000))] {
        let bytes = file(&[], &chunk(&[compressed(&json)]));
        let size = bytes.len();
        let (opened, peak) = open(bytes);
        let error = opened.unwrap_err();
        assert!(error.contains(": contents that take up to "), "{error}");
        assert!(error.ends_with(&format!("for a file of {size} bytes")), "{error}");
        assert!(mib(peak) < 24, "{} MiB", mib(peak));
        let plain = file(&[], &chunk(&[(1, 1, json.into_bytes())]));
        open(plain).0.unwrap();
    }
}

/// A block without columns is one byte and would have as many records as any other. Work must be proportional to the
/// file, so a block needs a byte for every 128 records.
#[test]
fn records_need_bytes() {
    let _alone = alone();
    let operation = "{\"opcode\":\"LDG.E\",\"space\":\"global\",\"bytes\":4,\"signed\":false,\"uniform\":false}";
    let json = format!(
        "{{\"source\":\"\",\"names\":[\"k\"],\"kernels\":[{{\"name\":0,\"grid\":[1,1,1],\"block\":[32,1,1]}}],\
         \"operations\":[{operation}]}}"
    );
    let of = |block: &[u8], records: u16| {
        let crc = crc32fast::hash(block).to_le_bytes().to_vec();
        let records = records.to_le_bytes().to_vec();
        let footer = chunk(&[
            (1, 1, json.clone().into_bytes()),
            (2, 1, vec![block.len() as u8]),
            (3, 4, crc),
            (4, 2, records.clone()),
            (5, 2, records.clone()),
            (7, 2, records),
        ]);
        open(file(block, &footer)).0
    };
    assert_eq!(of(&[0], 128).unwrap().loads(), 128);
    let error = of(&[0], 4096).unwrap_err();
    assert!(error.ends_with("4096 memory instructions in 1 bytes; expected at most 128 for each"));

    // What a writer has to say in fewer bytes is filled up, and means the same.
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
    let operation = MemoryOperation::of_opcode("LDG.E");
    let operation = writer.operation(&operation).unwrap();
    writer.kernel(Kernel { name: "k".into(), ..Kernel::default() }).unwrap();
    for _ in 0..4096 {
        let addresses = RecordAddresses::Stride { base: 0, stride: 0 };
        writer.record(&NewRecord::new(0, LaneMask::ALL, operation, addresses)).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    let trace = BinaryTrace::new(Arena::from(bytes)).unwrap();
    let [block] = trace.blocks() else { unreachable!("one block") };
    assert_eq!((block.records, block.length), (4096, 32));
    assert_eq!(trace.block(block).unwrap().record(4095).unwrap().mask, LaneMask::ALL);
}
