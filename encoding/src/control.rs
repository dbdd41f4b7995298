//! Control words: how the hardware schedules the instructions beside them
//! (docs/ld.md section 5).
//!
//! Code comes in bundles of 32 bytes: a control word, then three instruction words. Slot `n`
//! (0..=2) of the control word starts at bit `21 * n`; bit 63 is 0.
//!
//! Three textual notations are in use; none of them carries the reuse flags:
//!
//! | [`Notation`] | example |
//! |---|---|
//! | [`Maxas`](Notation::Maxas) | `01:-:1:Y:d` |
//! | [`CuAssembler`](Notation::CuAssembler) | `[B0-----:R-:W0:Y:S13]` |
//! | [`Nvidia`](Notation::Nvidia) | `&req={0} &wr=0 ?WAIT13_END_GROUP` |

use core::fmt;

use crate::field::{Bits, FieldValue};
pub use crate::layout::Control;
use crate::table::Layout;

/// How many bits a slot of a control word has.
const SLOT_BITS: u32 = Control::WIDTH;

/// The instruction word that does nothing; it fills the bundles that have fewer than three
/// instructions.
pub const NOP: u64 = 0x50b0_0000_0007_0f00;

/// Bytes of a bundle: one control word and three instruction words.
pub const BUNDLE_BYTES: usize = 32;

/// One of the six scoreboard barriers, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Barrier(Bits<3>);

impl Barrier {
    /// No barrier, encoded as 7.
    pub const NONE: Barrier = Barrier(Bits::<3>::MAX);

    /// The barrier of that number. The hardware has 0..=5; 6 has an encoding that no compiler
    /// writes. Nothing from 7 on.
    pub const fn new(number: u8) -> Option<Self> {
        match Bits::<3>::new(number) {
            Some(bits) if number != Self::NONE.0.get() => Some(Self(bits)),
            _ => None,
        }
    }

    /// The barrier's number, 0..=6, or nothing for none.
    pub const fn number(self) -> Option<u8> {
        if self.0.get() == Self::NONE.0.get() { None } else { Some(self.0.get()) }
    }
}

impl FieldValue for Barrier {
    const WIDTH: u32 = 3;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(Bits::from_bits(bits))
    }

    #[inline]
    fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(number) => write!(f, "barrier {number}"),
            None => f.write_str("none"),
        }
    }
}

/// The barriers that an instruction waits for, one bit each, bit 0 barrier 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct WaitMask(Bits<6>);

impl WaitMask {
    /// The mask of those bits, where it is below 64.
    pub const fn new(mask: u8) -> Option<Self> {
        match Bits::<6>::new(mask) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// The bits, 0..=63.
    pub const fn mask(self) -> u8 {
        self.0.get()
    }

    /// The barriers' numbers, ascending.
    pub fn barriers(self) -> impl Iterator<Item = u8> {
        (0..6).filter(move |n| self.mask() >> n & 1 != 0)
    }
}

impl FieldValue for WaitMask {
    const WIDTH: u32 = 6;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(Bits::from_bits(bits))
    }

    #[inline]
    fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mask() == 0 {
            return f.write_str("wait for none");
        }
        f.write_str("wait for ")?;
        write_list(f, self.barriers())
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, numbers: impl Iterator<Item = u8>) -> fmt::Result {
    for (i, number) in numbers.enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        write!(f, "{number}")?;
    }
    Ok(())
}

impl Default for Control {
    /// No wait, no barrier, one cycle: what an instruction written without annotations has.
    fn default() -> Self {
        Self {
            reuse: Bits::default(),
            wait: WaitMask::default(),
            read: Barrier::NONE,
            write: Barrier::NONE,
            yield_bit: false,
            stall: Bits::from_bits(1),
        }
    }
}

impl Control {
    /// The three slots of a control word. Bit 63 is not looked at.
    pub fn slots(control_word: u64) -> [Control; 3] {
        [0, 1, 2].map(|n| Self::unpack(control_word >> (SLOT_BITS * n)))
    }

    /// The control word of three slots, bit 63 clear.
    pub fn word(slots: [Control; 3]) -> u64 {
        slots.iter().rev().fold(0, |word, slot| word << SLOT_BITS | slot.pack())
    }

    /// Yield flag and stall count together, bits 4:0: what `?NAME` names.
    pub const fn schedule(self) -> Schedule {
        Schedule((self.yield_bit as u8) << 4 | self.stall.get())
    }

    /// This slot with another yield flag and stall count.
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        Self {
            yield_bit: schedule.0 & 16 != 0,
            stall: Bits::from_bits(u64::from(schedule.0)),
            ..self
        }
    }

    /// Whether the instruction issues together with the next one.
    pub const fn is_dual_issue(self) -> bool {
        self.schedule().0 == Schedule::DUAL_ISSUE.0
    }

    /// Writes the slot in `notation`. The reuse flags are in none of them.
    pub const fn display(self, notation: Notation) -> ControlText {
        ControlText { control: self, notation }
    }
}

/// Bits 4:0 of a slot, 0..=31: a stall count of 1..=15, dual issue (16), or a special wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule(u8);

impl Schedule {
    /// Issued together with the next instruction.
    pub const DUAL_ISSUE: Schedule = Schedule(16);

    /// The schedule of that value, where it is below 32.
    pub const fn new(value: u8) -> Option<Self> {
        if value < 32 { Some(Self(value)) } else { None }
    }

    /// The value, 0..=31.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// The schedule that a `?NAME` names, whatever its case; the name is given without `?`.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some((_, value)) =
            SCHEDULE_NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
        {
            return Some(Self(*value));
        }
        COUNTED_NAMES.iter().find_map(|counted| {
            let middle = strip_around(name, counted.prefix, counted.suffix)?;
            let canonical = !middle.starts_with('0') && middle.bytes().all(|b| b.is_ascii_digit());
            let n: u8 = middle.parse().ok()?;
            (canonical && n <= counted.last).then(|| Self(counted.base + n))
        })
    }
}

/// The names without a number. Printing uses the last one that stands here for a value.
const SCHEDULE_NAMES: [(&str, u8); 9] = [
    ("YIELD_SB", 0),
    ("DRAIN", 0),
    ("floxy2", 16),
    ("DUAL", 16),
    ("PIXBAR", 28),
    ("YIELD", 29),
    ("YIELD6", 29),
    ("YIELD8", 30),
    ("OFF_DECK", 31),
];

/// Names with a number n in the middle, 1..=last, of value base + n. As above, the last one
/// that gives a value is the one that is printed.
const COUNTED_NAMES: [CountedName; 5] = [
    CountedName { prefix: "W", suffix: "G", base: 0, last: 15 },
    CountedName { prefix: "WAIT", suffix: "_GROUP", base: 0, last: 15 },
    CountedName { prefix: "WAIT", suffix: "_END_GROUP", base: 0, last: 15 },
    CountedName { prefix: "W", suffix: "", base: 16, last: 11 },
    CountedName { prefix: "trans", suffix: "", base: 16, last: 11 },
];

struct CountedName {
    prefix: &'static str,
    suffix: &'static str,
    base: u8,
    last: u8,
}

/// What stands between `prefix` and `suffix`, whatever the case.
fn strip_around<'t>(text: &'t str, prefix: &str, suffix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    let rest = text.get(prefix.len()..)?;
    let end = rest.len().checked_sub(suffix.len())?;
    let tail = rest.get(end..)?;
    (head.eq_ignore_ascii_case(prefix) && tail.eq_ignore_ascii_case(suffix)).then_some(&rest[..end])
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = SCHEDULE_NAMES.iter().rev().find(|(_, value)| *value == self.0) {
            return f.write_str(name);
        }
        let counted = COUNTED_NAMES.iter().rev().find_map(|counted| {
            let n = self.0.checked_sub(counted.base)?;
            (1..=counted.last).contains(&n).then_some((counted, n))
        });
        match counted {
            Some((counted, n)) => write!(f, "{}{n}{}", counted.prefix, counted.suffix),
            // Not reached: the two tables name all 32 values, as a test shows.
            None => write!(f, "{}", self.0),
        }
    }
}

/// A way to write a slot of a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// `wait:read:write:yield:stall`, as maxas writes it in front of an instruction.
    Maxas,
    /// `[B------:R-:W-:-:S01]`, as CuAssembler writes it in front of an instruction.
    CuAssembler,
    /// `&req={0} &rd=1 &wr=0 ?WAIT1_END_GROUP` behind the operands. A barrier value of 6 is
    /// printed as it stands, but not read back: `&rd` and `&wr` take 0..=5.
    Nvidia,
}

impl Notation {
    /// Whether the notation stands behind the instruction instead of in front of it.
    pub const fn is_behind(self) -> bool {
        matches!(self, Self::Nvidia)
    }
}

/// A slot of a control word, ready to be written; see [`Control::display`].
#[derive(Clone, Copy, Debug)]
pub struct ControlText {
    control: Control,
    notation: Notation,
}

impl fmt::Display for ControlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.notation {
            Notation::Maxas => fmt_maxas(self.control, f),
            Notation::CuAssembler => fmt_cuassembler(self.control, f),
            Notation::Nvidia => fmt_nvidia(self.control, f),
        }
    }
}

fn yield_mark(control: Control) -> char {
    if control.yield_bit { '-' } else { 'Y' }
}

fn fmt_maxas(control: Control, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match control.wait.mask() {
        0 => f.write_str("--")?,
        mask => write!(f, "{mask:02x}")?,
    }
    for barrier in [control.read, control.write] {
        match barrier.number() {
            Some(number) => write!(f, ":{}", number + 1)?,
            None => f.write_str(":-")?,
        }
    }
    write!(f, ":{}:{:x}", yield_mark(control), control.stall.get())
}

fn fmt_cuassembler(control: Control, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("[B")?;
    for n in 0..6 {
        if control.wait.mask() >> n & 1 != 0 {
            write!(f, "{n}")?;
        } else {
            f.write_str("-")?;
        }
    }
    for (letter, barrier) in [('R', control.read), ('W', control.write)] {
        match barrier.number() {
            Some(number) => write!(f, ":{letter}{number}")?,
            None => write!(f, ":{letter}-")?,
        }
    }
    write!(f, ":{}:S{:02}]", yield_mark(control), control.stall.get())
}

fn fmt_nvidia(control: Control, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if control.wait.mask() != 0 {
        f.write_str("&req={")?;
        write_list(f, control.wait.barriers())?;
        f.write_str("} ")?;
    }
    for (name, barrier) in [("rd", control.read), ("wr", control.write)] {
        if let Some(number) = barrier.number() {
            write!(f, "&{name}={number} ")?;
        }
    }
    write!(f, "?{}", control.schedule())
}

/// A bundle: three instruction words and how each is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The instruction words, in the order of execution.
    pub words: [u64; 3],
    /// The slots of the control word, in the same order.
    pub control: [Control; 3],
}

impl Bundle {
    /// Three times [`NOP`], with the default schedule.
    pub fn nops() -> Self {
        Self { words: [NOP; 3], control: [Control::default(); 3] }
    }

    /// The bundle of four words, the control word first. Bit 63 of it is not looked at.
    pub fn from_words([control, first, second, third]: [u64; 4]) -> Self {
        Self { words: [first, second, third], control: Control::slots(control) }
    }

    /// The four words, the control word first.
    pub fn to_words(self) -> [u64; 4] {
        let [first, second, third] = self.words;
        [Control::word(self.control), first, second, third]
    }

    /// The bundle of 32 bytes, each word little-endian.
    pub fn from_bytes(bytes: &[u8; BUNDLE_BYTES]) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Self::from_words(words)
    }

    /// The 32 bytes, each word little-endian.
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
    use std::string::ToString;

    use super::*;

    fn schedule(value: u8) -> Schedule {
        Schedule::new(value).expect("below 32")
    }

    #[test]
    fn every_schedule_has_a_name_that_reads_back() {
        for value in 0..32 {
            let name = schedule(value).to_string();
            assert!(!name.starts_with(|c: char| c.is_ascii_digit()), "{value} has no name");
            assert_eq!(Schedule::from_name(&name), Some(schedule(value)), "{name}");
            assert_eq!(Schedule::from_name(&name.to_lowercase()), Some(schedule(value)));
        }
    }

    /// The names of docs/ld.md section 2, at the ends of their ranges and just outside.
    #[test]
    fn schedule_names() {
        for (name, value) in [
            ("W1G", 1),
            ("W15G", 15),
            ("WAIT7_GROUP", 7),
            ("WAIT15_END_GROUP", 15),
            ("W1", 17),
            ("W11", 27),
            ("trans1", 17),
            ("TRANS11", 27),
            ("YIELD_SB", 0),
            ("DRAIN", 0),
            ("floxy2", 16),
            ("DUAL", 16),
            ("PIXBAR", 28),
            ("YIELD", 29),
            ("YIELD6", 29),
            ("YIELD8", 30),
            ("OFF_DECK", 31),
        ] {
            assert_eq!(Schedule::from_name(name), Some(schedule(value)), "{name}");
        }
        for name in
            ["W0G", "W16G", "W12", "W0", "trans12", "WAIT16_GROUP", "W+1G", "W01G", "", "WG"]
        {
            assert_eq!(Schedule::from_name(name), None, "{name}");
        }
        for (value, name) in
            [(0, "DRAIN"), (1, "WAIT1_END_GROUP"), (16, "DUAL"), (17, "trans1"), (29, "YIELD6")]
        {
            assert_eq!(schedule(value).to_string(), name);
        }
    }

    /// 0x001d0800fe0007f6, from a listing of nvdisasm: the slots are 0x7f6, 0x7f0 and 0x4.
    #[test]
    fn slots_of_a_control_word() {
        let slots = Control::slots(0x0000_0000_fe00_07f6);
        assert_eq!(slots[0].stall.get(), 6);
        assert!(slots[0].yield_bit);
        assert_eq!(slots[0].read, Barrier::NONE);
        assert_eq!(slots[1], Control::unpack(0x7f0));
        assert!(slots[1].is_dual_issue());
        assert_eq!(Control::word(slots), 0x0000_0000_fe00_07f6);
    }

    #[test]
    fn notations() {
        let control = Control {
            reuse: Bits::default(),
            wait: WaitMask::new(0b101).expect("fits"),
            read: Barrier::new(2).expect("fits"),
            write: Barrier::new(0).expect("fits"),
            yield_bit: false,
            stall: Bits::new(13).expect("fits"),
        };
        let text = |notation| control.display(notation).to_string();
        assert_eq!(text(Notation::Maxas), "05:3:1:Y:d");
        assert_eq!(text(Notation::CuAssembler), "[B0-2---:R2:W0:Y:S13]");
        assert_eq!(text(Notation::Nvidia), "&req={0,2} &rd=2 &wr=0 ?WAIT13_END_GROUP");
        let plain = Control { yield_bit: true, ..Control::default() };
        assert_eq!(plain.display(Notation::Maxas).to_string(), "--:-:-:-:1");
        assert_eq!(plain.display(Notation::CuAssembler).to_string(), "[B------:R-:W-:-:S01]");
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
