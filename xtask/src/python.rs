//! The Python package: its tests in a virtual environment, and its wheel.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::metadata::Metadata;
use crate::step::{command, root, timed, warpload};

const FOLDER: &str = "python";
/// The stubs of the native module, as this version of maturin generates them.
const STUBS: &str = "python/warpload/_native.pyi";
const MATURIN: &str = "maturin==1.16.0";

/// The size of a wheel, in bytes.
const MAX_WHEEL: u64 = 5_000_000;

/// A virtual environment to build the package in.
struct Environment {
    folder: PathBuf,
    programs: PathBuf,
}

impl Environment {
    /// Creates the environment if it does not exist, and installs `requirements`.
    fn new(workspace: &Metadata, name: &str, requirements: &str) -> Result<Self> {
        let folder = workspace.target()?.join(FOLDER).join(name);
        let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        if !programs.join("pip").exists() && !programs.join("pip.exe").exists() {
            let mut create = Command::new(if cfg!(windows) { "python" } else { "python3" });
            create.args(["-m", "venv"]).arg(&folder);
            command(create)?;
        }
        let environment = Self { folder, programs };
        environment.run("python", &format!("-m pip install --quiet {requirements}"))?;
        Ok(environment)
    }

    /// Runs a program of the environment in the package's folder.
    fn run(&self, program: &str, arguments: &str) -> Result<()> {
        let mut run = Command::new(self.programs.join(program));
        run.args(arguments.split_whitespace()).env("VIRTUAL_ENV", &self.folder);
        run.env("PIP_QUIET", "1").current_dir(root().join(FOLDER));
        command(run)
    }
}

/// Builds the package in a virtual environment, compares its stubs, and runs its tests.
///
/// # Errors
/// Returns the error of the first step that fails.
pub(crate) fn run() -> Result<()> {
    tested(&Metadata::workspace()?).map(drop)
}

fn tested(workspace: &Metadata) -> Result<Environment> {
    let environment = Environment::new(workspace, "environment", MATURIN)?;
    let built = as_the_tests_build(&workspace.target()?.join(FOLDER).join("profile.toml"))?;
    environment.run("maturin", &format!("develop {built} --locked --extras cluster,test"))?;
    let stubs = workspace.target()?.join(FOLDER).join("stubs");
    let generate = format!("generate-stubs {built} --out {}", stubs.display());
    environment.run("maturin", &generate)?;
    timed("stubs of the native module", || {
        let read = |path: &Path| {
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        };
        let new = stubs.join("warpload/_native.pyi");
        if read(&new)? != read(&root().join(FOLDER).join(STUBS))? {
            bail!("{FOLDER}/{STUBS} differs from the crate's stubs; copy {} there", new.display());
        }
        Ok(())
    })?;
    // The tests compare results with the command's.
    warpload()?;
    environment.run("python", "-m pytest -q")?;
    Ok(environment)
}

/// The options with which maturin finds what the tests have built: the same features, and their profile, which is
/// written to a file. `--profile test` would build a test.
fn as_the_tests_build(profile: &Path) -> Result<String> {
    let config = fs::read_to_string(root().join(".cargo/config.toml"))?;
    let (_, packages) =
        config.split_once("[profile.test.package]").context("no profile of the tests")?;
    fs::write(profile, format!("[profile.dev.package]{packages}"))?;
    Ok(format!("--quiet --features shared,stubs --config {}", profile.display()))
}

/// Runs the tests, builds the wheel, and imports it in another environment.
///
/// # Errors
/// Returns the error of the first step that fails.
pub(crate) fn nightly(workspace: &Metadata) -> Result<()> {
    let environment = tested(workspace)?;
    environment.run("python", "-m pip install --quiet triton==3.3.1")?;
    environment.run("python", "-m pytest -q -m nightly")?;
    let wheels = workspace.target()?.join(FOLDER).join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let environment = Environment::new(workspace, "wheel", MATURIN)?;
    let build = "build --quiet --profile wheel --locked --compression-level 9 --out";
    environment.run("maturin", &format!("{build} {}", wheels.display()))?;
    let wheel = fs::read_dir(&wheels)?.next().context("maturin wrote no wheel")??;
    let bytes = wheel.metadata()?.len();
    ensure!(bytes < MAX_WHEEL, "the wheel has {bytes} bytes; at most {MAX_WHEEL}");
    let install = format!("-m pip install --quiet --force-reinstall {}", wheel.path().display());
    environment.run("python", &install)?;
    environment.run("python", "-c __import__('warpload').decode(0x80d0000000070404)")
}
