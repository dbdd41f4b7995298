//! What a load of 128 bits means: its memory, its address, its registers, and why it cannot be
//! executed if it cannot (docs/load-sm70.md section 10).

use super::decode::Instruction128;
use super::row::Slot;
use crate::field::{Bits, FieldValue};
use crate::operand::{Address, ConstantMode, Guard, MemorySpace, Offset, Reg, Size, UniformBase};
use crate::parts::{LoadDestination, LoadParts, LoadSize, NotExecutable};
use crate::sm::Group;

use NotExecutable::{InvalidModifier, OtherExecutor, TextOnly};

impl Instruction128 {
    /// Returns what all loads have.
    #[must_use]
    pub fn parts(&self) -> LoadParts {
        let negated = self.get(Slot::GuardNegated) != 0;
        LoadParts {
            guard: Guard { pred: self.predicate(Slot::Guard), negated },
            is_guard_uniform: self.has_uniform_guard(),
            destination: self.destination(),
            space: self.space(),
            address: self.address(),
            uniform_registers: match self.group() {
                Group::Spa5 | Group::Volta => 0,
                group if super::row::TAH.contains(group) => 63,
                _ => 255,
            },
            size: self.load_size(),
        }
    }

    /// Returns where the values go.
    #[must_use]
    pub fn destination(&self) -> LoadDestination {
        let (low, high) = (Slot::Destination, Slot::HighDestination);
        let has_halves = self.has(Slot::Mask);
        match self.mnemonic() {
            "LDGSTS" => LoadDestination::SharedMemory,
            "ULDC" | "LDCU" if has_halves => {
                LoadDestination::UniformHalves { low: self.uniform(low), high: self.uniform(high) }
            }
            "ULDC" | "LDCU" => LoadDestination::Uniform(self.uniform(low)),
            _ if has_halves => {
                LoadDestination::Halves { low: self.register(low), high: self.register(high) }
            }
            _ => LoadDestination::Registers(self.register(low)),
        }
    }

    /// Returns the memory that is addressed.
    #[must_use]
    pub fn space(&self) -> MemorySpace {
        match self.mnemonic() {
            "LD" => MemorySpace::Windows,
            "LDG" | "LDGSTS" => MemorySpace::Global,
            "LDL" => MemorySpace::Local,
            "LDS" | "LDSM" => MemorySpace::Shared,
            "LDTM" => MemorySpace::Tensor,
            _ if self.has(Slot::Bank) => MemorySpace::Constant {
                bank: Bits::from_bits(self.get(Slot::Bank)),
                mode: ConstantMode::from_bits(self.get(Slot::Mode)),
            },
            // `cx[UR]`, and `[UR+off]` of the uniform loads.
            _ => MemorySpace::Undocumented,
        }
    }

    /// Returns the address operand; of `LDGSTS` the global one.
    #[must_use]
    pub fn address(&self) -> Address {
        let base = if self.has(Slot::Base) { self.register(Slot::Base) } else { Reg::RZ };
        let has_descriptor = self.get(Slot::Descriptor) != 0;
        // Immediate forms of `LD` and `LDG` have no such field: there `.E` says it.
        let is_pair = if self.has(Slot::Wide) {
            self.get(Slot::Wide) != 0
        } else {
            self.get(Slot::Extended) != 0
        };
        let uniform = (self.has(Slot::UniformBase) && !has_descriptor && !self.copies_to_uniform())
            .then(|| UniformBase {
                register: self.uniform(Slot::UniformBase),
                extended: self.has(Slot::Wide),
            });
        let signed = self.get_signed(Slot::Offset);
        // Without a register the immediate forms have an address instead of an offset.
        let is_immediate = self.has(Slot::Base) && uniform.is_none() && !has_descriptor;
        let is_unsigned = is_immediate && !matches!(self.mnemonic(), "LDC" | "LDSM" | "LDGSTS");
        // The address of `LDSM` without a register is unsigned before SM 8.0.
        let is_turing_matrix =
            self.mnemonic() == "LDSM" && base.is_zero() && super::row::T.contains(self.group());
        let offset = if is_unsigned {
            let unsigned = self.get(Slot::Offset) as u32;
            Offset::ByBase { signed: signed as i32, unsigned }
        } else if is_turing_matrix {
            Offset::Signed(self.get(Slot::Offset) as i32)
        } else {
            Offset::Signed(signed as i32)
        };
        Address {
            base,
            extended: is_pair,
            offset,
            scale: match self.get(Slot::Scale) {
                0 => 0,
                // Its text has no scale either, except beside a uniform register.
                _ if base.is_zero() => 0,
                scale => scale as u8 + 1,
            },
            uniform,
        }
    }

    /// Returns whether the uniform register is part of the shared address of `LDGSTS`.
    fn copies_to_uniform(&self) -> bool {
        self.form().opcode == 0xdae
    }

    /// Returns the instruction with the displacement of another of the same form, and with its constant
    /// bank if `and_bank` says so; `None` if it is of another form.
    #[must_use]
    pub fn with_displacement_of(self, other: &Self, and_bank: bool) -> Option<Self> {
        if !core::ptr::eq(self.form(), other.form()) || self.sm() != other.sm() {
            return None;
        }
        let load = self.put(Slot::Offset, other.get(Slot::Offset))?;
        if and_bank && self.has(Slot::Bank) {
            return load.put(Slot::Bank, other.get(Slot::Bank));
        }
        Some(load)
    }

    /// Returns how many bits each lane loads or copies, of `LDSM` the share of each lane in the matrices;
    /// `None` if the size field encodes no size. Also of instructions that cannot be executed.
    #[must_use]
    pub fn lane_bits(&self) -> Option<u32> {
        match self.mnemonic() {
            _ if self.has(Slot::Mask) => Some(256),
            "LDSM" => self.matrix_bits(),
            "LDTM" => self.tensor_parts()?.ok().map(|parts| 32 * parts.registers()),
            _ => match self.value(Slot::Size)?.name {
                "U8" | "S8" => Some(8),
                "U16" | "S16" => Some(16),
                "" => Some(32),
                "64" => Some(64),
                "128" | "U.128" => Some(128),
                _ => None,
            },
        }
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

    fn load_size(&self) -> Result<LoadSize, NotExecutable> {
        if let Some(reason) = self.not_executable() {
            return Err(reason);
        }
        if self.has(Slot::Mask) {
            return Ok(LoadSize::Bits256);
        }
        if self.mnemonic() == "LDSM" {
            let count = 1 << self.get(Slot::Count);
            return Ok(LoadSize::Matrices { count, transposed: self.get(Slot::Shape) == 1 });
        }
        Ok(LoadSize::Lane(match self.get(Slot::Size) {
            // `.U.128` of Volta and Turing: what its U does is not public.
            7 => Size::B128,
            number => Size::from_bits(number),
        }))
    }

    /// Returns why the instruction cannot be executed, if it cannot.
    fn not_executable(&self) -> Option<NotExecutable> {
        match self.mnemonic() {
            "LDGSTS" => return Some(OtherExecutor("LDGSTS writes shared memory, no register")),
            "LDTM" => {
                return Some(OtherExecutor(
                    "LDTM loads Tensor Memory, which `warpload tmem` executes",
                ));
            }
            _ => {}
        }
        if let Some(name) = self.invalid_modifier() {
            return Some(InvalidModifier(name));
        }
        if self.lacks_extended() {
            return Some(InvalidModifier("???0"));
        }
        let base_is_missing = self.has(Slot::Wide)
            && self.get(Slot::Wide) != 0
            && self.get(Slot::Descriptor) == 0
            && self.register(Slot::Base).is_zero()
            && !self.is_uniform_alone();
        if base_is_missing {
            return Some(InvalidModifier("64 without a base register"));
        }
        // A uniform register pair in an address of 32 bits.
        let is_narrow_with_uniform =
            self.has(Slot::Wide) && self.has(Slot::Extended) && self.get(Slot::Extended) == 0;
        let is_set = |slot| self.get(slot) != 0;
        // Of `LD` and `LDS` only `.ZD` makes it one.
        let writes_predicate = self.mnemonic() == "LDG"
            && self.has(Slot::PredicateOut)
            && !self.predicate(Slot::PredicateOut).is_true();
        [
            (is_set(Slot::Zd), ".ZD"),
            (writes_predicate, "the predicate that LDG writes"),
            (self.reads_predicate(), "the predicate after the address"),
            (is_set(Slot::Private), ".PRIVATE"),
            (self.value(Slot::Order).is_some_and(|o| o.name.ends_with("PRIVATE")), ".PRIVATE"),
            (self.value(Slot::Policy).is_some_and(|p| p.name == "RML2"), ".RML2"),
            (is_set(Slot::Unpack), "unpacking"),
            (self.has(Slot::Mask) && self.get(Slot::Mask) != 0xff, "the mask of words"),
            (self.has(Slot::Handle), "a constant bank that a register names, `cx[UR]`,"),
            (self.space() == MemorySpace::Undocumented, "`[UR+offset]` of a uniform load"),
            (self.has_other_matrix(), "this element size or matrix shape of LDSM"),
            (is_narrow_with_uniform, "a uniform register in an address without `.E`"),
        ]
        .into_iter()
        .find_map(|(is_there, what)| is_there.then_some(TextOnly(what)))
    }

    /// Returns the first modifier whose number means nothing.
    pub(super) fn invalid_modifier(&self) -> Option<&'static str> {
        let modifiers = self.form().modifiers.iter().filter_map(|modifier| match *modifier {
            super::form::Modifier::Slot(slot) => self.value(slot),
            super::form::Modifier::Always(_) => None,
        });
        let mut invalid = modifiers.filter(|value| value.is_invalid());
        invalid.next().map(|value| value.name)
    }

    /// Returns whether a load reads a predicate besides its guard.
    fn reads_predicate(&self) -> bool {
        let is_true = self.predicate(Slot::PredicateIn).is_true();
        self.has(Slot::PredicateIn) && (!is_true || self.get(Slot::PredicateInNegated) != 0)
    }

    fn has_other_matrix(&self) -> bool {
        self.mnemonic() == "LDSM" && (self.get(Slot::Size) != 0 || self.get(Slot::Shape) > 1)
    }
}
