//! [`LaunchCounter`]: counts the accesses of a kernel while it runs. Needs the feature `kernels`.

use rustc_hash::FxHashMap;

use crate::access::execute_without_values;
use crate::costs::SharedRules;
use crate::counter::accessing;
use crate::counter::{AccessCounter, Executed};
use crate::launch_counts::{AccessKey, LaunchCounts};
use crate::row::RowCode;
use crate::summary::{LaunchSummary, Summary};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LaneFaultKind, LoadOp, Loaded};
use warpload::memory::{AddressMap, AddressSpace, Fill, FilledMemory, Space, WarpAddresses};
use warpload::simd::vectorized;
use warpload_binary::names::Demangled;
use warpload_ptx::launch::{
    AccessStatements, Kernel, KernelLaunch, KernelResult, MemoryAccess, MemoryObserver,
    traced_kernel,
};
use warpload_trace::{DEFAULT_ADDRESS_BITS, MemoryOperation, OperationKind, TraceContents};

/// Counts the accesses of a kernel while it runs. Its summary is that of a replay of the launch's
/// [trace](warpload_ptx::launch::LaunchTrace), without the trace.
#[derive(Debug)]
pub struct LaunchCounter<'m> {
    launch: LaunchSummary,
    counted: CountedBlocks<'m>,
    /// The counts of blocks that run on several threads.
    parts: Vec<CountedBlocks<'m>>,
}

/// The counts of some blocks.
#[derive(Debug)]
struct CountedBlocks<'m> {
    statements: AccessStatements<'m>,
    contents: TraceContents,
    numbers: FxHashMap<MemoryOperation, u16>,
    counter: AccessCounter,
    accesses: u64,
    map: AddressMap,
}

impl<'m> LaunchCounter<'m> {
    /// Starts to count the accesses of a launch.
    #[must_use]
    pub fn new(kernel: &Kernel<'m>, launch: &KernelLaunch) -> Self {
        let traced = traced_kernel(kernel, launch);
        let demangled = Demangled::default().add(&traced.name);
        Self {
            launch: LaunchSummary::new(0, &traced, demangled),
            counted: CountedBlocks::new(AccessStatements::new(kernel)),
            parts: Vec::new(),
        }
    }

    /// Returns the counts of the launch, and a row for each of its instructions. Lanes that access memory out of bounds or
    /// misaligned are counted from `result`, because they are not observed.
    #[must_use]
    pub fn summary(self, result: &KernelResult) -> Summary {
        let Self { launch, mut counted, .. } = self;
        let mut counts = LaunchCounts::default();
        counts.counts.instructions = counted.accesses;
        counted.counter.finish(&mut counts);
        let code: FxHashMap<u32, RowCode> = counted
            .statements
            .lines()
            .map(|line| {
                let code = RowCode {
                    ptx: Some(line.text.into()),
                    ptx_line: Some(line.place.line),
                    ptx_column: line.place.column,
                    source_file: line.source_file,
                    source_line: line.source_line,
                    ..RowCode::default()
                };
                (line.pc, code)
            })
            .collect();
        let left_out = counted.statements.left_out();
        let mut summary = Summary {
            complete: left_out.is_none().then_some(true),
            notes: left_out.into_iter().collect(),
            ..Summary::default()
        };
        let footprint = summary.push(launch, &counted.contents.operations, counts, |pc, _| {
            code.get(&pc).cloned().unwrap_or_default()
        });
        summary.counts.footprint = Some(footprint.counts());
        for total in &result.fault_totals {
            let kind = match total.kind {
                "out_of_bounds" => LaneFaultKind::OutsideAllocation,
                "misaligned" => LaneFaultKind::MisalignedAddress,
                _ => continue,
            };
            count_faults(&mut summary, total.pc, kind, total.count);
        }
        summary
    }
}

/// Counts faults of an instruction's lanes. An instruction without a row, such as one of matrices, has its faults in the
/// result of the launch alone.
fn count_faults(summary: &mut Summary, pc: u32, kind: LaneFaultKind, lanes: u64) {
    let pc = u64::from(pc);
    let place = summary.rows.partition_point(|row| row.pc.0 < pc);
    let row = summary.rows.get_mut(place).filter(|row| row.pc.0 == pc);
    let Some(row) = row else { return };
    row.counts.lane_faults[kind] += lanes;
    let of = row.kind;
    summary.counts.kind_mut(of).lane_faults[kind] += lanes;
    for launch in &mut summary.launches {
        launch.counts.kind_mut(of).lane_faults[kind] += lanes;
    }
}

/// The bits in which any distance between neighbours differs from `stride`; 0 if all of them are it.
#[inline(always)]
fn other_distances(addresses: &[u64; LANES], stride: u64) -> u64 {
    let mut bits = 0;
    for lane in 1..LANES {
        bits |= addresses[lane].wrapping_sub(addresses[lane - 1]) ^ stride;
    }
    bits
}

impl MemoryObserver for LaunchCounter<'_> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self.counted.access(access);
    }

    fn needs_values(&self) -> bool {
        false
    }

    fn divide(&mut self, count: usize) -> Option<Vec<Box<dyn MemoryObserver + Send + '_>>> {
        let part = || CountedBlocks::new(self.counted.statements.empty());
        self.parts = (0..count).map(|_| part()).collect();
        let parts = self.parts.iter_mut();
        Some(parts.map(|part| Box::new(part) as Box<dyn MemoryObserver + Send>).collect())
    }

    fn unite(&mut self, is_kept: bool) {
        for part in std::mem::take(&mut self.parts).into_iter().filter(|_| is_kept) {
            self.counted.add(part);
        }
    }
}

impl<'m> CountedBlocks<'m> {
    fn new(statements: AccessStatements<'m>) -> Self {
        let windows = AddressMap::default();
        Self {
            statements,
            contents: TraceContents::default(),
            numbers: FxHashMap::default(),
            counter: AccessCounter::default(),
            accesses: 0,
            // As wide as in a replay of a trace: memory of `malloc` is beyond the default map.
            map: AddressMap::new(DEFAULT_ADDRESS_BITS, windows.shared(), windows.local())
                .unwrap_or(windows),
        }
    }

    /// Adds the counts of later blocks. Operations are numbered as if these had run after this one's.
    fn add(&mut self, later: Self) {
        let Self { contents, numbers, .. } = self;
        let operations = later.contents.operations.iter();
        let renumbered: Vec<Option<u16>> =
            operations.map(|operation| contents.number(numbers, operation)).collect();
        let number = |number: u16| renumbered.get(usize::from(number)).copied().flatten();
        self.statements.extend(later.statements, number);
        self.counter.add(later.counter, number);
        self.accesses += later.accesses;
    }
}

impl MemoryObserver for &mut CountedBlocks<'_> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        CountedBlocks::access(self, access);
    }

    fn needs_values(&self) -> bool {
        false
    }
}

impl CountedBlocks<'_> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        let Self { contents, numbers, .. } = self;
        let statement =
            self.statements.find(access, |operation| contents.number(numbers, operation));
        let Some(number) = statement.operation else { return };
        let Some(operation) = self.contents.operations.get(usize::from(number)) else { return };
        let is_copy = operation.kind == OperationKind::Copy;
        // Both sides of a copy have its opcode.
        let space = if is_copy { access.space } else { operation.space };
        let op = LoadOp { space, ..operation.load_op() };
        let map = self.map;
        let executing = access.executing;
        let stride = access.addresses[1].wrapping_sub(access.addresses[0]);
        let is_stride = executing == LaneMask::ALL
            && vectorized!(other_distances(access.addresses, stride)) == 0;
        let addresses = match is_stride {
            true => WarpAddresses::Stride { base: access.addresses[0], stride },
            false => WarpAddresses::Each(*access.addresses),
        };
        let lanes = LaneAddresses { executing, addresses, ..LaneAddresses::NONE };
        let loaded = match space.only() {
            // All lanes of an observed access are in its memory.
            Some(only) => Loaded {
                global: match only {
                    Space::Global => accessing(operation, executing),
                    _ => LaneMask::NONE,
                },
                first_space: Some(only).filter(|_| !executing.is_empty()),
                ..Loaded::default()
            },
            None => {
                let memory = FilledMemory { map, fill: Fill::Zero };
                execute_without_values(operation, op, &lanes, &memory)
            }
        };
        self.counter.count(&Executed {
            key: AccessKey {
                pc: statement.pc,
                operation: number,
                is_shared_side: is_copy && space == AddressSpace::Shared,
            },
            operation,
            op,
            lanes: &lanes,
            loaded: &loaded,
            has_addresses: true,
            instruction: self.accesses,
            map: &map,
            rules: SharedRules::default(),
        });
        self.accesses += 1;
    }
}
