//! Accesses to memory: loads, stores, atomic operations, `cp.async`, `mbarrier`, and instructions on addresses.

use super::{Compiled, FunctionCompiler, NotExecuted, add, rows_of};
use crate::launch::lane_rules::Request;
use crate::meaning::PARAMETERS;
use crate::module::FunctionKind;
use crate::module::operands::Named;
use crate::syntax::load::{
    AddressForm, AddressOperand, Keyword, MemoryOrder, MemoryScope, Opcode, Operand, OperandKind,
    PtxInstruction, QualifierKind,
};
use crate::syntax::special::special_register;
use crate::syntax::{StateSpace, SubQualifier};
use warpload_machine::code::{
    Action, AddressSpace, Arrive, Atomic, BankValue, Base, CopiedPart, CopyGroups, Element, Fence,
    Mbarrier, MemoryKind, MemoryOp, NONE, Preset, Scope, Slot, StackKind, StackOp, Strong,
};
use warpload_machine::lanes::moves::copy;
use warpload_machine::lanes::predicates::lies_in;
use warpload_machine::{ScalarType as T, pending_count};

/// The strictest alignment of `alloca`. [PTX ISA, alloca]
const MAX_STACK_ALIGNMENT: u64 = 1 << 23;

/// The widest access of a lane, in bytes.
const MAX_ACCESS: usize = 32;

impl<'m> FunctionCompiler<'_, 'm> {
    /// The space, base and offset of an address operand.
    pub(in crate::launch) fn place(
        &mut self,
        of: &PtxInstruction<'m>,
        address: &AddressOperand,
        space: Option<StateSpace>,
    ) -> Compiled<(AddressSpace, Base, u64)> {
        let written = match space {
            None => AddressSpace::Generic,
            Some(StateSpace::Param)
                if self.function.kind != FunctionKind::Entry && !self.is_alone =>
            {
                AddressSpace::Local
            }
            Some(space) => space.addresses().ok_or(NotExecuted)?,
        };
        let offset = address.displacement();
        let Some(name) = address.base else { return Ok((written, Base::Zero, offset)) };
        let symbol = match self.module.named(of.scope, name) {
            Ok(Named::Variable(symbol)) => symbol,
            Ok(Named::Register(register)) if address.form == AddressForm::Bracketed => {
                let declared = self.module.declaration(register.declaration);
                let Element { slot, rows, bits } = self.register(register);
                if bits > 64 || declared.is_none_or(|of| !of.scalar.is_integer()) {
                    return Err(NotExecuted);
                }
                return Ok((written, Base::Register { slot, is_wide: rows == 2 }, offset));
            }
            Ok(_) => return Err(NotExecuted),
            Err(_) => {
                // A special register, such as `[%laneid]`.
                let known = special_register(self.module.text(name)).ok_or(NotExecuted)?;
                let is_wide = known.scalar.bits() == 64;
                let slot = self.named(of, name, if is_wide { T::B64 } else { T::B32 })?;
                return Ok((written, Base::Register { slot, is_wide }, offset));
            }
        };
        let (space, base, place) = match self.locals.get(&symbol.id) {
            Some((place, _)) => (AddressSpace::Local, Base::Frame, *place),
            None => {
                let known = self.around.variables.get(&symbol.id);
                let (space, place) = *known.ok_or(NotExecuted)?;
                (space, Base::Zero, place)
            }
        };
        let is_parameter = symbol.declaration.space == StateSpace::Param;
        if written != AddressSpace::Generic && written != space && !is_parameter {
            return Err(NotExecuted);
        }
        if address.index.is_some() {
            let slot = self.sum(of, address, T::B64)?;
            return Ok((space, Base::Register { slot, is_wide: true }, 0));
        }
        let unit = symbol.declaration.unit(address.form).ok_or(NotExecuted)?;
        Ok((space, base, place.wrapping_add(offset.wrapping_mul(unit))))
    }

    /// An access at the address operand of the instruction.
    pub(in crate::launch) fn access(
        &mut self,
        of: &PtxInstruction<'m>,
        kind: MemoryKind,
        scalar: T,
        elements: Vec<Option<Element>>,
    ) -> Compiled<MemoryOp> {
        let address = of.address().ok_or(NotExecuted)?;
        let space = of.space().map(|space| space.0);
        let (space, base, offset) = self.place(of, &address, space)?;
        let order = of.order().map(|order| order.0);
        let is_strong = order.is_some_and(|order| order != MemoryOrder::Weak)
            || matches!(kind, MemoryKind::Atomic(_) | MemoryKind::Mbarrier(_));
        let is_mbarrier = matches!(kind, MemoryKind::Mbarrier(_));
        let is_relaxed = is_mbarrier && order == Some(MemoryOrder::Relaxed);
        use MemoryOrder::{AcqRel, Acquire, Release, Sc};
        let strong = (is_strong && !is_relaxed).then(|| Strong {
            scope: scope(of),
            releases: matches!(order, Some(Release | AcqRel | Sc)),
            acquires: matches!(order, Some(Acquire | AcqRel | Sc)),
        });
        let bytes = scalar.bytes() as usize * elements.len();
        if bytes > MAX_ACCESS || !bytes.is_power_of_two() {
            return Err(NotExecuted);
        }
        Ok(MemoryOp { offset, strong, ..MemoryOp::new(kind, space, base, scalar, &elements) })
    }

    pub(super) fn load(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let first = of.operands.first().ok_or(NotExecuted)?;
        let elements = self.elements(of, first, scalar)?;
        if elements.len() != usize::from(of.elements()) {
            return Err(NotExecuted);
        }
        let mut op = self.access(of, MemoryKind::Load, scalar, elements)?;
        op.used = used_bytes(&self.module.source()[..of.span.start as usize]);
        if !self.is_alone && op.space == PARAMETERS && op.base == Base::Zero {
            return self.parameter(op);
        }
        self.control(Action::Memory(Box::new(op)))
    }

    /// Emits a load of the kernel's parameters from a fixed address: copies of rows that hold the values.
    fn parameter(&mut self, op: MemoryOp) -> Compiled<()> {
        let AddressSpace::Constant { bank } = op.space else { return Err(NotExecuted) };
        let parameters = &self.around.windows.parameters;
        let end = parameters.end - parameters.start;
        let is_aligned = op.offset.is_multiple_of(op.bytes().into());
        let is_inside = op.offset.checked_add(op.bytes().into()).is_some_and(|last| last <= end);
        let is_plain = |element: &Element| element.rows <= 2;
        if op.strong.is_some()
            || !is_aligned
            || !is_inside
            || !op.elements.iter().flatten().all(is_plain)
        {
            self.emit(Action::Memory(Box::new(op)));
            return Ok(());
        }
        let before = self.code.ops.len();
        for (place, element) in (0..).zip(&op.elements) {
            let Some(Element { slot, rows, bits }) = *element else { continue };
            let offset = op.offset + place * u64::from(op.size);
            let value = self.bank(BankValue { bank, offset, scalar: op.scalar, bits }, rows);
            let copy = copy(if rows == 2 { T::B64 } else { T::B32 });
            self.emit_lanes(copy, slot, &[value])?;
        }
        match self.code.ops.get_mut(before) {
            Some(first) => first.loads = true,
            None => self.emit(Action::Nop).loads = true,
        }
        Ok(())
    }

    /// The row of a value in a constant bank.
    fn bank(&mut self, of: BankValue, rows: u32) -> Slot {
        let slot = self.new_rows(rows);
        self.presets.push(Preset::Bank(slot, of));
        slot
    }

    pub(super) fn store(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        if of.has(QualifierKind::Keyword(Keyword::Async)) {
            return Err(NotExecuted);
        }
        let value = of.operands.get(1).ok_or(NotExecuted)?;
        let elements = self.elements(of, value, scalar)?;
        if elements.len() != usize::from(of.elements()) {
            return Err(NotExecuted);
        }
        let op = self.access(of, MemoryKind::Store, scalar, elements)?;
        self.control(Action::Memory(Box::new(op)))
    }

    pub(super) fn atomic(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *request.types.first().ok_or(NotExecuted)?;
        let operation = atomic_operation(of, request).ok_or(NotExecuted)?;
        let is_moved = matches!(operation, Atomic::Exchange | Atomic::CompareAndSwap);
        if scalar.bits() > 64 && !is_moved || request.has(Keyword::Async) {
            return Err(NotExecuted);
        }
        let count = of.elements() as usize;
        let is_of_vectors = matches!(operation, Atomic::Add | Atomic::Min | Atomic::Max);
        if count > 1 && !is_of_vectors {
            return Err(NotExecuted);
        }
        let (elements, first) = match of.opcode {
            Opcode::Atom => {
                let operand = of.operands.first().ok_or(NotExecuted)?;
                let elements = self.elements(of, operand, scalar)?;
                (if elements == [None] { vec![None; count] } else { elements }, 2)
            }
            _ => (vec![None; count], 1),
        };
        let value = self.atomic_source(of, first, scalar, count)?;
        let second = match operation {
            Atomic::CompareAndSwap => self.atomic_source(of, first + 1, scalar, 1)?,
            _ => NONE,
        };
        if elements.len() != count {
            return Err(NotExecuted);
        }
        let op = self.access(of, MemoryKind::Atomic(operation), scalar, elements)?;
        let op = self.emit(Action::Memory(Box::new(op)));
        (op.a, op.b) = (value, second);
        Ok(())
    }

    /// The row of a source of an atomic operation. Copies the elements of a vector to consecutive rows.
    fn atomic_source(
        &mut self,
        of: &PtxInstruction<'m>,
        place: usize,
        scalar: T,
        count: usize,
    ) -> Compiled<Slot> {
        if count == 1 && scalar != T::B128 {
            return self.operand_source(of, place, scalar);
        }
        let operand = of.operands.get(place).ok_or(NotExecuted)?;
        let elements = self.elements(of, operand, scalar)?;
        let rows = rows_of(scalar);
        let slots: Option<Vec<Slot>> = elements
            .iter()
            .map(|element| element.filter(|of| of.rows == rows).map(|of| of.slot))
            .collect();
        match &slots.ok_or(NotExecuted)?[..] {
            [slot] if count == 1 => Ok(*slot),
            slots if slots.len() == count => {
                let first = self.new_rows(count as u32 * rows);
                for (part, slot) in (0..).zip(slots) {
                    self.emit_lanes(copy(scalar), first + part * rows, &[*slot])?;
                }
                Ok(first)
            }
            _ => Err(NotExecuted),
        }
    }

    pub(super) fn copy_async(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        if !request.has(Keyword::Async)
            || request.has(Keyword::Bulk)
            || request.has(Keyword::Tensor)
        {
            return Err(NotExecuted);
        }
        if request.has(Keyword::CommitGroup) {
            return self.control(Action::Copies(CopyGroups::Commit));
        }
        if request.has(Keyword::WaitGroup) {
            let pending = of.operands.first().ok_or(NotExecuted)?;
            let pending = pending.integer().ok_or(NotExecuted)?;
            let pending = u32::try_from(pending).unwrap_or(u32::MAX);
            return self.control(Action::Copies(CopyGroups::Wait(pending)));
        }
        if request.has(Keyword::WaitAll) {
            return self.control(Action::Copies(CopyGroups::WaitAll));
        }
        if request.has(Keyword::Mbarrier) {
            // Copies execute at once, so earlier ones are complete. Without `.noinc`, the arrival raises the pending
            // count first, and the count does not change.
            let kind = match request.has(Keyword::Noinc) {
                true => Mbarrier::Arrive(Arrive {
                    drops: false,
                    completes_not: false,
                    expects_tx: false,
                    is_of_copies: true,
                }),
                false => Mbarrier::ArriveLater,
            };
            let one = self.constant(1, 1);
            let op = self.access(of, MemoryKind::Mbarrier(kind), T::B64, vec![None])?;
            self.emit(Action::Memory(Box::new(op))).a = one;
            return Ok(());
        }
        let [to, from, bytes, rest @ ..] = of.operands else { return Err(NotExecuted) };
        let (to, from) = (of.address_in(to), of.address_in(from));
        let (to, from) = (to.ok_or(NotExecuted)?, from.ok_or(NotExecuted)?);
        let bytes =
            bytes.integer().filter(|bytes| matches!(bytes, 4 | 8 | 16)).ok_or(NotExecuted)?;
        // The size of the source or the predicate, and the cache policy: both are optional.
        let part = match (rest, of.has(QualifierKind::CacheHint)) {
            ([], false) | ([_], true) => None,
            ([part], false) | ([part, _], true) => Some(part),
            _ => return Err(NotExecuted),
        };
        let part = match part {
            None => CopiedPart::All,
            Some(operand) if self.is_predicate(of, operand) => {
                CopiedPart::Unless(self.source(of, operand, T::Pred)?)
            }
            Some(operand) => CopiedPart::Bytes(self.source(of, operand, T::U32)?),
        };
        let (_, source, source_offset) = self.place(of, &from, Some(StateSpace::Global))?;
        let (space, base, offset) = self.place(of, &to, Some(StateSpace::Shared))?;
        let bytes = bytes as u32;
        let kind = MemoryKind::Copy { source, source_offset, bytes, part };
        let elements = vec![None; bytes as usize];
        let op = MemoryOp { offset, ..MemoryOp::new(kind, space, base, T::B8, &elements) };
        self.control(Action::Memory(Box::new(op)))
    }

    /// Whether an operand is a predicate, perhaps inverted.
    fn is_predicate(&mut self, of: &PtxInstruction<'m>, operand: &Operand) -> bool {
        matches!(operand.kind, OperandKind::Inverted(_))
            || self.single(of, operand.span).is_ok_and(|element| element.bits == 1)
    }

    pub(super) fn mbarrier(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let has = |word| request.has(word);
        let at = |place: usize| of.operands.get(place).copied();
        if has(Keyword::PendingCount) {
            let state = self.operand_source(of, 1, T::B64)?;
            return self.write_first(of, pending_count(), &[state]);
        }
        let arrive = Arrive {
            drops: has(Keyword::ArriveDrop),
            completes_not: has(Keyword::NoComplete),
            expects_tx: has(Keyword::ExpectTx),
            is_of_copies: false,
        };
        let (kind, result, argument) = if has(Keyword::Init) {
            (Mbarrier::Init, None, Some(at(1).ok_or(NotExecuted)?))
        } else if has(Keyword::Inval) {
            (Mbarrier::Invalidate, None, None)
        } else if has(Keyword::Arrive) || has(Keyword::ArriveDrop) {
            let count = at(2);
            if arrive.expects_tx && count.is_none() {
                return Err(NotExecuted);
            }
            (Mbarrier::Arrive(arrive), Some(at(0).ok_or(NotExecuted)?), count)
        } else if has(Keyword::ExpectTx) {
            (Mbarrier::ExpectTx, None, Some(at(1).ok_or(NotExecuted)?))
        } else if has(Keyword::CompleteTx) {
            (Mbarrier::CompleteTx, None, Some(at(1).ok_or(NotExecuted)?))
        } else if has(Keyword::TestWait) || has(Keyword::TryWait) {
            let kind = Mbarrier::Wait { is_parity: has(Keyword::Parity) };
            (kind, Some(at(0).ok_or(NotExecuted)?), Some(at(2).ok_or(NotExecuted)?))
        } else {
            return Err(NotExecuted);
        };
        let argument_type = match kind {
            Mbarrier::Wait { is_parity: false } => T::B64,
            _ => T::B32,
        };
        let a = match argument {
            Some(operand) => self.source(of, &operand, argument_type)?,
            None => self.constant(1, 1),
        };
        let result_type = match kind {
            Mbarrier::Wait { .. } => T::Pred,
            _ => T::B64,
        };
        let elements = match result {
            Some(operand) => self.elements(of, &operand, result_type)?,
            None => vec![None],
        };
        if elements.len() != 1 {
            return Err(NotExecuted);
        }
        let op = self.access(of, MemoryKind::Mbarrier(kind), T::B64, elements)?;
        self.emit(Action::Memory(Box::new(op))).a = a;
        Ok(())
    }

    /// Emits `alloca`, `stacksave` and `stackrestore`.
    pub(super) fn stack(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let is_wide = rows_of(scalar) == 2;
        let (kind, source) = match (of.opcode, of.operands) {
            (Opcode::StackSave, [_]) => (StackKind::Save, NONE),
            (Opcode::StackRestore, [from]) => (StackKind::Restore, self.source(of, from, scalar)?),
            (Opcode::Alloca, [_, size, rest @ ..]) => {
                let alignment = match rest {
                    [] => 8,
                    [alignment] => alignment.integer().ok_or(NotExecuted)?,
                    _ => return Err(NotExecuted),
                };
                if !alignment.is_power_of_two() || alignment > MAX_STACK_ALIGNMENT {
                    return Err(NotExecuted);
                }
                (StackKind::Allocate { alignment }, self.source(of, size, scalar)?)
            }
            _ => return Err(NotExecuted),
        };
        let d = match kind {
            StackKind::Restore => NONE,
            _ => self.pair(of, scalar)?.0,
        };
        let op = self.emit(Action::Stack(StackOp { kind, is_wide }));
        (op.d, op.a) = (d, source);
        Ok(())
    }

    pub(super) fn convert_address(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *request.types.first().ok_or(NotExecuted)?;
        let (space, part) = of.space().ok_or(NotExecuted)?;
        let windows = &self.around.windows;
        let base = match space {
            StateSpace::Shared => windows.map.shared().base,
            StateSpace::Local => windows.map.local().base,
            StateSpace::Const => windows.constants.start,
            StateSpace::Param if part != Some(SubQualifier::Func) => windows.parameters.start,
            _ => 0,
        };
        let base = if request.has(Keyword::To) { base.wrapping_neg() } else { base };
        let source = self.operand_source(of, 1, scalar)?;
        let added = self.constant(base, rows_of(scalar));
        self.write_first(of, add(scalar), &[source, added])
    }

    pub(super) fn is_in_space(&mut self, of: &PtxInstruction<'m>) -> Compiled<()> {
        let (space, part) = of.space().ok_or(NotExecuted)?;
        let operand = of.operands.get(1).ok_or(NotExecuted)?;
        let source = self.source(of, operand, T::U64)?;
        let windows = &self.around.windows;
        let (shared, local) = (windows.map.shared(), windows.map.local());
        let window = |window: warpload::memory::Window| window.base..window.base + window.size;
        // Everything that is in none of the other spaces is global, and the parameters of a kernel are, too.
        let (ranges, is_inside) = match space {
            // Without clusters, the block's window is the cluster's.
            StateSpace::Shared => (vec![window(shared)], true),
            StateSpace::Local => (vec![window(local)], true),
            StateSpace::Const => (vec![windows.constants.clone()], true),
            StateSpace::Param if part != Some(SubQualifier::Func) => {
                (vec![windows.parameters.clone()], true)
            }
            StateSpace::Global => {
                (vec![windows.constants.clone(), window(shared), window(local)], false)
            }
            _ => return Err(NotExecuted),
        };
        self.write_first(of, lies_in(ranges, is_inside), &[source])
    }
}

pub(super) fn atomic_operation(of: &PtxInstruction<'_>, request: &Request<'_>) -> Option<Atomic> {
    let words = [
        (Keyword::Add, Atomic::Add),
        (Keyword::Inc, Atomic::Inc),
        (Keyword::Dec, Atomic::Dec),
        (Keyword::And, Atomic::And),
        (Keyword::Or, Atomic::Or),
        (Keyword::Xor, Atomic::Xor),
        (Keyword::Exch, Atomic::Exchange),
        (Keyword::Cas, Atomic::CompareAndSwap),
    ];
    request.among(&words).or_else(|| {
        let reduction = of.first(|kind| match kind {
            QualifierKind::Reduction(of) => Some(of),
            _ => None,
        });
        Some(match reduction?.0 {
            warpload_machine::tensor::ReductionOperation::Min => Atomic::Min,
            warpload_machine::tensor::ReductionOperation::Max => Atomic::Max,
        })
    })
}

/// The bytes that a load uses of those that it reads, by the `.pragma "used_bytes_mask N";` before it. Compilers write it
/// where they copy the padding of a structure.
fn used_bytes(before: &str) -> u32 {
    let pragma = before.trim_end().strip_suffix("\";").and_then(|before| before.rsplit_once('"'));
    let Some((before, text)) = pragma else { return u32::MAX };
    let mask = text.strip_prefix("used_bytes_mask").map(|number| number.trim().parse());
    match mask {
        Some(Ok(mask)) if before.trim_end().ends_with(".pragma") => mask,
        _ => u32::MAX,
    }
}

/// A fence; an instruction without an effect here if it orders accesses of one kind or proxy alone.
pub(super) fn fence(of: &PtxInstruction<'_>, request: &Request<'_>) -> Action {
    if request.has(Keyword::Proxy) || request.has(Keyword::MbarrierInit) {
        return Action::Nop;
    }
    use MemoryOrder::{Acquire, Release, Sc};
    let order = of.order().map(|order| order.0);
    Action::Fence(Fence {
        scope: scope(of),
        releases: order != Some(Acquire),
        acquires: order != Some(Release),
        // `membar` is a synonym. [PTX ISA, "membar / fence"]
        is_sc: order == Some(Sc) || of.opcode == Opcode::Membar,
    })
}

/// The threads that see a strong access or a fence as one: by default, all. [PTX ISA, "Scope"]
fn scope(of: &PtxInstruction<'_>) -> Scope {
    let written = of.first(|kind| match kind {
        QualifierKind::Scope(scope) => Some(scope),
        _ => None,
    });
    // A launch has no clusters, so a cluster is a block.
    match written.map(|written| written.0) {
        Some(MemoryScope::Cta | MemoryScope::Cluster) => Scope::Block,
        Some(MemoryScope::Gpu | MemoryScope::Sys) | None => Scope::Device,
    }
}
