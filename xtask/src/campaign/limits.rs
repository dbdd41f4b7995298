//! Small limits: full disks, read-only folders, little memory, few open files, a small stack. A command
//! does its work, or says what failed and leaves nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use super::Campaign;
use super::command::{self, Ended, LIMITS, first_line, limited};
use super::report::Faults;
use super::samples::{Made, Work, files, work};

/// Address space, in KiB. With less the system does not load the program.
const MEMORY: [u32; 7] = [16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000];

/// Open files.
const FILES: [u32; 7] = [3, 4, 5, 6, 8, 12, 20];

/// Stack of the main thread, in KiB. Reading the arguments takes more than 64.
const STACK: [u32; 4] = [128, 256, 512, 1024];

/// The size of a file, in blocks of 512 bytes (some shells: 1,024). A message, which goes to a file
/// here, fits into one.
const FILE_SIZE: [u32; 4] = [1, 16, 128, 1024];

/// The size of a disk, in KiB.
const DISK: [u32; 4] = [4, 64, 512, 2048];

/// Commands that write to standard output alone.
const SHOWN: [&[&str]; 8] = [
    &["decode", "tests/data/listings/chase.sm_50.cubin"],
    &["decode", "--list", "tests/data/fatbins/plain.fatbin"],
    &["test", "tests/data/cmd/pass.jsonl"],
    &["ptx", "check", "tests/data/ptx/legal.ptx"],
    &["ptx", "lower", "tests/data/listings/uniform.ptx"],
    &["tmem", "test", "tests/data/cmd/tmem-cases.jsonl"],
    &["replay", "traces/generic.wlt", "--image", "traces/generic.image.json"],
    &["merge", "tests/data/cmd/shard-0.json", "tests/data/cmd/shard-1.json"],
];

/// Runs commands under each limit.
///
/// # Errors
/// Returns an error if a command cannot be started, or fails without limits.
pub(super) fn run(campaign: &Campaign) -> Result<Vec<Faults>> {
    let input = tempfile::tempdir()?;
    let all = work(campaign, input.path())?;
    let shown = SHOWN.iter().map(|arguments| Shown::new(campaign, arguments));
    let shown: Vec<Shown> = shown.collect::<Result<_>>()?;
    let each = |name: &str, option: &str, values: &[u32]| -> Result<Faults> {
        let mut faults =
            Faults::new(format!("{name}, {} to {}", values[0], values[values.len() - 1]));
        for value in values {
            let limits = format!("{LIMITS}; ulimit {option} {value}");
            for work in &all {
                written(campaign, work, &limits, &mut faults)?;
            }
            for command in &shown {
                command.run(campaign, &limits, &mut faults)?;
            }
        }
        Ok(faults)
    };
    let mut every = vec![
        each("`ulimit -v` (KiB)", "-v", &MEMORY)?,
        each("`ulimit -n`", "-n", &FILES)?,
        each("`ulimit -s` (KiB)", "-s", &STACK)?,
        each("`ulimit -f` (blocks)", "-f", &FILE_SIZE)?,
        full_output(campaign)?,
    ];
    if can_mount() {
        every.extend([full_disk(campaign, &all)?, read_only(campaign, &all)?]);
    } else {
        println!("without `unshare` and its rights: no small disks and read-only folders");
    }
    Ok(every)
}

/// Runs work that writes files, and checks what is there afterwards.
fn written(campaign: &Campaign, work: &Work, limits: &str, faults: &mut Faults) -> Result<()> {
    let (folder, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let ended = command::run(work.command(campaign, folder.path(), limits), scratch.path())?;
    judge(campaign, work, limits, &ended, &files(folder.path())?, faults);
    Ok(())
}

/// Judges how work under a limit ended, and the files that it left.
fn judge(
    campaign: &Campaign,
    work: &Work,
    limits: &str,
    ended: &Ended,
    found: &Made,
    faults: &mut Faults,
) {
    let wrong = ended_well(ended, faults).err().or_else(|| {
        if ended.code() == Some(0) && *found != work.whole {
            return Some("exit status 0 without the whole output".to_owned());
        }
        work.wrong(found, &Made::new(), |_| false)
    });
    if let Some(what) = wrong {
        faults.findings += 1;
        campaign.found(format!("{} under `{}`: {what}", work.name, last(limits)));
    }
}

/// Returns the limit that is tried, after those of all runs.
fn last(limits: &str) -> &str {
    limits.rsplit("; ").next().unwrap_or(limits)
}

/// Counts how a run ended; the error says what is wrong with it.
fn ended_well(ended: &Ended, faults: &mut Faults) -> Result<(), String> {
    let kind = match ended.code() {
        Some(0) => "done",
        // The system's loader, or its shell.
        Some(126 | 127) => "not started",
        Some(1) => "a check that fails",
        Some(2) => "an error",
        // Rust's runtime ends a program when it has no memory.
        None if ended.stderr.starts_with("memory allocation of ") => "out of memory",
        _ => "",
    };
    // These two may say so in any way.
    let is_known = matches!(kind, "not started" | "out of memory");
    match ended.broken().filter(|_| !is_known) {
        Some(what) => {
            faults.runs += 1;
            Err(what)
        }
        None => {
            faults.add(kind, 1);
            Ok(())
        }
    }
}

/// A command that writes to standard output alone, and what it does without limits.
struct Shown {
    arguments: &'static [&'static str],
    whole: Ended,
}

impl Shown {
    fn new(campaign: &Campaign, arguments: &'static [&'static str]) -> Result<Self> {
        let whole = Self::ended(campaign, arguments, LIMITS)?;
        let is_done = matches!(whole.code(), Some(0 | 1));
        ensure!(is_done, "`{}`: {}", arguments.join(" "), first_line(&whole.stderr));
        Ok(Self { arguments, whole })
    }

    fn ended(campaign: &Campaign, arguments: &[&str], limits: &str) -> Result<Ended> {
        let scratch = tempfile::tempdir()?;
        let command = limited(&campaign.program, &campaign.root, limits, arguments);
        command::run(command, scratch.path())
    }

    fn run(&self, campaign: &Campaign, limits: &str, faults: &mut Faults) -> Result<()> {
        let Self { arguments, whole } = self;
        let ended = Self::ended(campaign, arguments, limits)?;
        let wrong = ended_well(&ended, faults).err().or_else(|| {
            let is_done = matches!(ended.code(), Some(0 | 1));
            let is_same = ended.code() == whole.code() && ended.stdout == whole.stdout;
            (is_done && !is_same).then(|| "another output than without the limit".to_owned())
        });
        if let Some(what) = wrong {
            faults.findings += 1;
            campaign.found(format!("`{}` under `{}`: {what}", arguments.join(" "), last(limits)));
        }
        Ok(())
    }
}

/// Writes results to a device that is full.
fn full_output(campaign: &Campaign) -> Result<Faults> {
    let mut faults = Faults::new("standard output to `/dev/full`".to_owned());
    for arguments in SHOWN {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let mut command = limited(&campaign.program, &campaign.root, LIMITS, arguments);
        let output = command.stdout(full).stderr(Stdio::piped()).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let ended = Ended { status: Some(output.status), stdout: Vec::new(), stderr };
        let wrong = ended_well(&ended, &mut faults).err().or_else(|| {
            let is_error = ended.code() == Some(2) && ended.stderr.contains("cannot be written");
            (!is_error).then(|| format!("no error: {}", first_line(&ended.stderr)))
        });
        if let Some(what) = wrong {
            faults.findings += 1;
            campaign.found(format!("`{}` to a full device: {what}", arguments.join(" ")));
        }
    }
    Ok(faults)
}

/// Returns a shell of its own mounts that runs a script; `$0` is a folder, `$@` the command.
fn in_own_mounts(script: &str, folder: &Path, command: &Command) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script]).arg(folder);
    shell.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    shell
}

fn can_mount() -> bool {
    let Ok(folder) = tempfile::tempdir() else { return false };
    let script = "mount -t tmpfs -o size=64k none \"$0\" && \"$@\"";
    let mut shell = in_own_mounts(script, folder.path(), &Command::new("true"));
    shell.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Writes to small disks, on which temporary files are, too. What is left on them is copied out.
fn full_disk(campaign: &Campaign, all: &[Work]) -> Result<Faults> {
    let mut faults = Faults::new(format!("a disk of {} to {} KiB", DISK[0], DISK[DISK.len() - 1]));
    for size in DISK {
        for work in all {
            let (folder, left) = (tempfile::tempdir()?, tempfile::tempdir()?);
            let script = format!(
                "mount -t tmpfs -o size={size}k none \"$0\" && \
                 TMPDIR=\"$0\" \"$@\"; status=$?; cp -r \"$0/.\" \"$LEFT\"; exit $status"
            );
            let command = work.command(campaign, folder.path(), LIMITS);
            let mut shell = in_own_mounts(&script, folder.path(), &command);
            shell.env("LEFT", left.path());
            let scratch = tempfile::tempdir()?;
            let ended = command::run(shell, scratch.path())?;
            let limit = format!("a disk of {size} KiB");
            judge(campaign, work, &limit, &ended, &files(left.path())?, &mut faults);
        }
    }
    Ok(faults)
}

/// Writes into a folder on a read-only disk, and with a read-only folder for temporary files.
fn read_only(campaign: &Campaign, all: &[Work]) -> Result<Faults> {
    let mut faults = Faults::new("a read-only folder".to_owned());
    for work in all {
        let (folder, temporary) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for (limit, mounted) in [
            ("a read-only folder for the output", folder.path()),
            ("a read-only folder for temporary files", temporary.path()),
        ] {
            let script = "mount -t tmpfs -o ro none \"$0\" && \"$@\"";
            let command = work.command(campaign, folder.path(), LIMITS);
            let mut shell = in_own_mounts(script, mounted, &command);
            shell.env("TMPDIR", temporary.path());
            let scratch = tempfile::tempdir()?;
            let ended = command::run(shell, scratch.path())?;
            judge(campaign, work, limit, &ended, &files(folder.path())?, &mut faults);
        }
    }
    Ok(faults)
}
