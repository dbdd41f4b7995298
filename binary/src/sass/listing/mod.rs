//! Text listings of cuobjdump, nvdisasm, maxas and CuAssembler.
//!
//! One reader accepts them all: their lines are unambiguous, so the tool need not be guessed. Two things span lines. A
//! control word is alone in the line before its three instructions. The second instruction of a dual-issued pair has
//! its word in a later line of its own: labels and directives of the next instruction can come before it, and the
//! control word of the next bundle directly after it. If a pair straddles two bundles, the control word is between its
//! two instructions, and the first instruction has its word in its own line.
//!
//! Code of SM 7.0 and later has neither control words nor pairs, but the second half of each instruction's word is
//! alone in the next line. Most listings name their SM; a listing of cuobjdump can name several. Without a name, the
//! offsets and the lines of the words distinguish the two kinds of code. With life ranges (`-plr`, `-lrm`), nvdisasm
//! 12.8 leaves out the first lines of some blocks, so that both halves of a word are alone. They become an instruction
//! without text.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

use warpload_encoding::{Control, Sm};

use super::code::{CodeUnit, SassInstruction};
use super::error::{ListingErrorKind, SassError};
use super::line::{InstructionLine, NamedSm, Shape, classify, ends_block};
use super::raw::is_like_control;
use crate::lines::{Line, Lines};

/// The instructions of a listing, read line by line.
#[derive(Debug)]
pub(super) struct Listing<R> {
    lines: Lines<R>,
    state: State,
}

impl<R: BufRead> Listing<R> {
    pub(super) fn new(input: R) -> Self {
        Self { lines: Lines::new(input), state: State::default() }
    }

    pub(super) fn next(&mut self) -> Result<Option<SassInstruction>, SassError> {
        loop {
            if let Some(instruction) = self.state.ready.pop_front() {
                return Ok(Some(instruction));
            }
            match self.lines.next_line() {
                Some(line) => self.state.line(line?)?,
                None if self.state.ended => return Ok(None),
                None => self.state.end()?,
            }
        }
    }
}

/// The state after the lines so far.
#[derive(Debug, Default)]
struct State {
    function: Option<Arc<str>>,
    registers: Option<u8>,
    sm: Option<Sm>,
    /// The unit of the code, derived from its lines until one of them names the SM.
    unit: Option<CodeUnit>,
    bundle: Option<OpenBundle>,
    /// The offset of the next instruction, for a word of 128 bits without text.
    next_offset: Option<u64>,
    /// An instruction with an incomplete word.
    pending: Option<Pending>,
    /// Complete instructions; at most two, since one line can complete one and add one.
    ready: VecDeque<SassInstruction>,
    /// The block of maxas that is being skipped, and its first line.
    block: Option<(String, Place)>,
    /// Whether an instruction had a word. Then all others must have one.
    words: bool,
    any: bool,
    ptx: Option<u64>,
    last_line: u64,
    ended: bool,
    /// The labels of the next instruction.
    labels: Vec<Arc<str>>,
}

/// The most labels of one instruction that are kept.
const MAX_LABELS: usize = 256;

/// The last control word, and the instructions that it still applies to.
#[derive(Debug)]
struct OpenBundle {
    slots: [Control; 3],
    /// The number of instructions after it.
    taken: usize,
    /// The number of the bundle in its function, known after the first offset.
    number: Option<u64>,
}

#[derive(Debug)]
enum Pending {
    Pair(Pair),
    Half(Half),
}

/// The second instruction of a pair. Its word may follow.
#[derive(Debug)]
struct Pair {
    instruction: SassInstruction,
    /// After the instruction.
    end: Place,
    /// The words in lines of their own after it, at most two.
    words: Vec<(u64, Place)>,
}

/// An instruction with the first half of its 128-bit word, or with its whole word if the listing may be of SM 5.x or
/// 6.x.
#[derive(Debug)]
struct Half {
    instruction: SassInstruction,
    word: u64,
    /// After the word.
    end: Place,
    /// Whether another half must follow.
    is_wide: bool,
}

/// A byte of the input.
#[derive(Clone, Copy, Debug)]
struct Place {
    line: u64,
    column: usize,
    offset: u64,
}

impl Place {
    fn new(line: Line<'_>, at: usize) -> Self {
        Self { line: line.number, column: at + 1, offset: line.offset + at as u64 }
    }

    fn error(self, kind: ListingErrorKind) -> SassError {
        let Self { line, column, offset } = self;
        SassError::Listing { line, column, offset, kind }
    }
}

/// The place of a word that is alone in its line.
fn word_place(line: Line<'_>) -> Place {
    let start = line.text.find('/');
    debug_assert!(start.is_some(), "a word begins with `/*`");
    Place::new(line, start.unwrap_or(0))
}

fn offset_after(offset: Option<u64>) -> Option<u64> {
    offset?.checked_add(16)
}

/// The unit of code with an instruction at `offset`; `None` if it can be either.
fn unit_of_offset(offset: u64) -> Option<CodeUnit> {
    let units = [CodeUnit::Bundle, CodeUnit::Word];
    let mut possible = units.into_iter().filter(|unit| unit.has_instruction_at(offset));
    possible.next().filter(|_| possible.next().is_none())
}

impl State {
    fn line(&mut self, line: Line<'_>) -> Result<(), SassError> {
        self.last_line = line.number;
        if let Some((name, _)) = &self.block {
            if ends_block(line.text, name) {
                self.block = None;
            }
            return Ok(());
        }
        let unit = self.code_unit();
        let shape = classify(line.text, unit).map_err(|fault| {
            let error = || Place::new(line, fault.at).error(fault.kind);
            self.lone_half().unwrap_or_else(error)
        })?;
        match shape {
            Shape::Blank => return Ok(()),
            Shape::Label(name) if self.labels.len() < MAX_LABELS => self.labels.push(name.into()),
            _ => {}
        }
        match (&mut self.pending, &shape) {
            (None, _) => {}
            // Labels and directives can come before the word.
            (Some(_), Shape::Other | Shape::Label(_)) => return Ok(()),
            (Some(Pending::Pair(pair)), Shape::Word(word)) if pair.words.len() < 2 => {
                pair.words.push((*word, word_place(line)));
                return Ok(());
            }
            (Some(Pending::Half(_)), Shape::Word(word)) => {
                self.second_half(*word);
                return Ok(());
            }
            (Some(_), _) => self.settle()?,
        }
        match shape {
            Shape::Blank | Shape::Other | Shape::Label(_) => {}
            Shape::Function(name) => self.begin_function(name),
            Shape::Registers(registers) => self.registers = Some(registers),
            // PTX, which cuobjdump can print beside the SASS, also names its target.
            Shape::Target(_) if self.ptx.is_some() => {}
            // The letter of the SM is in the line before it.
            Shape::Flags(sm) if self.sm.is_some_and(|known| known.number() == sm.number) => {}
            Shape::Sm(sm) | Shape::Target(sm) | Shape::Flags(sm) => {
                let NamedSm { number, known } = sm;
                let unknown = SassError::UnsupportedSm { sm: number, line: Some(line.number) };
                self.sm = Some(known.ok_or(unknown)?);
            }
            Shape::Ptx => self.ptx = self.ptx.or(Some(line.number)),
            Shape::Block(name) => self.block = Some((name.to_owned(), Place::new(line, 0))),
            Shape::Word(word) if unit == Some(CodeUnit::Word) => self.first_half(line, word),
            Shape::Word(word) => self.begin_bundle(word),
            Shape::Instruction(parts) => self.instruction(line, &parts)?,
        }
        Ok(())
    }

    /// The unit of the code; `None` if no line has shown it yet.
    fn code_unit(&self) -> Option<CodeUnit> {
        self.sm.map(CodeUnit::new).or(self.unit)
    }

    fn begin_function(&mut self, name: Option<&str>) {
        // nvdisasm names a function twice, with the registers in between.
        if name.is_none() || self.function.as_deref() != name {
            self.registers = None;
            self.function = name.map(Arc::from);
            self.next_offset = name.map(|_| 0);
        }
        self.bundle = None;
    }

    /// Begins an instruction without text, with the first half of its word of 128 bits.
    fn first_half(&mut self, line: Line<'_>, word: u64) {
        let instruction = SassInstruction {
            function: self.function.clone(),
            offset: self.next_offset,
            line: Some(line.number),
            registers: self.registers,
            sm: self.sm,
            labels: std::mem::take(&mut self.labels),
            unit: Some(CodeUnit::Word),
            ..SassInstruction::default()
        };
        self.next_offset = offset_after(self.next_offset);
        let end = word_place(line);
        self.pending = Some(Pending::Half(Half { instruction, word, end, is_wide: true }));
        self.any = true;
    }

    /// Begins a bundle with its control word.
    fn begin_bundle(&mut self, word: u64) {
        let slots = Control::slots(word);
        self.bundle = Some(OpenBundle { slots, taken: 0, number: None });
    }

    fn instruction(
        &mut self,
        line: Line<'_>,
        parts: &InstructionLine<'_>,
    ) -> Result<(), SassError> {
        if let Some(name) = parts.function {
            self.begin_function(Some(name).filter(|name| *name != "-"));
        }
        self.unit = self.unit.or_else(|| unit_of_offset(parts.offset?));
        let unit = self.code_unit();
        let is_wide = unit == Some(CodeUnit::Word);
        self.next_offset = offset_after(parts.offset);
        let instruction = SassInstruction {
            function: self.function.clone(),
            offset: parts.offset,
            word: None,
            text: Some(parts.text).filter(|text| !text.is_empty()).map(str::to_owned),
            control: parts.control,
            line: Some(line.number),
            column: Some(parts.start + 1),
            registers: self.registers,
            is_relocated: false,
            source: None,
            target: None,
            sm: self.sm,
            unit,
            input_offset: Some(line.offset + parts.start as u64),
            labels: std::mem::take(&mut self.labels),
        };
        let end = Place::new(line, parts.end);
        match parts.word {
            Some(word) if is_wide || unit.is_none() && parts.offset.is_some() => {
                let end = Place::new(line, line.text.trim_end().len());
                self.pending = Some(Pending::Half(Half { instruction, word, end, is_wide }));
            }
            Some(word) => self.narrow(instruction, word),
            None if parts.closes_pair && !is_wide => {
                let instruction = self.in_bundle(instruction);
                self.pending = Some(Pending::Pair(Pair { instruction, end, words: Vec::new() }));
            }
            None => {
                let instruction = if is_wide { instruction } else { self.in_bundle(instruction) };
                return self.without_word(instruction, end);
            }
        }
        self.any = true;
        Ok(())
    }

    /// Completes an instruction with its word of 64 bits.
    fn narrow(&mut self, instruction: SassInstruction, word: u64) {
        self.words = true;
        let instruction = self.in_bundle(instruction);
        let unit = Some(CodeUnit::Bundle);
        self.ready.push_back(SassInstruction { word: Some(word.into()), unit, ..instruction });
    }

    /// Completes an instruction with the second half of its word of 128 bits.
    fn second_half(&mut self, high: u64) {
        let Some(Pending::Half(Half { mut instruction, word, .. })) = self.pending.take() else {
            return;
        };
        self.words = true;
        self.unit = Some(CodeUnit::Word);
        let word = u128::from(high) << 64 | u128::from(word);
        (instruction.word, instruction.unit) = (Some(word.into()), self.unit);
        instruction.control = instruction.control.or_else(|| Some(Control::of_wide_word(word)));
        self.ready.push_back(instruction);
    }

    /// Takes the scheduling of an instruction from the control word, if it has none.
    fn in_bundle(&mut self, mut instruction: SassInstruction) -> SassInstruction {
        instruction.control = instruction.control.or_else(|| self.control_of(instruction.offset));
        instruction
    }

    /// The error for half a word that has neither text nor a second half.
    fn lone_half(&self) -> Option<SassError> {
        match &self.pending {
            Some(Pending::Half(half)) if half.instruction.text.is_none() => {
                Some(half.end.error(ListingErrorKind::UnexpectedHalf))
            }
            _ => None,
        }
    }

    /// Completes the pending instruction with the lines that it has.
    fn settle(&mut self) -> Result<(), SassError> {
        if let Some(error) = self.lone_half() {
            return Err(error);
        }
        match self.pending.take() {
            None => Ok(()),
            Some(Pending::Pair(pair)) => self.settle_pair(pair),
            Some(Pending::Half(half)) if half.is_wide => {
                Err(half.end.error(ListingErrorKind::MissingSecondHalf))
            }
            Some(Pending::Half(half)) => {
                self.narrow(half.instruction, half.word);
                Ok(())
            }
        }
    }

    /// Completes the second instruction of a pair with its word. If two words follow, one of them is a control word,
    /// and the instruction's offset and the bits of the words decide which.
    fn settle_pair(&mut self, pair: Pair) -> Result<(), SassError> {
        let Pair { mut instruction, end, words } = pair;
        let [(first, _), ..] = words[..] else {
            return self.without_word(instruction, end);
        };
        (instruction.word, instruction.unit) = (Some(first.into()), Some(CodeUnit::Bundle));
        if let [_, (second, place), ..] = words[..] {
            let slot = instruction.offset.map(|offset| offset % 32 / 8);
            let control = match slot {
                // This instruction begins a bundle, so the bundle's control word comes first.
                Some(1) if instruction.control.is_none() && first >> 63 == 0 => {
                    instruction.word = Some(second.into());
                    self.begin_bundle(first);
                    instruction.control = self.control_of(instruction.offset);
                    None
                }
                // The bundle is complete, so the control word is the next bundle's. nvdisasm writes it after the word;
                // this arm accepts it before the word.
                None | Some(3) if is_like_control(first) && !is_like_control(second) => {
                    instruction.word = Some(second.into());
                    Some(first)
                }
                None | Some(3) if second >> 63 == 0 => Some(second),
                _ => return Err(place.error(ListingErrorKind::UnexpectedWord)),
            };
            if let Some(control) = control {
                self.begin_bundle(control);
            }
        }
        self.words = true;
        self.ready.push_back(instruction);
        Ok(())
    }

    /// The instruction's scheduling in the last control word; `None` if the control word belongs to another bundle.
    fn control_of(&mut self, offset: Option<u64>) -> Option<Control> {
        let bundle = self.bundle.as_mut()?;
        let slot = match offset {
            Some(offset) => {
                let number = offset / 32;
                if *bundle.number.get_or_insert(number) != number {
                    return None;
                }
                (offset % 32 / 8).checked_sub(1)? as usize
            }
            None => bundle.taken,
        };
        bundle.taken += 1;
        bundle.slots.get(slot).copied()
    }

    /// Accepts an instruction without a word only in a listing without words.
    fn without_word(&mut self, instruction: SassInstruction, end: Place) -> Result<(), SassError> {
        if self.words {
            return Err(end.error(ListingErrorKind::MissingWord));
        }
        self.any = true;
        self.ready.push_back(instruction);
        Ok(())
    }

    /// Checks the state at the end of the input.
    fn end(&mut self) -> Result<(), SassError> {
        self.ended = true;
        self.settle()?;
        if let Some((name, place)) = self.block.take() {
            return Err(place.error(ListingErrorKind::UnclosedBlock { name }));
        }
        match self.ptx {
            // A header marks a listing, even one without instructions.
            _ if self.any || self.sm.is_some() => Ok(()),
            Some(line) => Err(SassError::Ptx { line }),
            None => Err(SassError::NoListingLine { lines: self.last_line }),
        }
    }
}

#[cfg(test)]
mod tests;
