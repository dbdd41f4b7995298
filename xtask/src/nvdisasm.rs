//! Fetches nvdisasm 12.8. We may not distribute NVIDIA's program, so it is never part of this
//! repository; the wheel of triton 3.3.1 contains it.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use warpload_oracle::{NVDISASM, Nvdisasm};

/// The wheel's platform and Python version, whichever ones run pip: only one file of it is needed.
const WHEEL: &[&str] = &["--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"];

/// The version, and the hash of the wheel that [`WHEEL`] selects, since a program from it is run.
const REQUIREMENT: &str = "triton==3.3.1 \
    --hash=sha256:b31e3aa26f8cb3cc5bf4e187bf737cbacf17311e1112b781d4a059353dfd731b\n";

/// Unpacks one member of a zip archive. Arguments: the archive, the member, the file to write.
const UNPACK: &str = "import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]).open(sys.argv[2]) as member, open(sys.argv[3], 'wb') as out:
    shutil.copyfileobj(member, out)
";

/// The program inside the wheel.
const MEMBER: &str = "triton/backends/nvidia/bin/nvdisasm";

/// Returns nvdisasm in `directory`; downloads it with pip if it is missing.
pub(crate) fn fetch(directory: &Path) -> Result<Nvdisasm> {
    let program = directory.join("nvdisasm");
    if !program.exists() {
        ensure!(
            cfg!(all(target_os = "linux", target_arch = "x86_64")),
            "nvdisasm is fetched for x86-64 Linux only; set {NVDISASM} to the path of one"
        );
        println!("fetching nvdisasm 12.8 (a download of 150 MiB, once)");
        download(directory, &program)
            .with_context(|| format!("cannot fetch nvdisasm; set {NVDISASM} to the path of one"))?;
    }
    Ok(Nvdisasm::new(program))
}

fn download(directory: &Path, program: &Path) -> Result<()> {
    let wheels = directory.join("download");
    fs::create_dir_all(&wheels)?;
    let requirements = wheels.join("requirements.txt");
    fs::write(&requirements, REQUIREMENT)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "download"])
        .args(["--no-deps", "--only-binary=:all:", "--implementation", "cp"])
        .args(WHEEL)
        .arg("--dest")
        .arg(&wheels)
        .arg("--requirement")
        .arg(&requirements);
    succeed(pip)?;

    let mut entries = fs::read_dir(&wheels)?.filter_map(Result::ok).map(|entry| entry.path());
    let wheel = entries.find(|path| path.extension() == Some(OsStr::new("whl")));
    let partial = wheels.join("nvdisasm");
    let mut unpack = Command::new("python3");
    unpack.args(["-c", UNPACK]).arg(wheel.context("pip left no wheel")?).arg(MEMBER).arg(&partial);
    succeed(unpack)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
    }
    // Last, so that the file at `program` is always complete.
    fs::rename(&partial, program)?;
    Ok(fs::remove_dir_all(&wheels)?)
}

fn succeed(mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
