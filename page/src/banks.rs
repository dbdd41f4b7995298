//! [`banks`]: the bank conflicts or sectors of an access, given as a formula of the lane or as a layout.

use serde::{Deserialize, Serialize};
use warpload::lane::LaneMask;
use warpload::load::LaneAddresses;
use warpload::memory::{Space, Width};
use warpload::text::parse_number;
use warpload_replay::{AccessQuestion, CountedAccess, LanePattern, PatternError, PatternErrorKind};
use warpload_report::{AccessDrawing, AccessRow, access_cost_text, access_rows};

use crate::problem::Problem;

/// The limit on the values of a counted name.
const MAX_VALUES: i64 = 4096;

/// The form.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
#[serde(default)]
pub struct BanksFields {
    /// An access: a formula of `lane`, or a layout.
    pub access: String,
    /// The number of bytes for each lane: 1, 2, 4, 8, 16 or 32.
    pub bytes: String,
    /// The memory: `shared`, `global`, `local` or `constant`.
    pub space: String,
    /// The size of a layout's elements in bytes; the bytes of a lane if empty.
    pub element: String,
    /// The values of names: `row=0 base=0x100`.
    pub values: String,
    /// A counted name and its values: `col=0..32`.
    pub range: String,
    /// The lanes that take part; all if empty.
    pub mask: String,
    /// The number of matrices of an LDSM; empty for other accesses.
    pub matrices: String,
    /// `on` to serve two groups of 8 lanes at once, as SM 7.0 to 7.5 do.
    pub merge: String,
}

/// The cost of an access.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Access {
    /// The cost in words. For a counted name, the cost of the worst access.
    pub result: String,
    /// The cost for each value of the counted name.
    pub values: Vec<Chart>,
    /// The address of each lane, empty if the lane takes no part. For a counted name, the addresses of the worst
    /// access.
    pub addresses: Vec<String>,
    /// The rows of the drawing. `cells` has the lanes that each of 32 columns serves.
    #[cfg_attr(
        target_family = "wasm",
        tsify(
            type = "{ label: string; group?: [number, number]; is_conflict: boolean; cells: number[][] }[]"
        )
    )]
    pub rows: Vec<AccessRow>,
    /// The drawing as text.
    pub text: String,
    /// The drawing as a picture.
    pub svg: String,
    /// Remarks on misaligned addresses.
    pub remarks: Vec<String>,
    /// Errors in the form.
    pub problems: Vec<Problem>,
}

/// The cost of the access with one value of the counted name.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Chart {
    /// The value.
    pub value: i64,
    /// The number of wavefronts, sectors or addresses.
    pub amount: u64,
    /// The cost in words.
    pub result: String,
}

/// Counts the cost of an access, and draws it.
#[must_use]
pub fn banks(fields: &BanksFields) -> Access {
    drawn(fields).unwrap_or_else(|problem| Access { problems: vec![problem], ..Access::default() })
}

/// Draws an access. `accessed` is its description in the result.
pub(crate) fn answer(access: &CountedAccess, title: String, accessed: &str) -> Access {
    let result = format!("{accessed}: {}", access_cost_text(&access.costs));
    let rows = access_rows(access.space, access.width, access.rules, &access.lanes);
    let drawing = AccessDrawing::new(title, result.clone(), access.space, rows.clone());
    Access {
        result,
        addresses: addresses(&access.lanes),
        rows,
        text: drawing.text(false),
        svg: drawing.svg(),
        ..Access::default()
    }
}

/// The address of each lane, or an empty text if the lane takes no part.
pub(crate) fn addresses(lanes: &LaneAddresses) -> Vec<String> {
    let address = |lane| match lanes.executing.contains(lane) {
        true => format!("{:#x}", lanes.addresses.of(lane)),
        false => String::new(),
    };
    (0..32).map(address).collect()
}

fn drawn(fields: &BanksFields) -> Result<Access, Problem> {
    let text = fields.access.trim();
    let pattern = LanePattern::parse(text).map_err(|error| of_pattern("access", text, &error))?;
    let matrices = match fields.matrices.trim() {
        "" => None,
        text => Some(
            parse_number(text)
                .filter(|count| [1, 2, 4].contains(count))
                .ok_or_else(|| Problem::new("matrices", "expected 1, 2 or 4"))?,
        ),
    };
    let question = match matrices {
        Some(_) => AccessQuestion::new(pattern),
        None => AccessQuestion {
            space: read_space(&fields.space)?,
            width: read_width(&fields.bytes)?,
            mask: read_mask(&fields.mask)?,
            ..AccessQuestion::new(pattern)
        },
    };
    let question = AccessQuestion {
        element: read_element(&fields.element)?,
        values: read_values(&fields.values)?,
        range: read_range(&fields.range)?,
        merge_pairs: !fields.merge.is_empty(),
        ..question.matrices(matrices.map(|count| count as u32))
    };
    // Fields without an effect are no error, because another access may need them.
    question.check_values().map_err(|error| Problem::new("values", error))?;
    let accesses = question.accesses().map_err(|error| of_pattern("access", text, &error))?;
    let chart = |access: &CountedAccess| {
        let result = access_cost_text(&access.costs);
        Some(Chart { value: access.value?, amount: access.costs.amount(), result })
    };
    let Some(worst) = CountedAccess::worst(&accesses) else { return Ok(Access::default()) };
    let title = match question.range.as_ref().zip(worst.value) {
        Some(((name, _), value)) => format!("{text}, {name} = {value}"),
        None => text.to_owned(),
    };
    let values = accesses.iter().filter_map(chart).collect();
    let remarks = worst.misaligned().into_iter().collect();
    Ok(Access { values, remarks, ..answer(worst, title, &question.described()) })
}

/// Reads the bytes of an element; `None` if the text is empty.
fn read_element(text: &str) -> Result<Option<u32>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let bytes = parse_number(text.trim()).and_then(|bytes| u32::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.map(Some).ok_or_else(|| Problem::new("element", "expected a number of bytes"))
}

pub(crate) fn of_pattern(field: &'static str, text: &str, error: &PatternError) -> Problem {
    let help = match &error.kind {
        PatternErrorKind::UnknownName(name) => Some(format!("give it a value: {name}=0")),
        _ => None,
    };
    let place = (error.span.start, error.span.end);
    Problem::in_line(field, text, place, error, help)
}

fn read_width(text: &str) -> Result<Width, Problem> {
    let bytes = parse_number(text.trim()).and_then(|bytes| bytes.try_into().ok());
    bytes
        .and_then(Width::from_bytes)
        .ok_or_else(|| Problem::new("bytes", "expected 1, 2, 4, 8, 16 or 32"))
}

fn read_space(text: &str) -> Result<Space, Problem> {
    let space = Space::ALL.into_iter().find(|space| space.name() == text.trim());
    space.ok_or_else(|| {
        let known = Space::ALL.map(Space::name).join(", ");
        Problem::new("space", format_args!("expected one of {known}"))
    })
}

/// Reads a mask of lanes. An empty text is all lanes.
pub(crate) fn read_mask(text: &str) -> Result<LaneMask, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(LaneMask::ALL);
    }
    let bits = parse_number(text).and_then(|bits| u32::try_from(bits).ok());
    let bits = bits.filter(|bits| *bits != 0).map(LaneMask::from_bits);
    bits.ok_or_else(|| {
        Problem::new("mask", "expected a mask of at least one of 32 lanes, such as 0xffff")
    })
}

/// Reads `row=0 base=0x100`.
pub(crate) fn read_values(text: &str) -> Result<Vec<(String, i64)>, Problem> {
    let words = text.split([' ', ',', '\n', '\t']).filter(|word| !word.is_empty());
    let values: Option<Vec<_>> = words.map(LanePattern::parse_value).collect();
    values.ok_or_else(|| {
        Problem::new("values", "expected names and numbers, such as row=0 base=0x100")
    })
}

pub(crate) fn find(values: &[(String, i64)], name: &str) -> Option<i64> {
    values.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
}

/// Reads `col=0..32`; `None` if the text is empty.
fn read_range(text: &str) -> Result<Option<(String, std::ops::Range<i64>)>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let range = LanePattern::parse_range(text, MAX_VALUES);
    range.map(Some).map_err(|error| Problem::new("range", error))
}
