//! `cargo xtask wheels`: compares the GPU code that is found in public wheels with cuobjdump's.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use warpload_binary::container::{ImageKind, Images};

use crate::metadata::Metadata;
use crate::nvdisasm;
use crate::pip::Wheel;
use crate::step::Failed;

/// The variable with the path of a cuobjdump.
const CUOBJDUMP: &str = "CUOBJDUMP";

/// The wheels: LZ4, zstd and none; executable and relocatable code; SM 5.0 to 12.1.
const WHEELS: [Wheel; 3] = [
    Wheel {
        requirement: "bitsandbytes==0.50.2",
        platform: "manylinux_2_24_x86_64",
        python: "3.11",
        sha256: "55348a9a4a21bfd99cf8c7b32fe67b4030ae5c2a05738e03c1747f65fa6ec283",
    },
    Wheel {
        requirement: "nvidia-curand-cu12==10.3.10.19",
        platform: "manylinux_2_27_x86_64",
        python: "3.11",
        sha256: "49b274db4780d421bd2ccd362e1415c13887c53c214f0d4b761752b8f9f6aa1e",
    },
    Wheel {
        requirement: "nvidia-nccl-cu12==2.32.3",
        platform: "manylinux_2_27_x86_64",
        python: "3.11",
        sha256: "bb94b2348e4861d5e8aa00b36c3d12d9bdf9c6369b82cbb723de0b582280a21c",
    },
];

/// The images of a file, each by its size and its hash, sorted: cuobjdump has another order of the
/// sections.
#[derive(Default, PartialEq, Eq)]
struct Found {
    cubins: Vec<(usize, u64)>,
    ptx: Vec<(usize, u64)>,
}

/// Runs the comparison, which fails if an image differs.
pub(crate) fn run() -> Result<()> {
    let folder = Metadata::workspace()?.target()?.join("wheels");
    fs::create_dir_all(&folder)?;
    let cuobjdump = match env::var_os(CUOBJDUMP) {
        Some(program) => PathBuf::from(program),
        None => nvdisasm::program("cuobjdump", CUOBJDUMP, &folder)?,
    };
    let mut is_same = true;
    for wheel in &WHEELS {
        let unpacked = folder.join(wheel.requirement.replace("==", "-"));
        if !unpacked.exists() {
            println!("fetching {}", wheel.requirement);
            wheel
                .unpack(&unpacked)
                .with_context(|| format!("cannot fetch {}", wheel.requirement))?;
        }
        for file in files(&unpacked)? {
            let ours = find(&fs::read(&file)?)?;
            let theirs = extract(&cuobjdump, &file, &folder.join("extracted"))?;
            if ours == Found::default() && theirs == Found::default() {
                continue;
            }
            let name = file.strip_prefix(&unpacked)?.display();
            let (cubins, ptx) = (ours.cubins.len(), ours.ptx.len());
            if ours == theirs {
                println!("{name}: {cubins} cubins, {ptx} PTX, as cuobjdump's");
            } else {
                let (others, other_ptx) = (theirs.cubins.len(), theirs.ptx.len());
                println!(
                    "{name}: {cubins} cubins, {ptx} PTX; cuobjdump's {others} and {other_ptx} differ"
                );
                is_same = false;
            }
        }
    }
    ensure!(is_same, Failed::SHOWN);
    Ok(())
}

/// Returns the libraries in a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(".so") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn find(file: &[u8]) -> Result<Found> {
    let mut found = Found::default();
    for image in Images::new(file) {
        let image = image?;
        let bytes = image.read()?.bytes;
        match image.kind {
            ImageKind::Cubin => found.cubins.push(identity(&bytes)),
            ImageKind::Ptx => found.ptx.push(identity(&bytes)),
            _ => {}
        }
    }
    Ok(found.sorted())
}

/// Returns what cuobjdump extracts from a file, which can be nothing.
fn extract(cuobjdump: &Path, file: &Path, folder: &Path) -> Result<Found> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    // Without `-all` it leaves out relocatable code if there is other code. It fails if there is none.
    let mut command = Command::new(cuobjdump);
    command.args(["-all", "-xelf", "all", "-xptx", "all"]).arg(file).current_dir(folder);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.with_context(|| format!("cannot run {}", cuobjdump.display()))?;
    let mut found = Found::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let identity = identity(&fs::read(&path)?);
        if path.extension() == Some(OsStr::new("cubin")) {
            found.cubins.push(identity);
        } else {
            found.ptx.push(identity);
        }
    }
    fs::remove_dir_all(folder)?;
    Ok(found.sorted())
}

fn identity(bytes: &[u8]) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    (bytes.len(), hasher.finish())
}

impl Found {
    fn sorted(mut self) -> Self {
        self.cubins.sort_unstable();
        self.ptx.sort_unstable();
        self
    }
}
