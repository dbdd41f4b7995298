//! [`Flag`]: a topic of cases, computed from the input of each case.

/// A flag of cases made from a `T`.
pub(crate) struct Flag<T: ?Sized + 'static> {
    name: &'static str,
    note: &'static str,
    is_shown: fn(&T) -> bool,
}

pub(crate) const fn flag<T: ?Sized>(
    name: &'static str,
    note: &'static str,
    is_shown: fn(&T) -> bool,
) -> Flag<T> {
    Flag { name, note, is_shown }
}

/// The names of the flags that a case shows, sorted.
pub(crate) fn shown<T: ?Sized>(flags: &[Flag<T>], by: &T) -> Vec<&'static str> {
    let shown = flags.iter().filter(|flag| (flag.is_shown)(by));
    let mut names: Vec<_> = shown.map(|flag| flag.name).collect();
    names.sort_unstable();
    names
}

pub(crate) fn notes<T: ?Sized>(flags: &[Flag<T>]) -> Vec<(&'static str, &'static str)> {
    flags.iter().map(|flag| (flag.name, flag.note)).collect()
}
