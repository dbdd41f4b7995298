//! Loads of tensor memory, from what is written to what is executed.

use crate::syntax::load::{
    Address, AddressForm, Element, ElementKind, Load, Opcode, Operand, OperandKind, QualifierKind,
};
use crate::syntax::{ScalarType, Span};
use crate::tensor::{
    Form, IllegalLoad, Operation, Reduction, ReductionType, Repeat, Shape, TensorLoad,
};

mod error;

pub use error::{TensorLoadError, TensorLoadErrorKind};

/// A load of tensor memory and the names of its operands, which are not looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTensorLoad {
    /// What it does, the half offset included.
    pub load: TensorLoad,
    /// The data registers as they are written, `r0` or `Q.x`, as many as the load gives each
    /// thread.
    pub registers: Vec<Span>,
    /// The register for the result of a reduction, as it is written.
    pub reduced: Option<Span>,
    /// The name of the register that holds the address.
    pub address: Span,
    /// What is added to that register, modulo 2^32.
    pub address_offset: u32,
}

type Result<T> = std::result::Result<T, TensorLoadError>;

impl Load {
    /// The load of tensor memory that this is. `text` is what it was read from, a module or a
    /// statement alone.
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
    /// [`TensorLoadError`], of several the first of these: what could not be read, qualifiers that
    /// are unknown, double, missing or another instruction's, operands, rules that the combination
    /// breaks, the number of registers. Registers are not looked up: [`check`](crate::rules::check) tells
    /// whether they are declared as they should be.
    pub fn tensor_load(&self, text: &str) -> Result<WrittenTensorLoad> {
        if self.opcode == Opcode::Ld {
            let expected = "`tcgen05.ld` or `tcgen05.ld.red`";
            return Err(TensorLoadError::expected(expected, self.opcode_span));
        }
        if let Some(fault) = self.fault {
            return Err(TensorLoadError::expected(fault.expected, fault.span));
        }
        let qualifiers = Qualifiers::of(self, text)?;
        let operands = Operands::of(self)?;
        let split = operands.split.map(|(split, _)| split);
        let load = TensorLoad::new(Form { split, ..qualifiers.form }).map_err(|illegal| {
            let behind_address = behind(operands.end);
            let split = operands.split.map_or(behind_address, |(_, span)| span);
            TensorLoadError::illegal(illegal, qualifiers.place(illegal).unwrap_or(split))
        })?;
        let (expected, got) = (load.registers(), operands.registers.len());
        if expected != got {
            let kind = TensorLoadErrorKind::RegisterCount { expected, got };
            return Err(TensorLoadError { kind, span: operands.list });
        }
        let Operands { registers, reduced, address, address_offset, .. } = operands;
        Ok(WrittenTensorLoad { load, registers, reduced, address, address_offset })
    }

    /// The place of the first qualifier that `which` picks.
    fn place_of(&self, which: impl Fn(QualifierKind) -> bool) -> Option<Span> {
        self.first(|kind| which(kind).then_some(())).map(|found| found.1)
    }

    /// Where a missing qualifier could stand.
    fn behind_qualifiers(&self) -> Span {
        behind(self.qualifiers.last().map_or(self.opcode_span, |last| last.span))
    }
}

/// No byte, right behind a span.
fn behind(span: Span) -> Span {
    Span { start: span.end, end: span.end }
}

/// What the qualifiers say, and where.
struct Qualifiers {
    /// Without the half offset.
    form: Form,
    shape: Span,
    repeat: Span,
    pack: Option<Span>,
    modifier: Option<Span>,
}

impl Qualifiers {
    fn of(load: &Load, text: &str) -> Result<Self> {
        known(load, text)?;
        for (qualifier, what) in
            [(QualifierKind::Sync, "`.sync`"), (QualifierKind::Aligned, "`.aligned`")]
        {
            need(load, |kind| (kind == qualifier).then_some(()), what)?;
        }
        let (shape, shape_span) = need(load, shape, "a shape such as `.32x32b`")?;
        let (repeat, repeat_span) = need(load, repeat, "a repeat such as `.x4`")?;
        let is_modifier = |kind| matches!(kind, QualifierKind::Absolute | QualifierKind::Nan);
        Ok(Self {
            form: Form {
                pack: load.has(QualifierKind::Pack),
                reduction: reduction(load)?,
                ..Form::plain(shape, repeat.get() as u32)
            },
            shape: shape_span,
            repeat: repeat_span,
            pack: load.place_of(|kind| kind == QualifierKind::Pack),
            modifier: load.place_of(is_modifier),
        })
    }

    /// The qualifier to change; nothing for the half offset, which is none.
    fn place(&self, illegal: IllegalLoad) -> Option<Span> {
        match illegal {
            IllegalLoad::Shape | IllegalLoad::ReductionShape { .. } => Some(self.shape),
            IllegalLoad::Num { .. } | IllegalLoad::ReductionNum => Some(self.repeat),
            IllegalLoad::ReductionPack => self.pack,
            IllegalLoad::ReductionModifier { .. } => self.modifier,
            // In a text that is an unknown qualifier.
            IllegalLoad::ReductionKind => None,
            IllegalLoad::SplitMissing | IllegalLoad::SplitSurplus { .. } => None,
        }
    }
}

fn shape(kind: QualifierKind) -> Option<Shape> {
    match kind {
        QualifierKind::Shape(shape) => Some(shape),
        _ => None,
    }
}

fn repeat(kind: QualifierKind) -> Option<Repeat> {
    match kind {
        QualifierKind::Repeat(repeat) => Some(repeat),
        _ => None,
    }
}

fn need<T>(
    load: &Load,
    pick: impl Fn(QualifierKind) -> Option<T>,
    what: &'static str,
) -> Result<(T, Span)> {
    load.first(pick).ok_or_else(|| TensorLoadError::expected(what, load.behind_qualifiers()))
}

/// Refuses qualifiers that are unknown, or stand there twice.
fn known(load: &Load, text: &str) -> Result<()> {
    for (place, qualifier) in load.qualifiers.iter().enumerate() {
        let span = qualifier.span;
        if qualifier.kind == QualifierKind::Unknown {
            let name = span.text(text).trim_start_matches('.');
            return Err(match unknown(load, name) {
                Some(illegal) => TensorLoadError::illegal(illegal, span),
                None => TensorLoadError { kind: TensorLoadErrorKind::Unknown, span },
            });
        }
        // These may be written twice.
        if matches!(qualifier.kind, QualifierKind::Sync | QualifierKind::Nan) {
            continue;
        }
        let of_kind = |kind: QualifierKind| std::mem::discriminant(&kind);
        let mut before = load.qualifiers.iter().take(place);
        if before.any(|other| of_kind(other.kind) == of_kind(qualifier.kind)) {
            return Err(TensorLoadError { kind: TensorLoadErrorKind::Duplicate, span });
        }
    }
    Ok(())
}

/// The rule that a word breaks which is spelled like a repeat or a shape: `.x256`, `.16x32b`.
fn unknown(load: &Load, name: &str) -> Option<IllegalLoad> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(digits) = name.strip_prefix('x').filter(|digits| is_number(digits)) {
        let (shape, _) = load.first(shape)?;
        let num = digits.parse().ok()?;
        let illegal = TensorLoad::new(Form::plain(shape, num)).err();
        return illegal.filter(|illegal| matches!(illegal, IllegalLoad::Num { .. }));
    }
    let (lanes, bits) = name.split_once('x')?;
    let is_shape = is_number(lanes) && bits.starts_with(|first: char| first.is_ascii_digit());
    is_shape.then_some(IllegalLoad::Shape)
}

/// The operation with its modifiers and its type.
fn reduction(load: &Load) -> Result<Option<Reduction>> {
    let of_reduction = |kind| {
        use QualifierKind::{Absolute, Nan, Reduction};
        matches!(kind, Reduction(_) | Absolute | Nan)
    };
    if load.opcode == Opcode::TensorLd {
        if let Some(span) = load.place_of(of_reduction) {
            return Err(TensorLoadError { kind: TensorLoadErrorKind::ReductionWithoutRed, span });
        }
        of_type(load, "`.b32`", |scalar| (scalar == ScalarType::B32).then_some(()))?;
        return Ok(None);
    }
    let operation = |kind| match kind {
        QualifierKind::Reduction(operation) => Some(operation),
        _ => None,
    };
    let (operation, _): (Operation, _) = need(load, operation, "`.min` or `.max`")?;
    let kind = of_type(load, "`.f32`, `.u32` or `.s32`", |scalar| match scalar {
        ScalarType::F32 => Some(ReductionType::F32),
        ScalarType::U32 => Some(ReductionType::U32),
        ScalarType::S32 => Some(ReductionType::S32),
        _ => None,
    })?;
    Ok(Some(Reduction {
        absolute: load.has(QualifierKind::Absolute),
        propagates_nan: load.has(QualifierKind::Nan),
        ..Reduction::new(operation, kind)
    }))
}

/// What `pick` makes of the type.
fn of_type<T>(
    load: &Load,
    types: &'static str,
    pick: impl Fn(ScalarType) -> Option<T>,
) -> Result<T> {
    let scalar = |kind| match kind {
        QualifierKind::Type(scalar) => Some(scalar),
        _ => None,
    };
    let (scalar, span) = need(load, scalar, types)?;
    let kind = TensorLoadErrorKind::Type { types };
    pick(scalar).ok_or(TensorLoadError { kind, span })
}

/// `{r0, r1}, {redval,} [taddr] {, offset}`.
struct Operands {
    registers: Vec<Span>,
    /// The registers' braces.
    list: Span,
    reduced: Option<Span>,
    address: Span,
    address_offset: u32,
    split: Option<(i64, Span)>,
    /// The address, brackets included.
    end: Span,
}

impl Operands {
    fn of(load: &Load) -> Result<Self> {
        let mut operands = load.operands.iter();
        let end = behind(load.span);
        let mut next = |what| operands.next().ok_or(TensorLoadError::expected(what, end));
        const LIST: &str = "the data registers in braces";
        let list = next(LIST)?;
        let OperandKind::Vector(elements) = &list.kind else {
            return Err(TensorLoadError::expected(LIST, list.span));
        };
        let registers = elements.iter().map(register).collect::<Result<_>>()?;
        let reduced = match load.opcode {
            Opcode::TensorLdRed => Some(reduced(next("a register for the reduction's result")?)?),
            _ => None,
        };
        let bracketed = next("`[` and the address")?;
        let (address, address_offset) = address(bracketed)?;
        let unified = load.address().and_then(|address| address.unified);
        if let Some(unified) = unified.filter(|_| load.opcode == Opcode::TensorLdRed) {
            return Err(TensorLoadError::expected("no `.unified` on a reduction", unified));
        }
        let split = operands.next().map(split).transpose()?;
        if let Some(more) = operands.next() {
            return Err(TensorLoadError::expected("the end", more.span));
        }
        let (list, end) = (list.span, bracketed.span);
        Ok(Self { registers, list, reduced, address, address_offset, split, end })
    }
}

fn register(element: &Element) -> Result<Span> {
    match element.kind {
        ElementKind::Name | ElementKind::Component(_) => Ok(element.span),
        _ => Err(TensorLoadError::expected("a register", element.span)),
    }
}

/// `redval`, alone or in braces.
fn reduced(operand: &Operand) -> Result<Span> {
    match &operand.kind {
        OperandKind::Name | OperandKind::Component(_) => Ok(operand.span),
        OperandKind::Vector(elements) if elements.len() == 1 => register(&elements[0]),
        _ => {
            let expected = "a register for the reduction's result";
            Err(TensorLoadError::expected(expected, operand.span))
        }
    }
}

/// `[taddr]` or `[taddr+imm]`: the register, and what is added modulo 2^32.
fn address(operand: &Operand) -> Result<(Span, u32)> {
    let expected = |what, span| Err(TensorLoadError::expected(what, span));
    let OperandKind::Address(address) = &operand.kind else {
        return expected("`[` and the address", operand.span);
    };
    let &Address { form: AddressForm::Bracketed, base: Some(base), .. } = address else {
        return expected("the register that holds the address, in brackets", operand.span);
    };
    if let Some(offset) = address.offset.filter(|offset| offset.value.integer().is_none()) {
        return expected("an integer constant", offset.span);
    }
    Ok((base, address.displacement() as u32))
}

/// The half offset. What does not fit in 32 bits is a fault when the load executes.
fn split(operand: &Operand) -> Result<(i64, Span)> {
    let value = match &operand.kind {
        OperandKind::Constant(value) => value.integer(),
        _ => None,
    };
    let expected = "a half offset, an integer constant";
    let value = value.ok_or(TensorLoadError::expected(expected, operand.span))?;
    Ok((value as i64, operand.span))
}
