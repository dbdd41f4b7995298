//! From which `.version` and `.target` on a feature can be used: one table.

use super::{Findings, Judged, Rule};
use crate::module::Module;
use crate::syntax::load::{CacheOp, Level, Opcode, Order, QualifierKind as Q, Scope};
use crate::syntax::special::SpecialRegister;
use crate::syntax::{Reach, ScalarType, Span, StateSpace, SubQualifier, Target, Version};

/// A feature, and its place in a load that uses it.
struct Gate {
    feature: &'static str,
    version: Option<(u8, u8)>,
    sm: Option<u32>,
    uses: fn(&Judged<'_>) -> Option<Span>,
}

const fn gate(
    feature: &'static str,
    version: Option<(u8, u8)>,
    sm: Option<u32>,
    uses: fn(&Judged<'_>) -> Option<Span>,
) -> Gate {
    Gate { feature, version, sm, uses }
}

/// Sections "PTX ISA Notes" and "Target ISA Notes" of the descriptions of `ld` and `ld.global.nc`.
/// If an assembler decides otherwise, as it does for the target of `.shared::cta` and for
/// `.weak`, its verdict is the one here.
const GATES: [Gate; 24] = [
    gate("`ld.volatile`", Some((1, 1)), None, |l| l.finds(|q| q == Q::Order(Order::Volatile))),
    gate("generic addressing", Some((2, 0)), Some(20), |l| {
        let is_generic = l.load.opcode == Opcode::Ld && l.load.space().is_none();
        is_generic.then_some(l.load.opcode_span)
    }),
    gate("a cache operation", Some((2, 0)), Some(20), |l| l.finds(|q| matches!(q, Q::Cache(_)))),
    gate("`.nc`", Some((3, 1)), Some(32), |l| l.finds(|q| q == Q::NonCoherent)),
    gate("`.weak`", Some((6, 0)), Some(70), |l| l.finds(|q| q == Q::Order(Order::Weak))),
    gate("`.relaxed`", Some((6, 0)), Some(70), |l| l.finds(|q| q == Q::Order(Order::Relaxed))),
    gate("`.acquire`", Some((6, 0)), Some(70), |l| l.finds(|q| q == Q::Order(Order::Acquire))),
    gate("a scope", Some((6, 0)), Some(70), |l| {
        // The order that it belongs to needs the same.
        let is_ordered = l.finds(|q| matches!(q, Q::Order(_))).is_some();
        if is_ordered { None } else { l.finds(|q| matches!(q, Q::Scope(_))) }
    }),
    gate("an L1 eviction priority", Some((7, 4)), Some(70), |l| {
        l.finds(|q| matches!(q, Q::Eviction(Level::L1, _)))
    }),
    gate("a prefetch size", Some((7, 4)), Some(75), |l| l.finds(|q| matches!(q, Q::Prefetch(_)))),
    gate("`.L2::256B`", None, Some(80), |l| l.finds(|q| q == Q::Prefetch(256))),
    gate("`.L2::cache_hint`", Some((7, 4)), Some(80), |l| l.finds(|q| q == Q::CacheHint)),
    gate("the scope `.cluster`", Some((7, 8)), Some(90), |l| {
        l.finds(|q| q == Q::Scope(Scope::Cluster))
    }),
    gate("`::cta`", Some((7, 8)), None, |l| l.finds(|q| window(q) == Some(SubQualifier::Cta))),
    gate("`::cluster`", Some((7, 8)), Some(90), |l| {
        l.finds(|q| window(q) == Some(SubQualifier::Cluster))
    }),
    gate("a variable with the attribute `.unified`", Some((8, 0)), Some(90), |l| {
        let address = l.load.address()?;
        let is_unified = l.symbol(address.base?)?.declaration.is_unified;
        is_unified.then_some(address.unified).flatten()
    }),
    gate("`.mmio`", Some((8, 2)), Some(70), |l| l.finds(|q| q == Q::Mmio)),
    gate("`.acquire` with `.mmio`", Some((9, 3)), None, |l| {
        l.finds(|q| q == Q::Mmio)?;
        l.finds(|q| q == Q::Order(Order::Acquire))
    }),
    gate("`::entry`", Some((8, 3)), None, |l| l.finds(|q| window(q) == Some(SubQualifier::Entry))),
    gate("`::func`", Some((8, 3)), None, |l| l.finds(|q| window(q) == Some(SubQualifier::Func))),
    gate("`.b128`", Some((8, 3)), Some(70), |l| {
        let written = l.finds(|q| q == Q::Type(ScalarType::B128));
        written.or_else(|| l.named_register(|register| register.scalar == ScalarType::B128))
    }),
    gate("the scope `.sys` with `.b128`", Some((8, 4)), None, |l| {
        l.finds(|q| q == Q::Type(ScalarType::B128))?;
        l.finds(|q| q == Q::Scope(Scope::Sys))
    }),
    gate("a 256-bit load", Some((8, 8)), Some(100), |l| {
        l.is_wide().then(|| l.finds(|q| matches!(q, Q::Vector(_)))).flatten()
    }),
    gate("`.volatile` on `.local`", Some((9, 1)), None, |l| {
        let (space, _) = l.load.space()?;
        if space != StateSpace::Local {
            return None;
        }
        l.finds(|q| q == Q::Order(Order::Volatile))
    }),
];

fn window(kind: Q) -> Option<SubQualifier> {
    match kind {
        Q::Space(_, window) => window,
        _ => None,
    }
}

/// From which version on a machine is a target. [PTX ISA, Release Notes; `sm_107` from an
/// assembler's verdicts]
const TARGETS: [(u32, (u8, u8)); 29] = [
    (12, (1, 2)),
    (13, (1, 2)),
    (20, (2, 0)),
    (30, (3, 0)),
    (32, (4, 0)),
    (35, (3, 1)),
    (37, (4, 1)),
    (50, (4, 0)),
    (52, (4, 1)),
    (53, (4, 2)),
    (60, (5, 0)),
    (61, (5, 0)),
    (62, (5, 0)),
    (70, (6, 0)),
    (72, (6, 1)),
    (75, (6, 3)),
    (80, (7, 0)),
    (86, (7, 1)),
    (87, (7, 4)),
    (88, (9, 0)),
    (89, (7, 8)),
    (90, (7, 8)),
    (100, (8, 6)),
    (101, (8, 6)),
    (103, (8, 8)),
    (107, (9, 4)),
    (110, (9, 0)),
    (120, (8, 7)),
    (121, (8, 8)),
];

/// The first version with targets for one machine alone, and with those for a family.
const ALONE: Version = Version::new(8, 0);
const FAMILY: Version = Version::new(8, 8);

/// Holds a load to the table.
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    for gate in &GATES {
        let late = gate.version.map(|(major, minor)| Version::new(major, minor));
        let late = late.filter(|version| *version > judged.module.version);
        let low = gate.sm.filter(|sm| *sm > judged.target.sm);
        if late.is_none() && low.is_none() {
            continue;
        }
        let Some(span) = (gate.uses)(judged) else { continue };
        if let Some(version) = late {
            needs_version(judged.module, findings, gate.feature, version, span);
        }
        if let Some(sm) = low {
            needs_target(
                judged.target,
                findings,
                gate.feature,
                &format!("`.target sm_{sm}` or higher"),
                span,
            );
        }
    }
    target_version(judged, findings);
}

pub(super) fn needs_version(
    module: &Module<'_>,
    findings: &mut Findings,
    feature: &str,
    version: Version,
    span: Span,
) {
    findings.add(
        Rule::NeedsVersion,
        span,
        format!("{feature} needs `.version {version}` or later"),
        format!("this module has `.version {}`", module.version),
    );
}

pub(super) fn needs_target(
    target: Target,
    findings: &mut Findings,
    feature: &str,
    targets: &str,
    span: Span,
) {
    findings.add(
        Rule::NeedsTarget,
        span,
        format!("{feature} needs {targets}"),
        format!("this module has `.target {target}`"),
    );
}

/// Holds a special register to its own version and target.
pub(super) fn special(
    judged: &Judged<'_>,
    name: Span,
    special: SpecialRegister,
    findings: &mut Findings,
) {
    let feature = format!("`{}`", judged.text(name));
    let version = special.version.map(|(major, minor)| Version::new(major, minor));
    if let Some(version) = version.filter(|version| *version > judged.module.version) {
        needs_version(judged.module, findings, &feature, version, name);
    }
    if let Some(sm) = special.sm.filter(|sm| *sm > judged.target.sm) {
        let targets = format!("`.target sm_{sm}` or higher");
        needs_target(judged.target, findings, &feature, &targets, name);
    }
}

/// What `.target` names is a target of the module's version.
fn target_version(judged: &Judged<'_>, findings: &mut Findings) {
    let Target { sm, reach } = judged.target;
    let row = TARGETS.iter().find(|row| row.0 == sm);
    let machine = row.map(|row| Version::new(row.1.0, row.1.1));
    let suffix = match reach {
        Reach::Onward => None,
        Reach::ArchitectureSpecific => Some(ALONE),
        Reach::FamilySpecific => Some(FAMILY),
    };
    let Some(version) = machine.max(suffix) else { return };
    if version > judged.module.version {
        findings.add(
            Rule::TargetVersion,
            judged.load.opcode_span,
            format!("`.target {}` needs `.version {version}` or later", judged.target),
            format!("this module has `.version {}`", judged.module.version),
        );
    }
}

/// Which machines have tensor memory, and its loads with a reduction: the number of the machine,
/// and whether `tcgen05.ld.red` is there. Code for a family counts if the family is one of
/// these. [tcgen05.ld, "Target ISA Notes"; `sm_107` from an assembler's verdicts]
const TENSOR_MACHINES: [(u32, bool); 5] =
    [(100, false), (101, true), (103, true), (107, true), (110, true)];

/// Holds a `tcgen05.ld` to its versions and machines.
pub(super) fn check_tensor(judged: &Judged<'_>, findings: &mut Findings) {
    let is_red = judged.load.opcode == Opcode::TensorLdRed;
    let version = if is_red { Version::new(8, 8) } else { Version::new(8, 6) };
    let name = format!("`{}`", judged.load.opcode.name());
    let span = judged.load.opcode_span;
    if version > judged.module.version {
        needs_version(judged.module, findings, &name, version, span);
    }
    let Target { sm, reach } = judged.target;
    let machine = TENSOR_MACHINES.iter().find(|machine| machine.0 == sm);
    let is_there = machine.is_some_and(|machine| machine.1 || !is_red);
    if !is_there || reach == Reach::Onward {
        let machines = if is_red {
            "`.target` `sm_101`, `sm_103`, `sm_107` or `sm_110` with `a` or `f`"
        } else {
            "`.target` `sm_100`, `sm_101`, `sm_103`, `sm_107` or `sm_110` with `a` or `f`"
        };
        needs_target(judged.target, findings, &name, machines, span);
    }
    target_version(judged, findings);
}

/// The name of a cache operation, its dot included.
pub(super) fn cache_name(cache: CacheOp) -> &'static str {
    match cache {
        CacheOp::Ca => ".ca",
        CacheOp::Cg => ".cg",
        CacheOp::Cs => ".cs",
        CacheOp::Lu => ".lu",
        CacheOp::Cv => ".cv",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_table_is_this_one() {
        let rows = GATES.iter().map(|gate| {
            let version = gate.version.map_or(String::new(), |(a, b)| format!(" {a}.{b}"));
            let target = gate.sm.map_or(String::new(), |sm| format!(" sm_{sm}"));
            format!("| {} |{version} |{target} |", gate.feature)
        });
        let documented = include_str!("../../../docs/ptx.md")
            .lines()
            .skip_while(|line| !line.starts_with("| feature "))
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        assert!(documented.eq(rows));
    }

    #[test]
    fn the_documented_rules_are_all_rules() {
        let documented: Vec<&str> = include_str!("../../../docs/ptx.md")
            .lines()
            .skip_while(|line| !line.starts_with("| rule "))
            .skip(2)
            .map_while(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        let rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(documented, rules);
    }
}
