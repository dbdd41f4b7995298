//! The names of the functions, as they come.

use std::sync::Arc;

use crate::demangled::Demangled;
use crate::name::visible;

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
