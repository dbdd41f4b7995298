//! The functions of the inputs: the wanted ones, and their demangled names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::name::visible;
use warpload_binary::names::{Demangled, NamePattern, did_you_mean, nearest};

/// The functions that are wanted, if not all are.
#[derive(Default)]
pub(super) struct Wanted<'f> {
    pattern: Option<&'f NamePattern>,
    /// Whether each of the functions so far is wanted.
    known: BTreeMap<Arc<str>, bool>,
    demangled: Demangled,
}

impl<'f> Wanted<'f> {
    pub(super) fn new(pattern: Option<&'f NamePattern>) -> Self {
        Self { pattern, ..Self::default() }
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
