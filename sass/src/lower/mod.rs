//! From instructions to operations of the machine.
//!
//! A register is a row; operands in constant banks are rows with a value before the first instruction. An instruction
//! becomes one operation or several, of which the last one counts. What is not executed makes its results unknown.

mod control;
mod convert;
mod floats;
mod halves;
mod integers;
mod memory;
mod moves;
mod schedule;
mod video;

use std::collections::{BTreeMap, HashMap};

use warpload::lane::{LaneMask, LaneValues};
use warpload_encoding::{Control, Pred, Reg, Spa5Instruction, Spa5Operand, Spa5Value};
use warpload_machine::code::{
    Action, BankValue, Code, Effects, FIRST_ROW, FunctionCode, NO_SCOPE, NONE, Op, Pc, Preset,
    Slot, Special,
};
use warpload_machine::lanes::LaneOperation;
use warpload_machine::lanes::floats::change_sign;
use warpload_machine::lanes::integers::{Bitwise, IntegerOp, bitwise, integer};
use warpload_machine::lanes::moves::{copy, extract_bits, join};
use warpload_machine::{External, ScalarType as T, Site};

use crate::program::{SassKernel, SassProgram};

/// The granularity of shared memory.
const SHARED_UNIT: u64 = 256;

/// The predicates of a thread, without the constant one.
const PREDICATES: u32 = 7;

/// The rows for values inside of an instruction. Every instruction may use all of them.
const TEMPORARIES: u32 = 24;

/// The code of a kernel for the machine.
#[derive(Debug)]
pub struct Lowered {
    /// The operations.
    pub code: Code,
    /// The addresses of the instructions, by the numbers of their sites.
    pub addresses: Vec<u64>,
    /// The row of the first predicate, which follow the registers.
    pub(crate) predicates: Slot,
}

impl Lowered {
    /// Gives registers and predicates values before the first instruction.
    pub(crate) fn preset(
        &mut self,
        registers: &[(Reg, LaneValues)],
        predicates: &[(Pred, LaneMask)],
    ) {
        let Some(function) = self.code.functions.first_mut() else { return };
        for (register, values) in registers.iter().filter(|(register, _)| *register != Reg::RZ) {
            let slot = FIRST_ROW + u32::from(register.number());
            if slot < self.predicates {
                let values = Box::new(values.map(u128::from));
                function.presets.push(Preset::Lanes(slot, 1, values));
            }
        }
        for (predicate, lanes) in predicates.iter().filter(|(predicate, _)| predicate.number() < 7)
        {
            let slot = self.predicates + u32::from(predicate.number());
            function.presets.push(Preset::Constant(slot, lanes.bits().into(), 1));
        }
    }
}

/// An instruction that the machine does not execute.
struct NotExecuted;

type Lowering<T = ()> = Result<T, NotExecuted>;

/// A value that a row has before the first instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Initial {
    /// A number, and the rows that it takes.
    Number(u64, u32),
    /// A value in a bank, and its bytes.
    Bank(u8, u64, u32),
    Special(Special),
    /// A predicate that is true in all lanes.
    True,
}

/// Lowers a kernel and the functions that it may call; with the schedules of all instructions if a launch checks them.
#[must_use]
pub fn lower(program: &SassProgram, kernel: &SassKernel, has_schedules: bool) -> Lowered {
    let addresses: Vec<u64> = program
        .addresses_of(kernel)
        .filter(|address| !address.is_multiple_of(crate::program::GROUP))
        .collect();
    let mut lowerer = Lowerer::new(kernel.registers);
    for (site, address) in addresses.iter().enumerate() {
        lowerer.begin(Site(site as u32), *address);
        match program.instruction(*address) {
            Some(instruction) => {
                let control = has_schedules.then(|| program.control(*address));
                lowerer.instruction(&instruction, control.flatten());
            }
            None => lowerer.not_executed(None),
        }
    }
    for (address, name) in &program.externals {
        lowerer.external(*address, name);
    }
    let mut lowered = lowerer.finish(kernel, addresses);
    if has_schedules {
        lowered.code.row_names = schedule::row_names();
    }
    lowered
}

/// The operations of the code so far.
struct Lowerer {
    ops: Vec<Op>,
    site: Site,
    /// The address of the instruction.
    address: u64,
    /// The first operation of each instruction.
    starts: BTreeMap<u64, Pc>,
    /// The operations that jump, each with the address that it jumps to.
    jumps: Vec<(usize, u64)>,
    /// The operations that jump to an address in a register.
    tables: bool,
    presets: HashMap<Initial, Slot>,
    list: Vec<Preset>,
    guard: Option<(Slot, bool)>,
    /// The rows of the registers.
    registers: u32,
    /// The number of temporary rows that the instruction has used.
    used: u32,
    /// The first operation of the instruction.
    first: usize,
    rows: Slot,
    externals: Vec<External>,
}

impl Lowerer {
    fn new(registers: u32) -> Self {
        let mut lowerer = Self {
            ops: Vec::new(),
            site: Site(0),
            address: 0,
            starts: BTreeMap::new(),
            jumps: Vec::new(),
            tables: false,
            presets: HashMap::new(),
            list: Vec::new(),
            guard: None,
            // An operand of 128 bits may reach beyond the last register.
            registers: registers.clamp(4, 255) + 4,
            used: 0,
            first: 0,
            rows: 0,
            externals: Vec::new(),
        };
        lowerer.rows = lowerer.sink() + 4;
        lowerer
    }

    // Rows.

    fn row(&self, register: u8) -> Slot {
        FIRST_ROW + u32::from(register).min(self.registers - 1)
    }

    fn predicate_row(&self, number: u8) -> Slot {
        FIRST_ROW + self.registers + u32::from(number)
    }

    /// The flags of `.CC`.
    fn flags(&self) -> Slot {
        FIRST_ROW + self.registers + PREDICATES
    }

    /// The lane's result of a reduction by a barrier, and its predicate.
    fn barrier_rows(&self) -> (Slot, Slot) {
        (self.flags() + 1, self.flags() + 2)
    }

    fn temporaries(&self) -> Slot {
        self.flags() + 3
    }

    /// Takes what is written to `RZ` and `PT`.
    fn sink(&self) -> Slot {
        self.temporaries() + TEMPORARIES
    }

    /// Rows for values of the instruction alone.
    fn temporary(&mut self, rows: u32) -> Slot {
        let slot = self.temporaries() + self.used.min(TEMPORARIES - rows);
        self.used += rows;
        slot
    }

    fn initial(&mut self, value: Initial) -> Slot {
        if value == Initial::Number(0, 1) || value == Initial::Number(0, 2) {
            return NONE;
        }
        if let Some(slot) = self.presets.get(&value) {
            return *slot;
        }
        let slot = self.rows;
        let (rows, preset) = match value {
            Initial::Number(number, rows) => (rows, Preset::Constant(slot, number, rows)),
            Initial::Bank(bank, offset, bytes) => {
                let scalar = if bytes > 4 { T::B64 } else { T::B32 };
                let of = BankValue { bank, offset, scalar, bits: scalar.bits() };
                (bytes.div_ceil(4), Preset::Bank(slot, of))
            }
            Initial::Special(special) => (1, Preset::Special(slot, special)),
            Initial::True => (1, Preset::Constant(slot, u32::MAX.into(), 1)),
        };
        self.rows += rows;
        self.presets.insert(value, slot);
        self.list.push(preset);
        slot
    }

    fn number(&mut self, value: u32) -> Slot {
        self.initial(Initial::Number(value.into(), 1))
    }

    fn always(&mut self) -> Slot {
        self.initial(Initial::True)
    }

    // Operations.

    fn begin(&mut self, site: Site, address: u64) {
        (self.site, self.address) = (site, address);
        self.starts.insert(address, self.ops.len() as Pc);
        (self.used, self.guard, self.first) = (0, None, self.ops.len());
    }

    fn push(&mut self, action: Action) -> &mut Op {
        let op = Op { guard: self.guard, counts: false, ..Op::new(action, self.site) };
        let at = self.ops.len();
        self.ops.push(op);
        &mut self.ops[at]
    }

    fn lanes(&mut self, operation: Option<LaneOperation>, d: Slot, sources: &[Slot]) -> Lowering {
        let operation = operation.ok_or(NotExecuted)?;
        let op = Op::lanes(operation, self.site, d, sources);
        self.ops.push(Op { guard: self.guard, counts: false, ..op });
        Ok(())
    }

    /// The result of an operation in a temporary row, or in two for 64 bits.
    fn temporary_of(
        &mut self,
        operation: Option<LaneOperation>,
        sources: &[Slot],
    ) -> Lowering<Slot> {
        let rows = operation.as_ref().map_or(1, |of| of.result.bits().div_ceil(32).max(1));
        let d = self.temporary(rows);
        self.lanes(operation, d, sources)?;
        Ok(d)
    }

    fn instruction(&mut self, instruction: &Spa5Instruction, control: Option<Control>) {
        let guard = instruction.guard();
        let number = guard.pred.number();
        self.guard = match number {
            7 if !guard.negated => None,
            7 => Some((self.always(), true)),
            number => Some((self.predicate_row(number), guard.negated)),
        };
        let operands: Vec<Spa5Operand> = instruction.operands_at(self.address).collect();
        let of = Instruction { of: instruction, operands: &operands };
        if let Some(control) = control {
            self.schedule(&of, control);
        }
        let first = self.ops.len();
        if self.dispatch(&of).is_err() {
            self.ops.truncate(first);
            self.not_executed(Some(&of));
        }
        self.keep_guard(first, number);
        if self.ops.len() == first {
            self.push(Action::Nop);
        }
        if let Some(last) = self.ops.last_mut() {
            last.counts = true;
        }
    }

    /// An instruction that writes the predicate of its guard before its last operation keeps a copy of it.
    fn keep_guard(&mut self, first: usize, number: u8) {
        if self.guard.is_none() || number > 6 {
            return;
        }
        let slot = self.predicate_row(number);
        let count = self.ops.len();
        let is_lost =
            self.ops[first..count.max(first + 1) - 1].iter().any(|op| op.d == slot || op.e == slot);
        if !is_lost {
            return;
        }
        let kept = self.temporary(1);
        if let Some(operation) = copy(T::Pred) {
            let op = Op::lanes(operation, self.site, kept, &[slot]);
            self.ops.insert(first, Op { counts: false, ..op });
        }
        for op in &mut self.ops[first + 1..] {
            if let Some((guard, _)) = &mut op.guard {
                *guard = kept;
            }
        }
        for (at, _) in &mut self.jumps {
            *at += usize::from(*at >= first);
        }
    }

    /// Makes unknown what an instruction writes. A word that is no instruction writes nothing.
    fn not_executed(&mut self, of: Option<&Instruction<'_>>) {
        let mut slots = Vec::new();
        let mut effects = Effects::default();
        if let Some(of) = of {
            slots.extend(self.written_rows(of));
            effects.writes_global =
                matches!(of.name(), "SUST" | "SURED" | "SUATOM" | "ST" | "STG" | "RED" | "ATOM");
        }
        effects.slots = slots.into();
        self.push(Action::NotExecuted(Box::new(effects))).counts = true;
    }

    /// The rows that the destinations of an instruction may be.
    fn written_rows(&self, of: &Instruction<'_>) -> Vec<Slot> {
        // Textures return up to four registers; most others one or two.
        let rows = if of.name().starts_with('T') || of.name().starts_with("SU") { 4 } else { 2 };
        let mut slots = vec![];
        for operand in of.operands.iter().take(2) {
            match operand.value {
                Spa5Value::Register(register) if register != Reg::RZ => {
                    let first = self.row(register.number());
                    slots.extend(
                        (first..first + rows).take_while(|slot| *slot < self.predicate_row(0)),
                    );
                    break;
                }
                Spa5Value::Predicate(predicate) if predicate.number() < 7 => {
                    slots.push(self.predicate_row(predicate.number()));
                }
                _ => {}
            }
        }
        slots
    }

    /// A function of the driver: called with its parameters in registers from R4 on, and it returns.
    fn external(&mut self, address: u64, name: &str) {
        self.starts.insert(address, self.ops.len() as Pc);
        self.guard = None;
        self.used = 0;
        let (external, call) = self.driver_call(name);
        self.externals.extend(external);
        for action in call {
            self.push(action);
        }
        if let Some(last) = self.ops.last_mut() {
            last.counts = true;
        }
    }

    fn finish(mut self, kernel: &SassKernel, addresses: Vec<u64>) -> Lowered {
        let predicates = self.predicate_row(0);
        // A jump to a control word goes on behind it. One to no instruction ends the lanes with a fault.
        let end = self.ops.len() as Pc;
        self.guard = None;
        self.push(Action::Trap).counts = true;
        let place = |address: u64| {
            let is_control = address.is_multiple_of(crate::program::GROUP)
                && !self.starts.contains_key(&address);
            let address = if is_control { address + crate::program::WORD } else { address };
            self.starts.get(&address).copied().unwrap_or(end)
        };
        let targets: Vec<(usize, Pc)> =
            self.jumps.iter().map(|(at, address)| (*at, place(*address))).collect();
        let mut code = Code {
            has_scopes: true,
            shared_bytes: kernel.shared,
            shared_unit: SHARED_UNIT,
            ..Code::default()
        };
        if self.tables {
            let last = self.starts.keys().next_back().copied().unwrap_or(0);
            let words = if last < 1 << 28 { last / 8 + 1 } else { self.last_code() / 8 + 1 };
            code.tables = vec![(0..words).map(|word| place(word * 8)).collect()];
        }
        for (at, target) in targets {
            match &mut self.ops[at].action {
                Action::Branch(to) | Action::Push(_, to) | Action::Enter(to) => *to = target,
                _ => {}
            }
        }
        code.inside = vec![NO_SCOPE; self.ops.len()];
        code.ops = self.ops;
        code.externals = self.externals;
        code.functions = vec![FunctionCode {
            entry: self.starts.get(&(kernel.entry + crate::program::WORD)).copied().unwrap_or(end),
            rows: self.rows as usize,
            presets: self.list,
            local_bytes: kernel.local,
            locals: vec![(0, kernel.local)],
            ..FunctionCode::default()
        }];
        Lowered { code, addresses, predicates }
    }

    /// The last address of the program's own code.
    fn last_code(&self) -> u64 {
        self.starts.keys().rev().find(|address| **address < 1 << 28).copied().unwrap_or(0)
    }

    // Operands.

    /// A word: a register, a constant, or a number, with its marks for integers.
    fn word(&mut self, operand: &Spa5Operand) -> Lowering<Slot> {
        let slot = self.plain_word(operand)?;
        let is_folded = matches!(operand.value, Spa5Value::Number(_));
        if is_folded {
            return Ok(slot);
        }
        let slot = match operand.is_negated {
            true => self.temporary_of(integer(IntegerOp::Neg, T::S32), &[slot])?,
            false => slot,
        };
        self.inverted(operand, slot)
    }

    fn inverted(&mut self, operand: &Spa5Operand, slot: Slot) -> Lowering<Slot> {
        match operand.is_inverted {
            true => self.temporary_of(bitwise(Bitwise::Not, T::B32), &[slot]),
            false => Ok(slot),
        }
    }

    /// A word without its marks; those of numbers are folded.
    fn plain_word(&mut self, operand: &Spa5Operand) -> Lowering<Slot> {
        Ok(match operand.value {
            Spa5Value::Register(Reg::RZ) => NONE,
            Spa5Value::Register(register) => self.row(register.number()),
            Spa5Value::Constant { bank, base: Reg::RZ, offset } => {
                self.initial(Initial::Bank(bank, offset as u32 as u64, 4))
            }
            Spa5Value::Number(number) => {
                let number = number as u32;
                let number = if operand.is_negated { number.wrapping_neg() } else { number };
                self.number(if operand.is_inverted { !number } else { number })
            }
            Spa5Value::Single(bits) => self.number(bits),
            Spa5Value::Half(bits) => self.number(bits.into()),
            _ => return Err(NotExecuted),
        })
    }

    /// A pair of registers, or a constant or a number of 64 bits.
    fn plain_pair(&mut self, operand: &Spa5Operand) -> Lowering<Slot> {
        Ok(match operand.value {
            Spa5Value::Register(Reg::RZ) => NONE,
            Spa5Value::Register(register) => self.pair_of(register)?,
            Spa5Value::Constant { bank, base: Reg::RZ, offset } => {
                self.initial(Initial::Bank(bank, offset as u32 as u64, 8))
            }
            Spa5Value::Double(bits) => self.initial(Initial::Number(bits, 2)),
            Spa5Value::Number(number) => self.initial(Initial::Number(number, 2)),
            _ => return Err(NotExecuted),
        })
    }

    /// Two registers joined.
    fn pair_of(&mut self, register: Reg) -> Lowering<Slot> {
        if register == Reg::RZ {
            return Ok(NONE);
        }
        let low = self.row(register.number());
        let high = if register.number() >= 254 { NONE } else { self.row(register.number() + 1) };
        self.temporary_of(join(32), &[low, high])
    }

    /// Writes a value of 64 bits to a pair of registers.
    fn put_pair(&mut self, operand: &Spa5Operand, slot: Slot) -> Lowering {
        let Spa5Value::Register(register) = operand.value else { return Err(NotExecuted) };
        if register == Reg::RZ {
            return Ok(());
        }
        let first = self.row(register.number());
        self.lanes(extract_bits(T::B64, 0, 32), first, &[slot])?;
        if register.number() < 254 {
            self.lanes(extract_bits(T::B64, 32, 32), first + 1, &[slot])?;
        }
        Ok(())
    }

    /// A float of 16, 32 or 64 bits with its marks.
    fn float_source(&mut self, operand: &Spa5Operand, scalar: T) -> Lowering<Slot> {
        let slot =
            if scalar == T::F64 { self.plain_pair(operand)? } else { self.plain_word(operand)? };
        self.signed(operand, slot, scalar)
    }

    /// Applies the marks of a float.
    fn signed(&mut self, operand: &Spa5Operand, slot: Slot, scalar: T) -> Lowering<Slot> {
        let mut slot = slot;
        if operand.is_absolute {
            slot = self.sign_changed(slot, scalar, true)?;
        }
        if operand.is_negated {
            slot = self.sign_changed(slot, scalar, false)?;
        }
        Ok(slot)
    }

    fn sign_changed(&mut self, slot: Slot, scalar: T, is_abs: bool) -> Lowering<Slot> {
        // A word may hold bits that are no float, so that only the sign bit changes.
        match scalar {
            T::F32 => {
                let (mask, of) =
                    if is_abs { (i32::MAX as u32, Bitwise::And) } else { (1 << 31, Bitwise::Xor) };
                let mask = self.number(mask);
                self.temporary_of(bitwise(of, T::B32), &[slot, mask])
            }
            T::F16x2 => {
                let (mask, of) =
                    if is_abs { (0x7fff_7fff, Bitwise::And) } else { (0x8000_8000, Bitwise::Xor) };
                let mask = self.number(mask);
                self.temporary_of(bitwise(of, T::B32), &[slot, mask])
            }
            _ => self.temporary_of(change_sign(scalar, is_abs, false), &[slot]),
        }
    }

    /// A predicate, with its inversion.
    fn predicate(&mut self, operand: &Spa5Operand) -> Lowering<Slot> {
        let Spa5Value::Predicate(predicate) = operand.value else { return Err(NotExecuted) };
        let slot = match (predicate.number(), operand.is_inverted) {
            (7, false) => self.always(),
            (7, true) => return Ok(NONE),
            (number, _) => self.predicate_row(number),
        };
        match operand.is_inverted {
            true => self.temporary_of(bitwise(Bitwise::Not, T::Pred), &[slot]),
            false => Ok(slot),
        }
    }

    /// The row of a destination register.
    fn destination(&self, operand: &Spa5Operand) -> Lowering<Slot> {
        match operand.value {
            Spa5Value::Register(Reg::RZ) => Ok(self.sink()),
            Spa5Value::Register(register) => Ok(self.row(register.number())),
            _ => Err(NotExecuted),
        }
    }

    /// The row of a destination predicate.
    fn destination_predicate(&self, operand: &Spa5Operand) -> Lowering<Slot> {
        match operand.value {
            Spa5Value::Predicate(predicate) if predicate.number() < 7 => {
                Ok(self.predicate_row(predicate.number()))
            }
            Spa5Value::Predicate(_) => Ok(self.sink()),
            _ => Err(NotExecuted),
        }
    }

    /// Writes a result, and the flags of it if the destination asks for them.
    fn put(
        &mut self,
        operation: Option<LaneOperation>,
        d: &Spa5Operand,
        sources: &[Slot],
    ) -> Lowering {
        let slot = self.destination(d)?;
        self.lanes(operation, slot, sources)?;
        if d.has("CC") {
            let flags = self.flags();
            self.lanes(warpload_machine::lanes::flags::flags_of_result(), flags, &[slot])?;
        }
        Ok(())
    }
}

/// An instruction with its operands.
struct Instruction<'i> {
    of: &'i Spa5Instruction,
    operands: &'i [Spa5Operand],
}

impl Instruction<'_> {
    fn name(&self) -> &'static str {
        self.of.mnemonic()
    }

    fn has(&self, modifier: &str) -> bool {
        self.of.has(modifier)
    }

    fn modifier(&self, field: &str) -> &'static str {
        self.of.modifier(field)
    }

    fn operand(&self, at: usize) -> Lowering<&Spa5Operand> {
        self.operands.get(at).ok_or(NotExecuted)
    }

    /// The register of an operand.
    fn register(&self, at: usize) -> Lowering<Reg> {
        match self.operand(at)?.value {
            Spa5Value::Register(register) => Ok(register),
            _ => Err(NotExecuted),
        }
    }
}

impl Lowerer {
    fn dispatch(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "IADD" | "IADD32I" | "IADD3" | "ISCADD" | "ISCADD32I" | "IMUL" | "IMUL32I" | "IMAD"
            | "IMAD32I" | "IMADSP" | "XMAD" | "IMNMX" | "ISET" | "ISETP" | "ICMP" | "IDP"
            | "BFE" | "BFI" | "FLO" | "POPC" | "SHL" | "SHR" | "SHF" | "LOP" | "LOP32I"
            | "LOP3" | "LEA" => self.integer(of),
            "MOV" | "MOV32I" | "SEL" | "PRMT" | "P2R" | "R2P" | "PSET" | "PSETP" | "CSET"
            | "CSETP" | "S2R" | "CS2R" | "SHFL" | "VOTE" => self.moves(of),
            "FADD" | "FADD32I" | "FMUL" | "FMUL32I" | "FFMA" | "FFMA32I" | "FMNMX" | "FSET"
            | "FSETP" | "FCMP" | "FCHK" | "MUFU" | "RRO" | "DADD" | "DMUL" | "DFMA" | "DMNMX"
            | "DSET" | "DSETP" => self.float(of),
            "HADD2" | "HADD2_32I" | "HMUL2" | "HMUL2_32I" | "HFMA2" | "HFMA2_32I" | "HSET2"
            | "HSETP2" => self.half(of),
            "F2F" | "F2I" | "I2F" | "I2I" => self.conversion(of),
            "LD" | "LDG" | "LDS" | "LDL" | "LDC" | "ST" | "STG" | "STS" | "STL" | "ATOM"
            | "ATOMS" | "RED" | "MEMBAR" => self.memory(of),
            "VADD" | "VABSDIFF" | "VMNMX" | "VSET" | "VSHL" | "VSHR" | "VMAD" => self.video(of),
            _ => self.control(of),
        }
    }
}
