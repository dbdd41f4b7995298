//! `encode --patch`: a cubin with another instruction word.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use warpload::encoding::{Sm, Spa5Instruction, parse_line};
use warpload::text::parse_number;
use warpload_binary::cubin::{CubinProgram, ProgramSection};
use warpload_binary::names::{did_you_mean, nearest};
use warpload_binary::word::NotALoad;

use crate::destination;
use crate::io::{self, Output};
use crate::name::visible;
use crate::process::Status;
use crate::word::{ORIGIN, may_be_other, refuse, refuse_other};

/// Replaces the word at `FUNCTION+OFFSET` by that of the only text.
pub(super) fn execute(
    path: &Path,
    at: &str,
    texts: &[String],
    to: &Path,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let [text] = texts else {
        bail!("--patch: one instruction replaces one; these are {}", texts.len());
    };
    let target = destination::target(to)?;
    let (function, offset) = at
        .rsplit_once('+')
        .and_then(|(function, offset)| Some((function, parse_number(offset)?)))
        .with_context(|| format!("--at {}: expected FUNCTION+OFFSET", visible(at)))?;
    let (file, metadata) = io::open_file(path).with_context(|| io::name(path))?;
    let bytes = io::read_all(file, metadata.is_file()).with_context(|| io::name(path))?;
    let program = CubinProgram::read(bytes).with_context(|| io::name(path))?;
    let sm = program.sm();
    ensure!(
        !sm.has_wide_words(),
        "{}: code of SM {sm}; words of SM 5.0 to 6.2 only are replaced",
        io::name(path)
    );
    let section = section(&program, function).with_context(|| io::name(path))?;
    let old = word_at(&section, offset)
        .map_err(|reason| anyhow::anyhow!("--at {}: {reason}", visible(at)))?;
    let Some(new) = read(text, sm, offset, output)? else { return Ok(Status::Unreadable) };
    let place = (section.index, offset);
    if program.relocations(section.index).iter().any(|relocation| relocation.place == place) {
        output.warning(
            "a relocation fills in a part of this word when the cubin is linked or loaded",
        )?;
    }
    let begin = (section.offset + offset) as usize;
    let mut bytes = program.file().to_vec();
    match bytes.get_mut(begin..begin + 8) {
        Some(word) => word.copy_from_slice(&new.to_le_bytes()),
        None => bail!("{}: its code is not whole", io::name(path)),
    }
    target.write(&bytes)?;
    let shown = |word| match Spa5Instruction::decode(word, sm) {
        Some(known) => format!("{word:#018x}  {}", known.text_at(offset)),
        None => format!("{word:#018x}  illegal (no instruction of SM {sm})"),
    };
    output.line(format_args!("- {}", shown(old)))?;
    output.line(format_args!("+ {}", shown(new)))?;
    output.line(format_args!("{} written", visible(&to.display().to_string())))?;
    Ok(Status::Done)
}

/// The section with the code of a function.
fn section<'p>(program: &'p CubinProgram, function: &str) -> anyhow::Result<ProgramSection<'p>> {
    program.section(&format!(".text.{function}")).with_context(|| {
        let names = program.sections().filter_map(|section| section.name.strip_prefix(".text."));
        let near = did_you_mean(&nearest(function, names.map(str::to_owned)));
        format!("no function {}{near}", visible(function))
    })
}

/// The instruction word at an offset, or why there is none.
fn word_at(section: &ProgramSection<'_>, offset: u64) -> Result<u64, String> {
    let size = section.bytes.len();
    let bytes = usize::try_from(offset).ok().and_then(|offset| section.bytes.get(offset..));
    match bytes.and_then(|bytes| bytes.first_chunk()) {
        _ if !offset.is_multiple_of(8) => {
            Err("no word begins there; they are 8 bytes apart".to_owned())
        }
        None => Err(format!("outside the function, which has {size:#x} bytes")),
        Some(_) if offset.is_multiple_of(32) => {
            Err("the control word of a bundle, which is no instruction".to_owned())
        }
        Some(word) => Ok(u64::from_le_bytes(*word)),
    }
}

/// The word of a text, or `None` after an error.
fn read(text: &str, sm: Sm, at: u64, output: &mut Output) -> anyhow::Result<Option<u64>> {
    let (word, has_scheduling) = match parse_line(text, sm).map_err(NotALoad::Text) {
        Ok(load) => (load.instruction.word().narrow(), load.control.is_some()),
        Err(error) if may_be_other(&error, text, sm) => {
            match Spa5Instruction::parse_line(text, sm, at) {
                Ok(line) => {
                    let has_scheduling = line.control.is_some() || line.reuse.get() != 0;
                    (Some(line.instruction.word()), has_scheduling)
                }
                Err(other) => {
                    refuse_other(&other, &error, ORIGIN, text, sm, output)?;
                    return Ok(None);
                }
            }
        }
        Err(error) => {
            refuse(&error, ORIGIN, text, Some(sm), output)?;
            return Ok(None);
        }
    };
    ensure!(
        !has_scheduling,
        "--patch replaces an instruction word; scheduling and `.reuse` are in the control word, which stays"
    );
    Ok(word)
}
