//! The inputs of targets: files of the repository, lines of files, concatenations and drawn vectors.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use warpload::encoding::Sm;
use warpload_suite::generate;

/// An input and its origin.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The file, with the line's number if it is a line.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

/// Returns the repository that this program was built in.
#[must_use]
pub fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Reads the inputs named by the words of `sources`, always in the same order. Paths are relative to the repository:
///
/// * `file` and `one+other`: a file, or several files concatenated into one input;
/// * `folder/*.extension`: the files of a folder;
/// * `file%20`: lines of a file as inputs, the first one and every 20th after it;
/// * `LDG#4`: a number of drawn vectors for an instruction of SM 5.0.
///
/// # Errors
/// Returns an error of the system, with the file's name, or an error if a word names no inputs.
pub fn read_sources(sources: &str) -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for source in sources.split_whitespace() {
        let found = if let Some((folder, extension)) = source.split_once("/*.") {
            let mut files = files(&repository().join(folder))?;
            files.retain(|file| file.extension().is_some_and(|its| its == extension));
            files.iter().map(|file| read_file(file)).collect::<Result<_>>()?
        } else if let Some((path, every)) = source.split_once('%') {
            lines(&repository().join(path), every.parse().map_err(Error::other)?)?
        } else if let Some((instruction, count)) = source.split_once('#') {
            vectors(instruction, count.parse().map_err(Error::other)?)?
        } else {
            let parts = source.split('+').map(|path| read_file(&repository().join(path)));
            let parts: Vec<Seed> = parts.collect::<Result<_>>()?;
            let bytes = parts.into_iter().flat_map(|part| part.bytes).collect();
            vec![Seed { name: source.to_owned(), bytes }]
        };
        if found.is_empty() {
            return Err(Error::other(format!("{source}: no inputs")));
        }
        seeds.extend(found);
    }
    Ok(seeds)
}

fn vectors(instruction: &str, count: u64) -> Result<Vec<Seed>> {
    let lines = generate::lines(instruction, Sm::SPA5, 0, count).map_err(Error::other)?;
    let seed = |(number, line): (u64, std::result::Result<String, _>)| {
        let bytes = line.map_err(Error::other)?.into_bytes();
        Ok(Seed { name: format!("{instruction} {number}"), bytes })
    };
    (0..).zip(lines).map(seed).collect()
}

/// Reads a file, or recursively all files of a folder.
///
/// # Errors
/// Returns an error of the system, with the file's name.
pub fn read(path: &Path) -> Result<Vec<Seed>> {
    if !path.is_dir() {
        return Ok(vec![read_file(path)?]);
    }
    let mut seeds = Vec::new();
    for file in files(path)? {
        seeds.extend(read(&file)?);
    }
    Ok(seeds)
}

/// Writes inputs to a folder as a corpus of libFuzzer.
///
/// # Errors
/// Returns an error of the system.
pub fn write_corpus(folder: &Path, inputs: &[Seed]) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut inputs = inputs.iter().enumerate();
    inputs.try_for_each(|(i, input)| fs::write(folder.join(format!("seed-{i:04}")), &input.bytes))
}

fn named(path: &Path) -> impl Fn(Error) -> Error {
    move |error| Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn read_file(path: &Path) -> Result<Seed> {
    let bytes = fs::read(path).map_err(named(path))?;
    let shown = path.strip_prefix(repository()).unwrap_or(path);
    Ok(Seed { name: shown.display().to_string(), bytes })
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(named(folder))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn lines(path: &Path, every: usize) -> Result<Vec<Seed>> {
    let Seed { name, bytes } = read_file(path)?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().step_by(every.max(1));
    let seed = |(i, line): (usize, &[u8])| Seed {
        name: format!("{name}:{}", i + 1),
        bytes: line.to_vec(),
    };
    Ok(lines.filter(|(_, line)| !line.is_empty()).map(seed).collect())
}
