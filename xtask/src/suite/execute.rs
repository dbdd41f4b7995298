//! `execute`: vectors of every load that is executed.

use anyhow::{Result, bail};
use warpload::encoding::{OpcodeFacts, OpcodeSpace, Sm};
use warpload_suite::flags;
use warpload_suite::generate::{self, Generator};

use super::case::{CaseFile, Cases, DOCUMENT, Family, Head, MODEL};
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family {
    name: "execute",
    cases,
    flags: || flags::all().iter().map(|flag| (flag.name, flag.note)).collect(),
};

/// The SMs whose loads are drawn, and how many of each instruction; of 12.0 those alone that fill two groups
/// of uniform registers, which earlier ones do not.
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
    for (number, count, only) in SMS {
        let Some(sm) = Sm::new(number) else { bail!("no SM {number}") };
        let drawn = generate::instructions(sm);
        for instruction in drawn.filter(|name| only.is_none_or(|only| *name == only)) {
            let generator = Generator::new(instruction, sm, 0)?;
            let mut cases = Vec::new();
            for number in 0..count {
                let drawn = generator.case(number)?;
                let source = source(&drawn.name, sm);
                let head = Head {
                    name: Some(drawn.name),
                    flags: drawn.flags.iter().map(|flag| flag.name).collect(),
                    source,
                    is_decision: drawn.is_decision,
                };
                cases.push(head.asking("execute", &drawn.question, &drawn.expected));
            }
            let sm = if sm.has_wide_words() { format!("-sm{sm}") } else { String::new() };
            let instruction = format!("{}{sm}", instruction.to_ascii_lowercase());
            files.push(CaseFile { instruction, cases });
        }
    }
    Ok(Cases { files, ..Cases::default() })
}

/// Returns where an expectation is from. The models of `tests/independent` answer the same
/// (`cli/tests/conform/whole.rs` checks it) but for loads whose order no public source explains, which they do
/// not execute.
fn source(text: &str, sm: Sm) -> &'static str {
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
