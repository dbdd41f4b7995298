//! Instructions that are not loads: a misspelled load is refused, not passed over.

use super::{Findings, Rule};
use crate::module::{Instruction, Module, Statement};
use crate::syntax::Version;
use crate::syntax::types::LATEST;

/// The first words of the instructions of PTX, sorted. [PTX ISA, Instruction Set]
const OPCODES: [&str; 131] = [
    "abs",
    "activemask",
    "add",
    "addc",
    "alloca",
    "and",
    "applypriority",
    "atom",
    "bar",
    "barrier",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "bra",
    "brev",
    "brkpt",
    "brx",
    "call",
    "clusterlaunchcontrol",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "cp",
    "createpolicy",
    "cvt",
    "cvta",
    "discard",
    "div",
    "dp2a",
    "dp4a",
    "elect",
    "ex2",
    "exit",
    "fabs",
    "fence",
    "fma",
    "fns",
    "getctarank",
    "griddepcontrol",
    "isspacep",
    "istypep",
    "ld",
    "ldmatrix",
    "ldu",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "madc",
    "mapa",
    "match",
    "max",
    "mbarrier",
    "membar",
    "min",
    "mma",
    "mov",
    "movmatrix",
    "mul",
    "mul24",
    "multimem",
    "nanosleep",
    "neg",
    "nop",
    "not",
    "or",
    "pmevent",
    "popc",
    "prefetch",
    "prefetchu",
    "prmt",
    "rcp",
    "red",
    "redux",
    "rem",
    "ret",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setmaxnreg",
    "setp",
    "shf",
    "shfl",
    "shl",
    "shr",
    "sin",
    "slct",
    "sqrt",
    "st",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "sub",
    "subc",
    "suld",
    "suq",
    "sured",
    "sust",
    "szext",
    "tanh",
    "tcgen05",
    "tensormap",
    "testp",
    "tex",
    "tld4",
    "trap",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vote",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
];

/// The opcodes after those, in the same order.
const MORE_OPCODES: [&str; 6] = ["vsub", "vsub2", "vsub4", "wgmma", "wmma", "xor"];

/// Judges an instruction that is not a load: whether it is one that is misspelled, and what makes a
/// generic address of a constant.
pub(super) fn check(
    module: &Module<'_>,
    statement: &Statement,
    instruction: &Instruction,
    findings: &mut Findings,
) {
    if let Some(error) = instruction.fault {
        return findings.syntax(error);
    }
    let name = module.text(instruction.mnemonic);
    opcode(module, instruction, findings);
    if name == "cvta" {
        generic_constant(module, statement, instruction, findings);
    }
}

/// "Support for generic addressing of .const space added in PTX ISA version 3.1": a load does not
/// tell that its address is one; `cvta.const`, which makes it, does.
fn generic_constant(
    module: &Module<'_>,
    statement: &Statement,
    instruction: &Instruction,
    findings: &mut Findings,
) {
    let qualifiers = instruction.qualifiers(module.source());
    let Some(token) = qualifiers.into_iter().find(|q| module.text(q.span) == ".const") else {
        return;
    };
    let function = module.function_of(statement.scope);
    let target = function.map_or(module.target, |function| function.target);
    if module.version < Version::new(3, 1) {
        findings.add(
            Rule::NeedsVersion,
            token.span,
            "generic addressing of `.const` needs `.version 3.1` or later".to_owned(),
            format!("this module has `.version {}`", module.version),
        );
    }
    if target.sm < 20 {
        findings.add(
            Rule::NeedsTarget,
            token.span,
            "generic addressing needs `.target sm_20` or higher".to_owned(),
            format!("this module has `.target {target}`"),
        );
    }
}

/// Refuses an instruction that no version up to [`LATEST`] knows.
fn opcode(module: &Module<'_>, instruction: &Instruction, findings: &mut Findings) {
    let name = module.text(instruction.mnemonic);
    let is_known =
        OPCODES.binary_search(&name).is_ok() || MORE_OPCODES.binary_search(&name).is_ok();
    let next = instruction.qualifiers(module.source()).next().map(|token| token.span);
    let is_split =
        name == "tcgen05" && next.is_none_or(|next| next.start != instruction.mnemonic.end);
    if is_split && module.version <= LATEST {
        return findings.add(
            Rule::UnknownInstruction,
            instruction.mnemonic,
            "`tcgen05` is not an instruction".to_owned(),
            "its second word follows without a blank: `tcgen05.ld`".to_owned(),
        );
    }
    // Names that begin with an underscore are an assembler's own.
    let is_its_own = name.starts_with('_') && name != "_";
    if is_known || is_its_own || module.version > LATEST {
        return;
    }
    let lower = name.to_ascii_lowercase();
    let meant = match lower.as_str() {
        "ld" | "ldg" | "lds" | "ldl" | "ldc" => Some("the load instruction is written `ld`"),
        _ if lower.starts_with("tcgen") => Some("loads of tensor memory are written `tcgen05.ld`"),
        _ => None,
    };
    findings.add(
        Rule::UnknownInstruction,
        instruction.mnemonic,
        format!("`{name}` is not an instruction of PTX"),
        meant.map(str::to_owned),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_sorted() {
        assert!(OPCODES.is_sorted() && MORE_OPCODES.is_sorted());
    }
}
