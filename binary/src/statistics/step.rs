//! [`InstructionFacts`]: the properties of an instruction that the statistics use.

use std::borrow::Cow;
use std::fmt;

use warpload_encoding::{ConstantMode, Instruction, LoadDestination, MemorySpace, Slot};

/// The properties of an instruction that the statistics use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFacts {
    /// Bytes from the start of the function's section; `None` if unknown.
    pub offset: Option<u64>,
    /// The offset of the instruction after it.
    pub next: Option<u64>,
    /// The load, if it is one.
    pub load: Option<LoadFacts>,
    /// Its successors.
    pub flow: Flow,
    /// Its possible effects.
    pub effect: Effect,
}

/// A load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFacts {
    /// The mnemonic without modifiers.
    pub kind: &'static str,
    /// The number of bits that a lane loads; `None` if the size field encodes no size.
    pub bits: Option<u32>,
    /// The modifiers for caches and order, such as the cache operator; empty without any.
    pub cache: Cow<'static, str>,
    /// The order with other accesses.
    pub order: AccessOrder,
    /// The registers that the displacement is added to.
    pub base: BaseRegisters,
    /// The displacement in bytes; without a base, the address. `None` if it is unknown.
    pub displacement: Option<i64>,
    /// Whether the load depends on a predicate: its guard, or the one that selects the memory of a generic address.
    pub has_predicate: bool,
    /// The word without destination, displacement and scheduling. Loads of one form differ only in these.
    pub form: u128,
    /// The largest number of bits that the instruction can load; 0 if there is no wider load of this
    /// form.
    pub widest: u32,
}

/// The order of a load with other accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessOrder {
    /// None: it can be combined with others.
    Weak,
    /// An order with other accesses.
    Strong,
    /// Executed as written, past the caches: `.CV`, `STRONG.SYS`, `MMIO`.
    Volatile,
}

/// Consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterRange {
    /// The number of the first one.
    pub first: u8,
    /// The number of registers.
    pub count: u8,
}

/// The registers that an address is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseRegisters {
    /// The base register, or the pair; `None` for `RZ`.
    pub registers: Option<RegisterRange>,
    /// The uniform register, or the pair; `None` for `URZ`.
    pub uniform: Option<RegisterRange>,
}

/// The successors of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Whether any thread can continue elsewhere than at the next instruction.
    pub ends_block: bool,
    /// The instruction that it names as a target, for itself or for a later instruction.
    pub target: BranchTarget,
}

/// The target that an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BranchTarget {
    /// No target in this function.
    None,
    /// The instruction at this offset.
    At(u64),
    /// It can be any instruction.
    Unknown,
}

/// The possible effects of an instruction: an upper bound where the exact ones are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The registers that it may write.
    pub registers: Option<RegisterRange>,
    /// Whether it may write a predicate, uniform ones included.
    pub predicates: bool,
    /// Whether it may write a uniform register.
    pub uniform: bool,
    /// Whether it may write memory, order accesses, or have another side effect.
    pub memory: bool,
}

impl From<&Instruction> for LoadFacts {
    fn from(load: &Instruction) -> Self {
        let parts = load.parts();
        // The operators of SM 5.x and 6.x are named even if the text leaves them out.
        let cache = match load.modifier(Slot::Cache) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(load.cache_modifiers().as_str().to_owned()),
        };
        let order = match &*cache {
            text if text == "CV" || text.contains("STRONG.SYS") || text.contains("MMIO") => {
                AccessOrder::Volatile
            }
            text if text.contains("STRONG") => AccessOrder::Strong,
            _ => AccessOrder::Weak,
        };
        let widest = match parts.destination {
            LoadDestination::SharedMemory => 0,
            _ => load.widest_lane_bits().unwrap_or(0),
        };
        let varying = load.describe().filter(|reading| {
            matches!(reading.slot(), Slot::Destination | Slot::Offset)
                || reading.field().low() >= 102
        });
        let form = varying.fold(load.bits(), |form, reading| form & !reading.field().mask());
        let (address, base) = (parts.address, parts.address.base);
        let range = |first, is_pair| RegisterRange { first, count: if is_pair { 2 } else { 1 } };
        let registers = (!base.is_zero()).then(|| range(base.number(), address.extended));
        let uniform = address.uniform.filter(|uniform| !uniform.register.is_zero());
        let uniform = uniform.map(|uniform| range(uniform.register.number(), uniform.extended));
        let displacement = match registers.is_some() || address.uniform.is_some() {
            true => i64::from(address.offset.signed()),
            false => i64::from(address.offset.without_base()),
        };
        let is_known = match parts.space {
            // The offsets of the other modes are undocumented.
            MemorySpace::Constant { mode, .. } => mode == ConstantMode::Direct,
            // Addresses of Tensor Memory count no bytes.
            MemorySpace::Undocumented | MemorySpace::Tensor => false,
            _ => true,
        };
        let has_plg =
            matches!(parts.space, MemorySpace::Generic { plg: Some(plg) } if !plg.is_true());
        Self {
            kind: load.mnemonic(),
            bits: load.lane_bits(),
            cache,
            order,
            base: BaseRegisters { registers, uniform },
            displacement: is_known.then_some(displacement),
            has_predicate: has_plg || !parts.guard.pred.is_true(),
            form,
            widest,
        }
    }
}

impl Flow {
    /// Execution continues with the next instruction.
    pub const NEXT: Self = Self { ends_block: false, target: BranchTarget::None };
}

impl Effect {
    /// No effect.
    pub const NOTHING: Self =
        Self { registers: None, predicates: false, uniform: false, memory: false };
    /// Any effect, for instructions that are not known.
    pub const ANYTHING: Self =
        Self { registers: None, predicates: true, uniform: true, memory: true };

    /// Returns the effect of writing `count` registers.
    #[must_use]
    pub const fn writing(first: u8, count: u8) -> Self {
        Self { registers: Some(RegisterRange { first, count }), ..Self::NOTHING }
    }

    /// Adds the effect of writing predicates.
    #[must_use]
    pub const fn and_predicates(self) -> Self {
        Self { predicates: true, ..self }
    }
}

impl InstructionFacts {
    /// Returns the facts of an instruction without a word. It may have any effect and any successor.
    #[must_use]
    pub fn opaque(offset: Option<u64>, load: Option<LoadFacts>) -> Self {
        let flow = Flow { ends_block: true, target: BranchTarget::Unknown };
        Self { offset, next: None, load, flow, effect: Effect::ANYTHING }
    }
}

impl RegisterRange {
    /// Returns the numbers of the registers, up to R254: `RZ` and numbers above it are left out.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (self.first..u8::MAX).take(self.count.into())
    }

    fn write(self, f: &mut fmt::Formatter<'_>, prefix: &str) -> fmt::Result {
        let Self { first, count } = self;
        match count {
            // Counted in 16 bits, because a pair can begin with the last register, although its second half does not
            // exist.
            2 => write!(f, "{{{prefix}{}, {prefix}{first}}}", u16::from(first) + 1),
            _ => write!(f, "{prefix}{first}"),
        }
    }
}

impl BaseRegisters {
    /// Returns whether there is no register.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.registers.is_none() && self.uniform.is_none()
    }
}

/// A sum such as `{R3, R2} + UR4`; empty without registers.
impl fmt::Display for BaseRegisters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(registers) = self.registers {
            registers.write(f, "R")?;
        }
        if self.registers.is_some() && self.uniform.is_some() {
            f.write_str(" + ")?;
        }
        self.uniform.map_or(Ok(()), |uniform| uniform.write(f, "UR"))
    }
}
