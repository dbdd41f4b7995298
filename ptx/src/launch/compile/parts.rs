//! `mov` and the parts of registers: vectors, and registers split into several or joined.

use super::{Compiled, FunctionCompiler, NotExecuted};
use crate::module::operands::Named;
use crate::syntax::load::{Element as Written, ElementKind, Operand, OperandKind, PtxInstruction};
use crate::syntax::special::special_register;
use warpload_machine::ScalarType as T;
use warpload_machine::code::{Element, Slot};
use warpload_machine::lanes::moves::{copy, extract_bits, join};

impl<'m> FunctionCompiler<'_, 'm> {
    pub(super) fn move_value(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let [to, from] = of.operands else { return Err(NotExecuted) };
        let count = usize::from(of.elements());
        if count > 1 {
            return self.move_elements(of, to, from, scalar, count);
        }
        let is_bits = matches!(scalar, T::B16 | T::B32 | T::B64 | T::B128);
        let (into, parts) = (self.parts_written(of, to)?, self.parts_read(of, from));
        match (into, parts) {
            // ptxas refuses parts on both sides, and parts of a number.
            (Some(_), Some(_)) => Err(NotExecuted),
            (Some(_), None) | (None, Some(_)) if !is_bits => Err(NotExecuted),
            (Some(parts), None) => self.unpack(of, &parts, from, scalar),
            (None, Some(parts)) => self.pack(of, &parts, scalar),
            _ if scalar == T::B128 => {
                let (d, a) = (self.whole(of, to)?, self.whole(of, from)?);
                self.emit_lanes(copy(T::B64), d, &[a])?;
                self.emit_lanes(copy(T::B64), d + 2, &[a + 2])
            }
            _ => {
                let source = self.source(of, from, scalar)?;
                self.copy_to_first(of, scalar, source)
            }
        }
    }

    /// Emits `mov.v2` or `mov.v4`: moves each element.
    fn move_elements(
        &mut self,
        of: &PtxInstruction<'m>,
        to: &Operand,
        from: &Operand,
        scalar: T,
        count: usize,
    ) -> Compiled<()> {
        let into = self.parts_written(of, to)?.ok_or(NotExecuted)?;
        let parts = self.parts_read(of, from).ok_or(NotExecuted)?;
        if into.len() != count || parts.len() != count {
            return Err(NotExecuted);
        }
        let mut sources = Vec::new();
        for part in parts {
            // Copies of their own, because elements can change places, as in `{%r1, %r2}, {%r2, %r1}`.
            let source = self.part(of, &part, scalar)?;
            sources.push(self.compute(copy(scalar), &[source])?);
        }
        for (element, source) in into.into_iter().zip(sources) {
            let Some(element) = element else { continue };
            if element.bits != scalar.bits() {
                return Err(NotExecuted);
            }
            self.emit_lanes(copy(scalar), element.slot, &[source])?;
        }
        Ok(())
    }

    /// The registers of a destination in parts; `None` if it is one register.
    fn parts_written(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
    ) -> Compiled<Option<Vec<Option<Element>>>> {
        Ok(match (operand.kind, self.module.named(of.scope, operand.span)) {
            (OperandKind::Vector(range), _) => {
                let written = of.elements_in(range).iter();
                Some(written.map(|part| self.element(of, part)).collect::<Compiled<_>>()?)
            }
            (_, Ok(vector @ Named::Vector(..))) => {
                Some(vector.registers().map(|of| Some(self.register(of))).collect())
            }
            _ => None,
        })
    }

    /// The parts of a source; `None` if it is one value.
    fn parts_read(&mut self, of: &PtxInstruction<'m>, operand: &Operand) -> Option<Vec<Part>> {
        let text = self.module.text(operand.span);
        Some(match (operand.kind, self.module.named(of.scope, operand.span)) {
            (OperandKind::Vector(range), _) => {
                of.elements_in(range).iter().copied().map(Part::Written).collect()
            }
            (_, Ok(vector @ Named::Vector(..))) => {
                vector.registers().map(|of| Part::Register(self.register(of))).collect()
            }
            (OperandKind::Name, Err(_)) if special_register(text)?.is_vector => {
                ["x", "y", "z", "w"].map(|axis| Part::Special(format!("{text}.{axis}"))).into()
            }
            _ => return None,
        })
    }

    /// The row of a part, which must have the width of the type.
    fn part(&mut self, of: &PtxInstruction<'m>, part: &Part, scalar: T) -> Compiled<Slot> {
        let written = match part {
            Part::Register(element) if element.bits == scalar.bits() => return Ok(element.slot),
            Part::Register(_) => return Err(NotExecuted),
            Part::Special(name) => return self.special_named(name, scalar),
            Part::Written(written) => written,
        };
        if let ElementKind::Constant(value) = written.kind {
            return self.immediate(value, scalar);
        }
        if self.module.named(of.scope, written.span).is_err() {
            return self.special_named(self.module.text(written.span), scalar);
        }
        let element = self.element(of, written)?.ok_or(NotExecuted)?;
        self.part(of, &Part::Register(element), scalar)
    }

    /// The first row of a 128-bit register.
    fn whole(&mut self, of: &PtxInstruction<'m>, operand: &Operand) -> Compiled<Slot> {
        match self.elements(of, operand, T::B128)?[..] {
            [Some(Element { slot, rows: 4, .. })] => Ok(slot),
            _ => Err(NotExecuted),
        }
    }

    /// Emits `mov.b64 {%r1, %r2}, %rd1`.
    fn unpack(
        &mut self,
        of: &PtxInstruction<'m>,
        parts: &[Option<Element>],
        from: &Operand,
        scalar: T,
    ) -> Compiled<()> {
        let source = match scalar {
            T::B128 => self.whole(of, from)?,
            _ => self.source(of, from, scalar)?,
        };
        let width = part_width(scalar, parts.len())?;
        for (place, part) in parts.iter().enumerate() {
            let Some(element) = part else { continue };
            if element.bits != width {
                return Err(NotExecuted);
            }
            let shift = width * place as u32;
            // The high half of a 128-bit register begins two rows later.
            let source = if shift < 64 { source } else { source + 2 };
            let taken =
                if width == 64 { copy(T::B64) } else { extract_bits(scalar, shift & 63, width) };
            self.emit_lanes(taken, element.slot, &[source])?;
        }
        Ok(())
    }

    /// Emits `mov.b64 %rd1, {%r1, %r2}`.
    fn pack(&mut self, of: &PtxInstruction<'m>, parts: &[Part], scalar: T) -> Compiled<()> {
        let mut width = part_width(scalar, parts.len())?;
        let part_type = match width {
            64 => T::B64,
            32 => T::B32,
            16 => T::B16,
            _ => T::B8,
        };
        let mut sources = Vec::new();
        for part in parts {
            sources.push(self.part(of, part, part_type)?);
        }
        if let [source] = sources[..] {
            return self.copy_to_first(of, scalar, source);
        }
        while sources.len() > 2 {
            let pairs = sources.chunks(2).map(<[Slot]>::to_vec).collect::<Vec<_>>();
            sources.clear();
            for pair in pairs {
                sources.push(self.compute(join(width), &pair)?);
            }
            width *= 2;
        }
        if width == 64 {
            let d = self.whole(of, of.operands.first().ok_or(NotExecuted)?)?;
            self.emit_lanes(copy(T::B64), d, &[sources[0]])?;
            return self.emit_lanes(copy(T::B64), d + 2, &[sources[1]]);
        }
        self.write_first(of, join(width), &sources)
    }
}

/// A part of a source of `mov`.
enum Part {
    /// An element in braces.
    Written(Written),
    /// A component of a vector register.
    Register(Element),
    /// A component of a special register, such as `%tid`.
    Special(String),
}

/// The width of a part, if a register is split into two or four. ptxas also accepts a single part.
fn part_width(scalar: T, parts: usize) -> Compiled<u32> {
    let width = scalar.bits() / parts.max(1) as u32;
    match (parts, width) {
        (1, 16 | 32 | 64) | (2 | 4, 8 | 16 | 32 | 64) => Ok(width),
        _ => Err(NotExecuted),
    }
}
