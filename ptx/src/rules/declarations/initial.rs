//! Rules for initial values: braces, number of values, and types.

use super::Judged;
use crate::module::{Initializer, Linkage, initializer};
use crate::rules::violation::{Rule, Unit};
use crate::syntax::types::LATER_ASSEMBLER;
use crate::syntax::words::Words;
use crate::syntax::{ScalarType, Span, StateSpace, SyntaxError, TokenKind};

/// The deepest nesting that is judged here. The reader of values refuses anything deeper.
const MAX_DEPTH: usize = 64;

impl Judged<'_> {
    /// Checks an initializer against its variable: space, braces, number and types of values. Stops at the first error.
    pub(super) fn initial_value(&mut self, initial: Span) {
        let declared = self.declared;
        let has_value = matches!(declared.space, StateSpace::Global | StateSpace::Const);
        if !has_value || declared.linkage == Linkage::Extern {
            let space = declared.space;
            let what = if has_value { ".extern".to_owned() } else { format!(".{space}") };
            let message = format!("`{}` is `{what}` and cannot have an initial value", self.text());
            let help = "only `.global` and `.const` variables that are defined here can have one";
            return self.findings.add(Rule::InitialValue, initial, message, help);
        }
        let scalar = declared.scalar;
        if scalar.register_bits().is_none() || matches!(scalar, ScalarType::F16 | ScalarType::F16x2)
        {
            let message = format!("the type of `{}` cannot have an initial value", self.text());
            let help = "write its bits as the initial value of a `.b16` or `.b32`";
            return self.findings.add(Rule::InitialValue, initial, message, help);
        }
        if let Err(error) = self.values(initial) {
            self.findings.report(Rule::InitialValue, error.span, error.to_string(), None);
        }
    }

    /// Checks the values and their braces.
    fn values(&mut self, initial: Span) -> Result<(), SyntaxError> {
        let dimensions = self.module.dimensions(self.declared);
        let vector = u64::from(self.declared.vector);
        let depth = dimensions.len() + usize::from(vector > 1);
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let mut words = self.module.initial_words(self.declared, initial);
        // The number of values so far in each open pair of braces.
        let mut open: Vec<u64> = Vec::new();
        loop {
            let dimension = open.len().checked_sub(1).map(|level| dimensions.get(level));
            if let (Some(dimension), Some(count)) = (dimension, open.last_mut()) {
                *count += 1;
                let most = dimension.copied().unwrap_or(vector);
                if most > 0 && *count > most {
                    return Err(words.expected("no more values than elements"));
                }
            }
            if open.len() < depth {
                words.expect(b'{', "`{`: an array or a vector has its values in braces")?;
                open.push(0);
                if open.len() > dimensions.len() || !words.is_mark(b'}') {
                    continue;
                }
            } else {
                self.value(&mut words)?;
            }
            while words.is_mark(b'}') {
                if open.len() > dimensions.len() && open.last() != Some(&vector) {
                    return Err(words.expected("as many values as the vector has elements"));
                }
                if open.pop().is_none() {
                    return Err(words.expected("`,` or `;`"));
                }
                words.advance();
            }
            if open.is_empty() {
                return match words.kind() {
                    TokenKind::End => Ok(()),
                    _ => Err(words.expected("one value: `,` or `;`")),
                };
            }
            words.expect(b',', "`,` or `}`")?;
        }
    }

    /// Checks one value: a number of the variable's type, or an address.
    fn value(&mut self, words: &mut Words<'_>) -> Result<(), SyntaxError> {
        if words.is_mark(b'{') {
            return Err(words.expected("a value, not braces: the variable has no more dimensions"));
        }
        let start = words.clone();
        let scalar = self.declared.scalar;
        match initializer(words)? {
            Initializer::Number(number) => {
                let is_float = number.integer().is_none();
                let wrong = match scalar.is_float() {
                    _ if scalar.is_bits() || scalar == ScalarType::Pred => return Ok(()),
                    true if !is_float => "a float such as `1.0` or `0f3F800000`",
                    false if is_float => "an integer",
                    _ => return Ok(()),
                };
                Err(start.expected(wrong))
            }
            Initializer::Address { name, offset, is_generic, mask } => {
                let has_offset = offset != 0;
                self.address(&start, name, has_offset || is_generic, mask)
            }
        }
    }

    /// Checks the address of a variable or function. The name is known to be declared.
    fn address(
        &mut self,
        start: &Words<'_>,
        name: Span,
        is_variable: bool,
        mask: Option<u64>,
    ) -> Result<(), SyntaxError> {
        let at = |expected| SyntaxError { expected, span: start.span() };
        match self.module.find_at(self.declared.scope, name) {
            Some(symbol) => {
                let space = symbol.declaration.space;
                if !matches!(space, StateSpace::Global | StateSpace::Const) {
                    return Err(SyntaxError {
                        expected: "a `.global` or `.const` variable",
                        span: name,
                    });
                }
                let is_itself = symbol.declaration.name == self.declared.name;
                if is_itself && self.module.version < LATER_ASSEMBLER {
                    return Err(SyntaxError {
                        expected: "a variable declared before this",
                        span: name,
                    });
                }
            }
            None if is_variable && mask.is_none() => {
                return Err(at("a function's name alone: its address has no offset"));
            }
            None => {
                let text = self.module.text(name);
                let is_open = self.functions.get(text).is_some_and(|known| known.is_open());
                if is_open && self.unit == Unit::Program {
                    let message = format!("the address of `{text}`: the function is not defined");
                    let help = "define the function, or check the module as a part of a program";
                    self.findings.add(Rule::UnresolvedFunction, name, message, help);
                    return Ok(());
                }
            }
        }
        use ScalarType::{U8, U32, U64};
        match (self.declared.scalar, mask) {
            (_, Some(mask))
                if mask.checked_shr(mask.trailing_zeros()) != Some(0xff)
                    || mask.trailing_zeros() % 8 != 0 =>
            {
                Err(at("a mask of one byte, such as `0xff` or `0xff00`"))
            }
            (U8 | U32 | U64, Some(_)) | (U32 | U64, None) => Ok(()),
            (_, Some(_)) => {
                Err(at("a number, because a byte of an address only fits `.u8`, `.u32` or `.u64`"))
            }
            (_, None) => Err(at("a number, because an address only fits `.u32` or `.u64`")),
        }
    }
}
