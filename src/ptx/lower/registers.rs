//! Numbers for the registers of lowered loads.
//!
//! This is no register allocator: registers are numbered as they come, from R2 on (R1 is the base of
//! local memory), and predicates from P0 on. Where the numbers run out they begin anew, and what was
//! numbered before is forgotten.

use std::collections::HashMap;

use warpload_encoding::{Pred, Reg};

use crate::ptx::meaning::Register;

const FIRST: u8 = 2;
/// R254 is the last register; the last whole group of four ends in front of it.
const END: u8 = 252;

/// What has a number.
#[derive(Default)]
pub(super) struct Numbers {
    general: Numbering,
    predicates: Numbering,
    /// How many labels there have been: formed addresses are known up to the next one.
    block: u32,
}

/// What a register of the lowered code holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The value of a PTX register.
    Register(Register),
    /// A generic address that was formed from a PTX register, or its predicate.
    Formed(Register),
}

#[derive(Default)]
struct Numbering {
    /// The number of each source, and the block that gave it.
    numbers: HashMap<Source, (u8, u32)>,
    next: u8,
}

impl Numbering {
    /// `count` numbers from a multiple of it on, between `first` and `end`.
    fn take(&mut self, count: u8, first: u8, end: u8) -> u8 {
        let mut number = self.next.max(first).next_multiple_of(count);
        if number > end - count {
            self.numbers.clear();
            number = first.next_multiple_of(count);
        }
        self.next = number + count;
        number
    }

    fn make_room(&mut self, count: u8, end: u8) {
        if self.next > end - count {
            self.numbers.clear();
            self.next = 0;
        }
    }

    fn known(&self, source: Source, block: u32) -> Option<u8> {
        let (number, of) = self.numbers.get(&source)?;
        let is_kept = matches!(source, Source::Register(_)) || *of == block;
        is_kept.then_some(*number)
    }
}

/// What one load takes at most: a pair for its address, and four registers for each of its pieces.
const ROOM: u8 = 24;
/// Its guard and its Plg.
const PREDICATES: u8 = 2;

impl Numbers {
    /// Begins anew where the numbers that are left might not do for one load, so that all that it
    /// takes are different.
    pub(super) fn make_room(&mut self) {
        self.general.make_room(ROOM, END);
        self.predicates.make_room(PREDICATES, Pred::PT.number());
    }

    /// `count` new registers, 1, 2 or 4.
    pub(super) fn fresh(&mut self, count: u8) -> Reg {
        Reg::new(self.general.take(count, FIRST, END))
    }

    /// The registers of what has some, or new ones.
    pub(super) fn of(&mut self, source: Source, count: u8) -> Reg {
        if let Some(known) = self.known(source) {
            return known;
        }
        let register = self.fresh(count);
        self.set(source, register);
        register
    }

    pub(super) fn known(&self, source: Source) -> Option<Reg> {
        self.general.known(source, self.block).map(Reg::new)
    }

    pub(super) fn set(&mut self, source: Source, register: Reg) {
        self.general.numbers.insert(source, (register.number(), self.block));
    }

    /// The predicate of what has one, or a new one.
    pub(super) fn predicate(&mut self, source: Source) -> Pred {
        if let Some(known) = self.predicates.known(source, self.block) {
            return Pred::new(known).unwrap_or(Pred::PT);
        }
        let predicate = self.fresh_predicate();
        self.predicates.numbers.insert(source, (predicate.number(), self.block));
        predicate
    }

    /// A new predicate.
    pub(super) fn fresh_predicate(&mut self) -> Pred {
        Pred::new(self.predicates.take(1, 0, Pred::PT.number())).unwrap_or(Pred::PT)
    }

    /// A PTX register has been written: what its registers held is no more.
    pub(super) fn forget(&mut self, register: Register) {
        for source in [Source::Register(register), Source::Formed(register)] {
            self.general.numbers.remove(&source);
            self.predicates.numbers.remove(&source);
        }
    }

    /// Other code may lead here: no formed address is known any more.
    pub(super) fn forget_formed(&mut self) {
        self.block += 1;
    }
}
