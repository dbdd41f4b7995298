//! Pairs of modules on either side of a rule: one that ptxas accepts, and one that it refuses. The verdicts are ptxas
//! 12.9's up to PTX 8.8 and 13.5's from there on, unless a comment says otherwise.

mod loads;
mod reading;

use warpload_ptx::rules::{Rule, Unit};
use warpload_ptx::{check_as, read};

/// The rules that a module breaks, in the order of the text.
fn broken(module: &str) -> Vec<Rule> {
    broken_as(module, Unit::Program)
}

fn broken_as(module: &str, unit: Unit) -> Vec<Rule> {
    let read = read(module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    let verdicts = check_as(&read, unit);
    verdicts.flat_map(|verdict| verdict.violations).map(|violation| violation.rule).collect()
}

const REGISTERS: &str = ".reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .u32 %u<9>;
    .reg .s32 %s<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .u64 %ud<9>;
    .reg .s64 %sd<9>; .reg .v4 .b32 Q; .reg .v2 .b64 D; .reg .b8 b;";

/// A kernel of PTX 9.5 for sm_110a, with declarations around it.
fn kernel(around: &str, body: &str) -> String {
    format!(
        ".version 9.5\n.target sm_110a\n.address_size 64\n{around}
        .entry k(.param .align 8 .b8 kp[64]) {{ {REGISTERS} .reg .f16x2 %x<9>;
        {body}\nret; }}"
    )
}

/// A module of an old version, without a parameter list.
fn old(version: &str, target: &str, around: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target {target}\n{around}\n.entry k {{ {REGISTERS}\n{body}\nexit; }}"
    )
}

fn accepts(body: &str) {
    assert_eq!(broken(&kernel("", body)), [], "{body}");
}

fn refuses(body: &str, rule: Rule) {
    let found = broken(&kernel("", body));
    assert!(found.contains(&rule), "{body}: {found:?}");
}
