//! Rows shared by several layouts.

use super::row::Kind::*;
use super::row::Slot as S;
use super::row::*;
use super::values;

/// The scheduling bits at the top of every word, with the given row for the read barrier.
macro_rules! scheduling {
    ($read:expr) => {
        &[
            reserved(127, 125),
            row(124, 122, S::Batch, Named(&values::BATCH), "batch", "batch hint; text only"),
            row(121, 116, S::Wait, WaitMask, "req", "barriers to wait for, one bit each"),
            $read,
            row(112, 110, S::WriteBarrier, Scoreboard, "wr", "barrier released when Rd is written"),
            row(109, 109, S::Yield, Bit("yes", "no"), "yield", "active low: 0 lets another warp issue next"),
            row(108, 105, S::Stall, Unsigned, "stall", "cycles until the warp's next instruction issues"),
            reserved(104, 104),
            row(103, 102, S::Pm, Unsigned, "PM", "text only"),
        ]
    };
}

pub(super) const READ: Row = row(115, 113, S::ReadBarrier, Scoreboard, "rd", "barrier released when the sources have been read");
pub(super) const NO_READ: Row = row(115, 113, S::ReadBarrier, Scoreboard, "rd", "none: there is no read barrier")
    .fixed(7, "bits 115:113 (rd) are not 7");

pub(super) const SCHEDULING: &[Row] = scheduling!(READ);
/// For instructions that release no barrier once their sources have been read.
pub(super) const SCHEDULING_WITHOUT_READ: &[Row] = scheduling!(NO_READ);

pub(super) const GUARD_NEGATED: Row = row(15, 15, S::GuardNegated, Bit("no", "yes"), "!", "guard negated: execute where Pg is false");
pub(super) const PG: Row = row(14, 12, S::Guard, Predicate, "Pg", "guard predicate: lanes where it is false do nothing");
pub(super) const OPCODE: Row = row(11, 0, S::Opcode, Opcode, "opcode", "which instruction this is");

/// The bottom of a word with a predicate of each lane as its guard.
pub(super) const GUARDED: &[Row] = &[
    GUARD_NEGATED,
    PG,
    OPCODE,
];

/// The bottom of a word with a uniform predicate as its guard.
pub(super) const UNIFORMLY_GUARDED: &[Row] = &[
    GUARD_NEGATED,
    row(14, 12, S::Guard, UniformPredicate, "UPg", "guard predicate of the whole warp"),
    OPCODE,
];

/// Text-only parts, as errors name them.
pub(super) const MASK: &str = "the mask of words";
pub(super) const PREDICATE: &str = "the predicate after the address";

pub(super) const RD: Row = row(23, 16, S::Destination, Register, "Rd", "first destination register");
pub(super) const RA: Row = row(31, 24, S::Base, Register, "Ra", "base register of the address, RZ for none");
pub(super) const E: Row = row(72, 72, S::Extended, Named(&values::EXTENDED), "E", "width of the address");
pub(super) const EVICT: Row = row(86, 84, S::Evict, Named(&values::EVICT), "evict", "eviction priority; never changes the value");
pub(super) const OFFSET_24: Row = row(63, 40, S::Offset, Signed, "off", "byte offset; unsigned without a base");
pub(super) const SIGNED_24: Row = row(63, 40, S::Offset, Signed, "off", "byte offset");
pub(super) const OFFSET_16: Row = row(53, 38, S::Offset, Signed, "off", "byte offset in the bank");
pub(super) const OFFSET_17: Row = row(53, 37, S::Offset, Signed, "off", "byte offset in the bank");
pub(super) const OFFSET_32: Row = row(69, 38, S::Offset, Signed, "off", "byte offset");
pub(super) const BANK: Row = row(58, 54, S::Bank, Unsigned, "bank", "the constant bank");
pub(super) const MODE: Row = row(79, 78, S::Mode, Named(&values::MODE), "mode", "how bank and offset are formed");
pub(super) const SIZE_64: Row = row(75, 73, S::Size, Named(&values::SIZES_64), "sz", "bits in memory, and how they fill Rd");
pub(super) const SIZE_128: Row = row(75, 73, S::Size, Named(&values::SIZES_128), "sz", "bits in memory, and how they fill Rd");
pub(super) const IMMEDIATE: Row = row(91, 91, S::Form, Bit("no", "yes"), "UR", "no uniform register in the address")
    .fixed(0, "bit 91 (UR) is not 0");
pub(super) const UNIFORM: Row = row(91, 91, S::Form, Bit("no", "yes"), "UR", "a uniform register in the address")
    .fixed(1, "bit 91 (UR) is not 1");
pub(super) const MUST_BE_SET: Row = row(91, 91, S::Form, Bit("no", "yes"), "form", "always 1")
    .fixed(1, "bit 91 (form) is not 1");
pub(super) const ZD: Row = row(87, 87, S::Zd, Named(&values::ZD), "ZD", "text only").text_only_but(0, ".ZD");
pub(super) const PD: Row = row(83, 81, S::PredicateOut, Predicate, "Pd", "a predicate that is written; text only");
/// `LDG` always writes it, the other loads only beside `.ZD`.
pub(super) const PD_LDG: Row = PD.text_only_but(7, "the predicate that LDG writes");
pub(super) const PIN_NEGATED: Row = row(67, 67, S::PredicateInNegated, Bit("no", "yes"), "!", "Pin negated; text only").text_only_but(0, PREDICATE);
pub(super) const PIN: Row = row(66, 64, S::PredicateIn, InvertedPredicate, "Pin", "a predicate that is read; text only").text_only_but(0, PREDICATE);
pub(super) const WIDE: Row = row(90, 90, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers");
pub(super) const DESCRIPTOR: Row = row(76, 76, S::Descriptor, Bit("no", "yes"), "desc", "the UR holds a memory descriptor, not a base");
pub(super) const SHOW: Row = row(101, 101, S::ShowDescriptor, Bit("no", "yes"), "show", "the text shows `desc[UR]`");
pub(super) const UR: Row = row(37, 32, S::UniformBase, UniformRegister, "UR", "uniform register of the address");
pub(super) const UR_B: Row = row(39, 32, S::UniformBase, UniformRegister, "UR", "uniform register of the address");
pub(super) const UPIN_NEGATED: Row = row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "UPin negated; text only").text_only_but(0, PREDICATE);
pub(super) const UPIN: Row = row(89, 87, S::PredicateIn, UniformPredicate, "UPin", "a predicate that is read; text only").text_only_but(7, PREDICATE);
