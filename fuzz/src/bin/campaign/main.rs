//! Runs the fuzz targets for hours, and the command with damaged files and under small limits. `cargo xtask campaign`
//! builds the command and runs this. docs/reliability.md has results and the definition of a finding.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints to the terminal")]

mod command;
mod damage;
mod limits;
mod samples;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use warpload_fuzz::exit_code;
use warpload_fuzz::seeds::{Seed, read, repository, write_corpus};
use warpload_fuzz::targets::{TARGETS, Target};

/// Fuzzes all targets and the command for hours; exit status 1 if something was found
///
/// Faults of the command run first. The targets share the time that is left; one that reaches its aim leaves
/// the rest of its share to those after it.
#[derive(Parser)]
#[command(bin_name = "cargo xtask campaign", max_term_width = 100)]
struct Arguments {
    /// Hours to run; a fault that has begun is completed
    #[arg(long, value_name = "H")]
    hours: f64,
    /// Run this target alone, or this kind of fault, damage or limits; repeat it for several
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Damage inputs of this form alone, such as `kernels` or `containers`; repeat it for several
    #[arg(long, value_name = "NAME")]
    form: Vec<String>,
    /// The number of damaged files
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    cases: usize,
    /// Address space of a run in MiB
    #[arg(long, value_name = "N", default_value_t = 8192)]
    memory: u32,
    /// Processor time of a run in seconds
    #[arg(long, value_name = "N", default_value_t = 20)]
    seconds: u32,
    /// Make other damage and mutants
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The command, built for release
    #[arg(long, value_name = "FILE", default_value = "target/release/warpload")]
    program: PathBuf,
    /// Folder of corpora and findings
    #[arg(long, value_name = "FOLDER", default_value = "target/campaign")]
    folder: PathBuf,
}

type Kind = (&'static str, fn(&mut Campaign) -> Result<()>);

/// The kinds of faults, with their functions.
const KINDS: [Kind; 2] = [("damage", damage::run), ("limits", limits::run)];

/// The state that all parts of a campaign share.
struct Campaign {
    program: PathBuf,
    folder: PathBuf,
    seed: u64,
    /// The forms of inputs to damage; empty for all.
    forms: Vec<String>,
    /// The number of damaged files.
    cases: usize,
    /// The `ulimit`s of the runs with damaged files.
    limits: String,
    end: Instant,
    /// The number of runs per fault and outcome.
    counts: BTreeMap<(String, &'static str), u64>,
    findings: Vec<String>,
}

impl Campaign {
    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    fn count(&mut self, fault: &str, outcome: &'static str) {
        *self.counts.entry((fault.to_owned(), outcome)).or_default() += 1;
    }

    /// Counts the outcome of a run. An error is a finding, and `input` is kept with it.
    fn judge(
        &mut self,
        fault: &str,
        run: &str,
        outcome: std::result::Result<&'static str, String>,
        input: Option<&[u8]>,
    ) -> Result<()> {
        let what = match outcome {
            Ok(outcome) => {
                self.count(fault, outcome);
                return Ok(());
            }
            Err(what) => what,
        };
        let mut finding = format!("{fault}: `{}`: {what}", run.escape_debug());
        if let Some(bytes) = input {
            let kept = self.folder.join("findings");
            fs::create_dir_all(&kept)?;
            let file = kept.join(format!("{}-{}", self.seed, self.findings.len()));
            fs::write(&file, bytes)?;
            finding += &format!("; see {}", file.display());
        }
        eprintln!("FOUND: {finding}");
        self.count(fault, "findings");
        self.findings.push(finding);
        Ok(())
    }

    /// The outcomes per fault as a Markdown table, and the findings.
    fn report(&self) -> String {
        let mut text = String::from("| fault | how runs ended |\n|---|---|\n");
        let mut faults: Vec<&str> = self.counts.keys().map(|(fault, _)| &**fault).collect();
        faults.dedup();
        for fault in faults {
            let of = self.counts.iter().filter(|((its, _), _)| its == fault);
            let shown: Vec<String> = of.map(|((_, how), count)| format!("{how} {count}")).collect();
            text += &format!("| {fault} | {} |\n", shown.join(", "));
        }
        text + &self.findings.iter().map(|what| format!("\n- {what}")).collect::<String>()
    }
}

fn main() -> ExitCode {
    exit_code(run(&Arguments::parse()))
}

/// Runs the campaign. True if it has no findings.
fn run(arguments: &Arguments) -> Result<bool> {
    let names = || KINDS.iter().map(|(name, _)| *name).chain(TARGETS.iter().map(|one| one.name));
    if let Some(name) = arguments.only.iter().find(|name| names().all(|known| known != *name)) {
        let known: Vec<&str> = names().collect();
        return Err(Error::other(format!("--only {name}: expected one of {}", known.join(", "))));
    }
    let is_asked =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|one| one == name);
    let length = Duration::try_from_secs_f64(arguments.hours * 3600.0).map_err(Error::other)?;
    fs::create_dir_all(&arguments.folder)?;
    let mut campaign = Campaign {
        program: fs::canonicalize(&arguments.program)?,
        folder: fs::canonicalize(&arguments.folder)?,
        seed: arguments.seed,
        forms: arguments.form.clone(),
        cases: arguments.cases,
        limits: command::limits(arguments.seconds, arguments.memory),
        end: Instant::now() + length,
        counts: BTreeMap::new(),
        findings: Vec::new(),
    };
    for (name, kind) in KINDS.iter().filter(|(name, _)| is_asked(name)) {
        println!("\n# {name}");
        kind(&mut campaign)?;
    }
    let targets: Vec<&Target> = TARGETS.iter().filter(|target| is_asked(target.name)).collect();
    for (done, target) in targets.iter().enumerate() {
        println!("\n# {}", target.name);
        let share = campaign.left() / (targets.len() - done) as u32;
        let outcome = if fuzz(&campaign, target, share)? {
            Ok("whole runs")
        } else {
            Err("failed; the input is in fuzz/artifacts or in findings/".to_owned())
        };
        campaign.judge("fuzz targets", target.name, outcome, None)?;
    }
    let report = campaign.report();
    println!("\n{report}");
    fs::write(campaign.folder.join("report.md"), report)?;
    Ok(campaign.findings.is_empty())
}

/// The aim from which on inputs are kept short. These targets take words and lines, so long inputs only have more of
/// them.
const MANY: u64 = 10_000_000;

/// Fuzzes a target until its aim or the time is reached. True if the property held. Uses libFuzzer if `cargo +nightly
/// fuzz` exists, from the seeds and the corpora of earlier campaigns; otherwise runs mutants of the seeds.
fn fuzz(campaign: &Campaign, target: &Target, time: Duration) -> Result<bool> {
    let nightly = |arguments: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.args(["+nightly", "fuzz"]).args(arguments).current_dir(repository().join("fuzz"));
        for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
            cargo.env_remove(name);
        }
        cargo
    };
    let there = nightly(&["--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        return mutants(campaign, target, time);
    }
    let corpus = campaign.folder.join("corpus").join(target.name);
    write_corpus(&corpus, &target.seeds()?)?;
    // Runs without AddressSanitizer, because there is little unsafe code and more runs find more.
    let mut fuzzer = nightly(&["run", "--sanitizer", "none", target.name]);
    fuzzer.arg(&corpus).arg("--").args([
        format!("-runs={}", target.aim),
        format!("-max_total_time={}", time.as_secs().max(1)),
        // Odd, because libFuzzer replaces a seed of 0 with a random one.
        format!("-seed={}", campaign.seed as u32 | 1),
        "-timeout=60".to_owned(),
        "-rss_limit_mb=4096".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    if target.aim >= MANY {
        fuzzer.arg("-max_len=256");
    }
    Ok(fuzzer.status()?.success())
}

/// Runs the stable runner with other mutants in each round, until the time is over.
fn mutants(campaign: &Campaign, target: &Target, time: Duration) -> Result<bool> {
    let start = Instant::now();
    let runner = std::env::current_exe()?.with_file_name("warpload-fuzz");
    for round in 0.. {
        let mut runner = Command::new(&runner);
        runner.args([target.name, "--keep", "--mutations", "200", "--seed"]);
        runner.arg((campaign.seed << 20 | round).to_string());
        runner.arg("--failures").arg(campaign.folder.join("findings"));
        if !runner.status()?.success() {
            return Ok(false);
        }
        if start.elapsed() >= time {
            break;
        }
    }
    Ok(true)
}

/// A file of the repository.
fn file(name: &str) -> PathBuf {
    repository().join(name)
}

/// Reads all files of a folder recursively, by their paths relative to it.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let prefix = format!("{}/", folder.display());
    let by_path = |seed: Seed| (seed.name.replacen(&prefix, "", 1), seed.bytes);
    Ok(read(folder)?.into_iter().map(by_path).collect())
}
