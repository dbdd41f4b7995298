//! The values of docs/vectors.md: hexadecimal numbers and bytes, names of registers and predicates, objects without
//! duplicate keys.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::ser::{Serialize, Serializer};
use warpload_encoding::{Pred, Reg, Sm, UniformReg};

use warpload::lane::{LANES, LaneValues};

struct TextVisitor<T> {
    expected: &'static str,
    read: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).ok_or_else(|| {
            // Cut, because the bytes of a memory can be a megabyte of digits.
            let shown: String = text.chars().take(40).collect();
            E::invalid_value(Unexpected::Str(&shown), &self)
        })
    }
}

/// Types that are text in JSON. Each row has the description for messages, the function that reads the text, and the
/// function that writes it.
macro_rules! texts {
    ($($(#[$meta:meta])* $name:ident($type:ty): $expected:literal, $read:expr, $write:expr;)+) => {$(
        $(#[$meta])*
        pub(crate) struct $name(pub(crate) $type);

        impl $name {
            fn from_text(text: &str) -> Option<Self> {
                let read: fn(&str) -> Option<$type> = $read;
                read(text).map(Self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_str(TextVisitor { expected: $expected, read: Self::from_text })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$type) -> String = $write;
                to.serialize_str(&write(&self.0))
            }
        }
    )+};
}

#[rustfmt::skip]
texts! {
    /// A number of at most 64 bits, `"0x…"`.
    #[derive(Clone, Copy)]
    Hex64(u64): "0x and up to 16 hexadecimal digits",
        |text| u64::try_from(hexadecimal(text)?).ok(), |number| format!("{number:#x}");
    /// A number of at most 32 bits, `"0x…"`.
    #[derive(Clone, Copy, Default)]
    Hex32(u32): "0x and a hexadecimal number of at most 32 bits",
        |text| u32::try_from(hexadecimal(text)?).ok(), |number| format!("{number:#x}");
    /// Bytes, two hexadecimal digits each, without `0x`.
    HexBytes(Vec<u8>): "bytes of two hexadecimal digits each", bytes, |bytes| digits(bytes);
    /// `R0` to `R254`.
    #[derive(Clone, Copy, PartialEq)]
    RegisterName(Reg): "a register, R0 to R254",
        |text| numbered(text, "R").map(Reg::new).filter(|one| !one.is_zero()), Reg::to_string;
    /// `P0` to `P6`.
    #[derive(Clone, Copy, PartialEq)]
    PredicateName(Pred): "a predicate, P0 to P6",
        |text| numbered(text, "P").and_then(predicate), Pred::to_string;
    /// `UR0` to `UR254`.
    #[derive(Clone, Copy, PartialEq)]
    UniformName(UniformReg): "a uniform register, UR0 to UR254",
        |text| numbered(text, "UR").map(UniformReg::new).filter(|one| one.number() < 255), UniformReg::to_string;
    /// `UP0` to `UP6`.
    #[derive(Clone, Copy, PartialEq)]
    UniformPredicateName(Pred): "a uniform predicate, UP0 to UP6",
        |text| numbered(text, "UP").and_then(predicate), |one| format!("U{one}");
    /// `50` to `121`, with an optional letter.
    #[derive(Clone, Copy)]
    SmName(Sm): "an SM, such as \"80\" or \"90a\"", |text| text.parse().ok(), Sm::to_string;
}

/// Parses `0x` and hexadecimal digits, up to 128 bits.
pub(crate) fn hexadecimal(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    // Checked, because `from_str_radix` accepts a sign too.
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    pairs.iter().map(byte).collect()
}

/// Returns bytes as [`HexBytes`] writes them.
pub(crate) fn digits(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The number after the letters. Leading zeros are refused.
fn numbered(text: &str, letters: &str) -> Option<u8> {
    let digits = text.strip_prefix(letters)?;
    let is_canonical = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|_| is_canonical)
}

fn predicate(number: u8) -> Option<Pred> {
    Pred::try_from(number).ok().filter(|predicate| !predicate.is_true())
}

/// One value of every lane, lane 0 first.
pub(crate) struct Lanes(pub(crate) LaneValues);

impl Serialize for Lanes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.map(Hex32))
    }
}

struct LanesVisitor;

impl<'de> Visitor<'de> for LanesVisitor {
    type Value = Lanes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {LANES} values, one a lane")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Lanes, A::Error> {
        let mut lanes = [0; LANES];
        for (lane, held) in lanes.iter_mut().enumerate() {
            let value = values.next_element()?;
            Hex32(*held) = value.ok_or_else(|| A::Error::invalid_length(lane, &self))?;
        }
        let mut count = LANES;
        while values.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        if count > LANES { Err(A::Error::invalid_length(count, &self)) } else { Ok(Lanes(lanes)) }
    }
}

impl<'de> Deserialize<'de> for Lanes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(LanesVisitor)
    }
}

/// An object, in the order of the text. A duplicate key is an error.
pub(crate) struct UniqueMap<K, V>(pub(crate) Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for UniqueMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<K, V> Default for UniqueMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct UniqueMapVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K, V> Visitor<'de> for UniqueMapVisitor<K, V>
where
    K: Deserialize<'de> + PartialEq,
    V: Deserialize<'de>,
{
    type Value = UniqueMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(K, V)> = Vec::new();
        while let Some(key) = map.next_key()? {
            let value = map.next_value()?;
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom("duplicate key"));
            }
            entries.push((key, value));
        }
        Ok(UniqueMap(entries))
    }
}

impl<'de, K, V> Deserialize<'de> for UniqueMap<K, V>
where
    K: Deserialize<'de> + PartialEq,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueMapVisitor(PhantomData))
    }
}

/// Reads the value of an optional key, for `#[serde(default, deserialize_with)]`. The key can be left out, but null is
/// an error.
///
/// # Errors
/// Returns the errors of the value.
pub fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Implements `Deserialize` for structs that derive it with `#[serde(remote = "Self")]`, so that only objects are
/// accepted. The derived code alone also reads a struct from an array of its fields.
macro_rules! only_objects {
    ($($type:ident),+ $(,)?) => {
        $(impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object;

                impl<'de> serde::de::Visitor<'de> for Object {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$type, A::Error> {
                        // The derived function, which is not a method of the trait.
                        $type::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }

                deserializer.deserialize_map(Object)
            }
        })+
    };
}

/// Implements `Serialize` for structs that derive it with `#[serde(remote = "Self")]`.
macro_rules! written_objects {
    ($($type:ident),+ $(,)?) => {
        $(impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                // The derived function, which is not a method of the trait.
                $type::serialize(self, to)
            }
        })+
    };
}

pub(crate) use {only_objects, written_objects};
