//! Questions of `ptx-execute` that launch a kernel.

use std::sync::Arc;

use warpload::load::Executor;
use warpload_suite::asking::{ChosenCases, FunctionExaminee};
use warpload_suite::case::{CaseChoice, CaseFile, CaseLine};
use warpload_suite::families::{Answerer, CaseAnswer, answer};
use warpload_suite::outcome::{CaseFailureKind, CaseVerdict};
use warpload_suite::runner::Runner;

const MODULE: &str = r".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {\n .reg .b32 %r<4>;\n .reg .b64 %rd<4>;\n .reg .b128 %q<4>;\n BODY\n ret;\n}\n";

/// Doubles the words of one buffer into another, in a thread each, and adds `n`.
const DOUBLE: &str = "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r3, [n]; mov.u32 %r1, %tid.x; \
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; \
    mad.lo.u32 %r2, %r2, 2, %r3; st.global.u32 [%rd2], %r2;";

const BUFFERS: &str = r#"{"buffer":"0100000002000000"},{"zeros":8},{"value":"07000000"}"#;

fn question(body: &str, block: &str, arguments: &str) -> String {
    let module = MODULE.replace("BODY", body);
    format!(
        r#"{{"id":"one","family":"ptx-execute","module":"{module}","grid":[1,1,1],"block":{block},"arguments":[{arguments}]}}"#
    )
}

fn answered(body: &str, block: &str, arguments: &str) -> CaseAnswer {
    answer(&question(body, block, arguments), &mut Answerer::new(Executor::Fast))
}

#[test]
fn a_launch_leaves_the_buffers_that_it_changed() {
    let known = |json: &str| CaseAnswer::Known(json.to_owned());
    assert_eq!(
        answered(DOUBLE, "[2,1,1]", BUFFERS),
        known(r#"{"buffers":{"1":"090000000b000000"},"faults":0}"#)
    );
    // The third thread is beyond both buffers.
    assert_eq!(
        answered(DOUBLE, "[3,1,1]", BUFFERS),
        known(r#"{"buffers":{"1":"090000000b000000"},"faults":2}"#)
    );
    assert_eq!(answered("", "[2,1,1]", BUFFERS), known(r#"{"buffers":{},"faults":0}"#));
}

#[test]
fn what_cannot_be_launched_is_said() {
    for (body, block, arguments, message) in [
        (DOUBLE, "[2,1,1]", r#"{"zeros":8}"#, "the kernel has 3 parameters, 1 are given"),
        (DOUBLE, "[2,1]", BUFFERS, "block: invalid length 2, expected an array of length 3"),
        (DOUBLE, "[2,1,0]", BUFFERS, "a block of 2 x 1 x 0 threads: 1 to 1024 are possible"),
        (
            DOUBLE,
            "[2,1,1]",
            r#"{"zeros":524288},{"zeros":1}"#,
            "arguments[1].zeros: more than 524288 zeros in all",
        ),
        (
            "mov.u32 %r3, 0; again: add.u32 %r3, %r3, 1; bra again;",
            "[1,1,1]",
            BUFFERS,
            "line 8: 4194304 warp instructions were executed, and the launch has not ended; its last jump back is `bra again`",
        ),
    ] {
        assert_eq!(answered(body, block, arguments), CaseAnswer::Error(message.to_owned()));
    }
    let texture = "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r3}, [p, {%r1}];";
    let skipped = answered(texture, "[1,1,1]", BUFFERS);
    assert!(
        matches!(&skipped, CaseAnswer::Skip(why) if why.starts_with("line 8: `tex")),
        "{skipped:?}"
    );
    let unwritten =
        answered("ld.param.u64 %rd1, [q]; st.global.u32 [%rd1], %r3;", "[1,1,1]", BUFFERS);
    let reason = "argument 1: 4 unknown bytes: nothing has written `%r3`";
    assert_eq!(unwritten, CaseAnswer::Skip(reason.to_owned()));
}

/// Judges an answer to a launch that changes the second buffer alone.
fn judged(got: &str) -> Result<(), (CaseFailureKind, String)> {
    let choice = CaseChoice::default();
    let cases = ChosenCases { choice: &choice, on_file: &|_| {} };
    let function = |_: &str| Ok(Ok(CaseAnswer::Known(got.to_owned())));
    let mut runner = Runner::new(vec![FunctionExaminee::new(vec![("", function)], cases)], &|_| {});
    let expected = r#","expect":{"buffers":{"1":"090000000b000000"},"faults":0}}"#;
    let case = question(DOUBLE, "[2,1,1]", BUFFERS);
    let text = Ok(case.strip_suffix('}').unwrap().to_owned() + expected);
    let file = Arc::new(CaseFile::new("cases", None));
    let mut outcomes = runner.line(CaseLine { file, number: 1, text }).unwrap();
    outcomes.extend(runner.judge(true).unwrap());
    match &outcomes[0].1.verdict {
        CaseVerdict::Failed(failure) => Err((failure.kind, failure.differences[0].clone())),
        _ => Ok(()),
    }
}

#[test]
fn unchanged_buffers_may_be_left_out() {
    let right = r#"{"buffers":{"1":"090000000b000000"},"faults":0}"#;
    assert_eq!(judged(right), Ok(()));
    let both = r#"{"faults":0,"buffers":{"0":"0100000002000000","1":"090000000B000000"}}"#;
    assert_eq!(judged(both), Ok(()));
    let difference = |text: &str| Err((CaseFailureKind::Difference, text.to_owned()));
    for (from, to, said) in [
        (r#""1":"090000000b000000""#, "", "buffers.1 at byte 0: expected 09000000, got 00000000"),
        ("0b00", "0c00", "buffers.1 at byte 4: expected 0b000000, got 0c000000"),
        ("0b000000", "", "buffers.1: expected 8 bytes, got 4 bytes"),
        (
            r#""1":"#,
            r#""0":"0200000002000000","1":"#,
            "buffers.0 at byte 0: expected 01000000, got 02000000",
        ),
        (r#""faults":0"#, r#""faults":1"#, "faults: expected 0, got 1"),
    ] {
        assert_eq!(judged(&right.replace(from, to)), difference(said));
    }
    for (from, to, said) in [
        (r#""1":"#, r#""2":"#, "answer: buffers.2: no argument that is a buffer"),
        (r#","faults":0"#, "", "answer: column 36: missing key `faults`"),
        (
            r#""faults":0"#,
            r#""faults":0,"loads":[]"#,
            "answer: column 54: loads: unknown key `loads`, expected `buffers` or `faults`",
        ),
    ] {
        let (kind, text) = judged(&right.replace(from, to)).unwrap_err();
        assert_eq!((kind, &*text), (CaseFailureKind::WrongLine, said));
    }
}
