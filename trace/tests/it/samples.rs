//! Traces made for tests, and what is to be read back from them.

use std::fs;
use std::io::Cursor;
use std::num::NonZero;
use std::path::Path;

use warpload::lane::LaneMask;
use warpload::memory::{AddressSpace, Arena};
use warpload_trace::{
    BinaryTrace, Compression, ImportError, ImportOptions, Kernel, MemoryOperation, NewRecord,
    OperationKind, RecordAddresses, TraceSource, TraceWriter, WarpPosition,
};

use crate::random::Random;

/// Imports a file with as many threads.
pub(crate) fn import_file(path: &Path, threads: usize) -> Result<Vec<u8>, ImportError> {
    imported(TraceSource::open(path, &())?, threads)
}

/// Imports a source with as many threads.
pub(crate) fn imported(source: TraceSource<'_>, threads: usize) -> Result<Vec<u8>, ImportError> {
    let mut output = Cursor::new(Vec::new());
    let options = ImportOptions::new(NonZero::new(threads).unwrap());
    source.import_into(&mut output, &options, &())?;
    Ok(output.into_inner())
}

/// Imports text as the file `trace` of a folder that goes away; checks that the number of threads
/// changes nothing.
pub(crate) fn import_bytes(text: impl AsRef<[u8]>) -> Result<Vec<u8>, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    fs::write(&path, text).unwrap();
    let one = import_file(&path, 1);
    for threads in [2, 5] {
        match (&one, import_file(&path, threads)) {
            (Ok(one), Ok(several)) => assert!(*one == several, "{threads} threads"),
            (Err(one), Err(several)) => assert_eq!(messages(one), messages(&several)),
            (_, several) => panic!("{threads} threads: {:?}", several.err()),
        }
    }
    one
}

/// An error's message and those of its causes.
fn messages(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source()).map(|e| e.to_string()).collect()
}

/// The opcodes of generated loads: every space, size and sign, the uniform form.
pub(crate) const OPCODES: [&str; 12] = [
    "LD.E",
    "LD.E.U.128",
    "LD.E.S8",
    "LDG.E",
    "LDG.E.128",
    "LDG.E.U16",
    "LDG.E.S16",
    "LDL.64",
    "LDS",
    "LDS.U.64",
    "LDC",
    "LDG.E.U8",
];

/// Opcodes of memory instructions that are not loads, of every kind.
pub(crate) const OTHER_OPCODES: [&str; 10] = [
    "STG.E",
    "ST.E.64",
    "STS.U8",
    "STL.128",
    "ATOMG.E.ADD.F64",
    "RED.E.ADD",
    "LDGSTS.E.128",
    "UTMALDG.2D",
    "LDSM.16.M88.4",
    "ULDC.64",
];

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Stride(u64, i64),
    List(Vec<u64>),
    Unknown,
    /// How many addresses, and how many bytes.
    Transfer(u64, u64),
}

impl Form {
    /// Addresses of which each has a distance to the one before.
    pub(crate) fn deltas(base: u64, deltas: &[i32]) -> Self {
        let rest = deltas.iter().scan(base, |at, delta| {
            *at = at.wrapping_add_signed((*delta).into());
            Some(*at)
        });
        Self::List([base].into_iter().chain(rest).collect())
    }

    pub(crate) fn addresses(&self) -> RecordAddresses<'_> {
        match *self {
            Self::Stride(base, stride) => RecordAddresses::Stride { base, stride },
            Self::List(ref list) => RecordAddresses::List(list),
            Self::Unknown => RecordAddresses::Unknown,
            Self::Transfer(count, bytes) => RecordAddresses::Transfer { count, bytes },
        }
    }
}

/// A memory instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) opcode: &'static str,
    pub(crate) form: Form,
    pub(crate) plg: Option<u32>,
    pub(crate) guard: Option<u32>,
    /// For each register, one for each active lane; empty if unknown.
    pub(crate) values: Vec<u32>,
    pub(crate) is_valued: bool,
    pub(crate) width_disagrees: bool,
}

impl Record {
    /// An instruction of all lanes, of which nothing more is known.
    pub(crate) fn new(opcode: &'static str, form: Form) -> Self {
        Self {
            pc: 0x10,
            mask: u32::MAX,
            opcode,
            form,
            plg: None,
            guard: None,
            values: Vec::new(),
            is_valued: false,
            width_disagrees: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Kernel(&'static str),
    /// Whose the following instructions are.
    Place(Option<WarpPosition>),
    /// An instruction without a memory operand.
    Skip,
    Record(Record),
}

impl Item {
    /// A memory instruction of all lanes, side by side.
    pub(crate) fn of(opcode: &'static str) -> Self {
        Self::Record(Record::new(opcode, Form::Stride(0x100, 4)))
    }

    fn is_instruction(&self) -> bool {
        matches!(self, Self::Skip | Self::Record(_))
    }
}

/// How many of the items are instructions.
pub(crate) fn instructions(items: &[Item]) -> u64 {
    items.iter().filter(|item| item.is_instruction()).count() as u64
}

/// How many registers an instruction of that opcode has values of.
pub(crate) fn registers(opcode: &str) -> usize {
    MemoryOperation::of_opcode(opcode).width.registers() as usize
}

pub(crate) fn write(items: &[Item]) -> Vec<u8> {
    write_with(items, Compression::default())
}

pub(crate) fn write_with(items: &[Item], compression: Compression) -> Vec<u8> {
    let output = Cursor::new(Vec::new());
    let mut writer =
        TraceWriter::with_compression(output, "a test".to_owned(), compression).unwrap();
    for item in items {
        match item {
            Item::Kernel(name) => {
                writer.kernel(Kernel { name: (*name).into(), ..Kernel::default() }).unwrap();
            }
            Item::Place(place) => writer.place(*place),
            Item::Skip => writer.skip().unwrap(),
            Item::Record(record) => {
                let operation =
                    writer.operation(&MemoryOperation::of_opcode(record.opcode)).unwrap();
                let record = NewRecord {
                    pc: record.pc,
                    mask: LaneMask::from_bits(record.mask),
                    operation,
                    addresses: record.form.addresses(),
                    plg: record.plg.map(LaneMask::from_bits),
                    guard: record.guard.map(LaneMask::from_bits),
                    values: (!record.values.is_empty()).then_some(&*record.values),
                    is_valued: record.is_valued,
                    width_disagrees: record.width_disagrees,
                };
                writer.record(&record).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

/// A memory instruction as it is in a trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) record: u64,
    pub(crate) kernel: usize,
    pub(crate) place: WarpPosition,
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) opcode: String,
    pub(crate) kind: OperationKind,
    pub(crate) has_addresses: bool,
    /// Those of the active lanes, if they are known.
    pub(crate) addresses: Vec<u64>,
    pub(crate) transfer: Option<(u64, u64)>,
    pub(crate) plg: Option<u32>,
    pub(crate) guard: Option<u32>,
    pub(crate) values: Vec<u32>,
    pub(crate) is_valued: bool,
    pub(crate) width_disagrees: bool,
}

pub(crate) fn open(bytes: &[u8]) -> BinaryTrace {
    BinaryTrace::new(Arena::from(bytes.to_vec())).unwrap()
}

pub(crate) fn records(trace: &BinaryTrace) -> Vec<Seen> {
    let mut all = Vec::new();
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        let mut places = block.places();
        for i in 0..raw.records as usize {
            let record = block.record(i).unwrap();
            assert_eq!(places.place(record.index), block.place(record.index));
            let operation = record.operation();
            let of_register = |register| record.values(register).into_iter().flatten();
            let registers = 0..operation.width.registers() as usize;
            let addresses = record.addresses();
            let lanes = if record.has_addresses() { record.mask } else { LaneMask::NONE };
            all.push(Seen {
                record: raw.first_instruction + u64::from(record.index),
                kernel: raw.kernel as usize,
                place: block.place(record.index),
                pc: record.pc,
                mask: record.mask.bits(),
                opcode: operation.opcode.to_string(),
                kind: operation.kind,
                has_addresses: record.has_addresses(),
                addresses: lanes.lanes().map(|lane| addresses.of(lane)).collect(),
                transfer: record.transfer(),
                plg: record.plg.map(LaneMask::bits),
                guard: record.guard.map(LaneMask::bits),
                values: registers.flat_map(of_register).collect(),
                is_valued: record.is_valued,
                width_disagrees: record.width_disagrees,
            });
        }
    }
    all
}

pub(crate) fn loads(trace: &BinaryTrace) -> Vec<Seen> {
    let all = records(trace).into_iter();
    all.filter(|record| record.kind == OperationKind::Load).collect()
}

/// What must be read back from a trace of these items.
pub(crate) fn expected_records(items: &[Item]) -> Vec<Seen> {
    let mut all = Vec::new();
    let (mut kernels, mut number) = (0usize, 0);
    let mut place: Option<WarpPosition> = None;
    for item in items {
        match item {
            Item::Kernel(_) => {
                kernels = if kernels == 0 && number > 0 { 2 } else { kernels + 1 };
                place = None;
            }
            Item::Place(other) => place = *other,
            Item::Skip => {}
            Item::Record(record) => {
                let active = record.mask.count_ones();
                let transfer = match record.form {
                    Form::Transfer(count, bytes) => Some((count, bytes)),
                    _ => None,
                };
                all.push(Seen {
                    record: number,
                    kernel: kernels.saturating_sub(1),
                    place: place.unwrap_or_default(),
                    pc: record.pc,
                    mask: record.mask,
                    opcode: record.opcode.to_owned(),
                    kind: MemoryOperation::of_opcode(record.opcode).kind,
                    has_addresses: transfer.is_none() && record.form != Form::Unknown,
                    addresses: record.form.addresses().each(active).collect(),
                    transfer,
                    plg: record.plg,
                    guard: record.guard,
                    values: record.values.clone(),
                    is_valued: record.is_valued || !record.values.is_empty(),
                    width_disagrees: record.width_disagrees,
                });
            }
        }
        if item.is_instruction() {
            number += 1;
            if let Some(place) = &mut place {
                // A number that does not fit is unknown.
                place.index = place.index.and_then(|index| index.checked_add(1));
            }
        }
    }
    all
}

/// How many stores and atomics the index has.
pub(crate) fn skipped(trace: &BinaryTrace) -> (u64, u64) {
    let blocks = trace.blocks().iter();
    blocks.fold((0, 0), |(stores, atomics), block| {
        (stores + u64::from(block.stores), atomics + u64::from(block.atomics))
    })
}

/// One random memory instruction; most are of kinds that programs have, some are wild.
pub(crate) fn random_record(random: &mut Random) -> Record {
    let opcode =
        if random.is_one_in(4) { random.one_of(&OTHER_OPCODES) } else { random.one_of(&OPCODES) };
    let mask = match random.below(4) {
        0 | 1 => u32::MAX,
        2 => random.next() as u32,
        _ => random.one_of(&[0, 1, 1 << 31, 0xffff]),
    };
    let operation = MemoryOperation::of_opcode(opcode);
    let bytes = u64::from(operation.width.bytes());
    let near = if random.is_one_in(16) { random.next() } else { random.next() % (1 << 22) };
    // Windows as `AddressMap`'s defaults have them: some generic addresses lie in them.
    let window = match operation.space {
        AddressSpace::Generic => random.one_of(&[0, 0xfe00_0000, 0xff00_0000]),
        _ => 0,
    };
    let base = window + near / bytes * bytes;
    let lanes = mask.count_ones() as usize;
    let form = match random.below(16) {
        _ if operation.kind == OperationKind::Transfer && !random.is_one_in(4) => {
            Form::Transfer(random.next() % 8, near)
        }
        0 => Form::Unknown,
        1..=4 => Form::Stride(base, 0),
        5..=8 => Form::Stride(base, random.one_of(&[bytes as i64, -4, 1, 4096])),
        9..=12 if lanes > 0 => {
            let delta = |_| (random.next() % 4096) as i32 - 2048;
            Form::deltas(base + (1 << 20), &(1..lanes).map(delta).collect::<Vec<_>>())
        }
        _ => Form::List((0..lanes).map(|_| window + random.next() % (1 << 23)).collect()),
    };
    let maybe = |random: &mut Random| random.is_one_in(3).then(|| random.next() as u32);
    let (plg, guard) = (maybe(random), maybe(random));
    let values = if random.is_one_in(4) { lanes * registers(opcode) } else { 0 };
    Record {
        pc: (random.next() % 64) as u32 * 16,
        mask,
        opcode,
        form,
        plg,
        guard,
        values: (0..values).map(|_| random.next() as u32).collect(),
        is_valued: random.is_one_in(8),
        width_disagrees: random.is_one_in(8),
    }
}

/// One random place; sometimes what is known of it is little.
pub(crate) fn random_place(random: &mut Random) -> Option<WarpPosition> {
    let number = |random: &mut Random| random.below(4) as u32;
    let maybe = |random: &mut Random| (!random.is_one_in(4)).then(|| random.below(4) as u32);
    let is_known = !random.is_one_in(4);
    is_known.then(|| WarpPosition {
        cta: maybe(random).map(|x| [x, number(random), number(random)]),
        warp: maybe(random),
        cluster: maybe(random).map(|x| [x, number(random), number(random)]),
        index: maybe(random),
    })
}

/// A few kernels with about as many instructions between them.
pub(crate) fn random_items(seed: u64, records: usize) -> Vec<Item> {
    let mut random = Random(seed);
    let mut items = vec![Item::Kernel("first")];
    for _ in 0..records {
        items.push(match random.below(40) {
            0 => Item::Kernel(random.one_of(&["second", "third", "first"])),
            1..=4 => Item::Place(random_place(&mut random)),
            5..=15 => Item::Skip,
            _ => Item::Record(random_record(&mut random)),
        });
    }
    items
}

/// A grouped trace of `version` with those instructions.
pub(crate) fn grouped(version: u32, header: &str, instructions: &[&str]) -> String {
    format!(
        "-kernel name = k\n-kernel id = 1\n-grid dim = (1,2,3)\n-block dim = (32,1,1)\n\
         -accelsim tracer version = {version}\n{header}\n#traces format = …\n\n#BEGIN_TB\n\n\
         thread block = 0,0,0\n\nwarp = 0\ninsts = {}\n{}\n\n#END_TB\n",
        instructions.len(),
        instructions.join("\n")
    )
}
