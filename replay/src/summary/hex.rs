//! [`Hex`] and [`Digest`]: numbers that are hexadecimal text in JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

/// A number that is written in hexadecimal, with `0x` and without leading zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub u64);

/// The digest over loaded values: 16 hexadecimal digits. Those of shards add up, wrapping around,
/// to that of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let number = text.strip_prefix("0x").and_then(hexadecimal);
        number.map(Self).ok_or_else(|| {
            D::Error::custom(format_args!(
                "invalid number {text:?}; expected `0x` and up to 16 hexadecimal digits"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        hexadecimal(&text).map(Self).ok_or_else(|| {
            D::Error::custom(format_args!(
                "invalid digest {text:?}; expected up to 16 hexadecimal digits"
            ))
        })
    }
}

fn hexadecimal(digits: &str) -> Option<u64> {
    // `from_str_radix` alone takes a sign.
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}
