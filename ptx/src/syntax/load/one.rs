//! [`read_load`], which reads a single load without a module around it.

use super::PtxLoad;
use crate::module::{GuardPredicate, Module, ReadError, ReadErrorKind};
use crate::syntax::Span;
use crate::syntax::lexer::TokenKind;
use crate::syntax::words::Words;
use crate::tensor::{TensorLoadError, WrittenTensorLoad};

/// The text of a single load after reading.
#[derive(Clone, Debug)]
pub struct LoadText<'s> {
    /// A module with this one statement and no declarations.
    module: Module<'s>,
}

impl LoadText<'_> {
    /// Returns the load; `Some` for every text that [`read_load`] accepts. Spans are places in the text. Names are not
    /// looked up, and [`PtxLoad::scope`](super::PtxInstruction::scope) is the scope of the module.
    #[must_use]
    pub fn load(&self) -> Option<PtxLoad<'_>> {
        self.module.loads().next()
    }

    /// [`PtxLoad::tensor_load`](super::PtxInstruction::tensor_load) of the load.
    ///
    /// # Errors
    /// Returns [`TensorLoadError`] in the same cases.
    pub fn tensor_load(&self, text: &str) -> Result<WrittenTensorLoad, TensorLoadError> {
        let missing = || TensorLoadError::expected(LOADS, Span::default());
        self.load().ok_or_else(missing)?.tensor_load(text)
    }
}

/// Reads a single load. The final `;` is optional.
///
/// ```
/// use warpload_ptx::syntax::load::Opcode;
/// use warpload_ptx::read_load;
///
/// let text = read_load("@!%p1 ld.global.u32 %r1, [%rd1+-8]")?;
/// let load = text.load().ok_or("no load")?;
/// assert_eq!(load.opcode, Opcode::Ld);
/// assert_eq!(load.address().map(|address| address.displacement() as i64), Some(-8));
///
/// let error = read_load("ld.global.u32 %r1, [%rd1-8];").unwrap_err();
/// assert_eq!((error.position.column, error.span.range()), (25, 24..25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ReadError`] at the first word that cannot belong to a load, or at a second statement. Illegal loads are
/// accepted.
pub fn read_load(text: &str) -> Result<LoadText<'_>, ReadError> {
    let whole = ReadError::check_size(text)?;
    let module = statement(text, whole).map_err(|(kind, at)| ReadError::new(text, kind, at))?;
    Ok(LoadText { module })
}

/// The instructions that count as loads.
const LOADS: &str = "`ld`, `tcgen05.ld` or `tcgen05.ld.red`";

/// An error and its place.
type Fault = (ReadErrorKind, Span);

/// Reads a guard and a load, up to the semicolon or the end.
fn statement(text: &str, whole: Span) -> Result<Module<'_>, Fault> {
    let mut words = Words::new(text, whole);
    let start = words.span();
    let mut guard = None;
    if words.eat(b'@') {
        let is_negated = words.eat(b'!');
        let register = word(&words, "a predicate register")?;
        words.advance();
        guard = Some(GuardPredicate { register, is_negated });
    }
    word(&words, LOADS)?;
    let (module, written) = Module::of_load(text, start, guard, &mut words);
    while words.kind() != TokenKind::End && !words.is_mark(b';') {
        if let TokenKind::Bad(error) = words.kind() {
            return Err((ReadErrorKind::Lexical(error), words.span()));
        }
        words.advance();
    }
    if words.eat(b';') && words.kind() != TokenKind::End {
        let rest = Span { start: words.span().start, end: text.trim_end().len() as u32 };
        return Err((ReadErrorKind::Expected("the end of the text after the load"), rest));
    }
    let fault = module.loads().next().map(|load| load.fault);
    match fault {
        Some(None) => Ok(module),
        Some(Some(fault)) => Err((ReadErrorKind::Expected(fault.expected), fault.span)),
        None => Err((ReadErrorKind::Expected(LOADS), written)),
    }
}

/// The place of the current word, which must be a name.
fn word(words: &Words<'_>, expected: &'static str) -> Result<Span, Fault> {
    match words.kind() {
        TokenKind::Word => Ok(words.span()),
        TokenKind::Bad(error) => Err((ReadErrorKind::Lexical(error), words.span())),
        _ => Err((ReadErrorKind::Expected(expected), words.span())),
    }
}
