//! Instruction words on the command line.

use anyhow::bail;

/// Reads `0x…`, with or without the prefix, of at most 64 bits.
pub(crate) fn read_word(text: &str) -> anyhow::Result<u64> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let is_word =
        (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u64::from_str_radix(digits, 16) {
        Ok(word) if is_word => Ok(word),
        _ => bail!("{text:?} is no word; expected 0x and up to 16 hexadecimal digits"),
    }
}
