//! [`LaunchTrace`]: the memory instructions of a launch as a binary trace.

use std::collections::HashMap;
use std::io::{self, Seek, Write};
use std::sync::Arc;

use super::access::AccessKind;
use super::launch::{Kernel, KernelLaunch, MemoryAccess, MemoryObserver};
use super::written::{Place, Written, shortened};
use crate::module::{Module, StatementId};
use crate::syntax::StateSpace;
use warpload::lane::LANES;
use warpload::memory::{AddressMap, AddressSpace};
use warpload_trace::binary::PtxPlace;
use warpload_trace::{
    Kernel as TraceKernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter, WarpPosition,
};

/// Writes the memory instructions of a launch as a binary trace. The trace can be replayed without the module, because
/// it contains the PTX of each instruction. Its program counters are the offsets of the instructions in the module's text, in
/// bytes: unlike lines, they differ for all instructions.
///
/// Loads of parameters are left out, because SASS has no instruction for them: it reads parameters as operands from a
/// constant bank. The fragments of `wmma` are left out, because PTX does not specify the address of each lane.
#[derive(Debug)]
pub struct LaunchTrace<'m, W> {
    module: &'m Module<'m>,
    writer: TraceWriter<W>,
    has_values: bool,
    /// Indexed by statement; `None` for statements that were not executed yet.
    statements: Vec<Option<Traced>>,
    addresses: Vec<u64>,
    values: Vec<u32>,
    failed: Option<io::Error>,
    /// The most bytes of the output.
    limit: u64,
    left_out: u64,
    accesses: u64,
}

/// The properties of a statement in the trace.
#[derive(Clone, Copy, Debug)]
struct Traced {
    pc: u32,
    /// The index of its operation; `None` if the trace leaves it out.
    operation: Option<u16>,
    registers: usize,
    is_signed: bool,
}

impl<'m, W: Write + Seek> LaunchTrace<'m, W> {
    /// Begins the trace of a launch at the start of `output`. With `has_values`, the trace has the values that loads
    /// return and stores write, 32 bits for each lane and register; an instruction with an unknown value in any lane has
    /// none. `source` names the program and the module.
    ///
    /// # Errors
    /// Returns the errors of `output`.
    pub fn new(
        kernel: &Kernel<'m>,
        launch: &KernelLaunch,
        has_values: bool,
        source: String,
        output: W,
    ) -> io::Result<Self> {
        let module = kernel.module();
        let mut writer = TraceWriter::new(output, source)?;
        let map = AddressMap::default();
        writer.kernel(TraceKernel {
            name: shortened(module.text(kernel.function().name)).into(),
            grid: launch.grid,
            block: launch.block,
            shared_base: Some(map.shared().base),
            local_base: Some(map.local().base),
            ..TraceKernel::default()
        })?;
        Ok(Self {
            module,
            writer,
            has_values,
            statements: vec![None; module.statements().len()],
            addresses: Vec::with_capacity(LANES),
            values: Vec::new(),
            failed: None,
            limit: u64::MAX,
            left_out: 0,
            accesses: 0,
        })
    }

    /// Leaves out all accesses after the output has `bytes` bytes. [`Self::left_out`] counts them.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Returns the number of accesses that the trace leaves out because of its limit, or because its output failed.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of accesses, including those that are left out.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
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
        if self.left_out > 0 {
            let note = format!("{} accesses are left out after the limit", self.left_out);
            self.writer.may_be_cut_off(&*note);
        }
        let written = Written::new(self.module);
        let mut files: HashMap<u32, Option<Arc<str>>> = HashMap::new();
        for (place, traced) in self.statements.iter().enumerate() {
            let Some(Traced { pc, operation: Some(_), .. }) = *traced else { continue };
            let id = StatementId(place as u32);
            let source = self.module.location(id).map(|location| {
                let file = files.entry(location.file).or_insert_with(|| written.file(location));
                (file.as_deref(), location.line)
            });
            let Place { line, column } = written.place(id);
            self.writer.ptx_line(pc, PtxPlace { line, column }, &written.text(id), source);
        }
        self.writer.finish()
    }

    /// The properties of the access's statement. The first access of a statement adds its operation to the trace.
    fn traced(&mut self, access: &MemoryAccess<'_>) -> Traced {
        let place = access.statement.index();
        if let Some(Some(traced)) = self.statements.get(place) {
            return *traced;
        }
        let mut traced = Traced { pc: 0, operation: None, registers: 1, is_signed: false };
        if let Some(instruction) = self.module.instruction(access.statement) {
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
            traced.pc = instruction.span.start;
            traced.is_signed = operation.signed;
            traced.registers = operation.registers() as usize;
            if instruction.space().is_none_or(|space| space.0 != StateSpace::Param) {
                traced.operation = self.writer.operation(&operation);
            }
        }
        if let Some(place) = self.statements.get_mut(place) {
            *place = Some(traced);
        }
        traced
    }

    fn write(&mut self, access: &MemoryAccess<'_>) -> io::Result<()> {
        let traced = self.traced(access);
        let Some(operation) = traced.operation else { return Ok(()) };
        self.accesses += 1;
        if self.failed.is_some() || self.writer.written_bytes() >= self.limit {
            self.left_out += 1;
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
        let has_values = self.has_values
            && access.unknown.is_empty()
            && matches!(access.kind, AccessKind::Load | AccessKind::Store);
        if has_values {
            for register in 0..traced.registers {
                let value =
                    |lane: usize| value(&access.values[lane], access.bytes, register, traced);
                self.values.extend(access.executing.lanes().map(value));
            }
        }
        self.writer.place(Some(WarpPosition {
            cta: Some(access.block),
            warp: Some(access.warp),
            ..WarpPosition::default()
        }));
        let addresses = RecordAddresses::List(&self.addresses);
        let mut record = NewRecord::new(traced.pc, access.executing, operation, addresses);
        record.values = has_values.then_some(&self.values);
        self.writer.record(&record)
    }
}

/// The value of one register of a lane's access, extended to 32 bits.
fn value(bytes: &[u8; 32], size: u32, register: usize, traced: Traced) -> u32 {
    match (size, traced.is_signed) {
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
            self.left_out += 1;
        }
    }

    fn needs_values(&self) -> bool {
        self.has_values
    }
}
