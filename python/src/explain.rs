//! [`Explanation`]: the meaning of every bit of a word.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyString;
use warpload::encoding::Instruction as Load;
use warpload::explain::{ExplainedField, Explanation as Explained};

use crate::error::{ErrorKind, error};
use crate::instruction::{Instruction, SmArgument, decode, parse};

/// A field of a word.
#[pyclass(frozen, eq, hash, get_all, module = "warpload")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Field {
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

#[pymethods]
impl Field {
    fn __repr__(&self) -> String {
        format!("Field('{}', bits='{}', raw={:#x})", self.name, self.bits, self.raw)
    }
}

/// The meaning of every bit of a word, and the effect of executing it.
///
/// `str()` is the text that the command prints; a notebook shows a table.
#[pyclass(frozen, eq, hash, get_all, module = "warpload")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Explanation {
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

impl Explanation {
    fn new(instruction: &Instruction) -> Self {
        let Instruction { load, sm } = instruction;
        let explained = explained(load);
        let drawing = explained.to_string().trim_end().to_owned();
        let field = |field: ExplainedField| Field {
            bits: field.bits(),
            name: field.name,
            raw: field.raw,
            meaning: field.meaning,
            purpose: field.purpose,
        };
        let (word, text, sm) = (load.word().bits(), load.to_string(), sm.to_string());
        let Explained { fields, remarks, effect, .. } = explained;
        let fields = fields.into_iter().map(field).collect();
        Self { word, text, sm, fields, remarks, effect, drawing }
    }
}

#[pymethods]
impl Explanation {
    fn __str__(&self) -> String {
        self.drawing.clone()
    }

    fn __repr__(&self) -> String {
        format!("Explanation({:#x}: {})", self.word, self.text)
    }

    fn _repr_html_(&self) -> String {
        let cell = |text: &str| {
            format!("<td style=\"text-align:left\">{}</td>", crate::notebook::escaped(text))
        };
        let row = |field: &Field| {
            let raw = format!("{:#x}", field.raw);
            let cells = [&*field.bits, &raw, field.name, &field.meaning, field.purpose];
            format!("<tr>{}</tr>", cells.map(cell).concat())
        };
        let rows: String = self.fields.iter().map(row).collect();
        let head = ["bits", "raw", "field", "meaning", ""].map(|name| format!("<th>{name}</th>"));
        let escaped = crate::notebook::escaped;
        let remarks = self.remarks.iter();
        let remarks: String =
            remarks.map(|remark| format!("<li>{}</li>", escaped(remark))).collect();
        format!(
            "<p><code>{:#x}</code> <strong><code>{}</code></strong></p><table><thead><tr>{}</tr></thead>\
             <tbody>{rows}</tbody></table><ul>{remarks}</ul><p>{}</p>",
            self.word,
            escaped(&self.text),
            head.concat(),
            escaped(&self.effect)
        )
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
