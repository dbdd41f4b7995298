use warpload_replay::{Comparison, Summary};
use warpload_report::comparison_html;

/// Summaries merge to the same in any order and in two steps, or are refused in any order; any two are
/// compared. The input is summaries in JSON, one after the other.
pub fn summaries_merge_in_any_order(input: &[u8]) {
    let summaries = serde_json::Deserializer::from_slice(input).into_iter();
    let summaries: Result<Vec<Summary>, _> = summaries.collect();
    let Ok(summaries) = summaries else { return };
    // With the checksums of what they say, of which most inputs would have another.
    let summaries: Vec<Summary> = summaries.iter().map(read_again).collect();
    if let [one, other, ..] = &summaries[..] {
        let comparison = Comparison::new(one, other);
        assert_eq!(comparison.per_pc.len(), Comparison::new(other, one).per_pc.len());
        assert_eq!(Comparison::new(one, one).changed().count(), 0);
        assert!(comparison_html(&comparison, ["a", "b"]).ends_with("</html>\n"));
    }
    let mut reversed = summaries.clone();
    reversed.reverse();
    let mut steps = summaries.clone();
    steps.sort_by_key(|summary| summary.partial.as_ref().map(|partial| *partial.shards().start()));
    let merged = Summary::merge(summaries);
    if merged.is_ok() && steps.len() > 1 {
        let rest = steps.split_off(steps.len() / 2);
        let step = |part| {
            Summary::merge_partial(part)
                .unwrap_or_else(|error| panic!("refused as a step: {error}"))
        };
        assert_eq!(Summary::merge(vec![step(steps), step(rest)]), merged);
    }
    match (&merged, Summary::merge(reversed)) {
        (Ok(merged), other) => {
            assert_eq!(other.as_ref(), Ok(merged));
            assert_eq!(read_again(merged), *merged);
        }
        (Err(error), Err(_)) => assert!(!error.to_string().is_empty()),
        (Err(error), Ok(_)) => panic!("refused in only one order: {error}"),
    }
}

/// Writes a summary as JSON, and reads it.
pub(super) fn read_again(summary: &Summary) -> Summary {
    let json = serde_json::to_string(summary).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}"))
}
