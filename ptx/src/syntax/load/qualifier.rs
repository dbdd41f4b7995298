//! [`QualifierKind`]: the qualifiers of PTX as typed tokens. Loads have tables of their own.

use std::sync::LazyLock;

use crate::module::NameMap;
use crate::syntax::opcode::Opcode;
use crate::syntax::{ScalarType, Span, StateSpace, SubQualifier};
use crate::tensor::{ReductionOperation, Repeat, Shape};
use warpload_machine::named;

/// A qualifier with its place, the dot included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qualifier {
    /// The kind of the qualifier.
    pub kind: QualifierKind,
    /// Its place.
    pub span: Span,
}

impl Qualifier {
    /// The qualifier in an instruction that begins at `start`; the span of `self` is relative to it.
    pub(super) fn at(self, start: u32) -> Self {
        Self { span: self.span.counted_from(start), ..self }
    }
}

/// The kind of a qualifier, with its value.
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
    /// `.L2::64B` and the like: the size in bytes.
    Prefetch(u16),
    /// `.nc`.
    NonCoherent,
    /// `.v2`, `.v4`, `.v8`: the number of elements.
    Vector(u8),
    /// A type.
    Type(ScalarType),
    /// `.sync`.
    Sync,
    /// `.aligned`.
    Aligned,
    /// The shape of a copy between registers and Tensor Memory.
    Shape(Shape),
    /// `.x1` to `.x128`.
    Repeat(Repeat),
    /// `.pack::16b`.
    Pack,
    /// `.min` or `.max`.
    Reduction(ReductionOperation),
    /// `.abs`.
    Absolute,
    /// `.NaN`.
    Nan,
    /// `.rn` and the like.
    Rounding(Rounding),
    /// `.eq` and the like. `.lo` and `.hi` are [`Keyword`]s, because multiplications have them too.
    Comparison(Comparison),
    /// The shape of a matrix instruction: `.m16n8k16`, `.m8n8`.
    Matrix {
        /// The rows of the result.
        m: u16,
        /// The columns of the result.
        n: u16,
        /// The inner dimension; 0 if there is none.
        k: u16,
    },
    /// A word that only other instructions than loads have.
    Keyword(Keyword),
    /// A word that is not a qualifier, or not one of this load.
    Unknown,
}

/// The order of an access relative to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum MemoryOrder {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
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

/// The cache that an eviction priority applies to.
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

named! {
    /// A rounding mode.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "the names are PTX's own")]
    #[non_exhaustive]
    pub enum Rounding: "a rounding mode such as `rn`" {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rni = "rni", Rzi = "rzi",
        Rmi = "rmi", Rpi = "rpi", Rs = "rs",
    }
}

named! {
    /// A comparison operator.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "the names are PTX's own")]
    #[non_exhaustive]
    pub enum Comparison: "a comparison such as `ltu`" {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num",
        Nan = "nan",
    }
}

named! {
    /// The words that qualify instructions other than loads.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "the names are PTX's own")]
    #[non_exhaustive]
    pub enum Keyword: "a qualifier" {
        Copy128x128b = "128x128b", Copy128x256b = "128x256b", OneD = "1d", TwoD = "2d", Turns = "2pi",
        TwoDMs = "2dms", Copy32x128b = "32x128b", ThreeD = "3d", FourD = "4d",
        Copy4x256b = "4x256b", FiveD = "5d", Copy64x128b = "64x128b", L1 = "L1", L2 = "L2", A = "a",
        A1d = "a1d", A2d = "a2d", A2dms = "a2dms", AccF16 = "acc::f16", AccF32 = "acc::f32",
        Acube = "acube", Add = "add", AddrMode0 = "addr_mode_0", AddrMode1 = "addr_mode_1",
        AddrMode2 = "addr_mode_2", Alias = "alias", All = "all", Alloc = "alloc", And = "and",
        Any = "any", Approx = "approx", Are = "are", ArraySize = "array_size", Arrive = "arrive",
        ArriveDrop = "arrive_drop", Ashift = "ashift", Async = "async",
        AsyncGeneric = "async::generic", B = "b", B1024 = "b1024", B4e = "b4e",
        B4x16P64 = "b4x16_p64", B6x16P32 = "b6x16_p32", B8x16 = "b8x16", Ballot = "ballot",
        Base = "base", Bfly = "bfly", Block16 = "block16", Block32 = "block32",
        BlockScale = "block_scale", BoxDim = "box_dim", Bulk = "bulk", BulkGroup = "bulk_group",
        C = "c", Cas = "cas", Cc = "cc", ChannelDataType = "channel_data_type",
        ChannelOrder = "channel_order", Clamp = "clamp", Col = "col",
        CollectorADiscard = "collector::a::discard", CollectorAFill = "collector::a::fill",
        CollectorALastuse = "collector::a::lastuse", CollectorAUse = "collector::a::use",
        CollectorB0Discard = "collector::b0::discard", CollectorB0Fill = "collector::b0::fill",
        CollectorB0Lastuse = "collector::b0::lastuse", CollectorB0Use = "collector::b0::use",
        Commit = "commit", CommitGroup = "commit_group", CompleteTx = "complete_tx", Cp = "cp",
        CpFenceproxy = "cp_fenceproxy", CpMask = "cp_mask", CtaGroup1 = "cta_group::1",
        CtaGroup2 = "cta_group::2", Cube = "cube", Cvt = "cvt", D = "d", Dealloc = "dealloc",
        Dec = "dec", Depth = "depth", Down = "down", Ecl = "ecl", Ecr = "ecr",
        ElementStride = "element_stride", Elemtype = "elemtype", Exch = "exch",
        ExpectTx = "expect_tx", F4e = "f4e", Fence = "fence",
        FenceAfterThreadSync = "fence::after_thread_sync",
        FenceBeforeThreadSync = "fence::before_thread_sync", FillMode = "fill_mode",
        FilterMode = "filter_mode", Finite = "finite",
        ForceUnnormalizedCoords = "force_unnormalized_coords", Fractional = "fractional",
        Ftz = "ftz", Full = "full", G = "g", GetFirstCtaid = "get_first_ctaid",
        GetFirstCtaidX = "get_first_ctaid::x", GetFirstCtaidY = "get_first_ctaid::y",
        GetFirstCtaidZ = "get_first_ctaid::z", Gl = "gl", GlobalAddress = "global_address",
        GlobalDim = "global_dim", GlobalStride = "global_stride", Grad = "grad", Height = "height",
        Hi = "hi", Idx = "idx", Im2col = "im2col", Im2colW = "im2col::w",
        Im2colW128 = "im2col::w::128", Im2colNoOffs = "im2col_no_offs", Inc = "inc",
        Infinite = "infinite", Init = "init", InterleaveLayout = "interleave_layout",
        Inval = "inval", IsCanceled = "is_canceled", KindF16 = "kind::f16",
        KindF8f6f4 = "kind::f8f6f4", KindI8 = "kind::i8", KindMxf4 = "kind::mxf4",
        KindMxf4nvf4 = "kind::mxf4nvf4", KindMxf8f6f4 = "kind::mxf8f6f4", KindTf32 = "kind::tf32",
        L = "l", LaunchDependents = "launch_dependents", Ld = "ld", LdReduce = "ld_reduce",
        Level = "level", Lo = "lo", Load = "load", Mask = "mask", Mbarrier = "mbarrier",
        MbarrierArriveOne = "mbarrier::arrive::one",
        MbarrierCompleteTxBytes = "mbarrier::complete_tx::bytes", MbarrierInit = "mbarrier_init",
        MemoryLayout = "memory_layout", Mma = "mma", MmaAsync = "mma_async",
        MulticastCluster = "multicast::cluster", MulticastClusterAll = "multicast::cluster::all",
        Names = "names", NoComplete = "noComplete", Noftz = "noftz", Noinc = "noinc",
        Normal = "normal", NormalizedCoords = "normalized_coords", Notanumber = "notanumber",
        NumMipmapLevels = "num_mipmap_levels", NumSamples = "num_samples", Number = "number",
        Oob = "oob", Or = "or", Own = "own", P = "p", Pack = "pack", Parity = "parity",
        PendingCount = "pending_count", Po = "po", Popc = "popc", Prefetch = "prefetch",
        Proxy = "proxy", QueryCancel = "query_cancel", R = "r", Range = "range", Rank = "rank",
        Rc16 = "rc16", Rc8 = "rc8", Read = "read", Red = "red", Reduce = "reduce",
        RelinquishAllocPermit = "relinquish_alloc_permit", Relu = "relu", Replace = "replace",
        Row = "row", Sat = "sat", Satfinite = "satfinite", ScaleVec1x = "scale_vec::1X",
        ScaleVec2x = "scale_vec::2X", ScaleVec4x = "scale_vec::4X",
        ScaledN2Ue8m0 = "scaled::n2::ue8m0", Shift = "shift", Shiftamt = "shiftamt",
        Shr15 = "shr15", Shr7 = "shr7", Sp = "sp", SpOrderedMetadata = "sp::ordered_metadata",
        St = "st", Store = "store", Subnormal = "subnormal", SwizzleAtomicity = "swizzle_atomicity",
        SwizzleMode = "swizzle_mode", SyncRestrictSharedCluster = "sync_restrict::shared::cluster",
        SyncRestrictSharedCta = "sync_restrict::shared::cta", Tensor = "tensor",
        Tensormap = "tensormap", TensormapGeneric = "tensormap::generic", TestWait = "test_wait",
        The = "the", Thread = "thread", Tile = "tile", TileGather4 = "tile::gather4",
        TileScatter4 = "tile::scatter4", To = "to", Trans = "trans", Trap = "trap",
        TryCancel = "try_cancel", TryWait = "try_wait", Uni = "uni", Unified = "unified",
        Unpack16b = "unpack::16b", Up = "up", Wait = "wait", WaitLd = "wait::ld",
        WaitSt = "wait::st", WaitAll = "wait_all", WaitGroup = "wait_group", Warp = "warp",
        Warpx2_01_23 = "warpx2::01_23", Warpx2_02_13 = "warpx2::02_13", Warpx4 = "warpx4",
        Wb = "wb", Wide = "wide", Width = "width", Wrap = "wrap", Ws = "ws", Wt = "wt", Xor = "xor",
        Xorsign = "xorsign", Zero = "zero",
    }
}

/// Orders that loads do not have.
const STORE_ORDERS: [(&str, QualifierKind); 3] = [
    (".release", QualifierKind::Order(MemoryOrder::Release)),
    (".acq_rel", QualifierKind::Order(MemoryOrder::AcqRel)),
    (".sc", QualifierKind::Order(MemoryOrder::Sc)),
];

/// The qualifiers of `ld`. Of the types only `.b128` is listed; [`kinds`] adds the others.
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

/// The qualifiers of `tcgen05.ld`. Of the types only `.b32` is listed.
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
        // Part of the opcode, and invalid as a qualifier.
        (".red", Q::Unknown),
    ]
};

/// Qualifiers by name, without dots.
type Kinds = NameMap<&'static str, QualifierKind>;

static OF_LD: LazyLock<Kinds> = LazyLock::new(|| kinds(&[&LD]).collect());
static OF_TENSOR_LD: LazyLock<Kinds> = LazyLock::new(|| kinds(&[&TENSOR_LD]).collect());
static OF_OTHERS: LazyLock<Kinds> = LazyLock::new(|| {
    use QualifierKind as Q;
    let words = Keyword::ALL.into_iter().map(|word| (word.name(), Q::Keyword(word)));
    let rounding = Rounding::ALL.into_iter().map(|mode| (mode.name(), Q::Rounding(mode)));
    let compared = Comparison::ALL.into_iter().map(|of| (of.name(), Q::Comparison(of)));
    let of_loads = kinds(&[&LD, &TENSOR_LD, &STORE_ORDERS]);
    words
        .chain(rounding)
        .chain(compared)
        .chain(of_loads.filter(|row| row.1 != Q::Unknown))
        .collect()
});

/// The qualifiers of some tables, and all types.
fn kinds<'t>(
    tables: &'t [&'t [(&'static str, QualifierKind)]],
) -> impl Iterator<Item = (&'static str, QualifierKind)> + 't {
    // No instruction has `.s2f6` without `x2`.
    let types = ScalarType::ALL.into_iter().filter(|scalar| *scalar != ScalarType::S2f6);
    let types = types.map(|scalar| (scalar.name(), QualifierKind::Type(scalar)));
    let rows = tables.iter().flat_map(|table| table.iter());
    types.chain(rows.map(|(name, kind)| (name.trim_start_matches('.'), *kind)))
}

impl QualifierKind {
    /// Builds the maps that are otherwise built on first use.
    pub(crate) fn initialize() {
        for kinds in [&OF_LD, &OF_TENSOR_LD, &OF_OTHERS] {
            LazyLock::force(kinds);
        }
    }

    /// Reads a qualifier with its dot.
    pub(crate) fn read(opcode: Opcode, text: &str) -> Self {
        let kinds = match opcode {
            Opcode::Ld => &OF_LD,
            Opcode::TensorLd | Opcode::TensorLdRed => &OF_TENSOR_LD,
            _ => &OF_OTHERS,
        };
        let name = text.strip_prefix('.').unwrap_or(text);
        let known = kinds.get(name).copied();
        let matrix = || if opcode.is_load() { None } else { matrix(name) };
        known.or_else(matrix).unwrap_or(Self::Unknown)
    }

    /// The qualifiers of a load, by name.
    pub(crate) fn table(opcode: Opcode) -> &'static [(&'static str, Self)] {
        match opcode {
            Opcode::TensorLd | Opcode::TensorLdRed => &TENSOR_LD,
            _ => &LD,
        }
    }

    /// Whether it is valid in all versions and with all other qualifiers.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::Space(_, None) | Self::Vector(_) | Self::Type(_))
    }

    /// Whether it is an L2 eviction priority with a name that only L1 has.
    pub(crate) fn is_l1_only(self) -> bool {
        matches!(self, Self::Eviction(CacheLevel::L2, Eviction::Unchanged | Eviction::NoAllocate))
    }
}

/// Reads `m16n8k16` or `m8n8`.
fn matrix(name: &str) -> Option<QualifierKind> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "0"));
    let size = |digits: &str| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().ok() } else { None }
    };
    Some(QualifierKind::Matrix { m: size(m)?, n: size(n)?, k: size(k)? })
}
