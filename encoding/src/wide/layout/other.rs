//! `LDSM`, `LDGSTS`, `LDTM`.

use super::common::{DESCRIPTOR, EVICT, GUARDED, IMMEDIATE, MUST_BE_SET, OFFSET_24, RA, RD, SCHEDULING, SCHEDULING_WITHOUT_READ, SHOW, SIGNED_24, UNIFORM, UNIFORMLY_GUARDED, UR, UR_B};
use crate::wide::row::Kind::{Bit, Named, Predicate, Register, Signed, UniformRegister, Unsigned};
use crate::wide::row::Slot as S;
use crate::wide::row::{A, AH, AHB, B, H, T, TAH, LayoutRow128, row, unread};
use crate::wide::values;

/// Element size, shape and count of `LDSM`, bits 90:64.
const MATRIX: &[LayoutRow128] = &[
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
pub(in crate::wide) const LDSM_IMMEDIATE: &[&[LayoutRow128]] = &[
    SCHEDULING,
    &[unread(101, 92), IMMEDIATE],
    MATRIX,
    &[OFFSET_24.only(T), SIGNED_24.only(AHB), unread(39, 32), RA, RD],
    GUARDED,
];

/// `LDSM [Ra+UR+off]`.
pub(in crate::wide) const LDSM_UNIFORM: &[&[LayoutRow128]] = &[
    SCHEDULING,
    &[unread(101, 92), UNIFORM],
    MATRIX,
    &[OFFSET_24.only(T), SIGNED_24.only(AHB), unread(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDGSTS`: which of the addresses has the uniform register is the opcode's matter.
pub(in crate::wide) const LDGSTS: &[&[LayoutRow128]] = &[
    SCHEDULING,
    &[
        SHOW.only(A),
        unread(101, 101).only(H.and(B)),
        unread(100, 92),
        MUST_BE_SET,
        row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "P negated"),
        row(89, 87, S::PredicateIn, Predicate, "P", "lanes where it is false copy nothing or zeros"),
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
        row(70, 70, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers").only(AH),
        row(69, 64, S::UniformBase, UniformRegister, "UR", "uniform register of an address").only(AH),
        row(71, 64, S::UniformBase, UniformRegister, "UR", "uniform register of an address").only(B),
        row(63, 44, S::SharedOffset, Signed, "soff", "byte offset of the shared address"),
        row(43, 32, S::Offset, Signed, "off", "byte offset of the global address"),
        row(31, 24, S::Base, Register, "Ra", "base register of the global address"),
        row(23, 16, S::Destination, Register, "Rd", "base register of the shared address"),
    ],
    GUARDED,
];

const TENSOR_UR: LayoutRow128 = row(39, 32, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");
const TENSOR_OFFSET_HIGH: LayoutRow128 = row(79, 72, S::Offset, Signed, "off", "offset, the high byte");
const TENSOR_OFFSET_LOW: LayoutRow128 = row(63, 40, S::Offset, Unsigned, "off", "offset, the low 24 bits");

/// `LDTM tmem[UR+off]`.
pub(in crate::wide) const LDTM: &[&[LayoutRow128]] = &[
    SCHEDULING_WITHOUT_READ,
    &[
        unread(101, 92),
        MUST_BE_SET,
        unread(90, 88),
        row(87, 87, S::Shape, Unsigned, "shape", "shape of the load, the high bit"),
        unread(86, 86),
        row(85, 83, S::Count, Named(&values::TENSOR_COUNT), "num", "repetition"),
        row(82, 81, S::Shape, Named(&values::TENSOR_SHAPE), "shape", "shape of the load, the low bits"),
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
pub(in crate::wide) const LDTM_STAT: &[&[LayoutRow128]] = &[
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
        row(65, 64, S::StatisticType, Named(&values::STATISTIC_TYPE), "type", "type of the elements"),
        TENSOR_OFFSET_LOW,
        TENSOR_UR,
        row(31, 24, S::HighDestination, Register, "Ra", "register of the reduction's result"),
        RD,
    ],
    UNIFORMLY_GUARDED,
];
