//! An executor that follows the formulas of docs/tensor-memory.md cell by cell. It shares no code with the library's.

use warpload_ptx::tensor::{Shape, TensorMemory};

/// Lane and column of a thread's register, relative to the base of the load or of the half.
pub(crate) fn place(shape: Shape, t: usize, r: usize) -> (usize, usize) {
    match shape {
        Shape::S32x32b => (t, r),
        Shape::S16x64b => (t / 4 + 8 * (t % 2), (t / 2) % 2 + 2 * r),
        Shape::S16x128b => (t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)),
        Shape::S16x256b => (t / 4 + 8 * ((r / 2) % 2), r % 2 + 2 * (t % 4) + 8 * (r / 4)),
        Shape::S16x32bx2 => (if t < 16 { t } else { t - 16 }, r),
    }
}

/// The number of registers of a thread per repeat.
pub(crate) fn registers(shape: Shape) -> usize {
    match shape {
        Shape::S16x128b => 2,
        Shape::S16x256b => 4,
        _ => 1,
    }
}

/// The number of columns per repeat, unpacked.
pub(crate) fn columns(shape: Shape) -> usize {
    match shape {
        Shape::S32x32b | Shape::S16x32bx2 => 1,
        Shape::S16x64b => 2,
        Shape::S16x128b => 4,
        Shape::S16x256b => 8,
    }
}

/// A load with valid addresses. `bases` are the lane and column of each half, twice the same if there is only one. The
/// result is rows of registers, as in the library.
pub(crate) fn load(
    shape: Shape,
    num: usize,
    pack: bool,
    bases: [(usize, usize); 2],
    memory: &TensorMemory,
) -> Vec<[u32; 32]> {
    let mut rows = vec![[0; 32]; num * registers(shape)];
    for t in 0..32 {
        let second = shape == Shape::S16x32bx2 && t >= 16;
        let (base_lane, base_column) = bases[usize::from(second)];
        for (r, row) in rows.iter_mut().enumerate() {
            let (lane, column) = place(shape, t, r);
            let cell = |column| memory.get(base_lane + lane, column).unwrap();
            row[t] = if pack {
                let c = base_column + 2 * column;
                cell(c) & 0xffff | (cell(c + 1) & 0xffff) << 16
            } else {
                cell(base_column + column)
            };
        }
    }
    rows
}
