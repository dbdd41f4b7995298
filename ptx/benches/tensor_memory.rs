//! Loads from Tensor Memory, every shape at its largest number of repeats, with packing and
//! without: each beside a copy of as many bytes as the registers take.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{
    Form, Issue, MAX_REGISTERS, Operation, Pattern, Reduction, ReductionType, Registers, Rules,
    Shape, TensorAddress, TensorLoad, TensorMemory, execute,
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
    let max = Reduction::new(Operation::Max, ReductionType::F32);
    let reduction = Form { reduction: Some(max), ..Form::plain(Shape::S32x32b, 128) };
    forms.push(("32x32b.x128, .red.max.f32".to_owned(), reduction));
    forms
}

/// Every warp loads from its own slab in turn, so that subject and limit read from four places.
fn loads(criterion: &mut Criterion) {
    let memory = TensorMemory::filled(Pattern::F32Random);
    let source: Vec<LaneValues> = (0..4 * 512).map(|i| [i; LANES]).collect();
    for (name, form) in forms() {
        let load = TensorLoad::new(form).expect("a legal load");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(BYTES));
        let mut registers = Registers::new();
        let mut warp = 0;
        group.bench_function("load", |b| {
            b.iter(|| {
                warp = (warp + 1) % 4;
                let issue = Issue::new(warp, TensorAddress::new(32 * warp as u16, 0));
                let rules = Rules::default();
                let done = execute(black_box(&load), issue, &memory, &rules, &mut registers);
                black_box(&mut registers);
                done
            });
        });
        let mut rows = [[0; LANES]; MAX_REGISTERS];
        let mut slab = 0;
        group.bench_function("limit: copy", |b| {
            b.iter(|| {
                slab = (slab + 512) % source.len();
                rows.copy_from_slice(black_box(&source[slab..slab + MAX_REGISTERS]));
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
