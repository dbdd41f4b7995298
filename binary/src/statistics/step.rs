//! [`InstructionFacts`]: what the statistics need to know of an instruction.

use std::borrow::Cow;
use std::fmt;

use warpload_encoding::{ConstantMode, Instruction, LoadDestination, MemorySpace, Slot};

/// An instruction as the statistics see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFacts {
    /// Bytes from the start of the function's section; `None` if unknown.
    pub offset: Option<u64>,
    /// The offset of the instruction after it.
    pub next: Option<u64>,
    /// What it loads, if it is a load.
    pub load: Option<LoadFacts>,
    /// Where execution goes on.
    pub flow: Flow,
    /// What it may change.
    pub effect: Effect,
}

/// A load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFacts {
    /// The mnemonic without modifiers.
    pub kind: &'static str,
    /// The number of bits that a lane loads; `None` if the size field encodes no size.
    pub bits: Option<u32>,
    /// The cache operator, and what else the mnemonic says about caches and order; empty if the
    /// instruction has no such modifier.
    pub cache: Cow<'static, str>,
    /// What the load promises other accesses.
    pub order: AccessOrder,
    /// The registers that the displacement is added to.
    pub base: BaseRegisters,
    /// The displacement; without a base, the address. `None` if it is unknown.
    pub displacement: Option<i64>,
    /// Whether predicates decide if it executes or how its address is read.
    pub has_predicate: bool,
    /// The word without destination, displacement and scheduling. Loads of one form differ in these
    /// only.
    pub form: u128,
    /// The largest number of bits that the instruction can load; 0 if there is no wider load of this
    /// form.
    pub widest: u32,
}

/// What a load promises other accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessOrder {
    /// Nothing: it can be combined with others.
    Weak,
    /// An order with other accesses.
    Strong,
    /// It is executed as it is, and not served by caches: `.CV`, `STRONG.SYS`, `MMIO`.
    Volatile,
}

/// Consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterRange {
    /// The number of the first one.
    pub first: u8,
    /// How many.
    pub count: u8,
}

/// The registers that an address is computed from, apart from predicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseRegisters {
    /// The base register, or the pair; `None` for `RZ`.
    pub registers: Option<RegisterRange>,
    /// The uniform register, or the pair; `None` for `URZ`.
    pub uniform: Option<RegisterRange>,
}

/// Where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Whether it can go on elsewhere than with the next instruction, for any thread.
    pub ends_block: bool,
    /// The instruction that is named as one at which it can go on, now or later.
    pub target: BranchTarget,
}

/// A place in the function that an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BranchTarget {
    /// There is none, or it is in another function.
    None,
    /// The instruction at this offset.
    At(u64),
    /// Any instruction.
    Unknown,
}

/// What an instruction may change; more than it does if that is not known exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The registers.
    pub registers: Option<RegisterRange>,
    /// Whether any predicate, uniform ones included.
    pub predicates: bool,
    /// Whether any uniform register.
    pub uniform: bool,
    /// Whether memory, or the order of accesses to it, or anything else.
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
            // What the other modes do with the offset is not public.
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
    /// The next instruction is executed.
    pub const NEXT: Self = Self { ends_block: false, target: BranchTarget::None };
}

impl Effect {
    /// It changes nothing.
    pub const NOTHING: Self =
        Self { registers: None, predicates: false, uniform: false, memory: false };
    /// It is not known what it changes.
    pub const ANYTHING: Self =
        Self { registers: None, predicates: true, uniform: true, memory: true };

    /// Returns the effect of writing `count` registers.
    #[must_use]
    pub const fn writing(first: u8, count: u8) -> Self {
        Self { registers: Some(RegisterRange { first, count }), ..Self::NOTHING }
    }

    /// Returns this effect and that of writing predicates.
    #[must_use]
    pub const fn and_predicates(self) -> Self {
        Self { predicates: true, ..self }
    }
}

impl InstructionFacts {
    /// Returns the step of an instruction without a word: it may do anything, and go on anywhere.
    #[must_use]
    pub fn opaque(offset: Option<u64>, load: Option<LoadFacts>) -> Self {
        let flow = Flow { ends_block: true, target: BranchTarget::Unknown };
        Self { offset, next: None, load, flow, effect: Effect::ANYTHING }
    }
}

impl RegisterRange {
    /// Returns the numbers of the registers. `RZ` and what is above it are left out.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (self.first..u8::MAX).take(self.count.into())
    }

    fn write(self, f: &mut fmt::Formatter<'_>, prefix: &str) -> fmt::Result {
        let Self { first, count } = self;
        match count {
            // The register above the last one does not exist, but can be encoded.
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

/// Writes a sum such as `{R3, R2} + UR4`; nothing without registers.
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
