//! Makes binary traces with matching checksums from arbitrary bytes. Without that, no input would get past the
//! checksums.

/// The input if it is a binary trace, otherwise a trace with these contents and the input as blocks. Checksums match as
/// far as the parts can be found.
pub(crate) fn made_trace(contents: &[u8], input: &[u8]) -> Vec<u8> {
    let is_whole = input.starts_with(b"WARPLOAD");
    let mut bytes = if is_whole { input.to_vec() } else { put_together(contents, input) };
    repair(&mut bytes);
    bytes
}

/// The kernels and operations of assembled traces: [`LOADS`] loads, a store, an atomic, and others.
pub(crate) const CONTENTS: &[u8] =
    br#"{"source":"","names":["a","b"],"kernels":[{"name":0,"grid":[1,1,1],"block":[1,1,1]},
{"name":1,"grid":[1,1,1],"block":[1,1,1],"shared_base":4096,"local_base":67108864}],"operations":[
{"opcode":"LD.U.128","space":"generic","bytes":16,"signed":false,"uniform":true},
{"opcode":"LDG.S8","space":"global","bytes":1,"signed":true,"uniform":false},
{"opcode":"LDL","space":"local","bytes":4,"signed":false,"uniform":false},
{"opcode":"LDS.64","space":"shared","bytes":8,"signed":false,"uniform":false},
{"opcode":"LDC.U16","space":"constant","bytes":2,"signed":false,"uniform":false},
{"opcode":"LDSM.16.M88.2","space":"shared","bytes":16,"signed":false,"uniform":false},
{"opcode":"STG.64","kind":"store","space":"global","bytes":8,"signed":false,"uniform":false},
{"opcode":"ATOMS","kind":"atomic","space":"shared","bytes":4,"signed":false,"uniform":false},
{"opcode":"LDGSTS","kind":"copy","space":"generic","bytes":4,"signed":false,"uniform":false},
{"opcode":"UTMALDG","kind":"transfer","space":"global","bytes":4,"signed":false,"uniform":false},
{"opcode":"STSM","kind":"other","space":"shared","bytes":4,"signed":false,"uniform":false}]}"#;

/// [`CONTENTS`] as a value that can be changed.
pub(crate) fn contents() -> serde_json::Value {
    serde_json::from_slice(CONTENTS).unwrap_or_else(|error| panic!("{error}"))
}

/// The number of loads, which are the first operations.
pub(crate) const LOADS: u8 = 6;
/// The number of operations.
const OPERATIONS: u8 = 11;
/// The operation that moves blocks.
const TRANSFER: u8 = LOADS + 3;

/// Reads a number of four bytes, if it could be an offset.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize;
    (number <= bytes.len()).then_some(number)
}

/// Writes the checksum of the bytes `covered` at offset `at`.
fn seal(bytes: &mut [u8], at: usize, covered: std::ops::Range<usize>) -> Option<()> {
    let crc = crc32fast::hash(bytes.get(covered)?);
    bytes.get_mut(at..at + 4)?.copy_from_slice(&crc.to_le_bytes());
    Some(())
}

/// The bytes of an uncompressed column of the footer, and their width.
fn footer_column(
    bytes: &[u8],
    footer: usize,
    wanted: u8,
) -> Option<(std::ops::Range<usize>, usize)> {
    let (mut at, mut from, mut found) = (footer + 1, 0, None);
    for _ in 0..*bytes.get(footer)? {
        let (id, encoding, mut length) = (*bytes.get(at)?, *bytes.get(at + 1)?, 0);
        at += 2;
        for shift in (0..28).step_by(7) {
            let byte = *bytes.get(at)?;
            at += 1;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        if id == wanted && encoding & 0x40 == 0 {
            found = Some((from..from + length, usize::from(encoding & 0x0f)));
        }
        from += length;
    }
    found.map(|(range, width)| (at + range.start..at + range.end, width))
}

/// Makes all checksums match, as far as the parts can be found.
fn repair(bytes: &mut [u8]) -> Option<()> {
    bytes.get_mut(..12)?.copy_from_slice(b"WARPLOAD\x03\0\0\0");
    let (footer, length) = (number(bytes, 16)?, number(bytes, 24)?);
    let lengths = footer_column(bytes, footer, 2).zip(footer_column(bytes, footer, 3));
    if let Some(((lengths, width), (crcs, 4))) = lengths
        && width > 0
    {
        let (blocks, mut at) = (lengths.len() / width, 52usize);
        for block in 0..blocks.min(64) {
            let length = (0..width).rev().try_fold(0usize, |length, plane| {
                let byte = *bytes.get(lengths.start + plane * blocks + block)?;
                length.checked_mul(256)?.checked_add(usize::from(byte))
            })?;
            let crc = crc32fast::hash(bytes.get(at..at.checked_add(length)?)?);
            for (plane, byte) in crc.to_le_bytes().into_iter().enumerate() {
                *bytes.get_mut(crcs.start + plane * blocks + block)? = byte;
            }
            at += length;
        }
    }
    seal(bytes, 28, footer..footer.checked_add(length)?);
    seal(bytes, 48, 0..48)
}

/// The columns of a block or of the footer.
#[derive(Default)]
struct Columns {
    count: u8,
    directory: Vec<u8>,
    data: Vec<u8>,
}

impl Columns {
    /// Adds an uncompressed column of numbers of `width` bytes.
    fn add(&mut self, id: u8, width: u8, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.count += 1;
        // The length has up to 21 bits, in three bytes.
        let length = [bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8 | 0x80];
        self.directory.extend([id, 0x80 | width]);
        self.directory.extend(length);
        self.directory.push((bytes.len() >> 14) as u8 & 0x7f);
        self.data.extend(bytes);
    }

    fn finish(self) -> Vec<u8> {
        [vec![self.count], self.directory, self.data].concat()
    }
}

/// Takes bytes from the input, and zeros after its end.
struct Source<'i>(&'i [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    fn below(&mut self, limit: u8, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte() % limit).collect()
    }
}

/// A row of the index of blocks.
#[derive(Default)]
struct Row {
    bytes: usize,
    records: usize,
    kernel: usize,
    instructions: usize,
    loads: usize,
    stores: usize,
    atomics: usize,
}

/// A block of up to 23 records. Its columns have the right lengths, with contents from the input.
fn block(source: &mut Source<'_>) -> (Vec<u8>, Row) {
    const FORMS: u8 = 7;
    let (records, kernel) = (usize::from(source.byte() % 24), usize::from(source.byte() % 2));
    let (mut columns, mut row) = (Columns::default(), Row { records, kernel, ..Row::default() });
    let runs = usize::from(source.byte() % 4);
    columns.add(1, 1, &[0, 1, 1][..runs]);
    columns.add(2, 1, &source.below(16, runs));
    for id in 3..=10 {
        columns.add(id, 1, &source.bytes(runs));
    }
    let sites = records.min(1 + usize::from(source.byte() % 4));
    columns.add(16, 2, &source.bytes(2 * sites));
    let operations = source.below(OPERATIONS, sites);
    columns.add(17, 1, &operations);
    // The last site is used, so that the table has the length that its indices imply.
    let mut of_records = source.below(sites.max(1) as u8, records);
    of_records.iter_mut().take(1).for_each(|site| *site = sites as u8 - 1);
    columns.add(18, 1, &of_records);
    let gaps = source.below(8, records);
    columns.add(19, 1, &gaps);
    let inactive = source.bytes(4 * records);
    columns.add(20, 4, &inactive);
    let (mut forms, flags) = (source.bytes(records), source.below(32, records));
    let (mut with, mut lanes) = ([0; 7], [0; 7]);
    let (mut plg, mut guard, mut values) = (0, 0, 0);
    row.instructions = source.byte().into();
    for (i, site) in of_records.iter().enumerate() {
        let operation = operations[usize::from(*site)];
        let bits = (0..4).map(|plane| inactive[plane * records + i].count_zeros());
        let active: u32 = bits.sum();
        forms[i] %= FORMS;
        // Only the operation that moves blocks has transfers. Forms with addresses of lanes need an active lane.
        if forms[i] == 6 && operation != TRANSFER || (1..=4).contains(&forms[i]) && active == 0 {
            forms[i] = 0;
        }
        with[usize::from(forms[i])] += 1;
        lanes[usize::from(forms[i])] += active.saturating_sub(1) as usize;
        (plg, guard) = (plg + usize::from(flags[i] & 1), guard + usize::from((flags[i] / 2) & 1));
        let registers = match operation {
            0 => 4,
            // `LDSM` has one register for each of its two matrices.
            3 | 5 | LOADS => 2,
            _ => 1,
        };
        values += usize::from((flags[i] / 4) & 1) * active as usize * registers;
        row.loads += usize::from(operation < LOADS);
        row.stores += usize::from(operation == LOADS);
        row.atomics += usize::from(operation == LOADS + 1);
        row.instructions += usize::from(gaps[i]) + 1;
    }
    columns.add(21, 1, &forms);
    columns.add(22, 1, &flags);
    let bases: usize = with[..5].iter().sum();
    columns.add(23, 8, &source.bytes(8 * bases));
    columns.add(24, 2, &source.bytes(2 * with[0]));
    for (id, form) in [(25, 1), (26, 2), (27, 3), (28, 4)] {
        let width = 1 << (form - 1);
        columns.add(id, width, &source.bytes(usize::from(width) * lanes[form]));
    }
    columns.add(29, 1, &source.bytes(with[6]));
    columns.add(30, 8, &source.bytes(8 * with[6]));
    columns.add(31, 4, &source.bytes(4 * plg));
    columns.add(32, 4, &source.bytes(4 * guard));
    columns.add(33, 1, &source.bytes(values));
    let block = columns.finish();
    row.bytes = block.len();
    (block, row)
}

/// A trace with up to four blocks, with records and columns from the input.
fn put_together(contents: &[u8], input: &[u8]) -> Vec<u8> {
    let (mut bytes, mut source, mut rows) = (vec![0; 52], Source(input), Vec::new());
    while rows.len() < 4 && !source.0.is_empty() {
        let (block, row) = block(&mut source);
        bytes.extend(block);
        rows.push(row);
    }
    let mut footer = Columns::default();
    footer.add(1, 1, contents);
    let mut add = |id, width, number: fn(&Row) -> usize| {
        let plane = |plane| rows.iter().map(move |row| (number(row) >> (8 * plane)) as u8);
        footer.add(id, width, &(0..width).flat_map(plane).collect::<Vec<u8>>());
    };
    add(2, 3, |row| row.bytes);
    add(3, 4, |_| 0);
    add(4, 2, |row| row.instructions);
    add(5, 1, |row| row.records);
    add(6, 1, |row| row.kernel);
    add(7, 1, |row| row.loads);
    add(8, 1, |row| row.stores);
    add(9, 1, |row| row.atomics);
    let footer = footer.finish();
    let at = bytes.len() as u32;
    bytes[16..20].copy_from_slice(&at.to_le_bytes());
    bytes[24..28].copy_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend(footer);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpload::memory::{Arena, mix};
    use warpload_trace::BinaryTrace;

    /// Inputs must get past the checksums and the checks of the columns, so that most of them are traces.
    #[test]
    fn most_inputs_are_traces() {
        let mut read = 0;
        for seed in 0..200 {
            let input: Vec<u8> = (0..600).map(|i| mix(seed * 1000 + i) as u8).collect();
            let trace = BinaryTrace::new(Arena::from(made_trace(CONTENTS, &input)));
            let trace = trace.unwrap_or_else(|error| panic!("{error}"));
            read += trace.blocks().iter().filter(|block| trace.block(block).is_ok()).count();
        }
        assert!(read > 100, "{read}");
    }
}
