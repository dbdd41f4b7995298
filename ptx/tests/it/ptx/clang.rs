//! Modules written by a compiler are completely read, and legal.

use warpload_ptx::module::{FunctionKind, StatementKind};
use warpload_ptx::rules::Unit;
use warpload_ptx::{check_as, read};

use crate::compiled::modules;

/// Whether a line is a load in a compiler's layout: at the start of the line, with or without a guard.
fn is_load(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let opcode = if first.starts_with('@') { words.next().unwrap_or_default() } else { first };
    opcode.starts_with("ld.")
}

#[test]
fn compiled_modules_are_read_whole_and_every_load_is_legal() {
    let modules = modules();
    let mut loads = 0;
    for (name, source) in &modules {
        let module = read(source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let written = source.lines().filter(|line| is_load(line)).count();
        // The module is a part, because functions of OpenCL's library are linked later.
        let verdicts: Vec<_> = check_as(&module, Unit::Part).collect();
        assert!(verdicts.iter().all(|verdict| verdict.is_legal()), "{name}: {verdicts:#?}");
        assert_eq!(verdicts.len(), written, "{name}");
        // A compiler writes every instruction on its own line, and each must be a statement.
        let instructions = module.statements().iter().filter(|statement| {
            matches!(&statement.kind, StatementKind::Instruction(i) if i.fault.is_none())
        });
        let ends = source.lines().filter(|line| {
            let code = line.split("//").next().unwrap_or_default().trim();
            let is_code = line.starts_with('\t') && !code.starts_with(['.', '(', '}']);
            // Leaves out prototypes of calls, and the last line of a list of branch targets.
            let is_list = code.contains(" : .") || code.starts_with('$');
            is_code && code.ends_with(';') && !is_list
        });
        // A call takes several lines, the last one a lone semicolon.
        assert_eq!(instructions.count(), ends.count(), "{name}");
        let is_kernel = |kind| kind == FunctionKind::Entry;
        let kernels = module.functions().iter().filter(|function| is_kernel(function.kind)).count();
        assert_eq!(kernels, source.matches(".entry ").count(), "{name}");
        loads += written;
    }
    println!("{loads} loads");
    assert_eq!(modules.len(), 12);
}
