//! The JSON form of mem_trace: an array of accesses, or accesses one after the other.

use std::fmt;
use std::io::{BufRead, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::{Access, Reader};
use crate::lane::LANES;
use crate::lines::skip_mark;
use crate::trace::binary::NO_END_MARK;
use crate::trace::import::error::ImportError;
use crate::trace::import::sink::Sink;

/// An access in JSON; further keys are passed over.
#[derive(Deserialize)]
struct AccessJson {
    grid_launch_id: u64,
    instr_opcode: String,
    #[serde(default)]
    instr_offset: u32,
    addrs: [u64; LANES],
}

/// Reads a JSON array of accesses, or accesses one after the other.
pub(in crate::trace) fn read_json(
    input: impl BufRead,
    file: &Path,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let failed = |source| ImportError::Read { file: file.to_owned(), source };
    let mut input = skip_mark(input).map_err(failed)?;
    let is_array = input.fill_buf().map_err(failed)?.trim_ascii_start().starts_with(b"[");
    let mut reader = Reader::new(sink)?;
    let mut json = serde_json::Deserializer::from_reader(input);
    // An error of the sink passes through serde's own type; it is kept beside.
    let mut stopped = None;
    let read = if is_array {
        let array = Accesses { reader: &mut reader, stopped: &mut stopped, file };
        json.deserialize_seq(array).and_then(|()| json.end())
    } else {
        // Objects one after the other: there may have been more.
        reader.sink.end_is_unknown(NO_END_MARK)?;
        read_sequence(json, &mut reader, &mut stopped, file)
    };
    match (stopped, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(json_error(file, error)),
    }
}

fn of_file(file: &Path, message: String) -> ImportError {
    ImportError::File { file: file.to_owned(), message }
}

fn json_error(file: &Path, error: serde_json::Error) -> ImportError {
    if error.is_io() {
        return ImportError::Read { file: file.to_owned(), source: error.into() };
    }
    let message = error.to_string();
    // The place stands in front already.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    ImportError::Line {
        file: file.to_owned(),
        line: error.line() as u64,
        // Behind a line's end serde counts from 0.
        column: error.column().max(1),
        message: format!("no access as mem_trace writes them: {reason}"),
    }
}

fn read_sequence<R: Read>(
    json: serde_json::Deserializer<serde_json::de::IoRead<R>>,
    reader: &mut Reader<'_, '_>,
    stopped: &mut Option<ImportError>,
    file: &Path,
) -> Result<(), serde_json::Error> {
    for access in json.into_iter::<AccessJson>() {
        if let Err(refused) = reader.access(&access?.borrow()) {
            *stopped = Some(refused.at(|message| of_file(file, message)));
            break;
        }
    }
    Ok(())
}

impl AccessJson {
    fn borrow(&self) -> Access<'_> {
        Access {
            launch: self.grid_launch_id,
            opcode: &self.instr_opcode,
            pc: self.instr_offset,
            addresses: self.addrs,
        }
    }
}

/// An array whose elements are handed on as they come, so that memory stays bounded.
struct Accesses<'a, 'r, 's> {
    reader: &'a mut Reader<'r, 's>,
    stopped: &'a mut Option<ImportError>,
    file: &'a Path,
}

impl<'de> Visitor<'de> for Accesses<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of memory accesses")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(access) = array.next_element::<AccessJson>()? {
            if let Err(refused) = self.reader.access(&access.borrow()) {
                *self.stopped = Some(refused.at(|message| of_file(self.file, message)));
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
