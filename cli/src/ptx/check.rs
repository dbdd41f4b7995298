//! `ptx check`: checks the loads of a module, and explains why some are illegal.

use std::path::PathBuf;

use anyhow::ensure;
use warpload_ptx::module::StatementText;
use warpload_ptx::rules::Unit;
use warpload_ptx::{StatementVerdict, check_as};

use super::file::{File, each_file};
use crate::io::Output;
use crate::options::{Format, Progress};
use crate::process::Status;

/// Check whether the loads in PTX modules are legal
///
/// Checks `ld`, `ld.global.nc`, `tcgen05.ld` and `tcgen05.ld.red`, declarations and directives against the module's
/// `.version` and `.target`; other instructions are ignored. Standard output has one line for each load and each wrong
/// declaration; errors are drawn on standard error. Exit status 1 if a load or a declaration is illegal, 2 if a file is
/// not a module.
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

    /// Treat modules as parts of a program that is linked later
    ///
    /// They may then use variables that are defined elsewhere, and unified ones.
    #[arg(long)]
    compile_only: bool,

    /// Name every rule that a load breaks, in JSON under the key `violations`
    #[arg(long)]
    every_rule: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct CheckJson<'f> {
    file: &'f str,
    accept: bool,
    loads: Vec<LoadJson>,
    declarations: Vec<ViolationJson>,
}

#[derive(serde::Serialize)]
struct LoadJson {
    #[serde(flatten)]
    statement: StatementText,
    accept: bool,
    /// The first broken rule.
    rule: Option<&'static str>,
    error: Option<String>,
    /// Present with `--every-rule`.
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
    ensure!(
        !arguments.every_rule || arguments.format == Format::Json,
        "--every-rule: text has every rule; in JSON it adds the key `violations`"
    );
    let mut is_judged = false;
    let status = each_file(&arguments.files, progress, output, |file, output| {
        is_judged = true;
        file.check(arguments, output)
    })?;
    if is_judged && arguments.format == Format::Text {
        output.note("loads and declarations were judged, other instructions were not")?;
    }
    Ok(status)
}

impl File<'_> {
    fn check(&self, arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
        let unit = if arguments.compile_only { Unit::Part } else { Unit::Program };
        let (name, mut status) = (self.name, Status::Done);
        let (mut loads, mut declarations, mut is_empty) = (Vec::new(), Vec::new(), true);
        for verdict in check_as(self.module, unit) {
            is_empty = false;
            let is_legal = verdict.is_legal();
            if !is_legal {
                status = output.raise(Status::Failed);
            }
            let statement = self.statement(verdict.span);
            match arguments.format {
                Format::Text => {
                    let what = if is_legal { "legal: " } else { "illegal: " };
                    output.line(self.line_about(&statement, what))?;
                }
                Format::Json => {
                    if verdict.is_declaration() {
                        declarations.extend(self.violations(&verdict));
                    }
                    loads.push(self.load(statement, &verdict, arguments.every_rule));
                }
            }
            self.draw_verdict(&verdict, output)?;
        }
        if arguments.format == Format::Json {
            let accept = status == Status::Done;
            output.json(&CheckJson { file: name, accept, loads, declarations })?;
        } else if is_empty {
            output.note(format_args!("{name}: no loads"))?;
        }
        Ok(status)
    }

    fn load(
        &self,
        statement: StatementText,
        verdict: &StatementVerdict<'_>,
        every_rule: bool,
    ) -> LoadJson {
        let first = verdict.violations.first();
        LoadJson {
            statement,
            accept: verdict.is_legal(),
            rule: first.map(|violation| violation.rule.name()),
            error: first.map(|violation| violation.message.clone()),
            violations: every_rule.then(|| self.violations(verdict).collect()),
        }
    }

    fn violations<'v>(
        &'v self,
        verdict: &'v StatementVerdict<'v>,
    ) -> impl Iterator<Item = ViolationJson> + 'v {
        verdict.violations.iter().map(|violation| {
            let at = self.lines.position(violation.span.start);
            ViolationJson {
                rule: violation.rule.name(),
                line: at.line,
                column: at.column,
                error: violation.message.clone(),
                help: violation.help.clone(),
            }
        })
    }
}
