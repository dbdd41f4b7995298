//! Unknown and repeated qualifiers, and types.

use super::{Findings, Judged, Rule};
use crate::syntax::load::{Eviction, Level, Opcode, QualifierKind as Q};
use crate::syntax::{ScalarType, Span};
use crate::tensor::judge::is_type;

/// The kinds of qualifiers of which a load has one at most.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Order,
    Mmio,
    Scope,
    Space,
    Cache,
    L1Eviction,
    L2Eviction,
    CacheHint,
    Prefetch,
    NonCoherent,
    Vector,
    Sync,
    Aligned,
    Shape,
    Repeat,
    Pack,
    Reduction,
    Absolute,
    Nan,
}

/// Returns the kind and its name in messages; `None` for types, which have a rule of their own, and
/// for unknown qualifiers.
fn kind(qualifier: Q) -> Option<(Kind, &'static str)> {
    Some(match qualifier {
        Q::Order(_) => (Kind::Order, "order"),
        Q::Mmio => (Kind::Mmio, "`.mmio`"),
        Q::Scope(_) => (Kind::Scope, "scope"),
        Q::Space(..) => (Kind::Space, "state space"),
        Q::Cache(_) => (Kind::Cache, "cache operation"),
        Q::Eviction(Level::L1, _) => (Kind::L1Eviction, "L1 eviction priority"),
        Q::Eviction(Level::L2, _) => (Kind::L2Eviction, "L2 eviction priority"),
        Q::CacheHint => (Kind::CacheHint, "`.L2::cache_hint`"),
        Q::Prefetch(_) => (Kind::Prefetch, "prefetch size"),
        Q::NonCoherent => (Kind::NonCoherent, "`.nc`"),
        Q::Vector(_) => (Kind::Vector, "vector size"),
        Q::Sync => (Kind::Sync, "`.sync`"),
        Q::Aligned => (Kind::Aligned, "`.aligned`"),
        Q::Shape(_) => (Kind::Shape, "shape"),
        Q::Repeat(_) => (Kind::Repeat, "number of repeats"),
        Q::Pack => (Kind::Pack, "`.pack::16b`"),
        Q::Reduction(_) => (Kind::Reduction, "reduction"),
        Q::Absolute => (Kind::Absolute, "`.abs`"),
        Q::Nan => (Kind::Nan, "`.NaN`"),
        Q::Type(_) | Q::Unknown => return None,
    })
}

/// [`ld`, Syntax]: the qualifiers of `ld`.
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    unknown(judged, findings);
    duplicates(judged, findings);
    one_type(
        judged,
        findings,
        is_ld_type,
        "`.b8` to `.b128`, `.u8` to `.u64`, `.s8` to `.s64`, `.f32` and `.f64`",
    );
}

/// [`tcgen05.ld`, Syntax]: the qualifiers of `tcgen05.ld`.
pub(super) fn check_tensor(judged: &Judged<'_>, findings: &mut Findings) {
    unknown(judged, findings);
    duplicates(judged, findings);
    let is_red = judged.load.opcode == Opcode::TensorLdRed;
    let types = if is_red { "`.f32`, `.u32` and `.s32`" } else { "`.b32`" };
    one_type(judged, findings, |scalar| is_type(is_red, scalar), types);
}

fn is_ld_type(scalar: ScalarType) -> bool {
    use ScalarType as T;
    !matches!(scalar, T::Pred | T::F16 | T::F16x2 | T::Opaque | T::Other)
}

fn unknown(judged: &Judged<'_>, findings: &mut Findings) {
    let name = judged.load.opcode.name();
    for qualifier in &judged.load.qualifiers {
        // `.L2::evict_unchanged` and `.L2::no_allocate` are spelled like the L1 priorities.
        let is_l1_only = matches!(
            qualifier.kind,
            Q::Eviction(Level::L2, Eviction::Unchanged | Eviction::NoAllocate)
        );
        if qualifier.kind == Q::Unknown || is_l1_only {
            let text = judged.text(qualifier.span);
            findings.add(
                Rule::UnknownQualifier,
                qualifier.span,
                format!("`{text}` is not a qualifier of `{name}`"),
                similar(judged.load.opcode, text).map(|known| format!("did you mean `{known}`?")),
            );
        }
    }
}

fn duplicates(judged: &Judged<'_>, findings: &mut Findings) {
    for (place, qualifier) in judged.load.qualifiers.iter().enumerate() {
        let Some((of_kind, name)) = kind(qualifier.kind) else { continue };
        // An assembler reads over these.
        if matches!(of_kind, Kind::Sync | Kind::Nan) {
            continue;
        }
        let before = judged.load.qualifiers.iter().take(place);
        let Some(first) = before.into_iter().find(|q| kind(q.kind).map(|k| k.0) == Some(of_kind))
        else {
            continue;
        };
        let (this, first) = (judged.text(qualifier.span), judged.text(first.span));
        let (rule, message) = if of_kind == Kind::Order {
            (Rule::OrderConflict, format!("`{this}` and `{first}` exclude one another"))
        } else if this == first {
            (Rule::DuplicateQualifier, format!("`{this}` is repeated"))
        } else {
            (Rule::DuplicateQualifier, format!("`{this}` is a second {name} beside `{first}`"))
        };
        findings.add(rule, qualifier.span, message, format!("remove `{this}` or `{first}`"));
    }
}

/// Exactly one type, and one that the load has.
fn one_type(
    judged: &Judged<'_>,
    findings: &mut Findings,
    is_type: impl Fn(ScalarType) -> bool,
    types: &str,
) {
    let name = judged.load.opcode.name();
    let mut first: Option<Span> = None;
    for qualifier in &judged.load.qualifiers {
        let Q::Type(scalar) = qualifier.kind else { continue };
        let text = judged.text(qualifier.span);
        if let Some(first) = first {
            let first = judged.text(first);
            findings.add(
                Rule::OneType,
                qualifier.span,
                format!("`{text}` is a second type beside `{first}`"),
                format!("remove `{text}` or `{first}`"),
            );
        }
        first = first.or(Some(qualifier.span));
        if !is_type(scalar) {
            let help = format!("its types are {types}");
            let message = format!("`{name}` has no type `{text}`");
            findings.add(Rule::LoadType, qualifier.span, message, help);
        }
    }
    if first.is_none() && !judged.has_unknown() {
        let message = format!("`{name}` without a type");
        let help = format!("its types are {types}");
        findings.add(Rule::OneType, judged.load.opcode_span, message, help);
    }
}

/// The one known name that differs from `text` in capitals alone, or in one or two characters.
fn similar(opcode: Opcode, text: &str) -> Option<&'static str> {
    let names: &[&str] = if opcode == Opcode::Ld { &Q::LD_NAMES } else { &Q::TENSOR_NAMES };
    if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(text)) {
        return Some(name);
    }
    // Short names are near to everything.
    if text.len() < 5 || text.len() > 32 {
        return None;
    }
    let near = names.iter().map(|name| (strsim::levenshtein(name, text), *name)).min();
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
