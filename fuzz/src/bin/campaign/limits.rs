//! Runs commands under small limits: little memory, few open files, a small stack, small files. A command must do its
//! work, or report an error and leave no output.

use std::io::Result;

use crate::command::{Ended, LIMITS, limited, run as run_command};
use crate::samples::{Made, Work, arguments, work};
use crate::{Campaign, file, files};

/// The options of `ulimit` with their values. `-v` is address space in KiB; with less the system does not load the
/// program, which has 17 MB of its own. `-s` is the main thread's stack in KiB; reading the arguments takes more than
/// 64. `-f` is the size of a file in blocks of 512 bytes (1,024 in some shells); a message, which goes to a file here,
/// fits in one block.
const ULIMITS: [(&str, &[u32]); 4] = [
    ("-v", &[24_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000]),
    ("-n", &[3, 4, 5, 6, 8, 12, 20]),
    ("-s", &[128, 256, 512, 1024]),
    ("-f", &[1, 16, 128, 1024]),
];

/// Commands that only write to standard output.
const SHOWN: [&str; 8] = [
    "decode tests/data/listings/chase.sm_50.cubin",
    "decode --list tests/data/fatbins/plain.fatbin",
    "test tests/data/cmd/pass.jsonl",
    "ptx check tests/data/ptx/legal.ptx",
    "ptx lower tests/data/listings/uniform.ptx",
    "tmem test tests/data/cmd/tmem-cases.jsonl",
    "replay traces/generic.wlt --image traces/generic.image.json",
    "merge tests/data/cmd/shard-0.json tests/data/cmd/shard-1.json",
];

/// Runs commands under each limit.
///
/// # Errors
/// Returns an error if a command cannot be started, or fails without limits.
pub(crate) fn run(campaign: &mut Campaign) -> Result<()> {
    let inputs = tempfile::tempdir()?;
    let all = work(campaign, inputs.path())?;
    let program = campaign.program.clone();
    let shown = |limits: &str, command: &'static str| {
        limited(&program, &file(""), limits, &arguments(command, "", ""))
    };
    let undisturbed: Vec<Ended> =
        SHOWN.iter().map(|command| run_command(shown(LIMITS, command))).collect::<Result<_>>()?;
    for (option, values) in ULIMITS {
        for value in values {
            let fault = format!("`ulimit {option}`");
            let limits = format!("{LIMITS}; ulimit {option} {value}");
            for work in &all {
                let folder = tempfile::tempdir()?;
                let command = work.command(campaign, inputs.path(), folder.path(), &limits);
                let outcome = written(work, &run_command(command)?, &files(folder.path())?);
                campaign.judge(&fault, &format!("{}, {value}", work.command), outcome, None)?;
            }
            for (command, whole) in SHOWN.iter().zip(&undisturbed) {
                let ended = run_command(shown(&limits, command))?;
                let is_done = matches!(ended.code(), Some(0 | 1));
                let is_same = ended.code() == whole.code() && ended.stdout == whole.stdout;
                let outcome = if is_done && !is_same {
                    Err("another output than without the limit".to_owned())
                } else {
                    ended_well(&ended)
                };
                campaign.judge(&fault, &format!("{command}, {value}"), outcome, None)?;
            }
        }
    }
    Ok(())
}

/// Judges the end of a run that writes files, and the files that it left.
fn written(work: &Work, ended: &Ended, found: &Made) -> Outcome {
    let outcome = ended_well(ended)?;
    let is_short = ended.code() == Some(0) && *found != work.whole;
    let wrong = is_short.then(|| "exit status 0 without the whole output".to_owned());
    wrong.or_else(|| work.wrong(found)).map_or(Ok(outcome), Err)
}

/// The outcome of a run, or the finding.
type Outcome = std::result::Result<&'static str, String>;

/// Judges the end of a run.
fn ended_well(ended: &Ended) -> Outcome {
    match (ended.code(), ended.broken()) {
        // The system's loader or shell failed. Their messages have no fixed form.
        (Some(125..=127), _) => Ok("not started"),
        (Some(2), _) if ended.stderr.contains("memory allocation of ") => Ok("out of memory"),
        (_, Some(what)) => Err(what),
        (Some(0), None) => Ok("done"),
        (Some(1), None) => Ok("a check that fails"),
        (_, None) => Ok("an error"),
    }
}
