//! Vectors about registers: alignment, the register limit; and about bits that no field covers.

use warpload::lane::LANES;

use super::draft::{Draft, GLOBAL, Opcode, memory};

/// The instructions, the register limit that they execute with, and what they test.
const CASES: &[(Opcode, &str, u64, &str)] = &[
    (Opcode::Ldg, "LDG.64 R5, [R2]", 255, "Rd must be even"),
    (Opcode::Ldg, "LDG.128 R6, [R2]", 255, "Rd must be a multiple of four"),
    (Opcode::Ldg, "LDG.U.128 R5, [R2]", 255, "Rd must be a multiple of four"),
    (Opcode::Ldg, "LDG.128 R252, [R2]", 255, "there is no R255"),
    (Opcode::Ldg, "LDG.64 R6, [R2]", 8, "the last two registers"),
    (Opcode::Ldg, "LDG.64 R6, [R2]", 7, "R7 is beyond the limit"),
    (Opcode::Ldg, "LDG R8, [R2]", 8, "R8 is beyond the limit"),
    (Opcode::Ldg, "LDG.E R4, [R3]", 255, "the pair must be even"),
    (Opcode::Ldg, "LDG R4, [R3]", 255, "without .E the base may be odd"),
    (Opcode::Ldg, "LDG.E R4, [R6]", 7, "the pair's R7 is beyond the limit"),
    (Opcode::Ldg, "LDG.E R4, [R254]", 255, "R254 has no register behind it"),
    (Opcode::Ldg, "LDG.E R4, [R9+0x1000]", 8, "R9 is no base, the offset is the address"),
    (Opcode::Ldg, "LDG R4, [R8-0x10]", 8, "R8 is no base, the offset unsigned"),
    (Opcode::Ldg, "LDG.E.64 R9, [R3]", 8, "Rd's alignment is checked first"),
    (Opcode::Ldg, "LDG.E R8, [R3]", 8, "Rd's range is checked before Ra"),
    (Opcode::Ldg, "LDG.E R4, [R7]", 8, "Ra's alignment is checked before its range"),
    (Opcode::Ldl, "LDL.64 R5, [R2]", 255, "Rd must be even"),
    (Opcode::Ldl, "LDL.128 R6, [R2]", 255, "Rd must be a multiple of four"),
    (Opcode::Ldl, "LDL.64 R6, [R2]", 7, "R7 is beyond the limit"),
    (Opcode::Ldl, "LDL.64 R6, [R7]", 8, "the base may be odd and the last register"),
    (Opcode::Ldl, "LDL R4, [R8-0x4]", 8, "R8 is no base, the offset unsigned"),
    (Opcode::Lds, "LDS.64 R5, [R2]", 255, "Rd must be even"),
    (Opcode::Lds, "LDS.U.128 R6, [R2]", 255, "Rd must be a multiple of four"),
    (Opcode::Lds, "LDS.128 R8, [R2]", 11, "R11 is beyond the limit"),
    (Opcode::Lds, "LDS.64 R6, [R7]", 8, "the base may be odd and the last register"),
    (Opcode::Lds, "LDS R4, [R8+0x8]", 8, "R8 is no base, the offset is the address"),
    (Opcode::Ldc, "LDC.64 R5, c[0x3][R2]", 255, "Rd must be even"),
    (Opcode::Ldc, "LDC.64 R6, c[0x3][R2]", 7, "R7 is beyond the limit"),
    (Opcode::Ldc, "LDC.64 R254, c[0x3][R2]", 255, "there is no R255"),
    (Opcode::Ldc, "LDC.64 R6, c[0x3][R7]", 8, "the base may be odd and the last register"),
    (Opcode::Ldc, "LDC R4, c[0x3][R8+0x8]", 8, "R8 is no base, the offset is the address"),
    (Opcode::Ldc, "LDC R4, c[0x3][R8-0x8]", 8, "R8 is no base, the offset wraps"),
];

/// The bits of the words that no field covers.
const UNREAD: &[(Opcode, &str, u64)] = &[
    (Opcode::Ldg, "LDG.64 R4, [R2]", 0x1000_0000_0000),
    (Opcode::Ldl, "LDL.64 R4, [R2]", 0xc000_0000_0000),
    (Opcode::Lds, "LDS.64 R4, [R2]", 0xe000_0000_0000),
    (Opcode::Ldc, "LDC.64 R4, c[0x3][R2]", 0xce00_0000_0000),
];

pub(super) fn drafts() -> Vec<Draft> {
    let draft = |opcode, text: &str, topic| {
        let first = if opcode == Opcode::Ldg { GLOBAL } else { 0 };
        let base = std::array::from_fn::<u64, LANES, _>(|lane| first + 8 * (lane as u64 % 3));
        Draft { base, ..Draft::new(topic, text.to_owned(), memory(opcode, 20)) }
    };
    let mut drafts = Vec::new();
    for &(opcode, text, register_limit, topic) in CASES {
        drafts.push(Draft { register_limit, ..draft(opcode, text, topic) });
    }
    for &(opcode, text, unread_bits) in UNREAD {
        let topic = "bits that no field covers are set";
        drafts.push(Draft { unread_bits, ..draft(opcode, text, topic) });
    }
    drafts
}
