//! [`Replaying`]: the options that decide what a replay computes, of `replay` and of `plan`.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use warpload::machine::Machine;
use warpload::memory::{Fill, Memory, Window};
use warpload_binary::sass::Functions;
use warpload_replay::{ReplayData, ReplayOptions, Selection, SharedRules};
use warpload_trace::DEFAULT_ADDRESS_BITS;

use super::choice::Choice;
use super::options::{positive, read_number};
use super::{cubins, io, trace};

#[derive(clap::Args)]
pub(crate) struct Replaying {
    /// The manifest of the memory image that the loads read
    #[arg(long, value_name = "MANIFEST", conflicts_with = "fill")]
    image: Option<PathBuf>,

    /// What memory holds without an image; every address is allocated then
    #[arg(long, value_enum)]
    fill: Option<FillName>,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) threads: Option<usize>,

    /// The width of a generic address, 32 to 64
    #[arg(
        long,
        value_name = "N",
        default_value_t = DEFAULT_ADDRESS_BITS,
        value_parser = clap::value_parser!(u32).range(32..=64),
        conflicts_with = "image"
    )]
    address_bits: u32,

    /// The shared address window, instead of the trace's
    #[arg(long, value_name = "BASE,SIZE", value_parser = read_window, conflicts_with = "image")]
    shared_window: Option<Window>,

    /// The local address window, instead of the trace's
    #[arg(long, value_name = "BASE,SIZE", value_parser = read_window, conflicts_with = "image")]
    local_window: Option<Window>,

    /// Also count how many loads lie between two touches of the same line of global memory; needs
    /// memory for every line touched
    #[arg(long)]
    reuse: bool,

    /// Serve two groups of 8 lanes at once if they load 16 bytes in equal pairs from shared memory, as
    /// SM 7.0 to 7.5 do
    #[arg(long)]
    merge_pairs: bool,

    /// A cubin with kernels of the trace, or a file that holds such cubins, for the SASS of its loads and
    /// the source line of each program counter; can be given several times
    #[arg(long, value_name = "FILE")]
    cubin: Vec<PathBuf>,

    /// Show names of kernels as they are in the trace, instead of demangled
    #[arg(long)]
    pub(crate) no_demangle: bool,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Clone, Copy, ValueEnum)]
enum FillName {
    /// The eight bytes at address 8k are splitmix64(k)
    Address,
    Zero,
}

fn read_window(text: &str) -> Result<Window, String> {
    text.split_once(',')
        .and_then(|(base, size)| {
            Some(Window { base: read_number(base.trim())?, size: read_number(size.trim())? })
        })
        .ok_or_else(|| "expected BASE,SIZE, as in 0xfe000000,0x1000000".to_owned())
}

/// What the options name, read.
pub(crate) struct Read {
    machine: Option<Machine>,
    functions: Option<Functions>,
    /// All files.
    pub(crate) files: Vec<PathBuf>,
}

impl Replaying {
    /// Checks that the trace, the image and the cubins are not all to come from standard input.
    pub(crate) fn check_stdin(&self, trace: &Path) -> anyhow::Result<()> {
        if self.image.as_deref().is_some_and(io::is_stdin) && io::is_stdin(trace) {
            bail!("standard input is either the trace or the image, not both");
        }
        let cubins = self.cubin.iter().filter(|path| io::is_stdin(path)).count();
        let others = [Some(trace), self.image.as_deref()];
        if cubins > 1 || cubins == 1 && others.into_iter().flatten().any(io::is_stdin) {
            bail!("standard input is one file; expected `-` once");
        }
        Ok(())
    }

    /// Returns whether the image or a cubin comes from standard input.
    pub(crate) fn has_stdin(&self) -> bool {
        self.image.iter().chain(&self.cubin).any(|path| io::is_stdin(path))
    }

    /// Reads the image and the cubins.
    pub(crate) fn read(&self) -> anyhow::Result<Read> {
        let (machine, parts) = self.image.as_deref().map(trace::open_machine).transpose()?.unzip();
        let functions = cubins::read(&self.cubin)?;
        let files = self.image.iter().cloned().chain(parts.into_iter().flatten());
        Ok(Read { machine, functions, files: files.chain(self.cubin.iter().cloned()).collect() })
    }

    /// Returns the options for the library, for the loads of a selection. They read `image` if there is
    /// one, instead of what the options name.
    pub(crate) fn options<'r>(
        &self,
        read: &'r Read,
        image: Option<&'r Memory>,
        selection: Option<&'r Selection>,
    ) -> ReplayOptions<'r> {
        let image = image.or(read.machine.as_ref().map(|machine| &machine.memory));
        let data = match (image, self.fill) {
            (Some(memory), _) => ReplayData::Image(memory),
            (None, Some(FillName::Address)) => ReplayData::Fill(Fill::Address),
            (None, Some(FillName::Zero)) => ReplayData::Fill(Fill::Zero),
            (None, None) => ReplayData::Absent,
        };
        ReplayOptions::new(data)
            .address_bits(self.address_bits)
            .shared_window(self.shared_window)
            .local_window(self.local_window)
            .select(selection)
            .reuse(self.reuse)
            .shared_rules(SharedRules::default().merging_pairs(self.merge_pairs))
            .functions(read.functions.as_ref())
            .demangled_names(!self.no_demangle)
    }

    /// Returns what a replay with such data read.
    pub(crate) fn data_in_words(&self, data: ReplayData<'_>) -> String {
        match (data, &self.image) {
            (ReplayData::Image(_), Some(manifest)) => {
                format!("memory image {}", manifest.display())
            }
            (ReplayData::Image(_), None) => "a memory image".into(),
            (ReplayData::Fill(Fill::Address), _) => {
                "memory filled with a function of the address".into()
            }
            (ReplayData::Fill(Fill::Zero), _) => "memory filled with zeroes".into(),
            _ => "no data, all addresses allocated".into(),
        }
    }

    /// Returns the names of the options that are set, each once, as `--fill`.
    pub(crate) fn names(&self) -> anyhow::Result<Vec<String>> {
        let name = |argument: &String| argument.split('=').next().unwrap_or_default().to_owned();
        let mut names: Vec<String> = self.arguments()?.iter().map(name).collect();
        names.dedup();
        Ok(names)
    }

    /// Returns the options as they are on a command line. Errors name a file whose name is not UTF-8.
    pub(crate) fn arguments(&self) -> anyhow::Result<Vec<String>> {
        // All of them: one that is forgotten here would be missing in a plan.
        let Self {
            image,
            fill,
            threads,
            address_bits,
            shared_window,
            local_window,
            reuse,
            merge_pairs,
            cubin,
            no_demangle,
            choice,
        } = self;
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: String| arguments.push(format!("--{name}={value}"));
        if let Some(image) = image {
            add("image", io::utf8(image)?.to_owned());
        }
        if let Some(fill) = fill.and_then(|fill| fill.to_possible_value()) {
            add("fill", fill.get_name().to_owned());
        }
        if let Some(threads) = threads {
            add("threads", threads.to_string());
        }
        if *address_bits != DEFAULT_ADDRESS_BITS {
            add("address-bits", address_bits.to_string());
        }
        for (name, window) in [("shared-window", shared_window), ("local-window", local_window)] {
            if let Some(Window { base, size }) = window {
                add(name, format!("{base:#x},{size:#x}"));
            }
        }
        for cubin in cubin {
            add("cubin", io::utf8(cubin)?.to_owned());
        }
        for (name, value) in choice.arguments() {
            add(name, value);
        }
        for (name, is_set) in
            [("reuse", reuse), ("merge-pairs", merge_pairs), ("no-demangle", no_demangle)]
        {
            if *is_set {
                arguments.push(format!("--{name}"));
            }
        }
        Ok(arguments)
    }
}
