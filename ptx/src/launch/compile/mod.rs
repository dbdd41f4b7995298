//! [`compile`]: decodes a kernel and all functions that it calls into [`Code`].

mod calls;
mod exchange;
mod lanes;
mod memory;
mod operands;
mod parts;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use self::exchange::waits_for_skipped;
use super::RegisterLanes;
use super::cluster::needs_cluster;
use super::effects;
use super::lane_rules::{Request, conversions, video};
use crate::meaning::Register;
use crate::module::count_step;
use crate::module::{
    Array, Declaration, DeclarationId, Function, FunctionId, FunctionKind, Initializer, Module,
    Role, ScopeId, StatementId, StatementKind, VariableLayout, variable_bytes,
};
use crate::syntax::load::{Keyword, Opcode, PtxInstruction, QualifierKind};
use crate::syntax::{Span, StateSpace};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::AddressMap;
use warpload_machine::code::{
    Action, AddressSpace, Callee, Code, Effects, Element, ExchangeKind, FIRST_ROW, FunctionCode,
    JoinScope, MAX_LOCAL, NO_SCOPE, NONE, Op, Passed, Pc, Preset, Slot, Special,
};
use warpload_machine::lanes::LaneOperation;
use warpload_machine::lanes::integers::{IntegerOp, integer};
use warpload_machine::lanes::moves::{copy, select, select_by_sign};
use warpload_machine::{MAX_ALIGNMENT, ScalarType as T, Site};

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
        layout: &VariableLayout<'_>,
        registers: Vec<RegisterLanes>,
    ) -> Self {
        let variables = module.declarations_with_ids().filter_map(|(id, declared)| {
            Some((id, (declared.space.addresses()?, layout.address(id)?)))
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
        let bits = declared.and_then(|known| known.scalar.register_bits()).unwrap_or(32);
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
            _ if of.operands.len() > most_operands(of) => Err(NotExecuted),
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
        for register in self.module.written_registers(of) {
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
        if !self.module.written_registers(of).iter().any(is_guard) {
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
        let mut results = self.module.written_registers(of).into_iter().peekable();
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
        for register in self.module.written_registers(of) {
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

    // Instructions.

    fn plain(&mut self, of: &PtxInstruction<'m>) -> Compiled<()> {
        let types: Vec<T> = of.types().collect();
        let request = Request::new(&types, of);
        match of.opcode {
            Opcode::Mov => self.move_value(of, &types),
            Opcode::Ld | Opcode::Ldu => self.load(of, &types),
            Opcode::St => self.store(of, &types),
            Opcode::Atom | Opcode::Red => self.atomic(of, &request),
            Opcode::Setp => self.set_predicate(of, &request),
            Opcode::Set => self.set(of, &request),
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
            Opcode::Cvta => self.convert_address(of, &request),
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
            Opcode::Match => self.match_values(of, &request),
            Opcode::Redux => self.reduce(of, &request),
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
            Opcode::Fence | Opcode::Membar => self.control(memory::fence(of, &request)),
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

/// The most operands that an instruction may have. One with more is not executed, because the others would be ignored.
/// Instructions without a row here count their own operands.
fn most_operands(of: &PtxInstruction<'_>) -> usize {
    use Opcode as O;
    let has = |kind| usize::from(of.has(kind));
    let most = match of.opcode {
        O::Brkpt | O::Exit | O::GridDepControl | O::Membar | O::Ret | O::Trap => 0,
        O::Activemask | O::Bra | O::Nanosleep | O::PmEvent | O::Prefetch | O::Prefetchu => 1,
        O::SetMaxNReg | O::StackRestore | O::StackSave => 1,
        O::ApplyPriority | O::Brx | O::Cvta | O::Discard | O::Elect | O::Fence => 2,
        O::Isspacep | O::Ld | O::LdMatrix | O::Ldu | O::MovMatrix | O::Red => 2,
        O::St | O::StMatrix => 2,
        O::Alloca | O::Match | O::Redux => 3,
        O::Atom => 3 + has(QualifierKind::Keyword(Keyword::Cas)),
        O::Bar | O::Barrier => 2 + 2 * has(QualifierKind::Keyword(Keyword::Red)),
        O::Vote => 2 + has(QualifierKind::Sync),
        O::CreatePolicy | O::Mbarrier | O::Selp | O::Slct => 4,
        O::Shfl => 4 + has(QualifierKind::Sync),
        _ => return usize::MAX,
    };
    most + has(QualifierKind::CacheHint)
}

/// Adds whole registers of the rows of a type.
fn add(scalar: T) -> Option<LaneOperation> {
    integer(IntegerOp::Add, if rows_of(scalar) == 2 { T::U64 } else { T::U32 })
}

/// The number of rows of a value.
pub(super) fn rows_of(scalar: T) -> u32 {
    scalar.bits().div_ceil(32)
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
            let is_call = instruction.opcode == Opcode::Call && !calls.has_all;
            let callee = instruction.call().callee.filter(|_| is_call);
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

/// The shared variables that only other functions use. Each kernel has its own, so they take no room in this one.
pub(crate) fn shared_elsewhere(
    module: &Module<'_>,
    function: FunctionId,
) -> HashSet<DeclarationId> {
    let own = shared_by(module, function);
    let all = module.functions().iter().flat_map(|function| module.instructions(function));
    let names = all.flat_map(|of| of.names().map(move |name| (of.scope, name)));
    let others = names.filter_map(|(scope, name)| module.find_at(scope, name));
    let others = others.filter(|of| of.declaration.space == StateSpace::Shared);
    others.map(|of| of.id).filter(|id| !own.contains(id)).collect()
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
