//! [`html`]: the parts of the page, in order.

use super::context::{Context, LONG_NAME, ReportPage};
use super::panel::{self, Panel};
use super::rows::{Rows, SPACES, listed, space};
use super::text::{cut, escape};
use super::{constant, faults, global, kernels, local, overview, reuse, shared, stores};
use crate::Selected;

/// The style sheet.
const STYLE: &str = include_str!("page.css");
/// Makes tabs of the answers, filters and sorts; without it everything is there, one after another.
const SCRIPT: &str = include_str!("page.js");
/// Nothing is fetched, whatever names in the trace contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns the page, to be stored as UTF-8.
#[must_use]
pub fn html(page: &ReportPage<'_>) -> String {
    let rows = &Rows::new(page.replayed);
    let kernels = (page.contents.kernels.len() != 1).then(|| listed(&page.summary.kernels));
    let context = Context { page, rows, kernels };
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{} – warpload replay</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(page.title)
    );
    html += &header(&context);
    html += "<main>\n";
    html += &overview::headline(page);
    html += &overview::mismatches(page.summary);
    html += &filters(&context);
    html += &kernels::kernels(&context).unwrap_or_default();
    let answers = [
        global::answer(&context),
        stores::answer(&context),
        shared::answer(&context),
        local::answer(&context),
        constant::answer(&context),
        reuse::answer(&context),
    ];
    let panels: Vec<Panel> = answers.into_iter().chain(faults::faults(&context)).collect();
    html += &panel::html(&panels);
    html += &format!(
        "</main>\n<footer>A sector is 32 bytes of global memory. The ideal is the fewest sectors that \
         the distinct bytes of a load fit into. A wavefront is what the 32 banks of shared memory \
         serve at once. warpload {}</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    html
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
    let lines: Vec<String> = lines.into_iter().map(|line| format!("<p>{line}</p>\n")).collect();
    format!("<header><h1>{}</h1>\n{}</header>\n", escape(page.title), lines.concat())
}

/// Returns the filters, which the script shows: without it they can do nothing.
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
