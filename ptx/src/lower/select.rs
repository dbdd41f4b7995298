//! [`Selector`]: chooses the instructions of a load.

use std::mem::take;

use warpload::encoding::{Guard, Instruction, Pred, Reg, Size, Slot, Sm};
use warpload::memory::AddressSpace;

use super::lowered::{Binding, LowerErrorKind, LoweredLoad};
use crate::meaning::{
    AddressBase, CONST_BANK, CONSTANTS, Meaning, PARAMETER_BANK, PARAMETER_BASE, PARAMETERS,
    Register, ResolvedAddress,
};
use crate::module::{DeclarationId, Function, FunctionKind, Module, Role, VariableLayout};
use crate::syntax::StateSpace;
use crate::syntax::load::{CacheOperator, MemoryOrder, Opcode, PtxLoad, QualifierKind};

/// The base of a function's local variables.
const FRAME: Reg = Reg::new(1);

/// The first register that a load may use. R1 is [`FRAME`], and ptxas begins a pair after it. No load takes more than
/// a pair for the address and a pair for the value of each of its eight elements.
const FIRST: u8 = 2;

/// The width of a displacement of `LDG`, `LDL` and `LDS`.
const DISPLACEMENT_BITS: u32 = 24;
/// The largest address that fits in an instruction without a base.
const MAX_IMMEDIATE: i64 = (1 << DISPLACEMENT_BITS) - 1;
/// The width of a displacement of `LDC`.
const CONSTANT_BITS: u32 = 16;

/// A load on its way, and the registers that are taken.
pub(super) struct Selector<'m> {
    module: &'m Module<'m>,
    function: &'m Function,
    layout: &'m VariableLayout<'m>,
    meaning: Meaning,
    next_register: u8,
    next_predicate: u8,
    instructions: Vec<Instruction>,
    bindings: Vec<Binding>,
}

/// An address: a constant, added to something that is known only at run time.
#[derive(Clone, Copy)]
struct Address {
    place: ResolvedAddress,
    constant: i64,
    /// Whether the constant is all of it.
    is_known: bool,
}

impl Address {
    fn offset(self, bytes: i64) -> Self {
        let place = ResolvedAddress { offset: self.place.offset.wrapping_add(bytes), ..self.place };
        Self { place, constant: self.constant.wrapping_add(bytes), ..self }
    }

    /// The address truncated to a space of 32 bits.
    fn in_32_bits(self) -> Self {
        Self { constant: i64::from(self.constant as i32), ..self }
    }

    /// All of the address, if it is known.
    fn known(self) -> Option<i64> {
        self.is_known.then_some(self.constant)
    }
}

/// The address operand of an instruction: `[base+displacement]`.
struct Operand {
    base: Reg,
    displacement: i64,
}

impl<'m> Selector<'m> {
    /// Lowers a load of `function`. `layout` has the offsets of the function's variables.
    pub(super) fn lower<'l>(
        module: &'m Module<'m>,
        function: &'m Function,
        layout: &'m VariableLayout<'m>,
        load: PtxLoad<'l>,
    ) -> Result<LoweredLoad<'l>, LowerErrorKind> {
        if load.opcode != Opcode::Ld {
            return Err(LowerErrorKind::Tensor);
        }
        let is_ordered = |kind: &QualifierKind| {
            matches!(
                kind,
                QualifierKind::Order(MemoryOrder::Relaxed | MemoryOrder::Acquire)
                    | QualifierKind::Mmio
            )
        };
        let meaning = module.meaning(&load)?;
        if load.qualifiers().any(|qualifier| is_ordered(&qualifier.kind)) {
            return Err(LowerErrorKind::Ordered);
        }
        let mut selector = Self {
            module,
            function,
            layout,
            meaning,
            next_register: FIRST,
            next_predicate: 0,
            instructions: Vec::new(),
            bindings: Vec::new(),
        };
        selector.pieces()?;
        let Self { instructions, bindings, .. } = selector;
        Ok(LoweredLoad { load, instructions, bindings })
    }

    /// One instruction for the load, or one for each element: a constant bank has no vectors, and a bank's alignment is
    /// not known here, which would let small elements share an instruction.
    fn pieces(&mut self) -> Result<(), LowerErrorKind> {
        let address = self.address();
        let elements = usize::from(self.meaning.elements.max(1));
        let is_constant = matches!(self.meaning.space, AddressSpace::Constant { .. });
        let in_one = if is_constant { 1 } else { elements };
        let bytes = self.meaning.bytes() / elements as u32 * in_one as u32;
        let destinations = take(&mut self.meaning.destinations);
        for (i, piece) in destinations.chunks(in_one).enumerate() {
            self.piece(address.offset(i64::from(bytes) * i as i64), bytes, piece)?;
        }
        Ok(())
    }

    fn address(&self) -> Address {
        let place = self.meaning.address;
        let (base, is_known) = match place.base {
            AddressBase::Zero => (0, true),
            AddressBase::Register(_) => (0, false),
            AddressBase::Variable(id) => match self.offset_of(id) {
                Some(offset) => (offset, true),
                None => (0, false),
            },
            AddressBase::Indexed(id, _) => (self.offset_of(id).unwrap_or(0), false),
        };
        Address { place, constant: base.wrapping_add(place.offset), is_known }
    }

    /// The offset of a variable in a space that begins at 0: a shared or constant variable, or a parameter of a kernel.
    fn offset_of(&self, id: DeclarationId) -> Option<i64> {
        let declaration = self.module.declaration(id)?;
        let is_in_space = match declaration.space {
            StateSpace::Shared | StateSpace::Const => true,
            StateSpace::Param => {
                declaration.role == Role::Parameter && self.function.kind == FunctionKind::Entry
            }
            _ => false,
        };
        let offset = self.layout.address(id).filter(|_| is_in_space)?;
        i64::try_from(offset).ok()
    }

    fn piece(
        &mut self,
        address: Address,
        bytes: u32,
        elements: &[Option<Register>],
    ) -> Result<(), LowerErrorKind> {
        if self.is_operand(address, bytes, elements) {
            self.bindings.extend(self.constant_operand(address, elements));
            return Ok(());
        }
        let too_wide = LowerErrorKind::TooWide { bytes };
        let size = self.size(address, bytes).ok_or(too_wide)?;
        let guard = self.guard();
        let instruction = match self.meaning.space {
            AddressSpace::Generic => self.generic(address, size),
            AddressSpace::Global => self.global(address, size),
            AddressSpace::Local => self.local(address, size),
            AddressSpace::Shared => self.shared(address, size),
            AddressSpace::Constant { .. } => self.constant(address, size),
        };
        let destination = self.destination(size, elements);
        let guarded = instruction.and_then(|load| {
            load.with(Slot::Guard, guard.pred.number().into())?
                .with(Slot::GuardNegated, guard.negated.into())?
                .with(Slot::Destination, destination.number().into())
        });
        self.instructions.push(guarded.ok_or(too_wide)?);
        Ok(())
    }

    /// Whether a piece becomes an operand of its users rather than an instruction: constants at a known address, and
    /// function parameters in registers.
    fn is_operand(&self, address: Address, bytes: u32, elements: &[Option<Register>]) -> bool {
        match self.meaning.space {
            PARAMETERS if !self.is_kernel_parameter(address.place) => true,
            AddressSpace::Constant { .. } => {
                let is_word = |known: i64| bytes >= 4 || self.is_low_part(known, elements);
                address.known().is_some_and(is_word)
            }
            _ => false,
        }
    }

    /// Whether the load takes the low bits of an aligned word and zero-extends them.
    fn is_low_part(&self, known: i64, elements: &[Option<Register>]) -> bool {
        let register = elements.first().copied().flatten();
        let declared = register.and_then(|register| self.module.declaration(register.declaration));
        let bits = declared.and_then(|declared| declared.scalar.register_bits());
        known % 4 == 0 && !self.meaning.scalar.is_signed() && bits.is_some_and(|bits| bits >= 32)
    }

    fn constant_operand(&self, address: Address, elements: &[Option<Register>]) -> Option<Binding> {
        let space = self.meaning.space;
        let (bank, first) = bank(space);
        let offset = address
            .known()
            .filter(|_| space == CONSTANTS || self.is_kernel_parameter(address.place))?;
        // An offset beyond the bank is truncated; an operand there has no meaning anyway.
        let offset = offset.wrapping_add(first) as u32;
        Some(Binding::Constant { bank, offset, elements: elements.to_vec() })
    }

    fn is_kernel_parameter(&self, place: ResolvedAddress) -> bool {
        let variable = self.module.variable_of(place);
        self.function.kind == FunctionKind::Entry
            && variable.is_none_or(|variable| variable.role == Role::Parameter)
    }

    /// The size of a piece. A signed constant at a known address is loaded unsigned, because ptxas extends it in a
    /// later instruction.
    fn size(&self, address: Address, bytes: u32) -> Option<Size> {
        let is_constant = matches!(self.meaning.space, AddressSpace::Constant { .. });
        let is_known = is_constant && address.is_known;
        let is_signed = self.meaning.scalar.is_signed() && !is_known;
        Some(match (bytes, is_signed) {
            (1, false) => Size::U8,
            (1, true) => Size::S8,
            (2, false) => Size::U16,
            (2, true) => Size::S16,
            (4, _) => Size::B32,
            (8, _) => Size::B64,
            (16, _) if self.is_uniform_wide() => Size::U128,
            (16, _) => Size::B128,
            _ => return None,
        })
    }

    /// Whether a load of 128 bits becomes `.U.128`, the form for one address in the whole warp: default or `.ca`,
    /// 64-bit addresses. Of the addresses that are in a register, nothing is known here.
    fn is_uniform_wide(&self) -> bool {
        matches!(self.meaning.space, AddressSpace::Generic | AddressSpace::Global)
            && matches!(self.meaning.cache, None | Some(CacheOperator::Ca))
            && !self.meaning.is_volatile
            && self.is_wide()
            && matches!(self.meaning.address.base, AddressBase::Zero | AddressBase::Variable(_))
    }

    fn is_wide(&self) -> bool {
        self.module.address_size.is_none_or(|size| size.bits != 32)
    }

    fn guard(&mut self) -> Guard {
        let Some((register, negated)) = self.meaning.guard else { return Guard::ALWAYS };
        let bound = self.bindings.iter().find_map(|binding| match binding {
            Binding::Guard { predicate, .. } => Some(*predicate),
            _ => None,
        });
        let pred = bound.unwrap_or_else(|| {
            let predicate = self.predicate();
            self.bindings.push(Binding::Guard { predicate, register });
            predicate
        });
        Guard { pred, negated }
    }

    /// Numbers the destination registers of the next instruction.
    fn destination(&mut self, size: Size, elements: &[Option<Register>]) -> Reg {
        let count = size.registers();
        let register = self.registers(count as u8);
        let (instruction, elements) = (self.instructions.len(), elements.to_vec());
        self.bindings.push(Binding::Destination { instruction, register, count, elements });
        register
    }

    /// Takes 1, 2 or 4 registers, aligned to their count.
    fn registers(&mut self, count: u8) -> Reg {
        let number = self.next_register.next_multiple_of(count);
        self.next_register = number + count;
        Reg::new(number)
    }

    /// Takes a predicate: the guard, or the Plg of the one generic load.
    fn predicate(&mut self) -> Pred {
        let predicate = Pred::try_from(self.next_predicate);
        self.next_predicate += 1;
        debug_assert!(predicate.is_ok(), "a load has a guard and a Plg");
        predicate.unwrap_or(Pred::PT)
    }

    /// An address in a space of 32 bits: an immediate if it is known and small enough.
    fn narrow(&mut self, address: Address) -> Operand {
        let known = address.known().map(|known| i64::from(known as u32));
        match known.filter(|known| *known <= MAX_IMMEDIATE) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(address.in_32_bits(), false, DISPLACEMENT_BITS),
        }
    }

    /// A base in a register, with the low bits of the address's constant as the displacement. Pieces of a load share
    /// their base.
    fn based(&mut self, address: Address, is_wide: bool, bits: u32) -> Operand {
        let displacement = sign_extended(address.constant, bits);
        let base = self.held(address.offset(displacement.wrapping_neg()).place, is_wide);
        Operand { base, displacement }
    }

    /// The register that holds an address.
    fn held(&mut self, place: ResolvedAddress, is_wide: bool) -> Reg {
        let bound = self.bindings.iter().find_map(|binding| match binding {
            Binding::Address { register, place: held, .. } if *held == place => Some(*register),
            _ => None,
        });
        bound.unwrap_or_else(|| {
            let register = self.registers(if is_wide { 2 } else { 1 });
            self.bindings.push(Binding::Address { register, is_wide, place });
            register
        })
    }
}

/// The instruction of each space.
impl Selector<'_> {
    /// `LD`: the address is formed in registers, together with its Plg, so that a load by itself has no displacement.
    fn generic(&mut self, address: Address, size: Size) -> Option<Instruction> {
        let (place, is_wide) = (address.place, self.is_wide());
        let base = self.held(place, is_wide);
        let plg = self.predicate();
        self.bindings.push(Binding::Plg { predicate: plg, place });
        Instruction::new("LD", Sm::SPA5)?
            .with(Slot::PredicateIn, plg.number().into())?
            .with(Slot::Cache, cache(&self.meaning))?
            .with(Slot::Size, size as u64)?
            .with(Slot::Extended, is_wide.into())?
            .with(Slot::Base, base.number().into())
    }

    fn global(&mut self, address: Address, size: Size) -> Option<Instruction> {
        let is_immediate = |known: &i64| (0..=MAX_IMMEDIATE).contains(known);
        let operand = match address.known().filter(is_immediate) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(address, self.is_wide(), DISPLACEMENT_BITS),
        };
        let cache = if self.meaning.is_non_coherent { CI } else { cache(&self.meaning) };
        Instruction::new("LDG", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            .with(Slot::Cache, cache)?
            .with(Slot::Extended, self.is_wide().into())?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(operand.displacement)
    }

    fn local(&mut self, address: Address, size: Size) -> Option<Instruction> {
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
        let AddressBase::Variable(id) = address.place.base else { return None };
        let is_local = |id| self.module.declaration(id)?.space.eq(&StateSpace::Local).then_some(id);
        let offset = i64::try_from(self.layout.address(is_local(id)?)?).ok()?;
        let displacement = offset.checked_add(address.constant)?;
        (sign_extended(displacement, DISPLACEMENT_BITS) == displacement).then_some(displacement)
    }

    fn shared(&mut self, address: Address, size: Size) -> Option<Instruction> {
        let operand = self.narrow(address);
        Instruction::new("LDS", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            // ptxas sets `.U` on every shared load.
            .with(Slot::UniformHint, 1)?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(operand.displacement)
    }

    fn constant(&mut self, address: Address, size: Size) -> Option<Instruction> {
        let (bank, first) = bank(self.meaning.space);
        // The space begins at `first` in the bank, so the displacement includes it.
        let in_bank = address.offset(first).in_32_bits();
        let is_immediate = |known: &i64| sign_extended(*known, CONSTANT_BITS) == *known;
        let operand = match in_bank.known().filter(is_immediate) {
            Some(displacement) => Operand { base: Reg::RZ, displacement },
            None => self.based(in_bank, false, CONSTANT_BITS),
        };
        Instruction::new("LDC", Sm::SPA5)?
            .with(Slot::Size, size as u64)?
            .with(Slot::Bank, bank.into())?
            .with(Slot::Base, operand.base.number().into())?
            .with_offset(operand.displacement)
    }
}

fn sign_extended(number: i64, bits: u32) -> i64 {
    let unused = 64 - bits;
    number << unused >> unused
}

/// The constant bank of a space, and the offset of the space in it.
fn bank(space: AddressSpace) -> (u8, i64) {
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
