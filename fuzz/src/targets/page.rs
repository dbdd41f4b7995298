use serde_json::{Value, json};
use warpload::memory::{Arena, Fill};
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_report::{ReportPage, html};
use warpload_trace::{BinaryTrace, Shard};

use super::made_trace::{self, made_trace};
use super::merge::read_again;

/// Tags that every page has exactly once.
const ONCE: [&str; 4] = ["<script", "</script", "<style", "</style"];

/// Any trace is refused, or replayed and drawn as a page. No name in the trace becomes markup, a control
/// character or a change of text direction, and the summary survives a round trip through JSON.
///
/// The input is a binary trace, or three bytes of options, the length of a name, the name, and blocks.
pub(super) fn page_is_inert(input: &[u8]) {
    let (choices, rest) = match input.split_first_chunk::<4>() {
        Some((choices, rest)) if !input.starts_with(b"WARPLOAD") => (*choices, rest),
        _ => ([17, 0, 0, 0], input),
    };
    let [bits, data, part, length] = choices;
    let (name, blocks) = rest.split_at(usize::from(length).min(rest.len()));
    let name = String::from_utf8_lossy(name);
    let bytes = made_trace(contents(&name).to_string().as_bytes(), blocks);
    let Ok(trace) = BinaryTrace::new(Arena::from(bytes)) else { return };
    let options = ReplayOptions::new(match data % 3 {
        0 => ReplayData::Fill(Fill::Address),
        1 => ReplayData::Fill(Fill::Zero),
        _ => ReplayData::Absent,
    });
    let options = ReplayOptions {
        address_bits: 32 + u32::from(bits) % 33,
        shard: (part > 0).then(|| Shard::new(u64::from(part) % 3, 3)).flatten(),
        ..options
    };
    let Ok(summary) = replay(&trace, &options) else { return };
    let page = ReportPage::new(&summary).title(&name).data(&name);
    let page = html(&page.by_launch(bits % 2 == 1));
    for element in ONCE {
        assert_eq!(page.matches(element).count(), 1, "{element} in the page");
    }
    assert!(!page.contains("<img"), "a name became an element");
    let raw = page.chars().find(|c| c.is_control() && *c != '\n' || turns_direction(*c));
    assert_eq!(raw, None, "raw in the page");
    assert_eq!(read_again(&summary), summary);
}

/// Whether a character changes the text direction, or is a line break without being a control character.
fn turns_direction(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Kernels and operations with `name` wherever a trace has text.
fn contents(name: &str) -> Value {
    let mut contents = made_trace::contents();
    for (key, value) in
        [("source", json!(name)), ("tools", json!([name])), ("notes", json!([name]))]
    {
        contents[key] = value;
    }
    for kernel in contents["kernels"].as_array_mut().into_iter().flatten() {
        (kernel["name"], kernel["header"]) = (json!(name), json!([[name, name]]));
        (kernel["grid"], kernel["block"]) = (json!([1, 2, 1]), json!([32, 1, 1]));
    }
    let operations = contents["operations"].as_array_mut().into_iter().flatten();
    for (number, operation) in operations.enumerate() {
        match number {
            0 | 3 | 4 => {}
            2 => operation["opcode"] = json!(format!("LDL.{name}")),
            9 => operation["opcode"] = json!(format!("LD{name}")),
            _ => operation["opcode"] = json!(name),
        }
    }
    contents
}
