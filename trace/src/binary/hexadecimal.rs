//! A checksum in JSON: eight hexadecimal digits.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// Writes a checksum.
///
/// # Errors
/// Those of `to`.
pub fn serialize<S: Serializer>(checksum: &u32, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{checksum:08x}"))
}

/// Reads a checksum.
///
/// # Errors
/// Those of `from`, and one for a text that is not eight hexadecimal digits.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let text = Cow::<str>::deserialize(from)?;
    let is_plain = text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(&text, 16).ok().filter(|_| is_plain).ok_or_else(|| {
        D::Error::custom(format_args!("{text:?} as checksum; expected 8 hexadecimal digits"))
    })
}
