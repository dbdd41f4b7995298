//! [`InstructionFacts::wide`]: words of SM 7.0 and later.
//!
//! Opcodes, targets and written registers follow nvdisasm 12.8 (`-print-life-ranges`); `tests/data/statistics/` holds a
//! sample.

use warpload_encoding::{Group, Sm};

use super::step::{AccessOrder, BranchTarget, Effect, Flow, InstructionFacts, LoadFacts};

const WORD_BYTES: u64 = 16;

impl InstructionFacts {
    /// Reads the word of an instruction of SM 7.0 or later. `load` is the decoded load, if it is one.
    #[must_use]
    pub fn wide(offset: Option<u64>, word: u128, sm: Sm, load: Option<LoadFacts>) -> Self {
        let next = offset.and_then(|offset| offset.checked_add(WORD_BYTES));
        let (flow, mut effect) = match branch(next, word, sm) {
            // BSSY only names the target of later instructions.
            Some(flow) if !flow.ends_block => (flow, Effect::NOTHING),
            Some(flow) => (flow, Effect::ANYTHING),
            None => (Flow::NEXT, straight(word)),
        };
        effect.memory |= load.as_ref().is_some_and(|load| load.order != AccessOrder::Weak);
        Self { offset, next, load, flow, effect }
    }
}

/// The flow of a branch, with relative targets counted from `next`; `None` for other instructions.
fn branch(next: Option<u64>, word: u128, sm: Sm) -> Option<Flow> {
    let relative = |distance: i64| {
        let Some(next) = next else { return BranchTarget::Unknown };
        next.checked_add_signed(distance).map_or(BranchTarget::None, BranchTarget::At)
    };
    let opcode = word & 0xfff;
    let target = match opcode {
        // BSSY.
        0x945 => relative(i64::from((word >> 32) as i32 & !3)),
        // CALL.REL to an address in a register; with a uniform one, there is bit 91.
        0x344 => BranchTarget::Unknown,
        0x944 if word >> 91 & 1 != 0 && sm.group() != Group::Volta => BranchTarget::Unknown,
        // BRA, CALL.REL.
        0x547 | 0x947 | 0x944 => {
            // In units of 4 bytes, with a sign; from SM 9.0 on the lowest 8 bits are bits 23:16.
            let high = ((word >> 34) as i64) << 16 >> 16;
            match sm.number() {
                90.. => relative((high << 8 | i64::from((word >> 16) as u8)) << 2),
                _ => relative(high << 2),
            }
        }
        // BRX, JMP, JMX, BRXU, JMXU.
        0x949 | 0x54a | 0x74a | 0x94a | 0xb4a | 0x94c | 0x958 | 0x959 => BranchTarget::Unknown,
        // CALL.ABS calls other functions. RET and BSYNC name no target and need none: execution continues after the
        // call or after BSYNC, where a block begins anyway.
        0x341..=0x35f | 0x941..=0x95f | 0xb41..=0xb5f | 0xd41..=0xd5f | 0xf41..=0xf5f => {
            BranchTarget::None
        }
        _ => return None,
    };
    Some(Flow { ends_block: opcode != 0x945, target })
}

/// The effect of an instruction that is not a branch. The lowest 9 bits of an opcode are the operation, the next 3 the
/// kinds of its operands.
fn straight(word: u128) -> Effect {
    let register = (word >> 16) as u8;
    let registers = |count| Effect::writing(register, count);
    let uniform = Effect { uniform: true, ..Effect::NOTHING }.and_predicates();
    match (word & 0x1ff) as u16 {
        // P2R, FSEL, FSET, VIMNMX3, IABS, PRMT, SHF, SGXT, BMSK.
        0x003 | 0x008 | 0x00a | 0x00f | 0x013 | 0x016 | 0x019..=0x01b => registers(1),
        // R2P, VOTE, FMNMX, FSETP, ISETP.
        0x004 | 0x006 | 0x009 | 0x00b | 0x00c => registers(1).and_predicates(),
        // MOV, CS2R, SEL, IMNMX, which can have 64 bits.
        0x002 | 0x005 | 0x007 | 0x017 => registers(2).and_predicates(),
        // IADD3, LEA, LOP3, VABSDIFF, VABSDIFF4, PLOP3.
        0x010..=0x012 | 0x014 | 0x015 | 0x01c..=0x01f => registers(1).and_predicates(),
        // FMUL, FADD, FSWZADD, FFMA, IDP, HADD2, HFMA2, HMUL2, HSET2.
        0x020..=0x023 | 0x026 | 0x030..=0x033 => registers(1),
        // IMAD, then IMAD.WIDE and IMAD.HI, which have opcodes of their own.
        0x024 => registers(1).and_predicates(),
        0x025 | 0x027 => registers(2).and_predicates(),
        // DMUL, DADD, DFMA.
        0x028 | 0x029 | 0x02b => registers(2),
        // DSETP, HSETP2, FCHK.
        0x02a | 0x034 | 0x102 => registers(1).and_predicates(),
        // HFMA2, on SM 12.x IADD.64.
        0x035 => registers(2).and_predicates(),
        // I2I, I2IP, F2FP, HMNMX2, F2IP, I2FP, VIADDMNMX, VHMNMX, VIMNMX.
        0x038 | 0x039 | 0x03e => registers(1),
        0x040 | 0x043 | 0x045..=0x048 => registers(1).and_predicates(),
        // FLO, BREV, MUFU, POPC.
        0x100 | 0x101 | 0x108 | 0x109 => registers(1).and_predicates(),
        // F2F, F2I, I2F, FRND.
        0x104..=0x107 | 0x110..=0x113 => registers(2),
        // NOP.
        0x118 => Effect::NOTHING,
        // S2R.
        0x119 => registers(1),
        // FMNMX3.
        0x076 => registers(1).and_predicates(),
        // UIABS to UI2FP; UMOV to UPOPC, ULDC among them; R2UR, CS2UR; LDCU; S2UR.
        0x04d..=0x05e | 0x082..=0x0bf | 0x0ca | 0x0cb | 0x1ac | 0x1c2 | 0x1c3 => uniform,
        // LD, LDG, LDC, LDL, LDS.
        0x180..=0x184 => loading(word),
        _ => Effect::ANYTHING,
    }
}

/// The effect of LD, LDG, LDC, LDL and LDS.
fn loading(word: u128) -> Effect {
    let registers = match word >> 73 & 7 {
        0..=4 => 1,
        5 => 2,
        _ => 4,
    };
    let predicates = match word & 0x1ff {
        // Pd of LD and LDG, if it is not PT.
        0x180 | 0x181 => word >> 81 & 7 != 7,
        // Pd of LDS, with `.ZD`.
        0x184 => word >> 87 & 1 != 0,
        _ => false,
    };
    Effect { predicates, ..Effect::writing((word >> 16) as u8, registers) }
}
