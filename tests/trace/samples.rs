//! Traces made for tests, and what is to be read back from them.

use std::io::Cursor;

use warpload::lane::LaneMask;
use warpload::memory::{Arena, Fill};
use warpload::trace::{
    Addresses, BinaryTrace, Class, Data, Kernel, NewLoad, Operation, ReplayError, ReplayOptions,
    Shard, Skipped, Summary, TraceWriter, replay,
};

use crate::random::Random;

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

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Stride(u64, i64),
    Deltas(u64, Vec<i32>),
    List(Vec<u64>),
}

impl Form {
    pub(crate) fn addresses(&self) -> Addresses<'_> {
        match self {
            Self::Stride(base, stride) => Addresses::Stride { base: *base, stride: *stride },
            Self::Deltas(base, deltas) => Addresses::Deltas { base: *base, deltas },
            Self::List(list) => Addresses::List(list),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) opcode: &'static str,
    pub(crate) form: Form,
    pub(crate) plg: Option<u32>,
    pub(crate) guard: Option<u32>,
    /// For each register, one for each active lane; empty where not known.
    pub(crate) expected: Vec<u32>,
    pub(crate) width_disagrees: bool,
}

impl Load {
    /// A load by all lanes, of which nothing more is known.
    pub(crate) fn new(opcode: &'static str, form: Form) -> Self {
        Self {
            pc: 0x10,
            mask: u32::MAX,
            opcode,
            form,
            plg: None,
            guard: None,
            expected: Vec::new(),
            width_disagrees: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Kernel(&'static str),
    Skip(Skipped),
    /// An instruction that is not replayed: its name and its active lanes.
    NotReplayed(&'static str, u32),
    Load(Load),
}

pub(crate) fn operation(opcode: &str) -> Operation {
    match Class::of(opcode) {
        Class::Load(operation) => operation,
        other => panic!("{opcode} is {other:?}"),
    }
}

/// How many registers a load of that opcode fills.
pub(crate) fn registers(opcode: &str) -> usize {
    operation(opcode).width.registers() as usize
}

pub(crate) fn write(items: &[Item]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
    for item in items {
        match item {
            Item::Kernel(name) => {
                writer.kernel(Kernel { name: (*name).into(), ..Kernel::default() }).unwrap();
            }
            Item::Skip(kind) => writer.skip(*kind).unwrap(),
            Item::NotReplayed(name, mask) => {
                let name = writer.not_replayed_name(name).unwrap();
                writer.not_replayed(name, LaneMask::from_bits(*mask)).unwrap();
            }
            Item::Load(load) => {
                let operation = writer.operation(&operation(load.opcode)).unwrap();
                let load = NewLoad {
                    pc: load.pc,
                    mask: LaneMask::from_bits(load.mask),
                    operation,
                    addresses: load.form.addresses(),
                    plg: load.plg.map(LaneMask::from_bits),
                    guard: load.guard.map(LaneMask::from_bits),
                    expected: &load.expected,
                    width_disagrees: load.width_disagrees,
                };
                writer.load(&load).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

/// A load as it is in a trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) record: u64,
    pub(crate) kernel: usize,
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) opcode: String,
    /// Those of the active lanes.
    pub(crate) addresses: Vec<u64>,
    pub(crate) plg: Option<u32>,
    pub(crate) guard: Option<u32>,
    pub(crate) expected: Vec<u32>,
    pub(crate) width_disagrees: bool,
}

pub(crate) fn open(bytes: &[u8]) -> BinaryTrace {
    BinaryTrace::new(Arena::from(bytes.to_vec())).unwrap()
}

pub(crate) fn loads(trace: &BinaryTrace) -> Vec<Seen> {
    let mut all = Vec::new();
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.loads as usize {
            let load = block.load(i).unwrap();
            let operation = load.operation();
            let of_register = |register| load.expected(register).into_iter().flatten();
            let registers = 0..operation.width.registers() as usize;
            let addresses = load.addresses();
            all.push(Seen {
                record: raw.first_record + u64::from(load.index),
                kernel: raw.kernel as usize,
                pc: load.pc,
                mask: load.mask.bits(),
                opcode: operation.opcode.to_string(),
                addresses: load.mask.lanes().map(|lane| addresses.of(lane)).collect(),
                plg: load.plg.map(LaneMask::bits),
                guard: load.guard.map(LaneMask::bits),
                expected: registers.flat_map(of_register).collect(),
                width_disagrees: load.width_disagrees,
            });
        }
    }
    all
}

/// What must be read back from a trace of these items.
pub(crate) fn expected_loads(items: &[Item]) -> Vec<Seen> {
    let mut all = Vec::new();
    let (mut kernels, mut record) = (0usize, 0);
    for item in items {
        match item {
            Item::Kernel(_) => {
                kernels = if kernels == 0 && record > 0 { 2 } else { kernels + 1 };
                continue;
            }
            Item::Skip(_) | Item::NotReplayed(..) => {}
            Item::Load(load) => all.push(Seen {
                record,
                kernel: kernels.saturating_sub(1),
                pc: load.pc,
                mask: load.mask,
                opcode: load.opcode.to_owned(),
                addresses: load.form.addresses().each(load.mask.count_ones()).collect(),
                plg: load.plg,
                guard: load.guard,
                expected: load.expected.clone(),
                width_disagrees: load.width_disagrees,
            }),
        }
        record += 1;
    }
    all
}

/// How often each kind was skipped: stores, atomics.
pub(crate) fn skipped(trace: &BinaryTrace) -> (u64, u64) {
    let blocks = trace.blocks().iter();
    blocks.fold((0, 0), |(stores, atomics), block| {
        (stores + u64::from(block.stores), atomics + u64::from(block.atomics))
    })
}

pub(crate) fn options(shard: Option<Shard>) -> ReplayOptions<'static> {
    ReplayOptions::new(Data::Fill(Fill::Address)).shard(shard)
}

/// The summary of a replay with `--fill address`.
pub(crate) fn summary(trace: &BinaryTrace, shard: Option<Shard>) -> Result<Summary, ReplayError> {
    Ok(replay(trace, &options(shard))?.summary())
}

pub(crate) fn json(summary: &Summary) -> String {
    serde_json::to_string(summary).unwrap()
}

/// One random load; most are of kinds that programs have, some are wild.
pub(crate) fn random_load(random: &mut Random) -> Load {
    let opcode = random.one_of(&OPCODES);
    let mask = match random.below(4) {
        0 | 1 => u32::MAX,
        2 => random.next() as u32,
        _ => random.one_of(&[0, 1, 1 << 31, 0xffff]),
    };
    let bytes = u64::from(operation(opcode).width.bytes());
    let near = if random.is_one_in(16) { random.next() } else { random.next() % (1 << 22) };
    // Windows as `AddressMap`'s defaults have them: some generic addresses lie in them.
    let window =
        if opcode.starts_with("LD.") { random.one_of(&[0, 0xfe00_0000, 0xff00_0000]) } else { 0 };
    let base = window + near / bytes * bytes;
    let lanes = mask.count_ones() as usize;
    let form = match random.below(4) {
        0 => Form::Stride(base, 0),
        1 => Form::Stride(base, random.one_of(&[bytes as i64, -4, 1, 4096])),
        2 if lanes > 0 => {
            let delta = |_| (random.next() % 4096) as i32 - 2048;
            Form::Deltas(base + (1 << 20), (1..lanes).map(delta).collect())
        }
        _ => Form::List((0..lanes).map(|_| window + random.next() % (1 << 23)).collect()),
    };
    let maybe = |random: &mut Random| random.is_one_in(3).then(|| random.next() as u32);
    let (plg, guard) = (maybe(random), maybe(random));
    let values = lanes * registers(opcode);
    let expected = if random.is_one_in(4) { values } else { 0 };
    Load {
        pc: (random.next() % 64) as u32 * 16,
        mask,
        opcode,
        form,
        plg,
        guard,
        expected: (0..expected).map(|_| random.next() as u32).collect(),
        width_disagrees: random.is_one_in(8),
    }
}

/// A few kernels with `records` instructions between them.
pub(crate) fn random_items(seed: u64, records: usize) -> Vec<Item> {
    let mut random = Random(seed);
    let mut items = vec![Item::Kernel("first")];
    for _ in 0..records {
        items.push(match random.below(40) {
            0 => Item::Kernel(random.one_of(&["second", "third", "first"])),
            1..=4 => Item::Skip(Skipped::Store),
            5 => Item::Skip(Skipped::Atomic),
            6..=15 => Item::Skip(Skipped::Other),
            16..=18 => {
                let name = random.one_of(&["LDGSTS", "LDSM", "ULDC"]);
                Item::NotReplayed(name, random.next() as u32)
            }
            _ => Item::Load(random_load(&mut random)),
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
