//! The page that `replay --html` writes: its structure, and how a browser shows it.
//!
//! The browser is `$CHROMIUM`, or `chromium`; without one, these tests report that they are skipped.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use warpload::lane::LaneMask;
use warpload::trace::{
    Addresses, BinaryTrace, Data, HeatMap, Kernel, NewRecord, Operation, ReplayOptions, Shard,
    TraceWriter,
};

const BTREE: &[&str] = &["traces/btree-v5-kernel-1.traceg"];
const FAULTY: &[&str] = &["tests/data/report/faulty.g", "--image", "tests/data/report/faulty.json"];

fn replay(arguments: &[&str], page: &Path) -> Command {
    let mut command = common::warpload();
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
        } else if !(tag.starts_with('!') || tag.ends_with('/') || name == "meta") {
            open.push(name);
            if name == "script" || name == "style" {
                rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
            }
        }
    }
    assert!(open.is_empty(), "still open: {open:?}");
}

fn assert_self_contained(html: &str) {
    for reference in
        ["http://", "https://", "url(", "@import", " src=\"", " href=", "<link", "<img"]
    {
        assert!(!html.contains(reference), "{reference}");
    }
    assert_eq!(html.matches("<script").count(), 1);
}

/// Returns the values by which the table of program counters is sorted in the column `key`.
fn column(html: &str, key: &str) -> Vec<f64> {
    let table = &html[html.find("id=\"program-counters\"").unwrap()..];
    let table = &table[..table.find("</table>").unwrap()];
    let headings: Vec<&str> = table
        .split("<th ")
        .skip(1)
        .map(|th| th.split("data-key=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    let column = headings.iter().position(|heading| *heading == key).unwrap();
    let value = |row: &str| -> f64 {
        let cell = row.split("<td").nth(column + 1).unwrap();
        let (tag, text) = cell.split_once('>').unwrap();
        let value = tag.split("data-v=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        value.unwrap_or_else(|| text.split('<').next().unwrap()).parse().unwrap()
    };
    let body = table.split("<tbody>").nth(1).unwrap();
    body.split("<tr>").skip(1).map(value).collect()
}

#[test]
fn a_real_trace() {
    let html = page(BTREE);
    assert_balanced(&html);
    assert_self_contained(&html);
    assert!(html.len() < 300_000, "{}", html.len());
    for part in ["10,408", "18 %", "id=\"sectors\"", "id=\"heat\"", "0x7f1269c00000", "LDG.E"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("id=\"faults\""));
    assert_eq!(column(&html, "loads").len(), 142);
    assert!(column(&html, "waste").is_sorted_by(|one, next| one >= next));
    assert_eq!(column(&html, "loads").iter().sum::<f64>(), 10408.0);
    // Sectors of LDL are not counted: a dash, which sorts below zero; a zero would look measured.
    let rows = html.split("<tr>").filter(|row| row.contains("<td><code>LDL</code></td>"));
    let dashes = |row: &str| row.matches("data-v=\"-1\">-</td>").count();
    assert_eq!(rows.map(dashes).collect::<Vec<_>>(), [5; 9]);
    for key in ["mean", "ideal", "min", "max", "waste"] {
        let dashes = column(&html, key).iter().filter(|value| **value < 0.0).count();
        assert_eq!(dashes, 9, "{key}");
    }
}

/// The page names what is not replayed.
#[test]
fn what_is_not_replayed_is_named() {
    let html = page(&["tests/independent/kernelslist.g"]);
    assert!(html.contains("<dt>Not replayed</dt>"));
    for chip in ["<code>LDSM</code> 1<", "<code>LDGSTS</code> 1<"] {
        assert!(html.contains(chip), "{chip}");
    }
}

#[test]
fn faults_and_names_that_are_markup() {
    let html = page(FAULTY);
    assert_balanced(&html);
    assert_self_contained(&html);
    assert!(html.contains("&lt;script&gt;document.title=&#39;owned&#39;"));
    assert!(html.contains("gather&lt;int&gt;(T*) &amp; &quot;friends&quot;"));
    // One drawing for each program counter with faults, 32 lanes each.
    assert_eq!(html.matches("class=\"faulty\"").count(), 5);
    assert_eq!(html.matches("<title>lane ").count(), 5 * 32);
    assert!(html.contains("outside allocation: lanes 16–31"));
    assert!(html.contains("lane 29: outside_allocation, misaligned_address at 0x30000001"));
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
    let mut loads = 0.0;
    for shard in ["0/3", "1/3", "2/3"] {
        let html = page(&[BTREE, &["--shard", shard]].concat());
        assert_balanced(&html);
        assert!(html.contains(&format!("shard {} of 3", &shard[..1])));
        let some = column(&html, "loads").iter().sum::<f64>();
        assert!(some > 0.0);
        loads += some;
    }
    assert_eq!(loads, 10408.0);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = replay(BTREE, &folder.path().join("nowhere/page.html"));
    let ran = common::Ran::from(command.output().unwrap());
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert!(ran.stderr.contains("cannot be written"));
}

/// Writes a trace with many kernels, program counters and addresses, and with instruction words.
fn scattered(path: &Path, bytes: u64) {
    let mut writer = TraceWriter::new(File::create(path).unwrap(), "a test".to_owned()).unwrap();
    let plain = Operation::of_opcode("LD.U.128");
    let operation =
        writer.operation(&Operation { word: Some(0x84e0_0000_0007_0104), ..plain }).unwrap();
    let mut state = 1u64;
    for kernel in 0..9 {
        let name = format!("kernel_{kernel}_{}", "x".repeat(1000));
        writer.kernel(Kernel { name: name.into(), ..Kernel::default() }).unwrap();
        for load in 0..1200u32 {
            let addresses: Vec<u64> = (0..32)
                .map(|_| {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    0x1_0000_0000 + ((state >> 34) % bytes & !15)
                })
                .collect();
            let (pc, addresses) = (8 * (load % 200), Addresses::List(&addresses));
            writer.record(&NewRecord::new(pc, LaneMask::ALL, operation, addresses)).unwrap();
        }
    }
    writer.finish().unwrap();
}

/// Counts the sectors of each load where they belong in a map, one by one.
fn one_by_one(trace: &BinaryTrace, map: &HeatMap) -> Vec<u64> {
    let mut sectors = vec![0; map.sectors.len()];
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.memory_records as usize {
            let load = block.record(i).unwrap();
            let record = raw.first_record + u64::from(load.index);
            if !map.records.contains(&record) {
                continue;
            }
            let count = map.records.end - map.records.start;
            let column = (record - map.records.start) as usize * map.columns / count as usize;
            let touched: BTreeSet<u64> = load.addresses().to_array().map(|at| at / 32).into();
            for sector in touched {
                let row = map.rows.partition_point(|row| row.first <= sector * 32) - 1;
                sectors[row * map.columns + column] += 1;
            }
        }
    }
    sectors
}

#[test]
fn a_heat_map_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scattered.wlt");
    // With fewer pages than are counted apart, and with more.
    for (bytes, is_exact) in [(1 << 12, true), (1 << 20, true), (1 << 30, false)] {
        scattered(&path, bytes);
        let trace = BinaryTrace::open(&path).unwrap();
        for shard in [None, Shard::new(1, 4)] {
            let options = ReplayOptions::new(Data::Absent).shard(shard).survey(true);
            let replayed = warpload::trace::replay(&trace, &options).unwrap();
            let (summary, survey) = (replayed.summary(), replayed.survey().unwrap());
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let again = pool.install(|| warpload::trace::replay(&trace, &options)).unwrap();
                assert!(again.survey().unwrap() == survey, "{threads} threads");
            }
            assert_eq!(survey.whole.sectors.iter().sum::<u64>(), summary.counts.sectors);
            for (kernel, map) in &survey.kernels {
                let counted = summary.kernels[*kernel].counts.sectors;
                assert_eq!(map.sectors.iter().sum::<u64>(), counted, "kernel {kernel}");
                assert_eq!(map.sectors, one_by_one(&trace, map), "kernel {kernel}");
            }
            if is_exact {
                assert!(survey.whole.sectors == one_by_one(&trace, &survey.whole));
            }
            assert_eq!(survey.whole.is_exact, is_exact || shard.is_some());
        }
    }
}

#[test]
fn the_page_stays_small_and_says_what_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("scattered.wlt");
    scattered(&trace, 1 << 30);
    let html = page(&[trace.to_str().unwrap()]);
    assert_balanced(&html);
    assert!(html.len() < 1_000_000, "{}", html.len());
    assert!(html.contains("Of 1,800 program counters, the 300 that waste most sectors."));
    assert!(html.contains("Of 9 launches with loads, the 6 that touch most sectors"));
    assert!(html.contains("LD.U.128 R4, [R1], P1"), "the SASS of the words");
}

/// Returns the browser, if there is one.
fn chromium() -> Option<PathBuf> {
    let found = std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join("chromium"))
            .find(|file| file.is_file())
    });
    if found.is_none() {
        eprintln!("skipped: no chromium; CHROMIUM=/path/to/chromium names one");
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

fn written(arguments: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    common::succeeded(&mut replay(arguments, &path));
    (folder, path)
}

#[test]
fn a_browser_sorts_the_table() {
    let Some(chromium) = chromium() else { return };
    let (_folder, page) = written(BTREE);
    let dom = |fragment| browse(&chromium, &page, fragment, "--dump-dom");
    let plain = dom("");
    assert_eq!(column(&plain, "loads").len(), 142);
    assert!(plain.contains("<button type=\"button\">loads</button>"), "the script did not run");
    assert!(!column(&plain, "pc").is_sorted());
    assert!(column(&dom("#sort=pc"), "pc").is_sorted());
    let by_loads = dom("#sort=loads");
    assert!(column(&by_loads, "loads").is_sorted_by(|one, next| one >= next));
    assert!(column(&dom("#sort=loads:up"), "loads").is_sorted());
    assert!(by_loads.contains("data-key=\"loads\" class=\"n\" aria-sort=\"descending\""));
}

#[test]
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
