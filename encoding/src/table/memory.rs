//! `LD`, `LDG`, `LDL`, `LDS`.

use super::common::*;
use super::row::Kind::*;
use super::row::Slot as S;
use super::row::*;
use super::values;

/// Memory order and prefetch of `LD` and `LDG`, bits 80:68, with the size and `.E` between them.
macro_rules! order_to_prefetch {
    ($($bit_76:expr),+) => {
        &[
            row(80, 79, S::Order, Named(&values::ORDER_KIND), "order", "memory order").only(VT),
            row(78, 77, S::Scope, Named(&values::SCOPE), "scope", "scope of the memory order").only(VT),
            row(80, 77, S::Order, Named(&values::ORDER), "order", "memory order and scope").only(AHB),
            row(76, 76, S::Private, Named(&values::PRIVATE), "private", "text only").text_only_but(0, ".PRIVATE").only(VT),
            $($bit_76,)+
            row(75, 73, S::Size, Named(&values::SIZES_U128), "sz", "bits in memory, and how they fill Rd").only(VT),
            SIZE_128.only(AHB),
            E,
            reserved(71, 64).only(V),
            reserved(71, 70).only(TAHB),
            row(69, 68, S::Prefetch, Named(&values::PREFETCH_128), "prefetch", "prefetch into L2").only(T),
            row(69, 68, S::Prefetch, Named(&values::PREFETCH), "prefetch", "prefetch into L2").only(AHB),
            PIN_NEGATED.only(TAHB),
            PIN.only(TAHB),
        ]
    };
}

const ORDER_IMMEDIATE: &[Row] = order_to_prefetch!(reserved(76, 76).only(AHB));
const ORDER_UNIFORM: &[Row] = order_to_prefetch!(DESCRIPTOR.only(AHB));

/// Bits 101:84 of `LD` and `LDG`.
const IMMEDIATE_TO_EVICT: &[Row] = &[
    reserved(101, 92),
    reserved(91, 91).only(V),
    IMMEDIATE.only(TAHB),
    reserved(90, 88),
    ZD.only(VT),
    reserved(87, 87).only(AHB),
    EVICT,
];
/// The same with a uniform register in the address.
const UNIFORM_TO_EVICT: &[Row] = &[
    SHOW.only(A),
    reserved(101, 101).only(T.or(H).or(B)),
    reserved(100, 92),
    UNIFORM,
    WIDE,
    reserved(89, 88),
    ZD.only(T),
    reserved(87, 87).only(AHB),
    EVICT,
];

/// `LD [Ra+off]`.
pub(super) const LD_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    IMMEDIATE_TO_EVICT,
    &[PD.only(VT), reserved(83, 81).only(AHB)],
    ORDER_IMMEDIATE,
    &[row(63, 32, S::Offset, Signed, "off", "byte offset; unsigned without a base"), RA, RD],
    GUARDED,
];

/// `LD [Ra+UR+off]`, `LD desc[UR][Ra+off]`.
pub(super) const LD_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    UNIFORM_TO_EVICT,
    &[PD.only(T), reserved(83, 81).only(AHB)],
    ORDER_UNIFORM,
    &[SIGNED_24, reserved(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDG [Ra+off]`.
pub(super) const LDG_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    IMMEDIATE_TO_EVICT,
    &[PD_LDG],
    ORDER_IMMEDIATE,
    &[OFFSET_24, reserved(39, 32), RA, RD],
    GUARDED,
];

/// `LDG [Ra+UR+off]`, `LDG desc[UR][Ra+off]`.
pub(super) const LDG_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    UNIFORM_TO_EVICT,
    &[PD_LDG],
    ORDER_UNIFORM,
    &[SIGNED_24, reserved(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];

/// `LDG` of 256 bits.
pub(super) const LDG_256: &[&[Row]] = &[
    SCHEDULING,
    &[
        SHOW.only(ADA),
        reserved(101, 101).only(B),
        reserved(100, 92),
        MUST_BE_SET,
        row(90, 90, S::PredicateInNegated, Bit("no", "yes"), "!", "Pin negated; text only").text_only_but(0, PREDICATE),
        row(89, 87, S::PredicateIn, InvertedPredicate, "Pin", "a predicate that is read; text only").text_only_but(0, PREDICATE),
        EVICT,
        reserved(83, 83),
        row(82, 81, S::Policy, Named(&values::POLICY), "policy", "L2 policy").only(ADA.or(B10)),
        row(82, 81, S::Policy, Named(&values::POLICY_RML2), "policy", "L2 policy").only(B12),
        row(80, 77, S::Order, Named(&values::ORDER), "order", "memory order and scope").only(ADA.or(B10)),
        row(80, 77, S::Order, NamedBeside(&values::ORDER, S::Policy, 3, &values::ORDER_RML2), "order", "memory order and scope").only(B12),
        DESCRIPTOR,
        row(75, 75, S::Wide, Bit(".U32", ".64"), "64", "whether Ra is a pair of registers"),
        row(74, 73, S::Prefetch, Named(&values::PREFETCH), "prefetch", "prefetch into L2"),
        row(72, 72, S::Mask, Unsigned, "mask", "words that are loaded, the last one").text_only_but(u64::MAX, MASK),
        row(71, 64, S::HighDestination, Register, "R1st", "first register of the last four words"),
        row(63, 57, S::Mask, Unsigned, "mask", "words that are loaded, the first seven").text_only_but(u64::MAX, MASK).only(B),
        row(56, 40, S::Offset, SignedBy32, "off", "offset in units of 32 bytes").only(B),
        UR_B.only(B),
        row(63, 59, S::Mask, Unsigned, "mask", "words that are loaded, 2 to 6").text_only_but(u64::MAX, MASK).only(ADA),
        row(58, 40, S::Offset, SignedBy32, "off", "offset in units of 32 bytes").only(ADA),
        row(39, 38, S::Mask, Unsigned, "mask", "words that are loaded, 0 and 1").text_only_but(u64::MAX, MASK).only(ADA),
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
        reserved(101, 92),
        reserved(91, 91).only(V),
        IMMEDIATE.only(TAHB),
        reserved(90, 87),
        EVICT,
        reserved(83, 76),
        SIZE_128,
        reserved(72, 64),
        OFFSET_24,
        reserved(39, 32),
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
        reserved(101, 101).only(T.or(H).or(B)),
        reserved(100, 92),
        UNIFORM,
        reserved(90, 87),
        EVICT,
        reserved(83, 77),
        reserved(76, 76).only(T),
        DESCRIPTOR.only(AHB),
        SIZE_128,
        reserved(72, 64),
        SIGNED_24,
        reserved(39, 38).only(TAH),
        UR.only(TAH),
        UR_B.only(B),
        RA,
        RD,
    ],
    GUARDED,
];

/// Bits 90:64 of `LDS`: scale, `.U`, size and the bits between them.
const SHARED_MIDDLE: &[Row] = &[
    reserved(90, 88),
    ZD.only(VT),
    reserved(86, 84).only(VT),
    PD.only(VT),
    reserved(80, 77).only(V),
    reserved(80, 80).only(T),
    reserved(87, 80).only(AHB),
    row(79, 78, S::Scale, Named(&values::SCALE), "scale", "factor of Ra").only(TAHB),
    reserved(77, 77).only(T),
    reserved(77, 76).only(AHB),
    row(76, 76, S::UniformHint, Named(&values::UNIFORM_HINT), "U", "no observable effect").only(VT),
    row(75, 73, S::Size, Named(&values::SIZES_SHARED), "sz", "bits in memory, and how they fill Rd"),
    reserved(72, 64),
];

/// `LDS [Ra+off]`.
pub(super) const LDS_IMMEDIATE: &[&[Row]] = &[
    SCHEDULING,
    &[reserved(101, 92), reserved(91, 91).only(V), IMMEDIATE.only(TAHB)],
    SHARED_MIDDLE,
    &[OFFSET_24, reserved(39, 32), RA, RD],
    GUARDED,
];

/// `LDS [Ra+UR+off]`.
pub(super) const LDS_UNIFORM: &[&[Row]] = &[
    SCHEDULING,
    &[reserved(101, 92), UNIFORM],
    SHARED_MIDDLE,
    &[SIGNED_24, reserved(39, 38).only(TAH), UR.only(TAH), UR_B.only(B), RA, RD],
    GUARDED,
];
