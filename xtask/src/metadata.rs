//! What `cargo metadata` says about the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::step::cargo;

/// What all features and platforms need.
const RESOLVED: &str = "metadata --format-version 1 --locked --all-features";

/// The output of `cargo metadata`.
pub(crate) struct Metadata {
    json: Value,
}

impl Metadata {
    /// Reads the metadata of the workspace, without dependencies.
    ///
    /// # Errors
    /// Returns an error if cargo fails, such as for an outdated Cargo.lock.
    pub(crate) fn workspace() -> Result<Self> {
        Self::ask(&mut cargo("metadata --format-version 1 --locked --no-deps"))
    }

    /// Reads all metadata, including the resolved graph of all features and platforms.
    ///
    /// # Errors
    /// Returns an error if cargo fails.
    pub(crate) fn resolved() -> Result<Self> {
        Self::ask(&mut cargo(RESOLVED))
    }

    /// Reads the same of a workspace of its own.
    ///
    /// # Errors
    /// Returns an error if cargo fails.
    pub(crate) fn resolved_of(manifest: &Path) -> Result<Self> {
        Self::ask(cargo(RESOLVED).arg("--manifest-path").arg(manifest))
    }

    fn ask(command: &mut Command) -> Result<Self> {
        let output = command.output().context("cannot run cargo")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {}", errors.trim());
        Ok(Self { json: serde_json::from_slice(&output.stdout)? })
    }

    #[cfg(test)]
    pub(crate) fn from_json(json: Value) -> Self {
        Self { json }
    }

    /// Returns the workspace's directory.
    pub(crate) fn root(&self) -> Result<PathBuf> {
        self.path("workspace_root")
    }

    /// Returns the directory that cargo builds in.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        self.path("target_directory")
    }

    fn path(&self, key: &str) -> Result<PathBuf> {
        let path = self.json[key].as_str();
        Ok(path.with_context(|| format!("cargo metadata without {key}"))?.into())
    }

    /// Returns the packages: the workspace's, or those of the whole graph.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &Value> {
        array(&self.json["packages"])
    }

    /// Returns the package with that identifier.
    pub(crate) fn package(&self, id: &str) -> Result<&Value> {
        let package = self.packages().find(|package| package["id"] == id);
        package.with_context(|| format!("cargo metadata without package {id}"))
    }

    /// Returns the identifiers of the workspace's packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &str> {
        array(&self.json["workspace_members"]).filter_map(Value::as_str)
    }

    /// Returns the packages that building package `id` needs, without those only for its tests and
    /// benches.
    pub(crate) fn dependencies<'m>(&'m self, id: &str) -> impl Iterator<Item = &'m str> {
        let node = array(&self.json["resolve"]["nodes"]).find(|node| node["id"] == id);
        let dependencies = node.map(|node| array(&node["deps"])).into_iter().flatten();
        dependencies
            .filter(|dependency| array(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev"))
            .filter_map(|dependency| dependency["pkg"].as_str())
    }
}

/// Returns the elements of an array; none if `value` is not one.
pub(crate) fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}
