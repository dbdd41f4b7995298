//! `cargo xtask campaign`: hours of fuzzing, damaged files, signals and small limits, and a table of
//! what they found. `fuzz.rs` runs the fuzz targets; the other kinds run the command as users do.

mod command;
mod damage;
mod engine;
mod fuzz;
mod limits;
mod report;
mod samples;
mod signals;
mod text;
mod tokens;
// What the fuzz package, which is not in the workspace, has for its own runner.
#[path = "../../../fuzz/src/mutate.rs"]
#[allow(unreachable_pub, reason = "public in the fuzz package")]
mod mutate;
#[path = "../../../fuzz/src/seeds.rs"]
#[allow(dead_code, unreachable_pub, reason = "the fuzz package uses all of it")]
mod seeds;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::metadata::Metadata;
use crate::step::{Failed, cargo, command};
use fuzz::Target;

/// Fuzzes all targets and the command for hours; ends in a table of executions and findings
///
/// Faults run first: damaged files, signals, small limits, long words. The fuzz targets share the time
/// that is left; one that reaches its aim leaves the rest of its share to the others. Exit status 1 if
/// something was found. All files are in target/campaign/; corpora there are used again.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How long, in hours; faults that have begun are completed
    #[arg(long, value_name = "H", required_unless_present = "list")]
    hours: Option<f64>,
    /// Run this target or kind of fault alone; repeat it for several
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Make other damage and mutants
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many targets or damaged files run at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// List the targets with their aims and the kinds of faults, and run nothing
    #[arg(long)]
    list: bool,
    /// Write the table to FILE, too
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The kinds of faults, and how each is injected.
type Kind = (&'static str, &'static str, fn(&Campaign) -> Result<Vec<report::Faults>>);

const KINDS: [Kind; 4] = [
    ("damage", "damaged traces, containers, modules and other files", damage::run),
    ("signals", "signals at random moments", signals::run),
    (
        "limits",
        "full disks, read-only folders, little memory, few files, a small stack",
        limits::run,
    ),
    ("tokens", "very long words and control characters in every field of text", tokens::run),
];

/// What all parts of a campaign need.
struct Campaign {
    /// The repository.
    root: PathBuf,
    /// Where everything is written.
    folder: PathBuf,
    /// The command, built for release.
    program: PathBuf,
    seed: u64,
    jobs: usize,
    end: Instant,
    /// Descriptions of what was found.
    findings: Mutex<Vec<String>>,
}

impl Campaign {
    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Reports and remembers a finding.
    fn found(&self, what: String) {
        eprintln!("FOUND: {what}");
        if let Ok(mut findings) = self.findings.lock() {
            findings.push(what);
        }
    }

    /// Calls `work` with the numbers below `count`, `jobs` at the same time, until the time is over;
    /// returns how many it was called with.
    ///
    /// # Errors
    /// Returns the first error of `work`.
    fn each(&self, count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<usize> {
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let worker = || -> Result<()> {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || self.left().is_zero() {
                        return Ok(());
                    }
                    work(number)?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            };
            let workers: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            let ended = workers.into_iter().map(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => bail!("a thread of the campaign panicked"),
            });
            ended.collect::<Result<()>>()
        })?;
        Ok(done.into_inner())
    }

    /// Creates an empty folder for files that are kept for a look at them.
    fn kept(&self, name: &str) -> Result<PathBuf> {
        emptied(&self.folder.join("findings").join(name))
    }
}

/// Creates a folder, or empties it.
fn emptied(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    Ok(folder.to_owned())
}

/// Runs the campaign.
///
/// # Errors
/// Returns [`Failed`] if something was found, and another error if a part could not run.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let workspace = Metadata::workspace()?;
    let (root, target) = (workspace.root()?, workspace.target()?);
    let runner = crate::fuzz::runner(&workspace)?;
    let (targets, kinds) = chosen(fuzz::targets(&runner)?, &arguments.only)?;
    if arguments.list {
        targets.iter().for_each(|target| println!("{:<40}{:>12}", target.name, target.aim));
        kinds.iter().for_each(|(name, what, _)| println!("{name:<40}{what}"));
        return Ok(());
    }
    let hours = arguments.hours.unwrap_or_default();
    let length = Duration::try_from_secs_f64(hours * 3600.0);
    let length = length.with_context(|| format!("--hours {hours}: expected a positive number"))?;

    let folder = target.join("campaign");
    fs::create_dir_all(&folder)?;
    command(&root, cargo("build --release --quiet --locked -p warpload-cli"))?;
    let engine = match &targets[..] {
        [] => None,
        targets => Some(engine::Engine::build(&root, &target, &runner, targets)?),
    };
    let start = Instant::now();
    let campaign = Campaign {
        program: target.join("release/warpload"),
        folder,
        seed: arguments.seed,
        jobs: arguments.jobs,
        end: start + length,
        findings: Mutex::new(Vec::new()),
        root,
    };
    let mut report = report::Report::new(&campaign, hours, engine.as_ref());
    for (name, _, run) in kinds {
        println!("\n# {name}");
        report.faults.extend(run(&campaign)?);
        report.write(&campaign, start, arguments.output.as_deref())?;
    }
    if let Some(engine) = &engine {
        fuzz::run(&campaign, engine, &targets, |fuzzed| {
            report.fuzzed = fuzzed.to_vec();
            report.write(&campaign, start, arguments.output.as_deref())
        })?;
    }
    println!("\n{}", report.text(&campaign, start));
    let found = campaign.findings.into_inner().unwrap_or_default();
    if found.is_empty() { Ok(()) } else { Err(Failed::SHOWN.into()) }
}

/// Returns the targets and kinds of faults that are named, or all.
fn chosen(targets: Vec<Target>, names: &[String]) -> Result<(Vec<Target>, Vec<Kind>)> {
    for name in names {
        let is_known = targets.iter().any(|target| target.name == *name)
            || KINDS.iter().any(|(kind, ..)| kind == name);
        ensure!(is_known, "--only {name}: unknown; `--list` lists what there is");
    }
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    let targets = targets.into_iter().filter(|target| is_chosen(&target.name)).collect();
    Ok((targets, KINDS.into_iter().filter(|(name, ..)| is_chosen(name)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_name() {
        let all = || ["a", "b"].map(|name| Target { name: name.to_owned(), aim: 1 }).to_vec();
        let (targets, kinds) = chosen(all(), &[]).unwrap();
        assert_eq!((targets.len(), kinds.len()), (2, KINDS.len()));
        let (targets, kinds) = chosen(all(), &["b".into(), "limits".into()]).unwrap();
        assert_eq!(
            (&*targets[0].name, targets.len(), kinds[0].0, kinds.len()),
            ("b", 1, "limits", 1)
        );
        assert!(chosen(all(), &["nothing".into()]).is_err());
    }
}
