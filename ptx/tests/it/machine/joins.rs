//! The joins of functions, compared with the convergence barriers of ptxas.
//!
//! `tests/machine/joins.tsv` has, for each branch of the kernels in `tests/kernels.tar.xz` that is still a branch in the
//! code of ptxas 12.9, the barriers that are open at it: the lines of PTX where they close, innermost first. From SM 7.0
//! on these are `BSSY` and `BSYNC`, before that `SSY` and `SYNC`, `PBK` and `BRK`. See `tests/machine/README.md`.

use std::collections::BTreeMap;

use warpload_ptx::module::{BasicBlock, StatementKind};
use warpload_ptx::syntax::{LineIndex, Opcode};
use warpload_ptx::{Module, read};

use super::corpus::{Files, files};

/// A branch that survived, and the lines of its open barriers.
struct Fact {
    file: String,
    /// The SM and the level of optimization.
    setting: String,
    branch: u32,
    joins: Vec<u32>,
}

fn facts() -> Vec<Fact> {
    let mut facts = Vec::new();
    let (mut file, mut setting) = ("", String::new());
    for line in include_str!("../../machine/joins.tsv").lines() {
        let mut fields = line.split('\t');
        match (fields.next().expect("a file"), fields.next(), fields.next()) {
            ("", Some(branch), joins) => facts.push(Fact {
                file: file.to_owned(),
                setting: setting.clone(),
                branch: branch.parse().expect("a line"),
                joins: joins
                    .unwrap_or("")
                    .split_whitespace()
                    .map(|line| line.parse().expect("a line"))
                    .collect(),
            }),
            (name, Some(sm), Some(level)) => (file, setting) = (name, format!("{sm} {level}")),
            _ => panic!("{line}"),
        }
    }
    facts
}

/// A function's blocks, with the lines of their instructions.
struct Blocks {
    blocks: Vec<BasicBlock>,
    lines: Vec<Vec<u32>>,
    /// The line of the branch that ends a block.
    branches: Vec<Option<u32>>,
    /// Whether a block only ends the function.
    ends: Vec<bool>,
}

fn functions(module: &Module<'_>, source: &str) -> Vec<Blocks> {
    let index = LineIndex::new(source);
    let functions = module.functions().iter().map(|function| {
        let blocks = module.blocks(function);
        let (mut lines, mut branches, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for block in &blocks {
            let statements = &module.statements()[block.statements.clone()];
            let all = statements.iter().filter_map(|statement| match &statement.kind {
                StatementKind::Instruction(instruction) => {
                    Some((index.position(statement.span.start).line, instruction.opcode))
                }
                _ => None,
            });
            let all: Vec<_> = all.collect();
            let is_branch = |opcode| matches!(opcode, Opcode::Bra | Opcode::Brx);
            branches.push(all.last().filter(|last| is_branch(last.1)).map(|last| last.0));
            ends.push(block.is_end && block.next.is_none() && all.len() <= 1);
            lines.push(all.into_iter().map(|(line, _)| line).collect());
        }
        Blocks { blocks, lines, branches, ends }
    });
    functions.collect()
}

/// How the machine's join of a branch compares with the barriers of ptxas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The same block, or none in both.
    Same,
    /// The same, apart from barriers that close where lanes only end. Lanes do not wait there in the machine, and from
    /// `-O1` on they end with a guarded `EXIT`.
    Ends,
    /// ptxas has no barrier for the machine's join, but the same around it: it knows that the lanes do not diverge, for
    /// example because they are all at a `bar.sync` before, or does not save what they would execute together.
    NoBarrier,
    /// The machine has no join for the barrier of ptxas, but the same around it.
    NoJoin,
    /// Another block.
    Other,
    /// The line has no branch in PTX: ptxas made one for another instruction, such as a division.
    NoBranch,
}

fn verdict(functions: &[Blocks], fact: &Fact) -> Verdict {
    let found = functions.iter().find_map(|function| {
        let at = function.branches.iter().position(|line| *line == Some(fact.branch))?;
        Some((function, at))
    });
    let Some((function, at)) = found else { return Verdict::NoBranch };
    let blocks = &function.blocks;
    let own = std::iter::successors(blocks[at].join, |join| blocks[*join].outer_join);
    let own: Vec<usize> = own.collect();
    let block_of = |line: &u32| function.lines.iter().position(|lines| lines.contains(line));
    let all: Vec<usize> = fact.joins.iter().filter_map(block_of).collect();
    let waiting: Vec<usize> = all.iter().copied().filter(|join| !function.ends[*join]).collect();
    match (own.first(), waiting.first()) {
        (own, _) if own == all.first() => Verdict::Same,
        (own, first) if own == first => Verdict::Ends,
        (Some(_), None) => Verdict::NoBarrier,
        (Some(_), Some(first)) if own.contains(first) => Verdict::NoBarrier,
        (None, Some(_)) => Verdict::NoJoin,
        (Some(first), Some(_)) if waiting.contains(first) => Verdict::NoJoin,
        _ => Verdict::Other,
    }
}

/// The counts of each setting, and all branches that are not the same as in ptxas for a reason that is not in the text of
/// [`Verdict`]. After a change, `UPDATE_EXPECT=1` writes the file.
#[test]
fn lanes_rejoin_where_ptxas_closes_a_barrier() {
    let archive: Files = files(include_bytes!("../../kernels.tar.xz"));
    let mut counts: BTreeMap<(Verdict, String), usize> = BTreeMap::new();
    let mut totals: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut named = Vec::new();
    let mut known: BTreeMap<String, Vec<Blocks>> = BTreeMap::new();
    for fact in facts() {
        let functions = known.entry(fact.file.clone()).or_insert_with(|| {
            let source = String::from_utf8(archive[&fact.file].clone()).expect("text");
            functions(&read(&source).expect("a module"), &source)
        });
        let verdict = verdict(functions, &fact);
        *counts.entry((verdict, fact.setting.clone())).or_default() += 1;
        *totals.entry(verdict).or_default() += 1;
        if matches!(verdict, Verdict::Other | Verdict::NoJoin) {
            let Fact { file, setting, branch, joins } = &fact;
            named.push(format!("{verdict:?}: {file}, {setting}, line {branch}: {joins:?}\n"));
        }
    }
    let mut found = String::new();
    for (verdict, count) in totals {
        let of_settings = counts.iter().filter(|count| count.0.0 == verdict);
        let of_settings: Vec<_> =
            of_settings.map(|((_, setting), count)| format!("{setting} {count}")).collect();
        found += &format!("{verdict:?}: {count} ({})\n", of_settings.join(", "));
    }
    found += &named.concat();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/joins.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &found).expect("a file");
    }
    assert_eq!(found, std::fs::read_to_string(path).expect("a file"));
}
