//! Reads a module whole: what loads depend on is kept, everything else is passed over.
//!
//! Kept are `.version`, `.target` and `.address_size`, declarations, scopes, functions and the
//! statements of bodies. Passed over are debug information, pragmas, attributes of functions and
//! directives that are not known here. Nothing is allocated for a word, and braces are counted,
//! not followed by recursion.

mod body;
mod declaration;
mod error;
mod function;

pub use self::error::{ReadError, ReadErrorKind};
use super::scopes::Names;
use crate::module::{AddressSize, FunctionId, Linkage, Module, Scope, ScopeId};
use crate::syntax::words::Words;
use crate::syntax::{Span, Target, TokenKind, Version, integer};

/// The most nested braces; compilers write two or three.
pub const MAX_DEPTH: usize = 256;

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
}

/// What has been read of the directives that precede all others.
#[derive(Default)]
struct Header {
    has_version: bool,
    target: Option<Target>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str, whole: Span) -> Self {
        let words = Words::new(source, whole);
        let module = Module {
            source,
            version: Version::new(0, 0),
            target: Target { sm: 0, reach: crate::syntax::Reach::Onward },
            address_size: None,
            debug: None,
            has_sections: false,
            declarations: Vec::new(),
            scopes: vec![Scope { parent: None, function: None }],
            functions: Vec::new(),
            statements: Vec::new(),
            names: Names::default(),
            function_names: Default::default(),
        };
        let scope = ScopeId::MODULE;
        Self { words, module, header: Header::default(), scope, function: None }
    }

    fn module(&mut self) -> Step {
        let mut linkage = Linkage::Internal;
        loop {
            let next = std::mem::take(&mut linkage);
            match self.words.kind() {
                TokenKind::End if self.header.has_version => return self.end(),
                TokenKind::Punctuation(b';') => {
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
            ".version" => self.version()?,
            ".target" => self.target()?,
            ".address_size" => self.address_size()?,
            ".file" => self.pass_file(),
            ".loc" => self.pass_location(),
            ".extern" => return Ok(self.took(Linkage::Extern)),
            ".visible" => return Ok(self.took(Linkage::Visible)),
            ".weak" => return Ok(self.took(Linkage::Weak)),
            ".common" => return Ok(self.took(Linkage::Common)),
            ".entry" | ".func" => self.function(linkage)?,
            ".const" | ".global" | ".local" | ".param" | ".reg" | ".shared" | ".tex" => {
                self.needs_target()?;
                self.declarations(linkage)?;
            }
            name => {
                self.module.has_sections |= name == ".section";
                self.pass_unknown()?;
            }
        }
        Ok(Linkage::Internal)
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

    /// `.target sm_90, texmode_unified`: the first name counts.
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
            let is_debug = self.words.text() == "debug";
            let option = self.name("an option of `.target`")?;
            if is_debug {
                self.module.debug = Some(option);
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
        self.words.advance();
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
    fn pass_location(&mut self) {
        self.words.advance();
        self.words.pass_numbers();
        while self.words.eat(b',') {
            let keyword = self.words.text();
            self.words.advance();
            if keyword == "function_name" {
                self.words.advance();
                while self.words.eat(b'+') {}
            }
            self.words.pass_numbers();
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
