use warpload::encoding::{Instruction, Pred, Reg, Sm, UniformReg};
use warpload::lane::{LANES, LaneMask};
use warpload::load::Executor;
use warpload::machine::{Machine, Misaligned, RegisterLimit};
use warpload::memory::{AddressMap, MemoryBuilder, Window};
use warpload::warp::Warp;

use super::decode::{sm_of, word_of};

/// Takes numbers from the input, and zeros after its end.
struct Input<'i>(&'i [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = N.min(self.0.len());
        bytes[..taken].copy_from_slice(&self.0[..taken]);
        self.0 = &self.0[taken..];
        bytes
    }

    fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.bytes())
    }

    fn half(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes())
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// A warp with active lanes and predicates from the input.
    fn warp(&mut self) -> Warp {
        let mut warp = Warp::new();
        warp.active = LaneMask::from_bits(self.word());
        for predicate in Pred::ALL.into_iter().filter(|predicate| !predicate.is_true()) {
            warp.set_predicate(predicate, LaneMask::from_bits(self.word()));
        }
        warp
    }

    /// Addresses at about equal distances.
    fn addresses(&mut self) -> [u32; LANES] {
        let (base, stride) = (self.word(), u32::from(self.byte()));
        let spread: [u8; LANES] = self.bytes();
        let address = |lane| stride * lane as u32 + u32::from(spread[lane]);
        std::array::from_fn(|lane| base.wrapping_add(address(lane)))
    }
}

/// A machine with everything in about the first 64 KiB, so that addresses often hit and often miss.
fn machine(input: &mut Input<'_>) -> Option<Machine> {
    let window =
        |at: u8, size: u8| Window { base: u64::from(at) * 256, size: (u64::from(size) + 1) * 16 };
    let shared = window(input.byte(), input.byte());
    let local = window(input.byte(), input.byte());
    let map = AddressMap::new(32 + u32::from(input.byte()) % 33, shared, local).ok()?;
    let bytes: Vec<u8> = (0..8192u32).map(|i| ((i * 37) >> 3) as u8).collect();
    let mut memory = MemoryBuilder::new(map);
    for _ in 0..input.byte() % 4 {
        memory = memory.global(u64::from(input.half()), &bytes[..usize::from(input.byte())]);
    }
    let (low, high) = (usize::from(input.byte()), usize::from(input.byte()));
    let memory = memory
        .shared(&bytes[..usize::from(input.half() % 4096)])
        .local_low(low, &bytes[..low * LANES])
        .local_high(high, &bytes[..high * LANES])
        .constant(input.byte() % 32, &bytes[..usize::from(input.half() % 8192)])
        .build()
        .ok()?;
    Some(Machine {
        register_limit: RegisterLimit::new(u64::from(input.byte())).ok()?,
        misaligned: if input.byte() & 1 == 0 { Misaligned::Force } else { Misaligned::Report },
        memory,
    })
}

/// The two executors agree on any machine, SM, form, fields, registers, uniform registers, predicates and memory.
pub(super) fn fast_equals_literal(input: &[u8]) {
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
    // The second registers of pairs decide whether 64-bit addresses are in range, so both cases are executed.
    let high = input.word();
    if address.base.number() < 254 {
        warp.set_register(Reg::new(address.base.number() + 1), [high & 1; LANES]);
    }
    if let Some(part) = address.uniform.filter(|part| part.register.number() < 254) {
        warp.set_uniform_register(UniformReg::new(part.register.number() + 1), high >> 1);
    }
    executed_by_both(&load, &machine, warp);
}

/// A load with bits of the input in some of its fields; `None` if the word is not a load.
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
    Instruction::decode(word_of(word, sm), sm).load()
}

/// Executes a load on both executors, which must agree. The result is the warp afterwards.
pub(super) fn executed_by_both(load: &Instruction, machine: &Machine, mut warp: Warp) -> Warp {
    let mut other = warp.clone();
    let fast = Executor::Fast.execute(load, machine, &mut warp);
    assert_eq!(fast, Executor::Reference.execute(load, machine, &mut other));
    assert!(warp == other);
    warp
}
