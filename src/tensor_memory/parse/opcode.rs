//! The opcode and its qualifiers.

use warpload_encoding::Span;

use super::{
    Form, IllegalLoad, LoadTextError, LoadTextErrorKind, Operation, Reduction, ReductionType,
    Result, Scanner, Shape, TensorLoad,
};

/// What the qualifiers say, and where.
pub(super) struct Opcode {
    shape: Shape,
    num: u32,
    pack: bool,
    pub(super) reduction: Option<Reduction>,
    spans: Spans,
}

/// The qualifiers that a broken rule can be about.
struct Spans {
    shape: Span,
    num: Span,
    pack: Span,
    modifier: Span,
}

/// A name and its place.
#[derive(Clone, Copy)]
struct Qualifier<'t> {
    name: &'t str,
    span: Span,
}

/// What can stand behind `.num`.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    Pack,
    Operation(Operation),
    Absolute,
    Nan,
    Type(ReductionType),
    Bits,
}

impl Opcode {
    pub(super) fn parse(scanner: &mut Scanner<'_>) -> Result<Self> {
        let start = scanner.position();
        let text = scanner.opcode();
        let mut names = Names { rest: text.split('.'), at: start };
        let span = Span { start, end: start + text.len() };
        for part in ["tcgen05", "ld"] {
            if names.pop().is_none_or(|name| name.name != part) {
                let kind = LoadTextErrorKind::Expected("`tcgen05.ld` with its qualifiers");
                return Err(LoadTextError { kind, span });
            }
        }
        let mut next = names.next("`.red` or `.sync`")?;
        let is_reduction = next.name == "red";
        if is_reduction {
            next = names.next("`.sync`")?;
        }
        if next.name != "sync" {
            return Err(next.unexpected("`.sync`"));
        }
        names.literal("aligned", "`.aligned`")?;
        let shape = names.next("a shape such as `.32x32b`")?;
        let num = names.next("a repeat such as `.x4`")?;
        let mut opcode = Self {
            shape: Shape::from_name(shape.name).ok_or(LoadTextError {
                kind: LoadTextErrorKind::Illegal(IllegalLoad::Shape),
                span: shape.span,
            })?,
            num: read_num(num)?,
            pack: false,
            reduction: None,
            spans: Spans { shape: shape.span, num: num.span, pack: num.span, modifier: num.span },
        };
        if is_reduction {
            opcode.reduction(&mut names)?
        } else {
            opcode.plain(&mut names)?
        }
        Ok(opcode)
    }

    /// `{.pack::16b}.b32`.
    fn plain(&mut self, names: &mut Names<'_>) -> Result<()> {
        let mut next = names.next("`.pack::16b` or `.b32`")?;
        if Tail::of(next.name) == Some(Tail::Pack) {
            (self.pack, self.spans.pack) = (true, next.span);
            next = names.next("`.b32`")?;
        }
        match Tail::of(next.name) {
            Some(Tail::Bits) => names.end(),
            None | Some(Tail::Pack) => Err(next.unexpected("`.b32`")),
            Some(_) => {
                let kind = LoadTextErrorKind::ReductionWithoutRed;
                Err(LoadTextError { kind, span: next.span })
            }
        }
    }

    /// `.op{.abs}{.NaN}.type` or `.type.op{.abs}{.NaN}`.
    fn reduction(&mut self, names: &mut Names<'_>) -> Result<()> {
        const OPERATION: &str = "`.min` or `.max`";
        const TYPE: &str = "`.f32`, `.u32` or `.s32`";
        let mut next = names.next(OPERATION)?;
        // Read so that the message is about the combination, which no order makes legal.
        if Tail::of(next.name) == Some(Tail::Pack) {
            (self.pack, self.spans.pack) = (true, next.span);
            next = names.next(OPERATION)?;
        }
        let mut kind = None;
        if let Some(Tail::Type(first)) = Tail::of(next.name) {
            kind = Some(first);
            next = names.next(OPERATION)?;
        }
        let Some(Tail::Operation(operation)) = Tail::of(next.name) else {
            return Err(next.unexpected(OPERATION));
        };
        let mut found = Reduction::new(operation, ReductionType::U32);
        for (modifier, given) in
            [(Tail::Absolute, &mut found.absolute), (Tail::Nan, &mut found.propagates_nan)]
        {
            if let Some(name) = names.next_if(|name| Tail::of(name) == Some(modifier)) {
                (*given, self.spans.modifier) = (true, name.span);
            }
        }
        found.kind = match kind {
            Some(kind) => kind,
            None => {
                let next = names.next(TYPE)?;
                let Some(Tail::Type(kind)) = Tail::of(next.name) else {
                    return Err(next.unexpected(TYPE));
                };
                kind
            }
        };
        self.reduction = Some(found);
        names.end()
    }

    /// The instruction; where a rule is broken, at the qualifier or operand to change.
    pub(super) fn load(&self, split: Option<i64>, split_span: Span) -> Result<TensorLoad> {
        let Self { shape, num, pack, reduction, ref spans } = *self;
        TensorLoad::new(Form { shape, num, pack, split, reduction }).map_err(|illegal| {
            let span = match illegal {
                IllegalLoad::Shape | IllegalLoad::ReductionShape { .. } => spans.shape,
                IllegalLoad::Num { .. } | IllegalLoad::ReductionNum => spans.num,
                IllegalLoad::SplitMissing | IllegalLoad::SplitSurplus { .. } => split_span,
                IllegalLoad::ReductionPack => spans.pack,
                IllegalLoad::ReductionModifier { .. } => spans.modifier,
            };
            LoadTextError { kind: LoadTextErrorKind::Illegal(illegal), span }
        })
    }
}

/// `x` and a number.
fn read_num(num: Qualifier<'_>) -> Result<u32> {
    num.name
        .strip_prefix('x')
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| num.unexpected("a repeat such as `.x4`"))
}

impl Tail {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "pack::16b" => Self::Pack,
            "min" => Self::Operation(Operation::Min),
            "max" => Self::Operation(Operation::Max),
            "abs" => Self::Absolute,
            "NaN" => Self::Nan,
            "u32" => Self::Type(ReductionType::U32),
            "s32" => Self::Type(ReductionType::S32),
            "f32" => Self::Type(ReductionType::F32),
            "b32" => Self::Bits,
            _ => return None,
        })
    }
}

impl Qualifier<'_> {
    fn unexpected(&self, expected: &'static str) -> LoadTextError {
        LoadTextError { kind: LoadTextErrorKind::Qualifier { expected }, span: self.span }
    }
}

/// The parts of the opcode between dots.
#[derive(Clone)]
struct Names<'t> {
    rest: std::str::Split<'t, char>,
    /// The offset of the next part.
    at: usize,
}

impl<'t> Names<'t> {
    fn next(&mut self, expected: &'static str) -> Result<Qualifier<'t>> {
        let missing = self.at.saturating_sub(1);
        self.pop().ok_or(LoadTextError {
            kind: LoadTextErrorKind::Expected(expected),
            span: Span { start: missing, end: missing },
        })
    }

    fn next_if(&mut self, test: impl Fn(&str) -> bool) -> Option<Qualifier<'t>> {
        let before = self.clone();
        let found = self.pop().filter(|name| test(name.name));
        if found.is_none() {
            *self = before;
        }
        found
    }

    fn pop(&mut self) -> Option<Qualifier<'t>> {
        let name = self.rest.next()?;
        let start = self.at;
        let end = start + name.len();
        self.at = end + 1;
        Some(Qualifier { name, span: Span { start, end } })
    }

    fn literal(&mut self, name: &str, expected: &'static str) -> Result<()> {
        let next = self.next(expected)?;
        if next.name == name { Ok(()) } else { Err(next.unexpected(expected)) }
    }

    fn end(&mut self) -> Result<()> {
        match self.pop() {
            None => Ok(()),
            Some(name) => Err(name.unexpected("the registers")),
        }
    }
}
