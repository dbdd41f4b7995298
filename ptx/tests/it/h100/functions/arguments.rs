//! The arguments of the measurement, by rule: `f32 LOW HIGH` has special values, random bits, and random exponents from
//! LOW to HIGH; `f32*2` has such lists for two operands, where special values meet others.

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) >> (64 - count)
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits(53)) * u128::from(end)) >> 53) as u64
    }

    fn pick(&mut self, items: &[u64]) -> u64 {
        items[self.below(items.len() as u64) as usize]
    }
}

/// A type of floats, with its special values and the range of exponents.
struct Kind {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    special: &'static [u64],
    low: i64,
    high: i64,
}

impl Kind {
    fn of(name: &str, low: i64, high: i64) -> Self {
        let (name, exponent, fraction, special) = match name {
            "f32" => ("f32", 8, 23, F32),
            "f16" => ("f16", 5, 10, F16),
            "bf16" => ("bf16", 8, 7, BF16),
            _ => ("f64", 11, 52, F64),
        };
        Self { name, exponent, fraction, special, low, high }
    }

    /// Each of the numbers with both signs.
    fn signed(&self, numbers: &[u64]) -> Vec<u64> {
        let sign = 1 << (self.exponent + self.fraction);
        numbers.iter().flat_map(|bits| [*bits, bits | sign]).collect()
    }

    fn drawn(&self, random: &mut Random) -> u64 {
        let sign = random.bits(1) << (self.exponent + self.fraction);
        let exponent = self.low + random.below((self.high - self.low + 1) as u64) as i64;
        let biased = (exponent + (1 << (self.exponent - 1)) - 1) as u64;
        sign | biased << self.fraction | random.bits(self.fraction)
    }

    /// Special values of both signs, then a number of random bits and three of random exponents, in turn.
    fn list(&self, count: usize, seed: u64) -> Vec<u64> {
        let mut found = self.signed(self.special);
        if self.name == "f32" {
            let powers = (1..255).step_by(if count > 4096 { 1 } else { 16 }).map(|e| e << 23);
            let near: Vec<u64> = powers.flat_map(|bits| [bits - 1, bits, bits + 1]).collect();
            found.extend(self.signed(&near));
            if count > 4096 {
                found.extend(self.signed(&near_pi()));
            }
        }
        found.truncate(count);
        let mut random = Random(seed);
        while found.len() < count {
            found.push(match found.len() % 4 {
                0 => random.bits(1 + self.exponent + self.fraction),
                _ => self.drawn(&mut random),
            });
        }
        found
    }
}

/// Multiples of pi/2, and two f32 on either side of each.
fn near_pi() -> Vec<u64> {
    const HALF: u128 = 0x3243_f6a8_885a_308d_3131_98a2_e037_0734;
    let multiples = (1..65).chain([100, 128, 1000, 1024, 10_000, 1 << 16, 1 << 20, 1 << 30]);
    let near = multiples.flat_map(|n: u128| {
        // pi/2 * 2^125 without its lowest 32 bits, so that products fit.
        let product = n * (HALF >> 32);
        let length = 128 - product.leading_zeros();
        let significand = ((product >> (length - 25)) as u64 + 1) >> 1;
        let bits = (u64::from(length + 32 - 126 + 127) << 23) + significand - (1 << 23);
        (0..5).map(move |step| bits + step - 2)
    });
    near.collect()
}

/// A list for each operand.
pub(super) fn arguments(rule: &str, count: usize) -> Vec<Vec<u64>> {
    let words: Vec<&str> = rule.split(' ').collect();
    let number = |at: usize| words.get(at).map_or(0, |word: &&str| word.parse().unwrap());
    let (name, low, high) = (words[0], number(1), number(2));
    match name {
        "f32" | "f64" | "f16" | "bf16" => {
            let mut list = Kind::of(name, low, high).list(count, 1);
            list.sort_unstable();
            vec![list]
        }
        "u32" | "s32" | "u64" | "s64" => vec![integers(name[1..].parse().unwrap(), count)],
        "bytes2" => vec![(0..count as u64).map(|i| i % 256).map(|x| x << 8 | x ^ 0xa5).collect()],
        "words" => {
            let ends = [0x8080_8080, 0x7f7f_7f7f, 0xffff_ffff, 0x8000_8000, 0x7fff_7fff];
            let mut random = Random(3);
            let mut word = |i| if i % 8 == 0 { random.pick(&ends) } else { random.bits(32) };
            (0..3).map(|_| (0..count).map(&mut word).collect()).collect()
        }
        _ => {
            let (name, operands) = name.split_once('*').expect("a number of operands");
            several(&Kind::of(name, low, high), operands.parse().unwrap(), count)
        }
    }
}

fn integers(bits: u32, count: usize) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let powers = (0..bits).map(|place| 1_u64 << place);
    let mut found: Vec<u64> = powers
        .flat_map(|power| [power, power - 1, power.wrapping_neg(), power + 1].map(|x| x & mask))
        .collect();
    let mut random = Random(2);
    while found.len() < count {
        found.push(random.bits(bits) >> random.below(bits.into()));
    }
    found.sort_unstable();
    found
}

fn several(kind: &Kind, operands: u64, count: usize) -> Vec<Vec<u64>> {
    let special = kind.signed(kind.special);
    let mut random = Random(4);
    let mut lists: Vec<Vec<u64>> = Vec::new();
    for operand in 0..operands {
        let mut list = kind.list(count, 10 + operand);
        for (i, bits) in list.iter_mut().enumerate() {
            if i % 4 == 0 {
                *bits = random.pick(&special);
            } else if i < special.len() * 4 + 4 || special.contains(bits) {
                *bits = kind.drawn(&mut random);
            }
        }
        lists.push(list);
    }
    if kind.name == "f32" && operands == 3 {
        // Sums that nearly cancel.
        for i in (1..count).step_by(4) {
            let [a, b] = [0, 1].map(|at: usize| f64::from(f32::from_bits(lists[at][i] as u32)));
            let product = -(a * b);
            if !product.is_finite() || (product as f32).is_finite() {
                lists[2][i] = (product as f32).to_bits().into();
            }
        }
    }
    lists
}

const F32: &[u64] = &[
    0x7fc0_0000,
    0x7f80_0001,
    0x7fff_ffff,
    0x7fc1_2345,
    0x7f81_2345,
    0x7f80_0000,
    0x7f7f_ffff,
    0x0,
    0x1,
    0x2,
    0x40_0000,
    0x7f_ffff,
    0x80_0000,
    0x80_0001,
    0x3380_0000,
    0x3400_0000,
    0x3880_0000,
    0x477f_e000,
    0x477f_f000,
    0x4780_0000,
    0x43e0_0000,
    0x43e8_0000,
    0x4760_0000,
    0x4b00_0000,
    0x4b00_0001,
    0x4b80_0000,
    0x4eff_ffff,
    0x4f00_0000,
    0x4f7f_ffff,
    0x4f80_0000,
    0x5eff_ffff,
    0x5f00_0000,
    0x5f80_0000,
    0x3f00_0000,
    0x3eff_ffff,
    0x3f00_0001,
    0x3fc0_0000,
    0x4020_0000,
    0x3f7f_ffff,
    0x3f7f_fffe,
    0x3f80_0000,
    0x3f80_0001,
    0x3f80_0002,
    0x3fb5_04f3,
    0x42fe_0000,
    0x42ff_0000,
    0x4300_0000,
    0x4315_0000,
    0x4316_0000,
    0x42fc_0000,
    0x4110_0000,
    0x3eaa_aaab,
    0x3300_0000,
    0x3300_0001,
    0x387f_c000,
    0x387f_e000,
    0x3c7f_ffff,
];
const F16: &[u64] = &[
    0x0, 0x1, 0x2, 0x200, 0x3ff, 0x400, 0x401, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x7bff,
    0x7c00, 0x7c01, 0x7e00, 0x7e01, 0x7fff, 0x5bff, 0x4000, 0x4200,
];
const BF16: &[u64] = &[
    0x0, 0x1, 0x2, 0x40, 0x7f, 0x80, 0x81, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x7f7f, 0x7f80,
    0x7f81, 0x7fc0, 0x7fc1, 0x7fff, 0x4000, 0x4040, 0x42fe,
];
const F64: &[u64] = &[
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0x7ff8_0000_1234_5678,
    0x7ff0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x0,
    0x1,
    0x2,
    0x8_0000_0000_0000,
    0xf_ffff_ffff_ffff,
    0x10_0000_0000_0000,
    0x10_0000_0000_0001,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x4000_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x3810_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0x7fd0_0000_0000_0000,
    0x40ef_fc00_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4330_0000_0000_0001,
];
