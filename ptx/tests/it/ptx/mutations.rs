//! Modules with a byte removed, doubled or changed are read and judged without a panic, and every error has a place in
//! the text.

use warpload::machine::Machine;
use warpload_ptx::run::Launch;
use warpload_ptx::syntax::{LineIndex, Span};
use warpload_ptx::{check, lower, read};

/// The number of mutated modules. `fuzz/` tries more.
const MUTATIONS: u64 = 5_000;

const MODULES: [&str; 3] = [
    include_str!("../../ptx/mutations/declarations.ptx"),
    include_str!("../../ptx/mutations/loads.ptx"),
    include_str!("../../ptx/mutations/tensor.ptx"),
];

/// Characters that affect reading; `\u{e9}` has two bytes.
const CHARACTERS: &[char] = &[
    ';', '{', '}', '[', ']', '(', ')', ',', ':', '.', '-', '+', '@', '!', '<', '>', '=', '/', '*',
    '"', '%', '_', '$', '#', '`', '\\', '|', '?', '0', '1', '9', 'x', 'u', 'a', ' ', '\n', '\t',
    '\0', '\u{7f}', '\u{e9}',
];

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Changes one place. The modules are ASCII, so every byte is a character.
fn mutate(source: &str, state: &mut u64) -> String {
    let at = random(state) as usize % source.len();
    let (before, after) = source.split_at(at);
    let (byte, rest) = after.split_at(1);
    let other = CHARACTERS[random(state) as usize % CHARACTERS.len()];
    match random(state) % 5 {
        0 => format!("{before}{rest}"),
        1 => format!("{before}{byte}{byte}{rest}"),
        2 => format!("{before}{other}{byte}{rest}"),
        // Cuts the text off.
        3 if random(state).is_multiple_of(8) => before.to_owned(),
        _ => format!("{before}{other}{rest}"),
    }
}

fn assert_inside(span: Span, source: &str) {
    assert!(span.start <= span.end && span.end as usize <= source.len(), "{span:?}\n{source}");
    assert!(source.is_char_boundary(span.start as usize), "{span:?}\n{source}");
    assert!(source.is_char_boundary(span.end as usize), "{span:?}\n{source}");
}

/// Counts the results of mutated modules: unreadable, illegal, legal.
fn run(seed: u64, count: u64) -> [u64; 3] {
    let mut state = seed;
    let mut counts = [0; 3];
    for _ in 0..count {
        let base = MODULES[random(&mut state) as usize % MODULES.len()];
        let mut source = mutate(base, &mut state);
        if source.is_ascii() && !source.is_empty() && random(&mut state).is_multiple_of(2) {
            source = mutate(&source, &mut state);
        }
        let module = match read(&source) {
            Ok(module) => module,
            Err(error) => {
                assert_inside(error.span, &source);
                assert_eq!(LineIndex::new(&source).position(error.span.start), error.position);
                counts[0] += 1;
                continue;
            }
        };
        for declaration in module.declarations() {
            let value = module.initial_value(declaration);
            if let Some(Err(error)) = value {
                assert_inside(error.span, &source);
            }
            assert!(declaration.alignment() > 0);
        }
        let mut is_legal = true;
        for verdict in check(&module) {
            is_legal &= verdict.is_legal();
            verdict.violations.iter().for_each(|v| assert_inside(v.span, &source));
        }
        counts[if is_legal { 2 } else { 1 }] += 1;
    }
    counts
}

#[test]
fn broken_modules_are_read_to_a_place_in_them() {
    for source in MODULES {
        assert!(source.is_ascii());
        let module = read(source).expect("a module that can be read");
        assert!(check(&module).all(|verdict| verdict.is_legal()));
    }
    let halves: Vec<_> =
        (0..2).map(|half| std::thread::spawn(move || run(half, MUTATIONS / 2))).collect();
    let mut total = [0; 3];
    for half in halves {
        let counts = half.join().expect("no panic");
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [unreadable, illegal, legal] = total;
    println!("{unreadable} unreadable, {illegal} illegal, {legal} legal");
    assert_eq!(total.iter().sum::<u64>(), MUTATIONS);
    assert!(total.iter().all(|count| *count > MUTATIONS / 50), "{total:?}");
}

/// The declarations below that a machine can have.
const PLACED: [&str; 3] = [
    ".reg .b32 %r<4294967295>;",
    ".global .u8 x[0][0x7fffffffffffffff] = {{},{},{3}};",
    ".local .align 4294967295 .b8 l[1];",
];

/// A number in the text must not cost memory or time in proportion to it.
#[test]
fn numbers_in_the_text_cost_nothing() {
    let header = ".version 8.8\n.target sm_90\n.address_size 64\n";
    for body in [
        PLACED[0],
        PLACED[1],
        PLACED[2],
        ".global .u8 x[0x7fffffff][0x7fffffff] = {{},{},{3}};",
        ".global .u8 x[2][0x3ffffff] = {{},{3}};",
        ".shared .b8 s[4294967295][4294967295][4294967295];",
        ".shared .b8 s[18446744073709551615][18446744073709551615];",
        ".local .v4 .b64 l[9223372036854775807];",
    ] {
        let source = format!("{header}.entry k() {{ {body} ret; }}");
        let module = read(&source).expect(body);
        assert_eq!(module.declarations().len(), 1, "{body}");
        assert_eq!(lower(&module).count(), 0, "{body}");
        let is_placed = Launch::default().prepare(&module, Machine::default()).is_ok();
        assert_eq!(is_placed, PLACED.contains(&body), "{body}");
    }
    let deep = format!("{header}.entry k() {}", "{".repeat(100_000));
    let error = read(&deep).expect_err("too deep").to_string();
    assert!(error.contains("nested braces"), "{error}");
    let vector = format!(
        "{header}.entry k() {{ .reg .b32 a; ld.v4.b32 {{{}a}}, [a]; }}",
        "a,".repeat(100_000)
    );
    let module = read(&vector).expect("readable");
    assert_eq!(check(&module).filter(|verdict| verdict.is_legal()).count(), 0);
    let qualifiers = format!("{header}.entry k() {{ ld{} a, [a]; }}", ".weak".repeat(100_000));
    let module = read(&qualifiers).expect("readable");
    assert_eq!(check(&module).filter(|verdict| verdict.is_legal()).count(), 0);
}
