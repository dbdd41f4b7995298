//! The vectors of LDG, LDL, LDS and LDC. Their expected results come from the literal executor,
//! [`warpload::load::reference()`], not from the fast one.
//!
//! `tests/generated_vectors.rs` includes these files too.

mod draft;
mod registers;
mod topics;

use std::collections::BTreeSet;
use std::error::Error;

use warpload::encoding::MemorySpace;
use warpload::load::{Executor, Outcome, UniformPath};
use warpload::machine::Misaligned;
use warpload::suite::vector::Vector;

use draft::Draft;

pub(crate) const FILE: &str = "load-family-vectors.jsonl";

/// The vectors, and what they cover.
pub(crate) struct Generated {
    /// The vectors, one a line, with line ends.
    pub(crate) lines: Vec<String>,
    /// What occurs in them, such as `LDG: broadcast`.
    pub(crate) kinds: BTreeSet<String>,
}

/// Generates the vectors; always the same bytes.
///
/// # Errors
/// Returns an error if a draft is not a vector.
pub(crate) fn generate() -> Result<Generated, Box<dyn Error>> {
    let mut generated = Generated { lines: Vec::new(), kinds: BTreeSet::new() };
    for draft in topics::drafts().into_iter().chain(registers::drafts()) {
        generated.add(&draft).map_err(|error| format!("{}: {error}", draft.name()))?;
    }
    Ok(generated)
}

impl Generated {
    fn add(&mut self, draft: &Draft) -> Result<(), Box<dyn Error>> {
        let (name, word, initial) = (draft.name(), draft.word()?, draft.initial()?);
        let before = format!(
            r#"{{"name":{},"instruction":"{word:#018x}","initial":{initial}"#,
            serde_json::to_string(&name)?,
        );
        let vector = Vector::from_json(&format!("{before}}}"))?;
        let (after, outcome) = vector.run(Executor::Reference)?;
        let expected = serde_json::to_string(&vector.observed(&after, &outcome))?;
        self.lines.push(format!("{before},\"final\":{expected}}}\n"));
        self.kinds.extend(kinds(&vector, &outcome)?);
        Ok(())
    }
}

/// Returns what a vector covers, each after the mnemonic.
fn kinds(vector: &Vector, outcome: &Outcome) -> Result<Vec<String>, Box<dyn Error>> {
    let instruction = &vector.instruction.narrow().ok_or("a load of SM 7.0 or later")?;
    let machine = &vector.machine;
    let size = instruction.size().map_err(|size| size.to_string())?;
    let lanes = match (outcome.executing.count(), vector.warp.active.count()) {
        (0, _) => "no lane executes",
        (32, _) => "all lanes execute",
        (executing, active) if executing < active => "the guard keeps lanes off",
        _ => "not all lanes are active",
    };
    let mut kinds = vec![size.name(), lanes];
    kinds.extend(instruction.guard().negated.then_some("negated guard"));
    kinds.extend(outcome.warp_fault.map(|fault| fault.name()));
    kinds.extend(outcome.lane_faults.iter().map(|fault| fault.kind().name()));
    let all_load = outcome.executing.count() == 32
        && outcome.warp_fault.is_none()
        && outcome.lane_faults.is_empty();
    kinds.extend(all_load.then_some("all lanes load"));
    if machine.misaligned == Misaligned::Force {
        let lanes = warpload::load::LaneAddresses::new(instruction, machine, &vector.warp);
        let low_bits = u64::from(size.bytes()) - 1;
        let is_forced =
            outcome.executing.lanes().any(|lane| lanes.addresses.of(lane) & low_bits != 0);
        kinds.extend(is_forced.then_some("forced alignment"));
    }
    kinds.extend(outcome.uniform.map(|path| match path {
        UniformPath::Broadcast => "broadcast",
        UniformPath::Divergent => "divergent",
    }));
    let address = instruction.address();
    kinds.extend(address.extended.then_some("extended address"));
    let base = address.base;
    if base.is_zero() {
        kinds.push("no base");
    } else if base.number() >= machine.register_limit.get() {
        kinds.push("base at or above the limit");
    }
    kinds.extend(instruction.destination().is_zero().then_some("Rd = RZ"));
    if let MemorySpace::Constant { bank, .. } = instruction.space() {
        let is_there = machine.memory.constant_bytes(bank.get()).is_some();
        kinds.push(if is_there { "a bank" } else { "no such bank" });
    }
    let name = |kind| format!("{}: {kind}", instruction.mnemonic());
    Ok(kinds.into_iter().map(name).collect())
}
