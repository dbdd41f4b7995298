//! `ptx loads`: executes the loads of a function one by one, and shows their effects in every lane.

mod show;

use warpload::machine::Machine;
use warpload_ptx::PtxLoad;
use warpload_ptx::run::{Launch, LaunchError, LaunchStep, RunErrorKind};
use warpload_ptx::syntax::load::Opcode;

use self::show::Shown;
use super::file::File;
use super::setup::{Setup, VALUES, failed};
use crate::diagnostic::Labelled;
use crate::io::Output;
use crate::options::{Format, Progress};
use crate::process::Status;

/// Execute the loads of a function one by one, and show every lane
///
/// Executes the loads of one function in the order of the text, branches or not. A loaded register keeps its value for
/// later loads. Other instructions are not executed: a register that one of them writes has the value from --set, or
/// none. Exit status 1 if a load is illegal or needs an unknown value; the other loads are executed nevertheless.
///
/// Variables have their initial values and lie in the order of their declarations, in global memory from 0x80000000 on.
/// The first parameter has the address 0, byte 0x140 of constant bank 0. Misaligned addresses are rounded down to the
/// access size, with a remark, and without a fault unless the manifest has `"misaligned": "report"`.
#[derive(clap::Args)]
#[command(after_help = [VALUES, "\
Examples:
  warpload ptx loads kernel.ptx --parameter in=0x10000000 --image memory.json
  warpload ptx loads kernel.ptx --set '%rd4=0x80000000+4*lane' --set '%p1=0xffff0000'
  warpload ptx loads gemm.ptx --set '%r7=0x00200000' --warp 1 --tensor-memory pattern:hash
  warpload ptx loads kernel.ptx --place table=0x20000000 --active 0x1 --format json"].concat())]
pub(crate) struct Arguments {
    #[command(flatten)]
    setup: Setup,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { setup, format } = arguments;
    setup.each(
        progress,
        output,
        |_| Ok(()),
        |file, launch, machine, output| {
            run_file(*format, launch, machine.unwrap_or_default(), file, output)
        },
    )
}

/// Runs a function of a module.
fn run_file(
    format: Format,
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
            return Ok(output.raise(Status::Unreadable));
        }
    };
    for remark in run.remarks() {
        output.note(remark)?;
    }
    let mut shown = Shown::new(format, file, launch.active);
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
        RunErrorKind::NoInitialValue { .. } | RunErrorKind::Padding => {
            "`--image MANIFEST` may have its bytes".to_owned()
        }
        RunErrorKind::NoTensorMemory => {
            "`--tensor-memory FILE` or `--tensor-memory pattern:hash` fills it".to_owned()
        }
        RunErrorKind::AddressesDiffer { register, first, .. } => {
            format!("`--set '{register}={first:#x}'` sets one address for all lanes")
        }
        _ => return None,
    })
}
