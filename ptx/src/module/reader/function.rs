//! Reads kernels and device functions up to their bodies.

use super::{Reader, Step};
use crate::module::{
    Function, FunctionId, FunctionKind, Linkage, MistakeKind, Role, Scope, ScopeId,
};
use crate::syntax::TokenKind;

/// Directives of a module that cannot be properties of a function.
const MODULE_DIRECTIVES: [&str; 21] = [
    ".address_size",
    ".alias",
    ".align",
    ".common",
    ".const",
    ".entry",
    ".extern",
    ".file",
    ".func",
    ".global",
    ".loc",
    ".local",
    ".param",
    ".reg",
    ".section",
    ".shared",
    ".target",
    ".tex",
    ".version",
    ".visible",
    ".weak",
];

/// The directives that may stand between a function's name and its body. [PTX ISA, "Directives"; `.language` from an
/// assembler's verdicts]
const FUNCTION_DIRECTIVES: [&str; 14] = [
    ".abi_preserve",
    ".abi_preserve_control",
    ".blocksareclusters",
    ".explicitcluster",
    ".language",
    ".maxclusterrank",
    ".maxnctapersm",
    ".maxnreg",
    ".maxntid",
    ".minnctapersm",
    ".noreturn",
    ".pragma",
    ".reqnctapercluster",
    ".reqntid",
];

impl Reader<'_> {
    /// Reads a definition or a prototype. `.entry` or `.func` is current.
    pub(super) fn function(&mut self, linkage: Linkage) -> Step {
        let target = self.needs_target()?;
        let kind =
            if self.words.text() == ".entry" { FunctionKind::Entry } else { FunctionKind::Func };
        self.words.advance();
        while self.words.kind() == TokenKind::Dotted && self.words.text() == ".attribute" {
            self.words.advance();
            self.attribute(None)?;
        }
        let id = FunctionId(self.module.functions.len() as u32);
        self.function = Some(id);
        self.take_room(4)?;
        self.enter()?;
        let first = self.module.declarations.len();
        if self.words.is_mark(b'(') {
            self.parameters(Role::Return)?;
        }
        let after_returns = self.module.declarations.len();
        let name = self.name("the function's name")?;
        if self.words.is_mark(b'(') {
            self.parameters(Role::Parameter)?;
        }
        let after_parameters = self.module.declarations.len();
        self.module.functions.push(Function {
            kind,
            name,
            linkage,
            target,
            scope: self.scope,
            returns: first..after_returns,
            parameters: after_returns..after_parameters,
            body: None,
        });
        let has_body = self.function_directives()?;
        let text = name.text(self.module.source);
        if has_body {
            self.module.function_names.insert(text, id);
            let body = self.body()?;
            if let Some(function) = self.module.functions.last_mut() {
                function.body = Some(body);
            }
        } else {
            self.module.function_names.entry(text).or_insert(id);
        }
        self.scope = ScopeId::MODULE;
        self.function = None;
        Ok(())
    }

    /// Reads `.maxntid 128, 1, 1 .noreturn` up to the body, whose brace stays current, or past the end of a prototype.
    /// True if there is a body. A prototype may lack its semicolon, because the next directive of the module ends it as
    /// well.
    fn function_directives(&mut self) -> Step<bool> {
        let mut is_pragma = false;
        loop {
            match self.words.kind() {
                TokenKind::Punctuation(b'{') => return Ok(true),
                TokenKind::Punctuation(b';') if is_pragma => is_pragma = false,
                TokenKind::Punctuation(b';') => {
                    self.words.advance();
                    return Ok(false);
                }
                TokenKind::Dotted if MODULE_DIRECTIVES.contains(&self.words.text()) => {
                    return Ok(false);
                }
                // `@@DWARF`
                TokenKind::Punctuation(b'@') | TokenKind::End => return Ok(false),
                TokenKind::Dotted => {
                    is_pragma = self.words.text() == ".pragma";
                    if !FUNCTION_DIRECTIVES.contains(&self.words.text()) {
                        self.mistake(MistakeKind::Directive)?;
                    }
                }
                TokenKind::Number
                | TokenKind::Word
                | TokenKind::Quoted
                | TokenKind::Punctuation(b',' | b'(' | b')') => {}
                _ => return Err(self.expected("`{` or `;`")),
            }
            self.words.advance();
        }
    }

    /// Opens a scope inside the current one.
    pub(super) fn enter(&mut self) -> Step {
        self.take_room(1)?;
        let scope = Scope { parent: Some(self.scope), function: self.function };
        self.scope = ScopeId(self.module.scopes.len() as u32);
        self.module.scopes.push(scope);
        Ok(())
    }

    /// Returns to the parent of the current scope.
    pub(super) fn leave(&mut self) {
        let scope = self.module.scopes.get(self.scope.0 as usize);
        let parent = scope.and_then(|scope| scope.parent);
        debug_assert!(parent.is_some(), "`enter` opened a scope inside another");
        self.scope = parent.unwrap_or(ScopeId::MODULE);
    }
}
