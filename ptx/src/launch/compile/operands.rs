//! Operands: rows that hold the values an instruction reads, and rows that it writes.

use super::{Compiled, FunctionCompiler, NotExecuted, add, function_address, rows_of};
use crate::module::DeclarationId;
use crate::module::operands::{Named, component, split};
use crate::syntax::load::{
    AddressForm, AddressOperand, Element as Written, ElementKind, Operand, OperandKind,
    PtxInstruction,
};
use crate::syntax::special::{Value, special_register};
use crate::syntax::{Constant, Span};
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
            OperandKind::Name | OperandKind::Component(_) => self.named(of, operand.span, scalar),
            OperandKind::Constant(value) => self.immediate(value, scalar),
            OperandKind::Inverted(name) if scalar == T::Pred => {
                let source = self.named(of, name, scalar)?;
                self.unguarded(|this| this.compute(bitwise(Bitwise::Not, T::Pred), &[source]))
            }
            OperandKind::Sum(_) | OperandKind::Address(_) => {
                let element =
                    || of.address_in(operand).filter(|of| of.form == AddressForm::Indexed);
                let address = of.sum_in(operand).or_else(element).ok_or(NotExecuted)?;
                self.sum(of, &address, scalar)
            }
            _ => Err(NotExecuted),
        }
    }

    /// The register that is named alone.
    pub(in crate::launch) fn single(
        &mut self,
        of: &PtxInstruction<'m>,
        written: Span,
    ) -> Compiled<Element> {
        let named = self.module.named(of.scope, written).ok().and_then(Named::register);
        Ok(self.register(named.ok_or(NotExecuted)?))
    }

    /// A sum as a value: `%r1+4`, which ptxas accepts for integers, or an address such as `var+4` and `table[%r1+2]`.
    pub(super) fn sum(
        &mut self,
        of: &PtxInstruction<'m>,
        address: &AddressOperand,
        scalar: T,
    ) -> Compiled<Slot> {
        let is_integer = address.offset.is_none_or(|offset| offset.value.integer().is_some());
        let (Some(name), false, true) = (address.base, scalar.is_float(), is_integer) else {
            return Err(NotExecuted);
        };
        let offset = address.displacement();
        let Ok(Named::Variable(symbol)) = self.module.named(of.scope, name) else {
            if address.form == AddressForm::Indexed {
                return Err(NotExecuted);
            }
            let element = self.single(of, name)?;
            let source = self.fitted(element, scalar)?;
            let added = self.constant_of(offset, scalar)?;
            return self.added(source, added, scalar);
        };
        let unit = symbol.declaration.unit(address.form).ok_or(NotExecuted)?;
        let offset = offset.wrapping_mul(unit);
        let Some(index) = address.index else { return self.address(symbol.id, offset, scalar) };
        // ptxas uses the low half of a wider index, and zero-extends the offset.
        let index = self.named(of, index, T::B32)?;
        let rest = self.constant(offset & 0xffff_ffff, 1);
        let unit = self.constant(unit, 1);
        let scale = multiply_add(Product::Low, T::U32, false);
        let slot = self.unguarded(|this| this.compute(scale, &[index, unit, rest]))?;
        let first = self.address(symbol.id, 0, scalar)?;
        let offset = self.fitted(Element { slot, rows: 1, bits: 32 }, scalar)?;
        self.added(first, offset, scalar)
    }

    fn added(&mut self, first: Slot, second: Slot, scalar: T) -> Compiled<Slot> {
        let slot = self.unguarded(|this| this.compute(add(scalar), &[first, second]))?;
        self.narrowed(slot, scalar)
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

    /// The row of a register, of an element of a vector, of a variable's or a function's address, or of a special
    /// register.
    pub(in crate::launch) fn named(
        &mut self,
        of: &PtxInstruction<'m>,
        written: Span,
        scalar: T,
    ) -> Compiled<Slot> {
        let text = self.module.text(written);
        match self.module.named(of.scope, written) {
            Ok(Named::Variable(symbol)) => self.address(symbol.id, 0, scalar),
            Ok(_) => {
                let element = self.single(of, written)?;
                self.fitted(element, scalar)
            }
            Err(_) => match self.module.function_id_of(text) {
                Some(function) => self.constant_of(function_address(function), scalar),
                None => self.special_named(text, scalar),
            },
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
        let (name, suffix) = split(text);
        let known = special_register(name).ok_or(NotExecuted)?;
        let axis = match suffix {
            // In PTX 1.x, these registers have 16 bits and no component.
            "" => 0,
            _ => component(suffix).filter(|_| known.is_vector).ok_or(NotExecuted)?,
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
            // A vector as a whole is the destination of `mov` alone.
            OperandKind::Name | OperandKind::Component(_) => self.single(of, operand.span)?,
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
                self.single(of, written.span).map(Some)
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
        let elements = match (operand.kind, self.module.named(of.scope, operand.span)) {
            (OperandKind::Vector(range), _) => {
                let elements = of.elements_in(range).iter().map(|written| match written.kind {
                    ElementKind::Constant(value) => {
                        let slot = self.immediate(value, scalar)?;
                        Ok(Some(Element { slot, rows, bits }))
                    }
                    _ => self.element(of, written),
                });
                elements.collect::<Compiled<_>>()?
            }
            (OperandKind::Sink, _) => vec![None],
            (_, Ok(named @ (Named::Register(_) | Named::Vector(..)))) => {
                named.registers().map(|register| Some(self.register(register))).collect()
            }
            _ => {
                let slot = self.source(of, operand, scalar)?;
                vec![Some(Element { slot, rows, bits })]
            }
        };
        let is_predicate = scalar == T::Pred;
        let suits = |element: &Element| (element.bits == 1) == is_predicate && element.bits >= bits;
        match elements.iter().flatten().all(suits) {
            true => Ok(elements),
            false => Err(NotExecuted),
        }
    }
}
