//! The address operand of a lowered load: a base register and a displacement.

use warpload::encoding::Reg;

use super::lowered::Binding;
use super::registers::RegisterContents;
use super::select::Selector;
use super::value::Value;
use crate::meaning::ResolvedAddress;

/// The address operand of an instruction: `[base+displacement]`.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) base: Reg,
    pub(super) displacement: i64,
}

/// The address of a piece, both as written and as computed.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) place: ResolvedAddress,
    pub(super) value: Value,
    /// The piece's offset in the load, in bytes.
    pub(super) piece: i64,
}

impl Address {
    pub(super) fn offset(self, bytes: i64) -> Self {
        let place = ResolvedAddress { offset: self.place.offset.wrapping_add(bytes), ..self.place };
        Self { place, value: self.value.offset(bytes), ..self }
    }

    pub(super) fn of_piece(self, bytes: i64) -> Self {
        Self { piece: bytes, ..self.offset(bytes) }
    }

    /// The address truncated to a space of 32 bits.
    pub(super) fn in_32_bits(self) -> Self {
        Self { value: self.value.in_32_bits(), ..self }
    }
}

/// The width of a displacement of `LDG`, `LDL` and `LDS`.
pub(super) const DISPLACEMENT_BITS: u32 = 24;
/// The largest address that fits in an instruction without a base.
pub(super) const MAX_IMMEDIATE: i64 = (1 << DISPLACEMENT_BITS) - 1;
/// The width of a displacement of `LDC`.
pub(super) const CONSTANT_BITS: u32 = 16;

impl Selector<'_> {
    /// The address itself, if the assembler knows it.
    pub(super) fn known(&self, address: Address) -> Option<i64> {
        let is_known = self.is_optimized() && address.value.root.is_none();
        is_known.then_some(address.value.constant)
    }

    /// An address in a space of 32 bits: an immediate if it is known and small enough.
    pub(super) fn narrow(&mut self, address: Address) -> Operand {
        let known = self.known(address).map(|known| i64::from(known as u32));
        match known.filter(|known| *known <= MAX_IMMEDIATE) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(address.in_32_bits(), false, DISPLACEMENT_BITS),
        }
    }

    /// A base in a register, with the low bits of the address's constant as the displacement. At level 0 the
    /// displacement is the offset of the piece in its load, because constants are not followed.
    pub(super) fn based(&mut self, address: Address, is_wide: bool, bits: u32) -> Operand {
        let words = if is_wide { 2 } else { 1 };
        let displacement = match self.is_optimized() {
            true => sign_extended(address.value.constant, bits),
            false => address.piece,
        };
        let constant = address.value.constant.wrapping_sub(displacement);
        let base = self.numbers.of(RegisterContents::Value(address.value.root, constant), words);
        let place = address.place;
        let place = ResolvedAddress { offset: place.offset.wrapping_sub(displacement), ..place };
        self.bind(Binding::Address { register: base, is_wide, place });
        Operand { base, displacement }
    }
}

pub(super) fn sign_extended(number: i64, bits: u32) -> i64 {
    let unused = 64 - bits;
    number << unused >> unused
}
