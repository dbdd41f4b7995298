//! The tables of values: one line per value, in numeric order.

use super::{Eight, Value, Values, doubtful, hashed, modifiers};

/// The sizes of loads into registers. The first six are the same everywhere; SM 5.x and 6.x also accept the fifth by
/// name.
macro_rules! sizes {
    ($($(#[$attribute:meta])* $table:ident, $four:literal $($silent:literal)?: $six:literal $meaning6:literal, $seven:literal $meaning7:literal;)+) => {
        values! { $(
            $(#[$attribute])*
            $table: "the size", default Some(4) $(, silent $silent)?;
            "U8" "1 byte, zero-extended",
            "S8" "1 byte, sign-extended",
            "U16" "2 bytes, zero-extended",
            "S16" "2 bytes, sign-extended",
            $four "4 bytes",
            "64" "8 bytes, two registers",
            $six $meaning6,
            $seven $meaning7,
        )+ }
    };
}

sizes! {
    /// `LD` and `LDG` of Volta and Turing.
    SIZES_U128, "": "128" "16 bytes, four registers", "U.128" "16 bytes, four registers; the effect of U is not public";
    SIZES_128, "": "128" "16 bytes, four registers", "INVALID7" "";
    /// `LDS`.
    SIZES_SHARED, "": "128" "16 bytes, four registers", "???7" "";
    /// `LDC` and `ULDC`.
    SIZES_64, "": "INVALID6" "", "INVALID7" "";

    /// SM 5.x and 6.x from here on: `LD` and `LDG`.
    SIZES, "32" 4: "128" "16 bytes, four registers", "U.128" "16 bytes, four registers, uniform";
    /// `LDL` and `LDS`.
    SIZES_TO_128, "32" 4: "128" "16 bytes, four registers", "INVALIDSIZE7" "no size, not to be executed";
    /// `LDC`.
    SIZES_TO_64, "32" 4: "INVALIDSIZE6" "no size, not to be executed", "INVALIDSIZE7" "no size, not to be executed";
}

values! {
    BATCH: "the batch hint", default Some(0);
    "" "none",
    "BATCH_START" "",
    "BATCH_START_TILE" "",
    "???3" "",
    "BATCH_END" "",
    "BARRIER_EXEMPT" "",
    "6" "refused",
    "7" "refused",

    EXTENDED: "`.E`", default Some(0);
    "" "32-bit address",
    "E" "64-bit address in {Ra+1, Ra}",

    EVICT: "the eviction priority", default Some(1);
    "EF" "evict first",
    "" "normal eviction priority",
    "EL" "evict last",
    "LU" "last use",
    "EU" "eviction priority unchanged",
    "NA" "no allocation in L1",
    "INVALID6" "",
    "INVALID7" "",

    /// `LDGSTS` of Ampere and Hopper.
    SIZES_COPY: "the size", default Some(4);
    "INVALID0" "",
    "INVALID1" "",
    "INVALID2" "",
    "INVALID3" "",
    "" "4 bytes",
    "64" "8 bytes",
    "128" "16 bytes",
    "INVALID7" "",

    /// `LDGSTS` of Blackwell.
    SIZES_COPY_2: "the size", default Some(0);
    "" "4 bytes",
    "64" "8 bytes",
    "128" "16 bytes",
    "INVALID3" "",

    /// Turing.
    PREFETCH_128: "the prefetch size", default Some(0);
    "" "no prefetch into L2",
    "LTC64B" "prefetch 64 bytes into L2",
    "LTC128B" "prefetch 128 bytes into L2",
    "INVALID3" "",

    PREFETCH: "the prefetch size", default Some(0);
    "" "no prefetch into L2",
    "LTC64B" "prefetch 64 bytes into L2",
    "LTC128B" "prefetch 128 bytes into L2",
    "LTC256B" "prefetch 256 bytes into L2",

    /// Volta and Turing, where a separate scope follows.
    ORDER_KIND: "the memory order", default Some(1);
    "CONSTANT" "read-only data (ld.global.nc)",
    "" "weak",
    "STRONG" "relaxed, acquire or volatile",
    "MMIO" "memory-mapped I/O",

    SCOPE: "the scope", default Some(3);
    "CTA" "scope of the CTA",
    "SM" "scope of the SM",
    "GPU" "scope of the GPU",
    "SYS" "scope of the system",

    PRIVATE: "`.PRIVATE`", default Some(0);
    "" "not private",
    "PRIVATE" "",

    /// From Ampere on.
    ORDER: "the memory order", default Some(0);
    "" "weak",
    "CONSTANT.PRIVATE" "" only ".PRIVATE",
    "CONSTANT.CTA" "",
    "CONSTANT.CTA.PRIVATE" "" only ".PRIVATE",
    "CONSTANT" "read-only data (ld.global.nc)",
    "STRONG.SM" "relaxed or acquire, scope of the CTA",
    "STRONG.GPU.PRIVATE" "" only ".PRIVATE",
    "STRONG.GPU" "relaxed or acquire, scope of the GPU",
    "MMIO.GPU" "",
    "CONSTANT.SM" "",
    "STRONG.SYS" "volatile, relaxed or acquire, scope of the system",
    "CONSTANT.SM.PRIVATE" "" only ".PRIVATE",
    "MMIO.SYS" "memory-mapped I/O, scope of the system",
    "CONSTANT.VC" "",
    "CONSTANT.VC.PRIVATE" "" only ".PRIVATE",
    "CONSTANT.GPU" "",

    /// `LDGSTS`.
    ORDER_COPY: "the memory order", default Some(0);
    "" "weak",
    "CONSTANT.PRIVATE" "" only ".PRIVATE",
    "CONSTANT.CTA" "",
    "CONSTANT.CTA.PRIVATE" "" only ".PRIVATE",
    "CONSTANT" "",
    "MMIO.CTA" "",
    "GPU.PRIVATE" "" only ".PRIVATE",
    "MMIO.CTA.PRIVATE" "" only ".PRIVATE",
    "MMIO.SM" "",
    "CONSTANT.SM" "",
    "MMIO.VC" "",
    "CONSTANT.SM.PRIVATE" "" only ".PRIVATE",
    "MMIO.GPU" "",
    "CONSTANT.VC" "",
    "CONSTANT.VC.PRIVATE" "" only ".PRIVATE",
    "CONSTANT.GPU" "",

    /// The order of a load of 256 bits beside the L2 policy `RML2` of SM 12.x.
    ORDER_RML2: "the memory order", default None;
    "???1.???0" "",
    "???0.???0.PRIVATE" "",
    "???0.???1" "",
    "???0.???1.PRIVATE" "",
    "STRONG.???2.PRIVATE" "",
    "STRONG.???2" "",
    "STRONG.GPU.PRIVATE" "",
    "STRONG.GPU" "",
    "???3.GPU" "",
    "???0.???2" "",
    "STRONG.???5" "",
    "???0.???2.PRIVATE" "",
    "???3.???5" "",
    "???0.???3" "",
    "???0.???3.PRIVATE" "",
    "???0.GPU" "",

    POLICY: "the L2 policy", default Some(1);
    "EFL2" "evict first from L2",
    "ENL2" "normal eviction from L2",
    "ELL2" "evict last from L2",
    "INVALID3" "",

    /// SM 12.x.
    POLICY_RML2: "the L2 policy", default Some(1);
    "EFL2" "evict first from L2",
    "ENL2" "normal eviction from L2",
    "ELL2" "evict last from L2",
    "RML2" "" only ".RML2",

    ZD: "`.ZD`", default Some(0);
    "" "no ZD",
    "ZD" "",

    UNIFORM_HINT: "`.U`", default Some(0);
    "" "no hint",
    "U" "no observable effect; ptxas sets it on 7.x",

    SCALE: "the scale", default Some(0);
    "" "Ra times 1",
    "X4" "Ra times 4",
    "X8" "Ra times 8",
    "X16" "Ra times 16",

    MODE: "the mode", default Some(0);
    "" "bank and offset as they are written",
    "IL" "",
    "IS" "",
    "ISL" "",

    UNPACK: "the unpacking", default Some(0);
    "" "no unpacking",
    "TEXUNPACK" "",

    /// SM 12.x.
    UNPACK_2: "the unpacking", default Some(0);
    "" "no unpacking",
    "TEXUNPACK" "",
    "HDRUNPACK" "",
    "INVALID3" "",

    /// `LDSM`. Numbers 1 to 4 have no text at all.
    MATRIX_SIZE: "the element size", default None;
    "16" "rows of eight 16-bit elements",
    "" "no text",
    "" "no text",
    "" "no text",
    "" "no text",
    "INVALID5" "",
    "INVALID6" "",
    "INVALID7" "",

    /// `LDSM` of Blackwell. Numbers 2 to 4 have no text at all.
    MATRIX_SIZE_B: "the element size", default None;
    "16" "rows of eight 16-bit elements",
    "U4TO8" "",
    "" "no text",
    "" "no text",
    "" "no text",
    "U4x16P64TO8" "",
    "U6x16P32TO8" "",
    "8" "",

    MATRIX_SHAPE: "the matrix shape", default None;
    "M88" "8 rows of 16 bytes",
    "MT88" "8 rows of 16 bytes, transposed",
    "M816" "" only "this element size or matrix shape of LDSM",
    "M832" "" only "this element size or matrix shape of LDSM",

    /// Blackwell.
    MATRIX_SHAPE_B: "the matrix shape", default None;
    "M88" "8 rows of 16 bytes",
    "MT88" "8 rows of 16 bytes, transposed",
    "M816" "" only "this element size or matrix shape of LDSM",
    "M832" "" only "this element size or matrix shape of LDSM",
    "MT1616" "" only "this element size or matrix shape of LDSM",
    "INVALID5" "",
    "INVALID6" "",
    "INVALID7" "",

    MATRIX_COUNT: "the number of matrices", default Some(0);
    "" "one matrix",
    "2" "two matrices",
    "4" "four matrices",
    "INVALID3" "",

    BYPASS: "`.BYPASS`", default Some(1);
    "BYPASS" "not cached in L1 (cp.async.cg)",
    "" "cached at all levels (cp.async.ca)",

    ZFILL: "`.ZFILL`", default Some(0);
    "" "no zero fill",
    "ZFILL" "",

    TENSOR_SHAPE: "the shape", default Some(2);
    "16dp128bit" "tcgen05.ld .16x128b",
    "16dp256bit" "tcgen05.ld .16x256b",
    "" "tcgen05.ld .32x32b",
    "16dp64bit" "tcgen05.ld .16x64b",
    "16dp32bit_t0_t15" "tcgen05.ld .16x32bx2, first half",
    "16dp32bit_t16_t31" "tcgen05.ld .16x32bx2, second half",
    "INVALID6" "",
    "INVALID7" "",

    /// `LDTM.STAT`.
    TENSOR_SHAPE_STAT: "the shape", default Some(2);
    "INVALID0" "",
    "INVALID1" "",
    "" "tcgen05.ld.red .32x32b",
    "INVALID3" "",
    "16dp32bit_t0_t15" "tcgen05.ld.red .16x32bx2, first half",
    "16dp32bit_t16_t31" "tcgen05.ld.red .16x32bx2, second half",
    "INVALID6" "",
    "INVALID7" "",

    TENSOR_COUNT: "the repetition", default Some(0);
    "" "once",
    "x2" "twice",
    "x4" "4 times",
    "x8" "8 times",
    "x16" "16 times",
    "x32" "32 times",
    "x64" "64 times",
    "x128" "128 times",

    /// `LDTM.STAT`.
    TENSOR_COUNT_STAT: "the repetition", default None;
    "INVALID0" "",
    "x2" "twice",
    "x4" "4 times",
    "x8" "8 times",
    "x16" "16 times",
    "x32" "32 times",
    "x64" "64 times",
    "x128" "128 times",

    PACK: "`.PACK16BIT`", default Some(0);
    "" "not packed",
    "PACK16BIT" "two 16-bit elements in a register",

    STATISTIC: "the reduction", default None;
    "MAX" "maximum",
    "MAXABS" "maximum of the absolute values",
    "MIN" "minimum",
    "MINABS" "minimum of the absolute values",

    STATISTIC_TYPE: "the type", default Some(0);
    "" "unsigned integers",
    "S32" "signed integers",
    "F32" "single-precision numbers",
    "INVALID3" "",

    NAN: "`.NAN`", default Some(0);
    "" "NaN is ignored",
    "NAN" "NaN is propagated",

    /// SM 5.x and 6.x from here on.
    CACHE: "the cache operator", default Some(0), silent 0, aliases &[("CS", 0), ("LU", 1)];
    "CA" "cache at all levels",
    "CG" "cache at global level, L2 and below",
    "CI" "inconsistent, for data that never change",
    "CV" "volatile, fetch again",

    /// `LDL`.
    CACHE_LOCAL: "the cache operator", default Some(0), silent 0, aliases &[("CS", 0)];
    "CA" "cache at all levels",
    "LU" "last use, the line need not be written back",
    "CI" "inconsistent, for data that never change",
    "CV" "volatile, fetch again",

    EXTENDED_YES: "`.E`", default Some(0), flag true;
    "" "",
    "E" "",

    UNIFORM_YES: "`.U`", default Some(0), flag true;
    "" "",
    "U" "",

    MODE_NAMED: "the mode", default Some(0);
    "" "the bank as it stands, the offset added to Ra",
    "IL" "indexed linear",
    "IS" "indexed segmented",
    "ISL" "indexed segmented linear",
}
