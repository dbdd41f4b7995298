//! `images --extract`: writes each image of a file to a file of its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use warpload_binary::container::{GpuCodeKind, SmChoice};

use super::chosen::Chosen;
use crate::destination;
use crate::io::{self, Output};
use crate::name::visible;
use crate::options::Format;
use crate::process::Status;

/// The most characters of an input's name in an image's name.
const MAX_STEM: usize = 100;

#[derive(serde::Serialize)]
struct ExtractedJson<'i> {
    file: &'i str,
    image: u64,
    path: &'i str,
}

/// The inputs so far, by the stem of their images' names. In lower case, because some file systems ignore case.
#[derive(Default)]
pub(super) struct Extracted(HashMap<String, PathBuf>);

impl Extracted {
    /// Notes an input. Refuses a second one with the same stem, because its images would replace the ones just written.
    fn add(&mut self, stem: &str, path: &Path) -> anyhow::Result<()> {
        match self.0.entry(stem.to_ascii_lowercase()) {
            Entry::Vacant(entry) => drop(entry.insert(path.to_owned())),
            Entry::Occupied(entry) => bail!(
                "its images have the same names as those of {}, {stem}.N; expected another folder",
                io::name(entry.get())
            ),
        }
        Ok(())
    }
}

/// Writes the cubins and the PTX of one file into a folder, or only those of the chosen SM.
pub(super) fn extract(
    chosen: &Chosen<'_>,
    folder: &Path,
    force: bool,
    extracted: &mut Extracted,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Chosen { path, format, .. } = *chosen;
    let stem = stem(path);
    extracted.add(&stem, path)?;
    let (mut status, mut count, mut choice) = (Status::Done, 0, SmChoice::new(chosen.choice.sm));
    for (number, image) in chosen.images() {
        count += 1;
        let written = image.map_err(anyhow::Error::from).and_then(|image| {
            let extension = image.kind;
            if !matches!(extension, GpuCodeKind::Cubin | GpuCodeKind::Ptx) {
                return Ok(None);
            }
            let Some(read) = choice.read(&image)? else { return Ok(None) };
            let sm = read.sm.map_or("unknown".to_owned(), |sm| sm.to_string());
            let to = folder.join(format!("{stem}.{number}.sm_{sm}.{extension}"));
            write(&read.bytes, folder, &to, force)?;
            Ok(Some(to.display().to_string()))
        });
        match written {
            Ok(None) => {}
            Ok(Some(to)) => match format {
                Format::Text => output.line(visible(&to))?,
                Format::Json => {
                    let file = path.display().to_string();
                    output.json(&ExtractedJson { file: &file, image: number, path: &to })?;
                }
            },
            Err(error) => {
                let message = format_args!("{}: image {number}: {error:#}", io::name(path));
                status = status.max(output.fail(Status::Unreadable, message)?);
            }
        }
    }
    if count == 0 {
        return chosen.without_image(output);
    }
    if let Err(error) = choice.check() {
        let message = format_args!("{}: {error}", io::name(path));
        status = status.max(output.fail(Status::Unreadable, message)?);
    }
    Ok(status)
}

/// Writes an image. Replaces an existing file only with `force`.
fn write(bytes: &[u8], folder: &Path, to: &Path, force: bool) -> anyhow::Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot be created", folder.display()))?;
    if !force && fs::symlink_metadata(to).is_ok() {
        bail!("{}: exists; use `--force` to replace it", to.display());
    }
    Ok(destination::target(to)?.write(bytes)?)
}

/// The name of an input without its folder and its extension, made safe for a file name: neither hidden nor mistaken
/// for an option.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().filter(|_| !io::is_stdin(path));
    let stem = stem.map_or("stdin".into(), |stem| stem.to_string_lossy());
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let safe = stem.chars().take(MAX_STEM).map(|c| if is_safe(c) { c } else { '_' });
    let mut safe: String = safe.collect();
    if safe.starts_with(['.', '-']) {
        safe.replace_range(..1, "_");
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_safe() {
        for (path, expected) in [
            ("lib/libnccl.so.2", "libnccl.so"),
            ("lib.a", "lib"),
            ("-", "stdin"),
            ("./-rf.so", "_rf"),
            ("a/.hidden", "_hidden"),
            ("a b\n\u{1b}[31m;ü.o", "a_b___31m__"),
        ] {
            assert_eq!(stem(Path::new(path)), expected, "{path}");
        }
        assert_eq!(stem(Path::new(&"x".repeat(200))).len(), MAX_STEM);
    }
}
