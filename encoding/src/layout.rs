//! The table: every field of every instruction, one row a field.
//!
//! A row reads `bits member: type, "name in the documents", "what it decides"`. The struct,
//! `decode`, `encode`, [`describe`](crate::describe) and this documentation are made from the
//! rows; the compiler checks that they cover each bit of the word exactly once.
//! Source: docs/ld.md section 1 (the instruction words) and section 5 (the control word),
//! compared with nvdisasm 12.8.

use crate::control::{Barrier, WaitMask};
use crate::field::Bits;
use crate::operand::{CacheOp, Immediate, Pred, Reg, Size};
use crate::table::layout;

layout! {
    /// `LD`: loads from a generic address, that is from global, local or shared memory.
    Ld = "LD", 64 bits;
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

// LDG, LDL, LDS and LDC stand here once they are decoded; `Instruction` lists them.

layout! {
    /// One instruction's slot of a control word: how the hardware schedules it.
    Control = "control", 21 bits;
    20:17 reuse: Bits<4>,         "reuse", "operand reuse flags, bit 0 the first register source";
    16:11 wait: WaitMask,         "req",   "barriers to wait for, one bit each";
    10:8  read: Barrier,          "rd",    "barrier released when Ra has been read";
    7:5   write: Barrier,         "wr",    "barrier released when Rd is written";
    4     yield_bit: bool,        "yield", "active low: 0 lets another warp issue next";
    3:0   stall: Bits<4>,         "stall", "cycles until the warp's next instruction issues";
}
