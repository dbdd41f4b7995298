//! Short texts, prepared at compile time and copied whole.

/// A text of less than `ROOM` bytes. The last byte is the length, so that one load and one store copy a text of up to
/// seven bytes together with its length.
#[derive(Clone, Copy)]
pub(crate) struct Ready<const ROOM: usize> {
    pub(crate) bytes: [u8; ROOM],
}

#[expect(
    clippy::indexing_slicing,
    reason = "no array has a length of 0; a text that is too long does not compile"
)]
impl<const ROOM: usize> Ready<ROOM> {
    pub(crate) const EMPTY: Self = Self { bytes: [0; ROOM] };

    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.bytes[ROOM - 1] as usize
    }

    #[inline(always)]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }

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

    const fn with_byte(mut self, byte: u8) -> Self {
        let length = self.len();
        assert!(length < ROOM - 1);
        self.bytes[length] = byte;
        self.bytes[ROOM - 1] += 1;
        self
    }
}
