//! `ptx run`: executes the loads of a function and shows what every lane did.

mod set_up;
mod show;

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload_ptx::module::Function;
use warpload_ptx::rules::Unit;
use warpload_ptx::run::{Environment, RegisterFile, RunErrorKind};
use warpload_ptx::syntax::integer;
use warpload_ptx::syntax::load::Opcode;
use warpload_ptx::{PtxLoad, StatementVerdict, check_as};

use self::show::Shown;
use super::file::{File, each_file};
use crate::diagnostic::Labelled;
use crate::io::Output;
use crate::name::Name;
use crate::options::{Format, Progress};
use crate::process::Status;
use crate::tmem::memory::{Contents, LaneModeName, read_contents};
use crate::trace;

/// Execute the loads of PTX functions and show what every lane did
///
/// Executes the loads of one function in the order of the text, branches or not. A loaded
/// register has its value for the loads after it. Other instructions are not executed: a register
/// that one of them writes has the value that --set assigns to it, or none.
///
/// Variables lie in the order of their declarations with their initial values, those of global
/// memory from 0x80000000 on; the first parameter has the address 0, byte 0x140 of constant bank 0.
///
/// Misaligned addresses are rounded down to the access size, with a remark, and without a fault unless
/// the manifest has `"misaligned": "report"`; `replay` always reports them.
///
/// Exit status 1 if a load is illegal or needs an unknown value; the other loads are executed
/// nevertheless.
#[derive(clap::Args)]
#[command(after_help = "\
Values are constant expressions as PTX writes them: 0x1000+16*lane, (lane&3)<<4, 0x3f800000, and
1.5 for .f32 and .f64. `lane` is the lane's number, 0 to 31; 32 expressions with commas between
are one for each lane. A predicate's value without `lane` is a mask, bit n for lane n; with it, a
condition: lane<16.

Examples:
  warpload ptx run kernel.ptx --parameter in=0x10000000 --image memory.json
  warpload ptx run kernel.ptx --set '%rd4=0x80000000+4*lane' --set '%p1=0xffff0000'
  warpload ptx run gemm.ptx --set '%r7=0x00200000' --warp 1 --tensor-memory pattern:hash
  warpload ptx run kernel.ptx --place table=0x20000000 --active 0x1 --format json")]
pub(crate) struct Arguments {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// The function to execute; may be omitted if a module has only one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// What memory holds: a manifest, see docs/vectors.md
    ///
    /// A file that holds all bytes is mapped: it must not change or become shorter while it is
    /// read.
    #[arg(long, value_name = "MANIFEST")]
    image: Option<PathBuf>,

    /// The value of a register, in each lane: '%rd1=0x1000+16*lane'
    ///
    /// Replaces what instructions that are not executed would compute; a load changes it.
    #[arg(long, value_name = "REGISTER=VALUE", value_parser = pair)]
    set: Vec<Pair>,

    /// The value of a parameter, or its elements with commas between: n=4, a=0x10000000
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    parameter: Vec<Pair>,

    /// The address of a variable in its space: table=0x20000000
    #[arg(long, value_name = "NAME=ADDRESS", value_parser = pair)]
    place: Vec<Pair>,

    /// The active lanes, bit n for lane n
    #[arg(long, value_name = "MASK", value_parser = mask, default_value = "0xffffffff")]
    active: LaneMask,

    /// What Tensor Memory holds: a file, or pattern:NAME, as for `tmem run`
    #[arg(long, value_name = "FILE", value_parser = read_contents)]
    tensor_memory: Option<Contents>,

    /// The warp's number in its block, which decides which lanes of Tensor Memory it may read
    #[arg(long, value_name = "W", default_value_t = 0, requires = "tensor_memory")]
    warp: u32,

    /// What the lane of a Tensor Memory address means
    #[arg(long, value_enum, default_value_t, requires = "tensor_memory")]
    lane_mode: LaneModeName,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// `NAME=VALUE`.
#[derive(Clone)]
struct Pair {
    name: String,
    value: String,
}

fn pair(text: &str) -> Result<Pair, String> {
    let (name, value) = text.split_once('=').ok_or("expected a name, `=` and a value")?;
    Ok(Pair { name: name.trim().to_owned(), value: value.trim().to_owned() })
}

fn mask(text: &str) -> Result<LaneMask, String> {
    let mask = integer(text).and_then(|mask| u32::try_from(mask).ok());
    mask.map(LaneMask::from_bits).ok_or_else(|| "expected a mask of 32 bits".to_owned())
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    each_file(&arguments.files, progress, output, |file, output| {
        let machine = match &arguments.image {
            Some(manifest) => trace::open_machine(manifest)?.0,
            None => Machine::default(),
        };
        run_file(arguments, machine, file, output)
    })
}

/// What a program that asks gives instead of options.
pub(super) struct Given<'g> {
    pub(super) function: Option<String>,
    pub(super) set: Vec<(String, String)>,
    pub(super) parameter: Vec<(String, String)>,
    pub(super) place: Vec<(String, String)>,
    pub(super) active: Option<&'g str>,
    pub(super) pattern: Option<&'g str>,
    pub(super) warp: u32,
    pub(super) lane_mode: Option<&'g str>,
}

/// Returns the options for what is given; `Err` is the name of what is wrong, and why.
pub(super) fn arguments(given: Given<'_>) -> Result<Arguments, (&'static str, String)> {
    let pairs = |values: Vec<(String, String)>| {
        values.into_iter().map(|(name, value)| Pair { name, value }).collect()
    };
    let lane_mode = given.lane_mode.map(|name| LaneModeName::from_str(name, false)).transpose();
    let pattern = given.pattern.map(|name| read_contents(&format!("pattern:{name}"))).transpose();
    Ok(Arguments {
        files: Vec::new(),
        function: given.function,
        image: None,
        set: pairs(given.set),
        parameter: pairs(given.parameter),
        place: pairs(given.place),
        active: given.active.map_or(Ok(LaneMask::ALL), mask).map_err(|error| ("active", error))?,
        tensor_memory: pattern.map_err(|error| ("tensor_memory", error))?,
        warp: given.warp,
        lane_mode: lane_mode.map_err(|error| ("lane_mode", error))?.unwrap_or_default(),
        format: Format::Json,
    })
}

pub(super) fn run_file(
    arguments: &Arguments,
    machine: Machine,
    file: &File<'_>,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let function = file.function(arguments.function.as_deref());
    let function = function.with_context(|| Name::from(file.name))?;
    let Some((environment, registers)) = file.set_up(function, machine, arguments, output)? else {
        return Ok(Status::Failed);
    };
    let mut shown = Shown::new(arguments.format, file);
    let status = file.run(&environment, registers, function, &mut shown, output)?;
    shown.end(output)?;
    Ok(status)
}

impl<'f> File<'f> {
    /// The function that is asked for, or the only one.
    fn function(&self, name: Option<&str>) -> anyhow::Result<&'f Function> {
        let Self { module, .. } = self;
        let bodies = module.functions().iter().filter(|function| function.body.is_some());
        let bodies: Vec<&Function> = bodies.collect();
        let names = || {
            let names: Vec<&str> = bodies.iter().map(|body| module.text(body.name)).collect();
            names.join(", ")
        };
        match (name, &bodies[..]) {
            (Some(name), _) => {
                let found = module.function(name).filter(|function| function.body.is_some());
                found.with_context(|| format!("no function {name}; it has {}", names()))
            }
            (None, [only]) => Ok(only),
            (None, []) => bail!("no function with a body"),
            _ => bail!("several functions: `--function` says which one: {}", names()),
        }
    }

    /// Executes the legal loads and shows each.
    fn run(
        &self,
        environment: &Environment<'f>,
        mut registers: RegisterFile,
        function: &Function,
        shown: &mut Shown<'_>,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let is_wrong =
            |verdict: &StatementVerdict<'_>| !verdict.is_legal() && !verdict.is_declaration();
        let mut verdicts = check_as(self.module, Unit::Part).filter(is_wrong).peekable();
        let mut status = Status::Done;
        for id in self.module.statement_ids(function) {
            while verdicts.next_if(|verdict| verdict.statement < Some(id)).is_some() {}
            let illegal = verdicts.next_if(|verdict| verdict.statement == Some(id));
            let instruction = self.module.instruction(id);
            let load = instruction.filter(|instruction| instruction.opcode.is_load());
            if let Some(verdict) = illegal {
                status = output.raise(Status::Failed);
                if let Some(instruction) = &instruction {
                    environment.pass(instruction, &mut registers);
                }
                if let Some(load) = &load {
                    let first = verdict.violations.first();
                    let message = first.map_or("illegal", |violation| &violation.message);
                    shown.failed(load, message, output)?;
                }
                self.draw_verdict(&verdict, output)?;
                continue;
            }
            let Some(instruction) = instruction else { continue };
            let Some(load) = load else {
                environment.pass(&instruction, &mut registers);
                continue;
            };
            match environment.load(&load, &mut registers) {
                Ok(executed) => shown.executed(&load, &executed, environment, output)?,
                Err(error) => {
                    status = output.raise(Status::Failed);
                    environment.pass(&load, &mut registers);
                    shown.failed(&load, &error.kind.to_string(), output)?;
                    let (title, help) = (error.kind.to_string(), help(&load, &error.kind));
                    let help = help.as_deref();
                    let label = Labelled { title: &title, rule: None, help, span: error.span };
                    self.draw(label, output)?;
                }
            }
        }
        Ok(status)
    }
}

/// Returns the option that supplies the value that a load needs.
fn help(load: &PtxLoad<'_>, error: &RunErrorKind) -> Option<String> {
    Some(match error {
        RunErrorKind::NoValue { register, is_predicate: true, .. } => {
            format!("`--set '{register}=0xffffffff'` makes it true in every lane")
        }
        RunErrorKind::NoValue { register, .. } if load.opcode != Opcode::Ld => {
            format!("`--set '{register}=0'` sets it: lane << 16 | column")
        }
        RunErrorKind::NoValue { register, .. } => {
            format!("`--set '{register}=0x1000+4*lane'` sets it in every lane")
        }
        RunErrorKind::NoParameter { parameter } => {
            format!("`--parameter {parameter}=0x1000` sets it")
        }
        RunErrorKind::NoInitialValue { .. } => "`--image MANIFEST` may have its bytes".to_owned(),
        RunErrorKind::NoTensorMemory => {
            "`--tensor-memory FILE` says what it holds, or `--tensor-memory pattern:hash`"
                .to_owned()
        }
        RunErrorKind::AddressesDiffer { register, first, .. } => {
            format!("`--set '{register}={first:#x}'` sets one address for all lanes")
        }
        _ => return None,
    })
}
