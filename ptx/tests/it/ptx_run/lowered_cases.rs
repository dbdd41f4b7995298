//! Kernels with two loads, and how their addresses are computed.

use std::fmt::Write as _;

use warpload_ptx::lower::OptimizationLevel;

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

/// How the address `%a` is computed, and what is set so that it is what it should be.
#[derive(Clone, Copy)]
pub(crate) enum Chain {
    /// It is not.
    Given,
    /// `%x` and a number.
    Offset(i64),
    /// `%x`, a number, and `%y`.
    Sum(i64),
    /// The shared variable and `%x`.
    Shared,
    /// `%x` shifted, `%y` and a number.
    Shifted(i64),
    /// `%x` without its low bits.
    Aligned,
}

impl Chain {
    fn text(self) -> String {
        match self {
            Self::Given => String::new(),
            Self::Offset(number) => format!("add.s64 %a, %x, {number};"),
            Self::Sum(number) => format!("add.s64 %t, %x, {number}; add.s64 %a, %y, %t;"),
            Self::Shared => "mov.u64 %t, s; add.s64 %a, %t, %x;".to_owned(),
            Self::Shifted(number) => {
                format!("shl.b64 %t, %x, 4; add.s64 %t, %t, {number}; add.s64 %a, %t, %y;")
            }
            Self::Aligned => "and.b64 %a, %x, -16;".to_owned(),
        }
    }

    /// `%x` of an address, `%y` being given.
    pub(crate) fn x(self, address: u64, shared: u64) -> u64 {
        match self {
            Self::Given => 0,
            Self::Offset(number) => address.wrapping_sub(number as u64),
            Self::Sum(number) => address.wrapping_sub(number as u64).wrapping_sub(Y),
            Self::Shared => address.wrapping_sub(shared),
            Self::Shifted(_) => 3,
            Self::Aligned => address | 5,
        }
    }

    /// `%y` of an address.
    pub(crate) fn y(self, address: u64) -> u64 {
        match self {
            Self::Shifted(number) => address.wrapping_sub(3 << 4).wrapping_sub(number as u64),
            _ => Y,
        }
    }
}

const Y: u64 = 0x1234_5678_9abc_def0;

/// What is added to `%a` for the other address, `%b`.
pub(crate) const BETWEEN: i64 = 48;

/// A kernel with two loads, the second one often from the same register.
pub(crate) struct Case {
    pub(crate) source: String,
    pub(crate) parts: [Part; 2],
    pub(crate) chain: Chain,
    pub(crate) level: OptimizationLevel,
}

pub(crate) fn case(choices: &mut Choices) -> Case {
    let register_bits = choices.pick(&[32, 64]);
    let level = choices.pick(&[OptimizationLevel::O0, OptimizationLevel::O3]);
    let space = choices.pick(&["", "", "", "global", "shared", "local", "const", "param"]);
    let number = choices.pick(&[16, -32, 0x7f_0000, 0x80_0000, -0x90_0000, 1 << 35]);
    let chain = match choices.below(8) {
        0 => Chain::Given,
        1 | 2 => Chain::Offset(number),
        3 => Chain::Sum(number),
        4 if space == "shared" => Chain::Shared,
        5 => Chain::Shifted(number),
        6 if matches!(space, "const" | "param") => Chain::Aligned,
        _ => Chain::Offset(0),
    };
    let mut source = format!(
        ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .align 16 .b8 q[64])\n{{\n.reg .pred %p;\n\
         .reg .b{register_bits} %d<16>; .reg .b64 %a, %b, %t, %x, %y;\n\
         .shared .align 16 .b8 s[48]; .local .align 16 .b8 l[32];\n{}\nadd.s64 %b, %a, {BETWEEN};\n",
        chain.text()
    );
    let first = part(choices, space, 0, register_bits, &mut source);
    let space = if choices.below(4) > 0 { space } else { choices.pick(&["", "shared", "local"]) };
    let second = part(choices, space, 8, register_bits, &mut source);
    source += "ret;\n}\n";
    Case { source, parts: [first, second], chain, level }
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
