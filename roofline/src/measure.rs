//! The timer: runs a subject and its limit alternately.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::system;

/// How long to measure, and what.
#[derive(Debug)]
pub(crate) struct Bench {
    /// How many turns subject and limit take each.
    rounds: usize,
    /// The minimum length of a turn.
    turn: Duration,
    /// Whether to use smaller inputs.
    pub(crate) is_quick: bool,
    /// Only measures whose names contain it are run.
    only: String,
}

/// A measure: its name, its unit, and its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure<'n> {
    /// What is measured.
    pub(crate) name: &'n str,
    /// The unit of rates.
    pub(crate) unit: Unit,
    /// What it is compared with.
    pub(crate) limit_name: &'n str,
    /// What it must reach.
    pub(crate) target: Target,
}

/// What rates count, per second: the name, and how many make one of the unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit(&'static str, f64);

impl Unit {
    pub(crate) const INSTRUCTIONS: Self = Self("M instructions/s", 1e6);
    pub(crate) const LOADS: Self = Self("M warp loads/s", 1e6);
    pub(crate) const LINES: Self = Self("M lines/s", 1e6);
    pub(crate) const BYTES: Self = Self("GB/s", 1e9);
}

/// What a measure must reach; both `None` for measures that are informational.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Target {
    /// In the measure's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<f64>,
    /// Rate over limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
}

impl Target {
    /// No target: an informational measure.
    pub(crate) const NONE: Self = Self { rate: None, ratio: None };

    /// Creates a target for the rate, whatever the limit's is.
    pub(crate) const fn rate(rate: f64) -> Self {
        Self { rate: Some(rate), ratio: None }
    }

    /// Creates a target for the ratio to the limit.
    pub(crate) const fn ratio(ratio: f64) -> Self {
        Self { rate: None, ratio: Some(ratio) }
    }

    /// Returns whether it is reached; `None` for no target.
    fn is_reached(self, rate: f64, ratio: f64) -> Option<bool> {
        let reached = |target: Option<f64>, got| target.is_none_or(|target| got >= target);
        (self != Self::NONE).then(|| reached(self.rate, rate) && reached(self.ratio, ratio))
    }
}

/// A line of the output.
#[derive(Serialize)]
struct Line<'n> {
    name: &'n str,
    rate: f64,
    unit: &'static str,
    limit: f64,
    limit_name: &'n str,
    ratio: f64,
    target: Option<Target>,
    reached: Option<bool>,
}

impl Bench {
    /// Creates a timer with turns long enough to quote the results, or shorter if `is_quick`, for the
    /// measures whose names contain `only`.
    pub(crate) fn new(is_quick: bool, only: String) -> Self {
        let (rounds, turn) = if is_quick { (7, 20) } else { (15, 50) };
        Self { rounds, turn: Duration::from_millis(turn), is_quick, only }
    }

    /// Returns whether a measure of that name is run; for skipping a costly set-up.
    pub(crate) fn wants(&self, name: &str) -> bool {
        name.contains(self.only.as_str())
    }

    /// Measures, and prints one line of JSON. Both closures do a batch of work and return how many
    /// items it had. Rates are per second of processor time.
    pub(crate) fn run(
        &self,
        measure: Measure<'_>,
        subject: impl FnMut() -> u64,
        limit: impl FnMut() -> u64,
    ) {
        self.run_by(system::cpu_time, measure, subject, limit);
    }

    /// As [`Self::run`], in the time of `clock`.
    pub(crate) fn run_by(
        &self,
        clock: Clock,
        measure: Measure<'_>,
        mut subject: impl FnMut() -> u64,
        mut limit: impl FnMut() -> u64,
    ) {
        if !self.wants(measure.name) {
            return;
        }
        let warm_up = self.turn.min(Duration::from_millis(10));
        per_second(clock, warm_up, &mut subject);
        per_second(clock, warm_up, &mut limit);
        let (mut rates, mut limits, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..self.rounds {
            // The order alternates, so that a drift favours neither.
            let (rate, limit) = if round % 2 == 0 {
                let rate = per_second(clock, self.turn, &mut subject);
                (rate, per_second(clock, self.turn, &mut limit))
            } else {
                let limit = per_second(clock, self.turn, &mut limit);
                (per_second(clock, self.turn, &mut subject), limit)
            };
            rates.push(rate);
            limits.push(limit);
            ratios.push(rate / limit);
        }
        let Measure { name, unit: Unit(unit, scale), limit_name, target } = measure;
        // The median of the ratios, not the ratio of the medians: adjacent turns are compared.
        let (rate, limit, ratio) = (median(rates) / scale, median(limits) / scale, median(ratios));
        let line = Line {
            name,
            rate: rounded(rate),
            unit,
            limit: rounded(limit),
            limit_name,
            ratio: rounded(ratio),
            target: (target != Target::NONE).then_some(target),
            reached: target.is_reached(rate, ratio),
        };
        println!("{}", serde_json::to_string(&line).expect("numbers and text are JSON"));
    }
}

/// Runs batches for at least `turn`; returns the items per second.
fn per_second(clock: Clock, turn: Duration, batch: &mut dyn FnMut() -> u64) -> f64 {
    let start = clock();
    let (mut done, mut batches) = (0, 1);
    loop {
        for _ in 0..batches {
            done += batch();
        }
        let elapsed = clock().saturating_sub(start);
        if elapsed >= turn {
            return done as f64 / elapsed.as_secs_f64();
        }
        // Else short batches would measure the clock.
        batches *= 2;
    }
}

/// Returns the time since an arbitrary fixed moment.
pub(crate) type Clock = fn() -> Duration;

/// Returns the time that has passed, for work on several threads.
pub(crate) fn wall_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Rounds to three significant digits: more would be noise.
fn rounded(value: f64) -> f64 {
    let digits = 2 - value.abs().max(1e-9).log10().floor() as i32;
    let scale = 10f64.powi(digits);
    // Dividing by a power of ten, not multiplying by its inverse, produces the shortest decimal.
    if digits < 0 {
        (value * scale).round() * 10f64.powi(-digits)
    } else {
        (value * scale).round() / scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        assert_eq!(rounded(0.123456), 0.123);
        assert_eq!(rounded(1234.5), 1230.0);
        assert_eq!(rounded(12.345), 12.3);
    }

    #[test]
    fn the_one_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn targets() {
        assert_eq!(Target::NONE.is_reached(1.0, 1.0), None);
        assert_eq!(Target::rate(2.0).is_reached(2.0, 0.1), Some(true));
        assert_eq!(Target::ratio(0.5).is_reached(2.0, 0.1), Some(false));
    }
}
