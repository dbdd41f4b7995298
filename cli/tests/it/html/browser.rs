//! How a browser shows the page.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::html::{BTREE, FAULTY, column, made, written};

/// Returns the browser, if there is one.
fn chromium() -> Option<PathBuf> {
    let found = std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join("chromium"))
            .find(|file| file.is_file())
    });
    if found.is_none() {
        crate::common::missing("no chromium; CHROMIUM=/path/to/chromium names one");
    }
    found
}

/// Runs the browser on a page and returns what it prints.
fn browse(chromium: &Path, page: &Path, fragment: &str, what: &str) -> String {
    let profile = tempfile::tempdir().unwrap();
    let printed = profile.path().join("printed");
    let mut child = Command::new(chromium)
        .args("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(' '))
        .args("--disable-background-networking --disable-component-update".split(' '))
        .args(["--disable-sync", "--hide-scrollbars", "--window-size=1240,1700"])
        .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
        .arg(what)
        .arg(format!("file://{}{fragment}", page.display()))
        .stdout(File::create(&printed).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(is_done(&mut child), "the browser does not end");
    fs::read_to_string(printed).unwrap()
}

fn is_done(child: &mut Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(120) {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_browser_sorts_the_table() {
    let Some(chromium) = chromium() else { return };
    let (_folder, page) = written(BTREE);
    let dom = |fragment| browse(&chromium, &page, fragment, "--dump-dom");
    let plain = dom("");
    assert!(plain.contains("<button type=\"button\">accesses</button>"), "the script did not run");
    assert!(column(&plain, "instructions", "pc").is_sorted());
    let by_accesses = dom("#sort=accesses");
    assert!(column(&by_accesses, "instructions", "accesses").is_sorted_by(|one, next| one >= next));
    assert!(column(&dom("#sort=accesses:up"), "instructions", "accesses").is_sorted());
    assert!(has_tag(&by_accesses, &["data-key=\"accesses\"", "aria-sort=\"descending\""]));
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_browser_shows_names_as_names() {
    let Some(chromium) = chromium() else { return };
    let (folder, page) = written(FAULTY);
    let dom = browse(&chromium, &page, "", "--dump-dom");
    assert!(dom.contains("<title>faulty.g – warpload replay</title>"));
    assert!(!dom.contains("<img"));
    let picture = folder.path().join("page.png");
    browse(&chromium, &page, "", &format!("--screenshot={}", picture.display()));
    let picture = fs::read(picture).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    // An empty page is a tenth of that.
    assert!(picture.len() > 50_000, "{}", picture.len());
}

/// Returns the text of a tag that has all these attributes.
fn has_tag(dom: &str, attributes: &[&str]) -> bool {
    dom.split('<').any(|tag| attributes.iter().all(|attribute| tag.contains(attribute)))
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_browser_filters() {
    let Some(chromium) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("transposes.wlt");
    made::transposes(&trace, 30, 2);
    let (_folder, page) = written(&[trace.to_str().unwrap()]);
    let dom = |fragment| browse(&chromium, &page, fragment, "--dump-dom");
    assert!(!has_tag(&dom(""), &["id=\"filters\"", "hidden"]));
    let filtered = dom("#kernel=transpose&kind=load&space=shared");
    // Two of nine accesses of each kernel.
    assert!(filtered.contains("60 of 270 rows match"));
    let by_number = dom("#kernel=2");
    assert!(by_number.contains("9 of 270 rows match"));
    assert!(has_tag(&by_number, &["tr id=\"row-", "data-k=\"20\"", "hidden"]));
    assert!(!has_tag(&by_number, &["tr id=\"row-", "data-k=\"2\"", "hidden"]));
}
