//! Opening the parts of a set as one trace.

use std::io;
use std::path::Path;

use super::{SetPart, TraceSet};
use crate::Shard;
use crate::binary::{BinaryTrace, Join, TraceError};
use warpload::memory::Arena;

impl TraceSet {
    /// Opens the parts that a shard [needs](Self::parts_of), `None` being the whole, as one trace.
    /// `folder` is that of the set's file, and `read` reads or maps a file.
    ///
    /// # Errors
    /// Returns [`TraceError`] with the name of the part that cannot be read, is damaged, or is not the
    /// one that the set names.
    pub fn open(
        &self,
        shard: Option<Shard>,
        folder: &Path,
        mut read: impl FnMut(&Path) -> io::Result<Arena>,
    ) -> Result<BinaryTrace, TraceError> {
        let needed = self.parts_of(shard);
        let before = self.before.get(needed.start).copied().unwrap_or_default();
        let mut whole = Join::new(self.total(), self.checksum, &self.contents, before);
        for part in self.parts.get(needed).unwrap_or_default() {
            let file = folder.join(&part.file);
            let bytes =
                read(&file).map_err(|source| TraceError::Read { path: file.clone(), source })?;
            let trace = BinaryTrace::new(bytes).and_then(|trace| {
                part.check(&trace)?;
                Ok(trace)
            });
            whole.add(&file, trace.map_err(|error| error.of_part(&file))?)?;
        }
        Ok(whole.finish())
    }
}

impl SetPart {
    /// Checks that a trace is this part.
    fn check(&self, trace: &BinaryTrace) -> Result<(), TraceError> {
        // The name has been found.
        let found = Self::of(self.file.clone(), trace);
        let differs = |what: &str, found: &dyn std::fmt::Display, known: &dyn std::fmt::Display| {
            let message = format!("its {what} is {found}; the set has {known}");
            Err(TraceError::OtherPart { message })
        };
        if found.checksum != self.checksum {
            let text = |checksum| format!("{checksum:08x}");
            return differs("checksum", &text(found.checksum), &text(self.checksum));
        }
        for (what, found, known) in [
            ("size in bytes", found.bytes, self.bytes),
            ("number of instructions", found.records, self.records),
            ("number of memory instructions", found.memory_records, self.memory_records),
            ("number of loads", found.loads, self.loads),
            ("number of kernels", found.kernels, self.kernels),
            (
                "number of last blocks without memory instructions",
                found.trailing_blocks,
                self.trailing_blocks,
            ),
        ] {
            if found != known {
                return differs(what, &found, &known);
            }
        }
        Ok(())
    }
}
