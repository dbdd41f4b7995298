//! Rows of instructions that access memory, textures, surfaces, barriers and special registers.

use super::super::language::Immediate::Unsigned;
use super::super::language::*;

const RZA: Condition = is("15:8", &[0xff]);
const NOT_RZA: Condition = not("15:8", &[0xff]);
const SYNC: Condition = is("33:32", &[0, 1]);

const E52: NamedField = field("E", "52", &["", "E"], "64-bit address");
const E48: NamedField = E52.at("48");
const E45: NamedField = E52.at("45");
const LSIZE53: NamedField = field(
    "size",
    "55:53",
    &["U8", "S8", "U16", "S16", "", "64", "128", "U.128"],
    "size of the access",
);
const LSIZE48: NamedField = LSIZE53.at("50:48");
const SSIZE53: NamedField =
    field("size", "55:53", &["U8", "S8", "U16", "S16", "", "64", "128"], "size of the access")
        .invalid("INVALIDSIZE");
const SSIZE48: NamedField = SSIZE53.at("50:48");
const SSIZE20: NamedField = SSIZE53.at("22:20");
const LCACHE56: NamedField = field("cache", "57:56", &["", "CG", "CI", "CV"], "caching of loads");
const LCACHE46: NamedField = LCACHE56.at("47:46");
const LCACHE24: NamedField = LCACHE56.at("25:24");
const SCACHE56: NamedField = field("cache", "57:56", &["", "CG", "CS", "WT"], "caching of stores");
const SCACHE46: NamedField = SCACHE56.at("47:46");
const SCACHE44: NamedField = SCACHE56.at("45:44");
const SCACHE24: NamedField = SCACHE56.at("25:24");
const VEC47: NamedField = field("vector", "48:47", &["", "64", "96", "128"], "bits moved");
const AOP52: NamedField = field(
    "op",
    "55:52",
    &["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "?", "SAFEADD"],
    "atomic operation",
)
.invalid("INVALIDATOMOP");
const AOP44: NamedField = AOP52.at("47:44");
const ASIZE49: NamedField = field(
    "type",
    "51:49",
    &["", "S32", "U64", "F32.FTZ.RN", "?", "S64", "?"],
    "type of the operands",
)
.invalid("INVALIDATOMICSIZE")
.on_sms(&[
    (Sms::new(50, 50), 4, "U128"),
    (Sms::new(52, 53), 4, "F16x2.FTZ.RN"),
    (Sms::from(60), 4, "F16x2.RN"),
    (Sms::from(60), 6, "F64.RN"),
]);
const ASIZE20: NamedField = ASIZE49.at("22:20");
const W49: NamedField = field("wide", "49", &["", "64"], "compares 64 bits");
const CTYPE: NamedField =
    field("cache", "6:4", &["", "U", "C", "I", "CRS"], "which cache").invalid("INVALIDCACHETYPE");
const O32: NamedField = field("O", "32", &["", "O"], "output attribute");
const DIM: NamedField = field(
    "dimension",
    "30:28",
    &["1D", "ARRAY_1D", "2D", "ARRAY_2D", "3D", "ARRAY_3D", "CUBE", "ARRAY_CUBE"],
    "shape of the texture",
);
const NODEP: NamedField = field("NODEP", "49", &["", "NODEP"], "no dependency");
const DC50: NamedField = field("DC", "50", &["", "DC"], "depth compare");
const MS50: NamedField = field("MS", "50", &["", "MS"], "multisample");
const NDV35: NamedField = field("NDV", "35", &["", "NDV"], "non-divergent: all lanes are there");
const AOFFI35: NamedField = field("AOFFI", "35", &["", "AOFFI"], "offset in a register");
const LC58: NamedField =
    field("LC", "58", &["", "?"], "LOD clamp").or_refused().on_sms(&[(Sms::from(52), 1, "LC")]);
const LC40: NamedField = LC58.at("40");
const LC50: NamedField = LC58.at("50");
const AOFFI54: NamedField = AOFFI35.at("54");
const AOFFI36: NamedField = AOFFI35.at("36");
const CL54: NamedField = field("CL", "54", &["", "CL"], "clamped layer");
const LOD57: NamedField =
    field("lod", "57:55", &["", "LZ", "LB", "LL", "?", "?", "LBA", "LLA"], "level of detail")
        .invalid("INVALIDBLOD");
const LOD39: NamedField = LOD57.at("39:37");
const COMP56: NamedField = field("component", "57:56", &["R", "G", "B", "A"], "component gathered");
const COMP38: NamedField = COMP56.at("39:38");
const COMP52: NamedField = COMP56.at("53:52");
const TOFF54: NamedField =
    field("offset", "55:54", &["", "AOFFI", "PTP"], "kind of offset").invalid("INVALIDBTOFF0");
const TOFF36: NamedField = TOFF54.at("37:36");
const NDV_OLD: NamedField = field("NDV", "35", &["", ""], "non-divergent; 6.x does not print it")
    .on_sms(&[(Sms::new(50, 53), 1, "NDV")]);
const LZ55: NamedField = field("lod", "55", &["LZ", "LL"], "level of detail");
const QUERY: NamedField = field(
    "query",
    "27:22",
    &[
        "-",
        "TEX_HEADER_DIMENSION",
        "TEX_HEADER_TEXTURE_TYPE",
        "?",
        "?",
        "TEX_HEADER_SAMPLER_POS",
        "3",
        "?",
        "4",
        "?",
        "5",
        "?",
        "6",
        "?",
        "7",
        "?",
        "TEX_SAMPLER_FILTER",
        "?",
        "TEX_SAMPLER_LOD",
        "?",
        "TEX_SAMPLER_WRAP",
        "?",
        "TEX_SAMPLER_BORDER_COLOR",
        "?",
        "12",
        "?",
        "13",
        "?",
        "14",
        "?",
        "15",
        "?",
        "16",
        "?",
        "17",
        "?",
        "18",
        "?",
        "19",
        "?",
        "20",
        "?",
        "21",
        "?",
        "22",
        "?",
        "23",
        "?",
        "24",
        "?",
        "25",
        "?",
        "26",
        "?",
        "27",
        "?",
        "28",
        "?",
        "29",
        "?",
        "30",
        "?",
        "31",
    ],
    "what is asked",
)
.or_refused();
const HALF58: NamedField = field("half", "59:58", &["?", "?", ""], "packs the result to f16")
    .or_refused()
    .on_sms(&[(Sms::from(52), 0, "F16"), (Sms::from(60), 1, "F16.RTZ")]);
const HALF54: NamedField = field("half", "55:54", &["", "-", "?", "?"], "packs the result to f16")
    .or_refused()
    .on_sms(&[(Sms::from(52), 2, "F16"), (Sms::from(60), 3, "F16.RTZ")]);
const ONE: NamedField = field(
    "channels",
    "52:50",
    &["R", "G", "B", "A", "RG", "RA", "GA", "BA"],
    "components returned",
)
.invalid("INVALID");
const MORE: NamedField =
    field("channels", "52:50", &["RGB", "RGA", "RBA", "GBA", "RGBA"], "components returned")
        .invalid("INVALID");
const BA23: NamedField = field("BA", "23", &["", "BA"], "byte address");
const BA28: NamedField = BA23.at("28");
const SDIM: NamedField = field(
    "dimension",
    "35:33",
    &["1D", "1D_BUFFER", "1D_ARRAY", "2D", "2D_ARRAY", "3D"],
    "shape of the surface",
)
.invalid("INVALIDSURFACEDIM");
const CLAMP: NamedField = field("clamp", "50:49", &["IGN", "", "TRAP"], "what happens outside")
    .invalid("INVALIDSURFACECLAMP");
const CHAN20: NamedField = field(
    "channels",
    "23:20",
    &[
        "???0", "R", "G", "RG", "B", "RB", "GB", "RGB", "A", "RA", "GA", "RGA", "BA", "RBA", "GBA",
        "",
    ],
    "components moved",
);
const SOP24: NamedField = field(
    "op",
    "26:24",
    &["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"],
    "atomic operation",
);
const SOP29: NamedField = field(
    "op",
    "32:29",
    &["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH"],
    "atomic operation",
)
.invalid("INVALIDATOMSOP");
const STYPE20: NamedField = field(
    "type",
    "22:20",
    &["", "S32", "U64", "F32.FTZ.RN", "?", "S64", "SD32", "SD64"],
    "type of the operands",
)
.invalid("INVALIDATOMICSIZE")
.on_sms(&[(Sms::new(52, 53), 4, "F16x2.FTZ.RN"), (Sms::from(60), 4, "F16x2.RN")]);
const STYPE51: NamedField = STYPE20.at("53:51");
const STYPE36: NamedField = STYPE20.at("38:36");
const PCAS: NamedField = field("op", "32:29", &["CAS"], "atomic operation");
const BMODE: NamedField =
    field("mode", "33:32", &["", "RESULT", "WARP", "INVALID"], "which part of the barrier");
const SREG: NamedField = field(
    "special",
    "27:20",
    &[
        "SR_LANEID",
        "SR_CLOCK",
        "SR_VIRTCFG",
        "SR_VIRTID",
        "SR_PM0",
        "SR_PM1",
        "SR_PM2",
        "SR_PM3",
        "SR_PM4",
        "SR_PM5",
        "SR_PM6",
        "SR_PM7",
        "?",
        "?",
        "?",
        "?",
        "SR_PRIM_TYPE",
        "SR_INVOCATION_ID",
        "SR_Y_DIRECTION",
        "SR_THREAD_KILL",
        "SM_SHADER_TYPE",
        "SR_DIRECTCBEWRITEADDRESSLOW",
        "SR_DIRECTCBEWRITEADDRESSHIGH",
        "SR_DIRECTCBEWRITEENABLED",
        "SR_MACHINE_ID_0",
        "SR_MACHINE_ID_1",
        "SR_MACHINE_ID_2",
        "SR_MACHINE_ID_3",
        "SR_AFFINITY",
        "SR_INVOCATION_INFO",
        "SR_WSCALEFACTOR_XY",
        "SR_WSCALEFACTOR_Z",
        "SR_TID",
        "SR_TID.X",
        "SR_TID.Y",
        "SR_TID.Z",
        "SR_CTA_PARAM",
        "SR_CTAID.X",
        "SR_CTAID.Y",
        "SR_CTAID.Z",
        "SR_NTID",
        "SR_CirQueueIncrMinusOne",
        "SR_NLATC",
        "?",
        "?",
        "?",
        "?",
        "?",
        "SR_SWINLO",
        "SR_SWINSZ",
        "SR_SMEMSZ",
        "SR_SMEMBANKS",
        "SR_LWINLO",
        "SR_LWINSZ",
        "SR_LMEMLOSZ",
        "SR_LMEMHIOFF",
        "SR_EQMASK",
        "SR_LTMASK",
        "SR_LEMASK",
        "SR_GTMASK",
        "SR_GEMASK",
        "SR_REGALLOC",
        "?",
        "?",
        "SR_GLOBALERRORSTATUS",
        "?",
        "SR_WARPERRORSTATUS",
        "SR_WARPERRORSTATUSCLEAR",
        "?",
        "?",
        "?",
        "?",
        "SR_PM_HI0",
        "SR_PM_HI1",
        "SR_PM_HI2",
        "SR_PM_HI3",
        "SR_PM_HI4",
        "SR_PM_HI5",
        "SR_PM_HI6",
        "SR_PM_HI7",
        "SR_CLOCKLO",
        "SR_CLOCKHI",
        "SR_GLOBALTIMERLO",
        "SR_GLOBALTIMERHI",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "?",
        "SR_HWTASKID",
        "SR_CIRCULARQUEUEENTRYINDEX",
        "SR_CIRCULARQUEUEENTRYADDRESSLOW",
        "SR_CIRCULARQUEUEENTRYADDRESSHIGH",
    ],
    "special register",
)
.invalid("SR")
.on_sms(&[
    (Sms::from(52), 15, "SR_ORDERING_TICKET"),
    (Sms::from(60), 44, "SR_SM_SPA_VERSION"),
    (Sms::from(60), 45, "SR_MULTIPASSSHADERINFO"),
    (Sms::from(60), 46, "SR_LWINHI"),
    (Sms::from(60), 47, "SR_SWINHI"),
    (Sms::new(50, 53), 62, "SR_CTXADDR"),
    (Sms::from(60), 62, "SR_BARRIERALLOC"),
]);
const U_44: NamedField = field("U", "44", &["", "U"], "uniform; then the 32 is printed");
const SIZE_50_48: NamedField =
    field("size", "50:48", &["U8", "S8", "U16", "S16", "32", "64", "128"], "size of the access")
        .invalid("INVALIDSIZE")
        .when(&[is("44", &[1])]);
const SIZE_50_48_B: NamedField = SSIZE48.when(&[is("44", &[0])]);
const CACHE_45_44: NamedField =
    field("cache", "45:44", &["", "LU", "CI", "CV"], "caching of local loads");
const SIZE_50_48_B_B: NamedField =
    field("size", "50:48", &["U8", "S8", "U16", "S16", "", "64"], "size of the access")
        .invalid("INVALIDSIZE");
const ADDRESS_45_44: NamedField =
    field("address", "45:44", &["", "IL", "IS", "ISL"], "indexed linear, segmented, both");
const OP_25_23: NamedField = SOP24.at("25:23");
const CAS: NamedField = fixed(&["CAS"], "fixed part of the name");
const OP_55_52: NamedField = SOP29.at("55:52");
const TYPE_29_28: NamedField =
    field("type", "29:28", &["", "S32", "U64", "S64"], "type of the operands");
const OP_54_53: NamedField =
    field("op", "54:53", &["CAST", "CAST.SPIN", "CAS"], "how it compares and swaps");
const WIDE_52: NamedField = W49.at("52");
const OP_3_0: NamedField = field(
    "op",
    "3:0",
    &["?", "PF1", "PF1.5", "PF2", "WB", "IV", "-", "RS", "-", "RSLB"],
    "cache operation",
)
.invalid("INVALIDCCTLOP");
const CACHE_5_4: NamedField =
    field("cache", "5:4", &["", "???1"], "which cache").invalid("INVALIDLCACHETYPE");
const OP_3_0_B: NamedField = field(
    "op",
    "3:0",
    &["-", "PF1", "PF1.5", "PF2", "WB", "IV", "-", "RS", "-", "RSLB"],
    "cache operation",
)
.invalid("INVALIDCCTLOP");
const OP_1_0: NamedField =
    field("op", "1:0", &["-", "IVTH"], "texture cache operation").invalid("INVALIDCCTLTOP");
const OP_1_0_B: NamedField =
    field("op", "1:0", &["IVALL", "IVTH"], "texture cache operation").invalid("INVALIDCCTLTOP");
const SCOPE_9_8: NamedField =
    field("scope", "9:8", &["CTA", "GL", "SYS", "VC"], "who sees the order");
const INVALIDATE_1_0: NamedField =
    field("invalidate", "1:0", &["", "IVALLD", "IVALLT", "IVALLTD"], "caches to invalidate");
const P_31: NamedField =
    field("P", "31", &["PHYS", "P"], "patch; physical address").when(&[NOT_RZA]);
const P_31_B: NamedField = field("P", "31", &["", "P"], "patch").when(&[RZA]);
const MODE_55_54: NamedField =
    field("mode", "55:54", &["PASS", "", "CONSTANT", "SC"], "how it interpolates");
const SAMPLE_53_52: NamedField =
    field("sample", "53:52", &["", "CENTROID", "OFFSET", "INVALID"], "where it interpolates");
const SAT_51: NamedField = field("SAT", "51", &["", "SAT"], "saturates the result");
const IDX: NamedField = fixed(&["IDX"], "fixed part of the name");
const WHAT_40_39: NamedField = field(
    "what",
    "40:39",
    &["INVALIDOUTSTYPE0", "EMIT", "CUT", "EMIT_THEN_CUT"],
    "ends vertex or strip",
);
const SPACE_34_33: NamedField =
    field("space", "34:33", &["", "PATCH", "PRIM", "ATTR"], "which buffer");
const SKEW_31: NamedField = field("SKEW", "31", &["", "SKEW"], "skewed address");
const SIZE_48_47: NamedField = field("size", "48:47", &["", "U16", "32"], "size of the access");
const WHAT_33_31: NamedField = field(
    "what",
    "33:31",
    &["", "COVMASK", "COVERED", "OFFSET", "CENTROID_OFFSET", "MY_INDEX", "INVALID0", "INVALID1"],
    "what it reads",
);
const WAIT_31: NamedField = field("WAIT", "31", &["", "WAIT"], "waits");
const B: NamedField = fixed(&["B"], "fixed part of the name");
const LOD: NamedField = fixed(&["LOD"], "fixed part of the name");
const LOD_56_53: NamedField = field(
    "lod",
    "56:53",
    &["LZ", "", "LZ", "LL", "DC", "LL.DC", "LZ.DC", "", "LZ", "LZ.DC", "", "LZ", "", "LL"],
    "level of detail",
)
.or_refused();
const DIMENSION_56_53: NamedField = field(
    "dimension",
    "56:53",
    &[
        "1D", "2D", "2D", "2D", "2D", "2D", "2D", "ARRAY_2D", "ARRAY_2D", "ARRAY_2D", "3D", "3D",
        "CUBE", "CUBE",
    ],
    "shape of the texture",
)
.or_refused();
const LOD_56_53_B: NamedField = field(
    "lod",
    "56:53",
    &["LZ", "LL", "LZ", "-", "LZ.AOFFI", "LL", "LZ.MS", "LZ", "LZ", "?", "?", "?", "LL.AOFFI"],
    "level of detail",
)
.or_refused();
const DIMENSION_56_53_B: NamedField = field(
    "dimension",
    "56:53",
    &["1D", "1D", "2D", "-", "2D", "2D", "2D", "3D", "ARRAY_2D", "?", "?", "?", "2D"],
    "shape of the texture",
)
.or_refused();
const AOFFI_51: NamedField = AOFFI35.at("51");
const P: NamedField = fixed(&["P"], "fixed part of the name");
const D: NamedField = fixed(&["D"], "fixed part of the name");
const SYNCALL: NamedField = fixed(&["SYNCALL"], "fixed part of the name");
const MODE_33_32: NamedField =
    field("mode", "33:32", &["SYNC", "ARV", "RED", "SCAN"], "what the barrier does");
const OP_36_35: NamedField = field("op", "36:35", &["POPC", "AND", "OR"], "reduction")
    .invalid("INVALIDBARMODE")
    .when(&[is("33:32", &[2])]);
const LE_29: NamedField = field("LE", "29", &["", "LE"], "waits for one counter");
const COUNTER_28_26: NamedField =
    field("counter", "28:26", &["SB0", "SB1", "SB2", "SB3", "SB4", "SB5"], "scoreboard");
const MODE_49_48: NamedField =
    field("mode", "49:48", &["ALL", "ANY", "EQ"], "question to the warp").invalid("INVALIDVMODE");
const VTG: NamedField = fixed(&["VTG"], "fixed part of the name");
const MODE_49_48_B: NamedField =
    field("mode", "49:48", &["R", "A", "RA"], "which stages").invalid("INVALIDVTGMODE");
const TO_40: NamedField = field("to", "40", &["PR", "CC"], "predicates or condition code");
const BYTE_42_41: NamedField =
    field("byte", "42:41", &["", "B1", "B2", "B3"], "byte of the source");

const RD: Operand = register("7:0");
const RA: Operand = register("15:8");
const RB: Operand = register("27:20");
const RC: Operand = register("46:39");
const P51: Operand = predicate("53:51").optional(7);
const P45: Operand = predicate("47:45").optional(7);
const PI43: Operand = predicate("43:41").scaled(7);
const PI30: Operand = predicate("32:30").scaled(7).optional(0);
const TID: Operand = operand(Kind::Unsigned, "48:36");
const ZERO: Operand = operand(Kind::Text, "").prefix("0x0");
const TMASK: Operand = operand(Kind::Unsigned, "34:31");

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    // ---------------------------------------------------------------- shared fields
    // Memory.
    // The result predicates of LDG, ATOM, SULD and SUATOM are stored inverted (PT is 0), those of TEX and its kin are not.  5.0 has none of them.
    form("LDS", 0xef48, &[&U_44, &SIZE_50_48, &SIZE_50_48_B], &[RD, operand(Kind::Address, "43:20").base("15:8")]),
    form("STS", 0xef58, &[&SSIZE48], &[operand(Kind::Address, "43:20").base("15:8"), RD]),
    form("LDG", 0xeed0, &[&E45, &LCACHE46, &LSIZE48], &[RD, operand(Kind::Address, "43:20").base("15:8")]),
    form("LDG", 0xeec8, &[&E45, &LCACHE46, &LSIZE48], &[PI43, RD, operand(Kind::Address, "39:20").base("15:8")]).on(Sms::from(52)),
    form("STG", 0xeed8, &[&E45, &SCACHE46, &SSIZE48], &[operand(Kind::Address, "43:20").base("15:8"), RD]),
    form("LDL", 0xef40, &[&CACHE_45_44, &SSIZE48], &[RD, operand(Kind::Address, "43:20").base("15:8")]),
    form("STL", 0xef50, &[&SCACHE44, &SSIZE48], &[operand(Kind::Address, "43:20").base("15:8"), RD]),
    form("LDC", 0xef90, &[&SIZE_50_48_B_B, &ADDRESS_45_44], &[RD, operand(Kind::IndexedConstant, "35:20").base("40:36,15:8")]),
    form("LD", 0x8000, &[&E52, &LCACHE56, &LSIZE53], &[RD, operand(Kind::Address, "51:20").base("15:8"), predicate("60:58").optional(7)]).mask(0xe000),
    form("ST", 0xa000, &[&E52, &SCACHE56, &SSIZE53], &[operand(Kind::Address, "51:20").base("15:8"), RD, predicate("60:58").optional(7)]).mask(0xe000),
    form("RED", 0xebf8, &[&E48, &OP_25_23, &ASIZE20], &[operand(Kind::Address, "47:28").base("15:8"), RD]),
    form("ATOM", 0xed00, &[&E48, &AOP52, &ASIZE49], &[RD, operand(Kind::Address, "47:28").base("15:8"), RB]).mask(0xff00),
    form("ATOM", 0xee60, &[&E48, &AOP44, &ASIZE49], &[PI43, RD, operand(Kind::Address, "").base("15:8"), RB]).mask(0xfff0).on(Sms::from(52)),
    // CAS: compare and swap value are a register pair; 51:50 (ATOMS 29:28) says that one of the two is RZ; both: refused
    form("ATOM", 0xeef0, &[&E48, &CAS, &W49], &[RD, operand(Kind::Address, "47:28").base("15:8"), operand(Kind::Swap, "27:20").base("49,51:50")]).mask(0xfff0),
    form("ATOM", 0xee70, &[&E48, &CAS, &W49], &[PI43, RD, operand(Kind::Address, "").base("15:8"), operand(Kind::Swap, "27:20").base("49,51:50")]).mask(0xfff0).on(Sms::from(52)),
    form("ATOMS", 0xec00, &[&OP_55_52, &TYPE_29_28], &[RD, operand(Kind::Address, "51:30").base("15:8").scaled(2), RB]).mask(0xff00),
    form("ATOMS", 0xee00, &[&OP_54_53, &WIDE_52], &[RD, operand(Kind::Address, "51:30").base("15:8").scaled(2), operand(Kind::Swap, "27:20").base("52,29:28")]).mask(0xff80).when(&[not("54:53", &[3])]),
    form("CCTL", 0xef60, &[&E52, &CTYPE, &OP_3_0], &[operand(Kind::Address, "51:22").base("15:8").scaled(2)]).mask(0xffe0).when(&[not("3:0", &[0])]),
    // No blank before the address.
    form("CCTL", 0xef60, &[&E52, &CTYPE], &[operand(Kind::Address, "51:22").base("15:8").scaled(2).prefix(".QRY1")]).mask(0xffe0).when(&[is("3:0", &[0])]),
    form("CCTLL", 0xef80, &[&CACHE_5_4, &OP_3_0_B], &[operand(Kind::Address, "43:22").base("15:8").scaled(2)]),
    form("CCTLT", 0xebe8, &[&OP_1_0], &[RC]),
    form("CCTLT", 0xebf0, &[&OP_1_0_B], &[TID.when(&[not("1:0", &[0])])]).refused(&[&[is("1:0", &[0]), not("48:36", &[0])]]),
    form("MEMBAR", 0xef98, &[&SCOPE_9_8, &INVALIDATE_1_0], &[]),
    // Graphics attributes.
    // a[] with RZ has 10 bits of offset (bit 30 is ignored), with a register 11 bits, signed; a register without .P is a physical address, offset 0 only
    form("ALD", 0xefd8, &[&O32, &P_31, &P_31_B, &VEC47], &[RD, operand(Kind::Address, "30:20").base("15:8").prefix("a").when(&[NOT_RZA]), operand(Kind::Address, "29:20").base("15:8").prefix("a").when(&[RZA]), RC.optional(255)]).refused(&[&[is("31", &[0]), NOT_RZA, not("30:20", &[0])]]),
    form("AST", 0xeff0, &[&P_31, &P_31_B, &VEC47], &[operand(Kind::Address, "30:20").base("15:8").prefix("a").when(&[NOT_RZA]), operand(Kind::Address, "29:20").base("15:8").prefix("a").when(&[RZA]), RD, RC.optional(255)]).refused(&[&[is("31", &[0]), NOT_RZA, not("30:20", &[0])]]),
    form("AL2P", 0xefa0, &[&O32, &VEC47], &[predicate("46:44").optional(7), RD, RA.optional(255), operand(Kind::Signed, "30:20").optional(0).when(&[NOT_RZA]), operand(Kind::Unsigned, "29:20").optional(0).when(&[RZA])]),
    form("IPA", 0xe000, &[&MODE_55_54, &SAMPLE_53_52, &SAT_51], &[RD, operand(Kind::Address, "37:28").prefix("a"), RB, RC.optional(255), predicate("50:47").optional(7)]).mask(0xff00).when(&[is("38", &[0])]).refused(&[&[NOT_RZA]]),
    form("IPA", 0xe000, &[&IDX, &MODE_55_54, &SAMPLE_53_52, &SAT_51], &[RD, operand(Kind::Address, "").base("15:8").prefix("a"), RB, RC.optional(255), predicate("50:47")]).mask(0xff00).when(&[is("38", &[1])]),
    form("OUT", 0xfbe0, &[&WHAT_40_39], &[RD, RA, RB]),
    form("OUT", 0xebe0, &[&WHAT_40_39], &[RD, RA, operand(Kind::Constant, "33:20").base("38:34").scaled(2)]),
    form("OUT", 0xf6e0, &[&WHAT_40_39], &[RD, RA, operand(Kind::Signed, "56,38:20")]).mask(0xfef8),
    form("ISBERD", 0xefd0, &[&O32, &SPACE_34_33, &SKEW_31, &SIZE_48_47], &[RD, operand(Kind::Address, "").base("15:8")]),
    form("PIXLD", 0xefe8, &[&WHAT_33_31], &[RD, P45, operand(Kind::Address, "27:20").base("15:8")]),
    form("STP", 0xeea0, &[&WAIT_31], &[operand(Kind::Unsigned, "27:20")]).unguarded(),
    // Textures.
    form("TEX", 0xc000, &[&LOD57, &LC58, &AOFFI54, &DC50, &NDV35, &NODEP], &[P51, RD, RA, RB.optional(255), TID, named(&DIM), TMASK]).mask(0xf800).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TEX", 0xde80, &[&B, &LOD39, &LC40, &AOFFI36, &DC50, &NDV35, &NODEP], &[P51, RD, RA, RB.optional(255), ZERO, named(&DIM), TMASK]).mask(0xffc0).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TLD4", 0xc800, &[&COMP56, &TOFF54, &DC50, &NDV_OLD, &NODEP], &[P51, RD, RA, RB.optional(255), TID, named(&DIM), TMASK]).mask(0xfc00).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TLD4", 0xdec0, &[&COMP38, &B, &TOFF36, &DC50, &NDV_OLD, &NODEP], &[P51, RD, RA, RB.optional(255), ZERO, named(&DIM), TMASK]).mask(0xffc0).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TLD", 0xdc00, &[&LZ55, &AOFFI35, &MS50, &CL54, &NODEP], &[P51, RD, RA, RB.optional(255), TID, named(&DIM), TMASK]).mask(0xff00).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TLD", 0xdd00, &[&B, &LZ55, &AOFFI35, &MS50, &CL54, &NODEP], &[P51, RD, RA, RB.optional(255), ZERO, named(&DIM), TMASK]).mask(0xff00).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TXD", 0xde00, &[&LC50, &AOFFI35, &NODEP], &[P51, RD, RA, RB, TID, named(&DIM), TMASK]).mask(0xffc0).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TXD", 0xde40, &[&B, &LC50, &AOFFI35, &NODEP], &[P51, RD, RA, RB, ZERO, named(&DIM), TMASK]).mask(0xffc0).refused(&[&[on(Sms::new(50, 50)), not("53:51", &[7])]]),
    form("TMML", 0xdf58, &[&LOD, &NDV35, &NODEP], &[RD, RA, TID, named(&DIM), TMASK]),
    form("TMML", 0xdf60, &[&B, &LOD, &NDV35, &NODEP], &[RD, RA, RB.optional(255), ZERO, named(&DIM), TMASK]),
    form("TXA", 0xdf40, &[&NDV35, &NODEP], &[RD, RA, TID, TMASK]),
    form("TXQ", 0xdf48, &[&NODEP], &[RD, RA, named(&QUERY), TID, TMASK]),
    form("TXQ", 0xdf50, &[&B, &NODEP], &[RD, RA, named(&QUERY), ZERO, TMASK]),
    // short forms: second result register 35:28 (RZ: other channel names); one field chooses level of detail and shape
    form("TEXS", 0xd000, &[&HALF58, &LOD_56_53, &NODEP], &[register("35:28"), RD, RA, RB.optional(255), TID, named(&DIMENSION_56_53), named(&ONE).when(&[is("35:28", &[0xff])]), named(&MORE).when(&[not("35:28", &[0xff])])]).mask(0xf200).when(&[not("59:58", &[3])]),
    form("TLDS", 0xd200, &[&HALF58, &LOD_56_53_B, &NODEP], &[register("35:28"), RD, RA, RB.optional(255), TID, named(&DIMENSION_56_53_B), named(&ONE).when(&[is("35:28", &[0xff])]), named(&MORE).when(&[not("35:28", &[0xff])])]).mask(0xf200).when(&[not("59:58", &[3])]),
    form("TLD4S", 0xdf00, &[&HALF54, &COMP52, &AOFFI_51, &DC50, &NODEP], &[register("35:28"), RD, RA, RB, TID]).mask(0xff00).when(&[not("55:54", &[1])]),
    // Surfaces.
    form("SULD", 0xeb00, &[&P, &SDIM, &LCACHE24, &CHAN20, &CLAMP], &[predicate("32:30").scaled(7).optional(0).when(&[on(Sms::from(52))]), RD, operand(Kind::Address, "").base("15:8"), RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SULD", 0xeb10, &[&D, &BA23, &SDIM, &LCACHE24, &SSIZE20, &CLAMP], &[predicate("32:30").scaled(7).optional(0).when(&[on(Sms::from(52))]), RD, operand(Kind::Address, "").base("15:8"), RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SUST", 0xeb20, &[&P, &SDIM, &SCACHE24, &CHAN20, &CLAMP], &[operand(Kind::Address, "").base("15:8"), RD, RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SUST", 0xeb30, &[&D, &BA23, &SDIM, &SCACHE24, &SSIZE20, &CLAMP], &[operand(Kind::Address, "").base("15:8"), RD, RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SURED", 0xeb40, &[&P, &SDIM, &SOP24, &CLAMP], &[operand(Kind::Address, "").base("15:8"), RD, RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SURED", 0xeb50, &[&D, &BA23, &SDIM, &SOP24, &STYPE20, &CLAMP], &[operand(Kind::Address, "").base("15:8"), RD, RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SUATOM", 0xea00, &[&D, &BA28, &SDIM, &SOP29, &STYPE51, &CLAMP], &[RD, operand(Kind::Address, "").base("15:8"), RB, TID]).mask(0xffc0),
    form("SUATOM", 0xea60, &[&P, &SDIM, &SOP29, &CLAMP], &[RD, operand(Kind::Address, "").base("15:8"), RB, RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SUATOM", 0xea70, &[&D, &BA28, &SDIM, &SOP29, &STYPE36, &CLAMP], &[RD, operand(Kind::Address, "").base("15:8"), RB, RC]),
    form("SUATOM", 0xea80, &[&D, &BA28, &SDIM, &CAS, &STYPE51, &CLAMP], &[PI30, RD, operand(Kind::Address, "").base("15:8"), RB, TID]).mask(0xffc0).refused(&[&[on(Sms::new(50, 50)), not("32:30", &[0])]]),
    form("SUATOM", 0xeac0, &[&P, &SDIM, &PCAS, &CLAMP], &[RD, operand(Kind::Address, "").base("15:8"), RB, RC.when(&[is("51", &[0])]), TID.when(&[is("51", &[1])])]).mask(0xfff0),
    form("SUATOM", 0xead0, &[&D, &BA28, &SDIM, &CAS, &STYPE36, &CLAMP], &[PI30, RD, operand(Kind::Address, "").base("15:8"), RB, RC]).refused(&[&[on(Sms::new(50, 50)), not("32:30", &[0])]]),
    form("SUATOM", 0xeb80, &[&D, &BA28, &SDIM, &SOP29, &STYPE36, &CLAMP], &[predicate("53:51").scaled(7), RD, operand(Kind::Address, "").base("15:8"), RB, RC]).mask(0xffc0).on(Sms::from(52)),
    // Barriers, votes.
    form("BAR", 0xf0a8, &[&SYNCALL], &[]).when(&[is("34", &[1])]).refused(&[&[not("33:32", &[0])], &[not("27:20", &[0xff])], &[not("42:39", &[7])]]).unguarded(),
    form("BAR", 0xf0a8, &[&MODE_33_32, &OP_36_35], &[RA.when(&[is("44", &[0])]), operand(Kind::Unsigned, "15:8").when(&[is("44", &[1])]), RB.when(&[is("43", &[0])]), operand(Kind::Unsigned, "31:20").when(&[is("43", &[1]), is("33:32", &[1, 3])]), operand(Kind::Unsigned, "31:20").optional(0).when(&[is("43", &[1]), is("33:32", &[0, 2])]), predicate("42:39").when(&[is("33:32", &[2, 3])])]).when(&[is("34", &[0])]).refused(&[&[SYNC, not("42:39", &[7])]]),
    form("DEPBAR", 0xf0f0, &[&LE_29], &[named(&COUNTER_28_26).when(&[is("29", &[1])]), operand(Kind::Unsigned, "25:20").when(&[is("29", &[1])]), operand(Kind::Set, "5:0").optional(0)]),
    form("B2R", 0xf0b8, &[&BMODE], &[RD, operand(Kind::Unsigned, "15:8").when(&[is("33:32", &[0, 3])]), predicate("47:45").optional(7).when(&[is("33:32", &[1])])]).refused(&[&[is("33:32", &[1, 2]), NOT_RZA]]),
    form("R2B", 0xf0c0, &[&BMODE], &[operand(Kind::Unsigned, "31:28"), RB]),
    form("VOTE", 0x50d8, &[&MODE_49_48], &[RD.optional(255), predicate("47:45"), predicate("42:39")]),
    form("VOTE", 0x50e0, &[&VTG, &MODE_49_48_B], &[operand(Kind::Unsigned, "47:20")]),
    // Special registers, other state.
    form("S2R", 0xf0c8, &[], &[RD, named(&SREG)]),
    form("CS2R", 0x50c8, &[], &[RD, named(&SREG)]),
    family("R2P", 0x5cf0, RCI, &[], &[named(&TO_40), RA.suffix(&[&BYTE_42_41]), second(Unsigned)]),
    form("LEPC", 0x50d0, &[], &[RD]),
    form("GETCRSPTR", 0xe2c0, &[], &[RD]).mask(0xfff0).unguarded(),
    form("GETLMEMBASE", 0xe2d0, &[], &[RD]).mask(0xfff0).unguarded(),
    form("SETCRSPTR", 0xe2e0, &[], &[RA]).mask(0xfff0).unguarded(),
    form("SETLMEMBASE", 0xe2f0, &[], &[RA]).mask(0xfff0).unguarded(),
];
