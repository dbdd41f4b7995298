//! `ptx check`: which loads of a module are legal, and why others are not.

use std::path::{Path, PathBuf};

use warpload_ptx::rules::Unit;
use warpload_ptx::{Verdict, check_as};

use super::file::{File, with_file};
use crate::diagnostic;
use crate::io::Output;
use crate::options::{Format, Progress};
use crate::status::Status;

/// Say of every load in PTX modules whether it is legal
///
/// Judges `ld`, `ld.global.nc`, `tcgen05.ld` and `tcgen05.ld.red` for the module's `.version` and
/// `.target`. One line a load on standard output; what is wrong is drawn on standard error.
/// Exit status 1 if a load is illegal, 2 if a file is not a module.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload ptx check kernel.ptx
  clang --target=nvptx64-nvidia-cuda -S -o - kernel.c | warpload ptx check -
  warpload ptx check --format json *.ptx")]
pub(crate) struct Arguments {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Take modules for parts of a program, which are linked later
    ///
    /// They may use variables that are defined elsewhere, and unified ones.
    #[arg(long)]
    compile_only: bool,

    /// In JSON, name every rule that a load breaks: the key `violations`
    #[arg(long)]
    every_rule: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct FileJson<'f> {
    file: &'f str,
    accept: bool,
    loads: Vec<LoadJson>,
}

#[derive(serde::Serialize)]
struct LoadJson {
    line: u32,
    column: u32,
    text: String,
    accept: bool,
    /// The first rule that is broken.
    rule: Option<&'static str>,
    error: Option<String>,
    /// With `--every-rule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    violations: Option<Vec<ViolationJson>>,
}

#[derive(serde::Serialize)]
struct ViolationJson {
    rule: &'static str,
    line: u32,
    column: u32,
    error: String,
    help: Option<String>,
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    for path in &arguments.files {
        status = status.max(check_file(arguments, path, progress, output)?);
    }
    Ok(status)
}

fn check_file(
    arguments: &Arguments,
    path: &Path,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let unit = if arguments.compile_only { Unit::Part } else { Unit::Program };
    with_file(path, progress, output, |file, output| match arguments.format {
        Format::Text => file.text(check_as(file.module, unit), output),
        Format::Json => file.json(check_as(file.module, unit), arguments.every_rule, output),
    })
}

impl File<'_> {
    fn text(
        &self,
        verdicts: impl Iterator<Item = Verdict>,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let mut status = Status::Done;
        let mut is_empty = true;
        for verdict in verdicts {
            is_empty = false;
            let at = self.lines.position(verdict.span.start);
            let text = self.one_line(verdict.span);
            let name = self.name;
            let word = if verdict.is_legal() { "legal" } else { "illegal" };
            if !verdict.is_legal() {
                status = output.raise(Status::Failed);
            }
            output.line(format_args!("{name}:{}:{}: {word}: {text}", at.line, at.column))?;
            if !verdict.is_legal() {
                self.draw_verdict(&verdict, output)?;
            }
        }
        if is_empty {
            output.flush()?;
            diagnostic::note(format_args!("{}: no loads", self.name));
        }
        Ok(status)
    }

    fn json(
        &self,
        verdicts: impl Iterator<Item = Verdict>,
        every_rule: bool,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let mut loads = Vec::new();
        let mut status = Status::Done;
        for verdict in verdicts {
            if !verdict.is_legal() {
                status = output.raise(Status::Failed);
            }
            self.draw_verdict(&verdict, output)?;
            loads.push(self.load(&verdict, every_rule));
        }
        let accept = status == Status::Done;
        output.json(&FileJson { file: self.name, accept, loads })?;
        Ok(status)
    }

    fn load(&self, verdict: &Verdict, every_rule: bool) -> LoadJson {
        let at = self.lines.position(verdict.span.start);
        let first = verdict.violations.first();
        let violations = verdict.violations.iter().map(|violation| {
            let at = self.lines.position(violation.span.start);
            ViolationJson {
                rule: violation.rule.name(),
                line: at.line,
                column: at.column,
                error: violation.message.clone(),
                help: violation.help.clone(),
            }
        });
        LoadJson {
            line: at.line,
            column: at.column,
            text: self.one_line(verdict.span),
            accept: verdict.is_legal(),
            rule: first.map(|violation| violation.rule.name()),
            error: first.map(|violation| violation.message.clone()),
            violations: every_rule.then(|| violations.collect()),
        }
    }
}
