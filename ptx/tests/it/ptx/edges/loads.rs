//! Qualifiers and operands.

use warpload_ptx::rules::{Rule, Unit};

use super::*;

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
    // ptxas crashes on these in every other run.
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
    // The type of the reduced value is not compared.
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
    // ptxas 12.9, which judges up to PTX 8.8, accepts it.
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
fn textures_and_surfaces_are_not_loaded() {
    for opaque in ["texref", "surfref"] {
        let around = format!(".global .{opaque} t; .global .u32 g; .global .{opaque} a[4];");
        assert_eq!(broken(&kernel(&around, "ld.global.u32 %r1, [g];")), []);
        // ptxas does not judge an element of an array.
        assert_eq!(broken(&kernel(&around, "ld.global.u32 %r1, a[1];")), []);
        for load in ["ld.global.u32 %r1, [t];", "ld.u32 %r1, [t+4];"] {
            assert_eq!(broken(&kernel(&around, load)), [Rule::AddressBase], "{opaque} {load}");
        }
    }
    let sampler = kernel(".global .samplerref t;", "ld.global.u32 %r1, [t];");
    let sampler = sampler.replace("sm_110a", "sm_110a, texmode_independent");
    assert_eq!(broken(&sampler), [Rule::AddressBase]);
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
fn sync_may_be_written_twice() {
    accepts("tcgen05.ld.sync.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];");
    accepts("tcgen05.ld.red.sync.aligned.32x32b.x2.min.NaN.NaN.f32 {%r1, %r2}, %r3, [%r0];");
    refuses(
        "tcgen05.ld.sync.aligned.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];",
        Rule::DuplicateQualifier,
    );
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
    // ptxas treats predicates as 32 bits, and special registers as their types.
    accepts("ld.global.v2.u32 {%r1, %p1}, [%rd1];");
    accepts("ld.global.v2.u32 {%u1, %laneid}, [%rd1];");
    refuses("ld.global.v2.u32 {%u1, %p1}, [%rd1];", Rule::VectorMix);
    refuses("ld.global.v2.u32 {%p1, %p2}, [%rd1];", Rule::DestinationType);
    refuses("ld.global.v2.u32 {%u1, %clock64}, [%rd1];", Rule::VectorMix);
    refuses("ld.global.u32 %laneid, [%rd1];", Rule::DestinationRegister);
    // Only neighbours are compared, and sinks are skipped.
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
    // `ptxas -c` accepts this, but the document has the rule.
    assert_eq!(of_part("ld.global.u32 %r1, [u];"), [Rule::UnifiedMissing]);
}
