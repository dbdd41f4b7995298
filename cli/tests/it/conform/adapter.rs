//! The adapter in C++, if there is a compiler.

use std::process::Command;

use crate::conform::{Suite, run};

#[test]
fn the_adapter_in_cpp_answers_what_accesses_cost() {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        crate::common::missing("the adapter in C++: no compiler");
        return;
    }
    let source = crate::common::file("examples/conform/coalescing.cpp");
    let lines = std::fs::read_to_string(&source).unwrap().lines().count();
    assert!(lines <= 80, "the adapter has {lines} lines");
    let suite = Suite::new(32);
    let program = suite.path("coalescing");
    let mut compile = Command::new(compiler);
    compile
        .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(&source);
    assert!(compile.status().unwrap().success());
    let command = format!("'{}'", program.display());
    let cases = crate::common::file("vectors/v1/coalescing");
    let ran = run(&command, &[], &[&cases]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.ends_with(" passed, 0 failed, 0 skipped") && !last.starts_with("0 "), "{last}");
    let ran = run(&command, &[], &[&crate::common::file("vectors/v1/tensor-memory")]);
    assert!(ran.stdout.contains(" skipped: only coalescing\n"), "{ran:?}");
}
