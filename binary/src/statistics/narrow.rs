//! [`InstructionFacts::narrow`]: words of SM 5.x and 6.x.
//!
//! Opcodes, targets and written registers follow nvdisasm 12.8 (`-print-life-ranges`); `tests/data/statistics/` holds a
//! sample.

use warpload_encoding::control::{BUNDLE_BYTES, NOP};
use warpload_encoding::{Instruction, Sm};

use super::step::{AccessOrder, BranchTarget, Effect, Flow, InstructionFacts, LoadFacts};

const WORD_BYTES: u64 = 8;
/// The first bit of an opcode; opcodes below that of `LD` are arithmetic.
const OPCODE: u32 = 51;
const LD: u64 = 0x1000;

impl InstructionFacts {
    /// Reads the word of an instruction of SM 5.x or 6.x.
    #[must_use]
    pub fn narrow(offset: Option<u64>, word: u64) -> Self {
        let next = offset.and_then(|offset| offset.checked_add(WORD_BYTES));
        let load = Instruction::decode(word, Sm::SPA5).load();
        let facts = load.as_ref().map(LoadFacts::from);
        let (flow, effect) = match (&load, &facts) {
            (Some(load), Some(facts)) => (Flow::NEXT, loading(load, facts)),
            _ => other(next, word),
        };
        // Each bundle begins with its control word.
        let is_control = next.is_some_and(|next| next % BUNDLE_BYTES as u64 == 0);
        let next = if is_control { next.and_then(|n| n.checked_add(WORD_BYTES)) } else { next };
        Self { offset, next, load: facts, flow, effect }
    }
}

/// The effect of a load.
fn loading(load: &Instruction, facts: &LoadFacts) -> Effect {
    let parts = load.parts();
    let registers = parts.size.map_or(4, |size| size.registers() as u8);
    let first = parts.destination.register().map_or(u8::MAX, |register| register.number());
    let memory = facts.order != AccessOrder::Weak;
    Effect { memory, ..Effect::writing(first, registers) }
}

/// Flow and effect of an instruction that is no load. Relative targets count from `next`.
fn other(next: Option<u64>, word: u64) -> (Flow, Effect) {
    if word == NOP {
        return (Flow::NEXT, Effect::NOTHING);
    }
    let opcode = word >> OPCODE;
    if opcode < LD {
        return (Flow::NEXT, arithmetic(opcode, word as u8));
    }
    let is_constant = word >> 5 & 1 != 0;
    let relative = || {
        let Some(next) = next else { return BranchTarget::Unknown };
        // 24 bits with a sign.
        let distance = (word >> 20 << 40) as i64 >> 40;
        next.checked_add_signed(distance).map_or(BranchTarget::None, BranchTarget::At)
    };
    let relative_or = |constant| if is_constant { constant } else { relative() };
    // The lowest bit is masked off, because the immediate of a branch extends up to bit 51.
    let (ends_block, target, effect) = match opcode & !1 {
        // SSY, PBK, PCNT push the target of a later instruction.
        0x1c52 | 0x1c54 | 0x1c56 => (false, relative_or(BranchTarget::Unknown), Effect::NOTHING),
        // BRA, PRET, PLONGJMP.
        0x1c48 | 0x1c4e | 0x1c50 => (true, relative_or(BranchTarget::Unknown), Effect::ANYTHING),
        // PEXIT has no constant.
        0x1c46 => (true, relative(), Effect::ANYTHING),
        // CAL. A call through a constant goes to another function.
        0x1c4c => (true, relative_or(BranchTarget::None), Effect::ANYTHING),
        // JMX, JMP, BRX.
        0x1c40 | 0x1c42 | 0x1c4a => (true, BranchTarget::Unknown, Effect::ANYTHING),
        _ => match opcode {
            // S2R.
            0x1e19 => (false, BranchTarget::None, Effect::writing(word as u8, 1)),
            // DEPBAR waits for registers, not for memory.
            0x1e1e => (false, BranchTarget::None, Effect::NOTHING),
            _ => (true, BranchTarget::None, Effect::ANYTHING),
        },
    };
    (Flow { ends_block, target }, effect)
}

/// The effect of an instruction below `LD`: it writes registers from `destination` on, and perhaps predicates.
fn arithmetic(opcode: u64, destination: u8) -> Effect {
    // Instructions of two operands, the second an immediate, a constant or a register.
    let two_operands = matches!(opcode, 0x700..=0x73f | 0x980..=0x99f | 0xb80..=0xb9f);
    let (registers, predicates) = match opcode & 0x1f {
        // DMNMX, DADD, DMUL; F2F, F2I, I2F, I2I can have results of 64 bits.
        0x0a | 0x0e | 0x10 | 0x15 | 0x16 | 0x17 | 0x1c if two_operands => (2, false),
        // LOP, FCHK, R2P.
        0x08 | 0x11 | 0x1e if two_operands => (1, true),
        _ if two_operands => (1, false),
        _ => match opcode {
            // DFMA, CS2R.
            0x6ce | 0x6cf | 0x6ee | 0x6ef | 0x96e | 0x96f | 0xa6e | 0xa6f | 0xb6e | 0xb6f
            | 0xa19 => (2, false),
            // MOV32I, LOP32I, FADD32I, FFMA32I, IMAD32I, ISCADD32I; IADD32I, FMUL32I, IMUL32I.
            0x020..=0x03f | 0x080..=0x2ff | 0x380..=0x3ff => (1, false),
            _ => (1, true),
        },
    };
    Effect { predicates, ..Effect::writing(destination, registers) }
}
