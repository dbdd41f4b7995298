use warpload_encoding::control::Notation;
use warpload_encoding::{MachineWord, Sm};

use crate::sass::{Format, SassError, SassInstruction, read};

fn all(listing: &str) -> Result<Vec<SassInstruction>, SassError> {
    read(listing.as_bytes(), Format::Detect)?.collect()
}

fn good(listing: &str) -> Vec<SassInstruction> {
    all(listing).unwrap_or_else(|error| panic!("{error}\n{listing}"))
}

fn bad(listing: &str) -> String {
    all(listing).expect_err(listing).to_string()
}

/// Offset, word, text and maxas's notation of each instruction.
fn rows(listing: &str) -> Vec<(u64, u64, String, String)> {
    let row = |read: SassInstruction| {
        let control = read.control.map(|control| control.display(Notation::Maxas).to_string());
        (
            read.offset.unwrap_or_default(),
            read.word.and_then(MachineWord::narrow).unwrap_or_default(),
            read.text.unwrap_or_default(),
            control.unwrap_or_default(),
        )
    };
    good(listing).into_iter().map(row).collect()
}

#[test]
fn a_pair_across_two_bundles() {
    let listing = "
                                                     /* 0x001fc400fe2007f6 */
        /*0008*/           NOP;                      /* 0x50b0000000070f00 */
        /*0010*/           NOP;                      /* 0x50b0000000070f00 */
        /*0018*/    {      IADD R0, R1, R2 ;         /* 0x0000000000000001 */
                                                     /* 0x0002c440fe0000b1 */
        /*0028*/           LD.E.U8 R29, [R6], P1   }
                                                     /* 0x841000000007061d */
        /*0030*/           NOP;                      /* 0x50b0000000070f00 */
        ";
    let rows = rows(listing);
    let row = |n: usize| (rows[n].0, rows[n].1, &*rows[n].2, &*rows[n].3);
    assert_eq!(rows.len(), 5);
    assert_eq!(row(0), (0x08, 0x50b0000000070f00, "NOP", "--:-:-:-:6"));
    assert_eq!(row(2), (0x18, 1, "IADD R0, R1, R2", "--:-:-:-:1"));
    assert_eq!(row(3), (0x28, 0x841000000007061d, "LD.E.U8 R29, [R6], P1", "--:1:6:-:1"));
    assert_eq!(row(4), (0x30, 0x50b0000000070f00, "NOP", "--:-:-:-:0"));
}

/// Labels, directives and a control word may come between the second instruction and its word.
#[test]
fn a_pair_before_a_branch_target() {
    let word = "0xe32000000007000f";
    let control = "/* 0x0002c440fe0000b1 */";
    let labels = ".L_x_10:\n\n        .weak  f\n        .type  f,@function\nf:\n";
    for (offsets, between, after) in [
        // The word, then the control word of the next bundle.
        (["0010", "0018"], String::new(), control),
        (["0010", "0018"], labels.to_owned(), control),
        (["0010", "0018"], format!("// {labels}"), control),
        // The other way round, which bit 63 shows.
        (["0010", "0018"], format!("{labels}{control}\n"), ""),
        // The control word of the bundle that the second instruction begins.
        (["0018", "0028"], format!("{labels}{control}\n"), ""),
    ] {
        let [first, second] = offsets;
        // The slot of the third instruction in the second control word.
        let (third, schedule) =
            if second == "0018" { ("0028", "--:1:6:-:1") } else { ("0030", "--:-:-:-:0") };
        let listing = format!(
            "/* 0x001fc400fe2007f6 */
             /*{first}*/    {{    MOV R17, RZ ;    /* 0x5c9807800ff70011 */
             /*{second}*/         RET    }}
             {between}/* {word} */
             {after}
             /*{third}*/          NOP;    /* 0x50b0000000070f00 */"
        );
        let rows = rows(&listing);
        assert_eq!(rows.len(), 3, "{listing}");
        assert_eq!((rows[1].1, &*rows[1].2), (0xe320_0000_0007_000f, "RET"), "{listing}");
        assert_eq!(rows[2].3, schedule, "{listing}");
    }
}

/// The offset decides whether a control word can be beside the word. If it can, bit 63 and barrier 6 decide which of
/// the two it is.
#[test]
fn a_word_below_2_63_beside_a_control_word() {
    let control = "/* 0x001fc400fe2007f6 */";
    let pair = |offset: &str, between: &str| {
        format!(
            "/* 0x001fc400fe2007f6 */
             /*0008*/    {{    MOV R17, RZ ;    /* 0x5c9807800ff70011 */
             /*{offset}*/      SECOND    }}
.L_1:
{between}
"
        )
    };
    for (word, value) in [
        ("/* 0x1c0ffffff8070101 */", 0x1c0f_ffff_f807_0101),
        ("/* 0xe32000000007000f */", 0xe320_0000_0007_000f),
    ] {
        for between in [format!("{word}\n{control}"), format!("{control}\n{word}")] {
            let listing = pair("0018", &between);
            let rows = rows(&format!("{listing}/*0028*/ NOP; /* 0x50b0000000070f00 */\n"));
            assert_eq!(rows[1].1, value, "{listing}");
            assert_eq!(rows[1].3, "--:-:-:-:1", "{listing}");
            assert_eq!(rows[2].3, "--:-:-:-:6", "{listing}");
            // Within a bundle there is no control word.
            let error = bad(&pair("0010", &between));
            assert!(error.starts_with("line 6, column 1 (byte offset"), "{error}");
            assert!(error.contains("unexpected word"), "{error}");
        }
        // A bundle's control word is in front of the first one already.
        for between in [format!("{word}\n{control}"), format!("{control}\n{word}")] {
            let listing = format!(
                "/* 0x001fc400fe2007f6 */\n/*0008*/  NOP  }}\n.L_1:\n   {}\n",
                between.replace('\n', "\n   ")
            );
            let error = bad(&listing);
            assert!(error.starts_with("line 5, column 4 (byte offset"), "{error}");
        }
    }
    // Either may be the control word: nvdisasm writes it after the word.
    let mov = "/* 0x4c98078000870001 */";
    let rows = rows(&pair("0018", &format!("{mov}\n{control}")));
    assert_eq!(rows[1].1, 0x4c98_0780_0087_0001);
    // Neither can be a control word.
    let error = bad(&pair("0018", "/* 0xe32000000007000f */\n/* 0xe32000000007000f */"));
    assert!(error.contains("unexpected word"), "{error}");
}

/// nvdisasm marks the halves of a pair if their order matters.
#[test]
fn slots_are_not_operands() {
    let listing = "
        /*0008*/    {    IADD R0, R13, R2   SLOT 0;    /* 0x0000000000000001 */
        /*0010*/         LDC.U8 R13, c[0x0][0x148]   SLOT 1        }
.L_x_0:
                                                       /* 0xef9000001487ff0d */
        /*0018*/         MOV R0, SLOT1 ;               /* 0x0000000000000002 */
        ";
    let texts: Vec<_> = rows(listing).into_iter().map(|row| row.2).collect();
    assert_eq!(texts, ["IADD R0, R13, R2", "LDC.U8 R13, c[0x0][0x148]", "MOV R0, SLOT1"]);
}

/// Annotations of nvdisasm between `(*"` and `"*)` are not part of the text, whatever they contain.
#[test]
fn annotations_are_not_operands() {
    let listing = "
        /*0008*/    {    LDL R0, [R1]   (*\"SpillRefill\"*) ;    /* 0x0000000000000001 */
        /*0010*/         BRX R2 -0x8   (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)   SLOT 1    }
                                                       /* 0xef9000001487ff0d */
        /*0018*/         NOP (*\"a; /* b */ // c\"*) (*\"d\"*);  /* 0x0000000000000002 */
        /*0028*/         NOP   SLOT 0 (*\"e\"*);       /* 0x0000000000000003 */
        /*0030*/         BRA `(a/b(*c);                /* 0x0000000000000004 */
        ";
    let texts: Vec<_> = rows(listing).into_iter().map(|row| row.2).collect();
    assert_eq!(texts, ["LDL R0, [R1]", "BRX R2 -0x8", "NOP", "NOP", "BRA `(a/b(*c)"]);
    // An unterminated one is part of the text.
    let texts: Vec<_> = rows("/*0008*/ NOP (*\"x*);\n").into_iter().map(|row| row.2).collect();
    assert_eq!(texts, ["NOP (*\"x*)"]);
}

/// nvdisasm 12.8 with `-plr` or `-lrm` leaves out the first lines of some blocks.
#[test]
fn words_of_128_bits_without_text() {
    let word =
        |low: u32, high: u32| format!("   /* 0x{low:016x} */  // | 5 |\n   /* 0x{high:016x} */\n");
    let listing = |between: &str| {
        format!(
            "\t.target sm_80\n.text.f:\n{}/*0010*/ NOP ; /* 0x0000000000000003 */\n\
             /* 0x0000000000000004 */\n.L_x_3:\n{between}/*0040*/ NOP ; /* 0x0000000000000009 */\n\
             /* 0x000000000000000a */\n",
            word(1, 2)
        )
    };
    let read = good(&listing(&(word(5, 6) + &word(7, 8))));
    let rows: Vec<_> = read
        .iter()
        .map(|read| (read.offset.unwrap_or(1), read.word, read.text.as_deref()))
        .collect();
    let wide = |low: u128| Some(MachineWord::Bits128((low + 1) << 64 | low));
    let expected = [
        (0, wide(1), None),
        (0x10, wide(3), Some("NOP")),
        (0x20, wide(5), None),
        (0x30, wide(7), None),
        (0x40, wide(9), Some("NOP")),
    ];
    assert_eq!(rows, expected);
    for read in &read {
        assert_eq!((read.function.as_deref(), read.sm), (Some("f"), Sm::new(80)));
        assert!(read.line.is_some() && read.control.is_some());
    }
    // Half a word alone is an error.
    for half in ["/* 0x0000000000000005 */\n".to_owned(), word(5, 6) + "/* 0x0000000000000007 */\n"]
    {
        let error = bad(&listing(&half));
        assert!(error.contains("unexpected word; expected it after the first half"), "{error}");
    }
}

#[test]
fn a_listing_without_code() {
    for header in
        ["\tcode for sm_50\n\t.elftype\t@\"ET_REL\"\n", "\t.headerflags @\"EF_CUDA_SM61\"\n"]
    {
        assert_eq!(good(header), []);
    }
}

#[test]
fn a_control_word_is_for_its_bundle_only() {
    let listing = "
                                              /* 0x001fc400fe2007f6 */
        /*0010*/    NOP;                      /* 0x50b0000000070f00 */
        /*0028*/    NOP;                      /* 0x50b0000000070f00 */
                                              /* 0x001fc400fe2007f6 */
        .text.next:
        /*0008*/    NOP;                      /* 0x50b0000000070f00 */
        ";
    let controls: Vec<_> = rows(listing).into_iter().map(|row| row.3).collect();
    assert_eq!(controls, ["--:-:-:-:1", "", ""]);
}

#[test]
fn nvdisasm_directives_and_data() {
    let listing =
        "\t.headerflags\t@\"EF_CUDA_64BIT_ADDRESS EF_CUDA_SM61 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM50)\"
//--------------------- .nv.info                --------------------------
\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"
        /*0000*/ \t.byte\t0x04, 0x2f
        /*0004*/ \t.word\tindex@(chase)
\t.section\t.text._Z5chasePi,\"ax\",@progbits
\t.sectioninfo\t@\"SHI_REGISTERS=14\"
_Z5chasePi:
.text._Z5chasePi:
\t//## File \"/home/user/chase.cu\", line 12
        /*0008*/                   MOV R1, c[0x0][0x20] ;   // | 2 |
.L_x_0:
        /*0010*/         {         MOV R2, c[0x0][0x20] ;
        /*0018*/                   BRA `(.L_x_0)         }
\t.section\t.nv.constant0._Z5chasePi,\"a\",@progbits
\t.section\t.text,\"ax\",@progbits
        /*0008*/                   NOP;
";
    let read = good(listing);
    let texts: Vec<_> = read.iter().filter_map(|read| read.text.as_deref()).collect();
    let expected = ["MOV R1, c[0x0][0x20]", "MOV R2, c[0x0][0x20]", "BRA `(.L_x_0)", "NOP"];
    assert_eq!(texts, expected);
    assert_eq!(read[2].function.as_deref(), Some("_Z5chasePi"));
    assert_eq!(read[2].registers, Some(14));
    assert_eq!(read[2].line, Some(14));
    assert_eq!(read[3].function, None);
    assert_eq!(read[3].registers, None);
    assert!(read.iter().all(|read| read.sm == Sm::new(61) && read.word.is_none()));
}

#[test]
fn maxas_source() {
    let listing = "# Kernel: chase
# Arch: sm_50
# RegCnt: 14
# Instructions:

<REGISTER_MAPPING>
    00-63 : x<00-63>
    --:-:-:-:1      NOP;
</REGISTER_MAPPING>
<SCHEDULE_BLOCK>
--:-:-:-:6      MOV R1, c[0x0][0x20];
01:-:1:Y:d  @P0 LD.E R0, [R2], P1; # comment
TARGET1:
</SCHEDULE_BLOCK>
";
    let rows = rows(listing);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].2, "@P0 LD.E R0, [R2], P1");
    assert_eq!(rows[1].3, "01:-:1:Y:d");
    let read = good(listing);
    assert_eq!(read[0].function.as_deref(), Some("chase"));
    assert_eq!((read[0].registers, read[0].sm), (Some(14), Sm::new(50)));
    assert_eq!((read[0].offset, read[0].word), (None, None));
}

#[test]
fn maxas_opcodes() {
    let listing = "Grad OpCode             R opCodeDiff         r Pred Instruction    Captures\r
PASS 0x8480000000072c2c 0 0x0000000000000000 0      LD R44, [R44], P1;   p58, type:\r
FAIL 0x848000000000393d 1 0x0000000000000001 0  @P0 LD R61, [R57], P1;   p58, type:\r
\r
Totals: Pass: 1 Fail: 1\r
";
    let rows = rows(listing);
    assert_eq!(rows[0], (0, 0x8480000000072c2c, "LD R44, [R44], P1".into(), String::new()));
    assert_eq!(rows[1].2, "@P0 LD R61, [R57], P1");
    assert_eq!(rows.len(), 2);
    let error = bad(&listing.replace("0x8480000000072c2c", "0x848000000072c2c"));
    assert!(error.starts_with("line 2, column 6 (byte offset 82): expected a word"), "{error}");
}

#[test]
fn cuassembler_source() {
    let listing = "\t.section\t.text.chase,\"ax\",@progbits
    [B------:R-:W-:-:S01]         /*0008*/                   MOV R1, c[0x0][0x20] ;
    [B0-----:R-:W0:Y:S13]         /*0010*/              @P0  LD.E R0, [R2], P1 ; // comment
    [B------:R-:W-:-:S00]         NOP ;
";
    let rows = rows(listing);
    assert_eq!(rows[0], (8, 0, "MOV R1, c[0x0][0x20]".into(), "--:-:-:-:1".into()));
    assert_eq!(rows[1], (16, 0, "@P0  LD.E R0, [R2], P1".into(), "01:-:1:Y:d".into()));
    assert_eq!((rows[2].0, &*rows[2].2), (0, "NOP"));
}

#[test]
fn ptx_beside_sass() {
    let sass = "code for sm_50\n/*0008*/ NOP; /* 0x50b0000000070f00 */\n";
    let ptx = ".version 8.8\n.target sm_80\n.address_size 64\n";
    assert_eq!(good(&format!("{sass}{ptx}{sass}")).len(), 2);
    let error = bad(&format!("//\n{ptx}"));
    assert!(error.starts_with("PTX; `warpload ptx check`"), "{error}");
}

#[test]
fn a_byte_order_mark_is_no_text() {
    assert_eq!(good("\u{feff}/*0008*/ NOP;").len(), 1);
    assert_eq!(good("\u{feff}--:-:-:-:1 NOP;").len(), 1);
}

#[test]
fn malformed_lines() {
    let first = "/*0008*/ NOP; /* 0x50b0000000070f00 */\n";
    for (line, column, expected) in [
        ("/*0010*/ NOP; /* 0x50b000000007f00 */", 18, "expected a word"),
        ("/*0010*/ NOP; /* 0x+0b0000000070f00 */", 18, "expected a word"),
        ("/*0010*/ NOP; /* 0x50b0000000070f", 15, "unterminated comment"),
        ("/*0010*/ NOP; /* 0x50b0000000070f00 */ x", 40, "expected the word"),
        ("/*0010*/ NOP;", 14, "expected the word of the instruction"),
        ("/*0010*/ NOP }", 15, "expected the word of the instruction"),
        ("/*0010*/ NO", 12, "expected `;`"),
        ("/*0010*/ NOP /* 0x50b0000000070f00 */", 13, "expected `;`"),
        ("/*0010*/", 9, "expected an instruction"),
        ("/*0010*/ ;", 10, "expected an instruction"),
        ("/*0010*/ { }", 12, "expected an instruction"),
        ("/*001", 1, "unterminated comment"),
        ("/*", 1, "unterminated comment"),
        ("/*001x*/ NOP;", 3, "expected an offset"),
        ("/*00000000000000010*/ NOP;", 3, "expected an offset"),
        (
            "/*0020*/ NOP;",
            3,
            "invalid instruction offset 0x20; expected 8, 16 or 24 bytes after the start of a \
          32-byte bundle, which holds the control word",
        ),
        ("/*0014*/ NOP;", 3, "invalid instruction offset 0x14"),
        ("/* 0x001fc400fe2007 */", 4, "expected a word"),
        ("/* 0x001fc400fe2007f6 */ NOP", 26, "expected the word"),
        ("--:-:-:1 NOP;", 1, "invalid control notation; maxas writes"),
        ("+1:-:-:-:1 NOP;", 0, ""),
        ("[B------:R-:W-:-:S1] NOP;", 1, "invalid control notation"),
        ("[B------:R-:W", 1, "invalid control notation"),
        ("--:-:-:-:1 NOP", 15, "expected `;`"),
        ("PASS 0x50b0000000070f00 0 0x0 0 NOP", 36, "expected `;`"),
        ("PASS 0x50b0000000070f00", 24, "expected `;`"),
        ("<CODE1>", 1, "unterminated block <CODE1>; expected </CODE1>"),
    ] {
        if expected.is_empty() {
            assert_eq!(good(&format!("{first}{line}")).len(), 1, "{line}");
            continue;
        }
        let error = bad(&format!("{first}{line}\n"));
        let offset = first.len() + column - 1;
        let place = format!("line 2, column {column} (byte offset {offset}): {expected}");
        assert!(error.starts_with(&place), "{line}\n{error}\n{place}");
    }
}

#[test]
fn other_text_is_passed_over() {
    for line in [
        "/* a comment",
        "/* a comment */ text ;",
        "/*decode*/",
        "[Build] NOP;",
        "PASS all",
        "Function :",
        "warning: line 3: --",
        "<INCLUDE file=\"x\"/>",
        "<CODE> x </CODE>",
        "\u{e4}\u{feff}/*",
        "..........",
    ] {
        let error = bad(line);
        assert!(error.starts_with("no SASS listing line in 1 lines"), "{line}: {error}");
    }
}

/// In a listing without an SM, the first offset that only one kind of code can have decides which later ones are
/// errors.
#[test]
fn offsets_of_the_other_kind_of_code() {
    let bundles = "expected 8, 16 or 24 bytes after the start of a 32-byte bundle";
    let wide = "expected a multiple of 16";
    for (before, offset, expected) in [
        ("", "0004", bundles),
        ("/*0008*/ NOP ;\n", "0020", bundles),
        ("/*0010*/ NOP ;\n/*0018*/ NOP ;\n", "0020", bundles),
        ("code for sm_50\n", "0020", bundles),
        ("/*0000*/ NOP ;\n", "0018", wide),
        ("/*0010*/ NOP ;\n/*0020*/ NOP ;\n", "0028", wide),
        ("code for sm_80\n", "0018", wide),
    ] {
        let error = bad(&format!("{before}/*{offset}*/ NOP ;\n"));
        assert!(error.contains("invalid instruction offset 0x"), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn unknown_architectures() {
    let error = bad("code for sm_37\n/*0008*/ NOP ; /* 0x50b0000000070f00 */\n");
    assert!(error.starts_with("line 1: code for SM 3.7, which is not supported; "), "{error}");
    assert!(error.contains("expected one of SM 5.0, 5.2, 5.3, 6.0, ") && error.ends_with(", 12.1"));
    assert!(bad("\t.headerflags @\"EF_CUDA_SM71 x\"").starts_with("line 1: code for SM 7.1"));
    assert!(bad("\t.target\tsm_130a").starts_with("line 1: code for SM 13.0"));
}
