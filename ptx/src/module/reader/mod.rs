//! Reads a module in one pass over its words.
//!
//! The module keeps `.version`, `.target` and `.address_size`, declarations, scopes, functions, the statements of
//! bodies with their operands, and source lines. It skips other debug information, pragmas, attributes of functions and
//! unknown directives. Instructions have no allocation of their own, and nested braces are counted rather than read
//! recursively, so that a hostile text cannot exhaust the stack. Errors are [`ReadError`]s.

mod body;
mod declaration;
mod function;

use std::collections::HashMap;

use crate::module::{
    AddressSize, CodeLocation, FunctionId, Linkage, Mistake, MistakeKind, Module, ScopeId,
    SourceFile, SourceLocation,
};
use crate::syntax::types::LATER_ASSEMBLER;
use crate::syntax::words::Words;
use crate::syntax::{LexicalError, LineIndex, Position, Span, Target, TokenKind, Version, integer};

/// The limit on nested braces in a body, the same as in ptxas 12.9 and 13.5. Compilers write two or three.
pub const MAX_DEPTH: usize = 1663;

/// The number of parts that any module may have, plus one for each [`BYTES_PER_PART`] bytes of its text. A statement
/// and a pair of braces are one part each, a declaration is two, a function four. A part takes about 70 bytes, so this
/// keeps memory in proportion to the text; compilers write at least 20 bytes of text for each.
const MAX_PARTS: usize = 1 << 20;
const BYTES_PER_PART: usize = 16;

/// The parts that a mistake or a malformed statement counts as. Each has a message later, which is far larger than the
/// byte of text that it can take, and no tool writes thousands of them.
const PARTS_OF_MISTAKE: usize = 16;

/// The same for operands, elements in braces and addresses, which take 24 to 80 bytes each. Compilers write at least 5
/// bytes of text for each.
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
/// Returns [`ReadError`] at the first word that cannot belong to any module. Statements with errors of their own are
/// kept, as [`StatementKind::Malformed`](crate::module::StatementKind::Malformed) or with
/// [`Instruction::fault`](crate::module::Instruction::fault).
pub fn read(source: &str) -> Result<Module<'_>, ReadError> {
    let mut reader = Reader::new(source, ReadError::check_size(source)?);
    match reader.module() {
        Ok(()) => Ok(reader.module),
        Err(Fault { kind, span }) => Err(ReadError::new(source, kind, span)),
    }
}

/// An error before its line is counted, which happens once, at the end.
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
    /// The number of parts that the module may still have.
    room: usize,
    /// The type of the current declaration, if it is for instructions only.
    instruction_type: Option<Span>,
    /// The locations of the current function so far, each with its [`CodeLocation::user`].
    inlined: HashMap<SourceLocation, SourceLocation>,
}

/// The state of the directives that must precede all others.
#[derive(Default)]
struct Header {
    has_version: bool,
    target: Option<Target>,
    /// The first of `texmode_unified` and `texmode_independent` in the text.
    texture_mode: Option<&'static str>,
    /// Whether `.target` and `.address_size` are no longer allowed.
    is_over: bool,
}

/// The modes of texture instructions, mutually exclusive options of `.target`.
const TEXTURE_MODES: [&str; 2] = ["texmode_unified", "texmode_independent"];

/// The first SM with 64-bit floats. From it on `map_f64_to_f32` is not an option.
const FIRST_WITH_DOUBLES: u32 = 13;

/// The words that begin a declaration.
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
            inlined: HashMap::new(),
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
                // ptxas 12.9 stops reading at a zero byte.
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
                // Modules of PTX 1.x have `@@DWARF` lines.
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

    /// Reads one directive outside of functions. The result is the linkage of the next directive.
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
            ".file" => self.file()?,
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

    /// Whether the current word begins a variable or a function, which may follow `.extern` and the like.
    fn may_follow_linkage(&self, linkage: Linkage) -> bool {
        let name = self.words.text();
        let is_function = matches!(name, ".entry" | ".func");
        DECLARING.contains(&name) || (is_function && linkage != Linkage::Common)
    }

    /// Keeps a mistake at the current word. Reading continues after it.
    fn mistake(&mut self, kind: MistakeKind) -> Step {
        self.mistake_at(kind, self.words.span())
    }

    fn mistake_at(&mut self, kind: MistakeKind, span: Span) -> Step {
        self.take_room(PARTS_OF_MISTAKE)?;
        self.module.mistakes.push(Mistake { kind, span });
        Ok(())
    }

    /// Counts parts against the limit.
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

    /// Reads `.target sm_90, texmode_unified`. The first name is the target. Further targets are accepted as options,
    /// because ptxas accepts them.
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

    /// Skips `.section .debug_info { ... }`, `.pragma "...";` and unknown directives, up to the semicolon or the brace
    /// that ends them.
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

    /// Reads `.file 1 "folder" "a.c", 1700000000, 1234`, where the folder may be missing.
    fn file(&mut self) -> Step {
        self.take_room(1)?;
        let [number, ..] = self.words.take_with_numbers();
        let mut names = [None; 2];
        while self.words.kind() == TokenKind::Quoted {
            names = [names[1], Some(self.words.span())];
            self.words.advance();
        }
        while self.words.eat(b',') {
            self.words.pass_numbers();
        }
        if let [folder, Some(name)] = names {
            // Of two files with one number, the first counts.
            self.module.files.entry(number).or_insert(SourceFile { folder, name });
        }
        Ok(())
    }

    /// Reads `.loc 1 7 3, function_name $L__info_string0+8, inlined_at 1 20 5`.
    fn location(&mut self) -> CodeLocation {
        let place = |[file, line, column]: [u32; 3]| SourceLocation { file, line, column };
        let inner = place(self.words.take_with_numbers());
        let mut user = inner;
        while self.words.eat(b',') {
            match self.words.text() {
                "inlined_at" => {
                    let call = place(self.words.take_with_numbers());
                    // The call is a location before it in the text, which may itself be inlined.
                    user = self.inlined.get(&call).copied().unwrap_or(call);
                }
                keyword => {
                    self.words.advance();
                    if keyword == "function_name" {
                        self.words.advance();
                        while self.words.eat(b'+') {}
                    }
                    self.words.pass_numbers();
                }
            }
        }
        let mut call = None;
        if inner.file == user.file {
            call = Some(user.line).filter(|line| user != inner && *line > 0);
            user = inner;
        }
        // A location that was inlined in two places is the later one from here on.
        self.inlined.insert(inner, user);
        CodeLocation { user, inner, call }
    }

    /// Refuses a module with more operands than its text allows.
    fn check_operands(&self) -> Step {
        match self.module.arena.len() > MAX_PARTS + self.module.source.len() / BYTES_PER_OPERAND {
            true => Err(self.fault(ReadErrorKind::TooManyParts)),
            false => Ok(()),
        }
    }

    /// Takes the punctuation `mark`.
    fn expect(&mut self, mark: u8, expected: &'static str) -> Step {
        if self.words.eat(mark) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn name(&mut self, expected: &'static str) -> Step<Span> {
        match self.words.kind() {
            TokenKind::Word => Ok(self.words.advance().span),
            _ => Err(self.expected(expected)),
        }
    }

    /// The fault at a current word that is not the expected one.
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

/// The reason why a module could not be read, and its place. An illegal load is not a read error:
/// [`check`](crate::rules::check) finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
#[non_exhaustive]
pub struct ReadError {
    /// The kind of error.
    pub kind: ReadErrorKind,
    /// The bytes at fault.
    pub span: Span,
    /// The place of the first byte at fault.
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

/// The kind of a read error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// A word that is invalid in any module.
    #[error(transparent)]
    Lexical(#[from] LexicalError),
    /// Another word was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// An invalid version.
    #[error("expected a version, two numbers with a dot between")]
    Version,
    /// An invalid target.
    #[error("expected a target such as `sm_90`, `sm_100a` or `sm_100f`")]
    Target,
    /// An address size other than 32 or 64.
    #[error("expected 32 or 64")]
    AddressSize,
    /// A module that does not begin with `.version`.
    #[error("expected `.version` at the start of the module")]
    MissingVersion,
    /// A function or a variable before `.target`.
    #[error("expected `.target` before this")]
    MissingTarget,
    /// More than [`MAX_DEPTH`] nested braces.
    #[error("more than {} nested braces", MAX_DEPTH)]
    TooDeep,
    /// More statements, declarations and braces than the size of the text allows.
    #[error("too many statements, declarations and braces for the size of the text")]
    TooManyParts,
    /// A text too large for offsets of 32 bits.
    #[error("larger than 4 GiB")]
    TooLarge,
}
