//! Random loads of SM 7.0 and later: any form of any SM, with fields that mostly make it executable.

use warpload::encoding::{Decoded, FieldReading, Instruction, Pred, Sm, UniformReg};
use warpload::lane::LANES;
use warpload::load::LoadOp;
use warpload::machine::Machine;
use warpload::memory::AddressSpace;
use warpload::warp::Warp;

use crate::executors::addresses::addresses;
use crate::executors::choices::Choices;
use crate::executors::loads::{Case, mask, warp};
use crate::executors::machines::{BANKS, machine};

impl Case {
    /// A 128-bit load; `None` if the word is refused.
    pub(crate) fn wide(numbers: &[u64]) -> Option<Self> {
        let choices = &mut Choices::new(numbers);
        let machine = machine(choices);
        // Draw again if the first one cannot be executed, so that most can.
        let executes = |load: &Instruction| load.parts().size.is_ok();
        let drawn = instruction(choices, &machine).filter(executes);
        let instruction = drawn.or_else(|| instruction(choices, &machine))?;
        let mut warp = warp(choices);
        for number in 0..7 {
            let predicate = Pred::try_from(number).unwrap();
            warp.set_uniform_predicate(predicate, choices.one_in(2));
        }
        let op = LoadOp::of(&instruction);
        let (space, bytes) =
            op.map_or((AddressSpace::Generic, 4), |op| (op.space, op.width.bytes()));
        let addresses = addresses(choices, &machine, space, bytes);
        aim(choices, instruction, &mut warp, &addresses);
        // `LDSM` needs all lanes, so it mostly gets them.
        if instruction.mnemonic() != "LDSM" || choices.one_in(4) {
            warp.active = mask(choices);
        }
        Some(Self { machine, instruction, warp })
    }
}

fn instruction(choices: &mut Choices<'_>, machine: &Machine) -> Option<Instruction> {
    let sms: Vec<Sm> = Sm::all().filter(|sm| sm.has_wide_words()).collect();
    let sm = choices.pick(&sms);
    let mut forms: Vec<Instruction> = Instruction::forms(sm).collect();
    // Forms that only later SMs have are drawn four times as often.
    let is_special =
        |form: &Instruction| form.mnemonic() == "LDSM" || form.opcode().contains("256");
    let special: Vec<Instruction> = forms.iter().copied().filter(is_special).collect();
    forms.extend([&special[..]; 3].concat());
    let form = choices.pick(&forms);
    let mut word = form.bits();
    let limit = u64::from(machine.register_limit.get());
    for reading in form.describe().filter(|reading| reading.fixed().is_none()) {
        let Some(bits) = field(choices, &reading, limit) else { continue };
        let field = reading.field();
        let shifted = u128::from(bits) << field.low();
        word = word & !field.mask() | shifted & field.mask();
    }
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => Some(load),
        Decoded::Illegal(_) | Decoded::Other => None,
    }
}

/// The bits of a field; `None` keeps its default.
fn field(choices: &mut Choices<'_>, reading: &FieldReading, limit: u64) -> Option<u64> {
    let any = choices.word();
    match reading.name() {
        "Rd" | "R1st" | "Ra" => Some(match choices.below(12) {
            0 => 255,
            1 => any,
            2 => (limit & !1).saturating_sub(4 * choices.below(2)),
            3 => any % limit,
            _ => 4 * choices.below((limit.min(16) / 4).max(1)) + 2 * (any & 1),
        }),
        "UR" | "URa" | "URb" | "URd" | "UR1st" => Some(match choices.below(12) {
            0 => 255,
            1 => any,
            2 => 56 + any % 8,
            3 => 248 + any % 8,
            _ => 4 * choices.below(4) + 2 * (any & 1),
        }),
        "Pg" | "UPg" => choices.one_in(3).then_some(any),
        "off" => match choices.below(4) {
            0 => Some(0),
            1 => Some(any % 64),
            2 => Some((any % 64).wrapping_neg()),
            _ => Some(any),
        },
        "bank" => Some(if choices.one_in(12) { any } else { choices.pick(&BANKS).into() }),
        // Most addresses with a uniform register need it.
        "E" => Some(u64::from(!choices.one_in(4))),
        "sz" | "64" | "desc" | "scale" | "count" | "shape" | "U" => {
            choices.one_in(2).then_some(any)
        }
        "order" | "evict" | "scope" => choices.one_in(8).then_some(any),
        // Mostly text only.
        "ZD" | "Pd" | "Pin" | "UPin" | "mode" | "private" | "unpack" | "mask" | "!" => {
            choices.one_in(24).then_some(any)
        }
        // Fields that change no result: scheduling, prefetching, bits that are not read.
        "batch" | "stall" | "yield" | "req" | "wr" | "rd" => None,
        _ => choices.one_in(4).then_some(any),
    }
}

/// Sets the registers so that the lanes get these addresses, as far as the load can form them.
fn aim(choices: &mut Choices<'_>, load: Instruction, warp: &mut Warp, addresses: &[u64; LANES]) {
    let address = load.parts().address;
    let mut left = addresses.map(|one| one.wrapping_sub(address.offset.signed() as u64));
    if let Some(part) = address.uniform {
        let value = match choices.below(4) {
            _ if address.base.is_zero() => left[0],
            0 => 0,
            1 => left[0],
            2 => choices.below(64),
            _ => choices.word(),
        };
        warp.set_uniform_register(part.register, value as u32);
        if part.extended && part.register.number() < 254 {
            let next = UniformReg::new(part.register.number() + 1);
            warp.set_uniform_register(next, (value >> 32) as u32);
        }
        left = left.map(|one| one.wrapping_sub(value));
    }
    let bases = left.map(|one| one >> address.scale());
    warp.set_register(address.base, bases.map(|base| base as u32));
    if address.extended && address.base.number() < 254 {
        let next = warpload::encoding::Reg::new(address.base.number() + 1);
        warp.set_register(next, bases.map(|base| (base >> 32) as u32));
    }
}
