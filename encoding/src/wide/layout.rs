//! The table: every field of every load of 128 bits, one row a field.
//!
//! A row reads `row(high, low, slot, kind, "name in the documents", "what it decides")`; `.only(…)`
//! names the groups of SMs that have it, `.fixed(…)` the value that it must have. The decoder, the
//! encoder, the descriptions and the tables of docs/load-sm70.md are made from the rows; a test
//! checks that for each group they cover each bit of the word exactly once.
//! Source: docs/load-sm70.md, compared with nvdisasm 12.8 and 13.5.

use super::row::Kind::{
    Barrier, Bit, InvertedPredicate, Named, Opcode, Predicate, Register, Signed, SignedBy32,
    UniformPredicate, UniformRegister, Unsigned, WaitMask,
};
use super::row::Slot as S;
use super::row::{A, ADA, AH, AHB, B, B10, B12, B107, H, Row, T, TAH, TAHB, V, VT, row, unread};
use super::values;

/// How the hardware schedules the instruction: the top of every word.
pub(super) const SCHEDULING: &[Row] = &[
    unread(127, 125),
    row(124, 122, S::Batch, Named(&values::BATCH), "batch", "batch hint; text only"),
    row(121, 116, S::Wait, WaitMask, "req", "barriers to wait for, one bit each"),
    row(
        115,
        113,
        S::ReadBarrier,
        Barrier,
        "rd",
        "barrier released when the sources have been read",
    ),
    row(112, 110, S::WriteBarrier, Barrier, "wr", "barrier released when Rd is written"),
    row(
        109,
        109,
        S::Yield,
        Bit("yes", "no"),
        "yield",
        "active low: 0 lets another warp issue next",
    ),
    row(108, 105, S::Stall, Unsigned, "stall", "cycles until the warp's next instruction issues"),
    unread(104, 104),
    row(103, 102, S::Pm, Unsigned, "PM", "text only"),
];

/// The scheduling of instructions that release no barrier when their sources have been read.
pub(super) const SCHEDULING_WITHOUT_READ: &[Row] = &[
    unread(127, 125),
    row(124, 122, S::Batch, Named(&values::BATCH), "batch", "batch hint; text only"),
    row(121, 116, S::Wait, WaitMask, "req", "barriers to wait for, one bit each"),
    row(115, 113, S::ReadBarrier, Barrier, "rd", "none: the instruction has no read barrier")
        .fixed(7),
    row(112, 110, S::WriteBarrier, Barrier, "wr", "barrier released when Rd is written"),
    row(
        109,
        109,
        S::Yield,
        Bit("yes", "no"),
        "yield",
        "active low: 0 lets another warp issue next",
    ),
    row(108, 105, S::Stall, Unsigned, "stall", "cycles until the warp's next instruction issues"),
    unread(104, 104),
    row(103, 102, S::Pm, Unsigned, "PM", "text only"),
];

const GUARD_NEGATED: Row =
    row(15, 15, S::GuardNegated, Bit("no", "yes"), "!", "guard negated: execute where Pg is false");
const OPCODE: Row = row(11, 0, S::Opcode, Opcode, "opcode", "which instruction this is");

/// The bottom of a word whose guard is a predicate of each lane.
pub(super) const GUARDED: &[Row] = &[
    GUARD_NEGATED,
    row(14, 12, S::Guard, Predicate, "Pg", "guard predicate: lanes where it is false do nothing"),
    OPCODE,
];

/// The bottom of a word whose guard is a predicate of the warp.
pub(super) const UNIFORMLY_GUARDED: &[Row] = &[
    GUARD_NEGATED,
    row(14, 12, S::Guard, UniformPredicate, "UPg", "guard predicate of the whole warp"),
    OPCODE,
];

const RD: Row = row(23, 16, S::Destination, Register, "Rd", "first destination register");
const RA: Row = row(31, 24, S::Base, Register, "Ra", "base register of the address, RZ for none");
const E: Row = row(72, 72, S::Extended, Named(&values::EXTENDED), "E", "width of the address");
const EVICT: Row = row(
    86,
    84,
    S::Evict,
    Named(&values::EVICT),
    "evict",
    "eviction priority; never changes the value",
);
const OFFSET_24: Row =
    row(63, 40, S::Offset, Signed, "off", "byte offset; unsigned without a base");
const SIGNED_24: Row = row(63, 40, S::Offset, Signed, "off", "byte offset");
const OFFSET_16: Row = row(53, 38, S::Offset, Signed, "off", "byte offset in the bank");
const OFFSET_17: Row = row(53, 37, S::Offset, Signed, "off", "byte offset in the bank");
const OFFSET_32: Row = row(69, 38, S::Offset, Signed, "off", "byte offset");
const BANK: Row = row(58, 54, S::Bank, Unsigned, "bank", "the constant bank");
const MODE: Row =
    row(79, 78, S::Mode, Named(&values::MODE), "mode", "how bank and offset are formed");
const SIZE_64: Row =
    row(75, 73, S::Size, Named(&values::SIZES_64), "sz", "bits in memory, and how they fill Rd");
const SIZE_128: Row =
    row(75, 73, S::Size, Named(&values::SIZES_128), "sz", "bits in memory, and how they fill Rd");
const IMMEDIATE: Row =
    row(91, 91, S::Form, Bit("no", "yes"), "UR", "no uniform register in the address").fixed(0);
const UNIFORM: Row =
    row(91, 91, S::Form, Bit("no", "yes"), "UR", "a uniform register in the address").fixed(1);
const MUST_BE_SET: Row = row(91, 91, S::Form, Bit("no", "yes"), "form", "always 1").fixed(1);
const ZD: Row = row(87, 87, S::Zd, Named(&values::ZD), "ZD", "text only");
const PD: Row =
    row(83, 81, S::PredicateOut, Predicate, "Pd", "a predicate that is written; text only");
const PIN_NEGATED: Row =
    row(67, 67, S::PredicateInNegated, Bit("no", "yes"), "!", "Pin negated; text only");
const PIN: Row =
    row(66, 64, S::PredicateIn, InvertedPredicate, "Pin", "a predicate that is read; text only");
const WIDE: Row =
    row(90, 90, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers");
const DESCRIPTOR: Row = row(
    76,
    76,
    S::Descriptor,
    Bit("no", "yes"),
    "desc",
    "the UR holds a memory descriptor, not a base",
);
const SHOW: Row =
    row(101, 101, S::ShowDescriptor, Bit("no", "yes"), "show", "the text shows `desc[UR]`");
const UR: Row =
    row(37, 32, S::UniformBase, UniformRegister, "UR", "uniform register of the address");
const UR_B: Row =
    row(39, 32, S::UniformBase, UniformRegister, "UR", "uniform register of the address");
const UPIN_NEGATED: Row =
    row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "UPin negated; text only");
const UPIN: Row =
    row(89, 87, S::PredicateIn, UniformPredicate, "UPin", "a predicate that is read; text only");

/// Memory order and prefetch of `LD` and `LDG`, bits 80:68, with the size and `.E` between them.
macro_rules! order_to_prefetch {
    ($($bit_76:expr),+) => {
        &[
            row(80, 79, S::Order, Named(&values::ORDER_KIND), "order", "memory order").only(VT),
            row(78, 77, S::Scope, Named(&values::SCOPE), "scope", "scope of the memory order").only(VT),
            row(80, 77, S::Order, Named(&values::ORDER), "order", "memory order and scope").only(AHB),
            row(76, 76, S::Private, Named(&values::PRIVATE), "private", "text only").only(VT),
            $($bit_76,)+
            row(75, 73, S::Size, Named(&values::SIZES_U128), "sz", "bits in memory, and how they fill Rd")
                .only(VT),
            SIZE_128.only(AHB),
            E,
            unread(71, 64).only(V),
            unread(71, 70).only(TAHB),
            row(69, 68, S::Prefetch, Named(&values::PREFETCH_128), "prefetch", "prefetch into L2").only(T),
            row(69, 68, S::Prefetch, Named(&values::PREFETCH), "prefetch", "prefetch into L2").only(AHB),
            PIN_NEGATED.only(TAHB),
            PIN.only(TAHB),
        ]
    };
}

const ORDER_IMMEDIATE: &[Row] = order_to_prefetch!(unread(76, 76).only(AHB));
const ORDER_UNIFORM: &[Row] = order_to_prefetch!(DESCRIPTOR.only(AHB));

/// `LD [Ra+off]`.
pub(super) const LD_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        unread(91, 91).only(V),
        IMMEDIATE.only(TAHB),
        unread(90, 88),
        ZD.only(VT),
        unread(87, 87).only(AHB),
        EVICT,
        PD.only(VT),
        unread(83, 81).only(AHB),
    ],
    ORDER_IMMEDIATE,
    &[row(63, 32, S::Offset, Signed, "off", "byte offset; unsigned without a base"), RA, RD],
    GUARDED,
];

/// `LD [Ra+UR+off]`, `LD desc[UR][Ra+off]`.
pub(super) const LD_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(A),
        unread(101, 101).only(T.and(H).and(B)),
        unread(100, 92),
        UNIFORM,
        WIDE,
        unread(89, 88),
        ZD.only(T),
        unread(87, 87).only(AHB),
        EVICT,
        PD.only(T),
        unread(83, 81).only(AHB),
    ],
    ORDER_UNIFORM,
    &[SIGNED_24, unread(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDG [Ra+off]`.
pub(super) const LDG_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        unread(91, 91).only(V),
        IMMEDIATE.only(TAHB),
        unread(90, 88),
        ZD.only(VT),
        unread(87, 87).only(AHB),
        EVICT,
        PD,
    ],
    ORDER_IMMEDIATE,
    &[OFFSET_24, unread(39, 32), RA, RD],
    GUARDED,
];

/// `LDG [Ra+UR+off]`, `LDG desc[UR][Ra+off]`.
pub(super) const LDG_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(A),
        unread(101, 101).only(T.and(H).and(B)),
        unread(100, 92),
        UNIFORM,
        WIDE,
        unread(89, 88),
        ZD.only(T),
        unread(87, 87).only(AHB),
        EVICT,
        PD,
    ],
    ORDER_UNIFORM,
    &[SIGNED_24, unread(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDG` of 256 bits.
pub(super) const LDG_256: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(ADA),
        unread(101, 101).only(B),
        unread(100, 92),
        MUST_BE_SET,
        row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "Pin negated; text only"),
        row(
            89,
            87,
            S::PredicateIn,
            InvertedPredicate,
            "Pin",
            "a predicate that is read; text only",
        ),
        EVICT,
        unread(83, 83),
        row(82, 81, S::Policy, Named(&values::POLICY), "policy", "L2 policy").only(ADA.and(B10)),
        row(82, 81, S::Policy, Named(&values::POLICY_RML2), "policy", "L2 policy").only(B12),
        row(80, 77, S::Order, Named(&values::ORDER), "order", "memory order and scope"),
        DESCRIPTOR,
        row(75, 75, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers"),
        row(74, 73, S::Prefetch, Named(&values::PREFETCH), "prefetch", "prefetch into L2"),
        row(72, 72, S::Mask, Unsigned, "mask", "words that are loaded, the last one"),
        row(71, 64, S::HighDestination, Register, "R1st", "first register of the last four words"),
        row(63, 57, S::Mask, Unsigned, "mask", "words that are loaded, the first seven").only(B),
        row(56, 40, S::Offset, SignedBy32, "off", "offset in units of 32 bytes").only(B),
        UR_B.only(B),
        row(63, 59, S::Mask, Unsigned, "mask", "words that are loaded, 2 to 6").only(ADA),
        row(58, 40, S::Offset, SignedBy32, "off", "offset in units of 32 bytes").only(ADA),
        row(39, 38, S::Mask, Unsigned, "mask", "words that are loaded, 0 and 1").only(ADA),
        UR.only(ADA),
        RA,
        row(23, 16, S::Destination, Register, "Rd", "first register of the first four words"),
    ],
    GUARDED,
];

/// `LDL [Ra+off]`.
pub(super) const LDL_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        unread(91, 91).only(V),
        IMMEDIATE.only(TAHB),
        unread(90, 87),
        EVICT,
        unread(83, 76),
        SIZE_128,
        unread(72, 64),
        OFFSET_24,
        unread(39, 32),
        RA,
        RD,
    ],
    GUARDED,
];

/// `LDL [Ra+UR+off]`, `LDL desc[UR][Ra+off]`.
pub(super) const LDL_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(A),
        unread(101, 101).only(T.and(H).and(B)),
        unread(100, 92),
        UNIFORM,
        unread(90, 87),
        EVICT,
        unread(83, 77),
        unread(76, 76).only(T),
        DESCRIPTOR.only(AHB),
        SIZE_128,
        unread(72, 64),
        SIGNED_24,
        unread(39, 38).only(TAH),
        UR.only(TAH),
        UR_B.only(B),
        RA,
        RD,
    ],
    GUARDED,
];

/// Scale, `.U`, size and what is between them in `LDS`, bits 90:64.
const SHARED_MIDDLE: &[Row] = &[
    unread(90, 88),
    ZD.only(VT),
    unread(86, 84).only(VT),
    PD.only(VT),
    unread(80, 77).only(V),
    unread(80, 80).only(T),
    unread(87, 80).only(AHB),
    row(79, 78, S::Scale, Named(&values::SCALE), "scale", "factor of Ra").only(TAHB),
    unread(77, 77).only(T),
    unread(77, 76).only(AHB),
    row(76, 76, S::UniformHint, Named(&values::UNIFORM_HINT), "U", "no observable effect").only(VT),
    row(
        75,
        73,
        S::Size,
        Named(&values::SIZES_SHARED),
        "sz",
        "bits in memory, and how they fill Rd",
    ),
    unread(72, 64),
];

/// `LDS [Ra+off]`.
pub(super) const LDS_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[unread(101, 92), unread(91, 91).only(V), IMMEDIATE.only(TAHB)],
    SHARED_MIDDLE,
    &[OFFSET_24, unread(39, 32), RA, RD],
    GUARDED,
];

/// `LDS [Ra+UR+off]`.
pub(super) const LDS_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[unread(101, 92), UNIFORM],
    SHARED_MIDDLE,
    &[SIGNED_24, unread(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDC c[bank][Ra+off]`.
pub(super) const LDC_BANK: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        unread(91, 91).only(V),
        IMMEDIATE.only(TAHB),
        unread(90, 80),
        MODE,
        unread(77, 76),
        SIZE_64,
        unread(72, 59),
        BANK,
        OFFSET_16,
        unread(37, 32),
        RA,
        RD,
    ],
    GUARDED,
];

/// `LDC cx[UR][Ra+off]`.
pub(super) const LDC_HANDLE: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        MUST_BE_SET,
        unread(90, 80),
        unread(79, 78).only(T),
        MODE.only(AHB),
        unread(77, 76),
        SIZE_64,
        unread(72, 72),
        row(71, 64, S::Base, Register, "Ra", "base register of the address, RZ for none"),
        unread(63, 54),
        OFFSET_16,
        unread(37, 32),
        unread(31, 30).only(TAH),
        row(29, 24, S::Handle, UniformRegister, "UR", "descriptor of the bank; text only")
            .only(TAH),
        row(31, 24, S::Handle, UniformRegister, "UR", "descriptor of the bank; text only").only(B),
        RD,
    ],
    GUARDED,
];

const URD: Row = row(21, 16, S::Destination, UniformRegister, "URd", "first destination register");
const URD_B: Row =
    row(23, 16, S::Destination, UniformRegister, "URd", "first destination register");
const URA: Row =
    row(29, 24, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");
const URA_B: Row =
    row(31, 24, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");

/// `ULDC c[bank][off]`.
pub(super) const ULDC_BANK: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        IMMEDIATE,
        unread(90, 76),
        SIZE_64,
        unread(72, 59),
        BANK,
        OFFSET_16,
        unread(37, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

/// `ULDC cx[UR][off]`.
pub(super) const ULDC_HANDLE: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        UNIFORM,
        unread(90, 76),
        SIZE_64,
        unread(72, 54),
        OFFSET_16,
        unread(37, 30),
        row(29, 24, S::Handle, UniformRegister, "UR", "descriptor of the bank; text only"),
        unread(23, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

/// `ULDC c[bank][UR+off]`.
pub(super) const ULDC_INDEXED: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        MUST_BE_SET,
        unread(90, 76),
        SIZE_64,
        unread(72, 59),
        BANK,
        OFFSET_16,
        unread(37, 30),
        URA,
        unread(23, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

/// `ULDC [UR+off]`.
pub(super) const ULDC_MEMORY: &[&[Row]] = &[
    SCHEDULING,
    &[
        unread(101, 92),
        MUST_BE_SET,
        UPIN_NEGATED,
        UPIN,
        unread(86, 76),
        SIZE_64,
        unread(72, 70),
        OFFSET_32,
        unread(37, 30),
        URA,
        unread(23, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

const LDCU_TOP: &[Row] = &[unread(101, 92), MUST_BE_SET];
/// Unpacking and size of `LDCU`, bits 81:73.
const LDCU_MODIFIERS: &[Row] = &[
    unread(81, 81).only(B10_BUT_107),
    row(80, 80, S::Unpack, Named(&values::UNPACK), "unpack", "text only").only(B10_BUT_107),
    row(81, 80, S::Unpack, Named(&values::UNPACK_2), "unpack", "text only").only(B12.and(B107)),
    unread(79, 76),
    SIZE_128,
];
const B10_BUT_107: super::row::Groups =
    super::row::Groups::of(crate::sm::Group::Blackwell100).and(super::row::B101);

/// `LDCU c[bank][UR+off]`.
pub(super) const LDCU_BANK: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[unread(90, 82)],
    LDCU_MODIFIERS,
    &[unread(72, 59), BANK, OFFSET_17, unread(36, 32), URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

const HANDLE_B: Row =
    row(31, 24, S::Handle, UniformRegister, "URa", "descriptor of the bank; text only");
const INDEX_B: Row =
    row(71, 64, S::UniformBase, UniformRegister, "URb", "base of the address, URZ for none");
const HANDLE_OPERANDS: &[Row] =
    &[INDEX_B, unread(63, 54), OFFSET_17, unread(36, 32), HANDLE_B, URD_B];

/// `LDCU cx[URa][URb+off]`.
pub(super) const LDCU_HANDLE: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[unread(90, 82)],
    LDCU_MODIFIERS,
    &[unread(72, 72)],
    HANDLE_OPERANDS,
    UNIFORMLY_GUARDED,
];

/// `LDCU cx[URa][URb+off]` of the SMs on which it can have a read barrier.
pub(super) const LDCU_HANDLE_READ: &[&[Row]] = &[
    SCHEDULING,
    LDCU_TOP,
    &[unread(90, 82)],
    LDCU_MODIFIERS,
    &[unread(72, 72)],
    HANDLE_OPERANDS,
    UNIFORMLY_GUARDED,
];

/// `LDCU [UR+off]`.
pub(super) const LDCU_MEMORY: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[UPIN_NEGATED, UPIN, unread(86, 82)],
    LDCU_MODIFIERS,
    &[unread(72, 70), OFFSET_32, unread(37, 32), URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// The mask and the other destination of `LDCU.256`, bits 83:72.
const LDCU_256_HIGH: &[Row] = &[
    row(83, 80, S::Mask, Unsigned, "mask", "words that are loaded, the last four"),
    row(
        79,
        72,
        S::HighDestination,
        UniformRegister,
        "UR1st",
        "first register of the last four words",
    ),
];
const LDCU_256_MASK: Row =
    row(35, 32, S::Mask, Unsigned, "mask", "words that are loaded, the first four");

/// `LDCU.256 c[bank][UR+off]`.
pub(super) const LDCU_256_BANK: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[unread(90, 84)],
    LDCU_256_HIGH,
    &[unread(71, 59), BANK, OFFSET_17, unread(36, 36), LDCU_256_MASK, URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// `LDCU.256 cx[URa][URb+off]`.
pub(super) const LDCU_256_HANDLE: &[&[Row]] = &[
    SCHEDULING,
    LDCU_TOP,
    &[unread(90, 84)],
    LDCU_256_HIGH,
    &[INDEX_B, unread(63, 54), OFFSET_17, unread(36, 36), LDCU_256_MASK, HANDLE_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// `LDCU.256 [UR+off]`.
pub(super) const LDCU_256_MEMORY: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[UPIN_NEGATED, UPIN, unread(86, 84)],
    LDCU_256_HIGH,
    &[unread(71, 70), OFFSET_32, unread(37, 36), LDCU_256_MASK, URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// Element size, shape and count of `LDSM`, bits 90:64.
const MATRIX: &[Row] = &[
    unread(90, 81),
    unread(80, 80).only(TAH),
    row(79, 78, S::Shape, Named(&values::MATRIX_SHAPE), "shape", "shape of a matrix").only(TAH),
    row(80, 78, S::Shape, Named(&values::MATRIX_SHAPE_B), "shape", "shape of a matrix").only(B),
    row(77, 75, S::Size, Named(&values::MATRIX_SIZE), "sz", "size of the elements").only(TAH),
    row(77, 75, S::Size, Named(&values::MATRIX_SIZE_B), "sz", "size of the elements").only(B),
    unread(74, 74),
    row(73, 72, S::Count, Named(&values::MATRIX_COUNT), "count", "number of matrices"),
    unread(71, 64),
];

/// `LDSM [Ra+off]`.
pub(super) const LDSM_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[unread(101, 92), IMMEDIATE],
    MATRIX,
    &[OFFSET_24.only(T), SIGNED_24.only(AHB), unread(39, 32), RA, RD],
    GUARDED,
];

/// `LDSM [Ra+UR+off]`.
pub(super) const LDSM_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[unread(101, 92), UNIFORM],
    MATRIX,
    &[
        OFFSET_24.only(T),
        SIGNED_24.only(AHB),
        unread(39, 38).only(TAH),
        UR.only(TAH),
        UR_B.only(B),
        RA,
        RD,
    ],
    GUARDED,
];

/// `LDGSTS`: which of the addresses has the uniform register is the opcode's matter.
pub(super) const LDGSTS: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(A),
        unread(101, 101).only(H.and(B)),
        unread(100, 92),
        MUST_BE_SET,
        row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "P negated"),
        row(
            89,
            87,
            S::PredicateIn,
            Predicate,
            "P",
            "lanes where it is false copy nothing or zeros",
        ),
        EVICT,
        unread(83, 83).only(AH),
        row(83, 83, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers").only(B),
        row(82, 82, S::ZeroFill, Named(&values::ZFILL), "ZFILL", "zeros where P is false"),
        row(81, 81, S::Bypass, Named(&values::BYPASS), "BYPASS", "whether L1 is bypassed"),
        row(80, 77, S::Order, Named(&values::ORDER_COPY), "order", "memory order and scope"),
        DESCRIPTOR,
        row(75, 73, S::Size, Named(&values::SIZES_COPY), "sz", "bits that a lane copies").only(AH),
        row(75, 74, S::Size, Named(&values::SIZES_COPY_2), "sz", "bits that a lane copies").only(B),
        row(72, 71, S::Prefetch, Named(&values::PREFETCH), "prefetch", "prefetch into L2").only(AH),
        row(73, 72, S::Prefetch, Named(&values::PREFETCH), "prefetch", "prefetch into L2").only(B),
        row(70, 70, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers")
            .only(AH),
        row(69, 64, S::UniformBase, UniformRegister, "UR", "uniform register of an address")
            .only(AH),
        row(71, 64, S::UniformBase, UniformRegister, "UR", "uniform register of an address")
            .only(B),
        row(63, 44, S::SharedOffset, Signed, "soff", "byte offset of the shared address"),
        row(43, 32, S::Offset, Signed, "off", "byte offset of the global address"),
        row(31, 24, S::Base, Register, "Ra", "base register of the global address"),
        row(23, 16, S::Destination, Register, "Rd", "base register of the shared address"),
    ],
    GUARDED,
];

const TENSOR_UR: Row =
    row(39, 32, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");
const TENSOR_OFFSET_HIGH: Row = row(79, 72, S::Offset, Signed, "off", "offset, the high byte");
const TENSOR_OFFSET_LOW: Row = row(63, 40, S::Offset, Unsigned, "off", "offset, the low 24 bits");

/// `LDTM tmem[UR+off]`.
pub(super) const LDTM: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    &[
        unread(101, 92),
        MUST_BE_SET,
        unread(90, 88),
        row(87, 87, S::Shape, Unsigned, "shape", "shape of the load, the high bit"),
        unread(86, 86),
        row(85, 83, S::Count, Named(&values::TENSOR_COUNT), "num", "repetition"),
        row(
            82,
            81,
            S::Shape,
            Named(&values::TENSOR_SHAPE),
            "shape",
            "shape of the load, the low bits",
        ),
        row(80, 80, S::Pack, Named(&values::PACK), "pack", "whether 16-bit elements are packed"),
        TENSOR_OFFSET_HIGH,
        unread(71, 64),
        TENSOR_OFFSET_LOW,
        TENSOR_UR,
        unread(31, 24),
        RD,
    ],
    UNIFORMLY_GUARDED,
];

/// `LDTM.STAT tmem[UR+off]`.
pub(super) const LDTM_STAT: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    &[
        unread(101, 92),
        MUST_BE_SET,
        unread(90, 88),
        row(87, 87, S::Shape, Unsigned, "shape", "shape of the load, the high bit"),
        unread(86, 86),
        row(85, 83, S::Count, Named(&values::TENSOR_COUNT_STAT), "num", "repetition"),
        row(82, 81, S::Shape, Named(&values::TENSOR_SHAPE_STAT), "shape", "shape, the low bits"),
        unread(80, 80),
        TENSOR_OFFSET_HIGH,
        unread(71, 69),
        row(68, 68, S::Nan, Named(&values::NAN), "NAN", "whether NaN is propagated"),
        row(67, 66, S::Statistic, Named(&values::STATISTIC), "op", "the reduction"),
        row(
            65,
            64,
            S::StatisticType,
            Named(&values::STATISTIC_TYPE),
            "type",
            "type of the elements",
        ),
        TENSOR_OFFSET_LOW,
        TENSOR_UR,
        row(31, 24, S::HighDestination, Register, "Ra", "register of the reduction's result"),
        RD,
    ],
    UNIFORMLY_GUARDED,
];
