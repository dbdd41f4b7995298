//! Memory order, scope and `.mmio`.

use super::gates::cache_name;
use super::{Findings, Judged, Rule};
use crate::syntax::load::{Order, QualifierKind as Q, Scope};
use crate::syntax::{Span, StateSpace};

/// [`ld`, Syntax and Description]: what goes with which order.
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    let order = judged.load.first(|kind| match kind {
        Q::Order(order) => Some(order),
        _ => None,
    });
    scope(judged, order, findings);
    space(judged, order, findings);
    cache_op(judged, order, findings);
    mmio(judged, order, findings);
}

/// Only `.relaxed` and `.acquire` have a scope.
fn scope(judged: &Judged<'_>, order: Option<(Order, Span)>, findings: &mut Findings) {
    let scope = judged.finds(|kind| matches!(kind, Q::Scope(_)));
    match (order, scope) {
        (Some((Order::Relaxed | Order::Acquire, span)), None) => findings.add(
            Rule::OrderWithoutScope,
            span,
            format!("`{}` without a scope", judged.text(span)),
            "add `.cta`, `.cluster`, `.gpu` or `.sys`".to_owned(),
        ),
        (Some((Order::Weak | Order::Volatile, _)) | None, Some(span)) => findings.add(
            Rule::ScopeWithoutOrder,
            span,
            format!("the scope `{}` needs `.relaxed` or `.acquire`", judged.text(span)),
            format!("remove `{}` or add an order", judged.text(span)),
        ),
        _ => {}
    }
}

/// Constant memory and parameters are not written while a kernel runs: `.weak` alone goes with
/// them. Local memory is the thread's own, so there is no other to synchronize with.
fn space(judged: &Judged<'_>, order: Option<(Order, Span)>, findings: &mut Findings) {
    let (Some((order, span)), Some((space, _))) = (order, judged.load.space()) else { return };
    let is_legal = match (order, space) {
        (Order::Weak, _) => true,
        (_, StateSpace::Const | StateSpace::Param) => false,
        (Order::Volatile, _) => true,
        (_, StateSpace::Local) => false,
        _ => true,
    };
    if !is_legal {
        let message = format!("`{}` on `{}`", judged.text(span), judged.space_text());
        let help = if order == Order::Volatile {
            "`.volatile` goes with `.global`, `.shared`, `.local` and generic addressing"
        } else {
            "it goes with `.global`, `.shared` and generic addressing"
        };
        findings.add(Rule::OrderSpace, span, message, help.to_owned());
    }
}

/// A cache operation goes with weak loads alone.
fn cache_op(judged: &Judged<'_>, order: Option<(Order, Span)>, findings: &mut Findings) {
    let cache = judged.load.first(|kind| match kind {
        Q::Cache(cache) => Some(cache),
        _ => None,
    });
    let (Some((cache, span)), Some((order, order_span))) = (cache, order) else { return };
    if order != Order::Weak {
        let (cache, order) = (cache_name(cache), judged.text(order_span));
        findings.add(
            Rule::CacheOpOrder,
            span,
            format!("the cache operation `{cache}` on a load that is `{order}`"),
            format!("remove `{cache}` or `{order}`"),
        );
    }
}

/// `.mmio`: one access to global memory exactly as it is written.
fn mmio(judged: &Judged<'_>, order: Option<(Order, Span)>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| kind == Q::Mmio) else { return };
    if !matches!(order, Some((Order::Relaxed | Order::Acquire, _))) {
        findings.add(
            Rule::MmioOrder,
            span,
            "`.mmio` without `.relaxed` or `.acquire`".to_owned(),
            "add `.relaxed.sys`".to_owned(),
        );
    }
    let scope = judged.load.first(|kind| match kind {
        Q::Scope(scope) => Some(scope),
        _ => None,
    });
    // Without any, `order-without-scope` says so.
    if let Some((_, scope)) = scope.filter(|(scope, _)| *scope != Scope::Sys) {
        findings.add(
            Rule::MmioScope,
            scope,
            format!("the scope `{}` with `.mmio`", judged.text(scope)),
            "`.sys` is the one scope of `.mmio`".to_owned(),
        );
    }
    if !judged.may_be_global() {
        findings.add(
            Rule::MmioSpace,
            span,
            format!("`.mmio` on `{}`", judged.space_text()),
            "`.mmio` goes with `.global` and generic addressing".to_owned(),
        );
    }
    for qualifier in &judged.load.qualifiers {
        let is_out = matches!(
            qualifier.kind,
            Q::Vector(_) | Q::Cache(_) | Q::Eviction(..) | Q::Prefetch(_) | Q::CacheHint
        );
        if is_out {
            let text = judged.text(qualifier.span);
            findings.add(
                Rule::MmioCombination,
                qualifier.span,
                format!("`{text}` with `.mmio`"),
                format!("remove `{text}`"),
            );
        }
    }
}
