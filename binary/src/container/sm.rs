//! [`GpuSm`]: the SM that a container or the header of a cubin names.

use std::fmt;

use warpload_encoding::Sm;

use crate::cubin::Header;

/// The SM of GPU code. It may be one with unknown instructions, because a container lists code for any GPU. Displays as
/// in the names of targets: `50`, `90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GpuSm {
    number: u32,
    suffix: Option<char>,
}

impl GpuSm {
    pub(super) fn new(number: u32, suffix: Option<char>) -> Option<Self> {
        (number > 0).then_some(Self { number, suffix })
    }

    pub(super) fn of_cubin(header: Header) -> Option<Self> {
        Self::new(header.number, header.is_specific.then_some('a'))
    }

    /// Returns ten times the major number plus the minor number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Returns the letter after the number: `a` for code that only this SM executes, `f` for code of
    /// its family. Cubins do not name families.
    #[must_use]
    pub const fn suffix(self) -> Option<char> {
        self.suffix
    }
}

/// Whether code of this SM is wanted. The suffix counts. A `wanted` of `None` accepts any SM.
pub(super) fn is_of(wanted: Option<Sm>, sm: Option<GpuSm>) -> bool {
    wanted.is_none_or(|wanted| {
        sm.is_some_and(|sm| (sm.number(), sm.suffix()) == (wanted.number(), wanted.suffix()))
    })
}

impl fmt::Display for GpuSm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}
