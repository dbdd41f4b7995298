//! Minima and maxima of `tcgen05.ld.red`.

use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{Reduction, ReductionOperation, ReductionType};

const CANONICAL_NAN: u32 = 0x7fff_ffff;

fn fold(reduction: Reduction, values: &[u32]) -> u32 {
    let rows: Vec<LaneValues> = values.iter().map(|value| [*value; LANES]).collect();
    reduction.fold(&rows)[17]
}

#[test]
fn integers() {
    use ReductionOperation::{Max, Min};
    let values = [3, 0xffff_fffe, 0x8000_0000, 0x7fff_ffff];
    let found = |operation, kind| fold(Reduction::new(operation, kind), &values);
    assert_eq!(found(Min, ReductionType::U32), 3);
    assert_eq!(found(Max, ReductionType::U32), 0xffff_fffe);
    assert_eq!(found(Min, ReductionType::S32), 0x8000_0000);
    assert_eq!(found(Max, ReductionType::S32), 0x7fff_ffff);
}

#[test]
fn numbers_zeroes_and_nans() {
    let min = Reduction::new(ReductionOperation::Min, ReductionType::F32);
    let max = Reduction::new(ReductionOperation::Max, ReductionType::F32);
    let bits = f32::to_bits;
    assert_eq!(fold(min, &[bits(1.0), bits(-2.5), bits(0.5)]), bits(-2.5));
    assert_eq!(fold(max, &[bits(-1.0), bits(-2.5)]), bits(-1.0));
    assert_eq!(fold(min, &[0, 0x8000_0000]), 0x8000_0000);
    assert_eq!(fold(max, &[0x8000_0000, 0]), 0);
    assert_eq!(fold(max, &[1, 2]), 2, "subnormal numbers");
    // Infinities are numbers.
    assert_eq!(fold(min, &[0x7f80_0000, 0xffc0_0000]), 0x7f80_0000);
    assert_eq!(fold(max, &[0xff80_0000, 0x7f80_0001]), 0xff80_0000);
    assert_eq!(fold(max, &[0xffc0_0000, 0xffff_ffff]), CANONICAL_NAN);
    let strict = |reduction| Reduction { propagates_nan: true, ..reduction };
    assert_eq!(fold(strict(min), &[0xffc0_0000, 0]), CANONICAL_NAN);
    assert_eq!(fold(strict(min), &[bits(3.0), bits(2.0)]), bits(2.0));
}

#[test]
fn magnitudes() {
    let magnitude =
        |operation| Reduction { absolute: true, ..Reduction::new(operation, ReductionType::F32) };
    let values = [-3.0, 2.0, -0.5_f32].map(f32::to_bits);
    assert_eq!(fold(magnitude(ReductionOperation::Max), &values), f32::to_bits(3.0));
    assert_eq!(fold(magnitude(ReductionOperation::Min), &values), f32::to_bits(0.5));
    assert_eq!(fold(magnitude(ReductionOperation::Max), &[0x8000_0000]), 0);
}
