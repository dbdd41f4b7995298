//! [`html`]: the page of a replay, a [`ReportPage`], from its panels.

use super::memories::{constant, copies, global, local, shared, stores};
use super::overview::{faults, kernel_table};
use super::rows::{Rows, SPACES, listed, space};
use super::text::{count, cut, escape};
use super::{launch, overview};
use warpload::memory::Fill;
use warpload_ptx::machine::KernelResult;
use warpload_replay::{KernelSummary, ReplayData, Replayed, Selected, Summary};
use warpload_trace::TraceContents;

/// Turns the panels into tabs, and filters and sorts tables. Without it the page shows all panels one after another.
const SCRIPT: &str = include_str!("page.js");
/// Returns the page, to be stored as UTF-8.
#[must_use]
pub fn html(page: &ReportPage<'_>) -> String {
    let rows = &Rows::new(page.replayed);
    let kernels = (page.contents.kernels.len() != 1).then(|| listed(&page.summary.kernels));
    let context = Context { page, rows, kernels };
    let title = format!("{} – warpload replay", escape(page.title));
    let mut html = begin_page(&title, "; script-src 'unsafe-inline'");
    html += &header(&context);
    html += "<main>\n";
    html += &overview::headline(page);
    html += &overview::mismatches(page.summary);
    html += &filters(&context);
    html += &kernel_table(&context).unwrap_or_default();
    let answers =
        [global(&context), stores(&context), shared(&context), local(&context), constant(&context)];
    let panels: Vec<Panel> =
        answers.into_iter().chain(copies(&context)).chain(faults(&context)).collect();
    // First, because the counts after a fault may be worth nothing.
    let of_launch = page.launch.and_then(launch::faults);
    let panels: Vec<Panel> = of_launch.into_iter().chain(panels).collect();
    html += &tabs(&panels);
    html += &format!(
        "</main>\n<footer>A sector is 32 bytes of global memory. The ideal is the fewest sectors that \
         the distinct bytes of a load fit into. A wavefront is one pass of the 32 banks of shared \
         memory. warpload {}</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    html
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

fn header(context: &Context<'_>) -> String {
    let page = context.page;
    let mut lines = Vec::new();
    if let [kernel] = page.contents.kernels.as_slice() {
        let dimensions = |[x, y, z]: [u32; 3]| format!("{x} × {y} × {z}");
        lines.push(format!(
            "<code>{}</code> <span class=\"dim\">grid {}, block {}</span>",
            context.name(0, LONG_NAME),
            dimensions(kernel.grid),
            dimensions(kernel.block)
        ));
    }
    let mut facts = Vec::new();
    if !page.data.is_empty() {
        facts.push(escape(page.data));
    }
    if let Some(shard) = page.replayed.options().get_shard() {
        facts.push(format!("shard {} of {}", shard.index(), shard.count()));
    }
    if let Some(selected) = &page.summary.selected {
        let Selected { kernel, pc, opcode, space } = selected;
        let choices = [("kernel", kernel), ("pc", pc), ("opcode", opcode), ("memory", space)];
        let word = |(what, choice): (&str, &Option<String>)| {
            choice.as_ref().map(|choice| format!("{what} {}", cut(choice, LONG_NAME)))
        };
        let words: Vec<String> = choices.into_iter().filter_map(word).collect();
        facts.push(format!("only loads of {}", words.join(", ")));
    }
    if !page.contents.tools.is_empty() {
        let tools: Vec<String> = page.contents.tools.iter().map(|tool| escape(tool)).collect();
        facts.push(format!("traced by {}", tools.join(", ")));
    }
    if !page.contents.source.is_empty() {
        facts.push(format!("trace made by {}", escape(&page.contents.source)));
    }
    if !facts.is_empty() {
        lines.push(format!("<span class=\"dim\">{}</span>", facts.join(" · ")));
    }
    lines.extend(page.contents.notes.iter().map(|note| format!("Note: {}", escape(note))));
    if let Some(result) = page.launch {
        lines.extend(launch::notes(result, page.notes));
    }
    let lines: Vec<String> = lines.into_iter().map(|line| format!("<p>{line}</p>\n")).collect();
    format!("<header><h1>{}</h1>\n{}</header>\n", escape(page.title), lines.concat())
}

/// The filters, hidden until the script shows them, because they need it.
fn filters(context: &Context<'_>) -> String {
    let mut html =
        "<div id=\"filters\" role=\"search\" aria-label=\"Filter the tables\" hidden>\n".to_owned();
    if context.kernels.is_some() {
        html += "<label>Kernel <input type=\"search\" id=\"filter-kernel\" placeholder=\"number or part \
                 of the name\" autocomplete=\"off\"></label>\n";
    }
    html += "<label>Memory <select id=\"filter-space\"><option value=\"\">all</option>";
    let has = |name: &&str| context.rows.all().any(|row| space(row) == *name);
    for name in SPACES.into_iter().filter(has) {
        html += &format!("<option>{name}</option>");
    }
    html + "</select></label>\n<output aria-live=\"polite\"></output></div>\n"
}

/// The contents of a page: a replay and its summary.
#[derive(Clone, Copy, Debug)]
pub struct ReportPage<'p> {
    pub(crate) title: &'p str,
    pub(crate) data: &'p str,
    pub(crate) contents: &'p TraceContents,
    pub(crate) replayed: &'p Replayed<'p>,
    pub(crate) summary: &'p Summary,
    pub(crate) launch: Option<&'p KernelResult>,
    pub(crate) notes: &'p [String],
}

impl<'p> ReportPage<'p> {
    /// Creates the page of a replay, with its summary.
    #[must_use]
    pub fn new(replayed: &'p Replayed<'p>, summary: &'p Summary) -> Self {
        let contents = replayed.trace().contents();
        let data = match replayed.options().get_data() {
            ReplayData::Image(_) => "a memory image",
            ReplayData::Fill(Fill::Address) => "memory filled with a function of the address",
            ReplayData::Fill(Fill::Zero) => "memory filled with zeroes",
            _ => "no data, all addresses allocated",
        };
        let (launch, notes) = (None, &[][..]);
        Self { title: "Trace", data, contents, replayed, summary, launch, notes }
    }

    /// Sets the name of the trace, by default `Trace`.
    #[must_use]
    pub fn title(mut self, title: &'p str) -> Self {
        self.title = title;
        self
    }

    /// Adds the faults of the launch that the trace is of, and lines about it.
    #[must_use]
    pub fn launch(mut self, result: &'p KernelResult, notes: &'p [String]) -> Self {
        (self.launch, self.notes) = (Some(result), notes);
        self
    }

    /// Sets the text about the origin of the data, such as the image's name; the replay's options by default.
    #[must_use]
    pub fn data(mut self, data: &'p str) -> Self {
        self.data = data;
        self
    }
}

/// The data shared by all panels.
pub(crate) struct Context<'c> {
    pub(crate) page: &'c ReportPage<'c>,
    pub(crate) rows: &'c Rows<'c>,
    /// The listed kernels; `None` if the trace has a single one.
    pub(crate) kernels: Option<Vec<usize>>,
}

/// The maximum length of a kernel's name where there is space for a long one.
pub(crate) const LONG_NAME: usize = 200;

impl Context<'_> {
    /// The name of a kernel on the page, as HTML, cut after `most` characters.
    pub(crate) fn name(&self, kernel: usize, most: usize) -> String {
        let kernel = self.page.summary.kernels.get(kernel);
        cut(kernel.map_or("", KernelSummary::shown_name), most)
    }
}

/// A part of the page with a heading.
pub(crate) struct Panel {
    pub(crate) id: &'static str,
    /// The text of its tab.
    pub(crate) tab: &'static str,
    pub(crate) title: &'static str,
    /// The number of rows or drawings, shown in the tab so that empty panels are recognizable.
    pub(crate) rows: Option<usize>,
    pub(crate) body: String,
}

/// Links to the panels, then the panels.
fn tabs(panels: &[Panel]) -> String {
    let mut html = "<nav id=\"answers\" aria-label=\"Answers\"><ul>\n".to_owned();
    for Panel { id, tab, rows, .. } in panels {
        let rows = rows.map(|rows| format!(" <span class=\"rows\">{}</span>", count(rows as u64)));
        html += &format!("<li><a href=\"#{id}\">{tab}{}</a></li>\n", rows.unwrap_or_default());
    }
    html += "</ul></nav>\n";
    for Panel { id, title, body, .. } in panels {
        html +=
            &format!("<section class=\"panel\" id=\"{id}\"><h2>{title}</h2>\n{body}</section>\n");
    }
    html
}
