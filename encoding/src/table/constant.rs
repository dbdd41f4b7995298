//! `LDC`, `ULDC`, `LDCU`.

use super::common::*;
use super::row::Kind::*;
use super::row::Slot as S;
use super::row::*;
use super::values;

use crate::sm::Group;

/// `LDC c[bank][Ra+off]`.
pub(super) const LDC_BANK: &[&[Row]] = &[
    SCHEDULING,
    &[
        reserved(101, 92),
        reserved(91, 91).only(V),
        IMMEDIATE.only(TAHB),
        reserved(90, 80),
        MODE,
        reserved(77, 76),
        SIZE_64,
        reserved(72, 59),
        BANK,
        OFFSET_16,
        reserved(37, 32),
        RA,
        RD,
    ],
    GUARDED,
];

/// `LDC cx[UR][Ra+off]`.
pub(super) const LDC_HANDLE: &[&[Row]] = &[
    SCHEDULING,
    &[
        reserved(101, 92),
        MUST_BE_SET,
        reserved(90, 80),
        reserved(79, 78).only(T),
        MODE.only(AHB),
        reserved(77, 76),
        SIZE_64,
        reserved(72, 72),
        row(71, 64, S::Base, Register, "Ra", "base register of the address, RZ for none"),
        reserved(63, 54),
        OFFSET_16,
        reserved(37, 32),
        reserved(31, 30).only(TAH),
        row(29, 24, S::Bindless, UniformRegister, "UR", "descriptor of the bank; text only").only(TAH),
        row(31, 24, S::Bindless, UniformRegister, "UR", "descriptor of the bank; text only").only(B),
        RD,
    ],
    GUARDED,
];

const URD: Row = row(21, 16, S::Destination, UniformRegister, "URd", "first destination register");
const URD_B: Row = row(23, 16, S::Destination, UniformRegister, "URd", "first destination register");
const URA: Row = row(29, 24, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");
const URA_B: Row = row(31, 24, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");

/// `ULDC c[bank][off]`.
pub(super) const ULDC_BANK: &[&[Row]] = &[
    SCHEDULING,
    &[
        reserved(101, 92),
        IMMEDIATE,
        reserved(90, 76),
        SIZE_64,
        reserved(72, 59),
        BANK,
        OFFSET_16,
        reserved(37, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

/// `ULDC cx[UR][off]`.
pub(super) const ULDC_HANDLE: &[&[Row]] = &[
    SCHEDULING,
    &[
        reserved(101, 92),
        UNIFORM,
        reserved(90, 76),
        SIZE_64,
        reserved(72, 54),
        OFFSET_16,
        reserved(37, 30),
        row(29, 24, S::Bindless, UniformRegister, "UR", "descriptor of the bank; text only"),
        reserved(23, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

/// `ULDC c[bank][UR+off]`.
pub(super) const ULDC_INDEXED: &[&[Row]] = &[
    SCHEDULING,
    &[
        reserved(101, 92),
        MUST_BE_SET,
        reserved(90, 76),
        SIZE_64,
        reserved(72, 59),
        BANK,
        OFFSET_16,
        reserved(37, 30),
        URA,
        reserved(23, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

/// `ULDC [UR+off]`.
pub(super) const ULDC_MEMORY: &[&[Row]] = &[
    SCHEDULING,
    &[
        reserved(101, 92),
        MUST_BE_SET,
        UPIN_NEGATED,
        UPIN,
        reserved(86, 76),
        SIZE_64,
        reserved(72, 70),
        OFFSET_32,
        reserved(37, 30),
        URA,
        reserved(23, 22),
        URD,
    ],
    UNIFORMLY_GUARDED,
];

const LDCU_TOP: &[Row] = &[reserved(101, 92), MUST_BE_SET];
/// Unpacking and size of `LDCU`, bits 81:73.
const LDCU_MODIFIERS: &[Row] = &[
    reserved(81, 81).only(B10_BUT_107),
    row(80, 80, S::Unpack, Named(&values::UNPACK), "unpack", "text only").text_only_but(0, "unpacking").only(B10_BUT_107),
    row(81, 80, S::Unpack, Named(&values::UNPACK_2), "unpack", "text only").text_only_but(0, "unpacking").only(B12.or(B107)),
    reserved(79, 76),
    SIZE_128,
];
const B10_BUT_107: Groups = Groups::of(Group::Blackwell100).or(B101);

/// `LDCU c[bank][UR+off]`.
pub(super) const LDCU_BANK: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[reserved(90, 82)],
    LDCU_MODIFIERS,
    &[reserved(72, 59), BANK, OFFSET_17, reserved(36, 32), URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

const HANDLE_B: Row = row(31, 24, S::Bindless, UniformRegister, "URa", "descriptor of the bank; text only");
const INDEX_B: Row = row(71, 64, S::UniformBase, UniformRegister, "URb", "base of the address, URZ for none");
const LDCU_HANDLE_MIDDLE: &[Row] = &[reserved(90, 82)];
const HANDLE_OPERANDS: &[Row] =
    &[reserved(72, 72), INDEX_B, reserved(63, 54), OFFSET_17, reserved(36, 32), HANDLE_B, URD_B];

/// `LDCU cx[URa][URb+off]`.
pub(super) const LDCU_HANDLE: &[&[Row]] =
    &[SCHEDULING_WITHOUT_READ, LDCU_TOP, LDCU_HANDLE_MIDDLE, LDCU_MODIFIERS, HANDLE_OPERANDS, UNIFORMLY_GUARDED];

/// The same on SMs where it can have a read barrier.
pub(super) const LDCU_HANDLE_READ: &[&[Row]] =
    &[SCHEDULING, LDCU_TOP, LDCU_HANDLE_MIDDLE, LDCU_MODIFIERS, HANDLE_OPERANDS, UNIFORMLY_GUARDED];

/// `LDCU [UR+off]`.
pub(super) const LDCU_MEMORY: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[UPIN_NEGATED, UPIN, reserved(86, 82)],
    LDCU_MODIFIERS,
    &[reserved(72, 70), OFFSET_32, reserved(37, 32), URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// The mask and the second destination of `LDCU.256`, bits 83:72.
const LDCU_256_HIGH: &[Row] = &[
    row(83, 80, S::Mask, Unsigned, "mask", "words that are loaded, the last four").text_only_but(u64::MAX, MASK),
    row(79, 72, S::HighDestination, UniformRegister, "UR1st", "first register of the last four words"),
];
const LDCU_256_MASK: Row = row(35, 32, S::Mask, Unsigned, "mask", "words that are loaded, the first four").text_only_but(u64::MAX, MASK);

/// `LDCU.256 c[bank][UR+off]`.
pub(super) const LDCU_256_BANK: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[reserved(90, 84)],
    LDCU_256_HIGH,
    &[reserved(71, 59), BANK, OFFSET_17, reserved(36, 36), LDCU_256_MASK, URA_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// `LDCU.256 cx[URa][URb+off]`.
pub(super) const LDCU_256_HANDLE: &[&[Row]] = &[
    SCHEDULING,
    LDCU_TOP,
    &[reserved(90, 84)],
    LDCU_256_HIGH,
    &[INDEX_B, reserved(63, 54), OFFSET_17, reserved(36, 36), LDCU_256_MASK, HANDLE_B, URD_B],
    UNIFORMLY_GUARDED,
];

/// `LDCU.256 [UR+off]`.
pub(super) const LDCU_256_MEMORY: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    LDCU_TOP,
    &[UPIN_NEGATED, UPIN, reserved(86, 84)],
    LDCU_256_HIGH,
    &[reserved(71, 70), OFFSET_32, reserved(37, 36), LDCU_256_MASK, URA_B, URD_B],
    UNIFORMLY_GUARDED,
];
