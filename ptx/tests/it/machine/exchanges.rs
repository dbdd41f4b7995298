//! Exchanges between the lanes of a warp against a model of each, for drawn values, masks and clamps.

use super::arithmetic::evaluate;

/// The sources of a lane: a value, two words, and the mask of its warp.
#[derive(Clone, Copy)]
struct Sources {
    value: u64,
    b: u32,
    c: u32,
}

/// A result in two words; `None` where PTX ISA leaves it undefined.
type Results = [Option<[u32; 2]>; 32];

fn drawn(count: usize) -> Vec<u64> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let draw = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    });
    draw.take(count).collect()
}

/// Warps of drawn sources, each with a mask. Values have few bits in some warps, so that lanes have equal ones.
fn warps() -> Vec<(u32, [Sources; 32])> {
    let draws = drawn(96 * 65);
    let warp = |(number, draws): (usize, &[u64])| {
        let mask = match number % 4 {
            0 => u32::MAX,
            1 => (draws[64] as u32) | 1 << (number % 32),
            2 => 0xffff << (number % 17),
            _ => 1 << (number % 32),
        };
        let values = [u64::MAX, 1, 3, 0x8000_0001_0000_0000][number / 4 % 4];
        let lanes = std::array::from_fn(|lane| {
            let (words, value) = (draws[2 * lane], draws[2 * lane + 1] & values);
            let (mut b, mut c) = (words as u32 & 0x3f, (words >> 32) as u32);
            // As compilers write them: the whole warp or a segment of 2^n lanes.
            if number % 3 == 0 {
                b = number as u32 % 33;
                c = (0x20 - (1 << (number / 3 % 6))) << 8 | if number % 2 == 0 { 0x1f } else { 0 };
            }
            Sources { value, b, c }
        });
        (mask, lanes)
    };
    draws.chunks_exact(65).enumerate().map(warp).collect()
}

/// Executes an instruction in the lanes of each mask and compares its results with a model. It reads the value from
/// %r11 or %rd10, its lowest bit from %p3, `b` and `c` from %r12 and %r13 and the mask from %r14; it writes %r15 and
/// %p2.
fn check(instruction: &str, model: impl Fn(u32, &[Sources; 32]) -> Results) {
    let warps = warps();
    let triples: Vec<[u64; 3]> = warps
        .iter()
        .flat_map(|(mask, lanes)| {
            lanes.map(|of| [of.value, u64::from(of.b) | u64::from(of.c) << 32, u64::from(*mask)])
        })
        .collect();
    let out = evaluate(
        &format!(
            "cvt.u32.u64 %r11, %rd10; mov.b64 {{%r12, %r13}}, %rd11; cvt.u32.u64 %r14, %rd12;
            mov.u32 %r20, %laneid; shr.u32 %r21, %r14, %r20; and.b32 %r21, %r21, 1; setp.ne.u32 %p1, %r21, 0;
            and.b32 %r22, %r11, 1; setp.ne.u32 %p3, %r22, 0;
            mov.u32 %r15, 0; setp.ne.u32 %p2, 0, 0;
            @%p1 {instruction}
            selp.u32 %r16, 1, 0, %p2; mov.b64 %rd13, {{%r15, %r16}};"
        ),
        &triples,
    );
    for (number, ((mask, lanes), got)) in warps.iter().zip(out.chunks(32)).enumerate() {
        let wanted = model(*mask, lanes);
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let got = [got[lane] as u32, (got[lane] >> 32) as u32];
            if let Some(wanted) = wanted[lane] {
                assert_eq!(got, wanted, "{instruction} mask {mask:#x}, warp {number}, lane {lane}");
            }
        }
    }
}

#[test]
fn shuffles_stay_in_their_segments() {
    for mode in ["up", "down", "bfly", "idx"] {
        check(&format!("shfl.sync.{mode}.b32 %r15|%p2, %r11, %r12, %r13, %r14;"), |mask, lanes| {
            std::array::from_fn(|lane| {
                // [PTX ISA, shfl.sync, "Semantics"]
                let (b, c) = (lanes[lane].b as i32 & 31, lanes[lane].c as i32);
                let (clamp, segment, lane) = (c & 31, c >> 8 & 31, lane as i32);
                let (last, first) = (lane & segment | clamp & !segment, lane & segment);
                let (source, is_inside) = match mode {
                    "up" => (lane - b, lane - b >= last),
                    "down" => (lane + b, lane + b <= last),
                    "bfly" => (lane ^ b, lane ^ b <= last),
                    _ => (first | b & !segment, (first | b & !segment) <= last),
                };
                let source = if is_inside { source } else { lane } as usize;
                let is_given = mask >> source & 1 != 0;
                is_given.then(|| [lanes[source].value as u32, is_inside.into()])
            })
        });
    }
}

#[test]
fn votes_count_the_lanes_of_their_mask() {
    for (mode, is_negated) in
        ["all", "any", "uni", "ballot"].into_iter().flat_map(|mode| [(mode, false), (mode, true)])
    {
        let sign = if is_negated { "!" } else { "" };
        let model = |mask: u32, lanes: &[Sources; 32]| {
            let is_set = |lane: &u32| (lanes[*lane as usize].value & 1 != 0) != is_negated;
            let voted = (0..32).filter(is_set).fold(0_u32, |all, lane| all | 1 << lane) & mask;
            let result = match mode {
                "all" => [0, (voted == mask).into()],
                "any" => [0, (voted != 0).into()],
                "uni" => [0, (voted == 0 || voted == mask).into()],
                _ => [voted, 0],
            };
            [Some(result); 32]
        };
        let (kind, to) = if mode == "ballot" { ("b32", "%r15") } else { ("pred", "%p2") };
        check(&format!("vote.sync.{mode}.{kind} {to}, {sign}%p3, %r14;"), model);
        check(&format!("vote.{mode}.{kind} {to}, {sign}%p3;"), model);
    }
}

#[test]
fn lanes_of_equal_values_find_each_other() {
    for (bits, source) in [(32, "%r11"), (64, "%rd10")] {
        let value = |of: &Sources| of.value & (u64::MAX >> (64 - bits));
        let equals = |mask: u32, lanes: &[Sources; 32], lane: usize| {
            let is_equal = |other: &usize| value(&lanes[*other]) == value(&lanes[lane]);
            (0..32).filter(is_equal).fold(0_u32, |all, other| all | 1 << other) & mask
        };
        check(&format!("match.any.sync.b{bits} %r15, {source}, %r14;"), |mask, lanes| {
            std::array::from_fn(|lane| Some([equals(mask, lanes, lane), 0]))
        });
        check(&format!("match.all.sync.b{bits} %r15|%p2, {source}, %r14;"), |mask, lanes| {
            let is_same = equals(mask, lanes, mask.trailing_zeros() as usize) == mask;
            [Some([if is_same { mask } else { 0 }, is_same.into()]); 32]
        });
    }
}

#[test]
fn reductions_are_those_of_the_mask() {
    type Combine = fn(u32, u32) -> u32;
    let integers: [(&str, Combine); 9] = [
        ("add.u32", |a, b| a.wrapping_add(b)),
        ("add.s32", |a, b| a.wrapping_add(b)),
        ("min.u32", |a, b| a.min(b)),
        ("max.u32", |a, b| a.max(b)),
        ("min.s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max.s32", |a, b| (a as i32).max(b as i32) as u32),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
    ];
    for (name, combine) in integers {
        check(&format!("redux.sync.{name} %r15, %r11, %r14;"), |mask, lanes| {
            let members = (0..32).filter(|lane| mask >> lane & 1 != 0);
            let result = members.map(|lane| lanes[lane].value as u32).reduce(combine);
            [result.map(|result| [result, 0]); 32]
        });
    }
}

#[test]
fn one_lane_is_elected_and_the_active_ones_are_known() {
    check("elect.sync %r15|%p2, %r14;", |mask, _| {
        let leader = mask.trailing_zeros();
        std::array::from_fn(|lane| Some([leader, u32::from(lane as u32 == leader)]))
    });
    check("activemask.b32 %r15;", |mask, _| [Some([mask, 0]); 32]);
}

#[test]
fn reductions_of_f32_know_nan() {
    for name in ["min", "max", "min.abs", "max.NaN", "min.abs.NaN", "max.abs"] {
        check(&format!("redux.sync.{name}.f32 %r15, %r11, %r14;"), |mask, lanes| {
            let members = (0..32).filter(|lane| mask >> lane & 1 != 0);
            let value = |lane: usize| {
                let value = f32::from_bits(lanes[lane].value as u32);
                if name.contains("abs") { value.abs() } else { value }
            };
            let (nans, numbers): (Vec<f32>, Vec<f32>) =
                members.map(value).partition(|value| value.is_nan());
            // -0 is less than +0.
            let numbers = numbers.into_iter();
            let extreme = match name.starts_with("min") {
                true => numbers.min_by(f32::total_cmp),
                false => numbers.max_by(f32::total_cmp),
            };
            let is_nan = name.contains("NaN") && !nans.is_empty();
            let result = extreme.filter(|_| !is_nan).map_or(0x7fff_ffff, f32::to_bits);
            [Some([result, 0]); 32]
        });
    }
}

#[test]
fn lanes_that_have_ended_take_no_part() {
    // Lanes 0 to 4 and 30 to 31 are gone when the others name all 32.
    let members = 0x3fff_ffe0;
    let cases: [(&str, &dyn Fn(u32) -> u32); 6] = [
        ("match.all.sync.b32 %r2|%p3, %r1, 0xffffffff;", &|_| members),
        ("match.any.sync.b32 %r2, %r1, 0xffffffff;", &|_| members),
        ("vote.sync.ballot.b32 %r2, %p2, 0xffffffff;", &|_| members),
        ("redux.sync.add.u32 %r2, %r1, 0xffffffff;", &|_| 25 * 7),
        ("elect.sync %r2|%p3, 0xffffffff;", &|_| 5),
        ("elect.sync _|%p3, 0xffffffff; selp.u32 %r2, 1, 0, %p3;", &|lane| (lane == 5).into()),
    ];
    for (instruction, wanted) in cases {
        let out = super::run(
            &format!(
                "setp.lt.u32 %p1, %r0, 5; setp.gt.u32 %p2, %r0, 29; or.pred %p1, %p1, %p2; @%p1 exit;
                not.pred %p2, %p2; mov.u32 %r1, 7; {instruction} st.global.u32 [%rd2], %r2;"
            ),
            32,
        );
        for (lane, got) in (0..).zip(out) {
            let is_there = members >> lane & 1 != 0;
            assert_eq!(got, if is_there { wanted(lane) } else { 0 }, "{instruction} lane {lane}");
        }
    }
}

#[test]
fn groups_of_lanes_that_arrive_together_name_masks_of_their_own() {
    // As after `__match_any_sync`: the lanes of a residue modulo 3 are a group each.
    let group = |lane: u32| (0..32).filter(move |other| other % 3 == lane % 3);
    let mask = |lane: u32| group(lane).fold(0_u32, |all, other| all | 1 << other);
    let cases: [(&str, &dyn Fn(u32) -> u32); 5] = [
        ("redux.sync.add.u32 %r3, %r0, %r2;", &|lane| group(lane).sum()),
        ("vote.sync.ballot.b32 %r3, %p1, %r2;", &|lane| mask(lane) & 0xffff_0000),
        ("match.all.sync.b32 %r3|%p2, %r1, %r2;", &mask),
        ("elect.sync %r3|%p2, %r2;", &|lane| lane % 3),
        // Halves of the groups, apart.
        (
            "@%p1 bra late; and.b32 %r2, %r2, 0xffff; redux.sync.max.u32 %r3, %r0, %r2; bra end;
            late: and.b32 %r2, %r2, 0xffff0000; redux.sync.max.u32 %r3, %r0, %r2; end:",
            &|lane| {
                let members = group(lane).filter(|other| (*other < 16) == (lane < 16));
                members.max().unwrap_or(0)
            },
        ),
    ];
    for (instruction, wanted) in cases {
        let out = super::run(
            &format!(
                "rem.u32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, 0xffffffff; setp.ge.u32 %p1, %r0, 16;
                {instruction} st.global.u32 [%rd2], %r3;"
            ),
            32,
        );
        assert_eq!(out, (0..32).map(wanted).collect::<Vec<_>>(), "{instruction}");
    }
}
