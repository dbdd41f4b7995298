//! [`AccessDrawing`]: the cost of a warp's access in its memory, as text and as a picture. It has 32 columns and a row
//! for each wavefront, line or address.

use std::collections::BTreeMap;
use std::fmt::Write;

use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneAddresses;
use warpload::memory::{Space, Width};
use warpload_replay::{AccessCosts, SharedRules, shared_wavefronts};

use super::picture::{LETTER, NOTE_LETTER, Picture, TITLE_LETTER, on_colour};
use warpload::text::plural;

/// Columns of a drawing: the banks, the words of a line, or the lanes.
const COLUMNS: usize = 32;
/// Bytes of a word.
const WORD: u64 = 4;
/// Bytes of a line of global memory.
const LINE: u64 = WORD * COLUMNS as u64;

/// The size of a cell in a picture.
const CELL: (usize, usize) = (26, 22);
const MARGIN: usize = 28;
/// Room for the title, the result and the numbers of the columns.
const TOP: usize = 108;
/// Space between groups of lanes.
const GAP: usize = 10;

/// A row of a drawing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct AccessRow {
    /// The number of a wavefront in its group, or an address.
    pub label: String,
    /// For the first wavefront of a group of lanes: the group's first and last lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<[usize; 2]>,
    /// Whether it is a bank conflict: a wavefront beyond the first of its group.
    pub is_conflict: bool,
    /// The lanes that each column serves.
    pub cells: Vec<Vec<usize>>,
}

impl AccessRow {
    fn new(label: String, columns: &[LaneMask; COLUMNS]) -> Self {
        let cells = columns.iter().map(|lanes| lanes.lanes().collect()).collect();
        Self { label, group: None, is_conflict: false, cells }
    }

    /// The name of a group of lanes, if the row begins one.
    fn group_name(&self) -> Option<String> {
        self.group.map(|[first, last]| format!("lanes {first} to {last}"))
    }
}

/// Returns the rows of an access: wavefronts of shared memory, lines of global memory, addresses of constant memory, or
/// words of local memory, each of which takes a line for all lanes. Addresses are rounded down to the access size.
#[must_use]
pub fn access_rows(
    space: Space,
    width: Width,
    rules: SharedRules,
    access: &LaneAddresses,
) -> Vec<AccessRow> {
    if space == Space::Shared {
        return wavefronts(width, rules, access);
    }
    let bytes = u64::from(width.bytes());
    let mut rows: BTreeMap<u64, [LaneMask; COLUMNS]> = BTreeMap::new();
    for lane in access.executing {
        let start = access.addresses.of(lane) / bytes * bytes;
        // Constant memory serves an address at once, regardless of the width.
        let words = if matches!(space, Space::Constant { .. }) { 1 } else { bytes.div_ceil(WORD) };
        for word in 0..words {
            let at = start + word * WORD;
            let (row, column) = match space {
                Space::Global => (at / LINE * LINE, (at % LINE / WORD) as usize),
                Space::Local => (at / WORD * WORD, lane),
                _ => (at, lane),
            };
            rows.entry(row).or_insert([LaneMask::NONE; COLUMNS])[column].insert(lane);
        }
    }
    let row = |(address, columns)| AccessRow::new(format!("{address:#x}"), &columns);
    rows.into_iter().map(row).collect()
}

fn wavefronts(width: Width, rules: SharedRules, access: &LaneAddresses) -> Vec<AccessRow> {
    let (mut rows, mut group, mut number) = (Vec::new(), 0..0, 0);
    for wavefront in shared_wavefronts(rules, width, access.executing, &access.addresses) {
        let is_first = group != wavefront.lanes;
        number = if is_first { 1 } else { number + 1 };
        group = wavefront.lanes;
        rows.push(AccessRow {
            group: is_first.then(|| [group.start, group.end - 1]),
            is_conflict: !is_first,
            ..AccessRow::new(number.to_string(), &wavefront.banks)
        });
    }
    rows
}

/// Returns the cost of an access, in words: `32 wavefronts, 31 of them bank conflicts; ideal 1`.
#[must_use]
pub fn access_cost_text(costs: &AccessCosts) -> String {
    if let Some(shared) = costs.shared {
        let conflicts = match shared.conflicts {
            0 => "no bank conflicts".to_owned(),
            1 => "1 of them a bank conflict".to_owned(),
            n => format!("{n} of them bank conflicts"),
        };
        return format!(
            "{}, {conflicts}; ideal {}",
            plural(shared.amount, "wavefront"),
            shared.ideal
        );
    }
    if let Some(constant) = costs.constant {
        return match constant.amount {
            1 => "1 address, served at once".to_owned(),
            n => format!("{n} different addresses, served one after the other"),
        };
    }
    match (costs.sectors(), costs.ideal_sectors(), costs.lines()) {
        (Some(sectors), Some(ideal), Some(lines)) => {
            format!("{} in {}; ideal {ideal}", plural(sectors, "sector"), plural(lines, "line"))
        }
        (Some(sectors), Some(ideal), None) => {
            format!("{}; ideal {ideal}", plural(sectors, "sector"))
        }
        _ => "no lane takes part".to_owned(),
    }
}

/// The name of the columns of a drawing.
fn column_name(space: Space) -> &'static str {
    match space {
        Space::Shared => "bank",
        Space::Global => "word",
        Space::Local | Space::Constant { .. } => "lane",
    }
}

/// A drawing of an access.
#[derive(Clone, Debug)]
pub struct AccessDrawing {
    title: String,
    note: String,
    space: Space,
    rows: Vec<AccessRow>,
}

impl AccessDrawing {
    /// Creates the drawing of an access to `space` with rows from [`access_rows`]. `note` is a line below the title.
    #[must_use]
    pub fn new(title: String, note: String, space: Space, rows: Vec<AccessRow>) -> Self {
        Self { title, note, space, rows }
    }

    /// The lane in a cell, with `+` if the cell serves further ones.
    fn cell_name(cell: &[usize]) -> Option<(usize, String)> {
        let lane = *cell.first()?;
        let others = if cell.len() > 1 { "+" } else { "" };
        Some((lane, format!("{lane}{others}")))
    }

    fn legend(&self) -> String {
        let rows = match self.space {
            Space::Shared => "rows: wavefronts of a group of lanes",
            Space::Global => "rows: lines of 128 bytes, columns: their words, 8 a sector",
            _ => "rows: addresses",
        };
        let shares_words = self.rows.iter().flat_map(|row| &row.cells).any(|lanes| lanes.len() > 1);
        let shared = if shares_words { "; +: and others that get the same word" } else { "" };
        format!("{rows}; cells: the lane{shared}")
    }

    /// Returns the drawing as text. With `is_coloured`, it has escapes for a terminal with colours.
    #[must_use]
    pub fn text(&self, is_coloured: bool) -> String {
        let mut text = format!("{}\n{}\n", self.title, self.note);
        if self.rows.is_empty() {
            return text;
        }
        let columns = column_name(self.space);
        let label = self.rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
        let label = label.max(columns.len());
        let numbers: String = (0..COLUMNS).map(|column| format!(" {column:>2}")).collect();
        let _ = writeln!(text, "\n{columns:<label$}{numbers}");
        for row in &self.rows {
            if let Some(group) = row.group_name().filter(|_| row.group != Some([0, LANES - 1])) {
                let _ = writeln!(text, "{group}");
            }
            let cells = row.cells.iter().map(|cell| match Self::cell_name(cell) {
                Some((lane, name)) => on_colour(format!("{name:>3}"), lane, is_coloured),
                None => "  .".to_owned(),
            });
            let _ = writeln!(text, "{:>label$}{}", row.label, cells.collect::<String>());
        }
        let _ = writeln!(text, "\n{}", self.legend());
        text
    }

    /// Returns the drawing as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let label =
            |row: &AccessRow| row.group_name().map_or(0, |group| group.len() + 4) + row.label.len();
        let columns = column_name(self.space);
        let labels = self.rows.iter().map(label).max().unwrap_or(0).max(columns.len());
        let left = MARGIN + labels * LETTER + 12;
        let mut picture = Picture::default();
        for column in 0..COLUMNS {
            picture.text("axis", (left + column * CELL.0 + CELL.0 / 2, TOP - 8), column);
        }
        picture.text("axis end", (left - 8, TOP - 8), columns);
        let mut y = TOP;
        for (i, row) in self.rows.iter().enumerate() {
            if row.group.is_some() && i > 0 {
                y += GAP;
            }
            draw_row(&mut picture, row, left, y);
            y += CELL.1;
        }
        if self.space == Space::Global {
            // Lines between sectors.
            for column in [8, 16, 24] {
                picture.path("rule", format_args!("M{} {TOP}V{y}", left + column * CELL.0));
            }
        }
        y += 28;
        let legend = self.legend();
        picture.text("note", (MARGIN, y), &legend);
        let notes = [&self.note, &legend].map(|note| note.chars().count() * NOTE_LETTER);
        let letters = (self.title.chars().count() * TITLE_LETTER).max(notes[0]).max(notes[1]);
        let width = (left + COLUMNS * CELL.0).max(MARGIN + letters) + MARGIN;
        picture.finish(&self.title, &self.note, MARGIN, (width, y + MARGIN))
    }
}

fn draw_row(picture: &mut Picture, row: &AccessRow, left: usize, y: usize) {
    let (width, height) = CELL;
    let base = y + height / 2 + 5;
    if let Some(group) = row.group_name() {
        picture.text("axis start", (MARGIN, base), group);
    }
    let class = if row.is_conflict { "axis end conflict" } else { "axis end" };
    picture.text(class, (left - 8, base), &row.label);
    for (column, lanes) in row.cells.iter().enumerate() {
        let x = left + column * width;
        let Some((lane, name)) = AccessDrawing::cell_name(lanes) else {
            picture.rectangle("idle", (x, y), CELL);
            continue;
        };
        let all: Vec<String> = lanes.iter().map(ToString::to_string).collect();
        picture.named(format_args!("lanes {}", all.join(", ")), |picture| {
            picture.rectangle(&format!("cell t{lane}"), (x, y), CELL);
            picture.text("lane", (x + width / 2, base - 1), name);
        });
    }
}
