//! The table of features with the first `.version` and `.target` that have them.

use super::judged::{Gate, Judged};
use super::violation::Rule;
use crate::syntax::load::{CacheLevel, MemoryOrder, MemoryScope, Opcode, QualifierKind as Q};
use crate::syntax::{Reach, ScalarType, Span, StateSpace, SubQualifier, Target, Version};

/// The part of a load that uses a feature.
pub(super) enum Uses {
    /// A qualifier other than the plain ones ([`Q::is_plain`]).
    Qualifier(fn(Q) -> bool),
    /// The opcode and its qualifiers. Returns the place of the use.
    Form(fn(&Judged<'_>) -> Option<Span>),
    /// The names in the operands. Returns the place of the use.
    Names(fn(&Judged<'_>) -> Option<Span>),
}

/// From the sections "PTX ISA Notes" and "Target ISA Notes" of `ld` and `ld.global.nc`. If ptxas decides otherwise, as
/// for the target of `.shared::cta` and for `.weak`, its verdict counts.
pub(super) const GATES: [Gate<Uses>; 24] = [
    (
        "`ld.volatile`",
        Some((1, 1)),
        None,
        Uses::Qualifier(|q| q == Q::Order(MemoryOrder::Volatile)),
    ),
    (
        "generic addressing",
        Some((2, 0)),
        Some(20),
        Uses::Form(|l| {
            let is_generic = l.load.opcode == Opcode::Ld && l.load.space().is_none();
            is_generic.then_some(l.load.opcode_span)
        }),
    ),
    ("a cache operation", Some((2, 0)), Some(20), Uses::Qualifier(|q| matches!(q, Q::Cache(_)))),
    ("`.nc`", Some((3, 1)), Some(32), Uses::Qualifier(|q| q == Q::NonCoherent)),
    ("`.weak`", Some((6, 0)), Some(70), Uses::Qualifier(|q| q == Q::Order(MemoryOrder::Weak))),
    (
        "`.relaxed`",
        Some((6, 0)),
        Some(70),
        Uses::Qualifier(|q| q == Q::Order(MemoryOrder::Relaxed)),
    ),
    (
        "`.acquire`",
        Some((6, 0)),
        Some(70),
        Uses::Qualifier(|q| q == Q::Order(MemoryOrder::Acquire)),
    ),
    (
        "a scope",
        Some((6, 0)),
        Some(70),
        Uses::Form(|l| {
            // The order of the scope needs the same version and target, and is reported already.
            let is_ordered = l.finds(|q| matches!(q, Q::Order(_))).is_some();
            if is_ordered { None } else { l.finds(|q| matches!(q, Q::Scope(_))) }
        }),
    ),
    (
        "an L1 eviction priority",
        Some((7, 4)),
        Some(70),
        Uses::Qualifier(|q| matches!(q, Q::Eviction(CacheLevel::L1, _))),
    ),
    ("a prefetch size", Some((7, 4)), Some(75), Uses::Qualifier(|q| matches!(q, Q::Prefetch(_)))),
    ("`.L2::256B`", None, Some(80), Uses::Qualifier(|q| q == Q::Prefetch(256))),
    ("`.L2::cache_hint`", Some((7, 4)), Some(80), Uses::Qualifier(|q| q == Q::CacheHint)),
    (
        "the scope `.cluster`",
        Some((7, 8)),
        Some(90),
        Uses::Qualifier(|q| q == Q::Scope(MemoryScope::Cluster)),
    ),
    ("`::cta`", Some((7, 8)), None, Uses::Qualifier(|q| window(q) == Some(SubQualifier::Cta))),
    (
        "`::cluster`",
        Some((7, 8)),
        Some(90),
        Uses::Qualifier(|q| window(q) == Some(SubQualifier::Cluster)),
    ),
    (
        "a variable with the attribute `.unified`",
        Some((8, 0)),
        Some(90),
        Uses::Names(|l| {
            let address = l.load.address()?;
            let is_unified = l.symbol(address.base?)?.declaration.is_unified;
            is_unified.then_some(address.unified).flatten()
        }),
    ),
    ("`.mmio`", Some((8, 2)), Some(70), Uses::Qualifier(|q| q == Q::Mmio)),
    (
        "`.acquire` with `.mmio`",
        Some((9, 3)),
        None,
        Uses::Form(|l| {
            l.finds(|q| q == Q::Mmio)?;
            l.finds(|q| q == Q::Order(MemoryOrder::Acquire))
        }),
    ),
    ("`::entry`", Some((8, 3)), None, Uses::Qualifier(|q| window(q) == Some(SubQualifier::Entry))),
    ("`::func`", Some((8, 3)), None, Uses::Qualifier(|q| window(q) == Some(SubQualifier::Func))),
    (
        "`.b128`",
        Some((8, 3)),
        Some(70),
        Uses::Names(|l| {
            let written = l.finds(|q| q == Q::Type(ScalarType::B128));
            written.or_else(|| l.named_register(|register| register.scalar == ScalarType::B128))
        }),
    ),
    (
        "the scope `.sys` with `.b128`",
        Some((8, 4)),
        None,
        Uses::Form(|l| {
            l.finds(|q| q == Q::Type(ScalarType::B128))?;
            l.finds(|q| q == Q::Scope(MemoryScope::Sys))
        }),
    ),
    (
        "a 256-bit load",
        Some((8, 8)),
        Some(100),
        Uses::Form(|l| l.is_wide().then(|| l.finds(|q| matches!(q, Q::Vector(_)))).flatten()),
    ),
    (
        "`.volatile` on `.local`",
        Some((9, 1)),
        None,
        Uses::Form(|l| {
            let (space, _) = l.load.space()?;
            if space != StateSpace::Local {
                return None;
            }
            l.finds(|q| q == Q::Order(MemoryOrder::Volatile))
        }),
    ),
];

fn window(kind: Q) -> Option<SubQualifier> {
    match kind {
        Q::Space(_, window) => window,
        _ => None,
    }
}

/// The first version that knows an SM as a target; `None` for an unknown SM. [PTX ISA, Release Notes; `sm_107` from an
/// assembler's verdicts]
const fn first_version(sm: u32) -> Option<(u8, u8)> {
    Some(match sm {
        12 | 13 => (1, 2),
        20 => (2, 0),
        30 => (3, 0),
        35 => (3, 1),
        32 | 50 => (4, 0),
        37 | 52 => (4, 1),
        53 => (4, 2),
        60..=62 => (5, 0),
        70 => (6, 0),
        72 => (6, 1),
        75 => (6, 3),
        80 => (7, 0),
        86 => (7, 1),
        87 => (7, 4),
        89 | 90 => (7, 8),
        100 | 101 => (8, 6),
        120 => (8, 7),
        103 | 121 => (8, 8),
        88 | 110 => (9, 0),
        107 => (9, 4),
        _ => return None,
    })
}

/// The first versions with architecture-specific (`sm_90a`) and family-specific (`sm_100f`) targets.
const ALONE: Version = Version::new(8, 0);
const FAMILY: Version = Version::new(8, 8);

/// Checks a load against the table. If `is_sound`, its form is known to be legal and only the names in its operands are
/// checked.
pub(super) fn check(judged: &mut Judged<'_>, is_sound: bool) {
    let is_plain = judged.is_plain();
    for (feature, version, sm, uses) in &GATES {
        let used = match uses {
            Uses::Qualifier(_) | Uses::Form(_) if is_sound => continue,
            Uses::Qualifier(_) if is_plain => continue,
            _ if !judged.findings.lack(*version, *sm) => continue,
            Uses::Qualifier(which) => judged.finds(which),
            Uses::Form(find) | Uses::Names(find) => find(judged),
        };
        if let Some(span) = used {
            judged.findings.needs(feature, *version, *sm, span);
        }
    }
    if !is_sound {
        target_version(judged);
    }
}

/// The `.version` must know the `.target`.
fn target_version(judged: &mut Judged<'_>) {
    let target = judged.findings.target;
    let machine = first_version(target.sm).map(|(major, minor)| Version::new(major, minor));
    let suffix = match target.reach {
        Reach::Onward => None,
        Reach::ArchitectureSpecific => Some(ALONE),
        Reach::FamilySpecific => Some(FAMILY),
    };
    let Some(version) = machine.max(suffix) else { return };
    if version > judged.module.version {
        let message = format!("`.target {target}` needs `.version {version}` or later");
        let help = format!("this module has `.version {}`", judged.module.version);
        judged.add(Rule::TargetVersion, judged.load.opcode_span, message, help);
    }
}

/// The SMs with Tensor Memory, and whether they have `tcgen05.ld.red`. A family-specific target counts by the SM of its
/// name. [tcgen05.ld, "Target ISA Notes"; `sm_107` from an assembler's verdicts]
const TENSOR_MACHINES: [(u32, bool); 5] =
    [(100, false), (101, true), (103, true), (107, true), (110, true)];

/// Checks the version and target of a `tcgen05.ld`.
pub(super) fn check_tensor(judged: &mut Judged<'_>) {
    let is_red = judged.load.opcode == Opcode::TensorLdRed;
    let version = if is_red { (8, 8) } else { (8, 6) };
    let name = format!("`{}`", judged.load.opcode.name());
    let span = judged.load.opcode_span;
    judged.findings.needs(&name, Some(version), None, span);
    let Target { sm, reach } = judged.findings.target;
    let machine = TENSOR_MACHINES.iter().find(|machine| machine.0 == sm);
    let is_there = machine.is_some_and(|machine| machine.1 || !is_red);
    if !is_there || reach == Reach::Onward {
        let machines = if is_red {
            "`.target` `sm_101`, `sm_103`, `sm_107` or `sm_110` with `a` or `f`"
        } else {
            "`.target` `sm_100`, `sm_101`, `sm_103`, `sm_107` or `sm_110` with `a` or `f`"
        };
        judged.findings.needs_target(&name, machines, span);
    }
    target_version(judged);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_gate_is_for_a_plain_qualifier() {
        let plain: Vec<Q> = Q::table(Opcode::Ld)
            .iter()
            .map(|row| row.1)
            .chain(ScalarType::ALL.map(Q::Type))
            .filter(|kind| kind.is_plain())
            .collect();
        assert!(plain.len() > 20);
        for (feature, _, _, uses) in &GATES {
            if let Uses::Qualifier(which) = uses {
                assert!(!plain.iter().any(|kind| which(*kind)), "{feature}");
            }
        }
    }
}
