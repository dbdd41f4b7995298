//! The repository's samples by their forms, with the commands that read them, and the work that takes long
//! enough to be disturbed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use warpload_fuzz::seeds::{
    Seed,
    Source::{self, File, Files, Lines},
    read_sources,
};

use crate::command::{LIMITS, limited, run};
use crate::{Campaign, file, files};

/// A form of input.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    sources: &'static [Source],
    /// What reads an input, which is called `FILE` here.
    pub(crate) commands: &'static [&'static str],
    /// Further files that are put beside an input; those that its commands name.
    beside: &'static [&'static str],
    /// Whether checksums cover an input, so that a changed one never has another answer.
    pub(crate) has_checksum: bool,
    pub(crate) is_text: bool,
}

type Commands = &'static [&'static str];

const fn binary(name: &'static str, sources: &'static [Source], commands: Commands) -> Form {
    Form { name, sources, commands, beside: &[], has_checksum: false, is_text: false }
}

const fn text(name: &'static str, sources: &'static [Source], commands: Commands) -> Form {
    Form { is_text: true, ..binary(name, sources, commands) }
}

const REPLAY: &str = "replay FILE --fill address --format json";
const TRACES: &[&str] = &[REPLAY, "replay FILE --fill address", "info FILE"];

/// All forms.
pub(crate) const FORMS: &[Form] = &[
    Form {
        has_checksum: true,
        ..binary(
            "binary traces",
            &[Files("tests/data/cmd", "wlt"), File("traces/generic.wlt")],
            &[REPLAY, "export FILE -o -", "info FILE"],
        )
    },
    Form {
        beside: &["traces/generic.wlt", "tests/data/cmd/example.wlt"],
        has_checksum: true,
        ..text(
            "trace sets",
            &[File("fuzz/seeds/trace_set_does_not_panic/two.set.json")],
            &[REPLAY, "info FILE"],
        )
    },
    text(
        "text traces",
        &[
            Files("tests/data/cmd", "traceg"),
            Files("tests/data/report", "traceg"),
            Files("tests/independent", "traceg"),
            Files("tests/data/traces2", "traceg"),
            File("tests/independent/handwritten.trace"),
            File("traces/bfs-v3-kernel-14.traceg"),
        ],
        TRACES,
    ),
    text(
        "logs and lines of JSON",
        &[
            Files("tests/independent", "log"),
            File("tests/independent/handwritten-export.jsonl"),
            File("traces/nvbit-mem_trace.json"),
            File("tests/data/traces2/damaged/values-31.ndjson"),
        ],
        TRACES,
    ),
    Form {
        has_checksum: true,
        ..binary(
            "`.xz`",
            &[
                Files("tests/data/traces2", "xz"),
                Files("tests/independent/traces", "xz"),
                File("traces/vecadd-v3-sm61-head.trace.xz"),
            ],
            &[REPLAY, "info FILE"],
        )
    },
    binary(
        "`.zst`, `.tracez`",
        &[Files("tests/data/traces2", "zst"), Files("tests/data/traces2", "tracez")],
        &[REPLAY, "info FILE"],
    ),
    Form {
        beside: &["traces/rows-kernel-1.traceg", "traces/rows-kernel-2.traceg"],
        ..text("lists of kernels", &[File("traces/rows.kernelslist.g")], &[REPLAY, "info FILE"])
    },
    binary(
        "cubins",
        &[
            Files("tests/data/listings", "cubin"),
            Files("tests/data/listings128", "cubin"),
            Files("tests/data/source-lines", "cubin"),
            File("traces/rows.sm_50.cubin"),
        ],
        &["decode FILE --format json", "decode --all --control nvidia FILE", "decode --stats FILE"],
    ),
    binary(
        "containers",
        &[
            Files("tests/data/fatbins", "fatbin"),
            Files("tests/data/fatbins", "o"),
            Files("tests/data/fatbins", "a"),
            Files("tests/data/fatbins", "so"),
            Files("tests/data/fatbins", "obj"),
            File("tests/data/fatbins/program"),
        ],
        &["decode FILE --format json", "decode --list FILE", "ptx check FILE"],
    ),
    text(
        "listings",
        &[Files("tests/data/listings", "txt"), Files("tests/data/cmd", "txt")],
        &["decode FILE --format json", "decode FILE", "decode --check FILE"],
    ),
    text(
        "PTX modules",
        &[
            Files("tests/data/ptx", "ptx"),
            Files("tests/data/listings", "ptx"),
            Files("ptx/tests/ptx/clang", "ptx"),
        ],
        &["ptx check FILE", "ptx check --format json FILE", "ptx lower FILE", "ptx run FILE"],
    ),
    text(
        "vectors",
        &[
            File("tests/data/cmd/pass.jsonl"),
            File("tests/data/cmd/several.jsonl"),
            File("tests/data/cmd/sm70.jsonl"),
            File("tests/data/cmd/one.json"),
        ],
        &["test FILE", "run --all FILE", "test --format json FILE"],
    ),
    text(
        "suites",
        &[
            Lines("vectors/v1/coalescing/shared.jsonl", 20),
            Lines("vectors/v1/decode/ld.jsonl", 40),
            Lines("vectors/v1/execute/ldg-sm90.jsonl", 20),
            Lines("vectors/v1/ptx-execute/ld.jsonl", 40),
            Lines("vectors/v1/ptx-legality/ld.jsonl", 40),
            Lines("vectors/v1/tensor-memory/tcgen05-ld.jsonl", 40),
        ],
        &[
            "conform --command ANSWER FILE",
            "conform --command ANSWER --format junit FILE",
            "conform --command cat FILE",
        ],
    ),
    text(
        "cases of Tensor Memory",
        &[
            Lines("ptx/tests/tensor_memory/cases.jsonl", 40),
            File("tests/data/cmd/tmem-cases.jsonl"),
        ],
        &["tmem test FILE"],
    ),
    Form {
        beside: &["traces/generic.image.bin", "traces/generic.wlt"],
        ..text(
            "images",
            &[File("traces/generic.image.json")],
            &["replay generic.wlt --image FILE", "info FILE"],
        )
    },
    Form {
        beside: &["tests/data/cmd/shard-1.json"],
        has_checksum: true,
        ..text(
            "summaries of shards",
            &[File("tests/data/cmd/shard-0.json")],
            &["merge FILE shard-1.json"],
        )
    },
];

impl Form {
    /// Reads the samples, each named as the file that it is, or a line of.
    ///
    /// # Errors
    /// Returns those of the system.
    pub(crate) fn samples(&self) -> Result<Vec<Seed>> {
        let mut samples = read_sources(self.sources)?;
        for seed in &mut samples {
            seed.name = seed.name.rsplit('/').next().unwrap_or_default().to_owned();
        }
        Ok(samples)
    }

    /// Copies the files that are beside an input into `folder`.
    ///
    /// # Errors
    /// Returns those of the system.
    pub(crate) fn copy_beside(&self, folder: &Path) -> Result<()> {
        for name in self.beside {
            fs::copy(file(name), folder.join(name.rsplit('/').next().unwrap_or(name)))?;
        }
        Ok(())
    }
}

/// Returns the words of a command, with `value` for the word `name`.
pub(crate) fn arguments<'a>(command: &'a str, name: &str, value: &'a str) -> Vec<&'a str> {
    let word = |word: &'a str| match word {
        // The command as an emulator that `conform` asks.
        "ANSWER" => "sh -c 'exec \"$PROGRAM\" answer'",
        word if word == name => value,
        word => word,
    };
    command.split(' ').map(word).collect()
}

/// The files of a folder, by their paths in it.
pub(crate) type Made = BTreeMap<String, Vec<u8>>;

/// Work that writes files.
pub(crate) struct Work {
    /// The output is called `OUT` here.
    pub(crate) command: &'static str,
    /// The files that it makes in an empty folder, complete.
    pub(crate) whole: Made,
    /// How long it takes when nothing disturbs it.
    pub(crate) takes: Duration,
}

/// The work, and the files that it needs in the folder that it runs in.
const PREPARE: [&str; 4] = [
    "import list.g -o trace",
    "replay trace --fill address --format json --shard 0/3 -o 0",
    "replay trace --fill address --format json --shard 1/3 -o 1",
    "replay trace --fill address --format json --shard 2/3 -o 2",
];
const WORK: [&str; 6] = [
    "import list.g -o OUT",
    "import list.g --split -o OUT",
    "replay trace --fill address --format json -o OUT",
    "replay trace --fill address --html OUT",
    "merge 0 1 2 -o OUT",
    "export trace -o OUT",
];

/// How often the kernel of a sample is in the traces to work on.
const KERNELS: usize = 6;

/// Makes traces and summaries in `folder`, and the work that reads them.
///
/// # Errors
/// Returns an error if the command cannot do it undisturbed.
pub(crate) fn work(campaign: &Campaign, folder: &Path) -> Result<Vec<Work>> {
    let kernel = "btree-v5-kernel-1.traceg";
    fs::copy(file("traces").join(kernel), folder.join(kernel))?;
    fs::write(folder.join("list.g"), format!("{kernel}\n").repeat(KERNELS))?;
    let done = |command: Command| -> Result<()> {
        let ended = run(command)?;
        let is_done = ended.code() == Some(0);
        is_done.then_some(()).ok_or_else(|| Error::other(ended.stderr))
    };
    for command in PREPARE {
        done(limited(&campaign.program, folder, LIMITS, &arguments(command, "", "")))?;
    }
    let make = |command| {
        let output = tempfile::tempdir()?;
        let mut work = Work { command, whole: Made::new(), takes: Duration::ZERO };
        let start = Instant::now();
        done(work.command(campaign, folder, output.path(), LIMITS))?;
        work.takes = start.elapsed();
        work.whole = files(output.path())?;
        Ok(work)
    };
    WORK.into_iter().map(make).collect()
}

impl Work {
    /// Returns the command, which reads files of `inputs` and writes `out` in `folder`.
    pub(crate) fn command(
        &self,
        campaign: &Campaign,
        inputs: &Path,
        folder: &Path,
        limits: &str,
    ) -> Command {
        let output = folder.join("out").display().to_string();
        let arguments = arguments(self.command, "OUT", &output);
        limited(&campaign.program, inputs, limits, &arguments)
    }

    /// Returns what is wrong with the files in the folder of the output: one that is neither complete
    /// nor as before, or that is not an output. `may_stay` tells which others may be there.
    pub(crate) fn wrong(
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
        if let Some(name) = before.keys().find(|name| !found.contains_key(*name)) {
            return Some(format!("{name} is gone"));
        }
        // A set is there only if all of its parts are.
        let set = found.keys().find(|name| name.ends_with("set.json"));
        let lacks_part = || self.whole.keys().any(|name| !found.contains_key(name));
        set.filter(|_| lacks_part()).map(|name| format!("{name} without all of its parts"))
    }
}
