//! The scheduling of a 128-bit word as nvdisasm 12.8 writes it after the operands (docs/load-sm70.md section 6).

use core::fmt;

use super::annotation::BATCHES;
use crate::instruction::Instruction;
use crate::operand::Scoreboard;
use crate::sm::Tail;
use crate::table::row::Slot;

/// The annotations that nvdisasm 12.8 appends to the text of a load: none before SM 8.6, the PM field before 12.0, and
/// from 12.0 on every field that is not 0 or none. Created by [`Instruction::annotations`].
#[derive(Clone, Copy, Debug)]
pub struct SchedulingText {
    load: Instruction,
}

impl Instruction {
    /// Returns an object that displays the annotations that nvdisasm 12.8 appends to the [text](Self::text), each after
    /// a space. Version 13.5 appends none.
    ///
    /// ```
    /// use warpload_encoding::parse_line;
    ///
    /// let text = "LDCU UR8, c[0x0][0x390] &wr=0x1 ?trans1";
    /// let load = parse_line(text, "120".parse()?)?.instruction;
    /// assert_eq!(format!("{load}{}", load.annotations()), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn annotations(&self) -> SchedulingText {
        SchedulingText { load: *self }
    }
}

impl fmt::Display for SchedulingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { load } = self;
        let tail = load.sm().tail();
        if tail == Tail::All {
            let control = load.control().unwrap_or_default();
            if control.wait.mask() != 0 {
                f.write_str(" &req={")?;
                let mut separator = "";
                for n in (0..6).rev().filter(|n| control.wait.mask() >> n & 1 != 0) {
                    write!(f, "{separator}{n}")?;
                    separator = ",";
                }
                f.write_str("}")?;
            }
            for (name, barrier) in [("rd", control.read), ("wr", control.write)] {
                if let Some(number) = Scoreboard::number(barrier) {
                    write!(f, " &{name}={number:#x}")?;
                }
            }
            let schedule = control.schedule();
            if schedule.value() != 0 {
                write!(f, " ?{schedule}")?;
            }
            let batch = usize::from(load.batch()).checked_sub(1);
            if let Some(name) = batch.and_then(|n| BATCHES.get(n)) {
                write!(f, " ?{name}")?;
            }
        }
        match load.get(Slot::Pm) {
            pm @ 1.. if tail != Tail::Nothing => write!(f, " ?PM{pm}"),
            _ => Ok(()),
        }
    }
}
