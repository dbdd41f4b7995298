//! PTX loads lowered to SM 5.x, compared with ptxas's output.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::Read;

use serde_json::Value;
use warpload::encoding::{Instruction, Sm};
use warpload::load::{LoadOp, Prepared};
use warpload::machine::RegisterLimit;
use warpload_ptx::lower::Binding;
use warpload_ptx::{lower, read};

/// A module, and the loads that ptxas emitted for it.
struct Row {
    id: String,
    flags: Vec<String>,
    module: String,
    loads: Vec<Instruction>,
}

fn rows() -> Vec<Row> {
    let packed: &[u8] = include_bytes!("../ptx_lower/ptx_to_sm50.jsonl.xz");
    let mut text = String::new();
    liblzma::read::XzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        let text = |one: &Value| one.get("text").unwrap_or(one).as_str().unwrap().to_owned();
        value.as_array().unwrap().iter().map(text).collect()
    };
    let load = |text: &String| Instruction::parse(text, Sm::SPA5).unwrap();
    text.lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let string = |key: &str| row[key].as_str().unwrap().to_owned();
            let loads = texts(&row["loads"]).iter().map(load).collect();
            let (id, module) = (string("id"), string("module"));
            Row { id, flags: texts(&row["flags"]), module, loads }
        })
        .collect()
}

fn lowered(source: &str) -> Vec<Instruction> {
    let module = read(source).unwrap();
    lower(&module).flat_map(|load| load.unwrap().instructions).collect()
}

/// The whole text, without the numbers of registers and predicates.
fn form(load: &Instruction) -> String {
    let text = load.to_string();
    let mut form = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        form.push(letter);
        if matches!(letter, 'R' | 'P') {
            while letters.next_if(char::is_ascii_digit).is_some() {}
        }
    }
    form
}

/// Rows in which ptxas removed the load, because it reads a value stored before it.
const REMOVED: [&str; 10] = [
    "sass-0462",
    "sass-0464",
    "sass-0470",
    "sass-0473",
    "sass-0474",
    "sass-0477",
    "sass-0478",
    "sass-0482",
    "sass-0485",
    "sass-0486",
];

/// The row in which ptxas unrolled a loop around the load.
const UNROLLED: &str = "sass-0791";

/// The opcode of a load without `.U` of 128 bits, which ptxas decides by what it knows of the address.
fn by_itself(load: &Instruction) -> String {
    load.opcode().to_string().replace(".U.128", ".128")
}

/// At levels of optimization, for 32-bit addresses and on every SM 5.x and 6.x. The loads whose whole text is that of
/// ptxas are counted: the others differ where it follows a value from one instruction to the next, or turns a guard into
/// a branch.
#[test]
fn loads_by_themselves_are_those_of_ptxas() {
    let (mut modules, mut loads, mut whole) = (0, 0, 0);
    for row in rows() {
        let is_other =
            |flag: &String| !["-O1", "-O2", "-O3", "-m32", "-c"].contains(&flag.as_str());
        let is_removed = REMOVED.contains(&row.id.as_str()) || row.id == UNROLLED;
        if row.flags.iter().any(is_other) || is_removed {
            continue;
        }
        let got = lowered(&row.module);
        let of = |loads: &[Instruction]| loads.iter().map(by_itself).collect::<Vec<_>>();
        assert_eq!(of(&got), of(&row.loads), "{} {:?}", row.id, row.flags);
        modules += 1;
        loads += got.len();
        whole += got.iter().zip(&row.loads).filter(|(one, other)| form(one) == form(other)).count();
    }
    assert_eq!((modules, loads, whole), (569, 595, 526));
}

/// Each load begins with the same numbers, and its registers and predicates hold one value each.
#[test]
fn registers_of_a_load_are_apart() {
    let mut bodies = vec!["@%p1 ld.const.v4.u64 {%rd1,_,_,%rd2}, [%rd3];".to_owned()];
    for guard in ["", "@%p1 "] {
        bodies.push(format!("{guard}ld.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd1+8];"));
        bodies.push(format!("{guard}ld.global.v2.u32 {{%r1, %r2}}, [%rd1];"));
        bodies.push(format!("{guard}ld.shared.u32 %r1, [%rd1];"));
        bodies.push(format!("{guard}ld.const.v4.u16 {{%r1, %r2, %r3, %r4}}, [%r1+0x7ffc];"));
    }
    for body in bodies {
        let source = module_of(&body);
        let module = read(&source).unwrap();
        let load = lower(&module).next().unwrap().unwrap();
        assert!(!load.instructions.is_empty(), "{body}");
        for load in &load.instructions {
            let op = LoadOp::try_from(load).unwrap();
            let prepared = Prepared::new(load, RegisterLimit::ALL).unwrap();
            assert_eq!(prepared.fault(), None, "{load}");
            let parts = load.parts();
            let first = parts.destination.register().unwrap().number();
            let base = parts.address.base.number();
            let base_count = if parts.address.extended { 2 } else { 1 };
            let is_apart = first + op.registers() as u8 <= base || base + base_count <= first;
            assert!(is_apart, "{load}");
        }
        let held = load.bindings.iter().filter_map(|binding| match binding {
            Binding::Address { register, .. } | Binding::Destination { register, .. } => {
                Some(register.to_string())
            }
            Binding::Plg { predicate, .. } | Binding::Guard { predicate, .. } => {
                Some(predicate.to_string())
            }
            Binding::Frame { .. } | Binding::Constant { .. } => None,
        });
        let mut seen = BTreeSet::new();
        assert!(held.into_iter().all(|held| seen.insert(held)), "{:?}", load.bindings);
    }
}

/// In compiler output, every load has an instruction or becomes an operand.
#[test]
fn modules_of_clang_are_lowered() {
    let mut count = 0;
    for (name, source) in crate::compiled::modules() {
        for load in lower(&read(&source).unwrap()) {
            let load = load.unwrap_or_else(|error| panic!("{name}: {error}"));
            count += load.instructions.len();
        }
    }
    assert!(count > 500, "{count}");
}

fn module_of(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_70\n.address_size 64\n.func (.param .b64 r) f(.param .b64 p);\n\
         .entry k(.param .u64 p, .param .u64 q) {{\n.reg .pred %p<3>; .reg .b64 %rd<4>;\n\
         .reg .b32 %r<5>; .param .b64 p0; .param .b64 r0;\n{body}\nret; }}"
    )
}

fn texts(body: &str) -> Vec<String> {
    let source = module_of(body);
    let module = read(&source).unwrap();
    let lowered = lower(&module).filter_map(Result::ok);
    lowered.flat_map(|load| load.instructions).map(|load| load.to_string()).collect()
}

/// A destination may also be the address. All pieces of a load must read the address before it is overwritten.
#[test]
fn parts_of_a_load_share_its_address() {
    assert_eq!(
        texts("ld.const.v4.u32 {%r1,%r2,%r3,%r4}, [%r1];"),
        [
            "LDC R3, c[0x3][R2]",
            "LDC R4, c[0x3][R2+0x4]",
            "LDC R5, c[0x3][R2+0x8]",
            "LDC R6, c[0x3][R2+0xc]"
        ]
    );
}

/// `.U` of a shared load is independent of its address.
#[test]
fn shared_loads_are_uniform_whatever_their_address() {
    let body = "mov.u32 %r1, %tid.x; ld.shared.u8 %r2, [%r1]; ld.shared.u32 %r3, [64];
        ld.shared.v2.u32 {%r2,%r4}, [%r3+8];";
    let expected = ["LDS.U.U8 R3, [R2]", "LDS.U.32 R2, [0x40]", "LDS.U.64 R4, [R2+0x8]"];
    assert_eq!(texts(body), expected);
}
