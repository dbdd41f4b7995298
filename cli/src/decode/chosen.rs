//! [`Chosen`]: a file of code, and the choice among its images.

use std::path::Path;

use warpload_binary::container::{ContainerError, GpuCode, GpuCodeKind, Read, SmChoice};
use warpload_binary::sass::{self, Sass, SassError};

use super::arguments::ImageChoice;
use super::row::Tag;
use crate::binary::{numbered, text};
use crate::io::{self, Output};
use crate::name::visible;
use crate::options::Format;
use crate::process::Status;
use crate::{name, remedy};

/// A binary file, and the choice among its images.
pub(super) struct Chosen<'c> {
    pub(super) path: &'c Path,
    pub(super) file: &'c [u8],
    pub(super) choice: &'c ImageChoice,
    pub(super) format: Format,
    /// Whether messages and rows name the file, because there are several.
    pub(super) names_files: bool,
}

/// The counts of a file.
#[derive(Default)]
struct Found {
    choice: SmChoice,
    /// The number of cubins, and of chosen ones.
    cubins: u64,
    chosen: u64,
    other: u64,
    damaged: u64,
    /// The number of cubins of unsupported SMs, and the error of the first.
    unsupported: u64,
    first: Option<SassError>,
}

impl<'c> Chosen<'c> {
    /// The images of the file with their numbers, or only the one that `--image` chooses.
    pub(super) fn images(
        &self,
    ) -> impl Iterator<Item = (u64, Result<GpuCode<'c>, ContainerError>)> + use<'c> {
        let wanted = self.choice.image;
        numbered(self.file).filter(move |(number, _)| wanted.is_none_or(|wanted| wanted == *number))
    }

    /// Reports an image number that is too large.
    pub(super) fn without_image(&self, output: &mut Output) -> anyhow::Result<Status> {
        let count = numbered(self.file).count();
        let Some(wanted) = self.choice.image.filter(|_| count > 0) else {
            return Err(without_code(self.file));
        };
        let name = io::name(self.path);
        let message = format_args!("{name}: no image {wanted}; the last one is {count}");
        Ok(output.fail(Status::Unreadable, message)?)
    }

    /// Passes on the instructions of every chosen cubin, with the cubin's tag if it is in a container. A damaged cubin
    /// does not stop the ones after it.
    pub(super) fn decode(
        &self,
        output: &mut Output,
        mut decode: impl FnMut(Tag, Sass<&[u8]>, &mut Output) -> anyhow::Result<()>,
    ) -> anyhow::Result<Status> {
        let choice = SmChoice::new(self.choice.sm);
        let mut found = Found { choice, ..Found::default() };
        let cubins = self.images().filter(|(_, image)| is_cubin(image.as_ref().ok()));
        let several = cubins.take(2).count() > 1;
        for (number, image) in self.images() {
            let is_alone = image.as_ref().is_ok_and(GpuCode::is_alone);
            let decoded = image.map_err(anyhow::Error::from).and_then(|image| {
                if !is_cubin(Some(&image)) {
                    found.other += 1;
                    return Ok(());
                }
                found.cubins += 1;
                let Some(read) = found.choice.read(&image)? else { return Ok(()) };
                found.chosen += 1;
                let has_heading = several && self.format == Format::Text;
                let heading = has_heading.then(|| self.heading(number, &image, &read));
                let tag = Tag { number: (!is_alone).then_some(number), heading };
                decode(tag, sass::read(&*read.bytes, sass::Format::Detect)?, output)
            });
            match decoded.map_err(|error| error.downcast::<SassError>()) {
                Ok(()) => {}
                Err(Ok(error @ SassError::UnsupportedSm { .. })) if !is_alone => {
                    found.unsupported += 1;
                    found.first.get_or_insert(error);
                }
                Err(error) => {
                    let error = error.map_or_else(|error| error, anyhow::Error::from);
                    if io::is_output_error(&error) || is_alone && found.chosen > 0 {
                        return Err(error);
                    }
                    found.damaged += 1;
                    let (name, error) = (io::name(self.path), remedy::with_causes(&error));
                    let message = format_args!("{name}: image {number}: {error}");
                    output.fail(Status::Unreadable, message)?;
                }
            }
        }
        self.finish(found, output)
    }

    /// The heading before the loads of one of several cubins.
    fn heading(&self, number: u64, image: &GpuCode<'_>, read: &Read<'_>) -> String {
        let file =
            if self.names_files { format!("{}, ", io::name(self.path)) } else { String::new() };
        let sm = read.sm.map_or("unknown".to_owned(), |sm| sm.to_string());
        let names = [image.member, image.name].into_iter().flatten().map(text);
        let names: String = names.map(|name| format!(", {}", visible(&name))).collect();
        format!("{}image {number}, SM {sm}{names}:", visible(&file))
    }

    /// Reports images that were not decoded.
    fn finish(&self, found: Found, output: &mut Output) -> anyhow::Result<Status> {
        let name = io::name(self.path);
        let Found { choice, cubins, chosen, other, damaged, unsupported, first } = found;
        if cubins + other + damaged == 0 {
            return self.without_image(output);
        }
        let mut status = if damaged > 0 { Status::Unreadable } else { Status::Done };
        if let Err(error) = choice.check() {
            status = status.max(output.fail(Status::Unreadable, format_args!("{name}: {error}"))?);
        } else if cubins == 0 && damaged == 0 {
            anyhow::bail!("no cubins; `warpload ptx check` reads PTX, if the file has any");
        }
        if let Some(first) = first {
            let count = name::plural(unsupported, "cubin");
            let message = format!("{name}: {count} not decoded; the first is {first}");
            if unsupported == chosen {
                status = output.fail(Status::Unreadable, message)?;
            } else {
                output.note(message)?;
            }
        }
        Ok(status)
    }
}

fn is_cubin(image: Option<&GpuCode<'_>>) -> bool {
    image.is_some_and(|image| image.kind == GpuCodeKind::Cubin)
}

/// The error for a file without GPU code, which names the file's kind.
pub(super) fn without_code(file: &[u8]) -> anyhow::Error {
    const EXPECTED: &str =
        "without GPU code; expected a cubin, a file that holds cubins, or a SASS listing";
    match sass::read(file, sass::Format::Detect) {
        Err(SassError::OtherFile(kind)) => anyhow::anyhow!("{} {EXPECTED}", kind.name()),
        Err(SassError::OtherMachine { machine }) => {
            anyhow::anyhow!("an ELF file of machine {machine} {EXPECTED}")
        }
        Err(error) => error.into(),
        Ok(_) => anyhow::anyhow!("a file {EXPECTED}"),
    }
}
