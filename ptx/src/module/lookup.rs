//! Name lookup: [`Module::find`] and [`Module::find_at`].
//!
//! Names are indexed by function and text, so a lookup visits only the scopes that declare the name, however deeply
//! braces are nested.
//!
//! Callers that have only a name look up registers and variables in a whole function.

use super::operands::{Named, split};
use super::scopes::{DeclarationId, FunctionId, ScopeId, ScopedDeclaration};
use crate::meaning::Register;
use crate::module::{Declaration, Function, Module, Symbol};
use crate::syntax::{Span, StateSpace};

impl Module<'_> {
    /// Returns the declaration that a name refers to anywhere in a scope, from the innermost enclosing scope that has
    /// one. Also finds registers of a run (`%r7` of `%r<9>`).
    #[must_use]
    pub fn find(&self, scope: ScopeId, name: &str) -> Option<Symbol<'_>> {
        self.look_up(scope, name, u32::MAX)
    }

    /// Returns the declaration that the name at `name` refers to: like [`Self::find`], but only among the declarations
    /// before it.
    ///
    /// ```
    /// use warpload_ptx::syntax::ScalarType;
    /// use warpload_ptx::read;
    ///
    /// let module = read(".version 8.8\n.target sm_90
    ///     .entry k() {
    ///         .reg .u32 %r1; .reg .u64 %rd1;
    ///         { ld.global.u32 %r1, [%rd1]; .reg .f32 %rd1; }
    ///     }")?;
    /// let load = module.loads().next().ok_or("no load")?;
    /// let base = load.address().and_then(|address| address.base).ok_or("no base")?;
    /// let scalar = |symbol: warpload_ptx::module::Symbol<'_>| symbol.declaration.scalar;
    /// assert_eq!(module.find_at(load.scope, base).map(scalar), Some(ScalarType::U64));
    /// assert_eq!(module.find(load.scope, "%rd1").map(scalar), Some(ScalarType::F32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn find_at(&self, scope: ScopeId, name: Span) -> Option<Symbol<'_>> {
        self.look_up(scope, self.text(name), name.start)
    }

    /// The symbol of a name, among the declarations before a byte of the text.
    fn look_up(&self, scope: ScopeId, name: &str, before: u32) -> Option<Symbol<'_>> {
        let function = self.scopes.get(scope.0 as usize)?.function;
        let inside = function.and_then(|_| self.find_in(function, scope, name, before));
        inside.or_else(|| self.find_in(None, ScopeId::MODULE, name, before))
    }

    /// [`Self::look_up`] among the declarations of one function, or of the module.
    fn find_in(
        &self,
        function: Option<FunctionId>,
        scope: ScopeId,
        name: &str,
        before: u32,
    ) -> Option<Symbol<'_>> {
        let of_run = numbered(name).map(|(prefix, number)| (prefix, Some(number)));
        let mut best: Option<(ScopeId, Symbol<'_>)> = None;
        for (text, number) in std::iter::once((name, None)).chain(of_run) {
            #[cfg(test)]
            tests::count_step();
            if best.as_ref().is_some_and(|best| best.0 == scope) {
                // No other scope can be further inside.
                break;
            }
            let Some(places) = self.names.places(function, text, number.is_some()) else {
                continue;
            };
            let is_meant = |declared: &Declaration| {
                let is_one = match (number, declared.count) {
                    (Some(number), Some(count)) => number < count,
                    (number, count) => number.is_none() && count.is_none(),
                };
                is_one && declared.name.start < before
            };
            let Some((found, id)) = self.innermost(places, scope, is_meant) else { continue };
            // Inner scopes have higher ids than the scopes around them.
            if best.as_ref().is_none_or(|best| found > best.0) {
                let id = self.definition_in_its_space(id).unwrap_or(id);
                best = Some((found, Symbol { id, declaration: self.declaration(id)?, number }));
            }
        }
        best.map(|(_, symbol)| symbol)
    }

    /// The run that `name` would belong to if it had more registers: its prefix and its count. Used for the message
    /// about a number that is too high.
    pub(crate) fn run_without<'n>(&self, scope: ScopeId, name: &'n str) -> Option<(&'n str, u32)> {
        let function = self.scopes.get(scope.0 as usize)?.function;
        let (prefix, _) = numbered(name)?;
        let places = self.names.places(function, prefix, true)?;
        let (_, id) = self.innermost(places, scope, |declared| declared.count.is_some())?;
        Some((prefix, self.declaration(id)?.count?))
    }

    /// The innermost declaration around a scope for which `is_meant` is true.
    fn innermost(
        &self,
        mut places: &[ScopedDeclaration],
        mut scope: ScopeId,
        is_meant: impl Fn(&Declaration) -> bool,
    ) -> Option<(ScopeId, DeclarationId)> {
        loop {
            #[cfg(test)]
            tests::count_step();
            // A scope's id is higher than its parent's.
            places = places.get(..places.partition_point(|place| place.0 <= scope))?;
            let (&(near, id), before) = places.split_last()?;
            while scope > near {
                #[cfg(test)]
                tests::count_step();
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

    pub(crate) fn function_id(&self, scope: ScopeId) -> Option<FunctionId> {
        self.scopes.get(scope.0 as usize)?.function
    }

    /// The definition that follows an `.extern` declaration. A definition in another space is another variable, as in
    /// ptxas.
    fn definition_in_its_space(&self, declared: DeclarationId) -> Option<DeclarationId> {
        let defined = self.names.definition(declared)?;
        let space = |id| self.declaration(id).map(|declared| declared.space);
        (space(declared) == space(defined)).then_some(defined)
    }

    /// The run in the same scope that has a register of this name as well.
    pub(crate) fn run_around(&self, scope: ScopeId, name: Span) -> Option<Span> {
        let text = self.text(name);
        let (prefix, number) = numbered(text)?;
        let id = self.names.first(self.function_id(scope), scope, prefix, true)?;
        let run = self.declaration(id)?;
        // ptxas misses the conflict if the register is number 0, or has leading zeros, and precedes the run.
        let is_seen =
            run.name.start < name.start || text.as_bytes().get(prefix.len()) != Some(&b'0');
        (run.count.is_some_and(|count| number < count) && is_seen).then_some(run.name)
    }

    fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.scopes.get(scope.0 as usize)?.parent
    }
}

/// Splits a name into a run's prefix and the number at its end. All digits at the end count: `%r012` is number 12 of
/// `%r<..>`, never 2 of `%r01<..>`.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    // Digits are one byte each, so their count is an offset in bytes.
    let (prefix, digits) = name.split_at_checked(name.len() - digits)?;
    if digits.is_empty() { None } else { Some((prefix, digits.parse().ok()?)) }
}

impl Module<'_> {
    /// Returns the registers of that name in a function; `Q.x` is an element of a vector register. There are several if
    /// inner braces declare the name again, and none if it is not a register.
    #[must_use]
    pub fn registers_named(&self, function: &Function, name: &str) -> Vec<Register> {
        let (name, suffix) = split(name);
        let symbols = self.symbols(Some(function), name).into_iter();
        symbols.filter_map(|symbol| Named::new(symbol, suffix).register()).collect()
    }

    /// Returns the variables and parameters of that name in a function, or in the module if `function` is `None`.
    #[must_use]
    pub fn variables_named(&self, function: Option<&Function>, name: &str) -> Vec<DeclarationId> {
        let symbols = self.symbols(function, name).into_iter();
        let variables = symbols.filter(|symbol| symbol.declaration.space != StateSpace::Register);
        variables.map(|symbol| symbol.id).collect()
    }

    /// Returns a register's name as PTX writes it. Elements after the fourth of a vector have a number, as in `Q.4`.
    ///
    /// ```
    /// use warpload_ptx::read;
    ///
    /// let module = read(".version 8.8\n.target sm_100\n.address_size 64
    ///     .global .align 32 .b32 g[8];
    ///     .entry k() { .reg .v8 .b32 Q; ld.global.v8.b32 Q, [g]; }")?;
    /// let load = module.loads().next().ok_or("no load")?;
    /// let written = module.meaning(&load)?.destinations;
    /// let names = written.into_iter().flatten().map(|register| module.register_name(register));
    /// assert!(names.eq(["Q.x", "Q.y", "Q.z", "Q.w", "Q.4", "Q.5", "Q.6", "Q.7"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn register_name(&self, register: Register) -> String {
        let Some(declared) = self.declaration(register.declaration) else { return String::new() };
        let mut name = self.text(declared.name).to_owned();
        if declared.count.is_some() {
            name += &register.number.to_string();
        }
        if declared.vector > 1 {
            // PTX has names only for the first four elements.
            match ["x", "y", "z", "w"].get(usize::from(register.component)) {
                Some(letter) => name += &format!(".{letter}"),
                None => name += &format!(".{}", register.component),
            }
        }
        name
    }

    /// The symbols of a name in all scopes of a function, each once.
    fn symbols(&self, function: Option<&Function>, name: &str) -> Vec<Symbol<'_>> {
        let mut scopes = vec![function.map_or(ScopeId::MODULE, |function| function.scope)];
        let body = function.map(|function| self.body(function)).unwrap_or_default();
        for statement in body {
            if scopes.last() != Some(&statement.scope) {
                scopes.push(statement.scope);
            }
        }
        let mut symbols: Vec<Symbol<'_>> =
            scopes.into_iter().filter_map(|scope| self.find(scope, name)).collect();
        symbols.sort_by_key(|symbol| symbol.id);
        symbols.dedup_by_key(|symbol| symbol.id);
        symbols
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::module::{ScopeId, read};
    use crate::rules::check;

    thread_local! {
        /// The lookup steps of this thread: texts hashed and scopes visited.
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn count_step() {
        STEPS.set(STEPS.get() + 1);
    }

    /// Undeclared names in the most deeply nested braces: the cost must not grow with the depth.
    #[test]
    fn names_in_deep_braces_cost_nothing() {
        const LOADS: usize = 2000;
        let source = format!(
            ".version 8.8\n.target sm_90\n.entry k() {{ {} {} {} }}",
            "{".repeat(256),
            "ld.global.u32 %r12345678901234567890, [%rd12345678901234567890];\n".repeat(LOADS),
            "}".repeat(256),
        );
        let module = read(&source).expect("readable");
        let before = STEPS.get();
        assert_eq!(check(&module).filter(|verdict| verdict.is_legal()).count(), 0);
        let steps = STEPS.get() - before;
        // A few steps for each of two names. One step per brace or digit would be many times as many.
        assert!((1..20 * LOADS as u64).contains(&steps), "{steps}");
    }

    /// The type and number of each name at the body's last statement.
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
        // A closed scope does not count, even if its id is the next one.
        let body = ".reg .b16 a; { .reg .b32 a; .reg .b32 b; } .reg .b64 c; {.reg .f32 g;}";
        assert_eq!(
            found(body, &["a", "b", "c", "g"]),
            [is("b16", None), None, is("b64", None), is("u8", None)]
        );
        // A run does not match a number beyond its count, nor its bare name. All digits at the end are the number, so
        // no register of `%r1<4>` can be named.
        let body = ".reg .b16 %r<20>; .reg .b32 %r1<4>;";
        assert_eq!(
            found(body, &["%r12", "%r19", "%r20", "%r", "%r010", "%r0000000000019"]),
            [
                is("b16", Some(12)),
                is("b16", Some(19)),
                None,
                None,
                is("b16", Some(10)),
                is("b16", Some(19))
            ]
        );
    }

    #[test]
    fn definitions_stand_for_what_is_extern() {
        let source = ".version 8.8\n.target sm_90\n.extern .global .u32 m[];
            .visible .global .u32 m[4];\n.visible .global .u32 n;\n.extern .global .u32 n;";
        let module = read(source).expect("a module");
        let ids: Vec<_> = module.declarations_with_ids().map(|found| found.0).collect();
        let find = |name| module.find(ScopeId::MODULE, name).map(|symbol| symbol.id);
        assert_eq!([find("m"), find("n")], [Some(ids[1]), Some(ids[2])]);
    }

    #[test]
    fn declarations_after_inner_scopes_are_found() {
        let body = "{ .reg .b32 a; { .reg .b64 a; } } .reg .b16 a;";
        assert_eq!(found(body, &["a"]), [Some(("b16".to_owned(), None))]);
    }
}
