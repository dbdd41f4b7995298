//! The functions of the inputs: which ones to show, and their demangled names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::name::visible;
use warpload_binary::names::{Demangled, NamePattern, did_you_mean, nearest};

/// The functions of all inputs so far.
#[derive(Default)]
pub(super) struct Functions<'f> {
    /// The pattern that chooses functions; `None` shows all.
    pattern: Option<&'f NamePattern>,
    /// Whether to show names as they are in the input, without demangling.
    is_mangled: bool,
    /// The functions so far, and whether the pattern chooses each one.
    known: BTreeMap<Arc<str>, bool>,
    demangled: Demangled,
    /// The current function, and the demangled form of its name.
    current: Option<Arc<str>>,
    form: Option<Arc<str>>,
    /// Whether the heading of the current function is still to be written.
    is_new: bool,
}

impl<'f> Functions<'f> {
    pub(super) fn new(pattern: Option<&'f NamePattern>, is_mangled: bool) -> Self {
        Self { pattern, is_mangled, ..Self::default() }
    }

    pub(super) fn is_choice(&self) -> bool {
        self.pattern.is_some()
    }

    /// The error if no function was chosen.
    pub(super) fn missing(&self) -> Option<String> {
        let pattern =
            self.pattern.filter(|_| !self.known.values().any(|is_wanted| *is_wanted))?.as_str();
        let names = self.known.keys().map(|name| self.demangled.or_name(name).to_owned());
        let nearest = match self.known.is_empty() {
            true => "; none is named here".to_owned(),
            false => did_you_mean(&nearest(pattern, names)),
        };
        Some(format!("no function name matches `--function {}`{nearest}", visible(pattern)))
    }

    /// Begins other code. Its first function counts as a new one, even under the same name.
    pub(super) fn begin(&mut self) {
        (self.current, self.form, self.is_new) = (None, None, false);
    }

    /// Whether to show an instruction of this function.
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

    /// Sets the function of the next instruction.
    pub(super) fn enter(&mut self, name: Option<&Arc<str>>) {
        if self.current.as_ref() != name {
            self.current = name.cloned();
            self.form = name.and_then(|name| self.demangle(name));
            self.is_new = true;
        }
    }

    /// The demangled form of a name; `None` if it is not mangled, or demangling is off.
    pub(super) fn demangle(&mut self, name: &Arc<str>) -> Option<Arc<str>> {
        if self.is_mangled { None } else { self.demangled.add(name) }
    }

    pub(super) fn demangled(&self) -> Option<&str> {
        self.form.as_deref()
    }

    /// The heading of the current function if its name is mangled, the first time.
    pub(super) fn heading(&mut self) -> Option<String> {
        let (name, form) = (self.current.as_deref()?, self.form.as_deref()?);
        let is_new = std::mem::take(&mut self.is_new);
        is_new.then(|| format!("// {}: {}", visible(name), visible(form)))
    }
}
