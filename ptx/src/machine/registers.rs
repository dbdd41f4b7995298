//! [`Registers`]: the registers of one warp in one call of a function, a row of 32 lanes each.
//!
//! Values are kept as columns, because the same operation on 32 neighbours is what a processor's vectors
//! compute. A register of up to 32 bits is one [`Row`], zero-extended; wider ones are two or four rows
//! side by side. Constants and special registers are rows as well, filled when the frame is made: an
//! operation then never asks what kind of operand it has.

use bytemuck::{Pod, Zeroable};
use warpload::lane::LANES;

use super::code::Op;
use crate::module::StatementId;

/// 32 lanes of 32 bits; the lanes of a predicate are the bits of the first element.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Row([u32; LANES]);

impl Row {
    pub(super) const ZERO: Self = Self([0; LANES]);
}

/// The place of a register's first row.
pub(super) type Slot = u32;

/// Zero, known: the operand that an operation lacks. Two rows, so that it may be read as 64 bits.
pub(super) const NONE: Slot = 0;

/// The carry flag of `add.cc` and the like, which no program can name.
pub(super) const CARRY: Slot = 2;

/// The first row that is free in a function.
pub(super) const FIRST_ROW: Slot = 3;

/// Where an unknown value began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing wrote the register.
    NeverWritten(Slot),
    /// This statement does not have a result here.
    Statement(StatementId),
}

/// A value of one lane: 32 or 64 bits.
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

/// The rows of a frame, with the lanes of each that have no known value.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    rows: Vec<Row>,
    /// By the first row of a register.
    unknown: Vec<u32>,
    origins: Vec<Origin>,
}

impl Registers {
    /// Makes the rows of a function: all unknown.
    pub(super) fn new(rows: usize) -> Self {
        let rows = rows.max(FIRST_ROW as usize);
        let mut unknown = vec![u32::MAX; rows];
        unknown[NONE as usize] = 0;
        let origins = (0..rows as Slot).map(Origin::NeverWritten).collect();
        Self { rows: vec![Row::ZERO; rows], unknown, origins }
    }

    /// Begins again with the values of another, without an allocation if it has as many rows.
    pub(super) fn copy_from(&mut self, template: &Self) {
        self.rows.clone_from(&template.rows);
        self.unknown.clone_from(&template.unknown);
        self.origins.clone_from(&template.origins);
    }

    /// Returns 32 lanes, lane 0 first.
    #[inline(always)]
    pub(super) fn get<T: Lane>(&self, slot: Slot) -> &[T; LANES] {
        T::row(self, slot)
    }

    /// Returns 32 lanes to write.
    #[inline(always)]
    pub(super) fn row_mut<T: Lane>(&mut self, slot: Slot) -> &mut [T; LANES] {
        T::row_mut(self, slot)
    }

    /// Returns the lanes in which a predicate is true.
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

    /// Returns the lanes without a known value.
    #[inline(always)]
    pub(super) fn unknown(&self, slot: Slot) -> u32 {
        self.unknown[slot as usize]
    }

    pub(super) fn origin(&self, slot: Slot) -> Origin {
        self.origins[slot as usize]
    }

    /// Marks the lanes of a mask as known.
    #[inline(always)]
    pub(super) fn know(&mut self, slot: Slot, exec: u32) {
        self.unknown[slot as usize] &= !exec;
    }

    /// Marks the lanes of a mask as unknown, because of a statement.
    pub(super) fn forget(&mut self, slot: Slot, exec: u32, origin: Origin) {
        self.unknown[slot as usize] |= exec;
        self.origins[slot as usize] = origin;
    }

    /// Marks a result: known in the lanes in which all sources are.
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

    /// Gives all lanes one value.
    pub(super) fn broadcast<T: Lane>(&mut self, slot: Slot, value: T) {
        *T::row_mut(self, slot) = [value; LANES];
        self.unknown[slot as usize] = 0;
    }

    /// Evaluates an operation of one source.
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

    /// Evaluates an operation of two sources.
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

    /// Evaluates an operation of three sources.
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

    /// Returns the lanes of which a test of two sources is true.
    #[inline(always)]
    pub(super) fn test2<A: Lane>(&self, op: &Op, f: impl Fn(A, A) -> bool + Copy) -> u32 {
        warpload::simd::vectorized!(test_each(self.get(op.a), self.get(op.b), f))
    }

    /// Writes a predicate that depends on the sources of an operation.
    #[inline(always)]
    pub(super) fn put_predicate(&mut self, slot: Slot, lanes: u32, sources: &[Slot], exec: u32) {
        self.set_predicate(slot, lanes, exec);
        self.derive(slot, sources, exec);
    }
}

// These are compiled for several instruction sets, which is why the row is written here, too.

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
    /// Writes one lane of a register of up to 128 bits, the low bits first.
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

    /// Returns one lane of a register of up to 128 bits.
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
