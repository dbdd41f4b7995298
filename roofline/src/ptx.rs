//! Reading and judging a large module of PTX, beside finding its words.

use std::hint::black_box;

use warpload_ptx::syntax::Lexer;
use warpload_ptx::{check, read};

use crate::measure::{Bench, Measure, Target, Unit};

/// What clang wrote, unoptimized and with debug information.
const MODULE: &str = include_str!("../../ptx/tests/ptx/clang/structures-O0-g.ptx");

/// The functions of the module again and again, each time under other names: `bytes` at least.
fn large(bytes: usize) -> String {
    let (header, functions) = MODULE.split_at(MODULE.find(".visible .func").expect("a function"));
    let end = functions.find("\t.file\t").expect("debug information");
    let mut source = header.to_owned();
    for copy in 0.. {
        if source.len() >= bytes {
            break;
        }
        source += &functions[..end].replace("(\n", &format!("_{copy}(\n"));
    }
    source += &functions[end..];
    source
}

/// Runs the measure.
pub(crate) fn run(bench: &Bench) {
    const NAME: &str = "ptx check";
    if !bench.wants(NAME) {
        return;
    }
    let source = large(if bench.is_quick { 1 << 20 } else { 8 << 20 });
    bench.run(
        Measure {
            name: NAME,
            unit: Unit::BYTES,
            // Which words there are is the least that any reader has to know.
            limit_name: "its words found one by one",
            target: Target::ratio(0.45),
        },
        || {
            let module = read(black_box(&source)).expect("a module");
            black_box(check(&module).count());
            source.len() as u64
        },
        || {
            black_box(Lexer::new(black_box(&source)).count());
            source.len() as u64
        },
    );
}
