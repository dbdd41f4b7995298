//! The table that a campaign ends in, as Markdown.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use super::Campaign;
use super::engine::Engine;
use super::fuzz::Fuzzed;

/// Faults of one kind: how many runs ended how.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) name: String,
    pub(super) runs: u64,
    /// How runs may end, and how many did.
    outcomes: Vec<(&'static str, u64)>,
    pub(super) findings: u64,
}

impl Faults {
    pub(super) fn new(name: String) -> Self {
        Self { name, runs: 0, outcomes: Vec::new(), findings: 0 }
    }

    /// Counts runs that ended in one of the ways that they may.
    pub(super) fn add(&mut self, outcome: &'static str, count: u64) {
        self.runs += count;
        match self.outcomes.iter_mut().find(|known| known.0 == outcome) {
            Some(known) => known.1 += count,
            None => self.outcomes.push((outcome, count)),
        }
    }

    /// Returns a name for files: of its name and the number of findings.
    pub(super) fn key(&self) -> String {
        let words = self.name.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        format!("{}-{}", words.join("-"), self.findings)
    }

    fn outcomes(&self) -> String {
        let seen = self.outcomes.iter().filter(|(_, count)| *count > 0);
        let shown: Vec<String> =
            seen.map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
        shown.join(", ")
    }
}

/// All that a campaign did.
pub(super) struct Report {
    hours: f64,
    /// What ran the targets, and what is compared by it: the machine and the sources.
    runner: Option<&'static str>,
    origin: String,
    pub(super) faults: Vec<Faults>,
    pub(super) fuzzed: Vec<Fuzzed>,
}

impl Report {
    pub(super) fn new(campaign: &Campaign, hours: f64, engine: Option<&Engine>) -> Self {
        Self {
            hours,
            runner: engine.map(Engine::name),
            origin: origin(campaign),
            faults: Vec::new(),
            fuzzed: Vec::new(),
        }
    }

    /// Writes the table as far as it is known, so that a campaign that is ended has one.
    ///
    /// # Errors
    /// Returns those of the system.
    pub(super) fn write(
        &self,
        campaign: &Campaign,
        start: Instant,
        also: Option<&Path>,
    ) -> Result<()> {
        let text = self.text(campaign, start);
        let report = campaign.folder.join("report.md");
        for path in [Some(&*report), also].into_iter().flatten() {
            // The one before stays whole if this is ended.
            let partial = path.with_extension("partial");
            fs::write(&partial, &text)
                .and_then(|()| fs::rename(&partial, path))
                .with_context(|| format!("{}", path.display()))?;
        }
        Ok(())
    }

    /// Returns the table.
    pub(super) fn text(&self, campaign: &Campaign, start: Instant) -> String {
        let mut text = format!(
            "{}; {:.2} of {} hours, seed {}, {} at the same time.\n",
            self.origin,
            start.elapsed().as_secs_f64() / 3600.0,
            self.hours,
            campaign.seed,
            campaign.jobs
        );
        if let Some(runner) = self.runner.filter(|_| !self.fuzzed.is_empty()) {
            _ = write!(
                text,
                "\n| target, by {runner} | executions | aim | edges | features | corpus | findings |\n\
                 |---|---:|---:|---:|---:|---:|---:|\n"
            );
            for done in &self.fuzzed {
                let (edges, features) = done.coverage.unzip();
                let or_dash = |number: Option<u64>| number.map_or("–".to_owned(), grouped);
                _ = writeln!(
                    text,
                    "| `{}` | {} | {} | {} | {} | {} | {} |",
                    done.name,
                    grouped(done.executions),
                    grouped(done.aim),
                    or_dash(edges),
                    or_dash(features),
                    grouped(done.corpus),
                    done.findings
                );
            }
        }
        if !self.faults.is_empty() {
            text.push_str("\n| fault | runs | how they ended | findings |\n|---|---:|---|---:|\n");
            for faults in &self.faults {
                let (name, outcomes) = (&faults.name, faults.outcomes());
                let runs = grouped(faults.runs);
                _ = writeln!(text, "| {name} | {runs} | {outcomes} | {} |", faults.findings);
            }
        }
        if let Ok(findings) = campaign.findings.lock() {
            for finding in findings.iter() {
                _ = write!(text, "\n- {finding}");
            }
        }
        text
    }
}

/// Returns the date, the commit, the processor and the toolchain.
fn origin(campaign: &Campaign) -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(&campaign.root).output();
        let text = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
        text.map(|text| String::from_utf8_lossy(&text).trim().to_owned())
    };
    let unknown = || "unknown".to_owned();
    let date = said("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown);
    let commit = said("git", &["rev-parse", "--short=9", "HEAD"]).unwrap_or_else(unknown);
    let changed = said("git", &["status", "--porcelain", "--untracked-files=no"]);
    let changed = if changed.is_some_and(|text| !text.is_empty()) { ", changed" } else { "" };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
        Some(line.trim_start_matches([' ', '\t', ':']).to_owned())
    });
    let processor = processor.or_else(|| said("sysctl", &["-n", "machdep.cpu.brand_string"]));
    let processor = processor.unwrap_or_else(unknown);
    let toolchain = said("rustc", &["--version"]).unwrap_or_else(unknown);
    format!("{date}, commit {commit}{changed}; {processor}, {cores} cores; {toolchain}")
}

/// Returns a number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let of = [0, 999, 1000, 10_000_000].map(grouped);
        assert_eq!(of, ["0", "999", "1,000", "10,000,000"]);
    }

    #[test]
    fn outcomes_are_counted() {
        let mut faults = Faults::new("`.xz`, damaged".to_owned());
        faults.add("refused", 2);
        faults.add("the same answer", 0);
        faults.add("refused", 1);
        assert_eq!((faults.runs, &*faults.outcomes()), (3, "refused 3"));
        assert_eq!(faults.key(), "xz-damaged-0");
    }
}
