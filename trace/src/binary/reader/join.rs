//! [`Join`]: binary traces that become one.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::part::{Operations, TraceFile};
use super::{BinaryTrace, Totals};
use crate::binary::contents::{Kernel, TraceContents};
use crate::binary::error::TraceError;
use crate::binary::format::RawBlock;
use crate::operation::MemoryOperation;

/// A trace to which parts are added.
pub(crate) struct Join {
    trace: BinaryTrace,
    /// The number of each operation.
    operations: FxHashMap<MemoryOperation, u16>,
    /// The texts of kernels, each once.
    names: FxHashSet<Arc<str>>,
    /// What precedes the next part.
    before: Totals,
}

impl Join {
    /// Creates the whole, of `totals` and `contents`, without parts; the kernels of `contents` are left out.
    /// `before` is what precedes the first part added.
    pub(crate) fn new(
        totals: Totals,
        checksum: u32,
        contents: &TraceContents,
        before: Totals,
    ) -> Self {
        let mut operations = FxHashMap::default();
        for (number, operation) in (0..=u16::MAX).zip(&contents.operations) {
            operations.entry(operation.clone()).or_insert(number);
        }
        let contents = TraceContents { kernels: Vec::new(), ..contents.clone() };
        let (parts, blocks) = (Vec::new(), Vec::new());
        let first_kernel = before.kernels as usize;
        let inputs = Vec::new();
        let trace = BinaryTrace { parts, contents, blocks, totals, checksum, first_kernel, inputs };
        Self { trace, operations, names: FxHashSet::default(), before }
    }

    /// Adds the next part, a trace of one file.
    ///
    /// # Errors
    /// Returns [`TraceError`] if the trace cannot be a part, or has an operation that the whole does not
    /// have.
    pub(crate) fn add(&mut self, file: &Path, part: BinaryTrace) -> Result<(), TraceError> {
        part.check_is_part().map_err(|error| error.of_part(file))?;
        let BinaryTrace { parts, contents, blocks, totals, .. } = part;
        let operations = self.operations(&contents).map_err(|error| error.of_part(file))?;
        let first_kernel = self.trace.contents.kernels.len() as u32;
        let join = |part: TraceFile| part.join(file, first_kernel, operations.clone());
        self.trace.parts.extend(parts.into_iter().map(join));
        for kernel in contents.kernels {
            let kernel = self.share(kernel);
            self.trace.contents.kernels.push(kernel);
        }
        self.trace.blocks.extend(blocks.into_iter().map(|block| RawBlock {
            first_record: block.first_record + self.before.records,
            first_memory_record: block.first_memory_record + self.before.memory_records,
            kernel: block.kernel + first_kernel,
            ..block
        }));
        self.before.records += totals.records;
        self.before.memory_records += totals.memory_records;
        Ok(())
    }

    /// Returns the whole's number of each operation of a part.
    fn operations(&self, part: &TraceContents) -> Result<Operations, TraceError> {
        let number = |operation: &MemoryOperation| {
            self.operations.get(operation).copied().ok_or_else(|| TraceError::OtherPart {
                message: format!("the set does not have its operation {:?}", operation.opcode),
            })
        };
        let numbers = part.operations.iter().map(number).collect::<Result<Box<[u16]>, _>>()?;
        let is_same = (0..=u16::MAX).zip(&numbers).all(|(own, number)| own == *number);
        Ok(if is_same { Operations::Same(numbers.len()) } else { Operations::Others(numbers) })
    }

    fn share(&mut self, mut kernel: Kernel) -> Kernel {
        let header = kernel.header.iter_mut().flat_map(|(key, value)| [key, value]);
        for name in header.chain([&mut kernel.name]) {
            match self.names.get(name) {
                Some(known) => *name = Arc::clone(known),
                None => drop(self.names.insert(Arc::clone(name))),
            }
        }
        kernel
    }

    /// Returns the trace of all parts that were added.
    pub(crate) fn finish(self) -> BinaryTrace {
        self.trace
    }
}

impl BinaryTrace {
    /// Checks that the trace is one file whose numbers can be those of a part.
    ///
    /// # Errors
    /// Returns [`TraceError::NoPart`] if it is not.
    pub(crate) fn check_is_part(&self) -> Result<(), TraceError> {
        let message = if self.parts.len() != 1 || self.parts.iter().any(|part| part.file.is_some())
        {
            "it is a trace set itself; expected a binary trace"
        } else if self.has_loads_only() {
            "a binary trace of version 1, of which only loads are known; expected version 2"
        } else {
            return Ok(());
        };
        Err(TraceError::NoPart { message })
    }

    /// Returns the size of a trace of one file.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes.bytes().len() as u64).sum()
    }
}
