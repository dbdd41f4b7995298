//! [`ReplayRemark`]: further facts for the reader of a replay's counts.

use std::fmt;

use crate::code::{CodeCheck, CodeMismatch};
use crate::options::ReplayData;
use crate::replayed::Replayed;

/// The most kernels to name in a remark.
const NAMED: usize = 8;

/// A remark for the reader of a replay's counts. Its text is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayRemark {
    /// Loads were selected, and none was counted.
    NoLoadSelected,
    /// Lanes of stores and atomics access memory outside of the image.
    OutsideImage {
        /// The number of lanes.
        lanes: u64,
    },
    /// No cubin has these kernels.
    MissingKernels(CodeCheck),
    /// Cubins have other instructions at some program counters.
    OtherCode(CodeCheck),
}

impl Replayed<'_> {
    /// Returns remarks for the reader of the counts.
    #[must_use]
    pub fn remarks(&self) -> Vec<ReplayRemark> {
        let mut remarks = Vec::new();
        if self.options().get_selection().is_some() && self.accesses() == 0 {
            remarks.push(ReplayRemark::NoLoadSelected);
        }
        if let ReplayData::Image(_) = self.options().get_data() {
            let outside = self.stores().map(|row| row.summary.lane_faults.outside_allocation);
            let lanes = outside.sum();
            remarks.extend((lanes > 0).then_some(ReplayRemark::OutsideImage { lanes }));
        }
        if let Some(check) = self.code_check() {
            let (is_missing, is_other) = (!check.missing.is_empty(), check.first.is_some());
            remarks.extend(is_missing.then(|| ReplayRemark::MissingKernels(check.clone())));
            remarks.extend(is_other.then_some(ReplayRemark::OtherCode(check)));
        }
        remarks
    }
}

impl fmt::Display for ReplayRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLoadSelected => f.write_str("no memory access is selected"),
            Self::OutsideImage { lanes } => write!(
                f,
                "{lanes} lane{} of stores and atomics outside the image: sectors and wavefronts \
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
