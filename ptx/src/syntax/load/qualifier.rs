//! [`Opcode`], which load it is, and its qualifiers.

use std::sync::LazyLock;

use crate::module::NameMap;
use crate::syntax::{ScalarType, Span, StateSpace, SubQualifier};
use crate::tensor::{ReductionOperation, Repeat, Shape};

/// The load instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Opcode {
    /// `ld`, `.nc` or not.
    Ld,
    /// `tcgen05.ld`.
    TensorLd,
    /// `tcgen05.ld.red`.
    TensorLdRed,
}

impl Opcode {
    /// Returns the instruction's name without further qualifiers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ld => "ld",
            Self::TensorLd => "tcgen05.ld",
            Self::TensorLdRed => "tcgen05.ld.red",
        }
    }
}

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
    Order(MemoryOrder),
    /// `.mmio`.
    Mmio,
    /// `.cta`, `.cluster`, `.gpu`, `.sys`.
    Scope(MemoryScope),
    /// A state space with its sub-qualifier: `.global`, `.shared::cta`.
    Space(StateSpace, Option<SubQualifier>),
    /// `.ca`, `.cg`, `.cs`, `.lu`, `.cv`.
    Cache(CacheOperator),
    /// `.L1::evict_last` and the like.
    Eviction(CacheLevel, Eviction),
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
    Reduction(ReductionOperation),
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
pub enum MemoryOrder {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
}

/// The threads that an ordered load synchronizes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum MemoryScope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// A cache operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum CacheOperator {
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
pub enum CacheLevel {
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

/// The qualifiers of `ld`; of its types one, the others are read as types.
const LD: [(&str, QualifierKind); 42] = {
    use QualifierKind as Q;
    [
        (".weak", Q::Order(MemoryOrder::Weak)),
        (".volatile", Q::Order(MemoryOrder::Volatile)),
        (".relaxed", Q::Order(MemoryOrder::Relaxed)),
        (".acquire", Q::Order(MemoryOrder::Acquire)),
        (".mmio", Q::Mmio),
        (".cta", Q::Scope(MemoryScope::Cta)),
        (".cluster", Q::Scope(MemoryScope::Cluster)),
        (".gpu", Q::Scope(MemoryScope::Gpu)),
        (".sys", Q::Scope(MemoryScope::Sys)),
        (".const", Q::Space(StateSpace::Const, None)),
        (".global", Q::Space(StateSpace::Global, None)),
        (".local", Q::Space(StateSpace::Local, None)),
        (".param", Q::Space(StateSpace::Param, None)),
        (".param::entry", Q::Space(StateSpace::Param, Some(SubQualifier::Entry))),
        (".param::func", Q::Space(StateSpace::Param, Some(SubQualifier::Func))),
        (".shared", Q::Space(StateSpace::Shared, None)),
        (".shared::cta", Q::Space(StateSpace::Shared, Some(SubQualifier::Cta))),
        (".shared::cluster", Q::Space(StateSpace::Shared, Some(SubQualifier::Cluster))),
        (".ca", Q::Cache(CacheOperator::Ca)),
        (".cg", Q::Cache(CacheOperator::Cg)),
        (".cs", Q::Cache(CacheOperator::Cs)),
        (".lu", Q::Cache(CacheOperator::Lu)),
        (".cv", Q::Cache(CacheOperator::Cv)),
        (".nc", Q::NonCoherent),
        (".L1::evict_normal", Q::Eviction(CacheLevel::L1, Eviction::Normal)),
        (".L1::evict_unchanged", Q::Eviction(CacheLevel::L1, Eviction::Unchanged)),
        (".L1::evict_first", Q::Eviction(CacheLevel::L1, Eviction::First)),
        (".L1::evict_last", Q::Eviction(CacheLevel::L1, Eviction::Last)),
        (".L1::no_allocate", Q::Eviction(CacheLevel::L1, Eviction::NoAllocate)),
        (".L2::evict_normal", Q::Eviction(CacheLevel::L2, Eviction::Normal)),
        (".L2::evict_unchanged", Q::Eviction(CacheLevel::L2, Eviction::Unchanged)),
        (".L2::evict_first", Q::Eviction(CacheLevel::L2, Eviction::First)),
        (".L2::evict_last", Q::Eviction(CacheLevel::L2, Eviction::Last)),
        (".L2::no_allocate", Q::Eviction(CacheLevel::L2, Eviction::NoAllocate)),
        (".L2::cache_hint", Q::CacheHint),
        (".L2::64B", Q::Prefetch(64)),
        (".L2::128B", Q::Prefetch(128)),
        (".L2::256B", Q::Prefetch(256)),
        (".v2", Q::Vector(2)),
        (".v4", Q::Vector(4)),
        (".v8", Q::Vector(8)),
        (".b128", Q::Type(ScalarType::B128)),
    ]
};

/// The qualifiers of `tcgen05.ld`, of its types one.
const TENSOR_LD: [(&str, QualifierKind); 22] = {
    use QualifierKind as Q;
    [
        (".sync", Q::Sync),
        (".aligned", Q::Aligned),
        (".16x64b", Q::Shape(Shape::S16x64b)),
        (".16x128b", Q::Shape(Shape::S16x128b)),
        (".16x256b", Q::Shape(Shape::S16x256b)),
        (".32x32b", Q::Shape(Shape::S32x32b)),
        (".16x32bx2", Q::Shape(Shape::S16x32bx2)),
        (".x1", Q::Repeat(Repeat::ALL[0])),
        (".x2", Q::Repeat(Repeat::ALL[1])),
        (".x4", Q::Repeat(Repeat::ALL[2])),
        (".x8", Q::Repeat(Repeat::ALL[3])),
        (".x16", Q::Repeat(Repeat::ALL[4])),
        (".x32", Q::Repeat(Repeat::ALL[5])),
        (".x64", Q::Repeat(Repeat::ALL[6])),
        (".x128", Q::Repeat(Repeat::ALL[7])),
        (".pack::16b", Q::Pack),
        (".min", Q::Reduction(ReductionOperation::Min)),
        (".max", Q::Reduction(ReductionOperation::Max)),
        (".abs", Q::Absolute),
        (".NaN", Q::Nan),
        (".b32", Q::Type(ScalarType::B32)),
        // A part of the opcode, not a qualifier.
        (".red", Q::Unknown),
    ]
};

/// Qualifiers by their names without dots.
type Kinds = NameMap<&'static str, QualifierKind>;

static OF_LD: LazyLock<Kinds> = LazyLock::new(|| kinds(&LD));
static OF_TENSOR_LD: LazyLock<Kinds> = LazyLock::new(|| kinds(&TENSOR_LD));

/// Makes a map of a table, and of all types.
fn kinds(table: &[(&'static str, QualifierKind)]) -> Kinds {
    let types = ScalarType::names().map(|(name, scalar)| (name, QualifierKind::Type(scalar)));
    let of_table = table.iter().map(|(name, kind)| (name.trim_start_matches('.'), *kind));
    types.chain(of_table).collect()
}

impl QualifierKind {
    /// Makes what is made on first use.
    pub(crate) fn initialize() {
        LazyLock::force(&OF_LD);
        LazyLock::force(&OF_TENSOR_LD);
    }

    /// Reads a qualifier with its dot.
    pub(super) fn read(opcode: Opcode, text: &str) -> Self {
        let kinds = match opcode {
            Opcode::Ld => &OF_LD,
            Opcode::TensorLd | Opcode::TensorLdRed => &OF_TENSOR_LD,
        };
        let known = text.strip_prefix('.').and_then(|name| kinds.get(name));
        known.copied().unwrap_or(Self::Unknown)
    }

    /// Returns the names of all qualifiers that loads can have, without dots; some occur twice.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let of_tables = LD.iter().chain(&TENSOR_LD).map(|(name, _)| name.trim_start_matches('.'));
        of_tables.chain(ScalarType::names().map(|(name, _)| name))
    }

    /// Returns the qualifiers of an opcode by their names.
    pub(crate) fn table(opcode: Opcode) -> &'static [(&'static str, Self)] {
        match opcode {
            Opcode::Ld => &LD,
            Opcode::TensorLd | Opcode::TensorLdRed => &TENSOR_LD,
        }
    }

    /// Whether it is an L2 eviction priority that only L1 has.
    pub(crate) fn is_l1_only(self) -> bool {
        matches!(self, Self::Eviction(CacheLevel::L2, Eviction::Unchanged | Eviction::NoAllocate))
    }
}
