//! [`CubinRows`]: the instructions of a cubin.

use std::sync::Arc;

use super::code::{CodeUnit, SassInstruction};
use super::error::SassError;
use super::labels::Labels;
use super::source_lines::{LineInformation, SourceLines};
use crate::cubin::{Cubin, Function};

/// The instructions of a cubin, section by section in the order of its section table.
#[derive(Debug)]
pub(super) struct CubinRows {
    cubin: Cubin,
    /// The index of the current section in `Cubin::text`.
    text: usize,
    /// The number of its instructions returned so far.
    taken: usize,
    /// The index of the first function that does not end before the current instruction.
    function: usize,
    /// The places that the linker fills in, ascending.
    relocated: Vec<(usize, u64)>,
    lines: SourceLines,
    /// The labels of each section, by index in `Cubin::text`; empty until they are wanted.
    labels: Vec<Labels>,
}

impl CubinRows {
    pub(super) fn new(data: Vec<u8>) -> Result<Self, SassError> {
        let cubin = Cubin::read(data)?;
        let is_code = |section| cubin.text.binary_search_by_key(&section, |t| t.index).is_ok();
        let (relocations, _) = cubin.relocations(is_code);
        let mut relocated: Vec<_> = relocations.iter().map(|one| one.place).collect();
        relocated.sort_unstable();
        let lines = SourceLines::default();
        let labels = Vec::new();
        Ok(Self { cubin, text: 0, taken: 0, function: 0, relocated, lines, labels })
    }

    pub(super) fn read_labels(&mut self) {
        let Cubin { sm, text, data, functions, .. } = &self.cubin;
        let unit = CodeUnit::new(*sm);
        let labels = text.iter().map(|text| {
            let code = data.get(text.code.clone()).unwrap_or_default();
            let function_of = || {
                let mut from = 0;
                move |offset| {
                    let found = covering(functions, &mut from, (text.index, offset));
                    found.map(|_| from)
                }
            };
            let placed = (0..).map_while(|n| unit.nth(code, n));
            Labels::new(placed, *sm, function_of, |offset| unit.at(code, offset).is_some())
        });
        self.labels = labels.collect();
    }

    pub(super) fn read_source_lines(&mut self) -> LineInformation {
        let (lines, information) = SourceLines::read(&self.cubin);
        self.lines = lines;
        information
    }
}

/// The function at a place; the outermost one if functions are nested, as if it had a section of its own. Places must
/// ascend between calls: `from` is the index of the first function that does not end before the last place.
fn covering<'f>(
    functions: &'f [Function],
    from: &mut usize,
    (section, offset): (usize, u64),
) -> Option<&'f Function> {
    let is_over = |f: &&Function| (f.section, f.covers.end) <= (section, offset);
    *from += functions.get(*from..)?.iter().take_while(is_over).count();
    let function = functions.get(*from)?;
    (function.section == section && function.covers.contains(&offset)).then_some(function)
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
            let function = covering(&self.cubin.functions, &mut self.function, place);
            let mut instruction = SassInstruction {
                function: function.map(|function| Arc::clone(&function.name)),
                registers: text.registers,
                sm: Some(sm),
                input_offset: Some(text.code.start as u64 + placed.offset),
                is_relocated: self.relocated.binary_search(&place).is_ok(),
                source: self.lines.at(place.0, place.1),
                ..SassInstruction::from(placed)
            };
            if let Some(labels) = self.labels.get(self.text) {
                labels.add_to(&mut instruction, &placed, sm);
            }
            return Some(instruction);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_function_counts() {
        let function =
            |section, covers, name: &str| Function { section, covers, name: name.into() };
        // Sorted as in a cubin. The third function extends beyond the first.
        let functions = [
            function(1, 0..0x60, "a"),
            function(1, 0x18..0x30, "b"),
            function(1, 0x40..0x80, "c"),
            function(2, 0..0x20, "d"),
        ];
        let mut from = 0;
        for (section, offset, name) in [
            (1, 8, Some("a")),
            (1, 0x18, Some("a")),
            (1, 0x58, Some("a")),
            (1, 0x68, Some("c")),
            (1, 0x88, None),
            (2, 4, Some("d")),
            (3, 0, None),
        ] {
            let found = covering(&functions, &mut from, (section, offset));
            assert_eq!(found.map(|function| &*function.name), name, "{offset:#x}");
        }
    }
}
