//! The answers of the page: what each says, and that all are there without a script.

use crate::html::{assert_balanced, assert_self_contained, column, made, page};

const ANSWERS: [&str; 5] = ["global", "stores", "shared", "local", "constant"];

fn transposes(kernels: u64, warps: u64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("transposes.wlt");
    made::transposes(&trace, kernels, warps);
    let html = page(&[trace.to_str().unwrap()]);
    assert_balanced(&html);
    assert_self_contained(&html);
    html
}

#[test]
fn each_memory_has_its_answer() {
    let html = transposes(1, 4);
    let global = |key| column(&html, "program-counters", key);
    assert_eq!((global("mean"), global("waste")), (vec![32.0, 4.0], vec![112.0, 0.0]));
    let shared = |key| column(&html, "shared-loads", key);
    // The column of a tile, and pairs side by side.
    assert_eq!((shared("mean"), shared("ideal")), (vec![32.0, 2.0], vec![1.0, 2.0]));
    assert_eq!((shared("max"), shared("conflicts")), (vec![32.0, 2.0], vec![124.0, 0.0]));
    let local = |key| column(&html, "local-loads", key);
    assert_eq!(
        (local("mean"), local("ideal"), local("waste")),
        (vec![32.0], vec![4.0], vec![112.0])
    );
    let constant = |key| column(&html, "constant-loads", key);
    assert_eq!((constant("mean"), constant("repeats")), (vec![32.0], vec![124.0]));
    // STG, RED and STS; a dash, sorted below zero, is what the memory does not have.
    let stores = |key| column(&html, "stores-atomics", key);
    assert_eq!(
        (stores("mean"), stores("wavefronts")),
        (vec![8.0, -1.0, 1.0], vec![-1.0, 1.0, -1.0])
    );
    assert_eq!((stores("ideal"), stores("excess")), (vec![4.0, 1.0, 1.0], vec![16.0, 0.0, 0.0]));
    // Four warps use four banks, each in a quarter of the wavefronts.
    assert_eq!(html.matches("title=\"bank ").count(), 32);
    assert_eq!(html.matches(": 32 words\">25</td>").count(), 4);
    assert_eq!(html.matches(": 0 words\">0</td>").count(), 28);
}

#[test]
fn everything_is_there_without_a_script() {
    let html = transposes(3, 2);
    let (before, _) = html.split_once("<script>").unwrap();
    for answer in ANSWERS {
        assert!(before.contains(&format!("<a href=\"#{answer}\">")), "{answer}");
        assert!(
            before.contains(&format!("<section class=\"panel\" id=\"{answer}\"><h2>")),
            "{answer}"
        );
    }
    // Only the filters, which need it, are hidden.
    assert_eq!(before.matches(" hidden>").count(), 1);
    for landmark in ["<header>", "<main>", "<nav ", "<footer>"] {
        assert_eq!(before.matches(landmark).count(), 1, "{landmark}");
    }
    let headings = before.split("<th").skip(1).filter(|tag| !tag.starts_with("ead>"));
    assert_eq!(headings.filter(|tag| !tag.contains(" scope=")).count(), 0);
    for picture in before.split("<svg").skip(1).filter(|tag| !tag.starts_with(" x=")) {
        let tag = picture.split('>').next().unwrap();
        assert!(tag.contains("aria-label=") || tag.contains("aria-hidden="), "{tag}");
    }
    // No level of headings is left out.
    let levels: Vec<u32> =
        before.split("<h").filter_map(|tag| tag.chars().next()?.to_digit(10)).collect();
    assert!(levels.is_sorted_by(|one, next| *next <= one + 1), "{levels:?}");
}

#[test]
fn a_thousand_kernels_stay_small() {
    let html = transposes(1000, 1);
    assert!(html.len() < 3_000_000, "{}", html.len());
    for kernel in [0, 17, 999] {
        let rows = html.matches(&format!("<tr data-k=\"{kernel}\"")).count();
        assert!(rows >= 6, "kernel {kernel}: {rows} rows");
    }
    let more = transposes(3000, 1);
    assert!(more.contains("Of 3,000 kernels, the 1,000 with most accesses."));
    assert!(more.len() < 3_000_000, "{}", more.len());
}
