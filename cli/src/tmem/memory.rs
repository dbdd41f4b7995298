//! The contents of Tensor Memory, a file or a pattern, and the meaning of the lane in an address.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use warpload_ptx::tensor::{LaneMode, MEMORY_BYTES, Pattern, TensorMemory};

use crate::io;
use crate::options::Progress;

/// The source of the contents.
#[derive(Clone)]
pub(crate) enum Contents {
    Pattern(Pattern),
    File(PathBuf),
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum LaneModeName {
    /// A lane that the warp may read; any other makes the load fault
    #[default]
    Strict,
    /// A number modulo 32 among the lanes that the warp may read
    Wrap,
}

impl LaneModeName {
    pub(crate) fn mode(self) -> LaneMode {
        match self {
            Self::Strict => LaneMode::Strict,
            Self::Wrap => LaneMode::Wrap,
        }
    }
}

/// Parses `pattern:NAME`, or else the name of a file.
pub(crate) fn read_contents(text: &str) -> Result<Contents, String> {
    let Some(name) = text.strip_prefix("pattern:") else { return Ok(Contents::File(text.into())) };
    name.parse().map(Contents::Pattern).map_err(|_| {
        format!("unknown pattern; expected one of {}", Pattern::ALL.map(Pattern::name).join(", "))
    })
}

impl Contents {
    pub(crate) fn memory(&self) -> anyhow::Result<TensorMemory> {
        match self {
            Self::Pattern(pattern) => Ok(TensorMemory::filled(*pattern)),
            Self::File(path) => read_file(path).with_context(|| io::name(path)),
        }
    }
}

fn read_file(path: &Path) -> anyhow::Result<TensorMemory> {
    // Reads one byte too many, to notice a longer file without reading all of it.
    let limit = MEMORY_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let mut file = io::open(path, Progress::Never)?.take(limit);
    file.read_to_end(&mut bytes).context("cannot be read")?;
    if bytes.len() > MEMORY_BYTES {
        anyhow::bail!("more than {MEMORY_BYTES} bytes, the size of Tensor Memory");
    }
    Ok(TensorMemory::from_bytes(&bytes)?)
}
