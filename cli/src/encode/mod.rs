//! `encode`: assembles text to words and bundles; `listing` assembles whole listings, `patch` replaces a word of a cubin.

mod listing;
mod patch;

use std::path::PathBuf;

use warpload::encoding::control::{Bundle, Control};
use warpload::encoding::{
    Expected, Instruction, LoadDestination, LoadSize, MachineWord, NotExecutable, ParseErrorKind,
    ParsedLine, Sm, Spa5Instruction, parse_control_prefix, parse_line, parse_line_like,
};
use warpload::explain::certain_fault;
use warpload::load::{AnyRegister, WarpFault};
use warpload_binary::names::NamePattern;
use warpload_binary::word::{NotALoad, ptx_opcode, read_load_word};

use self::listing::Listing;
use crate::diagnostic::{self, Message, MessageLevel, Origin};
use crate::io::Output;
use crate::options::{Format, Progress, number};
use crate::process::Status;
use crate::word::{
    ERROR, FIRST, each_given, is_argument, is_stdin, may_be_other, refuse, refuse_other, unquoted,
    with_option,
};

/// Assemble text to words, and listings to code
///
/// Writes one hexadecimal word a line: of SM 5.0 to 6.2 for every instruction, of later SMs for loads. Empty lines of standard input, and lines with only a comment, are skipped. A
/// line with an error is written as `error`, and the exit status is 2. A load that is known to fault when executed is
/// assembled, with a warning.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload encode 'LD.32 R3, [R1 + 20], P0'
  warpload encode < loads.sass
  warpload encode --sm 90 'LDG.E R0, desc[UR4][R2.64+0x10]'
  warpload encode --sm 80 --like 0x000ea2000c1e1d000000000402047981 'LDG.E.128 R8, [R2.64]'
  warpload encode --sm 61 --at 0x30 '@P0 BRA 0x60'
  warpload encode --bundle 'LD R0, [R2] &wr=0 ?W2G' 'LD R1, [R2+4] &wr=1 &req={0}'
  warpload decode --all --control maxas kernel.cubin | warpload encode --listing - --sm 61
  nvdisasm -hex kernel.cubin | warpload encode --listing - --function scan -o scan.bin
  warpload encode --patch kernel.cubin --at scan+0x88 'IADD R0, R1, R2' -o new.cubin")]
pub(crate) struct Arguments {
    /// Instructions, each quoted, or one without quotes; without any, or with `-`, lines of standard input
    text: Vec<String>,

    /// Write whole bundles: a control word, then three instruction words
    ///
    /// Every three instructions make a bundle; the last one is filled with NOP. If a line has an error, no bundle is
    /// written. Annotations after the operands (&req={0,2} &rd=N &wr=N ?NAME), or the notation of maxas or CuAssembler
    /// before the load, make the control word. Put `--` before texts that begin with `-`.
    #[arg(long)]
    bundle: bool,

    /// Assemble a whole listing of SM 5.0 to 6.2: of `decode --all --control`, of nvdisasm -hex, of cuobjdump -sass
    ///
    /// Each function is written as bundles, control words included. The text of an instruction decides, and its word in
    /// the listing supplies what the text does not show; a word that nvdisasm refuses has no text and is taken as it is.
    /// Labels are addresses. Scheduling comes from control words or notations before the texts.
    #[arg(
        long,
        value_name = "LISTING",
        conflicts_with_all = ["text", "bundle", "like", "at", "patch"]
    )]
    listing: Option<PathBuf>,

    /// Functions of the listing: a part of the mangled or demangled name, or a regular expression
    #[arg(long, value_name = "NAME|REGEX", requires = "listing")]
    function: Option<NamePattern>,

    /// Write a copy of this cubin of SM 5.0 to 6.2, in which one instruction word is replaced. Its scheduling stays
    #[arg(
        long,
        value_name = "CUBIN",
        requires_all = ["at", "text", "output"],
        conflicts_with_all = ["bundle", "like", "sm"]
    )]
    patch: Option<PathBuf>,

    /// Address of each instruction of SM 5.0 to 6.2, from which jumps go; 0x8 by default, that of the first instruction
    /// of a function. With `--patch`, the word to replace
    #[arg(long, value_name = "ADDRESS|FUNCTION+OFFSET")]
    at: Option<String>,

    /// File for the code of the listing's only function, a raw stream of bundles; or for the new cubin
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// SM to assemble for, such as 80 or 90a; SM 5.x and 6.x by default. Words of SM 7.0 and later have 128 bits and
    /// include scheduling
    #[arg(long, value_name = "SM")]
    sm: Option<Sm>,

    /// Word of a load of the same form, which supplies the bits that a text does not determine: a descriptor that the
    /// text of SM 8.x hides, scheduling, and bits that no text shows
    #[arg(long, value_name = "WORD")]
    like: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct EncodedJson<'t> {
    /// `None` for a line that is not UTF-8.
    text: Option<&'t str>,
    word: Option<String>,
}

#[derive(serde::Serialize)]
struct BundleJson {
    bundle: [String; 4],
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let sm = arguments.sm.unwrap_or(Sm::SPA5);
    if let Some(listing) = &arguments.listing {
        let (function, to) = (arguments.function.as_ref(), arguments.output.as_deref());
        let listing = Listing { path: listing, function, sm: arguments.sm, to };
        return listing.assemble(arguments.format, progress, output);
    }
    if let (Some(cubin), Some(at), Some(to)) = (&arguments.patch, &arguments.at, &arguments.output)
    {
        return patch::execute(cubin, at, &unquoted(arguments.text), to, output);
    }
    anyhow::ensure!(arguments.output.is_none(), "--output: words are written to standard output");
    let at = arguments.at.as_deref().map(number(0..=u64::MAX)).transpose();
    let at = at.map_err(|error| anyhow::anyhow!("--at: {error}"))?.unwrap_or(FIRST);
    if arguments.bundle && sm.has_wide_words() {
        anyhow::bail!(
            "--bundle: code of SM {sm} has no bundles; each word of 128 bits has its own scheduling"
        );
    }
    let like = arguments.like.as_deref().map(|word| like(word, sm)).transpose()?;
    let given = unquoted(arguments.text);
    let mut batch = Batch {
        bundle: arguments.bundle,
        is_one: given.len() == 1 && !is_stdin(&given),
        sm,
        at,
        // Bundles and the word of `--like` determine the SM, too.
        is_sm_certain: arguments.sm.is_some() || arguments.bundle || like.is_some(),
        like,
        format: arguments.format,
        instructions: Vec::new(),
        status: Status::Done,
    };
    each_given(&given, |origin, text| {
        match text {
            // A line may be a comment, but an argument should be an instruction.
            Ok(text) if is_comment(text) && !is_argument(origin) => {}
            Ok(text) => batch.line(origin, text, output)?,
            Err(error) => {
                output.fail(Status::Unreadable, format_args!("{}: {error}", origin.file))?;
                batch.error(None, output)?;
            }
        }
        Ok(())
    })?;
    batch.finish(output)?;
    Ok(batch.status)
}

struct Batch {
    bundle: bool,
    /// Whether there is only one text, so that no placeholder is needed to keep lines of output and texts together.
    is_one: bool,
    sm: Sm,
    /// The address of each instruction.
    at: u64,
    /// Whether the SM was given or can be inferred, or has been noted already.
    is_sm_certain: bool,
    like: Option<Instruction>,
    format: Format,
    /// With `--bundle`, the instructions, to be written after the last line.
    instructions: Vec<(u64, Control)>,
    status: Status,
}

impl Batch {
    fn line(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        let parsed = match (ptx_opcode(text), &self.like) {
            (Some(opcode), _) => Err(NotALoad::Ptx { opcode: opcode.to_owned() }),
            (None, Some(like)) => parse_line_like(text, like).map_err(NotALoad::Text),
            (None, None) => parse_line(text, self.sm).map_err(NotALoad::Text),
        };
        let ParsedLine { instruction: load, control, alias, chosen, .. } = match parsed {
            Ok(parsed) => parsed,
            Err(error) if may_be_other(&error, text, self.sm) => {
                return match Spa5Instruction::parse_line(text, self.sm, self.at) {
                    Ok(line) => {
                        let control = line.control.unwrap_or_default();
                        let control = Control { reuse: line.reuse, ..control };
                        Ok(self.word(text, line.instruction.word().into(), control, output)?)
                    }
                    Err(other) => {
                        refuse_other(&other, &error, origin, text, self.sm, output)?;
                        Ok(self.error(Some(text), output)?)
                    }
                };
            }
            Err(error) => {
                refuse(&error, origin, text, Some(self.sm), output)?;
                return Ok(self.error(Some(text), output)?);
            }
        };
        if let Some(alias) = alias {
            output.flush()?;
            diagnostic::alias_note(origin, text, &alias);
        }
        if let Some(chosen) = chosen {
            output.flush()?;
            let title = format!(
                "the text hides the descriptor; this has `{}`",
                chosen.to_string().trim_start()
            );
            let help =
                "append it, as `decode --hidden` does, or take it from a word with `--like WORD`";
            let start = parse_control_prefix(text).map_or(0, |(_, start)| start);
            let from = text.len() - text[start..].trim_start().len();
            let place = (from, text.trim_end().len());
            warn(origin, text, place, &title, help);
        }
        if let Some(fault) = certain_fault(&load) {
            output.flush()?;
            warn_of(fault, &load, origin, text);
        }
        self.word(text, load.word(), control.unwrap_or_default(), output)?;
        Ok(self.name_sm(text, output)?)
    }

    fn word(
        &mut self,
        text: &str,
        word: MachineWord,
        control: Control,
        output: &mut Output,
    ) -> std::io::Result<()> {
        match (self.format, word) {
            (_, MachineWord::Bits64(word)) if self.bundle => {
                self.instructions.push((word, control));
                Ok(())
            }
            (Format::Text, word) => output.line(word),
            (Format::Json, word) => {
                output.json(&EncodedJson { text: Some(text), word: Some(word.to_string()) })
            }
        }
    }

    /// Notes, once, the assumed SM, if none was given and other SMs can assemble the text too.
    fn name_sm(&mut self, text: &str, output: &mut Output) -> std::io::Result<()> {
        if self.is_sm_certain {
            return Ok(());
        }
        let later = || Sm::all().filter(|sm| sm.has_wide_words());
        let has = |sm: &Sm| parse_line(text, *sm).is_ok();
        let others: Vec<String> = later().filter(has).map(|sm| sm.to_string()).collect();
        if !others.is_empty() {
            self.is_sm_certain = true;
            output.flush()?;
            let others = match others.len() == later().count() {
                true => "7.0 and later".to_owned(),
                false => others.join(", "),
            };
            diagnostic::note(format_args!(
                "encoded for SM 5.x and 6.x, because `--sm` is not given; SM {others} also have a load with this text"
            ));
        }
        Ok(())
    }

    /// Writes `error` in place of a word of several.
    fn error(&mut self, text: Option<&str>, output: &mut Output) -> std::io::Result<()> {
        self.status = output.raise(Status::Unreadable);
        match self.format {
            _ if self.bundle || self.is_one => Ok(()),
            Format::Text => output.line(ERROR),
            Format::Json => output.json(&EncodedJson { text, word: None }),
        }
    }

    /// Writes the bundles, unless a line had an error.
    fn finish(&self, output: &mut Output) -> std::io::Result<()> {
        if self.status != Status::Done {
            return Ok(());
        }
        let bundles = self.instructions.chunks(3).map(|three| {
            let mut bundle = Bundle::nops();
            for (slot, (word, control)) in three.iter().enumerate() {
                (bundle.words[slot], bundle.control[slot]) = (*word, *control);
            }
            bundle
        });
        for words in bundles.map(words_of) {
            match self.format {
                Format::Text => words.iter().try_for_each(|word| output.line(word))?,
                Format::Json => output.json(&BundleJson { bundle: words })?,
            }
        }
        Ok(())
    }
}

/// The words of a bundle, the control word first.
fn words_of(bundle: Bundle) -> [String; 4] {
    bundle.to_words().map(|word| MachineWord::from(word).to_string())
}

/// Parses the word of `--like`.
fn like(word: &str, sm: Sm) -> anyhow::Result<Instruction> {
    let load = read_load_word(word, Some(sm));
    load.map_err(|error| anyhow::anyhow!("--like: {}", with_option(&error)))
}

fn warn(origin: Origin<'_>, text: &str, place: (usize, usize), title: &str, help: &str) {
    let message = Message::new(MessageLevel::Warning, title).help(Some(help));
    diagnostic::in_line(&message, origin, text, place);
}

/// Warns that executing `load`, assembled from `text`, raises `fault`.
fn warn_of(fault: WarpFault, load: &Instruction, origin: Origin<'_>, text: &str) {
    let register = fault.register();
    let parts = load.parts();
    let address = parts.address;
    let in_address = match register {
        // Both can be the same register. The fault is then the destination's, because it is checked first.
        AnyRegister::General(register) => {
            let is_destination = match parts.destination {
                LoadDestination::Halves { low, high } => [low, high].contains(&register),
                destination => destination.register() == Some(register),
            };
            let count = group(parts.size);
            let is_wrong = u32::from(register.number()) % count != 0
                || u32::from(register.number()) + count > 255;
            !(is_destination && is_wrong)
        }
        AnyRegister::Uniform(register) => {
            let is_base = address.uniform.is_some_and(|uniform| uniform.register == register);
            is_base && parts.destination.register().is_some()
        }
    };
    let title = format!("executing this raises {}: {}", fault.name(), fault.warp_error());
    let count = if in_address { 2 } else { group(parts.size) };
    let what = if in_address { "a 64-bit address is in" } else { "this size fills" };
    let help = match fault {
        WarpFault::MisalignedRegister(_) | WarpFault::MisalignedUniform(_) => {
            format!("{what} {count} registers, and the first must be a multiple of {count}")
        }
        WarpFault::OutOfRangeRegister(_) | WarpFault::OutOfRangeUniform(_) => {
            let last = match register {
                AnyRegister::General(_) => "R254".to_owned(),
                AnyRegister::Uniform(_) => format!("UR{}", parts.uniform_registers - 1),
            };
            format!("{what} {count} registers, and the last must not be above {last}")
        }
    };
    let name = register.to_string();
    let (start, end) = register_in(text, &name, in_address).unwrap_or((0, text.trim_end().len()));
    warn(origin, text, (start, end), &title, &help);
}

/// The number of consecutive registers that a load fills.
fn group(size: Result<LoadSize, NotExecutable>) -> u32 {
    size.map_or(1, |size| size.registers().min(4))
}

/// The place in `text` of a register, in the address or else as the destination.
fn register_in(text: &str, name: &str, in_address: bool) -> Option<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // The control prefix is skipped, because it may be a comment.
    let mut at = parse_control_prefix(text).map_or(0, |(_, start)| start);
    let mut words = text[at..].split_inclusive(|c| !is_word(c)).map(|word| {
        let start = at;
        at += word.len();
        (word.trim_end_matches(|c| !is_word(c)), start)
    });
    let is_wanted = |(word, _): &(&str, usize)| word.eq_ignore_ascii_case(name);
    let opening = |start: usize| text[..start].trim_end().ends_with('[');
    let found = words.find(|word| is_wanted(word) && opening(word.1) == in_address);
    found.map(|(word, start)| (start, start + word.len()))
}

/// Whether a line has only comments. A control notation without an instruction is not a comment.
fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    let missing = ParseErrorKind::Expected(Expected::Instruction);
    (text.starts_with("//") || text.starts_with("/*"))
        && parse_line(text, Sm::SPA5).is_err_and(|error| error.kind == missing)
}
