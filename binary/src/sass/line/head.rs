//! Lines about the instructions that follow: functions, SMs, registers, blocks of maxas.

use warpload_encoding::Sm;

use super::shape::{NamedSm, Shape};

/// Classifies `code for sm_50` and `Function : NAME` of cuobjdump.
pub(super) fn titled(line: &str) -> Shape<'_> {
    if let Some(sm) = line.strip_prefix("code for sm_") {
        return named_sm(sm).map_or(Shape::Other, Shape::Sm);
    }
    let name = line.strip_prefix("Function").and_then(|rest| rest.trim_start().strip_prefix(':'));
    name.map_or(Shape::Other, |name| named(name.trim()))
}

/// A function begins, unless the name is empty.
fn named(name: &str) -> Shape<'_> {
    if name.is_empty() { Shape::Other } else { Shape::Function(Some(name)) }
}

/// Classifies the header of a kernel of maxas.
pub(super) fn maxas_header(line: &str) -> Shape<'_> {
    let Some((key, value)) = line[1..].split_once(':') else { return Shape::Other };
    let value = value.trim();
    match key.trim() {
        "Kernel" => named(value),
        "Arch" => value.strip_prefix("sm_").and_then(named_sm).map_or(Shape::Other, Shape::Sm),
        "RegCnt" => value.parse().map_or(Shape::Other, Shape::Registers),
        _ => Shape::Other,
    }
}

/// Classifies the tag of a maxas block. Blocks of register names, constant names and Perl contain no
/// instructions.
pub(super) fn block(line: &str) -> Shape<'_> {
    let name = &line[1..];
    let name = name.split_once('>').map_or(name, |(name, _)| name);
    let skipped = ["CODE", "REGISTER_MAPPING", "CONSTANT_MAPPING"];
    let closes_here = line.contains("</");
    if skipped.iter().any(|known| name.starts_with(known)) && !closes_here {
        Shape::Block(name)
    } else {
        Shape::Other
    }
}

/// Classifies what begins with a dot: directives of nvdisasm and CuAssembler, labels, PTX.
pub(super) fn directive(line: &str) -> Shape<'_> {
    if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
        return Shape::Function(Some(name));
    }
    let (name, rest) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
    let rest = rest.trim_start();
    match name {
        ".section" => {
            let name = rest.split_once([',', ' ', '\t']).map_or(rest, |(name, _)| name);
            Shape::Function(name.strip_prefix(".text."))
        }
        ".sectioninfo" => rest
            .split_once("SHI_REGISTERS=")
            .and_then(|(_, number)| u8::try_from(leading_number(number)?).ok())
            .map_or(Shape::Other, Shape::Registers),
        ".headerflags" => header_flags(rest).map_or(Shape::Other, Shape::Flags),
        ".target" => {
            let sm = rest.strip_prefix("sm_").and_then(named_sm);
            sm.map_or(Shape::Other, Shape::Target)
        }
        ".version" => Shape::Ptx,
        _ => Shape::Other,
    }
}

/// Returns the SM that the flags name.
fn header_flags(flags: &str) -> Option<NamedSm> {
    let flags = || flags.split(['"', ' ']);
    // EF_CUDA_VIRTUAL_SM(EF_CUDA_SM50) is the version of the PTX, not of the code.
    let sm = flags().find_map(|flag| flag.strip_prefix("EF_CUDA_SM").and_then(named_sm))?;
    let is_specific = flags().any(|flag| flag == "EF_CUDA_ACCELERATORS");
    if is_specific { named_sm(&format!("{}a", sm.number)) } else { Some(sm) }
}

/// Returns the SM whose number `text` begins with, and its letter: `90a`.
fn named_sm(text: &str) -> Option<NamedSm> {
    let number = leading_number(text)?;
    let name = text.find(|c: char| !c.is_ascii_alphanumeric()).map_or(text, |end| &text[..end]);
    Some(NamedSm { number, known: name.parse().ok().or_else(|| Sm::new(number)) })
}

fn leading_number(text: &str) -> Option<u32> {
    text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
}
