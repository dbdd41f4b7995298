//! Rows of instructions that compute, move, exchange and jump.

use super::super::language::FloatFormat::{Double, Half, Single};
use super::super::language::Immediate::{Float, Signed, Unsigned};
use super::super::language::*;

const SPU: Condition = is("53,48", &[0]);
const SPS: Condition = not("53,48", &[0]);
const SAME: Condition = is("11:8", &[0, 5, 10, 15]);
const OTHER: Condition = not("11:8", &[0, 5, 10, 15]);
const OF16: Condition = is("11:10", &[1]);
const NOF16: Condition = not("11:10", &[1]);
const OF32: Condition = is("11:10", &[0, 2]);
const OF64: Condition = is("11:10", &[3]);
const VREG: Condition = is("50", &[1]);
const VIMM: Condition = is("50", &[0]);
const S32S32: Condition = not("50:48,38:36,30:28", &[0x1f6]);
const S32SIG: Condition =
    not("50:48,38:36,30:28", &[0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0x1f6]);
const S32CNT: Condition =
    not("50,48,38:36,30:28", &[0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0xf6]);
const NEARF: Condition = is("5", &[0]);
const BANKF: Condition = is("5", &[1]);

const CC47: NamedField = field("CC", "47", &["", "CC"], "writes the condition code");
const X: NamedField = field(
    "X",
    "43",
    &["", "X"],
    "takes the carry (or the borrow) of the word below: a step of a wide operation",
);
const SAT: NamedField = field(
    "SAT",
    "50",
    &["", "SAT"],
    "limits the result: to the largest and smallest integer, or to 0..1",
);
const PO: NamedField = field("PO", "49:48", &["", "", "", "PO"], "adds one to the sum");
const HI: NamedField = field("HI", "39", &["", "HI"], "the high 32 bits of the product");
const FTZ: NamedField = field("FTZ", "44", &["", "FTZ"], "flushes subnormal numbers to zero");
const FMZ: NamedField = field(
    "FMZ",
    "54:53",
    &["", "FTZ", "FMZ"],
    "FTZ flushes subnormal numbers to zero; FMZ: and zero times anything is zero",
)
.invalid("INVALIDFMZ");
const RND: NamedField = field(
    "round",
    "40:39",
    &["", "RM", "RP", "RZ"],
    "rounds down, up, to zero; without: to the nearest even",
);
const FCMP: NamedField = field(
    "compare",
    "51:48",
    &[
        "F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU",
        "GEU", "T",
    ],
    "the comparison; with U: true too if one side is not a number",
);
const ICMP: NamedField =
    field("compare", "51:49", &["F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"], "the comparison");
const U32: NamedField = field("U32", "48", &["U32", ""], "unsigned; without: signed");
const BOP: NamedField = field(
    "combine",
    "46:45",
    &["AND", "OR", "XOR"],
    "joins the comparison with the last predicate",
)
.invalid("INVALIDBOP");
const BF: NamedField = field("BF", "44", &["", "BF"], "writes 1.0 or 0; without: all ones or 0");
const TEST: NamedField = field(
    "test",
    "45:44",
    &["", "T", "Z", "NZ"],
    "what the predicate says: true, the result is zero, is not zero",
);
const LOGIC: NamedField = field(
    "op",
    "42:41",
    &["AND", "OR", "XOR", "PASS_B"],
    "the operation; PASS_B is the second operand",
);
const WRAP: NamedField =
    field("W", "39", &["", "W"], "the count is taken modulo the width; without: it is clamped");
const BREV: NamedField = field("BREV", "40", &["", "BREV"], "reverses the order of the bits first");
const H1: NamedField =
    field("H1", "53", &["", "H1"], "the high half of the register; without: the low half");
const BYTE: NamedField = field("byte", "42:41", &["", "B1", "B2", "B3"], "which byte");
const TA1: NamedField = field(
    "type1",
    "41:40",
    &["U32", "S32", "U32", ""],
    "type of the first factor; nothing: both are signed",
);
const TB1: NamedField =
    field("type2", "41:40", &["U32", "U32", "S32", ""], "type of the second factor");
const CC52: NamedField = CC47.at("52");
const HALF: NamedField =
    field("half", "36:35", &["", "H0", "H1"], "only this half of the register").only(TWO_REGISTERS);
const XTYPE: NamedField = field(
    "types",
    "49:48",
    &["", "S16.U16", "U16.S16", "S16.S16"],
    "types of both factors; without: unsigned",
);
const PSL: NamedField = field("PSL", "36", &["", "PSL"], "shifts the product left by 16");
const XMODE: NamedField = field(
    "addend",
    "52:50",
    &["", "CLO", "CHI", "CSFU", "CBCC"],
    "the addend: all, its low half, its high half, halves added by sign, plus the second factor shifted by 16",
);
const XMOD2: NamedField = field(
    "addend",
    "51:50",
    &["", "CLO", "CHI", "CSFU"],
    "the addend: all, its low half, its high half, halves added by sign",
);
const MRG: NamedField = field(
    "MRG",
    "37",
    &["", "MRG"],
    "the high half of the result is the low half of the second factor",
);
const LUT: NamedField = fixed(
    &["LUT"],
    "any operation of three; the last operand is its table: 0xf0, 0xcc, 0xaa stand for the sources",
);
const LEAHI: NamedField =
    fixed(&["HI"], "the high word of a 64-bit sum: the first operand is extended by the third");
const BOP1: NamedField =
    field("combine1", "25:24", &["AND", "OR", "XOR"], "joins the first two predicates")
        .invalid("INVALIDBOP");
const CCMP: NamedField = field(
    "compare",
    "12:8",
    &[
        "F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU",
        "GEU", "T", "OFF", "LO", "SFF", "LS", "HI", "SFT", "HS", "OFT", "CSM_TA", "CSM_TR",
        "CSM_MX", "FCSM_TA", "FCSM_TR", "FCSM_MX", "RLE", "RGT",
    ],
    "the test of the condition code",
);
const FTO: NamedField =
    field("to", "9:8", &["INVALIDFPDEST0", "F16", "F32", "F64"], "format of the result");
const FFROM: NamedField =
    field("from", "11:10", &["INVALIDFPSRC0", "F16", "F32", "F64"], "format of the source");
const IFROM: NamedField = field(
    "from",
    "13,11:10",
    &["U8", "U16", "U32", "U64", "S8", "S16", "S32", "S64"],
    "type of the source",
);
const H41: NamedField = H1.at("41");
const SEL: NamedField = field(
    "select",
    "48:47",
    &["", "F32", "H0_H0", "H1_H1"],
    "both halves; a float; the low half twice; the high half twice",
);
const HOUT: NamedField = field(
    "result",
    "50:49",
    &["", "F32", "MRG_H0", "MRG_H1"],
    "writes both halves, a float, only the low half, only the high half",
);
const HFMZ: NamedField = field(
    "FMZ",
    "40:39",
    &["", "FTZ", "FMZ", "INVALID"],
    "FTZ flushes subnormal numbers to zero; FMZ: and zero times anything is zero",
);
const SAT32: NamedField = SAT.at("32");
const SAT52: NamedField = SAT.at("52");
const SEL53: NamedField = SEL.at("54:53");
const SEL28: NamedField = SEL.at("29:28");
const HBOP: NamedField = field(
    "combine",
    "46:45",
    &["AND", "OR", "XOR"],
    "joins the comparison with the last predicate",
);
const HAND: NamedField = field(
    "H_AND",
    "49",
    &["", "H_AND"],
    "the predicates are both halves joined and its complement; without: one half each",
);
const VT1: NamedField = field(
    "type1",
    "48,38:36",
    &[
        "U8",
        "U8",
        "U8",
        "U8",
        "U16",
        "U16",
        "U32",
        "INVALIDSEL6",
        "S8",
        "S8",
        "S8",
        "S8",
        "S16",
        "S16",
        "S32",
        "INVALIDSEL7",
    ],
    "type of the first",
);
const VP1: NamedField = field(
    "part1",
    "38:36",
    &["", "B1", "B2", "B3", "", "H1", "", ""],
    "which byte or half of the first",
);
const VP2: NamedField = field(
    "part2",
    "30:28",
    &["", "B1", "B2", "B3", "", "H1", "", ""],
    "which byte or half of the second",
);
const VOP: NamedField = field(
    "op2",
    "53:51",
    &["MRG_16H", "MRG_16L", "MRG_8B0", "MRG_8B2", "ACC", "MIN", "MAX", ""],
    "then joins with the third operand: puts it in a half or byte, adds, smaller, larger",
);
const VSAT: NamedField = field("SAT", "55", &["", "SAT"], "limits the result to its type");
const UD: NamedField = field("UD", "54", &["UD", ""], "unsigned result");
const SD: NamedField = field("SD", "54", &["", "SD"], "signed result");
const ASEL: NamedField = field(
    "order",
    "35:32",
    &[
        "0000", "1111", "2222", "3333", "", "4321", "5432", "6543", "3201", "3012", "0213", "3120",
        "1230", "2310",
    ],
    "order of the bytes",
)
.invalid_hex("INVALIDASEL4");
const BSEL: NamedField = field(
    "order",
    "31:28",
    &["4444", "5555", "6666", "7777", "", "6543", "5432", "4321", "4567", "6745", "5476"],
    "order of the bytes",
)
.invalid_hex("INVALIDBSEL4");
const LMT: NamedField = field("LMT", "6", &["", "LMT"], "limits the lanes that take part");
const NOINC: NamedField = field("NOINC", "6", &["NOINC", ""], "does not count the depth of calls");
const UNI: NamedField = field("U", "7", &["", "U"], "all lanes agree");
const SHIFT_38_37: NamedField = field(
    "shift",
    "38:37",
    &["", "RS", "LS"],
    "shifts the sum of the first two right or left by 16",
)
.only(TWO_REGISTERS);
const X_48: NamedField = X.at("48");
const HALF_34_33: NamedField = HALF.at("34:33");
const HALF_32_31: NamedField = HALF.at("32:31");
const PO_56_55: NamedField = field("PO", "56:55", &["", "-", "", "PO"], "adds one to the sum");
const SAT_54: NamedField = SAT.at("54");
const X_53: NamedField = X.at("53");
const TYPE1_55_54: NamedField = TA1.at("55:54");
const TYPE2_55_54: NamedField = TB1.at("55:54");
const HI_53: NamedField = HI.at("53");
const TYPE1_53_48: NamedField = TA1.at("53,48");
const TYPE2_53_48: NamedField = TB1.at("53,48");
const HI_54: NamedField = HI.at("54");
const PO_52_51: NamedField = PO.at("52:51");
const X_49: NamedField = X.at("49");
const TYPE1_57_54: NamedField = TA1.at("57,54");
const TYPE2_57_54: NamedField = TB1.at("57,54");
const PO_56_55_B: NamedField = PO.at("56:55");
const TYPE1_50_48: NamedField = field(
    "type1",
    "50:48",
    &["U32", "S32", "U24", "S24", "U16H0", "S16H0", "U16H1", "S16H1"],
    "part and type of the first factor",
);
const TYPE2_54_53: NamedField = field(
    "type2",
    "54:53",
    &["U24", "S24", "U16H0", "S16H0"],
    "part and type of the second factor",
);
const TYPE3_52_51: NamedField =
    field("type3", "52:51", &["U32", "U24", "U16H0", "-"], "part and type of the addend")
        .when(&[SPU]);
const TYPE3_52_51_B: NamedField =
    field("type3", "52:51", &["S32", "S24", "S16H0", "-"], "part and type of the addend")
        .when(&[SPS]);
const X_38: NamedField = X.at("38");
const H1_35: NamedField = H1.at("35");
const PSL_55: NamedField = PSL.at("55");
const MRG_56: NamedField = MRG.at("56");
const X_54: NamedField = X.at("54");
const H1_52: NamedField = H1.at("52");
const WIDE_44_43: NamedField =
    field("wide", "44:43", &["", "XLO", "XMED", "XHI"], "a step of a comparison of several words");
const MODE_50_48: NamedField = field(
    "mode",
    "50:48",
    &["4A.U8", "2A.LO.U16", "4A.S8", "2A.LO.S16", "-", "2A.HI.U16", "-", "2A.HI.S16"],
    "four products of bytes, or two of a half and a byte (LO, HI: which bytes); type of the first",
);
const TYPE2_47: NamedField = field("type2", "47", &["U8", "S8"], "type of the second");
const SH_41: NamedField =
    field("SH", "41", &["", "SH"], "gives the shift that moves the bit to the top");
const X_44_43: NamedField =
    field("X", "44:43", &["", "INVALIDSHRXMODE1", "X", "XHI"], "a step of a wide shift");
const L: NamedField = fixed(&["L"], "left");
const W_50: NamedField = WRAP.at("50");
const TYPE_38_37: NamedField = field(
    "type",
    "38:37",
    &["", "INVALIDMAXSHIFT3", "U64", "S64"],
    "shifts up to 63; without: up to 32",
);
const X_49_48: NamedField =
    field("X", "49:48", &["", "HI", "X", "XHI"], "which word of the wide shift");
const R: NamedField = fixed(&["R"], "right");
const OP_54_53: NamedField = LOGIC.at("54:53");
const X_57: NamedField = X.at("57");
const TEST_37_36: NamedField = TEST.at("37:36");
const X_56: NamedField = X.at("56");
const X_46: NamedField = X.at("46");
const MODE_51_48: NamedField = field(
    "mode",
    "51:48",
    &["", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16", "INVALIDPMODE7"],
    "how the second operand selects; without: a digit a byte",
);
const FROM_40: NamedField = field("from", "40", &["PR", "CC"], "predicates or condition code");
const MODE_31_30: NamedField = field(
    "mode",
    "31:30",
    &["IDX", "UP", "DOWN", "BFLY"],
    "which lane is read: number, below, above, number xor",
);
const FTZ_55: NamedField = FTZ.at("55");
const FMZ_45_44: NamedField = FMZ.at("45:44");
const SCALE_43_41: NamedField = field(
    "scale",
    "43:41",
    &["", "D2", "D4", "D8", "M8", "M4", "M2", "INVALIDSCALE37"],
    "divides (D) or multiplies (M) by 2, 4, 8",
);
const SAT_55: NamedField = SAT.at("55");
const ROUND_52_51: NamedField = RND.at("52:51");
const BF_52: NamedField = BF.at("52");
const FTZ_47: NamedField = FTZ.at("47");
const COMPARE_51_48: NamedField = field(
    "compare",
    "51:48",
    &[
        "F", "LT", "EQ", "LE", "", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU",
        "GEU", "T",
    ],
    "the comparison; with U: true too if one side is not a number",
);
const MODE_44_39: NamedField =
    field("mode", "44:39", &["DIVIDE"], "what is checked: whether a division needs the slow path")
        .invalid("INVALIDCHKMODE");
const FUNCTION_23_20: NamedField = field(
    "function",
    "23:20",
    &["COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "RCP64H", "RSQ64H", "?"],
    "the function; 64H: of the high word of a double",
)
.invalid_hex("INVALIDMUFUOPCODE")
.on_sms(&[(Sms::from(52), 8, "SQRT")]);
const FOR_39: NamedField =
    field("for", "39", &["SINCOS", "EX2"], "prepares the operand for this MUFU");
const NDV_38: NamedField = field("NDV", "38", &["", "NDV"], "lanes of the quad may be off");
const SIGNS: NamedField =
    field("signs", "", &["PP", "NP", "PN", "ZP"], "a pair of signs a lane: plus, minus, zero");
const ROUND_51_50: NamedField = RND.at("51:50");
const ROUND_40_39: NamedField = RND.when(&[OTHER]);
const ROUND_42_40_39: NamedField = field(
    "round",
    "42,40:39",
    &["", "PASS", "PASS", "PASS", "ROUND", "FLOOR", "CEIL", "TRUNC"],
    "rounds to an integer: nearest, down, up, to zero; PASS: only copies",
)
.when(&[SAME]);
const TO_12_9_8: NamedField = field(
    "to",
    "12,9:8",
    &["INVALID0", "U16", "U32", "U64", "INVALID1", "S16", "S32", "S64"],
    "type of the result",
);
const ROUND_40_39_B: NamedField = field(
    "round",
    "40:39",
    &["", "FLOOR", "CEIL", "TRUNC"],
    "rounds down, up, to zero; without: to the nearest even",
);
const I2F_TO: NamedField =
    field("to", "9:8", &["INVALIDFPSRC0", "F16", "F32", "F64"], "format of the result");
const BYTE_42_41: NamedField = BYTE.when(&[NOF16]);
const HALF_42_41: NamedField =
    field("half", "42:41", &["", "INVALIDSIZE1", "H1", "INVALIDSIZE3"], "which half").when(&[OF16]);
const TO_12_9_8_B: NamedField = field(
    "to",
    "12,9:8",
    &["U8", "U16", "U32", "???6", "S8", "S16", "S32", "???7"],
    "type of the result",
);
const FROM_13_11_10: NamedField = field(
    "from",
    "13,11:10",
    &["U8", "U16", "U32", "INVALID6", "S8", "S16", "S32", "INVALID7"],
    "type of the source",
);
const FTZ_39: NamedField = FTZ.at("39");
const FMZ_56_55: NamedField = HFMZ.at("56:55");
const FMZ_38_37: NamedField = HFMZ.at("38:37");
const SELECT_36_35: NamedField = SEL.at("36:35");
const FMZ_58_57: NamedField = HFMZ.at("58:57");
const FMZ_58_57_B: NamedField = FMZ.at("58:57");
const FMZ_56_55_B: NamedField = FMZ.at("56:55");
const BF_49: NamedField = BF.at("49");
const COMPARE_38_35: NamedField = FCMP.at("38:35");
const FTZ_50: NamedField = FTZ.at("50");
const BF_53: NamedField = BF.at("53");
const COMPARE_52_49: NamedField = FCMP.at("52:49");
const FTZ_54: NamedField = FTZ.at("54");
const FTZ_6: NamedField = FTZ.at("6");
const H_AND_53: NamedField = HAND.at("53");
const TYPE1_48_38_36: NamedField = VT1.when(&[S32SIG]);
const TYPE2_49_30_28: NamedField = field(
    "type2",
    "49,30:28",
    &[
        "U8",
        "U8",
        "U8",
        "U8",
        "U16",
        "U16",
        "U32",
        "INVALIDSEL6",
        "S8",
        "S8",
        "S8",
        "S8",
        "S16",
        "S16",
        "S32",
        "INVALIDSEL7",
    ],
    "type of the second",
)
.when(&[VREG, S32SIG]);
const TYPE2_49: NamedField =
    field("type2", "49", &["U16", "S16"], "type of the immediate").when(&[VIMM, S32SIG]);
const PO_57_56: NamedField = PO.at("57:56");
const MX_56: NamedField = field("MX", "56", &["", "MX"], "the larger; without: the smaller");
const COMPARE_56_54: NamedField = ICMP.at("56:54");
const COMPARE_47_44_43: NamedField = ICMP.at("47,44:43");
const TYPE1_48_38_36_B: NamedField = VT1.when(&[S32S32]);
const TYPE2_49_30_28_B: NamedField = field(
    "type2",
    "49,30:28",
    &[
        "U8",
        "U8",
        "U8",
        "U8",
        "U16",
        "U16",
        "U32",
        "INVALIDSEL6",
        "S8",
        "S8",
        "S8",
        "S8",
        "S16",
        "S16",
        "S32",
        "INVALIDSEL7",
    ],
    "type of the second",
)
.when(&[VREG, S32S32]);
const TYPE2_49_B: NamedField =
    field("type2", "49", &["U16", "S16"], "type of the immediate").when(&[VIMM, S32S32]);
const TYPE1_48_38_36_B_B: NamedField = VT1.when(&[S32CNT]);
const TYPE2_30_28: NamedField = field(
    "type2",
    "30:28",
    &["U8", "U8", "U8", "U8", "U16", "U16", "U32", "INVALIDSEL7"],
    "type of the count",
)
.when(&[VREG, S32CNT]);
const TYPE2: NamedField = field("type2", "", &["U16"], "type of the count").when(&[VIMM, S32CNT]);
const W_49: NamedField = WRAP.at("49");
const TYPE1_48_38_36_B_B_B: NamedField = VT1.when(&[S32SIG, on(Sms::new(50, 53))]);
const TYPE2_49_30_28_B_B: NamedField = field(
    "type2",
    "49,30:28",
    &[
        "U8",
        "U8",
        "U8",
        "U8",
        "U16",
        "U16",
        "U32",
        "INVALIDSEL6",
        "S8",
        "S8",
        "S8",
        "S8",
        "S16",
        "S16",
        "S32",
        "INVALIDSEL7",
    ],
    "type of the second",
)
.when(&[VREG, S32SIG, on(Sms::new(50, 53))]);
const TYPE2_49_B_B: NamedField = field("type2", "49", &["U16", "S16"], "type of the immediate")
    .when(&[VIMM, S32SIG, on(Sms::new(50, 53))]);
const TYPE1_48_38_36_B_B_B_B: NamedField = VT1.when(&[on(Sms::from(60))]);
const TYPE2_49_30_28_B_B_B: NamedField = field(
    "type2",
    "49,30:28",
    &[
        "U8",
        "U8",
        "U8",
        "U8",
        "U16",
        "U16",
        "U32",
        "INVALIDSEL6",
        "S8",
        "S8",
        "S8",
        "S8",
        "S16",
        "S16",
        "S32",
        "INVALIDSEL7",
    ],
    "type of the second",
)
.when(&[VREG, on(Sms::from(60))]);
const TYPE2_49_B_B_B: NamedField =
    field("type2", "49", &["U16", "S16"], "type of the immediate").when(&[VIMM, on(Sms::from(60))]);
const PO_54_53: NamedField = PO.at("54:53");
const SHIFT_52_51: NamedField =
    field("shift", "52:51", &["", "SHR_7", "SHR_15"], "shifts the sum right by 7 or 15")
        .invalid("INVALIDVMADSCALE");
const SD_38: NamedField = SD.at("38");
const TYPES_49_48: NamedField = field(
    "types",
    "49:48",
    &["U8.U8", "S8.U8", "U8.S8", ""],
    "types of the bytes; without: signed",
);
const REDUCE_54_53: NamedField =
    field("reduce", "54:53", &["", "ACC"], "adds up the four results").invalid("INVALIDRED");
const LANES_37_36_52_51: NamedField = field(
    "lanes",
    "37:36,52:51",
    &[
        "???0", "X", "Y", "XY", "Z", "XZ", "YZ", "XYZ", "W", "XW", "YW", "XYW", "ZW", "XZW", "YZW",
        "",
    ],
    "bytes that are written",
);
const KEEPREFCOUNT_5: NamedField =
    field("KEEPREFCOUNT", "5", &["", "KEEPREFCOUNT"], "keeps the reference count");
const CC_TEST_4_0: NamedField = field(
    "CC test",
    "4:0",
    &[
        "CC.F",
        "CC.LT",
        "CC.EQ",
        "CC.LE",
        "CC.GT",
        "CC.NE",
        "CC.GE",
        "CC.NUM",
        "CC.NAN",
        "CC.LTU",
        "CC.EQU",
        "CC.LEU",
        "CC.GTU",
        "CC.NEU",
        "CC.GEU",
        "",
        "CC.OFF",
        "CC.LO",
        "CC.SFF",
        "CC.LS",
        "CC.HI",
        "CC.SFT",
        "CC.HS",
        "CC.OFT",
        "CC.CSM_TA",
        "CC.CSM_TR",
        "CC.CSM_MX",
        "CC.FCSM_TA",
        "CC.FCSM_TR",
        "CC.FCSM_MX",
        "CC.RLE",
        "CC.RGT",
    ],
    "only if the condition code passes the test",
);
const MODE_1_0: NamedField = field(
    "mode",
    "1:0",
    &["", "TERMINATE", "FALLTHROUGH", "PREEMPTED"],
    "how the trap handler ends",
);
const EN_5: NamedField = field("EN", "5", &["EN", ""], "enables; without: disables");
const MODE_8_6: NamedField = field(
    "mode",
    "8:6",
    &["DRAIN_ILLEGAL", "CAL", "PAUSE", "TRAP", "INT", "DRAIN", "?"],
    "what happens",
)
.on_sms(&[(Sms::from(60), 6, "PAUSE_QUIET")]);
const TRIG_13: NamedField = field("TRIG", "13", &["", "TRIG"], "triggers the event counter");
const CC_TEST_12_8: NamedField = field(
    "CC test",
    "12:8",
    &[
        "CC.F",
        "CC.LT",
        "CC.EQ",
        "CC.LE",
        "CC.GT",
        "CC.NE",
        "CC.GE",
        "CC.NUM",
        "CC.NAN",
        "CC.LTU",
        "CC.EQU",
        "CC.LEU",
        "CC.GTU",
        "CC.NEU",
        "CC.GEU",
        "",
        "CC.OFF",
        "CC.LO",
        "CC.SFF",
        "CC.LS",
        "CC.HI",
        "CC.SFT",
        "CC.HS",
        "CC.OFT",
        "CC.CSM_TA",
        "CC.CSM_TR",
        "CC.CSM_MX",
        "CC.FCSM_TA",
        "CC.FCSM_TR",
        "CC.FCSM_MX",
        "CC.RLE",
        "CC.RGT",
    ],
    "the test of the condition code",
);

const RD: Operand = register("7:0");
const RD_CC: Operand = RD.suffix(&[&CC47]);
const RA: Operand = register("15:8");
const RB: Operand = register("27:20");
const RC: Operand = register("46:39");
const RD52: Operand = RD.suffix(&[&CC52]);
const PD: Operand = predicate("5:3");
const PD2: Operand = predicate("2:0");
const PC: Operand = predicate("42:39");
const POPT: Operand = predicate("50:48").optional(7);
const CB: Operand = operand(Kind::Constant, "33:20").base("38:34").scaled(2);
const I32: Operand = operand(Kind::Signed, "51:20");
const U32I: Operand = operand(Kind::Unsigned, "51:20");
const F32I: Operand = operand(Kind::Float(Single), "51:20");
const HA: Operand = RA.neg(43).abs(44).suffix(&[&SEL]);
const HA0: Operand = RA.suffix(&[&SEL]);
const HB: Operand = RB.neg(31).abs(30).suffix(&[&SEL28]);
const HI1: Operand = operand(Kind::Float(Half), "56,38:30").scaled(6);
const HI0: Operand = operand(Kind::Float(Half), "29:20").scaled(6);
const HW1: Operand = operand(Kind::Float(Half), "51:36");
const HW0: Operand = operand(Kind::Float(Half), "35:20");
const VA: Operand = RA.suffix(&[&VP1]);
const VBR: Operand = RB.suffix(&[&VP2]).when(&[VREG]);
const CCT: Operand = named(&CC_TEST_4_0);
const NEAR: Operand = operand(Kind::Target, "43:20");
const BANK: Operand = operand(Kind::Constant, "35:20").base("40:36");

#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    // ---------------------------------------------------------------- shared fields (at(FIELD, bits): the same field on other bits)
    // ---------------------------------------------------------------- shared operands
    // Integers.
    family("IADD", 0x5c10, RCI, &[&PO, &SAT, &X], &[RD_CC, RA.neg_when(&is("49:48", &[2])), second(Signed).neg_when(&is("49:48", &[1]))]),
    family("IADD3", 0x5cc0, RCI, &[&SHIFT_38_37, &X_48], &[RD_CC, RA.neg(51).suffix(&[&HALF]), second(Unsigned).neg(50).suffix(&[&HALF_34_33]), RC.neg(49).suffix(&[&HALF_32_31])]).mask(0xfff0),
    form("IADD32I", 0x1c00, &[&PO_56_55, &SAT_54, &X_53], &[RD52, RA.neg_when(&is("56:55", &[2])), I32]).mask(0xfe00),
    family("ISCADD", 0x5c18, RCI, &[&PO], &[RD_CC, RA.neg_when(&is("49:48", &[2])), second(Signed).neg_when(&is("49:48", &[1])), operand(Kind::Unsigned, "43:39")]),
    form("ISCADD32I", 0x1400, &[], &[RD52, RA, I32, operand(Kind::Unsigned, "57:53")]).mask(0xfc00),
    family("IMUL", 0x5c38, RCI, &[&TA1, &TB1, &HI], &[RD_CC, RA, second(Signed)]),
    form("IMUL32I", 0x1f00, &[&TYPE1_55_54, &TYPE2_55_54, &HI_53], &[RD52, RA, I32]).mask(0xff00),
    family("IMAD", 0x5a00, RCIX, &[&TYPE1_53_48, &TYPE2_53_48, &HI_54, &PO_52_51, &SAT, &X_49], &[RD_CC, RA.neg_when(&is("52:51", &[2])), second(Signed), THIRD.neg_when(&is("52:51", &[1]))]).mask(0xff80),
    form("IMAD32I", 0x1000, &[&TYPE1_57_54, &TYPE2_57_54, &HI_53, &PO_56_55_B], &[RD52, RA.neg_when(&is("56:55", &[2])), I32, RD.neg_when(&is("56:55", &[1]))]).mask(0xfc00),
    family("IMADSP", 0x5a80, RCIX, &[&TYPE1_50_48, &TYPE2_54_53, &TYPE3_52_51, &TYPE3_52_51_B], &[RD_CC, RA, second(Signed), THIRD]).mask(0xff80),
    form("XMAD", 0x5b00, &[&XTYPE, &PSL, &XMODE, &MRG, &X_38], &[RD_CC, RA.suffix(&[&H1]), RB.suffix(&[&H1_35]), RC]).mask(0xffc0),
    form("XMAD", 0x3600, &[&XTYPE, &PSL, &XMODE, &MRG, &X_38], &[RD_CC, RA.suffix(&[&H1]), operand(Kind::Unsigned, "35:20").when(&[is("49", &[0])]), operand(Kind::Signed, "35:20").when(&[is("49", &[1])]), RC]).mask(0xfec0),
    form("XMAD", 0x4e00, &[&XTYPE, &PSL_55, &XMOD2, &MRG_56, &X_54], &[RD_CC, RA.suffix(&[&H1]), operand(Kind::Constant, "33:20").base("38:34").scaled(2).prefix(" ").suffix(&[&H1_52]), RC]).mask(0xfe00),
    form("XMAD", 0x5100, &[&XTYPE, &XMOD2, &X_54], &[RD_CC, RA.suffix(&[&H1]), RC.suffix(&[&H1_52]), CB]).mask(0xff80),
    family("IMNMX", 0x5c20, RCI, &[&U32, &WIDE_44_43], &[RD_CC, RA, second(Signed), PC]),
    family("ISET", 0x5b50, RCI, &[&BF, &ICMP, &U32, &X, &BOP], &[RD_CC, RA, second(Signed), PC]).mask(0xfff0),
    family("ISETP", 0x5b60, RCI, &[&ICMP, &U32, &X, &BOP], &[PD, PD2, RA, second(Signed), PC]).mask(0xfff0),
    family("ICMP", 0x5b40, RCIX, &[&ICMP, &U32], &[RD, RA, second(Signed), THIRD]).mask(0xfff0),
    form("IDP", 0x53f8, &[&MODE_50_48, &TYPE2_47], &[RD, RA, RB, RC]).on(Sms::from(61)),
    form("IDP", 0x53d8, &[&MODE_50_48, &TYPE2_47], &[RD, RA, CB, RC]).on(Sms::from(61)),
    // Bits and logic.
    family("BFE", 0x5c00, RCI, &[&U32, &BREV], &[RD_CC, RA, second(Signed)]),
    family("BFI", 0x5bf0, RCIX, &[], &[RD_CC, RA, second(Signed), THIRD]),
    family("FLO", 0x5c30, RCI, &[&U32, &SH_41], &[RD_CC, second(Signed).inv(40)]),
    family("POPC", 0x5c08, RCI, &[], &[RD, second(Signed).inv(40)]),
    family("SHL", 0x5c48, RCI, &[&WRAP, &X], &[RD_CC, RA, second(Signed)]),
    family("SHR", 0x5c28, RCI, &[&U32, &WRAP, &X_44_43, &BREV], &[RD_CC, RA, second(Signed)]),
    form("SHF", 0x5bf8, &[&L, &W_50, &TYPE_38_37, &X_49_48], &[RD_CC, RA, RB, RC]),
    form("SHF", 0x36f8, &[&L, &W_50, &TYPE_38_37, &X_49_48], &[RD_CC, RA, operand(Kind::Unsigned, "25:20"), RC]).mask(0xfef8),
    form("SHF", 0x5cf8, &[&R, &W_50, &TYPE_38_37, &X_49_48], &[RD_CC, RA, RB, RC]),
    form("SHF", 0x38f8, &[&R, &W_50, &TYPE_38_37, &X_49_48], &[RD_CC, RA, operand(Kind::Unsigned, "25:20"), RC]).mask(0xfef8),
    family("LOP", 0x5c40, RCI, &[&LOGIC, &X, &TEST], &[POPT, RD_CC, RA.inv(39), second(Signed).inv(40)]),
    form("LOP32I", 0x0400, &[&OP_54_53, &X_57], &[RD52, RA.inv(55), U32I.inv(56)]).mask(0xfc00),
    form("LOP3", 0x5be0, &[&LUT, &X_38, &TEST_37_36], &[POPT, RD_CC, RA, RB, RC, operand(Kind::Unsigned, "35:28")]),
    form("LOP3", 0x0200, &[&LUT, &X_56], &[RD_CC, RA, CB, RC, operand(Kind::Unsigned, "55:48")]).mask(0xfe00),
    form("LOP3", 0x3c00, &[&LUT, &X_57], &[RD_CC, RA, operand(Kind::Signed, "56,38:20"), RC, operand(Kind::Unsigned, "55:48")]).mask(0xfc00),
    family("LEA", 0x5bd0, RCI, &[&X_46], &[POPT, RD_CC, RA.neg(45), second(Signed), operand(Kind::Unsigned, "43:39").optional(0)]),
    form("LEA", 0x5bd8, &[&LEAHI, &X_38], &[POPT, RD_CC, RA.neg(37), RB, RC, operand(Kind::Unsigned, "32:28").optional(0)]),
    form("LEA", 0x1800, &[&LEAHI, &X_57], &[POPT, RD_CC, RA.neg(56), CB, RC, operand(Kind::Unsigned, "55:51").optional(0)]).mask(0xfc00),
    family("PRMT", 0x5bc0, RCIX, &[&MODE_51_48], &[RD, RA, second(Signed), THIRD]).mask(0xfff0),
    // Moves, predicates, lanes.
    // The last operand: lanes of the quad that write.
    family("MOV", 0x5c98, RCI, &[], &[RD, second(Signed), operand(Kind::Unsigned, "42:39").optional(15)]),
    form("MOV32I", 0x0100, &[], &[RD, U32I, operand(Kind::Unsigned, "15:12").optional(15)]).mask(0xfff0),
    family("SEL", 0x5ca0, RCI, &[], &[RD, RA, second(Signed), PC]),
    family("P2R", 0x5ce8, RCI, &[&BYTE], &[RD, named(&FROM_40), RA, second(Signed)]),
    form("PSET", 0x5088, &[&BF, &BOP1, &BOP], &[RD_CC, predicate("15:12"), predicate("32:29"), PC]),
    form("PSETP", 0x5090, &[&BOP1, &BOP], &[PD, PD2, predicate("15:12"), predicate("32:29"), PC]),
    form("CSET", 0x5098, &[&BF, &CCMP, &BOP], &[RD_CC, operand(Kind::Text, "").prefix("CC"), PC]),
    form("CSETP", 0x50a0, &[&CCMP, &BOP], &[PD, PD2, operand(Kind::Text, "").prefix("CC"), PC]),
    form("SHFL", 0xef10, &[&MODE_31_30], &[predicate("50:48"), RD, RA, operand(Kind::Unsigned, "24:20").when(&[is("28", &[1])]), RB.when(&[is("28", &[0])]), operand(Kind::Unsigned, "46:34").when(&[is("29", &[1])]), RC.when(&[is("29", &[0])])]),
    // Floats.
    family("FADD", 0x5c58, RCI, &[&FTZ, &RND, &SAT], &[RD_CC, RA.neg(48).abs(46), second(Float(Single)).neg(45).abs(49)]),
    form("FADD32I", 0x0800, &[&FTZ_55], &[RD52, RA.neg(56).abs(54), F32I.neg(53).abs(57)]).mask(0xfc00),
    family("FMUL", 0x5c68, RCI, &[&FMZ_45_44, &SCALE_43_41, &RND, &SAT], &[RD_CC, RA, second(Float(Single)).neg(48)]),
    form("FMUL32I", 0x1e00, &[&FMZ, &SAT_55], &[RD52, RA, F32I]).mask(0xff00),
    family("FFMA", 0x5980, RCIX, &[&FMZ, &ROUND_52_51, &SAT], &[RD_CC, RA, second(Float(Single)).neg(48), THIRD.neg(49)]).mask(0xff80),
    // The addend is the result register.
    form("FFMA32I", 0x0c00, &[&FMZ, &SAT_55], &[RD52, RA.neg(56), F32I, RD.neg(57)]).mask(0xfc00),
    family("FMNMX", 0x5c60, RCI, &[&FTZ], &[RD_CC, RA.neg(48).abs(46), second(Float(Single)).neg(45).abs(49), PC]),
    family("FSET", 0x5800, RCI, &[&BF_52, &FCMP, &FTZ_55, &BOP], &[RD_CC, RA.neg(43).abs(54), second(Float(Single)).neg(53).abs(44), PC]).mask(0xff00),
    family("FSETP", 0x5bb0, RCI, &[&FCMP, &FTZ_47, &BOP], &[PD, PD2, RA.neg(43).abs(7), second(Float(Single)).neg(6).abs(44), PC]).mask(0xfff0),
    family("FCMP", 0x5ba0, RCIX, &[&COMPARE_51_48, &FTZ_47], &[RD, RA, second(Float(Single)), THIRD]).mask(0xfff0),
    family("FCHK", 0x5c88, RCI, &[&MODE_44_39], &[PD, RA.neg(48).abs(46), second(Float(Single)).neg(45).abs(49)]),
    form("MUFU", 0x5080, &[&FUNCTION_23_20, &SAT], &[RD, RA.neg(48).abs(46)]),
    family("RRO", 0x5c90, RCI, &[&FOR_39], &[RD, second(Float(Single)).neg(45).abs(49)]),
    form("FSWZADD", 0x50f8, &[&FTZ, &RND, &NDV_38], &[RD_CC, RA, RB, operand(Kind::Pairs, "35:28").of(&SIGNS)]),
    // Doubles.
    family("DADD", 0x5c70, RCI, &[&RND], &[RD_CC, RA.neg(48).abs(46), second(Float(Double)).neg(45).abs(49)]),
    family("DMUL", 0x5c80, RCI, &[&RND], &[RD_CC, RA, second(Float(Double)).neg(48)]),
    family("DFMA", 0x5b70, RCIX, &[&ROUND_51_50], &[RD_CC, RA, second(Float(Double)).neg(48), THIRD.neg(49)]).mask(0xfff0),
    family("DMNMX", 0x5c50, RCI, &[], &[RD_CC, RA.neg(48).abs(46), second(Float(Double)).neg(45).abs(49), PC]),
    family("DSET", 0x5900, RCI, &[&BF_52, &FCMP, &BOP], &[RD_CC, RA.neg(43).abs(54), second(Float(Double)).neg(53).abs(44), PC]).mask(0xff80),
    family("DSETP", 0x5b80, RCI, &[&FCMP, &BOP], &[PD, PD2, RA.neg(43).abs(7), second(Float(Double)).neg(6).abs(44), PC]).mask(0xfff0),
    // Conversions.
    family("F2F", 0x5ca8, RCI, &[&FTZ, &FTO, &FFROM, &ROUND_40_39, &ROUND_42_40_39, &SAT], &[RD_CC, second(Float(Single)).neg(45).abs(49).when(&[NOF16]).only(NO_NUMBER), second(Float(Single)).prefix(" ").neg(45).abs(49).suffix(&[&H41]).when(&[OF16]).only(NO_NUMBER), second(Float(Single)).neg(45).abs(49).when(&[OF32]).only(NUMBER), second(Float(Half)).neg(45).abs(49).suffix(&[&H41]).when(&[OF16]).only(NUMBER), second(Float(Double)).neg(45).abs(49).when(&[OF64]).only(NUMBER)]),
    family("F2I", 0x5cb0, RCI, &[&FTZ, &TO_12_9_8, &FFROM, &ROUND_40_39_B], &[RD_CC, second(Float(Single)).prefix(" ").neg(45).abs(49).suffix(&[&H41]).only(NO_NUMBER), second(Float(Single)).neg(45).abs(49).suffix(&[&H41]).when(&[OF32]).only(NUMBER), second(Float(Half)).neg(45).abs(49).suffix(&[&H41]).when(&[OF16]).only(NUMBER), second(Float(Double)).neg(45).abs(49).suffix(&[&H41]).when(&[OF64]).only(NUMBER)]),
    family("I2F", 0x5cb8, RCI, &[&I2F_TO, &IFROM, &RND], &[RD_CC, second(Signed).prefix(" ").neg(45).abs(49).suffix(&[&BYTE_42_41, &HALF_42_41])]),
    family("I2I", 0x5ce0, RCI, &[&TO_12_9_8_B, &FROM_13_11_10, &SAT], &[RD_CC, second(Signed).prefix(" ").neg(45).abs(49).suffix(&[&BYTE_42_41, &HALF_42_41])]),
    // Pairs of halves (from 5.2; 5.2 prints them but has no unit).
    form("HADD2", 0x5d10, &[&HOUT, &FTZ_39, &SAT32], &[RD, HA, HB]).on(Sms::from(52)),
    form("HADD2", 0x7a80, &[&HOUT, &FTZ_39, &SAT52], &[RD, HA, CB.neg(56).abs(54)]).mask(0xfe80).on(Sms::from(52)),
    form("HADD2", 0x7a00, &[&HOUT, &FTZ_39, &SAT52], &[RD, HA, HI1, HI0]).mask(0xfe80).on(Sms::from(52)),
    form("HADD2_32I", 0x2c00, &[&FTZ_55, &SAT52], &[RD, RA.neg(56).suffix(&[&SEL53]), HW1, HW0]).mask(0xfe00).on(Sms::from(52)),
    form("HMUL2", 0x5d08, &[&HOUT, &HFMZ, &SAT32], &[RD, RA.abs(44).suffix(&[&SEL]), HB]).on(Sms::from(52)),
    form("HMUL2", 0x7880, &[&HOUT, &HFMZ, &SAT52], &[RD, RA.abs(44).suffix(&[&SEL]), CB.neg(43).abs(54)]).mask(0xfe80).on(Sms::from(52)),
    form("HMUL2", 0x7800, &[&HOUT, &HFMZ, &SAT52], &[RD, HA, HI1, HI0]).mask(0xfe80).on(Sms::from(52)),
    form("HMUL2_32I", 0x2a00, &[&FMZ_56_55, &SAT52], &[RD, RA.suffix(&[&SEL53]), HW1, HW0]).mask(0xfe00).on(Sms::from(52)),
    form("HFMA2", 0x5d00, &[&HOUT, &FMZ_38_37, &SAT32], &[RD, HA0, RB.neg(31).suffix(&[&SEL28]), RC.neg(30).suffix(&[&SELECT_36_35])]).on(Sms::from(52)),
    form("HFMA2", 0x7080, &[&HOUT, &FMZ_58_57, &SAT52], &[RD, HA0, CB.neg(56), RC.neg(51).suffix(&[&SEL53])]).mask(0xf880).on(Sms::from(52)),
    form("HFMA2", 0x6080, &[&HOUT, &FMZ_58_57_B, &SAT52], &[RD, HA0, RC.neg(56).suffix(&[&SEL53]), CB.neg(51)]).mask(0xf880).on(Sms::from(52)),
    form("HFMA2", 0x7000, &[&HOUT, &FMZ_58_57, &SAT52], &[RD, HA0, HI1, HI0, RC.neg(51).suffix(&[&SEL53])]).mask(0xf880).on(Sms::from(52)),
    form("HFMA2_32I", 0x2800, &[&FMZ_56_55_B], &[RD, RA.suffix(&[&SEL53]), HW1, HW0, RD.neg(52)]).mask(0xfe00).on(Sms::from(52)),
    form("HSET2", 0x5d18, &[&BF_49, &COMPARE_38_35, &FTZ_50, &HBOP], &[RD, HA, HB, PC]).on(Sms::from(52)),
    form("HSET2", 0x7c80, &[&BF_53, &COMPARE_52_49, &FTZ_54, &HBOP], &[RD, HA, CB.neg(56), PC]).mask(0xfe80).on(Sms::from(52)),
    form("HSET2", 0x7c00, &[&BF_53, &COMPARE_52_49, &FTZ_54, &HBOP], &[RD, HA, HI1, HI0, PC]).mask(0xfe80).on(Sms::from(52)),
    form("HSETP2", 0x5d20, &[&COMPARE_38_35, &HAND, &FTZ_6, &BOP], &[PD, PD2, HA, HB, PC]).on(Sms::from(52)),
    form("HSETP2", 0x7e80, &[&COMPARE_52_49, &H_AND_53, &FTZ_6, &BOP], &[PD, PD2, HA, CB.neg(56).abs(54), PC]).mask(0xfe80).on(Sms::from(52)),
    form("HSETP2", 0x7e00, &[&COMPARE_52_49, &H_AND_53, &FTZ_6, &BOP], &[PD, PD2, HA, HI1, HI0, PC]).mask(0xfe80).on(Sms::from(52)),
    // Video.
    // 50: the second operand is a register.  Types are left out where both are signed words; in some instructions also for a signed word and a signed immediate.
    form("VADD", 0x2000, &[&UD, &TYPE1_48_38_36, &TYPE2_49_30_28, &TYPE2_49, &PO_57_56, &VSAT, &VOP], &[RD_CC, RA.neg_when(&is("57:56", &[2])).suffix(&[&VP1]), RB.neg_when(&is("57:56", &[1])).suffix(&[&VP2]).when(&[VREG]), operand(Kind::Magnitude, "35:20").neg_when(&is("57:56", &[1])).when(&[VIMM]), RC]).mask(0xfc00),
    form("VABSDIFF", 0x5400, &[&SD, &TYPE1_48_38_36, &TYPE2_49_30_28, &TYPE2_49, &VSAT, &VOP], &[RD_CC, VA, VBR, operand(Kind::Unsigned, "35:20").when(&[is("50:49", &[0])]), operand(Kind::Signed, "35:20").when(&[is("50:49", &[1])]), RC]).mask(0xff00),
    form("VMNMX", 0x3a00, &[&UD, &TYPE1_48_38_36, &TYPE2_49_30_28, &TYPE2_49, &MX_56, &VSAT, &VOP], &[RD_CC, VA, VBR, operand(Kind::Unsigned, "35:20").when(&[is("50:49", &[0])]), operand(Kind::Signed, "35:20").when(&[is("50:49", &[1])]), RC]).mask(0xfe00),
    form("VSET", 0x4000, &[&COMPARE_56_54, &TYPE1_48_38_36, &TYPE2_49_30_28, &TYPE2_49, &VOP], &[RD_CC, VA, VBR, operand(Kind::Unsigned, "35:20").when(&[is("50:49", &[0])]), operand(Kind::Signed, "35:20").when(&[is("50:49", &[1])]), RC]).mask(0xfe00),
    form("VSETP", 0x50f0, &[&COMPARE_47_44_43, &TYPE1_48_38_36_B, &TYPE2_49_30_28_B, &TYPE2_49_B, &BOP], &[PD, PD2, VA, VBR, operand(Kind::Unsigned, "35:20").when(&[is("50:49", &[0])]), operand(Kind::Signed, "35:20").when(&[is("50:49", &[1])]), PC]),
    form("VSHL", 0x5700, &[&UD, &TYPE1_48_38_36_B_B, &TYPE2_30_28, &TYPE2, &W_49, &VSAT, &VOP], &[RD_CC, VA, VBR, operand(Kind::Unsigned, "35:20").when(&[VIMM]), RC]).mask(0xff00),
    form("VSHR", 0x5600, &[&UD, &TYPE1_48_38_36_B_B, &TYPE2_30_28, &TYPE2, &W_49, &VSAT, &VOP], &[RD_CC, VA, VBR, operand(Kind::Unsigned, "35:20").when(&[VIMM]), RC]).mask(0xff00),
    form("VMAD", 0x5f00, &[&TYPE1_48_38_36_B_B_B, &TYPE2_49_30_28_B_B, &TYPE2_49_B_B, &TYPE1_48_38_36_B_B_B_B, &TYPE2_49_30_28_B_B_B, &TYPE2_49_B_B_B, &PO_54_53, &SHIFT_52_51, &VSAT], &[RD_CC, RA.neg_when(&is("54:53", &[2])).suffix(&[&VP1]), VBR, operand(Kind::Unsigned, "35:20").when(&[VIMM]), RC.neg_when(&is("54:53", &[1]))]).mask(0xff00),
    form("VABSDIFF4", 0x5000, &[&SD_38, &TYPES_49_48, &SAT, &REDUCE_54_53, &LANES_37_36_52_51], &[RD_CC, RA.suffix(&[&ASEL]), RB.suffix(&[&BSEL]).when(&[not("31:28", &[15])]), operand(Kind::Unsigned, "27:20").when(&[is("31:28,49", &[0x1e])]), operand(Kind::Signed, "27:20").when(&[is("31:28,49", &[0x1f])]), RC]).mask(0xff80),
    // Control flow.
    form("EXIT", 0xe300, &[&KEEPREFCOUNT_5], &[CCT]).mask(0xfff0),
    form("LONGJMP", 0xe310, &[], &[CCT]).mask(0xfff0),
    form("RET", 0xe320, &[], &[CCT]).mask(0xfff0),
    form("KIL", 0xe330, &[], &[CCT]).mask(0xfff0),
    form("BRK", 0xe340, &[], &[CCT]).mask(0xfff0),
    form("CONT", 0xe350, &[], &[CCT]).mask(0xfff0),
    form("SYNC", 0xf0f8, &[], &[CCT]),
    form("JMX", 0xe200, &[&LMT], &[CCT, operand(Kind::Jump, "51:20").base("15:8")]).mask(0xfff0).when(&[NEARF]),
    form("JMX", 0xe200, &[&LMT], &[CCT, operand(Kind::IndexedConstant, "35:20").base("40:36,15:8").prefix("RZ")]).mask(0xfff0).when(&[BANKF]),
    form("JMP", 0xe210, &[&UNI, &LMT], &[CCT, U32I]).mask(0xfff0).when(&[NEARF]),
    form("JMP", 0xe210, &[&UNI, &LMT], &[CCT, BANK]).mask(0xfff0).when(&[BANKF]),
    form("JCAL", 0xe220, &[&NOINC], &[U32I]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("JCAL", 0xe220, &[&NOINC], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("PEXIT", 0xe230, &[], &[NEAR]).mask(0xfff0).unguarded(),
    form("BRA", 0xe240, &[&UNI, &LMT], &[CCT, NEAR]).mask(0xfff0).when(&[NEARF]),
    form("BRA", 0xe240, &[&UNI, &LMT], &[CCT, BANK]).mask(0xfff0).when(&[BANKF]),
    form("BRX", 0xe250, &[&LMT], &[CCT, operand(Kind::Jump, "43:20").base("15:8")]).mask(0xfff0).when(&[NEARF]),
    form("BRX", 0xe250, &[&LMT], &[CCT, operand(Kind::IndexedConstant, "35:20").base("40:36,15:8").prefix("RZ")]).mask(0xfff0).when(&[BANKF]),
    form("CAL", 0xe260, &[&NOINC], &[NEAR]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("CAL", 0xe260, &[&NOINC], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("PRET", 0xe270, &[&NOINC], &[NEAR]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("PRET", 0xe270, &[&NOINC], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("PLONGJMP", 0xe280, &[], &[NEAR]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("PLONGJMP", 0xe280, &[], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("SSY", 0xe290, &[], &[NEAR]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("SSY", 0xe290, &[], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("PBK", 0xe2a0, &[], &[NEAR]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("PBK", 0xe2a0, &[], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("PCNT", 0xe2b0, &[], &[NEAR]).mask(0xfff0).when(&[NEARF]).unguarded(),
    form("PCNT", 0xe2b0, &[], &[BANK]).mask(0xfff0).when(&[BANKF]).unguarded(),
    form("RTT", 0xe360, &[&MODE_1_0], &[]).mask(0xfff0).unguarded(),
    form("SAM", 0xe370, &[], &[]).mask(0xfff0).unguarded(),
    form("RAM", 0xe380, &[], &[]).mask(0xfff0).unguarded(),
    // 0xc10 is the value that is not printed.
    form("IDE", 0xe390, &[&EN_5], &[operand(Kind::Unsigned, "35:20").optional(0xc10)]).mask(0xfff0).unguarded(),
    form("BPT", 0xe3a0, &[&MODE_8_6], &[operand(Kind::Unsigned, "39:20").optional(0)]).mask(0xfff0).unguarded(),
    form("NOP", 0x50b0, &[&TRIG_13], &[named(&CC_TEST_12_8), operand(Kind::Unsigned, "35:20").optional(0)]),
];
