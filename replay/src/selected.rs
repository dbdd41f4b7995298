//! [`NothingSelected`]: why a replay counted no access although some were requested.

use warpload_binary::names::{Demangled, did_you_mean, nearest};
use warpload_trace::{BinaryTrace, OperationKind};

use crate::options::{ReplayOptions, Selected, Selection};
use crate::summary::Summary;

/// A selection without accesses. Most likely one of its words is misspelt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NothingSelected {
    /// No kernel has such a name.
    #[error("no kernel name matches `{pattern}`{}", did_you_mean(nearest))]
    Kernel {
        /// The pattern.
        pattern: String,
        /// The most similar names.
        nearest: Vec<String>,
    },
    /// No access has such an opcode.
    #[error("no opcode of a memory access matches `{glob}`{}", did_you_mean(nearest))]
    Opcode {
        /// The glob.
        glob: String,
        /// The most similar opcodes.
        nearest: Vec<String>,
    },
    /// No access is at such a program counter, among accesses that satisfy the rest of the selection.
    #[error(
        "no memory access is at program counter {pc}; the nearest are at {}",
        hexadecimal(nearest)
    )]
    Pc {
        /// The program counters.
        pc: String,
        /// The nearest one before and after.
        nearest: Vec<u32>,
    },
    /// No access satisfies the whole selection.
    #[error("nothing is selected: no memory access has {selected}")]
    Together {
        /// The whole selection.
        selected: Selected,
    },
}

fn hexadecimal(pcs: &[u32]) -> String {
    pcs.iter().map(|pc| format!("{pc:#x}")).collect::<Vec<_>>().join(" and ")
}

impl NothingSelected {
    /// Returns why a replay of a trace with these options counted nothing although some accesses were selected. `None`
    /// if it did, or if zero is a proper answer: no access is of the selected memory, or none is in the shard.
    #[must_use]
    pub fn find(
        summary: &Summary,
        trace: &BinaryTrace,
        options: &ReplayOptions<'_>,
    ) -> Option<Self> {
        let selection = options.selection;
        let selection = selection.filter(|_| summary.counts.all().accesses == 0)?;
        let contents = trace.contents();
        let Selected { kernel, pc, opcode, .. } = &selection.selected;
        if let (Some(pattern), Some(flags)) = (kernel, &selection.kernels)
            && !flags.contains(&true)
        {
            let demangled = Demangled::new(contents.kernels.iter().map(|kernel| &kernel.name));
            let names = contents.kernels.iter();
            let names = names.map(|kernel| demangled.or_name(&kernel.name).to_owned());
            let nearest = nearest(pattern, names);
            return Some(NothingSelected::Kernel { pattern: pattern.clone(), nearest });
        }
        let counted = contents.operations.iter().enumerate();
        let mut counted = counted.filter(|(_, operation)| is_counted(operation.kind));
        if let Some(glob) = opcode
            && !counted.clone().any(|(number, _)| allows(&selection.operations, number))
        {
            let opcodes = counted.by_ref().map(|(_, operation)| operation.opcode.to_string());
            let nearest = nearest(glob, opcodes);
            return Some(NothingSelected::Opcode { glob: glob.clone(), nearest });
        }
        if options.shard.is_some() {
            return None;
        }
        let found = Counters::find(selection, trace);
        if found.has_selected {
            return None;
        }
        let nearest: Vec<u32> = [found.before, found.after].into_iter().flatten().collect();
        Some(match pc {
            Some(pc) if !nearest.is_empty() => NothingSelected::Pc { pc: pc.clone(), nearest },
            _ => NothingSelected::Together { selected: selection.selected.clone() },
        })
    }
}

impl Summary {
    /// Returns an error if accesses were selected and none was counted; `None` if zero is a proper answer: none is of
    /// the selected memory.
    #[must_use]
    pub fn nothing_selected(&self) -> Option<NothingSelected> {
        let selected = self.selected.as_ref().filter(|selected| selected.space.is_none())?;
        let is_nothing = self.counts.all().accesses == 0;
        is_nothing.then(|| NothingSelected::Together { selected: selected.clone() })
    }
}

/// Whether selections apply to instructions of this kind.
fn is_counted(kind: OperationKind) -> bool {
    use OperationKind::{Atomic, Copy, Load, Store};
    matches!(kind, Load | Store | Atomic | Copy)
}

fn allows(list: &Option<Vec<bool>>, i: usize) -> bool {
    list.as_ref().is_none_or(|list| list.get(i).copied().unwrap_or(false))
}

/// The program counters of accesses that satisfy the rest of the selection, except for the memory.
#[derive(Default)]
struct Counters {
    /// Whether the selection includes one of these program counters.
    has_selected: bool,
    /// The nearest ones before and after the selection.
    before: Option<u32>,
    after: Option<u32>,
}

impl Counters {
    fn find(selection: &Selection, trace: &BinaryTrace) -> Self {
        let mut found = Self::default();
        let of_kernels =
            trace.blocks().iter().filter(|raw| allows(&selection.kernels, raw.kernel as usize));
        // No block fails here, because all of them have been replayed.
        for block in of_kernels.filter_map(|raw| trace.block(raw).ok()) {
            let records = (0..block.raw().records as usize).filter_map(|i| block.record(i).ok());
            for record in records {
                let operation = usize::from(record.operation);
                if is_counted(record.operation().kind) && allows(&selection.operations, operation) {
                    found.add(record.pc, selection);
                }
            }
        }
        found
    }

    fn add(&mut self, pc: u32, selection: &Selection) {
        let pcs = selection.pcs.clone().unwrap_or(0..=u32::MAX);
        if pc < *pcs.start() {
            self.before = self.before.max(Some(pc));
        } else if pc > *pcs.end() {
            self.after = Some(self.after.map_or(pc, |after| after.min(pc)));
        } else {
            self.has_selected = true;
        }
    }
}
