//! Text listings of cuobjdump, nvdisasm, maxas and CuAssembler.
//!
//! One reader accepts them all: their lines are unambiguous, so the tool need not be guessed. Two
//! things span lines. A control word is alone in a line before the three
//! instructions that it is for. And the second instruction of a dual-issued pair has its word in a
//! line of its own after it, with the labels and directives of what follows in between; the control
//! word of the next bundle may follow at once. If a pair straddles two bundles, the control word is
//! between the two instructions, and the first one's word is in its own line.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

use warpload_encoding::Control;

use super::error::{ListingErrorKind, SassError, check_sm};
use super::instruction::SassInstruction;
use super::line::{Fault, InstructionLine, Shape, classify, ends_block};
use super::raw::is_like_control;
use crate::impossible::OrImpossible;
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

/// What the lines so far say about the following ones.
#[derive(Debug, Default)]
struct State {
    function: Option<Arc<str>>,
    registers: Option<u8>,
    sm: Option<u32>,
    bundle: Option<OpenBundle>,
    /// The second instruction of a pair, whose word may follow.
    pending: Option<Pending>,
    /// Complete instructions; at most two, since one line can complete one and add one.
    ready: VecDeque<SassInstruction>,
    /// The block of maxas that is being skipped, and its first line.
    block: Option<(String, Place)>,
    /// Whether an instruction had a word: then the others must have one, too.
    words: bool,
    any: bool,
    /// Whether an instruction had an offset that none of SM 7.0 and later has.
    is_earlier: bool,
    ptx: Option<u64>,
    last_line: u64,
    ended: bool,
}

/// A control word that has been read, and what it is still for.
#[derive(Debug)]
struct OpenBundle {
    slots: [Control; 3],
    /// How many instructions followed it.
    taken: usize,
    /// The number of the bundle in its function, known after the first offset.
    number: Option<u64>,
}

#[derive(Debug)]
struct Pending {
    instruction: SassInstruction,
    /// After the instruction.
    end: Place,
    /// The words alone in a line that follow, at most two.
    words: Vec<(u64, Place)>,
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

impl State {
    fn line(&mut self, line: Line<'_>) -> Result<(), SassError> {
        self.last_line = line.number;
        if let Some((name, _)) = &self.block {
            if ends_block(line.text, name) {
                self.block = None;
            }
            return Ok(());
        }
        let shape = classify(line.text).map_err(|fault| self.fault(line, fault))?;
        if shape == Shape::Blank {
            return Ok(());
        }
        match (&mut self.pending, &shape) {
            (None, _) => {}
            // Labels and directives, which may come before the word.
            (Some(_), Shape::Other) => return Ok(()),
            (Some(pending), Shape::Word(word)) if pending.words.len() < 2 => {
                let at = line.text.find('/').or_impossible(0, "a word begins with `/*`");
                pending.words.push((*word, Place::new(line, at)));
                return Ok(());
            }
            (Some(_), _) => self.settle()?,
        }
        match shape {
            Shape::Blank | Shape::Other => {}
            Shape::Function(name) => self.begin_function(name),
            Shape::Registers(registers) => self.registers = Some(registers),
            // PTX, which cuobjdump can print beside the SASS, also names its target.
            Shape::Target(_) if self.ptx.is_some() => {}
            Shape::Sm(sm) | Shape::Target(sm) => self.sm = Some(check_sm(sm, Some(line.number))?),
            Shape::Ptx => self.ptx = self.ptx.or(Some(line.number)),
            Shape::Block(name) => self.block = Some((name.to_owned(), Place::new(line, 0))),
            Shape::Word(word) => self.begin_bundle(word),
            Shape::Instruction(parts) => self.instruction(line, &parts)?,
        }
        Ok(())
    }

    /// Returns the error for a line that cannot be read.
    fn fault(&self, line: Line<'_>, Fault { at, mut kind }: Fault) -> SassError {
        if let ListingErrorKind::NoInstructionOffset { is_later, .. } = &mut kind {
            *is_later &= self.sm.is_none() && !self.is_earlier;
        }
        Place::new(line, at).error(kind)
    }

    fn begin_function(&mut self, name: Option<&str>) {
        // nvdisasm names a function twice, with the registers in between.
        if name.is_none() || self.function.as_deref() != name {
            self.registers = None;
            self.function = name.map(Arc::from);
        }
        self.bundle = None;
    }

    /// A control word.
    fn begin_bundle(&mut self, word: u64) {
        let slots = Control::slots(word);
        self.bundle = Some(OpenBundle { slots, taken: 0, number: None });
    }

    fn instruction(
        &mut self,
        line: Line<'_>,
        parts: &InstructionLine<'_>,
    ) -> Result<(), SassError> {
        let control = parts.control.or_else(|| self.control_of(parts.offset));
        let instruction = SassInstruction {
            function: self.function.clone(),
            offset: parts.offset,
            word: parts.word,
            text: Some(parts.text.to_owned()),
            control,
            line: Some(line.number),
            column: Some(parts.start + 1),
            registers: self.registers,
            is_relocated: false,
            #[cfg(feature = "trace")]
            source: None,
            sm: self.sm,
        };
        self.is_earlier |= parts.offset.is_some_and(|offset| offset % 16 != 0);
        let end = Place::new(line, parts.end);
        if parts.word.is_some() {
            self.words = true;
            self.any = true;
            self.ready.push_back(instruction);
            Ok(())
        } else if parts.closes_pair {
            self.any = true;
            self.pending = Some(Pending { instruction, end, words: Vec::new() });
            Ok(())
        } else {
            self.without_word(instruction, end)
        }
    }

    /// Completes the second instruction of a pair with its word, which must be told from the control
    /// word that may be beside it.
    fn settle(&mut self) -> Result<(), SassError> {
        let Some(Pending { mut instruction, end, words }) = self.pending.take() else {
            return Ok(());
        };
        let [(first, _), ..] = words[..] else {
            return self.without_word(instruction, end);
        };
        instruction.word = Some(first);
        if let [_, (second, place), ..] = words[..] {
            let slot = instruction.offset.map(|offset| offset % 32 / 8);
            let control = match slot {
                // The control word of the bundle that this instruction begins comes first.
                Some(1) if instruction.control.is_none() && first >> 63 == 0 => {
                    instruction.word = Some(second);
                    self.begin_bundle(first);
                    instruction.control = self.control_of(instruction.offset);
                    None
                }
                // The bundle is whole: that of the next one, which nvdisasm writes after the word.
                None | Some(3) if is_like_control(first) && !is_like_control(second) => {
                    instruction.word = Some(second);
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

    /// Returns the slot of the last control word, unless that belongs to another bundle.
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

    /// Accepts an instruction without a word, unless others have one.
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
