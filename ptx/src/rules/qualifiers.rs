//! Rules for unknown and repeated qualifiers, and for the type.

use super::judged::Judged;
use super::violation::Rule;
use crate::syntax::ScalarType;
use crate::syntax::load::{CacheLevel, Opcode, QualifierKind as Q};
use crate::tensor::judge::is_type;

/// The name of a group of qualifiers that exclude one another. `None` for types, which have their own rule, for unknown
/// qualifiers, and for the ones that an assembler accepts repeatedly.
fn kind(qualifier: Q) -> Option<&'static str> {
    Some(match qualifier {
        Q::Order(_) => "order",
        Q::Mmio => "`.mmio`",
        Q::Scope(_) => "scope",
        Q::Space(..) => "state space",
        Q::Cache(_) => "cache operation",
        Q::Eviction(CacheLevel::L1, _) => "L1 eviction priority",
        Q::Eviction(CacheLevel::L2, _) => "L2 eviction priority",
        Q::CacheHint => "`.L2::cache_hint`",
        Q::Prefetch(_) => "prefetch size",
        Q::NonCoherent => "`.nc`",
        Q::Vector(_) => "vector size",
        Q::Aligned => "`.aligned`",
        Q::Shape(_) => "shape",
        Q::Repeat(_) => "number of repeats",
        Q::Pack => "`.pack::16b`",
        Q::Reduction(_) => "reduction",
        Q::Absolute => "`.abs`",
        Q::Type(_) | Q::Unknown | Q::Sync | Q::Nan => return None,
        // Loads do not have these.
        Q::Rounding(_) | Q::Comparison(_) | Q::Matrix { .. } | Q::Keyword(_) => return None,
    })
}

/// [`ld` and `tcgen05.ld`, Syntax]
pub(super) fn check(judged: &mut Judged<'_>) {
    unknown(judged);
    duplicates(judged);
    one_type(judged);
}

fn unknown(judged: &mut Judged<'_>) {
    let opcode = judged.load.opcode;
    for qualifier in judged.load.qualifiers() {
        // The table has `.L2::evict_unchanged` and `.L2::no_allocate`, but only L1 has these priorities.
        if qualifier.kind == Q::Unknown || qualifier.kind.is_l1_only() {
            let text = judged.text(qualifier.span);
            let message = format!("`{text}` is not a qualifier of `{}`", opcode.name());
            let help = similar(opcode, text).map(|known| format!("did you mean `{known}`?"));
            judged.findings.report(Rule::UnknownQualifier, qualifier.span, message, help);
        }
    }
}

fn duplicates(judged: &mut Judged<'_>) {
    for (place, qualifier) in judged.load.qualifiers().enumerate() {
        let Some(name) = kind(qualifier.kind) else { continue };
        let mut before = judged.load.qualifiers().take(place);
        let Some(first) = before.find(|other| kind(other.kind) == Some(name)) else { continue };
        let (this, first) = (judged.text(qualifier.span), judged.text(first.span));
        let (rule, message) = if name == "order" {
            (Rule::OrderConflict, format!("`{this}` and `{first}` exclude one another"))
        } else if this == first {
            (Rule::DuplicateQualifier, format!("`{this}` is repeated"))
        } else {
            (Rule::DuplicateQualifier, format!("`{this}` is a second {name} beside `{first}`"))
        };
        judged.add(rule, qualifier.span, message, format!("remove `{this}` or `{first}`"));
    }
}

/// A load has exactly one type, out of the types of its opcode.
fn one_type(judged: &mut Judged<'_>) {
    let load = judged.load;
    let name = load.opcode.name();
    let help = match load.opcode {
        Opcode::Ld => {
            "its types are `.b8` to `.b128`, `.u8` to `.u64`, `.s8` to `.s64`, `.f32` and `.f64`"
        }
        Opcode::TensorLdRed => "its types are `.f32`, `.u32` and `.s32`",
        _ => "its types are `.b32`",
    };
    let is_legal = |scalar: ScalarType| match load.opcode {
        Opcode::Ld => scalar.is_integer() || matches!(scalar, ScalarType::F32 | ScalarType::F64),
        opcode => is_type(opcode == Opcode::TensorLdRed, scalar),
    };
    let mut first = None;
    for qualifier in load.qualifiers() {
        let Q::Type(scalar) = qualifier.kind else { continue };
        let text = judged.text(qualifier.span);
        if let Some(first) = first {
            let message = format!("`{text}` is a second type beside `{first}`");
            let help = format!("remove `{text}` or `{first}`");
            judged.add(Rule::OneType, qualifier.span, message, help);
        }
        first = first.or(Some(text));
        if !is_legal(scalar) {
            let message = format!("`{text}` is not a type of `{name}`");
            judged.add(Rule::LoadType, qualifier.span, message, help);
        }
    }
    if first.is_none() && !judged.has_unknown() {
        judged.add(Rule::OneType, load.opcode_span, format!("`{name}` without a type"), help);
    }
}

/// The known qualifier that differs from `text` in case only, or in at most two characters.
fn similar(opcode: Opcode, text: &str) -> Option<&'static str> {
    let known = Q::table(opcode).iter().filter(|row| !row.1.is_l1_only()).map(|row| row.0);
    if let Some(name) = known.clone().find(|name| name.eq_ignore_ascii_case(text)) {
        return Some(name);
    }
    // Short names are close to too many others.
    if text.len() < 5 || text.len() > 32 {
        return None;
    }
    let near = known.map(|name| (strsim::levenshtein(name, text), name)).min();
    near.filter(|(distance, _)| *distance <= 2).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        for (text, name) in [
            (".gloal", Some(".global")),
            (".GLOBAL", Some(".global")),
            (".L1::EVICT_LAST", Some(".L1::evict_last")),
            (".shared::gpu", None),
            (".xyz", None),
            (".nonsense", None),
        ] {
            let found = similar(Opcode::Ld, text);
            assert_eq!(found, name, "{text}");
        }
    }
}
