//! [`Code`]: the instructions of a kernel and of the functions that it calls, decoded once.

use std::collections::HashMap;

use super::matrix::MatrixOp;
use super::memory::AddressedSpace;
use super::number::NumberType;
use super::registers::{Registers, Slot};
use super::tensor::TensorOp;
use crate::meaning::Register;
use crate::module::{FunctionId, StatementId};
use warpload::lane::LANES;

/// A function's operation on the rows of a frame; the mask has the lanes that execute it.
pub(super) type Execute = fn(&mut Registers, &Op, u32);

/// The place of an operation in [`Code::ops`].
pub(super) type Pc = u32;

/// One operation: an instruction, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) action: Action,
    /// The predicate that guards it, and whether it is negated.
    pub(super) guard: Option<(Slot, bool)>,
    /// The destination and the sources; unused ones are 0.
    pub(super) d: Slot,
    pub(super) a: Slot,
    pub(super) b: Slot,
    pub(super) c: Slot,
    /// A second destination or a fourth source.
    pub(super) e: Slot,
    /// A number of the instruction: a shift, a table of `lop3`.
    pub(super) immediate: u32,
    pub(super) statement: StatementId,
    /// Whether it counts as an instruction: the first operation of each does.
    pub(super) counts: bool,
}

/// The effect of an operation, apart from its operands.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Each lane for itself, in registers.
    Lanes(Execute),
    /// A load, a store or an atomic operation.
    Memory(Box<MemoryOp>),
    /// Lanes that diverged wait here for each other.
    Rejoin,
    /// To `target`; lanes that go different ways rejoin at `rejoin`.
    Branch {
        target: Pc,
        rejoin: Option<Pc>,
    },
    /// To one of a table's targets.
    BranchTable {
        targets: Box<[Pc]>,
        rejoin: Option<Pc>,
    },
    Call(Box<CallOp>),
    /// The lanes go back to the caller. In a kernel they end.
    Return,
    Exit,
    Trap,
    Barrier(BarrierOp),
    /// Exchanges values between the lanes of a warp.
    Exchange(ExchangeOp),
    Matrix(Box<MatrixOp>),
    TensorLoad(Box<TensorOp>),
    /// The clock: warp instructions so far.
    Clock {
        shift: u32,
        is_wide: bool,
    },
    /// The address of a variable of the frame, in local memory.
    FrameAddress {
        offset: u64,
        is_wide: bool,
    },
    ActiveMask,
    /// An instruction that is not executed: its results are unknown, in registers and in the local memory
    /// of the frame.
    Unknown {
        slots: Box<[Slot]>,
        locals: Box<[(u64, u64)]>,
    },
    /// Nothing.
    Nop,
}

/// A load, a store, an atomic operation, or an asynchronous copy.
#[derive(Clone, Debug)]
pub(super) struct MemoryOp {
    pub(super) kind: MemoryKind,
    pub(super) space: AddressedSpace,
    pub(super) base: Base,
    /// Added to the base, modulo 2^64.
    pub(super) offset: u64,
    /// Bytes of an element.
    pub(super) size: u32,
    /// The registers of the elements, the first one first; `None` for a sink.
    pub(super) elements: Box<[Option<Element>]>,
    pub(super) scalar: NumberType,
    /// Whether it synchronizes: an atomic operation, `.volatile`, an order. It is no race, then, and a loop with it may
    /// wait for another thread.
    pub(super) is_ordered: bool,
}

impl MemoryOp {
    /// Returns the bytes of an access.
    pub(super) fn bytes(&self) -> u32 {
        self.size * self.elements.len().max(1) as u32
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MemoryKind {
    Load,
    Store,
    /// With or without the old value.
    Atomic(Atomic),
    /// `cp.async`: reads from global memory the bytes that it writes at the address.
    Copy {
        source: Base,
        source_offset: u64,
        bytes: u32,
        source_size: Option<Slot>,
    },
    /// `mbarrier` operations on a word of shared memory.
    Mbarrier(Mbarrier),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atomic {
    Add,
    Inc,
    Dec,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mbarrier {
    Init,
    Invalidate,
    Arrive,
    ArriveDrop,
    ArriveNoComplete,
    /// `test_wait` and `try_wait` with a state, or with a parity.
    Wait {
        is_parity: bool,
    },
    ExpectTx,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Zero,
    /// A register of 32 or 64 bits.
    Register {
        slot: Slot,
        is_wide: bool,
    },
    /// The local memory of the frame.
    Frame,
}

/// A register of an access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Element {
    pub(super) slot: Slot,
    /// Rows of 32 bits: 1, 2 or 4.
    pub(super) rows: u32,
    /// The bits of the register, to which a loaded value is extended.
    pub(super) bits: u32,
}

/// A call, with its arguments and results: bytes of the frames' local memory, or registers.
#[derive(Clone, Debug)]
pub(super) struct CallOp {
    pub(super) target: CallTarget,
    pub(super) arguments: Box<[Passed]>,
    pub(super) returns: Box<[Passed]>,
}

#[derive(Clone, Debug)]
pub(super) enum CallTarget {
    Direct(usize),
    /// The number of a function in a register.
    Indirect(Slot),
}

/// An argument or a result, on the side of the caller or of the callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    Local { offset: u64, bytes: u64 },
    Register { slot: Slot, rows: u32 },
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BarrierOp {
    pub(super) kind: BarrierKind,
    pub(super) id: Slot,
    /// How many threads take part; all without one.
    pub(super) threads: Option<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierKind {
    Sync,
    Arrive,
    /// The predicate is the operation's `a`, the result its `d`.
    And,
    Or,
    Popc,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeOp {
    pub(super) kind: ExchangeKind,
    /// The lanes that take part; without a mask the executing ones.
    pub(super) members: Option<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeKind {
    /// `bar.warp.sync`.
    Sync,
    /// `a` from another lane that `b` chooses within the segment that `c` limits; a predicate in `e`.
    Shuffle(Shuffle),
    Vote(Vote),
    /// `is_wide`: of 64 bits. `all` has a predicate in `e`.
    Match {
        is_all: bool,
        is_wide: bool,
    },
    /// Of f32, bit 0 of the immediate asks for absolute values, bit 1 for NaN if there is one.
    Reduce(Atomic, NumberType),
    /// The leader in `d`, whether it is this lane in `e`.
    Elect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// A value that a row holds before the first instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Preset {
    /// The same in all lanes, in so many rows.
    Constant(Slot, u64, u32),
    Special(Slot, Special),
    /// A value that the caller of the machine chose, lane 0 first.
    Lanes(Slot, u32, Box<[u128; LANES]>),
}

/// A special register with a value for each warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Special {
    Thread(usize),
    Threads(usize),
    Block(usize),
    Blocks(usize),
    Lane,
    Warp,
    Warps,
    LaneMask {
        below: bool,
        here: bool,
        above: bool,
    },
    DynamicShared,
    TotalShared,
    /// The same in all launches here.
    Fixed(u32),
}

/// A decoded function.
#[derive(Clone, Debug)]
pub(super) struct FunctionCode {
    pub(super) function: FunctionId,
    pub(super) entry: Pc,
    pub(super) rows: usize,
    pub(super) presets: Vec<Preset>,
    /// Bytes of local memory that a frame has: variables, and parameters of calls.
    pub(super) local_bytes: u64,
    pub(super) parameters: Vec<Passed>,
    pub(super) returns: Vec<Passed>,
    /// The registers by their first row, to name one that was never written.
    pub(super) names: HashMap<Slot, Register>,
}

/// Everything that a kernel may execute.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    /// The kernel first.
    pub(super) functions: Vec<FunctionCode>,
}

impl Op {
    /// Makes an operation without operands.
    pub(super) fn new(action: Action, statement: StatementId) -> Self {
        let (guard, counts) = (None, true);
        let (d, a, b, c, e, immediate) = (0, 0, 0, 0, 0, 0);
        Self { action, guard, d, a, b, c, e, immediate, statement, counts }
    }
}
