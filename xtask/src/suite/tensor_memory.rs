//! `tensor-memory`: the cases of `ptx/tests/tensor_memory/cases.jsonl`.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::case::{Case, CaseFile, Cases, DOCUMENT, Family, Head, MODEL};
use super::flag::{Flag, flag, notes};
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family { name: "tensor-memory", cases, flags: || notes(FLAGS) };

const CASES: &str = "ptx/tests/tensor_memory/cases.jsonl";

/// The keys of a case that decide its flags and its source.
#[derive(Deserialize)]
struct Row {
    id: String,
    kind: String,
    shape: String,
    num: i64,
    pack: bool,
    split: Option<i64>,
    conf: String,
    expect: Outcome,
    op: Option<String>,
    #[serde(default)]
    nan: bool,
    #[serde(default)]
    abs: bool,
    lane_mode: Option<String>,
    alloc: Option<serde_json::Value>,
    taddr: i64,
}

#[derive(Deserialize)]
struct Outcome {
    error: Option<String>,
    code: Option<String>,
}

impl Row {
    fn is_code(&self, code: &str) -> bool {
        self.expect.code.as_deref() == Some(code)
    }

    /// Whether docs/tensor-memory.md marks the expectation as a conclusion that no source states.
    fn is_decision(&self) -> bool {
        let is_missing = self.is_code("column-range") || self.is_code("column-unallocated");
        self.conf == "inferred" || self.lane_mode.is_some() || is_missing
    }

    fn is_error(&self, error: &str) -> bool {
        self.expect.error.as_deref() == Some(error)
    }
}

#[rustfmt::skip]
const FLAGS: &[Flag<Row>] = &[
    flag("absolute", "A reduction of absolute values, `.abs`.", |row| row.abs),
    flag("allocation", "Only some columns are allocated.", |row| row.alloc.is_some()),
    flag("column-align", "A column that is not a multiple of the shape's alignment.", |row| row.is_code("column-align")),
    flag("column-range", "Columns beyond the end of the memory.", |row| row.is_code("column-range")),
    flag("column-unallocated", "Columns that are not allocated.", |row| row.is_code("column-unallocated")),
    flag("illegal", "The assembler refuses the instruction.", |row| row.is_error("assemble")),
    flag("lane-align", "A lane that is not a multiple of the shape's alignment.", |row| row.is_code("lane-align")),
    flag("lane-slab", "A lane that the warp does not reach.", |row| row.is_code("lane-slab")),
    flag("lane-wrap", "Lanes that are taken modulo 32, within the warp's lanes.", |row| row.lane_mode.is_some()),
    flag("nan", "A reduction that propagates NaN, `.NaN`.", |row| row.nan),
    flag("num-illegal", "A repetition that the shape does not have.", |row| row.is_code("num")),
    flag("num-large", "A repetition of 32 or more.", |row| row.num >= 32),
    flag("num-one", "No repetition.", |row| row.num == 1),
    flag("pack", "Two columns of 16 bits in a register, `.pack::16b`.", |row| row.pack),
    flag("reduction", "A load with a reduction, `tcgen05.ld.red`.", |row| row.op.is_some()),
    flag("reduction-illegal", "A reduction with an unsupported shape or modifier.", |row| {
        row.expect.code.as_deref().is_some_and(|code| code.starts_with("red-"))
    }),
    flag("shape-16x128b", "The shape 16x128b.", |row| row.shape == "16x128b"),
    flag("shape-16x256b", "The shape 16x256b.", |row| row.shape == "16x256b"),
    flag("shape-16x32bx2", "The shape 16x32bx2.", |row| row.shape == "16x32bx2"),
    flag("shape-16x64b", "The shape 16x64b.", |row| row.shape == "16x64b"),
    flag("shape-32x32b", "The shape 32x32b.", |row| row.shape == "32x32b"),
    flag("shape-illegal", "A shape that does not exist.", |row| row.is_code("shape")),
    flag("spanning-lanes", "The address has a lane other than the first of a warp's 32.", |row| (row.taddr >> 16) & 31 != 0),
    flag("split", "A distance between the two halves of the columns.", |row| row.split.is_some()),
    flag("split-illegal", "The distance is missing, or given for a shape that has none.", |row| row.is_code("split-operand")),
    flag("split-range", "The second half is beyond the end of the memory.", |row| row.is_code("split-range")),
    flag("undefined", "The load faults.", |row| row.is_error("undefined")),
];

fn cases(sources: &Sources) -> Result<Cases> {
    let text = sources.text(CASES)?;
    let mut files = [
        ("tcgen05-ld", Vec::new()),
        ("tcgen05-ld-red", Vec::new()),
        ("undefined", Vec::new()),
        ("illegal", Vec::new()),
    ];
    for line in text.lines() {
        let row: Row = serde_json::from_str(line)?;
        let instruction = match &*row.kind {
            "ld" => 0,
            "ld_red" => 1,
            "undefined" => 2,
            _ => 3,
        };
        if let Some((_, cases)) = files.get_mut(instruction) {
            cases.push(case(&row, line)?);
        }
    }
    let files =
        files.map(|(instruction, cases)| CaseFile { instruction: instruction.into(), cases });
    Ok(Cases { files: files.into(), ..Cases::default() })
}

/// The keys of a question, in the order of the output. Others describe the case. `kind` and `conf` are left out,
/// because they would give the outcome away.
const QUESTION: [&str; 14] = [
    "shape",
    "num",
    "pack",
    "split",
    "op",
    "type",
    "abs",
    "nan",
    "warp",
    "taddr",
    "hw_align",
    "alloc",
    "lane_mode",
    "tmem",
];

fn case(row: &Row, line: &str) -> Result<Case> {
    let mut values: Map<String, Value> = serde_json::from_str(line)?;
    for key in ["id", "kind", "conf", "note"] {
        values.remove(key);
    }
    let expected = values.remove("expect").context("nothing is expected")?.to_string();
    let question = QUESTION.iter().filter_map(|key| Some((key, values.remove(*key)?)));
    let question: Vec<String> = question.map(|(key, value)| format!("\"{key}\":{value}")).collect();
    ensure!(values.is_empty(), "{}: unknown keys {:?}", row.id, values.keys());
    let source = if row.conf == "documented" { DOCUMENT } else { MODEL };
    let head = Head { is_decision: row.is_decision(), ..Head::of(FLAGS, row, source) };
    Ok(head.asking("tensor-memory", &question.join(","), &expected))
}
