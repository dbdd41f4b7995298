//! Jumps, scopes, calls, barriers, and instructions without an effect on results.

use warpload_encoding::{Reg, Spa5Value};
use warpload_machine::External;
use warpload_machine::ScalarType as T;
use warpload_machine::code::{
    Action, BarrierKind, BarrierOp, CallOp, CallTarget, Callee, Effects, Fence, JoinKind, NONE,
    Passed, Scope, Slot,
};
use warpload_machine::lanes::flags::{FlagTest, test_flags};
use warpload_machine::lanes::integers::{Bitwise, bitwise};
use warpload_machine::lanes::integers::{IntegerOp, Shift, integer, shift};
use warpload_machine::lanes::moves::{copy, join};

use super::{Instruction, Lowerer, Lowering, NotExecuted};

impl Lowerer {
    pub(super) fn control(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "NOP" | "DEPBAR" | "TEXDEPBAR" | "CCTL" | "CCTLL" | "CCTLT" | "SAM" | "RAM" | "IDE" => {
                Ok(())
            }
            "BRA" | "JMP" => {
                self.test(of)?;
                self.jump(of, 1, Action::Branch(0))
            }
            "BRX" | "JMX" => self.indirect(of),
            "SSY" => self.jump(of, 0, Action::Push(JoinKind::Sync, 0)),
            "PBK" => self.jump(of, 0, Action::Push(JoinKind::Break, 0)),
            "PCNT" => self.jump(of, 0, Action::Push(JoinKind::Continue, 0)),
            "PRET" => self.jump(of, 0, Action::Push(JoinKind::Return, 0)),
            "CAL" | "JCAL" => self.jump(of, 0, Action::Enter(0)),
            "SYNC" => self.leave(of, Action::Leave(JoinKind::Sync)),
            "BRK" => self.leave(of, Action::Leave(JoinKind::Break)),
            "CONT" => self.leave(of, Action::Leave(JoinKind::Continue)),
            "RET" => self.leave(of, Action::Leave(JoinKind::Return)),
            "EXIT" | "KIL" => self.leave(of, Action::Exit),
            "BPT" => match of.modifier("mode") {
                "TRAP" => {
                    self.push(Action::Trap);
                    Ok(())
                }
                _ => Ok(()),
            },
            "BAR" => self.barrier(of),
            "B2R" => self.barrier_result(of),
            _ => Err(NotExecuted),
        }
    }

    /// Joins the test of the condition code to the guard.
    fn test(&mut self, of: &Instruction<'_>) -> Lowering {
        let name = match of.operand(0)?.value {
            Spa5Value::Name(name) => name,
            _ => return Err(NotExecuted),
        };
        let Some(test) = name.strip_prefix("CC.") else { return Ok(()) };
        let (flags, test) = (self.flags(), flag_test(test)?);
        let guard = self.guard.take();
        let slot = self.temporary_of(test_flags(test), &[flags])?;
        let slot = match guard {
            None => slot,
            Some((guard, is_negated)) => {
                let guard = match is_negated {
                    true => self.temporary_of(bitwise(Bitwise::Not, T::Pred), &[guard])?,
                    false => guard,
                };
                self.temporary_of(bitwise(Bitwise::And, T::Pred), &[slot, guard])?
            }
        };
        self.guard = Some((slot, false));
        Ok(())
    }

    fn leave(&mut self, of: &Instruction<'_>, action: Action) -> Lowering {
        self.test(of)?;
        self.push(action);
        Ok(())
    }

    /// A jump to an address that the instruction has.
    fn jump(&mut self, of: &Instruction<'_>, at: usize, action: Action) -> Lowering {
        let target = match of.operand(at)?.value {
            Spa5Value::Target(target) => target,
            Spa5Value::Number(target) => target,
            _ => return Err(NotExecuted),
        };
        self.jumps.push((self.ops.len(), target));
        self.push(action);
        Ok(())
    }

    /// A jump to an address in a register: its number of words is the index of a table of all addresses.
    fn indirect(&mut self, of: &Instruction<'_>) -> Lowering {
        self.test(of)?;
        let Spa5Value::Address { base, offset } = of.operand(1)?.value else {
            return Err(NotExecuted);
        };
        let from = if of.name() == "BRX" { self.address as i64 + 8 } else { 0 };
        let offset = self.number((offset + from) as u32);
        let base = if base == Reg::RZ { NONE } else { self.row(base.number()) };
        let three = self.number(3);
        let address = self.temporary_of(integer(IntegerOp::Add, T::U32), &[base, offset])?;
        let index = self.temporary_of(shift(Shift::Right, T::U32), &[address, three])?;
        self.tables = true;
        self.push(Action::BranchTable(0)).a = index;
        Ok(())
    }

    fn barrier(&mut self, of: &Instruction<'_>) -> Lowering {
        let mut operands = of.operands.iter();
        let id = match operands.next() {
            Some(operand) => self.word(operand)?,
            None => return Err(NotExecuted),
        };
        let threads = operands.next().ok_or(NotExecuted)?;
        let mode = of.modifier("mode");
        let kind = match (mode, of.modifier("op")) {
            ("SYNC", _) => BarrierKind::Sync,
            ("ARV", _) => BarrierKind::Arrive,
            ("RED", "POPC") => BarrierKind::Popc,
            ("RED", "AND") => BarrierKind::And,
            ("RED", "OR") => BarrierKind::Or,
            _ => return Err(NotExecuted),
        };
        let (id, threads) = match threads.value {
            // No number: all threads.
            Spa5Value::Number(0) => (id, None),
            Spa5Value::Register(register) if matches!(of.operand(0)?.value, Spa5Value::Register(first) if first == register) =>
            {
                // Both in one register: the number in bits 3 to 0, the threads from bit 16 on.
                let (low, sixteen) = (self.number(15), self.number(16));
                let number = self.temporary_of(bitwise(Bitwise::And, T::B32), &[id, low])?;
                let count = self.temporary_of(shift(Shift::Right, T::U32), &[id, sixteen])?;
                (number, Some(count))
            }
            _ => (id, Some(self.word(threads)?)),
        };
        let (count, predicate) = self.barrier_rows();
        let (mut a, mut d) = (NONE, NONE);
        if mode == "RED" {
            a = self.predicate(operands.next().ok_or(NotExecuted)?)?;
            d = if kind == BarrierKind::Popc { count } else { predicate };
        }
        let op = BarrierOp { kind, id, threads, is_aligned: false, counts_warps: true };
        let op = self.push(Action::Barrier(op));
        (op.a, op.d) = (a, d);
        Ok(())
    }

    /// The result of a reduction: a count or a predicate.
    fn barrier_result(&mut self, of: &Instruction<'_>) -> Lowering {
        if of.modifier("mode") != "RESULT" {
            return Err(NotExecuted);
        }
        let (count, predicate) = self.barrier_rows();
        let d = self.destination(of.operand(0)?)?;
        self.lanes(copy(T::B32), d, &[count])?;
        let d = self.destination_predicate(of.operand(1)?)?;
        self.lanes(copy(T::Pred), d, &[predicate])
    }

    pub(super) fn fence(&mut self, of: &Instruction<'_>) -> Lowering {
        let scope = match of.modifier("scope") {
            "CTA" => Scope::Block,
            _ => Scope::Device,
        };
        self.push(Action::Fence(Fence { scope, releases: true, acquires: true, is_sc: true }));
        Ok(())
    }

    /// The operations of a function that the driver provides.
    pub(super) fn driver_call(&mut self, name: &str) -> (Option<External>, Vec<Action>) {
        let (returns, parameters): (&[u64], &[u64]) = match name {
            "vprintf" => (&[4], &[8, 8]),
            "malloc" => (&[8], &[8]),
            "free" => (&[], &[8]),
            "__assertfail" => (&[], &[8, 8, 4, 8, 8]),
            _ => (&[], &[]),
        };
        let number = self.externals.len();
        let external = External::of(name, returns, parameters, name == "__assertfail");
        let mut register = 4;
        let mut arguments = Vec::new();
        for size in parameters {
            let rows = size.div_ceil(4) as u32;
            // Values of 64 bits begin at even registers.
            register = (register as u32).next_multiple_of(rows) as u8;
            let slot = match rows {
                2 => {
                    let (low, high) = (self.row(register), self.row(register + 1));
                    self.temporary_of(join(32), &[low, high]).unwrap_or(NONE)
                }
                _ => self.row(register),
            };
            arguments.push(Passed::Register { slot, rows });
            register += rows as u8;
        }
        let result: Option<(Slot, u32)> = returns.first().map(|size| {
            let rows = size.div_ceil(4) as u32;
            (if rows == 2 { self.temporary(2) } else { self.row(4) }, rows)
        });
        let passed = result.map(|(slot, rows)| Passed::Register { slot, rows });
        let call = CallOp {
            target: CallTarget::Direct(Callee::External(number)),
            arguments: arguments.into(),
            returns: passed.into_iter().collect(),
        };
        self.push(Action::Call(Box::new(call)));
        if let Some((slot, 2)) = result {
            let first = self.row(4);
            let _ = self.lanes(
                warpload_machine::lanes::moves::extract_bits(T::B64, 0, 32),
                first,
                &[slot],
            );
            let _ = self.lanes(
                warpload_machine::lanes::moves::extract_bits(T::B64, 32, 32),
                first + 1,
                &[slot],
            );
        }
        if parameters.is_empty() {
            // All registers that a function may change.
            let slots = (0..18).map(|register| self.row(register)).collect();
            self.push(Action::NotExecuted(Box::new(Effects {
                slots,
                writes_global: true,
                ..Effects::default()
            })));
        }
        (Some(external), vec![Action::Leave(JoinKind::Return)])
    }
}

/// The test with a name, as after `CC.`.
pub(super) fn flag_test(name: &str) -> Lowering<FlagTest> {
    Ok(match name {
        "F" => FlagTest::False,
        "LT" => FlagTest::Less,
        "EQ" => FlagTest::Equal,
        "LE" => FlagTest::LessOrEqual,
        "GT" => FlagTest::Greater,
        "NE" | "NEU" => FlagTest::NotEqual,
        "GE" => FlagTest::GreaterOrEqual,
        "T" | "" => FlagTest::True,
        "LO" => FlagTest::Lower,
        "LS" => FlagTest::LowerOrSame,
        "HI" => FlagTest::Higher,
        "HS" => FlagTest::HigherOrSame,
        "SFT" => FlagTest::Sign,
        "SFF" => FlagTest::NoSign,
        "OFT" => FlagTest::Overflow,
        "OFF" => FlagTest::NoOverflow,
        _ => return Err(NotExecuted),
    })
}
