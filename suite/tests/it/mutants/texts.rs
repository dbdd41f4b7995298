//! Mistakes of assemblers, each made by our own one on a text that is changed.

use std::path::Path;

use super::launches::tally;

/// A mistake, the file of its cases, the names of which the report must give one, and the change of a question.
type TextMutant = (&'static str, &'static str, &'static [&'static str], fn(&str) -> String);

const MUTANTS: [TextMutant; 3] = [
    (
        "the sign of an offset without a base is lost from SM 75 on",
        "ldc",
        &["from sm_75 on fails where the flag `negative-offset`"],
        |question| {
            let is_of = |sm| question.contains(&format!(r#""sm":"{sm}""#));
            match [50, 70, 72].into_iter().any(is_of) {
                true => question.to_owned(),
                false => question.replace("][-0x", "][0x"),
            }
        },
    ),
    (
        "the sign of an offset is lost beside MT88",
        "ldsm",
        &["`transposed`", "where the flag `negative-offset` is shown"],
        |question| match question.contains(".MT88") {
            true => question.replace("-0x", "0x"),
            false => question.to_owned(),
        },
    ),
    (
        "the uniform register is lost beside MT88",
        "ldsm",
        &["`transposed`", "where the flag `uniform-register` is shown"],
        |question| match question.contains(".MT88") {
            true => question.replace("+UR", "+URZ+0x"),
            false => question.to_owned(),
        },
    ),
];

#[test]
fn mutants_of_texts_are_found_and_named() {
    for (name, file, says, change) in MUTANTS {
        let path = format!("../vectors/v1/decode/{file}.jsonl");
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let cases = std::fs::read_to_string(cases).unwrap();
        assert_eq!(tally(&cases, str::to_owned).counts.failed, 0, "{name}");
        let sentences = tally(&cases, change).sentences();
        let first = sentences.first().map_or("", String::as_str);
        assert!(says.iter().any(|said| first.contains(said)), "{name}: {sentences:?}");
    }
}
