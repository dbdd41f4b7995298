//! The limits on the parts of a load and of a module, and the errors beyond them.

use warpload_ptx::module::{MAX_DEPTH, ReadErrorKind};
use warpload_ptx::{check, read};

/// The messages about the loads of a kernel with the body `body`.
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

/// The number of parts that a text of this length may have.
fn room(bytes: usize) -> usize {
    (1 << 20) + bytes / 16
}

#[test]
fn parts_of_a_module_are_in_proportion_to_its_text() {
    let head = ".version 8.8\n.target sm_90\n";
    for (unit, parts) in [
        // A malformed statement counts as 16 parts more: it has a message later.
        (";", 17),
        ("{}", 3),
        ("a:", 1),
        ("x;", 1),
        ("1;", 17),
        ("{;}", 20),
    ] {
        let source = |count: usize| format!("{head}.entry k() {{ {} }}", unit.repeat(count));
        let most = (1..).find(|count| count * parts > room(2 * unit.len() * count)).unwrap_or(0);
        let error = read(&source(2 * most)).expect_err(unit);
        assert_eq!(error.kind, ReadErrorKind::TooManyParts, "{unit}");
        let source = source(most / 2);
        let module = read(&source).expect(unit);
        assert!(module.statements().len() >= most / 4, "{unit}");
    }
    for (unit, parts) in [(".reg .u8 a,b;", 4), (".func f;", 5), (".foo;", 1), (";", 1)] {
        let source = format!("{head}{}", unit.repeat((1 << 20) / parts + (1 << 20)));
        let error = read(&source).expect_err(unit);
        assert_eq!(error.kind, ReadErrorKind::TooManyParts, "{unit}");
    }
    // Compiler output must never exceed the limits.
    let line = "mov.u32 %r1, %r2;\n".repeat(1 << 18);
    assert!(read(&format!("{head}.entry k() {{ {line} }}")).is_ok());
}

/// Messages take far more memory than the text that they are about: 100 are kept, the others counted.
#[test]
fn errors_of_declarations_are_counted() {
    let messages = |count: usize| -> Vec<String> {
        let source = format!(
            ".version 8.8\n.target sm_90\n{}\n.entry k() {{ ret; }}",
            ".global .u32 a;\n".repeat(count)
        );
        let module = read(&source).unwrap();
        let verdicts: Vec<_> = check(&module).collect();
        let all = verdicts.iter().flat_map(|verdict| &verdict.violations);
        all.map(|violation| violation.message.clone()).collect()
    };
    assert_eq!(messages(101).len(), 100);
    let many = messages(2000);
    assert_eq!(many.len(), 101);
    assert_eq!(many[100], "and 1899 more errors in declarations and directives");
    let source = format!(".version 8.8\n.target sm_90\n{}", ";".repeat(5000));
    let directives = read(&source).unwrap();
    let last = check(&directives).last().unwrap().violations[0].message.clone();
    assert_eq!(last, "and 4900 more errors in declarations and directives");
}

#[test]
fn braces_are_as_deep_as_ptxas_takes_them() {
    let source = |depth: usize| {
        let (open, close) = ("{".repeat(depth), "}".repeat(depth));
        format!(".version 8.8\n.target sm_90\n.entry k() {{ {open} {close} }}")
    };
    assert!(read(&source(MAX_DEPTH)).is_ok());
    assert_eq!(
        read(&source(MAX_DEPTH + 1)).map_err(|error| error.kind).err(),
        Some(ReadErrorKind::TooDeep)
    );
    assert_eq!(MAX_DEPTH, 1663);
}
