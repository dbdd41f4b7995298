//! [`Functions`]: the functions of cubins by name, to look up the instruction at an offset.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use warpload_encoding::{MachineWord, Sm};

use super::code::CodeUnit;
use super::error::SassError;
use super::source_lines::{DamagedLines, SourceLine, SourceLines};
use super::{MAX_BINARY_BYTES, read_whole};
#[cfg(feature = "container")]
use crate::container::{ContainerError, GpuCode, GpuCodeKind, GpuCodes};
use crate::cubin::Cubin;
use crate::file_kind::FileKind;

/// The functions of one or more cubins by name. Looks up the instruction at an offset, and its source line if the cubin
/// has line information (`.debug_line`, from `nvcc -lineinfo` or `-G`).
///
/// ```
/// use warpload_encoding::MachineWord;
/// use warpload_binary::sass::Functions;
///
/// let mut functions = Functions::default();
/// functions.add(std::fs::File::open("../traces/rows.sm_50.cubin")?)?;
/// let column = functions.get("_Z6columnPfPKfi").ok_or("not there")?;
/// let load = column.at(0x68).ok_or("no instruction at that offset")?;
/// assert_eq!(load.word, MachineWord::Bits64(0xeed4200000470206));
/// let source = load.source.ok_or("no line information")?;
/// assert_eq!((source.file.as_str(), source.line), ("/src/rows.cu", 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Functions {
    cubins: Vec<Code>,
    by_name: HashMap<Arc<str>, Place>,
}

#[derive(Debug)]
struct Code {
    cubin: Cubin,
    lines: SourceLines,
}

/// The place of a function.
#[derive(Clone, Debug)]
struct Place {
    /// The index of its cubin.
    cubin: usize,
    /// The index of its section in `Cubin::text`.
    text: usize,
    /// Bytes of the section.
    covers: Range<u64>,
}

/// A function of [`Functions`].
#[derive(Clone, Copy, Debug)]
pub struct SassFunction<'f> {
    code: &'f Code,
    place: &'f Place,
}

/// An instruction of a [`SassFunction`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The instruction word.
    pub word: MachineWord,
    /// The SM that the cubin is for.
    pub sm: Sm,
    /// The source line; `None` if the cubin has none for the instruction.
    pub source: Option<SourceLine>,
}

/// A problem of one cubin of a file.
#[cfg(feature = "container")]
#[derive(Debug)]
pub struct CubinRemark {
    /// The number of its image, from 1; `None` if it is the whole file.
    pub image: Option<u64>,
    /// The problem.
    pub problem: CubinProblem,
}

/// A problem that hides a part of a file, but not the rest.
#[cfg(feature = "container")]
#[derive(Debug)]
pub enum CubinProblem {
    /// Its line information is damaged: source lines are missing.
    DamagedLines(DamagedLines),
    /// It cannot be read and is skipped.
    Unread(CubinError),
}

/// The reason why a file has no readable cubin.
#[cfg(feature = "container")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CubinError {
    /// The container is damaged.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The cubin is damaged, or the file is something else.
    #[error(transparent)]
    Sass(#[from] SassError),
}

impl Functions {
    /// Adds the functions of a cubin. If a name is there already, the first function stays. Returns the damage of its
    /// line information, if there is any.
    ///
    /// # Errors
    /// Returns [`SassError`] if the input is not a cubin, is damaged, or is for an unknown GPU.
    pub fn add(&mut self, input: impl Read) -> Result<Option<DamagedLines>, SassError> {
        let data = read_whole(Vec::new(), input, MAX_BINARY_BYTES)?;
        match FileKind::detect(&data) {
            Some(FileKind::Elf) => {}
            Some(kind) => return Err(SassError::OtherFile(kind)),
            None => return Err(SassError::NotElf),
        }
        let cubin = Cubin::read(data)?;
        let (lines, information) = SourceLines::read(&cubin);
        for function in &cubin.functions {
            let text = cubin.text.binary_search_by_key(&function.section, |text| text.index);
            debug_assert!(text.is_ok(), "functions are in sections with code");
            let text = text.unwrap_or(0);
            let place = Place { cubin: self.cubins.len(), text, covers: function.covers.clone() };
            self.by_name.entry(Arc::clone(&function.name)).or_insert(place);
        }
        self.cubins.push(Code { cubin, lines });
        Ok(information.damaged)
    }

    /// Adds the functions of every cubin of a file: a cubin itself, or a library, program or fat binary. An unreadable
    /// cubin is a remark, because others can still be used; it is an error if it is the only one.
    ///
    /// # Errors
    /// Returns [`CubinError`] if the file has no cubin that can be read.
    #[cfg(feature = "container")]
    pub fn add_file(&mut self, file: &[u8]) -> Result<Vec<CubinRemark>, CubinError> {
        let (mut added, mut remarks) = (0, Vec::new());
        let mut failed = Vec::new();
        for (number, image) in (1..).zip(GpuCodes::new(file)) {
            if image.as_ref().is_ok_and(|image| image.kind != GpuCodeKind::Cubin) {
                continue;
            }
            let is_alone = image.as_ref().is_ok_and(GpuCode::is_alone);
            let image_number = (!is_alone).then_some(number);
            let read = image.and_then(|image| image.read()).map_err(CubinError::from);
            match read.and_then(|read| Ok(self.add(&*read.bytes)?)) {
                Ok(damaged) => {
                    added += 1;
                    remarks.extend(damaged.map(|damaged| CubinRemark {
                        image: image_number,
                        problem: CubinProblem::DamagedLines(damaged),
                    }));
                }
                Err(error) => failed.push((image_number, error)),
            }
        }
        if added == 0 && failed.is_empty() {
            // Not a container: a bare cubin, or a file of another kind, which the error names.
            let damaged = self.add(file)?;
            let problem = damaged.map(CubinProblem::DamagedLines);
            return Ok(problem
                .into_iter()
                .map(|problem| CubinRemark { image: None, problem })
                .collect());
        }
        if added == 0 && failed.len() == 1 {
            return failed.pop().map_or(Ok(remarks), |(_, error)| Err(error));
        }
        remarks.extend(
            failed
                .into_iter()
                .map(|(image, error)| CubinRemark { image, problem: CubinProblem::Unread(error) }),
        );
        Ok(remarks)
    }

    /// Returns the function with this name, mangled as in the cubin; `None` if there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<SassFunction<'_>> {
        let place = self.by_name.get(name)?;
        Some(SassFunction { code: self.cubins.get(place.cubin)?, place })
    }

    /// Returns the bytes of each cubin.
    pub fn cubins(&self) -> impl Iterator<Item = &[u8]> {
        self.cubins.iter().map(|code| &*code.cubin.data)
    }
}

impl SassFunction<'_> {
    /// Returns the instruction at a byte offset from the start of the function, such as a program counter of a trace;
    /// `None` if no instruction begins there.
    #[must_use]
    pub fn at(&self, offset: u64) -> Option<Located> {
        let Self { code: Code { cubin, lines }, place } = self;
        let at = place.covers.start.checked_add(offset).filter(|at| *at < place.covers.end)?;
        let text = cubin.text.get(place.text)?;
        let placed = CodeUnit::new(cubin.sm).at(cubin.data.get(text.code.clone())?, at)?;
        let source = lines.at(text.index, at);
        Some(Located { word: placed.word, sm: cubin.sm, source })
    }
}
