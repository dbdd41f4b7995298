//! What a name stands for where it is written.
//!
//! Declarations are found by their text and function: a name is looked up in the scopes that
//! declare it and in no other, however many braces stand around it.

use std::collections::HashMap;

use super::module::{Declaration, DeclarationId, FunctionId, Module, ScopeId, Symbol};

/// Every name that is declared in a function, or outside of all, with the scopes that declare it.
#[derive(Clone, Debug, Default)]
pub(super) struct Names<'s>(HashMap<(Option<FunctionId>, &'s str), Places>);

/// The scopes of one function that declare one name, in their order, each once.
type Places = Vec<(ScopeId, DeclarationId)>;

impl<'s> Names<'s> {
    /// Notes a declaration. The first one of a name stays: a second one in the same scope is an
    /// error of its own, but none of a load.
    pub(super) fn declare(
        &mut self,
        function: Option<FunctionId>,
        scope: ScopeId,
        name: &'s str,
        id: DeclarationId,
    ) {
        let places = self.0.entry((function, name)).or_default();
        if let Err(at) = places.binary_search_by_key(&scope, |place| place.0) {
            places.insert(at, (scope, id));
        }
    }
}

/// The digits that a register's number has at most.
const MAX_DIGITS: usize = 10;

impl Module<'_> {
    /// What a name stands for where it is written: the declaration in the innermost scope, a
    /// register of a run (`%r7` of `%r<9>`) included.
    pub fn find(&self, scope: ScopeId, name: &str) -> Option<Symbol<'_>> {
        let function = self.scopes.get(scope.0 as usize)?.function;
        let inside = function.and_then(|_| self.find_in(function, scope, name));
        inside.or_else(|| self.find_in(None, ScopeId::MODULE, name))
    }

    /// [`Self::find`] among the declarations of a function, or of none.
    fn find_in(
        &self,
        function: Option<FunctionId>,
        scope: ScopeId,
        name: &str,
    ) -> Option<Symbol<'_>> {
        // `%r12` may be number 12 of `%r<..>` or number 2 of `%r1<..>`.
        let candidates = numbered(name).map(|(prefix, number)| (prefix, Some(number)));
        let mut best: Option<(ScopeId, Symbol<'_>)> = None;
        for (text, number) in std::iter::once((name, None)).chain(candidates) {
            let Some(places) = self.names.0.get(&(function, text)) else { continue };
            let is_meant = |declared: &Declaration| match (number, declared.count) {
                (Some(number), Some(count)) => number < count,
                (number, count) => number.is_none() && count.is_none(),
            };
            let Some((found, id)) = self.innermost(places, scope, is_meant) else { continue };
            // Of scopes inside one another the inner one has the higher id.
            if best.as_ref().is_none_or(|best| found > best.0) {
                best = Some((found, Symbol { id, declaration: self.declaration(id)?, number }));
            }
            if found == scope {
                break;
            }
        }
        best.map(|(_, symbol)| symbol)
    }

    /// The run that `name` would be a register of if it had more of them: its name and how many
    /// it has.
    pub(super) fn run_without<'n>(&self, scope: ScopeId, name: &'n str) -> Option<(&'n str, u32)> {
        let function = self.scopes.get(scope.0 as usize)?.function;
        numbered(name).find_map(|(prefix, _)| {
            let places = self.names.0.get(&(function, prefix))?;
            let (_, id) = self.innermost(places, scope, |declared| declared.count.is_some())?;
            Some((prefix, self.declaration(id)?.count?))
        })
    }

    /// The place that `is_meant` of those that are around a scope, the innermost one.
    fn innermost(
        &self,
        mut places: &[(ScopeId, DeclarationId)],
        mut scope: ScopeId,
        is_meant: impl Fn(&Declaration) -> bool,
    ) -> Option<(ScopeId, DeclarationId)> {
        loop {
            // A scope's parent has a lower id than the scope.
            places = places.get(..places.partition_point(|place| place.0 <= scope))?;
            let (&(near, id), before) = places.split_last()?;
            while scope > near {
                scope = self.parent(scope)?;
            }
            if scope == near {
                if self.declaration(id).is_some_and(&is_meant) {
                    return Some((near, id));
                }
                places = before;
                scope = self.parent(scope)?;
            }
        }
    }

    fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.scopes.get(scope.0 as usize)?.parent
    }
}

/// The ways to take a name for one out of a run: what stands in front, and the number.
fn numbered(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(MAX_DIGITS).count();
    (1..=digits).filter_map(move |length| {
        let (prefix, number) = name.split_at_checked(name.len() - length)?;
        if number.len() > 1 && number.starts_with('0') {
            return None;
        }
        Some((prefix, number.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use crate::ptx::{ScopeId, read};

    /// What each name stands for where the body's last statement is: its type and number.
    fn found(body: &str, names: &[&str]) -> Vec<Option<(String, Option<u32>)>> {
        let source =
            format!(".version 8.8\n.target sm_90\n.global .u8 g;\n.entry k() {{ {body} ret; }}");
        let module = read(&source).expect("a module");
        let scope = module.statements().last().map_or(ScopeId::MODULE, |last| last.scope);
        let one = |name: &&str| {
            let symbol = module.find(scope, name)?;
            Some((symbol.declaration.scalar.to_string(), symbol.number))
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn the_innermost_declaration_counts() {
        let is = |scalar: &str, number| Some((scalar.to_owned(), number));
        // An inner scope that has been left does not count, also where its id is the next one.
        let body = ".reg .b16 a; { .reg .b32 a; .reg .b32 b; } .reg .b64 c; {.reg .f32 g;}";
        assert_eq!(
            found(body, &["a", "b", "c", "g"]),
            [is("b16", None), None, is("b64", None), is("u8", None)]
        );
        // A run is passed over for a number that it does not have, and for its bare name.
        let body = ".reg .b16 %r<20>; .reg .b32 %r1<4>;";
        assert_eq!(
            found(body, &["%r12", "%r19", "%r20", "%r", "%r10", "%r012"]),
            [is("b32", Some(2)), is("b16", Some(19)), None, None, is("b32", Some(0)), None]
        );
    }

    #[test]
    fn declarations_behind_inner_scopes_are_found() {
        let body = "{ .reg .b32 a; { .reg .b64 a; } } .reg .b16 a;";
        assert_eq!(found(body, &["a"]), [Some(("b16".to_owned(), None))]);
    }
}
