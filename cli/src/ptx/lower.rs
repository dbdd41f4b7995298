//! `ptx lower`: what loads become on SM 5.x.

use std::path::PathBuf;

use clap::ValueEnum;
use warpload::encoding::Instruction;
use warpload_ptx::lower::{Binding, LowerError, LoweredLoad, OptimizationLevel};
use warpload_ptx::meaning::{Base, Place, Register};
use warpload_ptx::rules::{Rule, Unit};
use warpload_ptx::syntax::{Span, StateSpace};
use warpload_ptx::{Verdict, check_as, lower};

use super::file::{File, with_file};
use crate::diagnostic::Labelled;
use crate::encode::hexadecimal;
use crate::io::Output;
use crate::options::{Format, Progress};
use crate::status::Status;

/// Show the SPA 5.0 instructions that PTX loads become on SM 5.x
///
/// Shows the instructions that NVIDIA's assembler would emit for each load, and below each what its
/// registers hold; registers are numbered here. Shows nothing if a load becomes a constant operand of
/// another instruction. Exit status 1 if a load is illegal or has no such instruction.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload ptx lower kernel.ptx
  warpload ptx lower -O0 --format json kernel.ptx")]
pub(crate) struct Arguments {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// How much the assembler optimizes
    #[arg(short = 'O', value_enum, default_value_t, value_name = "LEVEL")]
    level: Level,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Level {
    #[value(name = "0")]
    O0,
    #[value(name = "1")]
    O1,
    #[value(name = "2")]
    O2,
    #[default]
    #[value(name = "3")]
    O3,
}

impl From<Level> for OptimizationLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::O0 => Self::O0,
            Level::O1 => Self::O1,
            Level::O2 => Self::O2,
            Level::O3 => Self::O3,
        }
    }
}

#[derive(serde::Serialize)]
struct FileJson<'f> {
    file: &'f str,
    loads: Vec<LoadJson>,
}

#[derive(serde::Serialize)]
struct LoadJson {
    line: u32,
    column: u32,
    text: String,
    sass: Vec<SassJson>,
    /// Why an instruction that is expected is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(serde::Serialize)]
struct SassJson {
    text: String,
    word: String,
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    for path in &arguments.files {
        let lower_file = |file: &File<'_>, output: &mut Output| file.lower(arguments, output);
        status = status.max(with_file(path, progress, output, lower_file)?);
    }
    Ok(status)
}

/// Without what only today's assemblers refuse: SM 5.x has loads with 32-bit addresses.
fn as_spa5(mut verdict: Verdict) -> Verdict {
    let is_of_today = |rule| matches!(rule, Rule::AddressSize | Rule::AddressWidth);
    verdict.violations.retain(|violation| !is_of_today(violation.rule));
    verdict
}

impl File<'_> {
    fn lower(&self, arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
        let mut status = Status::Done;
        let mut json = Vec::new();
        let mut all_lowered = lower(self.module, arguments.level.into());
        for verdict in check_as(self.module, Unit::Part) {
            // Statements that are not loads are judged as well.
            let Some(lowered) = verdict.load.as_ref().and_then(|_| all_lowered.next()) else {
                status = output.raise(Status::Failed);
                self.draw_verdict(&verdict, output)?;
                continue;
            };
            if arguments.format == Format::Text {
                let at = self.lines.position(verdict.span.start);
                let text = self.one_line(verdict.span);
                output.line(format_args!("{}:{}:{}: {text}", self.name, at.line, at.column))?;
            }
            let verdict = as_spa5(verdict);
            let error = match &lowered {
                _ if !verdict.is_legal() => {
                    status = output.raise(Status::Failed);
                    self.draw_verdict(&verdict, output)?;
                    verdict.violations.first().map(|violation| violation.message.clone())
                }
                Ok(_) => None,
                Err(error) => {
                    status = output.raise(Status::Failed);
                    self.draw_error(error, output)?;
                    Some(error.to_string())
                }
            };
            let lowered = lowered.ok().filter(|_| error.is_none());
            match arguments.format {
                Format::Json => json.push(self.load_json(verdict.span, lowered.as_ref(), error)),
                Format::Text => output.bytes(self.table(lowered.as_ref()).as_bytes())?,
            }
        }
        if arguments.format == Format::Json {
            output.json(&FileJson { file: self.name, loads: json })?;
        }
        Ok(status)
    }

    fn draw_error(&self, error: &LowerError, output: &mut Output) -> anyhow::Result<()> {
        let title = error.to_string();
        self.draw(Labelled { title: &title, rule: None, help: None, span: error.span }, output)
    }

    fn load_json(
        &self,
        span: Span,
        lowered: Option<&LoweredLoad>,
        error: Option<String>,
    ) -> LoadJson {
        let at = self.lines.position(span.start);
        let instructions = lowered.map(|lowered| lowered.instructions.as_slice());
        let sass = |instruction: &Instruction| SassJson {
            text: instruction.to_string(),
            word: hexadecimal(instruction.encode()),
        };
        LoadJson {
            line: at.line,
            column: at.column,
            text: self.one_line(span),
            sass: instructions.unwrap_or_default().iter().map(sass).collect(),
            error,
        }
    }

    /// The instructions, each with its word, and what the registers hold.
    fn table(&self, lowered: Option<&LoweredLoad>) -> String {
        let Some(lowered) = lowered else { return String::new() };
        if lowered.bindings.is_empty() {
            return "    no instruction: a register of the calling convention\n".to_owned();
        }
        let mut text = String::new();
        if lowered.instructions.is_empty() {
            text += "    no instruction: an operand of what uses it\n";
        }
        for instruction in &lowered.instructions {
            let word = hexadecimal(instruction.encode());
            text += &format!("    {word}  {instruction}\n");
        }
        let held: Vec<String> =
            lowered.bindings.iter().map(|binding| self.holds(binding)).collect();
        text + &format!("        {}\n", held.join("; "))
    }

    /// `R4 = %r1`
    fn holds(&self, binding: &Binding) -> String {
        match binding {
            Binding::Address { register, is_wide, place } => {
                let high =
                    if *is_wide { format!("R{}:", register.number() + 1) } else { String::new() };
                format!("{high}{register} = {}", self.place_text(*place))
            }
            Binding::Plg { predicate, place } => {
                format!("{predicate} = {} is not shared", self.place_text(*place))
            }
            Binding::Guard { predicate, register } => {
                format!("{predicate} = {}", self.register(*register))
            }
            Binding::Frame { register } => format!("{register} = offset of local variables"),
            Binding::Constant { bank, offset, elements } => {
                format!("c[{bank:#x}][{offset:#x}] = {}", self.elements(elements))
            }
            Binding::Destination { register, count, elements, .. } => {
                let last = u32::from(register.number()) + count - 1;
                let range =
                    if *count > 1 { format!("{register}..R{last}") } else { register.to_string() };
                format!("{range} -> {}", self.elements(elements))
            }
        }
    }

    fn elements(&self, elements: &[Option<Register>]) -> String {
        let names = elements.iter().map(|element| match element {
            Some(register) => self.register(*register),
            None => "_".to_owned(),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    /// A variable's name is its address in global memory, and its offset in other state spaces.
    fn place_text(&self, place: Place) -> String {
        let name = |id| {
            let declared = self.module.declaration(id);
            let is_global = declared.is_some_and(|known| known.space == StateSpace::Global);
            let what = if is_global { "address" } else { "offset" };
            format!("{what} of {}", declared.map_or("?", |known| self.module.text(known.name)))
        };
        let base = match place.base {
            Base::Zero => return format!("{:#x}", place.offset),
            Base::Register(register) => self.register(register),
            Base::Variable(id) => name(id),
            Base::Indexed(id, register) => format!("{}[{}]", name(id), self.register(register)),
        };
        match place.offset {
            0 => base,
            offset if offset < 0 => format!("{base}-{:#x}", offset.unsigned_abs()),
            offset => format!("{base}+{offset:#x}"),
        }
    }

    fn register(&self, register: Register) -> String {
        self.module.register_name(register)
    }
}
