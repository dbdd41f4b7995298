//! [`Family`]: the executable forms of one instruction, with their fields by name.

use std::rc::Rc;

use warpload_encoding::{
    Instruction, LoadDestination, LoadParts, LoadSize, MemorySpace, Offset, Size, Sm, UniformBase,
};

/// An instruction of one SM, in all executable forms.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) mnemonic: &'static str,
    pub(crate) sm: Sm,
    pub(crate) forms: Vec<Form>,
}

/// A form of an instruction, with its size and the modifiers that change its meaning. Other modifiers have their
/// defaults.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) word: u128,
    fields: Rc<[FieldPlace]>,
    pub(crate) parts: LoadParts,
    pub(crate) size: LoadSize,
    /// The bytes that one unit of the offset field counts.
    pub(crate) offset_unit: i64,
}

#[derive(Clone, Copy, Debug)]
struct FieldPlace {
    name: &'static str,
    low: u32,
    width: u32,
    is_reserved: bool,
}

/// Fields that select a form: each of their values is a [`Form`] of its own.
const STRUCTURAL: [&str; 8] = ["sz", "E", "64", "desc", "U", "count", "shape", "scale"];

impl Family {
    /// The mnemonics of an SM's executable loads.
    pub(crate) fn mnemonics(sm: Sm) -> impl Iterator<Item = &'static str> {
        Instruction::mnemonics(sm).filter(|name| !OF_OTHER_EXECUTORS.contains(name))
    }

    /// `None` if the SM has no executable load of this name.
    pub(crate) fn new(mnemonic: &str, sm: Sm) -> Option<Self> {
        let mnemonic = Self::mnemonics(sm).find(|known| known.eq_ignore_ascii_case(mnemonic))?;
        let mut forms = Vec::new();
        let of_name = Instruction::forms(sm).filter(|form| form.mnemonic() == mnemonic);
        for (word, fields) in of_name.map(template) {
            let structural = STRUCTURAL.map(|name| fields.iter().rposition(|f| f.name == name));
            let structural: Vec<FieldPlace> =
                structural.iter().flatten().filter_map(|at| fields.get(*at).copied()).collect();
            let mut words = vec![word];
            for field in &structural {
                let values = 0..1u64 << field.width;
                words = values.flat_map(|v| words.iter().map(move |w| field.set(*w, v))).collect();
            }
            forms.extend(words.into_iter().filter_map(|word| Form::new(word, &fields, sm)));
        }
        (!forms.is_empty()).then_some(Self { mnemonic, sm, forms })
    }

    /// Whether the instruction loads uniform registers, once for all lanes.
    pub(crate) fn is_uniform(&self) -> bool {
        self.forms.iter().any(|form| form.fills_uniform())
    }
}

/// Decoded, but not executed as loads into registers (docs/load-sm70.md section 10, 23).
const OF_OTHER_EXECUTORS: [&str; 2] = ["LDGSTS", "LDTM"];

/// A word of a form with registers, and the places of its fields.
fn template(form: Instruction) -> (u128, Rc<[FieldPlace]>) {
    let readings = form.describe().filter(|reading| reading.fixed().is_none());
    let fields: Rc<[FieldPlace]> = readings
        .map(|reading| FieldPlace {
            name: reading.name(),
            low: reading.field().low().into(),
            width: reading.field().width(),
            is_reserved: reading.is_reserved(),
        })
        .collect();
    // Some modifiers are invalid without registers.
    let mut word = form.bits();
    for (name, number) in [("Rd", 4), ("R1st", 8), ("Ra", 2), ("UR", 4), ("URd", 8), ("UR1st", 12)]
    {
        if let Some(field) = fields.iter().rev().find(|field| field.name == name) {
            word = field.set(word, number);
        }
    }
    (word, fields)
}

impl FieldPlace {
    fn mask(&self) -> u128 {
        ((1 << self.width) - 1) << self.low
    }

    fn set(&self, word: u128, value: u64) -> u128 {
        word & !self.mask() | u128::from(value) << self.low & self.mask()
    }
}

/// The load that a word encodes, if it can be executed.
pub(crate) fn executable(word: u128, sm: Sm) -> Option<(Instruction, LoadParts, LoadSize)> {
    let load = match sm.has_wide_words() {
        true => Instruction::decode(word, sm).load()?,
        false => Instruction::decode(word as u64, sm).load()?,
    };
    let parts = load.parts();
    let size = parts.size.ok()?;
    let is_elsewhere = parts.destination == LoadDestination::SharedMemory
        || matches!(parts.space, MemorySpace::Tensor | MemorySpace::Undocumented);
    (!is_elsewhere).then_some((load, parts, size))
}

impl Form {
    fn new(word: u128, fields: &Rc<[FieldPlace]>, sm: Sm) -> Option<Self> {
        let (_, parts, size) = executable(word, sm)?;
        let mut form = Self { word, fields: Rc::clone(fields), parts, size, offset_unit: 1 };
        let one = form.set(word, form.offset_name(), 1)?;
        form.offset_unit = executable(one, sm)?.1.address.offset.signed().into();
        Some(form)
    }

    /// The field with this name; the lower one if there are two.
    fn field(&self, name: &str) -> Option<&FieldPlace> {
        self.fields.iter().rev().find(|field| field.name == name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// The width of a field in bits, 0 without the field.
    pub(crate) fn width(&self, name: &str) -> u32 {
        self.field(name).map_or(0, |field| field.width)
    }

    /// Puts the lowest bits of `value` into a field of `word`; `None` without the field.
    pub(crate) fn set(&self, word: u128, name: &str, value: u64) -> Option<u128> {
        Some(self.field(name)?.set(word, value))
    }

    /// The number in a field; `None` without the field.
    pub(crate) fn get(&self, word: u128, name: &str) -> Option<u64> {
        let field = self.field(name)?;
        Some(((word & field.mask()) >> field.low) as u64)
    }

    /// The bits that the disassembler does not read.
    pub(crate) fn reserved_bits(&self) -> u128 {
        let reserved = self.fields.iter().filter(|field| field.is_reserved);
        reserved.fold(0, |mask, field| mask | field.mask())
    }

    pub(crate) fn offset_name(&self) -> &'static str {
        if self.has("imm") { "imm" } else { "off" }
    }

    pub(crate) fn destination_name(&self) -> &'static str {
        if self.fills_uniform() { "URd" } else { "Rd" }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.size.bytes().into()
    }

    pub(crate) fn registers(&self) -> u32 {
        self.size.registers()
    }

    /// The number of registers with a common rule for alignment and range. A load of 256 bits has two groups of four.
    pub(crate) fn group(&self) -> u8 {
        self.registers().clamp(1, 4) as u8
    }

    /// Whether the load fills uniform registers, with one access for the warp.
    pub(crate) fn fills_uniform(&self) -> bool {
        use LoadDestination::{Uniform, UniformHalves};
        matches!(self.parts.destination, Uniform(_) | UniformHalves { .. })
    }

    pub(crate) fn uniform(&self) -> Option<UniformBase> {
        self.parts.address.uniform
    }

    /// Whether addresses have 64 bits, so that their base is a pair of registers.
    pub(crate) fn is_wide(&self) -> bool {
        self.parts.address.extended || self.has_uniform_pair()
    }

    pub(crate) fn has_uniform_pair(&self) -> bool {
        self.uniform().is_some_and(|uniform| uniform.extended)
    }

    pub(crate) fn has_descriptor(&self) -> bool {
        self.get(self.word, "desc") == Some(1)
    }

    /// Whether addresses are generic: the windows select the memory.
    pub(crate) fn is_generic(&self) -> bool {
        matches!(self.parts.space, MemorySpace::Generic { .. })
    }

    /// Whether addresses of global memory have only 32 bits.
    pub(crate) fn is_narrow_pointer(&self) -> bool {
        (self.is_generic() || self.is_global()) && !self.is_wide()
    }

    pub(crate) fn is_global(&self) -> bool {
        self.parts.space == MemorySpace::Global
    }

    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.parts.space, MemorySpace::Constant { .. })
    }

    pub(crate) fn is_local(&self) -> bool {
        self.parts.space == MemorySpace::Local
    }

    pub(crate) fn is_matrix(&self) -> bool {
        matches!(self.size, LoadSize::Matrices { .. })
    }

    /// Whether each lane executes for itself. Uniform loads execute once, and matrices need all lanes.
    pub(crate) fn is_by_lane(&self) -> bool {
        !self.fills_uniform() && !self.is_matrix()
    }

    /// Whether the load is a `.U.128`, which has a broadcast path.
    pub(crate) fn may_broadcast(&self) -> bool {
        self.size.of_lane().is_some_and(Size::is_uniform)
    }

    /// Whether the load is narrower than 32 bits and sign-extends or, if not `signed`, zero-extends.
    pub(crate) fn extends(&self, signed: bool) -> bool {
        self.size.of_lane().is_some_and(|size| size.bytes() < 4 && size.is_signed() == signed)
    }

    /// Whether an offset without a base is unsigned.
    pub(crate) fn has_unsigned_offset(&self) -> bool {
        matches!(self.parts.address.offset, Offset::ByBase { .. })
    }
}
