//! A custom memory: pages in frames, found through a page table. Both executors run a warp on it.
//!
//! ```text
//! cargo run --example own_memory
//! ```

#![allow(clippy::print_stdout, reason = "an example; it talks to a terminal")]

use std::collections::BTreeMap;
use std::error::Error;

use warpload::encoding::{Instruction, Reg, Sm};
use warpload::load::{Executor, LaneFaultKind};
use warpload::machine::Machine;
use warpload::memory::{AddressMap, LoadMemory, Region, Space};
use warpload::warp::Warp;

const PAGE: u64 = 4096;

/// Global memory in pages, stored in frames in any order. There is no other memory.
#[derive(Default)]
struct PagedMemory {
    map: AddressMap,
    frames: Vec<[u8; PAGE as usize]>,
    /// From page numbers to frames.
    table: BTreeMap<u64, usize>,
}

impl PagedMemory {
    /// Adds a page, or replaces its bytes.
    fn insert(&mut self, page: u64, bytes: [u8; PAGE as usize]) {
        self.table.insert(page, self.frames.len());
        self.frames.push(bytes);
    }
}

impl LoadMemory for PagedMemory {
    fn map(&self) -> &AddressMap {
        &self.map
    }

    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
        let page = offset / PAGE;
        let frame = self.table.get(&page).filter(|_| space == Space::Global)?;
        Region::new(page * PAGE, self.frames.get(*frame)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Consecutive pages in frames that are not consecutive.
    let mut memory = PagedMemory::default();
    memory.insert(0x10_0001, [0xbb; PAGE as usize]);
    memory.insert(0x10_0000, [0xaa; PAGE as usize]);
    let machine = Machine::new(memory);

    // The lanes read every 256 bytes from 0x100000000 on: 16 lanes on each page.
    let mut before = Warp::new();
    before.set_register(Reg::new(2), std::array::from_fn(|lane| 0x100 * lane as u32));
    before.set_register(Reg::new(3), [1; 32]);
    for executor in [Executor::Fast, Executor::Reference] {
        let mut warp = before.clone();
        let load = Instruction::parse("LD.E R0, [R2]", Sm::SPA5)?;
        let outcome = executor.execute(&load, &machine, &mut warp)?;
        assert!(outcome.lane_faults.is_empty());
        let values = warp.register(Reg::new(0));
        assert_eq!([values[15], values[16]], [0xaaaa_aaaa, 0xbbbb_bbbb]);
        println!("{executor}: {load} loads {:#x} .. {:#x}", values[0], values[31]);

        // One page further, half of the lanes are outside the memory.
        let load = Instruction::parse("LD.E R0, [R2 + 0x1000]", Sm::SPA5)?;
        let outcome = executor.execute(&load, &machine, &mut warp)?;
        let outside = outcome.lane_faults.lanes(LaneFaultKind::OutsideAllocation);
        assert_eq!(outside.bits(), 0xffff_0000);
        println!("{executor}: {load} faults in lanes {outside:#010x}");
    }
    Ok(())
}
