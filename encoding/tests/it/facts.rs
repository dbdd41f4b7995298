//! Compares the facts about memory instructions with nvdisasm's texts and with the loads that the package decodes.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use crate::common::rows_of_128_bits;
use warpload_encoding::{
    Decoded, Group, Instruction, MemorySpace, OpcodeFacts, OpcodeKind, OpcodeSpace, Sm,
};

const MEMORY: &str = include_str!("../data/nvdisasm-memory.tsv");

/// Instructions with an operand in brackets but without a row, and the reason.
const NO_ROWS: [(&str, &[&str]); 4] = [
    // They multiply matrices that descriptors name.
    ("matrix", &["BGMMA", "HGMMA", "IGMMA", "QGMMA", "UTCHMMA", "UTCIMMA", "UTCOMMA", "UTCQMMA"]),
    // The scheduler is asked for a thread block, and writes the answer.
    ("scheduler", &["UGETNEXTWORKID"]),
    // The operand is an address of code.
    ("code", &["UCCTL"]),
    // The number of a property of a pixel.
    ("pixel", &["PIXLD"]),
];

fn has_no_row(mnemonic: &str) -> bool {
    NO_ROWS.iter().any(|(_, mnemonics)| mnemonics.contains(&mnemonic))
}

/// The opcode with its modifiers, without the guard, and the operands.
fn split(text: &str) -> (&str, &str) {
    let unguarded = text.strip_prefix('@').and_then(|rest| rest.split_once(' '));
    let text = unguarded.map_or(text, |(_, rest)| rest).trim();
    text.split_once(' ').unwrap_or((text, ""))
}

fn mnemonic(opcode: &str) -> &str {
    opcode.split('.').next().unwrap()
}

/// Whether an operand is in brackets, other than `c[0x0][0x160]` and `cx[UR4][0x8]`, which any instruction can have.
fn has_address(operands: &str) -> bool {
    operands.match_indices('[').any(|(at, _)| {
        let before = operands[..at].trim_end();
        let is_bank = before.ends_with('c') && !before.ends_with("desc") || before.ends_with("cx");
        !is_bank && !before.ends_with(']')
    })
}

/// A file of `tests/data` of the repository, decompressed.
fn read(path: &std::path::Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().is_some_and(|extension| extension == "xz") {
        true => liblzma::read::XzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        false => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

/// SM and text of each instruction in the listings of `tests/data`.
fn listed() -> Vec<(Sm, String)> {
    let mut listed = Vec::new();
    for folder in ["../tests/data/listings", "../tests/data/listings128"] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            // `NAME.sm_61.TOOL.txt`, `NAME.sm120.TOOL.txt.xz`.
            let mut parts = name.split('.').filter_map(|part| part.strip_prefix("sm"));
            let sm = parts.next().and_then(|sm| sm.trim_start_matches('_').parse().ok());
            if name == "maxas-all-sm50.txt" {
                let rows = read(&path);
                let row = |line: &str| {
                    Some(line.splitn(6, ' ').nth(5)?.split_once(';')?.0.trim().to_owned())
                };
                let passed = rows.lines().filter(|line| line.starts_with("PASS"));
                listed.extend(passed.filter_map(row).map(|text| (Sm::SPA5, text)));
            } else if let (true, Some(sm)) = (name.contains(".txt"), sm) {
                let text = read(&path);
                let lines = text.lines().filter_map(|line| {
                    let text = line.trim().strip_prefix("/*")?.split_once("*/")?.1;
                    let text = text.split(';').next()?.trim();
                    let is_one =
                        text.starts_with(|first: char| first.is_ascii_uppercase() || first == '@');
                    is_one.then(|| text.to_owned())
                });
                listed.extend(lines.map(|line| (sm, line)));
            }
        }
    }
    listed
}

/// The rows of every group are exactly the mnemonics that nvdisasm prints for it, and every row is printed.
#[test]
fn rows_and_sms_are_those_of_nvdisasm() {
    let mut seen: BTreeMap<&str, BTreeSet<Group>> = BTreeMap::new();
    for line in MEMORY.lines() {
        let (sms, text) = line.split_once('\t').unwrap();
        let opcode = split(text).0;
        let groups = sms.split(',').map(|sm| sm.parse::<Sm>().unwrap().group());
        seen.entry(mnemonic(opcode)).or_default().extend(groups);
    }
    assert!(OpcodeFacts::all().is_sorted_by(|a, b| a.mnemonic() < b.mnemonic()));
    for facts in OpcodeFacts::all() {
        let groups: BTreeSet<Group> =
            Sm::all().filter(|sm| facts.is_of(*sm)).map(Sm::group).collect();
        assert_eq!(Some(&groups), seen.get(facts.mnemonic()), "{facts:?}");
    }
    for mnemonic in seen.keys() {
        assert_eq!(OpcodeFacts::of(mnemonic).is_none(), has_no_row(mnemonic), "{mnemonic}");
    }
    for line in include_str!("../../../tests/data/statistics/steps.tsv").lines() {
        let mut fields = line.split('\t');
        let (sm, name) = (fields.next().unwrap().parse().unwrap(), fields.nth(1).unwrap());
        if let Some(facts) = OpcodeFacts::of(name) {
            assert!(facts.is_of(sm), "{name} of SM {sm}");
        }
    }
}

/// Every address in a listing belongs to an instruction with a row.
#[test]
fn listed_addresses_have_rows() {
    let listed =
        listed().into_iter().chain(rows_of_128_bits().into_iter().map(|(sm, _, text)| (sm, text)));
    let mut kinds = BTreeSet::new();
    let mut count = 0;
    for (sm, text) in listed {
        let (opcode, operands) = split(&text);
        match OpcodeFacts::of(opcode) {
            Some(facts) => {
                assert!(facts.is_of(sm), "SM {sm}: {text}");
                kinds.insert(facts.kind());
                count += 1;
            }
            None => assert!(!has_address(operands) || has_no_row(mnemonic(opcode)), "{sm}: {text}"),
        }
    }
    assert!(count > 10_000 && kinds.contains(&OpcodeKind::Copy), "{count} {kinds:?}");
}

/// The table of facts and the layouts of the loads agree on each load.
#[test]
fn loads_have_the_facts_that_they_are_decoded_to() {
    let check = |sm: Sm, load: &Instruction, text: &str, bits: Option<u32>| {
        let facts = OpcodeFacts::of(split(text).0).unwrap();
        assert!(facts.is_of(sm), "SM {sm}: {text}");
        let parts = load.parts();
        let expected = match parts.space {
            MemorySpace::Generic { .. } => OpcodeSpace::Generic,
            MemorySpace::Global => OpcodeSpace::Global,
            MemorySpace::Local => OpcodeSpace::Local,
            MemorySpace::Shared => OpcodeSpace::Shared,
            MemorySpace::Tensor => OpcodeSpace::Tensor,
            MemorySpace::Constant { .. } | MemorySpace::Undocumented => OpcodeSpace::Constant,
        };
        assert_eq!(facts.space(), Some(expected), "SM {sm}: {text}");
        if let Some(bits) = bits {
            assert_eq!(facts.lane_bytes().map(|bytes| 8 * bytes), Some(bits), "SM {sm}: {text}");
        }
        if let Some(size) = parts.size.ok().and_then(|size| size.of_lane()) {
            assert_eq!(facts.is_signed(), size.is_signed(), "SM {sm}: {text}");
        }
    };
    for sm in Sm::all() {
        for mnemonic in Instruction::mnemonics(sm) {
            assert!(OpcodeFacts::of(mnemonic).unwrap().is_of(sm), "SM {sm}: {mnemonic}");
        }
        for form in Instruction::forms(sm) {
            check(sm, &form, form.text().as_str(), form.lane_bits());
        }
    }
    for (sm, word, _) in rows_of_128_bits() {
        let Decoded::Load(load) = Instruction::decode(word, sm) else { continue };
        check(sm, &load, load.text().as_str(), load.lane_bits());
    }
    let narrow =
        [include_str!("../data/nvdisasm-ld.tsv"), include_str!("../data/nvdisasm-load-family.tsv")];
    for line in narrow.into_iter().flat_map(|corpus| corpus.lines().skip(1)) {
        let (word, text) = line.split_once('\t').unwrap();
        let word = u64::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap();
        let load = Instruction::decode(word, Sm::SPA5).load().unwrap();
        check(Sm::SPA5, &load, text, load.lane_bits());
    }
}

/// Texts of nvdisasm 13.5 for PTX compiled by ptxas 12.9 for SM 9.0a, 10.0a and 12.0a; PTX names memories and sizes.
#[test]
fn facts_of_compiled_instructions() {
    use OpcodeKind::*;
    use OpcodeSpace::*;
    for (opcode, kind, space, destination, bytes) in [
        ("LDG.E.ENL2.256", Load, Some(Global), None, Some(32)),
        ("LDGSTS.E.BYPASS.LTC128B.128", Copy, Some(Global), Some(Shared), Some(16)),
        ("LDSM.16.M88.4", MatrixLoad, Some(Shared), None, Some(16)),
        // stmatrix: x2 of .m8n8, x1 of .m16n8.
        ("STSM.16.M88.2", MatrixStore, Some(Shared), None, Some(8)),
        ("STSM.8.MT168", MatrixStore, Some(Shared), None, Some(4)),
        // tcgen05.st: .32x32b.x2, .16x128b.x1.
        ("STTM.x2", TensorStore, Some(Tensor), None, Some(8)),
        ("STTM.16dp128bit", TensorStore, Some(Tensor), None, Some(8)),
        // st.async, red.async.
        ("STAS.128", Store, Some(DistributedShared), None, Some(16)),
        ("REDAS.ADD.64", Reduction, Some(DistributedShared), None, Some(8)),
        ("REDG.E.ADD.BF16x8.RN.STRONG.GPU", Reduction, Some(Global), None, Some(16)),
        ("LDGMC.E.ADD.F16x2.RN.STRONG.SYS", ReducingLoad, Some(Global), None, Some(4)),
        // cp.reduce.async.bulk.
        ("UBLKRED.G.S.ADD.F16.RN", Transfer, Some(Shared), Some(Global), None),
        ("UBLKRED.S.S.ADD", Transfer, Some(Shared), Some(Shared), None),
        ("UTMAREDG.1D.ADD", Transfer, Some(Shared), Some(Global), None),
        ("UBLKCP.S.G", Transfer, Some(Global), Some(Shared), None),
        ("UTCCP.T.S.4x32dp128bit", Copy, Some(Shared), Some(Tensor), None),
        ("SULD.D.BA.1D.64.TRAP", Load, Some(Surface), None, Some(8)),
        ("SULD.P.1D.TRAP", Load, Some(Surface), None, None),
        ("MEMBAR.SC.GPU", Fence, None, None, None),
    ] {
        let facts = OpcodeFacts::of(opcode).unwrap();
        assert_eq!((facts.kind(), facts.space()), (kind, space), "{opcode}");
        assert_eq!((facts.destination(), facts.lane_bytes()), (destination, bytes), "{opcode}");
        assert_eq!(format!("{facts:?}"), opcode);
    }
    for other in ["", ".64", "LD64", "REDUX.SUM", "LDGX.E", "ldg"] {
        assert!(OpcodeFacts::of(other).is_none(), "{other}");
    }
}
