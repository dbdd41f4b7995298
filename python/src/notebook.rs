//! HTML tables for notebooks.

use std::fmt::Write;

use warpload_arrow::arrow_array::cast::AsArray;
use warpload_arrow::arrow_array::types::{
    Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use warpload_arrow::arrow_array::{Array, ArrayRef, RecordBatch};
use warpload_arrow::arrow_schema::DataType;

/// The most rows to show.
const ROWS: usize = 10;
/// The most characters of a text to show.
const CHARACTERS: usize = 60;

/// Writes the first rows of a table, which has `length` rows in all. Of the rows of a replay, those with the most sectors
/// beyond the ideal, each with a bar.
pub(crate) fn table(batch: &RecordBatch, length: usize) -> String {
    let excess = excess(batch);
    let mut rows: Vec<usize> = (0..batch.num_rows()).collect();
    if let Some(excess) = &excess {
        rows.sort_by_key(|row| std::cmp::Reverse(excess[*row]));
    }
    rows.truncate(ROWS);
    let schema = batch.schema();
    let name = |column: usize| schema.field(column).name().clone();
    // Columns with only empty cells are left out; of the rows of a replay, counters that count nothing, too.
    let is_counter = |name: &str| excess.is_some() && !["launch", "pc"].contains(&name);
    let is_shown = |column: usize, row: usize| {
        let text = cell(batch.column(column), row, "");
        text.is_some_and(|text| text != "0" || !is_counter(&name(column)))
    };
    let shown: Vec<usize> = (0..batch.num_columns())
        .filter(|column| rows.iter().any(|row| is_shown(*column, *row)))
        .collect();
    let mut html = "<table><thead><tr>".to_owned();
    for column in &shown {
        let _ = write!(html, "<th>{}</th>", escaped(&name(*column)));
    }
    html += if excess.is_some() { "<th>beyond ideal</th></tr>" } else { "</tr>" };
    html += "</thead><tbody>";
    let most = excess.iter().flatten().copied().max().unwrap_or(0).max(1);
    for row in &rows {
        html += "<tr>";
        for column in &shown {
            let text = cell(batch.column(*column), *row, &name(*column)).unwrap_or_default();
            let _ = write!(html, "<td>{}</td>", shortened(&text, CHARACTERS));
        }
        if let Some(excess) = &excess {
            let width = 100.0 * excess[*row] as f64 / most as f64;
            let _ = write!(
                html,
                "<td style=\"text-align:left;min-width:8em\"><div style=\"background:#d95f02;height:0.8em;\
                 width:{width:.0}%\" title=\"{} sectors\"></div></td>",
                excess[*row]
            );
        }
        html += "</tr>";
    }
    html += "</tbody></table>";
    let more = length.saturating_sub(rows.len());
    if more > 0 {
        let _ = write!(html, "<p>and {more} more rows</p>");
    }
    html
}

/// The sectors of global and local memory beyond the ideal of each row, if the table has the rows of a replay.
fn excess(batch: &RecordBatch) -> Option<Vec<u64>> {
    let column = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
    let beyond = |sectors: &str, ideal: &str| -> Option<Vec<u64>> {
        let pairs = column(sectors)?.iter().zip(column(ideal)?.iter());
        Some(pairs.map(|(a, b)| a.unwrap_or(0).saturating_sub(b.unwrap_or(0))).collect())
    };
    let global = beyond("global_sectors_sum", "global_ideal_sectors")?;
    let local = beyond("local_sectors", "local_ideal_sectors")?;
    Some(global.iter().zip(local).map(|(global, local)| global.saturating_add(local)).collect())
}

/// The text of a cell; `None` if it is null. Program counters are hexadecimal.
fn cell(column: &ArrayRef, row: usize, name: &str) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::UInt64 if name == "pc" => {
            format!("{:#x}", column.as_primitive::<UInt64Type>().value(row))
        }
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::UInt32 if name == "active" => {
            format!("{:#010x}", column.as_primitive::<UInt32Type>().value(row))
        }
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).to_string(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).to_string(),
        DataType::Dictionary(..) => {
            let names = column.as_dictionary::<Int32Type>();
            let key = names.keys().value(row) as usize;
            names.values().as_string::<i32>().value(key).to_owned()
        }
        _ => "…".to_owned(),
    })
}

/// Writes a table whose cells are HTML.
pub(crate) fn html_table<const N: usize>(
    heads: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let heads = heads.map(|head| format!("<th>{head}</th>")).concat();
    let cell = |cell: String| format!("<td style=\"text-align:left\">{cell}</td>");
    let rows: String = rows.map(|row| format!("<tr>{}</tr>", row.map(cell).concat())).collect();
    format!("<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    shortened(text, usize::MAX)
}

/// Escapes lines of text for HTML.
pub(crate) fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Escapes text for HTML, and cuts it after `most` characters.
fn shortened(text: &str, most: usize) -> String {
    let mut escaped = String::new();
    for (i, character) in text.chars().enumerate() {
        match character {
            _ if i == most => {
                escaped.push('…');
                break;
            }
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            _ if warpload::text::is_invisible(character) => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
