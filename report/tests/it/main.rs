//! The page of a replay: what it says first, what it leaves out, and that nothing of a trace is markup.
#![cfg(feature = "traces")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::io::Cursor;

use warpload::lane::LaneMask;
use warpload_replay::{Comparison, ReplayData, ReplayOptions, Summary, replay};
use warpload_report::{ReportPage, comparison_html, comparison_text, html};
use warpload_trace::{
    BinaryTrace, Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter,
};

/// An access of 32 lanes: its program counter, opcode, first address and stride.
type Access = (u32, &'static str, u64, i64);

const COALESCED: Access = (0x10, "LDG.E", 0x7f00_0000_0000, 4);
const SCATTERED: Access = (0x20, "STG.E", 0x7f00_0000_0000, 512);
const CONFLICTS: Access = (0x30, "LDS", 0, 128);

/// Replays kernels with these names, which all have the same accesses.
fn summary(kernels: &[String], accesses: &[Access]) -> Summary {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
    for name in kernels {
        writer.kernel(Kernel { name: (**name).into(), ..Kernel::default() }).unwrap();
        for (pc, opcode, base, stride) in accesses {
            let operation = writer.operation(&MemoryOperation::of_opcode(opcode)).unwrap();
            let addresses = RecordAddresses::Stride { base: *base, stride: *stride };
            writer.record(&NewRecord::new(*pc, LaneMask::ALL, operation, addresses)).unwrap();
        }
    }
    let trace = BinaryTrace::new(writer.finish().unwrap().into_inner().into()).unwrap();
    replay(&trace, &ReplayOptions::new(ReplayData::Absent)).unwrap()
}

fn one(accesses: &[Access]) -> Summary {
    summary(&["k".to_owned()], accesses)
}

/// Returns the page of a summary, whose elements are balanced and whose links lead to one of them.
fn page(summary: &Summary) -> String {
    let html = html(&ReportPage::new(summary));
    let mut open: Vec<&str> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut rest = &*html;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{tag}");
        if let Some(id) = tag.split(" id=\"").nth(1) {
            assert!(ids.insert(id.split('"').next().unwrap()), "twice: {id}");
        }
        let name = tag.split([' ', '/']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !(tag.starts_with('!')
            || tag.ends_with('/')
            || matches!(name, "meta" | "input" | "br"))
        {
            open.push(name);
            if matches!(name, "script" | "style") {
                rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for link in html.split(" href=\"").skip(1) {
        let id = link.strip_prefix('#').unwrap().split('"').next().unwrap();
        assert!(ids.contains(id), "no element has the name {id}");
    }
    html
}

/// Returns the sentences of the verdict, without their elements.
fn verdict(html: &str) -> Vec<String> {
    let verdict = html.split("<section id=\"verdict\">").nth(1).unwrap();
    let verdict = verdict.split("</section>").next().unwrap();
    let text = |sentence: &str| {
        let parts = sentence.split('<').map(|part| part.split_once('>').map_or(part, |of| of.1));
        parts.collect::<String>().trim().to_owned()
    };
    verdict.split("<li").skip(1).map(|of| text(of.split_once('>').unwrap().1)).collect()
}

#[test]
fn a_store_that_wastes_sectors_comes_before_what_costs_less() {
    let html = page(&one(&[COALESCED, SCATTERED, CONFLICTS, CONFLICTS, CONFLICTS]));
    let sentences = verdict(&html);
    assert!(sentences[0].starts_with("97 % of the load wavefronts"), "{sentences:?}");
    assert!(sentences[1].starts_with("88 % of the store sectors are wasted: 0x20 STG.E"));
    assert!(sentences[1].contains("32 sectors, 4 would do: the difference is 78 % of all"));
    assert_eq!(sentences.len(), 2);
    assert!(!html.contains("100 %</strong>"));
    // The table has the order of the program, and marks both.
    let rows: Vec<&str> = html.split("<tr id=\"row-").skip(1).collect();
    let marked: Vec<bool> = rows.iter().map(|row| row.contains("class=\"found\"")).collect();
    assert_eq!(marked, [false, true, true]);
    assert!(rows[2].contains("<svg class=\"banks\"") && !rows[1].contains("<svg class=\"banks\""));
}

#[test]
fn faults_lead() {
    let html = page(&one(&[SCATTERED, (0x8, "LDG.E", 0x7f00_0000_0001, 4)]));
    let sentences = verdict(&html);
    assert!(sentences[0].starts_with("32 lanes of loads fault: 0x8"), "{sentences:?}");
    assert!(sentences[0].contains("first misaligned address at 0x7f0000000001"));
    assert!(html.contains("<section id=\"faults\">"));
    assert!(html.contains("class=\"found faulty\""));
}

#[test]
fn a_page_has_no_section_without_content() {
    let html = page(&one(&[COALESCED]));
    assert!(verdict(&html).is_empty());
    assert!(html.contains("Nothing is wasted</strong>: 4 sectors would do with no fewer"));
    let sections: Vec<&str> =
        html.split("<section id=\"").skip(1).map(|of| of.split('"').next().unwrap()).collect();
    assert_eq!(sections, ["verdict", "rows"]);
    for absent in ["Digest", "Wavefronts<", "id=\"filters\"", "data-key=\"kernel\"", ">source<"] {
        assert!(!html.contains(absent), "{absent}");
    }
    let html = page(&one(&[]));
    assert!(html.contains("No memory access was counted."));
    assert!(!html.contains("<table"));
}

#[test]
fn a_name_is_no_markup() {
    let name = "</code><script>alert(1)</script> & \"friends\"\u{202e}";
    let html = page(&summary(&[name.to_owned(), "other".to_owned()], &[SCATTERED]));
    assert_eq!(html.matches("<script").count(), 1);
    assert!(
        html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;friends&quot;\u{fffd}")
    );
    let summary = one(&[SCATTERED]);
    let comparison = Comparison::new(&summary, &summary).unwrap();
    let html = comparison_html(&comparison, [name, "b"]);
    assert!(!html.contains("<script"));
    assert!(html.contains("No instruction has changed."));
}

#[test]
fn launches_of_a_kernel_are_one_unless_asked() {
    let summary = summary(&["k".to_owned(), "k".to_owned(), "other".to_owned()], &[SCATTERED]);
    let by_kernel = page(&summary);
    assert_eq!(verdict(&by_kernel).len(), 2);
    assert!(verdict(&by_kernel)[0].starts_with("88 % of the store sectors are wasted in k: 0x20"));
    let by_launch = html(&ReportPage::new(&summary).by_launch(true));
    assert_eq!(verdict(&by_launch).len(), 3);
    assert!(by_launch.contains("#1 k") && !by_kernel.contains("#1 k"));
}

#[test]
fn a_long_page_says_what_it_leaves_out() {
    let accesses: Vec<Access> =
        (0..400).map(|pc| (8 * pc, "STG.E", 0x7f00_0000_0000, 512)).collect();
    let kernels: Vec<String> =
        (0..3).map(|kernel| format!("k{kernel}{}", "x".repeat(1000))).collect();
    let html = page(&summary(&kernels, &accesses));
    assert!(html.contains(
        "Of 1,200 instructions, the 300 that cost most beyond the ideal, and the 333 worst ones of each kernel."
    ));
    assert_eq!(html.matches("<tr id=\"row-").count(), 999);
    assert!(html.len() < 1_500_000, "{}", html.len());
    let accesses: Vec<Access> = (0..1100)
        .map(|pc| (8 * pc, "STG.E", 0x7f00_0000_0000, if pc == 1050 { 512 } else { 8 }))
        .collect();
    let html = page(&one(&accesses));
    assert!(html.contains("Of 1,100 instructions, the 1,000 that cost most beyond the ideal.<"));
    assert_eq!(html.matches("<tr id=\"row-").count(), 1000);
    assert!(html.contains("<tr id=\"row-1050\" class=\"found\""));
}

/// An atomic whose lanes share a word has an unknown cost, so nobody knows whether it got better. Repeats of constant
/// loads are a cost.
#[test]
fn a_comparison_does_not_take_the_unknown_for_nothing() {
    let words = (0x10, "ATOMS.ADD", 0, 4);
    let shared_word = (0x10, "ATOMS.ADD", 0, 0);
    let comparison = Comparison::new(&one(&[words]), &one(&[shared_word])).unwrap();
    assert_eq!((comparison.change, comparison.is_known()), (None, false));
    let text = comparison_text(&comparison, 20);
    for line in ["1 -> 0 (not known)\n", "wavefronts and addresses: not known\n", "  not known  "] {
        assert!(text.contains(line), "{text}");
    }
    assert!(comparison_html(&comparison, ["a", "b"]).contains("not known"));
    let (same, each) = ((0x10, "LDC", 0, 0), (0x10, "LDC", 0, 4));
    let comparison = Comparison::new(&one(&[same]), &one(&[each])).unwrap();
    assert_eq!((comparison.change, comparison.changed().count()), (Some(3100.0), 1));
}

#[test]
fn a_comparison_judges_stores_and_rows_that_come_and_go() {
    let coalesced_store = (0x20, "STG.E", 0x7f00_0000_0000, 4);
    let (a, b) = (one(&[coalesced_store, CONFLICTS]), one(&[COALESCED, SCATTERED]));
    let comparison = Comparison::new(&a, &b).unwrap();
    let text = comparison_text(&comparison, 20);
    for line in [
        "store sectors    4 -> 32 (+700.0 %)\n",
        "load wavefronts  32 -> 0 (-100.0 %)\n",
        "\n3 instructions have changed (1 new, 1 gone); all sectors, wavefronts and addresses: +0.0 %\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let html = comparison_html(&comparison, ["a", "b"]);
    for cell in ["+700.0 %", ">new<", ">gone<", "4 → 32", "32 → -", "- → 4"] {
        assert!(html.contains(cell), "{cell}");
    }
    let same = comparison_text(&Comparison::new(&a, &a).unwrap(), 20);
    assert!(same.ends_with("\nno instruction has changed\n"), "{same}");
}
