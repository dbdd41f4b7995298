//! The instruction of each state space.

use warpload::encoding::{Instruction, Reg, Size, Slot, Sm};

use super::lowered::Binding;
use super::operand::{
    Address, CONSTANT_BITS, DISPLACEMENT_BITS, MAX_IMMEDIATE, Operand, sign_extended,
};
use super::registers::RegisterContents;
use super::select::Selector;
use crate::meaning::{
    CONST_BANK, Meaning, PARAMETER_BANK, PARAMETER_BASE, PARAMETERS, ResolvedAddress,
};
use crate::syntax::load::CacheOperator;
use warpload::memory::AddressSpace;

/// The base of a function's local variables.
const FRAME: Reg = Reg::new(1);

impl Selector<'_> {
    /// `LD`: the address is formed in registers, together with its Plg. From level 1 on later accesses take a
    /// displacement from it.
    pub(super) fn generic(
        &mut self,
        meaning: &Meaning,
        address: Address,
        size: Size,
    ) -> Option<Instruction> {
        let words = if self.is_wide() { 2 } else { 1 };
        let Address { place, value, .. } = address;
        let (base, plg, constant) = if self.is_optimized() && meaning.guard.is_none() {
            let constant = self.anchors.of(value, |root| self.flow.is_in_bank(root));
            let source = RegisterContents::Formed(value.root, constant, self.anchors.block());
            (self.numbers.of(source, words), self.numbers.predicate(source), constant)
        } else {
            (self.numbers.fresh(words), self.numbers.fresh_predicate(), value.constant)
        };
        let displacement = value.constant.wrapping_sub(constant);
        let place = ResolvedAddress { offset: place.offset.wrapping_sub(displacement), ..place };
        self.bindings.push(Binding::Address { register: base, is_wide: words == 2, place });
        self.bindings.push(Binding::Plg { predicate: plg, place });
        Instruction::new("LD", Sm::SPA5)?
            .with(Slot::PredicateIn, plg.number().into())?
            .with(Slot::Cache, cache(meaning))?
            .with(Slot::Size, size as u64)?
            .with(Slot::Extended, u64::from(words == 2))?
            .with(Slot::Base, base.number().into())?
            .with_offset(displacement)
    }

    pub(super) fn global(
        &mut self,
        meaning: &Meaning,
        address: Address,
        size: Size,
    ) -> Option<Instruction> {
        let is_immediate = |known: &i64| (0..=MAX_IMMEDIATE).contains(known);
        let operand = match self.known(address).filter(is_immediate) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(address, self.is_wide(), DISPLACEMENT_BITS),
        };
        Instruction::new("LDG", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            .with(Slot::Cache, if meaning.is_non_coherent { CI } else { cache(meaning) })?
            .with(Slot::Extended, self.is_wide().into())?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(operand.displacement)
    }

    pub(super) fn local(&mut self, address: Address, size: Size) -> Option<Instruction> {
        let operand = match self.frame_offset(address) {
            Some(displacement) => {
                self.bindings.push(Binding::Frame { register: FRAME });
                Operand { base: FRAME, displacement }
            }
            None => self.narrow(address),
        };
        Instruction::new("LDL", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(operand.displacement)
    }

    /// The displacement of a local variable from [`FRAME`].
    fn frame_offset(&self, address: Address) -> Option<i64> {
        let variable = self.flow.local_variable(address.value).filter(|_| self.is_optimized())?;
        let offset = i64::try_from(self.layout.offset(variable)?).ok()?;
        let displacement = offset.checked_add(address.value.constant)?;
        (sign_extended(displacement, DISPLACEMENT_BITS) == displacement).then_some(displacement)
    }

    pub(super) fn shared(&mut self, address: Address, size: Size) -> Option<Instruction> {
        let operand = self.narrow(address);
        Instruction::new("LDS", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            // ptxas sets `.U` on every shared load.
            .with(Slot::UniformHint, 1)?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(operand.displacement)
    }

    pub(super) fn constant(
        &mut self,
        space: AddressSpace,
        address: Address,
        size: Size,
    ) -> Option<Instruction> {
        let (bank, first) = bank(space);
        // The space begins at `first` in the bank, so the displacement includes it.
        let in_bank = if self.is_optimized() { address.offset(first) } else { address };
        let in_bank = in_bank.in_32_bits();
        let is_immediate = |known: &i64| sign_extended(*known, CONSTANT_BITS) == *known;
        let operand = match self.known(in_bank).filter(is_immediate) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(in_bank, false, CONSTANT_BITS),
        };
        let displacement = match self.is_optimized() {
            true => operand.displacement,
            false => operand.displacement.checked_add(first)?,
        };
        Instruction::new("LDC", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            .with(Slot::Bank, bank.into())?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(displacement)
    }
}

/// The constant bank of a space, and the offset of the space in it.
pub(super) fn bank(space: AddressSpace) -> (u8, i64) {
    match space {
        PARAMETERS => (PARAMETER_BANK, PARAMETER_BASE as i64),
        _ => (CONST_BANK, 0),
    }
}

/// The encoded cache operators of `LD` and `LDG`.
const CA: u64 = 0;
const CG: u64 = 1;
const CI: u64 = 2;
const CV: u64 = 3;

fn cache(meaning: &Meaning) -> u64 {
    match meaning.cache {
        _ if meaning.is_volatile => CV,
        None | Some(CacheOperator::Ca | CacheOperator::Cs) => CA,
        Some(CacheOperator::Cg | CacheOperator::Lu) => CG,
        Some(CacheOperator::Cv) => CV,
    }
}
