//! What control words promise: the registers that an instruction reads and writes, and when.

use warpload_encoding::{Control, Reg, Spa5Operand, Spa5Value};
use warpload_machine::code::{Action, RowSet, Scheduled};

use super::{Instruction, Lowerer, PREDICATES};

/// The numbers of predicates and of the condition code in schedules, after those of the registers.
const FIRST_PREDICATE: u32 = 256;
const FLAGS: u32 = FIRST_PREDICATE + PREDICATES;

/// The names of all rows in schedules.
pub(super) fn row_names() -> Vec<Box<str>> {
    let registers = (0..FIRST_PREDICATE).map(|number| format!("R{number}"));
    let predicates = (0..PREDICATES).map(|number| format!("P{number}"));
    let names = registers.chain(predicates).chain(["CC".to_owned()]);
    names.map(String::into_boxed_str).collect()
}

/// The registers, predicates and flags of an instruction.
#[derive(Default)]
struct Rows {
    reads: RowSet,
    writes: RowSet,
}

/// Adds consecutive registers.
fn add(rows: &mut RowSet, register: Reg, count: u32) {
    if register == Reg::RZ {
        return;
    }
    let first = u32::from(register.number());
    (first..(first + count).min(255)).for_each(|row| rows.insert(row));
}

/// Adds a predicate, unless it is the constant one.
fn add_predicate(rows: &mut RowSet, number: u8) {
    if u32::from(number) < PREDICATES {
        rows.insert(FIRST_PREDICATE + u32::from(number));
    }
}

/// The number of operands at the beginning that are destinations.
fn destinations(of: &Instruction<'_>) -> usize {
    let is_predicate = |at: usize| {
        of.operands.get(at).is_some_and(|operand| matches!(operand.value, Spa5Value::Predicate(_)))
    };
    match of.name() {
        "ST" | "STG" | "STS" | "STL" | "RED" | "BAR" | "DEPBAR" | "MEMBAR" | "NOP" | "CCTL"
        | "CCTLL" | "CCTLT" | "R2P" | "BRA" | "BRX" | "JMP" | "JMX" | "CAL" | "JCAL" | "SSY"
        | "PBK" | "PCNT" | "PRET" | "SYNC" | "BRK" | "CONT" | "RET" | "EXIT" | "KIL" | "BPT"
        | "SUST" | "SURED" | "AST" | "R2B" | "OUT" | "SETCRSPTR" | "SETLMEMBASE" => 0,
        "ISETP" | "FSETP" | "DSETP" | "HSETP2" | "PSETP" | "CSETP" | "VSETP" | "VOTE" => 2,
        "B2R" if is_predicate(1) => 2,
        // A predicate before the register.
        _ if is_predicate(0) && !matches!(of.name(), "FCHK") => 2,
        _ => 1,
    }
}

/// The registers that a value of a type in memory takes.
fn registers_of(size: &str) -> u32 {
    match size {
        "64" | "U64" | "S64" | "F64.RN" | "F64" => 2,
        "128" | "U.128" | "U128" => 4,
        _ => 1,
    }
}

/// The number of registers of an operand: of a destination, or of a source.
fn width(of: &Instruction<'_>, at: usize, is_destination: bool) -> u32 {
    match of.name() {
        "DSET" if is_destination => 1,
        "DADD" | "DMUL" | "DFMA" | "DMNMX" | "DSET" | "DSETP" => 2,
        "F2F" | "F2I" | "I2F" | "I2I" => {
            registers_of(of.modifier(if is_destination { "to" } else { "from" }))
        }
        "LD" | "LDG" | "LDS" | "LDL" | "LDC" if is_destination => registers_of(of.modifier("size")),
        "ST" | "STG" | "STS" | "STL" if at == 1 => registers_of(of.modifier("size")),
        "ATOM" | "ATOMS" | "RED" => {
            if of.has("64") {
                2
            } else {
                registers_of(of.modifier("type"))
            }
        }
        _ => 1,
    }
}

/// The rows that an instruction names.
fn rows_of(of: &Instruction<'_>) -> Rows {
    let mut rows = Rows::default();
    let name = of.name();
    // Of textures and surfaces, and of graphics, it is not known how many registers they take.
    let is_known = !matches!(
        name,
        "TEX"
            | "TLD4"
            | "TLD"
            | "TXD"
            | "TMML"
            | "TXA"
            | "TXQ"
            | "TEXS"
            | "TLDS"
            | "TLD4S"
            | "SULD"
            | "SUST"
            | "SURED"
            | "SUATOM"
            | "ALD"
            | "AST"
            | "AL2P"
            | "IPA"
            | "OUT"
            | "ISBERD"
            | "PIXLD"
    );
    if !is_known {
        return rows;
    }
    let count = destinations(of);
    for (at, operand) in of.operands.iter().enumerate() {
        add_operand(&mut rows, of, at, operand, at < count);
    }
    let all_predicates = |mask: u64| {
        (0..PREDICATES).filter(move |number| mask >> number & 1 != 0).map(|at| FIRST_PREDICATE + at)
    };
    let mask = of.operands.last().map_or(u64::MAX, |operand| match operand.value {
        Spa5Value::Number(mask) => mask,
        _ => u64::MAX,
    });
    let is_of_flags = of.operands.iter().any(|operand| operand.value == Spa5Value::Name("CC"));
    match name {
        "P2R" if is_of_flags => rows.reads.insert(FLAGS),
        "R2P" if is_of_flags => rows.writes.insert(FLAGS),
        "P2R" => all_predicates(mask).for_each(|row| rows.reads.insert(row)),
        "R2P" => all_predicates(mask).for_each(|row| rows.writes.insert(row)),
        "CSET" | "CSETP" => rows.reads.insert(FLAGS),
        _ if ["X", "XLO", "XMED"].iter().any(|step| of.has(step)) => rows.reads.insert(FLAGS),
        _ => {}
    }
    if of.operands.iter().any(|operand| operand.has("CC")) {
        rows.writes.insert(FLAGS);
    }
    rows
}

fn add_operand(
    rows: &mut Rows,
    of: &Instruction<'_>,
    at: usize,
    operand: &Spa5Operand,
    is_destination: bool,
) {
    let set = if is_destination { &mut rows.writes } else { &mut rows.reads };
    match operand.value {
        Spa5Value::Register(register) => add(set, register, width(of, at, is_destination)),
        Spa5Value::Predicate(predicate) => add_predicate(set, predicate.number()),
        Spa5Value::Constant { base, .. } => add(&mut rows.reads, base, 1),
        Spa5Value::Address { base, .. } => {
            add(&mut rows.reads, base, if of.has("E") { 2 } else { 1 });
        }
        Spa5Value::Swap { compare, swap } => {
            let count = width(of, at, false);
            add(&mut rows.reads, compare, count);
            add(&mut rows.reads, swap, count);
        }
        Spa5Value::Name(test) if test.starts_with("CC.") && test != "CC.T" && test != "CC.F" => {
            rows.reads.insert(FLAGS);
        }
        _ => {}
    }
}

/// The rows that an instruction waits for with `DEPBAR`: of one barrier until it counts so many, and of others.
fn waited(of: &Instruction<'_>) -> (u8, Option<(u8, u32)>) {
    let (mut all, mut until, mut barrier) = (0, None, None);
    if of.name() != "DEPBAR" {
        return (all, until);
    }
    for operand in of.operands {
        match operand.value {
            Spa5Value::Name(name) => {
                barrier = name.strip_prefix("SB").and_then(|number| number.parse().ok());
            }
            Spa5Value::Number(most) => until = barrier.map(|barrier| (barrier, most as u32)),
            Spa5Value::Set(mask) => all |= mask as u8,
            _ => {}
        }
    }
    (all, until)
}

impl Lowerer {
    /// The schedule of an instruction, before its operations.
    pub(super) fn schedule(&mut self, of: &Instruction<'_>, control: Control) {
        let name = of.name();
        let (rows, unit) = (rows_of(of), unit_of(name));
        let (waits_later, waits_until) = waited(of);
        let mut guard = RowSet::default();
        add_predicate(&mut guard, of.of.guard().pred.number());
        let (mut cycles, mut late_reads, mut late_writes) = (Vec::new(), none(), none());
        match unit {
            None => cycles.extend(rows.writes.rows().map(|row| (row, cycles_of(name, row)))),
            Some(_) => {
                // Predicates are read at once.
                late_reads = rows.reads.rows().filter(|row| *row < FIRST_PREDICATE).collect();
                late_writes = rows.writes;
            }
        }
        let (mut write_barrier, read_barrier) = (control.write.number(), control.read.number());
        if matches!(unit, Some(Unit::Function)) {
            // NVIDIA's kernels wait for the source alone where the result replaces it: it comes soon after.
            write_barrier = write_barrier.or(read_barrier);
        }
        let scheduled = Scheduled {
            name,
            waits: control.wait.mask(),
            waits_later,
            waits_until,
            guard,
            reads: rows.reads,
            late_reads,
            writes: rows.writes,
            late_writes,
            cycles: cycles.into(),
            write_barrier,
            read_barrier,
            takes: if unit.is_some() { TAKES } else { 0 },
            unit: unit.map(|unit| unit as u8),
            // Stores to shared memory before a barrier of the block often set none.
            drains: (name == "BAR").then_some(Unit::Shared as u8),
            lead: lead_of(name, unit),
            stall: control.stall.get().into(),
            settles: SETTLES,
        };
        self.push(Action::Scheduled(Box::new(scheduled)));
    }
}

// The numbers below are the smallest ones in code that ptxas 11 and 12 have compiled, and in NVIDIA's own kernels: with
// larger ones, some of that code would be wrong.

/// The cycles until a barrier counts an instruction.
const SETTLES: u32 = 2;

/// The cycles that an instruction takes at least that sets a barrier for its result.
const TAKES: u32 = 20;

/// The cycles until a register, the carry of a sum, and anything else can be used.
const REGISTER: u32 = 6;
const CARRY: u32 = 6;
const CONDITION: u32 = 13;

/// A unit whose instructions take as long as they do, so that barriers say when they are done.
#[derive(Clone, Copy)]
enum Unit {
    /// Global, local and generic memory.
    Global,
    /// Shared memory, and exchanges between lanes.
    Shared,
    /// Constant banks.
    Constant,
    /// Functions and conversions.
    Function,
    Double,
    Half,
    /// Products of 32 bits.
    Product,
    /// Special registers.
    Special,
}

fn unit_of(name: &str) -> Option<Unit> {
    Some(match name {
        "LD" | "LDG" | "LDL" | "ST" | "STG" | "STL" | "ATOM" | "RED" => Unit::Global,
        "LDS" | "STS" | "ATOMS" | "SHFL" => Unit::Shared,
        "LDC" => Unit::Constant,
        "MUFU" | "F2F" | "F2I" | "I2F" | "I2I" | "FLO" | "POPC" => Unit::Function,
        "DADD" | "DMUL" | "DFMA" | "DMNMX" | "DSET" | "DSETP" => Unit::Double,
        "HADD2" | "HADD2_32I" | "HMUL2" | "HMUL2_32I" | "HFMA2" | "HFMA2_32I" | "HSET2"
        | "HSETP2" => Unit::Half,
        "IMUL" | "IMUL32I" | "IMAD" | "IMAD32I" | "IMADSP" => Unit::Product,
        "S2R" | "B2R" => Unit::Special,
        _ => return None,
    })
}

/// The cycles after which an instruction reads its registers.
fn lead_of(name: &str, unit: Option<Unit>) -> u32 {
    match (name, unit) {
        (_, Some(Unit::Global | Unit::Function)) => 4,
        (_, Some(Unit::Shared | Unit::Constant | Unit::Product)) => 2,
        ("DSET" | "DSETP" | "DMNMX" | "BAR", _) => 2,
        _ => 0,
    }
}

/// The cycles until a row can be used that an instruction writes.
fn cycles_of(name: &str, row: u32) -> u32 {
    let is_sum = matches!(
        name,
        "IADD" | "IADD32I" | "IADD3" | "ISCADD" | "ISCADD32I" | "LEA" | "LOP" | "LOP32I"
    );
    match row {
        ..FIRST_PREDICATE => REGISTER,
        FLAGS if is_sum => CARRY,
        _ => CONDITION,
    }
}

fn none() -> RowSet {
    RowSet::default()
}
