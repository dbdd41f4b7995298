//! The pictures of docs/tensor-memory.md, docs/access.md and README.md, and what `tmem map` draws.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;

use warpload_ptx::tensor::{CellOffset, Shape};

/// The pictures: shape, repeats, packed.
const PICTURES: [(Shape, &str, bool); 6] = [
    (Shape::S32x32b, "x4", false),
    (Shape::S16x64b, "x4", false),
    (Shape::S16x128b, "x4", false),
    (Shape::S16x256b, "x4", false),
    (Shape::S16x32bx2, "x8", false),
    (Shape::S16x64b, "x4", true),
];

/// What README.md shows of a terminal: the picture, the command, and how many lines of the beginning and of
/// the end of its output.
const TERMINALS: [(&str, &[&str], [usize; 2]); 3] = [
    ("explain", &["explain", "0x80d0000000070404"], [22, 0]),
    ("check", CHECK, [14, 3]),
    ("judge", &["ptx", "check", "docs/book/data/scale.ptx"], [16, 0]),
];

/// An emulator with a mistake, in Python.
const CHECK: &[&str] = &[
    "conform",
    "--command",
    "python3 examples/conform/wrong.py unsigned",
    "--failures",
    "1",
    "vectors/v1/execute/ld.jsonl",
];

/// How many characters of a line without colours are shown.
const WIDTH: usize = 110;

fn map(arguments: &[&str]) -> String {
    crate::common::succeeded(crate::common::warpload().args(["tmem", "map"]).args(arguments))
}

fn svg(shape: Shape, num: &str, pack: bool) -> String {
    let pack: &[&str] = if pack { &["--pack"] } else { &[] };
    map(&[&[shape.name(), num, "--svg", "-"], pack].concat())
}

#[test]
fn the_picture_of_banks_is_what_the_command_draws() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/banks.svg");
    let banks = ["banks", "lane * 16", "--svg", "-"];
    let drawn = crate::common::succeeded(crate::common::warpload().args(banks));
    if std::env::var_os("WARPLOAD_DRAW").is_some() {
        fs::write(path, &drawn).unwrap();
    }
    assert!(drawn == fs::read_to_string(path).unwrap(), "{path} is not what {banks:?} draws");
}

/// `WARPLOAD_DRAW=1 cargo test -p warpload-cli --test it pictures` redraws them.
#[test]
fn pictures_of_the_documentation_are_what_the_command_draws() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/tensor-memory");
    let page = fs::read_to_string(format!("{folder}.md")).unwrap();
    let mut names = BTreeSet::new();
    for (shape, num, pack) in PICTURES {
        let name = format!("{shape}.{num}{}.svg", if pack { ".pack" } else { "" });
        let path = format!("{folder}/{name}");
        let drawn = svg(shape, num, pack);
        if std::env::var_os("WARPLOAD_DRAW").is_some() {
            fs::write(&path, &drawn).unwrap();
        }
        assert!(fs::read_to_string(&path).unwrap() == drawn, "{path} is out of date");
        assert!(page.contains(&format!("tensor-memory/{name}")), "{name} is not in the page");
        names.insert(name);
    }
    let files = fs::read_dir(folder).unwrap();
    let files: BTreeSet<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, names);
}

/// Returns a picture of a terminal in which a command has run.
fn terminal(arguments: &[&str], [first, last]: [usize; 2]) -> String {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = crate::common::warpload();
    command.args(arguments).env("CLICOLOR_FORCE", "1").env("COLUMNS", "100");
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    // The pipe ends when its last writer is gone.
    drop(command);
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    child.wait().unwrap();
    let quoted =
        |word: &&str| if word.contains(' ') { format!("'{word}'") } else { (*word).into() };
    let words: Vec<String> = arguments.iter().map(quoted).collect();
    let mut text = format!("\x1b[1m$ warpload {}\x1b[0m\n", words.join(" "));
    let lines: Vec<&str> = output.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        if number < first || number + last >= lines.len() {
            let is_cut = line.chars().count() > WIDTH && !line.contains('\x1b');
            let shown: String =
                line.chars().take(if is_cut { WIDTH } else { usize::MAX }).collect();
            text += &format!("{shown}{}\n", if is_cut { "…" } else { "" });
        } else if number == first {
            text += "...\n";
        }
    }
    // Ground, text and blue that are legible on light and on dark pages.
    let colors = [("#000000", "#16191f"), ("#AAAAAA", "#d8dadf"), ("#5555FF", "#6ea8fe")];
    let svg = anstyle_svg::Term::new().render_svg(&text);
    colors.iter().fold(svg, |svg, (from, to)| svg.replace(from, to))
}

#[test]
fn pictures_of_terminals_are_what_the_command_prints() {
    for (name, arguments, lines) in TERMINALS {
        let needs_python = arguments.iter().any(|argument| argument.starts_with("python3 "));
        if needs_python && !crate::common::has_python(&format!("{name}.svg")) {
            continue;
        }
        let path = crate::common::file(&format!("docs/pictures/{name}.svg"));
        let drawn = terminal(arguments, lines);
        if std::env::var_os("WARPLOAD_DRAW").is_some() {
            fs::write(&path, &drawn).unwrap();
        }
        assert!(fs::read_to_string(&path).unwrap() == drawn, "{} is out of date", path.display());
    }
}

/// The table of shapes in the documentation has the values of the code.
#[test]
fn the_table_of_the_documentation() {
    let page = include_str!("../../../docs/tensor-memory.md");
    for shape in Shape::ALL {
        let layout = shape.layout();
        let thread = layout.thread.map(|step| step.to_string()).join(" | ");
        let register: Vec<String> = layout.register.iter().map(ToString::to_string).collect();
        let register = if register.is_empty() { "–".to_owned() } else { register.join(", ") };
        let row = format!("| `.{shape}` | {thread} | {register} | {} |", layout.repeat_columns);
        assert!(page.contains(&row), "expected the row\n{row}");
    }
}

#[test]
fn svg_is_well_formed_and_self_contained() {
    for (shape, num, pack) in [
        (Shape::S16x256b, "x32", true),
        (Shape::S32x32b, "1", false),
        (Shape::S16x32bx2, "x2", true),
    ] {
        let svg = svg(shape, num, pack);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert!(svg.contains("@media (prefers-color-scheme:dark)"));
        for reference in ["url(", "@import", "href", "<script", "<image"] {
            assert!(!svg.contains(reference), "{reference}");
        }
    }
}

/// Every cell of the text drawing is at its lane and column.
#[test]
fn text_has_each_cell_in_its_place() {
    let text = map(&["16x128b", "x16"]);
    let mut count = 0;
    let mut columns: Vec<usize> = Vec::new();
    for line in text.lines().skip(3) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
        if let Some(numbers) = numbers
            && numbers.len() > 1
        {
            columns = numbers;
        } else if let Some(lane) = words.first().and_then(|lane| lane.parse().ok()) {
            assert_eq!(words.len(), columns.len() + 1);
            for (word, column) in words[1..].iter().zip(&columns) {
                let (thread, register) = word.split_once('.').unwrap();
                let cell = CellOffset { second_half: false, lane, column: *column };
                let owner = (thread.parse().unwrap(), register.parse().unwrap());
                assert_eq!(owner, Shape::S16x128b.owner(cell));
                count += 1;
            }
        }
    }
    assert_eq!(count, 16 * 64);
}

/// Output that is not to a terminal has no colour.
#[test]
fn colour_is_for_terminals() {
    assert!(!map(&["32x32b", "x2"]).contains('\x1b'));
}

#[test]
fn files_appear_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.svg");
    let name = path.to_str().unwrap();
    assert_eq!(map(&["16x64b", "x1", "--svg", name]), format!("{name} written\n"));
    assert_eq!(fs::read_to_string(&path).unwrap(), svg(Shape::S16x64b, "x1", false));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
