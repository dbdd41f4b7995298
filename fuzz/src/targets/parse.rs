use warpload::encoding::parse_line;

/// Any text parses, or is refused with a span in it; the text of what parses parses to the same.
pub fn parse_does_not_panic(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match parse_line(text) {
        Ok(line) => {
            let again = parse_line(&line.instruction.text()).map(|line| line.instruction);
            assert_eq!(again, Ok(line.instruction));
        }
        Err(error) => {
            assert!(text.get(error.span.range()).is_some());
            let (message, hint) = (error.to_string(), error.hint_in(text));
            assert!(!message.is_empty() && hint.is_none_or(|hint| !hint.to_string().is_empty()));
        }
    }
}
