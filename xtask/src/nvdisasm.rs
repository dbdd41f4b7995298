//! Fetches nvdisasm and cuobjdump 12.8, which are programs for x86-64 Linux. We may not distribute
//! NVIDIA's programs, so they are never part of this repository; the wheel of triton 3.3.1 contains
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use warpload_oracle::{NVDISASM, Nvdisasm};

use crate::pip::Wheel;

/// Pinned, since programs from it are run.
const TRITON: Wheel = Wheel {
    requirement: "triton==3.3.1",
    platform: "manylinux_2_28_x86_64",
    python: "3.11",
    sha256: "b31e3aa26f8cb3cc5bf4e187bf737cbacf17311e1112b781d4a059353dfd731b",
};

/// The programs inside the wheel.
const MEMBERS: &str = "triton/backends/nvidia/bin";

/// Returns nvdisasm in `directory`; downloads it with pip if it is missing.
pub(crate) fn fetch(directory: &Path) -> Result<Nvdisasm> {
    Ok(Nvdisasm::new(program("nvdisasm", NVDISASM, directory)?))
}

/// Returns a program in `directory`; downloads it with pip if it is missing. `variable` is of the
/// environment, and can name another one.
pub(crate) fn program(name: &str, variable: &str, directory: &Path) -> Result<PathBuf> {
    let program = directory.join(name);
    if !program.exists() {
        ensure!(
            cfg!(all(target_os = "linux", target_arch = "x86_64")),
            "{name} is fetched for x86-64 Linux only; set {variable} to the path of one"
        );
        println!("fetching {name} 12.8 (a download of 150 MiB, once)");
        download(name, directory, &program)
            .with_context(|| format!("cannot fetch {name}; set {variable} to the path of one"))?;
    }
    Ok(program)
}

fn download(name: &str, directory: &Path, program: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let unpacked = directory.join("triton");
    TRITON.unpack(&unpacked)?;
    let partial = unpacked.join(MEMBERS).join(name);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
    }
    fs::rename(&partial, program)?;
    Ok(fs::remove_dir_all(&unpacked)?)
}
