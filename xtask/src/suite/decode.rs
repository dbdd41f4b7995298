//! `decode`: words and their texts by nvdisasm 12.8.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, anyhow, bail, ensure};
use warpload::encoding::{Decoded, Instruction, MachineWord, Sm};

use super::case::{Case, CaseFile, Cases, Family, Head, NVDISASM, quoted, spread};
use super::flag::{Flag, flag, notes};
use super::sources::Sources;

pub(crate) const FAMILY: Family = Family { name: "decode", cases, flags: || notes(FLAGS) };

/// Lists of words, each with its SM, unless its lines name one, and the number of cases for an instruction and an SM.
const LISTS: [(&str, Option<&str>, usize); 3] = [
    ("encoding/tests/data/nvdisasm-ld.tsv", Some("50"), 90),
    ("encoding/tests/data/nvdisasm-load-family.tsv", Some("50"), 60),
    ("tests/data/nvdisasm-sm70.tsv.xz", None, 9),
];

/// The listed text of a word that nvdisasm refuses.
const ILLEGAL: &str = "illegal";

/// A line of a list.
struct Row {
    sm: String,
    word: String,
    text: String,
    /// The text with the scheduling that nvdisasm appends from SM 12.0 on.
    listed: String,
}

/// The annotations that scheduling begins with.
const SCHEDULING: [&str; 4] = [" &req=", " &rd=", " &wr=", " ?"];

fn row(sm: &str, word: &str, listed: &str) -> Row {
    let ends = SCHEDULING.iter().filter_map(|start| listed.find(start));
    let end = ends.min().unwrap_or(listed.len());
    let [sm, word, text, listed] = [sm, word, &listed[..end], listed].map(str::to_owned);
    Row { sm, word, text, listed }
}

impl Row {
    fn is_illegal(&self) -> bool {
        self.text == ILLEGAL
    }

    /// Whether the word is a load or an illegal one.
    fn is_load(&self) -> bool {
        matches!(decoded(self), Some(Decoded::Load(_) | Decoded::Illegal(_)))
    }

    /// The mnemonic with its modifiers, without the guard.
    fn opcode(&self) -> &str {
        self.text.split(' ').find(|part| !part.starts_with('@')).unwrap_or_default()
    }

    fn mnemonic(&self) -> &str {
        self.opcode().split('.').next().unwrap_or_default()
    }

    fn has(&self, modifiers: &[&str]) -> bool {
        self.opcode().split('.').skip(1).any(|part| modifiers.contains(&part))
    }

    fn is_transposed(&self) -> bool {
        self.has(&["MT88"])
    }

    /// The address without its numbers, such as `[R+-`, and whether matrices are transposed.
    fn shape(&self) -> (bool, String) {
        let address = self.operands().rsplit_once(']').map_or("", |(address, _)| address);
        let address = address.rfind('[').map_or("", |start| &address[start..]);
        let is_digit = |c: char| c.is_ascii_hexdigit() || c == 'x';
        (self.is_transposed(), address.replace(is_digit, ""))
    }

    /// Whether a modifier has no meaning.
    fn is_invalid(&self) -> bool {
        self.text.contains("INVALID") || self.text.contains("???")
    }

    fn operands(&self) -> &str {
        self.text.split_once(self.opcode()).map_or("", |(_, operands)| operands)
    }
}

#[rustfmt::skip]
const FLAGS: &[Flag<Row>] = &[
    flag("cache-operator", "A cache operator or an eviction priority other than the default.",
        |row| row.has(&["CG", "CI", "CV", "CS", "EF", "EL", "LU", "EU", "NA"])),
    flag("constant-bank", "A constant bank in the address.", |row| row.operands().contains(" c[")),
    flag("descriptor", "A descriptor in the address.", |row| row.operands().contains("desc[")),
    flag("discarded", "The destination is RZ or URZ.", |row| {
        row.operands().split(',').next().is_some_and(|first| matches!(first.trim(), "RZ" | "URZ"))
    }),
    flag("guard", "A guard other than PT.", |row| row.text.starts_with('@')),
    flag("illegal", "The disassembler refuses the word.", Row::is_illegal),
    flag("invalid-modifier", "A field holds an undefined number.", |row| {
        row.opcode().contains("INVALID") || row.opcode().contains("???")
    }),
    flag("memory-order", "A memory order or its scope.",
        |row| row.has(&["CONSTANT", "STRONG", "MMIO", "CTA", "SM", "VC", "GPU", "SYS", "PRIVATE"])),
    flag("multiple", "64 bits or more.",
        |row| row.has(&["64", "128", "256", "2", "4"])),
    flag("negated-guard", "A guard that is negated.", |row| row.text.starts_with("@!")),
    flag("negative-offset", "An offset below zero.", |row| row.operands().contains("-0x")),
    flag("no-base", "An address without a register, or with RZ.", |row| {
        row.operands().contains("[0x") || row.operands().contains("[RZ")
    }),
    flag("predicate-operand", "A predicate after the address.", |row| {
        row.operands().rsplit_once("],").is_some_and(|(_, last)| last.contains('P'))
    }),
    flag("prefetch", "A prefetch size.", |row| row.opcode().contains(".LTC")),
    flag("scaled-index", "A register that is multiplied.", |row| row.operands().contains(".X")),
    flag("sign-extension", "8 or 16 bits, sign-extended.", |row| row.has(&["S8", "S16"])),
    flag("tensor-memory", "A load from Tensor Memory.", |row| row.mnemonic() == "LDTM"),
    flag("transposed", "Matrices that are transposed.", Row::is_transposed),
    flag("uniform-hint", "`.U`.", |row| row.has(&["U"])),
    flag("uniform-register", "A uniform register.", |row| row.operands().contains("UR")),
    flag("unread-bits", "Bits of the word are set that the disassembler does not read.",
        |row| matches!(decoded(row), Some(Decoded::Load(load)) if load.reserved_bits() & load.word().bits() != 0)),
    flag("wide-address", "An address of 64 bits, `.E`.", |row| row.has(&["E"])),
    flag("zero-address", "Neither a register nor an offset.", |row| row.operands().contains("[RZ]")),
    flag("zero-extension", "8 or 16 bits, zero-extended.", |row| row.has(&["U8", "U16"])),
];

/// The row of the word that assembling the text gives. It can differ from the listed word in bits that are never read
/// and, if the text does not show scheduling, in scheduling. `None` for a text with an invalid modifier, which cannot
/// be assembled, and for one that hides other fields of the word.
///
/// # Errors
/// Returns an error if the text cannot be assembled, or the word has another text.
fn assembled(row: &Row) -> Result<Option<Row>> {
    if row.is_invalid() {
        return Ok(None);
    }
    let sm: Sm = row.sm.parse()?;
    let text = if says_scheduling(sm) { &row.listed } else { &row.text };
    let load = Instruction::parse(text, sm).map_err(|error| anyhow!("sm_{sm}: {text}: {error}"))?;
    let (Some(Decoded::Load(of_row)), Some(bits)) = (decoded(row), number(&row.word)) else {
        bail!("sm_{sm}: {}: not a load", row.word);
    };
    let unsaid = if says_scheduling(sm) { 0 } else { SCHEDULING_BITS } | of_row.reserved_bits();
    let word = load.word();
    if (word.bits() ^ bits) & !unsaid != 0 {
        let again = load.text().to_string();
        ensure!(again == row.text, "sm_{sm}: {text}: {word:#}, which is {again}");
        return Ok(None);
    }
    let [sm, text] = [&row.sm, text].map(String::clone);
    Ok(Some(Row { sm, word: format!("{word:#}"), listed: text.clone(), text }))
}

/// Stall count, yield flag, barriers, waits and the batch hint, with PM.
const SCHEDULING_BITS: u128 = 0xf_ffff << 105 | 3 << 102;

/// Whether a text gives the complete word: up to SM 6.x words have no scheduling, and from SM 12.0 on texts show it.
fn says_scheduling(sm: Sm) -> bool {
    !sm.has_wide_words() || sm.number() >= 120
}

fn number(word: &str) -> Option<u128> {
    u128::from_str_radix(word.trim_start_matches("0x"), 16).ok()
}

/// Decodes the word. Lists have words of other instructions, too.
fn decoded(row: &Row) -> Option<Decoded> {
    let sm: Sm = row.sm.parse().ok()?;
    let bits = number(&row.word)?;
    let word: MachineWord =
        if sm.has_wide_words() { bits.into() } else { u64::try_from(bits).ok()?.into() };
    Some(Instruction::decode(word, sm))
}

fn rows(list: &str, sm: Option<&str>) -> Vec<Row> {
    let lines = list.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let read = |line: Vec<&str>| match (sm, &line[..]) {
        (Some(sm), [word, text]) if word.starts_with("0x") => Some(row(sm, word, text)),
        (None, [sm, word, text]) => Some(row(sm.trim_start_matches("SM"), word, text)),
        _ => None,
    };
    lines.filter_map(read).collect()
}

/// Instructions with a case of each shape of address on each SM, because they differ from other loads: without a base,
/// offsets of constants are signed, and those of matrices from SM 8.0 on.
const OF_EACH_SHAPE: [&str; 2] = ["ldc", "ldsm"];

/// The first row of each shape that none of the chosen rows has.
fn of_other_shapes<'r>(rows: &'r [Row], chosen: &[&Row]) -> Vec<&'r Row> {
    let valid = |row: &&&Row| !row.is_invalid();
    let mut shapes: BTreeSet<_> = chosen.iter().filter(valid).map(|row| row.shape()).collect();
    rows.iter().filter(|row| !row.is_invalid() && shapes.insert(row.shape())).collect()
}

fn cases(sources: &Sources) -> Result<Cases> {
    // By instruction, then by SM.
    let mut groups = BTreeMap::<String, BTreeMap<u32, (usize, Vec<Row>)>>::new();
    for (path, sm, count) in LISTS {
        for row in rows(&sources.text(path)?, sm) {
            if !row.is_load() {
                continue;
            }
            let name =
                if row.is_illegal() { ILLEGAL.to_owned() } else { row.mnemonic().to_lowercase() };
            let digits = row.sm.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let sm = digits.parse().with_context(|| format!("SM {}", row.sm))?;
            let group = groups.entry(name).or_default().entry(sm).or_default();
            group.0 = count;
            group.1.push(row);
        }
    }
    let mut files = Vec::new();
    for (instruction, sms) in groups {
        // The fewer SMs have the instruction, the more cases of each.
        let least = 80 / sms.len().max(1);
        let is_of_each_shape = OF_EACH_SHAPE.contains(&&*instruction);
        let (mut cases, mut others) = (Vec::new(), Vec::new());
        for (count, rows) in sms.values() {
            let chosen: Vec<&Row> = spread(rows, least.max(*count)).collect();
            cases.extend(chosen.iter().copied().map(decode));
            if is_of_each_shape {
                others.extend(of_other_shapes(rows, &chosen).into_iter().map(decode));
            }
        }
        for (count, rows) in sms.values().filter(|_| instruction != ILLEGAL) {
            let rows = rows.iter().filter_map(|row| assembled(row).transpose());
            let rows = rows.collect::<Result<Vec<Row>>>()?;
            let chosen: Vec<&Row> = spread(&rows, *count / 2).collect();
            for row in &chosen {
                cases.push(encode(row)?);
            }
            if is_of_each_shape {
                for row in of_other_shapes(&rows, &chosen) {
                    others.push(encode(row)?);
                }
            }
        }
        cases.extend(others);
        files.push(CaseFile { instruction, cases });
    }
    Ok(Cases { files, ..Cases::default() })
}

/// The case that asks for the text of a word.
fn decode(row: &Row) -> Case {
    let Row { sm, word, text, .. } = row;
    let expected = match row.is_illegal() {
        true => r#"{"illegal":true}"#.to_owned(),
        false => format!(r#"{{"text":{}}}"#, quoted(text)),
    };
    Head::of(FLAGS, row, NVDISASM).asking(
        "decode",
        &format!(r#""sm":"{sm}","word":"{word}""#),
        &expected,
    )
}

/// The case that asks for the word of a text. If the text does not show scheduling, the word's is a decision
/// (docs/load-sm70.md, section 7).
fn encode(row: &Row) -> Result<Case> {
    let Row { sm, word, text, .. } = row;
    let is_decision = !says_scheduling(sm.parse()?);
    let question = format!(r#""sm":"{sm}","text":{}"#, quoted(text));
    let head = Head { is_decision, ..Head::of(FLAGS, row, NVDISASM) };
    Ok(head.asking("encode", &question, &format!(r#"{{"word":"{word}"}}"#)))
}
