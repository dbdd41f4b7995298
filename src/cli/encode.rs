//! `encode`: text to words, and bundles.

use std::path::Path;

use warpload::encoding::control::{Bundle, Control, NOP};
use warpload::encoding::{Expected, ParseError};
use warpload::encoding::{ParseErrorKind, ParsedLine, parse_line};
use warpload::lines::Lines;

use super::diagnostic::{self, Origin};
use super::io::{self, Output};
use super::{Format, Progress, Status};

/// Assemble text to words
///
/// Writes one word a line, in hexadecimal. Lines that are empty or hold a comment alone give
/// nothing; a line with an error gives `error` in its place.
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
    /// in front, make the control word.
    #[arg(long)]
    bundle: bool,

    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct EncodedJson<'t> {
    text: &'t str,
    word: Option<String>,
}

#[derive(serde::Serialize)]
struct BundleJson {
    bundle: [String; 4],
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let mut batch = Batch {
        bundle: arguments.bundle,
        format: arguments.format,
        pending: Vec::new(),
        status: Status::Done,
    };
    if arguments.text.is_empty() || arguments.text == ["-"] {
        let input = io::open(Path::new("-"), Progress::Never)?;
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line() {
            let line = line?;
            let origin = Origin { file: "<stdin>", line: line.number as usize };
            batch.line(origin, line.text, output)?;
        }
    } else {
        for text in &arguments.text {
            batch.line(Origin { file: "<argument>", line: 1 }, text, output)?;
        }
    }
    batch.finish(output)?;
    Ok(batch.status)
}

struct Batch {
    bundle: bool,
    format: Format,
    /// The instructions of the bundle that is not full yet.
    pending: Vec<(u64, Control)>,
    status: Status,
}

impl Batch {
    fn line(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        let parsed = match parse_line(text) {
            Ok(parsed) => parsed,
            Err(error) if is_blank(&error) => return Ok(()),
            Err(error) => {
                // What was assembled so far comes first on a terminal that shows both streams.
                output.flush()?;
                diagnostic::parse_error(origin, text, &error);
                self.status = Status::Failed;
                return Ok(self.error(text, output)?);
            }
        };
        if let Some(alias) = parsed.alias {
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
                Format::Json => output.json(&EncodedJson { text, word: Some(hexadecimal(word)) }),
            };
        }
        self.pending.push((word, parsed.control.unwrap_or_default()));
        if self.pending.len() == 3 { self.flush_bundle(output) } else { Ok(()) }
    }

    /// Takes the place of a word; in a bundle NOP keeps the other instructions where they are.
    fn error(&mut self, text: &str, output: &mut Output) -> std::io::Result<()> {
        if self.bundle {
            self.pending.push((NOP, Control::default()));
            return if self.pending.len() == 3 { self.flush_bundle(output) } else { Ok(()) };
        }
        match self.format {
            Format::Text => output.line("error"),
            Format::Json => output.json(&EncodedJson { text, word: None }),
        }
    }

    fn flush_bundle(&mut self, output: &mut Output) -> std::io::Result<()> {
        let mut bundle = Bundle::nops();
        for (slot, (word, control)) in self.pending.drain(..).enumerate() {
            bundle.words[slot] = word;
            bundle.control[slot] = control;
        }
        let words = bundle.to_words().map(hexadecimal);
        match self.format {
            Format::Text => words.iter().try_for_each(|word| output.line(word)),
            Format::Json => output.json(&BundleJson { bundle: words }),
        }
    }

    fn finish(&mut self, output: &mut Output) -> std::io::Result<()> {
        if self.pending.is_empty() { Ok(()) } else { self.flush_bundle(output) }
    }
}

/// Whether a line holds nothing but space and comments.
fn is_blank(error: &ParseError) -> bool {
    error.kind == ParseErrorKind::Expected(Expected::Instruction)
}

pub(crate) fn hexadecimal(word: u64) -> String {
    format!("{word:#018x}")
}
