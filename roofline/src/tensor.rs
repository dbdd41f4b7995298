//! Loads from Tensor Memory, every shape at its largest number of repeats, beside a copy of as many
//! bytes as the registers take.
//!
//! How fast 16 KiB are copied depends on where they are. So the limit is `.32x32b`, which is a copy, from
//! the same memory to the same registers; that itself is measured beside a copy of arrays.

use std::cell::RefCell;
use std::hint::black_box;

use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{
    Form, Issue, MAX_REGISTERS, Operation, Pattern, Reduction, ReductionType, Registers, Rules,
    Shape, TensorAddress, TensorLoad, TensorMemory, execute,
};

use crate::measure::{Bench, Measure, Target, Unit};

/// Loads that a turn of the clock is too short for one by one.
const BATCH: u64 = 64;

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    let float = Reduction::new(Operation::Max, ReductionType::F32);
    let plain = |shape| {
        let num = (MAX_REGISTERS / Shape::registers_per_repeat(shape)) as u32;
        Form { split: (shape == Shape::S16x32bx2).then_some(256), ..Form::plain(shape, num) }
    };
    let packed = |shape| Form { pack: true, ..plain(shape) };
    let reduced = Form { reduction: Some(float), ..plain(Shape::S32x32b) };
    copy(bench);
    for (name, form, ratio) in [
        ("tcgen05.ld 16x128b", plain(Shape::S16x128b), 0.8),
        ("tcgen05.ld 16x256b", plain(Shape::S16x256b), 0.8),
        ("tcgen05.ld 16x32bx2", plain(Shape::S16x32bx2), 0.8),
        ("tcgen05.ld 16x64b", plain(Shape::S16x64b), 0.45),
        ("tcgen05.ld 16x64b, packed", packed(Shape::S16x64b), 0.45),
        ("tcgen05.ld 16x128b, packed", packed(Shape::S16x128b), 0.45),
        ("tcgen05.ld 16x256b, packed", packed(Shape::S16x256b), 0.45),
        ("tcgen05.ld 32x32b, packed", packed(Shape::S32x32b), 0.45),
        ("tcgen05.ld.red 32x32b, f32", reduced, 0.45),
    ] {
        let measure = Measure {
            name,
            unit: Unit::LOADS,
            limit_name: "tcgen05.ld 32x32b of as many registers, a copy",
            target: Target::ratio(ratio),
        };
        if bench.wants(name) {
            let registers = RefCell::new(Registers::new());
            let memory = TensorMemory::filled(Pattern::F32Random);
            let load = TensorLoad::new(form).expect("a legal load");
            let limit = TensorLoad::new(plain(Shape::S32x32b)).expect("a legal load");
            bench.run(
                measure,
                || batch(&load, &memory, &mut registers.borrow_mut()),
                || batch(&limit, &memory, &mut registers.borrow_mut()),
            );
        }
    }
}

/// Executes a load by every warp in turn, each from its own slab.
fn batch(load: &TensorLoad, memory: &TensorMemory, registers: &mut Registers) -> u64 {
    for turn in 0..BATCH as u32 {
        let warp = turn % 4;
        let issue = Issue::new(warp, TensorAddress::new(32 * warp as u16, 0));
        let load = black_box(load);
        execute(load, issue, memory, &Rules::default(), registers).expect("a legal load");
        black_box(&mut *registers);
    }
    BATCH
}

/// Memory and registers are aligned, too.
#[derive(Clone)]
#[repr(align(64))]
struct Aligned<const N: usize>([LaneValues; N]);

/// `.32x32b` beside a copy of arrays, which reads from four places in turn as the warps do.
fn copy(bench: &Bench) {
    let memory = TensorMemory::filled(Pattern::F32Random);
    let source = vec![Aligned([[1; LANES]; 512]); 4];
    let load = TensorLoad::new(Form::plain(Shape::S32x32b, 128)).expect("a legal load");
    let mut registers = Registers::new();
    let mut rows = Aligned([[0; LANES]; MAX_REGISTERS]);
    bench.run(
        Measure {
            name: "tcgen05.ld 32x32b",
            unit: Unit::LOADS,
            limit_name: "copy of 16 KiB",
            target: Target::ratio(0.7),
        },
        || batch(&load, &memory, &mut registers),
        || {
            for turn in 0..BATCH as usize {
                let Aligned(columns) = &black_box(&source)[turn % 4];
                rows.0.copy_from_slice(&columns[..MAX_REGISTERS]);
                black_box(&mut rows);
            }
            BATCH
        },
    );
}
