//! The options of `decode`. `stats` shares [`CodeArguments`], and `images` shares [`ImageChoice`].

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
  warpload decode traces/gather.sm_50.cubin --all --control maxas
  warpload decode --raw --offset 0x50 shader.bin
  warpload decode --sm 80 --function gemm libkernels.so
  cuobjdump -sass app | warpload decode - --check
  warpload decode --word 0x9c90000123470200 0x84e0000000070104
  warpload decode --sm 90 --word 0x000ea2000c1e19000000080402007981
  cut -f1 words.tsv | warpload decode --word -
  cut -f1 words.tsv | warpload decode --all --word - --sm 61 --format json")]
pub(crate) struct Arguments {
    /// Files, or words, `0x…`; `-` is standard input
    #[arg(required_unless_present = "word")]
    pub(super) input: Vec<PathBuf>,

    /// Decode bare words, of 128 bits with `--sm` 70 and up; `-` reads one a line. A word that is not a load prints `-`
    /// (JSON: null), an illegal load prints `illegal`
    #[arg(
        long,
        num_args = 1..,
        value_name = "WORD",
        conflicts_with_all = ["input", "raw", "image", "check", "function", "no_demangle"]
    )]
    pub(super) word: Vec<String>,

    /// Address of each word of `--word` with `--all`, from which jumps go; 0x8 by default, that of the first
    /// instruction of a function
    #[arg(
        long,
        value_name = "ADDRESS",
        requires_all = ["word", "all"],
        default_value_t = 8,
        hide_default_value = true,
        value_parser = number::<u64>(0..=u64::MAX)
    )]
    pub(super) at: u64,

    #[command(flatten)]
    pub(super) code: CodeArguments,

    #[command(flatten)]
    pub(super) rows: RowArguments,

    /// Compare the text of a listing with its words; exit status 1 if they differ. Hidden descriptors, and bits that no
    /// text shows, are noted
    #[arg(long, conflicts_with_all = ["raw", "all", "hidden", "control", "no_demangle"])]
    pub(super) check: bool,
}

/// The code to read.
#[derive(clap::Args)]
pub(super) struct CodeArguments {
    /// Read code without a container: 32-byte bundles, or with `--sm` 70 and up 16-byte instructions
    #[arg(long, conflicts_with_all = ["image", "function", "no_demangle"])]
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

    #[command(flatten)]
    pub(super) choice: ImageChoice,

    /// Functions to show: a part of the mangled or demangled name, or a regular expression
    #[arg(long, alias = "kernel", value_name = "NAME|REGEX")]
    pub(super) function: Option<NamePattern>,

    /// Show names of functions as they are in the input, without their demangled form
    #[arg(long)]
    pub(super) no_demangle: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

/// The images of a file with several.
#[derive(clap::Args)]
pub(super) struct ImageChoice {
    /// Only this image of a file with several: its number in `warpload images`; exit status 1 if there is none
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=u64::MAX))]
    pub(super) image: Option<u64>,

    /// SM of the code, such as 80 or 90a, if the input does not name it. For a file with code of several SMs, the only
    /// one to show; exit status 1 if there is none
    #[arg(long, value_name = "SM")]
    pub(super) sm: Option<Sm>,
}

/// The rows of `decode`.
#[derive(Clone, Copy, Default, clap::Args)]
pub(super) struct RowArguments {
    /// Show every instruction, loads marked with `*`: of SM 5.0 to 6.2 its text as nvdisasm prints it, with labels for
    /// jumps, or that nvdisasm refuses it. Of other SMs only listings are shown, which have texts. With `--word`, words
    /// of any instruction
    #[arg(long)]
    pub(super) all: bool,

    /// Show the control code of each load, in this notation
    #[arg(long, value_enum, default_value_t)]
    pub(super) control: ControlNotation,

    /// Append the hidden operands of a load, so that `encode` writes the same word: on SM 8.x the descriptor of an
    /// address, `&desc=UR4`
    #[arg(long)]
    pub(super) hidden: bool,
}

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
