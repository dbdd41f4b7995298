//! Instructions that are not loads: a misspelled load is refused, not passed over.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::judged::Findings;
use super::violation::Rule;
use crate::module::{InstructionStatement, Module, NameHash};
use crate::syntax::types::LATEST;

/// The first words of the instructions of PTX. [PTX ISA, Instruction Set]
static OPCODES: LazyLock<HashSet<&str, NameHash>> = LazyLock::new(|| {
    "abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra \
     brev brkpt brx call clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta \
     discard div dp2a dp4a elect ex2 exit fabs fence fma fns getctarank griddepcontrol isspacep \
     istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov \
     movmatrix mul mul24 multimem nanosleep neg nop not or pmevent popc prefetch prefetchu prmt \
     rcp red redux rem ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st \
     stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap \
     testp tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad \
     vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma \
     wmma xor"
        .split(' ')
        .collect()
});

/// Makes what is made on first use.
pub(crate) fn initialize() {
    LazyLock::force(&OPCODES);
}

/// Whether it is known by its first word alone that nothing is wrong.
pub(super) fn is_plain(module: &Module<'_>, instruction: &InstructionStatement) -> bool {
    let name = module.text(instruction.mnemonic);
    instruction.fault.is_none() && !matches!(name, "cvta" | "tcgen05") && OPCODES.contains(name)
}

/// Judges an instruction that is not a load: whether it is one that is misspelled, and what makes a
/// generic address of a constant.
pub(super) fn check(
    module: &Module<'_>,
    instruction: &InstructionStatement,
    findings: &mut Findings,
) {
    if let Some(error) = instruction.fault {
        return findings.syntax(error);
    }
    opcode(module, instruction, findings);
    // "Support for generic addressing of .const space added in PTX ISA version 3.1": a load does
    // not tell that its address is one; `cvta.const`, which makes it, does.
    if module.text(instruction.mnemonic) == "cvta" {
        let mut qualifiers = instruction.qualifiers(module.source());
        if let Some(token) = qualifiers.find(|token| module.text(token.span) == ".const") {
            findings.needs("generic addressing of `.const`", Some((3, 1)), None, token.span);
            findings.needs("generic addressing", None, Some(20), token.span);
        }
    }
}

/// Refuses an instruction that no version up to [`LATEST`] knows.
fn opcode(module: &Module<'_>, instruction: &InstructionStatement, findings: &mut Findings) {
    let name = module.text(instruction.mnemonic);
    let is_split = || {
        let next = instruction.qualifiers(module.source()).next().map(|token| token.span);
        next.is_none_or(|next| next.start != instruction.mnemonic.end)
    };
    if name == "tcgen05" && is_split() && module.version <= LATEST {
        let help = "its second word follows without a blank: `tcgen05.ld`";
        let message = "`tcgen05` is not an instruction";
        return findings.add(Rule::UnknownInstruction, instruction.mnemonic, message, help);
    }
    // Names that begin with an underscore are an assembler's own.
    let is_its_own = name.starts_with('_') && name != "_";
    if OPCODES.contains(name) || is_its_own || module.version > LATEST {
        return;
    }
    let lower = name.to_ascii_lowercase();
    let meant = match lower.as_str() {
        "ld" | "ldg" | "lds" | "ldl" | "ldc" => Some("the load instruction is written `ld`"),
        _ if lower.starts_with("tcgen") => Some("loads of tensor memory are written `tcgen05.ld`"),
        _ => None,
    };
    let message = format!("`{name}` is not an instruction of PTX");
    let help = meant.map(str::to_owned);
    findings.report(Rule::UnknownInstruction, instruction.mnemonic, message, help);
}
