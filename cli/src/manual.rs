//! `completions` and `man`.

use clap::Command;
use clap_complete::Shell;

use super::io::Output;
use super::terminal::Escapes;
use crate::process::Status;

/// Write shell completions to standard output
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  warpload completions bash > ~/.local/share/bash-completion/completions/warpload"
)]
pub(crate) struct CompletionsArguments {
    /// Shell to write completions for
    shell: Shell,
}

/// Writes the completions of `command`, the root command.
pub(crate) fn completions(
    arguments: CompletionsArguments,
    mut command: Command,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "warpload", &mut script);
    output.bytes(&script, Escapes::Text)?;
    Ok(Status::Done)
}

/// Write a man page to standard output
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpload man | man -l -\n  warpload man decode > warpload-decode.1\n  warpload man ptx check > warpload-ptx-check.1"
)]
pub(crate) struct ManArguments {
    /// Subcommand of the page, as in `ptx check` or `ptx-check`; the whole command if omitted
    subcommand: Vec<String>,
}

/// Writes the page about `command`, the root command, or about one of its subcommands.
pub(crate) fn man(
    arguments: ManArguments,
    mut command: Command,
    output: &mut Output,
) -> anyhow::Result<Status> {
    command.build();
    // Pages are named with hyphens. No subcommand has one in its name, so a hyphen always separates.
    let path = arguments.subcommand.join("-");
    for name in path.split(['-', ' ']).filter(|name| !name.is_empty()) {
        let subcommand = command.find_subcommand(name);
        let Some(subcommand) = subcommand.filter(|known| known.get_name() != "help") else {
            let parent = command.get_display_name().unwrap_or("warpload").replace('-', " ");
            anyhow::bail!("no subcommand {name:?}; `{parent} --help` lists them");
        };
        command = subcommand.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    output.bytes(&page, Escapes::Text)?;
    Ok(Status::Done)
}
