//! [`html`]: the page of a replay, a [`ReportPage`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::findings::{Finding, findings};
use super::launch;
use super::overview::{facts, faults, mismatches, verdict};
use super::rows::{Totals, instructions, marked};
use super::sums::{kernels, source_lines};
use super::table::{Cell, LONG_NAME};
use super::text::{cut, escape, of};
use warpload_ptx::launch::KernelResult;
use warpload_replay::{LaunchSummary, Row, Summary};

/// Sorts tables, filters the instructions and brings the worst one into view. Without it the page shows the same.
const SCRIPT: &str = include_str!("page.js");

/// Returns the page, to be stored as UTF-8.
#[must_use]
pub fn html(page: &ReportPage<'_>) -> String {
    let summary = match page.by_launch {
        true => Cow::Borrowed(page.summary),
        false => page.summary.by_kernel(),
    };
    let context = Context::new(page, &summary);
    let title = format!("{} – warpload replay", escape(page.title));
    let mut html = begin_page(&title, "; script-src 'unsafe-inline'");
    html += &header(&context);
    html += "<main>\n";
    // First, because the counts after a fault may be worth nothing.
    html += &page.launch.and_then(launch::faults).unwrap_or_default();
    let sections = [verdict, facts, instructions, faults, mismatches, kernels, source_lines];
    sections.iter().for_each(|section| html += &section(&context));
    html += "</main>\n";
    html += &footer(
        "A sector is 32 bytes of global or local memory, and the ideal is the fewest sectors that hold \
         the distinct bytes of an access. A wavefront is one pass of the 32 banks of shared memory, \
         which each serve one word in it.",
    );
    html + &format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

/// The beginning of a page up to its body. Its policy forbids all requests, whatever names the trace contains. It also
/// forbids scripts, unless `allowed` adds more.
pub(crate) fn begin_page(title: &str, allowed: &str) -> String {
    let style = include_str!("page.css");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'{allowed}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    )
}

pub(crate) fn footer(glossary: &str) -> String {
    format!("<footer>{glossary} warpload {}</footer>\n", env!("CARGO_PKG_VERSION"))
}

/// The title, what was launched and replayed, and notes.
fn header(context: &Context<'_>) -> String {
    let Context { page, summary, .. } = context;
    let (mut names, mut facts) = (String::new(), Vec::new());
    if let [kernel] = summary.launches.as_slice() {
        names = format!("<code>{}</code> ", cut(kernel.shown_name(), LONG_NAME));
        facts.push(format!("grid {}", dimensions(kernel.grid)));
        facts.push(format!("block {}", dimensions(kernel.block)));
        facts.extend((kernel.launches > 1).then(|| of(kernel.launches, "launch")));
    }
    let selected = summary.selected.as_ref();
    facts.extend(selected.map(|of| format!("only {}", cut(&of.to_string(), LONG_NAME))));
    facts.extend(summary.shard.as_ref().map(|shard| escape(&shard.to_string())));
    if !page.data.is_empty() {
        facts.push(format!("data: {}", escape(page.data)));
    }
    let mut lines = Vec::new();
    if !names.is_empty() || !facts.is_empty() {
        lines.push(format!("{names}<span class=\"dim\">{}</span>", facts.join(" · ")));
    }
    lines.extend(page.launch.iter().flat_map(|result| launch::notes(result, page.notes)));
    let lines: String = lines.into_iter().map(|line| format!("<p>{line}</p>\n")).collect();
    format!("<header><h1>{}</h1>\n{lines}</header>\n", escape(page.title))
}

pub(crate) fn dimensions([x, y, z]: [u32; 3]) -> String {
    format!("{x} × {y} × {z}")
}

/// The contents of a page: a summary and its origin.
#[derive(Clone, Copy, Debug)]
pub struct ReportPage<'p> {
    pub(crate) title: &'p str,
    pub(crate) data: &'p str,
    pub(crate) summary: &'p Summary,
    pub(crate) by_launch: bool,
    pub(crate) launch: Option<&'p KernelResult>,
    pub(crate) notes: &'p [String],
}

impl<'p> ReportPage<'p> {
    /// Creates the page of a summary, with the launches of each kernel added up.
    #[must_use]
    pub fn new(summary: &'p Summary) -> Self {
        Self { title: "Trace", data: "", summary, by_launch: false, launch: None, notes: &[] }
    }

    /// Sets the name of the trace, by default `Trace`.
    #[must_use]
    pub fn title(mut self, title: &'p str) -> Self {
        self.title = title;
        self
    }

    /// Sets the text about the data that loads read, such as the image's name; by default there is none.
    #[must_use]
    pub fn data(mut self, data: &'p str) -> Self {
        self.data = data;
        self
    }

    /// Sets whether each launch of a kernel is shown by itself.
    #[must_use]
    pub fn by_launch(mut self, by_launch: bool) -> Self {
        self.by_launch = by_launch;
        self
    }

    /// Adds the faults of the launch that the trace is of, and lines about it.
    #[must_use]
    pub fn launch(mut self, result: &'p KernelResult, notes: &'p [String]) -> Self {
        (self.launch, self.notes) = (Some(result), notes);
        self
    }
}

/// The data that all sections share.
pub(crate) struct Context<'c> {
    pub(crate) page: &'c ReportPage<'c>,
    /// By kernel, or by launch.
    pub(crate) summary: &'c Summary,
    pub(crate) findings: Vec<Finding<'c>>,
    /// The places of the rows that the findings are about.
    pub(crate) marked: BTreeSet<usize>,
    pub(crate) totals: Totals,
    /// Whether there are several kernels, or launches.
    pub(crate) several: bool,
}

impl<'c> Context<'c> {
    fn new(page: &'c ReportPage<'c>, summary: &'c Summary) -> Self {
        let findings = findings(summary);
        Self {
            page,
            summary,
            marked: marked(summary, &findings),
            findings,
            totals: Totals::new(&summary.counts.all()),
            several: summary.launches.len() > 1,
        }
    }

    /// A cell with the name of a row's kernel, cut after `most` characters.
    pub(crate) fn kernel(&self, row: &Row, most: usize) -> Cell {
        let launch = self.summary.launch(row.launch);
        let name = launch.map_or(&*row.kernel, LaunchSummary::shown_name);
        Cell::code(&self.numbered(row.launch, name), most)
    }

    /// The name of a kernel, with the number of its launch if the page has all of them.
    pub(crate) fn numbered(&self, launch: u64, name: &str) -> String {
        if self.page.by_launch { format!("#{launch} {name}") } else { name.to_owned() }
    }

    /// The place of a row in the summary, which its element on the page is named by.
    pub(crate) fn place(&self, row: &Row) -> usize {
        self.summary.rows.iter().position(|other| std::ptr::eq(row, other)).unwrap_or(0)
    }
}
