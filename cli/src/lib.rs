//! The command `warpload`: decodes, assembles, explains and executes GPU load instructions. Each subcommand is a file;
//! this one reads the arguments and dispatches.
//!
//! [`run`] runs the command on the standard streams of the process.

#![deny(unsafe_code)]

mod access;
mod binary;
mod compare;
mod conform;
mod cubins;
mod decode;
mod destination;
mod diagnostic;
mod encode;
mod explain;
mod export;
mod import;
mod inputs;
mod io;
mod manual;
mod mapped;
mod merge;
mod name;
mod options;
mod process;
mod ptx;
mod remedy;
mod replay;
mod replaying;
mod run;
mod show;
mod suite;
mod system;
mod terminal;
mod tmem;
mod trace;
mod vectors;
mod word;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use self::io::Output;
use self::options::{Color, Progress};
use crate::process::Status;
use warpload_ptx::launch::Checks;
use warpload_replay::NothingSelected;
use warpload_report::text_table as table;

pub use crate::export::{ParquetExport, WriteParquet, set_parquet};
pub use crate::system::Allocator;

/// Decodes, assembles, explains and executes GPU load instructions from their machine code.
#[derive(Parser)]
#[command(name = "warpload", version, max_term_width = 100, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Progress bars: never, auto (on a terminal, of large inputs), always
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = MESSAGES
    )]
    progress: Progress,

    /// Colours: never, auto (on a terminal, without NO_COLOR), always
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = MESSAGES
    )]
    color: Color,

    /// Write neither notes nor progress to standard error
    #[arg(short, long, global = true, conflicts_with = "progress", help_heading = MESSAGES)]
    quiet: bool,
}

const MESSAGES: &str = "Messages";

const EXAMPLES: &str = "\
Examples:
  warpload decode kernel.cubin                  every load of a cubin
  warpload images libkernels.so                 the cubins and the PTX in a library
  warpload decode --word 0x9c90000123470200     one word
  warpload encode 'LD.E R0, [R2 + 0x1234]'      text to word
  warpload explain 0x84e0000000070104           every bit of a word
  warpload conform vectors.jsonl                check test vectors
  warpload conform --command ./my-emulator vectors/v1
                                                check an emulator with the conformance suite
  warpload run vector.json                      execute one load, lane by lane
  warpload vectors generate --instruction LD    fresh test vectors
  warpload replay kernelslist.g --fill address  execute every load of a trace
  warpload compare before.json after.json       what changed between two replays
  warpload access 'lane * 132'                  the bank conflicts of an access, and a drawing
  warpload ptx check kernel.ptx                 which loads of a PTX module are legal
  warpload tmem map 16x256b x4                  which thread gets which cell of Tensor Memory

`-` is standard input. Exit status: 0 done, 1 a finding, such as a failed check, 2 a mistake in
arguments or input, or an input or output that fails.";

#[derive(Subcommand)]
enum Command {
    #[command(alias = "disasm")]
    Decode(decode::Arguments),
    #[command(alias = "asm")]
    Encode(encode::Arguments),
    Explain(explain::Arguments),
    Run(run::Arguments),
    #[command(alias = "test")]
    Conform(conform::Arguments),
    #[command(subcommand)]
    Vectors(vectors::Command),
    Import(import::Arguments),
    Export(export::Arguments),
    Replay(Box<replay::Arguments>),
    Merge(merge::Arguments),
    Compare(compare::Arguments),
    #[command(alias = "info")]
    Show(show::Arguments),
    #[command(alias = "banks")]
    Access(access::Arguments),
    #[command(subcommand)]
    Ptx(ptx::Command),
    #[command(subcommand)]
    Tmem(tmem::Command),
    Images(decode::images::Arguments),
    Stats(decode::stats::Arguments),
    Completions(manual::CompletionsArguments),
    Man(manual::ManArguments),
}

/// Declares that standard output was closed before the process began, so that writing to it fails. The command notices
/// this itself unless another file has taken its place.
pub fn stdout_is_closed() {
    system::stdout_is_closed();
}

/// The end of a run of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The exit status: 0 done; 1 a finding, such as a failed check; 2 a mistake in arguments or input, or an input or
    /// output failed.
    pub status: u8,
    /// The cause of status 2.
    pub cause: Option<EndCause>,
}

/// Why a command ended with status 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// The system refused something. Trying again may succeed.
    System,
    /// A choice that matches nothing.
    Selection,
    /// Another mistake in arguments or input.
    Input,
}

/// Whether a word is the beginning of a check's name, or nearly a name.
fn is_like_a_check(word: &str) -> bool {
    let is_like = |name: &&str| name.starts_with(word) || strsim::levenshtein(name, word) <= 2;
    word.len() > 2 && Checks::NAMES.iter().any(is_like)
}

/// Runs the command with these arguments, starting with its name, and returns its exit status.
///
/// The process should do nothing else, because the command handles its signals. It reports a mapped file that becomes
/// shorter and a file that becomes too large. Before a signal ends the process, it removes unfinished files and ends
/// the programs that `conform` started.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    run_to_end(arguments).status
}

/// Like [`run`], but also returns the cause of a failure.
pub fn run_to_end(arguments: impl IntoIterator<Item = OsString>) -> Ended {
    system::report_file_size_limit();
    system::report_lack_of_memory();
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // The short form that other tools have; here a format has a name.
    let options = arguments.iter_mut().take_while(|word| *word != "--");
    options.filter(|word| *word == "--json").for_each(|word| *word = "--format=json".into());
    // In `ptx run --check kernel.ptx` the option has no list, so a list is joined to it here, also one with a mistake: it would
    // be taken as a file.
    let run = arguments.windows(2).position(|words| words[0] == "ptx" && words[1] == "run");
    let is_list = |word: &OsString| {
        let is_meant =
            |text: &str| text.split(',').all(is_like_a_check) && !Path::new(text).exists();
        word.to_str().is_some_and(|text| text.parse::<Checks>().is_ok() || is_meant(text))
    };
    let mut at = run.unwrap_or(arguments.len());
    while at + 1 < arguments.len() {
        if arguments[at] == "--check" && is_list(&arguments[at + 1]) {
            let list = arguments.remove(at + 1);
            arguments[at].push("=");
            arguments[at].push(list);
        }
        at += 1;
    }
    let parsed = command().try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches));
    let (status, cause) = match parsed {
        Ok(mut arguments) => {
            arguments.color.set();
            diagnostic::be_quiet(arguments.quiet);
            if arguments.quiet {
                arguments.progress = Progress::Never;
            }
            execute(arguments, &mut Output::new())
        }
        Err(error) => {
            // Wrong arguments have no parsed values, but `--color` may still be among them.
            let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
            let after = words.iter().skip_while(|word| **word != "--color").nth(1).copied();
            let color = words.iter().find_map(|word| word.strip_prefix("--color=")).or(after);
            let color = color.and_then(|color| Color::from_str(color, false).ok());
            color.unwrap_or_default().set();
            (usage(&meant(error, &words)), EndCause::Input)
        }
    };
    let status = status as u8;
    Ended { status, cause: (status == Status::Unreadable as u8).then_some(cause) }
}

/// The command's options and subcommands. Options take numbers below 0, so that the message is theirs and names the expected
/// range; clap would call `-1` an unexpected argument.
fn command() -> clap::Command {
    fn with_negative_numbers(command: clap::Command) -> clap::Command {
        let lenient = |arg: clap::Arg| match arg.get_action().takes_values() && !arg.is_positional()
        {
            true => arg.allow_negative_numbers(true),
            false => arg,
        };
        command.mut_args(lenient).mut_subcommands(with_negative_numbers)
    }
    with_negative_numbers(Arguments::command())
}

/// Says of an unknown option that it is meant as a positional argument, if there is one of this name.
fn meant(mut error: clap::Error, words: &[&str]) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let option = option.trim_start_matches('-').to_owned();
    if option.starts_with(|first: char| first.is_ascii_alphabetic()) {
        // Clap's tip to write `--` before it fits a file name that begins with a hyphen, not a mistyped option.
        error.remove(ContextKind::Suggested);
    }
    let mut command = command();
    let mut path = String::from("warpload");
    for word in words.iter().skip(1) {
        if let Some(subcommand) = command.find_subcommand(word) {
            path = format!("{path} {}", subcommand.get_name());
            command = subcommand.clone();
        }
    }
    let mut positionals = command.get_positionals();
    if let Some(positional) = positionals.find(|positional| positional.get_id() == &*option) {
        let value = positional.get_id().as_str().to_uppercase();
        let tip = format!("the {option} has no option: `{path} {value}`");
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Executes the command, and reports errors. Also returns the cause of a failure.
fn execute(arguments: Arguments, output: &mut Output) -> (Status, EndCause) {
    let result = dispatch(arguments, output).and_then(|status| {
        output.flush()?;
        Ok(status)
    });
    match result {
        Ok(status) => (status, EndCause::Input),
        // The reader closed our output.
        Err(error) if is_closed_pipe(&error) => (output.status(), EndCause::Input),
        Err(error) => {
            // The output so far comes before the message. If flushing fails too, one message is enough.
            let _ = output.flush();
            diagnostic::failure(&error);
            let is_system = |cause: &(dyn std::error::Error + 'static)| {
                cause.downcast_ref().and_then(std::io::Error::raw_os_error).is_some()
            };
            let cause = match () {
                () if error.chain().any(is_system) => EndCause::System,
                () if error.is::<NothingSelected>() => EndCause::Selection,
                () => EndCause::Input,
            };
            (Status::Unreadable, cause)
        }
    }
}

/// Writes a message of clap, which quotes arguments as they are. If one has characters to escape, the message loses its
/// colours, because they cannot be told from escapes in the argument.
fn print(error: &clap::Error) -> std::io::Result<()> {
    let is_escaped = |text: &String| terminal::shown(text) != *text;
    let quotes_escapes = error.context().any(|(_, value)| match value {
        ContextValue::String(text) => is_escaped(text),
        ContextValue::Strings(texts) => texts.iter().any(is_escaped),
        _ => false,
    });
    let plain = error.render().to_string();
    match terminal::shown(&plain) {
        Cow::Borrowed(_) if !quotes_escapes && error.use_stderr() => {
            write!(anstream::stderr(), "{}", error.render().ansi())
        }
        Cow::Borrowed(_) if !quotes_escapes => {
            write!(anstream::stdout(), "{}", error.render().ansi())
        }
        shown if error.use_stderr() => write!(std::io::stderr(), "{shown}"),
        shown => write!(std::io::stdout(), "{shown}"),
    }
}

/// Writes the help, or the error in the arguments.
fn usage(error: &clap::Error) -> Status {
    let write = || {
        if !error.use_stderr() {
            system::check_stdout()?;
        }
        print(error).and_then(|()| std::io::stdout().flush())
    };
    let written = write().map_err(io::output_error);
    match written.map_err(anyhow::Error::from) {
        Err(failed) if !error.use_stderr() && !is_closed_pipe(&failed) => {
            diagnostic::failure(&failed);
            Status::Unreadable
        }
        _ if error.use_stderr() => Status::Unreadable,
        _ => Status::Done,
    }
}

fn dispatch(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    match arguments.command {
        Command::Decode(command) => decode::execute(command, arguments.progress, output),
        Command::Encode(command) => encode::execute(command, arguments.progress, output),
        Command::Explain(command) => explain::execute(command, output),
        Command::Vectors(command) => vectors::execute(command, output),
        Command::Conform(command) => conform::execute(command, arguments.progress, output),
        Command::Run(command) => run::execute(command, arguments.progress, output),
        Command::Import(command) => import::execute(command, arguments.progress, output),
        Command::Export(command) => export::execute(command, arguments.progress, output),
        Command::Replay(command) => replay::execute(*command, arguments.progress, output),
        Command::Merge(command) => merge::execute(command, output),
        Command::Compare(command) => compare::execute(command, output),
        Command::Show(command) => show::execute(command, arguments.progress, output),
        Command::Access(command) => access::execute(&command, output),
        Command::Ptx(command) => ptx::execute(command, arguments.progress, output),
        Command::Tmem(command) => tmem::execute(command, output),
        Command::Images(command) => decode::images::execute(command, arguments.progress, output),
        Command::Stats(command) => decode::stats::execute(command, arguments.progress, output),
        Command::Completions(command) => manual::completions(command, self::command(), output),
        Command::Man(command) => manual::man(command, self::command(), output),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    io::is_output_error(error) && kind == Some(std::io::ErrorKind::BrokenPipe)
}
