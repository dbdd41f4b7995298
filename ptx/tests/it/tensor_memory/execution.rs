//! Compares the library's executor with one that follows the formulas literally: every shape, repeat, packing, warp and
//! base lane, with drawn columns and half offsets.

use proptest::prelude::*;
use warpload_ptx::tensor::{
    Allocations, Form, Issue, LaneMode, Pattern, Reduction, ReductionOperation, ReductionType,
    Repeat, Rules, Shape, TensorAddress, TensorFault, TensorLoad, TensorMemory, TensorRegisters,
    execute,
};

use super::naive;

/// Every legal load without reduction. `split` is the half offset of loads that have one.
fn loads(split: i64) -> Vec<TensorLoad> {
    let mut loads = Vec::new();
    for shape in Shape::ALL {
        for repeat in Repeat::ALL {
            for pack in [false, true] {
                let split = (shape == Shape::S16x32bx2).then_some(split);
                let form = Form { pack, split, ..Form::plain(shape, repeat.get() as u32) };
                loads.extend(TensorLoad::new(form));
            }
        }
    }
    loads
}

fn base_lanes(shape: Shape) -> &'static [usize] {
    if shape == Shape::S32x32b { &[0] } else { &[0, 16] }
}

fn address(lane: usize, column: usize) -> TensorAddress {
    TensorAddress::new(lane as u16, column as u16)
}

#[test]
fn every_load_from_every_slab() {
    let memory = TensorMemory::filled(Pattern::Hash);
    let mut registers = TensorRegisters::new();
    let mut count = 0;
    for load in loads(0) {
        // Includes the first and the last column that fits.
        let last = 512 - load.columns();
        for column in [0, last / 2, last] {
            for warp in 0..8 {
                for lane in base_lanes(load.shape()) {
                    let lane = warp % 4 * 32 + lane;
                    let issue = Issue::new(warp as u32, address(lane, column));
                    let done = execute(&load, issue, &memory, &Rules::default(), &mut registers);
                    assert_eq!(done, Ok(()), "{load}");
                    let (num, pack) = (load.repeat().get(), load.is_packed());
                    let bases = [(lane, column); 2];
                    let expected = naive::load(load.shape(), num, pack, bases, &memory);
                    assert_eq!(registers.data(), expected, "{load}, warp {warp}, column {column}");
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 2 * (8 + 2 * (8 + 7 + 6 + 8)) * 3 * 8);
}

/// One column beyond the last that fits is a fault, and no register changes.
#[test]
fn one_column_too_far() {
    let memory = TensorMemory::filled(Pattern::Hash);
    let mut registers = TensorRegisters::new();
    for load in loads(0) {
        let before = registers.data().to_vec();
        let issue = Issue::new(0, address(0, 513 - load.columns()));
        let done = execute(&load, issue, &memory, &Rules::default(), &mut registers);
        assert_eq!(done.map_err(TensorFault::code), Err("column-range"), "{load}");
        assert_eq!(registers.data(), before);
    }
}

/// A packed load equals a plain load from a memory with columns made of the low halves of every two columns.
#[test]
fn packing_is_a_plain_load_of_squeezed_memory() {
    let memory = TensorMemory::filled(Pattern::PackIdentity);
    let half = |lane, column| memory.get(lane, column).map_or(0, |cell| cell & 0xffff);
    let squeezed = TensorMemory::from_fn(|lane, column| {
        half(lane, 2 * column) | half(lane, 2 * column + 1) << 16
    });
    let (mut packed, mut plain) = (TensorRegisters::new(), TensorRegisters::new());
    for load in loads(0).into_iter().filter(TensorLoad::is_packed) {
        let form = Form { split: load.split(), ..Form::plain(load.shape(), 1) };
        let form = Form { num: load.repeat().get() as u32, ..form };
        let unpacked = TensorLoad::new(form).unwrap();
        for column in (0..=512 - load.columns()).step_by(2) {
            let at = |column| Issue::new(3, address(96, column));
            let rules = Rules::default();
            assert_eq!(execute(&load, at(column), &memory, &rules, &mut packed), Ok(()));
            assert_eq!(execute(&unpacked, at(column / 2), &squeezed, &rules, &mut plain), Ok(()));
            assert_eq!(packed.data(), plain.data(), "{load} from column {column}");
        }
    }
}

/// A straightforward fold over one thread's values.
fn naive_fold(reduction: Reduction, values: &[u32]) -> u32 {
    let max = reduction.operation == ReductionOperation::Max;
    let integers = |key: fn(u32) -> i64| {
        let keyed = values.iter().copied();
        if max { keyed.max_by_key(|v| key(*v)) } else { keyed.min_by_key(|v| key(*v)) }.unwrap()
    };
    match reduction.kind {
        ReductionType::U32 => integers(i64::from),
        ReductionType::S32 => integers(|v| i64::from(v as i32)),
        ReductionType::F32 => {
            let numbers = values.iter().map(|bits| f32::from_bits(*bits));
            let numbers = numbers.map(|v| if reduction.absolute { v.abs() } else { v });
            let (nans, numbers): (Vec<f32>, Vec<f32>) = numbers.partition(|v| v.is_nan());
            if numbers.is_empty() || reduction.propagates_nan && !nans.is_empty() {
                return 0x7fff_ffff;
            }
            let sorted = |one: &f32, other: &f32| one.total_cmp(other);
            let numbers = numbers.into_iter();
            if max { numbers.max_by(sorted) } else { numbers.min_by(sorted) }.unwrap().to_bits()
        }
    }
}

fn reductions() -> Vec<Reduction> {
    let mut reductions = Vec::new();
    for operation in [ReductionOperation::Min, ReductionOperation::Max] {
        for kind in [ReductionType::U32, ReductionType::S32, ReductionType::F32] {
            for modifiers in 0..if kind == ReductionType::F32 { 4 } else { 1 } {
                let (absolute, propagates_nan) = (modifiers & 1 != 0, modifiers & 2 != 0);
                reductions.push(Reduction { operation, kind, absolute, propagates_nan });
            }
        }
    }
    reductions
}

/// Checks a reduction against each thread's own registers of a load of `num` columns.
fn check_reduction(reduction: Reduction, shape: Shape, num: u32, memory: &TensorMemory) {
    let split = (shape == Shape::S16x32bx2).then_some(130);
    let form = Form { shape, num, pack: false, split, reduction: Some(reduction) };
    let load = TensorLoad::new(form).unwrap();
    let issue = Issue::new(2, address(64, 100));
    let mut registers = TensorRegisters::new();
    assert_eq!(execute(&load, issue, memory, &Rules::default(), &mut registers), Ok(()));
    let values: Vec<u32> = registers.by_thread().collect();
    let folded: Vec<u32> =
        values.chunks(num as usize).map(|own| naive_fold(reduction, own)).collect();
    assert_eq!(registers.reduced().unwrap()[..], folded, "{load}");
}

#[test]
fn reductions_are_folds_of_the_threads_own_registers() {
    for pattern in Pattern::ALL {
        let memory = TensorMemory::filled(pattern);
        for reduction in reductions() {
            for num in [2, 8, 128] {
                check_reduction(reduction, Shape::S32x32b, num, &memory);
                check_reduction(reduction, Shape::S16x32bx2, num, &memory);
            }
        }
    }
}

/// The rules of an address, written out. The result is the code of the first broken one.
fn broken_rule(load: &TensorLoad, issue: Issue, rules: &Rules) -> Option<&'static str> {
    let split = load.split().unwrap_or(0);
    if !(0..1 << 32).contains(&split) {
        return Some("split-range");
    }
    let taddr = issue.address.0;
    if rules.hardware_alignment && !taddr.is_multiple_of(2) && load.needs_even_column() {
        return Some("column-align");
    }
    let halves = if load.split().is_some() { 2 } else { 1 };
    for half in 0..halves {
        let at = (u64::from(taddr) + half * split as u64) % (1 << 32);
        let (lane, column) = (at >> 16, at & 0xffff);
        let slab = u64::from(issue.warp % 4);
        if rules.lane_mode == LaneMode::Strict && lane / 32 != slab {
            return Some("lane-slab");
        }
        if lane % if load.shape() == Shape::S32x32b { 32 } else { 16 } != 0 {
            return Some("lane-align");
        }
        for column in column..column + load.columns() as u64 {
            if column >= 512 {
                return Some("column-range");
            }
            if !rules.allocated.contains(column as usize) {
                return Some("column-unallocated");
            }
        }
    }
    None
}

fn a_rule() -> impl Strategy<Value = Rules> {
    let allocated = prop_oneof![
        Just(Allocations::ALL),
        (0usize..8, 0usize..16).prop_map(|(one, other)| {
            let mut allocated = Allocations::NONE;
            allocated.add(64 * one, 64).unwrap();
            // Overlapping allocations are not added.
            let _ = allocated.add(32 * other, 32);
            allocated
        })
    ];
    let lane_mode = prop_oneof![Just(LaneMode::Strict), Just(LaneMode::Wrap)];
    (lane_mode, allocated, any::<bool>()).prop_map(|(lane_mode, allocated, hardware_alignment)| {
        Rules::default()
            .lane_mode(lane_mode)
            .allocated(allocated)
            .hardware_alignment(hardware_alignment)
    })
}

fn a_field(usual: std::ops::Range<u32>) -> impl Strategy<Value = u32> {
    prop_oneof![8 => usual, 1 => 0u32..0x1_0000]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any address, offset and rules give the fault of the broken rule, or the cells of the formulas.
    #[test]
    fn any_address(
        which in any::<prop::sample::Index>(),
        warp in any::<u32>(),
        lane in prop_oneof![8 => (0u32..8).prop_map(|unit| 16 * unit), 1 => a_field(0..128)],
        column in a_field(0..512),
        split in prop_oneof![6 => 0i64..512, 1 => any::<i64>(), 1 => any::<u32>().prop_map(i64::from),
            2 => (0i64..8, 0i64..64).prop_map(|(lane, column)| lane << 20 | column)],
        rules in a_rule(),
    ) {
        let loads = loads(split);
        let load = which.get(&loads);
        let issue = Issue::new(warp, TensorAddress(lane << 16 | column));
        let memory = TensorMemory::filled(Pattern::LaneColumn);
        let mut registers = TensorRegisters::new();
        let done = execute(load, issue, &memory, &rules, &mut registers);
        prop_assert_eq!(done.map_err(TensorFault::code).err(), broken_rule(load, issue, &rules));
        if done.is_ok() {
            let base = |address: TensorAddress| {
                ((warp % 4 * 32) as usize + address.lane() % 32, address.column())
            };
            let second = issue.address.plus(load.split().unwrap_or(0) as u32);
            let bases = [base(issue.address), base(second)];
            let (num, pack) = (load.repeat().get(), load.is_packed());
            let expected = naive::load(load.shape(), num, pack, bases, &memory);
            prop_assert_eq!(registers.data(), &expected[..]);
        }
    }
}

#[test]
fn the_fault_of_strict_lanes_names_the_way_out() {
    let load = TensorLoad::new(Form::plain(Shape::S32x32b, 1)).unwrap();
    let issue = Issue::new(2, TensorAddress(32));
    let memory = TensorMemory::filled(Pattern::LaneColumn);
    let mut registers = TensorRegisters::new();
    let fault = execute(&load, issue, &memory, &Rules::default(), &mut registers).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "address 0x00000020 (lane 0, column 32): this warp may read lanes 64..=95; lane mode \
         `wrap` takes the lane modulo 32 within them"
    );
    let wrap = Rules::default().lane_mode(LaneMode::Wrap);
    assert_eq!(execute(&load, issue, &memory, &wrap, &mut registers), Ok(()));
    assert_eq!(registers.data()[0][0], 64 << 16 | 32);
}
