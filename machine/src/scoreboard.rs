//! [`Scheduled`]: what an instruction waits for and what it sets, where a compiler has scheduled the program; and the
//! judgement of it. Results never depend on it, so the instructions that break a promise are only reported.
//!
//! An operation takes a known number of cycles until its result can be used, or it sets a barrier then. An instruction
//! that reads its sources later sets another barrier once it has read them. Barriers count: each instruction that sets
//! one adds one to it, and takes it back when it is done.

use std::collections::VecDeque;
use std::fmt;

use crate::code::{Code, Site};

/// The 64-bit words of a [`RowSet`].
const WORDS: usize = 5;

/// The most instructions that a barrier counts. One more waits until an earlier one is done.
const MOST_COUNTED: usize = 63;

/// The most instructions on their way that are remembered: those of all barriers, and some that set none.
const MOST_IN_FLIGHT: usize = 8 * MOST_COUNTED;

/// The bit of a barrier.
fn bit(barrier: u8) -> u8 {
    1 << (barrier & 7)
}

/// The most units.
const UNITS: usize = 8;

/// Cycles that are enough for any value: those of a jump, because how long it takes is not known.
const LONG: u64 = 64;

/// A set of rows. The front end numbers the rows that instructions name from 0 on, below [`RowSet::CAPACITY`], and
/// [`Code::row_names`] has their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSet([u64; WORDS]);

impl RowSet {
    /// The number of rows that a set can have.
    pub const CAPACITY: u32 = 64 * WORDS as u32;

    /// Adds a row. One beyond the capacity is left out.
    pub fn insert(&mut self, row: u32) {
        if let Some(word) = self.0.get_mut(row as usize / 64) {
            *word |= 1 << (row % 64);
        }
    }

    /// Removes a row.
    pub fn remove(&mut self, row: u32) {
        if let Some(word) = self.0.get_mut(row as usize / 64) {
            *word &= !(1 << (row % 64));
        }
    }

    /// Whether the set has a row.
    #[must_use]
    pub fn has(&self, row: u32) -> bool {
        self.0.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }

    /// Whether the set has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Faster than a comparison, which is a call.
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        let words = self.0;
        (0_u32..).zip(words).flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(64 * at + bit)
            })
        })
    }

    /// The rows of both sets.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The rows of either set.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// The rows that are not in the other set.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }
}

impl FromIterator<u32> for RowSet {
    fn from_iter<I: IntoIterator<Item = u32>>(rows: I) -> Self {
        let mut set = Self::default();
        rows.into_iter().for_each(|row| set.insert(row));
        set
    }
}

/// The schedule of an instruction, for [`Action::Scheduled`](crate::code::Action::Scheduled). Barriers have the numbers 0
/// to 7.
#[derive(Clone, Debug, Default)]
pub struct Scheduled {
    /// The name of the instruction.
    pub name: &'static str,
    /// The barriers that it waits for before it begins, one bit each.
    pub waits: u8,
    /// The barriers that it waits for after it has begun, one bit each.
    pub waits_later: u8,
    /// A barrier that it waits for after it has begun, until that counts no more than a number of instructions. They are
    /// done in order.
    pub waits_until: Option<(u8, u32)>,
    /// The rows that it reads even if no lane executes it: its guard.
    pub guard: RowSet,
    /// The rows that it reads.
    pub reads: RowSet,
    /// Those of them that it may still read when later instructions begin.
    pub late_reads: RowSet,
    /// The rows that it writes.
    pub writes: RowSet,
    /// Those of them that it writes at any time.
    pub late_writes: RowSet,
    /// Those of them whose values can be used after a number of cycles.
    pub cycles: Box<[(u32, u32)]>,
    /// The barrier that counts it until it has written its rows.
    pub write_barrier: Option<u8>,
    /// The barrier that counts it until it has read its rows.
    pub read_barrier: Option<u8>,
    /// The cycles that it takes at least to write the rows of [`Self::late_writes`].
    pub takes: u32,
    /// The unit that executes it, by a number. Instructions of one unit read their rows one after the other, and write
    /// them one after the other, so that a barrier of a later one is enough for an earlier one that sets none.
    pub unit: Option<u8>,
    /// A unit whose earlier instructions have read their rows when this one is done, also if they set no barrier.
    pub drains: Option<u8>,
    /// The cycles after its beginning until it reads its rows.
    pub lead: u32,
    /// The cycles until the next instruction begins.
    pub stall: u32,
    /// The cycles until its barriers count it.
    pub settles: u32,
}

/// A promise that a schedule breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScoreboardFault {
    /// An instruction uses a row while an earlier one may still write it or read it.
    NotAwaited {
        /// The name of the row.
        row: Box<str>,
        /// Whether the later instruction writes the row.
        is_written: bool,
        /// The name of the earlier instruction.
        earlier: &'static str,
        /// Whether the earlier instruction reads the row, rather than writes it.
        of_source: bool,
        /// The barrier that says when it is done; `None` if it sets none.
        barrier: Option<u8>,
    },
    /// An instruction waits for a barrier that does not count an earlier one yet, and so does not wait.
    Unsettled {
        /// The barrier.
        barrier: u8,
        /// The name of the earlier instruction.
        earlier: &'static str,
        /// The cycles between both.
        cycles: u64,
        /// The cycles until the barrier counts it.
        needed: u32,
    },
    /// An instruction reads a row before its value is there.
    Early {
        /// The name of the row.
        row: Box<str>,
        /// The name of the earlier instruction.
        earlier: &'static str,
        /// The cycles between both.
        cycles: u64,
        /// The cycles that the value takes.
        needed: u32,
    },
}

impl ScoreboardFault {
    /// Describes the fault; `place` says where the earlier instruction is: `at 0x88`.
    #[must_use]
    pub fn text(&self, place: &str) -> String {
        match self {
            Self::NotAwaited { row, is_written, earlier, of_source, barrier } => {
                let used = if *is_written { "overwritten" } else { "read" };
                let what = if *of_source { ", which reads it," } else { "" };
                let cause = match barrier {
                    Some(number) => {
                        format!("it sets barrier {number}, and no wait for it lies between")
                    }
                    None => "it sets no barrier".to_owned(),
                };
                format!(
                    "{row} is {used}, but the {earlier} {place}{what} has not been waited for: {cause}"
                )
            }
            Self::Unsettled { barrier, earlier, cycles, needed } => {
                let unit = if *cycles == 1 { "cycle" } else { "cycles" };
                format!(
                    "barrier {barrier} is waited for {cycles} {unit} after the {earlier} {place}, which it counts after \
                     {needed}"
                )
            }
            Self::Early { row, earlier, cycles, needed } => {
                let unit = if *cycles == 1 { "cycle" } else { "cycles" };
                format!(
                    "{row} is used {cycles} {unit} after the {earlier} {place}, whose result takes {needed}"
                )
            }
        }
    }
}

impl fmt::Display for ScoreboardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("before it"))
    }
}

/// A broken promise, with the earlier instruction and the lanes that both have.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) other: Site,
    pub(crate) lanes: u32,
    pub(crate) fault: ScoreboardFault,
}

/// An instruction that has begun and may not be done.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    site: Site,
    name: &'static str,
    lanes: u32,
    writes: RowSet,
    reads: RowSet,
    /// Whether a barrier counts it for its results, and for its sources. One that sets none may never be done.
    write_barrier: Option<u8>,
    read_barrier: Option<u8>,
    unit: Option<u8>,
    begun: u64,
    /// The cycles until its barriers count it.
    settles: u32,
    /// The cycles until it is done, at least.
    takes: u32,
}

impl InFlight {
    /// Whether a barrier counts it.
    fn is_counted_by(&self, barrier: u8) -> bool {
        [self.write_barrier, self.read_barrier].contains(&Some(barrier))
    }

    /// The barriers that count it, one bit each.
    fn barriers(&self) -> u8 {
        let barriers = [self.write_barrier, self.read_barrier].into_iter().flatten();
        barriers.fold(0, |mask, barrier| mask | bit(barrier))
    }

    /// Whether nothing is left to wait for.
    fn is_done(&self) -> bool {
        let is_counted = self.write_barrier.is_some() || self.read_barrier.is_some();
        self.writes.is_empty() && self.reads.is_empty() && !is_counted
    }
}

/// A value of a row that takes a known number of cycles.
#[derive(Clone, Copy, Debug)]
struct Value {
    site: Site,
    name: &'static str,
    lanes: u32,
    begun: u64,
    needed: u32,
    /// Whether it replaces the guard of its instruction.
    is_guard: bool,
}

impl Value {
    fn ready(&self) -> u64 {
        self.begun + u64::from(self.needed)
    }
}

/// The state of a warp. Barriers and cycles are those of all its lanes; rows are those of the lanes that write and read
/// them, because lanes that have diverged do not use each other's values.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// The cycle in which the next instruction begins.
    now: u64,
    /// The last instruction.
    last: Option<Site>,
    in_flight: VecDeque<InFlight>,
    /// The rows that those in flight write and read, and the barriers that count one, one bit each.
    writing: RowSet,
    reading: RowSet,
    counting: u8,
    /// The rows with a value that may not be there.
    soon: RowSet,
    values: Vec<Option<Value>>,
}

impl Scoreboard {
    pub(crate) fn clear(&mut self) {
        self.in_flight.clear();
        self.last = None;
        (self.writing, self.reading, self.counting) = Default::default();
        self.soon = RowSet::default();
    }

    /// Judges an instruction that begins in the lanes of a path, of which some execute it.
    pub(crate) fn begin(
        &mut self,
        of: &Scheduled,
        site: Site,
        code: &Code,
        (path, exec): (u32, u32),
    ) -> Vec<Finding> {
        // Another instruction than the next one: a jump, or other lanes go on.
        if self.last.is_some_and(|last| last.0 + 1 != site.0) {
            self.now += LONG;
        }
        self.last = Some(site);
        let mut findings = Vec::new();
        self.wait(of, &mut findings);
        let mut judge = Judge { code, findings: &mut findings };
        let now = self.now;
        self.judge_values(&of.guard, now, (path, exec), &mut judge);
        self.judge_in_flight(&of.guard, path, None, &mut judge);
        if exec != 0 {
            self.judge_values(&of.reads, now + u64::from(of.lead), (exec, exec), &mut judge);
            self.judge_in_flight(&of.reads, exec, None, &mut judge);
            self.judge_in_flight(&of.writes, exec, Some(of), &mut judge);
        }
        self.add(of, site, exec);
        self.now += u64::from(of.stall);
        findings
    }

    /// Takes from the list what an instruction waits for.
    fn wait(&mut self, of: &Scheduled, findings: &mut Vec<Finding>) {
        let waits = of.waits | of.waits_later;
        let until = of.waits_until.map_or(0, |(barrier, _)| bit(barrier));
        if (waits | until) & self.counting == 0 {
            return;
        }
        // The first instructions that the barrier counts, apart from the last ones.
        let mut left = of.waits_until.map_or(0, |(barrier, most)| {
            let counted = self.in_flight.iter().filter(|one| one.is_counted_by(barrier)).count();
            counted.saturating_sub(most as usize)
        });
        let mut begins = self.now;
        // The last instruction of each unit that has written, and the last one that has read.
        let (mut written, mut read) = ([0; UNITS], [0; UNITS]);
        for (at, one) in self.in_flight.iter_mut().enumerate() {
            let mut is_awaited = |barrier: Option<u8>| match (barrier, of.waits_until) {
                (None, _) => false,
                (Some(barrier), _) if waits & bit(barrier) != 0 => true,
                (Some(barrier), Some((until, _))) if barrier == until && left > 0 => {
                    left -= 1;
                    true
                }
                _ => false,
            };
            let barriers = [one.write_barrier, one.read_barrier];
            // What has been written has read its sources before.
            let has_written = is_awaited(one.write_barrier);
            let has_read = is_awaited(one.read_barrier) || has_written;
            let cycles = self.now - one.begun;
            let mut now = barriers.into_iter().flatten();
            let now = now.find(|barrier| of.waits & bit(*barrier) != 0 && one.lanes != 0);
            if let Some(barrier) = now.filter(|_| cycles < u64::from(one.settles)) {
                let (earlier, needed) = (one.name, one.settles);
                let fault = ScoreboardFault::Unsettled { barrier, earlier, cycles, needed };
                findings.push(Finding { other: one.site, lanes: one.lanes, fault });
            }
            let unit = one.unit.map(|unit| usize::from(unit) % UNITS);
            if has_written {
                begins = begins.max(one.begun + u64::from(one.takes));
                (one.writes, one.write_barrier) = (RowSet::default(), None);
                unit.into_iter().for_each(|unit| written[unit] = at);
            }
            if has_read {
                (one.reads, one.read_barrier) = (RowSet::default(), None);
                unit.into_iter().for_each(|unit| read[unit] = at);
            }
        }
        for (at, one) in self.in_flight.iter_mut().enumerate() {
            let Some(unit) = one.unit.map(|unit| usize::from(unit) % UNITS) else { continue };
            if at < written[unit] && one.write_barrier.is_none() {
                one.writes = RowSet::default();
            }
            if at < read[unit] && one.read_barrier.is_none() {
                one.reads = RowSet::default();
            }
        }
        self.now = begins;
        self.sum_up();
    }

    fn sum_up(&mut self) {
        self.in_flight.retain(|one| !one.is_done());
        (self.writing, self.reading, self.counting) = Default::default();
        for one in &self.in_flight {
            self.writing = self.writing.or(&one.writes);
            self.reading = self.reading.or(&one.reads);
            self.counting |= one.barriers();
        }
    }

    /// Finds the rows that are read in a cycle before their value is there, in lanes of a path.
    fn judge_values(
        &mut self,
        rows: &RowSet,
        cycle: u64,
        (path, exec): (u32, u32),
        judge: &mut Judge<'_>,
    ) {
        for row in rows.and(&self.soon).rows() {
            let value = self.values.get(row as usize).copied().flatten();
            let Some(value) = value.filter(|value| value.ready() > self.now) else {
                self.soon.remove(row);
                continue;
            };
            // Where an instruction clears its own guard, the next ones with the other guard need not see it.
            let lanes = value.lanes & if value.is_guard { exec } else { path };
            if lanes == 0 || value.ready() <= cycle {
                continue;
            }
            let (earlier, needed) = (value.name, value.needed);
            let (row_name, cycles) = (judge.name(row), self.now - value.begun);
            let fault = ScoreboardFault::Early { row: row_name, earlier, cycles, needed };
            judge.findings.push(Finding { other: value.site, lanes, fault });
            self.soon.remove(row);
        }
    }

    /// Finds the rows that are read, or written by an instruction, while one in flight may use them.
    fn judge_in_flight(
        &mut self,
        rows: &RowSet,
        lanes: u32,
        writer: Option<&Scheduled>,
        judge: &mut Judge<'_>,
    ) {
        let is_written = writer.is_some();
        let used = if is_written { self.writing.or(&self.reading) } else { self.writing };
        if rows.and(&used).is_empty() {
            return;
        }
        // A unit writes after all that it has begun before.
        let unit = writer.filter(|of| of.cycles.is_empty()).and_then(|of| of.unit);
        for one in &mut self.in_flight {
            if one.lanes & lanes == 0 || unit.is_some() && one.unit == unit {
                continue;
            }
            let of_source = rows.and(&one.writes).is_empty();
            if of_source && !is_written {
                continue;
            }
            let used = if of_source { one.reads } else { one.writes };
            let Some(row) = rows.and(&used).rows().next() else { continue };
            let barrier = match of_source {
                true => one.read_barrier.or(one.write_barrier),
                false => one.write_barrier,
            };
            let (row, earlier) = (judge.name(row), one.name);
            let fault =
                ScoreboardFault::NotAwaited { row, is_written, earlier, of_source, barrier };
            judge.findings.push(Finding { other: one.site, lanes: one.lanes & lanes, fault });
            // Its other rows are not reported as well.
            (one.writes, one.reads) = Default::default();
        }
        self.sum_up();
    }

    /// Adds an instruction that lanes execute, or none.
    fn add(&mut self, of: &Scheduled, site: Site, lanes: u32) {
        for (row, needed) in of.cycles.iter().copied().filter(|_| lanes != 0) {
            let at = row as usize;
            if at >= self.values.len() {
                self.values.resize(at + 1, None);
            }
            let (name, begun, is_guard) = (of.name, self.now, of.guard.has(row));
            let value = Value { site, name, lanes, begun, needed, is_guard };
            let is_kept = self.soon.has(row)
                && self.values[at]
                    .is_some_and(|old| old.lanes & !lanes != 0 && old.ready() > value.ready());
            if !is_kept {
                self.values[at] = Some(value);
                self.soon.insert(row);
            }
        }
        // One that no lane executes is counted, too.
        let (writes, reads) = match lanes {
            0 => Default::default(),
            _ => (of.late_writes, of.late_reads),
        };
        if of.drains.is_some() && lanes != 0 {
            let drained = self.in_flight.iter_mut().filter(|one| one.unit == of.drains);
            drained.for_each(|one| one.reads = RowSet::default());
            self.sum_up();
        }
        let one = InFlight {
            site,
            name: of.name,
            lanes,
            writes,
            reads,
            write_barrier: of.write_barrier,
            read_barrier: of.read_barrier,
            unit: of.unit,
            begun: self.now,
            settles: of.settles,
            takes: of.takes,
        };
        if one.is_done() {
            return;
        }
        let is_full = self.in_flight.len() >= MOST_COUNTED;
        let barriers = [of.write_barrier, of.read_barrier].into_iter().flatten();
        for barrier in barriers.filter(|_| is_full) {
            let mut counted = self.in_flight.iter().enumerate();
            let first = counted.find(|(_, one)| one.is_counted_by(barrier)).map(|(at, _)| at);
            let count = self.in_flight.iter().filter(|one| one.is_counted_by(barrier)).count();
            if let Some(first) = first.filter(|_| count >= MOST_COUNTED) {
                self.in_flight.remove(first);
            }
        }
        if self.in_flight.len() >= MOST_IN_FLIGHT {
            self.in_flight.pop_front();
        }
        self.in_flight.push_back(one);
        self.writing = self.writing.or(&writes);
        self.reading = self.reading.or(&reads);
        self.counting |= one.barriers();
    }
}

/// What the judgements of an instruction have in common.
struct Judge<'j> {
    code: &'j Code,
    findings: &'j mut Vec<Finding>,
}

impl Judge<'_> {
    fn name(&self, row: u32) -> Box<str> {
        self.code.row_names.get(row as usize).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_rows() {
        let rows = [0, 63, 64, 255, RowSet::CAPACITY - 1];
        let mut set: RowSet = rows.into_iter().chain([RowSet::CAPACITY, u32::MAX]).collect();
        assert_eq!(set.rows().collect::<Vec<_>>(), rows);
        assert!(set.has(64) && !set.has(65) && !set.has(RowSet::CAPACITY));
        let other = RowSet::from_iter([64, 65]);
        assert_eq!(set.and(&other).rows().collect::<Vec<_>>(), [64]);
        assert_eq!(set.or(&other).rows().count(), 6);
        assert_eq!(set.without(&other).rows().count(), 4);
        rows.into_iter().for_each(|row| set.remove(row));
        set.remove(RowSet::CAPACITY);
        assert!(set.is_empty());
    }

    /// A program whose barriers nothing waits for keeps a bounded list, whatever their numbers are.
    #[test]
    fn the_list_is_bounded() {
        let (code, mut scoreboard) = (Code::default(), Scoreboard::default());
        for number in 0..10_000_u32 {
            let barrier = Some(number as u8);
            let of = Scheduled {
                write_barrier: barrier.filter(|_| number % 3 > 0),
                read_barrier: barrier.filter(|_| number % 2 > 0),
                late_writes: RowSet::from_iter([number % 300]),
                waits_until: Some((number as u8, 63)),
                unit: Some(number as u8),
                ..Scheduled::default()
            };
            assert!(scoreboard.begin(&of, Site(number), &code, (1, 1)).is_empty());
            assert!(scoreboard.in_flight.len() <= MOST_IN_FLIGHT);
        }
    }
}
