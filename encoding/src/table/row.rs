//! A row of the table: the bits of a field, its [`Slot`], the [`Kind`] of its numbers, and the SMs that have it.

use core::fmt;

use super::values::Values;
use crate::field::Field;
use crate::operand::{Pred, Reg, Scoreboard, UniformReg, WaitMask};
use crate::sm::Group;

/// A set of groups of SMs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Groups(u16);

impl Groups {
    pub(super) const NONE: Self = Self(0);

    pub(crate) const fn of(group: Group) -> Self {
        Self(1 << group as u16)
    }

    /// This group and all later ones.
    pub(crate) const fn from(group: Group) -> Self {
        Self(u16::MAX << group as u16)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn count(self) -> usize {
        (self.0 & ALL.0).count_ones() as usize
    }

    #[inline]
    pub(crate) const fn contains(self, group: Group) -> bool {
        self.0 >> group as u16 & 1 != 0
    }
}

/// SM 5.x and 6.x, with 64-bit words.
pub(super) const P: Groups = Groups::of(Group::Spa5);
pub(super) const V: Groups = Groups::of(Group::Volta);
pub(crate) const T: Groups = Groups::of(Group::Turing);
pub(super) const ADA: Groups = Groups::of(Group::Ada);
pub(crate) const A: Groups = Groups::of(Group::Ampere).or(ADA);
pub(super) const H: Groups = Groups::of(Group::Hopper);
pub(super) const B12: Groups = Groups::of(Group::Blackwell120);
pub(super) const B107: Groups = Groups::of(Group::Blackwell107);
pub(super) const B101: Groups = Groups::of(Group::Blackwell101);
pub(super) const B10: Groups = Groups::of(Group::Blackwell100).or(B101).or(B107);
pub(super) const B: Groups = B10.or(B12);
pub(super) const VT: Groups = V.or(T);
pub(super) const AH: Groups = A.or(H);
pub(super) const AHB: Groups = AH.or(B);
pub(crate) const TAH: Groups = T.or(AH);
pub(crate) const TAHB: Groups = T.or(AHB);
/// Every SM with 128-bit words.
pub(super) const BITS_128: Groups = V.or(TAHB);
pub(super) const ALL: Groups = P.or(BITS_128);

/// The role of a field in an instruction. Several rows of one layout with the same slot are one number, with the high
/// bits in the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Slot {
    /// The opcode.
    Opcode,
    /// Bits that the disassembler does not read.
    Reserved,
    /// The batch hint.
    Batch,
    /// The scoreboards to wait for.
    Wait,
    /// The scoreboard of the sources.
    ReadBarrier,
    /// The scoreboard of the destination.
    WriteBarrier,
    /// The yield flag, active low.
    Yield,
    /// The stall count.
    Stall,
    /// PM.
    Pm,
    /// The sign of the guard.
    GuardNegated,
    /// The guard predicate.
    Guard,
    /// The first destination register, general or uniform; for `LDGSTS` the shared address.
    Destination,
    /// The second destination of 256 bits: printed first, loaded last.
    HighDestination,
    /// Ra.
    Base,
    /// URb, or the UR of an address.
    UniformBase,
    /// The UR that holds a bindless descriptor of a constant bank, `cx[UR]`.
    Bindless,
    /// The offset of the address.
    Offset,
    /// The offset of the shared address of `LDGSTS`.
    SharedOffset,
    /// The constant bank.
    Bank,
    /// Bit 91: the form of the operands.
    Form,
    /// The base register is a pair: `.64`.
    Wide,
    /// The UR holds a memory descriptor: `desc[UR]`.
    Descriptor,
    /// The text shows the descriptor.
    ShowDescriptor,
    /// The factor of the base register.
    Scale,
    /// `.E`: an address of 64 bits.
    Extended,
    /// The cache operator of SM 5.x and 6.x.
    Cache,
    /// The eviction priority.
    Evict,
    /// The L2 policy.
    Policy,
    /// The prefetch into L2.
    Prefetch,
    /// The size.
    Size,
    /// The memory order.
    Order,
    /// The scope of the memory order.
    Scope,
    /// `.PRIVATE`.
    Private,
    /// `.ZD`.
    Zd,
    /// `.U` of `LDS`.
    UniformHint,
    /// How bank and offset are formed.
    Mode,
    /// The unpacking.
    Unpack,
    /// The number of matrices, or of repetitions.
    Count,
    /// The shape of matrices, or of Tensor Memory.
    Shape,
    /// `.BYPASS`.
    Bypass,
    /// `.ZFILL`.
    ZeroFill,
    /// `.PACK16BIT`.
    Pack,
    /// The reduction of `LDTM.STAT`.
    Statistic,
    /// The type of its values.
    StatisticType,
    /// Whether it propagates NaN.
    Nan,
    /// The predicate that the load writes.
    PredicateOut,
    /// The sign of the predicate after the address.
    PredicateInNegated,
    /// The predicate after the address: a source, or Plg of SM 5.x and 6.x.
    PredicateIn,
    /// The words that a 256-bit load reads.
    Mask,
}

impl Slot {
    pub(crate) const COUNT: usize = Slot::Mask as usize + 1;
}

/// The interpretation of a field's number.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// The opcode of the layout.
    Opcode,
    Hexadecimal,
    Decimal,
    Named(&'static Values),
    /// Named by the second table while another field has this number, otherwise by the first.
    NamedBeside(&'static Values, Slot, u64, &'static Values),
    Register,
    UniformRegister,
    Predicate,
    UniformPredicate,
    /// Stored as 7 minus its number.
    InvertedPredicate,
    Signed,
    /// Signed beside a base register, the address itself without one.
    SignedOrAddress,
    /// Signed, in units of 32 bytes.
    SignedBy32,
    Unsigned,
    /// A bit, and the meanings of 0 and 1.
    Bit(&'static str, &'static str),
    Scoreboard,
    WaitMask,
}

impl Kind {
    pub(crate) fn fmt_meaning(
        self,
        bits: u64,
        width: u32,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let signed = || (bits << (64 - width)) as i64 >> (64 - width);
        match self {
            Self::Decimal => write!(f, "{bits}"),
            Self::Unsigned if width <= 4 => write!(f, "{bits}"),
            Self::Opcode | Self::Hexadecimal | Self::Unsigned => write!(f, "{bits:#x}"),
            Self::Named(values) | Self::NamedBeside(values, ..) => values.fmt_meaning(bits, f),
            Self::Register => fmt::Display::fmt(&Reg::new(bits as u8), f),
            Self::UniformRegister => fmt::Display::fmt(&UniformReg::from_field(bits, width), f),
            Self::Predicate => fmt::Display::fmt(&Pred::from_bits(bits), f),
            Self::UniformPredicate => write!(f, "U{}", Pred::from_bits(bits)),
            Self::InvertedPredicate => fmt::Display::fmt(&Pred::from_bits(!bits), f),
            Self::Signed => write!(f, "{}", signed()),
            Self::SignedOrAddress => {
                write!(f, "{} with a base, {bits:#x} without", signed())
            }
            Self::SignedBy32 => write!(f, "{} (units of 32 bytes)", 32 * signed()),
            Self::Bit(clear, set) => f.write_str(if bits == 0 { clear } else { set }),
            Self::Scoreboard => Scoreboard::from_bits(bits).fmt_meaning(f),
            Self::WaitMask => WaitMask::from_bits(bits).fmt_meaning(f),
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) field: Field,
    pub(crate) slot: Slot,
    pub(crate) kind: Kind,
    pub(crate) groups: Groups,
    /// The value in every word of the layout.
    pub(crate) fixed: Option<u64>,
    /// The reason why words with another value are illegal.
    pub(crate) otherwise: &'static str,
    /// The one number with a public meaning, and the name of the others in errors.
    pub(crate) text_only: Option<(u64, &'static str)>,
    pub(crate) name: &'static str,
    pub(crate) purpose: &'static str,
}

/// A field of all groups of the layout.
pub(super) const fn row(
    high: u8,
    low: u8,
    slot: Slot,
    kind: Kind,
    name: &'static str,
    purpose: &'static str,
) -> Row {
    let field = Field::new(high, low);
    Row {
        field,
        slot,
        kind,
        groups: ALL,
        fixed: None,
        otherwise: "",
        text_only: None,
        name,
        purpose,
    }
}

/// Bits that survive decoding and encoding, although the disassembler ignores them.
pub(super) const fn reserved(high: u8, low: u8) -> Row {
    let purpose = "not read by the disassembler, 0 when assembled";
    row(high, low, Slot::Reserved, Kind::Hexadecimal, "-", purpose)
}

impl Row {
    /// Restricts the row to these groups.
    pub(super) const fn only(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// The same field with another interpretation.
    pub(super) const fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// The same field at other bits.
    pub(super) const fn at(self, high: u8, low: u8) -> Self {
        Self { field: Field::new(high, low), ..self }
    }

    /// Words with another value are another instruction, or illegal for the reason `otherwise`.
    pub(super) const fn fixed(self, value: u64, otherwise: &'static str) -> Self {
        Self { fixed: Some(value), otherwise, ..self }
    }

    /// Only this number has a public meaning; `what` names the others in errors.
    pub(super) const fn text_only_but(self, number: u64, what: &'static str) -> Self {
        Self { text_only: Some((number, what)), ..self }
    }
}
