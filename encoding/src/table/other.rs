//! `LDSM`, `LDGSTS`, `LDTM`.

use super::common::*;
use super::row::Kind::*;
use super::row::Slot as S;
use super::row::*;
use super::values;

const MATRIX_KIND: &str = "this element size or matrix shape of LDSM";

/// Element size, shape and count of `LDSM`, bits 90:64.
const MATRIX: &[Row] = &[
    reserved(90, 81),
    reserved(80, 80).only(TAH),
    row(79, 78, S::Shape, Named(&values::MATRIX_SHAPE), "shape", "shape of a matrix").only(TAH),
    row(80, 78, S::Shape, Named(&values::MATRIX_SHAPE_B), "shape", "shape of a matrix").only(B),
    row(77, 75, S::Size, Named(&values::MATRIX_SIZE), "sz", "size of the elements").text_only_but(0, MATRIX_KIND).only(TAH),
    row(77, 75, S::Size, Named(&values::MATRIX_SIZE_B), "sz", "size of the elements").text_only_but(0, MATRIX_KIND).only(B),
    reserved(74, 74),
    row(73, 72, S::Count, Named(&values::MATRIX_COUNT), "count", "number of matrices"),
    reserved(71, 64),
];

/// `LDSM [Ra+off]`.
pub(super) const LDSM_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[reserved(101, 92), IMMEDIATE],
    MATRIX,
    &[OFFSET_24.only(T), SIGNED_24.only(AHB), reserved(39, 32), RA, RD],
    GUARDED,
];

/// `LDSM [Ra+UR+off]`.
pub(super) const LDSM_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[reserved(101, 92), UNIFORM],
    MATRIX,
    &[OFFSET_24.only(T), SIGNED_24.only(AHB), reserved(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDGSTS`. The opcode decides which of its addresses has the uniform register.
pub(super) const LDGSTS: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(A),
        reserved(101, 101).only(H.or(B)),
        reserved(100, 92),
        MUST_BE_SET,
        row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "P negated"),
        row(89, 87, S::PredicateIn, Predicate, "P", "lanes where it is false copy nothing or zeros"),
        EVICT,
        reserved(83, 83).only(AH),
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

const TENSOR_UR: Row = row(39, 32, S::UniformBase, UniformRegister, "UR", "base of the address, URZ for none");
const TENSOR_OFFSET_HIGH: Row = row(79, 72, S::Offset, Signed, "off", "offset, the high byte");
const TENSOR_OFFSET_LOW: Row = row(63, 40, S::Offset, Unsigned, "off", "offset, the low 24 bits");

/// `LDTM tmem[UR+off]`.
pub(super) const LDTM: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    &[
        reserved(101, 92),
        MUST_BE_SET,
        reserved(90, 88),
        row(87, 87, S::Shape, Unsigned, "shape", "shape of the load, the high bit"),
        reserved(86, 86),
        row(85, 83, S::Count, Named(&values::TENSOR_COUNT), "num", "repetition"),
        row(82, 81, S::Shape, Named(&values::TENSOR_SHAPE), "shape", "shape of the load, the low bits"),
        row(80, 80, S::Pack, Named(&values::PACK), "pack", "whether 16-bit elements are packed"),
        TENSOR_OFFSET_HIGH,
        reserved(71, 64),
        TENSOR_OFFSET_LOW,
        TENSOR_UR,
        reserved(31, 24),
        RD,
    ],
    UNIFORMLY_GUARDED,
];

/// `LDTM.STAT tmem[UR+off]`.
pub(super) const LDTM_STAT: &[&[Row]] = &[
    SCHEDULING_WITHOUT_READ,
    &[
        reserved(101, 92),
        MUST_BE_SET,
        reserved(90, 88),
        row(87, 87, S::Shape, Unsigned, "shape", "shape of the load, the high bit"),
        reserved(86, 86),
        row(85, 83, S::Count, Named(&values::TENSOR_COUNT_STAT), "num", "repetition"),
        row(82, 81, S::Shape, Named(&values::TENSOR_SHAPE_STAT), "shape", "shape, the low bits"),
        reserved(80, 80),
        TENSOR_OFFSET_HIGH,
        reserved(71, 69),
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
