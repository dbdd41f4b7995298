//! Reading and judging a large PTX module, beside the least that any reader does: finding its words one by one,
//! counting its lines, adding up its bytes.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpload_ptx::syntax::Lexer;
use warpload_ptx::{check, read};

/// What a compiler wrote, unoptimized and with debug information.
const MODULE: &str = include_str!("../ptx/tests/ptx/clang/structures-O0-g.ptx");

const BYTES: usize = 8 << 20;

/// The module's functions again and again, each time under other names.
fn large() -> String {
    let (header, functions) = MODULE.split_at(MODULE.find(".visible .func").expect("a function"));
    let end = functions.find("\t.file\t").expect("debug information");
    let mut source = header.to_owned();
    for copy in 0.. {
        if source.len() >= BYTES {
            break;
        }
        source += &functions[..end].replace("(\n", &format!("_{copy}(\n"));
    }
    source += &functions[end..];
    source
}

fn module(criterion: &mut Criterion) {
    let source = large();
    let bytes = source.as_bytes();
    let loads = check(&read(&source).expect("a module")).filter(|v| v.is_legal()).count();
    let mut group =
        criterion.benchmark_group(format!("{} MB, {loads} loads", bytes.len() / 1_000_000));
    group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
    group.bench_function("limit: sum of the bytes", |b| {
        b.iter(|| black_box(bytes).iter().fold(0_u64, |sum, byte| sum + u64::from(*byte)));
    });
    group.bench_function("limit: lines", |b| {
        b.iter(|| memchr::memchr_iter(b'\n', black_box(bytes)).count());
    });
    group.bench_function("limit: words", |b| b.iter(|| Lexer::new(black_box(&source)).count()));
    group.bench_function("read", |b| {
        b.iter(|| read(black_box(&source)).map(|m| m.statements().len()))
    });
    group.bench_function("read and check", |b| {
        b.iter(|| read(black_box(&source)).map(|module| check(&module).count()));
    });
    group.finish();
}

criterion_group!(benches, module);
criterion_main!(benches);
