//! Reads the JSON form of mem_trace: an array of accesses, or a sequence of them.

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
use crate::trace::import::format::{self, Format, Sign};
use crate::trace::import::sink::{Refused, Sink};
use crate::trace::import::text::Text;

pub(in crate::trace::import) const FORMAT: Format =
    Format { name: "a mem_trace of NVBit as JSON", recognize, reader: format::Reader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    matches!(start.first(), Some(b'[' | b'{')).then_some(Sign::Likely)
}

/// An access in JSON; other keys are ignored.
#[derive(Deserialize)]
struct AccessJson {
    grid_launch_id: u64,
    instr_opcode: String,
    #[serde(default)]
    instr_offset: u32,
    cta_id_x: Option<u32>,
    cta_id_y: Option<u32>,
    cta_id_z: Option<u32>,
    addrs: [u64; LANES],
}

/// Reads a JSON array of accesses, or a sequence of them.
fn read(
    input: &mut Text<'_>,
    file: &Path,
    _threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let failed = |source| ImportError::Read { file: file.to_owned(), source };
    let mut input = skip_mark(input).map_err(failed)?;
    let is_array = input.fill_buf().map_err(failed)?.trim_ascii_start().starts_with(b"[");
    let mut reader = Reader::new(sink)?;
    let mut json = serde_json::Deserializer::from_reader(input);
    // serde's error type cannot hold an error of the sink, which is kept here.
    let mut stopped = None;
    let read = if is_array {
        let array = Accesses { reader: &mut reader, stopped: &mut stopped, file };
        json.deserialize_seq(array).and_then(|()| json.end())
    } else {
        // More objects may have followed.
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
    // The message of `ImportError` has the place already.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    ImportError::Line {
        file: file.to_owned(),
        line: error.line() as u64,
        // After the end of a line serde counts from 0.
        column: error.column().max(1),
        message: format!("not an access of mem_trace: {reason}"),
    }
}

fn read_sequence<R: Read>(
    json: serde_json::Deserializer<serde_json::de::IoRead<R>>,
    reader: &mut Reader<'_, '_>,
    stopped: &mut Option<ImportError>,
    file: &Path,
) -> Result<(), serde_json::Error> {
    for access in json.into_iter::<AccessJson>() {
        if let Err(refused) = access?.pass_on(reader) {
            *stopped = Some(refused.at(|message| of_file(file, message)));
            break;
        }
    }
    Ok(())
}

impl AccessJson {
    fn pass_on(&self, reader: &mut Reader<'_, '_>) -> Result<(), Refused> {
        let cta = [self.cta_id_x, self.cta_id_y, self.cta_id_z];
        let cta = if let [Some(x), Some(y), Some(z)] = cta { Some([x, y, z]) } else { None };
        let (launch, opcode, pc) = (self.grid_launch_id, &*self.instr_opcode, self.instr_offset);
        reader.access(&Access { launch, cta, opcode, pc }, &self.addrs)
    }
}

/// An array whose elements are passed on one by one, so that memory stays bounded.
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
            if let Err(refused) = access.pass_on(self.reader) {
                *self.stopped = Some(refused.at(|message| of_file(self.file, message)));
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
