//! Register numbers for lowered loads.
//!
//! Not a register allocator: registers are numbered in the order of their first use, from R2 (R1 is the base of local
//! memory), and predicates from P0. When the numbers run out they start again, and earlier assignments are forgotten.

use std::collections::HashMap;

use warpload::encoding::{Pred, Reg};

use super::value::Root;

const FIRST: u8 = 2;
/// R254 is the last register; the last whole group of four ends before it.
const END: u8 = 252;

/// The numbers assigned so far.
#[derive(Default)]
pub(super) struct Numbers {
    general: Numbering,
    predicates: Numbering,
}

/// The contents of a numbered register or predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegisterContents {
    /// A value: a root plus a constant.
    Value(Option<Root>, i64),
    /// A generic address formed in the block of that index, or its Plg.
    Formed(Option<Root>, i64, u32),
}

#[derive(Default)]
struct Numbering {
    numbers: HashMap<RegisterContents, u8>,
    next: u8,
}

impl Numbering {
    /// Takes `count` numbers, aligned to a multiple of `count`.
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
}

/// The most registers that one load takes: a pair for the address of each of its pieces, and four destinations for
/// each.
const ROOM: u8 = 32;
/// One load takes two predicates, the guard and Plg.
const PREDICATES: u8 = 2;

impl Numbers {
    /// Starts again if too few numbers are left for one load. Otherwise a restart in the middle of a load would give
    /// two of its values the same register.
    pub(super) fn make_room(&mut self) {
        self.general.make_room(ROOM, END);
        self.predicates.make_room(PREDICATES, Pred::PT.number());
    }

    /// Numbers `count` new registers, 1, 2 or 4.
    pub(super) fn fresh(&mut self, count: u8) -> Reg {
        Reg::new(self.general.take(count, FIRST, END))
    }

    /// The registers that hold `source`, or new ones.
    pub(super) fn of(&mut self, source: RegisterContents, count: u8) -> Reg {
        if let Some(known) = self.general.numbers.get(&source) {
            return Reg::new(*known);
        }
        let register = self.fresh(count);
        self.set(source, register);
        register
    }

    pub(super) fn set(&mut self, source: RegisterContents, register: Reg) {
        self.general.numbers.insert(source, register.number());
    }

    /// The predicate that holds `source`, or a new one.
    pub(super) fn predicate(&mut self, source: RegisterContents) -> Pred {
        if let Some(known) = self.predicates.numbers.get(&source) {
            return predicate(*known);
        }
        let predicate = self.fresh_predicate();
        self.predicates.numbers.insert(source, predicate.number());
        predicate
    }

    pub(super) fn fresh_predicate(&mut self) -> Pred {
        predicate(self.predicates.take(1, 0, Pred::PT.number()))
    }
}

fn predicate(number: u8) -> Pred {
    let predicate = Pred::try_from(number);
    debug_assert!(predicate.is_ok(), "the numbers taken are below PT's");
    predicate.unwrap_or(Pred::PT)
}
