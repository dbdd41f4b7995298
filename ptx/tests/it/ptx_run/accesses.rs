//! Accesses: alignment, what lies outside, and 32 bytes at once.

use warpload::lane::LaneMask;
use warpload::load::LaneFaultKind;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder, Space, Window};

use crate::ptx_run::fixture::{Case, machine, reporting};

#[test]
fn misaligned_addresses_are_rounded_down() {
    // Four elements of 2 bytes are one access of 8: 0x1000000d is rounded to 0x10000008.
    let load = "ld.global.v4.u16 {%r1, %r2, %r3, %r4}, [%rd1];";
    let ran = Case::new(load).set("%rd1", "0x1000000d").on(machine());
    assert_eq!(ran.all("%r1"), 0x0908);
    assert_eq!(ran.faults(), [""; 0]);

    // Reported, the value is the same. Lanes 1, 3, .. are aligned: 0x1000000d + 3 = 0x10000010.
    let ran = Case::new(load).set("%rd1", "0x1000000d+3*(lane&1)").on(reporting());
    assert_eq!([ran.lane("%r1", 0), ran.lane("%r1", 1)], [Some(0x0908), Some(0x1110)]);
    let expected = "lane 0: misaligned_address at 0x1000000d (rounded down to 0x10000008), 8 bytes of \
         global memory";
    assert_eq!(ran.faults().len(), 16);
    assert_eq!(ran.faults()[0], expected);
}

#[test]
fn a_lane_that_is_outside_gets_zeroes() {
    // Lane n reads 0x100000f0 + 4 n: lanes 0..=3 inside the 256 bytes, the others after them.
    let ran = Case::new("ld.global.u32 %r1, [%rd1];")
        .set("%rd1", "0x100000f0+4*lane")
        .set("%r1", "5")
        .on(machine());
    assert_eq!(ran.lane("%r1", 3), Some(0xfffe_fdfc));
    assert_eq!(ran.lane("%r1", 4), Some(0));
    let executed = ran.loads[0].as_ref().unwrap();
    assert_eq!(
        executed.faults.lanes(LaneFaultKind::OutsideAllocation),
        LaneMask::from_bits(0xffff_fff0)
    );
    assert_eq!(
        ran.faults()[0],
        "lane 4: outside_allocation at 0x10000100, 4 bytes of global memory"
    );
    assert_eq!(executed.spaces, [Some(Space::Global); 32]);
}

#[test]
fn an_address_beyond_the_address_bits_is_outside() {
    // 2^40 with 40 bits: generic addresses lie in no window there, global ones are not allocated.
    let ran = Case::new("ld.u32 %r1, [%rd1];").set("%rd1", "1<<40").on(machine());
    assert_eq!(ran.all("%r1"), 0);
    let expected = "lane 0: outside_window at 0x10000000000, 4 bytes, beyond the address space";
    assert_eq!(ran.faults()[0], expected);
    assert_eq!(ran.loads[0].as_ref().unwrap().spaces[0], None);
    let ran = Case::new("ld.global.u32 %r1, [%rd1];").set("%rd1", "1<<40").on(machine());
    assert_eq!(
        ran.faults()[0],
        "lane 0: outside_allocation at 0x10000000000, 4 bytes of global memory"
    );
}

const V8: &str = "ld.global.v8.b32 {%r1, %r2, %r3, _, %r5, %r6, %r7, %r8}, [%rd1];";

#[test]
fn thirty_two_bytes_are_one_access() {
    // Lane n reads byte 32 * (n % 8): 8 rows of 32 bytes.
    let ran = Case::new(V8).set("%rd1", "0x10000000+32*(lane%8)").on(machine());
    assert_eq!(ran.lane("%r1", 0), Some(0x0302_0100));
    assert_eq!(ran.lane("%r8", 0), Some(0x1f1e_1d1c));
    // Lane 7: bytes 0xe0 to 0xff; element 4 begins the upper half, at 0xf0.
    assert_eq!(ran.lane("%r5", 7), Some(0xf3f2_f1f0));
    assert_eq!(ran.faults(), [""; 0]);
    // Four elements of 8 bytes.
    let ran = Case::new("ld.v4.s64 {%rd2, %rd3, %rd4, %rd5}, [%rd1];");
    let ran = ran.set("%rd1", "0x10000020").on(machine());
    assert_eq!(ran.all("%rd2"), 0x2726_2524_2322_2120);
    assert_eq!(ran.all("%rd5"), 0x3f3e_3d3c_3b3a_3938);
}

#[test]
fn thirty_two_bytes_are_aligned_to_thirty_two() {
    // 0x10000030 is a multiple of 16 only: rounded down to 0x10000020.
    let ran = Case::new(V8).set("%rd1", "0x10000030").on(reporting());
    assert_eq!(ran.all("%r1"), 0x2322_2120);
    let expected = "lane 31: misaligned_address at 0x10000030 (rounded down to 0x10000020), 32 bytes \
         of global memory";
    assert_eq!(ran.faults().len(), 32);
    assert_eq!(ran.faults()[31], expected);
}

#[test]
fn either_half_outside_is_all_outside() {
    // 16 allocated bytes in the lower half of one access, and in the upper half of another.
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0x2000, &[0x11; 16])
        .global(0x3010, &[0x22; 16])
        .build()
        .unwrap();
    let ran = Case::new(V8).set("%rd1", "0x2000+0x1000*(lane&1)").on(Machine::new(memory));
    for register in ["%r1", "%r5", "%r8"] {
        assert_eq!(ran.all(register), 0);
    }
    // One fault a lane.
    assert_eq!(ran.faults().len(), 32);
    assert_eq!(
        ran.faults()[..2],
        [
            "lane 0: outside_allocation at 0x2000, 32 bytes of global memory",
            "lane 1: outside_allocation at 0x3000, 32 bytes of global memory"
        ]
    );
}

#[test]
fn no_access_goes_on_in_the_next_allocation() {
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0x2000, &[0x11; 16])
        .global(0x2010, &[0x22; 16])
        .build()
        .unwrap();
    let ran = Case::new(V8).set("%rd1", "0x2000").on(Machine::new(memory));
    assert_eq!(ran.all("%r1"), 0);
    assert_eq!(ran.faults().len(), 32);
}

#[test]
fn a_window_may_cut_thirty_two_bytes() {
    // Windows are multiples of 16: the shared one is 0x8010..0x8030, the local one 0x8ff0..0x9010.
    // Everything around their borders is allocated.
    let shared = Window { base: 0x8010, size: 0x20 };
    let local = Window { base: 0x8ff0, size: 0x20 };
    let map = AddressMap::new(40, shared, local).unwrap();
    let memory = || {
        let memory = MemoryBuilder::new(map)
            .global(0x8000, &[1; 16])
            .global(0x8030, &[1; 16])
            .global(0x8fe0, &[1; 16])
            .global(0x9010, &[1; 16])
            .shared(&[3; 32])
            .local_low(16, &[4; 512])
            .local_high(16, &[5; 512]);
        memory.build().unwrap()
    };
    let load = "ld.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];";
    // The memory of the first byte is the access's.
    for (address, space) in
        [("0x8000", "global"), ("0x8020", "shared"), ("0x8fe0", "global"), ("0x9000", "local")]
    {
        let ran = Case::new(load).set("%rd1", address).on(Machine::new(memory()));
        assert_eq!([ran.all("%r1"), ran.all("%r8")], [0, 0], "{address}");
        let expected =
            format!("lane 0: outside_allocation at {address}, 32 bytes of {space} memory");
        assert_eq!(ran.faults()[0], expected);
        assert_eq!(ran.faults().len(), 32);
    }
}

#[test]
fn the_parts_of_a_full_local_window_are_one() {
    // Low 16 and high 16 of a window of 32 bytes: offset 0 begins low and ends high.
    let local = Window { base: 0x9000, size: 0x20 };
    let map = AddressMap::new(40, Window::DEFAULT_SHARED, local).unwrap();
    let build = |low: usize, high: usize| {
        let memory = MemoryBuilder::new(map)
            .local_low(low, &vec![4; 32 * low])
            .local_high(high, &vec![5; 32 * high]);
        Machine::new(memory.build().unwrap())
    };
    let load = "ld.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];";
    let ran = Case::new(load).set("%rd1", "0x9000").on(build(16, 16));
    assert_eq!(ran.faults(), [""; 0]);
    assert_eq!([ran.all("%r4"), ran.all("%r5")], [0x0404_0404, 0x0505_0505]);
    // A border inside of a half.
    let ran = Case::new(load).set("%rd1", "0x9000").on(build(6, 26));
    assert_eq!(ran.faults(), [""; 0]);
    assert_eq!([ran.all("%r1"), ran.all("%r2")], [0x0404_0404, 0x0505_0404]);
    // Two bytes that are not allocated.
    let ran = Case::new(load).set("%rd1", "0x9000").on(build(6, 24));
    assert_eq!(ran.faults().len(), 32);
}

#[test]
fn who_executes_nothing_faults_nothing() {
    let ran = Case::new(V8).set("%rd1", "0").active(0).on(machine());
    assert_eq!(ran.faults(), [""; 0]);
    assert_eq!(ran.register("%r1"), None);
}
