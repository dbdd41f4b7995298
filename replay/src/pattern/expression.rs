//! Formulas of the lane, parsed by precedence into a program for a stack machine.

use std::ops::Range;

use super::{PatternError, PatternErrorKind as Kind, Swizzle};
use warpload::text::parse_number;

/// The maximum number of steps in a formula.
const MAX_STEPS: usize = 4096;
/// The maximum nesting of parentheses and signs in a formula.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Expression {
    length: usize,
    /// Each with its place in the text.
    steps: Vec<(Step, Range<usize>)>,
}

#[derive(Clone, Debug)]
enum Step {
    Number(i64),
    Lane,
    Name(String),
    Negate,
    Not,
    Binary(Operator),
    Swizzle,
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The operators by precedence, loosest first, as in C.
const OPERATORS: [(&str, u8, Operator); 10] = [
    ("|", 0, Operator::Or),
    ("^", 1, Operator::Xor),
    ("&", 2, Operator::And),
    ("<<", 3, Operator::ShiftLeft),
    (">>", 3, Operator::ShiftRight),
    ("+", 4, Operator::Add),
    ("-", 4, Operator::Subtract),
    ("*", 5, Operator::Multiply),
    ("/", 5, Operator::Divide),
    ("%", 5, Operator::Remainder),
];

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let mut reader = ExpressionReader { text, at: 0, depth: 0, steps: Vec::new() };
        reader.operation(0)?;
        let rest = reader.rest();
        match rest.chars().next() {
            None => Ok(Self { length: text.len(), steps: reader.steps }),
            Some(')') => Err(reader.error(Kind::Expected("an operator"), 1)),
            Some(_) => Err(reader.unexpected("an operator")),
        }
    }

    /// The names, each once, in order of appearance.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (step, _) in &self.steps {
            if let Step::Name(name) = step
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    pub(super) fn evaluate(
        &self,
        lane: i64,
        value: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<i64, PatternError> {
        let mut stack: Vec<i64> = Vec::new();
        for (step, span) in &self.steps {
            let fails = |kind| PatternError { kind, span: span.clone(), lane: Some(lane as usize) };
            let mut pop = || stack.pop().unwrap_or_default();
            let number = match step {
                Step::Number(number) => *number,
                Step::Lane => lane,
                Step::Name(name) => value(name).ok_or_else(|| PatternError {
                    lane: None,
                    ..fails(Kind::UnknownName(name.clone()))
                })?,
                Step::Negate => pop().checked_neg().ok_or_else(|| fails(Kind::Overflow))?,
                Step::Not => !pop(),
                Step::Binary(operator) => {
                    let (right, left) = (pop(), pop());
                    operator.of(left, right).map_err(fails)?
                }
                Step::Swizzle => {
                    let (shift, base, bits, of) = (pop(), pop(), pop(), pop());
                    let swizzle =
                        Swizzle::new(bits, base, shift).ok_or_else(|| fails(Kind::Swizzle));
                    swizzle?.of(of)
                }
            };
            stack.push(number);
        }
        Ok(stack.pop().unwrap_or_default())
    }

    /// An error of a lane's result as a whole.
    pub(super) fn error(&self, lane: usize, kind: Kind) -> PatternError {
        PatternError { kind, span: 0..self.length, lane: Some(lane) }
    }
}

impl Operator {
    fn of(self, left: i64, right: i64) -> Result<i64, Kind> {
        let bits = u32::try_from(right).ok().filter(|bits| *bits < 64);
        let overflow = Kind::Overflow;
        match self {
            Self::Or => Ok(left | right),
            Self::Xor => Ok(left ^ right),
            Self::And => Ok(left & right),
            Self::ShiftLeft => {
                let bits = bits.ok_or(Kind::Shift(right))?;
                let shifted = left << bits;
                if shifted >> bits == left { Ok(shifted) } else { Err(overflow) }
            }
            Self::ShiftRight => bits.map(|bits| left >> bits).ok_or(Kind::Shift(right)),
            Self::Add => left.checked_add(right).ok_or(overflow),
            Self::Subtract => left.checked_sub(right).ok_or(overflow),
            Self::Multiply => left.checked_mul(right).ok_or(overflow),
            Self::Divide | Self::Remainder if right == 0 => Err(Kind::DivisionByZero),
            Self::Divide => left.checked_div(right).ok_or(overflow),
            Self::Remainder => left.checked_rem(right).ok_or(overflow),
        }
    }
}

struct ExpressionReader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    steps: Vec<(Step, Range<usize>)>,
}

impl<'t> ExpressionReader<'t> {
    /// Skips white space and returns the rest of the text.
    fn rest(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_start().len();
        rest.trim_start()
    }

    /// An error in the next `length` bytes.
    fn error(&self, kind: Kind, length: usize) -> PatternError {
        PatternError { kind, span: self.at..self.at + length, lane: None }
    }

    /// The error for an unexpected token.
    fn unexpected(&mut self, expected: &'static str) -> PatternError {
        let rest = self.rest();
        let word = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        match rest.chars().next() {
            Some(_) if word > 0 => self.error(Kind::Expected(expected), word),
            Some(mark) if "|^&<>+-*/%~(),".contains(mark) => {
                self.error(Kind::Expected(expected), 1)
            }
            Some(other) => self.error(Kind::UnexpectedCharacter, other.len_utf8()),
            None => self.error(Kind::Expected(expected), 0),
        }
    }

    fn push(&mut self, step: Step, span: Range<usize>) -> Result<(), PatternError> {
        if self.steps.len() == MAX_STEPS {
            return Err(self.error(Kind::TooLong, 0));
        }
        self.steps.push((step, span));
        Ok(())
    }

    fn eat(&mut self, mark: char) -> bool {
        let is_here = self.rest().starts_with(mark);
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, mark: char, expected: &'static str) -> Result<(), PatternError> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Reads operators that bind at least as tightly as `level`, with their operands.
    fn operation(&mut self, level: u8) -> Result<(), PatternError> {
        self.term()?;
        loop {
            let rest = self.rest();
            let mut operators = OPERATORS.into_iter();
            let operator = operators.find(|(text, of, _)| *of >= level && rest.starts_with(text));
            let Some((text, of, operator)) = operator else { return Ok(()) };
            let span = self.at..self.at + text.len();
            self.at = span.end;
            self.operation(of + 1)?;
            self.push(Step::Binary(operator), span)?;
        }
    }

    /// Reads a number, a name, a call or a parenthesized formula, with its signs.
    fn term(&mut self) -> Result<(), PatternError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(Kind::TooLong, 0));
        }
        self.depth += 1;
        let rest = self.rest();
        let start = self.at;
        let word = &rest[..rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len())];
        let span = start..start + word.len();
        match rest.chars().next() {
            Some(sign @ ('-' | '~')) => {
                self.at += 1;
                self.term()?;
                let step = if sign == '-' { Step::Negate } else { Step::Not };
                self.push(step, start..start + 1)?;
            }
            Some('(') => {
                self.at += 1;
                self.operation(0)?;
                self.expect(')', "`)`")?;
            }
            Some(digit) if digit.is_ascii_digit() => {
                let number = number(word).ok_or_else(|| self.error(Kind::BadNumber, word.len()))?;
                self.at = span.end;
                self.push(Step::Number(number), span)?;
            }
            Some(_) if !word.is_empty() => {
                self.at = span.end;
                if self.eat('(') {
                    self.call(word, span)?;
                } else {
                    let is_lane = matches!(word, "lane" | "threadIdx.x");
                    let name = || Step::Name(word.to_owned());
                    self.push(if is_lane { Step::Lane } else { name() }, span)?;
                }
            }
            _ => return Err(self.unexpected("a number, a name or `(`")),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads the arguments of a function.
    fn call(&mut self, name: &str, span: Range<usize>) -> Result<(), PatternError> {
        let mut count = 1;
        self.operation(0)?;
        while self.eat(',') {
            self.operation(0)?;
            count += 1;
        }
        self.expect(')', "`,` or `)`")?;
        if (name, count) != ("swizzle", 4) {
            return Err(PatternError { kind: Kind::UnknownFunction, span, lane: None });
        }
        self.push(Step::Swizzle, span)
    }
}

/// Whether a character is part of a name or a number.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// Reads a number: decimal, hexadecimal with `0x`, binary with `0b`.
pub(super) fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0b") {
        Some(digits) if digits.starts_with(['0', '1']) => i64::from_str_radix(digits, 2).ok(),
        Some(_) => None,
        None => parse_number(text)?.try_into().ok(),
    }
}
