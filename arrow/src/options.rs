//! [`LoadOptions`]: which loads become rows, and what is known of them.

use std::fmt::Write;
use std::num::NonZero;

use warpload::memory::{Fill, Window};
use warpload_replay::{ReplayData, ReplayOptions};

/// Which loads become rows, what memory holds, and what columns there are.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions<'a> {
    replay: ReplayOptions<'a>,
    has_values: bool,
    threads: NonZero<usize>,
}

impl<'a> LoadOptions<'a> {
    /// Creates the options of rows whose costs are those of a replay with these options. Its data, its
    /// addresses and its selection of loads matter here; a shard does not.
    #[must_use]
    pub fn new(replay: ReplayOptions<'a>) -> Self {
        Self { replay, has_values: false, threads: NonZero::<usize>::MIN }
    }

    /// Sets whether there is a column of values, by default not.
    #[must_use]
    pub fn values(mut self, has_values: bool) -> Self {
        self.has_values = has_values;
        self
    }

    /// Sets how many threads of the current rayon pool make batches, by default one: the caller's own.
    #[must_use]
    pub fn threads(mut self, threads: NonZero<usize>) -> Self {
        self.threads = threads;
        self
    }

    /// Returns the options of the replay whose costs the rows have.
    #[must_use]
    pub fn get_replay(&self) -> &ReplayOptions<'a> {
        &self.replay
    }

    /// Returns whether there is a column of values.
    #[must_use]
    pub fn get_values(&self) -> bool {
        self.has_values
    }

    /// Returns how many threads make batches.
    #[must_use]
    pub fn get_threads(&self) -> NonZero<usize> {
        self.threads
    }
}

/// Returns a replay's options as the command has them, such as `--fill address --address-bits 49`.
pub(crate) fn in_words(options: &ReplayOptions<'_>) -> String {
    let mut text = String::new();
    match options.get_data() {
        ReplayData::Image(_) => text += "--image",
        ReplayData::Fill(Fill::Address) => text += "--fill address",
        ReplayData::Fill(Fill::Zero) => text += "--fill zero",
        _ => {}
    }
    if !matches!(options.get_data(), ReplayData::Image(_)) {
        let _ = write!(text, " --address-bits {}", options.get_address_bits());
        let (shared, local) = (options.get_shared_window(), options.get_local_window());
        for (name, window) in [("shared", shared), ("local", local)] {
            if let Some(Window { base, size }) = window {
                let _ = write!(text, " --{name}-window {base:#x},{size:#x}");
            }
        }
    }
    if let Some(selection) = options.get_selection() {
        let selected = &selection.selected;
        for (name, value) in [
            ("kernel", &selected.kernel),
            ("pc", &selected.pc),
            ("opcode", &selected.opcode),
            ("space", &selected.space),
        ] {
            if let Some(value) = value {
                let _ = write!(text, " --{name} {value}");
            }
        }
    }
    text.trim_start().to_owned()
}
