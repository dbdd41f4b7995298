use warpload::encoding::{Instruction, ParseErrorKind, Sm, parse_line};

/// Each word that decodes encodes to itself. Its text parses to the same text, and to the same bits
/// except those that no text shows; a text with `INVALIDSIZE` is refused as such. The input is
/// little-endian words.
pub fn decode_then_encode_is_identity(input: &[u8]) {
    let words = input.chunks_exact(8).flat_map(<[u8; 8]>::try_from).map(u64::from_le_bytes);
    for (word, load) in
        words.filter_map(|word| Some((word, Instruction::decode(word, Sm::SPA5).load()?)))
    {
        assert_eq!(load.bits() as u64, word, "{load}");
        let text = load.text();
        match parse_line(&text, Sm::SPA5) {
            Ok(parsed) => {
                assert!(load.lane_bits().is_some(), "{text} has no size");
                assert_eq!(
                    parsed.instruction.bits(),
                    u128::from(word) & !load.reserved_bits(),
                    "{text}"
                );
                assert_eq!(parsed.instruction.text().as_str(), text.as_str());
                assert_eq!((parsed.control, parsed.alias), (None, None), "{text}");
            }
            Err(error) => {
                assert!(load.lane_bits().is_none(), "{text}: {error}");
                assert!(matches!(error.kind, ParseErrorKind::InvalidModifier { .. }), "{error}");
                assert!(text[error.span.range()].starts_with("INVALIDSIZE"), "{text}");
            }
        }
    }
}
