//! How one instruction is written: a line of text, or an object of JSON.

use std::borrow::Cow;
use std::path::Path;

use warpload::encoding::control::Notation;
use warpload::encoding::{Control, Instruction, MachineWord, Sm};
use warpload_binary::sass::{SassInstruction, SourceLine, without_relocations};

use super::arguments::Arguments;
use crate::io::Output;
use crate::name::visible;
use crate::options::Format;
use warpload_binary::sass::{FoundInstruction, names_a_load, sm_of};

#[derive(Default, serde::Serialize)]
pub(super) struct LoadJson<'l> {
    pub(super) file: Option<&'l str>,
    pub(super) function: Option<&'l str>,
    pub(super) offset: Option<String>,
    pub(super) word: Option<String>,
    pub(super) text: Option<&'l str>,
    pub(super) control: Option<ControlJson>,
    /// Only in a file that holds cubins: its number there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image: Option<u64>,
    /// Only if the input names it, or `--sm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sm: Option<String>,
    /// Only for a word that has the opcode of a load and is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) illegal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Only with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) load: Option<bool>,
    /// Only for loads with an operand that the linker fills in: without a word the displacement is
    /// unknown, and in a word it is the value before linking.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) relocated: bool,
    /// The function's name as its source has it; absent if it is not mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) demangled: Option<&'l str>,
    /// Only with `--hidden`: what the text hides, as `encode` reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hidden: Option<String>,
    /// The source line, `Some(None)` if it is unknown; `None` if the input has no line information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<Option<&'l SourceLine>>,
}

#[derive(serde::Serialize)]
pub(super) struct ControlJson {
    stall: u8,
    r#yield: bool,
    write_barrier: Option<u8>,
    read_barrier: Option<u8>,
    wait_mask: u8,
    reuse: u8,
    /// Only of words of 128 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pm: Option<u8>,
}

impl ControlJson {
    /// The scheduling of an instruction, of which a word of 128 bits has more.
    pub(super) fn new(control: Control, word: Option<MachineWord>) -> Self {
        let wide = word.and_then(MachineWord::wide);
        let bits = |low: u32, width: u32| wide.map(|word| (word >> low) as u8 & ((1 << width) - 1));
        Self { batch: bits(122, 3), pm: bits(102, 2), ..Self::from(control) }
    }
}

impl From<Control> for ControlJson {
    fn from(control: Control) -> Self {
        Self {
            stall: control.stall.get(),
            r#yield: control.yield_bit,
            write_barrier: control.write.number(),
            read_barrier: control.read.number(),
            wait_mask: control.wait.mask(),
            reuse: control.reuse.get(),
            batch: None,
            pm: None,
        }
    }
}

/// Returns what the text of a load hides, as an annotation that `encode` reads.
pub(super) fn hidden(load: &Instruction) -> Option<String> {
    let descriptor = load.hidden_descriptor()?;
    Some(descriptor.to_string().trim_start().to_owned())
}

/// Whether the text is that of a load in which the linker fills something in.
pub(super) fn has_relocated_text(instruction: &SassInstruction) -> bool {
    let text = instruction.text.as_deref();
    let sm = sm_of(instruction).unwrap_or(Sm::SPA5);
    text.is_some_and(|text| names_a_load(text, sm) && without_relocations(text).is_some())
}

/// The cubin that an instruction is in, of a file that can hold several.
#[derive(Default)]
pub(super) struct Tag {
    /// Its number, if it is in a container.
    pub(super) number: Option<u64>,
    /// What comes before its first row; taken when that is written.
    pub(super) heading: Option<String>,
}

/// An instruction and what it was found to be.
pub(super) struct InstructionRow<'r> {
    pub(super) arguments: &'r Arguments,
    pub(super) path: &'r Path,
    /// The number of its cubin, in a container.
    pub(super) image: Option<u64>,
    pub(super) instruction: &'r SassInstruction,
    pub(super) found: &'r FoundInstruction,
    /// The demangled form of the function's name.
    pub(super) demangled: Option<&'r str>,
    /// The input has line information.
    pub(super) has_lines: bool,
}

impl InstructionRow<'_> {
    pub(super) fn write(&self, output: &mut Output) -> std::io::Result<()> {
        let Self { arguments, instruction, found, .. } = self;
        let (is_load, relocated) = match found {
            FoundInstruction::Load(_) => (true, has_relocated_text(instruction)),
            FoundInstruction::Relocated => (true, true),
            _ => (false, false),
        };
        let (word, decoded) = match found {
            FoundInstruction::Load(load) => (Some(load.word()), Some(load.text())),
            _ => (instruction.word, None),
        };
        let refusal = match found {
            FoundInstruction::Illegal(refusal) => Some(refusal),
            _ => None,
        };
        let hidden = match found {
            FoundInstruction::Load(load) if arguments.hidden => hidden(load),
            _ => None,
        };
        let file = self.path.display().to_string();
        if arguments.format == Format::Json {
            return output.json(&LoadJson {
                file: Some(&file),
                image: self.image,
                sm: instruction.sm.map(|sm| sm.to_string()),
                function: instruction.function.as_deref(),
                offset: instruction.offset.map(|offset| format!("{offset:#x}")),
                word: word.map(|word| word.to_string()),
                text: match (&decoded, refusal) {
                    (Some(text), _) => Some(text.as_str()),
                    (None, Some(_)) => None,
                    (None, None) => instruction.text.as_deref(),
                },
                control: self.control().map(|control| ControlJson::new(control, word)),
                illegal: refusal.is_some(),
                reason: refusal.map(ToString::to_string),
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
        if arguments.names_files() {
            line += &format!("{}  ", visible(&file));
        }
        line += &visible(instruction.function.as_deref().unwrap_or("-"));
        match instruction.offset {
            Some(offset) => line += &format!("  {offset:#06x}"),
            None => line += "  -",
        }
        line += &format!("  {:<18}", word.map_or("-".to_owned(), |word| word.to_string()));
        line += &match refusal {
            Some(refusal) => format!("  illegal ({refusal})"),
            None => self.text_and_control(decoded.as_deref(), arguments.control.notation()),
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

    /// How the instruction is scheduled, if its input says so.
    fn control(&self) -> Option<Control> {
        let Self { instruction, found, .. } = self;
        instruction.control.or_else(|| match found {
            // A word of 128 bits that was assembled with the annotations of its text.
            FoundInstruction::Load(load)
                if instruction.text.as_ref().is_some_and(|text| text.contains(['&', '?'])) =>
            {
                load.control()
            }
            _ => None,
        })
    }

    /// The text, if there is one, and the control fields on the side that their notation has them.
    fn text_and_control(&self, decoded: Option<&str>, notation: Option<Notation>) -> String {
        let instruction = self.instruction;
        // Listings align what follows the operands.
        let listed = || {
            let words: Vec<&str> = instruction.text.as_deref()?.split_whitespace().collect();
            Some(Cow::Owned(words.join(" ")))
        };
        let text = decoded.map(Cow::Borrowed).or_else(listed);
        let text = text.map_or(String::new(), |text| format!("  {text}"));
        match notation.and_then(|notation| Some((notation, self.control()?))) {
            None => text,
            Some((notation, control)) if notation.is_trailing() => match self.found {
                // What NVIDIA's tools append depends on the SM.
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
