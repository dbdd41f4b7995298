//! The one timer: a subject and its limit, in turn.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde::Serialize;

/// How long is measured.
#[derive(Debug)]
pub(crate) struct Bench {
    /// How often subject and limit take turns.
    rounds: usize,
    /// How long a turn lasts at least.
    turn: Duration,
    /// Whether inputs are to be small, too.
    pub(crate) is_quick: bool,
    /// Measures whose names do not contain it are left out.
    only: String,
}

/// What a measure is called and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    /// What is measured.
    pub(crate) name: &'static str,
    /// The unit of rates.
    pub(crate) unit: Unit,
    /// What it is measured beside.
    pub(crate) limit_name: &'static str,
    /// What is to be reached.
    pub(crate) target: Target,
}

/// What rates count, per second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Instructions.
    Instructions,
    /// Warp loads.
    Loads,
    /// Lines of text.
    Lines,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The name, and how many things are one of the unit.
    fn scale(self) -> (&'static str, f64) {
        match self {
            Self::Instructions => ("M instructions/s", 1e6),
            Self::Loads => ("M warp loads/s", 1e6),
            Self::Lines => ("M lines/s", 1e6),
            Self::Bytes => ("GB/s", 1e9),
        }
    }
}

/// What is to be reached; nothing where a measure is for information.
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
    /// Measured for information.
    pub(crate) const NONE: Self = Self { rate: None, ratio: None };

    /// A rate that does not depend on the limit's.
    pub(crate) const fn rate(rate: f64) -> Self {
        Self { rate: Some(rate), ratio: None }
    }

    /// A part, or a multiple, of the limit.
    pub(crate) const fn ratio(ratio: f64) -> Self {
        Self { rate: None, ratio: Some(ratio) }
    }

    /// Whether it is reached; nothing where there is none.
    fn is_reached(self, rate: f64, ratio: f64) -> Option<bool> {
        let reached = |target: Option<f64>, got| target.is_none_or(|target| got >= target);
        (self != Self::NONE).then(|| reached(self.rate, rate) && reached(self.ratio, ratio))
    }
}

/// A line of the output.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    rate: f64,
    unit: &'static str,
    limit: f64,
    limit_name: &'static str,
    ratio: f64,
    target: Option<Target>,
    reached: Option<bool>,
}

impl Bench {
    /// Long enough to be quoted, or for a first impression; of the measures whose names contain
    /// `only`.
    pub(crate) fn new(is_quick: bool, only: String) -> Self {
        let (rounds, turn) = if is_quick { (7, 20) } else { (15, 50) };
        Self { rounds, turn: Duration::from_millis(turn), is_quick, only }
    }

    /// Whether a measure of that name is to run; to be asked before a costly set-up.
    pub(crate) fn wants(&self, name: &str) -> bool {
        name.contains(self.only.as_str())
    }

    /// Measures and prints one line of JSON. Both closures do a batch of work and give how many
    /// things they did. Rates are of the time that the processor worked for them.
    pub(crate) fn run(
        &self,
        measure: Measure,
        subject: impl FnMut() -> u64,
        limit: impl FnMut() -> u64,
    ) {
        self.run_by(cpu_time, measure, subject, limit);
    }

    /// As [`Self::run`], by the clock on the wall: for work on several threads.
    pub(crate) fn run_parallel(
        &self,
        measure: Measure,
        subject: impl FnMut() -> u64,
        limit: impl FnMut() -> u64,
    ) {
        self.run_by(wall_time, measure, subject, limit);
    }

    fn run_by(
        &self,
        clock: Clock,
        measure: Measure,
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
            // Who is first changes, so that a drift favours nobody.
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
        let Measure { name, unit, limit_name, target } = measure;
        let (unit, scale) = unit.scale();
        // The median of the ratios, not the ratio of the medians: neighbours in time are compared.
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

/// Does batches for at least that long.
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
        // Short batches must not measure the clock.
        batches *= 2;
    }
}

/// The time since some moment.
type Clock = fn() -> Duration;

/// What all threads of this process have computed: what others do on the same cores does not
/// count.
#[cfg(unix)]
fn cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // A process's time is never negative, and its nanoseconds are fewer than 10^9.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    wall_time()
}

fn wall_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Three significant digits: more would be noise.
fn rounded(value: f64) -> f64 {
    let digits = 2 - value.abs().max(1e-9).log10().floor() as i32;
    let scale = 10f64.powi(digits);
    // Dividing by a power of ten, not multiplying by its inverse, gives the shortest decimal.
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
