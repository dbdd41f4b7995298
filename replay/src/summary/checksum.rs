//! The JSON of a [`Summary`], and the checksum of a partial one: the CRC-32 of its JSON without spaces
//! and without the checksum, so that nothing of a summary can change unnoticed.

use std::io::{self, BufWriter, Write};

use serde::{Serialize, Serializer};

use super::partial::Checksum;
use super::{
    Digest, KernelSummary, LoadCounts, LoadFault, PartialSummary, PcSummary, Summary, ValueMismatch,
};
use crate::selection::Selected;
use warpload_trace::binary::hexadecimal;

/// A [`Summary`] as JSON, with what is written under `partial`.
#[derive(Serialize)]
struct Written<'s, P> {
    #[serde(flatten)]
    counts: &'s LoadCounts,
    first_mismatches: &'s [ValueMismatch],
    first_faults: &'s [LoadFault],
    digest: Option<Digest>,
    complete: Option<bool>,
    notes: &'s [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: &'s Option<Selected>,
    per_pc: &'s [PcSummary],
    per_pc_stores: &'s [PcSummary],
    kernels: &'s [KernelSummary],
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<P>,
}

#[derive(Serialize)]
struct Sealed<'s> {
    #[serde(flatten)]
    partial: &'s PartialSummary,
    #[serde(with = "hexadecimal")]
    checksum: u32,
}

impl Summary {
    fn written<'s, P>(&'s self, partial: Option<P>) -> Written<'s, P> {
        let Self { counts, first_mismatches, first_faults, digest, complete, notes, .. } = self;
        let Self { selected, per_pc, per_pc_stores, kernels, partial: _, .. } = self;
        let (digest, complete) = (*digest, *complete);
        Written {
            counts,
            first_mismatches,
            first_faults,
            digest,
            complete,
            notes,
            selected,
            per_pc,
            per_pc_stores,
            kernels,
            partial,
        }
    }

    /// Returns whether this summary, with what makes it partial, has the checksum that it was read with.
    pub(super) fn is_as_written(&self, partial: &PartialSummary) -> bool {
        let Checksum(Some(expected)) = partial.checksum else { return true };
        self.checksum(partial).is_ok_and(|checksum| checksum == expected)
    }

    fn checksum(&self, partial: &PartialSummary) -> serde_json::Result<u32> {
        let mut to = BufWriter::with_capacity(1 << 16, Crc(crc32fast::Hasher::new()));
        serde_json::to_writer(&mut to, &self.written(Some(partial)))?;
        let Crc(crc) =
            to.into_inner().map_err(|error| serde_json::Error::io(error.into_error()))?;
        Ok(crc.finalize())
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some(partial) = &self.partial else {
            return self.written(None::<()>).serialize(to);
        };
        let checksum = self.checksum(partial).map_err(serde::ser::Error::custom)?;
        self.written(Some(Sealed { partial, checksum })).serialize(to)
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
