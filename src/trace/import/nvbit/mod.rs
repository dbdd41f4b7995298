//! Reads the traces of NVBit's `mem_trace` tool: its log, and a JSON form of it (docs/traces.md).
//! Both have 32 addresses and no mask; lanes with address 0 are taken as inactive.

mod json;
mod log;

use rustc_hash::FxHashMap;

use super::error::ImportError;
use super::limits::MAX_KERNELS;
use super::sink::{Refused, Sink};
use crate::lane::{LANES, LaneMask};
use crate::trace::binary::{Addresses, Kernel, NameError, NewRecord, Place};

pub(super) use self::json::FORMAT as JSON_FORMAT;
pub(super) use self::log::FORMAT as LOG_FORMAT;

const NOTE: &str = "the active masks are inferred: lanes with address 0 were taken as inactive";

/// One memory access.
struct Access<'a> {
    launch: u64,
    cta: Option<[u32; 3]>,
    opcode: &'a str,
    pc: u32,
    addresses: [u64; LANES],
}

/// Passes accesses on, under the kernel of their launch. Launches can run at the same time, so that
/// their accesses alternate; each launch is one kernel.
struct Reader<'r, 's> {
    sink: &'r mut Sink<'s>,
    launches: FxHashMap<u64, Launch>,
    current: Option<u64>,
}

/// A launch of a kernel, by its id.
enum Launch {
    /// The log names it; no access was found so far.
    Named(Box<Kernel>),
    /// It has accesses, under the kernel of that number.
    Begun(u32),
}

impl<'r, 's> Reader<'r, 's> {
    fn new(sink: &'r mut Sink<'s>) -> Result<Self, ImportError> {
        sink.tool("NVBit mem_trace".to_owned())?;
        sink.note(NOTE.to_owned())?;
        Ok(Self { sink, launches: FxHashMap::default(), current: None })
    }

    /// Takes a launch. One with a known id is another launch, for example of another process.
    fn launch(&mut self, launch: u64, kernel: Kernel) -> Result<(), Refused> {
        self.check_room(launch)?;
        self.launches.insert(launch, Launch::Named(Box::new(kernel)));
        self.current = None;
        Ok(())
    }

    fn check_room(&self, launch: u64) -> Result<(), Refused> {
        if self.launches.len() >= MAX_KERNELS && !self.launches.contains_key(&launch) {
            return Err(Refused::Name(NameError::TooMany));
        }
        Ok(())
    }

    /// Makes the kernel of a launch the current one.
    fn select(&mut self, launch: u64) -> Result<(), Refused> {
        let number = match self.launches.remove(&launch) {
            Some(Launch::Begun(number)) => {
                self.sink.select(number)?;
                number
            }
            Some(Launch::Named(kernel)) => self.sink.kernel(*kernel)?,
            None => {
                self.check_room(launch)?;
                let name = self.sink.name(&format!("grid launch {launch}"))?;
                self.sink.kernel(Kernel { name, ..Kernel::default() })?
            }
        };
        self.launches.insert(launch, Launch::Begun(number));
        self.current = Some(launch);
        Ok(())
    }

    fn access(&mut self, access: &Access<'_>) -> Result<(), Refused> {
        if self.current != Some(access.launch) {
            self.select(access.launch)?;
        }
        self.sink.place(access.cta.map(|cta| Place { cta: Some(cta), ..Place::default() }));
        let mask = LaneMask::from_fn(|lane| access.addresses[lane] != 0);
        let operation = self.sink.operation(access.opcode)?;
        let list: Vec<u64> = mask.lanes().map(|lane| access.addresses[lane]).collect();
        let mut deltas = Vec::new();
        let addresses = Addresses::shortest(&list, &mut deltas);
        self.sink.record(&NewRecord::new(access.pc, mask, operation, addresses))?;
        Ok(())
    }
}
