//! Reads the JSON form of mem_trace: an array or a sequence of accesses.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::{AccessWriter, MemoryAccess};
use crate::binary::NO_END_MARK;
use crate::import::error::ImportError;
use crate::import::formats::{Format, FormatReader, Sign};
use crate::import::interner::Refused;
use crate::import::logs::LaunchId;
use crate::import::sink::Sink;
use crate::import::text::Text;
use warpload::lane::LANES;
use warpload_binary::lines::{MAX_LINE_BYTES, skip_mark};

pub(in crate::import) const FORMAT: Format =
    Format { name: "a mem_trace of NVBit as JSON", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    matches!(start.first(), Some(b'[' | b'{')).then_some(Sign::Likely)
}

/// An access. Other keys are ignored.
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

fn read(
    input: &mut Text<'_>,
    file: &Path,
    _threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let failed = |source| ImportError::Read { file: file.to_owned(), source };
    let mut input = skip_mark(input).map_err(failed)?;
    let is_array = input.fill_buf().map_err(failed)?.trim_ascii_start().starts_with(b"[");
    let mut reader = AccessWriter::new(sink)?;
    let place = Cell::new(Place { left: MAX_OBJECT_BYTES, line: 1, column: 1 });
    let mut json = serde_json::Deserializer::from_reader(Bounded { input, place: &place });
    // Kept here, because serde's error type cannot hold an error of the sink.
    let mut stopped = None;
    let read = if is_array {
        let array = Accesses { reader: &mut reader, stopped: &mut stopped, file, place: &place };
        json.deserialize_seq(array).and_then(|()| json.end())
    } else {
        // A sequence has no end mark.
        reader.sink.end_is_unknown(NO_END_MARK)?;
        read_sequence(json, &mut reader, &mut stopped, file, &place)
    };
    match (stopped, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(json_error(file, error, place.get())),
    }
}

fn of_file(file: &Path, message: String) -> ImportError {
    ImportError::File { file: file.to_owned(), message }
}

/// The limit for an access, including the text before it. Otherwise a string of any length would be held in memory.
const MAX_OBJECT_BYTES: usize = MAX_LINE_BYTES;

/// The state of reading.
#[derive(Clone, Copy)]
struct Place {
    /// The number of further bytes allowed for the current object.
    left: usize,
    /// The position of the next byte, from 1.
    line: u64,
    column: usize,
}

/// An input that limits the size of each object.
struct Bounded<'p, R> {
    input: R,
    place: &'p Cell<Place>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut place = self.place.get();
        if place.left == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let most = buffer.len().min(place.left);
        let read = self.input.read(&mut buffer[..most])?;
        place.left -= read;
        for byte in &buffer[..read] {
            let is_end = *byte == b'\n';
            place.line += u64::from(is_end);
            place.column = if is_end { 1 } else { place.column + 1 };
        }
        self.place.set(place);
        Ok(read)
    }
}

/// Resets the limit for the next object.
fn next_object(place: &Cell<Place>) {
    place.set(Place { left: MAX_OBJECT_BYTES, ..place.get() });
}

fn json_error(file: &Path, error: serde_json::Error, place: Place) -> ImportError {
    if error.is_io() && place.left == 0 {
        let message =
            format!("an object of more than {MAX_OBJECT_BYTES} bytes; expected an access");
        let Place { line, column, .. } = place;
        return ImportError::Line { file: file.to_owned(), line, column, message };
    }
    if error.is_io() {
        return ImportError::Read { file: file.to_owned(), source: error.into() };
    }
    let message = error.to_string();
    // Removed, because `ImportError` has the place already.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    ImportError::Line {
        file: file.to_owned(),
        line: error.line() as u64,
        // Serde counts from 0 after the end of a line.
        column: error.column().max(1),
        message: format!("not an access of mem_trace: {reason}"),
    }
}

fn read_sequence<R: Read>(
    json: serde_json::Deserializer<serde_json::de::IoRead<R>>,
    reader: &mut AccessWriter<'_, '_>,
    stopped: &mut Option<ImportError>,
    file: &Path,
    place: &Cell<Place>,
) -> Result<(), serde_json::Error> {
    for access in json.into_iter::<AccessJson>() {
        if let Err(refused) = access?.pass_on(reader) {
            *stopped = Some(refused.at(|message| of_file(file, message)));
            break;
        }
        next_object(place);
    }
    Ok(())
}

impl AccessJson {
    fn pass_on(&self, reader: &mut AccessWriter<'_, '_>) -> Result<(), Refused> {
        let cta = [self.cta_id_x, self.cta_id_y, self.cta_id_z];
        let cta = if let [Some(x), Some(y), Some(z)] = cta { Some([x, y, z]) } else { None };
        let launch = LaunchId { context: None, number: self.grid_launch_id };
        let (opcode, pc) = (&*self.instr_opcode, self.instr_offset);
        reader.access(&MemoryAccess { launch, cta, opcode, pc }, &self.addrs)
    }
}

/// Passes an array's elements on one by one, so that memory stays bounded.
struct Accesses<'a, 'r, 's> {
    reader: &'a mut AccessWriter<'r, 's>,
    stopped: &'a mut Option<ImportError>,
    file: &'a Path,
    place: &'a Cell<Place>,
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
            next_object(self.place);
        }
        Ok(())
    }
}
