//! Short texts made at compile time, copied whole.

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
