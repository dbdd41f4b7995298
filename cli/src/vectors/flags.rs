//! `vectors flags`: the meaning of each flag.

use serde::Serialize;
use warpload_suite::flags::{self, Flag};

use crate::io::Output;
use crate::options::Format;
use crate::process::Status;
use crate::table::{self, Column, Value};

/// List the flags of vectors with their meanings
///
/// Flags are computed from a vector and its outcome on the literal executor. † marks points that no public source
/// decides: vectors with such a flag have `"decision": true`. `7+` marks points that are undecided only from SM 7.0 on.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload vectors flags --format json")]
pub(crate) struct Arguments {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct FlagJson {
    flag: &'static str,
    note: &'static str,
    /// Whether no public source decides: for SM 5.x and 6.x, and for later ones.
    decision: bool,
    decision_from_sm70: bool,
}

const COLUMNS: [Column<Flag>; 3] = [
    Column { heading: "flag", value: |flag| Value::Text(flag.name.into()) },
    Column { heading: "†", value: decision },
    Column { heading: "note", value: |flag| Value::Whole(flag.note.to_owned()) },
];

fn decision(flag: &Flag) -> Value<'_> {
    match [false, true].map(|is_later| flag.is_decision(is_later)) {
        [true, _] => Value::Shown("†".to_owned()),
        [false, true] => Value::Shown("† 7+".to_owned()),
        _ => Value::Shown(String::new()),
    }
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    match arguments.format {
        Format::Text => output.text(&table::text(&COLUMNS, flags::all()))?,
        Format::Json => {
            for flag in flags::all() {
                output.json(&FlagJson {
                    flag: flag.name,
                    note: flag.note,
                    decision: flag.is_decision(false),
                    decision_from_sm70: flag.is_decision(true),
                })?;
            }
        }
    }
    Ok(Status::Done)
}
