//! Rules for parameters of kernels and functions, and for the variables that calls pass them in.

use super::judged::Judged;
use super::violation::Rule;
use crate::module::{FunctionKind, Role};
use crate::syntax::load::{AddressForm, QualifierKind as Q};
use crate::syntax::types::LATER_ASSEMBLER;
use crate::syntax::{Span, StateSpace, SubQualifier};

/// [`ld`, Description; PTX ISA, "Parameter State Space"]
pub(super) fn check(judged: &mut Judged<'_>) {
    let Some(address) = judged.load.address().filter(|_| judged.is_of(StateSpace::Param)) else {
        return;
    };
    let Some(base) = address.base else { return };
    let text = judged.text(base);
    // ptxas checks less in `var[4]`.
    let is_bracketed = address.form == AddressForm::Bracketed;
    let Some(symbol) = judged.symbol(base) else {
        if judged.special(base).is_some() {
            unconditional(judged, base);
            window(judged, base, false);
        }
        return;
    };
    let is_parameter = symbol.declaration.space == StateSpace::Param;
    let role = Some(symbol.declaration.role).filter(|_| is_parameter);
    if role == Some(Role::Return) && is_bracketed {
        let message = format!("`{text}` is the return parameter of this function");
        judged.add(Rule::ParamReturn, base, message, "it can be stored to, not loaded");
    }
    // A variable that passes values between caller and callee must be loaded without a guard, after the call.
    let is_local = role == Some(Role::Local);
    if is_local {
        unconditional(judged, base);
        if is_in_entry(judged) && !judged.returned.contains(&symbol.id) {
            let message = format!("no call returns in `{text}` before this load");
            judged.add(Rule::ParamCall, base, message, format!("`call ({text}), function, (..);`"));
        }
    }
    if is_bracketed {
        window(judged, base, is_local);
    }
}

fn is_in_entry(judged: &Judged<'_>) -> bool {
    judged.function.is_some_and(|function| function.kind == FunctionKind::Entry)
}

/// Only parameters may be loaded under a guard, not variables of a body or addresses in special registers.
fn unconditional(judged: &mut Judged<'_>, base: Span) {
    if let Some(guard) = judged.load.guard {
        let name = judged.text(base);
        let message = format!("a guard on a load of `{name}`, which is not a parameter");
        judged.add(Rule::ParamGuard, guard.register, message, "load it without a guard");
    }
}

/// `::entry` is not for variables of a body. In a kernel, `::func` is only for them; in a function, it is also for
/// parameters and addresses in registers.
fn window(judged: &mut Judged<'_>, base: Span, is_local: bool) {
    // Before PTX 9.0 a wrong sub-qualifier is undefined according to the documents, and not reported.
    if judged.module.version < LATER_ASSEMBLER {
        return;
    }
    let (wrong, right, what) = match is_local {
        true => (SubQualifier::Entry, "param::func", "a variable of the body"),
        false => (SubQualifier::Func, "param::entry", "a kernel parameter's place"),
    };
    let written = judged.finds(|kind| kind == Q::Space(StateSpace::Param, Some(wrong)));
    if let Some(span) = written.filter(|_| is_local || is_in_entry(judged)) {
        let message = format!("`{}` with `{}`, {what}", judged.text(span), judged.text(base));
        judged.add(Rule::ParamWindow, span, message, format!("write `.{right}` or `.param`"));
    }
}
