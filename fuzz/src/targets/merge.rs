use warpload_replay::{Comparison, PartialSummary, Summary};
use warpload_report::comparison_html;

/// Partial summaries merge to the same result in any order and in two steps, or are refused in any order. Any two
/// complete summaries are compared. The input is summaries in JSON, one a line.
pub fn summaries_merge_in_any_order(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let texts: Vec<&str> = input.lines().collect();
    let wholes = texts.iter().map(|text| serde_json::from_str(text));
    if let Ok(wholes) = wholes.collect::<Result<Vec<Summary>, _>>() {
        return compare(&wholes);
    }
    let parts = texts.iter().map(|text| PartialSummary::from_json(sealed(text).as_bytes()));
    let Ok(parts) = parts.collect::<Result<Vec<_>, _>>() else { return };
    let mut reversed = parts.clone();
    reversed.reverse();
    let mut steps = parts.clone();
    steps.sort_by_key(|part| *part.shards().start());
    let merged = Summary::merge(parts);
    if merged.is_ok() && steps.len() > 1 {
        let rest = steps.split_off(steps.len() / 2);
        let step = |part| {
            let part = PartialSummary::merge(part)
                .unwrap_or_else(|error| panic!("refused as a step: {error}"));
            let json = serde_json::to_vec(&part).unwrap_or_else(|error| panic!("{error}"));
            PartialSummary::from_json(&json).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(Summary::merge(vec![step(steps), step(rest)]), merged);
    }
    match (&merged, Summary::merge(reversed)) {
        (Ok(merged), other) => {
            assert_eq!(other.as_ref(), Ok(merged));
            assert_eq!(read_again(merged), *merged);
            compare(&[merged.clone(), merged.clone()]);
        }
        (Err(error), Err(_)) => assert!(!error.to_string().is_empty()),
        (Err(error), Ok(_)) => panic!("refused in only one order: {error}"),
    }
}

fn compare(wholes: &[Summary]) {
    let [one, other, ..] = wholes else { return };
    let compared = |one, other| Comparison::new(one, other);
    assert_eq!(compared(one, one).map(|same| same.changed().count()), Ok(0));
    match (compared(one, other), compared(other, one)) {
        (Ok(comparison), Ok(reversed)) => {
            assert_eq!(comparison.per_pc.len(), reversed.per_pc.len());
            assert!(comparison_html(&comparison, ["a", "b"]).ends_with("</html>\n"));
        }
        (Err(_), Err(_)) => assert_ne!(one.selected, other.selected),
        _ => panic!("refused in only one order"),
    }
}

/// Corrects the checksum of a partial summary, because most inputs would have a wrong one.
fn sealed(text: &str) -> String {
    let sealed = text.rsplit_once(",\"checksum\":").and_then(|(start, _)| {
        let checksum = crc32fast::hash(start.strip_prefix("{\"partial\":")?.as_bytes());
        Some(format!("{start},\"checksum\":\"{checksum:08x}\"}}"))
    });
    sealed.unwrap_or_else(|| text.to_owned())
}

/// Writes a summary as JSON, and reads it again.
pub(super) fn read_again(summary: &Summary) -> Summary {
    let json = serde_json::to_string(summary).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}"))
}
