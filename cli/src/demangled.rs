//! [`Demangled`]: names of functions as their source has them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// The longest name that is demangled, in bytes.
const LONGEST: usize = 8192;
/// How deep what a name is made of may be nested. The parser tries alternatives, so that the time for
/// an invalid name doubles with each level.
const DEEPEST: u32 = 48;
/// How often longer than the name its demangled form may be; what repeats is mangled once.
const LONGER: usize = 16;

/// The demangled forms of those names that are mangled.
#[derive(Default)]
pub(crate) struct Demangled(HashMap<Arc<str>, Option<Arc<str>>>);

impl Demangled {
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n Arc<str>>) -> Self {
        let mut forms = Self::default();
        for name in names {
            forms.add(name);
        }
        forms
    }

    /// Adds a name, unless it is there already, and returns its demangled form.
    pub(crate) fn add(&mut self, name: &Arc<str>) -> Option<Arc<str>> {
        if let Some(form) = self.0.get(name) {
            return form.clone();
        }
        let form = demangle(name).map(Arc::from);
        self.0.insert(Arc::clone(name), form.clone());
        form
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<str>> {
        self.0.get(name)?.as_ref()
    }

    /// Returns the demangled form if there is one, else the name.
    pub(crate) fn or_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.get(name).map_or(name, |form| form)
    }
}

/// Returns the demangled form of a C++ name; `None` if it is not mangled, or too deep or long.
fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > LONGEST {
        return None;
    }
    let options = ParseOptions::default().recursion_limit(DEEPEST);
    let symbol = Symbol::new_with_options(name, &options).ok()?;
    let mut form = Bounded { text: String::new(), most: name.len() * LONGER };
    symbol.structured_demangle(&mut form, &DemangleOptions::new()).ok()?;
    Some(form.text)
}

/// Text that does not become longer than `most` bytes.
struct Bounded {
    text: String,
    most: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.most {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kernels() {
        let form = |name| demangle(name).unwrap_or_default();
        assert_eq!(form("_Z6vecAddPdS_S_i"), "vecAdd(double*, double*, double*, int)");
        assert_eq!(form("_Z3fooILb1ELi3EEvPKfPf"), "void foo<true, 3>(float const*, float*)");
        assert_eq!(
            form("_ZN7cutlass6KernelI4GemmEEvNT_6ParamsE"),
            "void cutlass::Kernel<Gemm>(Gemm::Params)"
        );
        for name in ["main", "", "_Z", "_Z6vec", "void f(int)"] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_grow_are_left_as_they_are() {
        // Each parameter has two of the one before.
        let mut name = "_Z1f1AIiiE".to_owned();
        for i in 0..30 {
            let last = if i == 0 { "S0_".to_owned() } else { format!("S{}_", to_base_36(i)) };
            name += &format!("S_I{last}{last}E");
        }
        assert_eq!(demangle(&name), None);
    }

    fn to_base_36(number: usize) -> String {
        let digits: Vec<char> = ('0'..='9').chain('A'..='Z').collect();
        digits.get(number).map_or("10".to_owned(), char::to_string)
    }
}
