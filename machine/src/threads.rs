//! Runs blocks on several threads, in batches: each thread runs some blocks in a row on a copy of memory. If no block has
//! read or written what a block of another thread has written, the copies become the memory, and what the blocks have found
//! is taken over in the order of the blocks. Otherwise the blocks run again, one after the other, and so do all later ones.
//! So the results are the same bytes for every number of threads.
//!
//! Launches where the order of blocks shows in another way run on one thread: see [`Engine::is_divisible`].

use std::collections::BTreeMap;
use std::thread;

use crate::code::{Action, AddressSpace, MemoryKind, MemoryOp, Site};
use crate::engine::Engine;
use crate::log::FaultLog;
use crate::memory::DeviceMemory;
use crate::observer::{LaunchCounts, MemoryObserver};

/// The share of a batch's instructions below which a second thread is not worth its start.
const LEAST: u64 = 8;

/// The bytes of written allocations for which a batch has one more warp instruction. To copy them takes less time.
const BYTES: u64 = 64;

/// The most threads, because each has a copy of the list of allocations, and an option may ask for any number.
const MAX_THREADS: usize = 1024;

/// Counts and findings of the blocks of a thread.
struct Part {
    counts: LaunchCounts,
    ended: u64,
    faults: FaultLog,
    skipped: BTreeMap<Site, u64>,
    printed: Vec<u8>,
}

impl Engine<'_> {
    /// Runs the first blocks of the grid on several threads. Returns how many.
    pub(crate) fn run_divided(&mut self) -> u64 {
        let blocks = self.options.block_count();
        let threads = match self.options.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads.min(MAX_THREADS),
        };
        if threads < 2 || blocks < 2 || !self.is_divisible() {
            return 0;
        }
        // The first block alone shows how long they are, and what they write.
        let mut done = 0;
        let mut each = 1;
        let mut count = 1;
        while done < blocks {
            let before = self.counts.warp_instructions;
            if !self.run_batch(done, each, count) {
                break;
            }
            done = (done + each * count as u64).min(blocks);
            let of_batch = self.counts.warp_instructions - before;
            let per_block = (of_batch / (each * count as u64)).max(1);
            let left = blocks - done;
            if left.saturating_mul(per_block) < self.options.batch / LEAST {
                break;
            }
            count = threads.min(left as usize);
            let work = self.options.batch.max(self.memory.written_bytes() / BYTES);
            each = (work / per_block).clamp(1, left.div_ceil(count as u64));
        }
        done
    }

    /// Whether the order of blocks only shows in memory, in findings and to an observer: no block waits for others, reads
    /// the clock, allocates memory, or adds to global memory, whose sums may depend on the order; and races are not checked,
    /// because blocks race with each other.
    fn is_divisible(&self) -> bool {
        let is_ordered = |access: &MemoryOp| {
            let is_global = matches!(access.space, AddressSpace::Global | AddressSpace::Generic);
            let orders = match access.kind {
                MemoryKind::Atomic(_) => true,
                MemoryKind::Load => access.strong.is_some(),
                MemoryKind::Store | MemoryKind::Copy { .. } | MemoryKind::Mbarrier(_) => false,
            };
            is_global && orders
        };
        let mut actions = self.code.ops.iter().map(|op| &op.action);
        self.options.only_block.is_none()
            && self.memory.is_plain()
            && self.races.is_none()
            && !self.code.externals.iter().any(|external| external.allocates())
            && !actions.any(|action| match action {
                Action::Clock { .. } => true,
                Action::Memory(access) => is_ordered(access),
                _ => false,
            })
    }

    /// Runs blocks one after the other. `None` if they must run again in order: a block waits for others, or one of them
    /// ends the launch.
    fn run_part(mut self, first: u64, count: u64) -> Option<Part> {
        for number in first..(first + count).min(self.options.block_count()) {
            self.begin(self.shape.block(number)).ok()?;
            if !self.run_begun().ok()? {
                return None;
            }
        }
        let is_whole = self.printed_bytes == self.printed.len() as u64;
        (is_whole && !self.is_trapped && !self.is_interrupted).then_some(Part {
            counts: self.counts,
            ended: self.ended,
            faults: self.faults,
            skipped: self.skipped,
            printed: self.printed,
        })
    }

    /// Adds the counts and findings of the next blocks.
    fn take_over(&mut self, part: Part) {
        self.counts.add(&part.counts);
        self.ended += part.ended;
        self.faults.extend(part.faults);
        for (site, count) in part.skipped {
            *self.skipped.entry(site).or_default() += count;
        }
        self.print(&part.printed);
    }

    /// Runs `count` times `each` blocks from `first` on, each time on another thread. Returns false, and changes nothing, if
    /// they must run one after the other.
    fn run_batch(&mut self, first: u64, each: u64, count: usize) -> bool {
        let Engine { code, options, watch, .. } = *self;
        let left = options.steps.saturating_sub(self.counts.warp_instructions);
        let mut memories: Vec<DeviceMemory> = (0..count).map(|_| self.memory.fork()).collect();
        let observers: Vec<Option<Box<dyn MemoryObserver + Send + '_>>> = match &mut self.observer {
            None => (0..count).map(|_| None).collect(),
            Some(observer) => match observer.divide(count) {
                Some(parts) => parts.into_iter().map(Some).collect(),
                None => return false,
            },
        };
        let parts = thread::scope(|scope| {
            let each_part = (first..).step_by(each as usize).zip(&mut memories).zip(observers);
            let running: Vec<_> = each_part
                .map(|((first, memory), mut observer)| {
                    thread::Builder::new().spawn_scoped(scope, move || {
                        let observer =
                            observer.as_deref_mut().map(|of| of as &mut dyn MemoryObserver);
                        let mut engine = Engine::new(code, options, memory, observer, watch);
                        (engine.is_part, engine.steps) = (true, left);
                        engine.run_part(first, each)
                    })
                })
                .collect();
            // A part that panics, or has no thread, is one that has not ended. All are joined, because the scope passes on
            // the panic of a thread that is not.
            let ended = running.into_iter().map(|part| part.ok()?.join().ok().flatten());
            ended.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()
        });
        let instructions =
            |parts: &Vec<Part>| parts.iter().map(|part| part.counts.warp_instructions).sum::<u64>();
        // Else the limit ends the launch at an instruction, which running in order finds.
        let parts = parts.filter(|parts| instructions(parts) <= left);
        let is_kept = parts.is_some() && self.memory.join(&memories);
        drop(memories);
        if let Some(observer) = &mut self.observer {
            observer.unite(is_kept);
        }
        if let Some(parts) = parts.filter(|_| is_kept) {
            parts.into_iter().for_each(|part| self.take_over(part));
        }
        is_kept
    }
}
