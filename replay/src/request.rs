//! [`ReplayRequest`]: the options of a replay as users give them, through the command, Python or a question.
//! The caller opens the files that the request names; [`ReplayRequest::options`] converts the rest.

use std::ffi::OsString;
use std::fmt;
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::costs::SharedRules;
use crate::glob::OpcodePattern;
use crate::options::{ReplayData, ReplayOptions, Selected, Selection};
use crate::replay::ReplayError;
use warpload::memory::{Fill, Memory, Space, Window};
use warpload::text::parse_number;
use warpload_binary::names::{Demangled, NamePattern};
use warpload_binary::sass::Functions;
use warpload_trace::{DEFAULT_ADDRESS_BITS, TraceContents, usable_threads};

/// The options of a replay, as the user writes them.
///
/// Each option is a field. With feature `clap` the fields are arguments of a command, named after them, and their
/// documentation is the help; [`arguments`](Self::arguments) writes them back. In JSON, numbers and windows may be
/// text as on a command line: `{"fill": "address", "pc": "0x10..0x80", "shared_window": "0xfe000000,0x1000000"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReplayRequest {
    /// The manifest of the memory image that the loads read
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MANIFEST", conflicts_with = "fill"))]
    pub image: Option<PathBuf>,

    /// The contents of memory without an image; every address is allocated then
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub fill: Option<FillWord>,

    /// Number of threads to use; defaults to the available parallelism
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = threads))]
    pub threads: Option<NonZero<usize>>,

    /// The width of a generic address, 32 to 64; 49 if not given
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "address_bits")]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "N",
            value_parser = clap::value_parser!(u32).range(32..=64),
            conflicts_with = "image"
        )
    )]
    pub address_bits: Option<u32>,

    /// The shared address window, instead of the trace's
    #[serde(skip_serializing_if = "Option::is_none", with = "pairs")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "BASE,SIZE", conflicts_with = "image"))]
    pub shared_window: Option<Window>,

    /// The local address window, instead of the trace's
    #[serde(skip_serializing_if = "Option::is_none", with = "pairs")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "BASE,SIZE", conflicts_with = "image"))]
    pub local_window: Option<Window>,

    /// A cubin with kernels of the trace, or a file that contains such cubins, for the SASS of its loads and the source
    /// line of each program counter; can be given several times
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub cubin: Vec<PathBuf>,

    /// Serve two groups of 8 lanes at once if they load 16 bytes in equal pairs from shared memory, as
    /// SM 7.0 to 7.5 do
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub merge_pairs: bool,

    /// Show names of kernels as they are in the trace, not demangled
    #[serde(skip_serializing_if = "is_true")]
    #[cfg_attr(feature = "clap", arg(long = "no-demangle", action = clap::ArgAction::SetFalse))]
    pub demangle: bool,

    /// Only accesses of kernels with this text, or a match of this regular expression, in their mangled or demangled name
    #[serde(skip_serializing_if = "Option::is_none", with = "words")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME|REGEX", help_heading = SELECTION))]
    pub kernel: Option<NamePattern>,

    /// Only accesses at a program counter, or from one to another, both included: decimal, or hexadecimal
    /// with 0x
    #[serde(skip_serializing_if = "Option::is_none", with = "pairs")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LO[..HI]", help_heading = SELECTION))]
    pub pc: Option<PcRange>,

    /// Only accesses whose whole opcode matches: `LDG.*`, `LD?.E`, `*.{64,128}`
    #[serde(skip_serializing_if = "Option::is_none", with = "words")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "GLOB", help_heading = SELECTION))]
    pub opcode: Option<OpcodePattern>,

    /// Only accesses with their first executing lane in this memory
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "NAME", help_heading = SELECTION))]
    pub space: Option<SpaceWord>,
}

/// The heading of the options that select accesses, in a command's help.
#[cfg(feature = "clap")]
const SELECTION: &str = "Which accesses are counted";

impl Default for ReplayRequest {
    fn default() -> Self {
        Self {
            image: None,
            fill: None,
            threads: None,
            address_bits: None,
            shared_window: None,
            local_window: None,
            cubin: Vec::new(),
            merge_pairs: false,
            demangle: true,
            kernel: None,
            pc: None,
            opcode: None,
            space: None,
        }
    }
}

/// The contents of memory without an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FillWord {
    /// The eight bytes at address 8k are splitmix64(k)
    Address,
    /// Zeroes
    Zero,
}

impl From<FillWord> for Fill {
    fn from(word: FillWord) -> Self {
        match word {
            FillWord::Address => Self::Address,
            FillWord::Zero => Self::Zero,
        }
    }
}

/// The memory of an access's first executing lane, as [`AccessCounts::by_space`](crate::AccessCounts::by_space) counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SpaceWord {
    /// Global memory
    Global,
    /// Local memory
    Local,
    /// Shared memory
    Shared,
    /// Constant memory
    Constant,
    /// No lane executes, or the first one's address is in no memory
    Unresolved,
}

impl SpaceWord {
    /// Returns the name of the memory as the user writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Constant => "constant",
            Self::Unresolved => "unresolved",
        }
    }

    fn space(self) -> Option<Space> {
        match self {
            Self::Global => Some(Space::Global),
            Self::Local => Some(Space::Local),
            Self::Shared => Some(Space::Shared),
            Self::Constant => Some(Space::Constant { bank: 0 }),
            Self::Unresolved => None,
        }
    }
}

/// One program counter, or all from one to another, both included: `0x1a0`, `0x1a0..0x2f0`, `416..752`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcRange(RangeInclusive<u32>);

/// Why a text is not a [`PcRange`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PcRangeError {
    /// It is not one or two numbers.
    #[error(
        "expected LO or LO..HI of 32 bits, decimal or hexadecimal with 0x, as in 0x1a0..0x2f0 or 416..752"
    )]
    Syntax,
    /// The first number is above the last one. Both are as they were written.
    #[error("the range is empty: {0} is above {1}")]
    Reversed(String, String),
}

impl PcRange {
    /// Returns the range.
    #[must_use]
    pub fn range(&self) -> RangeInclusive<u32> {
        self.0.clone()
    }
}

impl FromStr for PcRange {
    type Err = PcRangeError;

    fn from_str(text: &str) -> Result<Self, PcRangeError> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text| u32::try_from(parse_number(text)?).ok();
        let (from, to) = number(first).zip(number(last)).ok_or(PcRangeError::Syntax)?;
        if from > to {
            return Err(PcRangeError::Reversed(first.to_owned(), last.to_owned()));
        }
        Ok(Self(from..=to))
    }
}

/// Hexadecimal, however it was written: equal ranges have equal texts.
impl fmt::Display for PcRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.0.start(), self.0.end());
        write!(f, "{first:#x}")?;
        if first == last { Ok(()) } else { write!(f, "..{last:#x}") }
    }
}

/// Why a request and an image conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an image determines the contents of memory, its windows and its address bits")]
pub struct ImageConflict;

impl ReplayRequest {
    /// Returns the selection as the user wrote it; `None` if all accesses are counted.
    #[must_use]
    pub fn selected(&self) -> Option<Selected> {
        let Self { kernel, pc, opcode, space, .. } = self;
        let selected = Selected {
            kernel: kernel.as_ref().map(ToString::to_string),
            pc: pc.as_ref().map(ToString::to_string),
            opcode: opcode.as_ref().map(ToString::to_string),
            space: space.map(|space| space.name().to_owned()),
        };
        (selected != Selected::default()).then_some(selected)
    }

    /// Returns the selection among the accesses of a trace; `None` if all are counted.
    #[must_use]
    pub fn selection(&self, contents: &TraceContents) -> Option<Selection> {
        let selected = self.selected()?;
        let kernels = self.kernel.as_ref().map(|kernel| {
            let mut demangled = Demangled::default();
            let mut is_chosen =
                |name: &Arc<str>| kernel.matches(name, demangled.add(name).as_deref());
            contents.kernels.iter().map(|launch| is_chosen(&launch.name)).collect()
        });
        let operations = self.opcode.as_ref().map(|opcode| {
            let operations = contents.operations.iter();
            operations.map(|operation| opcode.matches(&operation.opcode)).collect()
        });
        let pcs = self.pc.as_ref().map(PcRange::range);
        Some(Selection {
            kernels,
            operations,
            pcs,
            space: self.space.map(SpaceWord::space),
            selected,
        })
    }

    /// Returns the source of the data: `image` if there is one, else the fill.
    #[must_use]
    pub fn data<'m>(&self, image: Option<&'m Memory>) -> ReplayData<'m> {
        match (image, self.fill) {
            (Some(memory), _) => ReplayData::Image(memory),
            (None, Some(fill)) => ReplayData::Fill(fill.into()),
            (None, None) => ReplayData::Absent,
        }
    }

    /// Returns what loads read, in words: `memory image app.json`, `a function of the address`.
    #[must_use]
    pub fn data_in_words(&self) -> String {
        match (&self.image, self.fill) {
            (Some(manifest), _) => format!("memory image {}", manifest.display()),
            (None, Some(FillWord::Address)) => "a function of the address".to_owned(),
            (None, Some(FillWord::Zero)) => "zeros".to_owned(),
            (None, None) => "none (--image or --fill), so no values were computed".to_owned(),
        }
    }

    /// Returns the options to replay a selection. `image` and `functions` are the opened files of the request.
    #[must_use]
    pub fn options<'r>(
        &self,
        image: Option<&'r Memory>,
        functions: Option<&'r Functions>,
        selection: Option<&'r Selection>,
    ) -> ReplayOptions<'r> {
        ReplayOptions {
            address_bits: self.address_bits.unwrap_or(DEFAULT_ADDRESS_BITS),
            shared_window: self.shared_window,
            local_window: self.local_window,
            selection,
            shared_rules: SharedRules::default().merging_pairs(self.merge_pairs),
            functions,
            demangles_names: self.demangle,
            ..ReplayOptions::new(self.data(image))
        }
    }

    /// Checks that the request does not set properties that an image has itself: the contents of memory, windows and
    /// address bits.
    ///
    /// # Errors
    /// Returns [`ImageConflict`] if it sets one of these.
    pub fn check_image(&self) -> Result<(), ImageConflict> {
        let Self { fill, address_bits, shared_window, local_window, .. } = self;
        let is_left = fill.is_none()
            && address_bits.is_none()
            && shared_window.is_none()
            && local_window.is_none();
        if is_left { Ok(()) } else { Err(ImageConflict) }
    }

    /// Calls a function on as many threads as requested, but no more than can run at once.
    ///
    /// # Errors
    /// Returns [`ReplayError::Threads`] if they cannot be started, and errors of the function.
    pub fn on_threads<T: Send>(
        &self,
        function: impl FnOnce() -> Result<T, ReplayError> + Send,
    ) -> Result<T, ReplayError> {
        let threads = usable_threads(self.threads).get();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let failed = |error: rayon::ThreadPoolBuildError| ReplayError::Threads {
            threads,
            message: error.to_string(),
        };
        pool.map_err(failed)?.install(function)
    }

    /// Returns the options as arguments of a command, ordered by name: `--name=value`, `--name` or `--no-name`.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        // File names need not be UTF-8, so they do not go through JSON.
        let Self { image, cubin, .. } = self;
        let files = image.iter().map(|file| ("--image=", file));
        let files = files.chain(cubin.iter().map(|file| ("--cubin=", file)));
        let mut arguments: Vec<OsString> = files
            .map(|(name, file)| {
                let mut argument = OsString::from(name);
                argument.push(file);
                argument
            })
            .collect();
        let others = Self { image: None, cubin: Vec::new(), ..self.clone() };
        let others = serde_json::to_value(others).unwrap_or_default();
        for (name, value) in others.as_object().into_iter().flatten() {
            let name = name.replace('_', "-");
            arguments.push(OsString::from(match value {
                Value::Bool(true) => format!("--{name}"),
                Value::Bool(false) => format!("--no-{name}"),
                Value::String(text) => format!("--{name}={text}"),
                value => format!("--{name}={value}"),
            }));
        }
        // The files of one option keep their order.
        let name = |argument: &OsString| {
            let bytes = argument.as_encoded_bytes();
            let name = bytes.split(|byte| *byte == b'=').next().unwrap_or_default();
            name.strip_prefix(b"--no-").or(name.strip_prefix(b"--")).unwrap_or_default().to_vec()
        };
        arguments.sort_by_cached_key(name);
        arguments
    }
}

fn is_false(is_set: &bool) -> bool {
    !is_set
}

fn is_true(is_set: &bool) -> bool {
    *is_set
}

#[cfg(feature = "clap")]
fn threads(text: &str) -> Result<NonZero<usize>, &'static str> {
    let number = parse_number(text).and_then(|number| usize::try_from(number).ok());
    number.and_then(NonZero::new).ok_or("expected a number above 0, decimal or hexadecimal with 0x")
}

fn address_bits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    match Option::deserialize(from)? {
        Some(bits) if !(32..=64).contains(&bits) => {
            Err(D::Error::custom(format_args!("expected 32 to 64 bits, not {bits}")))
        }
        bits => Ok(bits),
    }
}

/// Options that are text in JSON.
mod words {
    use super::*;

    pub(super) fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(to)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

/// Options of one or two numbers. JSON may have them as numbers or as text.
mod pairs {
    use super::*;

    pub(super) use super::words::serialize;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text, a number or a pair of numbers")]
    enum Given {
        Number(u64),
        Pair(u64, u64),
        Text(String),
    }

    pub(super) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: Pair + FromStr<Err: fmt::Display>,
        D: Deserializer<'de>,
    {
        let text = match Option::<Given>::deserialize(from)? {
            None => return Ok(None),
            Some(Given::Number(number)) => number.to_string(),
            Some(Given::Pair(one, other)) => format!("{one}{}{other}", T::BETWEEN),
            Some(Given::Text(text)) => text,
        };
        text.parse().map(Some).map_err(D::Error::custom)
    }
}

/// The separator between two numbers.
trait Pair {
    const BETWEEN: &str;
}

impl Pair for PcRange {
    const BETWEEN: &str = "..";
}

impl Pair for Window {
    const BETWEEN: &str = ",";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_counters_are_decimal_or_hexadecimal() {
        let range = |text: &str| text.parse::<PcRange>().ok().map(|pcs| pcs.range());
        assert_eq!(range("10"), Some(10..=10));
        assert_eq!(range("0x1a0..0X2f0"), Some(0x1a0..=0x2f0));
        assert_eq!(range("0..0xffffffff"), Some(0..=u32::MAX));
        for text in
            ["", "..", "10..", "..10", "20..10", "+1", "0x", "1a0", "0x100000000", "1..2..3"]
        {
            assert_eq!(range(text), None, "{text}");
        }
        assert_eq!(
            "16..0x20".parse::<PcRange>().map(|pcs| pcs.to_string()),
            Ok("0x10..0x20".into())
        );
    }

    #[test]
    fn a_request_is_the_same_in_json() {
        let json = r#"{
            "fill": "address", "pc": [16, 32], "shared_window": "0xfe000000,0x1000000", "demangle": false,
            "cubin": ["a", "b"], "kernel": "^k", "opcode": "LDG.*", "space": "global", "threads": 2
        }"#;
        let request: ReplayRequest = serde_json::from_str(json).unwrap();
        assert_eq!(request.pc.as_ref().map(PcRange::range), Some(16..=32));
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<ReplayRequest>(&written).unwrap(), request);
        assert_eq!(serde_json::to_string(&ReplayRequest::default()).unwrap(), "{}");
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for (json, expected) in [
            (r#"{"fil": "zero"}"#, "unknown field `fil`"),
            (r#"{"fill": "one"}"#, "unknown variant `one`, expected `address` or `zero`"),
            (r#"{"pc": "1a"}"#, "expected LO or LO..HI"),
            (r#"{"pc": true}"#, "expected a text, a number or a pair of numbers"),
            (r#"{"local_window": "1"}"#, "expected BASE,SIZE"),
            (r#"{"address_bits": 5}"#, "expected 32 to 64 bits, not 5"),
        ] {
            let error = serde_json::from_str::<ReplayRequest>(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
