//! [`Warp`]: executes 32 lanes, which can diverge and reconverge.
//!
//! Lanes with the same program counter form a [`Path`]. A divergent branch splits the path. At each block where several
//! ways meet, lanes wait for all lanes with a position in the block's scope, because these may still arrive: see
//! the scopes of [`Code`]. `ptxas` opens a barrier there, too. Ready paths take turns, because a lane may wait
//! for another lane of its warp, such as in a spin lock.

use crate::block::BARRIERS;
use crate::code::{
    Action, BarrierOp, CallOp, CallTarget, Callee, Code, ExchangeKind, ExchangeOp, JoinKind, Op,
    Passed, Pc, Preset, RESERVED_SHARED, Special,
};
use crate::control::Tokens;
use crate::engine::{Engine, Stop};
use crate::exchange;
use crate::externals;
use crate::fault::{BarrierFault, FaultKind, MachineFaultKind, StackLimit};
use crate::hang::Poll;
use crate::matrix;
use crate::memory::{LocalMemory, UNWRITTEN};
use crate::observer::SkipReason;
use crate::registers::{CARRY, Registers, Slot};
use crate::scoreboard::Scoreboard;
use crate::stack;
use crate::tensor_load;
use crate::{access, effects};
use warpload::lane::{LANES, LaneMask};

/// The instructions that a path executes before another path of its warp gets a turn.
const PATH_TURN: u32 = 1 << 12;

/// The turns that a warp gives up before lanes stop waiting at joins. The lane that they wait for may itself wait for
/// one of them.
const YIELDS: u32 = 1 << 8;

/// The turns of [`PATH_TURN`] instructions after which lanes stop waiting at joins, if no lane has arrived at a join.
/// Turns with a poll count more: see [`Warp::lose_patience`].
const PATIENCE: u32 = 64;

/// The same for turns with atomic operations that changed memory.
const PATIENCE_OF_CHANGES: u32 = 4;

/// The deepest nesting of calls.
const MAX_DEPTH: usize = 1 << 12;

/// The limit on registers and local memory of all frames of all warps, in bytes. Each lane may be in another function
/// of its own depth, so a limit on the depth is not enough.
pub(crate) const MAX_STACK: u64 = 1 << 30;

/// The most bytes of registers that a frame keeps for the next call, and the most frames that keep them.
const KEPT_BYTES: u64 = 1 << 16;
const KEPT_FRAMES: usize = 16;

/// Lanes with the same next instruction.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Path {
    pub(crate) mask: u32,
    pub(crate) pc: Pc,
    pub(crate) frame: usize,
}

/// One call of a function.
#[derive(Debug, Hash)]
pub(crate) struct Frame {
    pub(crate) function: usize,
    pub(crate) registers: Registers,
    /// The offset of its variables in local memory.
    pub(crate) local_base: u64,
    /// The first free address of each lane after the frame's variables; `None` if `alloca` has not been executed.
    pub(crate) stack: Option<Box<[u64; LANES]>>,
    /// The call instruction, and the caller's frame; `None` for the kernel.
    pub(crate) caller: Option<(Pc, usize)>,
    depth: usize,
    /// The lanes that have not ended, and those that have returned.
    expected: u32,
    returned: u32,
    /// The calls that some of its lanes are in: the instruction, and the frame of the function.
    calls: Vec<(Pc, usize)>,
    /// The bytes that it counts in [`Block::stack_bytes`](crate::engine::Block), besides its own size.
    bytes: u64,
}

impl Frame {
    /// The end of its local memory.
    pub(crate) fn end(&self, code: &Code) -> u64 {
        let end = self.local_base + code.functions[self.function].local_bytes;
        self.stack.iter().flat_map(|tops| tops.iter()).fold(end, |most, top| most.max(*top))
    }
}

/// A path that waits for the other members of an exchange.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    path: Path,
    members: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Warp {
    pub(crate) number: u32,
    /// The lanes that have a thread.
    lanes: u32,
    /// The lanes that have not exited.
    pub(crate) alive: u32,
    pub(crate) ready: Vec<Path>,
    waiting: Vec<Waiting>,
    /// Paths at a join, before the operation there.
    parked: Vec<Path>,
    /// Paths at barriers of the block.
    held: Vec<Path>,
    /// The lanes that go on once no path is left, in programs that say where their lanes join.
    pub(crate) tokens: Tokens,
    /// The turns since a lane has arrived at a join.
    impatience: u32,
    pub(crate) frames: Vec<Frame>,
    free_frames: Vec<usize>,
    pub(crate) local: LocalMemory,
    /// The number of turns given up because a wait has failed.
    yields: u32,
    /// The last polls of each instruction, the latest one last.
    pub(crate) polls: Vec<Poll>,
    /// The instructions that may not be done, in launches that check schedules.
    scoreboard: Scoreboard,
}

/// The reason why a warp stops for now.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// No path is ready.
    Idle,
    /// A path has arrived at a barrier of its block.
    Barrier(Path, BarrierOp),
    /// Lanes have ended.
    Ended,
    /// The turn is over.
    Turn,
}

/// The continuation of a path after an instruction.
enum Next {
    Goes,
    /// The path no longer runs here: it waits at a join or barrier, was split, or has exited.
    Left,
    Event(Event),
}

impl Warp {
    /// Starts a kernel with the lanes of a mask. Frames are kept, to reuse their memory.
    pub(crate) fn begin(
        &mut self,
        engine: &mut Engine<'_>,
        number: u32,
        lanes: u32,
    ) -> Result<(), Stop> {
        self.number = number;
        self.lanes = lanes;
        self.alive = lanes;
        self.ready.clear();
        self.waiting.clear();
        self.parked.clear();
        self.held.clear();
        self.tokens.clear();
        self.scoreboard.clear();
        self.impatience = 0;
        self.free_frames.clear();
        for frame in (0..self.frames.len()).rev() {
            self.recycle(frame, engine);
        }
        let of_image = engine.memory.local.memory_bytes();
        let more = of_image.saturating_sub(self.local.memory_bytes());
        engine.block.stack_bytes = engine.block.stack_bytes.saturating_add(more);
        if engine.block.stack_bytes > MAX_STACK {
            return Err(Stop::Lanes(lanes, FaultKind::StackOverflow { limit: StackLimit::Launch }));
        }
        self.local.reset(&engine.memory.local, engine.options.checks.uninitialized);
        // None of the threads is active: nothing to execute, as if all had exited.
        if lanes == 0 {
            return Ok(());
        }
        let frame = self.new_frame(engine, 0, 0, lanes, None)?;
        self.ready.push(Path { mask: lanes, pc: engine.code.functions[0].entry, frame });
        Ok(())
    }

    /// Creates a frame for a call by the lanes of a mask.
    fn new_frame(
        &mut self,
        engine: &mut Engine<'_>,
        function: usize,
        local_base: u64,
        lanes: u32,
        caller: Option<(Pc, usize)>,
    ) -> Result<usize, Stop> {
        let overflow = |limit| Stop::Lanes(lanes, FaultKind::StackOverflow { limit });
        let depth = caller.map_or(0, |(_, frame)| self.frames[frame].depth + 1);
        if depth > MAX_DEPTH {
            return Err(overflow(StackLimit::Calls));
        }
        let code = &engine.code.functions[function];
        let local_end = local_base.saturating_add(code.local_bytes);
        let local_bytes = LocalMemory::bytes_for(local_end).ok_or(overflow(StackLimit::Local))?;
        let template = &engine.templates[function];
        let reused = self.free_frames.last().copied();
        let kept = reused.map_or(0, |at| self.frames[at].bytes);
        let new = if reused.is_none() { size_of::<Frame>() as u64 } else { 0 };
        let more = template.memory_bytes().saturating_sub(kept)
            + local_bytes.saturating_sub(self.local.memory_bytes())
            + new;
        let stack_bytes = engine.block.stack_bytes.saturating_add(more);
        if stack_bytes > MAX_STACK {
            return Err(overflow(StackLimit::Launch));
        }
        engine.block.stack_bytes = stack_bytes;
        self.local.reserve(local_end, engine.options.checks.uninitialized);
        if engine.options.checks.uninitialized {
            // An earlier call may have used the same memory.
            self.forget_writes(local_base, code.local_bytes, lanes);
        }
        let at = match self.free_frames.pop() {
            Some(at) => {
                self.frames[at].registers.copy_from(template);
                at
            }
            None => {
                self.frames.push(Frame {
                    function,
                    registers: template.clone(),
                    local_base,
                    stack: None,
                    caller,
                    depth,
                    expected: lanes,
                    returned: 0,
                    calls: Vec::new(),
                    bytes: 0,
                });
                self.frames.len() - 1
            }
        };
        let frame = &mut self.frames[at];
        (frame.function, frame.local_base) = (function, local_base);
        (frame.caller, frame.depth) = (caller, depth);
        (frame.expected, frame.returned) = (lanes, 0);
        frame.calls.clear();
        frame.bytes = frame.bytes.max(template.memory_bytes());
        frame.stack = None;
        for preset in &code.presets {
            if let Preset::Special(slot, special) = preset {
                let row = special_row(*special, &engine.shape, engine.block.index, self.number);
                frame.registers.put::<u32>(*slot, &row, u32::MAX);
                frame.registers.know(*slot, u32::MAX);
            }
        }
        Ok(at)
    }

    /// Marks local memory as unwritten in the lanes of a mask.
    fn forget_writes(&mut self, offset: u64, bytes: u64, mask: u32) {
        for lane in lanes(mask) {
            let at = self.local.place(lane, offset);
            self.local.bytes.mark(at..at + bytes as usize, UNWRITTEN);
        }
    }

    /// Keeps a frame for another call. Large ones, and more than a few, give their registers back.
    fn recycle(&mut self, at: usize, engine: &mut Engine<'_>) {
        let frame = &mut self.frames[at];
        if frame.bytes > KEPT_BYTES || self.free_frames.len() >= KEPT_FRAMES {
            frame.registers = Registers::new(0, 0);
            engine.block.stack_bytes = engine.block.stack_bytes.saturating_sub(frame.bytes);
            frame.bytes = 0;
        }
        self.free_frames.push(at);
    }

    /// Executes paths until the block has to act.
    pub(crate) fn run(&mut self, engine: &mut Engine<'_>, turn: u64) -> Result<Event, Stop> {
        let last = engine.counts.warp_instructions.saturating_add(turn);
        // A lane that polls may wait for another warp, also if it does so in a function.
        let (soon, polls) = (engine.counts.warp_instructions + u64::from(PATH_TURN), engine.polls);
        loop {
            if !self.waiting.is_empty() {
                self.meet(engine);
            }
            if !self.parked.is_empty() {
                self.release(engine.code);
            }
            let next = self.ready.pop().or_else(|| self.pop_token());
            let Some(path) = next else { return Ok(Event::Idle) };
            if let Some(event) = self.run_path(path, engine)? {
                return Ok(event);
            }
            let now = engine.counts.warp_instructions;
            if now >= last || now >= soon && engine.polls != polls {
                return Ok(Event::Turn);
            }
        }
    }

    /// The next lanes of a program that says where its lanes join, unless some wait.
    fn pop_token(&mut self) -> Option<Path> {
        let is_left = self.held.is_empty() && self.waiting.is_empty() && self.parked.is_empty();
        if is_left { self.tokens.pop(self.alive) } else { None }
    }

    /// Executes a path until it leaves, or its turn is over.
    fn run_path(&mut self, mut path: Path, engine: &mut Engine<'_>) -> Result<Option<Event>, Stop> {
        let code = engine.code;
        let mut left = PATH_TURN;
        let (polls, changes) = (engine.polls, engine.changes);
        let begin = engine.counts.warp_instructions;
        loop {
            let op = &code.ops[path.pc as usize];
            let mut exec = path.mask;
            if let Some((slot, is_negated)) = op.guard {
                engine.last_site = op.site;
                exec = match self.guarded(&path, op, slot, is_negated) {
                    Ok(exec) => exec,
                    Err(stop) => return self.lose(path, op, stop, engine),
                };
            }
            if op.counts {
                engine.count(exec, op)?;
                left -= 1;
                engine.counts.loads += u64::from(op.loads && exec != 0);
            }
            if let Action::Lanes(function) = &op.action {
                if exec != 0 {
                    function.execute(&mut self.frames[path.frame].registers, op, exec);
                }
                path.pc += 1;
            } else {
                engine.last_site = op.site;
                let next = match self.act(&mut path, op, exec, engine) {
                    Ok(next) => next,
                    Err(stop) => {
                        if op.counts {
                            engine.uncount(exec);
                        }
                        return self.lose(path, op, stop, engine);
                    }
                };
                match next {
                    Next::Goes if engine.yields => {
                        engine.yields = false;
                        self.yields = self.yields.wrapping_add(1);
                        self.ready.insert(0, path);
                        if self.yields.is_multiple_of(YIELDS) {
                            self.part();
                        }
                        return Ok(Some(Event::Turn));
                    }
                    Next::Goes => {}
                    Next::Left => return Ok(None),
                    Next::Event(event) => return Ok(Some(event)),
                }
            }
            if left == 0 {
                engine.works |= engine.has_worked(begin, polls);
                // To the back of the queue: all other ready paths come first.
                self.ready.insert(0, path);
                let turns = match (engine.polls == polls, engine.changes == changes) {
                    (false, _) => PATIENCE,
                    (true, false) => PATIENCE / PATIENCE_OF_CHANGES,
                    (true, true) => 1,
                };
                self.lose_patience(turns);
                // A lane that polls memory may wait for another warp, which needs a turn.
                return Ok((turns > 1).then_some(Event::Turn));
            }
        }
    }

    /// Ends the lanes that cannot execute an instruction. The others will execute it.
    fn lose(
        &mut self,
        mut path: Path,
        op: &Op,
        stop: Stop,
        engine: &mut Engine<'_>,
    ) -> Result<Option<Event>, Stop> {
        let Stop::Lanes(lost, kind) = stop else { return Err(stop) };
        if op.alone.is_some() {
            let registers = &self.frames[path.frame].registers;
            let guard = op.guard.map_or(0, |(slot, _)| registers.unknown(slot)) & path.mask;
            let reason = match guard {
                0 => SkipReason::Address(LaneMask::from_bits(lost)),
                guard => SkipReason::Guard(LaneMask::from_bits(guard)),
            };
            effects::skip(self, &path, op, reason, engine)?;
            path.pc += 1;
            self.ready.push(path);
            return Ok(None);
        }
        self.end(lost, path.frame, &kind, op, engine);
        path.mask &= !lost;
        if path.mask != 0 {
            self.ready.push(path);
        }
        Ok(Some(Event::Ended))
    }

    /// Ends lanes of a frame with a fault.
    fn end(
        &mut self,
        lost: u32,
        frame: usize,
        kind: &MachineFaultKind,
        op: &Op,
        engine: &mut Engine<'_>,
    ) {
        for lane in lanes(lost) {
            engine.fault(kind.clone(), op, self.number, lane as u32, 0);
        }
        self.end_lanes(lost, frame, engine);
    }

    /// Counts turns without an arrival at a join. A lane that goes on for long may wait for a lane that waits for it at a
    /// join, so joins must let go: at once if it polls, because it has seen a value that another lane must change. An
    /// atomic operation that changes memory is a poll in some locks, and the work of a loop in others. Any other loop
    /// may poll as well.
    fn lose_patience(&mut self, turns: u32) {
        self.impatience += turns;
        if self.impatience >= PATIENCE {
            self.part();
        }
    }

    /// The lanes with a true guard.
    fn guarded(&mut self, path: &Path, op: &Op, slot: Slot, negated: bool) -> Result<u32, Stop> {
        let registers = &mut self.frames[path.frame].registers;
        let lanes = registers.predicate(slot);
        let exec = path.mask & if negated { !lanes } else { lanes };
        let unknown = registers.unknown(slot) & path.mask;
        if unknown == 0 {
            return Ok(exec);
        }
        let origin = registers.origin(slot);
        match &op.action {
            Action::Lanes(_) => {
                registers.forget(op.d, unknown, origin);
                if op.carries {
                    registers.forget(CARRY, unknown, origin);
                }
            }
            Action::NotExecuted(_) => return Ok(exec | unknown),
            Action::Nop | Action::Fence(_) | Action::Copies(_) | Action::Scheduled(_) => {}
            _ => return Err(self.unknown(path, slot, unknown, "a guard")),
        }
        Ok(exec & !unknown)
    }

    /// The fault of a needed value that is unknown, which ends the lanes that need it.
    pub(crate) fn unknown(&self, path: &Path, slot: Slot, lanes: u32, what: &'static str) -> Stop {
        let origin = self.frames[path.frame].registers.origin(slot);
        Stop::Lanes(lanes, FaultKind::UnknownValue { what, cause: origin })
    }

    /// Checks a value that an instruction needs.
    ///
    /// # Errors
    /// Returns [`Stop::Lanes`] with the lanes where it is unknown.
    pub(crate) fn need(
        &self,
        path: &Path,
        slot: Slot,
        exec: u32,
        what: &'static str,
    ) -> Result<(), Stop> {
        match self.frames[path.frame].registers.unknown(slot) & exec {
            0 => Ok(()),
            unknown => Err(self.unknown(path, slot, unknown, what)),
        }
    }

    fn act(
        &mut self,
        path: &mut Path,
        op: &Op,
        exec: u32,
        engine: &mut Engine<'_>,
    ) -> Result<Next, Stop> {
        match &op.action {
            Action::Memory(memory) => {
                if exec != 0 || op.alone.is_some() {
                    access::execute(self, path, op, memory, exec, engine)?;
                }
            }
            Action::Branch(target) => {
                if *target <= path.pc && exec != 0 {
                    let start = engine.code.ops[*target as usize].site;
                    engine.last_loop = Some((start, op.site));
                }
                return self.branch(path, *target, exec, engine.code);
            }
            Action::Push(kind, target) => {
                if exec != 0 {
                    self.push_token(Some(*kind), Path { pc: *target, ..*path })?;
                }
            }
            Action::Leave(kind) => {
                if exec != 0 {
                    self.tokens.leave(*kind, exec);
                    return Ok(self.stay(path, exec, Next::Left));
                }
            }
            Action::Enter(target) => {
                if exec != 0 {
                    let kind = JoinKind::Return;
                    self.push_token(Some(kind), Path { pc: path.pc + 1, ..*path })?;
                    // The other lanes are where a return would take them.
                    self.tokens.leave(kind, path.mask & !exec);
                    (path.mask, path.pc) = (exec, *target);
                    return Ok(Next::Goes);
                }
            }
            Action::BranchTable(table) => {
                let targets = engine.code.tables.get(*table).map_or(&[][..], |table| table);
                return self.branch_table(path, op, targets, exec, engine.code);
            }
            Action::Rejoin(_) | Action::RejoinCall => return Ok(self.rejoin(path, engine.code)),
            Action::Call(call) => {
                if exec != 0 {
                    return self.call(path, op, call, exec, engine);
                }
            }
            Action::Return => return Ok(self.leave(path, exec, engine, false)),
            Action::Exit => return Ok(self.leave(path, exec, engine, true)),
            Action::Trap => {
                if exec != 0 {
                    engine.fault(FaultKind::Trap, op, self.number, exec.trailing_zeros(), 0);
                    // "Abort execution": of the grid, and no later block begins.
                    engine.is_trapped = true;
                    return Err(Stop::Launch(op.site));
                }
                path.pc += 1;
                return Ok(Next::Goes);
            }
            Action::Barrier(barrier) => {
                if exec != 0 {
                    return self.barrier(path, op, barrier, exec, engine);
                }
            }
            Action::Exchange(exchange) => {
                if exec != 0 {
                    return self.exchange(path, op, exchange, exec, engine);
                }
            }
            Action::Matrix(matrix) => {
                if exec != 0 {
                    self.check_aligned(op, exec, engine);
                    matrix::execute(self, path, op, matrix, exec, engine)?;
                }
            }
            Action::TensorLoad(load) => {
                if exec != 0 || op.alone.is_some() {
                    self.check_aligned(op, exec, engine);
                    tensor_load::execute(self, path, op, load, exec, engine)?;
                }
            }
            Action::Clock { shift, is_wide } => {
                engine.effects += 1;
                engine.clocks += 1;
                let now = engine.counts.warp_instructions >> shift;
                let registers = &mut self.frames[path.frame].registers;
                if *is_wide {
                    registers.broadcast(op.d, now);
                } else {
                    registers.broadcast(op.d, now as u32);
                }
            }
            Action::FrameAddress { offset, is_wide } => {
                let frame = &mut self.frames[path.frame];
                let address = frame.local_base + offset;
                if *is_wide {
                    frame.registers.broadcast(op.d, address);
                } else {
                    frame.registers.broadcast(op.d, address as u32);
                }
            }
            Action::Declared { offset, bytes } => {
                let base = self.frames[path.frame].local_base;
                if engine.options.checks.uninitialized {
                    self.forget_writes(base + offset, *bytes, exec);
                }
            }
            Action::Fence(fence) => {
                if let Some(races) = &mut engine.races {
                    let order = &mut engine.block.order;
                    order.fence(self.number, exec, *fence, &mut races.moments);
                }
            }
            Action::Copies(operation) => {
                if let Some(races) = &mut engine.races {
                    let order = &mut engine.block.order;
                    order.group_copies(*operation, self.number, exec, &mut races.moments);
                }
            }
            Action::Stack(operation) => {
                if exec != 0 {
                    engine.effects += 1;
                    stack::execute(self, path, op, *operation, exec, engine)?;
                }
            }
            Action::ActiveMask => {
                let registers = &mut self.frames[path.frame].registers;
                registers.put(op.d, &[exec; 32], exec);
                registers.know(op.d, exec);
            }
            Action::NotExecuted(effects) => {
                if exec != 0 {
                    engine.effects += 1;
                    effects::execute(self, path, op, effects, exec, engine)?;
                }
            }
            Action::Scheduled(scheduled) => {
                let lanes = (path.mask, exec);
                for finding in self.scoreboard.begin(scheduled, op.site, engine.code, lanes) {
                    let (other, fault) = (finding.other, Box::new(finding.fault));
                    let kind = FaultKind::Scoreboard { other, fault };
                    engine.fault(kind, op, self.number, finding.lanes.trailing_zeros(), 0);
                }
            }
            Action::Nop | Action::Lanes(_) => {}
        }
        path.pc += 1;
        Ok(Next::Goes)
    }

    /// Reports lanes that do not execute an instruction that whole warps must execute. Lanes that have exited count: "if any
    /// thread in the warp has exited", the ISA says of `mma`.
    fn check_aligned(&self, op: &Op, exec: u32, engine: &mut Engine<'_>) {
        let missing = self.lanes & !exec;
        if exec != 0 && missing != 0 && engine.options.checks.sync {
            let kind = FaultKind::PartOfWarp { missing };
            engine.fault(kind, op, self.number, exec.trailing_zeros(), 0);
        }
    }

    // Divergence.

    fn branch(
        &mut self,
        path: &mut Path,
        target: Pc,
        exec: u32,
        code: &Code,
    ) -> Result<Next, Stop> {
        let stays = path.mask & !exec;
        // Lanes that branch to the next instruction do not diverge.
        if stays == 0 || target == path.pc + 1 {
            path.pc = target;
            return Ok(Next::Goes);
        }
        if exec != 0 {
            self.part_from(Path { mask: exec, pc: target, ..*path }, code)?;
            path.mask = stays;
        }
        path.pc += 1;
        Ok(Next::Goes)
    }

    /// One side of a divergent branch: it takes turns with the other one, or goes on after it.
    fn part_from(&mut self, path: Path, code: &Code) -> Result<(), Stop> {
        if code.has_scopes {
            return self.push_token(None, path);
        }
        self.ready.push(path);
        Ok(())
    }

    fn push_token(&mut self, kind: Option<JoinKind>, path: Path) -> Result<(), Stop> {
        match self.tokens.push(kind, path) {
            true => Ok(()),
            false => {
                let kind = FaultKind::StackOverflow { limit: StackLimit::Calls };
                Err(Stop::Lanes(path.mask, kind))
            }
        }
    }

    fn branch_table(
        &mut self,
        path: &mut Path,
        op: &Op,
        targets: &[Pc],
        exec: u32,
        code: &Code,
    ) -> Result<Next, Stop> {
        self.need(path, op.a, exec, "a branch index")?;
        let registers = &self.frames[path.frame].registers;
        let indices = *registers.get::<u32>(op.a);
        let mut parts: Vec<(Pc, u32)> = Vec::new();
        if path.mask & !exec != 0 {
            parts.push((path.pc + 1, path.mask & !exec));
        }
        for lane in lanes(exec) {
            let target = targets.get(indices[lane] as usize);
            let target = *target.ok_or(Stop::Lanes(1 << lane, FaultKind::BranchIndex))?;
            match parts.iter_mut().find(|part| part.0 == target) {
                Some(part) => part.1 |= 1 << lane,
                None => parts.push((target, 1 << lane)),
            }
        }
        if let [(target, _)] = parts[..] {
            path.pc = target;
            return Ok(Next::Goes);
        }
        for (pc, mask) in parts {
            self.part_from(Path { mask, pc, ..*path }, code)?;
        }
        Ok(Next::Left)
    }

    /// Arrives at a join. Goes on with all lanes that have arrived, or waits.
    fn rejoin(&mut self, path: &mut Path, code: &Code) -> Next {
        // Nearly always, no lane is elsewhere.
        if path.mask != self.alive {
            if self.is_awaited(path, code) {
                self.impatience = 0;
                self.parked.push(*path);
                return Next::Left;
            }
            let is_here = |other: &Path| (other.pc, other.frame) == (path.pc, path.frame);
            let here = self.parked.extract_if(.., |other| is_here(other));
            path.mask |= here.fold(0, |all, other| all | other.mask);
        }
        path.pc += 1;
        Next::Goes
    }

    /// Whether lanes elsewhere may still arrive at the join where a path is.
    fn is_awaited(&self, path: &Path, code: &Code) -> bool {
        let scope = match code.ops[path.pc as usize].action {
            Action::Rejoin(scope) => Some(scope),
            _ => None,
        };
        let comes = |pc: Pc| scope.is_some_and(|scope| code.is_inside(pc, scope));
        let running = self.ready.iter().chain(&self.held);
        let mut running = running.chain(self.waiting.iter().map(|waiting| &waiting.path));
        let is_coming =
            |other: &Path| other.frame == path.frame && (other.pc == path.pc || comes(other.pc));
        // Those parked here have arrived. Scopes are nested, so no two joins wait for each other.
        let is_parked_inside =
            |other: &Path| other.frame == path.frame && other.pc != path.pc && comes(other.pc);
        let is_called = |call: &(Pc, usize)| match scope {
            Some(_) => comes(call.0),
            None => call.0 + 1 == path.pc,
        };
        running.any(is_coming)
            || self.parked.iter().any(is_parked_inside)
            || self.frames[path.frame].calls.iter().any(is_called)
    }

    /// Lets paths at joins go on that no other lane will arrive at.
    fn release(&mut self, code: &Code) {
        let mut at = 0;
        while let Some(path) = self.parked.get(at).copied() {
            if self.is_awaited(&path, code) {
                at += 1;
                continue;
            }
            let is_here = |other: &mut Path| (other.pc, other.frame) == (path.pc, path.frame);
            let here = self.parked.extract_if(.., is_here);
            let mask = here.fold(0, |all, other| all | other.mask);
            self.go_on(Path { mask, pc: path.pc + 1, ..path });
            // An earlier path may have waited for these lanes, so the search begins again.
            at = 0;
        }
    }

    /// Makes a path ready that has waited. It goes on together with a path at the same instruction.
    fn go_on(&mut self, path: Path) {
        let same = |ready: &&mut Path| (ready.pc, ready.frame) == (path.pc, path.frame);
        match self.ready.iter_mut().find(same) {
            Some(ready) => ready.mask |= path.mask,
            None => self.ready.push(path),
        }
    }

    /// Continues after a barrier of the block.
    pub(crate) fn pass_barrier(&mut self, path: Path) {
        let is_it = |held: &Path| held.frame == path.frame && held.mask & path.mask != 0;
        self.held.retain(|held| !is_it(held));
        let mask = path.mask & self.alive;
        if mask != 0 {
            self.go_on(Path { mask, pc: path.pc + 1, ..path });
        }
    }

    /// Releases lanes that wait at joins for lanes that cannot arrive, such as lanes at a barrier that waits for the
    /// released ones. Returns whether there were any.
    pub(crate) fn part(&mut self) -> bool {
        self.impatience = 0;
        let parked = std::mem::take(&mut self.parked);
        for path in &parked {
            self.go_on(Path { pc: path.pc + 1, ..*path });
        }
        !parked.is_empty()
    }

    /// Ends lanes. No frame waits for them any more.
    fn end_lanes(&mut self, lanes: u32, frame: usize, engine: &mut Engine<'_>) {
        self.alive &= !lanes;
        self.impatience = 0;
        let mut next = Some(frame);
        while let Some(at) = next {
            self.frames[at].expected &= !lanes;
            next = self.frames[at].caller.map(|caller| caller.1);
            self.return_from(at, engine);
        }
    }

    // Calls and ends.

    fn call(
        &mut self,
        path: &mut Path,
        op: &Op,
        call: &CallOp,
        exec: u32,
        engine: &mut Engine<'_>,
    ) -> Result<Next, Stop> {
        let mut called: Vec<(Callee, u32)> = Vec::new();
        match call.target {
            CallTarget::Direct(callee) => called.push((callee, exec)),
            CallTarget::Indirect(slot) => {
                self.need(path, slot, exec, "the address of a function")?;
                let registers = &self.frames[path.frame].registers;
                for lane in lanes(exec) {
                    let address = registers.get::<u64>(slot)[lane];
                    let callee = *(engine.code.callees.get(&address))
                        .ok_or(Stop::Lanes(1 << lane, FaultKind::NoFunction { address }))?;
                    match called.iter_mut().find(|part| part.0 == callee) {
                        Some(part) => part.1 |= 1 << lane,
                        None => called.push((callee, 1 << lane)),
                    }
                }
            }
        }
        let mut ended = 0;
        let mut parts: Vec<(usize, u32)> = Vec::new();
        for (callee, mask) in called {
            match callee {
                Callee::Function(function) => parts.push((function, mask)),
                Callee::External(external) => {
                    engine.effects += 1;
                    let external = engine.code.externals[external];
                    ended |= externals::call(self, path, (op, call), external, mask, engine);
                }
            }
        }
        if ended != 0 {
            self.end_lanes(ended, path.frame, engine);
            path.mask &= !ended;
        }
        if parts.is_empty() {
            path.pc += 1;
            if ended == 0 {
                return Ok(Next::Goes);
            }
            if path.mask != 0 {
                self.ready.push(*path);
            }
            return Ok(Next::Event(Event::Ended));
        }
        let exec = parts.iter().fold(0, |all, part| all | part.1);
        let caller = &self.frames[path.frame];
        let base = caller.end(engine.code).next_multiple_of(16);
        let pc = path.pc;
        let mut next = if ended == 0 { Next::Left } else { Next::Event(Event::Ended) };
        for (function, mask) in parts {
            let frame = match self.new_frame(engine, function, base, mask, (pc, path.frame).into())
            {
                Ok(frame) => frame,
                Err(Stop::Lanes(_, kind)) => {
                    self.end(mask, path.frame, &kind, op, engine);
                    next = Next::Event(Event::Ended);
                    continue;
                }
                Err(stop) => return Err(stop),
            };
            self.frames[path.frame].calls.push((pc, frame));
            self.pass_arguments(path.frame, frame, call, mask, engine);
            engine.copied(engine.code.functions[function].bytes_of_call());
            let entry = engine.code.functions[function].entry;
            self.ready.push(Path { mask, pc: entry, frame });
        }
        Ok(self.stay(path, exec, next))
    }

    fn pass_arguments(
        &mut self,
        from: usize,
        to: usize,
        call: &CallOp,
        mask: u32,
        engine: &mut Engine<'_>,
    ) {
        let parameters = &engine.code.functions[self.frames[to].function].parameters;
        for (argument, parameter) in call.arguments.iter().zip(parameters) {
            self.pass(from, *argument, to, *parameter, mask, engine);
        }
    }

    /// Copies an argument or a result between two frames.
    fn pass(
        &mut self,
        from: usize,
        source: Passed,
        to: usize,
        target: Passed,
        mask: u32,
        engine: &mut Engine<'_>,
    ) {
        let Engine { origins, effects, .. } = engine;
        for lane in lanes(mask) {
            let mut bytes = [0; 16];
            let flags = match (source, target) {
                (Passed::Local { offset, bytes }, Passed::Local { offset: into, bytes: room }) => {
                    let size = bytes.min(room) as usize;
                    let from = self.local.place(lane, self.frames[from].local_base + offset);
                    let to = self.local.place(lane, self.frames[to].local_base + into);
                    let values = &self.local.bytes.values;
                    *effects += u64::from(values[from..from + size] != values[to..to + size]);
                    self.local.bytes.copy_within(from..from + size, to);
                    continue;
                }
                (Passed::Local { offset, bytes: size }, _) => {
                    let size = size.min(16) as usize;
                    let at = self.local.place(lane, self.frames[from].local_base + offset);
                    bytes[..size].copy_from_slice(&self.local.bytes.values[at..at + size]);
                    self.local.bytes.flags(at..at + size)
                }
                (Passed::Register { slot, rows }, _) => {
                    let registers = &self.frames[from].registers;
                    bytes = registers.lane(slot, rows, lane).to_le_bytes();
                    match registers.unknown(slot) >> lane & 1 {
                        0 => 0,
                        _ => origins.flags(registers.origin(slot)),
                    }
                }
                (Passed::Nothing, _) => continue,
            };
            match target {
                Passed::Local { offset, bytes: size } => {
                    let size = size.min(16) as usize;
                    let at = self.local.place(lane, self.frames[to].local_base + offset);
                    let place = &mut self.local.bytes.values[at..at + size];
                    *effects += u64::from(*place != bytes[..size]);
                    place.copy_from_slice(&bytes[..size]);
                    self.local.bytes.mark(at..at + size, flags);
                }
                Passed::Register { slot, rows } => {
                    let registers = &mut self.frames[to].registers;
                    registers.set_lane(slot, rows, lane, u128::from_le_bytes(bytes));
                    match origins.of(flags) {
                        Some(origin) => registers.forget(slot, 1 << lane, origin),
                        None => registers.know(slot, 1 << lane),
                    }
                }
                Passed::Nothing => {}
            }
        }
    }

    /// Handles lanes that return from their function, or exit.
    fn leave(&mut self, path: &mut Path, exec: u32, engine: &mut Engine<'_>, ends: bool) -> Next {
        if exec == 0 {
            path.pc += 1;
            return Next::Goes;
        }
        let at = path.frame;
        let caller = self.frames[at].caller.filter(|_| !ends);
        let Some((call, caller)) = caller else {
            self.end_lanes(exec, at, engine);
            return self.stay(path, exec, Next::Event(Event::Ended));
        };
        if let Action::Call(call) = &engine.code.ops[call as usize].action {
            let results = &engine.code.functions[self.frames[at].function].returns;
            for (result, target) in results.iter().zip(&call.returns) {
                self.pass(at, *result, caller, *target, exec, engine);
            }
        }
        self.frames[at].returned |= exec;
        let next = self.stay(path, exec, Next::Left);
        self.return_from(at, engine);
        next
    }

    /// Continues after a call if all of its lanes have returned.
    fn return_from(&mut self, at: usize, engine: &mut Engine<'_>) {
        let Frame { caller, expected, returned, .. } = self.frames[at];
        let Some((pc, caller)) = caller.filter(|_| returned == expected) else { return };
        self.frames[caller].calls.retain(|call| call.1 != at);
        self.recycle(at, engine);
        if expected != 0 {
            self.ready.push(Path { mask: expected, pc: pc + 1, frame: caller });
        }
    }

    /// Continues with the remaining lanes of a path.
    fn stay(&mut self, path: &mut Path, exec: u32, next: Next) -> Next {
        path.mask &= !exec;
        if path.mask != 0 {
            path.pc += 1;
            self.ready.push(*path);
        }
        next
    }

    // Lanes that wait for each other.

    fn barrier(
        &mut self,
        path: &mut Path,
        op: &Op,
        barrier: &BarrierOp,
        exec: u32,
        engine: &mut Engine<'_>,
    ) -> Result<Next, Stop> {
        self.need(path, barrier.id, exec, "a barrier's number")?;
        if let Some(threads) = barrier.threads {
            self.need(path, threads, exec, "a barrier's number of threads")?;
        }
        let ids = self.frames[path.frame].registers.get::<u32>(barrier.id);
        let beyond = lanes(exec).filter(|lane| ids[*lane] as usize >= BARRIERS);
        let beyond = beyond.fold(0, |mask, lane| mask | 1_u32 << lane);
        if beyond != 0 {
            let number = ids[beyond.trailing_zeros() as usize];
            return Err(Stop::Lanes(beyond, FaultKind::Barrier(BarrierFault::Number(number))));
        }
        // Lanes may name different barriers. The others of the path execute it after the first ones.
        let counts = barrier.threads.map(|slot| self.frames[path.frame].registers.get::<u32>(slot));
        let named = |lane: usize| (ids[lane], counts.map(|counts| counts[lane]));
        let first = named(exec.trailing_zeros() as usize);
        let alike = lanes(exec).filter(|lane| named(*lane) == first);
        let alike = alike.fold(0, |mask, lane| mask | 1_u32 << lane);
        let others = exec & !alike;
        if others != 0 {
            if barrier.is_aligned && engine.options.checks.sync {
                let kind = FaultKind::Barrier(BarrierFault::Several);
                engine.fault(kind, op, self.number, others.trailing_zeros(), 0);
            }
            self.ready.push(Path { mask: others, ..*path });
        }
        let arrived = Path { mask: alike, ..*path };
        self.held.push(arrived);
        let next = Next::Event(Event::Barrier(arrived, *barrier));
        Ok(self.stay(path, exec, next))
    }

    fn exchange(
        &mut self,
        path: &mut Path,
        op: &Op,
        exchange: &ExchangeOp,
        exec: u32,
        engine: &mut Engine<'_>,
    ) -> Result<Next, Stop> {
        let Some(slot) = exchange.members else {
            self.exchange_now(path.frame, op, exchange.kind, exec, exec, engine);
            path.pc += 1;
            return Ok(Next::Goes);
        };
        self.need(path, slot, exec, "a mask of lanes")?;
        let registers = &self.frames[path.frame].registers;
        let masks = *registers.get::<u32>(slot);
        // Lanes that arrive together may name different masks. They form groups that exchange values separately.
        let (mut left, mut waits) = (exec, 0);
        while left != 0 {
            let members = masks[left.trailing_zeros() as usize];
            let group = lanes(left).filter(|lane| masks[*lane] == members);
            let group = group.fold(0, |all, lane| all | 1 << lane);
            left &= !group;
            if engine.options.checks.sync {
                for lane in lanes(group & !members) {
                    let kind = FaultKind::Membermask { members };
                    engine.fault(kind, op, self.number, lane as u32, 0);
                }
            }
            if members & self.alive & !group == 0 {
                self.exchange_now(path.frame, op, exchange.kind, group, members, engine);
            } else {
                self.waiting.push(Waiting { path: Path { mask: group, ..*path }, members });
                waits |= group;
            }
        }
        if waits == 0 {
            path.pc += 1;
            return Ok(Next::Goes);
        }
        Ok(self.stay(path, waits, Next::Left))
    }

    /// Executes an exchange among the named members.
    fn exchange_now(
        &mut self,
        frame: usize,
        op: &Op,
        kind: ExchangeKind,
        exec: u32,
        members: u32,
        engine: &mut Engine<'_>,
    ) {
        if let (ExchangeKind::Sync, Some(races)) = (kind, &mut engine.races) {
            engine.block.order.meet(self.number, exec & members, &mut races.moments);
        }
        let registers = &mut self.frames[frame].registers;
        exchange::execute(registers, op, kind, exec, members);
    }

    /// Executes an exchange once all of its members have arrived, at one instruction or at several of its kind.
    fn meet(&mut self, engine: &mut Engine<'_>) {
        let code = engine.code;
        let kind = |waiting: &Waiting| match code.ops[waiting.path.pc as usize].action {
            Action::Exchange(exchange) => Some(exchange.kind),
            _ => None,
        };
        for first in 0..self.waiting.len() {
            let Waiting { members, .. } = self.waiting[first];
            let Some(same) = kind(&self.waiting[first]) else { continue };
            let is_one =
                |waiting: &Waiting| waiting.members == members && kind(waiting) == Some(same);
            let arrived = self.waiting.iter().filter(|waiting| is_one(waiting));
            let arrived = arrived.fold(0, |all, of| all | of.path.mask);
            if members & self.alive & !arrived != 0 {
                continue;
            }
            let (met, rest): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(is_one);
            self.waiting = rest;
            let mut places: Vec<Path> = Vec::new();
            for Waiting { path, .. } in &met {
                let is_here = |place: &&mut Path| (place.pc, place.frame) == (path.pc, path.frame);
                match places.iter_mut().find(is_here) {
                    Some(place) => place.mask |= path.mask,
                    None => places.push(*path),
                }
            }
            let op_at = |place: &Path| &code.ops[place.pc as usize];
            if same == ExchangeKind::Sync || places.len() == 1 {
                let (frame, op) = (places[0].frame, op_at(&places[0]));
                self.exchange_now(frame, op, same, arrived, members, engine);
                places.clear();
            }
            // Each place reads a copy, because a result may be the source of another place.
            let mut results = Vec::new();
            for place in &places {
                let op = op_at(place);
                let mut registers = self.frames[place.frame].registers.clone();
                for other in places.iter().filter(|other| other.mask != place.mask) {
                    let (from, source) = (&self.frames[other.frame].registers, op_at(other).a);
                    exchange::lend(&mut registers, op.a, from, source, same, other.mask);
                }
                exchange::execute(&mut registers, op, same, arrived, members);
                results.push(registers);
            }
            for (place, results) in places.iter().zip(&results) {
                let registers = &mut self.frames[place.frame].registers;
                exchange::take(registers, results, op_at(place), same, place.mask);
            }
            for Waiting { path, .. } in met {
                self.go_on(Path { pc: path.pc + 1, ..path });
            }
            return;
        }
    }

    /// The paths that wait at exchanges, each with the members that have not arrived.
    pub(crate) fn stuck(&self) -> impl Iterator<Item = (&Path, u32)> {
        self.waiting.iter().map(|Waiting { path, members }| {
            let together = self.waiting.iter().filter(|other| other.path.pc == path.pc);
            let arrived = together.fold(0, |all, other| all | other.path.mask);
            (path, members & self.alive & !arrived)
        })
    }

    /// All paths: ready ones, and those that wait, at an exchange, a join or a barrier.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path> {
        let waiting = self.waiting.iter().map(|waiting| &waiting.path);
        self.ready.iter().chain(waiting).chain(&self.parked).chain(&self.held).copied()
    }

    /// Notes that lanes have read what another thread may change.
    pub(crate) fn note_poll(&mut self, poll: Poll) {
        const MOST: usize = 16;
        self.polls.retain(|other| other.site != poll.site);
        if self.polls.len() == MOST {
            self.polls.remove(0);
        }
        self.polls.push(poll);
    }
}

/// The numbers of the lanes of a mask.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The values of a special register in each lane.
pub(crate) fn special_row(
    special: Special,
    shape: &crate::engine::Shape,
    block: [u32; 3],
    warp: u32,
) -> [u32; LANES] {
    let value = match special {
        Special::Thread(axis) => {
            let mut thread = shape.thread(warp, 0);
            // The usual case: the warp is a part of a row of threads.
            if thread[0] + LANES as u32 <= shape.threads[0] {
                let step = u32::from(axis == 0);
                return std::array::from_fn(|lane| thread[axis] + step * lane as u32);
            }
            return std::array::from_fn(|_| {
                let here = thread[axis];
                thread[0] += 1;
                for (lower, upper) in [(0, 1), (1, 2)] {
                    if thread[lower] == shape.threads[lower] {
                        thread[lower] = 0;
                        thread[upper] += 1;
                    }
                }
                here
            });
        }
        Special::Lane => return std::array::from_fn(|lane| lane as u32),
        Special::LaneMask { below, here, above } => {
            let part = |is_in: bool, mask: u32| if is_in { mask } else { 0 };
            return std::array::from_fn(|lane| {
                let bit = 1_u32 << lane;
                part(below, bit - 1) | part(here, bit) | part(above, !(bit | (bit - 1)))
            });
        }
        Special::Threads(axis) => shape.threads[axis],
        Special::Block(axis) => block[axis],
        Special::Blocks(axis) => shape.blocks[axis],
        Special::Warp => warp,
        Special::Warps => shape.warps(),
        Special::DynamicShared => shape.dynamic_shared as u32,
        Special::TotalShared => shape.allocated_shared as u32,
        Special::AllShared => (shape.allocated_shared + RESERVED_SHARED) as u32,
    };
    [value; LANES]
}
