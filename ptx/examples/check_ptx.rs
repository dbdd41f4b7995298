//! Checks the loads of a PTX module: which are legal, which are not, and why. With the path of a
//! `.ptx` file it checks that file, without one a module of its own.
//!
//! ```text
//! cargo run -p warpload-ptx --example check_ptx -- kernel.ptx
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use warpload_ptx::syntax::LineIndex;
use warpload_ptx::{check, read};

const MODULE: &str = ".version 8.8
.target sm_75
.address_size 64
.entry sum(.param .u64 in) {
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [in];
    ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];
    ld.global.L2::256B.u32 %r4, [%rd1+16];
    ld.shared.u64 %r4, [%rd1];
}
";

fn main() -> Result<(), Box<dyn Error>> {
    let source = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => MODULE.to_owned(),
    };
    let module = read(&source)?;
    let lines = LineIndex::new(&source);
    let (mut legal, mut broken) = (0, Vec::new());
    for verdict in check(&module) {
        legal += usize::from(verdict.is_legal());
        for violation in &verdict.violations {
            let line = lines.position(violation.span.start).line;
            println!("line {line}: {violation} [{}]", violation.rule);
            if let Some(help) = &violation.help {
                println!("    {help}");
            }
            broken.push(violation.rule.name());
        }
    }
    println!("{legal} legal loads, {} broken rules", broken.len());
    if source == MODULE {
        assert_eq!((legal, broken.as_slice()), (2, &["needs-target", "destination-width"][..]));
    }
    Ok(())
}
