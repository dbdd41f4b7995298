//! `ptx-execute`: loads of a function, executed. The expectations come from `warpload conform --serve`, and the model in
//! `tests/independent/ptx` agrees (`cli/tests/it/conform/whole.rs` checks it). Kernels are launched by [`ptx_launch`].

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::{CaseFile, Cases, Family, Head, MODEL, quoted};
use super::flag::{Flag, flag, notes};
use super::ptx_launch;
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family {
    name: "ptx-execute",
    cases,
    flags: || [notes(FLAGS), notes(ptx_launch::FLAGS)].concat(),
};

/// A function's loads, and their input.
struct Program {
    /// Variables of the module.
    declarations: String,
    loads: String,
    /// Other keys of the question, each with a comma before it.
    given: String,
    target: &'static str,
    /// Whether it depends on a point that docs/ptx-run.md calls a decision.
    is_decision: bool,
}

impl Program {
    fn has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.loads.contains(part))
    }

    fn module(&self) -> String {
        let Self { declarations, loads, target, .. } = self;
        let statements: String = loads.lines().map(|load| format!("  {load}\n")).collect();
        format!(
            ".version 9.1\n.target {target}\n.address_size 64\n{declarations}\
             .visible .entry k(.param .u64 p, .param .align 16 .b8 q[32]) {{\n  .reg .pred %p<2>;\n  \
             .reg .b16 %h<4>;\n  .reg .b32 %r<9>;\n  .reg .s32 %s<2>;\n  .reg .f32 %f<4>;\n  .reg .b64 %rd<5>;\n  \
             .reg .f64 %fd<2>;\n  .reg .b128 %q<2>;\n{statements}}}\n"
        )
    }

    fn question(&self) -> String {
        format!(r#""module":{}{}"#, quoted(&self.module()), self.given)
    }
}

/// A program, and its answer.
struct Executed {
    program: Program,
    answer: String,
    loads: Vec<Value>,
}

impl Executed {
    fn new(program: Program, answer: String) -> Result<Self> {
        let parsed: Value = serde_json::from_str(&answer)?;
        let loads = parsed["loads"].as_array().context("no list of loads")?.clone();
        Ok(Self { program, answer, loads })
    }

    fn has(&self, parts: &[&str]) -> bool {
        self.program.has(parts)
    }

    /// Whether a load has one of these qualifiers or types.
    fn is(&self, words: &[&str]) -> bool {
        let opcodes = self.program.loads.lines().flat_map(|load| {
            load.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default().split('.')
        });
        opcodes.into_iter().any(|word| words.contains(&word))
    }

    /// Whether a load is not executed, because it is illegal or its address has no value.
    fn is_error(&self) -> bool {
        self.loads.iter().any(|load| load["error"] == true)
    }

    fn needs_value(&self) -> bool {
        self.has(&["[%rd4]"])
    }

    fn is_outside(&self) -> bool {
        self.loads.iter().any(|load| load["lane_faults"].as_object().is_some_and(|f| !f.is_empty()))
    }

    fn has_inactive_lanes(&self) -> bool {
        let executing = self.loads.iter().filter_map(|load| load["executing"].as_str());
        executing.into_iter().any(|lanes| lanes != "0xffffffff")
    }
}

/// The memories with a qualifier.
const MEMORIES: [&str; 5] = ["global", "shared", "local", "const", "param"];

#[rustfmt::skip]
const FLAGS: &[Flag<Executed>] = &[
    flag("const", "Constant memory.", |case| case.is(&["const"])),
    flag("float", "A floating-point type.", |case| case.is(&["f32", "f64"])),
    flag("generic", "A generic address: the windows decide which memory it is in.", |case| {
        !case.is(&MEMORIES) && !case.is(&["tcgen05"])
    }),
    flag("global", "Global memory.", |case| case.is(&["global"])),
    flag("guard", "A predicate.", |case| case.has(&["@"])),
    flag("inactive-lanes", "Some lanes do not execute.", Executed::has_inactive_lanes),
    flag("index", "An element of a variable.", |case| case.has(&["tab[2]"])),
    flag("local", "Local memory.", |case| case.is(&["local"])),
    flag("misaligned", "An address that is rounded down.", |case| case.has(&["+3]"])),
    flag("needs-value", "A register without a value: the load is not executed.", Executed::needs_value),
    flag("ordered", "A memory order, a scope, or `.volatile`.", |case| case.is(&["relaxed", "acquire", "volatile"])),
    flag("outside", "An address outside all allocations, or at the end of one.", Executed::is_outside),
    flag("param", "A parameter.", |case| case.is(&["param"])),
    flag("refused", "A load that is illegal, and not executed.", |case| case.is_error() && !case.needs_value()),
    flag("several-loads", "An earlier load provides the address.", |case| case.loads.len() > 1),
    flag("shared", "Shared memory.", |case| case.is(&["shared"])),
    flag("sign-extension", "A signed type narrower than its register.", |case| case.is(&["s8", "s16"])),
    flag("sink", "An element that is not written.", |case| case.has(&["_,", "_}"])),
    flag("tensor-memory", "A load from Tensor Memory.", |case| case.is(&["tcgen05"])),
    flag("undefined", "A generic load that is not for the memory of its address.", |case| case.is(&["mmio"])),
    flag("variable", "A variable of the module.", |case| !case.program.declarations.is_empty()),
    flag("vector", "A vector.", |case| case.is(&["v2", "v4", "v8"])),
    flag("wide", "128 bits or more of each lane.", |case| {
        case.is(&["b128", "v8"]) || case.has(&[".v4.b32", ".v4.f32", ".v2.b64", ".v4.b64"])
    }),
    flag("zero-extension", "An unsigned type narrower than its register.", |case| case.is(&["u8", "b8", "u16"])),
];

/// Types with their destinations.
const TYPES: [(&str, &str); 13] = [
    ("u8", "%r1"),
    ("s8", "%r1"),
    ("u16", "%h1"),
    ("s16", "%s1"),
    ("b32", "%r1"),
    ("f32", "%f1"),
    ("b64", "%rd2"),
    ("f64", "%fd1"),
    ("b128", "%q1"),
    ("v2.u8", "{%r1, %h1}"),
    ("v2.b32", "{%r1, %r2}"),
    ("v4.f32", "{%f1, %f2, _, %f3}"),
    ("v2.b64", "{%rd2, %rd3}"),
];

/// State spaces as instructions write them. The last one is generic.
const SPACES: [&str; 5] = ["global.", "shared.", "local.", "const.", ""];

/// The values of 32 lanes in JSON.
fn values(of_lane: impl Fn(u64) -> u64) -> String {
    let values: Vec<String> = (0..32).map(|lane| format!("\"{:#x}\"", of_lane(lane))).collect();
    format!("[{}]", values.join(","))
}

pub(super) fn hex(bytes: impl Iterator<Item = u64>) -> String {
    bytes.map(|byte| format!("{:02x}", byte & 0xff)).collect()
}

/// Memory of every kind: 640 bytes of global memory, 64 of shared memory and of each lane's local memory, 64
/// of constant bank 3.
fn initial() -> String {
    let global = hex((0..640).map(|i| 7 * i + i / 256));
    let shared = hex((0..64).map(|i| 0xff - i));
    let local = hex((0..32 * 64).map(|i| i / 64 + 4 * (i % 64)));
    let constant = hex((0..64).map(|i| 3 * i + 0x80));
    format!(
        r#""initial":{{"memory":{{"global":[{{"base":"0x10000000","hex":"{global}"}}],"shared":{{"hex":"{shared}"}},"local":{{"bytes_per_lane":64,"hex":"{local}"}},"constant":[{{"bank":3,"hex":"{constant}"}}]}}}}"#
    )
}

/// The values of the address register for a space.
fn addresses(space: &str) -> String {
    values(|lane| match space {
        "global." => 0x1000_0000 + 16 * lane,
        "shared." => 16 * (lane & 3),
        "local." => 16 * (lane & 1),
        "const." => 16 * (lane & 1),
        // The first lanes are in global memory, the others in the shared window.
        _ if lane < 16 => 0x1000_0000 + 16 * lane,
        _ => 0xfe00_0000 + 16 * (lane & 3),
    })
}

fn program(loads: &str, space: &str, more: &str) -> Program {
    let registers = format!(r#","registers":{{"%rd1":{}}},{}{more}"#, addresses(space), initial());
    Program {
        declarations: String::new(),
        loads: loads.to_owned(),
        given: registers,
        target: "sm_100",
        is_decision: false,
    }
}

fn programs() -> Vec<Program> {
    [of_each_type(), with_qualifiers(), of_parameters(), of_variables(), of_tensor_memory()]
        .into_iter()
        .flatten()
        .collect()
}

/// Loads of each space and type, and at misaligned addresses and addresses outside the allocations.
fn of_each_type() -> Vec<Program> {
    let mut programs = Vec::new();
    for space in SPACES {
        for (ty, destination) in TYPES {
            let load = format!("ld.{space}{ty} {destination}, [%rd1];");
            programs.push(program(&load, space, ""));
        }
        let more = [
            ("[%rd1+3];", r#","active":"0xff""#),
            ("[%rd1+-16];", ""),
            ("[%rd1+0x3e];", ""),
            ("[%rd1+0xff0];", r#","active":"0xf0f0f0f0""#),
        ];
        for (address, active) in more {
            let load = format!("ld.{space}b32 %r1, {address}");
            programs.push(program(&load, space, active));
        }
    }
    programs
}

/// Wide, guarded, ordered and illegal loads, and one from an address without a value.
fn with_qualifiers() -> Vec<Program> {
    let mut programs = Vec::new();
    // 256 bits, which SM 5.x lacks.
    for load in [
        "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];",
        "ld.global.v4.b64 {%rd2, %rd3, _, %rd4}, [%rd1];",
    ] {
        programs.push(Program { is_decision: true, ..program(load, "global.", "") });
    }
    for guard in ["@%p1", "@!%p1"] {
        let registers = format!(r#"{{"%p1":"0xff00ff","%rd1":{}}}"#, addresses("global."));
        let given = format!(r#","registers":{registers},{}"#, initial());
        let load = format!("{guard} ld.global.u8 %r1, [%rd1];");
        programs.push(Program { given, ..program(&load, "", "") });
    }
    programs.push(program("ld.global.u32 %r1, [%rd4];", "global.", ""));
    programs.push(program("ld.shared.nc.u32 %r1, [%rd1];", "shared.", ""));
    for qualifier in ["relaxed.gpu.global.", "acquire.sys.shared.", "volatile.global."] {
        let space = if qualifier.contains("shared") { "shared." } else { "global." };
        let load = format!("ld.{qualifier}u32 %r1, [%rd1];");
        programs.push(program(&load, space, ""));
    }
    let undefined = program("ld.mmio.relaxed.sys.u32 %r1, [%rd1];", "", "");
    programs.push(Program { is_decision: true, ..undefined });
    programs
}

/// Parameters, and loads that depend on each other.
fn of_parameters() -> Vec<Program> {
    let parameters = format!(
        r#","parameters":{{"p":"0x10000010","q":["0x1","0x80","0xff","0x7f","0x5"]}},{}"#,
        initial()
    );
    let loads = [
        "ld.param.u64 %rd1, [p];",
        "ld.param.u64 %rd1, [p];\nld.global.u16 %h1, [%rd1+2];",
        "ld.param.s8 %r1, [q+1];",
        "ld.param.v2.b32 {%r1, %r2}, [q];",
        "ld.param.v4.u8 {%r1, _, %r2, %h1}, [q];",
    ];
    let program = |loads| Program { given: parameters.clone(), ..program(loads, "", "") };
    loads.map(program).into()
}

/// Variables of the module.
fn of_variables() -> Vec<Program> {
    let variables = [
        (
            ".const .align 4 .b8 tab[8] = {1, 2, 3, 4, 250, 251, 252, 253};\n",
            "ld.const.s8 %r1, [tab+4];",
            false,
        ),
        (".const .u32 tab[4] = {10, 20, 30, 40};\n", "ld.const.u32 %r1, tab[2];", false),
        (".const .u32 tab[4] = {10, 20, 30, 40};\n", "ld.const.u32 %r1, [tab+4];", false),
        // The alignment leaves a gap before the second variable.
        (
            ".const .u8 one = 7;\n.const .align 8 .u32 tab[2] = {10, 20};\n",
            "ld.const.u32 %r1, [one+8];",
            true,
        ),
        (".global .f32 tab[2] = {1.5, -2.25};\n", "ld.global.f32 %f1, [tab+4];", true),
        (".shared .u32 tab[4];\n", "ld.shared.u32 %r1, [tab+8];", false),
    ];
    let program = |(declarations, load, is_decision): (&str, &str, bool)| {
        let (declarations, given) = (declarations.to_owned(), String::new());
        Program { declarations, given, is_decision, ..program(load, "", "") }
    };
    variables.map(program).into()
}

/// Tensor Memory.
fn of_tensor_memory() -> Vec<Program> {
    let loads = [
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r8];", "lane*65536+col"),
        ("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r1}, [%r8];", "packid"),
        ("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r8];", "hash"),
    ];
    let program = |(load, pattern)| {
        let given = format!(r#","registers":{{"%r8":"0x4"}},"tensor_memory":"{pattern}","warp":0"#);
        Program { given, target: "sm_100a", ..program(load, "", "") }
    };
    loads.map(program).into()
}

fn cases(sources: &Sources) -> Result<Cases> {
    let programs = programs();
    let questions: Vec<String> = programs.iter().map(Program::question).collect();
    let answers = sources.answers("ptx-execute", &questions)?;
    let mut ld = CaseFile { instruction: "ld".to_owned(), cases: Vec::new() };
    let mut tensor = CaseFile { instruction: "tcgen05-ld".to_owned(), cases: Vec::new() };
    for ((program, question), answer) in programs.into_iter().zip(&questions).zip(answers) {
        let case = Executed::new(program, answer)?;
        let file = if case.is(&["tcgen05"]) { &mut tensor } else { &mut ld };
        let is_decision = case.program.is_decision;
        let head = Head { is_decision, ..Head::of(FLAGS, &case, MODEL) };
        file.cases.push(head.asking("ptx-execute", question, &case.answer));
    }
    Ok(Cases { files: vec![ld, tensor, ptx_launch::file(sources)?], ..Cases::default() })
}
