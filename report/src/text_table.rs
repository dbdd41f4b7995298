//! Tables with columns that are described once, for text and for CSV. Also the names in their cells, which can have any
//! characters and any length.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Row, Table, presets};

use warpload::text::visible;

/// The most characters of a name in a table.
const MAX_CELL: usize = 60;

/// A column of a table with rows of type `R`.
pub struct Column<R> {
    /// Its first line.
    pub heading: &'static str,
    /// Returns its cell in a row.
    pub value: fn(&R) -> Value<'_>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Value<'r> {
    /// The row has no value.
    None,
    /// A count.
    Count(u64),
    /// A number, and the digits after its point that text shows.
    Number(f64, usize),
    /// Text about numbers, left out of CSV.
    Shown(String),
    /// A number in hexadecimal.
    Hex(u64),
    /// Text, at the left of its column.
    Text(Cow<'r, str>),
    /// Text that is never shortened, because it consists of known names.
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

/// Quotes text as a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Writes a CSV table: a line of headings, and a line for each row. It is not held in memory, because all rows can have
/// the same long name.
///
/// # Errors
/// Returns the errors of `to`.
pub fn csv<'v>(
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

/// Returns a text table, without columns that have no values.
#[must_use]
pub fn text<R>(columns: &[Column<R>], rows: &[R]) -> String {
    let columns = columns.iter().map(|column| {
        let values: Vec<Value<'_>> = rows.iter().map(column.value).collect();
        // A minimum width, because tables below each other look like one if their columns are narrow.
        let least = match values.iter().find(|value| !matches!(value, Value::None)) {
            Some(Value::Text(_) | Value::Whole(_)) => 16,
            Some(Value::Hex(_)) => 8,
            _ => 7,
        };
        (column.heading, least, values)
    });
    grid(columns.filter(|(.., values)| values.iter().any(|value| !matches!(value, Value::None))))
}

/// Returns a text table. Each column has a heading, a minimum width and values.
#[must_use]
pub fn grid<'v>(
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

/// Returns `text` as a cell of a table: visible, and shortened in the middle if it is too long.
#[must_use]
pub fn cell(text: &str) -> String {
    shortened(&visible(text), None)
}

/// The names as cells of a column. If the shortened forms of long names are equal, they show the place where they
/// differ, because instances of a template often differ only deep inside.
fn cells<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    /// Names that need more rounds stay equal in the table.
    const ROUNDS: usize = 16;
    let names: Vec<Cow<'_, str>> = names.map(visible).collect();
    let mut cells: Vec<String> = names.iter().map(|name| shortened(name, None)).collect();
    for _ in 0..ROUNDS {
        // By cell: its first name, and the shortest prefix that this has in common with others.
        let mut groups: HashMap<String, (&str, usize)> = HashMap::new();
        for (name, cell) in names.iter().zip(&cells) {
            let (first, common) = groups.entry(cell.clone()).or_insert((name, usize::MAX));
            if first != name {
                let pairs = first.chars().zip(name.chars());
                *common = pairs.take_while(|(one, other)| one == other).count().min(*common);
            }
        }
        groups.retain(|_, (_, common)| *common < usize::MAX);
        if groups.is_empty() {
            break;
        }
        for (name, cell) in names.iter().zip(&mut cells) {
            if let Some((_, common)) = groups.get(cell) {
                *cell = shortened(name, Some(*common));
            }
        }
    }
    cells
}

/// The ends of a name that is too long for a cell, and with `around` also its middle near that place.
fn shortened(name: &str, around: Option<usize>) -> String {
    let length = name.chars().count();
    if length <= MAX_CELL {
        return name.to_owned();
    }
    let part = |from: usize, count: usize| name.chars().skip(from).take(count);
    let Some(around) = around else {
        let side = (MAX_CELL - 1) / 2;
        return part(0, MAX_CELL - 1 - side)
            .chain(['…'])
            .chain(part(length - side, side))
            .collect();
    };
    /// The characters at either end.
    const END: usize = MAX_CELL / 4;
    const MIDDLE: usize = MAX_CELL - 2 * END - 2;
    let from = around.saturating_sub(MIDDLE / 4).max(END);
    let (head, middle, tail) = (part(0, END), part(from, MIDDLE), part(length - END, END));
    head.chain(['…']).chain(middle).chain(['…']).chain(tail).collect()
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

    #[test]
    fn cells_are_shortened_in_the_middle() {
        let fits = "x".repeat(60);
        assert_eq!(cell(&fits), fits);
        for long in [61, 65_536, 1 << 20] {
            let text = format!("{}é{}", "a".repeat(long / 2), "z".repeat(long - long / 2 - 1));
            let cell = cell(&text);
            assert_eq!(cell.chars().count(), 60, "{long}");
            assert!(cell.starts_with("aaa") && cell.contains('…') && cell.ends_with("zzz"));
        }
        // Counts the characters after escaping.
        assert_eq!(cell(&"\u{1b}".repeat(100)).chars().count(), 60);
    }

    #[test]
    fn cells_keep_what_distinguishes_names() {
        let kernel = |tile: &str, stages: u32| {
            let types = "cutlass::half_t, cutlass::layout::RowMajor, ".repeat(4);
            format!(
                "void cutlass::Kernel<cutlass::gemm::Gemm<{types}GemmShape<{tile}>, {types}{stages}> >(Params)"
            )
        };
        let mut names = Vec::new();
        for tile in ["128, 128, 32", "128, 128, 64", "256, 128, 32"] {
            names.extend([3, 4].map(|stages| kernel(tile, stages)));
        }
        names.extend(["main".to_owned(), "x".repeat(100), "x".repeat(101), names[0].clone()]);
        let cells = cells(names.iter().map(String::as_str));
        assert_eq!(cells[6], "main");
        for (i, one) in names.iter().enumerate() {
            assert!(cells[i].chars().count() <= 60, "{}", cells[i]);
            for (k, other) in names.iter().enumerate() {
                assert_eq!(cells[i] == cells[k], one == other, "{one} {other}: {}", cells[i]);
            }
        }
        assert!(cells[0].contains("128, 32") && cells[2].contains("128, 64"), "{cells:?}");
        assert!(cells[0].starts_with("void cutlass::") && cells[0].ends_with("(Params)"));
    }
}
