//! Pairs of kernels that differ in one line, one with a race and one without: `ptx/tests/machine/pairs.txt`.

use std::collections::BTreeSet;
use std::fmt::Write;

use warpload_ptx::launch::{
    AllocationUse, Checks, DeviceMemory, Kernel, KernelFaultKind, KernelLaunch,
};
use warpload_ptx::read;

const PAIRS: &str = include_str!("../../machine/pairs.txt");

/// Registers of every kernel in the file, so that the pairs contain only their accesses.
const REGISTERS: &str = ".reg .pred %leader, %head, %p<8>; .reg .b16 %h<8>; .reg .f32 %f<16>;
.reg .b32 %thread, %lane, %warp, %block, %round, %s, %own, %next, %mate, %r<40>; .reg .b64 %a, %b, %c, %mine, %q<20>;";
const VALUES: &str = "mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %r0, %ntid.x;
and.b32 %lane, %thread, 31; shr.u32 %warp, %thread, 5;
setp.eq.u32 %leader, %thread, 0; setp.eq.u32 %head, %lane, 0;
mov.u32 %s, s; mad.lo.u32 %own, %thread, 4, %s; xor.b32 %mate, %thread, 1; mad.lo.u32 %mate, %mate, 4, %s;
add.u32 %next, %thread, 32; rem.u32 %next, %next, %r0; mad.lo.u32 %next, %next, 4, %s;
mad.lo.u32 %r0, %block, %r0, %thread; mul.wide.u32 %mine, %r0, 4; add.u64 %mine, %a, %mine;
ld.param.u32 %round, [round];";

/// A pair of the file.
#[derive(Debug, Default)]
struct Pair<'t> {
    name: &'t str,
    grid: u32,
    block: u32,
    shared: u64,
    launches: u32,
    buffers: Vec<usize>,
    /// Marks of further instructions that race with each other.
    also: Vec<[&'t str; 2]>,
    body: Vec<&'t str>,
}

impl<'t> Pair<'t> {
    fn read(text: &'t str) -> Self {
        let mut lines = text.lines();
        let name = lines.next().expect("a name").trim();
        let mut pair = Self { name, grid: 1, launches: 1, ..Self::default() };
        for line in lines.by_ref().take_while(|line| *line != "---") {
            let Some((key, value)) = line.split_once(": ") else { continue };
            match key {
                "launch" => value.split(", ").for_each(|part| pair.set(part)),
                "also" => {
                    let (one, two) = value.split_once(' ').expect("two marks");
                    pair.also.push([one, two]);
                }
                _ => {}
            }
        }
        pair.body = lines.collect();
        let count = |prefix: &str| pair.body.iter().filter(|line| line.starts_with(prefix)).count();
        assert_eq!((count("BAD:"), count("GOOD:")), (1, 1), "{name}");
        assert!(pair.block > 0, "{name}");
        pair
    }

    fn set(&mut self, part: &str) {
        let (key, value) = part.split_once(' ').expect("a key and a value");
        let number = || value.parse().expect("a number");
        match key {
            "grid" => self.grid = number(),
            "block" => self.block = number(),
            "shared" => self.shared = number().into(),
            "launches" => self.launches = number(),
            "buffers" => {
                self.buffers = value.split(' ').map(|size| size.parse().expect("a size")).collect();
            }
            _ => panic!("{key}"),
        }
    }

    /// The module of a twin. Line numbers are the same in both, because each has one of the two lines that differ.
    fn module(&self, kept: &str, left_out: &str) -> String {
        let buffers = &["a", "b", "c"][..self.buffers.len()];
        let mut source = ".version 8.7\n.target sm_90a\n.address_size 64\n".to_owned();
        source.push_str(".extern .shared .align 128 .b8 s[];\n.visible .entry k(");
        buffers.iter().for_each(|name| write!(source, ".param .u64 {name}, ").expect("text"));
        write!(source, ".param .u32 round) {{\n{REGISTERS}\n").expect("text");
        for name in buffers {
            write!(source, "ld.param.u64 %{name}, [{name}]; ").expect("text");
        }
        source.push_str(if buffers.is_empty() { "mov.u64 %a, 0; " } else { "" });
        writeln!(source, "{VALUES}").expect("text");
        for line in self.body.iter().filter(|line| !line.starts_with(left_out)) {
            writeln!(source, "{}", line.strip_prefix(kept).unwrap_or(line)).expect("text");
        }
        source.push_str("ret;\n}\n");
        source
    }

    /// The pairs of lines that race; an error for any other finding, because it would hide accesses.
    fn races(&self, source: &str) -> Result<BTreeSet<[u32; 2]>, String> {
        let module = read(source).map_err(|error| format!("{error:?}"))?;
        let kernel = Kernel::chosen(&module, None).map_err(|error| format!("{error:?}"))?;
        let mut memory = DeviceMemory::new();
        let mut launch = KernelLaunch::new([self.grid, 1, 1], [self.block, 1, 1]);
        launch.options.checks = Checks { uninitialized: false, ..Checks::ALL };
        launch.options.shared_bytes = self.shared;
        launch.options.steps = 100_000;
        for (number, bytes) in self.buffers.iter().enumerate() {
            let place = AllocationUse::Argument(number);
            let address = memory.allocate(vec![0; *bytes], place).expect("room");
            launch = launch.parameter(&address.to_le_bytes());
        }
        let mut races = BTreeSet::new();
        for round in 0..self.launches {
            let launch = launch.clone().parameter(&round.to_le_bytes());
            let result = kernel.run(&launch, &mut memory, None);
            let result = result.map_err(|error| format!("{error:?}"))?;
            for fault in &result.faults {
                let KernelFaultKind::Race { other, .. } = fault.kind else {
                    return Err(format!("line {}: {fault}", fault.line()));
                };
                races
                    .insert([fault.line().min(other.at.line()), fault.line().max(other.at.line())]);
            }
            let is_whole = result.has_ended
                && result.skipped.is_empty()
                && result.unknown.is_empty()
                && result.faults.is_empty() == (result.fault_count == 0);
            if !is_whole {
                return Err(format!("{:?} {:?}", result.skipped, result.unknown));
            }
        }
        Ok(races)
    }
}

/// The number of the line with a mark.
fn line_of(source: &str, mark: &str) -> u32 {
    let has = |line: &str| {
        let marks = line.split_once(" // ").map_or("", |(_, marks)| marks);
        marks.split(", ").any(|other| other == mark)
    };
    let found: Vec<usize> =
        (1..).zip(source.lines()).filter(|of| has(of.1)).map(|of| of.0).collect();
    assert_eq!(found.len(), 1, "lines with the mark {mark}:\n{source}");
    found[0] as u32
}

fn pairs() -> impl Iterator<Item = Pair<'static>> {
    PAIRS.split("\n== ").skip(1).map(Pair::read)
}

#[test]
fn one_line_decides_about_a_race() {
    let mut wrong = String::new();
    let mut names = BTreeSet::new();
    for pair in pairs() {
        assert!(names.insert(pair.name), "{}", pair.name);
        for (kept, left_out) in [("BAD:", "GOOD:"), ("GOOD:", "BAD:")] {
            let source = pair.module(kept, left_out);
            let lines = |[one, two]: [&str; 2]| {
                let (one, two) = (line_of(&source, one), line_of(&source, two));
                [one.min(two), one.max(two)]
            };
            let expected: BTreeSet<[u32; 2]> = match kept {
                "BAD:" => pair.also.iter().copied().chain([["A", "B"]]).map(lines).collect(),
                _ => BTreeSet::new(),
            };
            let found = pair.races(&source).unwrap_or_else(|error| {
                writeln!(wrong, "{} {kept} {error}", pair.name).expect("text");
                expected.clone()
            });
            let text = |line: &u32| source.lines().nth(*line as usize - 1).unwrap_or_default();
            for [one, two] in expected.symmetric_difference(&found) {
                let what = if found.contains(&[*one, *two]) { "unexpected" } else { "missed" };
                let (name, one, two) = (pair.name, text(one), text(two));
                writeln!(wrong, "{name} {kept} {what}: {one} | {two}").expect("text");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(names.len() >= 45, "{}", names.len());
}
