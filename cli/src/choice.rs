//! [`Choice`]: the options that choose which loads a replay counts.

use std::ops::RangeInclusive;

use clap::ValueEnum;
use warpload::memory::Space;
use warpload_replay::{Replayed, Selected, Selection};
use warpload_trace::{BinaryTrace, OperationKind, TraceContents};

use super::demangled::Demangled;
use super::glob::Glob;
use super::name::visible;
use super::name_pattern::{NamePattern, nearest_in_words};

/// Which loads are counted. What is not a load is counted whatever these say.
#[derive(clap::Args)]
#[command(next_help_heading = "Which loads are counted")]
pub(crate) struct Choice {
    /// Those of kernels whose name, mangled or demangled, has this part or a match of this regular expression
    #[arg(long, value_name = "NAME|REGEX")]
    kernel: Option<NamePattern>,

    /// Those at a program counter, or from one to another, in hexadecimal; both included
    #[arg(long, value_name = "LO[..HI]", value_parser = read_pcs)]
    pc: Option<Pcs>,

    /// Those whose whole opcode matches: `LDG.*`, `LD?.E`, `*.{64,128}`
    #[arg(long, value_name = "GLOB", value_parser = Glob::new)]
    opcode: Option<Glob>,

    /// Those whose first executing lane is in that memory
    #[arg(long, value_enum, value_name = "NAME")]
    space: Option<SpaceName>,
}

#[derive(Clone)]
struct Pcs {
    text: String,
    range: RangeInclusive<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SpaceName {
    Global,
    Local,
    Shared,
    Constant,
    /// No lane executes, or the first one's address is in no memory
    Unresolved,
}

fn read_pcs(text: &str) -> Result<Pcs, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    hexadecimal(first)
        .zip(hexadecimal(last))
        .filter(|(first, last)| first <= last)
        .map(|(first, last)| Pcs { text: text.to_owned(), range: first..=last })
        .ok_or_else(|| "expected LO or LO..HI of up to 8 hexadecimal digits, as in 1a0..2f0".into())
}

fn hexadecimal(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // `from_str_radix` alone takes a sign.
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

impl SpaceName {
    fn space(self) -> Option<Space> {
        match self {
            Self::Global => Some(Space::Global),
            Self::Local => Some(Space::Local),
            Self::Shared => Some(Space::Shared),
            Self::Constant => Some(Space::Constant { bank: 0 }),
            Self::Unresolved => None,
        }
    }
}

impl Choice {
    /// Returns the selection in words; `None` if all loads are counted.
    pub(crate) fn selected(&self) -> Option<Selected> {
        let Self { kernel, pc, opcode, space } = self;
        let selected = Selected {
            kernel: kernel.as_ref().map(|kernel| kernel.as_str().to_owned()),
            pc: pc.as_ref().map(|pc| pc.text.clone()),
            opcode: opcode.as_ref().map(|opcode| opcode.text().to_owned()),
            space: space.and_then(|space| Some(space.to_possible_value()?.get_name().to_owned())),
        };
        (selected != Selected::default()).then_some(selected)
    }

    /// Returns the options that are given, with their values.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&'static str, String)> {
        let Selected { kernel, pc, opcode, space } = self.selected().unwrap_or_default();
        let options = [("kernel", kernel), ("pc", pc), ("opcode", opcode), ("space", space)];
        options.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns the selection among the loads of a trace; `None` if all are counted.
    pub(crate) fn selection(
        &self,
        contents: &TraceContents,
        demangled: &Demangled,
    ) -> Option<Selection> {
        let selected = self.selected()?;
        let Self { kernel, pc, opcode, space } = self;
        let is_named = |kernel: &NamePattern, name: &str| {
            kernel.matches(name, demangled.get(name).map(|form| &**form))
        };
        Some(Selection {
            kernels: kernel.as_ref().map(|kernel| {
                contents.kernels.iter().map(|launch| is_named(kernel, &launch.name)).collect()
            }),
            operations: opcode.as_ref().map(|opcode| {
                let operations = contents.operations.iter();
                operations.map(|operation| opcode.is_match(&operation.opcode)).collect()
            }),
            pcs: pc.as_ref().map(|pc| pc.range.clone()),
            space: space.map(SpaceName::space),
            selected,
        })
    }
}

/// A selection that has no load: most likely one of its options is misspelt.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NothingSelected(String);

/// Returns why a replay that counted no load had none to select; `None` if it says what was asked: that none
/// is in a memory, or that a shard has none of them.
pub(crate) fn nothing(
    selection: &Selection,
    replayed: &Replayed<'_>,
    demangled: &Demangled,
) -> Option<NothingSelected> {
    let trace = replayed.trace();
    let contents = trace.contents();
    let is_shard = replayed.options().get_shard().is_some();
    // Of a shard of a set, not all are known.
    let has_all_kernels = contents.kernels.len() == trace.kernels();
    let Selected { kernel, pc, opcode, .. } = &selection.selected;
    if let (Some(kernel), Some(flags), true) = (kernel, &selection.kernels, has_all_kernels)
        && !flags.contains(&true)
    {
        let names = contents.kernels.iter();
        let names = names.map(|kernel| demangled.or_name(&kernel.name).to_owned());
        let message = format!("no kernel has a name that `--kernel {}` matches", visible(kernel));
        return Some(NothingSelected(message + &nearest_in_words(kernel, names)));
    }
    let loads =
        contents.operations.iter().filter(|operation| operation.kind == OperationKind::Load);
    let is_chosen = |number: usize| {
        let flags = selection.operations.as_ref();
        flags.is_none_or(|flags| flags.get(number).copied().unwrap_or(false))
    };
    let has_opcode = contents.operations.iter().enumerate();
    let mut has_opcode = has_opcode.filter(|(_, operation)| operation.kind == OperationKind::Load);
    if let (Some(opcode), true) = (opcode, has_all_kernels)
        && !has_opcode.any(|(number, _)| is_chosen(number))
    {
        let opcodes = loads.map(|operation| operation.opcode.to_string());
        let message = format!("no load has an opcode that `--opcode {}` matches", visible(opcode));
        return Some(NothingSelected(message + &nearest_in_words(opcode, opcodes)));
    }
    if is_shard {
        return None;
    }
    let found = Counters::find(selection, trace);
    if found.has_selected {
        return None;
    }
    let pc = pc.as_ref().filter(|_| found.before.is_some() || found.after.is_some());
    Some(NothingSelected(match pc {
        Some(pc) => {
            let near: Vec<String> =
                [found.before, found.after].iter().flatten().map(|pc| format!("{pc:#x}")).collect();
            let near = near.join(" and ");
            format!("no load is at `--pc {pc}`, in hexadecimal; the nearest are at {near}")
        }
        None => "no load is selected: none has all that the options ask for".to_owned(),
    }))
}

/// The program counters of the loads that all options select but `--pc` and `--space`.
#[derive(Default)]
struct Counters {
    /// Whether `--pc` selects one of them.
    has_selected: bool,
    /// The nearest ones.
    before: Option<u32>,
    after: Option<u32>,
}

impl Counters {
    fn find(selection: &Selection, trace: &BinaryTrace) -> Self {
        let allows = |list: &Option<Vec<bool>>, i: usize| {
            list.as_ref().is_none_or(|list| list.get(i).copied().unwrap_or(false))
        };
        let mut found = Self::default();
        let of_kernels =
            trace.blocks().iter().filter(|raw| allows(&selection.kernels, raw.kernel as usize));
        // All blocks have been replayed.
        for block in of_kernels.filter_map(|raw| trace.block(raw).ok()) {
            let records =
                (0..block.raw().memory_records as usize).filter_map(|i| block.record(i).ok());
            for record in records {
                let operation = usize::from(record.operation);
                if record.operation().kind == OperationKind::Load
                    && allows(&selection.operations, operation)
                {
                    found.add(record.pc, selection);
                }
            }
        }
        found
    }

    fn add(&mut self, pc: u32, selection: &Selection) {
        let pcs = selection.pcs.clone().unwrap_or(0..=u32::MAX);
        if pc < *pcs.start() {
            self.before = self.before.max(Some(pc));
        } else if pc > *pcs.end() {
            self.after = Some(self.after.map_or(pc, |after| after.min(pc)));
        } else {
            self.has_selected = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_counters_are_hexadecimal() {
        let range = |text| read_pcs(text).ok().map(|pcs| pcs.range);
        assert_eq!(range("10"), Some(0x10..=0x10));
        assert_eq!(range("0x1a0..0X2f0"), Some(0x1a0..=0x2f0));
        assert_eq!(range("0..ffffffff"), Some(0..=u32::MAX));
        for text in ["", "..", "10..", "..10", "20..10", "+1", "0x", "g", "100000000", "1..2..3"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
