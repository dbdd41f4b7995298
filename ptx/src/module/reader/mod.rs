//! Reads a module whole, each word once.
//!
//! Kept are `.version`, `.target` and `.address_size`, declarations, scopes, functions, the statements
//! of bodies with their operands, and lines of the source. Passed over are other debug information,
//! pragmas, attributes of functions and directives that are not known here. Nothing is allocated for
//! an instruction alone, and braces are counted, not followed by recursion. [`ReadError`] is what can be wrong with the text.

mod body;
mod declaration;
mod function;

use crate::module::{
    AddressSize, FunctionId, Linkage, Mistake, MistakeKind, Module, ScopeId, SourceLocation,
};
use crate::syntax::types::LATER_ASSEMBLER;
use crate::syntax::words::Words;
use crate::syntax::{LexicalError, LineIndex, Position, Span, Target, TokenKind, Version, integer};

/// The most nested braces of a body: as many as ptxas 12.9 and 13.5 take. Compilers write two or
/// three.
pub const MAX_DEPTH: usize = 1663;

/// A module may have this many parts, and one more for each [`BYTES_PER_PART`] bytes of its text. A
/// statement and a pair of braces are one part, a declaration two, a function four. Parts are about
/// 70 bytes each, so that memory stays in proportion to the text; compilers write 20 bytes and more
/// for each.
const MAX_PARTS: usize = 1 << 20;
const BYTES_PER_PART: usize = 16;

/// The same for operands, elements in braces and addresses, of 24 to 80 bytes; compilers write 5 bytes
/// and more for each.
const BYTES_PER_OPERAND: usize = 4;

/// Reads a module.
///
/// ```
/// let source = ".version 8.8\n.target sm_90\n.address_size 64\n
/// .visible .entry k(.param .u64 a)
/// {
///     .reg .b64 %rd<3>;
///     ld.param.u64 %rd1, [a];
///     ld.global.u64 %rd2, [%rd1+8];
///     ret;
/// }";
/// let module = warpload_ptx::read(source)?;
/// assert_eq!(module.functions().len(), 1);
/// assert_eq!(module.loads().count(), 2);
/// # Ok::<(), warpload_ptx::ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError`] at the first place that cannot belong to any module. Statements that are wrong in
/// themselves are kept, as [`StatementKind::Malformed`](crate::module::StatementKind::Malformed) or with
/// [`Instruction::fault`](crate::module::Instruction::fault).
pub fn read(source: &str) -> Result<Module<'_>, ReadError> {
    let mut reader = Reader::new(source, ReadError::check_size(source)?);
    match reader.module() {
        Ok(()) => Ok(reader.module),
        Err(Fault { kind, span }) => Err(ReadError::new(source, kind, span)),
    }
}

/// An error whose line has not been counted yet.
struct Fault {
    kind: ReadErrorKind,
    span: Span,
}

type Step<T = ()> = Result<T, Fault>;

struct Reader<'s> {
    words: Words<'s>,
    module: Module<'s>,
    header: Header,
    scope: ScopeId,
    function: Option<FunctionId>,
    /// How many more parts the module may have.
    room: usize,
    /// The type of the declaration that is read, if only instructions have it.
    instruction_type: Option<Span>,
}

/// What has been read of the directives that precede all others.
#[derive(Default)]
struct Header {
    has_version: bool,
    target: Option<Target>,
    /// `texmode_unified` or `texmode_independent`, the first one that was read.
    texture_mode: Option<&'static str>,
    /// Whether `.target` and `.address_size` come too late.
    is_over: bool,
}

/// The modes of texture instructions, options of `.target` that exclude each other.
const TEXTURE_MODES: [&str; 2] = ["texmode_unified", "texmode_independent"];

/// The first machine with floats of 64 bits, for which nothing is mapped to 32.
const FIRST_WITH_DOUBLES: u32 = 13;

/// The words that begin a declaration of variables.
const DECLARING: [&str; 8] =
    [".align", ".const", ".global", ".local", ".param", ".reg", ".shared", ".tex"];

impl<'s> Reader<'s> {
    fn new(source: &'s str, whole: Span) -> Self {
        let words = Words::new(source, whole);
        let module = Module::new(source, Version::new(0, 0), Target::EARLIEST);
        let room = MAX_PARTS + source.len() / BYTES_PER_PART;
        let scope = ScopeId::MODULE;
        Self {
            words,
            module,
            header: Header::default(),
            scope,
            function: None,
            room,
            instruction_type: None,
        }
    }

    fn module(&mut self) -> Step {
        let mut linkage = Linkage::Internal;
        loop {
            let next = std::mem::take(&mut linkage);
            let has_linkage = next != Linkage::Internal;
            if has_linkage && !self.may_follow_linkage(next) {
                self.mistake(MistakeKind::Linkage)?;
            }
            match self.words.kind() {
                TokenKind::End if self.header.has_version => return self.end(),
                // ptxas 12.9 reads no further than a zero byte.
                TokenKind::Bad(LexicalError::Stray)
                    if self.words.text() == "\0"
                        && self.header.has_version
                        && self.module.version < LATER_ASSEMBLER =>
                {
                    return self.end();
                }
                TokenKind::Punctuation(b';') => {
                    if !has_linkage {
                        self.mistake(MistakeKind::Semicolon)?;
                    }
                    self.words.advance();
                }
                // `@@DWARF`, one line each, in modules of PTX 1.x.
                TokenKind::Punctuation(b'@') => self.words.skip_line(),
                TokenKind::Dotted => linkage = self.directive(next)?,
                _ if !self.header.has_version => {
                    return Err(self.fault(ReadErrorKind::MissingVersion));
                }
                _ => return Err(self.expected("a directive")),
            }
        }
    }

    fn end(&mut self) -> Step {
        match self.header.target {
            Some(_) => Ok(()),
            None => Err(self.fault(ReadErrorKind::MissingTarget)),
        }
    }

    /// One directive outside of functions. What it says of the next one's linkage.
    fn directive(&mut self, linkage: Linkage) -> Step<Linkage> {
        let name = self.words.text();
        if !self.header.has_version && name != ".version" {
            return Err(self.fault(ReadErrorKind::MissingVersion));
        }
        match name {
            ".version" => {
                if self.header.has_version {
                    self.mistake(MistakeKind::Version)?;
                }
                self.version()?;
                return Ok(Linkage::Internal);
            }
            ".target" => {
                if self.header.is_over {
                    self.mistake(MistakeKind::Target)?;
                }
                self.target()?;
                return Ok(Linkage::Internal);
            }
            ".address_size" if self.header.is_over => self.mistake(MistakeKind::AddressSize)?,
            _ => {}
        }
        self.header.is_over = true;
        match name {
            ".address_size" => self.address_size()?,
            ".file" => self.pass_file(),
            ".loc" => {
                self.mistake(MistakeKind::Directive)?;
                self.location();
            }
            ".extern" => return Ok(self.took(Linkage::Extern)),
            ".visible" => return Ok(self.took(Linkage::Visible)),
            ".weak" => return Ok(self.took(Linkage::Weak)),
            ".common" => return Ok(self.took(Linkage::Common)),
            ".entry" | ".func" => self.function(linkage)?,
            name if DECLARING.contains(&name) => {
                self.needs_target()?;
                self.declarations(linkage)?;
            }
            name => {
                self.module.has_sections |= name == ".section";
                if !matches!(name, ".section" | ".pragma" | ".alias") {
                    self.mistake(MistakeKind::Directive)?;
                }
                self.pass_unknown()?;
            }
        }
        Ok(Linkage::Internal)
    }

    /// Whether the current word may follow `.extern` and the like: it begins a variable or a function.
    fn may_follow_linkage(&self, linkage: Linkage) -> bool {
        let name = self.words.text();
        let is_function = matches!(name, ".entry" | ".func");
        DECLARING.contains(&name) || (is_function && linkage != Linkage::Common)
    }

    /// Keeps a mistake at the current word, after which the rest of the module can be read.
    fn mistake(&mut self, kind: MistakeKind) -> Step {
        self.take_room(1)?;
        self.module.mistakes.push(Mistake { kind, span: self.words.span() });
        Ok(())
    }

    /// Counts parts of the module.
    fn take_room(&mut self, parts: usize) -> Step {
        match self.room.checked_sub(parts) {
            Some(room) => self.room = room,
            None => return Err(self.fault(ReadErrorKind::TooManyParts)),
        }
        Ok(())
    }

    fn took(&mut self, linkage: Linkage) -> Linkage {
        self.words.advance();
        linkage
    }

    fn version(&mut self) -> Step {
        self.words.advance();
        let version = self.words.text().parse();
        let version = version.map_err(|_| self.fault(ReadErrorKind::Version))?;
        if !self.header.has_version {
            self.module.version = version;
        }
        self.header.has_version = true;
        self.words.advance();
        Ok(())
    }

    /// `.target sm_90, texmode_unified`: the first name counts. Options are what `ptxas` takes: another
    /// target, too.
    fn target(&mut self) -> Step {
        self.words.advance();
        let target = self.words.text().parse();
        let target: Target = target.map_err(|_| self.fault(ReadErrorKind::Target))?;
        if self.header.target.is_none() {
            self.module.target = target;
        }
        self.header.target = Some(target);
        self.words.advance();
        while self.words.eat(b',') {
            let option = self.words.text();
            let mode = TEXTURE_MODES.into_iter().find(|mode| *mode == option);
            let has_doubles = target.sm >= FIRST_WITH_DOUBLES;
            let is_known = mode.is_some()
                || option == "debug"
                || (option == "map_f64_to_f32" && !has_doubles)
                || option.parse::<Target>().is_ok();
            if mode.is_some() && self.header.texture_mode.is_some_and(|first| Some(first) != mode) {
                self.mistake(MistakeKind::TextureMode)?;
            } else if !is_known {
                self.mistake(MistakeKind::Option)?;
            }
            self.header.texture_mode = self.header.texture_mode.or(mode);
            let span = self.name("an option of `.target`")?;
            if option == "debug" {
                self.module.debug = Some(span);
            }
        }
        Ok(())
    }

    fn address_size(&mut self) -> Step {
        self.words.advance();
        let span = self.words.span();
        let bits = match integer(self.words.text()) {
            Some(bits @ (32 | 64)) if self.words.kind() == TokenKind::Number => bits as u32,
            _ => return Err(self.fault(ReadErrorKind::AddressSize)),
        };
        self.module.address_size = Some(AddressSize { bits, span });
        self.words.advance();
        Ok(())
    }

    fn needs_target(&mut self) -> Step<Target> {
        self.header.target.ok_or_else(|| self.fault(ReadErrorKind::MissingTarget))
    }

    /// `.section .debug_info { ... }`, `.pragma "...";`, and what is not known: to its semicolon
    /// or the brace that closes it.
    fn pass_unknown(&mut self) -> Step {
        let is_alias = self.words.text() == ".alias";
        self.words.advance();
        if is_alias {
            self.take_room(1)?;
            self.module.aliases.push(self.words.span());
        }
        let mut depth = 0_usize;
        loop {
            match self.words.kind() {
                TokenKind::Punctuation(b';') if depth == 0 => break,
                TokenKind::Punctuation(b'{') => depth += 1,
                TokenKind::Punctuation(b'}') if depth <= 1 => break,
                TokenKind::Punctuation(b'}') => depth -= 1,
                TokenKind::End if depth == 0 => return Err(self.expected("`;`")),
                TokenKind::End | TokenKind::Bad(_) => return Err(self.expected("`}`")),
                _ => {}
            }
            self.words.advance();
        }
        self.words.advance();
        Ok(())
    }

    /// `.file 1 "folder" "a.c", 1700000000, 1234`.
    fn pass_file(&mut self) {
        self.words.advance();
        self.words.pass_numbers();
        while self.words.kind() == TokenKind::Quoted {
            self.words.advance();
        }
        while self.words.eat(b',') {
            self.words.pass_numbers();
        }
    }

    /// `.loc 1 7 3, function_name $L__info_string0+8, inlined_at 1 20 5`.
    fn location(&mut self) -> SourceLocation {
        let [file, line, column] = self.words.take_with_numbers();
        while self.words.eat(b',') {
            let keyword = self.words.text();
            self.words.advance();
            if keyword == "function_name" {
                self.words.advance();
                while self.words.eat(b'+') {}
            }
            self.words.pass_numbers();
        }
        SourceLocation { file, line, column }
    }

    /// Refuses more operands than the text has room for.
    fn check_operands(&self) -> Step {
        match self.module.arena.len() > MAX_PARTS + self.module.source.len() / BYTES_PER_OPERAND {
            true => Err(self.fault(ReadErrorKind::TooManyParts)),
            false => Ok(()),
        }
    }

    /// Takes a mark.
    fn expect(&mut self, mark: u8, expected: &'static str) -> Step {
        if self.words.eat(mark) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Takes a word that is a name.
    fn name(&mut self, expected: &'static str) -> Step<Span> {
        match self.words.kind() {
            TokenKind::Word => Ok(self.words.advance().span),
            _ => Err(self.expected(expected)),
        }
    }

    /// Returns the fault of a current word that is not the expected one.
    fn expected(&self, expected: &'static str) -> Fault {
        self.fault(ReadErrorKind::Expected(expected))
    }

    fn fault(&self, kind: ReadErrorKind) -> Fault {
        let span = self.words.span();
        match self.words.kind() {
            TokenKind::Bad(error) => Fault { kind: ReadErrorKind::Lexical(error), span },
            _ => Fault { kind, span },
        }
    }
}

/// Why a module could not be read, and the place. Illegal loads are not such errors:
/// [`check`](crate::rules::check) finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
#[non_exhaustive]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// The bytes at fault.
    pub span: Span,
    /// Where they begin.
    pub position: Position,
}

impl ReadError {
    pub(crate) fn new(source: &str, kind: ReadErrorKind, span: Span) -> Self {
        Self { kind, span, position: LineIndex::new(source).position(span.start) }
    }

    /// Returns the span of a whole text.
    ///
    /// # Errors
    /// Returns [`ReadErrorKind::TooLarge`] if its places do not fit in 32 bits.
    pub(crate) fn check_size(source: &str) -> Result<Span, Self> {
        match u32::try_from(source.len()) {
            Ok(end) => Ok(Span { start: 0, end }),
            Err(_) => Err(Self::new("", ReadErrorKind::TooLarge, Span::default())),
        }
    }
}

/// What is wrong with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// A word that no module can hold.
    #[error(transparent)]
    Lexical(#[from] LexicalError),
    /// Something else was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Not a version.
    #[error("expected a version, two numbers with a dot between")]
    Version,
    /// Not a target.
    #[error("expected a target such as `sm_90`, `sm_100a` or `sm_100f`")]
    Target,
    /// Neither 32 nor 64.
    #[error("expected 32 or 64")]
    AddressSize,
    /// A module without `.version`, or with something before it.
    #[error("expected `.version`, with which a module begins")]
    MissingVersion,
    /// A function or a variable before `.target`.
    #[error("expected `.target` before this")]
    MissingTarget,
    /// Braces in braces.
    #[error("more than {} braces inside one another", MAX_DEPTH)]
    TooDeep,
    /// More statements, declarations and braces than their text has room for.
    #[error("more statements, declarations and braces than one for every 16 bytes of text")]
    TooManyParts,
    /// A text whose places do not fit in 32 bits.
    #[error("larger than 4 GiB")]
    TooLarge,
}
