//! The page that `replay --html` writes: its structure, and how a browser shows it.
//!
//! `cargo xtask nightly` runs the tests with a browser, which is `$CHROMIUM`, or `chromium`; without one, they report
//! that they are skipped.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod answers;
mod banks;
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
        } else if !(tag.starts_with('!') || tag.ends_with('/') || ["meta", "input"].contains(&name))
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

/// Returns the loads of the btree's program counters.
fn loads(html: &str) -> f64 {
    let all = |table| column(html, table, "loads").iter().sum::<f64>();
    all("program-counters") + all("local-loads")
}

#[test]
fn a_real_trace() {
    let html = page(BTREE);
    assert_balanced(&html);
    assert_self_contained(&html);
    assert!(html.len() < 300_000, "{}", html.len());
    for part in ["10,408", "18 %", "id=\"global\"", "LDG.E"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("id=\"faults\""));
    let global = |key| column(&html, "program-counters", key);
    assert_eq!((global("loads").len(), global("loads").iter().sum::<f64>()), (133, 8480.0));
    assert!(global("waste").is_sorted_by(|one, next| one >= next));
    let local = |key| column(&html, "local-loads", key);
    assert_eq!((local("loads").len(), local("loads").iter().sum::<f64>()), (9, 1928.0));
    assert!(html.contains("1,928 loads touched 6,632 sectors, and 4,361 would do"));
    assert_eq!(local("all").iter().sum::<f64>(), 6632.0);
}

/// The page names what is not replayed.
#[test]
fn what_is_not_replayed_is_named() {
    let html = page(&["tests/independent/kernelslist.g"]);
    assert!(html.contains("<dt>Not replayed</dt>"));
    assert!(html.contains("<code>LDGSTS</code> 1<"));
}

#[test]
fn faults_and_names_that_are_markup() {
    let html = page(FAULTY);
    assert_balanced(&html);
    assert_self_contained(&html);
    assert!(html.contains("&lt;script&gt;document.title=&#39;owned&#39;"));
    assert!(html.contains("gather&lt;int&gt;(T*) &amp; &quot;friends&quot;"));
    let faults = |key| column(&html, "faults-by-pc", key);
    assert_eq!(faults("faults"), [128.0, 88.0, 52.0, 36.0, 20.0]);
    assert!(html.contains("outside window 0, outside allocation 20, misaligned 32\">52<"));
    let first = ["first", "lane", "address"].map(|key| faults(key)[1]);
    assert_eq!(first, [2.0, 16.0, f64::from(0x1000_0100)]);
    assert!(html.contains("<code>0x10000100</code> outside allocation"));
    assert!(html.contains("id=\"kernel-0\"") && html.contains("id=\"kernel-1\""));
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
        let some = loads(&html);
        assert!(some > 0.0);
        all += some;
    }
    assert_eq!(all, 10408.0);
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
    let text =
        "Of 1,800 program counters, the 300 that waste most sectors, and the first 111 of each";
    assert!(html.contains(text));
    assert!(html.contains("Of 9 launches with loads, the 6 that touch most sectors"));
    assert!(html.contains("LD.U.128 R4, [R1], P1"), "the SASS of the words");
}

fn written(arguments: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    crate::common::succeeded(&mut replay(arguments, &path));
    (folder, path)
}
