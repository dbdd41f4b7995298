//! Modules with the loads that ptxas emitted for them.

use std::io::Read;

use serde_json::Value;
use warpload::encoding::{Instruction, Sm};
use warpload_ptx::lower::OptimizationLevel;
use warpload_ptx::{lower, read};

/// A module, and the loads that ptxas emitted for it.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) arch: String,
    pub(crate) flags: Vec<String>,
    pub(crate) module: String,
    pub(crate) loads: Vec<Instruction>,
}

/// Reads the rows of a corpus. A load is a text, or an object that contains it.
pub(crate) fn rows(packed: &[u8]) -> Vec<Row> {
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
            let (id, arch, module) = (string("id"), string("arch"), string("module"));
            Row { id, arch, flags: texts(&row["flags"]), module, loads }
        })
        .collect()
}

/// The optimization level of a row; `None` if its options change the default cache operators.
pub(crate) fn level(row: &Row) -> Option<OptimizationLevel> {
    let mut level = OptimizationLevel::O3;
    for flag in &row.flags {
        level = match flag.as_str() {
            "-O0" | "-g" => OptimizationLevel::O0,
            "-O1" => OptimizationLevel::O1,
            "-O2" => OptimizationLevel::O2,
            "-O3" | "-m32" | "-c" => level,
            _ => return None,
        };
    }
    Some(level)
}

pub(crate) fn lowered(source: &str, level: OptimizationLevel) -> Vec<Instruction> {
    let module = read(source).unwrap();
    lower(&module, level).flat_map(|load| load.unwrap().instructions).collect()
}

/// The whole text, without the numbers of registers and predicates.
pub(crate) fn form(load: &Instruction) -> String {
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

pub(crate) fn forms(loads: &[Instruction]) -> Vec<String> {
    loads.iter().map(form).collect()
}

/// The forms sorted, because ptxas moves loads, and without guards, because ptxas inverts comparisons and, at level 0,
/// branches.
pub(crate) fn sorted_forms(loads: &[Instruction]) -> Vec<String> {
    let unguarded = |form: &String| form.trim_start_matches(['@', '!']).replace("P LD", "LD");
    let mut forms: Vec<String> = forms(loads).iter().map(unguarded).collect();
    forms.sort();
    forms
}
