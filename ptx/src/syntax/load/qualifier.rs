//! The qualifiers of loads.

use crate::syntax::{ScalarType, Span, StateSpace, SubQualifier};
use crate::tensor::{Operation, Repeat, Shape};

/// A qualifier and its place, its dot included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qualifier {
    /// What it says.
    pub kind: QualifierKind,
    /// Its place.
    pub span: Span,
}

/// What a qualifier of `ld` or `tcgen05.ld` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QualifierKind {
    /// `.weak`, `.volatile`, `.relaxed`, `.acquire`.
    Order(Order),
    /// `.mmio`.
    Mmio,
    /// `.cta`, `.cluster`, `.gpu`, `.sys`.
    Scope(Scope),
    /// A state space with its sub-qualifier: `.global`, `.shared::cta`.
    Space(StateSpace, Option<SubQualifier>),
    /// `.ca`, `.cg`, `.cs`, `.lu`, `.cv`.
    Cache(CacheOp),
    /// `.L1::evict_last` and the like.
    Eviction(Level, Eviction),
    /// `.L2::cache_hint`.
    CacheHint,
    /// `.L2::64B` and the like; the bytes.
    Prefetch(u16),
    /// `.nc`.
    NonCoherent,
    /// `.v2`, `.v4`, `.v8`; the elements.
    Vector(u8),
    /// A type.
    Type(ScalarType),
    /// `.sync` of `tcgen05.ld`.
    Sync,
    /// `.aligned` of `tcgen05.ld`.
    Aligned,
    /// The shape of `tcgen05.ld`.
    Shape(Shape),
    /// `.x1` to `.x128` of `tcgen05.ld`.
    Repeat(Repeat),
    /// `.pack::16b` of `tcgen05.ld`.
    Pack,
    /// `.min` or `.max` of `tcgen05.ld.red`.
    Reduction(Operation),
    /// `.abs` of `tcgen05.ld.red`.
    Absolute,
    /// `.NaN` of `tcgen05.ld.red`.
    Nan,
    /// Not a qualifier of loads.
    Unknown,
}

/// How a load is ordered with other accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum Order {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
}

/// The threads that an ordered load synchronizes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// A cache operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum CacheOp {
    Ca,
    Cg,
    Cs,
    Lu,
    Cv,
}

/// A cache that an eviction priority is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum Level {
    L1,
    L2,
}

/// An eviction priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum Eviction {
    Normal,
    Unchanged,
    First,
    Last,
    NoAllocate,
}

impl QualifierKind {
    /// Reads a qualifier of `ld`, without its dot.
    pub(super) fn of_ld(text: &str) -> Self {
        let (name, part) = text.split_once("::").map_or((text, None), |(a, b)| (a, Some(b)));
        match (name, part) {
            ("weak", None) => Self::Order(Order::Weak),
            ("volatile", None) => Self::Order(Order::Volatile),
            ("relaxed", None) => Self::Order(Order::Relaxed),
            ("acquire", None) => Self::Order(Order::Acquire),
            ("mmio", None) => Self::Mmio,
            ("cta", None) => Self::Scope(Scope::Cta),
            ("cluster", None) => Self::Scope(Scope::Cluster),
            ("gpu", None) => Self::Scope(Scope::Gpu),
            ("sys", None) => Self::Scope(Scope::Sys),
            ("ca", None) => Self::Cache(CacheOp::Ca),
            ("cg", None) => Self::Cache(CacheOp::Cg),
            ("cs", None) => Self::Cache(CacheOp::Cs),
            ("lu", None) => Self::Cache(CacheOp::Lu),
            ("cv", None) => Self::Cache(CacheOp::Cv),
            ("nc", None) => Self::NonCoherent,
            ("v2", None) => Self::Vector(2),
            ("v4", None) => Self::Vector(4),
            ("v8", None) => Self::Vector(8),
            ("L1", Some(part)) => Self::of_level(Level::L1, part),
            ("L2", Some(part)) => Self::of_level(Level::L2, part),
            _ => Self::of_space_or_type(name, part),
        }
    }

    fn of_level(level: Level, part: &str) -> Self {
        let eviction = match (level, part) {
            (Level::L2, "cache_hint") => return Self::CacheHint,
            (Level::L2, "64B") => return Self::Prefetch(64),
            (Level::L2, "128B") => return Self::Prefetch(128),
            (Level::L2, "256B") => return Self::Prefetch(256),
            (_, "evict_normal") => Eviction::Normal,
            (_, "evict_unchanged") => Eviction::Unchanged,
            (_, "evict_first") => Eviction::First,
            (_, "evict_last") => Eviction::Last,
            (_, "no_allocate") => Eviction::NoAllocate,
            _ => return Self::Unknown,
        };
        Self::Eviction(level, eviction)
    }

    fn of_space_or_type(name: &str, part: Option<&str>) -> Self {
        let sub_qualifier = match (name, part) {
            ("shared", Some("cta")) => Some(SubQualifier::Cta),
            ("shared", Some("cluster")) => Some(SubQualifier::Cluster),
            ("param", Some("entry")) => Some(SubQualifier::Entry),
            ("param", Some("func")) => Some(SubQualifier::Func),
            (_, Some(_)) => return Self::Unknown,
            (_, None) => None,
        };
        match name.parse() {
            Ok(StateSpace::Register | StateSpace::Texture) => Self::Unknown,
            Ok(space) => Self::Space(space, sub_qualifier),
            Err(_) => name.parse().map_or(Self::Unknown, Self::Type),
        }
    }

    /// Reads a qualifier of `tcgen05.ld`, without its dot.
    pub(super) fn of_tensor_ld(text: &str) -> Self {
        if let Ok(shape) = text.parse() {
            return Self::Shape(shape);
        }
        if let Ok(repeat) = text.parse() {
            return Self::Repeat(repeat);
        }
        match text {
            "sync" => Self::Sync,
            "aligned" => Self::Aligned,
            "pack::16b" => Self::Pack,
            "min" => Self::Reduction(Operation::Min),
            "max" => Self::Reduction(Operation::Max),
            "abs" => Self::Absolute,
            "NaN" => Self::Nan,
            _ => text.parse().map_or(Self::Unknown, Self::Type),
        }
    }
}

/// The names that are suggested for an unknown qualifier; all types but one are left out.
impl QualifierKind {
    pub(crate) const LD_NAMES: [&str; 40] = [
        ".weak",
        ".volatile",
        ".relaxed",
        ".acquire",
        ".mmio",
        ".cta",
        ".cluster",
        ".gpu",
        ".sys",
        ".const",
        ".global",
        ".local",
        ".param",
        ".param::entry",
        ".param::func",
        ".shared",
        ".shared::cta",
        ".shared::cluster",
        ".ca",
        ".cg",
        ".cs",
        ".lu",
        ".cv",
        ".nc",
        ".L1::evict_normal",
        ".L1::evict_unchanged",
        ".L1::evict_first",
        ".L1::evict_last",
        ".L1::no_allocate",
        ".L2::evict_normal",
        ".L2::evict_first",
        ".L2::evict_last",
        ".L2::cache_hint",
        ".L2::64B",
        ".L2::128B",
        ".L2::256B",
        ".v2",
        ".v4",
        ".v8",
        ".b128",
    ];
    pub(crate) const TENSOR_NAMES: [&str; 22] = [
        ".sync",
        ".aligned",
        ".16x64b",
        ".16x128b",
        ".16x256b",
        ".32x32b",
        ".16x32bx2",
        ".x1",
        ".x2",
        ".x4",
        ".x8",
        ".x16",
        ".x32",
        ".x64",
        ".x128",
        ".pack::16b",
        ".min",
        ".max",
        ".abs",
        ".NaN",
        ".b32",
        ".red",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_names_are_known() {
        for name in QualifierKind::LD_NAMES {
            let text = name.trim_start_matches('.');
            assert_ne!(QualifierKind::of_ld(text), QualifierKind::Unknown, "{name}");
        }
        // `.red` is a part of the opcode.
        for name in QualifierKind::TENSOR_NAMES.into_iter().filter(|name| *name != ".red") {
            let text = name.trim_start_matches('.');
            assert_ne!(QualifierKind::of_tensor_ld(text), QualifierKind::Unknown, "{name}");
        }
    }
}
