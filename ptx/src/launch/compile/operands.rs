//! Operands: rows that hold the values an instruction reads, and rows that it writes.

use super::{Compiled, FunctionCompiler, NotExecuted, add, function_address, rows_of};
use crate::meaning::{Register, component};
use crate::module::{DeclarationId, Symbol};
use crate::syntax::load::{
    AddressForm, AddressOperand, Element as Written, ElementKind, Operand, OperandKind,
    PtxInstruction,
};
use crate::syntax::special::{Value, special_register};
use crate::syntax::{Constant, Span, StateSpace};
use warpload_machine::code::{Action, Element, Slot};
use warpload_machine::lanes::LaneOperation;
use warpload_machine::lanes::conversions::{convert, extend};
use warpload_machine::lanes::integers::{Bitwise, Product, bitwise, multiply_add};
use warpload_machine::lanes::moves::{copy, extract_bits};
use warpload_machine::{Modes, ScalarType as T};

impl<'m> FunctionCompiler<'_, 'm> {
    /// The row of a source operand. May emit operations to compute it.
    pub(in crate::launch) fn source(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
    ) -> Compiled<Slot> {
        match operand.kind {
            OperandKind::Name => self.named(of, operand.span, scalar),
            OperandKind::Component(name) => self.component(of, name, operand.span, scalar),
            OperandKind::Constant(value) => self.immediate(value, scalar),
            OperandKind::Inverted(name) if scalar == T::Pred => {
                let source = self.named(of, name, scalar)?;
                self.unguarded(|this| this.compute(bitwise(Bitwise::Not, T::Pred), &[source]))
            }
            OperandKind::Sum(_) => {
                let (name, offset) = of.sum_in(operand).ok_or(NotExecuted)?;
                let offset = offset.value.integer().ok_or(NotExecuted)?;
                let symbol = self.module.find_at(of.scope, name).ok_or(NotExecuted)?;
                if symbol.declaration.space != StateSpace::Register {
                    return self.address(symbol.id, offset, scalar);
                }
                let element = self.register_of(symbol)?;
                self.sum(element, offset, scalar)
            }
            OperandKind::Address(_) => {
                let address = of.address_in(operand).ok_or(NotExecuted)?;
                self.element_address(of, &address, scalar)
            }
            _ => Err(NotExecuted),
        }
    }

    /// `%r1+4` as a value, which ptxas accepts for integers.
    pub(super) fn sum(&mut self, element: Element, offset: u64, scalar: T) -> Compiled<Slot> {
        if scalar.is_float() || scalar.bits() > 64 || scalar == T::Pred {
            return Err(NotExecuted);
        }
        let source = self.fitted(element, scalar)?;
        let added = self.constant_of(offset, scalar)?;
        let slot = self.unguarded(|this| this.compute(add(scalar), &[source, added]))?;
        self.narrowed(slot, scalar)
    }

    /// `table[2]` or `table[%r1+2]` as a value: the address of the element.
    fn element_address(
        &mut self,
        of: &PtxInstruction<'m>,
        address: &AddressOperand,
        scalar: T,
    ) -> Compiled<Slot> {
        let name = address.base.filter(|_| address.form == AddressForm::Indexed);
        let symbol = self.module.find_at(of.scope, name.ok_or(NotExecuted)?).ok_or(NotExecuted)?;
        if symbol.declaration.space == StateSpace::Register {
            return Err(NotExecuted);
        }
        let bytes = symbol.declaration.element_bytes().ok_or(NotExecuted)?;
        let Some(index) = address.index else {
            let offset = address.displacement().wrapping_mul(bytes);
            return self.address(symbol.id, offset, scalar);
        };
        let offset = self.element_offset(of, index, address.displacement(), bytes)?;
        let first = self.address(symbol.id, 0, scalar)?;
        let offset = self.fitted(Element { slot: offset, rows: 1, bits: 32 }, scalar)?;
        let slot = self.unguarded(|this| this.compute(add(scalar), &[first, offset]))?;
        self.narrowed(slot, scalar)
    }

    /// The offset in bytes of an element whose index is in a register, in 32 bits. ptxas uses the low half of a wider
    /// index, and zero-extends the offset.
    pub(super) fn element_offset(
        &mut self,
        of: &PtxInstruction<'m>,
        index: Span,
        added: u64,
        bytes: u64,
    ) -> Compiled<Slot> {
        let index = self.named(of, index, T::B32)?;
        let first = self.constant(added.wrapping_mul(bytes) & 0xffff_ffff, 1);
        let bytes = self.constant(bytes, 1);
        let scale = multiply_add(Product::Low, T::U32, false);
        self.unguarded(|this| this.compute(scale, &[index, bytes, first]))
    }

    /// A constant of a type, truncated to its width.
    fn constant_of(&mut self, value: u64, scalar: T) -> Compiled<Slot> {
        match scalar.bits() {
            bits @ 8..=64 => Ok(self.constant(value & (u64::MAX >> (64 - bits)), rows_of(scalar))),
            _ => Err(NotExecuted),
        }
    }

    /// A row of 32 bits, truncated to a narrower type.
    fn narrowed(&mut self, source: Slot, scalar: T) -> Compiled<Slot> {
        let bits = scalar.bits();
        if !(2..32).contains(&bits) {
            return Ok(source);
        }
        self.unguarded(|this| this.compute(extract_bits(T::B32, 0, bits), &[source]))
    }

    pub(super) fn operand_source(
        &mut self,
        of: &PtxInstruction<'m>,
        place: usize,
        scalar: T,
    ) -> Compiled<Slot> {
        let operand = of.operands.get(place).ok_or(NotExecuted)?;
        self.source(of, operand, scalar)
    }

    pub(super) fn immediate(&mut self, value: Constant, scalar: T) -> Compiled<Slot> {
        // As ptxas does, takes floats only for floats and plain bits, and integers for all but floats.
        match scalar {
            T::F32 | T::F64 if value.integer().is_some() => Err(NotExecuted),
            T::F32 | T::F64 | T::B32 | T::B64 => {
                Ok(self.constant(value.bits(scalar).ok_or(NotExecuted)?, rows_of(scalar)))
            }
            T::Pred => {
                let lanes = if value.integer().ok_or(NotExecuted)? != 0 { u32::MAX } else { 0 };
                Ok(self.constant(lanes.into(), 1))
            }
            _ => self.constant_of(value.integer().ok_or(NotExecuted)?, scalar),
        }
    }

    /// The register of a symbol, if it is a scalar.
    pub(super) fn register_of(&mut self, symbol: Symbol<'_>) -> Compiled<Element> {
        match symbol.declaration.vector {
            1 => Ok(self.register(Register::of(symbol))),
            _ => Err(NotExecuted),
        }
    }

    /// The register at a place of the text: a scalar written as a name, or an element of a vector.
    fn register_at(
        &mut self,
        of: &PtxInstruction<'m>,
        at: Span,
        is_name: bool,
    ) -> Compiled<Element> {
        let register = self.module.register_written(of.scope, at).map_err(|_| NotExecuted)?;
        let declared = self.module.declaration(register.declaration).ok_or(NotExecuted)?;
        // A vector as a whole is the destination of `mov` alone.
        match register.component < declared.vector && !(is_name && declared.vector > 1) {
            true => Ok(self.register(register)),
            false => Err(NotExecuted),
        }
    }

    /// The row of a register, of a variable's or a function's address, or of a special register.
    pub(in crate::launch) fn named(
        &mut self,
        of: &PtxInstruction<'m>,
        name: Span,
        scalar: T,
    ) -> Compiled<Slot> {
        let text = self.module.text(name);
        if let Some(symbol) = self.module.find_at(of.scope, name) {
            if symbol.declaration.space != StateSpace::Register {
                return self.address(symbol.id, 0, scalar);
            }
            let element = self.register_of(symbol)?;
            return self.fitted(element, scalar);
        }
        if let Some(function) = self.module.function_id_of(text) {
            return self.constant_of(function_address(function), scalar);
        }
        self.special_named(text, scalar)
    }

    fn component(
        &mut self,
        of: &PtxInstruction<'m>,
        name: Span,
        whole: Span,
        scalar: T,
    ) -> Compiled<Slot> {
        match self.module.find_at(of.scope, name) {
            Some(_) => {
                let element = self.register_at(of, whole, false)?;
                self.fitted(element, scalar)
            }
            None => self.special_named(self.module.text(whole), scalar),
        }
    }

    /// Converts a register to the number of rows of a type: truncates or zero-extends. Predicates are kept differently
    /// from numbers, so that neither can be read as the other.
    pub(super) fn fitted(&mut self, element: Element, scalar: T) -> Compiled<Slot> {
        let rows = rows_of(scalar);
        if (element.bits == 1) != (scalar == T::Pred) {
            return Err(NotExecuted);
        }
        if element.rows == rows {
            return Ok(element.slot);
        }
        if element.rows > 2 || rows > 2 {
            return Err(NotExecuted);
        }
        let fit = if rows == 2 { extend(false) } else { extract_bits(T::B64, 0, 32) };
        self.unguarded(|this| this.compute(fit, &[element.slot]))
    }

    pub(super) fn special_named(&mut self, text: &str, scalar: T) -> Compiled<Slot> {
        let (name, axis) = text.split_once('.').unwrap_or((text, ""));
        let known = special_register(name.trim()).ok_or(NotExecuted)?;
        let axis = match (known.is_vector, axis.trim().as_bytes()) {
            // In PTX 1.x, these registers have 16 bits and no component.
            (_, []) => 0,
            (true, [letter]) => component(*letter).ok_or(NotExecuted)?,
            _ => return Err(NotExecuted),
        };
        let bits = known.scalar.bits();
        let rows = bits.div_ceil(32);
        let slot = match known.value {
            // "The fourth element is unused and always returns zero."
            _ if axis == 3 => self.constant(0, rows),
            Value::Row(special) => self.special(special),
            Value::Axes(of) => self.special(of(axis.into())),
            Value::Clock(shift) => {
                let (slot, is_wide) = (self.new_rows(rows), rows == 2);
                self.unguarded(|this| this.emit(Action::Clock { shift, is_wide }).d = slot);
                slot
            }
            Value::Constant(value) => self.constant(value, rows),
            Value::Unknown => self.unknown_row(rows),
            Value::Cluster => return Err(NotExecuted),
        };
        let slot = self.fitted(Element { slot, rows, bits }, scalar)?;
        self.narrowed(slot, scalar)
    }

    /// The row of a variable's address in its space.
    pub(super) fn address(&mut self, id: DeclarationId, offset: u64, scalar: T) -> Compiled<Slot> {
        let rows = rows_of(scalar);
        if let Some((place, _)) = self.locals.get(&id) {
            let offset = place.wrapping_add(offset);
            if scalar.is_float() || rows > 2 || scalar == T::Pred {
                return Err(NotExecuted);
            }
            let slot = self.new_rows(rows);
            let address = Action::FrameAddress { offset, is_wide: rows == 2 };
            self.unguarded(|this| this.emit(address).d = slot);
            return self.narrowed(slot, scalar);
        }
        if scalar.is_float() {
            return Err(NotExecuted);
        }
        let (_, address) = *self.around.variables.get(&id).ok_or(NotExecuted)?;
        self.constant_of(address.wrapping_add(offset), scalar)
    }

    /// The row for a result. If the register has another width, the second part is the conversion and the register's
    /// own row.
    pub(super) fn destination(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
    ) -> Compiled<(Slot, Option<(LaneOperation, Slot)>)> {
        let element = match operand.kind {
            OperandKind::Sink => return Ok((self.new_rows(rows_of(scalar)), None)),
            OperandKind::Name | OperandKind::Component(_) => {
                self.register_at(of, operand.span, operand.kind == OperandKind::Name)?
            }
            _ => return Err(NotExecuted),
        };
        let is_predicate = element.bits == 1;
        if is_predicate != (scalar == T::Pred) || element.bits < scalar.bits() || element.rows > 2 {
            return Err(NotExecuted);
        }
        // Signed results of 8 or 16 bits are sign-extended to the whole register. [PTX ISA, "Operand Size Exceeding
        // Instruction-Type Size"]
        let is_short = matches!(scalar, T::S8 | T::S16) && element.bits > 16;
        if element.rows == rows_of(scalar) && !is_short {
            return Ok((element.slot, None));
        }
        let slot = self.new_rows(rows_of(scalar));
        let to = if element.rows == 2 { T::S64 } else { T::S32 };
        let fit = match is_short {
            true => convert(T::S16, to, Modes::default(), false),
            false => extend(scalar.is_signed()),
        };
        Ok((slot, Some((fit.ok_or(NotExecuted)?, element.slot))))
    }

    /// Emits an operation that writes the first operand.
    pub(in crate::launch) fn write_first(
        &mut self,
        of: &PtxInstruction<'m>,
        operation: Option<LaneOperation>,
        sources: &[Slot],
    ) -> Compiled<()> {
        let first = of.operands.first().ok_or(NotExecuted)?;
        self.write(of, first, operation, sources)
    }

    /// Emits an operation that writes an operand.
    pub(in crate::launch) fn write(
        &mut self,
        of: &PtxInstruction<'m>,
        to: &Operand,
        operation: Option<LaneOperation>,
        sources: &[Slot],
    ) -> Compiled<()> {
        let operation = operation.ok_or(NotExecuted)?;
        let (slot, after) = self.destination(of, to, operation.result)?;
        self.emit_lanes(Some(operation), slot, sources)?;
        if let Some((fit, to)) = after {
            self.emit_lanes(Some(fit), to, &[slot])?;
        }
        Ok(())
    }

    /// Copies a row to the first operand.
    pub(super) fn copy_to_first(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        source: Slot,
    ) -> Compiled<()> {
        self.write_first(of, copy(scalar), &[source])
    }

    /// The register of an element in braces; `None` for a sink.
    pub(in crate::launch) fn element(
        &mut self,
        of: &PtxInstruction<'m>,
        written: &Written,
    ) -> Compiled<Option<Element>> {
        match written.kind {
            ElementKind::Sink => Ok(None),
            ElementKind::Constant(_) => Err(NotExecuted),
            ElementKind::Name | ElementKind::Component(_) => {
                let is_name = written.kind == ElementKind::Name;
                self.register_at(of, written.span, is_name).map(Some)
            }
        }
    }

    /// The elements of a result. A dropped element (`_`) has a register that no instruction reads.
    pub(in crate::launch) fn results(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
    ) -> Compiled<Vec<Option<Element>>> {
        let (rows, bits) = (rows_of(scalar), scalar.bits());
        let elements = self.elements(of, operand, scalar)?;
        let kept = |element: Option<Element>| {
            element.unwrap_or_else(|| Element { slot: self.new_rows(rows), rows, bits })
        };
        Ok(elements.into_iter().map(kept).map(Some).collect())
    }

    /// The registers of a vector or of a single operand.
    pub(in crate::launch) fn elements(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
    ) -> Compiled<Vec<Option<Element>>> {
        let rows = rows_of(scalar);
        let bits = scalar.bits();
        let elements = match operand.kind {
            OperandKind::Vector(range) => {
                let elements = of.elements_in(range).iter().map(|written| match written.kind {
                    ElementKind::Constant(value) => {
                        let slot = self.immediate(value, scalar)?;
                        Ok(Some(Element { slot, rows, bits }))
                    }
                    _ => self.element(of, written),
                });
                elements.collect::<Compiled<_>>()?
            }
            OperandKind::Sink => vec![None],
            _ => match self.components(of, operand, 1) {
                Some(all) => all.into_iter().map(Some).collect(),
                None => {
                    let slot = self.source(of, operand, scalar)?;
                    vec![Some(Element { slot, rows, bits })]
                }
            },
        };
        let is_predicate = scalar == T::Pred;
        let suits = |element: &Element| (element.bits == 1) == is_predicate && element.bits >= bits;
        match elements.iter().flatten().all(suits) {
            true => Ok(elements),
            false => Err(NotExecuted),
        }
    }
}
