//! `decode` of a file that is not text: the loads of each cubin in it.

use std::collections::BTreeSet;

use warpload::container::{Image, ImageKind, Read};
use warpload::sass::{self, SassError};

use super::Decoder;
use crate::binary::{is_of, may_be_of, numbered, text};
use crate::io::{self, Output};
use crate::name::visible;
use crate::options::Format;
use crate::status::Status;
use crate::{diagnostic, name};

/// The image of a container that an instruction is in.
pub(super) struct Tag {
    pub(super) number: u64,
}

/// What was found in a file.
#[derive(Default)]
struct Found {
    /// How many there are, and how many of them were chosen.
    cubins: u64,
    chosen: u64,
    other: u64,
    damaged: u64,
    /// The SMs that were not chosen.
    sms: BTreeSet<String>,
    /// How many cubins are of an SM whose code cannot be read, and why the first cannot.
    unsupported: u64,
    first: Option<SassError>,
}

impl Decoder<'_, '_> {
    /// Decodes every cubin, or those of the chosen SM. A damaged one hides no other.
    pub(super) fn images(&mut self, file: &[u8], output: &mut Output) -> anyhow::Result<()> {
        let mut found = Found::default();
        let cubins = numbered(file).filter(|(_, image)| is_cubin(image.as_ref().ok()));
        let several = cubins.take(2).count() > 1;
        for (number, image) in numbered(file) {
            let image = match image {
                Ok(image) => image,
                Err(error) => {
                    self.damaged(number, &error, &mut found, output)?;
                    continue;
                }
            };
            if !is_cubin(Some(&image)) {
                found.other += 1;
                continue;
            }
            found.cubins += 1;
            if !may_be_of(self.arguments.sm, &image) {
                found.sms.extend(image.sm.map(|sm| sm.to_string()));
                continue;
            }
            match image.read() {
                Ok(read) if is_of(self.arguments.sm, read.sm) => {
                    found.chosen += 1;
                    self.image(number, &image, &read, several, &mut found, output)?;
                }
                Ok(read) => found.sms.extend(read.sm.map(|sm| sm.to_string())),
                Err(error) => self.damaged(number, &error, &mut found, output)?,
            }
        }
        self.image = None;
        self.finish_images(file, found, output)
    }

    fn image(
        &mut self,
        number: u64,
        image: &Image<'_>,
        read: &Read<'_>,
        several: bool,
        found: &mut Found,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let is_alone = image.container.is_none() && image.member.is_none();
        let sm = read.sm.map(|sm| sm.to_string());
        let heading = || {
            let names = [image.member, image.name].into_iter().flatten().map(text);
            let names: String = names.map(|name| format!(", {}", visible(&name))).collect();
            let file = if self.arguments.input.len() > 1 {
                io::name(self.path) + ", "
            } else {
                String::new()
            };
            format!("{file}image {number}, SM {}{names}:", sm.as_deref().unwrap_or("unknown"))
        };
        let heading = (several && self.arguments.format == Format::Text).then(heading);
        self.image = (!is_alone).then_some(Tag { number });
        let result = match sass::read(&*read.bytes, sass::Format::Detect) {
            Ok(instructions) => {
                if let Some(heading) = heading {
                    output.line(heading)?;
                }
                self.instructions(instructions, output)
            }
            Err(error @ SassError::UnsupportedSm { .. }) if !is_alone => {
                found.unsupported += 1;
                found.first.get_or_insert(error);
                Ok(())
            }
            Err(error) => Err(error.into()),
        };
        match result {
            Err(error) if is_alone || io::is_output_error(&error) => Err(error),
            Err(error) => self.damaged(number, &format_args!("{error:#}"), found, output),
            Ok(()) => Ok(()),
        }
    }

    /// Reports an image that cannot be read.
    fn damaged(
        &mut self,
        number: u64,
        error: &dyn std::fmt::Display,
        found: &mut Found,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        found.damaged += 1;
        let message = format_args!("{}: image {number}: {error}", io::name(self.path));
        self.status = self.status.max(output.fail(Status::Unreadable, message)?);
        Ok(())
    }

    /// Says what was not decoded.
    fn finish_images(
        &mut self,
        file: &[u8],
        found: Found,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let name = io::name(self.path);
        let Found { cubins, chosen, other, damaged, sms, unsupported, first } = found;
        if cubins + other + damaged == 0 {
            return Err(without_code(file));
        }
        if let (Some(wanted), 0) = (self.arguments.sm, chosen) {
            let message = no_image_of(wanted, &sms);
            self.status =
                self.status.max(output.fail(Status::Failed, format_args!("{name}: {message}"))?);
        } else if cubins == 0 && damaged == 0 {
            anyhow::bail!("no cubins; `warpload ptx check` reads the PTX, if that is what it has");
        }
        if let Some(first) = first {
            let count = name::plural(unsupported, "cubin");
            let message = format!("{name}: {count} not decoded; the first is {first}");
            if unsupported == chosen {
                self.status = self.status.max(output.fail(Status::Unreadable, message)?);
            } else {
                output.flush()?;
                diagnostic::note(message);
            }
        }
        Ok(())
    }
}

fn is_cubin(image: Option<&Image<'_>>) -> bool {
    image.is_some_and(|image| image.kind == ImageKind::Cubin)
}

/// Says that there is no image of the wanted SM, and which there are.
pub(super) fn no_image_of(wanted: warpload::encoding::Sm, sms: &BTreeSet<String>) -> String {
    let mut sms: Vec<&str> = sms.iter().map(String::as_str).collect();
    // By number: 90a before 120.
    sms.sort_by_key(|sm| sm.trim_end_matches(|end: char| end.is_ascii_alphabetic()).len());
    let others = if sms.is_empty() { "none".to_owned() } else { sms.join(", ") };
    format!("no image of SM {wanted}; those that there are: {others}")
}

/// Says what a file is that has no GPU code.
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
