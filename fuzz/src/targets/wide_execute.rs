use warpload::encoding::{Decoded, Instruction, Pred, Reg, Sm, UniformReg};
use warpload::lane::LANES;

use super::execute::{Input, executed_by_both, machine};
use super::wide_decode::sm_of;

/// The two executors agree on loads of 128 bits: on any form, SM, fields, registers, uniform registers,
/// predicates and memory.
pub fn wide_fast_equals_literal(input: &[u8]) {
    let mut input = Input(input);
    let Some(machine) = machine(&mut input) else { return };
    let sm = sm_of(input.byte());
    let Some(load) = instruction(&mut input, sm) else { return };
    let mut warp = input.warp();
    let uniform = input.byte();
    for predicate in Pred::ALL.into_iter().filter(|predicate| !predicate.is_true()) {
        warp.set_uniform_predicate(predicate, uniform >> predicate.number() & 1 != 0);
    }
    let address = load.parts().address;
    if let Some(part) = address.uniform {
        warp.set_uniform_register(part.register, input.word());
    }
    warp.set_register(address.base, input.addresses());
    let mut warp = executed_by_both(&load, &machine, warp);
    // The registers after the first of pairs decide whether 64-bit addresses are in range.
    let high = input.word();
    if address.base.number() < 254 {
        warp.set_register(Reg::new(address.base.number() + 1), [high & 1; LANES]);
    }
    if let Some(part) = address.uniform.filter(|part| part.register.number() < 254) {
        warp.set_uniform_register(UniformReg::new(part.register.number() + 1), high >> 1);
    }
    executed_by_both(&load, &machine, warp);
}

/// Returns a load with the bits of the input in some of its fields; `None` if the word is refused.
fn instruction(input: &mut Input<'_>, sm: Sm) -> Option<Instruction> {
    let count = Instruction::forms(sm).count();
    let form = Instruction::forms(sm).nth(usize::from(input.byte()).checked_rem(count)?)?;
    let (bits, kept) = (u128::from_le_bytes(input.bytes()), input.word());
    let mut word = form.bits();
    for (n, reading) in form.describe().enumerate() {
        if reading.fixed().is_none() && kept >> (n % 32) & 1 == 0 {
            let field = reading.field().mask();
            word = word & !field | bits & field;
        }
    }
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => Some(load),
        _ => None,
    }
}
