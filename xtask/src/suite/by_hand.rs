//! Cases of `execute` that are written by hand, because draws hardly ever find them. Their only place is the suite
//! itself: a line of `v1/execute` with one of [`FLAGS`], an instruction and the state before it. The rest of the line is
//! computed, so that it may be missing.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use warpload::load::Executor;
use warpload_suite::flags::flags_of;
use warpload_suite::vector::Vector;

use super::case::{Case, Head};
use super::execute::source;
use super::files::FOLDER;
use crate::step::root;

/// The flags of such cases, with their meanings. They are not computed: a case has those that its line lists.
#[rustfmt::skip]
pub(crate) const FLAGS: &[(&str, &str)] = &[
    ("base-at-limit", "Ra is the first register at the limit, so that the address has no base (ld.md 3)."),
    ("beyond-limit-decoys", "Ra is at or above the register limit, and registers that might be taken in its place hold addresses that could be loaded from (ld.md 3; load-sm70.md 10, 5)."),
    ("beyond-limit-sign", "Beside an Ra at or above the register limit, the sign of the offset decides: the offset is unsigned in the immediate forms of LD, LDG, LDL and LDS, and signed in others (load-family.md 3; load-sm70.md 10, 5)."),
    ("constant-beyond-bank", "The sum of a load of constants is 64 KiB or more, and would be in the bank without its highest bit (load-family.md 3)."),
    ("constant-misaligned", "A load of constants is misaligned, and all bytes from its address on are in the bank, too (ld.md 4.4)."),
    ("constant-negative-alone", "Without a register, the offset of a load of constants is negative: the address is outside, just below 2^32 (load-family.md 3)."),
    ("constant-sign", "The highest bit of the offset of a load of constants decides: 16 bits of LDC and ULDC are signed, and 17 of LDCU (load-family.md 3; load-sm70.md 10, 4)."),
    ("crosses-address-bits", "A misaligned access would end beyond 2^address_bits, but not after rounding down (ld.md 4.4, 4.5)."),
    ("crosses-into-memory", "A misaligned access would cross an edge of a window, and both sides are allocated (ld.md 4.4, 4.5)."),
    ("highest-base", "The base of an address of 32 bits is R254, the last register there is (ld.md 3)."),
    ("local-words", "32 bits are loaded from within a lane's local memory of several words, which are different in each lane (ld.md 4.6)."),
    ("matrix-alone", "The rows of matrices have an offset beside a uniform register and no Ra: unsigned on SM 7.5, signed from 8.0 on (load-sm70.md 10, 1)."),
    ("matrix-offset", "The rows of matrices lie in any order, and have an offset (load-sm70.md 10, 4 and 15)."),
    ("order-base-uniform", "A rule of Ra and one of the uniform pair of the address are broken: Ra's counts (load-sm70.md 10, 9)."),
    ("order-destination-base", "A rule of Rd and one of Ra are broken: Rd's counts (ld.md 3)."),
    ("order-destination-uniform", "A rule of Rd and one of the uniform pair of the address are broken: Rd's counts (load-sm70.md 10, 9)."),
    ("order-half", "Of 256 bits, the registers of the other half are misaligned and beyond the limit: they are misaligned first (load-sm70.md 10, 7)."),
    ("order-half-base", "Of 256 bits, a rule of the other half and one of Ra are broken: the half's counts (load-sm70.md 10, 7)."),
    ("order-half-uniform", "Of 256 bits, a rule of the other half and one of the uniform pair of the address are broken: the half's counts (load-sm70.md 10, 7 and 9)."),
    ("order-halves", "Of 256 bits, rules of both halves are broken: Rd's counts (load-sm70.md 10, 7)."),
    ("plain-128", "All lanes of a .128 have one address, which is no broadcast: it has no .U (ld.md 4.10)."),
    ("touching-windows", "A misaligned access begins in one window and would end in the other, which begins there (ld.md 4.4, 4.5)."),
];

/// The cases in a file of `execute`.
pub(crate) fn cases(file: &str) -> Result<Vec<Case>> {
    let path = root().join(FOLDER).join(format!("execute/{file}.jsonl"));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let cases = text.lines().map(|line| case(line).with_context(|| path.display().to_string()));
    cases.filter_map(Result::transpose).collect()
}

/// `None` for a case that is drawn.
fn case(line: &str) -> Result<Option<Case>> {
    let json: Value = serde_json::from_str(line)?;
    let listed = json["flags"].as_array().context("no list of flags")?;
    let by_hand =
        FLAGS.iter().map(|(name, _)| *name).filter(|name| listed.contains(&(*name).into()));
    let mut flags: Vec<&'static str> = by_hand.collect();
    if flags.is_empty() {
        return Ok(None);
    }
    let vector = Vector::from_json(line)?;
    let (instruction, sm) = (&vector.instruction, vector.instruction.sm());
    let name = instruction.text().to_string();
    let (after, outcome) = vector.run(Executor::Reference)?;
    let is_same = vector.run(Executor::Fast)? == (after.clone(), outcome.clone());
    ensure!(is_same, "{name}: the executors differ");
    let computed = flags_of(&vector, &outcome);
    flags.extend(computed.iter().map(|flag| flag.name));
    flags.sort_unstable();
    let head = Head {
        flags,
        source: source(&name, sm),
        is_decision: computed.is_decision(sm.has_wide_words()),
        name: Some(name),
    };
    let (word, initial) = (instruction.word(), &json["initial"]);
    let question = format!(r#""instruction":"{word:#}","initial":{initial}"#);
    let expected = serde_json::to_string(&vector.observed(&after, &outcome))?;
    Ok(Some(head.asking("execute", &question, &expected)))
}
