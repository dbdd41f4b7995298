//! The accesses of a launch, traced so that a replay counts them. A second way of counting could disagree.
//!
//! A launch that keeps its trace fails if the trace cannot be written. Without `--trace` the file is a temporary one. The
//! launch then goes on without it, because its memory and faults are worth more than its counts, and says how many accesses
//! are not counted.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;
use warpload_ptx::machine::{Kernel, KernelLaunch, LaunchTrace};
use warpload_trace::BinaryTrace;

use crate::mapped;

/// The most bytes of a trace that is made for the counts alone, without `--trace`.
const MAX_UNASKED: u64 = 1 << 30;

/// The accesses that the counts are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Accesses {
    /// `all`, `some` or `none`.
    pub(super) counted: &'static str,
    /// How many are not counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) not_counted: u64,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Accesses {
    fn all() -> Self {
        Self { counted: "all", not_counted: 0, reason: None }
    }

    /// A line about the accesses that are not counted; `None` if all are.
    pub(super) fn note(&self) -> Option<String> {
        let reason = self.reason.as_deref()?;
        Some(match self.counted {
            "some" => format!("accesses: the counts are partial, {reason}"),
            _ => format!("accesses were not counted: {reason}"),
        })
    }
}

/// The output of a trace.
#[derive(Debug)]
pub(super) enum Sink {
    File(BufWriter<File>),
    Memory(Cursor<Vec<u8>>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Memory(memory) => memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Memory(memory) => memory.flush(),
        }
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Memory(memory) => memory.seek(to),
        }
    }
}

/// Begins the trace of a launch, in `kept` or, if it is `None`, in a temporary file. Without room for that, the trace leaves
/// everything out, and the error is the second result.
pub(super) fn begin<'m>(
    kernel: &Kernel<'m>,
    launch: &KernelLaunch,
    kept: Option<&File>,
    source: &str,
) -> io::Result<(LaunchTrace<'m, Sink>, Option<io::Error>)> {
    let sink = |file: File| Sink::File(BufWriter::new(file));
    if let Some(file) = kept {
        let output = sink(file.try_clone()?);
        return Ok((LaunchTrace::new(kernel, launch, true, source.to_owned(), output)?, None));
    }
    let begun = tempfile::tempfile()
        .and_then(|file| LaunchTrace::new(kernel, launch, false, source.to_owned(), sink(file)));
    match begun {
        Ok(trace) => Ok((trace.limit(MAX_UNASKED), None)),
        Err(error) => Ok((empty(kernel, launch, source)?, Some(error))),
    }
}

/// A trace without accesses.
fn empty<'m>(
    kernel: &Kernel<'m>,
    launch: &KernelLaunch,
    source: &str,
) -> io::Result<LaunchTrace<'m, Sink>> {
    let memory = Sink::Memory(Cursor::default());
    Ok(LaunchTrace::new(kernel, launch, false, source.to_owned(), memory)?.limit(0))
}

/// Ends the trace of a launch. `failed` is the error of its beginning.
pub(super) fn finish<'m>(
    trace: LaunchTrace<'m, Sink>,
    failed: Option<io::Error>,
    kernel: &Kernel<'m>,
    launch: &KernelLaunch,
    is_kept: bool,
    source: &str,
) -> anyhow::Result<(BinaryTrace, Accesses)> {
    let (left_out, all) = (trace.left_out(), trace.accesses());
    let none = |error: &io::Error| Accesses {
        counted: "none",
        not_counted: all,
        reason: Some(format!("no temporary file for them: {error}")),
    };
    let (sink, accesses) = match (trace.finish(), failed) {
        (Ok(sink), Some(error)) => (sink, none(&error)),
        (Ok(sink), None) if left_out == 0 => (sink, Accesses::all()),
        (Ok(sink), None) => {
            let reason = format!(
                "because those of the first {} filled 1 GiB; {left_out} are not counted",
                all - left_out
            );
            (sink, Accesses { counted: "some", not_counted: left_out, reason: Some(reason) })
        }
        (Err(error), _) if is_kept => return Err(error.into()),
        // The disk is full.
        (Err(error), _) => (empty(kernel, launch, source)?.finish()?, none(&error)),
    };
    let trace = match sink {
        Sink::File(file) => {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            BinaryTrace::new(mapped::map(Path::new("the trace"), &file)?)?
        }
        Sink::Memory(memory) => BinaryTrace::new(memory.into_inner().into())?,
    };
    Ok((trace, accesses))
}
