//! `decode --stats`: the loads of each function, and what stands out.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serializer;
use warpload::encoding::{self, MachineWord, Sm};
use warpload_binary::sass::{SassInstruction, without_relocations};
use warpload_binary::statistics::{
    InstructionFacts, LoadFacts, Remark, Statistics, StatisticsBuilder,
};

use super::arguments::Arguments;
use super::functions::Names;
use super::row::has_relocated_text;
use crate::io::{self, Output};
use crate::name::{plural, visible};
use crate::options::Format;
use crate::table::{self, Column, Value};
use warpload_binary::sass::{FoundInstruction, is_later_load, sm_of};

/// How many remarks on a function text shows; JSON has all.
const REMARKS: usize = 16;

/// The statistics of the functions of one input.
pub(super) struct Stats<'s> {
    path: &'s Path,
    arguments: &'s Arguments,
    function: Option<Function>,
    /// The functions so far, for text.
    functions: Vec<Row>,
    /// The number of the image, and the file that has it.
    library: Option<(u64, Rc<RefCell<Library>>)>,
    /// Functions whose neighbouring loads are not known.
    without_blocks: u64,
}

/// The function that is being read.
struct Function {
    name: Option<Arc<str>>,
    demangled: Option<Arc<str>>,
    sm: Option<Sm>,
    /// The offset of its last instruction.
    last: Option<u64>,
    instructions: u64,
    opcodes: DefaultHasher,
    builder: StatisticsBuilder,
}

/// A function in the table.
#[derive(Default)]
struct Row {
    name: String,
    sm: Option<Sm>,
    demangled: Option<Arc<str>>,
    /// With the remarks that are shown.
    statistics: Statistics,
    /// The image that has the same function and comes before.
    copy_of: Option<u64>,
    remarks: u64,
}

/// The functions of a file with several images, to tell which of them are copies, and for their sum.
#[derive(Default)]
pub(super) struct Library {
    /// The first image that has each.
    known: HashMap<Code, u64>,
    /// The counts of all functions without copies, then the numbers of functions and of copies.
    total: Statistics,
    remarks: u64,
    functions: u64,
    copies: u64,
    images: BTreeSet<u64>,
    is_text: bool,
}

/// What tells a function from others: not its operands, which the linker changes.
#[derive(PartialEq, Eq, Hash)]
struct Code {
    name: Option<Arc<str>>,
    sm: Option<Sm>,
    instructions: u64,
    opcodes: u64,
}

impl Library {
    /// Adds a function of an image. Returns the image before that has it too, if one does.
    fn add(&mut self, image: u64, code: Code, statistics: &Statistics) -> Option<u64> {
        let first = *self.known.entry(code).or_insert(image);
        self.images.insert(image);
        if first != image {
            self.copies += 1;
            return Some(first);
        }
        self.functions += 1;
        self.remarks += statistics.remarks.len() as u64;
        self.total.add_counts(statistics);
        None
    }

    /// Returns the sum of several images as text.
    pub(super) fn total(&self) -> Option<String> {
        if !self.is_text || self.images.len() < 2 {
            return None;
        }
        let mut name = format!("total of {}", plural(self.functions, "function"));
        if self.copies > 0 {
            name += &format!(", {} left out", plural_copies(self.copies));
        }
        let (statistics, remarks) = (self.total.clone(), self.remarks);
        let total = Row { name, statistics, remarks, ..Row::default() };
        let images = plural(self.images.len() as u64, "image");
        Some(format!("{images}:\n{}", table::text(&columns(), &[total])))
    }
}

fn plural_copies(copies: u64) -> String {
    if copies == 1 { "1 copy".to_owned() } else { format!("{copies} copies") }
}

#[derive(serde::Serialize)]
struct StatsJson<'s> {
    /// Only if there are several inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'s str>,
    /// Only if words have 128 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    sm: Option<String>,
    /// Only in a file that holds cubins: the number of the function's.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<u64>,
    /// Only if an image before has the same function: its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_of: Option<u64>,
    function: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<&'s str>,
    loads: u64,
    by_kind: &'s BTreeMap<&'static str, u64>,
    #[serde(serialize_with = "by_size")]
    by_size: &'s BTreeMap<Option<u32>, u64>,
    #[serde(serialize_with = "by_cache")]
    by_cache: &'s BTreeMap<std::borrow::Cow<'static, str>, u64>,
    remarks: Vec<RemarkJson>,
}

#[derive(serde::Serialize)]
struct RemarkJson {
    offset: Option<String>,
    kind: &'static str,
    text: String,
}

impl From<&Remark> for RemarkJson {
    fn from(remark: &Remark) -> Self {
        let offset = remark.offset.map(|offset| format!("{offset:#x}"));
        Self { offset, kind: remark.kind.name(), text: remark.to_string() }
    }
}

fn by_size<S: Serializer>(
    counts: &&BTreeMap<Option<u32>, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let key = |bits: &Option<u32>| bits.map_or("invalid".to_owned(), |bits| bits.to_string());
    serializer.collect_map(counts.iter().map(|(bits, count)| (key(bits), count)))
}

fn by_cache<S: Serializer>(
    counts: &&BTreeMap<std::borrow::Cow<'static, str>, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(name, count)| match &**name {
        "" => ("none", count),
        name => (name, count),
    }))
}

impl<'s> Stats<'s> {
    /// `library` has the number of this image, and the functions of the images before it.
    pub(super) fn new(
        path: &'s Path,
        arguments: &'s Arguments,
        library: Option<(u64, Rc<RefCell<Library>>)>,
    ) -> Self {
        let functions = Vec::new();
        Self { path, arguments, function: None, functions, library, without_blocks: 0 }
    }

    /// Takes the next instruction, of the function that `names` is at.
    pub(super) fn add(
        &mut self,
        instruction: &SassInstruction,
        found: &FoundInstruction,
        names: &Names,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let SassInstruction { function, offset, sm, .. } = instruction;
        let is_same = |current: &Function| {
            let ascends = current.last.is_none() || offset.is_none() || current.last < *offset;
            current.name == *function && current.sm == *sm && ascends
        };
        if !self.function.as_ref().is_some_and(is_same) {
            self.finish_function(output)?;
        }
        let current = self.function.get_or_insert_with(|| Function {
            name: function.clone(),
            demangled: names.demangled().map(Arc::from),
            sm: *sm,
            last: None,
            instructions: 0,
            opcodes: DefaultHasher::new(),
            builder: StatisticsBuilder::default(),
        });
        current.last = *offset;
        current.instructions += 1;
        opcode(instruction.word).hash(&mut current.opcodes);
        current.builder.add(step(instruction, found));
        Ok(())
    }

    fn finish_function(&mut self, output: &mut Output) -> anyhow::Result<()> {
        let Some(function) = self.function.take() else { return Ok(()) };
        let Function { name, demangled, sm, instructions, opcodes, builder, .. } = function;
        let statistics = builder.finish();
        let image = self.library.as_ref().map(|(image, _)| *image);
        let copy_of = self.library.as_ref().and_then(|(image, library)| {
            let mut library = library.borrow_mut();
            library.is_text = self.arguments.format == Format::Text;
            let code = Code { name: name.clone(), sm, instructions, opcodes: opcodes.finish() };
            library.add(*image, code, &statistics)
        });
        self.without_blocks += u64::from(!statistics.are_blocks_known && statistics.loads > 0);
        if self.arguments.format == Format::Json {
            let file = self.arguments.names_files().then(|| self.path.display().to_string());
            output.json(&StatsJson {
                file: file.as_deref(),
                sm: sm.filter(|sm| sm.has_wide_words()).map(|sm| sm.to_string()),
                image,
                copy_of,
                function: name.as_deref(),
                demangled: demangled.as_deref(),
                loads: statistics.loads,
                by_kind: &statistics.by_kind,
                by_size: &statistics.by_bits,
                by_cache: &statistics.by_cache,
                remarks: statistics.remarks.iter().map(RemarkJson::from).collect(),
            })?;
        } else {
            let name = name.as_deref().unwrap_or("-").to_owned();
            self.functions.push(Row { sm, copy_of, ..Row::new(name, demangled, statistics) });
        }
        Ok(())
    }

    /// Writes what is left to write.
    ///
    /// `heading` is that of one of several cubins.
    pub(super) fn finish(
        mut self,
        heading: Option<String>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        self.finish_function(output)?;
        let file = io::name(self.path);
        if !self.functions.is_empty() {
            heading.map_or(Ok(()), |heading| output.line(heading))?;
            if self.arguments.names_files() {
                output.line(format_args!("{}:", visible(&file)))?;
            }
            output.text(&text(self.functions))?;
            if self.arguments.names_files() {
                output.line("")?;
            }
        }
        if self.without_blocks > 0 {
            output.note(format_args!(
                "{file}: neighbouring loads are not compared in {}: with branches to unknown places, \
                 or without all words",
                plural(self.without_blocks, "function")
            ))?;
        }
        Ok(())
    }
}

/// Returns what the statistics see of an instruction.
fn step(instruction: &SassInstruction, found: &FoundInstruction) -> InstructionFacts {
    let sm = sm_of(instruction).unwrap_or(Sm::SPA5);
    let relocated = || {
        let text = without_relocations(instruction.text.as_deref()?)?;
        encoding::Instruction::parse(&text, sm).ok()
    };
    let known = match found {
        FoundInstruction::Load(load) => Some(*load),
        FoundInstruction::Relocated => relocated(),
        _ => None,
    };
    let load = known.as_ref().map(LoadFacts::from);
    let mut step = match instruction.word.filter(|_| !is_later_load(instruction)) {
        Some(MachineWord::Bits64(word)) => InstructionFacts::narrow(instruction.offset, word),
        Some(MachineWord::Bits128(word)) => {
            InstructionFacts::wide(instruction.offset, word, sm, load)
        }
        None => InstructionFacts::opaque(instruction.offset, load),
    };
    let is_relocated = instruction.is_relocated || has_relocated_text(instruction);
    if let Some(load) = step.load.as_mut().filter(|_| is_relocated) {
        load.displacement = None;
    }
    step
}

/// Returns the bits of a word that say which instruction it is.
fn opcode(word: Option<MachineWord>) -> u16 {
    match word {
        Some(MachineWord::Bits64(word)) => (word >> 48) as u16,
        Some(MachineWord::Bits128(word)) => word as u16 & 0xfff,
        None => 0,
    }
}

impl Row {
    fn new(name: String, demangled: Option<Arc<str>>, mut statistics: Statistics) -> Self {
        let remarks = statistics.remarks.len() as u64;
        statistics.remarks.truncate(REMARKS);
        Self { name, demangled, statistics, remarks, ..Self::default() }
    }

    /// Says of which SM the function is.
    fn name_sm(&mut self) {
        let Some(sm) = self.sm else { return };
        self.name += &format!(" (SM {sm})");
        self.demangled = self.demangled.take().map(|name| format!("{name} (SM {sm})").into());
    }

    /// Returns the sums of the functions.
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

    /// Returns the loads of more than 256 bits by a lane, which load Tensor Memory.
    fn more_bits(&self) -> Value<'static> {
        let counts = self.statistics.by_bits.range(Some(257)..).map(|(_, count)| count);
        let count = counts.sum();
        if count > 0 { Value::Count(count) } else { Value::None }
    }

    /// Returns the loads with a cache operator other than the default one.
    fn cache(&self) -> Value<'static> {
        let named =
            self.statistics.by_cache.iter().filter(|(name, _)| !matches!(&***name, "" | "CA"));
        let named: Vec<String> = named.map(|(name, count)| format!("{name} {count}")).collect();
        if named.is_empty() { Value::None } else { Value::Whole(named.join(", ")) }
    }
}

/// Returns the table and the remarks, functions with most loads first.
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
