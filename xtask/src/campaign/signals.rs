//! Signals at random moments: what a command leaves is whole, or as it was before.

use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use super::mutate::{Random, below};
use anyhow::Result;

use super::Campaign;
use super::command::{LIMITS, wait};
use super::report::Faults;
use super::samples::{Made, Work, files, work};

/// How many signals are sent.
const CASES: usize = 200;

const SIGNALS: [&str; 4] = ["INT", "TERM", "HUP", "KILL"];

/// How long a command may go on after a signal.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How the outputs of a run are afterwards.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Whole,
    Before,
    SomeParts,
}

/// Sends signals to commands that write files.
///
/// # Errors
/// Returns an error if a command cannot be started, or fails when nothing disturbs it.
pub(super) fn run(campaign: &Campaign) -> Result<Vec<Faults>> {
    let input = tempfile::tempdir()?;
    let all = work(campaign, input.path())?;
    let mut every: Vec<Faults> =
        SIGNALS.iter().map(|name| Faults::new(format!("SIG{name}"))).collect();
    for number in 0..CASES {
        let (which, signal) = (number % all.len(), number / all.len() % SIGNALS.len());
        let faults = &mut every[signal];
        match case(campaign, &all[which], SIGNALS[signal], number)? {
            Ok(Left::Whole) => faults.add("the whole output", 1),
            Ok(Left::Before) => faults.add("as before", 1),
            Ok(Left::SomeParts) => faults.add("whole parts, no set", 1),
            Err(what) => {
                let name = format!("SIG{} during {}", SIGNALS[signal], all[which].name);
                campaign
                    .found(format!("{name}, number {number} of seed {}: {what}", campaign.seed));
                (faults.runs, faults.findings) = (faults.runs + 1, faults.findings + 1);
            }
        }
    }
    // What was interrupted can be done again.
    for work in &all {
        let folder = tempfile::tempdir()?;
        let done =
            super::command::run(work.command(campaign, folder.path(), LIMITS), input.path())?;
        anyhow::ensure!(done.code() == Some(0), "{}: {}", work.name, done.stderr);
    }
    Ok(every)
}

/// Runs one command, sends it a signal, and judges what is in the folder of its output; the inner error
/// is a finding.
fn case(
    campaign: &Campaign,
    work: &Work,
    signal: &str,
    number: usize,
) -> Result<Result<Left, String>> {
    let (folder, temporary) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let mut random = Random::new(campaign.seed, &[number as u64]);
    // A single file may be there already.
    if work.whole.contains_key("out") && below(&mut random, 2) == 0 {
        fs::write(folder.path().join("out"), "old")?;
    }
    let before = files(folder.path())?;
    let errors = temporary.path().join("stderr");
    let mut command = work.command(campaign, folder.path(), LIMITS);
    let its_temporary = temporary.path().join("tmp");
    fs::create_dir(&its_temporary)?;
    command.env("TMPDIR", &its_temporary).stdout(std::process::Stdio::null());
    let mut child = command.stderr(fs::File::create(&errors)?).spawn()?;
    // Until shortly after the end: the last steps matter most.
    sleep(work.takes.mul_f64(below(&mut random, 1 << 16) as f64 / f64::from(1 << 16) * 1.1));
    send(signal, &child)?;
    if wait(&mut child, TIMEOUT)?.is_none() {
        return Ok(Err(format!("still running {} s later", TIMEOUT.as_secs())));
    }
    let stderr = fs::read_to_string(&errors)?;
    if stderr.contains("panicked at") {
        return Ok(Err(super::command::first_line(&stderr)));
    }
    let found = files(folder.path())?;
    // Between two system calls an output has a temporary name, and KILL cannot be delayed.
    let may_stay = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or(name);
        signal == "KILL" && file.starts_with(".warpload-")
    };
    if let Some(what) = work.wrong(&found, &before, may_stay) {
        return Ok(Err(what));
    }
    let left = files(&its_temporary)?;
    if let Some(name) = left.keys().find(|name| !may_stay(name)) {
        return Ok(Err(format!("{name} is left in the folder for temporary files")));
    }
    Ok(Ok(left_of(work, &found, &before)))
}

fn left_of(work: &Work, found: &Made, before: &Made) -> Left {
    let is_whole = work.whole.iter().all(|(name, bytes)| found.get(name) == Some(bytes));
    let has_part =
        || work.whole.keys().any(|name| found.contains_key(name) && !before.contains_key(name));
    if is_whole {
        Left::Whole
    } else if has_part() {
        Left::SomeParts
    } else {
        Left::Before
    }
}

fn send(signal: &str, child: &Child) -> Result<()> {
    // The child may have ended already; it has not been waited for, so its id is still its own.
    let kill = format!("kill -{signal} {} 2> /dev/null", child.id());
    Command::new("sh").args(["-c", &kill]).status()?;
    Ok(())
}
