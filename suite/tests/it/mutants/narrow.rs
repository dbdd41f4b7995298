//! [`NARROW`]: mistakes in one rule, form or place alone, which cases that are drawn at random hardly ever show.

use warpload::encoding::{LoadSize, MemorySpace, Reg};
use warpload::memory::Space;
use warpload_suite::vector::Final;

use super::emulator::{Access, Load, RIGHT, Rule, rules_of};
use super::table::{Mutant, mutant};

use Operand::{OtherHalf, Ra, Rd, Uniform};
use Rule::{Misaligned, OutOfRange};

/// The operands with register rules, in the order of the checks. Of 256 bits, the other half is the group of R1st.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Rd,
    OtherHalf,
    Ra,
    Uniform,
}

/// The broken rules in the order of the checks, except that `first` comes before `second`.
fn reordered(load: &Load, first: (Rule, Operand), second: (Rule, Operand)) -> Vec<Rule> {
    let (address, uniform_limit) = (&load.parts.address, load.parts.uniform_registers);
    let limit = if load.fills_uniform() { uniform_limit } else { load.limit() };
    let filled = load.groups().into_iter().zip([Rd, OtherHalf]);
    let filled = filled.map(|((from, count), operand)| (operand, from, count, limit));
    let base =
        (address.extended && load.has_base()).then(|| (Ra, address.base.number(), 2, load.limit()));
    let uniform = address.uniform.filter(|one| one.extended && !one.register.is_zero());
    let uniform = uniform.map(|one| (Uniform, one.register.number(), 2, uniform_limit));
    let mut broken: Vec<(Rule, Operand)> = filled
        .chain(base)
        .chain(uniform)
        .flat_map(|(operand, from, count, limit)| {
            rules_of(from, count, limit).into_iter().map(move |rule| (rule, operand))
        })
        .collect();
    let place = |of| broken.iter().position(|one| *one == of);
    if let (Some(from), Some(to)) = (place(first), place(second)) {
        broken[to..=from].rotate_right(1);
    }
    broken.into_iter().map(|(rule, _)| rule).collect()
}

/// A mutant that checks one rule before another one.
macro_rules! order {
    ($name:literal, [$($says:literal),+], $first:expr, $second:expr) => {
        mutant($name, &[$($says),+], |e| e.rules = |load| reordered(load, $first, $second))
    };
}

fn is(load: &Load, mnemonic: &str) -> bool {
    load.vector.instruction.mnemonic() == mnemonic
}

fn is_generic(load: &Load) -> bool {
    matches!(load.parts.space, MemorySpace::Generic { .. })
}

fn is_constant(load: &Load) -> bool {
    matches!(load.parts.space, MemorySpace::Constant { .. })
}

fn is_transposed(load: &Load) -> bool {
    matches!(load.size, LoadSize::Matrices { transposed: true, .. })
}

/// Whether Ra is at or above the limit.
fn is_beyond(load: &Load) -> bool {
    !load.parts.address.base.is_zero() && !load.has_base()
}

/// A mutant that reads another register in place of an Ra at or above the limit.
macro_rules! beyond {
    ($name:literal, $says:literal, $number:expr) => {
        mutant($name, &[$says], |e| {
            e.base = |e, load, lane| {
                let number: fn(u8, u8) -> Option<u8> = $number;
                match number(load.parts.address.base.number(), load.limit()) {
                    Some(number) if is_beyond(load) => {
                        Some((e.register)(load, number, lane).into())
                    }
                    _ => (RIGHT.base)(e, load, lane),
                }
            }
        })
    };
}

/// A mutant that changes the offset of some loads. The last argument of `change` says whether a register is added.
macro_rules! offset {
    ($name:literal, $says:literal, $if:expr, $change:expr) => {
        mutant($name, &[$says], |e| {
            e.offset = |load, has_base| {
                let (right, uniform) = ((RIGHT.offset)(load, has_base), load.parts.address.uniform);
                let has_register = has_base || uniform.is_some_and(|one| !one.register.is_zero());
                let (is_of, change): (fn(&Load) -> bool, fn(i64, bool) -> i64) = ($if, $change);
                if is_of(load) { change(right, has_register) } else { right }
            }
        })
    };
}

/// A mutant that keeps only some bits of the sums of loads of constants.
macro_rules! sum_of_constants {
    ($name:literal, $bits:literal) => {
        mutant($name, &["`constant-beyond-bank`"], |e| {
            e.sum = |load, base, uniform, offset| {
                let right = (RIGHT.sum)(load, base, uniform, offset);
                if is_constant(load) { right & ((1 << $bits) - 1) } else { right }
            }
        })
    };
}

/// A mutant that rounds the addresses of some loads of constants to a smaller number of bytes.
macro_rules! rounding_of_constants {
    ($name:literal, $says:expr, $if:expr, $bytes:literal) => {
        mutant($name, $says, |e| {
            e.round = |load, address| {
                let is_of: fn(&Load) -> bool = $if;
                match is_constant(load) && is_of(load) {
                    true => address & !(load.bytes.min($bytes) - 1),
                    false => (RIGHT.round)(load, address),
                }
            }
        })
    };
}

/// Loads 32 bits of local memory as if the lanes' words were interleaved in the given bytes, which hold the lanes one
/// after the other.
fn interleave(load: &Load, accesses: &[Access], after: &mut Final) {
    let memory = &load.vector.machine.memory;
    let window = memory.map().local();
    let lanes = (0..32).filter(|lane| (RIGHT.executes)(load, *lane));
    for (lane, access) in lanes.zip(accesses) {
        if load.bytes != 4 || access.space != Some(Space::Local) || access.words.is_none() {
            continue;
        }
        let offset = access.rounded - if is_generic(load) { window.base } else { 0 };
        let (low, high) = (memory.local_low_bytes(lane), memory.local_high_bytes(lane));
        let start = if offset < low.len() as u64 { 0 } else { window.size - high.len() as u64 };
        let held = if start == 0 { low.len() } else { high.len() };
        let word = (0..4).map(|byte| {
            let from = (offset - start) as usize / 4 * 128 + 4 * lane + byte;
            let (lane, from) = (from / held % 32, from % held);
            match start {
                0 => memory.local_low_bytes(lane)[from],
                _ => memory.local_high_bytes(lane)[from],
            }
        });
        let word = word.rev().fold(0, |word, byte| word << 8 | u32::from(byte));
        for number in (RIGHT.registers)(load) {
            if let Some(values) = after.registers.get_mut(&Reg::new(number)) {
                values[lane] = word;
            }
        }
    }
}

macro_rules! interleaved {
    ($name:literal, $says:expr, $if:expr) => {
        mutant($name, $says, |e| {
            e.finish = |load, accesses, after| {
                let is_of: fn(&Load) -> bool = $if;
                if is_of(load) {
                    interleave(load, accesses, after);
                }
            }
        })
    };
}

/// The window of an address: 0 the shared one, 1 the local one.
fn window(load: &Load, address: u64) -> Option<usize> {
    let is_in = |(base, last): &(u64, u64)| (*base..=*last).contains(&address);
    load.windows().iter().position(is_in)
}

/// A mutant that chooses the window of a generic address by the last byte of the access, before the address is rounded,
/// if `if` holds for the windows of its first and its last byte.
macro_rules! last_byte {
    ($name:literal, $says:expr, $if:expr) => {
        mutant($name, $says, |e| {
            e.round = |load, address| {
                if is_generic(load) { address } else { (RIGHT.round)(load, address) }
            };
            e.place = |load, lane, address| {
                if !is_generic(load) {
                    return (RIGHT.place)(load, lane, address);
                }
                let is_of: fn([Option<usize>; 2]) -> bool = $if;
                let last = address.wrapping_add(load.bytes - 1);
                let by = if is_of([address, last].map(|one| window(load, one))) {
                    last
                } else {
                    address
                };
                let (space, offset) = (RIGHT.place)(load, lane, by)?;
                // The base of the memory is what is left.
                Some((space, offset.wrapping_add((RIGHT.round)(load, address)).wrapping_sub(by)))
            };
            e.is_broadcast = rounded_broadcast;
        })
    };
}

/// The right broadcast for accesses that are not rounded.
fn rounded_broadcast(load: &Load, accesses: &[Access]) -> bool {
    let round = |one: &Access| Access { rounded: (RIGHT.round)(load, one.address), ..*one };
    (RIGHT.is_broadcast)(load, &accesses.iter().map(round).collect::<Vec<_>>())
}

/// A mutant that moves the rows of matrices: `lane` gives the number of matrices and a lane the lane whose address is
/// taken.
macro_rules! rows {
    ($name:literal, $says:literal, $if:expr, $lane:expr) => {
        mutant($name, &[$says], |e| {
            e.base = |e, load, lane| {
                let (is_of, of): (fn(&Load) -> bool, fn(usize, usize) -> usize) = ($if, $lane);
                let lane = match load.size {
                    LoadSize::Matrices { count, .. } if is_of(load) => of(count.into(), lane),
                    _ => lane,
                };
                (RIGHT.base)(e, load, lane)
            }
        })
    };
}

/// A mutant that broadcasts some loads whose lanes have one address.
macro_rules! broadcast {
    ($name:literal, $if:expr) => {
        mutant($name, &["`one-address`"], |e| {
            e.is_broadcast = |load, accesses| {
                let is_of: fn(&Load, &Access) -> bool = $if;
                let first = &accesses[0];
                let is_same = |access: &Access| {
                    access.words.is_some()
                        && (access.rounded, access.space) == (first.rounded, first.space)
                };
                (RIGHT.is_broadcast)(load, accesses)
                    || is_of(load, first)
                        && matches!(first.space, Some(Space::Global | Space::Shared))
                        && accesses.iter().all(is_same)
            }
        })
    };
}

fn is_plain_128(load: &Load) -> bool {
    load.bytes == 16 && !load.is_matrix() && !load.vector.instruction.opcode().contains(".U.128")
}

#[rustfmt::skip]
pub(super) const NARROW: &[Mutant] = &[
    // The order of register rules.
    order!("the range of Ra is checked before the alignment of Rd", ["`order-destination-base`"], (OutOfRange, Ra), (Misaligned, Rd)),
    order!("the alignment of Ra is checked before the range of Rd", ["`order-destination-base`", "`order-operands`"], (Misaligned, Ra), (OutOfRange, Rd)),
    order!("the range of the other half is checked before the alignment of Rd", ["`order-halves`"], (OutOfRange, OtherHalf), (Misaligned, Rd)),
    order!("the alignment of the other half is checked before the range of Rd", ["`order-halves`"], (Misaligned, OtherHalf), (OutOfRange, Rd)),
    order!("the range of the other half is checked before its alignment", ["`order-half`"], (OutOfRange, OtherHalf), (Misaligned, OtherHalf)),
    order!("the range of Ra is checked before the alignment of the other half", ["`order-half-base`"], (OutOfRange, Ra), (Misaligned, OtherHalf)),
    order!("the alignment of Ra is checked before the range of the other half", ["`order-half-base`"], (Misaligned, Ra), (OutOfRange, OtherHalf)),
    order!("the range of uniform registers is checked before the alignment of Rd", ["`order-destination-uniform`"], (OutOfRange, Uniform), (Misaligned, Rd)),
    order!("the alignment of uniform registers is checked before the range of Rd", ["`order-destination-uniform`"], (Misaligned, Uniform), (OutOfRange, Rd)),
    order!("the range of uniform registers is checked before the alignment of the other half", ["`order-half-uniform`"], (OutOfRange, Uniform), (Misaligned, OtherHalf)),
    order!("the alignment of uniform registers is checked before the range of the other half", ["`order-half-uniform`"], (Misaligned, Uniform), (OutOfRange, OtherHalf)),
    order!("the range of uniform registers is checked before the alignment of Ra", ["`order-base-uniform`"], (OutOfRange, Uniform), (Misaligned, Ra)),
    order!("the alignment of uniform registers is checked before the range of Ra", ["`order-base-uniform`"], (Misaligned, Uniform), (OutOfRange, Ra)),

    // An Ra at or above the limit, and the last register.
    beyond!("an Ra at the limit is a base", "`base-at-limit`", |ra, limit| (ra == limit).then_some(ra)),
    beyond!("an Ra beyond the limit is the last register", "`beyond-limit-decoys`", |_, limit| Some(limit - 1)),
    beyond!("an Ra beyond the limit is the register at the limit", "`beyond-limit-decoys`", |_, limit| Some(limit)),
    beyond!("an Ra beyond the limit starts anew from R0", "`beyond-limit-decoys`", |ra, limit| ra.checked_sub(limit)),
    beyond!("an Ra beyond the limit is R0", "`beyond-limit-decoys`", |_, _| Some(0)),
    mutant("the limit is the base instead of an Ra beyond it", &["`base-beyond-limit`", "`beyond-limit-decoys`"], |e| e.base = |e, load, lane| {
        if is_beyond(load) { Some(load.limit().into()) } else { (RIGHT.base)(e, load, lane) }
    }),
    mutant("only the high register of a pair has a limit", &["`base-at-limit`", "`beyond-limit-decoys`"], |e| e.base = |e, load, lane| {
        let address = &load.parts.address;
        match address.extended && is_beyond(load) {
            true => Some((e.register)(load, address.base.number(), lane).into()),
            false => (RIGHT.base)(e, load, lane),
        }
    }),
    mutant("beside an Ra beyond the limit the uniform register is ignored", &["`beyond-limit-decoys`", "`beyond-limit-sign`"], |e| e.uniform = |e, load| {
        if is_beyond(load) { 0 } else { (RIGHT.uniform)(e, load) }
    }),
    mutant("an offset beside an Ra beyond the limit is signed", &["`beyond-limit-sign`", "`offset-unsigned`"], |e| e.offset = |load, has_base| {
        if is_beyond(load) { load.parts.address.offset.signed().into() } else { (RIGHT.offset)(load, has_base) }
    }),
    offset!("every offset beside an Ra beyond the limit is unsigned", "`beyond-limit-sign`", |load| is_beyond(load) && !load.is_wide(), |right, _| right & 0xff_ffff),
    mutant("R254 is no base", &["`highest-base`"], |e| e.base = |e, load, lane| {
        (RIGHT.base)(e, load, lane).filter(|_| load.parts.address.base.number() != 254)
    }),

    // Offsets of loads of constants.
    offset!("the sign of an offset without a base is dropped in loads of constants", "`constant-negative-alone`", is_constant, |right, has_register| if has_register { right } else { right.abs() }),
    offset!("a negative offset without a base is 0 in loads of constants", "`constant-negative-alone`", is_constant, |right, has_register| if has_register { right } else { right.max(0) }),
    offset!("an offset without a base is unsigned in loads of constants", "`constant-sign`", is_constant, |right, has_register| if has_register { right } else { right & 0xffff }),
    offset!("the offset of LDCU has 16 bits", "`constant-sign`", |load| is(load, "LDCU"), |right, _| i64::from(right as i16)),
    sum_of_constants!("sums of loads of constants have 16 bits", 16),
    sum_of_constants!("sums of loads of constants have 17 bits", 17),
    sum_of_constants!("sums of loads of constants have 20 bits", 20),
    sum_of_constants!("sums of loads of constants have 24 bits", 24),
    rounding_of_constants!("LDC is not rounded down", &["`constant-misaligned`", "`LDC` fails where the flag `misaligned`"], |load| is(load, "LDC"), 1),
    rounding_of_constants!("ULDC is not rounded down", &["`constant-misaligned`", "`ULDC` fails where the flag `misaligned`"], |load| is(load, "ULDC"), 1),
    rounding_of_constants!("LDCU is not rounded down", &["`constant-misaligned`", "`LDCU` fails where the flag `misaligned`"], |load| is(load, "LDCU"), 1),
    rounding_of_constants!("64 bits of constants are rounded down to 4 bytes", &["`constant-misaligned`"], |load| load.bytes == 8, 4),
    mutant("constants are read at the address if all their bytes are in the bank", &["`constant-misaligned`"], |e| e.round = |load, address| {
        let read = is_constant(load).then(|| (RIGHT.place)(load, 0, address)).flatten().and_then(|(space, offset)| {
            (RIGHT.read)(&(RIGHT.blocks)(load, space, 0), space, offset, load.bytes)
        });
        if read.is_some() { address } else { (RIGHT.round)(load, address) }
    }),

    // Local memory and windows.
    interleaved!("local memory is interleaved for 32 bits", &["`local-words`"], |_| true),
    interleaved!("local memory is interleaved for 32 bits of LD", &["`local-words`", "`LD` of 32 bits fails where the flag `local-window`"], |load| is(load, "LD")),
    interleaved!("local memory is interleaved for 32 bits of LDL", &["`local-words`"], |load| is(load, "LDL")),
    last_byte!("the last byte chooses the window before rounding", &["`crosses-into-memory`", "`crosses-window`"], |_| true),
    last_byte!("the last byte chooses the window if it is in another one", &["`touching-windows`"], |windows| matches!(windows, [Some(one), Some(other)] if one != other)),
    last_byte!("the last byte chooses the window if it is in none", &["`crosses-into-memory`", "`crosses-window`"], |windows| matches!(windows, [Some(_), None])),
    last_byte!("the last byte chooses the window if the first is in none", &["`crosses-into-memory`", "`crosses-address-bits`"], |windows| windows[0].is_none()),
    mutant("the last byte must be below 2^address_bits before rounding", &["`crosses-address-bits`"], |e| {
        e.round = |_, address| address;
        e.place = |load, lane, address| {
            let bits = load.vector.machine.memory.map().address_bits();
            let is_out = is_generic(load) && address.wrapping_add(load.bytes - 1) > u64::MAX >> (64 - bits);
            if is_out { None } else { (RIGHT.place)(load, lane, (RIGHT.round)(load, address)) }
        };
        e.is_broadcast = rounded_broadcast;
    }),

    // Matrices.
    mutant("LDSM without Ra has a signed offset on 75", &["`matrix-alone`"], |e| e.offset = |load, has_base| {
        let right = (RIGHT.offset)(load, has_base);
        let is_of = load.is_matrix() && load.sm == 75 && load.parts.address.base.is_zero();
        if is_of { right << 40 >> 40 } else { right }
    }),
    offset!("LDSM without Ra has an unsigned offset from 80 on", "`matrix-alone`", |load| load.is_matrix() && load.sm >= 80 && load.parts.address.base.is_zero(), |right, _| right & 0xff_ffff),
    offset!("LDSM beside an Ra beyond the limit has an unsigned offset", "`beyond-limit-sign`", |load| load.is_matrix() && is_beyond(load), |right, _| right & 0xff_ffff),
    offset!("transposed matrices have no offset", "`transposed`", is_transposed, |_, _| 0),
    offset!("the sign of an offset is dropped for transposed matrices", "`LDSM` fails where the flag `negative-offset`", is_transposed, |right, _| right.abs()),
    rows!("the rows of matrices are interleaved", "LDSM", |_| true, |count, lane| lane % 8 * count + lane / 8),
    rows!("two matrices of four are exchanged if they are transposed", "`LDSM` of 4 matrices fails where the flag `transposed`", is_transposed, |count, lane| match count {
        4 if (8..24).contains(&lane) => lane ^ 24,
        _ => lane,
    }),
    mutant("the rows of a matrix follow its first one", &["`LDSM`"], |e| e.base = |e, load, lane| match load.is_matrix() {
        true => (RIGHT.base)(e, load, lane / 8 * 8).map(|base| base + 16 * (lane as u64 % 8)),
        false => (RIGHT.base)(e, load, lane),
    }),

    // The broadcast.
    broadcast!("every .128 of one address is a broadcast", |load, _| is_plain_128(load) && !load.fills_uniform()),
    broadcast!("every LD.128 of one address is a broadcast", |load, _| is_plain_128(load) && is(load, "LD")),
    broadcast!("every LD.128 of one address before 70 is a broadcast", |load, _| is_plain_128(load) && is(load, "LD") && load.sm < 70),
    broadcast!("every LDG.128 of one address is a broadcast", |load, _| is_plain_128(load) && is(load, "LDG")),
    broadcast!("every LDS.128 of one address is a broadcast", |load, _| is_plain_128(load) && is(load, "LDS")),
    broadcast!("every LD.128 of one address in a window is a broadcast", |load, access| is_plain_128(load) && is(load, "LD") && access.space == Some(Space::Shared)),
    broadcast!("every load of one address is a broadcast", |_, _| true),
];
