//! [`Schedule`]: yield flag and stall count, under the names of NVIDIA's tools (docs/ld.md section 2).

use core::fmt;

use crate::field::Bits;

/// Bits 4:0 of a slot, 0..=31: a stall count of 1..=15, dual issue (16), or a special wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule(u8);

impl Schedule {
    /// Issued together with the next instruction.
    pub const DUAL_ISSUE: Schedule = Schedule(16);

    /// Creates a schedule, or returns `None` if `value` is not below 32.
    #[must_use]
    pub const fn new(value: u8) -> Option<Self> {
        if value < 32 { Some(Self(value)) } else { None }
    }

    /// Combines the two fields of a slot.
    pub(super) const fn of(yield_bit: bool, stall: Bits<4>) -> Self {
        Self((yield_bit as u8) << 4 | stall.get())
    }

    /// Returns the value, 0..=31.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Looks up a name, in either case and without `?`.
    pub(crate) fn named(name: &str) -> Option<Self> {
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

/// Names without a number. The last name of a value is printed.
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

/// Names with a number n, 1..=last, for the value base + n. Again the last name of a value is printed.
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

/// Ignores the case of `prefix` and `suffix`.
fn strip_around<'t>(text: &'t str, prefix: &str, suffix: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    let (middle, tail) = rest.split_at_checked(rest.len().checked_sub(suffix.len())?)?;
    (head.eq_ignore_ascii_case(prefix) && tail.eq_ignore_ascii_case(suffix)).then_some(middle)
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
            // Unreachable: the two tables name all 32 values, as a test shows.
            None => write!(f, "{}", self.0),
        }
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
            assert_eq!(Schedule::named(&name), Some(schedule(value)), "{name}");
            assert_eq!(Schedule::named(&name.to_lowercase()), Some(schedule(value)));
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
            assert_eq!(Schedule::named(name), Some(schedule(value)), "{name}");
        }
        for name in
            ["W0G", "W16G", "W12", "W0", "trans12", "WAIT16_GROUP", "W+1G", "W01G", "", "WG"]
        {
            assert_eq!(Schedule::named(name), None, "{name}");
        }
        for (value, name) in
            [(0, "DRAIN"), (1, "WAIT1_END_GROUP"), (16, "DUAL"), (17, "trans1"), (29, "YIELD6")]
        {
            assert_eq!(schedule(value).to_string(), name);
        }
    }
}
