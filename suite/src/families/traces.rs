//! `traces`: replays of files, or their refusal.

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZero;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use warpload_replay::{
    AccessCounts, AccessKind, NothingSelected, ReplayRequest, Summary, TraceCounts, replay,
};
use warpload_trace::{ImportError, TraceError};

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable, UnopenedTrace};
use super::object::differences;
use crate::json::{self, JsonError};
use crate::text::with_causes;

const REFUSED: &str = "refused";

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let expected: Value = json::from_str(expected.answer).map_err(Uncomparable::Expected)?;
    let got: Value = json::from_str(answer).map_err(Uncomparable::Answer)?;
    let is_refused = |value: &Value| value.get(REFUSED) == Some(&Value::Bool(true));
    let word = |value: &Value| if is_refused(value) { REFUSED } else { "counts" };
    if is_refused(&expected) != is_refused(&got) {
        return Ok(vec![format!("expected {}, got {}", word(&expected), word(&got))]);
    }
    Ok(differences(&expected, &got, |_| true))
}

#[derive(Deserialize)]
struct Question {
    file: String,
    #[serde(default)]
    options: ReplayRequest,
}

pub(super) fn answer(question: &str, answerer: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let Question { file, mut options } = json::from_str(question)?;
    // A question is about one file, so options cannot name others.
    if options.image.is_some() || !options.cubin.is_empty() {
        return Err(JsonError::at("options", "expected options without other files"));
    }
    let Some(open) = answerer.open else {
        return Ok(CaseAnswer::Skip("traces are not opened here".to_owned()));
    };
    options.threads = Some(NonZero::<usize>::MIN);
    // A missing file is an error rather than a refusal, which a case can expect. `-` would read the questions
    // themselves.
    if file == "-" || !Path::new(&file).is_file() {
        let message = format!("no file {file:?}; expected the path of a file");
        return Err(JsonError::at("file", message));
    }
    let refused = || CaseAnswer::new(&serde_json::json!({ REFUSED: true }));
    let trace = match open(Path::new(&file)) {
        Ok(trace) => trace,
        Err(UnopenedTrace::Refused) => return Ok(refused()),
        Err(UnopenedTrace::Failed(message)) => return Ok(CaseAnswer::Error(message)),
    };
    let selection = options.selection(trace.contents());
    let request = options.options(None, None, selection.as_ref());
    Ok(match options.on_threads(|| replay(&trace, &request)) {
        Ok(summary) => match NothingSelected::find(&summary, &trace, &request) {
            Some(nothing) => CaseAnswer::Error(nothing.to_string()),
            None => CaseAnswer::new(&counts(&summary)),
        },
        Err(error) if is_refusal(&error) => refused(),
        Err(error) => CaseAnswer::Error(with_causes(&error)),
    })
}

/// The counts that cases expect, under the keys of the schema: loads by themselves, the traffic of stores, and that of
/// atomics and reductions together.
fn counts(summary: &Summary) -> Value {
    let TraceCounts { loads, stores, atomics, reductions, .. } = &summary.counts;
    let mut by_opcode = BTreeMap::new();
    for row in summary.rows.iter().filter(|row| row.kind == AccessKind::Load) {
        *by_opcode.entry(&row.opcode).or_insert(0) += row.counts.accesses;
    }
    let space = loads.by_space;
    let global = loads.global.unwrap_or_default();
    let shared = loads.shared.as_deref().copied().unwrap_or_default();
    let local = loads.local.as_deref().copied().unwrap_or_default();
    let constant = loads.constant.as_deref().copied().unwrap_or_default();
    let traffic = |kinds: &[&AccessCounts]| {
        let sum = |number: fn(&AccessCounts) -> u64| {
            kinds.iter().fold(0, |sum: u64, of| sum.saturating_add(number(of)))
        };
        json!({
            "count": sum(|of| of.accesses),
            "lanes": sum(|of| of.lanes),
            "bytes": sum(|of| of.bytes),
            "sectors": sum(|of| of.global.unwrap_or_default().sectors.sum),
            "ideal_sectors": sum(|of| of.global.unwrap_or_default().ideal_sectors),
        })
    };
    json!({
        "records": summary.counts.instructions,
        "loads": loads.accesses,
        "lanes": loads.lanes,
        "bytes": loads.bytes,
        "by_opcode": by_opcode,
        "by_space": {
            "global": space.global,
            "local": space.local,
            "shared": space.shared,
            "constant": space.constant,
            "unresolved": space.unresolved,
        },
        "sectors": global.sectors.sum,
        "lines": global.lines,
        "ideal_sectors": global.ideal_sectors,
        "lane_faults": loads.lane_faults,
        "shared": {
            "loads": shared.accesses,
            "wavefronts": shared.wavefronts.sum,
            "ideal_wavefronts": shared.ideal_wavefronts,
            "conflicts": shared.conflicts,
        },
        "local": {
            "loads": local.accesses,
            "sectors": local.sectors,
            "ideal_sectors": local.ideal_sectors,
        },
        "constant": { "loads": constant.accesses, "addresses": constant.addresses },
        "stores": traffic(&[stores]),
        "atomics": traffic(&[atomics, reductions]),
        "mismatches": loads.values.mismatches,
        "digest": summary.digest,
    })
}

/// Returns whether an error says that a file is not a trace, or is damaged.
#[must_use]
pub fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    let is_one = error.is::<TraceError>() || error.is::<ImportError>();
    is_one || error.source().is_some_and(is_refusal)
}
