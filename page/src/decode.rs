//! [`decode`]: explains words, instructions or a listing.

use serde::{Deserialize, Serialize};
use warpload::encoding::Sm;
use warpload_binary::sass::{self, CodeUnit, FoundInstruction, SassInstruction, sm_of};
use warpload_binary::word::{NotALoad, ReadLoad, is_instruction, words};

use crate::instruction::{self, Explained};
use crate::problem::{Problem, read_sm};

/// The limit on loads that are explained.
const MAX_LOADS: usize = 200;

/// The form.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
#[serde(default)]
pub struct DecodeFields {
    /// The SM of words and texts, and of a listing that does not name its own.
    pub sm: String,
    /// Words, instructions, or a listing of nvdisasm or cuobjdump.
    pub input: String,
}

/// The loads of an input.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Decoded {
    /// The number of instructions.
    pub instructions: usize,
    /// The number of loads among them.
    pub count: usize,
    /// The first loads, at most `MAX_LOADS`.
    pub loads: Vec<DecodedLoad>,
    /// Errors, limited to the same number.
    pub problems: Vec<Problem>,
    #[serde(skip)]
    of_unknown_sm: bool,
}

/// A load of an input.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct DecodedLoad {
    /// The function, if the input names it.
    pub function: Option<String>,
    /// The offset in bytes from the beginning of the function: `0x` and digits.
    pub offset: Option<String>,
    /// The load, explained.
    pub load: Explained,
}

/// Decodes words, separated by lines or spaces; or instructions, one in each line; or a listing.
#[must_use]
pub fn decode(fields: &DecodeFields) -> Decoded {
    let mut decoded = Decoded::default();
    match read_sm(&fields.sm) {
        Ok(sm) => decoded.read(&fields.input, sm),
        Err(problem) => decoded.problems.push(problem),
    }
    decoded
}

impl Decoded {
    fn read(&mut self, input: &str, sm: Sm) {
        let lines = || input.lines().filter(|line| !line.trim().is_empty());
        if let Some(words) = words(input, Some(sm)) {
            words.iter().for_each(|word| self.one(word, sm));
        } else if lines().all(|line| is_instruction(line, sm)) {
            lines().for_each(|line| self.one(line, sm));
        } else if lines().count() == 1 && !input.contains("/*") {
            self.one(input.trim(), sm);
        } else {
            self.listing(input, sm);
        }
    }

    fn one(&mut self, text: &str, sm: Sm) {
        self.instructions += 1;
        match instruction::read_either("input", text, sm) {
            Ok(ReadLoad { instruction, control, disagreement, .. }) => {
                self.load(None, None, || {
                    let mut explained = Explained::new(&instruction, control);
                    explained.remarks.extend(disagreement);
                    explained
                })
            }
            Err(problem) => self.problem(problem),
        }
    }

    fn load(
        &mut self,
        function: Option<&str>,
        offset: Option<u64>,
        explain: impl FnOnce() -> Explained,
    ) {
        self.count += 1;
        if self.loads.len() < MAX_LOADS {
            self.loads.push(DecodedLoad {
                function: function.map(str::to_owned),
                offset: offset.map(|offset| format!("{offset:#x}")),
                load: explain(),
            });
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_LOADS {
            self.problems.push(problem);
        }
    }

    fn listing(&mut self, input: &str, sm: Sm) {
        let listing = match sass::read(input.as_bytes(), sass::Format::Detect) {
            Ok(listing) => listing,
            Err(error) => return self.problem(Problem::new("input", error)),
        };
        for instruction in listing {
            match instruction {
                Ok(instruction) => self.listed(instruction, sm),
                Err(error) => return self.problem(Problem::new("input", error)),
            }
        }
        if self.of_unknown_sm {
            let title =
                "the words have 128 bits, and nothing says of which SM they are: choose one";
            self.problem(Problem::new("sm", title));
        }
    }

    fn listed(&mut self, mut instruction: SassInstruction, sm: Sm) {
        self.instructions += 1;
        let is_wide = instruction.unit == Some(CodeUnit::Word);
        // If the widths differ, the choice of SM is ignored: 64-bit words have the same meaning on every SM that has
        // them, and 128-bit words become an error.
        if instruction.sm.is_none()
            && (instruction.unit.is_none() || is_wide == sm.has_wide_words())
        {
            instruction.sm = Some(sm);
        }
        let text = instruction.text.as_deref().unwrap_or_default();
        let found = FoundInstruction::new(&instruction);
        match &found {
            FoundInstruction::Load(load) => {
                let control = found.control(&instruction);
                let explain = || Explained::new(load, control);
                self.load(instruction.function.as_deref(), instruction.offset, explain);
            }
            FoundInstruction::Illegal(refusal) => {
                let Some(word) = instruction.word else { return };
                let refusal = NotALoad::Refused { word, refusal: *refusal };
                self.problem(Problem::new("input", refusal));
            }
            FoundInstruction::Unreadable(error) => {
                let sm = sm_of(&instruction).unwrap_or(sm);
                self.problem(Problem::of_instruction("input", text, error, sm));
            }
            FoundInstruction::Relocated => {
                let title = format_args!("the linker fills in a part of `{text}`");
                self.problem(Problem::new("input", title));
            }
            FoundInstruction::Contradictory => {
                let title = format_args!("`{text}` is a load by its text, not by its word");
                self.problem(Problem::new("input", title));
            }
            FoundInstruction::OfUnknownSm => self.of_unknown_sm = true,
            FoundInstruction::Other => {}
        }
    }
}
