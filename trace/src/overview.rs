//! [`TraceOverview`]: an overview of a trace, from its index and its contents alone.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::binary::{BinaryTrace, TraceContents};
use crate::operation::{MemoryOperation, OperationKind};

/// An overview of a trace, in the JSON form that the command's `info` prints.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TraceOverview<'t> {
    /// Always `trace`.
    pub kind: &'static str,
    /// The program that wrote the trace, and its source.
    pub source: &'t str,
    /// The tools that produced the source.
    pub tools: &'t [String],
    /// Notes for readers.
    pub notes: &'t [String],
    /// Whether the trace is known to be complete; `None` if its format cannot tell.
    pub complete: Option<bool>,
    /// The hash of the contents, independent of the compression.
    pub content_hash: String,
    /// The number of instructions.
    pub instructions: u64,
    /// The number of loads.
    pub loads: u64,
    /// The number of storage blocks.
    pub blocks: usize,
    /// The opcodes of loads.
    pub opcodes: BTreeSet<OpcodeOverview<'t>>,
    /// The opcodes of other memory instructions.
    pub others: BTreeSet<OtherOverview<'t>>,
    /// The number of known allocations.
    pub allocations: usize,
    /// The kernels, in launch order.
    pub kernels: Vec<KernelOverview<'t>>,
}

/// The opcode of a load. Loads with different words can share one.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct OpcodeOverview<'t> {
    /// The opcode with its modifiers.
    pub opcode: &'t str,
    /// The memory that is addressed.
    pub space: &'static str,
    /// The size of a lane's access in bytes.
    pub bytes: u32,
    /// Whether values are sign-extended.
    pub signed: bool,
    /// Whether it is a `.U.128`.
    pub uniform: bool,
    /// The SPA 5.0 word of the opcode alone, if the trace is of SM 5.x or 6.x.
    pub word: Option<String>,
}

/// The opcode of a memory instruction that is not a load.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct OtherOverview<'t> {
    /// The opcode with its modifiers.
    pub opcode: &'t str,
    /// The kind of instruction.
    pub kind: OperationKind,
    /// The memory that is addressed.
    pub space: &'static str,
    /// The size of a lane's access in bytes; `None` if the opcode does not say.
    pub bytes: Option<u32>,
}

/// A kernel launch.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KernelOverview<'t> {
    /// Its name, as in the trace.
    pub name: &'t str,
    /// The thread blocks of the grid; zeros if the trace does not say.
    pub grid: [u32; 3],
    /// The threads of a block; zeros if the trace does not say.
    pub block: [u32; 3],
    /// The number of its instructions.
    pub instructions: u64,
    /// The number of its loads.
    pub loads: u64,
}

impl BinaryTrace {
    /// Returns an overview of the trace.
    #[must_use]
    pub fn overview(&self) -> TraceOverview<'_> {
        let contents = self.contents();
        let kernels = contents.kernels.iter();
        let mut kernels: Vec<KernelOverview<'_>> = kernels
            .map(|known| KernelOverview {
                name: &known.name,
                grid: known.grid,
                block: known.block,
                instructions: 0,
                loads: 0,
            })
            .collect();
        for block in self.blocks() {
            if let Some(kernel) = kernels.get_mut(block.kernel as usize) {
                kernel.instructions += u64::from(block.instructions);
                kernel.loads += u64::from(block.loads);
            }
        }
        TraceOverview {
            kind: "trace",
            source: &contents.source,
            tools: &contents.tools,
            notes: &contents.notes,
            complete: contents.complete.then_some(true),
            content_hash: self.content_hash().to_string(),
            instructions: self.instructions(),
            loads: self.loads(),
            blocks: self.blocks().len(),
            opcodes: opcodes(contents),
            others: others(contents),
            allocations: contents.allocations.len(),
            kernels,
        }
    }
}

fn opcodes(contents: &TraceContents) -> BTreeSet<OpcodeOverview<'_>> {
    let is_load = |operation: &&MemoryOperation| operation.kind == OperationKind::Load;
    let operations = contents.operations.iter().filter(is_load);
    operations
        .map(|operation| OpcodeOverview {
            opcode: &operation.opcode,
            space: operation.space_name(),
            bytes: operation.width.bytes(),
            signed: operation.signed,
            uniform: operation.uniform,
            word: operation.opcode_word.map(|word| format!("{word:#018x}")),
        })
        .collect()
}

fn others(contents: &TraceContents) -> BTreeSet<OtherOverview<'_>> {
    let operations =
        contents.operations.iter().filter(|operation| operation.kind != OperationKind::Load);
    operations
        .map(|operation| OtherOverview {
            opcode: &operation.opcode,
            kind: operation.kind,
            space: operation.space_name(),
            bytes: operation.bytes(),
        })
        .collect()
}
