//! Bounds of the command: outputs that would overwrite each other, inputs without an end, memory that the system does not
//! give. Every one is an error with exit status 2, before anything is run.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Ran, piped, warpload};

const KERNEL: &str = ".version 7.0\n.target sm_70\n.address_size 64
.visible .entry k(.param .u64 a) {
    .reg .b64 %rd<3>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}\n";

fn ran(arguments: &[&str]) -> Ran {
    warpload().args(arguments).output().unwrap().into()
}

/// Runs the command below a limit of address space in KiB.
#[cfg(unix)]
fn ran_in(memory: u32, arguments: &[&str], input: Stdio) -> Ran {
    let mut shell = Command::new("sh");
    let script = format!("ulimit -v {memory}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script]).arg(warpload().get_program()).args(arguments);
    shell.env_remove("RUST_BACKTRACE").stdin(input).output().unwrap().into()
}

#[test]
fn outputs_of_one_launch_are_different_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (one, two) = (at("one.ptx"), at("two.ptx"));
    fs::write(&one, KERNEL).unwrap();
    fs::write(&two, KERNEL).unwrap();
    let (y, other, page) = (at("y"), at("other"), at("page.html"));
    fs::write(&y, "before").unwrap();
    fs::hard_link(&y, &other).unwrap();
    let again = folder.path().join(".").join("y").display().to_string();
    let dump = |path: &str| format!("0={path}");
    let launch = |more: &[&str]| ran(&[&["ptx", "run", &one, "--arg", "zeros:128"], more].concat());
    for outputs in [
        &["--dump", &dump(&y), "--trace", &y][..],
        &["--dump", &dump(&y), "--html", &y],
        &["--trace", &y, "--html", &again],
        &["--dump", &dump(&y), "--dump", &dump(&again)],
        &["--trace", &y, "--html", &other],
    ] {
        let ran = launch(outputs);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{outputs:?}");
        assert!(ran.stderr.contains("the same file; expected a file for each output"));
        assert_eq!(fs::read_to_string(&y).unwrap(), "before");
    }
    let ran = launch(&["--dump", &dump(&y), "--html", &page]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(fs::read(&y).unwrap()[..8], [7, 0, 0, 0, 0, 0, 0, 0]);
    // `/dev/null` loses nothing.
    assert_eq!(launch(&["--dump", "0=/dev/null", "--html", "/dev/null"]).status, 0);
}

#[test]
fn several_modules_do_not_write_one_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (one, two, trace) = (at("one.ptx"), at("two.ptx"), at("trace.wlt"));
    fs::write(&one, KERNEL).unwrap();
    fs::write(&two, KERNEL).unwrap();
    let arguments = ["ptx", "run", &one, &two, "--arg", "zeros:128"];
    let ran_two = ran(&[&arguments[..], &["--trace", &trace]].concat());
    assert_eq!(
        (ran_two.status, &*ran_two.stdout, &*ran_two.stderr),
        (2, "", "error: --trace: 2 modules would write one output; expected one module\n")
    );
    assert!(!Path::new(&trace).exists());
    // Without an output both run.
    assert_eq!(ran(&arguments).stdout.matches("1 block").count(), 2);
}

/// Each image of a fat binary is a module.
#[test]
fn images_of_one_file_do_not_write_one_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let entry = |text: &str| {
        let mut header = vec![0_u8; 64];
        let length = text.len().next_multiple_of(8);
        header[..8].copy_from_slice(&[1, 0, 1, 1, 64, 0, 0, 0]);
        header[8..16].copy_from_slice(&(length as u64).to_le_bytes());
        header[28..32].copy_from_slice(&70_u32.to_le_bytes());
        header.extend(text.bytes());
        header.resize(64 + length, 0);
        header
    };
    let text = KERNEL.replace("\n", " \n");
    let padded = format!("{text:<width$}", width = text.len().next_multiple_of(8));
    let entries = [entry(&padded), entry(&padded)].concat();
    let mut file = b"\x50\xed\x55\xba\x01\0\x10\0".to_vec();
    file.extend((entries.len() as u64).to_le_bytes());
    file.extend(entries);
    fs::write(at("two.fatbin"), file).unwrap();
    let run = |more: &[&str]| {
        ran(&[&["ptx", "run", &at("two.fatbin"), "--arg", "zeros:128"], more].concat())
    };
    assert_eq!(run(&[]).status, 0, "{}", run(&[]).stderr);
    let ran = run(&["--html", &at("page.html")]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("--html: 2 modules would write one output"), "{}", ran.stderr);
    assert!(!Path::new(&at("page.html")).exists());
}

#[test]
fn a_name_has_one_value_and_an_element_fits() {
    let pattern = "a*lane";
    for (arguments, message) in [
        (
            &["--let", "a=1", "--let", "a=2"][..],
            "error: --let a: `a` has two values; expected one\n",
        ),
        (
            &["--let", "a=1", "--for", "a=0..2"],
            "error: --let a: `a` has two values; expected one\n",
        ),
    ] {
        let ran = ran(&[&["access", pattern], arguments].concat());
        assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (2, "", message));
    }
    // 32 elements of 4 GiB are in 32 rows of bank 0. The element's size was cut to 32 bits.
    let ran_wide = ran(&["access", "32:1", "--element", "4294967296"]);
    assert_eq!(ran_wide.status, 2, "{}", ran_wide.stdout);
    assert!(ran_wide.stderr.contains("expected a number from 1 to 4294967295"));
    assert_eq!(ran(&["access", "32:1", "--element", "0x80000000"]).status, 0);
}

/// `/dev/zero` and pipes have no end.
#[cfg(target_os = "linux")]
#[test]
fn inputs_without_an_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.ptx").display().to_string();
    fs::write(&kernel, KERNEL).unwrap();
    let limit = 4_000_000;
    let endless = ran_in(limit, &["ptx", "run", &kernel, "--arg", "@/dev/zero"], Stdio::null());
    assert_eq!((endless.status, &*endless.stdout), (2, ""), "{}", endless.stderr);
    assert!(endless.stderr.contains("has more than 1024 MiB and is not a regular file"));
    for arguments in [&["compare", "/dev/zero", "/dev/zero"][..], &["merge", "/dev/zero"]] {
        let ran = ran_in(limit, arguments, Stdio::null());
        let message = "error: /dev/zero: not a summary: a zero byte; expected JSON\n";
        assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (2, "", message));
    }
}

/// A lack of memory is an error with status 2 and not an abort, which has the status of a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_lack_of_memory_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.ptx").display().to_string();
    fs::write(&kernel, KERNEL).unwrap();
    let zeros = ["ptx", "run", &kernel, "--arg", "zeros:9000000000"];
    let ran = ran_in(2_000_000, &zeros, Stdio::null());
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("error: --arg zeros:9000000000 (parameter 0): 9000000000 bytes")
    );
    // A text that grows while it is read.
    let module = folder.path().join("long.ptx");
    let mut file = File::create(&module).unwrap();
    let line = format!("// {}\n", "x".repeat(1 << 20));
    (0..400).for_each(|_| file.write_all(line.as_bytes()).unwrap());
    let check = ["ptx", "check", &module.display().to_string()];
    let ran = ran_in(400_000, &check, Stdio::null());
    assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with("error: there is no more memory; see `ulimit -v`\n"),
        "{}",
        ran.stderr
    );
}

/// A `.tracez` of more than 8 MiB: its index is at the end.
fn tracez() -> Vec<u8> {
    let mut bytes =
        b"-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
                      -accelsim tracer version = 6\n#traces format = x\n\0"
            .to_vec();
    bytes.extend([0_u32, 2048].map(u32::to_le_bytes).concat());
    let at = bytes.len() as u64;
    const CHUNKS: u32 = 60;
    const LINES: u32 = 2000;
    bytes.extend([CHUNKS * LINES, CHUNKS].map(u32::to_le_bytes).concat());
    let mut number = 1_u64;
    let mut next = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        number >> 33
    };
    for _ in 0..CHUNKS {
        let line = |_| {
            let steps: Vec<String> = (0..31).map(|_| (next() % 200_000).to_string()).collect();
            let base = 0x7f00_0000_0000 + next() % (1 << 30) * 4;
            format!("0010 ffffffff 1 R2 LDG.E 1 R4 4 2 0x{base:x} {} 0 NoVal ", steps.join(" "))
        };
        let text: Vec<String> = (0..LINES).map(line).collect();
        let frame = zstd::bulk::compress(text.join("\n").as_bytes(), 1).unwrap();
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend(frame);
    }
    let index = bytes.len() as u64;
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0; 40]);
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([CHUNKS * LINES, CHUNKS].map(u32::to_le_bytes).concat());
    bytes.extend(at.to_le_bytes());
    (0..CHUNKS).for_each(|_| bytes.extend(LINES.to_le_bytes()));
    bytes.extend(index.to_le_bytes());
    bytes
}

/// A regular file is read in place. A pipe needs a temporary file, and an error of that file must not blame the input.
#[cfg(unix)]
#[test]
fn a_tracez_is_read_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = tracez();
    assert!(bytes.len() > 9 << 20, "{}", bytes.len());
    let name = folder.path().join("t.tracez").display().to_string();
    fs::write(&name, &bytes).unwrap();
    let to = folder.path().join("t.wlt").display().to_string();
    let import = |from: &str| {
        let mut command = warpload();
        command.args(["import", from, "-o", &to]).env("TMPDIR", "/nonexistent");
        command
    };
    let ran = Ran::from(import(&name).output().unwrap());
    assert_eq!((ran.status, &*ran.stderr), (0, ""), "{}", ran.stderr);
    let from_file = fs::read(&to).unwrap();
    let ran = piped(&mut import("-"), &bytes, 1 << 16);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    let message = "error: a temporary file in /nonexistent: cannot be used";
    assert!(ran.stderr.starts_with(message), "{}", ran.stderr);
    let mut with_room = import("-");
    with_room.env_remove("TMPDIR");
    assert_eq!(piped(&mut with_room, &bytes, 1 << 16).status, 0);
    // The content hash, which does not depend on the source's name.
    assert_eq!(fs::read(&to).unwrap()[32..48], from_file[32..48]);
}
