//! Layouts as CuTe prints them: `Sw<B,M,S> o shape:stride`.

use super::expression::number;
use super::{PatternError, PatternErrorKind as Kind, Swizzle};

/// The maximum number of modes in a layout.
const MAX_MODES: usize = 64;
/// The maximum nesting of parentheses in a layout.
const MAX_DEPTH: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Layout {
    length: usize,
    swizzle: Option<Swizzle>,
    /// Shape and stride of each mode, fastest first.
    modes: Vec<(u64, i64)>,
}

impl Layout {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let mut reader = LayoutReader { text, at: 0 };
        let swizzle = reader.swizzle()?;
        let (mut shape, mut stride) = (Modes::default(), Modes::default());
        reader.tuple(&mut shape, 0)?;
        reader.expect(':', "`:`")?;
        reader.tuple(&mut stride, 0)?;
        let rest = reader.rest().len();
        if rest > 0 {
            return Err(reader.error(Kind::Expected("the end"), rest));
        }
        let whole = PatternError { kind: Kind::Congruence, span: 0..text.len(), lane: None };
        if shape.form != stride.form {
            return Err(whole);
        }
        let mut modes = Vec::new();
        for ((size, at), (stride, _)) in shape.numbers.into_iter().zip(stride.numbers) {
            let size = u64::try_from(size).ok().filter(|size| *size > 0);
            let empty = PatternError { kind: Kind::EmptyMode, span: at..at + 1, lane: None };
            modes.push((size.ok_or(empty)?, stride));
        }
        Ok(Self { length: text.len(), swizzle, modes })
    }

    /// The element of a lane; `None` beyond the layout's size.
    pub(super) fn of_lane(&self, lane: usize) -> Option<i64> {
        let (mut index, mut element) = (lane as u64, 0i64);
        for (size, stride) in &self.modes {
            // The coordinate fits, because it is below 32.
            element = element.saturating_add(stride.saturating_mul((index % size) as i64));
            index /= size;
        }
        (index == 0).then(|| self.swizzle.map_or(element, |swizzle| swizzle.of(element)))
    }

    pub(super) fn error(&self, lane: usize, kind: Kind) -> PatternError {
        PatternError { kind, span: 0..self.length, lane: Some(lane) }
    }
}

/// A tuple of numbers, possibly nested.
#[derive(Default)]
struct Modes {
    /// Each with its place in the text.
    numbers: Vec<(i64, usize)>,
    /// The structure: parentheses, commas, and a letter for each number.
    form: String,
}

struct LayoutReader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> LayoutReader<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_start().len();
        rest.trim_start()
    }

    fn error(&self, kind: Kind, length: usize) -> PatternError {
        PatternError { kind, span: self.at..self.at + length, lane: None }
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        self.at += if is_here { text.len() } else { 0 };
        is_here
    }

    fn expect(&mut self, mark: char, expected: &'static str) -> Result<(), PatternError> {
        if self.eat(mark.encode_utf8(&mut [0; 4])) {
            return Ok(());
        }
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Err(self.error(Kind::Expected(expected), length))
    }

    /// Reads a number. CuTe prints compile-time constants with a leading `_`.
    fn number(&mut self) -> Result<i64, PatternError> {
        let rest = self.rest();
        let sign = rest.strip_prefix(['-', '_']).unwrap_or(rest);
        let end = sign.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(sign.len());
        let length = rest.len() - sign.len() + end;
        if end == 0 {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            return Err(self.error(Kind::Expected("a number"), length));
        }
        let number = number(&sign[..end]).ok_or_else(|| self.error(Kind::BadNumber, length))?;
        self.at += length;
        Ok(if rest.starts_with('-') { -number } else { number })
    }

    /// Reads `Sw<3,4,3> o`, if present.
    fn swizzle(&mut self) -> Result<Option<Swizzle>, PatternError> {
        self.rest();
        let start = self.at;
        if !self.eat("Sw<") {
            return Ok(None);
        }
        let bits = self.number()?;
        self.expect(',', "`,`")?;
        let base = self.number()?;
        self.expect(',', "`,`")?;
        let shift = self.number()?;
        self.expect('>', "`>`")?;
        let error = PatternError { kind: Kind::Swizzle, span: start..self.at, lane: None };
        let swizzle = Swizzle::new(bits, base, shift).ok_or(error)?;
        self.expect('o', "`o` and a layout")?;
        Ok(Some(swizzle))
    }

    /// Reads a number, or several in parentheses.
    fn tuple(&mut self, modes: &mut Modes, depth: usize) -> Result<(), PatternError> {
        if !self.eat("(") {
            self.rest();
            let at = self.at;
            let number = self.number()?;
            if modes.numbers.len() == MAX_MODES {
                return Err(self.error(Kind::TooLong, 0));
            }
            modes.numbers.push((number, at));
            modes.form.push('n');
            return Ok(());
        }
        if depth == MAX_DEPTH {
            return Err(self.error(Kind::TooLong, 0));
        }
        modes.form.push('(');
        self.tuple(modes, depth + 1)?;
        while self.eat(",") {
            modes.form.push(',');
            self.tuple(modes, depth + 1)?;
        }
        modes.form.push(')');
        self.expect(')', "`,` or `)`")
    }
}
