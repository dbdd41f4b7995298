//! The contents of a module: declarations in scopes, functions, and the statements of their bodies.

mod blocks;
mod initial;
mod instruction;
pub(crate) mod joins;
mod layout;
mod lookup;
pub(crate) mod operands;
mod reader;
mod scopes;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::syntax::load::Forms;
use crate::syntax::operand::{AddressForm, ElementRange, MAX_RESERVED, OperandArena};
use crate::syntax::{
    Lexer, LineIndex, Position, ScalarType, Span, StateSpace, Target, Token, Version,
};

pub use self::blocks::BasicBlock;
pub(crate) use self::blocks::count_step;
#[cfg(test)]
pub(crate) use self::blocks::steps;
pub(crate) use self::initial::initializer;
pub use self::initial::{InitialValue, Initializer, PlacedValue};
use self::instruction::StatementFault;
pub use self::instruction::{FaultId, GuardPredicate, Instruction};
pub use self::layout::{GLOBAL_BASE, LayoutError, MAX_SPACE, VariableLayout};
pub(crate) use self::layout::{initial_bytes, variable_bytes};
pub use self::reader::{MAX_DEPTH, ReadError, ReadErrorKind, read};
use self::scopes::Names;
pub use self::scopes::{DeclarationId, FunctionId, Scope, ScopeId, StatementId};
pub(crate) use self::scopes::{NameHash, NameMap};

/// A completely read module.
#[derive(Clone, Debug)]
pub struct Module<'s> {
    pub(crate) source: &'s str,
    /// The version of PTX that the module requires.
    pub version: Version,
    /// The first `.target` of the module; [`Function::target`] is the one that applies to a function.
    pub target: Target,
    /// The size of an address, if the module states it.
    pub address_size: Option<AddressSize>,
    /// The `debug` option of `.target`.
    pub(crate) debug: Option<Span>,
    /// Whether a `.section` exists, as in modules with debug information.
    pub(crate) has_sections: bool,
    pub(crate) declarations: Vec<Declaration>,
    /// The array lengths of all declarations, concatenated.
    pub(crate) lengths: Vec<u64>,
    /// The words of all initializers, concatenated.
    pub(crate) initial_words: Vec<Token>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) functions: Vec<Function>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) forms: Forms<'s>,
    pub(crate) arena: OperandArena,
    guards: Vec<GuardPredicate>,
    faults: Vec<StatementFault>,
    /// The `.loc` directives, each with the id of the statement after it.
    locations: Vec<(StatementId, CodeLocation)>,
    /// The `.file` directives by number.
    files: HashMap<u32, SourceFile>,
    pub(crate) mistakes: Vec<Mistake>,
    /// The names that an `.alias` defines.
    pub(crate) aliases: Vec<Span>,
    pub(crate) names: Names<'s>,
    pub(crate) function_names: NameMap<&'s str, FunctionId>,
    lines: OnceLock<LineIndex>,
}

/// The `.address_size` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressSize {
    /// The size in bits, 32 or 64.
    pub bits: u32,
    /// The number's place in the text.
    pub span: Span,
}

/// A mistake in a directive or declaration that its words alone show, without any context. `rules/declarations` turns
/// it into a violation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mistake {
    pub(crate) kind: MistakeKind,
    /// The word at fault.
    pub(crate) span: Span,
}

/// The kind of a mistake in a directive or declaration.
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
    /// Two different texture modes.
    TextureMode,
    /// A directive that PTX does not have, or not in this place.
    Directive,
    /// `.extern` and the like before anything but a variable or a function.
    Linkage,
    /// A stray semicolon.
    Semicolon,
    /// An alignment that is not a power of two.
    Alignment,
    /// A word of a declaration that is not a type, or that is out of order.
    Word,
}

/// A register, a run of registers, a variable or a parameter.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Declaration {
    /// The name; for a run of registers, the prefix.
    pub name: Span,
    /// The state space.
    pub space: StateSpace,
    /// Its role in the function.
    pub role: Role,
    /// The type of one element.
    pub scalar: ScalarType,
    /// The number of elements of a vector; 1 without `.v2` and the like.
    pub vector: u8,
    /// The alignment in bytes, if `.align` states one.
    pub align: Option<u32>,
    /// The number of registers that `<N>` declares. No memory is allocated for them.
    pub count: Option<u32>,
    /// The number of elements from the brackets after the name.
    pub array: Array,
    /// The range of its lengths in the module's list.
    pub(crate) lengths: (u32, u32),
    /// The text of the initializer after `=`; [`Module::initial_value`] reads it.
    pub initial: Option<Span>,
    /// The range of its words in the module's list.
    pub(crate) initial_words: (u32, u32),
    /// The bank of `.const[3]`, which modules before PTX 2.2 may name.
    pub bank: Option<u64>,
    /// Whether it has the attribute `.unified`.
    pub is_unified: bool,
    /// Whether it has the attribute `.managed`.
    pub is_managed: bool,
    /// Its visibility.
    pub linkage: Linkage,
    /// The scope that declares it.
    pub scope: ScopeId,
}

/// The role of a declaration in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Outside all functions.
    Module,
    /// A variable of a body.
    Local,
    /// A parameter.
    Parameter,
    /// A return parameter.
    Return,
}

/// The number of elements of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// No brackets.
    Single,
    /// Brackets with numbers; the product of them.
    Of(u64),
    /// Empty brackets.
    Unknown,
    /// 2^64 elements or more.
    TooMany,
}

/// The visibility of a function or variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Visible in the module only.
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
    /// Returns the size of one element in bytes, a whole vector if it is one; `None` if the type has no size here.
    #[must_use]
    pub fn element_bytes(&self) -> Option<u64> {
        self.scalar.variable_bytes().map(|bytes| u64::from(bytes) * u64::from(self.vector))
    }

    /// The unit of the displacement of an address in bytes.
    pub(crate) fn unit(&self, form: AddressForm) -> Option<u64> {
        match form {
            AddressForm::Bracketed => Some(1),
            AddressForm::Indexed => self.element_bytes(),
        }
    }

    /// Returns the size of the whole variable in bytes; `None` if it is unknown or 2^64 or more.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self.array {
            Array::Single => self.element_bytes(),
            Array::Of(elements) => self.element_bytes()?.checked_mul(elements),
            Array::Unknown | Array::TooMany => None,
        }
    }

    /// Returns the alignment in bytes: `.align` if given, else the size of an element. [PTX ISA, Alignment]
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.align.map(u64::from).or_else(|| self.element_bytes()).unwrap_or(1).max(1)
    }
}

/// A kernel or a device function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Function {
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// The name.
    pub name: Span,
    /// Its visibility.
    pub linkage: Linkage,
    /// The `.target` that applies to it.
    pub target: Target,
    /// The scope of its parameters. Its body's declarations are in it or in scopes inside it.
    pub scope: ScopeId,
    /// Its return parameters, as indices into [`Module::declarations`].
    pub returns: Range<usize>,
    /// Its parameters, as indices into [`Module::declarations`].
    pub parameters: Range<usize>,
    /// The conditions that its directives set for launches.
    pub bounds: LaunchBounds,
    /// Its statements, as indices into [`Module::statements`]; `None` for a prototype.
    pub body: Option<Range<usize>>,
}

/// The conditions that the directives of a function set for its launches, with the directives' places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchBounds {
    /// `.reqntid`: the threads of every block along x, y and z.
    pub required_block: Option<([u32; 3], Span)>,
    /// `.maxntid`: the product of its sizes is the most threads of a block.
    pub max_block: Option<([u32; 3], Span)>,
    /// `.reqnctapercluster`: the blocks of every cluster along x, y and z.
    pub required_cluster: Option<([u32; 3], Span)>,
    /// `.explicitcluster` or `.blocksareclusters`: the launch must say the size of its clusters.
    pub explicit_cluster: Option<Span>,
    /// `.noreturn`: a call of the function does not return.
    pub is_noreturn: bool,
}

/// A kernel or a device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`.
    Entry,
    /// `.func`.
    Func,
}

/// One statement of a body.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Statement {
    /// Its text, including a guard and without the semicolon.
    pub span: Span,
    /// The scope that contains it.
    pub scope: ScopeId,
    /// The kind of the statement.
    pub kind: StatementKind,
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StatementKind {
    /// A label, with its name.
    Label(Span),
    /// `{`.
    Enter,
    /// `}`, apart from the one that closes the body.
    Leave,
    /// An instruction; [`Module::instruction`] returns its qualifiers and operands.
    Instruction(Instruction),
    /// A declaration of registers or variables: the first id, and the id after the last.
    Declarations(DeclarationId, DeclarationId),
    /// `.branchtargets` or `.calltargets`, with the names. The label before it names the list.
    Targets(ElementRange),
    /// A malformed statement; [`Module::statement_error`] returns the error.
    Malformed(FaultId),
}

/// A place in the source of a module, from a `.loc` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The number of a `.file`.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

/// A `.loc` directive.
#[derive(Clone, Copy, Debug)]
struct CodeLocation {
    /// The place of the code in the file of its kernel: for inlined code, the innermost one among the calls around it.
    user: SourceLocation,
    /// The place of the code itself.
    inner: SourceLocation,
    /// The line of the call around code that is inlined from the file of its kernel.
    call: Option<u32>,
}

/// A `.file` directive: the strings, in their quotes.
#[derive(Clone, Copy, Debug)]
struct SourceFile {
    folder: Option<Span>,
    name: Span,
}

/// The declaration that a name refers to.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'m> {
    /// The id of the declaration.
    pub id: DeclarationId,
    /// The declaration.
    pub declaration: &'m Declaration,
    /// The number, for a register of a run.
    pub number: Option<u32>,
}

/// The place of a statement, and its text on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StatementText {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The text.
    pub text: String,
}

impl<'s> Module<'s> {
    /// An empty module.
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
            files: HashMap::new(),
            mistakes: Vec::new(),
            aliases: Vec::new(),
            names: Names::default(),
            function_names: NameMap::default(),
            lines: OnceLock::new(),
        }
    }

    /// Returns the text that the module was read from; spans are places in it.
    #[must_use]
    pub fn source(&self) -> &'s str {
        self.source
    }

    /// Returns the lines of the text. They are found at the first call, because most uses of a module need no place.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(self.source))
    }

    /// Returns the place of a statement, and its text on one line without comments.
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

    /// Returns all declarations in the order of the text.
    #[must_use]
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Returns kernels and functions in the order of the text, including prototypes.
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

    /// Returns the declaration with an id.
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

    pub(crate) fn function_id_of(&self, name: &str) -> Option<FunctionId> {
        self.function_names.get(name).copied()
    }

    /// Returns the function with a name, its definition rather than a prototype.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.function_names.get(name).and_then(|id| self.functions.get(id.index()))
    }
}
