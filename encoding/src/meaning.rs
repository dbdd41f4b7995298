//! [`LoadParts`]: the memory, address and registers of a load, or the reason why it cannot be executed
//! (docs/load-sm70.md section 10).

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
    /// The destination of the values.
    pub destination: LoadDestination,
    /// The addressed memory.
    pub space: MemorySpace,
    /// The address operand.
    pub address: Address,
    /// The SM's number of uniform registers: 0, 63 or 255.
    pub uniform_registers: u8,
    /// The access size and how it fills the destination; an error if the instruction cannot be executed.
    pub size: Result<LoadSize, NotExecutable>,
}

/// The destination of a load's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadDestination {
    /// This register and the following ones.
    Registers(Reg),
    /// 256 bits: the first four words go to the registers from `low` on, the other four to the registers from `high`
    /// on.
    Halves {
        /// The first register of the first four words, Rd.
        low: Reg,
        /// The first register of the last four words.
        high: Reg,
    },
    /// This uniform register and the following ones.
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
    /// Returns the first general register written; `None` if there is none.
    #[must_use]
    pub const fn register(self) -> Option<Reg> {
        match self {
            Self::Registers(first) | Self::Halves { low: first, .. } => Some(first),
            _ => None,
        }
    }
}

/// The size of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadSize {
    /// This size per lane, or once per warp into uniform registers.
    Lane(Size),
    /// 32 bytes, eight registers.
    Bits256,
    /// Matrices of 8 rows of 16 bytes, one register each: `LDSM`.
    Matrices {
        /// The number of matrices: 1, 2 or 4.
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

    /// Returns the number of registers written.
    #[must_use]
    pub const fn registers(self) -> u32 {
        match self {
            Self::Lane(size) => size.registers(),
            Self::Bits256 => 8,
            Self::Matrices { count, .. } => count as u32,
        }
    }

    /// Returns the size per lane; `None` for 256 bits and for matrices.
    #[must_use]
    pub const fn of_lane(self) -> Option<Size> {
        match self {
            Self::Lane(size) => Some(size),
            _ => None,
        }
    }
}

/// The reason why an instruction cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotExecutable {
    /// A meaningless modifier: `INVALIDSIZE7`, `INVALID7`, `???0`.
    InvalidModifier(&'static str),
    /// A part with a public text but an undocumented effect.
    TextOnly(&'static str),
    /// A copy to shared memory or a load of Tensor Memory, instead of a load into registers from memory that lanes
    /// address.
    OtherExecutor(&'static str),
}

/// [`NotExecutable`] without its text, which [`Instruction::reason`] adds.
enum Obstacle {
    Modifier,
    Text,
    Executor,
}

impl fmt::Display for NotExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidModifier(name) => write!(f, ".{name} is invalid"),
            Self::TextOnly(what) => write!(f, "the effect of {what} is not public"),
            Self::OtherExecutor(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for NotExecutable {}

/// Fields with mostly text-only values, in the order in which errors name them. All other fields follow.
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
    /// Returns the parts that all loads have, decoded in one pass.
    #[inline(always)]
    #[must_use]
    pub fn parts(&self) -> LoadParts {
        // Execution begins here, mostly with one of the five 64-bit forms, so this is compiled for each of them.
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

    /// For `LDGSTS`, the global address.
    #[inline(always)]
    fn address(&self, plan: &Plan) -> Address {
        let has = |slot| plan.place(slot).width > 0;
        let get = |slot| self.get_by(plan, slot);
        let base = if has(Slot::Base) { Reg::new(get(Slot::Base) as u8) } else { Reg::RZ };
        // The immediate forms of `LD` and `LDG` lack the field: `.E` gives the width instead.
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
            // Without a base the text has no scale either, except beside a uniform register.
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
            // Two calls, each with a result in registers, because a call that wrote to memory would keep all parts
            // there.
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
                    // The effect of `U` on Volta and Turing is not public.
                    Size::U128 if !plan.is_narrow => Size::B128,
                    size => size,
                })
            }
        })
    }

    /// The reason why the address of an `LD` or `LDG` cannot be executed, if there is one.
    fn lacks_base_or_extended(&self) -> Option<NotExecutable> {
        let is_wide = self.get(Slot::Wide) != 0;
        if self.lacks_extended() {
            return Some(NotExecutable::InvalidModifier("???0"));
        }
        let has_base = self.get(Slot::Descriptor) != 0 || !self.register(Slot::Base).is_zero();
        if is_wide && !has_base && !self.is_uniform_alone() {
            return Some(NotExecutable::InvalidModifier("64 without a base register"));
        }
        // A pair of uniform registers in a 32-bit address.
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

    /// Call only if the instruction cannot be executed.
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

    pub(crate) fn invalid_modifier(&self) -> Option<&'static str> {
        let modifiers = self.form().modifiers.iter().filter_map(|modifier| match *modifier {
            Modifier::Field(slot) | Modifier::Shown { slot, .. } => self.value(slot),
            Modifier::Always { .. } => None,
        });
        let mut invalid = modifiers.filter(|value| value.is_invalid());
        invalid.next().map(|value| value.name)
    }

    /// Whether the base has 64 bits although the word lacks `.E`.
    pub(crate) fn lacks_extended(&self) -> bool {
        // Only two forms of `LD` and `LDG` have both fields.
        self.has(Slot::Extended)
            && self.get(Slot::Extended) == 0
            && self.get(Slot::Wide) != 0
            && !self.is_uniform_alone()
    }

    /// Whether the address of an `LD` or `LDG` prints as `[UR+off]` alone.
    fn is_uniform_alone(&self) -> bool {
        let sets = |condition: &Condition| matches!(condition, Condition::SetAsExtended(_));
        let mut alternatives = self.plan().alternatives().iter();
        alternatives.any(|one| one.row.when.iter().any(sets) && one.fits(self.halves()))
    }

    /// Returns the bits that each lane loads or copies; for `LDSM`, the lane's share of the matrices. `None` if the
    /// size field encodes no size. Also works for instructions that cannot be executed.
    #[must_use]
    pub fn lane_bits(&self) -> Option<u32> {
        match self.form().size {
            FormSize::Bits256 => Some(256),
            FormSize::Matrices => self.matrix_bits(),
            FormSize::Tensor => self.tensor_parts()?.ok().map(|parts| 32 * parts.registers()),
            FormSize::Field => self.value(Slot::Size)?.size().map(|size| 8 * size.bytes()),
        }
    }

    /// Returns the most bits that a lane can load in this form; `None` if the form has a single size.
    #[must_use]
    pub fn widest_lane_bits(&self) -> Option<u32> {
        if self.form().size != FormSize::Field {
            return None;
        }
        let sizes = self.values(Slot::Size)?.rows.iter().filter_map(|value| value.size());
        sizes.map(|size| 8 * size.bytes()).max()
    }

    /// A lane's share of the matrices. A matrix has 8 rows of 16 bytes; an `MT1616` has 16 rows.
    fn matrix_bits(&self) -> Option<u32> {
        let count = match self.get(Slot::Count) {
            count @ 0..=2 => 1 << count,
            _ => return None,
        };
        let shape = self.value(Slot::Shape).filter(|shape| !shape.is_invalid())?;
        Some(if shape.name == "MT1616" { 64 * count } else { 32 * count })
    }
}
