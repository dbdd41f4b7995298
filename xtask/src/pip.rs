//! Downloads of pinned wheels from PyPI, of which this repository may distribute nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A wheel of a package, whichever platform and Python version run pip: only files of it are needed.
pub(crate) struct Wheel {
    /// The package and its version, `name==1.2.3`.
    pub(crate) requirement: &'static str,
    /// The platform and the Python version that select the wheel.
    pub(crate) platform: &'static str,
    pub(crate) python: &'static str,
    /// Its hash.
    pub(crate) sha256: &'static str,
}

/// Unpacks a zip archive. Arguments: the archive, the folder.
const UNPACK: &str = "import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])
";

impl Wheel {
    /// Downloads the wheel and unpacks it as a new folder, which then is complete.
    pub(crate) fn unpack(&self, folder: &Path) -> Result<()> {
        let download = folder.with_extension("download");
        fs::create_dir_all(&download)?;
        let requirements = download.join("requirements.txt");
        fs::write(&requirements, format!("{} --hash=sha256:{}\n", self.requirement, self.sha256))?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "download"])
            .args(["--no-deps", "--only-binary=:all:", "--implementation", "cp"])
            .args(["--platform", self.platform, "--python-version", self.python])
            .arg("--dest")
            .arg(&download)
            .arg("--requirement")
            .arg(&requirements);
        succeed(pip)?;

        let mut entries = fs::read_dir(&download)?.filter_map(Result::ok).map(|entry| entry.path());
        let wheel: Option<PathBuf> =
            entries.find(|path| path.extension() == Some(OsStr::new("whl")));
        let partial = download.join("unpacked");
        let mut unpack = Command::new("python3");
        unpack.args(["-c", UNPACK]).arg(wheel.context("pip left no wheel")?).arg(&partial);
        succeed(unpack)?;
        // Last, so that the folder is always complete.
        fs::rename(&partial, folder)?;
        Ok(fs::remove_dir_all(&download)?)
    }
}

fn succeed(mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
