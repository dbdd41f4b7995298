//! How one instruction is written: a line of text, or an object of JSON.

use std::borrow::Cow;
use std::path::Path;

use warpload::encoding::Control;
use warpload::encoding::control::Notation;
use warpload::sass::{SassInstruction, without_relocations};

use super::find::{Found, names_a_load};
use crate::encode::hexadecimal;
use crate::io::Output;
use crate::name::visible;
use crate::options::Format;

#[derive(Default, serde::Serialize)]
pub(crate) struct LoadJson<'l> {
    pub(crate) file: Option<&'l str>,
    /// Only in a file that holds cubins: its number there, and its SM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sm: Option<&'l str>,
    pub(crate) function: Option<&'l str>,
    pub(crate) offset: Option<String>,
    pub(crate) word: Option<String>,
    pub(crate) text: Option<&'l str>,
    pub(crate) control: Option<ControlJson>,
    /// Only with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<bool>,
    /// Only for loads with an operand that the linker fills in: without a word the displacement is
    /// unknown, and in a word it is the value before linking.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) relocated: bool,
}

#[derive(serde::Serialize)]
pub(crate) struct ControlJson {
    stall: u8,
    r#yield: bool,
    write_barrier: Option<u8>,
    read_barrier: Option<u8>,
    wait_mask: u8,
    reuse: u8,
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
        }
    }
}

/// Whether the text is that of a load in which the linker fills something in.
fn has_relocated_text(instruction: &SassInstruction) -> bool {
    let text = instruction.text.as_deref();
    text.is_some_and(|text| names_a_load(text) && without_relocations(text).is_some())
}

/// How rows are written.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) format: Format,
    /// Rows of instructions that are not loads are written too, and loads are marked.
    pub(super) all: bool,
    /// There are several inputs.
    pub(super) names_files: bool,
    pub(super) notation: Option<Notation>,
}

/// The image of a container that an instruction is in.
pub(super) struct Tag {
    pub(super) number: u64,
    pub(super) sm: Option<String>,
}

/// An instruction and what it was found to be.
pub(super) struct Row<'r> {
    pub(super) path: &'r Path,
    pub(super) image: Option<&'r Tag>,
    pub(super) instruction: &'r SassInstruction,
    pub(super) found: &'r Found,
}

impl Row<'_> {
    pub(super) fn write(&self, style: Style, output: &mut Output) -> std::io::Result<()> {
        let Self { instruction, found, .. } = self;
        let (is_load, relocated) = match found {
            Found::Load(_) => (true, has_relocated_text(instruction)),
            Found::Relocated => (true, true),
            Found::Other | Found::Contradictory | Found::Unreadable(_) => (false, false),
        };
        let (word, decoded) = match found {
            Found::Load(load) => (Some(load.encode()), Some(load.text())),
            _ => (instruction.word, None),
        };
        let file = self.path.display().to_string();
        if style.format == Format::Json {
            return output.json(&LoadJson {
                file: Some(&file),
                image: self.image.map(|image| image.number),
                sm: self.image.and_then(|image| image.sm.as_deref()),
                function: instruction.function.as_deref(),
                offset: instruction.offset.map(|offset| format!("{offset:#x}")),
                word: word.map(hexadecimal),
                text: decoded.as_deref().or(instruction.text.as_deref()),
                control: instruction.control.map(ControlJson::from),
                load: style.all.then_some(is_load),
                relocated,
            });
        }
        let mut line = String::new();
        if style.all {
            line += if is_load { "* " } else { "  " };
        }
        if style.names_files {
            line += &format!("{}  ", visible(&file));
        }
        line += &visible(instruction.function.as_deref().unwrap_or("-"));
        match instruction.offset {
            Some(offset) => line += &format!("  {offset:#06x}"),
            None => line += "  -",
        }
        line += &format!("  {:<18}", word.map_or("-".to_owned(), hexadecimal));
        line += &self.text_and_control(decoded.as_deref(), style.notation);
        if relocated {
            line += if decoded.is_some() {
                "  (relocated)"
            } else {
                "  (relocated: displacement unknown)"
            };
        }
        output.line(line.trim_end())
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
        match notation.and_then(|notation| Some((notation, instruction.control?))) {
            None => text,
            Some((notation, control)) if notation.is_trailing() => {
                format!("{text} {}", control.display(notation))
            }
            Some((notation, control)) => format!("  {}{text}", control.display(notation)),
        }
    }
}
