//! [`Setup`]: the function, its values and its memory, which `ptx run` and `ptx loads` share.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload_binary::names::{Demangled, NamePattern, did_you_mean, nearest};
use warpload_ptx::run::{Launch, LaunchError, LaunchValue, WarpTensorMemory};
use warpload_ptx::tensor::Rules;

use super::file::{File, each_module};
use crate::io::Output;
use crate::name::Name;
use crate::options::{Progress, lane_mask, number};
use crate::process::Status;
use crate::tmem::memory::{Contents, LaneModeName, read_contents};
use crate::trace;

/// The help on values.
pub(super) const VALUES: &str = "\
Values are constant expressions as PTX writes them: 0x1000+16*lane, (lane&3)<<4, 0x3f800000, and
1.5 for .f32 and .f64. `lane` is the lane's number, 0 to 31; 32 expressions with commas between
are one for each lane. A predicate's value without `lane` is a mask, bit n for lane n; with it, a
condition: lane<16.

";

/// Modules, a function of each, and the values that it finds.
#[derive(clap::Args)]
pub(super) struct Setup {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,

    /// The function, by its name, mangled or demangled, or a regular expression that matches no other; may be omitted if a
    /// module has only one
    #[arg(long, alias = "kernel", value_name = "NAME|REGEX")]
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
}

/// `NAME=VALUE`.
pub(super) type Pair = (String, String);

pub(super) fn pair(text: &str) -> Result<Pair, String> {
    let (name, value) = text.split_once('=').ok_or("expected a name, `=` and a value")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Setup {
    /// Passes on each module with its launch, and with the machine of the image if there is one. `admit` can refuse a
    /// number of modules.
    pub(super) fn each(
        &self,
        progress: Progress,
        output: &mut Output,
        admit: impl Fn(usize) -> anyhow::Result<()>,
        mut run: impl FnMut(&File<'_>, &Launch, Option<Machine>, &mut Output) -> anyhow::Result<Status>,
    ) -> anyhow::Result<Status> {
        let launch = self.launch()?;
        each_module(&self.files, progress, output, admit, |file, output| {
            let machine = self.image.as_deref().map(trace::open_machine).transpose()?;
            let mut launch = launch.clone();
            if let Some(pattern) = &self.function {
                let function = file.function(pattern).with_context(|| Name::from(file.name))?;
                launch.function = Some(function);
            }
            run(file, &launch, machine, output)
        })
    }

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
    /// The name of the only function that matches.
    fn function(&self, pattern: &NamePattern) -> anyhow::Result<String> {
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
            [only] => Ok(only.to_string()),
            [] => {
                let names = names.iter().map(|name| demangled.or_name(name).to_owned());
                let nearest = did_you_mean(&nearest(text, names));
                bail!("no function name matches `--function {text}`{nearest}")
            }
            several => {
                let several: Vec<&str> = several.iter().map(|name| &***name).collect();
                bail!("several functions; choose one with `--function`: {}", several.join(", "))
            }
        }
    }
}

/// Adds the name of the module, and of the option, to an error of a launch.
pub(super) fn failed(error: LaunchError, file: &File<'_>) -> anyhow::Error {
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
