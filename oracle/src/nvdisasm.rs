//! Running NVIDIA's disassembler on bare words.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use warpload_encoding::Bundle;

/// The environment variable that names the nvdisasm to use.
pub const NVDISASM: &str = "NVDISASM";

/// The answer of nvdisasm for a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The text, without semicolon and scheduling.
    Text(String),
    /// nvdisasm refuses the word.
    Illegal,
    /// No line. Does not happen with words of 64 bits.
    Nothing,
}

/// An nvdisasm executable.
#[derive(Clone, Debug)]
pub struct Nvdisasm {
    path: PathBuf,
}

impl Nvdisasm {
    /// Uses the program at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the program named in the environment, if any.
    pub fn from_env() -> Option<Self> {
        std::env::var_os(NVDISASM).filter(|path| !path.is_empty()).map(Self::new)
    }

    /// Returns the release as printed by the program, such as `12.8, V12.8.55`.
    ///
    /// # Errors
    /// Returns an error if it cannot be run.
    pub fn release(&self) -> Result<String> {
        let printed = self.text(self.output(Command::new(&self.path).arg("--version"))?)?;
        let release = printed.lines().find_map(|line| Some(line.split_once("release ")?.1));
        Ok(release.unwrap_or("unknown").to_owned())
    }

    /// Returns the printed text of each word of 64 bits.
    ///
    /// # Errors
    /// Returns an error if the program cannot be run, fails, or prints anything but one line per word.
    pub fn disassemble(&self, words: &[u64]) -> Result<Vec<Answer>> {
        let mut texts = texts(&self.text(self.raw(&bundles(words), &["SM50", "-raw"])?)?)?;
        ensure!(texts.len() >= words.len(), "nvdisasm printed too few lines: {}", texts.len());
        // Drops the NOPs that fill the last bundle.
        texts.truncate(words.len());
        Ok(texts.into_iter().map(Answer::Text).collect())
    }

    /// Runs the program on raw bytes. `options` follow `--binary`, the architecture first.
    pub(crate) fn raw(&self, bytes: &[u8], options: &[&str]) -> Result<Output> {
        let mut file = tempfile::NamedTempFile::new().context("cannot create a temporary file")?;
        file.write_all(bytes).context("cannot write a temporary file")?;
        self.output(Command::new(&self.path).arg("--binary").args(options).arg(file.path()))
    }

    fn output(&self, command: &mut Command) -> Result<Output> {
        command.output().with_context(|| format!("cannot run {}", self.path.display()))
    }

    /// The output of the program, or an error if it failed.
    fn text(&self, output: Output) -> Result<String> {
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("{} ended with {}: {}", self.path.display(), output.status, errors.trim());
        }
        String::from_utf8(output.stdout).context("nvdisasm printed something that is not text")
    }
}

/// Packs words into 32-byte bundles with the default schedule. No two instructions issue together then, so nvdisasm
/// prints no braces.
fn bundles(words: &[u64]) -> Vec<u8> {
    let bundle = |words: &[u64]| {
        let mut bundle = Bundle::nops();
        bundle.words[..words.len()].copy_from_slice(words);
        bundle.to_bytes()
    };
    words.chunks(3).flat_map(bundle).collect()
}

/// The instructions of a listing, each of the form `/*0008*/  TEXT ;`, without gaps. Control words take an offset but
/// have no line.
fn texts(listing: &str) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for line in listing.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let expected = texts.len() / 3 * 32 + texts.len() % 3 * 8 + 8;
        let parts = line.strip_prefix("/*").and_then(|line| line.split_once("*/"));
        match parts.map(|(offset, text)| (usize::from_str_radix(offset, 16), text)) {
            Some((Ok(offset), text)) if offset == expected => texts.push(without_end(text)),
            _ => bail!("nvdisasm printed `{line}` where offset {expected:#06x} was expected"),
        }
    }
    Ok(texts)
}

pub(crate) fn without_end(text: &str) -> String {
    text.trim().trim_end_matches(';').trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_are_filled_with_nops() {
        let bytes = bundles(&[1, 2, 3, 4]);
        assert_eq!(bytes.len(), 64);
        assert_eq!(bytes[8..16], 1u64.to_le_bytes());
        assert_eq!(bytes[40..48], 4u64.to_le_bytes());
        assert_eq!(bytes[56..], warpload_encoding::control::NOP.to_le_bytes());
    }

    #[test]
    fn listings_are_read_without_gaps() {
        let listing =
            "  /*0008*/   LD.E R4, [R4], P0 ;\n\t/*0010*/ A ;\n/*0018*/ B ;\n/*0028*/ C ;\n";
        assert_eq!(texts(listing).unwrap(), ["LD.E R4, [R4], P0", "A", "B", "C"]);
        assert!(texts("/*0008*/ A ;\n/*0018*/ B ;").unwrap_err().to_string().contains("0x0010"));
        assert!(texts(".L_1:").is_err());
    }
}
