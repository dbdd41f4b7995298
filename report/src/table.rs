//! [`Table`]: sortable tables, and [`PcTable`], a table of program counters.

use super::html::{Context, LONG_NAME, Panel};
use super::rows::{MAX_ROWS, rows_of_each, shown, space};
use super::text::{coordinate, count, cut, of, per};
use warpload_replay::{FaultCounts, ProgramCounter};

/// The maximum length of a kernel's name beside a program counter. The list of kernels shows more.
pub(crate) const SHORT_NAME: usize = 28;

/// A column's heading: its key for sorting, its text, and whether it holds numbers.
pub(crate) type Heading<'h> = (&'h str, &'h str, bool);

/// The beginning of a section with a plain table. The flag of a heading says whether its column has numbers.
pub(crate) fn begin_section(caption: &str, headings: &[(&str, bool)]) -> String {
    let mut html = format!(
        "<section><h2>{caption}</h2>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{caption}\"><table>\n<thead><tr>"
    );
    for (heading, is_number) in headings {
        let class = if *is_number { " class=\"n\"" } else { "" };
        html += &format!("<th scope=\"col\"{class}>{heading}</th>");
    }
    html + "</tr></thead>\n<tbody>\n"
}

pub(crate) const SECTION_END: &str = "</tbody></table></div></section>\n";

/// A table being written.
pub(crate) struct Table {
    html: String,
    space: &'static str,
}

impl Table {
    /// Begins a table, sorted by a column in an order. Its rows belong to `space` unless they name other memories.
    pub(crate) fn new(
        id: &str,
        caption: &str,
        headings: &[Heading<'_>],
        sorted: (&str, &str),
        space: &'static str,
    ) -> Self {
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"{id}-caption\">\
             <table class=\"sortable\" id=\"{id}\" data-s=\"{space}\">\n<caption id=\"{id}-caption\">\
             {caption}</caption>\n<thead><tr>"
        );
        for (key, text, is_number) in headings {
            let class = if *is_number { " class=\"n\"" } else { "" };
            let order = if *key == sorted.0 {
                format!(" aria-sort=\"{}\"", sorted.1)
            } else {
                String::new()
            };
            html += &format!("<th scope=\"col\" data-key=\"{key}\"{class}{order}>{text}</th>");
        }
        Self { html: html + "</tr></thead>\n<tbody>\n", space }
    }

    /// Begins a row of a kernel and its memories.
    pub(crate) fn start(&mut self, kernel: usize, spaces: &str) {
        self.html += &format!("<tr data-k=\"{kernel}\"");
        if spaces != self.space {
            self.html += &format!(" data-s=\"{spaces}\"");
        }
        self.html += ">";
    }

    pub(crate) fn end(&mut self) {
        self.html += "</tr>\n";
    }

    pub(crate) fn finish(self) -> String {
        self.html + "</tbody></table></div>\n"
    }

    /// Adds a cell with the row's kernel. `name` and the tooltip `title` are HTML.
    pub(crate) fn kernel(&mut self, kernel: usize, name: &str, title: Option<&str>) {
        let title = title.map(|title| format!(" title=\"{title}\"")).unwrap_or_default();
        self.html += &format!("<td class=\"name\"{title}>{kernel} <code>{name}</code></td>");
    }

    /// Adds a program counter as the heading of the row.
    fn pc(&mut self, row: &ProgramCounter<'_>) {
        // Sorted as a number, which hexadecimal digits are and `line 26` is not.
        let key = row.summary.ptx.as_ref().map(|_| format!(" data-v=\"{}\"", row.pc));
        let (key, place) = (key.unwrap_or_default(), row.place());
        self.html += &format!("<th scope=\"row\"{key}><code>{place}</code></th>");
    }

    pub(crate) fn text(&mut self, html: &str) {
        self.html += &format!("<td class=\"t\">{html}</td>");
    }

    /// Adds a line of the source. Rows are sorted by its file, then by its line.
    fn source(&mut self, row: &ProgramCounter<'_>) {
        let (file, line) = (row.source_file(), row.source_line());
        let Some((file, line)) = file.zip(line) else {
            self.html += &match line {
                // The trace does not name the file.
                Some(line) => format!("<td class=\"t\" data-v=\":{line:010}\">line {line}</td>"),
                None => "<td class=\"t dim\" data-v=\"\">-</td>".to_owned(),
            };
            return;
        };
        // Only the name, because the whole path would hide the other columns.
        let short = cut(file.rsplit(['/', '\\']).next().unwrap_or(file), 48);
        let file = cut(file, LONG_NAME);
        self.html += &format!(
            "<td class=\"t\" data-v=\"{file}:{line:010}\" title=\"{file}:{line}\"><code>{short}:{line}\
             </code></td>"
        );
    }

    pub(crate) fn cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Count(number) if *number < 1000 => self.html += &format!("<td>{number}</td>"),
            Cell::Count(number) => self.shown(*number as f64, &count(*number)),
            Cell::Mean(mean) => self.html += &format!("<td>{mean:.2}</td>"),
            Cell::Shown(number, shown) => self.shown(*number, shown),
            // Sorted below zero.
            Cell::Unknown => self.html += "<td class=\"dim\" data-v=\"-1\">-</td>",
        }
    }

    /// Adds a number with a text of its own.
    fn shown(&mut self, value: f64, shown: &str) {
        // Whole numbers are exact below 2^53; for others these digits suffice to sort them.
        let value = if value.fract() == 0.0 { value.to_string() } else { format!("{value:.4}") };
        self.html += &format!("<td data-v=\"{value}\">{shown}</td>");
    }

    pub(crate) fn faults(&mut self, kinds: &FaultCounts) {
        let all = kinds.all();
        self.html += &if all == 0 {
            "<td class=\"dim\">0</td>".to_owned()
        } else {
            format!(
                "<td class=\"bad\" data-v=\"{all}\" title=\"outside window {}, outside allocation {}, \
                 misaligned {}\">{}</td>",
                kinds.outside_window,
                kinds.outside_allocation,
                kinds.misaligned_address,
                count(all)
            )
        };
    }
}

/// The contents of a cell with a number.
pub(crate) enum Cell {
    Count(u64),
    Mean(f64),
    /// The number for sorting, and the HTML to show.
    Shown(f64, String),
    Unknown,
}

/// A column of numbers: its key, its heading and its cells.
pub(crate) type Column = (&'static str, &'static str, fn(&ProgramCounter<'_>) -> Cell);

/// A table of program counters.
pub(crate) struct PcTable {
    pub(crate) id: &'static str,
    pub(crate) caption: &'static str,
    /// The memory of most of its rows.
    pub(crate) space: &'static str,
    /// The headings for the number of its instructions and for their lanes.
    pub(crate) counts: [&'static str; 2],
    pub(crate) columns: &'static [Column],
    /// The key of the column with the weight.
    pub(crate) sorted: &'static str,
    pub(crate) weight: fn(&ProgramCounter<'_>) -> f64,
    /// Describes the rows with the highest weight: `that waste most sectors`.
    pub(crate) heaviest: &'static str,
}

impl PcTable {
    /// The panel of that name, tab and title that ends with the table.
    pub(crate) fn panel(
        &self,
        [id, tab, title]: [&'static str; 3],
        rows: &[ProgramCounter<'_>],
        body: String,
        context: &Context<'_>,
    ) -> Panel {
        Panel { id, tab, title, rows: Some(rows.len()), body: body + &self.html(rows, context) }
    }

    /// The table, heaviest rows first; empty without rows. With a single kernel it has no kernel column.
    pub(crate) fn html(&self, rows: &[ProgramCounter<'_>], context: &Context<'_>) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let has_kernels = context.kernels.is_some();
        let listed = context.kernels.as_deref().unwrap_or_default();
        let each = rows_of_each(listed);
        let shown = shown(rows, listed, each, self.weight);
        let has_code = shown.iter().any(|row| row.code().is_some());
        let is_ptx = shown.iter().any(|row| row.summary.ptx.is_some());
        let has_source = shown.iter().any(|row| row.source_line().is_some());
        let has_spaces = shown.iter().any(|row| space(row) != self.space);
        let mut headings: Vec<Heading<'_>> = Vec::new();
        if has_kernels {
            headings.push(("kernel", "kernel", false));
        }
        headings.extend([("pc", "pc", true), ("opcode", "opcode", false)]);
        if has_code {
            let code = if is_ptx { ("ptx", "PTX", false) } else { ("sass", "SASS", false) };
            headings.push(code);
        }
        if has_source {
            headings.push(("source", "source", false));
        }
        if has_spaces {
            headings.push(("space", "memory", false));
        }
        let [loads, lanes] = self.counts;
        headings.extend([("loads", loads, true), ("lanes", lanes, true)]);
        headings.extend(self.columns.iter().map(|(key, text, _)| (*key, *text, true)));
        headings.push(("faults", "lane faults", true));
        let mut html = String::new();
        if shown.len() < rows.len() {
            let each = match each {
                _ if !has_kernels => String::new(),
                1 => ", and the first of each kernel".to_owned(),
                _ => format!(", and the first {each} of each kernel"),
            };
            let all = of(rows.len() as u64, "program counter");
            let heaviest = self.heaviest;
            html += &format!("<p class=\"note\">Of {all}, the {MAX_ROWS} {heaviest}{each}.</p>\n");
        }
        let order = (self.sorted, "descending");
        let mut table = Table::new(self.id, self.caption, &headings, order, self.space);
        for row in shown {
            let summary = &row.summary;
            let number = row.kernel;
            table.start(number, space(row));
            if has_kernels {
                table.kernel(number, &context.name(row.kernel, SHORT_NAME), None);
            }
            table.pc(row);
            table.text(&format!("<code>{}</code>", cut(&summary.opcode, 48)));
            if has_code {
                let code = row.code().unwrap_or_default();
                table.text(&format!("<code>{}</code>", cut(&code, 80)));
            }
            if has_source {
                table.source(row);
            }
            if has_spaces {
                table.text(space(row));
            }
            table.cell(&Cell::Count(summary.loads));
            table.html += &format!("<td>{:.1}</td>", per(summary.lanes, summary.loads));
            self.columns.iter().for_each(|(.., cell)| table.cell(&cell(row)));
            table.faults(&summary.lane_faults);
            table.end();
        }
        html + &table.finish()
    }
}

/// Draws a mean on a scale of 32, with the ideal and the range.
pub(crate) fn bar(ideal: f64, mean: f64, min: u64, max: u64) -> String {
    if max == 0 {
        return String::new();
    }
    let scaled = |number: f64| coordinate(2.0 * number.min(32.0));
    let range = if min < max {
        format!("<path class=\"range\" d=\"M{} 4H{}\"/>", scaled(min as f64), scaled(max as f64))
    } else {
        String::new()
    };
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 64 8\" aria-hidden=\"true\"><path class=\"waste\" \
         d=\"M0 4h{}\"/><path class=\"ideal\" d=\"M0 4h{}\"/>{range}</svg>",
        scaled(mean),
        scaled(ideal.min(mean))
    )
}
