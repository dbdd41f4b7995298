//! One load to its instructions.

use warpload_encoding::{
    Bits, CacheOp as SassCacheOp, Guard, Immediate, Instruction, Ld, Ldc, Ldg, Ldl, Lds,
    LimitedSize, Reg, SignedImmediate, Size,
};

use super::operand::{Operand, fits, immediate};
use super::piece::{Piece, pieces};
use super::registers::{Numbers, Source};
use super::uniform::Uniformity;
use super::{Binding, LowerErrorKind, LoweredLoad, OptimizationLevel};
use crate::ptx::layout::Layout;
use crate::ptx::meaning::{
    Base, CONST_BANK, LoadSpace, Meaning, PARAMETER_BANK, PARAMETER_BASE, Place,
};
use crate::ptx::module::{Function, FunctionKind, Module, Role};
use crate::ptx::{CacheOp, Load, Opcode, Order, QualifierKind, TypeClass};

/// The register from whose value on local variables lie.
const FRAME: Reg = Reg::new(1);

/// What is known where a load stands.
pub(super) struct Selector<'m, 's> {
    pub(super) module: &'m Module<'s>,
    pub(super) function: &'m Function,
    pub(super) layout: &'m Layout<'m>,
    pub(super) level: OptimizationLevel,
    /// Nothing at level 0, where nothing is known of addresses.
    pub(super) uniformity: Option<&'m Uniformity>,
    pub(super) numbers: Numbers,
}

impl Selector<'_, '_> {
    pub(super) fn load(&mut self, load: Load) -> Result<LoweredLoad, LowerErrorKind> {
        if load.opcode != Opcode::Ld {
            return Err(LowerErrorKind::Tensor);
        }
        let meaning = self.module.meaning(&load)?;
        let is_ordered = |kind: &QualifierKind| {
            matches!(
                kind,
                QualifierKind::Order(Order::Relaxed | Order::Acquire) | QualifierKind::Mmio
            )
        };
        if load.qualifiers.iter().any(|qualifier| is_ordered(&qualifier.kind)) {
            return Err(LowerErrorKind::Ordered);
        }
        let mut lowered = LoweredLoad { load, instructions: Vec::new(), bindings: Vec::new() };
        self.numbers.make_room();
        for piece in pieces(&meaning) {
            self.piece(&meaning, &piece, &mut lowered)?;
        }
        self.keep_destinations(&meaning, &lowered);
        Ok(lowered)
    }

    fn piece(
        &mut self,
        meaning: &Meaning,
        piece: &Piece<'_>,
        lowered: &mut LoweredLoad,
    ) -> Result<(), LowerErrorKind> {
        let offset = meaning.address.offset.wrapping_add(piece.offset);
        let place = Place { offset, ..meaning.address };
        if self.is_operand(meaning, place, piece) {
            lowered.bindings.extend(self.constant_operand(meaning.space, place, piece));
            return Ok(());
        }
        let too_wide = LowerErrorKind::TooWide { bytes: piece.bytes };
        let size = self.size(meaning, place, piece).ok_or(too_wide)?;
        let guard = self.guard(meaning, &mut lowered.bindings);
        let bindings = &mut lowered.bindings;
        let instruction = match meaning.space {
            LoadSpace::Generic => self.generic(meaning, place, size, bindings),
            LoadSpace::Global => self.global(meaning, place, size, bindings),
            LoadSpace::Local => self.local(place, size, bindings),
            LoadSpace::Shared => self.shared(place, size, bindings),
            LoadSpace::Const | LoadSpace::Param => {
                self.constant(meaning.space, place, size, bindings)
            }
        };
        let destination = self.destination(size, piece, lowered);
        lowered.instructions.push(instruction.ok_or(too_wide)?.with(guard, destination));
        Ok(())
    }

    /// Whether a piece becomes an operand of what uses it, and no instruction: a constant whose
    /// place is known and that is no part of a word, and parameters that are in registers.
    fn is_operand(&self, meaning: &Meaning, place: Place, piece: &Piece<'_>) -> bool {
        let is_known = matches!(place.base, Base::Variable(_) | Base::Zero);
        match meaning.space {
            LoadSpace::Param if !self.is_kernel_parameter(place) => true,
            LoadSpace::Const | LoadSpace::Param => {
                is_known && piece.bytes >= 4 && self.level > OptimizationLevel::O0
            }
            _ => false,
        }
    }

    fn constant_operand(
        &self,
        space: LoadSpace,
        place: Place,
        piece: &Piece<'_>,
    ) -> Option<Binding> {
        let (bank, first) = bank(space);
        let offset = self
            .variable_offset(place)
            .filter(|_| space == LoadSpace::Const || self.is_kernel_parameter(place))?;
        // Far outside of the bank the operand means nothing anyway.
        let offset = offset.wrapping_add(first) as u32;
        Some(Binding::Constant { bank, offset, elements: piece.elements.to_vec() })
    }

    fn is_kernel_parameter(&self, place: Place) -> bool {
        let variable = self.module.variable_of(place);
        self.function.kind == FunctionKind::Entry
            && variable.is_none_or(|variable| variable.role == Role::Parameter)
    }

    /// The size of a piece; its sign is seen to later where it is a constant of a known place.
    fn size(&self, meaning: &Meaning, place: Place, piece: &Piece<'_>) -> Option<Size> {
        let is_constant = matches!(meaning.space, LoadSpace::Const | LoadSpace::Param);
        let is_known = is_constant
            && matches!(place.base, Base::Variable(_))
            && self.level > OptimizationLevel::O0;
        let is_signed = meaning.scalar.class() == TypeClass::Signed && !is_known;
        Some(match (piece.bytes, is_signed) {
            (1, false) => Size::U8,
            (1, true) => Size::S8,
            (2, false) => Size::U16,
            (2, true) => Size::S16,
            (4, _) => Size::B32,
            (8, _) => Size::B64,
            (16, _) if self.is_uniform_wide(meaning) => Size::U128,
            (16, _) => Size::B128,
            _ => return None,
        })
    }

    /// Whether a load of 128 bits has the form for one address in the whole warp: a default or
    /// `.ca` load, from level 1 on, of 64-bit addresses.
    fn is_uniform_wide(&self, meaning: &Meaning) -> bool {
        matches!(meaning.space, LoadSpace::Generic | LoadSpace::Global)
            && matches!(meaning.cache, None | Some(CacheOp::Ca))
            && !meaning.is_volatile
            && self.is_wide()
            && self.is_uniform(meaning.address)
    }

    fn is_uniform(&self, place: Place) -> bool {
        self.uniformity.is_some_and(|uniformity| uniformity.is_uniform(place.base))
    }

    /// Whether addresses have 64 bits.
    fn is_wide(&self) -> bool {
        self.module.address_size.is_none_or(|size| size.bits != 32)
    }

    fn guard(&mut self, meaning: &Meaning, bindings: &mut Vec<Binding>) -> Guard {
        let Some((register, negated)) = meaning.guard else { return Guard::ALWAYS };
        let predicate = self.numbers.predicate(Source::Register(register));
        let binding = Binding::Guard { predicate, register };
        if !bindings.contains(&binding) {
            bindings.push(binding);
        }
        Guard { pred: predicate, negated }
    }

    /// `LD`: an address that is formed in registers, together with its Plg. From level 1 on a later
    /// load from the same register takes the formed address and a displacement. A guarded load is
    /// a block of its own to the assembler, and forms its address itself.
    fn generic(
        &mut self,
        meaning: &Meaning,
        place: Place,
        size: Size,
        bindings: &mut Vec<Binding>,
    ) -> Option<Instruction> {
        let words = if self.is_wide() { 2 } else { 1 };
        let formed = match place.base {
            Base::Register(register)
                if self.level > OptimizationLevel::O0 && meaning.guard.is_none() =>
            {
                Some(Source::Formed(register))
                    .filter(|source| place.offset == 0 || self.numbers.known(*source).is_some())
                    .filter(|_| fits(place.offset))
            }
            _ => None,
        };
        let (base, plg, of) = match formed {
            Some(source) => (
                self.numbers.of(source, words),
                self.numbers.predicate(source),
                Place { offset: 0, ..place },
            ),
            None => (self.numbers.fresh(words), self.numbers.fresh_predicate(), place),
        };
        bindings.push(Binding::Address { register: base, is_wide: words == 2, place: of });
        bindings.push(Binding::Plg { predicate: plg, place: of });
        Some(Instruction::from(Ld {
            plg,
            cache: cache(meaning),
            size,
            extended: words == 2,
            immediate: Immediate::from_signed(place.offset.wrapping_sub(of.offset))?,
            base,
            ..Ld::default()
        }))
    }

    fn global(
        &mut self,
        meaning: &Meaning,
        place: Place,
        size: Size,
        bindings: &mut Vec<Binding>,
    ) -> Option<Instruction> {
        let operand = self.based(place, self.is_wide(), fits, bindings);
        Some(Instruction::from(Ldg {
            size,
            cache: if meaning.is_non_coherent { SassCacheOp::Ci } else { cache(meaning) },
            extended: self.is_wide(),
            immediate: Immediate::from_signed(operand.displacement)?,
            base: operand.base,
            ..Ldg::default()
        }))
    }

    fn local(
        &mut self,
        place: Place,
        size: Size,
        bindings: &mut Vec<Binding>,
    ) -> Option<Instruction> {
        let operand = match self.variable_offset(place).filter(|offset| fits(*offset)) {
            Some(displacement) => {
                bindings.push(Binding::Frame { register: FRAME });
                Operand { base: FRAME, displacement }
            }
            None => self.narrow(place, bindings),
        };
        Some(Instruction::from(Ldl {
            size: LimitedSize::new(size)?,
            immediate: immediate(operand)?,
            base: operand.base,
            ..Ldl::default()
        }))
    }

    fn shared(
        &mut self,
        place: Place,
        size: Size,
        bindings: &mut Vec<Binding>,
    ) -> Option<Instruction> {
        let is_address = |offset: &i64| (0..=Immediate::<24>::MAX_UNSIGNED as i64).contains(offset);
        let operand = match self.variable_offset(place).filter(is_address) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.narrow(place, bindings),
        };
        Some(Instruction::from(Lds {
            size: LimitedSize::new(size)?,
            uniform: self.is_uniform(place),
            immediate: immediate(operand)?,
            base: operand.base,
            ..Lds::default()
        }))
    }

    fn constant(
        &mut self,
        space: LoadSpace,
        place: Place,
        size: Size,
        bindings: &mut Vec<Binding>,
    ) -> Option<Instruction> {
        let (bank, first) = bank(space);
        let fits =
            |offset: i64| Immediate::<16>::from_signed(offset.saturating_add(first)).is_some();
        let is_known = self.level > OptimizationLevel::O0;
        let offset = self.variable_offset(place).filter(|offset| is_known && fits(*offset));
        let operand = match offset {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(place, false, fits, bindings),
        };
        let displacement = operand.displacement.checked_add(first)?;
        Some(Instruction::from(Ldc {
            size: LimitedSize::new(size)?,
            bank: Bits::new(bank)?,
            immediate: SignedImmediate(Immediate::from_signed(displacement)?),
            base: operand.base,
            ..Ldc::default()
        }))
    }

    /// New registers for the next instruction to write.
    fn destination(&mut self, size: Size, piece: &Piece<'_>, lowered: &mut LoweredLoad) -> Reg {
        let count = size.registers();
        let register = self.numbers.fresh(count as u8);
        let (instruction, elements) = (lowered.instructions.len(), piece.elements.to_vec());
        lowered.bindings.push(Binding::Destination { instruction, register, count, elements });
        register
    }

    /// What the load gives takes the place of what its destinations held; only now, since every
    /// instruction of the load reads the address as it was.
    fn keep_destinations(&mut self, meaning: &Meaning, lowered: &LoweredLoad) {
        for register in meaning.destinations.iter().flatten() {
            self.numbers.forget(*register);
        }
        let element_bytes = meaning.bytes() / u32::from(meaning.elements);
        for binding in &lowered.bindings {
            let Binding::Destination { register: first, elements, .. } = binding else { continue };
            for (i, element) in elements.iter().enumerate() {
                let Some(register) = *element else { continue };
                let declared = self.module.declaration(register.declaration);
                let bits = declared.and_then(|declared| declared.scalar.bits());
                // Elements that are no whole register of their own are taken apart by further code.
                if element_bytes >= 4 && bits == Some(8 * element_bytes) {
                    let words = i as u8 * (element_bytes / 4) as u8;
                    self.numbers.set(Source::Register(register), Reg::new(first.number() + words));
                }
            }
        }
    }
}

/// The constant bank of a space, and where the space begins in it.
fn bank(space: LoadSpace) -> (u8, i64) {
    match space {
        LoadSpace::Param => (PARAMETER_BANK, PARAMETER_BASE as i64),
        _ => (CONST_BANK, 0),
    }
}

fn cache(meaning: &Meaning) -> SassCacheOp {
    match meaning.cache {
        _ if meaning.is_volatile => SassCacheOp::Cv,
        None | Some(CacheOp::Ca | CacheOp::Cs) => SassCacheOp::Ca,
        Some(CacheOp::Cg | CacheOp::Lu) => SassCacheOp::Cg,
        Some(CacheOp::Cv) => SassCacheOp::Cv,
    }
}
