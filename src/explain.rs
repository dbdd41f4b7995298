//! What a load means in words: remarks on its registers and addresses, and one sentence on what
//! executing it does. The shader is taken to have all 255 registers.

use warpload_encoding::{Instruction, Ld, Offset, Reg};

use crate::load::register_fault;
use crate::machine::RegisterLimit;

/// What is worth knowing of an instruction's registers and addresses, one remark each.
///
/// ```
/// use warpload::encoding::parse_line;
/// use warpload::explain::remarks;
///
/// let ld = parse_line("LD.64 R3, [R2]")?.instruction;
/// assert!(remarks(&ld)[0].contains("misaligned_register"));
/// # Ok::<(), warpload::encoding::ParseError>(())
/// ```
pub fn remarks(instruction: &Instruction) -> Vec<String> {
    let Instruction::Ld(ld) = instruction;
    let mut remarks = Vec::new();
    if let Some(fault) = register_fault(instruction, RegisterLimit::ALL) {
        remarks.push(format!(
            "raises {} because of {} ({}): no lane loads",
            fault.name(),
            fault.register(),
            fault.warp_error()
        ));
    }
    remarks.push(destination_remark(instruction));
    remarks.push(address_remark(ld));
    remarks.push(alignment_remark(ld));
    if ld.guard.is_true() && ld.guard_negated {
        remarks.push("the guard @!PT is never true: no lane executes".to_owned());
    }
    if ld.size.is_uniform() {
        remarks.push(
            ".U.128 is a hint: one fetch serves all lanes where their addresses agree, in global \
             or shared memory; the values are those of .128"
                .to_owned(),
        );
    }
    remarks
}

/// What executing the instruction does, in one sentence.
pub fn effect(instruction: &Instruction) -> String {
    let Instruction::Ld(ld) = instruction;
    let who = match (ld.guard.is_true(), ld.guard_negated) {
        (true, true) => return "No lane executes: nothing is loaded, nothing faults.".to_owned(),
        (true, false) => "Every active lane".to_owned(),
        (false, false) => format!("Every active lane where {} is true", ld.guard),
        (false, true) => format!("Every active lane where {} is false", ld.guard),
    };
    if let Some(fault) = register_fault(instruction, RegisterLimit::ALL) {
        return format!("The whole warp raises {fault} as soon as a lane executes; none loads.");
    }
    let space = if ld.plg.is_true() {
        "local or global memory".to_owned()
    } else {
        format!("local or global memory where {} is true, else shared memory", ld.plg)
    };
    let bytes = ld.size.bytes();
    format!(
        "{who} loads {bytes} byte{} from {} ({space}){} into {}.",
        if bytes == 1 { "" } else { "s" },
        address(ld),
        if ld.size.is_signed() { ", sign-extended," } else { "" },
        registers(instruction),
    )
}

/// The destination registers, `R4..R7`.
fn registers(instruction: &Instruction) -> String {
    let first = instruction.destination();
    match instruction.size().registers() {
        _ if first.is_zero() => "RZ, which drops them".to_owned(),
        1 => first.to_string(),
        count => format!("{first}..R{}", u32::from(first.number()) + count - 1),
    }
}

fn base(ld: &Ld) -> String {
    if ld.extended {
        // The register behind R254 does not exist; the remark on faults says so.
        format!("{{R{}, {}}}", u32::from(ld.base.number()) + 1, ld.base)
    } else {
        ld.base.to_string()
    }
}

fn address(ld: &Ld) -> String {
    match ld.offset() {
        Offset::Absolute(address) => format!("address {address:#x}"),
        Offset::Signed(0) => format!("address {}", base(ld)),
        Offset::Signed(offset) => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("address {} {sign} {:#x}", base(ld), offset.unsigned_abs())
        }
    }
}

fn destination_remark(instruction: &Instruction) -> String {
    if instruction.destination() == Reg::RZ {
        return "Rd is RZ: the load is made and its faults are reported, the values are dropped"
            .to_owned();
    }
    match instruction.size().registers() {
        1 => format!("writes {}", registers(instruction)),
        count => format!(
            "writes {}, the lowest address first; Rd must be a multiple of {count}",
            registers(instruction)
        ),
    }
}

fn address_remark(ld: &Ld) -> String {
    if ld.base.is_zero() {
        return "no base register: the immediate is the address, zero-extended".to_owned();
    }
    if ld.extended {
        format!("64-bit address in {}, the second one the low word; Ra must be even", base(ld))
    } else {
        format!("32-bit address in {}, zero-extended after the sum modulo 2^32", ld.base)
    }
}

fn alignment_remark(ld: &Ld) -> String {
    let bytes = ld.size.bytes();
    match ld.offset() {
        _ if bytes == 1 => "one byte: every address is aligned".to_owned(),
        Offset::Absolute(address) if address % bytes != 0 => format!(
            "the address {address:#x} is misaligned and rounded down to {:#x}",
            address - address % bytes
        ),
        Offset::Signed(offset) if offset.unsigned_abs() % bytes != 0 => format!(
            "addresses are rounded down to a multiple of {bytes}; the offset is not one, so that an \
             aligned base gives a misaligned address"
        ),
        _ => format!("addresses are rounded down to a multiple of {bytes}"),
    }
}
