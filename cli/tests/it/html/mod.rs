//! The page that `replay --html` writes: its structure, and how a browser shows it.
//!
//! `cargo xtask nightly` runs the tests with a browser, which is `$CHROMIUM`, or `chromium`; without one, they report
//! that they are skipped.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod browser;
mod made;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const BTREE: &[&str] = &["traces/btree-v5-kernel-1.traceg"];
const FAULTY: &[&str] = &["tests/data/report/faulty.g", "--image", "tests/data/report/faulty.json"];

fn replay(arguments: &[&str], page: &Path) -> Command {
    let mut command = crate::common::warpload();
    command.arg("replay").args(arguments).arg("--html").arg(page);
    command
}

fn page(arguments: &[&str]) -> String {
    let (folder, path) = written(arguments);
    // No other file is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    fs::read_to_string(path).unwrap()
}

/// Asserts that all elements are closed in order.
fn assert_balanced(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap_or_else(|| panic!("a tag without end: {rest:.60}"));
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<'), "a tag within a tag: {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes: {tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !(tag.starts_with('!')
            || tag.ends_with('/')
            || ["meta", "input", "br"].contains(&name))
        {
            open.push(name);
            if name == "script" || name == "style" {
                rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
            }
        }
    }
    assert!(open.is_empty(), "still open: {open:?}");
}

fn assert_self_contained(html: &str) {
    for reference in ["http://", "https://", "url(", "@import", " src=\"", "<link", "<img"] {
        assert!(!html.contains(reference), "{reference}");
    }
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches(" href=").count(), html.matches(" href=\"#").count());
}

/// The page has one row for all launches of a kernel, or a row for each with `--by-launch`. Launches of several summaries
/// follow each other.
#[test]
fn launches_and_summaries_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let trace = at("transposes.wlt");
    made::transposes(Path::new(&trace), 3, 4);
    let one = at("one.json");
    let replayed = ["replay", &trace, "--format", "json", "-o", &one];
    crate::common::succeeded(crate::common::warpload().args(replayed));
    let merged = |more: &[&str]| {
        let page = at("page.html");
        let merge = ["merge", &one, &one, "--html", &page];
        crate::common::succeeded(crate::common::warpload().args(merge).args(more));
        fs::read_to_string(page).unwrap()
    };
    let rows = |html: &str| html.matches("<tr id=\"row-").count();
    let (whole, each) = (merged(&[]), merged(&["--by-launch"]));
    assert_balanced(&whole);
    assert_balanced(&each);
    assert_eq!((rows(&whole), rows(&each)), (3 * 9, 6 * 9));
    assert_eq!(accesses(&whole), accesses(&each));
}

/// Returns the values by which a table is sorted in the column `key`.
fn column(html: &str, table: &str, key: &str) -> Vec<f64> {
    let table = &html[html.find(&format!("id=\"{table}\"")).unwrap()..];
    let table = &table[..table.find("</table>").unwrap()];
    let (head, body) = table.split_once("<tbody>").unwrap();
    let headings: Vec<&str> = head
        .split("<th ")
        .skip(1)
        .map(|th| th.split("data-key=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    let column = headings.iter().position(|heading| *heading == key).unwrap();
    let value = |row: &str| -> f64 {
        let row = row.replace("<th ", "<td ").replace("<code>0x", "<code>");
        let cell = row.split("<td").nth(column + 1).unwrap();
        let (tag, text) = cell.split_once('>').unwrap();
        let value = tag.split("data-v=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        if let Some(digits) = text.strip_prefix("<code>") {
            return u64::from_str_radix(digits.split('<').next().unwrap(), 16).unwrap() as f64;
        }
        value.unwrap_or_else(|| text.split('<').next().unwrap()).parse().unwrap()
    };
    body.split("<tr").skip(1).map(value).collect()
}

/// The accesses of the btree's instructions.
fn accesses(html: &str) -> f64 {
    column(html, "instructions", "accesses").iter().sum()
}

#[test]
fn a_real_trace() {
    let html = page(BTREE);
    assert_balanced(&html);
    assert_self_contained(&html);
    assert!(html.len() < 300_000, "{}", html.len());
    for part in ["10,408 loads", "82 % of the load sectors", "LDG.E", "Footprint"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("id=\"faults\""));
    let column = |key| column(&html, "instructions", key);
    assert_eq!(column("accesses").len(), html.matches("<tr id=\"row-").count());
    // In program order.
    assert!(column("pc").is_sorted());
}

/// The page says how many instructions a replay knows but by their names.
#[test]
fn what_is_not_replayed_is_named() {
    let html = page(&["tests/independent/kernelslist.g"]);
    assert!(html.contains("1 copy"), "the copy is an access");
}

#[test]
fn faults_and_names_that_are_markup() {
    let html = page(FAULTY);
    assert_balanced(&html);
    assert_self_contained(&html);
    assert!(html.contains("&lt;script&gt;document.title=&#39;owned&#39;"));
    assert!(html.contains("gather&lt;int&gt;(T*) &amp; &quot;friends&quot;"));
    // The first fault of each instruction that has some.
    assert_eq!(html.matches("class=\"found faulty\"").count(), 3);
    for shown in ["lanes of loads fault", "outside allocation"] {
        assert!(html.contains(shown), "{shown}");
    }
}

#[test]
fn the_page_does_not_depend_on_the_threads() {
    for trace in [FAULTY, BTREE] {
        let one = page(&[trace, &["--threads", "1"]].concat());
        assert!(one == page(&[trace, &["--threads", "2"]].concat()), "{trace:?}");
    }
}

#[test]
fn a_shard_is_shown_as_one() {
    let mut all = 0.0;
    for shard in ["0/3", "1/3", "2/3"] {
        let html = page(&[BTREE, &["--shard", shard]].concat());
        assert_balanced(&html);
        assert!(html.contains(&format!("shard {} of 3", &shard[..1])));
        let some = accesses(&html);
        assert!(some > 0.0);
        all += some;
    }
    assert_eq!(all, accesses(&page(BTREE)));
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = replay(BTREE, &folder.path().join("nowhere/page.html"));
    let ran = crate::common::Ran::from(command.output().unwrap());
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert!(ran.stderr.contains("cannot be written"));
}

#[test]
fn the_page_stays_small_and_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("scattered.wlt");
    made::scattered(&trace, 1 << 30);
    let html = page(&[trace.to_str().unwrap()]);
    assert_balanced(&html);
    assert!(html.len() < 1_500_000, "{}", html.len());
    let text = "Of 1,800 instructions, the 300 that cost most beyond the ideal, and the 111 worst ones of each kernel.";
    assert!(html.contains(text));
    assert!(html.contains("LD.U.128 R4, [R1], P1"), "the SASS of the words");
}

fn written(arguments: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    crate::common::succeeded(&mut replay(arguments, &path));
    (folder, path)
}
