//! What a load loads, byte by byte. Written apart from the library out of the rules alone: no load
//! operation, no memory regions, nothing shared but numbers.

/// Memories and windows.
#[derive(Clone, Debug)]
pub(crate) struct Memories {
    pub(crate) address_bits: u32,
    /// Base and size.
    pub(crate) shared_window: (u64, u64),
    pub(crate) local_window: (u64, u64),
    /// Base and bytes, in any order.
    pub(crate) global: Vec<(u64, Vec<u8>)>,
    pub(crate) shared: Vec<u8>,
    /// Of each lane.
    pub(crate) local_low: Vec<Vec<u8>>,
    pub(crate) local_high: Vec<Vec<u8>>,
    pub(crate) bank3: Vec<u8>,
    pub(crate) bank0: Vec<u8>,
}

/// A load, its address register's value apart.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// As it is written; empty for generic addresses.
    pub(crate) space: &'static str,
    pub(crate) element_bytes: u64,
    pub(crate) elements: u64,
    pub(crate) is_signed: bool,
    pub(crate) offset: i64,
    pub(crate) register_bits: u32,
}

/// What one lane sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) address: u64,
    /// The elements, extended to the destination's width.
    pub(crate) values: Vec<u128>,
    /// Names of faults in their order.
    pub(crate) faults: Vec<&'static str>,
}

#[derive(Clone, Copy, PartialEq)]
enum Where {
    Global,
    Shared,
    Local,
    Bank3,
    Bank0,
    Nowhere,
}

fn is_in(window: (u64, u64), address: u64) -> bool {
    address >= window.0 && address - window.0 < window.1
}

impl Memories {
    /// The memory of an address and the address there.
    fn find(&self, space: &str, address: u64) -> (Where, u64) {
        match space {
            "global" => (Where::Global, address),
            "shared" => (Where::Shared, address),
            "local" => (Where::Local, address),
            "const" => (Where::Bank3, address),
            // Parameters begin at 0x140 of their bank.
            "param" => (Where::Bank0, address + 0x140),
            _ if is_in(self.local_window, address) => (Where::Local, address - self.local_window.0),
            _ if is_in(self.shared_window, address) => {
                (Where::Shared, address - self.shared_window.0)
            }
            _ if self.address_bits < 64 && address >> self.address_bits != 0 => (Where::Nowhere, 0),
            _ => (Where::Global, address),
        }
    }

    /// A byte, and a number that is the same for bytes of one allocation.
    fn byte(&self, memory: Where, address: u64, lane: usize) -> Option<(usize, u8)> {
        let of = |bytes: &[u8]| Some((0, *bytes.get(usize::try_from(address).ok()?)?));
        match memory {
            Where::Global => self.global.iter().enumerate().find_map(|(number, (base, bytes))| {
                let at = usize::try_from(address.checked_sub(*base)?).ok()?;
                Some((number, *bytes.get(at)?))
            }),
            Where::Shared => of(&self.shared),
            Where::Bank3 => of(&self.bank3),
            Where::Bank0 => of(&self.bank0),
            Where::Local => of(&self.local_low[lane]).or_else(|| {
                let high = &self.local_high[lane];
                let from = self.local_window.1 - high.len() as u64;
                let at = usize::try_from(address.checked_sub(from)?).ok()?;
                Some((0, *high.get(at)?))
            }),
            Where::Nowhere => None,
        }
    }

    /// What a lane loads with that value in its address register.
    pub(crate) fn load(&self, load: &Load, base: u64, lane: usize, misaligned: &str) -> Lane {
        let wide = i128::from(base) + i128::from(load.offset);
        let bits = if matches!(load.space, "" | "global") { 64 } else { 32 };
        let address = wide.rem_euclid(1 << bits) as u64;
        let size = load.element_bytes * load.elements;
        let rounded = address / size * size;
        let mut faults = Vec::new();
        if misaligned != "force" && rounded != address {
            faults.push("misaligned_address");
            if misaligned == "fault" {
                return Lane { address, values: vec![0; load.elements as usize], faults };
            }
        }
        let (memory, first) = self.find(load.space, rounded);
        let bytes: Vec<Option<(usize, u8)>> =
            (0..size).map(|i| self.byte(memory, first + i, lane)).collect();
        let allocation = bytes[0].map(|byte| byte.0);
        let is_whole = bytes.iter().all(|byte| byte.is_some() && byte.map(|b| b.0) == allocation);
        if memory == Where::Nowhere {
            faults.push("outside_window");
        } else if !is_whole {
            faults.push("outside_allocation");
        }
        let values = (0..load.elements).map(|element| {
            let mut value = 0_u128;
            for i in (0..load.element_bytes).rev() {
                let byte = bytes[(element * load.element_bytes + i) as usize];
                value = value * 256 + u128::from(byte.map_or(0, |byte| byte.1));
            }
            let sign = 1_u128 << (8 * load.element_bytes - 1);
            if load.is_signed && value >= sign {
                // Minus 2^(bits of the type), modulo 2^(bits of the register).
                value = value.wrapping_sub(2 * sign);
            }
            let modulus = 1_u128.checked_shl(load.register_bits).unwrap_or(0);
            let value = if modulus == 0 { value } else { value % modulus };
            if is_whole { value } else { 0 }
        });
        Lane { address, values: values.collect(), faults }
    }
}
