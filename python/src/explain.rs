//! [`Explanation`]: the meaning of every bit of a word.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyString;
use warpload::encoding::FieldReading;
use warpload::encoding::Instruction as Load;
use warpload::explain::Explanation as Explained;

use crate::error::{ErrorKind, error};
use crate::instruction::{Instruction, SmArgument, decode, parse};
use crate::notebook::{escaped, html_table};
use crate::record::record;

record! {
/// A field of a word.
Field in "warpload" {
    /// The bits, as `63:61`.
    bits: String,
    /// The field's name.
    name: &'static str,
    /// The number in these bits.
    raw: u64,
    /// The meaning of the number.
    meaning: String,
    /// The field's purpose.
    purpose: &'static str,
}
}

record! {
/// The meaning of every bit of a word, and the effect of executing it.
///
/// `str()` is the text that the command prints; a notebook shows a table.
Explanation in "warpload" {
    /// The word.
    word: u128,
    /// The instruction.
    text: String,
    /// The SM that the word is of.
    sm: String,
    /// The fields, the most significant first.
    fields: Vec<Field>,
    /// Remarks on registers and addresses.
    remarks: Vec<String>,
    /// What executing the instruction does.
    effect: String,
    /// What the command prints.
    drawing: String,
}
repr |this| format!("Explanation({:#x}: {})", this.word, this.text);
{
    fn __str__(&self) -> String {
        self.drawing.clone()
    }

    fn _repr_html_(&self) -> String {
        let row = |field: &Field| {
            let raw = format!("{:#x}", field.raw);
            [&*field.bits, &raw, field.name, &field.meaning, field.purpose].map(escaped)
        };
        let table = html_table(["bits", "raw", "field", "meaning", ""], self.fields.iter().map(row));
        let remarks = self.remarks.iter();
        let remarks: String = remarks.map(|remark| format!("<li>{}</li>", escaped(remark))).collect();
        let (text, effect) = (escaped(&self.text), escaped(&self.effect));
        format!(
            "<p><code>{:#x}</code> <strong><code>{text}</code></strong></p>{table}<ul>{remarks}</ul><p>{effect}</p>",
            self.word
        )
    }
}
}

impl Explanation {
    fn new(instruction: &Instruction) -> Self {
        let Instruction { load, sm } = instruction;
        let explained = explained(load);
        let drawing = explained.to_string().trim_end().to_owned();
        let field = |field: FieldReading| Field {
            bits: field.field().to_string(),
            name: field.name(),
            raw: field.raw,
            meaning: field.to_string(),
            purpose: field.purpose(),
        };
        let (word, text, sm) = (load.word().bits(), load.to_string(), sm.to_string());
        let Explained { fields, remarks, effect, .. } = explained;
        let fields = fields.into_iter().map(field).collect();
        Self { word, text, sm, fields, remarks, effect, drawing }
    }
}

/// Explains a word, a text or an `Instruction`, which has its own SM.
///
/// >>> print(warpload.explain(0x80d0000000070404).effect)
/// Every active lane loads 16 bytes from address {R5, R4} (local or global memory where P0 is true, else shared memory) into R4..R7.
#[pyfunction]
#[pyo3(signature = (instruction: "SupportsIndex | str | Instruction", sm: "str | SupportsIndex" = SmArgument::default()))]
pub(crate) fn explain(
    py: Python<'_>,
    instruction: &Bound<'_, PyAny>,
    sm: SmArgument,
) -> PyResult<Explanation> {
    Ok(Explanation::new(&instruction_of(py, instruction, sm)?))
}

/// Converts an argument: an `Instruction`, a text, or a word.
pub(crate) fn instruction_of(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    sm: SmArgument,
) -> PyResult<Instruction> {
    if let Ok(instruction) = given.cast::<Instruction>() {
        return Ok(instruction.get().clone());
    }
    if given.is_instance_of::<PyString>() {
        let text: String = given.extract()?;
        if let Some(digits) = text.strip_prefix("0x") {
            let word = u128::from_str_radix(digits, 16)
                .map_err(|failed| error(py, ErrorKind::Syntax, format_args!("{text}: {failed}")))?;
            return instruction_of(py, &word.into_bound_py_any(py)?, sm);
        }
        return Ok(Instruction { load: parse(py, &text, sm.0)?, sm: sm.0 });
    }
    let known = sm.0;
    decode(py, given, sm)?.ok_or_else(|| {
        let opcodes: Vec<&str> = Load::mnemonics(known).collect();
        let opcodes = opcodes.join(", ");
        let message = format!("{given} is not a known load; expected an opcode of {opcodes}");
        error(py, ErrorKind::Illegal, message)
    })
}

fn explained(load: &Load) -> Explained {
    warpload_ptx::tensor::explain(load)
}
