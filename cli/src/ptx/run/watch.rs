//! [`watched`]: launches a kernel while a terminal shows how far it is.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpload_ptx::launch::LaunchWatch;

use crate::name::visible;
use crate::options::Progress;

/// The time between two updates.
const PERIOD: Duration = Duration::from_millis(200);

/// A launch that ends sooner shows nothing: a bar that flashes by is no help.
const WORTH_A_BAR: Duration = Duration::from_secs(1);

/// Calls `run` with a watch. Meanwhile the blocks and instructions so far are shown on standard error, if it is a terminal.
pub(crate) fn watched<T>(
    progress: Progress,
    name: &str,
    blocks: u64,
    run: impl FnOnce(&LaunchWatch) -> T,
) -> T {
    let watch = LaunchWatch::new();
    if progress == Progress::Never {
        return run(&watch);
    }
    let begun = Instant::now();
    // Dropped at the end of the launch, even by a panic.
    let (ends, ended) = mpsc::channel::<()>();
    let watch = &watch;
    thread::scope(move |scope| {
        scope.spawn(move || {
            let shown = Shown::new(name, blocks);
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if progress == Progress::Always || begun.elapsed() >= WORTH_A_BAR {
                    shown.bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                shown.update(watch);
            }
            shown.bar.finish_and_clear();
        });
        let result = run(watch);
        drop(ends);
        result
    })
}

/// The bar of a launch. A launch of one block has no known end.
struct Shown {
    bar: ProgressBar,
}

impl Shown {
    fn new(name: &str, blocks: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(blocks), ProgressDrawTarget::hidden())
            .with_prefix(visible(name).into_owned());
        let template = if blocks > 1 {
            "{prefix} {wide_bar} {human_pos}/{human_len} blocks, {msg} {eta}"
        } else {
            "{prefix} {msg} {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar }
    }

    fn update(&self, watch: &LaunchWatch) {
        let instructions = watch.warp_instructions.load(Ordering::Relaxed);
        self.bar.set_message(format!("{} warp instructions", HumanCount(instructions)));
        self.bar.set_position(watch.blocks.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_blocks_and_instructions() {
        let watch = LaunchWatch::new();
        watch.blocks.store(1, Ordering::Relaxed);
        watch.warp_instructions.store(1_234_567, Ordering::Relaxed);
        let shown = Shown::new("k.ptx\u{1b}[2J", 2048);
        shown.update(&watch);
        assert_eq!(shown.bar.message(), "1,234,567 warp instructions");
        assert_eq!((shown.bar.position(), shown.bar.length()), (1, Some(2048)));
        assert!(!shown.bar.prefix().contains('\u{1b}'));
    }

    #[test]
    fn the_result_comes_back() {
        for progress in [Progress::Never, Progress::Auto, Progress::Always] {
            assert_eq!(watched(progress, "k", 3, |_| 42), 42);
        }
    }
}
