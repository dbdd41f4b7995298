//! Writes and reads the notations of a slot (docs/ld.md section 5). The line parser reads NVIDIA's, because it follows
//! the operands.

use core::fmt;

use super::Control;
use crate::field::Bits;
use crate::operand::{Scoreboard, WaitMask, write_list};

/// A textual notation for a slot of a control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notation {
    /// `wait:read:write:yield:stall`, which maxas writes before an instruction.
    Maxas,
    /// `[B------:R-:W-:-:S01]`, which CuAssembler writes before an instruction.
    CuAssembler,
    /// `&req={0} &rd=1 &wr=0 ?WAIT1_END_GROUP` after the operands. Scoreboard 6 is printed, but not
    /// accepted: `&rd` and `&wr` take 0..=5.
    Nvidia,
}

impl Notation {
    /// Returns whether the notation follows the instruction instead of preceding it.
    #[must_use]
    pub const fn is_trailing(self) -> bool {
        matches!(self, Self::Nvidia)
    }
}

/// A slot of a control word in a notation. Created by [`Control::display`].
#[derive(Clone, Copy, Debug)]
pub struct ControlText {
    control: Control,
    notation: Notation,
}

impl Control {
    /// Returns an object that displays the slot in `notation`. No notation shows the reuse flags.
    #[must_use]
    pub const fn display(self, notation: Notation) -> ControlText {
        ControlText { control: self, notation }
    }
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
        write_list(f, control.wait.scoreboards())?;
        f.write_str("} ")?;
    }
    for (name, barrier) in [("rd", control.read), ("wr", control.write)] {
        if let Some(number) = barrier.number() {
            write!(f, "&{name}={number} ")?;
        }
    }
    write!(f, "?{}", control.schedule())
}

/// Reads `wait:read:write:yield:stall`.
pub(crate) fn read_maxas(text: &str) -> Option<Control> {
    let mut parts = text.split(':');
    let mut next = || parts.next();
    let (wait, read, write, yields, stall) = (next()?, next()?, next()?, next()?, next()?);
    if parts.next().is_some() {
        return None;
    }
    let wait = match wait {
        "--" => 0,
        // Digit by digit: `from_str_radix` would accept a sign.
        digits => {
            let (high, low) = digits.split_at_checked(1)?;
            digit(high, 16)? << 4 | digit(low, 16)?
        }
    };
    let barrier = |text: &str| match text {
        "-" => Some(Scoreboard::NONE),
        _ => Scoreboard::new(digit(text, 10)?.checked_sub(1)?),
    };
    Some(Control {
        reuse: Bits::default(),
        wait: WaitMask::new(wait)?,
        read: barrier(read)?,
        write: barrier(write)?,
        yield_bit: read_yield(yields)?,
        stall: Bits::new(digit(stall, 16)?)?,
    })
}

/// Reads `[B------:R-:W-:-:S01]`.
pub(crate) fn read_cuassembler(text: &str) -> Option<Control> {
    let mut parts = text.strip_prefix('[')?.strip_suffix(']')?.split(':');
    let mut next = || parts.next();
    let (waits, read, write, yields, stall) = (next()?, next()?, next()?, next()?, next()?);
    if parts.next().is_some() {
        return None;
    }
    let waits = strip_letter(waits, 'B')?;
    if waits.len() != 6 {
        return None;
    }
    let mut mask = 0;
    for (n, mark) in (0..).zip(waits.bytes()) {
        match mark {
            b'-' => {}
            _ if mark == b'0' + n => mask |= 1 << n,
            _ => return None,
        }
    }
    let barrier = |text: &str| match text {
        "-" => Some(Scoreboard::NONE),
        _ => Scoreboard::new(digit(text, 10)?),
    };
    let stall = strip_letter(stall, 'S')?;
    let two_digits = stall.len() == 2 && stall.bytes().all(|byte| byte.is_ascii_digit());
    Some(Control {
        reuse: Bits::default(),
        wait: WaitMask::new(mask)?,
        read: barrier(strip_letter(read, 'R')?)?,
        write: barrier(strip_letter(write, 'W')?)?,
        yield_bit: read_yield(yields)?,
        stall: Bits::new(stall.parse().ok().filter(|_| two_digits)?)?,
    })
}

fn strip_letter(text: &str, letter: char) -> Option<&str> {
    text.strip_prefix([letter, letter.to_ascii_lowercase()])
}

fn digit(text: &str, radix: u32) -> Option<u8> {
    let mut characters = text.chars();
    let value = characters.next()?.to_digit(radix)?;
    characters.next().is_none().then_some(value as u8)
}

/// Reads the yield flag: `Y` if bit 4 is 0, `-` if it is 1.
fn read_yield(text: &str) -> Option<bool> {
    match text {
        "Y" | "y" => Some(false),
        "-" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn notations() {
        let control = Control {
            reuse: Bits::default(),
            wait: WaitMask::new(0b101).expect("fits"),
            read: Scoreboard::new(2).expect("fits"),
            write: Scoreboard::new(0).expect("fits"),
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
}
