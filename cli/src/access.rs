//! `access`: the cost of an access, from a formula of the lane or a layout instead of a trace.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use serde::Serialize;
use warpload::lane::LaneMask;
use warpload::memory::{Space, Width};
use warpload::text::parse_number;
use warpload_replay::{
    AccessCosts, AccessQuestion, CountedAccess, LanePattern, PatternError, PatternErrorKind,
    QuestionError,
};
use warpload_report::{AccessDrawing, AccessRow, access_cost_text, access_rows};

use crate::destination::{self, Destination, SVG};
use crate::diagnostic::{self, Message, MessageLevel, Origin};
use crate::io::Output;
use crate::name::plural;
use crate::options::{self, Format, write_drawing};
use crate::process::Status;
use crate::table::{self, Value};
use crate::terminal;

/// Count the bank conflicts or sectors of an access, and draw them
///
/// The access is a formula of `lane` with the operators of C, which results in a byte address; or a layout as CuTe
/// prints it, with the lane as its index. The counts are the same as in `replay`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload access 'lane * 128'                          a column of float tile[32][32]
  warpload access 'lane * 132'                          the same with a column of padding
  warpload access '(row + lane) * 128 + (lane ^ col) * 4' --let row=0 --for col=0..32
  warpload access --bytes 16 'swizzle(lane * 128, 3, 4, 3)'
  warpload access --matrices 4 --element 2 'Sw<3,3,3> o (16,2):(64,8)'
  warpload access --space global 'base + lane * 12' --let base=0x100
  warpload access 'lane * 128' --svg column.svg")]
pub(crate) struct Arguments {
    /// A formula of the lane, or a layout
    #[arg(value_name = "ACCESS", allow_hyphen_values = true)]
    pattern: String,

    /// Bytes that each lane accesses: 1, 2, 4, 8, 16 or 32
    #[arg(long, value_name = "N", default_value = "4", value_parser = read_width)]
    bytes: Width,

    /// Memory of the access: shared, global, local or constant
    #[arg(long, default_value = "shared", value_parser = read_space)]
    space: Space,

    /// Bytes of an element, the unit of layouts; by default the bytes of the access
    #[arg(long, value_name = "N", value_parser = options::number::<u32>(1..=u32::MAX.into()))]
    element: Option<u32>,

    /// Value of a name in the formula; in a layout, `base` is its first address
    #[arg(long = "let", value_name = "NAME=VALUE", value_parser = read_value)]
    values: Vec<(String, i64)>,

    /// Name that counts from A to B - 1: each value is a row, and the worst is drawn
    #[arg(long = "for", value_name = "NAME=A..B", value_parser = read_range)]
    range: Option<(String, std::ops::Range<i64>)>,

    /// Lanes that take part, as a mask: bit n is lane n
    #[arg(long, default_value = "0xffffffff", hide_default_value = true, value_parser = read_mask)]
    mask: LaneMask,

    /// LDSM (ldmatrix) of 1, 2 or 4 matrices: 8 lanes for each matrix, with the address of a row of 16 bytes each
    #[arg(long, value_name = "N", conflicts_with_all = ["bytes", "mask", "space"], value_parser = ["1", "2", "4"])]
    matrices: Option<String>,

    /// Serve two groups of 8 lanes at once if they load 16 bytes in equal pairs, as SM 7.0 to 7.5 do
    #[arg(long)]
    merge_pairs: bool,

    /// Draw a picture into this file, light or dark as its reader prefers; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    svg: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn read_width(text: &str) -> Result<Width, String> {
    let width = parse_number(text).and_then(|bytes| Width::from_bytes(bytes.try_into().ok()?));
    width.ok_or_else(|| "expected 1, 2, 4, 8, 16 or 32".to_owned())
}

fn read_space(text: &str) -> Result<Space, String> {
    let space = Space::ALL.into_iter().find(|space| space.name() == text);
    space.ok_or_else(|| format!("expected one of {}", Space::ALL.map(Space::name).join(", ")))
}

fn read_mask(text: &str) -> Result<LaneMask, String> {
    let mask = options::lane_mask(text).ok().filter(|mask| !mask.is_empty());
    mask.ok_or_else(|| "expected a mask of at least one of 32 lanes, such as 0xffff".to_owned())
}

fn read_value(text: &str) -> Result<(String, i64), String> {
    let value = LanePattern::parse_value(text);
    value.ok_or_else(|| "expected a name and a number, such as base=0x100".to_owned())
}

/// The most values of a counted name.
const MAX_VALUES: i64 = 65536;

fn read_range(text: &str) -> Result<(String, std::ops::Range<i64>), String> {
    LanePattern::parse_range(text, MAX_VALUES).map_err(|error| error.to_string())
}

#[derive(Serialize)]
struct AccessJson<'a> {
    access: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    space: &'static str,
    bytes: u32,
    lanes: u32,
    /// One for each lane that takes part, lanes ascending.
    addresses: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wavefronts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ideal_wavefronts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sectors: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ideal_sectors: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constant_addresses: Option<u64>,
    rows: Vec<AccessRow>,
}

pub(crate) fn execute(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
    arguments.svg.as_deref().map_or(Ok(()), |file| destination::check_name(file, SVG))?;
    let pattern = match LanePattern::parse(&arguments.pattern) {
        Ok(pattern) => pattern,
        Err(error) => return Ok(refuse(arguments, &error, output)),
    };
    let question = arguments.question(pattern);
    question.check().map_err(|error| arguments.with_option(&error))?;
    let accesses = match question.accesses() {
        Ok(accesses) => accesses,
        Err(error) => return Ok(refuse(arguments, &error, output)),
    };
    accesses.iter().filter_map(CountedAccess::misaligned).for_each(diagnostic::note);
    let worst = CountedAccess::worst(&accesses).context("no access")?;
    let shown = Shown { pattern: &arguments.pattern, question: &question };
    match (&arguments.svg, arguments.format) {
        (Some(file), _) => {
            Destination::new(Some(file))?.text(&shown.drawn(worst).svg(), output)?;
        }
        (None, Format::Json) => {
            for access in &accesses {
                output.json(&shown.json(access))?;
            }
        }
        (None, Format::Text) => {
            if accesses.len() > 1 {
                output.text(&shown.table(&accesses))?;
            }
            write_drawing(output, |is_coloured| shown.drawn(worst).text(is_coloured))?;
        }
    }
    Ok(Status::Done)
}

/// Whether programs call a thread of a warp or block so.
fn names_the_lane(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    let names = ["tid", "tidx", "thread", "threadid", "threadidx", "laneid", "laneidx", "t", "l"];
    names.contains(&&*name)
}

/// Reports an error in the pattern.
fn refuse(arguments: &Arguments, error: &PatternError, output: &mut Output) -> Status {
    let help = match &error.kind {
        PatternErrorKind::UnknownName(name) => {
            let lane = if names_the_lane(name) { "did you mean `lane`? else " } else { "" };
            Some(format!("{lane}give it one: `--let {name}=0`, or `--for {name}=0..32`"))
        }
        _ => None,
    };
    let message = Message::new(MessageLevel::Error, error).help(help.as_deref());
    let origin = Origin { file: "access", line: 1, column: 1 };
    let place = (error.span.start, error.span.end);
    diagnostic::in_line(&message, origin, &arguments.pattern, place);
    output.raise(Status::Unreadable)
}

impl Arguments {
    fn question(&self, pattern: LanePattern) -> AccessQuestion {
        let question = AccessQuestion {
            space: self.space,
            width: self.bytes,
            element: self.element,
            values: self.values.clone(),
            range: self.range.clone(),
            mask: self.mask,
            merge_pairs: self.merge_pairs,
            ..AccessQuestion::new(pattern)
        };
        question.matrices(self.matrices.as_deref().and_then(|matrices| matrices.parse().ok()))
    }

    /// Adds the option to an error.
    fn with_option(&self, error: &QuestionError) -> anyhow::Error {
        let of_name = |name: &String| {
            let is_value = self.values.iter().any(|(known, _)| known == name);
            format!("{} {name}", if is_value { "--let" } else { "--for" })
        };
        let option = match error {
            QuestionError::Unused(name) | QuestionError::Twice(name) => of_name(name),
            QuestionError::Element => "--element".to_owned(),
            _ => "--merge-pairs".to_owned(),
        };
        anyhow!("{option}: {error}")
    }
}

/// A question, and the text of its pattern.
struct Shown<'a> {
    pattern: &'a str,
    question: &'a AccessQuestion,
}

impl<'a> Shown<'a> {
    fn rows(&self, access: &CountedAccess) -> Vec<AccessRow> {
        access_rows(access.space, access.width, access.rules, &access.lanes)
    }

    fn drawn(&self, access: &CountedAccess) -> AccessDrawing {
        let pattern = terminal::shown(self.pattern);
        let title = match self.question.range.as_ref().zip(access.value) {
            Some(((name, _), value)) => format!("{pattern}, {name} = {value}"),
            None => pattern.into_owned(),
        };
        let result = format!("{}: {}", self.question.described(), access_cost_text(&access.costs));
        AccessDrawing::new(title, result, access.space, self.rows(access))
    }

    fn json(&self, access: &CountedAccess) -> AccessJson<'a> {
        let CountedAccess { lanes, costs, .. } = access;
        let address = |lane| format!("{:#x}", lanes.addresses.of(lane));
        AccessJson {
            access: self.pattern,
            value: access.value,
            space: access.space.name(),
            bytes: access.width.bytes(),
            lanes: lanes.executing.count(),
            addresses: lanes.executing.lanes().map(address).collect(),
            wavefronts: costs.wavefronts(),
            ideal_wavefronts: costs.ideal_wavefronts(),
            conflicts: costs.conflicts(),
            sectors: costs.sectors(),
            ideal_sectors: costs.ideal_sectors(),
            lines: costs.lines(),
            constant_addresses: costs.constant.map(|cost| cost.amount),
            rows: self.rows(access),
        }
    }

    /// A row for each value of the counted name, and their sum.
    fn table(&self, accesses: &[CountedAccess]) -> String {
        let column = |heading: &str, of: fn(&AccessCosts) -> Option<u64>| {
            let costs = accesses.iter().map(|access| of(&access.costs));
            let values: Vec<_> = costs.map(|cost| cost.map_or(Value::None, Value::Count)).collect();
            let is_known = values.iter().any(|value| !matches!(value, Value::None));
            is_known.then(|| (heading.to_owned(), 0, values))
        };
        let numbers = accesses.iter().map(|access| access.value.unwrap_or_default().to_string());
        let name = self.question.range.as_ref().map_or(String::new(), |(name, _)| name.clone());
        let columns = [
            Some((name, 0, numbers.map(Value::Shown).collect())),
            column("wavefronts", AccessCosts::wavefronts),
            column("conflicts", AccessCosts::conflicts),
            column("ideal", AccessCosts::ideal_wavefronts),
            column("sectors", AccessCosts::sectors),
            column("lines", AccessCosts::lines),
            column("ideal", AccessCosts::ideal_sectors),
            column("addresses", |costs| costs.constant.map(|cost| cost.amount)),
        ];
        let table = table::grid(columns.into_iter().flatten());
        let mut text = format!("{}\n{table}", self.question.described());
        let sum = |of: fn(&AccessCosts) -> u64| {
            accesses.iter().map(|access| of(&access.costs)).sum::<u64>()
        };
        let all = sum(AccessCosts::amount);
        text += &match self.question.space {
            Space::Shared => {
                let conflicts = sum(|costs| costs.conflicts().unwrap_or(0));
                format!("all: {}, {conflicts} of them bank conflicts\n\n", plural(all, "wavefront"))
            }
            Space::Constant { .. } => format!("all: {all} times an address is served\n\n"),
            _ => {
                let ideal = sum(|costs| costs.ideal_sectors().unwrap_or(0));
                format!("all: {}, ideal {ideal}\n\n", plural(all, "sector"))
            }
        };
        text
    }
}
