//! [`Load`]: the loads of files with GPU code.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use warpload::encoding::{MachineWord, ParseError, Sm};
use warpload::text::visible;
use warpload_binary::container::{ContainerError, GpuCode, GpuCodeKind, GpuCodes, SmChoice};
use warpload_binary::file_kind::FileKind;
use warpload_binary::sass::{self, FoundInstruction, Sass, SassError, SassInstruction, Scheduling};

use crate::error::{ErrorKind, Failure};
use crate::instruction::{Instruction, SmArgument, syntax};
use crate::open::read_file;
use crate::record::record;

record! {
/// The scheduling of an instruction.
Control in "warpload" {
    /// Cycles to wait after the instruction.
    stall: u8,
    /// Whether another warp may issue first.
    yields: bool,
    /// The barrier that is set when the results are written; `None` if there is none.
    write_barrier: Option<u8>,
    /// The barrier that is set when the operands are read; `None` if there is none.
    read_barrier: Option<u8>,
    /// The barriers to wait for, bit n for barrier n.
    wait_mask: u8,
    /// The operands that stay in the reuse cache.
    reuse: u8,
    /// From SM 7.0 on.
    batch: Option<u8>,
    /// From SM 7.0 on.
    pm: Option<u8>,
}
}

impl Control {
    fn new(control: Scheduling) -> Self {
        Self {
            stall: control.stall,
            yields: control.r#yield,
            write_barrier: control.write_barrier,
            read_barrier: control.read_barrier,
            wait_mask: control.wait_mask,
            reuse: control.reuse,
            batch: control.batch,
            pm: control.pm,
        }
    }
}

record! {
/// A load in a file.
Load in "warpload" {
    /// The function's name; `None` if the file does not say.
    function: Option<String>,
    /// The offset in bytes from the beginning of the function.
    offset: Option<u64>,
    /// The word. If the file has only text, the word that it assembles to. `None` if the linker fills in a part.
    word: Option<u128>,
    /// The instruction; `None` if the word is illegal or unknown.
    instruction: Option<Instruction>,
    /// The text, decoded from the word or, without a word, as the file has it; `None` if the word is illegal.
    text: Option<String>,
    /// The scheduling; `None` if the file does not say.
    control: Option<Control>,
    /// The SM; `None` if the file does not say.
    sm: Option<String>,
    /// The number of the cubin in the file, from 1; `None` if the file is the cubin.
    image: Option<u64>,
    /// The line of the source, `file:line`, if the cubin has line information.
    source: Option<String>,
}
repr |this| {
    let offset = this.offset.map_or("None".to_owned(), |offset| format!("{offset:#x}"));
    let function = visible(this.function.as_deref().unwrap_or("-"));
    format!("Load({function}+{offset}: {})", this.__str__())
};
{
    fn __str__(&self) -> String {
        self.text.clone().unwrap_or_else(|| "illegal".to_owned())
    }
}
}

/// The loads of a file so far.
#[derive(Default)]
struct Found {
    loads: Vec<Load>,
    /// Images that cannot be read.
    problems: Vec<Failure>,
    /// The number of cubins.
    cubins: u64,
    /// The number of images of other kinds.
    others: u64,
    choice: SmChoice,
    /// Instructions of unknown SM, and all instructions.
    of_unknown_sm: u64,
    instructions: u64,
}

/// Decodes every load of a cubin, of a listing, or of a file that contains cubins.
///
/// `sm` chooses the cubins of that SM, or names the SM if the file does not.
///
/// In a file of several images, each one that cannot be read causes a `UserWarning` if others can.
#[pyfunction]
#[pyo3(signature = (path, *, sm: "str | SupportsIndex | None" = None))]
pub(crate) fn decode_file(
    py: Python<'_>,
    path: PathBuf,
    sm: Option<SmArgument>,
) -> PyResult<Vec<Load>> {
    let read = py.detach(|| read(&path, sm.map(|sm| sm.0)));
    let Found { loads, problems, .. } = read.map_err(|failure| failure.raise(py))?;
    let category = py.get_type::<PyUserWarning>();
    for problem in problems {
        if loads.iter().all(|load| load.image.is_none()) {
            return Err(problem.raise(py));
        }
        let message = CString::new(problem.message).unwrap_or_default();
        PyErr::warn(py, &category, &message, 1)?;
    }
    Ok(loads)
}

fn read(path: &Path, sm: Option<Sm>) -> Result<Found, Failure> {
    let failed = |error: &(dyn std::error::Error + 'static)| Failure::of_file(error, path);
    let bytes = read_file(path)?;
    let bytes = bytes.bytes();
    let choice = SmChoice::new(sm);
    let mut found = Found { choice, ..Found::default() };
    if !FileKind::may_hold_code(&bytes[..bytes.len().min(START)]) {
        let instructions =
            sass::read(bytes, sass::Format::Detect).map_err(|error| failed(&error))?;
        found.add(path, instructions, None)?;
        return found.checked(path);
    }
    for (number, image) in (1..).zip(GpuCodes::new(bytes)) {
        if let Err(error) = found.image(path, number, image) {
            found.problems.push(error);
        }
    }
    if found.cubins + found.others == 0 && found.problems.is_empty() {
        // Reading the file as a listing finds out its kind, for the message.
        let error = sass::read(bytes, sass::Format::Detect).err();
        let error = error.unwrap_or(SassError::Binary);
        return Err(failed(&error));
    }
    found.checked(path)
}

/// The bytes at the beginning of a file that decide whether it is read image by image.
const START: usize = 4096;

impl Found {
    /// Adds the loads of an image, if it is a chosen cubin.
    fn image(
        &mut self,
        path: &Path,
        number: u64,
        image: Result<GpuCode<'_>, ContainerError>,
    ) -> Result<(), Failure> {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            let mut failure = Failure::of(error, ErrorKind::Input);
            failure.message = format!("{}: image {number}: {}", path.display(), failure.message);
            failure.file = Some(path.display().to_string());
            failure
        };
        let image = image.map_err(|error| failed(&error))?;
        if image.kind != GpuCodeKind::Cubin {
            self.others += 1;
            return Ok(());
        }
        self.cubins += 1;
        let read = self.choice.read(&image).map_err(|error| failed(&error))?;
        let Some(read) = read else { return Ok(()) };
        let instructions = sass::read(&*read.bytes, sass::Format::Detect);
        let tag = (!image.is_alone()).then_some(number);
        if tag.is_none() {
            let instructions = instructions.map_err(|error| Failure::of_file(&error, path))?;
            return self.add(path, instructions, tag);
        }
        self.add(path, instructions.map_err(|error| failed(&error))?, tag)
    }

    fn add(
        &mut self,
        path: &Path,
        mut instructions: Sass<&[u8]>,
        image: Option<u64>,
    ) -> Result<(), Failure> {
        instructions.read_source_lines();
        let kind = instructions.kind();
        for instruction in instructions {
            let mut instruction = instruction.map_err(|error| Failure::of_file(&error, path))?;
            if !self.choice.takes(&mut instruction, kind) {
                continue;
            }
            self.instructions += 1;
            let found = FoundInstruction::new(&instruction);
            let control = found.control(&instruction);
            let (load, text) = match found {
                FoundInstruction::Load(load) => (Some(load), None),
                FoundInstruction::Relocated => (None, instruction.text.clone()),
                FoundInstruction::Illegal(_) => (None, None),
                FoundInstruction::OfUnknownSm => {
                    self.of_unknown_sm += 1;
                    continue;
                }
                FoundInstruction::Unreadable(error) => {
                    self.problems.push(unreadable(path, &instruction, &error));
                    continue;
                }
                FoundInstruction::Contradictory | FoundInstruction::Other => continue,
            };
            let (word, sm) = (load.map(|load| load.word()).or(instruction.word), instruction.sm);
            let source = instruction.source.as_ref();
            self.loads.push(Load {
                function: instruction.function.as_deref().map(str::to_owned),
                offset: instruction.offset,
                word: word.map(MachineWord::bits),
                instruction: load.map(|load| Instruction { load, sm: sm.unwrap_or(Sm::SPA5) }),
                text: load.map(|load| load.to_string()).or(text),
                control: control.map(|control| Control::new(Scheduling::new(control, word))),
                sm: sm.map(|sm| sm.to_string()),
                image,
                source: source.map(|source| format!("{}:{}", source.file, source.line)),
            });
        }
        Ok(())
    }

    /// Adds the problems that only the whole file shows.
    fn checked(mut self, path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let of_file = |kind, message: String| Failure {
            file: Some(name.to_string()),
            ..Failure::new(kind, format!("{name}: {message}"))
        };
        if self.of_unknown_sm > 0 {
            let Self { of_unknown_sm, instructions, .. } = self;
            let message = format!(
                "{of_unknown_sm} of {instructions} instructions have 128 bits, but their SM is \
                 unknown; give it, for example sm=\"80\""
            );
            self.problems.push(of_file(ErrorKind::Argument, message));
        }
        if let Err(error) = self.choice.check()
            && self.choice.has_only_others()
        {
            return Err(of_file(ErrorKind::Selection, error.to_string()));
        }
        if self.cubins == 0 && self.others > 0 && self.problems.is_empty() {
            let message = "no cubins; `warpload.ptx.check` reads PTX, if the file has any";
            return Err(of_file(ErrorKind::Input, message.to_owned()));
        }
        Ok(self)
    }
}

/// Describes the syntax error in a load's text.
fn unreadable(path: &Path, instruction: &SassInstruction, error: &ParseError) -> Failure {
    let text = instruction.text.as_deref().unwrap_or_default();
    let sm = sass::sm_of(instruction).unwrap_or(Sm::SPA5);
    let mut failure = syntax(text, error, sm);
    failure.file = Some(path.display().to_string());
    let column = instruction.column.unwrap_or(1) as u64;
    failure.position =
        failure.position.map(|(_, within)| (instruction.line.unwrap_or(1), column + within - 1));
    failure
}
