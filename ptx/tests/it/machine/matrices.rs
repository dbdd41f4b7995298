//! Matrix instructions against a plain product, with the fragments as PTX ISA writes them out for each shape.

use rustc_apfloat::ieee::{
    BFloat, Double, Float8E4M3FN, Float8E5M2, Half, IeeeFloat, Semantics, Single,
};
use rustc_apfloat::{Float, FloatConvert};
use warpload_ptx::launch::KernelLaunch;

use super::launch;

/// Numbers that look drawn.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x2545_f491_4f6c_dd1d);
        self.0 >> 20
    }

    /// Bits of a type: any, or numbers near 1, which do not drown each other.
    fn bits(&mut self, scalar: &str, is_any: bool) -> u64 {
        let drawn = self.next() << 24 ^ self.next();
        let near_one = |fraction: u32, bias: u64, sign: u32| {
            let exponent = bias - 4 + (drawn >> 56) % 8;
            drawn & ((1 << fraction) - 1) | exponent << fraction | (drawn >> 50 & 1) << sign
        };
        let bits = bits_of(scalar);
        match scalar {
            "f16" if !is_any => near_one(10, 15, 15),
            "bf16" if !is_any => near_one(7, 127, 15),
            "tf32" | "f32" if !is_any => near_one(23, 127, 31),
            "f64" if !is_any => near_one(52, 1023, 63),
            "e4m3" if !is_any => near_one(3, 7, 7),
            "e5m2" if !is_any => near_one(2, 15, 7),
            _ => drawn & (u64::MAX >> (64 - bits)),
        }
    }
}

fn bits_of(scalar: &str) -> u32 {
    match scalar {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// Elements in a register.
fn per_register(scalar: &str) -> usize {
    if scalar == "f64" { 1 } else { 32 / bits_of(scalar) as usize }
}

fn value<S: Semantics>(bits: u64, scalar: &str) -> IeeeFloat<S> {
    let (bits, lost) = (u128::from(bits), &mut false);
    match scalar {
        "f16" => Half::from_bits(bits).convert(lost).value,
        "bf16" => BFloat::from_bits(bits).convert(lost).value,
        "tf32" => Single::from_bits(bits & !0x1fff).convert(lost).value,
        "f64" => Double::from_bits(bits).convert(lost).value,
        "e4m3" => Float8E4M3FN::from_bits(bits).convert(lost).value,
        "e5m2" => Float8E5M2::from_bits(bits).convert(lost).value,
        _ => Single::from_bits(bits).convert(lost).value,
    }
}

fn integer(bits: u64, scalar: &str) -> i64 {
    let unused = 64 - bits_of(scalar);
    let is_signed = scalar.starts_with('s');
    if is_signed { (bits << unused) as i64 >> unused } else { bits as i64 }
}

/// A product and its types: d, a, b, c, as in the instruction.
struct Product<'a> {
    size: [usize; 3],
    types: [&'a str; 4],
    is_and: bool,
    is_saturated: bool,
}

impl Product<'_> {
    /// The bits of D, row after row; NaN as none.
    fn of(&self, a: &[u64], b: &[u64], c: &[u64]) -> Vec<Option<u64>> {
        match self.types[0] {
            "f16" => self.floats::<rustc_apfloat::ieee::HalfS>(a, b, c),
            "f32" => self.floats::<rustc_apfloat::ieee::SingleS>(a, b, c),
            "f64" => self.floats::<rustc_apfloat::ieee::DoubleS>(a, b, c),
            _ => self.integers(a, b, c),
        }
    }

    fn each(&self, mut element: impl FnMut(usize, usize) -> Option<u64>) -> Vec<Option<u64>> {
        let [m, n, _] = self.size;
        (0..m * n).map(|place| element(place / n, place % n)).collect()
    }

    fn floats<S: Semantics>(&self, a: &[u64], b: &[u64], c: &[u64]) -> Vec<Option<u64>> {
        let [_, n, k] = self.size;
        self.each(|row, column| {
            let mut sum = value::<S>(c[row * n + column], self.types[3]);
            for inner in 0..k {
                let x = value::<S>(a[row * k + inner], self.types[1]);
                sum = x.mul_add(value(b[inner * n + column], self.types[2]), sum).value;
            }
            (!sum.is_nan()).then(|| sum.to_bits() as u64)
        })
    }

    fn integers(&self, a: &[u64], b: &[u64], c: &[u64]) -> Vec<Option<u64>> {
        let [_, n, k] = self.size;
        self.each(|row, column| {
            let mut sum = integer(c[row * n + column], self.types[3]);
            for inner in 0..k {
                let x = integer(a[row * k + inner], self.types[1]);
                let y = integer(b[inner * n + column], self.types[2]);
                sum += match self.types[1] {
                    "b1" if self.is_and => x & y,
                    "b1" => x ^ y,
                    _ => x * y,
                };
            }
            let sum = if self.is_saturated { sum.clamp(-0x8000_0000, 0x7fff_ffff) } else { sum };
            Some(sum as u32 as u64)
        })
    }

    fn assert(&self, instruction: &str, wanted: &[Option<u64>], got: &[u64]) {
        for (place, (wanted, got)) in wanted.iter().zip(got).enumerate() {
            let is_right = match (wanted, self.types[0]) {
                (Some(wanted), _) => wanted == got,
                (None, "f16") => *got == 0x7fff,
                (None, "f32") => *got == 0x7fff_ffff,
                (None, _) => f64::from_bits(*got).is_nan(),
            };
            let (row, column) = (place / self.size[1], place % self.size[1]);
            assert!(is_right, "{instruction} ({row}, {column}): {got:#x}, not {wanted:x?}");
        }
    }
}

/// [PTX ISA, "Matrix Fragments for mma"]: row and column of a lane's element `i` of A.
fn place_of_a(m: usize, k: usize, scalar: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    let lower = |is_upper: bool| if is_upper { group } else { group + 8 };
    match (m, k, scalar) {
        (8, 4, "f64") => (group, thread),
        (8, 16, "s8" | "u8") => (group, thread * 4 + i),
        (8, 32, "s4" | "u4") => (group, thread * 8 + i),
        (8, 128, "b1") => (group, thread * 32 + i),
        (16, 4, "tf32" | "f64") => (lower(i == 0), thread),
        (16, 8, "tf32" | "f64") => {
            (lower(i == 0 || i == 2), if i < 2 { thread } else { thread + 4 })
        }
        (16, 8, "f16" | "bf16") => (lower(i < 2), thread * 2 + (i & 1)),
        (16, 16, "f64") => {
            let even = i & 1 == 0;
            (lower(even), if even { i * 2 + thread } else { i * 2 - 2 + thread })
        }
        (16, 16, "f16" | "bf16") => {
            (lower(i < 2 || (4..6).contains(&i)), thread * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
        }
        (16, 16, "s8" | "u8" | "e4m3" | "e5m2") => (lower(i < 4), thread * 4 + (i & 3)),
        (16, 32, "s8" | "u8" | "e4m3" | "e5m2") => (
            lower(i < 4 || (8..12).contains(&i)),
            thread * 4 + (i & 3) + if i < 8 { 0 } else { 16 },
        ),
        (16, 32, "s4" | "u4") => (lower(i < 8), thread * 8 + (i & 7)),
        (16, 64, "s4" | "u4") => (
            lower(i < 8 || (16..24).contains(&i)),
            thread * 8 + (i & 7) + if i < 16 { 0 } else { 32 },
        ),
        (16, 128, "b1") => (lower(i < 32), thread * 32 + (i & 31)),
        (16, 256, "b1") => (
            lower(i < 32 || (64..96).contains(&i)),
            thread * 32 + (i & 31) + if i < 64 { 0 } else { 128 },
        ),
        other => unreachable!("{other:?}"),
    }
}

/// Likewise of B: a register has neighbours of one column, the next register the rows behind all four threads.
fn place_of_b(scalar: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread, of_register) = (lane >> 2, lane % 4, per_register(scalar));
    (thread * of_register + i % of_register + i / of_register * 4 * of_register, group)
}

/// Likewise of C and D.
fn place_of_c(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane % 4);
    (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
}

/// A matrix in the registers of the lanes, as 64-bit words: lane 0's registers first.
fn in_registers(
    matrix: &[u64],
    columns: usize,
    scalar: &str,
    place: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<u64> {
    let of_register = per_register(scalar);
    let of_lane = matrix.len().div_ceil(32);
    let mut words = vec![0; 32 * of_lane / of_register];
    for lane in 0..32 {
        for i in 0..of_lane {
            let (row, column) = place(lane, i);
            let word = lane * (of_lane / of_register) + i / of_register;
            words[word] |=
                matrix[row * columns + column] << (i % of_register * bits_of(scalar) as usize);
        }
    }
    words
}

fn out_of_registers(
    words: &[u64],
    (rows, columns): (usize, usize),
    scalar: &str,
    place: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<u64> {
    let of_register = per_register(scalar);
    let of_lane = (rows * columns).div_ceil(32);
    let mut matrix = vec![0; rows * columns];
    for lane in 0..32 {
        for i in 0..of_lane {
            let (row, column) = place(lane, i);
            let word = words[lane * (of_lane / of_register) + i / of_register];
            let bits = word >> (i % of_register * bits_of(scalar) as usize);
            matrix[row * columns + column] = bits & (u64::MAX >> (64 - bits_of(scalar)));
        }
    }
    matrix
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Registers `{%x10, %x11, ...}` of an operand.
fn vector(first: usize, count: usize, is_wide: bool) -> String {
    let prefix = if is_wide { "%rd" } else { "%r" };
    let names: Vec<String> = (first..first + count).map(|at| format!("{prefix}{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Executes an instruction on registers of one warp: A, B and C from buffers, D into one.
fn execute(instruction: &str, inputs: [&[u64]; 3], of_lane: usize, is_wide: bool) -> Vec<u64> {
    let counts = inputs.map(|words| words.len() / 32);
    let mut body = String::new();
    let mut operands = vec![vector(90, of_lane, is_wide)];
    for (number, count) in counts.into_iter().enumerate() {
        let first = 10 + 20 * number;
        body += &format!(
            "ld.param.u64 %rd1, [p{number}]; mad.wide.u32 %rd1, %r0, {}, %rd1;\n",
            8 * count
        );
        for at in 0..count {
            let to = first + at;
            body += &format!(
                "ld.global.u64 %rd{to}, [%rd1+{}]; cvt.u32.u64 %r{to}, %rd{to};\n",
                8 * at
            );
        }
        operands.push(vector(first, count, is_wide));
    }
    body += &format!("{instruction} {};\n", operands.join(", "));
    body += &format!("ld.param.u64 %rd1, [p3]; mad.wide.u32 %rd1, %r0, {}, %rd1;\n", 8 * of_lane);
    for at in 0..of_lane {
        let from = 90 + at;
        if !is_wide {
            body += &format!("cvt.u64.u32 %rd{from}, %r{from};\n");
        }
        body += &format!("st.global.u64 [%rd1+{}], %rd{from};\n", 8 * at);
    }
    let source = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n
        .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{
        .reg .b32 %r<120>; .reg .b64 %rd<120>; mov.u32 %r0, %tid.x;\n{body} ret; }}"
    );
    let out = vec![0; 32 * 8 * of_lane];
    let [a, b, c] = inputs.map(bytes);
    let launched = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[a, b, c, out]);
    assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    let words = launched.buffers[3].as_chunks().0.iter();
    words.map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// Checks `mma.sync.aligned.m<M>n8k<K>.row.col<kind>.<d>.<a>.<b>.<c>`.
fn mma(m: usize, k: usize, kind: &str, types: [&str; 4], draws: &mut Draws) {
    let n = 8;
    let [d, a, b, c] = types;
    let instruction = match kind {
        ".xor.popc" | ".and.popc" => {
            format!("mma.sync.aligned.m{m}n8k{k}.row.col.{d}.{a}.{b}.{c}{kind}")
        }
        _ => format!("mma.sync.aligned.m{m}n8k{k}.row.col{kind}.{d}.{a}.{b}.{c}"),
    };
    let product = Product {
        size: [m, n, k],
        types,
        is_and: kind == ".and.popc",
        is_saturated: kind == ".satfinite",
    };
    for is_any in [false, true] {
        let mut draw = |count: usize, scalar: &str| -> Vec<u64> {
            (0..count).map(|_| draws.bits(scalar, is_any)).collect()
        };
        let (left, right, sums) = (draw(m * k, a), draw(k * n, b), draw(m * n, c));
        let inputs = [
            in_registers(&left, k, a, |lane, i| place_of_a(m, k, a, lane, i)),
            in_registers(&right, n, b, |lane, i| place_of_b(b, lane, i)),
            in_registers(&sums, n, c, place_of_c),
        ];
        let [x, y, z] = &inputs;
        let out = execute(&instruction, [x, y, z], m * n / 32 / per_register(d), d == "f64");
        let got = out_of_registers(&out, (m, n), d, place_of_c);
        product.assert(&instruction, &product.of(&left, &right, &sums), &got);
    }
}

#[test]
fn mma_of_floats() {
    let draws = &mut Draws(1);
    for k in [8, 16] {
        for accumulator in ["f16", "f32"] {
            mma(16, k, "", [accumulator, "f16", "f16", accumulator], draws);
        }
        mma(16, k, "", ["f32", "bf16", "bf16", "f32"], draws);
    }
    for k in [4, 8] {
        mma(16, k, "", ["f32", "tf32", "tf32", "f32"], draws);
    }
    for (m, k) in [(8, 4), (16, 4), (16, 8), (16, 16)] {
        mma(m, k, "", ["f64"; 4], draws);
    }
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            mma(16, 32, "", ["f32", a, b, "f32"], draws);
            mma(16, 16, "", ["f16", a, b, "f16"], draws);
        }
    }
}

#[test]
fn four_products_in_quad_pairs() {
    // [PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"]
    let place_of_a = |order: &str, lane: usize, i: usize| {
        let below = if lane < 16 { 0 } else { 4 };
        if order == "row" { (lane % 4 + below, i) } else { (i % 4 + below, lane % 4) }
    };
    let place_of_b = |order: &str, lane: usize, i: usize| {
        let below = if lane < 16 { 0 } else { 4 };
        if order == "row" { (lane % 4, i + below) } else { (i, lane % 4 + below) }
    };
    let place_of_c = |scalar: &str, lane: usize, i: usize| {
        let below = if lane < 16 { 0 } else { 4 };
        match scalar {
            "f16" => (lane % 4 + below, i),
            _ => ((lane & 1) + (i & 2) + below, (i & 4) + (lane & 2) + (i & 1)),
        }
    };
    let draws = &mut Draws(5);
    for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
        for (a_order, b_order) in [("row", "col"), ("row", "row"), ("col", "col"), ("col", "row")] {
            let types = [d, "f16", "f16", c];
            let instruction =
                format!("mma.sync.aligned.m8n8k4.{a_order}.{b_order}.{d}.f16.f16.{c}");
            let product = Product { size: [8, 8, 4], types, is_and: false, is_saturated: false };
            // The four matrices one below the other.
            let mut draw = |count: usize, scalar: &str| -> Vec<u64> {
                (0..4 * count).map(|_| draws.bits(scalar, false)).collect()
            };
            let (left, right, sums) = (draw(32, "f16"), draw(32, "f16"), draw(64, c));
            let pair = |lane: usize| lane / 4 % 4;
            let stacked = |rows: usize, (row, column): (usize, usize), lane: usize| {
                (pair(lane) * rows + row, column)
            };
            let a = in_registers(&left, 4, "f16", |lane, i| {
                stacked(8, place_of_a(a_order, lane, i), lane)
            });
            let b = in_registers(&right, 8, "f16", |lane, i| {
                stacked(4, place_of_b(b_order, lane, i), lane)
            });
            let in_c =
                in_registers(&sums, 8, c, |lane, i| stacked(8, place_of_c(c, lane, i), lane));
            let of_lane = 8 / per_register(d);
            let out = execute(&instruction, [&a, &b, &in_c], of_lane, false);
            let got = out_of_registers(&out, (32, 8), d, |lane, i| {
                stacked(8, place_of_c(d, lane, i), lane)
            });
            for number in 0..4 {
                let wanted = product.of(
                    &left[32 * number..][..32],
                    &right[32 * number..][..32],
                    &sums[64 * number..][..64],
                );
                product.assert(&instruction, &wanted, &got[64 * number..][..64]);
            }
        }
    }
}

#[test]
fn sums_of_halves_are_rounded_once() {
    // (1 + 2^-10) (1 - 2^-10) 2^-11 is less than half a step of the sum by less than f32 can tell.
    let mut left = vec![0; 16 * 8];
    let mut right = vec![0; 8 * 8];
    (left[0], right[0]) = (0x2801, 0x23fe);
    let types = ["f16"; 4];
    let product = Product { size: [16, 8, 8], types, is_and: false, is_saturated: false };
    let sums = vec![0x3c01; 16 * 8];
    let a = in_registers(&left, 8, "f16", |lane, i| place_of_a(16, 8, "f16", lane, i));
    let b = in_registers(&right, 8, "f16", |lane, i| place_of_b("f16", lane, i));
    let c = in_registers(&sums, 8, "f16", place_of_c);
    let instruction = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
    let out = execute(instruction, [&a, &b, &c], 2, false);
    let got = out_of_registers(&out, (16, 8), "f16", place_of_c);
    assert_eq!(got[0], 0x3c01);
    product.assert(instruction, &product.of(&left, &right, &sums), &got);
}

#[test]
fn mma_of_integers_and_bits() {
    let draws = &mut Draws(2);
    for kind in ["", ".satfinite"] {
        for (a, b) in [("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")] {
            for (m, k) in [(8, 16), (16, 16), (16, 32)] {
                mma(m, k, kind, ["s32", a, b, "s32"], draws);
            }
        }
        for (a, b) in [("s4", "s4"), ("u4", "u4"), ("s4", "u4"), ("u4", "s4")] {
            for (m, k) in [(8, 32), (16, 32), (16, 64)] {
                mma(m, k, kind, ["s32", a, b, "s32"], draws);
            }
        }
    }
    for kind in [".xor.popc", ".and.popc"] {
        for (m, k) in [(8, 128), (16, 128), (16, 256)] {
            mma(m, k, kind, ["s32", "b1", "b1", "s32"], draws);
        }
    }
}

/// A matrix in memory, row after row or column after column, each of them `stride` elements from the last.
fn in_memory(
    matrix: &[u64],
    columns: usize,
    scalar: &str,
    is_row_major: bool,
    stride: usize,
) -> Vec<u8> {
    let bits = bits_of(scalar) as usize;
    let mut bytes = vec![0; 64 * 64 * 8];
    for (place, value) in matrix.iter().enumerate() {
        let (row, column) = (place / columns, place % columns);
        let at = if is_row_major { row * stride + column } else { column * stride + row } * bits;
        for (byte, part) in value.to_le_bytes()[..bits.div_ceil(8)].iter().enumerate() {
            bytes[at / 8 + byte] |= part << (at % 8);
        }
    }
    bytes
}

fn wmma(
    size: [usize; 3],
    kind: &str,
    types: [&str; 4],
    counts: [usize; 4],
    layouts: [&str; 4],
    draws: &mut Draws,
) {
    let [m, n, k] = size;
    let [d, a, b, c] = types;
    let shape = format!("m{m}n{n}k{k}");
    let is_wide = d == "f64";
    let written = if a == "f16" { format!("{d}.{c}") } else { types.join(".") };
    let instruction = match kind {
        ".xor.popc" | ".and.popc" => {
            format!("wmma.mma{kind}.sync.aligned.row.col.{shape}.{written}")
        }
        _ => format!("wmma.mma.sync.aligned.{}.{}.{shape}.{written}{kind}", layouts[1], layouts[2]),
    };
    let product =
        Product { size, types, is_and: kind == ".and.popc", is_saturated: kind == ".satfinite" };
    let mut draw = |count: usize, scalar: &str| -> Vec<u64> {
        (0..count).map(|_| draws.bits(scalar, false)).collect()
    };
    let (left, right, sums) = (draw(m * k, a), draw(k * n, b), draw(m * n, c));
    let stride = |at: usize, rows: usize, columns: usize| {
        // More than a row or a column has, and a multiple of 16 bytes.
        let one = if layouts[at] == "row" { columns } else { rows };
        one + 128 / bits_of(types[at]) as usize
    };
    let strides = [stride(0, m, n), stride(1, m, k), stride(2, k, n), stride(3, m, n)];
    let memory = |at: usize, matrix: &[u64], columns: usize| {
        in_memory(matrix, columns, types[at], layouts[at] == "row", strides[at])
    };
    let buffers =
        [memory(1, &left, k), memory(2, &right, n), memory(3, &sums, n), vec![0; 64 * 64 * 8]];
    let operand = |at: usize| vector(10 + 20 * at, counts[at], is_wide);
    let load = |at: usize, name: &str| {
        format!(
            "ld.param.u64 %rd1, [p{}]; wmma.load.{name}.sync.aligned.{}.{shape}.global.{} {}, [%rd1], {};\n",
            at - 1,
            layouts[at],
            types[at],
            operand(at),
            strides[at]
        )
    };
    let source = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n
        .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{
        .reg .b32 %r<120>; .reg .b64 %rd<120>;\n{}{}{}{instruction} {}, {}, {}, {};
        ld.param.u64 %rd1, [p3];
        wmma.store.d.sync.aligned.{}.{shape}.global.{d} [%rd1], {}, {};\nret; }}",
        load(1, "a"),
        load(2, "b"),
        load(3, "c"),
        operand(0),
        operand(1),
        operand(2),
        operand(3),
        layouts[0],
        operand(0),
        strides[0]
    );
    let launched = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &buffers);
    assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    let wanted = product.of(&left, &right, &sums);
    // The bytes between the rows are compared as well.
    let bits: Vec<u64> = wanted.iter().map(|bits| bits.expect("a number")).collect();
    assert_eq!(launched.buffers[3], memory(0, &bits, n), "{instruction}");
}

#[test]
fn wmma_of_every_type_and_layout() {
    let draws = &mut Draws(3);
    let shapes = [[16, 16, 16], [32, 8, 16], [8, 32, 16]];
    let layouts =
        [["row", "row", "col", "row"], ["col", "col", "row", "col"], ["row", "col", "col", "col"]];
    for layouts in layouts {
        for (size, bytes, brains) in
            [(shapes[0], [2, 2], [4, 4]), (shapes[1], [4, 1], [8, 2]), (shapes[2], [1, 4], [2, 8])]
        {
            for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
                let count = |scalar| if scalar == "f16" { 4 } else { 8 };
                wmma(size, "", [d, "f16", "f16", c], [count(d), 8, 8, count(c)], layouts, draws);
            }
            let [a, b] = brains;
            wmma(size, "", ["f32", "bf16", "bf16", "f32"], [8, a, b, 8], layouts, draws);
            let [a, b] = bytes;
            for scalar in ["s8", "u8"] {
                for kind in ["", ".satfinite"] {
                    wmma(size, kind, ["s32", scalar, scalar, "s32"], [8, a, b, 8], layouts, draws);
                }
            }
        }
        wmma([16, 16, 8], "", ["f32", "tf32", "tf32", "f32"], [8, 4, 4, 8], layouts, draws);
        wmma([8, 8, 4], "", ["f64"; 4], [2, 1, 1, 2], layouts, draws);
    }
    for layout in ["row", "col"] {
        let layouts = [layout, "row", "col", layout];
        for scalar in ["s4", "u4"] {
            wmma([8, 8, 32], "", ["s32", scalar, scalar, "s32"], [2, 1, 1, 2], layouts, draws);
        }
        for kind in [".xor.popc", ".and.popc"] {
            wmma([8, 8, 128], kind, ["s32", "b1", "b1", "s32"], [2, 1, 1, 2], layouts, draws);
        }
    }
}

/// The elements of 16 bits of an 8 x 8 matrix that a lane's register has.
fn elements_of_b16(lane: usize, is_transposed: bool) -> [(usize, usize); 2] {
    let (row, column) = (lane / 4, lane % 4 * 2);
    let places = [(row, column), (row, column + 1)];
    if is_transposed { places.map(|(row, column)| (column, row)) } else { places }
}

#[test]
fn matrices_of_16_bits_go_to_and_from_shared_memory() {
    let draws = &mut Draws(4);
    // The row of a lane is at an address that is not in the order of the lanes.
    let row_of = |lane: usize| (lane * 5 + 3) % 32;
    for count in [1, 2, 4] {
        for trans in ["", ".trans"] {
            let memory: Vec<u16> = (0..256).map(|_| draws.next() as u16).collect();
            let registers: Vec<u32> = (0..128).map(|_| draws.next() as u32).collect();
            let names = |first: usize| vector(first, count, false);
            let source = format!(
                ".version 8.7\n.target sm_90a\n.address_size 64\n
                .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{
                .reg .b32 %r<40>; .reg .b64 %rd<9>; .shared .align 16 .b8 s[512]; mov.u32 %r0, %tid.x;
                ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd1, %r0, 16, %rd1;
                ld.param.u64 %rd2, [p1]; mad.wide.u32 %rd2, %r0, 16, %rd2;
                ld.param.u64 %rd3, [p2]; mad.wide.u32 %rd3, %r0, 16, %rd3;
                mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r2, %r1, %r2;
                mad.lo.u32 %r3, %r0, 5, 3; and.b32 %r3, %r3, 31; shl.b32 %r3, %r3, 4; add.u32 %r3, %r1, %r3;
                ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd1]; st.shared.v4.u32 [%r2], {{%r4, %r5, %r6, %r7}};
                bar.sync 0;
                mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
                ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {}, [%r3];
                ld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd2];
                st.global.v4.u32 [%rd2], {{%r10, %r11, %r12, %r13}};
                stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r3], {};
                bar.sync 0;
                ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r2]; st.global.v4.u32 [%rd3], {{%r4, %r5, %r6, %r7}};
                ret; }}",
                names(10),
                names(20)
            );
            let halves: Vec<u8> = memory.iter().flat_map(|half| half.to_le_bytes()).collect();
            let words: Vec<u8> = registers.iter().flat_map(|word| word.to_le_bytes()).collect();
            let grid = KernelLaunch::new([1; 3], [32, 1, 1]);
            let launched = launch(&source, grid, &[halves, words, vec![0; 512]]);
            assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
            assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
            let (mut loaded, mut stored) = (vec![0_u32; 128], memory.clone());
            for lane in 0..32 {
                for matrix in 0..count {
                    let places = elements_of_b16(lane, !trans.is_empty());
                    for (part, (row, column)) in places.into_iter().enumerate() {
                        let at = row_of(8 * matrix + row) * 8 + column;
                        loaded[4 * lane + matrix] |= u32::from(memory[at]) << (16 * part);
                        stored[at] = (registers[4 * lane + matrix] >> (16 * part)) as u16;
                    }
                }
            }
            assert_eq!(launched.words(1), loaded, "ldmatrix.x{count}{trans}");
            let halves = launched.buffers[2].as_chunks().0.iter();
            let halves: Vec<u16> = halves.map(|bytes| u16::from_le_bytes(*bytes)).collect();
            assert_eq!(halves, stored, "stmatrix.x{count}{trans}");
        }
    }
}

#[test]
fn movmatrix_transposes() {
    let words: Vec<u64> = (0..32).map(|lane| lane * 0x0003_0005 + 0x1234).collect();
    let out = execute_unary("movmatrix.sync.aligned.m8n8.trans.b16", &words);
    let mut matrix = [[0; 8]; 8];
    for (lane, word) in words.iter().enumerate() {
        for (part, (row, column)) in elements_of_b16(lane, false).into_iter().enumerate() {
            matrix[row][column] = word >> (16 * part) & 0xffff;
        }
    }
    for (lane, word) in out.iter().enumerate() {
        let [low, high] = elements_of_b16(lane, true).map(|(row, column)| matrix[row][column]);
        assert_eq!(*word, low | high << 16, "lane {lane}");
    }
}

fn execute_unary(instruction: &str, words: &[u64]) -> Vec<u64> {
    let body =
        format!("cvt.u32.u64 %r11, %rd10; {instruction} %r12, %r11; cvt.u64.u32 %rd13, %r12;");
    let triples: Vec<[u64; 3]> = words.iter().map(|word| [*word, 0, 0]).collect();
    super::arithmetic::evaluate(&body, &triples)
}

#[test]
fn fragments_of_another_size_are_not_executed() {
    let instructions = [
        "mma.sync.aligned.m8n32k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, \
         {%r1, %r2}, {%r1, %r2}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, \
         {%r1, %r2}, {%r1}, {%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2}, \
         {%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16 {%r1, %r2}, {%r1, %r2}, {%r1}, \
         {%r1, %r2};",
        "wmma.load.a.sync.aligned.row.m8n8k4.global.b1 {%r1}, [%rd1], 32;",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5}, [%rd1], 32;",
        "wmma.load.a.sync.aligned.row.m8n8k4.global.b128 {%r1}, [%rd1], 32;",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r9];",
    ];
    for instruction in instructions {
        let source = super::module(instruction);
        let launched = launch(&source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 8]]);
        assert_eq!(launched.result.skipped.len(), 1, "{instruction}");
    }
}

/// ptxas 12.4 accepts `_` among the results of `ldmatrix`, `mma` and `wmma.load`, and refuses it among sources.
#[test]
fn results_can_be_dropped() {
    let source = ".version 8.4\n.target sm_90a\n.address_size 64\n
        .visible .entry k(.param .u64 p0) {
        .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .shared .align 16 .b8 s[512]; mov.u32 %r0, %tid.x;
        ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd2, %r0, 16, %rd1;
        mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 16, %r1; st.shared.v4.u32 [%r1], {%r0, 100, 200, 300}; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, _, %r4, _}, [%r1];
        mov.b32 %r5, 0x3c003c00; mov.f32 %f1, 0f3f800000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {_, %f2, _, _}, {%r5, %r5, %r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, %f1};
        wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {_, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [s];
        st.global.v4.u32 [%rd2], {%r2, %r4, %f2, 7};
        ret; }";
    let launched = launch(source, KernelLaunch::new([1; 3], [32, 1, 1]), &[vec![0; 512]]);
    assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
    assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
    let words = launched.words(0);
    for lane in 0..32 {
        // Each register has the word of a column, of the row of a lane.
        let column = [None, Some(100), Some(200), Some(300)][lane % 4];
        let row = |first: usize| column.unwrap_or((first + lane / 4) as u32);
        // Sixteen products of 1, and 1.
        let expected = [row(0), row(16), 17_f32.to_bits(), 7];
        assert_eq!(words[4 * lane..4 * lane + 4], expected, "lane {lane}");
    }
}
