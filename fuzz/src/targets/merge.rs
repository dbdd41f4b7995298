use warpload_replay::{Comparison, Summary};
use warpload_report::comparison_html;

/// The shards of a replay merge to the same result in any order, or are refused in any order. What only looks like a shard,
/// because its checksum is wrong, does no harm. Any two complete summaries are compared. The input is summaries in JSON,
/// one a line.
pub(super) fn summaries_merge_in_any_order(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    // Most inputs have a wrong checksum, which this does not look at.
    let unchecked = input.lines().map(serde_json::from_str);
    let Ok(unchecked) = unchecked.collect::<Result<Vec<Summary>, _>>() else { return };
    if unchecked.iter().all(|summary| summary.shard.is_none()) {
        compare(&unchecked);
    }
    let _ = Summary::merge(unchecked);
    let checked = input.lines().map(|text| Summary::from_json(text.as_bytes()));
    let Ok(checked) = checked.collect::<Result<Vec<_>, _>>() else { return };
    if checked.iter().any(|summary| summary.shard.is_none()) {
        return;
    }
    let mut reversed = checked.clone();
    reversed.reverse();
    match (Summary::merge(checked), Summary::merge(reversed)) {
        (Ok(merged), other) => {
            assert_eq!(other.as_ref(), Ok(&merged));
            assert_eq!(read_again(&merged), merged);
            compare(&[merged.clone(), merged]);
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
            assert_eq!(comparison.rows.len(), reversed.rows.len());
            assert!(comparison_html(&comparison, ["a", "b"]).ends_with("</html>\n"));
        }
        (Err(_), Err(_)) => assert_ne!(one.selected, other.selected),
        _ => panic!("refused in only one order"),
    }
}

/// Writes a summary as JSON, and reads it again.
pub(super) fn read_again(summary: &Summary) -> Summary {
    let json = serde_json::to_string(summary).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}"))
}
