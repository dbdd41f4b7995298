//! [`SmChoice`]: selects the code of one SM from a file that may hold code for several.

use std::collections::BTreeSet;

use warpload_encoding::Sm;

use super::error::ContainerError;
use super::gpu_code::{GpuCode, Read};
use super::sm::{GpuSm, is_of};
use crate::sass::{SassInstruction, SassKind};

/// Chooses the code of one SM, or all code. Remembers the SMs of the rest, so that an error can name them.
#[derive(Clone, Debug, Default)]
pub struct SmChoice {
    wanted: Option<Sm>,
    has_chosen: bool,
    others: BTreeSet<(u32, Option<char>)>,
}

/// The file has no code of the chosen SM.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no image for SM {wanted}; SMs in the file: {others}")]
#[non_exhaustive]
pub struct NoImageOfSm {
    /// The SM that was chosen.
    pub wanted: Sm,
    /// The other SMs by number, separated by commas; `none` without any.
    pub others: String,
}

impl SmChoice {
    /// Chooses the code of `wanted`; with `None`, all code.
    #[must_use]
    pub fn new(wanted: Option<Sm>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Returns whether code of this SM is chosen. `None` is an unknown SM.
    #[must_use]
    pub fn is_of(&self, sm: Option<GpuSm>) -> bool {
        is_of(self.wanted, sm)
    }

    /// Decompresses an image if it is chosen; `None` for the others.
    ///
    /// # Errors
    /// Returns [`ContainerError`] as [`GpuCode::read`] does. The image then counts neither as chosen nor as one of
    /// another SM.
    pub fn read<'f>(&mut self, image: &GpuCode<'f>) -> Result<Option<Read<'f>>, ContainerError> {
        let read = if image.may_be_of(self.wanted) { Some(image.read()?) } else { None };
        let sm = read.as_ref().map_or(image.sm, |read| read.sm);
        if self.is_of(sm) {
            self.has_chosen = true;
            return Ok(read);
        }
        self.others.extend(sm.map(|sm| (sm.number(), sm.suffix())));
        Ok(None)
    }

    /// Returns whether an instruction is chosen. An instruction of unknown SM gets the chosen SM. Only instructions of
    /// listings are rejected, because only a listing mixes SMs: elsewhere [`Self::read`] has chosen the images.
    pub fn takes(&mut self, instruction: &mut SassInstruction, kind: SassKind) -> bool {
        match (instruction.sm, self.wanted) {
            (None, wanted) => instruction.sm = wanted,
            (Some(sm), Some(wanted)) if sm != wanted && kind == SassKind::Listing => {
                self.others.insert((sm.number(), sm.suffix()));
                return false;
            }
            _ => {}
        }
        self.has_chosen = true;
        true
    }

    /// Returns whether all code so far is of other SMs.
    #[must_use]
    pub fn has_only_others(&self) -> bool {
        !self.has_chosen && !self.others.is_empty()
    }

    /// Adds the SMs that another choice of the same SM has seen.
    pub fn add(&mut self, other: Self) {
        self.has_chosen |= other.has_chosen;
        self.others.extend(other.others);
    }

    /// Checks that some code is of the chosen SM, if one was chosen.
    ///
    /// # Errors
    /// Returns [`NoImageOfSm`] if no code is.
    pub fn check(&self) -> Result<(), NoImageOfSm> {
        let Some(wanted) = self.wanted.filter(|_| !self.has_chosen) else { return Ok(()) };
        let suffix = |suffix: Option<char>| suffix.map_or(String::new(), String::from);
        let others = self.others.iter().map(|(number, end)| format!("{number}{}", suffix(*end)));
        let others: Vec<String> = others.collect();
        let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        Err(NoImageOfSm { wanted, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::GpuCodes;

    #[test]
    fn other_sms_are_named_by_number() -> Result<(), Box<dyn std::error::Error>> {
        let library = std::fs::read("../tests/data/fatbins/lib.so")?;
        let choose = |wanted: &str| -> Result<_, Box<dyn std::error::Error>> {
            let mut choice = SmChoice::new(Some(wanted.parse()?));
            let mut chosen = 0;
            for image in GpuCodes::new(&library) {
                chosen += u64::from(choice.read(&image?)?.is_some());
            }
            Ok((chosen, choice.check().err().map(|error| error.to_string())))
        };
        let missing = "no image for SM 80; SMs in the file: 50, 75, 100";
        assert_eq!(choose("80")?, (0, Some(missing.to_owned())));
        // A cubin and its PTX.
        assert_eq!(choose("75")?, (2, None));
        Ok(())
    }

    #[test]
    fn only_listings_are_of_several_sms() -> Result<(), Box<dyn std::error::Error>> {
        let wanted: Sm = "80".parse()?;
        for (sm, kind, is_taken) in [
            (None, SassKind::Listing, true),
            (Some(wanted), SassKind::Listing, true),
            (Some("90".parse()?), SassKind::Listing, false),
            (Some("90".parse()?), SassKind::Cubin, true),
        ] {
            let mut choice = SmChoice::new(Some(wanted));
            let mut instruction = SassInstruction { sm, ..SassInstruction::default() };
            assert_eq!(choice.takes(&mut instruction, kind), is_taken);
            assert_eq!(choice.has_only_others(), !is_taken);
            assert_eq!(instruction.sm, sm.or(Some(wanted)));
        }
        Ok(())
    }
}
