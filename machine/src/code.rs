//! [`Code`]: the decoded instructions of a kernel and of the functions that it calls.

use std::collections::HashMap;

use crate::externals::External;
use crate::lanes::LaneFunction;
use crate::matrix::MatrixOp;
pub use crate::memory::MAX_LOCAL;
use crate::number::NumberType;
pub use crate::races::CopyGroups;
pub use crate::registers::{FIRST_ROW, NONE, Slot};
pub use crate::tensor_load::TensorOp;
use warpload::lane::LANES;
pub use warpload::memory::AddressSpace;

/// The index of an operation in [`Code::ops`].
pub type Pc = u32;

/// The number of a scope of joins, an index in [`Code::scopes`]. Scopes have higher numbers than the scopes around them.
pub type JoinScope = u32;

/// An instruction of a program. Only its front end can turn it into a line and a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(pub u32);

/// One operation. An instruction has one or several.
#[derive(Debug)]
pub struct Op {
    pub action: Action,
    /// The row of the guard, and whether it is negated.
    pub guard: Option<(Slot, bool)>,
    /// The destination, and the sources `a`, `b` and `c`. Unused ones are [`NONE`](crate::registers::NONE).
    pub d: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
    /// A second destination, or a fourth source.
    pub e: Slot,
    pub site: Site,
    /// Whether it counts as an instruction. Only one operation of each instruction does.
    pub counts: bool,
    /// Whether it writes the carry flag.
    pub carries: bool,
    /// Whether it counts as a load, although it copies a row.
    pub loads: bool,
    /// For a load alone, its effects if it is skipped. Such a load is reported to
    /// [`MemoryObserver::load_alone`](crate::MemoryObserver::load_alone), and does not end lanes where its guard, its
    /// address or its bytes are unknown.
    pub alone: Option<Box<Effects>>,
}

/// The effect of an operation, apart from its operands.
#[derive(Debug)]
pub enum Action {
    /// An operation on registers, independent in each lane.
    Lanes(LaneFunction),
    /// A load, a store or an atomic operation.
    Memory(Box<MemoryOp>),
    /// The point where lanes wait for all lanes that run in a scope of joins.
    Rejoin(JoinScope),
    /// The point after a call where lanes wait for the lanes that are still in the called functions.
    RejoinCall,
    /// A branch to a target.
    Branch(Pc),
    /// A branch to one of the targets in a table, which is an index into [`Code::tables`].
    BranchTable(usize),
    Call(Box<CallOp>),
    /// Returns to the caller, or ends the lanes in a kernel.
    Return,
    Exit,
    Trap,
    Barrier(BarrierOp),
    /// An exchange between the lanes of a warp.
    Exchange(ExchangeOp),
    Matrix(Box<MatrixOp>),
    TensorLoad(Box<TensorOp>),
    /// Reads the clock, which counts warp instructions so that results are reproducible.
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
    /// The declaration of a variable of the frame in inner braces: nothing has written it. Only in launches that check
    /// this.
    Declared {
        offset: u64,
        bytes: u64,
    },
    /// A fence, or the order of an access before or after it. Only the race detector needs it.
    Fence,
    /// Commits or awaits copies of `cp.async`. Copies are executed at once, so only the race detector needs to know.
    Copies(CopyGroups),
    /// An instruction that is not executed. All that it would write becomes unknown.
    NotExecuted(Box<Effects>),
    /// `alloca`, `stacksave`, `stackrestore`.
    Stack(StackOp),
    /// An instruction without an effect here.
    Nop,
}

/// All that an instruction would write that is not executed.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Whether the instruction is executed, and its effect is to make bytes indeterminate: `discard`.
    pub is_discard: bool,
    pub slots: Box<[Slot]>,
    /// Registers that get the value of another row instead.
    pub replaced: Box<[(Element, Slot)]>,
    /// Offsets and sizes in the local memory of the frame: the results of a call.
    pub locals: Box<[(u64, u64)]>,
    pub writes: Box<[UnknownWrite]>,
    /// Whether it writes to Tensor Memory.
    pub writes_tensor: bool,
    /// Whether it may write to any byte of global memory.
    pub writes_global: bool,
}

impl Effects {
    /// Whether only registers would be written.
    #[must_use]
    pub fn are_registers(&self) -> bool {
        self.locals.is_empty()
            && self.writes.is_empty()
            && !self.writes_tensor
            && !self.writes_global
    }
}

/// The bytes that an unsupported instruction would write at an address.
#[derive(Clone, Copy, Debug)]
pub struct UnknownWrite {
    pub space: AddressSpace,
    pub base: Base,
    pub offset: u64,
    pub extent: Extent,
}

/// The number of bytes of an [`UnknownWrite`].
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    Bytes(u64),
    /// The value of a 64-bit register. If it is unknown, the extent is [`Self::Rest`].
    Register(Slot),
    /// Up to the end of the allocation.
    Rest,
}

/// An operation on the stack in local memory. The size or the saved pointer is in `a`, the result in `d`.
#[derive(Clone, Copy, Debug)]
pub struct StackOp {
    pub kind: StackKind,
    pub is_wide: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum StackKind {
    Save,
    Restore,
    Allocate { alignment: u64 },
}

/// A load, a store, an atomic operation, or an asynchronous copy.
#[derive(Clone, Debug)]
pub struct MemoryOp {
    pub kind: MemoryKind,
    pub space: AddressSpace,
    pub base: Base,
    /// Added to the base modulo 2^64.
    pub offset: u64,
    /// The size of an element in bytes.
    pub size: u32,
    /// The registers of the elements in order; `None` for a sink.
    pub elements: Box<[Option<Element>]>,
    pub scalar: NumberType,
    /// Whether it synchronizes: atomic operations, `.volatile`, and accesses with an order. Two of these are no race, and
    /// a loop with one may wait for another thread.
    pub is_ordered: bool,
}

impl MemoryOp {
    /// The size of a lane's access in bytes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.size * self.elements.len().max(1) as u32
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemoryKind {
    Load,
    Store,
    /// An atomic operation. `red` has no elements for the old value.
    Atomic(Atomic),
    /// `cp.async`: copies from global memory at `source` to the address.
    Copy {
        source: Base,
        source_offset: u64,
        bytes: u32,
        part: CopiedPart,
    },
    /// An `mbarrier` operation on a word of shared memory.
    Mbarrier(Mbarrier),
}

/// The part of its bytes that `cp.async` reads. It fills the rest with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedPart {
    All,
    /// As many bytes as a register says.
    Bytes(Slot),
    /// Nothing where the predicate is true, all elsewhere.
    Unless(Slot),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
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

/// An `mbarrier` instruction. Its count, token or parity is in `a` of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mbarrier {
    Init,
    Invalidate,
    Arrive(Arrive),
    /// `test_wait` and `try_wait`, with a state or a parity.
    Wait {
        is_parity: bool,
    },
    ExpectTx,
    CompleteTx,
    /// `cp.async.mbarrier.arrive` without `.noinc`, which changes no count once the copies are complete.
    ArriveLater,
}

/// `mbarrier.arrive` and `mbarrier.arrive_drop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrive {
    /// Whether the following phases expect fewer arrivals.
    pub drops: bool,
    /// Whether the phase must not complete.
    pub completes_not: bool,
    /// `.expect_tx`: the operand is a number of bytes, and the arrival count is 1.
    pub expects_tx: bool,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    Zero,
    /// A register of 32 or 64 bits.
    Register {
        slot: Slot,
        is_wide: bool,
    },
    /// The local memory of the frame.
    Frame,
}

/// A register that an access loads or stores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    pub slot: Slot,
    /// The number of 32-bit rows: 1, 2 or 4.
    pub rows: u32,
    /// The width of the register in bits. Loaded values are extended to it.
    pub bits: u32,
}

/// A call, with its arguments and results: bytes in the frames' local memory, or registers.
#[derive(Clone, Debug)]
pub struct CallOp {
    pub target: CallTarget,
    pub arguments: Box<[Passed]>,
    pub returns: Box<[Passed]>,
}

#[derive(Clone, Debug)]
pub enum CallTarget {
    Direct(Callee),
    /// The address of a function in a register.
    Indirect(Slot),
}

/// A function that can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// An index in [`Code::functions`].
    Function(usize),
    /// An index in [`Code::externals`].
    External(usize),
}

/// An argument or a result, as the caller or the callee sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    Local { offset: u64, bytes: u64 },
    Register { slot: Slot, rows: u32 },
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub struct BarrierOp {
    pub kind: BarrierKind,
    pub id: Slot,
    /// The number of threads that take part; the whole block if `None`.
    pub threads: Option<Slot>,
    /// Whether whole warps must execute it, as `bar` and `.aligned` say.
    pub is_aligned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    Sync,
    Arrive,
    /// Reductions have their predicate in `a` of the operation, and their result in `d`.
    And,
    Or,
    Popc,
}

#[derive(Clone, Copy, Debug)]
pub struct ExchangeOp {
    pub kind: ExchangeKind,
    /// The lanes that take part; the executing ones if `None`.
    pub members: Option<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeKind {
    /// `bar.warp.sync`.
    Sync,
    /// Takes `a` from the lane that `b` chooses. `c` limits it to a segment, and `e` is a predicate.
    Shuffle(Shuffle),
    Vote(Vote),
    /// Compares values of 64 bits if `is_wide`. `all` also has a predicate in `e`.
    Match {
        is_all: bool,
        is_wide: bool,
    },
    /// A reduction of `a`.
    Reduce {
        operation: Atomic,
        scalar: NumberType,
        /// For f32: whether it is one of magnitudes.
        is_absolute: bool,
        /// For f32: whether a NaN wins against numbers.
        keeps_nan: bool,
    },
    /// The leader in `d`, and whether it is this lane in `e`.
    Elect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// The value of a row before the first instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Preset {
    /// A slot, the same value for all lanes, and the number of rows.
    Constant(Slot, u64, u32),
    Special(Slot, Special),
    /// The bytes of a constant bank, such as a parameter of the kernel. They do not change during a launch.
    Bank(Slot, BankValue),
    /// A slot, the number of rows, and the caller's value for each lane, lane 0 first.
    Lanes(Slot, u32, Box<[u128; LANES]>),
}

/// A value in a constant bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BankValue {
    /// The number of the bank.
    pub bank: u8,
    /// The offset of its first byte in the bank.
    pub offset: u64,
    /// The type, whose size in bytes is the value's.
    pub scalar: NumberType,
    /// The width of the register in bits. The value is extended to it.
    pub bits: u32,
}

/// A special register with fixed values during a warp's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
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
    /// The shared memory of the block in allocation units, and together with the part reserved for the system.
    TotalShared,
    AllShared,
}

/// A decoded function.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    pub entry: Pc,
    pub rows: usize,
    pub presets: Vec<Preset>,
    /// The size of a frame's local memory in bytes: variables, and parameters of calls.
    pub local_bytes: u64,
    /// The offset and the size of each of these, sorted.
    pub locals: Vec<(u64, u64)>,
    pub parameters: Vec<Passed>,
    pub returns: Vec<Passed>,
}

impl FunctionCode {
    /// The bytes that a call of a warp copies: the frame's registers, the arguments and the results.
    pub fn bytes_of_call(&self) -> u64 {
        let passed = self.parameters.iter().chain(&self.returns).map(|passed| match passed {
            Passed::Local { bytes, .. } => *bytes,
            Passed::Register { .. } | Passed::Nothing => 0,
        });
        let of_lane = passed.fold(4 * self.rows as u64, u64::saturating_add);
        of_lane.saturating_mul(LANES as u64)
    }
}

/// The code of a kernel and all functions that it may call.
#[derive(Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// The functions. The kernel is the first.
    pub functions: Vec<FunctionCode>,
    /// The functions without a body that the code may call.
    pub externals: Vec<External>,
    /// The functions by their addresses, for calls through registers.
    pub callees: HashMap<u64, Callee>,
    /// The targets of indirect branches. Branches with the same list of labels share a table.
    pub tables: Vec<Box<[Pc]>>,
    /// The innermost scope of joins around each operation. For [`Action::Rejoin`], the scope around its own.
    pub inside: Vec<JoinScope>,
    /// First and last number of each scope in the tree of scopes.
    pub scopes: Vec<(usize, usize)>,
    /// The shared memory of a block before its dynamic part, in bytes.
    pub shared_bytes: u64,
    /// The unit in which the target allocates shared memory, in bytes.
    pub shared_unit: u64,
}

/// The shared memory of a block that is reserved for the system, in bytes, as ptxas has it for every target.
pub const RESERVED_SHARED: u64 = 1024;

/// No scope of joins.
pub const NO_SCOPE: JoinScope = JoinScope::MAX;

impl Code {
    /// Whether an operation is in a scope of joins.
    #[inline]
    #[must_use]
    pub fn is_inside(&self, pc: Pc, scope: JoinScope) -> bool {
        let inner = self.inside.get(pc as usize).and_then(|inner| self.scopes.get(*inner as usize));
        match (inner, self.scopes.get(scope as usize)) {
            (Some(inner), Some(outer)) => outer.0 <= inner.0 && inner.1 <= outer.1,
            _ => false,
        }
    }
}

impl Op {
    /// Creates an operation without operands.
    #[must_use]
    pub fn new(action: Action, site: Site) -> Self {
        let (guard, counts) = (None, false);
        let (d, a, b, c, e) = (0, 0, 0, 0, 0);
        let (carries, loads, alone) = (false, false, None);
        Self { action, guard, d, a, b, c, e, site, counts, carries, loads, alone }
    }
}
