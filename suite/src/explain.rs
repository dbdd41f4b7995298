//! Finds what failing cases have in common: a flag, an instruction with its size, SMs, or several of these together.
//! `Evidence` counts the cases of a family by these properties. The condition that best separates the failures from the
//! passing cases becomes a sentence. The next sentence explains the remaining failures.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use warpload_encoding::{Instruction, LoadSize, Size, Sm};

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
            Err(_) => String::new(),
        };
        Self { instruction: instruction.mnemonic(), size, sm: instruction.sm().number() }
    }

    /// Creates the subject of a case about a word or a text that is no known load.
    #[must_use]
    pub fn of_sm(sm: Sm) -> Self {
        Self { instruction: "", size: String::new(), sm: sm.number() }
    }

    /// The names of the groups of the case: all cases (an empty name), the instruction, the size, and both.
    fn groups(&self) -> impl Iterator<Item = String> + use<'_> {
        let Self { instruction, size, .. } = self;
        let named = (!instruction.is_empty()).then(|| (*instruction).to_owned());
        let sized =
            (!size.is_empty()).then(|| [format!(".{size}"), format!("{instruction}.{size}")]);
        std::iter::once(String::new()).chain(named).chain(sized.into_iter().flatten())
    }
}

/// The number of cases that passed and that failed.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    passed: u64,
    failed: u64,
}

impl Split {
    fn of(has_passed: bool) -> Self {
        Self { passed: has_passed.into(), failed: (!has_passed).into() }
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The judged cases of a family, counted by the properties that they can have in common.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    flags: BTreeMap<String, u32>,
    subjects: BTreeMap<Option<CaseSubject>, u32>,
    groups: BTreeMap<String, u32>,
    /// The groups and the SM of each subject, by its number. The SM is 0 for cases without a subject.
    members: Vec<(Vec<u32>, u32)>,
    /// The cases by flag, or [`ANY_FLAG`], and subject, both by number.
    cells: BTreeMap<(u32, u32), Split>,
    /// The first failures, each with its flags and its subject.
    failures: Vec<(Vec<u32>, u32)>,
    all: Split,
}

/// Stands for all cases, whatever their flags.
const ANY_FLAG: u32 = u32::MAX;
/// The number of failures that are kept one by one, because a later sentence needs the failures that earlier ones do
/// not explain.
const MAX_FAILURES: usize = 1 << 12;
/// The most pairs of a flag and a subject that are counted. A suite of all SMs has a tenth of it.
const MAX_CELLS: usize = 1 << 18;

/// Rates how well a group of cases explains the failures, by the F1 score: the harmonic mean of precision, the share of
/// its cases that fail, and recall, the share of the failures that are in it. 1 means that exactly the cases of the
/// group fail. A group of all cases has a low score, and so has a group of a single failure.
pub(crate) fn explains(passed: u64, failed: u64, failures: u64) -> f64 {
    score(Split { passed, failed }, failed, failures)
}

/// The score for explaining only some of the failures: `failures` in number, `of_them` among the cases of the group.
fn score(cases: Split, of_them: u64, failures: u64) -> f64 {
    let [failed, run, of_them, failures] =
        [cases.failed, cases.passed + cases.failed, of_them, failures].map(|count| count as f64);
    // The harmonic mean of failed / run and of_them / failures.
    if of_them == 0.0 { 0.0 } else { 2.0 * failed * of_them / (failed * failures + of_them * run) }
}

/// Penalties on the score of a condition, which its parts have to outweigh: for a range of SMs or a second part, for
/// parts of different kinds (a flag beside instructions or SMs), and for a range of SMs with all of the failures. These
/// values name the mutants of the tests best.
const COST: f64 = 0.05;
const COST_OF_KIND: f64 = 0.05;
const COST_OF_ALL: f64 = 0.01;
/// The bonus for a condition under which no case passes.
const CERTAIN: f64 = 0.1;
/// The least score that is worth a sentence.
const MIN_SCORE: f64 = 0.3;
/// The most sentences about a family.
const MAX_SENTENCES: usize = 3;

/// Cases by the numbers of a flag and of a group, then by SM.
type Groups = BTreeMap<(u32, u32), BTreeMap<u32, Split>>;

impl Evidence {
    pub(crate) fn add<'f>(
        &mut self,
        flags: impl Iterator<Item = &'f String>,
        subject: Option<&CaseSubject>,
        has_passed: bool,
    ) {
        let split = Split::of(has_passed);
        self.all.add(split);
        let subject = self.subject(subject);
        let numbers: BTreeSet<u32> = flags.map(|flag| number_of(&mut self.flags, flag)).collect();
        for flag in numbers.iter().copied().chain([ANY_FLAG]) {
            let is_full = self.cells.len() >= MAX_CELLS;
            match self.cells.get_mut(&(flag, subject)) {
                Some(cell) => cell.add(split),
                None if is_full => {}
                None => {
                    self.cells.insert((flag, subject), split);
                }
            }
        }
        if !has_passed && self.failures.len() < MAX_FAILURES {
            self.failures.push((numbers.into_iter().collect(), subject));
        }
    }

    fn subject(&mut self, subject: Option<&CaseSubject>) -> u32 {
        let number = number_of(&mut self.subjects, &subject.cloned());
        if number as usize == self.members.len() {
            let groups: Vec<String> =
                subject.map_or_else(|| vec![String::new()], |one| one.groups().collect());
            let groups = groups.iter().map(|group| number_of(&mut self.groups, group)).collect();
            self.members.push((groups, subject.map_or(0, |subject| subject.sm)));
        }
        number
    }

    /// One sentence for each condition that explains failures not explained before. Each flag is named once.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let names = Names {
            flags: self.flags.iter().map(|(flag, number)| (*number, &**flag)).collect(),
            groups: self.groups.iter().map(|(group, number)| (*number, &**group)).collect(),
        };
        let mut all = Groups::new();
        for ((flag, subject), split) in &self.cells {
            self.add_to(&mut all, *flag, *subject, *split);
        }
        let mut rest: Vec<&(Vec<u32>, u32)> = self.failures.iter().collect();
        let (mut sentences, mut named) = (Vec::new(), BTreeSet::new());
        while sentences.len() < MAX_SENTENCES && !rest.is_empty() {
            let mut failing = Groups::new();
            for (flags, subject) in rest.iter().copied() {
                for flag in flags.iter().copied().chain([ANY_FLAG]) {
                    self.add_to(&mut failing, flag, *subject, Split::of(false));
                }
            }
            let of_all = score(self.all, rest.len() as u64, rest.len() as u64);
            let unnamed = failing.iter().filter(|((flag, _), _)| !named.contains(flag));
            let best = unnamed
                .flat_map(|(key, failing)| {
                    let is_any = names.groups.get(&key.1).is_none_or(|group| group.is_empty());
                    candidates(&all, *key, is_any, failing, rest.len() as u64)
                })
                // A condition must explain more than "is a case of the family", or be certain.
                .filter(|one| one.cases.passed == 0 || one.score > of_all)
                .max_by(|one, other| one.compare(other, &names));
            let Some(best) = best.filter(|best| best.score >= MIN_SCORE) else { break };
            sentences.push(best.sentence(self.all.failed, &names));
            rest.retain(|(flags, subject)| {
                let (groups, sm) = self.members(*subject);
                let has_flag = best.flag == ANY_FLAG || flags.contains(&best.flag);
                !(has_flag && groups.contains(&best.group) && best.sms.contains(sm))
            });
            if best.flag != ANY_FLAG {
                named.insert(best.flag);
            }
        }
        sentences
    }

    fn members(&self, subject: u32) -> (&[u32], u32) {
        self.members.get(subject as usize).map_or((&[], 0), |(groups, sm)| (groups, *sm))
    }

    fn add_to(&self, to: &mut Groups, flag: u32, subject: u32, split: Split) {
        let (groups, sm) = self.members(subject);
        for group in groups {
            to.entry((flag, *group)).or_default().entry(sm).or_default().add(split);
        }
    }
}

/// The number of a key. New keys get the next one.
fn number_of<K: Ord + Clone>(numbers: &mut BTreeMap<K, u32>, key: &K) -> u32 {
    let next = numbers.len() as u32;
    match numbers.get(key) {
        Some(number) => *number,
        None => *numbers.entry(key.clone()).or_insert(next),
    }
}

/// The names of flags and groups by their numbers.
struct Names<'e> {
    flags: BTreeMap<u32, &'e str>,
    groups: BTreeMap<u32, &'e str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sms {
    All,
    Since(u32),
    Before(u32),
    One(u32),
}

impl Sms {
    fn contains(self, sm: u32) -> bool {
        match self {
            Self::All => true,
            Self::Since(first) => sm >= first,
            Self::Before(end) => sm < end,
            Self::One(only) => sm == only,
        }
    }
}

/// A condition, and how well it separates failures from passing cases.
struct Candidate {
    /// The flag, or [`ANY_FLAG`].
    flag: u32,
    /// The number of a group: a mnemonic, a size after a point, or both; the empty name for all cases.
    group: u32,
    sms: Sms,
    cases: Split,
    score: f64,
}

/// Cases, and the number of failures among them that are to be explained.
#[derive(Clone, Copy, Default)]
struct Part {
    cases: Split,
    of_them: u64,
}

/// The conditions of one flag and group: on all SMs, before an SM, from an SM on, and on one SM.
fn candidates<'e>(
    all: &'e Groups,
    key: (u32, u32),
    is_any: bool,
    failing: &'e BTreeMap<u32, Split>,
    failures: u64,
) -> impl Iterator<Item = Candidate> + use<'e> {
    let sum = |one: Part, other: Part| Part {
        cases: Split {
            passed: one.cases.passed + other.cases.passed,
            failed: one.cases.failed + other.cases.failed,
        },
        of_them: one.of_them + other.of_them,
    };
    let known = all.get(&key).into_iter().flatten();
    let parts: Vec<(u32, Part)> = known
        .map(|(sm, cases)| {
            let of_them = failing.get(sm).map_or(0, |split| split.failed);
            (*sm, Part { cases: *cases, of_them })
        })
        .collect();
    let total = parts.iter().fold(Part::default(), |total, (_, part)| sum(total, *part));
    let mut ranges = vec![(Sms::All, total)];
    let mut before = Part::default();
    for (i, (sm, part)) in parts.iter().enumerate() {
        if i > 0 {
            let since =
                parts[i..].iter().fold(Part::default(), |since, (_, part)| sum(since, *part));
            ranges.extend([(Sms::Before(*sm), before), (Sms::Since(*sm), since)]);
        }
        ranges.push((Sms::One(*sm), *part));
        before = sum(before, *part);
    }
    ranges.into_iter().filter(|(_, part)| part.of_them > 0).filter_map(move |(sms, part)| {
        let Part { cases, of_them } = part;
        let has_flag = key.0 != ANY_FLAG;
        // All cases fulfil this one, so it explains no failure.
        if !has_flag && is_any && sms == Sms::All {
            return None;
        }
        // A range of SMs that covers all failures costs less, because it was not chosen to leave failures out.
        let of_sms = match sms {
            Sms::All => 0.0,
            _ if of_them == total.of_them => COST_OF_ALL,
            _ => COST,
        };
        let of_both = if has_flag && !is_any { COST } else { 0.0 };
        let of_kinds = if has_flag && !(is_any && sms == Sms::All) { COST_OF_KIND } else { 0.0 };
        let certain = if cases.passed == 0 { CERTAIN } else { 0.0 };
        let score = score(cases, of_them, failures) - of_sms - of_both - of_kinds + certain;
        Some(Candidate { flag: key.0, group: key.1, sms, cases, score })
    })
}

impl Candidate {
    /// Orders by score. Ties are resolved by text, so that the result is stable: a mnemonic wins, then a size, then the
    /// text that sorts first.
    fn compare(&self, other: &Self, names: &Names<'_>) -> Ordering {
        let key = |one: &Self| {
            let group = names.groups.get(&one.group).copied().unwrap_or_default();
            (group.starts_with('.'), !group.contains('.'), one.text(false, names))
        };
        self.score.total_cmp(&other.score).then_with(|| key(other).cmp(&key(self)))
    }

    /// The condition in words: "`misaligned` cases of LDS.64 on SM 75".
    fn text(&self, is_one: bool, names: &Names<'_>) -> String {
        let cases = match (is_one, names.flags.get(&self.flag)) {
            (true, Some(flag)) => format!("a `{flag}` case"),
            (true, None) => "a case".to_owned(),
            (false, Some(flag)) => format!("`{flag}` cases"),
            (false, None) => "cases".to_owned(),
        };
        let group = names.groups.get(&self.group).copied().unwrap_or_default();
        let loads = if group.starts_with('.') { " loads" } else { "" };
        let of = match group {
            "" => cases,
            group if self.flag == ANY_FLAG => format!("{group}{loads}"),
            group => format!("{cases} of {group}{loads}"),
        };
        match self.sms {
            Sms::All => of,
            Sms::Since(first) => format!("{of} on SM {first} and later"),
            Sms::Before(end) => format!("{of} before SM {end}"),
            Sms::One(only) => format!("{of} on SM {only}"),
        }
    }

    /// The sentence: the share of failures that fulfil the condition, and the number of passing cases that do.
    fn sentence(&self, failures: u64, names: &Names<'_>) -> String {
        let Split { passed, failed } = self.cases;
        let text = self.text(failed == 1, names);
        let which = match (failed, failures) {
            (1, 1) => format!("the only failure is {text}"),
            (1, _) => format!("1 of {failures} failures is {text}"),
            _ if failed == failures => format!("all {failures} failures are {text}"),
            _ => format!("{failed} of {failures} failures are {text}"),
        };
        match passed {
            0 => format!("{which}, and no such case passes"),
            1 => format!("{which}, and 1 such case passes"),
            _ => format!("{which}, and {passed} such cases pass"),
        }
    }
}
