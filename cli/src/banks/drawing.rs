//! What the drawings of an access have in common, and the drawing as text: a row for each wavefront, line or address, with
//! 32 columns.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneAddresses;
use warpload::memory::{Space, Width};
use warpload_replay::{SharedRules, shared_wavefronts};

use crate::palette;

/// Columns of a drawing: the banks, the words of a line, or the lanes.
const COLUMNS: usize = 32;
/// Bytes of a word.
const WORD: u64 = 4;
/// Bytes of a line of global memory.
const LINE: u64 = WORD * COLUMNS as u64;

/// A row of a drawing.
#[derive(Serialize)]
pub(super) struct DrawnRow {
    /// What stands at its left: the number of a wavefront in its group, or an address.
    pub(super) label: String,
    /// The first and the last lane of the wavefront's group, if it is the first one of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<[usize; 2]>,
    /// Whether it is a wavefront beyond the first of its group: a bank conflict.
    pub(super) is_conflict: bool,
    /// The lanes that each column serves.
    pub(super) cells: Vec<Vec<usize>>,
}

/// Returns what the columns are.
pub(super) fn columns(space: Space) -> &'static str {
    match space {
        Space::Shared => "bank",
        Space::Global => "word",
        Space::Local | Space::Constant { .. } => "lane",
    }
}

/// Returns the rows of an access: wavefronts of shared memory, lines of global memory, words of local memory, which are a
/// line for all lanes, or addresses of constant memory.
pub(super) fn rows(
    space: Space,
    width: Width,
    rules: SharedRules,
    access: &LaneAddresses,
) -> Vec<DrawnRow> {
    if space == Space::Shared {
        return wavefronts(width, rules, access);
    }
    let bytes = u64::from(width.bytes());
    let mut rows: BTreeMap<u64, [LaneMask; COLUMNS]> = BTreeMap::new();
    for lane in access.executing {
        let start = access.addresses.of(lane) / bytes * bytes;
        // In constant memory an address is one, however wide.
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
    let row = |(address, columns): (u64, [LaneMask; COLUMNS])| DrawnRow {
        label: format!("{address:#x}"),
        group: None,
        is_conflict: false,
        cells: cells(&columns),
    };
    rows.into_iter().map(row).collect()
}

fn wavefronts(width: Width, rules: SharedRules, access: &LaneAddresses) -> Vec<DrawnRow> {
    let wavefronts = shared_wavefronts(rules, width, access.executing, &access.addresses);
    let (mut rows, mut group, mut number) = (Vec::new(), 0..0, 0);
    for wavefront in wavefronts {
        let is_first = group != wavefront.lanes;
        number = if is_first { 1 } else { number + 1 };
        group = wavefront.lanes;
        rows.push(DrawnRow {
            label: number.to_string(),
            group: is_first.then(|| [group.start, group.end - 1]),
            is_conflict: !is_first,
            cells: cells(&wavefront.banks),
        });
    }
    rows
}

fn cells(columns: &[LaneMask; COLUMNS]) -> Vec<Vec<usize>> {
    columns.iter().map(|lanes| lanes.lanes().collect()).collect()
}

/// An access with its rows and the words around them.
pub(super) struct DrawnAccess {
    pub(super) title: String,
    pub(super) result: String,
    pub(super) columns: &'static str,
    pub(super) rows: Vec<DrawnRow>,
}

impl DrawnAccess {
    /// Returns the lane that a cell names, and whether there are others.
    pub(super) fn named(cell: &[usize]) -> Option<(usize, bool)> {
        cell.first().map(|first| (*first, cell.len() > 1))
    }

    /// Returns whether a cell is of several lanes, which get the same word.
    pub(super) fn shares_words(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.len() > 1)
    }

    /// Returns what the numbers are.
    pub(super) fn legend(&self) -> String {
        let rows = match self.columns {
            "bank" => "rows: wavefronts of a group of lanes",
            "word" => "rows: lines of 128 bytes, columns: their words, 8 a sector",
            _ => "rows: addresses",
        };
        let shared =
            if self.shares_words() { "; +: and others, which get the same word" } else { "" };
        format!("{rows}; cells: the lane{shared}")
    }

    /// Returns the drawing for a terminal.
    pub(super) fn text(&self, is_coloured: bool) -> String {
        let mut text = format!("{}\n{}\n", self.title, self.result);
        if self.rows.is_empty() {
            return text;
        }
        let label = self.rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
        let label = label.max(self.columns.len());
        let numbers: String = (0..LANES).map(|column| format!(" {column:>2}")).collect();
        let _ = writeln!(text, "\n{:<label$}{numbers}", self.columns);
        for row in &self.rows {
            if let Some([first, last]) = row.group
                && (first, last) != (0, LANES - 1)
            {
                let _ = writeln!(text, "lanes {first} to {last}");
            }
            let mut line = format!("{:>label$}", row.label);
            for cell in &row.cells {
                let Some((lane, has_others)) = Self::named(cell) else {
                    line += "  .";
                    continue;
                };
                let others = if has_others { "+" } else { "" };
                if is_coloured {
                    line += &palette::on_colour(&format!("{:>3}", format!("{lane}{others}")), lane);
                } else {
                    let _ = write!(line, "{:>3}", format!("{lane}{others}"));
                }
            }
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "\n{}", self.legend());
        text
    }
}
