//! The rows of a summary together with the operations that they stand for.

use crate::encoding::Instruction;
use crate::trace::{Contents, PcSummary, Replayed, Summary};

/// One program counter.
#[derive(Clone, Copy, Debug)]
pub struct Row<'p> {
    pub(super) kernel: usize,
    pub(super) pc: u32,
    /// Its counts.
    pub summary: &'p PcSummary,
    /// The instruction word, where the trace has it.
    word: Option<u64>,
    /// Whether its loads can reach global memory. Sectors of others are not counted, and their
    /// zeros say nothing.
    pub has_sectors: bool,
}

impl Row<'_> {
    /// The instruction's text, where the trace has its word and it is a load.
    pub fn sass(&self) -> Option<String> {
        Instruction::decode(self.word?).map(|instruction| instruction.to_string())
    }

    /// Returns the sectors that the bytes asked for did not need; negative infinity if sectors are
    /// not counted, so that such rows come last.
    pub fn waste(&self) -> f64 {
        if !self.has_sectors {
            return f64::NEG_INFINITY;
        }
        self.sectors() - self.summary.ideal_sectors as f64
    }

    /// Sectors of all its loads.
    pub(super) fn sectors(&self) -> f64 {
        self.summary.sectors.mean * self.summary.loads as f64
    }

    /// The fewest sectors that a load needs, on average.
    pub(super) fn ideal(&self) -> f64 {
        super::text::per(self.summary.ideal_sectors, self.summary.loads)
    }

    /// Lane faults of all kinds.
    pub(super) fn lane_faults(&self) -> u64 {
        self.summary.lane_faults.all()
    }
}

/// All rows, in launch order of the kernels, then by program counter.
pub fn rows<'p>(summary: &'p Summary, replayed: &Replayed, contents: &Contents) -> Vec<Row<'p>> {
    let operations = &contents.operations;
    let row = |(summary, (kernel, pc, operation)): (&'p PcSummary, (usize, u32, u16))| Row {
        kernel,
        pc,
        summary,
        word: operations.get(usize::from(operation)).and_then(|operation| operation.word),
        has_sectors: operations
            .get(usize::from(operation))
            .is_none_or(|operation| operation.reaches_global()),
    };
    summary.per_pc.iter().zip(replayed.program_counters()).map(row).collect()
}

/// The `most` rows with the highest `weight`, in their old order.
pub(super) fn heaviest<'p>(
    rows: &[Row<'p>],
    most: usize,
    weight: impl Fn(&Row<'p>) -> f64,
) -> Vec<Row<'p>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&one, &other| weight(&rows[other]).total_cmp(&weight(&rows[one])));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|i| rows[i]).collect()
}
