//! `completions` and `man`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Status;
use super::io::Output;

/// Write shell completions to standard output
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  warpload completions bash > ~/.local/share/bash-completion/completions/warpload"
)]
pub(crate) struct CompletionsArguments {
    /// The shell that will read them
    shell: Shell,
}

pub(crate) fn completions(
    arguments: CompletionsArguments,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    let mut command = super::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "warpload", &mut script);
    output.bytes(&script)?;
    Ok(Status::Done)
}

/// Write a man page to standard output
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpload man | man -l -\n  warpload man decode > warpload-decode.1"
)]
pub(crate) struct ManArguments {
    /// The subcommand that the page is about; without one, the whole command
    subcommand: Option<String>,
}

pub(crate) fn man(arguments: ManArguments, output: &mut Output) -> anyhow::Result<Status> {
    let mut command = super::Arguments::command();
    command.build();
    if let Some(name) = arguments.subcommand {
        let subcommand = command.find_subcommand(&name);
        let Some(subcommand) = subcommand.filter(|known| known.get_name() != "help") else {
            anyhow::bail!("no subcommand {name:?}; `warpload --help` lists them");
        };
        command = subcommand.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    output.bytes(&page)?;
    Ok(Status::Done)
}
