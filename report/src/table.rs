//! [`table`]: tables that a reader can sort, from columns that are described once. A column without content is left
//! out.

use std::fmt::Display;

use super::text::{count, cut, escape};

/// The maximum length of a text with a place for itself.
pub(crate) const LONG_NAME: usize = 200;

/// A cell of a table.
pub(crate) struct Cell {
    /// The value to sort by; the text otherwise.
    value: Option<String>,
    title: Option<String>,
    class: &'static str,
    html: String,
    is_number: bool,
}

impl Cell {
    /// A cell with HTML.
    pub(crate) fn text(html: String) -> Self {
        Self { value: None, title: None, class: "", html, is_number: false }
    }

    /// A name or code, cut after `most` characters. The cell's tooltip has the rest.
    pub(crate) fn code(text: &str, most: usize) -> Self {
        let is_cut = text.chars().nth(most).is_some();
        let title = is_cut.then(|| cut(text, LONG_NAME));
        Self { title, class: "name", ..Self::text(format!("<code>{}</code>", cut(text, most))) }
    }

    /// A count, its digits in groups of three.
    pub(crate) fn count(number: u64) -> Self {
        Self::number(number as f64, count(number))
    }

    /// A number with HTML that shows it.
    pub(crate) fn number(number: f64, html: String) -> Self {
        // Whole numbers are exact below 2^53; for others these digits suffice to sort them.
        let value = if number.fract() == 0.0 { number.to_string() } else { format!("{number:.4}") };
        Self { is_number: true, ..Self::text(html) }.sorted(value)
    }

    /// Sorts the cell by `value`.
    pub(crate) fn sorted(self, value: impl Display) -> Self {
        Self { value: Some(escape(&value.to_string())), ..self }
    }

    pub(crate) fn title(self, title: &str) -> Self {
        Self { title: Some(cut(title, 2 * LONG_NAME)), ..self }
    }

    pub(crate) fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    fn html(&self, heads_row: bool) -> String {
        let Self { value, title, html, .. } = self;
        let mut tag = if heads_row { "th scope=\"row\"" } else { "td" }.to_owned();
        let number = if self.is_number { "n" } else { "" };
        let class = format!("{number} {}", self.class);
        let class = class.trim();
        for (name, value) in [("class", Some(class)), ("data-v", value.as_deref())] {
            let value = value.filter(|value| name != "class" || !value.is_empty());
            tag += &value.map(|value| format!(" {name}=\"{value}\"")).unwrap_or_default();
        }
        tag += &title.as_ref().map(|title| format!(" title=\"{title}\"")).unwrap_or_default();
        format!("<{tag}>{html}</{}>", if heads_row { "th" } else { "td" })
    }
}

/// A column: its key for sorting, its heading, and its cell in a row, if that has one.
pub(crate) type Column<'c, R> = (&'static str, &'static str, &'c dyn Fn(&R) -> Option<Cell>);

/// Returns a table of rows that ascend by the column with the key `sorted`. The first column heads its row.
pub(crate) fn table<R>(
    id: &str,
    caption: &str,
    columns: &[Column<'_, R>],
    sorted: &str,
    rows: &[R],
    attributes: impl Fn(&R) -> String,
) -> String {
    let cells = columns.iter().map(|(key, heading, cell)| {
        (*key, *heading, rows.iter().map(cell).collect::<Vec<Option<Cell>>>())
    });
    let columns: Vec<_> = cells.filter(|(.., cells)| cells.iter().any(Option::is_some)).collect();
    let is_number =
        |cells: &[Option<Cell>]| cells.iter().flatten().next().is_some_and(|cell| cell.is_number);
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"{id}-caption\">\
         <table class=\"sortable\" id=\"{id}\">\n<caption id=\"{id}-caption\">{caption}</caption>\n\
         <thead><tr>"
    );
    for (key, heading, cells) in &columns {
        let class = if is_number(cells) { " class=\"n\"" } else { "" };
        let order = if *key == sorted { " aria-sort=\"ascending\"" } else { "" };
        html += &format!("<th scope=\"col\" data-key=\"{key}\"{class}{order}>{heading}</th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for (number, row) in rows.iter().enumerate() {
        html += &format!("<tr{}>", attributes(row));
        for (column, (.., cells)) in columns.iter().enumerate() {
            html += &match &cells[number] {
                Some(cell) => cell.html(column == 0),
                // Sorted below zero.
                None if is_number(cells) => "<td class=\"n dim\" data-v=\"-1\">-</td>".to_owned(),
                None => "<td class=\"dim\" data-v=\"\">-</td>".to_owned(),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// Returns a section of a page. `note` is a sentence below its heading.
pub(crate) fn section(id: &str, heading: &str, note: &str, body: &str) -> String {
    let note = if note.is_empty() { note } else { &format!("<p class=\"note\">{note}</p>\n") };
    format!("<section id=\"{id}\"><h2>{heading}</h2>\n{note}{body}</section>\n")
}

/// Returns the places of the `most` items with the highest weight, ascending.
pub(crate) fn heaviest<R, W: Ord>(rows: &[R], most: usize, weight: impl Fn(&R) -> W) -> Vec<usize> {
    let mut places = by_weight(rows, weight);
    places.truncate(most);
    places.sort_unstable();
    places
}

/// Returns the places of the items, highest weight first.
pub(crate) fn by_weight<R, W: Ord>(rows: &[R], weight: impl Fn(&R) -> W) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by_cached_key(|place| std::cmp::Reverse(weight(&rows[*place])));
    places
}
