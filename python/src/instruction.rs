//! Words and texts of single loads.

use std::hash::{Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyString, PyType};
use warpload::encoding::{
    Decoded, Guard, Instruction as Load, LoadDestination, MachineWord, MemorySpace, ParseError,
    Pred, Sm,
};
use warpload_report::message::draw_in_line;

use crate::error::{ErrorKind, Failure, error};
use crate::explain::instruction_of;
use crate::literals::InstructionSpace;
use crate::record::record;

/// Decodes a word into a load; `None` if the word is another instruction.
///
/// Words have at most 64 bits before SM 7.0, and 128 bits from there on.
///
/// >>> warpload.decode(0x80d0000000070404)
/// Instruction('LD.E.128 R4, [R4], P0', sm='50')
#[pyfunction]
#[pyo3(signature = (word: "SupportsIndex", sm: "str | SupportsIndex" = SmArgument::default()) -> "Instruction | None")]
pub(crate) fn decode(
    py: Python<'_>,
    word: &Bound<'_, PyAny>,
    sm: SmArgument,
) -> PyResult<Option<Instruction>> {
    let sm = sm.0;
    let word = machine_word(&integer(word)?, sm)?;
    match Load::decode(word, sm) {
        Decoded::Load(load) => Ok(Some(Instruction { load, sm })),
        Decoded::Other => Ok(None),
        Decoded::Illegal(reason) => Err(error(
            py,
            ErrorKind::Illegal,
            format_args!("{word} is refused, as by nvdisasm: {reason}"),
        )),
    }
}

/// Assembles the text of a load, and returns its word.
///
/// >>> hex(warpload.encode("LD.E.128 R4, [R4], P0"))
/// '0x80d0000000070404'
#[pyfunction]
#[pyo3(signature = (text, sm: "str | SupportsIndex" = SmArgument::default()))]
pub(crate) fn encode(py: Python<'_>, text: &str, sm: SmArgument) -> PyResult<u128> {
    parse(py, text, sm.0).map(|load| load.word().bits())
}

pub(crate) fn parse(py: Python<'_>, text: &str, sm: Sm) -> PyResult<Load> {
    Load::parse(text, sm).map_err(|failed| syntax(text, &failed, sm).raise(py))
}

/// Describes a syntax error, and underlines its place.
pub(crate) fn syntax(text: &str, failed: &ParseError, sm: Sm) -> Failure {
    let (start, end) = (failed.span.start, failed.span.end);
    let help = failed.hint_in(text, sm).map(|hint| hint.to_string());
    let title = failed.to_string();
    let drawing = draw_in_line(ARGUMENT, text, (start, end), &title, help.as_deref());
    Failure {
        file: Some(ARGUMENT.to_owned()),
        position: Some((1, 1 + text[..start].chars().count() as u64)),
        span: Some((start, end)),
        help,
        drawing: Some(drawing),
        ..Failure::new(ErrorKind::Syntax, title)
    }
}

/// The file name in messages about a text that was passed as an argument.
const ARGUMENT: &str = "<argument>";

/// The first register that a load writes; `None` if its values go to shared memory or are discarded.
pub(crate) fn destination(load: &Load) -> Option<String> {
    let name = match load.parts().destination {
        LoadDestination::Registers(low) | LoadDestination::Halves { low, .. } => low.to_string(),
        LoadDestination::Uniform(low) | LoadDestination::UniformHalves { low, .. } => {
            low.to_string()
        }
        _ => return None,
    };
    (!["RZ", "URZ"].contains(&&*name)).then_some(name)
}

/// The first register of the second half of a 256-bit load.
pub(crate) fn other_half(load: &Load) -> Option<String> {
    match load.parts().destination {
        LoadDestination::Halves { high, .. } => Some(high.to_string()),
        LoadDestination::UniformHalves { high, .. } => Some(high.to_string()),
        _ => None,
    }
}

/// An SM as an argument: `"90a"` or `90`.
pub(crate) struct SmArgument(pub(crate) Sm);

impl Default for SmArgument {
    fn default() -> Self {
        Self(Sm::SPA5)
    }
}

impl<'py> FromPyObject<'_, 'py> for SmArgument {
    type Error = PyErr;

    fn extract(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name = if argument.is_instance_of::<PyString>() {
            argument.to_string()
        } else {
            let number = integer(&argument).map_err(|_| {
                PyTypeError::new_err("sm: expected a str or an int, such as \"90a\" or 90")
            })?;
            number.to_string()
        };
        name.parse().map(Self).map_err(|unknown| {
            error(argument.py(), ErrorKind::Argument, format_args!("sm: {unknown}"))
        })
    }
}

/// Converts an integer, or any object that has `__index__`.
fn integer<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyInt>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Ok(integer) = value.cast::<PyInt>() {
        return Ok(integer.clone());
    }
    let integer = FUNCTION.import(value.py(), "operator", "index")?.call1((value,))?;
    Ok(integer.cast_into::<PyInt>()?)
}

/// Converts a word. The SM determines its width.
fn machine_word(word: &Bound<'_, PyInt>, sm: Sm) -> PyResult<MachineWord> {
    let py = word.py();
    let shown = || word.call_method1("__format__", ("#x",)).map(|text| text.to_string());
    if sm.has_wide_words() {
        return match word.extract::<u128>() {
            Ok(word) => Ok(MachineWord::Bits128(word)),
            Err(_) => Err(error(
                py,
                ErrorKind::Argument,
                format_args!("{} is not a word of 128 bits", shown()?),
            )),
        };
    }
    word.extract().map(MachineWord::Bits64).or_else(|_| {
        Err(error(
            py,
            ErrorKind::Argument,
            format_args!(
                "{} is not a word of 64 bits; words of SM 7.0 and later have 128: give its SM, \
                 for example sm=\"80\"",
                shown()?
            ),
        ))
    })
}

record! {
/// The address operand of a load.
pickled Address in "warpload" {
    /// The base register; `None` if the offset is the address.
    base: Option<String>,
    /// The offset in bytes.
    offset: i64,
}
}

/// A load instruction, made from its text or its word: `Instruction('LD.E.128 R4, [R4], P0', sm='50')`.
#[pyclass(frozen, eq, hash, from_py_object, module = "warpload")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) load: Load,
    pub(crate) sm: Sm,
}

impl Hash for Instruction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.load.word(), self.sm.number(), self.sm.suffix()).hash(state);
    }
}

#[pymethods]
impl Instruction {
    #[new]
    #[pyo3(signature = (text_or_word: "SupportsIndex | str", sm: "str | SupportsIndex" = SmArgument::default()))]
    fn new(py: Python<'_>, text_or_word: &Bound<'_, PyAny>, sm: SmArgument) -> PyResult<Self> {
        instruction_of(py, text_or_word, sm)
    }

    /// The text, without scheduling.
    #[getter]
    fn text(&self) -> String {
        self.load.to_string()
    }

    /// The mnemonic without modifiers: `LDG`.
    #[getter]
    fn mnemonic(&self) -> &'static str {
        self.load.mnemonic()
    }

    /// The mnemonic with its modifiers: `LDG.E.64`.
    #[getter]
    fn opcode(&self) -> String {
        self.load.opcode().to_string()
    }

    /// The word.
    #[getter]
    fn word(&self) -> u128 {
        self.load.word().bits()
    }

    /// The word's SM: `90a`.
    #[getter]
    fn sm(&self) -> String {
        self.sm.to_string()
    }

    /// The memory that is addressed: `generic`, `global`, `local`, `shared`, `constant` or `tensor`;
    /// `None` if that is not documented.
    #[getter]
    fn space(&self) -> Option<InstructionSpace> {
        let name = match self.load.parts().space {
            MemorySpace::Generic { .. } => "generic",
            MemorySpace::Global => "global",
            MemorySpace::Local => "local",
            MemorySpace::Shared => "shared",
            MemorySpace::Constant { .. } => "constant",
            MemorySpace::Tensor => "tensor",
            MemorySpace::Undocumented => return None,
        };
        Some(InstructionSpace(name))
    }

    /// The size of a lane's access in bytes; `None` if the instruction cannot be executed.
    #[getter]
    fn size(&self) -> Option<u32> {
        self.load.parts().size.ok().map(|size| size.bytes())
    }

    /// The number of registers that are written; `None` if the instruction cannot be executed.
    #[getter]
    fn register_count(&self) -> Option<u32> {
        self.load.parts().size.ok().map(|size| size.registers())
    }

    /// The first register that is written; `None` if values go to shared memory or are discarded (`RZ`).
    #[getter]
    fn destination(&self) -> Option<String> {
        destination(&self.load)
    }

    /// The base register, `None` if there is none, and the offset in bytes.
    #[getter]
    fn address(&self) -> Address {
        let address = self.load.parts().address;
        let uniform = address.uniform.map(|uniform| uniform.register.to_string());
        let uniform = uniform.filter(|name| name != "URZ");
        let base = if address.base.is_zero() { None } else { Some(address.base.to_string()) };
        let offset = match base.is_some() || uniform.is_some() {
            true => i64::from(address.offset.signed()),
            false => i64::from(address.offset.without_base()),
        };
        Address { base: base.or(uniform), offset }
    }

    /// The uniform register that is added to the address; `None` if there is none.
    #[getter]
    fn uniform_base(&self) -> Option<String> {
        let uniform = self.load.parts().address.uniform?.register.to_string();
        (uniform != "URZ").then_some(uniform)
    }

    /// The guard: `@P0`, `@!P0`, `@UP0`; `None` if every active lane executes.
    #[getter]
    fn guard(&self) -> Option<String> {
        let parts = self.load.parts();
        let Guard { pred, negated } = parts.guard;
        if parts.guard == Guard::ALWAYS {
            return None;
        }
        let file = if parts.is_guard_uniform { "U" } else { "" };
        Some(format!("@{}{file}{pred}", if negated { "!" } else { "" }))
    }

    /// The predicate that makes a generic address local or global (true) or shared (false); `None` if there is none.
    #[getter]
    fn plg(&self) -> Option<String> {
        match self.load.parts().space {
            MemorySpace::Generic { plg: Some(plg) } if plg != Pred::PT => Some(plg.to_string()),
            _ => None,
        }
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("Instruction('{}', sm='{}')", self.load, self.sm)
    }

    #[pyo3(signature = () -> "tuple[object, ...]")]
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (u128, String)) {
        (py.get_type::<Self>(), (self.word(), self.sm()))
    }
}
