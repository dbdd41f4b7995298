//! Pairs of modules on either side of a rule: one that ptxas takes, one that it refuses. Every
//! verdict is that of ptxas 12.9 up to PTX 8.8 and 13.5 from there on, unless said.

use warpload::ptx::{Rule, Unit, check_as, read};

/// The rules that a module breaks, in the order of the text.
fn broken(module: &str) -> Vec<Rule> {
    broken_as(module, Unit::Program)
}

fn broken_as(module: &str, unit: Unit) -> Vec<Rule> {
    let read = read(module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    let verdicts = check_as(&read, unit);
    verdicts.flat_map(|verdict| verdict.violations).map(|violation| violation.rule).collect()
}

const REGISTERS: &str = ".reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .u32 %u<9>;
    .reg .s32 %s<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .u64 %ud<9>;
    .reg .s64 %sd<9>; .reg .v4 .b32 Q; .reg .v2 .b64 D; .reg .b8 b;";

/// A kernel of PTX 9.5 for sm_110a with declarations around it.
fn kernel(around: &str, body: &str) -> String {
    format!(
        ".version 9.5\n.target sm_110a\n.address_size 64\n{around}
        .entry k(.param .align 8 .b8 kp[64]) {{ {REGISTERS} .reg .f16x2 %x<9>;
        {body}\nret; }}"
    )
}

/// A module of an old version without a list of parameters.
fn old(version: &str, target: &str, around: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target {target}\n{around}\n.entry k {{ {REGISTERS}\n{body}\nexit; }}"
    )
}

fn accepts(body: &str) {
    assert_eq!(broken(&kernel("", body)), [], "{body}");
}

fn refuses(body: &str, rule: Rule) {
    let found = broken(&kernel("", body));
    assert!(found.contains(&rule), "{body}: {found:?}");
}

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
            assert_eq!(broken(&module), [], "{module}");
        }
    }
    let last = ".version 3.2\n.target sm_30\n.extern .func (.param .f32 r) sinf (.param .f32 x)";
    assert_eq!(read(last).map(|module| module.functions().len()), Ok(1));
}

#[test]
fn eight_elements_are_256_bits() {
    let v8 = |ty: &str, register: &str, space: &str| {
        let names: Vec<String> = (0..8).map(|i| format!("%{register}{i}")).collect();
        format!("ld{space}.v8.{ty} {{{}}}, [%rd8];", names.join(","))
    };
    for (ty, register) in [("b32", "r"), ("u32", "s"), ("f32", "f"), ("s32", "r")] {
        accepts(&v8(ty, register, ".global"));
        accepts(&v8(ty, register, ""));
        refuses(&v8(ty, register, ".shared"), Rule::WideSpace);
    }
    // ptxas crashes on these every other time.
    for (ty, register) in [("b8", "h"), ("s8", "r"), ("b16", "h"), ("u16", "r")] {
        for space in [".global", "", ".shared", ".local", ".const", ".param"] {
            refuses(&v8(ty, register, space), Rule::VectorWidth);
        }
    }
    for (ty, register) in [("b32", "rd"), ("u32", "ud"), ("b32", "sd")] {
        refuses(&v8(ty, register, ".global"), Rule::DestinationWidth);
    }
}

#[test]
fn tensor_vectors_are_of_one_kind() {
    let plain = "tcgen05.ld.sync.aligned.32x32b.x2.b32";
    for pair in ["%u1, %s1", "%r1, %f1", "%u1, %r1", "%x1, %x2", "%r1, %x1", "%f1, %f2"] {
        accepts(&format!("{plain} {{{pair}}}, [%r0];"));
    }
    for pair in ["%u1, %f1", "%f1, %s1", "%x1, %f1", "%u1, %x1"] {
        refuses(&format!("{plain} {{{pair}}}, [%r0];"), Rule::VectorMix);
    }
    // Only neighbours are compared.
    accepts("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%u1, %r1, %f2, %f3}, [%r0];");
    refuses("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %u1, %f2, %r2}, [%r0];", Rule::VectorMix);
    // The reduced value may be of any kind.
    accepts("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%u1, %u2}, %f1, [%r0];");
    refuses(
        "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%u1, %f2}, %f1, [%r0];",
        Rule::VectorMix,
    );
}

#[test]
fn unified_is_not_for_reductions() {
    accepts("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0].unified;");
    refuses(
        "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r3, [%r0].unified;",
        Rule::UnifiedSpace,
    );
}

#[test]
fn tensor_registers_are_written_once() {
    let plain = "tcgen05.ld.sync.aligned.32x32b.x2.b32";
    let red = "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32";
    accepts(&format!("{plain} {{%r1, %r2}}, [%r1];"));
    accepts(&format!("{plain} {{Q.x, Q.x}}, [%r1];"));
    accepts(&format!("{red} {{Q.x, Q.y}}, Q.x, [%r1];"));
    accepts("ld.global.v2.b32 {%r1, %r1}, [%rd1];");
    refuses(&format!("{plain} {{%r1, %r1}}, [%r0];"), Rule::TensorRegister);
    refuses(&format!("{plain} {{%r1, %r01}}, [%r0];"), Rule::TensorRegister);
    refuses(&format!("{red} {{%r1, %r2}}, %r2, [%r0];"), Rule::TensorRegister);
    // ptxas 12.9, which is asked up to 8.8, takes it.
    let earlier = kernel("", &format!("{plain} {{%r1, %r1}}, [%r0];"));
    let earlier = earlier.replace("9.5", "8.8").replace("sm_110a", "sm_100a");
    assert_eq!(broken(&earlier), []);
}

#[test]
fn the_words_of_tcgen05_ld_have_no_blanks() {
    let red = ".sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, %r3, [%r0];";
    accepts("tcgen05.ld .sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];");
    accepts(&format!("tcgen05.ld.red {red}"));
    refuses("tcgen05 .ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];", Rule::UnknownInstruction);
    refuses(&format!("tcgen05.ld .red{red}"), Rule::UnknownQualifier);
}

#[test]
fn parameter_windows_are_compared_from_9_0_on() {
    let function = ".func (.param .b32 rv) f(.param .b32 a) {{ ret; }}";
    let in_kernel = |version: &str, load: &str| {
        broken(&format!(
            ".version {version}\n.target sm_90\n.address_size 64
            {function} .entry k(.param .u32 kp) {{ {REGISTERS}
            {{ .param .b32 ca; .param .b32 cr; call (cr), f, (ca); {load} }} ret; }}"
        ))
    };
    for (load, from) in [
        ("ld.param::entry.b32 %r1, [kp];", None),
        ("ld.param::entry.b32 %r1, [%rd1];", None),
        ("ld.param::func.b32 %r1, [cr];", None),
        ("ld.param::func.b32 %r1, [kp];", Some(Rule::ParamWindow)),
        ("ld.param::func.b32 %r1, [%rd1];", Some(Rule::ParamWindow)),
        ("ld.param::func.b32 %r1, [%laneid];", Some(Rule::ParamWindow)),
        ("ld.param::entry.b32 %r1, [cr];", Some(Rule::ParamWindow)),
    ] {
        assert_eq!(in_kernel("8.8", load), [], "{load}");
        for version in ["9.0", "9.4", "9.5"] {
            assert_eq!(in_kernel(version, load), Vec::from_iter(from), "{version} {load}");
        }
    }
    let in_function = |version: &str, load: &str| {
        broken(&format!(
            ".version {version}\n.target sm_90\n.address_size 64
            .func g(.param .b32 a) {{ {REGISTERS} .param .align 8 .b8 lp[8]; {load} ret; }}"
        ))
    };
    for (load, from) in [
        ("ld.param::entry.b32 %r1, [a];", None),
        ("ld.param::func.b32 %r1, [a];", None),
        ("ld.param::func.b32 %r1, [lp];", None),
        ("ld.param::entry.b32 %r1, [lp];", Some(Rule::ParamWindow)),
        ("ld.param::entry.v2.b32 {%r1, %r2}, [lp];", Some(Rule::ParamWindow)),
        ("ld.param::entry.b32 %r1, lp[1];", None),
    ] {
        assert_eq!(in_function("8.8", load), [], "{load}");
        assert_eq!(in_function("9.0", load), Vec::from_iter(from), "{load}");
    }
}

#[test]
fn an_element_is_not_a_vector() {
    accepts("ld.global.v4.b32 Q, [%rd1];");
    accepts("ld.global.b32 Q.x, [%rd1];");
    accepts("ld.global.v2.b32 {Q.x, Q.y}, [%rd1];");
    refuses("ld.global.v4.b32 Q.x, [%rd1];", Rule::VectorSize);
    refuses("ld.global.v2.b32 Q.x, [%rd1];", Rule::VectorSize);
    refuses("ld.global.b32 Q, [%rd1];", Rule::VectorSize);
}

#[test]
fn only_arrays_are_indexed() {
    let around = ".global .u32 g; .global .u32 a[4]; .global .u32 e[] = {1, 2};
        .global .v4 .f32 v; .extern .shared .u32 d[];";
    for load in [
        "ld.global.u32 %r1, a[1];",
        "ld.u32 %r1, e[%r1];",
        "ld.shared.u32 %r1, d[1];",
        "ld.param.u32 %r1, kp[4];",
    ] {
        assert_eq!(broken(&kernel(around, load)), [], "{load}");
    }
    for load in ["ld.global.u32 %r1, g[1];", "ld.global.f32 %f1, v[1];", "ld.u32 %r1, g[%r1];"] {
        assert_eq!(broken(&kernel(around, load)), [Rule::AddressIndex], "{load}");
    }
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
fn textures_and_surfaces_are_not_loaded() {
    for opaque in ["texref", "surfref"] {
        let around = format!(".global .{opaque} t; .global .u32 g; .global .{opaque} a[4];");
        assert_eq!(broken(&kernel(&around, "ld.global.u32 %r1, [g];")), []);
        // ptxas says nothing of an element.
        assert_eq!(broken(&kernel(&around, "ld.global.u32 %r1, a[1];")), []);
        for load in ["ld.global.u32 %r1, [t];", "ld.u32 %r1, [t+4];"] {
            assert_eq!(broken(&kernel(&around, load)), [Rule::AddressBase], "{opaque} {load}");
        }
    }
    let around = ".target sm_110a, texmode_independent\n.global .samplerref t;";
    assert_eq!(broken(&kernel(around, "ld.global.u32 %r1, [t];")), [Rule::AddressBase]);
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
    // From 2.0 on they are what calls return in.
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
fn tensor_loads_are_aligned_from_9_0_on() {
    let module = kernel("", "tcgen05.ld.sync.32x32b.x2.b32 {%r1, %r2}, [%r0];");
    assert_eq!(broken(&module), [Rule::MissingQualifier]);
    let earlier = module.replace("9.5", "8.8").replace("sm_110a", "sm_100a");
    assert_eq!(broken(&earlier), []);
    refuses("tcgen05.ld.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];", Rule::MissingQualifier);
}

#[test]
fn the_vertical_tab_is_not_a_blank() {
    // A form feed is one: ptxas reads over it between any two words.
    for blank in [" ", "\t", "\x0c", "\r", "\n"] {
        accepts(&format!("ld.global.u32{blank}%r1,{blank}[{blank}%rd1{blank}];"));
    }
    refuses("ld.global.u32\x0b%r1, [%rd1];", Rule::Syntax);
    refuses("ld.global.u32 %r1, [%rd1\x0b];", Rule::Syntax);
    // The rest of the module is read.
    let module = read(
        ".version 9.5\n.target sm_100\n.entry k() { .reg .b64 %rd<3>;
        ld.global.b64 %rd1, [%rd1 ' ]; \x0bld.global.b64 %rd1, [%rd2]; ld.b64 %rd1, [%rd2]; }",
    );
    assert_eq!(module.map(|module| module.statements().len()), Ok(3));
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
    // What follows is judged.
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
fn special_registers_that_are_one_integer_are_addresses() {
    for name in ["laneid", "clock", "clock64", "envreg0", "envreg31", "dynamic_smem_size", "pm7_64"]
    {
        accepts(&format!("ld.global.u32 %r1, [%{name}];"));
        accepts(&format!("ld.shared.u32 %r1, [%{name}+4];"));
    }
    for name in ["tid", "ctaid", "is_explicit_cluster", "pm8", "envreg32", "warpsize"] {
        refuses(&format!("ld.global.u32 %r1, [%{name}];"), Rule::AddressBase);
    }
    refuses("ld.global.u32 %r1, [%tid.x];", Rule::Syntax);
    refuses("ld.global.L2::cache_hint.u32 %r1, [%rd1], %clock64;", Rule::PolicyOperand);
    accepts("@!%is_explicit_cluster ld.global.u32 %r1, [%rd1];");
    refuses("@%laneid ld.global.u32 %r1, [%rd1];", Rule::Guard);
    let needs = |version, target, name: &str| {
        broken(&old(version, target, "", &format!("ld.const.u32 %r1, [%{name}];")))
    };
    assert_eq!(needs("1.3", "sm_10", "laneid"), []);
    assert_eq!(needs("1.2", "sm_10", "laneid"), [Rule::NeedsVersion]);
    assert_eq!(needs("2.0", "sm_13", "lanemask_eq"), [Rule::NeedsTarget]);
}

#[test]
fn elements_of_vector_registers_are_registers_of_tensor_loads() {
    accepts("tcgen05.ld.sync.aligned.32x32b.x2.b32 {Q.x, Q.y}, [%r0];");
    accepts("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, Q.y, [%r0];");
    accepts("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r1, %r2}, {Q.y}, [%r0];");
    refuses("tcgen05.ld.sync.aligned.32x32b.x2.b32 {Q, Q}, [%r0];", Rule::DestinationRegister);
    refuses("tcgen05.ld.sync.aligned.32x32b.x2.b32 {D.x, D.y}, [%r0];", Rule::DestinationWidth);
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
fn sync_may_be_written_twice() {
    accepts("tcgen05.ld.sync.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];");
    accepts("tcgen05.ld.red.sync.aligned.32x32b.x2.min.NaN.NaN.f32 {%r1, %r2}, %r3, [%r0];");
    refuses(
        "tcgen05.ld.sync.aligned.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];",
        Rule::DuplicateQualifier,
    );
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
fn registers_of_several_types_are_taken_for_bits() {
    accepts("ld.global.v2.u32 {%r1, %f1}, [%rd1];");
    accepts("ld.global.v2.f32 {%ud1, %sd1}, [%rd1];");
    accepts("ld.global.v4.f32 {%r1, _, %x1, %r2}, [%rd1];");
    refuses("ld.global.v2.u32 {%f1, %f2}, [%rd1];", Rule::DestinationType);
    refuses("ld.global.v2.f32 {%ud1, %ud2}, [%rd1];", Rule::DestinationType);
    refuses("ld.global.v2.u32 {%u1, %f1}, [%rd1];", Rule::VectorMix);
    refuses("ld.global.v2.b32 {%x1, %f1}, [%rd1];", Rule::VectorMix);
    refuses("ld.global.v2.b32 {%r1, %rd1}, [%rd1];", Rule::VectorMix);
    // ptxas takes predicates for 32 bits, and special registers for what they hold.
    accepts("ld.global.v2.u32 {%r1, %p1}, [%rd1];");
    accepts("ld.global.v2.u32 {%u1, %laneid}, [%rd1];");
    refuses("ld.global.v2.u32 {%u1, %p1}, [%rd1];", Rule::VectorMix);
    refuses("ld.global.v2.u32 {%p1, %p2}, [%rd1];", Rule::DestinationType);
    refuses("ld.global.v2.u32 {%u1, %clock64}, [%rd1];", Rule::VectorMix);
    refuses("ld.global.u32 %laneid, [%rd1];", Rule::DestinationRegister);
    // Only neighbours are compared; sinks are none.
    accepts("ld.global.v4.b32 {%u1, _, %r1, %f1}, [%rd1];");
    refuses("ld.global.v4.b32 {%u1, _, _, %f1}, [%rd1];", Rule::VectorMix);
}

#[test]
fn registers_of_8_bits_hold_bytes_and_addresses() {
    accepts("ld.global.u8 b, [%rd1];");
    accepts("ld.shared.u32 %r1, [b];");
    refuses("ld.global.u16 b, [%rd1];", Rule::DestinationWidth);
}

#[test]
fn unified_belongs_to_unified_variables() {
    let around = ".visible .global .attribute(.unified(1, 2)) .u32 u; .global .u32 a[4];";
    let of_part = |load: &str| broken_as(&kernel(around, load), Unit::Part);
    assert_eq!(broken(&kernel(around, "")), [Rule::CompileOnly]);
    assert_eq!(of_part("ld.global.u32 %r1, [u].unified;"), []);
    assert_eq!(of_part("ld.global.u32 %r1, [a].unified;"), [Rule::UnifiedVariable]);
    assert_eq!(of_part("ld.global.u32 %r1, a[1].unified;"), []);
    // `ptxas -c` takes this one: the rule is that of the document.
    assert_eq!(of_part("ld.global.u32 %r1, [u];"), [Rule::UnifiedMissing]);
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
