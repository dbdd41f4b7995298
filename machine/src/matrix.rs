//! Matrix instructions: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.
//!
//! Products are exact, and summed in ascending k in the accumulator's type. Hardware's order of summation is
//! undocumented, so its results can differ in the last bits. [PTX ISA, "Warp Level Matrix Instructions"]

use std::iter::repeat_n;
use std::ops::BitOr;

use crate::access::{AccessKind, Address, LaneBytes, find_addresses, parts};
use crate::code::{MemoryKind, MemoryOp, Op};
use crate::engine::{Engine, Stop};
use crate::fault::FaultKind;
use crate::float::{self, Direction, FloatOp, Modes};
use crate::memory::{Missing, UNKNOWN, UNWRITTEN, joined};
use crate::races::CheckedAccess;
pub use crate::races::FragmentKind;
use crate::registers::{Lane, Origin, Registers, Slot};
use crate::scalar::ScalarType as T;
use crate::warp::{Path, Warp, lanes};
use warpload::lane::LANES;

/// The most elements of a matrix: 16 rows of 256 bits.
const MAX_ELEMENTS: usize = 4096;

/// The place of lanes without elements: not in the matrix.
const NOWHERE: u16 = u16::MAX;

/// The most products of integers in a sum: f32 holds the sums of so many products of eight bits.
const MAX_INTEGERS: usize = 256;

/// A matrix instruction.
#[derive(Clone, Debug)]
pub enum MatrixOp {
    /// One product, or one for each quad pair of lanes in `mma.m8n8k4`.
    Multiply(Box<[Multiply]>),
    /// `wmma.load` and `wmma.store`.
    Fragment {
        /// The registers, and the elements that each lane has in them.
        fragment: Fragment,
        /// The load or store of an element, with the address of the first one.
        access: MemoryOp,
        /// The row of the distance between rows, or columns, in elements; none if they follow each other.
        stride: Option<Slot>,
        /// Whether the matrix is stored row by row, not column by column.
        is_row_major: bool,
    },
    /// `ldmatrix` and `stmatrix`: matrices with rows of 16 bytes, whose addresses consecutive lanes hold.
    Rows {
        /// The registers of 32 bits, one or two for each matrix.
        registers: Box<[Slot]>,
        /// The load or store, with the addresses of the rows.
        access: MemoryOp,
        /// The distribution of each matrix over the lanes.
        layout: RowLayout,
        /// The lanes that must have valid addresses. Some targets want them of lanes without a row, too.
        needs: u32,
    },
    /// `movmatrix`: transposes a matrix of 8 x 8 elements of 16 bits.
    Transpose {
        /// The register of the result.
        to: Slot,
        /// The register of the matrix, a row of four lanes each.
        from: Slot,
    },
}

/// The distribution of a matrix in memory over the lanes. [PTX ISA, "ldmatrix", "stmatrix"]
#[derive(Clone, Copy, Debug)]
pub enum RowLayout {
    /// 8 rows. A lane has four neighbouring bytes of row t / 4. Elements have `bits` in memory and a byte in registers.
    Rows {
        /// The width of an element in memory in bits.
        bits: u32,
    },
    /// 8 rows of 16-bit elements. A lane has two neighbours of column t / 4.
    Columns,
    /// 16 rows of bytes in two registers: four neighbours of column t / 4, and of column t / 4 + 8.
    WideColumns {
        /// The width of an element in memory in bits.
        bits: u32,
    },
    /// The accumulators of a product with 16 rows and 8 columns, as bytes. The rows in memory are the columns.
    Accumulators,
}

impl RowLayout {
    /// The number of rows of a matrix, and of its registers.
    fn size(self) -> (usize, usize) {
        if let Self::WideColumns { .. } = self { (16, 2) } else { (8, 1) }
    }

    /// The row and the byte in it of a lane's byte of a register.
    fn place(self, lane: usize, register: usize, byte: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        match self {
            Self::Rows { .. } => (group, 4 * thread + byte),
            Self::Columns => (2 * thread + byte / 2, 2 * group + byte % 2),
            Self::WideColumns { .. } => (4 * thread + byte, group + 8 * register),
            Self::Accumulators => (2 * thread + byte % 2, group + 8 * (byte / 2)),
        }
    }

    /// The lane that holds the element of a byte in memory; `None` for padding.
    fn holder(self, row: usize, byte: usize) -> Option<usize> {
        let (group, thread) = match self {
            Self::Rows { bits } | Self::WideColumns { bits } => {
                let element = 8 * byte / bits.max(1) as usize;
                match self {
                    _ if element >= 16 => return None,
                    Self::Rows { .. } => (row, element / 4),
                    _ => (element % 8, row / 4),
                }
            }
            Self::Columns => (byte / 2, row / 2),
            Self::Accumulators => (byte % 8, row / 2),
        };
        Some(4 * group + thread)
    }

    /// Spreads the 16 packed elements of a row over 16 bytes.
    fn unpack(self, row: &mut [u8; 16]) {
        let (Self::Rows { bits } | Self::WideColumns { bits }) = self else { return };
        if bits < 8 {
            let packed = u128::from_le_bytes(*row);
            for (place, byte) in (0..).zip(row) {
                *byte = (packed >> (bits * place)) as u8 & ((1 << bits) - 1);
            }
        }
    }
}

/// `D = A * B + C`.
#[derive(Clone, Debug)]
pub struct Multiply {
    size: [usize; 3],
    a: Fragment,
    b: Fragment,
    c: Fragment,
    d: Fragment,
    /// For products of single bits: `.and.popc` rather than `.xor.popc`.
    is_and: bool,
    is_saturated: bool,
    /// The rounding of products of f64.
    modes: Modes,
}

/// A matrix that is distributed over the registers of a warp.
#[derive(Clone, Debug)]
pub struct Fragment {
    slots: Box<[Slot]>,
    scalar: T,
    /// The number of elements in a register.
    packed: usize,
    rows: usize,
    columns: usize,
    /// The lanes that hold elements.
    lanes: u32,
    /// The place, counted row by row, of each lane's first element.
    of_lane: [u16; LANES],
    /// The distances of a lane's elements from its first one, in the order of registers: the same in all lanes.
    of_part: Box<[u16]>,
    /// Fragments of the same kind are distributed alike.
    kind: FragmentKind,
}

/// The mapping from registers to elements of the matrix.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// The layout of f16 operands of `mma.m8n8k4` in a quad pair. `is_along_k` means that the elements of a lane are
    /// neighbours along k. [PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"]
    Quads {
        is_left: bool,
        is_along_k: bool,
    },
    /// The layout of `mma` operands, with k along a row. The right operand is the transposed left one.
    Operand {
        is_left: bool,
    },
    Accumulator,
    /// A linear layout for `wmma`. Hardware's is undocumented, so programs cannot depend on it.
    Linear,
}

impl Layout {
    /// The place, counted row by row, of an element of a lane.
    fn place(
        self,
        lane: usize,
        element: usize,
        (packed, of_lane): (usize, usize),
        (rows, columns): (usize, usize),
    ) -> usize {
        let (group, thread) = (lane / 4, lane % 4);
        let (register, part) = (element / packed, element % packed);
        let (row, column) = match self {
            Self::Operand { is_left: true } => {
                let blocks = (rows / 8).max(1);
                let row = group + 8 * (register % blocks);
                (row, thread * packed + register / blocks * 4 * packed + part)
            }
            Self::Operand { is_left: false } => {
                (thread * packed + register * 4 * packed + part, group)
            }
            Self::Accumulator => (group + 8 * (element / 2), thread * 2 + element % 2),
            Self::Quads { is_left, is_along_k } => {
                let below = if lane < 16 { 0 } else { 4 };
                let (outer, inner) = match is_along_k {
                    _ if packed == 1 => (
                        (thread & 1) + (element & 2) + below,
                        (element & 4) + (thread & 2) + (element & 1),
                    ),
                    true => (thread + below, element),
                    false => (element + below, thread),
                };
                if is_left { (outer, inner) } else { (inner, outer) }
            }
            Self::Linear => (0, (lane * of_lane + element) % (rows * columns)),
        };
        row * columns + column
    }
}

impl Fragment {
    fn new(slots: Box<[Slot]>, scalar: T, layout: Layout, size: (usize, usize)) -> Option<Self> {
        let packed = if scalar == T::F64 { 1 } else { 32 / scalar.bits().min(32) as usize };
        let (rows, columns) = size;
        let is_sane = (1..=MAX_ELEMENTS).contains(&(rows * columns))
            && (scalar.bits() <= 32 || scalar == T::F64);
        let lanes_of_one = if let Layout::Quads { .. } = layout { 8 } else { LANES };
        let count = slots.len() * packed;
        let is_whole = count * lanes_of_one == rows * columns;
        if !is_sane || !is_whole && !matches!(layout, Layout::Linear) {
            return None;
        }
        let place = |lane, element| layout.place(lane, element, (packed, count), size) as u16;
        let of_lane = std::array::from_fn(|lane| place(lane, 0));
        let of_part: Box<[u16]> = (0..count).map(|element| place(0, element)).collect();
        // Other sizes would have elements outside the matrix.
        let last = of_lane.iter().max()? + of_part.iter().max()?;
        let (lanes, kind) = (u32::MAX, FragmentKind::Accumulator);
        (usize::from(last) < rows * columns).then_some(Self {
            slots,
            scalar,
            packed,
            rows,
            columns,
            lanes,
            of_lane,
            of_part,
            kind,
        })
    }

    /// The elements row by row. `convert` gets a lane's register, and the number of bits below the element.
    fn read<L: Lane, V: Copy + Default>(
        &self,
        registers: &Registers,
        convert: impl Fn(L, u32) -> V,
    ) -> Vec<V> {
        let mut values: Vec<V> = repeat_n(V::default(), self.rows * self.columns).collect();
        for (slot, firsts) in self.slots.iter().zip(self.of_part.chunks_exact(self.packed)) {
            let row = registers.get::<L>(*slot);
            for (first, shift) in firsts.iter().zip((0..).step_by(32 / self.packed)) {
                // Converted in vectors, and then moved in small chunks, which the compiler unrolls.
                let mut converted = [V::default(); LANES];
                for lane in 0..LANES {
                    converted[lane] = convert(row[lane], shift);
                }
                let chunks = self.of_lane.as_chunks::<4>().0.iter();
                for (places, converted) in chunks.zip(converted.as_chunks::<4>().0) {
                    for (place, converted) in places.iter().zip(converted) {
                        let place = usize::from(*place) + usize::from(*first);
                        if let Some(value) = values.get_mut(place) {
                            *value = *converted;
                        }
                    }
                }
            }
        }
        values
    }

    /// Writes the elements. `pack` gets an element and the number of bits below it, and returns the bits of a register.
    fn write<L: Lane + BitOr<Output = L>, V: Copy>(
        &self,
        registers: &mut Registers,
        values: &[V],
        pack: impl Fn(V, u32) -> L,
    ) {
        for (slot, firsts) in self.slots.iter().zip(self.of_part.chunks_exact(self.packed)) {
            let mut row = [L::ENDS[0]; LANES];
            for (first, shift) in firsts.iter().zip((0..).step_by(32 / self.packed)) {
                let chunks = self.of_lane.as_chunks::<4>().0.iter();
                for (places, row) in chunks.zip(row.as_chunks_mut::<4>().0) {
                    for (place, bits) in places.iter().zip(row) {
                        let place = usize::from(*place) + usize::from(*first);
                        if let Some(value) = values.get(place) {
                            *bits = *bits | pack(*value, shift);
                        }
                    }
                }
            }
            registers.put(*slot, &row, self.lanes);
        }
    }

    fn unknown(&self, registers: &Registers) -> Option<Slot> {
        self.slots.iter().copied().find(|slot| registers.unknown(*slot) != 0)
    }

    /// The bits of the elements, row by row.
    fn bits(&self, registers: &Registers) -> Vec<u64> {
        if self.scalar == T::F64 {
            return self.read(registers, |bits: u64, _| bits);
        }
        let mask = u32::MAX >> (32 - 32 / self.packed);
        self.read(registers, |bits: u32, shift| u64::from(bits >> shift & mask))
    }

    fn set_bits(&self, registers: &mut Registers, values: &[u64]) {
        match self.scalar {
            T::F64 => self.write(registers, values, |bits, _| bits),
            _ => self.write(registers, values, |bits, shift| (bits as u32) << shift),
        }
    }

    /// The elements as floats, row by row. They hold the integers of all factors.
    fn floats(&self, registers: &Registers) -> Vec<f32> {
        let unused = 32 - 32 / self.packed as u32;
        // A float is the low part of its bits. Compiled for each type, so that the compiler vectorizes it.
        macro_rules! of {
            ($($scalar:ident)+) => {
                match self.scalar {
                    $(T::$scalar => self.read(registers, #[inline(always)] |bits: u32, shift| {
                        float::value(bits >> shift, T::$scalar) as f32
                    }),)+
                    T::S4 | T::S8 => self.read(registers, |bits: u32, shift| {
                        ((bits << (unused - shift)) as i32 >> unused) as f32
                    }),
                    _ => self.read(registers, |bits: u32, shift| {
                        (bits << (unused - shift) >> unused) as i32 as f32
                    }),
                }
            };
        }
        of!(F16 E5m2 E4m3 Bf16 Tf32 F32)
    }
}

/// The operands of `D = A * B + C`.
#[derive(Clone, Debug)]
pub struct Product {
    /// The rows of A and D, the columns of B and D, and the columns of A, which are the rows of B.
    pub size: [usize; 3],
    /// The registers of D, A, B and C, in the order of the instruction.
    pub registers: [Box<[Slot]>; 4],
    /// The types of their elements.
    pub types: [T; 4],
    /// Whether A and B are stored row by row. Only the distribution over quad pairs depends on it.
    pub by_row: [bool; 2],
    /// Whether no documentation says which lane holds which element, as of `wmma`.
    pub is_opaque: bool,
    /// For products of single bits: `.and.popc` rather than `.xor.popc`.
    pub is_and: bool,
    /// Whether sums of integers saturate.
    pub is_saturated: bool,
    /// The rounding of products of f64.
    pub direction: Direction,
}

impl MatrixOp {
    /// A product; `None` if the machine has none of these types and sizes.
    #[must_use]
    pub fn multiply(of: Product) -> Option<Self> {
        use T::{B1, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
        let ([m, n, k], is_opaque) = (of.size, of.is_opaque);
        let [of_d, of_a, of_b, of_c] = of.types;
        let is_known = match (of_d, of_c) {
            (F16, F16 | F32) => [of_a, of_b].iter().all(|of| matches!(of, F16 | E4m3 | E5m2)),
            (F32, F16 | F32) if matches!(of_a, Bf16 | Tf32) => of_a == of_b,
            (F32, F16 | F32) => [of_a, of_b].iter().all(|of| matches!(of, F16 | E4m3 | E5m2)),
            (F64, F64) => [of_a, of_b] == [F64; 2],
            (S32, S32) if k <= MAX_INTEGERS => {
                [of_a, of_b].iter().all(|of| matches!(of, S8 | U8 | S4 | U4 | B1))
            }
            _ => false,
        };
        if !is_known || !n.is_multiple_of(COLUMNS) || !is_opaque && (n != 8 || !matches!(m, 8 | 16))
        {
            return None;
        }
        if of.is_saturated && of_a.is_float() || of.direction != Direction::Nearest && of_a != F64 {
            return None;
        }
        let is_in_quads = !is_opaque && (m, n, k) == (8, 8, 4) && of_a != F64;
        if is_in_quads && [of_a, of_b] != [F16; 2] {
            return None;
        }
        let operand = |is_left: bool, by_row: bool| match () {
            () if is_opaque => Layout::Linear,
            () if is_in_quads => Layout::Quads { is_left, is_along_k: is_left == by_row },
            () => Layout::Operand { is_left },
        };
        let accumulator = match () {
            () if is_opaque => Layout::Linear,
            () if is_in_quads => Layout::Quads { is_left: true, is_along_k: true },
            () => Layout::Accumulator,
        };
        let [d, a, b, c] = of.registers;
        let whole = Multiply {
            size: of.size,
            d: Fragment::new(d, of_d, accumulator, (m, n))?,
            a: Fragment::new(a, of_a, operand(true, of.by_row[0]), (m, k))?,
            b: Fragment::new(b, of_b, operand(false, of.by_row[1]), (k, n))?,
            c: Fragment::new(c, of_c, accumulator, (m, n))?,
            is_and: of.is_and,
            is_saturated: of.is_saturated,
            modes: Modes { direction: of.direction, ..Modes::default() },
        };
        if !is_in_quads {
            return Some(Self::Multiply([whole].into()));
        }
        let of_pair = |pair: u32| {
            let mut product = whole.clone();
            for part in [&mut product.a, &mut product.b, &mut product.c, &mut product.d] {
                part.lanes = 0x000f_000f << (4 * pair);
                lanes(!part.lanes).for_each(|lane| part.of_lane[lane] = NOWHERE);
            }
            product
        };
        Some(Self::Multiply((0..4).map(of_pair).collect()))
    }

    /// A load or a store of a matrix of `wmma`; `None` if its rows or columns are no whole bytes, or it is too large.
    /// `stride` has the distance of its rows or columns in elements; without it they follow each other.
    #[must_use]
    pub fn fragment(
        (kind, scalar, size): (FragmentKind, T, (usize, usize)),
        registers: Box<[Slot]>,
        access: MemoryOp,
        stride: Option<Slot>,
        is_row_major: bool,
    ) -> Option<Self> {
        // Single bits and 4-bit numbers share bytes.
        if [size.0, size.1].iter().any(|count| !(count * scalar.bits() as usize).is_multiple_of(8))
        {
            return None;
        }
        let fragment = Fragment::new(registers, scalar, Layout::Linear, size)?;
        let fragment = Fragment { kind, ..fragment };
        Some(Self::Fragment { fragment, access, stride, is_row_major })
    }

    /// A load or a store of matrices with rows of 16 bytes; `None` if the number of registers does not fit. `needs_all`:
    /// lanes without a row need valid addresses, too.
    #[must_use]
    pub fn rows(
        layout: RowLayout,
        registers: Box<[Slot]>,
        access: MemoryOp,
        needs_all: bool,
    ) -> Option<Self> {
        let (rows, of_matrix) = layout.size();
        let count = registers.len();
        if !matches!(count, 1 | 2 | 4) || !count.is_multiple_of(of_matrix) {
            return None;
        }
        let used = count / of_matrix * rows;
        let needs = if needs_all { u32::MAX } else { u32::MAX >> LANES.checked_sub(used)? };
        Some(Self::Rows { registers, access, layout, needs })
    }
}

/// Executes a matrix instruction. The whole warp executes it together.
pub(crate) fn execute(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    matrix: &MatrixOp,
    exec: u32,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    match matrix {
        MatrixOp::Multiply(products) => {
            let registers = &mut warp.frames[path.frame].registers;
            for product in products {
                product.execute(registers);
            }
            let Some(first) = products.first() else { return Ok(()) };
            let sources = [&first.a, &first.b, &first.c];
            let unknown = sources.iter().find_map(|source| source.unknown(registers));
            mark(registers, &first.d.slots, unknown.map(|slot| registers.origin(slot)));
            Ok(())
        }
        MatrixOp::Transpose { to, from } => {
            let registers = &mut warp.frames[path.frame].registers;
            let values = *registers.get::<u32>(*from);
            let element = |row: usize, column: usize| {
                values[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff
            };
            let out: [u32; LANES] = std::array::from_fn(|lane| {
                let (row, column) = (lane / 4, lane % 4 * 2);
                element(column, row) | element(column + 1, row) << 16
            });
            registers.put(*to, &out, exec);
            registers.derive(*to, &[*from], exec);
            Ok(())
        }
        MatrixOp::Fragment { fragment, access, stride, is_row_major } => {
            let mut run = Transfer { warp, path, op, access, engine };
            run.fragment(fragment, *stride, *is_row_major, exec)
        }
        MatrixOp::Rows { registers, access, layout, needs } => {
            let mut run = Transfer { warp, path, op, access, engine };
            run.rows(registers, *layout, *needs, exec)
        }
    }
}

/// Marks results as known, or as unknown because of an origin.
fn mark(registers: &mut Registers, slots: &[Slot], unknown: Option<Origin>) {
    for slot in slots {
        match unknown {
            None => registers.know(*slot, u32::MAX),
            Some(origin) => registers.forget(*slot, u32::MAX, origin),
        }
    }
}

/// Whether f32 holds all products of these factors of bf16 or tf32 exactly. Factors have up to 11 bits, so only overflow
/// and subnormal products are inexact.
fn have_exact_products(a: &[f32], b: &[f32]) -> bool {
    const INFINITY: u32 = f32::INFINITY.to_bits();
    // Bits are in the order of magnitudes. Less one, zero comes after all others.
    let ends = |values: &[f32]| {
        let magnitudes = values.iter().map(|value| value.abs().to_bits());
        let finite = magnitudes.map(|bits| if bits < INFINITY { bits } else { 0 });
        let (least, most) = finite.fold((INFINITY - 1, 0), |(least, most), bits| {
            (bits.wrapping_sub(1).min(least), bits.max(most))
        });
        (f32::from_bits(least + 1), f32::from_bits(most))
    };
    let ((least, most), (other_least, other_most)) = (ends(a), ends(b));
    least * other_least >= f32::MIN_POSITIVE && (most * other_most).is_finite()
}

/// The columns of a product that are summed at once.
const COLUMNS: usize = 8;

/// Adds the products of A and B to sums, in ascending k. `step` gets the factors and the sum.
fn accumulate<V: Copy>(
    [_, n, k]: [usize; 3],
    [a, b]: [&[V]; 2],
    sums: &mut [V],
    step: impl Fn(V, V, V) -> V,
) {
    let (blocks, b) = (n / COLUMNS, b.as_chunks::<COLUMNS>().0);
    let rows = sums.as_chunks_mut::<COLUMNS>().0.chunks_exact_mut(blocks);
    for (row, a) in rows.zip(a.chunks_exact(k)) {
        for (block, out) in row.iter_mut().enumerate() {
            let mut sums = *out;
            for (factor, b) in a.iter().zip(b.iter().skip(block).step_by(blocks)) {
                for (sum, other) in sums.iter_mut().zip(b) {
                    *sum = step(*factor, *other, *sum);
                }
            }
            *out = sums;
        }
    }
}

/// [`accumulate`] for sums of f16, which go through all elements for each k: a step takes so long that the next step of
/// the same element must not wait for it. Not inlined, because the compiler only vectorizes slices that it knows to be
/// apart, such as arguments.
#[inline(never)]
fn accumulate_halves([_, n, k]: [usize; 3], [a, b]: [&[f32]; 2], sums: &mut [f32]) {
    for (inner, b) in b.chunks_exact(n).enumerate() {
        for (sums, a) in sums.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
            let blocks = sums.as_chunks_mut::<COLUMNS>().0.iter_mut();
            for (sums, b) in blocks.zip(b.as_chunks::<COLUMNS>().0) {
                for (sum, other) in sums.iter_mut().zip(b) {
                    *sum = sum_of_half(a[inner] * other, *sum);
                }
            }
        }
    }
}

/// The sum of an exact product and an accumulator, rounded to f16. Without branches, for vectors.
fn sum_of_half(product: f32, addend: f32) -> f32 {
    // Rounded to odd first, like `float::add_odd`. NaN has no error.
    let sum = product + addend;
    let part = sum - product;
    let error = (product - (sum - part)) + (addend - part);
    let up = i32::from(error > 0.0) - i32::from(error < 0.0);
    let bits = sum.to_bits() as i32;
    let outward = (up ^ bits >> 31) - (bits >> 31);
    let odd = f32::from_bits((bits + (outward & ((bits & 1) - 1))) as u32);
    // A number so large that the last bit of its sum is the last bit of the f16.
    let exponent = (bits >> 23 & 0xff).clamp(127 - 14, 127 + 15);
    let large = f32::from_bits(((exponent + 13) << 23 | 1 << 22) as u32);
    let rounded = (odd + large) - large;
    let rounded = if rounded.abs() > 65504.0 { f32::INFINITY } else { rounded };
    rounded.copysign(sum)
}

impl Multiply {
    fn execute(&self, registers: &mut Registers) {
        let size = self.size;
        if self.d.scalar == T::F64 {
            let [a, b, mut sums] = [&self.a, &self.b, &self.c].map(|of| of.bits(registers));
            let fma = |x, y, sum| float::wide(FloatOp::Fma, self.modes, [x, y, sum]);
            accumulate(size, [&a, &b], &mut sums, fma);
            self.d.set_bits(registers, &sums);
            return;
        }
        let [a, b] = [&self.a, &self.b].map(|of| of.floats(registers));
        let factors = [a.as_slice(), b.as_slice()];
        let fused = |x, y, sum| sum + x * y;
        match self.d.scalar {
            T::S32 => {
                // Sums of integers are exact, too: `MAX_INTEGERS` limits them.
                let mut sums: Vec<f32> = repeat_n(0.0, self.d.rows * self.d.columns).collect();
                if self.a.scalar == T::B1 && !self.is_and {
                    accumulate(size, factors, &mut sums, |x, y, sum| sum + (x - y).abs());
                } else {
                    accumulate(size, factors, &mut sums, fused);
                }
                let mut wholes = self.c.read(registers, |bits: u32, _| bits as i32);
                for (whole, sum) in wholes.iter_mut().zip(sums) {
                    *whole = match self.is_saturated {
                        true => whole.saturating_add(sum as i32),
                        false => whole.wrapping_add(sum as i32),
                    };
                }
                self.d.write(registers, &wholes, |whole, _| whole as u32);
            }
            T::F16 => {
                let mut sums = self.c.floats(registers);
                accumulate_halves(size, factors, &mut sums);
                self.d.write(registers, &sums, |sum, shift| {
                    float::round(sum.into(), float::F16, Modes::default()) << shift
                });
            }
            _ => {
                let mut sums = self.c.floats(registers);
                let has_wide_range = matches!(self.a.scalar, T::Bf16 | T::Tf32);
                if has_wide_range && !have_exact_products(&a, &b) {
                    accumulate(size, factors, &mut sums, |x, y, sum| {
                        float::add_odd(f64::from(x) * f64::from(y), sum.into()) as f32
                    });
                } else {
                    accumulate(size, factors, &mut sums, fused);
                }
                self.d.write(registers, &sums, |sum, _| {
                    if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() }
                });
            }
        }
    }
}

/// Moves a matrix between memory and registers.
struct Transfer<'a, 'e> {
    warp: &'a mut Warp,
    path: &'a Path,
    op: &'a Op,
    access: &'a MemoryOp,
    engine: &'a mut Engine<'e>,
}

impl Transfer<'_, '_> {
    fn is_store(&self) -> bool {
        self.access.kind == MemoryKind::Store
    }

    /// Reads or writes bytes for a lane. Returns `None`, and reports a fault, if the bytes are not in memory.
    fn transfer(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        flags: &mut u8,
        lane: usize,
    ) -> Option<()> {
        let is_store = self.is_store();
        let (mut memories, _) = parts(self.warp, self.path, self.engine);
        let size = bytes.len() as u32;
        let found = match is_store {
            true => memories.find_written(self.access.space, address, size, lane),
            false => memories.find(self.access.space, address, size, lane),
        };
        let missing = match found {
            Ok(found) if is_store => {
                let (region, offset) = memories.at_mut(found);
                let place = offset..offset + bytes.len();
                if let Some(to) = region.values.get_mut(place.clone()) {
                    to.copy_from_slice(bytes);
                }
                region.mark(place, *flags);
                return Some(());
            }
            Ok(found) => {
                let (region, offset) = memories.at(found);
                let place = offset..offset + bytes.len();
                bytes.copy_from_slice(
                    region.values.get(place.clone()).unwrap_or(&[0; 16][..bytes.len()]),
                );
                let found_flags = region.flags(place);
                *flags = joined(*flags, found_flags);
                if found_flags & UNWRITTEN != 0 && self.engine.options.checks.uninitialized {
                    let address = self.engine.generic(self.access.space, address);
                    let (op, warp) = (self.op, self.warp.number);
                    self.engine.fault(FaultKind::Uninitialized, op, warp, lane as u32, address);
                }
                return Some(());
            }
            Err(missing) => missing,
        };
        self.missing(address, size, missing, lane);
        None
    }

    /// Reports the fault of a lane without bytes.
    fn missing(&mut self, address: u64, size: u32, missing: Missing, lane: usize) {
        let kind = FaultKind::of_missing(missing, size);
        let address = self.engine.generic(self.access.space, address);
        self.engine.fault(kind, self.op, self.warp.number, lane as u32, address);
    }

    /// A part of the transfer, for the race detector.
    fn checked(&self, bytes: usize) -> CheckedAccess {
        CheckedAccess {
            bytes: bytes as u32,
            size: 1,
            is_write: self.is_store(),
            strong: None,
            is_atomic: false,
            reads: !self.is_store(),
            warp: self.warp.number,
            site: self.op.site,
            is_copy: false,
        }
    }

    /// The flags of bytes that an unknown value is stored to.
    fn unknown_flags(&mut self, origin: Option<Origin>) -> u8 {
        origin.map_or(0, |origin| self.engine.origins.flags(origin))
    }

    fn addresses(&self, exec: u32) -> Result<[u64; LANES], Stop> {
        let mut addresses = [0; LANES];
        find_addresses(self.warp, self.path, Address::of(self.access), exec, &mut addresses)?;
        Ok(addresses)
    }

    fn count(&mut self) {
        let Engine { counts, effects, .. } = self.engine;
        match self.access.kind {
            MemoryKind::Store => (counts.stores, *effects) = (counts.stores + 1, *effects + 1),
            _ => counts.loads += 1,
        }
    }

    fn fragment(
        &mut self,
        fragment: &Fragment,
        stride: Option<Slot>,
        is_row_major: bool,
        exec: u32,
    ) -> Result<(), Stop> {
        let is_store = self.is_store();
        let bases = self.addresses(exec)?;
        let first = exec.trailing_zeros() as usize & 31;
        let base = bases[first];
        if let Some(stride) = stride {
            self.warp.need(self.path, stride, exec, "a stride")?;
        }
        self.count();
        let registers = &self.warp.frames[self.path.frame].registers;
        let stride = match stride {
            Some(slot) => registers.get::<u32>(slot)[first] as usize,
            None if is_row_major => fragment.columns,
            None => fragment.rows,
        };
        let bits = fragment.scalar.bits() as usize;
        let place = |row: usize, column: usize| {
            let (outer, inner) = if is_row_major { (row, column) } else { (column, row) };
            (outer * stride + inner) * bits
        };
        let mut values = vec![0_u64; fragment.rows * fragment.columns];
        let mut flags = 0;
        if is_store {
            let unknown = fragment.unknown(registers).map(|slot| registers.origin(slot));
            values = fragment.bits(registers);
            flags = self.unknown_flags(unknown);
        }
        // Elements smaller than a byte are adjacent in a row or column, and are moved a byte at a time.
        let per_step = (8 / bits.min(8)).max(1);
        let size = bits.div_ceil(8);
        let (outer, inner) = if is_row_major {
            (fragment.rows, fragment.columns)
        } else {
            (fragment.columns, fragment.rows)
        };
        'transfer: for major in 0..outer {
            for minor in (0..inner).step_by(per_step) {
                let at = |minor: usize| if is_row_major { (major, minor) } else { (minor, major) };
                let (row, column) = at(minor);
                let address = base.wrapping_add(place(row, column) as u64 / 8);
                let index = |minor: usize| {
                    let (row, column) = at(minor);
                    row * fragment.columns + column
                };
                let mut number = 0_u64;
                if is_store {
                    for part in 0..per_step {
                        number |= values[index(minor + part)] << (part * bits);
                    }
                }
                let mut bytes = number.to_le_bytes();
                let moved = self.transfer(address, &mut bytes[..size], &mut flags, first);
                // One fault for the whole matrix. The elements of a load that are missing are zero.
                if moved.is_none() {
                    break 'transfer;
                }
                let access = self.checked(size);
                let place = (self.access.space, address);
                self.engine.check_together(&access, (exec, fragment.kind), place);
                if !is_store {
                    let number = u64::from_le_bytes(bytes);
                    for part in 0..per_step {
                        values[index(minor + part)] =
                            number >> (part * bits) & (u64::MAX >> (64 - bits));
                    }
                }
            }
        }
        if !is_store {
            let registers = &mut self.warp.frames[self.path.frame].registers;
            fragment.set_bits(registers, &values);
            let origin = self.engine.origins.of(flags);
            mark(registers, &fragment.slots, origin);
        }
        Ok(())
    }

    fn rows(
        &mut self,
        slots: &[Slot],
        layout: RowLayout,
        needs: u32,
        exec: u32,
    ) -> Result<(), Stop> {
        let is_store = self.is_store();
        let addresses = self.addresses(exec & needs)?;
        self.count();
        let (count, of_matrix) = layout.size();
        // The addresses of these lanes are not used, but must be valid.
        let used = slots.len() / of_matrix * count;
        let unused = needs & exec & !(u32::MAX >> (LANES - used.min(LANES)));
        for lane in lanes(unused) {
            let (mut memories, _) = parts(self.warp, self.path, self.engine);
            let found = memories.find(self.access.space, addresses[lane], 16, lane);
            if let Err(missing) = found {
                self.missing(addresses[lane], 16, missing, lane);
            }
        }
        let mut seen = LaneBytes::default();
        let (mut done, mut lost) = (0, 0);
        for (matrix, slots) in slots.chunks(of_matrix).enumerate() {
            let mut rows = [[0_u8; 16]; 16];
            let mut flags = 0;
            if is_store {
                let registers = &self.warp.frames[self.path.frame].registers;
                for (register, slot) in slots.iter().enumerate() {
                    for (lane, value) in registers.get::<u32>(*slot).iter().enumerate() {
                        for (part, byte) in value.to_le_bytes().into_iter().enumerate() {
                            let (row, column) = layout.place(lane, register, part);
                            rows[row][column] = byte;
                        }
                    }
                }
                let unknown = slots.iter().find(|slot| registers.unknown(**slot) & exec != 0);
                flags = self.unknown_flags(unknown.map(|slot| registers.origin(*slot)));
            }
            for (row, bytes) in rows.iter_mut().take(count).enumerate() {
                let lane = count * matrix + row;
                let moved = self.transfer(addresses[lane], bytes, &mut flags, lane);
                if moved.is_none() {
                    continue;
                }
                done |= 1 << lane;
                seen[lane][..16].copy_from_slice(bytes);
                if self.engine.races.is_none() {
                    continue;
                }
                // Each element belongs to the lane that holds it, and not to the one with the row's address.
                let holders: [_; 16] = std::array::from_fn(|byte| layout.holder(row, byte));
                let mut start = 0;
                for run in holders.chunk_by(|one, next| one == next) {
                    if let Some(holder) = run[0] {
                        let access = self.checked(run.len());
                        let place = [addresses[lane].wrapping_add(start); LANES];
                        let place = (self.access.space, &place);
                        self.engine.check_lanes(&access, 1 << holder, place, &|_, _| false);
                    }
                    start += run.len() as u64;
                }
            }
            if flags & UNKNOWN != 0 {
                lost = u32::MAX;
            }
            if is_store {
                continue;
            }
            rows.iter_mut().for_each(|row| layout.unpack(row));
            let origin = self.engine.origins.of(flags);
            let registers = &mut self.warp.frames[self.path.frame].registers;
            for (register, slot) in slots.iter().enumerate() {
                let out: [u32; LANES] = std::array::from_fn(|lane| {
                    u32::from_le_bytes(std::array::from_fn(|part| {
                        let (row, column) = layout.place(lane, register, part);
                        rows[row][column]
                    }))
                });
                registers.put(*slot, &out, exec);
                mark(registers, &[*slot], origin);
            }
        }
        let kind = if is_store { AccessKind::Store } else { AccessKind::Load };
        let access = (kind, self.access.space, self.access.bytes());
        self.engine.observe(self.op, self.warp.number, access, (done, lost), &addresses, &seen);
        Ok(())
    }
}
