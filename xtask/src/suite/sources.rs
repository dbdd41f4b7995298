//! [`Sources`]: what cases are made from.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::answers::Answers;

/// What cases are made from.
pub(crate) struct Sources {
    pub(crate) root: PathBuf,
    pub(crate) answers: Answers,
}

impl Sources {
    pub(crate) fn new(root: PathBuf) -> Result<Self> {
        Ok(Self { answers: Answers::new(&root)?, root })
    }

    /// Reads a file of the repository; one whose name ends in `.xz` is decompressed.
    pub(crate) fn text(&self, path: &str) -> Result<String> {
        let bytes = self.bytes(path)?;
        let text = match path.ends_with(".xz") {
            true => liblzma::decode_all(&*bytes).with_context(|| path.to_owned())?,
            false => bytes,
        };
        String::from_utf8(text).with_context(|| path.to_owned())
    }

    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        std::fs::read(self.root.join(path)).with_context(|| format!("cannot read {path}"))
    }
}
