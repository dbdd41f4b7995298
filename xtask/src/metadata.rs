//! The answers of `cargo metadata`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::step::{cargo, root};

/// The output of `cargo metadata`.
pub(crate) struct Metadata(Value);

impl Metadata {
    /// Reads the metadata of the workspace, without dependencies.
    ///
    /// # Errors
    /// Returns an error if cargo fails, for example because Cargo.lock is outdated.
    pub(crate) fn workspace() -> Result<Self> {
        Self::ask(&mut cargo("metadata --format-version 1 --locked --no-deps"))
    }

    /// Reads the metadata of the workspace with dependencies, for all features and platforms.
    ///
    /// # Errors
    /// Returns an error if cargo fails.
    pub(crate) fn resolved() -> Result<Self> {
        Self::ask(&mut cargo("metadata --format-version 1 --locked --all-features"))
    }

    fn ask(command: &mut Command) -> Result<Self> {
        // Run at the root, because cargo takes the default members of the folder in which it runs.
        let output = command.current_dir(root()).output().context("cannot run cargo")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {}", errors.trim());
        Ok(Self(serde_json::from_slice(&output.stdout)?))
    }

    /// A value; null if the key is missing.
    pub(crate) fn get(&self, key: &str) -> &Value {
        &self.0[key]
    }

    /// The target directory.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        Ok(self.get("target_directory").as_str().context("metadata without a target")?.into())
    }

    /// The packages: of the workspace, or of the whole graph after [`Self::resolved`].
    pub(crate) fn packages(&self) -> impl Iterator<Item = &Value> {
        array(self.get("packages"))
    }
}

/// The elements of an array; none if `value` is not one.
pub(crate) fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}
