//! [`Decoder`]: turns the bytes of one input into rows.

use std::path::Path;

use warpload::encoding::{Instruction, ParseError, Sm};
use warpload_binary::container::SmChoice;
use warpload_binary::sass::{
    self, Agreement, Disagreement, FoundInstruction, SassInstruction, SassKind,
};

use super::arguments::{CodeArguments, RowArguments};
use super::chosen::Chosen;
use super::functions::Functions;
use super::images;
use super::program::{self, Program};
use super::row::{InstructionRow, Tag};
use super::stats::Stats;
use crate::binary::{self, Opened};
use crate::cubins;
use crate::diagnostic::{self, Origin};
use crate::io::{self, Output};
use crate::name::plural;
use crate::options::{Format, Progress};
use crate::process::Status;

#[derive(serde::Serialize)]
struct CheckJson<'c> {
    file: &'c str,
    #[serde(flatten)]
    agreement: Agreement,
}

/// The counts of one input.
#[derive(Default)]
struct Counts {
    instructions: u64,
    /// The SM of the last instruction.
    sm: Option<Sm>,
    loads: u64,
    /// Instructions with scheduling.
    controls: u64,
    /// Loads with a text that differs from their word.
    contradictory: u64,
    /// Words with the opcode of a load that are illegal.
    illegal: u64,
    /// Instructions of SM 7.0 or later whose exact SM is unknown.
    of_unknown_sm: u64,
    without_words: bool,
    /// Loads without a word, because the linker fills in an operand.
    unassembled: u64,
    /// With `--all`, words that are no instruction, and not loads.
    refused: u64,
}

impl Counts {
    fn add(&mut self, found: &FoundInstruction) {
        match found {
            FoundInstruction::Load(_) => self.loads += 1,
            FoundInstruction::Relocated => {
                self.loads += 1;
                self.unassembled += 1;
            }
            FoundInstruction::Illegal(_) => self.illegal += 1,
            FoundInstruction::OfUnknownSm => self.of_unknown_sm += 1,
            FoundInstruction::Contradictory => self.contradictory += 1,
            FoundInstruction::Other | FoundInstruction::Unreadable(_) => {}
        }
    }
}

/// The SMs of one listing. Each gets a heading if there are several.
#[derive(Default)]
struct SmHeading {
    last: Option<Sm>,
    has_changed: bool,
}

impl SmHeading {
    /// A heading, if the SM changes. The first heading also names the SM above it, because a listing of one SM has no
    /// headings, and the change comes too late to add one.
    fn enter(&mut self, sm: Option<Sm>) -> Option<String> {
        let sm = sm?;
        let before = self.last.replace(sm).filter(|before| *before != sm)?;
        let above = if self.has_changed { String::new() } else { format!(" (above: SM {before})") };
        self.has_changed = true;
        Some(format!("SM {sm}{above}:"))
    }
}

/// What to do with code.
#[derive(Clone, Copy)]
pub(super) enum Job {
    /// Write a row for each load.
    Rows(RowArguments),
    /// Compare the text of a listing with its words.
    Check,
    /// Count loads.
    Stats,
}

/// One input on its way to the output.
pub(super) struct Decoder<'d, 'f> {
    code: &'d CodeArguments,
    job: Job,
    path: &'d Path,
    names_files: bool,
    /// The current cubin, in a file of several.
    image: Tag,
    functions: &'d mut Functions<'f>,
    /// The statistics of [`Job::Stats`].
    stats: Option<Stats<'d>>,
    counts: Counts,
    status: Status,
    agreement: Agreement,
}

/// The warning about a raw stream with unlikely scheduling.
const MAY_BE_NO_CODE: &str =
    "this may not be code, or it may begin elsewhere (use `--offset BYTES`)";

impl<'d, 'f> Decoder<'d, 'f> {
    pub(super) fn new(
        code: &'d CodeArguments,
        job: Job,
        path: &'d Path,
        names_files: bool,
        functions: &'d mut Functions<'f>,
    ) -> Self {
        let is_stats = matches!(job, Job::Stats);
        Self {
            code,
            job,
            path,
            names_files,
            image: Tag::default(),
            functions,
            stats: is_stats.then(|| Stats::new(path, code.format, names_files)),
            counts: Counts::default(),
            status: Status::Done,
            agreement: Agreement::default(),
        }
    }

    /// Decodes the input, and returns the status. Errors say why it cannot be read.
    pub(super) fn decode(
        mut self,
        progress: Progress,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        self.file(progress, output)?;
        if let Some(stats) = self.stats.take() {
            stats.finish_file(output)?;
        }
        if !matches!(self.job, Job::Check) {
            output.flush()?;
            self.remark();
        }
        Ok(self.status)
    }

    fn file(&mut self, progress: Progress, output: &mut Output) -> anyhow::Result<()> {
        let (path, code) = (self.path, self.code);
        if code.raw {
            let input = io::open(path, progress)?;
            return self.instructions(sass::read_raw(input, code.offset, code.choice.sm)?, output);
        }
        let binary = match binary::open(path, progress)? {
            Opened::Binary(binary) => binary,
            Opened::Text(input) if code.choice.image.is_some() => {
                return Err(images::not_a_container(input));
            }
            Opened::Text(input) => {
                return self.instructions(sass::read(input, sass::Format::Detect)?, output);
            }
        };
        let (choice, format, names_files) = (&code.choice, code.format, self.names_files);
        let chosen = Chosen { path, file: binary.bytes(), choice, format, names_files };
        let status = chosen.decode(output, |image, instructions, output| {
            self.image = image;
            self.instructions(instructions, output)
        })?;
        self.status = self.status.max(status);
        Ok(())
    }

    fn instructions<R: std::io::BufRead>(
        &mut self,
        mut instructions: sass::Sass<R>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let is_check = matches!(self.job, Job::Check);
        if is_check && instructions.kind() != SassKind::Listing {
            anyhow::bail!(
                "--check compares a listing's text with its words; this is not a listing"
            );
        }
        self.doubt(&instructions, output)?;
        let lines = instructions.read_source_lines();
        if let Some(damaged) = &lines.damaged {
            output.flush()?;
            cubins::note_damaged(&io::name(self.path), damaged);
        }
        let is_all = matches!(self.job, Job::Rows(rows) if rows.all);
        if is_all {
            instructions.read_labels();
        }
        self.functions.begin();
        let mut heading = SmHeading::default();
        let kind = instructions.kind();
        let mut choice = SmChoice::new(self.code.choice.sm);
        for instruction in instructions {
            let mut instruction = instruction?;
            if !choice.takes(&mut instruction, kind) {
                continue;
            }
            if !self.functions.take(instruction.function.as_ref()) {
                continue;
            }
            let counts = &mut self.counts;
            counts.instructions += 1;
            counts.sm = instruction.sm;
            counts.controls += u64::from(instruction.control.is_some());
            counts.without_words |= instruction.word.is_none();
            if is_check {
                self.counts.of_unknown_sm += u64::from(sass::sm_of(&instruction).is_none());
                self.check(&instruction, output)?;
                continue;
            }
            let found = FoundInstruction::new(&instruction);
            self.counts.add(&found);
            if let FoundInstruction::Unreadable(error) = &found {
                self.unreadable(&instruction, error, output)?;
            }
            let Job::Rows(rows) = self.job else {
                let Some(stats) = &mut self.stats else { continue };
                stats.add(&instruction, &found, self.image.number, self.functions, output)?;
                continue;
            };
            self.functions.enter(instruction.function.as_ref());
            if rows.all && kind != SassKind::Listing {
                let sm = sass::sm_of(&instruction).unwrap_or(Sm::SPA5);
                anyhow::ensure!(!sm.has_wide_words(), "--all: {}", program::only(sm));
            }
            let program = Program::new(&instruction, &found).filter(|_| rows.all);
            self.counts.refused += u64::from(program.as_ref().is_some_and(Program::is_refused));
            if found.is_load() || matches!(found, FoundInstruction::Illegal(_)) || rows.all {
                let of_sm = heading.enter(instruction.sm).filter(|_| kind == SassKind::Listing);
                let headings = [self.image.heading.take(), of_sm, self.functions.heading()];
                if self.code.format == Format::Text {
                    headings.iter().flatten().try_for_each(|heading| output.line(heading))?;
                    let labels = instruction.labels.iter().filter(|_| kind != SassKind::Listing);
                    labels
                        .into_iter()
                        .try_for_each(|label| output.line(format_args!("{label}:")))?;
                }
                let row = InstructionRow {
                    arguments: rows,
                    format: self.code.format,
                    names_files: self.names_files,
                    path: self.path,
                    image: self.image.number,
                    instruction: &instruction,
                    found: &found,
                    program: program.as_ref(),
                    demangled: self.functions.demangled(),
                    has_lines: lines.is_present,
                };
                row.write(output)?;
            }
        }
        if let Some(stats) = &mut self.stats {
            let heading = self.image.heading.take();
            stats.finish(self.image.number, heading, self.functions, output)?;
        }
        if let Err(error) = choice.check()
            && choice.has_only_others()
        {
            let name = io::name(self.path);
            self.status = output.fail(Status::Unreadable, format_args!("{name}: {error}"))?;
        } else if is_check && self.counts.instructions == 0 && !self.functions.is_choice() {
            anyhow::bail!(
                "no instruction to check; expected a listing of cuobjdump -sass or nvdisasm -hex"
            );
        } else if is_check && (self.counts.instructions > 0 || !self.functions.is_choice()) {
            return self.finish_check(self.counts.without_words, output);
        }
        Ok(())
    }

    /// Warns of scheduling that no compiler writes.
    fn doubt<R>(&self, instructions: &sass::Sass<R>, output: &mut Output) -> std::io::Result<()> {
        let file = io::name(self.path);
        if instructions.is_unscheduled() {
            output.warning(format_args!(
                "{file}: all scheduling is zero, which no compiler writes; {MAY_BE_NO_CODE}"
            ))?;
        }
        if let Some(offset) = instructions.barrier_6() {
            output.warning(format_args!(
                "{file}: the control word at byte offset {offset} names barrier 6, which no compiler \
                 writes; {MAY_BE_NO_CODE}"
            ))?;
        }
        Ok(())
    }

    /// Reports instructions that could not be decoded because their SM is unknown.
    fn refuse_unknown_sm(&mut self) {
        let Counts { instructions, of_unknown_sm, .. } = self.counts;
        if of_unknown_sm > 0 {
            self.status = self.status.max(Status::Unreadable);
            diagnostic::error(format_args!(
                "{}: {of_unknown_sm} of {instructions} instructions have 128 bits, but their SM \
                 is unknown; use `--sm`, for example `--sm 80`",
                io::name(self.path)
            ));
        }
    }

    /// Reports findings that the rows do not show on standard error.
    fn remark(&mut self) {
        self.refuse_unknown_sm();
        let (file, counts) = (io::name(self.path), &self.counts);
        let Counts { instructions, loads, contradictory, unassembled, .. } = counts;
        if *instructions == 0 && self.functions.is_choice() {
            return;
        }
        let is_all = matches!(self.job, Job::Rows(rows) if rows.all);
        if *loads == 0 && self.status == Status::Done && (!is_all || *instructions == 0) {
            let known: Vec<&str> = Instruction::mnemonics(counts.sm.unwrap_or(Sm::SPA5)).collect();
            let known = known.join(", ");
            match instructions {
                _ if counts.of_unknown_sm > 0 => {}
                0 => diagnostic::note(format_args!("{file}: no code, so no load")),
                _ => diagnostic::note(format_args!(
                    "{file}: none of {instructions} instructions is a load ({known})"
                )),
            }
        }
        if counts.illegal > 0 {
            diagnostic::note(format_args!(
                "{file}: {} with the opcode of a load {} refused, as by nvdisasm",
                plural(counts.illegal, "word"),
                if counts.illegal == 1 { "is" } else { "are" }
            ));
        }
        if counts.refused > 0 {
            let words = plural(counts.refused, "other word");
            let are = if counts.refused == 1 { "is" } else { "are" };
            diagnostic::note(format_args!("{file}: {words} {are} refused, as by nvdisasm"));
        }
        if *contradictory > 0 {
            diagnostic::warning(format_args!(
                "{file}: {contradictory} of {instructions} instructions are loads by their text \
                 but not by their words, and the words decide; `--check` shows them"
            ));
        }
        if counts.without_words && *loads > *unassembled {
            let assembled = if *unassembled == 0 { "they" } else { "those shown" };
            diagnostic::note(format_args!(
                "{file}: no words in this listing; {assembled} were assembled from its text"
            ));
        }
        let has_control = matches!(self.job, Job::Rows(rows) if rows.control.notation().is_some());
        if *loads > 0 && counts.controls == 0 && has_control {
            diagnostic::note(format_args!("{file}: no control codes here"));
        }
    }

    /// Reports a syntax error in the text of a load.
    fn unreadable(
        &mut self,
        instruction: &SassInstruction,
        error: &ParseError,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        self.status = output.raise(Status::Unreadable);
        output.flush()?;
        let file = io::name(self.path);
        let line = instruction.line.unwrap_or(1) as usize;
        let column = instruction.column.unwrap_or(1);
        let text = instruction.text.as_deref().unwrap_or_default();
        let sm = sass::sm_of(instruction).unwrap_or(Sm::SPA5);
        diagnostic::parse_error(Origin { file: &file, line, column }, text, error, sm);
        Ok(())
    }

    fn check(&mut self, instruction: &SassInstruction, output: &mut Output) -> anyhow::Result<()> {
        let Some(found) = self.agreement.compare(instruction) else { return Ok(()) };
        let line = instruction.line.map_or(String::new(), |line| format!(":{line}"));
        let message = format!("{}{line}: {found}", io::name(self.path));
        match found {
            Disagreement::Difference { hint, .. } => {
                let help = hint.map_or(String::new(), diagnostic::sass_help);
                let separator = if help.is_empty() { "" } else { "; " };
                let message = format_args!("{message}{separator}{help}");
                self.status = output.fail(Status::Failed, message)?;
            }
            Disagreement::Hidden { word, .. } => {
                output.note(format_args!("{message}; `encode` needs it, or `--like {word}`"))?;
            }
            _ => output.note(message)?,
        }
        Ok(())
    }

    fn finish_check(&mut self, without_words: bool, output: &mut Output) -> anyhow::Result<()> {
        self.refuse_unknown_sm();
        let agreement = self.agreement;
        if without_words && agreement.loads + agreement.relocated == 0 {
            anyhow::bail!("--check needs words to compare with; this listing has none");
        }
        if self.code.format == Format::Json {
            let file = self.path.display().to_string();
            output.json(&CheckJson { file: &file, agreement })?;
            return Ok(());
        }
        output.line(format_args!("{}: {agreement}", io::name(self.path)))?;
        Ok(())
    }
}
