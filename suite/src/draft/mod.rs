//! [`Draft`]: a vector while it is drawn. Recipes narrow down its form at once, and change the rest stage by stage.
//! Everything that they leave open is random.

mod family;
mod lanes;
mod layout;
mod solve;
mod state;

use crate::random::Random;
use warpload::lane::{LANES, LaneMask};
use warpload::memory::Space;

pub(crate) use family::{Family, Form};
pub(crate) use layout::MemoryWishes;
pub(crate) use state::{Drawn, State, default_address_bits};

/// Makes a draft show a flag: excludes forms, and adds steps. Returns false if the draft cannot show it.
pub(crate) type Recipe = fn(&mut Draft<'_>) -> bool;
/// One change of a draft. It need not succeed: the flags of a vector are computed from its execution, not from its
/// recipes.
pub(crate) type Step = fn(&mut Draft<'_>);

/// The next multiple of `bytes`, a power of two. Wraps at 2^64.
pub(crate) const fn align_up(address: u64, bytes: u64) -> u64 {
    address.wrapping_add(bytes - 1) & !(bytes - 1)
}

/// The time of a change. Each stage sees the decisions of the stages before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The settings of the machine and the wishes for its memory, before the layout.
    Machine,
    /// Guards, active lanes, and the numbers of registers.
    Warp,
    /// The address of each lane.
    Lanes,
    /// Changes of the lanes' addresses, and the offset.
    Adjust,
}

/// The possible ends of loads that show a flag, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ending {
    /// Lanes access memory.
    Accesses = 1,
    /// The warp faults.
    Faults = 2,
    /// Lanes access memory or the warp faults.
    Executes = 3,
    /// No lane executes.
    NoLane = 4,
    Any = 7,
}

/// A vector while it is drawn.
pub(crate) struct Draft<'f> {
    pub(crate) random: Random,
    pub(crate) family: &'f Family,
    /// The forms that no recipe has excluded.
    open: Vec<&'f Form>,
    /// The form. Before the first stage, any of the open ones.
    pub(crate) form: &'f Form,
    /// The endings that no recipe has excluded, one bit each.
    endings: u8,
    steps: Vec<(Stage, Step)>,
    pub(crate) state: State,
    pub(crate) layout: MemoryWishes,
    pub(crate) rd: u8,
    /// The first register of the other half of 256 bits.
    pub(crate) other_rd: u8,
    /// Ra, 255 for `RZ`.
    pub(crate) ra: u8,
    /// The uniform register of the address, 255 for `URZ`.
    pub(crate) ur: u8,
    /// Whether an index of 32 bits has its highest bit set.
    pub(crate) has_high_index: bool,
    /// Whether the register after a 32-bit base holds a value, although it is not part of the address.
    pub(crate) has_stale_pair: bool,
    /// The offset, if a recipe has decided it.
    pub(crate) offset: Option<i64>,
    /// The guard predicate, and whether it is negated.
    pub(crate) guard: (u8, bool),
    /// The lanes that the guard lets execute.
    pub(crate) guarded: u32,
    /// Plg, and the lanes in which it is true.
    pub(crate) plg: (u8, u32),
    pub(crate) bank: u8,
    /// Values of other fields, by name.
    pub(crate) fields: Vec<(&'static str, u64)>,
    /// Bits of the word that the disassembler does not read.
    pub(crate) unread: u128,
    /// The address that each lane loads from.
    pub(crate) addresses: [u64; LANES],
    /// The lanes with an address that no recipe has decided.
    pub(crate) free: LaneMask,
    /// Whether all lanes have one address.
    pub(crate) is_together: bool,
}

impl<'f> Draft<'f> {
    /// Starts a draft; `None` if the family has no form.
    pub(crate) fn new(family: &'f Family, random: Random) -> Option<Self> {
        let open: Vec<&Form> = family.forms.iter().collect();
        Some(Self {
            random,
            family,
            form: open.first()?,
            open,
            endings: Ending::Any as u8,
            steps: Vec::new(),
            state: State::new(family.sm),
            layout: MemoryWishes::default(),
            rd: 0,
            other_rd: 0,
            ra: 255,
            ur: 255,
            has_high_index: false,
            has_stale_pair: false,
            offset: None,
            guard: (7, false),
            guarded: u32::MAX,
            plg: (7, u32::MAX),
            bank: 0,
            fields: Vec::new(),
            unread: 0,
            addresses: [0; LANES],
            free: LaneMask::NONE,
            is_together: family.is_uniform(),
        })
    }

    /// Lets a recipe change the draft. If it does not fit, returns false and leaves the draft unchanged.
    pub(crate) fn apply(&mut self, ending: Ending, recipe: Recipe) -> bool {
        if self.endings & ending as u8 == 0 {
            return false;
        }
        let before = (self.open.clone(), self.steps.len());
        let fits = recipe(self);
        if fits {
            self.endings &= ending as u8;
        } else {
            self.open = before.0;
            self.steps.truncate(before.1);
        }
        fits
    }

    /// Excludes the forms that fail `test`. Returns false, and excludes none, if no form would remain.
    pub(crate) fn keep(&mut self, test: impl Fn(&Form) -> bool) -> bool {
        let kept: Vec<&Form> = self.open.iter().copied().filter(|form| test(form)).collect();
        let fits = !kept.is_empty();
        if fits {
            self.open = kept;
        }
        fits
    }

    /// Adds a step to a stage. Returns true, so that a recipe can end with it.
    pub(crate) fn then(&mut self, stage: Stage, step: Step) -> bool {
        self.steps.push((stage, step));
        true
    }

    /// Draws everything that is still open. `None` if the result is not an executable load.
    pub(crate) fn finish(mut self) -> Option<Drawn> {
        self.form = self.random.pick(&self.open)?;
        self.draw_wishes();
        self.make(Stage::Machine);
        self.lay_out();
        self.draw_registers();
        self.make(Stage::Warp);
        self.draw_addresses();
        self.make(Stage::Lanes);
        self.make(Stage::Adjust);
        self.solve()
    }

    /// Runs the steps of a stage, in the order of the recipes.
    fn make(&mut self, stage: Stage) {
        let of_stage = self.steps.iter().filter(|(of, _)| *of == stage);
        let steps: Vec<Step> = of_stage.map(|(_, step)| *step).collect();
        steps.into_iter().for_each(|step| step(self));
    }

    /// Draws the register numbers.
    fn draw_registers(&mut self) {
        let count = self.form.registers().max(1) as u64;
        let limit = if self.form.fills_uniform() { 48 } else { 96 };
        let group = count.next_power_of_two();
        self.rd = (group * self.random.below(limit / group / 2)) as u8;
        self.other_rd = self.rd + group as u8;
        // Above all destinations, and even.
        self.ra = (limit / 2 + 8 + 2 * self.random.below(12)) as u8;
        self.ur = if self.form.fills_uniform() { 56 } else { 2 * self.random.below(20) as u8 };
        if self.form.uniform().is_some() && self.form.has("Ra") && self.random.one_in(6) {
            self.ra = 255;
        }
    }

    /// The lanes that access memory.
    pub(crate) fn executing(&self) -> LaneMask {
        let lanes = self.state.active & self.guarded;
        let rows = match self.form.size {
            warpload_encoding::LoadSize::Matrices { count, .. } => 8 * u32::from(count),
            _ => 32,
        };
        LaneMask::from_bits(lanes & (u64::MAX >> (64 - rows)) as u32)
    }

    /// Whether the address has a general base register.
    pub(crate) fn has_base(&self) -> bool {
        self.form.has("Ra") && self.ra < self.state.register_limit
    }

    /// Whether the address is the offset alone.
    pub(crate) fn is_offset_alone(&self) -> bool {
        !self.has_base() && (self.form.uniform().is_none() || self.ur == 255)
    }

    /// The smallest and the largest signed offset of the field, in bytes.
    pub(crate) fn offset_range(&self) -> (i64, i64) {
        let half = 1i64 << (self.form.width(self.form.offset_name()).max(1) - 1);
        (-half * self.form.offset_unit, (half - 1) * self.form.offset_unit)
    }

    /// The load's address for an offset into a memory.
    pub(crate) fn address_in(&self, space: Space, offset: u64) -> u64 {
        match space {
            Space::Shared if self.form.is_generic() => {
                self.state.shared_window.base.wrapping_add(offset)
            }
            Space::Local if self.form.is_generic() => {
                self.state.local_window.base.wrapping_add(offset)
            }
            _ => offset,
        }
    }
}
