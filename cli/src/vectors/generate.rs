//! `vectors generate`: draws fresh vectors of an instruction.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use warpload::encoding::Sm;
use warpload_suite::flags::{self, Flag};
use warpload_suite::generate::{self, GenerateError, Generator};

use crate::destination::Destination;
use crate::io::Output;
use crate::options::number;
use crate::process::Status;
use crate::terminal::Escapes;

/// Draw fresh test vectors of an instruction
///
/// Writes one random vector a line, with its flags and the literal executor's result; the fast executor must agree. A
/// few thousand show nearly all flags of an instruction.
///
/// The same instruction, SM, seed and flags make the same bytes on every platform. A greater count appends
/// vectors and does not change the first ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload vectors generate --instruction LD --count 300 --seed 1 -o ld.jsonl
  warpload vectors generate --instruction LDG --sm 90 --flag descriptor --flag misaligned
  warpload vectors generate --instruction LDS --count 100000 -o lds.jsonl")]
pub(crate) struct Arguments {
    /// Load to generate vectors for
    #[arg(
        long,
        value_name = "NAME",
        ignore_case = true,
        value_parser = PossibleValuesParser::new(instructions())
    )]
    instruction: String,

    /// SM of the instruction, such as 80 or 90a
    #[arg(long, value_name = "SM", default_value = "50")]
    sm: Sm,

    /// Number of vectors
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number::<u64>(0..=u64::MAX))]
    count: u64,

    /// The seed
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = number::<u64>(0..=u64::MAX))]
    seed: u64,

    /// Only vectors with this flag, and with all others that are given; `vectors flags` lists them
    #[arg(long, value_name = "FLAG", hide_possible_values = true, value_parser = FlagParser)]
    flag: Vec<&'static Flag>,

    /// File to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The instructions of all SMs, without duplicates.
fn instructions() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for name in Sm::all().flat_map(generate::instructions) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// clap's own parser would list all flags before it suggests one.
#[derive(Clone)]
struct FlagParser;

impl TypedValueParser for FlagParser {
    type Value = &'static Flag;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        Flag::parse.parse_ref(command, argument, value)
    }

    /// For completions.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(flags::all().iter().map(|flag| PossibleValue::new(flag.name))))
    }
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { instruction, sm, count, seed, flag, output: to } = arguments;
    let generator = match Generator::new(&instruction, sm, seed) {
        Err(error @ GenerateError::UnknownInstruction { .. }) => {
            let known: Vec<&str> = generate::instructions(sm).collect();
            bail!("{error}; expected one of {}", known.join(", "));
        }
        generator => generator?.with_flags(&flag),
    };
    let mut failed = None;
    let written = Destination::new(to.as_deref())?.write(Escapes::Json, output, |to| {
        for number in 0..count {
            match generator.line(number) {
                Ok(line) => writeln!(to, "{line}")?,
                Err(error) => {
                    let stopped = io::Error::other(error.to_string());
                    failed = Some(error);
                    return Err(stopped);
                }
            }
        }
        Ok(())
    });
    if let Some(error) = failed {
        return Ok(output.fail(Status::Failed, error)?);
    }
    written?;
    Ok(Status::Done)
}
