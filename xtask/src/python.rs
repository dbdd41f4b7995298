//! The Python package, which is not in the workspace: its checks, and its tests in an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::step::{cargo, command, timed};

const FOLDER: &str = "python";
/// The stubs, which this version writes.
const STUBS: &str = "python/warpload/_native.pyi";
const MATURIN: &str = "maturin==1.16.0";

/// Checks the crate without Python.
///
/// # Errors
/// Returns that of the step that failed.
pub(crate) fn check(workspace: &Metadata) -> Result<()> {
    let folder = workspace.root()?.join(FOLDER);
    command(&folder, cargo("fmt --check"))?;
    let mut clippy = cargo("clippy --locked");
    clippy
        .env("PYO3_NO_PYTHON", "1")
        .env("PYO3_BUILD_EXTENSION_MODULE", "1")
        .arg("--target-dir")
        .arg(target(workspace)?);
    clippy.args(["--", "-D", "warnings"]);
    command(&folder, clippy)
}

/// Builds the package in a virtual environment, compares its stubs, and runs its tests.
///
/// # Errors
/// Returns that of the step that failed.
pub(crate) fn test() -> Result<()> {
    let workspace = Metadata::workspace()?;
    let root = workspace.root()?;
    let folder = root.join(FOLDER);
    let environment = target(&workspace)?.join("environment");
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    if !programs.join("pip").exists() && !programs.join("pip.exe").exists() {
        let mut create = Command::new(if cfg!(windows) { "python" } else { "python3" });
        create.args(["-m", "venv"]).arg(&environment);
        command(&root, create)?;
    }
    let python = |arguments: &str| {
        let mut python = Command::new(programs.join("python"));
        python.args(arguments.split_whitespace());
        python
    };
    let maturin = |arguments: &str| -> Result<Command> {
        let mut maturin = Command::new(programs.join("maturin"));
        maturin.args(arguments.split_whitespace()).env("VIRTUAL_ENV", &environment);
        maturin.env("CARGO_TARGET_DIR", target(&workspace)?).env("PIP_QUIET", "1");
        Ok(maturin)
    };
    command(&root, python(&format!("-m pip install --quiet {MATURIN}")))?;
    command(&folder, maturin("develop --quiet --locked --features stubs --extras cluster,test")?)?;
    stubs(
        &folder,
        maturin("generate-stubs --quiet --features stubs --out")?,
        &target(&workspace)?.join("stubs"),
    )?;
    // What the package's results are compared with.
    command(&root, cargo("build --quiet --locked -p warpload-cli"))?;
    command(&folder, python("-m pytest -q"))
}

/// Compares the committed stubs with new ones, which `generate` writes to a folder.
fn stubs(package: &Path, mut generate: Command, folder: &Path) -> Result<()> {
    generate.arg(folder);
    command(package, generate)?;
    timed("stubs of the native module", || {
        let read = |path: PathBuf| {
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let new = folder.join("warpload/_native.pyi");
        if read(new.clone())? != read(package.join(STUBS))? {
            bail!("{FOLDER}/{STUBS} is not what the crate says; copy {} there", new.display());
        }
        Ok(())
    })
}

fn target(workspace: &Metadata) -> Result<PathBuf> {
    Ok(workspace.target()?.join("python"))
}
