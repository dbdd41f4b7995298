//! [`CubinRows`]: the instructions of a cubin.

use std::sync::Arc;

use super::code::{CodeUnit, SassInstruction};
use super::error::SassError;
use super::source_lines::{LineInformation, SourceLines};
use crate::cubin::{Cubin, Function};

/// The instructions of a cubin, section by section in the order of its section table.
#[derive(Debug)]
pub(super) struct CubinRows {
    cubin: Cubin,
    /// The index of the current section in `Cubin::text`.
    text: usize,
    /// How many of its instructions have been returned.
    taken: usize,
    /// The index of the first function that does not end before the current instruction.
    function: usize,
    /// The places that the linker changes, ascending.
    relocated: Vec<(usize, u64)>,
    lines: SourceLines,
}

impl CubinRows {
    pub(super) fn new(data: Vec<u8>) -> Result<Self, SassError> {
        let cubin = Cubin::read(data)?;
        let is_code = |section| cubin.text.binary_search_by_key(&section, |t| t.index).is_ok();
        let (relocations, _) = cubin.relocations(is_code);
        let mut relocated: Vec<_> = relocations.iter().map(|one| one.place).collect();
        relocated.sort_unstable();
        let lines = SourceLines::default();
        Ok(Self { cubin, text: 0, taken: 0, function: 0, relocated, lines })
    }

    pub(super) fn read_source_lines(&mut self) -> LineInformation {
        let (lines, information) = SourceLines::read(&self.cubin);
        self.lines = lines;
        information
    }

    /// Returns the name of the function at a place that is not before the last one. If functions are
    /// nested, the outermost one counts, as if each had its own section.
    fn function(&mut self, section: usize, offset: u64) -> Option<Arc<str>> {
        let functions = self.cubin.functions.get(self.function..)?;
        let is_over = |f: &&Function| (f.section, f.covers.end) <= (section, offset);
        self.function += functions.iter().take_while(is_over).count();
        let function = self.cubin.functions.get(self.function)?;
        let is_in = function.section == section && function.covers.contains(&offset);
        is_in.then(|| Arc::clone(&function.name))
    }
}

impl Iterator for CubinRows {
    type Item = SassInstruction;

    fn next(&mut self) -> Option<SassInstruction> {
        let sm = self.cubin.sm;
        loop {
            let text = self.cubin.text.get(self.text)?;
            let Some(placed) =
                CodeUnit::new(sm).nth(self.cubin.data.get(text.code.clone())?, self.taken)
            else {
                self.text += 1;
                self.taken = 0;
                continue;
            };
            self.taken += 1;
            let place = (text.index, placed.offset);
            let registers = text.registers;
            return Some(SassInstruction {
                function: self.function(place.0, place.1),
                registers,
                sm: Some(sm),
                is_relocated: self.relocated.binary_search(&place).is_ok(),
                source: self.lines.at(place.0, place.1),
                ..SassInstruction::from(placed)
            });
        }
    }
}
