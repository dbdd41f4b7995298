//! `ptx lower`: lowers loads to SM 5.x.

use std::path::PathBuf;

use warpload::encoding::Instruction;
use warpload_ptx::lower::{Binding, LoweredLoad, lower_statements};
use warpload_ptx::meaning::{AddressBase, Register, ResolvedAddress};
use warpload_ptx::module::StatementText;
use warpload_ptx::syntax::StateSpace;

use super::file::{File, FileJson, each_file};
use crate::diagnostic::Labelled;
use crate::io::Output;
use crate::options::{Format, Progress};
use crate::process::Status;

/// Show the SPA 5.0 instructions that PTX loads become on SM 5.x
///
/// Shows what each load becomes by itself, and the values of its registers, which are numbered here. ptxas also follows
/// values from instruction to instruction, and merges and removes loads. Shows no instruction if a load becomes a
/// constant operand of another one. Exit status 1 if a load is illegal or has no such instruction.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload ptx lower kernel.ptx
  warpload ptx lower --format json kernel.ptx")]
pub(crate) struct Arguments {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct LoadJson {
    #[serde(flatten)]
    statement: StatementText,
    sass: Vec<SassJson>,
    /// Why an expected instruction is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(serde::Serialize)]
struct SassJson {
    text: String,
    word: String,
}

impl From<&Instruction> for SassJson {
    fn from(instruction: &Instruction) -> Self {
        Self { text: instruction.to_string(), word: instruction.word().to_string() }
    }
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    each_file(&arguments.files, progress, output, |file, output| {
        let status = file.lower(arguments, output)?;
        let target = file.module.target;
        if target.sm >= FIRST_WIDE {
            output.note(format_args!(
                "{}: the target is {target}, but these are instructions of SM 5.x: SM 7.0 and later have other loads",
                file.name
            ))?;
        }
        Ok(status)
    })
}

/// The first target with another encoding, which this command does not lower to.
const FIRST_WIDE: u32 = 70;

impl File<'_> {
    fn lower(&self, arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
        let mut status = Status::Done;
        let mut json = Vec::new();
        for lowered in lower_statements(self.module) {
            let verdict = &lowered.verdict;
            let Some(result) = lowered.result() else {
                status = output.raise(Status::Failed);
                self.draw_verdict(verdict, output)?;
                continue;
            };
            let statement = self.statement(verdict.span);
            if arguments.format == Format::Text {
                output.line(self.line_about(&statement, ""))?;
            }
            if result.is_err() {
                status = output.raise(Status::Failed);
            }
            match &lowered.lowered {
                _ if !verdict.is_legal() => self.draw_verdict(verdict, output)?,
                Some(Err(error)) => {
                    let (title, span) = (error.to_string(), error.span);
                    self.draw(Labelled { title: &title, rule: None, help: None, span }, output)?;
                }
                _ => {}
            }
            match arguments.format {
                Format::Json => {
                    let instructions =
                        result.as_ref().map_or(&[][..], |lowered| &lowered.instructions);
                    let sass = instructions.iter().map(SassJson::from).collect();
                    json.push(LoadJson { statement, sass, error: result.err() });
                }
                Format::Text => output.text(&self.table(result.ok()))?,
            }
        }
        if arguments.format == Format::Json {
            output.json(&FileJson { file: self.name, loads: json })?;
        }
        Ok(status)
    }

    /// The instructions, each with its word, and the values of their registers.
    fn table(&self, lowered: Option<&LoweredLoad>) -> String {
        let Some(lowered) = lowered else { return String::new() };
        if lowered.bindings.is_empty() {
            return "    no instruction: a register of the calling convention\n".to_owned();
        }
        let mut text = String::new();
        if lowered.instructions.is_empty() {
            text += "    no instruction: an operand of the instruction that uses it\n";
        }
        for instruction in &lowered.instructions {
            let word = instruction.word().to_string();
            text += &format!("    {word}  {instruction}\n");
        }
        let held: Vec<String> =
            lowered.bindings.iter().map(|binding| self.holds(binding)).collect();
        text + &format!("        {}\n", held.join("; "))
    }

    /// Describes the value of a register: `R4 = %r1`
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

    /// The name of a variable is its address in global memory, and its offset in other state spaces.
    fn place_text(&self, place: ResolvedAddress) -> String {
        let name = |id| {
            let declared = self.module.declaration(id);
            let is_global = declared.is_some_and(|known| known.space == StateSpace::Global);
            let what = if is_global { "address" } else { "offset" };
            format!("{what} of {}", declared.map_or("?", |known| self.module.text(known.name)))
        };
        let base = match place.base {
            AddressBase::Zero => return format!("{:#x}", place.offset),
            AddressBase::Register(register) => self.register(register),
            AddressBase::Variable(id) => name(id),
            AddressBase::Indexed(id, register) => {
                format!("{}[{}]", name(id), self.register(register))
            }
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
