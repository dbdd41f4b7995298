//! `--cubin`: the code of a trace's kernels, and notes if the two do not fit.

use std::path::{Path, PathBuf};

use anyhow::Context;
use warpload::sass::{DamagedLines, Functions};
use warpload::trace::{CodeCheck, Misfit};

use super::name::{cell, plural};
use super::options::Progress;
use super::{diagnostic, io};

/// How many kernels that no cubin has are named.
const NAMED: usize = 8;

/// Reads cubins; `None` if there are none. Errors name the file.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Option<Functions>> {
    let mut functions = Functions::default();
    for path in paths {
        let name = || io::name(path);
        let input = io::open(path, Progress::Never).with_context(name)?;
        let damaged = functions.add(input).with_context(name)?;
        if let Some(damaged) = damaged {
            note_damaged(path, &damaged);
        }
    }
    Ok((!paths.is_empty()).then_some(functions))
}

/// Notes that source lines are missing.
pub(crate) fn note_damaged(path: &Path, damaged: &DamagedLines) {
    diagnostic::note(format_args!(
        "{}: the line information at byte offset {} cannot be read; the source lines that it has are \
         missing",
        io::name(path),
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
    if let Some(Misfit { kernel, pc, opcode, found, .. }) = first {
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
