//! Cases of `ptx-execute` that launch a kernel. The expected memory comes from an archive of kernels: the source of
//! each was compiled for a CPU and run there (`ptx/tests/it/machine/kernels.rs`).

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{Context, Result, ensure};
use liblzma::read::XzDecoder;
use serde::Deserialize;

use super::case::{CaseFile, HOST, Head, quoted};
use super::flag::{Flag, flag};
use super::ptx_execute::hex;
use super::sources::Sources;

/// An archive with a folder for each kernel.
const ARCHIVE: &str = "ptx/tests/kernels.tar.xz";

/// Each row has a kernel's folder, the number of a launch, and a module. They were chosen for different features, small
/// buffers and exact results.
const LAUNCHES: [(&str, usize, &str); 20] = [
    ("bfs", 1, "sm80"),
    ("bfs", 2, "sm52"),
    ("bigint", 3, "sm80"),
    ("bitops", 1, "sm52"),
    ("cpasync", 0, "sm80"),
    ("cpasync", 2, "sm90"),
    ("cvt", 3, "sm52"),
    ("devfuncs", 0, "sm80"),
    ("devfuncs", 1, "sm52"),
    ("double_arith", 1, "sm80"),
    ("fatomics", 0, "sm80"),
    ("fatomics", 2, "sm80"),
    ("grid3d", 3, "sm80"),
    ("half", 1, "sm53"),
    ("named_bar", 2, "sm90"),
    ("oddptx", 1, "sm80"),
    ("scan", 2, "sm80"),
    ("switchvm", 1, "sm80_jt"),
    ("triton_argmax", 1, "sm90"),
    ("triton_matmul", 1, "sm80"),
];

/// A launch of the archive.
#[derive(Deserialize)]
struct Launch {
    ptx: Vec<String>,
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u64,
    args: Vec<Argument>,
    /// The file of each buffer after the launch, by argument number.
    expected: BTreeMap<usize, String>,
    tolerance: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Argument {
    Buffer { file: String },
    Zeros { bytes: usize },
    Value { hex: String },
}

/// A launch, and the PTX of its kernel.
pub(super) struct Launched {
    launch: Launch,
    module: String,
}

impl Launched {
    /// The first word of each line, after any guard. Some of these words are opcodes.
    fn words(&self) -> impl Iterator<Item = &str> {
        self.module.lines().filter_map(|line| {
            let mut words = line.split([' ', '\t', ';']).filter(|word| !word.is_empty());
            words.find(|word| !word.starts_with('@'))
        })
    }

    /// Whether an instruction other than a branch has a guard.
    fn has_guard(&self) -> bool {
        let mut instructions = self.module.split(['\n', ';', '{']).map(str::trim_start);
        instructions.any(|text| text.starts_with('@') && !text.contains(" bra"))
    }

    /// Whether an opcode has one of these prefixes.
    fn has(&self, beginnings: &[&str]) -> bool {
        self.words().any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
    }

    /// Whether an instruction has one of these qualifiers or types.
    fn is(&self, qualifiers: &[&str]) -> bool {
        let mut opcodes = self.words().filter(|word| !word.starts_with('.'));
        opcodes.any(|opcode| opcode.split('.').any(|part| qualifiers.contains(&part)))
    }
}

#[rustfmt::skip]
pub(super) const FLAGS: &[Flag<Launched>] = &[
    flag("async-copy", "`cp.async`: a copy to shared memory that other instructions wait for.", |case| case.has(&["cp.async"])),
    flag("atomic", "Atomic operations and reductions in memory.", |case| case.has(&["atom.", "red."])),
    flag("barrier", "The threads of a block wait for each other.", |case| case.has(&["bar."])),
    flag("barrier-arrive", "Threads that arrive at a barrier and do not wait.", |case| case.has(&["bar.arrive"])),
    flag("barrier-reduction", "A predicate of all threads that meet at a barrier.", |case| case.has(&["bar.red"])),
    flag("bit-field", "Bit fields, permuted bytes and logic of three operands.", |case| case.has(&["bfe.", "bfi.", "prmt."])),
    flag("call", "Calls of functions, some recursive.", |case| case.has(&["call"])),
    flag("conversion", "Floating-point numbers rounded to integers.", |case| case.has(&["cvt.rni.", "cvt.rzi."])),
    flag("double", "64-bit floating-point numbers.", |case| case.is(&["f64"])),
    flag("dynamic-shared", "Shared memory of a size that the launch sets.", |case| case.launch.shared_bytes > 0),
    flag("float", "A floating-point type.", |case| case.is(&["f32", "f64"])),
    flag("guard", "A predicate.", Launched::has_guard),
    flag("half", "16-bit floating-point numbers.", |case| case.is(&["f16", "f16x2"])),
    flag("indirect-branch", "`brx.idx`: a branch to the target that an index chooses.", |case| case.has(&["brx."])),
    flag("launch", "A launch of a kernel.", |_| true),
    flag("local", "Local memory.", |case| case.is(&["local"])),
    flag("matrix", "A product of matrices that a warp holds.", |case| case.has(&["mma."])),
    flag("partial-warp", "A warp with fewer than 32 threads.", |case| {
        !case.launch.block.iter().product::<u32>().is_multiple_of(32)
    }),
    flag("saturation", "Results that are clamped to the range of their type.", |case| case.is(&["sat"])),
    flag("several-blocks", "A grid of several blocks.", |case| case.launch.grid != [1; 3]),
    flag("shared", "Shared memory.", |case| case.is(&["shared"])),
    flag("shuffle", "Values that lanes exchange.", |case| case.has(&["shfl."])),
    flag("vote", "A predicate of all lanes of a warp.", |case| case.has(&["vote."])),
];

/// The start of a function that is not a kernel.
const FUNCTION: &str = ".func ";

/// The name of the function that begins in this line, in the format of compilers.
fn defined(line: &str) -> Option<&str> {
    let is_head = line.contains(".entry ") || line.starts_with(FUNCTION);
    line.strip_suffix('(').filter(|_| is_head)?.rsplit(' ').next()
}

/// Reduces a module to a kernel and the functions that it calls. Debug information is dropped, because it contains
/// paths of the machine that compiled it.
fn only(module: &str, kernel: &str) -> String {
    let mut kept = vec![kernel];
    loop {
        let text = of_functions(module, &kept);
        let names = module.lines().filter(|line| line.starts_with(FUNCTION)).filter_map(defined);
        let called = names.filter(|name| text.contains(name) && !kept.contains(name));
        let called: Vec<&str> = called.collect();
        if called.is_empty() {
            return text;
        }
        kept.extend(called);
    }
}

fn of_functions(module: &str, kept: &[&str]) -> String {
    let (mut depth, mut is_other) = (0_usize, false);
    let code = module.lines().take_while(|line| !line.trim_start().starts_with(".section"));
    let code = code.filter(|line| {
        is_other |= defined(line).is_some_and(|name| !kept.contains(&name));
        let is_kept = !is_other && !line.contains("// .globl");
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        // Inline assembly also has braces, so only the outermost ones end a function.
        is_other &= depth > 0 || !line.contains('}');
        is_kept
    });
    code.flat_map(|line| [line, "\n"]).collect()
}

/// Unpacks the archive. The result has the contents of each file by name.
fn unpacked(sources: &Sources) -> Result<BTreeMap<String, Vec<u8>>> {
    let packed = sources.bytes(ARCHIVE)?;
    let mut archive = tar::Archive::new(XzDecoder::new(&*packed));
    let mut files = BTreeMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.insert(entry.path()?.display().to_string(), bytes);
    }
    Ok(files)
}

/// The cases of all [`LAUNCHES`].
pub(super) fn file(sources: &Sources) -> Result<CaseFile> {
    let files = unpacked(sources)?;
    let mut cases = Vec::new();
    for (folder, number, target) in LAUNCHES {
        let bytes = |name: &str| {
            let name = format!("{folder}/{name}");
            files.get(&name).with_context(|| format!("{ARCHIVE}: no {name}"))
        };
        let mut launches: Vec<Launch> = serde_json::from_slice(bytes("launch.json")?)?;
        ensure!(number < launches.len(), "{folder}: no launch {number}");
        let launch = launches.swap_remove(number);
        let ptx = format!("{target}.ptx");
        ensure!(launch.ptx.contains(&ptx), "{folder}: launch {number} is not of {ptx}");
        ensure!(launch.tolerance.is_none(), "{folder}: launch {number} is not exact");
        let module = only(std::str::from_utf8(bytes(&ptx)?)?, &launch.entry);
        let digits =
            |name: &str| bytes(name).map(|bytes| hex(bytes.iter().copied().map(u64::from)));
        let mut arguments = Vec::new();
        let mut buffers = BTreeMap::new();
        for (number, argument) in launch.args.iter().enumerate() {
            let (argument, before) = match argument {
                Argument::Buffer { file } => {
                    let before = digits(file)?;
                    (format!(r#"{{"buffer":"{before}"}}"#), before)
                }
                Argument::Zeros { bytes } => {
                    (format!(r#"{{"zeros":{bytes}}}"#), hex((0..*bytes).map(|_| 0)))
                }
                Argument::Value { hex } => (format!(r#"{{"value":"{hex}"}}"#), String::new()),
            };
            arguments.push(argument);
            if let Some(file) = launch.expected.get(&number) {
                let after = digits(file)?;
                if after != before {
                    buffers.insert(number, after);
                }
            }
        }
        let mut question = format!(
            r#""module":{},"function":"{}","grid":{:?},"block":{:?}"#,
            quoted(&module),
            launch.entry,
            launch.grid,
            launch.block
        );
        if launch.shared_bytes > 0 {
            question += &format!(r#","shared_bytes":{}"#, launch.shared_bytes);
        }
        question += &format!(r#","arguments":[{}]"#, arguments.join(","));
        let expected = serde_json::json!({ "buffers": buffers, "faults": 0 }).to_string();
        let case = Launched { launch, module };
        cases.push(Head::of(FLAGS, &case, HOST).asking("ptx-execute", &question, &expected));
    }
    Ok(CaseFile { instruction: "kernel".to_owned(), cases })
}
