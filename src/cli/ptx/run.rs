//! `ptx run`: executes the loads of a function and shows what every lane did.

mod show;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use warpload::image::{self, Mapping};
use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload::ptx::{
    Array, Declaration, DeclarationId, Environment, Function, Lines, Module, Placement,
    PlacementError, Registers, RunErrorKind, ScalarType, Span, StateSpace, Unit, bits_of, check_as,
    integer, lane_bits, read,
};

use self::show::Shown;
use super::read_text;
use crate::cli::diagnostic::{self, Labelled};
use crate::cli::io::{self, Output};
use crate::cli::{Format, Progress, Status};

/// Execute the loads of PTX functions and show what every lane did
///
/// Executes the loads of one function in the order of the text, branches or not. A loaded
/// register has its value for the loads behind it. Other instructions are not executed: a
/// register that one of them writes has the value that --set gives it, or none.
///
/// Variables lie in the order of their declarations with their initial values, those of global
/// memory from 0x80000000 on; parameters lie in constant bank 0 from 0x140 on.
///
/// Exit status 1 where a load is illegal or needs a value that is not known; the other loads are
/// executed nevertheless.
#[derive(clap::Args)]
#[command(after_help = "\
Values are constant expressions as PTX writes them, in which `lane` is the number of the lane, 0 to
31, or 32 of them with commas between: 0x1000+16*lane, lane<16, 0x3f800000, 1.5 (.f32 and .f64). Of a
predicate, an expression without `lane` is a mask, bit n for lane n.

Examples:
  warpload ptx run kernel.ptx --parameter in=0x10000000 --image memory.json
  warpload ptx run kernel.ptx --set '%rd4=0x80000000+4*lane' --set '%p1=0xffff0000'
  warpload ptx run kernel.ptx --place table=0x20000000 --active 0x1 --format json")]
pub(crate) struct Arguments {
    /// Modules; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// The function to execute; may be left out where a module has one
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// What memory holds: a manifest, see docs/vectors.md
    #[arg(long, value_name = "MANIFEST")]
    image: Option<PathBuf>,

    /// The value of a register, in each lane: '%rd1=0x1000+16*lane'
    ///
    /// It stands for what instructions compute that are not executed; a load changes it.
    #[arg(long, value_name = "REGISTER=VALUE", value_parser = pair)]
    set: Vec<Pair>,

    /// The value of a parameter, or its elements with commas between: n=4, a=0x10000000
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    parameter: Vec<Pair>,

    /// The address of a variable in its space: table=0x20000000
    #[arg(long, value_name = "NAME=ADDRESS", value_parser = pair)]
    place: Vec<Pair>,

    /// The lanes that take part, bit n for lane n
    #[arg(long, value_name = "MASK", value_parser = mask, default_value = "0xffffffff")]
    active: LaneMask,

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
    let mut status = Status::Done;
    for path in &arguments.files {
        let file = io::name(path);
        status = status.max(match run_file(arguments, path, &file, progress, output) {
            Ok(status) => status,
            Err(error) if io::is_output_error(&error) => return Err(error),
            Err(error) => {
                output.flush()?;
                diagnostic::error(format_args!("{error:#}"));
                Status::Unreadable
            }
        });
    }
    Ok(status)
}

fn run_file(
    arguments: &Arguments,
    path: &Path,
    file: &str,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let source = read_text(path, progress)?;
    let lines = Lines::of(&source);
    let draw = |title: &str, help: Option<&str>, rule: Option<&str>, span: Span| {
        diagnostic::in_source(file, &source, &lines, Labelled { title, rule, help, span });
    };
    let module = match read(&source) {
        Ok(module) => module,
        Err(error) => {
            output.flush()?;
            draw(&error.kind.to_string(), None, None, error.span);
            return Ok(Status::Unreadable);
        }
    };
    let target = Target { file, module: &module, draw: &draw };
    let function = target.function(arguments.function.as_deref())?;
    let Some((environment, registers)) = target.set_up(function, arguments, output)? else {
        return Ok(Status::Failed);
    };
    let mut shown = Shown::new(arguments.format, file, &module, &lines);
    let status = target.run(&environment, registers, function, &mut shown, output)?;
    shown.end(output)?;
    Ok(status)
}

/// Draws what is wrong with a place: a title, what would help, the name of a rule, the place.
type Draw<'d> = &'d dyn Fn(&str, Option<&str>, Option<&str>, Span);

/// A module that was read.
struct Target<'t> {
    file: &'t str,
    module: &'t Module<'t>,
    draw: Draw<'t>,
}

impl<'t> Target<'t> {
    /// The function that is asked for, or the only one.
    fn function(&self, name: Option<&str>) -> anyhow::Result<&'t Function> {
        let Self { file, module, .. } = self;
        let mut bodies = module.functions().iter().filter(|function| function.body.is_some());
        let names = || {
            let bodies = module.functions().iter().filter(|function| function.body.is_some());
            let names: Vec<&str> = bodies.map(|function| module.text(function.name)).collect();
            names.join(", ")
        };
        if let Some(name) = name {
            let found = module.function(name).filter(|function| function.body.is_some());
            return found
                .with_context(|| format!("{file}: no function {name}; it has {}", names()));
        }
        match (bodies.next(), bodies.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => bail!("{file}: no function with a body"),
            _ => bail!("{file}: several functions: `--function` says which one: {}", names()),
        }
    }

    /// What the function executes on; nothing where its variables cannot be had.
    fn set_up(
        &self,
        function: &'t Function,
        arguments: &Arguments,
        output: &mut Output,
    ) -> anyhow::Result<Option<(Environment<'t>, Registers)>> {
        let machine = match &arguments.image {
            Some(manifest) => image::open(manifest, Mapping::default())?,
            None => Machine::default(),
        };
        let placed = Placement::of(self.module, Some(function)).map_err(PlacementError::from);
        let placed = placed.map(|mut placement| {
            self.place(&mut placement, function, arguments).map(|()| placement.onto(machine))
        });
        let placed = match placed {
            Ok(placed) => placed?,
            Err(error) => Err(error),
        };
        let mut environment = match placed {
            Ok(environment) => environment,
            Err(error) => {
                let Some(span) = error.span() else { bail!("{}: {error}", self.file) };
                output.flush()?;
                (self.draw)(&error.to_string(), None, None, span);
                return Ok(None);
            }
        };
        environment.active = arguments.active;
        Ok(Some((environment, self.registers(function, &arguments.set)?)))
    }

    /// The parameters' values and the addresses of variables.
    fn place(
        &self,
        placement: &mut Placement<'_>,
        function: &Function,
        arguments: &Arguments,
    ) -> anyhow::Result<()> {
        for Pair { name, value } in &arguments.place {
            let wrong = || format!("{}: --place {name}={value}", self.file);
            let address = bits_of(value, ScalarType::B64).with_context(wrong)?;
            for (id, _) in self.variables(function, name).with_context(wrong)? {
                placement.place(id, address as u64);
            }
        }
        for Pair { name, value } in &arguments.parameter {
            let wrong = || format!("{}: --parameter {name}={value}", self.file);
            for (id, declared) in self.variables(function, name).with_context(wrong)? {
                if declared.space != StateSpace::Param {
                    bail!("{}: `{name}` is a .{} variable", wrong(), declared.space.name());
                }
                placement.set_parameter(id, &elements(value, declared).with_context(wrong)?);
            }
        }
        Ok(())
    }

    fn variables(
        &self,
        function: &Function,
        name: &str,
    ) -> anyhow::Result<Vec<(DeclarationId, &'t Declaration)>> {
        let ids = self.module.variables_named(Some(function), name).into_iter();
        let found: Vec<_> = ids.filter_map(|id| Some((id, self.module.declaration(id)?))).collect();
        if found.is_empty() {
            bail!("no variable or parameter `{name}` in {}", self.module.text(function.name));
        }
        Ok(found)
    }

    fn registers(&self, function: &Function, sets: &[Pair]) -> anyhow::Result<Registers> {
        let mut registers = Registers::new();
        for Pair { name, value } in sets {
            let wrong = || format!("{}: --set {name}={value}", self.file);
            let found = self.module.registers_named(function, name);
            if found.is_empty() {
                let function = self.module.text(function.name);
                bail!("{}: no register `{name}` in {function}", wrong());
            }
            for register in found {
                let declared = self.module.declaration(register.declaration);
                let scalar = declared.map_or(ScalarType::Other, |declared| declared.scalar);
                let is_mask = !value.contains("lane") && !value.contains(',');
                if scalar == ScalarType::Pred && is_mask {
                    let lanes = bits_of(value, ScalarType::B32).with_context(wrong)?;
                    registers.set_predicate(register, LaneMask::from_bits(lanes as u32));
                } else {
                    registers.set(register, lane_bits(value, scalar).with_context(wrong)?);
                }
            }
        }
        Ok(registers)
    }

    /// Executes the legal loads and shows each.
    fn run(
        &self,
        environment: &Environment<'t>,
        mut registers: Registers,
        function: &Function,
        shown: &mut Shown<'_>,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let body = self.module.body(function);
        let mut verdicts =
            check_as(self.module, Unit::Part).filter(|verdict| !verdict.is_legal()).peekable();
        let mut status = Status::Done;
        for statement in body {
            while verdicts.next_if(|verdict| verdict.span.start < statement.span.start).is_some() {}
            let illegal = verdicts.next_if(|verdict| verdict.span == statement.span);
            let load = self.module.load(statement);
            if let Some(verdict) = illegal {
                status = Status::Failed;
                environment.pass(statement, &mut registers);
                if let Some(load) = &load {
                    shown.failed(load, "illegal", output)?;
                }
                output.flush()?;
                for violation in &verdict.violations {
                    let rule = Some(violation.rule.name());
                    (self.draw)(
                        &violation.message,
                        violation.help.as_deref(),
                        rule,
                        violation.span,
                    );
                }
                continue;
            }
            let Some(load) = load else {
                environment.pass(statement, &mut registers);
                continue;
            };
            match environment.load(&load, &mut registers) {
                Ok(executed) => shown.executed(&load, &executed, environment, output)?,
                Err(error) => {
                    status = Status::Failed;
                    environment.pass(statement, &mut registers);
                    shown.failed(&load, &error.kind.to_string(), output)?;
                    output.flush()?;
                    let help = help(&error.kind);
                    (self.draw)(&error.kind.to_string(), help.as_deref(), None, error.span);
                }
            }
        }
        Ok(status)
    }
}

/// What would give a load the value that it needs.
fn help(error: &RunErrorKind) -> Option<String> {
    match error {
        RunErrorKind::NoValue { register, is_predicate: true, .. } => {
            Some(format!("`--set '{register}=0xffffffff'` makes it true in every lane"))
        }
        RunErrorKind::NoValue { register, .. } => {
            Some(format!("`--set '{register}=0x1000+4*lane'` gives it one in every lane"))
        }
        RunErrorKind::NoParameter { parameter } => {
            Some(format!("`--parameter {parameter}=0x1000` gives it one"))
        }
        _ => None,
    }
}

/// The bytes of a parameter out of its elements' values.
fn elements(text: &str, declared: &Declaration) -> anyhow::Result<Vec<u8>> {
    let size = declared.scalar.bytes().context("its type has no size")? as usize;
    let count = match declared.array {
        Array::Single => 1,
        Array::Of(count) => count,
        Array::Unknown => u64::MAX,
    };
    let count = count.saturating_mul(u64::from(declared.vector));
    let mut bytes = Vec::new();
    for (i, element) in text.split(',').enumerate() {
        if i as u64 >= count {
            bail!("more values than its {count}");
        }
        bytes.extend(&bits_of(element, declared.scalar)?.to_le_bytes()[..size]);
    }
    Ok(bytes)
}
