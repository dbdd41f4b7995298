//! `ptx check`: which loads of a module are legal, and why others are not.

use std::path::{Path, PathBuf};

use warpload::ptx::{Lines, Module, Unit, Verdict, check_as, read};

use super::{one_line, read_text};
use crate::cli::diagnostic::{self, Labelled};
use crate::cli::io::{self, Output};
use crate::cli::{Format, Progress, Status};

/// Say of every load in PTX modules whether it is legal
///
/// Judges `ld`, `ld.global.nc`, `tcgen05.ld` and `tcgen05.ld.red` for the module's `.version` and
/// `.target`. One line a load on standard output; what is wrong is drawn on standard error.
/// Exit status 1 where a load is illegal, 2 where a file is no module.
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
    violations: Vec<ViolationJson>,
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
    let file = io::name(path);
    let source = match read_text(path, progress) {
        Ok(source) => source,
        Err(error) => {
            output.flush()?;
            diagnostic::error(format_args!("{error:#}"));
            return Ok(Status::Unreadable);
        }
    };
    let lines = Lines::of(&source);
    let module = match read(&source) {
        Ok(module) => module,
        Err(error) => {
            output.flush()?;
            let title = error.kind.to_string();
            let label = Labelled { title: &title, rule: None, help: None, span: error.span };
            diagnostic::in_source(&file, &source, &lines, label);
            return Ok(Status::Unreadable);
        }
    };
    let file = File { name: &file, module: &module, lines: &lines };
    let unit = if arguments.compile_only { Unit::Part } else { Unit::Program };
    match arguments.format {
        Format::Text => file.text(check_as(&module, unit), output),
        Format::Json => file.json(check_as(&module, unit), output),
    }
}

/// A module that was read, and where it is from.
struct File<'f> {
    name: &'f str,
    module: &'f Module<'f>,
    lines: &'f Lines,
}

impl File<'_> {
    fn text(
        &self,
        verdicts: impl Iterator<Item = Verdict>,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let mut status = Status::Done;
        for verdict in verdicts {
            let at = self.lines.position(verdict.span.start);
            let text = one_line(self.module, verdict.span);
            let name = self.name;
            let word = if verdict.is_legal() { "legal" } else { "illegal" };
            output.line(format_args!("{name}:{}:{}: {word}: {text}", at.line, at.column))?;
            if !verdict.is_legal() {
                status = Status::Failed;
                self.draw(&verdict, output)?;
            }
        }
        Ok(status)
    }

    fn json(
        &self,
        verdicts: impl Iterator<Item = Verdict>,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let mut loads = Vec::new();
        for verdict in verdicts {
            self.draw(&verdict, output)?;
            loads.push(self.load(&verdict));
        }
        let accept = loads.iter().all(|load| load.accept);
        output.json(&FileJson { file: self.name, accept, loads })?;
        Ok(if accept { Status::Done } else { Status::Failed })
    }

    fn load(&self, verdict: &Verdict) -> LoadJson {
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
            text: one_line(self.module, verdict.span),
            accept: verdict.is_legal(),
            rule: first.map(|violation| violation.rule.name()),
            error: first.map(|violation| violation.message.clone()),
            violations: violations.collect(),
        }
    }

    fn draw(&self, verdict: &Verdict, output: &mut Output) -> anyhow::Result<()> {
        if verdict.is_legal() {
            return Ok(());
        }
        // The line of a load comes first on a terminal that shows both streams.
        output.flush()?;
        for violation in &verdict.violations {
            let label = Labelled {
                title: &violation.message,
                rule: Some(violation.rule.name()),
                help: violation.help.as_deref(),
                span: violation.span,
            };
            diagnostic::in_source(self.name, self.module.source(), self.lines, label);
        }
        Ok(())
    }
}
