//! Shared and local memory, constant banks, and the arena around them.

use warpload::memory::{
    AddressMap, Allocation, Arena, ConfigError, ConstantBank, LocalPart, Memory, MemoryBuilder,
    Regions,
};

use crate::configuration::{vector_error, window, windows};

/// Windows of 16 bytes for both.
fn small_map() -> AddressMap {
    AddressMap::new(40, window(0x1000, 16), window(0x2000, 16)).unwrap()
}

/// The same windows, with this memory.
fn small(memory: &str) -> String {
    let windows = windows(40, window(0x1000, 16), window(0x2000, 16));
    format!(r#"{}, "memory": {memory}}}"#, windows.strip_suffix('}').unwrap())
}

#[test]
fn shared_memory_fits_its_window() {
    let build = |size| MemoryBuilder::new(small_map()).shared(&vec![0; size]).build();
    assert!(build(16).is_ok());
    let error = build(17).unwrap_err();
    assert_eq!(error, ConfigError::SharedTooLarge { size: 17, window_size: 16 });
    let message = "shared memory (size 0x11) is larger than its window (size 0x10)";
    assert_eq!(error.to_string(), message);
    let json = small(&format!(r#"{{"shared": {{"hex": "{}"}}}}"#, "00".repeat(17)));
    assert_eq!(vector_error(&json), ("initial.memory".into(), message.into()));
}

#[test]
fn local_memory_fits_its_window() {
    let build = |low: usize, high: usize| {
        MemoryBuilder::new(small_map())
            .local_low(low, &vec![0; 32 * low])
            .local_high(high, &vec![0; 32 * high])
            .build()
    };
    for (low, high) in [(16, 0), (0, 16), (7, 9)] {
        assert!(build(low, high).is_ok());
    }
    for (low, high) in [(17, 0), (0, 17), (7, 10)] {
        let error = build(low, high).unwrap_err();
        let (low, high) = (low as u64, high as u64);
        assert_eq!(error, ConfigError::LocalTooLarge { low, high, window_size: 16 });
        let message = format!(
            "a lane's local memory (sizes {low:#x} and {high:#x}) is larger than its window (size 0x10)"
        );
        assert_eq!(error.to_string(), message);
        let hex = |bytes: u64| "00".repeat(32 * bytes as usize);
        let json = small(&format!(
            r#"{{"local": {{"bytes_per_lane": {low}, "hex": "{}",
                "high": {{"bytes_per_lane": {high}, "hex": "{}"}}}}}}"#,
            hex(low),
            hex(high)
        ));
        assert_eq!(vector_error(&json), ("initial.memory".into(), message));
    }
}

#[test]
fn local_memory_is_for_32_lanes() {
    for (bytes_per_lane, size) in [(2, 63), (2, 65), (0, 1), (usize::MAX, 32)] {
        let message = format!(
            "local memory with bytes_per_lane {bytes_per_lane} needs 32 times that, {} bytes; its size is {size}",
            bytes_per_lane as u128 * 32
        );
        let builder = || MemoryBuilder::new(AddressMap::default());
        for built in [
            builder().local_low(bytes_per_lane, &vec![0; size]).build(),
            builder().local_high(bytes_per_lane, &vec![0; size]).build(),
        ] {
            let error = built.unwrap_err();
            let (bytes_per_lane, size) = (bytes_per_lane as u64, size as u64);
            assert_eq!(error, ConfigError::LocalNotThirtyTwoLanes { bytes_per_lane, size });
            assert_eq!(error.to_string(), message);
        }
        let part = format!(r#""bytes_per_lane": {bytes_per_lane}, "hex": "{}""#, "00".repeat(size));
        let low = vector_error(&format!(r#"{{"memory": {{"local": {{{part}}}}}}}"#));
        assert_eq!(low, ("initial.memory.local".into(), message.clone()));
        let high = vector_error(&format!(
            r#"{{"memory": {{"local": {{"bytes_per_lane": 0, "hex": "", "high": {{{part}}}}}}}}}"#
        ));
        assert_eq!(high, ("initial.memory.local.high".into(), message));
    }
}

#[test]
fn constant_banks() {
    let build = |banks: &[(u8, usize)]| {
        let mut builder = MemoryBuilder::new(AddressMap::default());
        for (bank, size) in banks {
            builder = builder.constant(*bank, &vec![7; *size]);
        }
        builder.build()
    };
    let memory = build(&[(31, 0x1_0000), (0, 0)]).unwrap();
    assert_eq!(memory.constant_bytes(31).unwrap().len(), 0x1_0000);
    assert_eq!(memory.constant_bytes(0).unwrap().len(), 0);
    assert_eq!(memory.constant_bytes(1), None);
    for (banks, error, message) in [
        (
            &[(32, 4)][..],
            ConfigError::ConstantBank { bank: 32 },
            "there is no constant bank 32; expected 0..=31",
        ),
        (
            &[(3, 0x1_0001)],
            ConfigError::ConstantTooLarge { bank: 3, size: 0x1_0001 },
            "constant bank 3 has 65537 bytes; expected at most 65536",
        ),
        (
            &[(3, 4), (2, 4), (3, 4)],
            ConfigError::ConstantBankTwice { bank: 3 },
            "constant bank 3 is given twice",
        ),
    ] {
        let got = build(banks).unwrap_err();
        assert_eq!((got.to_string().as_str(), got), (message, error));
        let list: Vec<_> = banks
            .iter()
            .map(|(bank, size)| format!(r#"{{"bank": {bank}, "hex": "{}"}}"#, "07".repeat(*size)))
            .collect();
        let json = format!(r#"{{"memory": {{"constant": [{}]}}}}"#, list.join(", "));
        assert_eq!(vector_error(&json), ("initial.memory".into(), message.into()));
    }
    // A number beyond the library's type.
    let json = r#"{"memory": {"constant": [{"bank": 256, "hex": ""}]}}"#;
    let message = "there is no constant bank 256; expected 0..=31";
    assert_eq!(vector_error(json), ("initial.memory.constant[0]".into(), message.into()));
}

/// An arena of 64 bytes; each region once up to its end, once a byte beyond.
#[test]
fn regions_lie_in_the_arena() {
    let memory = |regions| Memory::new(AddressMap::default(), Arena::from(vec![0; 64]), regions);
    let allocation = |start| Allocation { base: 0x1000, size: 4, start };
    for by in [0, 1] {
        let local = LocalPart { bytes_per_lane: 1, start: 32 + by };
        for (regions, size) in [
            (Regions { global: vec![allocation(60 + by)], ..Regions::default() }, 4),
            (Regions { shared: 60 + by..64 + by, ..Regions::default() }, 4),
            (Regions { local_low: local, ..Regions::default() }, 32),
            (Regions { local_high: local, ..Regions::default() }, 32),
            (
                Regions {
                    constant: vec![ConstantBank { bank: 0, bytes: 60 + by..64 + by }],
                    ..Regions::default()
                },
                4,
            ),
        ] {
            let built = memory(regions);
            if by == 0 {
                assert!(built.is_ok());
                continue;
            }
            let error = built.unwrap_err();
            let (start, end, arena) = (65 - size, 65, 64);
            assert_eq!(error, ConfigError::OutsideArena { start, end, arena });
            let message = format!("bytes {start}..65 lie outside the arena (size 64)");
            assert_eq!(error.to_string(), message);
        }
    }
    // Sums with these must not overflow.
    let far = Regions { global: vec![allocation(usize::MAX)], ..Regions::default() };
    assert!(matches!(memory(far), Err(ConfigError::OutsideArena { .. })));
    let huge = LocalPart { bytes_per_lane: usize::MAX, start: usize::MAX };
    let both = Regions { local_low: huge, local_high: huge, ..Regions::default() };
    assert!(matches!(memory(both), Err(ConfigError::LocalTooLarge { .. })));
}
