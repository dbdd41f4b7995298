//! `ptx run` of kernels that print, assert, or call a function without a body, and of illegal modules.

use serde_json::{Value, json};

use crate::common::{Ran, piped, warpload};

const TALK: &str = "ptx/tests/machine/externals/talk.ptx";

fn run(arguments: &[&str], input: &str) -> Ran {
    piped(warpload().args(["ptx", "run"]).args(arguments), input.as_bytes(), input.len().max(1))
}

/// A module with a kernel `k` of one buffer.
fn module(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 out) {{
 .reg .b64 %d; .reg .b32 %x; .reg .pred %p;
 ld.param.u64 %d, [out];
{body}
 ret;\n}}\n"
    )
}

#[test]
fn printed_text_comes_before_the_summary_and_assertions_fail() {
    let ran = run(&[TALK, "--arg", "zeros:128", "--arg", "20"], "");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().take(5).collect();
    assert_eq!(
        lines[..3],
        ["thread 0 has 0.000000", "thread 1 has 0.500000", "thread 2 has 1.000000"]
    );
    assert!(lines[3].starts_with("1 block, 1 warp: "), "{}", lines[3]);
    assert!(lines[4].ends_with("assertion failed: i < n, talk.cu:9, in `talk`"), "{}", lines[4]);
    // All threads are in bounds: nothing but the text.
    let ran = run(&[TALK, "--arg", "zeros:128", "--arg", "32"], "");
    assert_eq!((ran.status, ran.stdout.lines().take(3).count()), (0, 3), "{}", ran.stdout);

    let ran = run(&[TALK, "--arg", "zeros:128", "--arg", "20", "--format", "json"], "");
    assert_eq!(ran.status, 1);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = "thread 0 has 0.000000\nthread 1 has 0.500000\nthread 2 has 1.000000\n";
    assert_eq!((&value["printed"], &value["printed_bytes"]), (&json!(text), &json!(text.len())));
    assert_eq!(value["faults"][0]["kind"], "assertion");
}

const VPRINTF: &str = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);";

/// Text of a kernel never reaches a terminal as it is, and its last line ends.
#[test]
fn printed_text_is_escaped() {
    let format = ".global .b8 fmt[7] = {27, 91, 109, 65, 7, 255, 0};";
    let call = "{ .param .b64 p; mov.u64 %d, fmt; st.param.b64 [p], %d; .param .b64 q; st.param.b64 [q], 0;
        .param .b32 r; call (r), vprintf, (p, q); }";
    let source = module(&format!("{VPRINTF}\n{format}"), call);
    let ran = run(&["-", "--block", "1", "--arg", "0"], &source);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().next(), Some("\\u{1b}[mA\\u{7}\\xff"));
    let ran = run(&["-", "--block", "1", "--arg", "0", "--format", "json"], &source);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["printed"], "\u{1b}[mA\u{7}\u{fffd}");
    assert!(!ran.stdout.contains('\u{1b}'));
    // A kernel that does not end has printed its text all the same.
    let source = module(&format!("{VPRINTF}\n{format}"), &format!("{call}\nL: bra L;"));
    let ran = run(&["-", "--block", "1", "--arg", "0", "--steps", "100"], &source);
    assert_eq!((ran.status, ran.stdout.lines().next()), (1, Some("\\u{1b}[mA\\u{7}\\xff")));
    assert!(ran.stderr.contains("has not ended"), "{}", ran.stderr);
}

#[test]
fn functions_that_are_not_there_are_listed() {
    let source = module(
        ".extern .func (.param .b32 r) helper(.param .b32 a);",
        " { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], 5;
 call.uni (r0), helper, (a0);
 ld.param.b32 %x, [r0]; }
 st.global.u32 [%d], %x;",
    );
    let ran = run(&["-", "--block", "1", "--arg", "zeros:8"], &source);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let line = "line 9: not executed, 1 time: call.uni (r0), helper, (a0)";
    assert!(ran.stdout.lines().any(|of| of == line), "{}", ran.stdout);
}

/// A launch is refused for what `ptx check` refuses, with its text.
#[test]
fn modules_that_are_not_legal_are_not_launched() {
    let checked = |source: &str| -> Ran {
        piped(warpload().args(["ptx", "check", "-"]), source.as_bytes(), source.len())
    };
    for (declarations, body, text) in [
        (
            "",
            " frobnicate.u32 %x, 1;",
            "error[unknown-instruction]: `frobnicate` is not an instruction of PTX",
        ),
        ("", " ld.gloal.u32 %x, [%d];", "error[unknown-qualifier]"),
        ("", " ld.global.u32 %x, [%y];", "`%y` is not declared here"),
        ("", " ld.global.L2::512B.u32 %x, [%d];", "error[unknown-qualifier]"),
        (
            ".shared .u32 s;\n.global .u64 t[1] = {s};",
            " ld.global.u64 %d, [t];",
            "error[initial-value]",
        ),
        ("", " call nowhere, (%x);", "`nowhere` is not declared here"),
        ("", " ld.global.v4.u64 {%d, _, _, _}, [%d];", "error["),
        // In another kernel of the module, too: the module is judged as a whole.
        (".visible .entry other() { frobnicate; ret; }", "", "error[unknown-instruction]"),
    ] {
        let source = module(declarations, body);
        let arguments = ["-", "--function", "k", "--block", "1", "--arg", "zeros:64"];
        let ran = run(&arguments, &source);
        let check = checked(&source);
        assert_eq!((ran.status, &*ran.stdout, check.status), (2, "", 1), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
        let reason =
            "not launched, because it is not legal; `--allow-illegal` launches it all the same";
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        // The same drawing, before the error.
        let drawn: Vec<&str> =
            check.stderr.lines().filter(|of| !of.starts_with("note: loads")).collect();
        assert!(
            ran.stderr.starts_with(drawn.join("\n").trim_end()),
            "{}\n{}",
            check.stderr,
            ran.stderr
        );
    }
    // With the option it is launched. The illegal instruction is not executed, and the status says so.
    let source = module("", " frobnicate.u32 %x, 1;\n st.global.u32 [%d], 3;");
    let ran = run(&["-", "--block", "1", "--arg", "zeros:64", "--allow-illegal"], &source);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("line 8: not executed, 1 time: frobnicate.u32 %x, 1"),
        "{}",
        ran.stdout
    );
    // A target that lacks an instruction's feature.
    let old = module("", " ld.acquire.gpu.global.u32 %x, [%d];").replace("sm_90", "sm_61");
    let ran = run(&["-", "--block", "1", "--arg", "zeros:64"], &old);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`.acquire` needs `.target sm_70` or higher"), "{}", ran.stderr);
}

#[test]
fn launches_that_a_gpu_refuses_are_refused() {
    let refused = |directives: &str, body: &str, arguments: &[&str]| {
        let source = module("", body).replace("out) {", &format!("out) {directives} {{"));
        let ran = run(&[&["-", "--arg", "zeros:64"], arguments].concat(), &source);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
        ran.stderr
    };
    let error = refused(".reqntid 128 .maxnreg 32", "", &["--block", "96", "--grid", "3"]);
    assert_eq!(
        error,
        "error: standard input: a block of 96 x 1 x 1 threads: `.reqntid` in line 5 requires 128 x 1 x 1\n"
    );
    let error = refused(".maxntid 64,1,1", "", &["--block", "96"]);
    assert_eq!(
        error,
        "error: standard input: a block of 96 threads: `.maxntid` in line 5 permits 64\n"
    );
    let error = refused(".explicitcluster .reqnctapercluster 2,1,1", "", &["--grid", "4"]);
    assert_eq!(
        error,
        "error: standard input: line 5: `.reqnctapercluster 2,1,1` needs a cluster, and launches with clusters are not executed\n"
    );
    let error = refused("", " mov.u32 %x, %cluster_ctarank;", &["--grid", "4"]);
    assert_eq!(
        error,
        "error: standard input: line 8: `mov.u32 %x, %cluster_ctarank` needs a cluster, and launches with clusters are not executed\n"
    );
}
