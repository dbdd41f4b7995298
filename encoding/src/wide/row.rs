//! What a row of the table of 128-bit words is made of: bits, a [`Slot`], a [`Kind`], and the SMs
//! that have it.

use core::fmt;

use super::values::Values;
use crate::field::{Field, FieldValue};
use crate::operand::{Barrier, Pred, Reg, UniformReg, WaitMask};
use crate::sm::Group;

/// A set of groups of SMs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups(u16);

impl Groups {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn of(group: Group) -> Self {
        Self(1 << group as u16)
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(super) const fn contains(self, group: Group) -> bool {
        self.0 >> group as u16 & 1 != 0
    }
}

pub(super) const V: Groups = Groups::of(Group::Volta);
pub(super) const T: Groups = Groups::of(Group::Turing);
pub(super) const ADA: Groups = Groups::of(Group::Ada);
pub(super) const A: Groups = Groups::of(Group::Ampere).and(ADA);
pub(super) const H: Groups = Groups::of(Group::Hopper);
pub(super) const B12: Groups = Groups::of(Group::Blackwell120);
pub(super) const B107: Groups = Groups::of(Group::Blackwell107);
pub(super) const B101: Groups = Groups::of(Group::Blackwell101);
pub(super) const B10: Groups = Groups::of(Group::Blackwell100).and(B101).and(B107);
pub(super) const B: Groups = B10.and(B12);
pub(super) const VT: Groups = V.and(T);
pub(super) const AH: Groups = A.and(H);
pub(super) const AHB: Groups = AH.and(B);
pub(super) const TAH: Groups = T.and(AH);
pub(super) const TAHB: Groups = T.and(AHB);
pub(super) const ALL: Groups = V.and(TAHB);

/// What a field is for. A slot of several rows of one layout is one number, whose high bits are in
/// the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Slot {
    Opcode,
    Unread,
    Batch,
    Wait,
    ReadBarrier,
    WriteBarrier,
    Yield,
    Stall,
    Pm,
    GuardNegated,
    Guard,
    /// The first destination register, general or uniform; of `LDGSTS` the shared address.
    Destination,
    /// The second one of 256 bits: printed first, loaded last.
    HighDestination,
    /// Ra.
    Base,
    /// URb, or the UR of an address.
    UniformBase,
    /// The UR that holds a descriptor of a constant bank, `cx[UR]`.
    Handle,
    Offset,
    /// The offset of the shared address of `LDGSTS`.
    SharedOffset,
    Bank,
    /// Bit 91: the form of the operands.
    Form,
    /// The base register is a pair: `.64`.
    Wide,
    /// The UR holds a memory descriptor: `desc[UR]`.
    Descriptor,
    /// The text shows the descriptor.
    ShowDescriptor,
    Scale,
    Extended,
    Evict,
    Policy,
    Prefetch,
    Size,
    Order,
    Scope,
    Private,
    Zd,
    UniformHint,
    Mode,
    Unpack,
    Count,
    Shape,
    Bypass,
    ZeroFill,
    Pack,
    Statistic,
    StatisticType,
    Nan,
    /// The predicate that is written.
    PredicateOut,
    PredicateInNegated,
    PredicateIn,
    /// The words of 256 bits that are loaded.
    Mask,
}

impl Slot {
    pub(super) const COUNT: usize = Slot::Mask as usize + 1;
}

/// What the numbers of a field are.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// The opcode of the layout.
    Opcode,
    /// Bits that neither the disassembler reads nor the text shows.
    Unread,
    Named(&'static Values),
    Register,
    UniformRegister,
    Predicate,
    UniformPredicate,
    /// Stored as 7 minus its number.
    InvertedPredicate,
    Signed,
    /// Signed, in units of 32 bytes.
    SignedBy32,
    Unsigned,
    /// A bit and what 0 and 1 mean.
    Bit(&'static str, &'static str),
    Barrier,
    WaitMask,
}

impl Kind {
    pub(super) fn fmt_meaning(
        self,
        bits: u64,
        width: u32,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let signed = || (bits << (64 - width)) as i64 >> (64 - width);
        match self {
            Self::Unsigned if width <= 4 => write!(f, "{bits}"),
            Self::Opcode | Self::Unread | Self::Unsigned => write!(f, "{bits:#x}"),
            Self::Named(values) => values.fmt_meaning(bits, f),
            Self::Register => fmt::Display::fmt(&Reg::from_bits(bits), f),
            Self::UniformRegister => fmt::Display::fmt(&UniformReg::from_field(bits, width), f),
            Self::Predicate => fmt::Display::fmt(&Pred::from_bits(bits), f),
            Self::UniformPredicate => write!(f, "U{}", Pred::from_bits(bits)),
            Self::InvertedPredicate => fmt::Display::fmt(&Pred::from_bits(!bits), f),
            Self::Signed => write!(f, "{}", signed()),
            Self::SignedBy32 => write!(f, "{} (units of 32 bytes)", 32 * signed()),
            Self::Bit(clear, set) => f.write_str(if bits == 0 { clear } else { set }),
            Self::Barrier => Barrier::from_bits(bits).fmt_meaning(f),
            Self::WaitMask => WaitMask::from_bits(bits).fmt_meaning(f),
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy)]
pub(super) struct LayoutRow128 {
    pub(super) field: Field<u128>,
    pub(super) slot: Slot,
    pub(super) kind: Kind,
    pub(super) groups: Groups,
    /// The value that every word of the layout has here.
    pub(super) fixed: Option<u64>,
    pub(super) name: &'static str,
    pub(super) purpose: &'static str,
}

/// A field that all groups of the layout have.
pub(super) const fn row(
    high: u8,
    low: u8,
    slot: Slot,
    kind: Kind,
    name: &'static str,
    purpose: &'static str,
) -> LayoutRow128 {
    LayoutRow128 {
        field: Field::new(high, low),
        slot,
        kind,
        groups: ALL,
        fixed: None,
        name,
        purpose,
    }
}

/// Bits that are kept, but that nothing reads.
pub(super) const fn unread(high: u8, low: u8) -> LayoutRow128 {
    row(
        high,
        low,
        Slot::Unread,
        Kind::Unread,
        "-",
        "not read by the disassembler, 0 when assembled",
    )
}

impl LayoutRow128 {
    /// The row is that of these groups only.
    pub(super) const fn only(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// Words with another value here are another instruction, or none.
    pub(super) const fn fixed(self, value: u64) -> Self {
        Self { fixed: Some(value), ..self }
    }
}
