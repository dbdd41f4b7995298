//! [`Scheduling`]: the control code of an instruction as numbers.

use warpload_encoding::{Control, MachineWord};

/// The scheduling of an instruction: the fields of its control code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Scheduling {
    /// Cycles to wait after it.
    pub stall: u8,
    /// Bit 4 of the control code, not inverted: whether another warp may come first.
    pub r#yield: bool,
    /// The barrier that is set when its results are written; `None` if none is.
    pub write_barrier: Option<u8>,
    /// The barrier that is set when its operands are read; `None` if none is.
    pub read_barrier: Option<u8>,
    /// The barriers to wait for, bit n for barrier n.
    pub wait_mask: u8,
    /// The operands that stay in the reuse cache.
    pub reuse: u8,
    /// The field BATCH of a word of 128 bits.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub batch: Option<u8>,
    /// The field PM of a word of 128 bits.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub pm: Option<u8>,
}

impl Scheduling {
    /// Reads a control code. `word` adds the fields that only words of 128 bits have.
    #[must_use]
    pub fn new(control: Control, word: Option<MachineWord>) -> Self {
        let wide = word.and_then(MachineWord::wide);
        let bits = |low: u32, width: u32| wide.map(|word| (word >> low) as u8 & ((1 << width) - 1));
        Self {
            stall: control.stall.get(),
            r#yield: control.yield_bit,
            write_barrier: control.write.number(),
            read_barrier: control.read.number(),
            wait_mask: control.wait.mask(),
            reuse: control.reuse.get(),
            batch: bits(122, 3),
            pm: bits(102, 2),
        }
    }
}
