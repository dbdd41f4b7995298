//! The output for one instruction: a line of text, or a JSON object.

use std::borrow::Cow;
use std::path::Path;

use warpload::encoding::Instruction;
use warpload::encoding::control::Notation;
use warpload_binary::sass::{FoundInstruction, SassInstruction, Scheduling, SourceLine};

use super::arguments::RowArguments;
use super::program::Program;
use crate::io::Output;
use crate::name::visible;
use crate::options::Format;

#[derive(Default, serde::Serialize)]
pub(super) struct LoadJson<'l> {
    pub(super) file: Option<&'l str>,
    pub(super) function: Option<&'l str>,
    pub(super) offset: Option<String>,
    pub(super) word: Option<String>,
    pub(super) text: Option<&'l str>,
    pub(super) control: Option<Scheduling>,
    /// The number of the cubin; present only in a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image: Option<u64>,
    /// Present only if the input or `--sm` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sm: Option<String>,
    /// Present only for an illegal word: one with the opcode of a load, or with `--all` any.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) illegal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Present only with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) load: Option<bool>,
    /// Present only with `--all`: the bytes from the start of the cubin or the raw stream to the word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_offset: Option<String>,
    /// Present only for loads with an operand that the linker fills in: without a word the displacement is unknown, and
    /// in a word it has its value before linking.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) relocated: bool,
    /// The function's demangled name; absent if it is not mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) demangled: Option<&'l str>,
    /// Present only with `--hidden`: the hidden operands, in the syntax that `encode` reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hidden: Option<String>,
    /// The source line; `Some(None)` if it is unknown, `None` if the input has no line information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Option<&'l SourceLine>>,
}

/// The hidden operands of a load, as an annotation that `encode` reads.
pub(super) fn hidden(load: &Instruction) -> Option<String> {
    let descriptor = load.hidden_descriptor()?;
    Some(descriptor.to_string().trim_start().to_owned())
}

/// The cubin of an instruction, in a file that can have several.
#[derive(Default)]
pub(super) struct Tag {
    /// The cubin's number in its container.
    pub(super) number: Option<u64>,
    /// The heading before the cubin's first row. Taken when it is written.
    pub(super) heading: Option<String>,
}

/// An instruction and its classification.
pub(super) struct InstructionRow<'r> {
    pub(super) arguments: RowArguments,
    pub(super) format: Format,
    pub(super) names_files: bool,
    pub(super) path: &'r Path,
    /// The number of its cubin, in a container.
    pub(super) image: Option<u64>,
    pub(super) instruction: &'r SassInstruction,
    pub(super) found: &'r FoundInstruction,
    /// What `--all` shows of it, if only its word says it.
    pub(super) program: Option<&'r Program>,
    pub(super) demangled: Option<&'r str>,
    /// Whether the input has line information.
    pub(super) has_lines: bool,
}

impl InstructionRow<'_> {
    pub(super) fn write(&self, output: &mut Output) -> std::io::Result<()> {
        let Self { arguments, instruction, found, .. } = self;
        let (is_load, relocated) = (found.is_load(), found.is_relocated(instruction));
        let (load, refusal) = match (found, self.program) {
            (FoundInstruction::Load(load), _) => (Some(load), None),
            (FoundInstruction::Illegal(refusal), _) => (None, Some(refusal.to_string())),
            (_, Some(Program::Refused(reason))) => (None, Some(reason.clone())),
            _ => (None, None),
        };
        let of_load = load.map(Instruction::text);
        let decoded = match (&of_load, self.program) {
            (Some(text), _) => Some(text.as_str()),
            (None, Some(Program::Text(text))) => Some(text.as_str()),
            _ => None,
        };
        let word = load.map(Instruction::word).or(instruction.word);
        let hidden = load.filter(|_| arguments.hidden).and_then(hidden);
        let file = self.path.display().to_string();
        if self.format == Format::Json {
            return output.json(&LoadJson {
                file: Some(&file),
                image: self.image,
                sm: instruction.sm.map(|sm| sm.to_string()),
                function: instruction.function.as_deref(),
                offset: instruction.offset.map(|offset| format!("{offset:#x}")),
                word: word.map(|word| word.to_string()),
                text: match (decoded, &refusal) {
                    (Some(text), _) => Some(text),
                    (None, Some(_)) => None,
                    (None, None) => instruction.text.as_deref(),
                },
                control: found.control(instruction).map(|control| Scheduling::new(control, word)),
                illegal: refusal.is_some(),
                reason: refusal,
                file_offset: self.file_offset(),
                load: arguments.all.then_some(is_load),
                relocated,
                demangled: self.demangled,
                hidden,
                source: self.has_lines.then_some(instruction.source.as_ref()),
            });
        }
        let mut line = String::new();
        if arguments.all {
            line += if is_load { "* " } else { "  " };
        }
        if self.names_files {
            line += &format!("{}  ", visible(&file));
        }
        line += &visible(instruction.function.as_deref().unwrap_or("-"));
        match instruction.offset {
            Some(offset) => line += &format!("  {offset:#06x}"),
            None => line += "  -",
        }
        line += &format!("  {:<18}", word.map_or("-".to_owned(), |word| word.to_string()));
        let notation = arguments.control.notation();
        line += &match (refusal, decoded) {
            (Some(refusal), _) => {
                // `encode --listing` needs it.
                let leading = notation.filter(|notation| arguments.all && !notation.is_trailing());
                let control = leading.and_then(|notation| {
                    Some(format!("  {}", found.control(instruction)?.display(notation)))
                });
                format!("{}  illegal ({refusal})", control.unwrap_or_default())
            }
            (None, Some(text)) => {
                self.text_and_control(Some(&Program::with_label(text, instruction)), notation)
            }
            (None, None) => self.text_and_control(None, notation),
        };
        if let Some(hidden) = hidden {
            line += &format!(" {hidden}");
        }
        if relocated {
            line += if decoded.is_some() {
                "  (relocated)"
            } else {
                "  (relocated: displacement unknown)"
            };
        }
        if let Some(SourceLine { file, line: number, .. }) = &instruction.source {
            line += &format!("  // {}:{number}", visible(file));
        }
        output.line(line.trim_end())
    }

    /// The place of the word in the cubin or the raw stream.
    fn file_offset(&self) -> Option<String> {
        let is_binary = self.arguments.all && self.instruction.line.is_none();
        let offset = self.instruction.input_offset.filter(|_| is_binary)?;
        Some(format!("{offset:#x}"))
    }

    /// The text, if there is one, with control fields before or after it, as their notation requires.
    fn text_and_control(&self, decoded: Option<&str>, notation: Option<Notation>) -> String {
        let instruction = self.instruction;
        // Listings align the annotations after the operands, so runs of blanks are collapsed.
        let listed = || {
            let words: Vec<&str> = instruction.text.as_deref()?.split_whitespace().collect();
            Some(Cow::Owned(words.join(" ")))
        };
        let text = decoded.map(Cow::Borrowed).or_else(listed);
        let text = text.map_or(String::new(), |text| format!("  {text}"));
        match notation.and_then(|notation| Some((notation, self.found.control(instruction)?))) {
            None => text,
            Some((notation, control)) if notation.is_trailing() => match self.found {
                // The annotations of NVIDIA's tools depend on the SM.
                FoundInstruction::Load(load) if load.sm().has_wide_words() => {
                    format!("{text}{}", load.annotations())
                }
                _ if instruction.word.is_some_and(|word| word.wide().is_some()) => text,
                _ => format!("{text} {}", control.display(notation)),
            },
            Some((notation, control)) => format!("  {}{text}", control.display(notation)),
        }
    }
}
