//! [`LaunchTrace`]: the memory instructions of a launch as a binary trace. [`AccessStatements`]: what traces and counts know
//! about the instructions of accesses.

use std::collections::HashMap;
use std::io::{self, Seek, Write};
use std::sync::Arc;

use super::kernel::{Kernel, KernelLaunch};
use super::written::{Place, Written, shortened};
use crate::module::{Module, NameMap, StatementId};
use crate::syntax::StateSpace;
use warpload::lane::LANES;
use warpload::memory::{AddressMap, AddressSpace};
use warpload_machine::{AccessKind, MemoryAccess, MemoryObserver};
use warpload_trace::binary::PtxPlace;
use warpload_trace::{
    Kernel as TraceKernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter, WarpPosition,
};

/// Returns the launch of a kernel as a trace has it.
#[must_use]
pub fn traced_kernel(kernel: &Kernel<'_>, launch: &KernelLaunch) -> TraceKernel {
    let map = AddressMap::default();
    TraceKernel {
        name: shortened(kernel.name()).into(),
        grid: launch.options.grid,
        block: launch.options.block,
        shared_base: Some(map.shared().base),
        local_base: Some(map.local().base),
        ..TraceKernel::default()
    }
}

/// The instructions that access memory in a launch, so that a trace of it and counts without a trace name them alike. Their
/// program counters are their offsets in the module's text, in bytes: unlike lines, they differ for all instructions.
///
/// Loads of parameters are left out, because SASS has no instruction for them: it reads parameters as operands from a
/// constant bank.
#[derive(Debug)]
pub struct AccessStatements<'m> {
    module: &'m Module<'m>,
    /// A map rather than a list of all statements, because a launch executes few of a large module.
    known: NameMap<StatementId, AccessStatement>,
    without_number: u64,
}

/// An instruction that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessStatement {
    /// Its program counter.
    pub pc: u32,
    /// The number of its operation; `None` if its accesses are left out.
    pub operation: Option<u16>,
    registers: usize,
    is_signed: bool,
}

/// Where an instruction that accessed memory is in the module, and its source line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessLine {
    /// Its program counter.
    pub pc: u32,
    /// Its place in the module.
    pub place: PtxPlace,
    /// Its text.
    pub text: String,
    /// The file of its source line, if known.
    pub source_file: Option<Arc<str>>,
    /// Its source line, from 1.
    pub source_line: Option<u32>,
}

impl<'m> AccessStatements<'m> {
    /// No statement of a kernel's module yet.
    #[must_use]
    pub fn new(kernel: &Kernel<'m>) -> Self {
        Self { module: kernel.module(), known: NameMap::default(), without_number: 0 }
    }

    /// No statement of the same module yet.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self { module: self.module, known: NameMap::default(), without_number: 0 }
    }

    /// Adds the statements of blocks that ran beside these ones, whose operations have other numbers.
    pub fn extend(&mut self, later: Self, number: impl Fn(u16) -> Option<u16>) {
        self.without_number += later.without_number;
        for (id, known) in later.known {
            let operation = known.operation.and_then(&number);
            self.known.entry(id).or_insert_with(|| {
                let is_left_out = known.operation.is_some() && operation.is_none();
                self.without_number += u64::from(is_left_out);
                AccessStatement { operation, ..known }
            });
        }
    }

    /// Returns the instruction of an access. At the first access, `number` gives its operation a number.
    #[inline]
    pub fn find(
        &mut self,
        access: &MemoryAccess<'_>,
        number: impl FnOnce(&MemoryOperation) -> Option<u16>,
    ) -> AccessStatement {
        match self.known.get(&StatementId(access.site.0)) {
            Some(known) => *known,
            None => self.add(access, number),
        }
    }

    #[cold]
    fn add(
        &mut self,
        access: &MemoryAccess<'_>,
        number: impl FnOnce(&MemoryOperation) -> Option<u16>,
    ) -> AccessStatement {
        let mut added = AccessStatement { pc: 0, operation: None, registers: 1, is_signed: false };
        let id = StatementId(access.site.0);
        if let Some(instruction) = self.module.instruction(id) {
            let mut opcode = self.module.text(instruction.opcode_span).to_owned();
            for qualifier in instruction.qualifiers() {
                opcode += self.module.text(qualifier.span);
            }
            if access.kind == AccessKind::Copy {
                // The size is an operand.
                opcode += &format!(".{}", access.bytes);
            }
            let operation = MemoryOperation::of_opcode(&opcode);
            debug_assert_eq!(operation.bytes(), Some(access.bytes), "{opcode}");
            added.pc = instruction.span.start;
            added.is_signed = operation.signed;
            added.registers = operation.registers() as usize;
            if instruction.space().is_none_or(|space| space.0 != StateSpace::Param) {
                added.operation = number(&operation);
                self.without_number += u64::from(added.operation.is_none());
            }
        }
        self.known.insert(id, added);
        added
    }

    /// Returns a note about the instructions whose operations got no number, because there are too many; `None` if all
    /// have one.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let statements = Some(self.without_number).filter(|statements| *statements > 0)?;
        let plural = if statements == 1 { "" } else { "s" };
        Some(format!(
            "the accesses of {statements} instruction{plural} are left out, because there are more than 65536 different \
             operations"
        ))
    }

    /// Returns the lines of the instructions with an operation, in the order of the text.
    pub fn lines(&self) -> impl Iterator<Item = AccessLine> {
        let written = Written::new(self.module);
        let mut files: HashMap<u32, Option<Arc<str>>> = HashMap::new();
        let numbered = self.known.iter().filter(|(_, known)| known.operation.is_some());
        let mut numbered: Vec<_> = numbered.map(|(id, known)| (*id, known.pc)).collect();
        numbered.sort_unstable();
        numbered.into_iter().map(move |(id, pc)| {
            let location = self.module.location(id);
            let file = location.and_then(|location| {
                let file = files.entry(location.file);
                file.or_insert_with(|| written.file(location)).clone()
            });
            let Place { line, column } = written.place(id);
            AccessLine {
                pc,
                place: PtxPlace { line, column },
                text: written.line_and_text(id).1,
                source_file: file,
                source_line: location.map(|location| location.line),
            }
        })
    }
}

/// Writes the memory instructions of a launch as a binary trace. The trace can be replayed without the module, because
/// it contains the PTX of each instruction. The fragments of `wmma` are left out, because PTX does not specify the
/// address of each lane.
#[derive(Debug)]
pub struct LaunchTrace<'m, W> {
    statements: AccessStatements<'m>,
    writer: TraceWriter<W>,
    addresses: Vec<u64>,
    values: Vec<u32>,
    failed: Option<io::Error>,
}

impl<'m, W: Write + Seek> LaunchTrace<'m, W> {
    /// Begins the trace of a launch at the start of `output`. It has the values that loads return and stores write, 32
    /// bits for each lane and register; an instruction with an unknown value in any lane has none. `source` names the
    /// program and the module.
    ///
    /// # Errors
    /// Returns the errors of `output`.
    pub fn new(
        kernel: &Kernel<'m>,
        launch: &KernelLaunch,
        source: String,
        output: W,
    ) -> io::Result<Self> {
        let mut writer = TraceWriter::new(output, source)?;
        writer.kernel(traced_kernel(kernel, launch))?;
        Ok(Self {
            statements: AccessStatements::new(kernel),
            writer,
            addresses: Vec::with_capacity(LANES),
            values: Vec::new(),
            failed: None,
        })
    }

    /// Adds a note for readers of results.
    pub fn note(&mut self, note: &str) {
        self.writer.note(note);
    }

    /// Writes the rest of the trace, and returns the output.
    ///
    /// # Errors
    /// Returns the first error of the output.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some(note) = self.statements.left_out() {
            self.writer.may_be_cut_off(&*note);
        }
        for AccessLine { pc, place, text, source_file, source_line } in self.statements.lines() {
            let source = source_line.map(|line| (source_file.as_deref(), line));
            self.writer.ptx_line(pc, place, &text, source);
        }
        self.writer.finish()
    }

    fn write(&mut self, access: &MemoryAccess<'_>) -> io::Result<()> {
        let writer = &mut self.writer;
        let statement = self.statements.find(access, |operation| writer.operation(operation));
        let Some(operation) = statement.operation else { return Ok(()) };
        if self.failed.is_some() {
            return Ok(());
        }
        // The two sides of a copy share an operation. They have generic addresses, so that the replay can tell the
        // memories apart.
        let base = match (access.kind, access.space) {
            (AccessKind::Copy, AddressSpace::Shared) => AddressMap::default().shared().base,
            _ => 0,
        };
        self.addresses.clear();
        let lanes = access.executing.lanes();
        self.addresses.extend(lanes.map(|lane| access.addresses[lane].wrapping_add(base)));
        self.values.clear();
        // A record has the values of all of its lanes or none, and an unknown value must not look like a zero.
        let has_values = access.unknown.is_empty()
            && matches!(access.kind, AccessKind::Load | AccessKind::Store);
        if has_values {
            for register in 0..statement.registers {
                let value =
                    |lane: usize| value(&access.values[lane], access.bytes, register, statement);
                self.values.extend(access.executing.lanes().map(value));
            }
        }
        self.writer.place(Some(WarpPosition {
            cta: Some(access.block),
            warp: Some(access.warp),
            ..WarpPosition::default()
        }));
        let addresses = RecordAddresses::List(&self.addresses);
        let mut record = NewRecord::new(statement.pc, access.executing, operation, addresses);
        record.values = has_values.then_some(&self.values);
        self.writer.record(&record)
    }
}

/// The value of one register of a lane's access, extended to 32 bits.
fn value(bytes: &[u8; 32], size: u32, register: usize, statement: AccessStatement) -> u32 {
    match (size, statement.is_signed) {
        (1, true) => i32::from(bytes[0].cast_signed()).cast_unsigned(),
        (2, true) => i32::from(i16::from_le_bytes([bytes[0], bytes[1]])).cast_unsigned(),
        (1, false) => bytes[0].into(),
        (2, false) => u16::from_le_bytes([bytes[0], bytes[1]]).into(),
        _ => bytes.as_chunks::<4>().0.get(register).map_or(0, |word| u32::from_le_bytes(*word)),
    }
}

impl<W: Write + Seek> MemoryObserver for LaunchTrace<'_, W> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        if let Err(error) = self.write(access) {
            self.failed = Some(error);
        }
    }
}
