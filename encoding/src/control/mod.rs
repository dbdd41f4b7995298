//! Control words, with which the hardware schedules instructions (docs/ld.md section 5).
//!
//! Code comes in bundles of 32 bytes: a control word, then three instruction words. Slot `n`
//! (0..=2) of the control word starts at bit `21 * n`; bit 63 is 0.
//!
//! Three textual notations are in use; none of them shows the reuse flags:
//!
//! | [`Notation`] | example |
//! |---|---|
//! | [`Maxas`](Notation::Maxas) | `01:-:1:Y:d` |
//! | [`CuAssembler`](Notation::CuAssembler) | `[B0-----:R-:W0:Y:S13]` |
//! | [`Nvidia`](Notation::Nvidia) | `&req={0} &wr=0 ?WAIT13_END_GROUP` |

mod notation;
mod schedule;

pub use self::notation::{ControlText, Notation};
pub(crate) use self::notation::{read_cuassembler, read_maxas};
pub use self::schedule::Schedule;
use crate::field::Bits;
pub use crate::operand::{Scoreboard, WaitMask};

/// The width of a slot of a control word in bits.
const SLOT_BITS: u32 = 21;

/// The lowest bit of the slot in a 128-bit instruction word.
const WIDE_WORD_LSB: u32 = 105;

/// The word of `NOP`, which fills bundles of fewer than three instructions.
pub const NOP: u64 = 0x50b0_0000_0007_0f00;

/// The size of a bundle in bytes: one control word and three instruction words.
pub const BUNDLE_BYTES: usize = 32;

/// One slot of a control word: the scheduling of one instruction. [`describe`](Self::describe) explains its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// Bits 20:17: operand reuse flags, bit 0 the first register source.
    pub reuse: Bits<4>,
    /// Bits 16:11: the scoreboards to wait for, one bit each.
    pub wait: WaitMask,
    /// Bits 10:8: the scoreboard released when Ra has been read.
    pub read: Scoreboard,
    /// Bits 7:5: the scoreboard released when Rd is written.
    pub write: Scoreboard,
    /// Bit 4, active low: 0 lets another warp issue next.
    pub yield_bit: bool,
    /// Bits 3:0: cycles until the warp's next instruction issues.
    pub stall: Bits<4>,
}

impl Default for Control {
    /// No wait, no barrier, one cycle: the slot of an instruction without annotations.
    fn default() -> Self {
        Self {
            reuse: Bits::default(),
            wait: WaitMask::default(),
            read: Scoreboard::NONE,
            write: Scoreboard::NONE,
            yield_bit: false,
            stall: Bits::from_bits(1),
        }
    }
}

impl Control {
    /// Returns the slot in the lowest 21 bits; ignores the others.
    #[must_use]
    pub const fn unpack(bits: u64) -> Self {
        Self {
            reuse: Bits::from_bits(bits >> 17),
            wait: WaitMask::from_bits(bits >> 11),
            read: Scoreboard::from_bits(bits >> 8),
            write: Scoreboard::from_bits(bits >> 5),
            yield_bit: bits >> 4 & 1 != 0,
            stall: Bits::from_bits(bits),
        }
    }

    /// Returns the 21 bits of the slot, the inverse of [`unpack`](Self::unpack).
    #[must_use]
    pub const fn pack(self) -> u64 {
        (self.reuse.get() as u64) << 17
            | (self.wait.mask() as u64) << 11
            | self.read.bits() << 8
            | self.write.bits() << 5
            | (self.yield_bit as u64) << 4
            | self.stall.get() as u64
    }

    /// Returns the three slots of a control word; ignores bit 63.
    #[must_use]
    pub fn slots(control_word: u64) -> [Control; 3] {
        [0, 1, 2].map(|n| Self::unpack(control_word >> (SLOT_BITS * n)))
    }

    /// Returns the control word of three slots, with bit 63 clear.
    #[must_use]
    pub fn word(slots: [Control; 3]) -> u64 {
        slots.iter().rev().fold(0, |word, slot| word << SLOT_BITS | slot.pack())
    }

    /// Returns the scheduling of a 128-bit word, bits 121:105. The reuse flags are 0, because loads have a batch hint
    /// in their place.
    #[must_use]
    pub fn of_wide_word(word: u128) -> Control {
        Self { reuse: Bits::default(), ..Self::unpack((word >> WIDE_WORD_LSB) as u64) }
    }

    /// Returns the yield flag and the stall count, bits 4:0, which `?NAME` names.
    #[must_use]
    pub const fn schedule(self) -> Schedule {
        Schedule::of(self.yield_bit, self.stall)
    }

    /// Returns this slot with another yield flag and stall count.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        Self {
            yield_bit: schedule.value() & 16 != 0,
            stall: Bits::from_bits(u64::from(schedule.value())),
            ..self
        }
    }

    /// Returns whether the instruction issues together with the next one.
    #[must_use]
    pub const fn is_dual_issue(self) -> bool {
        self.schedule().value() == Schedule::DUAL_ISSUE.value()
    }
}

/// Three instruction words and their scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The instruction words, in program order.
    pub words: [u64; 3],
    /// The slots of the control word, in the same order.
    pub control: [Control; 3],
}

impl Bundle {
    /// Creates a bundle of three [`NOP`]s with the default schedule.
    #[must_use]
    pub fn nops() -> Self {
        Self { words: [NOP; 3], control: [Control::default(); 3] }
    }

    /// Creates a bundle from four words, the control word first; ignores bit 63 of it.
    #[must_use]
    pub fn from_words([control, first, second, third]: [u64; 4]) -> Self {
        Self { words: [first, second, third], control: Control::slots(control) }
    }

    /// Returns the four words, the control word first.
    #[must_use]
    pub fn to_words(self) -> [u64; 4] {
        let [first, second, third] = self.words;
        [Control::word(self.control), first, second, third]
    }

    /// Creates a bundle from 32 bytes, each word little-endian.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; BUNDLE_BYTES]) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Self::from_words(words)
    }

    /// Returns the 32 bytes, each word little-endian.
    #[must_use]
    pub fn to_bytes(self) -> [u8; BUNDLE_BYTES] {
        let mut bytes = [0; BUNDLE_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.to_words()) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0x001d0800fe0007f6, from a listing of nvdisasm: the slots are 0x7f6, 0x7f0 and 0x4.
    #[test]
    fn slots_of_a_control_word() {
        let slots = Control::slots(0x0000_0000_fe00_07f6);
        assert_eq!(slots[0].stall.get(), 6);
        assert!(slots[0].yield_bit);
        assert_eq!(slots[0].read, Scoreboard::NONE);
        assert_eq!(slots[1], Control::unpack(0x7f0));
        assert!(slots[1].is_dual_issue());
        assert_eq!(Control::word(slots), 0x0000_0000_fe00_07f6);
    }

    /// `&req={5,2,0} &rd=0x1 &wr=0x0 ?WAIT4_END_GROUP ?BATCH_START` in listings of nvdisasm 12.8.
    #[test]
    fn the_slot_of_a_wide_word() {
        let scheduling = 0b0011_0010_1001_0000_0100_u128;
        let control = Control::of_wide_word(scheduling << 105 | 0x7f);
        assert_eq!(control.wait.mask(), 0b10_0101);
        assert_eq!((control.read.number(), control.write.number()), (Some(1), Some(0)));
        assert_eq!((control.yield_bit, control.stall.get()), (false, 4));
        assert_eq!(control.reuse.get(), 0);
        assert_eq!(Control::of_wide_word(u128::MAX).reuse.get(), 0);
    }

    #[test]
    fn bundles_round_trip() {
        let words = [0x001c_7c00_fe00_07f6, 1, 2, 3];
        let bundle = Bundle::from_words(words);
        assert_eq!(bundle.to_words(), words);
        assert_eq!(Bundle::from_bytes(&bundle.to_bytes()), bundle);
        assert_eq!(bundle.to_bytes()[..2], [0xf6, 0x07]);
    }
}
