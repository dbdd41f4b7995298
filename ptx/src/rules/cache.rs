//! Caches: operations, eviction, prefetch, policies, `.nc`, `.unified`.

use super::gates::cache_name;
use super::{Findings, Judged, Rule};
use crate::syntax::load::{AddressForm, CacheOp, Level, OperandKind, Order, QualifierKind as Q};
use crate::syntax::{Span, StateSpace, TypeClass};

/// [`ld` and `ld.global.nc`, Syntax and Description].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    eviction(judged, findings);
    l2_eviction(judged, findings);
    cache_hint(judged, findings);
    policy(judged, findings);
    prefetch(judged, findings);
    unified(judged, findings);
    non_coherent(judged, findings);
}

fn is_volatile(judged: &Judged<'_>) -> bool {
    judged.load.has(Q::Order(Order::Volatile))
}

/// What a qualifier that goes with global memory alone is told elsewhere.
fn only_global(judged: &Judged<'_>, rule: Rule, span: Span, findings: &mut Findings) {
    if !judged.may_be_global() {
        let text = judged.text(span);
        findings.add(
            rule,
            span,
            format!("`{text}` on `{}`", judged.space_text()),
            format!("`{text}` goes with `.global` and generic addressing"),
        );
    }
}

fn eviction(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| matches!(kind, Q::Eviction(Level::L1, _))) else { return };
    only_global(judged, Rule::EvictionSpace, span, findings);
    let text = judged.text(span);
    if let Some(cache) = judged.finds(|kind| matches!(kind, Q::Cache(_))) {
        let cache = judged.text(cache);
        findings.add(
            Rule::CacheOpEviction,
            span,
            format!("`{text}` beside the cache operation `{cache}`"),
            format!("remove `{text}` or `{cache}`"),
        );
    }
    if is_volatile(judged) {
        findings.add(
            Rule::EvictionOrder,
            span,
            format!("`{text}` on a volatile load"),
            format!("remove `{text}` or `.volatile`"),
        );
    }
}

/// An L2 priority goes with the 256-bit forms, and these with global memory.
fn l2_eviction(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| matches!(kind, Q::Eviction(Level::L2, _))) else { return };
    only_global(judged, Rule::EvictionSpace, span, findings);
    if !judged.is_wide() {
        findings.add(
            Rule::L2EvictionWidth,
            span,
            format!("`{}` on a load that is not 256 bits wide", judged.text(span)),
            "it goes with `.v8` of a 32-bit type and `.v4` of a 64-bit type".to_owned(),
        );
    }
}

fn cache_hint(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| kind == Q::CacheHint) else { return };
    only_global(judged, Rule::CacheHintSpace, span, findings);
    if is_volatile(judged) {
        findings.add(
            Rule::CacheHintOrder,
            span,
            "`.L2::cache_hint` on a volatile load".to_owned(),
            "remove `.L2::cache_hint` or `.volatile`".to_owned(),
        );
    }
    if judged.load.operands.len() < 3 {
        findings.add(
            Rule::HintWithoutPolicy,
            span,
            "`.L2::cache_hint` without a cache policy".to_owned(),
            "add a 64-bit register after the address, or remove `.L2::cache_hint`".to_owned(),
        );
    }
}

/// The third operand: a 64-bit register, also one of a vector, not of floats, or an integer.
fn policy(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(policy) = judged.load.operands.get(2) else { return };
    if !judged.load.has(Q::CacheHint) {
        findings.add(
            Rule::PolicyWithoutHint,
            policy.span,
            "a cache policy without `.L2::cache_hint`".to_owned(),
            "add `.L2::cache_hint`, or remove the operand".to_owned(),
        );
    }
    let is_register = |name, is_element| {
        judged.register(name).is_some_and(|register| {
            register.scalar.bits() == Some(64)
                && register.scalar.class() != TypeClass::Float
                && (register.vector > 1) == is_element
        })
    };
    let is_policy = match &policy.kind {
        OperandKind::Constant(value) => value.integer().is_some(),
        OperandKind::Name => is_register(policy.span, false),
        OperandKind::Sum(name, _) => is_register(*name, false),
        OperandKind::Component(name) => is_register(*name, true),
        _ => false,
    };
    if !is_policy {
        let help = "a policy is a register of type `.b64`, `.u64` or `.s64`, or an integer";
        judged.no(Rule::PolicyOperand, policy.span, "cache policy", help, findings);
    }
}

fn prefetch(judged: &Judged<'_>, findings: &mut Findings) {
    if let Some(span) = judged.finds(|kind| matches!(kind, Q::Prefetch(_))) {
        only_global(judged, Rule::PrefetchSpace, span, findings);
    }
}

/// `.unified` after the address belongs to unified variables. A register may hold any address,
/// and nothing is said of an element of an array.
fn unified(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(address) = judged.load.address() else { return };
    let written = address.unified.filter(|_| address.form == AddressForm::Bracketed);
    if let Some(span) = written {
        only_global(judged, Rule::UnifiedSpace, span, findings);
    }
    let Some(base) = address.base else { return };
    let declaration = judged.symbol(base).map(|symbol| symbol.declaration);
    let is_register =
        declaration.is_some_and(|declaration| declaration.space == StateSpace::Register);
    let is_unified = declaration.is_some_and(|declaration| declaration.is_unified);
    let is_known = declaration.is_some() || judged.special(base).is_some();
    match written {
        Some(span) if is_known && !is_register && !is_unified => findings.add(
            Rule::UnifiedVariable,
            span,
            "`.unified` on a variable that is not".to_owned(),
            "declare it with `.attribute(.unified(..))`, or remove `.unified`".to_owned(),
        ),
        None if is_unified && address.unified.is_none() => findings.add(
            Rule::UnifiedMissing,
            base,
            format!("`{}` is unified, its address is not", judged.text(base)),
            "write `.unified` after the brackets".to_owned(),
        ),
        _ => {}
    }
}

fn non_coherent(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| kind == Q::NonCoherent) else { return };
    if judged.load.space().map(|space| space.0) != Some(StateSpace::Global) {
        let message = "`.nc` without `.global`".to_owned();
        findings.add(Rule::NcSpace, span, message, "write `ld.global.nc`".to_owned());
    }
    if let Some(order) = judged.finds(|kind| matches!(kind, Q::Order(_))) {
        let order = judged.text(order);
        findings.add(
            Rule::NcOrder,
            span,
            format!("`.nc` on a load that is `{order}`"),
            format!("remove `.nc` or `{order}`"),
        );
    }
    let cache = judged.load.first(|kind| match kind {
        Q::Cache(cache @ (CacheOp::Lu | CacheOp::Cv)) => Some(cache),
        _ => None,
    });
    if let Some((cache, span)) = cache {
        findings.add(
            Rule::NcCacheOp,
            span,
            format!("the cache operation `{}` with `.nc`", cache_name(cache)),
            "`.nc` goes with `.ca`, `.cg` and `.cs`".to_owned(),
        );
    }
}
