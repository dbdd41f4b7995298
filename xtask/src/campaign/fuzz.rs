//! The fuzz targets, in turn, until each has reached its aim or the time is over.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Campaign;
use super::engine::{Engine, Ran};

/// A target that failed this often is left alone: what fails is found again and again.
const MAX_FINDINGS: u64 = 3;

/// Less time is not shared out again.
const MIN_LEFT: Duration = Duration::from_secs(5);

/// A fuzz target.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) name: String,
    /// How many inputs are enough.
    pub(super) aim: u64,
}

/// Returns the targets that the runner lists.
///
/// # Errors
/// Returns an error if it cannot be started, or lists something else.
pub(super) fn targets(runner: &Path) -> Result<Vec<Target>> {
    let output = Command::new(runner).arg("--list").output()?;
    ensure!(output.status.success(), "{} --list failed", runner.display());
    let lines = String::from_utf8(output.stdout)?;
    let target = |line: &str| {
        let (name, aim) = line.split_once(' ').with_context(|| format!("a target: {line}"))?;
        Ok(Target { name: name.to_owned(), aim: aim.parse()? })
    };
    lines.lines().map(target).collect()
}

/// What a target did so far.
#[derive(Clone)]
pub(super) struct Fuzzed {
    pub(super) name: String,
    pub(super) aim: u64,
    pub(super) executions: u64,
    pub(super) coverage: Option<(u64, u64)>,
    pub(super) corpus: u64,
    pub(super) findings: u64,
}

impl Fuzzed {
    fn is_done(&self) -> bool {
        self.executions >= self.aim || self.findings >= MAX_FINDINGS
    }

    fn add(&mut self, ran: &Ran) {
        self.executions += ran.executions;
        self.coverage = ran.coverage.or(self.coverage);
        self.corpus = ran.corpus.max(self.corpus);
        self.findings += ran.failed.len() as u64;
    }
}

/// Runs the targets; calls `progress` with all of them after each run.
///
/// # Errors
/// Returns an error if a target cannot be started, and those of `progress`.
pub(super) fn run(
    campaign: &Campaign,
    engine: &Engine,
    targets: &[Target],
    mut progress: impl FnMut(&[Fuzzed]) -> Result<()> + Send,
) -> Result<()> {
    let fuzzed = targets.iter().map(|target| Fuzzed {
        name: target.name.clone(),
        aim: target.aim,
        executions: 0,
        coverage: None,
        corpus: 0,
        findings: 0,
    });
    let all = Mutex::new((fuzzed.collect::<Vec<_>>(), &mut progress));
    for pass in 0.. {
        let open: Vec<usize> = match all.lock() {
            Ok(all) => (0..targets.len()).filter(|which| !all.0[*which].is_done()).collect(),
            Err(_) => break,
        };
        let left = campaign.left();
        if open.is_empty() || left < MIN_LEFT {
            break;
        }
        // Half of it at first, so that what quick targets leave goes to slow ones.
        let shared = if left > MIN_LEFT * 2 * open.len() as u32 { left / 2 } else { left };
        let share = share(shared, open.len(), campaign.jobs);
        campaign.each(open.len(), |number| {
            let which = open[number];
            let target = &targets[which];
            let executions = all.lock().map_or(0, |all| all.0[which].executions);
            let start = Instant::now();
            let missing = target.aim.saturating_sub(executions);
            let time = share.min(campaign.left());
            let ran = engine.run(campaign, target, missing, time, pass)?;
            for file in &ran.failed {
                campaign.found(format!("{}: {}", target.name, file.display()));
            }
            let Ok(mut all) = all.lock() else { return Ok(()) };
            let (fuzzed, progress) = &mut *all;
            fuzzed[which].add(&ran);
            let done = &fuzzed[which];
            println!(
                "{}: {} of {} executions, coverage {:?}, {:.0} s",
                done.name,
                done.executions,
                done.aim,
                done.coverage,
                start.elapsed().as_secs_f64()
            );
            progress(fuzzed)
        })?;
    }
    Ok(())
}

/// Returns the time of one of `count` targets, of which `jobs` run at the same time.
fn share(time: Duration, count: usize, jobs: usize) -> Duration {
    let turns = count.div_ceil(jobs.max(1)).max(1);
    time / u32::try_from(turns).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared() {
        let minute = Duration::from_secs(60);
        assert_eq!(share(minute, 20, 1), Duration::from_secs(3));
        assert_eq!(share(minute, 3, 2), Duration::from_secs(30));
        assert_eq!(share(minute, 1, 8), minute);
    }

    #[test]
    fn what_runs_did_adds_up() {
        let mut fuzzed = Fuzzed {
            name: "a".to_owned(),
            aim: 10,
            executions: 0,
            coverage: None,
            corpus: 0,
            findings: 0,
        };
        let ran = Ran { executions: 6, coverage: Some((1, 2)), corpus: 3, failed: Vec::new() };
        fuzzed.add(&ran);
        assert!(!fuzzed.is_done());
        fuzzed.add(&Ran { coverage: None, ..ran });
        assert!(fuzzed.is_done());
        assert_eq!((fuzzed.executions, fuzzed.coverage), (12, Some((1, 2))));
    }
}
