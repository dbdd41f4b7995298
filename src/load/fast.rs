//! The fast executor: an instruction on a machine and a warp, by way of [`load`].

use warpload_encoding::Instruction;

use super::gather::load;
use super::op::{ExecuteError, LaneAddresses, LoadOp, register_fault};
use super::outcome::{Destination, Outcome, UniformPath};
use crate::machine::Machine;
use crate::warp::Warp;

/// Executes one instruction.
///
/// ```
/// use warpload::encoding::{Reg, parse_line};
/// use warpload::load::execute;
/// use warpload::machine::Machine;
/// use warpload::memory::{AddressMap, MemoryBuilder};
/// use warpload::warp::Warp;
///
/// let bytes: Vec<u8> = (0..128).collect();
/// let memory = MemoryBuilder::new(AddressMap::default()).global(0x1000, &bytes).build()?;
/// let mut warp = Warp::new();
/// warp.set_register(Reg::new(2), std::array::from_fn(|lane| 0x1000 + 4 * lane as u32));
///
/// let ld = parse_line("LD R0, [R2 + 4]")?.instruction;
/// let outcome = execute(&ld, &Machine::new(memory), &mut warp)?;
/// assert_eq!(warp.register(Reg::new(0))[0], 0x07060504);
/// // The last lane's address is the first one behind the allocation: it gets 0.
/// assert_eq!(warp.register(Reg::new(0))[31], 0);
/// assert_eq!(outcome.lane_faults.lanes("outside_allocation").bits(), 1 << 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ExecuteError`] where the instruction has no size or a mode whose meaning is not known; then
/// the warp is as before, whether a lane would have executed or not.
pub fn execute(
    instruction: &Instruction,
    machine: &Machine,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    let op = LoadOp::of(instruction)?;
    let lanes = LaneAddresses::of(instruction, machine, warp);
    let executing = lanes.executing;
    if executing.is_empty() {
        return Ok(Outcome::nothing());
    }
    let destination = Destination { first: instruction.destination(), count: op.registers() };
    if let Some(fault) = register_fault(instruction, op, machine.register_limit) {
        return Ok(Outcome::warp_fault(executing, fault));
    }
    let rows = warp.rows_mut(destination.first, destination.count);
    let loaded = load(op, &lanes, &machine.memory, machine.misaligned, rows);
    Ok(Outcome {
        executing,
        destination: (!destination.first.is_zero()).then_some(destination),
        warp_fault: None,
        lane_faults: loaded.faults,
        uniform: op.uniform.then_some(if loaded.is_broadcast {
            UniformPath::Broadcast
        } else {
            UniformPath::Divergent
        }),
    })
}
