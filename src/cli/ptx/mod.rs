//! `ptx`: what is done with modules of PTX.

mod check;
mod run;

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use warpload::ptx::{Lexer, Module, Span};

use super::io::{self, Output};
use super::{Progress, Status};

/// Check and execute loads in PTX modules
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(check::Arguments),
    Run(run::Arguments),
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    match arguments.command {
        Command::Check(command) => check::execute(&command, progress, output),
        Command::Run(command) => run::execute(&command, progress, output),
    }
}

/// The text of a module. Errors name the file.
fn read_text(path: &Path, progress: Progress) -> anyhow::Result<String> {
    let name = || io::name(path);
    let mut bytes = Vec::new();
    let mut file = io::open(path, progress).with_context(name)?;
    file.read_to_end(&mut bytes).context("cannot be read").with_context(name)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..at).unwrap_or_default();
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        anyhow::anyhow!("{}: line {line}, byte {at}: not UTF-8; expected a module of PTX", name())
    })
}

/// The words of a statement in one line, comments left out.
fn one_line(module: &Module<'_>, span: Span) -> String {
    let mut text = String::new();
    let mut end = span.start;
    for token in Lexer::of(module.source(), span) {
        if token.span.start > end {
            text.push(' ');
        }
        text.push_str(module.text(token.span));
        end = token.span.end;
    }
    text
}
