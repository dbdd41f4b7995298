use warpload::encoding::{Instruction, Pred, Reg, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::load::Executor;
use warpload::machine::{Machine, Misaligned, RegisterLimit};
use warpload::memory::{AddressMap, MemoryBuilder, Window};
use warpload::warp::Warp;

/// Takes numbers from the input; zeroes after its end.
pub(super) struct Input<'i>(pub(super) &'i [u8]);

impl Input<'_> {
    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = N.min(self.0.len());
        bytes[..taken].copy_from_slice(&self.0[..taken]);
        self.0 = &self.0[taken..];
        bytes
    }

    pub(super) fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.bytes())
    }

    pub(super) fn half(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes())
    }

    pub(super) fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// Returns a warp with executing lanes and predicates of the input.
    pub(super) fn warp(&mut self) -> Warp {
        let mut warp = Warp::new();
        warp.active = LaneMask::from_bits(self.word());
        for predicate in Pred::ALL.into_iter().filter(|predicate| !predicate.is_true()) {
            warp.set_predicate(predicate, LaneMask::from_bits(self.word()));
        }
        warp
    }

    /// Returns addresses about a stride apart.
    pub(super) fn addresses(&mut self) -> [u32; LANES] {
        let (base, stride) = (self.word(), u32::from(self.byte()));
        let spread: [u8; LANES] = self.bytes();
        let address = |lane| stride * lane as u32 + u32::from(spread[lane]);
        std::array::from_fn(|lane| base.wrapping_add(address(lane)))
    }
}

/// Returns a machine with everything in about the first 64 KiB, so that addresses often hit and often
/// miss.
pub(super) fn machine(input: &mut Input<'_>) -> Option<Machine> {
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

/// The two executors agree on machines and warps built from the input.
pub fn fast_equals_literal(input: &[u8]) {
    let mut input = Input(input);
    let Some(machine) = machine(&mut input) else { return };
    // LD every other time, else one of its siblings.
    let bits = u64::from_le_bytes(input.bytes());
    let word = match input.byte() % 8 {
        0 => bits >> 13 | 0xeed0 << 48,
        1 => bits >> 13 | 0xef40 << 48,
        2 => bits >> 13 | 0xef48 << 48,
        3 => bits >> 13 | 0xef90 << 48,
        _ => bits >> 3 | 0b100 << 61,
    };
    let Some(load) = Instruction::decode(word, Sm::SPA5).load() else { return };
    let mut warp = input.warp();
    let register = load.parts().address.base;
    warp.set_register(register, input.addresses());
    let mut warp = executed_by_both(&load, &machine, warp);
    // The register after an extended base decides whether 64-bit addresses are in range.
    if register != Reg::RZ && register.number() < 254 {
        warp.set_register(Reg::new(register.number() + 1), [input.word() & 1; LANES]);
        executed_by_both(&load, &machine, warp);
    }
}

/// Executes a load on both executors, which must agree; returns the warp after it.
pub(super) fn executed_by_both(
    load: &Instruction,
    machine: &Machine,
    mut warp: Warp,
) -> Warp {
    let mut other = warp.clone();
    let fast = Executor::Fast.execute(load, machine, &mut warp);
    assert_eq!(fast, Executor::Reference.execute(load, machine, &mut other));
    assert!(warp == other);
    warp
}
