//! `coalescing`: the costs of an access of a warp.

use anyhow::Result;
use warpload_suite::random::Random;

use super::case::{CaseFile, Cases, DOCUMENT, Family, Head, MODEL, quoted};
use super::flag::{Flag, flag, notes};
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family { name: "coalescing", cases, flags: || notes(FLAGS) };

const LANES: u64 = 32;

/// One access.
struct Access {
    space: &'static str,
    bytes: u64,
    pattern: Pattern,
    active: u32,
    addresses: Vec<u64>,
}

/// The addresses of the lanes, relative to the first one.
#[derive(Clone, Copy, PartialEq)]
enum Pattern {
    /// Neighbouring lanes are this many bytes apart.
    Stride(u64),
    /// Anywhere within this many bytes.
    Random(u64),
    /// Lane l is at element l xor this number.
    Permuted(u64),
    /// Groups of this many lanes share an address. The addresses are a stride apart.
    Groups(u64, u64),
    /// All lanes are a few bytes off a multiple of the size.
    Misaligned(u64),
    /// Like `Stride`, but each lane accesses the last byte of a sector.
    AtEnds(u64),
}

impl Access {
    fn lanes(&self) -> impl Iterator<Item = (u64, u64)> {
        let is_active = |(lane, _): &(u64, u64)| self.active >> lane & 1 != 0;
        (0..).zip(self.addresses.iter().copied()).filter(is_active)
    }

    fn is(&self, space: &str) -> bool {
        self.space == space
    }

    fn rounded(&self) -> Vec<u64> {
        self.lanes().map(|(_, address)| address / self.bytes * self.bytes).collect()
    }

    /// The most words that one bank serves for a group of lanes.
    fn conflict(&self) -> usize {
        let lanes_of_group = if self.bytes > 4 { 128 / self.bytes } else { LANES };
        let mut most = 0;
        for first in (0..LANES).step_by(lanes_of_group as usize) {
            let group = |(lane, _): &(u64, u64)| (first..first + lanes_of_group).contains(lane);
            let mut words: Vec<u64> = self
                .lanes()
                .filter(group)
                .map(|(_, address)| address / self.bytes * self.bytes)
                .flat_map(|address| address / 4..=(address + self.bytes - 1) / 4)
                .collect();
            words.sort_unstable();
            words.dedup();
            let busiest =
                (0..32).map(|bank| words.iter().filter(|word| *word % 32 == bank).count()).max();
            most = most.max(busiest.unwrap_or(0));
        }
        most
    }

    /// Whether the first lane's address is not a multiple of `unit` bytes.
    fn begins_inside(&self, unit: u64) -> bool {
        self.rounded().first().is_some_and(|first| first % unit != 0)
    }

    fn opcode(&self) -> String {
        let name = match self.space {
            "global" => "LDG.E",
            "local" => "LDL",
            "shared" => "LDS",
            _ => "LDC",
        };
        let size = match self.bytes {
            1 => ".U8",
            2 => ".U16",
            8 => ".64",
            16 => ".128",
            32 => ".256",
            _ => "",
        };
        format!("{name}{size}")
    }

    fn question(&self) -> String {
        let addresses = self.addresses.iter().enumerate().map(|(lane, address)| {
            let is_active = self.active >> lane & 1 != 0;
            if is_active { format!("\"{address:#x}\"") } else { "null".to_owned() }
        });
        let addresses: Vec<String> = addresses.collect();
        let Self { space, bytes, active, .. } = self;
        format!(
            r#""opcode":{},"bytes":{bytes},"space":"{space}","active":"{active:#x}","addresses":[{}]"#,
            quoted(&self.opcode()),
            addresses.join(",")
        )
    }

    /// Whether programming guides show the pattern: 32 lanes of 4 bytes, side by side or at a stride.
    fn is_textbook(&self) -> bool {
        let is_known = matches!(self.pattern, Pattern::Stride(_) | Pattern::Permuted(_));
        self.bytes == 4 && self.active == !0 && is_known && !self.is("local")
    }

    /// Whether the costs depend on an assumption of docs/traces.md: groups of lanes, or the layout of local memory.
    fn is_assumed(&self) -> bool {
        self.is("local") || self.is("shared") && self.bytes > 4
    }
}

#[rustfmt::skip]
const FLAGS: &[Flag<Access>] = &[
    flag("bank-conflict", "Lanes ask one bank of shared memory for several words.",
        |access| access.is("shared") && access.conflict() > 1),
    flag("bank-conflict-all", "All lanes that are served together ask one bank for different words.",
        |access| access.is("shared") && access.bytes <= 4 && access.conflict() == 32),
    flag("broadcast", "Several lanes ask for the same word of shared memory.", |access| {
        let mut words: Vec<u64> = access.rounded().iter().map(|address| address / 4).collect();
        let lanes = words.len();
        words.sort_unstable();
        words.dedup();
        access.is("shared") && words.len() < lanes
    }),
    flag("constant", "Constant memory, which has none of the counts.", |access| access.is("constant")),
    flag("contiguous", "Each lane's element follows the element of the lane before.", |access| {
        access.pattern == Pattern::Stride(access.bytes)
    }),
    flag("global", "Global memory.", |access| access.is("global")),
    flag("inactive-lanes", "Some lanes do not execute.", |access| access.active != !0),
    flag("inside-line", "The first lane's address is inside a line of 128 bytes.",
        |access| access.is("global") && access.begins_inside(128)),
    flag("inside-sector", "The first lane's address is inside a sector of 32 bytes.",
        |access| access.is("global") && access.begins_inside(32)),
    flag("local", "Local memory: the words of the lanes lie side by side (an assumption).", |access| access.is("local")),
    flag("misaligned", "Addresses that are not multiples of the size, and are rounded down.",
        |access| access.lanes().any(|(_, address)| address % access.bytes != 0)),
    flag("no-lane", "No lane executes.", |access| access.active == 0),
    flag("one-address", "All lanes have the same address.",
        |access| access.lanes().count() > 1 && access.rounded().iter().all(|a| Some(a) == access.rounded().first())),
    flag("one-lane", "A single lane executes.", |access| access.active.is_power_of_two()),
    flag("pair", "64 bits of each lane: half-warps of shared memory (an assumption).", |access| access.bytes == 8),
    flag("permuted", "The lanes' elements lie side by side in another order.", |access| matches!(access.pattern, Pattern::Permuted(_))),
    flag("quad", "128 bits of each lane: quarter-warps of shared memory (an assumption).", |access| access.bytes == 16),
    flag("random", "Addresses anywhere.", |access| matches!(access.pattern, Pattern::Random(_))),
    flag("repeated", "Groups of lanes share an address.", |access| matches!(access.pattern, Pattern::Groups(..))),
    flag("shared", "Shared memory.", |access| access.is("shared")),
    flag("strided", "The same distance between neighbouring lanes, more than an element.", |access| {
        matches!(access.pattern, Pattern::Stride(stride) if stride > access.bytes)
    }),
    flag("sub-word", "8 or 16 bits of each lane.", |access| access.bytes < 4),
    flag("wide", "256 bits of each lane.", |access| access.bytes == 32),
];

/// The masks of executing lanes. The full one is the most frequent.
const MASKS: [u32; 8] = [!0, 0xffff, !0, 0x5555_5555, !0, 0x8000_0001, 0xffff_fff0, 0x0001_0000];

fn patterns(space: &str, bytes: u64) -> Vec<(u64, Pattern)> {
    use Pattern::{AtEnds, Groups, Misaligned, Permuted, Random, Stride};
    let mut patterns = vec![
        (0, Stride(bytes)),
        (bytes, Stride(bytes)),
        (0, Stride(0)),
        (0, Stride(2 * bytes)),
        (64, Stride(3 * bytes)),
        (0, Random(512)),
        (0, Random(16384)),
        (128, Permuted(5)),
        (0, Permuted(31)),
        (32, Groups(4, 128)),
        (0, Groups(2, 33 * 4)),
    ];
    if bytes > 1 {
        patterns.extend([(0, Misaligned(1)), (0, AtEnds(128)), (0, AtEnds(33 * 4))]);
    }
    match space {
        "shared" => {
            let strides = [8, 16, 32, 33, 64].map(|words| (0, Stride(4 * words)));
            patterns.extend(strides.into_iter().filter(|_| bytes <= 16));
        }
        "global" => patterns.extend([(96, Stride(bytes)), (0, Stride(128)), (124, Stride(4096))]),
        _ => {}
    }
    patterns
}

fn addresses(first: u64, bytes: u64, pattern: Pattern, random: &mut Random) -> Vec<u64> {
    let mut of_lane = |lane: u64| match pattern {
        Pattern::Stride(stride) => stride * lane,
        Pattern::Random(room) => random.below(room / bytes) * bytes,
        Pattern::Permuted(number) => (lane ^ number) * bytes,
        Pattern::Groups(lanes, stride) => lane / lanes * stride / bytes * bytes,
        Pattern::AtEnds(stride) => stride * lane + 31,
        Pattern::Misaligned(off) => lane * bytes + (off + lane) % bytes,
    };
    (0..LANES).map(|lane| first / bytes * bytes + of_lane(lane)).collect()
}

fn cases(sources: &Sources) -> Result<Cases> {
    let mut random = Random::new(0, &[18]);
    let mut files = Vec::new();
    for (space, sizes, base) in [
        ("global", &[1, 2, 4, 8, 16, 32][..], 0x7f12_0000_0000),
        ("shared", &[1, 2, 4, 8, 16], 0),
        ("local", &[1, 4, 8, 16], 0),
        ("constant", &[4], 0),
    ] {
        let mut accesses = Vec::new();
        for &bytes in sizes {
            for (i, (first, pattern)) in patterns(space, bytes).into_iter().enumerate() {
                let addresses = addresses(base + first, bytes, pattern, &mut random);
                // Accesses of 4 bytes, as in textbooks, are by all lanes. Other sizes go through the masks.
                let turn = if bytes == 4 { 0 } else { i + bytes as usize };
                let active = MASKS[turn % MASKS.len()];
                accesses.push(Access { space, bytes, pattern, active, addresses });
            }
            let pattern = Pattern::Random(1024);
            for active in [0, 1 << 17, 0x00ff_ff00, 0x1234_5678] {
                let addresses = addresses(base, bytes, pattern, &mut random);
                accesses.push(Access { space, bytes, pattern, active, addresses });
            }
        }
        let questions: Vec<String> = accesses.iter().map(Access::question).collect();
        let answers = sources.answers("coalescing", &questions)?;
        let answered = accesses.iter().zip(questions.iter().zip(answers));
        let cases = answered.map(|(access, (question, answer))| {
            let source = if access.is_textbook() { DOCUMENT } else { MODEL };
            let head = Head::of(FLAGS, access, source);
            let head = Head { is_decision: access.is_assumed(), ..head };
            head.asking("coalescing", question, &answer)
        });
        files.push(CaseFile { instruction: space.to_owned(), cases: cases.collect() });
    }
    Ok(Cases { files, ..Cases::default() })
}
