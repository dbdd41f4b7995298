//! [`ReportPage`]: what a page shows, and what all its answers need.

use super::rows::Rows;
use super::text::cut;
use crate::{KernelSummary, Replayed, Summary, Survey};
use warpload_trace::TraceContents;

/// What a page shows: a replay, its summary and its survey.
#[derive(Clone, Copy, Debug)]
pub struct ReportPage<'p> {
    pub(super) title: &'p str,
    pub(super) data: &'p str,
    pub(super) contents: &'p TraceContents,
    pub(super) replayed: &'p Replayed<'p>,
    pub(super) summary: &'p Summary,
    pub(super) survey: &'p Survey,
}

impl<'p> ReportPage<'p> {
    /// Creates the page of a replay, with its summary and its survey.
    #[must_use]
    pub fn new(replayed: &'p Replayed<'p>, summary: &'p Summary, survey: &'p Survey) -> Self {
        let contents = replayed.trace().contents();
        Self { title: "Trace", data: "", contents, replayed, summary, survey }
    }

    /// Sets the name of the trace, by default `Trace`.
    #[must_use]
    pub fn title(mut self, title: &'p str) -> Self {
        self.title = title;
        self
    }

    /// Sets what the page says about the origin of the data, by default nothing.
    #[must_use]
    pub fn data(mut self, data: &'p str) -> Self {
        self.data = data;
        self
    }
}

/// What all answers need.
pub(super) struct Context<'c> {
    pub(super) page: &'c ReportPage<'c>,
    pub(super) rows: &'c Rows<'c>,
    /// The kernels that are listed; `None` if the trace has a single one.
    pub(super) kernels: Option<Vec<usize>>,
}

/// The most characters of a kernel's name in places that have room for a long one.
pub(super) const LONG_NAME: usize = 200;

impl Context<'_> {
    /// Returns the number of a kernel in the whole trace, of which a shard can have a part.
    pub(super) fn number(&self, kernel: usize) -> usize {
        self.page.replayed.trace().first_kernel() + kernel
    }

    /// Returns the name that the page has for a kernel, as HTML, cut after `most` characters.
    pub(super) fn name(&self, kernel: usize, most: usize) -> String {
        let kernel = self.page.summary.kernels.get(kernel);
        cut(kernel.map_or("", KernelSummary::shown_name), most)
    }
}
