//! `decode`: every load of a cubin, a raw stream or a listing, or of bare words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use warpload::encoding::control::Notation;
use warpload::encoding::{Control, Instruction, parse_line};
use warpload::sass::{self, SassInstruction};

use super::check::{self, Checked};
use super::diagnostic::{self, Origin};
use super::encode::hexadecimal;
use super::io::{self, Output};
use super::{Format, Progress, Status, word};

/// Show every load of a cubin, a raw stream or a listing
///
/// Inputs are told apart by content: cubins (ELF), and listings of cuobjdump (-sass), nvdisasm
/// (with or without -hex), maxas and CuAssembler. Each load is shown with its function, its
/// offset (control words count), its word and its text.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload decode traces/gather.sm_50.cubin --control maxas
  cuobjdump -sass app | warpload decode - --check
  warpload decode --word 0x9c90000123470200 0x84e0000000070104
  cut -f1 words.tsv | warpload decode --word -")]
pub(crate) struct Arguments {
    /// Files; `-` is standard input
    #[arg(required_unless_present = "word")]
    input: Vec<PathBuf>,

    /// Decode bare words; `-` reads one a line. A word that is no load prints `-` (JSON: null)
    #[arg(
        long,
        num_args = 1..,
        value_name = "WORD",
        conflicts_with_all = ["input", "raw", "check", "function"]
    )]
    word: Vec<String>,

    /// The input is a stream of 32-byte bundles without a container
    #[arg(long)]
    raw: bool,

    /// Show how each load is scheduled, in this notation
    #[arg(long, value_enum, default_value_t)]
    control: ControlNotation,

    /// Show this function only
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// Compare a listing's own text with its words; exit status 1 where they differ
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
    /// `--:-:-:-:1` in front of the text
    Maxas,
    /// `[B------:R-:W-:-:S01]` in front of the text
    Cuasm,
    /// `&req={0} &rd=1 &wr=0 ?WAIT1_END_GROUP` behind the text
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
pub(crate) struct LoadJson<'l> {
    pub(crate) file: Option<&'l str>,
    pub(crate) function: Option<&'l str>,
    pub(crate) offset: Option<String>,
    pub(crate) word: String,
    pub(crate) text: String,
    pub(crate) control: Option<ControlJson>,
}

#[derive(serde::Serialize)]
pub(crate) struct ControlJson {
    stall: u8,
    r#yield: bool,
    write_barrier: Option<u8>,
    read_barrier: Option<u8>,
    wait_mask: u8,
    reuse: u8,
}

#[derive(serde::Serialize)]
struct CheckJson<'c> {
    file: &'c str,
    loads: u64,
    differences: u64,
}

impl From<Control> for ControlJson {
    fn from(control: Control) -> Self {
        Self {
            stall: control.stall.get(),
            r#yield: control.yield_bit,
            write_barrier: control.write.number(),
            read_barrier: control.read.number(),
            wait_mask: control.wait.mask(),
            reuse: control.reuse.get(),
        }
    }
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
            functions: &mut functions,
            status: Status::Done,
            checked: Checked::default(),
        };
        match decoder.file(progress, output) {
            Ok(()) => status = status.max(decoder.status),
            Err(error) if io::is_output_error(&error) => return Err(error),
            Err(error) => {
                output.flush()?;
                diagnostic::error(format_args!("{}: {error:#}", io::name(path)));
                status = Status::Unreadable;
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

/// The functions that the inputs have, where one is wanted.
#[derive(Default)]
struct Functions<'f> {
    wanted: Option<&'f str>,
    found: bool,
    others: BTreeSet<Arc<str>>,
}

impl Functions<'_> {
    /// Whether an instruction of this function is wanted.
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

/// One input on its way to the output.
struct Decoder<'d, 'f> {
    arguments: &'d Arguments,
    path: &'d Path,
    functions: &'d mut Functions<'f>,
    status: Status,
    checked: Checked,
}

/// The functions that there are, as far as they fit a message.
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
        let input = io::open(self.path, progress)?;
        let format = if self.arguments.raw { sass::Format::Raw } else { sass::Format::Detect };
        let instructions = sass::read(input, format)?;
        if self.arguments.check && instructions.kind() != sass::Kind::Listing {
            anyhow::bail!("--check compares a listing's text with its words; this is no listing");
        }
        let mut taken = false;
        let mut without_words = false;
        let (mut count, mut loads, mut controls) = (0u64, 0u64, 0u64);
        for instruction in instructions {
            let instruction = instruction?;
            if !self.functions.take(instruction.function.as_ref()) {
                continue;
            }
            taken = true;
            count += 1;
            controls += u64::from(instruction.control.is_some());
            without_words |= instruction.word.is_none();
            if self.arguments.check {
                self.check(&instruction, output)?;
            } else if let Some(load) = self.load(&instruction, output)? {
                loads += 1;
                self.show(&instruction, &load, output)?;
            }
        }
        if !taken && self.functions.wanted.is_some() {
            return Ok(());
        }
        if self.arguments.check {
            self.finish_check(without_words, output)?;
            return Ok(());
        }
        let file = io::name(self.path);
        output.flush()?;
        if loads == 0 && self.status == Status::Done {
            let known = Instruction::MNEMONICS.join(", ");
            diagnostic::note(format_args!(
                "{file}: none of {count} instructions is a load ({known})"
            ));
        }
        if loads > 0 && without_words {
            diagnostic::note(format_args!(
                "{file}: no words in this listing; they were assembled from its text"
            ));
        }
        if loads > 0 && controls == 0 && self.arguments.control.notation().is_some() {
            diagnostic::note(format_args!("{file}: nothing here says how it is scheduled"));
        }
        Ok(())
    }

    /// The load that an instruction is, from its word or, without one, from its text.
    fn load(
        &mut self,
        instruction: &SassInstruction,
        output: &mut Output,
    ) -> anyhow::Result<Option<Instruction>> {
        if let Some(word) = instruction.word {
            return Ok(Instruction::decode(word));
        }
        let text = instruction.text.as_deref().unwrap_or_default();
        if !check::names_a_load(text) {
            return Ok(None);
        }
        match parse_line(text) {
            Ok(parsed) => Ok(Some(parsed.instruction)),
            Err(error) => {
                output.flush()?;
                let file = io::name(self.path);
                let line = instruction.line.unwrap_or(1) as usize;
                let column = instruction.column.unwrap_or(1);
                diagnostic::parse_error(Origin { file: &file, line, column }, text, &error);
                self.status = Status::Failed;
                Ok(None)
            }
        }
    }

    fn show(
        &self,
        instruction: &SassInstruction,
        load: &Instruction,
        output: &mut Output,
    ) -> std::io::Result<()> {
        let file = self.path.display().to_string();
        let word = hexadecimal(load.encode());
        let function = instruction.function.as_deref();
        if self.arguments.format == Format::Json {
            return output.json(&LoadJson {
                file: Some(&file),
                function,
                offset: instruction.offset.map(|offset| format!("{offset:#x}")),
                word,
                text: load.to_string(),
                control: instruction.control.map(ControlJson::from),
            });
        }
        let mut line = String::new();
        if self.arguments.input.len() > 1 {
            line += &format!("{file}  ");
        }
        line += function.unwrap_or("-");
        match instruction.offset {
            Some(offset) => line += &format!("  {offset:#06x}"),
            None => line += "  -",
        }
        line += &format!("  {word}  ");
        let control = self
            .arguments
            .control
            .notation()
            .and_then(|notation| Some((notation, instruction.control?.display(notation))));
        match control {
            None => line += load.text().as_str(),
            Some((notation, control)) if notation.is_behind() => {
                line += &format!("{load} {control}");
            }
            Some((_, control)) => line += &format!("{control}  {load}"),
        }
        output.line(line)
    }

    fn check(&mut self, instruction: &SassInstruction, output: &mut Output) -> anyhow::Result<()> {
        let Some(difference) = self.checked.instruction(instruction) else { return Ok(()) };
        output.flush()?;
        let line = instruction.line.map_or(String::new(), |line| format!(":{line}"));
        diagnostic::error(format_args!("{}{line}: {difference}", io::name(self.path)));
        self.status = Status::Failed;
        Ok(())
    }

    fn finish_check(&self, without_words: bool, output: &mut Output) -> anyhow::Result<()> {
        if without_words && self.checked.loads == 0 {
            anyhow::bail!("--check needs words to compare with; this listing has none");
        }
        let Checked { loads, differences } = self.checked;
        if self.arguments.format == Format::Json {
            let file = self.path.display().to_string();
            output.json(&CheckJson { file: &file, loads, differences })?;
            return Ok(());
        }
        output.line(format_args!(
            "{}: {} load{} checked, {} difference{}",
            io::name(self.path),
            loads,
            if loads == 1 { "" } else { "s" },
            differences,
            if differences == 1 { "" } else { "s" },
        ))?;
        Ok(())
    }
}
