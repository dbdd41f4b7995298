//! [`Code`]: the decoded instructions of a kernel and of the functions that it calls.

use std::collections::HashMap;

use crate::externals::External;
use crate::lanes::{LaneFunction, LaneOperation};
use crate::matrix::MatrixOp;
pub use crate::memory::MAX_LOCAL;
pub use crate::order::{CopyGroups, Fence, Scope, Strong};
pub use crate::registers::{FIRST_ROW, NONE, Slot};
use crate::scalar::ScalarType;
pub use crate::scoreboard::{RowSet, Scheduled};
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
    /// The effect.
    pub action: Action,
    /// The row of the guard, and whether it is negated.
    pub guard: Option<(Slot, bool)>,
    /// The first row of the destination. Unused operands are [`NONE`].
    pub d: Slot,
    /// The first row of the first source.
    pub a: Slot,
    /// The first row of the second source.
    pub b: Slot,
    /// The first row of the third source.
    pub c: Slot,
    /// A second destination, or a fourth source.
    pub e: Slot,
    /// The instruction that it belongs to, for faults and counts.
    pub site: Site,
    /// Whether it counts as an instruction, as one operation of each instruction should: only these come nearer to the
    /// limit of steps, so a loop without one never ends.
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
    /// Begins a scope: its lanes join again at the target, in programs that say so themselves ([`Code::has_scopes`]).
    Push(JoinKind, Pc),
    /// The lanes wait until the innermost scope of the kind is left by all its lanes, or has none left.
    Leave(JoinKind),
    /// A jump to a function that [`JoinKind::Return`] returns from.
    Enter(Pc),
    /// The point after a call where lanes wait for the lanes that are still in the called functions.
    RejoinCall,
    /// A branch to a target.
    Branch(Pc),
    /// A branch to one of the targets in a table, which is an index into [`Code::tables`].
    BranchTable(usize),
    /// A call of a function.
    Call(Box<CallOp>),
    /// Returns to the caller, or ends the lanes in a kernel.
    Return,
    /// Ends the lanes.
    Exit,
    /// Ends the launch.
    Trap,
    /// A barrier of the block.
    Barrier(BarrierOp),
    /// An exchange between the lanes of a warp.
    Exchange(ExchangeOp),
    /// A matrix instruction of the whole warp.
    Matrix(Box<MatrixOp>),
    /// A load of Tensor Memory.
    TensorLoad(Box<TensorOp>),
    /// Reads the clock, which counts warp instructions so that results are reproducible.
    Clock {
        /// The right shift of the count: 32 for the upper half.
        shift: u32,
        /// Whether the result has 64 bits, not 32.
        is_wide: bool,
    },
    /// The address of a variable of the frame, in local memory.
    FrameAddress {
        /// The offset of the variable in the frame, in bytes.
        offset: u64,
        /// Whether the address has 64 bits, not 32.
        is_wide: bool,
    },
    /// The mask of the executing lanes, in `d`.
    ActiveMask,
    /// The declaration of a variable of the frame in inner braces: nothing has written it. Only in launches that check
    /// this.
    Declared {
        /// The offset of the variable in the frame, in bytes.
        offset: u64,
        /// The size of the variable in bytes.
        bytes: u64,
    },
    /// A fence, or the order of an access before or after it. Only the race detector needs it.
    Fence(Fence),
    /// Commits or awaits copies of `cp.async`. Copies are executed at once, so only the race detector needs to know.
    Copies(CopyGroups),
    /// An instruction that is not executed. All that it would write becomes unknown.
    NotExecuted(Box<Effects>),
    /// `alloca`, `stacksave`, `stackrestore`.
    Stack(StackOp),
    /// An instruction without an effect here.
    Nop,
    /// The schedule of the instruction whose operations follow, with its guard. Only in launches that check schedules.
    /// The next instruction has the next site.
    Scheduled(Box<Scheduled>),
}

/// The kinds of scopes whose joins the program names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// The end of divergent code: `SSY`, `SYNC`.
    Sync,
    /// The end of a loop: `PBK`, `BRK`.
    Break,
    /// The next round of a loop: `PCNT`, `CONT`.
    Continue,
    /// The instruction after a call: `PRET` or `CAL`, and `RET`.
    Return,
}

/// All that an instruction would write that is not executed.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Whether the instruction is executed, and its effect is to make bytes indeterminate: `discard`.
    pub is_discard: bool,
    /// The first row of each register that becomes unknown.
    pub slots: Box<[Slot]>,
    /// Registers that get the value of another row instead.
    pub replaced: Box<[(Element, Slot)]>,
    /// Offsets and sizes in the local memory of the frame: the results of a call.
    pub locals: Box<[(u64, u64)]>,
    /// Bytes in memory that become unknown.
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
    /// The address space of the bytes.
    pub space: AddressSpace,
    /// The base of their address.
    pub base: Base,
    /// Added to the base modulo 2^64.
    pub offset: u64,
    /// How many bytes there are.
    pub extent: Extent,
}

/// The number of bytes of an [`UnknownWrite`].
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// A fixed number of bytes.
    Bytes(u64),
    /// The value of a 64-bit register. If it is unknown, the extent is [`Self::Rest`].
    Register(Slot),
    /// Up to the end of the allocation.
    Rest,
}

/// An operation on the stack in local memory. The size or the saved pointer is in `a`, the result in `d`.
#[derive(Clone, Copy, Debug)]
pub struct StackOp {
    /// The change of the stack.
    pub kind: StackKind,
    /// Whether the operands have 64 bits, not 32.
    pub is_wide: bool,
}

/// A change of the stack.
#[derive(Clone, Copy, Debug)]
pub enum StackKind {
    /// Reads the stack pointer: `stacksave`.
    Save,
    /// Sets the stack pointer to a saved one: `stackrestore`.
    Restore,
    /// Reserves bytes and returns their address: `alloca`.
    Allocate {
        /// The alignment of the address in bytes.
        alignment: u64,
    },
}

/// A load, a store, an atomic operation, or an asynchronous copy.
#[derive(Clone, Debug)]
pub struct MemoryOp {
    /// The access.
    pub kind: MemoryKind,
    /// The address space.
    pub space: AddressSpace,
    /// The base of the address.
    pub base: Base,
    /// Added to the base modulo 2^64.
    pub offset: u64,
    /// The size of an element in bytes.
    pub size: u32,
    /// The registers of the elements in order; `None` for a sink.
    pub elements: Box<[Option<Element>]>,
    /// The type of an element.
    pub scalar: ScalarType,
    /// The order of a strong access: an atomic operation, a volatile access, or one with an order. Two of these are no race
    /// if their scopes have both threads, and a loop with one may wait for another thread. An operation on an mbarrier
    /// without it orders nothing.
    pub strong: Option<Strong>,
    /// The bytes of a load that the program uses, bit 0 for the first one: nothing has to have written the others.
    pub used: u32,
    /// For a generic load, a predicate that chooses the memory as docs/ld.md says: shared memory where it is false, the
    /// others where it is true. Without one, the address chooses.
    pub plg: Option<Slot>,
}

impl MemoryOp {
    /// Creates a weak access to elements of a type, at the base.
    #[must_use]
    pub fn new(
        kind: MemoryKind,
        space: AddressSpace,
        base: Base,
        scalar: ScalarType,
        elements: &[Option<Element>],
    ) -> Self {
        let (offset, size, strong) = (0, scalar.bytes(), None);
        Self {
            kind,
            space,
            base,
            offset,
            size,
            elements: elements.into(),
            scalar,
            strong,
            used: u32::MAX,
            plg: None,
        }
    }

    /// The size of a lane's access in bytes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.size * self.elements.len().max(1) as u32
    }
}

/// The kinds of accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MemoryKind {
    /// Reads the elements.
    Load,
    /// Writes the elements.
    Store,
    /// An atomic operation. `red` has no elements for the old value.
    Atomic(Atomic),
    /// `cp.async`: copies from global memory at `source` to the address.
    Copy {
        /// The base of the address in global memory.
        source: Base,
        /// Added to the source modulo 2^64.
        source_offset: u64,
        /// The number of bytes to write.
        bytes: u32,
        /// The bytes to read; the others are zeros.
        part: CopiedPart,
    },
    /// An `mbarrier` operation on a word of shared memory.
    Mbarrier(Mbarrier),
}

/// The part of its bytes that `cp.async` reads. It fills the rest with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedPart {
    /// All bytes.
    All,
    /// As many bytes as a register says.
    Bytes(Slot),
    /// Nothing where the predicate is true, all elsewhere.
    Unless(Slot),
}

/// The function of an atomic operation, of the old value and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// The sum.
    Add,
    /// The old value plus one; zero if it is the operand or more.
    Inc,
    /// The old value minus one; the operand if it is zero or more than the operand.
    Dec,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand.
    Exchange,
    /// The second operand if the old value equals the first one, else the old value.
    CompareAndSwap,
}

/// An `mbarrier` instruction. Its count, token or parity is in `a` of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mbarrier {
    /// Begins the first phase with an expected count of arrivals.
    Init,
    /// Makes the word ordinary memory again.
    Invalidate,
    /// An arrival, which returns the state of its phase.
    Arrive(Arrive),
    /// `test_wait` and `try_wait`, with a state or a parity.
    Wait {
        /// Whether the operand is the parity of the phase, not a state.
        is_parity: bool,
    },
    /// Adds bytes that the phase waits for.
    ExpectTx,
    /// Subtracts bytes that have arrived.
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
    /// Whether the copies of the thread arrive, once they are complete: `cp.async.mbarrier.arrive.noinc`.
    pub is_of_copies: bool,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    /// No base: the offset is the address.
    Zero,
    /// A register of 32 or 64 bits.
    Register {
        /// Its first row.
        slot: Slot,
        /// Whether it has 64 bits, not 32.
        is_wide: bool,
    },
    /// The local memory of the frame.
    Frame,
}

/// A register that an access loads or stores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Its first row.
    pub slot: Slot,
    /// The number of 32-bit rows: 1, 2 or 4.
    pub rows: u32,
    /// The width of the register in bits. Loaded values are extended to it.
    pub bits: u32,
}

/// A call, with its arguments and results: bytes in the frames' local memory, or registers.
#[derive(Clone, Debug)]
pub struct CallOp {
    /// The called function.
    pub target: CallTarget,
    /// The arguments as the caller sees them, in the order of the parameters.
    pub arguments: Box<[Passed]>,
    /// The places of the results in the caller.
    pub returns: Box<[Passed]>,
}

/// The function that a call reaches.
#[derive(Clone, Debug)]
pub enum CallTarget {
    /// The same function in all lanes.
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
    /// Bytes in the local memory of the frame.
    Local {
        /// The offset of the first byte in the frame.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// A register.
    Register {
        /// Its first row.
        slot: Slot,
        /// The number of 32-bit rows.
        rows: u32,
    },
    /// No place: the value is dropped, or unknown.
    Nothing,
}

/// A barrier of the threads of a block.
#[derive(Clone, Copy, Debug)]
pub struct BarrierOp {
    /// How a thread takes part.
    pub kind: BarrierKind,
    /// The row of the barrier number, 0 to 15.
    pub id: Slot,
    /// The number of threads that take part; the whole block if `None`.
    pub threads: Option<Slot>,
    /// Whether whole warps must execute it, as `bar` and `.aligned` say.
    pub is_aligned: bool,
    /// Whether a warp counts as 32 threads although only some of its lanes execute it.
    pub counts_warps: bool,
}

/// How a thread takes part in a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// It arrives and waits for the others.
    Sync,
    /// It arrives without waiting.
    Arrive,
    /// Whether the predicate is true in all threads. Reductions have their predicate in `a` of the operation, and their
    /// result in `d`.
    And,
    /// Whether the predicate is true in any thread.
    Or,
    /// The number of threads with a true predicate.
    Popc,
}

/// An exchange between the lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeOp {
    /// The values that lanes exchange.
    pub kind: ExchangeKind,
    /// The lanes that take part; the executing ones if `None`.
    pub members: Option<Slot>,
}

/// The values that the lanes of a warp exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeKind {
    /// `bar.warp.sync`.
    Sync,
    /// Takes `a` from the lane that `b` chooses. `c` limits it to a segment, and `e` is a predicate.
    Shuffle(Shuffle),
    /// Combines the predicates in `a` of all members.
    Vote(Vote),
    /// Compares values of 64 bits if `is_wide`. `all` also has a predicate in `e`.
    Match {
        /// Whether the result is the mask of members only if all have one value: `match.all`, not `match.any`.
        is_all: bool,
        /// Whether the values have 64 bits, not 32.
        is_wide: bool,
    },
    /// A reduction of `a`.
    Reduce {
        /// The function of two values: a sum, minimum, maximum or bitwise operation.
        operation: Atomic,
        /// The type of the values.
        scalar: ScalarType,
        /// For f32: whether it is one of magnitudes.
        is_absolute: bool,
        /// For f32: whether a NaN wins against numbers.
        keeps_nan: bool,
    },
    /// The leader in `d`, and whether it is this lane in `e`.
    Elect,
}

/// The lane that a shuffle reads, from its own number and the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane below by the operand.
    Up,
    /// The lane above by the operand.
    Down,
    /// The exclusive or of both.
    Butterfly,
    /// The operand.
    Index,
}

/// The result of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Whether all predicates are true.
    All,
    /// Whether one predicate is true.
    Any,
    /// Whether all predicates are equal.
    Uniform,
    /// The mask of lanes with a true predicate.
    Ballot,
}

/// The value of a row before the first instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Preset {
    /// A slot, the same value for all lanes, and the number of rows.
    Constant(Slot, u64, u32),
    /// A special register, in one row.
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
    /// The type. Its size in bytes is the number of bytes that are read.
    pub scalar: ScalarType,
    /// The width of the register in bits. The value is extended to it.
    pub bits: u32,
}

/// A special register with fixed values during a warp's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The index of the thread in its block along an axis: 0 for x, 1 for y, 2 for z.
    Thread(usize),
    /// The number of threads in a block along an axis.
    Threads(usize),
    /// The index of the block in the grid along an axis.
    Block(usize),
    /// The number of blocks in the grid along an axis.
    Blocks(usize),
    /// The number of the lane, 0 to 31.
    Lane,
    /// The number of the warp in its block.
    Warp,
    /// The number of warps in a block.
    Warps,
    /// A mask of lanes by their place relative to the own one.
    LaneMask {
        /// Whether lower lanes are in it.
        below: bool,
        /// Whether the own lane is in it.
        here: bool,
        /// Whether higher lanes are in it.
        above: bool,
    },
    /// The dynamic shared memory of a block in bytes.
    DynamicShared,
    /// The shared memory of a block in bytes, rounded up to allocation units.
    TotalShared,
    /// [`Self::TotalShared`] and the part that is reserved for the system.
    AllShared,
}

/// A decoded function.
#[derive(Clone, Debug, Default)]
pub struct FunctionCode {
    /// The first operation.
    pub entry: Pc,
    /// The number of 32-bit rows in a frame, including the first [`FIRST_ROW`].
    pub rows: usize,
    /// The rows with a value before the first instruction.
    pub presets: Vec<Preset>,
    /// The size of a frame's local memory in bytes: variables, and parameters of calls.
    pub local_bytes: u64,
    /// The offset and the size of each of these, sorted.
    pub locals: Vec<(u64, u64)>,
    /// The places of the parameters, in order.
    pub parameters: Vec<Passed>,
    /// The places of the results, in order.
    pub returns: Vec<Passed>,
}

impl FunctionCode {
    /// The bytes that a call of a warp copies: the frame's registers, the arguments and the results.
    pub(crate) fn bytes_of_call(&self) -> u64 {
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
    /// The operations of all functions, one function after the other.
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
    /// Whether the program itself says where lanes join again, by [`Action::Push`] and [`Action::Leave`].
    pub has_scopes: bool,
    /// The names of the rows in schedules, by their numbers there.
    pub row_names: Vec<Box<str>>,
    /// The shared memory of a block before its dynamic part, in bytes.
    pub shared_bytes: u64,
    /// The granularity of shared memory on the target, in bytes.
    pub shared_unit: u64,
}

/// The shared memory of a block that is reserved for the system, in bytes, as ptxas has it for every target.
pub const RESERVED_SHARED: u64 = 1024;

/// No scope of joins.
pub const NO_SCOPE: JoinScope = JoinScope::MAX;

impl Code {
    /// Whether an operation is in a scope of joins.
    #[inline]
    pub(crate) fn is_inside(&self, pc: Pc, scope: JoinScope) -> bool {
        let inner = self.inside.get(pc as usize).and_then(|inner| self.scopes.get(*inner as usize));
        match (inner, self.scopes.get(scope as usize)) {
            (Some(inner), Some(outer)) => outer.0 <= inner.0 && inner.1 <= outer.1,
            _ => false,
        }
    }
}

impl Op {
    /// Creates an operation without operands, which counts.
    #[must_use]
    pub fn new(action: Action, site: Site) -> Self {
        let (guard, counts) = (None, true);
        let (d, a, b, c, e) = (0, 0, 0, 0, 0);
        let (carries, loads, alone) = (false, false, None);
        Self { action, guard, d, a, b, c, e, site, counts, carries, loads, alone }
    }

    /// Creates an operation on registers. `d` is the first row of the result, `sources` of at most four sources.
    #[must_use]
    pub fn lanes(operation: LaneOperation, site: Site, d: Slot, sources: &[Slot]) -> Self {
        let at = |place: usize| sources.get(place).copied().unwrap_or(NONE);
        let (a, b, c, e) = (at(0), at(1), at(2), at(3));
        Self { d, a, b, c, e, ..Self::new(Action::Lanes(operation.function), site) }
    }
}
