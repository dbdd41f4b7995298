//! [`Fill`]: the contents of a buffer by a rule, such as `iota:f32:1024`.

use crate::float::{self, Modes};
use crate::memory::{DeviceMemory, TooMuchMemory};
use crate::scalar::ScalarType as T;
use warpload::text::parse_number;

/// The contents of a buffer by a rule: `zeros:4096`, `uninit:4096`, `ones:f32:1024`, `iota:u32:1024`,
/// `random:f32:1024:7`.
///
/// The rule is followed by a type and a number of elements. Without a type, the number is one of bytes; ones and
/// ascending numbers need a type. The last number is the seed of random ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    rule: Rule,
    scalar: T,
    count: u64,
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Zeros,
    /// Unknown bytes.
    Uninit,
    Ones,
    /// 0, 1, 2 and so on.
    Iota,
    /// All values of an integer alike; floats from -1 up to 1, exclusively.
    Random,
}

const RULES: [(&str, Rule); 5] = [
    ("zeros", Rule::Zeros),
    ("uninit", Rule::Uninit),
    ("ones", Rule::Ones),
    ("iota", Rule::Iota),
    ("random", Rule::Random),
];

/// The types of elements.
const TYPES: [T; 16] = [
    T::B8,
    T::B16,
    T::B32,
    T::B64,
    T::U8,
    T::U16,
    T::U32,
    T::U64,
    T::S8,
    T::S16,
    T::S32,
    T::S64,
    T::F16,
    T::Bf16,
    T::F32,
    T::F64,
];

/// The reason why a text is no [`Fill`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// The number of elements is none.
    #[error("`{0}` is no number of elements")]
    Count(String),
    /// The type of the elements is unknown.
    #[error(
        "`{0}` is no type of elements: expected b8 to b64, u8 to u64, s8 to s64, f16, bf16, f32 or f64"
    )]
    Type(String),
    /// The rule depends on the size of an element.
    #[error("`{rule}` needs a type: `{rule}:f32:{count}`")]
    NoType {
        /// The rule.
        rule: &'static str,
        /// The given number.
        count: String,
    },
    /// There is more text, which is no seed.
    #[error("`{0}` is unexpected; only `random` has a third part, a number as its seed")]
    Seed(String),
}

impl Fill {
    /// Parses a text; `None` if it does not begin with the name of a rule and a colon.
    ///
    /// # Errors
    /// Returns [`FillError`] if the rest is not as the rule expects it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Result<Self, FillError>> {
        let (name, rest) = text.split_once(':')?;
        let (name, rule) = *RULES.iter().find(|rule| rule.0 == name)?;
        Some(Self::parse_rest(name, rule, rest))
    }

    fn parse_rest(name: &'static str, rule: Rule, rest: &str) -> Result<Self, FillError> {
        let (first, more) = rest.split_once(':').map_or((rest, None), |(a, b)| (a, Some(b)));
        let scalar = TYPES.into_iter().find(|scalar| scalar.name() == first);
        let (scalar, count, seed) = match (scalar, more) {
            (Some(scalar), Some(more)) => {
                let (count, seed) =
                    more.split_once(':').map_or((more, None), |(a, b)| (a, Some(b)));
                (scalar, count, seed)
            }
            // `random:4096:7` has a seed and no type.
            (None, seed) if parse_number(first).is_some() => (T::U8, first, seed),
            (None, Some(_)) => return Err(FillError::Type(first.to_owned())),
            (_, None) => return Err(FillError::Count(first.to_owned())),
        };
        if count == first && matches!(rule, Rule::Ones | Rule::Iota) {
            return Err(FillError::NoType { rule: name, count: count.to_owned() });
        }
        let number = parse_number(count).ok_or_else(|| FillError::Count(count.to_owned()))?;
        let seed = match seed {
            None => None,
            Some(text) => {
                let seed = parse_number(text).filter(|_| rule == Rule::Random);
                Some(seed.ok_or_else(|| FillError::Seed(text.to_owned()))?)
            }
        };
        Ok(Self { rule, scalar, count: number, seed })
    }

    /// Whether the bytes have values. If not, the caller marks its copy of [`Self::bytes`] by
    /// [`DeviceMemory::make_unknown`].
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.rule != Rule::Uninit
    }

    /// Creates the bytes, little-endian, if `memory` has room for them. Random numbers are those of SplitMix64 from the
    /// seed, or from `seed` if the text has none.
    ///
    /// # Errors
    /// Returns [`TooMuchMemory`] if they exceed the limit of a launch, or cannot be allocated.
    pub fn bytes(&self, memory: &DeviceMemory, seed: u64) -> Result<Vec<u8>, TooMuchMemory> {
        let size = self.scalar.bytes() as usize;
        let mut bytes = memory.zeros(self.count.saturating_mul(size as u64))?;
        if matches!(self.rule, Rule::Zeros | Rule::Uninit) {
            return Ok(bytes);
        }
        let seed = self.seed.unwrap_or(seed);
        for (place, element) in (0..).zip(bytes.chunks_exact_mut(size)) {
            element.copy_from_slice(&self.element(place, seed).to_le_bytes()[..size]);
        }
        Ok(bytes)
    }

    /// The bits of an element.
    fn element(&self, place: u64, seed: u64) -> u64 {
        let number = match self.rule {
            Rule::Zeros | Rule::Uninit => 0,
            Rule::Ones => 1,
            Rule::Iota => place,
            Rule::Random => split_mix(seed, place),
        };
        let value = match (self.rule, self.precision()) {
            (_, None) => return number,
            (Rule::Random, Some(bits)) => {
                // All of these are exact.
                let step = 1.0 / (1_u64 << (bits - 1)) as f64;
                (number >> (64 - bits)) as f64 * step - 1.0
            }
            (_, Some(_)) => number as f64,
        };
        match float::format(self.scalar) {
            Some((format, _)) => float::round(value, format, Modes::default()).into(),
            None => value.to_bits(),
        }
    }

    /// The bits of a significand; `None` for integers.
    fn precision(&self) -> Option<u32> {
        Some(match self.scalar {
            T::F16 => 11,
            T::Bf16 => 8,
            T::F32 => 24,
            T::F64 => 53,
            _ => return None,
        })
    }
}

/// A number of the sequence SplitMix64.
fn split_mix(seed: u64, place: u64) -> u64 {
    let step = place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bits = seed.wrapping_add(step);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
