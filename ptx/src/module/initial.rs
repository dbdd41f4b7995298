//! The initial values of variables.

use crate::module::{Declaration, Module};
use crate::syntax::expression::{Constant, constant};
use crate::syntax::words::Words;
use crate::syntax::{ScalarType, Span, SyntaxError};
use crate::syntax::{Token, TokenKind};

/// The initial values of a variable. Elements without a value are zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialValue {
    /// The values in the order of the text.
    pub values: Vec<PlacedValue>,
    /// The end of the last value in bytes, which is the size of an array declared without a length.
    pub bytes: u64,
}

/// A value with its offset in the variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedValue {
    /// The offset from the start of the variable, in bytes.
    pub offset: u64,
    /// The value.
    pub value: Initializer,
    /// The value's place in the text.
    pub span: Span,
}

/// One initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initializer {
    /// A number; [`Constant::bits`] converts it to the variable's type.
    Number(Constant),
    /// The address of a variable or function: `name+8`, `generic(name)`, `0xff(name)`.
    Address {
        /// The name.
        name: Span,
        /// The offset added to the address, in bytes, modulo 2^64.
        offset: u64,
        /// Whether the generic address is meant; otherwise, the address in the variable's state space.
        is_generic: bool,
        /// The mask that selects one byte of the address, if only a byte is meant.
        mask: Option<u64>,
    },
}

/// The most nested braces, more than any array has dimensions.
const MAX_DEPTH: usize = 16;

impl Module<'_> {
    /// Reads the initializer of a variable; `None` if it has none.
    ///
    /// ```
    /// use warpload_ptx::module::Initializer;
    /// use warpload_ptx::read;
    ///
    /// let source = ".version 8.8\n.target sm_50\n.global .u32 t[2][3] = {{1, 2}, {3+1}};";
    /// let module = read(source)?;
    /// let value = module.initial_value(&module.declarations()[0]).expect("one").expect("legal");
    /// let places: Vec<u64> = value.values.iter().map(|value| value.offset).collect();
    /// assert_eq!(places, [0, 4, 12]);
    /// # Ok::<(), warpload_ptx::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the place of a word that is not a value, or of a value too many.
    #[must_use]
    pub fn initial_value(
        &self,
        declaration: &Declaration,
    ) -> Option<Result<InitialValue, SyntaxError>> {
        declaration.initial.map(|span| self.read_initial(declaration, span))
    }

    /// Returns the lengths in brackets after a variable's name; 0 for empty brackets.
    #[must_use]
    pub fn dimensions(&self, declaration: &Declaration) -> &[u64] {
        let (start, end) = declaration.lengths;
        self.lengths.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The words of a variable's initializer, which is at `span`.
    pub(crate) fn initial_words(&self, declaration: &Declaration, span: Span) -> Words<'_> {
        Words::of_tokens(self.source(), span, self.initial_tokens(declaration))
    }

    /// [`Self::initial_words`] as a slice.
    pub(crate) fn initial_tokens(&self, declaration: &Declaration) -> &[Token] {
        let (start, end) = declaration.initial_words;
        self.initial_words.get(start as usize..end as usize).unwrap_or_default()
    }

    fn read_initial(
        &self,
        declaration: &Declaration,
        span: Span,
    ) -> Result<InitialValue, SyntaxError> {
        let mut dimensions = self.dimensions(declaration).to_vec();
        if declaration.vector > 1 {
            dimensions.push(u64::from(declaration.vector));
        }
        let mut list = List {
            size: u64::from(declaration.scalar.variable_bytes().unwrap_or(1)),
            strides: strides(&dimensions),
            open: Vec::new(),
            next: 0,
            value: InitialValue::default(),
        };
        let mut words = self.initial_words(declaration, span);
        loop {
            if words.is_mark(b'{') {
                list.enter(&words)?;
                words.advance();
                if !words.is_mark(b'}') {
                    continue;
                }
            } else {
                list.place(&mut words)?;
            }
            while words.is_mark(b'}') {
                list.leave(&words)?;
                words.advance();
            }
            if words.kind() == TokenKind::End && list.open.is_empty() {
                return Ok(list.value);
            }
            words.expect(b',', "`,` or `}`")?;
        }
    }
}

/// The number of values in a pair of braces of each depth, the outermost first; 0 for an open length.
fn strides(dimensions: &[u64]) -> Vec<u64> {
    let mut strides = dimensions.to_vec();
    for outer in (1..strides.len()).rev() {
        strides[outer - 1] = strides[outer - 1].saturating_mul(strides[outer]);
    }
    strides
}

/// The values read so far.
struct List {
    /// Bytes of a value.
    size: u64,
    strides: Vec<u64>,
    /// The starts of the open braces, counted in values.
    open: Vec<u64>,
    /// The number of the next value.
    next: u64,
    value: InitialValue,
}

impl List {
    fn enter(&mut self, words: &Words<'_>) -> Result<(), SyntaxError> {
        if self.open.len() >= MAX_DEPTH.min(self.strides.len().max(1)) {
            return Err(words.expected("no more braces than the variable has dimensions"));
        }
        self.open.push(self.next);
        Ok(())
    }

    fn leave(&mut self, words: &Words<'_>) -> Result<(), SyntaxError> {
        let start = self.open.pop().ok_or_else(|| words.expected("`,`"))?;
        self.next = self.end(self.open.len(), start).unwrap_or(self.next);
        Ok(())
    }

    /// The end of braces of this depth that begin at `start`, counted in values; `None` for an open length.
    fn end(&self, depth: usize, start: u64) -> Option<u64> {
        let stride = self.strides.get(depth).copied().unwrap_or(1);
        (stride > 0).then(|| start.saturating_add(stride))
    }

    fn place(&mut self, words: &mut Words<'_>) -> Result<(), SyntaxError> {
        let span = words.span();
        let end = match self.open.last() {
            Some(start) => self.end(self.open.len() - 1, *start).unwrap_or(u64::MAX),
            None => 1,
        };
        let offset = self.next.checked_mul(self.size).filter(|_| self.next < end);
        let offset = offset.ok_or_else(|| words.expected("no more values than elements"))?;
        let value = initializer(words)?;
        self.value.values.push(PlacedValue { offset, value, span });
        self.value.bytes = self.value.bytes.max(offset.saturating_add(self.size));
        self.next += 1;
        Ok(())
    }
}

/// Reads a constant expression, or an address in one of its forms.
pub(crate) fn initializer(words: &mut Words<'_>) -> Result<Initializer, SyntaxError> {
    let is_address = words.kind() == TokenKind::Word && words.text() != "WARP_SZ";
    if is_address {
        return address(words, None);
    }
    // `0xff00(name)`: one byte of an address.
    let mut ahead = words.clone();
    let mask = crate::syntax::integer(ahead.text());
    ahead.advance();
    if mask.is_some() && ahead.eat(b'(') {
        *words = ahead;
        let value = address(words, mask)?;
        words.expect(b')', "`)`")?;
        return Ok(value);
    }
    constant(words).map(Initializer::Number)
}

fn address(words: &mut Words<'_>, mask: Option<u64>) -> Result<Initializer, SyntaxError> {
    let is_generic = words.text() == "generic";
    let mut name = words.word("a variable")?;
    if is_generic {
        words.expect(b'(', "`(`")?;
        name = words.word("a variable")?;
        words.expect(b')', "`)`")?;
    }
    let mut offset = 0;
    if words.is_mark(b'-') {
        return Err(words.expected("`+`: a negative offset is written `+-4`"));
    }
    if words.eat(b'+') {
        let error = words.expected("an integer after this");
        offset = constant(words)?.integer().ok_or(error)?;
    }
    Ok(Initializer::Address { name, offset, is_generic, mask })
}

impl Constant {
    /// Returns the value converted to a type, in the low bits. `None` for types without numbers, and for floats in
    /// integer types other than `.b32` and `.b64`.
    #[must_use]
    pub fn bits(self, scalar: ScalarType) -> Option<u64> {
        match (scalar, self) {
            (ScalarType::F64, _) => Some(self.float().to_bits()),
            (ScalarType::F32, _) => Some(u64::from((self.float() as f32).to_bits())),
            (ScalarType::B64, Self::Float(value)) => Some(value.to_bits()),
            (ScalarType::B32, Self::Float(value)) => Some(u64::from((value as f32).to_bits())),
            (_, Self::Integer { bits, .. }) if scalar.is_integer() => {
                Some(bits & (u64::MAX >> (64 - scalar.bits().min(64))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn value(declaration: &str) -> Result<InitialValue, SyntaxError> {
        let source = format!(".version 8.8\n.target sm_50\n{declaration};");
        let module = read(&source).expect("readable");
        module.initial_value(module.declarations().last().expect("one")).expect("a value")
    }

    fn offsets(declaration: &str) -> Vec<u64> {
        let value = value(declaration).expect("legal");
        value.values.iter().map(|placed| placed.offset).collect()
    }

    #[test]
    fn values_lie_where_their_braces_say() {
        assert_eq!(offsets(".const .f64 x = 1.5"), [0]);
        assert_eq!(offsets(".global .u16 x[2][2][2] = {{{1}, {2}}, {{3, 4}}}"), [0, 4, 8, 10]);
        assert_eq!(offsets(".global .v2 .u32 x[2] = {{1, 2}, {3}}"), [0, 4, 8]);
        assert_eq!(offsets(".global .u8 x[3] = {}"), Vec::<u64>::new());
        assert_eq!(value(".global .u32 x[] = {1, 2, 3}").map(|value| value.bytes), Ok(12));
    }

    #[test]
    fn values_without_a_place_are_errors() {
        for (wrong, at) in [
            ("x[2] = {1, 2, 3}", "3}"),
            ("x = {1, 2}", "2}"),
            ("x[2] = {{1, 2}}", "{1"),
            ("x[2] = {1 2}", "2}"),
            ("x[2] = {1,}", "};"),
            ("x[2] = 1 2", "2;"),
            ("x = ", ";"),
        ] {
            let source = format!(".version 8.8\n.target sm_50\n.global .u32 {wrong};");
            let module = read(&source).expect(wrong);
            let value = module.initial_value(&module.declarations()[0]).expect("a value");
            let error = value.expect_err(wrong);
            let rest = &source[error.span.start as usize..];
            assert!(rest.starts_with(at), "{wrong}: {rest}");
        }
        // Unclosed braces or parentheses, and a closing brace too many, are malformed.
        for wrong in ["x[2] = {1", "x[2] = {1}}", "x[2] = (1"] {
            let source = format!(".version 8.8\n.target sm_50\n.global .u32 {wrong};");
            assert!(read(&source).is_err(), "{wrong}");
        }
        assert_eq!(offsets(".global .u32 x[2] = 1, y = 2"), [0]);
    }

    #[test]
    fn addresses_are_names_with_what_is_around_them() {
        let value = value(".global .u64 p[] = {g, generic(g)+8, 0xff(g), g+-4, 7}").expect("legal");
        let what: Vec<_> = value
            .values
            .iter()
            .map(|placed| match placed.value {
                Initializer::Number(number) => (number.integer(), false, None),
                Initializer::Address { offset, is_generic, mask, .. } => {
                    (Some(offset), is_generic, mask)
                }
            })
            .collect();
        let minus = 4_u64.wrapping_neg();
        assert_eq!(
            what,
            [
                (Some(0), false, None),
                (Some(8), true, None),
                (Some(0), false, Some(0xff)),
                (Some(minus), false, None),
                (Some(7), false, None),
            ]
        );
    }

    #[test]
    fn constants_become_bits_of_a_type() {
        let minus = Constant::Integer { bits: u64::MAX, is_unsigned: false };
        assert_eq!(minus.bits(ScalarType::S16), Some(0xffff));
        assert_eq!(minus.bits(ScalarType::F32), Some(u64::from((-1.0_f32).to_bits())));
        assert_eq!(Constant::Float(1.0).bits(ScalarType::B32), Some(0x3f80_0000));
        assert_eq!(Constant::Float(1.0).bits(ScalarType::U32), None);
        assert_eq!(minus.bits(ScalarType::Pred), None);
    }
}
