//! The registers of a warp at the level of PTX: up to 128 bits for each lane. A register has a value only in lanes
//! where one was set or loaded.

use std::collections::{HashMap, HashSet};

use crate::launch::RegisterLanes;
use crate::meaning::Register;
use warpload::lane::{LANES, LaneMask};

/// A register's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    /// One value for each lane, lane 0 first, zero-extended from the register's width. A predicate is 0 or 1. Values of
    /// lanes that are not `known` are meaningless.
    pub values: [u128; LANES],
    /// The lanes with a value.
    pub known: LaneMask,
}

impl RegisterValue {
    const UNKNOWN: Self = Self { values: [0; LANES], known: LaneMask::NONE };

    /// Returns a lane's value; `None` if it is unknown.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Option<u128> {
        self.values.get(lane).copied().filter(|_| self.known.contains(lane))
    }
}

/// The registers with a value.
///
/// [`set`](RegisterFile::set) stands in for the instructions that are not executed. Whenever one of them writes the
/// register, the register gets the set value again; if none was set, its value becomes unknown.
#[derive(Clone, Debug, Default)]
pub struct RegisterFile {
    current: HashMap<Register, RegisterValue>,
    /// The values from [`set`](RegisterFile::set), kept because a load can overwrite `current`.
    given: HashMap<Register, [u128; LANES]>,
}

impl RegisterFile {
    /// Creates a register file without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a register's values, lane 0 first, zero-extended from the register's width.
    pub fn set(&mut self, register: Register, values: [u128; LANES]) {
        self.given.insert(register, values);
        self.current.insert(register, RegisterValue { values, known: LaneMask::ALL });
    }

    /// Sets a predicate register: true in the lanes of the mask.
    pub fn set_predicate(&mut self, register: Register, lanes: LaneMask) {
        self.set(register, std::array::from_fn(|lane| u128::from(lanes.contains(lane))));
    }

    /// The values from [`set`](RegisterFile::set).
    pub(super) fn given(&self) -> Vec<RegisterLanes> {
        self.given.iter().map(|(register, values)| (*register, Box::new(*values))).collect()
    }

    /// Returns a register's values; `None` if no lane has one.
    #[must_use]
    pub fn get(&self, register: Register) -> Option<&RegisterValue> {
        self.current.get(&register).filter(|held| !held.known.is_empty())
    }

    /// The values of the named registers, each once, in their order. Registers without a value are left out.
    pub(super) fn held<'n>(
        &self,
        named: impl Iterator<Item = &'n Register>,
    ) -> Vec<(Register, RegisterValue)> {
        let mut seen = HashSet::new();
        let named = named.filter(|named| seen.insert(**named));
        named.filter_map(|named| Some((*named, self.get(*named)?.clone()))).collect()
    }

    /// Stores the result of a load.
    pub(super) fn write(&mut self, register: Register, lanes: LaneMask, values: &[u128; LANES]) {
        let held = self.current.entry(register).or_insert(RegisterValue::UNKNOWN);
        for lane in lanes.lanes() {
            held.values[lane] = values[lane];
        }
        held.known |= lanes;
    }

    /// Handles the write of an instruction that is not executed.
    pub(super) fn overwrite(&mut self, register: Register, lanes: LaneMask) {
        if let Some(given) = self.given.get(&register) {
            let given = *given;
            self.write(register, lanes, &given);
        } else if let Some(held) = self.current.get_mut(&register) {
            held.known = held.known & !lanes;
        }
    }
}
