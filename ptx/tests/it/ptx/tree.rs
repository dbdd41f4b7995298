//! Instructions other than loads in the tree of a module.

use warpload_ptx::module::{SourceLocation, StatementId, StatementKind};
use warpload_ptx::syntax::load::{
    Comparison, ElementKind, Keyword, OperandKind, PtxInstruction, QualifierKind, Rounding,
};
use warpload_ptx::syntax::{Constant, Opcode, ScalarType};
use warpload_ptx::{Module, read};

fn kernel(body: &str) -> String {
    format!(".version 8.8\n.target sm_90a\n.address_size 64\n.entry k() {{ {body} }}")
}

fn instructions<'m>(module: &'m Module<'_>) -> Vec<PtxInstruction<'m>> {
    module.instructions(module.function("k").unwrap()).collect()
}

fn texts<'m>(module: &'m Module<'_>, of: &PtxInstruction<'_>) -> Vec<&'m str> {
    of.operands.iter().map(|operand| module.text(operand.span)).collect()
}

#[test]
fn qualifiers_are_typed() {
    let source = kernel(
        "fma.rn.ftz.f32 %f1, %f2, %f3, 0f3F800000; setp.ltu.and.f64 p|q, %fd1, %fd2, !r;
         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a, b}, {c}, {d}, {a, b};",
    );
    let module = read(&source).unwrap();
    let found = instructions(&module);
    let kinds: Vec<Vec<QualifierKind>> =
        found.iter().map(|of| of.qualifiers().map(|qualifier| qualifier.kind).collect()).collect();
    use QualifierKind as Q;
    assert_eq!(
        kinds[0],
        [Q::Rounding(Rounding::Rn), Q::Keyword(Keyword::Ftz), Q::Type(ScalarType::F32)]
    );
    assert_eq!(kinds[1][..2], [Q::Comparison(Comparison::Ltu), Q::Keyword(Keyword::And)]);
    assert_eq!(kinds[2][2], Q::Matrix { m: 16, n: 8, k: 16 });
    assert!(found.iter().all(PtxInstruction::is_known));
    // Spans are places in this instruction, not in the one that was read first with this opcode.
    let qualifier = found[1].qualifiers().next().unwrap();
    assert_eq!(module.text(qualifier.span), ".ltu");
}

#[test]
fn operands_are_typed() {
    let source = kernel(
        "fma.rn.f32 %f1, -%f2, %tid.x, 1.5; call (r0, r1), f, (a, 2), P;
         setp.eq.u32 p|_, %r1, %r2; vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;
         tex.2d.v4.f32.s32 {a, b, c, d}, [image, sampler, {x, y}];
         mov.b64 {%r1, _}, %rd1; st.shared.v2.u32 [tile+8], {1, %r2};
         call f2, (a); elect.sync _|p, 0xffffffff;",
    );
    let module = read(&source).unwrap();
    let found = instructions(&module);
    assert!(found.iter().all(|of| of.is_known() && of.fault.is_none()), "{found:#?}");
    let kinds = |place: usize| found[place].operands.iter().map(|of| of.kind).collect::<Vec<_>>();
    assert!(matches!(
        kinds(0)[..],
        [
            OperandKind::Name,
            OperandKind::Negated(_),
            OperandKind::Component(_),
            OperandKind::Constant(Constant::Float(1.5))
        ]
    ));
    assert_eq!(texts(&module, &found[1]), ["(r0, r1)", "f", "(a, 2)", "P"]);
    let OperandKind::List(list) = kinds(1)[2] else { panic!("{:?}", kinds(1)) };
    let elements: Vec<ElementKind> = found[1].elements_in(list).iter().map(|of| of.kind).collect();
    assert!(matches!(elements[..], [ElementKind::Name, ElementKind::Constant(_)]));
    let OperandKind::Pair(pair) = kinds(2)[0] else { panic!("{:?}", kinds(2)) };
    assert_eq!(found[2].elements_in(pair)[1].kind, ElementKind::Sink);
    assert!(matches!(kinds(3)[1..], [OperandKind::Part(_), OperandKind::Part(_)]));
    let address = found[4].address().unwrap();
    let inside = found[4].elements_in(address.coordinates).iter().map(|of| module.text(of.span));
    assert!(inside.eq(["sampler", "x", "y"]));
    assert_eq!(found[6].address().unwrap().displacement(), 8);
    let names: Vec<&str> = found[6].names().map(|name| module.text(name)).collect();
    assert_eq!(names, ["tile", "%r2"]);
}

#[test]
fn unknown_instructions_have_operands() {
    let source = kernel("frobnicate.fast.u32 %r1, [%rd1+4], 7; add.frob.u32 %r1, %r2, %r3;");
    let module = read(&source).unwrap();
    let found = instructions(&module);
    assert_eq!((found[0].opcode, found[1].opcode), (Opcode::Unknown, Opcode::Add));
    assert!(found.iter().all(|of| !of.is_known() && of.fault.is_none()));
    assert_eq!(texts(&module, &found[0]), ["%r1", "[%rd1+4]", "7"]);
    // The rest of the statement after an unreadable operand is skipped.
    let source = kernel("add.u32 %r1, <%r2>, %r3; ret;");
    let module = read(&source).unwrap();
    let found = instructions(&module);
    assert_eq!(texts(&module, &found[0]), ["%r1"]);
    assert!(!found[0].is_known() && found[1].is_known());
}

#[test]
fn statements_know_their_lines_and_lists() {
    let source = kernel(
        ".reg .b32 a, b; ret;
         .loc 1 7 3, function_name $L0, inlined_at 1 9 1
         T: .branchtargets L, M; L: brx.idx a, T; .loc 2 8 M: ret;",
    );
    let module = read(&source).unwrap();
    let kinds: Vec<&StatementKind> = module.statements().iter().map(|of| &of.kind).collect();
    let StatementKind::Declarations(first, end) = kinds[0] else { panic!("{:?}", kinds[0]) };
    assert_eq!(end.index() - first.index(), 2);
    assert!(matches!(kinds[3], StatementKind::Targets(_)), "{:?}", kinds[3]);
    let ids: Vec<StatementId> = module.statement_ids(&module.functions()[0]).collect();
    let line = |id: StatementId| module.location(id).map(|found| (found.file, found.line));
    assert_eq!(line(ids[1]), None);
    assert_eq!(module.location(ids[5]), Some(SourceLocation { file: 1, line: 7, column: 3 }));
    assert_eq!(line(ids[7]), Some((2, 8)));
}
