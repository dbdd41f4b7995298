//! [`Registers`]: the registers of one warp in one frame, as rows of 32 lanes.
//!
//! Values are stored as columns, so that the compiler can vectorize an operation over 32 adjacent lanes. A register of
//! up to 32 bits is one [`Row`], zero-extended; wider ones are two or four consecutive rows. Constants and special
//! registers are rows as well, filled when the frame is created, so that operations have only one kind of operand.

use bytemuck::{Pod, Zeroable};
use warpload::lane::LANES;

use super::code::Op;
use crate::module::StatementId;

/// 32 lanes of 32 bits. A predicate uses only the first element, one bit for each lane.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Row([u32; LANES]);

impl Row {
    pub(super) const ZERO: Self = Self([0; LANES]);
}

/// The index of a register's first row.
pub(super) type Slot = u32;

/// A known zero, for missing operands. It has two rows, so that it can be read as 64 bits.
pub(super) const NONE: Slot = 0;

/// The carry flag of `add.cc` and similar instructions. Programs cannot name it.
pub(super) const CARRY: Slot = 2;

/// The first row that a function can use.
pub(super) const FIRST_ROW: Slot = 3;

/// The origin of an unknown value, for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The register has never been written.
    NeverWritten(Slot),
    /// The result of this statement is unknown.
    Statement(StatementId),
}

/// The type of a lane's value: 32 or 64 bits.
pub(super) trait Lane: Copy {
    fn row(registers: &Registers, slot: Slot) -> &[Self; LANES];
    fn row_mut(registers: &mut Registers, slot: Slot) -> &mut [Self; LANES];
}

impl Lane for u32 {
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
pub(super) struct Registers {
    rows: Vec<Row>,
    /// Masks of lanes, indexed by the first row of a register.
    unknown: Vec<u32>,
    origins: Vec<Origin>,
}

impl Registers {
    /// Creates rows with unknown values.
    pub(super) fn new(rows: usize) -> Self {
        let rows = rows.max(FIRST_ROW as usize);
        let mut unknown = vec![u32::MAX; rows];
        unknown[NONE as usize] = 0;
        let origins = (0..rows as Slot).map(Origin::NeverWritten).collect();
        Self { rows: vec![Row::ZERO; rows], unknown, origins }
    }

    /// Copies another frame's values. Reuses the memory, because calls are frequent.
    pub(super) fn copy_from(&mut self, template: &Self) {
        self.rows.clone_from(&template.rows);
        self.unknown.clone_from(&template.unknown);
        self.origins.clone_from(&template.origins);
    }

    /// The 32 lanes of a register, lane 0 first.
    #[inline(always)]
    pub(super) fn get<T: Lane>(&self, slot: Slot) -> &[T; LANES] {
        T::row(self, slot)
    }

    /// The 32 lanes of a register, to write.
    #[inline(always)]
    pub(super) fn row_mut<T: Lane>(&mut self, slot: Slot) -> &mut [T; LANES] {
        T::row_mut(self, slot)
    }

    /// The lanes with a true predicate.
    #[inline(always)]
    pub(super) fn predicate(&self, slot: Slot) -> u32 {
        self.rows[slot as usize].0[0]
    }

    #[inline(always)]
    pub(super) fn set_predicate(&mut self, slot: Slot, lanes: u32, exec: u32) {
        let row = &mut self.rows[slot as usize].0[0];
        *row = (*row & !exec) | (lanes & exec);
    }

    /// Writes the lanes of a mask.
    #[inline(always)]
    pub(super) fn put<T: Lane>(&mut self, slot: Slot, values: &[T; LANES], exec: u32) {
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
    pub(super) fn unknown(&self, slot: Slot) -> u32 {
        self.unknown[slot as usize]
    }

    pub(super) fn origin(&self, slot: Slot) -> Origin {
        self.origins[slot as usize]
    }

    /// Marks lanes as known.
    #[inline(always)]
    pub(super) fn know(&mut self, slot: Slot, exec: u32) {
        self.unknown[slot as usize] &= !exec;
    }

    /// Marks lanes as unknown, and records the origin.
    pub(super) fn forget(&mut self, slot: Slot, exec: u32, origin: Origin) {
        self.unknown[slot as usize] |= exec;
        self.origins[slot as usize] = origin;
    }

    /// Marks a result as known in the lanes with known sources, and as unknown in all others.
    #[inline(always)]
    pub(super) fn derive(&mut self, slot: Slot, sources: &[Slot], exec: u32) {
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
        let origin = first.map_or(Origin::NeverWritten(slot), |source| self.origin(*source));
        self.unknown[slot as usize] = (self.unknown[slot as usize] & !exec) | unknown;
        self.origins[slot as usize] = origin;
    }

    /// Writes the same known value to all lanes.
    pub(super) fn broadcast<T: Lane>(&mut self, slot: Slot, value: T) {
        *T::row_mut(self, slot) = [value; LANES];
        self.unknown[slot as usize] = 0;
    }

    /// Applies a function of one source in each lane.
    #[inline(always)]
    pub(super) fn map1<A: Lane, R: Lane + Default>(
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
    pub(super) fn map2<A: Lane, B: Lane, R: Lane + Default>(
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
    pub(super) fn map3<A: Lane, B: Lane, C: Lane, R: Lane + Default>(
        &mut self,
        op: &Op,
        exec: u32,
        f: impl Fn(A, B, C) -> R + Copy,
    ) {
        warpload::simd::vectorized!(each3(self, op, exec, f));
        self.derive(op.d, &[op.a, op.b, op.c], exec);
    }

    /// The lanes that pass a test of two sources.
    #[inline(always)]
    pub(super) fn test2<A: Lane>(&self, op: &Op, f: impl Fn(A, A) -> bool + Copy) -> u32 {
        warpload::simd::vectorized!(test_each(self.get(op.a), self.get(op.b), f))
    }

    /// Writes a predicate, and marks it like [`Self::derive`].
    #[inline(always)]
    pub(super) fn put_predicate(&mut self, slot: Slot, lanes: u32, sources: &[Slot], exec: u32) {
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
    pub(super) fn set_lane(&mut self, slot: Slot, rows: u32, lane: usize, value: u128) {
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
    pub(super) fn lane(&self, slot: Slot, rows: u32, lane: usize) -> u128 {
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
