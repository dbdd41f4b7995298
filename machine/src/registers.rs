//! [`Registers`]: the registers of one warp in one frame, as rows of 32 lanes.
//!
//! Values are stored as columns, so that the compiler can vectorize an operation over 32 adjacent lanes. A register of
//! up to 32 bits is one [`Row`], zero-extended; wider ones are two or four consecutive rows. Constants and special
//! registers are rows as well, filled when the frame is created, so that operations have only one kind of operand.

use std::hash::{Hash, Hasher};

use std::ops::{BitAnd, BitXor, Mul};

use bytemuck::{Pod, Zeroable};
use warpload::lane::LANES;

use crate::code::{Op, Site};
use crate::memory::{DeviceMemory, UNKNOWN, origin_number};

/// 32 lanes of 32 bits. A predicate uses only the first element, one bit for each lane.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Row([u32; LANES]);

impl Row {
    pub(crate) const ZERO: Self = Self([0; LANES]);
}

/// The index of a register's first row.
pub type Slot = u32;

/// A known zero, for missing operands. It has two rows, so that it can be read as 64 bits.
pub const NONE: Slot = 0;

/// The carry flag of `add.cc` and similar instructions. Programs cannot name it.
pub(crate) const CARRY: Slot = 2;

/// The first row that a function can use.
pub const FIRST_ROW: Slot = 3;

/// The origin of an unknown value, for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A register of a function that has never been written.
    NeverWritten {
        /// The index of the function in [`Code::functions`](crate::code::Code::functions).
        function: u32,
        /// The first row of the register.
        slot: Slot,
    },
    /// The statement is not executed, so its results are unknown.
    NotExecuted(Site),
    /// The statement discards the bytes.
    Discarded(Site),
    /// The statement takes the value of a lane that does not execute it.
    AbsentLane(Site),
    /// The PTX ISA leaves the result of this statement undefined.
    Undefined(Site),
    /// The value before the launch is not known: the initial value of a variable, or padding between parameters.
    InitialValue,
    /// An earlier launch has left the byte unknown.
    EarlierLaunch,
    /// One of several origins that were too many to be told apart.
    Several,
}

/// The origins of unknown bytes in memory, numbered so that a byte's flags can hold the number.
#[derive(Debug)]
pub(crate) struct Origins {
    /// Number 0 is not in the list. It marks the bytes themselves that have no initial value. Where the launch writes such
    /// a value elsewhere, its origin is a number of the list, so that the launch is known to have left it there.
    list: Vec<Origin>,
}

/// The number of [`Origin::EarlierLaunch`], the first one of the list.
const EARLIER: u8 = 1;

impl Origins {
    /// The highest number, of [`Origin::Several`]. Six bits of a byte's flags hold a number.
    const LAST: usize = 63;

    /// The origins of a launch on a memory. What others have left unknown there has one.
    pub(crate) fn after(memory: &mut DeviceMemory) -> Self {
        memory.age(UNKNOWN | EARLIER << 2);
        Self { list: vec![Origin::EarlierLaunch] }
    }

    /// The flags of a byte that is unknown because of an origin.
    pub(crate) fn flags(&mut self, origin: Origin) -> u8 {
        UNKNOWN | self.number(origin) << 2
    }

    /// The origin in a byte's flags; `None` if the byte is known.
    pub(crate) fn of(&self, flags: u8) -> Option<Origin> {
        origin_number(flags).map(|number| self.get(number))
    }

    /// The number of an origin.
    fn number(&mut self, origin: Origin) -> u8 {
        let known = self.list.iter().position(|known| *known == origin);
        let at = known.unwrap_or_else(|| {
            if self.list.len() + 1 < Self::LAST && origin != Origin::Several {
                self.list.push(origin);
                self.list.len() - 1
            } else {
                Self::LAST - 1
            }
        });
        at as u8 + 1
    }

    pub(crate) fn get(&self, number: u8) -> Origin {
        match usize::from(number).checked_sub(1) {
            None => Origin::InitialValue,
            Some(at) => self.list.get(at).copied().unwrap_or(Origin::Several),
        }
    }
}

/// The type of a lane's value: 32 or 64 bits.
pub(crate) trait Lane:
    Copy + PartialEq + From<u32> + Mul<Output = Self> + BitAnd<Output = Self> + BitXor<Output = Self>
{
    /// The value with no bit set, and the value with all bits set.
    const ENDS: [Self; 2];

    fn row(registers: &Registers, slot: Slot) -> &[Self; LANES];
    fn row_mut(registers: &mut Registers, slot: Slot) -> &mut [Self; LANES];
}

impl Lane for u32 {
    const ENDS: [Self; 2] = [0, u32::MAX];

    #[inline(always)]
    fn row(registers: &Registers, slot: Slot) -> &[Self; LANES] {
        &registers.rows[slot as usize].0
    }

    #[inline(always)]
    fn row_mut(registers: &mut Registers, slot: Slot) -> &mut [Self; LANES] {
        &mut registers.rows[slot as usize].0
    }
}

impl Lane for u64 {
    const ENDS: [Self; 2] = [0, u64::MAX];

    #[inline(always)]
    fn row(registers: &Registers, slot: Slot) -> &[Self; LANES] {
        let rows: &[Row; 2] =
            registers.rows[slot as usize..].first_chunk().unwrap_or(&[Row::ZERO; 2]);
        bytemuck::cast_ref(rows)
    }

    #[inline(always)]
    fn row_mut(registers: &mut Registers, slot: Slot) -> &mut [Self; LANES] {
        let last = registers.rows.len().saturating_sub(2);
        let at = (slot as usize).min(last);
        match registers.rows[at..].first_chunk_mut::<2>() {
            Some(rows) => bytemuck::cast_mut(rows),
            None => unreachable!("every frame has two rows"),
        }
    }
}

/// The rows of a frame, with the lanes of each that are unknown.
#[derive(Clone, Debug)]
pub struct Registers {
    rows: Vec<Row>,
    /// Masks of lanes, indexed by the first row of a register.
    unknown: Vec<u32>,
    origins: Vec<Origin>,
}

impl Hash for Registers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rows.iter().for_each(|row| row.0.hash(state));
        self.unknown.hash(state);
    }
}

impl Registers {
    /// Creates the rows of a function with unknown values.
    pub(crate) fn new(function: usize, rows: usize) -> Self {
        let rows = rows.max(FIRST_ROW as usize);
        let mut unknown = vec![u32::MAX; rows];
        unknown[NONE as usize] = 0;
        let function = function as u32;
        let never_written = |slot| Origin::NeverWritten { function, slot };
        let origins = (0..rows as Slot).map(never_written).collect();
        Self { rows: vec![Row::ZERO; rows], unknown, origins }
    }

    /// The bytes of memory that the rows take.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let row = size_of::<Row>() + size_of::<u32>() + size_of::<Origin>();
        (self.rows.len() * row) as u64
    }

    /// Copies another frame's values. Reuses the memory, because calls are frequent.
    pub(crate) fn copy_from(&mut self, template: &Self) {
        self.rows.clone_from(&template.rows);
        self.unknown.clone_from(&template.unknown);
        self.origins.clone_from(&template.origins);
    }

    /// The 32 lanes of a register, lane 0 first.
    #[inline(always)]
    pub(crate) fn get<T: Lane>(&self, slot: Slot) -> &[T; LANES] {
        T::row(self, slot)
    }

    /// The 32 lanes of a register, to write.
    #[inline(always)]
    pub(crate) fn row_mut<T: Lane>(&mut self, slot: Slot) -> &mut [T; LANES] {
        T::row_mut(self, slot)
    }

    /// The lanes with a true predicate.
    #[inline(always)]
    pub(crate) fn predicate(&self, slot: Slot) -> u32 {
        self.rows[slot as usize].0[0]
    }

    #[inline(always)]
    pub(crate) fn set_predicate(&mut self, slot: Slot, lanes: u32, exec: u32) {
        let row = &mut self.rows[slot as usize].0[0];
        *row = (*row & !exec) | (lanes & exec);
    }

    /// Writes the lanes of a mask.
    #[inline(always)]
    pub(crate) fn put<T: Lane>(&mut self, slot: Slot, values: &[T; LANES], exec: u32) {
        let row = T::row_mut(self, slot);
        if exec == u32::MAX {
            *row = *values;
        } else {
            for lane in 0..LANES {
                if exec >> lane & 1 != 0 {
                    row[lane] = values[lane];
                }
            }
        }
    }

    /// The lanes with an unknown value.
    #[inline(always)]
    #[must_use]
    pub fn unknown(&self, slot: Slot) -> u32 {
        self.unknown[slot as usize]
    }

    /// The reason why lanes of a register are unknown: the latest one.
    #[must_use]
    pub fn origin(&self, slot: Slot) -> Origin {
        self.origins[slot as usize]
    }

    /// Marks lanes as known.
    #[inline(always)]
    pub(crate) fn know(&mut self, slot: Slot, exec: u32) {
        self.unknown[slot as usize] &= !exec;
    }

    /// Marks lanes as unknown, and records the origin.
    pub(crate) fn forget(&mut self, slot: Slot, exec: u32, origin: Origin) {
        self.unknown[slot as usize] |= exec;
        self.origins[slot as usize] = origin;
    }

    /// Marks lanes as known or unknown as they are in another register.
    pub(crate) fn learn(&mut self, slot: Slot, from: &Self, source: Slot, exec: u32) {
        let unknown = from.unknown(source) & exec;
        self.know(slot, exec);
        if unknown != 0 {
            self.forget(slot, unknown, from.origin(source));
        }
    }

    /// Marks a result as known in the lanes with known sources, and as unknown in all others.
    #[inline(always)]
    pub(crate) fn derive(&mut self, slot: Slot, sources: &[Slot], exec: u32) {
        let unknown = sources.iter().fold(0, |all, source| all | self.unknown(*source)) & exec;
        if unknown != 0 {
            self.derive_unknown(slot, sources, exec, unknown);
        } else {
            self.unknown[slot as usize] &= !exec;
        }
    }

    #[cold]
    fn derive_unknown(&mut self, slot: Slot, sources: &[Slot], exec: u32, unknown: u32) {
        let first = sources.iter().find(|source| self.unknown(**source) & exec != 0);
        let origin = first.map_or(Origin::Several, |source| self.origin(*source));
        self.unknown[slot as usize] = (self.unknown[slot as usize] & !exec) | unknown;
        self.origins[slot as usize] = origin;
    }

    /// Writes lanes of a predicate whose values are known although a source is not.
    #[inline(always)]
    pub(crate) fn decide(&mut self, slot: Slot, values: u32, lanes: u32) {
        self.set_predicate(slot, values, lanes);
        self.know(slot, lanes);
    }

    /// Writes the same known value to all lanes.
    pub(crate) fn broadcast<T: Lane>(&mut self, slot: Slot, value: T) {
        *T::row_mut(self, slot) = [value; LANES];
        self.unknown[slot as usize] = 0;
    }

    /// Applies a function of one source in each lane.
    #[inline(always)]
    pub(crate) fn map1<A: Lane, R: Lane + Default>(
        &mut self,
        op: &Op,
        exec: u32,
        f: impl Fn(A) -> R + Copy,
    ) {
        warpload::simd::vectorized!(each1(self, op, exec, f));
        self.derive(op.d, &[op.a], exec);
    }

    /// Applies a function of two sources in each lane.
    #[inline(always)]
    pub(crate) fn map2<A: Lane, B: Lane, R: Lane + Default>(
        &mut self,
        op: &Op,
        exec: u32,
        f: impl Fn(A, B) -> R + Copy,
    ) {
        warpload::simd::vectorized!(each2(self, op, exec, f));
        self.derive(op.d, &[op.a, op.b], exec);
    }

    /// Applies a function of three sources in each lane.
    #[inline(always)]
    pub(crate) fn map3<A: Lane, B: Lane, C: Lane, R: Lane + Default>(
        &mut self,
        op: &Op,
        exec: u32,
        f: impl Fn(A, B, C) -> R + Copy,
    ) {
        warpload::simd::vectorized!(each3(self, op, exec, f));
        self.derive(op.d, &[op.a, op.b, op.c], exec);
    }

    /// [`Self::map2`] for a bitwise function or a product. The result is known in the lanes where it is the same whether
    /// the bits of an unknown source are all clear or all set: for these functions it then does not depend on the source.
    #[inline(always)]
    pub(crate) fn decide2<A: Lane, B: Lane, R: Lane + Default>(
        &mut self,
        op: &Op,
        exec: u32,
        f: impl Fn(A, B) -> R + Copy,
    ) {
        let unknown = (self.unknown(op.a) | self.unknown(op.b)) & exec;
        let decided = match unknown {
            0 => 0,
            _ => self.decided(unknown, [op.a, op.b, NONE], |a, b, _: u32| f(a, b)),
        };
        self.map2(op, exec, f);
        self.know(op.d, decided);
    }

    /// [`Self::decide2`] for three sources.
    #[inline(always)]
    pub(crate) fn decide3<A: Lane, B: Lane, C: Lane, R: Lane + Default>(
        &mut self,
        op: &Op,
        exec: u32,
        f: impl Fn(A, B, C) -> R + Copy,
    ) {
        let unknown = (self.unknown(op.a) | self.unknown(op.b) | self.unknown(op.c)) & exec;
        let decided = match unknown {
            0 => 0,
            _ => self.decided(unknown, [op.a, op.b, op.c], f),
        };
        self.map3(op, exec, f);
        self.know(op.d, decided);
    }

    /// The lanes among `lanes` where a function has one result for both ends of each unknown source.
    #[cold]
    fn decided<A: Lane, B: Lane, C: Lane, R: Lane>(
        &self,
        lanes: u32,
        [a, b, c]: [Slot; 3],
        f: impl Fn(A, B, C) -> R,
    ) -> u32 {
        fn ends<V: Lane>(registers: &Registers, slot: Slot, lane: usize) -> [V; 2] {
            if registers.unknown(slot) >> lane & 1 != 0 {
                V::ENDS
            } else {
                [registers.get::<V>(slot)[lane]; 2]
            }
        }
        let is_decided = |lane: &usize| {
            let (a, b, c) = (ends(self, a, *lane), ends(self, b, *lane), ends(self, c, *lane));
            let result = f(a[0], b[0], c[0]);
            (1..8).all(|ends| f(a[ends & 1], b[ends >> 1 & 1], c[ends >> 2]) == result)
        };
        let lanes = (0..LANES).filter(|lane| lanes >> lane & 1 != 0);
        lanes.filter(is_decided).fold(0, |all, lane| all | 1 << lane)
    }

    /// Takes the first source in the lanes of a mask, and the second one in the others.
    #[inline(always)]
    pub(crate) fn choose<V: Lane + Default>(&mut self, op: &Op, exec: u32, chosen: u32) {
        warpload::simd::vectorized!(choose_each::<V>(self, op, exec, chosen));
    }

    /// The lanes that pass a test of two sources.
    #[inline(always)]
    pub(crate) fn test2<A: Lane>(&self, op: &Op, f: impl Fn(A, A) -> bool + Copy) -> u32 {
        warpload::simd::vectorized!(test_each(self.get(op.a), self.get(op.b), f))
    }

    /// Writes a predicate, and marks it like [`Self::derive`].
    #[inline(always)]
    pub(crate) fn put_predicate(&mut self, slot: Slot, lanes: u32, sources: &[Slot], exec: u32) {
        self.set_predicate(slot, lanes, exec);
        self.derive(slot, sources, exec);
    }
}

// Compiled for several instruction sets. They write the row themselves, so that the write is vectorized, too.

#[inline(always)]
fn each1<A: Lane, R: Lane + Default>(r: &mut Registers, op: &Op, exec: u32, f: impl Fn(A) -> R) {
    let a = r.get(op.a);
    let mut out = [R::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    r.put(op.d, &out, exec);
}

#[inline(always)]
fn each2<A: Lane, B: Lane, R: Lane + Default>(
    r: &mut Registers,
    op: &Op,
    exec: u32,
    f: impl Fn(A, B) -> R,
) {
    let (a, b) = (r.get(op.a), r.get(op.b));
    let mut out = [R::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    r.put(op.d, &out, exec);
}

#[inline(always)]
fn each3<A: Lane, B: Lane, C: Lane, R: Lane + Default>(
    r: &mut Registers,
    op: &Op,
    exec: u32,
    f: impl Fn(A, B, C) -> R,
) {
    let (a, b, c) = (r.get(op.a), r.get(op.b), r.get(op.c));
    let mut out = [R::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    r.put(op.d, &out, exec);
}

#[inline(always)]
fn choose_each<V: Lane + Default>(r: &mut Registers, op: &Op, exec: u32, chosen: u32) {
    let (a, b) = (r.get::<V>(op.a), r.get::<V>(op.b));
    let mut out = [V::default(); LANES];
    for lane in 0..LANES {
        // By a mask, because the compiler does not vectorize a choice.
        let mask = V::from(chosen >> lane & 1) * V::ENDS[1];
        out[lane] = b[lane] ^ (a[lane] ^ b[lane]) & mask;
    }
    r.put(op.d, &out, exec);
}

#[inline(always)]
fn test_each<A: Copy>(a: &[A; LANES], b: &[A; LANES], f: impl Fn(A, A) -> bool) -> u32 {
    let mut bits = [0; LANES];
    for lane in 0..LANES {
        bits[lane] = u32::from(f(a[lane], b[lane])) << lane;
    }
    bits.iter().fold(0, |all, bit| all | bit)
}

impl Registers {
    /// Writes one lane of a register of up to 128 bits.
    #[inline(always)]
    pub(crate) fn set_lane(&mut self, slot: Slot, rows: u32, lane: usize, value: u128) {
        match rows {
            1 => self.rows[slot as usize].0[lane] = value as u32,
            2 => u64::row_mut(self, slot)[lane] = value as u64,
            _ => {
                u64::row_mut(self, slot)[lane] = value as u64;
                u64::row_mut(self, slot + 2)[lane] = (value >> 64) as u64;
            }
        }
    }

    /// Reads one lane of a register of up to 128 bits.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self, slot: Slot, rows: u32, lane: usize) -> u128 {
        match rows {
            1 => self.rows[slot as usize].0[lane].into(),
            2 => self.get::<u64>(slot)[lane].into(),
            _ => {
                let high: u128 = self.get::<u64>(slot + 2)[lane].into();
                u128::from(self.get::<u64>(slot)[lane]) | high << 64
            }
        }
    }
}
