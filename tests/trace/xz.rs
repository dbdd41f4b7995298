//! Compressed traces that are damaged: each is refused with its byte offset in the compressed file.

use std::io::Write;

use crate::import::import_bytes;
use crate::random::Random;
use crate::samples::grouped;

fn compress(text: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn text() -> String {
    let mut random = Random(0);
    let lines: Vec<String> = (0..3000)
        .map(|i| format!("{:04x} ffffffff 1 R1 LDG.E 1 R2 4 1 0x{:x} 4 0", 16 * i, random.next()))
        .collect();
    grouped(5, "", &lines.iter().map(|line| &**line).collect::<Vec<_>>())
}

/// The message without the folder.
fn refused(bytes: &[u8]) -> String {
    let error = import_bytes(bytes).unwrap_err();
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        message += &format!(": {error}");
        cause = error.source();
    }
    message.split_once("trace:").unwrap().1.trim_start().to_owned()
}

#[test]
fn the_offset_of_damage() {
    let whole = compress(text().as_bytes());
    let length = whole.len();
    // The file ends inside the stream: at that offset, in a line that was begun.
    for cut in [12, length / 2, length - 1] {
        let message = refused(&whole[..cut]);
        let expected = format!("the compressed file is cut off: it ends at byte offset {cut},");
        assert!(message.contains(&expected), "{message}");
    }
    let message = refused(&whole[..length / 2]);
    let (_, line) = message.split_once("inside a stream (line ").unwrap();
    let line: usize = line.strip_suffix(" of the text)").unwrap().parse().unwrap();
    assert!((1000..2000).contains(&line), "{message}");
    // A changed byte is found there or later.
    for at in [12, 100, length / 4, length / 2, length - 40, length - 20, length - 3] {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        let message = refused(&changed);
        let (_, offset) = message.split_once("damaged at or before byte offset ").expect(&message);
        let offset: usize = offset.split(' ').next().unwrap().parse().unwrap();
        assert!((at..=length).contains(&offset), "byte {at}: {message}");
    }
}

#[test]
fn what_follows_a_stream() {
    let text = text();
    let whole = compress(text.as_bytes());
    let with = |more: &[u8]| [&whole[..], more].concat();
    for garbage in [&b"garbage"[..], &[0; 3], &[0; 5], b"\0\0\0\0garbage"] {
        let message = refused(&with(garbage));
        let zeros = if garbage.len() == 11 { 4 } else { 0 };
        let offset = whole.len() + zeros;
        let expected = format!(
            "xz: the data after the compressed stream, from byte offset {offset} on, are not another stream"
        );
        assert!(message.contains(&expected), "{garbage:?}: {message}");
    }
    // Part of a further stream.
    let message = refused(&with(&whole[..5]));
    let end = whole.len() + 5;
    assert!(message.contains(&format!("it ends at byte offset {end},")), "{message}");
    // Padding, and a text in several streams, are valid.
    let expected = import_bytes(&text).unwrap();
    assert!(import_bytes(with(&[0; 8])).unwrap() == expected);
    let (one, other) = text.split_at(text.len() / 3);
    let several = [&compress(one.as_bytes())[..], &[0; 4], &compress(other.as_bytes())].concat();
    assert!(import_bytes(several).unwrap() == expected);
}

/// Bytes that are changed in a compressed file can become a wrong text before a checksum tells.
#[test]
fn the_cause_of_a_wrong_text() {
    let wrong = text().replacen("0100 ffffffff", "0100 fffffffg", 1);
    let message = refused(&compress(wrong.as_bytes()));
    assert!(
        message.ends_with("; expected a hexadecimal lane mask of at most 32 bits"),
        "{message}"
    );
    let mut damaged = compress(wrong.as_bytes());
    let at = damaged.len() - 20;
    damaged[at] ^= 1;
    let message = refused(&damaged);
    assert!(message.contains("cannot be read: xz: the compressed file is damaged"), "{message}");
}

#[test]
fn files_that_are_not_xz() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.traceg.xz");
    for (bytes, expected) in [
        (&compress(b"a")[..5], "; it is not an xz file either"),
        (b"\x1f\x8b\x08\0", ", not a gzip file; decompress it with `gzip -d`"),
        (b"", ", not an empty file"),
        (
            b"\xff\xfe-\0k\0",
            ", not a text in UTF-16; convert it to UTF-8 with `iconv -f UTF-16 -t UTF-8`",
        ),
        (
            &compress(b"\xff\xfe-\0k\0"),
            ", not a text in UTF-16; convert it to UTF-8 with `iconv -f UTF-16 -t UTF-8`",
        ),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = crate::import::import_file(&path, 1).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{bytes:?}: {error}");
    }
}
