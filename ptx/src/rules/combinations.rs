//! Qualifiers that exclude one another, or that need global memory.

use super::judged::Judged;
use super::violation::Rule;
use crate::syntax::Span;
use crate::syntax::load::{CacheLevel, CacheOperator, MemoryOrder, QualifierKind as Q};

/// A predicate over qualifiers.
type Which = fn(Q) -> bool;

/// Qualifiers that need `.global` or generic addressing.
const GLOBAL_ONLY: [(Rule, Which); 4] = [
    (Rule::EvictionSpace, |q| matches!(q, Q::Eviction(..))),
    (Rule::CacheHintSpace, |q| q == Q::CacheHint),
    (Rule::PrefetchSpace, |q| matches!(q, Q::Prefetch(_))),
    (Rule::MmioSpace, |q| q == Q::Mmio),
];

/// Qualifiers that exclude one another.
const PAIRS: [(Rule, Which, Which); 7] = [
    (Rule::CacheOpEviction, is_l1_eviction, |q| matches!(q, Q::Cache(_))),
    (Rule::EvictionOrder, is_l1_eviction, is_volatile),
    (Rule::CacheHintOrder, |q| q == Q::CacheHint, is_volatile),
    (
        Rule::CacheOpOrder,
        |q| matches!(q, Q::Cache(_)),
        |q| matches!(q, Q::Order(order) if order != MemoryOrder::Weak),
    ),
    (Rule::NcOrder, |q| q == Q::NonCoherent, |q| matches!(q, Q::Order(_))),
    (
        Rule::NcCacheOp,
        |q| matches!(q, Q::Cache(CacheOperator::Lu | CacheOperator::Cv)),
        |q| q == Q::NonCoherent,
    ),
    (Rule::MmioCombination, is_not_for_mmio, |q| q == Q::Mmio),
];

fn is_l1_eviction(qualifier: Q) -> bool {
    matches!(qualifier, Q::Eviction(CacheLevel::L1, _))
}

fn is_volatile(qualifier: Q) -> bool {
    qualifier == Q::Order(MemoryOrder::Volatile)
}

fn is_not_for_mmio(qualifier: Q) -> bool {
    matches!(
        qualifier,
        Q::Vector(_) | Q::Cache(_) | Q::Eviction(..) | Q::Prefetch(_) | Q::CacheHint
    )
}

/// Checks every qualifier against both tables.
pub(super) fn check(judged: &mut Judged<'_>) {
    if judged.is_plain() {
        return;
    }
    for qualifier in judged.load.qualifiers() {
        for (rule, _) in GLOBAL_ONLY.iter().filter(|(_, which)| which(qualifier.kind)) {
            only_global(judged, *rule, qualifier.span);
        }
        for (rule, _, other) in PAIRS.iter().filter(|(_, which, _)| which(qualifier.kind)) {
            let Some(other) = judged.finds(other) else { continue };
            let (this, other) = (judged.text(qualifier.span), judged.text(other));
            let message = format!("`{this}` with `{other}`");
            judged.add(*rule, qualifier.span, message, format!("remove `{this}` or `{other}`"));
        }
    }
}

/// Reports a qualifier that needs global memory, if the load is for another space.
pub(super) fn only_global(judged: &mut Judged<'_>, rule: Rule, span: Span) {
    if !judged.may_be_global() {
        let text = judged.text(span);
        let message = format!("`{text}` on `{}`", judged.space_text());
        judged.add(
            rule,
            span,
            message,
            format!("`{text}` is only valid with `.global` and generic addressing"),
        );
    }
}
