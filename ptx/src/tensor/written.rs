//! [`PtxLoad::tensor_load`]: from the text of a Tensor Memory load to an executable [`TensorLoad`], or to a
//! [`TensorLoadError`] if it is illegal.

use self::TensorLoadErrorKind as Problem;
use crate::syntax::Span;
use crate::syntax::load::{
    AddressForm, AddressOperand, Element, ElementKind, Opcode, Operand, OperandKind, PtxLoad,
    QualifierKind,
};
use crate::tensor::judge::{Parts, reduction_type};
use warpload_machine::tensor::{Form, IllegalLoadError, PartialForm, Reduction, TensorLoad};

/// A load of Tensor Memory with the names of its operands. The names are not looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenTensorLoad {
    /// The load, including its half offset.
    pub load: TensorLoad,
    /// The data registers of a thread as written, `r0` or `Q.x`.
    pub registers: Vec<Span>,
    /// The register for the result of a reduction, as written.
    pub reduced: Option<Span>,
    /// The name of the register that holds the address.
    pub address: Span,
    /// The offset added to that register, modulo 2^32.
    pub address_offset: u32,
}

type Result<T> = std::result::Result<T, TensorLoadError>;

impl PtxLoad<'_> {
    /// Interprets the instruction as a load of Tensor Memory. `text` is the text that it was read from, a module or a
    /// single statement.
    ///
    /// ```
    /// use warpload_ptx::read_load;
    ///
    /// let text = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr + 0x100000];";
    /// let written = read_load(text)?.tensor_load(text)?;
    /// assert_eq!(written.load.registers(), 2);
    /// assert_eq!(written.registers[1].text(text), "r1");
    /// assert_eq!((written.address.text(text), written.address_offset), ("taddr", 16 << 16));
    ///
    /// let text = "tcgen05.ld.sync.aligned.16x32b.x2.b32 {r0, r1}, [taddr];";
    /// let error = read_load(text)?.tensor_load(text).unwrap_err();
    /// assert_eq!((error.code(), error.span.text(text)), ("shape", ".16x32b"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first [`TensorLoadError`] in this order: unreadable text; qualifiers that are unknown, repeated,
    /// missing or another instruction's; operands; illegal combinations; the number of registers. Registers are not
    /// looked up: [`check`](crate::rules::check) checks their declarations.
    pub fn tensor_load(&self, text: &str) -> Result<WrittenTensorLoad> {
        if self.opcode == Opcode::Ld {
            let expected = "`tcgen05.ld` or `tcgen05.ld.red`";
            return Err(TensorLoadError::expected(expected, self.opcode_span));
        }
        if let Some(fault) = self.fault {
            return Err(TensorLoadError::expected(fault.expected, fault.span));
        }
        known(self, text)?;
        let parts = Parts::of(self);
        let problem = parts.problems().next();
        // Errors in operands come before illegal combinations.
        if let Some(problem) = problem.filter(is_of_qualifiers) {
            return Err(self.refused(problem));
        }
        let Operands { registers, reduced, address, address_offset, split } = Operands::of(self)?;
        if let Some(problem) = problem {
            return Err(self.refused(problem));
        }
        let form =
            parts.form(split, self.has(QualifierKind::Absolute), self.has(QualifierKind::Nan));
        // Always there, because a missing part is a problem.
        let form = form.ok_or_else(|| self.refused(Problem::Unknown))?;
        let load =
            TensorLoad::new(form).map_err(|illegal| self.refused(Problem::Illegal(illegal)))?;
        Ok(WrittenTensorLoad { load, registers, reduced, address, address_offset })
    }

    /// The error for a problem, at the place to change.
    fn refused(&self, kind: Problem) -> TensorLoadError {
        let qualifier = self.qualifiers().find(|qualifier| kind.is_about(qualifier.kind));
        let qualifier = qualifier.map(|qualifier| qualifier.span);
        let operand = || self.operand_of(kind);
        let span = qualifier.or_else(operand).unwrap_or_else(|| self.after_qualifiers());
        TensorLoadError { kind, span }
    }

    /// The place of the operand that a problem is about, if there is one.
    fn operand_of(&self, problem: Problem) -> Option<Span> {
        let fixed = fixed_operands(self.opcode);
        let operand = |place: usize| self.operands.get(place).map(|operand| operand.span);
        match problem {
            Problem::RegisterCount { .. } => operand(0),
            Problem::Illegal(IllegalLoadError::SplitMissing) => operand(fixed - 1).map(after),
            Problem::Illegal(IllegalLoadError::SplitSurplus { .. }) => operand(fixed),
            _ => None,
        }
    }

    /// The place where a missing qualifier could be added.
    fn after_qualifiers(&self) -> Span {
        after(self.qualifiers().next_back().map_or(self.opcode_span, |last| last.span))
    }
}

/// The empty span after a span.
fn after(span: Span) -> Span {
    Span { start: span.end, end: span.end }
}

/// The number of operands of an opcode, without the half offset.
pub(crate) fn fixed_operands(opcode: Opcode) -> usize {
    if opcode == Opcode::TensorLdRed { 3 } else { 2 }
}

impl Parts {
    /// The parts of a written load. Of repeated qualifiers the first one counts.
    pub(crate) fn of(load: &PtxLoad<'_>) -> Self {
        let fixed = fixed_operands(load.opcode);
        let split = load.operands.len().checked_sub(fixed).filter(|more| *more <= 1);
        let registers = match load.operands.first().map(|list| list.kind) {
            Some(OperandKind::Vector(elements)) => Some(load.elements_in(elements).len()),
            _ => None,
        };
        let form = PartialForm {
            is_reduction: load.opcode == Opcode::TensorLdRed,
            pack: load.has(QualifierKind::Pack),
            modifier: load.has(QualifierKind::Absolute) || load.has(QualifierKind::Nan),
            kind: load.scalar().and_then(reduction_type),
            split: split.map(|more| more == 1),
            ..PartialForm::default()
        };
        let mut parts = Self {
            form,
            sync: load.has(QualifierKind::Sync),
            aligned: load.has(QualifierKind::Aligned),
            scalar: load.scalar(),
            registers,
            ..Self::default()
        };
        for qualifier in load.qualifiers().rev() {
            match qualifier.kind {
                QualifierKind::Shape(shape) => parts.form.shape = Some(shape),
                QualifierKind::Repeat(repeat) => parts.form.num = Some(repeat.get() as u32),
                QualifierKind::Reduction(operation) => parts.operation = Some(operation),
                _ => {}
            }
        }
        parts
    }

    /// The form; `None` if a qualifier is missing.
    fn form(self, split: Option<i64>, absolute: bool, propagates_nan: bool) -> Option<Form> {
        let PartialForm { shape, num, pack, is_reduction, kind, .. } = self.form;
        let reduction = if is_reduction {
            let (operation, kind) = (self.operation?, kind?);
            Some(Reduction { operation, kind, absolute, propagates_nan })
        } else {
            None
        };
        Some(Form { shape: shape?, num: num?, pack, split, reduction })
    }
}

impl TensorLoadErrorKind {
    /// Whether changing this qualifier would solve the problem.
    pub(crate) fn is_about(self, qualifier: QualifierKind) -> bool {
        use IllegalLoadError as Illegal;
        use QualifierKind as Q;
        match self {
            Self::Expected(_) | Self::Unknown | Self::Duplicate | Self::RegisterCount { .. } => {
                false
            }
            Self::ReductionWithoutRed => {
                matches!(qualifier, Q::Reduction(_) | Q::Absolute | Q::Nan)
            }
            Self::Type { .. } => matches!(qualifier, Q::Type(_)),
            Self::Illegal(illegal) => match illegal {
                Illegal::Shape | Illegal::ReductionShape { .. } => matches!(qualifier, Q::Shape(_)),
                Illegal::Num { .. } | Illegal::ReductionNum => matches!(qualifier, Q::Repeat(_)),
                Illegal::ReductionPack => qualifier == Q::Pack,
                Illegal::ReductionModifier { .. } => matches!(qualifier, Q::Absolute | Q::Nan),
                // In a text, this would be an unknown qualifier.
                Illegal::ReductionKind => false,
                Illegal::SplitMissing | Illegal::SplitSurplus { .. } => false,
            },
        }
    }
}

/// Whether the problem shows in the opcode and qualifiers, without operands.
fn is_of_qualifiers(problem: &Problem) -> bool {
    !matches!(problem, Problem::Illegal(_) | Problem::RegisterCount { .. })
}

/// Refuses unknown and repeated qualifiers.
fn known(load: &PtxLoad<'_>, text: &str) -> Result<()> {
    for (place, qualifier) in load.qualifiers().enumerate() {
        let span = qualifier.span;
        if qualifier.kind == QualifierKind::Unknown {
            let name = span.text(text).trim_start_matches('.');
            let kind = unknown(load, name).map_or(Problem::Unknown, Problem::Illegal);
            return Err(TensorLoadError { kind, span });
        }
        // These may be repeated.
        if matches!(qualifier.kind, QualifierKind::Sync | QualifierKind::Nan) {
            continue;
        }
        let of_kind = |kind: QualifierKind| std::mem::discriminant(&kind);
        let mut before = load.qualifiers().take(place);
        if before.any(|other| of_kind(other.kind) == of_kind(qualifier.kind)) {
            return Err(TensorLoadError { kind: Problem::Duplicate, span });
        }
    }
    Ok(())
}

/// The rule that an unknown qualifier breaks if it looks like a repeat or a shape: `.x256`, `.16x32b`.
fn unknown(load: &PtxLoad<'_>, name: &str) -> Option<IllegalLoadError> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(digits) = name.strip_prefix('x').filter(|digits| is_number(digits)) {
        let form = Form::plain(Parts::of(load).form.shape?, digits.parse().ok()?);
        return form.problems().find(|problem| matches!(problem, IllegalLoadError::Num { .. }));
    }
    let (lanes, bits) = name.split_once('x')?;
    let is_shape = is_number(lanes) && bits.starts_with(|first: char| first.is_ascii_digit());
    is_shape.then_some(IllegalLoadError::Shape)
}

/// The operands `{r0, r1}, {redval,} [taddr] {, offset}`.
struct Operands {
    registers: Vec<Span>,
    reduced: Option<Span>,
    address: Span,
    address_offset: u32,
    split: Option<i64>,
}

impl Operands {
    fn of(load: &PtxLoad<'_>) -> Result<Self> {
        let mut operands = load.operands.iter();
        let end = after(load.span);
        let mut next = |what| operands.next().ok_or(TensorLoadError::expected(what, end));
        const LIST: &str = "the data registers in braces";
        let list = next(LIST)?;
        let OperandKind::Vector(elements) = list.kind else {
            return Err(TensorLoadError::expected(LIST, list.span));
        };
        let registers = load.elements_in(elements).iter().map(register).collect::<Result<_>>()?;
        let reduced = match load.opcode {
            Opcode::TensorLdRed => {
                const RESULT: &str = "a register for the reduction's result";
                let operand = next(RESULT)?;
                let element = reduced(load, operand);
                let error = TensorLoadError::expected(RESULT, operand.span);
                Some(register(&element.ok_or(error)?)?)
            }
            _ => None,
        };
        let (address, address_offset) = address(load, next("`[` and the address")?)?;
        let unified = load.address().and_then(|address| address.unified);
        if let Some(unified) = unified.filter(|_| load.opcode == Opcode::TensorLdRed) {
            return Err(TensorLoadError::expected("no `.unified` on a reduction", unified));
        }
        let split = operands.next().map(split).transpose()?;
        if let Some(more) = operands.next() {
            return Err(TensorLoadError::expected("the end", more.span));
        }
        Ok(Self { registers, reduced, address, address_offset, split })
    }
}

fn register(element: &Element) -> Result<Span> {
    match element.kind {
        ElementKind::Name | ElementKind::Component(_) => Ok(element.span),
        _ => Err(TensorLoadError::expected("a register", element.span)),
    }
}

/// The register for the result of a reduction: plain, or in braces as newer compilers write it.
pub(crate) fn reduced(load: &PtxLoad<'_>, operand: &Operand) -> Option<Element> {
    let kind = match operand.kind {
        OperandKind::Name => ElementKind::Name,
        OperandKind::Component(name) => ElementKind::Component(name),
        OperandKind::Vector(range) => match *load.elements_in(range) {
            [element] => return Some(element),
            _ => return None,
        },
        _ => return None,
    };
    Some(Element { kind, span: operand.span })
}

/// Reads `[taddr]` or `[taddr+imm]`: the register, and the offset modulo 2^32.
fn address(load: &PtxLoad<'_>, operand: &Operand) -> Result<(Span, u32)> {
    let expected = |what, span| Err(TensorLoadError::expected(what, span));
    let Some(address) = load.address_in(operand) else {
        return expected("`[` and the address", operand.span);
    };
    let AddressOperand { form: AddressForm::Bracketed, base: Some(base), .. } = address else {
        return expected("the register that holds the address, in brackets", operand.span);
    };
    if let Some(offset) = address.offset.filter(|offset| offset.value.integer().is_none()) {
        return expected("an integer constant", offset.span);
    }
    Ok((base, address.displacement() as u32))
}

/// Reads the half offset. Whether it fits in 32 bits is checked only when the load executes.
fn split(operand: &Operand) -> Result<i64> {
    let value = match operand.kind {
        OperandKind::Constant(value) => value.integer(),
        _ => None,
    };
    let expected = "a half offset, an integer constant";
    let value = value.ok_or(TensorLoadError::expected(expected, operand.span))?;
    Ok(value as i64)
}

/// The reason why a text is not a legal load of Tensor Memory, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct TensorLoadError {
    /// The kind of error.
    pub kind: TensorLoadErrorKind,
    /// The place of the error; empty if something is missing.
    pub span: Span,
}

/// The kind of an error in a load of Tensor Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorLoadErrorKind {
    /// Something else was expected, as described.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A qualifier that these loads do not have.
    #[error("not a qualifier of `tcgen05.ld`")]
    Unknown,
    /// A second qualifier of the same kind.
    #[error("a second qualifier of this kind")]
    Duplicate,
    /// A type that the instruction does not have.
    #[error("invalid type; expected {types}")]
    Type {
        /// The types that it has.
        types: &'static str,
    },
    /// A reduction's operation or modifier without `.red`.
    #[error("only `tcgen05.ld.red` has an operation")]
    ReductionWithoutRed,
    /// The number of data registers does not match the shape and `.num`.
    #[error(
        "expected {expected} data register{} for this shape and repeat, got {got}",
        if *expected == 1 { "" } else { "s" }
    )]
    RegisterCount {
        /// The number that the load needs.
        expected: usize,
        /// The number written.
        got: usize,
    },
    /// An illegal combination of parts.
    #[error(transparent)]
    Illegal(#[from] IllegalLoadError),
}

impl TensorLoadError {
    /// Returns the code of an illegal combination, see [`IllegalLoadError::code`]; `syntax` for everything else.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            Problem::Illegal(illegal) => illegal.code(),
            _ => "syntax",
        }
    }

    pub(crate) const fn expected(what: &'static str, span: Span) -> Self {
        Self { kind: Problem::Expected(what), span }
    }
}
