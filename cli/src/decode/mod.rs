//! `decode`: every load of a cubin, a raw stream or a listing, or of bare words.

mod check;
mod extract;
mod find;
mod images;
mod list;
pub(crate) mod row;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use warpload::encoding::control::Notation;
use warpload::encoding::{Instruction, ParseError, Sm};
use warpload::sass::{self, SassInstruction};

use self::check::{Checked, Remark};
use self::find::Found;
use self::images::Chosen;
use self::row::{Row, Style, Tag};
use super::binary::{self, Opened};
use super::diagnostic::{self, Origin};
use super::io::{self, Output};
use super::options::read_number;
use super::options::{Format, Progress};
use super::status::Status;
use super::word;

/// Show every load of a cubin, a raw stream or a listing
///
/// Inputs are told apart by content: cubins (ELF), files that hold cubins (fatbins; objects,
/// archives, libraries and programs with fatbins in them), and listings of cuobjdump (-sass),
/// nvdisasm (with or without -hex), maxas and CuAssembler. Each load is shown with its function,
/// its offset (control words count), its word and its text.
///
/// A file that is not text is mapped: it must not change or become shorter while it is read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload decode traces/gather.sm_50.cubin --control maxas
  warpload decode traces/gather.sm_50.cubin --all
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
        conflicts_with_all = ["input", "raw", "check", "function", "all"]
    )]
    word: Vec<String>,

    /// The input is a stream of 32-byte bundles without a container
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

    /// Only the images of this SM, such as 80 or 90a; exit status 1 if there are none
    #[arg(long, value_name = "SM", conflicts_with_all = ["word", "raw"])]
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
        return word::decode(&arguments.word, arguments.format, output);
    }
    let mut status = Status::Done;
    let mut functions = Functions { wanted: arguments.function.as_deref(), ..Functions::default() };
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
    if let Some(wanted) = functions.wanted.filter(|_| !functions.found && status == Status::Done) {
        diagnostic::error(format_args!("no function {wanted:?}; {}", listed(&functions.others)));
        status = Status::Unreadable;
    }
    Ok(status)
}

/// The functions of the inputs, if one is wanted.
#[derive(Default)]
struct Functions<'f> {
    wanted: Option<&'f str>,
    found: bool,
    others: BTreeSet<Arc<str>>,
}

impl Functions<'_> {
    /// Returns whether an instruction of this function is wanted.
    fn take(&mut self, function: Option<&Arc<str>>) -> bool {
        let Some(wanted) = self.wanted else { return true };
        let is_wanted = function.is_some_and(|function| &**function == wanted);
        self.found |= is_wanted;
        if !is_wanted
            && let Some(function) = function
            && !self.others.contains(function)
        {
            self.others.insert(Arc::clone(function));
        }
        is_wanted
    }
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
    without_words: bool,
    /// Loads that have no word, as theirs is relocated.
    unassembled: u64,
}

/// One input on its way to the output.
struct Decoder<'d, 'f> {
    arguments: &'d Arguments,
    path: &'d Path,
    /// The current one, in a file that holds cubins.
    image: Option<Tag>,
    functions: &'d mut Functions<'f>,
    status: Status,
    checked: Checked,
}

/// What a raw stream that no compiler wrote may be.
const MAY_BE_NO_CODE: &str =
    "this may not be code, or it may begin elsewhere (use `--offset BYTES`)";

/// Lists the functions, as many as fit a message.
fn listed(names: &BTreeSet<Arc<str>>) -> String {
    const SHOWN: usize = 20;
    if names.is_empty() {
        return "none is named here".to_owned();
    }
    let shown: Vec<&str> = names.iter().map(|name| &**name).take(SHOWN).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("there are: {}{more}", shown.join(", "))
}

impl Decoder<'_, '_> {
    fn file(&mut self, progress: Progress, output: &mut Output) -> anyhow::Result<()> {
        if self.arguments.raw {
            let input = io::open(self.path, progress)?;
            return self.instructions(sass::read_raw(input, self.arguments.offset)?, output);
        }
        let (path, arguments) = (self.path, self.arguments);
        let binary = match binary::open(path, progress)? {
            Opened::Binary(binary) => binary,
            Opened::Text(_) if arguments.list || arguments.extract.is_some() => {
                anyhow::bail!("text; expected a file that holds cubins or PTX")
            }
            Opened::Text(input) => {
                return self.instructions(sass::read(input, sass::Format::Detect)?, output);
            }
        };
        let chosen = Chosen {
            path,
            file: binary.bytes(),
            sm: arguments.sm,
            format: arguments.format,
            names_files: arguments.input.len() > 1,
        };
        let status = if arguments.list {
            list::list(&chosen, output)?
        } else if let Some(folder) = &arguments.extract {
            extract::extract(&chosen, folder, arguments.force, output)?
        } else {
            chosen.decode(output, |image, instructions, output| {
                self.image = image;
                self.instructions(instructions, output)
            })?
        };
        self.status = self.status.max(status);
        Ok(())
    }

    fn instructions<R: std::io::BufRead>(
        &mut self,
        instructions: sass::Sass<R>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        if self.arguments.check && instructions.kind() != sass::Kind::Listing {
            anyhow::bail!(
                "--check compares a listing's text with its words; this is not a listing"
            );
        }
        self.doubt(&instructions, output)?;
        let mut counts = Counts::default();
        let style = Style {
            format: self.arguments.format,
            all: self.arguments.all,
            names_files: self.arguments.input.len() > 1,
            notation: self.arguments.control.notation(),
        };
        for instruction in instructions {
            let instruction = instruction?;
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
                Found::Contradictory => counts.contradictory += 1,
                Found::Unreadable(error) => self.unreadable(&instruction, error, output)?,
            }
            let is_load = matches!(found, Found::Load(_) | Found::Relocated);
            if is_load || self.arguments.all {
                let image = self.image.as_ref();
                let row = Row { path: self.path, image, instruction: &instruction, found: &found };
                row.write(style, output)?;
            }
        }
        if counts.instructions == 0 && self.functions.wanted.is_some() {
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
                0 => diagnostic::note(format_args!("{file}: no code, so no load")),
                _ => diagnostic::note(format_args!(
                    "{file}: none of {instructions} instructions is a load ({known})"
                )),
            }
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
        diagnostic::parse_error(Origin { file: &file, line, column }, text, error);
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
