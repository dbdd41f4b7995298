//! Every operand of every instruction that is executed, given a register that was never written: the result is unknown,
//! or a fault says which value is not known. It is never taken for zero.

use std::collections::{HashMap, HashSet};

use super::{Launched, launch};
use warpload_ptx::launch::KernelLaunch;
use warpload_ptx::syntax::Opcode;

/// Instructions without a value to ask for: their operands are constants, or have an effect on time alone.
const WITHOUT_VALUES: &str = "activemask applypriority brkpt createpolicy exit fence griddepcontrol membar nanosleep nop \
     pmevent prefetch prefetchu ret setmaxnreg trap";

/// Instructions that are not executed, or whose launch is refused. `discard` makes bytes unknown in any case.
const NOT_EXECUTED: &str = "clusterlaunchcontrol discard fabs getctarank istypep mapa multimem suld suq sured sust tcgen05 \
     tensormap tex tld4 txq wgmma";

/// The forms, with `?` before each operand that is asked for, and `=` before each result. The letters are the names of
/// registers in [`REGISTERS`]; `?a` is an address in global memory, `?s` one in shared memory, `?31` a constant of 32
/// bits, `?<%x:rd>` a register with a value of its own. `*4` repeats an element. Where logic would decide the result
/// whatever the operand is, the other operands are chosen so that it does not.
const FORMS: &str = "
abs.s32 =r, ?r | abs.f32 =f, ?f | abs.f64 =d, ?d | abs.f16x2 =r, ?r
add.u32 =r, ?r, ?r | add.s64 =rd, ?rd, ?rd | add.u16 =h, ?h, ?h | add.f32 =f, ?f, ?f | add.rz.f64 =d, ?d, ?d
add.f16 =h, ?h, ?h | add.f16x2 =r, ?r, ?r | add.bf16x2 =r, ?r, ?r | add.u16x2 =r, ?r, ?r
add.cc.u32 %t, ?r, ?r; addc.u32 =r, 1, 1 | add.cc.u32 %t, 1, 1; addc.u32 =r, ?r, ?r
alloca.u64 =rd, ?<64:rd>
and.b32 =r, ?r, ?r | and.b64 =rd, ?rd, ?rd | and.b16 =h, ?h, ?h | and.pred =p, ?p, ?p
atom.global.add.u32 =r, [?a], ?r | atom.global.cas.b32 =r, [?a], ?r, ?r | atom.shared.exch.b64 =rd, [?s], ?rd
atom.global.min.s32 =r, [?a], ?r | atom.global.add.f32 =f, [?a], ?f | atom.shared.inc.u32 =r, [?s], ?r
atom.global.cas.b16 =h, [?a], ?h, ?h | atom.global.add.noftz.f16x2 =r, [?a], ?r | atom.and.b32 =r, [?a], ?r
atom.global.v2.f32.add {=f, =f}, [?a], {?f, ?f}
bar.sync ?0 | bar.sync 1, ?32 | bar.red.popc.u32 =r, ?0, ?p | bar.red.and.pred =p, 0, ?p | bar.red.or.pred =p, 0, ?<%np:p>
bar.arrive ?1, 64 | bar.arrive 1, ?64 | bar.warp.sync ?-1 | barrier.sync ?2 | barrier.cta.red.and.pred =p, 3, ?p
bfe.u32 =r, ?r, ?r, ?r | bfe.s64 =rd, ?rd, ?r, ?r | bfi.b32 =r, ?r, ?r, ?r, ?r | bfi.b64 =rd, ?rd, ?rd, ?r, ?r
bfind.u32 =r, ?r | bfind.shiftamt.s64 =r, ?rd | bmsk.clamp.b32 =r, ?r, ?r | brev.b32 =r, ?r | brev.b64 =rd, ?rd
@?p bra END; mov.u32 =r, 1
TARGETS: .branchtargets END; brx.idx ?0, TARGETS
call (=r), id, (?r) | { .param .b32 x; .param .b32 y; st.param.b32 [x], ?r; call (y), passed, (x); ld.param.b32 =r, [y]; }
mov.u64 %t64, id; PROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (=r), ?<%t64:rd>, (?r), PROTO
clz.b32 =r, ?r | clz.b64 =r, ?rd | cnot.b32 =r, ?r | copysign.f32 =f, ?f, ?f | cos.approx.f32 =f, ?f
cp.async.ca.shared.global [?s], [?a], 16 | cp.async.ca.shared.global [?s], [?a], 16, ?8 | cp.async.ca.shared.global [?s], [?a], 8, ?p
mbarrier.init.shared.b64 [%ks], 1000; cp.async.mbarrier.arrive.noinc.shared.b64 [?s]
mbarrier.init.shared.b64 [%ks], 1000; cp.async.mbarrier.arrive.shared.b64 [?s]
cvt.rn.f16.f32 =h, ?f | cvt.u8.s32 =r, ?r | cvt.rn.f32.f64 =f, ?d | cvt.rn.bf16x2.f32 =r, ?f, ?f | cvt.u64.u32 =rd, ?r
cvt.rn.satfinite.e4m3x2.f32 =h, ?f, ?f | cvt.rna.tf32.f32 =r, ?f | cvt.rn.f16x2.e5m2x2 =r, ?h | cvt.rzi.s64.f64 =rd, ?d
cvt.pack.sat.s16.s32 =r, ?r, ?r | cvt.pack.sat.u8.s32.b32 =r, ?r, ?r, ?r | cvt.rn.satfinite.e2m3x2.f32 =h, ?f, ?f
cvta.shared.u64 =rd, ?rd | cvta.to.local.u64 =rd, ?rd
div.u32 =r, ?r, ?r | div.rn.f32 =f, ?f, ?f | div.full.f32 =f, ?f, ?f | div.rn.f64 =d, ?d, ?d
dp2a.lo.u32.u32 =r, ?r, ?r, ?r | dp4a.s32.u32 =r, ?r, ?r, ?r | elect.sync =r|=p, ?-1 | ex2.approx.f32 =f, ?f | ex2.approx.f16x2 =r, ?r
fma.rn.f32 =f, ?f, ?f, ?f | fma.rn.f64 =d, ?d, ?d, ?d | fma.rn.f16x2 =r, ?r, ?r, ?r | fma.rn.f32x2 =rd, ?rd, ?rd, ?rd
fns.b32 =r, ?r, ?r, ?r
isspacep.shared =p, ?rd | isspacep.global =p, ?rd | isspacep.const =p, ?rd | isspacep.param =p, ?rd
ld.global.u32 =r, [?a] | ld.shared.v2.u32 {=r, =r}, [?s] | ld.u64 =rd, [?a] | ld.volatile.shared.u8 =r, [?s] | ld.global.u32 =r, g[?0]
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {=r*4}, [?s] | ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {=r, =r}, [?s]
ldu.global.u32 =r, [?a] | lg2.approx.f32 =f, ?f
lop3.b32 =r, ?r, ?r, ?r, 0x96 | lop3.and.b32 =r|=p, ?r, ?r, ?r, 0x96, ?p
mad.lo.u32 =r, ?r, ?r, ?r | mad.wide.s32 =rd, ?r, ?r, ?rd | mad.hi.u64 =rd, ?rd, ?rd, ?rd | mad.rn.f32 =f, ?f, ?f, ?f
mad24.lo.u32 =r, ?r, ?r, ?r | mad.lo.cc.u32 =r, ?r, ?r, ?r | mad.lo.cc.u32 %t, ?r, ?r, ?r; madc.hi.u32 =r, 1, 1, 1 | add.cc.u32 %t, 1, 1; madc.lo.u32 =r, ?r, ?r, ?r
match.any.sync.b32 =r, ?r, ?-1 | match.all.sync.b64 =r|=p, ?rd, ?-1
max.s32 =r, ?r, ?r | max.f32 =f, ?f, ?f | max.f32 =f, ?f, ?f, ?f | max.NaN.f16x2 =r, ?r, ?r | min.u64 =rd, ?rd, ?rd | min.f64 =d, ?d, ?d
mbarrier.init.shared.b64 [?s], ?1000 | mbarrier.init.shared.b64 [%ks], 1000; mbarrier.arrive.shared.b64 =rd, [?s], ?3
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.arrive_drop.shared.b64 =rd, [?s], ?3
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.arrive.noComplete.shared.b64 =rd, [?s], ?3
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.arrive.expect_tx.shared.b64 =rd, [?s], ?3
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.expect_tx.shared::cta.b64 [?s], ?3
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.complete_tx.shared::cta.b64 [?s], ?3
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.test_wait.parity.shared.b64 =p, [?s], ?0
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.arrive.shared.b64 %t64, [%ks]; mbarrier.try_wait.shared.b64 =p, [?s], ?<%t64:rd>
mbarrier.init.shared.b64 [%ks], 1000; mbarrier.arrive.noComplete.shared.b64 %t64, [%ks], 1; mbarrier.pending_count.b64 =r, ?<%t64:rd>
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {=f*4}, {?r*2}, {?r}, {?f*4}
mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {=r*4}, {?r*2}, {?r}, {?r*4}
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {=d*2}, {?d}, {?d}, {?d*2}
mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {=f*8}, {?r*2}, {?r*2}, {?f*8}
mov.u32 =r, ?r | mov.b64 =rd, {?r, ?r} | mov.b64 {=r, =r}, ?rd | mov.v2.b32 {=r, =r}, {?r, ?r} | mov.pred =p, ?p | mov.f64 =d, ?d
mov.b32 =r, {?h, ?h} | mov.u32 =r, ?<%kr:r>+4 | mov.u64 =rd, g[?0] | movmatrix.sync.aligned.m8n8.trans.b16 =r, ?r
mul.lo.u32 =r, ?r, ?r | mul.wide.u16 =r, ?h, ?h | mul.hi.s64 =rd, ?rd, ?rd | mul.f32 =f, ?f, ?f | mul.bf16 =h, ?h, ?h | mul24.hi.s32 =r, ?r, ?r
neg.s32 =r, ?r | neg.f64 =d, ?d | neg.bf16x2 =r, ?r | not.b32 =r, ?r | not.pred =p, ?p | or.b32 =r, ?r, ?r | or.pred =p, ?<%np:p>, ?<%np:p>
popc.b64 =r, ?rd | prmt.b32 =r, ?r, ?r, 0x5410 | prmt.b32 =r, ?r, ?r, ?r | prmt.b32.f4e =r, ?r, ?r, ?r
rcp.rn.f32 =f, ?f | rcp.approx.ftz.f64 =d, ?d | red.global.add.u32 [?a], ?r | red.shared.max.s32 [?s], ?r | red.global.add.f64 [?a], ?d
redux.sync.add.u32 =r, ?r, ?-1 | redux.sync.and.b32 =r, ?r, ?-1 | redux.sync.min.f32 =f, ?f, ?-1
rem.s32 =r, ?r, ?r | rsqrt.approx.f32 =f, ?f | sad.u32 =r, ?r, ?r, ?r
selp.b32 =r, ?r, 7, ?p | selp.b32 =r, 7, ?r, %np | selp.f64 =d, ?d, ?d, ?p FIRST
set.eq.u32.u32 =r, ?r, ?r | set.le.and.u32.f32 =r, ?f, ?f, ?p | set.le.f32.f64 =f, ?d, ?d | set.eq.u32.f16x2 =r, ?r, ?r
setp.eq.u32 =p, ?r, ?r | setp.le.and.f32 =p|=p, ?f, ?f, ?p | setp.ne.or.s64 =p, ?rd, ?rd, ?<%np:p> | setp.le.f16x2 =p|=p, ?r, ?r | setp.eq.xor.u16 =p, ?h, ?h, ?p
shf.l.wrap.b32 =r, ?r, ?r, ?r | shf.r.clamp.b32 =r, ?r, ?r, ?r
shfl.sync.idx.b32 =r|=p, ?r, ?r, ?31, ?-1 | shfl.sync.up.b32 =r, ?r, ?r, ?0, ?-1 | shfl.sync.bfly.b32 =r, ?r, ?r, ?31, ?-1 | shfl.sync.down.b32 =r, ?r, ?r, ?31, ?-1
shl.b32 =r, ?r, ?r | shl.b64 =rd, ?rd, ?r | shr.s32 =r, ?r, ?r | shr.u16 =h, ?h, ?r | sin.approx.f32 =f, ?f
slct.b32.s32 =r, ?r, 7, ?r | slct.b32.s32 =r, 7, ?r, %neg | slct.f64.f32 =d, ?d, %kd, ?f
sqrt.rn.f32 =f, ?f | sqrt.approx.f32 =f, ?f | sqrt.rn.f64 =d, ?d
st.global.u32 [?a], ?r | st.shared.v2.u32 [?s], {?r, ?r} | st.u64 [?a], ?rd | st.global.f64 [?a], ?d | st.global.u8 [?a], ?h | st.global.u32 g[?0], ?r
st.shared.u32 [?s], ?<%kr:r>+4 | st.relaxed.gpu.global.u32 [?a], ?r
stacksave.u64 %t64; alloca.u64 %t642, 64; stackrestore.u64 ?<%t64:rd>
mad.lo.u32 %t, %lane, 16, %ks; stmatrix.sync.aligned.m8n8.x2.shared.b16 [?<%t:r>], {?r*2}
sub.u32 =r, ?r, ?r | sub.f64 =d, ?d, ?d | sub.cc.u32 %t, ?r, ?r; subc.u32 =r, 1, 1 | add.cc.u32 %t, 1, 1; subc.u32 =r, ?r, ?r
szext.clamp.s32 =r, ?r, ?r | tanh.approx.f32 =f, ?f | tanh.approx.f16x2 =r, ?r | testp.finite.f32 =p, ?f | testp.normal.f64 =p, ?d
vabsdiff.s32.s32.s32 =r, ?r, ?r | vabsdiff2.s32.s32.s32 =r, ?r, ?r, ?r | vabsdiff4.u32.u32.u32.add =r, ?r, ?r, ?r
vadd.s32.s32.s32 =r, ?r, ?r | vadd.u32.u32.u32.add =r, ?r, ?r, ?r | vadd2.s32.s32.s32 =r, ?r, ?r, ?r | vadd4.u32.u32.u32 =r, ?r, ?r, ?r
vavrg2.s32.s32.s32 =r, ?r, ?r, ?r | vavrg4.u32.u32.u32 =r, ?r, ?r, ?r | vmad.s32.s32.s32 =r, ?r, ?r, ?r
vmax.s32.s32.s32 =r, ?r, ?r | vmax2.s32.s32.s32 =r, ?r, ?r, ?r | vmax4.u32.u32.u32 =r, ?r, ?r, ?r
vmin.s32.s32.s32 =r, ?r, ?r | vmin2.s32.s32.s32 =r, ?r, ?r, ?r | vmin4.u32.u32.u32 =r, ?r, ?r, ?r
vset.s32.u32.eq =r, ?r, ?r | vset2.u32.u32.lt =r, ?r, ?r, ?r | vset4.u32.u32.lt =r, ?r, ?r, ?r
vshl.u32.u32.u32.clamp =r, ?r, ?r | vshr.s32.u32.u32.wrap =r, ?r, ?r
vsub.s32.s32.s32 =r, ?r, ?r | vsub2.s32.s32.s32 =r, ?r, ?r, ?r | vsub4.u32.u32.u32 =r, ?r, ?r, ?r
vote.sync.ballot.b32 =r, ?p, ?-1 | vote.sync.all.pred =p, ?p, ?-1 | vote.sync.any.pred =p, ?<%np:p>, ?-1 | vote.sync.uni.pred =p, ?p, ?-1
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {=r*8}, [?s], ?16 | wmma.load.c.sync.aligned.col.m16n16k16.shared.f16 {=r*4}, [?s], ?16
wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [?s], {?r*4}, ?16
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {=f*8}, {?r*8}, {?r*8}, {?f*8}
xor.b32 =r, ?r, ?r | xor.pred =p, ?p, ?p
";

/// A kind of operand: its letters, its type, its known register, and a store of a result to `[%out]`.
const REGISTERS: [(&str, &str, &str, &str); 7] = [
    ("rd", "b64", "%krd", "st.global.b64 [%out], X;"),
    ("r", "b32", "%kr", "st.global.b32 [%out], X;"),
    ("h", "b16", "%kh", "st.global.b16 [%out], X;"),
    ("f", "f32", "%kf", "st.global.f32 [%out], X;"),
    ("d", "f64", "%kd", "st.global.f64 [%out], X;"),
    ("p", "pred", "%kp", "selp.b32 %t, 1, 2, X; st.global.b32 [%out], %t;"),
    ("a", "b64", "%ka", ""),
];

/// The kind of an operand by its letters, among them `s` for an address of 32 bits.
fn kind(letters: &str) -> (&'static str, &'static str, &'static str) {
    if letters == "s" {
        return ("b32", "%ks", "");
    }
    let row = REGISTERS.iter().find(|row| row.0 == letters);
    let row = row.unwrap_or_else(|| panic!("no kind of operand `{letters}`"));
    (row.1, row.2, row.3)
}

/// A form, read: its text with `{n}` in the place of each operand that is asked for, the known and the unknown text of
/// each, and the stores of the results.
struct Form {
    pieces: Vec<String>,
    /// The known text and the type of each.
    asked: Vec<(String, &'static str)>,
    declarations: String,
    stores: String,
}

impl Form {
    fn read(text: &str) -> Self {
        let mut form = Self {
            pieces: vec![String::new()],
            asked: Vec::new(),
            declarations: String::new(),
            stores: String::new(),
        };
        let expanded = expand(text);
        let mut rest = &expanded[..];
        let mut results = 0;
        while let Some(at) = rest.find(['?', '=']) {
            form.pieces.last_mut().unwrap().push_str(&rest[..at]);
            let is_asked = rest.as_bytes()[at] == b'?';
            rest = &rest[at + 1..];
            if let Some(inner) = rest.strip_prefix('<') {
                let (inner, after) = inner.split_once('>').unwrap();
                let (known, letters) = inner.split_once(':').unwrap();
                form.ask(known, kind(letters).0);
                rest = after;
                continue;
            }
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            if word.parse::<i32>().is_ok() {
                form.ask(word, "b32");
                continue;
            }
            let (scalar, known, store) = kind(word);
            if is_asked {
                form.ask(known, scalar);
                continue;
            }
            let name = format!("%result{results}");
            form.declarations += &format!(".reg .{scalar} {name}; ");
            let store = store.replace('X', &name);
            form.stores +=
                &format!("{} ", store.replace("[%out]", &format!("[%out+{}]", 8 * results)));
            form.pieces.last_mut().unwrap().push_str(&name);
            results += 1;
        }
        form.pieces.last_mut().unwrap().push_str(rest);
        form
    }

    fn ask(&mut self, known: &str, scalar: &'static str) {
        self.asked.push((known.to_owned(), scalar));
        self.pieces.push(String::new());
    }

    /// The text with one operand unknown, or all known.
    fn text(&self, unknown: Option<usize>) -> String {
        let mut text = self.pieces[0].clone();
        for (place, (known, scalar)) in self.asked.iter().enumerate() {
            match unknown == Some(place) {
                true => text += &format!("%never_{scalar}"),
                false => text += known,
            }
            text += &self.pieces[place + 1];
        }
        text
    }
}

/// Repeats elements: `=r*3` becomes `=r, =r, =r`.
fn expand(text: &str) -> String {
    let parts = text.split_inclusive(['{', ',', '}']);
    let one = |part: &str| {
        let Some((element, rest)) = part.split_once('*') else { return part.to_owned() };
        let (count, end) =
            rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        vec![element.trim(); count.parse().unwrap()].join(", ") + end
    };
    parts.map(one).collect()
}

/// Launches a form in one warp. The buffer gets the results of each lane and the bytes of shared memory.
fn run(form: &Form, text: &str) -> Launched {
    let never: String = ["b16", "b32", "b64", "f32", "f64", "pred"]
        .map(|scalar| format!(".reg .{scalar} %never_{scalar}; "))
        .concat();
    let source = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64
.global .align 16 .b32 g[256]; .shared .align 16 .b8 s[1024];
.func (.reg .b32 o) id (.reg .b32 i) {{ mov.u32 o, i; ret; }}
.func (.param .b32 o) passed (.param .b32 i) {{ .reg .b32 t; ld.param.b32 t, [i]; st.param.b32 [o], t; ret; }}
.visible .entry k(.param .u64 out) {{
 .reg .b16 %kh; .reg .b32 %kr, %ks, %t, %neg, %lane; .reg .b64 %krd, %ka, %out, %t64, %t642; .reg .f32 %kf; .reg .f64 %kd; .reg .pred %kp, %np;
 {never} {declarations}
 ld.param.u64 %out, [out]; mov.u32 %lane, %laneid; mad.wide.u32 %out, %lane, 128, %out;
 mov.u16 %kh, 3; mov.u32 %kr, 3; mov.u64 %krd, 3; mov.f32 %kf, 1.5; mov.f64 %kd, 1.5; mov.pred %kp, 1; mov.pred %np, 0;
 mov.u32 %neg, -1; mov.u64 %ka, g; mov.u32 %ks, s;
 {text};
 {stores}
 END: bar.sync 0; mov.u32 %t, s; mad.lo.u32 %t, %lane, 32, %t; ld.shared.v4.b32 {{%kr, %t, %neg, %lane}}, [%t];
 st.global.v4.b32 [%out+96], {{%kr, %t, %neg, %lane}}; ret; }}",
        declarations = form.declarations,
        stores = form.stores,
    );
    let mut options = KernelLaunch::new([1; 3], [32, 1, 1]);
    options.options.steps = 10_000;
    launch(&source, options, &[vec![0; 128 * 32]])
}

fn words(list: &str) -> HashSet<&str> {
    list.split_whitespace().collect()
}

#[test]
fn operands_that_were_never_written_are_never_zero() {
    let (mut positions, mut seen) = (0, HashMap::new());
    let mut wrong = Vec::new();
    let lines = FORMS.lines().flat_map(|line| match line.contains(" | ") {
        true => line.split(" | ").collect::<Vec<_>>(),
        false => vec![line],
    });
    for text in lines.map(str::trim).filter(|text| !text.is_empty()) {
        // Both values of a selection are asked for only as far as the predicate chooses them.
        let (text, only_first) = match text.strip_suffix(" FIRST") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let form = Form::read(text);
        let known = form.text(None);
        for word in known.split([';', '{']) {
            let word = word.trim().trim_start_matches("@%kp ");
            *seen.entry(word.split(['.', ' ']).next().unwrap().to_owned()).or_insert(0) += 1;
        }
        let launched = run(&form, &known);
        if !launched.result.is_clean() {
            let skipped = launched.result.skipped.first().map(|one| one.text.clone());
            let fault = launched.result.faults.first().map(ToString::to_string);
            wrong.push(format!(
                "{known}: not clean: {skipped:?} {fault:?} {:?}",
                launched.result.unknown.first()
            ));
            continue;
        }
        for place in 0..form.asked.len() {
            if only_first && place == 1 {
                continue;
            }
            let unknown = form.text(Some(place));
            let result = run(&form, &unknown).result;
            positions += 1;
            let has_fault = result.faults.iter().any(|fault| fault.kind.name() == "unknown_value");
            if !has_fault && result.unknown.is_empty() {
                wrong.push(format!("{unknown}: operand {place} is taken for a value"));
            }
        }
        // A guard is an operand of every instruction with an effect.
        if !known.contains([';', '@', '{']) {
            let result = run(&form, &format!("@%never_pred {known}")).result;
            positions += 1;
            if result.fault_count == 0 && result.unknown.is_empty() {
                wrong.push(format!("@%never_pred {known}: the guard is taken for a value"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {positions}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(positions > 600, "{positions}");
    // Every instruction is in one of the three lists.
    let others: HashSet<&str> =
        words(WITHOUT_VALUES).union(&words(NOT_EXECUTED)).copied().collect();
    for opcode in Opcode::all() {
        let name = opcode.name();
        assert!(
            seen.contains_key(name) != others.contains(name),
            "`{name}` is in no list, or in two"
        );
    }
}
