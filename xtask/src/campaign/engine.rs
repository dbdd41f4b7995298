//! What runs a fuzz target for a while: libFuzzer by cargo-fuzz if it is installed, else the stable
//! runner of `fuzz/` with mutants.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::command::{names, wait};
use super::fuzz::Target;
use super::{Campaign, emptied};
use crate::step::{cargo, command};

/// An input that takes longer is a finding, in seconds.
const TIMEOUT: u64 = 60;

/// Targets with this aim are of words and lines, of which long inputs have only more.
const MANY: u64 = 10_000_000;

/// The longest input of such a target, in bytes.
const SHORT: usize = 256;

/// How long an input that fails is made smaller, in seconds.
const MINIMIZE: u64 = 60;

/// How long the stable runner runs at once.
const ROUND: Duration = Duration::from_secs(20);

/// How long a run may go on after its time.
const GRACE: Duration = Duration::from_secs(2 * TIMEOUT + MINIMIZE);

/// The programs that run targets.
pub(super) enum Engine {
    /// A program for each target, in this folder.
    LibFuzzer(PathBuf),
    /// One program.
    Stable(PathBuf),
}

/// What one run of a target did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) executions: u64,
    /// Edges and features that libFuzzer counts.
    pub(super) coverage: Option<(u64, u64)>,
    /// Inputs in the corpus.
    pub(super) corpus: u64,
    /// Files that failed.
    pub(super) failed: Vec<PathBuf>,
}

impl Engine {
    /// Builds the programs, optimized, with assertions and checks of overflows.
    ///
    /// # Errors
    /// Returns that of the step that failed.
    pub(super) fn build(
        root: &Path,
        target: &Path,
        runner: &Path,
        targets: &[Target],
    ) -> Result<Self> {
        let corpora = target.join("campaign/corpus");
        for target in targets {
            let mut seeds = Command::new(runner);
            seeds.arg("--write-seeds").arg(&corpora).arg(&target.name);
            command(root, seeds)?;
        }
        let is_there =
            nightly("fuzz --version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if is_there.is_ok_and(|status| status.success()) {
            for target in targets {
                // Speed finds more than AddressSanitizer would: there is little unsafe code.
                let build = format!("fuzz build --sanitizer none {}", target.name);
                command(&root.join("fuzz"), nightly(&build))?;
            }
            return Ok(Self::LibFuzzer(root.join("fuzz/target").join(host()?).join("release")));
        }
        println!(
            "without `cargo +nightly fuzz`: mutants on the stable toolchain, without coverage"
        );
        let folder = target.join("campaign/stable");
        let mut build = cargo(
            "build --quiet --release --locked --no-default-features --manifest-path fuzz/Cargo.toml",
        );
        build.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
        build.env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
        build.arg("--target-dir").arg(&folder);
        command(root, build)?;
        Ok(Self::Stable(folder.join("release/warpload-fuzz")))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::LibFuzzer(_) => "libFuzzer",
            Self::Stable(_) => "mutants on the stable toolchain",
        }
    }

    /// Runs a target until `runs` inputs ran, one failed, or `time` is over. `number` makes other
    /// mutants in each run.
    ///
    /// # Errors
    /// Returns an error if it cannot be started.
    pub(super) fn run(
        &self,
        campaign: &Campaign,
        target: &Target,
        runs: u64,
        time: Duration,
        number: u64,
    ) -> Result<Ran> {
        let seed = campaign.seed.wrapping_mul(1 << 16).wrapping_add(number);
        match self {
            Self::LibFuzzer(folder) => libfuzzer(campaign, folder, target, runs, time, seed),
            Self::Stable(program) => stable(campaign, program, target, runs, time, seed),
        }
    }
}

/// Returns a task of the nightly toolchain, whichever this runs on.
fn nightly(arguments: &str) -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly").args(arguments.split_whitespace());
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

/// Returns the platform that this runs on, as rustc names it.
fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

fn libfuzzer(
    campaign: &Campaign,
    folder: &Path,
    target: &Target,
    runs: u64,
    time: Duration,
    seed: u64,
) -> Result<Ran> {
    let name = &target.name;
    let (corpus, failures) =
        (campaign.folder.join("corpus").join(name), failures(campaign, target)?);
    let words = corpus.with_extension("dict");
    let log = campaign.folder.join(format!("{name}.log"));
    let known = names(&failures)?;
    let prefix = format!("{}/", failures.display());

    let mut fuzzer = Command::new(folder.join(name));
    fuzzer.arg(&corpus);
    // Targets of bytes have none, and an empty file is an error.
    if fs::metadata(&words)?.len() > 0 {
        fuzzer.arg(format!("-dict={}", words.display()));
    }
    fuzzer.arg(format!("-artifact_prefix={prefix}"));
    if target.aim >= MANY {
        fuzzer.arg(format!("-max_len={SHORT}"));
    }
    fuzzer.args([
        format!("-runs={runs}"),
        format!("-max_total_time={}", time.as_secs().max(1)),
        // libFuzzer replaces a seed of 0 with a random one.
        format!("-seed={}", seed as u32 | 1),
        format!("-timeout={TIMEOUT}"),
        "-rss_limit_mb=4096".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    let status = started(fuzzer, &log, time)?;
    let mut ran = statistics(&String::from_utf8_lossy(&fs::read(&log)?));
    for file in names(&failures)?.into_iter().filter(|file| !known.contains(file)) {
        let file = failures.join(file);
        minimize(folder, target, &file, &campaign.folder)?;
        ran.failed.push(file);
    }
    expect_work(&ran, status, &log)?;
    Ok(ran)
}

/// Checks that a run did something.
///
/// # Errors
/// Returns an error if it did not: it would be repeated until the end of the campaign.
fn expect_work(ran: &Ran, status: Option<ExitStatus>, log: &Path) -> Result<()> {
    let has_worked = ran.executions > 0 || !ran.failed.is_empty();
    let status = status.map_or("killed after its time".to_owned(), |status| status.to_string());
    ensure!(has_worked, "nothing was executed ({status}); see {}", log.display());
    Ok(())
}

/// Runs a fuzzer with its output in a file. Kills it if it does not end in time, and returns `None`.
fn started(mut command: Command, log: &Path, time: Duration) -> Result<Option<ExitStatus>> {
    let file = File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    wait(&mut child, time + GRACE)
}

/// Makes an input that crashes smaller, in place, if that can be done in time.
fn minimize(folder: &Path, target: &Target, file: &Path, scratch: &Path) -> Result<()> {
    let is_crash =
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("crash-"));
    if !is_crash {
        return Ok(());
    }
    let smaller = scratch.join("smaller");
    let mut fuzzer = Command::new(folder.join(&target.name));
    fuzzer.args(["-minimize_crash=1", &format!("-max_total_time={MINIMIZE}")]);
    fuzzer.arg(format!("-exact_artifact_path={}", smaller.display())).arg(file);
    started(fuzzer, &scratch.join("minimize.log"), Duration::from_secs(MINIMIZE))?;
    if smaller.exists() {
        fs::rename(&smaller, file)?;
    }
    Ok(())
}

/// Reads what libFuzzer prints at its end, or last if it was ended.
fn statistics(log: &str) -> Ran {
    let number = |text: &str, after: &str| {
        let rest = &text[text.find(after)? + after.len()..];
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse::<u64>().ok()
    };
    let status = log.lines().rev().find(|line| line.starts_with('#') && line.contains(" cov: "));
    let status = status.unwrap_or_default();
    let executions = number(log, "stat::number_of_executed_units:").or_else(|| number(status, "#"));
    Ran {
        executions: executions.unwrap_or_default(),
        coverage: number(status, "cov:").zip(number(status, "ft:")),
        corpus: number(status, "corp:").unwrap_or_default(),
        failed: Vec::new(),
    }
}

fn stable(
    campaign: &Campaign,
    program: &Path,
    target: &Target,
    runs: u64,
    time: Duration,
    seed: u64,
) -> Result<Ran> {
    let (start, failures) = (Instant::now(), failures(campaign, target)?);
    let log = campaign.folder.join(format!("{}.log", target.name));
    let mut ran = Ran::default();
    let mut mutations = 1;
    for round in 0.. {
        let begin = Instant::now();
        let mut runner = Command::new(program);
        runner.args([&*target.name, "--keep", "--mutations", &mutations.to_string()]);
        runner.args(["--seed", &(seed << 20 | round).to_string()]).arg("--failures").arg(&failures);
        let status = started(runner, &log, ROUND * 4)?;
        let file = failures.join(&target.name);
        if file.exists() {
            // Kept before each input: of a run that is killed, the last one need not be slow.
            let what = if status.is_some() { "crash" } else { "timeout" };
            let kept = failures.join(format!("{what}-{seed}-{round}"));
            fs::rename(&file, &kept)?;
            ran.failed.push(kept);
            return Ok(ran);
        }
        let done = inputs(&String::from_utf8_lossy(&fs::read(&log)?));
        (ran.corpus, ran.executions) = (done / (mutations + 1), ran.executions + done);
        expect_work(&ran, status, &log)?;
        if ran.executions >= runs || start.elapsed() >= time {
            return Ok(ran);
        }
        // As many as fit into a round, and as are missing.
        let a_second = done as f64 / begin.elapsed().as_secs_f64().max(0.001);
        let left = ROUND.min(time.saturating_sub(start.elapsed())).as_secs_f64();
        let next = ((a_second * left) as u64).min(runs - ran.executions);
        mutations = (next / ran.corpus.max(1)).max(1);
    }
    Ok(ran)
}

/// Reads from the output of the stable runner how many inputs ran, mutants too.
fn inputs(log: &str) -> u64 {
    let before = |what: &str| {
        let number = log[..log.rfind(what)?].rsplit(' ').next()?;
        number.parse::<u64>().ok()
    };
    before(" inputs, ").unwrap_or_default() + before(" mutants, ").unwrap_or_default()
}

/// Returns the folder for inputs that fail a target.
fn failures(campaign: &Campaign, target: &Target) -> Result<PathBuf> {
    let folder = campaign.folder.join("findings").join(&target.name);
    if folder.exists() { Ok(folder) } else { emptied(&folder) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read() {
        let log = "#2\tINITED cov: 10 ft: 20 corp: 1/1b exec/s: 0 rss: 30Mb\n\
             #4096\tpulse  cov: 11 ft: 22 corp: 3/9Kb lim: 4 exec/s: 2048 rss: 31Mb\n";
        let mut ran =
            Ran { executions: 4096, coverage: Some((11, 22)), corpus: 3, failed: Vec::new() };
        assert_eq!(statistics(log), ran);
        ran.executions = 5000;
        let log =
            format!("{log}Done 5000 runs in 2 second(s)\nstat::number_of_executed_units: 5000\n");
        assert_eq!(statistics(&log), ran);
        assert_eq!(statistics("no such file"), Ran::default());
        assert_eq!((inputs("a: 7 inputs, 21 mutants, 1.2s\n"), inputs("error")), (28, 0));
    }
}
