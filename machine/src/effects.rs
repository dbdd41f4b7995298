//! [`execute`]: makes the results of an instruction unknown that is not executed, because old values would otherwise be
//! taken for them.

use crate::access::{self, Address};
use crate::code::{Effects, Extent, Op};
use crate::engine::{Engine, Stop};
use crate::fault::FaultKind;
use crate::observer::{LoadAlone, LoadOutcome, SkipReason};
use crate::registers::Origin;
use crate::warp::{Path, Warp, lanes};

/// Makes everything unknown that the instruction would write in the lanes of a mask.
pub(crate) fn execute(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    effects: &Effects,
    exec: u32,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    let mut places = Vec::with_capacity(effects.writes.len());
    for write in &effects.writes {
        let mut addresses = [0; 32];
        let address = Address::new(write.space, write.base, write.offset);
        access::find_addresses(warp, path, address, exec, &mut addresses)?;
        places.push(addresses);
    }
    let origin = if effects.is_discard {
        Origin::Discarded(op.site)
    } else {
        engine.not_executed(op);
        Origin::NotExecuted(op.site)
    };
    let flags = engine.origins.flags(origin);
    let frame = &mut warp.frames[path.frame];
    for slot in &effects.slots {
        frame.registers.forget(*slot, exec, origin);
    }
    for (element, row) in &effects.replaced {
        if element.bits == 1 {
            let values = frame.registers.predicate(*row);
            frame.registers.set_predicate(element.slot, values, exec);
        } else {
            for lane in lanes(exec) {
                let value = frame.registers.lane(*row, element.rows, lane);
                frame.registers.set_lane(element.slot, element.rows, lane, value);
            }
        }
        frame.registers.know(element.slot, exec);
    }
    for (offset, bytes) in &effects.locals {
        for lane in lanes(exec) {
            let at = warp.local.place(lane, frame.local_base + offset);
            warp.local.bytes.mark(at..at + *bytes as usize, flags);
        }
    }
    let mut outside = Vec::new();
    for (write, addresses) in effects.writes.iter().zip(&places) {
        let (mut memories, registers) = access::parts(warp, path, engine);
        for lane in lanes(exec) {
            let Ok(found) = memories.find(write.space, addresses[lane], 1, lane) else {
                outside.push((lane, addresses[lane]));
                continue;
            };
            let end = memories.end(found, lane);
            let (region, offset) = memories.at_mut(found);
            let extent = match write.extent {
                Extent::Bytes(bytes) => bytes,
                Extent::Register(slot) if registers.unknown(slot) >> lane & 1 == 0 => {
                    registers.get::<u64>(slot)[lane]
                }
                Extent::Register(_) | Extent::Rest => u64::MAX,
            };
            if extent > (end - offset) as u64 {
                outside.push((lane, addresses[lane]));
            }
            let end = (offset as u64).saturating_add(extent).min(end as u64) as usize;
            region.mark(offset..end, flags);
        }
    }
    // Other instructions are not executed, which is said already.
    for (lane, address) in outside.into_iter().filter(|_| effects.is_discard) {
        engine.fault(FaultKind::OutOfBounds, op, warp.number, lane as u32, address);
    }
    // It may be a barrier, or wait for one.
    if let Some(races) = &mut engine.races
        && !effects.is_discard
        && (!effects.are_registers() || effects.slots.is_empty())
    {
        races.forgive(&mut engine.block.order);
    }
    if effects.writes_global {
        engine.memory.forget_all(flags);
    }
    if effects.writes_tensor {
        engine.block.tensor_origin = Some(origin);
    }
    Ok(())
}

/// Reports a load alone that cannot be executed, and makes its results unknown in the lanes that may execute it.
pub(crate) fn skip(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    reason: SkipReason,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    let Some(effects) = &op.alone else { return Ok(()) };
    let registers = &warp.frames[path.frame].registers;
    let exec = op.guard.map_or(u32::MAX, |(slot, is_negated)| {
        let lanes = registers.predicate(slot);
        registers.unknown(slot) | if is_negated { !lanes } else { lanes }
    });
    execute(warp, path, op, effects, exec & path.mask, engine)?;
    let registers = &warp.frames[path.frame].registers;
    let outcome = LoadOutcome::Skipped(reason);
    engine.report(&LoadAlone { site: op.site, outcome, destinations: &[], registers });
    Ok(())
}
