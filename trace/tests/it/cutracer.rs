//! Imports of CUTracer's lines of JSON.

use serde_json::{Value, json};
use warpload_trace::{BinaryTrace, WarpPosition};

use crate::samples::import_bytes;
use crate::samples::{loads, open, records};

/// The addresses of as many lanes, from `first` on.
fn addresses(first: u64, lanes: u64) -> Vec<u64> {
    (0..32).map(|lane| if lane < lanes { first + 4 * lane } else { 0 }).collect()
}

fn metadata(name: &str, sass: &[&str]) -> Value {
    let instructions: Value =
        sass.iter().enumerate().map(|(i, sass)| (i.to_string(), json!({"sass": sass}))).collect();
    json!({
        "type": "kernel_metadata", "unmangled_name": name, "mangled_name": "_Z", "nregs": 40,
        "grid": [3, 2, 1], "block": [33, 2, 1], "instructions": instructions,
    })
}

/// A record of launch 7: the warp of the CTA that comes last in the grid.
fn access(opcode_id: u64) -> Value {
    json!({
        "type": "mem_addr_trace", "ctx": "0x1", "grid_launch_id": 7, "cta": [2, 1, 0], "warp": 16,
        "opcode_id": opcode_id, "pc": "0x80", "addrs": addresses(0x7f00_0000_0000, 32),
    })
}

fn valued(opcode_id: u64, size: u64, value: &[u32]) -> Value {
    let values = vec![value; 32];
    let mut access = access(opcode_id);
    for (key, value) in [
        ("type", json!("mem_value_trace")),
        ("access_size", json!(size)),
        ("values", json!(values)),
        ("is_load", json!(true)),
    ] {
        access[key] = value;
    }
    access
}

fn with(mut record: Value, key: &str, value: Value) -> Value {
    record[key] = value;
    record
}

fn without(mut record: Value, key: &str) -> Value {
    record.as_object_mut().unwrap().remove(key).unwrap();
    record
}

/// A line in which a key is there twice, the second time at the end.
fn twice(record: &Value, key: &str) -> String {
    let line = record.to_string();
    format!("{},\"{key}\":{}}}", &line[..line.len() - 1], record[key])
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn read(lines: &[Value]) -> BinaryTrace {
    open(&import_bytes(text(lines)).unwrap())
}

fn names(trace: &BinaryTrace) -> Vec<&str> {
    trace.contents().kernels.iter().map(|kernel| &*kernel.name).collect()
}

#[test]
fn a_record_and_its_place() {
    let trace = read(&[metadata("f(int)", &["NOP ;", "@!P1 LDG.E R4, [R2.64] ;"]), access(1)]);
    let load = &loads(&trace)[0];
    assert_eq!((load.pc, load.mask, load.opcode.as_str()), (0x80, u32::MAX, "LDG.E"));
    assert_eq!(load.addresses[31], 0x7f00_0000_007c);
    // Five CTAs of three warps come before.
    let place = WarpPosition { cta: Some([2, 1, 0]), warp: Some(1), ..WarpPosition::default() };
    assert_eq!(load.place, place);
    let kernel = &trace.contents().kernels[0];
    assert_eq!((&*kernel.name, kernel.grid, kernel.block), ("f(int)", [3, 2, 1], [33, 2, 1]));
    assert!(kernel.header.contains(&("nregs".into(), "40".into())));
    assert_eq!(trace.contents().tools, ["CUTracer"]);
    assert!(trace.contents().notes[0].contains("offset 0 of shared"));
    assert!(!trace.contents().complete);
}

/// A warp that is not in the CTA, by its number in the grid, is unknown, as it is without the grid.
#[test]
fn warps_outside_the_shape() {
    for warp in [14, 18, u32::MAX] {
        let record = with(access(0), "warp", json!(warp));
        let trace = read(&[metadata("f", &["LDG.E R4, [R2.64] ;"]), record]);
        assert_eq!(
            (loads(&trace)[0].place.warp, loads(&trace)[0].place.cta),
            (None, Some([2, 1, 0]))
        );
    }
    let trace = read(&[with(access(0), "sass", json!("LDG.E R4, [R2] ;"))]);
    assert_eq!(loads(&trace)[0].place.warp, None);
}

/// Launches run at the same time; each is a kernel, named by the last line about one.
#[test]
fn launches() {
    let launch = |id: u64| with(access(0), "grid_launch_id", json!(id));
    let sass = ["LDG.E R4, [R2.64] ;"];
    let trace = read(&[
        with(launch(9), "sass", json!("STG.E [R2], R3 ;")),
        metadata("f", &sass),
        launch(1),
        launch(2),
        launch(1),
        metadata("g", &["LDS.64 R2, [R4] ;"]),
        launch(2),
        launch(3),
        with(launch(3), "sass", json!("ATOMS.ADD R4, [R2], R3 ;")),
        without(without(metadata("", &sass), "unmangled_name"), "grid"),
        launch(4),
        metadata("", &sass),
        launch(6),
        without(without(metadata("", &sass), "unmangled_name"), "mangled_name"),
        launch(5),
    ]);
    assert_eq!(names(&trace), ["grid launch 9", "f", "f", "g", "_Z", "_Z", "grid launch 5"]);
    let all = records(&trace);
    let seen: Vec<_> = all.iter().map(|one| (one.kernel, one.opcode.as_str())).collect();
    assert_eq!(
        seen,
        [
            (0, "STG.E"),
            (1, "LDG.E"),
            (1, "LDG.E"),
            (2, "LDG.E"),
            (2, "LDS.64"),
            (3, "LDS.64"),
            (3, "ATOMS.ADD"),
            (4, "LDG.E"),
            (5, "LDG.E"),
            (6, "LDG.E"),
        ]
    );
}

/// Each context counts its launches from 0.
#[test]
fn contexts_have_launches_of_their_own() {
    let access = |context| with(access(0), "ctx", context);
    let first = [metadata("f", &["LDG.E R4, [R2.64] ;"]), access(json!("0x1"))];
    let second = [metadata("g", &["LDS R4, [R2] ;"]), access(json!("0x2")), access(json!("0x1"))];
    let trace = read(&[&first[..], &second].concat());
    assert_eq!(names(&trace), ["f", "g"]);
    let all = records(&trace);
    let seen: Vec<_> = all.iter().map(|one| (one.kernel, one.opcode.as_str())).collect();
    assert_eq!(seen, [(0, "LDG.E"), (0, "LDS"), (1, "LDS")]);
    // Of another form, or missing, it tells nothing apart.
    let same = [json!(7), json!("main"), json!(null)].map(access);
    let same = [&first[..1], &same, &[without(access(json!("0x1")), "ctx")]].concat();
    assert_eq!(names(&read(&same)), ["f"]);
}

/// Launches that follow one another stay apart.
#[test]
fn the_order_of_launches() {
    let launch = |id: u64| with(access(0), "grid_launch_id", json!(id));
    let mut lines = vec![metadata("f", &["LDG.E R4, [R2.64] ;"])];
    for id in 0..2 {
        lines.extend(std::iter::repeat_n(launch(id), 5000));
    }
    let found = records(&read(&lines));
    assert_eq!(found.len(), 10_000);
    assert!(found.iter().map(|one| one.kernel).is_sorted());
}

/// What has no address is inactive; keys come in any order, with spaces, and types that do not access
/// memory are passed over, whatever they hold.
#[test]
fn lines_of_other_forms() {
    let spaced = format!(
        " {{ \"warp\" : 0 ,\t\"type\":\"mem\\u005ftrace\", \"values\": [1], \"sass\": \"LDS R1, [R2] ;\", \
         \"pc\":\"0x0\", \"new\": {{\"addrs\": [1]}}, \"cta\": [ 0, 0 ,0 ], \"grid_launch_id\": 0, \
         \"opcode_id\": 0, \"addrs\": {} }} \r\n",
        json!(addresses(0, 4))
    );
    let others = text(&[
        json!({"type": "reg_trace", "regs": [[1, 2]], "sass": "LDG R1"}),
        json!({"type": "opcode_only", "pc": 7, "cta": "none"}),
        json!({"type": "tma_trace", "addrs": ["0x1"]}),
        json!({"type": "kernel_launch", "grid": null}),
        json!({"type": "callstack_def", "values": -1}),
        json!({"type": "of_the_future"}),
    ]);
    let trace = open(&import_bytes(format!("{others}{spaced}")).unwrap());
    let load = &loads(&trace)[0];
    assert_eq!((load.mask, &load.addresses[..]), (0xe, &[4, 8, 12][..]));
    let notes = &trace.contents().notes;
    assert!(notes[0].starts_with("1 lines of unknown types"), "{notes:?}");
}

/// An access without an address is one all the same.
#[test]
fn no_lane_has_an_address() {
    let record = with(access(0), "addrs", json!(addresses(0, 0)));
    let trace = read(&[metadata("f", &["LDS R4, [R2] ;"]), record]);
    assert_eq!((trace.loads(), loads(&trace)[0].mask), (1, 0));
}

/// Opcode, bytes, words, what is kept, and whether the sizes disagree.
type Valued = (u64, u64, &'static [u32], &'static [u32], bool);

#[test]
fn values_of_registers() {
    let sass = [
        "LDG.E R4, [R2.64] ;",
        "@P0 LDG.E.128 R4, desc[UR4][R2.64] ;",
        "LDS.U8 R4, [R2] ;",
        "LDS.S8 R4, [R2] ;",
        "LDS.U16 R4, [R2] ;",
        "LDS.S16 R4, [R2] ;",
        "LDG.E.S8 R4, [R2.64] ;",
        "STG.E.64 [R2.64], R4 ;",
        "STS.U8 [R2], R4 ;",
        "LDGSTS.E [R4], [R2.64] ;",
        "ATOMG.E.ADD PT, R7, [R2.64], R5 ;",
        "LDG.E RZ, [R2.64] ;",
        "LDS RZ, [R2] ;",
        "LDG.E.64 R4, [R2.64] ;",
    ];
    const WORD: u32 = 0x8281_8481;
    let cases: [Valued; 15] = [
        (0, 4, &[WORD], &[WORD], false),
        (1, 16, &[1, 2, 3, 4], &[1, 2, 3, 4], false),
        (2, 1, &[WORD], &[0x81], false),
        (3, 1, &[WORD], &[0xffff_ff81], false),
        (4, 2, &[WORD], &[0x8481], false),
        (5, 2, &[WORD], &[0xffff_8481], false),
        // The register itself.
        (6, 1, &[0xffff_ff81], &[0xffff_ff81], false),
        (7, 8, &[1, 2], &[1, 2], false),
        (8, 1, &[WORD], &[0x81], false),
        // Zeros, or what was there before.
        (9, 4, &[0], &[], false),
        (10, 4, &[5], &[], false),
        (11, 4, &[0], &[], false),
        // Read from memory.
        (12, 4, &[5], &[5], false),
        (13, 4, &[5], &[], true),
        (0, 2, &[5], &[5], true),
    ];
    let mut lines = vec![metadata("f", &sass)];
    lines.extend(cases.map(|(opcode, size, value, ..)| valued(opcode, size, value)));
    let trace = read(&lines);
    for (record, (opcode, _, _, kept, disagrees)) in records(&trace).iter().zip(cases) {
        let all: Vec<u32> = kept.iter().flat_map(|value| [*value; 32]).collect();
        assert_eq!((&record.values, record.is_valued), (&all, true), "{opcode}");
        assert_eq!(record.width_disagrees, disagrees, "{opcode}");
    }
    assert_eq!(records(&trace).len(), cases.len());
}

/// Lane by lane, and for the active ones only.
#[test]
fn values_of_some_lanes() {
    let values: Vec<[u32; 2]> = (0..32).map(|lane| [lane, 100 + lane]).collect();
    let list: Vec<u64> = (0..32).map(|lane| if lane % 16 == 3 { 8 * lane } else { 0 }).collect();
    let record = with(valued(0, 8, &[0, 0]), "values", json!(values));
    let record = with(record, "addrs", json!(list));
    let trace = read(&[metadata("f", &["LDG.E.64 R4, [R2.64] ;"]), record]);
    assert_eq!(loads(&trace)[0].values, [3, 19, 103, 119]);
}

#[test]
fn memory_spaces_are_compared() {
    let sass =
        ["LDG.E R4, [R2.64] ;", "LDL R4, [R2] ;", "LDGSTS.E [R4], [R2] ;", "RED.E.ADD [R2], R4 ;"];
    let space = |opcode, space: u64| with(valued(opcode, 4, &[0]), "mem_space", json!(space));
    let right = [space(0, 3), space(1, 1), space(2, 6), space(3, 9)];
    let notes = |wrong: &[Value]| {
        let trace = read(&[&[metadata("f", &sass)], &right[..], wrong].concat());
        trace.contents().notes.clone()
    };
    assert_eq!(notes(&[]).len(), 2);
    let notes = notes(&[space(0, 1), space(1, 5)]);
    assert!(notes[0].starts_with("2 records have another `mem_space`"), "{notes:?}");
}

#[test]
fn wrong_lines() {
    let sass = metadata("f", &["LDG.E R4, [R2.64] ;", "NOP ;", "@P0 ;"]);
    let good = access(0);
    let first = text(&[sass.clone(), good.clone()]);
    let list = |count| json!(vec![256; count]);
    for (line, message) in [
        (String::new(), "1: expected an object, `{`"),
        ("[]".to_owned(), "1: expected an object, `{`"),
        ("\0{}".to_owned(), "1: a byte of zeros"),
        ("{\"type\":\"\0\"}".to_owned(), "10: a control character"),
        ("{}".to_owned(), "1: no key `type`"),
        ("{\"type\":7}".to_owned(), "9: expected a text in quotes"),
        (format!("{good} {good}"), "text after the object"),
        (good.to_string().replace("\"warp\"", "warp"), "expected a key in quotes"),
        (good.to_string().replace("\"warp\":", "\"warp\""), "expected `:`"),
        (
            format!("{{\"new\":{}1{}}}", "[".repeat(100), "]".repeat(100)),
            "nested arrays and objects",
        ),
        (without(good.clone(), "addrs").to_string(), "1: no key `addrs`"),
        (without(good.clone(), "cta").to_string(), "1: no key `cta`"),
        (without(good.clone(), "warp").to_string(), "1: no key `warp`"),
        (without(good.clone(), "pc").to_string(), "1: no key `pc`"),
        (without(good.clone(), "grid_launch_id").to_string(), "1: no key `grid_launch_id`"),
        (without(good.clone(), "opcode_id").to_string(), "1: no key `opcode_id` and no `sass`"),
        (with(good.clone(), "opcode_id", json!(2)).to_string(), "no instruction 2 in"),
        (with(good.clone(), "opcode_id", json!(-1)).to_string(), "a negative number"),
        (with(good.clone(), "sass", json!("@P0 ;")).to_string(), "no opcode"),
        (with(good.clone(), "addrs", list(31)).to_string(), "10: 31 addresses; expected 32"),
        (with(good.clone(), "addrs", list(33)).to_string(), "more than 32 addresses"),
        (with(good.clone(), "addrs", json!("0x1")).to_string(), "10: expected an array, `[`"),
        (with(good.clone(), "addrs", json!([1.5])).to_string(), "11: expected a whole number"),
        (with(good.clone(), "cta", json!([1, 2])).to_string(), "expected three numbers"),
        (with(good.clone(), "pc", json!("80")).to_string(), "expected a hexadecimal number"),
        (with(good.clone(), "pc", json!("0x100000000")).to_string(), "expected a hexadecimal"),
        (
            with(good.clone(), "warp", json!(1_u64 << 32)).to_string(),
            "a number of more than 32 bits",
        ),
        (without(valued(0, 4, &[1]), "values").to_string(), "1: no key `values`"),
        (without(valued(0, 4, &[1]), "access_size").to_string(), "1: no key `access_size`"),
        (valued(0, 64, &[1]).to_string(), "expected 1, 2, 4, 8, 16 or 32 bytes"),
        (valued(0, 32, &[1; 8]).to_string(), "a value of 8 words; expected 4"),
        (valued(0, 4, &[1, 2]).to_string(), "a value of 2 words; expected 1"),
        (valued(0, 16, &[1, 2, 3, 4, 5]).to_string(), "a value of 5 words; expected 4"),
        (with(valued(0, 4, &[1]), "values", json!([[1]])).to_string(), "values of 1 lanes"),
        (
            with(valued(0, 4, &[1]), "values", json!(vec![[1]; 33])).to_string(),
            "more than 32 lanes",
        ),
        (with(valued(0, 4, &[1]), "values", json!([[-1]])).to_string(), "a negative number"),
        (with(sass.clone(), "grid", json!([1])).to_string(), "expected three numbers"),
        (with(sass.clone(), "instructions", json!({"a": {}})).to_string(), "have numbers"),
        (sass.to_string().replace("\"1\":", "\"0\":"), "instruction 0 twice"),
        (twice(&good, "addrs"), "duplicate key `addrs`"),
        (twice(&good, "cta"), "duplicate key `cta`"),
        (twice(&good, "ctx"), "duplicate key `ctx`"),
        (twice(&good, "opcode_id"), "duplicate key `opcode_id`"),
        (twice(&good, "pc"), "duplicate key `pc`"),
        (twice(&good, "type"), "duplicate key `type`"),
        (
            twice(&with(good.clone(), "sass", json!("LDS R1, [R2] ;")), "sass"),
            "duplicate key `sass`",
        ),
        (twice(&valued(0, 4, &[1]), "values"), "duplicate key `values`"),
        (twice(&valued(0, 4, &[1]), "access_size"), "duplicate key `access_size`"),
        (twice(&sass, "grid"), "duplicate key `grid`"),
        (twice(&sass, "unmangled_name"), "duplicate key `unmangled_name`"),
        (twice(&sass, "mangled_name"), "duplicate key `mangled_name`"),
        (twice(&sass, "instructions"), "duplicate key `instructions`"),
    ] {
        let error = import_bytes(format!("{first}{line}\n")).unwrap_err().to_string();
        let (_, rest) = error.split_once("trace:3:").unwrap_or_else(|| panic!("{line}: {error}"));
        assert!(rest.contains(message), "{error}");
        let column = rest.split_once(':').unwrap().0;
        assert!(
            column.parse::<usize>().is_ok_and(|at| (1..=line.len().max(1)).contains(&at)),
            "{error}"
        );
    }
    // In another order, the sizes are compared at the end.
    let late = valued(0, 4, &[1]).to_string();
    let late =
        late.replace("\"access_size\":4,", "").replace("\"warp\"", "\"access_size\":8,\"warp\"");
    let error = import_bytes(format!("{first}{late}\n")).unwrap_err().to_string();
    assert!(error.contains("3:1: `values` has 1 words a lane; expected 2"), "{error}");
    let error = import_bytes(&first[..first.len() - 1]).unwrap_err().to_string();
    assert!(error.ends_with("trace:2:1: the last line has no line end: the file is cut off"));
    let error = import_bytes(text(&[good])).unwrap_err().to_string();
    assert!(error.contains("no `sass`, and no `kernel_metadata` line before"), "{error}");
}

/// A file that is read in many parts is read as a whole: kernels change between records, and the first
/// wrong line is the one that is named.
#[test]
fn many_lines() {
    let sass = ["LDG.E R4, [R2.64] ;", "STG.E [R2.64], R4 ;"];
    let mut lines = vec![metadata("f", &sass)];
    for i in 0..4000_u32 {
        let record = if i % 3 == 0 { valued(0, 4, &[i]) } else { access(u64::from(i % 2)) };
        lines.push(with(record, "grid_launch_id", json!(i / 1000)));
        if i % 700 == 0 {
            lines.push(metadata(&format!("f{i}"), &sass));
            lines.push(json!({"type": "new"}));
        }
    }
    let trace = read(&lines);
    assert_eq!(names(&trace), ["f", "f700", "f1400", "f2800"]);
    let all = records(&trace);
    assert_eq!(all.len(), 4000);
    for (i, record) in (0..).zip(&all) {
        let opcode = if i % 3 == 0 || i % 2 == 0 { "LDG.E" } else { "STG.E" };
        assert_eq!((record.opcode.as_str(), record.kernel), (opcode, i as usize / 1000));
        assert_eq!(record.values, if i % 3 == 0 { vec![i; 32] } else { vec![] });
    }
    assert!(trace.contents().notes[0].starts_with("6 lines of unknown types"));
    for wrong in [4, 2500, 4005] {
        let mut lines = lines.clone();
        for line in [wrong, lines.len() - 1] {
            lines[line] = json!([]);
        }
        let error = import_bytes(text(&lines)).unwrap_err().to_string();
        assert!(error.contains(&format!("trace:{}:1: expected an object", wrong + 1)), "{error}");
    }
    let text = text(&lines);
    let error = import_bytes(&text[..text.len() - 1]).unwrap_err().to_string();
    let last = lines.len();
    assert!(error.contains(&format!("trace:{last}:1: the last line has no line end")), "{error}");
    let error = import_bytes([text.as_bytes(), b"\xff\n"].concat()).unwrap_err().to_string();
    assert!(error.contains(&format!("line {}, column 1", last + 1)), "{error}");
}

/// A cut inside of a line is refused; after one, the trace says that it cannot tell.
#[test]
fn a_cut_is_refused_or_noted() {
    let lines = text(&[metadata("f", &["LDG.E R4, [R2.64] ;"]), access(0), access(0)]);
    for end in lines.find("}\n").unwrap() + 2..=lines.len() {
        let cut = &lines[..end];
        match import_bytes(cut) {
            Ok(trace) => assert!(cut.ends_with("}\n") && !open(&trace).contents().complete),
            Err(error) => assert!(!cut.ends_with("}\n"), "{error}"),
        }
    }
}

/// A kernel's line can be long, but not of any length.
#[test]
fn long_lines() {
    let sass: Vec<&str> =
        std::iter::repeat_n("LDG.E R4, desc[UR4][R2.64+0x1000] ;", 40_000).collect();
    let long = metadata("f", &sass);
    assert!(long.to_string().len() > 2 << 20);
    assert_eq!(read(&[long, access(39_999)]).loads(), 1);
    let endless = with(metadata("f", &[]), "new", json!("x".repeat(9 << 20)));
    let error = import_bytes(text(&[access(0), endless])).unwrap_err().to_string();
    assert!(error.contains("trace:1:"), "{error}");
    let endless = with(metadata("f", &[]), "new", json!("x".repeat(9 << 20)));
    let error = import_bytes(text(&[endless])).unwrap_err().to_string();
    assert!(error.ends_with("trace:1:1: a line of more than 8388608 bytes"), "{error}");
}

/// An archive of the lines is named as one.
#[test]
fn clp_archives_are_named() {
    let error = import_bytes(b"\xfd\x2f\xc5\x30\x01\0\x04\0rest").unwrap_err().to_string();
    assert!(
        error.contains("a CLP archive, not a trace: extract its lines with `clp-s x`"),
        "{error}"
    );
}
