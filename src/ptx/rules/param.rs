//! Parameters: of kernels, of functions, and the variables that calls pass them in.

use super::{Findings, Judged, Rule};
use crate::ptx::load::QualifierKind as Q;
use crate::ptx::module::{FunctionKind, Role, Symbol};
use crate::ptx::{Span, StateSpace, Version, Window};

/// From which version on `::entry` and `::func` are compared with what is loaded. Documents leave
/// a wrong one undefined; assemblers refuse it since ptxas 13.5.
const WINDOWS_CHECKED: Version = Version::new(9, 0);

/// [`ld`, Description; PTX ISA, "Parameter State Space"].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    if judged.load.space().map(|space| space.0) != Some(StateSpace::Param) {
        return;
    }
    let Some(base) = judged.load.address().and_then(|address| address.base) else { return };
    let Some(symbol) = judged.symbol(base) else { return };
    match (symbol.declaration.space, symbol.declaration.role) {
        (StateSpace::Param, Role::Return) => own_return(judged, base, findings),
        (StateSpace::Param, Role::Local) => body_local(judged, base, symbol, findings),
        _ => {}
    }
    window(judged, base, symbol, findings);
}

fn own_return(judged: &Judged<'_>, base: Span, findings: &mut Findings) {
    findings.add(
        Rule::ParamReturn,
        base,
        format!("`{}` is what this function returns in", judged.text(base)),
        "it can be stored to, not loaded".to_owned(),
    );
}

/// A variable between caller and callee: unconditionally loaded, behind the call.
fn body_local(judged: &Judged<'_>, base: Span, symbol: Symbol<'_>, findings: &mut Findings) {
    let name = judged.text(base);
    if let Some(guard) = judged.load.guard {
        findings.add(
            Rule::ParamGuard,
            guard.register,
            format!("a guard on a load of `{name}`, which a call returns in"),
            "load it without a guard".to_owned(),
        );
    }
    let is_entry = judged.function.map(|function| function.kind) == Some(FunctionKind::Entry);
    if is_entry && !judged.returned.contains(&symbol.id) {
        findings.add(
            Rule::ParamCall,
            base,
            format!("no call in front of this load returns in `{name}`"),
            format!("`call ({name}), function, (..);`"),
        );
    }
}

/// `::entry` is not for variables of a body. In a kernel `::func` is for these alone, in a function
/// also for its parameters and for addresses in registers.
fn window(judged: &Judged<'_>, base: Span, symbol: Symbol<'_>, findings: &mut Findings) {
    if judged.module.version < WINDOWS_CHECKED {
        return;
    }
    let is_entry = judged.function.map(|function| function.kind) == Some(FunctionKind::Entry);
    let window = judged.load.first(|kind| match kind {
        Q::Space(StateSpace::Param, window) => window,
        _ => None,
    });
    let Some((window, span)) = window else { return };
    let is_local =
        symbol.declaration.space == StateSpace::Param && symbol.declaration.role == Role::Local;
    let right = if is_local { "param::func" } else { "param::entry" };
    let is_wrong =
        if is_local { window == Window::Entry } else { window == Window::Func && is_entry };
    if is_wrong {
        let what = if is_local { "a variable of the body" } else { "a kernel parameter's place" };
        findings.add(
            Rule::ParamWindow,
            span,
            format!("`{}` with `{}`, {what}", judged.text(span), judged.text(base)),
            format!("write `.{right}` or `.param`"),
        );
    }
}
