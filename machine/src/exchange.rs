//! Exchanges between the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `elect`.

use crate::access::combine;
use crate::code::{Atomic, ExchangeKind, Op, Shuffle, Vote};
use crate::float::{self, Extreme};
use crate::registers::{NONE, Origin, Registers, Slot};
use crate::scalar::ScalarType as T;
use crate::warp::lanes;
use warpload::lane::LANES;

/// Exchanges values between the lanes of `exec`, which have not exited. A lane that is no member provides no value.
pub(crate) fn execute(
    registers: &mut Registers,
    op: &Op,
    kind: ExchangeKind,
    exec: u32,
    members: u32,
) {
    match kind {
        ExchangeKind::Sync => {}
        ExchangeKind::Shuffle(mode) => shuffle(registers, op, mode, exec, members),
        ExchangeKind::Vote(vote) => {
            let lanes = registers.predicate(op.a) & exec;
            let unknown = registers.unknown(op.a) & exec;
            // The results if all unknown votes are true, and if all are false. They are known if both agree.
            let decided = |lanes: u32| match vote {
                Vote::Ballot => lanes,
                Vote::All => every(lanes == exec),
                Vote::Any => every(lanes != 0),
                Vote::Uniform => every(lanes == exec || lanes == 0),
            };
            let is_mixed = lanes & !unknown != 0 && exec & !lanes & !unknown != 0;
            let (most, least) = (decided(lanes | unknown), decided(lanes & !unknown));
            let is_known = match vote {
                Vote::Uniform => unknown == 0 || is_mixed,
                _ => most == least,
            };
            let result = if vote == Vote::Uniform && is_mixed { 0 } else { most };
            match vote {
                Vote::Ballot => registers.put(op.d, &[result; LANES], exec),
                _ => registers.set_predicate(op.d, result, exec),
            }
            match is_known {
                true => registers.know(op.d, exec),
                false => registers.forget(op.d, exec, registers.origin(op.a)),
            }
        }
        ExchangeKind::Match { is_all, is_wide } => {
            let values: [u64; LANES] = match is_wide {
                true => *registers.get(op.a),
                false => registers.get::<u32>(op.a).map(u64::from),
            };
            let equal = |lane: usize| {
                let same = lanes(exec).filter(|other| values[*other] == values[lane]);
                same.fold(0, |mask, other| mask | 1 << other)
            };
            let mut out: [u32; LANES] = std::array::from_fn(equal);
            if is_all {
                let is_same = out[exec.trailing_zeros() as usize] == exec;
                // The mask has no lanes that have exited, because they are not members any more.
                out = [if is_same { exec } else { 0 }; LANES];
                if op.e != NONE {
                    registers.set_predicate(op.e, every(is_same), exec);
                    derive_from_all(registers, op.e, op.a, exec);
                }
            }
            registers.put(op.d, &out, exec);
            derive_from_all(registers, op.d, op.a, exec);
        }
        ExchangeKind::Reduce { operation, scalar, is_absolute, keeps_nan } => {
            let is_max = operation == Atomic::Max;
            let of = Extreme { is_max, is_absolute, keeps_nan, ..Extreme::default() };
            let values = registers.get::<u32>(op.a);
            let combined = |a: u32, b: u32| match scalar {
                T::F32 => float::extreme(of, scalar, a, b),
                _ => combine(operation, scalar, a.into(), b.into(), 0) as u32,
            };
            let all = lanes(exec).map(|lane| values[lane]);
            let chosen = all.reduce(combined).unwrap_or(0);
            // A single f32 needs the modes, too.
            let chosen = if scalar == T::F32 { combined(chosen, chosen) } else { chosen };
            registers.put(op.d, &[chosen; LANES], exec);
            derive_from_all(registers, op.d, op.a, exec);
        }
        ExchangeKind::Elect => {
            let leader = exec.trailing_zeros();
            registers.put(op.d, &[leader; LANES], exec);
            registers.know(op.d, exec);
            if op.e != NONE {
                registers.set_predicate(op.e, 1_u32.checked_shl(leader).unwrap_or(0), exec);
                registers.know(op.e, exec);
            }
        }
    }
}

/// Overwrites the source of an instruction with that of another one, in the lanes of `mask`, because these wait at the
/// other one.
pub(crate) fn lend(
    registers: &mut Registers,
    to: Slot,
    from: &Registers,
    source: Slot,
    kind: ExchangeKind,
    mask: u32,
) {
    match kind {
        // No lane provides a value.
        ExchangeKind::Sync | ExchangeKind::Elect => return,
        ExchangeKind::Vote(_) => registers.set_predicate(to, from.predicate(source), mask),
        ExchangeKind::Match { is_wide: true, .. } => {
            registers.put(to, from.get::<u64>(source), mask)
        }
        _ => registers.put(to, from.get::<u32>(source), mask),
    }
    registers.learn(to, from, source, mask);
}

/// Takes over the results of an exchange in the lanes of a mask.
pub(crate) fn take(
    registers: &mut Registers,
    results: &Registers,
    op: &Op,
    kind: ExchangeKind,
    mask: u32,
) {
    let is_predicate = matches!(kind, ExchangeKind::Vote(vote) if vote != Vote::Ballot);
    for (slot, is_predicate) in [(op.d, is_predicate), (op.e, true)] {
        if slot == NONE {
            continue;
        }
        match is_predicate {
            true => registers.set_predicate(slot, results.predicate(slot), mask),
            false => registers.put(slot, results.get::<u32>(slot), mask),
        }
        registers.learn(slot, results, slot, mask);
    }
}

fn every(is_true: bool) -> u32 {
    if is_true { u32::MAX } else { 0 }
}

/// Marks a result that depends on the sources of all lanes: if one is unknown, all results are.
fn derive_from_all(registers: &mut Registers, slot: Slot, source: Slot, exec: u32) {
    if registers.unknown(source) & exec == 0 {
        registers.know(slot, exec);
    } else {
        registers.forget(slot, exec, registers.origin(source));
    }
}

/// `shfl.sync`. [PTX ISA, `shfl.sync`]
fn shuffle(registers: &mut Registers, op: &Op, mode: Shuffle, exec: u32, members: u32) {
    let (choices, limits) = (registers.get::<u32>(op.b), registers.get::<u32>(op.c));
    macro_rules! sources {
        ($mode:expr) => {
            warpload::simd::vectorized!(shuffle_sources(choices, limits, $mode))
        };
    }
    let (sources, inside) = match mode {
        Shuffle::Up => sources!(Shuffle::Up),
        Shuffle::Down => sources!(Shuffle::Down),
        Shuffle::Butterfly => sources!(Shuffle::Butterfly),
        Shuffle::Index => sources!(Shuffle::Index),
    };
    let values = registers.get::<u32>(op.a);
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = values[sources[lane] as usize & 31];
    }
    let (unknown, origin) = (registers.unknown(op.a), registers.origin(op.a));
    let from = |mask: u32| {
        lanes(exec).fold(0, |all, lane| all | (mask >> (sources[lane] & 31) & 1) << lane)
    };
    let lost = if unknown == 0 { 0 } else { from(unknown) };
    // Only lanes that take part provide a value.
    let present = exec & members;
    let absent = if present == u32::MAX { 0 } else { from(!present) };
    registers.put(op.d, &out, exec);
    registers.derive(op.d, &[op.b, op.c], exec);
    if lost != 0 {
        registers.forget(op.d, lost, origin);
    }
    if absent != 0 {
        registers.forget(op.d, absent, Origin::AbsentLane(op.site));
    }
    if op.e != NONE {
        registers.put_predicate(op.e, inside, &[op.b, op.c], exec);
    }
}

/// The source lane of each lane in a shuffle, and a mask of the lanes with a source inside their segment. The other lanes
/// are their own sources. Compiled for each mode, so that the compiler vectorizes it.
#[inline(always)]
fn shuffle_sources(
    choices: &[u32; LANES],
    limits: &[u32; LANES],
    mode: Shuffle,
) -> ([u32; LANES], u32) {
    let (mut sources, mut inside) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let (choice, limit) = (choices[lane] & 31, limits[lane] & 31);
        let segment = limits[lane] >> 8 & 31;
        let here = lane as u32;
        let (first, last) = (here & segment, here & segment | limit & !segment);
        let source = match mode {
            Shuffle::Up => here.wrapping_sub(choice),
            Shuffle::Down => here + choice,
            Shuffle::Butterfly => here ^ choice,
            Shuffle::Index => first | choice & !segment,
        };
        let is_below = (source as i32) < last as i32;
        let is_inside = (is_below != (mode == Shuffle::Up)) | (source == last);
        sources[lane] = if is_inside { source } else { here };
        inside[lane] = u32::from(is_inside) << lane;
    }
    (sources, inside.iter().fold(0, |all, lane| all | lane))
}
