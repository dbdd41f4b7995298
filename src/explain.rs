//! Explains a load in words: [`remarks`] on its registers and addresses, and its [`effect`] in one
//! sentence. Assumes 255 registers per thread.

use warpload_encoding::{Address, ConstantMode, Instruction, MemorySpace, Offset, Reg, Size};

use crate::load::{ExecuteError, Prepared, WarpFault};
use crate::machine::RegisterLimit;

/// Returns remarks on the registers and addresses of an instruction.
///
/// ```
/// use warpload::encoding::parse_line;
/// use warpload::explain::remarks;
///
/// let ld = parse_line("LD.64 R3, [R2]")?.instruction;
/// assert!(remarks(&ld)[0].contains("misaligned_register"));
/// # Ok::<(), warpload::encoding::ParseError>(())
/// ```
#[must_use]
pub fn remarks(instruction: &Instruction) -> Vec<String> {
    let mut remarks = Vec::new();
    match executable(instruction) {
        Err(error) => remarks.push(error.to_string()),
        Ok((_, Some(fault))) => remarks.push(format!(
            "raises {} because of {} ({}): no lane loads",
            fault.name(),
            fault.register(),
            fault.warp_error()
        )),
        Ok((_, None)) => {}
    }
    let size = instruction.size().ok();
    remarks.extend(size.map(|size| destination_remark(instruction.destination(), size)));
    remarks.push(address_remark(instruction));
    remarks.extend(size.map(|size| alignment_remark(instruction.address(), size)));
    let guard = instruction.guard();
    if guard.pred.is_true() && guard.negated {
        remarks.push("the guard @!PT is never true: no lane executes".to_owned());
    }
    if instruction.is_uniform() {
        remarks.push(uniform_remark(instruction.space()));
    }
    remarks
}

/// Returns what executing the instruction does, in one sentence.
#[must_use]
pub fn effect(instruction: &Instruction) -> String {
    let (size, fault) = match executable(instruction) {
        Ok(executable) => executable,
        Err(error) => return format!("Nothing is loaded: {error}."),
    };
    let guard = instruction.guard();
    let who = match (guard.pred.is_true(), guard.negated) {
        (true, true) => return "No lane executes: nothing is loaded, nothing faults.".to_owned(),
        (true, false) => "Every active lane".to_owned(),
        (false, false) => format!("Every active lane where {} is true", guard.pred),
        (false, true) => format!("Every active lane where {} is false", guard.pred),
    };
    if let Some(fault) = fault {
        return format!("The whole warp raises {fault} as soon as a lane executes; none loads.");
    }
    let bytes = size.bytes();
    format!(
        "{who} loads {bytes} byte{} from {} ({}){} into {}.",
        if bytes == 1 { "" } else { "s" },
        address(instruction),
        space(instruction.space()),
        if size.is_signed() { ", sign-extended," } else { "" },
        registers(instruction.destination(), size),
    )
}

/// Returns the fault that executing the instruction raises whatever its registers contain, or `None` if
/// there is none, if no lane ever executes it, or if it cannot be executed.
///
/// ```
/// use warpload::encoding::parse_line;
/// use warpload::explain::certain_fault;
///
/// let fault = |text| parse_line(text).map(|line| certain_fault(&line.instruction));
/// assert_eq!(fault("LD.128 R3, [R4], P0")?.map(|fault| fault.name()), Some("misaligned_register"));
/// assert_eq!(fault("LD.64 R254, [R4]")?.map(|fault| fault.name()), Some("out_of_range_register"));
/// assert_eq!(fault("LD.128 R4, [R3]")?, None);
/// assert_eq!(fault("@!PT LD.128 R3, [R4]")?, None);
/// # Ok::<(), warpload::encoding::ParseError>(())
/// ```
#[must_use]
pub fn certain_fault(instruction: &Instruction) -> Option<WarpFault> {
    let guard = instruction.guard();
    let never = guard.pred.is_true() && guard.negated;
    executable(instruction).ok()?.1.filter(|_| !never)
}

/// Returns the size, and the fault that the instruction raises whatever its registers contain.
fn executable(instruction: &Instruction) -> Result<(Size, Option<WarpFault>), ExecuteError> {
    let size = instruction.size().map_err(ExecuteError::InvalidSize)?;
    Ok((size, Prepared::new(instruction, RegisterLimit::ALL)?.fault()))
}

fn space(space: MemorySpace) -> String {
    match space {
        MemorySpace::Generic { plg } if plg.is_true() => "local or global memory".to_owned(),
        MemorySpace::Generic { plg } => {
            format!("local or global memory where {plg} is true, else shared memory")
        }
        MemorySpace::Global => "global memory".to_owned(),
        MemorySpace::Local => "the lane's local memory".to_owned(),
        MemorySpace::Shared => "the CTA's shared memory".to_owned(),
        MemorySpace::Constant { bank, .. } => format!("constant bank {:#x}", bank.get()),
    }
}

/// Returns the destination registers, `R4..R7`.
fn registers(first: Reg, size: Size) -> String {
    match size.registers() {
        _ if first.is_zero() => "RZ, which drops them".to_owned(),
        1 => first.to_string(),
        count => format!("{first}..R{}", u32::from(first.number()) + count - 1),
    }
}

fn base(address: Address) -> String {
    let base = address.base;
    if address.extended {
        // The register after R254 does not exist; the remark on faults says so.
        format!("{{R{}, {base}}}", u32::from(base.number()) + 1)
    } else {
        base.to_string()
    }
}

fn address(instruction: &Instruction) -> String {
    let address = instruction.address();
    let what = match instruction.space() {
        MemorySpace::Generic { .. } | MemorySpace::Global => "address",
        _ => "offset",
    };
    if address.base.is_zero() {
        return format!("{what} {:#x}", address.offset.without_base());
    }
    match address.offset.signed() {
        0 => format!("{what} {}", base(address)),
        offset => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{what} {} {sign} {:#x}", base(address), offset.unsigned_abs())
        }
    }
}

fn destination_remark(destination: Reg, size: Size) -> String {
    if destination == Reg::RZ {
        return "Rd is RZ: the load is made and its faults are reported, the values are dropped"
            .to_owned();
    }
    match size.registers() {
        1 => format!("writes {}", registers(destination, size)),
        count => format!(
            "writes {}, the lowest address first; Rd must be a multiple of {count}",
            registers(destination, size)
        ),
    }
}

fn address_remark(instruction: &Instruction) -> String {
    let address = instruction.address();
    let what = match instruction.space() {
        MemorySpace::Generic { .. } | MemorySpace::Global => "address",
        MemorySpace::Local => "offset into the lane's local memory",
        MemorySpace::Shared => "offset into the CTA's shared memory",
        MemorySpace::Constant { mode: ConstantMode::Direct, .. } => "offset into the constant bank",
        MemorySpace::Constant { .. } => {
            return format!("{} and the immediate take part in bank and offset", address.base);
        }
    };
    match (address.base.is_zero(), address.offset) {
        (true, Offset::ByBase { .. }) => {
            format!("no base register: the immediate is the {what}, zero-extended")
        }
        (true, Offset::Signed(_)) => {
            format!("no base register: the immediate is the {what}, modulo 2^32")
        }
        (false, _) if address.extended => {
            let base = base(address);
            format!("64-bit address in {base}, the second one the low word; Ra must be even")
        }
        (false, _) => {
            format!("32-bit {what} in {}, zero-extended after the sum modulo 2^32", address.base)
        }
    }
}

fn alignment_remark(address: Address, size: Size) -> String {
    let bytes = size.bytes();
    let without_base = address.offset.without_base();
    if bytes == 1 {
        "one byte: every address is aligned".to_owned()
    } else if address.base.is_zero() && !without_base.is_multiple_of(bytes) {
        let rounded = without_base - without_base % bytes;
        format!("the address {without_base:#x} is misaligned and rounded down to {rounded:#x}")
    } else if !address.offset.signed().unsigned_abs().is_multiple_of(bytes) {
        format!(
            "addresses are rounded down to a multiple of {bytes}; the offset is not one, so that an \
             aligned base gives a misaligned address"
        )
    } else {
        format!("addresses are rounded down to a multiple of {bytes}")
    }
}

fn uniform_remark(space: MemorySpace) -> String {
    let memory = match space {
        MemorySpace::Generic { .. } => ", in global or shared memory",
        _ => "",
    };
    format!(
        ".U.128 is a hint: one fetch serves all lanes if their addresses agree{memory}; the values \
         are those of .128"
    )
}
