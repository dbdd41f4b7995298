//! `cargo xtask oracle` and `cargo xtask wheels`: comparisons with NVIDIA's nvdisasm and cuobjdump 12.8, programs for
//! x86-64 Linux. pip downloads them and the wheels, because we may not distribute either.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use clap::Args;
use warpload::encoding::{Decoded, Instruction, Sm};
use warpload_binary::container::{GpuCodeKind, GpuCodes};
use warpload_binary::sass;
use warpload_oracle::{NVDISASM, Nvdisasm, run_wide};

use crate::metadata::Metadata;
use crate::step::{Failed, missing, root};

/// A wheel of a package. Its platform is named here, rather than taken from the machine, because the wheel is only
/// unpacked.
struct Wheel {
    /// The package and its version, `name==1.2.3`.
    requirement: &'static str,
    /// The platform that selects the wheel.
    platform: &'static str,
    sha256: &'static str,
}

/// Pinned by its hash, because programs from it are run.
const TRITON: Wheel = Wheel {
    requirement: "triton==3.3.1",
    platform: "manylinux_2_28_x86_64",
    sha256: "b31e3aa26f8cb3cc5bf4e187bf737cbacf17311e1112b781d4a059353dfd731b",
};

/// The programs inside it.
const MEMBERS: &str = "triton/backends/nvidia/bin";

/// Wheels with GPU code: compressed by LZ4, by zstd and not at all; executable and relocatable; SM 5.0 to 12.1.
const WHEELS: [Wheel; 3] = [
    Wheel {
        requirement: "bitsandbytes==0.50.2",
        platform: "manylinux_2_24_x86_64",
        sha256: "55348a9a4a21bfd99cf8c7b32fe67b4030ae5c2a05738e03c1747f65fa6ec283",
    },
    Wheel {
        requirement: "nvidia-curand-cu12==10.3.10.19",
        platform: "manylinux_2_27_x86_64",
        sha256: "49b274db4780d421bd2ccd362e1415c13887c53c214f0d4b761752b8f9f6aa1e",
    },
    Wheel {
        requirement: "nvidia-nccl-cu12==2.32.3",
        platform: "manylinux_2_27_x86_64",
        sha256: "bb94b2348e4861d5e8aa00b36c3d12d9bdf9c6369b82cbb723de0b582280a21c",
    },
];

/// The variable with the path of a cuobjdump.
const CUOBJDUMP: &str = "CUOBJDUMP";

/// Unpacks a zip archive. Arguments: the archive, the folder.
const UNPACK: &str = "import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])
";

impl Wheel {
    /// Downloads the wheel and unpacks it into a new folder.
    fn unpack(&self, folder: &Path) -> Result<()> {
        let download = folder.with_extension("download");
        fs::create_dir_all(&download)?;
        let requirements = download.join("requirements.txt");
        fs::write(&requirements, format!("{} --hash=sha256:{}\n", self.requirement, self.sha256))?;
        let python = |arguments: &[&OsStr]| {
            let status = Command::new("python3").args(arguments).status();
            let status = status.context("cannot run python3")?;
            ensure!(status.success(), "python3 ended with {status}");
            Ok(())
        };
        let options = "-m pip --quiet --disable-pip-version-check download --no-deps \
                       --only-binary=:all: --implementation cp --python-version 3.11 --platform";
        let mut pip: Vec<&OsStr> = options.split(' ').map(OsStr::new).collect();
        pip.extend([self.platform, "--dest"].map(OsStr::new));
        pip.extend([download.as_os_str(), "--requirement".as_ref(), requirements.as_ref()]);
        python(&pip)?;
        let mut entries = fs::read_dir(&download)?.filter_map(Result::ok).map(|entry| entry.path());
        let wheel = entries.find(|path| path.extension() == Some(OsStr::new("whl")));
        let (wheel, partial) = (wheel.context("pip left no wheel")?, download.join("unpacked"));
        python(&["-c".as_ref(), UNPACK.as_ref(), wheel.as_ref(), partial.as_ref()])?;
        // Renamed last, so that a folder that exists is always complete.
        fs::rename(&partial, folder)?;
        Ok(fs::remove_dir_all(&download)?)
    }
}

/// The path of a program: from a variable of the environment, or in the target directory, where it is downloaded once.
fn program(workspace: &Metadata, name: &str, variable: &str) -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
        return Ok(program.into());
    }
    let program = at_hand_of(workspace, name)?;
    if !program.exists() {
        let is_for_us = cfg!(all(target_os = "linux", target_arch = "x86_64"));
        ensure!(is_for_us, "{name} is fetched for x86-64 Linux only; set {variable} to its path");
        println!("fetching {name} 12.8 (a download of 150 MiB, once)");
        let unpacked = program.with_extension("triton");
        TRITON
            .unpack(&unpacked)
            .with_context(|| format!("cannot fetch {name}; set {variable} to its path"))?;
        let partial = unpacked.join(MEMBERS).join(name);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
        }
        fs::rename(&partial, &program)?;
        fs::remove_dir_all(&unpacked)?;
    }
    Ok(program)
}

/// The path to which a program is downloaded.
fn at_hand_of(workspace: &Metadata, name: &str) -> Result<PathBuf> {
    Ok(workspace.target()?.join("oracle").join(name))
}

/// Runs the comparisons that need no download, and prints the programs that are missing.
///
/// # Errors
/// Returns the error of the first comparison that fails.
pub(crate) fn at_hand(workspace: &Metadata) -> Result<()> {
    let is_there = |name: &str, variable: &str| -> Result<bool> {
        let found = std::env::var_os(variable).is_some() || at_hand_of(workspace, name)?.exists();
        if !found {
            missing(&format!("comparisons with {name}, which {variable} does not name"))?;
        }
        Ok(found)
    };
    if is_there("nvdisasm", NVDISASM)? {
        oracle(&Arguments { words: 100_000, seed: None, sm: Vec::new() })?;
        oracle(&Arguments { words: 10_000, seed: None, sm: vec!["all".to_owned()] })?;
    }
    if is_there("cuobjdump", CUOBJDUMP)? {
        wheels()?;
    }
    Ok(())
}

#[derive(Args)]
pub(crate) struct Arguments {
    /// Number of words to compare, over all instructions
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    words: usize,
    /// The seed of the words, as printed by an earlier run; a new one each time if omitted
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Compare 128-bit words of these SMs instead, such as `80,90,120`, or `all` SMs that nvdisasm
    /// knows; N words for each
    #[arg(long, value_name = "SM", value_delimiter = ',')]
    sm: Vec<String>,
}

const NOP: u128 = 0x000f_c000_0000_0000_0000_0000_0000_7918;

/// Compares fresh words with nvdisasm. Fails if one differs.
pub(crate) fn oracle(arguments: &Arguments) -> Result<()> {
    let names: Vec<&str> = Instruction::mnemonics(Sm::SPA5).collect();
    ensure!(arguments.words >= names.len(), "--words: expected at least one word an instruction");
    let workspace = Metadata::workspace()?;
    let nvdisasm = Nvdisasm::new(program(&workspace, "nvdisasm", NVDISASM)?);
    // The low bits of the time differ from run to run.
    let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as u64);
    let (words, seed) = (arguments.words, arguments.seed.unwrap_or_else(now));
    let release = nvdisasm.release()?;
    if arguments.sm.is_empty() {
        println!("nvdisasm {release}, {}, --seed {seed}", names.join(" "));
        let report = warpload_oracle::run(&nvdisasm, words, seed)?;
        println!("{report}");
        ensure!(report.differences == 0, Failed::SHOWN);
        return Ok(());
    }
    let sms: Vec<Sm> = if arguments.sm.iter().any(|name| name == "all") {
        let known = Sm::all().filter(|sm| sm.has_wide_words());
        known.filter(|sm| nvdisasm.disassemble_wide(&[NOP], *sm).is_ok()).collect()
    } else {
        arguments.sm.iter().map(|name| Ok(name.parse::<Sm>()?)).collect::<Result<_>>()?
    };
    println!("nvdisasm {release}, {words} words an SM, --seed {seed}");
    let compiled = compiled()?;
    let mut differences = 0;
    for sm in sms {
        ensure!(sm.has_wide_words(), "SM {sm} has words of 64 bits; omit --sm");
        // Compiled words of other groups of SMs are used too, because most of them are valid here as well.
        let report = run_wide(&nvdisasm, sm, words, seed, &compiled)?;
        println!("SM {sm}: {report}");
        differences += report.differences;
    }
    ensure!(differences == 0, Failed::SHOWN);
    Ok(())
}

/// The 128-bit loads of the compiled code in the tests' data.
fn compiled() -> Result<Vec<u128>> {
    let mut words = Vec::new();
    for path in files(&root().join("tests/data/listings128"), ".cubin")? {
        for instruction in sass::read(BufReader::new(File::open(&path)?), sass::Format::Detect)? {
            let instruction = instruction?;
            let word = instruction.word.and_then(|word| word.wide()).zip(instruction.sm);
            if let Some((word, sm)) = word
                && matches!(Instruction::decode(word, sm), Decoded::Load(_))
            {
                words.push(word);
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

/// The cubins and the PTX of a file, each as size and hash. Sorted, because cuobjdump visits the sections in another
/// order.
type Code = [Vec<(usize, u64)>; 2];

fn add(code: &mut Code, is_ptx: bool, bytes: &[u8]) {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let images = &mut code[usize::from(is_ptx)];
    images.push((bytes.len(), hasher.finish()));
    images.sort_unstable();
}

/// Compares the GPU code found in public wheels with cuobjdump's. Fails if an image differs.
pub(crate) fn wheels() -> Result<()> {
    let workspace = Metadata::workspace()?;
    let folder = workspace.target()?.join("wheels");
    fs::create_dir_all(&folder)?;
    let cuobjdump = program(&workspace, "cuobjdump", CUOBJDUMP)?;
    let mut is_same = true;
    for wheel in &WHEELS {
        let unpacked = folder.join(wheel.requirement.replace("==", "-"));
        if !unpacked.exists() {
            println!("fetching {}", wheel.requirement);
            wheel
                .unpack(&unpacked)
                .with_context(|| format!("cannot fetch {}", wheel.requirement))?;
        }
        for file in files(&unpacked, ".so")? {
            let mut ours = Code::default();
            let bytes = fs::read(&file)?;
            for image in GpuCodes::new(&bytes) {
                let image = image?;
                if let GpuCodeKind::Cubin | GpuCodeKind::Ptx = image.kind {
                    add(&mut ours, image.kind == GpuCodeKind::Ptx, &image.read()?.bytes);
                }
            }
            let theirs = extract(&cuobjdump, &file, &folder.join("extracted"))?;
            let (name, counts) = (file.strip_prefix(&unpacked)?, |code: &Code| {
                format!("{} cubins, {} PTX", code[0].len(), code[1].len())
            });
            if ours != theirs {
                let (ours, theirs) = (counts(&ours), counts(&theirs));
                println!("{}: {ours}; cuobjdump's {theirs} differ", name.display());
                is_same = false;
            } else if ours != Code::default() {
                println!("{}: {}, as cuobjdump's", name.display(), counts(&ours));
            }
        }
    }
    ensure!(is_same, Failed::SHOWN);
    Ok(())
}

/// The code that cuobjdump extracts from a file; empty if there is none.
fn extract(cuobjdump: &Path, file: &Path, folder: &Path) -> Result<Code> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    // Without `-all`, cuobjdump leaves out relocatable code beside executable code. Its exit status does not matter: it
    // fails for a file without code.
    let mut command = Command::new(cuobjdump);
    command.args(["-all", "-xelf", "all", "-xptx", "all"]).arg(file).current_dir(folder);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.with_context(|| format!("cannot run {}", cuobjdump.display()))?;
    let mut code = Code::default();
    for path in files(folder, "")? {
        add(&mut code, path.extension() != Some(OsStr::new("cubin")), &fs::read(&path)?);
    }
    fs::remove_dir_all(folder)?;
    Ok(code)
}

/// The files in a folder and its subfolders with `part` in their path, sorted.
fn files(folder: &Path, part: &str) -> Result<Vec<PathBuf>> {
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
