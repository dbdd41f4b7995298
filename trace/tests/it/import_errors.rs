//! What imports refuse, and where they say that it is.

use std::fs;

use warpload_trace::ImportError;

use crate::samples::grouped;
use crate::samples::{import_bytes, import_file};

/// The message of an import that must fail, without the folder.
fn refused(text: impl AsRef<[u8]>) -> String {
    let error = import_bytes(text).unwrap_err().to_string();
    let (_, message) = error.split_once("trace:").unwrap();
    message.trim_start().to_owned()
}

/// The error of one instruction of version 4, which is on line 15: `column: message`.
fn instruction(text: &str) -> String {
    let message = refused(grouped(4, "", &[text]));
    message.strip_prefix("15:").unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn instructions() {
    for (text, expected) in [
        ("0010", "5: expected a lane mask of eight hexadecimal digits"),
        ("00g0 ffffffff", "1: \"00g0\"; expected a PC of four to eight hexadecimal digits"),
        ("010 ffffffff", "1: \"010\"; expected a PC of four to eight hexadecimal digits"),
        ("100000000 1", "1: \"100000000\"; expected a PC of four to eight hexadecimal digits"),
        ("0010 1ffffffff", "6: \"1ffffffff\"; expected a lane mask of eight hexadecimal digits"),
        ("0010 1 0 LDG", "6: \"1\"; expected a lane mask of eight hexadecimal digits"),
        ("0010 00000001 x", "15: \"x\"; expected a number of registers"),
        ("0010 00000001 99999999999 R1", "29: expected a register"),
        ("0010 00000001 0", "16: expected an opcode"),
        ("0010 00000001 1 ffffffff LDG 0 0", "17: \"ffffffff\"; expected a register"),
        ("0010 00000001 0 00000001 0 0", "17: \"00000001\"; expected an opcode"),
        ("0010 00000001 0 ffffffff 0 0", "17: \"ffffffff\"; expected an opcode"),
        ("0010 00000001 0 LDG 0", "22: expected an access width in bytes"),
        ("0010 00000001 0 LDG 0 four", "23: \"four\"; expected an access width in bytes"),
        ("0010 00000001 0 LDG 0 4", "24: expected an address mode: 0, 1 or 2"),
        ("0010 00000001 0 LDG 0 4 3", "25: \"3\"; expected an address mode: 0, 1 or 2"),
        ("0010 00000003 0 LDG 0 4 0 0x1", "30: expected an address"),
        ("0010 00000003 0 LDG 0 4 0 0x1 z", "31: \"z\"; expected an address"),
        ("0010 00000003 0 LDG 0 4 1 0x1", "30: expected a stride"),
        ("0010 00000003 0 LDG 0 4 1 0x1 0x4", "31: \"0x4\"; expected a stride"),
        ("0010 00000003 0 LDG 0 4 2", "26: expected a base address"),
        ("0010 00000007 0 LDG 0 4 2 0x1 1", "32: expected a delta"),
        (
            "0010 00000003 0 LDG 0 4 2 0x1 9223372036854775808",
            "31: \"9223372036854775808\"; expected a delta",
        ),
        (
            "0010 00000001 0 LDG 0 4 0 10000000000000000",
            "27: \"10000000000000000\"; expected an address",
        ),
        (
            "0010 00000001 0 LDG 0 4 0 0x1 0x2",
            "31: \"0x2\"; expected the end of the line or one decimal immediate after the addresses",
        ),
        (
            "0010 00000001 0 LDG 0 4 0 0x1 1 2",
            "33: \"2\"; expected the end of the line or one decimal immediate after the addresses",
        ),
    ] {
        assert_eq!(instruction(text), expected, "{text}");
    }
}

/// What follows the last field: nothing in version 3, one decimal number in version 5, either in
/// version 4. It is checked on every line, not only on those of loads.
#[test]
fn ends_of_lines() {
    let bare = ["MOV 0 0", "LDG 0 4 0 0x1", "STG 0 4 1 0x1 4", "LDSM.16 0 2 2 0x1"];
    for (version, end, message) in [
        (3, "", None),
        (3, " 0", Some("\"0\"; expected the end of the line")),
        (4, "", None),
        (4, " 0", None),
        (4, " 0 0", Some("\"0\"; expected the end of the line or one decimal immediate")),
        (4, " x", Some("\"x\"; expected the end of the line or one decimal immediate")),
        (5, "", Some("expected one decimal immediate")),
        (5, " -264", None),
        (5, " 0 0", Some("\"0\"; expected one decimal immediate")),
        (5, " 0x1", Some("\"0x1\"; expected one decimal immediate")),
        (5, " NoVal", Some("\"NoVal\"; expected one decimal immediate")),
    ] {
        for bare in bare {
            // In version 3 these go on to the end of the line.
            if version == 3 && (bare.contains(" 4 0 ") || bare.contains(" 2 2 ")) {
                continue;
            }
            let text = grouped(version, "", &[&format!("0010 00000001 0 {bare}{end}")]);
            let last = if bare.ends_with(" 0") { "the access width" } else { "the addresses" };
            match message {
                None => drop(import_bytes(text).unwrap()),
                Some(message) => {
                    let error = refused(text);
                    let last_field = end.rfind(' ').map_or(0, |at| at + 1);
                    let column = format!("0010 00000001 0 {bare}").len() + last_field + 1;
                    assert_eq!(
                        error,
                        format!("15:{column}: {message} after {last}"),
                        "{bare}{end}"
                    );
                }
            }
        }
    }
}

/// Lines of other versions have other fields before the instruction's own.
#[test]
fn versions() {
    let trace = |version: &str| {
        format!(
            "-kernel name = k\n{version}\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
             0 0 0 0 0010 00000001 0 MOV 0 0\n"
        )
    };
    let expected = "expected a version from 1.2 to 6";
    for (version, message) in [
        ("-accelsim tracer version = 7", format!("2:28: tracer version \"7\"; {expected}")),
        ("-accelsim tracer version = v5", format!("2:28: tracer version \"v5\"; {expected}")),
        ("-accelsim tracer version = ", format!("2:27: tracer version \"\"; {expected}")),
        (
            "",
            "5:1: the header has no `-accelsim tracer version = …`; expected `-kernel name = …`, \
             `-grid dim = …`, `-block dim = …`, `-accelsim tracer version = …`"
                .to_owned(),
        ),
    ] {
        assert_eq!(refused(trace(version)), message);
    }
    // As Accel-Sim reads it: the number at the beginning.
    import_bytes(trace("-accelsim tracer version = 3 (NVBit 1.5)")).unwrap();
}

#[test]
fn headers_and_groups() {
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
            "-a = b\n 0010 00000001 0 LDG 0 4\n",
            "2:1: the header has no `-kernel name = …`; expected `-kernel name = …`, `-grid dim = …`, \
             `-block dim = …`, `-accelsim tracer version = …`",
        ),
        ("-a = b\n-enable lineinfo = yes\n", "2:20: expected 0 or 1"),
        ("#traces format = \n-a\n", "2:1: expected `-key = value`"),
        (
            "-a = b\n-c = d\r-e = f\n",
            "2:7: a carriage return inside a line; expected lines that end in `\\n` or `\\r\\n`",
        ),
        (
            "-a = b\n",
            "1:1: no instruction and no `#traces format` line: the file ends in its header",
        ),
        ("-a = b", "1:1: the last line has no line end: the file is cut off"),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
    // What comes after the header; the first line of it is line 5.
    const LOAD: &str = "0010 00000001 0 LDG 0 4 0 0x1\n";
    let cut = "the file ends inside a thread block; expected `#END_TB`";
    for (groups, expected) in [
        ("#BEGIN_TB\n", &*format!("5:1: {cut}")),
        ("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\n", &format!("8:1: {cut}")),
        ("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 3\n", &format!("8:1: {cut}")),
        ("#BEGIN_TB\nthread block = 0,0,0\n#END_\n", &format!("7:1: {cut}")),
        ("#BEGIN_TB\n#BEGIN_TB\n", "6:1: `#BEGIN_TB` inside a thread block"),
        ("#END_TB\n", "5:1: `#END_TB` outside a thread block"),
        ("#BEGIN_TB\n#END_TB\n", "6:1: a thread block without `thread block = x,y,z`"),
        ("#BEGIN_TB\nthread block = 0,0\n", "6:16: expected `x,y,z`"),
        (
            "#BEGIN_TB\nthread block = 0,2,0\n",
            "6:1: thread block 0,2,0 is outside the grid of 2 x 2 x 2",
        ),
        (
            "#BEGIN_TB\nthread block = 1,1,1\n#END_TB\n#BEGIN_TB\nthread block = 1,1,1\n",
            "9:1: duplicate thread block 1,1,1",
        ),
        (
            "#BEGIN_TB\nthread block = 1,1,1\nthread block = 1,1,0\n",
            "7:1: expected `thread block = x,y,z` once, after `#BEGIN_TB`",
        ),
        ("#BEGIN_TB\nwarp = 0\n", "6:1: `warp = n` outside a thread block"),
        (
            "#BEGIN_TB\nthread block = 0,0,0\nwarp = 2\n",
            "7:1: warp 2 is outside the thread block of 2 warps",
        ),
        ("#BEGIN_TB\nthread block = 0,0,0\nwarp = x\n", "7:8: expected a warp's number"),
        (
            "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\nwarp = 1\n",
            "8:1: a warp without `insts = k`",
        ),
        (
            "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\nwarp = 0\n",
            "9:1: duplicate warp 0 in its thread block",
        ),
        (
            "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = many\n",
            "8:9: expected a number of instructions",
        ),
        (
            "#BEGIN_TB\nthread block = 0,0,0\ninsts = 1\n",
            "7:1: expected `insts = k` once, after `warp = n`",
        ),
        (
            &*format!("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n{LOAD}#END_TB\n"),
            "10:1: expected 1 more instructions",
        ),
        (
            &*format!("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n{LOAD}{LOAD}"),
            "10:1: more instructions than `insts` announces",
        ),
        (
            &*format!("#BEGIN_TB\nthread block = 0,0,0\n{LOAD}"),
            "7:1: more instructions than `insts` announces",
        ),
        (
            &*format!("0 0 0 0 {LOAD}#BEGIN_TB\n"),
            "6:1: a thread block after instructions outside one",
        ),
        (&*format!("0 0 0 0 {LOAD}-c = d\n"), "6:1: a header line after instructions"),
        (&*format!("2 0 0 0 {LOAD}"), "5:5: thread block 2,0,0 is outside the grid of 2 x 2 x 2"),
        (&*format!("0 0 0 2 {LOAD}"), "5:7: warp 2 is outside the thread block of 2 warps"),
        (&*format!("0 0 x 0 {LOAD}"), "5:5: \"x\"; expected a thread block's number"),
    ] {
        let header = "-kernel name = k\n-grid dim = (2,2,2)\n-block dim = (33,1,1)\n\
                      -accelsim tracer version = 3\n";
        assert_eq!(refused(format!("{header}{groups}")), expected, "{groups}");
    }
}

#[test]
fn text_that_is_none() {
    assert!(refused("").starts_with(
        "an empty file, not a trace; a trace is a .tracez of Accel-Sim, an Accel-Sim"
    ));
    assert!(refused("\n\n \n").starts_with("an empty file, not a trace; "));
    assert!(refused("\x7fELF").starts_with("an ELF file, not a trace: `warpload decode`"));
    assert!(refused("# A heading\n").starts_with("not a trace; a trace is "));
    let bzip2 = refused(b"BZh91AY&SY");
    assert!(
        bzip2.starts_with("a bzip2 file, not a trace: decompress it with `bzip2 -d`; "),
        "{bzip2}"
    );
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
    let expected = "nested.g: a list of kernels inside a list of kernels; expected a trace";
    assert!(error.contains("kernelslist.g:2:1: ") && error.ends_with(expected), "{error}");
    // Of any depth: a list in a list is refused before it is read.
    let itself = folder.path().join("itself.trace");
    fs::write(&itself, "good.traceg\nitself.trace\n").unwrap();
    let error = import_file(&itself, 2).unwrap_err().to_string();
    assert!(error.contains("itself.trace:2:1: ") && error.ends_with("expected a trace"), "{error}");
    #[cfg(unix)]
    {
        // A pipe without a writer, and a device without an end.
        let mut mkfifo = std::process::Command::new("mkfifo");
        assert!(mkfifo.arg(folder.path().join("pipe.traceg")).status().unwrap().success());
        for name in ["pipe.traceg", "/dev/zero", "."] {
            let error = refused(&format!("good.traceg\n{name}\n"), 2).to_string();
            assert!(error.contains("kernelslist.g:2:1: "), "{error}");
            assert!(error.ends_with("expected a regular file"), "{error}");
        }
    }
    for row in ["MemcpyHtoD,100,16", "MemcpyHtoD,0x100", "MemcpyHtoD,0x100,many"] {
        let error = refused(&format!("good.traceg\n{row}\n"), 1).to_string();
        let expected = "kernelslist.g:2:1: expected `MemcpyHtoD,0xADDRESS,BYTES`";
        assert!(error.ends_with(expected), "{error}");
    }
}
