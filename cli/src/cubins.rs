//! `--cubin`: the code of a trace's kernels, and notes if the two do not fit.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use warpload_binary::container::GpuCodeKind;
use warpload_binary::sass::{DamagedLines, Functions};
use warpload_replay::{CodeCheck, CodeMismatch};

use super::binary::{self, Opened};
use super::name::{cell, plural};
use super::options::Progress;
use super::{diagnostic, io, remedy};

/// How many kernels that no cubin has are named.
const NAMED: usize = 8;

/// Reads cubins; `None` if there are none. Errors name the file.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Option<Functions>> {
    let mut functions = Functions::default();
    for path in paths {
        let name = || io::name(path);
        match binary::open(path, Progress::Never).with_context(name)? {
            Opened::Text(input) => add(&mut functions, input, &name()).with_context(name)?,
            Opened::Binary(binary) => {
                add_images(&mut functions, binary.bytes(), &name()).with_context(name)?;
            }
        }
    }
    Ok((!paths.is_empty()).then_some(functions))
}

/// Adds every cubin of a file. One that cannot be read hides no other, unless it is the only one.
fn add_images(functions: &mut Functions, file: &[u8], name: &str) -> anyhow::Result<()> {
    let (mut added, mut failed) = (0, Vec::new());
    for (number, image) in binary::numbered(file) {
        if image.as_ref().is_ok_and(|image| image.kind != GpuCodeKind::Cubin) {
            continue;
        }
        let name = match &image {
            Ok(image) if binary::is_alone(image) => name.to_owned(),
            _ => format!("{name}: image {number}"),
        };
        let read = image.and_then(|image| image.read()).map_err(anyhow::Error::from);
        match read.and_then(|read| add(functions, &*read.bytes, &name)) {
            Ok(()) => added += 1,
            Err(error) => failed.push((name, error)),
        }
    }
    if added == 0 && failed.len() <= 1 {
        // Its own error, or what the file is instead.
        return failed.pop().map_or_else(|| add(functions, file, name), |(_, error)| Err(error));
    }
    for (name, error) in failed {
        let error = remedy::with_causes(&error);
        diagnostic::note(format_args!("{name}: {error}; it is not used"));
    }
    Ok(())
}

fn add(functions: &mut Functions, cubin: impl Read, name: &str) -> anyhow::Result<()> {
    if let Some(damaged) = functions.add(cubin)? {
        note_damaged(name, &damaged);
    }
    Ok(())
}

/// Notes that source lines of a file are missing.
pub(crate) fn note_damaged(name: &str, damaged: &DamagedLines) {
    diagnostic::note(format_args!(
        "{name}: the line information at byte offset {} cannot be read; the source lines that it has \
         are missing",
        damaged.offset
    ));
}

/// Notes which kernels no cubin has, and how many program counters do not fit the cubins.
pub(crate) fn note(check: &CodeCheck) {
    let missing = &check.missing;
    if !missing.is_empty() {
        let named: Vec<String> =
            missing.iter().take(NAMED).map(|name| format!("`{}`", cell(name))).collect();
        let more = missing.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        diagnostic::note(format_args!("no cubin has {}{more}", named.join(", ")));
    }
    let CodeCheck { program_counters, outside, other_opcode, first, .. } = check;
    if let Some(CodeMismatch { kernel, pc, opcode, found, .. }) = first {
        diagnostic::note(format_args!(
            "of {}, {outside} are not those of instructions in the cubins and {other_opcode} have \
             another opcode there: is it the cubin of another build? The first, {}+{pc:#x}, is {} in \
             the trace, {found} in the cubin",
            plural(*program_counters, "program counter"),
            cell(kernel),
            cell(opcode),
        ));
    }
}
