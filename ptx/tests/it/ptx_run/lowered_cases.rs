//! Kernels with two loads.

use std::fmt::Write as _;

use crate::ptx_run::property::{Choices, a_type};

/// One of the loads of a case.
pub(crate) struct Part {
    pub(crate) space: &'static str,
    /// The register that the address is computed from, if there is one.
    pub(crate) base: &'static str,
    pub(crate) offset: i64,
    pub(crate) element_bytes: u64,
    pub(crate) elements: u64,
    pub(crate) is_signed: bool,
}

impl Part {
    /// Whether it may become several instructions, each of which rounds its own address.
    pub(crate) fn may_be_split(&self) -> bool {
        self.elements > 1 && matches!(self.space, "const" | "param")
    }
}

/// How far the address `%b` is from `%a`.
pub(crate) const BETWEEN: i64 = 48;

/// A kernel with two loads, the second one often from the same register.
pub(crate) struct Case {
    pub(crate) source: String,
    pub(crate) parts: [Part; 2],
}

pub(crate) fn case(choices: &mut Choices) -> Case {
    let register_bits = choices.pick(&[32, 64]);
    let space = choices.pick(&["", "", "", "global", "shared", "local", "const", "param"]);
    let mut source = format!(
        ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .align 16 .b8 q[64])\n{{\n.reg .pred %p;\n\
         .reg .b{register_bits} %d<16>; .reg .b64 %a, %b;\n\
         .shared .align 16 .b8 s[48]; .local .align 16 .b8 l[32];\n"
    );
    let first = part(choices, space, 0, register_bits, &mut source);
    let space = if choices.below(4) > 0 { space } else { choices.pick(&["", "shared", "local"]) };
    let second = part(choices, space, 8, register_bits, &mut source);
    source += "ret;\n}\n";
    Case { source, parts: [first, second] }
}

/// Writes a load into registers from number `first` on.
fn part(
    choices: &mut Choices,
    space: &'static str,
    first: u64,
    register_bits: u32,
    source: &mut String,
) -> Part {
    let (scalar, element_bytes) = a_type(choices, register_bits);
    let lengths: Vec<u64> = [1, 2, 4].into_iter().filter(|n| n * element_bytes <= 16).collect();
    let elements = choices.pick(&lengths);
    let is_constant = matches!(space, "const" | "param");
    let mut offset =
        choices.pick(&[0, 0, 0, 4, -4, 16, -16, 1, 0x7f_fff0, -0x80_0000, 0x80_0000, 1 << 33]);
    if is_constant {
        // An instruction for each element rounds its own address.
        offset &= !15;
    }
    let base = match space {
        "shared" | "" if choices.below(6) == 0 => "s",
        "local" if choices.below(3) == 0 => "l",
        _ if first > 0 && choices.below(3) == 0 => "%b",
        _ => "%a",
    };
    let cache = choices.pick(&["", "", "", ".cg", ".cs", ".lu", ".cv", ".ca"]);
    let guard = choices.pick(&["", "", "@%p ", "@!%p "]);
    let written = if space.is_empty() { String::new() } else { format!(".{space}") };
    let vector = if elements == 1 { String::new() } else { format!(".v{elements}") };
    let name = |i: u64| match i {
        1.. if choices.below(5) == 0 => "_".to_owned(),
        // What is loaded takes the place of the address.
        0 if register_bits == 64 && choices.below(4) == 0 => "%a".to_owned(),
        _ => format!("%d{}", first + i),
    };
    let names: Vec<String> = (0..elements).map(name).collect();
    let _ = writeln!(
        source,
        "{guard}ld{written}{cache}{vector}.{scalar} {{{}}}, [{base}+{offset}];",
        names.join(", ")
    );
    let space = match base {
        "s" => "shared",
        "l" => "local",
        _ => space,
    };
    let is_signed = scalar.starts_with('s');
    Part { space, base, offset, element_bytes, elements, is_signed }
}
