//! The files that a [`ReplayRequest`] names, opened.

use std::path::Path;

use anyhow::bail;
use warpload::machine::Machine;
use warpload::memory::Memory;
use warpload_binary::sass::Functions;
use warpload_replay::ReplayRequest;

use super::{cubins, io, trace};

/// The opened files of a request.
pub(crate) struct Read {
    machine: Option<Machine>,
    pub(crate) functions: Option<Functions>,
}

impl Read {
    /// Reads the image and the cubins.
    pub(crate) fn new(request: &ReplayRequest) -> anyhow::Result<Self> {
        let machine = request.image.as_deref().map(trace::open_machine).transpose()?;
        Ok(Self { machine, functions: cubins::read(&request.cubin)? })
    }

    /// The contents of the image, if there is one.
    pub(crate) fn image(&self) -> Option<&Memory> {
        self.machine.as_ref().map(|machine| &machine.memory)
    }
}

/// Checks that at most one of the trace, the image and the cubins comes from standard input.
pub(crate) fn check_stdin(request: &ReplayRequest, trace: &Path) -> anyhow::Result<()> {
    if request.image.as_deref().is_some_and(io::is_stdin) && io::is_stdin(trace) {
        bail!("standard input is either the trace or the image, not both");
    }
    let cubins = request.cubin.iter().filter(|path| io::is_stdin(path)).count();
    let others = [Some(trace), request.image.as_deref()];
    if cubins > 1 || cubins == 1 && others.into_iter().flatten().any(io::is_stdin) {
        bail!("standard input is one file; expected `-` once");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        request: ReplayRequest,
    }

    fn check(json: &str) -> Vec<String> {
        let request: ReplayRequest = serde_json::from_str(json).unwrap();
        let arguments = request.arguments();
        let line = [OsString::from("replay")].into_iter().chain(arguments.clone());
        assert_eq!(Line::try_parse_from(line).unwrap().request, request, "{json}");
        arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    /// A command parses every option as it was written.
    #[test]
    fn arguments_are_read_back() {
        let fill = r#"{
            "fill": "zero", "threads": 3, "address_bits": 48, "shared_window": [4096, 4096],
            "local_window": "0xd0000000,0x1000000", "merge_pairs": true, "cubin": ["a=b", "-c d"],
            "demangle": false, "kernel": "a|.*=", "pc": [1, 32], "opcode": "*.{64,128}", "space": "unresolved"
        }"#;
        let mut written = check(fill);
        written.extend(check(r#"{"image": "m.json", "pc": 7}"#));
        assert!(check("{}").is_empty());
        let command = Line::command();
        for argument in command.get_arguments().filter_map(clap::Arg::get_long) {
            let option = format!("--{argument}");
            let is_written = |one: &String| one.split('=').next() == Some(&option);
            assert!(argument == "help" || written.iter().any(is_written), "{option}");
        }
    }
}
