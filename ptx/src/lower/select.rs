//! [`Selector`]: the state of a function at a load, and the choice of its instructions.

use std::mem::take;

use warpload::encoding::{Guard, Instruction, Reg, Size, Slot};
use warpload::memory::AddressSpace;

use super::anchors::Anchors;
use super::flow::Flow;
use super::lowered::{Binding, LowerErrorKind, LoweredLoad, OptimizationLevel};
use super::operand::Address;
use super::registers::{Numbers, RegisterContents};
use super::sources;
use super::spaces::bank;
use super::uniform::Uniformity;
use crate::meaning::{CONSTANTS, Meaning, PARAMETERS, Register, ResolvedAddress};
use crate::module::{Function, FunctionKind, Module, Role, VariableLayout};
use crate::syntax::TypeClass;
use crate::syntax::load::{
    CacheOperator, MemoryOrder, Opcode, PtxInstruction, PtxLoad, QualifierKind,
};

/// The state of a function at a load.
pub(super) struct Selector<'m> {
    pub(super) module: &'m Module<'m>,
    pub(super) function: &'m Function,
    pub(super) layout: &'m VariableLayout<'m>,
    pub(super) level: OptimizationLevel,
    /// `None` at level 0, because addresses are not analysed there.
    pub(super) uniformity: Option<Uniformity>,
    pub(super) flow: Flow<'m>,
    pub(super) anchors: Anchors,
    pub(super) numbers: Numbers,
    /// The instructions of the current load.
    pub(super) instructions: Vec<Instruction>,
    pub(super) bindings: Vec<Binding>,
}

impl Selector<'_> {
    pub(super) fn is_optimized(&self) -> bool {
        self.level > OptimizationLevel::O0
    }

    pub(super) fn is_wide(&self) -> bool {
        self.module.address_size.is_none_or(|size| size.bits != 32)
    }

    /// Adds a binding once, because pieces of a load may share it.
    pub(super) fn bind(&mut self, binding: Binding) {
        if !self.bindings.contains(&binding) {
            self.bindings.push(binding);
        }
    }
}

/// A part of a load that becomes one instruction.
struct Piece<'d> {
    /// The offset in the load, in bytes.
    offset: i64,
    bytes: u32,
    elements: &'d [Option<Register>],
}

/// The widest load of a constant bank, in bytes.
const WIDEST: u32 = 8;

/// Splits a load into pieces of one instruction each. Only vectors in constant memory have several: one for each
/// element, or one for up to 8 bytes of elements of two or four bytes if alignment is known to allow it. `aligned` is
/// the offset from a base that is a multiple of 8, or `None` if the base is not known to be one.
fn pieces(meaning: &Meaning, aligned: Option<i64>) -> Vec<Piece<'_>> {
    let element = meaning.bytes() / u32::from(meaning.elements.max(1));
    let is_constant = matches!(meaning.space, AddressSpace::Constant { .. });
    if !is_constant || meaning.elements < 2 {
        let elements = &meaning.destinations[..];
        return vec![Piece { offset: 0, bytes: meaning.bytes(), elements }];
    }
    let mut pieces = Vec::new();
    let (mut offset, mut rest) = (0_i64, &meaning.destinations[..]);
    while !rest.is_empty() {
        let fits = |bytes: u32| {
            let is_aligned =
                aligned.is_some_and(|first| first.wrapping_add(offset) % i64::from(bytes) == 0);
            element > 1 && is_aligned && bytes as usize <= element as usize * rest.len()
        };
        let bytes = [WIDEST, WIDEST / 2].into_iter().find(|bytes| *bytes > element && fits(*bytes));
        let bytes = bytes.unwrap_or(element);
        let (elements, after) = rest.split_at((bytes / element.max(1)).max(1) as usize);
        pieces.push(Piece { offset, bytes, elements });
        offset += i64::from(bytes);
        rest = after;
    }
    pieces
}

impl Selector<'_> {
    pub(super) fn load<'l>(
        &mut self,
        load: PtxLoad<'l>,
    ) -> Result<LoweredLoad<'l>, LowerErrorKind> {
        if load.opcode != Opcode::Ld {
            return Err(LowerErrorKind::Tensor);
        }
        let meaning = self.module.meaning(&load)?;
        let is_ordered = |kind: &QualifierKind| {
            matches!(
                kind,
                QualifierKind::Order(MemoryOrder::Relaxed | MemoryOrder::Acquire)
                    | QualifierKind::Mmio
            )
        };
        if load.qualifiers().any(|qualifier| is_ordered(&qualifier.kind)) {
            return Err(LowerErrorKind::Ordered);
        }
        self.instructions.clear();
        self.bindings.clear();
        self.numbers.make_room();
        let value = self.flow.address(meaning.address);
        let address = Address { place: meaning.address, value, piece: 0 };
        let root = value.root.filter(|_| self.is_optimized());
        let is_aligned = root.is_some_and(|root| self.flow.zero_bits(root) >= 3);
        for piece in pieces(&meaning, is_aligned.then_some(value.constant)) {
            self.piece(&meaning, address.of_piece(piece.offset), &piece)?;
        }
        self.flow.load(&meaning);
        self.keep_destinations(&meaning);
        let (instructions, bindings) = (take(&mut self.instructions), take(&mut self.bindings));
        Ok(LoweredLoad { load, instructions, bindings })
    }

    /// Passes an instruction. A generic store without a guard forms an anchor as a load does.
    pub(super) fn store(&mut self, store: &PtxInstruction<'_>) {
        if store.opcode != Opcode::St || store.guard.is_some() || store.space().is_some() {
            return;
        }
        if let Some(place) = sources::address(self.module, store) {
            let value = self.flow.address(place);
            self.anchors.of(value, |root| self.flow.is_in_bank(root));
        }
    }

    fn piece(
        &mut self,
        meaning: &Meaning,
        address: Address,
        piece: &Piece<'_>,
    ) -> Result<(), LowerErrorKind> {
        if self.is_operand(meaning, address, piece) {
            self.bindings.extend(self.constant_operand(meaning.space, address, piece));
            return Ok(());
        }
        let too_wide = LowerErrorKind::TooWide { bytes: piece.bytes };
        let size = self.size(meaning, address, piece).ok_or(too_wide)?;
        let guard = self.guard(meaning);
        let instruction = match meaning.space {
            AddressSpace::Generic => self.generic(meaning, address, size),
            AddressSpace::Global => self.global(meaning, address, size),
            AddressSpace::Local => self.local(address, size),
            AddressSpace::Shared => self.shared(address, size),
            AddressSpace::Constant { .. } => self.constant(meaning.space, address, size),
        };
        let destination = self.destination(size, piece);
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
    fn is_operand(&self, meaning: &Meaning, address: Address, piece: &Piece<'_>) -> bool {
        match meaning.space {
            PARAMETERS if !self.is_kernel_parameter(address.place) => true,
            AddressSpace::Constant { .. } => {
                let is_word =
                    |known: i64| piece.bytes >= 4 || self.is_low_part(meaning, known, piece);
                self.known(address).is_some_and(is_word)
            }
            _ => false,
        }
    }

    /// Whether the load takes the low bits of an aligned word and zero-extends them.
    fn is_low_part(&self, meaning: &Meaning, known: i64, piece: &Piece<'_>) -> bool {
        let register = piece.elements.first().copied().flatten();
        let declared = register.and_then(|register| self.module.declaration(register.declaration));
        let bits = declared.and_then(|declared| declared.scalar.bits());
        known % 4 == 0
            && meaning.scalar.class() != TypeClass::Signed
            && bits.is_some_and(|bits| bits >= 32)
    }

    fn constant_operand(
        &self,
        space: AddressSpace,
        address: Address,
        piece: &Piece<'_>,
    ) -> Option<Binding> {
        let (bank, first) = bank(space);
        let offset = self
            .known(address)
            .filter(|_| space == CONSTANTS || self.is_kernel_parameter(address.place))?;
        // An offset beyond the bank is truncated; an operand there has no meaning anyway.
        let offset = offset.wrapping_add(first) as u32;
        Some(Binding::Constant { bank, offset, elements: piece.elements.to_vec() })
    }

    fn is_kernel_parameter(&self, place: ResolvedAddress) -> bool {
        let variable = self.module.variable_of(place);
        self.function.kind == FunctionKind::Entry
            && variable.is_none_or(|variable| variable.role == Role::Parameter)
    }

    /// The size of a piece. A signed constant at a known address is loaded unsigned, because ptxas extends it in a
    /// later instruction.
    fn size(&self, meaning: &Meaning, address: Address, piece: &Piece<'_>) -> Option<Size> {
        let is_constant = matches!(meaning.space, AddressSpace::Constant { .. });
        let is_known = is_constant && self.known(address).is_some();
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

    /// Whether a load of 128 bits becomes `.U.128`, the form for one address in the whole warp: default or `.ca`,
    /// 64-bit addresses, level 1 or higher.
    fn is_uniform_wide(&self, meaning: &Meaning) -> bool {
        matches!(meaning.space, AddressSpace::Generic | AddressSpace::Global)
            && matches!(meaning.cache, None | Some(CacheOperator::Ca))
            && !meaning.is_volatile
            && self.is_wide()
            && self.uniformity.as_ref().is_some_and(|known| known.is_uniform(meaning.address.base))
    }

    fn guard(&mut self, meaning: &Meaning) -> Guard {
        let Some((register, negated)) = meaning.guard else { return Guard::ALWAYS };
        let held = self.flow.register(register);
        let predicate = self.numbers.predicate(RegisterContents::Value(held.root, held.constant));
        self.bind(Binding::Guard { predicate, register });
        Guard { pred: predicate, negated }
    }

    /// Numbers the destination registers of the next instruction.
    fn destination(&mut self, size: Size, piece: &Piece<'_>) -> Reg {
        let count = size.registers();
        let register = self.numbers.fresh(count as u8);
        let (instruction, elements) = (self.instructions.len(), piece.elements.to_vec());
        self.bindings.push(Binding::Destination { instruction, register, count, elements });
        register
    }

    /// Keeps the numbers of loaded registers, so that a later address or guard in them gets the same number.
    fn keep_destinations(&mut self, meaning: &Meaning) {
        let element_bytes = meaning.bytes() / u32::from(meaning.elements);
        for binding in &self.bindings {
            let Binding::Destination { register: first, elements, .. } = binding else { continue };
            for (i, element) in elements.iter().enumerate() {
                let Some(register) = *element else { continue };
                let declared = self.module.declaration(register.declaration);
                let bits = declared.and_then(|declared| declared.scalar.bits());
                // Later code unpacks elements that share a register, so their final registers are unknown here.
                if element_bytes >= 4 && bits == Some(8 * element_bytes) {
                    let words = i as u8 * (element_bytes / 4) as u8;
                    let held = self.flow.register(register);
                    let source = RegisterContents::Value(held.root, held.constant);
                    self.numbers.set(source, Reg::new(first.number() + words));
                }
            }
        }
    }
}
