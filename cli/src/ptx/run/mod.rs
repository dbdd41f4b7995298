//! `ptx run`: executes the loads of a function and shows their effects in every lane, or launches a kernel.

mod faults;
mod kernel;
mod printing;
mod show;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload_ptx::PtxLoad;
use warpload_ptx::run::{
    Launch, LaunchError, LaunchStep, LaunchValue, RunErrorKind, WarpTensorMemory,
};
use warpload_ptx::syntax::load::Opcode;
use warpload_ptx::tensor::Rules;

use self::kernel::KernelArguments;
use self::show::Shown;
use super::file::{File, each_module};
use crate::destination;
use crate::diagnostic::Labelled;
use crate::io::Output;
use crate::name::Name;
use crate::options::{Format, Progress, lane_mask, number};
use crate::process::Status;
use crate::tmem::memory::{Contents, LaneModeName, read_contents};
use crate::trace;
use warpload_binary::names::{Demangled, NamePattern, did_you_mean, nearest};

/// Run a PTX kernel, or execute the loads of a function alone and show every lane
///
/// With --grid, --block, --arg or another kernel option, launches a kernel without a GPU: all of its blocks, warps and
/// instructions. Prints counts, faults with line, block and thread, and the sectors and bank conflicts of each memory
/// instruction, after the text that the kernel prints with `printf`. Exit status 1 if a lane faulted, an instruction was
/// not executed, bytes of a buffer are unknown, or the limit of steps was reached; 2 if `ptx check` refuses the module,
/// or a GPU refuses the launch.
///
/// Without kernel options, executes the loads of one function in the order of the text, branches or not. A loaded
/// register keeps its value for later loads. Other instructions are not executed: a register that one of them writes
/// has the value from --set, or none. Exit status 1 if a load is illegal or needs an unknown value; the other loads are
/// executed nevertheless.
///
/// Loads that are executed alone find variables in the order of their declarations, with their initial values, those of
/// global memory from 0x80000000 on; the first parameter has the address 0, byte 0x140 of constant bank 0. Misaligned
/// addresses are rounded down to the access size, with a remark, and without a fault unless the manifest has
/// `"misaligned": "report"`. In a kernel they are faults.
#[derive(clap::Args)]
#[command(after_help = "\
Values are constant expressions as PTX writes them: 0x1000+16*lane, (lane&3)<<4, 0x3f800000, and
1.5 for .f32 and .f64. `lane` is the lane's number, 0 to 31; 32 expressions with commas between
are one for each lane. A predicate's value without `lane` is a mask, bit n for lane n; with it, a
condition: lane<16.

Buffers by a rule have a type, a number of elements, and random ones a seed, by default the
parameter's number: random:f32:1024:7, iota:u32:1024 (0, 1, 2…), ones:f16:1024. Without a type,
zeros:4096 and random:4096 are bytes. Random floats are from -1 up to 1.

Examples:
  warpload ptx run kernel.ptx --grid 4 --block 256 --arg 1000 --arg 2.0 --arg @x.bin --arg @y.bin --dump 3=out.bin
  warpload ptx run kernel.ptx --block 128 --arg random:f32:1024 --check-races --check-uninitialized
  warpload ptx run kernel.ptx --grid 64 --block 256 --arg iota:u32:16384 --html kernel.html --trace kernel.wlt
  warpload ptx run kernel.ptx --parameter in=0x10000000 --image memory.json
  warpload ptx run kernel.ptx --set '%rd4=0x80000000+4*lane' --set '%p1=0xffff0000'
  warpload ptx run gemm.ptx --set '%r7=0x00200000' --warp 1 --tensor-memory pattern:hash
  warpload ptx run kernel.ptx --place table=0x20000000 --active 0x1 --format json")]
pub(crate) struct Arguments {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// The function to execute, by its name, mangled or demangled, or a regular expression that matches no other; may
    /// be omitted if a module has only one
    #[arg(long, value_name = "NAME|REGEX")]
    function: Option<NamePattern>,

    /// Contents of memory: a manifest, see docs/vectors.md
    ///
    /// A file that holds all bytes is mapped: it must not change or become shorter while it is
    /// read.
    #[arg(long, value_name = "MANIFEST")]
    image: Option<PathBuf>,

    /// The value of a register, in each lane: '%rd1=0x1000+16*lane'
    ///
    /// Replaces the results of instructions that are not executed; a load changes it. In a kernel it replaces every result,
    /// loaded ones too.
    #[arg(long, value_name = "REGISTER=VALUE", value_parser = pair)]
    set: Vec<Pair>,

    /// The value of a parameter, or its elements with commas between: n=4, a=0x10000000
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    parameter: Vec<Pair>,

    /// The address of a variable in its space: table=0x20000000
    #[arg(long, value_name = "NAME=ADDRESS", value_parser = pair)]
    place: Vec<Pair>,

    /// The active lanes, bit n for lane n
    #[arg(long, value_name = "MASK", value_parser = lane_mask, default_value = "0xffffffff")]
    active: LaneMask,

    /// Contents of Tensor Memory: a file, or pattern:NAME, as for `tmem run`
    #[arg(long, value_name = "FILE", value_parser = read_contents)]
    tensor_memory: Option<Contents>,

    /// The warp's number in its block, which decides which lanes of Tensor Memory it may read
    #[arg(long, value_name = "W", default_value_t = 0, value_parser = number::<u32>(0..=u32::MAX.into()), requires = "tensor_memory")]
    warp: u32,

    /// Meaning of the lane in a Tensor Memory address
    #[arg(long, value_enum, default_value_t, requires = "tensor_memory")]
    lane_mode: LaneModeName,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    kernel: KernelArguments,
}

/// `NAME=VALUE`.
type Pair = (String, String);

fn pair(text: &str) -> Result<Pair, String> {
    let (name, value) = text.split_once('=').ok_or("expected a name, `=` and a value")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let launch = arguments.launch()?;
    let outputs = arguments.kernel.outputs();
    // Each launch would write them, and the last one would win.
    let single = |modules: usize| match outputs.first() {
        Some((option, _)) if modules > 1 => {
            bail!("{option}: {modules} modules would write one output; expected one module")
        }
        _ => Ok(()),
    };
    single(arguments.files.len())?;
    destination::check_apart(outputs.clone())?;
    each_module(&arguments.files, progress, output, single, |file, output| {
        let machine = match &arguments.image {
            Some(manifest) => trace::open_machine(manifest)?,
            None => Machine::default(),
        };
        let function = match &arguments.function {
            None => None,
            Some(pattern) => match file.function(pattern).with_context(|| Name::from(file.name))? {
                Ok(function) => Some(function),
                Err(missing) => {
                    let missing = format_args!("{}: {missing}", file.name);
                    return Ok(output.fail(Status::Failed, missing)?);
                }
            },
        };
        let mut launch = launch.clone();
        launch.function = function;
        if arguments.kernel.is_given() {
            let image = arguments.image.is_some().then_some(&machine.memory);
            let format = arguments.format;
            return arguments.kernel.run(&launch, image, file, format, progress, output);
        }
        run_file(arguments, &launch, machine, file, output)
    })
}

impl Arguments {
    fn launch(&self) -> anyhow::Result<Launch> {
        let mut launch = Launch::default();
        (launch.registers, launch.parameters, launch.places) =
            (self.set.clone(), self.parameter.clone(), self.place.clone());
        launch.active = self.active;
        if let Some(contents) = &self.tensor_memory {
            let rules = Rules::default().lane_mode(self.lane_mode.mode());
            let tensor = WarpTensorMemory::new(contents.memory()?, self.warp).rules(rules);
            launch.tensor = Some(tensor);
        }
        Ok(launch)
    }
}

impl File<'_> {
    /// The name of the only function that matches; or a message if none does. Several matches are an error.
    fn function(&self, pattern: &NamePattern) -> anyhow::Result<Result<String, String>> {
        let functions = self.module.functions().iter();
        let bodies = functions.filter(|function| function.body.is_some());
        let names: Vec<Arc<str>> =
            bodies.map(|body| Arc::from(self.module.text(body.name))).collect();
        let demangled = Demangled::new(names.iter());
        let form = |name: &Arc<str>| demangled.get(name).map(|form| &**form);
        let text = pattern.as_str();
        let is_whole = |name: &&Arc<str>| &***name == text || form(name) == Some(text);
        let mut found: Vec<&Arc<str>> = names.iter().filter(is_whole).collect();
        if found.is_empty() {
            found = names.iter().filter(|name| pattern.matches(name, form(name))).collect();
        }
        match &found[..] {
            [only] => Ok(Ok(only.to_string())),
            [] => {
                let names = names.iter().map(|name| demangled.or_name(name).to_owned());
                let nearest = did_you_mean(&nearest(text, names));
                Ok(Err(format!("no function name matches `--function {text}`{nearest}")))
            }
            several => {
                let several: Vec<&str> = several.iter().map(|name| &***name).collect();
                bail!("several functions; choose one with `--function`: {}", several.join(", "))
            }
        }
    }
}

/// Runs a function of a module.
fn run_file(
    arguments: &Arguments,
    launch: &Launch,
    machine: Machine,
    file: &File<'_>,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut run = match launch.prepare(file.module, machine) {
        Ok(run) => run,
        Err(error) => {
            let LaunchError::Placement(placement) = &error else { return Err(failed(error, file)) };
            let Some(span) = placement.span() else { return Err(failed(error, file)) };
            let title = placement.to_string();
            file.draw(Labelled { title: &title, rule: None, help: None, span }, output)?;
            return Ok(Status::Failed);
        }
    };
    for remark in run.remarks() {
        output.note(remark)?;
    }
    let mut shown = Shown::new(arguments.format, file, launch.active);
    let mut status = Status::Done;
    run.each(|step| {
        shown.step(step, output)?;
        match step {
            LaunchStep::Illegal { verdict, .. } => {
                status = output.raise(Status::Failed);
                file.draw_verdict(verdict, output)
            }
            LaunchStep::Failed { load, error } => {
                status = output.raise(Status::Failed);
                let (title, help) = (error.kind.to_string(), help(load, &error.kind));
                let help = help.as_deref();
                let label = Labelled { title: &title, rule: None, help, span: error.span };
                file.draw(label, output)
            }
            _ => Ok(()),
        }
    })?;
    shown.end(output)?;
    Ok(status)
}

/// Adds the name of the module, and of the option, to an error of a launch.
fn failed(error: LaunchError, file: &File<'_>) -> anyhow::Error {
    let error = match error {
        LaunchError::SeveralFunctions { functions } => {
            let functions = functions.join(", ");
            anyhow!("several functions; choose one with `--function`: {functions}")
        }
        LaunchError::Twice { what, name } => anyhow!("--{} {name} is given twice", option(what)),
        LaunchError::Value { what, name, value, source } => {
            let option = option(what);
            return anyhow::Error::new(source)
                .context(format!("{}: --{option} {name}={value}", file.name));
        }
        error => error.into(),
    };
    error.context(Name::from(file.name))
}

/// The option that sets a value of this kind.
fn option(what: LaunchValue) -> &'static str {
    match what {
        LaunchValue::Register => "set",
        LaunchValue::Parameter => "parameter",
        LaunchValue::Place => "place",
    }
}

/// A hint: the option that provides the missing value of a load.
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
            "`--tensor-memory FILE` or `--tensor-memory pattern:hash` fills it".to_owned()
        }
        RunErrorKind::AddressesDiffer { register, first, .. } => {
            format!("`--set '{register}={first:#x}'` sets one address for all lanes")
        }
        _ => return None,
    })
}
