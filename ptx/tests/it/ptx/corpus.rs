//! The recorded verdicts, row by row.

use std::io::{BufRead, BufReader};

use serde_json::Value;

/// A module with the verdict of ptxas.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) family: String,
    /// The load; empty in `ld_more.jsonl.xz`.
    pub(crate) instruction: String,
    pub(crate) is_accepted: bool,
    pub(crate) error: String,
    pub(crate) module: String,
}

const FILES: [&[u8]; 4] = [
    include_bytes!("../../ptx/ld.jsonl.xz"),
    include_bytes!("../../ptx/ld_global_nc.jsonl.xz"),
    include_bytes!("../../ptx/tcgen05_ld.jsonl.xz"),
    include_bytes!("../../ptx/ld_more.jsonl.xz"),
];

/// All rows of all files.
pub(crate) fn rows() -> impl Iterator<Item = Row> {
    let lines = FILES
        .into_iter()
        .flat_map(|bytes| BufReader::new(liblzma::read::XzDecoder::new(bytes)).lines());
    lines.map(|line| {
        let row: Value = serde_json::from_str(&line.expect("a line")).expect("an object");
        let text = |name: &str| row[name].as_str().expect(name).to_owned();
        Row {
            id: text("id"),
            family: text("family"),
            instruction: row["instr"].as_str().unwrap_or_default().to_owned(),
            is_accepted: row["accept"].as_bool().expect("a verdict"),
            error: text("error"),
            module: text("module"),
        }
    })
}
