//! [`Neighbours`]: finds loads with consecutive displacements. The [module](super) has the rule.

use std::collections::HashMap;

use super::remark::{Remark, RemarkKind};
use super::step::{
    AccessOrder, BaseRegisters, BranchTarget, Effect, Flow, LoadFacts, RegisterRange,
};

/// Takes one instruction after the other and finds neighbouring loads at the end, when all targets are known.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// The number of instructions so far, used as a clock.
    now: u64,
    /// The time of the last write to each register, to any predicate and to any uniform register; 0 for none.
    written: [u64; 256],
    predicate_written: u64,
    uniform_written: u64,
    /// The run of each form since memory was last written or the block ended.
    open: HashMap<u128, Run>,
    runs: Vec<RunInfo>,
    members: Vec<Member>,
    targets: Vec<u64>,
    has_unknown_target: bool,
}

/// Loads of one form, without a write to their memory or operands in between.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The time of the first load.
    began: u64,
    /// The index in `Neighbours::runs`.
    index: usize,
}

#[derive(Debug)]
struct RunInfo {
    kind: &'static str,
    /// The size of each load. Equal for all, because it is part of the form.
    bits: u32,
    base: BaseRegisters,
    widest: u32,
}

impl RunInfo {
    fn bytes(&self) -> i64 {
        i64::from(self.bits / 8)
    }
}

/// A load of a run.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The index in `Neighbours::runs`.
    run: usize,
    /// The number of branch targets up to this load, which identifies its block. Set when all targets are known.
    block: usize,
    displacement: i64,
    offset: u64,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self {
            now: 0,
            written: [0; 256],
            predicate_written: 0,
            uniform_written: 0,
            open: HashMap::new(),
            runs: Vec::new(),
            members: Vec::new(),
            targets: Vec::new(),
            has_unknown_target: false,
        }
    }
}

impl Neighbours {
    /// Takes the next instruction.
    pub(super) fn add(
        &mut self,
        offset: u64,
        load: Option<&LoadFacts>,
        effect: Effect,
        flow: Flow,
    ) {
        self.now += 1;
        if let Some(load) = load {
            self.load(offset, load);
        }
        for register in effect.registers.into_iter().flat_map(RegisterRange::numbers) {
            self.written[usize::from(register)] = self.now;
        }
        if effect.predicates {
            self.predicate_written = self.now;
        }
        if effect.uniform {
            self.uniform_written = self.now;
        }
        if effect.memory || flow.ends_block {
            self.open.clear();
        }
        match flow.target {
            BranchTarget::None => {}
            BranchTarget::At(target) => self.targets.push(target),
            BranchTarget::Unknown => self.has_unknown_target = true,
        }
    }

    /// From here on, blocks can begin anywhere.
    pub(super) fn lose_blocks(&mut self) {
        self.has_unknown_target = true;
    }

    pub(super) fn are_blocks_known(&self) -> bool {
        !self.has_unknown_target
    }

    fn load(&mut self, offset: u64, load: &LoadFacts) {
        let LoadFacts { bits, order, displacement, base, widest, kind, .. } = *load;
        let (Some(bits @ (32 | 64)), AccessOrder::Weak, Some(displacement)) =
            (bits, order, displacement)
        else {
            return;
        };
        let run = self.open.get(&load.form).filter(|run| run.began > self.last_write(load));
        let run = run.map_or(self.runs.len(), |run| run.index);
        if run == self.runs.len() {
            self.open.insert(load.form, Run { began: self.now, index: run });
            self.runs.push(RunInfo { kind, bits, base, widest });
        }
        self.members.push(Member { run, block: 0, displacement, offset });
    }

    /// The time of the last write to a register or predicate that a load reads.
    fn last_write(&self, load: &LoadFacts) -> u64 {
        let registers = load.base.registers.into_iter().flat_map(RegisterRange::numbers);
        let written = registers.map(|register| self.written[usize::from(register)]);
        let uniform = load.base.uniform.map(|_| self.uniform_written);
        let predicate = load.has_predicate.then_some(self.predicate_written);
        written.chain(uniform).chain(predicate).max().unwrap_or(0)
    }

    /// The remarks, unordered.
    pub(super) fn finish(mut self) -> Vec<Remark> {
        if self.has_unknown_target {
            return Vec::new();
        }
        self.targets.sort_unstable();
        self.targets.dedup();
        for member in &mut self.members {
            member.block = self.targets.partition_point(|target| *target <= member.offset);
        }
        let key = |member: &Member| (member.run, member.block);
        self.members.sort_unstable_by_key(|m| (key(m), m.displacement, m.offset));
        // Keeps the first of several loads of the same address.
        self.members.dedup_by_key(|member| (key(member), member.displacement));
        let mut remarks = Vec::new();
        for members in self.members.chunk_by(|a, b| key(a) == key(b)) {
            let Some(run) = members.first().and_then(|first| self.runs.get(first.run)) else {
                continue;
            };
            let mut rest = members;
            while !rest.is_empty() {
                let served = [4, 2].into_iter().find(|count| is_one_word(rest, *count, run));
                remarks.extend(served.and_then(|count| remark(rest.get(..count)?, run)));
                rest = rest.get(served.unwrap_or(1)..).unwrap_or_default();
            }
        }
        remarks
    }
}

/// Whether the first `count` loads together are one aligned word, no wider than the instruction can load.
fn is_one_word(members: &[Member], count: usize, run: &RunInfo) -> bool {
    let Some(members) = members.get(..count) else { return false };
    let bytes = count as i64 * run.bytes();
    let is_consecutive = |pair: &[Member]| match pair {
        [a, b] => b.displacement.checked_sub(a.displacement) == Some(run.bytes()),
        _ => false,
    };
    8 * bytes <= i64::from(run.widest)
        && members.first().is_some_and(|first| first.displacement % bytes == 0)
        && members.windows(2).all(is_consecutive)
}

fn remark(members: &[Member], run: &RunInfo) -> Option<Remark> {
    let mut offsets: Vec<u64> = members.iter().map(|member| member.offset).collect();
    offsets.sort_unstable();
    let (first, others) = offsets.split_first()?;
    let bits = run.bits * members.len() as u32;
    let (kind, base, others) = (run.kind, run.base, others.to_vec());
    Some(Remark {
        offset: Some(*first),
        kind: RemarkKind::Vectorizable { kind, others, bits, base },
    })
}
