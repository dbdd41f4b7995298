//! [`banks`]: the bank conflicts or sectors of an access, given as a formula of the lane or as a layout.

use serde::{Deserialize, Serialize};
use warpload::lane::LaneMask;
use warpload::load::LaneAddresses;
use warpload::memory::{Space, Width};
use warpload::text::parse_number;
use warpload_replay::{AccessCosts, LanePattern, PatternError, PatternErrorKind, SharedRules};
use warpload_report::{AccessDrawing, AccessRow, access_cost_text, access_rows};

use crate::problem::Problem;

/// The limit on the values of a counted name.
const MAX_VALUES: i64 = 4096;

/// The form.
#[derive(Clone, Debug, Default, Deserialize)]
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
pub struct Access {
    /// The cost in words. For a counted name, the cost of the worst access.
    pub result: String,
    /// The cost for each value of the counted name.
    pub values: Vec<Chart>,
    /// The address of each lane, empty if the lane takes no part. For a counted name, the addresses of the worst
    /// access.
    pub addresses: Vec<String>,
    /// The rows of the drawing.
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

/// An access with its cost.
pub(crate) struct Counted {
    pub(crate) space: Space,
    pub(crate) width: Width,
    pub(crate) rules: SharedRules,
    pub(crate) lanes: LaneAddresses,
    pub(crate) costs: AccessCosts,
}

impl Counted {
    pub(crate) fn new(
        space: Space,
        width: Width,
        rules: SharedRules,
        lanes: LaneAddresses,
    ) -> Self {
        let LaneAddresses { executing, addresses, .. } = &lanes;
        let costs = AccessCosts::of_access_by(rules, space, width, *executing, addresses);
        Self { space, width, rules, lanes, costs }
    }

    /// Draws the access. `accessed` is its description in the result.
    pub(crate) fn answer(&self, title: String, accessed: &str) -> Access {
        let result = format!("{accessed}: {}", access_cost_text(&self.costs));
        let rows = access_rows(self.space, self.width, self.rules, &self.lanes);
        let drawing = AccessDrawing::new(title, result.clone(), self.space, rows.clone());
        Access {
            result,
            addresses: addresses(&self.lanes),
            rows,
            text: drawing.text(false),
            svg: drawing.svg(),
            ..Access::default()
        }
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
    let (space, width) = match matrices {
        Some(_) => (Space::Shared, Width::Bytes16),
        None => (read_space(&fields.space)?, read_width(&fields.bytes)?),
    };
    let mask = match matrices {
        Some(count) => LaneMask::from_bits(u32::MAX >> (32 - 8 * count)),
        None => read_mask(&fields.mask)?,
    };
    let element = match fields.element.trim() {
        "" => Some(width.bytes()),
        text => parse_number(text).and_then(|bytes| bytes.try_into().ok()),
    };
    let element = element.filter(|bytes| *bytes > 0);
    let element = element.ok_or_else(|| Problem::new("element", "expected a number of bytes"))?;
    let values = read_values(&fields.values)?;
    let range = read_range(&fields.range)?;
    let counted = range.iter().map(|(name, _)| name);
    let names: Vec<&String> = values.iter().map(|(name, _)| name).chain(counted).collect();
    for (number, name) in names.iter().enumerate() {
        if names[..number].contains(name) {
            return Err(Problem::new(
                "values",
                format_args!("`{name}` has two values; expected one"),
            ));
        }
    }
    let rules = SharedRules::default().merging_pairs(!fields.merge.is_empty());
    let counting = range.as_ref().map(|(name, _)| name.as_str());
    let counted = |value: Option<i64>| {
        let known = |name: &str| match counting == Some(name) {
            true => value,
            false => find(&values, name),
        };
        let mut lanes = pattern
            .addresses(element, &known)
            .map_err(|error| of_pattern("access", text, &error))?;
        lanes.executing = lanes.executing & mask;
        Ok(Counted::new(space, width, rules, lanes))
    };
    let accessed = match matrices {
        Some(1) => "LDSM of 1 matrix".to_owned(),
        Some(count) => format!("LDSM of {count} matrices"),
        None if width == Width::Bytes1 => format!("{} memory, 1 byte a lane", space.name()),
        None => format!("{} memory, {} bytes a lane", space.name(), width.bytes()),
    };
    let Some((name, range)) = &range else {
        let counted = counted(None)?;
        let remarks = counted.remarks();
        return Ok(Access { remarks, ..counted.answer(text.to_owned(), &accessed) });
    };
    let (mut chart, mut worst) = (Vec::new(), None::<(i64, Counted)>);
    for value in range.clone() {
        let counted = counted(Some(value))?;
        let amount = counted.costs.amount();
        chart.push(Chart { value, amount, result: access_cost_text(&counted.costs) });
        // The first of several equally bad accesses.
        if worst.as_ref().is_none_or(|(_, worst)| amount > worst.costs.amount()) {
            worst = Some((value, counted));
        }
    }
    let Some((value, worst)) = worst else { return Ok(Access::default()) };
    let answer = worst.answer(format!("{text}, {name} = {value}"), &accessed);
    Ok(Access { values: chart, remarks: worst.remarks(), ..answer })
}

impl Counted {
    fn remarks(&self) -> Vec<String> {
        let bytes = u64::from(self.width.bytes());
        let address = |lane| self.lanes.addresses.of(lane);
        let mut lanes = self.lanes.executing.lanes();
        let misaligned = lanes.find(|lane| !address(*lane).is_multiple_of(bytes));
        let remark = |lane| {
            format!(
                "the address {:#x} of lane {lane} is no multiple of {bytes}: it is rounded down, as SM 5.x \
                 does; later GPUs report an error",
                address(lane)
            )
        };
        misaligned.map(remark).into_iter().collect()
    }
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
    range.map(Some).ok_or_else(|| {
        let title =
            format_args!("expected a name and at most {MAX_VALUES} numbers, such as col=0..32");
        Problem::new("range", title)
    })
}
