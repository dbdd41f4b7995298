//! The options of `decode`.

use std::path::PathBuf;

use clap::ValueEnum;
use warpload::encoding::Sm;
use warpload::encoding::control::Notation;
use warpload_binary::names::NamePattern;

use crate::options::{Format, number};

/// Show every load of a cubin, a raw stream or a listing
///
/// Inputs are recognized by content: cubins (ELF), files that contain cubins (fatbins; objects, archives, libraries and
/// programs with fatbins in them), and listings of cuobjdump (-sass), nvdisasm (with or without -hex), maxas and
/// CuAssembler. Each load is shown with its function, its offset (on SM 5.x and 6.x control words count), its word and
/// its text; and with its source line, if a cubin has line information. A word that has the opcode of a load, but is
/// refused by nvdisasm, is shown as `illegal`.
///
/// A file that is not text is mapped: it must not change or become shorter while it is read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload decode traces/gather.sm_50.cubin --control maxas
  warpload decode traces/gather.sm_50.cubin --all
  warpload decode traces/rows.sm_50.cubin --stats
  warpload decode --raw --offset 0x50 shader.bin
  warpload decode --list libkernels.so
  warpload decode --sm 80 --extract cubins libkernels.so
  cuobjdump -sass app | warpload decode - --check
  warpload decode --word 0x9c90000123470200 0x84e0000000070104
  warpload decode --sm 90 --word 0x000ea2000c1e19000000080402007981
  cut -f1 words.tsv | warpload decode --word -")]
pub(crate) struct Arguments {
    /// Files; `-` is standard input
    #[arg(required_unless_present = "word")]
    pub(super) input: Vec<PathBuf>,

    /// Decode bare words, of 128 bits with `--sm` 70 and up; `-` reads one a line. A word that is not a load prints `-`
    /// (JSON: null), an illegal load prints `illegal`
    #[arg(
        long,
        num_args = 1..,
        value_name = "WORD",
        conflicts_with_all = ["input", "raw", "check", "function", "all", "stats", "no_demangle"]
    )]
    pub(super) word: Vec<String>,

    /// Read code without a container: 32-byte bundles, or with `--sm` 70 and up 16-byte instructions
    #[arg(long, conflicts_with_all = ["function", "no_demangle"])]
    pub(super) raw: bool,

    /// Start of the code in a raw stream, in bytes, decimal or 0x hexadecimal: a multiple of 8.
    /// Offsets are counted from there
    #[arg(
        long,
        value_name = "BYTES",
        requires = "raw",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = number::<u64>(0..=u64::MAX)
    )]
    pub(super) offset: u64,

    /// Only this image of a file with several: its number in `--list`; exit status 1 if there is none
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=u64::MAX), conflicts_with_all = ["word", "raw"])]
    pub(super) image: Option<u64>,

    /// List the cubins and the PTX in each file instead
    #[arg(long, conflicts_with_all = NOT_OF_ROWS, conflicts_with = "extract")]
    pub(super) list: bool,

    /// Write the cubins and the PTX in each file into this folder instead: STEM.N.sm_S.cubin or
    /// .ptx, with the file's name and the image's number in `--list`
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = NOT_OF_ROWS
    )]
    pub(super) extract: Option<PathBuf>,

    /// Replace existing files
    #[arg(long, requires = "extract")]
    pub(super) force: bool,

    /// SM of the code, such as 80 or 90a, if the input does not name it. For a file with code of several SMs, the only
    /// one to show; exit status 1 if there is none
    #[arg(long, value_name = "SM")]
    pub(super) sm: Option<Sm>,

    /// Show every instruction, loads marked with `*`: its text if the listing has it, else only its word
    #[arg(long, conflicts_with = "check")]
    pub(super) all: bool,

    /// Show the control code of each load, in this notation
    #[arg(long, value_enum, default_value_t)]
    pub(super) control: ControlNotation,

    /// Append the hidden operands of a load, so that `encode` writes the same word: on SM 8.x the descriptor of an
    /// address, `&desc=UR4`
    #[arg(long)]
    pub(super) hidden: bool,

    /// Functions to show: a part of the mangled or demangled name, or a regular expression
    #[arg(long, value_name = "NAME|REGEX")]
    pub(super) function: Option<NamePattern>,

    /// Compare the text of a listing with its words; exit status 1 if they differ. Hidden descriptors, and bits that no
    /// text shows, are noted
    #[arg(long, conflicts_with_all = ["raw", "hidden", "control", "no_demangle"])]
    pub(super) check: bool,

    /// Count the loads of each function by kind, width and cache operator, with remarks on neighbours that one wider
    /// load could serve, volatile loads, and displacements that are not a multiple of the access size. For a file with
    /// several images also the total, which counts a function once even if several images have it, such as relocatable
    /// code after linking
    #[arg(long, conflicts_with_all = ["all", "check", "control", "hidden"])]
    pub(super) stats: bool,

    /// Show names of functions as they are in the input, without their demangled form
    #[arg(long)]
    pub(super) no_demangle: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl Arguments {
    /// Whether rows begin with the name of their file.
    pub(super) fn names_files(&self) -> bool {
        self.input.len() > 1
    }
}

/// Options about rows of instructions. They conflict with the listing and extraction of images, which write no rows.
const NOT_OF_ROWS: [&str; 9] =
    ["word", "raw", "check", "function", "all", "stats", "hidden", "control", "no_demangle"];

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ControlNotation {
    #[default]
    None,
    /// `--:-:-:-:1` before the text
    Maxas,
    /// `[B------:R-:W-:-:S01]` before the text
    Cuasm,
    /// `&req={0} &rd=1 &wr=0 ?WAIT1_END_GROUP` after the text; from SM 7.0 on the annotations of nvdisasm 12.8, which
    /// are none up to 8.0 and all from 12.0 on
    Nvidia,
}

impl ControlNotation {
    pub(super) fn notation(self) -> Option<Notation> {
        match self {
            Self::None => None,
            Self::Maxas => Some(Notation::Maxas),
            Self::Cuasm => Some(Notation::CuAssembler),
            Self::Nvidia => Some(Notation::Nvidia),
        }
    }
}
