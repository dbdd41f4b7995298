//! `images`: one line for each image of a file, or a file for each.

use std::io::BufRead;
use std::path::PathBuf;

use anyhow::anyhow;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use warpload_binary::container::{
    ContainerError, ContainerErrorKind, GpuCode, GpuCodeKind, SmChoice,
};
use warpload_binary::file_kind::FileKind;
use warpload_binary::sass::{self, FoundInstruction};

use super::arguments::ImageChoice;
use super::chosen::Chosen;
use super::extract::{self, Extracted};
use crate::binary::{self, Opened, text};
use crate::inputs;
use crate::io::{self, Output};
use crate::name::{plural, visible};
use crate::options::{Format, Progress};
use crate::process::Status;

/// List or extract the cubins and the PTX in a file
///
/// Files are recognized by content: fatbins; objects, archives, libraries and programs with fatbins in them; cubins.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload images libkernels.so
  warpload images --sm 80 --extract cubins libkernels.so")]
pub(crate) struct Arguments {
    /// Files; `-` is standard input
    #[arg(required = true)]
    input: Vec<PathBuf>,

    /// Write each image into this folder instead: STEM.N.sm_S.cubin or .ptx, with the file's name and the image's number
    #[arg(long, value_name = "DIR")]
    extract: Option<PathBuf>,

    /// Replace existing files
    #[arg(long, requires = "extract")]
    force: bool,

    #[command(flatten)]
    choice: ImageChoice,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { input, extract, force, choice, format } = &arguments;
    if extract.is_some() {
        // Remembered before the first is extracted, because an image must not replace a later input.
        inputs::remember_named(input.iter().filter(|path| !io::is_stdin(path)));
        if input.iter().any(|path| io::is_stdin(path)) {
            inputs::remember_stdin();
        }
    }
    let mut extracted = Extracted::default();
    super::each_input(input, output, |path, output| {
        let binary = match binary::open(path, progress)? {
            Opened::Binary(binary) => binary,
            Opened::Text(input) => return Err(not_a_container(input)),
        };
        let (file, format, names_files) = (binary.bytes(), *format, input.len() > 1);
        let chosen = Chosen { path, file, choice, format, names_files };
        match extract {
            None => list(&chosen, output),
            Some(folder) => extract::extract(&chosen, folder, *force, &mut extracted, output),
        }
    })
}

/// The error for a text instead of a file with images.
pub(super) fn not_a_container(mut text: impl BufRead) -> anyhow::Error {
    match text.fill_buf().map(FileKind::detect) {
        Ok(Some(kind)) => anyhow!("{kind}"),
        Ok(None) => anyhow!("text; expected a file that holds cubins or PTX"),
        Err(error) => error.into(),
    }
}

/// The most bytes to decompress at the same time, unless one image has more.
const BATCH_BYTES: u64 = 64 << 20;
const BATCH_IMAGES: usize = 256;

/// The listed facts about an image.
#[derive(Default, serde::Serialize)]
struct ImageJson<'i> {
    file: &'i str,
    image: u64,
    container: Option<String>,
    entry: Option<String>,
    member: Option<String>,
    kind: Option<GpuCodeKind>,
    sm: Option<String>,
    bytes: Option<u64>,
    compression: Option<&'static str>,
    name: Option<String>,
    options: Option<String>,
    functions: Option<u64>,
    loads: Option<u64>,
    /// Present only if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<String>,
    /// Present only if true: the bytes of the image cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    obfuscated: bool,
    /// Present only if there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Counts the functions and the loads of a cubin; `None` if its code cannot be read.
fn count(cubin: &[u8]) -> Option<(u64, u64)> {
    let (mut functions, mut loads, mut last) = (0, 0, None);
    for instruction in sass::read(cubin, sass::Format::Detect).ok()? {
        let instruction = instruction.ok()?;
        loads += u64::from(FoundInstruction::new(&instruction).is_load());
        // The instructions of a function are consecutive.
        if instruction.function.is_some() && instruction.function != last {
            functions += 1;
            last = instruction.function;
        }
    }
    Some((functions, loads))
}

/// Lists the images of one file; with `--sm` only the images for that SM.
fn list(chosen: &Chosen<'_>, output: &mut Output) -> anyhow::Result<Status> {
    let file = chosen.path.display().to_string();
    let mut list = List { chosen, file: &file, listed: 0, obfuscated: 0, status: Status::Done };
    let mut choice = SmChoice::new(chosen.choice.sm);
    let mut images = chosen.images().peekable();
    // The system may refuse to start threads. Without a pool the images are read one by one.
    let pool = rayon::ThreadPoolBuilder::new().build().ok();
    if images.peek().is_none() {
        return chosen.without_image(output);
    }
    while images.peek().is_some() {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(next) = images.next_if(|_| bytes < BATCH_BYTES && batch.len() < BATCH_IMAGES)
        {
            bytes += next.1.as_ref().map_or(0, |image| image.size);
            batch.push(next);
        }
        let rows: Vec<Result<ImageJson<'_>, SmChoice>> = match &pool {
            Some(pool) => pool.install(|| batch.par_iter().map(|one| list.image(one)).collect()),
            None => batch.iter().map(|one| list.image(one)).collect(),
        };
        for row in rows {
            match row {
                Ok(image) => list.write(&image, output)?,
                Err(other) => choice.add(other),
            }
        }
    }
    if let (Err(error), 0) = (choice.check(), list.listed) {
        let message = format!("{}: {error}", io::name(chosen.path));
        list.status = list.status.max(output.fail(Status::Unreadable, message)?);
    }
    if list.obfuscated > 0 {
        output.note(format_args!(
            "{}: {} cannot be read; this is no damage",
            io::name(chosen.path),
            plural(list.obfuscated, "obfuscated image"),
        ))?;
    }
    Ok(list.status)
}

struct List<'l> {
    chosen: &'l Chosen<'l>,
    file: &'l str,
    listed: u64,
    /// The number of obfuscated images.
    obfuscated: u64,
    status: Status,
}

impl<'l> List<'l> {
    /// Reads an image. If the choice passes it over, returns the choice as the error.
    fn image(
        &self,
        (number, found): &(u64, Result<GpuCode<'_>, ContainerError>),
    ) -> Result<ImageJson<'l>, SmChoice> {
        let offset = |offset: u64| format!("{offset:#x}");
        let known = ImageJson { file: self.file, image: *number, ..ImageJson::default() };
        let image = match found {
            Ok(image) => image,
            // Listed whatever SM was chosen, because an unreadable image can be of any SM.
            Err(error) => {
                let (entry, error) = (Some(offset(error.offset)), Some(error.to_string()));
                return Ok(ImageJson { entry, error, ..known });
            }
        };
        let mut known = ImageJson {
            container: image.container.map(offset),
            entry: image.entry.map(offset),
            member: image.member.map(text),
            kind: Some(image.kind),
            sm: image.sm.map(|sm| sm.to_string()),
            bytes: Some(image.size),
            compression: image.compression.map(|compression| compression.name()),
            name: image.name.map(text),
            options: image.options.map(text),
            section: image.section.map(text),
            ..known
        };
        let mut choice = SmChoice::new(self.chosen.choice.sm);
        match choice.read(image) {
            Ok(Some(read)) => {
                known.sm = read.sm.map(|sm| sm.to_string());
                known.bytes = Some(read.bytes.len() as u64);
                if image.kind == GpuCodeKind::Cubin {
                    (known.functions, known.loads) = count(&read.bytes).unzip();
                }
            }
            Ok(None) => return Err(choice),
            Err(_) if !choice.is_of(image.sm) => return Err(choice),
            Err(error) if matches!(error.kind, ContainerErrorKind::Obfuscated { .. }) => {
                known.obfuscated = true;
            }
            Err(error) => known.error = Some(error.to_string()),
        }
        Ok(known)
    }

    fn write(&mut self, known: &ImageJson<'_>, output: &mut Output) -> std::io::Result<()> {
        let is_first = self.listed == 0;
        self.listed += 1;
        self.obfuscated += u64::from(known.obfuscated);
        if known.error.is_some() {
            self.status = output.raise(Status::Unreadable);
        }
        if self.chosen.format == Format::Json {
            return output.json(known);
        }
        let file = visible(&io::name(self.chosen.path)).into_owned();
        let file = if self.chosen.names_files { file + "  " } else { String::new() };
        if is_first {
            output.line(format_args!(
                "{:width$}image  kind   sm          bytes  compression  functions    loads  place and name",
                "",
                width = file.chars().count()
            ))?;
        }
        let kind = known.kind.map_or("-".to_owned(), |kind| kind.to_string());
        let or_dash = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        let names = [&known.member, &known.section, &known.name].into_iter().flatten();
        let mut place: Vec<String> = names.map(|name| visible(name).into_owned()).collect();
        place.extend(known.obfuscated.then(|| "obfuscated".to_owned()));
        place.extend(known.error.as_ref().map(|error| format!("error: {error}")));
        let line = format!(
            "{file}{:>5}  {kind:<5}  {:<5}  {:>10}  {:<11}  {:>9}  {:>7}  {}",
            known.image,
            known.sm.as_deref().unwrap_or("-"),
            or_dash(known.bytes),
            known.compression.unwrap_or("-"),
            or_dash(known.functions),
            or_dash(known.loads),
            place.join("  ")
        );
        output.line(line.trim_end())
    }
}
