//! [`MUTANTS`]: mistakes of authors of emulators, each in one step of the [`Emulator`], with the names that the report
//! must give them.

use warpload::encoding::{LoadSize, MemorySpace, UniformReg};
use warpload::lane::LaneMask;
use warpload::load::ByFaultKind;
use warpload::memory::Space;
use warpload_suite::vector::Final;

use super::emulator::{Block, Emulator, Load, RIGHT, Rule, byte, rules_by_operand, rules_of};

/// A mistake.
pub(super) struct Mutant {
    pub(super) name: &'static str,
    /// The accepted names. The first sentence that explains the failures must contain one.
    pub(super) says: &'static [&'static str],
    pub(super) change: fn(&mut Emulator),
}

pub(super) const fn mutant(
    name: &'static str,
    says: &'static [&'static str],
    change: fn(&mut Emulator),
) -> Mutant {
    Mutant { name, says, change }
}

fn is_global(load: &Load) -> bool {
    matches!(load.parts.space, MemorySpace::Generic { .. } | MemorySpace::Global)
}

/// Applies `of` to the first register, the count and the limit of each destination group, in place of its rules.
fn filled_rules(load: &Load, of: fn(u8, u8, u8) -> Vec<Rule>) -> Vec<Rule> {
    let [filled, base, uniform] = rules_by_operand(load);
    let filled = match load.fills_uniform() {
        true => filled,
        false => load
            .groups()
            .into_iter()
            .flat_map(|(first, count)| of(first, count, load.limit()))
            .collect(),
    };
    [filled, base, uniform].concat()
}

/// Replaces the rules of the pair of Ra by `of`.
fn base_rules(load: &Load, of: fn(u8, u8) -> Vec<Rule>) -> Vec<Rule> {
    let [filled, _, uniform] = rules_by_operand(load);
    let is_pair = load.parts.address.extended && load.has_base();
    let base = is_pair.then(|| of(load.parts.address.base.number(), load.limit()));
    [filled, base.unwrap_or_default(), uniform].concat()
}

fn low_parts(load: &Load, base: u64, uniform: u64, offset: i64) -> i128 {
    let low = |value: u64| i128::from(value & 0xffff_ffff);
    if load.is_wide() { low(base) + low(uniform) + i128::from(offset) } else { 0 }
}

/// The end of a block; 0 for 2^64.
fn end_of(block: &Block<'_>) -> u64 {
    block.0.wrapping_add(block.1.len() as u64)
}

/// Reads as if a zero followed each block.
fn read_one_more(blocks: &[Block<'_>], offset: u64, bytes: u64) -> Option<[u8; 32]> {
    let holds = |block: &&Block<'_>| {
        let end = u128::from(block.0) + block.1.len() as u128 + 1;
        offset >= block.0 && u128::from(offset) + u128::from(bytes) <= end
    };
    let block = blocks.iter().filter(|block| !block.1.is_empty()).find(holds)?;
    let byte = |at: u64| byte(std::slice::from_ref(block), offset.wrapping_add(at));
    Some(std::array::from_fn(|at| match (at as u64) < bytes {
        true => byte(at as u64).map_or(0, |(_, byte)| byte),
        false => 0,
    }))
}

fn with_registers(after: &mut Final, change: impl Fn(usize, u32) -> u32) {
    for (i, values) in after.registers.values_mut().enumerate() {
        *values = values.map(|value| change(i, value));
    }
    for (i, value) in after.uniform_registers.values_mut().enumerate() {
        *value = change(i, *value);
    }
}

#[rustfmt::skip]
pub(super) const MUTANTS: &[Mutant] = &[
    // Executing lanes.
    mutant("the guard is ignored", &["`guarded-off`", "`guard`", "`no-lane`"],
        |e| e.executes = |load, lane| load.vector.warp.active.contains(lane)),
    mutant("@!P is taken as @P", &["`negated-guard`"], |e| e.executes = |load, lane| {
        let is_true = (RIGHT.executes)(load, lane) != load.parts.guard.negated;
        load.vector.warp.active.contains(lane) && is_true
    }),
    mutant("@!PT is taken as @PT", &["`never-guard`"], |e| e.executes = |load, lane| {
        let guard = load.parts.guard;
        (RIGHT.executes)(load, lane) || guard.pred.is_true() && load.vector.warp.active.contains(lane)
    }),
    mutant("inactive lanes load", &["`inactive-lanes`"], |e| e.executes = |load, lane| {
        let guard = load.parts.guard;
        match load.parts.is_guard_uniform {
            true => load.vector.warp.uniform_predicate(guard.pred) != guard.negated,
            false => load.vector.warp.predicate(guard.pred).contains(lane) != guard.negated,
        }
    }),
    mutant("a uniform guard is lane 0's predicate", &["`guard`", "`negated-guard`", "`ULDC`", "`LDCU`"],
        |e| e.executes = |load, lane| match load.parts.is_guard_uniform {
            true => {
                let guard = load.parts.guard;
                let value = load.vector.warp.predicate(guard.pred).contains(0) || guard.pred.is_true();
                load.vector.warp.active.contains(lane) && value != guard.negated
            }
            false => (RIGHT.executes)(load, lane),
        }),
    mutant("uniform registers are loaded if lane 0 is active", &["`inactive-lanes`", "`single-lane`"],
        |e| e.executes = |load, lane| {
            (RIGHT.executes)(load, lane) && (!load.fills_uniform() || load.vector.warp.active.contains(0))
        }),
    mutant("predicates from P4 on are false", &["`high-predicate`"], |e| e.executes = |load, lane| {
        let guard = load.parts.guard;
        match guard.pred.number() {
            4..7 => guard.negated && load.vector.warp.active.contains(lane),
            _ => (RIGHT.executes)(load, lane),
        }
    }),

    // Registers and their rules.
    mutant("registers need no alignment", &["`misaligned-register`"], |e| e.rules = |load| {
        (RIGHT.rules)(load).into_iter().filter(|rule| *rule != Rule::Misaligned).collect()
    }),
    mutant("registers have no limit", &["`register-limit`"], |e| e.rules = |load| {
        (RIGHT.rules)(load).into_iter().filter(|rule| *rule != Rule::OutOfRange).collect()
    }),
    mutant("RZ as a destination is checked", &["`discarded`"], |e| e.rules = |load| {
        let is_rz = load.groups().iter().any(|(first, _)| *first == 255);
        if is_rz { vec![Rule::OutOfRange] } else { (RIGHT.rules)(load) }
    }),
    mutant("a pair may begin at an odd register", &["of 64 bits fail where the flag `destination-alignment`", "of 64 bits fail where the flag `misaligned-register`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| {
            rules_of(first, count, limit).into_iter().filter(|rule| count != 2 || *rule != Rule::Misaligned).collect()
        })
    }),
    mutant("four registers may begin at any even one", &["`aligned-to-two`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| {
            let rules = rules_of(first, count, limit).into_iter();
            rules.filter(|rule| *rule != Rule::Misaligned || first % 2 != 0).collect()
        })
    }),
    mutant("every register must be even", &["`odd-destination`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| match (first % 2, count, first) {
            (1, 1, 0..=254) => vec![Rule::Misaligned],
            _ => rules_of(first, count, limit),
        })
    }),
    mutant("four registers may begin anywhere", &["`aligned-to-two`", "`misaligned-register`", "`destination-alignment`"],
        |e| e.rules = |load| filled_rules(load, |first, count, limit| {
            rules_of(first, count, limit).into_iter().filter(|rule| count != 4 || *rule != Rule::Misaligned).collect()
        })),
    mutant("a base pair may be odd", &["`base-alignment`", "`order-base`"], |e| e.rules = |load| base_rules(load, |base, limit| {
        rules_of(base, 2, limit).into_iter().filter(|rule| *rule != Rule::Misaligned).collect()
    })),
    mutant("a base pair is not checked against the limit", &["`base-range`", "`base-ends-in-rz`"],
        |e| e.rules = |load| base_rules(load, |base, limit| {
            rules_of(base, 2, limit).into_iter().filter(|rule| *rule != Rule::OutOfRange).collect()
        })),
    mutant("R254 and RZ are a base pair", &["`base-ends-in-rz`"], |e| e.rules = |load| base_rules(load, |base, limit| {
        if base == 254 { Vec::new() } else { rules_of(base, 2, limit) }
    })),
    mutant("R254 and RZ are a destination", &["`destination-ends-in-rz`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| {
            if first == 254 && count == 2 { Vec::new() } else { rules_of(first, count, limit) }
        })
    }),
    mutant("a base pair needs a register below the limit after it", &["`last-base`"],
        |e| e.rules = |load| base_rules(load, |base, limit| {
            let mut rules = rules_of(base, 2, limit);
            if u32::from(base) + 2 == u32::from(limit) { rules.push(Rule::OutOfRange); }
            rules
        })),
    mutant("only the first register is checked against the limit", &["`straddles-limit`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| {
            let rules = rules_of(first, count, limit).into_iter();
            rules.filter(|rule| *rule == Rule::Misaligned || first >= limit).collect()
        })
    }),
    mutant("the last register is refused", &["`last-destination`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| {
            let mut rules = rules_of(first, count, limit);
            if first != 255 && u32::from(first) + u32::from(count) == u32::from(limit) {
                rules.push(Rule::OutOfRange);
            }
            rules
        })
    }),
    mutant("one register beyond the limit is accepted", &["`destination-range`", "`destination-ends-in-rz`"],
        |e| e.rules = |load| filled_rules(load, |first, count, limit| {
            let is_next = u32::from(first) + u32::from(count) == u32::from(limit) + 1;
            rules_of(first, count, limit).into_iter().filter(|rule| *rule == Rule::Misaligned || !is_next).collect()
        })),
    mutant("the limit is checked before alignment", &["`order-destination`"], |e| e.rules = |load| {
        filled_rules(load, |first, count, limit| rules_of(first, count, limit).into_iter().rev().collect())
    }),
    mutant("the address is checked before the destination", &["`order-operands`"], |e| e.rules = |load| {
        let [filled, base, uniform] = rules_by_operand(load);
        [base, uniform, filled].concat()
    }),
    mutant("Ra is checked against the limit first", &["`order-base`"], |e| e.rules = |load| {
        base_rules(load, |base, limit| rules_of(base, 2, limit).into_iter().rev().collect())
    }),
    mutant("alignment of all operands is checked first", &["`order-operands`"], |e| e.rules = |load| {
        let mut rules = (RIGHT.rules)(load);
        rules.sort_by_key(|rule| *rule != Rule::Misaligned);
        rules
    }),
    mutant("rules are checked although no lane executes", &["`unfaulted`"], |e| e.checks_first = true),
    mutant("uniform registers need no alignment", &["`uniform-alignment`"], |e| e.rules = |load| {
        let [filled, base, uniform] = rules_by_operand(load);
        let filled = filled.into_iter().filter(|rule| !load.fills_uniform() || *rule != Rule::Misaligned).collect();
        let uniform = uniform.into_iter().filter(|rule| *rule != Rule::Misaligned).collect();
        [filled, base, uniform].concat()
    }),
    mutant("uniform registers have no limit", &["`uniform-range`"], |e| e.rules = |load| {
        let [filled, base, uniform] = rules_by_operand(load);
        let filled = filled.into_iter().filter(|rule| !load.fills_uniform() || *rule != Rule::OutOfRange).collect();
        let uniform = uniform.into_iter().filter(|rule| *rule != Rule::OutOfRange).collect();
        [filled, base, uniform].concat()
    }),
    mutant("uniform registers end at the kernel's limit", &["`uniform-beyond-limit`"], |e| e.rules = |load| {
        let groups = load.groups().into_iter().filter(|(first, _)| load.fills_uniform() && *first != 255);
        let is_beyond = groups.into_iter().any(|(first, count)| first.saturating_add(count) > load.limit())
            || load.parts.address.uniform.is_some_and(|one| {
                !one.register.is_zero() && one.register.number() >= load.limit()
            });
        let mut rules = (RIGHT.rules)(load);
        if is_beyond { rules.push(Rule::OutOfRange); }
        rules
    }),
    mutant("there are 63 uniform registers on all SMs", &["`high-uniform`"], |e| e.rules = |load| {
        let mut rules = (RIGHT.rules)(load);
        let groups = load.groups().into_iter().filter(|_| load.fills_uniform());
        let address = load.parts.address.uniform.map(|one| (one.register.number(), 1 + u8::from(one.extended)));
        if groups.chain(address).any(|(first, count)| first != 255 && u32::from(first) + u32::from(count) > 63) {
            rules.push(Rule::OutOfRange);
        }
        rules
    }),
    mutant("the other half of 256 bits is not checked", &["`high-half-fault`"], |e| e.rules = |load| {
        let [filled, base, uniform] = rules_by_operand(load);
        match (load.groups()[..].len(), load.groups().first()) {
            (2, Some((first, count))) if !load.fills_uniform() => {
                [rules_of(*first, *count, load.limit()), base, uniform].concat()
            }
            _ => [filled, base, uniform].concat(),
        }
    }),
    mutant("a descriptor must be an even register", &["`odd-descriptor`"], |e| e.rules = |load| {
        let mut rules = (RIGHT.rules)(load);
        let field = |name| load.vector.instruction.describe().filter(|field| field.name() == name).last();
        let number = field("UR").map_or(0, |field| field.raw);
        if field("desc").is_some_and(|field| field.raw == 1) && number % 2 != 0 && number < 63 {
            rules.push(Rule::Misaligned);
        }
        rules
    }),
    mutant("LDSM needs no aligned registers", &["`LDSM`"], |e| e.rules = |load| {
        let rules = (RIGHT.rules)(load).into_iter();
        rules.filter(|rule| !load.is_matrix() || *rule != Rule::Misaligned).collect()
    }),
    mutant("an Ra beyond the limit is read", &["`base-beyond-limit`", "`beyond-limit-decoys`"], |e| e.base = |e, load, lane| {
        match (load.parts.address.base.number(), load.has_base()) {
            (255, _) | (_, true) => (RIGHT.base)(e, load, lane),
            (number, false) => Some((e.register)(load, number, lane).into()),
        }
    }),
    mutant("an Ra beyond the limit is a fault", &["`base-beyond-limit`"], |e| e.rules = |load| {
        let mut rules = (RIGHT.rules)(load);
        if load.parts.address.base.number() != 255 && !load.has_base() { rules.push(Rule::OutOfRange); }
        rules
    }),
    mutant("an odd Ra of 32 bits is a fault", &["`odd-base`"], |e| e.rules = |load| {
        let mut rules = (RIGHT.rules)(load);
        let address = &load.parts.address;
        if !address.extended && load.has_base() && address.base.number() % 2 != 0 { rules.push(Rule::Misaligned); }
        rules
    }),
    mutant("register numbers have 7 bits", &["`high-register`"], |e| {
        e.registers = |load| {
            let registers = (RIGHT.registers)(load).into_iter();
            registers.map(|number| if number == 255 || load.fills_uniform() { number } else { number & 127 }).collect()
        };
        e.register = |load, number, lane| (RIGHT.register)(load, number & 127, lane);
    }),
    mutant("the destination is cleared before the address is read", &["`overlap`"], |e| {
        e.register = |load, number, lane| {
            let is_filled = load.groups().iter().any(|(first, count)| {
                !load.fills_uniform() && *first != 255 && (*first..=first.saturating_add(count - 1)).contains(&number)
            });
            if is_filled { 0 } else { (RIGHT.register)(load, number, lane) }
        };
    }),

    // Addresses.
    mutant("the sign of an offset is dropped", &["`negative-offset`"],
        |e| e.offset = |load, has_base| (RIGHT.offset)(load, has_base).abs()),
    mutant("offsets are zero-extended", &["`negative-offset`"], |e| e.offset = |load, has_base| {
        (RIGHT.offset)(load, has_base) & 0xff_ffff
    }),
    mutant("an offset without a base is sign-extended", &["`offset-unsigned`"], |e| e.offset = |load, _| {
        load.parts.address.offset.signed().into()
    }),
    mutant("a sum of 32 bits carries into the high word", &["`address-wraps`"], |e| {
        e.sum = |_, base, uniform, offset| base.wrapping_add(uniform).wrapping_add(offset as u64);
    }),
    mutant("the carry into the high word is lost", &["`carry`"], |e| e.sum = |load, base, uniform, offset| {
        let sum = (RIGHT.sum)(load, base, uniform, offset);
        if low_parts(load, base, uniform, offset) >= 1 << 32 { sum.wrapping_sub(1 << 32) } else { sum }
    }),
    mutant("the borrow from the high word is lost", &["`borrow`"], |e| e.sum = |load, base, uniform, offset| {
        let sum = (RIGHT.sum)(load, base, uniform, offset);
        if low_parts(load, base, uniform, offset) < 0 { sum.wrapping_add(1 << 32) } else { sum }
    }),
    mutant("an offset is added to the low word alone", &["`carry`", "`borrow`"], |e| e.sum = |load, base, uniform, offset| {
        match load.is_wide() {
            true => {
                let wide = base.wrapping_add(uniform);
                wide & !0xffff_ffff | wide.wrapping_add(offset as u64) & 0xffff_ffff
            }
            false => (RIGHT.sum)(load, base, uniform, offset),
        }
    }),
    mutant("addresses of 64 bits are cut to 32", &["`high-word`"], |e| {
        e.sum = |_, base, uniform, offset| base.wrapping_add(uniform).wrapping_add(offset as u64) & 0xffff_ffff;
    }),
    mutant("the high word of Ra is ignored", &["`high-word`"], |e| e.base = |e, load, lane| {
        (RIGHT.base)(e, load, lane).map(|base| base & 0xffff_ffff)
    }),
    mutant("an address of 32 bits takes the pair", &["`stale-pair`"], |e| {
        e.base = |e, load, lane| {
            let base = (RIGHT.base)(e, load, lane)?;
            let next = load.parts.address.base.number() + 1;
            let is_narrow = is_global(load) && !load.is_wide();
            Some(if is_narrow { base | u64::from((e.register)(load, next, lane)) << 32 } else { base })
        };
        e.sum = |load, base, uniform, offset| {
            let sum = (RIGHT.sum)(load, base, uniform, offset);
            if is_global(load) && !load.is_wide() { base >> 32 << 32 | sum } else { sum }
        };
    }),
    mutant("Ra.U32 is sign-extended", &["`high-index`"], |e| e.base = |e, load, lane| {
        let base = (RIGHT.base)(e, load, lane)?;
        let is_index = load.is_wide() && !load.parts.address.extended;
        Some(if is_index { base as u32 as i32 as i64 as u64 } else { base })
    }),
    mutant("the scale of Ra is ignored", &["`scaled-index`"], |e| e.base = |e, load, lane| {
        (RIGHT.base)(e, load, lane).map(|base| base >> load.parts.address.scale())
    }),
    mutant("the scale also multiplies the offset", &["`scaled-index`"], |e| e.offset = |load, has_base| {
        (RIGHT.offset)(load, has_base) << load.parts.address.scale()
    }),
    mutant("the uniform register is ignored", &["`uniform-register`"], |e| e.uniform = |_, _| 0),
    mutant("a uniform pair has 32 bits", &["`uniform-register`", "`uniform-alone`", "`high-word`"], |e| {
        e.uniform = |e, load| (RIGHT.uniform)(e, load) & 0xffff_ffff;
    }),
    mutant("a descriptor is added to the address", &["`descriptor`"], |e| e.uniform = |e, load| {
        let field = |name| load.vector.instruction.describe().filter(|field| field.name() == name).last();
        match field("desc") {
            Some(field_desc) if field_desc.raw == 1 => {
                (e.uniform_register)(load, field("UR").map_or(255, |field| field.raw as u8)).into()
            }
            _ => (RIGHT.uniform)(e, load),
        }
    }),
    mutant("desc[UR][RZ.64] takes R0", &["`descriptor-alone`"], |e| e.base = |e, load, lane| {
        let desc = load.vector.instruction.describe().any(|field| field.name() == "desc" && field.raw == 1);
        match desc && load.parts.address.base.is_zero() {
            true => Some(u64::from((e.register)(load, 0, lane)) + 0x1_0000),
            false => (RIGHT.base)(e, load, lane),
        }
    }),
    mutant("without a base the uniform register is ignored", &["`uniform-alone`"], |e| e.uniform = |e, load| {
        if load.has_base() || load.fills_uniform() { (RIGHT.uniform)(e, load) } else { 0 }
    }),
    mutant("address bits beyond the machine's are masked", &["`above-address-bits`"], |e| e.place = |load, lane, address| {
        let bits = load.vector.machine.memory.map().address_bits();
        let masked = if is_global(load) { address & u64::MAX >> (64 - bits) } else { address };
        (RIGHT.place)(load, lane, masked)
    }),
    mutant("addresses have 40 bits on all SMs", &["`beyond-40-bits`"], |e| e.place = |load, lane, address| {
        let bits = load.vector.machine.memory.map().address_bits();
        let is_beyond = bits == 49 && address >> 40 != 0;
        (RIGHT.place)(load, lane, address).filter(|(space, _)| !is_beyond || *space != Space::Global)
    }),
    mutant("address bits are not configured", &["`width-decides`", "`own-address-bits`"], |e| e.place = |load, lane, address| {
        let default = if load.sm < 70 { 40 } else { 49 };
        let placed = (RIGHT.place)(load, lane, address);
        match (placed, load.parts.space) {
            (Some((Space::Global, _)), MemorySpace::Generic { .. }) if address >> default != 0 => None,
            (None, MemorySpace::Generic { .. }) if address >> default == 0 && load.plg(lane) != Some(false) && !(load.windows()[0].0..=load.windows()[0].1).contains(&address) => {
                Some((Space::Global, address))
            }
            (placed, _) => placed,
        }
    }),

    // Rounding.
    mutant("addresses are not rounded down", &["`misaligned`"], |e| e.round = |_, address| address),
    mutant("addresses are rounded to words", &["`misaligned`", "`misaligned-first`", "`misaligned-last`"], |e| e.round = |load, address| address & !(load.bytes.min(4) - 1)),
    mutant("addresses are rounded to the nearest", &["`misaligned`"], |e| e.round = |load, address| {
        address.wrapping_add(load.bytes / 2) / load.bytes * load.bytes
    }),
    mutant("256 bits are rounded to 16 bytes", &["into eight registers", "of 256 bits"], |e| e.round = |load, address| {
        let bytes = load.bytes.min(16);
        address / bytes * bytes
    }),
    mutant("bytes are loaded from the start of their word", &["`within-word`"], |e| e.round = |load, address| {
        let bytes = load.bytes.max(4);
        address / bytes * bytes
    }),
    mutant("misalignment is always reported", &["`misaligned`"], |e| e.finish = |load, accesses, after| {
        if !load.fills_uniform() && !load.is_matrix() {
            let lanes = (0..32).filter(|lane| (RIGHT.executes)(load, *lane)).zip(accesses);
            let misaligned = lanes.filter(|(_, access)| access.address % load.bytes != 0);
            let bits = misaligned.fold(0, |bits, (lane, _)| bits | 1u32 << lane);
            after.lane_faults.misaligned_address = LaneMask::from_bits(bits);
        }
    }),
    mutant("misalignment is never reported", &["`misaligned-reported`"], |e| e.finish = |_, _, after| {
        after.lane_faults.misaligned_address = LaneMask::NONE;
    }),
    mutant("a misaligned lane that is reported loads zeroes", &["`misaligned-reported`"], |e| e.finish = |load, _, after| {
        let lanes = after.lane_faults.misaligned_address;
        for values in after.registers.values_mut().filter(|_| !load.is_matrix()) {
            lanes.lanes().for_each(|lane| values[lane] = 0);
        }
    }),
    mutant("a misaligned lane outside is reported once", &["`misaligned-reported`"], |e| e.finish = |_, _, after| {
        let ByFaultKind { outside_window, outside_allocation, misaligned_address } = &mut after.lane_faults;
        let outside = outside_window.bits() | outside_allocation.bits();
        *misaligned_address = LaneMask::from_bits(misaligned_address.bits() & !outside);
    }),

    // Windows.
    mutant("the shared window is global", &["`shared-window`"], |e| e.place = |load, lane, address| {
        match (RIGHT.place)(load, lane, address) {
            Some((Space::Shared, _)) if load.parts.space != MemorySpace::Shared => Some((Space::Global, address)),
            placed => placed,
        }
    }),
    mutant("the local window is global", &["`local-window`"], |e| e.place = |load, lane, address| {
        match (RIGHT.place)(load, lane, address) {
            Some((Space::Local, _)) if load.parts.space != MemorySpace::Local => Some((Space::Global, address)),
            placed => placed,
        }
    }),
    mutant("windows are the default ones", &["`own-windows`", "`below-windows`", "`between-windows`", "`above-windows`"], |e| e.place = |load, lane, address| {
        if !matches!(load.parts.space, MemorySpace::Generic { .. }) { return (RIGHT.place)(load, lane, address); }
        let plg = load.plg(lane);
        match address {
            0xfe00_0000..0xff00_0000 if plg != Some(true) => Some((Space::Shared, address - 0xfe00_0000)),
            0xff00_0000..0x1_0000_0000 if plg != Some(false) => Some((Space::Local, address - 0xff00_0000)),
            _ if plg == Some(false) || (0xfe00_0000..0xff00_0000).contains(&address) => None,
            _ => {
                let bits = load.vector.machine.memory.map().address_bits();
                (address <= u64::MAX >> (64 - bits)).then_some((Space::Global, address))
            }
        }
    }),
    mutant("what is between the windows is in one", &["`between-windows`"], |e| e.place = |load, lane, address| {
        let [shared, local] = load.windows();
        let is_between = address > shared.1.min(local.1) && address < shared.0.max(local.0);
        (RIGHT.place)(load, lane, address).filter(|(space, _)| {
            !is_between || *space != Space::Global || !matches!(load.parts.space, MemorySpace::Generic { .. })
        })
    }),
    mutant("what is above the windows is outside", &["`above-windows`"], |e| e.place = |load, lane, address| {
        let [shared, local] = load.windows();
        (RIGHT.place)(load, lane, address).filter(|(space, _)| {
            *space != Space::Global || address <= shared.1.max(local.1)
                || !matches!(load.parts.space, MemorySpace::Generic { .. })
        })
    }),
    mutant("what is below the windows is outside", &["`below-windows`", "`global-memory`"], |e| e.place = |load, lane, address| {
        let [shared, local] = load.windows();
        (RIGHT.place)(load, lane, address).filter(|(space, _)| {
            *space != Space::Global || address >= shared.0.min(local.0)
                || !matches!(load.parts.space, MemorySpace::Generic { .. })
        })
    }),
    mutant("windows are exchanged", &["`shared-window`", "`local-window`"], |e| e.place = |load, lane, address| {
        match ((RIGHT.place)(load, lane, address), load.parts.space) {
            (Some((Space::Shared, offset)), MemorySpace::Generic { .. }) => Some((Space::Local, offset)),
            (Some((Space::Local, offset)), MemorySpace::Generic { .. }) => Some((Space::Shared, offset)),
            (placed, _) => placed,
        }
    }),
    mutant("a window ends one access later", &["`window-edge`", "`between-windows`", "`above-windows`"], |e| e.place = |load, lane, address| {
        let [shared, local] = load.windows();
        let after = [shared, local].into_iter().any(|(_, last)| last.wrapping_add(1) == address);
        let is_in = [shared, local].into_iter().any(|(base, last)| (base..=last).contains(&address));
        (RIGHT.place)(load, lane, address).filter(|(space, _)| {
            !after || is_in || *space != Space::Global || !matches!(load.parts.space, MemorySpace::Generic { .. })
        })
    }),
    mutant("the first address of a window is not in it", &["`window-edge`", "`first-access`", "`shared-window`"], |e| e.place = |load, lane, address| {
        let [shared, local] = load.windows();
        let is_first = address == shared.0 || address == local.0;
        match (RIGHT.place)(load, lane, address) {
            Some((Space::Shared | Space::Local, 0)) if is_first && matches!(load.parts.space, MemorySpace::Generic { .. }) => {
                Some((Space::Global, address))
            }
            placed => placed,
        }
    }),
    mutant("addresses in a window are not relative to it", &["`shared-window`", "`local-window`"], |e| e.place = |load, lane, address| {
        match (RIGHT.place)(load, lane, address) {
            Some((space @ (Space::Shared | Space::Local), _)) => Some((space, address)),
            placed => placed,
        }
    }),
    mutant("Plg is ignored", &["`predicate-false-outside`", "`predicate-true-in-shared`", "`outside-window`"], |e| e.place = |load, lane, address| {
        let [shared, _] = load.windows();
        match load.plg(lane) {
            Some(false) if !(shared.0..=shared.1).contains(&address) => {
                let bits = load.vector.machine.memory.map().address_bits();
                (address <= u64::MAX >> (64 - bits)).then_some((Space::Global, address))
            }
            Some(true) if (shared.0..=shared.1).contains(&address) => Some((Space::Shared, address - shared.0)),
            _ => (RIGHT.place)(load, lane, address),
        }
    }),
    mutant("the shared window needs no Plg", &["`predicate-true-in-shared`"], |e| e.place = |load, lane, address| {
        let [shared, _] = load.windows();
        match (load.plg(lane), (shared.0..=shared.1).contains(&address)) {
            (Some(true), true) => Some((Space::Shared, address - shared.0)),
            _ => (RIGHT.place)(load, lane, address),
        }
    }),
    mutant("Plg is the first lane's", &["`divided-predicate`"], |e| e.place = |load, lane, address| {
        let first = (0..32).find(|lane| (RIGHT.executes)(load, *lane)).unwrap_or(lane);
        (RIGHT.place)(load, if load.plg(lane).is_some() { first } else { lane }, address)
    }),
    mutant("outside of a window is outside of an allocation", &["`outside-window`"], |e| e.finish = |_, _, after| {
        let ByFaultKind { outside_window, outside_allocation, .. } = &mut after.lane_faults;
        *outside_allocation = LaneMask::from_bits(outside_allocation.bits() | outside_window.bits());
        *outside_window = LaneMask::NONE;
    }),

    // Allocations.
    mutant("an access goes on into the next allocation", &["`adjacent-allocations`"], |e| e.read = |blocks, space, offset, bytes| {
        let space = if space == Space::Global { Space::Local } else { space };
        (RIGHT.read)(blocks, space, offset, bytes)
    }),
    mutant("bytes that are not allocated are zero", &["`crosses-allocation`"], |e| e.read = |blocks, _, offset, bytes| {
        let mut read = [0; 32];
        let mut is_any = false;
        for (at, to) in (0..bytes).zip(&mut read) {
            let found = byte(blocks, offset.wrapping_add(at));
            is_any |= found.is_some();
            *to = found.map_or(0, |(_, byte)| byte);
        }
        is_any.then_some(read)
    }),
    mutant("only the first byte must be allocated", &["`crosses-allocation`"], |e| e.read = |blocks, _, offset, bytes| {
        byte(blocks, offset)?;
        Some(std::array::from_fn(|at| match (at as u64) < bytes {
            true => byte(blocks, offset.wrapping_add(at as u64)).map_or(0, |(_, byte)| byte),
            false => 0,
        }))
    }),
    mutant("the byte after an allocation is allocated", &["`just-after`", "`crosses-allocation`"], |e| e.read = |blocks, space, offset, bytes| {
        (RIGHT.read)(blocks, space, offset, bytes).or_else(|| read_one_more(blocks, offset, bytes))
    }),
    mutant("an access may begin where an allocation ends", &["`just-after`"], |e| e.read = |blocks, space, offset, bytes| {
        let right = (RIGHT.read)(blocks, space, offset, bytes);
        let is_end = blocks.iter().any(|block| !block.1.is_empty() && end_of(block) == offset);
        right.or(is_end.then_some([0; 32]))
    }),
    mutant("the byte before an allocation is allocated", &["`just-before`"], |e| e.read = |blocks, space, offset, bytes| {
        let right = (RIGHT.read)(blocks, space, offset, bytes);
        let is_before = blocks.iter().any(|block| !block.1.is_empty() && offset.checked_add(bytes) == Some(block.0));
        right.or(is_before.then_some([0; 32]))
    }),
    mutant("the last access of an allocation is refused", &["`last-access`"], |e| e.read = |blocks, space, offset, bytes| {
        let is_last = blocks.iter().any(|block| !block.1.is_empty() && end_of(block) == offset.wrapping_add(bytes));
        (RIGHT.read)(blocks, space, offset, bytes).filter(|_| !is_last)
    }),
    mutant("the first access of an allocation is refused", &["`first-access`"], |e| e.read = |blocks, space, offset, bytes| {
        let is_first = blocks.iter().any(|block| !block.1.is_empty() && block.0 == offset);
        (RIGHT.read)(blocks, space, offset, bytes).filter(|_| !is_first)
    }),
    mutant("an allocation begins at a multiple of the access", &["`rounds-out`", "`unaligned-allocation`", "`adjacent-allocations`"], |e| e.read = |blocks, space, offset, bytes| {
        let right = (RIGHT.read)(blocks, space, offset, bytes);
        let holds = |block: &Block<'_>| {
            let start = block.0 / bytes * bytes;
            space == Space::Global && offset >= start && offset.wrapping_add(bytes) <= end_of(block)
        };
        right.or_else(|| blocks.iter().any(holds).then(|| {
            std::array::from_fn(|at| byte(blocks, offset.wrapping_add(at as u64)).filter(|_| (at as u64) < bytes).map_or(0, |(_, byte)| byte))
        }))
    }),
    mutant("slots are counted from the base of an allocation", &["`unaligned-allocation`"], |e| e.blocks = |load, space, lane| {
        let blocks = (RIGHT.blocks)(load, space, lane).into_iter();
        blocks.map(|(start, bytes)| match space {
            Space::Global => (start / load.bytes * load.bytes, bytes),
            _ => (start, bytes),
        }).collect()
    }),
    mutant("bounds are checked before rounding", &["`misaligned-last`", "`crosses-allocation`", "`rounds-out`"], |e| {
        e.finish = |load, accesses, after| {
            // Marks an access that ends beyond its allocation before rounding.
            if load.fills_uniform() || load.is_matrix() { return; }
            let lanes = (0..32).filter(|lane| (RIGHT.executes)(load, *lane)).zip(accesses);
            let mut bits = after.lane_faults.outside_allocation.bits();
            for (lane, access) in lanes {
                let Some((space, offset)) = (RIGHT.place)(load, lane, access.address) else { continue };
                let blocks = (RIGHT.blocks)(load, space, lane);
                if access.words.is_some() && (RIGHT.read)(&blocks, space, offset, load.bytes).is_none() {
                    bits |= 1 << lane;
                }
            }
            after.lane_faults.outside_allocation = LaneMask::from_bits(bits);
        };
    }),
    mutant("local memory is lane 0's", &["`local-window`", "`LDL`"], |e| e.blocks = |load, space, lane| {
        (RIGHT.blocks)(load, space, if space == Space::Local { 0 } else { lane })
    }),
    mutant("the high part of local memory is missing", &["`local-high`"], |e| e.blocks = |load, space, lane| {
        let mut blocks = (RIGHT.blocks)(load, space, lane);
        if space == Space::Local { blocks.truncate(1); }
        blocks
    }),
    mutant("the high part of local memory follows the low one", &["`local-high`"], |e| e.blocks = |load, space, lane| {
        let mut blocks = (RIGHT.blocks)(load, space, lane);
        if let (Space::Local, [low, high]) = (space, &mut blocks[..]) { high.0 = low.1.len() as u64; }
        blocks
    }),
    mutant("local memory is not joined", &["`crosses-local-parts`"], |e| e.read = |blocks, _, offset, bytes| {
        (RIGHT.read)(blocks, Space::Global, offset, bytes)
    }),
    mutant("a missing bank holds zeroes", &["`missing-bank`"], |e| e.read = |blocks, space, offset, bytes| {
        (RIGHT.read)(blocks, space, offset, bytes).or(blocks.is_empty().then_some([0; 32]))
    }),
    mutant("an empty bank holds zeroes", &["`empty-bank`"], |e| e.read = |blocks, space, offset, bytes| {
        let is_empty = matches!((space, blocks), (Space::Constant { .. }, [(_, [])]));
        (RIGHT.read)(blocks, space, offset, bytes).or(is_empty.then_some([0; 32]))
    }),
    mutant("constant banks have numbers of 4 bits", &["`high-bank`"], |e| e.blocks = |load, space, lane| {
        (RIGHT.blocks)(load, match space {
            Space::Constant { bank } => Space::Constant { bank: bank & 15 },
            space => space,
        }, lane)
    }),

    // Lanes outside the allocations.
    mutant("a lane outside keeps its registers", &["`outside-allocation`", "`all-outside`", "`one-lane-outside`", "`outside-window`"], |e| e.outside = |_| None),
    mutant("a lane outside loads ones", &["`outside-allocation`", "`all-outside`", "`one-lane-outside`", "`outside-window`"], |e| e.outside = |_| Some([u32::MAX; 8])),
    mutant("one lane outside stops all", &["`one-lane-outside`", "`outside-allocation`"], |e| e.finish = |load, accesses, after| {
        if accesses.iter().any(|access| access.words.is_none()) && !load.is_matrix() { after.registers.clear(); }
    }),
    mutant("the first fault ends the warp", &["`one-lane-outside`", "`outside-allocation`"], |e| e.finish = |_, _, after| {
        let mask = &mut after.lane_faults.outside_allocation;
        *mask = LaneMask::from_bits(mask.bits() & mask.bits().wrapping_neg());
    }),

    // Values.
    mutant("words are big-endian", &["`whole-words`"], |e| e.words = |load, bytes| {
        let words = (RIGHT.words)(load, bytes);
        if load.bytes >= 4 { words.map(u32::swap_bytes) } else { words }
    }),
    mutant("halfwords are big-endian", &["of 16 bits"], |e| e.words = |load, mut bytes| {
        if load.bytes == 2 { bytes[..2].reverse(); }
        (RIGHT.words)(load, bytes)
    }),
    mutant("signed numbers are zero-extended", &["`sign-extension`"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.is_signed() { words[0] &= u32::MAX >> (32 - 8 * load.bytes); }
        words
    }),
    mutant("bytes are sign-extended to 16 bits", &["`sign-extension`"], |e| e.words = |load, bytes| {
        let words = (RIGHT.words)(load, bytes);
        if load.is_signed() && load.bytes == 1 { words.map(|word| word & 0xffff) } else { words }
    }),
    mutant("unsigned numbers are sign-extended", &["`zero-extension`"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        match load.bytes {
            1 => words[0] = words[0] as u8 as i8 as u32,
            2 => words[0] = words[0] as u16 as i16 as u32,
            _ => {}
        }
        words
    }),
    mutant("a number of 8 or 16 bits keeps the rest of its register", &["of 8 bits", "of 16 bits", "`within-word`"], |e| e.finish = |load, _, after| {
        for (register, values) in after.registers.iter_mut().filter(|_| load.bytes < 4 && !load.is_matrix()) {
            let held = load.vector.warp.register(*register);
            let mask = u32::MAX >> (32 - 8 * load.bytes);
            for (value, held) in values.iter_mut().zip(held) { *value = *value & mask | held & !mask; }
        }
    }),
    mutant("two registers are exchanged", &["into two registers", "of 64 bits"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.bytes == 8 { words.swap(0, 1); }
        words
    }),
    mutant("four registers are filled from the last one", &["into four registers", "of 128 bits"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.bytes == 16 && !load.is_matrix() { words[..4].reverse(); }
        words
    }),
    mutant("64 bits fill one register", &["into two registers", "of 64 bits"], |e| e.finish = |load, _, after| {
        if load.bytes == 8 {
            if let Some((last, _)) = after.registers.pop_last() { after.registers.remove(&last); }
            if after.uniform_registers.len() == 2 { after.uniform_registers.pop_last(); }
        }
    }),
    mutant("the halves of 256 bits are exchanged", &["into eight registers", "of 256 bits"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.bytes == 32 { words.rotate_left(4); }
        words
    }),
    mutant("256 bits fill eight registers in a row", &["into eight registers", "of 256 bits"], |e| e.registers = |load| match load.groups()[..] {
        [(first, _), (_, _)] if first < 248 => (first..first + 8).collect(),
        _ => (RIGHT.registers)(load),
    }),
    mutant("256 bits fill half of a half", &["into eight registers", "of 256 bits"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.bytes == 32 { words.copy_within(0..4, 4); }
        words
    }),
    mutant("a load into RZ is not made", &["`discarded`"], |e| e.finish = |load, _, after| {
        if load.groups().iter().all(|(first, _)| *first == 255) { *after = Final::default(); }
    }),
    mutant("loads of constants lose their sign", &["LDC", "ULDC", "LDCU", "`sign-extension`"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.is_signed() && matches!(load.parts.space, MemorySpace::Constant { .. }) {
            words[0] &= u32::MAX >> (32 - 8 * load.bytes);
        }
        words
    }),

    // The broadcast.
    mutant("a broadcast is not reported", &["`uniform`"], |e| e.is_broadcast = |_, _| false),
    mutant("every .U.128 is a broadcast", &["`divergent-uniform`"], |e| e.is_broadcast = |load, _| load.is_uniform()),
    mutant("a broadcast is decided before rounding", &["`rounded-broadcast`"], |e| e.is_broadcast = |load, accesses| {
        (RIGHT.is_broadcast)(load, accesses)
            && accesses.iter().all(|access| access.address == accesses[0].address)
    }),
    mutant("a misaligned access is no broadcast", &["`rounded-broadcast`", "`misaligned-broadcast`"], |e| e.is_broadcast = |load, accesses| {
        (RIGHT.is_broadcast)(load, accesses) && accesses.iter().all(|access| access.address == access.rounded)
    }),
    mutant("local memory is broadcast", &["`local-uniform`"], |e| e.is_broadcast = |load, accesses| {
        let first = &accesses[0];
        load.is_uniform() && first.space.is_some() && accesses.iter().all(|access| {
            access.words.is_some() && (access.rounded, access.space) == (first.rounded, first.space)
        })
    }),
    mutant("an address outside is broadcast", &["`outside-uniform`", "`all-outside`"], |e| e.is_broadcast = |load, accesses| {
        let first = &accesses[0];
        load.is_uniform() && matches!(first.space, Some(Space::Global | Space::Shared))
            && accesses.iter().all(|access| (access.rounded, access.space) == (first.rounded, first.space))
    }),
    mutant("one lane is no broadcast", &["`lone-broadcast`"], |e| e.is_broadcast = |load, accesses| {
        (RIGHT.is_broadcast)(load, accesses) && accesses.len() > 1
    }),
    mutant("a load into RZ is no broadcast", &["`discarded`", "`discarded-broadcast`"], |e| e.is_broadcast = |load, accesses| {
        (RIGHT.is_broadcast)(load, accesses) && load.groups()[0].0 != 255
    }),
    mutant("the .U.128 of SM 7.x is a broadcast", &["`hint-128`"], |e| e.is_broadcast = |load, accesses| {
        (RIGHT.is_broadcast)(load, accesses)
            || load.sm >= 70 && load.bytes == 16 && load.vector.instruction.opcode().contains(".U.128")
                && accesses.iter().all(|access| access.words.is_some() && access.rounded == accesses[0].rounded)
    }),
    mutant("shared memory is not broadcast", &["`shared-broadcast`", "`uniform`"], |e| e.is_broadcast = |load, accesses| {
        (RIGHT.is_broadcast)(load, accesses) && accesses[0].space == Some(Space::Global)
    }),

    // Loads of uniform registers, and matrices.
    mutant("a fault of a uniform load marks one lane", &["`fault-for-all-lanes`"], |e| e.finish = |load, _, after| {
        if load.fills_uniform() {
            let mask = after.lane_faults.outside_allocation.bits();
            after.lane_faults.outside_allocation = LaneMask::from_bits(mask & mask.wrapping_neg());
        }
    }),
    mutant("URZ is filled", &["`discarded`"], |e| e.finish = |load, _, after| {
        if load.fills_uniform() && load.groups()[0].0 == 255 && after.fault.is_none() {
            after.uniform_registers.insert(UniformReg::new(0), 0x55);
        }
    }),
    mutant("matrices are never transposed", &["`transposed`"], |e| e.elements = |_, lane| (RIGHT.elements)(false, lane)),
    mutant("transposed matrices give rows in pairs", &["`transposed`"], |e| e.elements = |transposed, lane| {
        let [one, other] = (RIGHT.elements)(transposed, lane);
        if transposed { [other, one] } else { [one, other] }
    }),
    mutant("the elements of a row are exchanged", &["`LDSM`"], |e| e.elements = |transposed, lane| {
        let [one, other] = (RIGHT.elements)(transposed, lane);
        if transposed { [one, other] } else { [other, one] }
    }),
    mutant("the second matrix is the first one's", &["`LDSM`"], |e| e.finish = |load, _, after| {
        if load.is_matrix() && after.registers.len() > 1 {
            let mut registers = after.registers.values_mut();
            if let (Some(first), Some(second)) = (registers.next(), registers.next()) { *second = *first; }
        }
    }),
    mutant("four matrices are filled in another order", &["`LDSM`"], |e| e.registers = |load| {
        let mut registers = (RIGHT.registers)(load);
        if load.is_matrix() && registers.len() == 4 { registers.swap(1, 2); }
        registers
    }),
    mutant("a fault of a row marks all lanes", &["`matrix-fault`"], |e| e.finish = |load, _, after| {
        let mask = &mut after.lane_faults.outside_allocation;
        if load.is_matrix() && !mask.is_empty() { *mask = LaneMask::ALL; }
    }),

    // Instructions and SMs.
    mutant("LDG.256 is wrong on 100 and later", &["`LDG` of 256 bits from sm_100 on"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.size == LoadSize::Bits256 && !load.fills_uniform() && load.sm >= 100 { words.rotate_left(4); }
        words
    }),
    mutant("LDS is wrong on 75", &["`LDS` of sm_75"], |e| e.finish = |load, _, after| {
        if load.sm == 75 && load.vector.instruction.mnemonic() == "LDS" { with_registers(after, |_, value| value ^ 1); }
    }),
    mutant("LDC.U16 loses its high byte", &["`LDC` of size U16"], |e| e.finish = |load, _, after| {
        if load.bytes == 2 && !load.is_signed() && load.vector.instruction.mnemonic() == "LDC" {
            with_registers(after, |_, value| value & 0xff);
        }
    }),
    mutant("LDL.128 is wrong before 70", &["`LDL` of 128 bits before sm_70", "`LDL` of 128 bits of sm_50"], |e| e.finish = |load, _, after| {
        if load.sm < 70 && load.bytes == 16 && load.vector.instruction.mnemonic() == "LDL" {
            with_registers(after, |i, value| value ^ u32::from(i == 3));
        }
    }),
    mutant("LDG is wrong on 86", &["`LDG` of sm_86"], |e| e.finish = |load, _, after| {
        if load.sm == 86 && load.vector.instruction.mnemonic() == "LDG" { with_registers(after, |_, value| !value); }
    }),
    mutant("LD.64 is wrong on 72", &["`LD` of 64 bits of sm_72"], |e| e.finish = |load, _, after| {
        if load.sm == 72 && load.vector.instruction.mnemonic() == "LD" && load.bytes == 8 {
            with_registers(after, |_, value| !value);
        }
    }),
    mutant("LDCU.256 exchanges its halves", &["`LDCU` of 256 bits", "`uniform-octet`"], |e| e.words = |load, bytes| {
        let mut words = (RIGHT.words)(load, bytes);
        if load.bytes == 32 && load.fills_uniform() { words.rotate_left(4); }
        words
    }),
    mutant("LDSM does not exist on 120", &["`LDSM` from sm_120 on"], |e| e.finish = |load, _, after| {
        if load.sm >= 120 && load.is_matrix() { *after = Final::default(); }
    }),
    mutant("scales are not known before 80", &["`scaled-index`"], |e| e.base = |e, load, lane| {
        let base = (RIGHT.base)(e, load, lane);
        if load.sm < 80 { base.map(|base| base >> load.parts.address.scale()) } else { base }
    }),
];
