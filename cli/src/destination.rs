//! Places of results: [`Destination`], standard output or a file, and [`target`], a file. A file appears in its place
//! when it is complete, by the rules of [`warpload_trace::output`].

use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;
use std::sync::Once;

use serde::Serialize;
use warpload_trace::output::{self, OutputError};

use super::inputs::INPUTS;
use super::io::{self, Output};
use super::name::visible;
use super::system;
use super::terminal::{Escapes, Shown};

/// An output file. It is checked not to be an input.
pub(crate) type OutputTarget = output::OutputTarget<'static>;
pub(crate) type OutputFile = output::OutputFile<'static>;

/// The format of an output, and its suffixes, the usual one first.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    name: &'static str,
    suffixes: &'static [&'static str],
}

const fn form(name: &'static str, suffixes: &'static [&'static str]) -> Form {
    Form { name, suffixes }
}

pub(crate) const CSV: Form = form("CSV", &["csv"]);
pub(crate) const HTML: Form = form("HTML", &["html", "htm"]);
pub(crate) const JSON: Form = form("JSON", &["json", "jsonl", "ndjson"]);
pub(crate) const PARQUET: Form = form("Parquet", &["parquet"]);
pub(crate) const SVG: Form = form("SVG", &["svg"]);
pub(crate) const TEXT: Form = form("text", &["txt"]);
pub(crate) const TRACE: Form = form("a binary trace", &["wlt"]);
pub(crate) const XML: Form = form("XML", &["xml"]);

/// All formats, for [`check_name`].
const FORMS: [Form; 11] = [
    CSV,
    HTML,
    JSON,
    PARQUET,
    SVG,
    TRACE,
    XML,
    form("PNG", &["png"]),
    form("JPEG", &["jpg", "jpeg"]),
    form("PDF", &["pdf"]),
    form("ZIP", &["zip"]),
];

fn has_suffix(form: Form, path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    form.suffixes.iter().any(|known| known.eq_ignore_ascii_case(suffix))
}

/// Refuses an output with the suffix of another format, because other programs would go by the name.
pub(crate) fn check_name(path: &Path, form: Form) -> anyhow::Result<()> {
    let other = FORMS.into_iter().find(|other| has_suffix(*other, path) && !has_suffix(form, path));
    let Some(other) = other else { return Ok(()) };
    let expected = match form.suffixes {
        ["txt"] if other.name == HTML.name => "`--html FILE` writes a page".to_owned(),
        suffixes => format!("expected a name that ends in .{}", suffixes.join(" or .")),
    };
    anyhow::bail!(
        "{}: the output is {}, and the name says {}; {expected}",
        path.display(),
        form.name,
        other.name
    )
}

/// Checks a file as [`target`] does, and its name.
pub(crate) fn target_as(path: &Path, form: Form) -> anyhow::Result<OutputTarget> {
    let target = target(path)?;
    check_name(path, form)?;
    Ok(target)
}

/// The format of an output: the one that was asked for, else by its name, else the first one.
pub(crate) fn format_of<F: Copy + PartialEq>(
    asked: Option<F>,
    path: Option<&Path>,
    forms: &[(F, Form)],
) -> anyhow::Result<Option<F>> {
    let path = path.filter(|path| !io::is_stdin(path));
    let by_name = path.and_then(|path| forms.iter().find(|(_, form)| has_suffix(*form, path)));
    let format = asked.or(by_name.or(forms.first()).map(|(format, _)| *format));
    let known = forms.iter().find(|(known, _)| Some(*known) == format);
    if let Some((path, (_, form))) = path.zip(known) {
        check_name(path, *form)?;
    }
    Ok(format)
}

/// Checks that a file can be written: it is not a folder, read-only or one of the inputs.
pub(crate) fn target(path: &Path) -> anyhow::Result<OutputTarget> {
    // If standard output is closed, its descriptor leads to some other file.
    if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
        && let Err(source) = system::check_stdout()
    {
        return Err(OutputError::write(path, source).into());
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        output::remember_temporary_files();
        system::before_signals_end(|end| {
            let _none_is_created = output::remove_temporary_files();
            end();
        });
    });
    Ok(OutputTarget::new(path, &INPUTS)?)
}

/// Checks outputs before anything is run: each must be writable, and no file may be the output of two options, because
/// the second output would replace the first. Each output comes with its option.
pub(crate) fn check_apart<'p>(
    outputs: impl IntoIterator<Item = (String, &'p Path)>,
) -> anyhow::Result<()> {
    let mut known: Vec<(String, OutputTarget)> = Vec::new();
    for (option, path) in outputs {
        let target = target(path)?;
        if let Some((other, _)) = known.iter().find(|(_, known)| known.is_same_file(&target)) {
            anyhow::bail!("{other} and {option}: the same file; expected a file for each output");
        }
        known.push((option, target));
    }
    Ok(())
}

/// Moves a complete file to its place, and notes that it was written, except to standard output.
pub(crate) fn persist(file: OutputFile, output: &mut Output) -> anyhow::Result<()> {
    let name = file.target().asked().display().to_string();
    let is_stdout = file.target().is_stdout() && system::check_stdout().is_ok();
    file.persist()?;
    if !is_stdout {
        output.line(format_args!("{} written", visible(&name)))?;
    }
    Ok(())
}

/// The place of a result: a file, or else standard output.
pub(crate) struct Destination(Option<OutputTarget>);

impl Destination {
    /// Checks the place of a result: standard output if there is no path, or it is `-`.
    pub(crate) fn new(path: Option<&Path>) -> anyhow::Result<Self> {
        let path = path.filter(|path| !io::is_stdin(path));
        Ok(Self(path.map(target).transpose()?))
    }

    /// Whether this result would overwrite the result of another target.
    pub(crate) fn is_same_file(&self, other: &OutputTarget) -> bool {
        self.0.as_ref().is_some_and(|target| target.is_same_file(other))
    }

    /// Writes one object on one line.
    pub(crate) fn json(self, object: &impl Serialize, output: &mut Output) -> anyhow::Result<()> {
        self.write(Escapes::Json, output, |to| {
            // A key takes six writes.
            let mut to = BufWriter::with_capacity(1 << 16, to);
            io::write_json(&mut to, object)?;
            to.flush()
        })
    }

    pub(crate) fn text(self, text: &str, output: &mut Output) -> anyhow::Result<()> {
        self.write(Escapes::Text, output, |to| to.write_all(text.as_bytes()))
    }

    /// Writes the output of `write`. A file gets the same bytes as standard output.
    pub(crate) fn write(
        self,
        escapes: Escapes,
        output: &mut Output,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let mut pieces = self.pieces(escapes)?;
        match &mut pieces.file {
            Some(file) => write(file).map_err(|error| target_of(file).write_error(error))?,
            None => output.write(escapes, write)?,
        }
        pieces.finish(output)
    }

    /// Opens the place for a result in pieces.
    pub(crate) fn pieces(self, escapes: Escapes) -> anyhow::Result<Pieces> {
        let file = self.0.map(OutputTarget::create).transpose()?;
        let file = file.map(|file| BufWriter::with_capacity(1 << 18, Shown::new(file, escapes)));
        Ok(Pieces { file, escapes })
    }
}

/// A result that is written piece by piece.
pub(crate) struct Pieces {
    file: Option<BufWriter<Shown<OutputFile>>>,
    escapes: Escapes,
}

fn target_of(file: &BufWriter<Shown<OutputFile>>) -> &OutputTarget {
    file.get_ref().get_ref().target()
}

impl Pieces {
    pub(crate) fn add(&mut self, piece: &[u8], output: &mut Output) -> anyhow::Result<()> {
        match &mut self.file {
            Some(file) => {
                Ok(file.write_all(piece).map_err(|error| target_of(file).write_error(error))?)
            }
            None => Ok(output.bytes(piece, self.escapes)?),
        }
    }

    /// Stops if the file has turned out to be one of the inputs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        Ok(self.file.as_ref().map_or(Ok(None), |file| target_of(file).check()).map(drop)?)
    }

    /// Finishes the result, which is complete.
    pub(crate) fn finish(self, output: &mut Output) -> anyhow::Result<()> {
        let Some(mut file) = self.file else { return Ok(output.flush()?) };
        file.flush().map_err(|error| target_of(&file).write_error(error))?;
        let file = file.into_inner().map_err(IntoInnerError::into_error)?;
        persist(file.into_inner(), output)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use super::*;

    const FOLDER: &str = "WARPLOAD_TEST_FOLDER";

    /// Simulates a file system without unnamed files. The test runs itself as a child process.
    #[test]
    fn a_named_file_is_removed_by_signals() -> anyhow::Result<()> {
        if let Some(folder) = std::env::var_os(FOLDER) {
            let _output = target(&Path::new(&folder).join("output"))?.create_named()?;
            // The parent waits for this file.
            fs::write(Path::new(&folder).join("ready"), "")?;
            loop {
                std::thread::park();
            }
        }
        for (name, signal) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
            // The background jobs of a shell ignore SIGINT, and so do their children.
            if !system::ending_signals().contains(&signal) {
                continue;
            }
            let folder = tempfile::tempdir()?;
            let mut child = Command::new(std::env::current_exe()?)
                .args(["--exact", "destination::tests::a_named_file_is_removed_by_signals"])
                .arg("--nocapture")
                .env(FOLDER, folder.path())
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .spawn()?;
            while !folder.path().join("ready").exists() {
                assert_eq!(child.try_wait()?, None, "the child ended");
                std::thread::yield_now();
            }
            let files = || fs::read_dir(folder.path()).map(Iterator::count);
            assert_eq!(files()?, 2);
            let kill = format!("kill -{name} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status()?.success());
            assert_eq!(child.wait()?.signal(), Some(signal));
            fs::remove_file(folder.path().join("ready"))?;
            assert_eq!(files()?, 0, "{name}");
        }
        Ok(())
    }
}
