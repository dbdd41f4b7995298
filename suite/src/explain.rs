//! Finds what failing cases have in common: a flag, an instruction, a size, SMs, or several of these together.
//! `Evidence` counts the cases of a family by these properties. The condition that best separates the failures from the
//! passing cases becomes a sentence.

use std::collections::{BTreeMap, BTreeSet};

use warpload_encoding::{Instruction, LoadSize, Size, Slot, Sm};

/// The subject of a case: an instruction with its size, and an SM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseSubject {
    /// The mnemonic; empty if it is no known load.
    instruction: &'static str,
    /// The size of the load, such as `U8`, `64`, `256` or `x4`; empty if it has no name.
    size: String,
    sm: u32,
}

impl CaseSubject {
    /// Creates the subject of a case about an instruction.
    #[must_use]
    pub fn new(instruction: &Instruction) -> Self {
        let size = match instruction.parts().size {
            // The text of an instruction leaves this size out.
            Ok(LoadSize::Lane(Size::B32)) => "32".to_owned(),
            Ok(LoadSize::Lane(size)) => size.name().to_owned(),
            Ok(LoadSize::Matrices { count, .. }) => format!("x{count}"),
            Ok(size) => (8 * size.bytes()).to_string(),
            // Loads that are text only have a size, too.
            Err(_) => {
                let name = instruction.modifier(Slot::Size).unwrap_or_default();
                let known = Size::ALL.iter().find(|size| size.name() == name);
                known.map_or_else(String::new, |size| size.name().to_owned())
            }
        };
        Self { instruction: instruction.mnemonic(), size, sm: instruction.sm().number() }
    }

    /// Creates the subject of a case about a word or a text that is no known load.
    #[must_use]
    pub fn of_sm(sm: Sm) -> Self {
        Self { instruction: "", size: String::new(), sm: sm.number() }
    }

    /// The instructions and sizes of the groups of cases that the case is in; empty for any.
    fn groups(&self) -> BTreeSet<(&str, &str)> {
        let Self { instruction, size, .. } = self;
        [("", ""), (instruction, ""), ("", size), (instruction, size)].into()
    }
}

/// The number of cases that passed and that failed.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    passed: u64,
    failed: u64,
}

impl Split {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    fn sum(parts: &[(u32, Self)]) -> Self {
        let mut sum = Self::default();
        parts.iter().for_each(|(_, part)| sum.add(*part));
        sum
    }
}

/// The judged cases of a family, counted by the properties that they can have in common.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// By flag, empty for all cases, and subject.
    cells: BTreeMap<String, BTreeMap<Option<CaseSubject>, Split>>,
    count: usize,
}

/// The most pairs of a flag and a subject that are counted. A suite of all SMs has a tenth of it.
const MAX_CELLS: usize = 1 << 18;

/// Rates how well a group of cases explains the failures, by the F1 score: the harmonic mean of precision, the share of
/// its cases that fail, and recall, the share of the failures that are in it. 1 means that exactly the cases of the
/// group fail. A group of all cases has a low score, and so has a group of a single failure.
pub(crate) fn explains(passed: u64, failed: u64, failures: u64) -> f64 {
    if failed == 0 { 0.0 } else { 2.0 * failed as f64 / (passed + failed + failures) as f64 }
}

/// The penalty on the score of a condition for each part after the first, which that part has to outweigh. This value
/// names the mutants of the tests best.
const COST: f64 = 0.12;
/// The bonus for a condition under which no case passes.
const CERTAIN: f64 = 0.1;
/// The least score that is worth a sentence.
const MIN_SCORE: f64 = 0.3;

/// Flags that say a size, in words.
const SIZES: [(&str, &str); 7] = [
    ("byte", "of 8 bits"),
    ("halfword", "of 16 bits"),
    ("word", "of 32 bits"),
    ("multiple", "of 64 bits or more"),
    ("pair", "into two registers"),
    ("quad", "into four registers"),
    ("octet", "into eight registers"),
];

fn size_in_words(flag: &str) -> Option<&'static str> {
    SIZES.iter().find(|(name, _)| *name == flag).map(|(_, words)| *words)
}

/// A condition, with its cases.
struct Condition<'e> {
    /// Empty for any, and so are the instruction and the size.
    flag: &'e str,
    instruction: &'e str,
    size: &'e str,
    sms: Sms,
    cases: Split,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sms {
    All,
    Since(u32),
    Before(u32),
    One(u32),
}

impl Sms {
    /// All ranges of SMs, with their cases.
    fn ranges(by_sm: &[(u32, Split)]) -> Vec<(Self, Split)> {
        let mut ranges = vec![(Self::All, Split::sum(by_sm))];
        for (i, (sm, split)) in by_sm.iter().enumerate() {
            ranges.push((Self::One(*sm), *split));
            if i > 0 {
                let (before, since) = by_sm.split_at(i);
                ranges.push((Self::Before(*sm), Split::sum(before)));
                ranges.push((Self::Since(*sm), Split::sum(since)));
            }
        }
        ranges
    }

    fn contains(self, sm: u32) -> bool {
        match self {
            Self::All => true,
            Self::Since(first) => sm >= first,
            Self::Before(end) => sm < end,
            Self::One(only) => sm == only,
        }
    }
}

impl Evidence {
    pub(crate) fn add<'f>(
        &mut self,
        flags: impl Iterator<Item = &'f String>,
        subject: Option<&CaseSubject>,
        has_passed: bool,
    ) {
        let split = Split { passed: has_passed.into(), failed: (!has_passed).into() };
        let flags: BTreeSet<&str> = flags.map(String::as_str).chain([""]).collect();
        for flag in flags {
            let known = self.cells.get_mut(flag);
            if let Some(cell) = known.and_then(|cells| cells.get_mut(&subject.cloned())) {
                cell.add(split);
            } else if self.count < MAX_CELLS {
                let cells = self.cells.entry(flag.to_owned()).or_default();
                cells.insert(subject.cloned(), split);
                self.count += 1;
            }
        }
    }

    /// Returns the sentence about the condition that explains the failures best.
    pub(crate) fn sentence(&self) -> Option<String> {
        let all: Vec<(u32, Split)> =
            self.cells.get("")?.values().map(|split| (0, *split)).collect();
        let all = Split::sum(&all);
        let of_all = explains(all.passed, all.failed, all.failed);
        let mut best: Option<(f64, Condition<'_>)> = None;
        for (flag, cells) in &self.cells {
            let mut groups: BTreeMap<(&str, &str), BTreeMap<u32, Split>> = BTreeMap::new();
            for (subject, split) in cells {
                let of = subject.as_ref().map_or([("", "")].into(), CaseSubject::groups);
                let sm = subject.as_ref().map_or(0, |subject| subject.sm);
                for group in of {
                    groups.entry(group).or_default().entry(sm).or_default().add(*split);
                }
            }
            for ((instruction, size), by_sm) in groups {
                let by_sm: Vec<(u32, Split)> = by_sm.into_iter().collect();
                for (sms, cases) in Sms::ranges(&by_sm) {
                    let one = Condition { flag, instruction, size, sms, cases };
                    let score = one.score(all.failed);
                    // A condition must explain more than "is a case of the family", or be certain.
                    let is_telling = cases.passed == 0 || score > of_all;
                    // The first of equals stays: the one with fewer parts.
                    if is_telling && score >= MIN_SCORE && best.as_ref().is_none_or(|b| score > b.0)
                    {
                        best = Some((score, one));
                    }
                }
            }
        }
        best.map(|(_, condition)| condition.sentence(self.cells.get(condition.flag), all.failed))
    }
}

impl Condition<'_> {
    fn score(&self, failures: u64) -> f64 {
        let Self { flag, instruction, size, sms, cases } = *self;
        let parts =
            [!flag.is_empty(), !instruction.is_empty() || !size.is_empty(), sms != Sms::All];
        let parts = parts.into_iter().filter(|is_there| *is_there).count();
        let is_twice = size_in_words(flag).is_some() && !size.is_empty();
        if parts == 0 || is_twice || cases.failed == 0 {
            return 0.0;
        }
        let certain = if cases.passed == 0 { CERTAIN } else { 0.0 };
        explains(cases.passed, cases.failed, failures) - COST * (parts - 1) as f64 + certain
    }

    /// The sentence names the instruction and the SM of the failures even if others have no cases.
    fn sentence(
        &self,
        cells: Option<&BTreeMap<Option<CaseSubject>, Split>>,
        failures: u64,
    ) -> String {
        let Self { flag, instruction, size, sms, cases } = self;
        let is_in = |subject: &&CaseSubject| {
            subject.groups().contains(&(*instruction, *size)) && sms.contains(subject.sm)
        };
        let failing = cells.into_iter().flatten().filter(|(_, split)| split.failed > 0);
        let failing: Vec<&CaseSubject> =
            failing.filter_map(|(subject, _)| subject.as_ref()).filter(is_in).collect();
        let names: BTreeSet<String> = failing
            .iter()
            .filter(|subject| !subject.instruction.is_empty())
            .map(|subject| format!("`{}`", subject.instruction))
            .collect();
        let mut text = match names.len() {
            0 => "cases".to_owned(),
            1..=3 => Vec::from_iter(names.iter().map(String::as_str)).join(", "),
            _ => "loads".to_owned(),
        };
        let of_size = match (size.strip_prefix('x'), size.parse::<u32>()) {
            _ if size.is_empty() => size_in_words(flag).unwrap_or("").to_owned(),
            (Some(count), _) => format!("of {count} matrices"),
            (_, Ok(bits)) => format!("of {bits} bits"),
            _ => format!("of size {size}"),
        };
        let known: BTreeSet<u32> = failing.iter().map(|subject| subject.sm).collect();
        let of_sms = match (sms, known.first()) {
            (Sms::Since(first), _) => format!("from sm_{first} on"),
            (Sms::Before(end), _) => format!("before sm_{end}"),
            (Sms::One(sm), _) => format!("of sm_{sm}"),
            (Sms::All, Some(sm)) if known.len() == 1 => format!("of sm_{sm}"),
            _ => String::new(),
        };
        for part in [of_size, of_sms].iter().filter(|part| !part.is_empty()) {
            text += &format!(" {part}");
        }
        text += if names.len() == 1 { " fails" } else { " fail" };
        if !flag.is_empty() && size_in_words(flag).is_none() {
            text += &format!(" where the flag `{flag}` is shown");
        }
        let (failed, all) = (cases.failed, cases.passed + cases.failed);
        text += &format!(": {failed} of {all}");
        match failures.saturating_sub(failed) {
            0 => text,
            1 => text + "; 1 other failure",
            others => text + &format!("; {others} other failures"),
        }
    }
}
