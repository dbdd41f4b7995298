//! Short texts made at compile time: [`Ready`] is copied whole, [`Name`] is compared at once.

use crate::eight::Eight;

/// A text of at most `ROOM` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Ready<const ROOM: usize> {
    pub(crate) bytes: [u8; ROOM],
    pub(crate) length: u8,
}

impl<const ROOM: usize> Ready<ROOM> {
    pub(crate) const EMPTY: Self = Self { bytes: [0; ROOM], length: 0 };

    /// Appends `text`.
    pub(crate) const fn with(mut self, text: &str) -> Self {
        let mut rest = text.as_bytes();
        while let [byte, after @ ..] = rest {
            self = self.with_byte(*byte);
            rest = after;
        }
        self
    }

    pub(crate) const fn with_digit(self, digit: u8) -> Self {
        self.with_byte(b'0' + digit)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "only evaluated in constants: a text that is too long does not compile"
    )]
    const fn with_byte(mut self, byte: u8) -> Self {
        self.bytes[self.length as usize] = byte;
        self.length += 1;
        self
    }
}

/// A modifier with its dot.
pub(crate) type Modifier = Ready<15>;

impl Modifier {
    /// Returns `.` and the name; the empty text if the name is empty.
    pub(crate) const fn of(name: &str) -> Self {
        if name.is_empty() { Self::EMPTY } else { Self::EMPTY.with(".").with(name) }
    }
}

/// A name of a modifier, without its leading dot: `CG`, or two words as `U.128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: &'static str,
    /// The first word, of fewer than eight bytes.
    pub(crate) first: Eight,
    pub(crate) second: Option<&'static str>,
}

impl Name {
    #[expect(clippy::indexing_slicing, reason = "within the text")]
    pub(crate) const fn of(text: &'static str) -> Self {
        let mut length = 0;
        while length < text.len() && text.as_bytes()[length] != b'.' {
            length += 1;
        }
        assert!(length < 8);
        let (first, rest) = text.split_at(length);
        let second = if rest.is_empty() { None } else { Some(rest.split_at(1).1) };
        Self { text, first: Eight::of(first.as_bytes()), second }
    }
}
