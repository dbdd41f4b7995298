//! What every error of this part of the interface promises.

use std::error::Error;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpload::memory::Fill;
use warpload_replay::{Digest, Hex, ReplayData, ReplayError, ReplayOptions, replay};
use warpload_trace::{BinaryTrace, ImportError, TraceError, TraceSource};

/// Asserts that no message of the chain contains one that follows.
fn assert_said_once(error: &(dyn Error + 'static)) {
    let mut messages = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        messages.push(error.to_string());
        cause = error.source();
    }
    for (i, message) in messages.iter().enumerate() {
        for cause in &messages[i + 1..] {
            assert!(!message.contains(cause.as_str()), "{messages:?}");
        }
    }
}

#[test]
fn a_cause_is_said_once() {
    let missing = TraceSource::open(Path::new("does/not/exist.trace"), &()).err().unwrap();
    assert!(missing.source().is_some());
    assert_said_once(&missing);

    let unreadable = BinaryTrace::open(Path::new("does/not/exist.wlt")).unwrap_err();
    assert!(unreadable.source().is_some());
    assert_said_once(&unreadable);
    let io = |path| TraceError::Read { path, source: io::Error::other("the disk is full") };
    assert_said_once(&io(PathBuf::from("a.wlt")));
    assert_said_once(&ImportError::Write(TraceError::Write {
        source: io::Error::other("the disk is full"),
    }));
    assert_said_once(&ReplayError::Trace(io(PathBuf::from("a.wlt"))));
}

/// A kernel's windows that overlap: the message names the kernel, its cause the windows.
#[test]
fn the_cause_of_invalid_windows() {
    let text = "-kernel name = k\n-shmem base_addr = 0x1000\n-local mem base_addr = 0x1000\n\
                -accelsim tracer version = 4\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
                #traces format = x\n0 0 0 0 0010 00000001 1 R2 LD 1 R4 4 0 0x2000\n";
    let source = TraceSource::from_stream(text.as_bytes(), Path::new("windows.trace")).unwrap();
    let trace = source.into_trace(NonZero::<usize>::MIN, &()).unwrap();
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Zero));
    let error = replay(&trace, &options).unwrap_err();
    assert_eq!(error.to_string(), "kernel 0 (k)");
    assert!(error.source().is_some());
    assert_said_once(&error);
}

/// Numbers of a summary are read as they are written.
#[test]
fn hexadecimal_numbers_of_a_summary() {
    fn read<T: DeserializeOwned + Serialize>(json: &str) -> Option<String> {
        let number: T = serde_json::from_str(json).ok()?;
        serde_json::to_string(&number).ok()
    }
    assert_eq!(read::<Hex>("\"0x1f0\""), Some("\"0x1f0\"".to_owned()));
    assert_eq!(read::<Digest>("\"00000000000000ff\""), Some("\"00000000000000ff\"".to_owned()));
    for wrong in ["\"1f0\"", "\"0x\"", "\"0x+1\"", "\"0xg\"", "\"0x10000000000000000\"", "16"] {
        assert!(read::<Hex>(wrong).is_none(), "{wrong}");
    }
    for wrong in ["\"\"", "\"+1\"", "\"0x1\"", "\"10000000000000000\""] {
        assert!(read::<Digest>(wrong).is_none(), "{wrong}");
    }
}
