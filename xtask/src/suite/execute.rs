//! `execute`: vectors of every load that the executors support.

use anyhow::Result;
use warpload::encoding::{OpcodeFacts, OpcodeSpace, Sm};
use warpload_suite::flags;
use warpload_suite::generate::{self, Generator};

use super::by_hand;
use super::case::{Case, CaseFile, Cases, DOCUMENT, Family, Head, MODEL};
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family {
    name: "execute",
    cases,
    flags: || {
        let computed = flags::all().iter().map(|flag| (flag.name, flag.note));
        computed.chain(by_hand::FLAGS.iter().copied()).collect()
    },
};

/// The SMs with cases that aim at pairs of flags: the SM, the number of cases for each instruction, and an instruction
/// if there is only one. On SM 12.0 that is LDCU, which can fill two groups of uniform registers there, but not on
/// earlier SMs. Other SMs get a case for the values of each size.
const SMS: [(u32, u64, Option<&str>); 6] = [
    (50, 180, None),
    (75, 42, None),
    (80, 42, None),
    (90, 42, None),
    (100, 42, None),
    (120, 42, Some("LDCU")),
];

fn cases(_: &Sources) -> Result<Cases> {
    let mut files = Vec::new();
    for sm in Sm::all() {
        for instruction in generate::instructions(sm) {
            let generator = Generator::new(instruction, sm, 0)?;
            let is_of = |(number, _, only): &&(u32, u64, Option<&str>)| {
                *number == sm.number() && only.is_none_or(|only| instruction == only)
            };
            let drawn = match SMS.iter().find(is_of) {
                Some((_, count, _)) => generator.set(*count, &generator.quotas())?,
                None => generator.set(0, &generator.quotas_of_values())?,
            };
            let sm = if sm == Sm::SPA5 { String::new() } else { format!("-sm{sm}") };
            let instruction = format!("{}{sm}", instruction.to_ascii_lowercase());
            let mut cases: Vec<Case> = drawn.into_iter().map(case).collect();
            cases.extend(by_hand::cases(&instruction)?);
            files.push(CaseFile { instruction, cases });
        }
    }
    Ok(Cases { files, ..Cases::default() })
}

fn case(drawn: generate::Case) -> Case {
    let source = source(&drawn.name, drawn.instruction.sm());
    let head = Head {
        name: Some(drawn.name),
        flags: drawn.flags.iter().map(|flag| flag.name).collect(),
        source,
        is_decision: drawn.is_decision,
    };
    head.asking("execute", &drawn.question, &drawn.expected)
}

/// The source of an expectation. The models of `tests/independent` agree (`cli/tests/conform/whole.rs` checks it),
/// except for loads with an order that no public source explains, because they do not execute these.
pub(crate) fn source(text: &str, sm: Sm) -> &'static str {
    let opcode = text.split(' ').find(|part| !part.starts_with('@')).unwrap_or_default();
    let space = OpcodeFacts::of(opcode).and_then(OpcodeFacts::space);
    let is_global = matches!(space, Some(OpcodeSpace::Generic | OpcodeSpace::Global));
    let among = |names: &[&'static str]| {
        opcode.split('.').find_map(|part| names.iter().find(|name| **name == part).copied())
    };
    let order = among(&["CONSTANT", "STRONG", "MMIO"]);
    let scope = among(&["CTA", "SM", "VC", "GPU", "SYS"]);
    let is_explained = match (order, scope) {
        (None, None) | (Some("STRONG"), Some("GPU" | "SYS")) | (Some("MMIO"), Some("SYS")) => true,
        (Some("CONSTANT"), None) | (Some("STRONG"), Some("SM")) => sm.number() >= 80,
        (None | Some("CONSTANT"), Some("SYS")) | (Some("STRONG"), Some("CTA")) => sm.number() < 80,
        _ => false,
    };
    if is_explained || !is_global { MODEL } else { DOCUMENT }
}
