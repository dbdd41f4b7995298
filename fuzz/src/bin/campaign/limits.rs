//! Small limits: full disks, read-only folders, little memory, few open files, a small stack. A command does its
//! work, or says what failed and leaves nothing.

use std::fs;
use std::io::Result;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Ended, LIMITS, first_line, limited, run as run_command};
use crate::samples::{Made, Work, arguments, work};
use crate::{Campaign, file, files};

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
                let ended =
                    run_command(work.command(campaign, inputs.path(), folder.path(), &limits))?;
                written(
                    campaign,
                    work,
                    (&fault, &value.to_string()),
                    &ended,
                    &files(folder.path())?,
                )?;
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
            let ended = run_command({
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
            let ended = run_command(command)?;
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
        wrong.or_else(|| work.wrong(found)).map_or(Ok(outcome), Err)
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
