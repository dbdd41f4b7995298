//! The text of one instruction.
//!
//! Qualifiers stand in the order of the PTX ISA's grammar, but for reductions both spellings in use
//! are taken: the operation in front of the type (`.max.abs.f32`, the grammar) and behind it
//! (`.f32.max.abs`, an example of the same page, and libcu++).

use std::fmt;

use warpload_encoding::Span;

use super::instruction::{Form, IllegalLoad, TensorLoad};
use super::reduction::{Operation, Reduction, ReductionType};
use super::shape::Shape;

mod opcode;
mod scanner;

use opcode::Opcode;
use scanner::Scanner;

/// An instruction as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadText<'t> {
    /// What it does.
    pub load: TensorLoad,
    /// The names of the data registers, as many as the load gives each thread.
    pub registers: Vec<&'t str>,
    /// The name of the register for the result of a reduction.
    pub reduced: Option<&'t str>,
    /// The name of the register that holds the address.
    pub address: &'t str,
    /// What is added to that register, modulo 2^32.
    pub address_offset: u32,
}

/// Why a text is no load, and which bytes of it are at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTextError {
    /// What is wrong.
    pub kind: LoadTextErrorKind,
    /// The bytes at fault; empty where something is missing.
    pub span: Span,
}

/// What is wrong with the text of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadTextErrorKind {
    /// Something else was expected here; the words say what.
    Expected(&'static str),
    /// This qualifier is unknown, stands here twice, or belongs elsewhere.
    Qualifier {
        /// What could stand here.
        expected: &'static str,
    },
    /// A reduction's operation, modifier or type without `.red`.
    ReductionWithoutRed,
    /// An integer that does not fit.
    IntegerTooWide,
    /// The number of data registers is not that of the shape and `.num`.
    RegisterCount {
        /// How many the load has.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// The combination breaks a rule.
    Illegal(IllegalLoad),
    /// Text behind the instruction's end.
    TrailingText,
}

type Result<T> = std::result::Result<T, LoadTextError>;

impl<'t> LoadText<'t> {
    /// Reads one instruction; the `;` at its end can be left out.
    ///
    /// ```
    /// use warpload::tensor_memory::LoadText;
    ///
    /// let text = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr + 0x100000];";
    /// let read = LoadText::parse(text)?;
    /// assert_eq!((read.registers, read.address_offset), (vec!["r0", "r1"], 16 << 16));
    ///
    /// let error = LoadText::parse("tcgen05.ld.sync.aligned.16x32b.x2.b32 {r0, r1}, [taddr];");
    /// assert_eq!(error.unwrap_err().span.range(), 24..30);
    /// # Ok::<(), warpload::tensor_memory::LoadTextError>(())
    /// ```
    ///
    /// # Errors
    /// [`LoadTextError`], the first in the order of the text; rules that the combination breaks
    /// come last, at the qualifier or operand to change.
    pub fn parse(text: &'t str) -> Result<Self> {
        let mut scanner = Scanner::new(text);
        let opcode = Opcode::parse(&mut scanner)?;
        let list_start = scanner.position();
        let registers = register_list(&mut scanner)?;
        let list = Span { start: list_start, end: scanner.end_of_last() };
        scanner.expect(',', "`,` behind the registers")?;
        let reduced = match opcode.reduction {
            Some(_) => Some(reduced_register(&mut scanner)?),
            None => None,
        };
        let (address, address_offset) = address(&mut scanner)?;
        let behind_address = scanner.end_of_last();
        let mut split_span = Span { start: behind_address, end: behind_address };
        let mut split = None;
        if scanner.take(',') {
            let start = scanner.position();
            split = Some(scanner.integer("a half offset, an integer constant")?);
            split_span = Span { start, end: scanner.end_of_last() };
        }
        scanner.take(';');
        if let Some(span) = scanner.rest() {
            return Err(LoadTextError { kind: LoadTextErrorKind::TrailingText, span });
        }
        let load = opcode.load(split, split_span)?;
        let (expected, got) = (load.registers(), registers.len());
        if expected != got {
            let kind = LoadTextErrorKind::RegisterCount { expected, got };
            return Err(LoadTextError { kind, span: list });
        }
        Ok(Self { load, registers, reduced, address, address_offset })
    }
}

/// `{r0, r1}`.
fn register_list<'t>(scanner: &mut Scanner<'t>) -> Result<Vec<&'t str>> {
    scanner.expect('{', "`{` and the data registers")?;
    let mut registers = vec![scanner.identifier("a register")?];
    while scanner.take(',') {
        registers.push(scanner.identifier("a register")?);
    }
    scanner.expect('}', "`,` or `}` behind a register")?;
    Ok(registers)
}

/// `redval,` or `{redval},`.
fn reduced_register<'t>(scanner: &mut Scanner<'t>) -> Result<&'t str> {
    let braced = scanner.take('{');
    let name = scanner.identifier("a register for the reduction's result")?;
    if braced {
        scanner.expect('}', "`}` behind the one register")?;
    }
    scanner.expect(',', "`,` behind the register of the result")?;
    Ok(name)
}

/// `[taddr]` or `[taddr+imm]`.
fn address<'t>(scanner: &mut Scanner<'t>) -> Result<(&'t str, u32)> {
    scanner.expect('[', "`[` and the address")?;
    let name = scanner.identifier("the register that holds the address")?;
    let mut offset = 0;
    if scanner.take('+') {
        let start = scanner.position();
        let value = scanner.integer("an integer constant")?;
        let is_fitting = (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&value);
        if !is_fitting {
            let span = Span { start, end: scanner.end_of_last() };
            return Err(LoadTextError { kind: LoadTextErrorKind::IntegerTooWide, span });
        }
        // Modulo 2^32: a negative offset is a subtraction.
        offset = value as u32;
    }
    scanner.expect(']', "`+` and an offset, or `]`")?;
    Ok((name, offset))
}

impl LoadTextError {
    /// The code of the rule that an illegal combination breaks, see [`IllegalLoad::code`];
    /// `syntax` for everything else.
    pub const fn code(&self) -> &'static str {
        match self.kind {
            LoadTextErrorKind::Illegal(illegal) => illegal.code(),
            _ => "syntax",
        }
    }
}

impl fmt::Display for LoadTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            LoadTextErrorKind::Expected(what) => write!(f, "expected {what}"),
            LoadTextErrorKind::Qualifier { expected } => {
                write!(f, "this qualifier cannot stand here; expected {expected}")
            }
            LoadTextErrorKind::ReductionWithoutRed => {
                f.write_str("only `tcgen05.ld.red` has an operation")
            }
            LoadTextErrorKind::IntegerTooWide => f.write_str("an integer that does not fit"),
            LoadTextErrorKind::RegisterCount { expected, got } => {
                let plural = if got == 1 { "" } else { "s" };
                write!(f, "{got} data register{plural}; shape and repeat make it {expected}")
            }
            LoadTextErrorKind::Illegal(illegal) => illegal.fmt(f),
            LoadTextErrorKind::TrailingText => f.write_str("text behind the instruction's end"),
        }
    }
}

impl std::error::Error for LoadTextError {}
