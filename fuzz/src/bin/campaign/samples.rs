//! The repository's samples by form, with the commands that read them, and commands that write files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;

use warpload_fuzz::seeds::{Seed, read_sources};

use crate::command::{LIMITS, limited, run};
use crate::{Campaign, file, files};

/// A form of input.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// The sources of samples, for [`read_sources`].
    from: &'static str,
    /// The commands that read an input. `FILE` stands for its name.
    pub(crate) commands: Vec<&'static str>,
    /// Files that the commands need next to the input.
    beside: &'static str,
    /// Whether checksums cover an input, so that no change may give another answer unreported.
    pub(crate) has_checksum: bool,
}

/// The forms. A title gives the name, and `checksum` if checksums cover the form.
const FORMS: &str = "
# binary traces, checksum
from tests/data/cmd/*.wlt traces/generic.wlt
replay FILE --format json
export FILE -o -
info FILE
# text traces
from tests/data/cmd/*.traceg tests/data/report/*.traceg tests/independent/*.traceg \
    tests/data/traces2/*.traceg tests/independent/handwritten.trace traces/bfs-v3-kernel-14.traceg
replay FILE --format json
replay FILE
info FILE
# logs and lines of JSON
from tests/independent/*.log tests/independent/handwritten-export.jsonl \
    tests/data/traces2/damaged/values-31.ndjson
replay FILE --format json
replay FILE
info FILE
# `.xz`, checksum
from tests/data/traces2/*.xz tests/independent/traces/*.xz traces/vecadd-v3-sm61-head.trace.xz
replay FILE --format json
info FILE
# `.zst` and `.tracez`
from tests/data/traces2/*.zst tests/data/traces2/*.tracez
replay FILE --format json
info FILE
# lists of kernels
from traces/rows.kernelslist.g
beside traces/rows-kernel-1.traceg traces/rows-kernel-2.traceg
replay FILE --format json
info FILE
# cubins
from tests/data/listings/*.cubin tests/data/listings128/*.cubin tests/data/source-lines/*.cubin \
    traces/rows.sm_50.cubin
decode FILE --format json
decode --all --control nvidia FILE
decode --stats FILE
# containers
from tests/data/fatbins/*.fatbin tests/data/fatbins/*.o tests/data/fatbins/*.a \
    tests/data/fatbins/*.so tests/data/fatbins/*.obj tests/data/fatbins/program
decode FILE --format json
decode --list FILE
ptx check FILE
# listings
from tests/data/listings/*.txt tests/data/cmd/*.txt
decode FILE --format json
decode FILE
decode --check FILE
# PTX modules
from tests/data/ptx/*.ptx tests/data/listings/*.ptx ptx/tests/ptx/clang/*.ptx
ptx check FILE
ptx check --format json FILE
ptx lower FILE
ptx run FILE
# kernels
from ptx/tests/machine/*.ptx tests/data/ptx/run.ptx ptx/benches/kernels/*.ptx traces/textbook.ptx
ptx run FILE --block 33 --steps 20000 --arg zeros:4096
ptx run FILE --block 16,2,2 --steps 20000 --arg zeros:4096 --arg zeros:4096 --check-races
ptx run FILE --grid 2 --steps 20000 --arg zeros:4096 --arg zeros:4096 --arg 32 --format json
ptx run FILE --active 0xfffffffe --block 64 --steps 20000 --arg 32 --arg 1 --arg zeros:4096 --arg zeros:4096
ptx run FILE --steps 20000 --arg zeros:4096 --arg zeros:4096 --arg zeros:4096 --arg 7 --check-uninitialized
# vectors
from tests/data/cmd/pass.jsonl tests/data/cmd/several.jsonl tests/data/cmd/sm70.jsonl tests/data/cmd/one.json
test FILE
run --all FILE
test --format json FILE
# suites
from vectors/v1/coalescing/shared.jsonl%20 vectors/v1/decode/ld.jsonl%40 \
    vectors/v1/execute/ldg-sm90.jsonl%20 vectors/v1/ptx-execute/ld.jsonl%40 \
    vectors/v1/ptx-legality/ld.jsonl%40 vectors/v1/tensor-memory/tcgen05-ld.jsonl%40
conform --command ANSWER FILE
conform --command ANSWER --format junit FILE
conform --command cat FILE
# cases of Tensor Memory
from ptx/tests/tensor_memory/cases.jsonl%40 tests/data/cmd/tmem-cases.jsonl
tmem test FILE
# images
from traces/generic.image.json
beside traces/generic.image.bin traces/generic.wlt
replay generic.wlt --image FILE
info FILE
# summaries of shards, checksum
from tests/data/cmd/shard-0.json
beside tests/data/cmd/shard-1.json
merge FILE shard-1.json
";

pub(crate) fn forms() -> Vec<Form> {
    let form = |text: &'static str| {
        let mut lines = text.lines();
        let title = lines.next().unwrap_or_default();
        let (name, has_checksum) = match title.strip_suffix(", checksum") {
            Some(name) => (name, true),
            None => (title, false),
        };
        let (mut from, mut beside, mut commands) = ("", "", Vec::new());
        for line in lines {
            match line.split_once(' ') {
                Some(("from", files)) => from = files,
                Some(("beside", files)) => beside = files,
                _ => commands.push(line),
            }
        }
        Form { name, from, commands, beside, has_checksum }
    };
    FORMS.split("# ").skip(1).map(form).collect()
}

impl Form {
    /// Reads the samples, each under the name of its file.
    ///
    /// # Errors
    /// Returns an error of the system.
    pub(crate) fn samples(&self) -> Result<Vec<Seed>> {
        let mut samples = read_sources(self.from)?;
        for seed in &mut samples {
            seed.name = seed.name.rsplit('/').next().unwrap_or_default().to_owned();
        }
        Ok(samples)
    }

    /// Copies the files that commands need next to an input into `folder`.
    ///
    /// # Errors
    /// Returns an error of the system.
    pub(crate) fn copy_beside(&self, folder: &Path) -> Result<()> {
        for name in self.beside.split_whitespace() {
            fs::copy(file(name), folder.join(name.rsplit('/').next().unwrap_or(name)))?;
        }
        Ok(())
    }
}

/// The words of a command, with `value` for the word `name`. Replays without an image get a fill.
pub(crate) fn arguments<'a>(command: &'a str, name: &str, value: &'a str) -> Vec<&'a str> {
    let word = |word: &'a str| match word {
        // The command acts as the emulator that `conform` asks.
        "ANSWER" => "sh -c 'exec \"$PROGRAM\" answer'",
        word if word == name => value,
        word => word,
    };
    let needs_fill = command.starts_with("replay FILE") || command.starts_with("replay trace");
    let fill = if needs_fill { &["--fill", "address"][..] } else { &[] };
    command.split(' ').map(word).chain(fill.iter().copied()).collect()
}

/// The files of a folder, by their paths relative to it.
pub(crate) type Made = BTreeMap<String, Vec<u8>>;

/// A command that writes files.
pub(crate) struct Work {
    /// The command line. `OUT` stands for its output.
    pub(crate) command: &'static str,
    /// The files of a complete run into an empty folder.
    pub(crate) whole: Made,
}

/// The commands that make the inputs of [`WORK`].
const PREPARE: [&str; 4] = [
    "import list.g -o trace",
    "replay trace --format json --shard 0/3 -o 0",
    "replay trace --format json --shard 1/3 -o 1",
    "replay trace --format json --shard 2/3 -o 2",
];
const WORK: [&str; 5] = [
    "import list.g -o OUT",
    "replay trace --format json -o OUT",
    "replay trace --html OUT",
    "merge 0 1 2 -o OUT",
    "export trace -o OUT",
];

/// The number of kernels in the traces, all copies of a sample's kernel, to make the work take longer.
const KERNELS: usize = 6;

/// Makes traces and summaries in `folder`, and the commands that read them.
///
/// # Errors
/// Returns an error if a command fails without limits.
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
        let mut work = Work { command, whole: Made::new() };
        done(work.command(campaign, folder, output.path(), LIMITS))?;
        work.whole = files(output.path())?;
        Ok(work)
    };
    WORK.into_iter().map(make).collect()
}

impl Work {
    /// The command, run in `inputs`, with the output `out` in `folder`.
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

    /// The error in the files of the output's folder, which was empty before, if there is one.
    pub(crate) fn wrong(&self, found: &Made) -> Option<String> {
        let is_whole = |(name, bytes): &(&String, &Vec<u8>)| self.whole.get(*name) == Some(*bytes);
        if let Some((name, bytes)) = found.iter().find(|one| !is_whole(one)) {
            let what = if self.whole.contains_key(name) { "is not whole" } else { "is left" };
            return Some(format!("{name} {what} ({} bytes)", bytes.len()));
        }
        // A set may exist only with all its parts.
        let set = found.keys().find(|name| name.ends_with("set.json"));
        let lacks_part = || self.whole.keys().any(|name| !found.contains_key(name));
        set.filter(|_| lacks_part()).map(|name| format!("{name} without all of its parts"))
    }
}
