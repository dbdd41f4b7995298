//! [`State`]: the object that `mbarrier` instructions work on, in 8 bytes of shared memory.
//!
//! A phase ends once no arrivals and no bytes of asynchronous copies are pending. [PTX ISA, "Parallel Synchronization
//! and Communication Instructions: mbarrier"] Hardware's layout of the bytes is opaque to programs, so this one is our
//! own: a mark in bits 0 and 1, pending arrivals from bit 2 on, those that each phase expects from bit 22 on, the
//! pending bytes plus 2^20 from bit 42 on, and the phase in bit 63. A token is the same word.

use crate::code::Arrive;
use crate::fault::MbarrierFault;
use crate::lanes::{LaneFunction, LaneOperation};
use crate::registers::Origin;
use crate::scalar::ScalarType as T;
use warpload::lane::LANES;

/// The limit of all counts.
const COUNT: u64 = (1 << 20) - 1;

/// Bits 0 and 1 of every mbarrier, so that zeros are none.
const MARK: u64 = 1;

/// The state of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The parity of the current phase.
    pub(crate) phase: bool,
    /// The arrivals that each phase waits for.
    pub(crate) expected: u64,
    /// The arrivals that the current phase still waits for.
    pub(crate) pending: u64,
    /// The bytes that the current phase still waits for. Negative if more were copied than announced so far.
    pub(crate) bytes: i64,
}

impl State {
    /// The state after `mbarrier.init`.
    pub(crate) fn new(count: u64) -> Result<Self, MbarrierFault> {
        let count = checked(count)?;
        Ok(Self { phase: false, expected: count, pending: count, bytes: 0 })
    }

    pub(crate) fn of_word(word: u64) -> Result<Self, MbarrierFault> {
        if word & 3 != MARK {
            return Err(MbarrierFault::NotInitialized);
        }
        Ok(Self {
            phase: word >> 63 != 0,
            expected: word >> 22 & COUNT,
            pending: word >> 2 & COUNT,
            bytes: (word >> 42 & (2 * COUNT + 1)) as i64 - (1 << 20),
        })
    }

    pub(crate) fn word(self) -> u64 {
        let bytes = (self.bytes + (1 << 20)) as u64;
        u64::from(self.phase) << 63 | bytes << 42 | self.expected << 22 | self.pending << 2 | MARK
    }

    /// The state after an arrival. `argument` is the count, or the number of bytes with `.expect_tx`.
    pub(crate) fn arrive(self, how: Arrive, argument: u64) -> Result<Self, MbarrierFault> {
        let (mut next, count) = match how.expects_tx {
            true => (self.with_bytes(argument as i64)?, 1),
            false => (self, checked(argument)?),
        };
        let too_many = MbarrierFault::Arrivals { given: count, pending: self.pending };
        next.pending = next.pending.checked_sub(count).ok_or(too_many)?;
        if how.drops {
            next.expected = next.expected.checked_sub(count).ok_or(too_many)?;
        }
        let next = next.settled();
        if how.completes_not && next.phase != self.phase {
            return Err(MbarrierFault::Completes);
        }
        Ok(next)
    }

    /// The state after `expect_tx`, or after `complete_tx` with a negative number of bytes.
    pub(crate) fn expect(self, bytes: i64) -> Result<Self, MbarrierFault> {
        Ok(self.with_bytes(bytes)?.settled())
    }

    fn with_bytes(self, added: i64) -> Result<Self, MbarrierFault> {
        let bytes = self.bytes + added;
        match bytes.unsigned_abs() {
            0..=COUNT => Ok(Self { bytes, ..self }),
            _ => Err(MbarrierFault::Transactions(bytes)),
        }
    }

    /// Begins the next phase if this one has ended.
    fn settled(self) -> Self {
        match (self.pending, self.bytes) {
            (0, 0) => Self { phase: !self.phase, pending: self.expected, ..self },
            _ => self,
        }
    }
}

fn checked(count: u64) -> Result<u64, MbarrierFault> {
    match count {
        1..=COUNT => Ok(count),
        _ => Err(MbarrierFault::Count(count)),
    }
}

/// `mbarrier.pending_count`: the arrivals that were pending when a token was made.
#[must_use]
pub fn pending_count() -> Option<LaneOperation> {
    let function = LaneFunction::new(|r, o, e| {
        let tokens = *r.get::<u64>(o.a);
        r.map1(o, e, |token: u64| (token >> 2 & COUNT) as u32);
        let is_none = |lane: &usize| State::of_word(tokens[*lane]).is_err();
        let none = (0..LANES).filter(is_none).fold(0, |lanes, lane| lanes | 1 << lane) & e;
        if none != 0 {
            r.forget(o.d, none, Origin::Undefined(o.site));
        }
    });
    LaneOperation::new(T::B32, &[T::B64], function)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const PLAIN: Arrive =
        Arrive { drops: false, completes_not: false, expects_tx: false, is_of_copies: false };

    #[test]
    fn words_hold_every_state() {
        for bytes in [-(COUNT as i64), -1, 0, 1, COUNT as i64] {
            for (expected, pending) in [(1, 0), (COUNT, COUNT), (COUNT, 1)] {
                for phase in [false, true] {
                    let state = State { phase, expected, pending, bytes };
                    assert_eq!(State::of_word(state.word()), Ok(state));
                }
            }
        }
        assert_eq!(State::of_word(0), Err(MbarrierFault::NotInitialized));
    }

    #[test]
    fn phases_end_without_pending_arrivals_and_bytes() {
        let start = State::new(2).unwrap();
        let waits = start.arrive(PLAIN, 1).unwrap();
        assert!(!waits.phase);
        assert!(waits.arrive(PLAIN, 1).unwrap().phase);
        // A copy may complete before its bytes are announced.
        let early = start.expect(-16).unwrap().arrive(PLAIN, 2).unwrap();
        assert!(!early.phase);
        assert!(early.expect(16).unwrap().phase);
        let announced = waits.arrive(Arrive { expects_tx: true, ..PLAIN }, 16).unwrap();
        assert!(!announced.phase && !announced.expect(-8).unwrap().phase);
        assert_eq!(announced.expect(-16).unwrap(), State { phase: true, ..start });
        let dropped = start.arrive(Arrive { drops: true, ..PLAIN }, 1).unwrap();
        let dropped = dropped.arrive(PLAIN, 1).unwrap();
        assert_eq!(dropped, State { phase: true, expected: 1, pending: 1, bytes: 0 });
    }

    #[test]
    fn undefined_operations_are_refused() {
        let start = State::new(2).unwrap();
        let no_complete = Arrive { completes_not: true, ..PLAIN };
        assert_eq!(start.arrive(no_complete, 1).unwrap().pending, 1);
        assert_eq!(start.arrive(no_complete, 2), Err(MbarrierFault::Completes));
        let too_many = MbarrierFault::Arrivals { given: 3, pending: 2 };
        assert_eq!(start.arrive(PLAIN, 3), Err(too_many));
        for count in [0, 1 << 20] {
            assert_eq!(start.arrive(PLAIN, count), Err(MbarrierFault::Count(count)));
            assert_eq!(State::new(count), Err(MbarrierFault::Count(count)));
        }
        let most = COUNT as i64;
        let over = Err(MbarrierFault::Transactions(most + 1));
        assert_eq!(start.expect(most).unwrap().expect(1), over);
        assert!(start.expect(-most).unwrap().expect(-1).is_err());
    }
}
