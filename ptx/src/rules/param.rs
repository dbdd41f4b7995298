//! Parameters: of kernels, of functions, and the variables that calls pass them in.

use super::{Findings, Judged, LATER_ASSEMBLER, Rule};
use crate::module::{FunctionKind, Role, Symbol};
use crate::syntax::load::{AddressForm, QualifierKind as Q};
use crate::syntax::{Span, StateSpace, SubQualifier};

/// [`ld`, Description; PTX ISA, "Parameter State Space"].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    if judged.load.space().map(|space| space.0) != Some(StateSpace::Param) {
        return;
    }
    let Some(address) = judged.load.address() else { return };
    let Some(base) = address.base else { return };
    // An assembler asks less of `var[4]`.
    let is_bracketed = address.form == AddressForm::Bracketed;
    let Some(symbol) = judged.symbol(base) else {
        if judged.special(base).is_some() {
            unconditional(judged, base, findings);
            window(judged, base, false, findings);
        }
        return;
    };
    match (symbol.declaration.space, symbol.declaration.role) {
        (StateSpace::Param, Role::Return) if is_bracketed => own_return(judged, base, findings),
        (StateSpace::Param, Role::Local) => body_local(judged, base, symbol, findings),
        _ => {}
    }
    let is_local =
        symbol.declaration.space == StateSpace::Param && symbol.declaration.role == Role::Local;
    if is_bracketed {
        window(judged, base, is_local, findings);
    }
}

fn own_return(judged: &Judged<'_>, base: Span, findings: &mut Findings) {
    findings.add(
        Rule::ParamReturn,
        base,
        format!("`{}` is what this function returns in", judged.text(base)),
        "it can be stored to, not loaded".to_owned(),
    );
}

/// What is not a parameter is loaded without a guard: a special register's address, too.
fn unconditional(judged: &Judged<'_>, base: Span, findings: &mut Findings) {
    let name = judged.text(base);
    if let Some(guard) = judged.load.guard {
        findings.add(
            Rule::ParamGuard,
            guard.register,
            format!("a guard on a load of `{name}`, which is not a parameter"),
            "load it without a guard".to_owned(),
        );
    }
}

/// A variable between caller and callee: loaded unconditionally, after the call.
fn body_local(judged: &Judged<'_>, base: Span, symbol: Symbol<'_>, findings: &mut Findings) {
    unconditional(judged, base, findings);
    let name = judged.text(base);
    let is_entry = judged.function.map(|function| function.kind) == Some(FunctionKind::Entry);
    if is_entry && !judged.returned.contains(&symbol.id) {
        findings.add(
            Rule::ParamCall,
            base,
            format!("no call before this load returns in `{name}`"),
            format!("`call ({name}), function, (..);`"),
        );
    }
}

/// `::entry` is not for variables of a body. In a kernel `::func` is for these alone, in a function
/// also for its parameters and for addresses in registers.
fn window(judged: &Judged<'_>, base: Span, is_local: bool, findings: &mut Findings) {
    // Documents leave a wrong one undefined.
    if judged.module.version < LATER_ASSEMBLER {
        return;
    }
    let is_entry = judged.function.map(|function| function.kind) == Some(FunctionKind::Entry);
    let window = judged.load.first(|kind| match kind {
        Q::Space(StateSpace::Param, window) => window,
        _ => None,
    });
    let Some((window, span)) = window else { return };
    let right = if is_local { "param::func" } else { "param::entry" };
    let is_wrong = if is_local {
        window == SubQualifier::Entry
    } else {
        window == SubQualifier::Func && is_entry
    };
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
