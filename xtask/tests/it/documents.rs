//! Checks that the links of ARCHITECTURE.md, README.md and the book resolve, including the identifiers after them, and
//! that the tests named in docs/reliability.md exist.

use std::collections::BTreeSet;
use std::path::Path;

/// The links of a document, `[text](path)`, each with the identifier in backticks after it.
fn links(document: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let link = |(at, _)| {
        let (path, after): (&str, &str) = document[at + 2..].split_once(')')?;
        let quoted = after.trim_start_matches([' ', '\n']).strip_prefix('`');
        let identifier = quoted.and_then(|text| text.split('`').next());
        (!path.contains("://")).then_some((path, identifier))
    };
    document.match_indices("](").filter_map(link)
}

/// Whether `word` occurs in `text`, but not as part of a longer identifier.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// The broken links of a document in `folder`: to a missing file, or to a file without the identifier.
fn wrong(folder: &Path, document: &str) -> Vec<String> {
    let leads = |(path, identifier): &(&str, Option<&str>)| {
        let file = folder.join(path.split('#').next().unwrap_or(path));
        identifier.map_or(file.exists(), |word| {
            std::fs::read_to_string(&file).is_ok_and(|text| has_word(&text, word))
        })
    };
    links(document).filter(|link| !leads(link)).map(|link| format!("{link:?}")).collect()
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_links_of_the_architecture_lead_to_what_they_name() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert_eq!(wrong(&root(), &text), [""; 0]);
    let named = links(&text).filter(|(_, identifier)| identifier.is_some()).count();
    assert!(named > 40, "{named} links name an identifier");
    for answer in
        ["An SM:", "A load:", "A trace format:", "A counter:", "A PTX rule:", "A subcommand:"]
    {
        assert!(text.contains(&format!("**{answer}**")), "{answer}");
    }
    let is_clause = |line: &&str| line.starts_with("| ") && line.contains("](src/load/reference/");
    let clauses = text.lines().filter(is_clause);
    assert_eq!(clauses.filter(|line| line.matches("](").count() == 2).count(), 10);
}

#[test]
fn the_links_of_the_readme_and_the_book_lead_to_files() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for page in ["README.md", "SECURITY.md"] {
        assert_eq!(wrong(&root(), &std::fs::read_to_string(root().join(page)).unwrap()), [""; 0]);
    }
    for (folder, up) in [("docs", "../"), ("docs/book", "../../")] {
        let folder = root().join(folder);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension() != Some("md".as_ref()) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(wrong(&folder, &text), [""; 0], "{}", path.display());
            // Links must stay within `docs/`, because the book has no other files.
            let outside = links(&text).find(|(target, _)| target.starts_with(up));
            assert_eq!(outside, None, "{}", path.display());
            // Each page is in the table of contents.
            let name = path.strip_prefix(root().join("docs")).unwrap();
            let link = format!("]({})", name.display()).replace('\\', "/");
            assert!(path.ends_with("SUMMARY.md") || summary.contains(&link), "{link}");
        }
    }
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let text = "see [a](src/main.rs) `Task` and [d](Cargo.toml).\n[f](https://g) `h`, [i](none.rs)\n`k`, \
                [b](src/main.rs) `Tas`";
    let found = wrong(Path::new(env!("CARGO_MANIFEST_DIR")), text);
    assert_eq!(found, [r#"("none.rs", Some("k"))"#, r#"("src/main.rs", Some("Tas"))"#]);
}

/// All Rust sources under a folder, one after the other.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension() == Some("rs".as_ref()) {
            *text += &std::fs::read_to_string(&path).unwrap();
        }
    }
}

#[test]
fn the_promises_of_reliability_have_tests() {
    let root = root();
    let mut text = String::new();
    for folder in [
        "src",
        "tests",
        "binary",
        "cli",
        "encoding",
        "fuzz/src",
        "ptx",
        "replay",
        "report",
        "suite",
        "trace",
        "xtask/tests",
    ] {
        sources(&root.join(folder), &mut text);
    }
    let known: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().trim_start_matches("pub ").strip_prefix("fn "))
        .filter_map(|function| function.split('(').next())
        .collect();
    let page = include_str!("../../../docs/reliability.md");
    // Names in backticks: with an underscore they are tests, with a slash files.
    let quoted: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let is_name = |text: &&&str| {
        text.contains('_') && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let tests: Vec<&str> = quoted.iter().filter(is_name).copied().collect();
    let missing: Vec<&&str> = tests.iter().filter(|test| !known.contains(**test)).collect();
    assert!(missing.is_empty(), "docs/reliability.md names tests that do not exist: {missing:?}");
    assert!(tests.len() > 60, "{} tests", tests.len());
    for file in quoted.iter().filter(|name| name.ends_with(".rs")) {
        assert!(root.join(file).is_file(), "docs/reliability.md names {file}");
    }
}
