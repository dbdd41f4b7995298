use warpload::encoding::{ParseError, Sm, parse_line};

/// Any text parses, or is refused with a span in it; the text of what parses parses to the same.
pub fn parse_does_not_panic(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match parse_line(text, Sm::SPA5) {
        Ok(line) => {
            let again = parse_line(&line.instruction.text(), Sm::SPA5).map(|line| line.instruction);
            assert_eq!(again, Ok(line.instruction));
        }
        Err(error) => is_in(text, &error),
    }
}

/// Asserts that an error says something about a place in the text.
pub(super) fn is_in(text: &str, error: &ParseError) {
    assert!(text.get(error.span.range()).is_some(), "{text}");
    let (message, hint) = (error.to_string(), error.hint_in(text));
    assert!(!message.is_empty() && hint.is_none_or(|hint| !hint.to_string().is_empty()));
}
