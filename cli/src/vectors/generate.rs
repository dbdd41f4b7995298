//! `vectors generate`: draws fresh vectors of an instruction.

use std::io;
use std::path::PathBuf;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use warpload::encoding::Sm;
use warpload_suite::flags::{self, Flag};
use warpload_suite::generate::{self, GenerateError, Generator};

use super::coverage::{self, CoverageJson};
use crate::destination::{self, Destination};
use crate::diagnostic;
use crate::io::{Output, is_stdin};
use crate::options::number;
use crate::process::Status;
use crate::terminal::Escapes;

/// Draw fresh test vectors of an instruction
///
/// Writes one vector a line, with its flags and the literal executor's result; the fast executor must agree. Cases aim
/// at flags: a few hundred cover all flags of an instruction, and a few thousand all pairs of flags that can occur
/// together. The coverage is reported on standard error.
///
/// The same instruction, SM, seed and flags make the same bytes on every platform. A greater count appends
/// vectors and does not change the first ones.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload vectors generate --instruction LD --count 300 --seed 1 -o ld.jsonl
  warpload vectors generate --instruction LDG --sm 90 --flag descriptor --flag misaligned
  warpload vectors generate --instruction LDS --count 100000 --coverage lds.json -o lds.jsonl")]
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
    #[arg(
        long,
        value_name = "FLAG",
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(names()).try_map(read_flag)
    )]
    flag: Vec<&'static Flag>,

    /// File for the coverage, as JSON
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,

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

fn names() -> impl Iterator<Item = &'static str> {
    flags::all().iter().map(|flag| flag.name)
}

fn read_flag(name: String) -> Result<&'static Flag, String> {
    Flag::named(&name).ok_or(name)
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { instruction, sm, count, seed, flag, coverage: report, output: to } = arguments;
    let generator = match Generator::new(&instruction, sm, seed) {
        Err(error @ GenerateError::UnknownInstruction { .. }) => {
            let known: Vec<&str> = generate::instructions(sm).collect();
            bail!("{error}; expected one of {}", known.join(", "));
        }
        generator => generator?.with_flags(&flag)?,
    };
    if report.as_deref().is_some_and(is_stdin) {
        bail!("vectors go to standard output; expected a file for --coverage, not `-`");
    }
    let destination = Destination::new(to.as_deref())?;
    let report = report.as_deref().map(destination::target).transpose()?;
    if report.as_ref().is_some_and(|report| destination.is_same_file(report)) {
        bail!("the vectors and their coverage are written to one file; expected two");
    }
    let mut coverage = generator.coverage();
    let mut failed = None;
    let written = destination.write(Escapes::Json, output, |to| {
        for number in 0..count {
            match generator.case(number) {
                Ok(case) => {
                    coverage.add(case.flags);
                    writeln!(to, "{}", case.line())?;
                }
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
    match report {
        Some(report) => {
            let name = generator.instruction();
            let json = CoverageJson::new(name, sm.to_string(), seed, &coverage);
            report.write(format!("{}\n", serde_json::to_string(&json)?).as_bytes())?;
        }
        None => {
            output.flush()?;
            diagnostic::report(&coverage::text(&coverage));
        }
    }
    Ok(Status::Done)
}
