//! Loads, stores, atomic operations and fences.

use warpload_encoding::{Reg, Spa5Operand, Spa5Value};
use warpload_machine::ScalarType as T;
use warpload_machine::code::{
    Action, AddressSpace, Atomic, Base, Element, MemoryKind, MemoryOp, NONE, Scope, Slot, Strong,
};
use warpload_machine::lanes::moves::extract_bits;
use warpload_machine::lanes::predicates::lies_in;

use super::{Instruction, Lowerer, Lowering, NotExecuted};

impl Lowerer {
    pub(super) fn memory(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "MEMBAR" => self.fence(of),
            "ATOM" | "ATOMS" | "RED" => self.atomic(of),
            "ST" | "STG" | "STS" | "STL" => {
                self.access(of, MemoryKind::Store, of.operand(0)?, of.operand(1)?)
            }
            "LDC" => self.access(of, MemoryKind::Load, of.operand(1)?, of.operand(0)?),
            // A load with a result predicate has it first.
            "LDG" if matches!(of.operand(0)?.value, Spa5Value::Predicate(_)) => Err(NotExecuted),
            _ => self.access(of, MemoryKind::Load, of.operand(1)?, of.operand(0)?),
        }
    }

    /// The space, base and offset of an address.
    fn address(
        &mut self,
        of: &Instruction<'_>,
        operand: &Spa5Operand,
    ) -> Lowering<(AddressSpace, Base, u64)> {
        if let Spa5Value::Constant { bank, base, offset } = operand.value {
            let base = match base {
                Reg::RZ => Base::Zero,
                register => Base::Register { slot: self.row(register.number()), is_wide: false },
            };
            let mode = of.modifier("address");
            let is_plain = mode.is_empty();
            return match is_plain {
                true => Ok((AddressSpace::Constant { bank }, base, offset as i64 as u64)),
                false => Err(NotExecuted),
            };
        }
        let Spa5Value::Address { base, offset } = operand.value else { return Err(NotExecuted) };
        let space = match of.name() {
            "LDS" | "STS" | "ATOMS" => AddressSpace::Shared,
            "LDL" | "STL" => AddressSpace::Local,
            "LDG" | "STG" => AddressSpace::Global,
            _ => AddressSpace::Generic,
        };
        let is_long = of.has("E");
        let base = match base {
            Reg::RZ => Base::Zero,
            register if is_long => Base::Register { slot: self.pair_of(register)?, is_wide: true },
            register => Base::Register { slot: self.row(register.number()), is_wide: false },
        };
        Ok((space, base, offset as u64))
    }

    /// A load to registers, or a store from them.
    fn access(
        &mut self,
        of: &Instruction<'_>,
        kind: MemoryKind,
        address: &Spa5Operand,
        data: &Spa5Operand,
    ) -> Lowering {
        let (space, base, offset) = self.address(of, address)?;
        let Spa5Value::Register(register) = data.value else { return Err(NotExecuted) };
        let (scalar, count) = match of.modifier("size") {
            "U8" => (T::U8, 1),
            "S8" => (T::S8, 1),
            "U16" => (T::U16, 1),
            "S16" => (T::S16, 1),
            "" | "32" => (T::B32, 1),
            "64" => (T::B32, 2),
            "128" | "U.128" => (T::B32, 4),
            _ => return Err(NotExecuted),
        };
        let is_store = kind == MemoryKind::Store;
        let element = |at: u32| match register {
            Reg::RZ if is_store => Some(Element { slot: NONE, rows: 1, bits: 32 }),
            Reg::RZ => None,
            register => {
                let slot = self.row(register.number()) + at;
                Some(Element { slot, rows: 1, bits: 32 })
            }
        };
        let elements: Vec<Option<Element>> = (0..count).map(element).collect();
        if register != Reg::RZ && !u32::from(register.number()).is_multiple_of(count) {
            return Err(NotExecuted);
        }
        let mut op = MemoryOp::new(kind, space, base, scalar, &elements);
        op.offset = offset;
        if of.name() == "LD" {
            op.plg = Some(self.predicate(of.operand(2)?)?);
        }
        // `.CV` loads and `.WT` stores are how PTX's volatile accesses are compiled.
        if matches!(of.modifier("cache"), "CV" | "WT") {
            op.strong = Some(Strong { scope: Scope::Device, releases: false, acquires: false });
        }
        self.push(Action::Memory(Box::new(op)));
        Ok(())
    }

    fn atomic(&mut self, of: &Instruction<'_>) -> Lowering {
        // A result predicate comes first.
        let has_predicate = matches!(of.operand(0)?.value, Spa5Value::Predicate(_));
        if has_predicate {
            return Err(NotExecuted);
        }
        let is_reduction = of.name() == "RED";
        let at = usize::from(!is_reduction);
        let (space, base, offset) = self.address(of, of.operand(at)?)?;
        let operation = match of.modifier("op") {
            "ADD" => Atomic::Add,
            "MIN" => Atomic::Min,
            "MAX" => Atomic::Max,
            "INC" => Atomic::Inc,
            "DEC" => Atomic::Dec,
            "AND" => Atomic::And,
            "OR" => Atomic::Or,
            "XOR" => Atomic::Xor,
            "EXCH" => Atomic::Exchange,
            "CAS" | "CAST" | "" if of.has("CAS") || of.has("CAST") => Atomic::CompareAndSwap,
            _ => return Err(NotExecuted),
        };
        if of.has("CAST.SPIN") {
            return Err(NotExecuted);
        }
        let scalar = match (of.modifier("type"), of.has("64")) {
            (_, true) => T::B64,
            ("", _) if operation == Atomic::Add => T::U32,
            ("", _) => T::U32,
            ("S32", _) => T::S32,
            ("U64", _) => T::U64,
            ("S64", _) => T::S64,
            ("F32.FTZ.RN", _) => T::F32,
            ("F16x2.RN" | "F16x2.FTZ.RN", _) => T::F16x2,
            ("F64.RN", _) => T::F64,
            _ => return Err(NotExecuted),
        };
        let is_wide = scalar.bits() == 64;
        let value = |lowerer: &mut Self, register: Reg| -> Lowering<Slot> {
            match (register, is_wide) {
                (Reg::RZ, _) => Ok(NONE),
                (register, true) => lowerer.pair_of(register),
                (register, false) => Ok(lowerer.row(register.number())),
            }
        };
        let (a, b) = match of.operand(at + 1)?.value {
            Spa5Value::Swap { compare, swap } => (value(self, compare)?, value(self, swap)?),
            Spa5Value::Register(register) => (value(self, register)?, NONE),
            _ => return Err(NotExecuted),
        };
        let result = if is_reduction { Reg::RZ } else { of.register(0)? };
        let pair = if is_wide { Some(self.temporary(2)) } else { None };
        let element = match (result, pair) {
            (Reg::RZ, _) => None,
            (_, Some(slot)) => Some(Element { slot, rows: 2, bits: 64 }),
            (register, None) => {
                Some(Element { slot: self.row(register.number()), rows: 1, bits: 32 })
            }
        };
        let mut op = MemoryOp::new(MemoryKind::Atomic(operation), space, base, scalar, &[element]);
        op.offset = offset;
        op.strong = Some(Strong { scope: Scope::Device, releases: false, acquires: false });
        let op = self.push(Action::Memory(Box::new(op)));
        (op.a, op.b) = (a, b);
        if let (Some(slot), Some(_)) = (pair, element) {
            let first = self.row(result.number());
            self.lanes(extract_bits(T::B64, 0, 32), first, &[slot])?;
            self.lanes(extract_bits(T::B64, 32, 32), first + 1, &[slot])?;
        }
        Ok(())
    }

    /// Whether a generic address is outside of the window of shared memory.
    pub(super) fn outside_shared(&mut self, address: Slot, d: Slot) -> Lowering {
        let window = warpload::memory::AddressMap::default().shared();
        let range = window.base..window.base.saturating_add(window.size);
        self.lanes(lies_in(vec![range], false), d, &[address])
    }
}
