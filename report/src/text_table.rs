//! Tables whose columns are described once, for text and for CSV.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Row, Table, presets};

use super::name::{cells, visible};

/// A column of a table with rows of type `R`.
pub(crate) struct Column<R> {
    pub(crate) heading: &'static str,
    pub(crate) value: fn(&R) -> Value<'_>,
}

pub(crate) enum Value<'r> {
    /// There is none in this row.
    None,
    Count(u64),
    /// A number, and the digits after its point that text shows.
    Number(f64, usize),
    /// Something about numbers, for text alone.
    Shown(String),
    /// A number in hexadecimal.
    Hex(u64),
    /// Text, at the left of its column.
    Text(Cow<'r, str>),
    /// The same, however long it is: made of names that are known.
    Whole(String),
}

impl Value<'_> {
    fn text(&self) -> String {
        match self {
            Self::None => "-".to_owned(),
            Self::Count(count) => count.to_string(),
            Self::Number(number, digits) => format!("{number:.digits$}"),
            Self::Shown(text) => text.clone(),
            Self::Hex(number) => format!("{number:#x}"),
            Self::Text(text) => text.to_string(),
            Self::Whole(text) => text.clone(),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Number(number, _) => number.to_string(),
            Self::Text(text) => quoted(&visible(text)),
            Self::Whole(text) => quoted(text),
            _ => self.text(),
        }
    }
}

/// Returns text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Writes a table of CSV: a line of headings, and a line for each row. It is not held in memory, because all
/// rows can have the same long name.
pub(crate) fn csv<'v>(
    keys: &[&str],
    rows: impl Iterator<Item = Vec<Value<'v>>>,
    to: &mut dyn Write,
) -> io::Result<()> {
    writeln!(to, "{}", keys.join(","))?;
    for row in rows {
        let fields: Vec<String> = row.iter().map(Value::csv).collect();
        writeln!(to, "{}", fields.join(","))?;
    }
    Ok(())
}

/// Returns a table of text, without the columns in which no row has a value.
pub(crate) fn text<R>(columns: &[Column<R>], rows: &[R]) -> String {
    let columns = columns.iter().map(|column| {
        let values: Vec<Value<'_>> = rows.iter().map(column.value).collect();
        // Tables one below the other look like one if their columns are not too narrow.
        let least = match values.iter().find(|value| !matches!(value, Value::None)) {
            Some(Value::Text(_) | Value::Whole(_)) => 16,
            Some(Value::Hex(_)) => 8,
            _ => 7,
        };
        (column.heading, least, values)
    });
    grid(columns.filter(|(.., values)| values.iter().any(|value| !matches!(value, Value::None))))
}

/// Returns a table of text: a heading, how wide at least, and the values of each column.
pub(crate) fn grid<'v>(
    columns: impl IntoIterator<Item = (impl Into<String>, usize, Vec<Value<'v>>)>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut lines: Vec<Row> = Vec::new();
    let mut alignments = Vec::new();
    for (heading, least, values) in columns {
        let heading = heading.into();
        let is_text = values.iter().any(|value| matches!(value, Value::Text(_) | Value::Whole(_)));
        alignments.push(if is_text { CellAlignment::Left } else { CellAlignment::Right });
        let texts = values.iter().filter_map(|value| match value {
            Value::Text(text) => Some(&**text),
            _ => None,
        });
        let mut texts = cells(texts).into_iter();
        lines.resize_with(values.len() + 1, Row::new);
        let values = values.iter().map(|value| match value {
            Value::Text(_) => texts.next().unwrap_or_default(),
            other => other.text(),
        });
        let heading =
            if is_text { format!("{heading:<least$}") } else { format!("{heading:>least$}") };
        for (line, cell) in lines.iter_mut().zip([heading].into_iter().chain(values)) {
            line.add_cell(Cell::new_owned(cell));
        }
    }
    table.add_rows(lines);
    for (column, alignment) in table.column_iter_mut().zip(alignments) {
        column.set_padding((0, 2)).set_cell_alignment(alignment);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Loads(&'static str, u64, f64);

    const COLUMNS: [Column<Loads>; 4] = [
        Column { heading: "name", value: |row| Value::Text(row.0.into()) },
        Column { heading: "absent", value: |_| Value::None },
        Column { heading: "loads", value: |row| Value::Count(row.1) },
        Column { heading: "per load", value: |row| Value::Number(row.2, 1) },
    ];

    #[test]
    fn values_are_shown_as_text_and_as_csv() {
        let rows = [Loads("f(int, \"x\")", 3, 0.25), Loads("g\n", 10, 4.0)];
        let mut written = Vec::new();
        let values = rows.iter().map(|row| COLUMNS.iter().map(|of| (of.value)(row)).collect());
        csv(&COLUMNS.map(|column| column.heading), values, &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "name,absent,loads,per load\n\"f(int, \"\"x\"\")\",,3,0.25\ng\\n,,10,4\n"
        );
        assert_eq!(
            text(&COLUMNS, &rows),
            "name                loads  per load\n\
             f(int, \"x\")             3       0.2\n\
             g\\n                    10       4.0\n"
        );
    }
}
