//! `traces`: trace files of every supported kind, and damaged ones.

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::{CaseFile, Cases, DOCUMENT, Family, Head, MODEL};
use super::flag::{Flag, flag, notes};
use super::sources::Sources;
use crate::step::root;

pub(crate) const FAMILY: Family = Family { name: "traces", cases, flags: || notes(FLAGS) };

/// A trace file: its folder and name, and the file with the model's counts in `tests/independent/expected`.
struct Trace {
    folder: &'static str,
    name: &'static str,
    expected: Option<&'static str>,
}

impl Trace {
    fn is_damaged(&self) -> bool {
        self.folder.ends_with("damaged") || self.name.starts_with("damaged")
    }

    fn is(&self, kinds: &[&str]) -> bool {
        kinds.iter().any(|kind| self.name.trim_end_matches(".xz").ends_with(kind))
    }

    /// Whether the name begins with one of these versions of Accel-Sim's tracer.
    fn has_version(&self, versions: &[&str]) -> bool {
        versions.iter().any(|version| self.name.starts_with(version))
    }
}

#[rustfmt::skip]
const FLAGS: &[Flag<Trace>] = &[
    flag("accelsim", "Accel-Sim's text, grouped by thread blocks.", |trace| trace.is(&[".traceg"])),
    flag("accelsim-raw", "Accel-Sim's text as the tracer writes it.", |trace| trace.is(&[".trace"])),
    flag("accelsim-tracez", "Accel-Sim's compressed container.", |trace| trace.is(&[".tracez"])),
    flag("binary", "This project's binary traces (docs/trace-format.md).", |trace| trace.is(&[".wlt"])),
    flag("cut", "The file ends too early.", |trace| trace.name.contains("cut")),
    flag("cutracer", "CUTracer's NDJSON.", |trace| trace.name.contains("cutracer") || trace.name.contains("ndjson")),
    flag("damaged", "The file contradicts itself or its format, and is refused.", Trace::is_damaged),
    flag("export", "This project's JSON lines (docs/trace-jsonl.md).", |trace| trace.is(&["export.jsonl"])),
    flag("kernels-list", "A list of traces.", |trace| trace.is(&["kernelslist.g"])),
    flag("mem-trace", "The text of NVBit's mem_trace.", |trace| trace.is(&[".log"])),
    flag("tracer-1", "Version 1 or 2 of Accel-Sim's tracer.", |trace| trace.has_version(&["v1"])),
    flag("tracer-3", "Version 3 of Accel-Sim's tracer.", |trace| trace.has_version(&["v3"])),
    flag("tracer-4", "Version 4 of Accel-Sim's tracer.", |trace| trace.has_version(&["v4"])),
    flag("tracer-5", "Version 5 of Accel-Sim's tracer.", |trace| trace.has_version(&["v5"])),
    flag("tracer-6", "Version 6 of Accel-Sim's tracer.", |trace| trace.has_version(&["v6"])),
    flag("xz", "Compressed by xz.", |trace| trace.name.ends_with(".xz")),
    flag("zstd", "Compressed by zstd.", |trace| trace.name.ends_with(".zst")),
];

const fn modelled(folder: &'static str, name: &'static str, expected: &'static str) -> Trace {
    Trace { folder, name, expected: Some(expected) }
}

const fn other(folder: &'static str, name: &'static str) -> Trace {
    Trace { folder, name, expected: None }
}

const INDEPENDENT: &str = "tests/independent";
const SAMPLES: &str = "tests/data/traces2";
const DAMAGED: &str = "tests/data/traces2/damaged";

const TRACES: [(&str, &[Trace]); 4] = [
    (
        "accelsim",
        &[
            modelled(INDEPENDENT, "handwritten-1.traceg", "handwritten-1"),
            modelled(INDEPENDENT, "handwritten-2.traceg", "handwritten-2"),
            modelled(INDEPENDENT, "kernelslist.g", "kernelslist"),
            modelled(INDEPENDENT, "handwritten.trace", "handwritten"),
            modelled(SAMPLES, "v1.2-grouped.traceg.xz", "traces2/v1.2-grouped"),
            modelled(SAMPLES, "v1.2-active-mask.traceg.xz", "traces2/v1.2-active-mask"),
            modelled(SAMPLES, "v3-grouped.traceg", "traces2/v3-grouped"),
            modelled(SAMPLES, "v3-mode1-gaps.traceg", "traces2/v3-mode1-gaps"),
            modelled(SAMPLES, "v3-real-vecadd.traceg.xz", "traces2/v3-real-vecadd"),
            modelled(SAMPLES, "v4-lineinfo.trace.xz", "traces2/v4-lineinfo"),
            modelled(SAMPLES, "v5-grouped.traceg", "traces2/v5-grouped"),
            modelled(SAMPLES, "v5-core-id.traceg.xz", "traces2/v5-core-id"),
            modelled(SAMPLES, "v5-mode0.traceg.xz", "traces2/v5-mode0"),
            modelled(SAMPLES, "v6.tracez", "traces2/v6-grouped"),
            modelled(SAMPLES, "v6-nodict.traceg", "traces2/v6-nodict"),
            modelled(SAMPLES, "v6-nodict.tracez", "traces2/v6-nodict"),
            modelled(SAMPLES, "v6-lineinfo.traceg.xz", "traces2/v6-lineinfo"),
        ],
    ),
    (
        "nvbit",
        &[
            modelled(INDEPENDENT, "handwritten-memtrace.log", "handwritten-memtrace"),
            modelled(INDEPENDENT, "handwritten-export.jsonl", "handwritten-export"),
            modelled(SAMPLES, "nvbit-verbose.log.xz", "traces2/nvbit-verbose"),
            modelled(SAMPLES, "nvbit-launch-forms.log.xz", "traces2/nvbit-launch-forms"),
            modelled(SAMPLES, "cutracer-addr.ndjson.xz", "traces2/cutracer-addr"),
            modelled(SAMPLES, "cutracer-legacy.ndjson.xz", "traces2/cutracer-legacy"),
            modelled(SAMPLES, "cutracer-frames.ndjson.zst", "traces2/cutracer-frames"),
        ],
    ),
    ("binary", &[other("tests/data/cmd", "example.wlt")]),
    (
        "damaged",
        &[
            other("cli/tests/conform/suite/traces/files", "damaged.wlt"),
            other(DAMAGED, "access-size-3.ndjson"),
            other(DAMAGED, "addr-65-bits.ndjson"),
            other(DAMAGED, "address-not-hex.log"),
            other(DAMAGED, "cut-header.tracez"),
            other(DAMAGED, "cut-index.tracez"),
            other(DAMAGED, "cut-line.ndjson"),
            other(DAMAGED, "cut-line.traceg"),
            other(DAMAGED, "cut-record.log"),
            other(DAMAGED, "frame-no-magic.tracez"),
            other(DAMAGED, "index-beyond-end.tracez"),
            other(DAMAGED, "insts-too-small.traceg"),
            other(DAMAGED, "list-names-missing.kernelslist.g"),
            other(DAMAGED, "mode-5.traceg"),
            other(DAMAGED, "no-end-tb.traceg"),
            other(DAMAGED, "tb-twice.traceg"),
            other(DAMAGED, "v5-warp-outside-block.traceg"),
            other(DAMAGED, "val-count-2.traceg"),
            other(DAMAGED, "version-7.traceg"),
        ],
    ),
];

/// The counts of a replay that cases expect. A summary has more.
const COUNTS: [&str; 16] = [
    "records",
    "loads",
    "lanes",
    "bytes",
    "by_opcode",
    "by_space",
    "sectors",
    "lines",
    "ideal_sectors",
    "lane_faults",
    "shared",
    "local",
    "constant",
    "stores",
    "atomics",
    "digest",
];

fn cases(sources: &Sources) -> Result<Cases> {
    let mut cases = Cases::default();
    for (instruction, traces) in TRACES {
        let mut file = CaseFile { instruction: instruction.to_owned(), cases: Vec::new() };
        for trace in traces {
            let Trace { folder, name, expected } = trace;
            let contents = sources.bytes(&format!("{folder}/{name}"))?;
            let expect = match expected {
                _ if trace.is_damaged() => r#"{"refused":true}"#.to_owned(),
                Some(expected) => {
                    counts(&sources.text(&format!("{INDEPENDENT}/expected/{expected}.json"))?)?
                }
                None => {
                    let path = root().join(folder).join(name);
                    let path = super::case::quoted(&path.to_string_lossy());
                    let question = format!(r#""file":{path},"options":{{"fill":"address"}}"#);
                    let answers = sources.answers("traces", &[question])?;
                    counts(answers.first().context("no answer")?)?
                }
            };
            let is_modelled = expected.is_some() || trace.is_damaged() && !trace.is(&[".wlt"]);
            let head = Head::of(FLAGS, trace, if is_modelled { MODEL } else { DOCUMENT });
            let question = format!(r#""file":"files/{name}","options":{{"fill":"address"}}"#);
            file.cases.push(head.asking("traces", &question, &expect).of_file(&contents));
            cases.carried.push(((*name).to_owned(), contents));
        }
        cases.files.push(file);
    }
    Ok(cases)
}

/// The expected counts of a summary, as JSON.
fn counts(summary: &str) -> Result<String> {
    let summary: Value = serde_json::from_str(summary)?;
    let mut counts = String::from("{");
    for key in COUNTS {
        let Some(count) = summary.get(key).filter(|count| !count.is_null()) else { continue };
        counts += if counts.len() > 1 { "," } else { "" };
        counts += &format!(r#""{key}":{count}"#);
    }
    Ok(counts + "}")
}
