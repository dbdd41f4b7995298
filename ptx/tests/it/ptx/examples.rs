//! The examples in the documents on `ld`, `ld.global.nc` and `tcgen05.ld`. They are the rows of the family
//! `seed_literal`, each for several versions and targets.

use std::collections::BTreeMap;

use warpload_ptx::rules::Unit;
use warpload_ptx::{check, check_as, read};

use super::corpus::rows;

/// Examples that no version accepts as printed, with the mistake.
const MISPRINTED: [(&str, &str, &str); 6] = [
    (
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 cache-policy, 1;",
        "-",
        "a name with a hyphen",
    ),
    ("createpolicy.fractional.L2::evict_last.b64 cache-policy, 0.5;", "-", "a name with a hyphen"),
    ("ld.gloal.nc.L1::evict_last.u32 d, [a];", ".gloal", "`.gloal` in place of `.global`"),
    ("ld.global.L2::cache_hint.b64  x, [p], cache-policy;", "-", "a name with a hyphen"),
    ("ld.global.nc.L2::cache_hint.f32  d, [a], cache-policy;", "-", "a name with a hyphen"),
    (
        "ld.global.nc.L2::evict_first.v4.f64 {%reg0, %reg1. %reg2, %reg3}. [a]; // 256-bit load",
        ".",
        "points in place of commas",
    ),
];

#[test]
fn printed_examples_are_judged_as_ptxas_judges_them() {
    let mut ever_accepted = BTreeMap::<String, bool>::new();
    let mut judged = 0;
    for row in rows().filter(|row| row.family == "seed_literal") {
        let module = read(&row.module).expect("a module that can be read");
        let is_legal = check(&module).all(|verdict| verdict.is_legal());
        // The only example that is not a load has a target without its instruction.
        assert!(is_legal == row.is_accepted || row.id == "ld-00095", "{}", row.id);
        *ever_accepted.entry(row.instruction).or_default() |= row.is_accepted;
        judged += 1;
    }
    println!("{} examples, {judged} verdicts", ever_accepted.len());
    let refused: Vec<&str> =
        ever_accepted.iter().filter(|row| !row.1).map(|row| row.0.as_str()).collect();
    assert_eq!(refused, MISPRINTED.map(|row| row.0));
}

#[test]
fn misprints_are_found_where_they_are() {
    for (example, at_fault, why) in MISPRINTED {
        let row = rows().find(|row| row.instruction == example).expect(example);
        let module = read(&row.module).expect("a module that can be read");
        let violations: Vec<_> = check(&module).flat_map(|verdict| verdict.violations).collect();
        let first = violations.first().expect(why);
        assert_eq!(module.text(first.span), at_fault, "{example}");
    }
}

/// The documents print it, but no row has it, because a variable with the attribute needs an assembler that does not
/// link.
#[test]
fn a_unified_variable_is_for_the_linker() {
    let source = ".version 9.5\n.target sm_100\n.address_size 64
        .global .attribute(.unified(19, 95)) .f32 ugbl[4];
        .entry k() { .reg .f32 d; ld.global.f32 d,[ugbl].unified; ret; }";
    let module = read(source).expect("a module that can be read");
    let rules = |unit| -> Vec<&str> {
        let violations = check_as(&module, unit).flat_map(|verdict| verdict.violations);
        violations.map(|violation| violation.rule.name()).collect()
    };
    assert_eq!(rules(Unit::Part), Vec::<&str>::new());
    // Once for the declaration and once for the load.
    assert_eq!(rules(Unit::Program), ["compile-only"; 2]);

    let source = source.replace("].unified", "]");
    let module = read(&source).expect("a module that can be read");
    let violations = check_as(&module, Unit::Part).flat_map(|verdict| verdict.violations);
    assert!(violations.map(|violation| violation.rule.name()).eq(["unified-missing"]));
}
