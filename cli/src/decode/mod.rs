//! `decode`: every load of a cubin, a raw stream or a listing, or of bare words.

mod check;
mod extract;
mod find;
mod functions;
mod images;
mod list;
pub(crate) mod row;
mod stats;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use warpload::encoding::control::Notation;
use warpload::encoding::{Instruction, ParseError, Sm};
use warpload::sass::{self, SassInstruction};

use self::check::{Checked, Remark};
use self::find::Found;
use self::functions::{Names, Wanted};
use self::images::Tag;
use self::row::{Row, Style};
use self::stats::Stats;
use super::binary::{self, Opened};
use super::cubins;
use super::diagnostic::{self, Origin};
use super::io::{self, Output};
use super::name::plural;
use super::options::read_number;
use super::options::{Format, Progress};
use super::status::Status;
use super::word;

/// Show every load of a cubin, a raw stream or a listing
///
/// Inputs are told apart by content: cubins (ELF), files that hold cubins (fatbins; objects,
/// archives, libraries and programs with fatbins in them), and listings of cuobjdump (-sass),
/// nvdisasm (with or without -hex), maxas and CuAssembler. Each load is shown with its function,
/// its offset (control words count), its word and its text; and with its source line, if a cubin
/// has line information.
///
/// A file that is not text is mapped: it must not change or become shorter while it is read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload decode traces/gather.sm_50.cubin --control maxas
  warpload decode traces/gather.sm_50.cubin --all
  warpload decode traces/rows.sm_50.cubin --stats
  warpload decode --raw --offset 0x50 shader.bin
  warpload decode --list libkernels.so
  warpload decode --sm 80 --extract cubins libkernels.so
  cuobjdump -sass app | warpload decode - --check
  warpload decode --word 0x9c90000123470200 0x84e0000000070104
  cut -f1 words.tsv | warpload decode --word -")]
pub(crate) struct Arguments {
    /// Files; `-` is standard input
    #[arg(required_unless_present = "word")]
    input: Vec<PathBuf>,

    /// Decode bare words; `-` reads one a line. A word that is not a load prints `-` (JSON: null)
    #[arg(
        long,
        num_args = 1..,
        value_name = "WORD",
        conflicts_with_all = ["input", "raw", "check", "function", "all", "stats", "no_demangle"]
    )]
    word: Vec<String>,

    /// The input is code without a container: 32-byte bundles, or with `--sm` 70 and up 16-byte
    /// instructions
    #[arg(long)]
    raw: bool,

    /// Start of the code in a raw stream, in bytes, decimal or 0x hexadecimal: a multiple of 8.
    /// Offsets are counted from there
    #[arg(
        long,
        value_name = "BYTES",
        requires = "raw",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = read_offset
    )]
    offset: u64,

    /// List the cubins and the PTX in each file instead
    #[arg(long, conflicts_with_all = ["word", "raw", "check", "function", "all", "extract"])]
    list: bool,

    /// Write the cubins and the PTX in each file into this folder instead: STEM.N.sm_S.cubin or
    /// .ptx, with the file's name and the image's number in `--list`
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["word", "raw", "check", "function", "all"]
    )]
    extract: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long, requires = "extract")]
    force: bool,

    /// Whose words or text it is, such as 80 or 90a, if the input does not say so; of a file with code
    /// of several SMs, this one only, and exit status 1 if there is none
    #[arg(long, value_name = "SM")]
    sm: Option<Sm>,

    /// Show every instruction, loads marked with `*`: its text if the listing has it, else its word
    /// alone
    #[arg(long, conflicts_with = "check")]
    all: bool,

    /// Show the control code of each load, in this notation
    #[arg(long, value_enum, default_value_t)]
    control: ControlNotation,

    /// Show this function only
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// Compare a listing's own text with its words; exit status 1 if they differ. Bits that no
    /// text shows are noted
    #[arg(long, conflicts_with = "raw")]
    check: bool,

    /// Count the loads of each function by kind, width and cache operator, and remark on those that
    /// stand out: neighbours that one wider load could serve, volatile loads, and displacements that
    /// are not a multiple of the access size
    #[arg(long, conflicts_with_all = ["all", "check", "control"])]
    stats: bool,

    /// Show names of functions as they are in the input, without their demangled form
    #[arg(long)]
    no_demangle: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ControlNotation {
    #[default]
    None,
    /// `--:-:-:-:1` before the text
    Maxas,
    /// `[B------:R-:W-:-:S01]` before the text
    Cuasm,
    /// `&req={0} &rd=1 &wr=0 ?WAIT1_END_GROUP` after the text
    Nvidia,
}

impl ControlNotation {
    fn notation(self) -> Option<Notation> {
        match self {
            Self::None => None,
            Self::Maxas => Some(Notation::Maxas),
            Self::Cuasm => Some(Notation::CuAssembler),
            Self::Nvidia => Some(Notation::Nvidia),
        }
    }
}

#[derive(serde::Serialize)]
struct CheckJson<'c> {
    file: &'c str,
    #[serde(flatten)]
    checked: &'c Checked,
}

fn read_offset(text: &str) -> Result<u64, String> {
    read_number(text).ok_or_else(|| "expected a number of bytes, decimal or 0x hexadecimal".into())
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    if !arguments.word.is_empty() {
        let style = word::Style {
            sm: arguments.sm,
            notation: arguments.control.notation(),
            format: arguments.format,
        };
        return word::decode(&arguments.word, style, output);
    }
    let mut status = Status::Done;
    let mut functions = Wanted::new(arguments.function.as_deref());
    for path in &arguments.input {
        let mut decoder = Decoder {
            arguments: &arguments,
            path,
            image: None,
            functions: &mut functions,
            status: Status::Done,
            checked: Checked::default(),
        };
        match decoder.file(progress, output) {
            Ok(()) => status = status.max(decoder.status),
            Err(error) if io::is_output_error(&error) => return Err(error),
            Err(error) => {
                let message = format_args!("{}: {error:#}", io::name(path));
                status = output.fail(Status::Unreadable, message)?;
            }
        }
    }
    // Of several inputs one with the function is enough.
    if let Some(missing) = functions.missing().filter(|_| status == Status::Done) {
        diagnostic::error(missing);
        status = Status::Unreadable;
    }
    Ok(status)
}

/// What was found in one input.
#[derive(Default)]
struct Counts {
    instructions: u64,
    loads: u64,
    /// Instructions that say how they are scheduled.
    controls: u64,
    /// Loads by their text, not by their word.
    contradictory: u64,
    /// Words with the opcode of a load that are refused.
    illegal: u64,
    /// Instructions of SM 7.0 or later, which one is not known.
    of_unknown_sm: u64,
    without_words: bool,
    /// Loads that have no word, as theirs is relocated.
    unassembled: u64,
}

/// The SMs of one listing, each a heading if there are several.
#[derive(Default)]
struct SmHeading {
    last: Option<Sm>,
    has_changed: bool,
    /// Those that were not chosen.
    others: BTreeSet<Sm>,
}

impl SmHeading {
    /// Returns the heading of what follows, if the text before it is of another SM. The first one
    /// names that too: only now it is known that there are several.
    fn enter(&mut self, sm: Option<Sm>, format: Format, is_image: bool) -> Option<String> {
        let before = self.last.replace(sm?);
        let is_new = before.is_some() && before != sm && format == Format::Text && !is_image;
        let (sm, before) = (sm?, before.filter(|_| is_new)?);
        let above = if self.has_changed { String::new() } else { format!(" (above: SM {before})") };
        self.has_changed = true;
        Some(format!("SM {sm}{above}:"))
    }
}

/// One input on its way to the output.
struct Decoder<'d, 'f> {
    arguments: &'d Arguments,
    path: &'d Path,
    /// The current one, in a file that holds cubins.
    image: Option<Tag>,
    functions: &'d mut Wanted<'f>,
    status: Status,
    checked: Checked,
}

/// What a raw stream that no compiler wrote may be.
const MAY_BE_NO_CODE: &str =
    "this may not be code, or it may begin elsewhere (use `--offset BYTES`)";

impl Decoder<'_, '_> {
    fn file(&mut self, progress: Progress, output: &mut Output) -> anyhow::Result<()> {
        if self.arguments.raw {
            let input = io::open(self.path, progress)?;
            return self.instructions(
                sass::read_raw(input, self.arguments.offset, self.arguments.sm)?,
                output,
            );
        }
        let (path, arguments) = (self.path, self.arguments);
        match binary::open(path, progress)? {
            Opened::Text(_) if arguments.list || arguments.extract.is_some() => {
                anyhow::bail!("text; expected a file that holds cubins or PTX")
            }
            Opened::Text(input) => {
                self.instructions(sass::read(input, sass::Format::Detect)?, output)
            }
            Opened::Binary(binary) if arguments.list => {
                self.status = list::list(path, binary.bytes(), arguments, output)?;
                Ok(())
            }
            Opened::Binary(binary) => match &arguments.extract {
                Some(folder) => {
                    self.status =
                        extract::extract(path, binary.bytes(), folder, arguments, output)?;
                    Ok(())
                }
                None => self.images(binary.bytes(), output),
            },
        }
    }

    fn instructions<R: std::io::BufRead>(
        &mut self,
        mut instructions: sass::Sass<R>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        if self.arguments.check && instructions.kind() != sass::Kind::Listing {
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
        let mut counts = Counts::default();
        let mut names = Names::new(!self.arguments.no_demangle);
        let style = Style {
            format: self.arguments.format,
            all: self.arguments.all,
            names_files: self.arguments.input.len() > 1,
            notation: self.arguments.control.notation(),
            has_lines: lines.is_present,
        };
        let mut stats = self.arguments.stats.then(|| Stats::new(self.path, style));
        let mut heading = SmHeading::default();
        for instruction in instructions {
            let mut instruction = instruction?;
            match (instruction.sm, self.arguments.sm) {
                (None, wanted) => instruction.sm = wanted,
                // The SMs of a listing; a cubin was chosen already.
                (Some(sm), Some(wanted)) if sm != wanted && self.image.is_none() => {
                    heading.others.insert(sm);
                    continue;
                }
                _ => {}
            }
            if !self.functions.take(instruction.function.as_ref()) {
                continue;
            }
            counts.instructions += 1;
            counts.controls += u64::from(instruction.control.is_some());
            counts.without_words |= instruction.word.is_none();
            if self.arguments.check {
                self.check(&instruction, output)?;
                continue;
            }
            let found = Found::new(&instruction);
            match &found {
                Found::Load(_) => counts.loads += 1,
                Found::Relocated => {
                    counts.loads += 1;
                    counts.unassembled += 1;
                }
                Found::Other => {}
                Found::Illegal(_) => counts.illegal += 1,
                Found::OfUnknownSm => counts.of_unknown_sm += 1,
                Found::Contradictory => counts.contradictory += 1,
                Found::Unreadable(error) => self.unreadable(&instruction, error, output)?,
            }
            names.enter(instruction.function.as_ref());
            if let Some(stats) = &mut stats {
                stats.add(&instruction, &found, &names, output)?;
                continue;
            }
            if found.is_load() || matches!(found, Found::Illegal(_)) || self.arguments.all {
                if let Some(line) =
                    heading.enter(instruction.sm, style.format, self.image.is_some())
                {
                    output.line(line)?;
                }
                if let Some(heading) = names.heading().filter(|_| style.format == Format::Text) {
                    output.line(heading)?;
                }
                let image = self.image.as_ref();
                let demangled = names.demangled();
                let row = Row {
                    path: self.path,
                    image,
                    instruction: &instruction,
                    found: &found,
                    demangled,
                };
                row.write(style, output)?;
            }
        }
        if let Some(stats) = stats {
            stats.finish(output)?;
        }
        if let Some(wanted) = self.arguments.sm.filter(|_| !heading.others.is_empty())
            && counts.instructions == 0
        {
            let others = heading.others.iter().map(ToString::to_string).collect();
            let message = images::no_image_of(wanted, &others);
            let name = io::name(self.path);
            self.status = output.fail(Status::Failed, format_args!("{name}: {message}"))?;
            return Ok(());
        }
        if counts.instructions == 0 && self.functions.is_one() {
            return Ok(());
        }
        if self.arguments.check {
            return self.finish_check(counts.without_words, output);
        }
        output.flush()?;
        self.remark(&counts);
        Ok(())
    }

    /// Warns of control words that no compiler writes.
    fn doubt<R>(&self, instructions: &sass::Sass<R>, output: &mut Output) -> std::io::Result<()> {
        let file = io::name(self.path);
        if instructions.is_unscheduled() {
            output.flush()?;
            diagnostic::warning(format_args!(
                "{file}: all control words are zero, which no compiler writes; {MAY_BE_NO_CODE}"
            ));
        }
        if let Some(offset) = instructions.barrier_6() {
            output.flush()?;
            diagnostic::warning(format_args!(
                "{file}: the control word at byte offset {offset} names barrier 6, which no compiler \
                 writes; {MAY_BE_NO_CODE}"
            ));
        }
        Ok(())
    }

    /// Says on standard error what the rows do not show.
    fn remark(&self, counts: &Counts) {
        let mut file = io::name(self.path);
        if let Some(image) = &self.image {
            file += &format!(": image {}", image.number);
        }
        let Counts { instructions, loads, contradictory, unassembled, .. } = counts;
        if *loads == 0 && self.status == Status::Done {
            let known = Instruction::MNEMONICS.join(", ");
            match instructions {
                _ if counts.of_unknown_sm > 0 => {}
                0 => diagnostic::note(format_args!("{file}: no code, so no load")),
                _ => diagnostic::note(format_args!(
                    "{file}: none of {instructions} instructions is a load ({known})"
                )),
            }
        }
        if counts.of_unknown_sm > 0 {
            diagnostic::warning(format_args!(
                "{file}: {} of {instructions} instructions have 128 bits, and nothing says of which SM \
                 they are; use `--sm`, for example `--sm 80`",
                counts.of_unknown_sm
            ));
        }
        if counts.illegal > 0 {
            diagnostic::note(format_args!(
                "{file}: {} with the opcode of a load {} refused, as nvdisasm does",
                plural(counts.illegal, "word"),
                if counts.illegal == 1 { "is" } else { "are" }
            ));
        }
        if *contradictory > 0 {
            diagnostic::warning(format_args!(
                "{file}: {contradictory} of {instructions} instructions are loads by their text, \
                 not by their words, which decide here; `--check` shows them"
            ));
        }
        if counts.without_words && *loads > *unassembled {
            let assembled = if *unassembled == 0 { "they" } else { "those shown" };
            diagnostic::note(format_args!(
                "{file}: no words in this listing; {assembled} were assembled from its text"
            ));
        }
        if *loads > 0 && counts.controls == 0 && self.arguments.control.notation().is_some() {
            diagnostic::note(format_args!("{file}: no control codes here"));
        }
    }

    /// Draws what is wrong with the text of a load.
    fn unreadable(
        &mut self,
        instruction: &SassInstruction,
        error: &ParseError,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        self.status = output.raise(Status::Failed);
        output.flush()?;
        let file = io::name(self.path);
        let line = instruction.line.unwrap_or(1) as usize;
        let column = instruction.column.unwrap_or(1);
        let text = instruction.text.as_deref().unwrap_or_default();
        let sm = find::sm_of(instruction).unwrap_or(Sm::SPA5);
        diagnostic::parse_error(Origin { file: &file, line, column }, text, error, sm);
        Ok(())
    }

    fn check(&mut self, instruction: &SassInstruction, output: &mut Output) -> anyhow::Result<()> {
        let Some(remark) = self.checked.instruction(instruction) else { return Ok(()) };
        let line = instruction.line.map_or(String::new(), |line| format!(":{line}"));
        let place = format!("{}{line}", io::name(self.path));
        match remark {
            Remark::Difference(difference) => {
                self.status = output.fail(Status::Failed, format_args!("{place}: {difference}"))?;
            }
            Remark::Unread(unread) => {
                output.flush()?;
                diagnostic::note(format_args!("{place}: {unread}"));
            }
        }
        Ok(())
    }

    fn finish_check(&self, without_words: bool, output: &mut Output) -> anyhow::Result<()> {
        let checked = &self.checked;
        if without_words && checked.loads + checked.relocated == 0 {
            anyhow::bail!("--check needs words to compare with; this listing has none");
        }
        if self.arguments.format == Format::Json {
            let file = self.path.display().to_string();
            output.json(&CheckJson { file: &file, checked })?;
            return Ok(());
        }
        output.line(format_args!("{}: {checked}", io::name(self.path)))?;
        Ok(())
    }
}
