//! Renews generated files, or compares them, and walks through folders. Generators are deterministic, so a comparison
//! is exact.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::step::{Failed, root};

#[derive(Args)]
pub(crate) struct Renewal {
    /// Only check: fail if a file differs from the generated one
    #[arg(long)]
    pub(crate) check: bool,
}

impl Renewal {
    /// Writes named files to `folder` of the workspace, or compares them.
    pub(crate) fn renew<B: AsRef<[u8]>>(&self, folder: &str, files: &[(&str, B)]) -> Result<()> {
        let folder = root().join(folder);
        let mut is_equal = true;
        for (name, bytes) in files {
            let (path, bytes) = (folder.join(name), bytes.as_ref());
            if !self.check {
                fs::write(&path, bytes)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                println!("{} written, {} bytes", path.display(), bytes.len());
            } else if fs::read(&path).ok().as_deref() != Some(bytes) {
                println!("{} differs from the generated file", path.display());
                is_equal = false;
            }
        }
        ensure!(is_equal, Failed::SHOWN);
        Ok(())
    }
}

/// The files in a folder and its subfolders with `part` in their path, sorted.
pub(crate) fn files(folder: &Path, part: &str) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(part) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
