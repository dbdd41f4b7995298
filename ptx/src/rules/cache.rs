//! L2 priorities, cache policies, `.nc` and `.unified`.

use super::combinations::only_global;
use super::judged::Judged;
use super::violation::Rule;
use crate::syntax::StateSpace;
use crate::syntax::load::{AddressForm, CacheLevel, OperandKind, QualifierKind as Q};

/// [`ld` and `ld.global.nc`, Syntax and Description]
pub(super) fn check(judged: &mut Judged<'_>) {
    l2_eviction(judged);
    policy(judged);
    unified(judged);
    if let Some(span) = judged.finds(|q| q == Q::NonCoherent)
        && !judged.is_of(StateSpace::Global)
    {
        judged.add(Rule::NcSpace, span, "`.nc` without `.global`", "write `ld.global.nc`");
    }
}

/// An L2 priority needs one of the 256-bit forms.
fn l2_eviction(judged: &mut Judged<'_>) {
    let span = judged.finds(|q| matches!(q, Q::Eviction(CacheLevel::L2, _)));
    if let Some(span) = span.filter(|_| !judged.is_wide()) {
        let message = format!("`{}` on a load that is not 256 bits wide", judged.text(span));
        let help = "it is only valid with `.v8` of a 32-bit type or `.v4` of a 64-bit type";
        judged.add(Rule::L2EvictionWidth, span, message, help);
    }
}

/// The policy is the third operand: an integer, or a 64-bit register that is not a float. It may be an element of a
/// vector register.
fn policy(judged: &mut Judged<'_>) {
    let hint = judged.finds(|q| q == Q::CacheHint);
    let Some(policy) = judged.load.operands.get(2) else {
        if let Some(hint) = hint {
            let message = "`.L2::cache_hint` without a cache policy";
            let help = "add a 64-bit register after the address, or remove `.L2::cache_hint`";
            judged.add(Rule::HintWithoutPolicy, hint, message, help);
        }
        return;
    };
    if hint.is_none() {
        let message = "a cache policy without `.L2::cache_hint`";
        let help = "add `.L2::cache_hint`, or remove the operand";
        judged.add(Rule::PolicyWithoutHint, policy.span, message, help);
    }
    let is_register = |name, is_element| {
        judged.register(name).is_some_and(|register| {
            register.scalar.is_integer()
                && register.scalar.bits() == 64
                && (register.vector > 1) == is_element
        })
    };
    let is_policy = match policy.kind {
        OperandKind::Constant(value) => value.integer().is_some(),
        OperandKind::Name => is_register(policy.span, false),
        OperandKind::Sum(_) => judged
            .load
            .sum_in(policy)
            .and_then(|sum| sum.base)
            .is_some_and(|name| is_register(name, false)),
        OperandKind::Component(name) => is_register(name, true),
        _ => false,
    };
    if !is_policy {
        let help = "a policy is a register of type `.b64`, `.u64` or `.s64`, or an integer";
        judged.no(Rule::PolicyOperand, policy.span, "cache policy", help);
    }
}

/// `.unified` after the address must match the attribute of the variable. A register may hold any address, so it is not
/// checked; an element of an array may lack `.unified`.
fn unified(judged: &mut Judged<'_>) {
    let Some(address) = judged.load.address() else { return };
    let written = address.unified.filter(|_| address.form == AddressForm::Bracketed);
    if let Some(span) = written {
        only_global(judged, Rule::UnifiedSpace, span);
    }
    let Some(base) = address.base else { return };
    let declaration = judged.symbol(base).map(|symbol| symbol.declaration);
    let is_register = declaration.is_some_and(|known| known.space == StateSpace::Register);
    let is_unified = declaration.is_some_and(|known| known.is_unified);
    let is_known = declaration.is_some() || judged.special(base).is_some();
    match written {
        Some(span) if is_known && !is_register && !is_unified => {
            let help = "declare it with `.attribute(.unified(..))`, or remove `.unified`";
            let message = "`.unified` on a variable without that attribute";
            judged.add(Rule::UnifiedVariable, span, message, help);
        }
        None if is_unified && address.unified.is_none() => {
            let message =
                format!("`.unified` is missing after the address of `{}`", judged.text(base));
            judged.add(Rule::UnifiedMissing, base, message, "write `.unified` after the brackets");
        }
        _ => {}
    }
}
