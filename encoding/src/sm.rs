//! [`Sm`]: the GPU architecture that an instruction word belongs to. [`SMS`] lists the known ones.

use core::fmt;
use core::str::FromStr;

/// SMs with the same load layouts and texts (docs/load-sm70.md section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Group {
    /// SM 5.x and 6.x (Maxwell, Pascal): 64-bit words, three in a bundle. All other groups have 128-bit words.
    Spa5,
    /// SM 7.0 and 7.2 (Volta).
    Volta,
    /// SM 7.5 (Turing).
    Turing,
    /// SM 8.0 to 8.8 (Ampere).
    Ampere,
    /// SM 8.9 (Ada): Ampere plus 256-bit loads.
    Ada,
    /// SM 9.0 (Hopper).
    Hopper,
    /// SM 10.0 (Blackwell).
    Blackwell100,
    /// SM 10.1, 10.3 and 11.0.
    Blackwell101,
    /// SM 10.7: 10.1, but with the `LDCU` of 12.0.
    Blackwell107,
    /// SM 12.x (Blackwell).
    Blackwell120,
}

/// The scheduling that nvdisasm 12.8 appends to the text of a 128-bit load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    Nothing,
    /// Only the PM field.
    Pm,
    /// All fields.
    All,
}

/// One row per SM: its number (ten times major plus minor), its group, and the [`Tail`] of its loads.
const SMS: &[(u16, Group, Tail)] = &[
    (50, Group::Spa5, Tail::Nothing),
    (52, Group::Spa5, Tail::Nothing),
    (53, Group::Spa5, Tail::Nothing),
    (60, Group::Spa5, Tail::Nothing),
    (61, Group::Spa5, Tail::Nothing),
    (62, Group::Spa5, Tail::Nothing),
    (70, Group::Volta, Tail::Nothing),
    (72, Group::Volta, Tail::Nothing),
    (75, Group::Turing, Tail::Nothing),
    (80, Group::Ampere, Tail::Nothing),
    (86, Group::Ampere, Tail::Pm),
    (87, Group::Ampere, Tail::Pm),
    (88, Group::Ampere, Tail::Pm),
    (89, Group::Ada, Tail::Pm),
    (90, Group::Hopper, Tail::Pm),
    (100, Group::Blackwell100, Tail::Pm),
    (101, Group::Blackwell101, Tail::Pm),
    (103, Group::Blackwell101, Tail::Pm),
    (107, Group::Blackwell107, Tail::Pm),
    (110, Group::Blackwell101, Tail::Pm),
    (120, Group::Blackwell120, Tail::All),
    (121, Group::Blackwell120, Tail::All),
];

/// The first SM with architecture-specific code, marked by the suffix `a`.
const FIRST_SPECIFIC: u32 = 90;

/// A known SM version, such as 5.0 or 9.0a. Displays as in target names: `50`, `90a`.
///
/// ```
/// use warpload_encoding::{Group, Sm};
///
/// let sm: Sm = "90a".parse()?;
/// assert_eq!((sm.number(), sm.suffix()), (90, Some('a')));
/// assert_eq!(sm.group(), Group::Hopper);
/// assert!(sm.has_wide_words() && !Sm::SPA5.has_wide_words());
/// assert_eq!(["sm_90a", "SM_90a", "9.0a"].map(str::parse), [Ok(sm); 3]);
/// assert!(["99", "9.", ".0", "9.00", "09.0"].iter().all(|text| text.parse::<Sm>().is_err()));
/// # Ok::<(), warpload_encoding::UnknownSm>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sm {
    /// Number, suffix and group, from the most significant byte down. One integer, so that an instruction that contains
    /// it is copied as a few whole words.
    bits: u32,
}

/// The letter after the number: architecture-specific (`a`) or family-specific (`f`) features. Loads do not depend on
/// it.
#[derive(Clone, Copy)]
enum Suffix {
    None,
    A,
    F,
}

impl Sm {
    /// SM 5.0. All SMs with 64-bit words have the same loads.
    pub const SPA5: Sm = Self::of(50, Group::Spa5);

    const fn of(number: u16, group: Group) -> Self {
        Self { bits: (number as u32) << 16 | group as u32 }
    }

    const fn with(self, suffix: Suffix) -> Self {
        Self { bits: self.bits & !0xff00 | (suffix as u32) << 8 }
    }

    pub(crate) const fn bits(self) -> u32 {
        self.bits
    }

    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self { bits }
    }

    /// Returns the SM with this number, ten times major plus minor; `None` if it is unknown.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        let (number, group, _) = SMS.iter().find(|(known, ..)| u32::from(*known) == number)?;
        Some(Self::of(*number, *group))
    }

    /// Returns this SM with the suffix `a` (architecture-specific code), or unchanged before 9.0, which has no such
    /// code.
    ///
    /// ```
    /// use warpload_encoding::Sm;
    ///
    /// assert_eq!("90".parse::<Sm>()?.specific().to_string(), "90a");
    /// assert_eq!(Sm::SPA5.specific(), Sm::SPA5);
    /// assert!(Sm::all().all(|sm| sm.specific().to_string().parse() == Ok(sm.specific())));
    /// # Ok::<(), warpload_encoding::UnknownSm>(())
    /// ```
    #[must_use]
    pub const fn specific(self) -> Self {
        if self.number() < FIRST_SPECIFIC { self } else { self.with(Suffix::A) }
    }

    /// Returns all SMs, without suffixes, in ascending order.
    pub fn all() -> impl Iterator<Item = Sm> {
        SMS.iter().map(|(number, group, _)| Self::of(*number, *group))
    }

    /// Returns ten times the major number plus the minor number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.bits >> 16
    }

    /// Returns the letter after the number, `a` or `f`.
    #[must_use]
    pub const fn suffix(self) -> Option<char> {
        match self.bits >> 8 & 0xff {
            1 => Some('a'),
            2 => Some('f'),
            _ => None,
        }
    }

    /// Returns the group of SMs with the same loads.
    #[inline]
    #[must_use]
    pub const fn group(self) -> Group {
        match self.bits as u8 {
            0 => Group::Spa5,
            1 => Group::Volta,
            2 => Group::Turing,
            3 => Group::Ampere,
            4 => Group::Ada,
            5 => Group::Hopper,
            6 => Group::Blackwell100,
            7 => Group::Blackwell101,
            8 => Group::Blackwell107,
            _ => Group::Blackwell120,
        }
    }

    #[inline(always)]
    pub(crate) const fn group_index(self) -> u8 {
        self.bits as u8
    }

    /// Returns whether instruction words have 128 bits, as they do from SM 7.0 on.
    #[inline]
    #[must_use]
    pub const fn has_wide_words(self) -> bool {
        self.group_index() != Group::Spa5 as u8
    }

    pub(crate) fn tail(self) -> Tail {
        let row = SMS.iter().find(|(number, ..)| u32::from(*number) == self.number());
        row.map_or(Tail::Nothing, |(.., tail)| *tail)
    }
}

/// A text that names no known SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSm;

impl fmt::Display for UnknownSm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown SM; expected one of")?;
        for (i, sm) in Sm::all().enumerate() {
            write!(f, "{} {sm}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("; `a` may follow from 90 on, `f` from 100 on")
    }
}

impl core::error::Error for UnknownSm {}

impl FromStr for Sm {
    type Err = UnknownSm;

    /// Parses `80`, `90a` or `100f`, a compiler's name such as `sm_80`, or a compute capability such as `8.0`.
    fn from_str(text: &str) -> Result<Self, UnknownSm> {
        let prefix = text.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("sm_"));
        let text = prefix.map_or(text, |prefix| &text[prefix.len()..]);
        let (digits, suffix) = match text.strip_suffix('a') {
            Some(digits) => (digits, Suffix::A),
            None => match text.strip_suffix('f') {
                Some(digits) => (digits, Suffix::F),
                None => (text, Suffix::None),
            },
        };
        // `parse` alone would also accept a sign and leading zeros.
        let canonical = |digits: &str| {
            digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0')
        };
        let number = match digits.split_once('.') {
            Some((major, minor)) => match minor.as_bytes() {
                [minor @ b'0'..=b'9'] if canonical(major) && major.len() <= 2 => {
                    major.parse::<u32>().ok().map(|major| 10 * major + u32::from(minor - b'0'))
                }
                _ => None,
            },
            None => digits.parse().ok().filter(|_| canonical(digits)),
        };
        let sm = number.and_then(Self::new).ok_or(UnknownSm)?;
        match suffix {
            Suffix::A if sm.number() < FIRST_SPECIFIC => Err(UnknownSm),
            Suffix::F if sm.number() < 100 => Err(UnknownSm),
            suffix => Ok(sm.with(suffix)),
        }
    }
}

impl fmt::Display for Sm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())?;
        self.suffix().map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl fmt::Debug for Sm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SM {self}")
    }
}
