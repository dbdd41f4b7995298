//! [`compile`]: decodes a kernel and all functions that it calls into [`Code`].

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::RegisterLanes;
use super::cluster::needs_cluster;
use super::effects;
use super::lane_rules::{Request, conversions, lane_operation, number_types, truth, video};
use crate::meaning::{PARAMETERS, Register, component};
use crate::module::count_step;
use crate::module::operands::RegisterOperands;
use crate::module::{
    Array, Declaration, DeclarationId, Function, FunctionId, FunctionKind, Initializer, Module,
    Role, ScopeId, StatementId, StatementKind, Symbol, variable_bytes,
};
use crate::syntax::load::{
    AddressForm, AddressOperand, Element as Written, ElementKind, Keyword, MemoryOrder, Opcode,
    Operand, OperandKind, PtxInstruction, QualifierKind,
};
use crate::syntax::special::special_register;
use crate::syntax::{Constant, ScalarType, Span, StateSpace, SubQualifier, TypeClass};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::AddressMap;
use warpload_machine::code::{
    Action, AddressSpace, Arrive, Atomic, BankValue, BarrierKind, BarrierOp, Base, CallOp,
    CallTarget, Callee, Code, CopiedPart, CopyGroups, Effects, Element, ExchangeKind, ExchangeOp,
    FIRST_ROW, FunctionCode, JoinScope, MAX_LOCAL, Mbarrier, MemoryKind, MemoryOp, NO_SCOPE, NONE,
    Op, Passed, Pc, Preset, RESERVED_SHARED, Shuffle, Slot, Special, StackKind, StackOp, Vote,
};
use warpload_machine::lanes::LaneOperation;
use warpload_machine::lanes::conversions::{convert, extend};
use warpload_machine::lanes::integers::{
    Bitwise, IntegerOp, Product, bitwise, bitwise_by_table, integer, multiply_add,
};
use warpload_machine::lanes::moves::{copy, extract_bits, join, select, select_by_sign};
use warpload_machine::lanes::predicates::{Comparison, compare, lies_in};
use warpload_machine::{External, MAX_ALIGNMENT, Modes, NumberType as T, Site, pending_count};

/// The inputs of decoding besides the module.
pub(crate) struct Surroundings {
    /// The addresses of variables and of the kernel's parameters, in their spaces.
    pub(super) variables: HashMap<DeclarationId, (AddressSpace, u64)>,
    pub(super) windows: Windows,
    /// Values that the caller set. They replace the results of instructions.
    pub(super) overrides: HashMap<Register, Box<[u128; LANES]>>,
    /// Whether the loads of a function are executed alone. All variables then have an address.
    pub(super) is_of_loads: bool,
}

impl Surroundings {
    /// The surroundings of loads alone: the address of each variable in its space, and values of registers.
    pub(crate) fn of_loads(
        module: &Module<'_>,
        addresses: &HashMap<DeclarationId, u64>,
        registers: Vec<RegisterLanes>,
    ) -> Self {
        let variables = addresses.iter().filter_map(|(id, address)| {
            Some((*id, (module.declaration(*id)?.space.addresses()?, *address)))
        });
        Self {
            variables: variables.collect(),
            windows: Windows::default(),
            overrides: registers.into_iter().collect(),
            is_of_loads: true,
        }
    }
}

/// The generic addresses of the spaces, for `cvta` and `isspacep`.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    pub(super) map: AddressMap,
    /// The generic addresses of `.const` variables and of the kernel's parameters. In their spaces, these begin at 0.
    pub(super) constants: Range<u64>,
    pub(super) parameters: Range<u64>,
}

/// The strictest alignment of `alloca`. [PTX ISA, alloca]
const MAX_STACK_ALIGNMENT: u64 = 1 << 23;

/// The widest access of a lane, in bytes.
const MAX_ACCESS: usize = 32;

/// The value of a function's name: a small number, outside all memory that the machine allocates.
pub(super) fn function_address(function: FunctionId) -> u64 {
    (function.index() as u64 + 1) << 4
}

/// Decodes a kernel, and transitively the functions that it calls.
pub(super) fn compile(
    module: &Module<'_>,
    kernel: FunctionId,
    around: &Surroundings,
) -> Compilation {
    let mut calls = Calls::new(module, kernel);
    let mut compilation = Compilation::default();
    let mut done = 0;
    // The list grows in the loop, because decoding a function finds further calls.
    while let Some(id) = calls.order.get(done).copied() {
        done += 1;
        let Some(function) = module.functions().get(id.index()) else { continue };
        let mut compiler =
            FunctionCompiler::new(module, id, function, around, &mut calls, &mut compilation);
        compiler.body();
        compiler.finish();
    }
    let callees = calls.callees.into_iter();
    compilation.code.callees = callees.map(|(id, callee)| (function_address(id), callee)).collect();
    compilation
}

/// Decodes the loads of a function alone, in the order of the text. All other instructions, and loads that are not among
/// `loads`, only make their results unknown. Also returns the loads that cannot be decoded.
pub(crate) fn compile_loads(
    module: &Module<'_>,
    id: FunctionId,
    around: &Surroundings,
    loads: &HashSet<StatementId>,
    active: LaneMask,
) -> (Compilation, Vec<StatementId>) {
    let mut calls = Calls::new(module, id);
    let mut compilation = Compilation::default();
    let mut failed = Vec::new();
    if let Some(function) = module.functions().get(id.index()) {
        let mut compiler =
            FunctionCompiler::new(module, id, function, around, &mut calls, &mut compilation);
        for statement in module.statement_ids(function) {
            let Some(instruction) = module.instruction(statement) else { continue };
            compiler.statement = statement;
            if !compiler.alone(&instruction, loads.contains(&statement), active) {
                failed.push(statement);
            }
        }
        compiler.guard = None;
        compiler.emit(Action::Return);
        compiler.lie_in(NO_SCOPE);
        compiler.finish();
    }
    (compilation, failed)
}

/// A kernel with the functions that it calls, and the names and places in reports about it.
#[derive(Debug, Default)]
pub(crate) struct Compilation {
    pub(crate) code: Code,
    /// The registers of each function by their first row, to name one that nothing has written.
    pub(crate) registers: Vec<HashMap<Slot, Register>>,
    /// The first instruction that needs a cluster.
    pub(super) of_cluster: Option<StatementId>,
}

/// The functions that are called.
struct Calls {
    callees: HashMap<FunctionId, Callee>,
    /// The functions with a body, in the order of [`Code::functions`].
    order: Vec<FunctionId>,
    /// Whether all functions are in the list, because a register can hold the address of any of them.
    has_all: bool,
    /// The local variables and parameters of each function.
    locals: HashMap<FunctionId, Vec<DeclarationId>>,
}

impl Calls {
    fn new(module: &Module<'_>, kernel: FunctionId) -> Self {
        let mut locals: HashMap<FunctionId, Vec<DeclarationId>> = HashMap::new();
        for (id, declared) in module.declarations_with_ids() {
            if let (StateSpace::Local | StateSpace::Param, Some(function)) =
                (declared.space, module.function_id(declared.scope))
            {
                locals.entry(function).or_default().push(id);
            }
        }
        let callees = HashMap::from([(kernel, Callee::Function(0))]);
        Self { callees, order: vec![kernel], has_all: false, locals }
    }

    fn add(&mut self, id: FunctionId) -> Callee {
        *self.callees.entry(id).or_insert_with(|| {
            self.order.push(id);
            Callee::Function(self.order.len() - 1)
        })
    }
}

/// The error of an unsupported instruction. Its results become unknown, and the launch continues.
pub(super) struct NotExecuted;

pub(super) type Compiled<V> = Result<V, NotExecuted>;

pub(super) struct FunctionCompiler<'c, 'm> {
    pub(super) module: &'m Module<'m>,
    function: &'m Function,
    around: &'c Surroundings,
    calls: &'c mut Calls,
    code: &'c mut Code,
    names: &'c mut Vec<HashMap<Slot, Register>>,
    of_cluster: &'c mut Option<StatementId>,
    entry: Pc,
    registers: HashMap<Register, Element>,
    /// The rows of the values that the caller set.
    given: HashMap<Register, Slot>,
    constants: HashMap<(u64, u32), Slot>,
    specials: HashMap<Special, Slot>,
    presets: Vec<Preset>,
    rows: Slot,
    /// Offset and size of each variable and parameter in the local memory of a frame.
    locals: HashMap<DeclarationId, (u64, u64)>,
    local_bytes: u64,
    /// Whether the loads of the function are executed alone, see [`compile_loads`].
    is_alone: bool,
    /// The statement of the current instruction.
    statement: StatementId,
    guard: Option<(Slot, bool)>,
    /// The branches to blocks whose place is not known yet.
    branches: Vec<PendingBranch>,
}

/// A branch operation, and the edge that it takes.
struct PendingBranch {
    op: usize,
    from: usize,
    to: usize,
}

/// The end of a block, for its branch.
#[derive(Clone, Copy)]
struct BlockEnd<'f> {
    number: usize,
    targets: &'f [usize],
    /// The index of the table in [`Code::tables`].
    table: Option<usize>,
}

impl<'c, 'm> FunctionCompiler<'c, 'm> {
    fn new(
        module: &'m Module<'m>,
        id: FunctionId,
        function: &'m Function,
        around: &'c Surroundings,
        calls: &'c mut Calls,
        Compilation { code, registers: names, of_cluster }: &'c mut Compilation,
    ) -> Self {
        let entry = code.ops.len() as Pc;
        let mut compiler = Self {
            module,
            function,
            around,
            calls,
            code,
            names,
            of_cluster,
            entry,
            registers: HashMap::new(),
            given: HashMap::new(),
            constants: HashMap::new(),
            specials: HashMap::new(),
            presets: Vec::new(),
            rows: FIRST_ROW,
            locals: HashMap::new(),
            local_bytes: 0,
            is_alone: around.is_of_loads,
            statement: StatementId(0),
            guard: None,
            branches: Vec::new(),
        };
        if !compiler.is_alone {
            compiler.lay_out_locals(id);
        }
        compiler
    }

    /// Assigns offsets in the frame to local variables, to the parameters of calls, and to the function's own
    /// parameters.
    fn lay_out_locals(&mut self, function: FunctionId) {
        let is_entry = self.function.kind == FunctionKind::Entry;
        for id in self.calls.locals.remove(&function).unwrap_or_default() {
            count_step();
            let Some(declared) = self.module.declaration(id) else { continue };
            let is_parameter = matches!(declared.role, Role::Parameter | Role::Return);
            let is_local = match declared.space {
                StateSpace::Local => true,
                StateSpace::Param => !(is_entry && is_parameter),
                _ => false,
            };
            if is_local {
                let bytes = variable_bytes(self.module, declared);
                let alignment = declared.alignment().clamp(4, MAX_ALIGNMENT);
                let offset = self.local_bytes.next_multiple_of(alignment);
                self.locals.insert(id, (offset, bytes));
                // Capped, because the size comes from the module's text. A frame that is too large is a fault when the
                // function is called.
                self.local_bytes = offset.saturating_add(bytes).min(MAX_LOCAL + 1);
            }
        }
        self.local_bytes = self.local_bytes.next_multiple_of(16);
    }

    fn finish(mut self) {
        let overridden: Vec<_> = self.around.overrides.iter().collect();
        for (register, values) in overridden {
            if let Some(element) = self.registers.get(register) {
                let preset = preset(element.slot, *element, values);
                self.presets.push(preset);
            }
        }
        let parameters = self.passed(self.function.parameters.clone());
        let returns = self.passed(self.function.returns.clone());
        let names = self.registers.iter().map(|(register, of)| (of.slot, *register));
        self.names.push(names.collect());
        let mut locals: Vec<(u64, u64)> = self.locals.values().copied().collect();
        locals.sort_unstable();
        self.code.functions.push(FunctionCode {
            locals,
            entry: self.entry,
            rows: self.rows as usize + 1,
            presets: self.presets,
            local_bytes: self.local_bytes,
            parameters,
            returns,
        });
    }

    /// The locations of parameters or results.
    fn passed(&mut self, declarations: std::ops::Range<usize>) -> Vec<Passed> {
        let places = declarations.map(|place| {
            let id = DeclarationId(place as u32);
            let declared = self.module.declaration(id);
            match (self.locals.get(&id), declared) {
                (Some((offset, bytes)), _) => Passed::Local { offset: *offset, bytes: *bytes },
                (None, Some(declared)) if declared.space == StateSpace::Register => {
                    let element =
                        self.register(Register { declaration: id, number: 0, component: 0 });
                    Passed::Register { slot: element.slot, rows: element.rows }
                }
                _ => Passed::Nothing,
            }
        });
        places.collect()
    }

    // Rows.

    pub(super) fn new_rows(&mut self, rows: u32) -> Slot {
        let slot = self.rows;
        self.rows += rows;
        slot
    }

    pub(super) fn register(&mut self, register: Register) -> Element {
        if let Some(element) = self.registers.get(&register) {
            return *element;
        }
        let declared = self.module.declaration(register.declaration);
        // The types without a size are packed ones of at most 32 bits.
        let bits = declared.and_then(|known| known.scalar.bits()).unwrap_or(32);
        let rows = bits.div_ceil(32);
        let element = Element { slot: self.new_rows(rows), rows, bits };
        self.registers.insert(register, element);
        element
    }

    pub(super) fn constant(&mut self, value: u64, rows: u32) -> Slot {
        if let Some(slot) = self.constants.get(&(value, rows)) {
            return *slot;
        }
        let slot = self.new_rows(rows);
        self.constants.insert((value, rows), slot);
        self.presets.push(Preset::Constant(slot, value, rows));
        slot
    }

    fn special(&mut self, special: Special) -> Slot {
        if let Some(slot) = self.specials.get(&special) {
            return *slot;
        }
        let slot = self.new_rows(1);
        self.specials.insert(special, slot);
        self.presets.push(Preset::Special(slot, special));
        slot
    }

    // Operations.

    pub(super) fn emit(&mut self, action: Action) -> &mut Op {
        let mut op = Op::new(action, Site(self.statement.0));
        op.guard = self.guard;
        op.counts = false;
        let at = self.code.ops.len();
        self.code.ops.push(op);
        &mut self.code.ops[at]
    }

    /// Emits operations without the guard, because all lanes compute the sources of a guarded instruction.
    fn unguarded<V>(&mut self, emit: impl FnOnce(&mut Self) -> V) -> V {
        let guard = self.guard.take();
        let emitted = emit(self);
        self.guard = guard;
        emitted
    }

    /// Emits an operation, if the machine has it, with the row of its result.
    fn emit_lanes(
        &mut self,
        operation: Option<LaneOperation>,
        d: Slot,
        sources: &[Slot],
    ) -> Compiled<()> {
        let site = Site(self.statement.0);
        let op = Op::lanes(operation.ok_or(NotExecuted)?, site, d, sources);
        self.code.ops.push(Op { guard: self.guard, counts: false, ..op });
        Ok(())
    }

    /// Emits an operation with a new row for its result.
    pub(super) fn compute(
        &mut self,
        operation: Option<LaneOperation>,
        sources: &[Slot],
    ) -> Compiled<Slot> {
        let operation = operation.ok_or(NotExecuted)?;
        let slot = self.new_rows(rows_of(operation.result));
        self.emit_lanes(Some(operation), slot, sources)?;
        Ok(slot)
    }

    fn body(&mut self) {
        let flow = self.module.flow(self.function);
        let joins = &flow.joins;
        // Functions number their scopes one after the other.
        let first_scope = self.code.scopes.len();
        let scopes = joins.spans().into_iter();
        self.code
            .scopes
            .extend(scopes.map(|(first, last)| (first + first_scope, last + first_scope)));
        let scope = |own: Option<JoinScope>| {
            own.map_or(NO_SCOPE, |own| (first_scope as JoinScope).saturating_add(own))
        };
        let first_table = self.code.tables.len();
        // The places of each block: for lanes from outside, and behind its join.
        let mut starts = vec![0; flow.blocks.len()];
        let mut insides = starts.clone();
        for (number, block) in flow.blocks.iter().enumerate() {
            self.guard = None;
            starts[number] = self.code.ops.len() as Pc;
            if let Some(own) = joins.own[number] {
                self.emit(Action::Rejoin(scope(Some(own))));
                self.lie_in(scope(joins.around[own as usize]));
            }
            insides[number] = self.code.ops.len() as Pc;
            let table = flow.table_of[number].map(|table| first_table + table);
            let end = BlockEnd { number, targets: &block.targets, table };
            for place in block.statements.clone() {
                let id = StatementId(place as u32);
                let Some(instruction) = self.module.instruction(id) else {
                    self.declared(id);
                    continue;
                };
                self.statement = id;
                self.instruction(&instruction, end);
            }
            if let Some(next) =
                block.next.filter(|next| joins.closing.contains_key(&(number, *next)))
            {
                self.guard = None;
                self.branch_to(number, next);
            }
            self.lie_in(scope(joins.inside[number]));
        }
        self.guard = None;
        self.emit(Action::Return);
        self.lie_in(NO_SCOPE);
        let mut latches = Vec::new();
        for (own, block) in &joins.latches {
            latches.push(self.code.ops.len());
            self.emit(Action::Rejoin(scope(Some(*own))));
            self.lie_in(scope(joins.around[*own as usize]));
            self.emit(Action::Branch(insides[*block]));
            self.lie_in(scope(Some(*own)));
        }
        let place = |from: usize, to: usize| match joins.closing.get(&(from, to)) {
            Some(Some(latch)) => latches[*latch] as Pc,
            Some(None) => insides[to],
            None => starts[to],
        };
        for PendingBranch { op, from, to } in std::mem::take(&mut self.branches) {
            if let Some(Some(latch)) = joins.closing.get(&(from, to)) {
                // The branch that closes the loop, for the report of an endless one.
                self.code.ops[latches[*latch] + 1].site = self.code.ops[op].site;
            }
            self.code.ops[op].action = Action::Branch(place(from, to));
        }
        for (number, table) in flow.tables.iter().enumerate() {
            let from = flow.blocks.len() + number;
            self.code.tables.push(table.iter().map(|to| place(from, *to)).collect());
        }
    }

    /// Makes the variables of inner braces unwritten, because a loop declares them again in each round.
    fn declared(&mut self, id: StatementId) {
        let Some(statement) = self.module.statements().get(id.index()) else { return };
        let StatementKind::Declarations(first, end) = statement.kind else { return };
        if statement.scope == self.function.scope {
            return;
        }
        (self.statement, self.guard) = (id, None);
        for place in first.index()..end.index() {
            let known = self.locals.get(&DeclarationId(place as u32));
            if let Some((offset, bytes)) = known.copied() {
                self.emit(Action::Declared { offset, bytes });
            }
        }
    }

    /// Records the scope of joins around the operations since the last call.
    fn lie_in(&mut self, scope: JoinScope) {
        self.code.inside.resize(self.code.ops.len(), scope);
    }

    fn instruction(&mut self, of: &PtxInstruction<'m>, end: BlockEnd<'_>) {
        self.guard = None;
        if let Some(guard) = of.guard {
            let slot = self.named(of, guard.register, T::Pred);
            // A guard without a known value is unknown. Without it, the instruction would always be executed.
            let slot = slot.unwrap_or_else(|_| self.unknown_row(1));
            self.guard = Some((slot, guard.is_negated));
        }
        if needs_cluster(self.module, of) {
            self.of_cluster.get_or_insert(self.statement);
        }
        let before = self.code.ops.len();
        let compiled = match of.opcode {
            _ if of.fault.is_some() || !of.is_known() => Err(NotExecuted),
            Opcode::Bra => self.branch(end),
            Opcode::Brx => self.branch_table(of, end),
            _ => self.plain(of),
        };
        if compiled.is_err() {
            self.code.ops.truncate(before);
            self.not_executed(of);
        }
        self.replace_overridden(of);
        self.read_guard_once(of, before);
        // The first operation that only the instruction's lanes execute. Its sources are computed in all lanes.
        let guard = self.guard;
        let own = &mut self.code.ops[before..];
        let first = own.iter().position(|op| op.guard == guard).unwrap_or(0);
        if let Some(op) = own.get_mut(first) {
            op.counts = true;
        }
    }

    /// Emits a load alone, or the loss of an instruction's results. Returns whether the load can be decoded.
    fn alone(&mut self, of: &PtxInstruction<'m>, is_executed: bool, active: LaneMask) -> bool {
        self.guard = None;
        if let Some(guard) = of.guard {
            let slot = self.named(of, guard.register, T::Pred).ok();
            self.guard = slot.map(|slot| (slot, guard.is_negated));
        }
        if active.is_empty() {
            self.guard = Some((self.constant(0, 1), false));
        }
        let before = self.code.ops.len();
        let compiled = if is_executed { self.plain(of) } else { Err(NotExecuted) };
        let effects = Box::new(self.results_replaced(of));
        if compiled.is_ok() {
            if let Some(load) = self.code.ops.last_mut() {
                load.alone = Some(effects);
            }
            return true;
        }
        self.code.ops.truncate(before);
        self.emit(Action::NotExecuted(effects));
        !is_executed
    }

    /// The effects on registers of an instruction that is not executed. Values that the caller set replace results.
    fn results_replaced(&mut self, of: &PtxInstruction<'m>) -> Effects {
        let (mut slots, mut replaced) = (Vec::new(), Vec::new());
        for register in RegisterOperands::of(self.module, of).writes {
            let element = self.register(register);
            match self.given(register, element) {
                Some(row) => replaced.push((element, row)),
                None => slots.push(element.slot),
            }
        }
        Effects { slots: slots.into(), replaced: replaced.into(), ..Effects::default() }
    }

    /// The row of the values that the caller set for a register.
    fn given(&mut self, register: Register, element: Element) -> Option<Slot> {
        let values = self.around.overrides.get(&register)?;
        if let Some(slot) = self.given.get(&register) {
            return Some(*slot);
        }
        let slot = self.new_rows(element.rows);
        self.given.insert(register, slot);
        self.presets.push(preset(slot, element, values));
        Some(slot)
    }

    /// Keeps the guard of an instruction that overwrites it before its last operation, such as `@p setp.eq.s32 p|q, a, b`.
    /// All operations have the guard that the instruction began with.
    fn read_guard_once(&mut self, of: &PtxInstruction<'m>, before: usize) {
        let Some((slot, is_negated)) = self.guard else { return };
        let own = &self.code.ops[before..];
        let Some(last) = own.iter().rposition(|op| op.guard == self.guard) else { return };
        let may_write = |op: &Op| match op.action {
            Action::Lanes(_) => op.d == slot || op.e == slot,
            _ => true,
        };
        if !own[..last].iter().any(may_write) {
            return;
        }
        let is_guard = |register: &Register| {
            self.registers.get(register).is_some_and(|element| element.slot == slot)
        };
        if !RegisterOperands::of(self.module, of).writes.iter().any(is_guard) {
            return;
        }
        let Some(copy) = copy(T::Pred) else { return };
        let kept = self.new_rows(1);
        for op in &mut self.code.ops[before..] {
            if op.guard == self.guard {
                op.guard = Some((kept, is_negated));
            }
        }
        let op = Op { counts: false, ..Op::lanes(copy, Site(self.statement.0), kept, &[slot]) };
        self.code.ops.insert(before, op);
        self.guard = Some((kept, is_negated));
    }

    /// A row that is unknown because the current instruction has an operand whose value nothing here defines. The
    /// instruction is listed as not executed.
    fn unknown_row(&mut self, rows: u32) -> Slot {
        let slot = self.new_rows(rows);
        let effects = Effects { slots: [slot].into(), ..Effects::default() };
        self.unguarded(|this| this.emit(Action::NotExecuted(Box::new(effects))).d = slot);
        slot
    }

    /// Makes all that an unsupported instruction would write unknown. Lanes that reach an unsupported branch end, because
    /// the next instruction is not known.
    fn not_executed(&mut self, of: &PtxInstruction<'m>) {
        let effects = effects::of(self, of);
        let mut results = RegisterOperands::of(self.module, of).writes.into_iter().peekable();
        let is_replaced = results.peek().is_some()
            && results.all(|register| self.around.overrides.contains_key(&register));
        if is_replaced && effects.are_registers() {
            self.emit(Action::Nop);
            return;
        }
        self.emit(Action::NotExecuted(Box::new(effects)));
        if matches!(of.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret) {
            self.emit(Action::Exit);
        }
    }

    /// The offset and the size in the frame's local memory of the variable with this name.
    pub(super) fn local(&self, of: &PtxInstruction<'m>, name: Span) -> Option<(u64, u64)> {
        let symbol = self.module.find_at(of.scope, name)?;
        self.locals.get(&symbol.id).copied()
    }

    /// Restores the values that the caller set, after an instruction has overwritten them.
    fn replace_overridden(&mut self, of: &PtxInstruction<'m>) {
        if self.around.overrides.is_empty() {
            return;
        }
        for register in RegisterOperands::of(self.module, of).writes {
            let element = self.register(register);
            let Some(slot) = self.given(register, element) else { continue };
            let scalar = match element.bits {
                1 => T::Pred,
                64 => T::B64,
                _ => T::B32,
            };
            // All these types have a copy.
            let _ = self.emit_lanes(copy(scalar), element.slot, &[slot]);
        }
    }

    // Operands.

    /// The row of a source operand. May emit operations to compute it.
    pub(super) fn source(
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
    fn sum(&mut self, element: Element, offset: u64, scalar: T) -> Compiled<Slot> {
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
    fn element_offset(
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

    fn operand_source(
        &mut self,
        of: &PtxInstruction<'m>,
        place: usize,
        scalar: T,
    ) -> Compiled<Slot> {
        let operand = of.operands.get(place).ok_or(NotExecuted)?;
        self.source(of, operand, scalar)
    }

    fn immediate(&mut self, value: Constant, scalar: T) -> Compiled<Slot> {
        // As ptxas does, takes floats only for floats and plain bits, and integers for all but floats.
        let scalar_type = match scalar {
            T::F32 | T::F64 if value.integer().is_some() => return Err(NotExecuted),
            T::F32 => ScalarType::F32,
            T::F64 => ScalarType::F64,
            T::B32 => ScalarType::B32,
            T::B64 => ScalarType::B64,
            T::Pred => {
                let lanes = if value.integer().ok_or(NotExecuted)? != 0 { u32::MAX } else { 0 };
                return Ok(self.constant(lanes.into(), 1));
            }
            _ => match scalar.bits() {
                64 => ScalarType::U64,
                32 => ScalarType::U32,
                16 => ScalarType::B16,
                8 => ScalarType::B8,
                _ => return Err(NotExecuted),
            },
        };
        let bits = value.bits(scalar_type).ok_or(NotExecuted)?;
        Ok(self.constant(bits, rows_of(scalar)))
    }

    /// The register of a symbol, if it is a scalar.
    fn register_of(&mut self, symbol: Symbol<'_>) -> Compiled<Element> {
        match symbol.declaration.vector {
            1 => Ok(self.register(Register::of(symbol))),
            _ => Err(NotExecuted),
        }
    }

    /// The row of a register, of a variable's or a function's address, or of a special register.
    pub(super) fn named(
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
            Some(symbol) => {
                let letter = self.module.text(whole).bytes().last().and_then(component);
                let component = letter.filter(|at| *at < symbol.declaration.vector);
                let component = component.ok_or(NotExecuted)?;
                let element = self.register(Register { component, ..Register::of(symbol) });
                self.fitted(element, scalar)
            }
            None => {
                let text: String = self.module.text(whole).split_whitespace().collect();
                self.special_named(&text, scalar)
            }
        }
    }

    /// Converts a register to the number of rows of a type: truncates or zero-extends. Predicates are kept differently
    /// from numbers, so that neither can be read as the other.
    fn fitted(&mut self, element: Element, scalar: T) -> Compiled<Slot> {
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

    fn special_named(&mut self, text: &str, scalar: T) -> Compiled<Slot> {
        let clock = match text {
            "%clock" | "%globaltimer_lo" => Some((0, false)),
            "%clock_hi" | "%globaltimer_hi" => Some((32, false)),
            "%clock64" | "%globaltimer" => Some((0, true)),
            _ => None,
        };
        let element = if let Some((shift, is_wide)) = clock {
            let (rows, bits) = if is_wide { (2, 64) } else { (1, 32) };
            let slot = self.new_rows(rows);
            self.unguarded(|this| this.emit(Action::Clock { shift, is_wide }).d = slot);
            Element { slot, rows, bits }
        } else {
            match special(text).ok_or(NotExecuted)? {
                SpecialValue::Row(special) => {
                    Element { slot: self.special(special), rows: 1, bits: 32 }
                }
                SpecialValue::Constant(value, bits) => {
                    let rows = bits.div_ceil(32);
                    Element { slot: self.constant(value, rows), rows, bits }
                }
                SpecialValue::Unknown(bits) => {
                    let rows = bits.div_ceil(32);
                    Element { slot: self.unknown_row(rows), rows, bits }
                }
            }
        };
        let slot = self.fitted(element, scalar)?;
        self.narrowed(slot, scalar)
    }

    /// The row of a variable's address in its space.
    fn address(&mut self, id: DeclarationId, offset: u64, scalar: T) -> Compiled<Slot> {
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
    fn destination(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
    ) -> Compiled<(Slot, Option<(LaneOperation, Slot)>)> {
        let element = match operand.kind {
            OperandKind::Sink => return Ok((self.new_rows(rows_of(scalar)), None)),
            OperandKind::Name | OperandKind::Component(_) => {
                let register = self.module.register_written(of.scope, operand.span);
                let register = register.map_err(|_| NotExecuted)?;
                let declared = self.module.declaration(register.declaration);
                // A vector as a whole is the destination of `mov` alone.
                let is_whole = operand.kind == OperandKind::Name;
                if is_whole && declared.is_some_and(|declared| declared.vector > 1) {
                    return Err(NotExecuted);
                }
                self.register(register)
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
    pub(super) fn write_first(
        &mut self,
        of: &PtxInstruction<'m>,
        operation: Option<LaneOperation>,
        sources: &[Slot],
    ) -> Compiled<()> {
        let first = of.operands.first().ok_or(NotExecuted)?;
        self.write(of, first, operation, sources)
    }

    /// Emits an operation that writes an operand.
    pub(super) fn write(
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
    fn copy_to_first(&mut self, of: &PtxInstruction<'m>, scalar: T, source: Slot) -> Compiled<()> {
        self.write_first(of, copy(scalar), &[source])
    }

    // Instructions.

    fn plain(&mut self, of: &PtxInstruction<'m>) -> Compiled<()> {
        let types = number_types(self.module, of);
        let request = Request::new(&types, of);
        match of.opcode {
            Opcode::Mov => self.move_value(of, &types),
            Opcode::Ld | Opcode::Ldu => self.load(of, &types),
            Opcode::St => self.store(of, &types),
            Opcode::Atom | Opcode::Red => self.atomic(of, &types, &request),
            Opcode::Setp => self.set_predicate(of, &types, &request),
            Opcode::Set => self.set(of, &types, &request),
            Opcode::Selp => {
                let scalar = *types.first().ok_or(NotExecuted)?;
                let sources = [
                    self.operand_source(of, 1, scalar)?,
                    self.operand_source(of, 2, scalar)?,
                    self.operand_source(of, 3, T::Pred)?,
                ];
                self.write_first(of, select(scalar), &sources)
            }
            Opcode::Slct => {
                let (&scalar, &by) =
                    (types.first().ok_or(NotExecuted)?, types.get(1).ok_or(NotExecuted)?);
                let sources = [
                    self.operand_source(of, 1, scalar)?,
                    self.operand_source(of, 2, scalar)?,
                    self.operand_source(of, 3, by)?,
                ];
                let flush = by == T::F32 && request.has(Keyword::Ftz);
                if !request.is_read() {
                    return Err(NotExecuted);
                }
                self.write_first(of, select_by_sign(scalar, by, flush), &sources)
            }
            Opcode::Lop3 => self.logic3(of, &request),
            Opcode::Cvt if types.first().is_some_and(|to| to.parts().1 == 4) => {
                conversions::emit_four(self, of, &request)
            }
            _ if video::is_video(of.opcode) => video::emit(self, of, &request),
            Opcode::Cvta => self.convert_address(of, &types, &request),
            Opcode::Isspacep => self.is_in_space(of),
            Opcode::Alloca | Opcode::StackSave | Opcode::StackRestore => self.stack(of, &types),
            Opcode::CreatePolicy => {
                let zero = self.constant(0, 2);
                self.copy_to_first(of, T::B64, zero)
            }
            Opcode::Call => self.call(of),
            Opcode::Ret => self.control(Action::Return),
            Opcode::Exit => self.control(Action::Exit),
            Opcode::Trap => self.control(Action::Trap),
            Opcode::Shfl => self.shuffle(of, &request),
            Opcode::Vote => self.vote(of, &request),
            Opcode::Match => self.match_values(of, &types, &request),
            Opcode::Redux => self.reduce(of, &types, &request),
            Opcode::Elect => {
                let members = self.operand_source(of, 1, T::B32)?;
                let (d, e) = self.pair(of, T::B32)?;
                self.exchange(ExchangeKind::Elect, Some(members), d, [NONE; 3], e)
            }
            Opcode::Activemask => {
                let slot = self.pair(of, T::B32)?.0;
                self.emit(Action::ActiveMask).d = slot;
                Ok(())
            }
            Opcode::Bar | Opcode::Barrier => self.barrier(of, &request),
            Opcode::Cp if !waits_for_skipped(&request) => self.copy_async(of, &request),
            Opcode::Mbarrier => self.mbarrier(of, &request),
            Opcode::LdMatrix
            | Opcode::StMatrix
            | Opcode::MovMatrix
            | Opcode::Mma
            | Opcode::Wmma => {
                let op = self.matrix(of, &types)?;
                self.emit(Action::Matrix(Box::new(op)));
                Ok(())
            }
            Opcode::TensorLd | Opcode::TensorLdRed => {
                let op = self.tensor_load(of)?;
                self.emit(Action::TensorLoad(Box::new(op)));
                Ok(())
            }
            Opcode::Fence | Opcode::Membar => self.control(Action::Fence),
            Opcode::Nop
            | Opcode::Brkpt
            | Opcode::PmEvent
            | Opcode::Nanosleep
            | Opcode::SetMaxNReg
            | Opcode::GridDepControl
            | Opcode::Prefetch
            | Opcode::Prefetchu
            | Opcode::ApplyPriority => self.control(Action::Nop),
            Opcode::Discard => {
                let effects = effects::of(self, of);
                self.control(Action::NotExecuted(Box::new(effects)))
            }
            _ if waits_for_skipped(&request) => self.control(Action::Nop),
            _ => self.lanes(of, &request),
        }
    }

    pub(super) fn control(&mut self, action: Action) -> Compiled<()> {
        self.emit(action);
        Ok(())
    }

    /// Whether an operand is a register with fewer bits than the type, which ptxas refuses.
    fn is_too_narrow(&self, of: &PtxInstruction<'m>, place: usize, scalar: T) -> bool {
        let operand = of.operands.get(place);
        let name = operand.filter(|operand| operand.kind == OperandKind::Name);
        let symbol = name.and_then(|name| self.module.find_at(of.scope, name.span));
        symbol.is_some_and(|symbol| {
            let declared = symbol.declaration;
            let bits = declared.scalar.bits();
            declared.space == StateSpace::Register && bits.is_some_and(|bits| bits < scalar.bits())
        })
    }

    /// Emits an instruction with a [`lane_operation`].
    fn lanes(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let operation = lane_operation(request).ok_or(NotExecuted)?;
        let mut sources = Vec::new();
        for (place, scalar) in operation.sources.iter().enumerate() {
            if self.is_too_narrow(of, place + 1, *scalar) {
                return Err(NotExecuted);
            }
            sources.push(self.operand_source(of, place + 1, *scalar)?);
        }
        if of.operands.len() > operation.sources.len() + 1 || !request.is_read() {
            return Err(NotExecuted);
        }
        let before = self.code.ops.len();
        self.write_first(of, Some(operation), &sources)?;
        if let Some(op) = self.code.ops.get_mut(before..).and_then(|ops| ops.first_mut()) {
            op.carries = request.has(Keyword::Cc);
        }
        Ok(())
    }

    fn branch(&mut self, end: BlockEnd<'_>) -> Compiled<()> {
        let target = *end.targets.first().ok_or(NotExecuted)?;
        self.branch_to(end.number, target);
        Ok(())
    }

    fn branch_to(&mut self, from: usize, to: usize) {
        self.branches.push(PendingBranch { op: self.code.ops.len(), from, to });
        self.emit(Action::Branch(0));
    }

    fn branch_table(&mut self, of: &PtxInstruction<'m>, end: BlockEnd<'_>) -> Compiled<()> {
        let table = end.table.filter(|_| !end.targets.is_empty()).ok_or(NotExecuted)?;
        let index = self.operand_source(of, 0, T::U32)?;
        self.emit(Action::BranchTable(table)).a = index;
        Ok(())
    }

    fn move_value(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let [to, from] = of.operands else { return Err(NotExecuted) };
        let count = usize::from(of.elements());
        if count > 1 {
            return self.move_elements(of, to, from, scalar, count);
        }
        let is_bits = matches!(scalar, T::B16 | T::B32 | T::B64 | T::B128);
        let (into, parts) = (self.parts_written(of, to)?, self.parts_read(of, from)?);
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
        let parts = self.parts_read(of, from)?.ok_or(NotExecuted)?;
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

    /// The components of a vector register that an operand names as a whole.
    fn components(&mut self, of: &PtxInstruction<'m>, operand: &Operand) -> Option<Vec<Element>> {
        let symbol = self.module.find_at(of.scope, operand.span)?;
        let declared = symbol.declaration;
        let is_vector = operand.kind == OperandKind::Name
            && declared.space == StateSpace::Register
            && declared.vector > 1;
        let register = Register::of(symbol);
        is_vector.then(|| {
            let all = 0..declared.vector;
            all.map(|component| self.register(Register { component, ..register })).collect()
        })
    }

    /// The registers of a destination in parts; `None` if it is one register.
    fn parts_written(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
    ) -> Compiled<Option<Vec<Option<Element>>>> {
        if let OperandKind::Vector(range) = operand.kind {
            let written = of.elements_in(range).iter();
            return written.map(|part| self.element(of, part)).collect::<Compiled<_>>().map(Some);
        }
        let components = self.components(of, operand);
        Ok(components.map(|all| all.into_iter().map(Some).collect()))
    }

    /// The parts of a source; `None` if it is one value.
    fn parts_read(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
    ) -> Compiled<Option<Vec<Part>>> {
        if let OperandKind::Vector(range) = operand.kind {
            let written = of.elements_in(range).iter().copied();
            return Ok(Some(written.map(Part::Written).collect()));
        }
        let text = self.module.text(operand.span);
        let is_special = operand.kind == OperandKind::Name
            && self.module.find_at(of.scope, operand.span).is_none()
            && special_register(text).is_some_and(|special| special.is_vector);
        if is_special {
            let component = |axis| Part::Special(format!("{text}.{axis}"));
            return Ok(Some(["x", "y", "z", "w"].map(component).into()));
        }
        let components = self.components(of, operand);
        Ok(components.map(|all| all.into_iter().map(Part::Register).collect()))
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
        let name = written.name().ok_or(NotExecuted)?;
        if self.module.find_at(of.scope, name).is_none() {
            let text: String = self.module.text(written.span).split_whitespace().collect();
            return self.special_named(&text, scalar);
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

    /// The register of an element in braces; `None` for a sink.
    pub(super) fn element(
        &mut self,
        of: &PtxInstruction<'m>,
        written: &Written,
    ) -> Compiled<Option<Element>> {
        match written.kind {
            ElementKind::Sink => Ok(None),
            ElementKind::Constant(_) => Err(NotExecuted),
            ElementKind::Name | ElementKind::Component(_) => {
                let register = self.module.register_written(of.scope, written.span);
                let register = register.map_err(|_| NotExecuted)?;
                let declared = self.module.declaration(register.declaration);
                let vector = declared.map_or(1, |declared| declared.vector);
                let is_scalar = written.kind == ElementKind::Name && vector == 1;
                let is_component = written.kind != ElementKind::Name && register.component < vector;
                if !is_scalar && !is_component {
                    return Err(NotExecuted);
                }
                Ok(Some(self.register(register)))
            }
        }
    }

    /// The elements of a result. A dropped element (`_`) has a register that no instruction reads.
    pub(super) fn results(
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
    pub(super) fn elements(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
    ) -> Compiled<Vec<Option<Element>>> {
        let rows = rows_of(scalar);
        let bits = scalar.bits();
        let elements = match operand.kind {
            OperandKind::Vector(range) => {
                let mut elements = Vec::new();
                for written in of.elements_in(range) {
                    elements.push(match written.kind {
                        ElementKind::Constant(value) => {
                            let slot = self.immediate(value, scalar)?;
                            Some(Element { slot, rows, bits })
                        }
                        _ => self.element(of, written)?,
                    });
                }
                elements
            }
            OperandKind::Name => {
                let Some(symbol) = self.module.find_at(of.scope, operand.span) else {
                    let slot = self.source(of, operand, scalar)?;
                    return Ok(vec![Some(Element { slot, rows, bits })]);
                };
                if symbol.declaration.space != StateSpace::Register {
                    let slot = self.source(of, operand, scalar)?;
                    return Ok(vec![Some(Element { slot, rows, bits })]);
                }
                let components = 0..symbol.declaration.vector;
                let of_symbol = Register::of(symbol);
                components
                    .map(|component| Some(self.register(Register { component, ..of_symbol })))
                    .collect()
            }
            OperandKind::Sink => vec![None],
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

    // Memory.

    /// The space, base and offset of an address operand.
    pub(super) fn place(
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
        let mut offset = address.displacement();
        let Some(name) = address.base else { return Ok((written, Base::Zero, offset)) };
        let Some(symbol) = self.module.find_at(of.scope, name) else {
            // A special register, such as `[%laneid]`.
            let known = special_register(self.module.text(name)).ok_or(NotExecuted)?;
            let is_wide = known.scalar.bits() == Some(64);
            let slot = self.named(of, name, if is_wide { T::B64 } else { T::B32 })?;
            return Ok((written, Base::Register { slot, is_wide }, offset));
        };
        if symbol.declaration.space == StateSpace::Register {
            let element = self.register_of(symbol)?;
            let is_address = !matches!(symbol.declaration.scalar.class(), TypeClass::Float);
            if address.form == AddressForm::Indexed
                || !is_address
                || !(8..=64).contains(&element.bits)
            {
                return Err(NotExecuted);
            }
            let base = Base::Register { slot: element.slot, is_wide: element.rows == 2 };
            return Ok((written, base, offset));
        }
        let mut index = None;
        if address.form == AddressForm::Indexed {
            let bytes = symbol.declaration.element_bytes().ok_or(NotExecuted)?;
            if let Some(name) = address.index {
                index = Some(self.element_offset(of, name, offset, bytes)?);
                offset = 0;
            }
            offset = offset.wrapping_mul(bytes);
        }
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
        let offset = place.wrapping_add(offset);
        let Some(index) = index else { return Ok((space, base, offset)) };
        // The offset of an element is not negative, so it is added in 64 bits.
        let index = self.fitted(Element { slot: index, rows: 1, bits: 32 }, T::B64)?;
        let mut slot = index;
        if base == Base::Frame {
            let first = self.address(symbol.id, 0, T::B64)?;
            slot = self.new_rows(2);
            self.unguarded(|this| this.emit_lanes(add(T::U64), slot, &[first, index]))?;
            return Ok((space, Base::Register { slot, is_wide: true }, 0));
        }
        Ok((space, Base::Register { slot, is_wide: true }, offset))
    }

    /// An access at the address operand of the instruction.
    fn access(
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
        let is_ordered = order.is_some_and(|order| order != MemoryOrder::Weak)
            || matches!(kind, MemoryKind::Atomic(_) | MemoryKind::Mbarrier(_));
        let elements: Box<[Option<Element>]> = elements.into();
        let size = scalar.bytes();
        let bytes = size as usize * elements.len();
        if bytes > MAX_ACCESS || !bytes.is_power_of_two() {
            return Err(NotExecuted);
        }
        Ok(MemoryOp { kind, space, base, offset, size, elements, scalar, is_ordered })
    }

    fn load(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let first = of.operands.first().ok_or(NotExecuted)?;
        let elements = self.elements(of, first, scalar)?;
        if elements.len() != usize::from(of.elements()) {
            return Err(NotExecuted);
        }
        let op = self.access(of, MemoryKind::Load, scalar, elements)?;
        if self.is_alone {
            return self.control(Action::Memory(Box::new(op)));
        }
        if op.space == PARAMETERS && op.base == Base::Zero {
            return self.parameter(op);
        }
        self.emit_ordered(of, op);
        Ok(())
    }

    /// Emits a load of the kernel's parameters from a fixed address: copies of rows that hold the values.
    fn parameter(&mut self, op: MemoryOp) -> Compiled<()> {
        let AddressSpace::Constant { bank } = op.space else { return Err(NotExecuted) };
        let parameters = &self.around.windows.parameters;
        let end = parameters.end - parameters.start;
        let is_aligned = op.offset.is_multiple_of(op.bytes().into());
        let is_inside = op.offset.checked_add(op.bytes().into()).is_some_and(|last| last <= end);
        let is_plain = |element: &Element| element.rows <= 2;
        if op.is_ordered || !is_aligned || !is_inside || !op.elements.iter().flatten().all(is_plain)
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

    fn store(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
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
        self.emit_ordered(of, op);
        Ok(())
    }

    /// Emits an access between the fences that its order implies: a release is a fence and a strong write, an acquire
    /// is a strong read and a fence.
    fn emit_ordered(&mut self, of: &PtxInstruction<'m>, op: MemoryOp) -> &mut Op {
        let (releases, acquires) = match of.order().map(|order| order.0) {
            Some(MemoryOrder::Release) => (true, false),
            Some(MemoryOrder::Acquire) => (false, true),
            Some(MemoryOrder::AcqRel | MemoryOrder::Sc) => (true, true),
            Some(MemoryOrder::Weak | MemoryOrder::Volatile | MemoryOrder::Relaxed) | None => {
                (false, false)
            }
        };
        if releases {
            self.emit(Action::Fence);
        }
        let at = self.code.ops.len();
        self.emit(Action::Memory(Box::new(op)));
        if acquires {
            self.emit(Action::Fence);
        }
        &mut self.code.ops[at]
    }

    fn atomic(
        &mut self,
        of: &PtxInstruction<'m>,
        types: &[T],
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
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
        let op = self.emit_ordered(of, op);
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

    fn copy_async(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
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
            let OperandKind::Constant(pending) = pending.kind else { return Err(NotExecuted) };
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
                }),
                false => Mbarrier::ArriveLater,
            };
            let one = self.constant(1, 1);
            let op = self.access(of, MemoryKind::Mbarrier(kind), T::B64, vec![None])?;
            self.emit(Action::Memory(Box::new(op))).a = one;
            // From here on readers wait for the mbarrier, and no check knows which copies arrive at it. The copies count
            // as awaited, so that a read is a race only if nothing orders it after the copying thread.
            return self.control(Action::Copies(CopyGroups::WaitAll));
        }
        let [to, from, bytes, rest @ ..] = of.operands else { return Err(NotExecuted) };
        let (to, from) = (of.address_in(to), of.address_in(from));
        let (to, from) = (to.ok_or(NotExecuted)?, from.ok_or(NotExecuted)?);
        let OperandKind::Constant(bytes) = bytes.kind else { return Err(NotExecuted) };
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
        let (scalar, elements) = (T::B8, vec![None; bytes as usize].into());
        let op =
            MemoryOp { kind, space, base, offset, size: 1, elements, scalar, is_ordered: false };
        self.control(Action::Memory(Box::new(op)))
    }

    /// Whether an operand is a predicate, perhaps inverted.
    fn is_predicate(&self, of: &PtxInstruction<'m>, operand: &Operand) -> bool {
        let name = match operand.kind {
            OperandKind::Inverted(_) => return true,
            OperandKind::Name => operand.span,
            _ => return false,
        };
        let symbol = self.module.find_at(of.scope, name);
        symbol.is_some_and(|symbol| symbol.declaration.scalar == ScalarType::Pred)
    }

    fn mbarrier(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
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
    fn stack(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let is_wide = rows_of(scalar) == 2;
        let (kind, source) = match (of.opcode, of.operands) {
            (Opcode::StackSave, [_]) => (StackKind::Save, NONE),
            (Opcode::StackRestore, [from]) => (StackKind::Restore, self.source(of, from, scalar)?),
            (Opcode::Alloca, [_, size, rest @ ..]) => {
                let alignment = match rest {
                    [] => 8,
                    [Operand { kind: OperandKind::Constant(value), .. }] => {
                        value.integer().ok_or(NotExecuted)?
                    }
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

    fn convert_address(
        &mut self,
        of: &PtxInstruction<'m>,
        types: &[T],
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
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

    fn is_in_space(&mut self, of: &PtxInstruction<'m>) -> Compiled<()> {
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

    fn logic3(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let mut sources = Vec::new();
        for place in 1..4 {
            sources.push(self.operand_source(of, place, T::B32)?);
        }
        let table = of.operands.get(4).ok_or(NotExecuted)?;
        let OperandKind::Constant(table) = table.kind else { return Err(NotExecuted) };
        let table = table.integer().ok_or(NotExecuted)? as u32;
        let join = match (request.has(Keyword::And), request.has(Keyword::Or)) {
            (true, _) => Bitwise::And,
            (_, true) => Bitwise::Or,
            _ => return self.write_first(of, bitwise_by_table(table), &sources),
        };
        if !request.is_read() {
            return Err(NotExecuted);
        }
        // The predicate of `d|p` is `d != 0`, combined with another predicate.
        let joined = self.operand_source(of, 5, T::Pred)?;
        let (d, p) = self.pair(of, T::B32)?;
        self.emit_lanes(bitwise_by_table(table), d, &sources)?;
        if p != NONE {
            let is_set = compare(Comparison::NotEqual, T::U32, false);
            let is_set = self.compute(is_set, &[d, NONE])?;
            self.emit_lanes(bitwise(join, T::Pred), p, &[is_set, joined])?;
        }
        Ok(())
    }

    // Predicates.

    /// The two rows of `%p|%q`. The second is [`NONE`] if the operand is a single name.
    fn pair(&mut self, of: &PtxInstruction<'m>, scalar: T) -> Compiled<(Slot, Slot)> {
        let operand = of.operands.first().ok_or(NotExecuted)?;
        let OperandKind::Pair(range) = operand.kind else {
            return match self.destination(of, operand, scalar)? {
                (slot, None) => Ok((slot, NONE)),
                // The operations with such results write no other width.
                (_, Some(_)) => Err(NotExecuted),
            };
        };
        let [first, second] = of.elements_in(range) else { return Err(NotExecuted) };
        let first = match self.element(of, first)? {
            Some(element) if element.bits == scalar.bits() => element.slot,
            Some(_) => return Err(NotExecuted),
            None => self.new_rows(rows_of(scalar)),
        };
        let second = match self.element(of, second)? {
            Some(element) if element.bits == 1 => element.slot,
            Some(_) => return Err(NotExecuted),
            None => NONE,
        };
        Ok((first, second))
    }

    /// Emits a comparison, combined with a predicate if there is one. The result is the row of the predicate and the
    /// row of its opposite.
    fn compared(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        request: &Request<'_>,
        with_opposite: bool,
    ) -> Compiled<(Slot, Slot)> {
        let sources = [self.operand_source(of, 1, scalar)?, self.operand_source(of, 2, scalar)?];
        self.compared_rows(of, scalar, request, sources, with_opposite)
    }

    /// [`Self::compared`] for sources that are already in rows.
    fn compared_rows(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        request: &Request<'_>,
        sources: [Slot; 2],
        with_opposite: bool,
    ) -> Compiled<(Slot, Slot)> {
        let comparison = request.comparison(scalar).ok_or(NotExecuted)?;
        let flush = matches!(scalar, T::F32 | T::F16) && request.has(Keyword::Ftz);
        let joined = match of.operands.get(3) {
            Some(operand) => Some(self.source(of, operand, T::Pred)?),
            None => None,
        };
        let result = self.compute(compare(comparison, scalar, flush), &sources)?;
        let mut opposite = NONE;
        if with_opposite {
            opposite = self.compute(bitwise(Bitwise::Not, T::Pred), &[result])?;
        }
        if let Some(joined) = joined {
            let words = [
                (Keyword::And, Bitwise::And),
                (Keyword::Or, Bitwise::Or),
                (Keyword::Xor, Bitwise::Xor),
            ];
            let join = request.among(&words).ok_or(NotExecuted)?;
            for slot in [result, opposite].into_iter().filter(|slot| *slot != NONE) {
                self.emit_lanes(bitwise(join, T::Pred), slot, &[slot, joined])?;
            }
        }
        if !request.is_read() {
            return Err(NotExecuted);
        }
        Ok((result, opposite))
    }

    fn set_predicate(
        &mut self,
        of: &PtxInstruction<'m>,
        types: &[T],
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let pair = self.pair(of, T::Pred)?;
        // The second predicate is the opposite of the first one, or belongs to the high half.
        let results = match scalar {
            T::F16x2 | T::Bf16x2 => self.compared_halves(of, scalar, request)?,
            _ => self.compared(of, scalar, request, pair.1 != NONE)?.into(),
        };
        for (result, slot) in results.into_iter().zip([pair.0, pair.1]) {
            if slot != NONE {
                self.emit_lanes(copy(T::Pred), slot, &[result])?;
            }
        }
        Ok(())
    }

    /// The predicates of the low and the high half, each combined with a predicate if there is one.
    fn compared_halves(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        request: &Request<'_>,
    ) -> Compiled<[Slot; 2]> {
        let (a, b) = (self.operand_source(of, 1, T::B32)?, self.operand_source(of, 2, T::B32)?);
        let mut results = [NONE; 2];
        for (result, shift) in results.iter_mut().zip([0, 16]) {
            let half = || extract_bits(T::B32, shift, 16);
            let parts = [self.compute(half(), &[a])?, self.compute(half(), &[b])?];
            *result = self.compared_rows(of, scalar.parts().0, request, parts, false)?.0;
        }
        Ok(results)
    }

    fn set(&mut self, of: &PtxInstruction<'m>, types: &[T], request: &Request<'_>) -> Compiled<()> {
        let (&to, &scalar) = (types.first().ok_or(NotExecuted)?, types.get(1).ok_or(NotExecuted)?);
        if !matches!(scalar, T::F16x2 | T::Bf16x2) {
            let truth = self.constant(truth(to).ok_or(NotExecuted)?, 1);
            let (result, _) = self.compared(of, scalar, request, false)?;
            return self.write_first(of, select(to), &[truth, NONE, result]);
        }
        // A result for each half, in the same half.
        let half = match to {
            T::U32 | T::S32 => T::U16,
            T::F16x2 | T::Bf16x2 => to.parts().0,
            _ => return Err(NotExecuted),
        };
        let truth = self.constant(truth(half).ok_or(NotExecuted)?, 1);
        let mut halves = [NONE; 2];
        for (slot, result) in halves.iter_mut().zip(self.compared_halves(of, scalar, request)?) {
            *slot = self.compute(select(half), &[truth, NONE, result])?;
        }
        self.write_first(of, join(16), &halves)
    }

    // Calls.

    fn call(&mut self, of: &PtxInstruction<'m>) -> Compiled<()> {
        let mut operands = of.operands.iter().peekable();
        let is_list = |operand: &&Operand| matches!(operand.kind, OperandKind::List(_));
        let returns = operands.next_if(is_list);
        let name = operands.next().ok_or(NotExecuted)?;
        let arguments = operands.next_if(is_list);
        let target = self.call_target(of, name.span, operands.next().is_some())?;
        let callee = self.module.function_id_of(self.module.text(name.span));
        let callee = callee.and_then(|id| self.module.functions().get(id.index()));
        let parameters = callee.map_or(0..0, |callee| callee.parameters.clone());
        let results = callee.map_or(0..0, |callee| callee.returns.clone());
        let places = |this: &mut Self, list: Option<&Operand>, declared: Range<usize>| {
            let Some(Operand { kind: OperandKind::List(range), .. }) = list else {
                return Ok(Box::default());
            };
            let mut declared = declared.map(|place| DeclarationId(place as u32));
            let mut places = Vec::new();
            for element in of.elements_in(*range) {
                let declared = declared.next().and_then(|id| this.module.declaration(id));
                places.push(this.argument(of, element, declared)?);
            }
            Ok(Box::<[Passed]>::from(places))
        };
        let arguments = places(self, arguments, parameters)?;
        let returns = places(self, returns, results)?;
        let is_split = self.guard.is_some() || matches!(target, CallTarget::Indirect(_));
        self.emit(Action::Call(Box::new(CallOp { target, arguments, returns })));
        if is_split {
            self.unguarded(|this| this.emit(Action::RejoinCall).d);
        }
        Ok(())
    }

    fn call_target(
        &mut self,
        of: &PtxInstruction<'m>,
        name: Span,
        has_prototype: bool,
    ) -> Compiled<CallTarget> {
        let is_register = self.module.find_at(of.scope, name);
        if let Some(symbol) = is_register.filter(|_| has_prototype) {
            let element = self.register(Register::of(symbol));
            // A register can hold the address of any function, so all of them are decoded.
            let has_all = std::mem::replace(&mut self.calls.has_all, true);
            let all = if has_all { &[][..] } else { self.module.functions() };
            for (place, function) in all.iter().enumerate() {
                count_step();
                let id = FunctionId(place as u32);
                if function.kind == FunctionKind::Func || function.body.is_none() {
                    self.callee(id, function);
                }
            }
            return Ok(CallTarget::Indirect(self.fitted(element, T::B64)?));
        }
        let id = self.module.function_id_of(self.module.text(name)).ok_or(NotExecuted)?;
        let function = self.module.functions().get(id.index()).ok_or(NotExecuted)?;
        Ok(CallTarget::Direct(self.callee(id, function)))
    }

    fn callee(&mut self, id: FunctionId, function: &Function) -> Callee {
        if function.body.is_some() {
            return self.calls.add(id);
        }
        *self.calls.callees.entry(id).or_insert_with(|| {
            let module = self.module;
            let sizes = |places: &Range<usize>| -> Vec<u64> {
                let ids = places.clone().map(|place| DeclarationId(place as u32));
                let declared = ids.filter_map(|id| module.declaration(id));
                let size = declared.map(|declared| match declared.space {
                    StateSpace::Register => declared.element_bytes().unwrap_or(0),
                    _ => variable_bytes(module, declared),
                });
                size.collect()
            };
            let (returns, parameters) = (sizes(&function.returns), sizes(&function.parameters));
            let is_noreturn = function.bounds.is_noreturn;
            let name = module.text(function.name);
            self.code.externals.push(External::of(name, &returns, &parameters, is_noreturn));
            Callee::External(self.code.externals.len() - 1)
        })
    }

    /// The location of an argument or a result. `declared` is the parameter of the callee, if it is known.
    fn argument(
        &mut self,
        of: &PtxInstruction<'m>,
        element: &Written,
        declared: Option<&Declaration>,
    ) -> Compiled<Passed> {
        match element.kind {
            ElementKind::Sink => Ok(Passed::Nothing),
            ElementKind::Constant(value) => {
                // A constant has the type of the parameter.
                let scalar = declared.map(|declared| declared.scalar).ok_or(NotExecuted)?;
                let bits = value.bits(scalar).ok_or(NotExecuted)?;
                let slot = self.constant(bits, 2);
                Ok(Passed::Register { slot, rows: 2 })
            }
            _ => {
                let symbol = self.module.find_at(of.scope, element.span);
                if let Some((offset, bytes)) = symbol.and_then(|symbol| self.locals.get(&symbol.id))
                {
                    return Ok(Passed::Local { offset: *offset, bytes: *bytes });
                }
                let element = self.element(of, element)?.ok_or(NotExecuted)?;
                let bits = declared.and_then(|declared| declared.scalar.bits());
                if bits.is_some_and(|bits| bits != element.bits) || element.bits == 1 {
                    return Err(NotExecuted);
                }
                Ok(Passed::Register { slot: element.slot, rows: element.rows })
            }
        }
    }

    // Lanes of a warp, warps of a block.

    fn exchange(
        &mut self,
        kind: ExchangeKind,
        members: Option<Slot>,
        d: Slot,
        [a, b, c]: [Slot; 3],
        e: Slot,
    ) -> Compiled<()> {
        let op = self.emit(Action::Exchange(ExchangeOp { kind, members }));
        (op.d, op.a, op.b, op.c, op.e) = (d, a, b, c, e);
        Ok(())
    }

    fn shuffle(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let words = [
            (Keyword::Up, Shuffle::Up),
            (Keyword::Down, Shuffle::Down),
            (Keyword::Bfly, Shuffle::Butterfly),
            (Keyword::Idx, Shuffle::Index),
        ];
        let mode = words.iter().find(|(word, _)| request.has(*word)).ok_or(NotExecuted)?.1;
        let mut sources = [NONE; 3];
        for (place, source) in sources.iter_mut().enumerate() {
            *source = self.operand_source(of, place + 1, T::B32)?;
        }
        let members = match of.has(QualifierKind::Sync) {
            true => Some(self.operand_source(of, 4, T::B32)?),
            false => None,
        };
        let (d, e) = self.pair(of, T::B32)?;
        self.exchange(ExchangeKind::Shuffle(mode), members, d, sources, e)
    }

    fn vote(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let words = [
            (Keyword::All, Vote::All),
            (Keyword::Any, Vote::Any),
            (Keyword::Uni, Vote::Uniform),
            (Keyword::Ballot, Vote::Ballot),
        ];
        let vote = words.iter().find(|(word, _)| request.has(*word)).ok_or(NotExecuted)?.1;
        let source = self.operand_source(of, 1, T::Pred)?;
        let members = match of.has(QualifierKind::Sync) {
            true => Some(self.operand_source(of, 2, T::B32)?),
            false => None,
        };
        let result = if vote == Vote::Ballot { T::B32 } else { T::Pred };
        let (d, _) = self.pair(of, result)?;
        self.exchange(ExchangeKind::Vote(vote), members, d, [source, NONE, NONE], NONE)
    }

    fn match_values(
        &mut self,
        of: &PtxInstruction<'m>,
        types: &[T],
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let source = self.operand_source(of, 1, scalar)?;
        let members = self.operand_source(of, 2, T::B32)?;
        let (d, e) = self.pair(of, T::B32)?;
        let is_wide = rows_of(scalar) == 2;
        let kind = ExchangeKind::Match { is_all: request.has(Keyword::All), is_wide };
        self.exchange(kind, Some(members), d, [source, NONE, NONE], e)
    }

    fn reduce(
        &mut self,
        of: &PtxInstruction<'m>,
        types: &[T],
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *types.first().ok_or(NotExecuted)?;
        let operation = atomic_operation(of, request).ok_or(NotExecuted)?;
        let is_extreme = matches!(operation, Atomic::Min | Atomic::Max);
        if scalar.is_float() && !(scalar == T::F32 && is_extreme) {
            return Err(NotExecuted);
        }
        let source = self.operand_source(of, 1, scalar)?;
        let members = self.operand_source(of, 2, T::B32)?;
        let (d, _) = self.pair(of, scalar)?;
        let is_absolute = of.has(QualifierKind::Absolute);
        let keeps_nan = of.has(QualifierKind::Nan);
        let kind = ExchangeKind::Reduce { operation, scalar, is_absolute, keeps_nan };
        let op = self.emit(Action::Exchange(ExchangeOp { kind, members: Some(members) }));
        (op.d, op.a) = (d, source);
        Ok(())
    }

    fn barrier(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let has = |word| request.has(word);
        if has(Keyword::Warp) {
            let members = Some(self.operand_source(of, 0, T::B32)?);
            return self.exchange(ExchangeKind::Sync, members, NONE, [NONE; 3], NONE);
        }
        let is_reduced = has(Keyword::Red);
        let kind = match (is_reduced, has(Keyword::Arrive)) {
            (true, _) if has(Keyword::And) => BarrierKind::And,
            (true, _) if has(Keyword::Or) => BarrierKind::Or,
            (true, _) => BarrierKind::Popc,
            (_, true) => BarrierKind::Arrive,
            _ => BarrierKind::Sync,
        };
        let first = usize::from(is_reduced);
        let id = self.operand_source(of, first, T::B32)?;
        let has_threads = of.operands.len() > first + 1 + usize::from(is_reduced);
        let threads = match has_threads {
            true => Some(self.operand_source(of, first + 1, T::B32)?),
            false => None,
        };
        let (mut d, mut a) = (NONE, NONE);
        if is_reduced {
            a = self.operand_source(of, of.operands.len() - 1, T::Pred)?;
            let result = if kind == BarrierKind::Popc { T::B32 } else { T::Pred };
            d = self.pair(of, result)?.0;
        }
        let is_aligned = of.opcode == Opcode::Bar || of.has(QualifierKind::Aligned);
        let op = self.emit(Action::Barrier(BarrierOp { kind, id, threads, is_aligned }));
        (op.d, op.a) = (d, a);
        Ok(())
    }
}

/// Whether the instruction only groups, orders or waits for others that are not executed. It has no results, so there is
/// nothing to make unknown: the results of the others already are.
fn waits_for_skipped(request: &Request<'_>) -> bool {
    use Keyword as K;
    let words: &[Keyword] = match request.opcode {
        Opcode::Cp if request.has(K::Bulk) => &[K::CommitGroup, K::WaitGroup, K::Prefetch],
        Opcode::Wgmma => &[K::Fence, K::CommitGroup, K::WaitGroup],
        Opcode::Tcgen05 => &[
            K::WaitLd,
            K::WaitSt,
            K::FenceBeforeThreadSync,
            K::FenceAfterThreadSync,
            K::Dealloc,
            K::RelinquishAllocPermit,
        ],
        _ => return false,
    };
    words.iter().any(|word| request.has(*word))
}

/// The initial rows of a register with a value from the caller.
fn preset(slot: Slot, element: Element, values: &[u128; LANES]) -> Preset {
    if element.bits == 1 {
        let is_set = |lane: &usize| values[*lane] != 0;
        let lanes = (0..LANES).filter(is_set).fold(0, |lanes, lane| lanes | 1 << lane);
        return Preset::Constant(slot, lanes, 1);
    }
    Preset::Lanes(slot, element.rows, Box::new(*values))
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

/// Adds whole registers of the rows of a type.
fn add(scalar: T) -> Option<LaneOperation> {
    integer(IntegerOp::Add, if rows_of(scalar) == 2 { T::U64 } else { T::U32 })
}

/// The number of rows of a value.
pub(super) fn rows_of(scalar: T) -> u32 {
    scalar.bits().div_ceil(32)
}

fn atomic_operation(of: &PtxInstruction<'_>, request: &Request<'_>) -> Option<Atomic> {
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
    let found = words.iter().find(|(word, _)| request.has(*word)).map(|found| found.1);
    found.or_else(|| {
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

/// The value of a special register other than a clock.
enum SpecialValue {
    Row(Special),
    /// The same value in every launch, and its width in bits.
    Constant(u64, u32),
    /// A value that the driver or the hardware chooses, and its width in bits.
    Unknown(u32),
}

/// The value of the special register with this name; `None` if there is none. [PTX ISA, "Special Registers"]
fn special(text: &str) -> Option<SpecialValue> {
    let (name, axis) = text.split_once('.').unwrap_or((text, ""));
    let known = special_register(name)?;
    let axis = match (known.is_vector, axis) {
        (true, "x" | "r") => 0,
        (true, "y" | "g") => 1,
        (true, "z" | "b") => 2,
        // "The fourth element is unused and always returns zero."
        (true, "w" | "a") => return Some(SpecialValue::Constant(0, 32)),
        // In PTX 1.x, these registers have 16 bits and no component.
        (_, "") => 0,
        _ => return None,
    };
    let mask = |below, here, above| Special::LaneMask { below, here, above };
    Some(SpecialValue::Row(match name {
        "%tid" => Special::Thread(axis),
        "%ntid" => Special::Threads(axis),
        "%ctaid" => Special::Block(axis),
        "%nctaid" => Special::Blocks(axis),
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::Warps,
        "%lanemask_lt" => mask(true, false, false),
        "%lanemask_le" => mask(true, true, false),
        "%lanemask_eq" => mask(false, true, false),
        "%lanemask_ge" => mask(false, true, true),
        "%lanemask_gt" => mask(false, false, true),
        "%dynamic_smem_size" => Special::DynamicShared,
        "%total_smem_size" => Special::TotalShared,
        "%aggr_smem_size" => Special::AllShared,
        "%smid" => return constant(0, 32),
        "%nsmid" => return constant(1, 32),
        "%gridid" => return constant(0, 64),
        // The launch is refused if it has clusters, or asks for the place in one; and none is part of a graph.
        "%is_explicit_cluster" => return constant(0, 1),
        "%current_graph_exec" => return constant(0, 64),
        // ptxas makes these constants. The other two are the driver's.
        "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" => return constant(0, 32),
        "%reserved_smem_offset_cap" => return constant(RESERVED_SHARED, 32),
        name if name.starts_with("%cluster") || name.starts_with("%ncluster") => return None,
        _ => return Some(SpecialValue::Unknown(known.scalar.bits()?)),
    }))
}

fn constant(value: u64, bits: u32) -> Option<SpecialValue> {
    Some(SpecialValue::Constant(value, bits))
}

/// The shared variables of a kernel: the kernel or a function that it may call names or declares them.
pub(super) fn shared_by(module: &Module<'_>, kernel: FunctionId) -> HashSet<DeclarationId> {
    let is_shared = |declared: &Declaration| declared.space == StateSpace::Shared;
    let mut used = HashSet::new();
    if !module.declarations().iter().any(is_shared) {
        return used;
    }
    let mut calls = Calls::new(module, kernel);
    let mut done = 0;
    while let Some(function) =
        calls.order.get(done).and_then(|id| module.functions().get(id.index()))
    {
        done += 1;
        for instruction in module.instructions(function) {
            for name in instruction.names() {
                match module.find_at(instruction.scope, name) {
                    Some(symbol) if is_shared(symbol.declaration) => {
                        used.insert(symbol.id);
                    }
                    Some(_) => {}
                    None => {
                        if let Some(id) = module.function_id_of(module.text(name)) {
                            calls.add(id);
                        }
                    }
                }
            }
            let is_list = |operand: &&Operand| matches!(operand.kind, OperandKind::List(_));
            let callee = instruction.operands.iter().find(|operand| !is_list(operand));
            let callee = callee.filter(|_| instruction.opcode == Opcode::Call && !calls.has_all);
            if callee.is_some_and(|of| module.find_at(instruction.scope, of.span).is_some()) {
                // A call through a register may reach any function.
                calls.has_all = true;
                for (place, other) in module.functions().iter().enumerate() {
                    if other.kind == FunctionKind::Func && other.body.is_some() {
                        calls.add(FunctionId(place as u32));
                    }
                }
            }
        }
    }
    let functions: HashSet<FunctionId> = calls.order.into_iter().collect();
    let declared_inside = module.declarations_with_ids().filter(|(_, declared)| {
        let function = module.function_id(declared.scope);
        is_shared(declared) && function.is_some_and(|function| functions.contains(&function))
    });
    used.extend(declared_inside.map(|(id, _)| id));
    used
}

/// The shared variables with a fixed size whose addresses are initial values of other variables. Every kernel has them, at
/// the same place.
pub(super) fn named_by_initial_values(module: &Module<'_>) -> HashSet<DeclarationId> {
    let mut named = HashSet::new();
    let is_shared = |declared: &Declaration| {
        declared.space == StateSpace::Shared && declared.array != Array::Unknown
    };
    let with_values = module.declarations().iter().filter(|known| known.initial.is_some());
    for value in with_values.filter_map(|known| module.initial_value(known)?.ok()) {
        for placed in value.values {
            let Initializer::Address { name, .. } = placed.value else { continue };
            let symbol = module.find_at(ScopeId::MODULE, name);
            named.extend(symbol.filter(|of| is_shared(of.declaration)).map(|symbol| symbol.id));
        }
    }
    named
}

/// The variables of the module and its functions that all threads of a block or of the grid share.
pub(super) fn shared_variables<'d>(
    module: &'d Module<'_>,
) -> impl Iterator<Item = (DeclarationId, &'d Declaration)> {
    module.declarations_with_ids().filter(|(_, declared)| {
        matches!(declared.space, StateSpace::Global | StateSpace::Const | StateSpace::Shared)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{read, steps};

    /// The code of the kernel `k`, and the steps of making it.
    fn compiled(source: &str) -> (Code, u64) {
        let module = read(source).expect("a module");
        let around = Surroundings {
            variables: HashMap::new(),
            windows: Windows::default(),
            overrides: HashMap::new(),
            is_of_loads: false,
        };
        let before = steps();
        let code = compile(&module, module.function_id_of("k").expect("a kernel"), &around);
        (code.code, steps() - before)
    }

    fn text(functions: &str, body: &str) -> String {
        format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n{functions}\n.entry k() {{ .reg .b64 a; .reg .b32 r; {body} ret; }}"
        )
    }

    /// A text by its size.
    type Text = fn(usize) -> String;

    /// Texts whose functions, calls or lists cost more than their length if each looks at all others.
    #[test]
    fn the_work_and_the_code_grow_with_the_text() {
        let texts: [(&str, Text); 5] = [
            ("calls by address", |n| {
                let functions: String =
                    (0..n).map(|i| format!(".func f{i}() {{ ret; }}\n")).collect();
                text(
                    &functions,
                    &("mov.u64 a, f0; P: .callprototype _ ();".to_owned()
                        + &"call a, P;\n".repeat(n)),
                )
            }),
            ("functions with variables", |n| {
                let function =
                    |i: usize| format!(".func f{i}() {{ .local .b32 x; .local .b32 y; ret; }}\n");
                let functions: String = (0..n).map(function).collect();
                text(&functions, "mov.u64 a, f0; P: .callprototype _ (); call a, P;")
            }),
            ("a list for many branches", |n| {
                let list = vec!["L"; n].join(",");
                text(
                    "",
                    &format!(
                        "mov.b32 r, 0; T: .branchtargets {list}; {} L:",
                        "brx.idx r, T;\n".repeat(n)
                    ),
                )
            }),
            ("a list of many blocks", |n| {
                let list: String = (0..n).map(|i| format!("L{i},")).collect();
                let blocks: String = (0..n).map(|i| format!("L{i}: brx.idx r, T;\n")).collect();
                text("", &format!("mov.b32 r, 0; T: .branchtargets {list}L0; {blocks}"))
            }),
            ("parameters of calls", |n| {
                let body = "{ .param .b32 x; st.param.b32 [x], r; call f, (x); }\n".repeat(n);
                text(".func f(.param .b32 p) { ret; }", &format!("mov.b32 r, 0; {body}"))
            }),
        ];
        for (name, text) in texts {
            let [small, large] = [500, 2000].map(|count| {
                let text = text(count);
                let (code, steps) = compiled(&text);
                let targets: usize = code.tables.iter().map(|table| table.len()).sum();
                (text.len() as u64, steps, (code.ops.len() + targets) as u64)
            });
            let work = (large.1 * small.0) as f64 / (small.1 * large.0) as f64;
            assert!(work < 1.3, "{name}: {small:?}, {large:?}");
            assert!(large.2 < large.0, "{name}: {large:?}");
        }
    }
}
