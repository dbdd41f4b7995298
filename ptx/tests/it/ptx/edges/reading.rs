//! Edges of reading: words, names, declarations.

use super::*;

#[test]
fn prototypes_end_at_the_next_directive() {
    let load = ".global .u32 g; .entry k { .reg .u32 %r1; ld.global.u32 %r1, [g]; exit; }";
    for (version, target, prototype) in [
        ("1.4", "sm_13", ".func (.reg .f32 r) sinf (.reg .f32 x)"),
        ("3.2", "sm_30", ".extern .func (.param .f32 r) sinf (.param .f32 x)"),
        ("9.5", "sm_100", ".visible .func (.param .f32 r) sinf (.param .f32 x)"),
        ("9.5", "sm_100", ".extern .func a .noreturn"),
    ] {
        for next in ["", ";", "\n.file 1 \"a.c\"", "\n.extern .global .u32 e;", "\n.weak .func b;"]
        {
            // `.weak` needs 3.1.
            if next.contains(".weak") && version == "1.4" {
                continue;
            }
            let module = format!(".version {version}\n.target {target}\n{prototype}{next}\n{load}");
            let read = read(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
            assert_eq!(read.loads().count(), 1, "{module}");
            assert!(read.function("k").is_some_and(|kernel| kernel.body.is_some()), "{module}");
            assert!(read.functions().iter().rev().skip(1).all(|other| other.body.is_none()));
            // Functions that are not `.extern` lack a definition here.
            let open = module.matches(".func").count() - module.matches(".extern .func").count();
            assert_eq!(broken(&module), vec![Rule::UnresolvedFunction; open], "{module}");
        }
    }
    let last = ".version 3.2\n.target sm_30\n.extern .func (.param .f32 r) sinf (.param .f32 x)";
    assert_eq!(read(last).map(|module| module.functions().len()), Ok(1));
}

#[test]
fn names_stand_for_what_is_declared_before() {
    let refused = [
        ("ld.global.u32 %uz, [%rd1]; .reg .u32 %uz;", Rule::DestinationRegister),
        ("ld.global.v2.u32 {%r1, %uz}, [%rd1]; .reg .u32 %uz;", Rule::DestinationRegister),
        ("ld.global.u32 %r1, [%uz]; .reg .u64 %uz;", Rule::AddressBase),
        ("ld.shared.u32 %r1, [sz]; .shared .u32 sz;", Rule::AddressBase),
        ("@pz ld.global.u32 %r1, [%rd1]; .reg .pred pz;", Rule::Guard),
        ("ld.global.L2::cache_hint.u32 %r1, [%rd1], pz; .reg .b64 pz;", Rule::PolicyOperand),
    ];
    for (body, rule) in refused {
        refuses(body, rule);
        let (load, declaration) = body.split_once("; ").unwrap();
        accepts(&format!("{declaration} {load};"));
    }
    accepts("{ ld.global.u32 %r1, [%rd1]; .reg .f32 %rd1; }");
    refuses("{ .reg .f32 %rd1; ld.global.u32 %r1, [%rd1]; }", Rule::AddressBase);
    let late = kernel("", "ld.global.u32 %r1, [late];") + ".global .u32 late;";
    assert_eq!(broken(&late), [Rule::AddressBase]);
    let early = kernel(".global .u32 late;", "ld.global.u32 %r1, [late];");
    assert_eq!(broken(&early), []);
}

#[test]
fn kernels_have_parameters_in_bodies_before_1_4_and_in_lists_from_there_on() {
    let body = ".param .u32 q; ld.param.u32 %r1, [q]; @%p1 ld.param.u32 %r1, [q];";
    for version in ["1.0", "1.1", "1.2", "1.3"] {
        assert_eq!(broken(&old(version, "sm_10", "", body)), [], "{version}");
    }
    for version in ["1.4", "1.5"] {
        let found = broken(&old(version, "sm_10", "", body));
        assert!(found.contains(&Rule::NeedsVersion), "{version}: {found:?}");
    }
    let list = |version| {
        broken(&format!(
            ".version {version}\n.target sm_10\n.entry k (.param .u32 q)
            {{ .reg .u32 %r1; ld.param.u32 %r1, [q]; exit; }}"
        ))
    };
    assert_eq!(list("1.3"), [Rule::NeedsVersion]);
    assert_eq!(list("1.4"), []);
    // From 2.0 on these are variables that calls return in.
    let found = broken(&old("2.0", "sm_20", "", body));
    assert!(found.contains(&Rule::ParamGuard), "{found:?}");
}

#[test]
fn addresses_are_in_brackets_from_1_2_on() {
    let body = "ld.global.u32 %r1, %rd1; ld.global.u32 %r1, g+4; ld.local.u32 %r1, 4;";
    let around = ".global .u32 g;";
    assert_eq!(broken(&old("1.1", "sm_10", around, body)), []);
    assert_eq!(broken(&old("1.2", "sm_10", around, body)), [Rule::Operands; 3]);
}

#[test]
fn the_vertical_tab_is_not_a_blank() {
    // A form feed is a blank: ptxas skips it between any two words.
    for blank in [" ", "\t", "\x0c", "\r", "\n"] {
        accepts(&format!("ld.global.u32{blank}%r1,{blank}[{blank}%rd1{blank}];"));
    }
    refuses("ld.global.u32\x0b%r1, [%rd1];", Rule::Syntax);
    refuses("ld.global.u32 %r1, [%rd1\x0b];", Rule::Syntax);
    // The rest of the module is still read: a declaration and three statements.
    let module = read(
        ".version 9.5\n.target sm_100\n.entry k() { .reg .b64 %rd<3>;
        ld.global.b64 %rd1, [%rd1 ' ]; \x0bld.global.b64 %rd1, [%rd2]; ld.b64 %rd1, [%rd2]; }",
    );
    assert_eq!(module.map(|module| module.statements().len()), Ok(4));
}

#[test]
fn a_statement_begins_with_an_instruction_or_a_known_directive() {
    for legal in [
        ".pragma \"nounroll\";",
        ".loc 1 1 1",
        "L: .branchtargets L;",
        "P: .callprototype _ ();",
        ".target sm_110a",
    ] {
        accepts(&format!("{legal}\nld.global.u32 %r1, [%rd1];"));
        let source = kernel("", &format!("{legal}\nld.global.u32 %r1, [%rd1];"));
        assert_eq!(read(&source).map(|module| module.loads().count()), Ok(1), "{legal}");
    }
    refuses(".global.u32 %r1, [%rd1];", Rule::Syntax);
    refuses(".u32 %r1, [%rd1];", Rule::Syntax);
    refuses(".param\nret;", Rule::Syntax);
    // The statements after it are judged.
    refuses(".reg .u32 %z<; ld.global.u32 %r1, [%r1];", Rule::AddressWidth);
}

#[test]
fn address_size_needs_2_3() {
    let with = |version| broken(&old(version, "sm_20", ".address_size 64", ""));
    assert_eq!(with("2.2"), [Rule::NeedsVersion]);
    assert_eq!(with("2.3"), []);
}

#[test]
fn extern_variables_of_a_known_size_are_legal() {
    for space in ["global", "const"] {
        let load = format!("ld.{space}.u32 %r1, [m];");
        for legal in [
            format!(".extern .{space} .u32 m;"),
            format!(".extern .{space} .u32 m[4];"),
            format!(".extern .{space} .u32 m; .visible .{space} .u32 m;"),
            format!(".extern .{space} .u32 m[]; .visible .{space} .u32 m[4];"),
        ] {
            assert_eq!(broken(&kernel(&legal, &load)), [], "{legal}");
            assert_eq!(broken(&kernel(&legal, "")), [], "{legal}");
        }
        for open in [format!(".extern .{space} .u32 m[];"), format!(".extern .{space} .u32 m[0];")]
        {
            assert_eq!(broken(&kernel(&open, "")), [Rule::CompileOnly], "{open}");
            assert_eq!(broken(&kernel(&open, &load)), [Rule::CompileOnly; 2], "{open}");
            assert_eq!(broken_as(&kernel(&open, &load), Unit::Part), [], "{open}");
        }
        let internal = format!(".extern .{space} .u32 m; .{space} .u32 m;");
        assert_eq!(broken(&kernel(&internal, &load)), [Rule::Declaration], "{internal}");
    }
    let shared = ".extern .shared .u32 m[];";
    assert_eq!(broken(&kernel(shared, "ld.shared.u32 %r1, [m];")), []);
}

#[test]
fn line_directives_are_read_over() {
    for directive in ["# 1 \"x.cu\"", "#line 7 \"x.cu\"", "  # 1 \"x.cu\" 2 3 "] {
        accepts(&format!("\n{directive}\nld.global.u32 %r1,\n{directive}\n[%rd1];\n{directive}\n"));
        assert_eq!(broken(&format!("{directive}\n{}\n{directive}\n", kernel("", ""))), []);
    }
    for other in ["#line 7", "# 1", "#pragma once", "# 1 \"x.cu\" x"] {
        refuses(&format!("\n{other}\nld.global.u32 %r1, [%rd1];"), Rule::Syntax);
    }
}

#[test]
fn warp_sz_is_a_constant() {
    accepts("ld.global.L2::cache_hint.u32 %r1, [%rd1], WARP_SZ;");
    accepts("tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r1, %r2}, [%r0], -WARP_SZ+1;");
    accepts("ld.local.u32 %r1, [WARP_SZ];");
    refuses("ld.global.u32 WARP_SZ, [%rd1];", Rule::DestinationRegister);
    refuses("ld.global.L2::cache_hint.u32 %r1, [%rd1], warp_sz;", Rule::PolicyOperand);
}

#[test]
fn integers_wrap_once() {
    for legal in [
        "18446744073709551616",
        "0x10000000000000000",
        "92233720368547758079",
        "02000000000000000000000",
    ] {
        accepts(&format!("ld.global.u32 %r1, [%rd1+{legal}];"));
    }
    for overflow in ["92233720368547758080", "0x80000000000000000", "99999999999999999999", "1_000"]
    {
        refuses(&format!("ld.global.u32 %r1, [%rd1+{overflow}];"), Rule::Syntax);
    }
}

#[test]
fn constants_keep_floats_and_integers_apart() {
    for legal in ["(1.5<2.5)", "4==4", "1?2:3", "(.s64)4", "WARP_SZ*2"] {
        accepts(&format!("ld.global.u32 %r1, [%rd1+{legal}];"));
    }
    for float in ["1.5<2", "4==4.0", "!1.5", "1.5?1:2", "1?2:1.5", "(.s32)4", ".5", "1.5&&1"] {
        refuses(&format!("ld.global.u32 %r1, [%rd1+{float}];"), Rule::OffsetInteger);
    }
    refuses("ld.global.u32 %r1, [%rd1+1/0];", Rule::Syntax);
}

#[test]
fn the_number_of_a_register_may_begin_with_zeroes() {
    let run = ".reg .u32 %q<3>; .reg .u32 a1<9>;";
    accepts(&format!("{run} ld.global.u32 %q01, [%rd01];"));
    accepts(&format!("{run} ld.global.u32 %q0000000000002, [%rd1];"));
    refuses(&format!("{run} ld.global.u32 %q03, [%rd1];"), Rule::DestinationRegister);
    // The digits of `a1` are part of the number: this is number 15 of `a<..>`.
    refuses(&format!("{run} ld.global.u32 a15, [%rd1];"), Rule::DestinationRegister);
}

#[test]
fn declarations_belong_to_their_versions() {
    for (declaration, from, before) in [
        (".weak .global .u32 g;", "3.1", "3.0"),
        (".common .global .u32 g;", "5.0", "4.3"),
        (".global .attribute(.managed) .u32 g;", "4.0", "3.2"),
        (".global .b128 g;", "8.3", "8.2"),
        (".global .u32 o; .global .u64 g = o;", "2.1", "2.0"),
        (".global .u32 o; .global .u64 g = generic(o);", "3.1", "3.0"),
        (".global .u32 o; .global .u8 g = 0xff(o);", "7.1", "7.0"),
        (".global .texref g;", "1.5", "1.4"),
    ] {
        assert_eq!(broken(&old(from, "sm_80", declaration, "")), [], "{declaration}");
        assert_eq!(broken(&old(before, "sm_80", declaration, "")), [Rule::NeedsVersion]);
    }
    for (declaration, version, rule) in [
        (".const[2] .u32 c;", "2.2", Rule::Declaration),
        (".const[2] .u32 c;", "1.5", Rule::Declaration),
        (".const[11] .u32 c[];", "2.0", Rule::Declaration),
        (".extern .const .u32 c[];", "2.1", Rule::Declaration),
        (".common .shared .u32 s;", "9.5", Rule::Declaration),
        (".global .u32 g[];", "9.5", Rule::Declaration),
        (".global .u64 g = o; .global .u32 o;", "9.5", Rule::Declaration),
        (".global .u32 g[4] = {mask(0xff00)};", "9.5", Rule::Syntax),
        (".func f(.param .u32 a) { ret; }", "1.5", Rule::NeedsVersion),
    ] {
        let found = broken(&old(version, "sm_80", declaration, ""));
        assert!(found.contains(&rule), "{declaration}: {found:?}");
    }
    assert_eq!(broken(&old("1.5", "sm_13", ".extern .const[2] .u32 c[];", "")), []);
    assert_eq!(broken(&old("2.1", "sm_20", ".const[0] .u32 c;", "")), []);
    assert_eq!(broken(&old("3.0", "sm_20, debug", "", "")), [Rule::Declaration]);
    assert_eq!(broken(&old("3.0", "sm_20, debug", ".section .debug_str { }", "")), []);
}

/// Floats in every notation that ptxas 12.9 and 13.5 accept. The fields of textures and samplers must not be taken for
/// names.
#[test]
fn initial_values_that_ptxas_takes() {
    for declaration in [
        ".global .f64 g = 1.e3;",
        ".global .f32 g[3] = {.5e1, 1.e-3, 1.E+3};",
        ".global .texref g = { width=16 };",
        ".global .texref g[2] = {{width=1}, {width=2}};",
        ".global .surfref g = {width=3, height=4};",
        ".global .samplerref g = { addr_mode_0 = clamp_to_border, filter_mode = nearest };",
    ] {
        let text = old("8.0", "sm_80, texmode_independent", declaration, "");
        assert_eq!(broken(&text), [], "{declaration}");
    }
}

#[test]
fn alignment_may_precede_the_space() {
    let load = "ld.shared.u32 %r1, [x]; ld.param.u32 %r2, [kp];";
    for declaration in [
        ".align 8 .shared .b8 x[8];",
        ".align 16 .align 8 .shared .b8 x[8];",
        ".align 4 .shared .align 8 .b8 x[8];",
    ] {
        accepts(&format!("{declaration} {load}"));
        assert_eq!(broken(&kernel(declaration, load)), [], "{declaration}");
    }
    let module = ".version 8.8\n.target sm_80\n.entry k(.align 8 .param .b8 a[8]) {
        .reg .b32 r; ld.param.u32 r, [a]; }";
    assert_eq!(broken(module), []);
    let read = read(module).expect("a module");
    assert_eq!(read.declarations()[0].align, Some(8));
}

#[test]
fn targets_may_be_virtual() {
    let load = "ld.global.L2::256B.u32 %r1, [%rd1];";
    let module = |target: &str| kernel("", load).replace("sm_110a", target);
    assert_eq!(broken(&module("compute_80")), []);
    assert_eq!(broken(&module("compute_75")), [Rule::NeedsTarget]);
}

#[test]
fn modules_end_at_a_zero_byte_before_9_0() {
    let module = old("8.8", "sm_80", "", "ld.global.u32 %r1, [%rd1];");
    for end in ["\0", "\0\n", "\0 no more of it {"] {
        assert_eq!(broken(&format!("{module}{end}")), [], "{end:?}");
        let later = format!("{module}{end}").replace("8.8", "9.0");
        assert!(read(&later).is_err(), "{end:?}");
    }
    assert_eq!(broken(&module.replace("exit;", "exit;\0")), [Rule::Syntax]);
}

#[test]
fn declarations_may_name_nothing() {
    accepts(".reg .u32; .shared .u32; ld.global.u32 %r1, [%rd1];");
    assert_eq!(broken(&kernel(".global .u32;", "")), []);
}

#[test]
fn runs_and_single_registers_have_names_of_their_own() {
    accepts(".reg .u64 a<3>; .reg .u32 a; ld.global.u32 a, [a1];");
    accepts(".reg .u32 a; .reg .u64 a<3>; ld.global.u32 a, [a1];");
    refuses(".reg .u32 a<3>; .reg .u32 a1;", Rule::DuplicateName);
}

#[test]
fn a_definition_in_another_space_is_another_variable() {
    let around = ".extern .global .u32 g; .visible .const .u32 g;";
    assert_eq!(broken(&kernel(around, "ld.global.u32 %r1, [g];")), []);
    assert_eq!(broken(&kernel(around, "ld.const.u32 %r1, [g];")), [Rule::AddressSpace]);
}

#[test]
fn functions_of_other_modules_are_not_missed_in_a_part() {
    for (around, body, in_program) in [
        (".extern .func f();", "call f;", Rule::UnresolvedFunction),
        (".extern .func f();", "mov.u64 %rd1, f;", Rule::UnresolvedFunction),
        (".extern .func f(); .global .u64 p = f;", "", Rule::UnresolvedFunction),
    ] {
        let module = kernel(around, body);
        assert_eq!(broken(&module), [in_program], "{around} {body}");
        assert_eq!(broken_as(&module, Unit::Part), [], "{around} {body}");
    }
    assert_eq!(broken(&kernel(".extern .func f();", "")), []);
    for (around, body) in [("", "call f;"), (".func f();", "")] {
        let found = broken_as(&kernel(around, body), Unit::Part);
        assert_eq!(found, [Rule::UnresolvedFunction], "{around} {body}");
    }
}
