//! Compares the tables of docs/load-sm70.md with the encoding. `UPDATE_EXPECT=1` rewrites the text between their
//! markers.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use warpload_encoding::{Decoded, FieldReading, Instruction, Sm};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/load-sm70.md");

/// An opcode, and bit 91, which chooses between two forms of it.
type Key = (u128, u128);

/// High bit, low bit, name, purpose and fixed value.
type Row = (u8, u8, &'static str, &'static str, Option<u64>);

/// A form of a load on all SMs that have it.
#[derive(Default)]
struct Form {
    sms: BTreeSet<Sm>,
    example: String,
    rows: BTreeMap<Row, BTreeSet<Sm>>,
    unread: BTreeMap<(u8, u8), BTreeSet<Sm>>,
}

fn sms() -> impl DoubleEndedIterator<Item = Sm> {
    Sm::all().filter(|sm| sm.has_wide_words()).collect::<Vec<Sm>>().into_iter()
}

fn forms() -> Vec<(Key, Form)> {
    let mut forms: Vec<(Key, Form)> = Vec::new();
    for sm in sms() {
        for load in Instruction::forms(sm) {
            let key = (load.bits() & 0xfff, load.bits() >> 91 & 1);
            let at = forms.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                forms.push((key, Form::default()));
                forms.len() - 1
            });
            let form = &mut forms[at].1;
            form.sms.insert(sm);
            form.example = example(load);
            for reading in load.describe() {
                let (high, low) = (reading.field().high(), reading.field().low());
                if !reading.is_reserved() {
                    let fixed = reading.fixed().filter(|_| reading.name() != "opcode");
                    let row = (high, low, reading.name(), reading.purpose(), fixed);
                    form.rows.entry(row).or_default().insert(sm);
                } else {
                    form.unread.entry((high, low)).or_default().insert(sm);
                }
            }
        }
    }
    let mnemonic = |form: &Form| form.example.split(['.', ' ']).next().unwrap().to_owned();
    let mut order: Vec<String> = Vec::new();
    for (_, form) in &forms {
        if !order.contains(&mnemonic(form)) {
            order.push(mnemonic(form));
        }
    }
    forms.sort_by_key(|(_, form)| order.iter().position(|name| *name == mnemonic(form)));
    forms
}

/// An instruction's text with some registers and an offset.
fn example(load: Instruction) -> String {
    let mut word = load.bits();
    let mut has_offset = false;
    for reading in load.describe().collect::<Vec<_>>().into_iter().rev() {
        let number = match reading.name() {
            // The high bits of an offset.
            "off" if has_offset => continue,
            "off" if reading.to_string().contains("units") => 1,
            "off" | "soff" => 0x10,
            "Rd" | "URd" => 8,
            "Ra" => 2,
            "UR" if reading.fixed().is_none() => 4,
            "URa" => 6,
            "R1st" | "UR1st" => 12,
            "bank" => 3,
            "64" | "E" | "num" => 1,
            _ => continue,
        };
        has_offset |= reading.name() == "off";
        word = reading.field().with(word, number);
    }
    match Instruction::decode(word, load.sm()) {
        Decoded::Load(load) => load.text().to_string(),
        other => panic!("{word:#034x}: {other:?}"),
    }
}

/// SMs as a reader would list them, `7.5, 8.0 to 9.0`.
fn list(of: &BTreeSet<Sm>) -> String {
    let all: Vec<Sm> = sms().collect();
    let name = |sm: Sm| format!("{}.{}", sm.number() / 10, sm.number() % 10);
    let mut runs: Vec<Vec<Sm>> = Vec::new();
    let mut last = None;
    for (at, sm) in all.iter().enumerate().filter(|(_, sm)| of.contains(sm)) {
        match runs.last_mut() {
            Some(run) if last == at.checked_sub(1) => run.push(*sm),
            _ => runs.push(vec![*sm]),
        }
        last = Some(at);
    }
    let text = |run: &Vec<Sm>| match run[..] {
        [one] => name(one),
        [one, two] => format!("{}, {}", name(one), name(two)),
        [first, .., last] => format!("{} to {}", name(first), name(last)),
        [] => String::new(),
    };
    runs.iter().map(text).collect::<Vec<String>>().join(", ")
}

/// The SMs of a row; empty if the whole form has the same SMs.
fn list_in(of: &BTreeSet<Sm>, form: &Form) -> String {
    if *of == form.sms { String::new() } else { list(of) }
}

fn bits(high: u8, low: u8) -> String {
    if high == low { high.to_string() } else { format!("{high}:{low}") }
}

fn row_text((high, low, name, purpose, fixed): Row) -> String {
    let fixed = fixed.map_or(String::new(), |value| format!("; must be {value}"));
    format!("| {} | {name} | {purpose}{fixed} |", bits(high, low))
}

/// The rows that most forms have on all of their SMs.
fn common(forms: &[(Key, Form)]) -> BTreeSet<Row> {
    let mut count: BTreeMap<Row, usize> = BTreeMap::new();
    for (_, form) in forms {
        for (row, _) in
            form.rows.iter().filter(|(row, sms)| row.0 < 16 && **sms == form.sms || row.1 >= 102)
        {
            *count.entry(*row).or_default() += 1;
        }
    }
    count.into_iter().filter(|(_, n)| 2 * n > forms.len()).map(|(row, _)| row).collect()
}

fn opcodes() -> String {
    let mut text = String::from("| opcode | bit 91 | SMs | such as |\n|---|---|---|---|\n");
    for ((opcode, bit), form) in forms() {
        let has_bit = form.rows.keys().any(|row| row.1 == 91);
        let bit = if has_bit { bit.to_string() } else { "not read".to_owned() };
        let example = &form.example;
        writeln!(text, "| {opcode:#05x} | {bit} | {} | `{example}` |", list(&form.sms)).unwrap();
    }
    text
}

fn common_fields() -> String {
    let mut text = String::from("| bits | field | decides |\n|---|---|---|\n");
    for row in common(&forms()).into_iter().rev() {
        writeln!(text, "{}", row_text(row)).unwrap();
    }
    text
}

/// One row per list of value names, with the loads that have it.
fn values() -> String {
    let mut of_load: BTreeMap<&str, BTreeSet<Sm>> = BTreeMap::new();
    let mut lists: BTreeMap<(String, &str, String), BTreeMap<&str, BTreeSet<Sm>>> = BTreeMap::new();
    for sm in sms() {
        for load in Instruction::forms(sm) {
            let mnemonic = load.mnemonic();
            of_load.entry(mnemonic).or_default().insert(sm);
            for reading in load.describe().filter(|reading| reading.value_names().len() > 0) {
                let name = reading.name();
                let list = lists.entry((name.to_lowercase(), name, meanings(reading))).or_default();
                list.entry(mnemonic).or_default().insert(sm);
            }
        }
    }
    let mut text = String::from("| field | of | values |\n|---|---|---|\n");
    for ((_, name, values), loads) in lists {
        let loads = loads.into_iter().map(|(mnemonic, sms)| {
            if sms == of_load[mnemonic] {
                mnemonic.to_owned()
            } else {
                format!("{mnemonic} ({})", list(&sms))
            }
        });
        let loads = loads.collect::<Vec<String>>().join(", ");
        writeln!(text, "| {name} | {loads} | {values} |").unwrap();
    }
    text
}

/// The meaning of each value of a field, after its number.
fn meanings(reading: FieldReading) -> String {
    let of = |(number, name): (u64, &str)| {
        let meaning = reading.of_value(number).to_string();
        match (name, meaning.split_once(": "), meaning.split_once(" (text only")) {
            ("", ..) => format!("{number} *{meaning}*"),
            (_, Some((_, "not to be executed")), _) | (_, _, Some(_)) => {
                format!("{number} `{name}`")
            }
            (_, Some((_, meaning)), _) => format!("{number} `{name}` {meaning}"),
            _ => panic!("{meaning}"),
        }
    };
    (0..).zip(reading.value_names()).map(of).collect::<Vec<String>>().join("; ")
}

fn fields() -> String {
    let forms = forms();
    let common = common(&forms);
    let mut text = String::new();
    for ((opcode, _), form) in &forms {
        write!(text, "\n**{opcode:#05x}** `{}`, SM {}\n\n", form.example, list(&form.sms)).unwrap();
        text += "| bits | field | decides | SMs |\n|---|---|---|---|\n";
        for (row, sms) in form.rows.iter().rev().filter(|(row, _)| !common.contains(row)) {
            writeln!(text, "{} {} |", row_text(*row), list_in(sms, form)).unwrap();
        }
        let unread = form.unread.iter().rev().filter(|(field, _)| field.0 < 102);
        let unread = unread.map(|((high, low), sms)| {
            let sms = list_in(sms, form);
            let bits = bits(*high, *low);
            if sms.is_empty() { bits } else { format!("{bits} ({sms})") }
        });
        let unread: Vec<String> = unread.collect();
        writeln!(text, "\nNot read: {}.", unread.join("; ")).unwrap();
    }
    text
}

#[test]
fn the_tables_are_those_of_the_encoding() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let mut renewed = String::new();
    let mut rest = page.as_str();
    for (name, table) in [
        ("opcodes", opcodes()),
        ("common fields", common_fields()),
        ("values", values()),
        ("fields", fields()),
    ] {
        let begin = format!("<!-- {name}, from the encoding -->\n");
        let (before, after) = rest.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = after.split_once("<!-- end -->").unwrap();
        write!(renewed, "{before}{begin}{table}<!-- end -->").unwrap();
        rest = after;
    }
    renewed += rest;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return std::fs::write(PAGE, renewed).unwrap();
    }
    for (line, (expected, actual)) in (1..).zip(renewed.lines().zip(page.lines())) {
        assert_eq!(actual, expected, "docs/load-sm70.md:{line}; UPDATE_EXPECT=1 renews the tables");
    }
    assert_eq!(page, renewed);
}
