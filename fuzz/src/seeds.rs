//! The inputs that targets start from: files of the repository, or lines of them.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use glob::{Pattern, glob};

/// An input and its origin.
pub(crate) struct Seed {
    /// The file, with the line's number if it is a line.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The repository that this program was built in.
pub(crate) fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Reads files of the repository, always in the same order. Each word of `sources` is a pattern of paths, such as
/// `tests/data/*.ptx`, with an optional suffix:
///
/// * `%20` makes each 20th line an input, beginning with the first;
/// * `+` joins the files to one input.
///
/// # Errors
/// Returns an error of the system, with the file's name, or an error if a word names no file.
pub(crate) fn read(sources: &str) -> Result<Vec<Seed>> {
    let root = Pattern::escape(&repository().to_string_lossy());
    let mut seeds = Vec::new();
    for source in sources.split_whitespace() {
        let (pattern, suffix) = source.split_at(source.find(['%', '+']).unwrap_or(source.len()));
        let paths = glob(&format!("{root}/{pattern}"))?;
        let files: Vec<Seed> = paths.map(|path| read_file(&path?)).collect::<Result<_>>()?;
        ensure!(!files.is_empty(), "{source}: no such file");
        if let Some(every) = suffix.strip_prefix('%') {
            let every = every.parse()?;
            seeds.extend(files.iter().flat_map(|file| lines(file, every)));
        } else if suffix == "+" {
            let bytes = files.into_iter().flat_map(|file| file.bytes).collect();
            seeds.push(Seed { name: source.to_owned(), bytes });
        } else {
            seeds.extend(files);
        }
    }
    Ok(seeds)
}

/// Reads a file.
///
/// # Errors
/// Returns an error of the system, with the file's name.
pub(crate) fn read_file(path: &Path) -> Result<Seed> {
    let name = path.strip_prefix(repository()).unwrap_or(path).display().to_string();
    let bytes = std::fs::read(path).with_context(|| name.clone())?;
    Ok(Seed { name, bytes })
}

fn lines(file: &Seed, every: usize) -> impl Iterator<Item = Seed> {
    let lines = file.bytes.split(|byte| *byte == b'\n').zip(1..).step_by(every);
    lines.filter(|(line, _)| !line.is_empty()).map(|(line, number)| Seed {
        name: format!("{}:{number}", file.name),
        bytes: line.to_vec(),
    })
}
