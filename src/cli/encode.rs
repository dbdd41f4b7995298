//! `encode`: text to words, and bundles.

use std::path::Path;

use anyhow::Context;
use warpload::encoding::control::{Bundle, Control, NOP};
use warpload::encoding::{Expected, ParseErrorKind, ParsedLine, parse_line};
use warpload::lines::{LineError, Lines};

use super::diagnostic::{self, Origin};
use super::io::{self, Output};
use super::{Format, Progress, Status};

/// Assemble text to words
///
/// Writes one word a line, in hexadecimal. Lines of standard input that are empty or hold a comment
/// alone give nothing; a line with an error gives `error` in its place, and exit status 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload encode 'LD.32 R3, [R1 + 20], P0'
  warpload encode < loads.sass
  warpload encode --bundle 'LD R0, [R2] &wr=0 ?W2G' 'LD R1, [R2+4] &wr=1 &req={0}'")]
pub(crate) struct Arguments {
    /// Instructions, one each; without any, or with `-`, lines of standard input
    text: Vec<String>,

    /// Write whole bundles: a control word, then three instruction words
    ///
    /// Every three instructions make a bundle; the last one is filled with NOP. Annotations
    /// behind the operands (&req={0,2} &rd=N &wr=N ?NAME), or maxas's or CuAssembler's notation
    /// in front, make the control word. Put `--` before texts that begin with `-`.
    #[arg(long)]
    bundle: bool,

    /// How the words are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct EncodedJson<'t> {
    /// Nothing for a line that is no text.
    text: Option<&'t str>,
    word: Option<String>,
}

#[derive(serde::Serialize)]
struct BundleJson {
    bundle: [Option<String>; 4],
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let mut batch = Batch {
        bundle: arguments.bundle,
        format: arguments.format,
        pending: Vec::new(),
        status: Status::Done,
    };
    if arguments.text.is_empty() || arguments.text == ["-"] {
        let stdin = Path::new("-");
        let file = io::name(stdin);
        let mut lines = Lines::new(io::open(stdin, Progress::Never)?);
        while let Some(line) = lines.next_line() {
            match line {
                Ok(line) if is_blank(line.text) => {}
                Ok(line) => {
                    let origin = Origin { file: &file, line: line.number as usize, column: 1 };
                    batch.line(origin, line.text, output)?;
                }
                Err(error @ LineError::NotUtf8 { .. }) => {
                    output.flush()?;
                    diagnostic::error(format_args!("{file}: {error}"));
                    batch.error(None, output)?;
                }
                Err(error) => return Err(error).context(file),
            }
        }
    } else {
        for (number, text) in (1..).zip(&arguments.text) {
            let file = match arguments.text.len() {
                1 => "<argument>".to_owned(),
                _ => format!("<argument {number}>"),
            };
            batch.line(Origin { file: &file, line: 1, column: 1 }, text, output)?;
        }
    }
    batch.finish(output)?;
    Ok(batch.status)
}

struct Batch {
    bundle: bool,
    format: Format,
    /// The instructions of the bundle that is not full yet.
    /// Without a word where it has an error.
    pending: Vec<(Option<u64>, Control)>,
    status: Status,
}

impl Batch {
    fn line(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        let parsed = match parse_line(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                // What was assembled so far comes first on a terminal that shows both streams.
                output.flush()?;
                diagnostic::parse_error(origin, text, &error);
                return Ok(self.error(Some(text), output)?);
            }
        };
        if let Some(alias) = parsed.alias {
            output.flush()?;
            diagnostic::alias_note(origin, text, &alias);
        }
        Ok(self.instruction(text, &parsed, output)?)
    }

    fn instruction(
        &mut self,
        text: &str,
        parsed: &ParsedLine,
        output: &mut Output,
    ) -> std::io::Result<()> {
        let word = parsed.instruction.encode();
        if !self.bundle {
            return match self.format {
                Format::Text => output.line(hexadecimal(word)),
                Format::Json => {
                    let (text, word) = (Some(text), Some(hexadecimal(word)));
                    output.json(&EncodedJson { text, word })
                }
            };
        }
        self.pending.push((Some(word), parsed.control.unwrap_or_default()));
        if self.pending.len() == 3 { self.flush_bundle(output) } else { Ok(()) }
    }

    /// Takes the place of a word, in a bundle too: what should have stood there is not known.
    fn error(&mut self, text: Option<&str>, output: &mut Output) -> std::io::Result<()> {
        self.status = Status::Failed;
        if self.bundle {
            self.pending.push((None, Control::default()));
            return if self.pending.len() == 3 { self.flush_bundle(output) } else { Ok(()) };
        }
        match self.format {
            Format::Text => output.line(ERROR),
            Format::Json => output.json(&EncodedJson { text, word: None }),
        }
    }

    fn flush_bundle(&mut self, output: &mut Output) -> std::io::Result<()> {
        let mut bundle = Bundle::nops();
        let mut is_error = [false; 4];
        for (slot, (word, control)) in self.pending.drain(..).enumerate() {
            bundle.words[slot] = word.unwrap_or(NOP);
            bundle.control[slot] = control;
            // The control word comes first.
            is_error[slot + 1] = word.is_none();
        }
        let mut words = bundle.to_words().map(|word| Some(hexadecimal(word)));
        for (word, is_error) in words.iter_mut().zip(is_error) {
            if is_error {
                *word = None;
            }
        }
        match self.format {
            Format::Text => {
                words.iter().try_for_each(|word| output.line(word.as_deref().unwrap_or(ERROR)))
            }
            Format::Json => output.json(&BundleJson { bundle: words }),
        }
    }

    fn finish(&mut self, output: &mut Output) -> std::io::Result<()> {
        if self.pending.is_empty() { Ok(()) } else { self.flush_bundle(output) }
    }
}

/// Stands where a word would.
pub(crate) const ERROR: &str = "error";

/// Whether a line holds nothing but space and comments. A control notation without an instruction
/// is not blank.
fn is_blank(text: &str) -> bool {
    let text = text.trim_start();
    let begins_blank = text.is_empty() || text.starts_with("//") || text.starts_with("/*");
    let missing = ParseErrorKind::Expected(Expected::Instruction);
    begins_blank && parse_line(text).is_err_and(|error| error.kind == missing)
}

pub(crate) fn hexadecimal(word: u64) -> String {
    format!("{word:#018x}")
}
