//! [`Panel`]: one answer of the page. The script shows one at a time, as tabs.

use super::text::count;

/// A part of the page with a heading.
pub(super) struct Panel {
    pub(super) id: &'static str,
    /// What the tab is called.
    pub(super) tab: &'static str,
    pub(super) title: &'static str,
    /// How many rows or drawings it has: an empty one says so in its tab.
    pub(super) rows: Option<usize>,
    pub(super) body: String,
}

/// Returns the panels after links to each.
pub(super) fn html(panels: &[Panel]) -> String {
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
