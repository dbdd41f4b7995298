//! The loads of SM 5.x and 6.x, with 64-bit words (docs/ld.md section 1, docs/load-family.md section 1).

use super::common::{GUARD_NEGATED, PG, RA};
use super::row::Kind::*;
use super::row::Slot as S;
use super::row::*;
use super::values;

const fn opcode(low: u8, value: u64) -> Row {
    row(63, low, S::Opcode, Opcode, "opcode", "which instruction this is").fixed(value, "")
}

const fn cache(high: u8, low: u8, values: &'static super::values::Values) -> Row {
    row(high, low, S::Cache, Named(values), "cop", "cache operator; never changes the value")
}

const fn size(high: u8, low: u8, values: &'static super::values::Values) -> Row {
    row(high, low, S::Size, Named(values), "sz", "bits in memory, and how they fill the destination")
}

const fn extended(bit: u8) -> Row {
    row(bit, bit, S::Extended, Named(&values::EXTENDED_YES), "E", "extended: 64-bit address in {Ra+1, Ra}")
}

const fn immediate(high: u8) -> Row {
    row(high, 20, S::Offset, SignedOrAddress, "imm", "byte offset: signed with a base, unsigned without")
}

const RD: Row = row(7, 0, S::Destination, Register, "Rd", "first destination register");

/// Bits 19:0.
const OPERANDS: &[Row] = &[GUARD_NEGATED.at(19, 19), PG.at(18, 16), RA.at(15, 8), RD];

/// `LD [Ra+imm]`.
pub(super) const LD: &[&[Row]] = &[
    &[
        opcode(61, 0b100),
        row(60, 58, S::PredicateIn, Predicate, "Plg", "true: the address is local or global; false: shared"),
        cache(57, 56, &values::CACHE),
        size(55, 53, &values::SIZES),
        extended(52),
        immediate(51),
    ],
    OPERANDS,
];

/// `LDG [Ra+imm]`.
pub(super) const LDG: &[&[Row]] = &[
    &[
        opcode(51, 0xeed0 >> 3),
        size(50, 48, &values::SIZES),
        cache(47, 46, &values::CACHE),
        extended(45),
        reserved(44, 44).of(Decimal),
        immediate(43),
    ],
    OPERANDS,
];

/// `LDL [Ra+imm]`.
pub(super) const LDL: &[&[Row]] = &[
    &[
        opcode(51, 0xef40 >> 3),
        size(50, 48, &values::SIZES_TO_128),
        reserved(47, 46).of(Decimal),
        cache(45, 44, &values::CACHE_LOCAL),
        immediate(43),
    ],
    OPERANDS,
];

/// `LDS [Ra+imm]`.
pub(super) const LDS: &[&[Row]] = &[
    &[
        opcode(51, 0xef48 >> 3),
        size(50, 48, &values::SIZES_TO_128),
        reserved(47, 45).of(Decimal),
        row(44, 44, S::UniformHint, Named(&values::UNIFORM_YES), "U", "uniform: no observable effect; ptxas sets it on every LDS"),
        immediate(43),
    ],
    OPERANDS,
];

/// `LDC c[bank][Ra+imm]`.
pub(super) const LDC: &[&[Row]] = &[
    &[
        opcode(51, 0xef90 >> 3),
        size(50, 48, &values::SIZES_TO_64),
        reserved(47, 46).of(Decimal),
        row(45, 44, S::Mode, Named(&values::MODE_NAMED), "mode", "how bank and offset are formed"),
        reserved(43, 41).of(Decimal),
        row(40, 36, S::Bank, Decimal, "bank", "the constant bank"),
        row(35, 20, S::Offset, Signed, "imm", "byte offset, signed with a base and without"),
    ],
    OPERANDS,
];

/// The slot of an instruction in a control word of SM 5.x and 6.x.
pub(crate) const CONTROL: &[Row] = &[
    row(20, 17, S::Batch, Unsigned, "reuse", "operand reuse flags, bit 0 the first register source"),
    row(16, 11, S::Wait, WaitMask, "req", "barriers to wait for, one bit each"),
    row(10, 8, S::ReadBarrier, Scoreboard, "rd", "barrier released when Ra has been read"),
    row(7, 5, S::WriteBarrier, Scoreboard, "wr", "barrier released when Rd is written"),
    row(4, 4, S::Yield, Bit("no", "yes"), "yield", "active low: 0 lets another warp issue next"),
    row(3, 0, S::Stall, Unsigned, "stall", "cycles until the warp's next instruction issues"),
];
