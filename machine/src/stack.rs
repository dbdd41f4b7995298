//! `alloca`, `stacksave` and `stackrestore`: the part of a frame's local memory that grows while it runs.

use crate::code::{Op, StackKind, StackOp};
use crate::engine::{Engine, Stop};
use crate::fault::{FaultKind, StackLimit};
use crate::memory::{LocalMemory, MAX_LOCAL, UNWRITTEN};
use crate::registers::Registers;
use crate::warp::{MAX_STACK, Path, Warp, lanes};
use warpload::lane::LANES;
use warpload::memory::AddressSpace;

/// Executes an operation on the stack in the lanes of a mask. The stack grows upwards, and its pointer is the first free
/// address in local memory, which differs between lanes that allocate different sizes.
pub(crate) fn execute(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    stack: StackOp,
    exec: u32,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    let frame = &warp.frames[path.frame];
    let first = frame.local_base + engine.code.functions[frame.function].local_bytes;
    let mut tops = frame.stack.as_deref().copied().unwrap_or([first; LANES]);
    match stack.kind {
        StackKind::Save => {
            write(&mut warp.frames[path.frame].registers, op, stack, &tops, exec);
            return Ok(());
        }
        StackKind::Restore => {
            warp.need(path, op.a, exec, "the stack pointer")?;
            let saved = read(&warp.frames[path.frame].registers, op, stack);
            for lane in lanes(exec) {
                if (first..=tops[lane]).contains(&saved[lane]) {
                    tops[lane] = saved[lane];
                    continue;
                }
                let address = engine.generic(AddressSpace::Local, saved[lane]);
                engine.fault(FaultKind::OutOfBounds, op, warp.number, lane as u32, address);
            }
        }
        StackKind::Allocate { alignment } => {
            warp.need(path, op.a, exec, "the size of `alloca`")?;
            let sizes = read(&warp.frames[path.frame].registers, op, stack);
            let mut starts = tops;
            let mut lost = 0;
            for lane in lanes(exec) {
                let start = tops[lane].checked_next_multiple_of(alignment);
                let end = start.and_then(|start| start.checked_add(sizes[lane]));
                match (start, end.filter(|end| *end <= MAX_LOCAL)) {
                    (Some(start), Some(end)) => (starts[lane], tops[lane]) = (start, end),
                    _ => lost |= 1 << lane,
                }
            }
            if lost != 0 {
                return Err(overflow(lost, StackLimit::Local));
            }
            let end = tops.iter().fold(first, |most, top| most.max(*top));
            let bytes = LocalMemory::bytes_for(end).unwrap_or_default();
            let more = bytes.saturating_sub(warp.local.memory_bytes());
            let stack_bytes = engine.block.stack_bytes.saturating_add(more);
            if stack_bytes > MAX_STACK {
                return Err(overflow(exec, StackLimit::Launch));
            }
            engine.block.stack_bytes = stack_bytes;
            warp.local.reserve(end, engine.options.checks.uninitialized);
            if engine.options.checks.uninitialized {
                for lane in lanes(exec) {
                    let [start, end] = [starts, tops].map(|all| warp.local.place(lane, all[lane]));
                    warp.local.bytes.mark(start..end, UNWRITTEN);
                }
            }
            write(&mut warp.frames[path.frame].registers, op, stack, &starts, exec);
        }
    }
    warp.frames[path.frame].stack = Some(Box::new(tops));
    Ok(())
}

fn overflow(lanes: u32, limit: StackLimit) -> Stop {
    Stop::Lanes(lanes, FaultKind::StackOverflow { limit })
}

fn read(registers: &Registers, op: &Op, stack: StackOp) -> [u64; LANES] {
    match stack.is_wide {
        true => *registers.get(op.a),
        false => registers.get::<u32>(op.a).map(u64::from),
    }
}

fn write(registers: &mut Registers, op: &Op, stack: StackOp, values: &[u64; LANES], exec: u32) {
    match stack.is_wide {
        true => registers.put(op.d, values, exec),
        false => registers.put(op.d, &values.map(|value| value as u32), exec),
    }
    registers.know(op.d, exec);
}
