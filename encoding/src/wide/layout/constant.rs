//! `LDC`, `ULDC`, `LDCU`.

use super::common::{BANK, GUARDED, IMMEDIATE, MODE, MUST_BE_SET, OFFSET_16, OFFSET_17, OFFSET_32, RA, RD, SCHEDULING, SCHEDULING_WITHOUT_READ, SIZE_128, SIZE_64, UNIFORM, UNIFORMLY_GUARDED, UPIN, UPIN_NEGATED};
use crate::wide::row::Kind::{Named, Register, UniformRegister, Unsigned};
use crate::wide::row::Slot as S;
use crate::wide::row::{AHB, B, B101, B107, B12, T, TAH, TAHB, V, Groups, LayoutRow128, row, unread};
use crate::wide::values;

use crate::sm::Group;

/// `LDC c[bank][Ra+off]`.
pub(in crate::wide) const LDC_BANK: &[&[LayoutRow128]] = &[
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
pub(in crate::wide) const LDC_HANDLE: &[&[LayoutRow128]] = &[
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
        row(29, 24, S::Handle, UniformRegister, "UR", "descriptor of the bank; text only").only(TAH),
        row(31, 24, S::Handle, UniformRegister, "UR", "descriptor of the bank; text only").only(B),
        RD,
    ],
    GUARDED,
];

const URD: LayoutRow128 = row(21, 16, S::Destination, UniformRegister, "URd", "first destination register");
const URD_B: LayoutRow128 = row(23, 16, S::Destination, UniformRegister, "URd", "first destination register");
const URA: LayoutRow128 = row(29, 24, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");
const URA_B: LayoutRow128 = row(31, 24, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");

/// `ULDC c[bank][off]`.
pub(in crate::wide) const ULDC_BANK: &[&[LayoutRow128]] = &[
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
pub(in crate::wide) const ULDC_HANDLE: &[&[LayoutRow128]] = &[
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
pub(in crate::wide) const ULDC_INDEXED: &[&[LayoutRow128]] = &[
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
pub(in crate::wide) const ULDC_MEMORY: &[&[LayoutRow128]] = &[
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

const LDCU_TOP: &[LayoutRow128] = &[unread(101, 92), MUST_BE_SET];
/// Unpacking and size of `LDCU`, bits 81:73.
const LDCU_MODIFIERS: &[LayoutRow128] = &[
    unread(81, 81).only(B10_BUT_107),
    row(80, 80, S::Unpack, Named(&values::UNPACK), "unpack", "text only").only(B10_BUT_107),
    row(81, 80, S::Unpack, Named(&values::UNPACK_2), "unpack", "text only").only(B12.and(B107)),
    unread(79, 76),
    SIZE_128,
];
const B10_BUT_107: Groups = Groups::of(Group::Blackwell100).and(B101);

/// `LDCU c[bank][UR+off]`.
pub(in crate::wide) const LDCU_BANK: &[&[LayoutRow128]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[unread(90, 82)],
    LDCU_MODIFIERS,
    &[unread(72, 59), BANK, OFFSET_17, unread(36, 32), URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

const HANDLE_B: LayoutRow128 = row(31, 24, S::Handle, UniformRegister, "URa", "descriptor of the bank; text only");
const INDEX_B: LayoutRow128 = row(71, 64, S::UniformBase, UniformRegister, "URb", "base of the address, URZ for none");
const LDCU_HANDLE_MIDDLE: &[LayoutRow128] = &[unread(90, 82)];
const HANDLE_OPERANDS: &[LayoutRow128] =
    &[unread(72, 72), INDEX_B, unread(63, 54), OFFSET_17, unread(36, 32), HANDLE_B, URD_B];

/// `LDCU cx[URa][URb+off]`.
pub(in crate::wide) const LDCU_HANDLE: &[&[LayoutRow128]] =
    &[SCHEDULING_WITHOUT_READ, LDCU_TOP, LDCU_HANDLE_MIDDLE, LDCU_MODIFIERS, HANDLE_OPERANDS, UNIFORMLY_GUARDED];

/// The same on the SMs on which it can have a read barrier.
pub(in crate::wide) const LDCU_HANDLE_READ: &[&[LayoutRow128]] =
    &[SCHEDULING, LDCU_TOP, LDCU_HANDLE_MIDDLE, LDCU_MODIFIERS, HANDLE_OPERANDS, UNIFORMLY_GUARDED];

/// `LDCU [UR+off]`.
pub(in crate::wide) const LDCU_MEMORY: &[&[LayoutRow128]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[UPIN_NEGATED, UPIN, unread(86, 82)],
    LDCU_MODIFIERS,
    &[unread(72, 70), OFFSET_32, unread(37, 32), URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// The mask and the other destination of `LDCU.256`, bits 83:72.
const LDCU_256_HIGH: &[LayoutRow128] = &[
    row(83, 80, S::Mask, Unsigned, "mask", "words that are loaded, the last four"),
    row(79, 72, S::HighDestination, UniformRegister, "UR1st", "first register of the last four words"),
];
const LDCU_256_MASK: LayoutRow128 = row(35, 32, S::Mask, Unsigned, "mask", "words that are loaded, the first four");

/// `LDCU.256 c[bank][UR+off]`.
pub(in crate::wide) const LDCU_256_BANK: &[&[LayoutRow128]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[unread(90, 84)],
    LDCU_256_HIGH,
    &[unread(71, 59), BANK, OFFSET_17, unread(36, 36), LDCU_256_MASK, URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// `LDCU.256 cx[URa][URb+off]`.
pub(in crate::wide) const LDCU_256_HANDLE: &[&[LayoutRow128]] = &[
    SCHEDULING,
    LDCU_TOP,
    &[unread(90, 84)],
    LDCU_256_HIGH,
    &[INDEX_B, unread(63, 54), OFFSET_17, unread(36, 36), LDCU_256_MASK, HANDLE_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// `LDCU.256 [UR+off]`.
pub(in crate::wide) const LDCU_256_MEMORY: &[&[LayoutRow128]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[UPIN_NEGATED, UPIN, unread(86, 84)],
    LDCU_256_HIGH,
    &[unread(71, 70), OFFSET_32, unread(37, 36), LDCU_256_MASK, URA_B, URD_B],
    UNIFORMLY_GUARDED,
];
