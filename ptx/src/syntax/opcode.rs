//! [`Opcode`]: the instructions of PTX and their qualifiers, in one table.

use std::sync::LazyLock;

use super::load::QualifierKind;
use crate::module::NameMap;

/// Makes the enum and its table: variant, first word, and qualifiers apart from types.
macro_rules! opcodes {
    ($($variant:ident = $name:literal $qualifiers:expr,)*) => {
        /// An instruction, by its first word; `tcgen05.ld` by its first two or three.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are PTX's own")]
        #[non_exhaustive]
        pub enum Opcode {
            $($variant,)*
            /// `tcgen05.ld`.
            TensorLd,
            /// `tcgen05.ld.red`.
            TensorLdRed,
            /// An unknown instruction.
            Unknown,
        }

        /// [PTX ISA, Instruction Set]
        const TABLE: &[(Opcode, &str, &[&str])] = &[$((Opcode::$variant, $name, &$qualifiers),)*];
    };
}

const ROUNDING: &str = "rn rz rm rp rna rni rzi rmi rpi rs";
const COMPARISON: &str = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor";
const SPACE: &str = "global local shared shared::cta shared::cluster param param::func param::entry \
                     const";
const ORDER: &str = "weak volatile relaxed acquire release acq_rel sc mmio cta cluster gpu sys";
const CACHE: &str = "ca cg cs lu cv wb wt L1::evict_normal L1::evict_unchanged L1::evict_first \
                     L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last \
                     L2::cache_hint L2::64B L2::128B L2::256B";
const OPERATION: &str = "add inc dec min max and or xor cas exch";
const VECTOR: &str = "v2 v4 v8";
const MATRIX: &str = "sync aligned row col m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m16n8k128 \
                      m16n8k256 m8n8k4 m8n8k16 m8n8k32 m8n8k128 m16n16k16 m32n8k16 m8n32k16 m16n16k8 \
                      xor and popc satfinite";
const TEXTURE: &str = "1d 2d 3d a1d a2d cube acube 2dms a2dms b p trap clamp zero level grad base r g \
                       a unified v2 v4";
const VIDEO: &str = "sat add min max po shr7 shr15 clamp wrap eq ne lt le gt ge";

opcodes! {
    Abs = "abs" ["ftz"], Activemask = "activemask" [], Add = "add" [ROUNDING, "ftz sat cc"],
    Addc = "addc" ["cc"], Alloca = "alloca" [], And = "and" [],
    ApplyPriority = "applypriority" [SPACE, CACHE],
    Atom = "atom" [ORDER, SPACE, OPERATION, CACHE, VECTOR, "noftz"],
    Bar = "bar" ["sync arrive red popc and or warp cta aligned"],
    Barrier = "barrier" ["cta cluster sync arrive red popc and or aligned wait relaxed acquire release"],
    Bfe = "bfe" [], Bfi = "bfi" [], Bfind = "bfind" ["shiftamt"], Bmsk = "bmsk" ["clamp wrap"],
    Bra = "bra" ["uni"], Brev = "brev" [], Brkpt = "brkpt" [], Brx = "brx" ["idx uni"],
    Call = "call" ["uni"],
    ClusterLaunchControl = "clusterlaunchcontrol" [
        SPACE,
        "try_cancel query_cancel async is_canceled get_first_ctaid::x get_first_ctaid::y \
         get_first_ctaid::z get_first_ctaid v4 mbarrier::complete_tx::bytes multicast::cluster::all",
    ],
    Clz = "clz" [], Cnot = "cnot" [], Copysign = "copysign" [], Cos = "cos" ["approx ftz 2pi"],
    Cp = "cp" [
        SPACE,
        CACHE,
        "async bulk tensor prefetch reduce commit_group wait_group wait_all read mbarrier arrive noinc \
         mbarrier::complete_tx::bytes bulk_group multicast::cluster cp_mask tile im2col im2col::w \
         im2col::w::128 im2col_no_offs tile::gather4 tile::scatter4 1d 2d 3d 4d 5d add min max inc dec \
         and or xor noftz cta_group::1 cta_group::2 L2",
    ],
    CreatePolicy = "createpolicy" [SPACE, CACHE, "fractional range cvt L2"],
    Cvt = "cvt" [ROUNDING, "ftz sat satfinite relu pack scaled::n2::ue8m0"], Cvta = "cvta" [SPACE, "to"],
    Discard = "discard" [SPACE, "L2"], Div = "div" [ROUNDING, "ftz approx full"],
    Dp2a = "dp2a" ["lo hi"], Dp4a = "dp4a" [], Elect = "elect" ["sync"], Ex2 = "ex2" ["approx ftz"],
    Exit = "exit" [], Fabs = "fabs" [],
    Fence = "fence" [
        ORDER,
        SPACE,
        "proxy alias async tensormap::generic async::generic sync_restrict::shared::cta \
         sync_restrict::shared::cluster mbarrier_init thread",
    ],
    Fma = "fma" [ROUNDING, "ftz sat relu oob"], Fns = "fns" [], GetCtaRank = "getctarank" [SPACE],
    GridDepControl = "griddepcontrol" ["launch_dependents wait"], Isspacep = "isspacep" [SPACE],
    Istypep = "istypep" [], Ld = "ld" [],
    LdMatrix = "ldmatrix" [
        SPACE,
        "sync aligned m8n8 m16n16 m8n16 x1 x2 x4 trans b8x16 b6x16_p32 b4x16_p64",
    ],
    Ldu = "ldu" [SPACE, VECTOR], Lg2 = "lg2" ["approx ftz"], Lop3 = "lop3" ["and or"],
    Mad = "mad" [ROUNDING, "lo hi wide sat ftz cc"], Mad24 = "mad24" ["lo hi sat"],
    Madc = "madc" ["lo hi cc"], Mapa = "mapa" [SPACE], Match = "match" ["any all sync"],
    Max = "max" ["ftz NaN xorsign abs relu"],
    Mbarrier = "mbarrier" [
        ORDER,
        SPACE,
        "init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait pending_count noComplete \
         parity",
    ],
    Membar = "membar" ["cta gl sys proxy alias"], Min = "min" ["ftz NaN xorsign abs relu"],
    Mma = "mma" [
        MATRIX,
        "rn rz rm rp sp sp::ordered_metadata block_scale scale_vec::1X scale_vec::2X scale_vec::4X kind::mxf8f6f4 \
         kind::mxf4 kind::mxf4nvf4 kind::f8f6f4",
    ],
    Mov = "mov" ["v2 v4"], MovMatrix = "movmatrix" ["sync aligned m8n8 trans"],
    Mul = "mul" [ROUNDING, "lo hi wide ftz sat"], Mul24 = "mul24" ["lo hi"],
    Multimem = "multimem" [
        ORDER, SPACE, OPERATION, VECTOR,
        "ld_reduce st red acc::f16 acc::f32",
    ],
    Nanosleep = "nanosleep" [], Neg = "neg" ["ftz"], Nop = "nop" [], Not = "not" [], Or = "or" [],
    PmEvent = "pmevent" ["mask"], Popc = "popc" [],
    Prefetch = "prefetch" [SPACE, CACHE, "L1 L2 tensormap"], Prefetchu = "prefetchu" ["L1"],
    Prmt = "prmt" ["f4e b4e rc8 ecl ecr rc16"], Rcp = "rcp" [ROUNDING, "approx ftz"],
    Red = "red" [
        ORDER, SPACE, OPERATION, CACHE, VECTOR,
        "noftz async mbarrier::complete_tx::bytes",
    ],
    Redux = "redux" ["sync add min max and or xor abs NaN"], Rem = "rem" [], Ret = "ret" ["uni"],
    Rsqrt = "rsqrt" ["approx ftz"], Sad = "sad" [], Selp = "selp" [],
    Set = "set" [COMPARISON, "ftz"], SetMaxNReg = "setmaxnreg" ["inc dec sync aligned"],
    Setp = "setp" [COMPARISON, "ftz"], Shf = "shf" ["l r clamp wrap"],
    Shfl = "shfl" ["up down bfly idx sync"], Shl = "shl" [], Shr = "shr" [],
    Sin = "sin" ["approx ftz 2pi"], Slct = "slct" ["ftz"], Sqrt = "sqrt" [ROUNDING, "approx ftz"],
    St = "st" [ORDER, SPACE, CACHE, VECTOR, "async mbarrier::complete_tx::bytes bulk"],
    StackRestore = "stackrestore" [], StackSave = "stacksave" [],
    StMatrix = "stmatrix" [SPACE, "sync aligned m8n8 m16n8 x1 x2 x4 trans"],
    Sub = "sub" [ROUNDING, "ftz sat cc"], Subc = "subc" ["cc"], Suld = "suld" [TEXTURE, CACHE],
    Suq = "suq" ["width height depth channel_data_type channel_order array_size memory_layout"],
    Sured = "sured" [TEXTURE, OPERATION], Sust = "sust" [TEXTURE, CACHE],
    Szext = "szext" ["clamp wrap"], Tanh = "tanh" ["approx"],
    Tcgen05 = "tcgen05" [
        SPACE,
        "alloc dealloc relinquish_alloc_permit fence::before_thread_sync fence::after_thread_sync \
         wait::ld wait::st ld st cp shift down mma sp ws commit sync aligned 16x64b 16x128b 16x256b \
         32x32b 16x32bx2 x1 x2 x4 x8 x16 x32 x64 x128 unpack::16b pack::16b cta_group::1 cta_group::2 \
         kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 block_scale \
         scale_vec::1X scale_vec::2X scale_vec::4X block16 block32 collector::a::fill collector::a::use \
         collector::a::lastuse collector::a::discard collector::b0::fill collector::b0::use \
         collector::b0::lastuse collector::b0::discard mbarrier::arrive::one multicast::cluster \
         128x256b 4x256b 128x128b 64x128b 32x128b warpx2::02_13 warpx2::01_23 warpx4 b8x16 b6x16_p32 \
         b4x16_p64 ashift",
    ],
    TensorMap = "tensormap" [
        SPACE, ORDER,
        "replace tile cp_fenceproxy tensormap::generic sync aligned global_address rank box_dim \
         global_dim global_stride element_stride elemtype interleave_layout swizzle_mode \
         swizzle_atomicity fill_mode b1024",
    ],
    Testp = "testp" ["finite infinite number notanumber normal subnormal"], Tex = "tex" [TEXTURE],
    Tld4 = "tld4" [TEXTURE], Trap = "trap" [],
    Txq = "txq" [
        "width height depth channel_data_type channel_order normalized_coords force_unnormalized_coords \
         filter_mode addr_mode_0 addr_mode_1 addr_mode_2 array_size num_mipmap_levels num_samples level",
    ],
    Vabsdiff = "vabsdiff" [VIDEO], Vabsdiff2 = "vabsdiff2" [VIDEO], Vabsdiff4 = "vabsdiff4" [VIDEO],
    Vadd = "vadd" [VIDEO], Vadd2 = "vadd2" [VIDEO], Vadd4 = "vadd4" [VIDEO],
    Vavrg2 = "vavrg2" [VIDEO], Vavrg4 = "vavrg4" [VIDEO], Vmad = "vmad" [VIDEO],
    Vmax = "vmax" [VIDEO], Vmax2 = "vmax2" [VIDEO], Vmax4 = "vmax4" [VIDEO], Vmin = "vmin" [VIDEO],
    Vmin2 = "vmin2" [VIDEO], Vmin4 = "vmin4" [VIDEO], Vote = "vote" ["all any uni ballot sync"],
    Vset = "vset" [VIDEO], Vset2 = "vset2" [VIDEO], Vset4 = "vset4" [VIDEO], Vshl = "vshl" [VIDEO],
    Vshr = "vshr" [VIDEO], Vsub = "vsub" [VIDEO], Vsub2 = "vsub2" [VIDEO], Vsub4 = "vsub4" [VIDEO],
    Wgmma = "wgmma" [
        "fence commit_group wait_group mma_async sp sync aligned satfinite and popc",
    ],
    Wmma = "wmma" [MATRIX, SPACE, "load store mma a b c d rn rz rm rp"], Xor = "xor" [],
}

/// A row of the table by name: the opcode, and its qualifiers apart from types.
type Row = (Opcode, &'static [&'static str]);

static BY_NAME: LazyLock<NameMap<&'static str, Row>> =
    LazyLock::new(|| TABLE.iter().map(|(opcode, name, of)| (*name, (*opcode, *of))).collect());

impl Opcode {
    /// Builds the map that is otherwise built on first use.
    pub(crate) fn initialize() {
        LazyLock::force(&BY_NAME);
    }

    pub(crate) fn of_word(word: &str) -> Self {
        BY_NAME.get(word).map_or(Self::Unknown, |row| row.0)
    }

    /// Returns all instructions that this crate knows by their first word, in the order of their names.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// Returns the name without qualifiers; empty for [`Opcode::Unknown`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TensorLd => "tcgen05.ld",
            Self::TensorLdRed => "tcgen05.ld.red",
            _ => TABLE.iter().find(|row| row.0 == self).map_or("", |row| row.1),
        }
    }

    /// Whether this crate judges, lowers and executes the instruction as a load.
    #[must_use]
    pub fn is_load(self) -> bool {
        matches!(self, Self::Ld | Self::TensorLd | Self::TensorLdRed)
    }

    /// Whether the instruction has a qualifier with this name, which has no dot.
    pub(crate) fn has_qualifier(self, name: &str, kind: QualifierKind) -> bool {
        if self.is_load() {
            return kind != QualifierKind::Unknown;
        }
        let is_listed = || {
            let groups = BY_NAME.get(self.name()).map_or(&[][..], |row| row.1);
            groups.iter().any(|group| group.split_ascii_whitespace().any(|known| known == name))
        };
        match kind {
            QualifierKind::Type(_) => true,
            // The sizes of wgmma are not listed, because there are many: n is any multiple of 8.
            QualifierKind::Matrix { m: 64, .. } => self == Self::Wgmma,
            _ => is_listed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_qualifier_is_a_typed_token() {
        for (opcode, name, groups) in TABLE {
            assert_eq!(Opcode::of_word(name), *opcode);
            assert_eq!(opcode.name(), *name);
            for word in groups.iter().flat_map(|group| group.split_ascii_whitespace()) {
                let kind = QualifierKind::read(*opcode, &format!(".{word}"));
                assert_ne!(kind, QualifierKind::Unknown, "{name}: .{word}");
                assert!(opcode.has_qualifier(word, kind), "{name}: .{word}");
            }
        }
    }
}
