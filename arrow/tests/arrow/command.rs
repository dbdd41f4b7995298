//! `export --format parquet` of the command that has it.

use std::fs::{self, File};
use std::process::{Command, Output};

use crate::common::file;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use warpload_trace::BinaryTrace;

fn export(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpload"));
    command.args(["export", "--format", "parquet"]).args(arguments).output().unwrap()
}

#[test]
fn a_file_and_standard_output_have_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.parquet");
    let trace = file("traces/generic.wlt");
    let trace = trace.to_str().unwrap();
    let ran = export(&[trace, "-o", out.to_str().unwrap()]);
    assert!(ran.status.success(), "{ran:?}");
    let told = format!("{} written\n", out.display());
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), told);
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&out).unwrap()).unwrap();
    let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows as u64, BinaryTrace::open(trace.as_ref()).unwrap().accesses().unwrap());
    let ran = export(&[trace, "-o", "-", "--threads", "2"]);
    assert!(ran.stdout == fs::read(&out).unwrap());
    // A text trace is imported on the way.
    let text = file("traces/bfs-v3-kernel-14.traceg");
    let ran = export(&[text.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn a_damaged_trace_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let [damaged, out] = ["damaged.wlt", "out.parquet"].map(|name| folder.path().join(name));
    let whole = fs::read(file("traces/generic.wlt")).unwrap();
    let mut contents = vec![(Vec::new(), "empty"), (whole[..whole.len() / 2].to_vec(), "cut off")];
    // In a block, and in what follows the blocks.
    for (place, message) in [(100, "checksum"), (whole.len() - 100, "checksum")] {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        contents.push((changed, message));
    }
    for (content, expected) in contents {
        fs::write(&damaged, content).unwrap();
        let ran = export(&[damaged.to_str().unwrap(), "-o", out.to_str().unwrap()]);
        assert_eq!(ran.status.code(), Some(2));
        let message = String::from_utf8(ran.stderr).unwrap();
        assert!(message.contains("damaged.wlt") && message.contains(expected), "{message}");
        assert!(ran.stdout.is_empty() && !out.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_reported_as_the_output() {
    let trace = file("traces/generic.wlt");
    let ran = export(&[trace.to_str().unwrap(), "-o", "/dev/full"]);
    assert_eq!(ran.status.code(), Some(2));
    let message = String::from_utf8(ran.stderr).unwrap();
    assert!(message.contains("/dev/full: cannot be written"), "{message}");
}
