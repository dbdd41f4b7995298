//! The sample of generic loads: a binary trace with expected values, and its memory image.
//! No public trace contains an `LD`, so this one is generated from a seed.
//!
//! Every load is a real `LD` word, executed on a warp with registers that form the addresses. The expected values and
//! the counts come from the literal executor, [`warpload::load::reference()`], because replays use the fast one.
//!
//! `tests/samples.rs` includes these files too.

mod image;
mod plan;

use std::collections::BTreeSet;
use std::io::Cursor;

use anyhow::{Context, Result, bail, ensure};
use warpload::encoding::{Instruction, LoadParts, MemorySpace, Pred, Reg, Size, Slot, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{FaultCause, Outcome, UniformPath, reference};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::OutsideWindow;
use warpload::warp::Warp;
use warpload_suite::random::Random;
use warpload_trace as trace;
use warpload_trace::{Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter};

use plan::{Case, Form, Place, Plan, plans};

/// Another seed generates another sample.
const SEED: u64 = 0x5350_4135;

pub(crate) const TRACE: &str = "generic.wlt";
pub(crate) const MANIFEST: &str = "generic.image.json";
pub(crate) const BYTES: &str = "generic.image.bin";

/// The sample's files by name, and the contents of the trace.
pub(crate) struct Sample {
    pub(crate) files: [(&'static str, Vec<u8>); 3],
    pub(crate) counts: Counts,
}

/// The counts of the literal executor.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) loads: u64,
    pub(crate) skipped: u64,
    pub(crate) lanes: u64,
    /// Loads with expected values.
    pub(crate) checked: u64,
    /// outside_window, outside_allocation, misaligned_address.
    pub(crate) lane_faults: [u64; 3],
    pub(crate) broadcast: u64,
    pub(crate) divergent: u64,
    /// The kinds of loads that occur, such as `Uniform U.128`.
    pub(crate) kinds: BTreeSet<String>,
}

/// Generates the sample. The bytes are always the same.
///
/// # Errors
/// Returns an error if the plan does not produce a valid trace.
pub(crate) fn generate() -> Result<Sample> {
    let mut random = Random::new(SEED, &[]);
    let image = image::image(BYTES, &mut random)?;
    let machine = Machine { misaligned: Misaligned::Report, ..Machine::new(image.memory) };
    let source = format!("cargo xtask samples, seed {SEED:#x}");
    let writer = TraceWriter::new(Cursor::new(Vec::new()), source)?;
    let mut generator = Generator { random, machine, writer, counts: Counts::default() };
    for plan in plans() {
        generator.kernel(&plan)?;
    }
    let trace = generator.writer.finish()?.into_inner();
    Ok(Sample {
        files: [(TRACE, trace), (MANIFEST, image.manifest.into_bytes()), (BYTES, image.bytes)],
        counts: generator.counts,
    })
}

/// An instruction of a kernel.
#[derive(Clone, Copy)]
enum Step {
    Load(Case, Instruction),
    /// A memory instruction that is not a load, by its opcode.
    Other(&'static str),
    /// An instruction without a memory operand.
    Skip,
}

/// The instructions between the loads.
const OTHERS: [Step; 3] = [Step::Other("ST.E"), Step::Other("ATOM.E.ADD"), Step::Skip];

struct Generator {
    random: Random,
    machine: Machine,
    writer: TraceWriter<Cursor<Vec<u8>>>,
    counts: Counts,
}

impl Generator {
    /// Writes a kernel of one block: every warp executes all instructions.
    fn kernel(&mut self, plan: &Plan) -> Result<()> {
        let map = self.machine.memory.map();
        self.writer.kernel(Kernel {
            name: plan.name.into(),
            grid: [1, 1, 1],
            block: [LANES as u32 * plan.warps, 1, 1],
            shared_base: Some(map.shared().base),
            local_base: Some(map.local().base),
            ..Kernel::default()
        })?;
        let mut steps = Vec::new();
        for case in &plan.cases {
            steps.push(Step::Load(*case, self.instruction(case)?));
            for _ in 0..self.random.below(3) {
                steps.extend(self.random.pick(&OTHERS));
            }
        }
        for warp in 0..plan.warps {
            self.writer.place(Some(trace::WarpPosition {
                cta: Some([0; 3]),
                warp: Some(warp),
                cluster: None,
                index: Some(0),
            }));
            for (i, step) in (0..).zip(&steps) {
                match step {
                    Step::Load(case, load) => self.load(program_counter(i), case, *load)?,
                    Step::Other(opcode) => self.other(program_counter(i), opcode)?,
                    Step::Skip => self.writer.skip()?,
                }
                self.counts.skipped += u64::from(!matches!(step, Step::Load(..)));
            }
        }
        Ok(())
    }

    /// Draws an instruction that can address the lanes of a case.
    fn instruction(&mut self, case: &Case) -> Result<Instruction> {
        let random = &mut self.random;
        let reg = |random: &mut Random, count: u32| {
            Reg::new((random.below(u64::from(248 / count)) * u64::from(count)) as u8)
        };
        // Half of the loads have no guard. Sometimes `@!PT` disables all lanes.
        let guard = match random.below(16) {
            0..8 => Pred::PT,
            number => Pred::try_from(1 + number as u8 % 6)?,
        };
        let displacement = match random.below(3) {
            0 => 0,
            1 => random.below(0x2000) as i64 - 0x1000,
            _ => i64::from(random.next() as i32),
        };
        let (base, displacement) = match case.place {
            Place::Absolute(address, _) => (Reg::RZ, address.into()),
            _ => (reg(random, 2), displacement),
        };
        let cache = random.pick(&[0, 1, 2, 3]).unwrap_or(0);
        let extended = case.place.is_far() || random.one_in(2);
        let guard_negated = match guard {
            // `.U.128` always executes, because a load without lanes would not cover its path.
            Pred::PT => case.size != Size::U128 && random.one_in(32),
            _ => random.one_in(2),
        };
        // Some loads write RZ, and have no expected values.
        let destination = match random.one_in(32) {
            true => Reg::RZ,
            false => reg(random, case.size.registers()),
        };
        let fields = [
            (Slot::PredicateIn, Pred::P0.number().into()),
            (Slot::Cache, cache),
            (Slot::Size, case.size as u64),
            (Slot::Extended, extended.into()),
            (Slot::GuardNegated, guard_negated.into()),
            (Slot::Guard, guard.number().into()),
            (Slot::Base, base.number().into()),
            (Slot::Destination, destination.number().into()),
        ];
        let mut load = Instruction::new("LD", Sm::SPA5);
        for (slot, number) in fields {
            load = load.and_then(|load| load.with(slot, number));
        }
        load.and_then(|load| load.with_offset(displacement)).context("fields of an LD")
    }

    /// Executes a load on a warp, and writes its record.
    fn load(&mut self, pc: u32, case: &Case, instruction: Instruction) -> Result<()> {
        let LoadParts { guard, space, address, .. } = instruction.parts();
        let random = &mut self.random;
        let mask = case.mask.unwrap_or_else(|| draw_mask(random));
        let drawn = case.place.draw(random, u64::from(case.size.bytes()), case.form);
        let active = &drawn[..mask.count() as usize];
        let mut warp = Warp::new();
        warp.active = mask;

        // Inactive lanes have random values in their registers.
        let mut bases: [u64; LANES] = std::array::from_fn(|_| random.next());
        let mut plg = LaneMask::from_bits(random.next() as u32);
        for (lane, (wanted, lane_plg)) in mask.lanes().zip(active) {
            bases[lane] = wanted.wrapping_add_signed(-i64::from(address.offset.signed()));
            let bit = LaneMask::from_bits(1 << lane);
            plg = if *lane_plg { plg | bit } else { plg & !bit };
        }
        warp.set_register(address.base, bases.map(|base| base as u32));
        if address.extended && address.base != Reg::RZ {
            let high = Reg::new(address.base.number() + 1);
            warp.set_register(high, bases.map(|base| (base >> 32) as u32));
        }
        if let MemorySpace::Generic { plg: Some(predicate) } = space {
            warp.set_predicate(predicate, plg);
        }
        warp.set_predicate(guard.pred, LaneMask::from_bits(random.next() as u32));

        let passed = warp.predicate(guard.pred);
        let passed = if guard.negated { !passed } else { passed };
        let outcome = reference(&instruction, &self.machine, &mut warp)?;
        ensure!(outcome.warp_fault.is_none(), "{instruction}: {:?}", outcome.warp_fault);
        let expected = expected(mask, &outcome, &warp);
        self.count(case, &instruction, mask, &outcome, expected.is_empty());

        let list: Vec<u64> = active.iter().map(|(address, _)| *address).collect();
        let addresses = in_form(case.form, &list)?;
        // Left out of some records, so that the replay has to compute it.
        let is_left_out = case.place.is_compiled() && self.random.one_in(8);
        let operation = self.operation(&instruction)?;
        self.writer.record(&NewRecord {
            plg: (!is_left_out).then_some(plg),
            guard: (passed != LaneMask::ALL).then_some(passed),
            values: (!expected.is_empty()).then_some(&*expected),
            ..NewRecord::new(pc, mask, operation, addresses)
        })?;
        Ok(())
    }

    /// Writes the record of a store or an atomic. All lanes access neighbouring words.
    fn other(&mut self, pc: u32, opcode: &str) -> Result<()> {
        let operation = self.writer.operation(&MemoryOperation::of_opcode(opcode));
        let operation = operation.context("at most 65,536 operations")?;
        let addresses = RecordAddresses::Stride { base: image::FIRST.base, stride: 4 };
        self.writer.record(&NewRecord::new(pc, LaneMask::ALL, operation, addresses))?;
        Ok(())
    }

    fn operation(&mut self, instruction: &Instruction) -> Result<u16> {
        let operation = MemoryOperation {
            word: instruction.word().narrow(),
            ..MemoryOperation::of(instruction)?
        };
        self.writer.operation(&operation).context("at most 65,536 operations")
    }

    fn count(
        &mut self,
        case: &Case,
        load: &Instruction,
        mask: LaneMask,
        outcome: &Outcome,
        is_open: bool,
    ) {
        let counts = &mut self.counts;
        counts.loads += 1;
        counts.lanes += u64::from(outcome.executing.count());
        counts.checked += u64::from(!is_open);
        for fault in &outcome.lane_faults {
            let (row, detail) = match fault.cause {
                FaultCause::OutsideWindow(OutsideWindow::ByPredicate) => (0, "by Plg"),
                FaultCause::OutsideWindow(OutsideWindow::BeyondAddressBits) => (0, "too high"),
                FaultCause::OutsideAllocation => (1, fault.space.map_or("?", |space| space.name())),
                FaultCause::MisalignedAddress => (2, fault.space.map_or("?", |space| space.name())),
            };
            counts.lane_faults[row] += 1;
            counts.kinds.insert(format!("{} {detail}", fault.kind().name()));
        }
        match outcome.uniform {
            Some(UniformPath::Broadcast) => counts.broadcast += 1,
            Some(UniformPath::Divergent) => counts.divergent += 1,
            None => {}
        }
        let one_slot = match (case.place, case.form) {
            (Place::Region(region), Form::Uniform) | (Place::OneRounded(region), _) => Some(region),
            _ => None,
        };
        if let (Some(region), Some(path)) = (one_slot, outcome.uniform) {
            let is_off = if outcome.lane_faults.is_empty() { "" } else { ", misaligned" };
            counts.kinds.insert(format!("{path:?} {}{is_off}", region.space));
        }
        let name = |slot| load.modifier(slot).unwrap_or_default();
        counts.kinds.insert(format!("{:?} {}", case.form, name(Slot::Size)));
        counts.kinds.insert(name(Slot::Cache).to_owned());
        counts.kinds.insert(
            match mask.count() {
                0 => "no lane active",
                1 => "one lane active",
                32 => "all lanes active",
                _ => "some lanes active",
            }
            .to_owned(),
        );
        if outcome.executing.is_empty() && !mask.is_empty() {
            counts.kinds.insert("guarded off".to_owned());
        }
    }
}

/// The offset of an instruction: bundles have 32 bytes, the control word first.
fn program_counter(index: u32) -> u32 {
    32 * (index / 3) + 8 * (index % 3 + 1)
}

fn draw_mask(random: &mut Random) -> LaneMask {
    LaneMask::from_bits(match random.below(8) {
        0..2 => u32::MAX,
        2 | 3 => u32::MAX >> random.below(31),
        4 => 0x5555_5555,
        5 => 1 << random.below(32),
        _ => random.next() as u32 | 1 << random.below(32),
    })
}

/// The values in the destination: for each register, one value for each active lane. 0 for lanes that did not execute,
/// because replays do not compare them.
fn expected(mask: LaneMask, outcome: &Outcome, warp: &Warp) -> Vec<u32> {
    let Some(destination) = outcome.destination else { return Vec::new() };
    let mut values = Vec::new();
    for i in 0..destination.count {
        let row = warp.register(Reg::new(destination.first.number() + i as u8));
        let value = |lane| if outcome.executing.contains(lane) { row[lane] } else { 0 };
        values.extend(mask.lanes().map(value));
    }
    values
}

fn in_form(form: Form, list: &[u64]) -> Result<RecordAddresses<'_>> {
    let base = list.first().copied().unwrap_or_default();
    Ok(match form {
        Form::Deltas if list.is_empty() => bail!("deltas of no lane"),
        Form::Shortest | Form::List | Form::Deltas => RecordAddresses::List(list),
        Form::Uniform => RecordAddresses::Stride { base, stride: 0 },
        Form::Stride if list.len() < 2 => RecordAddresses::Stride { base, stride: 4 },
        Form::Stride => {
            RecordAddresses::Stride { base, stride: list[1].wrapping_sub(list[0]).cast_signed() }
        }
    })
}
