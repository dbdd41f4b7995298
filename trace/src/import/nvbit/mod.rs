//! Reads the traces of NVBit's `mem_trace` tool: its log and its JSON form (docs/trace-inputs.md). Both have 32
//! addresses but no mask.

mod json;
mod log;

use super::error::ImportError;
use super::interner::Refused;
use super::logs::{LaunchId, Launches, UNMASKED_NOTE, Unmasked};
use super::sink::Sink;
use crate::binary::{NewRecord, WarpPosition};
use warpload::lane::LANES;

pub(super) use self::json::FORMAT as JSON_FORMAT;
pub(super) use self::log::FORMAT as LOG_FORMAT;

/// The beginning of every message of the tool.
const TOOL: &str = "MEMTRACE: ";

/// One memory access. It has no warp: the source names only a slot of the multiprocessor, which warps share over time.
struct MemoryAccess<'a> {
    launch: LaunchId,
    cta: Option<[u32; 3]>,
    opcode: &'a str,
    pc: u32,
}

/// Passes on accesses, each to the kernel of its launch.
struct AccessWriter<'r, 's> {
    sink: &'r mut Sink<'s>,
    launches: Launches,
    lanes: Unmasked,
}

impl<'r, 's> AccessWriter<'r, 's> {
    fn new(sink: &'r mut Sink<'s>) -> Result<Self, ImportError> {
        sink.tool("NVBit mem_trace".to_owned())?;
        sink.note(UNMASKED_NOTE.to_owned())?;
        Ok(Self { sink, launches: Launches::default(), lanes: Unmasked::default() })
    }

    fn access(
        &mut self,
        access: &MemoryAccess<'_>,
        addresses: &[u64; LANES],
    ) -> Result<(), Refused> {
        let sink = &mut *self.sink;
        self.launches.select(sink, access.launch, None)?;
        sink.place(WarpPosition { cta: access.cta, ..WarpPosition::default() });
        let operation = sink.operation(access.opcode)?.number;
        let (mask, addresses) = self.lanes.active(addresses);
        Ok(sink.record(&NewRecord::new(access.pc, mask, operation, addresses))?)
    }
}
