//! PTX: long lines, and what is said of many mistakes or of one.

use super::warpload;
use crate::common::{Ran, piped};

const HEAD: &str = ".version 8.8\n.target sm_80\n.address_size 64\n";

fn fed(arguments: &[&str], module: &str) -> Ran {
    piped(&mut warpload(arguments), module.as_bytes(), 1 << 16)
}

#[test]
fn a_line_may_be_as_long_as_a_module() {
    let values = "1,".repeat(1 << 20);
    let module = format!("{HEAD}.global .u8 x[] = {{{values}1}};\n");
    let ran = fed(&["ptx", "check", "-"], &module);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
}

#[test]
fn of_many_mistakes_the_first_ones_are_drawn() {
    let mistakes = 2500;
    let module = format!("{HEAD}.entry k() {{ {} }}\n", "; ".repeat(mistakes));
    let ran = fed(&["ptx", "check", "-"], &module);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.stdout.lines().count(), mistakes);
    assert_eq!(ran.stderr.matches("error[syntax]").count(), 100);
    assert!(ran.stderr.contains("and 2400 more errors"), "{}", ran.stderr.len());
    let many = format!("{HEAD}.entry k() {{ {} }}\n", ";".repeat(3 << 20));
    let ran = fed(&["ptx", "check", "-"], &many);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("too many statements, declarations and braces"), "{}", ran.stderr);
}

#[test]
fn a_missing_semicolon_is_one_error() {
    let module = format!(
        "{HEAD}.entry k() {{ .reg .b64 %rd<3>; .reg .b32 %r<3>;
        ld.global.u32 %r1, [%rd1]
        ld.global.u32 %r2, [%rd1];
        ret; }}\n"
    );
    let ran = fed(&["ptx", "loads", "-", "--set", "%rd1=0x1000"], &module);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.stderr.matches("error").count(), 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("illegal load"), "{}", ran.stderr);
}

#[test]
fn misaligned_addresses_are_remarked() {
    let module = format!(
        "{HEAD}.global .align 8 .b8 g[16] = {{1,2,3,4,5,6,7,8}};
        .entry k() {{ .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred p;
        @p ld.global.u32 %r1, [%rd1]; ret; }}\n"
    );
    let arguments = ["ptx", "loads", "-", "--set", "%rd1=0x80000000+lane", "--set", "p=3"];
    let ran = fed(&arguments, &module);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("2 of 32 lanes execute (active 0xffffffff, @p in lanes 0x00000003)")
    );
    let lines: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("rounded")).collect();
    assert_eq!(lines.len(), 1, "{}", ran.stdout);
    assert!(lines[0].ends_with("0x04030201  <- rounded down"), "{}", lines[0]);
    assert!(ran.stderr.contains("`p=3` is a mask of lanes: true in 2 of 32"), "{}", ran.stderr);
}

#[test]
fn declarations_have_a_list_of_their_own() {
    let module = format!("{HEAD}.global .f32 t[2] = {{1.0, 2}};\n.entry k() {{ ret; }}\n");
    let ran = fed(&["ptx", "check", "--format", "json", "-"], &module);
    assert_eq!(ran.status, 1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let declaration = &json["declarations"][0];
    assert_eq!(json["accept"], false);
    assert_eq!((&declaration["line"], &declaration["column"]), (&4.into(), &27.into()));
    assert_eq!(declaration["rule"], "initial-value");
    let ran = fed(&["ptx", "check", "-"], HEAD);
    assert!(ran.stderr.contains("other instructions were not"), "{}", ran.stderr);
}
