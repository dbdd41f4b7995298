//! What a load may have many of, and what is said of one too many.

use warpload_ptx::{check, read};

/// The messages about the loads of a kernel with these statements.
fn messages(body: &str) -> Vec<String> {
    let source = format!(".version 8.8\n.target sm_90\n.entry k() {{ {body} }}");
    let module = read(&source).unwrap();
    let verdicts: Vec<_> = check(&module).collect();
    let violations = verdicts.iter().flat_map(|verdict| &verdict.violations);
    violations.map(|violation| violation.message.clone()).collect()
}

#[test]
fn parts_of_a_load() {
    let load = |qualifiers: usize, elements: usize, operands: usize| {
        messages(&format!(
            "ld{} {{{}}}{};",
            ".weak".repeat(qualifiers),
            vec!["a"; elements].join(","),
            ", [a]".repeat(operands - 1)
        ))
    };
    let says =
        |messages: &[String], what: &str| messages.iter().any(|message| message.contains(what));
    for (most, one_more, expected) in [
        (load(64, 1, 2), load(65, 1, 2), "fewer qualifiers"),
        (load(1, 1024, 2), load(1, 1025, 2), "fewer elements"),
        (load(1, 1, 1024), load(1, 1, 1025), "fewer operands"),
    ] {
        assert!(!says(&most, expected), "{most:?}");
        assert!(says(&one_more, expected), "{one_more:?}");
    }
}
