//! `coalescing`: the costs of an access.

use serde::{Deserialize, Deserializer, Serialize};
use warpload::json::{self, JsonError};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::{Space, WarpAddresses, Width};
use warpload_replay::AccessCosts;

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable};
use crate::json::values::hexadecimal;
use crate::text::difference;

/// The costs of an access. `None` for counts that its memory does not have.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    #[serde(deserialize_with = "present_or_null")]
    sectors: Option<u64>,
    #[serde(deserialize_with = "present_or_null")]
    lines: Option<u64>,
    #[serde(deserialize_with = "present_or_null")]
    ideal_sectors: Option<u64>,
    #[serde(deserialize_with = "present_or_null")]
    wavefronts: Option<u64>,
}

/// Reads a value that can be null. Through this function the key must be there, whereas serde reads a missing `Option`
/// as null.
fn present_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Option::deserialize(from)
}

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let expected: Costs = json::from_str(expected.answer).map_err(Uncomparable::Expected)?;
    let got: Costs = json::from_str(answer).map_err(Uncomparable::Answer)?;
    let shown = |count: Option<u64>| count.map_or("null".to_owned(), |count| count.to_string());
    let counts = [
        ("sectors", expected.sectors, got.sectors),
        ("lines", expected.lines, got.lines),
        ("ideal_sectors", expected.ideal_sectors, got.ideal_sectors),
        ("wavefronts", expected.wavefronts, got.wavefronts),
    ];
    let different = counts.into_iter().filter(|(_, expected, got)| expected != got);
    let line = |(name, expected, got)| difference(&name, &shown(expected), &shown(got));
    Ok(different.map(line).collect())
}

#[derive(Deserialize)]
struct Question {
    bytes: u32,
    space: String,
    active: String,
    addresses: Vec<Option<String>>,
}

pub(super) fn answer(question: &str, _: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let Question { bytes, space, active, addresses } = json::from_str(question)?;
    let space = Space::ALL.into_iter().find(|known| known.name() == space);
    let space = space.ok_or_else(|| {
        JsonError::at(
            "space",
            format!("expected one of {}", Space::ALL.map(Space::name).join(", ")),
        )
    })?;
    let width = Width::from_bytes(bytes).ok_or_else(|| {
        JsonError::at("bytes", "expected the size of an access: 1, 2, 4, 8, 16 or 32")
    })?;
    let active = hexadecimal(&active).and_then(|mask| u32::try_from(mask).ok());
    let active =
        active.ok_or_else(|| JsonError::at("active", "expected a mask of 32 bits, 0x…"))?;
    let lanes = LaneMask::from_bits(active);
    if addresses.len() != LANES {
        return Err(JsonError::at("addresses", format!("expected {LANES} values, lane 0 first")));
    }
    let mut list = [0; LANES];
    for lane in lanes {
        let address = addresses[lane].as_deref().and_then(hexadecimal);
        list[lane] = address.and_then(|address| u64::try_from(address).ok()).ok_or_else(|| {
            JsonError::at(
                format!("addresses[{lane}]"),
                "expected an address of a lane that executes, 0x…",
            )
        })?;
    }
    let costs = AccessCosts::of_access(space, width, lanes, &WarpAddresses::Each(list));
    Ok(CaseAnswer::new(&Costs {
        sectors: costs.sectors(),
        lines: costs.lines(),
        ideal_sectors: costs.ideal_sectors(),
        wavefronts: costs.wavefronts(),
    }))
}
