//! What imports refuse, and where they say that it is.

use std::fs;

use warpload::trace::ImportError;

use crate::import::{grouped, import_bytes, import_file};

/// The message of an import that must fail, without the folder.
fn refused(text: impl AsRef<[u8]>) -> String {
    let error = import_bytes(text).unwrap_err().to_string();
    let (_, message) = error.split_once("trace:").unwrap();
    message.trim_start().to_owned()
}

/// The error of one instruction of version 5, which stands on line 15: `column: message`.
fn instruction(text: &str) -> String {
    let message = refused(grouped(5, "", &[text]));
    message.strip_prefix("15:").unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn instructions() {
    for (text, expected) in [
        ("0010", "5: expected a hexadecimal lane mask of at most 32 bits"),
        ("00g0 ffffffff", "1: \"00g0\"; expected a hexadecimal PC of at most 32 bits"),
        ("100000000 1", "1: \"100000000\"; expected a hexadecimal PC of at most 32 bits"),
        ("0010 1ffffffff", "6: \"1ffffffff\"; expected a hexadecimal lane mask of at most 32 bits"),
        ("0010 1 x", "8: \"x\"; expected a number of registers"),
        ("0010 1 99999999999 R1", "22: expected a register"),
        ("0010 1 0", "9: expected an opcode"),
        ("0010 1 0 LDG 0", "15: expected an access width in bytes"),
        ("0010 1 0 LDG 0 four", "16: \"four\"; expected an access width in bytes"),
        ("0010 1 0 LDG 0 4", "17: expected an address mode: 0, 1 or 2"),
        ("0010 1 0 LDG 0 4 3", "18: \"3\"; expected an address mode: 0, 1 or 2"),
        ("0010 3 0 LDG 0 4 0 0x1", "23: expected an address"),
        ("0010 3 0 LDG 0 4 0 0x1 z", "24: \"z\"; expected an address"),
        ("0010 3 0 LDG 0 4 1 0x1", "23: expected a stride"),
        ("0010 3 0 LDG 0 4 1 0x1 0x4", "24: \"0x4\"; expected a stride"),
        ("0010 3 0 LDG 0 4 2", "19: expected a base address"),
        ("0010 7 0 LDG 0 4 2 0x1 1", "25: expected a delta"),
        (
            "0010 3 0 LDG 0 4 2 0x1 9223372036854775808",
            "24: \"9223372036854775808\"; expected a delta",
        ),
        ("0010 1 0 LDG 0 4 0 10000000000000000", "20: \"10000000000000000\"; expected an address"),
        (
            "0010 1 0 LDG 0 4 0 0x1 0x2",
            "24: \"0x2\"; expected the end of the line or one decimal immediate behind the addresses",
        ),
        (
            "0010 1 0 LDG 0 4 0 0x1 1 2",
            "24: \"1\"; expected the end of the line or one decimal immediate behind the addresses",
        ),
    ] {
        assert_eq!(instruction(text), expected, "{text}");
    }
}

#[test]
fn headers_and_groups() {
    let load = "0010 1 0 LDG 0 4 0 0x1\n";
    for (text, expected) in [
        ("-kernel name\n", "1:1: expected `-key = value`"),
        ("-a = b\n-grid dim = (1,2)\n", "2:13: expected `(x,y,z)`"),
        ("-grid dim = (1,2,3) 4  \n", "1:13: expected `(x,y,z)`"),
        ("-grid dim = (1,2,4294967296)\n", "1:13: expected `(x,y,z)`"),
        (
            "-shmem base_addr = 0x10000000000000000\n",
            "1:20: expected a hexadecimal number of at most 64 bits",
        ),
        ("-a = b\nwhat is this\n", "2:1: expected a header line, a group line or an instruction"),
        (
            "-a = b\n 0010 1 0 LDG 0 4\n",
            "2:1: expected a header line, a group line or an instruction",
        ),
        ("-a = b\n#BEGIN_TB\nwarp = 0\ninsts = many\n", "4:9: expected a number of instructions"),
        (
            "-a = b\n#BEGIN_TB\nwarp = 0\ninsts = 2\n0010 1 0 X 0 0\n#END_TB\n",
            "6:1: 1 more instructions were promised",
        ),
        (
            "-a = b\n#BEGIN_TB\nwarp = 0\ninsts = 2\nwarp = 1\n",
            "5:1: 2 more instructions were promised",
        ),
        ("# nothing\n", "no header and no instruction; expected an Accel-Sim trace"),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
    let more = format!("-a = b\n#BEGIN_TB\nwarp = 0\ninsts = 1\n{load}{load}");
    assert_eq!(refused(more), "6:1: more instructions than `insts` promised");
    let cut = "-a = b\n#BEGIN_TB\nwarp = 0\ninsts = 3\n";
    assert_eq!(refused(cut), "4:1: 3 more instructions were promised");
    let behind = format!("-a = b\n0 0 0 0 {load}-c = d\n");
    assert_eq!(refused(behind), "3:1: a header line behind instructions");
}

#[test]
fn text_that_is_none() {
    assert!(refused("").starts_with("no trace; expected an Accel-Sim trace"));
    assert!(refused("\n\n \n").starts_with("no trace; expected"));
    assert!(refused("\x7fELF").starts_with("no trace; expected"));
    let gzip = refused(b"\x1f\x8b\x08");
    assert!(gzip.ends_with(", not a gzip file; decompress it with `gzip -d`"), "{gzip}");
    assert!(
        refused(b"-kernel name = k\n-author = Andr\xe9\n")
            .starts_with("line 2, column 15 (byte offset 31) is not UTF-8")
    );
    let long = format!("-kernel name = {}", "k".repeat(1 << 20));
    assert!(refused(long).starts_with("line 1 (byte offset 0) is longer than 1048576 bytes"));
}

#[test]
fn files_of_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernelslist.g");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let refused = |list: &str, threads| -> ImportError {
        write("kernelslist.g", list);
        import_file(&path, threads).unwrap_err()
    };
    write("good.traceg", &grouped(5, "", &["0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x100 4 0"; 9000]));
    write("bad.traceg", "-kernel name = k\nwhat\n");
    write("nested.g", "good.traceg\n");
    let many = "good.traceg\n".repeat(20);
    for threads in [1, 2, 8] {
        let error = refused(&format!("good.traceg\nmissing.traceg\n{many}"), threads).to_string();
        assert!(error.contains("missing.traceg: cannot be read"), "{error}");
        let error = refused(&format!("good.traceg\nbad.traceg\n{many}"), threads).to_string();
        assert!(error.contains("bad.traceg:2:1: expected a header line"), "{error}");
    }
    let error = refused("good.traceg\nnested.g\n", 2).to_string();
    assert!(error.ends_with("nested.g: a list of kernels inside a list of kernels"), "{error}");
    for row in ["MemcpyHtoD,100,16", "MemcpyHtoD,0x100", "MemcpyHtoD,0x100,many"] {
        let error = refused(&format!("good.traceg\n{row}\n"), 1).to_string();
        let expected = "kernelslist.g:2:1: expected `MemcpyHtoD,0xADDRESS,BYTES`";
        assert!(error.ends_with(expected), "{error}");
    }
}
