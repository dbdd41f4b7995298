//! [`ShardPart`]: what the summary of a shard has besides, so that [`Summary::merge`] can add it to the others.

use std::fmt;
use std::io::{self, BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use roaring::RoaringTreemap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Summary;
use super::treemap::{read, write};
use crate::counters::TraceCounts;
use crate::row::AccessKind;
use warpload::json::write_line;

/// The shard that a summary covers, and what its merge with the others needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardPart {
    /// The replay: the version, the trace and the options, as [`ReplayOptions::identity`](crate::ReplayOptions::identity)
    /// returns it.
    pub(crate) replay: String,
    /// Its number, from 0.
    pub(crate) index: u64,
    /// The number of shards of the whole replay.
    pub(crate) of: u64,
    /// The number of launches of the whole trace.
    pub(crate) launches: u64,
    /// For each launch of the summary, the lines that its accesses touched.
    pub(crate) lines: Vec<LineSet>,
}

impl ShardPart {
    /// Returns the number of the shard, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the number of shards of the whole replay.
    #[must_use]
    pub fn of(&self) -> u64 {
        self.of
    }

    /// Returns the name of the replay.
    #[must_use]
    pub fn replay(&self) -> &str {
        &self.replay
    }
}

/// `shard 3 of 8`.
impl fmt::Display for ShardPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {} of {}", self.index, self.of)
    }
}

/// Why JSON is not a summary.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// It is not JSON, or not of this form.
    #[error("not a summary of a replay")]
    Json(#[source] serde_json::Error),
    /// It is of a shard, and made by another version of warpload.
    #[error(
        "made by warpload {given}; warpload {} merges only shards of its own version",
        env!("CARGO_PKG_VERSION")
    )]
    OtherVersion {
        /// The version that made it.
        given: String,
    },
    /// It is of a shard, and its parts contradict each other or the checksum.
    #[error("inconsistent: {message}")]
    Inconsistent {
        /// The contradiction.
        message: &'static str,
    },
}

/// The version of a shard's summary. Readable even if another version wrote the rest in another form.
#[derive(Deserialize)]
struct Version {
    shard: VersionPart,
}

#[derive(Deserialize)]
struct VersionPart {
    replay: String,
}

impl Summary {
    /// Reads the JSON of a summary.
    ///
    /// # Errors
    /// Returns [`SummaryError`] if it is not one or, for a summary of a shard, if it is of another version or has
    /// changed since it was written. The version is checked first, because a later form may look like damage.
    pub fn from_json(json: &[u8]) -> Result<Self, SummaryError> {
        // One check of the whole is faster than `from_slice`, which checks each string for UTF-8.
        let summary = match std::str::from_utf8(json) {
            Ok(json) => serde_json::from_str::<Self>(json),
            Err(_) => serde_json::from_slice::<Self>(json),
        };
        let replay = match &summary {
            Ok(summary) => summary.shard.as_ref().map(|part| part.replay.clone()),
            Err(_) => serde_json::from_slice::<Version>(json).ok().map(|head| head.shard.replay),
        };
        let given =
            replay.as_ref().and_then(|replay| replay.strip_prefix("warpload ")?.split(',').next());
        if let Some(given) = given.filter(|given| *given != env!("CARGO_PKG_VERSION")) {
            return Err(SummaryError::OtherVersion { given: given.to_owned() });
        }
        let summary = summary.map_err(SummaryError::Json)?;
        summary.check(json).map_err(|message| SummaryError::Inconsistent { message })?;
        Ok(summary)
    }

    fn check(&self, json: &[u8]) -> Result<(), &'static str> {
        if !self.launches.is_sorted_by(|one, next| one.launch < next.launch) {
            return Err("its launches do not ascend");
        }
        if !self.rows.is_sorted_by(|one, next| one.key() < next.key()) {
            return Err("its rows do not ascend");
        }
        if !self
            .rows
            .iter()
            .all(|row| self.launch(row.launch).is_some_and(|launch| launch.kernel == row.kernel))
        {
            return Err("it has rows of launches that it does not have");
        }
        let mut sums = TraceCounts::default();
        self.rows.iter().for_each(|row| *sums.kind_mut(row.kind) += &row.counts);
        let costs = |counts: &TraceCounts, kind| {
            let of = counts.kind(kind);
            [of.accesses, of.sectors(), of.wavefronts(), of.addresses()]
        };
        if AccessKind::ALL.iter().any(|kind| costs(&sums, *kind) != costs(&self.counts, *kind)) {
            return Err("its sums are not those of its rows");
        }
        let Some(part) = &self.shard else { return Ok(()) };
        if part.index >= part.of {
            return Err("its shard number is out of range");
        }
        if part.lines.len() != self.launches.len() {
            return Err("it does not have the lines of each launch");
        }
        if self.launches.last().is_some_and(|last| last.launch >= part.launches) {
            return Err("it has more launches than the trace");
        }
        if !self.is_sealed(json) {
            return Err("its checksum does not match: it has changed since it was written");
        }
        Ok(())
    }

    /// Sets the checksum of a shard's summary.
    pub(crate) fn seal(mut self) -> Self {
        let mut to = BufWriter::with_capacity(1 << 16, Crc(crc32fast::Hasher::new()));
        // Neither can fail.
        let _ = write_line(&mut to, &self);
        self.checksum = to.into_inner().ok().map(|Crc(crc)| crc.finalize());
        self
    }

    /// Whether `json`, the line that this was read from, ends with its checksum, and the rest of the line has this CRC-32.
    fn is_sealed(&self, json: &[u8]) -> bool {
        let Some(checksum) = self.checksum else { return false };
        let end = format!(",\"checksum\":{checksum}}}");
        let Some(rest) = json.trim_ascii_end().strip_suffix(end.as_bytes()) else { return false };
        let mut crc = crc32fast::Hasher::new();
        crc.update(rest);
        crc.update(b"}\n");
        crc.finalize() == checksum
    }
}

struct Crc(crc32fast::Hasher);

impl Write for Crc {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Distinct lines. As text, the base64 of Roaring's portable form
/// (<https://github.com/RoaringBitmap/RoaringFormatSpec>, its extension to 64 bits). Equal sets have equal texts,
/// regardless of how they were made, and reading accepts no other text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LineSet(pub(crate) RoaringTreemap);

impl Serialize for LineSet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64.encode(write(&self.0)))
    }
}

impl<'de> Deserialize<'de> for LineSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = BASE64
            .decode(text)
            .map_err(|error| D::Error::custom(format!("invalid base64: {error}")))?;
        read(&bytes).map(Self).ok_or_else(|| D::Error::custom("invalid set of lines"))
    }
}
