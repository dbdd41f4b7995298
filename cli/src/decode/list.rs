//! `decode --list`: one line for each image of a file.

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use warpload_binary::container::{ContainerError, ContainerErrorKind, GpuCode, GpuCodeKind, is_of};
use warpload_binary::sass::{self, SassInstruction};

use super::images::{Chosen, no_image_of};
use crate::binary::text;
use crate::diagnostic;
use crate::io::{self, Output};
use crate::name::{plural, visible};
use crate::options::Format;
use crate::process::Status;
use warpload_binary::sass::FoundInstruction;

/// How many bytes are decompressed at the same time, unless one image has more.
const BATCH_BYTES: u64 = 64 << 20;
const BATCH_IMAGES: usize = 256;

#[derive(serde::Serialize)]
struct ImageJson<'i> {
    file: &'i str,
    image: u64,
    container: Option<String>,
    entry: Option<String>,
    member: Option<String>,
    kind: Option<KindJson>,
    sm: Option<&'i str>,
    bytes: Option<u64>,
    compression: Option<&'static str>,
    name: Option<String>,
    options: Option<String>,
    functions: Option<u64>,
    loads: Option<u64>,
    /// Only if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<String>,
    /// Only if it is, so that its bytes cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    obfuscated: bool,
    /// Only if something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum KindJson {
    Name(&'static str),
    Number(u16),
}

/// One line of the list.
struct Row<'f> {
    number: u64,
    image: Option<GpuCode<'f>>,
    sm: Option<String>,
    bytes: Option<u64>,
    code: Option<Code>,
    error: Option<ContainerError>,
    is_obfuscated: bool,
    is_chosen: bool,
}

/// What is counted of the code of a cubin.
struct Code {
    functions: u64,
    loads: u64,
}

/// Counts what is in a cubin; `None` if its code cannot be read.
fn count(cubin: &[u8]) -> Option<Code> {
    let mut code = Code { functions: 0, loads: 0 };
    let mut last = None;
    for instruction in sass::read(cubin, sass::Format::Detect).ok()? {
        let instruction = instruction.ok()?;
        code.loads += u64::from(is_load(&instruction));
        // Those of a function come one after the other.
        if instruction.function.is_some() && instruction.function != last {
            code.functions += 1;
            last = instruction.function;
        }
    }
    Some(code)
}

fn is_load(instruction: &SassInstruction) -> bool {
    FoundInstruction::new(instruction).is_load()
}

/// Lists the images of one file, or those of the chosen SM.
pub(super) fn list(chosen: &Chosen<'_>, output: &mut Output) -> anyhow::Result<Status> {
    let mut list = List { chosen, listed: 0, obfuscated: 0, status: Status::Done };
    let mut sms = BTreeSet::new();
    let mut images = chosen.images().peekable();
    // The system may start no threads.
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
        let rows: Vec<Row<'_>> = match &pool {
            Some(pool) => pool.install(|| batch.par_iter().map(|one| list.row(one)).collect()),
            None => batch.iter().map(|one| list.row(one)).collect(),
        };
        for row in rows {
            if row.is_chosen {
                list.write(&row, output)?;
            } else {
                sms.extend(row.sm);
            }
        }
    }
    if let (Some(wanted), 0) = (chosen.sm, list.listed) {
        let message = format!("{}: {}", io::name(chosen.path), no_image_of(wanted, &sms));
        list.status = list.status.max(output.fail(Status::Failed, message)?);
    }
    if list.obfuscated > 0 {
        output.flush()?;
        diagnostic::note(format_args!(
            "{}: {} cannot be read; this is no damage",
            io::name(chosen.path),
            plural(list.obfuscated, "obfuscated image"),
        ));
    }
    Ok(list.status)
}

struct List<'l> {
    chosen: &'l Chosen<'l>,
    listed: u64,
    /// How many of them are obfuscated.
    obfuscated: u64,
    status: Status,
}

impl List<'_> {
    fn row<'f>(&self, (number, found): &(u64, Result<GpuCode<'f>, ContainerError>)) -> Row<'f> {
        let wanted = self.chosen.sm;
        let mut row = Row {
            number: *number,
            image: found.as_ref().ok().cloned(),
            sm: None,
            bytes: None,
            code: None,
            error: found.as_ref().err().cloned(),
            is_obfuscated: false,
            // What cannot be read can be of any SM.
            is_chosen: wanted.is_none() || found.is_err(),
        };
        let Ok(image) = found else { return row };
        let mut sm = image.sm;
        row.bytes = Some(image.size);
        if image.may_be_of(wanted) {
            match image.read() {
                Ok(read) => {
                    sm = read.sm;
                    row.bytes = Some(read.bytes.len() as u64);
                    if image.kind == GpuCodeKind::Cubin && is_of(wanted, sm) {
                        row.code = count(&read.bytes);
                    }
                }
                Err(error) if matches!(error.kind, ContainerErrorKind::Obfuscated { .. }) => {
                    row.is_obfuscated = true;
                }
                Err(error) => row.error = Some(error),
            }
            row.is_chosen = is_of(wanted, sm);
        }
        row.sm = sm.map(|sm| sm.to_string());
        row
    }

    fn write(&mut self, row: &Row<'_>, output: &mut Output) -> std::io::Result<()> {
        let is_first = self.listed == 0;
        self.listed += 1;
        self.obfuscated += u64::from(row.is_obfuscated);
        if row.error.is_some() {
            self.status = output.raise(Status::Unreadable);
        }
        if self.chosen.format == Format::Json {
            return self.write_json(row, output);
        }
        let several = self.chosen.names_files;
        let file = visible(&io::name(self.chosen.path)).into_owned();
        let file = if several { file + "  " } else { String::new() };
        if is_first {
            output.line(format_args!(
                "{:width$}image  kind   sm          bytes  compression  functions    loads  place and name",
                "",
                width = file.chars().count()
            ))?;
        }
        let image = row.image.as_ref();
        let kind = image.map_or("-".into(), |image| match image.kind {
            GpuCodeKind::Cubin => "cubin".to_owned(),
            GpuCodeKind::Ptx => "ptx".to_owned(),
            GpuCodeKind::Other(number) => format!("{number:#x}"),
            _ => "-".to_owned(),
        });
        let sm = row.sm.as_deref().unwrap_or("-");
        let or_dash = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        let compression =
            image.and_then(|image| image.compression).map_or("-", |compression| compression.name());
        let names =
            image.map(|image| [image.member, image.section, image.name]).unwrap_or_default();
        let mut place: Vec<String> =
            names.into_iter().flatten().map(|name| visible(&text(name)).into_owned()).collect();
        place.extend(row.is_obfuscated.then(|| "obfuscated".to_owned()));
        place.extend(row.error.as_ref().map(|error| format!("error: {error}")));
        let code = row.code.as_ref();
        let line = format!(
            "{file}{:>5}  {kind:<5}  {sm:<5}  {:>10}  {compression:<11}  {:>9}  {:>7}  {}",
            row.number,
            or_dash(row.bytes),
            or_dash(code.map(|code| code.functions)),
            or_dash(code.map(|code| code.loads)),
            place.join("  ")
        );
        output.line(line.trim_end())
    }

    fn write_json(&self, row: &Row<'_>, output: &mut Output) -> std::io::Result<()> {
        let image = row.image.as_ref();
        let name = |name: fn(&GpuCode<'_>) -> Option<Vec<u8>>| {
            image.and_then(name).map(|name| text(&name))
        };
        let offset = |offset: Option<u64>| offset.map(|offset| format!("{offset:#x}"));
        let error = row.error.as_ref();
        output.json(&ImageJson {
            file: &self.chosen.path.display().to_string(),
            image: row.number,
            container: offset(image.and_then(|image| image.container)),
            entry: offset(image.map_or(error.map(|error| error.offset), |image| image.entry)),
            member: name(|image| image.member.map(<[u8]>::to_vec)),
            kind: image.and_then(|image| match image.kind {
                GpuCodeKind::Cubin => Some(KindJson::Name("cubin")),
                GpuCodeKind::Ptx => Some(KindJson::Name("ptx")),
                GpuCodeKind::Other(number) => Some(KindJson::Number(number)),
                _ => None,
            }),
            sm: row.sm.as_deref(),
            bytes: row.bytes,
            compression: image.and_then(|image| image.compression).map(|one| one.name()),
            name: name(|image| image.name.map(<[u8]>::to_vec)),
            options: name(|image| image.options.map(<[u8]>::to_vec)),
            functions: row.code.as_ref().map(|code| code.functions),
            loads: row.code.as_ref().map(|code| code.loads),
            section: name(|image| image.section.map(<[u8]>::to_vec)),
            obfuscated: row.is_obfuscated,
            error: error.map(ToString::to_string),
        })
    }
}
