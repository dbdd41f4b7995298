//! [`Metadata`]: CUTracer's description of a kernel, including the text of its instructions.

use std::sync::Arc;

use super::json::{Json, Read};
use super::line::{keeps_nothing, opcode, three, twice};
use crate::binary::Kernel;
use crate::import::interner::{InternedOperation, NameError};
use crate::import::sink::Sink;

/// Limits for further keys of a kernel: their number, and the bytes of one. CUTracer writes a few short ones.
const MAX_KEPT: usize = 32;
const MAX_KEPT_BYTES: usize = 1 << 10;

/// The keys that are interpreted.
const KEYS: [&[u8]; 5] = [b"unmangled_name", b"mangled_name", b"grid", b"block", b"instructions"];

/// A kernel and its instructions.
#[derive(Default)]
pub(super) struct Metadata {
    pub(super) kernel: Kernel,
    /// The opcodes of all instructions, one after another.
    opcodes: String,
    /// In ascending order of their numbers.
    instructions: Vec<Instruction>,
}

/// An instruction of a kernel.
pub(super) struct Instruction {
    number: u32,
    /// The range of its opcode in `opcodes`.
    start: u32,
    end: u32,
    /// Whether its first register is `RZ`, so that it keeps no loaded value.
    pub(super) keeps_nothing: bool,
    /// A cache of its operation, filled on first use.
    pub(super) operation: Option<Arc<InternedOperation>>,
}

/// The reason why a kernel is invalid.
pub(super) enum Invalid {
    Line(super::json::Wrong),
    Name(NameError),
}

impl From<super::json::Wrong> for Invalid {
    fn from(wrong: super::json::Wrong) -> Self {
        Self::Line(wrong)
    }
}

impl From<NameError> for Invalid {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl Metadata {
    /// Reads the kernel of a line and stores its texts in `sink`.
    pub(super) fn read(mut json: Json<'_>, sink: &mut Sink<'_>) -> Result<Self, Invalid> {
        let mut read = Self::default();
        let (mut name, mut mangled, mut kept) = (None, None, Vec::new());
        let mut seen = [false; KEYS.len()];
        json.object(|json, key| {
            let known = KEYS.iter().position(|known| *known == key);
            if let Some(is_there) = known.and_then(|known| seen.get_mut(known))
                && std::mem::replace(is_there, true)
            {
                return twice(json, key);
            }
            match key {
                b"unmangled_name" => name = Some(json.text()?),
                b"grid" => read.kernel.grid = three(json)?,
                b"block" => read.kernel.block = three(json)?,
                b"instructions" => read.instructions(json)?,
                b"type" => json.skip()?,
                _ => {
                    let from = *json;
                    json.skip()?;
                    let value = from.until(json).trim();
                    if key == b"mangled_name" {
                        mangled = Some(from);
                    }
                    if let Ok(key) = std::str::from_utf8(key)
                        && kept.len() < MAX_KEPT
                        && key.len().max(value.len()) <= MAX_KEPT_BYTES
                        && !value.starts_with(['[', '{'])
                    {
                        kept.push((key, value.trim_matches('"')));
                    }
                }
            }
            Ok(())
        })?;
        if name.as_ref().is_none_or(|name| name.is_empty())
            && let Some(mut mangled) = mangled
        {
            name = Some(mangled.text()?);
        }
        if let Some(name) = name {
            read.kernel.name = sink.name(&name)?;
        }
        for (key, value) in kept {
            read.kernel.header.push((sink.name(key)?, sink.name(value)?));
        }
        Ok(read)
    }

    fn instructions(&mut self, json: &mut Json<'_>) -> Read<()> {
        let start = *json;
        json.object(|json, number| {
            let from = *json;
            let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
            let Some(number) = number else {
                return from.wrong("instructions have numbers of at most 32 bits as keys");
            };
            json.object(
                |json, key| if key == b"sass" { self.add(number, json) } else { json.skip() },
            )
        })?;
        self.instructions.sort_by_key(|instruction| instruction.number);
        let mut pairs = self.instructions.windows(2);
        match pairs.find(|pair| matches!(pair, [one, next] if one.number == next.number)) {
            Some([twice, _]) => start.wrong(format!("instruction {} twice", twice.number)),
            _ => Ok(()),
        }
    }

    /// Adds an instruction, if its text has an opcode.
    fn add(&mut self, number: u32, json: &mut Json<'_>) -> Read<()> {
        let sass = json.text()?;
        let Some(opcode) = opcode(&sass) else { return Ok(()) };
        // Fits, because a line is shorter than 4 GiB.
        let start = self.opcodes.len() as u32;
        self.opcodes.push_str(opcode);
        let (end, keeps_nothing) = (self.opcodes.len() as u32, keeps_nothing(&sass));
        let operation = None;
        self.instructions.push(Instruction { number, start, end, keeps_nothing, operation });
        Ok(())
    }

    /// The instruction with a number, and its opcode.
    #[inline]
    pub(super) fn instruction(&mut self, number: u32) -> Option<(&mut Instruction, &str)> {
        let at = match self.instructions.get(number as usize) {
            // The usual case: numbers without gaps.
            Some(instruction) if instruction.number == number => number as usize,
            _ => self.instructions.binary_search_by_key(&number, |one| one.number).ok()?,
        };
        let instruction = self.instructions.get_mut(at)?;
        let opcode = self.opcodes.get(instruction.start as usize..instruction.end as usize)?;
        Some((instruction, opcode))
    }
}
