//! The values of a function's registers, followed from one instruction to the next.
//!
//! A register that a single instruction writes holds that value wherever it is read. Other registers are followed only
//! up to the next label that code jumps to, because another value may arrive there.

use std::collections::{HashMap, HashSet};

use super::sources::{SourceOperand, sources};
use super::value::{Conversion, Root, Term, Value, Values, Width};
use crate::meaning::{
    AddressBase, CONST_BANK, CONSTANTS, Meaning, PARAMETER_BANK, PARAMETER_BASE, PARAMETERS,
    Register, ResolvedAddress,
};
use crate::module::operands::RegisterOperands;
use crate::module::{DeclarationId, Function, FunctionKind, Module, Role, VariableLayout};
use crate::syntax::load::{Keyword, PtxInstruction, QualifierKind as Q};
use crate::syntax::{Opcode, ScalarType, StateSpace, TypeClass};

/// The registers of a function at one place in it.
pub(super) struct Flow<'m> {
    module: &'m Module<'m>,
    function: &'m Function,
    layout: &'m VariableLayout<'m>,
    /// Whether the assembler follows the computation of values.
    is_optimized: bool,
    uses: Uses<'m>,
    values: Values,
    /// Each register's value, and the block that wrote it.
    registers: HashMap<Register, (Value, u32)>,
    block: u32,
}

/// How often the registers of a function are read and written, and the labels that code jumps to.
#[derive(Default)]
struct Uses<'s> {
    reads: HashMap<Register, u32>,
    writes: HashMap<Register, u32>,
    targets: HashSet<&'s str>,
    /// Whether a `brx` exists, so that any label may be a target.
    is_indirect: bool,
}

impl<'s> Uses<'s> {
    fn of(module: &'s Module<'s>, function: &Function) -> Self {
        let mut uses = Self::default();
        let mut ids = module.statement_ids(function).peekable();
        while let Some(id) = ids.next() {
            let Some(instruction) = module.instruction(id) else { continue };
            let operands = RegisterOperands::of(module, &instruction);
            for register in operands.writes {
                *uses.writes.entry(register).or_default() += 1;
            }
            for register in operands.reads {
                *uses.reads.entry(register).or_default() += 1;
            }
            match instruction.opcode {
                Opcode::Brx => uses.is_indirect = true,
                Opcode::Bra => {
                    // Declarations may stand between the branch and its label.
                    while ids.next_if(|id| module.is_silent(*id)).is_some() {}
                    let next = ids.peek().and_then(|id| module.label(*id));
                    let goes_to_next = |name| next.is_some_and(|label| module.text(label) == name);
                    // A jump to the next statement has no effect.
                    uses.targets
                        .extend(operands.others.iter().filter(|name| !goes_to_next(**name)));
                }
                _ => {}
            }
        }
        uses
    }
}

impl<'m> Flow<'m> {
    pub(super) fn new(
        module: &'m Module<'m>,
        function: &'m Function,
        layout: &'m VariableLayout<'m>,
        is_optimized: bool,
    ) -> Self {
        Self {
            module,
            function,
            layout,
            is_optimized,
            uses: Uses::of(module, function),
            values: Values::default(),
            registers: HashMap::new(),
            block: 0,
        }
    }

    /// Passes a label. True if code jumps to it.
    pub(super) fn label(&mut self, name: &str) -> bool {
        let is_target = self.uses.is_indirect || self.uses.targets.contains(name);
        self.block += u32::from(is_target);
        is_target
    }

    /// Passes an instruction that is not a load of known meaning.
    pub(super) fn instruction(&mut self, instruction: &PtxInstruction<'_>) {
        let computed = if self.is_optimized && instruction.guard.is_none() {
            self.computed(instruction)
        } else {
            None
        };
        let operands = RegisterOperands::of(self.module, instruction);
        let [register] = operands.writes[..] else {
            for register in operands.writes {
                self.forget(register);
            }
            return;
        };
        let value = computed.unwrap_or_else(|| self.values.opaque(0));
        self.set(register, value);
    }

    /// Passes a load.
    pub(super) fn load(&mut self, meaning: &Meaning) {
        let bytes = meaning.bytes() / u32::from(meaning.elements.max(1));
        let known = match meaning.guard {
            None if self.is_optimized => self.bank_offset(meaning),
            _ => None,
        };
        for (i, register) in meaning.destinations.iter().enumerate() {
            let Some(register) = *register else { continue };
            match known {
                Some((bank, offset)) if bytes >= 4 => {
                    let value =
                        self.values.bank(bank, offset.wrapping_add(i64::from(bytes) * i as i64));
                    self.set(register, value);
                }
                _ => {
                    self.forget(register);
                }
            }
        }
    }

    /// The bank and the offset of a load, if both are known.
    fn bank_offset(&mut self, meaning: &Meaning) -> Option<(u8, i64)> {
        let address = self.address(meaning.address);
        let offset = address.constant;
        match (meaning.space, address.root) {
            (CONSTANTS, None) => Some((CONST_BANK, offset)),
            (PARAMETERS, None) if self.function.kind == FunctionKind::Entry => {
                Some((PARAMETER_BANK, offset.wrapping_add(PARAMETER_BASE as i64)))
            }
            _ => None,
        }
    }

    pub(super) fn register(&mut self, register: Register) -> Value {
        let is_written_once = self.uses.writes.get(&register).is_none_or(|count| *count == 1);
        match self.registers.get(&register) {
            Some((value, block)) if is_written_once || *block == self.block => *value,
            _ => self.forget(register),
        }
    }

    pub(super) fn address(&mut self, place: ResolvedAddress) -> Value {
        let base = match place.base {
            AddressBase::Zero => Value::number(0),
            AddressBase::Register(register) => {
                let term = self.register_term(register);
                let offset = Value::number(place.offset);
                return self.values.sum(term, shared(offset), Width::Bits64);
            }
            AddressBase::Variable(id) => self.variable(id),
            AddressBase::Indexed(id, index) => {
                let declaration = self.module.declaration(id);
                let bytes = declaration.and_then(|known| known.element_bytes());
                debug_assert!(bytes.is_some(), "only variables of sized elements are indexed");
                let bytes = bytes.unwrap_or(1);
                let index = self.register(index);
                let scaled = self.values.product(index, bytes as i64);
                let address = self.variable(id);
                self.values.sum(shared(scaled), shared(address), Width::Bits32)
            }
        };
        base.offset(place.offset)
    }

    fn variable(&mut self, id: DeclarationId) -> Value {
        let Some(declaration) = self.module.declaration(id) else { return self.values.opaque(0) };
        let alignment = declaration.alignment();
        let offset = self.layout.offset(id).and_then(|offset| i64::try_from(offset).ok());
        let is_of_kernel =
            declaration.role == Role::Parameter && self.function.kind == FunctionKind::Entry;
        match (declaration.space, offset) {
            (StateSpace::Global, _) => self.values.global(id, alignment),
            (StateSpace::Local, _) => self.values.local(id, alignment),
            (StateSpace::Shared | StateSpace::Const, Some(offset)) => Value::symbol(offset),
            (StateSpace::Param, Some(offset)) if is_of_kernel => Value::symbol(offset),
            _ => self.values.opaque(0),
        }
    }

    /// The local variable that contains an address.
    pub(super) fn local_variable(&self, address: Value) -> Option<DeclarationId> {
        self.values.local_variable(address)
    }

    pub(super) fn is_in_bank(&self, root: Root) -> bool {
        self.values.is_in_bank(root)
    }

    /// The number of a root's low bits known to be 0.
    pub(super) fn zero_bits(&self, root: Root) -> u32 {
        self.values.zero_bits(root)
    }

    fn set(&mut self, register: Register, value: Value) {
        self.registers.insert(register, (value, self.block));
    }

    /// Sets a register to an unknown value.
    fn forget(&mut self, register: Register) -> Value {
        let value = self.values.opaque(0);
        self.set(register, value);
        value
    }

    /// The result of an instruction, if the assembler follows it.
    fn computed(&mut self, instruction: &PtxInstruction<'_>) -> Option<Value> {
        let types: Vec<ScalarType> = instruction.form.types().collect();
        let kinds = instruction.qualifiers().map(|qualifier| qualifier.kind);
        let kinds: Vec<Q> = kinds.filter(|kind| !matches!(kind, Q::Type(_))).collect();
        let operands = sources(self.module, instruction)?;
        let scalar = *types.first().filter(|scalar| is_integer(**scalar))?;
        let width = Width::of(scalar.bits()?);
        match (instruction.opcode, &kinds[..], &operands[..]) {
            (Opcode::Mov, [], [of]) => Some(self.term(*of)?.value),
            (Opcode::Add, [], [a, b]) => {
                let (a, b) = (self.term(*a)?, self.term(*b)?);
                Some(self.values.sum(a, b, width))
            }
            (Opcode::Sub, [], [a, b]) => {
                let (a, b) = (self.term(*a)?, self.term(*b)?.value);
                let negated = Value::number(width.wrap(b.constant.wrapping_neg()));
                b.root.is_none().then(|| self.values.sum(a, shared(negated), width))
            }
            (Opcode::Shl, [], [a, by]) => {
                let (a, by) = (self.term(*a)?.value, self.term(*by)?.value);
                let factor = 1_i64.checked_shl(u32::try_from(by.constant).ok()?)?;
                let is_short = by.root.is_none() && by.constant < i64::from(scalar.bits()?);
                is_short.then(|| self.multiplied(a, factor, width))
            }
            (Opcode::Mul, [Q::Keyword(Keyword::Lo)], [a, b]) => {
                let (a, factor) = factors(self.term(*a)?.value, self.term(*b)?.value)?;
                Some(self.multiplied(a, factor, width))
            }
            (Opcode::Mul, [Q::Keyword(Keyword::Wide)], [a, b]) => self.wide(scalar, *a, *b),
            (Opcode::Mad, [Q::Keyword(Keyword::Lo)], [a, b, c]) => {
                let (a, factor) = factors(self.term(*a)?.value, self.term(*b)?.value)?;
                let c = self.term(*c)?;
                Some(match width {
                    Width::Bits32 => self.values.multiply_add(a, factor, c),
                    Width::Bits64 => {
                        let value = self.values.long_product(a, factor);
                        self.values.sum(Term { value, is_single: true }, c, width)
                    }
                })
            }
            (Opcode::Mad, [Q::Keyword(Keyword::Wide)], [a, b, c]) => {
                let product = self.wide(scalar, *a, *b)?;
                let c = self.term(*c)?.value;
                Some(self.values.add_product(product, c))
            }
            (Opcode::And, [], [a, b]) => {
                let masks = [self.term(*a)?.value, self.term(*b)?.value];
                let mask = masks.iter().find(|value| value.root.is_none())?;
                Some(self.values.opaque(mask.constant.trailing_zeros()))
            }
            (Opcode::Cvt, [], [of]) => {
                let from = *types.get(1).filter(|scalar| is_integer(**scalar))?;
                let value = self.term(*of)?.value;
                self.converted(value, from, scalar)
            }
            (Opcode::Cvta, kinds, [of]) => {
                let value = self.term(*of)?.value;
                Some(self.address_converted(value, kinds))
            }
            _ => None,
        }
    }

    fn multiplied(&mut self, value: Value, factor: i64, width: Width) -> Value {
        match width {
            Width::Bits32 => self.values.product(value, factor),
            Width::Bits64 => self.values.long_product(value, factor),
        }
    }

    /// `mul.wide` with operands of type `scalar`.
    fn wide(&mut self, scalar: ScalarType, a: SourceOperand, b: SourceOperand) -> Option<Value> {
        let (a, factor) = factors(self.term(a)?.value, self.term(b)?.value)?;
        let (conversion, factor) = match (scalar.bits()?, scalar.class()) {
            (32, TypeClass::Signed) => (Conversion::SignExtend, i64::from(factor as i32)),
            (32, _) => (Conversion::ZeroExtend, i64::from(factor as u32)),
            _ => return None,
        };
        let extended = self.values.converted(a, conversion);
        Some(self.values.wide_product(extended, factor))
    }

    fn converted(&mut self, value: Value, from: ScalarType, to: ScalarType) -> Option<Value> {
        let conversion = match (from.bits()?, to.bits()?) {
            (32, 64) if from.class() == TypeClass::Signed => Conversion::SignExtend,
            (32, 64) => Conversion::ZeroExtend,
            (64, 32) => Conversion::Truncate,
            (from, to) if from == to => return Some(value),
            _ => return None,
        };
        Some(self.values.converted(value, conversion))
    }

    /// `cvta`. A global address equals its generic address, so only the other spaces convert.
    fn address_converted(&mut self, value: Value, kinds: &[Q]) -> Value {
        use StateSpace::{Const, Local, Param, Shared};
        let space = |kind: &Q| match kind {
            Q::Space(space @ (Shared | Local | Const | Param), _) => Some(*space),
            _ => None,
        };
        let Some(space) = kinds.iter().find_map(space) else { return value };
        let is_to = kinds.contains(&Q::Keyword(Keyword::To));
        let conversion =
            if is_to { Conversion::ToSpace(space) } else { Conversion::FromSpace(space) };
        self.values.converted(value, conversion)
    }

    fn term(&mut self, source: SourceOperand) -> Option<Term> {
        match source {
            SourceOperand::Number(number) => Some(shared(Value::number(number))),
            SourceOperand::Variable(id, offset) => Some(shared(self.variable(id).offset(offset))),
            SourceOperand::Register(register) => Some(self.register_term(register)),
            SourceOperand::Other => None,
        }
    }

    fn register_term(&mut self, register: Register) -> Term {
        let is_single = self.uses.reads.get(&register) == Some(&1);
        Term { value: self.register(register), is_single }
    }
}

/// A value that the assembler does not fuse with its user.
fn shared(value: Value) -> Term {
    Term { value, is_single: false }
}

/// A value and its constant factor, in either order.
fn factors(a: Value, b: Value) -> Option<(Value, i64)> {
    match (a.root, b.root) {
        (_, None) => Some((a, b.constant)),
        (None, _) => Some((b, a.constant)),
        _ => None,
    }
}

fn is_integer(scalar: ScalarType) -> bool {
    matches!(scalar.class(), TypeClass::Signed | TypeClass::Unsigned | TypeClass::Bits)
        && matches!(scalar.bits(), Some(32 | 64))
}
