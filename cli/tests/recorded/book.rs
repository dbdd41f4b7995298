//! The commands of README.md and of the book, `docs/book/`, with what they print.

use std::fs;
use std::path::Path;

/// What the commands read, relative to the root of the repository.
const READ: [&str; 9] = [
    "docs/book/data",
    "benches/kernels",
    "tests/data/cmd",
    "tests/data/fatbins",
    "tests/data/listings",
    "tests/data/programs",
    "tests/data/ptx",
    "traces",
    "vectors/v1",
];

const VECTORS: [&str; 1] = ["tests/data/ld-vectors.jsonl"];

/// Copies a folder and those in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns a page with an empty line after the output of each command: trycmd takes the last end of a
/// line before the next command for its own.
fn with_empty_lines(page: &str) -> String {
    let (mut text, mut is_console, mut has_output) = (String::new(), false, false);
    for line in page.lines() {
        let is_next = line.starts_with("$ ") || line == "```";
        if is_console && is_next && has_output {
            text.push('\n');
        }
        has_output = !is_next && !line.starts_with("? ");
        if line.starts_with("```") {
            is_console = line == "```console";
            has_output = false;
        }
        text += line;
        text.push('\n');
    }
    text
}

/// Undoes [`with_empty_lines`].
fn without_empty_lines(text: &str) -> String {
    let (mut page, mut is_console) = (String::new(), false);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_next = lines.peek().is_some_and(|next| next.starts_with("$ ") || *next == "```");
        if is_console && line.is_empty() && is_next {
            continue;
        }
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        page += line;
        page.push('\n');
    }
    page
}

/// The pages with commands, relative to the root of the repository.
fn pages() -> Vec<String> {
    let book = fs::read_dir(crate::common::file("docs/book")).unwrap();
    let names = book.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/book/{name}"));
    pages
        .chain(
            ["README.md", "docs/README.md", "docs/ptx-kernels.md", "docs/machine-code.md"]
                .map(str::to_owned),
        )
        .collect()
}

/// Runs the commands in a folder with copies of what they read, so that what they write is not in the
/// repository.
#[test]
fn commands_print_what_the_pages_say() {
    let _alone = crate::alone();
    let root = std::path::absolute(crate::common::ROOT).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for read in READ {
        copy(&root.join(read), &folder.path().join(read));
    }
    for vectors in VECTORS {
        fs::copy(root.join(vectors), folder.path().join(vectors)).unwrap();
    }
    let pages = pages();
    let mut commands = 0;
    for page in &pages {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let blocks =
            text.split("\n```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        commands += blocks.map(|block| format!("\n{block}").matches("\n$ ").count()).sum::<usize>();
        assert_eq!(without_empty_lines(&with_empty_lines(&text)), text, "{page}");
        fs::write(folder.path().join(page), with_empty_lines(&text)).unwrap();
    }
    assert!(commands > 40, "{commands} commands");
    std::env::set_current_dir(folder.path()).unwrap();
    let cases = trycmd::TestCases::new();
    let command = Path::new(env!("CARGO_BIN_EXE_warpload"));
    // `conform` runs a program by its name.
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        command.parent().into_iter().map(Into::into).chain(std::env::split_paths(&folders));
    let path = std::env::join_paths(folders).unwrap();
    cases
        .register_bin("warpload", command)
        .env("PATH", path.to_str().unwrap())
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C");
    for page in &pages {
        cases.case(page);
    }
    cases.run();
    std::env::set_current_dir(&root).unwrap();
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        for page in &pages {
            let text = fs::read_to_string(folder.path().join(page)).unwrap();
            fs::write(root.join(page), without_empty_lines(&text)).unwrap();
        }
    }
}
