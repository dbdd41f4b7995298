//! [`ReplayRemark`]: further facts for the reader of a replay's counts.

use std::fmt;

use crate::code::{CodeCheck, CodeMismatch};
use crate::options::{ReplayData, ReplayOptions};
use crate::row::AccessKind;
use crate::summary::Summary;

/// The most kernels to name in a remark.
const NAMED: usize = 8;

/// A remark for the reader of a replay's counts. Its text is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayRemark {
    /// Accesses were selected, and none was counted.
    NothingSelected,
    /// Lanes of other accesses than loads access memory outside of the image.
    OutsideImage {
        /// The number of lanes.
        lanes: u64,
    },
    /// No cubin has these kernels.
    MissingKernels(CodeCheck),
    /// Cubins have other instructions at some program counters.
    OtherCode(CodeCheck),
}

impl ReplayRemark {
    /// Returns the remarks on a replay with these options.
    #[must_use]
    pub fn all(summary: &Summary, options: &ReplayOptions<'_>) -> Vec<Self> {
        let mut remarks = Vec::new();
        let counts = &summary.counts;
        if summary.selected.is_some() && counts.all().accesses == 0 {
            remarks.push(Self::NothingSelected);
        }
        if let ReplayData::Image(_) = options.data {
            let kinds = AccessKind::ALL.into_iter().filter(|kind| *kind != AccessKind::Load);
            let lanes = kinds.map(|kind| counts.kind(kind).lane_faults.outside_allocation).sum();
            remarks.extend((lanes > 0).then_some(Self::OutsideImage { lanes }));
        }
        if let Some(functions) = options.functions {
            let check = CodeCheck::new(summary, functions);
            let (is_missing, is_other) = (!check.missing.is_empty(), check.first.is_some());
            remarks.extend(is_missing.then(|| Self::MissingKernels(check.clone())));
            remarks.extend(is_other.then_some(Self::OtherCode(check)));
        }
        remarks
    }
}

impl fmt::Display for ReplayRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingSelected => f.write_str("no memory access is selected"),
            Self::OutsideImage { lanes } => write!(
                f,
                "{lanes} lane{} of stores, atomics and copies outside the image: sectors and wavefronts \
                 are counted without them",
                if *lanes == 1 { "" } else { "s" }
            ),
            Self::MissingKernels(CodeCheck { missing, .. }) => {
                let named: Vec<String> =
                    missing.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
                write!(f, "no cubin has {}", named.join(", "))?;
                match missing.len() - named.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::OtherCode(CodeCheck {
                program_counters, outside, other_opcode, first, ..
            }) => {
                write!(
                    f,
                    "of {program_counters} program counter{}, {outside} are not in the cubins and \
                     {other_opcode} have another opcode there: are the cubins of another build?",
                    if *program_counters == 1 { "" } else { "s" }
                )?;
                let Some(CodeMismatch { kernel, pc, opcode, found }) = first else { return Ok(()) };
                write!(
                    f,
                    " The first, {kernel}+{pc:#x}, is {opcode} in the trace, {found} in the cubin"
                )
            }
        }
    }
}
