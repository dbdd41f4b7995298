//! Names of registers and variables in a whole function, for callers that have only the names.

use crate::meaning::{Register, component};
use crate::module::{DeclarationId, Function, Module, ScopeId, Symbol};
use crate::syntax::StateSpace;

impl Module<'_> {
    /// The registers of that name in a function, `Q.x` for an element of a vector register. More
    /// than one if braces inside the function declare the name again; none if no
    /// register is declared so.
    #[must_use]
    pub fn registers_named(&self, function: &Function, name: &str) -> Vec<Register> {
        let (whole, component) = match name.split_once('.') {
            Some((whole, rest)) => {
                let letter = rest.bytes().next().filter(|_| rest.len() == 1);
                let Some(component) = letter.and_then(component) else { return Vec::new() };
                (whole, Some(component))
            }
            None => (name, None),
        };
        let symbols = self.symbols(Some(function), whole).into_iter().filter(|symbol| {
            let declared = symbol.declaration;
            let is_component = component.is_some_and(|component| component < declared.vector);
            let is_whole = component.is_none() && declared.vector == 1;
            declared.space == StateSpace::Register && (is_component || is_whole)
        });
        let register =
            |symbol| Register { component: component.unwrap_or(0), ..Register::of(symbol) };
        symbols.map(register).collect()
    }

    /// The variables and parameters of that name: in a function, if one is given, and else in the
    /// module.
    #[must_use]
    pub fn variables_named(&self, function: Option<&Function>, name: &str) -> Vec<DeclarationId> {
        let symbols = self.symbols(function, name).into_iter();
        let variables = symbols.filter(|symbol| symbol.declaration.space != StateSpace::Register);
        variables.map(|symbol| symbol.id).collect()
    }

    /// How a register is written; an element after the fourth of a vector with its number,
    /// `Q.4`.
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
            // PTX names no elements but four.
            match ["x", "y", "z", "w"].get(usize::from(register.component)) {
                Some(letter) => name += &format!(".{letter}"),
                None => name += &format!(".{}", register.component),
            }
        }
        name
    }

    /// Returns what a name refers to in any scope of a function, each once.
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
