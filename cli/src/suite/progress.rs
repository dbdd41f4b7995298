//! [`Asked`]: how many cases were asked, shown while that goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use warpload_suite::outcome::{CaseOutcome, CaseVerdict};

use crate::options::Progress;

/// A count of the cases that were asked, on standard error if that is a terminal. How many there are is not
/// known before all files are read.
pub(crate) struct Asked {
    bar: ProgressBar,
    failed: AtomicU64,
    /// After how long it is shown.
    delay: Duration,
}

/// What takes less time needs no count.
const DELAY: Duration = Duration::from_secs(1);

impl Asked {
    pub(crate) fn new(progress: Progress) -> Self {
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
        Self { bar, failed: AtomicU64::new(0), delay }
    }

    /// Counts a case, if it was asked.
    pub(super) fn add(&self, outcome: &CaseOutcome) {
        if outcome.answered.is_none() {
            return;
        }
        if self.bar.is_hidden() && self.bar.elapsed() >= self.delay {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if matches!(outcome.verdict, CaseVerdict::Failed(_)) {
            let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
            self.bar.set_message(failed.to_string());
        }
        self.bar.inc(1);
    }

    /// Calls a function that writes, without the count on the screen.
    pub(super) fn hidden<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
