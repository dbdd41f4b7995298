//! What a module holds: declarations in scopes, functions, and the statements of their bodies.

mod blocks;
mod initial;
mod instruction;
mod layout;
mod lookup;
pub(crate) mod operands;
mod reader;
mod scopes;

use std::ops::Range;

use crate::syntax::load::Forms;
use crate::syntax::operand::{ElementRange, MAX_RESERVED, OperandArena};
use crate::syntax::{
    Lexer, LineIndex, Position, ScalarType, Span, StateSpace, Target, Token, Version,
};

pub use self::blocks::BasicBlock;
pub(crate) use self::initial::initializer;
pub use self::initial::{InitialValue, Initializer, PlacedValue};
use self::instruction::StatementFault;
pub use self::instruction::{FaultId, GuardPredicate, Instruction};
pub use self::layout::{LayoutError, MAX_SPACE, VariableLayout};
pub(crate) use self::layout::{initial_bytes, variable_bytes};
pub use self::reader::{MAX_DEPTH, ReadError, ReadErrorKind, read};
use self::scopes::Names;
pub use self::scopes::{DeclarationId, FunctionId, Scope, ScopeId, StatementId};
pub(crate) use self::scopes::{NameHash, NameMap};

/// A module that was read whole.
#[derive(Clone, Debug)]
pub struct Module<'s> {
    pub(crate) source: &'s str,
    /// The version of PTX that the module asks for.
    pub version: Version,
    /// What the module's first `.target` names; [`Function::target`] has that of each function.
    pub target: Target,
    /// The bits of an address, if the module states them.
    pub address_size: Option<AddressSize>,
    /// The option `debug` of `.target`.
    pub(crate) debug: Option<Span>,
    /// Whether a `.section` is there, as debug information is.
    pub(crate) has_sections: bool,
    pub(crate) declarations: Vec<Declaration>,
    /// The lengths in the brackets of all declarations, side by side.
    pub(crate) lengths: Vec<u64>,
    /// The words of all initializers, side by side.
    pub(crate) initial_words: Vec<Token>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) functions: Vec<Function>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) forms: Forms<'s>,
    pub(crate) arena: OperandArena,
    guards: Vec<GuardPredicate>,
    faults: Vec<StatementFault>,
    /// What `.loc` says, with the statement that it precedes.
    locations: Vec<(StatementId, SourceLocation)>,
    pub(crate) mistakes: Vec<Mistake>,
    /// The functions that an `.alias` defines.
    pub(crate) aliases: Vec<Span>,
    pub(crate) names: Names<'s>,
    pub(crate) function_names: NameMap<&'s str, FunctionId>,
}

/// What `.address_size` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressSize {
    /// 32 or 64.
    pub bits: u32,
    /// The number.
    pub span: Span,
}

/// A mistake in a directive or a declaration that is told by its words alone; what rules say of it is
/// in `rules/declarations.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mistake {
    pub(crate) kind: MistakeKind,
    /// The word at fault.
    pub(crate) span: Span,
}

/// What is wrong with a directive or a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MistakeKind {
    /// A second `.version`.
    Version,
    /// A `.target` after other directives.
    Target,
    /// A second `.address_size`, or one after other directives.
    AddressSize,
    /// An unknown option of `.target`.
    Option,
    /// Both texture modes.
    TextureMode,
    /// A directive that PTX does not have, or not here.
    Directive,
    /// `.extern` and the like before something else than a variable or function.
    Linkage,
    /// A semicolon that ends nothing.
    Semicolon,
    /// An alignment that is not a power of two.
    Alignment,
    /// A word of a declaration that is not a type, or comes after it.
    Word,
}

/// A register, a run of registers, a variable or a parameter.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Declaration {
    /// The name; of a run of registers, the part before the number.
    pub name: Span,
    /// Where it lies.
    pub space: StateSpace,
    /// What it is to its function.
    pub role: Role,
    /// The type of one element.
    pub scalar: ScalarType,
    /// How many elements a vector has; 1 without `.v2` and the like.
    pub vector: u8,
    /// The alignment in bytes, if `.align` states one.
    pub align: Option<u32>,
    /// How many registers `<N>` declares. No register is allocated for any of them here.
    pub count: Option<u32>,
    /// The number of elements that the brackets after the name say.
    pub array: Array,
    /// The place of its lengths in the module's.
    pub(crate) lengths: (u32, u32),
    /// The initializer after `=`, as it is written; [`Module::initial_value`] reads it.
    pub initial: Option<Span>,
    /// The place of its words in the module's.
    pub(crate) initial_words: (u32, u32),
    /// The bank that `.const[3]` names, as modules before PTX 2.2 may.
    pub bank: Option<u64>,
    /// Whether it has the attribute `.unified`.
    pub is_unified: bool,
    /// Whether it has the attribute `.managed`.
    pub is_managed: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// Where it can be named.
    pub scope: ScopeId,
}

/// What a declaration is to the function around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is outside all functions.
    Module,
    /// It is in a body.
    Local,
    /// A parameter.
    Parameter,
    /// A parameter that the function returns in.
    Return,
}

/// How many elements a variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// No brackets.
    Single,
    /// Brackets with numbers: their product.
    Of(u64),
    /// Empty brackets.
    Unknown,
    /// 2^64 elements or more.
    TooMany,
}

/// Who sees a function or a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// The module.
    #[default]
    Internal,
    /// `.visible`.
    Visible,
    /// `.extern`: declared here, defined elsewhere.
    Extern,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

impl Declaration {
    /// Returns the bytes of one element, a whole vector; `None` if the type's size is unknown here.
    #[must_use]
    pub fn element_bytes(&self) -> Option<u64> {
        self.scalar.bytes().map(|bytes| u64::from(bytes) * u64::from(self.vector))
    }

    /// Returns the bytes of the whole variable; `None` if they are unknown or more than 2^64.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self.array {
            Array::Single => self.element_bytes(),
            Array::Of(elements) => self.element_bytes()?.checked_mul(elements),
            Array::Unknown | Array::TooMany => None,
        }
    }

    /// Returns the alignment in bytes: that of `.align`, else the size of an element. [PTX ISA,
    /// Alignment]
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.align.map(u64::from).or_else(|| self.element_bytes()).unwrap_or(1).max(1)
    }
}

/// A kernel or a device function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Function {
    /// Which of the two.
    pub kind: FunctionKind,
    /// The name.
    pub name: Span,
    /// Who sees it.
    pub linkage: Linkage,
    /// The `.target` that precedes it.
    pub target: Target,
    /// Where its parameters and its body's declarations can be named.
    pub scope: ScopeId,
    /// What it returns in; places in [`Module::declarations`].
    pub returns: Range<usize>,
    /// Its parameters; places in [`Module::declarations`].
    pub parameters: Range<usize>,
    /// Its statements, places in [`Module::statements`]; `None` for a prototype.
    pub body: Option<Range<usize>>,
}

/// A kernel or a device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`.
    Entry,
    /// `.func`.
    Func,
}

/// One step of a body.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Statement {
    /// All of it, a guard included, its semicolon not.
    pub span: Span,
    /// Where its names are looked up.
    pub scope: ScopeId,
    /// What it is.
    pub kind: StatementKind,
}

/// What a statement is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StatementKind {
    /// A label; the name.
    Label(Span),
    /// `{`.
    Enter,
    /// `}` of a pair inside the body.
    Leave,
    /// An instruction; [`Module::instruction`] returns its qualifiers and operands.
    Instruction(Instruction),
    /// A declaration of registers or variables: the first of them, and the one after the last.
    Declarations(DeclarationId, DeclarationId),
    /// `.branchtargets` or `.calltargets`: the names, which the label before it stands for.
    Targets(ElementRange),
    /// A malformed statement; [`Module::statement_error`] says why.
    Malformed(FaultId),
}

/// What `.loc` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The number of a `.file`.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
}

/// What a name refers to.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'m> {
    /// The declaration's place.
    pub id: DeclarationId,
    /// The declaration.
    pub declaration: &'m Declaration,
    /// The number of a register out of a run.
    pub number: Option<u32>,
}

/// Where a statement is, and its words in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StatementText {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The words.
    pub text: String,
}

impl<'s> Module<'s> {
    /// Makes a module that nothing has been read of.
    fn new(source: &'s str, version: Version, target: Target) -> Self {
        Self {
            source,
            version,
            target,
            address_size: None,
            debug: None,
            has_sections: false,
            declarations: Vec::new(),
            lengths: Vec::new(),
            initial_words: Vec::new(),
            scopes: vec![Scope { parent: None, function: None }],
            functions: Vec::new(),
            statements: Vec::with_capacity((source.len() / 32).min(MAX_RESERVED)),
            forms: Forms::default(),
            arena: OperandArena::for_text(source.len()),
            guards: Vec::new(),
            faults: Vec::new(),
            locations: Vec::new(),
            mistakes: Vec::new(),
            aliases: Vec::new(),
            names: Names::default(),
            function_names: NameMap::default(),
        }
    }

    /// Returns the text that the module was read from; spans are places in it.
    #[must_use]
    pub fn source(&self) -> &'s str {
        self.source
    }

    /// Returns the place of a statement, and its words in one line, comments left out.
    #[must_use]
    pub fn statement(&self, span: Span, lines: &LineIndex) -> StatementText {
        let Position { line, column } = lines.position(span.start);
        let mut text = String::new();
        let mut end = span.start;
        for token in Lexer::within(self.source, span) {
            if token.span.start > end {
                text.push(' ');
            }
            text.push_str(self.text(token.span));
            end = token.span.end;
        }
        StatementText { line, column, text }
    }

    /// Returns the text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    /// Returns everything declared, in the order of the text.
    #[must_use]
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Returns kernels and functions in the order of the text, prototypes among them.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the statements of all bodies; [`Function::body`] is the range of one function.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Returns the statements of one function; none for a prototype.
    #[must_use]
    pub fn body(&self, function: &Function) -> &[Statement] {
        function.body.clone().and_then(|body| self.statements.get(body)).unwrap_or_default()
    }

    /// Returns the declaration of an id.
    #[must_use]
    pub fn declaration(&self, id: DeclarationId) -> Option<&Declaration> {
        self.declarations.get(id.index())
    }

    /// Returns the function that encloses a scope.
    #[must_use]
    pub fn function_of(&self, scope: ScopeId) -> Option<&Function> {
        let function = self.scopes.get(scope.0 as usize)?.function?;
        self.functions.get(function.index())
    }

    /// Returns the place of the function of that name.
    pub(crate) fn function_id_of(&self, name: &str) -> Option<FunctionId> {
        self.function_names.get(name).copied()
    }

    /// Returns the function of that name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.function_names.get(name).and_then(|id| self.functions.get(id.index()))
    }
}
