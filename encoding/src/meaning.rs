//! [`LoadParts`]: the meaning of a load: its memory, its address, its registers, and why it cannot be executed if it
//! cannot (docs/load-sm70.md section 10).

use core::fmt;

use crate::field::Bits;
use crate::instruction::Instruction;
use crate::operand::{
    Address, ConstantMode, Guard, MemorySpace, Offset, Reg, Size, UniformBase, UniformReg,
};
use crate::plan::{Plan, SPA5};
use crate::table::forms::{Execution, FormDestination, FormSize, FormSpace};
use crate::table::grammar::{Condition, Modifier};
use crate::table::row::Slot;

/// The parts that all loads have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadParts {
    /// The guard predicate.
    pub guard: Guard,
    /// Whether the guard is a uniform predicate, one for the whole warp.
    pub is_guard_uniform: bool,
    /// Where the values go.
    pub destination: LoadDestination,
    /// The memory that is addressed.
    pub space: MemorySpace,
    /// The address operand.
    pub address: Address,
    /// The number of uniform registers that the SM has: 0, 63 or 255.
    pub uniform_registers: u8,
    /// How much is loaded and how it fills the destination; an error if the instruction cannot be
    /// executed.
    pub size: Result<LoadSize, NotExecutable>,
}

/// Where the values of a load go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadDestination {
    /// This register and those after it.
    Registers(Reg),
    /// 256 bits: the first four words to the registers from `low` on, the others to those from
    /// `high` on.
    Halves {
        /// The first register of the first four words, Rd.
        low: Reg,
        /// The first register of the last four words.
        high: Reg,
    },
    /// This uniform register and those after it.
    Uniform(UniformReg),
    /// 256 bits in two groups of four uniform registers.
    UniformHalves {
        /// The first register of the first four words, URd.
        low: UniformReg,
        /// The first register of the last four words.
        high: UniformReg,
    },
    /// Shared memory: `LDGSTS`.
    SharedMemory,
}

impl LoadDestination {
    /// Returns the first general register that is written; `None` if none is.
    #[must_use]
    pub const fn register(self) -> Option<Reg> {
        match self {
            Self::Registers(first) | Self::Halves { low: first, .. } => Some(first),
            _ => None,
        }
    }
}

/// How much is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadSize {
    /// This much by every lane, or by the warp into uniform registers.
    Lane(Size),
    /// 32 bytes, eight registers.
    Bits256,
    /// Matrices of 8 rows of 16 bytes, a register each: `LDSM`.
    Matrices {
        /// How many: 1, 2 or 4.
        count: u8,
        /// Whether they are transposed.
        transposed: bool,
    },
}

impl LoadSize {
    /// Returns the size of an access in bytes: 1, 2, 4, 8, 16 or 32. Addresses are aligned to it.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Lane(size) => size.bytes(),
            Self::Bits256 => 32,
            Self::Matrices { .. } => 16,
        }
    }

    /// Returns the number of registers that are written in all.
    #[must_use]
    pub const fn registers(self) -> u32 {
        match self {
            Self::Lane(size) => size.registers(),
            Self::Bits256 => 8,
            Self::Matrices { count, .. } => count as u32,
        }
    }

    /// Returns the size of an access of one lane; `None` if it is none of an 8-bit to 128-bit one.
    #[must_use]
    pub const fn of_lane(self) -> Option<Size> {
        match self {
            Self::Lane(size) => Some(size),
            _ => None,
        }
    }
}

/// Why an instruction cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotExecutable {
    /// It has a modifier whose number means nothing: `INVALIDSIZE7`, `INVALID7`, `???0`.
    InvalidModifier(&'static str),
    /// It has something of which only the text is public, named here.
    TextOnly(&'static str),
    /// It copies to shared memory, or loads Tensor Memory: no load of registers from memory that
    /// lanes address. Named here.
    OtherExecutor(&'static str),
}

/// The variants of [`NotExecutable`].
enum Obstacle {
    Modifier,
    Text,
    Executor,
}

impl fmt::Display for NotExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidModifier(name) => write!(f, ".{name} is invalid"),
            Self::TextOnly(what) => write!(f, "what {what} does is not public"),
            Self::OtherExecutor(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for NotExecutable {}

/// The fields of which only the text is public with most numbers, in the order in which they are named; others follow.
const TEXT_ONLY: [Slot; 11] = [
    Slot::Zd,
    Slot::PredicateOut,
    Slot::PredicateInNegated,
    Slot::PredicateIn,
    Slot::Private,
    Slot::Order,
    Slot::Policy,
    Slot::Unpack,
    Slot::Mask,
    Slot::Size,
    Slot::Shape,
];

impl Instruction {
    /// Returns what all loads have, for those who need several parts: the instruction is looked at once.
    #[inline(always)]
    #[must_use]
    pub fn parts(&self) -> LoadParts {
        // Executing a load begins here, mostly one of the five forms of 64 bits: compiled for each of them.
        let [ld, ldg, ldl, lds, ldc] = const { &SPA5 };
        match self.plan_index() {
            _ if self.sm().has_wide_words() => self.parts_by(self.plan()),
            0 => self.parts_by(ld),
            1 => self.parts_by(ldg),
            2 => self.parts_by(ldl),
            3 => self.parts_by(lds),
            _ => self.parts_by(ldc),
        }
    }

    #[inline(always)]
    fn parts_by(&self, plan: &Plan) -> LoadParts {
        let negated = self.get_by(plan, Slot::GuardNegated) != 0;
        LoadParts {
            guard: Guard { pred: self.predicate_by(plan, Slot::Guard), negated },
            is_guard_uniform: plan.place(Slot::Guard).is_uniform(),
            destination: self.destination(plan),
            space: self.space(plan),
            address: self.address(plan),
            uniform_registers: plan.uniform_registers,
            size: self.load_size(plan),
        }
    }

    #[inline(always)]
    fn destination(&self, plan: &Plan) -> LoadDestination {
        let register = |slot| Reg::new(self.get_by(plan, slot) as u8);
        let (low, high) = (Slot::Destination, Slot::HighDestination);
        match plan.destination {
            FormDestination::Registers => LoadDestination::Registers(register(low)),
            FormDestination::Halves => {
                LoadDestination::Halves { low: register(low), high: register(high) }
            }
            FormDestination::Uniform => LoadDestination::Uniform(self.uniform_by(plan, low)),
            FormDestination::UniformHalves => LoadDestination::UniformHalves {
                low: self.uniform_by(plan, low),
                high: self.uniform_by(plan, high),
            },
            FormDestination::SharedMemory => LoadDestination::SharedMemory,
        }
    }

    #[inline(always)]
    fn space(&self, plan: &Plan) -> MemorySpace {
        match plan.space {
            FormSpace::Generic => MemorySpace::Generic {
                plg: plan.is_narrow.then(|| self.predicate_by(plan, Slot::PredicateIn)),
            },
            FormSpace::Global => MemorySpace::Global,
            FormSpace::Local => MemorySpace::Local,
            FormSpace::Shared => MemorySpace::Shared,
            FormSpace::Constant => {
                let mode = self.get_by(plan, Slot::Mode) as usize & 3;
                let [direct, ..] = ConstantMode::ALL;
                MemorySpace::Constant {
                    bank: Bits::from_bits(self.get_by(plan, Slot::Bank)),
                    mode: ConstantMode::ALL.get(mode).copied().unwrap_or(direct),
                }
            }
            FormSpace::Tensor => MemorySpace::Tensor,
            FormSpace::Undocumented => MemorySpace::Undocumented,
        }
    }

    /// Returns the address operand; of `LDGSTS` the global one.
    #[inline(always)]
    fn address(&self, plan: &Plan) -> Address {
        let has = |slot| plan.place(slot).width > 0;
        let get = |slot| self.get_by(plan, slot);
        let base = if has(Slot::Base) { Reg::new(get(Slot::Base) as u8) } else { Reg::RZ };
        // Immediate forms of `LD` and `LDG` have no such field: there `.E` says it.
        let is_pair = get(if has(Slot::Wide) { Slot::Wide } else { Slot::Extended }) != 0;
        let adds_uniform = plan.adds_uniform && get(Slot::Descriptor) == 0;
        let uniform = adds_uniform.then(|| UniformBase {
            register: self.uniform_by(plan, Slot::UniformBase),
            extended: has(Slot::Wide),
        });
        let signed = self.get_signed_by(plan, Slot::Offset) as i32;
        let unsigned = get(Slot::Offset) as u32;
        let offset = match (plan.is_bare_unsigned, adds_uniform) {
            (true, false) if plan.size != FormSize::Matrices => Offset::ByBase { signed, unsigned },
            (true, _) if base.is_zero() => Offset::Signed(unsigned as i32),
            _ => Offset::Signed(signed),
        };
        let scale = match get(Slot::Scale) as u8 {
            0 => 0,
            // Its text has no scale either, except beside a uniform register.
            _ if base.is_zero() => 0,
            scale => scale + 1,
        };
        Address { base, extended: is_pair, offset, scale, uniform }
    }

    #[inline(always)]
    fn load_size(&self, plan: &Plan) -> Result<LoadSize, NotExecutable> {
        let may_lack = plan.place(Slot::Wide).width > 0;
        if !(plan.is_executed && plan.is_public(self.halves()))
            || may_lack && self.lacks_base_or_extended().is_some()
        {
            // In two results, which are in registers: memory that a call writes would keep all parts there.
            let reason = self.reason();
            return Err(match self.obstacle() {
                Obstacle::Modifier => NotExecutable::InvalidModifier(reason),
                Obstacle::Text => NotExecutable::TextOnly(reason),
                Obstacle::Executor => NotExecutable::OtherExecutor(reason),
            });
        }
        Ok(match plan.size {
            FormSize::Bits256 => LoadSize::Bits256,
            FormSize::Matrices => LoadSize::Matrices {
                count: 1 << (self.get_by(plan, Slot::Count) & 3),
                transposed: self.get_by(plan, Slot::Shape) == 1,
            },
            FormSize::Field | FormSize::Tensor => {
                let size = Size::ALL.get(self.get_by(plan, Slot::Size) as usize).copied();
                LoadSize::Lane(match size.unwrap_or(Size::B32) {
                    // What the U of Volta and Turing does is not public.
                    Size::U128 if !plan.is_narrow => Size::B128,
                    size => size,
                })
            }
        })
    }

    /// Returns why the address of an `LD` or `LDG` cannot be executed, if it cannot.
    fn lacks_base_or_extended(&self) -> Option<NotExecutable> {
        let is_wide = self.get(Slot::Wide) != 0;
        if self.lacks_extended() {
            return Some(NotExecutable::InvalidModifier("???0"));
        }
        let has_base = self.get(Slot::Descriptor) != 0 || !self.register(Slot::Base).is_zero();
        if is_wide && !has_base && !self.is_uniform_alone() {
            return Some(NotExecutable::InvalidModifier("64 without a base register"));
        }
        // A uniform register pair in an address of 32 bits.
        let is_narrow = self.has(Slot::Extended) && self.get(Slot::Extended) == 0;
        let what = "a uniform register in an address without `.E`";
        is_narrow.then_some(NotExecutable::TextOnly(what))
    }

    #[cold]
    #[inline(never)]
    fn obstacle(&self) -> Obstacle {
        match self.not_executable() {
            NotExecutable::InvalidModifier(_) => Obstacle::Modifier,
            NotExecutable::TextOnly(_) => Obstacle::Text,
            NotExecutable::OtherExecutor(_) => Obstacle::Executor,
        }
    }

    #[cold]
    #[inline(never)]
    fn reason(&self) -> &'static str {
        match self.not_executable() {
            NotExecutable::InvalidModifier(reason)
            | NotExecutable::TextOnly(reason)
            | NotExecutable::OtherExecutor(reason) => reason,
        }
    }

    /// Returns why the instruction, which cannot be executed, cannot be.
    fn not_executable(&self) -> NotExecutable {
        use NotExecutable::{InvalidModifier, OtherExecutor, TextOnly};
        let execution = self.form().execution;
        if let Execution::Elsewhere(reason) = execution {
            return OtherExecutor(reason);
        }
        if let Some(name) = self.invalid_modifier() {
            return InvalidModifier(name);
        }
        let lacking = self.lacks_base_or_extended();
        if let Some(lacking @ InvalidModifier(_)) = lacking {
            return lacking;
        }
        let of_slot = |slot: Slot| {
            let word = self.bits();
            let mut rows = self.rows().filter(|row| row.slot == slot);
            let of_row = rows.find_map(|row| {
                let (number, what) = row.text_only?;
                (row.field.get(word) != number & row.field.max()).then_some(what)
            });
            of_row.or_else(|| {
                let value = self.value(slot)?;
                (!value.text_only.is_empty()).then_some(value.text_only)
            })
        };
        let mut slots = TEXT_ONLY.into_iter().chain(self.rows().map(|row| row.slot));
        match (slots.find_map(of_slot), execution, lacking) {
            (Some(what), ..) | (None, Execution::TextOnly(what), _) => TextOnly(what),
            (None, _, Some(lacking)) => lacking,
            (None, ..) => TextOnly("this instruction"),
        }
    }

    /// Returns the first modifier whose number means nothing.
    pub(crate) fn invalid_modifier(&self) -> Option<&'static str> {
        let modifiers = self.form().modifiers.iter().filter_map(|modifier| match *modifier {
            Modifier::Field(slot) | Modifier::Shown { slot, .. } => self.value(slot),
            Modifier::Always { .. } => None,
        });
        let mut invalid = modifiers.filter(|value| value.is_invalid());
        invalid.next().map(|value| value.name)
    }

    /// Returns whether the base of 64 bits would need an `.E` that the word does not have.
    pub(crate) fn lacks_extended(&self) -> bool {
        // The two forms of `LD` and `LDG` that have both fields.
        self.has(Slot::Extended)
            && self.get(Slot::Extended) == 0
            && self.get(Slot::Wide) != 0
            && !self.is_uniform_alone()
    }

    /// Returns whether `[UR+off]` is all that the address of an `LD` or `LDG` shows.
    fn is_uniform_alone(&self) -> bool {
        let sets = |condition: &Condition| matches!(condition, Condition::SetAsExtended(_));
        let mut alternatives = self.plan().alternatives().iter();
        alternatives.any(|one| one.row.when.iter().any(sets) && one.fits(self.halves()))
    }

    /// Returns how many bits each lane loads or copies, of `LDSM` the share of each lane in the matrices; `None` if the
    /// size field encodes no size. Also of instructions that cannot be executed.
    #[must_use]
    pub fn lane_bits(&self) -> Option<u32> {
        match self.form().size {
            FormSize::Bits256 => Some(256),
            FormSize::Matrices => self.matrix_bits(),
            FormSize::Tensor => self.tensor_parts()?.ok().map(|parts| 32 * parts.registers()),
            FormSize::Field => self.value(Slot::Size)?.size().map(|size| 8 * size.bytes()),
        }
    }

    /// Returns how many bits each lane loads at most in this form; `None` if it has one size.
    #[must_use]
    pub fn widest_lane_bits(&self) -> Option<u32> {
        if self.form().size != FormSize::Field {
            return None;
        }
        let sizes = self.values(Slot::Size)?.rows.iter().filter_map(|value| value.size());
        sizes.map(|size| 8 * size.bytes()).max()
    }

    /// Returns how many bits of the matrices each lane gets. A matrix has 8 rows of 16 bytes, `MT1616` 16.
    fn matrix_bits(&self) -> Option<u32> {
        let count = match self.get(Slot::Count) {
            count @ 0..=2 => 1 << count,
            _ => return None,
        };
        let shape = self.value(Slot::Shape).filter(|shape| !shape.is_invalid())?;
        Some(if shape.name == "MT1616" { 64 * count } else { 32 * count })
    }
}
