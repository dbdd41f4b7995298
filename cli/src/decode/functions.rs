//! The functions of the inputs: the one that is wanted, and the demangled form of each one's name.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::name::visible;
use warpload_binary::names::Demangled;

/// The functions of the inputs, if one is wanted.
#[derive(Default)]
pub(super) struct Wanted<'f> {
    wanted: Option<&'f str>,
    found: bool,
    others: BTreeSet<Arc<str>>,
}

impl<'f> Wanted<'f> {
    pub(super) fn new(wanted: Option<&'f str>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Returns whether one function is wanted.
    pub(super) fn is_one(&self) -> bool {
        self.wanted.is_some()
    }

    /// Returns what to say if the function that is wanted was not found.
    pub(super) fn missing(&self) -> Option<String> {
        let wanted = self.wanted.filter(|_| !self.found)?;
        Some(format!("no function {wanted:?}; {}", listed(&self.others)))
    }

    /// Returns whether an instruction of this function is wanted.
    pub(super) fn take(&mut self, function: Option<&Arc<str>>) -> bool {
        let Some(wanted) = self.wanted else { return true };
        let is_wanted = function.is_some_and(|function| &**function == wanted);
        self.found |= is_wanted;
        if !is_wanted
            && let Some(function) = function
            && !self.others.contains(function)
        {
            self.others.insert(Arc::clone(function));
        }
        is_wanted
    }
}

/// Lists the functions, as many as fit a message.
fn listed(names: &BTreeSet<Arc<str>>) -> String {
    const SHOWN: usize = 20;
    if names.is_empty() {
        return "none is named here".to_owned();
    }
    let shown: Vec<&str> = names.iter().map(|name| &**name).take(SHOWN).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("there are: {}{more}", shown.join(", "))
}

/// The function whose instructions are being read.
pub(super) struct Names {
    wanted: bool,
    demangled: Demangled,
    name: Option<Arc<str>>,
    form: Option<Arc<str>>,
    /// The heading of this function is still to be written.
    is_new: bool,
}

impl Names {
    /// `wanted` says whether names are demangled.
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, demangled: Demangled::default(), name: None, form: None, is_new: false }
    }

    /// Notes the function of the next instruction.
    pub(super) fn enter(&mut self, name: Option<&Arc<str>>) {
        if self.name.as_ref() == name {
            return;
        }
        self.name = name.cloned();
        self.form = name.filter(|_| self.wanted).and_then(|name| self.demangled.add(name));
        self.is_new = true;
    }

    /// Returns the demangled form of the function's name; `None` if it is not mangled.
    pub(super) fn demangled(&self) -> Option<&str> {
        self.form.as_deref()
    }

    /// Returns the heading of the function if its name is mangled, once.
    pub(super) fn heading(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        Some(format!("// {}: {}", visible(self.name.as_deref()?), visible(self.form.as_deref()?)))
    }
}
