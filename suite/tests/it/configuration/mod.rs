//! Invalid machines, refused by the library and in vectors, and machines that are just valid.

#![allow(clippy::unwrap_used)]

mod regions;

use warpload::machine::RegisterLimit;
use warpload::memory::{AddressMap, ConfigError, Memory, MemoryBuilder, Space, Window};
use warpload_suite::vector::Vector;

const SHARED: Window = Window::DEFAULT_SHARED;
const LOCAL: Window = Window::DEFAULT_LOCAL;

fn window(base: u64, size: u64) -> Window {
    Window { base, size }
}

/// The key and the message of the error for a vector with this `initial`.
fn vector_error(initial: &str) -> (String, String) {
    let text = format!(r#"{{"instruction": "LD R0, [R2]", "initial": {initial}}}"#);
    let error = Vector::from_json(&text).unwrap_err();
    assert_eq!(error.position, None, "a broken rule, not broken text");
    (error.key.unwrap(), error.message)
}

#[test]
fn register_limits() {
    for register_limit in [0, 256, u64::MAX] {
        let error = RegisterLimit::new(register_limit).unwrap_err();
        assert_eq!(error, ConfigError::RegisterLimit { register_limit });
        let message = format!("register_limit is {register_limit}; expected 1..=255");
        assert_eq!(error.to_string(), message);
        let json = format!(r#"{{"register_limit": {register_limit}}}"#);
        assert_eq!(vector_error(&json), ("initial.register_limit".into(), message));
    }
    for limit in [1, 255] {
        assert_eq!(u64::from(RegisterLimit::new(limit).unwrap().get()), limit);
    }
    assert_eq!(RegisterLimit::default().get(), 255);
}

#[test]
fn address_widths() {
    for address_bits in [0, 31, 65, u32::MAX] {
        let error = AddressMap::new(address_bits, SHARED, LOCAL).unwrap_err();
        assert_eq!(error, ConfigError::AddressBits { address_bits });
        let message = format!("address_bits is {address_bits}; expected 32..=64");
        assert_eq!(error.to_string(), message);
        let json = format!(r#"{{"address_bits": {address_bits}}}"#);
        assert_eq!(vector_error(&json), ("initial.address_bits".into(), message));
    }
    for bits in [32, 64] {
        assert_eq!(AddressMap::new(bits, SHARED, LOCAL).unwrap().address_bits(), bits);
    }
    assert_eq!(AddressMap::default(), AddressMap::new(40, SHARED, LOCAL).unwrap());
}

/// Both windows in JSON.
fn windows(bits: u32, shared: Window, local: Window) -> String {
    let window = |window: Window| {
        format!(r#"{{"base": "{:#x}", "size": "{:#x}"}}"#, window.base, window.size)
    };
    let (shared, local) = (window(shared), window(local));
    format!(r#"{{"address_bits": {bits}, "windows": {{"shared": {shared}, "local": {local}}}}}"#)
}

#[test]
fn windows_that_cannot_be() {
    let top = window(0xffff_ffff_ffff_fff0, 32);
    for (bits, shared, local, error, message) in [
        (
            40,
            window(0x1000, 0),
            LOCAL,
            ConfigError::EmptyWindow { space: Space::Shared },
            "the shared window is empty; expected a size above 0",
        ),
        (
            40,
            SHARED,
            window(0x1000, 0),
            ConfigError::EmptyWindow { space: Space::Local },
            "the local window is empty; expected a size above 0",
        ),
        (
            40,
            window(0x1008, 16),
            LOCAL,
            ConfigError::MisalignedWindow { space: Space::Shared, window: window(0x1008, 16) },
            "the shared window (base 0x1008, size 0x10) is not aligned; expected multiples of 16",
        ),
        (
            40,
            SHARED,
            window(0x1000, 17),
            ConfigError::MisalignedWindow { space: Space::Local, window: window(0x1000, 17) },
            "the local window (base 0x1000, size 0x11) is not aligned; expected multiples of 16",
        ),
        (
            32,
            window(0xffff_fff0, 32),
            window(0, 16),
            ConfigError::WindowBeyondAddressBits {
                space: Space::Shared,
                window: window(0xffff_fff0, 32),
                address_bits: 32,
            },
            "the shared window (base 0xfffffff0, size 0x20) reaches beyond 2^32",
        ),
        (
            64,
            SHARED,
            top,
            ConfigError::WindowBeyondAddressBits {
                space: Space::Local,
                window: top,
                address_bits: 64,
            },
            "the local window (base 0xfffffffffffffff0, size 0x20) reaches beyond 2^64",
        ),
        // 0x1000..0x1020 and 0x1010..0x1020; windows cannot overlap by less than 16 bytes.
        (
            40,
            window(0x1000, 32),
            window(0x1010, 16),
            ConfigError::WindowsOverlap { shared: window(0x1000, 32), local: window(0x1010, 16) },
            "the shared window (base 0x1000, size 0x20) and the local window (base 0x1010, size \
             0x10) overlap",
        ),
        (
            40,
            window(0x1010, 32),
            window(0x1000, 32),
            ConfigError::WindowsOverlap { shared: window(0x1010, 32), local: window(0x1000, 32) },
            "the shared window (base 0x1010, size 0x20) and the local window (base 0x1000, size \
             0x20) overlap",
        ),
    ] {
        let got = AddressMap::new(bits, shared, local).unwrap_err();
        assert_eq!((got.to_string().as_str(), got), (message, error));
        let json = vector_error(&windows(bits, shared, local));
        assert_eq!(json, ("initial.windows".into(), message.into()));
    }
}

#[test]
fn windows_that_touch() {
    for (bits, shared, local) in [
        (40, window(0x1000, 16), window(0x1010, 16)),
        (40, window(0x1010, 16), window(0x1000, 16)),
        (32, window(0, 16), window(0xffff_fff0, 16)),
        (64, window(0xffff_ffff_ffff_fff0, 16), window(0xffff_ffff_ffff_ffe0, 16)),
    ] {
        let map = AddressMap::new(bits, shared, local).unwrap();
        assert_eq!((map.shared(), map.local()), (shared, local));
        let text = format!(
            r#"{{"instruction": "LD R0, [R2]", "initial": {}}}"#,
            windows(bits, shared, local)
        );
        assert_eq!(Vector::from_json(&text).unwrap().machine.memory.map(), &map);
    }
}

/// Allocations in JSON.
fn global(allocations: &[(u64, usize)]) -> String {
    let list: Vec<_> = allocations
        .iter()
        .map(|(base, size)| format!(r#"{{"base": "{base:#x}", "hex": "{}"}}"#, "00".repeat(*size)))
        .collect();
    format!(r#"{{"memory": {{"global": [{}]}}}}"#, list.join(", "))
}

fn allocate(map: AddressMap, allocations: &[(u64, usize)]) -> Result<Memory, ConfigError> {
    let mut builder = MemoryBuilder::new(map);
    for (base, size) in allocations {
        builder = builder.global(*base, &vec![0; *size]);
    }
    builder.build()
}

/// Each is off by one byte. The windows are 0xfe000000..0xff000000..0x1_00000000, and addresses end at 2^40.
#[test]
fn allocations_that_cannot_be() {
    let in_window = |base, size, space| ConfigError::AllocationInWindow { base, size, space };
    let beyond =
        |base, size| ConfigError::AllocationBeyondAddressBits { base, size, address_bits: 40 };
    for (allocations, error, message) in [
        (
            &[(0xfdff_ff00, 0x101)][..],
            in_window(0xfdff_ff00, 0x101, Space::Shared),
            "the allocation (base 0xfdffff00, size 0x101) overlaps the shared window",
        ),
        (
            &[(0xfeff_ffff, 1)],
            in_window(0xfeff_ffff, 1, Space::Shared),
            "the allocation (base 0xfeffffff, size 0x1) overlaps the shared window",
        ),
        (
            &[(0xffff_ffff, 8)],
            in_window(0xffff_ffff, 8, Space::Local),
            "the allocation (base 0xffffffff, size 0x8) overlaps the local window",
        ),
        (
            &[(0xff_ffff_ffff, 2)],
            beyond(0xff_ffff_ffff, 2),
            "the allocation (base 0xffffffffff, size 0x2) reaches beyond 2^40",
        ),
        (
            &[(u64::MAX, 1)],
            beyond(u64::MAX, 1),
            "the allocation (base 0xffffffffffffffff, size 0x1) reaches beyond 2^40",
        ),
        (
            &[(0x100f, 1), (0x1000, 16)],
            ConfigError::AllocationsOverlap { first: 0x1000, second: 0x100f },
            "the allocations at 0x1000 and 0x100f overlap",
        ),
        (
            &[(0x1000, 1), (0x3000, 1), (0x1000, 1)],
            ConfigError::AllocationsOverlap { first: 0x1000, second: 0x1000 },
            "the allocations at 0x1000 and 0x1000 overlap",
        ),
    ] {
        let got = allocate(AddressMap::default(), allocations).unwrap_err();
        assert_eq!((got.to_string().as_str(), got), (message, error));
        let json = vector_error(&global(allocations));
        assert_eq!(json, ("initial.memory".into(), message.into()));
    }
    let map = AddressMap::new(64, SHARED, LOCAL).unwrap();
    assert_eq!(
        allocate(map, &[(u64::MAX, 2)]).unwrap_err().to_string(),
        "the allocation (base 0xffffffffffffffff, size 0x2) reaches beyond 2^64"
    );
}

#[test]
fn allocations_that_touch() {
    let touching = [
        (0x1010, 16),
        (0x1000, 16),
        (0xfdff_fff0, 16),
        (0x1_0000_0000, 1),
        (0xff_ffff_fff0, 16),
        (0, 1),
    ];
    let memory = allocate(AddressMap::default(), &touching).unwrap();
    assert_eq!(memory.allocations().len(), 6);
    assert!(memory.allocations().is_sorted_by_key(|known| known.base));
    let text = format!(r#"{{"instruction": "LD R0, [R2]", "initial": {}}}"#, global(&touching));
    assert_eq!(Vector::from_json(&text).unwrap().machine.memory.allocations().len(), 6);
    let map = AddressMap::new(64, SHARED, LOCAL).unwrap();
    assert!(allocate(map, &[(u64::MAX, 1)]).is_ok());
    // Empty allocations cannot overlap.
    let memory = allocate(map, &[(0x1000, 4), (0x1001, 0), (0xfe00_0000, 0)]).unwrap();
    assert_eq!(memory.allocations().len(), 1);
}
