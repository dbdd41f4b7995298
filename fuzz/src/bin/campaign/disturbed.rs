//! Work that is disturbed: by signals at random moments, full disks, read-only folders, little memory, few open
//! files, a small stack. A command does its work, or says what failed, and what it leaves is whole or as before.

use std::fs;
use std::io::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use warpload_fuzz::mutate::{Random, below};

use crate::command::{Ended, LIMITS, first_line, limited, run, wait};
use crate::samples::{Made, Work, arguments, work};
use crate::{Campaign, file, files};

/// How many signals are sent.
const CASES: usize = 200;

const SIGNALS: [&str; 4] = ["INT", "TERM", "HUP", "KILL"];

/// How long a command may go on after a signal.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends signals to commands that write files.
///
/// # Errors
/// Returns an error if a command cannot be started, or fails when nothing disturbs it.
pub(crate) fn signals(campaign: &mut Campaign) -> Result<()> {
    let inputs = tempfile::tempdir()?;
    let all = work(campaign, inputs.path())?;
    for number in 0..CASES {
        let (work, signal) = (&all[number % all.len()], number / all.len() % SIGNALS.len());
        let outcome = after_signal(campaign, work, inputs.path(), SIGNALS[signal], number)?;
        campaign.judge(&format!("SIG{}", SIGNALS[signal]), work.command, outcome, None)?;
    }
    Ok(())
}

/// Runs one command, sends it a signal, and judges what is in the folder of its output.
fn after_signal(
    campaign: &Campaign,
    work: &Work,
    inputs: &Path,
    signal: &str,
    number: usize,
) -> Result<std::result::Result<&'static str, String>> {
    let (folder, temporary) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let mut random = Random::new(campaign.seed, &[number as u64]);
    // A single file may be there already.
    if work.whole.contains_key("out") && below(&mut random, 2) == 0 {
        fs::write(folder.path().join("out"), "old")?;
    }
    let before = files(folder.path())?;
    let errors = tempfile::NamedTempFile::new()?;
    let mut command = work.command(campaign, inputs, folder.path(), LIMITS);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::null()).stderr(errors.reopen()?);
    let mut child = command.spawn()?;
    // Until shortly after the end: the last steps matter most.
    sleep(work.takes.mul_f64(below(&mut random, 1 << 16) as f64 / f64::from(1 << 16) * 1.1));
    // The child may have ended already; it has not been waited for, so its id is still its own.
    let kill = format!("kill -{signal} {} 2> /dev/null", child.id());
    Command::new("sh").args(["-c", &kill]).status()?;
    if wait(&mut child, TIMEOUT)?.is_none() {
        return Ok(Err(format!("still running {} s later", TIMEOUT.as_secs())));
    }
    let stderr = fs::read_to_string(errors.path())?;
    if stderr.contains("panicked at") {
        return Ok(Err(first_line(&stderr)));
    }
    let found = files(folder.path())?;
    // Between two system calls an output has a temporary name, and KILL cannot be delayed.
    let may_stay = |name: &str| {
        signal == "KILL"
            && name.rsplit('/').next().is_some_and(|file| file.starts_with(".warpload-"))
    };
    let left = files(temporary.path())?;
    let is_left = left.keys().find(|name| !may_stay(name));
    let is_left = is_left.map(|name| format!("{name} is left in the folder for temporary files"));
    Ok(match work.wrong(&found, &before, may_stay).or(is_left) {
        Some(what) => Err(what),
        None if work.whole.iter().all(|(name, bytes)| found.get(name) == Some(bytes)) => {
            Ok("the whole output")
        }
        None if found == before => Ok("as before"),
        None => Ok("whole parts, no set"),
    })
}

/// Limits: the option of `ulimit`, and its values. Memory is address space in KiB; with less the system does
/// not load the program. The stack is of the main thread, in KiB; reading the arguments takes more than 64. A
/// file's size is in blocks of 512 bytes (some shells: 1,024); a message, which goes to a file here, fits into
/// one.
const ULIMITS: [(&str, &[u32]); 4] = [
    ("-v", &[16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000]),
    ("-n", &[3, 4, 5, 6, 8, 12, 20]),
    ("-s", &[128, 256, 512, 1024]),
    ("-f", &[1, 16, 128, 1024]),
];

/// The size of a disk, in KiB.
const DISK: [u32; 4] = [4, 64, 512, 2048];

/// Commands that write to standard output alone.
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
pub(crate) fn limits(campaign: &mut Campaign) -> Result<()> {
    let inputs = tempfile::tempdir()?;
    let all = work(campaign, inputs.path())?;
    let program = campaign.program.clone();
    let shown = |limits: &str, command: &'static str| {
        limited(&program, &file(""), limits, &arguments(command, "", ""))
    };
    let undisturbed: Vec<Ended> =
        SHOWN.iter().map(|command| run(shown(LIMITS, command))).collect::<Result<_>>()?;
    for (option, values) in ULIMITS {
        for value in values {
            let fault = format!("`ulimit {option}`");
            let limits = format!("{LIMITS}; ulimit {option} {value}");
            for work in &all {
                let folder = tempfile::tempdir()?;
                let ended = run(work.command(campaign, inputs.path(), folder.path(), &limits))?;
                written(
                    campaign,
                    work,
                    (&fault, &value.to_string()),
                    &ended,
                    &files(folder.path())?,
                )?;
            }
            for (command, whole) in SHOWN.iter().zip(&undisturbed) {
                let ended = run(shown(&limits, command))?;
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
    for command in SHOWN {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let output = shown(LIMITS, command).stdout(full).stderr(Stdio::piped()).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_error = output.status.code() == Some(2) && stderr.contains("cannot be written");
        let outcome = if is_error { Ok("an error") } else { Err(first_line(&stderr)) };
        campaign.judge("standard output to `/dev/full`", command, outcome, None)?;
    }
    let true_ = Command::new("true");
    if !in_own_mounts("size=64k", inputs.path(), &true_).status().is_ok_and(|end| end.success()) {
        println!("without `unshare` and its rights: no small disks and read-only folders");
        return Ok(());
    }
    for work in &all {
        for size in DISK {
            let (folder, left) = (tempfile::tempdir()?, tempfile::tempdir()?);
            let command = work.command(campaign, inputs.path(), folder.path(), LIMITS);
            let mut command = in_own_mounts(&format!("size={size}k"), folder.path(), &command);
            // Temporary files are there, too. What is left is copied out.
            let ended = run({
                command.env("TMPDIR", folder.path()).env("LEFT", left.path());
                command
            })?;
            written(
                campaign,
                work,
                ("a small disk", &format!("{size} KiB")),
                &ended,
                &files(left.path())?,
            )?;
        }
        for is_output in [true, false] {
            let (folder, temporary) = (tempfile::tempdir()?, tempfile::tempdir()?);
            let (mounted, which) = match is_output {
                true => (folder.path(), "of the output"),
                false => (temporary.path(), "of temporary files"),
            };
            let command = work.command(campaign, inputs.path(), folder.path(), LIMITS);
            let mut command = in_own_mounts("ro", mounted, &command);
            command.env("TMPDIR", temporary.path());
            let ended = run(command)?;
            written(campaign, work, ("a read-only folder", which), &ended, &files(folder.path())?)?;
        }
    }
    Ok(())
}

/// Judges how work under a limit ended, and the files that it left.
fn written(
    campaign: &mut Campaign,
    work: &Work,
    (fault, limit): (&str, &str),
    ended: &Ended,
    found: &Made,
) -> Result<()> {
    let outcome = ended_well(ended).and_then(|outcome| {
        let is_short = ended.code() == Some(0) && *found != work.whole;
        let wrong = is_short.then(|| "exit status 0 without the whole output".to_owned());
        wrong.or_else(|| work.wrong(found, &Made::new(), |_| false)).map_or(Ok(outcome), Err)
    });
    campaign.judge(fault, &format!("{}, {limit}", work.command), outcome, None)
}

/// Returns how a run ended; the error says what is wrong with it.
fn ended_well(ended: &Ended) -> std::result::Result<&'static str, String> {
    match (ended.code(), ended.broken()) {
        // The system's loader, or its shell, which may say so in any way.
        (Some(126 | 127), _) => Ok("not started"),
        // Rust's runtime ends a program when it has no memory.
        (None, _) if ended.stderr.starts_with("memory allocation of ") => Ok("out of memory"),
        (_, Some(what)) => Err(what),
        (Some(0), None) => Ok("done"),
        (Some(1), None) => Ok("a check that fails"),
        (_, None) => Ok("an error"),
    }
}

/// Returns a command in a shell of its own mounts, in which `folder` is a file system in memory with these
/// options; what is in it afterwards is copied to `$LEFT`, if that is set.
fn in_own_mounts(options: &str, folder: &Path, command: &Command) -> Command {
    let script = format!(
        "mount -t tmpfs -o {options} none \"$0\" && \"$@\"; status=$?; \
         [ -z \"$LEFT\" ] || cp -r \"$0/.\" \"$LEFT\"; exit $status"
    );
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", &script]).arg(folder).arg(command.get_program());
    shell.args(command.get_args()).stdin(Stdio::null());
    // The folder that it runs in and `$PROGRAM` are those of the command.
    shell.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}
