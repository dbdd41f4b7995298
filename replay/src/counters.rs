//! The counters of a replay, and how they add up. [`counters!`] lists them: a new counter is a row there and the line
//! that counts it. The structs, their addition over threads, shards and launches, JSON and docs/counters.md derive from
//! these rows.
//!
//! Every counter is a commutative monoid, so parts add up to the same numbers in any order and in any tree. Only
//! integers are counted: a mean of parts would depend on the order of rounding, so means are derived where they are
//! shown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::costs::{AccessCost, BANKS};
use crate::row::{AccessKind, Row, RowCode, RowSpace};
use crate::summary::Hex;
use crate::traffic::Traffic;
use warpload::load::{ByFaultKind, LaneFaultKind};

/// A row of the list of counters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterRow {
    /// The JSON keys that lead to it, separated by dots.
    pub path: String,
    /// The unit; empty for an object of further counters, which follow.
    pub unit: &'static str,
    /// How its values in two parts combine: `sum`, `least`, `most`, `sum by name`, `first`, `union`. Empty for an
    /// object.
    pub addition: &'static str,
    /// A sentence for the documentation.
    pub documentation: String,
}

/// Returns the list of the counters of a trace and of each launch, in the order of JSON.
#[must_use]
pub fn trace_counters() -> Vec<CounterRow> {
    let mut list = Vec::new();
    TraceCounts::rows(&Place::default(), &mut list);
    list
}

/// Returns the list of the counters of a [`Row`](crate::Row), and of each kind of access.
#[must_use]
pub fn access_counters() -> Vec<CounterRow> {
    let mut list = Vec::new();
    AccessCounts::rows(&Place::default(), &mut list);
    list
}

impl AccessCounts {
    /// Returns the names of the columns of a table of accesses, for CSV and Arrow: the JSON keys, joined by `_`.
    #[must_use]
    pub fn columns() -> Vec<String> {
        let rows = access_counters().into_iter();
        let is_column = |row: &CounterRow| matches!(row.addition, "sum" | "least" | "most");
        rows.filter(is_column).map(|row| row.path.replace('.', "_")).collect()
    }

    /// Returns the values of the columns; `None` where the access has none, as in a memory that it does not reach.
    #[must_use]
    pub fn values(&self) -> Vec<Option<u64>> {
        let mut list = Vec::new();
        Counter::values(Some(self), &mut list);
        list
    }
}

/// The place of a counter in the list.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place<'r> {
    path: &'r str,
    unit: &'static str,
    documentation: &'r str,
}

impl Place<'_> {
    fn push(&self, addition: &'static str, list: &mut Vec<CounterRow>) {
        if !self.path.is_empty() {
            let unit = if addition.is_empty() { "" } else { self.unit };
            let (path, documentation) =
                (self.path.to_owned(), self.documentation.trim().to_owned());
            list.push(CounterRow { path, unit, addition, documentation });
        }
    }

    fn inner<C: Counter>(
        &self,
        key: &str,
        unit: &'static str,
        documentation: &str,
        list: &mut Vec<CounterRow>,
    ) {
        let path = format!("{}{}{key}", self.path, if self.path.is_empty() { "" } else { "." });
        // The parts of a cost inherit its unit.
        let unit = if unit.is_empty() { self.unit } else { unit };
        C::rows(&Place { path: &path, unit, documentation }, list);
    }
}

/// A counter, or an object of counters. The default is the value of an empty part.
pub(crate) trait Counter: Default {
    /// Adds the value of another part.
    fn add(&mut self, other: &Self);

    /// Adds its rows to the list.
    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>);

    /// Appends its numbers, one for each row that is a column; `None` if it was not counted.
    fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>);
}

impl Counter for u64 {
    /// Saturates, because a file can contain any numbers. Saturation keeps addition associative.
    #[inline]
    fn add(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("sum", list);
    }

    fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>) {
        list.push(counter.copied());
    }
}

/// Counters that a part may lack.
impl<C: Counter + Clone> Counter for Option<C> {
    #[inline]
    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Some(to), Some(from)) => to.add(from),
            (to @ None, Some(from)) => *to = Some(from.clone()),
            (_, None) => {}
        }
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        C::rows(place, list);
    }

    fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>) {
        C::values(counter.and_then(Option::as_ref), list);
    }
}

/// Boxed, because most rows have none, and a trace may have rows for many launches.
impl<C: Counter> Counter for Box<C> {
    #[inline]
    fn add(&mut self, other: &Self) {
        (**self).add(other);
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        C::rows(place, list);
    }

    fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>) {
        C::values(counter.map(|counter| &**counter), list);
    }
}

impl<Name: Clone + Ord> Counter for BTreeMap<Name, u64> {
    fn add(&mut self, other: &Self) {
        for (name, count) in other {
            self.entry(name.clone()).or_default().add(count);
        }
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("sum by name", list);
    }

    fn values(_: Option<&Self>, _: &mut Vec<Option<u64>>) {}
}

fn is_default<C: Default + PartialEq>(counter: &C) -> bool {
    *counter == C::default()
}

/// Defines structs of counters. A row has documentation, key, type and unit; its type determines how it adds. JSON
/// leaves out the counters after `rare` that were not counted. `in` names a macro that gets them, as fields to read.
macro_rules! counters {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident $(in $form:ident)? {
            $( $(#[doc = $doc:literal])+ $field:ident: $type:ty, $unit:literal; )*
            $(rare; $( $(#[doc = $of:literal])+ $rare:ident: $rare_type:ty, $rare_unit:literal; )*)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
            $($( $(#[doc = $of])+ #[serde(default, skip_serializing_if = "is_default")] pub $rare: $rare_type, )*)?
        }

        impl Counter for $name {
            #[inline]
            fn add(&mut self, other: &Self) {
                $( self.$field.add(&other.$field); )*
                $($( self.$rare.add(&other.$rare); )*)?
            }

            fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
                place.push("", list);
                $( place.inner::<$type>(stringify!($field), $unit, concat!($($doc),+), list); )*
                $($( place.inner::<$rare_type>(stringify!($rare), $rare_unit, concat!($($of),+), list); )*)?
            }

            fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>) {
                $( Counter::values(counter.map(|counter| &counter.$field), list); )*
                $($( Counter::values(counter.map(|counter| &counter.$rare), list); )*)?
            }
        }

        counters!(@form $($form)? { $($field: $type,)* $($(#[serde(default)] $rare: $rare_type,)*)? });
    )*};
    (@form { $($fields:tt)* }) => {};
    (@form $form:ident { $($fields:tt)* }) => { $form! { $($fields)* } };
}

/// Defines the form of a [`Row`] to read. A flattened struct would be read through a map of all keys, which is half of
/// the time of a merge.
macro_rules! row_form {
    ($($(#[$attribute:meta])? $field:ident: $type:ty,)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct RowForm {
            launch: u64,
            kernel: Arc<str>,
            pc: Hex,
            opcode: Arc<str>,
            kind: AccessKind,
            space: RowSpace,
            access_bytes: Option<u32>,
            sass: Option<Arc<str>>,
            source_file: Option<Arc<str>>,
            source_line: Option<u32>,
            ptx: Option<Arc<str>>,
            ptx_line: Option<u32>,
            ptx_column: Option<u32>,
            $($(#[$attribute])? $field: $type,)*
        }

        impl From<RowForm> for Row {
            fn from(form: RowForm) -> Self {
                let RowForm { launch, kernel, pc, opcode, kind, space, access_bytes, .. } = form;
                let RowForm { sass, source_file, source_line, ptx, ptx_line, ptx_column, .. } = form;
                let code = RowCode { sass, source_file, source_line, ptx, ptx_line, ptx_column };
                let counts = AccessCounts { $($field: form.$field,)* };
                Self { launch, kernel, pc, opcode, kind, space, access_bytes, code, counts }
            }
        }
    };
}

counters! {
    /// The counts of a trace, or of a launch.
    pub struct TraceCounts {
        /// Instructions of the trace.
        instructions: u64, "instructions";
        /// Loads: instructions with a memory operand, even if their mask is empty.
        loads: AccessCounts, "";
        /// Stores.
        stores: AccessCounts, "";
        /// Atomics that return a value.
        atomics: AccessCounts, "";
        /// Atomics that return none (`RED`).
        reductions: AccessCounts, "";
        /// [Copies](traces.md#matrices-and-copies) from global to shared memory (`LDGSTS`). Each side that the trace has
        /// is an access.
        copies: AccessCounts, "";
        /// Accesses by opcode with all modifiers.
        by_opcode: BTreeMap<Arc<str>, u64>, "accesses";
        /// Distinct parts of global memory that accesses touch; null in a sum of several replays, which does not know
        /// them.
        footprint: Option<FootprintCounts>, "";
        /// Instructions that are no such accesses.
        others: u64, "instructions";
        /// Those of them that read memory, by opcode without modifiers.
        not_replayed: BTreeMap<Arc<str>, u64>, "instructions";
        rare;
        /// Those of them that move blocks (TMA), as the trace states it.
        transfers: TransferCounts, "";
        /// Accesses that are not selected.
        unselected: u64, "accesses";
    }

    /// The counts of some accesses: of one instruction of a launch, or of all of one kind.
    pub struct AccessCounts in row_form {
        /// The number of accesses: instructions of a warp.
        accesses: u64, "accesses";
        /// Their executing lanes.
        lanes: u64, "lanes";
        /// Access size times executing lanes.
        bytes: u64, "bytes";
        rare;
        /// The accesses by the memory of their first executing lane. `LDG` counts as `global` whatever its address.
        by_space: SpaceCounts, "";
        /// Their cost in global memory, if their opcode can reach it.
        global: Option<GlobalCounts>, "";
        /// Their cost in shared memory, if their opcode is of that memory or some of their generic addresses are.
        shared: Option<Box<SharedCounts>>, "";
        /// Their cost in local memory, if their opcode is of that memory or some of their generic addresses are.
        local: Option<Box<LocalCounts>>, "";
        /// Their cost in constant memory, if their opcode is of that memory.
        constant: Option<Box<ConstantCounts>>, "";
        /// Faults of their lanes.
        lane_faults: FaultCounts, "";
        /// The first fault: `instruction`, `lane`, `kind` and `address`.
        first_fault: Option<Box<FirstFault>>, "fault";
        /// Accesses with addresses that cannot be attributed to lanes: they are not executed, and have no cost.
        unattributable: u64, "accesses";
        /// Accesses with a width field in the source that differs from the opcode's.
        width_disagreements: u64, "accesses";
        /// Loads that may be broadcast and have an executing lane.
        uniform: UniformCounts, "";
        /// The accesses with values in the source.
        values: ValueCounts, "";
    }

    /// Accesses by the memory of their first executing lane.
    #[derive(Copy, Eq)]
    pub struct SpaceCounts {
        rare;
        /// Of global memory.
        global: u64, "accesses";
        /// Of local memory.
        local: u64, "accesses";
        /// Of shared memory.
        shared: u64, "accesses";
        /// Of constant memory.
        constant: u64, "accesses";
        /// No lane executes, or the first one's generic address is beyond the address bits or cannot be accessed with its
        /// Plg.
        unresolved: u64, "accesses";
    }

    /// The cost of accesses in global memory.
    #[derive(Copy, Eq)]
    pub struct GlobalCounts {
        /// Accesses that can reach it.
        accesses: u64, "accesses";
        /// Distinct sectors that the lanes of an access touch.
        sectors: Spread, "sectors of 32 bytes";
        /// The fewest sectors that hold the distinct bytes of each access, added up.
        ideal_sectors: u64, "sectors of 32 bytes";
        /// Distinct lines that the lanes of an access touch, added up.
        lines: u64, "lines of 128 bytes";
    }

    /// The cost of accesses in shared memory.
    #[derive(Copy, Eq)]
    pub struct SharedCounts {
        /// Accesses with a lane in it.
        accesses: u64, "accesses";
        /// Wavefronts of an access.
        wavefronts: Spread, "wavefronts";
        /// The fewest wavefronts that hold the words of each access, added up.
        ideal_wavefronts: u64, "wavefronts";
        /// Bank conflicts: wavefronts beyond the first of each group of lanes.
        conflicts: u64, "wavefronts";
        /// The words that each bank serves, one in a wavefront.
        bank_words: BankWords, "words";
        rare;
        /// Atomics with lanes that share a word. Their wavefronts are unknown, and not in the counts above, because the
        /// order in which such lanes take turns is not public.
        unknown: u64, "accesses";
    }

    /// The cost of accesses in local memory.
    #[derive(Copy, Eq)]
    pub struct LocalCounts {
        /// Accesses with a lane in it.
        accesses: u64, "accesses";
        /// Distinct sectors of each access in the interleaved layout, added up.
        sectors: u64, "sectors of 32 bytes";
        /// The fewest sectors that hold the words of each access, added up.
        ideal_sectors: u64, "sectors of 32 bytes";
    }

    /// The cost of loads of constant memory.
    #[derive(Copy, Eq)]
    pub struct ConstantCounts {
        /// Accesses with a lane in it.
        accesses: u64, "accesses";
        /// Distinct addresses of each, added up: how many times it is issued.
        addresses: u64, "addresses";
    }

    /// Loads of `.U.128` form.
    #[derive(Copy, Eq)]
    pub struct UniformCounts {
        /// Served by one fetch.
        broadcast: u64, "accesses";
        /// Served lane by lane.
        divergent: u64, "accesses";
    }

    /// Accesses with values in the source, and the comparison of loads with an image.
    #[derive(Copy, Eq)]
    pub struct ValueCounts {
        /// Accesses with values, even if these are not the values that were loaded.
        accesses: u64, "accesses";
        /// Loads with expected values.
        checked: u64, "accesses";
        /// Checked loads with a value that differs.
        mismatches: u64, "accesses";
        /// Expected values that were compared, one for each register and executing lane that is not outside.
        checked_words: u64, "registers of a lane";
        /// Compared values that differ.
        mismatched_words: u64, "registers of a lane";
    }

    /// Instructions that move blocks between global and shared memory, as the trace states them.
    #[derive(Copy, Eq)]
    pub struct TransferCounts {
        /// Instructions of the trace.
        instructions: u64, "instructions";
        /// Addresses of their transfers, not of lanes.
        addresses: u64, "addresses";
        /// The bytes that they move.
        bytes: u64, "bytes";
    }
}

impl GlobalCounts {
    #[inline]
    pub(crate) fn count(&mut self, traffic: Traffic) {
        self.accesses += 1;
        self.sectors.add(&Spread::of_one(traffic.sectors));
        self.ideal_sectors += traffic.ideal_sectors;
        self.lines += traffic.lines;
    }
}

impl SharedCounts {
    /// Counts an access, which is no atomic with lanes that share a word.
    #[inline]
    pub(crate) fn count(&mut self, cost: AccessCost, bank_words: &[u8; BANKS]) {
        self.accesses += 1;
        self.wavefronts.add(&Spread::of_one(cost.amount));
        self.ideal_wavefronts += cost.ideal;
        self.conflicts += cost.conflicts;
        for (sum, words) in self.bank_words.0.iter_mut().zip(bank_words) {
            *sum += u64::from(*words);
        }
    }
}

impl LocalCounts {
    #[inline]
    pub(crate) fn count(&mut self, AccessCost { amount, ideal, .. }: AccessCost) {
        self.accesses += 1;
        self.sectors += amount;
        self.ideal_sectors += ideal;
    }
}

impl ConstantCounts {
    #[inline]
    pub(crate) fn count(&mut self, AccessCost { amount, .. }: AccessCost) {
        self.accesses += 1;
        self.addresses += amount;
    }
}

/// The costs of single accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Spread {
    /// Their sum.
    pub sum: u64,
    /// The lowest cost; [`u64::MAX`] of none.
    #[serde(rename = "min", with = "least")]
    least: u64,
    /// The highest cost; 0 of none.
    pub max: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { sum: 0, least: u64::MAX, max: 0 }
    }
}

impl Spread {
    #[inline]
    pub(crate) fn of_one(cost: u64) -> Self {
        Self { sum: cost, least: cost, max: cost }
    }

    /// Returns the lowest cost; 0 of none.
    #[must_use]
    pub fn min(&self) -> u64 {
        if self.least == u64::MAX { 0 } else { self.least }
    }
}

impl Counter for Spread {
    #[inline]
    fn add(&mut self, other: &Self) {
        self.sum.add(&other.sum);
        self.least = self.least.min(other.least);
        self.max = self.max.max(other.max);
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("", list);
        for (key, documentation, addition) in [
            ("sum", "Their sum.", "sum"),
            ("min", "The lowest of one access; null of none.", "least"),
            ("max", "The highest of one access.", "most"),
        ] {
            let path = format!("{}.{key}", place.path);
            Place { path: &path, documentation, ..*place }.push(addition, list);
        }
    }

    fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>) {
        list.push(counter.map(|spread| spread.sum));
        list.push(counter.map(|spread| spread.least).filter(|least| *least < u64::MAX));
        list.push(counter.map(|spread| spread.max));
    }
}

/// The lowest cost in JSON: null of none.
mod least {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(least: &u64, to: S) -> Result<S::Ok, S::Error> {
        Some(*least).filter(|least| *least < u64::MAX).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(u64::MAX))
    }
}

/// The words that each bank of shared memory serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BankWords(pub [u64; BANKS]);

impl Counter for BankWords {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| to.add(from));
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("sum by bank", list);
    }

    fn values(_: Option<&Self>, _: &mut Vec<Option<u64>>) {}
}

/// Lane faults by kind.
pub type FaultCounts = ByFaultKind<u64>;

impl Counter for FaultCounts {
    #[inline]
    fn add(&mut self, other: &Self) {
        Self::add(self, other);
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("", list);
        for kind in LaneFaultKind::ALL {
            let documentation = match kind {
                LaneFaultKind::OutsideWindow => "Lanes outside the window of their memory.",
                LaneFaultKind::OutsideAllocation => "Lanes outside every allocation.",
                LaneFaultKind::MisalignedAddress => "Lanes with a misaligned address.",
            };
            place.inner::<u64>(kind.name(), "lanes", documentation, list);
        }
    }

    fn values(counter: Option<&Self>, list: &mut Vec<Option<u64>>) {
        list.extend(LaneFaultKind::ALL.map(|kind| counter.map(|faults| faults[kind])));
    }
}

/// The first fault of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FirstFault {
    /// The instruction's index in the trace.
    pub instruction: u64,
    /// The lane.
    pub lane: usize,
    /// The fault's name.
    pub kind: Cow<'static, str>,
    /// The effective address.
    pub address: Hex,
}

impl Default for FirstFault {
    /// Comes after every other.
    fn default() -> Self {
        Self { instruction: u64::MAX, lane: 0, kind: Cow::Borrowed(""), address: Hex(0) }
    }
}

impl Counter for FirstFault {
    fn add(&mut self, other: &Self) {
        if other.instruction < self.instruction {
            self.clone_from(other);
        }
    }

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("first", list);
    }

    fn values(_: Option<&Self>, _: &mut Vec<Option<u64>>) {}
}

/// Distinct parts of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FootprintCounts {
    /// Pages of 4 KiB.
    pub pages: u64,
    /// Lines of 128 bytes.
    pub lines: u64,
}

/// Sizes of sets do not determine the size of their union, so [`Footprint`](crate::footprint::Footprint) keeps the
/// sets.
impl Counter for FootprintCounts {
    fn add(&mut self, _: &Self) {}

    fn rows(place: &Place<'_>, list: &mut Vec<CounterRow>) {
        place.push("", list);
        for (key, unit, documentation) in [
            ("pages", "pages of 4 KiB", "Distinct pages."),
            ("lines", "lines of 128 bytes", "Distinct lines."),
        ] {
            let path = format!("{}.{key}", place.path);
            Place { path: &path, unit, documentation }.push("union", list);
        }
    }

    fn values(_: Option<&Self>, _: &mut Vec<Option<u64>>) {}
}
