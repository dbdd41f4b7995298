//! The counters of a replay and their addition. [`list`] has a row for each counter. The structs, the addition over
//! threads and shards, JSON, the columns of tables and docs/counters.md are all derived from these rows.
//!
//! Every counter is a commutative monoid, so blocks, threads and shards add up to the same numbers in any order and in
//! any tree. Only integers are counted. A mean of parts would depend on the order of rounding, so means are derived for
//! display.

mod list;

use std::collections::BTreeMap;

pub use self::list::{
    ConstantCounts, FaultCounts, FirstFault, FootprintCounts, LdgstsCounts, LoadCounts,
    LocalCounts, PcColumn, PcSharedCounts, PcSummary, PcValue, SectorSummary, SharedCounts,
    SkippedCounts, SpaceCounts, TmaCounts, TrafficCounts, UniformCounts,
};
pub(crate) use self::list::{PcCounts, Spread, present};
use crate::costs::BANKS;

/// How a counter's values in two parts of a trace combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Addition {
    /// Their sum.
    Sum,
    /// The minimum.
    Least,
    /// The maximum.
    Most,
    /// The sum for each name.
    ByName,
    /// The value in the first part that has one.
    First,
    /// The sum for each bank of shared memory.
    ByBank,
    /// The size of the union of two sets, which are kept.
    Distinct,
    /// Derived instead of added: the mean of two other counters.
    Mean,
}

impl Addition {
    /// Returns its name in the documentation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Least => "least",
            Self::Most => "most",
            Self::ByName => "sum by name",
            Self::First => "first",
            Self::ByBank => "sum by bank",
            Self::Distinct => "union",
            Self::Mean => "mean",
        }
    }
}

/// A row of the list of counters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterRow {
    /// The JSON keys that lead to it, separated by dots.
    pub path: String,
    /// The unit. Empty for an object of further counters, which follow.
    pub unit: &'static str,
    /// How it adds; `None` for an object of further counters.
    pub addition: Option<Addition>,
    /// A sentence for the documentation.
    pub documentation: String,
}

/// Returns the list of the counters of a trace and of each kernel, in the order of JSON.
#[must_use]
pub fn counters() -> Vec<CounterRow> {
    rows::<LoadCounts>("")
}

/// Returns the list of the counters of a program counter, in the order of partial summaries.
#[must_use]
pub fn pc_counters() -> Vec<CounterRow> {
    rows::<PcCounts>("")
}

fn rows<C: Counter>(path: &str) -> Vec<CounterRow> {
    let mut list = Vec::new();
    C::rows(&Row { path, unit: "", documentation: "" }, &mut list);
    list
}

/// The paths of the counters that [`put`] writes, in its order.
pub(crate) fn paths<C: Counter>() -> Vec<String> {
    use Addition::{ByBank, First, Least, Most, Sum};
    let of_row = |CounterRow { path, addition, .. }| match addition {
        Some(Sum | Least | Most | First) => vec![path],
        Some(ByBank) => (0..BANKS).map(|bank| format!("{path}.{bank}")).collect(),
        _ => Vec::new(),
    };
    rows::<C>("").into_iter().flat_map(of_row).collect()
}

/// The values of all numeric counters, without trailing zeros.
pub(crate) fn put<C: Counter>(counter: &C) -> Vec<u64> {
    let mut slots = Vec::new();
    counter.put(&mut slots);
    slots.truncate(slots.iter().rposition(|slot| *slot != 0).map_or(0, |last| last + 1));
    slots
}

/// The counters with these numbers; `None` if there are too many, or if the last one is zero.
pub(crate) fn take<C: Counter>(slots: &[u64]) -> Option<C> {
    let mut rest = Slots(slots.iter());
    let counter = C::take(&mut rest);
    (rest.0.as_slice().is_empty() && slots.last() != Some(&0)).then_some(counter)
}

/// Reads the numbers of a list; zero beyond its end.
pub(crate) struct Slots<'s>(std::slice::Iter<'s, u64>);

/// The place of a counter in the list.
pub(crate) struct Row<'r> {
    path: &'r str,
    unit: &'static str,
    documentation: &'r str,
}

impl Row<'_> {
    fn is(&self, addition: impl Into<Option<Addition>>) -> CounterRow {
        let Self { path, unit, documentation } = *self;
        let documentation = documentation.trim().to_owned();
        CounterRow { path: path.to_owned(), unit, addition: addition.into(), documentation }
    }

    /// Adds a row for an object, unless it is the root.
    fn object(&self, list: &mut Vec<CounterRow>) {
        if !self.path.is_empty() {
            list.push(CounterRow { unit: "", ..self.is(None) });
        }
    }

    fn inner(
        &self,
        key: &str,
        unit: &'static str,
        documentation: &str,
        add: impl FnOnce(&Row<'_>),
    ) {
        let path =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        // The parts of a cost inherit its unit.
        let unit = if unit.is_empty() { self.unit } else { unit };
        add(&Row { path: &path, unit, documentation });
    }
}

/// A counter, or an object of counters. The default is the value of an empty part.
pub(crate) trait Counter: Default {
    /// Whether JSON omits it if it was not counted, instead of writing null.
    const IS_EXTRA: bool = false;

    /// Adds the value of another part.
    fn add(&mut self, other: &Self);

    /// Adds its rows to the list.
    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>);

    /// Appends its numbers; every part has the same number of them.
    fn put(&self, slots: &mut Vec<u64>);

    fn take(slots: &mut Slots<'_>) -> Self;

    fn is_hidden(&self) -> bool {
        false
    }
}

impl Counter for u64 {
    /// Saturates, because a file can contain any numbers. Saturation keeps addition associative.
    #[inline]
    fn add(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        list.push(row.is(Addition::Sum));
    }

    fn put(&self, slots: &mut Vec<u64>) {
        slots.push(*self);
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        slots.0.next().copied().unwrap_or_default()
    }
}

/// The minimum of some numbers; [`u64::MAX`] of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Least(pub(crate) u64);

impl Default for Least {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Counter for Least {
    #[inline]
    fn add(&mut self, other: &Self) {
        self.0 = self.0.min(other.0);
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        list.push(row.is(Addition::Least));
    }

    /// Stored plus one, so that 0 means none.
    fn put(&self, slots: &mut Vec<u64>) {
        slots.push(self.0.wrapping_add(1));
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        Self(u64::take(slots).wrapping_sub(1))
    }
}

/// The maximum of some numbers; 0 of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Most(pub(crate) u64);

impl Counter for Most {
    #[inline]
    fn add(&mut self, other: &Self) {
        self.0 = self.0.max(other.0);
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        list.push(row.is(Addition::Most));
    }

    fn put(&self, slots: &mut Vec<u64>) {
        slots.push(self.0);
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        Self(u64::take(slots))
    }
}

/// A sum of numbers that some traces lack; `None` if none was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct KnownSum(pub Option<u64>);

impl KnownSum {
    #[inline]
    pub(crate) fn count(&mut self, number: u64) {
        self.add(&Self(Some(number)));
    }
}

impl Counter for KnownSum {
    #[inline]
    fn add(&mut self, other: &Self) {
        self.0 = match (self.0, other.0) {
            (Some(to), Some(from)) => Some(to.saturating_add(from)),
            (to, from) => to.or(from),
        };
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        list.push(row.is(Addition::Sum));
    }

    /// Stored plus one, so that 0 means none.
    fn put(&self, slots: &mut Vec<u64>) {
        slots.push(self.0.map_or(0, |sum| sum.saturating_add(1)));
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        Self(u64::take(slots).checked_sub(1))
    }
}

/// Counters that a part may lack. When read from a file they are present unless all are zero.
impl<C: Counter + Clone + PartialEq> Counter for Option<C> {
    const IS_EXTRA: bool = C::IS_EXTRA;

    #[inline]
    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Some(to), Some(from)) => to.add(from),
            (to @ None, Some(from)) => *to = Some(from.clone()),
            (_, None) => {}
        }
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        C::rows(row, list);
    }

    fn put(&self, slots: &mut Vec<u64>) {
        match self {
            Some(counter) => counter.put(slots),
            None => C::default().put(slots),
        }
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        Some(C::take(slots)).filter(|counter| *counter != C::default())
    }

    fn is_hidden(&self) -> bool {
        C::IS_EXTRA && self.is_none()
    }
}

/// Boxed, because most rows have none, and a trace may have rows for many kernels.
impl<C: Counter> Counter for Box<C> {
    #[inline]
    fn add(&mut self, other: &Self) {
        (**self).add(other);
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        C::rows(row, list);
    }

    fn put(&self, slots: &mut Vec<u64>) {
        (**self).put(slots);
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        Box::new(C::take(slots))
    }
}

impl<Name: Clone + Ord> Counter for BTreeMap<Name, u64> {
    fn add(&mut self, other: &Self) {
        for (name, count) in other {
            self.entry(name.clone()).or_default().add(count);
        }
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        list.push(row.is(Addition::ByName));
    }

    /// Derived from the counts by operation.
    fn put(&self, _: &mut Vec<u64>) {}

    fn take(_: &mut Slots<'_>) -> Self {
        Self::new()
    }
}

/// The mean; 0 if there are none.
pub(crate) fn mean(sum: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { sum as f64 / of as f64 }
}

/// Defines a [`counter_struct`] and its JSON: the counters, then means of two of them.
macro_rules! json_counters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty, $unit:literal $(, $serde:meta)?;
            )*
        }
        $(means { $( $(#[doc = $of:literal])+ $mean:ident: $sum:ident / $count:ident, $per:literal; )* })?
    ) => {
        $crate::counters::counter_struct! {
            #[derive(serde::Deserialize)]
            $(#[$meta])*
            pub struct $name {
                $( $(#[doc = $doc])+ $field: $type, $unit $(, $serde)?; )*
            }
            $(means { $( $(#[doc = $of])+ $mean, $per; )* })?
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut object = to.serialize_map(None)?;
                $(
                    if !$crate::counters::Counter::is_hidden(&self.$field) {
                        object.serialize_entry(stringify!($field), &self.$field)?;
                    }
                )*
                $($(
                    let mean = $crate::counters::mean(self.$sum, self.$count);
                    object.serialize_entry(stringify!($mean), &mean)?;
                )*)?
                object.end()
            }
        }
    };
}
pub(crate) use json_counters;

/// Defines a struct of counters. A row has documentation, key, type and unit; the type determines the addition.
macro_rules! counter_struct {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty, $unit:literal $(, $serde:meta)?;
            )*
        }
        $(means { $( $(#[doc = $of:literal])+ $mean:ident, $per:literal; )* })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visibility struct $name {
            $( $(#[doc = $doc])+ $(#[$serde])? $visibility $field: $type, )*
        }

        impl $crate::counters::Counter for $name {
            #[inline]
            fn add(&mut self, other: &Self) {
                $( $crate::counters::Counter::add(&mut self.$field, &other.$field); )*
            }

            fn rows(
                row: &$crate::counters::Row<'_>,
                list: &mut Vec<$crate::counters::CounterRow>,
            ) {
                row.object(list);
                $(
                    row.inner(stringify!($field), $unit, concat!($($doc),+), |row| {
                        <$type as $crate::counters::Counter>::rows(row, list);
                    });
                )*
                $($(
                    row.inner(stringify!($mean), $per, concat!($($of),+), |row| {
                        list.push(row.is($crate::counters::Addition::Mean));
                    });
                )*)?
            }

            fn put(&self, slots: &mut Vec<u64>) {
                $( $crate::counters::Counter::put(&self.$field, slots); )*
            }

            fn take(slots: &mut $crate::counters::Slots<'_>) -> Self {
                // Struct literals evaluate their fields in order.
                Self { $( $field: $crate::counters::Counter::take(slots), )* }
            }
        }
    };
}
pub(crate) use counter_struct;
