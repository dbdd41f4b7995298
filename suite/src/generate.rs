//! [`Generator`]: fresh vectors, any number of them. Draws are random but aim at flags, so that a few hundred vectors
//! cover every flag of an instruction, and a few thousand cover every pair of flags that can occur together.
//! Expectations and flags come from the literal executor alone, never from the recipe that aimed at them. [`Coverage`]
//! counts the vectors that show each flag, and the pairs of flags.

use std::fmt::Write as _;
use std::sync::OnceLock;

use warpload::load::{Outcome, execute as fast, reference};
use warpload::warp::Warp;
use warpload_encoding::{Instruction, LoadSize, Sm};

use super::draft::{Draft, Drawn, Ending, Family, State};
use super::flags::{self, Flag, FlagSet, flags_of};
use super::json::sources::Files;
use super::random::Random;
use super::vector::Vector;

/// A minimum of cases in a set of vectors.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// The flag that each of them shows.
    pub flag: &'static Flag,
    /// The size that each of them loads; `None` for any.
    pub size: Option<LoadSize>,
    /// The least number of cases.
    pub cases: u64,
}

impl Quota {
    /// Returns whether a vector with these flags counts for this quota.
    #[must_use]
    pub fn counts(&self, instruction: &Instruction, flags: FlagSet) -> bool {
        let is_size = self.size.is_none_or(|size| instruction.parts().size == Ok(size));
        is_size && flags.iter().any(|flag| flag.name == self.flag.name)
    }
}

/// The least number of cases in a set for each flag that the instruction can show.
const CASES_OF_FLAG: u64 = 2;

/// Flags with a case for each size, because an emulator can get these wrong for one size alone. The first one is asked
/// of [every SM](Generator::quotas_of_values).
const FLAGS_OF_SIZES: [&str; 7] = [
    "distinct-words",
    "first-access",
    "last-access",
    "misaligned-first",
    "misaligned-last",
    "just-after",
    "crosses-allocation",
];

/// Candidates drawn per case. The one that shows the most of the case's pairs is kept. Each row is the first pair that
/// a candidate aims at, and the number of pairs.
const DRAWS: [(usize, usize); 6] = [(0, 3), (1, 2), (2, 2), (0, 1), (1, 1), (2, 1)];

/// The most draws of a case with certain flags.
const MOST_DRAWS: u64 = 5_000;

/// Draws vectors of one instruction. Case N of a seed is always the same, on every platform, and does not depend on
/// earlier draws.
///
/// ```
/// use warpload::encoding::Sm;
/// use warpload_suite::generate::Generator;
///
/// let generator = Generator::new("LDG", Sm::SPA5, 7)?;
/// let case = generator.case(41)?;
/// assert!(case.line().starts_with(r#"{"id":"execute-ldg-seed7-0041","#));
/// assert_eq!(generator.case(41)?.line(), case.line());
/// # Ok::<(), warpload_suite::generate::GenerateError>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    family: Family,
    seed: u64,
    /// The flags that every case shows.
    wanted: FlagSet,
    /// The numbers of the flags that the instruction can show.
    possible: Vec<usize>,
    /// Computed when a case first aims at pairs.
    aims: OnceLock<Aims>,
}

/// One vector.
#[derive(Clone, Debug)]
pub struct Case {
    /// The id: its instruction, its SM unless that is the default, its seed unless that is 0, and its number.
    pub id: String,
    /// Its instruction.
    pub instruction: Instruction,
    /// The text of its instruction.
    pub name: String,
    /// The flags that it shows.
    pub flags: FlagSet,
    /// Whether its expectation depends on a point that no public source settles.
    pub is_decision: bool,
    /// The keys `instruction` and `initial` with their values, as JSON without braces.
    pub question: String,
    /// The value of `final`, as JSON.
    pub expected: String,
}

impl Case {
    /// Returns the vector as one line of JSON, without its end (docs/vectors.md).
    #[must_use]
    pub fn line(&self) -> String {
        let Self { id, name, flags, is_decision, question, expected, .. } = self;
        // Written without escapes: ids, texts of instructions and names of flags have no characters that need them.
        let flags: Vec<String> = flags.iter().map(|flag| format!("\"{}\"", flag.name)).collect();
        let flags = flags.join(",");
        let decision = if *is_decision { r#""decision":true,"# } else { "" };
        format!(
            r#"{{"id":"{id}","name":"{name}","flags":[{flags}],"source":"document",{decision}{question},"final":{expected}}}"#
        )
    }
}

/// The requirements on a draw.
#[derive(Clone, Copy, Default)]
struct Wanted {
    /// The flags that it must show.
    flags: FlagSet,
    size: Option<LoadSize>,
    /// Whether it aims at no pairs beyond these flags.
    is_alone: bool,
}

/// A draw that has been executed. Warps are boxed, because they are large and draws are moved often.
struct Executed {
    vector: Box<Vector>,
    state: State,
    after: Box<Warp>,
    outcome: Outcome,
    flags: FlagSet,
}

/// Returns the names of the instructions of an SM that have vectors.
pub fn instructions(sm: Sm) -> impl Iterator<Item = &'static str> {
    Family::mnemonics(sm)
}

/// Returns the first `count` vectors of an instruction and a seed, each as a line without its end.
///
/// # Errors
/// Returns [`GenerateError`] if the SM has no such instruction. The lines themselves are errors if the
/// executors differ.
pub fn lines(
    instruction: &str,
    sm: Sm,
    seed: u64,
    count: u64,
) -> Result<impl Iterator<Item = Result<String, GenerateError>>, GenerateError> {
    let generator = Generator::new(instruction, sm, seed)?;
    Ok((0..count).map(move |number| Ok(generator.case(number)?.line())))
}

impl Generator {
    /// Creates a generator of vectors of an instruction, named in either case.
    ///
    /// # Errors
    /// Returns [`GenerateError::UnknownInstruction`] if the SM has no such load that can be executed.
    pub fn new(instruction: &str, sm: Sm, seed: u64) -> Result<Self, GenerateError> {
        let unknown = || GenerateError::UnknownInstruction { name: instruction.to_owned(), sm };
        let family = Family::new(instruction, sm).ok_or_else(unknown)?;
        let possible =
            (0..flags::all().len()).filter(|number| are_possible(&family, &[*number])).collect();
        let wanted = FlagSet::default();
        Ok(Self { family, seed, wanted, possible, aims: OnceLock::new() })
    }

    /// Restricts the cases to vectors that show all of these flags.
    ///
    /// # Errors
    /// Returns [`GenerateError::NeverShown`] for a flag that the instruction cannot show.
    pub fn with_flags(mut self, wanted: &[&'static Flag]) -> Result<Self, GenerateError> {
        for flag in wanted {
            let number = self.possible.iter().find(|number| {
                flags::all().get(**number).is_some_and(|known| known.name == flag.name)
            });
            let (instruction, sm) = (self.family.mnemonic, self.family.sm);
            let never = GenerateError::NeverShown { instruction, sm, flag: flag.name };
            self.wanted.insert(*number.ok_or(never)?);
        }
        Ok(self)
    }

    /// Returns the name of the instruction.
    #[must_use]
    pub fn instruction(&self) -> &'static str {
        self.family.mnemonic
    }

    /// Returns an empty [`Coverage`] of the flags that the instruction can show.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        Coverage::new(&self.possible)
    }

    /// Returns the quotas of a set of vectors: some cases of each flag that the instruction can show, and one case of
    /// each size for some flags.
    pub fn quotas(&self) -> Vec<Quota> {
        let flags = self.possible.iter().filter_map(|number| flags::all().get(*number));
        let of_flags = flags.map(|flag| Quota { flag, size: None, cases: CASES_OF_FLAG });
        let of_sizes = FLAGS_OF_SIZES.iter().flat_map(|name| self.quotas_of_sizes(name));
        // Quotas of sizes come first, because their cases count for many flags too.
        of_sizes.chain(of_flags).collect()
    }

    /// Returns the quotas of every SM: one case for each size, with a different value in each word, so that a misplaced
    /// word shows.
    #[must_use]
    pub fn quotas_of_values(&self) -> Vec<Quota> {
        self.quotas_of_sizes(FLAGS_OF_SIZES[0])
    }

    fn quotas_of_sizes(&self, name: &str) -> Vec<Quota> {
        let mut sizes: Vec<LoadSize> = Vec::new();
        for form in &self.family.forms {
            if !sizes.contains(&form.size) {
                sizes.push(form.size);
            }
        }
        let Some(flag) = Flag::named(name) else { return Vec::new() };
        let quota = |size| {
            let mut draft = Draft::new(&self.family, Random::new(0, &[]))?;
            let is_possible = draft.keep(|form| form.size == size) && flag.apply(&mut draft);
            is_possible.then_some(Quota { flag, size: Some(size), cases: 1 })
        };
        sizes.into_iter().filter_map(quota).collect()
    }

    /// Draws a case.
    ///
    /// # Errors
    /// Returns [`GenerateError`] if no draw shows the required flags, or if the executors differ.
    pub fn case(&self, number: u64) -> Result<Case, GenerateError> {
        self.finish(number, self.draw(number, Wanted { flags: self.wanted, ..Wanted::default() })?)
    }

    /// Draws a case of a quota. It aims at no other flags.
    ///
    /// # Errors
    /// As [`Self::case`].
    pub fn case_of(&self, quota: &Quota, number: u64) -> Result<Case, GenerateError> {
        let mut flags = FlagSet::default();
        let number_of = flags::all().iter().position(|flag| flag.name == quota.flag.name);
        flags.insert(number_of.unwrap_or_default());
        self.finish(number, self.draw(number, Wanted { flags, size: quota.size, is_alone: true })?)
    }

    /// Draws a set of vectors: the first `count` cases, and more until the quotas are met.
    ///
    /// # Errors
    /// As [`Self::case`].
    pub fn set(&self, count: u64, quotas: &[Quota]) -> Result<Vec<Case>, GenerateError> {
        let mut cases: Vec<Case> =
            (0..count).map(|number| self.case(number)).collect::<Result<_, _>>()?;
        for quota in quotas {
            let counts = |case: &&Case| quota.counts(&case.instruction, case.flags);
            let held = cases.iter().filter(counts).count() as u64;
            for _ in held..quota.cases {
                // The number is new in the set, so the draws differ from all others.
                cases.push(self.case_of(quota, cases.len() as u64)?);
            }
        }
        Ok(cases)
    }

    fn finish(&self, number: u64, drawn: Executed) -> Result<Case, GenerateError> {
        let id = self.id(number);
        let Vector { instruction, machine, warp, .. } = &*drawn.vector;
        let mut after = Box::new(warp.clone());
        let outcome = fast(instruction, machine, &mut after);
        if outcome.as_ref() != Ok(&drawn.outcome) || after != drawn.after {
            return Err(GenerateError::ExecutorsDiffer { id });
        }
        let observed = serde_json::to_string(&drawn.vector.observed(&drawn.after, &drawn.outcome));
        let initial = serde_json::to_string(&drawn.state.initial());
        let json = |json: serde_json::Result<String>| {
            json.map_err(|error| GenerateError::Json(error.to_string()))
        };
        let (word, initial) = (instruction.word(), json(initial)?);
        let question = format!(r#""instruction":"{word:#}","initial":{initial}"#);
        Ok(Case {
            id,
            instruction: *instruction,
            name: instruction.text().to_string(),
            flags: drawn.flags,
            is_decision: drawn.flags.is_decision(self.family.sm.has_wide_words()),
            question,
            expected: json(observed)?,
        })
    }

    fn id(&self, number: u64) -> String {
        let mut id = format!("execute-{}", self.family.mnemonic.to_ascii_lowercase());
        // The results are dropped, because writing to a string does not fail.
        if self.family.sm != Sm::SPA5 {
            let _ = write!(id, "-sm{}", self.family.sm);
        }
        if self.seed != 0 {
            let _ = write!(id, "-seed{}", self.seed);
        }
        let _ = write!(id, "-{number:04}");
        id
    }

    /// The best draw of a case.
    fn draw(&self, number: u64, wanted: Wanted) -> Result<Executed, GenerateError> {
        let aims = match wanted.is_alone {
            true => Vec::new(),
            false => {
                let pairs =
                    || pairs(&self.possible).filter(|pair| are_possible(&self.family, pair));
                self.aims.get_or_init(|| Aims::new(pairs())).of_case(self.seed, number)
            }
        };
        let has_wishes = wanted.flags != FlagSet::default();
        let mut best: Option<(usize, Executed)> = None;
        for draw in 0..MOST_DRAWS {
            let is_enough = draw >= DRAWS.len() as u64 && best.is_some();
            if is_enough {
                break;
            }
            let Some(executed) = self.attempt(number, draw, wanted, &aims) else { continue };
            if !executed.flags.is_superset(wanted.flags) {
                continue;
            }
            let is_shown = |pair: &[usize; 2]| pair.iter().all(|n| executed.flags.contains(*n));
            // One pair weighs more, a different one from case to case, so that ties do not always favour the same
            // pairs.
            let first = (number % PAIRS as u64) as usize;
            let worth = |at: usize| if at == first { 3 } else { 2 };
            let shown = aims.iter().enumerate().filter(|(_, pair)| is_shown(pair));
            let score: usize = shown.map(|(at, _)| worth(at)).sum();
            let most: usize = (0..aims.len()).map(worth).sum();
            if best.as_ref().is_none_or(|(least, _)| score > *least) {
                best = Some((score, executed));
            }
            if score == most || has_wishes {
                break;
            }
        }
        let missing = || GenerateError::NotFound {
            instruction: self.family.mnemonic,
            sm: self.family.sm,
            flags: wanted.flags.iter().map(|flag| flag.name).collect(),
            draws: MOST_DRAWS,
        };
        best.map(|(_, executed)| executed).ok_or_else(missing)
    }

    /// Makes one draw. The recipes of the wanted flags come first, then some of the pairs.
    fn attempt(
        &self,
        number: u64,
        draw: u64,
        wanted: Wanted,
        aims: &[[usize; 2]],
    ) -> Option<Executed> {
        let name = self.family.mnemonic.bytes().fold(0, |name, byte| name << 8 | u64::from(byte));
        let others = [name, self.family.sm.number().into(), number, draw];
        let mut draft = Draft::new(&self.family, Random::new(self.seed, &others))?;
        if wanted.size.is_some_and(|size| !draft.keep(|form| form.size == size)) {
            return None;
        }
        for flag in wanted.flags.iter() {
            if !flag.apply(&mut draft) {
                return None;
            }
        }
        // Draws after the first few aim at no pairs: none goes with the wanted flags.
        let (first, left) = DRAWS.get(draw as usize).copied().unwrap_or((0, 0));
        let rotated = aims.iter().cycle().skip(first).take(left.min(aims.len()));
        for flag in rotated.flatten().filter_map(|number| flags::all().get(*number)) {
            flag.apply(&mut draft);
        }
        execute(draft.finish()?)
    }
}

/// Whether an instruction can show the flags with these numbers together.
fn are_possible(family: &Family, numbers: &[usize]) -> bool {
    let mut flags = numbers.iter().filter_map(|number| flags::all().get(*number));
    let draft = Draft::new(family, Random::new(0, &[]));
    draft.is_some_and(|mut draft| flags.all(|flag| flag.apply(&mut draft)))
}

/// Executes a draw and computes its flags; `None` if it cannot be executed.
fn execute(drawn: Drawn) -> Option<Executed> {
    let Drawn { load, state } = drawn;
    let (machine, warp) = state.initial()?.machine_and_warp(Files::Refused).ok()?;
    let name = String::new();
    let vector = Box::new(Vector { name, instruction: load, machine, warp, expected: None });
    let mut after = Box::new(vector.warp.clone());
    let outcome = reference(&vector.instruction, &vector.machine, &mut after).ok()?;
    let flags = flags_of(&vector, &outcome);
    Some(Executed { vector, state, after, outcome, flags })
}

/// The pairs that one case aims at.
const PAIRS: usize = 3;

/// Pairs of flags, in the order that cases aim at them. All pairs of a case agree on the outcome of the load, because
/// one load cannot both fault and access memory.
#[derive(Debug)]
struct Aims {
    /// Pairs of flags by number: for loads that fault, for loads that no lane executes, and all others.
    classes: [Vec<[usize; 2]>; 3],
}

impl Aims {
    /// The flags of each pair must not exclude each other.
    pub(super) fn new(pairs: impl Iterator<Item = [usize; 2]>) -> Self {
        let mut classes = [const { Vec::new() }; 3];
        for pair in pairs {
            let endings = pair.iter().filter_map(|number| flags::all().get(*number));
            let class = match endings.fold(Ending::Any as u8, |both, flag| both & flag.endings()) {
                both if both == Ending::Faults as u8 => 0,
                both if both == Ending::NoLane as u8 => 1,
                _ => 2,
            };
            if let Some(class) = classes.get_mut(class) {
                class.push(pair);
            }
        }
        Self { classes }
    }

    /// The pairs of a case, up to [`PAIRS`]. Successive cases visit all pairs, and then start again in other
    /// combinations.
    fn of_case(&self, seed: u64, number: u64) -> Vec<[usize; 2]> {
        let groups = |class: &Vec<[usize; 2]>| class.len().div_ceil(PAIRS) as u64;
        let all: u64 = self.classes.iter().map(groups).sum();
        let Some(pass) = number.checked_div(all) else { return Vec::new() };
        let mut group = spread(number % all, all, seed);
        for class in &self.classes {
            let count = groups(class);
            if group < count {
                let first = group * PAIRS as u64 + pass;
                let at = |i| spread(first.wrapping_add(i), class.len() as u64, 0);
                let places = (0..(PAIRS as u64).min(class.len() as u64)).map(at);
                return places.filter_map(|at| class.get(at as usize).copied()).collect();
            }
            group -= count;
        }
        Vec::new()
    }
}

/// Permutes the numbers below `count` so that neighbours are separated, because neighbours in the list of pairs share a
/// flag.
fn spread(number: u64, count: u64, start: u64) -> u64 {
    let stride = (count * 5 / 8..).find(|stride| gcd(*stride, count) == 1).unwrap_or(1);
    let place = u128::from(number) * u128::from(stride) + u128::from(start);
    (place % u128::from(count.max(1))) as u64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Counts of flags, and of pairs of flags that one vector shows.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// The numbers of the flags that are counted.
    possible: Vec<usize>,
    cases: u64,
    /// The number of vectors that show each flag, by the flag's number.
    counts: Vec<u64>,
    /// For each flag, the flags that some vector shows together with it.
    together: Vec<FlagSet>,
}

pub(super) fn pairs(numbers: &[usize]) -> impl Iterator<Item = [usize; 2]> {
    let after = |at: usize| numbers.get(at + 1..).unwrap_or_default();
    (0..).zip(numbers).flat_map(move |(at, one)| after(at).iter().map(|other| [*one, *other]))
}

impl Coverage {
    pub(super) fn new(possible: &[usize]) -> Self {
        let count = flags::all().len();
        Self {
            possible: possible.to_vec(),
            cases: 0,
            counts: vec![0; count],
            together: vec![FlagSet::default(); count],
        }
    }

    /// Counts a vector with these flags.
    pub fn add(&mut self, flags: FlagSet) {
        self.cases += 1;
        for one in flags.numbers() {
            if let Some(count) = self.counts.get_mut(one) {
                *count += 1;
            }
            for other in flags.numbers() {
                if let Some(together) = self.together.get_mut(one) {
                    together.insert(other);
                }
            }
        }
    }

    /// Returns the number of vectors.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// Returns the flags that the instruction can show, each with its number of vectors.
    pub fn flags(&self) -> impl Iterator<Item = (&'static Flag, u64)> {
        self.possible.iter().filter_map(|number| {
            Some((flags::all().get(*number)?, self.counts.get(*number).copied()?))
        })
    }

    /// Returns the number of pairs of the flags that the instruction can show.
    #[must_use]
    pub fn pairs(&self) -> usize {
        pairs(&self.possible).count()
    }

    /// Returns the pairs that no vector shows.
    pub fn missing(&self) -> impl Iterator<Item = [&'static Flag; 2]> {
        let is_missing = |[one, other]: &[usize; 2]| {
            self.together.get(*one).is_none_or(|together| !together.contains(*other))
        };
        pairs(&self.possible)
            .filter(is_missing)
            .filter_map(|[one, other]| Some([flags::all().get(one)?, flags::all().get(other)?]))
    }
}

/// The reason why no vector could be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The SM has no such load, or it is not one that a vector executes.
    #[error("no load {name:?} of sm_{sm} that a vector executes")]
    UnknownInstruction {
        /// The name that was given.
        name: String,
        /// The SM.
        sm: Sm,
    },
    /// The instruction cannot show a flag.
    #[error("{instruction} of sm_{sm} never shows the flag `{flag}`")]
    NeverShown {
        /// The instruction.
        instruction: &'static str,
        /// Its SM.
        sm: Sm,
        /// The flag.
        flag: &'static str,
    },
    /// No draw shows all of the flags.
    #[error(
        "no {instruction} of sm_{sm} found that shows `{}` together, in {draws} draws",
        flags.join("`, `")
    )]
    NotFound {
        /// The instruction.
        instruction: &'static str,
        /// Its SM.
        sm: Sm,
        /// The flags.
        flags: Vec<&'static str>,
        /// The number of draws.
        draws: u64,
    },
    /// The fast executor disagrees with the literal one.
    #[error("{id}: the executors differ")]
    ExecutorsDiffer {
        /// The case.
        id: String,
    },
    /// The expectation could not be written as JSON.
    #[error("could not be written as JSON: {0}")]
    Json(String),
}
