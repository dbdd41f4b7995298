//! [`Set`]: pages or lines, as the summary of a shard carries them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use roaring::RoaringTreemap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::treemap::{read, write};

/// Distinct numbers. As text they are the base64 of the portable form that implementations of Roaring share
/// (<https://github.com/RoaringBitmap/RoaringFormatSpec>, its extension to 64 bits), empty without
/// numbers. Equal sets have equal texts, however they came about; what is read must have that text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set(pub(super) RoaringTreemap);

impl Serialize for Set {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_base64(&write(&self.0), serializer)
    }
}

impl<'de> Deserialize<'de> for Set {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = read_base64(deserializer)?;
        read(&bytes).map(Self).ok_or_else(|| D::Error::custom("invalid set of numbers"))
    }
}

/// Reads bytes that are a text in base64, in the one form that they have.
pub(super) fn read_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text).map_err(|error| D::Error::custom(format!("invalid base64: {error}")))
}

/// Writes bytes in base64.
pub(super) fn write_base64<S: Serializer>(
    bytes: &impl AsRef<[u8]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(bytes))
}
