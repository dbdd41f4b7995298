//! The repository's samples by their forms, with the commands that read them; and larger work, which
//! takes long enough to be disturbed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::seeds::Source::{self, File, Files, Lines};
use super::seeds::{Seed, read_sources};
use anyhow::{Context, Result, ensure};

use super::Campaign;
use super::command::{LIMITS, limited, run};

/// A form of input.
pub(super) struct Form {
    pub(super) name: &'static str,
    sources: &'static [Source],
    /// Further files that are put beside an input; those that its commands name.
    beside: &'static [&'static str],
    /// What reads an input, which is called `FILE` here.
    pub(super) commands: &'static [&'static [&'static str]],
    /// Whether checksums cover an input, so that a changed one never has another answer.
    pub(super) has_checksum: bool,
    pub(super) is_text: bool,
}

const REPLAY: &[&str] = &["replay", "FILE", "--fill", "address", "--format", "json"];
const REPLAY_TEXT: &[&str] = &["replay", "FILE", "--fill", "address"];
/// The command as an emulator that `conform` asks.
const ANSWER: &str = "sh -c 'exec \"$PROGRAM\" answer'";
const INFO: &[&str] = &["info", "FILE"];

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "binary traces",
        sources: &[Files("tests/data/cmd", "wlt"), File("traces/generic.wlt")],
        beside: &[],
        commands: &[REPLAY, &["export", "FILE", "-o", "-"], INFO],
        has_checksum: true,
        is_text: false,
    },
    Form {
        name: "trace sets",
        sources: &[File("fuzz/seeds/trace_set_does_not_panic/two.set.json")],
        beside: &["traces/generic.wlt", "tests/data/cmd/example.wlt"],
        commands: &[REPLAY, INFO],
        has_checksum: true,
        is_text: true,
    },
    Form {
        name: "text traces",
        sources: &[
            Files("tests/data/cmd", "traceg"),
            Files("tests/data/report", "traceg"),
            Files("tests/independent", "traceg"),
            Files("tests/data/traces2", "traceg"),
            File("tests/independent/handwritten.trace"),
            File("traces/bfs-v3-kernel-14.traceg"),
        ],
        beside: &[],
        commands: &[REPLAY, REPLAY_TEXT, INFO],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "logs and lines of JSON",
        sources: &[
            Files("tests/independent", "log"),
            File("tests/independent/handwritten-export.jsonl"),
            File("traces/nvbit-mem_trace.json"),
            File("tests/data/traces2/damaged/values-31.ndjson"),
        ],
        beside: &[],
        commands: &[REPLAY, REPLAY_TEXT, INFO],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "`.xz`",
        sources: &[
            Files("tests/data/traces2", "xz"),
            Files("tests/independent/traces", "xz"),
            File("traces/vecadd-v3-sm61-head.trace.xz"),
        ],
        beside: &[],
        commands: &[REPLAY, INFO],
        has_checksum: true,
        is_text: false,
    },
    Form {
        name: "`.zst`, `.tracez`",
        sources: &[Files("tests/data/traces2", "zst"), Files("tests/data/traces2", "tracez")],
        beside: &[],
        commands: &[REPLAY, INFO],
        has_checksum: false,
        is_text: false,
    },
    Form {
        name: "lists of kernels",
        sources: &[File("traces/rows.kernelslist.g")],
        beside: &["traces/rows-kernel-1.traceg", "traces/rows-kernel-2.traceg"],
        commands: &[REPLAY, INFO],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "cubins",
        sources: &[
            Files("tests/data/listings", "cubin"),
            Files("tests/data/listings128", "cubin"),
            Files("tests/data/source-lines", "cubin"),
            File("traces/rows.sm_50.cubin"),
        ],
        beside: &[],
        commands: &[
            &["decode", "FILE", "--format", "json"],
            &["decode", "--all", "--control", "nvidia", "FILE"],
            &["decode", "--stats", "FILE"],
        ],
        has_checksum: false,
        is_text: false,
    },
    Form {
        name: "containers",
        sources: &[
            Files("tests/data/fatbins", "fatbin"),
            Files("tests/data/fatbins", "o"),
            Files("tests/data/fatbins", "a"),
            Files("tests/data/fatbins", "so"),
            Files("tests/data/fatbins", "obj"),
            File("tests/data/fatbins/program"),
        ],
        beside: &[],
        commands: &[
            &["decode", "FILE", "--format", "json"],
            &["decode", "--list", "FILE"],
            &["ptx", "check", "FILE"],
        ],
        has_checksum: false,
        is_text: false,
    },
    Form {
        name: "listings",
        sources: &[Files("tests/data/listings", "txt"), Files("tests/data/cmd", "txt")],
        beside: &[],
        commands: &[
            &["decode", "FILE", "--format", "json"],
            &["decode", "FILE"],
            &["decode", "--check", "FILE"],
        ],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "PTX modules",
        sources: &[
            Files("tests/data/ptx", "ptx"),
            Files("tests/data/listings", "ptx"),
            Files("ptx/tests/ptx/clang", "ptx"),
        ],
        beside: &[],
        commands: &[
            &["ptx", "check", "FILE"],
            &["ptx", "check", "--format", "json", "FILE"],
            &["ptx", "lower", "FILE"],
            &["ptx", "run", "FILE"],
        ],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "vectors",
        sources: &[
            File("tests/data/cmd/pass.jsonl"),
            File("tests/data/cmd/several.jsonl"),
            File("tests/data/cmd/sm70.jsonl"),
            File("tests/data/cmd/one.json"),
        ],
        beside: &[],
        commands: &[
            &["test", "FILE"],
            &["run", "--all", "FILE"],
            &["test", "--format", "json", "FILE"],
        ],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "suites",
        sources: &[
            Lines("vectors/v1/coalescing/shared.jsonl", 20),
            Lines("vectors/v1/decode/ld.jsonl", 40),
            Lines("vectors/v1/execute/ldg-sm90.jsonl", 20),
            Lines("vectors/v1/ptx-execute/ld.jsonl", 40),
            Lines("vectors/v1/ptx-legality/ld.jsonl", 40),
            Lines("vectors/v1/tensor-memory/tcgen05-ld.jsonl", 40),
        ],
        beside: &[],
        commands: &[
            &["conform", "--command", ANSWER, "FILE"],
            &["conform", "--command", ANSWER, "--format", "junit", "FILE"],
            &["conform", "--command", "cat", "FILE"],
        ],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "cases of Tensor Memory",
        sources: &[
            Lines("ptx/tests/tensor_memory/cases.jsonl", 40),
            File("tests/data/cmd/tmem-cases.jsonl"),
        ],
        beside: &[],
        commands: &[&["tmem", "test", "FILE"]],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "images",
        sources: &[File("traces/generic.image.json")],
        beside: &["traces/generic.image.bin", "traces/generic.wlt"],
        commands: &[&["replay", "generic.wlt", "--image", "FILE"], INFO],
        has_checksum: false,
        is_text: true,
    },
    Form {
        name: "summaries of shards",
        sources: &[File("tests/data/cmd/shard-0.json")],
        beside: &["tests/data/cmd/shard-1.json"],
        commands: &[&["merge", "FILE", "shard-1.json"]],
        has_checksum: true,
        is_text: true,
    },
];

impl Form {
    /// Reads the samples.
    ///
    /// # Errors
    /// Returns those of the system.
    pub(super) fn samples(&self) -> Result<Vec<Seed>> {
        Ok(read_sources(self.sources)?)
    }

    /// Copies what is beside an input into `folder`.
    ///
    /// # Errors
    /// Returns those of the system.
    pub(super) fn copy_beside(&self, root: &Path, folder: &Path) -> Result<()> {
        for name in self.beside {
            let copy = folder.join(name.rsplit('/').next().unwrap_or(name));
            fs::copy(root.join(name), copy).with_context(|| (*name).to_owned())?;
        }
        Ok(())
    }
}

/// Returns the arguments of a command that reads the file `name`.
pub(super) fn arguments<'a>(command: &[&'a str], name: &'a str) -> Vec<&'a str> {
    command.iter().map(|argument| if *argument == "FILE" { name } else { argument }).collect()
}

/// Work that writes files.
pub(super) struct Work {
    pub(super) name: &'static str,
    /// The output is called `OUT` here.
    pub(super) arguments: Vec<String>,
    /// The files that it makes in an empty folder, complete.
    pub(super) whole: Made,
    /// How long it takes when nothing disturbs it.
    pub(super) takes: Duration,
}

/// The files of a folder, by their paths in it.
pub(super) type Made = BTreeMap<String, Vec<u8>>;

/// How often the kernel of a sample is in the traces to work on.
const KERNELS: usize = 6;

/// Makes traces and summaries in `folder`, and the work that reads them.
///
/// # Errors
/// Returns an error if the command cannot do it undisturbed.
pub(super) fn work(campaign: &Campaign, folder: &Path) -> Result<Vec<Work>> {
    let kernel = "btree-v5-kernel-1.traceg";
    fs::copy(campaign.root.join("traces").join(kernel), folder.join(kernel))?;
    let at = |name: &str| folder.join(name).display().to_string();
    fs::write(at("list.g"), format!("{kernel}\n").repeat(KERNELS))?;
    let trace = at("trace.wlt");
    let done = |arguments: &[&str]| -> Result<()> {
        let command = limited(&campaign.program, folder, LIMITS, arguments);
        let ended = run(command, folder)?;
        ensure!(ended.code() == Some(0), "{arguments:?}: {}", ended.stderr);
        Ok(())
    };
    done(&["import", "list.g", "-o", &trace])?;
    for shard in ["0", "1", "2"] {
        let of = format!("{shard}/3");
        let to = at(shard);
        done(&[
            "replay", &trace, "--fill", "address", "--format", "json", "--shard", &of, "-o", &to,
        ])?;
    }
    let list = at("list.g");
    let (zero, one, two) = (at("0"), at("1"), at("2"));
    let all: [(&str, &[&str]); 6] = [
        ("import", &["import", &list, "-o", "OUT"]),
        ("import --split", &["import", &list, "--split", "-o", "OUT"]),
        ("replay -o", &["replay", &trace, "--fill", "address", "--format", "json", "-o", "OUT"]),
        ("replay --html", &["replay", &trace, "--fill", "address", "--html", "OUT"]),
        ("merge", &["merge", &zero, &one, &two, "-o", "OUT"]),
        ("export", &["export", &trace, "-o", "OUT"]),
    ];
    let scratch = tempfile::tempdir()?;
    let mut made = Vec::new();
    for (name, arguments) in all {
        let output = tempfile::tempdir()?;
        let arguments: Vec<String> = arguments.iter().map(|part| (*part).to_owned()).collect();
        let mut work = Work { name, arguments, whole: Made::new(), takes: Duration::ZERO };
        let start = Instant::now();
        let command = work.command(campaign, output.path(), LIMITS);
        let ended = run(command, scratch.path())?;
        ensure!(ended.code() == Some(0), "{name}: {}", ended.stderr);
        work.takes = start.elapsed();
        work.whole = files(output.path())?;
        made.push(work);
    }
    Ok(made)
}

impl Work {
    /// Returns the command, with `out` in `folder` as its output.
    pub(super) fn command(
        &self,
        campaign: &Campaign,
        folder: &Path,
        limits: &str,
    ) -> std::process::Command {
        let output = folder.join("out").display().to_string();
        let is_output = |part: &String| part == "OUT";
        let arguments: Vec<&str> = self
            .arguments
            .iter()
            .map(|part| if is_output(part) { &output } else { part.as_str() })
            .collect();
        limited(&campaign.program, Path::new("."), limits, &arguments)
    }

    /// Returns what is wrong with the files in the folder of the output: one that is neither complete
    /// nor what was there before, or that is not an output. `may_stay` tells which others may be there.
    pub(super) fn wrong(
        &self,
        found: &Made,
        before: &Made,
        may_stay: impl Fn(&str) -> bool,
    ) -> Option<String> {
        for (name, bytes) in found {
            let is_whole = self.whole.get(name) == Some(bytes);
            if !is_whole && before.get(name) != Some(bytes) && !may_stay(name) {
                let what = if self.whole.contains_key(name) { "is not whole" } else { "is left" };
                return Some(format!("{name} {what} ({} bytes)", bytes.len()));
            }
        }
        let gone = before.keys().find(|name| !found.contains_key(*name));
        if let Some(name) = gone {
            return Some(format!("{name} is gone"));
        }
        // A set is there only if all of its parts are.
        let is_set = |name: &&String| name.ends_with("set.json");
        let lacks_part = || self.whole.keys().any(|name| !found.contains_key(name));
        let set = found.keys().find(is_set).filter(|_| lacks_part());
        set.map(|name| format!("{name} without all of its parts"))
    }
}

/// Reads all files of a folder and of those in it.
///
/// # Errors
/// Returns those of the system.
pub(super) fn files(folder: &Path) -> Result<Made> {
    fn add(folder: &Path, prefix: &str, files: &mut Made) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path: PathBuf = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{prefix}{name}");
            if path.is_dir() {
                add(&path, &format!("{name}/"), files)?;
            } else {
                files.insert(name, fs::read(&path)?);
            }
        }
        Ok(())
    }
    let mut files = Made::new();
    add(folder, "", &mut files).with_context(|| format!("{}", folder.display()))?;
    Ok(files)
}
