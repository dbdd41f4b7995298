//! The table: every field of every instruction, one row per field.
//!
//! A row reads `bits member: type, "name in the documents", "what it decides"`. The struct,
//! `decode`, `encode`, [`describe`](crate::describe) and this documentation are generated from the
//! rows; the compiler checks that they cover each bit of the word exactly once. The default of an
//! instruction is what its mnemonic alone means, with operands `RZ`, `PT` and 0.
//! Source: docs/ld.md section 1 (`LD`) and section 5 (the control word), docs/load-family.md
//! section 1 (the others), compared with nvdisasm 12.8.

use crate::field::Bits;
use crate::operand::{
    Barrier, CacheOp, ConstantMode, Immediate, LimitedSize, LocalCacheOp, Pred, Reg,
    SignedImmediate, Size, WaitMask,
};
use crate::table::layout;

layout! {
    /// `LD`: loads from a generic address, which is in global, local or shared memory.
    #[derive(Default)]
    Ld = "LD", 64 bits in u64;
    opcode 63:61 = 0b100;
    60:58 plg: Pred,              "Plg", "true: the address is local or global; false: shared";
    57:56 cache: CacheOp,         "cop", "cache operator; never changes the value";
    55:53 size: Size,             "sz",  "bits in memory, and how they fill the destination";
    52    extended: bool,         "E",   "extended: 64-bit address in {Ra+1, Ra}";
    51:20 immediate: Immediate<32>, "imm", "byte offset: signed with a base, unsigned without";
    19    guard_negated: bool,    "!",   "guard negated: execute where Pg is false";
    18:16 guard: Pred,            "Pg",  "guard predicate: lanes where it is false do nothing";
    15:8  base: Reg,              "Ra",  "base register of the address, RZ for none";
    7:0   destination: Reg,       "Rd",  "first destination register";
}

layout! {
    /// `LDG`: loads from global memory.
    #[derive(Default)]
    Ldg = "LDG", 64 bits in u64;
    opcode 63:51 = 0xeed0 >> 3;
    50:48 size: Size,             "sz",  "bits in memory, and how they fill the destination";
    47:46 cache: CacheOp,         "cop", "cache operator; never changes the value";
    45    extended: bool,         "E",   "extended: 64-bit address in {Ra+1, Ra}";
    44    unread: Bits<1>,        "-",   "not read by the disassembler, 0 when assembled";
    43:20 immediate: Immediate<24>, "imm", "byte offset: signed with a base, unsigned without";
    19    guard_negated: bool,    "!",   "guard negated: execute where Pg is false";
    18:16 guard: Pred,            "Pg",  "guard predicate: lanes where it is false do nothing";
    15:8  base: Reg,              "Ra",  "base register of the address, RZ for none";
    7:0   destination: Reg,       "Rd",  "first destination register";
}

layout! {
    /// `LDL`: loads from the lane's local memory.
    #[derive(Default)]
    Ldl = "LDL", 64 bits in u64;
    opcode 63:51 = 0xef40 >> 3;
    50:48 size: LimitedSize<7>,   "sz",  "bits in memory, and how they fill the destination";
    47:46 unread: Bits<2>,        "-",   "not read by the disassembler, 0 when assembled";
    45:44 cache: LocalCacheOp,    "cop", "cache operator; never changes the value";
    43:20 immediate: Immediate<24>, "imm", "byte offset: signed with a base, unsigned without";
    19    guard_negated: bool,    "!",   "guard negated: execute where Pg is false";
    18:16 guard: Pred,            "Pg",  "guard predicate: lanes where it is false do nothing";
    15:8  base: Reg,              "Ra",  "base register of the address, RZ for none";
    7:0   destination: Reg,       "Rd",  "first destination register";
}

layout! {
    /// `LDS`: loads from the CTA's shared memory.
    #[derive(Default)]
    Lds = "LDS", 64 bits in u64;
    opcode 63:51 = 0xef48 >> 3;
    50:48 size: LimitedSize<7>,   "sz",  "bits in memory, and how they fill the destination";
    47:45 unread: Bits<3>,        "-",   "not read by the disassembler, 0 when assembled";
    44    uniform: bool,          "U",   "uniform: no observable effect; ptxas sets it on every LDS";
    43:20 immediate: Immediate<24>, "imm", "byte offset: signed with a base, unsigned without";
    19    guard_negated: bool,    "!",   "guard negated: execute where Pg is false";
    18:16 guard: Pred,            "Pg",  "guard predicate: lanes where it is false do nothing";
    15:8  base: Reg,              "Ra",  "base register of the address, RZ for none";
    7:0   destination: Reg,       "Rd",  "first destination register";
}

layout! {
    /// `LDC`: loads from a constant bank.
    #[derive(Default)]
    Ldc = "LDC", 64 bits in u64;
    opcode 63:51 = 0xef90 >> 3;
    50:48 size: LimitedSize<6>,   "sz",  "bits in memory, and how they fill the destination";
    47:46 unread_high: Bits<2>,   "-",   "not read by the disassembler, 0 when assembled";
    45:44 mode: ConstantMode,     "mode", "how bank and offset are formed";
    43:41 unread_low: Bits<3>,    "-",   "not read by the disassembler, 0 when assembled";
    40:36 bank: Bits<5>,          "bank", "the constant bank";
    35:20 immediate: SignedImmediate<16>, "imm", "byte offset, signed with a base and without";
    19    guard_negated: bool,    "!",   "guard negated: execute where Pg is false";
    18:16 guard: Pred,            "Pg",  "guard predicate: lanes where it is false do nothing";
    15:8  base: Reg,              "Ra",  "base register of the address, RZ for none";
    7:0   destination: Reg,       "Rd",  "first destination register";
}

layout! {
    /// One instruction's slot of a control word: how the hardware schedules it.
    Control = "control", 21 bits in u64;
    20:17 reuse: Bits<4>,         "reuse", "operand reuse flags, bit 0 the first register source";
    16:11 wait: WaitMask,         "req",   "barriers to wait for, one bit each";
    10:8  read: Barrier,          "rd",    "barrier released when Ra has been read";
    7:5   write: Barrier,         "wr",    "barrier released when Rd is written";
    4     yield_bit: bool,        "yield", "active low: 0 lets another warp issue next";
    3:0   stall: Bits<4>,         "stall", "cycles until the warp's next instruction issues";
}
