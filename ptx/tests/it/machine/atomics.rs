//! Atomic operations against plain Rust, in the order of the lanes.

use half::{bf16, f16};
use warpload_ptx::launch::KernelLaunch;

use super::launch;

const THREADS: usize = 64;

/// Bytes of all cells; the threads meet in three of them.
const CELLS: usize = 3 * 16;

/// A type's width in bytes, and the value that an operation leaves.
type Model = (&'static str, u32, fn(u128, u128, u128) -> u128);

fn f32_of(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

fn f16_sum(a: u128, b: u128) -> u128 {
    let sum = f16::from_bits(a as u16).to_f64() + f16::from_bits(b as u16).to_f64();
    if sum.is_nan() { 0x7fff } else { f16::from_f64(sum).to_bits().into() }
}

fn bf16_sum(a: u128, b: u128) -> u128 {
    // Sums of two in f64 are exact, or far from the middle between two bf16.
    let sum = bf16::from_bits(a as u16).to_f64() + bf16::from_bits(b as u16).to_f64();
    if sum.is_nan() { 0x7fff } else { bf16::from_f64(sum).to_bits().into() }
}

fn halves(a: u128, b: u128, of: fn(u128, u128) -> u128) -> u128 {
    of(a & 0xffff, b & 0xffff) | of(a >> 16, b >> 16) << 16
}

/// An addition of f32 that flushes, as in global memory.
fn flushed_sum(a: u128, b: u128) -> u128 {
    let flushed = |value: f32| if value.is_subnormal() { 0.0_f32.copysign(value) } else { value };
    let sum = flushed(flushed(f32_of(a)) + flushed(f32_of(b)));
    if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits().into() }
}

fn sum(a: u128, b: u128) -> u128 {
    let sum = f32_of(a) + f32_of(b);
    if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits().into() }
}

/// Drawn bits, among them small numbers, equal ones, and floats of every kind.
fn draw(state: &mut u64, bytes: u32) -> u128 {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    };
    let kind = next() % 8;
    let value = match kind {
        0..=3 => u128::from(next() % 3),
        // Subnormal and near 1 in the upper half of every 32 bits.
        4 => u128::from(next() & 0x803f_ffff_807f_ffff),
        5 | 6 => u128::from(next() & 0x83ff_ffff_83ff_ffff | 0x3c00_3c00_3c00_3c00),
        _ => u128::from(next()) << 64 | u128::from(next()),
    };
    value & (u128::MAX >> (128 - 8 * bytes))
}

/// Executes an operation in two warps and compares the old values and the memory with a model. `count` elements of
/// `bytes` each; `space` is the memory's.
fn check(name: &str, space: &str, bytes: u32, count: u32, model: fn(u128, u128, u128) -> u128) {
    let state = &mut 0x9e37_79b9_7f4a_7c15;
    let whole = (bytes * count) as usize;
    let has_third = name.contains("cas");
    let mut memory: Vec<u128> = (0..3 * count).map(|_| draw(state, bytes)).collect();
    let lanes = THREADS * count as usize;
    let sources: Vec<[u128; 2]> = (0..lanes)
        .map(|at| {
            let b = draw(state, bytes);
            // One comparison in two finds its value.
            let old = memory[(at / count as usize % 3) * count as usize + at % count as usize];
            [if has_third && at % 2 == 0 { old } else { b }, draw(state, bytes)]
        })
        .collect();
    let to_bytes = |values: &[u128]| -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()[..bytes as usize].to_vec()).collect()
    };
    let mut cells = to_bytes(&memory);
    cells.resize(CELLS, 0);
    let column = |at: usize| to_bytes(&sources.iter().map(|of| of[at]).collect::<Vec<_>>());
    let (prefix, register) = match bytes {
        2 => ("b16", "%h"),
        4 => ("b32", "%r"),
        8 => ("b64", "%rd"),
        _ => ("b128", "%q"),
    };
    let names = |first: u32| {
        let names: Vec<String> =
            (first..first + count).map(|at| format!("{register}{at}")).collect();
        if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
    };
    let moved = |verb: &str, first: u32, address: &str| -> String {
        let one = |part: u32| {
            let (name, place) =
                (format!("{register}{}", first + part), format!("[{address}+{}]", part * bytes));
            match verb {
                "ld" => format!("ld.global.{prefix} {name}, {place};"),
                _ => format!("st.global.{prefix} {place}, {name};"),
            }
        };
        (0..count).map(one).collect()
    };
    let is_red = name.starts_with("red");
    let target = if space == "shared" { "%r1" } else { "%rd5" };
    let (opcode, rest) = name.split_once('.').expect("an operation");
    let result = if is_red { String::new() } else { format!("{}, ", names(20)) };
    let third = if has_third { format!(", {}", names(40)) } else { String::new() };
    let source = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n
        .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{
        .reg .b16 %h<60>; .reg .b32 %r<60>; .reg .b64 %rd<60>; .reg .b128 %q<60>; .reg .pred %p<3>;
        .shared .align 16 .b8 s[{CELLS}];
        mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [p0]; ld.param.u64 %rd5, [p3];
        mad.wide.u32 %rd1, %r0, {whole}, %rd1;
        ld.param.u64 %rd2, [p1]; mad.wide.u32 %rd2, %r0, {whole}, %rd2;
        ld.param.u64 %rd3, [p2]; mad.wide.u32 %rd3, %r0, {whole}, %rd3;
        mov.u32 %r1, s; setp.lt.u32 %p1, %r0, {CELLS}; cvt.u64.u32 %rd6, %r0; add.u64 %rd6, %rd5, %rd6;
        add.u32 %r2, %r1, %r0;
        @%p1 ld.global.u8 %r3, [%rd6]; @%p1 st.shared.u8 [%r2], %r3; bar.sync 0;
        rem.u32 %r4, %r0, 3; mad.lo.u32 %r1, %r4, {whole}, %r1; mad.wide.u32 %rd5, %r4, {whole}, %rd5;
        {}{}
        {opcode}.{space}.{rest} {result}[{target}], {}{third};
        bar.sync 0;
        {}
        {}
        ret; }}",
        moved("ld", 30, "%rd1"),
        if has_third { moved("ld", 40, "%rd2") } else { String::new() },
        names(30),
        if is_red { String::new() } else { moved("st", 20, "%rd3") },
        if space == "shared" { "@%p1 ld.shared.u8 %r3, [%r2]; @%p1 st.global.u8 [%rd6], %r3;" } else { "" },
    );
    let buffers = [column(0), column(1), vec![0; lanes * bytes as usize], cells];
    let grid = KernelLaunch::new([1; 3], [THREADS as u32, 1, 1]);
    let launched = launch(&source, grid, &buffers);
    assert!(launched.result.skipped.is_empty(), "{name}: {:?}", launched.result.skipped);
    assert!(launched.result.faults.is_empty(), "{name}: {}", launched.result.faults[0]);
    let mut olds = Vec::new();
    for (at, [b, c]) in sources.iter().enumerate() {
        let count = count as usize;
        let cell = &mut memory[at / count % 3 * count + at % count];
        olds.push(*cell);
        *cell = model(*cell, *b, *c) & (u128::MAX >> (128 - 8 * bytes));
    }
    let left = &launched.buffers[3][..3 * whole];
    assert_eq!(left, to_bytes(&memory), "{name} in {space} memory");
    if !is_red {
        assert_eq!(launched.buffers[2], to_bytes(&olds), "old values of {name} in {space} memory");
    }
}

#[test]
fn operations_take_effect_in_the_order_of_the_lanes() {
    let models: [Model; 32] = [
        ("and.b32", 4, |a, b, _| a & b),
        ("or.b32", 4, |a, b, _| a | b),
        ("xor.b32", 4, |a, b, _| a ^ b),
        ("and.b64", 8, |a, b, _| a & b),
        ("or.b64", 8, |a, b, _| a | b),
        ("xor.b64", 8, |a, b, _| a ^ b),
        ("exch.b32", 4, |_, b, _| b),
        ("exch.b64", 8, |_, b, _| b),
        ("exch.b128", 16, |_, b, _| b),
        ("cas.b16", 2, |a, b, c| if a == b { c } else { a }),
        ("cas.b32", 4, |a, b, c| if a == b { c } else { a }),
        ("cas.b64", 8, |a, b, c| if a == b { c } else { a }),
        ("cas.b128", 16, |a, b, c| if a == b { c } else { a }),
        ("add.u32", 4, |a, b, _| a + b),
        ("add.s32", 4, |a, b, _| a + b),
        ("add.u64", 8, |a, b, _| a + b),
        ("inc.u32", 4, |a, b, _| if a >= b { 0 } else { a + 1 }),
        ("dec.u32", 4, |a, b, _| if a == 0 || a > b { b } else { a - 1 }),
        ("min.u32", 4, |a, b, _| a.min(b)),
        ("max.u32", 4, |a, b, _| a.max(b)),
        ("min.s32", 4, |a, b, _| (a as i32).min(b as i32) as u128),
        ("max.s32", 4, |a, b, _| (a as i32).max(b as i32) as u128),
        ("min.u64", 8, |a, b, _| a.min(b)),
        ("max.u64", 8, |a, b, _| a.max(b)),
        ("min.s64", 8, |a, b, _| (a as i64).min(b as i64) as u128),
        ("max.s64", 8, |a, b, _| (a as i64).max(b as i64) as u128),
        ("add.f64", 8, |a, b, _| {
            (f64::from_bits(a as u64) + f64::from_bits(b as u64)).to_bits().into()
        }),
        ("add.noftz.f16", 2, |a, b, _| f16_sum(a, b)),
        ("add.noftz.bf16", 2, |a, b, _| bf16_sum(a, b)),
        ("add.noftz.f16x2", 4, |a, b, _| halves(a, b, f16_sum)),
        ("add.noftz.bf16x2", 4, |a, b, _| halves(a, b, bf16_sum)),
        ("add.s64", 8, |a, b, _| a + b),
    ];
    for (name, bytes, model) in models {
        for space in ["global", "shared"] {
            check(&format!("atom.{name}"), space, bytes, 1, model);
            if !name.starts_with("exch") && !name.starts_with("cas") {
                check(&format!("red.{name}"), space, bytes, 1, model);
            }
        }
    }
}

#[test]
fn sums_of_f32_are_flushed_in_global_memory_alone() {
    for opcode in ["atom", "red"] {
        check(&format!("{opcode}.add.f32"), "global", 4, 1, |a, b, _| flushed_sum(a, b));
        check(&format!("{opcode}.add.f32"), "shared", 4, 1, |a, b, _| sum(a, b));
    }
}

#[test]
fn vectors_are_added_element_by_element() {
    for opcode in ["atom", "red"] {
        for (count, vector) in [(2, "v2"), (4, "v4")] {
            let name = |rest: &str| format!("{opcode}.{rest}");
            check(&name(&format!("add.{vector}.f32")), "global", 4, count, |a, b, _| {
                flushed_sum(a, b)
            });
            check(&name(&format!("add.noftz.{vector}.f16x2")), "global", 4, count, |a, b, _| {
                halves(a, b, f16_sum)
            });
            check(&name(&format!("add.noftz.{vector}.bf16x2")), "global", 4, count, |a, b, _| {
                halves(a, b, bf16_sum)
            });
            check(&name(&format!("add.noftz.{vector}.bf16")), "global", 2, count, |a, b, _| {
                bf16_sum(a, b)
            });
        }
        check(&format!("{opcode}.add.noftz.v8.f16"), "global", 2, 8, |a, b, _| f16_sum(a, b));
        for (name, is_max) in [("min", false), ("max", true)] {
            let model = if is_max { max_of_f16 } else { min_of_f16 };
            check(&format!("{opcode}.{name}.noftz.v4.f16"), "global", 2, 4, model);
        }
    }
}

fn min_of_f16(a: u128, b: u128, _: u128) -> u128 {
    extreme_of_f16(a, b, false)
}

fn max_of_f16(a: u128, b: u128, _: u128) -> u128 {
    extreme_of_f16(a, b, true)
}

fn extreme_of_f16(a: u128, b: u128, is_max: bool) -> u128 {
    let (x, y) = (f16::from_bits(a as u16), f16::from_bits(b as u16));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0x7fff,
        (true, false) => b,
        (false, true) => a,
        _ if x.total_cmp(&y).is_lt() == is_max => b,
        _ => a,
    }
}
