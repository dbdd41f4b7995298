//! The registers of a warp as PTX has them: up to 128 bits a lane, and a value only if one was
//! given or loaded.

use std::collections::{HashMap, HashSet};

use crate::machine::RegisterLanes;
use crate::meaning::Register;
use warpload::lane::{LANES, LaneMask};

/// A register's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    /// One value a lane, lane 0 first; zero-extended from the register's width. A predicate is
    /// 0 or 1. Of no meaning in a lane that is not known.
    pub values: [u128; LANES],
    /// The lanes that have a value.
    pub known: LaneMask,
}

impl RegisterValue {
    const UNKNOWN: Self = Self { values: [0; LANES], known: LaneMask::NONE };

    /// Returns a lane's value, if it has one.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Option<u128> {
        self.values.get(lane).copied().filter(|_| self.known.contains(lane))
    }
}

/// The registers that have values.
///
/// A value that is [`set`](RegisterFile::set) represents what the other instructions compute: where
/// one of them writes the register, it holds the set value, and without one it is
/// unknown from there on.
#[derive(Clone, Debug, Default)]
pub struct RegisterFile {
    current: HashMap<Register, RegisterValue>,
    /// What was set.
    given: HashMap<Register, [u128; LANES]>,
}

impl RegisterFile {
    /// No register has a value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a register its values, lane 0 first, zero-extended from the register's width.
    pub fn set(&mut self, register: Register, values: [u128; LANES]) {
        self.given.insert(register, values);
        self.current.insert(register, RegisterValue { values, known: LaneMask::ALL });
    }

    /// Gives a predicate register its values: true in the lanes of the mask.
    pub fn set_predicate(&mut self, register: Register, lanes: LaneMask) {
        self.set(register, std::array::from_fn(|lane| u128::from(lanes.contains(lane))));
    }

    /// Returns what was set.
    pub(super) fn given(&self) -> Vec<RegisterLanes> {
        self.given.iter().map(|(register, values)| (*register, Box::new(*values))).collect()
    }

    /// Returns a register's values; `None` if no lane has one.
    #[must_use]
    pub fn get(&self, register: Register) -> Option<&RegisterValue> {
        self.current.get(&register).filter(|held| !held.known.is_empty())
    }

    /// What the named registers hold, each once, in their order; those without a value are left
    /// out.
    pub(super) fn held<'n>(
        &self,
        named: impl Iterator<Item = &'n Register>,
    ) -> Vec<(Register, RegisterValue)> {
        let mut seen = HashSet::new();
        let named = named.filter(|named| seen.insert(**named));
        named.filter_map(|named| Some((*named, self.get(*named)?.clone()))).collect()
    }

    /// What a load wrote.
    pub(super) fn write(&mut self, register: Register, lanes: LaneMask, values: &[u128; LANES]) {
        let held = self.current.entry(register).or_insert(RegisterValue::UNKNOWN);
        for lane in lanes.lanes() {
            held.values[lane] = values[lane];
        }
        held.known |= lanes;
    }

    /// What an instruction wrote whose result is not known here.
    pub(super) fn overwrite(&mut self, register: Register, lanes: LaneMask) {
        if let Some(given) = self.given.get(&register) {
            let given = *given;
            self.write(register, lanes, &given);
        } else if let Some(held) = self.current.get_mut(&register) {
            held.known = held.known & !lanes;
        }
    }
}
