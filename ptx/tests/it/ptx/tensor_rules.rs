//! The legality of Tensor Memory loads: the judge over every combination of parts, and both of its readers over the
//! assembler's verdicts.

use std::collections::{BTreeMap, BTreeSet};

use warpload_ptx::rules::Rule;
use warpload_ptx::syntax::load::Opcode;
use warpload_ptx::tensor::{
    Form, IllegalLoadError, Reduction, ReductionOperation, ReductionType, Shape, TensorLoad,
};
use warpload_ptx::{check, read};

use super::corpus::rows;

/// Machines with all loads of Tensor Memory, and versions that know them.
const MACHINES: [(&str, &str); 3] = [("9.0", "sm_103a"), ("9.0", "sm_110a"), ("9.5", "sm_110f")];

/// Rules of [`check`] that a single instruction cannot show: versions, machines, declarations.
const AROUND: [Rule; 10] = [
    Rule::Guard,
    Rule::VectorMix,
    Rule::TensorRegister,
    Rule::NeedsVersion,
    Rule::NeedsTarget,
    Rule::TargetVersion,
    Rule::DestinationRegister,
    Rule::DestinationWidth,
    Rule::AddressBase,
    Rule::AddressSize,
];

/// The text of an instruction, with as many registers as it would fill. `shape` and `num` may be invalid.
fn text(shape: &str, form: Form) -> String {
    let Form { num, pack, split, reduction, .. } = form;
    let each = shape.parse::<Shape>().map_or(1, Shape::registers_per_repeat);
    let count = (each * num as usize).clamp(1, 512);
    let registers: Vec<String> = (0..count).map(|i| format!("%r{i}")).collect();
    let red = if reduction.is_some() { ".red" } else { "" };
    let pack = if pack { ".pack::16b" } else { "" };
    let end = reduction.map_or(".b32".to_owned(), |reduction| reduction.to_string());
    let result = if reduction.is_some() { "%m, " } else { "" };
    let split = split.map_or(String::new(), |split| format!(", {split}"));
    format!(
        "tcgen05.ld{red}.sync.aligned.{shape}.x{num}{pack}{end} {{{}}}, {result}[%t]{split};",
        registers.join(", ")
    )
}

/// Every combination of parts, including invalid repeats.
fn forms() -> Vec<Form> {
    let mut reductions = vec![None];
    for operation in ReductionOperation::ALL {
        for kind in ReductionType::ALL {
            for (absolute, propagates_nan) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                reductions.push(Some(Reduction { operation, kind, absolute, propagates_nan }));
            }
        }
    }
    let mut forms = Vec::new();
    for shape in Shape::ALL {
        for num in [0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256] {
            for pack in [false, true] {
                for split in [None, Some(16), Some(-1)] {
                    for reduction in &reductions {
                        forms.push(Form { shape, num, pack, split, reduction: *reduction });
                    }
                }
            }
        }
    }
    forms
}

/// A module with these instructions.
fn module(version: &str, target: &str, instructions: &[String]) -> String {
    format!(
        ".version {version}\n.target {target}\n.address_size 64
        .entry k() {{ .reg .b32 %r<512>, %m, %t;\n{}\n}}",
        instructions.join("\n")
    )
}

#[test]
fn every_problem_of_every_combination() {
    let forms = forms();
    let mut counts = BTreeMap::new();
    let mut legal = 0;
    for form in &forms {
        let problems: Vec<_> = form.problems().collect();
        for problem in &problems {
            *counts.entry(problem.code()).or_insert(0) += 1;
        }
        assert_eq!(TensorLoad::new(*form).err(), problems.first().copied(), "{form:?}");
        legal += usize::from(problems.is_empty());
    }
    // Five shapes have 8, 8, 7, 6 and 8 repeats, each also packed; of 24 reductions 12 are legal,
    // with two shapes from x2 on. The half offset is there or not, and has two values.
    let plain = 2 * (8 + 8 + 7 + 6 + 2 * 8);
    let reductions = 2 * (1 + 1 + 4) * (7 + 2 * 7);
    assert_eq!((forms.len(), legal), (5 * 11 * 2 * 3 * 25, plain + reductions));
    // Each count is a product of the sizes of the enumeration: `num` has 3, 3, 4, 5 and 3 illegal
    // repeats a shape, `red-num` 2.
    let expected = [
        ("num", (3 + 3 + 4 + 5 + 3) * 2 * 3 * 25),
        ("red-modifier", 5 * 11 * 2 * 3 * 12),
        ("red-num", 5 * 2 * 2 * 3 * 24),
        ("red-pack", 5 * 11 * 3 * 24),
        ("red-shape", 3 * 11 * 2 * 3 * 24),
        ("split-operand", (4 * 2 + 1) * 11 * 2 * 25),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}

/// Cases that the assembler refuses, with the rules that they break.
#[test]
fn illegal_cases_are_illegal() {
    let mut codes = BTreeSet::new();
    for line in include_str!("../../tensor_memory/cases.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        if case["kind"] != "illegal" {
            continue;
        }
        let kind = |name| ReductionType::ALL.into_iter().find(|kind| kind.name() == name);
        let reduction = case["op"].as_str().map(|op| Reduction {
            operation: if op == "min" { ReductionOperation::Min } else { ReductionOperation::Max },
            kind: kind(case["type"].as_str().unwrap()).unwrap(),
            absolute: case["abs"] == true,
            propagates_nan: case["nan"] == true,
        });
        let form = Form {
            shape: Shape::S32x32b,
            num: case["num"].as_u64().unwrap() as u32,
            pack: case["pack"] == true,
            split: case["split"].as_i64(),
            reduction,
        };
        let text = text(case["shape"].as_str().unwrap(), form);
        for (version, target) in MACHINES {
            let source = module(version, target, std::slice::from_ref(&text));
            let module = read(&source).unwrap();
            let verdict = check(&module).next().unwrap();
            assert!(!verdict.is_legal(), "{line}");
            let error = verdict.load.unwrap().tensor_load(&source).unwrap_err();
            assert_eq!(error.code(), case["expect"]["code"], "{line}");
        }
        codes.insert(case["expect"]["code"].as_str().unwrap().to_owned());
    }
    let all = ["num", "red-modifier", "red-num", "red-pack", "red-shape", "shape", "split-operand"];
    let missing: Vec<&str> = all.into_iter().filter(|code| !codes.contains(*code)).collect();
    assert_eq!(missing, ["red-num"], "another test has it");
    let red = Reduction::new(ReductionOperation::Min, ReductionType::U32);
    let form = Form { reduction: Some(red), ..Form::plain(Shape::S32x32b, 1) };
    assert_eq!(TensorLoad::new(form), Err(IllegalLoadError::ReductionNum));
}

/// The assembler's verdicts: every accepted load can be executed. No load refused because of the instruction itself
/// can.
#[test]
fn what_the_assembler_takes_can_be_executed() {
    let (mut executable, mut refused, mut around) = (0, 0, 0);
    for row in rows() {
        let module = read(&row.module).unwrap();
        for verdict in check(&module) {
            let Some(load) = verdict.load.filter(|load| load.opcode != Opcode::Ld) else {
                continue;
            };
            let written = load.tensor_load(&row.module);
            if verdict.violations.is_empty() {
                assert!(written.is_ok(), "{}: {written:?}", row.instruction);
                executable += 1;
            } else if written.is_ok() {
                let rules = verdict.violations.iter().map(|violation| violation.rule);
                let rules: Vec<Rule> = rules.filter(|rule| !AROUND.contains(rule)).collect();
                assert!(rules.is_empty(), "{}: {rules:?}", row.instruction);
                around += 1;
            } else {
                refused += 1;
            }
        }
    }
    println!("{executable} can be executed, {refused} cannot, {around} not in their modules");
    assert!(executable > 500 && refused > 500, "{executable}, {refused}");
}
