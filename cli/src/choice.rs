//! [`Choice`]: the options that choose which loads a replay counts.

use std::ops::RangeInclusive;

use clap::ValueEnum;
use regex::Regex;
use warpload::memory::Space;
use warpload::trace::{BinaryTrace, Contents, Kind, Selected, Selection};

use super::demangled::Demangled;
use super::glob::Glob;

/// Which loads are counted. What is not a load is counted whatever these say.
#[derive(clap::Args)]
#[command(next_help_heading = "Which loads are counted")]
pub(crate) struct Choice {
    /// Those of kernels whose name, mangled or demangled, has a match of the regular expression
    #[arg(long, value_name = "REGEX")]
    kernel: Option<Regex>,

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
            Self::Constant => Some(Space::Constant),
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
        contents: &Contents,
        demangled: &Demangled,
    ) -> Option<Selection> {
        let selected = self.selected()?;
        let Self { kernel, pc, opcode, space } = self;
        let is_named = |kernel: &Regex, name: &str| {
            kernel.is_match(name)
                || demangled.get(name).is_some_and(|demangled| kernel.is_match(demangled))
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

/// Says why a selection has no load.
pub(crate) fn nothing(selection: &Selection, trace: &BinaryTrace) -> String {
    let contents = trace.contents();
    // Of a shard of a set, not all are known.
    let has_all_kernels = contents.kernels.len() == trace.kernels();
    let Selected { kernel, opcode, .. } = &selection.selected;
    let loads = |number: usize| contents.operations[number].kind == Kind::Load;
    let has_none = |flags: &Option<Vec<bool>>, counts: &dyn Fn(usize) -> bool| {
        flags.as_ref().is_some_and(|flags| {
            !flags.iter().enumerate().any(|(number, is_chosen)| *is_chosen && counts(number))
        })
    };
    match (kernel, opcode) {
        (Some(kernel), _) if has_all_kernels && has_none(&selection.kernels, &|_| true) => {
            format!("no kernel has a name that `--kernel {kernel}` matches")
        }
        (_, Some(opcode)) if has_none(&selection.operations, &loads) => {
            format!("no load has an opcode that `--opcode {opcode}` matches")
        }
        _ => "no load is selected".to_owned(),
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
