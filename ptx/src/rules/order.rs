//! Memory order and scope, and `.mmio`.

use super::judged::Judged;
use super::violation::Rule;
use crate::syntax::StateSpace;
use crate::syntax::load::{MemoryOrder, MemoryScope, QualifierKind as Q};

/// [`ld`, Syntax and Description]
pub(super) fn check(judged: &mut Judged<'_>) {
    scope(judged);
    space(judged);
    mmio(judged);
}

/// A scope needs `.relaxed` or `.acquire`, and these need a scope.
fn scope(judged: &mut Judged<'_>) {
    let scope = judged.finds(|kind| matches!(kind, Q::Scope(_)));
    let order = judged.load.order().filter(|(order, _)| has_scope(*order));
    match (order, scope) {
        (Some((_, span)), None) => {
            let message = format!("`{}` without a scope", judged.text(span));
            let help = "add `.cta`, `.cluster`, `.gpu` or `.sys`";
            judged.add(Rule::OrderWithoutScope, span, message, help);
        }
        (None, Some(span)) => {
            let text = judged.text(span);
            let message = format!("the scope `{text}` needs `.relaxed` or `.acquire`");
            let help = format!("remove `{text}` or add an order");
            judged.add(Rule::ScopeWithoutOrder, span, message, help);
        }
        _ => {}
    }
}

fn has_scope(order: MemoryOrder) -> bool {
    matches!(order, MemoryOrder::Relaxed | MemoryOrder::Acquire)
}

/// Constant memory and parameters do not change while a kernel runs, so only `.weak` is allowed. Local memory is
/// private to its thread, so there is no thread to synchronize with.
fn space(judged: &mut Judged<'_>) {
    let (Some((order, span)), Some((space, _))) = (judged.load.order(), judged.load.space()) else {
        return;
    };
    let is_legal = match (order, space) {
        (MemoryOrder::Weak, _) => true,
        (_, StateSpace::Const | StateSpace::Param) => false,
        (_, StateSpace::Local) => order == MemoryOrder::Volatile,
        _ => true,
    };
    if !is_legal {
        let message = format!("`{}` on `{}`", judged.text(span), judged.space_text());
        let help = if order == MemoryOrder::Volatile {
            "`.volatile` is only valid with `.global`, `.shared`, `.local` and generic addressing"
        } else {
            "it is only valid with `.global`, `.shared` and generic addressing"
        };
        judged.add(Rule::OrderSpace, span, message, help);
    }
}

/// `.mmio` makes one access to global memory, exactly as written.
fn mmio(judged: &mut Judged<'_>) {
    let Some(span) = judged.finds(|kind| kind == Q::Mmio) else { return };
    if judged.load.order().is_none_or(|(order, _)| !has_scope(order)) {
        let message = "`.mmio` without `.relaxed` or `.acquire`";
        judged.add(Rule::MmioOrder, span, message, "add `.relaxed.sys`");
    }
    // A missing scope is reported as `order-without-scope`.
    let mut qualifiers = judged.load.qualifiers();
    let scope = qualifiers.find(|qualifier| matches!(qualifier.kind, Q::Scope(_)));
    if let Some(scope) = scope.filter(|scope| scope.kind != Q::Scope(MemoryScope::Sys)) {
        let message = format!("the scope `{}` with `.mmio`", judged.text(scope.span));
        judged.add(Rule::MmioScope, scope.span, message, "use `.sys`, the only scope of `.mmio`");
    }
}
