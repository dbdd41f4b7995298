//! Binary traces from arbitrary bytes, with matching checksums: else no input would get past them.

/// Returns the input if it is a binary trace, else one with these contents and the input's blocks.
/// Checksums match as far as the parts can be found.
pub(crate) fn made_trace(contents: &[u8], input: &[u8]) -> Vec<u8> {
    let is_whole = input.starts_with(b"WARPLOAD");
    let mut bytes = if is_whole { input.to_vec() } else { put_together(contents, input) };
    repair(&mut bytes);
    bytes
}

/// The kernels and operations of traces that are assembled here: [`LOADS`], a store, an atomic, others.
pub(crate) const CONTENTS: &[u8] =
    br#"{"source":"","kernels":[{"name":"a","grid":[1,1,1],"block":[1,1,1]},
{"name":"b","grid":[1,1,1],"block":[1,1,1],"shared_base":4096,"local_base":67108864}],"operations":[
{"opcode":"LD.U.128","space":"generic","bytes":16,"signed":false,"uniform":true},
{"opcode":"LDG.S8","space":"global","bytes":1,"signed":true,"uniform":false},
{"opcode":"LDL","space":"local","bytes":4,"signed":false,"uniform":false},
{"opcode":"LDS.64","space":"shared","bytes":8,"signed":false,"uniform":false},
{"opcode":"LDC.U16","space":"constant","bytes":2,"signed":false,"uniform":false},
{"opcode":"STG.64","kind":"store","space":"global","bytes":8,"signed":false,"uniform":false},
{"opcode":"ATOMS","kind":"atomic","space":"shared","bytes":4,"signed":false,"uniform":false},
{"opcode":"LDGSTS","kind":"copy","space":"generic","bytes":4,"signed":false,"uniform":false},
{"opcode":"UTMALDG","kind":"transfer","space":"global","bytes":4,"signed":false,"uniform":false},
{"opcode":"LDSM","kind":"other","space":"shared","bytes":4,"signed":false,"uniform":false}]}"#;

/// Returns [`CONTENTS`], to be changed.
pub(crate) fn contents() -> serde_json::Value {
    serde_json::from_slice(CONTENTS).unwrap_or_else(|error| panic!("{error}"))
}

/// How many of the operations are loads: the first ones.
pub(crate) const LOADS: u8 = 5;
/// How many operations there are.
const OPERATIONS: u8 = 10;

/// Returns a number of the input, if it could be an offset in it.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let held = bytes.get(at..at + width)?;
    let number = held.iter().rev().try_fold(0usize, |number, byte| {
        number.checked_mul(256)?.checked_add(usize::from(*byte))
    })?;
    (number <= bytes.len()).then_some(number)
}

/// Writes the checksum of the `length` bytes from `from` on to offset `at`.
fn seal(bytes: &mut [u8], at: usize, from: usize, length: usize) -> Option<()> {
    let crc = crc32fast::hash(bytes.get(from..from + length)?);
    bytes.get_mut(at..at + 4)?.copy_from_slice(&crc.to_le_bytes());
    Some(())
}

/// Makes all checksums match, as far as the parts can be found.
fn repair(bytes: &mut [u8]) -> Option<()> {
    bytes.get_mut(..8)?.copy_from_slice(b"WARPLOAD");
    // Both versions that are read, whose rows of the index have these sizes.
    let version = if bytes.get(8)? % 4 == 1 { 1 } else { 2 };
    let (index, row_bytes) = if version == 1 { (2, 56) } else { (3, 64) };
    bytes.get_mut(8..16)?.copy_from_slice(&[version, 0, 0, 0, 4, 3, 2, 1]);
    let (table, count) = (number(bytes, 16, 8)?, number(bytes, 24, 4)?);
    for section in (0..count.min(8)).map(|i| table + 24 * i) {
        let (from, length) = (number(bytes, section + 8, 8)?, number(bytes, section + 16, 8)?);
        if number(bytes, section, 4)? == index {
            for row in (0..(length / row_bytes).min(64)).map(|i| from + row_bytes * i) {
                // The length is after three offsets and counts of eight bytes.
                let (from, length) = (number(bytes, row, 8)?, number(bytes, row + 24, 4)?);
                seal(bytes, row + 28, from, length);
            }
        }
        seal(bytes, section + 4, from, length);
    }
    seal(bytes, 28, table, 24 * count);
    seal(bytes, 60, 0, 60)
}

/// Returns a trace with up to four blocks, whose counts and bytes come from the input.
fn put_together(contents: &[u8], mut input: &[u8]) -> Vec<u8> {
    let (mut bytes, mut index) = (vec![0; 64], Vec::new());
    let (mut records, mut own_records, mut loads) = (0u64, 0u64, 0u64);
    while let Some((head, rest)) = input.split_first_chunk::<8>().filter(|_| index.len() < 4 * 64) {
        let length = (usize::from(head[0]) * 8).min(rest.len() / 8 * 8);
        let own = u32::from(head[1] % 8);
        let all = own + u32::from(head[2]);
        for number in [bytes.len() as u64, records, own_records] {
            index.extend(number.to_le_bytes());
        }
        let [kernel, runs] = [u32::from(head[3] % 2), u32::from(head[3] / 2 % 4)];
        let mut block = rest[..length].to_vec();
        let (mut own_loads, mut stores, mut atomics) = (0u32, 0u32, 0u32);
        for record in block.chunks_exact_mut(32).take(own as usize) {
            let operation = record[24] % OPERATIONS;
            record[24..26].copy_from_slice(&[operation, 0]);
            own_loads += u32::from(operation < LOADS);
            stores += u32::from(operation == LOADS);
            atomics += u32::from(operation == LOADS + 1);
        }
        for number in [length as u32, 0, all, own, kernel, own_loads, stores, atomics, runs, 0] {
            index.extend(number.to_le_bytes());
        }
        bytes.extend(block);
        input = &rest[length..];
        records += u64::from(all);
        own_records += u64::from(own);
        loads += u64::from(own_loads);
    }
    let mut table = Vec::new();
    for (kind, held) in [(1u64, contents), (3, &index)] {
        for number in [kind, bytes.len() as u64, held.len() as u64] {
            table.extend(number.to_le_bytes());
        }
        bytes.extend(held);
    }
    let at = bytes.len() as u64;
    bytes.extend(table);
    for (place, number) in [(16, at), (24, 2), (32, records), (40, loads), (48, own_records)] {
        bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
    }
    bytes
}
