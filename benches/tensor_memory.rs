//! Loads from Tensor Memory, every shape at its largest number of repeats, with packing and
//! without: each beside a copy of as many bytes as the registers take, and beside `.32x32b`, which is a copy too,
//! from the same memory to the same registers: the time for 16 KiB depends on where they are.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{
    Form, Issue, MAX_REGISTERS, Pattern, Reduction, ReductionOperation, ReductionType, Rules,
    Shape, TensorAddress, TensorLoad, TensorMemory, TensorRegisters, execute,
};

/// 128 registers of 32 threads: 16 KiB, whatever the shape.
const BYTES: u64 = (MAX_REGISTERS * LANES * 4) as u64;

fn forms() -> Vec<(String, Form)> {
    let mut forms = Vec::new();
    for shape in Shape::ALL {
        let num = (MAX_REGISTERS / shape.registers_per_repeat()) as u32;
        let split = (shape == Shape::S16x32bx2).then_some(256);
        let plain = Form { split, ..Form::plain(shape, num) };
        forms.push((format!("{shape}.x{num}"), plain));
        // Packed loads cover twice the columns; that of .16x256b.x32 is all 512.
        let split = split.map(|_| 0);
        forms.push((format!("{shape}.x{num}.pack::16b"), Form { pack: true, split, ..plain }));
    }
    let max = Reduction::new(ReductionOperation::Max, ReductionType::F32);
    let reduction = Form { reduction: Some(max), ..Form::plain(Shape::S32x32b, 128) };
    forms.push(("32x32b.x128, .red.max.f32".to_owned(), reduction));
    forms
}

/// Memory and registers are aligned, too.
#[repr(align(64))]
struct Aligned<const N: usize>([LaneValues; N]);

/// Every warp loads from its own slab in turn, so that subject and limit read from four places.
fn loads(criterion: &mut Criterion) {
    let memory = TensorMemory::filled(Pattern::F32Random);
    let source = [1, 2, 3, 4].map(|value| Box::new(Aligned([[value; LANES]; 512])));
    let copy = TensorLoad::new(Form::plain(Shape::S32x32b, 128)).expect("a legal load");
    let mut registers = TensorRegisters::new();
    let mut warp = 0;
    let mut execute = |load: &TensorLoad| {
        warp = (warp + 1) % 4;
        let issue = Issue::new(warp, TensorAddress::new(32 * warp as u16, 0));
        let done = execute(black_box(load), issue, &memory, &Rules::default(), &mut registers);
        black_box(&mut registers);
        done
    };
    for (name, form) in forms() {
        let load = TensorLoad::new(form).expect("a legal load");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(BYTES));
        group.bench_function("load", |b| b.iter(|| execute(&load)));
        group.bench_function("limit: 32x32b", |b| b.iter(|| execute(&copy)));
        let mut rows = Aligned([[0; LANES]; MAX_REGISTERS]);
        let mut slab = 0;
        group.bench_function("limit: copy", |b| {
            b.iter(|| {
                slab = (slab + 1) % 4;
                rows.0.copy_from_slice(&black_box(&source[slab]).0[..MAX_REGISTERS]);
                black_box(&mut rows);
            });
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = loads
}
criterion_main!(benches);
