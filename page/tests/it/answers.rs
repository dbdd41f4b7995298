//! The answers of the tools.

use std::collections::BTreeSet;

use serde_json::Value;
use warpload::encoding::{Instruction, Sm};
use warpload::memory::mix;
use warpload_page::{
    BanksFields, DecodeFields, EncodeFields, PtxFields, RunFields, TensorFields, banks, decode,
    encode, ptx, run, tensor,
};

use crate::{examples, here};

fn decoded(sm: &str, input: &str) -> warpload_page::Decoded {
    decode(&DecodeFields { sm: sm.to_owned(), input: input.to_owned() })
}

fn encoded(sm: &str, text: &str) -> EncodeFields {
    EncodeFields { sm: sm.to_owned(), text: text.to_owned(), ..EncodeFields::default() }
}

#[test]
fn words_instructions_and_listings_are_decoded() {
    for (sm, input, expected) in [
        ("80", "0x000ea8000c1e19000000100404007981", "LDG.E R0, [R4.64+0x10]"),
        ("80", "000ea8000c1e19000000100404007981", "LDG.E R0, [R4.64+0x10]"),
        ("80", "/* 0x0000100404007981 */\n /* 0x000ea8000c1e1900 */", "LDG.E R0, [R4.64+0x10]"),
        ("50", "0x84e0000000070104", "LD.U.128 R4, [R1], P1"),
        ("52", "LD R0, [R2], P0", "LD R0, [R2], P0"),
        ("52", "--:-:1:-:2 LD R0, [R2], P0;", "LD R0, [R2], P0"),
        ("52", "/*0008*/ LD R0, [R2], P0 ; /* 0x8080000000070200 */", "LD R0, [R2], P0"),
    ] {
        let found = decoded(sm, input);
        assert_eq!((found.count, &*found.loads[0].load.text), (1, expected), "{input}");
        assert!(found.problems.is_empty(), "{input}");
    }
    let two = decoded("80", "LDG.E R0, [R4.64]\n\nLDS R1, [R2]\n");
    assert_eq!((two.count, &*two.loads[1].load.text), (2, "LDS R1, [R2]"));
}

#[test]
fn a_listing_names_functions_and_scheduling() {
    let listing = "\tcode for sm_50\n\t\tFunction : chase\n\
        \t\t\t\t/* 0x001fc400fe2007f6 */\n\
        \t/*0008*/ LD.E.64 R6, [R4], P0 ; /* 0x80b0000000070406 */\n\
        \t/*0010*/ MOV R1, R2 ; /* 0x5c98078000270001 */\n";
    // The SM in the listing takes precedence over the chosen one.
    let found = decoded("90", listing);
    assert_eq!((found.instructions, found.count), (2, 1));
    let load = &found.loads[0];
    assert_eq!(load.function.as_deref(), Some("chase"));
    assert_eq!((load.offset.as_deref(), &*load.load.sm), (Some("0x8"), "50"));
    let control = load.load.control.as_ref().unwrap();
    assert_eq!((&*control.cuassembler, control.fields.len()), ("[B------:R-:W-:-:S06]", 6));
}

#[test]
fn a_listing_without_an_sm_is_of_the_chosen_one() {
    let later = "\t/*0010*/  LDG.E R0, desc[UR4][R2.64] ;  /* 0x0000000402007981 */\n\
        \t\t\t/* 0x000ea2000c1e1900 */\n";
    let found = decoded("90", later);
    assert_eq!((found.count, &*found.loads[0].load.sm), (1, "90"), "{found:?}");
    assert_eq!(decoded("50", later).problems[0].field, "sm");
    // 64-bit words have the same meaning on every SM that has them.
    let file = here("../tests/data/listings/gather.sm_50.nvdisasm.txt");
    let earlier = std::fs::read_to_string(file).unwrap();
    let counts = ["50", "61", "90"].map(|sm| {
        let found = decoded(sm, &earlier);
        (found.count, found.problems.len())
    });
    assert!(counts[0].0 > 0 && counts == [(counts[0].0, 0); 3], "{counts:?}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (sm, input, expected) in [
        ("80", "0x0", "is not a load of SM 80"),
        ("5", "0x0", "unknown SM"),
        ("50", "0x000ea8000c1e19000000100404007981", "expected 0x and up to 16"),
        ("80", "LDG.E.96 R4, [R2.64]", "unknown modifier"),
        ("80", "hello\nworld", "no SASS listing line"),
    ] {
        let problems = decoded(sm, input).problems;
        assert!(problems[0].title.contains(expected), "{input}: {problems:?}");
    }
    let problem = &encode(&encoded("50", "LD R0, [R1], !P0")).problems[0];
    assert_eq!(problem.field, "text");
    assert!(
        problem.drawing.contains("LD R0, [R1], !P0\n  |              ^"),
        "{}",
        problem.drawing
    );
}

#[test]
fn text_and_word_follow_each_other() {
    let first = encode(&encoded("80", "LDG.E.64 R4, [R2.64+0x10]"));
    let word = EncodeFields { word: first.load.word.clone(), ..encoded("80", "") };
    assert_eq!(encode(&word).load, first.load);
    // Bits that the text does not show are kept.
    let scheduled = "0x000ea8000c1e19000000100404007981";
    let both = EncodeFields { word: scheduled.to_owned(), ..encoded("80", "LDG.E R8, [R4.64]") };
    assert_eq!(encode(&both).load.word, "0x000ea8000c1e19000000000404087981");
    // The text takes precedence over an invalid word.
    let broken = EncodeFields { word: "0xgg".to_owned(), ..encoded("80", "LDG.E R8, [R4.64]") };
    assert_eq!(encode(&broken).load.text, "LDG.E R8, [R4.64]");
    assert_eq!(encode(&encoded("80", "")).problems, []);
}

/// On every SM, a load with a field changed to one of its choices decodes with that choice.
#[test]
fn fields_change_words() {
    for sm in Sm::all() {
        for form in Instruction::forms(sm) {
            let start =
                EncodeFields { word: form.word().to_string(), ..encoded(&sm.to_string(), "") };
            let fields = encode(&start).fields;
            for field in &fields {
                for choice in field.choices.iter().filter(|choice| choice.is_legal).take(3) {
                    let (bits, value) = (field.bits.clone(), choice.value.clone());
                    let edited = encode(&EncodeFields { bits, value, ..start.clone() });
                    let now = edited.fields.iter().find(|now| now.bits == field.bits);
                    let now = now.unwrap_or_else(|| panic!("{form} {}: {edited:?}", field.bits));
                    assert_eq!(now.raw, choice.value, "{form} {}", field.name);
                }
            }
        }
    }
    let edit = |bits: &str, value: &str| {
        let (bits, value) = (bits.to_owned(), value.to_owned());
        encode(&EncodeFields { bits, value, ..encoded("80", "LDG.E R4, [R2.64]") })
    };
    assert_eq!(edit("31:24", "6").load.text, "LDG.E R4, [R6.64]");
    assert_eq!(edit("31:24", "256").problems[0].title, "Ra has 8 bits: at most 0xff");
    assert_eq!(edit("31:25", "6").problems[0].title, "the word has no such field");
    assert!(edit("11:0", "0").problems[0].title.contains("is not a load of SM 80"));
}

#[test]
fn the_control_slot_goes_with_words_of_64_bits() {
    let text = encoded("60", "@!P2 LD.E.64 R4, [R2], P0 &req={0} &wr=1 ?WAIT2_END_GROUP");
    let first = encode(&text);
    let control = first.load.control.as_ref().unwrap();
    assert_eq!(control.nvidia, "&req={0} &wr=1 ?WAIT2_END_GROUP");
    let word = EncodeFields {
        word: first.load.word.clone(),
        control: control.slot.clone(),
        bits: "control 3:0".to_owned(),
        value: "7".to_owned(),
        ..encoded("60", "")
    };
    let changed = encode(&word).load.control.unwrap();
    assert_eq!(changed.nvidia, "&req={0} &wr=1 ?WAIT7_END_GROUP");
    let wide = EncodeFields { control: "0x1".to_owned(), ..encoded("80", "LDG.E R4, [R2.64]") };
    assert!(encode(&wide).control.is_empty());
}

#[test]
fn a_load_runs_on_all_lanes() {
    let fields = RunFields {
        sm: "80".to_owned(),
        instruction: "@!P1 LDG.E.64 R4, [R2.64+0x8]".to_owned(),
        base: "start + lane * 24".to_owned(),
        values: "start=0x123400000".to_owned(),
        mask: "0xffff".to_owned(),
    };
    let ran = run(&fields);
    assert_eq!((&*ran.base, ran.faults.len()), ("R2 and R3", 0));
    assert_eq!((&*ran.addresses[1], &*ran.addresses[16]), ("0x123400020", ""));
    let eight = mix(0x1_2340_0020 / 8);
    let names: Vec<&str> = ran.registers.iter().map(|register| &*register.name).collect();
    assert_eq!(names, ["R4", "R5"]);
    assert_eq!(ran.registers[0].values[1], format!("{:#010x}", eight as u32));
    assert_eq!(ran.registers[1].values[1], format!("{:#010x}", eight >> 32));
    assert_eq!(ran.registers[1].values[16], "");
    let access = ran.access.unwrap();
    assert_eq!(access.result, "global memory, 8 bytes a lane: 12 sectors in 3 lines; ideal 4");

    let misaligned = run(&RunFields { base: "lane * 9".to_owned(), ..fields.clone() });
    assert!(misaligned.faults[0].contains("MISALIGNED_ADDR"), "{:?}", misaligned.faults);
    let odd = RunFields { instruction: "LDG.E.64 R3, [R2.64]".to_owned(), ..fields.clone() };
    let odd = run(&odd);
    assert!(odd.faults[0].starts_with("misaligned_register") && odd.access.is_none());
    let negative = run(&RunFields { base: "lane - 1".to_owned(), ..fields });
    assert_eq!(negative.problems[0].title, "lane 0: the address -1 is below 0");
}

/// Each form that can be executed has values, and each other one a reason.
#[test]
fn every_form_runs_or_says_why_not() {
    let mut ran = 0;
    for sm in Sm::all() {
        for form in Instruction::forms(sm) {
            let answer = run(&RunFields {
                sm: sm.to_string(),
                instruction: form.word().to_string(),
                base: "0x1000 + lane * 32".to_owned(),
                ..RunFields::default()
            });
            assert!(
                answer.problems.is_empty() != answer.load.text.is_empty(),
                "{form}: {answer:?}"
            );
            ran += usize::from(answer.problems.is_empty());
        }
    }
    assert!(ran > 100, "{ran}");
    let generic = |base: &str| {
        let instruction = "LD.E R0, [R2.64]".to_owned();
        let fields = RunFields { sm: "80".to_owned(), instruction, ..RunFields::default() };
        run(&RunFields { base: base.to_owned(), ..fields }).access.unwrap().result
    };
    assert!(generic("lane * 4").starts_with("global memory"));
    let shared = generic("0xfe000000 + lane * 128");
    assert!(shared.contains("32 wavefronts, 31 of them bank conflicts"), "{shared}");
}

#[test]
fn bank_conflicts_are_those_of_the_command() {
    let fields = |access: &str| BanksFields {
        access: access.to_owned(),
        bytes: "4".to_owned(),
        space: "shared".to_owned(),
        ..BanksFields::default()
    };
    let result = |access| banks(&fields(access)).result;
    let column = "shared memory, 4 bytes a lane: 32 wavefronts, 31 of them bank conflicts; ideal 1";
    assert_eq!(result("lane * 128"), column);
    assert_eq!(
        result("lane * 132"),
        "shared memory, 4 bytes a lane: 1 wavefront, no bank conflicts; ideal 1"
    );
    let all = banks(&BanksFields {
        range: "col=0..32".to_owned(),
        values: "row=0".to_owned(),
        ..fields("(row + lane) * 128 + (lane ^ col) * 4")
    });
    assert_eq!(all.values.len(), 32);
    assert!(all.values.iter().all(|one| one.amount == 1));
    let layout = banks(&BanksFields {
        matrices: "4".to_owned(),
        element: "2".to_owned(),
        ..fields("Sw<3,3,3> o (16,2):(64,8)")
    });
    assert!(layout.result.starts_with("LDSM of 4 matrices: 4 wavefronts"), "{}", layout.result);
    let problem = |fields: BanksFields| banks(&fields).problems.remove(0);
    assert_eq!(problem(fields("lane * row")).title, "`row` has no value");
    assert!(problem(fields("lane * row")).help.as_deref() == Some("give it a value: row=0"));
    assert_eq!(problem(BanksFields { mask: "0".to_owned(), ..fields("lane") }).field, "mask");
    let endless = BanksFields { range: "i=0..9999999999".to_owned(), ..fields("lane * i") };
    assert_eq!(problem(endless).field, "range");
    let none = BanksFields { element: "0".to_owned(), ..fields("(8,4):(1,8)") };
    assert_eq!(problem(none).field, "element");
}

#[test]
fn cells_of_tensor_memory_are_drawn() {
    let drawn = tensor(&TensorFields {
        shape: "16x256b".to_owned(),
        repeat: "x2".to_owned(),
        ..TensorFields::default()
    });
    assert!(drawn.text.starts_with("tcgen05.ld"), "{}", drawn.text);
    assert!(drawn.svg.starts_with("<svg"));
    let half = tensor(&TensorFields {
        instruction: "LDTM.16dp256bit.x4 R4, tmem[UR4]".to_owned(),
        sm: "100".to_owned(),
        ..TensorFields::default()
    });
    assert!(half.problems.is_empty() && half.text.contains("16x256b"), "{half:?}");
    let wrong = |shape: &str, repeat: &str| {
        let (shape, repeat) = (shape.to_owned(), repeat.to_owned());
        tensor(&TensorFields { shape, repeat, ..TensorFields::default() }).problems[0].field
    };
    assert_eq!(wrong("16x16b", "x1"), "shape");
    assert_eq!(wrong("16x256b", "x128"), "repeat");
    assert_eq!(wrong("16x256b", ""), "repeat");
}

#[test]
fn places_of_rules_are_utf_16() {
    let source = "// \u{e9}\u{1f600}\n.version 8.8\n.target sm_90\n.address_size 64\n\
        .entry k() {\n.reg .b32 %r<9>; .reg .b64 %rd;\nld.global.cg.volatile.u32 %r1, [%rd];\n}\n";
    let verdicts = ptx(&PtxFields { source: source.to_owned(), part: String::new() });
    let units: Vec<u16> = source.encode_utf16().collect();
    let rules: Vec<_> = verdicts.verdicts.iter().flat_map(|one| &one.violations).collect();
    assert!(!rules.is_empty());
    let mut texts = Vec::new();
    for rule in rules {
        texts.push(String::from_utf16(&units[rule.start..rule.end]).unwrap());
        assert!(rule.drawing.contains(rule.rule), "{}", rule.drawing);
    }
    assert!(texts.iter().any(|text| source.contains(text) && text.is_ascii()), "{texts:?}");
    let broken = ptx(&PtxFields { source: ".version".to_owned(), part: String::new() });
    assert_eq!(broken.problems[0].field, "source");
}

/// The page asks while a user types, so texts are cut after each letter.
#[test]
fn no_input_panics() {
    let texts = examples().into_iter().flat_map(|example| {
        example.fields.into_iter().map(|(_, value)| value.as_str().unwrap().to_owned())
    });
    let mut texts: BTreeSet<String> = texts.collect();
    texts.extend(
        ["\u{e9}", "\0", "0x", "-1", "%", "{}", "🦀🦀", "lane*", "col=0..", "@"].map(str::to_owned),
    );
    let tools: [(&str, &[&str]); 6] = [
        ("decode", &["input", "sm"]),
        ("encode", &["text", "word", "control", "bits", "value", "sm"]),
        ("run", &["instruction", "base", "values", "mask", "sm"]),
        ("banks", &["access", "range", "values", "mask", "element", "matrices", "bytes", "space"]),
        ("tensor", &["shape", "repeat", "instruction", "sm"]),
        ("ptx", &["source"]),
    ];
    // A valid form, except for one field.
    let right = serde_json::json!({
        "sm": "80", "instruction": "LDG.E R4, [R2.64]", "base": "lane * 4", "access": "lane * 4",
        "bytes": "4", "space": "shared", "text": "LDG.E R4, [R2.64]", "repeat": "x1",
    });
    for text in &texts {
        let step = (text.len() / 40).max(1);
        let ends = text.char_indices().step_by(step).map(|(at, _)| at).chain([text.len()]);
        for end in ends {
            for (tool, fields) in tools {
                for field in fields {
                    let mut object = right.clone();
                    object[*field] = text[..end].into();
                    assert!(warpload_page::answer(tool, &object.to_string()).is_some());
                }
            }
        }
    }
}

/// Types for TypeScript are derived, except that of a row, because `AccessRow` is of another package.
#[test]
fn rows_are_those_of_their_type() {
    let keys = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let rows = examples().into_iter().map(|example| example.answer()).flat_map(|answer| {
        answer["rows"].as_array().into_iter().flatten().map(keys).collect::<Vec<_>>()
    });
    let found: BTreeSet<_> = rows.collect();
    let always = ["cells", "is_conflict", "label"].map(str::to_owned);
    let with_group = always.iter().cloned().chain(["group".to_owned()]).collect();
    assert_eq!(found, BTreeSet::from([BTreeSet::from(always), with_group]));
}

/// Only the two examples of mistakes have problems.
#[test]
fn examples_are_right() {
    let wrong: Vec<String> = examples()
        .iter()
        .filter(|example| !example.answer()["problems"].as_array().unwrap().is_empty())
        .map(|example| example.fragment.clone())
        .collect();
    assert_eq!(wrong.len(), 2, "{wrong:#?}");
    assert!(wrong[0].starts_with("encode&text=LDG.E.96") && wrong[1].starts_with("ptx&source="));
}
