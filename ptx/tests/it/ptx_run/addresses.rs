//! Spaces, and how addresses are formed.

use warpload::memory::Space;

use crate::ptx_run::fixture::{Case, local, machine, shared};

/// Two bytes as a value.
fn u16(bytes: [u8; 2]) -> u128 {
    u128::from(u16::from_le_bytes(bytes))
}

#[test]
fn each_space_is_its_own() {
    // Offset 4 of each.
    for (space, expected) in [
        ("shared", u16([shared(4), shared(5)])),
        ("shared::cta", u16([shared(4), shared(5)])),
        ("shared::cluster", u16([shared(4), shared(5)])),
        // Bank 3: 3 * 4 and 3 * 5.
        ("const", 0x0f0c),
    ] {
        let load = format!("ld.{space}.u16 %h1, [%rd1+4];");
        assert_eq!(Case::new(&load).set("%rd1", "0").on(machine()).all("%h1"), expected, "{space}");
    }
    let ran = Case::new("ld.local.u16 %h1, [%rd1+4];").set("%rd1", "0").on(machine());
    for lane in 0..32 {
        let expected = u16([local(lane, 4), local(lane, 5)]);
        assert_eq!(ran.lane("%h1", lane), Some(expected));
    }
}

#[test]
fn generic_addresses_are_divided_by_the_windows() {
    // Lanes 0, 1, 2, 3, 4, ..: global, shared, local low, local high, nowhere, ..
    let addresses = [0x1000_0010_u64, 0xfe00_0010, 0xff00_0010, 0xffff_fff0, 0x5000_0000];
    let texts: Vec<String> = (0..32).map(|lane| addresses[lane % 5].to_string()).collect();
    let ran = Case::new("ld.u16 %h1, [%rd1];").set("%rd1", &texts.join(",")).on(machine());
    let executed = ran.loads[0].as_ref().unwrap();
    for lane in 0..32 {
        let (value, space) = match lane % 5 {
            0 => (0x1110, Space::Global),
            1 => (u16([shared(16), shared(17)]), Space::Shared),
            2 => (u16([local(lane, 16), local(lane, 17)]), Space::Local),
            3 => (u16([0x80 + lane as u8; 2]), Space::Local),
            _ => (0, Space::Global),
        };
        assert_eq!(ran.lane("%h1", lane), Some(value), "lane {lane}");
        assert_eq!(executed.spaces[lane], Some(space), "lane {lane}");
    }
    assert_eq!(executed.faults.iter().count(), 6);
}

#[test]
fn offsets_are_added_modulo_the_space() {
    // Global: modulo 2^64. 0xfffffffffffffff0 + 0x10000030 = 0x10000020.
    let ran = Case::new("ld.global.u8 %h1, [%rd1+0x10000030];");
    assert_eq!(ran.set("%rd1", "-16").on(machine()).all("%h1"), 0x20);
    // Negative offsets: 0x10000020 - 16.
    let ran = Case::new("ld.global.u8 %h1, [%rd1+-16];").set("%rd1", "0x10000020");
    assert_eq!(ran.on(machine()).all("%h1"), 0x10);
    // Shared, local, const: modulo 2^32, of a 64-bit register too.
    for (space, expected) in [("shared", u128::from(shared(8))), ("const", 24)] {
        let load = format!("ld.{space}.u8 %h1, [%rd1+16];");
        let ran = Case::new(&load).set("%rd1", "0x7fffffff8").on(machine());
        assert_eq!(ran.all("%h1"), expected, "{space}");
    }
    let ran = Case::new("ld.local.u8 %h1, [%r1+16];").set("%r1", "-8").on(machine());
    assert_eq!(ran.lane("%h1", 5), Some(u128::from(local(5, 8))));
}

#[test]
fn narrow_address_registers_are_zero_extended() {
    // 0xffff is -1 in 16 bits, but address 0xffff: plus 1 is 0x10000, not allocated.
    let ran = Case::new("ld.shared.u8 %h2, [%hs1+1];").set("%hs1", "-1").on(machine());
    let addresses = ran.loads[0].as_ref().unwrap().addresses;
    assert_eq!(addresses, [0x1_0000; 32]);
    assert_eq!(ran.faults().len(), 32);
}

#[test]
fn an_immediate_address_is_local() {
    let ran = Case::new("ld.local.u8 %h1, [4+4];").on(machine());
    assert_eq!(ran.lane("%h1", 9), Some(u128::from(local(9, 8))));
    // The high part ends with the window of 16 MiB.
    let ran = Case::new("ld.local.u8 %h1, [0xffffff];").on(machine());
    assert_eq!(ran.lane("%h1", 9), Some(0x89));
}

#[test]
fn a_pointer_is_chased() {
    // Bytes 0x08 to 0x0f as a pointer go nowhere; a variable's initial value is the pointer.
    let variables = ".global .u32 values[4] = {5, 6, 7, 8};\n.global .u64 head = values+8;";
    let body = "ld.global.u64 %rd1, [head]; ld.global.u32 %r1, [%rd1+4]; ld.u32 %r2, [%rd1];";
    let ran = Case::with(variables, "", body).on(machine());
    // values is at 0x80000000, its element 2 at 0x80000008.
    assert_eq!(ran.all("%rd1"), 0x8000_0008);
    assert_eq!([ran.all("%r1"), ran.all("%r2")], [8, 7]);
}

#[test]
fn destinations_may_be_the_address() {
    let ran = Case::new("ld.global.v2.u64 {%rd1, %rd2}, [%rd1];").set("%rd1", "0x10000010");
    let ran = ran.on(machine());
    assert_eq!(ran.all("%rd1"), 0x1716_1514_1312_1110);
    assert_eq!(ran.all("%rd2"), 0x1f1e_1d1c_1b1a_1918);
}
