//! Explains a load in words. An [`Explanation`] covers every field of the word; [`remarks`] on registers and addresses
//! and the [`effect`] in one sentence are also available alone. Assumes 255 registers per thread.

use std::fmt;

use warpload_encoding::{
    Address, ConstantMode, FieldReading, Instruction, LoadDestination, LoadParts, LoadSize,
    MachineWord, MemorySpace, Offset, Size,
};

use crate::load::{ExecuteError, Prepared, WarpFault};
use crate::machine::RegisterLimit;

/// What every bit of a word means, and what executing it does. Displays as a drawing: the bits as a ruler, a table of the
/// fields, the remarks and the effect.
///
/// ```
/// use warpload::encoding::{Instruction, Sm};
/// use warpload::explain::Explanation;
///
/// let explanation = Explanation::new(&Instruction::parse("LD.64 R4, [R2]", Sm::SPA5)?);
/// let field = explanation.fields.iter().find(|field| field.name() == "sz").expect("a size");
/// assert_eq!((field.field().to_string().as_str(), field.raw), ("55:53", 5));
/// # Ok::<(), warpload::encoding::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The word.
    pub word: MachineWord,
    /// The instruction's text.
    pub text: String,
    /// The fields, the most significant first.
    pub fields: Vec<FieldReading>,
    /// Remarks on registers and addresses.
    pub remarks: Vec<String>,
    /// What executing the instruction does, in one sentence.
    pub effect: String,
}

impl Explanation {
    /// Explains an instruction.
    #[must_use]
    pub fn new(instruction: &Instruction) -> Self {
        Self {
            word: instruction.word(),
            text: instruction.to_string(),
            fields: instruction.describe().collect(),
            remarks: remarks(instruction),
            effect: effect(instruction),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, text, fields, remarks, effect } = self;
        writeln!(f, "{word}  {text}\n")?;
        writeln!(f, "{}", ruler(fields, word.width()))?;
        writeln!(f, "{}", table(fields))?;
        for remark in remarks {
            writeln!(f, "- {remark}")?;
        }
        writeln!(f, "\n{effect}")
    }
}

/// Returns remarks on the registers and addresses of an instruction.
///
/// ```
/// use warpload::encoding::{Instruction, Sm};
/// use warpload::explain::remarks;
///
/// let ld = Instruction::parse("LD.64 R3, [R2]", Sm::SPA5)?;
/// assert!(remarks(&ld)[0].contains("misaligned_register"));
/// # Ok::<(), warpload::encoding::ParseError>(())
/// ```
#[must_use]
pub fn remarks(instruction: &Instruction) -> Vec<String> {
    let parts = instruction.parts();
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
    let size = parts.size.ok();
    remarks.extend(size.and_then(|size| destination_remark(parts.destination, size)));
    remarks.extend(address_remark(&parts));
    remarks.extend(uniform_base_remark(&parts));
    remarks.extend(size.map(|size| alignment_remark(parts.address, size)));
    if parts.guard.pred.is_true() && parts.guard.negated {
        let name = if parts.is_guard_uniform { "@!UPT" } else { "@!PT" };
        remarks.push(format!("the guard {name} is never true: no lane executes"));
    }
    if size.and_then(LoadSize::of_lane).is_some_and(Size::is_uniform) {
        remarks.push(uniform_remark(parts.space));
    }
    remarks
}

/// Returns the effect of executing the instruction, in one sentence.
#[must_use]
pub fn effect(instruction: &Instruction) -> String {
    let parts = instruction.parts();
    let (size, fault) = match executable(instruction) {
        Ok(executable) => executable,
        Err(error) => return format!("Nothing is loaded: {error}."),
    };
    let guard = parts.guard;
    let predicate =
        if parts.is_guard_uniform { format!("U{}", guard.pred) } else { guard.pred.to_string() };
    let is_once = parts.destination.register().is_none();
    let all = if is_once { "The warp" } else { "Every active lane" };
    let when = |state: &str| match is_once {
        true => format!("If {predicate} is {state}, the warp"),
        false => format!("{all} where {predicate} is {state}"),
    };
    let who = match (guard.pred.is_true(), guard.negated) {
        (true, true) => return "No lane executes: nothing is loaded, nothing faults.".to_owned(),
        (true, false) => all.to_owned(),
        (false, false) => when("true"),
        (false, true) => when("false"),
    };
    if let Some(fault) = fault {
        return format!("The whole warp raises {fault} as soon as a lane executes; none loads.");
    }
    if let LoadSize::Matrices { count, transposed } = size {
        return format!(
            "The warp loads {count} {} of 8 rows of 16 bytes from shared memory, one row from the {} of \
             each of its first {} lanes{}, into {}.",
            if count == 1 { "matrix" } else { "matrices" },
            address(&parts),
            8 * u32::from(count),
            if transposed { ", transposed" } else { "" },
            registers(parts.destination, size),
        );
    }
    let bytes = size.bytes();
    format!(
        "{who} loads {bytes} byte{} from {} ({}){} into {}.",
        if bytes == 1 { "" } else { "s" },
        address(&parts),
        space(parts.space),
        if size.of_lane().is_some_and(Size::is_signed) { ", sign-extended," } else { "" },
        registers(parts.destination, size),
    )
}

/// Returns the fault that the instruction raises whatever its registers contain; `None` if there is none, if no lane ever
/// executes it, or if it cannot be executed.
///
/// ```
/// use warpload::encoding::{Sm, parse_line};
/// use warpload::explain::certain_fault;
///
/// let fault = |text| parse_line(text, Sm::SPA5).map(|line| certain_fault(&line.instruction));
/// assert_eq!(fault("LD.128 R3, [R4], P0")?.map(|fault| fault.name()), Some("misaligned_register"));
/// assert_eq!(fault("LD.64 R254, [R4]")?.map(|fault| fault.name()), Some("out_of_range_register"));
/// assert_eq!(fault("LD.128 R4, [R3]")?, None);
/// assert_eq!(fault("@!PT LD.128 R3, [R4]")?, None);
/// # Ok::<(), warpload::encoding::ParseError>(())
/// ```
#[must_use]
pub fn certain_fault(instruction: &Instruction) -> Option<WarpFault> {
    let guard = instruction.parts().guard;
    let never = guard.pred.is_true() && guard.negated;
    executable(instruction).ok()?.1.filter(|_| !never)
}

/// The size, and the fault that the instruction raises whatever its registers contain.
fn executable(instruction: &Instruction) -> Result<(LoadSize, Option<WarpFault>), ExecuteError> {
    let size = instruction.parts().size.map_err(ExecuteError::from)?;
    Ok((size, Prepared::new(instruction, RegisterLimit::ALL)?.fault()))
}

fn space(space: MemorySpace) -> String {
    match space {
        MemorySpace::Generic { plg: Some(plg) } if plg.is_true() => {
            "local or global memory".to_owned()
        }
        MemorySpace::Generic { plg: Some(plg) } => {
            format!("local or global memory where {plg} is true, else shared memory")
        }
        MemorySpace::Generic { plg: None } => {
            "local, shared or global memory, by the address windows".to_owned()
        }
        MemorySpace::Global => "global memory".to_owned(),
        MemorySpace::Local => "the lane's local memory".to_owned(),
        MemorySpace::Shared => "the CTA's shared memory".to_owned(),
        MemorySpace::Constant { bank, .. } => format!("constant bank {:#x}", bank.get()),
        MemorySpace::Tensor => "Tensor Memory".to_owned(),
        MemorySpace::Undocumented => "undocumented memory".to_owned(),
    }
}

/// Whether addresses of the memory are offsets into it.
fn has_offsets(space: MemorySpace) -> bool {
    !matches!(space, MemorySpace::Generic { .. } | MemorySpace::Global)
}

/// `R4..R7`.
fn registers(destination: LoadDestination, size: LoadSize) -> String {
    let range = |letter: &str, first: u8, count: u32| match count {
        _ if first == 255 => format!("{letter}Z, which drops them"),
        1 => format!("{letter}{first}"),
        count => format!("{letter}{first}..{letter}{}", u32::from(first) + count - 1),
    };
    let count = size.registers();
    match destination {
        LoadDestination::Registers(first) => range("R", first.number(), count),
        LoadDestination::Uniform(first) => range("UR", first.number(), count),
        LoadDestination::Halves { low, high } => {
            format!("{} and {}", range("R", low.number(), 4), range("R", high.number(), 4))
        }
        LoadDestination::UniformHalves { low, high } => {
            format!("{} and {}", range("UR", low.number(), 4), range("UR", high.number(), 4))
        }
        _ => "shared memory".to_owned(),
    }
}

fn base(address: Address) -> String {
    let base = address.base;
    match (address.extended, address.scale()) {
        // The register after R254 does not exist, as the remark on faults says.
        (true, _) => format!("{{R{}, {base}}}", u32::from(base.number()) + 1),
        (false, 0) => base.to_string(),
        (false, scale) => format!("{} * {base}", 1 << scale),
    }
}

/// `None` if the address has no uniform register.
fn uniform_base(address: Address) -> Option<String> {
    let uniform = address.uniform.filter(|uniform| !uniform.register.is_zero())?;
    let register = uniform.register;
    Some(match uniform.extended {
        true => format!("{{UR{}, {register}}}", u32::from(register.number()) + 1),
        false => register.to_string(),
    })
}

fn address(parts: &LoadParts) -> String {
    let address = parts.address;
    let what = if has_offsets(parts.space) { "offset" } else { "address" };
    let of_lane = (!address.base.is_zero()).then(|| base(address));
    let terms: Vec<String> = of_lane.into_iter().chain(uniform_base(address)).collect();
    if terms.is_empty() {
        return format!("{what} {:#x}", address.offset.without_base());
    }
    let terms = terms.join(" + ");
    match address.offset.signed() {
        0 => format!("{what} {terms}"),
        offset => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{what} {terms} {sign} {:#x}", offset.unsigned_abs())
        }
    }
}

fn destination_remark(destination: LoadDestination, size: LoadSize) -> Option<String> {
    let (is_zero, name) = match destination {
        LoadDestination::Registers(first) => (first.is_zero(), "Rd"),
        LoadDestination::Uniform(first) => (first.is_zero(), "URd"),
        LoadDestination::Halves { .. } | LoadDestination::UniformHalves { .. } => {
            return Some(format!(
                "writes {}, the lowest address first; both must be a multiple of 4",
                registers(destination, size)
            ));
        }
        _ => return None,
    };
    if is_zero {
        let zero = if name == "Rd" { "RZ" } else { "URZ" };
        return Some(format!(
            "{name} is {zero}: the load is made and its faults are reported, the values are dropped"
        ));
    }
    let written = registers(destination, size);
    Some(match size.registers() {
        1 => format!("writes {written}"),
        count => format!(
            "writes {written}, the lowest address first; {name} must be a multiple of {count}"
        ),
    })
}

fn address_remark(parts: &LoadParts) -> Option<String> {
    let address = parts.address;
    let what = match parts.space {
        MemorySpace::Generic { .. } | MemorySpace::Global => "address",
        MemorySpace::Local => "offset into the lane's local memory",
        MemorySpace::Shared => "offset into the CTA's shared memory",
        MemorySpace::Constant { mode: ConstantMode::Direct, .. } => "offset into the constant bank",
        MemorySpace::Constant { .. } => {
            return Some(format!(
                "{} and the immediate take part in bank and offset",
                address.base
            ));
        }
        MemorySpace::Tensor | MemorySpace::Undocumented => return None,
    };
    Some(match (address.base.is_zero(), address.offset) {
        (true, _) if address.uniform.is_some() => return None,
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
        (false, _) if address.scale() > 0 => {
            format!("32-bit {what} in {}, zero-extended after the sum modulo 2^32", base(address))
        }
        (false, _) if address.uniform.is_some_and(|uniform| uniform.extended) => {
            format!("32-bit {what} in {}, zero-extended before the sum", address.base)
        }
        (false, _) => {
            format!("32-bit {what} in {}, zero-extended after the sum modulo 2^32", address.base)
        }
    })
}

fn uniform_base_remark(parts: &LoadParts) -> Option<String> {
    let uniform = uniform_base(parts.address)?;
    let is_pair = parts.address.uniform.is_some_and(|uniform| uniform.extended);
    Some(if is_pair {
        format!("{uniform}, the same for all lanes, is added; UR must be even")
    } else {
        format!("{uniform}, the same for all lanes, is added")
    })
}

fn alignment_remark(address: Address, size: LoadSize) -> String {
    let bytes = size.bytes();
    let without_base = address.offset.without_base();
    if bytes == 1 {
        "one byte: every address is aligned".to_owned()
    } else if address.base.is_zero()
        && address.uniform.is_none()
        && !without_base.is_multiple_of(bytes)
    {
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
        ".U.128 is a hint: one fetch serves all lanes if their addresses agree{memory}; the \
         values are the same as for .128"
    )
}

/// The letters that mark a field in both the ruler and the table.
fn keys() -> impl Iterator<Item = char> {
    ('a'..='z').chain('A'..='Z')
}

/// The longest line of the ruler of a word of 128 bits. A word of 64 bits has one line.
const RULER: usize = 80;

/// Draws the bits grouped by field, with each field's key below its highest bit.
fn ruler(fields: &[FieldReading], word_width: u32) -> String {
    let longest = if word_width == 64 { usize::MAX } else { RULER };
    let mut lines: Vec<(String, String, u8, u8)> = Vec::new();
    for (field, key) in fields.iter().zip(keys()) {
        let (high, low) = (field.field().high(), field.field().low());
        let width = usize::from(high - low) + 1;
        if lines.last().is_none_or(|(bits, ..)| bits.len() + width > longest) {
            lines.push((String::new(), String::new(), high, low));
        }
        if let Some((bits, below, _, last)) = lines.last_mut() {
            *bits += &format!("{:0width$b} ", field.raw);
            *below += &format!("{key:<width$} ");
            *last = low;
        }
    }
    let line = |(bits, below, high, low): &(String, String, u8, u8)| {
        let (bits, high) = (bits.trim_end(), high.to_string());
        let room = bits.len().saturating_sub(high.len());
        format!("{high}{low:>room$}\n{bits}\n{}\n", below.trim_end())
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn table(fields: &[FieldReading]) -> String {
    let row = |(field, key): (&FieldReading, char)| {
        let (bits, raw) = (field.field().to_string(), format!("{:#x}", field.raw));
        let (name, purpose) = (field.name().to_owned(), field.purpose().to_owned());
        [key.to_string(), bits, raw, name, field.to_string(), purpose]
    };
    let headings = ["", "bits", "value", "field", "meaning", "purpose"].map(str::to_owned);
    let rows: Vec<_> = [headings].into_iter().chain(fields.iter().zip(keys()).map(row)).collect();
    let width = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0);
    let [w0, w1, w2, w3, w4] = [0, 1, 2, 3, 4].map(width);
    let line = |[key, bits, raw, name, meaning, purpose]: &[String; 6]| {
        format!("{key:<w0$}  {bits:<w1$}  {raw:>w2$}  {name:<w3$}  {meaning:<w4$}  {purpose}\n")
    };
    rows.iter().map(line).collect()
}
