//! The functions of the inputs: the wanted ones, and their demangled names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::name::visible;
use warpload_binary::names::{Demangled, NamePattern, did_you_mean, nearest};

/// The functions of all inputs so far.
#[derive(Default)]
pub(super) struct Functions<'f> {
    /// What chooses functions, if not all are wanted.
    pattern: Option<&'f NamePattern>,
    /// Whether names are shown as they are in the input alone.
    is_mangled: bool,
    /// Whether each of the functions so far is wanted, if there is a choice.
    known: BTreeMap<Arc<str>, bool>,
    demangled: Demangled,
    /// The function whose instructions are being read, and the demangled form of its name.
    current: Option<Arc<str>>,
    form: Option<Arc<str>>,
    /// The heading of this function is still to be written.
    is_new: bool,
}

impl<'f> Functions<'f> {
    pub(super) fn new(pattern: Option<&'f NamePattern>, is_mangled: bool) -> Self {
        Self { pattern, is_mangled, ..Self::default() }
    }

    /// Returns whether only some functions are wanted.
    pub(super) fn is_choice(&self) -> bool {
        self.pattern.is_some()
    }

    /// Returns what to say if no function that is wanted was found.
    pub(super) fn missing(&self) -> Option<String> {
        let pattern =
            self.pattern.filter(|_| !self.known.values().any(|is_wanted| *is_wanted))?.as_str();
        let names = self.known.keys().map(|name| self.demangled.or_name(name).to_owned());
        let nearest = match self.known.is_empty() {
            true => "; none is named here".to_owned(),
            false => did_you_mean(&nearest(pattern, names)),
        };
        Some(format!(
            "no function has a name that `--function {}` matches{nearest}",
            visible(pattern)
        ))
    }

    /// Begins other code, whose first function is a new one even if its name is not.
    pub(super) fn begin(&mut self) {
        (self.current, self.form, self.is_new) = (None, None, false);
    }

    /// Returns whether an instruction of this function is wanted.
    pub(super) fn take(&mut self, function: Option<&Arc<str>>) -> bool {
        let Some(pattern) = self.pattern else { return true };
        let Some(function) = function else { return false };
        if let Some(is_wanted) = self.known.get(function) {
            return *is_wanted;
        }
        let is_wanted = pattern.matches(function, self.demangled.add(function).as_deref());
        self.known.insert(Arc::clone(function), is_wanted);
        is_wanted
    }

    /// Notes the function of the next instruction.
    pub(super) fn enter(&mut self, name: Option<&Arc<str>>) {
        if self.current.as_ref() != name {
            self.current = name.cloned();
            self.form = name.and_then(|name| self.demangle(name));
            self.is_new = true;
        }
    }

    /// Returns the demangled form of a name; `None` if it is not mangled, or is to be shown as it is.
    pub(super) fn demangle(&mut self, name: &Arc<str>) -> Option<Arc<str>> {
        if self.is_mangled { None } else { self.demangled.add(name) }
    }

    /// Returns the demangled form of the current function's name.
    pub(super) fn demangled(&self) -> Option<&str> {
        self.form.as_deref()
    }

    /// Returns the heading of the current function if its name is mangled, once.
    pub(super) fn heading(&mut self) -> Option<String> {
        let (name, form) = (self.current.as_deref()?, self.form.as_deref()?);
        let is_new = std::mem::take(&mut self.is_new);
        is_new.then(|| format!("// {}: {}", visible(name), visible(form)))
    }
}
