//! The list of counters. A new counter is a row here and the line that counts it. To show it for each program counter,
//! add a row to [`PcSummary`] with its columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::{
    Addition, Counter, CounterRow, KnownSum, Least, Most, Row, Slots, counter_struct,
    json_counters, mean,
};
use crate::costs::{AccessCost, BANKS, BankWords};
use crate::summary::Hex;
use crate::traffic::Traffic;
use warpload::load::{ByFaultKind, LaneFault, LaneFaultKind};
use warpload_binary::sass::SourceLine;
use warpload_trace::binary::PtxPlace;

json_counters! {
    /// Counts of loads, and of the memory that they touched.
    #[non_exhaustive]
    pub struct LoadCounts {
        /// Instructions of the trace.
        records: u64, "instructions";
        /// Load instructions with a memory operand, even if their mask is empty.
        loads: u64, "loads";
        /// Instructions that are counted but not replayed.
        skipped: SkippedCounts, "";
        /// Loads with addresses that cannot be attributed to lanes: counted as loads, but not executed, and without
        /// sectors.
        unattributable: u64, "loads", serde(default);
        /// [Copies](traces.md#matrices-and-copies) from global to shared memory (`LDGSTS`). The other skipped instructions
        /// include them.
        ldgsts: Option<LdgstsCounts>, "";
        /// Instructions that move blocks (TMA), as stated by the trace. The other skipped instructions include them.
        tma: Option<TmaCounts>, "", serde(default);
        /// Executing lanes of all loads.
        lanes: u64, "lanes";
        /// Access size times executing lanes.
        bytes: u64, "bytes";
        /// Loads by opcode with all modifiers.
        by_opcode: BTreeMap<Arc<str>, u64>, "loads";
        /// Loads by the memory of their first executing lane. `LDG` counts as `global` whatever its address.
        by_space: SpaceCounts, "";
        /// Distinct sectors of global memory that the lanes of a load touch, added up over loads.
        sectors: u64, "sectors of 32 bytes";
        /// Distinct lines of global memory that the lanes of a load touch, added up over loads.
        lines: u64, "lines of 128 bytes";
        /// The fewest sectors that hold the distinct bytes that a load requests in global memory, added up over loads.
        ideal_sectors: u64, "sectors of 32 bytes";
        /// Faults of the lanes of loads.
        lane_faults: FaultCounts, "";
        /// Loads that may be broadcast and have an executing lane.
        uniform: UniformCounts, "";
        /// Distinct parts of global memory that loads touch.
        footprint: FootprintCounts, "";
        /// Loads with a width field in the source that differs from the opcode's.
        width_disagreements: u64, "loads";
        /// Loads with values in the source, even if these are not the values that were loaded.
        valued_loads: u64, "loads", serde(default);
        /// Loads with expected values.
        checked: u64, "loads";
        /// Checked loads with a value that differs.
        mismatches: u64, "loads";
        /// Expected values that were compared, one for each register and executing lane that is not outside.
        checked_words: u64, "registers of a lane", serde(default);
        /// Compared values that differ.
        mismatched_words: u64, "registers of a lane", serde(default);
        /// The cost of loads of shared memory.
        shared: SharedCounts, "", serde(default);
        /// The cost of loads of local memory.
        local: LocalCounts, "", serde(default);
        /// The cost of loads of constant memory.
        constant: ConstantCounts, "", serde(default);
        /// Stores to every memory.
        stores: Option<TrafficCounts>, "", serde(default);
        /// Atomics in every memory.
        atomics: Option<TrafficCounts>, "", serde(default);
    }
}

impl LoadCounts {
    /// Returns the number of instructions that a selection applies to: loads, stores, atomics and copies.
    pub(crate) fn accesses(&self) -> u64 {
        let stores = [self.stores, self.atomics].into_iter().flatten();
        let copies = self.ldgsts.map_or(0, |copies| copies.records);
        stores.map(|traffic| traffic.count).fold(self.loads + copies, u64::saturating_add)
    }
}

json_counters! {
    /// Instructions that are not loads.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct SkippedCounts {
        /// Stores.
        store: u64, "instructions";
        /// Atomics.
        atomic: u64, "instructions";
        /// All others.
        other: u64, "instructions";
        /// Other instructions that read memory, except `LDGSTS`, by opcode without modifiers.
        not_replayed: Option<BTreeMap<String, u64>>, "instructions";
    }
}

json_counters! {
    /// Copies from global to shared memory. Some traces have two records of each copy, one with its shared and one with
    /// its global addresses; others have only the record with the global addresses.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct LdgstsCounts {
        /// Records of either side.
        records: u64, "records";
        /// Their executing lanes.
        lanes: u64, "lanes";
        /// Access size times executing lanes of the global side; null if all records are of the shared side.
        bytes: KnownSum, "bytes", serde(default);
        /// Distinct sectors of global memory of each record of the global side, added up; null if `bytes` is.
        sectors: KnownSum, "sectors of 32 bytes", serde(default);
        /// The fewest sectors that hold the bytes of each, added up; null if `bytes` is.
        ideal_sectors: KnownSum, "sectors of 32 bytes", serde(default);
        /// Wavefronts of the shared side; null if all records are of the global side.
        wavefronts: KnownSum, "wavefronts", serde(default);
        /// Bank conflicts of the shared side; null if `wavefronts` is.
        conflicts: KnownSum, "wavefronts", serde(default);
    }
}

impl LdgstsCounts {
    /// Counts a record of the global side.
    pub(crate) fn count_global(&mut self, bytes: u64, traffic: Traffic) {
        self.bytes.count(bytes);
        self.sectors.count(traffic.sectors);
        self.ideal_sectors.count(traffic.ideal_sectors);
    }

    /// Counts a record of the shared side.
    pub(crate) fn count_shared(&mut self, AccessCost { amount, conflicts, .. }: AccessCost) {
        self.wavefronts.count(amount);
        self.conflicts.count(conflicts);
    }

    /// Without records all sums are known to be zero.
    pub(crate) fn shown(self) -> Self {
        let mut shown = self;
        if self.records == 0 {
            shown.count_global(0, Traffic::default());
            shown.count_shared(AccessCost::default());
        }
        shown
    }
}

json_counters! {
    /// Instructions that move blocks between global and shared memory, as the trace states them.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct TmaCounts {
        /// Instructions of the trace.
        records: u64, "instructions";
        /// Addresses of their transfers, not of lanes.
        addresses: u64, "addresses";
        /// The bytes that they move.
        bytes: u64, "bytes";
    }
}

json_counters! {
    /// Loads by space.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct SpaceCounts {
        /// Of global memory.
        global: u64, "loads";
        /// Of local memory.
        local: u64, "loads";
        /// Of shared memory.
        shared: u64, "loads";
        /// Of constant memory.
        constant: u64, "loads";
        /// No lane executes, or the first one's generic address is beyond the address bits or cannot be accessed with its
        /// Plg.
        unresolved: u64, "loads";
    }
}

json_counters! {
    /// Loads of `.U.128` form.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct UniformCounts {
        /// Served by one fetch.
        broadcast: u64, "loads";
        /// Served lane by lane.
        divergent: u64, "loads";
    }
}

json_counters! {
    /// Loads of shared memory.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct SharedCounts {
        /// Loads with a lane that loads from it.
        loads: u64, "loads";
        /// Their wavefronts.
        wavefronts: u64, "wavefronts";
        /// The fewest wavefronts that hold the words of each load, added up.
        ideal_wavefronts: u64, "wavefronts";
        /// Bank conflicts: wavefronts beyond the first of each group of lanes.
        conflicts: u64, "wavefronts", serde(default);
    }
}

impl SharedCounts {
    #[inline]
    pub(crate) fn count(&mut self, AccessCost { amount, ideal, conflicts, .. }: AccessCost) {
        self.loads += 1;
        self.wavefronts += amount;
        self.ideal_wavefronts += ideal;
        self.conflicts += conflicts;
    }
}

json_counters! {
    /// Loads of local memory.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct LocalCounts {
        /// Loads with a lane that loads from it.
        loads: u64, "loads";
        /// Distinct sectors of each load in the interleaved layout, added up.
        sectors: u64, "sectors of 32 bytes";
        /// The fewest sectors that hold the words of each load, added up.
        ideal_sectors: u64, "sectors of 32 bytes";
    }
}

impl LocalCounts {
    #[inline]
    pub(crate) fn count(&mut self, AccessCost { amount, ideal, .. }: AccessCost) {
        self.loads += 1;
        self.sectors += amount;
        self.ideal_sectors += ideal;
    }
}

json_counters! {
    /// Loads of constant memory.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct ConstantCounts {
        /// Loads with a lane that loads from it.
        loads: u64, "loads";
        /// Distinct addresses of each load, added up: how many times it is issued.
        addresses: u64, "addresses";
    }
}

impl ConstantCounts {
    #[inline]
    pub(crate) fn count(&mut self, AccessCost { amount, .. }: AccessCost) {
        self.loads += 1;
        self.addresses += amount;
    }
}

json_counters! {
    /// Stores or atomics in every memory; sectors are of global memory.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    #[non_exhaustive]
    pub struct TrafficCounts {
        /// Instructions.
        count: u64, "instructions";
        /// Their executing lanes.
        lanes: u64, "lanes";
        /// Access size times executing lanes.
        bytes: u64, "bytes";
        /// Distinct sectors of global memory of each, added up.
        sectors: u64, "sectors of 32 bytes";
        /// The fewest sectors that hold the bytes of each, added up.
        ideal_sectors: u64, "sectors of 32 bytes";
    }
}

/// Lane faults by kind.
pub type FaultCounts = ByFaultKind<u64>;

impl Counter for FaultCounts {
    #[inline]
    fn add(&mut self, other: &Self) {
        Self::add(self, other);
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        row.object(list);
        for kind in LaneFaultKind::ALL {
            let documentation = match kind {
                LaneFaultKind::OutsideWindow => "Lanes outside the window of their memory.",
                LaneFaultKind::OutsideAllocation => "Lanes outside every allocation.",
                LaneFaultKind::MisalignedAddress => "Lanes with a misaligned address.",
            };
            row.inner(kind.name(), "lanes", documentation, |row| u64::rows(row, list));
        }
    }

    fn put(&self, slots: &mut Vec<u64>) {
        slots.extend(self.iter().map(|(_, lanes)| lanes));
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        Self::from_fn(|_| u64::take(slots))
    }
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

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        row.object(list);
        for (key, unit, documentation) in [
            ("pages", "pages of 4 KiB", "Distinct pages."),
            ("lines", "lines of 128 bytes", "Distinct lines."),
        ] {
            row.inner(key, unit, documentation, |row| list.push(row.is(Addition::Distinct)));
        }
    }

    fn put(&self, _: &mut Vec<u64>) {}

    fn take(_: &mut Slots<'_>) -> Self {
        Self::default()
    }
}

/// A column of a table by program counter.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PcColumn {
    /// Its name in CSV and in Arrow.
    pub name: &'static str,
    /// Whether it concerns global memory, which not all opcodes can reach.
    pub is_global: bool,
    /// Whether some rows lack it.
    pub is_optional: bool,
    /// Whether its values are means.
    pub is_mean: bool,
    /// Returns its value in a row.
    pub value: fn(&PcSummary) -> PcValue,
}

/// A value in a table by program counter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PcValue {
    /// The row has none.
    Absent,
    /// A sum, a minimum or a maximum.
    Count(u64),
    /// A mean per load.
    Mean(f64),
}

impl From<Option<u64>> for PcValue {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Self::Absent, Self::Count)
    }
}

impl From<f64> for PcValue {
    fn from(mean: f64) -> Self {
        Self::Mean(mean)
    }
}

impl From<Option<f64>> for PcValue {
    fn from(mean: Option<f64>) -> Self {
        mean.map_or(Self::Absent, Self::Mean)
    }
}

impl From<u64> for PcValue {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

/// Defines the counters of a program counter, exact in [`PcCounts`] and for display in [`PcSummary`].
macro_rules! pc_counters {
    (
        $(
            $(#[doc = $doc:literal])+
            $field:ident: $exact:ty => $shown:ty, $unit:literal $(, $serde:meta)?;
            $( $memory:ident $($mean:ident)? $column:literal: $value:expr; )*
        )*
    ) => {
        counter_struct! {
            /// The counts of one program counter.
            #[derive(Eq)]
            pub(crate) struct PcCounts {
                $( $(#[doc = $doc])+ $field: $exact, $unit; )*
            }
        }

        /// The counts of one program counter, for display.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct PcSummary {
            /// The kernel's name.
            pub kernel: Arc<str>,
            /// The program counter.
            pub pc: Hex,
            /// The opcode with its modifiers.
            pub opcode: Arc<str>,
            /// The instruction, `Some(None)` if it is unknown; `None` if the replay was given no cubins.
            #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
            pub sass: Option<Option<Arc<str>>>,
            /// Its line in the source, `Some(None)` if it is unknown; `None` if the replay was given no cubins.
            #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
            pub source: Option<Option<SourceLine>>,
            /// The number of its line in the source, if the trace has it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub source_line: Option<u32>,
            /// The file of that line, if the trace has it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub source_file: Option<Arc<str>>,
            /// The instruction in PTX, if the trace is of PTX.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ptx: Option<Arc<str>>,
            /// Its line in the module, from 1.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ptx_line: Option<u32>,
            /// Its column, from 1, if other instructions begin in the same line.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ptx_column: Option<u32>,
            $( $(#[doc = $doc])+ $(#[$serde])? pub $field: $shown, )*
        }

        impl PcCounts {
            /// The counts for display.
            pub(crate) fn shown(&self, kernel: Arc<str>, pc: u32, opcode: Arc<str>) -> PcSummary {
                PcSummary {
                    kernel,
                    pc: Hex(pc.into()),
                    opcode,
                    sass: None,
                    source: None,
                    source_line: None,
                    source_file: None,
                    ptx: None,
                    ptx_line: None,
                    ptx_column: None,
                    $( $field: self.$field.shown(self.loads), )*
                }
            }
        }

        impl PcSummary {
            /// Returns the place of its instruction in the module of PTX; `None` if the trace is not of PTX.
            #[must_use]
            pub fn ptx_place(&self) -> Option<PtxPlace> {
                let (line, column) = (self.ptx_line?, self.ptx_column);
                Some(PtxPlace { line, column })
            }

            /// Returns the columns of its counts, faults last.
            #[must_use]
            pub fn columns() -> Vec<PcColumn> {
                let mut columns = vec![$($(
                    (stringify!($memory), PcColumn {
                        name: $column,
                        is_global: stringify!($memory) == "global",
                        is_optional: !matches!(stringify!($memory), "any" | "fault"),
                        is_mean: false $( || stringify!($mean) == "mean" )?,
                        value: |row| {
                            let value: fn(&PcSummary) -> _ = $value;
                            PcValue::from(value(row))
                        },
                    }),
                )*)*];
                columns.sort_by_key(|(memory, _)| *memory == "fault");
                columns.into_iter().map(|(_, column)| column).collect()
            }
        }
    };
}

pc_counters! {
    /// The number of its loads.
    loads: u64 => u64, "loads";
        any "loads": |row| row.loads;
    /// Its executing lanes.
    lanes: u64 => u64, "lanes";
        any "lanes": |row| row.lanes;
    /// Distinct sectors of global memory of one load.
    sectors: Spread => SectorSummary, "sectors of 32 bytes";
        global "sectors": |row| row.sectors.sum(row.loads);
        global "sectors_min": |row| row.sectors.min;
        global mean "sectors_mean": |row| row.sectors.mean;
        global "sectors_max": |row| row.sectors.max;
    /// The fewest sectors that hold the requested bytes of each load, added up.
    ideal_sectors: u64 => u64, "sectors of 32 bytes";
        global "ideal_sectors": |row| row.ideal_sectors;
    /// Its lane faults.
    lane_faults: FaultCounts => FaultCounts, "";
        fault "outside_window": |row| row.lane_faults.outside_window;
        fault "outside_allocation": |row| row.lane_faults.outside_allocation;
        fault "misaligned_address": |row| row.lane_faults.misaligned_address;
    /// Its cost in shared memory, if its opcode is of that memory or some of its generic addresses are.
    shared: Option<Box<SharedSums>> => Option<PcSharedCounts>, "",
        serde(default, skip_serializing_if = "Option::is_none");
        shared "wavefronts": |row| row.shared.as_ref()?.all_wavefronts();
        shared "wavefronts_min": |row| Some(row.shared.as_ref()?.wavefronts?.min);
        shared mean "wavefronts_mean": |row| Some(row.shared.as_ref()?.wavefronts?.mean);
        shared "wavefronts_max": |row| Some(row.shared.as_ref()?.wavefronts?.max);
        shared "ideal_wavefronts": |row| Some(row.shared.as_ref()?.ideal_wavefronts);
        shared "conflicts": |row| row.shared.as_ref()?.conflicts;
    /// Its cost in local memory, if its opcode is of that memory or some of its generic addresses are.
    local: Option<Box<LocalCounts>> => Option<LocalCounts>, "",
        serde(default, skip_serializing_if = "Option::is_none");
        local "local_sectors": |row| Some(row.local?.sectors);
        local "ideal_local_sectors": |row| Some(row.local?.ideal_sectors);
    /// Its cost in constant memory, if its opcode is of that memory.
    constant: Option<Box<ConstantCounts>> => Option<ConstantCounts>, "",
        serde(default, skip_serializing_if = "Option::is_none");
        constant "constant_addresses": |row| Some(row.constant?.addresses);
    /// The first of its lane faults in trace order.
    first_fault: Option<Box<FirstFault>> => Option<FirstFault>, "",
        serde(default, skip_serializing_if = "Option::is_none");
}

/// Reads a present field as `Some`, even if it is null.
pub(crate) fn present<'de, Field, D>(deserializer: D) -> Result<Option<Field>, D::Error>
where
    Field: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Field::deserialize(deserializer).map(Some)
}

counter_struct! {
    /// The costs of single accesses.
    #[derive(Copy, Eq)]
    pub(crate) struct Spread {
        /// The sum, which `mean` divides by the loads.
        sum: u64, "";
        /// The lowest cost of one access, shown as `min`.
        least: Least, "";
        /// The highest cost of one access, shown as `max`.
        most: Most, "";
    }
}

impl Spread {
    #[inline]
    pub(crate) fn of_one(cost: u64) -> Self {
        Self { sum: cost, least: Least(cost), most: Most(cost) }
    }
}

counter_struct! {
    /// The cost of one program counter's accesses to shared memory.
    #[derive(Copy, Eq)]
    pub(crate) struct SharedSums {
        /// Loads with a lane that loads from it.
        loads: u64, "loads";
        /// Wavefronts of one load.
        wavefronts: Spread, "wavefronts";
        /// The fewest wavefronts that hold the words of each load, added up.
        ideal_wavefronts: u64, "wavefronts";
        /// Bank conflicts.
        conflicts: u64, "wavefronts";
        /// Atomics with lanes that share a word. Their wavefronts are unknown, because the order in which such lanes
        /// take turns is not public.
        sharing: u64, "atomics";
        /// Words that each bank serves, one per wavefront.
        bank_words: [u64; BANKS], "words";
    }
}

impl SharedSums {
    #[inline]
    pub(crate) fn count(&mut self, cost: AccessCost, bank_words: &BankWords, is_atomic: bool) {
        self.loads += 1;
        self.wavefronts.add(&Spread::of_one(cost.amount));
        self.ideal_wavefronts += cost.ideal;
        self.conflicts += cost.conflicts;
        self.sharing += u64::from(is_atomic && cost.shares_words);
        for (sum, words) in self.bank_words.iter_mut().zip(bank_words) {
            *sum += u64::from(*words);
        }
    }
}

impl Counter for [u64; BANKS] {
    #[inline]
    fn add(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(sum, more)| sum.add(more));
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        list.push(row.is(Addition::ByBank));
    }

    fn put(&self, slots: &mut Vec<u64>) {
        slots.extend(self);
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        std::array::from_fn(|_| u64::take(slots))
    }
}

/// A lane fault, the first one of a program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FirstFault {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The lowest lane with a fault.
    pub lane: usize,
    /// The kind of its fault.
    pub kind: LaneFaultKind,
    /// The effective address.
    pub address: Hex,
}

impl FirstFault {
    pub(crate) fn of(record: u64, fault: &LaneFault) -> Box<Self> {
        let (lane, kind, address) = (fault.lane, fault.kind(), Hex(fault.address.0));
        Box::new(Self { record, lane, kind, address })
    }
}

impl Counter for Option<Box<FirstFault>> {
    #[inline]
    fn add(&mut self, other: &Self) {
        if let Some(other) = other
            && self.as_ref().is_none_or(|own| other.record < own.record)
        {
            *self = Some(other.clone());
        }
    }

    fn rows(row: &Row<'_>, list: &mut Vec<CounterRow>) {
        row.object(list);
        for (key, unit, documentation) in [
            ("record", "index", "The instruction's place in the trace."),
            ("lane", "lane", "The lowest lane with a fault."),
            ("kind", "name", "The kind of its fault."),
            ("address", "address", "The effective address."),
        ] {
            row.inner(key, unit, documentation, |row| list.push(row.is(Addition::First)));
        }
    }

    /// The record is stored plus one, so that 0 means none.
    fn put(&self, slots: &mut Vec<u64>) {
        slots.extend(self.as_ref().map_or([0; 4], |fault| {
            let FirstFault { record, lane, kind, address } = **fault;
            [record.saturating_add(1), lane as u64, kind as u64, address.0]
        }));
    }

    fn take(slots: &mut Slots<'_>) -> Self {
        let [record, lane, kind, address] = std::array::from_fn(|_| u64::take(slots));
        let kind = *LaneFaultKind::ALL.get(usize::try_from(kind).ok()?)?;
        let (record, lane) = (record.checked_sub(1)?, usize::try_from(lane).ok()?);
        Some(Box::new(FirstFault { record, lane, kind, address: Hex(address) }))
    }
}

/// Conversion of exact counts to the form for display.
trait Shown {
    type As;

    fn shown(&self, loads: u64) -> Self::As;
}

impl Shown for u64 {
    type As = Self;

    fn shown(&self, _: u64) -> Self {
        *self
    }
}

impl Shown for FaultCounts {
    type As = Self;

    fn shown(&self, _: u64) -> Self {
        *self
    }
}

impl Shown for FirstFault {
    type As = Self;

    fn shown(&self, _: u64) -> Self {
        *self
    }
}

impl Shown for LocalCounts {
    type As = Self;

    fn shown(&self, _: u64) -> Self {
        *self
    }
}

impl Shown for ConstantCounts {
    type As = Self;

    fn shown(&self, _: u64) -> Self {
        *self
    }
}

impl<C: Shown> Shown for Option<Box<C>> {
    type As = Option<C::As>;

    fn shown(&self, loads: u64) -> Self::As {
        self.as_ref().map(|counts| counts.shown(loads))
    }
}

impl Shown for Spread {
    type As = SectorSummary;

    fn shown(&self, loads: u64) -> SectorSummary {
        let min = if loads == 0 { 0 } else { self.least.0 };
        SectorSummary { min, mean: mean(self.sum, loads), max: self.most.0 }
    }
}

impl Shown for SharedSums {
    type As = PcSharedCounts;

    fn shown(&self, _: u64) -> PcSharedCounts {
        let Self { loads, wavefronts, ideal_wavefronts, conflicts, sharing, bank_words } = *self;
        PcSharedCounts {
            loads,
            wavefronts: (sharing == 0).then(|| wavefronts.shown(loads)),
            ideal_wavefronts,
            conflicts: (sharing == 0).then_some(conflicts),
            bank_words: (sharing == 0).then(|| Box::new(bank_words)),
        }
    }
}

/// Sectors or wavefronts per load; zeros without loads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as what they are")]
#[non_exhaustive]
pub struct SectorSummary {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
}

impl SectorSummary {
    /// Returns the sum over that many loads, derived from the mean.
    #[must_use]
    pub fn sum(&self, loads: u64) -> u64 {
        (self.mean * loads as f64).round() as u64
    }
}

/// Loads of shared memory by one program counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PcSharedCounts {
    /// Loads with a lane that loads from it.
    pub loads: u64,
    /// Wavefronts per load; `None` for an atomic with lanes that share a word, because their order of taking turns is
    /// unknown.
    pub wavefronts: Option<SectorSummary>,
    /// The fewest wavefronts that hold the words of each load, added up.
    pub ideal_wavefronts: u64,
    /// Bank conflicts: wavefronts beyond the first of each group of lanes; `None` if `wavefronts` is.
    pub conflicts: Option<u64>,
    /// The words that each bank serves, one per wavefront; `None` if `wavefronts` is.
    pub bank_words: Option<Box<[u64; BANKS]>>,
}

impl PcSharedCounts {
    /// Returns the wavefronts of all loads; `None` if unknown.
    #[must_use]
    pub fn all_wavefronts(&self) -> Option<u64> {
        self.wavefronts.map(|wavefronts| wavefronts.sum(self.loads))
    }
}
