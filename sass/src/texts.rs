//! [`SassTexts`]: how instructions of machine code are shown in reports: by their offset in the function.

use std::sync::Arc;

use warpload_machine::code::{FIRST_ROW, Slot};
use warpload_machine::{InstructionPlace, InstructionSource, ProgramTexts, Site};

use crate::lower::Lowered;
use crate::program::SassProgram;

/// The instructions of a kernel for the findings of its launch.
pub(crate) struct SassTexts<'p> {
    pub(crate) program: &'p SassProgram,
    pub(crate) lowered: &'p Lowered,
    /// The offset of dynamic shared memory.
    pub(crate) dynamic: u64,
}

impl SassTexts<'_> {
    fn address(&self, site: Site) -> u64 {
        self.lowered.addresses.get(site.0 as usize).copied().unwrap_or_default()
    }

    fn offset(&self, site: Site) -> u64 {
        let address = self.address(site);
        self.program.function_at(address).map_or(address, |(_, offset)| offset)
    }
}

impl ProgramTexts for SassTexts<'_> {
    fn place(&mut self, site: Site) -> InstructionPlace {
        InstructionPlace::Offset(self.offset(site))
    }

    fn text(&mut self, site: Site) -> Arc<str> {
        let address = self.address(site);
        match self.program.instruction(address) {
            Some(instruction) => {
                let text = instruction.text_at(self.offset(site)).to_string();
                text.trim_end().into()
            }
            None => "a word that is no instruction".into(),
        }
    }

    fn function(&mut self, site: Site) -> Arc<str> {
        let found = self.program.function_at(self.address(site));
        found.map_or("".into(), |(name, _)| name.into())
    }

    fn pc(&mut self, site: Site) -> u32 {
        self.offset(site) as u32
    }

    fn source(&mut self, _site: Site) -> InstructionSource {
        InstructionSource::default()
    }

    fn register(&mut self, _function: usize, slot: Slot) -> Arc<str> {
        let first = self.lowered.predicates;
        match slot {
            _ if (FIRST_ROW..first).contains(&slot) => format!("R{}", slot - FIRST_ROW).into(),
            _ if (first..first + 7).contains(&slot) => format!("P{}", slot - first).into(),
            _ if slot == first + 7 => "CC".into(),
            _ => "a register".into(),
        }
    }

    fn parameter(&mut self, _number: usize) -> Option<Arc<str>> {
        None
    }

    fn shared(&mut self, _offset: u64) -> Option<(Arc<str>, u64)> {
        None
    }

    fn dynamic(&self) -> u64 {
        self.dynamic
    }

    fn has_schedule(&self) -> bool {
        true
    }
}
