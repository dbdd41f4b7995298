//! [`Asked`]: a running count of the cases that were asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use warpload_suite::outcome::{CaseFailureKind, CaseOutcome, CaseVerdict};
use warpload_suite::runner::EXPECTED_LINES;

use crate::diagnostic;
use crate::options::Progress;

/// A count of the cases that were asked, on standard error if it is a terminal. Their total is unknown until all files
/// are read.
pub(crate) struct Asked {
    bar: ProgressBar,
    failed: AtomicU64,
    /// The delay before the count appears.
    delay: Duration,
    /// The name of the program.
    program: String,
}

/// A shorter run needs no count.
const DELAY: Duration = Duration::from_secs(1);

impl Asked {
    pub(crate) fn new(progress: Progress, program: &str) -> Self {
        let delay = match progress {
            Progress::Never => Duration::MAX,
            Progress::Auto => DELAY,
            Progress::Always => Duration::ZERO,
        };
        let bar = ProgressBar::hidden();
        let template = "{pos} cases asked, {msg} failed, {elapsed}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message("0");
        Self { bar, failed: AtomicU64::new(0), delay, program: program.to_owned() }
    }

    /// Counts a case, if it was asked. Warns already if the first case has no answer in time, because the program may
    /// never give any.
    pub(super) fn add(&self, outcome: &CaseOutcome) {
        if outcome.answered.is_none() {
            return;
        }
        if self.bar.is_hidden() && self.bar.elapsed() >= self.delay {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if let CaseVerdict::Failed(failure) = &outcome.verdict {
            if let (0, CaseFailureKind::Timeout(after)) = (self.bar.position(), failure.kind) {
                let (program, seconds) = (&self.program, after.as_secs_f64());
                let message = format!(
                    "{program}: no answer to the first question within {seconds} s; {EXPECTED_LINES}"
                );
                self.hidden(|| diagnostic::warning(message));
            }
            let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
            self.bar.set_message(failed.to_string());
        }
        self.bar.inc(1);
    }

    /// Hides the count while a function writes.
    pub(super) fn hidden<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
