//! Reads kernels and device functions up to their bodies.

use super::{Reader, Step};
use crate::module::{
    Function, FunctionId, FunctionKind, LaunchBounds, Linkage, MistakeKind, Role, Scope, ScopeId,
};
use crate::syntax::expression::integer;
use crate::syntax::{Span, TokenKind};

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
            bounds: LaunchBounds::default(),
            body: None,
        });
        let mut bounds = LaunchBounds::default();
        let has_body = self.function_directives(&mut bounds)?;
        if let Some(function) = self.module.functions.last_mut() {
            function.bounds = bounds;
        }
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
    fn function_directives(&mut self, bounds: &mut LaunchBounds) -> Step<bool> {
        let mut is_pragma = false;
        let mut sizes = None;
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
                    sizes = bounds.directive(self.words.text(), self.words.span());
                }
                TokenKind::Number => {
                    // The numbers of a directive are its sizes along x, y and z; left out, they are 1.
                    if let Some((place, axis @ 0..3)) = &mut sizes {
                        let size = integer(self.words.text());
                        let size = size.and_then(|size| u32::try_from(size).ok());
                        bounds.set_size(*place, *axis, size.unwrap_or(u32::MAX), self.words.span());
                        *axis += 1;
                    }
                }
                TokenKind::Word
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

impl LaunchBounds {
    /// Notes a directive. Returns the bound that its numbers set, and the first axis.
    fn directive(&mut self, text: &str, span: Span) -> Option<(Bound, usize)> {
        let bound = match text {
            ".reqntid" => Bound::RequiredBlock,
            ".maxntid" => Bound::MaxBlock,
            ".reqnctapercluster" => Bound::RequiredCluster,
            ".explicitcluster" | ".blocksareclusters" => {
                self.explicit_cluster = Some(span);
                return None;
            }
            ".noreturn" => {
                self.is_noreturn = true;
                return None;
            }
            _ => return None,
        };
        *self.bound(bound) = Some(([1; 3], span));
        Some((bound, 0))
    }

    fn bound(&mut self, bound: Bound) -> &mut Option<([u32; 3], Span)> {
        match bound {
            Bound::RequiredBlock => &mut self.required_block,
            Bound::MaxBlock => &mut self.max_block,
            Bound::RequiredCluster => &mut self.required_cluster,
        }
    }

    fn set_size(&mut self, bound: Bound, axis: usize, size: u32, place: Span) {
        if let Some((sizes, span)) = self.bound(bound) {
            sizes[axis] = size;
            span.end = place.end;
        }
    }
}

/// A directive with sizes along x, y and z.
#[derive(Clone, Copy)]
enum Bound {
    RequiredBlock,
    MaxBlock,
    RequiredCluster,
}
