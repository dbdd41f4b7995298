//! Whose addresses are.

use crate::accelsim::{bytes, counts, grouped, header, integer, read};

/// Addresses of lanes that were active before the guard. Warp 0 has 32 threads, warp 1 has 16.
#[test]
fn addresses_of_more_lanes_than_the_mask() {
    let list = |count: u64, form: &str| {
        let addresses = (0..count).map(|i| format!("0x{:016x}", 0x1000 + 32 * i));
        match form {
            "0" => addresses.map(|address| format!(" {address}")).collect(),
            _ => format!(" 0x1000{}", " 32".repeat(count as usize - 1)),
        }
    };
    // Warp, mask, addresses in the list; loads that are unattributable, sectors, or refused.
    for (warp, mask, count, expected) in [
        (0, "0000000f", 4, Some((0, 4))),
        (0, "f000000f", 32, Some((0, 8))),
        (0, "f000000f", 31, Some((1, 0))),
        (0, "0000000f", 3, None),
        (0, "0000000f", 33, None),
        (1, "00008001", 16, Some((0, 2))),
        (1, "00008001", 15, Some((1, 0))),
        (1, "00008001", 17, None),
        (1, "00000000", 9, Some((0, 0))),
    ] {
        for (version, mode) in [("1.2", "0"), ("3", "0"), ("3", "2")] {
            let line = format!("0010 {mask} 1 R1 LDG.E 1 R2 4 {mode}{}", list(count, mode));
            let found = read(&grouped(version, warp, &line)).ok();
            let found = found
                .map(|counts| (integer(&counts["unattributable"]), integer(&counts["sectors"])));
            assert_eq!(found, expected, "{version}: {line}");
        }
        if count != u64::from(u32::from_str_radix(mask, 16).unwrap().count_ones()) {
            let line = format!("0010 {mask} 1 R1 LDG.E 1 R2 4 0{} 0", list(count, "0"));
            assert!(read(&grouped("5", warp, &line)).is_err());
        }
    }
    // A base and a stride: sectors of versions 1.2, 3 and 5.
    for (mask, stride, expected) in [
        ("000000f0", 0, [Some(Some(1)), Some(Some(1)), Some(Some(1))]),
        ("000000f1", 32, [Some(Some(5)), Some(Some(5)), None]),
        ("000000f0", 32, [Some(None), Some(Some(4)), Some(Some(4))]),
        ("00000050", 32, [Some(None), Some(None), None]),
        ("00000010", 32, [Some(None), Some(None), Some(Some(1))]),
        ("00000050", 0, [Some(Some(1)), Some(Some(1)), None]),
        ("00000000", 32, [Some(Some(0)); 3]),
    ] {
        for ((version, after), expected) in
            [("1.2", ""), ("3", ""), ("5", " 0")].into_iter().zip(expected)
        {
            let line = format!("0010 {mask} 1 R1 LDG.E 1 R2 4 1 0x1000 {stride}{after}");
            let found = read(&grouped(version, 0, &line))
                .ok()
                .map(|counts| (counts["unattributable"] == 0).then(|| integer(&counts["sectors"])));
            assert_eq!(found, expected, "{version}: {line}");
        }
    }
    let error = read(&grouped("1.2", 0, "0010 00000001 1 R1 LDG.E 1 R2 4 2 0x1000")).unwrap_err();
    assert!(error.ends_with("\"2\"; expected an address mode: 0 or 1"), "{error}");
    // An LD of unknown addresses may reach any space.
    let found = read(&grouped("3", 0, "0010 00000050 1 R1 LD.E 1 R2 4 1 0x1000 4")).unwrap();
    assert_eq!(
        (&found["unattributable"], &found["by_space"]["unresolved"]),
        (&1.into(), &1.into())
    );
}

/// How many threads a warp has is known wherever a piece of the file begins.
#[test]
fn partial_warps_in_pieces() {
    let lists: String = (0..16).map(|lane| format!(" 0x{:016x}", 0x1000 + 32 * lane)).collect();
    let line = format!("0010 00000003 1 R1 LDG.E 1 R2 4 0{lists}\n");
    let warp =
        |warp, lines: usize| format!("warp = {warp}\ninsts = {lines}\n{}", line.repeat(lines));
    let lines = 3000;
    let text = format!(
        "{}#BEGIN_TB\nthread block = 0,0,0\n{}{}#END_TB\n",
        header("3"),
        warp(1, lines),
        warp(0, lines)
    );
    for threads in [1, 3] {
        let found = counts(&bytes(text.as_bytes(), threads).unwrap());
        assert_eq!(found["unattributable"], lines, "only those of the whole warp");
        assert_eq!(found["sectors"], 2 * lines);
    }
}

#[test]
fn addresses_have_a_prefix_or_sixteen_digits() {
    for (address, is_valid) in [
        ("0x1", true),
        ("0000000000001000", true),
        ("1000", false),
        ("00000000000001000", false),
        ("0x10000000000000000", false),
    ] {
        let line = format!("0010 00000001 1 R1 LDG.E 1 R2 4 2 {address} 0");
        assert_eq!(read(&grouped("5", 0, &line)).is_ok(), is_valid, "{address}");
    }
}
