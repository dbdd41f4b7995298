//! `ptx-legality`: modules that ptxas accepts or refuses, from the corpora of `ptx/tests/ptx`.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::Deserialize;

use super::case::{CaseFile, Cases, Family, Head, quoted, spread};
use super::flag::{Flag, flag, notes};
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family { name: "ptx-legality", cases, flags: || notes(FLAGS) };

/// The instructions, each with its corpus and the number of cases for each kind of probe and verdict.
const CORPORA: [(&str, &str, usize); 4] = [
    ("ld", "ptx/tests/ptx/ld.jsonl.xz", 4),
    ("ld-global-nc", "ptx/tests/ptx/ld_global_nc.jsonl.xz", 4),
    ("tcgen05-ld", "ptx/tests/ptx/tcgen05_ld.jsonl.xz", 3),
    ("several", "ptx/tests/ptx/ld_more.jsonl.xz", 6),
];

#[derive(Deserialize)]
struct Row {
    family: String,
    accept: bool,
    ptxas: String,
    module: String,
    #[serde(default)]
    error: String,
    /// Whether ptxas parses the module, and refuses it afterwards.
    #[serde(default)]
    back_end: bool,
    /// The loads of the module, from the instruction's name on, without spaces and comments.
    #[serde(skip)]
    loads: Vec<String>,
}

impl Row {
    fn read(line: &str) -> Result<Self> {
        let mut row: Self = serde_json::from_str(line)?;
        row.loads = without_comments(&row.module).split(';').filter_map(load).collect();
        Ok(row)
    }

    fn any(&self, parts: &[&str]) -> bool {
        self.loads.iter().any(|load| parts.iter().any(|part| load.contains(part)))
    }
}

fn without_comments(mut rest: &str) -> String {
    let mut text = String::new();
    loop {
        let starts = [("//", "\n"), ("/*", "*/")].map(|(start, end)| (rest.find(start), end));
        let first = starts.into_iter().filter_map(|(at, end)| Some((at?, end))).min();
        let Some((at, end)) = first else { return text + rest };
        let (before, comment) = rest.split_at(at);
        text += before;
        text.push(' ');
        rest = comment.split_once(end).map_or("", |(_, after)| after);
    }
}

/// The load in a statement, without the braces, labels and guard before it.
fn load(statement: &str) -> Option<String> {
    let names = ["ld", "ldu", "tcgen05"].into_iter();
    let mut found = names
        .flat_map(|name| statement.match_indices(name).map(move |(at, _)| (at, at + name.len())));
    let is_word = |(start, end): &(usize, usize)| {
        let before = statement.get(..*start).and_then(|text| text.chars().next_back());
        let is_part = |c: char| c.is_alphanumeric() || "_$%.".contains(c);
        let after = statement.get(*end..).unwrap_or_default();
        !before.is_some_and(is_part) && after.trim_start().starts_with('.')
    };
    let (start, _) = found.find(is_word)?;
    Some(statement.get(start..)?.split_whitespace().collect())
}

#[rustfmt::skip]
const FLAGS: &[Flag<Row>] = &[
    flag("acquire", "An ordering: relaxed, acquire or volatile, or memory-mapped I/O.",
        |row| row.any(&[".relaxed", ".acquire", ".volatile", ".mmio"])),
    flag("back-end", "The assembler reads the module, and refuses it afterwards.", |row| row.back_end),
    flag("cache-hint", "A cache hint, `.L2::cache_hint`.", |row| row.any(&[".L2::cache_hint"])),
    flag("cache-operator", "A cache operator.", |row| row.any(&[".ca.", ".cg.", ".cs.", ".lu.", ".cv."])),
    flag("const", "Constant memory.", |row| row.any(&[".const"])),
    flag("eviction", "An eviction priority.", |row| row.any(&["::evict", "::no_allocate"])),
    flag("float-type", "A floating-point type.", |row| row.any(&[".f32", ".f64"])),
    flag("global", "Global memory.", |row| row.any(&[".global"])),
    flag("local", "Local memory.", |row| row.any(&[".local"])),
    flag("nc", "A load of read-only data, `.nc`.", |row| row.any(&[".nc"])),
    flag("octet", "A vector of eight, `.v8`.", |row| row.any(&[".v8"])),
    flag("pack", "`.pack::16b`.", |row| row.any(&[".pack::"])),
    flag("param", "Parameters.", |row| row.any(&[".param"])),
    flag("prefetch", "A prefetch size.", |row| row.any(&[".L2::64B", ".L2::128B", ".L2::256B"])),
    flag("reduction", "A load with a reduction.", |row| row.any(&[".red"])),
    flag("refused", "The assembler refuses the module.", |row| !row.accept),
    flag("scope", "A scope.", |row| row.any(&[".cta", ".cluster", ".gpu", ".sys"])),
    flag("shared", "Shared memory.", |row| row.any(&[".shared"])),
    flag("sink", "A destination that is not written, `_`.", |row| row.any(&["{_,", ",_,", ",_}"])),
    flag("target", "Probes of the features of a target or of a version of PTX.", |row| row.family.starts_with("gate")),
    flag("tcgen05", "A load from Tensor Memory.", |row| row.any(&["tcgen05"])),
    flag("unified", "`.unified`.", |row| row.any(&[".unified"])),
    flag("vector", "A vector.", |row| row.any(&[".v2", ".v4", ".v8"])),
    flag("wide-type", "A type of 128 bits.", |row| row.any(&[".b128"])),
];

fn cases(sources: &Sources) -> Result<Cases> {
    let mut files = Vec::new();
    let mut left_out = BTreeMap::new();
    for (instruction, path, count) in CORPORA {
        let text = sources.text(path)?;
        let mut kinds = BTreeMap::<_, Vec<Row>>::new();
        for line in text.lines() {
            let row = Row::read(line)?;
            if let Some((reason, _)) = LEFT_OUT.iter().find(|(_, is_left_out)| is_left_out(&row)) {
                *left_out.entry(*reason).or_default() += 1;
                continue;
            }
            let is_octet = row.any(&[".v8"]);
            let kind = (row.family.clone(), row.accept, row.ptxas.clone(), row.back_end, is_octet);
            kinds.entry(kind).or_default().push(row);
        }
        let mut cases = Vec::new();
        for row in kinds.values().flat_map(|rows| spread(rows, count)) {
            let source = match &*row.ptxas {
                "12.9" => "ptxas-12.9",
                "13.5" => "ptxas-13.5",
                other => bail!("ptxas {other}"),
            };
            let head = Head::of(FLAGS, row, source);
            let question = format!(r#""module":{}"#, quoted(&row.module));
            let expected = format!(r#"{{"accept":{}}}"#, row.accept);
            cases.push(head.asking("ptx-legality", &question, &expected));
        }
        files.push(CaseFile { instruction: instruction.to_owned(), cases });
    }
    Ok(Cases { files, left_out, ..Cases::default() })
}

/// A reason to leave out modules, and the test for it.
type Reason = (&'static str, fn(&Row) -> bool);

/// The modules of the corpora that are left out. README.md and the manifest of the suite name them.
const LEFT_OUT: [Reason; 3] = [
    ("modules without a load", |row| row.loads.is_empty()),
    ("targets that another architecture on the command line of ptxas does not run", |row| {
        row.error.contains("cannot be compiled to")
    }),
    (
        "accepted `.v8` of 8- or 16-bit elements, or into registers wider than its elements, on some of which \
         ptxas crashes in some runs",
        |row| row.accept && row.loads.iter().any(|load| is_unstable(load)),
    ),
];

/// Whether ptxas accepts such a load in some runs and crashes in others.
fn is_unstable(load: &str) -> bool {
    let is_of = |types: &[&str]| types.iter().any(|name| load.contains(name));
    let registers = load.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let is_64_bits = |register: &str| {
        let name = register.trim_end_matches(|c: char| c.is_ascii_digit());
        name.starts_with('%') && name.ends_with('d')
    };
    let has_64_bits = registers.is_some_and(|(names, _)| names.split(',').any(is_64_bits));
    let is_narrow = is_of(&[".b8", ".u8", ".s8", ".b16", ".u16", ".s16"]);
    load.contains(".v8") && (is_narrow || has_64_bits && !is_of(&[".b64", ".u64", ".s64", ".f64"]))
}
