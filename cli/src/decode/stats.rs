//! `stats`: counts of the loads of each function, and remarks.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpload::encoding::Sm;
use warpload_binary::sass::{FoundInstruction, SassInstruction};
use warpload_binary::statistics::{
    FunctionIdentity, FunctionStatistics, Statistics, StatisticsByFunction,
};

use super::arguments::CodeArguments;
use super::decoder::Job;
use super::functions::Functions;
use crate::io::{self, Output};
use crate::name::{plural, visible};
use crate::options::{Format, Progress};
use crate::process::Status;
use crate::table::{self, Column, Value};

/// Count the loads of each function of a cubin, a raw stream or a listing
///
/// Loads are counted by kind, width and cache operator, with remarks on neighbours that one wider load could serve,
/// volatile loads, and displacements that are not a multiple of the access size. For a file with several images also
/// the total, which counts a function once even if several images have it, such as relocatable code after linking.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload stats traces/rows.sm_50.cubin
  warpload stats --sm 80 --format json libkernels.so")]
pub(crate) struct Arguments {
    /// Files; `-` is standard input
    #[arg(required = true)]
    input: Vec<PathBuf>,

    #[command(flatten)]
    code: CodeArguments,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { input, code } = &arguments;
    super::each_file(input, code, Job::Stats, progress, output)
}

/// The most remarks on a function in text; JSON has all.
const REMARKS: usize = 16;

/// The statistics of the functions of one input.
pub(super) struct Stats<'s> {
    path: &'s Path,
    format: Format,
    names_files: bool,
    current: StatisticsByFunction,
    /// For text, the functions of the current image so far.
    functions: Vec<Row>,
    /// Functions of the current image without known basic blocks, so that their neighbouring loads are unknown.
    without_blocks: u64,
    /// The first image that has each function.
    known: HashMap<FunctionIdentity, u64>,
    images: BTreeSet<u64>,
    /// The number of distinct functions in images, and of copies.
    distinct: u64,
    copies: u64,
    /// The sum of all functions of images, except copies.
    total: Row,
}

/// A function in the table.
#[derive(Default)]
struct Row {
    name: String,
    sm: Option<Sm>,
    demangled: Option<Arc<str>>,
    /// The counts, with only the remarks to show.
    statistics: Statistics,
    /// The earlier image that has the same function.
    copy_of: Option<u64>,
    remarks: u64,
}

#[derive(serde::Serialize)]
struct StatsJson<'s> {
    /// Present only if there are several inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Present only for words of 128 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    sm: Option<String>,
    /// The number of the function's cubin; present only in a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<u64>,
    /// The number of an earlier image with the same function; present only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_of: Option<u64>,
    function: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<&'s str>,
    #[serde(flatten)]
    statistics: &'s Statistics,
}

impl<'s> Stats<'s> {
    pub(super) fn new(path: &'s Path, format: Format, names_files: bool) -> Self {
        Self {
            path,
            format,
            names_files,
            current: StatisticsByFunction::default(),
            functions: Vec::new(),
            without_blocks: 0,
            known: HashMap::new(),
            images: BTreeSet::new(),
            distinct: 0,
            copies: 0,
            total: Row::default(),
        }
    }

    /// Adds the next instruction. `image` is the number of its image.
    pub(super) fn add(
        &mut self,
        instruction: &SassInstruction,
        found: &FoundInstruction,
        image: Option<u64>,
        names: &mut Functions<'_>,
        output: &mut Output,
    ) -> std::io::Result<()> {
        let function = self.current.add(instruction, found);
        function.map_or(Ok(()), |function| self.function(function, image, names, output))
    }

    fn function(
        &mut self,
        function: FunctionStatistics,
        image: Option<u64>,
        names: &mut Functions<'_>,
        output: &mut Output,
    ) -> std::io::Result<()> {
        let FunctionStatistics { identity, statistics, .. } = function;
        let (name, sm) = (identity.name.clone(), identity.sm);
        let mut copy_of = None;
        if let Some(image) = image {
            self.images.insert(image);
            let first = *self.known.entry(identity).or_insert(image);
            copy_of = (first != image).then_some(first);
            if copy_of.is_some() {
                self.copies += 1;
            } else {
                self.distinct += 1;
                self.total.remarks += statistics.remarks.len() as u64;
                self.total.statistics.add_counts(&statistics);
            }
        }
        self.without_blocks += u64::from(!statistics.are_blocks_known && statistics.loads > 0);
        let demangled = name.as_ref().and_then(|name| names.demangle(name));
        if self.format == Format::Json {
            return output.json(&StatsJson {
                file: self.names_files.then(|| self.path.display().to_string()),
                sm: sm.filter(|sm| sm.has_wide_words()).map(|sm| sm.to_string()),
                image,
                copy_of,
                function: name.as_deref(),
                demangled: demangled.as_deref(),
                statistics: &statistics,
            });
        }
        let name = name.as_deref().unwrap_or("-").to_owned();
        self.functions.push(Row { sm, copy_of, ..Row::new(name, demangled, statistics) });
        Ok(())
    }

    /// Writes the rest for an image, or for an input without images. `heading` is for one of several cubins.
    pub(super) fn finish(
        &mut self,
        image: Option<u64>,
        heading: Option<String>,
        names: &mut Functions<'_>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        if let Some(last) = self.current.finish() {
            self.function(last, image, names, output)?;
        }
        let file = io::name(self.path);
        let functions = std::mem::take(&mut self.functions);
        if !functions.is_empty() {
            heading.map_or(Ok(()), |heading| output.line(heading))?;
            if self.names_files {
                output.line(format_args!("{}:", visible(&file)))?;
            }
            output.text(&text(functions))?;
            if self.names_files {
                output.line("")?;
            }
        }
        let without_blocks = std::mem::take(&mut self.without_blocks);
        if without_blocks > 0 {
            output.note(format_args!(
                "{file}: neighbouring loads are not compared in {}: with branches to unknown places, \
                 or without all words",
                plural(without_blocks, "function")
            ))?;
        }
        Ok(())
    }

    /// Writes the sum of several images.
    pub(super) fn finish_file(self, output: &mut Output) -> std::io::Result<()> {
        if self.format == Format::Json || self.images.len() < 2 {
            return Ok(());
        }
        let mut name = format!("total of {}", plural(self.distinct, "function"));
        match self.copies {
            0 => {}
            1 => name += ", 1 copy left out",
            copies => name += &format!(", {copies} copies left out"),
        }
        let images = plural(self.images.len() as u64, "image");
        let total = Row { name, ..self.total };
        output.text(&format!("{images}:\n{}", table::text(&columns(), &[total])))
    }
}

impl Row {
    fn new(name: String, demangled: Option<Arc<str>>, mut statistics: Statistics) -> Self {
        let remarks = statistics.remarks.len() as u64;
        statistics.remarks.truncate(REMARKS);
        Self { name, demangled, statistics, remarks, ..Self::default() }
    }

    /// Adds the function's SM to its name.
    fn name_sm(&mut self) {
        let Some(sm) = self.sm else { return };
        self.name += &format!(" (SM {sm})");
        self.demangled = self.demangled.take().map(|name| format!("{name} (SM {sm})").into());
    }

    /// Sums up the functions.
    fn total(rows: &[Self]) -> Self {
        let mut statistics = Statistics::default();
        rows.iter().for_each(|row| statistics.add_counts(&row.statistics));
        let remarks = rows.iter().map(|row| row.remarks).sum();
        let name = format!("total of {}", plural(rows.len() as u64, "function"));
        Self { name, statistics, remarks, ..Self::default() }
    }

    fn kind(&self, kind: &str) -> Value<'static> {
        self.statistics.by_kind.get(kind).map_or(Value::None, |count| Value::Count(*count))
    }

    fn bits(&self, bits: Option<u32>) -> Value<'static> {
        self.statistics.by_bits.get(&bits).map_or(Value::None, |count| Value::Count(*count))
    }

    /// The loads of more than 256 bits a lane, which are loads of Tensor Memory.
    fn more_bits(&self) -> Value<'static> {
        let counts = self.statistics.by_bits.range(Some(257)..).map(|(_, count)| count);
        let count = counts.sum();
        if count > 0 { Value::Count(count) } else { Value::None }
    }

    /// The loads with a cache operator other than the default.
    fn cache(&self) -> Value<'static> {
        let named =
            self.statistics.by_cache.iter().filter(|(name, _)| !matches!(&***name, "" | "CA"));
        let named: Vec<String> = named.map(|(name, count)| format!("{name} {count}")).collect();
        if named.is_empty() { Value::None } else { Value::Whole(named.join(", ")) }
    }
}

/// The table and the remarks. Functions with the most loads come first.
fn text(mut rows: Vec<Row>) -> String {
    rows.sort_by_key(|row| std::cmp::Reverse(row.statistics.loads));
    if rows.iter().any(|row| row.sm != rows[0].sm) {
        rows.iter_mut().for_each(Row::name_sm);
    }
    let remarked = remarks(&rows);
    if rows.len() > 1 {
        rows.push(Row::total(&rows));
    }
    table::text(&columns(), &rows) + &remarked
}

fn remarks(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.remarks > 0) {
        text += &format!("\n{}", visible(&row.name));
        if let Some(demangled) = &row.demangled {
            text += &format!("  {}", visible(demangled));
        }
        text.push('\n');
        for remark in &row.statistics.remarks {
            let offset = remark.offset.map_or("-".to_owned(), |offset| format!("{offset:#06x}"));
            text += &format!("  {offset:<6}  {:<12}  {remark}\n", remark.kind.name());
        }
        let more = row.remarks - row.statistics.remarks.len() as u64;
        if more > 0 {
            text += &format!("          and {more} more\n");
        }
    }
    text
}

fn columns() -> Vec<Column<Row>> {
    macro_rules! columns {
        ($($heading:literal: $value:expr;)*) => {
            vec![$(Column { heading: $heading, value: $value },)*]
        };
    }
    columns! {
        "loads": |row| Value::Count(row.statistics.loads);
        "LD": |row| row.kind("LD");
        "LDG": |row| row.kind("LDG");
        "LDL": |row| row.kind("LDL");
        "LDS": |row| row.kind("LDS");
        "LDC": |row| row.kind("LDC");
        "LDSM": |row| row.kind("LDSM");
        "ULDC": |row| row.kind("ULDC");
        "LDCU": |row| row.kind("LDCU");
        "LDGSTS": |row| row.kind("LDGSTS");
        "LDTM": |row| row.kind("LDTM");
        "8 bits": |row| row.bits(Some(8));
        "16": |row| row.bits(Some(16));
        "32": |row| row.bits(Some(32));
        "64": |row| row.bits(Some(64));
        "128": |row| row.bits(Some(128));
        "256": |row| row.bits(Some(256));
        "more": Row::more_bits;
        "invalid": |row| row.bits(None);
        "remarks": |row| if row.remarks > 0 { Value::Count(row.remarks) } else { Value::None };
        "cache operators": Row::cache;
        "copy of": |row| row.copy_of.map_or(Value::None, Value::Count);
        "function": |row| Value::Text(row.demangled.as_deref().unwrap_or(&row.name).into());
    }
}
